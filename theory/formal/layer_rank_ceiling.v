(* claim: lemmax/layer-rank-ceiling
   rank(L) <= rho min(|K|, |Q|) + min(|Q|, n - rho) and rank(L) <= n min(|K|, |Q|),
   with n = min(d_model, |V|) and rho = min(n_heads * d_head,vo, n), for all
   weights; so the bound of wong/proposition-3.5 is never attained. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor attention_layer.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition ceiling (nK nQ nV d Hdvo : nat) : nat :=
  let n := minn d nV in let rho := minn Hdvo n in
  (rho * minn nK nQ + minn nQ (n - rho))%N.

Section AffineFibers.
Variable F : fieldType.
Variables K Q V I J : finType.
Variables (U : I -> V -> F) (P : J -> I -> F).
Variables (e : Q -> I -> F) (g : K -> Q -> J -> F).

Let B j v := \sum_i P j i * U i v.

(* every fiber T_kq: is a vector that depends on q only, in the span of U, plus a
   vector in the span of B *)
Let T : tensor F K Q V := fun k q v => \sum_i e q i * U i v + \sum_j g k q j * B j v.

Lemma rank_le_span (W : finType) (M : W -> V -> F) (c : K -> Q -> W -> F) :
  rank_le (fun k q v => \sum_w c k q w * M w v) (\rank (mx_of M) * minn #|K| #|Q|).
Proof.
rewrite /minn; case: ifP => _.
  apply: rank_le_mono (rank_le_slices_k _).
  rewrite mulnC -sum_nat_const; apply: leq_sum => k _.
  by rewrite /slice_k -(mx_of_mul (c k)) mxrankM_maxr.
apply: rank_le_mono (rank_le_slices_q _).
rewrite mulnC -sum_nat_const; apply: leq_sum => q _.
by rewrite /slice_q -(mx_of_mul (fun k => c k q)) mxrankM_maxr.
Qed.

Lemma rank_le_empty r : minn #|K| #|Q| = 0%N -> rank_le T r.
Proof.
move=> m0; apply: (rank_le_mono (leq0n r)).
do 3! exists (fun _ _ => 0) => //; move=> k q v; rewrite big_ord0.
by move: m0; rewrite /minn; case: ifP => _ /card0_eq; [move/(_ k) | move/(_ q)].
Qed.

Lemma ceiling_arith r w n rho q m : (0 < m)%N -> (r <= rho)%N -> (r <= w)%N -> (w <= n)%N ->
  (rho <= n)%N -> (r * m + minn q (w - r) <= rho * m + minn q (n - rho))%N.
Proof.
move=> m0 rrho rw wn rhon.
have -> : (rho * m = r * m + (rho - r) * m)%N by rewrite -mulnDl subnKC.
rewrite -addnA leq_add2l; apply: leq_trans (_ : (rho - r) + minn q (n - rho) <= _)%N.
  rewrite addn_minr leq_min; apply/andP; split.
    by apply: leq_trans (geq_minl _ _) (leq_addl _ _).
  by apply: leq_trans (geq_minr _ _) _; rewrite addnC addnBA // subnK // leq_sub2r.
by rewrite leq_add2r leq_pmulr.
Qed.

Lemma rank_le_affine : rank_le T (ceiling #|K| #|Q| #|V| #|I| #|J|).
Proof.
have [m0|m0] := posnP (minn #|K| #|Q|); first exact: rank_le_empty.
pose MU := mx_of U; pose MB := mx_of B.
have BU : (MB <= MU)%MS by rewrite /MB -(mx_of_mul P) submxMl.
have : (mx_of e *m MU <= MB + (MU :\: MB))%MS.
  apply: submx_trans (submxMl _ _) _.
  rewrite -[X in (X <= _)%MS]/MU -(addsmx_diff_cap_eq MU MB) addsmxC.
  by apply: addsmxS; rewrite ?capmxSr.
case/sub_addsmxP => -[/= u1 u2] eE.
pose c k q j := g k q j + u1 (enum_rank q) (enum_rank j).
pose N q v := (u2 *m (MU :\: MB)%MS) (enum_rank q) (enum_rank v).
have TE k q v : T k q v = \sum_j c k q j * B j v + 1 * N q v.
  have E1 : \sum_i e q i * U i v = (mx_of e *m MU) (enum_rank q) (enum_rank v).
    by rewrite mx_of_mul mxE !enum_rankK.
  have E2 : (u1 *m MB) (enum_rank q) (enum_rank v) =
      \sum_j u1 (enum_rank q) (enum_rank j) * B j v.
    rewrite mxE -[RHS]sum_enum; apply: eq_bigr => j _.
    by rewrite [MB _ _]mxE enum_rankK enum_valK.
  rewrite /T mul1r E1 eE mxE E2 addrAC -/(N q v) -big_split /=; congr (_ + _).
  by apply: eq_bigr => j _; rewrite /c -mulrDl addrC.
have rN : (\rank (mx_of N) <= minn #|Q| (\rank MU - \rank MB))%N.
  rewrite leq_min rank_leq_row /=.
  have -> : mx_of N = u2 *m (MU :\: MB)%MS.
    by apply/matrixP => i j; rewrite mxE /N !enum_valK.
  apply: leq_trans (mxrankM_maxr _ _) _.
  rewrite -(mxrank_cap_compl MU MB); have /capmx_idPr -> := BU.
  by rewrite addnC addnK.
have := rank_le_add (rank_le_span B c) (rank_le_mono rN (rank_le_outer_k (fun=> 1) N)).
move/(rank_le_ext (fun k q v => esym (TE k q v))); apply: rank_le_mono.
apply: ceiling_arith => //.
- rewrite leq_min rank_leq_row leq_min rank_leq_col andbT /=.
  exact: leq_trans (mxrankS BU) (rank_leq_row _).
- exact: mxrankS.
- by rewrite leq_min rank_leq_row rank_leq_col.
- exact: geq_minr.
Qed.

Lemma rank_le_affine_flat : rank_le T (minn #|I| #|V| * minn #|K| #|Q|).
Proof.
have rU : (\rank (mx_of U) * minn #|K| #|Q| <= minn #|I| #|V| * minn #|K| #|Q|)%N.
  by rewrite leq_mul2r leq_min rank_leq_row rank_leq_col orbT.
have := rank_le_mono rU (rank_le_span U (fun k q i => e q i + \sum_j g k q j * P j i)).
apply: rank_le_ext => k q v; rewrite /T.
under eq_bigr => i _ do rewrite mulrDl mulr_suml.
rewrite big_split /=; congr (_ + _); rewrite exchange_big; apply: eq_bigr => j _.
by rewrite /B mulr_sumr; apply: eq_bigr => i _; rewrite mulrA.
Qed.

End AffineFibers.

Section Layer.
Variable R : realFieldType.
Variable exp : R -> R.
Variables (n H d dqk dvo : nat) (A : layer R n H d dqk dvo).
Variables (K Q V : finType) (key : K -> 'I_n) (query : Q -> 'I_n) (value : V -> 'I_n).

(* the fibers of L have the form above, whatever the attention tensors *)
Lemma tensor_L_affine (At : 'I_H -> K -> Q -> 'I_n -> R) k q v :
  tensor_L A query value At k q v =
  \sum_i W_E A (query q) i * W_U A i (value v) +
  \sum_(hj : 'I_H * 'I_dvo)
    (\sum_t At hj.1 k q t * (W_E A *m W_V A hj.1) t hj.2) *
    \sum_i W_O A hj.1 hj.2 i * W_U A i (value v).
Proof.
rewrite /tensor_L /tensor_E mxE; congr (_ + _).
rewrite -(pair_bigA _ (fun h j => (\sum_t At h k q t * (W_E A *m W_V A h) t j) *
    \sum_i W_O A h j i * W_U A i (value v))) /=.
apply: eq_bigr => h _; rewrite /tensor_AV /tensor_V /W_VO -[_ *m W_O A h *m _]mulmxA.
under [LHS]eq_bigr => t _ do rewrite mxE mulr_sumr.
rewrite exchange_big; apply: eq_bigr => j _; rewrite mulr_suml.
by apply: eq_bigr => t _; rewrite mulrA [(W_O A h *m _) _ _]mxE.
Qed.

(* for any attention tensors A^h whatever *)
Theorem layer_rank_ceiling (At : 'I_H -> K -> Q -> 'I_n -> R) :
  rank_le (tensor_L A query value At) (ceiling #|K| #|Q| #|V| d (H * dvo)) /\
  rank_le (tensor_L A query value At) (minn d #|V| * minn #|K| #|Q|).
Proof.
split.
  have := rank_le_affine (fun i v => W_U A i (value v))
    (fun (hj : 'I_H * 'I_dvo) i => W_O A hj.1 hj.2 i) (fun q i => W_E A (query q) i)
    (fun k q hj => \sum_t At hj.1 k q t * (W_E A *m W_V A hj.1) t hj.2).
  rewrite card_prod !card_ord; apply: rank_le_ext => k q v.
  by rewrite tensor_L_affine.
have := rank_le_affine_flat (fun i v => W_U A i (value v))
  (fun (hj : 'I_H * 'I_dvo) i => W_O A hj.1 hj.2 i) (fun q i => W_E A (query q) i)
  (fun k q hj => \sum_t At hj.1 k q t * (W_E A *m W_V A hj.1) t hj.2).
rewrite card_ord; apply: rank_le_ext => k q v.
by rewrite tensor_L_affine.
Qed.

(* equation (5) as printed *)
Corollary layer_rank_ceiling_printed (dom : K -> Q -> bool) :
  rank_le (tensor_L A query value (tensor_A exp A key query dom))
          (ceiling #|K| #|Q| #|V| d (H * dvo)).
Proof. by have [] := layer_rank_ceiling (tensor_A exp A key query dom). Qed.

(* the final logits of the model, on all pairs *)
Corollary layer_rank_ceiling_model : (forall z, 0 < exp z) ->
  rank_le (fun k q v => final_logits exp A (key k) (query q) (value v))
          (ceiling #|K| #|Q| #|V| d (H * dvo)).
Proof.
move=> exp_gt0; have [+ _] := layer_rank_ceiling (tensor_A_positions exp A key query).
by apply: rank_le_ext => k q v; rewrite tensor_L_positionsE.
Qed.

End Layer.

(* The bound of wong/proposition-3.5 is never attained. *)
Lemma ceiling_lt nK nQ nV d Hdvo : (0 < d)%N -> (0 < Hdvo)%N ->
  (ceiling nK nQ nV d Hdvo < d + Hdvo * nQ)%N.
Proof.
move=> d0 h0; rewrite /ceiling; set n := minn d nV; set rho := minn Hdvo n.
have nd : (n <= d)%N by apply: geq_minl.
have rhon : (rho <= n)%N by apply: geq_minr.
have rhoh : (rho * nQ <= Hdvo * nQ)%N by rewrite leq_mul2r geq_minl orbT.
have low : (rho * minn nK nQ + minn nQ (n - rho) <= rho * nQ + (n - rho))%N.
  by apply: leq_add; rewrite ?geq_minr // leq_mul2l geq_minr orbT.
apply: leq_ltn_trans low _; rewrite addnC.
have [r0|r0] := posnP rho; last first.
  rewrite -addSn; apply: leq_add => //; apply: leq_trans nd.
  by rewrite ltn_subrL r0 (leq_trans r0).
rewrite r0 mul0n addn0 subn0; have n0 : n = 0%N.
  by move: r0; rewrite /rho /minn; case: ifP => // _ e; move: h0; rewrite e.
by rewrite n0 ltn_addr.
Qed.

Theorem proposition_3_5_never_attained (R : realFieldType) (exp : R -> R)
    (n H d dqk dvo : nat) (A : layer R n H d dqk dvo) (K Q V : finType)
    (key : K -> 'I_n) (query : Q -> 'I_n) (value : V -> 'I_n) (dom : K -> Q -> bool) :
  (0 < d)%N -> (0 < H * dvo)%N ->
  exists2 r, (r < d + H * dvo * #|Q|)%N &
    rank_le (tensor_L A query value (tensor_A exp A key query dom)) r.
Proof.
move=> d0 h0; exists (ceiling #|K| #|Q| #|V| d (H * dvo)); first exact: ceiling_lt.
exact: layer_rank_ceiling_printed.
Qed.

Print Assumptions layer_rank_ceiling.
Print Assumptions layer_rank_ceiling_printed.
Print Assumptions layer_rank_ceiling_model.
Print Assumptions proposition_3_5_never_attained.
