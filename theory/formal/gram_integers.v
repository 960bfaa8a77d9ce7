(* claim: wong/proposition-3.6@bc8e838935c56900, by proposition_3_6.
   claim: lemmax/gram-integers@cb3341f9711cd281, by gram_integers, gram_entries.
   against: wong/proposition-3.6-proof@db9b78d8e2b8c8fb, by distinct_points_can_have_low_rank.
   For 2 <= r <= n the integer matrix M_ij = 2ij - j^2 on the indices 1..n-r+2,
   completed by an identity block of size r-2, has rank r, its entries are at
   most n^2 in absolute value, argmax(M) is the identity, and the maximum of each
   row exceeds the other entries of the row by at least 1. So for 2 <= r <= n
   there are n x n matrices of rank r whose argmax has rank n. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import row_argmax.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* indices are counted from 1 in the formula, from 0 in 'I_n *)
Definition gram (R : ringType) n r : 'M[R]_n := \matrix_(i, j)
  if (i < n - r + 2)%N && (j < n - r + 2)%N
  then (i.+1%:R * j.+1%:R) *+ 2 - j.+1%:R ^+ 2 else (i == j)%:R.

(* the diagonal is the strict maximum of each row *)
Lemma gram_diagonal (R : realDomainType) n r i k : k != i ->
  gram R n r i k < gram R n r i i.
Proof.
move=> ki; rewrite !mxE eqxx [in X in X < _]eq_sym (negPf ki) andbb.
have sq (a : R) : (a * a) *+ 2 - a ^+ 2 = a ^+ 2 by rewrite -expr2 mulr2n addrK.
case: ltnP => im /=; last by rewrite ltr01.
case: ltnP => km /=; last by rewrite sq exprn_gt0 // ltr0n.
rewrite sq -subr_gt0 opprB addrA addrAC -sqrrB lt_neqAle sqr_ge0 andbT eq_sym.
by rewrite sqrf_eq0 subr_eq0 eqr_nat eqSS eq_sym.
Qed.

Section Gram.
Variable R : realFieldType.
Variables (n r : nat).
Hypothesis r2 : (2 <= r)%N.
Hypothesis rn : (r <= n)%N.

Local Notation M := (gram R n r).

Lemma gram_argmax : argmax M = 1%:M.
Proof.
apply/matrixP => i j; rewrite [LHS]mxE [RHS]mxE; congr (_%:R); congr nat_of_bool.
apply/forallP/eqP => [all|-> k].
  apply/eqP; apply: contraT => ij; have := all i.
  by rewrite leNgt gram_diagonal // eq_sym.
by have [->|ki] := eqVneq k j; rewrite // ltW // gram_diagonal.
Qed.

(* r independent rows: the first two and the last r - 2 *)
Lemma gram_rank_ge : (r <= \rank M)%N.
Proof.
have fP (i : 'I_r) : ((if (i < 2)%N then val i else i + (n - r)) < n)%N.
  case: ifP => i2; first exact: leq_trans i2 (leq_trans r2 rn).
  by rewrite -[X in (_ < X)%N](subnKC rn) ltn_add2r.
pose f i := Ordinal (fP i).
suff free : row_free (rowsub f M).
  by rewrite -[X in (X <= _)%N](eqP free) rowsubE mxrankM_maxr.
apply/inj_row_free => c /rowP c0.
have colE j : \sum_i c 0 i * M (f i) j = 0.
  have := c0 j; rewrite !mxE; apply: etrans.
  by apply: eq_bigr => i _; rewrite [in RHS]mxE.
have big (k : 'I_r) : (2 <= k)%N -> (n - r + 2 <= f k)%N.
  by move=> k2; rewrite /f /= ltnNge k2 /= addnC leq_add2r.
have f_inj : injective f.
  move=> i k /(congr1 val) /=; case: ltnP => i2; case: ltnP => k2 e.
  - exact: val_inj.
  - by move: i2; rewrite e ltnNge (leq_trans k2) // leq_addr.
  - by move: k2; rewrite -e ltnNge (leq_trans i2) // leq_addr.
  - by apply/val_inj/eqP; rewrite -(eqn_add2r (n - r)) e.
have high (k : 'I_r) : (2 <= k)%N -> c 0 k = 0.
  move=> k2; have := colE (f k); rewrite (bigD1 k) //= big1 ?addr0 => [|i ik].
    by rewrite mxE [X in _ && X]ltnNge big // andbF eqxx mulr1.
  by rewrite mxE [X in _ && X]ltnNge big // andbF (inj_eq f_inj) (negPf ik) mulr0.
pose i0 : 'I_r := Ordinal (ltnW r2 : (0 < r)%N); pose i1 : 'I_r := Ordinal r2.
have n2 : (1 < n)%N by apply: leq_trans rn.
have low j : c 0 i0 * M (f i0) j + c 0 i1 * M (f i1) j = 0.
  rewrite -[RHS](colE j) (bigD1 i0) //= (bigD1 i1) //= big1 ?addr0 // => i /andP [i_0 i_1].
  rewrite high ?mul0r // ltnNge; apply/negP => le1.
  have : (i == i0) || (i == i1) by rewrite -!val_eqE /=; case: (val i) le1 => [|[|]].
  by rewrite (negPf i_0) (negPf i_1).
have m1 : (1 < n - r + 2)%N by rewrite addn2.
have := low (Ordinal n2); rewrite !mxE /= m1 (ltnW m1) /= => e1.
have := low (Ordinal (ltnW n2)); rewrite !mxE /= m1 (ltnW m1) /= => e0.
have c1 : c 0 i1 = 0.
  move: e1; rewrite (_ : (1 * 2%:R) *+ 2 - 2%:R ^+ 2 = 0 :> R); last first.
    by rewrite mul1r -mulr_natl -expr2 subrr.
  rewrite mulr0 add0r -mulr_natl -expr2 => /eqP; rewrite mulf_eq0 => /orP [/eqP //|].
  rewrite mulr_natl mulr2n addrK sqrf_eq0 pnatr_eq0 //.
have c0' : c 0 i0 = 0.
  by move: e0; rewrite c1 mul0r addr0 expr1n mulr1 mulr2n addrK mulr1.
apply/rowP => i; rewrite [RHS]mxE; case: (ltnP i 2) => [i2|/high //].
have : (i == i0) || (i == i1) by rewrite -!val_eqE /=; case: (val i) i2 => [|[|]].
by case/orP => /eqP ->.
Qed.

Lemma gram_rank_le : (\rank M <= r)%N.
Proof.
pose m := (n - r + 2)%N.
pose U : 'M[R]_(n, r) := \matrix_(i, k)
  if (k == 0 :> nat)%N then (i < m)%N%:R * i.+1%:R else
  if (k == 1 :> nat)%N then (i < m)%N%:R else (i == k + (n - r) :> nat)%N%:R.
pose W : 'M[R]_(r, n) := \matrix_(k, j)
  if (k == 0 :> nat)%N then (j < m)%N%:R * j.+1%:R *+ 2 else
  if (k == 1 :> nat)%N then - ((j < m)%N%:R * j.+1%:R ^+ 2) else (j == k + (n - r) :> nat)%N%:R.
suff -> : M = U *m W by apply: leq_trans (mxrankM_maxr _ _) (rank_leq_row _).
apply/matrixP => i j; rewrite !mxE.
have i0P : (0 < r)%N by apply: ltnW.
pose i0 : 'I_r := Ordinal i0P; pose i1 : 'I_r := Ordinal r2.
rewrite (bigD1 i0) //= (bigD1 i1) //= !mxE /= -/m.
have -> : \sum_(k < r | (k != i0) && (k != i1)) U i k * W k j =
          ((m <= i)%N && (i == j))%:R.
  have [im|im] := leqP m i; last first.
    rewrite big1 // => k /andP [k0 k1]; rewrite !mxE.
    rewrite -!val_eqE /= in k0 k1; rewrite (negPf k0) (negPf k1).
    rewrite (_ : (i == k + (n - r) :> nat)%N = false) ?mul0r //.
    apply/negP => /eqP e; move: im; rewrite e /m addnC ltn_add2l => k2.
    by case: (val k) k0 k1 k2 => [|[|]].
  have kP : (i - (n - r) < r)%N.
    by rewrite ltn_subLR ?subnK // (leq_trans _ im) // leq_addr.
  have kE : (i - (n - r) + (n - r))%N = i by rewrite subnK // (leq_trans _ im) // leq_addr.
  have k2 : (2 <= i - (n - r))%N by rewrite leq_subRL ?(leq_trans _ im) ?leq_addr.
  rewrite (bigD1 (Ordinal kP)) /=; last by rewrite -!val_eqE /= !gtn_eqF // ltnW.
  rewrite !mxE /= (gtn_eqF (ltnW k2)) (gtn_eqF k2) kE eqxx mul1r big1 ?addr0.
    by rewrite val_eqE eq_sym.
  move=> k /andP [/andP [k0 k1] kk]; rewrite -!val_eqE /= in k0 k1 kk.
  rewrite !mxE (negPf k0) (negPf k1) (_ : (i == k + (n - r) :> nat)%N = false) ?mul0r //.
  by apply: contraNF kk => /eqP {1}->; rewrite addnK.
have [im|im] := ltnP i m; have [jm|jm] := ltnP j m; rewrite /= ?mul1r ?mul0r ?mulr0 ?oppr0 ?mulr0 ?addr0 ?add0r //.
- by rewrite (mulrnAr i.+1%:R j.+1%:R 2).
- by rewrite mul0rn mulr0 -val_eqE /= ltn_eqF // (leq_trans im).
Qed.

Theorem gram_integers : \rank M = r /\ argmax M = 1%:M.
Proof.
split; last exact: gram_argmax.
by apply/eqP; rewrite eqn_leq gram_rank_le gram_rank_ge.
Qed.

End Gram.

(* the entries are integers of absolute value at most n^2, and the diagonal
   exceeds the rest of its row by at least 1 *)
Theorem gram_entries (R : realFieldType) n r : (2 <= r)%N -> (r <= n)%N ->
  [/\ gram R n r = map_mx intr (gram [ringType of int] n r),
      forall i j, `|gram [ringType of int] n r i j| <= (n ^ 2)%N%:R &
      forall i j, j != i -> gram [ringType of int] n r i j + 1 <= gram [ringType of int] n r i i].
Proof.
move=> r2 rn; split; last by move=> i j ji; rewrite lez_addr1 gram_diagonal.
  apply/matrixP => i j; rewrite !mxE; case: ifP => _; last by rewrite rmorph_nat.
  by rewrite rmorphB rmorphMn rmorphX rmorphM /= !rmorph_nat.
move=> i j; rewrite mxE natrX.
have le_n (k : 'I_n) : k.+1%:R <= n%:R :> int by rewrite ler_nat.
have ge0 k : 0 <= k%:R :> int by rewrite ler0n.
case: ifP => _; last first.
  apply: le_trans (_ : 1 <= _); first by case: eqP.
  by rewrite -natrX ler1n expn_gt0 (leq_trans _ (leq_trans r2 rn)).
have sq_le (k : 'I_n) : k.+1%:R ^+ 2 <= n%:R ^+ 2 :> int.
  by apply: ler_expn2r; rewrite ?nnegrE ?ler0n.
rewrite ler_norml; apply/andP; split.
  apply: le_trans (_ : - j.+1%:R ^+ 2 <= _); first by rewrite ler_opp2.
  by rewrite ler_addr mulrn_wge0 // mulr_ge0 ?ge0.
apply: le_trans (sq_le i).
by rewrite -subr_ge0 opprB addrA addrAC -sqrrB sqr_ge0.
Qed.

Theorem proposition_3_6 (R : realFieldType) n r : (2 <= r)%N -> (r <= n)%N ->
  exists M : 'M[R]_n, \rank M = r /\ \rank (argmax M) = n.
Proof.
move=> r2 rn; exists (gram R n r); have [-> ->] := gram_integers R r2 rn.
by rewrite mxrank1.
Qed.

(* The proof in the paper takes the Gram matrix of any n distinct points of the
   unit sphere of R^r and says that its rank is r: with (1, 0) and (-1, 0) it is 1. *)
Theorem distinct_points_can_have_low_rank (R : realFieldType) :
  exists v : 'I_2 -> 'rV[R]_2,
    [/\ injective v, forall i, (v i *m (v i)^T) 0 0 = 1 &
        (\rank (\matrix_(i, j) (v i *m (v j)^T) 0 0 : 'M[R]_2)%R < 2)%N].
Proof.
pose s (i : 'I_2) : R := if i == 0 then 1 else -1.
have ss i : s i * s i = 1 by rewrite /s; case: ifP; rewrite ?mulr1 // mulrNN mulr1.
have dot i j : ((s i *: delta_mx 0 0 : 'rV[R]_2) *m (s j *: delta_mx 0 0 : 'rV[R]_2)^T) 0 0
    = s i * s j.
  rewrite linearZ /= -scalemxAl -scalemxAr trmx_delta mul_delta_mx scalerA.
  by rewrite !mxE mulr1.
exists (fun i => s i *: delta_mx 0 0); split => [i j|i|].
- move/(congr1 (fun u : 'rV[R]_2 => u 0 0)); rewrite !mxE !mulr1 /s => e.
  have N11 : (1 : R) == -1 = false by rewrite -subr_eq0 opprK -mulr2n pnatr_eq0.
  case: (eqVneq i 0) (eqVneq j 0) e => [->|i0] [->|j0] //.
  + by move=> /eqP; rewrite N11.
  + by move=> /eqP; rewrite eq_sym N11.
  by case: i i0 => [[|[|]]] //; case: j j0 => [[|[|]]] // ? _ ? _ _; apply: val_inj.
- by rewrite dot ss.
have -> : \matrix_(i, j) ((s i *: delta_mx 0 0 : 'rV[R]_2) *m
      (s j *: delta_mx 0 0 : 'rV[R]_2)^T) 0 0 = (\col_i s i) *m (\row_j s j).
  apply/matrixP => i j; rewrite !mxE big_ord1 !mxE.
  by have := dot i j; rewrite mxE.
by rewrite ltnS; apply: leq_trans (mxrankM_maxr _ _) (rank_leq_row _).
Qed.

Print Assumptions gram_integers.
Print Assumptions gram_entries.
Print Assumptions proposition_3_6.
Print Assumptions distinct_points_can_have_low_rank.
