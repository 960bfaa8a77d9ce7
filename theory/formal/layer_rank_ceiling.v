(* claim: lemmax/layer-rank-ceiling@9d2edd3c59dce4e5, by layer_rank_ceiling, layer_rank_ceiling_printed,
     layer_rank_ceiling_model.
   control: proposition_3_5_never_attained, proposition_3_5_needs_Q,
     layer_rank_ceiling_attained.
   rank(L) <= rho min(|K|, |Q|) + min(|Q|, n - rho) and rank(L) <= n min(|K|, |Q|),
   with n = min(d_model, |V|) and rho = min(n_heads * d_head,vo, n), for all
   weights; so the bound of wong/proposition-3.5 is never attained. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor substitution_with_restriction attention_layer.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
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

(* Sharpness: for every m >= 1 a layer with one head, d_vo = 1, |Q| = m and
   |K| = |V| = d_model = m + 1 attains the ceiling, which is 2 m. So the factor |Q|
   of wong/proposition-3.5 cannot be left out: for m >= 3 the rank exceeds
   d_model + n_heads * d_head,vo = m + 2. *)
Section Attained.
Variable R : realFieldType.
Variable exp : R -> R.
Hypothesis exp_gt0 : forall z, 0 < exp z.
Hypothesis exp01 : exp 0 != exp 1.
Variable m : nat.

Let K := [finType of option 'I_m].
Let Q := [finType of 'I_m].
Let V := [finType of option 'I_m].
Let C := [finType of option 'I_m].
Let Tok := [finType of option 'I_m + 'I_m + option 'I_m].

Let key (k : K) : 'I_#|Tok| := enum_rank (inl (inl k) : Tok).
Let query (q : Q) : 'I_#|Tok| := enum_rank (inl (inr q) : Tok).
Let value (v : V) : 'I_#|Tok| := enum_rank (inr v : Tok).

(* queries are unit vectors; keys add one more coordinate, read by the head *)
Let embed (t : Tok) (c : C) : R := match t with
  | inl (inl k) => (c == None)%:R + ((c != None) && (c == k))%:R
  | inl (inr q) => (c == Some q)%:R
  | inr _ => 0 end.

Let A : layer R #|Tok| 1 #|C| #|C| 1 := Layer
  (mx_of embed)
  (mx_of (fun (c : C) (t : Tok) => if t is inr v then (c == v)%:R else 0))
  (fun _ => mx_of (fun c c' : C => ((c == c') && (c != None))%:R))
  (fun _ => 1%:M)
  (fun _ => \col_c (enum_val c == None)%:R)
  (fun _ => delta_mx 0 (enum_rank (None : C))).

Let half := exp 1 / (exp 1 + exp 1).
Let less := exp 0 / (exp 0 + exp 1).
Let alpha (k : K) (q : Q) : R := if k == Some q then half else less.
Let T : tensor R K Q V := fun k q v => (v == Some q)%:R + alpha k q * (v == None)%:R.

Lemma half_less : half - less != 0.
Proof.
have e1 : exp 1 + exp 1 != 0 by rewrite gt_eqF // addr_gt0.
have e0 : exp 0 + exp 1 != 0 by rewrite gt_eqF // addr_gt0.
rewrite subr_eq0 /half /less eqr_div // !mulrDr [exp 1 * exp 0]mulrC (inj_eq (addrI _)).
by rewrite (inj_eq (mulIf (lt0r_neq0 (exp_gt0 1)))) eq_sym.
Qed.

Lemma attained_logits k q v : final_logits exp A (key k) (query q) (value v) = T k q v.
Proof.
have pick (f : C -> R) : \sum_c (c == Some q)%:R * f c = f (Some q).
  by under eq_bigr => c _ do rewrite eq_sym; exact: sum_pick.
have EU : W_EU A (query q) (value v) = (v == Some q)%:R.
  rewrite /W_EU /= mx_of_mul mxE !enum_rankK /=.
  by rewrite (eq_bigr (fun c => (Some q == c)%:R * (c == v)%:R)) => [|c _];
    rewrite ?(sum_pick (fun c => (c == v)%:R)) 1?eq_sym.
have VO t : W_VO A 0 (enum_rank t) (value v) = embed t None * (v == None)%:R.
  rewrite /W_VO /= -mulmxA -rowE mxE big_ord1; congr (_ * _); last first.
    by rewrite !mxE !enum_rankK eq_sym.
  rewrite mxE -[RHS](sum_pick (fun c => embed t c) None) -[RHS]sum_enum.
  by apply: eq_bigr => c _; rewrite !mxE enum_rankK mulrC eq_sym.
have QK t : W_QK A 0 (query q) (enum_rank t) = embed t (Some q).
  rewrite /W_QK /= mulmx1 mx_of_mul mx_of_tr mx_of_mul mxE !enum_rankK /=.
  rewrite -[RHS](sum_pick (fun c => embed t c) (Some q)); apply: eq_bigr => c' _.
  congr (_ * _); rewrite (pick (fun c => ((c == c') && (c != None))%:R)).
  by rewrite andbT.
have EK : embed (inl (inl k)) None = 1 by rewrite /embed eqxx addr0.
have EQ : embed (inl (inr q)) None = 0 by [].
have SK : embed (inl (inl k)) (Some q) = (k == Some q)%:R 
  by rewrite /embed (_ : (Some q == None) = false) // add0r andTb eq_sym.
have SQ : embed (inl (inr q)) (Some q) = 1 by rewrite /embed eqxx.
rewrite final_logitsE // big_ord1 EU !VO EK EQ mul1r mul0r mulr0 addr0; congr (_ + _ * _).
rewrite /attention_to_first !QK SK SQ /alpha.
by case: (k == Some q).
Qed.

Lemma attained_lower r : (0 < m)%N -> rank_le T r -> (m + m <= r)%N.
Proof.
move=> m0 rT; pose q0 : Q := Ordinal m0.
pose beta (i : 'I_m) (k : K) : R := (Some i == k)%:R - (None == k)%:R.
pose gamma (q' q : Q) : R := (q' == q)%:R.
have [s rs le] := substitution_with_restriction_v beta gamma rT.
set X := (fun b c v => _) in rs le.
have XE i q v : X i q v = (i == q)%:R * ((half - less) * (v == None)%:R).
  rewrite /X.
  under eq_bigr => k _ do under eq_bigr => q' _ do rewrite -mulrA.
  under eq_bigr => k _ do rewrite -mulr_sumr (sum_pick (fun q' => T k q' v)) mulrBl.
  rewrite sumrB (sum_pick (fun k => T k q v)) (sum_pick (fun k => T k q v)) /T.
  rewrite opprD addrACA subrr add0r -mulrBl /alpha /= mulrA; congr (_ * _).
  rewrite (_ : (Some i == Some q) = (i == q)) //.
  by case: (i == q); rewrite ?mul1r // mul0r subrr.
have low : (m <= s)%N.
  apply: leq_trans (flat_k_rank rs).
  pose N := mx_of (fun (qv : Q * V) (q' : 'I_m) => ((qv.1 == q') && (qv.2 == None))%:R / (half - less)).
  have : flat_k X *m N = 1%:M.
    rewrite /flat_k /N mx_of_mul -mx_of_id; apply: mx_of_ext => i q'.
    rewrite (bigD1 (q', None)) //= big1 ?addr0 => [|[q v] qv].
      by rewrite XE !eqxx mulr1 mul1r -mulrA divff ?mulr1 // half_less.
    rewrite xpair_eqE in qv; by rewrite /= (negPf qv) mul0r mulr0.
  move/(congr1 mxrank); rewrite mxrank1 => rk.
  by rewrite -[X in (X <= _)%N](card_ord m) -[X in (X <= _)%N]rk mxrankM_maxl.
have top : (\rank (flat_v X) <= 1)%N.
  rewrite -(cards1 (None : V)); apply: rank_nonzero_rows => v [i q] /=.
  by rewrite inE => /negPf vN; rewrite XE vN !mulr0.
have full : (m + 1 <= \rank (flat_v T))%N.
  have -> : (m + 1)%N = #|V| by rewrite card_option card_ord addn1.
  suff /eqP -> : row_free (flat_v T) by [].
  apply/inj_row_free => c /rowP c0.
  have rel k q : c 0 (enum_rank (Some q : V)) + c 0 (enum_rank (None : V)) * alpha k q = 0.
    have := c0 (enum_rank (k, q)); rewrite [LHS]mxE [RHS]mxE; apply: etrans.
    pose f v := c 0 (enum_rank v) * T k q v.
    transitivity (\sum_v f v); last first.
      by rewrite -[LHS]sum_enum; apply: eq_bigr => v _; rewrite /f mxE enum_rankK enum_valK.
    have T1 : T k q (Some q) = 1.
      by rewrite /T eqxx (_ : (Some q == None) = false) // mulr0 addr0.
    have T2 : T k q None = alpha k q.
      by rewrite /T eqxx (_ : (None == Some q) = false) // mulr1 add0r.
    rewrite (bigD1 (Some q)) // (bigD1 None) // big1 => [|v /andP [vq vN]].
      by rewrite /= /f T1 T2 mulr1 addr0.
    by rewrite /f /T (negPf vq) (negPf vN) mulr0 addr0 mulr0.
  have cN : c 0 (enum_rank (None : V)) = 0.
    have /addrI /eqP := etrans (rel (Some q0) q0) (esym (rel None q0)).
    rewrite -subr_eq0 -mulrBr mulf_eq0 => /orP [/eqP //|].
    have -> : alpha (Some q0) q0 - alpha None q0 = half - less by rewrite /alpha eqxx.
    by rewrite (negPf half_less).
  apply/rowP => j; rewrite [RHS]mxE; have := enum_valK j; case: (enum_val j) => [q|] <- //.
  by have := rel None q; rewrite cN mul0r addr0.
rewrite -(leq_add2l 1) addnA [(1 + m)%N]addnC [(1 + r)%N]addnC.
apply: leq_trans (leq_add full low) _; apply: leq_trans le _.
by rewrite leq_add2l.
Qed.

Theorem layer_rank_ceiling_attained : (0 < m)%N ->
  exists (n d dqk : nat) (A : layer R n 1 d dqk 1) (K Q V : finType)
         (key : K -> 'I_n) (query : Q -> 'I_n) (value : V -> 'I_n),
    [/\ #|Q| = m, d = m.+1, ceiling #|K| #|Q| #|V| d (1 * 1) = (m + m)%N &
        rank_is (fun k q v => final_logits exp A (key k) (query q) (value v)) (m + m)].
Proof.
move=> m0; exists #|Tok|, #|C|, #|C|, A, K, Q, V, key, query, value.
have cE : ceiling #|K| #|Q| #|V| #|C| (1 * 1) = (m + m)%N.
  rewrite !card_option !card_ord /ceiling minnn muln1 (minn_idPl (isT : (1 <= m.+1)%N)).
  by rewrite mul1n subn1 minnn (minn_idPr (leqnSn m)).
split=> //; rewrite ?card_option ?card_ord //.
split; first by rewrite -cE; apply: layer_rank_ceiling_model.
move=> s rs; apply: attained_lower => //.
by apply: rank_le_ext rs => k q v; rewrite attained_logits.
Qed.

End Attained.

Corollary proposition_3_5_needs_Q (R : realFieldType) (exp : R -> R) :
  (forall z, 0 < exp z) -> exp 0 != exp 1 ->
  exists (n d dqk : nat) (A : layer R n 1 d dqk 1) (K Q V : finType)
         (key : K -> 'I_n) (query : Q -> 'I_n) (value : V -> 'I_n),
    ~ rank_le (fun k q v => final_logits exp A (key k) (query q) (value v)) (d + 1 * 1).
Proof.
move=> exp_gt0 exp01.
have [n [d [dqk [A [K [Q [V [key [query [value [_ dE _ [_ least]]]]]]]]]]]] :=
  layer_rank_ceiling_attained exp_gt0 exp01 (isT : (0 < 3)%N).
exists n, d, dqk, A, K, Q, V, key, query, value => /least.
by rewrite [in X in (_ <= X)%N]dE.
Qed.

Print Assumptions layer_rank_ceiling.
Print Assumptions layer_rank_ceiling_printed.
Print Assumptions layer_rank_ceiling_model.
Print Assumptions proposition_3_5_never_attained.
Print Assumptions layer_rank_ceiling_attained.
Print Assumptions proposition_3_5_needs_Q.
