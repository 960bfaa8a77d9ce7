(* What a simple factor of a multiplication table saves: division algebras and
   matrices of any size. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import two_families tensor bilinear minimal_sets algebras.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Lemma subset_of_card (I : finType) (T : {set I}) k : (k <= #|T|)%N ->
  exists2 J : {set I}, J \subset T & #|J| = k.
Proof.
elim: k => [_|k IH kT]; first by exists set0; rewrite ?sub0set ?cards0.
have [J JT cJ] := IH (ltnW kT).
have [x xT xJ] : exists2 x, x \in T & x \notin J.
  by apply/subsetPn; apply: contraTN kT => /subset_leq_card; rewrite cJ -leqNgt.
exists (x |: J); last by rewrite cardsU1 xJ cJ.
by apply/subsetP => y; rewrite !inE => /orP [/eqP ->|/(subsetP JT)].
Qed.

(* fewer forms than dimensions have a common zero *)
Lemma common_zero (F : fieldType) (B : vectType F) (I : finType) (g : I -> 'Form(B))
    (V : {vspace B}) (J : {set I}) : (#|J| < \dim V)%N ->
  exists2 y, y \in zeros g V J & y != 0.
Proof.
move=> few; exists (vpick (zeros g V J)); first exact: memv_pick.
rewrite vpick0 -dimv_eq0 -lt0n; have := few_more J (zeros_ones g V).
by rewrite zeros0 => ?; arith.
Qed.

(* the algebra with the factors of every product exchanged *)
Lemma opposite (F : fieldType) (S : vectType F) (mul : S -> S -> S) (one : S) :
  algebra mul one -> algebra (fun x y => mul y x) one.
Proof. by move=> [[bl br] assoc unitl unitr]; split=> // x y z; rewrite assoc. Qed.

Section Factor.
Variables (F : fieldType) (S : vectType F) (mul : S -> S -> S) (one : S).
Hypothesis alg : algebra mul one.
Variables (I : finType) (f g : I -> 'Form(S)) (w : I -> S).
Hypothesis mulE : forall x y, mul x y = \sum_i (f i x * g i y) *: w i.
Local Notation left T := (zeros f fullv (~: T)).
Local Notation right T := (zeros g fullv (~: T)).
Local Notation excess := (excess f g fullv fullv).

(* products with y need only the terms whose forms do not vanish at y *)
Lemma products_with T J y : y \in zeros g (right T) J ->
  forall a, mul a y \in <<[seq w i | i in (T :\: J)%SET]>>%VS.
Proof.
move=> /zerosP [yT yJ] a; rewrite (right_mul mulE a yT); apply: memv_suml => i iT.
have [iJ|iJ] := boolP (i \in J); first by rewrite yJ // mulr0 scale0r mem0v.
by rewrite memvZ // memv_span //; apply/imageP; exists i; rewrite // inE iJ.
Qed.

Lemma left_not_small T : division mul one -> excess 0 T -> right T != 0%VS -> left T = fullv.
Proof.
have [_ assoc _ unitr] := alg; move=> [_ inv]; rewrite /minimal_sets.excess addn0 => eT.
rewrite -dimv_eq0 -lt0n => q0; set q := \dim (right T) in eT q0.
have [J JT cJ] := subset_of_card (geq_minr q.-1 #|T|).
have [|y yJ /inv [z [_ zy]]] := @common_zero _ _ _ g (right T) J.
  by rewrite cJ; apply: leq_ltn_trans (geq_minl _ _) _; rewrite prednK.
apply/eqP; rewrite eqEdim subvf /=.
have -> : \dim {:S} = \dim <<[seq w i | i in (T :\: J)%SET]>>%VS.
  congr (\dim _); apply/eqP; rewrite eq_sym eqEsubv subvf; apply/subvP => x _.
  by rewrite -[x]unitr -zy assoc products_with.
apply: leq_trans (dim_span _) _; rewrite size_image cardsD (setIidPr JT) cJ /minn.
case: ifP => _; last by rewrite subnn.
by move: eT; case: (q) q0 => // q' _ /= ?; arith.
Qed.

(* all forms together have no common zero but zero *)
Lemma no_zeros_left : zeros f fullv setT = 0%VS.
Proof.
have [_ _ _ unitr] := alg; apply/vspaceP => u; rewrite memv0; apply/zerosP/eqP => [[_ u0]|->].
  by rewrite -[u]unitr mulE big1 // => j _; rewrite u0 ?inE // mul0r scale0r.
by split=> [|j _]; rewrite ?mem0v ?linear0.
Qed.

Lemma no_zeros_right : zeros g fullv setT = 0%VS.
Proof.
have [_ _ unitl _] := alg; apply/vspaceP => u; rewrite memv0; apply/zerosP/eqP => [[_ u0]|->].
  by rewrite -[u]unitl mulE big1 // => j _; rewrite u0 ?inE // mulr0 scale0r.
by split=> [|j _]; rewrite ?mem0v ?linear0.
Qed.

(* one product is lost if every minimal set is as large as this *)
Lemma saves_one : one != 0 ->
  (forall T, minimal f g fullv fullv 0 T -> left T = fullv \/ right T = fullv) ->
  forall T, ~~ excess 1 T.
Proof.
move=> one0 full T0; apply/negP => /minimal_exists [T minT _].
have [eT _] := minT; have [T_empty|[i iT]] := set_0Vmem T.
  by move: eT; rewrite T_empty /minimal_sets.excess setC0 no_zeros_left no_zeros_right !dimv0.
have iset : [set i] \subset T by rewrite sub1set.
have i0 : [set i] != set0 by apply/set0Pn; exists i; rewrite inE.
have ranks := minimal_ranks minT iset i0.
have eq : ~: T :|: [set i] = ~: (T :\ i) by rewrite setCD setUC.
have fi : (\dim (left T) <= (\dim (left (T :\ i))).+1)%N.
  by rewrite -eq setUC; apply: zeros_ones.
have gi : (\dim (right T) <= (\dim (right (T :\ i))).+1)%N.
  by rewrite -eq setUC; apply: zeros_ones.
rewrite !zeros_zeros !eq cards1 in ranks.
have /minimal_exists [T' minT' T'T] : excess 0 (T :\ i).
  move: eT fi gi; rewrite /minimal_sets.excess (cardsD1 i T) iT add1n addn0.
  by move: (\dim _) (\dim _) (\dim _) (\dim _) => *; arith.
have grow (h : I -> 'Form(S)) : (zeros h fullv (~: T') <= zeros h fullv (~: (T :\ i)))%VS.
  apply/subvP => x /zerosP [_ x0]; apply/zerosP; rewrite memvf; split=> // j jT.
  by apply: x0; move: jT; rewrite !inE; apply: contraNN => /(subsetP T'T); rewrite !inE.
have top (h : I -> 'Form(S)) : zeros h fullv (~: T') = fullv ->
    (\dim (zeros h fullv (~: T)) <= \dim (zeros h fullv (~: (T :\ i))))%N.
  by move=> e; apply: dimvS; apply: subv_trans (grow h); rewrite e subvf.
by case: (full _ minT') => /top; move: ranks fi gi;
  move: (\dim _) (\dim _) (\dim _) (\dim _) => *; arith.
Qed.
End Factor.

Section Saves.
Variables (F : fieldType) (S : vectType F) (mul : S -> S -> S) (one : S).
Hypothesis alg : algebra mul one.

Lemma saves_of mu (U V : {vspace S}) m : (2 * \dim {:S} + m <= \dim U + \dim V + mu)%N ->
  (forall s (f g : 'I_s -> 'Form(S)) (w : 'I_s -> S),
     (forall x y, mul x y = \sum_i (f i x * g i y) *: w i) -> forall T, ~~ excess f g U V m T) ->
  saves mul mu.
Proof.
move=> le none s f g w mulE.
have [J1 [J2 [disj c1 c2 many]]] := independent_forms (none s f g w mulE).
exists U, V, J1, J2; split=> //.
by move: many le; move: (\dim _) (\dim _) (\dim _) #|J1| #|J2| => *; arith.
Qed.

(* a division algebra saves all but one *)
Lemma saves_division : division mul one -> saves mul 1.
Proof.
move=> div; apply: (@saves_of 1 fullv fullv 1); first by rewrite mul2n -addnn.
move=> s f g w mulE; apply: (saves_one alg mulE div.1) => T [eT _].
have [V0|V0] := eqVneq (zeros g fullv (~: T)) 0%VS; last first.
  by left; apply: (left_not_small alg mulE div eT V0).
right; have mulE' x y : mul y x = \sum_i (g i x * f i y) *: w i.
  by rewrite mulE; apply: eq_bigr => i _; rewrite mulrC.
have div' : division (fun x y => mul y x) one.
  by split=> [|x /div.2 [y [xy yx]]]; [exact: div.1|exists y].
apply: (left_not_small (opposite alg) mulE' div').
  by move: eT; rewrite /excess addnC [X in (_ < X)%N]addnC.
by apply/negP => /eqP U0; move: eT; rewrite /excess U0 V0 !dimv0.
Qed.

(* matrices save all but a row *)
Lemma saves_matrices (D : vectType F) (mulD : D -> D -> D) (oneD : D) (k : nat) :
  (0 < k)%N -> algebra mulD oneD -> matrices_over mulD oneD k mul one ->
  saves mul (k * \dim {:D}).
Proof.
case: k => // k _ [bilD _ unitD _] [ent [lin onto ent0 entM _]].
have [bil _ _ _] := alg.
pose row j := linfun (Linear (lin ord0 j)).
have rowE j x : row j x = ent x ord0 j by rewrite lfunE.
pose U := kernel_of row setT.
have UP x : reflect (forall j, ent x ord0 j = 0) (x \in U).
  apply: (iffP (kernelP _ _ _)) => [x0 j|x0 j _]; first by rewrite -rowE x0 ?inE.
  by rewrite rowE.
have dimU (J : {set 'I_k.+1}) :
    (\dim {:S} <= \dim (kernel_of row J) + #|J| * \dim {:D})%N.
  have [n cJ] : exists n, #|J| = n by exists #|J|.
  elim: n J cJ => [|n IH] J cJ.
    by move/cards0_eq: cJ => ->; rewrite /kernel_of big_set0 cards0 addn0.
  have [j jJ] : exists j, j \in J by apply/set0Pn; rewrite -card_gt0 cJ.
  have cj : #|J :\ j| = n by have := cardsD1 j J; rewrite jJ cJ add1n => -[].
  apply: leq_trans (IH _ cj) _; rewrite cJ cj mulSn addnA leq_add2r.
  rewrite /kernel_of (big_setD1 j jJ) /= capvC -(limg_ker_dim (row j)) leq_add2l.
  by rewrite dimvS ?subvf.
apply: (@saves_of _ U fullv 0).
  by have := dimU setT; rewrite cardsT card_ord -/U mul2n -addnn addn0 [in X in _ -> X]addnAC
    leq_add2r.
move=> s f g w mulE T0; apply/negP => /minimal_exists [T minT _].
have [/subvP UA /subvP AV] := minimal_closed bil mulE minT; have [eT _] := minT.
set UT := zeros f U _ in UA AV eT; set VT := zeros g fullv _ in UA AV eT.
have inU : (products mul UT VT <= U)%VS.
  apply/(productsP bil) => u b /(subvP (zeros_sub _ _ _)) /UP u0 _; apply/UP => j.
  by rewrite entM big1 // => l _; rewrite u0 (bi0l bilD).
have VT0 : VT = 0%VS.
  apply/vspaceP => v; rewrite memv0; apply/idP/eqP => [vV|->]; last exact: mem0v.
  apply: ent0 => i j; have [x xE] := onto (fun _ l => if l == i then oneD else 0).
  have /(subvP inU) /UP /(_ j) : mul x v \in products mul UT VT.
    by apply: AV; apply: (products_mem bil); rewrite ?memvf.
  rewrite entM (bigD1 i) //= xE eqxx unitD big1 ?addr0 // => l /negPf li.
  by rewrite xE li (bi0l bilD).
suff UT0 : UT = 0%VS by move: eT; rewrite /excess -/UT -/VT UT0 VT0 !dimv0.
apply/eqP; rewrite -subv0; apply: subv_trans (sub_left alg UT) _.
apply/subvP => x /UA; apply: subvP; apply/(productsP bil) => a b _.
by rewrite VT0 memv0 => /eqP ->; rewrite (bi0r bil) mem0v.
Qed.
End Saves.
