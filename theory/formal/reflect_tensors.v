(* The words about tensors by reflection: lists of slices, each a list of rows
   of expressions. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import row_argmax row_threshold tensor matrix_words tensor_words.
From lemmax Require Import reflect_integers reflect_rank reflect_reals reflect_matrices reflect_words.
From lemmax Require Import reflect_tensor_rank.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Delimit Scope Z_scope with bZ.
Delimit Scope Q_scope with bQ.
Local Open Scope nat_scope.
Local Open Scope ring_scope.

Definition rten := seq rmat.
Definition slice (L : rten) k : rmat := nth [::] L k.
Definition cell_at (L : rten) k q v : real := at_ (slice L k) q v.

(* integers over a denominator, as a tensor *)
Definition qtens (R : realFieldType) a b c (d : positive) (T : cube) : tens R a b c :=
  [ffun k : 'I_a => qmx R b c (Zpos d) (nth [::] T k)].
Arguments qtens R (a b c)%nat_scope d T : clear implicits.

Section Words.
Variables (R : realFieldType) (exp : R -> R) (m : mode).
Hypothesis ok : exponential_of m exp.
Local Notation den := (den exp).
Local Notation mden := (mden exp).

Definition tden a b c (L : rten) : tens R a b c := [ffun k : 'I_a => mden b c (slice L k)].

Lemma tdenE a b c L k q v : tden a b c L k q v = den (cell_at L k q v).
Proof. by rewrite ffunE mxE. Qed.

Definition tens_of_ints (d : positive) (T : cube) : rten := [seq of_ints d M | M <- T].

Lemma qtens_wordE a b c d T : size T == a -> qtens R a b c d T = tden a b c (tens_of_ints d T).
Proof.
move=> /eqP sT; apply/ffunP => k; rewrite !ffunE /slice (nth_map [::]) ?sT //.
exact: of_intsE.
Qed.

Definition rargmax_tensor w k b c (L : rten) : rten := [seq rargmax m w k b c M | M <- L].

Lemma argmax_tensor_wordE w k a b c L :
  [&& (0 <=? w)%bZ, size L == a & all (fun M => size (rargmax m w k b c M) == b) L] ->
  argmax_tensor (tden a b c L) = tden a b c (rargmax_tensor w k b c L).
Proof.
case/and3P => w0 /eqP sL /(all_nthP [::]) ch; apply/ffunP => i.
rewrite !ffunE /slice (nth_map [::]) ?sL // (rargmaxE ok (w := w) (k := k)) //.
by rewrite w0 ch // sL.
Qed.

Definition rthreshold_tensor w k b c (L : rten) tau : rten :=
  [seq rthreshold m w k b c M tau | M <- L].

Lemma threshold_tensor_wordE w k a b c L tau :
  [&& ~~ is_plain m, (0 <=? w)%bZ, size L == a
    & all (fun M => size (rthreshold m w k b c M tau) == b) L] ->
  threshold_tensor exp (tden a b c L) (qr R tau) = tden a b c (rthreshold_tensor w k b c L tau).
Proof.
case/and4P => np w0 /eqP sL /(all_nthP [::]) ch; apply/ffunP => i.
rewrite !ffunE /slice (nth_map [::]) ?sL // (rthresholdE ok (w := w) (k := k)) //.
by rewrite np w0 ch // sL.
Qed.

Definition rsoftmax_tensor b c (L : rten) : rten := [seq rtab b c (softmax_at m c M) | M <- L].

Lemma softmax_tensor_wordE a b c L : ~~ is_plain m && (size L == a) ->
  softmax_tensor exp (tden a b c L) = tden a b c (rsoftmax_tensor b c L).
Proof.
case/andP => np /eqP sL; apply/ffunP => k; rewrite !ffunE /slice (nth_map [::]) ?sL // mden_tab.
by apply/matrixP => i j; rewrite (softmax_atE ok) // mxE.
Qed.

Definition rmode_product a b c s (A B : rten) : rten :=
  mkseq (fun k => rtab b c (fun q v => ssum s (fun t => smul (cell_at A k q t) (cell_at B t q v)))) a.

Lemma mode_product_wordE a b c s A B :
  mode_product (tden a b s A) (tden s b c B) = tden a b c (rmode_product a b c s A B).
Proof.
apply/ffunP => k; rewrite !ffunE /slice nth_mkseq // mden_tab; apply/matrixP => q v.
rewrite !mxE den_ssum; apply: eq_bigr => t _.
by rewrite den_smul !ffunE !mxE.
Qed.

Lemma slices_wordE a b c L : slices (tden a b c L) = den (nat_real a). Proof. exact: nat_realE. Qed.
Lemma slice_rows_wordE a b c L : slice_rows (tden a b c L) = den (nat_real b).
Proof. exact: nat_realE. Qed.
Lemma slice_columns_wordE a b c L : slice_columns (tden a b c L) = den (nat_real c).
Proof. exact: nat_realE. Qed.

Definition tsame a b c (X Y : rten) := all (fun k => rsame b c (slice X k) (slice Y k)) (iota 0 a).

Lemma equal_tensors_wordE a b c X Y : tsame a b c X Y ->
  equal_tensors (tden a b c X) (tden a b c Y).
Proof. by move=> /all_iota H; apply/ffunP => k; rewrite !ffunE (rsameE exp (H k)). Qed.

Lemma unequal_tensors_wordE w kk a b c X Y k i j :
  [&& (0 <=? w)%bZ, (k < a)%N, (i < b)%N, (j < c)%N & differ m w kk (slice X k) (slice Y k) i j] ->
  ~ equal_tensors (tden a b c X) (tden a b c Y).
Proof.
case/and5P => w0 ka ib jc d /ffunP/(_ (Ordinal ka)); rewrite !ffunE /=.
by apply: (differE ok (w := w) (k := kk) (i := i) (j := j)); rewrite w0 ib jc.
Qed.

(* rational tensors: over the least common denominator *)
Definition tens_den (L : rten) : positive := lcm_den (flatten L).
Definition tens_ints (L : rten) : cube := let d := tens_den L in [seq to_ints d M | M <- L].
Definition rational a b c (L : rten) :=
  (size L == a) && tsame a b c L (tens_of_ints (tens_den L) (tens_ints L)).

Lemma rationalE a b c L (k : 'I_a) (q : 'I_b) (v : 'I_c) : rational a b c L ->
  entries (tden a b c L) k q v = ztensor R a b c (Zpos (tens_den L)) (tens_ints L) k q v.
Proof.
case/andP => /eqP sL /equal_tensors_wordE eqL; rewrite /entries {1}eqL /ztensor /cell.
rewrite -qtens_wordE; first by rewrite ffunE mxE.
by rewrite size_map sL.
Qed.

Definition tensor_rank_check a b c r (L : rten) l d' terms :=
  rational a b c L && tensor_check a b c r (Zpos (tens_den L)) (tens_ints L) l d' terms.

Lemma tensor_rank_wordE a b c r L l d' terms : tensor_rank_check a b c r L l d' terms ->
  rank_is (entries (tden a b c L)) r.
Proof.
case/andP => rat /(tensor_rank_sound R) [up lo]; split=> [|s rs].
  by apply: rank_le_ext up => i j k; rewrite rationalE.
by apply: lo; apply: rank_le_ext rs => i j k; rewrite rationalE.
Qed.

(* the zero tensor, which has no flattening minor and no terms *)
Definition zero_check a b c (L : rten) :=
  all (fun k => all (fun q => all (fun v => same (cell_at L k q v) zero) (iota 0 c)) (iota 0 b)) (iota 0 a).

Lemma zero_rank_wordE a b c L : zero_check a b c L -> rank_is (entries (tden a b c L)) 0.
Proof.
move=> /all_iota z; split=> // .
apply: rank_le_ext (rank_le0 R _ _ _) => k q v.
have /all_iota/(_ q)/all_iota/(_ v)/(sameE exp) := z k.
by rewrite /entries tdenE den_zero => ->.
Qed.

(* the rank of a flattening that keeps the first mode *)
Definition flat_rank_check a b c (T : cube) r p I J Nt d L Rs :=
  [&& flat_check a b c T p I J Nt, size I == r & (r == a) || flat_le_check a b c T r d L Rs].

Lemma flat_rank_sound a b c T r p I J Nt d L Rs : flat_rank_check a b c T r p I J Nt d L Rs ->
  \rank (flat_k (fun (i : 'I_a) (j : 'I_b) (k : 'I_c) => zr R (cell T i j k))) = r.
Proof.
case/and3P => lo /eqP sI up; apply/eqP; rewrite eqn_leq -{2}sI (flat_sound R lo) andbT.
case/orP: up => [/eqP ->|/(flat_le_sound R) //].
by rewrite -[X in (_ <= X)%N]card_ord rank_leq_row.
Qed.

Lemma flat_scaled a b c T (d : positive) :
  \rank (flat_k (ztensor R a b c (Zpos d) T)) =
  \rank (flat_k (fun (i : 'I_a) (j : 'I_b) (k : 'I_c) => zr R (cell T i j k))).
Proof.
have d0 : (zr R (Zpos d))^-1 != 0 by rewrite invr_eq0 zr_eq0.
rewrite -[RHS](mxrank_scale_nz _ d0); congr mxrank; apply/matrixP => i j.
by rewrite !mxE /ztensor mulrC.
Qed.

Definition swapped a b c (T : cube) : cube := tab b a c (fun q k v => cell T k q v).

Definition flattening_check a b c (L : rten) mode r p I J Nt d M Rs :=
  let T := tens_ints L in
  rational a b c L &&
  match mode with
  | 0%N => flat_rank_check a b c T r p I J Nt d M Rs
  | 1%N => flat_rank_check b a c (swapped a b c T) r p I J Nt d M Rs
  | _ => flat_rank_check c a b (rotated a b c T) r p I J Nt d M Rs
  end.

Lemma flattening_rank_wordE a b c L mode r p I J Nt d M Rs :
  flattening_check a b c L mode r p I J Nt d M Rs ->
  flattening_rank (tden a b c L) mode = den (nat_real r).
Proof.
case/andP => rat; set T := tens_ints L; set dd := tens_den L.
have flat_kE : flat_k (entries (tden a b c L)) = flat_k (ztensor R a b c (Zpos dd) T).
  by apply: mx_of_ext => k qv; rewrite rationalE.
have flat_qE : flat_q (entries (tden a b c L)) =
    flat_k (ztensor R b a c (Zpos dd) (swapped a b c T)).
  by apply: mx_of_ext => q kv; rewrite rationalE // /ztensor /swapped tab_cell.
have flat_vE : flat_v (entries (tden a b c L)) =
    flat_k (ztensor R c a b (Zpos dd) (rotated a b c T)).
  by apply: mx_of_ext => v kq; rewrite rationalE // /ztensor /rotated tab_cell.
rewrite -nat_realE; case: mode => [|[|mode]] /flat_rank_sound <- /=.
- by rewrite flat_kE flat_scaled.
- by rewrite flat_qE flat_scaled.
by rewrite flat_vE flat_scaled.
Qed.

(* sums of ranks of slices: for each slice what shows its rank *)
Definition rank_hint := (nat * Z * seq nat * seq nat * seq (seq Z) * above)%type.
Definition hinted p q (M : rmat) (h : rank_hint) :=
  let: (r, pr, rs, cs, Nt, up) := h in rrank_check p q r M pr rs cs Nt up.
Definition hint_rank (h : rank_hint) : nat := h.1.1.1.1.1.
Definition mk_hint (r : nat) (p : Z) (rs cs : seq nat) (Nt : seq (seq Z)) (up : above) : rank_hint :=
  (r, p, rs, cs, Nt, up).
Definition no_hint : rank_hint := (0%N, 0%bZ, [::], [::], [::], BySize).

Lemma hintedE p q M h : hinted p q M h -> \rank (mden p q M) = hint_rank h.
Proof. by case: h => [[[[[r pr] I] J] Nt] up] /(rrankE exp). Qed.

Definition rswap a b c (L : rten) : rten := mkseq (fun q => rtab a c (fun k v => cell_at L k q v)) b.

Definition slice_sum_check a b c (L : rten) mode (hs : seq rank_hint) :=
  match mode with
  | 0%N => (size hs == a) && all (fun k => hinted b c (slice L k) (nth no_hint hs k)) (iota 0 a)
  | 1%N => (size hs == b) &&
      all (fun q => hinted a c (rtab a c (fun k v => cell_at L k q v)) (nth no_hint hs q)) (iota 0 b)
  | _ => false
  end.

Lemma slice_rank_sum_wordE a b c L mode hs : slice_sum_check a b c L mode hs ->
  slice_rank_sum (tden a b c L) mode = den (nat_real (sumn [seq hint_rank h | h <- hs])).
Proof.
rewrite -nat_realE sumnE big_map (big_nth no_hint) big_mkord natr_sum.
case: mode => [|[|mode]] //= /andP[/eqP sh /all_iota H]; rewrite sh; apply: eq_bigr => k _; congr (_%:R).
  by rewrite -(hintedE (H k)) ffunE.
rewrite -(hintedE (H k)) mden_tab; congr mxrank; apply/matrixP => i j.
by rewrite !mxE tdenE.
Qed.

(* the largest rank of a matrix above a slice *)
Definition stacked p q (B M : rmat) : rmat := rtab (p + q) (size (head [::] B)) (fun i j => if (i < p)%N then at_ B i j else at_ M (i - p) j).

Definition max_stacked_check p a b c (B : rmat) (L : rten) (hs : seq rank_hint) :=
  [&& (0 < c)%N, rshaped p c B, (0 < p)%N, size hs == a &
  all (fun k => hinted (p + b) c (stacked p b B (slice L k)) (nth no_hint hs k)) (iota 0 a)].

Lemma max_stacked_rank_wordE p a b c B L hs : max_stacked_check p a b c B L hs ->
  max_stacked_rank (mden p c B) (tden a b c L) = den (nat_real (foldr maxn 0%N [seq hint_rank h | h <- hs])).
Proof.
case/and5P => c0 sB p0 /eqP sh /all_iota H; rewrite -nat_realE foldrE big_map (big_nth no_hint) big_mkord sh.
congr (_%:R); apply: eq_bigr => k _; rewrite -(hintedE (H k)).
have -> : stacked p b B (slice L k) =
    rtab (p + b) c (fun i j => if (i < p)%N then at_ B i j else at_ (slice L k) (i - p) j).
  congr rtab; have [/eqP zB /(all_nthP [::]) rB] := andP sB.
  by rewrite -nth0; apply/eqP/rB; rewrite zB.
rewrite mden_tab; congr mxrank; apply/matrixP => i j; rewrite !mxE.
case: splitP => l il; rewrite il; first by rewrite mxE.
by rewrite ffunE mxE addKn.
Qed.

End Words.

Print Assumptions tensor_rank_wordE.
Print Assumptions flattening_rank_wordE.
