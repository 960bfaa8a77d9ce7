(* Row-wise softmax, and its comparison with a threshold (Wong 2025, equation
   (13)): threshold(M)_ij = 1 if softmax(M)_ij >= tau, and 0 otherwise. The
   exponential is a parameter. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition softmax (R : realFieldType) (exp : R -> R) m n (M : 'M[R]_(m, n)) : 'M[R]_(m, n) :=
  \matrix_(i, j) (exp (M i j) / \sum_k exp (M i k)).

Definition threshold (R : realFieldType) (exp : R -> R) m n (M : 'M[R]_(m, n)) (tau : R) :
    'M[R]_(m, n) :=
  \matrix_(i, j) (tau <= softmax exp M i j)%R%:R.
