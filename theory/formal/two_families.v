(* The union of two families of vectors (Edmonds), for any two functions of
   finite sets that behave as the dimensions of spaces of common zeros: of
   submodularity and monotony no more is used. *)
From Coq Require Import Lia.
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* linear arithmetic with the natural numbers of MathComp *)
Ltac arith :=
  intros; repeat match goal with H : is_true (leq _ _) |- _ => move/leP in H end;
  try apply/leP; change addn with Nat.add in *; change subn with Nat.sub in *; lia.

Section Functions.
Variable T : finType.
Implicit Types (z : {set T} -> nat) (S I J : {set T}).

Definition supermodular z := forall S S', z S + z S' <= z (S :|: S') + z (S :&: S').
Definition by_ones z := forall x S, z S <= (z (x |: S)).+1.
Definition antitone z := forall S S', S \subset S' -> z S' <= z S.

(* Every element gets into at least one of two sets; then into only one. *)
Lemma split_within z1 z2 m A1 A2 : supermodular z1 -> supermodular z2 ->
  A1 :|: A2 = setT -> (forall S, z1 (S :&: A1) + z2 (S :&: A2) <= #|~: S| + m) ->
  exists I, z1 I + z2 (~: I) <= m.
Proof.
move=> sup1 sup2; have [k le] := ubnP #|A1 :&: A2|.
elim: k A1 A2 le => // k IH A1 A2 le cover cond.
have [/eqP A0|[x]] := set_0Vmem (A1 :&: A2).
  exists A1; have := cond setT; rewrite !setTI setCT cards0 add0n.
  suff -> : A2 = ~: A1 by [].
  apply/setP => x; rewrite inE; move/setP: cover => /(_ x); move/eqP/setP: A0 => /(_ x).
  by rewrite !inE; case: (x \in A1); case: (x \in A2).
rewrite inE => /andP [x1 x2].
have [/forallP ok|/forallPn [S1 n1]] :=
    boolP [forall S : {set T}, z1 (S :&: (A1 :\ x)) + z2 (S :&: A2) <= #|~: S| + m].
  apply: (IH (A1 :\ x) A2) => // [|].
    rewrite ltnS in le; apply: leq_trans le; rewrite (cardsD1 x (A1 :&: A2)) inE x1 x2 ltnS.
    by apply/subset_leq_card/subsetP => y; rewrite !inE andbA.
  apply/setP => y; move/setP: cover => /(_ y); rewrite !inE.
  by case: eqP => [->|]; rewrite ?x2 ?orbT.
have [/forallP ok|/forallPn [S2 n2]] :=
    boolP [forall S : {set T}, z1 (S :&: A1) + z2 (S :&: (A2 :\ x)) <= #|~: S| + m].
  apply: (IH A1 (A2 :\ x)) => // [|].
    rewrite ltnS in le; apply: leq_trans le; rewrite (cardsD1 x (A1 :&: A2)) inE x1 x2 ltnS.
    by apply/subset_leq_card/subsetP => y; rewrite !inE andbCA.
  apply/setP => y; move/setP: cover => /(_ y); rewrite !inE.
  by case: eqP => [->|]; rewrite ?x1 ?orbT.
exfalso.
have in1 : x \in S1.
  apply: contraR n1 => xS; apply: leq_trans (cond S1); rewrite leq_eqVlt; apply/orP; left.
  apply/eqP; congr (z1 _ + _); apply/setP => y; rewrite !inE.
  by case: eqP => // ->; rewrite (negPf xS).
have in2 : x \in S2.
  apply: contraR n2 => xS; apply: leq_trans (cond S2); rewrite leq_eqVlt; apply/orP; left.
  apply/eqP; congr (_ + z2 _); apply/setP => y; rewrite !inE.
  by case: eqP => // ->; rewrite (negPf xS).
have c1 := cond (S1 :|: S2); have c2 := cond ((S1 :&: S2) :\ x).
have s1 := sup1 (S1 :&: (A1 :\ x)) (S2 :&: A1).
have s2 := sup2 (S1 :&: A2) (S2 :&: (A2 :\ x)).
have e1 : S1 :&: (A1 :\ x) :|: S2 :&: A1 = (S1 :|: S2) :&: A1.
  apply/setP => y; rewrite !inE; case: eqP => [->|_]; rewrite ?in1 ?in2 /= ?andbF //.
  by rewrite -andb_orl.
have e2 : S1 :&: (A1 :\ x) :&: (S2 :&: A1) = ((S1 :&: S2) :\ x) :&: A1.
  apply/setP => y; rewrite !inE; case: (y == x) => //=; rewrite ?andbF //.
  by rewrite andbACA andbb.
have e3 : S1 :&: A2 :|: S2 :&: (A2 :\ x) = (S1 :|: S2) :&: A2.
  apply/setP => y; rewrite !inE; case: eqP => [->|_]; rewrite ?in1 ?in2 /= ?andbF ?orbF //.
  by rewrite -andb_orl.
have e4 : S1 :&: A2 :&: (S2 :&: (A2 :\ x)) = ((S1 :&: S2) :\ x) :&: A2.
  apply/setP => y; rewrite !inE; case: (y == x) => //=; rewrite ?andbF //.
  by rewrite andbACA andbb.
rewrite e1 e2 in s1; rewrite e3 e4 in s2.
have cards : #|~: (S1 :|: S2)| + #|~: ((S1 :&: S2) :\ x)| = (#|~: S1| + #|~: S2|).+1.
  have i12 : x \in S1 :&: S2 by rewrite inE in1.
  have k1 := cardsC (S1 :|: S2); have k2 := cardsC ((S1 :&: S2) :\ x).
  have k3 := cardsC S1; have k4 := cardsC S2.
  have k5 := cardsUI S1 S2; have k6 := cardsD1 x (S1 :&: S2); rewrite i12 in k6.
  by rewrite /= in k6; arith.
rewrite -ltnNge in n1; rewrite -ltnNge in n2; arith.
Qed.

(* the union: a set and its complement where the zeros are few *)
Lemma split_two z1 z2 m : supermodular z1 -> supermodular z2 ->
  (forall S, z1 S + z2 S <= #|~: S| + m) -> exists I, z1 I + z2 (~: I) <= m.
Proof.
move=> sup1 sup2 cond; apply: (@split_within z1 z2 m setT setT) => //; first by rewrite setUT.
by move=> S; rewrite setIT.
Qed.

(* within every set an independent one that has the same zeros *)
Lemma independent_within z I : supermodular z -> antitone z ->
  exists2 J : {set T}, J \subset I & z J <= z I /\ #|J| + z J <= z set0.
Proof.
move=> sup anti.
have [|J /andP [JI zJ] least] :=
    @arg_minnP _ I (fun J : {set T} => (J \subset I) && (z J <= z I)) (fun J : {set T} => #|J|).
  by rewrite subxx leqnn.
exists J => //; split=> //.
have step x : x \in J -> z J < z (J :\ x).
  move=> xJ; rewrite ltnNge; apply/negP => le.
  have /least : (J :\ x \subset I) && (z (J :\ x) <= z I).
    by rewrite (subset_trans (subsetDl _ _) JI) (leq_trans le zJ).
  by rewrite (cardsD1 x J) xJ add1n ltnn.
suff all n (K : {set T}) : #|K| = n -> K \subset J -> #|K| + z K <= z set0 by apply: all.
elim: n K => [|n IH] K cK KJ; first by rewrite cK; move/cards0_eq: cK => ->.
have [x xK] : exists x, x \in K by apply/set0Pn; rewrite -card_gt0 cK.
have xJ := subsetP KJ x xK.
have cx : #|K :\ x| = n by have := cardsD1 x K; rewrite xK cK add1n => -[].
have := IH _ cx (subset_trans (subsetDl _ _) KJ).
have := sup K (J :\ x); have := step x xJ.
have -> : K :|: J :\ x = J.
  apply/setP => y; rewrite !inE; case: (eqVneq y x) => [->|_] /=; first by rewrite xK xJ.
  by case: (boolP (y \in K)) => // /(subsetP KJ) ->.
have -> : K :&: (J :\ x) = K :\ x.
  apply/setP => y; rewrite !inE andbCA; congr (_ && _).
  by case: (boolP (y \in K)) => // /(subsetP KJ) ->.
by move=> *; arith.
Qed.

Lemma few_more z S : by_ones z -> z set0 <= #|S| + z S.
Proof.
move=> ones; have [n cS] : exists n, #|S| = n by exists #|S|.
elim: n S cS => [|n IH] S cS; first by rewrite cS; move/cards0_eq: cS => ->.
have [x xS] : exists x, x \in S by apply/set0Pn; rewrite -card_gt0 cS.
have cx : #|S :\ x| = n by have := cardsD1 x S; rewrite xS cS add1n => -[].
by have := IH _ cx; have := ones x (S :\ x); rewrite setD1K // => ? ?; arith.
Qed.

(* disjoint sets, both independent, with all elements but m *)
Lemma union_of_two z1 z2 m :
  supermodular z1 -> antitone z1 -> by_ones z1 -> supermodular z2 -> antitone z2 -> by_ones z2 ->
  (forall S, z1 S + z2 S <= #|~: S| + m) ->
  exists I J : {set T}, [/\ [disjoint I & J], #|I| + z1 I <= z1 set0, #|J| + z2 J <= z2 set0
                & z1 set0 + z2 set0 <= #|I| + #|J| + m].
Proof.
move=> sup1 anti1 ones1 sup2 anti2 ones2 cond; have [I zI] := split_two sup1 sup2 cond.
have [I1 sub1 [z1I c1]] := independent_within I sup1 anti1.
have [J1 sub2 [z2J c2]] := independent_within (~: I) sup2 anti2.
exists I1, J1; split=> //.
  rewrite -setI_eq0; apply/eqP/setP => x; rewrite !inE; apply/negP => /andP [xI xJ].
  by have := subsetP sub2 x xJ; rewrite inE (subsetP sub1 x xI).
have := few_more I1 ones1; have := few_more J1 ones2; arith.
Qed.
End Functions.
