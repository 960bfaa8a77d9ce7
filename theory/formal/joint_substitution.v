(* claim: lemmax/joint-substitution@90acc027248c8d35, by joint_substitution,
     joint_substitution_rank, joint_substitution_tensor.
   control: joint_substitution_sharp, union_of_two_families.
   Let phi : A x B -> C be bilinear over a field, U a subspace of A and V one of B.
   If no U' in U and V' in V, not both zero, have phi(U', B) and phi(A, V') in the
   span of phi(U', V'), then
     rank(phi) >= dim U + dim V + rank(psi),
   where psi is the map A / U x B / V -> C / (phi(U, B) + phi(A, V)) that phi induces:
   it exists (induced_exists in bilinear.v), and ranks are those of the tensors of
   coordinates. The union of two families of vectors, from which the theorem
   follows with the closed pair of a minimal set, is proved beside it. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import two_families tensor bilinear minimal_sets.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* for every set S of indices k is at most the ranks of both families on S, and
   the number of the other indices: then disjoint sets of indices, independent in
   the first family and in the second, have k elements together *)
Theorem union_of_two_families (F : fieldType) (A B : vectType F) (T : finType)
    (a : T -> A) (b : T -> B) (k : nat) :
  (forall S : {set T},
     k <= \dim <<[seq a i | i in S]>> + \dim <<[seq b i | i in S]>> + #|~: S|)%N ->
  exists I J : {set T}, [/\ [disjoint I & J], free [seq a i | i in I], free [seq b i | i in J]
    & (k <= #|I| + #|J|)%N].
Proof.
pose span (X : vectType F) (x : T -> X) (S : {set T}) := <<[seq x i | i in S]>>%VS.
pose z (X : vectType F) (x : T -> X) S := (\dim {:X} - \dim (span X x S))%N.
have mem (X : vectType F) (x : T -> X) (S : {set T}) i : i \in S -> x i \in span X x S.
  by move=> iS; apply/memv_span/imageP; exists i.
have sub (X : vectType F) (x : T -> X) (S : {set T}) (W : {vspace X}) :
    (forall i, i \in S -> x i \in W) -> (span X x S <= W)%VS.
  by move=> h; apply/span_subvP => y /imageP [i iS ->]; apply: h.
have le (X : vectType F) (x : T -> X) (S : {set T}) : (\dim (span X x S) <= \dim {:X})%N.
  by rewrite dimvS ?subvf.
have mono (X : vectType F) (x : T -> X) (S S' : {set T}) :
    S \subset S' -> (span X x S <= span X x S')%VS.
  by move=> /subsetP SS'; apply: sub => i /SS'; apply: mem.
have anti (X : vectType F) (x : T -> X) : antitone (z X x).
  by move=> S S' /(mono _ x) /dimvS; apply: leq_sub2l.
have super (X : vectType F) (x : T -> X) : supermodular (z X x).
  move=> S S'; rewrite /z.
  have join : (span X x (S :|: S') <= span X x S + span X x S')%VS.
    apply: sub => i; rewrite inE => /orP [iS|iS].
      by apply: (subvP (addvSl _ _)); apply: mem.
    by apply: (subvP (addvSr _ _)); apply: mem.
  have meet : (span X x (S :&: S')%SET <= span X x S :&: span X x S')%VS.
    by apply: sub => i; rewrite inE memv_cap => /andP [iS iS']; rewrite !mem.
  have := leq_add (dimvS join) (dimvS meet); rewrite dimv_sum_cap.
  have := le X x S; have := le X x S'; have := le X x (S :|: S'); have := le X x (S :&: S').
  move: (\dim _) (\dim _) (\dim _) (\dim _) (\dim _) => ? ? ? ? ? ? ? ? ? ?; arith.
have ones (X : vectType F) (x : T -> X) : by_ones (z X x).
  move=> i S; rewrite /z.
  have : (span X x (i |: S) <= <[x i]> + span X x S)%VS.
    apply: sub => j; rewrite !inE => /orP [/eqP ->|jS].
      by apply: (subvP (addvSl _ _)); apply: memv_line.
    by apply: (subvP (addvSr _ _)); apply: mem.
  move/dimvS => h; have := leq_trans h (dimv_add_leqif _ _); rewrite dim_vline.
  case: (x i != 0) => /=; move: (\dim _) (\dim _) (\dim _) => ? ? ? ?; arith.
have z0 (X : vectType F) (x : T -> X) : z X x set0 = \dim {:X}.
  rewrite /z; have /dimvS : (span X x set0 <= 0)%VS by apply: sub => i; rewrite inE.
  by rewrite dimv0 leqn0 => /eqP ->; rewrite subn0.
have indep (X : vectType F) (x : T -> X) (S : {set T}) :
    (#|S| + z X x S <= z X x set0)%N -> free [seq x i | i in S].
  rewrite z0 /z /free eqn_leq dim_span /= size_image => h.
  by have := le X x S; rewrite -/(span X x S) => ?; arith.
move=> cond; pose m := (\dim {:A} + \dim {:B} - k)%N.
have [|I [J [disj indI indJ many]]] := @union_of_two _ (z A a) (z B b) m
  (super _ _) (anti _ _) (ones _ _) (super _ _) (anti _ _) (ones _ _).
  move=> S; have := cond S; have := le A a S; have := le B b S; rewrite /z /m /span.
  move: (\dim _) (\dim _) (\dim _) (\dim _) => ? ? ? ? ? ? ?; arith.
exists I, J; split; rewrite ?indep // -(leq_add2r m).
have := cond setT; rewrite setCT cards0 addn0.
move: many; rewrite !z0; have := le A a setT; have := le B b setT; rewrite /m /span.
by move: (\dim _) (\dim _) (\dim _) (\dim _) => ? ? ? ? ? ? ? ?; arith.
Qed.

(* no subspaces of U and V, not both zero, have their products with everything in
   the span of their products with one another *)
Definition no_closed_pair (F : fieldType) (A B C : vectType F) (phi : A -> B -> C)
    (U : {vspace A}) (V : {vspace B}) :=
  forall U' V', (U' <= U)%VS -> (V' <= V)%VS -> closed_pair phi U' V' -> U' = 0%VS /\ V' = 0%VS.

Section JointSubstitution.
Variables (F : fieldType) (A B C : vectType F) (phi : A -> B -> C).
Hypothesis bil : bilinear phi.
Variables (U : {vspace A}) (V : {vspace B}).
Hypothesis none : no_closed_pair phi U V.

Lemma joint_rank_mod r : bilinear_rank_le phi r ->
  exists2 s, rank_mod phi (products phi U fullv + products phi fullv V)%VS s
    & (\dim U + \dim V + s <= r)%N.
Proof.
move=> [f [g [w phiE]]].
have [|J1 [J2 [disj c1 c2 many]]] := @independent_forms _ _ _ _ f g U V 0.
  move=> T; apply/negP => /minimal_exists [S minS _].
  have [eS _] := minS.
  have [U0 V0] := none (zeros_sub f U _) (zeros_sub g V _) (minimal_closed bil phiE minS).
  by move: eS; rewrite /excess U0 V0 !dimv0.
exists #|~: (J1 :|: J2)|.
  apply: (@substitution _ _ _ _ phi bil _ f g w 0%VS _ U V) => //;
    rewrite ?sub0v ?addvSl ?addvSr //.
  by move=> a b; rewrite phiE subrr mem0v.
have := cardsC (J1 :|: J2); have := cardsUI J1 J2.
by rewrite (disjoint_setI0 disj) cards0 card_ord => ? ?; arith.
Qed.

Theorem joint_substitution (A' B' C' : vectType F) (psi : A' -> B' -> C') r :
  induced phi U V psi -> bilinear_rank_le phi r ->
  exists2 s, bilinear_rank_le psi s & (\dim U + \dim V + s <= r)%N.
Proof.
move=> [p [q [t [[_ ip] [_ iq] [kt _] psiE]]]] /joint_rank_mod [s [f [g [w comp]]] le].
exists s => //; exists (fun i => f i \o p^-1)%VF, (fun i => g i \o q^-1)%VF, (fun i => t (w i)).
move=> a b; have ea : p (p^-1%VF a) = a by rewrite limg_lfunVK // ip memvf.
have eb : q (q^-1%VF b) = b by rewrite limg_lfunVK // iq memvf.
rewrite -{1}ea -{1}eb psiE.
have := comp (p^-1%VF a) (q^-1%VF b); rewrite -kt memv_ker linearB subr_eq0 => /eqP ->.
by rewrite linear_sum; apply: eq_bigr => i _; rewrite linearZ !comp_lfunE.
Qed.

(* in terms of the ranks themselves *)
Corollary joint_substitution_rank (A' B' C' : vectType F) (psi : A' -> B' -> C') r s :
  induced phi U V psi -> bilinear_rank_is phi r -> bilinear_rank_is psi s ->
  (\dim U + \dim V + s <= r)%N.
Proof.
move=> ind [/(joint_substitution ind) [s' rs' le] _] [_ /(_ _ rs') ss'].
by apply: leq_trans le; rewrite leq_add2l.
Qed.

(* and for the tensors of coordinates *)
Corollary joint_substitution_tensor (A' B' C' : vectType F) (psi : A' -> B' -> C') r s :
  induced phi U V psi -> rank_is (coordinates phi) r -> rank_is (coordinates psi) s ->
  (\dim U + \dim V + s <= r)%N.
Proof.
move=> ind [/(rank_of_coordinates bil) rphi lphi] [rpsi lpsi].
have [s' /(rank_of_coordinates (induced_bilinear bil ind)) /lpsi ss' le] :=
  joint_substitution ind rphi.
by apply: leq_trans le; rewrite leq_add2l.
Qed.
End JointSubstitution.

(* The product of a field has rank one. With U the field and V = 0 no pair is closed,
   and the bound is attained; with U = V the pair of both is closed, and without
   the condition the bound would be two. *)
Theorem joint_substitution_sharp (F : fieldType) :
  let A := regular_vectType F in let phi : A -> A -> A := fun a b => a * b in
  [/\ bilinear phi, bilinear_rank_is phi 1, no_closed_pair phi fullv 0,
      (\dim {:A} + \dim (0%VS : {vspace A}) = 1)%N
    & closed_pair phi fullv fullv /\ (\dim {:A} + \dim {:A} = 2)%N].
Proof.
move=> A phi; have dimA : \dim {:A} = 1%N by rewrite dimvf.
have bil : bilinear phi.
  by split=> c k x y; rewrite /phi; [rewrite mulrDl scalerAl|rewrite mulrDr scalerAr].
split=> //; rewrite ?dimA ?dimv0 //.
- split.
    exists (fun _ => \1%VF), (fun _ => \1%VF), (fun _ => 1) => a b.
    by rewrite big_ord1 !id_lfunE /phi /GRing.scale /= mulr1.
  case=> // -[f [g [w phiE]]]; have := phiE 1 1.
  by rewrite big_ord0 /phi mulr1 => /eqP; rewrite oner_eq0.
- move=> U' V' _; rewrite subv0 => /eqP -> [sub _]; split=> //.
  apply/eqP; rewrite -subv0; apply: subv_trans (subv_trans sub _).
    by apply/subvP => u uU; rewrite -[u]mulr1; apply: (products_mem bil); rewrite ?memvf.
  by apply/(productsP bil) => a b _; rewrite memv0 => /eqP ->; rewrite /phi mulr0 mem0v.
Qed.

Print Assumptions union_of_two_families.
Print Assumptions joint_substitution.
Print Assumptions joint_substitution_rank.
Print Assumptions joint_substitution_tensor.
Print Assumptions joint_substitution_sharp.
