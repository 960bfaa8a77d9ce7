(* The words about associations by reflection, and how few entries of a row exceed
   a level. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import matrix_words association_words.
From lemmax Require Import reflect_integers reflect_reals reflect_matrices reflect_words.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Delimit Scope Z_scope with bZ.
Delimit Scope Q_scope with bQ.
Local Open Scope nat_scope.
Local Open Scope ring_scope.

Section Associations.
Variables (R : realFieldType) (exp : R -> R).

Lemma association_count_wordE a : association_count R a = den exp (nat_real (size (undup a))).
Proof. exact: nat_realE. Qed.

Lemma parity_wordE zero one last even odd_ m a H :
  [&& zero != one, even != odd_, (0 < m)%N
    & let P := [seq parity_of zero one last even odd_ m b | b <- bit_lists H.+1] in
      all (fun x => x \in P) a && all (fun x => x \in a) P] -> parity a H.
Proof.
case/and4P => zo eo m0 /andP[/allP aP /allP Pa]; exists zero, one, last, even, odd_, m; split=> // x.
by apply/idP/idP => [/aP|/Pa].
Qed.
End Associations.

Section Covering.
Variables (R : realFieldType) (exp : R -> R) (m : mode).
Hypothesis ok : exponential_of m exp.
Local Notation den := (den exp).
Local Notation mden := (mden exp).

(* the sums of the first entries, largest first; js says in which order they are largest *)
Fixpoint sums (acc : real) (s : seq real) : seq real :=
  if s is x :: s' then let y := sadd acc x in y :: sums y s' else [::].

Fixpoint descending w k (s : seq real) : bool :=
  if s is x :: s' then (if s' is y :: _ then less_eq m w k y x else true) && descending w k s' else true.

Definition covering_check w k p q (L : rmat) (tau : Q) (js : seq nat) r :=
  let s := [seq at_ L 0 j | j <- js] in
  [&& (0 < p)%N, (0 <=? w)%bZ, perm_eq js (iota 0 q), descending w k s
    & let d := [seq is_le m w k x (Rat tau) | x <- sums zero s] in
      all isSome d && (count (fun x => x == Some true) d == r)].

Lemma sumsE acc s : [seq den x | x <- sums acc s] = scanl +%R (den acc) [seq den x | x <- s].
Proof. by elim: s acc => [|x s IH] acc //=; rewrite den_sadd IH den_sadd. Qed.

Lemma descendingP w k s : descending w k s -> sorted >=%R [seq den x | x <- s].
Proof.
elim: s => [|x [|y s] IH] //= /andP[/(less_eqE ok) yx /IH]; rewrite /= => H.
by apply/andP; split.
Qed.

Lemma covering_wordE w k p q L tau js r : covering_check w k p q L tau js r ->
  covering (mden p q L) (qr R tau) = den (nat_real r.+1).
Proof.
case/and5P => p0 w0 pj dec /andP[/(all_nthP None) dc /eqP <-]; rewrite -nat_realE /covering.
set s := [seq at_ L 0 j | j <- js].
have rowE : first_row (mden p q L) = [seq den (at_ L 0 j) | j <- iota 0 q].
  apply/eq_in_map => j; rewrite mem_iota add0n => /= jq.
  by rewrite /entry_at !insubT mxE.
have -> : sort >=%R (first_row (mden p q L)) = [seq den x | x <- s].
  apply: (@sorted_eq _ >=%R).
  - by move=> x y z yx zy; apply: le_trans yx.
  - by move=> x y /andP[xy yx]; apply/le_anti/andP; split.
  - by apply: sort_sorted => x y; apply: le_total.
  - exact: descendingP dec.
  by rewrite perm_sort rowE /s -map_comp; apply: perm_map; rewrite perm_sym.
rewrite -(den_zero exp) -sumsE !count_map; set S := sums zero s.
have counted (f g : real -> bool) : [seq f x | x <- S] = [seq g x | x <- S] -> count f S = count g S.
  by move=> e; rewrite -[LHS](count_map f id) -[RHS](count_map g id) e.
rewrite (counted _ (fun x => is_le m w k x (Rat tau) == Some true)) //.
apply: (@eq_from_nth _ false) => [|i]; rewrite !size_map // => iS.
rewrite !(nth_map zero) //=; have := dc i; rewrite size_map => /(_ iS); rewrite (nth_map zero) //.
case E: is_le => [b|] // _; rewrite -[qr R tau]/(den (Rat tau)) (is_leP ok w0 E).
by case: b {E}.
Qed.
End Covering.
