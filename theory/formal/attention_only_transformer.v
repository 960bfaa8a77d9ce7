(* The attention-only transformer of Dana, Pydi and Chevaleyre (2024), with the
   notation of their Section 2: one layer of multi-head attention, positional
   embeddings, a skip connection, and the logits read at the last position.
   The exponential of the softmax is a parameter of the model; the theorems
   say what they need of it (positive, injective). *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Model.
Variable R : realFieldType.
Variable exp : R -> R.

(* N tokens, S = s.+1 positions, H heads, embedding dimension d, head dimension dh *)
Record aot (N s H d dh : nat) := AoT {
  e   : 'I_N -> 'cV[R]_d;           (* token embedding *)
  pos : 'I_s.+1 -> 'cV[R]_d;        (* positional embedding *)
  W_Q : 'I_H -> 'M[R]_(dh, d);
  W_K : 'I_H -> 'M[R]_(dh, d);
  W_V : 'I_H -> 'M[R]_(dh, d);
  W_O : 'I_H -> 'M[R]_(d, dh);
  W_U : 'M[R]_(N, d)                (* unembedding *)
}.

Variables (N s H d dh : nat) (A : aot N s H d dh).
Implicit Types (t : 'I_s.+1 -> 'I_N) (h : 'I_H) (i : 'I_s.+1).

(* e(t_i) + pos_i *)
Definition x t i : 'cV[R]_d := e A (t i) + pos A i.

(* (e(t_S) + pos_S)^T W_QK (e(t_i) + pos_i) with W_QK = W_Q^T W_K *)
Definition score h t i : R :=
  ((x t ord_max)^T *m ((W_Q A h)^T *m W_K A h) *m x t i) 0 0.

(* a^h(t), the softmax of the scores: equation (1) *)
Definition weight h t i : R :=
  exp (score h t i) / \sum_(j < s.+1) exp (score h t j).

(* A^h(t), the attention before output *)
Definition attention h t : 'cV[R]_d := \sum_(i < s.+1) weight h t i *: x t i.

(* the logits of the next token: equation (2) *)
Definition logits t : 'cV[R]_N :=
  W_U A *m (x t ord_max + \sum_(h < H) W_O A h *m (W_V A h *m attention h t)).

(* the transformer memorizes (t, y): the logit of y is the strict maximum *)
Definition memorizes t (y : 'I_N) :=
  forall y', y' != y -> logits t y' 0 < logits t y 0.

End Model.
