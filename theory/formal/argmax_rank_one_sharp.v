(* claim: lemmax/argmax-rank-one-sharp@1c0897147565d1db, by argmax_rank_one_sharp,
     argmax_rank_one_equality.
   against: wong/argmax-rank-one@460d90b6d098d9df, by argmax_rank_one_three.
   For every matrix M = u v^T of rank 1, rank(argmax(M)) <= 3, with equality if and
   only if u has a positive, a negative and a zero entry and v has at least three
   different entries. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import row_argmax.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section RankOne.
Variable R : realFieldType.
Variables (m n : nat) (u : 'cV[R]_m) (v : 'rV[R]_n).

Let top j := [forall k, v 0 k <= v 0 j].
Let bottom j := [forall k, v 0 j <= v 0 k].

(* the rows of argmax(u v) are the indicators of the maxima of v, of its minima,
   and the row of ones, by the sign of the entry of u *)
Let U : 'M[R]_(m, 3) := \matrix_(i, k)
  (if k == 0%N :> nat then 0 < u i 0 else if k == 1%N :> nat then u i 0 < 0 else u i 0 == 0)%:R.
Let W : 'M[R]_(3, n) := \matrix_(k, j)
  (if k == 0%N :> nat then top j else if k == 1%N :> nat then bottom j else true)%:R.

Lemma argmax_factor : argmax (u *m v) = U *m W.
Proof.
have entry i k : (u *m v) i k = u i 0 * v 0 k by rewrite mxE big_ord1.
apply/matrixP => i j; rewrite [LHS]mxE [RHS]mxE; under eq_forallb => k do rewrite !entry.
rewrite !big_ord_recl big_ord0 addr0 ![U _ _]mxE ![W _ _]mxE /=.
case: (ltgtP 0 (u i 0)) => [u0|u0|u0].
- rewrite /= mul1r !mul0r !addr0; congr (nat_of_bool _)%:R.
  by apply: eq_forallb => k; rewrite ler_pmul2l.
- rewrite /= mul1r !mul0r add0r addr0; congr (nat_of_bool _)%:R.
  by apply: eq_forallb => k; rewrite ler_nmul2l.
rewrite /= !mul0r !add0r mul1r (_ : [forall k, _]) //.
by apply/forallP => k; rewrite -u0 !mul0r.
Qed.

Lemma argmax_product_le3 : (\rank (argmax (u *m v)) <= 3)%N.
Proof. by rewrite argmax_factor (leq_trans (mxrankM_maxl _ _)) // rank_leq_col. Qed.

Definition three_signs := [/\ exists i, 0 < u i 0, exists i, u i 0 < 0 & exists i, u i 0 = 0].
Definition three_entries :=
  exists j1 j2 j3, [/\ v 0 j1 != v 0 j2, v 0 j2 != v 0 j3 & v 0 j1 != v 0 j3].

Lemma free_row p q (B : 'M[R]_(p, q)) (c : 'rV[R]_p) : row_free B -> c *m B = 0 -> c = 0.
Proof. by move=> Bf /eqP; rewrite mulmx_free_eq0 // => /eqP. Qed.

Lemma signs_free : row_free U^T <-> three_signs.
Proof.
split=> [Uf|[[i1 u1] [i2 u2] [i3 u3]]].
  have col (k : 'I_3) : exists i, U i k != 0.
    apply/existsP; apply: contraT; rewrite negb_exists => /forallP all0.
    have /(free_row Uf) : delta_mx 0 k *m U^T = 0 :> 'rV[R]_m.
      by rewrite -rowE; apply/rowP => i; rewrite !mxE; have := all0 i; rewrite negbK => /eqP; rewrite mxE.
    by move/rowP/(_ k); rewrite !mxE !eqxx => /eqP; rewrite oner_eq0.
  have pick (k : 'I_3) (P : pred 'I_m) : (forall i, U i k = (P i)%:R) -> exists i, P i.
    move=> UE; have [i] := col k; rewrite UE; case Pi: (P i); last by rewrite eqxx.
    by exists i.
  split.
  - by apply: (pick ord0) => i; rewrite mxE.
  - by apply: (pick (lift ord0 ord0)) => i; rewrite mxE.
  have [i /eqP ui] : exists i, u i 0 == 0.
    by apply: (pick (lift ord0 (lift ord0 ord0))) => i; rewrite mxE.
  by exists i.
apply/inj_row_free => c /rowP c0.
have sum i : c 0 ord0 * U i ord0 + (c 0 (lift ord0 ord0) * U i (lift ord0 ord0) +
    c 0 (lift ord0 (lift ord0 ord0)) * U i (lift ord0 (lift ord0 ord0))) = 0.
  by have := c0 i; rewrite [LHS]mxE [RHS]mxE !big_ord_recl big_ord0 addr0 ![U^T _ _]mxE.
have c_0 : c 0 ord0 = 0.
  by have := sum i1; rewrite !mxE /= u1 lt_gtF // gt_eqF // !mulr0 !addr0 mulr1.
have c_1 : c 0 (lift ord0 ord0) = 0.
  by have := sum i2; rewrite !mxE /= u2 lt_gtF // lt_eqF // !mulr0 addr0 add0r mulr1.
have c_2 : c 0 (lift ord0 (lift ord0 ord0)) = 0.
  by have := sum i3; rewrite !mxE /= u3 ltxx eqxx !mulr0 !add0r mulr1.
apply/rowP => k; rewrite [RHS]mxE.
by case: (unliftP ord0 k) => [k1|] -> //; case: (unliftP ord0 k1) => [k2|] -> //; rewrite ord1.
Qed.

Lemma entries_free : row_free W <-> three_entries.
Proof.
pose o1 : 'I_3 := lift ord0 ord0; pose o2 : 'I_3 := lift ord0 (lift ord0 ord0).
have W0 j : W ord0 j = (top j)%:R by rewrite mxE.
have W1 j : W o1 j = (bottom j)%:R by rewrite mxE.
have W2 j : W o2 j = 1 by rewrite mxE.
have sumW (c : 'rV[R]_3) j : (c *m W) 0 j =
    c 0 ord0 * (top j)%:R + (c 0 o1 * (bottom j)%:R + c 0 o2).
  by rewrite mxE !big_ord_recl big_ord0 addr0 W0 W1 W2 mulr1.
split=> [Wf|[j1 [j2 [j3 [d12 d23 d13]]]]].
  have rel (x y z : R) : (forall j, x * (top j)%:R + (y * (bottom j)%:R + z) = 0) -> z = 0.
    move=> rel0; pose c : 'rV[R]_3 := \row_k
      (if k == 0%N :> nat then x else if k == 1%N :> nat then y else z).
    have /(free_row Wf) : c *m W = 0.
      by apply/rowP => j; rewrite sumW [RHS]mxE ![c _ _]mxE /=.
    by move/rowP/(_ o2); rewrite !mxE.
  have one0 : (1 : R) == 0 = false by rewrite oner_eq0.
  have [/existsP [j /andP [jt jb]]|nomid] := boolP [exists j, ~~ top j && ~~ bottom j].
    move: jt jb; rewrite !negb_forall => /existsP [j1 jj1] /existsP [j2 jj2].
    rewrite -!ltNge in jj1 jj2; exists j1, j, j2; split.
    - by rewrite gt_eqF.
    - by rewrite gt_eqF.
    by rewrite gt_eqF // (lt_trans jj2).
  have mid j : top j || bottom j.
    by move: nomid; rewrite negb_exists => /forallP /(_ j); rewrite negb_and !negbK.
  have [/existsP [j /andP [jt jb]]|noboth] := boolP [exists j, top j && bottom j].
    have all k : top k.
      apply/forallP => l; move/forallP: jt => /(_ l) lj; move/forallP: jb => /(_ k) jk.
      exact: le_trans lj jk.
    have /eqP : (- 1 : R) = 0.
      by apply: (rel 1 0) => k; rewrite all mul0r add0r mulr1 subrr.
    by rewrite oppr_eq0 one0.
  have /eqP : (- 1 : R) = 0.
    apply: (rel 1 1) => k; have := mid k; have := noboth; rewrite negb_exists => /forallP /(_ k).
    by case: (top k); case: (bottom k) => // _ _; rewrite /= !mul1r ?add0r subrr // add0r.
  by rewrite oppr_eq0 one0.
apply/inj_row_free => c /rowP c0.
have sum0 j : c 0 ord0 * (top j)%:R + (c 0 o1 * (bottom j)%:R + c 0 o2) = 0.
  by rewrite -sumW c0 mxE.
have [jt _ jtQ] := arg_maxP (fun j => v 0 j) (isT : xpredT j1).
have [jb _ jbQ] := arg_minP (fun j => v 0 j) (isT : xpredT j1).
have jtP k : v 0 k <= v 0 jt := jtQ k isT.
have jbP k : v 0 jb <= v 0 k := jbQ k isT.
have topE j : top j = (v 0 j == v 0 jt).
  apply/forallP/eqP => [all|-> k]; last exact: jtP.
  by apply/eqP; rewrite eq_le all jtP.
have bottomE j : bottom j = (v 0 j == v 0 jb).
  apply/forallP/eqP => [all|-> k]; last exact: jbP.
  by apply/eqP; rewrite eq_le all jbP.
have [j /andP [nt nb]] : exists j, (v 0 j != v 0 jt) && (v 0 j != v 0 jb).
  have [e1|n1] := eqVneq (v 0 j1) (v 0 jt).
    have [e2|n2] := eqVneq (v 0 j2) (v 0 jb).
      by exists j3; rewrite -e1 -e2 ![v 0 j3 == _]eq_sym d13 d23.
    by exists j2; rewrite n2 -e1 eq_sym d12.
  have [e1|n1'] := eqVneq (v 0 j1) (v 0 jb); last by exists j1; rewrite n1.
  have [e2|n2] := eqVneq (v 0 j2) (v 0 jt).
    by exists j3; rewrite -e1 -e2 ![v 0 j3 == _]eq_sym d13 d23.
  by exists j2; rewrite n2 -e1 eq_sym d12.
have tb : (v 0 jt == v 0 jb) = false.
  apply/negP => /eqP e; move/negP: nt; apply; rewrite eq_le jtP // e; exact: jbP.
have c_2 : c 0 o2 = 0.
  by have := sum0 j; rewrite topE bottomE (negPf nt) (negPf nb) !mulr0 !add0r.
have c_0 : c 0 ord0 = 0.
  by have := sum0 jt; rewrite topE bottomE eqxx tb c_2 mulr0 !addr0 mulr1.
have c_1 : c 0 o1 = 0.
  by have := sum0 jb; rewrite topE bottomE eqxx eq_sym tb c_2 mulr0 add0r addr0 mulr1.
apply/rowP => k; rewrite [RHS]mxE.
by case: (unliftP ord0 k) => [k1|] -> //; case: (unliftP ord0 k1) => [k2|] -> //; rewrite ord1.
Qed.

Theorem argmax_rank_one_equality :
  \rank (argmax (u *m v)) = 3%N <-> three_signs /\ three_entries.
Proof.
rewrite argmax_factor; split=> [rk|[/signs_free Uf /entries_free Wf]].
  have le3 : (3 <= \rank U)%N by rewrite -[X in (X <= _)%N]rk mxrankM_maxl.
  have le3' : (3 <= \rank W)%N by rewrite -[X in (X <= _)%N]rk mxrankM_maxr.
  split; [apply/signs_free|apply/entries_free].
    by rewrite /row_free mxrank_tr eqn_leq le3 rank_leq_col.
  by rewrite /row_free eqn_leq le3' rank_leq_row.
rewrite mxrankMfree //; move: Uf; rewrite /row_free mxrank_tr => /eqP //.
Qed.

End RankOne.

(* in terms of M alone *)
Theorem argmax_rank_one_sharp (R : realFieldType) m n (M : 'M[R]_(m, n)) :
  \rank M = 1%N -> (\rank (argmax M) <= 3)%N.
Proof.
move=> rk; move: (col_base M) (row_base M) (mulmx_base M); rewrite rk => u v <-.
exact: argmax_product_le3.
Qed.

(* Three is attained, so the bound 2 of the text (wong/argmax-rank-one) fails:
   u = (1, -1, 0), v = (1, 0, -1). *)
Theorem argmax_rank_one_three (R : realFieldType) :
  exists M : 'M[R]_3, \rank M = 1%N /\ \rank (argmax M) = 3%N.
Proof.
pose u : 'cV[R]_3 := \col_i (if i == 0%N :> nat then 1 else if i == 1%N :> nat then -1 else 0).
pose v : 'rV[R]_3 := \row_j (if j == 0%N :> nat then 1 else if j == 1%N :> nat then 0 else -1).
pose o1 : 'I_3 := lift ord0 ord0; pose o2 : 'I_3 := lift ord0 (lift ord0 ord0).
exists (u *m v); split.
  apply/eqP; rewrite eqn_leq (leq_trans (mxrankM_maxl _ _) (rank_leq_col _)) /=.
  rewrite lt0n mxrank_eq0; apply/eqP => /matrixP /(_ ord0 ord0).
  by rewrite mxE big_ord1 !mxE /= mul1r => /eqP; rewrite oner_eq0.
apply/argmax_rank_one_equality; split.
  by split; [exists ord0 | exists o1 | exists o2]; rewrite mxE //= ?ltr01 // oppr_lt0 ltr01.
exists ord0, o1, o2; rewrite !mxE /=.
have N1 : (1 : R) != -1 by rewrite -subr_eq0 opprK -mulr2n pnatr_eq0.
by split=> //; rewrite ?oner_eq0 // eq_sym oppr_eq0 oner_eq0.
Qed.

Print Assumptions argmax_rank_one_sharp.
Print Assumptions argmax_rank_one_equality.
Print Assumptions argmax_rank_one_three.
