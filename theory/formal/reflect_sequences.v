(* Memorization by an attention-only transformer (Dana, Pydi and Chevaleyre 2024)
   by reflection. Weights are integers over one denominator for each kind. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require attention_only_transformer.
From lemmax Require Import reflect_integers reflect_reals reflect_matrices.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Delimit Scope Z_scope with bZ.
Delimit Scope Q_scope with bQ.
Local Open Scope nat_scope.
Local Open Scope ring_scope.

(* the transformer with these weights: rows of E and of pos are embeddings *)
Definition transformer_of (R : realFieldType) N s H d dh (dE dP dQ dK dV dO dU : positive)
    (E P : seq (seq Z)) (Q K V O : seq (seq (seq Z))) (U : seq (seq Z)) :
    attention_only_transformer.aot R N s H d dh :=
  attention_only_transformer.AoT
    (fun t : 'I_N => (row t (qmx R N d (Zpos dE) E))^T)
    (fun i : 'I_s.+1 => (row i (qmx R s.+1 d (Zpos dP) P))^T)
    (fun h : 'I_H => qmx R dh d (Zpos dQ) (nth [::] Q h))
    (fun h : 'I_H => qmx R dh d (Zpos dK) (nth [::] K h))
    (fun h : 'I_H => qmx R dh d (Zpos dV) (nth [::] V h))
    (fun h : 'I_H => qmx R d dh (Zpos dO) (nth [::] O h))
    (qmx R N d (Zpos dU) U).
Arguments transformer_of R (N s H d dh)%nat_scope dE dP dQ dK dV dO dU E P Q K V O U : clear implicits.

Definition sequence_of N s (t : seq nat) : 'I_s.+1 -> 'I_N.+1 := fun i => inord (nth 0%N t i).
Arguments sequence_of (N s)%nat_scope t _ : clear implicits.

Section Sequences.
Variables (R : realFieldType) (exp : R -> R) (m : mode).
Hypothesis ok : exponential_of m exp.
Hypothesis np : ~~ is_plain m.
Variables (N s H d dh : nat) (dE dP dQ dK dV dO dU : positive).
Variables (E P : seq (seq Z)) (Q K V O : seq (seq (seq Z))) (U : seq (seq Z)).
Let A := transformer_of R N.+1 s H d dh dE dP dQ dK dV dO dU E P Q K V O U.
Local Notation den := (den exp).
Local Notation mden := (mden exp).

Definition rx (t : seq nat) i : rmat :=
  rtab d 1 (fun a _ => sadd (at_ (of_ints dE E) (nth 0%N t i) a) (at_ (of_ints dP P) i a)).

Definition rscore (t : seq nat) h i : real :=
  at_ (rmul 1 d 1 (rmul 1 d d (rtr d 1 (rx t s))
    (rmul d dh d (rtr dh d (of_ints dQ (nth [::] Q h))) (of_ints dK (nth [::] K h)))) (rx t i)) 0 0.

Definition rattention (t : seq nat) h : rmat :=
  let sc := mkseq (rscore t h) s.+1 in
  let w := mkseq (fun i => sinv (ssum s.+1 (fun l =>
    sexp m (sadd (nth zero sc l) (sopp (nth zero sc i)))))) s.+1 in
  rtab d 1 (fun a _ => ssum s.+1 (fun i => smul (nth zero w i) (at_ (rx t i) a 0))).

Definition rlogits (t : seq nat) : rmat :=
  let heads := mkseq (fun h => rmul d dh 1 (of_ints dO (nth [::] O h))
                       (rmul dh d 1 (of_ints dV (nth [::] V h)) (rattention t h))) H in
  rmul N.+1 d 1 (of_ints dU U)
    (rtab d 1 (fun a _ => sadd (at_ (rx t s) a 0) (ssum H (fun h => at_ (nth [::] heads h) a 0)))).

Variable t : seq nat.
Hypothesis range : all (fun x => x <= N)%N t && (size t == s.+1).
Let seq_t := sequence_of N s t.

Lemma x_E i : attention_only_transformer.x A seq_t i = mden d 1 (rx t i).
Proof.
apply/matrixP => a b; rewrite !mxE rtab_at ?ltn_ord //.
have /andP[/(all_nthP 0%N) le /eqP st] := range.
have ti : (nth 0%N t i < N.+1)%N by rewrite ltnS le // st ltn_ord.
rewrite den_sadd; congr (_ + _).
  have := of_intsE exp N.+1 d dE E => /matrixP/(_ (seq_t i) a).
  by rewrite !mxE /seq_t /sequence_of inordK.
by have := of_intsE exp s.+1 d dP P => /matrixP/(_ i a); rewrite !mxE => ->.
Qed.

Lemma score_E (h : 'I_H) i : attention_only_transformer.score A h seq_t i = den (rscore t h i).
Proof.
rewrite /attention_only_transformer.score !x_E /A /= !(of_intsE exp).
by rewrite !(rtrE exp) !(rmulE exp) mxE.
Qed.

Lemma weight_E (h : 'I_H) (i : 'I_s.+1) : attention_only_transformer.weight exp A h seq_t i =
  den (sinv (ssum s.+1 (fun l => sexp m (sadd (rscore t h l) (sopp (rscore t h i)))))).
Proof.
rewrite /attention_only_transformer.weight den_sinv den_ssum.
set sc := attention_only_transformer.score A h seq_t.
transitivity ((\sum_j exp (sc j)) / exp (sc i))^-1; first by rewrite invf_div.
congr (_^-1); rewrite mulr_suml; apply: eq_bigr => l _.
by rewrite (den_sexp ok) den_sadd den_sopp (expD ok np) (expN ok np) /sc !score_E.
Qed.

Lemma attention_E (h : 'I_H) : attention_only_transformer.attention exp A h seq_t = mden d 1 (rattention t h).
Proof.
rewrite /rattention mden_tab /attention_only_transformer.attention; apply/matrixP => a b.
rewrite summxE mxE den_ssum; apply: eq_bigr => i _.
rewrite mxE den_smul nth_mkseq // weight_E x_E mxE (ord1 b); congr (_ * _).
by rewrite !den_sinv !den_ssum; congr (_^-1); apply: eq_bigr => l _; rewrite !nth_mkseq.
Qed.

Lemma logits_E : attention_only_transformer.logits exp A seq_t = mden N.+1 1 (rlogits t).
Proof.
rewrite /attention_only_transformer.logits /rlogits -(rmulE exp) /A /= (of_intsE exp); congr (_ *m _).
rewrite mden_tab x_E; apply/matrixP => a b; rewrite mxE [RHS]mxE den_sadd mxE (ord1 b); congr (_ + _).
rewrite summxE den_ssum; apply: eq_bigr => h _; rewrite nth_mkseq //.
by rewrite attention_E !(of_intsE exp) !(rmulE exp) mxE.
Qed.

Definition pair_check w k (y : nat) :=
  (y <= N)%N && (let L := rlogits t in
    all (fun y' => (y' == y) || less m w k (at_ L y' 0) (at_ L y 0)) (iota 0 N.+1)).

Lemma pair_sound w k y : pair_check w k y -> attention_only_transformer.memorizes exp A seq_t (inord y).
Proof.
case/andP => yN /allP chk y' y'y; rewrite logits_E !mxE inordK //.
have := chk (val y'); rewrite mem_iota ltn_ord => /(_ isT) /orP[/eqP e|/(lessE ok) //].
by case/eqP: y'y; apply: val_inj; rewrite /= inordK.
Qed.

End Sequences.

Definition pairs_check m w k N s H d dh dE dP dQ dK dV dO dU E P Q K V O U (pairs : seq (seq nat * nat)) :=
  all (fun p => [&& all (fun x => x <= N)%N p.1, size p.1 == s.+1 &
    pair_check m N s H d dh dE dP dQ dK dV dO dU E P Q K V O U p.1 w k p.2]) pairs.

(* the transformer memorizes every pair of a sequence and a token *)
Lemma pairs_sound (R : realFieldType) (exp : R -> R) m w k N s H d dh
    dE dP dQ dK dV dO dU E P Q K V O U pairs :
  exponential_of m exp -> ~~ is_plain m ->
  pairs_check m w k N s H d dh dE dP dQ dK dV dO dU E P Q K V O U pairs ->
  forall p, p \in pairs ->
  attention_only_transformer.memorizes exp
    (transformer_of R N.+1 s H d dh dE dP dQ dK dV dO dU E P Q K V O U)
    (sequence_of N s p.1) (inord p.2).
Proof.
move=> ok np /allP chk p /chk /and3P[le st pc].
by apply: pair_sound pc => //; rewrite le.
Qed.
Print Assumptions pairs_sound.
