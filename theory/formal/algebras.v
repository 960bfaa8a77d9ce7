(* Associative algebras with unit, of finite dimension over a field, that are given
   by a product on a vector space; matrices over one; and an algebra that is a
   product of others modulo a nilpotent ideal. Computations of such an algebra
   lose some products with each factor: that is what a factor saves. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import two_families tensor bilinear minimal_sets joint_substitution.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Definitions.
Variable F : fieldType.

Definition algebra (A : vectType F) (mul : A -> A -> A) (one : A) :=
  [/\ bilinear mul, associative mul, left_id one mul & right_id one mul].

Definition homomorphism (A B : vectType F) (mulA : A -> A -> A) (mulB : B -> B -> B)
    (p : 'Hom(A, B)) :=
  forall x y, p (mulA x y) = mulB (p x) (p y).

(* some power of the ideal N is zero *)
Definition nilpotent (A : vectType F) (mul : A -> A -> A) (N : {vspace A}) :=
  exists k, iter k (products mul N) N = 0%VS.

(* every element but zero has an inverse *)
Definition division (D : vectType F) (mul : D -> D -> D) (one : D) :=
  one != 0 /\ forall x, x != 0 -> exists y, mul x y = one /\ mul y x = one.

(* S is the algebra of k x k matrices over D: x has the entries ent x i j *)
Definition matrices_over (D : vectType F) (mulD : D -> D -> D) (oneD : D) (k : nat)
    (S : vectType F) (mul : S -> S -> S) (one : S) :=
  exists ent : S -> 'I_k -> 'I_k -> D,
    [/\ forall i j, linear (fun x => ent x i j),
        forall M : 'I_k -> 'I_k -> D, exists x, forall i j, ent x i j = M i j,
        forall x, (forall i j, ent x i j = 0) -> x = 0,
        forall x y i j, ent (mul x y) i j = \sum_l mulD (ent x i l) (ent y l j)
      & forall i j, ent one i j = if i == j then oneD else 0].

(* the common kernel of some of the maps p i *)
Definition kernel_of (T : finType) (A : vectType F) (S : T -> vectType F)
    (p : forall i, 'Hom(A, S i)) (X : {set T}) : {vspace A} :=
  (\bigcap_(i in X) lker (p i))%VS.

(* the maps p i, together, map A onto the product of the S i *)
Definition onto_product (T : finType) (A : vectType F) (S : T -> vectType F)
    (p : forall i, 'Hom(A, S i)) :=
  forall i s, exists2 a, p i a = s & forall j, j != i -> p j a = 0.

(* every computation of S has disjoint sets of products that substitution removes,
   for some subspaces U and V, and together they are 2 dim S - mu *)
Definition saves (S : vectType F) (mul : S -> S -> S) (mu : nat) :=
  forall (s : nat) (f g : 'I_s -> 'Form(S)) (w : 'I_s -> S),
    (forall x y, mul x y = \sum_i (f i x * g i y) *: w i) ->
    exists (U V : {vspace S}) (J1 J2 : {set 'I_s}),
      [/\ [disjoint J1 & J2], (#|J1| + \dim (zeros f U J1) <= \dim U)%N,
          (#|J2| + \dim (zeros g V J2) <= \dim V)%N
        & (2 * \dim {:S} <= #|J1| + #|J2| + mu)%N].
End Definitions.

(* a linear map that is onto from a subspace has a section there *)
Lemma section_in (F : fieldType) (A S : vectType F) (p : 'Hom(A, S)) (K : {vspace A}) :
  (forall s, exists2 a, a \in K & p a = s) ->
  exists h : 'Hom(S, A), forall s, h s \in K /\ p (h s) = s.
Proof.
move=> onto; pose q := (p \o projv K)%VF.
exists (projv K \o q^-1)%VF => s; rewrite comp_lfunE memv_proj; split=> //.
rewrite -comp_lfunE -/q limg_lfunVK //; have [a aK <-] := onto s.
by rewrite -{1}(projv_id aK) -comp_lfunE memv_img ?memvf.
Qed.

Section Product.
Variables (F : fieldType) (T : finType) (A : vectType F) (mul : A -> A -> A) (one : A).
Hypothesis alg : algebra mul one.
Variables (S : T -> vectType F) (mulS : forall i, S i -> S i -> S i).
Variables (p : forall i, 'Hom(A, S i)) (mu : T -> nat).
Hypothesis bilS : forall i, bilinear (mulS (i := i)).
Hypothesis hom : forall i, homomorphism mul (mulS (i := i)) (p i).
Hypothesis onto : onto_product p.
Hypothesis savesS : forall i, saves (mulS (i := i)) (mu i).
Local Notation N := (kernel_of p).
Implicit Types (X : {set T}) (a b : A).

Lemma kernelP X a : reflect (forall i, i \in X -> p i a = 0) (a \in N X).
Proof.
apply: (iffP idP) => [aN i iX|a0].
  apply/eqP; rewrite -memv_ker memvE; apply: subv_trans (_ : N X <= _)%VS; first exact: aN.
  exact: (@bigcapv_inf _ _ _ i _ _ _ iX (subvv _)).
by rewrite memvE; apply/subv_bigcapP => i iX; rewrite -memvE memv_ker a0.
Qed.

Lemma kernel_left X : (products mul (N X) fullv <= N X)%VS.
Proof.
have [bil _ _ _] := alg; apply/(productsP bil) => a b /kernelP aN _; apply/kernelP => i iX.
by rewrite hom aN // (bi0l (bilS i)).
Qed.

Lemma kernel_right X : (products mul fullv (N X) <= N X)%VS.
Proof.
have [bil _ _ _] := alg; apply/(productsP bil) => a b _ /kernelP bN; apply/kernelP => i iX.
by rewrite hom bN // (bi0r (bilS i)).
Qed.

(* factor by factor *)
Lemma factors X s : rank_mod mul (N X) s ->
  (2 * \dim {:A} <= s + 2 * \dim (N X) + \sum_(i in X) mu i)%N.
Proof.
have [bil _ _ _] := alg.
have [n cX] : exists n, #|X| = n by exists #|X|.
elim: n X s cX => [|n IH] X s cX rX.
  move/cards0_eq: cX => ->; have -> : N set0 = fullv.
    by apply/vspaceP => a; rewrite memvf; apply/kernelP => i; rewrite inE.
  by arith.
have [x xX] : exists x, x \in X by apply/set0Pn; rewrite -card_gt0 cX.
pose X' := X :\ x; have cX' : #|X'| = n by have := cardsD1 x X; rewrite xX cX add1n => -[].
have NX : N X = (N X' :&: lker (p x))%VS.
  apply/vspaceP => a; rewrite memv_cap memv_ker; apply/kernelP/andP =>
    [a0|[/kernelP a0 /eqP ax] i iX].
    by rewrite a0 //; split=> //; apply/kernelP => i; rewrite inE => /andP [_ /a0].
  by have [-> //|ix] := eqVneq i x; rewrite a0 // !inE ix.
have [h hP] : exists h : 'Hom(S x, A), forall t, h t \in N (~: [set x]) /\ p x (h t) = t.
  apply: section_in => t; have [a pa a0] := onto t; exists a => //.
  by apply/kernelP => i; rewrite !inE; apply: a0.
have hX' t : h t \in N X'.
  have [/kernelP h0 _] := hP t; apply/kernelP => i; rewrite !inE => /andP [ix _].
  by rewrite h0 // !inE.
have dimX' : (\dim (N X') = \dim (N X) + \dim {:S x})%N.
  rewrite NX -(limg_ker_dim (p x) (N X')); congr (_ + \dim _)%N; apply/vspaceP => t.
  by rewrite memvf; apply/memv_imgP; exists (h t) => //; have [_ ->] := hP t.
case: rX => f [g [w comp]].
have compS t u : mulS t u = \sum_i ((f i \o h)%VF t * (g i \o h)%VF u) *: p x (w i).
  have := comp (h t) (h u); rewrite NX memv_cap memv_ker => /andP [_].
  rewrite linearB /= subr_eq0 hom (hP t).2 (hP u).2 linear_sum => /eqP ->.
  by apply: eq_bigr => i _; rewrite linearZ !comp_lfunE.
have [U [V [J1 [J2 [disj c1 c2 many]]]]] := savesS compS.
have injh : lker h == 0%VS.
  by apply/lker0P => t u tu; rewrite -(hP t).2 -(hP u).2 tu.
have dimh (Y : {vspace S x}) : \dim (h @: Y) = \dim Y.
  by apply: limg_dim_eq; rewrite (eqP injh) capv0.
have zerosh (k : 'I_s -> 'Form(A)) (Y : {vspace S x}) (J : {set 'I_s}) :
    zeros k (h @: Y) J = (h @: zeros (fun i => k i \o h)%VF Y J)%VS.
  apply/vspaceP => a; apply/zerosP/memv_imgP => [[/memv_imgP [t tY ->] a0]|[t /zerosP [tY t0] ->]].
    by exists t => //; apply/zerosP; split=> // i iJ; rewrite comp_lfunE a0.
  by split=> [|i iJ]; rewrite ?memv_img // -comp_lfunE t0.
have low (Y : {vspace S x}) : (h @: Y <= N X')%VS.
  by apply/subvP => a /memv_imgP [t _ ->].
have rX' : rank_mod mul (N X') #|~: (J1 :|: J2)|.
  apply: (@substitution _ _ _ _ mul bil _ f g w (N X) _ (h @: U)%VS (h @: V)%VS) => //.
  - by rewrite NX capvSl.
  - apply: subv_trans (kernel_left X'); apply/(productsP bil) => a b aU bF.
    by apply: (products_mem bil) => //; apply: (subvP (low U)).
  - apply: subv_trans (kernel_right X'); apply/(productsP bil) => a b aF bV.
    by apply: (products_mem bil) => //; apply: (subvP (low V)).
  - by rewrite zerosh !dimh.
  - by rewrite zerosh !dimh.
have := IH X' _ cX' rX'; rewrite dimX' (big_setD1 x xX) /= -/X'.
have cJ : (#|J1| + #|J2| + #|~: (J1 :|: J2)| = s)%N.
  have := cardsC (J1 :|: J2); have := cardsUI J1 J2.
  by rewrite (disjoint_setI0 disj) cards0 addn0 card_ord => ->.
move: many cJ; rewrite !mul2n -!addnn; move: #|J1| #|J2| #|~: (J1 :|: J2)| => a1 a2 a3.
move: (\sum_(i in _) mu i)%N (\dim _) (\dim _) (\dim _) (mu x) => sm d1 d2 d3 m.
by clear; arith.
Qed.
End Product.

Section Algebra.
Variables (F : fieldType) (A : vectType F) (mul : A -> A -> A) (one : A).
Hypothesis alg : algebra mul one.
Implicit Types (U V W X Y : {vspace A}).

Lemma span_mul_left X Y W b : (forall x y, x \in X -> y \in Y -> mul (mul x y) b \in W) ->
  forall a, a \in products mul X Y -> mul a b \in W.
Proof.
have [bil _ _ _] := alg; have [k kE] := hom_of (bil.1 b); move=> sub a aXY.
rewrite -kE memv_preim; apply: subvP aXY; apply/(productsP bil) => x y xX yY.
by rewrite -memv_preim kE sub.
Qed.

Lemma span_mul_right X Y W a : (forall x y, x \in X -> y \in Y -> mul a (mul x y) \in W) ->
  forall b, b \in products mul X Y -> mul a b \in W.
Proof.
have [bil _ _ _] := alg; have [k kE] := hom_of (bil.2 a); move=> sub b bXY.
rewrite -kE memv_preim; apply: subvP bXY; apply/(productsP bil) => x y xX yY.
by rewrite -memv_preim kE sub.
Qed.

Lemma sub_left U : (U <= products mul U fullv)%VS.
Proof.
have [bil _ _ unitr] := alg; apply/subvP => u uU; rewrite -[u]unitr.
by apply: products_mem; rewrite ?memvf.
Qed.

Lemma sub_right V : (V <= products mul fullv V)%VS.
Proof.
have [bil _ unitl _] := alg; apply/subvP => v vV; rewrite -[v]unitl.
by apply: products_mem; rewrite ?memvf.
Qed.

(* no pair of subspaces of a nilpotent ideal is closed *)
Lemma nilpotent_not_closed N U V : nilpotent mul N -> (U <= N)%VS -> (V <= N)%VS ->
  closed_pair mul U V -> U = 0%VS /\ V = 0%VS.
Proof.
have [bil assoc _ _] := alg; case=> k0 N0 /subvP UN /subvP VN [UA AV].
pose P k := iter k (products mul N) N.
have comm k : (products mul (P k) N <= P k.+1)%VS.
  elim: k => [|k IH] //; apply/(productsP bil) => a b aP bN.
  apply: span_mul_left aP => x y xN yP; rewrite -assoc; apply: (products_mem bil) => //.
  exact/(subvP IH)/(products_mem bil).
have UP k : (U <= products mul U (P k))%VS.
  have UUN : (U <= products mul U N)%VS.
    apply: subv_trans (subv_trans (sub_left U) UA) _.
    by apply/(productsP bil) => u v uU /VN; apply: products_mem.
  elim: k => [//|k IH]; apply: subv_trans IH _; apply/(productsP bil) => a b aU bP.
  have := subvP UUN _ aU; apply: span_mul_left => x y xU yN; rewrite -assoc.
  by apply: (products_mem bil) => //; apply: (products_mem bil).
have VP k : (V <= products mul (P k) V)%VS.
  have VNV : (V <= products mul N V)%VS.
    apply: subv_trans (subv_trans (sub_right V) AV) _.
    by apply/(productsP bil) => u v /UN uN vV; apply: products_mem.
  elim: k => [//|k IH]; apply: subv_trans IH _; apply/(productsP bil) => a b aP bV.
  have := subvP VNV _ bV; apply: span_mul_right => x y xN yV; rewrite assoc.
  by apply: (products_mem bil) => //; apply/(subvP (comm k))/(products_mem bil).
split; apply/eqP; rewrite -subv0.
  apply: subv_trans (UP k0) _; rewrite /P N0; apply/(productsP bil) => a b _.
  by rewrite memv0 => /eqP ->; rewrite (bi0r bil) mem0v.
apply: subv_trans (VP k0) _; rewrite /P N0; apply/(productsP bil) => a b.
by rewrite memv0 => /eqP -> _; rewrite (bi0l bil) mem0v.
Qed.

(* a nilpotent two-sided ideal takes twice its dimension *)
Lemma nilpotent_rank_mod N r : nilpotent mul N ->
  (products mul N fullv <= N)%VS -> (products mul fullv N <= N)%VS ->
  bilinear_rank_le mul r -> exists2 s, rank_mod mul N s & (2 * \dim N + s <= r)%N.
Proof.
have [bil _ _ _] := alg; move=> nil NA AN rk.
have [|s rs le] := @joint_rank_mod _ _ _ _ mul bil N N _ r rk.
  by move=> U V UN VN; apply: (nilpotent_not_closed nil).
exists s; last by rewrite mul2n -addnn.
case: rs => f [g [w comp]]; exists f, g, w => a b.
by apply: subvP (comp a b); rewrite subv_add NA AN.
Qed.
End Algebra.

(* an algebra that is a product of factors modulo a nilpotent ideal *)
Lemma product_of_factors (F : fieldType) (T : finType) (A : vectType F) (mul : A -> A -> A)
    (one : A) (S : T -> vectType F) (mulS : forall i, S i -> S i -> S i)
    (p : forall i, 'Hom(A, S i)) (mu : T -> nat) (r : nat) :
  algebra mul one -> (forall i, bilinear (mulS i)) ->
  (forall i, homomorphism mul (mulS i) (p i)) -> onto_product p ->
  nilpotent mul (kernel_of p setT) -> (forall i, saves (mulS i) (mu i)) ->
  bilinear_rank_le mul r -> (2 * \dim {:A} <= r + \sum_i mu i)%N.
Proof.
move=> alg bilS hom onto nil savesS rk.
have [s rs le] := nilpotent_rank_mod alg nil (kernel_left alg bilS hom _)
  (kernel_right alg bilS hom _) rk.
have := factors alg bilS hom onto savesS rs.
rewrite (eq_bigl xpredT) => [|i]; last by rewrite inE.
by move: (\sum_i mu i)%N le => sm; rewrite !mul2n -!addnn => *; arith.
Qed.
