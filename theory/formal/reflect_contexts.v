(* The words about heads on contexts and queries by reflection. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor matrix_words context_words.
From lemmax Require multi_head_attention.
From lemmax Require Import reflect_integers reflect_rank reflect_reals reflect_matrices reflect_words.
From lemmax Require Import reflect_tensor_rank reflect_tensors reflect_features.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Delimit Scope Z_scope with bZ.
Delimit Scope Q_scope with bQ.
Local Open Scope nat_scope.
Local Open Scope ring_scope.

(* contexts from data: matrices over one denominator for each kind *)
Definition contexts_data (R : realFieldType) T c n H d dh (dC dE dK dQ : positive)
    (cs : cube) (which : seq nat) (qs : seq (seq Z)) (WK WQ : cube) : contexts R T c.+1 n H d dh :=
  Contexts (fun x : 'I_c.+1 => qmx R n d (Zpos dC) (nth [::] cs x))
    (fun t : 'I_T => inord (nth 0%N which t)) (queries_of R T d dE qs)
    (heads_of R H d dh dK WK) (heads_of R H d dh dQ WQ).
Arguments contexts_data R (T c n H d dh)%nat_scope dC dE dK dQ cs which qs WK WQ : clear implicits.

Section Words.
Variables (R : realFieldType) (exp : R -> R) (m : mode).
Hypothesis ok : exponential_of m exp.
Hypothesis np : ~~ is_plain m.
Variables (T c n H d dh : nat) (dC dE dK dQ : positive).
Variables (cs : cube) (which : seq nat) (qs : seq (seq Z)) (WK WQ : cube).
Let A := contexts_data R T c n H d dh dC dE dK dQ cs which qs WK WQ.
Local Notation den := (den exp).
Local Notation mden := (mden exp).

Lemma examples_wordE : examples A = den (nat_real T). Proof. exact: nat_realE. Qed.
Lemma context_length_wordE : context_length A = den (nat_real n). Proof. exact: nat_realE. Qed.
Lemma dimension_wordE : dimension A = den (nat_real d). Proof. exact: nat_realE. Qed.
Lemma head_count_wordE : head_count A = den (nat_real H). Proof. exact: nat_realE. Qed.
Lemma head_dimension_wordE : head_dimension A = den (nat_real dh). Proof. exact: nat_realE. Qed.

Lemma shared_wordE : all (fun t => nth 0%N which t == nth 0%N which 0) (iota 0 T) -> shared A.
Proof. by move=> /all_iota H' s t; rewrite /= (eqP (H' s)) (eqP (H' t)). Qed.

Definition least_check (hs : seq rank_hint) :=
  (size hs == c.+1) && all (fun x => hinted n d (of_ints dC (nth [::] cs x)) (nth no_hint hs x)) (iota 0 c.+1).

Lemma least_context_rank_wordE hs : least_check hs ->
  least_context_rank A = den (nat_real (foldr minn n [seq hint_rank h | h <- hs])).
Proof.
case/andP => /eqP sh /all_iota H'; rewrite -nat_realE /least_context_rank; congr (_%:R); congr (foldr _ _ _).
apply: (@eq_from_nth _ 0%N) => [|i]; rewrite size_map size_enum_ord ?size_map ?sh // => ic.
rewrite (nth_map (Ordinal ic)) ?size_enum_ord // (nth_map no_hint) ?sh //.
rewrite -(hintedE exp (H' (Ordinal ic))) /=; congr mxrank; rewrite -(of_intsE exp); congr (qmx _ _ _ _ (nth _ _ _)).
by rewrite nth_enum_ord.
Qed.

Lemma query_matrix_wordE : query_matrix A = mden T d (of_ints dE qs).
Proof.
rewrite -(of_intsE exp); apply/matrixP => t j; rewrite !mxE /entry /row_at.
by [].
Qed.

Definition rall_tokens : rmat := rtab (c.+1 * n + T) d (fun i j =>
  if (i < c.+1 * n)%N then at_ (of_ints dC (nth [::] cs (i %/ n))) (i %% n) j
  else at_ (of_ints dE qs) (i - c.+1 * n) j).

Lemma all_tokens_wordE : all_tokens A = mden (c.+1 * n + T) d rall_tokens.
Proof.
rewrite mden_tab; apply/matrixP => i j; rewrite !mxE; case: ifP => ic.
  have n0 : (0 < n)%N by have : (0 < c.+1 * n)%N by [exact: leq_ltn_trans ic]; rewrite muln_gt0 => /andP[].
  have ix : (i %/ n < c.+1)%N by rewrite ltn_divLR.
  rewrite insubT /entry_at !insubT ?ltn_pmod // => jd.
  rewrite -[context A _]/(qmx R n d (Zpos dC) (nth [::] cs (i %/ n)%N)) (of_intsE exp) => im.
  by rewrite mxE.
have ci : (c.+1 * n <= i)%N by rewrite leqNgt ic.
have iT : (i - c.+1 * n < T)%N by rewrite ltn_subLR.
rewrite /entry_at insubT insubT // => jd; rewrite query_matrix_wordE mxE.
by [].
Qed.

Lemma feature_rank_wordE w k I J Nt :
  all (fun t => nth 0%N which t <= c)%N (iota 0 T) &&
  (feature_rank_check m T n H d dh dC dE dK dQ cs which qs WK WQ w k I J Nt && (size I == T)) ->
  feature_rank exp A = den (nat_real T).
Proof.
case/andP => /all_iota wc /(feature_rank_full_sound ok np) rk; rewrite -nat_realE -[in RHS]rk.
congr (_%:R); congr mxrank; apply: mx_of_ext => t hj; rewrite /multi_head_attention.feature.
have EE : qmx R n d (Zpos dC) (nth [::] cs (inord (nth 0%N which t) : 'I_c.+1)) =
    contexts_of R T n d dC cs which t by rewrite inordK // ltnS wc.
apply: eq_bigr => i _; rewrite /multi_head_attention.theta /multi_head_attention.score /= EE.
by [].
Qed.

End Words.
Print Assumptions feature_rank_wordE.
Print Assumptions all_tokens_wordE.
