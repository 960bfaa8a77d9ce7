(* Row-wise argmax (Wong 2025, equation (11)): argmax(M)_ij = 1 if M_ij is a
   maximum of row i, and 0 otherwise. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition argmax (R : realFieldType) m n (M : 'M[R]_(m, n)) : 'M[R]_(m, n) :=
  \matrix_(i, j) [forall k, M i k <= M i j]%:R.
