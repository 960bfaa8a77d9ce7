(* The features, the outputs and the feature ranks of multi-head attention
   (Mahdavi, Liao and Thrampoulidis 2024) by reflection, and the rank of a
   row-wise softmax from below. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor row_argmax row_threshold.
From lemmax Require multi_head_attention.
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

(* contexts, queries and heads from data: matrices over one denominator *)
Definition contexts_of (R : realFieldType) T n d (den : positive) (cs : seq (seq (seq Z)))
    (which : seq nat) : 'I_T -> 'M[R]_(n, d) :=
  fun t => qmx R n d (Zpos den) (nth [::] cs (nth 0%N which t)).
Arguments contexts_of R (T n d)%nat_scope den cs which _ : clear implicits.

Definition queries_of (R : realFieldType) T d (den : positive) (qs : seq (seq Z)) :
    'I_T -> 'cV[R]_d :=
  fun t => (qmx R 1 d (Zpos den) [:: nth [::] qs t])^T.
Arguments queries_of R (T d)%nat_scope den qs _ : clear implicits.

Definition heads_of (R : realFieldType) H a b (den : positive) (hs : seq (seq (seq Z))) :
    'I_H -> 'M[R]_(a, b) :=
  fun h => qmx R a b (Zpos den) (nth [::] hs h).
Arguments heads_of R (H a b)%nat_scope den hs _ : clear implicits.

(* what the heads put out together: sum_h theta_h^T E V_h *)
Definition output (R : realFieldType) (exp : R -> R) (X : finType) n H d dh p
    (E : X -> 'M[R]_(n, d)) (e : X -> 'cV[R]_d) (W_K W_Q : 'I_H -> 'M[R]_(d, dh))
    (V : 'I_H -> 'M[R]_(d, p)) (t : X) (k : 'I_p) : R :=
  \sum_h \sum_j multi_head_attention.feature exp E e W_K W_Q t (h, j) * V h j k.

Lemma flatten_nth d H (F : nat -> seq real) h j : (forall i, size (F i) = d) ->
  (h < H)%N -> (j < d)%N -> nth zero (flatten (mkseq F H)) (h * d + j) = nth zero (F h) j.
Proof.
elim: H h F => // H IH h F sF hH jd.
rewrite /mkseq /= -[iota 1 H]/(iota (1 + 0) H) iotaDl -map_comp -/(mkseq (F \o addn 1) H) nth_cat sF.
case: h hH => [|h] hH; first by rewrite mul0n add0n jd.
rewrite ifN; last by rewrite -leqNgt mulSn -addnA leq_addr.
by rewrite mulSn -addnA addKn (IH h (F \o addn 1)) // => i; rewrite sF.
Qed.

Section Features.
Variables (R : realFieldType) (exp : R -> R) (m : mode).
Hypothesis ok : exponential_of m exp.
Hypothesis np : ~~ is_plain m.
Variables (T n H d dh p : nat).
Variables (dC dE dK dQ dV : positive) (cs : seq (seq (seq Z))) (which : seq nat).
Variables (qs : seq (seq Z)) (WK WQ WV : seq (seq (seq Z))).
Let E := contexts_of R T n d dC cs which.
Let e := queries_of R T d dE qs.
Let W_K := heads_of R H d dh dK WK.
Let W_Q := heads_of R H d dh dQ WQ.
Let V := heads_of R H d p dV WV.
Local Notation den := (den exp).

Definition rcontext t : rmat := of_ints dC (nth [::] cs (nth 0%N which t)).
Definition rscores t h : rmat :=
  let Et := rcontext t in
  let K := of_ints dK (nth [::] WK h) in let Q := rtr d dh (of_ints dQ (nth [::] WQ h)) in
  rmul n d 1 (rmul n d d Et (rmul d dh d K Q)) (rtr 1 d (of_ints dE [:: nth [::] qs t])).

(* the weights relative to the largest score: every exponential is at most 1 *)
Definition larger (x y : real) : bool :=
  if x is Rat a then if y is Rat b then Qle_bool b a else false else false.
Definition top (S : rmat) : nat :=
  foldr (fun i b => if larger (at_ S i 0) (at_ S b 0) then i else b) 0%N (iota 0 n).
Definition rthetas (S : rmat) : seq real :=
  let r := at_ S (top S) 0 in
  let w := mkseq (fun i => sexp m (sadd (at_ S i 0) (sopp r))) n in
  let z := sinv (ssum n (fun i => nth zero w i)) in
  [seq smul x z | x <- w].

(* one row of features: head after head, the coordinates *)
Definition rrow t : seq real :=
  let Et := rcontext t in
  flatten (mkseq (fun h => let S := rscores t h in
    let th := rthetas S in
    mkseq (fun j => ssum n (fun i => smul (nth zero th i) (at_ Et i j))) d) H).

Lemma score_E (t : 'I_T) (h : 'I_H) (i : 'I_n) : multi_head_attention.score E e W_K W_Q h t i = den (at_ (rscores t h) i 0).
Proof.
rewrite /multi_head_attention.score /E /e /W_K /W_Q /contexts_of /queries_of /heads_of !(of_intsE exp).
by rewrite !(rtrE exp) !(rmulE exp) mxE.
Qed.

Lemma theta_E (t : 'I_T) (h : 'I_H) (i : 'I_n) :
  multi_head_attention.theta exp E e W_K W_Q h t i = den (nth zero (rthetas (rscores t h)) i).
Proof.
rewrite /multi_head_attention.theta /rthetas; set r := at_ _ (top _) 0; set w := mkseq _ n.
have wE l : (l < n)%N -> den (nth zero w l) = exp (den (at_ (rscores t h) l 0)) / exp (den r).
  by move=> ln; rewrite nth_mkseq // (den_sexp ok) den_sadd den_sopp (expD ok np) (expN ok np).
rewrite (nth_map zero) ?size_mkseq // den_smul den_sinv den_ssum wE //.
under [in RHS]eq_bigr => l _ do rewrite wE //.
rewrite -mulr_suml invfM mulrACA invrK mulVf ?(exp_neq0 ok np) // mulr1 score_E; congr (_ / _).
by apply: eq_bigr => l _; rewrite score_E.
Qed.

Lemma rrow_at t h j : (h < H)%N -> (j < d)%N -> nth zero (rrow t) (h * d + j) =
  ssum n (fun i => smul (nth zero (rthetas (rscores t h)) i) (at_ (rcontext t) i j)).
Proof.
move=> hH jd; rewrite /rrow; set F := fun h0 : nat => _.
have sF i : size (F i) = d by rewrite size_mkseq.
rewrite (flatten_nth sF hH jd).
by rewrite nth_mkseq.
Qed.

Lemma feature_E (t : 'I_T) (h : 'I_H) (j : 'I_d) :
  multi_head_attention.feature exp E e W_K W_Q t (h, j) = den (nth zero (rrow t) (h * d + j)).
Proof.
rewrite rrow_at // den_ssum /multi_head_attention.feature /=; apply: eq_bigr => i _.
rewrite den_smul theta_E; congr (_ * _).
by rewrite /E /contexts_of (of_intsE exp) mxE.
Qed.

Definition routput (row : seq real) k : real :=
  ssum H (fun h => let Vh := of_ints dV (nth [::] WV h) in
    ssum d (fun j => smul (nth zero row (h * d + j)) (at_ Vh j k))).

Lemma output_E (t : 'I_T) (k : 'I_p) : output exp E e W_K W_Q V t k = den (routput (rrow t) k).
Proof.
rewrite /output den_ssum; apply: eq_bigr => h _; rewrite den_ssum; apply: eq_bigr => j _.
by rewrite den_smul feature_E /V /heads_of (of_intsE exp) mxE.
Qed.

(* every output is its label, or within an error of it *)
Definition equals_label (labels : rmat) :=
  all (fun t => let row := rrow t in
    all (fun k => same (routput row k) (at_ labels t k)) (iota 0 p)) (iota 0 T).

Lemma outputs_sound labels dL : equals_label (of_ints dL labels) ->
  forall t k, output exp E e W_K W_Q V t k = qmx R T p (Zpos dL) labels t k.
Proof.
move=> /allP chk t k; have /allP/(_ (val k)) : all (fun k => same (routput (rrow t) k) (at_ (of_ints dL labels) t k)) (iota 0 p).
  by apply: chk; rewrite mem_iota ltn_ord.
rewrite mem_iota ltn_ord => /(_ isT); rewrite output_E (of_intsE exp) mxE.
case: routput => // x; case: (at_ _ t k) => // y.
by move/Qeq_bool_iff/(qr_eq R).
Qed.

Definition near_label w k (labels : rmat) (err : Q) :=
  all (fun t => let row := rrow t in
    all (fun j => let x := sadd (routput row j) (sopp (at_ labels t j)) in
      less_eq m w k x (Rat err) && less_eq m w k (sopp x) (Rat err)) (iota 0 p)) (iota 0 T).

Lemma outputs_near_sound w kk labels dL err : near_label w kk (of_ints dL labels) err ->
  forall t k, `|output exp E e W_K W_Q V t k - qmx R T p (Zpos dL) labels t k| <= qr R err.
Proof.
move=> /allP chk t k; have kp : val k \in iota 0 p by rewrite mem_iota ltn_ord.
have tT : val t \in iota 0 T by rewrite mem_iota ltn_ord.
have /allP/(_ _ kp)/andP[/(less_eqE ok) lo /(less_eqE ok)] := chk _ tT.
rewrite den_sopp den_sadd den_sopp in lo *.
rewrite output_E (of_intsE exp) [mden _ _ _ _ _ _]mxE ler_norml ler_oppl => hi.
by rewrite hi lo.
Qed.

(* ranks of Z from below: rows t, columns (h, j) as h d + j. The weights of a head are enclosed
   once for each example, and its features from them. *)
Section Enclosed.
Variables (w : Z) (k : nat).
Hypothesis w0 : (0 <=? w)%bZ.

Definition add_all (s : seq (Z * Z)) : Z * Z := foldr add_i (0, 0)%bZ s.
Definition theta_enclosures (S : rmat) : option (seq (Z * Z)) :=
  let r := at_ S (top S) 0 in
  let e := mkseq (fun i => enclose m w k (sexp m (sadd (at_ S i 0) (sopp r)))) n in
  if all isSome e then
    let x := [seq odflt (0, 0)%bZ y | y <- e] in
    if inv_i w (add_all x) is Some z then Some [seq mul_i w y z | y <- x] else None
  else None.

Definition weighted (th : seq (Z * Z)) (Et : seq (seq (Z * Z))) j : Z * Z :=
  add_all (mkseq (fun i => mul_i w (nth (0, 0)%bZ th i) (nth (0, 0)%bZ (nth [::] Et i) j)) n).

Definition row_enclosures t : seq (Z * Z) :=
  let Et := [seq [seq if x is Rat q then rat_i w q else (0, 0)%bZ | x <- r] | r <- rcontext t] in
  flatten (mkseq (fun h => if theta_enclosures (rscores t h) is Some th
                           then mkseq (weighted th Et) d else [::]) H).

Lemma add_allP i (x : nat -> R) (s : nat -> Z * Z) : (forall l, (l < i)%N -> enclosed w (x l) (s l)) ->
  enclosed w (\sum_(l < i) x l) (add_all (mkseq s i)).
Proof.
elim: i x s => [|i IH] x s enc.
  by rewrite big_ord0 /enclosed /= mulr0 zr0 lexx.
rewrite big_ord_recl /add_all /mkseq /= -[iota 1 i]/(iota (1 + 0) i) iotaDl -map_comp.
apply: add_iP; first exact: enc.
by apply: (IH (fun l => x l.+1) (fun l => s l.+1)) => l li; apply: enc.
Qed.

Lemma theta_enclosuresP (S : rmat) th : theta_enclosures S = Some th ->
  size th = n /\ forall i, (i < n)%N -> enclosed w (den (nth zero (rthetas S) i)) (nth (0, 0)%bZ th i).
Proof.
rewrite /theta_enclosures; set r := at_ S (top S) 0; set ee := mkseq _ n.
case: ifP => // /(all_nthP None) some; set x := [seq _ | _ <- ee].
have xE : x = mkseq (fun i => nth (0, 0)%bZ x i) n.
  by apply: (@eq_from_nth _ (0, 0)%bZ) => [|i]; rewrite !size_map ?size_iota // => i_n; rewrite nth_mkseq.
pose f i := sexp m (sadd (at_ S i 0) (sopp r)).
have enc i : (i < n)%N -> enclosed w (den (f i)) (nth (0, 0)%bZ x i).
  move=> i_n; rewrite /x (nth_map None) ?size_mkseq // /ee nth_mkseq //.
  have := some i; rewrite size_mkseq /ee nth_mkseq // => /(_ i_n).
  by case Ec: enclose => [J|] // _; apply: (encloseP ok w0 Ec).
case Ez: inv_i => [z|] // [<-]; split=> [|i i_n]; first by rewrite !size_map size_iota.
rewrite (nth_map (0, 0)%bZ) ?size_map ?size_iota // /rthetas (nth_map zero) ?size_mkseq //.
rewrite den_smul den_sinv den_ssum nth_mkseq //; apply: mul_iP => //; first exact: enc.
apply: (inv_iP w0 _ Ez); rewrite xE.
under eq_bigr => l _ do rewrite nth_mkseq //.
exact: (add_allP (x := fun l => den (f l)) enc).
Qed.

Lemma rat_cellE (L : rmat) i j (q : Q) : at_ L i j = Rat q ->
  (i < size L)%N -> (j < size (nth [::] L i))%N ->
  nth (0, 0)%bZ (nth [::] [seq [seq if x is Rat q then rat_i w q else (0, 0)%bZ | x <- r] | r <- L] i) j = rat_i w q.
Proof. by move=> ee iL jL; rewrite (nth_map [::]) // (nth_map zero) // -/(at_ L i j) ee. Qed.

Definition flat_at t h j := nth (0, 0)%bZ (row_enclosures t) (h * d + j).

Lemma row_enclosuresP (t : 'I_T) (h : 'I_H) (j : 'I_d) :
  shaped n d (nth [::] cs (nth 0%N which t)) -> size (row_enclosures t) = (H * d)%N ->
  enclosed w (multi_head_attention.feature exp E e W_K W_Q t (h, j)) (flat_at t h j).
Proof.
move=> sh sz; rewrite feature_E rrow_at // den_ssum /flat_at /row_enclosures.
set Et := [seq _ | _ <- rcontext t]; set F := fun h0 : nat => _.
have sF i : (i < H)%N -> size (F i) = d.
  move=> iH; have le l : (size (F l) <= d)%N.
    by rewrite /F; case: theta_enclosures => [th|] //; rewrite size_mkseq.
  apply/eqP; rewrite eqn_leq le /=; rewrite leqNgt; apply/negP => lt.
  have : (size (row_enclosures t) < H * d)%N.
    rewrite /row_enclosures -/Et -/F size_flatten /shape -map_comp sumnE big_map.
    rewrite -[X in iota 0 X]subn0 -/(index_iota 0 H) big_mkord.
    have -> : (H * d = \sum_(l < H) d)%N by rewrite sum_nat_const card_ord.
    rewrite [X in (X < _)%N](bigD1 (Ordinal iH)) //= [X in (_ < X)%N](bigD1 (Ordinal iH)) //=.
    by rewrite -addSn; apply: leq_add => //; apply: leq_sum => l _; apply: le.
  by rewrite sz ltnn.
have -> : nth (0, 0)%bZ (flatten (mkseq F H)) (h * d + j) = nth (0, 0)%bZ (F h) j.
  elim: (H) (val h) (ltn_ord h) F sF {sz} => // H' IH h' hH F' sF'.
  rewrite /mkseq /= -[iota 1 H']/(iota (1 + 0) H') iotaDl -map_comp -/(mkseq (F' \o addn 1) H') nth_cat sF' //.
  case: h' hH => [|h'] hH; first by rewrite mul0n add0n ltn_ord.
  rewrite ifN; last by rewrite -leqNgt mulSn -addnA leq_addr.
  rewrite mulSn -addnA addKn (IH h' _ (F' \o addn 1)) // => i iH; exact: sF'.
have := sF h (ltn_ord h); rewrite /F; case Eth: theta_enclosures => [th|]; last first.
  by move=> /= d0; exfalso; have jn := ltn_ord j; move: (nat_of_ord j) jn => jj; rewrite -d0.
move=> _; rewrite nth_mkseq //; have [_ thP] := theta_enclosuresP Eth.
apply: (add_allP (x := fun i => den (smul (nth zero (rthetas (rscores t h)) i) (at_ (rcontext t) i j)))) => i i_n.
rewrite den_smul; apply: mul_iP => //; first exact: thP.
have [/eqP sc _] := andP sh.
have iC : (i < size (rcontext t))%N by rewrite size_map sc.
have jC : (j < size (nth [::] (rcontext t) i))%N.
  by rewrite (nth_map [::]) ?sc // size_map (shaped_row sh).
have rE : at_ (rcontext t) i j = Rat (Qred (entry (nth [::] cs (nth 0%N which t)) i j # dC)).
  by rewrite /at_ (nth_map [::]) ?sc // (nth_map 0%bZ) // (shaped_row sh).
by rewrite /Et (rat_cellE rE) // rE; apply: rat_iP.
Qed.
End Enclosed.

Definition feature_rank_check w k (I J : seq nat) Nt :=
  let rs := [seq row_enclosures w k t | t <- I] in
  [&& (0 <=? w)%bZ, all (fun t => (t < T)%N && shaped n d (nth [::] cs (nth 0%N which t))) I,
      all (fun x => (x < H * d)%N) J, (size J == size I) && all (fun r => size r == (H * d)%N) rs
    & dominant_rows (size I) [seq [seq nth (0, 0)%bZ r j | j <- J] | r <- rs] Nt].

Lemma feature_rank_sound w k I J Nt : feature_rank_check w k I J Nt ->
  (size I <= \rank (multi_head_attention.Z exp E e W_K W_Q))%N.
Proof.
case/and5P => w0 /(all_nthP 0%N) Ip /(all_nthP 0%N) Jq /andP[/eqP sJ /(all_nthP [::]) sr] dom.
have It (i : 'I_(size I)) : (nth 0%N I i < T)%N by case/andP: (Ip i (ltn_ord i)).
have Jx (j : 'I_(size I)) : (nth 0%N J j < H * d)%N by apply: Jq; rewrite sJ.
have d0 (j : 'I_(size I)) : (0 < d)%N by have := Jx j; case: (d) => //; rewrite muln0.
have hH (j : 'I_(size I)) : (nth 0 J j %/ d < H)%N by rewrite ltn_divLR ?(d0 j).
have jd (j : 'I_(size I)) : (nth 0 J j %% d < d)%N by rewrite ltn_pmod ?(d0 j).
pose f (i : 'I_(size I)) : 'I_#|[finType of 'I_T]| := enum_rank (Ordinal (It i)).
pose g (j : 'I_(size I)) : 'I_#|[finType of 'I_H * 'I_d]| :=
  enum_rank (Ordinal (hH j), Ordinal (jd j)).
pose Z := multi_head_attention.Z exp E e W_K W_Q.
have unit : mxsub f g Z \in unitmx.
  apply: (dominant_rowsP dom (w := w)) => i l.
  rewrite !mxE !enum_rankK (nth_map [::]) ?size_map // (nth_map 0%N) ?sJ //.
  have := @row_enclosuresP w k w0 (Ordinal (It i)) (Ordinal (hH l)) (Ordinal (jd l)).
  rewrite /flat_at /= -divn_eq (nth_map 0%N) //; apply.
    by case/andP: (Ip i (ltn_ord i)).
  by have := sr i; rewrite size_map (nth_map 0%N) // => /(_ (ltn_ord i)) /eqP.
by rewrite -(mxrank_unit unit) mxrank_mxsub.
Qed.

(* as many as there are rows *)
Lemma feature_rank_full_sound w k I J Nt : feature_rank_check w k I J Nt && (size I == T) ->
  \rank (multi_head_attention.Z exp E e W_K W_Q) = T.
Proof.
case/andP => /feature_rank_sound lo /eqP sI; rewrite sI in lo; apply/eqP; rewrite eqn_leq lo andbT.
by rewrite -[X in (_ <= X)%N]card_ord rank_leq_row.
Qed.

End Features.

(* the rank of a softmax from below *)
Section Softmax.
Variables (R : realFieldType) (exp : R -> R).
Hypothesis ok : natural_exponential exp.

Definition softmax_rank_check w k p q d M I J Nt :=
  let L := of_ints d M in
  rrank_ge_check Natural w k p q (rtab p q (softmax_at Natural q L)) I J Nt.

Lemma softmax_rank_sound w k p q d M I J Nt :
  softmax_rank_check w k p q d M I J Nt && ((size I == p) || (size I == q)) ->
  \rank (softmax exp (qmx R p q (Zpos d) M)) = size I.
Proof.
have okm : exponential_of Natural exp := ok.
case/andP => /(rrank_geE okm) lo sz; apply/eqP; rewrite eqn_leq; apply/andP; split.
  by case/orP: sz => /eqP ->; [exact: rank_leq_row | exact: rank_leq_col].
apply: leq_trans lo _; rewrite mden_tab; apply/eq_leq; congr mxrank.
by apply/matrixP => i j; rewrite mxE (of_intsE exp) (softmax_atE okm).
Qed.
End Softmax.

Print Assumptions outputs_sound.
Print Assumptions outputs_near_sound.
Print Assumptions feature_rank_sound.
Print Assumptions softmax_rank_sound.
