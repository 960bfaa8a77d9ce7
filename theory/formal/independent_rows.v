(* Kruskal rank: the largest k such that any k rows of a matrix are independent. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Kruskal.
Variables (F : fieldType) (m n : nat).
Implicit Type M : 'M[F]_(m, n).

(* the rows of M whose indices are in S *)
Definition rows_in M (S : {set 'I_m}) : 'M[F]_(#|S|, n) := rowsub (fun i => enum_val i) M.

Definition any_independent M (k : nat) :=
  forall S : {set 'I_m}, #|S| = k -> \rank (rows_in M S) = k.

(* k is the Kruskal rank *)
Definition kruskal_is M (k : nat) :=
  [/\ (k <= m)%N, any_independent M k & k = m \/ ~ any_independent M k.+1].
End Kruskal.
