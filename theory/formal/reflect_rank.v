(* The rank of a matrix by reflection, over every numerical field at once: the
   rationals, the reals and the complex numbers.

   From below: if S is a square submatrix and S N = 1 modulo p, for any p > 1,
   then det S det N = 1 in Z/p, so det S is not zero. Whether p is a prime does
   not matter. From above: d M = L R with d != 0 and r columns in L. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import reflect_integers.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Submatrix.
Variable F : fieldType.

Lemma mxrank_mxsub m n m' n' (f : 'I_m' -> 'I_m) (g : 'I_n' -> 'I_n) (A : 'M[F]_(m, n)) :
  (\rank (mxsub f g A) <= \rank A)%N.
Proof.
have -> : mxsub f g A = (\matrix_(i, j) (f i == j)%:R) *m A *m (\matrix_(i, j) (g j == i)%:R).
  apply/matrixP => i j; rewrite !mxE (bigD1 (g j)) //= [X in _ = _ + X]big1 => [|l /negPf gl].
    rewrite !mxE eqxx mulr1 addr0 (bigD1 (f i)) //= big1 => [|l /negPf fl].
      by rewrite mxE eqxx mul1r addr0.
    by rewrite mxE eq_sym fl mul0r.
  by rewrite !mxE eq_sym gl mulr0.
exact: leq_trans (mxrankM_maxl _ _) (mxrankM_maxr _ _).
Qed.

End Submatrix.

(* the rows I and the columns J of M *)
Definition minor (M : seq (seq Z)) (I J : seq nat) :=
  [seq [seq nth 0%bZ r j | j <- J] | r <- [seq row_at M i | i <- I]].

(* r rows of the identity modulo p: row i has 1 at i and 0 elsewhere *)
Definition zero_row (p : Z) : seq Z -> bool := all (fun x => (x mod p =? 0)%bZ).

Fixpoint unit_row (p : Z) (i : nat) (r : seq Z) : bool :=
  match r, i with
  | [::], _ => true
  | x :: r', 0%N => (x mod p =? 1)%bZ && zero_row p r'
  | x :: r', i'.+1 => (x mod p =? 0)%bZ && unit_row p i' r'
  end.

Fixpoint identity_rows (p : Z) (i : nat) (M : seq (seq Z)) : bool :=
  match M with
  | [::] => true
  | r :: M' => unit_row p i r && identity_rows p i.+1 M'
  end.

Definition reduced (p : Z) (M : seq (seq Z)) := [seq [seq (x mod p)%bZ | x <- r] | r <- M].

(* S N = 1 modulo p, where Nt lists the columns of N *)
Definition inverse_mod (p : Z) r (S Nt : seq (seq Z)) :=
  [&& (1 <? p)%bZ, shaped r r S, shaped r r Nt & identity_rows p 0 (times (reduced p S) Nt)].

Lemma unit_rowP p i (r : seq Z) j : (j < size r)%N -> unit_row p i r ->
  (nth 0%bZ r j mod p)%bZ = (if i == j then 1 else 0)%bZ.
Proof.
elim: r i j => [|x r IH] [|i] [|j] //= sj /andP[/Z.eqb_eq xp H] //.
  by have /(all_nthP 0%bZ)/(_ j sj)/Z.eqb_eq := H.
by rewrite (IH i j sj H) eqSS.
Qed.

Lemma identity_rowsP p k (M : seq (seq Z)) i j :
  (i < size M)%N -> (j < size (row_at M i))%N -> identity_rows p k M ->
  (entry M i j mod p)%bZ = (if (k + i)%N == j then 1 else 0)%bZ.
Proof.
elim: M k i => [|r M IH] k [|i] //= si sj /andP[].
  by rewrite addn0 => /(unit_rowP sj).
by move=> _ /(IH _ _ si sj); rewrite addSnnS.
Qed.

Section ModP.
Variable p : Z.
Hypothesis p1 : (1 <? p)%bZ.
Let n := Z.to_nat p.

Lemma n_gt1 : (1 < n)%N.
Proof.
have /Z.ltb_lt p1' := p1; rewrite /n.
apply/ssrnat.ltP; change 1%N with (Z.to_nat 1).
by apply/Z2Nat.inj_lt => //; apply: Z.le_trans (Z.lt_le_incl _ _ p1').
Qed.

Lemma zr_p : zr [ringType of 'Z_n] p = 0.
Proof.
have /Z.ltb_lt p1' := p1.
rewrite -(Z2Nat.id p); last by apply: Z.le_trans (Z.lt_le_incl _ _ p1').
rewrite -/n; have := n_gt1; case: n => // k k1.
by rewrite /zr /= SuccNat2Pos.id_succ -pmulrn char_Zp.
Qed.

Lemma zr_mod a : zr [ringType of 'Z_n] (a mod p)%bZ = zr [ringType of 'Z_n] a.
Proof.
have p0 : p <> 0%bZ by move=> p0; move: p1; rewrite p0.
by rewrite {2}(Z.div_mod a p p0) zrD zrM zr_p mul0r add0r.
Qed.

Lemma inverse_mod_det r (F : numDomainType) S Nt :
  inverse_mod p r S Nt -> \det (zmx F r r S) != 0.
Proof.
case/and4P => _ sS sN units; rewrite zmx_int det_map_mx intr_eq0; apply/negP => /eqP d0.
set Zp := [comRingType of 'Z_n].
have sR : shaped r r (reduced p S).
  case/andP: sS => sS aS; rewrite /shaped size_map sS all_map.
  by apply: sub_all aS => x /=; rewrite size_map.
have redE : zmx Zp r r (reduced p S) = zmx Zp r r S.
  apply/matrixP => i j; rewrite !mxE /entry /row_at /reduced.
  have [/eqP zS _] := andP sS.
  by rewrite (nth_map [::]) ?zS // (nth_map 0%bZ) ?zr_mod // (shaped_row sS).
have SN : zmx Zp r r S *m (zmx Zp r r Nt)^T = 1%:M.
  rewrite -redE -timesE //; apply/matrixP => i j; rewrite !mxE -zr_mod.
  have [/eqP zR _] := andP sR; have [/eqP zN _] := andP sN.
  have si : (i < size (times (reduced p S) Nt))%N by rewrite size_map zR.
  have sj : (j < size (row_at (times (reduced p S) Nt) i))%N.
    by rewrite /row_at /times (nth_map [::]) ?zR // size_map zN.
  by rewrite (identity_rowsP si sj units) add0n -val_eqE; case: eqP.
have detS : \det (zmx Zp r r S) = 0 by rewrite zmx_int det_map_mx d0 rmorph0.
have := congr1 determinant SN; rewrite det_mulmx detS mul0r det1 => /eqP.
by rewrite eq_sym oner_eq0.
Qed.

End ModP.

Section Rank.
Variable F : numFieldType.

(* rank M >= r *)
Definition rank_ge_check (p : Z) m n (M : seq (seq Z)) (I J : seq nat) (Nt : seq (seq Z)) :=
  [&& all (fun i => i < m)%N I, all (fun j => j < n)%N J
    & inverse_mod p (size I) (minor M I J) Nt].

Lemma minor_rank m n M I J : all (fun i => i < m)%N I -> all (fun j => j < n)%N J ->
  size I = size J ->
  (\rank (zmx F (size I) (size I) (minor M I J)) <= \rank (zmx F m n M))%N.
Proof.
move=> /(all_nthP 0%N) Im /(all_nthP 0%N) Jn sIJ.
have Jn' (j : 'I_(size I)) : (nth 0%N J j < n)%N by apply: Jn; rewrite -sIJ.
pose f (i : 'I_(size I)) := Ordinal (Im i (ltn_ord i)).
pose g (j : 'I_(size I)) := Ordinal (Jn' j).
have -> : zmx F (size I) (size I) (minor M I J) = mxsub f g (zmx F m n M).
  apply/matrixP => i j; rewrite !mxE /entry /row_at /minor -map_comp (nth_map 0%N) //=.
  by rewrite (nth_map 0%N) // -sIJ.
exact: mxrank_mxsub.
Qed.

Lemma rank_ge_sound p m n M I J Nt :
  rank_ge_check p m n M I J Nt -> (size I <= \rank (zmx F m n M))%N.
Proof.
case/and3P => Im Jn inv.
have /and4P[p1 sS _ _] := inv.
have [I0|Ipos] := posnP (size I); first by rewrite I0.
have sIJ : size I = size J.
  by have := shaped_row sS Ipos; rewrite /row_at /minor (nth_map [::]) ?size_map.
apply: leq_trans (minor_rank M Im Jn sIJ).
by rewrite mxrank_unit // unitmxE unitfE (inverse_mod_det p1 F inv).
Qed.

(* rank M <= r: d M = L R; Rt lists the columns of R *)
Definition rank_le_check m n r (d : Z) (M L Rt : seq (seq Z)) :=
  [&& ~~ (d =? 0)%bZ, shaped m r L, shaped n r Rt
    & eqrows (times L Rt) [seq [seq (d * x)%bZ | x <- row] | row <- M]].

Lemma rank_le_sound m n r d M L Rt :
  rank_le_check m n r d M L Rt -> (\rank (zmx F m n M) <= r)%N.
Proof.
case/and4P => d0 sL sR /eqrowsP LR.
have dn : zr F d != 0 by rewrite zr_eq0.
have dM : zmx F m r L *m (zmx F n r Rt)^T = zr F d *: zmx F m n M.
  rewrite -timesE // LR; apply/matrixP => i j; rewrite !mxE -zrM /entry /row_at.
  have [si|si] := ltnP i (size M); last first.
    by rewrite !(nth_default [::]) ?size_map // !nth_nil Z.mul_0_r.
  rewrite (nth_map [::]) //.
  have [sj|sj] := ltnP j (size (nth [::] M i)); first by rewrite (nth_map 0%bZ).
  by rewrite !(nth_default 0%bZ) ?size_map // Z.mul_0_r.
rewrite -(mxrank_scale_nz _ dn) -dM.
exact: leq_trans (mxrankM_maxl _ _) (rank_leq_col _).
Qed.

Lemma qmx_rank m n d M : ~~ (d =? 0)%bZ -> \rank (qmx F m n d M) = \rank (zmx F m n M).
Proof. by move=> d0; rewrite qmxE mxrank_scale_nz // invr_eq0 zr_eq0. Qed.

(* what shows a rank: nothing but the size, or a factorisation, from above *)
Inductive above := BySize | ByFactors (d : Z) (L Rt : seq (seq Z)).

Definition above_check m n r M (a : above) :=
  match a with
  | BySize => (m == r) || (n == r)
  | ByFactors d L Rt => rank_le_check m n r d M L Rt
  end.

Lemma above_sound m n r M a : above_check m n r M a -> (\rank (zmx F m n M) <= r)%N.
Proof.
case: a => [|d L Rt] /=; last exact: rank_le_sound.
by case/orP => /eqP <-; [exact: rank_leq_row | exact: rank_leq_col].
Qed.

Definition rank_check m n r (d : Z) M p I J Nt a :=
  [&& ~~ (d =? 0)%bZ, shaped m n M, size I == r, rank_ge_check p m n M I J Nt
    & above_check m n r M a].

(* the rank of the matrix M / d is r *)
Lemma rank_sound m n r d M p I J Nt a :
  rank_check m n r d M p I J Nt a -> \rank (qmx F m n d M) = r.
Proof.
case/and5P => d0 _ /eqP sI lo up; rewrite qmx_rank //.
by apply/eqP; rewrite eqn_leq (above_sound up) -sI (rank_ge_sound lo).
Qed.

End Rank.

Arguments zmx R (m n)%nat_scope M.
Arguments qmx R (m n)%nat_scope d%Z_scope M.
Arguments rank_check (m n r)%nat_scope d%Z_scope M p%Z_scope I J Nt a.

(* controls: what a flawed certificate says is rejected by computation *)
Section Controls.
Let M := [:: [:: 2; 1]; [:: 1; 1]]%bZ.
Let Nt := [:: [:: 1; 6]; [:: 6; 2]]%bZ. (* the columns of the inverse modulo 7 *)

Example accepted : rank_check 2 2 2 1 M 7 [:: 0; 1]%N [:: 0; 1]%N Nt BySize.
Proof. by []. Qed.
Example wrong_modulus : rank_check 2 2 2 1 M 5 [:: 0; 1]%N [:: 0; 1]%N Nt BySize = false.
Proof. by []. Qed.
Example modulus_one : rank_check 2 2 2 1 M 1 [:: 0; 1]%N [:: 0; 1]%N Nt BySize = false.
Proof. by []. Qed.
Example wrong_rank : rank_check 2 2 1 1 M 7 [:: 0; 1]%N [:: 0; 1]%N Nt BySize = false.
Proof. by []. Qed.
Example duplicated_row : rank_check 2 2 2 1 M 7 [:: 0; 0]%N [:: 0; 1]%N Nt BySize = false.
Proof. by []. Qed.
Example wrong_entry :
  rank_check 2 2 2 1 [:: [:: 2; 1]; [:: 1; 4]]%bZ 7 [:: 0; 1]%N [:: 0; 1]%N Nt BySize = false.
Proof. by []. Qed.
Example wrong_factors :
  rank_check 2 2 1 1 M 7 [:: 0]%N [:: 0]%N [:: [:: 4]]%bZ
    (ByFactors 1 [:: [:: 2]; [:: 1]]%bZ [:: [:: 1]; [:: 1]]%bZ) = false.
Proof. by []. Qed.
End Controls.

Print Assumptions rank_sound.
