(* claim: lemmax/division-algebra-bound@ae7fcf73c5b53136, by division_algebra_bound,
     noncommutative_rank, quaternions.
   control: commutative_attained.
   A division algebra that does not commute takes nothing from 2 dim A: its own rank is
   at least twice its dimension, and the factors of A which are such algebras count
   with mu_i = 0 in the bound of algebra_bound.v. Quaternions over an ordered
   field are one, of dimension four. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import two_families tensor bilinear minimal_sets joint_substitution algebras.
From lemmax Require Import factors degree_two algebra_bound quaternions.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Noncommutative.
Variables (F : fieldType) (D : vectType F) (mul : D -> D -> D) (one : D).
Hypothesis alg : algebra mul one.
Hypothesis div : division mul one.
Hypothesis not_comm : ~ commutative mul.
Local Notation n := (\dim {:D}).

Lemma mul_zero a b : mul a b = 0 -> a != 0 -> b = 0.
Proof.
have [bil assoc unitl _] := alg; have [_ inv] := div; move=> ab /inv [c [_ ca]].
by rewrite -[b]unitl -ca -assoc ab (bi0r bil).
Qed.

(* the elements that commute with a *)
Lemma centralizer a : exists Z : {vspace D}, forall x, (x \in Z) = (mul x a == mul a x).
Proof.
have [bil _ _ _] := alg; have [k kE] := hom_of (bil.1 a); have [l lE] := hom_of (bil.2 a).
by exists (lker (k - l)) => x; rewrite memv_ker add_lfunE opp_lfunE kE lE subr_eq0.
Qed.

(* for every c a subspace that is not everything, with one, and closed under right
   multiplication with c *)
Lemma proper_subspace c : exists C : {vspace D},
  [/\ (\dim C < n)%N, one \in C & forall x, x \in C -> mul x c \in C].
Proof.
have [bil assoc unitl unitr] := alg.
have from a b : mul a c = mul c a -> mul b a != mul a b -> exists C : {vspace D},
    [/\ (\dim C < n)%N, one \in C & forall x, x \in C -> mul x c \in C].
  move=> ac ab; have [Z ZE] := centralizer a; exists Z; split.
  - rewrite ltnNge; apply: contra ab => le; rewrite -ZE.
    by suff /eqP -> : Z == fullv; [rewrite memvf|rewrite eqEdim subvf].
  - by rewrite ZE unitl unitr.
  - by move=> x; rewrite !ZE => /eqP xa; rewrite -assoc -ac assoc xa -assoc.
have [Z ZE] := centralizer c.
have [full|] := boolP (fullv <= Z)%VS; last first.
  by case/subvPn=> b _; rewrite ZE => bc; apply: (from c b).
have central x : mul x c = mul c x by apply/eqP; rewrite -ZE (subvP full) ?memvf.
(* some element does not commute with another *)
pose comm := [forall i : 'I_n, [forall j : 'I_n,
  mul (vbasis {:D})`_i (vbasis {:D})`_j == mul (vbasis {:D})`_j (vbasis {:D})`_i]].
have [/forallP all|] := boolP comm; last first.
  case/forallPn=> i /forallPn [j ij].
  by apply: (from (vbasis {:D})`_j (vbasis {:D})`_i) => //; apply: central.
have basis_in (X : {vspace D}) : (forall i : 'I_n, (vbasis {:D})`_i \in X) -> X = fullv.
  move=> sub; apply/eqP; rewrite eqEsubv subvf -(span_basis (vbasisP fullv)).
  by apply/span_subvP => v /(nthP 0) [i]; rewrite size_tuple => lt <-; apply: (sub (Ordinal lt)).
case: not_comm => x y; have [X XE] := centralizer y.
apply/eqP; rewrite -XE (basis_in X) ?memvf // => i; rewrite XE eq_sym.
have [Y YE] := centralizer (vbasis {:D})`_i; rewrite -YE (basis_in Y) ?memvf // => j.
by rewrite YE eq_sym; have /forallP := all i; apply.
Qed.

Section Computation.
Variables (I : finType) (f g : I -> 'Form(D)) (w : I -> D) (T : {set I}).
Hypothesis mulE : forall x y, mul x y = \sum_(i in T) (f i x * g i y) *: w i.

(* where some forms vanish, the other terms span everything *)
Lemma others_span (J : {set I}) a : a != 0 -> (forall i, i \in J -> f i a = 0) ->
  (fullv <= <<[seq w i | i in (T :\: J)%SET]>>)%VS.
Proof.
have [bil assoc unitl unitr] := alg; have [_ inv] := div; move=> a0 aJ.
apply/subvP => x _; have [b [ab _]] := inv a a0.
rewrite -[x]unitl -ab -assoc mulE; apply: memv_suml => i iT.
have [iJ|iJ] := boolP (i \in J); first by rewrite aJ // mul0r scale0r mem0v.
by rewrite memvZ // memv_span //; apply/imageP; exists i; rewrite // inE iJ.
Qed.

Lemma few_vanish (J : {set I}) a : a != 0 -> (forall i, i \in J -> f i a = 0) ->
  (n <= #|T :\: J|)%N.
Proof.
move=> a0 aJ; apply: leq_trans (dimvS (others_span a0 aJ)) _.
by apply: leq_trans (dim_span _) _; rewrite size_image.
Qed.

(* as many vectors as dimensions, which span everything, are independent *)
Lemma independent_span (R : {set I}) (x : I -> F) : #|R| = n ->
  (fullv <= <<[seq w i | i in R]>>)%VS -> \sum_(i in R) x i *: w i = 0 ->
  forall i, i \in R -> x i = 0.
Proof.
move=> cR /subvP full sum0 i iR; pose X := [tuple w (enum_val j) | j < #|R|].
have fX : free X.
  rewrite /free eqn_leq dim_span size_tuple /= -[X in (X <= _)%N]/(#|R|).
  suff : (n <= \dim <<X>>)%N by rewrite -{1}cR.
  apply/dimvS/subvP => v /full.
  apply: subvP v; apply/span_subvP => v /imageP [k kR ->]; apply: memv_span.
  by apply/mapP; exists (enum_rank_in kR k); rewrite ?mem_enum // enum_rankK_in.
have /freeP /(_ (fun j => x (enum_val j))) := fX.
move=> /(_ _ (enum_rank_in iR i)); rewrite enum_rankK_in //; apply.
rewrite -[RHS]sum0 [RHS]big_enum_val; apply: eq_bigr => j _; congr (_ *: _).
by rewrite (nth_map j) ?size_enum_ord // nth_ord_enum.
Qed.

Lemma not_fewer : (2 * n <= #|T|)%N.
Proof.
have [bil assoc unitl unitr] := alg; have [one0 inv] := div.
rewrite leqNgt; apply/negP; rewrite mul2n -addnn => few.
have n1 : (1 < n)%N.
  have [C [small oneC _]] := proper_subspace one; apply: leq_trans small; rewrite ltnS lt0n.
  by rewrite dimv_eq0; apply: contraNneq one0 => C0; rewrite -memv0 -C0.
have nT : (n <= #|T|)%N.
  by have := @few_vanish set0 one one0; rewrite setD0; apply=> i; rewrite inE.
have [J JT cJ] := @subset_of_card _ T (n - 2) (leq_trans (leq_subr _ _) nT).
have [i0 i0T i0J] : exists2 i, i \in T & i \notin J.
  apply/subsetPn; apply: contraTN nT => /subset_leq_card; rewrite cJ -ltnNge => le.
  by apply: leq_ltn_trans le _; move: n1; move: (\dim _) => *; arith.
have cJ0 : #|i0 |: J| = n.-1.
  by rewrite cardsU1 i0J cJ; move: n1; case: (\dim _) => [|[|m]] //= _; rewrite subSS subn1.
have [|a0 a0Z a00] := @common_zero _ _ _ f fullv (i0 |: J).
  by rewrite cJ0 prednK // ltnW.
have /zerosP [_ a0J] := a0Z.
pose R := T :\: (i0 |: J).
have sub : i0 |: J \subset T by rewrite subUset sub1set i0T.
have cR : #|R| = n.
  have := few_vanish a00 a0J; have := cardsID (i0 |: J) T; rewrite (setIidPr sub) cJ0 -/R.
  move: few n1; case: (\dim _) => // m few n1 /= cT le.
  by apply/eqP; rewrite eqn_leq le andbT; arith.
have span := others_span a00 a0J; rewrite -/R in span.
have inR i : i \in R -> f i a0 != 0.
  move=> iR; apply/eqP => fi.
  have : (n <= #|T :\: (i |: (i0 |: J))|)%N.
    by apply: (few_vanish a00) => j; rewrite in_setU1 => /orP [/eqP ->|/a0J].
  have -> : T :\: (i |: (i0 |: J)) = R :\ i by rewrite /R setDDl setUC.
  by have := cardsD1 i R; rewrite iR add1n cR => ->; rewrite ltnn.
have split_T (x : I -> D) : (forall i, i \in i0 |: J -> x i = 0) ->
    \sum_(i in T) x i = \sum_(i in R) x i.
  move=> x0; rewrite (big_setID (i0 |: J)) /= big1 ?add0r // => i.
  by rewrite inE => /andP [_ /x0].
have gR b : (forall i, i \in R -> g i b = 0) -> b = 0.
  move=> gb; apply: mul_zero a00; rewrite mulE split_T => [|i iJ].
    by rewrite big1 // => i iR; rewrite gb // mulr0 scale0r.
  by rewrite a0J // mul0r scale0r.
clearbody R.
have [a aJ a_out] : exists2 a, a \in zeros f fullv J & a \notin <[a0]>%VS.
  apply/subvPn; apply/negP => /dimvS; rewrite dim_vline a00 /=.
  have := few_more J (zeros_ones f fullv); rewrite zeros0 cJ.
  by move: n1; move: (\dim _) (\dim _) => *; arith.
have /zerosP [_ fJ] := aJ.
have [b0 [ab0 ba0]] := inv a0 a00; pose c := mul b0 a.
have ac : mul a0 c = a by rewrite /c assoc ab0 unitl.
have [C [small oneC Cc]] := proper_subspace c.
pose phi (k : 'I_(\dim C)) : 'Form(D) := (g i0 \o linfun (Linear (bil.2 (vbasis C)`_k)))%VF.
have phiE k v : phi k v = g i0 (mul (vbasis C)`_k v) by rewrite comp_lfunE lfunE.
pose W := zeros phi fullv setT.
have WC v z : v \in W -> z \in C -> g i0 (mul z v) = 0.
  move=> /zerosP [_ vW] /coord_vbasis ->; rewrite (bi_suml bil) linear_sum big1 // => k _.
  by rewrite (biZl bil) linearZ /= -phiE vW ?inE // scaler0.
have Wc v : v \in W -> mul c v \in W.
  move=> vW; apply/zerosP; rewrite memvf; split=> // k _; rewrite phiE assoc; apply: WC => //.
  by apply/Cc/vbasis_mem/mem_nth; rewrite size_tuple.
have eigen x : x \in W -> forall i, i \in R -> 
    g i (mul c x) = (f i a : F) / (f i a0 : F) * (g i x : F) :> F.
  move=> xW i iR; have hx : g i0 x = 0 by rewrite -[x]unitl WC.
  have e : \sum_(j in R) (f j a * g j x - f j a0 * g j (mul c x)) *: w j = 0.
    have left : mul a x = \sum_(j in R) (f j a * g j x) *: w j.
      rewrite mulE split_T // => j; rewrite in_setU1 => /orP [/eqP ->|jJ].
        by rewrite hx mulr0 scale0r.
      by rewrite fJ // mul0r scale0r.
    have right : mul a x = \sum_(j in R) (f j a0 * g j (mul c x)) *: w j.
      rewrite -{1}ac -assoc mulE split_T // => j jJ.
      by rewrite a0J // mul0r scale0r.
    under eq_bigr => j _ do rewrite scalerBl.
    by rewrite sumrB -left -right subrr.
  have /eqP := independent_span cR span e iR; rewrite subr_eq0 => /eqP e'.
  apply: (mulfI (inR i iR : (f i a0 : F) != 0)); rewrite -e' mulrA [_ * (_ / _)]mulrC.
  by rewrite divfK ?inR.
have [v vW v0] : exists2 v, v \in W & v != 0.
  by apply: common_zero; rewrite cardsT card_ord.
have none m x : x \in W -> (#|[set i in R | g i x != 0%R]| <= m)%N -> x = 0.
  elim: m x => [|m IH] x xW le.
    apply: gR => i iR; apply/eqP; apply: contraT => gi.
    move: le; rewrite leqn0 cards_eq0 => /eqP /setP /(_ i).
    by rewrite !inE iR gi.
  apply/eqP; apply: contraT => x0.
  have [i iR gi] : exists2 i, i \in R & g i x != 0.
    have [/existsP [i /andP [iR gi]]|/existsPn all0] := boolP [exists i, (i \in R) && (g i x != 0)].
      by exists i.
    case/eqP: x0; apply: gR => i iR; have := all0 i; rewrite iR negbK.
    by move/eqP.
  pose d := (f i a : F) / (f i a0 : F).
  have x'W : mul c x - d *: x \in W by rewrite memvB ?memvZ ?Wc.
  have : mul c x - d *: x = 0.
    apply: IH => //; rewrite -ltnS; apply: leq_trans le; apply: proper_card.
    apply/properP; split.
      apply/subsetP => j; rewrite !inE => /andP [jR]; rewrite jR /=; apply: contraNneq => gj.
      by rewrite linearB linearZ /= eigen // gj mulr0 scaler0 subrr.
    exists i; rewrite !inE iR //= negbK linearB linearZ /= eigen //.
    by rewrite -/d subrr.
  have -> : mul c x - d *: x = mul (c - d *: one) x by rewrite (biBl bil) (biZl bil) unitl.
  move=> cx; case/negP: a_out; apply/vlineP; exists d.
  have : c - d *: one = 0 by apply/eqP; apply: contraT => /(mul_zero cx) e; rewrite e eqxx in x0.
  by move/eqP; rewrite subr_eq0 => /eqP cE; rewrite -ac cE (biZr bil) unitr.
by rewrite (none _ v vW (leqnn _)) eqxx in v0.
Qed.
End Computation.
End Noncommutative.

Lemma saves_noncommutative (F : fieldType) (D : vectType F) (mul : D -> D -> D) (one : D) :
  algebra mul one -> division mul one -> ~ commutative mul -> saves mul 0.
Proof.
move=> alg div nc; apply: (@saves_of _ _ _ 0 fullv fullv 0); first by rewrite mul2n -addnn !addn0.
move=> s f g w mulE T; apply/negP => eT.
have mulE' x y : mul y x = \sum_i (g i x * f i y) *: w i.
  by rewrite mulE; apply: eq_bigr => i _; rewrite [f i y * _]mulrC.
have eT' : excess g f fullv fullv 0 T by move: eT; rewrite /excess [X in (_ < X)%N]addnC.
have full0 : (fullv : {vspace D}) != 0%VS.
  by apply: contraNneq div.1 => full0; rewrite -memv0 -full0 memvf.
have large := left_not_small alg mulE div eT.
have large' := left_not_small (opposite alg) mulE' (division_opposite div) eT'.
have [V0|/large U1] := eqVneq (zeros g fullv (~: T)) 0%VS.
  have [U0|/large'] := eqVneq (zeros f fullv (~: T)) 0%VS.
    by move: eT; rewrite /excess U0 V0 !dimv0.
  by rewrite V0 => e; rewrite e eqxx in full0.
have V1 : zeros g fullv (~: T) = fullv by apply: large'; rewrite U1.
have le : (2 * \dim {:D} <= #|T|)%N.
  apply: (not_fewer alg div nc (f := f) (g := g) (w := w)) => x y.
  have xU : x \in zeros f fullv (~: T) by rewrite U1 memvf.
  exact: (left_mul mulE y xU).
by move: eT; rewrite /excess U1 V1 addn0 addnn -mul2n ltnNge le.
Qed.

(* the rank of a division algebra that does not commute *)
Theorem noncommutative_rank (F : fieldType) (D : vectType F) (mul : D -> D -> D) (one : D) r :
  algebra mul one -> division mul one -> ~ commutative mul ->
  bilinear_rank_le mul r -> (2 * Vector.dim D <= r)%N.
Proof.
move=> alg div nc [f [g [w mulE]]]; rewrite -dimvf -(card_ord r) -cardsT.
apply: (not_fewer alg div nc (f := f) (g := g) (w := w)) => x y; rewrite mulE.
by apply: eq_bigl => i; rewrite inE.
Qed.

(* nc holds for factors that are division algebras and do not commute: they take nothing *)
Theorem division_algebra_bound (F : fieldType) (A : vectType F) (mul : A -> A -> A) (one : A)
    (T : finType) (S : T -> vectType F) (mulS : forall i, S i -> S i -> S i)
    (oneS : forall i, S i) (D : T -> vectType F) (mulD : forall i, D i -> D i -> D i)
    (oneD : forall i, D i) (k : T -> nat) (p : forall i, 'Hom(A, S i)) (nc : pred T) (r : nat) :
  algebra mul one ->
  (forall i, algebra (mulD i) (oneD i) /\ division (mulD i) (oneD i)) ->
  (forall i, algebra (mulS i) (oneS i)) ->
  (forall i, (0 < k i)%N /\ matrices_over (mulD i) (oneD i) (k i) (mulS i) (oneS i)) ->
  (forall i, homomorphism mul (mulS i) (p i)) -> onto_product p ->
  nilpotent mul (kernel_of p setT) ->
  (forall i, nc i -> k i = 1%N /\ ~ commutative (mulD i)) ->
  bilinear_rank_le mul r ->
  (2 * Vector.dim A <= r + \sum_(i | ~~ nc i) lost (k i) (Vector.dim (D i)))%N.
Proof.
move=> alg algD algS mat hom onto nil ncP; rewrite -dimvf big_mkcond /=.
apply: (product_of_factors (p := p) alg) => // i; first by case: (algS i).
have [[aD dD] [k0 mi]] := (algD i, mat i); have [nci|_] := boolP (nc i); last first.
  exact: (saves_lost k0 aD dD (algS i) mi).
have [k1 not_comm] := ncP i nci; rewrite k1 in mi.
apply: (saves_noncommutative (algS i) (matrices_of_one aD dD (algS i) mi)) => comm.
apply: not_comm => c d; have [ent [_ ontoE _ entM _]] := mi.
have [x xE] := ontoE (fun _ _ => c); have [y yE] := ontoE (fun _ _ => d).
have e := entM x y ord0 ord0; have e' := entM y x ord0 ord0.
by rewrite big_ord1 xE yE in e; rewrite big_ord1 xE yE in e'; rewrite -e -e' comm.
Qed.

(* the rank of quaternions over an ordered field is at least eight *)
Theorem quaternions (R : realFieldType) : let mul := @quaternion_mul R in
  [/\ algebra mul (quaternion_one R), division mul (quaternion_one R), ~ commutative mul
    & forall r, bilinear_rank_le mul r -> (8 <= r)%N].
Proof.
have alg := quaternion_algebra R; have div := quaternion_division R.
have nc := @quaternions_do_not_commute R; split=> // r.
by move/(noncommutative_rank alg div nc).
Qed.

(* A field is a division algebra with rank one, less than two: it has to be
   assumed that the algebra does not commute. *)
Theorem commutative_attained (F : fieldType) :
  let D := regular_vectType F in let mul : D -> D -> D := fun a b => a * b in
  [/\ algebra mul 1, division mul 1, commutative mul & bilinear_rank_is mul 1].
Proof.
move=> D mul; have [bil rk _ _ _] := joint_substitution_sharp F; split=> //.
- by split=> // [x y z|x|x]; rewrite /mul ?mulrA ?mul1r ?mulr1.
- split=> [|x x0]; first exact: oner_neq0.
  by exists x^-1; rewrite /mul mulfV // mulVf.
- by move=> x y; rewrite /mul mulrC.
Qed.

Print Assumptions noncommutative_rank.
Print Assumptions division_algebra_bound.
Print Assumptions quaternions.
Print Assumptions commutative_attained.
