(* Binary integers as elements of a ring, and lists of them as matrices.
   A certificate's data are lists of binary integers, since these are what a
   kernel computes with; zr reads an integer in any ring, zmx a list of rows as
   a matrix. What is computed on lists is proved here to be the sum or the
   product that it stands for. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Delimit Scope Z_scope with bZ.
Local Open Scope ring_scope.

(* an integer in binary as an integer of MathComp *)
Definition z2i (z : Z) : int :=
  match z with
  | Z0 => 0
  | Zpos p => Posz (Pos.to_nat p)
  | Zneg p => - Posz (Pos.to_nat p)
  end.

(* ... and in a ring *)
Definition zr (R : ringType) (z : Z) : R := (z2i z)%:~R.

Lemma z2iS z : z2i (Z.succ z) = z2i z + 1.
Proof.
case: z => [|p|p] //=; first by rewrite Pos.add_1_r Pos2Nat.inj_succ -addn1 PoszD.
have [->|<-] := Pos.succ_pred_or p; first by [].
move: (Pos.pred p) => {p} q; rewrite Pos2Nat.inj_succ -addn1 PoszD opprD addrNK.
have -> : Z.pos_sub 1 (Pos.succ q) = Zneg q; last by [].
by rewrite Z.pos_sub_lt ?Pos.sub_1_r ?Pos.pred_succ //; apply: Pos.lt_1_succ.
Qed.

Lemma z2iP z : z2i (Z.pred z) = z2i z - 1.
Proof. by rewrite -{2}(Z.succ_pred z) z2iS addrK. Qed.

Lemma z2iD a b : z2i (a + b)%bZ = z2i a + z2i b.
Proof.
elim/Z.peano_ind: a => [|a IH|a IH]; first by rewrite Z.add_0_l add0r.
  by rewrite Z.add_succ_l !z2iS IH addrAC.
by rewrite Z.add_pred_l !z2iP IH addrAC.
Qed.

Lemma z2iN a : z2i (- a)%bZ = - z2i a.
Proof. by case: a => //= p; rewrite ?oppr0 ?opprK. Qed.

Lemma z2iM a b : z2i (a * b)%bZ = z2i a * z2i b.
Proof.
elim/Z.peano_ind: a => [|a IH|a IH]; first by rewrite Z.mul_0_l mul0r.
  by rewrite Z.mul_succ_l z2iD z2iS IH mulrDl mul1r.
by rewrite Z.mul_pred_l z2iP /Z.sub z2iD z2iN IH mulrBl mul1r.
Qed.

Lemma z2i_ge0 a : (0 <= z2i a) = (0 <=? a)%bZ.
Proof.
case: a => [|p|p] //=; rewrite oppr_ge0.
by have := Pos2Nat.is_pos p; case: (Pos.to_nat p) => [/Nat.lt_irrefl|].
Qed.

Lemma z2i_le a b : (z2i a <= z2i b) = (a <=? b)%bZ.
Proof.
rewrite -subr_ge0 -z2iN -z2iD z2i_ge0.
by apply/Z.leb_spec0/Z.leb_spec0 => H; [apply/Z.le_0_sub | apply/Z.le_0_sub].
Qed.

Lemma z2i_lt a b : (z2i a < z2i b) = (a <? b)%bZ.
Proof. by rewrite ltNge z2i_le Z.ltb_antisym. Qed.

Lemma z2i_eq a b : (z2i a == z2i b) = (a =? b)%bZ.
Proof.
rewrite eq_le !z2i_le; apply/andP/idP => [[/Z.leb_le ab /Z.leb_le ba]|/Z.eqb_eq ->].
  by apply/Z.eqb_eq/Z.le_antisymm.
by rewrite Z.leb_refl.
Qed.

Section Ring.
Variable R : ringType.
Lemma zrD a b : zr R (a + b)%bZ = zr R a + zr R b. Proof. by rewrite /zr z2iD rmorphD. Qed.
Lemma zrM a b : zr R (a * b)%bZ = zr R a * zr R b. Proof. by rewrite /zr z2iM rmorphM. Qed.
Lemma zrN a : zr R (- a)%bZ = - zr R a. Proof. by rewrite /zr z2iN rmorphN. Qed.
Lemma zrB a b : zr R (a - b)%bZ = zr R a - zr R b. Proof. by rewrite zrD zrN. Qed.
Lemma zr0 : zr R 0 = 0. Proof. by []. Qed.
Lemma zr1 : zr R 1 = 1. Proof. by []. Qed.
Lemma zr_eqb a b : (a =? b)%bZ -> zr R a = zr R b. Proof. by move/Z.eqb_eq => ->. Qed.
End Ring.

Section Ordered.
Variable R : numDomainType.
Lemma zr_le a b : (zr R a <= zr R b) = (a <=? b)%bZ. Proof. by rewrite ler_int z2i_le. Qed.
Lemma zr_lt a b : (zr R a < zr R b) = (a <? b)%bZ. Proof. by rewrite ltr_int z2i_lt. Qed.
Lemma zr_eq a b : (zr R a == zr R b) = (a =? b)%bZ. Proof. by rewrite eqr_int z2i_eq. Qed.
Lemma zr_eq0 a : (zr R a == 0) = (a =? 0)%bZ. Proof. by rewrite -zr_eq. Qed.
Lemma zr_gt0 a : (0 < zr R a) = (0 <? a)%bZ. Proof. by rewrite -zr_lt. Qed.
Lemma zr_ge0 a : (0 <= zr R a) = (0 <=? a)%bZ. Proof. by rewrite -zr_le. Qed.
End Ordered.

(* lists of integers *)
Definition row_at (M : seq (seq Z)) i : seq Z := nth [::] M i.
Definition entry (M : seq (seq Z)) i j : Z := nth 0%bZ (row_at M i) j.

(* the matrix whose rows are listed, in any ring *)
Definition zmx (R : ringType) m n (M : seq (seq Z)) : 'M[R]_(m, n) :=
  \matrix_(i, j) zr R (entry M i j).

(* the same over a common denominator *)
Definition qmx (R : fieldType) m n (d : Z) (M : seq (seq Z)) : 'M[R]_(m, n) :=
  \matrix_(i, j) (zr R (entry M i j) / zr R d).

Lemma qmxE (R : fieldType) m n d M : qmx R m n d M = (zr R d)^-1 *: zmx R m n M.
Proof. by apply/matrixP => i j; rewrite !mxE mulrC. Qed.

(* m rows of n entries each *)
Definition shaped m n (M : seq (seq Z)) :=
  (size M == m) && all (fun r => size r == n) M.

Lemma shaped_row m n M i : shaped m n M -> (i < m)%N -> size (row_at M i) = n.
Proof. by case/andP => /eqP sM /(all_nthP [::]) H im; apply/eqP/H; rewrite sM. Qed.

Fixpoint dot (a b : seq Z) : Z :=
  match a, b with
  | x :: a', y :: b' => (x * y + dot a' b')%bZ
  | _, _ => 0%bZ
  end.

Lemma dotE (R : ringType) n a b : size a = n -> size b = n ->
  zr R (dot a b) = \sum_(i < n) zr R (nth 0%bZ a i) * zr R (nth 0%bZ b i).
Proof.
elim: n a b => [|n IH] [|x a] [|y b] //=; first by rewrite big_ord0.
by move=> [sa] [sb]; rewrite big_ord_recl /= zrD zrM (IH a b).
Qed.

(* two lists of rows are equal, row by row *)
Fixpoint eqrow (a b : seq Z) : bool :=
  match a, b with
  | [::], [::] => true
  | x :: a', y :: b' => (x =? y)%bZ && eqrow a' b'
  | _, _ => false
  end.

Lemma eqrowP a b : eqrow a b -> a = b.
Proof. by elim: a b => [|x a IH] [|y b] //= /andP[/Z.eqb_eq -> /IH ->]. Qed.

Fixpoint eqrows (a b : seq (seq Z)) : bool :=
  match a, b with
  | [::], [::] => true
  | x :: a', y :: b' => eqrow x y && eqrows a' b'
  | _, _ => false
  end.

Lemma eqrowsP a b : eqrows a b -> a = b.
Proof. by elim: a b => [|x a IH] [|y b] //= /andP[/eqrowP -> /IH ->]. Qed.

(* A times the matrix whose columns are listed in Bt *)
Definition times (A Bt : seq (seq Z)) := [seq [seq dot r c | c <- Bt] | r <- A].

Lemma timesE (R : ringType) m k n A Bt : shaped m k A -> shaped n k Bt ->
  zmx R m n (times A Bt) = zmx R m k A *m (zmx R n k Bt)^T.
Proof.
move=> sA sB; apply/matrixP => i j; rewrite !mxE.
have [/eqP zA _] := andP sA; have [/eqP zB _] := andP sB.
rewrite /entry {1}/row_at /times (nth_map [::]) ?zA // (nth_map [::]) ?zB //.
rewrite (@dotE _ k) ?(shaped_row sA) ?(shaped_row sB) //.
by apply: eq_bigr => l _; rewrite !mxE.
Qed.

Lemma zmx_int (R : ringType) m n M : zmx R m n M = map_mx intr (zmx [ringType of int] m n M).
Proof. by apply/matrixP => i j; rewrite !mxE /zr intz. Qed.
