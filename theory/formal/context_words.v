(* Words of comparisons about heads on contexts and queries (Mahdavi, Liao and
   Thrampoulidis 2024): c contexts of n tokens, T examples, each of which has one
   of the contexts and a query. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor matrix_words.
From lemmax Require multi_head_attention.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Record contexts (R : realFieldType) (T c n H d dh : nat) := Contexts {
  context : 'I_c -> 'M[R]_(n, d);
  context_of : 'I_T -> 'I_c;
  query : 'I_T -> 'cV[R]_d;
  key_map : 'I_H -> 'M[R]_(d, dh);
  query_map : 'I_H -> 'M[R]_(d, dh)
}.

Section Words.
Variables (R : realFieldType) (exp : R -> R) (T c n H d dh : nat).
Implicit Type A : contexts R T c n H d dh.

Definition examples A : R := T%:R.
Definition context_length A : R := n%:R.
Definition dimension A : R := d%:R.
Definition head_count A : R := H%:R.
Definition head_dimension A : R := dh%:R.

(* one context for all examples *)
Definition shared A : Prop := forall s t, context_of A s = context_of A t.
(* of all contexts; a context has n rows, so that no rank is above n *)
Definition least_context_rank A : R :=
  (foldr minn n [seq \rank (context A x) | x <- enum 'I_c])%:R.
(* one query per row *)
Definition query_matrix A : 'M[R]_(T, d) := \matrix_(t, j) query A t j 0.
(* the tokens of all contexts, then the queries *)
Definition all_tokens A : 'M[R]_(c * n + T, d) := \matrix_(i, j)
  if (i < c * n)%N then (if insub (i %/ n)%N is Some x then entry_at (context A x) (i %% n)%N j else 0)
  else entry_at (query_matrix A) (i - c * n)%N j.

Definition feature_rank A : R :=
  (\rank (multi_head_attention.Z exp (fun t => context A (context_of A t)) (query A)
            (key_map A) (query_map A)))%:R.
End Words.
