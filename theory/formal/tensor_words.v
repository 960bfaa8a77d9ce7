(* Words of comparisons about tensors with three modes. A tensor is a list of
   slices, a matrix for each element of the first mode, so that tensors with the
   same entries are equal; entries reads it as a tensor of theory/formal/tensor. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import row_argmax row_threshold tensor matrix_words.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition tens (R : realFieldType) (a b c : nat) := {ffun 'I_a -> 'M[R]_(b, c)}.

Section Words.
Variables (R : realFieldType) (a b c : nat).
Implicit Type X : tens R a b c.

Definition entries X : tensor R [finType of 'I_a] [finType of 'I_b] [finType of 'I_c] :=
  fun k q v => X k q v.
Definition equal_tensors X (Y : tens R a b c) : Prop := X = Y.

(* row by row of every slice: equations (11) and (13) of Wong 2025, by fibres *)
Definition argmax_tensor X : tens R a b c := [ffun k => argmax (X k)].
Definition threshold_tensor (exp : R -> R) X (tau : R) : tens R a b c :=
  [ffun k => threshold exp (X k) tau].
Definition softmax_tensor (exp : R -> R) X : tens R a b c := [ffun k => softmax exp (X k)].

Definition slices X : R := a%:R.
Definition slice_rows X : R := b%:R.
Definition slice_columns X : R := c%:R.

(* the rank of a flattening, which keeps the first, the second or the third mode *)
Definition flattening_rank X (mode : nat) : R :=
  match mode with
  | 0 => (\rank (flat_k (entries X)))%:R
  | 1 => (\rank (flat_q (entries X)))%:R
  | _ => (\rank (flat_v (entries X)))%:R
  end.

(* the ranks of all slices of the first, the second or the third mode, added *)
Definition slice_rank_sum X (mode : nat) : R :=
  match mode with
  | 0 => \sum_k (\rank (X k))%:R
  | 1 => \sum_q (\rank (\matrix_(k, v) X k q v))%:R
  | _ => \sum_v (\rank (\matrix_(k, q) X k q v))%:R
  end.

(* the largest rank of B above a slice *)
Definition max_stacked_rank m (B : 'M[R]_(m, c)) X : R := (\max_k \rank (col_mx B (X k)))%:R.
End Words.

(* sum_t A_kqt B_tqv *)
Definition mode_product (R : realFieldType) a b c s (A : tens R a b s) (B : tens R s b c) :
    tens R a b c :=
  [ffun k => \matrix_(q, v) \sum_t A k q t * B t q v].
