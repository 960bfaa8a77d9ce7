(* The multi-head attention layer of Mahdavi, Liao and Thrampoulidis (2024):
   every example has a context of n tokens and one query token; the features
   are what all heads see of the context. The exponential of the softmax is a
   parameter of the model. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Model.
Variable R : realFieldType.
Variable exp : R -> R.

(* examples X; n context tokens, H heads, dimensions d and d_h *)
Variables (X : finType) (n H d dh : nat).
Variable E : X -> 'M[R]_(n, d).      (* contexts E^(t) *)
Variable e : X -> 'cV[R]_d.          (* queries e^(t) *)
Variables W_K W_Q : 'I_H -> 'M[R]_(d, dh).

(* the scores E^(t) W_K W_Q^T e^(t) and their softmax theta_h^(t) *)
Definition score h t i : R := (E t *m (W_K h *m (W_Q h)^T) *m e t) i 0.
Definition theta h t i : R := exp (score h t i) / \sum_(k < n) exp (score h t k).

(* row t of Z is [theta_1^T E, ..., theta_H^T E] *)
Definition feature t (hj : 'I_H * 'I_d) : R := \sum_(i < n) theta hj.1 t i * E t i hj.2.
Definition Z : 'M[R]_(#|X|, #|[finType of 'I_H * 'I_d]|) := mx_of feature.

(* rho(F) and delta(F): the dimension of the span of the context rows of the
   examples in F, and of the span of the differences of two rows of a context *)
Definition rho (F : {set X}) : nat :=
  \rank (mx_of (fun (ti : X * 'I_n) j => if ti.1 \in F then E ti.1 ti.2 j else 0)).
Definition delta (F : {set X}) : nat :=
  \rank (mx_of (fun (tik : X * ('I_n * 'I_n)) j =>
    if tik.1 \in F then E tik.1 tik.2.1 j - E tik.1 tik.2.2 j else 0)).

Hypothesis exp_gt0 : forall z, 0 < exp z.

Lemma theta_sum1 h t : (0 < n)%N -> \sum_(i < n) theta h t i = 1.
Proof.
move=> n0; rewrite -mulr_suml divff // gt_eqF //.
rewrite (bigD1 (Ordinal n0)) //=; apply: ltr_paddr => //.
by apply: sumr_ge0 => i _; apply: ltW.
Qed.

End Model.
