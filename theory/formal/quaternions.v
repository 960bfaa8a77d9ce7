(* Hamilton's quaternions over an ordered field: an algebra with division, of
   dimension four, that does not commute. *)
From Coq Require Import Ring.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import bilinear algebras.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* four coordinates, over any commutative ring: those of 1, i, j, ij *)
Section FourCoordinates.
Variables (K : Type) (zero one : K) (add mul sub : K -> K -> K) (opp : K -> K).
Hypothesis ringK : ring_theory zero one add mul sub opp eq.
Add Ring ringK : ringK.
Local Notation "x + y" := (add x y).
Local Notation "x - y" := (sub x y).
Local Notation "x * y" := (mul x y).

Definition hamilton (x y : K * K * K * K) : K * K * K * K :=
  let: (x0, x1, x2, x3) := x in let: (y0, y1, y2, y3) := y in
  (x0 * y0 - x1 * y1 - x2 * y2 - x3 * y3, x0 * y1 + x1 * y0 + x2 * y3 - x3 * y2,
   x0 * y2 - x1 * y3 + x2 * y0 + x3 * y1, x0 * y3 + x1 * y2 - x2 * y1 + x3 * y0).

Definition combination c (x y : K * K * K * K) : K * K * K * K :=
  let: (x0, x1, x2, x3) := x in let: (y0, y1, y2, y3) := y in
  (c * x0 + y0, c * x1 + y1, c * x2 + y2, c * x3 + y3).

Definition conjugate (x : K * K * K * K) : K * K * K * K :=
  let: (x0, x1, x2, x3) := x in (x0, opp x1, opp x2, opp x3).

Definition norm (x : K * K * K * K) : K :=
  let: (x0, x1, x2, x3) := x in x0 * x0 + (x1 * x1 + (x2 * x2 + x3 * x3)).

Lemma four_eq (a b c d a' b' c' d' : K) : a = a' -> b = b' -> c = c' -> d = d' ->
  (a, b, c, d) = (a', b', c', d').
Proof. by move=> -> -> -> ->. Qed.

Lemma hamiltonA x y z : hamilton x (hamilton y z) = hamilton (hamilton x y) z.
Proof.
move: x y z => [[[x0 x1] x2] x3] [[[y0 y1] y2] y3] [[[z0 z1] z2] z3].
by rewrite /hamilton /combination; apply: four_eq; ring.
Qed.

Lemma hamilton_left c x y z :
  hamilton (combination c x y) z = combination c (hamilton x z) (hamilton y z).
Proof.
move: x y z => [[[x0 x1] x2] x3] [[[y0 y1] y2] y3] [[[z0 z1] z2] z3].
by rewrite /hamilton /combination; apply: four_eq; ring.
Qed.

Lemma hamilton_right c x y z :
  hamilton z (combination c x y) = combination c (hamilton z x) (hamilton z y).
Proof.
move: x y z => [[[x0 x1] x2] x3] [[[y0 y1] y2] y3] [[[z0 z1] z2] z3].
by rewrite /hamilton /combination; apply: four_eq; ring.
Qed.

Lemma hamilton1l x : hamilton (one, zero, zero, zero) x = x.
Proof.
by move: x => [[[x0 x1] x2] x3]; rewrite /hamilton /conjugate /norm; apply: four_eq; ring.
Qed.

Lemma hamilton1r x : hamilton x (one, zero, zero, zero) = x.
Proof.
by move: x => [[[x0 x1] x2] x3]; rewrite /hamilton /conjugate /norm; apply: four_eq; ring.
Qed.

Lemma hamilton_norm x : hamilton x (conjugate x) = (norm x, zero, zero, zero).
Proof.
by move: x => [[[x0 x1] x2] x3]; rewrite /hamilton /conjugate /norm; apply: four_eq; ring.
Qed.

Lemma norm_hamilton x : hamilton (conjugate x) x = (norm x, zero, zero, zero).
Proof.
by move: x => [[[x0 x1] x2] x3]; rewrite /hamilton /conjugate /norm; apply: four_eq; ring.
Qed.
End FourCoordinates.

(* Hamilton's quaternions over an ordered field *)
Section Quaternions.
Variable R : realFieldType.
Local Notation H := (matrix_vectType R 1 4).

Definition of_four (t : R * R * R * R) : H :=
  let: (a, b, c, d) := t in \row_(i < 4) nth 0 [:: a; b; c; d] i.

Definition to_four (x : H) : R * R * R * R :=
  (x 0 (Ordinal (isT : 0 < 4)%N), x 0 (Ordinal (isT : 1 < 4)%N),
   x 0 (Ordinal (isT : 2 < 4)%N), x 0 (Ordinal (isT : 3 < 4)%N)).

Definition quaternion_mul (x y : H) : H :=
  of_four (hamilton +%R *%R (fun a b => a - b) (to_four x) (to_four y)).

Definition quaternion_one : H := of_four (1, 0, 0, 0).

Lemma of_fourK t : to_four (of_four t) = t.
Proof. by move: t => [[[a b] c] d]; rewrite /to_four !mxE. Qed.

Lemma to_fourK x : of_four (to_four x) = x.
Proof.
apply/rowP => i; rewrite mxE; case: i => -[|[|[|[|//]]]] lt /=;
  by congr (x 0 _); apply/val_inj.
Qed.

Lemma to_four_inj : injective to_four. Proof. exact: can_inj to_fourK. Qed.

Lemma ring_of : ring_theory 0 1 (@GRing.add R) (@GRing.mul R) (fun a b => a - b) (@GRing.opp R) eq.
Proof.
split.
- exact: add0r.
- exact: addrC.
- exact: addrA.
- exact: mul1r.
- exact: mulrC.
- exact: mulrA.
- exact: mulrDl.
- by [].
- exact: addrN.
Qed.

Lemma to_four_linear c (x y : H) :
  to_four (c *: x + y) = combination +%R *%R c (to_four x) (to_four y).
Proof. by rewrite /to_four !mxE. Qed.

Lemma quaternion_algebra : algebra quaternion_mul quaternion_one.
Proof.
split.
- split=> z c x y; apply: to_four_inj; rewrite to_four_linear !of_fourK to_four_linear.
    exact: (hamilton_left ring_of).
  exact: (hamilton_right ring_of).
- by move=> x y z; apply: to_four_inj; rewrite !of_fourK; apply: (hamiltonA ring_of).
- by move=> x; apply: to_four_inj; rewrite !of_fourK; apply: (hamilton1l ring_of).
- by move=> x; apply: to_four_inj; rewrite !of_fourK; apply: (hamilton1r ring_of).
Qed.

Lemma norm_zero x : norm +%R *%R (to_four x) = 0 -> x = 0.
Proof.
have pos (a b : R) : 0 <= b -> a * a + b = 0 -> a = 0 /\ b = 0.
  move=> b0 /eqP; rewrite paddr_eq0 ?sqr_ge0 // mulf_eq0 orbb.
  by case/andP => /eqP -> /eqP ->.
have sq (a : R) : 0 <= a * a by apply: sqr_ge0.
move=> n0; apply: to_four_inj; rewrite [RHS]/to_four !mxE; move: n0.
move: (to_four x) => [[[a b] c] d] /=.
move=> /pos []; first by rewrite !addr_ge0.
move=> -> /pos []; first by rewrite !addr_ge0.
by move=> -> /pos [] // -> /eqP; rewrite mulf_eq0 orbb => /eqP ->.
Qed.

Lemma quaternion_division : division quaternion_mul quaternion_one.
Proof.
have [bil _ _ _] := quaternion_algebra; split=> [|x x0].
  apply/eqP => /(congr1 to_four); rewrite of_fourK /to_four !mxE => -[] /eqP.
  by rewrite oner_eq0.
pose n := norm +%R *%R (to_four x); pose y := of_four (conjugate -%R (to_four x)).
have n0 : n != 0 by apply: contraNneq x0 => /norm_zero ->.
have scaled : of_four (n, 0, 0, 0) = n *: quaternion_one.
  apply/rowP => -[[|[|[|[|//]]]] lt]; rewrite !mxE /= ?mulr1 ?mulr0 //.
have xy : quaternion_mul x y = n *: quaternion_one.
  by rewrite /quaternion_mul of_fourK (hamilton_norm ring_of).
have yx : quaternion_mul y x = n *: quaternion_one.
  by rewrite /quaternion_mul of_fourK (norm_hamilton ring_of).
by exists (n^-1 *: y); rewrite (biZr bil) (biZl bil) xy yx scalerA mulVf // scale1r.
Qed.

Lemma quaternions_do_not_commute : ~ commutative quaternion_mul.
Proof.
move=> /(_ (of_four (0, 1, 0, 0)) (of_four (0, 0, 1, 0))) /(congr1 to_four).
rewrite !of_fourK /= !(mulr0, mul0r, mulr1, subr0, add0r, addr0, sub0r) => -[] _ /eqP.
by rewrite -subr_eq0 opprK -mulr2n pnatr_eq0.
Qed.
End Quaternions.
