(* claim: lemmax/value-slice-sum@5b4f9d207e60715f, by value_slice_sum.
   control: value_slice_sum_constant, value_slice_sum_needs_function.
   rank(D) <= sum_v rank(D_::v) <= min(sum_k |V_k|, sum_q |V_q|): the slicing
   that Proposition 2.1 of Wong (2025) leaves out is never worse than the two
   it has. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor database proposition_2_1.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section ValueSlices.
Variable F : fieldType.
Variables K Q V : finType.
Variable D : database K Q V.

Local Notation T := (tensor_of F D).

Lemma double_count (A : finType) (W : A -> {set V}) :
  (\sum_v #|[set a | v \in W a]| = \sum_a #|W a|)%N.
Proof.
under eq_bigr do rewrite -sum1dep_card big_mkcond.
rewrite exchange_big /=; apply: eq_bigr => a _.
by rewrite -sum1_card [RHS]big_mkcond.
Qed.

Theorem value_slice_sum :
  rank_le T (\sum_v \rank (slice_v T v)) /\
  (\sum_v \rank (slice_v T v) <= minn (\sum_k #|V_k D k|) (\sum_q #|V_q D q|))%N.
Proof.
split; first exact: rank_le_slices_v.
rewrite leq_min; apply/andP; split.
  rewrite -(double_count (V_k D)); apply: leq_sum => v _.
  apply: rank_nonzero_rows => k q; rewrite !inE negb_exists => /forallP /(_ q).
  by rewrite /tensor_of => /negPf ->.
rewrite -(double_count (V_q D)); apply: leq_sum => v _.
apply: rank_nonzero_cols => k q; rewrite !inE negb_exists => /forallP /(_ k).
by rewrite /tensor_of => /negPf ->.
Qed.

End ValueSlices.

(* It can be smaller than Proposition 2.1 by any factor: on the constant table
   it is 1, where Proposition 2.1 gives min(|K|, |Q|). *)
Theorem value_slice_sum_constant (F : fieldType) (K Q : finType) :
  (0 < #|K|)%N -> (0 < #|Q|)%N ->
  let D : database K Q unit_finType := fun k q => Some tt in
  (\sum_v \rank (slice_v (tensor_of F D) v) <= 1)%N /\
  minn (\sum_k #|V_k D k|) (\sum_q #|V_q D q|) = minn #|K| #|Q|.
Proof.
move=> K0 Q0 D; split; last by have [_ ->] := proposition_2_1_loose F K Q.
rewrite (big_pred1 tt) => [|[]] //.
apply: leq_trans (_ : #|unit_finType| <= 1)%N; last by rewrite card_unit.
apply: (rank_factor (u := fun _ _ => 1) (v := fun _ _ => 1)) => k q.
by rewrite (big_pred1 tt) => [|[]] //; rewrite mulr1.
Qed.

(* The second inequality needs D to be a function: for an arbitrary 0/1 tensor
   the value slices can cost more, here |V| against 1. *)
Theorem value_slice_sum_needs_function (F : fieldType) (Q V : finType) :
  (0 < #|Q|)%N ->
  let T : tensor F unit_finType Q V := fun _ _ _ => 1 in
  (\sum_k \rank (slice_k T k) <= 1)%N /\ (\sum_v \rank (slice_v T v) = #|V|)%N.
Proof.
move=> /card_gt0P [q0 _] T; split.
  rewrite (big_pred1 tt) => [|[]] //.
  apply: leq_trans (_ : #|unit_finType| <= 1)%N; last by rewrite card_unit.
  apply: (rank_factor (u := fun _ _ => 1) (v := fun _ _ => 1)) => q v.
  by rewrite (big_pred1 tt) => [|[]] //; rewrite mulr1.
rewrite -[RHS]sum1_card; apply: eq_bigr => v _; apply/eqP; rewrite eqn_leq; apply/andP; split.
  apply: leq_trans (_ : #|unit_finType| <= 1)%N; last by rewrite card_unit.
  apply: (rank_factor (u := fun _ _ => 1) (v := fun _ _ => 1)) => k q.
  by rewrite (big_pred1 tt) => [|[]] //; rewrite mulr1.
rewrite lt0n mxrank_eq0; apply/eqP => /matrixP /(_ (enum_rank tt) (enum_rank q0)).
by rewrite !mxE => /eqP; rewrite oner_eq0.
Qed.

Print Assumptions value_slice_sum.
Print Assumptions value_slice_sum_constant.
Print Assumptions value_slice_sum_needs_function.
