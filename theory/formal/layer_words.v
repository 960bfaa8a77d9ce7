(* Words of comparisons about layers and lists of facts: dimensions, and numbers
   of different keys, queries and values, as numbers of the field; the tensors of
   a layer over the keys, queries and values of a list of facts, each in the order
   of their numbers; and memorization where only these values compete. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor database attention_layer tensor_words reflect_tensor_rank.
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
Definition values D : R := (size (undup [seq f.2 | f <- D]))%:R.
Definition fact_count D : R := (size (undup D))%:R.

(* min(sum_k |V_k|, sum_q |V_q|), the bound of Wong 2025, Proposition 2.1 *)
Definition slices_rank_sum D : R :=
  (minn (size (undup [seq (f.1.1, f.2) | f <- D])) (size (undup [seq (f.1.2, f.2) | f <- D])))%:R.
End Facts.
Arguments keys R D : clear implicits.
Arguments queries R D : clear implicits.
Arguments slices_rank_sum R D : clear implicits.
Arguments values R D : clear implicits.
Arguments fact_count R D : clear implicits.

Section Tables.
Implicit Type D : seq (nat * nat * nat).

Definition key_list D : seq nat := sort leq (undup [seq f.1.1 | f <- D]).
Definition query_list D : seq nat := sort leq (undup [seq f.1.2 | f <- D]).
Definition value_list D : seq nat := sort leq (undup [seq f.2 | f <- D]).
Definition nkeys D := size (key_list D).
Definition nqueries D := size (query_list D).
Definition nvalues D := size (value_list D).
(* the keys and the queries together *)
Definition both_list D : seq nat := sort leq (undup ([seq f.1.1 | f <- D] ++ [seq f.1.2 | f <- D])).
Definition nboth D := size (both_list D).

(* no key is a query *)
Definition disjoint D : Prop := forall f g, f \in D -> g \in D -> f.1.1 != g.1.2.
Definition equal_facts D (E : seq (nat * nat * nat)) : Prop := D =i E.
(* equal up to names of keys, of queries and of values *)
Definition same_table D (E : seq (nat * nat * nat)) : Prop := exists f g h : nat -> nat,
  [/\ {in key_list D &, injective f}, {in query_list D &, injective g},
      {in value_list D &, injective h} & [seq (f x.1.1, g x.1.2, h x.2) | x <- D] =i E].

(* there is a fact about key k and query q, counted in their order *)
Definition known D (k q : nat) : bool :=
  has (fun f => (f.1.1 == nth 0 (key_list D) k) && (f.1.2 == nth 0 (query_list D) q))%N D.

(* equation (1) of Wong 2025 over the keys, queries and values of D *)
Definition table_tensor (R : realFieldType) D : tens R (nkeys D) (nqueries D) (nvalues D) :=
  [ffun k : 'I_(nkeys D) => \matrix_(q < nqueries D, v < nvalues D)
    ((nth 0 (key_list D) k, nth 0 (query_list D) q, nth 0 (value_list D) v)%N \in D)%:R].

(* X is the table of D wherever D has a fact *)
Definition represents (R : realFieldType) a b c (X : tens R a b c) D : Prop :=
  [/\ a = nkeys D, b = nqueries D, c = nvalues D & forall k q v, known D (val k) (val q) ->
    X k q v = ((nth 0 (key_list D) k, nth 0 (query_list D) q, nth 0 (value_list D) v)%N \in D)%:R].
End Tables.
Arguments table_tensor R D : clear implicits.

Section LayerTensors.
Variables (R : realFieldType) (exp : R -> R) (n H d dqk dvo : nat).
Variables (A : layer R n.+1 H d dqk dvo) (D : seq (nat * nat * nat)).

Definition key_token (k : 'I_(nkeys D)) : 'I_n.+1 := inord (nth 0%N (key_list D) k).
Definition query_token (q : 'I_(nqueries D)) : 'I_n.+1 := inord (nth 0%N (query_list D) q).
Definition value_token (v : 'I_(nvalues D)) : 'I_n.+1 := inord (nth 0%N (value_list D) v).

(* the attention of every head by positions; where D has no fact there is none *)
Definition masked_attention h k q t : R :=
  if known D (val k) (val q) then tensor_A_positions exp A key_token query_token h k q t else 0.

(* equation (8) of Wong 2025, with the mask and without it, and the logits of the layer *)
Definition layer_tensor : tens R (nkeys D) (nqueries D) (nvalues D) :=
  [ffun k => \matrix_(q, v) tensor_L A query_token value_token masked_attention k q v].
Definition unmasked_tensor : tens R (nkeys D) (nqueries D) (nvalues D) :=
  [ffun k => \matrix_(q, v)
    tensor_L A query_token value_token (tensor_A_positions exp A key_token query_token) k q v].
Definition logits_tensor : tens R (nkeys D) (nqueries D) (nvalues D) :=
  [ffun k => \matrix_(q, v) final_logits exp A (key_token k) (query_token q) (value_token v)].

(* memorization where only the values of D compete, by argmax and with a probability *)
Definition value_set : {set 'I_n.+1} := [set v : 'I_n.+1 | val v \in value_list D].
Definition memorizes_values : Prop := memorizes exp A value_set (facts_db n.+1 n.+1 n.+1 D).
Definition memorizes_values_at (tau : R) : Prop := forall k q v,
  facts_db n.+1 n.+1 n.+1 D k q = Some v ->
  tau <= exp (final_logits exp A k q v) / \sum_(v' in value_set) exp (final_logits exp A k q v').
End LayerTensors.
