(* claim: lemmax/saturated-table@bf8e4599e5e200c2, by saturated_table, mu_is_transversal,
     saturated_table_common_value.
   control: saturated_column, saturation_needed.
   Let D be total with r_K = sum_q (|V_q| - 1) + 1. Then
     rank(D) = sum_q (|V_q| - 1) + mu,
   where mu is the least dimension of the span of vectors w_q, each in the affine
   hull of the e_v with v in V_q. Over every field mu is the least size of a set of
   values that meets every V_q. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor database proposition_2_1 substitution_with_restriction.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Pivots.
Variable F : fieldType.
Variables K Q V : finType.
Variable D : database K Q V.

Local Notation T := (tensor_of F D).

(* D is total: every pair has a value *)
Definition total := forall k q, exists v, D k q = Some v.

(* w is in the affine hull of the unit vectors e_v, v in V_q *)
Definition in_affine_hull (q : Q) (w : V -> F) :=
  (forall v, v \notin V_q D q -> w v = 0) /\ \sum_v w v = 1.

(* a choice of one such vector for every q, and the dimension of its span *)
Definition pivots (w : Q -> V -> F) := forall q, in_affine_hull q (w q).
Definition pivot_dim (w : Q -> V -> F) : nat := \rank (mx_of w).

(* m is the least dimension of the span of a choice of pivots *)
Definition is_mu (m : nat) :=
  (exists2 w, pivots w & pivot_dim w = m) /\ forall w, pivots w -> (m <= pivot_dim w)%N.

Definition excess : nat := (\sum_q (#|V_q D q| - 1))%N.

(* mu is the least size of a set of values that meets every V_q, over every field *)
Definition transversal (S : {set V}) := forall q, exists2 v, v \in S & v \in V_q D q.

Lemma pivots_of_transversal S : transversal S ->
  exists2 w, pivots w & (pivot_dim w <= #|S|)%N.
Proof.
move=> trS; have meet q : exists v, (v \in S) && (v \in V_q D q).
  by have [v vS vq] := trS q; exists v; rewrite vS.
pose f q := xchoose (meet q); have fP q : (f q \in S) && (f q \in V_q D q) := xchooseP (meet q).
exists (fun q v => (v == f q)%:R) => [q|]; last first.
  apply: rank_nonzero_cols => q v; case: eqP => // ->.
  by case/andP: (fP q) => ->.
split=> [v|]; first by case: eqP => // ->; case/andP: (fP q) => _ ->.
by rewrite (bigD1 (f q)) //= eqxx big1 ?addr0 // => v /negPf ->.
Qed.

Lemma transversal_of_pivots w : pivots w ->
  exists2 S, transversal S & (#|S| <= pivot_dim w)%N.
Proof.
move=> wP; pose W := (mx_of w)^T; pose g j := enum_val (maxrankfun W j) : V.
exists [set g j | j in 'I_(\rank W)]; last first.
  have cardS := leq_imset_card g (mem 'I_(\rank W)).
  by apply: leq_trans cardS _; rewrite card_ord /pivot_dim -(mxrank_tr (mx_of w)).
move=> q; case: (pickP (fun j => w q (g j) != 0)) => [j wj|w0].
  exists (g j); first by apply: imset_f.
  by apply: contraNT wj => /(wP q).1 ->.
have /eqP := (wP q).2; rewrite big1 ?(eq_sym 0) ?oner_eq0 // => v _.
have /submxP [X WE] : (W <= rowsub (maxrankfun W) W)%MS by rewrite eq_maxrowsub.
have /matrixP /(_ (enum_rank v) (enum_rank q)) := WE.
rewrite !mxE !enum_rankK => ->; rewrite big1 // => j _; rewrite !mxE enum_rankK.
by have /negbFE /eqP := w0 j; rewrite /g => ->; rewrite mulr0.
Qed.

Theorem mu_is_transversal m : is_mu m ->
  (exists2 S, transversal S & #|S| = m) /\ forall S, transversal S -> (m <= #|S|)%N.
Proof.
move=> [[w wP wm] mmin].
have low S : transversal S -> (m <= #|S|)%N.
  by move=> /pivots_of_transversal [w' /mmin mw']; apply: leq_trans.
split=> //; have [S trS cardS] := transversal_of_pivots wP.
by exists S => //; apply/eqP; rewrite eqn_leq low // andbT -wm.
Qed.

(* vectors supported on S whose coordinates sum to zero span |S| - 1 dimensions *)
Lemma rank_sum_zero (A : finType) (S : {set V}) (f : A -> V -> F) :
  (forall a v, v \notin S -> f a v = 0) -> (forall a, \sum_v f a v = 0) ->
  (\rank (mx_of f) <= #|S| - 1)%N.
Proof.
move=> supp sum0; have [S0|[v0 v0S]] := set_0Vmem S.
  have -> : mx_of f = 0 by apply/matrixP => i j; rewrite !mxE supp // S0 inE.
  by rewrite mxrank0.
have -> : (#|S| - 1)%N = #|[finType of {v | v \in S :\ v0}]|.
  by rewrite card_sig (cardsD1 v0 S) v0S add1n subn1.
apply: (rank_factor (u := fun a (s : {v | v \in S :\ v0}) => f a (val s))
  (v := fun s v => (v == val s)%:R - (v == v0)%:R)) => a v.
rewrite -(sum_sig (fun x => x \in S :\ v0) (fun x => f a x * ((v == x)%:R - (v == v0)%:R))).
under eq_bigl => x do rewrite in_setD1.
rewrite big_mkcondr /=.
have -> : \sum_(x | x != v0) (if x \in S then f a x * ((v == x)%:R - (v == v0)%:R) else 0) =
          \sum_(x | x != v0) f a x * ((v == x)%:R - (v == v0)%:R).
  by apply: eq_bigr => x _; case: ifP => // /negbT /supp ->; rewrite mul0r.
have [->|vv0] := eqVneq v v0.
  have := sum0 a; rewrite (bigD1 v0) //= => /eqP; rewrite addr_eq0 => /eqP ->.
  rewrite -sumrN; apply: eq_bigr => x xv0.
  by rewrite eq_sym (negPf xv0) sub0r mulrN mulr1.
rewrite (bigD1 v) //= eqxx subr0 mulr1 big1 ?addr0 // => x /andP [_ xv].
by rewrite eq_sym (negPf xv) subr0 mulr0.
Qed.

Hypothesis Dtotal : total.

Lemma fiber_sum k q : \sum_v T k q v = 1.
Proof.
have [v0 Dkq] := Dtotal k q; rewrite (bigD1 v0) //= /tensor_of Dkq eqxx big1 ?addr0 //.
by move=> v /negPf vv0; rewrite (_ : (Some v0 == Some v) = (v0 == v)) // eq_sym vv0.
Qed.

Lemma fiber_support k q v : v \notin V_q D q -> T k q v = 0.
Proof. by rewrite inE negb_exists => /forallP /(_ k) /negPf Dkq; rewrite /tensor_of Dkq. Qed.

(* Every choice of pivots bounds the rank, saturated or not. *)
Lemma pivots_upper w : pivots w -> rank_le T (excess + pivot_dim w).
Proof.
move=> wP.
have rest : rank_le (fun k q v => T k q v - w q v) excess.
  apply: rank_le_mono (rank_le_slices_q _); apply: leq_sum => q _.
  apply: rank_sum_zero => [k v vq|k]; last by rewrite sumrB fiber_sum (wP q).2 subrr.
  by rewrite fiber_support // (wP q).1 // subrr.
apply: rank_le_ext (rank_le_add rest (rank_le_outer_k (fun=> 1) w)) => k q v.
by rewrite mul1r subrK.
Qed.

(* Every decomposition gives a choice of pivots. *)
Lemma pivots_lower (k0 : K) r : rank_le T r ->
  exists2 w, pivots w & (\rank (flat_k T) + pivot_dim w <= r + 1)%N.
Proof.
move=> [a [b [c TE]]]; pose i0 := enum_rank k0; pose e0 : 'rV[F]_#|K| := delta_mx 0 i0.
pose A : 'M[F]_(#|K|, r) := \matrix_(k, i) a i (enum_val k).
pose M : 'M[F]_(r, #|[finType of Q * V]|) :=
  \matrix_(i, x) (b i (enum_val x).1 * c i (enum_val x).2).
have flatT : flat_k T = A *m M.
  by apply/matrixP => k x; rewrite !mxE TE; apply: eq_bigr => i _; rewrite !mxE mulrA.
pose C : 'M[F]_(#|K|, 1) := const_mx 1.
pose Y0 : 'M[F]_#|K| := 1%:M - C *m e0.
have Y0sum : Y0 *m C = 0.
  rewrite mulmxBl mul1mx -mulmxA -rowE (_ : row i0 C = 1%:M) ?mulmx1 ?subrr //.
  by apply/matrixP => i j; rewrite !mxE !ord1.
have [S [Z [cardS zeroS]]] := eliminate_columns (Y0 *m A) (e0 *m A).
pose al : 'rV[F]_#|K| := e0 - Z *m Y0.
have alA : al *m A = e0 *m A - Z *m (Y0 *m A) by rewrite mulmxBl mulmxA.
have alC : al *m C = 1%:M.
  rewrite mulmxBl -mulmxA Y0sum mulmx0 subr0 -rowE.
  by apply/matrixP => i j; rewrite !mxE !ord1.
pose w q v := \sum_k al 0 (enum_rank k) * T k q v.
have wE q v : w q v = \sum_i (al *m A) 0 i * b i q * c i v.
  rewrite /w; under eq_bigr => k _ do rewrite TE mulr_sumr.
  rewrite exchange_big /=; apply: eq_bigr => i _.
  rewrite mxE !mulr_suml -[LHS]sum_enum; apply: eq_bigr => j _.
  by rewrite [A _ _]mxE enum_valK !mulrA.
have wP : pivots w.
  move=> q; split=> [v vq|]; first by rewrite /w big1 // => k _; rewrite fiber_support // mulr0.
  rewrite /w exchange_big /=; under eq_bigr => k _ do rewrite -mulr_sumr fiber_sum mulr1.
  transitivity ((al *m C) 0 0); last by rewrite alC mxE.
  rewrite mxE -[LHS]sum_enum.
  by apply: eq_bigr => k _; rewrite enum_valK [C _ _]mxE mulr1.
exists w => //.
have dimw : (pivot_dim w <= r - \rank (Y0 *m A))%N.
  have -> : (r - \rank (Y0 *m A))%N = #|[finType of {i : 'I_r | i \in ~: S}]|.
    rewrite card_sig -cardS; have := cardsC S; rewrite card_ord => e.
    by rewrite -[X in (X - _)%N]e addKn.
  apply: (rank_factor (u := fun q (i : {i : 'I_r | i \in ~: S}) => (al *m A) 0 (val i) * b (val i) q)
                      (v := fun i v => c (val i) v)) => q v.
  rewrite wE (bigID (mem S)) /= big1 ?add0r => [|i iS]; last by rewrite alA zeroS // !mul0r.
  rewrite (eq_bigl (fun i => i \in ~: S)) => [|i]; last by rewrite inE.
  by rewrite sum_sig.
have dimT : (\rank (flat_k T) <= \rank (Y0 *m A) + 1)%N.
  have -> : flat_k T = Y0 *m A *m M + C *m (e0 *m flat_k T).
    by rewrite -mulmxA -flatT mulmxBl mul1mx -mulmxA subrK.
  apply: leq_trans (mxrank_add _ _) _; apply: leq_add; first exact: mxrankM_maxl.
  exact: leq_trans (mxrankM_maxl _ _) (rank_leq_col _).
have rY : (\rank (Y0 *m A) <= r)%N by apply: rank_leq_col.
apply: leq_trans (leq_add dimT dimw) _.
by rewrite addnC addnA subnK.
Qed.

Theorem saturated_table m : \rank (flat_k T) = (excess + 1)%N ->
  is_mu m -> rank_is T (excess + m).
Proof.
move=> sat [[w wP wm] mmin].
have /card_gt0P [k0 _] : (0 < #|K|)%N.
  by have := rank_leq_row (flat_k T); rewrite sat addn1; apply: leq_trans.
split.
  by rewrite -wm; apply: pivots_upper.
move=> r /(pivots_lower k0) [w' w'P]; rewrite sat addnAC leq_add2r.
by apply: leq_trans; rewrite leq_add2l mmin.
Qed.

(* a value common to all columns: mu = 1 *)
Corollary saturated_table_common_value (v0 : V) : (0 < #|Q|)%N ->
  \rank (flat_k T) = (excess + 1)%N -> (forall q, v0 \in V_q D q) ->
  rank_is T (excess + 1).
Proof.
move=> /card_gt0P [q0 _] sat common; apply: saturated_table => //; split.
  exists (fun _ v => (v == v0)%:R).
    move=> q; split=> [v|]; first by case: eqP => // ->; rewrite common.
    by rewrite (bigD1 v0) //= eqxx big1 ?addr0 // => v /negPf ->.
  apply/eqP; rewrite eqn_leq; apply/andP; split.
    apply: leq_trans (_ : #|unit_finType| <= 1)%N; last by rewrite card_unit.
    apply: (rank_factor (u := fun _ _ => 1) (v := fun _ v => (v == v0)%:R)) => q v.
    by rewrite (big_pred1 tt) => [|[]] //; rewrite mul1r.
  rewrite lt0n mxrank_eq0; apply/eqP => /matrixP /(_ (enum_rank q0) (enum_rank v0)).
  by rewrite !mxE enum_rankK eqxx => /eqP; rewrite oner_eq0.
move=> w wP; rewrite lt0n mxrank_eq0; apply/eqP => w0.
have /eqP := (wP q0).2; rewrite big1 ?(eq_sym 0) ?oner_eq0 // => v _.
by have /matrixP /(_ (enum_rank q0) (enum_rank v)) := w0; rewrite !mxE !enum_rankK.
Qed.

End Pivots.

(* Saturated tables exist at every size: one column that takes every value once. *)
Theorem saturated_column (F : fieldType) (V : finType) : (0 < #|V|)%N ->
  let D : database V unit_finType V := fun k _ => Some k in
  [/\ total D, \rank (flat_k (tensor_of F D)) = (excess D + 1)%N &
      rank_is (tensor_of F D) #|V|].
Proof.
move=> V0 D.
have tot : total D by move=> k q; exists k.
have VqE q : V_q D q = setT.
  by apply/setP => v; rewrite !inE; apply/existsP; exists v.
have exE : (excess D + 1)%N = #|V|.
  by rewrite /excess (big_pred1 tt) => [|[]] //; rewrite VqE cardsT subnK.
have sat : \rank (flat_k (tensor_of F D)) = (excess D + 1)%N.
  rewrite exE; apply/eqP; rewrite eqn_leq rank_leq_row /=.
  have : mx_of (fun k v : V => (k == v)%:R : F) =
      flat_k (tensor_of F D) *m mx_of (fun (x : unit * V) v => (x.2 == v)%:R).
    rewrite mx_of_mul; apply: mx_of_ext => k v.
    rewrite (bigD1 (tt, v)) //= eqxx mulr1 big1 ?addr0 // => -[[] v'] /= vv'.
    have /negPf -> : v' != v by apply: contraNneq vv' => ->.
    by rewrite mulr0.
  rewrite mx_of_id => /(congr1 mxrank); rewrite mxrank1 => rk.
  by rewrite [X in (X <= _)%N]rk mxrankM_maxl.
split=> //; have /card_gt0P [v0 _] := V0; rewrite -exE.
by apply: saturated_table_common_value (v0) _ sat _ => // [|q]; rewrite ?card_unit // VqE inE.
Qed.

(* Saturation is needed: exclusive or is total with a value common to both columns,
   the formula would give 2 + 1 = 3, but the rank is at most 2 as soon as 2 <> 0. *)
Theorem saturation_needed (F : fieldType) : 2%:R != 0 :> F ->
  let D : database bool_finType bool_finType bool_finType := fun k q => Some (k (+) q) in
  [/\ total D, forall q, true \in V_q D q, (excess D + 1 = 3)%N & rank_le (tensor_of F D) 2].
Proof.
move=> two D.
have VqE q : V_q D q = setT.
  by apply/setP => v; rewrite !inE; apply/existsP; exists (v (+) q); rewrite /D addbK.
split=> [k q|q||]; first by exists (k (+) q).
- by rewrite VqE inE.
- by rewrite /excess (eq_bigr (fun=> 1%N)) => [|q _]; rewrite ?sum1_card ?card_bool // VqE cardsT card_bool.
pose s (i : 'I_2) (x : bool) : F := if (i == 0) || ~~ x then 1 else -1.
exists s, s, (fun i x => 2%:R^-1 * s i x) => k q v.
rewrite big_ord_recl big_ord1 /s /= /tensor_of /D.
have half : 2%:R^-1 + 2%:R^-1 = 1 :> F by rewrite -mulr2n -(mulr_natr 2%:R^-1 2) mulVf.
by case: k; case: q; case: v; rewrite /= ?mulrNN ?mulrN ?mulNr ?mulr1 ?mul1r ?opprK ?half ?subrr.
Qed.

Print Assumptions saturated_table.
Print Assumptions mu_is_transversal.
Print Assumptions saturated_table_common_value.
Print Assumptions saturated_column.
Print Assumptions saturation_needed.
