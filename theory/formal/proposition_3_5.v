(* claim: wong/proposition-3.5@14e489da8a90e80a, by proposition_3_5, proposition_3_5_model,
     rank_of_layer_any_attention.
   rank(L) <= d_model + n_heads * d_head,vo * |Q|, for all weights.
   Controls, in layer_rank_ceiling.v: the bound is never attained; and the factor |Q|
   cannot be left out. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor attention_layer.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Proposition.
Variable R : realFieldType.
Variable exp : R -> R.
Variables (n H d dqk dvo : nat) (A : layer R n H d dqk dvo).
Variables (K Q V : finType) (key : K -> 'I_n) (query : Q -> 'I_n) (value : V -> 'I_n).

(* for any attention tensors A^h whatever *)
Theorem rank_of_layer_any_attention (At : 'I_H -> K -> Q -> 'I_n -> R) :
  rank_le (tensor_L A query value At) (d + H * dvo * #|Q|).
Proof.
apply: rank_le_add.
  have rE : (\rank (mx_of (fun q v => W_EU A (query q) (value v))) <= d)%N.
    rewrite -[X in (_ <= X)%N](card_ord d).
    apply: (rank_factor (u := fun q i => W_E A (query q) i)
                        (v := fun i v => W_U A i (value v))) => q v.
    by rewrite mxE.
  apply: rank_le_ext (rank_le_mono rE (rank_le_outer_k (fun=> 1) _)) => k q v.
  by rewrite mul1r.
have head h : rank_le (tensor_AV A value (At h) h) (dvo * #|Q|).
  apply: rank_le_mono (rank_le_slices_q _).
  rewrite mulnC -sum_nat_const; apply: leq_sum => q _.
  rewrite -[X in (_ <= X)%N](card_ord dvo).
  apply: (rank_factor (u := fun k j => \sum_t At h k q t * (W_E A *m W_V A h) t j)
                      (v := fun j v => (W_O A h *m W_U A) j (value v))) => k v.
  rewrite /tensor_AV /tensor_V /W_VO -[_ *m W_O A h *m _]mulmxA.
  under [LHS]eq_bigr => t _ do rewrite mxE mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => j _; rewrite mulr_suml.
  by apply: eq_bigr => t _; rewrite mulrA.
have := rank_le_sum head; rewrite sum_nat_const card_ord mulnA.
by apply: rank_le_ext => k q v.
Qed.

(* the proposition: L with the attention tensors of equation (5), on the pairs of
   a database given by dom *)
Theorem proposition_3_5 (dom : K -> Q -> bool) :
  rank_le (tensor_L A query value (tensor_A exp A key query dom)) (d + H * dvo * #|Q|).
Proof. exact: rank_of_layer_any_attention. Qed.

(* the same for the final logits of the model itself, on all pairs *)
Hypothesis exp_gt0 : forall z, 0 < exp z.

Theorem proposition_3_5_model :
  rank_le (fun k q v => final_logits exp A (key k) (query q) (value v))
          (d + H * dvo * #|Q|).
Proof.
have := rank_of_layer_any_attention (tensor_A_positions exp A key query).
by apply: rank_le_ext => k q v; rewrite tensor_L_positionsE.
Qed.

End Proposition.

Print Assumptions rank_of_layer_any_attention.
Print Assumptions proposition_3_5.
Print Assumptions proposition_3_5_model.
