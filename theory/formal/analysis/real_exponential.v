(* The real exponential has the two properties that the theorems about
   certificates ask of an exponential, and so has the power of two. Stated for the
   exponential of mathcomp-analysis over any type of real numbers; the axioms that
   its analysis rests on are printed at the end, and no other file uses them. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals topology normedtype derive sequences exp.
From lemmax Require Import reflect_reals.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldNormedType.Exports.
Local Open Scope ring_scope.

Section Exponential.
Variable R : realType.

Lemma one_plus_le_exp (x : R) : 1 + x <= expR x.
Proof.
have [x0|x0] := leP 0 x; first exact: expR_ge1Dx.
have [|c cx e] := @MVT R (@expR R) (@expR R) x 0 x0 (fun y _ => is_derive_expR y).
  by apply/continuous_subspaceT => y; exact: continuous_expR.
have c1 : expR c <= 1 by rewrite -expR0 ler_expR ltW //; move: cx; rewrite in_itv => /andP[].
move: e; rewrite expR0 sub0r => e.
have : 1 - expR x <= - x by rewrite e -[X in _ <= X]mul1r ler_wpmul2r // oppr_ge0 ltW.
by rewrite ler_subl_addr addrC -ler_subl_addr opprK.
Qed.

Theorem real_exponential : natural_exponential (@expR R).
Proof. by split; [exact: expRD | exact: one_plus_le_exp]. Qed.

Theorem real_power_of_two : binary_exponential (fun x : R => expR (x * ln 2%:R)).
Proof.
split=> [x y|]; first by rewrite mulrDl expRD.
by rewrite mul1r lnK // posrE ltr0n.
Qed.
End Exponential.

Print Assumptions real_exponential.
Print Assumptions real_power_of_two.
