(* claim: lemmax/corollary-1-exact@84bd8f8be9e2f130 (that both exceptions are ones, in all dimensions),
     by last_token_obstruction, square_obstruction.
   control: square_with_other_labels.
   Without heads two sequences with one last token have equal logits. With one
   head, four sequences with one last token that are two pairs with the same
   two tokens at every position do not have labels that are equal within the
   pairs and different between them. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import attention_only_transformer.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* t1, t4 have the same two tokens as t2, t3, at every position *)
Definition is_square N s (t1 t2 t3 t4 : 'I_s.+1 -> 'I_N) :=
  forall i, (t1 i = t2 i /\ t4 i = t3 i) \/ (t1 i = t3 i /\ t4 i = t2 i).

Section Obstruction.
Variable R : realFieldType.
Variable exp : R -> R.
Hypothesis exp_gt0 : forall z, 0 < exp z.

Theorem last_token_obstruction N s d dh (A : aot R N s 0 d dh) t t' (y y' : 'I_N) :
  t ord_max = t' ord_max -> y != y' -> memorizes exp A t y -> ~ memorizes exp A t' y'.
Proof.
move=> last yy' m m'.
have same : logits exp A t = logits exp A t' by rewrite /logits !big_ord0 /x last.
have lt := m y'; rewrite eq_sym in yy'.
have := lt_trans (lt yy') _; rewrite same => /(_ (logits exp A t' y' 0)).
by rewrite ltxx => bad; apply: notF; apply: bad; apply: m'; rewrite eq_sym.
Qed.

Section OneHead.
Variables (N s d dh : nat) (A : aot R N s 1 d dh) (j y y' : 'I_N).
Implicit Type t : 'I_s.+1 -> 'I_N.

Let w : 'rV[R]_d := row y (W_U A) - row y' (W_U A).
Let last : 'cV[R]_d := e A j + pos A ord_max.
Let E (i : 'I_s.+1) (k : 'I_N) : R :=
  exp ((last^T *m ((W_Q A 0)^T *m W_K A 0) *m (e A k + pos A i)) 0 0).
Let phi (i : 'I_s.+1) (k : 'I_N) : R :=
  E i k * ((w *m last) 0 0 + (w *m (W_O A 0 *m (W_V A 0 *m (e A k + pos A i)))) 0 0).
Let f t := logits exp A t y 0 - logits exp A t y' 0.
Let Z t := \sum_i E i (t i).

Lemma Z_gt0 t : 0 < Z t.
Proof.
rewrite /Z (bigD1 ord_max) //=; apply: ltr_paddr; last exact: exp_gt0.
by apply: sumr_ge0 => i _; apply/ltW/exp_gt0.
Qed.

Lemma difference_is_additive t : t ord_max = j -> f t * Z t = \sum_i phi i (t i).
Proof.
move=> tj.
have xlast : x A t ord_max = last by rewrite /x tj.
have Et i : exp (score A 0 t i) = E i (t i) by rewrite /score xlast.
have rowE v (M : 'cV[R]_d) : (W_U A *m M) v 0 = (row v (W_U A) *m M) 0 0.
  by rewrite -row_mul [RHS]mxE.
have fE : f t = (w *m last) 0 0 +
    (\sum_i E i (t i) * (w *m (W_O A 0 *m (W_V A 0 *m (e A (t i) + pos A i)))) 0 0) / Z t.
  rewrite /f /logits !rowE.
  have -> (u v : 'M[R]_1) : u 0 0 - v 0 0 = (u - v) 0 0 by rewrite !mxE.
  rewrite -mulmxBl -/w mulmxDr mxE xlast; congr (_ + _).
  rewrite big_ord1 /attention !mulmx_sumr summxE mulr_suml; apply: eq_bigr => i _.
  rewrite -!scalemxAr mxE /weight Et mulrAC; congr (_ * _ / _).
  by apply: eq_bigr => k _; rewrite Et.
rewrite fE mulrDl divfK ?gt_eqF ?Z_gt0 // mulr_sumr -big_split /=.
by apply: eq_bigr => i _; rewrite /phi mulrDr [_ * E _ _]mulrC.
Qed.

Theorem square_obstruction (t1 t2 t3 t4 : 'I_s.+1 -> 'I_N) :
  y != y' -> is_square t1 t2 t3 t4 ->
  t1 ord_max = j -> t2 ord_max = j -> t3 ord_max = j -> t4 ord_max = j ->
  memorizes exp A t1 y -> memorizes exp A t4 y ->
  memorizes exp A t2 y' -> ~ memorizes exp A t3 y'.
Proof.
move=> yy' sq l1 l2 l3 l4 m1 m4 m2 m3.
have pos_ t : memorizes exp A t y -> 0 < f t * Z t.
  by move=> m; rewrite pmulr_lgt0 ?Z_gt0 // subr_gt0 m // eq_sym.
have neg t : memorizes exp A t y' -> f t * Z t < 0.
  by move=> m; rewrite pmulr_llt0 ?Z_gt0 // subr_lt0 m.
have eq : f t1 * Z t1 + f t4 * Z t4 = f t2 * Z t2 + f t3 * Z t3.
  rewrite !difference_is_additive // -!big_split /=; apply: eq_bigr => i _.
  by have [[-> ->]|[-> ->]] := sq i; rewrite // addrC.
have := addr_gt0 (pos_ _ m1) (pos_ _ m4); rewrite eq ltNge => /negP; apply.
by apply/ltW; have := addr_gt0 (_ : 0 < - (f t2 * Z t2)) (_ : 0 < - (f t3 * Z t3));
  rewrite -opprD oppr_gt0; apply; rewrite oppr_gt0 neg.
Qed.
End OneHead.
End Obstruction.

(* with equal labels the four sequences are memorized, by the embedding alone *)
Theorem square_with_other_labels (R : realFieldType) (exp : R -> R) :
  exists A : aot R 2 2 1 1 1, forall t, memorizes exp A t 0.
Proof.
exists (AoT (fun=> const_mx 1) (fun=> 0) (fun=> 0) (fun=> 0) (fun=> 0) (fun=> 0)
  (\matrix_(i < 2, k < 1) (i == 0)%:R)) => t y yne.
rewrite /logits /= big_ord1 mul0mx addr0 /x /= addr0.
by rewrite !mxE !big_ord1 !mxE eqxx (negPf yne) mul0r mul1r ltr01.
Qed.

Print Assumptions last_token_obstruction.
Print Assumptions square_obstruction.
Print Assumptions square_with_other_labels.
