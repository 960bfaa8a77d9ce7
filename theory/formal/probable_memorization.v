(* Memorization with a probability (Wong 2025, equation (14)): on every pair of
   the domain the right token has probability at least tau among all tokens. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor attention_layer.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Probable.
Variables (R : realFieldType) (exp : R -> R).
Variables (n H d dqk dvo : nat) (A : layer R n H d dqk dvo).

Definition probability (k q v : 'I_n) : R :=
  exp (final_logits exp A k q v) / \sum_v' exp (final_logits exp A k q v').

Definition memorizes_at (tau : R) (D : 'I_n -> 'I_n -> option 'I_n) :=
  forall k q v, D k q = Some v -> tau <= probability k q v.

End Probable.
