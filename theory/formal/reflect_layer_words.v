(* The words about layers and facts by reflection. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import attention_layer layer_words reflect_reals reflect_words.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Words.
Variables (R : realFieldType) (exp : R -> R).
Section Layers.
Variables (n H d dqk dvo : nat) (A : layer R n H d dqk dvo).
Lemma tokens_wordE : tokens A = den exp (nat_real n). Proof. exact: nat_realE. Qed.
Lemma heads_wordE : heads A = den exp (nat_real H). Proof. exact: nat_realE. Qed.
Lemma d_model_wordE : d_model A = den exp (nat_real d). Proof. exact: nat_realE. Qed.
Lemma d_qk_wordE : d_qk A = den exp (nat_real dqk). Proof. exact: nat_realE. Qed.
Lemma d_vo_wordE : d_vo A = den exp (nat_real dvo). Proof. exact: nat_realE. Qed.
End Layers.

Lemma keys_wordE D : keys R D = den exp (nat_real (size (undup [seq f.1.1 | f <- D]))).
Proof. exact: nat_realE. Qed.
Lemma queries_wordE D : queries R D = den exp (nat_real (size (undup [seq f.1.2 | f <- D]))).
Proof. exact: nat_realE. Qed.
Lemma slices_rank_sum_wordE D : slices_rank_sum R D = den exp (nat_real
  (minn (size (undup [seq (f.1.1, f.2) | f <- D])) (size (undup [seq (f.1.2, f.2) | f <- D])))).
Proof. exact: nat_realE. Qed.
End Words.
