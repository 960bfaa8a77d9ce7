(* Words of comparisons about layers and lists of facts: dimensions, and numbers
   of different keys, queries and values, as numbers of the field. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import attention_layer.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Layers.
Variables (R : realFieldType) (n H d dqk dvo : nat).
Implicit Type A : layer R n H d dqk dvo.
Definition tokens A : R := n%:R.
Definition heads A : R := H%:R.
Definition d_model A : R := d%:R.
Definition d_qk A : R := dqk%:R.
Definition d_vo A : R := dvo%:R.
End Layers.

Section Facts.
Variable R : realFieldType.
Implicit Type D : seq (nat * nat * nat).
Definition keys D : R := (size (undup [seq f.1.1 | f <- D]))%:R.
Definition queries D : R := (size (undup [seq f.1.2 | f <- D]))%:R.

(* min(sum_k |V_k|, sum_q |V_q|), the bound of Wong 2025, Proposition 2.1 *)
Definition slices_rank_sum D : R :=
  (minn (size (undup [seq (f.1.1, f.2) | f <- D])) (size (undup [seq (f.1.2, f.2) | f <- D])))%:R.
End Facts.
Arguments keys R D : clear implicits.
Arguments queries R D : clear implicits.
Arguments slices_rank_sum R D : clear implicits.
