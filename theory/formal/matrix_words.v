(* The words of the checker's little language of comparisons, as functions of
   real matrices, so that a refutation can be stated in the words of its
   certificate. Numbers, also dimensions and ranks, are numbers of the field. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import row_argmax row_threshold tensor.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Words.
Variable R : realFieldType.
Variables p q : nat.
Implicit Type M : 'M[R]_(p, q).

Definition rank M : R := (\rank M)%:R.
Definition rows M : R := p%:R.
Definition columns M : R := q%:R.

(* the entry at two indices from 0; 0 outside *)
Definition entry_at M (i j : nat) : R :=
  if insub i is Some i' then if insub j is Some j' then M i' j' else 0 else 0.

Definition transpose M : 'M[R]_(q, p) := M^T.
Definition gram M : 'M[R]_p := M *m M^T.
Definition equal M (N : 'M[R]_(p, q)) : Prop := M = N.
Definition distinct_rows M : Prop := forall i j, row i M = row j M -> i = j.
Definition unit_rows M : Prop := forall i, \sum_j M i j * M i j = 1.

(* x is the largest entry, or the least *)
Definition is_max_entry M (x : R) : Prop := (exists i j, M i j = x) /\ forall i j, M i j <= x.
Definition is_min_entry M (x : R) : Prop := (exists i j, M i j = x) /\ forall i j, x <= M i j.
Definition entry_sum M : R := \sum_i \sum_j M i j.

(* the same as functions *)
Definition max_entry M : R :=
  foldr Num.max (entry_at M 0 0) [seq M x.1 x.2 | x <- enum [finType of 'I_p * 'I_q]].
Definition min_entry M : R :=
  foldr Num.min (entry_at M 0 0) [seq M x.1 x.2 | x <- enum [finType of 'I_p * 'I_q]].
End Words.

Lemma max_entryE (R : realFieldType) p q (M : 'M[R]_(p, q)) x : is_max_entry M x -> max_entry M = x.
Proof.
move=> [[i [j Mij]] le]; apply/eqP; rewrite eq_le; apply/andP; split.
  rewrite /max_entry; elim: (enum _) => [|y s IH] /=; last by rewrite le_maxl le IH.
  rewrite /entry_at; have i0 : (0 < p)%N by apply: leq_ltn_trans (ltn_ord i).
  have j0 : (0 < q)%N by apply: leq_ltn_trans (ltn_ord j).
  by rewrite !insubT.
rewrite /max_entry; have : (i, j) \in enum [finType of 'I_p * 'I_q] by rewrite mem_enum.
elim: (enum _) => [|y s IH] //=; rewrite in_cons => /orP[/eqP <-|/IH le']; rewrite le_maxr.
  by rewrite -Mij lexx.
by rewrite le' orbT.
Qed.

Lemma min_entryE (R : realFieldType) p q (M : 'M[R]_(p, q)) x : is_min_entry M x -> min_entry M = x.
Proof.
move=> [[i [j Mij]] le]; apply/eqP; rewrite eq_le; apply/andP; split.
  rewrite /min_entry; have : (i, j) \in enum [finType of 'I_p * 'I_q] by rewrite mem_enum.
  elim: (enum _) => [|y s IH] //=; rewrite in_cons => /orP[/eqP <-|/IH le']; rewrite le_minl.
    by rewrite -Mij lexx.
  by rewrite le' orbT.
rewrite /min_entry; elim: (enum _) => [|y s IH] /=; last by rewrite le_minr le IH.
rewrite /entry_at; have i0 : (0 < p)%N by apply: leq_ltn_trans (ltn_ord i).
have j0 : (0 < q)%N by apply: leq_ltn_trans (ltn_ord j).
by rewrite !insubT.
Qed.

Definition product (R : realFieldType) p k q (A : 'M[R]_(p, k)) (B : 'M[R]_(k, q)) : 'M[R]_(p, q) :=
  A *m B.

(* 1 where a comparison holds, else 0 *)
Definition indicator (R : realFieldType) (b : bool) : R := b%:R.
Arguments indicator R b : clear implicits.

(* how few entries of the first row, largest first, exceed a level when they are added *)
Section Covering.
Variables (R : realFieldType) (p q : nat).
Definition first_row (M : 'M[R]_(p, q)) : seq R := [seq entry_at M 0 j | j <- iota 0 q].
Definition covering (M : 'M[R]_(p, q)) (level : R) : R :=
  (count (fun s => s <= level) (scanl +%R 0 (sort >=%R (first_row M)))).+1%:R.
End Covering.
