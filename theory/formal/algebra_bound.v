(* claim: lemmax/algebra-bound@a5c9dcc9423c416b, by algebra_bound, algebra_bound_tensor,
     nilpotent_ideal, local_algebra.
   control: algebra_bound_attained.
   Let A be an associative algebra with unit, of finite dimension over any field, and
   let A modulo a nilpotent ideal N be the product of the algebras of k_i x k_i
   matrices over division algebras D_i. Then rank(A) >= 2 dim A - sum_i mu_i with
   mu_i = 1 if k_i <= 2, and mu_i = k_i dim D_i, the dimension of a simple module,
   otherwise. A / N is given by the maps p_i from A to its factors: together they
   are onto, and their common kernel is N. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import two_families tensor bilinear minimal_sets joint_substitution algebras.
From lemmax Require Import factors degree_two.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* what matrices of degree k over a division algebra of dimension d take away *)
Definition lost (k d : nat) := (if k <= 2 then 1 else k * d)%N.

Lemma matrices_of_one (F : fieldType) (D S : vectType F) (mulD : D -> D -> D) (oneD : D)
    (mul : S -> S -> S) (one : S) : algebra mulD oneD -> division mulD oneD ->
  algebra mul one -> matrices_over mulD oneD 1 mul one -> division mul one.
Proof.
move=> [bilD _ _ _] [one0 inv] [bil _ _ unit] [ent [lin onto ent0 entM ent1]].
have entB x y : ent (x - y) ord0 ord0 = ent x ord0 ord0 - ent y ord0 ord0.
  have := lin ord0 ord0 (-1) y x; rewrite !scaleN1r => e.
  by rewrite addrC e addrC.
have inj x y : ent x ord0 ord0 = ent y ord0 ord0 -> x = y.
  move=> e; apply/eqP; rewrite -subr_eq0; apply/eqP; apply: ent0 => i j.
  by rewrite !ord1 entB e subrr.
split=> [|x x0].
  apply: contraNneq one0 => e; have := ent1 ord0 ord0; rewrite eqxx => <-.
  by rewrite e -(subrr one) entB subrr.
have /inv [d [xd dx]] : ent x ord0 ord0 != 0.
  by apply: contraNneq x0 => e; apply/eqP; apply: ent0 => i j; rewrite !ord1.
have [y yE] := onto (fun _ _ => d).
by exists y; split; apply: inj; rewrite entM big_ord1 yE ent1.
Qed.

Lemma saves_lost (F : fieldType) (D S : vectType F) (mulD : D -> D -> D) (oneD : D)
    (mul : S -> S -> S) (one : S) (k : nat) : (0 < k)%N ->
  algebra mulD oneD -> division mulD oneD -> algebra mul one ->
  matrices_over mulD oneD k mul one -> saves mul (lost k (Vector.dim D)).
Proof.
move=> k0 algD div alg mat; rewrite /lost; have [k2|_] := leqP k 2; last first.
  by rewrite -dimvf; apply: (saves_matrices alg k0 algD mat).
case: k k0 k2 mat => [|[|[|k]]] // _ _ mat.
  by apply: (saves_division alg); apply: matrices_of_one mat.
apply: (saves_degree_two alg (matrices_degree_two algD div alg mat)).
have [ent [lin _ _ _ ent1]] := mat; case: div => [one0 _].
apply: contraNneq one0 => e; have := ent1 ord0 ord0; rewrite eqxx e => <-.
by apply/eqP; exact: (linear0 (Linear (lin ord0 ord0))).
Qed.

Theorem algebra_bound (F : fieldType) (A : vectType F) (mul : A -> A -> A) (one : A)
    (T : finType) (S : T -> vectType F) (mulS : forall i, S i -> S i -> S i)
    (oneS : forall i, S i) (D : T -> vectType F) (mulD : forall i, D i -> D i -> D i)
    (oneD : forall i, D i) (k : T -> nat) (p : forall i, 'Hom(A, S i)) (r : nat) :
  algebra mul one ->
  (forall i, algebra (mulD i) (oneD i) /\ division (mulD i) (oneD i)) ->
  (forall i, algebra (mulS i) (oneS i)) ->
  (forall i, (0 < k i)%N /\ matrices_over (mulD i) (oneD i) (k i) (mulS i) (oneS i)) ->
  (forall i, homomorphism mul (mulS i) (p i)) -> onto_product p ->
  nilpotent mul (kernel_of p setT) ->
  bilinear_rank_le mul r ->
  (2 * Vector.dim A <= r + \sum_i lost (k i) (Vector.dim (D i)))%N.
Proof.
move=> alg algD algS mat hom onto nil; rewrite -dimvf.
apply: (product_of_factors (p := p) alg) => // i; first by case: (algS i).
have [[aD dD] [k0 mi]] := (algD i, mat i).
exact: (saves_lost k0 aD dD (algS i) mi).
Qed.

(* in terms of the rank of the tensor of the product, in any basis *)
Corollary algebra_bound_tensor (F : fieldType) (A : vectType F) (mul : A -> A -> A) (one : A)
    (T : finType) (S : T -> vectType F) (mulS : forall i, S i -> S i -> S i)
    (oneS : forall i, S i) (D : T -> vectType F) (mulD : forall i, D i -> D i -> D i)
    (oneD : forall i, D i) (k : T -> nat) (p : forall i, 'Hom(A, S i)) (r : nat) :
  algebra mul one ->
  (forall i, algebra (mulD i) (oneD i) /\ division (mulD i) (oneD i)) ->
  (forall i, algebra (mulS i) (oneS i)) ->
  (forall i, (0 < k i)%N /\ matrices_over (mulD i) (oneD i) (k i) (mulS i) (oneS i)) ->
  (forall i, homomorphism mul (mulS i) (p i)) -> onto_product p ->
  nilpotent mul (kernel_of p setT) ->
  rank_is (coordinates mul) r ->
  (2 * Vector.dim A <= r + \sum_i lost (k i) (Vector.dim (D i)))%N.
Proof.
move=> alg algD algS mat hom onto nil [rk _]; have [bil _ _ _] := alg.
apply: (algebra_bound alg algD algS mat hom onto nil).
exact: (proj2 (rank_of_coordinates bil r)).
Qed.

(* a nilpotent ideal, the kernel of a homomorphism, takes twice its dimension *)
Theorem nilpotent_ideal (F : fieldType) (A B : vectType F) (mul : A -> A -> A) (one : A)
    (mulB : B -> B -> B) (p : 'Hom(A, B)) (r : nat) :
  algebra mul one -> homomorphism mul mulB p -> limg p = fullv -> nilpotent mul (lker p) ->
  bilinear_rank_le mul r ->
  exists2 s, bilinear_rank_le mulB s & (2 * \dim (lker p) + s <= r)%N.
Proof.
move=> alg hom ip nil rk; have [bil _ _ _] := alg.
have lift b : p (p^-1%VF b) = b by rewrite limg_lfunVK // ip memvf.
have bilB : bilinear mulB.
  split=> z c x y; rewrite -[z]lift -[x]lift -[y]lift -linearP -!hom.
    by rewrite (biDl bil) (biZl bil) linearP.
  by rewrite (biDr bil) (biZr bil) linearP.
have left : (products mul (lker p) fullv <= lker p)%VS.
  apply/(productsP bil) => a b; rewrite !memv_ker hom => /eqP -> _.
  by rewrite (bi0l bilB).
have right : (products mul fullv (lker p) <= lker p)%VS.
  apply/(productsP bil) => a b _; rewrite !memv_ker hom => /eqP ->.
  by rewrite (bi0r bilB).
have [s [f [g [w comp]]] le] := nilpotent_rank_mod alg nil left right rk.
exists s => //; exists (fun i => f i \o p^-1)%VF, (fun i => g i \o p^-1)%VF, (fun i => p (w i)).
move=> a b; have := comp (p^-1%VF a) (p^-1%VF b).
rewrite memv_ker linearB /= subr_eq0 hom !lift linear_sum => /eqP ->.
by apply: eq_bigr => i _; rewrite linearZ !comp_lfunE.
Qed.

(* an algebra that is a division algebra modulo a nilpotent ideal *)
Theorem local_algebra (F : fieldType) (A D : vectType F) (mul : A -> A -> A) (one : A)
    (mulD : D -> D -> D) (oneD : D) (p : 'Hom(A, D)) (r : nat) :
  algebra mul one -> algebra mulD oneD -> division mulD oneD ->
  homomorphism mul mulD p -> limg p = fullv -> nilpotent mul (lker p) ->
  bilinear_rank_le mul r -> (2 * Vector.dim A <= r + 1)%N.
Proof.
move=> alg algD div hom ip nil rk; rewrite -dimvf.
have := @product_of_factors F unit_finType A mul one (fun=> D) (fun=> mulD) (fun=> p)
  (fun=> 1%N) r.
rewrite big_const card_unit /= addn0; apply=> //.
- by case: algD.
- move=> [] d; exists (p^-1%VF d); last by case.
  by rewrite limg_lfunVK // ip memvf.
- rewrite (_ : kernel_of _ _ = lker p) //; apply/vspaceP => a.
  apply/kernelP/idP => [/(_ tt)|]; first by rewrite inE memv_ker => /(_ isT) /eqP.
  by rewrite memv_ker => /eqP a0 [].
- by move=> _; exact: (saves_division algD div).
Qed.

(* n copies of a field: the bound is n, and n products are enough *)
Theorem algebra_bound_attained (F : fieldType) (n : nat) :
  let A := matrix_vectType F 1 n in
  let mul : A -> A -> A := fun x y => \row_i (x 0 i * y 0 i) in
  bilinear_rank_is mul n /\ (2 * Vector.dim A = n + \sum_(i < n) lost 1 1)%N.
Proof.
move=> A mul.
have coord1 (x : A) : x = \sum_i x 0 i *: (delta_mx 0 i : A) by rewrite {1}[x]row_sum_delta.
have formP i : linear (fun x : A => x 0 i : regular_vectType F) by move=> c x y; rewrite !mxE.
pose form i := linfun (Linear (formP i)).
have formE i x : form i x = x 0 i by rewrite lfunE.
have le r : bilinear_rank_le mul r -> (2 * Vector.dim A <= r + \sum_(i < n) lost 1 1)%N.
  pose D := regular_vectType F; pose mulD : D -> D -> D := fun x y => x * y.
  have algD : algebra mulD 1.
    split; [|by move=> x y z; rewrite /mulD mulrA|exact: mul1r|exact: mulr1].
    by split=> z c x y; rewrite /mulD; [rewrite mulrDl scalerAl|rewrite mulrDr scalerAr].
  have divD : division mulD 1.
    split=> [|x x0]; first exact: oner_neq0.
    by exists x^-1; rewrite /mulD mulfV // mulVf.
  have alg : algebra mul (const_mx 1).
    split; last 3 first.
    - by move=> x y z; apply/rowP => i; rewrite !mxE mulrA.
    - by move=> x; apply/rowP => i; rewrite !mxE mul1r.
    - by move=> x; apply/rowP => i; rewrite !mxE mulr1.
    split=> z c x y; apply/rowP => i; rewrite !mxE; first by rewrite mulrDl mulrA.
    by rewrite mulrDr mulrCA.
  have := @algebra_bound F A mul (const_mx 1) (ordinal_finType n) (fun=> D) (fun=> mulD)
    (fun=> 1) (fun=> D) (fun=> mulD) (fun=> 1) (fun=> 1%N) form r.
  apply=> // [_|i|i s|].
  - split=> //; exists (fun x _ _ => x); split=> //.
    + by move=> M; exists (M 0 0) => i j; rewrite !ord1.
    + by move=> x /(_ 0 0).
    + by move=> x y i j; rewrite big_ord1.
    + by move=> i j; rewrite !ord1 eqxx.
  - by move=> x y; rewrite !formE !mxE.
  - exists (s *: delta_mx 0 i); first by rewrite formE !mxE !eqxx mulr1.
    by move=> j ji; rewrite formE !mxE (negPf ji) mulr0.
  - exists 0%N; apply/vspaceP => x; rewrite memv0; apply/kernelP/eqP => [x0|-> i _].
      by apply/rowP => i; rewrite mxE -formE x0 ?inE.
    by rewrite linear0.
have dA : Vector.dim A = n by rewrite /Vector.dim /= mul1n.
have sum1 : (\sum_(i < n) lost 1 1 = n)%N by rewrite sum1_card card_ord.
split; last by rewrite dA sum1 mul2n addnn.
split.
  exists form, form, (fun i => delta_mx 0 i) => x y; rewrite [LHS]coord1.
  by apply: eq_bigr => i _; rewrite !formE mxE.
by move=> s /le; rewrite dA sum1 mul2n -addnn leq_add2r.
Qed.

Print Assumptions algebra_bound.
Print Assumptions algebra_bound_tensor.
Print Assumptions nilpotent_ideal.
Print Assumptions local_algebra.
Print Assumptions algebra_bound_attained.
