(* Computations of a bilinear map: sets of products that meet two subspaces in
   more dimensions than they have elements. The steps are those of the page of
   lemmax/algebra-bound: common zeros of linear forms, minimal sets of an excess,
   and what is left of a computation when some forms are made zero. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import two_families tensor bilinear.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Zeros.
Variables (F : fieldType) (A : vectType F) (I : finType) (f : I -> 'Form(A)).
Implicit Types (U : {vspace A}) (S Q : {set I}).

(* the common zeros in U of the forms with indices in S *)
Definition zeros U S : {vspace A} := (U :&: \bigcap_(i in S) lker (f i))%VS.

Lemma zerosP U S a : reflect (a \in U /\ forall i, i \in S -> f i a = 0) (a \in zeros U S).
Proof.
rewrite /zeros memv_cap; apply: (iffP andP) => -[aU sub]; split=> //.
  move=> i iS; apply/eqP; rewrite -memv_ker memvE; apply: subv_trans sub _.
  exact: (@bigcapv_inf _ _ _ i _ _ _ iS (subvv _)).
by rewrite memvE; apply/subv_bigcapP => i iS; rewrite -memvE memv_ker sub.
Qed.

Lemma zeros_sub U S : (zeros U S <= U)%VS. Proof. exact: capvSl. Qed.

Lemma zeros0 U : zeros U set0 = U.
Proof. by apply/vspaceP => a; apply/zerosP/idP => [[]|aU] //; split=> // i; rewrite inE. Qed.

Lemma zeros_zeros U S Q : zeros (zeros U S) Q = zeros U (S :|: Q).
Proof.
apply/vspaceP => a; apply/zerosP/zerosP => [[/zerosP [aU aS] aQ]|[aU aSQ]].
  by split=> // i; rewrite inE => /orP [/aS|/aQ].
split=> [|i iQ]; last by rewrite aSQ // inE iQ orbT.
by apply/zerosP; split=> // i iS; rewrite aSQ // inE iS.
Qed.

Lemma zeros_anti U : antitone (fun S => \dim (zeros U S)).
Proof.
move=> S S' /subsetP sub; apply/dimvS/subvP => a /zerosP [aU aS].
by apply/zerosP; split=> // i /sub; apply: aS.
Qed.

Lemma zeros_super U : supermodular (fun S => \dim (zeros U S)).
Proof.
move=> S S'; rewrite -dimv_sum_cap addnC; apply: leq_add; apply/dimvS.
  apply/subvP => a; rewrite memv_cap => /andP [/zerosP [aU aS] /zerosP [_ aS']].
  by apply/zerosP; split=> // i; rewrite inE => /orP [/aS|/aS'].
rewrite subv_add; apply/andP; split; apply/subvP => a /zerosP [aU aS]; apply/zerosP.
  by split=> // i; rewrite inE => /andP [/aS].
by split=> // i; rewrite inE => /andP [_ /aS].
Qed.

Lemma dim_form_le (U : {vspace A}) (h : 'Form(A)) : (\dim U <= (\dim (U :&: lker h)).+1)%N.
Proof.
rewrite -(limg_ker_dim h) -addn1 leq_add2l; apply: leq_trans (dimvS (subvf _)) _.
by rewrite dimvf.
Qed.

Lemma zeros_ones U : by_ones (fun S => \dim (zeros U S)).
Proof.
move=> x S; apply: leq_trans (dim_form_le (zeros U S) (f x)) _; rewrite ltnS; apply/dimvS.
apply/subvP => a; rewrite memv_cap memv_ker => /andP [/zerosP [aU aS] /eqP ax].
by apply/zerosP; split=> // i; rewrite !inE => /orP [/eqP ->|/aS].
Qed.

(* the matrix of the forms on U has the rank that their zeros leave *)
Definition forms_on U S : 'M[F]_(\dim U, #|S|) :=
  \matrix_(k, j) f (enum_val j) (vbasis U)`_k.

Lemma rank_of_forms U S : (\dim U <= \rank (forms_on U S) + \dim (zeros U S))%N.
Proof.
set M := forms_on U S; pose K := row_base (kermx M).
pose u := [tuple \sum_k K i k *: (vbasis U)`_k | i < \rank (kermx M)].
have K0 : K *m M = 0 by apply/sub_kermxP; rewrite eq_row_base.
have uZ x : x \in u -> x \in zeros U S.
  case/mapP => i _ ->; apply/zerosP; split=> [|j jS].
    by apply: memv_suml => k _; rewrite memvZ // vbasis_mem // mem_nth // size_tuple.
  have /matrixP /(_ i (enum_rank_in jS j)) := K0; rewrite [RHS]mxE => <-.
  rewrite linear_sum mxE; apply: eq_bigr => k _.
  by rewrite linearZ /= [M _ _]mxE enum_rankK_in.
have uF : free u.
  apply/freeP => c c0; have /row_free_inj inj := row_base_free (kermx M).
  suff /rowP c0' : \row_i c i = 0 by move=> i; have := c0' i; rewrite !mxE.
  apply: inj; rewrite mul0mx; apply/rowP => k; rewrite !mxE.
  pose d k := \sum_i c i * K i k; rewrite (_ : \sum_j _ = d k); last first.
    by apply: eq_bigr => j _; rewrite mxE.
  move: k; have /freeP := basis_free (vbasisP U); apply.
  rewrite -[RHS]c0; under [RHS]eq_bigr => i _ do rewrite (nth_map i) ?size_enum_ord //.
  under [RHS]eq_bigr => i _ do rewrite nth_ord_enum scaler_sumr.
  rewrite exchange_big; apply: eq_bigr => k _ /=; rewrite scaler_suml.
  by apply: eq_bigr => i _; rewrite scalerA.
have dimK : (\rank (kermx M) <= \dim (zeros U S))%N.
  move: uF; rewrite /free size_tuple => /eqP <-; apply: dimvS; exact/span_subvP.
by rewrite -leq_subLR -mxrank_ker.
Qed.
End Zeros.

Section Orthogonal.
Variables (F : fieldType) (A B : vectType F) (I : finType).
Variables (f : I -> 'Form(A)) (g : I -> 'Form(B)).

(* orthogonal families of values leave room for one another *)
Lemma orthogonal (U : {vspace A}) (V : {vspace B}) (Q : {set I}) (c : I -> F) :
  (forall i, i \in Q -> c i != 0) ->
  (forall u v, u \in U -> v \in V -> \sum_(i in Q) c i * (f i u * g i v) = 0) ->
  (\dim U + \dim V <= #|Q| + (\dim (zeros f U Q) + \dim (zeros g V Q)))%N.
Proof.
move=> c0 orth; pose D := diag_mx (\row_(j < #|Q|) c (enum_val j)).
have Du : D \in unitmx.
  rewrite unitmxE det_diag unitfE; apply/prodf_neq0 => j _; rewrite mxE c0 //.
  exact: enum_valP.
have prod0 : forms_on f U Q *m (D *m (forms_on g V Q)^T) = 0.
  apply/matrixP => k l; rewrite mxE [RHS]mxE -[RHS](orth (vbasis U)`_k (vbasis V)`_l).
  - rewrite [RHS]big_enum_val /=; apply: eq_bigr => j _.
    by rewrite mul_diag_mx !mxE mulrCA.
  - by rewrite vbasis_mem // mem_nth // size_tuple.
  - by rewrite vbasis_mem // mem_nth // size_tuple.
have := mulmx0_rank_max prod0; rewrite eqmxMfull ?row_full_unit // mxrank_tr.
have := rank_of_forms f U Q; have := rank_of_forms g V Q.
move: (\rank _) (\rank _) => ? ?; arith.
Qed.

(* a form that vanishes on a subspace but not at a vector outside it *)
Lemma separate (W : {vspace A}) a : a \notin W ->
  exists2 l : 'Form(A), (forall x, x \in W -> l x = 0) & l a != 0.
Proof.
move=> aW; have [A' [p [kp _]]] := quotient_exists W.
have [i ci] : exists i, coord (vbasis {:A'}) i (p a) != 0.
  apply/existsP; apply: contraR aW => /existsPn all0.
  rewrite -kp memv_ker (coord_vbasis (memvf (p a))) big1 // => i _.
  by have := all0 i; rewrite negbK => /eqP ->; rewrite scale0r.
have [k kE] := @hom_of _ _ (regular_vectType F) (coord (vbasis {:A'}) i)
  (@coord_is_scalar _ _ _ _ _).
exists (k \o p)%VF => [x|]; rewrite comp_lfunE kE //.
by rewrite -kp memv_ker => /eqP ->; rewrite linear0.
Qed.
End Orthogonal.

Section Minimal.
Variables (F : fieldType) (A B C : vectType F) (phi : A -> B -> C).
Hypothesis bil : bilinear phi.
Variables (I : finType) (f : I -> 'Form(A)) (g : I -> 'Form(B)) (w : I -> C).
Hypothesis phiE : forall a b, phi a b = \sum_i (f i a * g i b) *: w i.
Variables (U : {vspace A}) (V : {vspace B}) (m : nat).
Implicit Types (T Q : {set I}).

(* the vectors of U, of V, at which only the forms with indices in T are not zero *)
Local Notation left T := (zeros f U (~: T)).
Local Notation right T := (zeros g V (~: T)).

Definition excess T := (#|T| + m < \dim (left T) + \dim (right T))%N.

Definition minimal T := excess T /\ forall T', T' \proper T -> ~~ excess T'.

Lemma minimal_exists T : excess T -> exists2 T', minimal T' & T' \subset T.
Proof.
move=> eT; have [|T' /andP [sT' eT'] least] :=
    @arg_minnP _ T (fun S : {set I} => (S \subset T) && excess S) (fun S : {set I} => #|S|).
  by rewrite subxx.
exists T' => //; split=> // S ST'; apply: contraL (proper_card ST') => eS; rewrite -leqNgt.
by apply: least; rewrite eS (subset_trans (proper_sub ST')).
Qed.

(* with u in U_T and v in V_T only the products with indices in T are there *)
Lemma left_mul T u b : u \in left T -> phi u b = \sum_(i in T) (f i u * g i b) *: w i.
Proof.
case/zerosP => _ u0; rewrite phiE (bigID (mem T)) /= [X in _ + X]big1 ?addr0 // => i iT.
by rewrite u0 ?inE // mul0r scale0r.
Qed.

Lemma right_mul T a v : v \in right T -> phi a v = \sum_(i in T) (f i a * g i v) *: w i.
Proof.
case/zerosP => _ v0; rewrite phiE (bigID (mem T)) /= [X in _ + X]big1 ?addr0 // => i iT.
by rewrite v0 ?inE // mulr0 scale0r.
Qed.

Section OfMinimal.
Variable T : {set I}.
Hypothesis minT : minimal T.

Lemma minimal_ranks Q : Q \subset T -> Q != set0 ->
  (#|Q| + (\dim (zeros f (left T) Q) + \dim (zeros g (right T) Q))
     < \dim (left T) + \dim (right T))%N.
Proof.
move=> QT Q0; have [eT least] := minT.
have eq S : ~: S :|: Q = ~: (S :\: Q) by rewrite setCD setUC.
have /least : T :\: Q \proper T.
  rewrite properEneq subsetDl andbT; apply: contraNneq Q0 => TQ.
  apply/eqP/setP => i; rewrite inE; apply/negP => iQ.
  by have := subsetP QT i iQ; rewrite -TQ inE iQ.
rewrite !zeros_zeros !eq /excess -leqNgt; have := cardsID Q T.
by move: eT; rewrite /excess (setIidPr QT) => ? ?; arith.
Qed.

Lemma minimal_span i : i \in T -> w i \in products phi (left T) (right T).
Proof.
move=> iT; apply: contraT => /separate [l l0 li].
pose Q := [set j in T | l (w j) != 0].
have QT : Q \subset T by apply/subsetP => j; rewrite inE => /andP [].
have iQ : i \in Q by rewrite inE iT.
have /minimal_ranks : Q \subset T by []; have -> : Q != set0 by apply/set0Pn; exists i.
move/(_ isT); rewrite ltnNge => /negP [].
apply: (@orthogonal _ _ _ _ f g _ _ Q (fun j => l (w j))) => [j|u v uT vT].
  by rewrite inE => /andP [].
have lE : l (phi u v) = \sum_(i in T) l (w i) * (f i u * g i v) :> F.
  by rewrite (left_mul v uT) linear_sum; apply: eq_bigr => j _; rewrite linearZ; apply: mulrC.
rewrite -[RHS](l0 _ (products_mem bil uT vT)) [RHS]lE.
rewrite [RHS](bigID (fun j => l (w j) != 0)) /= [X in _ = _ + X]big1 ?addr0.
  by apply: eq_bigl => j; rewrite inE.
by move=> j /andP [_]; rewrite negbK => /eqP ->; rewrite mul0r.
Qed.

(* so the pair of U_T and V_T is closed *)
Lemma minimal_closed : closed_pair phi (left T) (right T).
Proof.
split; apply/(productsP bil) => a b aU bV.
  by rewrite (left_mul b aU) memv_suml // => i iT; rewrite memvZ ?minimal_span.
by rewrite (right_mul a bV) memv_suml // => i iT; rewrite memvZ ?minimal_span.
Qed.
End OfMinimal.

(* disjoint sets of independent forms, but for m of them *)
Lemma independent_forms : (forall T, ~~ excess T) ->
  exists J1 J2 : {set I}, [/\ [disjoint J1 & J2], (#|J1| + \dim (zeros f U J1) <= \dim U)%N,
    (#|J2| + \dim (zeros g V J2) <= \dim V)%N & (\dim U + \dim V <= #|J1| + #|J2| + m)%N].
Proof.
move=> none; have [|J1 [J2 [disj c1 c2 c]]] := @union_of_two _ _ _ m
  (zeros_super f U) (zeros_anti f U) (zeros_ones f U)
  (zeros_super g V) (zeros_anti g V) (zeros_ones g V).
  by move=> S; have := none (~: S); rewrite /excess setCK -leqNgt.
by exists J1, J2; move: c1 c2 c; rewrite !zeros0; split.
Qed.
End Minimal.

Section Substitution.
Variables (F : fieldType) (A B C : vectType F) (phi : A -> B -> C).
Hypothesis bil : bilinear phi.

(* phi(a,b) is a sum of r products up to elements of P *)
Definition rank_mod (P : {vspace C}) r :=
  exists (f : 'I_r -> 'Form(A)) (g : 'I_r -> 'Form(B)) (w : 'I_r -> C),
    forall a b, phi a b - \sum_i (f i a * g i b) *: w i \in P.

Lemma rank_mod_fin (I : finType) (f : I -> 'Form(A)) (g : I -> 'Form(B)) (w : I -> C)
    (P : {vspace C}) (S : {set I}) :
  (forall a b, phi a b - \sum_(i in S) (f i a * g i b) *: w i \in P) -> rank_mod P #|S|.
Proof.
move=> comp; exists (fun j => f (enum_val j)), (fun j => g (enum_val j)).
exists (fun j => w (enum_val j)) => a b; have := comp a b.
by rewrite big_enum_val.
Qed.

(* every vector is, modulo U, one at which the forms with indices in J vanish *)
Lemma representatives (X : vectType F) (I : finType) (f : I -> 'Form(X)) (U : {vspace X})
    (J : {set I}) :
  (#|J| + \dim (zeros f U J) <= \dim U)%N ->
  exists h : 'End(X), forall x, (forall i, i \in J -> f i (h x) = 0) /\ x - h x \in U.
Proof.
move=> indep; pose K := zeros f fullv J.
have full : (U + K)%VS = fullv.
  apply/eqP; rewrite eqEdim subvf /=; have := dimv_sum_cap U K.
  have -> : (U :&: K)%VS = zeros f U J.
    apply/vspaceP => x; rewrite memv_cap; apply/andP/zerosP => [[xU /zerosP [_ x0]]|[xU x0]] //.
    by split=> //; apply/zerosP; rewrite memvf.
  by have := few_more J (zeros_ones f fullv); rewrite zeros0 -/K => ? ?; arith.
exists (addv_pi2 U K) => x; split=> [i iJ|].
  by have /zerosP [_] := memv_pi2 U K x; apply.
have e : addv_pi1 U K x + addv_pi2 U K x = x by apply: addv_pi1_pi2; rewrite full memvf.
have -> : x - addv_pi2 U K x = addv_pi1 U K x by apply/eqP; rewrite subr_eq e.
exact: memv_pi1.
Qed.

Lemma substitution (I : finType) (f : I -> 'Form(A)) (g : I -> 'Form(B)) (w : I -> C)
    (P P' : {vspace C}) (U : {vspace A}) (V : {vspace B}) (J1 J2 : {set I}) :
  (forall a b, phi a b - \sum_i (f i a * g i b) *: w i \in P) ->
  (P <= P')%VS -> (products phi U fullv <= P')%VS -> (products phi fullv V <= P')%VS ->
  (#|J1| + \dim (zeros f U J1) <= \dim U)%N -> (#|J2| + \dim (zeros g V J2) <= \dim V)%N ->
  rank_mod P' #|~: (J1 :|: J2)|.
Proof.
move=> comp PP' UB AV /representatives [h hP] /representatives [k kP].
apply: (@rank_mod_fin _ (fun i => f i \o h)%VF (fun i => g i \o k)%VF w) => a b.
have [fa aU] := hP a; have [gb bV] := kP b.
have -> : phi a b = phi (h a) (k b) + (phi (a - h a) b + phi (h a) (b - k b)).
  by rewrite (biBl bil) (biBr bil) (addrA (_ - _)) subrK addrC subrK.
rewrite addrAC; apply: memvD; last first.
  by apply: memvD; [apply: (subvP UB)|apply: (subvP AV)];
    apply: (products_mem bil); rewrite ?memvf.
apply: (subvP PP'); have := comp (h a) (k b).
rewrite [X in _ - X](bigID (mem (~: (J1 :|: J2)))) /= [X in _ - (_ + X)]big1 ?addr0.
  by under eq_bigr => i _ do rewrite -!comp_lfunE.
move=> i; rewrite !inE negbK => /orP [iJ|iJ]; first by rewrite fa // mul0r scale0r.
by rewrite gb // mulr0 scale0r.
Qed.
End Substitution.
