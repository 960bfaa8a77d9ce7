(* Bilinear maps between spaces of finite dimension over a field, and their
   rank: bilinear_rank_le phi r says that phi(a,b) is a sum of r products
   f_i(a) g_i(b) w_i with linear forms f_i, g_i and vectors w_i. This is the rank
   of the tensor of coordinates in the sense of tensor.v. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* linear forms *)
Notation "''Form' ( A )" := 'Hom(A, regular_vectType _) (at level 8, format "''Form' ( A )").

Section Definitions.
Variable F : fieldType.

Definition bilinear (A B C : vectType F) (phi : A -> B -> C) :=
  (forall b, linear (fun a => phi a b)) /\ (forall a, linear (phi a)).

Definition bilinear_rank_le (A B C : vectType F) (phi : A -> B -> C) (r : nat) :=
  exists (f : 'I_r -> 'Form(A)) (g : 'I_r -> 'Form(B)) (w : 'I_r -> C),
    forall a b, phi a b = \sum_(i < r) (f i a * g i b) *: w i.

Definition bilinear_rank_is (A B C : vectType F) (phi : A -> B -> C) (r : nat) :=
  bilinear_rank_le phi r /\ forall s, bilinear_rank_le phi s -> (r <= s)%N.

(* the span of phi(U, V) *)
Definition products (A B C : vectType F) (phi : A -> B -> C)
    (U : {vspace A}) (V : {vspace B}) : {vspace C} :=
  <<allpairs phi (vbasis U) (vbasis V)>>%VS.

(* phi(U, B) and phi(A, V) lie in the span of phi(U, V) *)
Definition closed_pair (A B C : vectType F) (phi : A -> B -> C)
    (U : {vspace A}) (V : {vspace B}) :=
  (products phi U fullv <= products phi U V)%VS /\
  (products phi fullv V <= products phi U V)%VS.

(* A' is the quotient A / U, by the projection p *)
Definition quotient_by (A A' : vectType F) (p : 'Hom(A, A')) (U : {vspace A}) :=
  lker p = U /\ limg p = fullv.

(* psi is the map A / U x B / V -> C / (phi(U, B) + phi(A, V)) that phi induces *)
Definition induced (A B C A' B' C' : vectType F) (phi : A -> B -> C)
    (U : {vspace A}) (V : {vspace B}) (psi : A' -> B' -> C') :=
  exists (p : 'Hom(A, A')) (q : 'Hom(B, B')) (s : 'Hom(C, C')),
    [/\ quotient_by p U, quotient_by q V,
        quotient_by s (products phi U fullv + products phi fullv V)%VS
      & forall a b, psi (p a) (q b) = s (phi a b)].

(* the tensor of a bilinear map in bases of the three spaces *)
Definition coordinates (A B C : vectType F) (phi : A -> B -> C) :
    tensor F (ordinal_finType (\dim {:A})) (ordinal_finType (\dim {:B}))
             (ordinal_finType (\dim {:C})) :=
  fun i j k => coord (vbasis {:C}) k (phi (vbasis {:A})`_i (vbasis {:B})`_j).
End Definitions.

(* a function that is linear, as a vector of 'Hom *)
Lemma hom_of (F : fieldType) (A B : vectType F) (h : A -> B) :
  linear h -> exists k : 'Hom(A, B), k =1 h.
Proof.
by move=> lin; exists (linfun (Linear lin)) => a; rewrite lfunE.
Qed.

Section Rules.
Variables (F : fieldType) (A B C : vectType F) (phi : A -> B -> C).
Hypothesis bil : bilinear phi.
Implicit Types (U : {vspace A}) (V : {vspace B}) (W : {vspace C}).

Lemma biDl a a' b : phi (a + a') b = phi a b + phi a' b.
Proof. by have := bil.1 b 1 a a'; rewrite !scale1r. Qed.
Lemma biDr a b b' : phi a (b + b') = phi a b + phi a b'.
Proof. by have := bil.2 a 1 b b'; rewrite !scale1r. Qed.
Lemma bi0l b : phi 0 b = 0.
Proof. by apply: (addrI (phi 0 b)); rewrite addr0 -biDl addr0. Qed.
Lemma bi0r a : phi a 0 = 0.
Proof. by apply: (addrI (phi a 0)); rewrite addr0 -biDr addr0. Qed.
Lemma biZl c a b : phi (c *: a) b = c *: phi a b.
Proof. by have := bil.1 b c a 0; rewrite bi0l !addr0. Qed.
Lemma biZr a c b : phi a (c *: b) = c *: phi a b.
Proof. by have := bil.2 a c b 0; rewrite bi0r !addr0. Qed.
Lemma biBl a a' b : phi (a - a') b = phi a b - phi a' b.
Proof. by rewrite biDl -scaleN1r biZl scaleN1r. Qed.
Lemma biBr a b b' : phi a (b - b') = phi a b - phi a b'.
Proof. by rewrite biDr -scaleN1r biZr scaleN1r. Qed.
Lemma bi_suml (I : finType) (P : pred I) (a : I -> A) b :
  phi (\sum_(i | P i) a i) b = \sum_(i | P i) phi (a i) b.
Proof. exact: (big_morph (phi^~ b) (fun a a' => biDl a a' b) (bi0l b)). Qed.
Lemma bi_sumr (I : finType) (P : pred I) a (b : I -> B) :
  phi a (\sum_(i | P i) b i) = \sum_(i | P i) phi a (b i).
Proof. exact: (big_morph (phi a) (biDr a) (bi0r a)). Qed.

Lemma products_mem U V a b : a \in U -> b \in V -> phi a b \in products phi U V.
Proof.
move=> /coord_vbasis -> /coord_vbasis ->; rewrite bi_suml memv_suml // => i _.
rewrite bi_sumr memv_suml // => j _; rewrite biZl biZr !memvZ // memv_span //.
by apply/allpairsP; exists ((vbasis U)`_i, (vbasis V)`_j); rewrite !mem_nth ?size_tuple.
Qed.

Lemma productsP U V W :
  reflect (forall a b, a \in U -> b \in V -> phi a b \in W) (products phi U V <= W)%VS.
Proof.
apply: (iffP idP) => [/subvP sub a b aU bV|sub]; first exact/sub/products_mem.
by apply/span_subvP => c /allpairsP [[a b] /= [aU bV ->]]; apply: sub; apply: vbasis_mem.
Qed.

(* the rank is the rank of the tensor of coordinates *)
Lemma rank_of_coordinates r : bilinear_rank_le phi r <-> rank_le (coordinates phi) r.
Proof.
split=> [[f [g [w phiE]]]|[f [g [w TE]]]].
  exists (fun i (k : 'I_(\dim {:A})) => f i (vbasis {:A})`_k).
  exists (fun i (k : 'I_(\dim {:B})) => g i (vbasis {:B})`_k).
  exists (fun i k => coord (vbasis {:C}) k (w i)) => i j k; rewrite /coordinates phiE linear_sum.
  by apply: eq_bigr => l _; rewrite linearZ.
pose form (X : vectType F) (h : 'I_r -> 'I_(\dim {:X}) -> F) i (x : X) : F^o :=
  \sum_j h i j * coord (vbasis {:X}) j x.
have lin X h i : linear (@form X h i).
  move=> c x y; rewrite /form scaler_sumr -big_split; apply: eq_bigr => j _ /=.
  by rewrite linearP /= mulrDr mulrCA.
pose hom X h i := linfun (Linear (@lin X h i)).
exists (hom A f), (hom B g), (fun i => \sum_k w i k *: (vbasis {:C})`_k) => a b.
have homE X h i x : hom X h i x = form X h i x by rewrite lfunE.
rewrite {1}(coord_vbasis (memvf a)) {1}(coord_vbasis (memvf b)) bi_suml.
under eq_bigr => i _ do rewrite bi_sumr.
have e (i : 'I_(\dim {:A})) (j : 'I_(\dim {:B})) : phi (vbasis {:A})`_i (vbasis {:B})`_j =
    \sum_l (f l i * g l j) *: \sum_k w l k *: (vbasis {:C})`_k.
  rewrite (coord_vbasis (memvf (phi _ _))).
  under [RHS]eq_bigr => l _ do rewrite scaler_sumr.
  rewrite exchange_big; apply: eq_bigr => k _ /=.
  rewrite -[coord _ _ _]/(coordinates phi i j k) TE scaler_suml.
  by apply: eq_bigr => l _; rewrite scalerA.
under eq_bigr => i _ do under eq_bigr => j _ do rewrite biZl biZr e 2!scaler_sumr.
under eq_bigr => i _ do rewrite exchange_big /=.
rewrite exchange_big; apply: eq_bigr => l _ /=; rewrite !homE /form mulr_suml scaler_suml.
apply: eq_bigr => i _; rewrite mulr_sumr scaler_suml; apply: eq_bigr => j _.
by rewrite !scalerA; congr (_ *: _); rewrite [LHS]mulrACA; congr (_ * _); apply: mulrC.
Qed.
End Rules.

(* The induced map exists: complements are models of the quotients. *)
Lemma quotient_exists (F : fieldType) (A : vectType F) (U : {vspace A}) :
  exists (A' : vectType F) (p : 'Hom(A, A')), quotient_by p U.
Proof.
exists (subvs_vectType (U^C)%VS).
exists (linfun (@vsproj _ _ (U^C)%VS) \o (\1 - projv U))%VF; split; apply/vspaceP => a.
  rewrite memv_ker comp_lfunE lfunE /= add_lfunE opp_lfunE id_lfunE.
  rewrite -(inj_eq (@subvs_inj _ _ (U^C)%VS)) vsprojK ?memv_projC // raddf0 subr_eq0.
  by apply/eqP/idP => [->|aU]; [exact: memv_proj | rewrite projv_id].
rewrite memvf; apply/memv_imgP; exists (vsval a); rewrite ?memvf //.
rewrite comp_lfunE lfunE /= add_lfunE opp_lfunE id_lfunE.
rewrite [X in _ - X](_ : _ = 0) ?subr0 ?vsvalK //; apply/eqP.
by rewrite -memv_ker lker_proj subvsP.
Qed.

Lemma induced_exists (F : fieldType) (A B C : vectType F) (phi : A -> B -> C)
    (U : {vspace A}) (V : {vspace B}) : bilinear phi ->
  exists (A' B' C' : vectType F) (psi : A' -> B' -> C'), bilinear psi /\ induced phi U V psi.
Proof.
move=> bil; have [A' [p [kp ip]]] := quotient_exists U.
have [B' [q [kq iq]]] := quotient_exists V.
have [C' [s [ks is_]]] := quotient_exists (products phi U fullv + products phi fullv V)%VS.
exists A', B', C', (fun a b => s (phi (p^-1 a)%VF (q^-1 b)%VF)); split.
  by split=> c k x y; rewrite linearP /= ?(biDl bil, biDr bil) ?(biZl bil, biZr bil) linearP.
exists p, q, s; split=> // a b; apply/eqP; rewrite -subr_eq0 -linearB -memv_ker ks.
set a' := (p^-1 _)%VF; set b' := (q^-1 _)%VF.
have aU : a' - a \in U by rewrite -kp memv_ker linearB /= limg_lfunVK ?subrr // ip memvf.
have bV : b' - b \in V by rewrite -kq memv_ker linearB /= limg_lfunVK ?subrr // iq memvf.
have -> : phi a' b' - phi a b = phi (a' - a) b' + phi a (b' - b).
  by rewrite (biBl bil) (biBr bil) addrA subrK.
by apply: memv_add; apply: products_mem; rewrite ?memvf.
Qed.

Lemma induced_bilinear (F : fieldType) (A B C A' B' C' : vectType F) (phi : A -> B -> C)
    (U : {vspace A}) (V : {vspace B}) (psi : A' -> B' -> C') :
  bilinear phi -> induced phi U V psi -> bilinear psi.
Proof.
move=> bil [p [q [s [[_ ip] [_ iq] _ psiE]]]].
have lift_p x : x = p (p^-1%VF x) by rewrite limg_lfunVK // ip memvf.
have lift_q x : x = q (q^-1%VF x) by rewrite limg_lfunVK // iq memvf.
split=> z c x y.
  rewrite (lift_q z) (lift_p x) (lift_p y) -linearP !psiE.
  by rewrite (biDl bil) (biZl bil) linearP.
by rewrite (lift_p z) (lift_q x) (lift_q y) -linearP !psiE (biDr bil) (biZr bil) linearP.
Qed.
