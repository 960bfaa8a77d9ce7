(* Memorization by reflection. The weights of a layer are integers over one
   denominator for each kind of weight; the circuits are computed once, token by
   token, and every fact is checked by traversing three rows of them. The
   attention is enclosed between integers over a power of two; since logits are
   compared after their difference is written as a function of the attention,
   nothing is lost where the circuits agree. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor database attention_layer probable_memorization.
From lemmax Require Import reflect_integers reflect_rank reflect_reals reflect_tensor_rank.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Delimit Scope Z_scope with bZ.
Delimit Scope Q_scope with bQ.
Local Open Scope nat_scope.
Local Open Scope ring_scope.

(* weights: a denominator and integers; for the heads a list of such matrices *)
Record weights := Weights {
  dE : positive; dU : positive; dQ : positive; dK : positive; dV : positive; dO : positive;
  wE : seq (seq Z); wU : seq (seq Z);
  wQ : cube; wK : cube; wV : cube; wO : cube
}.

(* the layer with these weights *)
Definition layer_of (R : realFieldType) n H d dqk dvo (W : weights) : layer R n H d dqk dvo :=
  Layer (qmx R n d (Zpos (dE W)) (wE W)) (qmx R d n (Zpos (dU W)) (wU W))
    (fun h : 'I_H => qmx R d dqk (Zpos (dQ W)) (nth [::] (wQ W) h))
    (fun h : 'I_H => qmx R dqk d (Zpos (dK W)) (nth [::] (wK W) h))
    (fun h : 'I_H => qmx R d dvo (Zpos (dV W)) (nth [::] (wV W) h))
    (fun h : 'I_H => qmx R dvo d (Zpos (dO W)) (nth [::] (wO W) h)).
Arguments layer_of R (n H d dqk dvo)%nat_scope W : clear implicits.

Definition weights_ok n H d dqk dvo (W : weights) :=
  [&& shaped n d (wE W), shaped d n (wU W),
      (size (wQ W) == H) && all (shaped d dqk) (wQ W), (size (wK W) == H) && all (shaped dqk d) (wK W)
    & (size (wV W) == H) && all (shaped d dvo) (wV W) && ((size (wO W) == H) && all (shaped dvo d) (wO W))].

(* what is computed once: the rows of W_EU, and for each head x W_Q, x W_K^T and W_VO *)
Record circuits := Circuits {
  cEU : seq (seq Z); cHeads : seq (seq (seq Z) * seq (seq Z) * seq (seq Z)) }.

Definition head_circuits d dqk dvo (E Ut Q K V O : seq (seq Z)) :=
  (times E (transposed d dqk Q), times E K,
   times (times (times E (transposed d dvo V)) (transposed dvo d O)) Ut).

Definition circuits_of n H d dqk dvo (W : weights) : circuits :=
  let Ut := transposed d n (wU W) in
  Circuits (times (wE W) Ut)
    (mkseq (fun h => head_circuits d dqk dvo (wE W) Ut (nth [::] (wQ W) h) (nth [::] (wK W) h)
                       (nth [::] (wV W) h) (nth [::] (wO W) h)) H).

(* one step of the row of enclosures: b + alpha (a - b), added to what is there *)
Fixpoint head_row (P lo hi av bv : Z) (a b : seq Z) (acc : seq (Z * Z)) : seq (Z * Z) :=
  match a, b, acc with
  | x :: a', y :: b', s :: acc' =>
      let y' := (y - bv)%bZ in let c := (x - av - y')%bZ in
      (if (0 <=? c)%bZ then (s.1 + (P * y' + lo * c), s.2 + (P * y' + hi * c))
       else (s.1 + (P * y' + hi * c), s.2 + (P * y' + lo * c)))%bZ
      :: head_row P lo hi av bv a' b' acc'
  | _, _, _ => [::]
  end.

Definition base_row (c : Z) (v : Z) (r : seq Z) : seq (Z * Z) :=
  [seq let y := (c * (x - v))%bZ in (y, y) | x <- r].

(* the attention to the first token, from its score less that to the second *)
Definition attention_expr (m : mode) (s : Z) (d : positive) : real :=
  sinv (sadd one (sexp m (Rat (Qred ((- s)%bZ # d))))).

Section Facts.
Variables (m : mode) (w : Z) (kk : nat).

Fixpoint heads_row (P : Z) (d : positive) (hs : seq (seq (seq Z) * seq (seq Z) * seq (seq Z)))
    (k q v : nat) (acc : seq (Z * Z)) : option (seq (Z * Z)) :=
  match hs with
  | [::] => Some acc
  | (XQ, XK, VO) :: hs' =>
      let xq := row_at XQ q in
      let s := (dot xq (row_at XK k) - dot xq (row_at XK q))%bZ in
      let a := row_at VO k in let b := row_at VO q in
      if enclose m w kk (attention_expr m s d) is Some J
      then heads_row P d hs' k q v (head_row P J.1 J.2 (nth 0%bZ a v) (nth 0%bZ b v) a b acc)
      else None
  end.

(* logit of each token less that of v, times P dE dV dO dU *)
Definition gaps (W : weights) (C : circuits) k q v : option (seq (Z * Z)) :=
  let P := Z.shiftl 1 w in
  let r := row_at (cEU C) q in
  heads_row P (dE W * dQ W * dK W * dE W) (cHeads C) k q v
    (base_row (P * (Zpos (dV W) * Zpos (dO W))) (nth 0%bZ r v) r).

Fixpoint negative_but (v : nat) (r : seq (Z * Z)) : bool :=
  match r, v with
  | [::], _ => true
  | x :: r', 0%N => all (fun y => y.2 <? 0)%bZ r'
  | x :: r', v'.+1 => (x.2 <? 0)%bZ && negative_but v' r'
  end.

Definition argmax_fact W C (f : nat * nat * nat) :=
  if gaps W C f.1.1 f.1.2 f.2 is Some r then negative_but f.2 r else false.

(* P exp y from above, where P y <= x: at most 1 from -w on, since exp w >= 2^w *)
Definition exp_up (x : Z) : option Z :=
  let l := exp_low w kk (- x)%bZ in
  if (0 <? l)%bZ then Some (Z.shiftl 1 w * Z.shiftl 1 w / l + 1)%bZ else None.

(* the sum of the upper bounds of exp of the gaps of the tokens that count, and P for the token
   itself; far below it nothing is computed *)
Fixpoint exp_sum (D far : Z) (v : nat) (r : seq (Z * Z)) (counts : seq bool) (acc : Z) : option Z :=
  match r, counts with
  | [::], _ => Some acc
  | _, [::] => None
  | x :: r', b :: counts' =>
      if v is v'.+1 then
        if ~~ b then exp_sum D far v' r' counts' acc
        else if (x.2 <=? far)%bZ then exp_sum D far v' r' counts' (acc + 1)%bZ
        else if exp_up (- (- x.2 / D))%bZ is Some J
             then exp_sum D far v' r' counts' (acc + J)%bZ else None
      else exp_sum D far (size r) r' counts' (acc + Z.shiftl 1 w)%bZ
  end.

Definition tau_fact W C (tau : Q) counts (f : nat * nat * nat) :=
  let D := Zpos (dE W * dV W * dO W * dU W) in
  if gaps W C f.1.1 f.1.2 f.2 is Some r then
    if exp_sum D (- (Z.shiftl w w * D))%bZ f.2 r counts 0%bZ is Some s
    then (Qnum tau * s <=? Z.shiftl 1 w * Zpos (Qden tau))%bZ else false
  else false.

End Facts.

Definition argmax_check w kk n H d dqk dvo W facts :=
  let C := circuits_of n H d dqk dvo W in
  [&& (0 <=? w)%bZ, weights_ok n H d dqk dvo W, facts_ok n n n facts & all (argmax_fact Natural w kk W C) facts].

Definition tau_check w kk n H d dqk dvo W tau facts :=
  let C := circuits_of n H d dqk dvo W in
  let counts := nseq n true in
  [&& (0 <=? w)%bZ, weights_ok n H d dqk dvo W, facts_ok n n n facts
    & all (tau_fact Natural w kk W C tau counts) facts].

Lemma answer_in facts k q v : answer facts k q = Some v -> (k, q, v) \in facts.
Proof.
elim: facts => [|[[k' q'] v'] facts IH] //=; case: ifP => [/andP[/eqP-> /eqP->] [->]|_ /IH H].
  by rewrite mem_head.
by rewrite in_cons H orbT.
Qed.

Lemma head_row_size P lo hi av bv p a b acc : size a = p -> size b = p -> size acc = p ->
  size (head_row P lo hi av bv a b acc) = p.
Proof.
elim: p a b acc => [|p IH] [|xa a] [|xb b] [|s acc] //= [sa] [sb] [sacc].
by rewrite (IH a b acc).
Qed.

Lemma head_row_nth P lo hi av bv p a b acc i : size a = p -> size b = p -> size acc = p ->
  (i < p)%N -> nth (0, 0)%bZ (head_row P lo hi av bv a b acc) i =
    let s := nth (0, 0)%bZ acc i in
    let y' := (nth 0%bZ b i - bv)%bZ in let c := (nth 0%bZ a i - av - y')%bZ in
      (if (0 <=? c)%bZ then (s.1 + (P * y' + lo * c), s.2 + (P * y' + hi * c))
       else (s.1 + (P * y' + hi * c), s.2 + (P * y' + lo * c)))%bZ.
Proof.
elim: p i a b acc => [|p IH] i [|xa a] [|xb b] [|s acc] //= [sa] [sb] [sacc].
by case: i => [|i] //= ip; rewrite (IH i a b acc).
Qed.

Section Sound.
Variable R : realFieldType.
Variable exp : R -> R.
Hypothesis ok : natural_exponential exp.
Variables (w : Z) (kk : nat).
Hypothesis w0 : (0 <=? w)%bZ.
Variables (n H d dqk dvo : nat) (W : weights).
Hypothesis wok : weights_ok n H d dqk dvo W.
Let A := layer_of R n H d dqk dvo W.
Let C := circuits_of n H d dqk dvo W.
Let P := Z.shiftl 1 w.
Let okm : exponential_of Natural exp := ok.
Let egt0 := exp_gt0 okm (isT : ~~ is_plain Natural).

Lemma transposedE p q M : (zmx R q p (transposed p q M))^T = zmx R p q M.
Proof. by apply/matrixP => i j; rewrite !mxE table_entry. Qed.

Lemma transposed_shaped p q M : shaped q p (transposed p q M).
Proof. exact: table_shaped. Qed.

Lemma times_shaped p k q X Y : shaped p k X -> shaped q k Y -> shaped p q (times X Y).
Proof.
case/andP => /eqP sX _ /andP[/eqP sY _]; rewrite /shaped size_map sX eqxx /= all_map.
by apply/(all_nthP [::]) => r _ /=; rewrite size_map sY.
Qed.

Let rE := Zpos (dE W). Let rU := Zpos (dU W). Let rV := Zpos (dV W). Let rO := Zpos (dO W).
Let rQ := Zpos (dQ W). Let rK := Zpos (dK W).

Lemma scaled_mul p k q (a b : Z) X Y : qmx R p k a X *m qmx R k q b Y =
  (zr R (a * b)%bZ)^-1 *: (zmx R p k X *m zmx R k q Y).
Proof. by rewrite !qmxE -scalemxAl -scalemxAr scalerA zrM invfM. Qed.

Lemma scaled_mulZ p k q (a b : Z) (X : 'M[R]_(p, k)) (Y : 'M[R]_(k, q)) :
  ((zr R a)^-1 *: X) *m ((zr R b)^-1 *: Y) = (zr R (a * b)%bZ)^-1 *: (X *m Y).
Proof. by rewrite -scalemxAl -scalemxAr scalerA zrM invfM. Qed.

Lemma trmx_scale p q a (X : 'M[R]_(p, q)) : (a *: X)^T = a *: X^T.
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.

Lemma EU_E q v : W_EU A q v = zr R (entry (cEU C) q v) / zr R (rE * rU)%bZ.
Proof.
case/and5P: wok => sE sU _ _ _.
rewrite /W_EU /A /layer_of /= scaled_mul -(transposedE d n) -timesE ?transposed_shaped //.
by rewrite !mxE mulrC.
Qed.

Definition head_at h := nth ([::], [::], [::]) (cHeads C) h.

Lemma VO_E (h : 'I_H) t v : W_VO A h t v =
  zr R (entry (head_at h).2 t v) / zr R (rE * rV * rO * rU)%bZ.
Proof.
case/and5P: wok => sE sU _ _ /andP[/andP[/eqP zV sV] /andP[/eqP zO sO]].
rewrite /head_at nth_mkseq //= /W_VO /A /layer_of /= !qmxE !scaled_mulZ.
rewrite -(transposedE d dvo (nth [::] (wV W) h)) -(transposedE dvo d (nth [::] (wO W) h)).
rewrite -(transposedE d n (wU W)).
rewrite -[in LHS]timesE ?transposed_shaped // -[in LHS]timesE ?transposed_shaped //; last first.
  exact: times_shaped sE (transposed_shaped _ _ _).
rewrite -[in LHS]timesE ?transposed_shaped ?mxE 1?mulrC //.
exact: times_shaped (times_shaped sE (transposed_shaped _ _ _)) (transposed_shaped _ _ _).
Qed.

Lemma QK_E (h : 'I_H) q k : W_QK A h q k =
  zr R (dot (row_at (head_at h).1.1 q) (row_at (head_at h).1.2 k)) / zr R (rE * rQ * rK * rE)%bZ.
Proof.
case/and5P: wok => sE sU /andP[/eqP zQ sQ] /andP[/eqP zK /(all_nthP [::]) sK] _.
have sKh : shaped dqk d (nth [::] (wK W) h) by apply: sK; rewrite zK.
rewrite /head_at nth_mkseq //= /W_QK /A /layer_of /= !qmxE trmx_scale !scaled_mulZ.
rewrite -(transposedE d dqk (nth [::] (wQ W) h)) -[in LHS]timesE ?transposed_shaped //.
set XQ := times _ _; set XK := times (wE W) _.
have sXQ : shaped n dqk XQ by apply: times_shaped sE (transposed_shaped _ _ _).
have sXK : shaped n dqk XK by apply: times_shaped sE sKh.
rewrite -mulmxA -[zmx R dqk d _]trmxK -trmx_mul -timesE // !mxE mulrC; congr (_ / _).
by rewrite (@dotE R dqk) ?(shaped_row sXQ) ?(shaped_row sXK) //; apply: eq_bigr => l _; rewrite !mxE.
Qed.

Lemma attention_E (h : 'I_H) (k q : 'I_n) :
  let xq := row_at (head_at h).1.1 q in
  attention_to_first exp A h k q = den exp (attention_expr Natural
    (dot xq (row_at (head_at h).1.2 k) - dot xq (row_at (head_at h).1.2 q))%bZ
    (dE W * dQ W * dK W * dE W)).
Proof.
move=> xq; rewrite /attention_expr den_sinv den_sadd den_one (den_sexp okm).
rewrite -[den exp (Rat _)]/(qr R (Qred _)) qr_red /qr /= !Pos2Z.inj_mul zrN zrB opprB mulrBl.
rewrite -!QK_E (expD okm) // (expN okm) // /attention_to_first.
set a := W_QK A h q k; set b := W_QK A h q q.
by rewrite -[exp a / _]invf_div mulrDl divff ?gt_eqF ?egt0.
Qed.

(* the row of gaps encloses the gaps *)
Definition holds (r : seq (Z * Z)) (x : 'I_n -> R) :=
  size r = n /\ forall i : 'I_n, zr R (nth (0, 0)%bZ r i).1 <= x i <= zr R (nth (0, 0)%bZ r i).2.

Lemma head_rowP lo hi av bv a b acc (al : R) (x : 'I_n -> R) :
  size a = n -> size b = n -> zr R lo <= zr R P * al <= zr R hi -> holds acc x ->
  holds (head_row P lo hi av bv a b acc) (fun i => x i + zr R P *
    (al * (zr R (nth 0%bZ a i) - zr R av) + (1 - al) * (zr R (nth 0%bZ b i) - zr R bv))).
Proof.
move=> sa sb /andP[alo ahi] [sacc accP].
split=> [|i]; first exact: head_row_size.
rewrite (head_row_nth P lo hi av bv sa sb sacc (ltn_ord i)).
move=> /=; have /andP[slo shi] := accP i.
set s := nth _ acc i in slo shi *; set y' := (_ - bv)%bZ; set c := (_ - y')%bZ.
have -> : zr R P * (al * (zr R (nth 0%bZ a i) - zr R av) + (1 - al) * (zr R (nth 0%bZ b i) - zr R bv)) =
    zr R (P * y') + zr R P * al * zr R c.
  rewrite /c /y' !zrM !zrB; set AA := _ - zr R av; set BB := _ - zr R bv.
  by rewrite mulrBl mul1r addrCA -mulrBr mulrDr mulrA.
clearbody c; have [c0|c0] := ifP; rewrite /= !zrD; apply/andP; split; apply: ler_add => //; apply: ler_add => //;
  rewrite zrM.
- by apply: ler_wpmul2r; rewrite ?zr_ge0.
- by apply: ler_wpmul2r; rewrite ?zr_ge0.
- by apply: ler_wnmul2r => //; rewrite leNgt zr_gt0; apply: contraFN c0 => /Z.ltb_lt/Z.lt_le_incl/Z.leb_le.
by apply: ler_wnmul2r => //; rewrite leNgt zr_gt0; apply: contraFN c0 => /Z.ltb_lt/Z.lt_le_incl/Z.leb_le.
Qed.

Let DD := (rE * rV * rO * rU)%bZ.

(* the logit of a token less that of v, scaled *)
Definition gap (k q v i : 'I_n) : R :=
  zr R P * zr R DD * (final_logits exp A k q i - final_logits exp A k q v).

Lemma size_heads : size (cHeads C) = H. Proof. by rewrite size_mkseq. Qed.

Lemma row_sizes : (forall q, (q < n)%N -> size (row_at (cEU C) q) = n) /\
  forall h t, (h < H)%N -> (t < n)%N -> size (row_at (head_at h).2 t) = n.
Proof.
case/and5P: wok => sE sU _ _ _; split=> [q qn|h t hH tn].
  exact: shaped_row (times_shaped sE (transposed_shaped _ _ _)) qn.
rewrite /head_at nth_mkseq //=; apply: shaped_row tn.
do 2! apply: times_shaped (transposed_shaped _ _ _).
exact: times_shaped sE (transposed_shaped _ _ _).
Qed.

Lemma heads_rowP hs j k q v acc r (x : 'I_n -> R) : (forall i, (i < size hs)%N -> nth ([::], [::], [::]) hs i = head_at (j + i)) ->
  (j + size hs = H)%N -> (k < n)%N -> (q < n)%N ->
  heads_row Natural w kk P (dE W * dQ W * dK W * dE W) hs k q v acc = Some r ->
  holds acc x -> forall k' q' : 'I_n, val k' = k -> val q' = q ->
  holds r (fun i => x i + \sum_(h < H | (j <= h)%N) zr R P *
    (attention_to_first exp A h k' q' * (zr R (entry (head_at h).2 k i) - zr R (entry (head_at h).2 k v)) +
     (1 - attention_to_first exp A h k' q') * (zr R (entry (head_at h).2 q i) - zr R (entry (head_at h).2 q v)))).
Proof.
elim: hs j acc x => [|[[XQ XK] VO] hs IH] j acc x /= hsE jH kn qn.
  move=> [<-] [sacc accP] k' q' _ _; split=> // i; rewrite big_pred0 ?addr0 // => h.
  by rewrite -jH addn0 in h *; rewrite leqNgt ltn_ord.
case E: enclose => [J|] // hr hacc k' q' kE qE.
have jlt : (j < H)%N by rewrite -jH addnS ltnS leq_addr.
have headE : head_at j = (XQ, XK, VO) by rewrite -[j]addn0 -hsE.
have [_ szs] := row_sizes.
have encl := encloseP okm w0 E.
have attE : attention_to_first exp A (Ordinal jlt) k' q' = den exp (attention_expr Natural
    (dot (row_at XQ q) (row_at XK k) - dot (row_at XQ q) (row_at XK q))%bZ
    (dE W * dQ W * dK W * dE W)) by rewrite attention_E /= headE kE qE.
rewrite /enclosed -attE in encl.
have sa : size (row_at VO k) = n by have := szs j k jlt kn; rewrite headE.
have sb : size (row_at VO q) = n by have := szs j q jlt qn; rewrite headE.
have step := head_rowP (nth 0%bZ (row_at VO k) v) (nth 0%bZ (row_at VO q) v) sa sb encl hacc.
have hsE' i : (i < size hs)%N -> nth ([::], [::], [::]) hs i = head_at (j.+1 + i).
  by move=> ih; rewrite addSnnS -hsE.
have := IH j.+1 _ _ hsE' _ kn qn hr step k' q' kE qE; rewrite addSnnS => /(_ jH) [sr rP].
split=> // i; have := rP i; rewrite -addrA.
suff -> : \sum_(h < H | (j <= h)%N) zr R P *
    (attention_to_first exp A h k' q' * (zr R (entry (head_at h).2 k i) - zr R (entry (head_at h).2 k v)) +
     (1 - attention_to_first exp A h k' q') * (zr R (entry (head_at h).2 q i) - zr R (entry (head_at h).2 q v))) =
  zr R P *
    (attention_to_first exp A (Ordinal jlt) k' q' * (zr R (nth 0%bZ (row_at VO k) i) - zr R (nth 0%bZ (row_at VO k) v)) +
     (1 - attention_to_first exp A (Ordinal jlt) k' q') * (zr R (nth 0%bZ (row_at VO q) i) - zr R (nth 0%bZ (row_at VO q) v))) +
  \sum_(h < H | (j.+1 <= h)%N) zr R P *
    (attention_to_first exp A h k' q' * (zr R (entry (head_at h).2 k i) - zr R (entry (head_at h).2 k v)) +
     (1 - attention_to_first exp A h k' q') * (zr R (entry (head_at h).2 q i) - zr R (entry (head_at h).2 q v))) by [].
rewrite (bigD1 (Ordinal jlt)) //= headE; congr (_ + _); apply: eq_bigl => h.
by rewrite ltn_neqAle -val_eqE /= eq_sym andbC.
Qed.

Lemma gapsP (k q v : 'I_n) r : gaps Natural w kk W C k q v = Some r -> holds r (gap k q v).
Proof.
move=> gr; have [szq _] := row_sizes.
have base : holds (base_row (P * (rV * rO)) (nth 0%bZ (row_at (cEU C) q) v) (row_at (cEU C) q))
   (fun i : 'I_n => zr R (P * (rV * rO))%bZ * (zr R (entry (cEU C) q i) - zr R (entry (cEU C) q v))).
  split=> [|i]; first by rewrite size_map szq.
  by rewrite (nth_map 0%bZ) ?szq //= zrM zrB lexx.
have [sr rP] := heads_rowP (j := 0) (fun i _ => erefl) size_heads (ltn_ord k) (ltn_ord q) gr base (erefl (val k)) (erefl (val q)).
split=> // i; have D0 : zr R DD != 0 by rewrite zr_eq0.
have EU1 (t : 'I_n) : zr R (P * (rV * rO))%bZ * zr R (entry (cEU C) q t) = zr R P * zr R DD * W_EU A q t.
  have eu0 : zr R (rE * rU)%bZ != 0 by rewrite zr_eq0.
  rewrite EU_E (_ : DD = rV * rO * (rE * rU))%bZ; last first.
    by rewrite /DD -!Z.mul_assoc [(rE * _)%bZ]Z.mul_comm -!Z.mul_assoc [(rU * rE)%bZ]Z.mul_comm.
  rewrite (zrM R P) (zrM R (rV * rO)) -!mulrA; congr (_ * (_ * _)).
  by rewrite [RHS]mulrC divfK.
have /= := rP i; rewrite [X in _ <= X <= _](_ : _ = gap k q v i) //.
rewrite /gap !(final_logitsE A egt0) opprD addrACA [RHS]mulrDr; congr (_ + _); first by rewrite !mulrBr !EU1.
rewrite -sumrB [RHS]mulr_sumr; apply: eq_bigr => h _.
move: (attention_to_first exp A h k q) => al.
rewrite -[RHS]mulrA; congr (_ * _).
have VO2 (t s : 'I_n) : zr R (entry (head_at h).2 t s) = zr R DD * W_VO A h t s by rewrite VO_E -/DD mulrC divfK.
rewrite !VO2 -!mulrBr mulrCA [(1 - al) * _]mulrCA -mulrDr; congr (_ * _).
by rewrite !mulrBr opprD addrACA.
Qed.

Lemma negative_butP v (r : seq (Z * Z)) i : negative_but v r -> (i < size r)%N -> i != v ->
  ((nth (0, 0)%bZ r i).2 <? 0)%bZ.
Proof.
elim: r v i => [|x r IH] [|v] [|i] //= => [/(all_nthP (0, 0)%bZ)/(_ i) X ir _|/andP[]//|/andP[_ /IH X] ir].
  exact: X.
by rewrite eqSS => iv; apply: X.
Qed.

Lemma argmax_factP (k q v : 'I_n) : argmax_fact Natural w kk W C (val k, val q, val v) ->
  forall v', v' != v -> final_logits exp A k q v' < final_logits exp A k q v.
Proof.
rewrite /argmax_fact /=; case E: gaps => [r|] // neg v' v'v.
have [sr rP] := gapsP E; have /andP[_ hi] := rP v'.
have := negative_butP neg; move=> /(_ v'); rewrite sr => /(_ (ltn_ord v') v'v) neg'.
have PD : 0 < zr R P * zr R DD by rewrite mulr_gt0 ?(P_gt0 R w0) // zr_gt0.
rewrite -subr_lt0 -(pmulr_rlt0 _ PD); apply: le_lt_trans hi _.
by rewrite -(zr0 R) zr_lt.
Qed.

Lemma exp_mono (a b : R) : a <= b -> exp a <= exp b.
Proof.
move=> ab; rewrite -(subrK a b) (expD okm) //.
rewrite -[X in X <= _]mul1r ler_pmul2r ?egt0 //.
by apply: le_trans (ok.2 _); rewrite -[X in X <= _]addr0 ler_add2l subr_ge0.
Qed.

Lemma exp_nat_ge i : 2%:R ^+ i <= exp i%:R.
Proof.
elim: i => [|i IH]; first by rewrite expr0 (exp0 okm).
have -> : i.+1%:R = i%:R + 1 :> R by rewrite mulrS addrC.
rewrite exprSr (expD okm) //; apply: ler_pmul => //; first exact: exprn_ge0.
exact: ok.2 1.
Qed.

Lemma exp_far (y : R) : y <= - zr R w -> zr R P * exp y <= 1.
Proof.
move=> yw; apply: le_trans (_ : zr R P * exp (- zr R w) <= _).
  by rewrite ler_pmul2l ?(P_gt0 R w0) //; apply: exp_mono.
have w1 : (0 <= w)%bZ by apply/Z.leb_le.
have PE : zr R P = 2%:R ^+ Z.to_nat w.
  rewrite /P Z.shiftl_1_l -{1}(Z2Nat.id w) //; elim: (Z.to_nat w) => [|i IH] //.
  by rewrite Nat2Z.inj_succ Z.pow_succ_r ?zrM ?IH ?exprS //; apply: Nat2Z.is_nonneg.
have wE : zr R w = (Z.to_nat w)%:R.
  by rewrite -{1}(Z2Nat.id w) //; case: (Z.to_nat w) => [|i] //; rewrite /zr /= SuccNat2Pos.id_succ -pmulrn.
rewrite (expN okm) // ler_pdivr_mulr ?egt0 // mul1r PE wE; exact: exp_nat_ge.
Qed.

Lemma exp_upP x J (y : R) : exp_up w kk x = Some J -> zr R P * y <= zr R x -> zr R P * exp y <= zr R J.
Proof.
rewrite /exp_up; case: ifP => // l0 [<-] yx.
have enc : enclosed w (zr R x / zr R P) (x, x)%bZ.
  by rewrite /enclosed /= mulrC divfK ?(P_neq0 R w0) // lexx.
have E : exp_i w kk (x, x)%bZ = Some (exp_low w kk x, (P * P / exp_low w kk (- x) + 1)%bZ).
  by rewrite /exp_i /= l0.
have /andP[_] := exp_iP okm w0 isT enc E; apply: le_trans.
rewrite ler_pmul2l ?(P_gt0 R w0) //; apply: exp_mono.
by rewrite ler_pdivl_mulr ?(P_gt0 R w0) // mulrC.
Qed.

Lemma exp_sumP D v (r : seq (Z * Z)) counts acc s (x : nat -> R) : (0 < D)%bZ ->
  exp_sum w kk D (- (Z.shiftl w w * D))%bZ v r counts acc = Some s ->
  (forall i, (i < size r)%N -> zr R P * zr R D * x i <= zr R (nth (0, 0)%bZ r i).2) ->
  ((v < size r)%N -> x v = 0) ->
  (zr R acc + zr R P * (\sum_(i < size r | nth false counts i) exp (x i)) <= zr R s)%R.
Proof.
move=> D0; have D0R : 0 < zr R D by rewrite zr_gt0; apply/Z.ltb_lt.
have PR := P_gt0 R w0.
have wP : zr R (Z.shiftl w w) = zr R w * zr R P.
  by rewrite -zrM /P Z.shiftl_1_l Z.shiftl_mul_pow2 //; apply/Z.leb_le.
elim: r v counts acc x => [|y r IH] v counts acc x.
  by move=> [<-] _ _; rewrite big_ord0 mulr0 addr0.
case: counts => [|b counts] // es hi xv; rewrite big_mkcond big_ord_recl /=.
rewrite -[\sum_(i < size r) _]big_mkcond /= mulrDr addrA.
have hi' i : (i < size r)%N -> zr R P * zr R D * x i.+1 <= zr R (nth (0, 0)%bZ r i).2 by exact: (hi i.+1).
case: v es xv => [|v] es xv.
  apply: le_trans (IH _ _ _ (fun i => x i.+1) es hi' _) => //; last by rewrite ltnNge leqnSn.
  rewrite ler_add2r zrD ler_add2l; case: b {es} => /=; last by rewrite mulr0 ltW.
  by rewrite xv // (exp0 okm isT) mulr1.
have xv' : (v < size r)%N -> x v.+1 = 0 by exact: xv.
move: es => /=; case: b => /= [|es]; last first.
  by rewrite mulr0 addr0; apply: (IH _ _ _ (fun i => x i.+1) es hi' xv').
have y0 : zr R P * zr R D * x 0%N <= zr R y.2 := hi 0%N isT.
case: ifP => [far|_].
  move=> es; apply: le_trans (IH _ _ _ (fun i => x i.+1) es hi' xv').
  rewrite ler_add2r zrD ler_add2l zr1; apply: exp_far.
  have PD : 0 < zr R P * zr R D by rewrite mulr_gt0.
  rewrite -(ler_pmul2l PD); apply: le_trans y0 _.
  move: far; rewrite -(zr_le R) => /le_trans; apply.
  by rewrite zrN zrM wP mulrN ler_opp2 mulrC mulrA.
case E: exp_up => [J|] // es.
apply: le_trans (IH _ _ _ (fun i => x i.+1) es hi' xv'); rewrite ler_add2r zrD ler_add2l.
apply: exp_upP E _; rewrite -(ler_pmul2r D0R) mulrAC; apply: le_trans y0 _.
by rewrite zrN mulNr -[zr R y.2]opprK ler_opp2 -zrN; apply: div_le.
Qed.

Lemma tau_fact_in tau (S : pred 'I_n) counts (k q v : 'I_n) :
  (forall i, S i -> nth false counts i) -> S v ->
  tau_fact Natural w kk W C tau counts (val k, val q, val v) ->
  qr R tau <= exp (final_logits exp A k q v) / \sum_(i | S i) exp (final_logits exp A k q i).
Proof.
move=> SM Sv; rewrite /tau_fact /=; case E: gaps => [r|] //; case Es: exp_sum => [s|] // /Z.leb_le le.
have [sr rP] := gapsP E.
pose x i := if insub i is Some j then final_logits exp A k q j - final_logits exp A k q v else 0.
have xE (j : 'I_n) : x j = final_logits exp A k q j - final_logits exp A k q v by rewrite /x valK.
have hi i : (i < size r)%N -> zr R P * zr R DD * x i <= zr R (nth (0, 0)%bZ r i).2.
  by rewrite sr => ir; have /andP[_] := rP (Ordinal ir); rewrite -[i]/(val (Ordinal ir)) xE.
have := exp_sumP (Pos2Z.is_pos _) Es hi; rewrite xE subrr => /(_ (fun _ => erefl)).
rewrite zr0 add0r sr => sum0.
have ez := egt0 (final_logits exp A k q v).
have PR := P_gt0 R w0.
have sum : zr R P * ((\sum_(i | S i) exp (final_logits exp A k q i)) / exp (final_logits exp A k q v)) <= zr R s.
  apply: le_trans sum0; rewrite ler_pmul2l // mulr_suml.
  under eq_bigr => i _ do rewrite -(expN okm) // -(expD okm) // -xE.
  rewrite big_mkcond [X in _ <= X]big_mkcond; apply: ler_sum => i _.
  case: ifP => [/SM ->|_] //; case: ifP => // _; exact/ltW/egt0.
rewrite -[X in _ <= X]invf_div.
set q0 := _ / exp _ in sum *.
have q0pos : 0 < q0.
  rewrite divr_gt0 // (bigD1 v) //=; apply: ltr_paddr => //.
  by apply: sumr_ge0 => i _; apply: ltW.
rewrite -[X in _ <= X]mul1r ler_pdivl_mulr // /qr mulrAC ler_pdivr_mulr ?den_gt0 // mul1r.
rewrite -(ler_pmul2l PR) mulrCA.
have [t0|t0] := leP 0 (zr R (Qnum tau)).
  apply: le_trans (ler_wpmul2l t0 sum) _.
  by rewrite -!zrM zr_le; apply/Z.leb_le.
apply: le_trans (_ : 0 <= _); last by rewrite mulr_ge0 // ltW // ?den_gt0.
by apply: mulr_le0_ge0; [exact: ltW | rewrite mulr_ge0 // ltW].
Qed.

End Sound.

Section Statements.
Variable R : realFieldType.
Variable exp : R -> R.
Hypothesis ok : natural_exponential exp.

(* the layer gives every fact the strictly largest logit *)
Lemma argmax_sound w kk n H d dqk dvo W facts : argmax_check w kk n H d dqk dvo W facts ->
  memorizes exp (layer_of R n H d dqk dvo W) [set: 'I_n] (facts_db n n n facts).
Proof.
case/and4P => w0 wok _ /allP all k q v; rewrite /facts_db; case E: answer => [v0|] //= Dv v' _.
have vE : v0 = val v by move: Dv; case: insubP => // u _ <- [->].
apply: (argmax_factP ok w0 wok); apply: all; apply: answer_in; by rewrite E vE.
Qed.

(* the layer gives every fact probability at least tau *)
Lemma tau_sound w kk n H d dqk dvo W tau facts : tau_check w kk n H d dqk dvo W tau facts ->
  memorizes_at exp (layer_of R n H d dqk dvo W) (qr R tau) (facts_db n n n facts).
Proof.
case/and4P => w0 wok _ /allP all k q v; rewrite /facts_db; case E: answer => [v0|] //= Dv.
have vE : v0 = val v by move: Dv; case: insubP => // u _ <- [->].
apply: (tau_fact_in ok w0 wok (S := predT) (counts := nseq n true)) => // [i _|]; first by rewrite nth_nseq ltn_ord.
by apply: all; apply: answer_in; rewrite E vE.
Qed.

End Statements.

Print Assumptions argmax_sound.
Print Assumptions tau_sound.
