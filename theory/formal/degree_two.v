(* Simple algebras of degree two lose one product, as division algebras do: the steps
   9 to 13 of the page of lemmax/algebra-bound. Of 2 x 2 matrices no more is used than
   that one-sided ideals which are not zero have at least half of the dimensions,
   and that products a x y do not vanish for all x. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import two_families tensor bilinear minimal_sets algebras factors.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Definitions.
Variables (F : fieldType) (S : vectType F) (mul : S -> S -> S).

(* multiplication with y is injective on half of the algebra *)
Definition half_left := forall y, y != 0 -> exists2 K : {vspace S},
  (\dim {:S} <= 2 * \dim K)%N & forall x, x \in K -> mul x y = 0 -> x = 0.

Definition prime_product := forall a y, a != 0 -> y != 0 -> exists x, mul (mul a x) y != 0.

(* the left ideal of y *)
Definition ideal y : {vspace S} := products mul fullv <[y]>.

Definition singular y := exists2 z, z != 0 & mul z y = 0.
End Definitions.

Definition degree_two (F : fieldType) (S : vectType F) (mul : S -> S -> S) :=
  [/\ half_left mul, half_left (fun x y => mul y x) & prime_product mul].

Lemma degree_two_opposite (F : fieldType) (S : vectType F) (mul : S -> S -> S) (one : S) :
  algebra mul one -> degree_two mul -> degree_two (fun x y => mul y x).
Proof.
move=> [_ assoc _ _] [hl hr pr]; split=> // a y a0 y0.
by have [x xP] := pr y a y0 a0; exists x; rewrite assoc.
Qed.

Section Ideals.
Variables (F : fieldType) (S : vectType F) (mul : S -> S -> S) (one : S).
Hypothesis alg : algebra mul one.
Hypothesis two : degree_two mul.
Local Notation n := (\dim {:S}).
Local Notation ideal := (ideal mul).
Local Notation singular := (singular mul).

Lemma idealP y z : reflect (exists a, z = mul a y) (z \in ideal y).
Proof.
have [bil _ _ _] := alg.
apply: (iffP idP) => [zI|[a ->]]; last by apply: (products_mem bil); rewrite ?memvf ?memv_line.
have [k kE] := hom_of (bil.1 y).
have /memv_imgP [a _ zE] : z \in limg k; last by exists a; rewrite -kE.
apply: subvP zI; apply/(productsP bil) => a b _ /vlineP [c ->].
by rewrite (biZr bil) -(biZl bil) -kE memv_img ?memvf.
Qed.

Lemma ideal_mul y z a : z \in ideal y -> mul a z \in ideal y.
Proof. by have [_ assoc _ _] := alg; case/idealP => b ->; apply/idealP; exists (mul a b). Qed.

Lemma ideal_sub y z : z \in ideal y -> (ideal z <= ideal y)%VS.
Proof. by move=> zI; apply/subvP => x /idealP [a ->]; apply: ideal_mul. Qed.

Lemma ideal_self y : y \in ideal y.
Proof. by have [_ _ unitl _] := alg; apply/idealP; exists one. Qed.

Lemma ideal_big y : y != 0 -> (n <= 2 * \dim (ideal y))%N.
Proof.
have [bil _ _ _] := alg; have [half _ _] := two; case/half => K le inj.
apply: leq_trans le _; rewrite leq_mul2l /=; have [k kE] := hom_of (bil.1 y).
rewrite -(@limg_dim_eq _ _ _ k K); last first.
  apply/vspaceP => x; rewrite memv_cap memv_ker kE memv0; apply/andP/eqP => [[xK /eqP]|->].
    exact: inj.
  by rewrite mem0v (bi0l bil).
by apply/dimvS/subvP => x /memv_imgP [a _ ->]; rewrite kE; apply/idealP; exists a.
Qed.

Lemma ideal_small y : singular y -> (2 * \dim (ideal y) <= n)%N.
Proof.
have [bil assoc _ _] := alg; case=> z z0 zy; have [k kE] := hom_of (bil.1 y).
have -> : ideal y = limg k.
  apply/vspaceP => x; apply/idealP/memv_imgP => [[a ->]|[a _ ->]].
    by exists a; rewrite ?memvf ?kE.
  by exists a; rewrite kE.
have zk : (\dim (ideal z) <= \dim (lker k))%N.
  apply/dimvS/subvP => x /idealP [a ->]; rewrite memv_ker kE -assoc zy.
  by rewrite (bi0r bil).
have := limg_ker_dim k fullv; rewrite capfv; have := ideal_big z0.
by rewrite !mul2n -!addnn; move: (\dim _) (\dim _) (\dim _) (\dim _) zk => *; arith.
Qed.

Lemma ideal_meet y y' z : singular y -> singular y' -> z != 0 ->
  z \in ideal y -> z \in ideal y' -> ideal y = ideal y'.
Proof.
suff same x : singular x -> z != 0 -> z \in ideal x -> ideal z = ideal x.
  by move=> sy sy' z0 zy zy'; rewrite -(same y) // (same y').
move=> sx z0 zx; apply/eqP; rewrite eqEdim ideal_sub //=.
have := ideal_big z0; have := ideal_small sx; rewrite !mul2n -!addnn.
by move: (\dim _) (\dim _) (\dim _) => *; arith.
Qed.

Section Computation.
Variables (I : finType) (f g : I -> 'Form(S)) (w : I -> S).
Hypothesis mulE : forall x y, mul x y = \sum_i (f i x * g i y) *: w i.
Hypothesis no_idle : forall i, w i = 0 -> f i = 0 /\ g i = 0.
Local Notation left T := (zeros f fullv (~: T)).
Local Notation right T := (zeros g fullv (~: T)).

Lemma within (h : I -> 'Form(S)) (X : {vspace S}) (T Q : {set I}) :
  (X <= zeros h fullv (~: T))%VS -> zeros h X Q = zeros h X (Q :&: T).
Proof.
move=> /subvP XT; apply/vspaceP => x; apply/zerosP/zerosP => -[xX x0]; split=> // i.
  by rewrite inE => /andP [/x0].
move=> iQ; have [iT|iT] := boolP (i \in T); first by rewrite x0 // inE iQ.
by have /zerosP [_ ->] := XT _ xX; rewrite ?inE.
Qed.

(* products that only meet the indices in R *)
Lemma group (R : {set I}) : right R != 0%VS -> (n + 2 * \dim (right R) <= 2 * #|R| + 2)%N.
Proof.
rewrite -dimv_eq0 -lt0n => v0; set v := \dim (right R) in v0 *.
have [J JR cJ] := subset_of_card (geq_minr v.-1 #|R|).
have [|y yJ y0] := @common_zero _ _ _ g (right R) J.
  by rewrite cJ; apply: leq_ltn_trans (geq_minl _ _) _; rewrite prednK.
have vn : (v <= n)%N by rewrite dimvS ?subvf.
have big := ideal_big y0.
have small : (\dim (ideal y) <= #|R| - #|J|)%N.
  rewrite -[in (#|R| - #|J|)%N](setIidPr JR) -cardsD -(size_image w); apply: leq_trans (dim_span _).
  by apply/dimvS/subvP => x /idealP [a ->]; apply: (products_with mulE yJ).
have JR' := subset_leq_card JR.
move: big small vn v0; rewrite !mul2n -!addnn cJ /minn; case: ifP => _ big small.
  by case: (v) small => // v' /= *; arith.
by rewrite subnn in small; move: (\dim _) small big => *; arith.
Qed.

Variable T : {set I}.
Hypothesis minT : minimal f g fullv fullv 0 T.
Local Notation p := (\dim (left T)).
Local Notation q := (\dim (right T)).

Lemma some_index : exists i, i \in T.
Proof.
have [T0|[i iT]] := set_0Vmem T; last by exists i.
have [] := minT; rewrite T0 /excess setC0 (no_zeros_left alg mulE) (no_zeros_right alg mulE).
by rewrite !dimv0.
Qed.

Lemma one_rank i : i \in T ->
  (p <= (\dim (zeros f (left T) [set i])).+1 /\ q <= (\dim (zeros g (right T) [set i])).+1 /\
   1 + (\dim (zeros f (left T) [set i]) + \dim (zeros g (right T) [set i])) < p + q)%N.
Proof.
move=> iT; rewrite -(cards1 i); split; last split.
- by have := few_more [set i] (zeros_ones f (left T)); rewrite zeros0 cards1.
- by have := few_more [set i] (zeros_ones g (right T)); rewrite zeros0 cards1.
- by apply: (minimal_ranks minT); [rewrite sub1set|apply/set0Pn; exists i; rewrite inE].
Qed.

Lemma card_minimal : #|T|.+1 = (p + q)%N.
Proof.
have [eT least] := minT; have [i iT] := some_index; have [fi [gi _]] := one_rank iT.
have /least : T :\ i \proper T by rewrite properD1.
rewrite /excess -leqNgt; have eq : ~: (T :\ i) = ~: T :|: [set i] by rewrite setCD setUC.
rewrite eq -!zeros_zeros; move: eT; rewrite /excess (cardsD1 i T) iT add1n !addn0.
move: (\dim _) (\dim _) (\dim _) (\dim _) fi gi => *.
by apply/eqP; rewrite eqn_leq; apply/andP; split; arith.
Qed.

Lemma not_idle i : i \in T -> w i != 0.
Proof.
move=> iT; apply/eqP => /no_idle [f0 g0]; have [_ [_]] := one_rank iT.
have all (h : I -> 'Form(S)) X : h i = 0 -> zeros h X [set i] = X.
  move=> h0; apply/vspaceP => x; apply/zerosP/idP => [[]|xX] //; split=> // j.
  by rewrite inE => /eqP ->; rewrite h0 zero_lfunE.
by rewrite !all //; rewrite ltnNge leq_addl.
Qed.

Lemma form_at i : i \in T -> exists2 v, v \in right T & g i v != 0.
Proof.
move=> iT; have [fi [_]] := one_rank iT.
have [/subvP sub|/subvPn [v vT vi]] := boolP (right T <= lker (g i))%VS; last first.
  by exists v => //; rewrite -memv_ker.
have -> : zeros g (right T) [set i] = right T.
  apply/vspaceP => x; apply/zerosP/idP => [[]|xX] //; split=> // j.
  by rewrite inE => /eqP ->; apply/eqP; rewrite -memv_ker sub.
by move: (\dim _) (\dim _) (\dim _) fi => *; exfalso; arith.
Qed.
(* A vector of V_T outside a given hyperplane such that the w_i lie in its left ideal,
   for all i in T whose form does not vanish there *)
Definition good y := singular y /\ forall i, i \in T -> g i y != 0 -> w i \in ideal y.

Hypothesis p_small : (p < n)%N.

Lemma good_exists (l : 'Form(S)) v : v \in right T -> l v != 0 ->
  exists y, [/\ y \in right T, l y != 0 & good y].
Proof.
have [bil _ _ _] := alg; move=> vT lv; pose V := (right T :&: lker l)%VS.
have VT : (V <= right T)%VS by apply: capvSl.
have cV : (\dim V).+1 = q.
  apply/eqP; rewrite eqn_leq dim_form_le andbT ltnNge; apply: contra lv => le.
  have /eqP e : V == right T by rewrite eqEdim VT.
  by move: vT; rewrite -e memv_cap memv_ker => /andP [].
have cT := card_minimal.
have [S0|I0 zI0] := @split_two _ _ _ 0 (zeros_super f (left T)) (zeros_super g V).
  rewrite addn0 (within _ (subvv (left T))) (within _ VT).
  have sub : (#|T| - #|S0 :&: T| <= #|~: S0|)%N.
    rewrite setIC -cardsD; apply/subset_leq_card/subsetP => i; rewrite !inE.
    by case/andP.
  apply: leq_trans sub; have [->|Q0] := eqVneq (S0 :&: T) set0.
    by rewrite !zeros0 cards0; move: cT cV; move: (\dim _) (\dim _) (\dim _) => *; arith.
  have := minimal_ranks minT (subsetIr S0 T) Q0.
  have : (\dim (zeros g V (S0 :&: T)) <= \dim (zeros g (right T) (S0 :&: T)))%N.
    apply/dimvS/subvP => x /zerosP [/(subvP VT) xT x0]; exact/zerosP.
  rewrite -cT; move: (\dim _) (\dim _) (\dim _) #|S0 :&: T| #|T| => *; arith.
have zI : zeros f (left T) (T :&: I0) = 0%VS /\ zeros g V (T :\: I0) = 0%VS.
  rewrite setDE setIC -(within _ (subvv (left T))) [T :&: _]setIC -(within _ VT).
  rewrite /= in zI0; split; apply/eqP; rewrite -dimv_eq0 -leqn0; move: zI0;
    by move: (\dim _) (\dim _) => *; arith.
have [zI1 zI2] := zI.
have c1 := few_more (T :&: I0) (zeros_ones f (left T)).
have c2 := few_more (T :\: I0) (zeros_ones g V).
rewrite !zeros0 zI1 zI2 !dimv0 !addn0 in c1 c2.
have cI := cardsID I0 T.
have card1 : #|T :&: I0| = p by move: c1 c2 cV cT cI; move: (\dim _) (\dim _) (\dim _) => *; arith.
have card2 : #|T :\: I0|.+1 = q.
  by move: c1 c2 cV cT cI; move: (\dim _) (\dim _) (\dim _) => *; arith.
have [|y yJ y0] := @common_zero _ _ _ g (right T) (T :\: I0); first by rewrite card2.
have /zerosP [yT yJ0] := yJ; exists y.
have ly : l y != 0.
  apply: contraNneq y0 => ly; rewrite -memv0 -zI2; apply/zerosP; split=> //.
  by rewrite memv_cap yT memv_ker ly eqxx.
have TI : T :\: (T :\: I0) = T :&: I0 by rewrite setDDr setDv set0U.
split=> //; split.
  have [k kE] := hom_of (bil.1 y).
  have small : (\dim (limg k) <= p)%N.
    rewrite -card1 -TI -(size_image w); apply: leq_trans (dim_span _).
    apply/dimvS/subvP => x /memv_imgP [a _ ->]; rewrite kE.
    exact: (products_with mulE yJ a).
  exists (vpick (lker k)); last by apply/eqP; rewrite -kE -memv_ker memv_pick.
  rewrite vpick0 -dimv_eq0 -lt0n; have := limg_ker_dim k fullv; rewrite capfv.
  by move: (\dim _) (\dim _) (\dim _) (\dim _) small p_small => *; arith.
move=> i iT gi; have iI : i \in T :&: I0.
  by rewrite inE iT; apply: contraNT gi => iI; rewrite yJ0 // inE iI iT.
have [|a aJ a0] := @common_zero _ _ _ f (left T) ((T :&: I0) :\ i).
  by rewrite -card1 (cardsD1 i (T :&: I0)) iI.
have /zerosP [aT aJ0] := aJ.
have fa : f i a != 0.
  apply: contraNneq a0 => fa; rewrite -memv0 -zI1; apply/zerosP; split=> // j jI.
  by have [->|ji] := eqVneq j i; [|rewrite aJ0 // in_setD1 ji jI].
have prod : mul a y = (f i a * g i y) *: w i.
  rewrite (right_mul mulE a yT) (bigD1 i) //= big1 ?addr0 // => j /andP [jT ji].
  have [jI|jI] := boolP (j \in I0); last by rewrite yJ0 ?mulr0 ?scale0r // inE jI jT.
  by rewrite aJ0 ?mul0r ?scale0r // !inE ji jT jI.
apply/idealP; exists ((f i a * g i y)^-1 *: a).
by rewrite (biZl bil) prod scalerA mulVf ?scale1r // mulf_neq0.
Qed.

(* an ideal, with the indices whose w_i lie in it *)
Definition part y (R : {set I}) := [/\ [/\ y != 0, singular y & R \subset T],
  right R != 0%VS & (right R <= ideal y)%VS].

(* an ideal that is met completely needs as many products as there are dimensions *)
Lemma full_part y (R : {set I}) : part y R -> (\dim (ideal y) <= \dim (right R))%N -> (n <= #|R|)%N.
Proof.
have [bil _ _ _] := alg; have [_ _ pr] := two.
move=> [[y0 _ _] _ sub] le; have /eqP eq : right R == ideal y by rewrite eqEdim sub.
rewrite leqNgt; apply/negP => small.
have [|a /zerosP [_ aR] a0] := @common_zero _ _ _ f fullv R; first by [].
have [x] := pr a y a0 y0; have [_ assoc _ _] := alg; rewrite -assoc => /eqP [].
have xyR : mul x y \in right R by rewrite eq ideal_mul // ideal_self.
by rewrite (right_mul mulE a xyR) big1 // => i iR; rewrite aR // mul0r scale0r.
Qed.
(* the w_i are not all in one ideal *)
Lemma not_one_ideal y : y \in right T -> y != 0 -> singular y ->
  exists2 i, i \in T & w i \notin ideal y.
Proof.
have [bil assoc unitl _] := alg; have [_ halfr pr] := two; move=> yT y0 sy.
have [/forallP all|/forallPn [i]] := boolP [forall i, (i \in T) ==> (w i \in ideal y)]; last first.
  by rewrite negb_imply => /andP [iT iw]; exists i.
exfalso; have [/subvP UA /subvP AV] := minimal_closed bil mulE minT.
have inside : (products mul (left T) (right T) <= ideal y)%VS.
  apply/(productsP bil) => u v uT vT; rewrite (left_mul mulE v uT); apply: memv_suml => i iT.
  by rewrite memvZ //; have /implyP := all i; apply.
have two_sided x b : mul (mul x y) b \in ideal y.
  have : mul x y \in products mul (left T) (right T).
    by apply: AV; apply: (products_mem bil); rewrite ?memvf.
  apply: (span_mul_left alg) => u v uT _; rewrite -assoc; apply: (subvP inside); apply: UA.
  by apply: (products_mem bil); rewrite ?memvf.
have [K le inj] := halfr y y0; have [k kE] := hom_of (bil.2 y).
have eq : (k @: K)%VS = ideal y.
  apply/eqP; rewrite eqEdim; apply/andP; split.
    by apply/subvP => x /memv_imgP [b _ ->]; rewrite kE; have := two_sided one b; rewrite unitl.
  rewrite limg_dim_eq; last first.
    apply/vspaceP => x; rewrite memv_cap memv_ker kE memv0; apply/andP/eqP => [[xK /eqP]|->].
      exact: inj.
    by rewrite mem0v (bi0r bil).
  have := ideal_small sy; move: le; rewrite !mul2n -!addnn.
  by move: (\dim _) (\dim _) (\dim _) => *; arith.
have [z z0 zy] := sy; have [x] := pr z y z0 y0; rewrite -assoc => /eqP [].
have : mul x y \in ideal y by apply/idealP; exists x.
by rewrite -eq => /memv_imgP [b _ ->]; rewrite kE assoc zy (bi0l bil).
Qed.

Hypothesis q_small : (q < n)%N.

Lemma two_ideals : exists y1 y2 R1 R2, [/\ part y1 R1, part y2 R2, [disjoint R1 & R2],
  (q <= \dim (right R1) + \dim (right R2))%N & (n <= p.+1)%N].
Proof.
have [bil assoc unitl _] := alg.
pose R y := [set i in T | w i \in ideal y].
have RT y : R y \subset T by apply/subsetP => i; rewrite inE => /andP [].
have in_part y : y \in right T -> good y -> y \in right (R y).
  move=> /zerosP [_ yT] [_ gy]; apply/zerosP; rewrite memvf; split=> // i.
  rewrite !inE negb_and; have [iT /= iw|iT _] := boolP (i \in T); last by rewrite yT ?inE.
  by apply: contraNeq iw => gi; apply: gy.
have part_of y : y \in right T -> y != 0 -> good y -> part y (R y).
  move=> yT y0 gy; split; first by split=> //; case: gy.
    by apply: contraNneq y0 => R0; rewrite -memv0 -R0 in_part.
  apply/subvP => v vR; rewrite -[v]unitl (right_mul mulE one vR); apply: memv_suml => i.
  by rewrite inE => /andP [_ iw]; rewrite memvZ.
have nonzero (h : 'Form(S)) x : h x != 0 -> x != 0.
  by apply: contraNneq => ->; rewrite linear0.
have [i1 i1T] := some_index; have [v1 v1T g1] := form_at i1T.
have [y1 [y1T gy1 good1]] := good_exists v1T g1; have y10 := nonzero _ _ gy1.
have [s1 in1] := good1.
have [i2 i2T i2w] := not_one_ideal y1T y10 s1; have [v2 v2T g2] := form_at i2T.
have [y2 [y2T gy2 good2]] := good_exists v2T g2; have y20 := nonzero _ _ gy2.
have [s2 in2] := good2.
have differ : ideal y1 <> ideal y2 by move=> e; move: i2w; rewrite e in2.
have disj y y' : singular y -> singular y' -> ideal y <> ideal y' -> [disjoint R y & R y'].
  move=> sy sy' ne; rewrite -setI_eq0; apply/eqP/setP => i; rewrite !inE; apply/negP.
  move=> /andP [/andP [iT iy] /andP [_ iy']]; apply: ne.
  exact: ideal_meet (not_idle iT) iy iy'.
have p1 := part_of _ y1T y10 good1; have p2 := part_of _ y2T y20 good2.
pose R3 := T :\: (R y1 :|: R y2).
have cover : (right T <= right (R y1) + right (R y2) + right R3)%VS.
  apply: contraT => /subvPn [v vT /separate [l l0 lv]].
  have [y [yT ly gy]] := good_exists vT lv; have [sy iny] := gy.
  case/eqP: ly; apply: l0.
  have [e1|ne1] := eqVneq (ideal y1) (ideal y).
    apply: (subvP (subv_trans (addvSl _ _) (addvSl _ _))).
    by rewrite (_ : R y1 = R y) ?in_part // /R e1.
  have [e2|ne2] := eqVneq (ideal y2) (ideal y).
    apply: (subvP (subv_trans (addvSr _ _) (addvSl _ _))).
    by rewrite (_ : R y2 = R y) ?in_part // /R e2.
  apply: (subvP (addvSr _ _)); apply/zerosP; rewrite memvf; split=> // i iR.
  have /zerosP [_ yT0] := yT; have [iT|iT] := boolP (i \in T); last by rewrite yT0 ?inE.
  apply/eqP; apply: contraT => gi; have iw := iny i iT gi.
  have no x : singular x -> ideal x != ideal y -> i \notin R x.
    move=> sx ne; rewrite inE iT /=; apply/negP => ix.
    by case/eqP: ne; apply: ideal_meet (not_idle iT) ix iw.
  by move: iR; rewrite inE inE iT andbT negbK inE (negPf (no _ s1 ne1)) (negPf (no _ s2 ne2)).
have qle : (q <= \dim (right (R y1)) + \dim (right (R y2)) + \dim (right R3))%N.
  apply: leq_trans (dimvS cover) _; apply: leq_trans (dimv_add_leqif _ _) _.
  by rewrite leq_add2r; apply: (dimv_add_leqif _ _).
have d12 := disj _ _ s1 s2 differ.
have cards : (#|R y1| + #|R y2| + #|R3| = #|T|)%N.
  have := cardsID (R y1 :|: R y2) T; have := cardsUI (R y1) (R y2).
  rewrite (disjoint_setI0 d12) cards0 addn0 -/R3 => <-.
  by rewrite (setIidPr _) // subUset !RT.
have [_ n1 _] := p1; have [_ n2 _] := p2; have g1' := group n1; have g2' := group n2.
have nT : (n <= #|T|)%N.
  have big1 := ideal_big y10; have big2 := ideal_big y20.
  have meet0 : (ideal y1 :&: ideal y2)%VS = 0%VS.
    apply/vspaceP => x; rewrite memv_cap memv0; apply/andP/eqP => [[x1 x2]|->];
      last by rewrite !mem0v.
    by apply/eqP; apply: contraT => x0; case: differ; apply: ideal_meet x0 x1 x2.
  have le : (\dim (ideal y1 + ideal y2) <= #|T|)%N.
    rewrite -(size_image w); apply: leq_trans (dim_span _).
    have sub y : y \in right T -> (ideal y <= <<[seq w i | i in T]>>)%VS.
      move=> yT; apply/subvP => x /idealP [a ->]; rewrite (right_mul mulE a yT).
      by apply: memv_suml => i iT; rewrite memvZ // memv_span //; apply/imageP; exists i.
    by apply: dimvS; rewrite subv_add !sub.
  have := dimv_sum_cap (ideal y1) (ideal y2); rewrite meet0 dimv0 addn0.
  move: big1 big2 le; rewrite !mul2n -!addnn.
  by move: (\dim _) (\dim _) (\dim _) (\dim _) => *; arith.
have cT := card_minimal; exists y1, y2, (R y1), (R y2).
have [r3|n3] := eqVneq (right R3) 0%VS.
  move: qle; rewrite r3 dimv0 addn0 => qle; split=> //.
  move: g1' g2' qle cT cards p_small q_small; rewrite !mul2n -!addnn.
  move: (\dim _) (\dim _) (\dim _) (\dim _) (\dim _) #|R y1| #|R y2| #|R3| #|T|.
  by clear=> *; arith.
exfalso; move: (group n3) g1' g2' qle cT cards p_small q_small nT; rewrite !mul2n -!addnn.
move: (\dim _) (\dim _) (\dim _) (\dim _) (\dim _) (\dim _) #|R y1| #|R y2| #|R3| #|T|.
by clear=> *; arith.
Qed.
End Computation.
End Ideals.

Section DegreeTwo.
Variables (F : fieldType) (S : vectType F) (mul : S -> S -> S) (one : S).
Hypothesis alg : algebra mul one.
Hypothesis two : degree_two mul.
Local Notation n := (\dim {:S}).

(* a minimal set has one of its spaces equal to the whole algebra *)
Lemma degree_two_full (I : finType) (f g : I -> 'Form(S)) (w : I -> S) (T : {set I}) :
  (forall x y, mul x y = \sum_i (f i x * g i y) *: w i) ->
  (forall i, w i = 0 -> f i = 0 /\ g i = 0) -> minimal f g fullv fullv 0 T ->
  zeros f fullv (~: T) = fullv \/ zeros g fullv (~: T) = fullv.
Proof.
move=> mulE idle minT.
have [pn|p_small] := leqP n (\dim (zeros f fullv (~: T))).
  by left; apply/eqP; rewrite eqEdim subvf.
have [qn|q_small] := leqP n (\dim (zeros g fullv (~: T))).
  by right; apply/eqP; rewrite eqEdim subvf.
exfalso; have mulE' x y : mul y x = \sum_i (g i x * f i y) *: w i.
  by rewrite mulE; apply: eq_bigr => i _; rewrite [f i y * _]mulrC.
have idle' i : w i = 0 -> g i = 0 /\ f i = 0 by move=> /idle [].
have minT' : minimal g f fullv fullv 0 T.
  have [eT least] := minT; split=> [|T' /least].
    by move: eT; rewrite /excess [X in (_ < X)%N]addnC.
  by rewrite /excess [X in (_ < X)%N]addnC.
have [y1 [y2 [R1 [R2 [part1 part2 disj qle pn]]]]] :=
  two_ideals alg two mulE idle minT p_small q_small.
have [_ [_ [_ [_ [_ _ _ _ qn]]]]] :=
  two_ideals (opposite alg) (degree_two_opposite alg two) mulE' idle' minT' q_small p_small.
have cT := card_minimal alg mulE minT.
have cR : (#|R1| + #|R2| <= #|T|)%N.
  have [[_ _ sub1] _ _] := part1; have [[_ _ sub2] _ _] := part2.
  have := cardsUI R1 R2; rewrite (disjoint_setI0 disj) cards0 addn0 => <-.
  by apply/subset_leq_card; rewrite subUset sub1.
have facts y R : part mul g T y R ->
    [/\ (n <= 2 * \dim (ideal mul y))%N, (2 * \dim (ideal mul y) <= n)%N,
        (\dim (zeros g fullv (~: R)) <= \dim (ideal mul y))%N,
        (n + 2 * \dim (zeros g fullv (~: R)) <= 2 * #|R| + 2)%N
      & ((\dim (ideal mul y) <= \dim (zeros g fullv (~: R)))%N -> (n <= #|R|)%N)].
  move=> pR; have [[y0 sy _] R0 sub] := pR; split.
  - exact: (ideal_big alg two).
  - exact: (ideal_small alg two).
  - exact: dimvS.
  - exact: (group alg two mulE).
  - exact: (full_part alg two mulE pR).
have [a1 a2 a3 a4 a5] := facts _ _ part1; have [b1 b2 b3 b4 b5] := facts _ _ part2.
have [full1|less1] := leqP (\dim (ideal mul y1)) (\dim (zeros g fullv (~: R1))).
  move: (a5 full1) a1 a2 a3 a4 b1 b2 b3 b4 cR cT pn qn p_small q_small qle.
  rewrite !mul2n -!addnn.
  move: (\dim _) (\dim _) (\dim _) (\dim _) (\dim _) (\dim _) (\dim _) #|R1| #|R2| #|T|.
  by clear=> *; arith.
have [full2|less2] := leqP (\dim (ideal mul y2)) (\dim (zeros g fullv (~: R2))).
  move: (b5 full2) a1 a2 a3 a4 b1 b2 b3 b4 cR cT pn qn p_small q_small qle.
  rewrite !mul2n -!addnn.
  move: (\dim _) (\dim _) (\dim _) (\dim _) (\dim _) (\dim _) (\dim _) #|R1| #|R2| #|T|.
  by clear=> *; arith.
move: less1 less2 a1 a2 a3 a4 b1 b2 b3 b4 cR cT pn qn p_small q_small qle.
rewrite !mul2n -!addnn.
move: (\dim _) (\dim _) (\dim _) (\dim _) (\dim _) (\dim _) (\dim _) #|R1| #|R2| #|T|.
by clear=> *; arith.
Qed.

(* an algebra of degree two saves all but one *)
Lemma saves_degree_two : one != 0 -> saves mul 1.
Proof.
move=> one0 s f g w mulE.
pose on (h : 'I_s -> 'Form(S)) i : 'Form(S) := if w i == 0 then 0 else h i.
have mulE' x y : mul x y = \sum_i (on f i x * on g i y) *: w i.
  rewrite mulE; apply: eq_bigr => i _; rewrite /on; case: eqP => // ->.
  by rewrite !scaler0.
have idle i : w i = 0 -> on f i = 0 /\ on g i = 0 by move=> wi; rewrite /on wi eqxx.
have none := saves_one alg mulE' one0 (fun T => degree_two_full mulE' idle).
have [J1 [J2 [disj c1 c2 many]]] := independent_forms none.
have le (h : 'I_s -> 'Form(S)) J :
    (\dim (zeros h fullv J) <= \dim (zeros (on h) fullv J))%N.
  apply/dimvS/subvP => x /zerosP [_ x0]; apply/zerosP; rewrite memvf; split=> // i iJ.
  by rewrite /on; case: ifP => _; rewrite ?zero_lfunE ?x0.
exists fullv, fullv, J1, J2; split=> //.
- by apply: leq_trans c1; rewrite leq_add2l.
- by apply: leq_trans c2; rewrite leq_add2l.
- by rewrite mul2n -addnn.
Qed.
End DegreeTwo.

(* 2 x 2 matrices over a division algebra have degree two *)
Lemma matrices_opposite (F : fieldType) (D S : vectType F) (mulD : D -> D -> D) (oneD : D)
    (mul : S -> S -> S) (one : S) (k : nat) : matrices_over mulD oneD k mul one ->
  matrices_over (fun c d => mulD d c) oneD k (fun x y => mul y x) one.
Proof.
move=> [ent [lin onto ent0 entM ent1]]; exists (fun x i j => ent x j i); split=> //.
- by move=> M; have [x xE] := onto (fun i j => M j i); exists x.
- by move=> x x0; apply: ent0.
- by move=> i j; rewrite ent1 eq_sym.
Qed.

Lemma division_opposite (F : fieldType) (D : vectType F) (mulD : D -> D -> D) (oneD : D) :
  division mulD oneD -> division (fun c d => mulD d c) oneD.
Proof. by move=> [one0 inv]; split=> // x /inv [y [xy yx]]; exists y. Qed.

Lemma division_nonzero (F : fieldType) (D : vectType F) (mulD : D -> D -> D) (oneD : D) c d :
  algebra mulD oneD -> division mulD oneD -> mulD c d = 0 -> d != 0 -> c = 0.
Proof.
move=> [bil assoc _ unitr] [_ inv] cd /inv [e [de _]].
by rewrite -[c]unitr -de assoc cd (bi0l bil).
Qed.

Lemma matrices_half (F : fieldType) (D S : vectType F) (mulD : D -> D -> D) (oneD : D)
    (mul : S -> S -> S) (one : S) : algebra mulD oneD -> division mulD oneD ->
  algebra mul one -> matrices_over mulD oneD 2 mul one -> half_left mul.
Proof.
move=> algD div alg [ent [lin onto ent0 entM _]] y y0.
have [bil assoc _ _] := alg; have [bilD _ unitl unitr] := algD.
have [i [j yij]] : exists i j, ent y i j != 0.
  have [/existsP [i /existsP [j yij]]|/existsPn none] :=
    boolP [exists i, exists j, ent y i j != 0]; first by exists i, j.
  case/eqP: y0; apply: ent0 => i j; have /existsPn /(_ j) := none i.
  by rewrite negbK => /eqP.
pose i' := rev_ord i.
have ne : i' != i by rewrite /i'; case: (i) => -[|[|]].
have other l : l != i -> l = i'.
  move=> li; apply/val_inj; move: li ne.
  by case: (l) (i) (i') => -[|[|//]] ? [[|[|//]] ?] [[|[|//]] ?].
have [E EE] := onto (fun a b => if (a == i') && (b == i) then oneD else 0).
have [t tE] := hom_of (bil.1 E).
have entE x a b : ent (mul x E) a b = if b == i then ent x a i' else 0.
  rewrite entM (bigD1 i') //= EE eqxx /= big1 ?addr0 => [|l /negPf li].
    by case: eqP => _; rewrite ?unitr ?(bi0r bilD).
  by rewrite EE li (bi0r bilD).
have EE0 x : mul (mul x E) E = 0.
  by apply: ent0 => a b; rewrite !entE (negPf ne) if_same.
exists (lker t).
  rewrite -(limg_ker_dim t fullv) capfv mul2n -addnn leq_add2l.
  by apply/dimvS/subvP => x /memv_imgP [z _ ->]; rewrite memv_ker !tE EE0.
move=> x; rewrite memv_ker tE => /eqP xE xy; apply: ent0 => a b.
have xi' : ent x a i' = 0.
  have := entE x a i; rewrite eqxx xE => <-.
  exact: (linear0 (Linear (lin a i))).
have [->|/other -> //] := eqVneq b i.
apply: (division_nonzero algD div _ yij).
have := entM x y a j; rewrite xy (bigD1 i) //= big1 ?addr0 => [<-|l /other ->].
  exact: (linear0 (Linear (lin a j))).
by rewrite xi' (bi0l bilD).
Qed.

Lemma matrices_prime (F : fieldType) (D S : vectType F) (mulD : D -> D -> D) (oneD : D)
    (mul : S -> S -> S) (one : S) (k : nat) : algebra mulD oneD -> division mulD oneD ->
  matrices_over mulD oneD k mul one -> prime_product mul.
Proof.
move=> algD div [ent [lin onto ent0 entM _]] a y a0 y0.
have [bilD _ unitl unitr] := algD.
have entry z : z != 0 -> exists i j, ent z i j != 0.
  move=> z0.
  have [/existsP [i /existsP [j zij]]|/existsPn none] :=
    boolP [exists i, exists j, ent z i j != 0]; first by exists i, j.
  case/eqP: z0; apply: ent0 => i j; have /existsPn /(_ j) := none i.
  by rewrite negbK => /eqP.
have [i [j aij]] := entry a a0; have [l [m ylm]] := entry y y0.
have [x xE] := onto (fun b c => if (b == j) && (c == l) then oneD else 0).
exists x; apply: contraNneq aij => axy; apply/eqP; apply: (division_nonzero algD div _ ylm).
have ax c : ent (mul a x) i c = if c == l then ent a i j else 0.
  rewrite entM (bigD1 j) //= xE eqxx /= big1 ?addr0 => [|b /negPf bj].
    by case: eqP => _; rewrite ?unitr ?(bi0r bilD).
  by rewrite xE bj (bi0r bilD).
have := entM (mul a x) y i m; rewrite axy (bigD1 l) //= ax eqxx big1 ?addr0 => [<-|c /negPf cl].
  exact: (linear0 (Linear (lin i m))).
by rewrite ax cl (bi0l bilD).
Qed.

Lemma matrices_degree_two (F : fieldType) (D S : vectType F) (mulD : D -> D -> D) (oneD : D)
    (mul : S -> S -> S) (one : S) : algebra mulD oneD -> division mulD oneD ->
  algebra mul one -> matrices_over mulD oneD 2 mul one -> degree_two mul.
Proof.
move=> algD div alg mat; split; first exact: matrices_half mat.
  apply: (matrices_half (opposite algD) (division_opposite div) (opposite alg)).
  exact: matrices_opposite.
exact: matrices_prime mat.
Qed.
