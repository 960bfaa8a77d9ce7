(* claim: wong/circuit-ranks@426eef4ab667d9d1, by circuit_ranks.
   claim: lemmax/attention-by-position@803d07449a0fe729, by attention_by_position.
   claim: lemmax/logits-on-domain@8360c8f3ceb427ff, by logits_on_domain.
   against: wong/proposition-3.1@81da4d2713501a39, by proposition_3_1_fails.
   The tensor L of an attention layer, with attention mass counted by positions,
   holds the final logits of the model on the domain of the database, and without
   the mask of equation (5) on all pairs. As printed, wong/proposition-3.1 fails
   off the domain. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor attention_layer.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Model.
Variable R : realFieldType.
Variable exp : R -> R.
Hypothesis exp_gt0 : forall z, 0 < exp z.
Variables (n H d dqk dvo : nat) (A : layer R n H d dqk dvo).

(* the ranks of the circuits are bounded by their inner dimensions *)
Theorem circuit_ranks h :
  [/\ (\rank (W_EU A) <= d)%N, (\rank (W_QK A h) <= dqk)%N & (\rank (W_VO A h) <= dvo)%N].
Proof.
split; first exact: leq_trans (mxrankM_maxl _ _) (rank_leq_col _).
  do 2! apply: leq_trans (mxrankM_maxl _ _) _.
  exact: leq_trans (mxrankM_maxr _ _) (rank_leq_col _).
do 2! apply: leq_trans (mxrankM_maxl _ _) _.
exact: leq_trans (mxrankM_maxr _ _) (rank_leq_col _).
Qed.

(* the mass that the last position of (k, q) pays to the positions that hold t *)
Definition attention_mass h (k q t : 'I_n) : R :=
  let S := tokens_mx R (pair_seq k q) in
  (masked_softmax exp (S *m W_QK A h *m S^T) *m S) 1 t.

Theorem attention_by_position h (k q : 'I_n) :
  [/\ forall t, attention_mass h k q t = tensor_A_positions exp A id id h k q t,
      k != q -> attention_mass h k q k = attention_to_first exp A h k q,
      k != q -> attention_mass h k q q = 1 - attention_to_first exp A h k q,
      k = q -> attention_mass h k q q = 1 &
      forall t, t != k -> t != q -> attention_mass h k q t = 0].
Proof.
have E t : attention_mass h k q t = tensor_A_positions exp A id id h k q t.
  rewrite /attention_mass mxE !big_ord_recl big_ord0 addr0 lift01.
  have [-> ->] := last_rowE A exp_gt0 h k q.
  by rewrite !mxE /= /tensor_A_positions mulrC [X in _ + X]mulrC ![_ == t]eq_sym.
split=> // [kq|kq|kq|t tk tq]; rewrite E /tensor_A_positions ?eqxx.
- by rewrite (negPf kq) mul1r mul0r addr0.
- by rewrite eq_sym (negPf kq) mul1r mul0r add0r.
- by rewrite kq eqxx !mul1r addrC subrK.
by rewrite (negPf tk) (negPf tq) !mul0r addr0.
Qed.

(* L on the domain of a database, and L without the mask *)
Theorem logits_on_domain (K Q V : finType) (key : K -> 'I_n) (query : Q -> 'I_n)
    (value : V -> 'I_n) (dom : K -> Q -> bool) :
  let masked h k q t := if dom k q then tensor_A_positions exp A key query h k q t else 0 in
  (forall k q v, dom k q ->
     tensor_L A query value masked k q v = final_logits exp A (key k) (query q) (value v)) /\
  (forall k q v,
     tensor_L A query value (tensor_A_positions exp A key query) k q v =
     final_logits exp A (key k) (query q) (value v)).
Proof.
move=> masked; split=> k q v; last exact: tensor_L_positionsE.
move=> dkq; rewrite -tensor_L_positionsE //; congr (_ + _); apply: eq_bigr => h _.
by apply: eq_bigr => t _; rewrite /masked dkq.
Qed.

End Model.

(* Off the domain the printed equation (5) gives L another value: two tokens that
   are subjects, predicates and objects, the database {(0, 0), (1, 1)}, all weights 1. *)
Theorem proposition_3_1_fails (R : realFieldType) (exp : R -> R) : (forall z, 0 < exp z) ->
  exists (A : layer R 2 1 1 1 1) (k q v : 'I_2),
    tensor_L A id id (tensor_A exp A id id (fun k q => k == q)) k q v !=
    final_logits exp A k q v.
Proof.
move=> exp_gt0; pose A : layer R 2 1 1 1 1 :=
  Layer (const_mx 1) (const_mx 1) (fun=> const_mx 1) (fun=> const_mx 1)
        (fun=> const_mx 1) (fun=> const_mx 1).
have cst p (M : 'M[R]_(p, 1)) : M = const_mx 1 -> forall q, M *m (const_mx 1 : 'M_(1, q)) = const_mx 1.
  by move=> -> q; apply/matrixP => i j; rewrite !mxE big_ord1 !mxE mulr1.
have EU i j : W_EU A i j = 1 by rewrite /W_EU /= cst // mxE.
have VO h i j : W_VO A h i j = 1 by rewrite /W_VO /= !cst // mxE.
exists A, 0, 1, 0; rewrite final_logitsE // big_ord1 EU !VO !mulr1 [_ + (1 - _)]addrC subrK.
rewrite /tensor_L /tensor_E EU big_ord1 /tensor_AV big1 => [|t _]; last first.
  by rewrite /tensor_A /= mul0r.
by rewrite addr0 -subr_eq0 opprD addrA subrr add0r oppr_eq0 oner_eq0.
Qed.

Print Assumptions circuit_ranks.
Print Assumptions attention_by_position.
Print Assumptions logits_on_domain.
Print Assumptions proposition_3_1_fails.
