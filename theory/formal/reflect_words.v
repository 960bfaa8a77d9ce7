(* The words of comparisons by reflection: each word of a listed matrix is an
   expression, and a comparison of words is one of expressions. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import row_argmax row_threshold tensor matrix_words.
From lemmax Require Import reflect_integers reflect_rank reflect_reals reflect_matrices.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Delimit Scope Z_scope with bZ.
Delimit Scope Q_scope with bQ.
Local Open Scope nat_scope.
Local Open Scope ring_scope.

Section Words.
Variables (R : realFieldType) (exp : R -> R) (m : mode).
Hypothesis ok : exponential_of m exp.
Local Notation den := (den exp).
Local Notation mden := (mden exp).

Definition nat_real (n : nat) : real := Rat (inject_Z (Z.of_nat n)).

Lemma nat_realE n : n%:R = den (nat_real n).
Proof.
rewrite /= qr_Z; case: n => [|n] //=.
by rewrite /zr /= SuccNat2Pos.id_succ -pmulrn.
Qed.

Lemma rank_wordE p q r L pr I J Nt a : rrank_check p q r L pr I J Nt a ->
  rank (mden p q L) = den (nat_real r).
Proof. by move=> rk; rewrite /rank (rrankE exp rk) nat_realE. Qed.

Lemma rows_wordE p q L : rows (mden p q L) = den (nat_real p). Proof. exact: nat_realE. Qed.
Lemma columns_wordE p q L : columns (mden p q L) = den (nat_real q). Proof. exact: nat_realE. Qed.

Lemma entry_wordE p q L i j : (i < p)%N && (j < q)%N -> entry_at (mden p q L) i j = den (at_ L i j).
Proof. by case/andP => ip jq; rewrite /entry_at !insubT mxE. Qed.

Lemma transpose_wordE p q L : transpose (mden p q L) = mden q p (rtr p q L).
Proof. exact: rtrE. Qed.

Lemma product_wordE p k q A B : product (mden p k A) (mden k q B) = mden p q (rmul p k q A B).
Proof. exact: rmulE. Qed.

Lemma gram_wordE p q L : gram (mden p q L) = mden p p (rmul p q p L (rtr p q L)).
Proof. by rewrite /gram (rtrE exp) (rmulE exp). Qed.

(* the largest and the least entry, which the emitter names and the kernel checks *)
Definition max_check w k p q (L : rmat) i j :=
  [&& (i < p)%N, (j < q)%N & all (fun r => all (fun x => less_eq m w k x (at_ L i j)) r) L] &&
  rshaped p q L.
Definition min_check w k p q (L : rmat) i j :=
  [&& (i < p)%N, (j < q)%N & all (fun r => all (fun x => less_eq m w k (at_ L i j) x) r) L] &&
  rshaped p q L.

Lemma all_at p q (L : rmat) (P : real -> bool) (i : 'I_p) (j : 'I_q) : rshaped p q L ->
  all (fun r => all P r) L -> P (at_ L i j).
Proof.
case/andP => /eqP sL /(all_nthP [::]) sr /(all_nthP [::]) H.
have iL : (i < size L)%N by rewrite sL.
have /(all_nthP zero)/(_ j) := H i iL; apply.
by have /eqP -> := sr i iL.
Qed.

Lemma max_wordE w k p q L i j : max_check w k p q L i j -> is_max_entry (mden p q L) (den (at_ L i j)).
Proof.
case/andP => /and3P[ip jq H] sh; split; first by exists (Ordinal ip), (Ordinal jq); rewrite mxE.
by move=> a b; rewrite mxE; apply: (less_eqE ok (w := w) (k := k)); apply: (all_at a b sh H).
Qed.

Lemma min_wordE w k p q L i j : min_check w k p q L i j -> is_min_entry (mden p q L) (den (at_ L i j)).
Proof.
case/andP => /and3P[ip jq H] sh; split; first by exists (Ordinal ip), (Ordinal jq); rewrite mxE.
by move=> a b; rewrite mxE; apply: (less_eqE ok (w := w) (k := k)); apply: (all_at a b sh H).
Qed.

Lemma max_entry_wordE w k p q L i j : max_check w k p q L i j ->
  max_entry (mden p q L) = den (at_ L i j).
Proof. by move/max_wordE/max_entryE. Qed.

Lemma min_entry_wordE w k p q L i j : min_check w k p q L i j ->
  min_entry (mden p q L) = den (at_ L i j).
Proof. by move/min_wordE/min_entryE. Qed.

Lemma sum_wordE p q L : entry_sum (mden p q L) = den (ssum p (fun i => ssum q (fun j => at_ L i j))).
Proof.
rewrite den_ssum; apply: eq_bigr => i _; rewrite den_ssum; apply: eq_bigr => j _.
by rewrite mxE.
Qed.

(* rows that differ in some place, named by the emitter as one column for each pair *)
Definition distinct_check w k p q (L : rmat) :=
  all (fun i => all (fun j => (i == j) || has (fun c =>
    [|| is_le m w k (at_ L i c) (at_ L j c) == Some false
      | is_le m w k (at_ L j c) (at_ L i c) == Some false]) (iota 0 q)) (iota 0 p)) (iota 0 p) &&
  (0 <=? w)%bZ.

Lemma distinct_wordE w k p q L : distinct_check w k p q L -> distinct_rows (mden p q L).
Proof.
case/andP => /allP H w0 i j /rowP e.
have ip : val i \in iota 0 p by rewrite mem_iota ltn_ord.
have jp : val j \in iota 0 p by rewrite mem_iota ltn_ord.
have /allP/(_ _ jp)/orP[/eqP/val_inj //|/hasP[c]] := H _ ip.
rewrite mem_iota add0n => /= cq; have := e (Ordinal cq); rewrite !mxE /= => ec.
by case/orP => /eqP /(is_leP ok w0) /negbT; rewrite ec lexx.
Qed.

Definition unit_check p q (L : rmat) :=
  all (fun i => same (ssum q (fun j => smul (at_ L i j) (at_ L i j))) one) (iota 0 p).

Lemma sameE a b : same a b -> den a = den b.
Proof. by case: a => // x; case: b => // y /Qeq_bool_iff/(qr_eq R). Qed.

Lemma unit_wordE p q L : unit_check p q L -> unit_rows (mden p q L).
Proof.
move=> /allP H i; have := H (val i); rewrite mem_iota ltn_ord => /(_ isT) /sameE.
rewrite den_ssum den_one => <-; apply: eq_bigr => j _.
by rewrite den_smul !mxE.
Qed.

Lemma equal_wordE p q A B : rsame p q A B -> equal (mden p q A) (mden p q B).
Proof. exact: rsameE. Qed.

Lemma unequal_wordE w k p q A B i j :
  [&& (0 <=? w)%bZ, (i < p)%N, (j < q)%N & differ m w k A B i j] -> ~ equal (mden p q A) (mden p q B).
Proof. exact: differE. Qed.

(* comparisons, and their negations *)
Lemma le_wordE w k a b : less_eq m w k a b -> den a <= den b. Proof. exact: less_eqE. Qed.
Lemma lt_wordE w k a b : less m w k a b -> den a < den b. Proof. exact: lessE. Qed.
Lemma eq_wordE a b : same a b -> den a = den b. Proof. exact: sameE. Qed.
Lemma nle_wordE w k a b : less m w k b a -> ~ (den a <= den b).
Proof. by move/(lessE ok); rewrite ltNge => /negP. Qed.
Lemma nlt_wordE w k a b : less_eq m w k b a -> ~ (den a < den b).
Proof. by move/(less_eqE ok); rewrite leNgt => /negP. Qed.
Lemma neq_wordE w k a b : less m w k a b || less m w k b a -> ~ (den a = den b).
Proof. by case/orP => /(lessE ok) lt e; rewrite e ltxx in lt. Qed.

(* the smaller and the larger of two numbers, and comparisons that count as 0 or 1 *)
Lemma min_left_wordE w k a b : less_eq m w k a b -> Num.min (den a) (den b) = den a.
Proof. by move/(less_eqE ok)/min_l. Qed.
Lemma min_right_wordE w k a b : less_eq m w k b a -> Num.min (den a) (den b) = den b.
Proof. by move/(less_eqE ok)/min_r. Qed.
Lemma max_left_wordE w k a b : less_eq m w k b a -> Num.max (den a) (den b) = den a.
Proof. by move/(less_eqE ok)/max_l. Qed.
Lemma max_right_wordE w k a b : less_eq m w k a b -> Num.max (den a) (den b) = den b.
Proof. by move/(less_eqE ok)/max_r. Qed.
Lemma indicator_le_true_wordE w k a b : less_eq m w k a b ->
  indicator R (den a <= den b) = den (nat_real 1).
Proof. by move/(less_eqE ok) ->; rewrite -nat_realE. Qed.
Lemma indicator_le_false_wordE w k a b : less m w k b a ->
  indicator R (den a <= den b) = den (nat_real 0).
Proof. by move/(lessE ok); rewrite -nat_realE /indicator leNgt => ->. Qed.
Lemma indicator_lt_true_wordE w k a b : less m w k a b ->
  indicator R (den a < den b) = den (nat_real 1).
Proof. by move/(lessE ok) ->; rewrite -nat_realE. Qed.
Lemma indicator_lt_false_wordE w k a b : less_eq m w k b a ->
  indicator R (den a < den b) = den (nat_real 0).
Proof. by move/(less_eqE ok); rewrite -nat_realE /indicator ltNge => ->. Qed.

(* arithmetic *)
Lemma add_wordE a b : den a + den b = den (sadd a b). Proof. by rewrite den_sadd. Qed.
Lemma mul_wordE a b : den a * den b = den (smul a b). Proof. by rewrite den_smul. Qed.
Lemma opp_wordE a : - den a = den (sopp a). Proof. by rewrite den_sopp. Qed.
Lemma sub_wordE a b : den a - den b = den (sadd a (sopp b)). Proof. by rewrite den_sadd den_sopp. Qed.
Lemma div_wordE a b : den a / den b = den (smul a (sinv b)). Proof. by rewrite den_smul den_sinv. Qed.
Lemma num_wordE x : qr R x = den (Rat x). Proof. by []. Qed.

End Words.
