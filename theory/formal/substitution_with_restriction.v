(* claim: lemmax/substitution-with-restriction@77a45aea599e4e15, by substitution_with_restriction,
     substitution_with_restriction_rank, substitution_with_restriction_v.
   control: substitution_needs_subtraction.
   For a tensor X over any field, its restriction X' to subspaces of the duals of
   two modes, and r_A the flattening rank of the third:
     rank(X) >= r_A(X) - r_A(X') + rank(X'). *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Lemma substitution_arith N x y w m t : (x <= N)%N -> (y <= N)%N -> (m <= w)%N ->
  (t <= N - x)%N -> (m + t = N - y)%N -> (x <= w + y)%N.
Proof.
move=> xN yN mw tN mt; apply: leq_trans (_ : m + y <= _)%N; last by rewrite leq_add2r.
rewrite -(leq_add2l t) addnA [(t + m)%N]addnC mt subnK // addnC -leq_subRL //.
Qed.

Section Elimination.
Variable F : fieldType.

(* Rows of A can be corrected by combinations of the rows of Y so as to vanish in
   rank(Y) columns. *)
Lemma eliminate_columns p r n (Y : 'M[F]_(p, r)) (A : 'M[F]_(n, r)) :
  exists (S : {set 'I_r}) (Z : 'M[F]_(n, p)),
    #|S| = \rank Y /\ forall i j, j \in S -> (A - Z *m Y) i j = 0.
Proof.
pose f := maxrankfun Y^T.
have full : row_full (colsub f Y).
  have := maxrowsub_free Y^T; rewrite -/f /row_free /row_full => rk.
  rewrite -mxrank_tr (_ : (colsub f Y)^T = rowsub f Y^T) //.
  by apply/matrixP => i j; rewrite !mxE.
have /submxP [Z AZ] : (colsub f A <= colsub f Y)%MS by apply: submx_full.
exists (f @: setT), Z; split.
  by rewrite card_imset ?cardsT ?card_ord ?mxrank_tr //; apply: maxrankfun_inj.
move=> i _ /imsetP [j _ ->]; rewrite !mxE.
move/matrixP/(_ i j): AZ; rewrite !mxE => ->; apply/eqP; rewrite subr_eq0; apply/eqP.
by apply: eq_bigr => k _; rewrite mxE.
Qed.

End Elimination.

Section Restriction.
Variable F : fieldType.
Variables K Q V : finType.
Variable X : tensor F K Q V.

(* spanning families of the two subspaces: functionals on F^Q and on F^V *)
Variables B C : finType.
Variables (beta : B -> Q -> F) (gamma : C -> V -> F).

Definition restrict : tensor F K B C :=
  fun k b c => \sum_q \sum_v beta b q * gamma c v * X k q v.

Theorem substitution_with_restriction r : rank_le X r ->
  exists2 s, rank_le restrict s & (\rank (flat_k X) + s <= r + \rank (flat_k restrict))%N.
Proof.
move=> [a [b [c XE]]].
pose b' i y := \sum_q beta y q * b i q.
pose c' i z := \sum_v gamma z v * c i v.
have RE k y z : restrict k y z = \sum_(i < r) a i k * b' i y * c' i z.
  rewrite /restrict.
  under eq_bigr => q _ do under eq_bigr => v _ do rewrite XE mulr_sumr.
  under eq_bigr => q _ do rewrite exchange_big /=.
  rewrite exchange_big /=; apply: eq_bigr => i _.
  rewrite -mulrA /b' /c' mulr_suml mulr_sumr; apply: eq_bigr => q _.
  rewrite !mulr_sumr; apply: eq_bigr => v _.
  by rewrite -[a i k * _ * _]mulrA mulrCA mulrACA.
pose A : 'M[F]_(#|K|, r) := \matrix_(k, i) a i (enum_val k).
pose M : 'M[F]_(r, #|[finType of Q * V]|) :=
  \matrix_(i, x) (b i (enum_val x).1 * c i (enum_val x).2).
pose M' : 'M[F]_(r, #|[finType of B * C]|) :=
  \matrix_(i, x) (b' i (enum_val x).1 * c' i (enum_val x).2).
have flatX : flat_k X = A *m M.
  by apply/matrixP => k x; rewrite !mxE XE; apply: eq_bigr => i _; rewrite !mxE mulrA.
have flatR : flat_k restrict = A *m M'.
  by apply/matrixP => k x; rewrite !mxE RE; apply: eq_bigr => i _; rewrite !mxE mulrA.
pose G := mx_of (fun (x : Q * V) (y : B * C) => beta y.1 x.1 * gamma y.2 x.2).
have flatG : flat_k restrict = flat_k X *m G.
  rewrite /flat_k /G mx_of_mul; apply: mx_of_ext => k y; rewrite /restrict.
  by rewrite pair_bigA /=; apply: eq_bigr => x _; rewrite mulrC.
pose Y := kermx (flat_k restrict) *m A.
have [S [Z [cardS zeroS]]] := eliminate_columns Y A.
have dimY : (\rank (flat_k X) <= \rank Y + \rank (flat_k restrict))%N.
  have YM : (\rank (kermx (flat_k restrict) *m flat_k X) <= \rank Y)%N.
    by rewrite flatX mulmxA mxrankM_maxl.
  have := mxrank_mul_ker (kermx (flat_k restrict)) (flat_k X).
  have : (\rank (kermx (flat_k restrict) :&: kermx (flat_k X))%MS <= #|K| - \rank (flat_k X))%N.
    by rewrite -mxrank_ker mxrankS // capmxSr.
  rewrite mxrank_ker => cap eqr.
  exact: substitution_arith (rank_leq_row _) (rank_leq_row _) YM cap eqr.
exists (r - \rank Y)%N; last first.
  have rY : (\rank Y <= r)%N by apply: rank_leq_col.
  by rewrite addnBA // leq_subLR addnCA [(_ + r)%N]addnC leq_add2l.
have AE : (A - Z *m Y) *m M' = flat_k restrict.
  by rewrite mulmxBl -mulmxA -[Y *m M']mulmxA -flatR mulmx_ker mulmx0 subr0.
have -> : (r - \rank Y)%N = #|[finType of {i : 'I_r | i \in ~: S}]|.
  rewrite card_sig -cardS; have := cardsC S; rewrite card_ord => e.
  by rewrite -[X in (X - _)%N]e addKn.
apply: (@rank_le_fin F K B C [finType of {i : 'I_r | i \in ~: S}] restrict
  (fun i k => (A - Z *m Y) (enum_rank k) (val i)) (fun i => b' (val i)) (fun i => c' (val i))).
move=> k y z; have /matrixP /(_ (enum_rank k) (enum_rank (y, z))) := AE.
rewrite [in RHS]mxE !enum_rankK /= => <-; rewrite mxE (bigID (mem S)) /= big1 ?add0r.
  rewrite (eq_bigl (fun i => i \in ~: S)) => [|i]; last by rewrite inE.
  by rewrite sum_sig; apply: eq_bigr => i _; rewrite [M' _ _]mxE enum_rankK /= mulrA.
by move=> i iS; rewrite zeroS // mul0r.
Qed.

(* in terms of the rank itself *)
Corollary substitution_with_restriction_rank r s : rank_is X r -> rank_is restrict s ->
  (\rank (flat_k X) + s <= r + \rank (flat_k restrict))%N.
Proof.
move=> [/substitution_with_restriction [s' rs' le] _] [_ /(_ _ rs') ss'].
by apply: leq_trans le; rewrite leq_add2l.
Qed.

End Restriction.

(* the third mode against the first two *)
Corollary substitution_with_restriction_v (F : fieldType) (K Q V B C : finType)
    (X : tensor F K Q V) (beta : B -> K -> F) (gamma : C -> Q -> F) r :
  let X' : tensor F B C V :=
    fun b c v => \sum_k \sum_q beta b k * gamma c q * X k q v in
  rank_le X r ->
  exists2 s, rank_le X' s & (\rank (flat_v X) + s <= r + \rank (flat_v X'))%N.
Proof.
move=> X' rX.
have [s rs le] := substitution_with_restriction beta gamma (proj2 (rank_le_rot X r) rX).
by exists s; [exact: (proj1 (rank_le_rot X' s) rs) | exact: le].
Qed.

(* The subtracted flattening rank cannot be left out: for X = X' = 1 both ranks
   and both flattening ranks are 1. (Sharpness: see private_column.v, where the
   inequality is an equality.) *)
Theorem substitution_needs_subtraction (F : fieldType) :
  let X : tensor F unit_finType unit_finType unit_finType := fun _ _ _ => 1 in
  let X' := restrict X (fun _ _ : unit => 1) (fun _ _ : unit => 1) in
  [/\ rank_le X 1, (0 < \rank (flat_k X))%N & forall s, rank_le X' s -> (1 <= s)%N].
Proof.
move=> X X'.
have X'E k q v : X' k q v = 1.
  by rewrite /X' /restrict !(big_pred1 tt) => [|[]|[]] //; rewrite !mulr1.
split.
- by do 3! exists (fun _ _ => 1); move=> k q v; rewrite big_ord1 !mulr1.
- rewrite lt0n mxrank_eq0; apply/eqP => /matrixP /(_ (enum_rank tt) (enum_rank (tt, tt))).
  by rewrite !mxE => /eqP; rewrite oner_eq0.
case=> // -[a [b [c XE]]]; have /eqP := XE tt tt tt.
by rewrite X'E big_ord0 oner_eq0.
Qed.

Print Assumptions substitution_with_restriction.
Print Assumptions substitution_with_restriction_rank.
Print Assumptions substitution_with_restriction_v.
Print Assumptions substitution_needs_subtraction.
