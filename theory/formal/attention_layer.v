(* The attention layer of Wong (2025), Section 3: one layer, no positions, no
   normalisation, no biases. The exponential of the softmax is a parameter of
   the model; the theorems say what they need of it. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Layer.
Variable R : realFieldType.
Variable exp : R -> R.

(* n = |T| tokens, H heads, dimensions d_model, d_head,qk and d_head,vo *)
Record layer (n H d dqk dvo : nat) := Layer {
  W_E : 'M[R]_(n, d);
  W_U : 'M[R]_(d, n);
  W_Q : 'I_H -> 'M[R]_(d, dqk);
  W_K : 'I_H -> 'M[R]_(dqk, d);
  W_V : 'I_H -> 'M[R]_(d, dvo);
  W_O : 'I_H -> 'M[R]_(dvo, d)
}.

Variables (n H d dqk dvo : nat) (A : layer n H d dqk dvo).
Implicit Types h : 'I_H.

(* the circuits *)
Definition W_EU : 'M[R]_n := W_E A *m W_U A.
Definition W_QK h : 'M[R]_n := W_E A *m W_Q A h *m W_K A h *m (W_E A)^T.
Definition W_VO h : 'M[R]_n := W_E A *m W_V A h *m W_O A h *m W_U A.

(* auto-regressively masked row-wise softmax: equation (3) *)
Definition masked_softmax m (M : 'M[R]_m) : 'M[R]_m :=
  \matrix_(i, j) if (j <= i)%N
                 then exp (M i j) / \sum_(k < m | (k <= i)%N) exp (M i k) else 0.

(* a sequence of tokens as a matrix of unit rows, and its logits: equation (2) *)
Definition tokens_mx m (x : 'I_m -> 'I_n) : 'M[R]_(m, n) :=
  \matrix_(i, j) (x i == j)%:R.

Definition logits m (x : 'I_m -> 'I_n) : 'M[R]_(m, n) :=
  tokens_mx x *m W_EU +
  \sum_h masked_softmax (tokens_mx x *m W_QK h *m (tokens_mx x)^T) *m tokens_mx x *m W_VO h.

(* the sequence (k, q), and the logits at its last position *)
Definition pair_seq (k q : 'I_n) : 'I_2 -> 'I_n := fun i => if i == 0 then k else q.

Definition final_logits (k q v : 'I_n) : R := logits (pair_seq k q) 1 v.

(* the attention that the last position pays to the first *)
Definition attention_to_first h (k q : 'I_n) : R :=
  exp (W_QK h q k) / (exp (W_QK h q k) + exp (W_QK h q q)).

(* The layer memorizes the database D by argmax: on every pair of the domain the
   logit of the right token is strictly larger than those of the other tokens of
   V; V may be all tokens, or only those that occur as values. *)
Definition memorizes (V : {set 'I_n}) (D : 'I_n -> 'I_n -> option 'I_n) :=
  forall k q v, D k q = Some v ->
    forall v', v' \in V -> v' != v -> final_logits k q v' < final_logits k q v.

(* The tensor L of equations (4) to (8), for finite sets of subjects, predicates
   and objects named by tokens. The attention tensors A^h may be any: equation
   (5) as printed, without its mask, or counted by positions. *)
Section Tensor.
Variables (K Q V : finType) (key : K -> 'I_n) (query : Q -> 'I_n) (value : V -> 'I_n).

(* V^h, E, A^h V^h and L: equations (4), (7), (6) and (8) *)
Definition tensor_V h : 'I_n -> Q -> V -> R := fun t q v => W_VO h t (value v).
Definition tensor_E : tensor R K Q V := fun k q v => W_EU (query q) (value v).
Definition tensor_AV (At : K -> Q -> 'I_n -> R) h : tensor R K Q V :=
  fun k q v => \sum_t At k q t * tensor_V h t q v.
Definition tensor_L (At : 'I_H -> K -> Q -> 'I_n -> R) : tensor R K Q V :=
  fun k q v => tensor_E k q v + \sum_h tensor_AV (At h) h k q v.

(* equation (5) as printed; dom says which pairs are in the database *)
Definition tensor_A (dom : K -> Q -> bool) h (k : K) (q : Q) (t : 'I_n) : R :=
  if dom k q && (t \in [set key k; query q]) then
    exp (W_QK h (query q) t) /
      \sum_(t' in [set query q; key k]) exp (W_QK h (query q) t')
  else 0.

(* attention counted by positions, defined for every pair *)
Definition tensor_A_positions h (k : K) (q : Q) (t : 'I_n) : R :=
  (t == key k)%:R * attention_to_first h (key k) (query q) +
  (t == query q)%:R * (1 - attention_to_first h (key k) (query q)).

End Tensor.

Hypothesis exp_gt0 : forall z, 0 < exp z.

(* products with the matrix of a sequence pick rows *)
Lemma tokens_mxE m (x : 'I_m -> 'I_n) (M : 'M[R]_n) i j : (tokens_mx x *m M) i j = M (x i) j.
Proof.
rewrite mxE; under eq_bigr => l _ do rewrite mxE.
exact: (sum_pick (fun l => M l j)).
Qed.

Lemma tokens_mx_score m (x : 'I_m -> 'I_n) (M : 'M[R]_n) i j :
  (tokens_mx x *m M *m (tokens_mx x)^T) i j = M (x i) (x j).
Proof.
rewrite mxE; under eq_bigr => l _ do rewrite tokens_mxE !mxE mulrC.
exact: (sum_pick (fun l => M (x i) l)).
Qed.

Lemma lift01 : lift ord0 ord0 = 1 :> 'I_2. Proof. exact: val_inj. Qed.

(* the last row of the masked softmax of the pair (k, q) *)
Lemma last_rowE h k q (S := tokens_mx (pair_seq k q)) :
  masked_softmax (S *m W_QK h *m S^T) 1 0 = attention_to_first h k q /\
  masked_softmax (S *m W_QK h *m S^T) 1 1 = 1 - attention_to_first h k q.
Proof.
have row j : masked_softmax (S *m W_QK h *m S^T) 1 j =
    exp (W_QK h q (pair_seq k q j)) / (exp (W_QK h q k) + exp (W_QK h q q)).
  rewrite mxE ifT; last by case: j => [[|[|]]].
  by rewrite big_mkcond !big_ord_recl big_ord0 /= addr0 lift01 !tokens_mx_score.
rewrite !row /attention_to_first; split=> //=.
have ab : exp (W_QK h q k) + exp (W_QK h q q) != 0 by rewrite gt_eqF // addr_gt0.
by rewrite -[X in X - _](divff ab) -mulrBl addrAC subrr add0r.
Qed.

(* the final logits in terms of the circuits *)
Lemma final_logitsE k q v : final_logits k q v =
  W_EU q v + \sum_h (attention_to_first h k q * W_VO h k v +
                     (1 - attention_to_first h k q) * W_VO h q v).
Proof.
rewrite /final_logits /logits mxE tokens_mxE summxE; congr (_ + _).
apply: eq_bigr => h _; rewrite -[_ *m _ *m W_VO h]mulmxA mxE.
have [row0 row1] := last_rowE h k q.
by rewrite !big_ord_recl big_ord0 addr0 lift01 !tokens_mxE row0 row1.
Qed.

(* L with attention counted by positions holds the final logits of the model *)
Lemma tensor_L_positionsE (K Q V : finType) (key : K -> 'I_n) (query : Q -> 'I_n)
    (value : V -> 'I_n) k q v :
  tensor_L query value (tensor_A_positions key query) k q v =
  final_logits (key k) (query q) (value v).
Proof.
rewrite final_logitsE; congr (_ + _); apply: eq_bigr => h _.
rewrite /tensor_AV /tensor_V /tensor_A_positions.
set al := attention_to_first _ _ _.
have pick (f : 'I_n -> R) s : \sum_t (t == s)%:R * f t = f s.
  by under eq_bigr do rewrite eq_sym; exact: sum_pick.
rewrite -(pick (fun t => al * W_VO h t (value v)) (key k)).
rewrite -(pick (fun t => (1 - al) * W_VO h t (value v)) (query q)) -big_split /=.
by apply: eq_bigr => t _; rewrite mulrDl !mulrA.
Qed.

(* Equation (5) as printed agrees with it on the domain, for two different tokens *)
Lemma tensor_A_printedE (K Q : finType) (key : K -> 'I_n) (query : Q -> 'I_n)
    (dom : K -> Q -> bool) h k q t :
  dom k q -> key k != query q ->
  tensor_A key query dom h k q t = tensor_A_positions key query h k q t.
Proof.
move=> dkq kq; rewrite /tensor_A dkq /tensor_A_positions /attention_to_first !inE /=.
have -> : \sum_(t' in [set query q; key k]) exp (W_QK h (query q) t') =
          exp (W_QK h (query q) (key k)) + exp (W_QK h (query q) (query q)).
  by rewrite big_setU1 ?big_set1 ?inE 1?eq_sym // addrC.
set a := exp (W_QK _ _ (key k)); set b := exp (W_QK _ _ (query q)).
have ab : a + b != 0 by apply/lt0r_neq0/addr_gt0; apply: exp_gt0.
have [->|_] := eqVneq t (key k).
  by rewrite (negPf kq) /= mul1r mul0r addr0.
have [->|_] := eqVneq t (query q); last by rewrite /= !mul0r addr0.
by rewrite /= mul0r add0r mul1r -[X in X - _](divff ab) -mulrBl addrAC subrr add0r.
Qed.

End Layer.
