(* claim: lemmax/parity-obstruction@70f1c1a461038561, by parity_obstruction, associations_not_memorized.
   against: dana/corollary-1@14f0e7127168b46b (H = 0 with two associations; H = 1, d_h = 2 with four),
     by corollary_1_fails_without_heads, corollary_1_fails_with_one_head.
   against: dana/headline@2bbe39da271bc44f (every H), by theorem_1_memorization_fails.
   against: dana/corollary-2@d326860268156dcb (T_0 = H d_h + d, where accuracy 1 is promised; every H),
     by corollary_2_fails.
   against: dana/comparison-mahdavi-memorization@d242acc3e2ee7d51 (H = 2, d_h = 4),
     by comparison_with_earlier_capacity_fails.
   control: parity_of_H_bits_memorized.
   An attention-only transformer with H heads cannot memorize the parity of
   H+1 bits, whatever its dimensions; with H heads it can memorize the parity
   of H bits. Consequences: the number of associations that the introduction, Section 6 and
   Corollary 1 of Dana et al. promise is not always memorized. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import attention_only_transformer.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* n bits, their parity, and the sequence (b_1, ..., b_n, j, ..., j) of S = s.+1
   tokens in which the bit b_i is written with one of two tokens *)
Definition bits (n : nat) := {ffun 'I_n -> bool}.

Definition parity n (b : bits n) : bool := odd (\sum_(i < n) b i)%N.

Definition bit_sequence N s n (zero one j : 'I_N) (b : bits n) : 'I_s.+1 -> 'I_N :=
  fun i => if insub (val i) is Some k then (if b k then one else zero) else j.

Section AlternatingSum.
Variable R : realFieldType.

(* A product of m < n functions, each of them a sum of functions of one bit,
   has no parity component. *)
Lemma alternating_sum_product n m (J : finType) (coord : J -> option 'I_n)
    (phi : 'I_m -> J -> bits n -> R) :
  (m < n)%N ->
  (forall h j (b b' : bits n), (forall i, coord j = Some i -> b i = b' i) ->
     phi h j b = phi h j b') ->
  \sum_b (-1) ^+ parity b * \prod_(h < m) (\sum_j phi h j b) = 0.
Proof.
move=> mn phiP.
under eq_bigr => b _ do rewrite bigA_distr_bigA /= big_distrr /=.
rewrite exchange_big /=; apply: big1 => f _.
have [k kP] : exists k, forall h, coord (f h) != Some k.
  apply/'exists_forallP; apply: contraLR mn.
  rewrite negb_exists -leqNgt => /forallP hit.
  have some_inj : injective (@Some 'I_n) by move=> ? ? [].
  have -> : n = #|@Some 'I_n @: setT| by rewrite card_imset // cardsT card_ord.
  have := leq_imset_card (coord \o f) setT; rewrite cardsT card_ord.
  apply: leq_trans.
  apply/subset_leq_card/subsetP => _ /imsetP [k _ ->].
  have := hit k; rewrite negb_forall => /existsP [h]; rewrite negbK => /eqP <-.
  exact: imset_f.
pose flip (b : bits n) : bits n := [ffun i => if i == k then ~~ b i else b i].
have flipK : involutive flip.
  by move=> b; apply/ffunP => i; rewrite !ffunE; case: eqP => // _; rewrite negbK.
apply/eqP; rewrite -eqNr -sumrN; apply/eqP.
rewrite [RHS](reindex_inj (inv_inj flipK)) /=; apply: eq_bigr => b _.
rewrite -mulNr; congr (_ * _); last first.
  apply: eq_bigr => h _; apply: phiP => i; rewrite ffunE => fhi.
  by case: eqP => // ik; have := kP h; rewrite fhi ik eqxx.
rewrite /parity !signr_odd (bigD1 k) //= [in RHS](bigD1 k) //= !exprD ffunE eqxx.
rewrite -mulNr; congr (_ * _).
  by case: (b k); rewrite ?expr0 ?expr1 ?opprK.
by congr (_ ^+ _); apply: eq_bigr => i /negPf ik; rewrite ffunE ik.
Qed.

End AlternatingSum.

Section Obstruction.
Variable R : realFieldType.
Variable exp : R -> R.
Hypothesis exp_gt0 : forall z, 0 < exp z.

Theorem parity_obstruction N s H d dh (A : aot R N s H d dh)
    (zero one j even odd : 'I_N) :
  even != odd -> (H.+2 <= s.+1)%N ->
  ~ (forall b : bits H.+1,
       memorizes exp A (bit_sequence zero one j b) (if parity b then odd else even)).
Proof.
move=> neq ltHs mem.
pose t (b : bits H.+1) : 'I_s.+1 -> 'I_N := bit_sequence zero one j b.
pose w : 'rV[R]_d := row even (W_U A) - row odd (W_U A).
pose E h i b := exp (score A h (t b) i).
pose val_ h i b := (w *m (W_O A h *m (W_V A h *m x A (t b) i))) 0 0.
pose f b := logits exp A (t b) even 0 - logits exp A (t b) odd 0.
have tlast b : t b ord_max = j.
  by rewrite /t /bit_sequence insubF //=; apply/negbTE; rewrite -leqNgt.
have xlast b b' : x A (t b) ord_max = x A (t b') ord_max by rewrite /x !tlast.
have tloc (i : 'I_s.+1) (b b' : bits H.+1) :
    (forall k, insub (val i) = Some k -> b k = b' k) -> x A (t b) i = x A (t b') i.
  by rewrite /x /t /bit_sequence; case: insub => // k /(_ k erefl) ->.
have Eloc h i (b b' : bits H.+1) : (forall k, insub (val i) = Some k -> b k = b' k) ->
    E h i b = E h i b'.
  by move=> bb'; rewrite /E /score (xlast b b') (tloc i b b').
have Vloc h i (b b' : bits H.+1) : (forall k, insub (val i) = Some k -> b k = b' k) ->
    val_ h i b = val_ h i b' by move=> bb'; rewrite /val_ (tloc i b b').
pose c := (w *m x A (t [ffun=> false]) ord_max) 0 0.
have fE b : f b = c + \sum_(h < H) (\sum_i E h i b * val_ h i b) / \sum_i E h i b.
  have rowE y (M : 'cV[R]_d) : (W_U A *m M) y 0 = (row y (W_U A) *m M) 0 0.
    by rewrite -row_mul [RHS]mxE.
  rewrite /f /logits !rowE.
  have -> (u v : 'M[R]_1) : u 0 0 - v 0 0 = (u - v) 0 0 by rewrite !mxE.
  rewrite -mulmxBl -/w mulmxDr mxE (xlast b [ffun=> false]); congr (_ + _).
  rewrite mulmx_sumr summxE; apply: eq_bigr => h _.
  rewrite /attention !mulmx_sumr summxE mulr_suml; apply: eq_bigr => i _.
  by rewrite -!scalemxAr mxE /weight -/(E h i b) mulrAC.
have Zgt0 h b : 0 < \sum_i E h i b.
  rewrite (bigD1 ord_max) //=; apply: ltr_paddr; last exact: exp_gt0.
  by apply: sumr_ge0 => i _; apply/ltW/exp_gt0.
pose Z b := \prod_(h < H) \sum_i E h i b.
have Zpos b : 0 < Z b by apply: prodr_gt0.
have fZ b : f b * Z b = c * Z b + \sum_(h < H) \prod_(h' < H)
    \sum_i (if h' == h then E h' i b * val_ h' i b else E h' i b).
  rewrite fE mulrDl; congr (_ + _); rewrite mulr_suml; apply: eq_bigr => h _.
  rewrite /Z (bigD1 h) //= [RHS](bigD1 h) //= eqxx mulrA divfK ?gt_eqF //.
  congr (_ * _); apply: eq_bigr => h' /negPf hh'; apply: eq_bigr => i _.
  by rewrite hh'.
have vanish : \sum_b (-1) ^+ parity b * (f b * Z b) = 0.
  under eq_bigr => b _ do rewrite fZ mulrDr mulrCA mulr_sumr.
  rewrite big_split /= -mulr_sumr exchange_big /=.
  rewrite (@alternating_sum_product R H.+1 H _ (fun i : 'I_s.+1 => insub (val i)) E) //.
  rewrite mulr0 add0r; apply: big1 => h _.
  apply: (@alternating_sum_product R H.+1 H _ (fun i : 'I_s.+1 => insub (val i))
    (fun h' i b => if h' == h then E h' i b * val_ h' i b else E h' i b)) => //.
  move=> h' i b b' bb'; rewrite (Eloc h' i b b') // (Vloc h' i b b') //.
have pos_ b : 0 < (-1) ^+ parity b * (f b * Z b).
  rewrite mulrA pmulr_lgt0 //; have := mem b; rewrite /memorizes -/(t b) /f.
  case: (parity b) => /= memb; last by rewrite mul1r subr_gt0 memb // eq_sym.
  by rewrite mulN1r oppr_gt0 subr_lt0 memb.
suff : 0 < \sum_b (-1) ^+ parity b * (f b * Z b) by rewrite vanish ltxx.
rewrite (bigD1 [ffun=> false]) //=; apply: ltr_paddr => //.
by apply: sumr_ge0 => b _; apply: ltW.
Qed.


(* The counterexamples to dana/theorem-1 and dana/corollary-1 in terms of
   memorization: sequences of H+2 tokens over a dictionary of two. *)
Lemma bit_sequence_inj s n (b b' : bits n) : (n <= s)%N ->
  [ffun i => bit_sequence (s := s) 0 1 0 b i] =
  [ffun i => bit_sequence 0 1 0 b' i] :> {ffun 'I_s.+1 -> 'I_2} -> b = b'.
Proof.
move=> ns /ffunP eqb; apply/ffunP => k.
have ks : (k < s.+1)%N by rewrite (leq_trans (ltn_ord k)) // leqW.
have := eqb (Ordinal ks); rewrite !ffunE /bit_sequence /= valK.
by case: (b k); case: (b' k).
Qed.

(* Some 2^(H+1) associations are memorized by no attention-only transformer with
   H heads, whatever d and d_h. *)
Corollary associations_not_memorized H d dh :
  exists (P : {set {ffun 'I_H.+2 -> 'I_2}}) (y : {ffun 'I_H.+2 -> 'I_2} -> 'I_2),
    #|P| = (2 ^ H.+1)%N /\
    forall A : aot R 2 H.+1 H d dh, ~ (forall t, t \in P -> memorizes exp A t (y t)).
Proof.
pose seq_ (b : bits H.+1) := [ffun i => bit_sequence (s := H.+1) (0 : 'I_2) 1 0 b i].
have seq_inj : injective seq_ by move=> b b'; apply: bit_sequence_inj.
pose y t : 'I_2 := if [pick b | seq_ b == t] is Some b
                   then (if parity b then 1 else 0) else 0.
have yE b : y (seq_ b) = if parity b then 1 else 0.
  rewrite /y; case: pickP => [b' /eqP /seq_inj -> //|/(_ b)].
  by rewrite eqxx.
exists (seq_ @: setT), y; split.
  by rewrite card_imset // cardsT card_ffun card_bool card_ord.
move=> A mem; apply: (@parity_obstruction 2 H.+1 H d dh A 0 1 0 0 1) => // b.
have := mem _ (imset_f seq_ (in_setT b)); rewrite yE.
have seqE : seq_ b =1 bit_sequence 0 1 0 b by move=> i; rewrite ffunE.
have xE i : x A (seq_ b) i = x A (bit_sequence 0 1 0 b) i by rewrite /x seqE.
have sE h i : score A h (seq_ b) i = score A h (bit_sequence 0 1 0 b) i.
  by rewrite /score !xE.
have lE : logits exp A (seq_ b) = logits exp A (bit_sequence 0 1 0 b).
  rewrite /logits xE; congr (_ *m (_ + _)); apply: eq_bigr => h _.
  congr (_ *m (_ *m _)); apply: eq_bigr => i _; rewrite xE /weight sE.
  by congr (_ / _ *: _); apply: eq_bigr => k _; rewrite sE.
by move=> memb y' /memb; rewrite lE.
Qed.

(* dana/headline, for every H: H d_h + d associations, with d_h = 1 *)
Corollary theorem_1_memorization_fails H :
  exists (P : {set {ffun 'I_H.+2 -> 'I_2}}) (y : {ffun 'I_H.+2 -> 'I_2} -> 'I_2),
    #|P| = (H * 1 + (2 ^ H.+1 - H))%N /\
    forall A : aot R 2 H.+1 H (2 ^ H.+1 - H) 1,
      ~ (forall t, t \in P -> memorizes exp A t (y t)).
Proof.
have [P [y [cP yP]]] := associations_not_memorized H (2 ^ H.+1 - H) 1.
exists P, y; split=> //; rewrite cP muln1 subnKC // ltnW //.
by rewrite (leq_trans (ltn_expl H (isT : (1 < 2)%N))) // leq_exp2l.
Qed.

(* dana/corollary-2: with T_0 = H d_h + d sequences of one prior probability the
   accuracy that is promised is 1, so that all of them would be memorized *)
Corollary corollary_2_fails H :
  exists (P : {set {ffun 'I_H.+2 -> 'I_2}}) (y : {ffun 'I_H.+2 -> 'I_2} -> 'I_2),
    #|P| = (H * 1 + (2 ^ H.+1 - H))%N /\
    forall A : aot R 2 H.+1 H (2 ^ H.+1 - H) 1,
      ~ (forall t, t \in P -> memorizes exp A t (y t)).
Proof. exact: theorem_1_memorization_fails. Qed.

(* dana/corollary-1 (d = 2, T_0 = H d_h + 2) with no head and with one head *)
Corollary corollary_1_fails_without_heads dh :
  exists (P : {set {ffun 'I_2 -> 'I_2}}) (y : {ffun 'I_2 -> 'I_2} -> 'I_2),
    #|P| = (0 * dh + 2)%N /\
    forall A : aot R 2 1 0 2 dh, ~ (forall t, t \in P -> memorizes exp A t (y t)).
Proof. exact: associations_not_memorized. Qed.

Corollary corollary_1_fails_with_one_head :
  exists (P : {set {ffun 'I_3 -> 'I_2}}) (y : {ffun 'I_3 -> 'I_2} -> 'I_2),
    #|P| = (1 * 2 + 2)%N /\
    forall A : aot R 2 2 1 2 2, ~ (forall t, t \in P -> memorizes exp A t (y t)).
Proof. exact: associations_not_memorized. Qed.

(* dana/comparison-mahdavi-memorization: H d_h associations with H = 2, d_h = 4, any d *)
Corollary comparison_with_earlier_capacity_fails d :
  exists (P : {set {ffun 'I_4 -> 'I_2}}) (y : {ffun 'I_4 -> 'I_2} -> 'I_2),
    #|P| = (2 * 4)%N /\
    forall A : aot R 2 3 2 d 4, ~ (forall t, t \in P -> memorizes exp A t (y t)).
Proof. exact: associations_not_memorized. Qed.

End Obstruction.

(* Sharpness: with H heads of dimension 1 and embedding dimension 3, a
   transformer memorizes the parity of H bits. *)
Section Sharpness.

Lemma size_affine_prod (F : fieldType) (a : F) (beta : nat -> F) m :
  (size (\prod_(h < m) (a *: 'X + (beta h)%:P))%R <= m.+1)%N.
Proof.
elim: m => [|m IH]; first by rewrite big_ord0 size_poly1.
rewrite big_ord_recr /=; apply: leq_trans (size_mul_leq _ _) _.
have s2 : (size (a *: 'X + (beta m)%:P)%R <= 2)%N.
  apply: leq_trans (size_add _ _) _.
  rewrite geq_max (leq_trans (size_scale_leq _ _)) ?size_polyX //.
  by rewrite (leq_trans (size_polyC_leq1 _)).
by rewrite -subn1 leq_subLR add1n; apply: leq_trans (leq_add IH s2) _; rewrite addn2.
Qed.

(* A polynomial of degree at most m over a product of m affine functions with
   distinct roots is a constant plus m fractions. *)
Lemma partial_fractions (F : fieldType) (a : F) (beta : nat -> F) m (P : {poly F}) :
  a != 0 -> injective beta -> (size P <= m.+1)%N ->
  exists c (r : nat -> F), forall w,
    (forall h, (h < m)%N -> a * w + beta h != 0) ->
    P.[w] / \prod_(h < m) (a * w + beta h) = c + \sum_(h < m) r h / (a * w + beta h).
Proof.
move=> a0 binj; elim: m P => [|m IH] P sP.
  exists P`_0, (fun=> 0) => w _; rewrite !big_ord0 divr1 addr0.
  by rewrite [P]size1_polyC // hornerC coefC.
pose rho := - beta m / a.
pose D : {poly F} := \prod_(h < m) (a *: 'X + (beta h)%:P).
have DE w : D.[w] = \prod_(h < m) (a * w + beta h).
  by rewrite horner_prod; apply: eq_bigr => h _; rewrite !hornerE.
have sD : (size D <= m.+1)%N.
  exact: size_affine_prod.
have Drho : D.[rho] != 0.
  rewrite DE; apply/prodf_neq0 => h _.
  rewrite /rho mulrC divfK // addrC subr_eq0; apply/eqP => /binj hm.
  by have := ltn_ord h; rewrite hm ltnn.
pose q := P.[rho] / D.[rho].
have /factor_theorem [A PA] : root (P - q *: D) rho.
  by rewrite /root !hornerE /q divfK // subrr.
have sA : (size (a^-1 *: A) <= m.+1)%N.
  apply: leq_trans (size_scale_leq _ _) _.
  have [->|A0] := eqVneq A 0; first by rewrite size_poly0.
  have : (size (A * ('X - rho%:P))%R <= m.+2)%N.
    rewrite -PA; apply: leq_trans (size_add _ _) _.
    by rewrite geq_max sP size_opp (leq_trans (size_scale_leq _ _)) // (leq_trans sD).
  by rewrite size_mul ?polyXsubC_eq0 // size_XsubC addn2.
have [c [r crP]] := IH _ sA.
exists c, (fun h => if (h == m)%N then q else r h) => w wP.
have wm : a * w + beta m != 0 by apply: wP.
rewrite !big_ord_recr /= eqxx addrA.
have -> : \sum_(i < m) (if (i == m :> nat)%N then q else r i) / (a * w + beta i) =
          \sum_(i < m) r i / (a * w + beta i).
  by apply: eq_bigr => i _; rewrite ltn_eqF.
rewrite -crP; last by move=> h hm; apply: wP; rewrite ltnW.
have -> : P.[w] = A.[w] * (w - rho) + q * D.[w].
  by move/(congr1 (fun p => p.[w])): PA; rewrite !hornerE => <-; rewrite subrK.
rewrite -DE; have Dw : D.[w] != 0.
  by rewrite DE; apply/prodf_neq0 => h _; apply/wP/leqW.
have wrho : a * w + beta m = a * (w - rho).
  by rewrite mulrBr /rho mulrCA divff // mulr1 opprK.
rewrite wrho in wm *.
have [_ wr] : a != 0 /\ w - rho != 0 by move: wm; rewrite mulf_eq0 negb_or => /andP [].
rewrite hornerZ mulrDl /=; congr (_ + _).
  rewrite mulrA -mulf_div divff // mulr1 invfM [D.[w]^-1 * _]mulrC mulrA.
  by rewrite [A.[w] * _]mulrC.
by rewrite [D.[w] * _]mulrC -mulf_div divff // mulr1.
Qed.

Variable R : realFieldType.
Variable exp : R -> R.
Hypothesis exp_gt0 : forall z, 0 < exp z.
Hypothesis exp_inj : injective exp.

(* the polynomial (1/2 - w)(3/2 - w)...(H - 1/2 - w) has the sign (-1)^w at w = 0..H *)
Lemma alternating_sign H w : (w <= H)%N ->
  0 < (-1) ^+ w * \prod_(i < H) (i%:R + 2^-1 - w%:R : R).
Proof.
move=> wH.
have -> : (-1) ^+ w = \prod_(i < H) (if (i < w)%N then -1 else 1) :> R.
  by rewrite -big_mkcond /= -(big_ord_widen _ (fun=> -1)) // prodr_const card_ord.
rewrite -big_split /=; apply: prodr_gt0 => i _; case: ltnP => iw.
  rewrite mulN1r oppr_gt0 subr_lt0; apply: (@lt_le_trans _ _ i.+1%:R); last by rewrite ler_nat.
  by rewrite mulrSr ltr_add2l invf_lt1 ?ltr0n // ltr1n.
by rewrite mul1r addrAC ltr_paddl ?invr_gt0 ?ltr0n // subr_ge0 ler_nat.
Qed.

Theorem parity_of_H_bits_memorized H :
  exists A : aot R 2 H H 3 1, forall b : bits H,
    memorizes exp A (bit_sequence 0 1 0 b) (if parity b then 1 else 0).
Proof.
pose a := exp 1 - exp 0.
have a0 : a != 0 by rewrite subr_eq0 (inj_eq exp_inj) oner_eq0.
pose beta h := H%:R * exp 0 + exp h%:R.
have beta_inj : injective beta.
  by move=> h h' /addrI /exp_inj /eqP; rewrite eqr_nat => /eqP.
pose P : {poly R} := \prod_(i < H) ((-1) *: 'X + (i%:R + 2^-1)%:P).
have [c [r crP]] := partial_fractions a0 beta_inj (size_affine_prod (-1) (fun i => i%:R + 2^-1) H).
pose A : aot R 2 H H 3 1 := @AoT R 2 H H 3 1
  (fun y => if y == 1 then delta_mx 0 0 else 0)
  (fun i => if i == ord_max then delta_mx 1 0 else 0)
  (fun h => delta_mx 0 1)
  (fun h => delta_mx 0 0 + h%:R *: delta_mx 0 1)
  (fun h => delta_mx 0 1)
  (fun h => (r h / exp h%:R) *: delta_mx 2%:R 0)
  (c *: delta_mx 0 1 + delta_mx 0 2%:R).
exists A => b; set t := bit_sequence _ _ _ b.
have tlast : t ord_max = 0 by rewrite /t /bit_sequence insubF //= ltnn.
have xlast : x A t ord_max = delta_mx 1 0 by rewrite /x tlast /= eqxx add0r.
pose w := (\sum_(i < H) b i)%N.
have xbit (i : 'I_H) : x A t (widen_ord (leqnSn H) i) = if b i then delta_mx 0 0 else 0.
  rewrite /x /= [X in _ + X]ifF; last by apply/negbTE; rewrite -val_eqE /= ltn_eqF.
  by rewrite addr0 /t /bit_sequence /= valK; case: (b i).
have rowM k (v : 'cV[R]_3) : (delta_mx 0 k *m v : 'M_1) 0 0 = v k 0.
  by rewrite -rowE mxE.
have scoreE h i : score A h t i = x A t i 0 0 + h%:R * x A t i 1 0.
  rewrite /score xlast /= !trmx_delta mulmxA mul_delta_mx.
  have -> : delta_mx 0 0 = 1%:M :> 'M[R]_1 by apply/matrixP => k l; rewrite !mxE !ord1.
  by rewrite mul1mx mulmxDl -scalemxAl [LHS]mxE [X in _ + X]mxE !rowM.
have scorelast h : score A h t ord_max = h%:R.
  by rewrite scoreE xlast !mxE /= mulr1 add0r.
have scorebit h i : score A h t (widen_ord (leqnSn H) i) = if b i then 1 else 0.
  by rewrite scoreE xbit; case: (b i); rewrite !mxE /= ?mulr0 ?addr0.
have ZE h : \sum_(i < H.+1) exp (score A h t i) = a * w%:R + beta h.
  rewrite big_ord_recr /= scorelast /beta addrA; congr (_ + _).
  rewrite /w natr_sum mulr_sumr -[in H%:R](card_ord H) -sum1_card natr_sum mulr_suml.
  rewrite -big_split /=; apply: eq_bigr => i _; rewrite scorebit.
  by case: (b i); rewrite /= ?mulr1 ?mulr0 ?mul1r ?add0r // subrK.
have Zgt0 (h : 'I_H) : 0 < a * w%:R + beta h.
  rewrite -ZE big_ord_recr /=; apply: ltr_paddl => //.
  by apply: sumr_ge0 => i _; apply/ltW.
have VE h : W_V A h *m attention exp A h t = (exp h%:R / (a * w%:R + beta h))%:M.
  apply/matrixP => k l; rewrite !ord1 -rowE mxE summxE [RHS]mxE big_ord_recr /= big1 => [|i _].
    by rewrite add0r xlast !mxE /= mulr1 mulr1n /weight scorelast ZE.
  by rewrite mxE xbit; case: (b i); rewrite !mxE /= mulr0.
have deltaM k (v : 'cV[R]_3) (y : 'I_2) :
    (delta_mx (0 : 'I_2) k *m v) y 0 = (y == 0)%:R * v k 0.
  rewrite mxE (bigD1 k) //= mxE eqxx andbT big1 ?addr0 // => l /negPf lk.
  by rewrite mxE lk andbF mul0r.
have LE y : logits exp A t y 0 =
    (y == 0)%:R * (c + \sum_(h < H) r h / (a * w%:R + beta h)).
  rewrite /logits /= mulmxDl -scalemxAl [LHS]mxE [X in X + _]mxE !deltaM. rewrite xlast mulrCA -mulrDr.
  congr (_ * _); rewrite !mxE !summxE /= big1 => [|h _].
    rewrite addr0 mulr1 add0r; congr (_ + _); apply: eq_bigr => h _.
    rewrite VE mul_mx_scalar !mxE /= mulr1 mulrC mulrA divfK ?gt_eqF //.
  by rewrite VE mul_mx_scalar !mxE /= !mulr0.
have PE : P.[w%:R] = \prod_(i < H) (i%:R + 2^-1 - w%:R : R).
  by rewrite horner_prod; apply: eq_bigr => i _; rewrite hornerD hornerZ hornerX hornerC mulN1r addrC.
have wH : (w <= H)%N.
  rewrite -[X in (_ <= X)%N](card_ord H) -sum1_card; apply: leq_sum => i _.
  by case: (b i).
have := alternating_sign wH; rewrite -PE => sgn.
have Zprod : 0 < \prod_(h < H) (a * w%:R + beta h) by apply: prodr_gt0.
have fE : c + \sum_(h < H) r h / (a * w%:R + beta h) =
          P.[w%:R] / \prod_(h < H) (a * w%:R + beta h).
  by rewrite crP // => h hH; rewrite gt_eqF // (Zgt0 (Ordinal hH)).
have : 0 < (-1) ^+ parity b * (c + \sum_(h < H) r h / (a * w%:R + beta h)).
  by rewrite /parity signr_odd fE mulrA divr_gt0.
have two (y : 'I_2) : y = 0 \/ y = 1.
  by case: y => [[|[|//]] ?]; [left|right]; apply: val_inj.
rewrite /memorizes; case: (parity b) => /= f0 y' ynot; have [yE|yE] := two y'.
- by rewrite !LE yE /= mul1r mul0r; rewrite mulN1r oppr_gt0 in f0.
- by rewrite yE in ynot.
- by rewrite yE in ynot.
- by rewrite !LE yE /= mul1r mul0r; rewrite mul1r in f0.
Qed.

End Sharpness.

Print Assumptions parity_obstruction.
Print Assumptions associations_not_memorized.
Print Assumptions theorem_1_memorization_fails.
Print Assumptions corollary_2_fails.
Print Assumptions corollary_1_fails_without_heads.
Print Assumptions corollary_1_fails_with_one_head.
Print Assumptions parity_of_H_bits_memorized.
