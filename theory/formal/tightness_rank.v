(* claim: mahdavi/tightness-rank@13b318cacad58a6d, by tightness_rank.
   control: tightness_rank_attained, feature_rank_ceiling_attained.
   If all examples share one context, rank(Z) <= H (n - 1) + 1 for all weights,
   and for all H and n there are data and weights with equality; they attain
   the ceiling of lemmax/feature-rank-ceiling as well. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor multi_head_attention feature_rank_ceiling.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Tightness.
Variable R : realFieldType.
Variable exp : R -> R.
Hypothesis exp_gt0 : forall z, 0 < exp z.

Section Shared.
Variables (X : finType) (n H d dh : nat).
Variables (E : 'M[R]_(n, d)) (e : X -> 'cV[R]_d).
Variables W_K W_Q : 'I_H -> 'M[R]_(d, dh).

Lemma rho_shared (F : {set X}) : (rho (fun=> E) F <= n)%N.
Proof.
rewrite -[X in (_ <= X)%N](card_ord n).
apply: (rank_factor (u := fun (ti : X * 'I_n) i => if ti.1 \in F then (ti.2 == i)%:R else 0)
                    (v := fun i j => E i j)) => -[t i] j /=.
case: ifP => _; first by rewrite (sum_pick (fun i => E i j)).
by rewrite big1 // => k _; rewrite mul0r.
Qed.

Lemma delta_shared (F : {set X}) : (delta (fun=> E) F <= n.-1)%N.
Proof.
have [n0|n0] := posnP n.
  have -> : delta (fun=> E) F = 0%N; last by [].
  apply/eqP; rewrite mxrank_eq0; apply/eqP/matrixP => i j; rewrite !mxE.
  by case: ifP => // _; have := ltn_ord (enum_val i).2.1; rewrite [X in (_ < X)%N]n0.
pose i0 := Ordinal n0.
have -> : n.-1 = #|[finType of {i : 'I_n | i != i0}]|.
  by rewrite card_sig -[in LHS](card_ord n) (cardD1 i0) /=; apply: eq_card => i; rewrite !inE andbT.
apply: (rank_factor
  (u := fun (tik : X * ('I_n * 'I_n)) (s : {i : 'I_n | i != i0}) =>
     if tik.1 \in F then (tik.2.1 == val s)%:R - (tik.2.2 == val s)%:R else 0)
  (v := fun s j => E (val s) j - E i0 j)) => -[t [i k]] j /=.
case: ifP => _; last by rewrite big1 // => s _; rewrite mul0r.
have row i1 : \sum_(s : {i : 'I_n | i != i0}) (i1 == val s)%:R * (E (val s) j - E i0 j) =
    E i1 j - E i0 j.
  have [->|ne] := eqVneq i1 i0.
    rewrite subrr big1 // => s _; by rewrite eq_sym (negPf (valP s)) mul0r.
  rewrite (bigD1 (Sub i1 ne)) //= eqxx mul1r big1 ?addr0 // => s ss.
  rewrite (_ : (i1 == sval s) = false) ?mul0r //.
  by apply: contraNF ss => /eqP sE; rewrite -val_eqE /= -sE.
under eq_bigr => s _ do rewrite mulrBl.
by rewrite sumrB !row opprB addrA subrK.
Qed.

Theorem tightness_rank : (\rank (Z exp (fun=> E) e W_K W_Q) <= H * n.-1 + 1)%N.
Proof.
have [H0|H0] := posnP H.
  apply: leq_trans (rank_leq_col _) _.
  by rewrite card_prod !card_ord (_ : (H * d = 0)%N) // H0.
have [n0|n0] := posnP n.
  rewrite (_ : Z _ _ _ _ _ = 0) ?mxrank0 //; apply/matrixP => i j; rewrite !mxE.
  by rewrite /feature big1 // => k _; have := ltn_ord k; rewrite [X in (_ < X)%N]n0.
have := feature_rank_ceiling_all exp_gt0 (fun=> E) e W_K W_Q.
rewrite leq_min => /andP [_] /leq_trans; apply.
apply: leq_trans (_ : n + H.-1 * n.-1 <= _)%N.
  by rewrite leq_add ?rho_shared // leq_mul2l delta_shared orbT.
by rewrite -{1}(prednK n0) -{2}(prednK H0) mulSn addn1 addSn.
Qed.

End Shared.

(* The family: n = m.+1 context tokens, H = g.+1 heads, H (n - 1) + 1 examples *)
Section Attained.
Hypothesis exp_inj : injective exp.
Variables m g : nat.

Let n := m.+1.
Let H := g.+1.
Let X := [finType of option ('I_H * 'I_m)].
Let d := (n + #|X|)%N.

(* the context is made of unit vectors, the queries of other unit vectors *)
Let E : 'M[R]_(n, d) := row_mx 1%:M 0.
Let e (t : X) : 'cV[R]_d := col_mx 0 (delta_mx (enum_rank t) 0).

(* head h of the example (h, i) prefers token i + 1; all other heads are uniform *)
Let S (h : 'I_H) : 'M[R]_(n, #|X|) :=
  \matrix_(i, t) (if enum_val t is Some (h', i') then (h' == h) && (lift 0 i' == i) else false)%:R.
Let W_K (h : 'I_H) : 'M[R]_d := 1%:M.
Let W_Q (h : 'I_H) : 'M[R]_d := (block_mx 0 (S h) 0 0)^T.

Lemma family_score h t i : score (fun=> E) e W_K W_Q h t i = S h i (enum_rank t).
Proof.
rewrite /score /W_K /W_Q trmxK mul1mx mul_row_block mul_row_col.
by rewrite !mul0mx !mulmx0 !addr0 mul1mx add0r -colE mxE.
Qed.

Local Notation th := (theta exp (fun=> E) e W_K W_Q).

Lemma family_feature t h i : feature exp (fun=> E) e W_K W_Q t (h, lshift _ i) = th h t i.
Proof.
rewrite /feature /= (bigD1 i) //= row_mxEl mxE eqxx mulr1 big1 ?addr0 // => k /negPf ki.
by rewrite row_mxEl mxE ki mulr0.
Qed.

Lemma family_rows_free : row_free (Z exp (fun=> E) e W_K W_Q).
Proof.
apply/inj_row_free => c; pose a t := c 0 (enum_rank t).
move=> /rowP c0.
have col h i : \sum_t a t * th h t i = 0.
  have := c0 (enum_rank (h, lshift _ i)); rewrite !mxE; apply: etrans.
  rewrite -[LHS]sum_enum; apply: eq_bigr => t _.
  by rewrite /a mxE enum_valK enum_rankK family_feature.
have D0 h t : \sum_(k < n) exp (score (fun=> E) e W_K W_Q h t k) != 0.
  rewrite gt_eqF // big_ord_recl; apply: ltr_paddr => //.
  by apply: sumr_ge0 => k _; apply: ltW.
have some h i : a (Some (h, i)) = 0.
  have : \sum_t a t * (th h t (lift 0 i) - th h t 0) = 0.
    by under eq_bigr => t _ do rewrite mulrBr; rewrite sumrB !col subrr.
  rewrite (bigD1 (Some (h, i))) //= big1 ?addr0 => [|t tn].
    move/eqP; rewrite mulf_eq0 => /orP [/eqP //|].
    rewrite /theta -mulrBl mulf_eq0 invr_eq0 (negPf (D0 _ _)) orbF subr_eq0.
    rewrite (inj_eq exp_inj) !family_score !mxE enum_rankK !eqxx /=.
    by rewrite oner_eq0.
  rewrite /theta !family_score !mxE enum_rankK; case: t tn => [[h' i']|] tn; last by rewrite subrr mulr0.
  have [hh|_] := eqVneq h' h; last by rewrite subrr mulr0.
  rewrite (_ : (lift 0 i' == lift 0 i) = false) ?subrr ?mulr0 //.
  apply: contraNF tn => /eqP /lift_inj ii; by rewrite hh ii.
have none : a None = 0.
  have := col 0 0; rewrite (bigD1 None) //= big1 ?addr0 => [|[[h i]|] //= _]; last by rewrite some mul0r.
  move/eqP; rewrite mulf_eq0 => /orP [/eqP //|].
  by rewrite mulf_eq0 invr_eq0 (negPf (D0 _ _)) orbF gt_eqF.
apply/rowP => i; rewrite mxE; have := enum_valK i; case: (enum_val i) => [[h j]|] <-.
  exact: some.
exact: none.
Qed.

Lemma family_rank : \rank (Z exp (fun=> E) e W_K W_Q) = (H * n.-1 + 1)%N.
Proof.
by have := family_rows_free; rewrite /row_free => /eqP ->; rewrite card_option card_prod !card_ord addn1.
Qed.

Lemma family_ceiling : (rho (fun=> E) [set: X] + H.-1 * delta (fun=> E) [set: X] = H * n.-1 + 1)%N.
Proof.
apply/eqP; rewrite eqn_leq; apply/andP; split.
  apply: leq_trans (_ : n + H.-1 * n.-1 <= _)%N.
    by rewrite leq_add ?rho_shared // leq_mul2l delta_shared orbT.
  by rewrite mulSn addn1 addSn.
have := feature_rank_ceiling_all exp_gt0 (fun=> E) e W_K W_Q.
by rewrite family_rank leq_min => /andP [].
Qed.

End Attained.

(* for all n, H >= 1 the bound is attained, by heads of some dimension *)
Theorem tightness_rank_attained n H : injective exp -> (0 < n)%N -> (0 < H)%N ->
  exists (X : finType) (d dh : nat) (E : 'M[R]_(n, d)) (e : X -> 'cV[R]_d)
         (W_K W_Q : 'I_H -> 'M[R]_(d, dh)),
    #|X| = (H * n.-1 + 1)%N /\ \rank (Z exp (fun=> E) e W_K W_Q) = (H * n.-1 + 1)%N.
Proof.
case: n H => [//|m] [//|g] exp_inj _ _; do 7! eexists; split; last exact: family_rank.
by rewrite card_option card_prod !card_ord addn1.
Qed.

Theorem feature_rank_ceiling_attained n H : injective exp -> (0 < n)%N -> (0 < H)%N ->
  exists (X : finType) (d dh : nat) (E : X -> 'M[R]_(n, d)) (e : X -> 'cV[R]_d)
         (W_K W_Q : 'I_H -> 'M[R]_(d, dh)),
    (\rank (Z exp E e W_K W_Q) = rho E setT + H.-1 * delta E setT)%N.
Proof.
case: n H => [//|m] [//|g] exp_inj _ _.
have := etrans (family_rank exp_inj m g) (esym (family_ceiling exp_inj m g)).
by do 7! eexists; eassumption.
Qed.

End Tightness.

Print Assumptions tightness_rank.
Print Assumptions tightness_rank_attained.
Print Assumptions feature_rank_ceiling_attained.
