(* The tensors of a layer over a list of facts by reflection, and memorization
   where only the values of the facts compete: decided from the logits, written
   as expressions. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor database attention_layer tensor_words layer_words.
From lemmax Require Import reflect_integers reflect_rank reflect_reals reflect_matrices reflect_words.
From lemmax Require Import reflect_tensor_rank reflect_memorization reflect_tensors.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Delimit Scope Z_scope with bZ.
Delimit Scope Q_scope with bQ.
Local Open Scope nat_scope.
Local Open Scope ring_scope.

Definition quotient (z : Z) (d : positive) : real := Rat (Qred (z # d)).

(* the logit of v after (k, q), or only what does not pass a head *)
Definition head_logit m (dd ee : positive) (hd : seq (seq Z) * seq (seq Z) * seq (seq Z)) k q v : real :=
  let xq := row_at hd.1.1 q in
  let al := attention_expr m (dot xq (row_at hd.1.2 k) - dot xq (row_at hd.1.2 q))%bZ ee in
  sadd (smul al (quotient (entry hd.2 k v) dd)) (smul (sadd one (sopp al)) (quotient (entry hd.2 q v) dd)).

Definition logit m H (W : weights) (C : circuits) (heads : bool) k q v : real :=
  sadd (quotient (entry (cEU C) q v) (dE W * dU W))
    (if heads then ssum H (fun h => head_logit m (dE W * dV W * dO W * dU W)
        (dE W * dQ W * dK W * dE W) (nth ([::], [::], [::]) (cHeads C) h) k q v) else zero).

Definition in_range n (D : seq (nat * nat * nat)) :=
  all (fun f => [&& f.1.1 <= n, f.1.2 <= n & f.2 <= n])%N D.

Definition layer_table m n H d dqk dvo (W : weights) (D : seq (nat * nat * nat)) (masked : bool) : rten :=
  let C := circuits_of n.+1 H d dqk dvo W in
  let Ks := key_list D in let Qs := query_list D in let Vs := value_list D in
  mkseq (fun k => rtab (size Qs) (size Vs) (fun q v =>
    logit m H W C (~~ masked || known D k q) (nth 0%N Ks k) (nth 0%N Qs q) (nth 0%N Vs v))) (size Ks).

Definition layer_check n H d dqk dvo W D := weights_ok n.+1 H d dqk dvo W && in_range n D.

(* tables of facts *)
Definition fact_table (D : seq (nat * nat * nat)) : rten :=
  let Ks := key_list D in let Qs := query_list D in let Vs := value_list D in
  mkseq (fun k => rtab (size Qs) (size Vs) (fun q v =>
    if ((nth 0 Ks k, nth 0 Qs q, nth 0 Vs v)%N \in D) then one else zero)) (size Ks).

Section Tables.
Variables (R : realFieldType) (exp : R -> R) (m : mode).
Local Notation tden := (tden exp).
Implicit Type D : seq (nat * nat * nat).

Lemma table_tensor_wordE D :
  table_tensor R D = tden (nkeys D) (nqueries D) (nvalues D) (fact_table D).
Proof.
apply/ffunP => k; rewrite !ffunE /slice nth_mkseq // mden_tab; apply/matrixP => q v.
by rewrite !mxE; case: ifP => _; rewrite ?den_one ?den_zero.
Qed.

Definition represents_check a b c (X : rten) D :=
  [&& a == nkeys D, b == nqueries D, c == nvalues D &
  all (fun k => all (fun q => ~~ known D k q || all (fun v =>
    same (cell_at X k q v) (cell_at (fact_table D) k q v)) (iota 0 c)) (iota 0 b)) (iota 0 a)].

Lemma represents_wordE a b c X D : represents_check a b c X D -> represents (tden a b c X) D.
Proof.
case/and4P => /eqP ea /eqP eb /eqP ec; move: ea eb ec => -> -> -> H; split=> // k q v kq.
have /all_iota/(_ q) := all_iota H k; rewrite kq /= => /all_iota/(_ v)/(sameE exp).
rewrite tdenE => ->; rewrite -tdenE -table_tensor_wordE ffunE mxE; by [].
Qed.

Lemma disjoint_wordE D :
  all (fun f => all (fun g => f.1.1 != g.1.2) D) D -> disjoint D.
Proof. by move=> /allP H f g /H /allP X /X. Qed.

Lemma equal_facts_wordE D E : all (fun f => f \in E) D && all (fun f => f \in D) E -> equal_facts D E.
Proof. by case/andP => /allP DE /allP ED f; apply/idP/idP => [/DE|/ED]. Qed.

(* maps of names, listed *)
Definition image (s : seq nat) (x : nat) : nat := nth 0%N s x.
Definition apart (s xs : seq nat) := uniq [seq image s x | x <- undup xs].

Lemma apartP s xs : apart s xs -> {in sort leq (undup xs) &, injective (image s)}.
Proof.
rewrite /apart => un x y; rewrite !mem_sort !mem_undup => xs_ ys_ e.
have xi : x \in undup xs by rewrite mem_undup.
have yi : y \in undup xs by rewrite mem_undup.
have xm : (index x (undup xs) < size (undup xs))%N by rewrite index_mem.
have ym : (index y (undup xs) < size (undup xs))%N by rewrite index_mem.
have := nth_uniq 0%N (s := [seq image s z | z <- undup xs]) _ _ un.
move/(_ (index x (undup xs)) (index y (undup xs))); rewrite !size_map xm ym => /(_ isT isT).
rewrite !(nth_map 0%N) // !nth_index // e eqxx => /esym/eqP ei.
by rewrite -(nth_index 0%N xi) ei nth_index.
Qed.

Lemma same_table_wordE f g h D E :
  [&& apart f [seq x.1.1 | x <- D], apart g [seq x.1.2 | x <- D], apart h [seq x.2 | x <- D]
    & let I := [seq (image f x.1.1, image g x.1.2, image h x.2) | x <- D] in
      all (fun x => x \in E) I && all (fun x => x \in I) E] -> same_table D E.
Proof.
case/and4P => /apartP uf /apartP ug /apartP uh I; exists (image f), (image g), (image h).
split=> //; exact: equal_facts_wordE.
Qed.

Lemma values_wordE D : values R D = den exp (nat_real (size (undup [seq f.2 | f <- D]))).
Proof. exact: nat_realE. Qed.
Lemma fact_count_wordE D : fact_count R D = den exp (nat_real (size (undup D))).
Proof. exact: nat_realE. Qed.
End Tables.

Section Layers.
Variables (R : realFieldType) (exp : R -> R) (m : mode).
Hypothesis ok : exponential_of m exp.
Hypothesis np : ~~ is_plain m.
Local Notation den := (den exp).
Local Notation tden := (tden exp).
Variables (n H d dqk dvo : nat) (W : weights) (D : seq (nat * nat * nat)).
Hypothesis chk : layer_check n H d dqk dvo W D.
Let A := layer_of R n.+1 H d dqk dvo W.
Let C := circuits_of n.+1 H d dqk dvo W.
Let wok : weights_ok n.+1 H d dqk dvo W. Proof. by case/andP: chk. Qed.
Let egt0 := exp_gt0 ok np.

Lemma attention_mE (h : 'I_H) (k q : 'I_n.+1) :
  let xq := row_at (head_at n.+1 H d dqk dvo W h).1.1 q in
  attention_to_first exp A h k q = den (attention_expr m
    (dot xq (row_at (head_at n.+1 H d dqk dvo W h).1.2 k) -
     dot xq (row_at (head_at n.+1 H d dqk dvo W h).1.2 q))%bZ (dE W * dQ W * dK W * dE W)).
Proof.
move=> xq; rewrite /attention_expr den_sinv den_sadd den_one (den_sexp ok).
rewrite -[den (Rat _)]/(qr R (Qred _)) qr_red /qr /= !Pos2Z.inj_mul zrN zrB opprB mulrBl.
rewrite -!(QK_E R wok) (expD ok) // (expN ok) // /attention_to_first.
set a := W_QK _ h q k; set b := W_QK _ h q q.
by rewrite -[exp a / _]invf_div mulrDl divff ?gt_eqF ?egt0.
Qed.

Lemma quotientE z p : den (quotient z p) = zr R z / zr R (Zpos p).
Proof. by rewrite -[LHS]/(qr R (Qred _)) qr_red. Qed.

Lemma EU_logitE (q v : 'I_n.+1) : W_EU A q v = den (quotient (entry (cEU C) q v) (dE W * dU W)).
Proof. by rewrite quotientE (EU_E R wok). Qed.

Lemma logitE (k q v : 'I_n.+1) : final_logits exp A k q v = den (logit m H W C true k q v).
Proof.
rewrite (final_logitsE A egt0) den_sadd -EU_logitE den_ssum; congr (_ + _); apply: eq_bigr => h _.
rewrite /head_logit den_sadd !den_smul den_sadd den_one den_sopp !quotientE attention_mE.
by rewrite !(VO_E R wok) !Pos2Z.inj_mul.
Qed.

Lemma logit_offE (k q v : 'I_n.+1) : W_EU A q v = den (logit m H W C false k q v).
Proof. by rewrite den_sadd den_zero addr0 -EU_logitE. Qed.

Lemma range_of (f : nat * nat * nat) : f \in D -> [&& f.1.1 < n.+1, f.1.2 < n.+1 & f.2 < n.+1]%N.
Proof. by case/andP: chk => _ /allP H' /H'. Qed.

Lemma key_range k : (k < nkeys D)%N -> (nth 0 (key_list D) k < n.+1)%N.
Proof.
move=> kD; have : nth 0%N (key_list D) k \in key_list D by apply: mem_nth.
by rewrite mem_sort mem_undup => /mapP[f /range_of /and3P[fk _ _] ->].
Qed.
Lemma query_range k : (k < nqueries D)%N -> (nth 0 (query_list D) k < n.+1)%N.
Proof.
move=> kD; have : nth 0%N (query_list D) k \in query_list D by apply: mem_nth.
by rewrite mem_sort mem_undup => /mapP[f /range_of /and3P[_ fk _] ->].
Qed.
Lemma value_range k : (k < nvalues D)%N -> (nth 0 (value_list D) k < n.+1)%N.
Proof.
move=> kD; have : nth 0%N (value_list D) k \in value_list D by apply: mem_nth.
by rewrite mem_sort mem_undup => /mapP[f /range_of /and3P[_ _ fk] ->].
Qed.

Let table_of masked := layer_table m n H d dqk dvo W D masked.

Lemma table_cell masked k q v : (k < nkeys D)%N -> (q < nqueries D)%N -> (v < nvalues D)%N ->
  cell_at (table_of masked) k q v = logit m H W C (~~ masked || known D k q)
    (nth 0%N (key_list D) k) (nth 0%N (query_list D) q) (nth 0%N (value_list D) v).
Proof. by move=> kK qQ vV; rewrite /cell_at /slice nth_mkseq // rtab_at. Qed.

Lemma logits_tensor_wordE :
  logits_tensor exp A D = tden (nkeys D) (nqueries D) (nvalues D) (table_of false).
Proof.
apply/ffunP => k; apply/matrixP => q v; rewrite tdenE table_cell // ffunE mxE logitE /=.
by rewrite /key_token /query_token /value_token !inordK ?key_range ?query_range ?value_range.
Qed.

Lemma unmasked_tensor_wordE :
  unmasked_tensor exp A D = tden (nkeys D) (nqueries D) (nvalues D) (table_of false).
Proof.
rewrite -logits_tensor_wordE; apply/ffunP => k; apply/matrixP => q v; rewrite !ffunE !mxE.
exact: tensor_L_positionsE.
Qed.

Lemma layer_tensor_wordE :
  layer_tensor exp A D = tden (nkeys D) (nqueries D) (nvalues D) (table_of true).
Proof.
apply/ffunP => k; apply/matrixP => q v; rewrite tdenE table_cell // !ffunE !mxE /tensor_L /tensor_AV /masked_attention.
have kK := key_range (ltn_ord k); have qQ := query_range (ltn_ord q); have vV := value_range (ltn_ord v).
case: (known D k q) => /=.
  have := tensor_L_positionsE A egt0 (@key_token n D) (@query_token n D) (@value_token n D) k q v.
  rewrite /tensor_L /tensor_AV => ->; rewrite logitE.
  by rewrite /key_token /query_token /value_token !inordK.
rewrite big1 => [|h _]; last by rewrite big1 // => t _; rewrite mul0r.
rewrite addr0 /tensor_E (logit_offE (@key_token n D k)) /key_token /query_token /value_token !inordK //.
Qed.

(* the facts, each against the other values *)
Definition facts_db_in (k q v : 'I_n.+1) : facts_db n.+1 n.+1 n.+1 D k q = Some v ->
  (val k, val q, val v) \in D.
Proof.
rewrite /facts_db; case E: answer => [v0|] //= Dv.
have vE : v0 = val v by move: Dv; case: insubP => // u _ <- [->].
by apply: answer_in; rewrite E vE.
Qed.

Lemma db_in k q v : (answer D k q == Some v) -> (k < n.+1)%N -> (q < n.+1)%N -> (v < n.+1)%N ->
  facts_db n.+1 n.+1 n.+1 D (inord k) (inord q) = Some (inord v).
Proof. by move=> /eqP av kn qn vn; rewrite /facts_db !inordK // av /= insubT /=; congr Some; apply: val_inj; rewrite /= inordK. Qed.

Definition values_check w kk :=
  let C := circuits_of n.+1 H d dqk dvo W in let Vs := value_list D in
  (0 <=? w)%bZ && all (fun f => let l := logit m H W C true f.1.1 f.1.2 in
    let top := l f.2 in all (fun v => (v == f.2) || less m w kk (l v) top) Vs) D.

Lemma memorizes_values_wordE w kk : values_check w kk -> memorizes_values exp A D.
Proof.
case/andP => w0 /allP all k q v /facts_db_in /all /allP H' v'; rewrite inE => v'D v'v.
have := H' (val v') v'D; rewrite val_eqE (negPf v'v) /= !logitE; exact: lessE.
Qed.

Definition misses_check w kk (f : nat * nat * nat) (v : nat) :=
  let C := circuits_of n.+1 H d dqk dvo W in let l := logit m H W C true f.1.1 f.1.2 in
  [&& answer D f.1.1 f.1.2 == Some f.2, v \in value_list D, v != f.2, f \in D & less_eq m w kk (l f.2) (l v)].

Lemma misses_values_wordE w kk f v : misses_check w kk f v -> ~ memorizes_values exp A D.
Proof.
case/and5P => ans vD vf fD le mem; have /and3P[kn qn vn] := range_of fD.
have vr : (v < n.+1)%N.
  by move: vD; rewrite mem_sort mem_undup => /mapP[g /range_of /and3P[_ _ gn] ->].
have := mem _ _ _ (db_in ans kn qn vn) (inord v); rewrite inE /= inordK // => /(_ vD).
rewrite -val_eqE /= !inordK // => /(_ vf); rewrite !logitE !inordK //.
by rewrite ltNge (less_eqE ok le).
Qed.

Definition share (l : nat -> real) (v : nat) : real :=
  let top := sopp (l v) in
  sinv (foldr (fun u s => sadd (sexp m (sadd (l u) top)) s) zero (value_list D)).

Lemma shareE (l : nat -> real) (x : 'I_n.+1 -> R) (v : 'I_n.+1) :
  (forall u : 'I_n.+1, x u = den (l u)) ->
  exp (x v) / (\sum_(u in value_set n D) exp (x u)) = den (share l v).
Proof.
move=> xE; rewrite /share den_sinv.
have -> : den (foldr (fun u s => sadd (sexp m (sadd (l u) (sopp (l v)))) s) zero (value_list D)) =
    \sum_(u <- value_list D) exp (den (l u)) / exp (x v).
  elim: (value_list D) => [|u s IH]; first by rewrite big_nil den_zero.
  by rewrite big_cons -IH /= den_sadd (den_sexp ok) den_sadd den_sopp (expD ok np) (expN ok np) xE.
have -> : \sum_(u <- value_list D) exp (den (l u)) / exp (x v) =
    \sum_(u in value_set n D) exp (x u) / exp (x v).
  have -> : value_list D = [seq val u | u <- [seq inord u | u <- value_list D] : seq 'I_n.+1].
    rewrite -map_comp -[LHS]map_id; apply/eq_in_map => u.
    rewrite mem_sort mem_undup => /mapP[f /range_of /and3P[_ _ fn] ->] /=.
    by rewrite inordK.
  rewrite big_map -big_enum /=; under eq_bigr => u _ do rewrite -xE.
  apply: perm_big; apply: uniq_perm; last 1 first.
  - move=> u; rewrite mem_enum inE; apply/mapP/idP => [[w wD ->]|uD]; last first.
      by exists (val u) => //; rewrite inord_val.
    rewrite /= inordK //; move: wD; rewrite mem_sort mem_undup => /mapP[f /range_of /and3P[_ _ fn] ->] //.
  - rewrite map_inj_in_uniq ?sort_uniq ?undup_uniq // => u w uD wD /(congr1 val).
    rewrite /= !inordK //.
      by move: wD; rewrite mem_sort mem_undup => /mapP[f /range_of /and3P[_ _ fn] ->].
    by move: uD; rewrite mem_sort mem_undup => /mapP[f /range_of /and3P[_ _ fn] ->].
  exact: enum_uniq.
by rewrite -mulr_suml invf_div.
Qed.

Definition values_at_check w kk tau :=
  let C := circuits_of n.+1 H d dqk dvo W in
  all (fun f => less_eq m w kk (Rat tau) (share (logit m H W C true f.1.1 f.1.2) f.2)) D.

Lemma memorizes_values_at_wordE w kk tau :
  values_at_check w kk tau -> memorizes_values_at exp A D (qr R tau).
Proof.
move=> /allP all k q v /facts_db_in /all /(less_eqE ok) /=.
by rewrite -(shareE (x := final_logits exp A k q)) // => u; rewrite logitE.
Qed.

Definition misses_at_check w kk tau (f : nat * nat * nat) :=
  let C := circuits_of n.+1 H d dqk dvo W in
  [&& answer D f.1.1 f.1.2 == Some f.2, f \in D &
      less m w kk (share (logit m H W C true f.1.1 f.1.2) f.2) (Rat tau)].

Lemma misses_values_at_wordE w kk tau f :
  misses_at_check w kk tau f -> ~ memorizes_values_at exp A D (qr R tau).
Proof.
case/and3P => ans fD /(lessE ok) lt mem; have /and3P[kn qn vn] := range_of fD.
have := mem _ _ _ (db_in ans kn qn vn); apply/negP; rewrite -ltNge.
rewrite (shareE (l := logit m H W C true f.1.1 f.1.2)) ?inordK // => u.
by rewrite logitE !inordK.
Qed.

End Layers.

(* with a natural exponential: by the sums of upper bounds, which is fast *)
Definition values_tau_check n H d dqk dvo W D w kk tau :=
  let C := circuits_of n.+1 H d dqk dvo W in
  let Vs := value_list D in let counts := mkseq (fun i => i \in Vs) n.+1 in
  (0 <=? w)%bZ && all (tau_fact Natural w kk W C tau counts) D.

Lemma memorizes_values_at_tau_wordE (R : realFieldType) (exp : R -> R) n H d dqk dvo W D w kk tau :
  natural_exponential exp -> layer_check n H d dqk dvo W D ->
  values_tau_check n H d dqk dvo W D w kk tau ->
  memorizes_values_at exp (layer_of R n.+1 H d dqk dvo W) D (qr R tau).
Proof.
move=> ok chk /andP[w0 /allP all] k q v /facts_db_in fD.
have /andP[wok _] := chk; have := all _ fD; apply: (tau_fact_in ok w0 wok) => [i|].
  by rewrite inE nth_mkseq.
rewrite inE mem_sort mem_undup; exact: (map_f (fun f : nat * nat * nat => f.2) fD).
Qed.

Print Assumptions memorizes_values_at_tau_wordE.
Print Assumptions layer_tensor_wordE.
Print Assumptions memorizes_values_at_wordE.
Print Assumptions misses_values_at_wordE.
