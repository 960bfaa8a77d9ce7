(* Matrices of real numbers by reflection: lists of expressions with the products,
   the row-wise argmax and threshold, and the ranks that they stand for. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import row_argmax row_threshold reflect_integers reflect_rank reflect_reals.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Delimit Scope Z_scope with bZ.
Delimit Scope Q_scope with bQ.
Local Open Scope nat_scope.
Local Open Scope ring_scope.

Definition rmat := seq (seq real).
Definition at_ (L : rmat) i j : real := nth zero (nth [::] L i) j.
Definition rtab p q (f : nat -> nat -> real) : rmat := mkseq (fun i => mkseq (f i) q) p.
Definition rshaped p q (L : rmat) := (size L == p) && all (fun r => size r == q) L.

Lemma rtab_at p q f i j : (i < p)%N -> (j < q)%N -> at_ (rtab p q f) i j = f i j.
Proof. by move=> ip jq; rewrite /at_ nth_mkseq // nth_mkseq. Qed.

(* integers over a denominator *)
Definition of_ints (d : positive) (M : seq (seq Z)) : rmat :=
  [seq [seq Rat (Qred (x # d)) | x <- r] | r <- M].

(* a table of decisions, if all of them are made *)
Definition decided p q (f : nat -> nat -> option bool) : rmat :=
  let T := mkseq (fun i => mkseq (f i) q) p in
  if all (all (fun x => x != None)) T
  then [seq [seq if x == Some true then one else zero | x <- r] | r <- T] else [::].

Definition every (s : seq (option bool)) : option bool :=
  if Some false \in s then Some false else if all (fun x => x == Some true) s then Some true else None.

Section Meaning.
Variable R : realFieldType.
Variable exp : R -> R.
Variable m : mode.
Hypothesis ok : exponential_of m exp.
Local Notation den := (den exp).

Definition mden p q (L : rmat) : 'M[R]_(p, q) := \matrix_(i, j) den (at_ L i j).

Lemma of_intsE p q d M : qmx R p q (Zpos d) M = mden p q (of_ints d M).
Proof.
apply/matrixP => i j; rewrite !mxE /at_ /of_ints /entry /row_at.
have z : den zero = zr R 0 / zr R (Zpos d) by rewrite den_zero zr0 mul0r.
have [si|si] := ltnP i (size M); last by rewrite !(nth_default [::]) ?size_map // !nth_nil z.
rewrite (nth_map [::]) //; have [sj|sj] := ltnP j (size (nth [::] M i)).
  by rewrite (nth_map 0%bZ) // -[RHS]/(qr R (Qred _)) qr_red.
by rewrite (nth_default 0%bZ) // (nth_default zero) ?size_map // z.
Qed.

Lemma mden_tab p q f : mden p q (rtab p q f) = \matrix_(i, j) den (f i j).
Proof. by apply/matrixP => i j; rewrite !mxE rtab_at. Qed.

Definition rmul p k q (A B : rmat) : rmat :=
  rtab p q (fun i j => ssum k (fun l => smul (at_ A i l) (at_ B l j))).
Definition rtr p q (A : rmat) : rmat := rtab q p (fun i j => at_ A j i).

Lemma rmulE p k q A B : mden p k A *m mden k q B = mden p q (rmul p k q A B).
Proof.
rewrite mden_tab; apply/matrixP => i j; rewrite !mxE den_ssum.
by apply: eq_bigr => l _; rewrite den_smul !mxE.
Qed.

Lemma rtrE p q A : (mden p q A)^T = mden q p (rtr p q A).
Proof. by rewrite mden_tab; apply/matrixP => i j; rewrite !mxE. Qed.

Lemma decidedE p q f (P : 'I_p -> 'I_q -> bool) : size (decided p q f) = p ->
  (forall i j b, f (val i) (val j) = Some b -> P i j = b) ->
  \matrix_(i, j) (P i j)%:R = mden p q (decided p q f).
Proof.
rewrite /decided; case: ifP => [|_ p0 _]; last first.
  by apply/matrixP => i; move: (ltn_ord i); rewrite -[X in (_ < X)%N]p0.
set T := mkseq _ _ => /(all_nthP [::]) T0 _ fP; apply/matrixP => i j; rewrite !mxE /at_.
rewrite (nth_map [::]) ?size_mkseq // nth_mkseq // (nth_map None) ?size_mkseq // nth_mkseq //.
have Ti : (i < size T)%N by rewrite size_mkseq.
have /(all_nthP None)/(_ j) := T0 i Ti; rewrite /T nth_mkseq // size_mkseq nth_mkseq // => /(_ (ltn_ord j)).
case E: (f i j) => [b|] // H; rewrite (fP i j b E).
by case: b {E H}; rewrite ?den_one ?den_zero.
Qed.

Lemma everyP (n : nat) (f : nat -> option bool) (P : 'I_n -> bool) b :
  (forall i b, f (val i) = Some b -> P i = b) -> every (mkseq f n) = Some b -> [forall i, P i] = b.
Proof.
move=> fP; rewrite /every; case: ifP => [/mapP[i]|_].
  rewrite mem_iota add0n => /= ib fi [<-]; apply/forallP => /(_ (Ordinal ib)).
  by rewrite (fP (Ordinal ib) false (esym fi)).
case: ifP => // /allP H [<-]; apply/forallP => i; apply: fP; apply/eqP/H/map_f.
by rewrite mem_iota ltn_ord.
Qed.

Definition rargmax (w : Z) (k : nat) p q (A : rmat) : rmat :=
  decided p q (fun i j => every (mkseq (fun l => is_le m w k (at_ A i l) (at_ A i j)) q)).

Lemma rargmaxE w k p q A : (0 <=? w)%bZ && (size (rargmax w k p q A) == p) ->
  argmax (mden p q A) = mden p q (rargmax w k p q A).
Proof.
case/andP => w0 /eqP sz; apply: decidedE => // i j b.
by apply: everyP => l c /(is_leP ok w0) <-; rewrite !mxE.
Qed.

(* softmax_ij = 1 / sum_k exp (M_ik - M_ij), which is rational where all are equal *)
Definition softmax_at q (A : rmat) i j : real :=
  sinv (ssum q (fun l => sexp m (sadd (at_ A i l) (sopp (at_ A i j))))).

Lemma softmax_atE p q A (i : 'I_p) (j : 'I_q) : ~~ is_plain m ->
  softmax exp (mden p q A) i j = den (softmax_at q A i j).
Proof.
move=> np; rewrite mxE den_sinv den_ssum mxE.
have e0 : exp (den (at_ A i j)) != 0 by apply: (exp_neq0 ok np).
transitivity ((\sum_k exp (mden p q A i k)) / exp (den (at_ A i j)))^-1; first by rewrite invf_div.
congr (_^-1); rewrite mulr_suml; apply: eq_bigr => l _.
by rewrite (den_sexp ok) den_sadd den_sopp (expD ok np) (expN ok np) mxE.
Qed.

Definition rthreshold (w : Z) (k : nat) p q (A : rmat) (tau : Q) : rmat :=
  decided p q (fun i j => is_le m w k (Rat tau) (softmax_at q A i j)).

Lemma rthresholdE w k p q A tau :
  [&& ~~ is_plain m, (0 <=? w)%bZ & size (rthreshold w k p q A tau) == p] ->
  threshold exp (mden p q A) (qr R tau) = mden p q (rthreshold w k p q A tau).
Proof.
case/and3P => np w0 /eqP sz; apply: decidedE => // i j b /(is_leP ok w0) <-.
by rewrite softmax_atE.
Qed.

(* equality of rational matrices *)
Definition same (x y : real) := if x is Rat a then if y is Rat b then Qeq_bool a b else false else false.
Definition rsame p q (A B : rmat) := all (fun i => all (fun j => same (at_ A i j) (at_ B i j)) (iota 0 q)) (iota 0 p).

Lemma rsameE p q A B : rsame p q A B -> mden p q A = mden p q B.
Proof.
move=> /allP H; apply/matrixP => i j; rewrite !mxE.
have /allP/(_ (val j)) : all (fun j => same (at_ A i j) (at_ B i j)) (iota 0 q).
  by apply: H; rewrite mem_iota ltn_ord.
rewrite mem_iota ltn_ord => /(_ isT); case: (at_ A i j) => // x; case: (at_ B i j) => // y.
by move/Qeq_bool_iff/(qr_eq R).
Qed.

(* two matrices that differ in one entry *)
Definition differ (w : Z) k (A B : rmat) i j :=
  (is_le m w k (at_ A i j) (at_ B i j) == Some false) ||
  (is_le m w k (at_ B i j) (at_ A i j) == Some false).

Lemma differE w k p q A B i j : [&& (0 <=? w)%bZ, (i < p)%N, (j < q)%N & differ w k A B i j] ->
  mden p q A <> mden p q B.
Proof.
case/and4P => w0 ip jq d /matrixP/(_ (Ordinal ip) (Ordinal jq)); rewrite !mxE /= => e.
by case/orP: d => /eqP /(is_leP ok w0) /negbT; rewrite e lexx.
Qed.

(* ranks of rational matrices: over the least common denominator *)
Definition lcm_den (L : rmat) : positive :=
  foldr (fun r d => foldr (fun x d => if x is Rat a then Z.to_pos (Z.lcm (Zpos (Qden a)) (Zpos d)) else d) d r) 1%positive L.
Definition to_ints (d : positive) (L : rmat) : seq (seq Z) :=
  [seq [seq if x is Rat a then (Qnum a * (Zpos d / Zpos (Qden a)))%bZ else 0%bZ | x <- r] | r <- L].

Definition rrank_check p q r (L : rmat) pr I J Nt a :=
  let d := lcm_den L in let M := to_ints d L in
  rsame p q L (of_ints d M) && rank_check p q r (Zpos d) M pr I J Nt a.

Lemma rrankE p q r L pr I J Nt a : rrank_check p q r L pr I J Nt a -> \rank (mden p q L) = r.
Proof. by case/andP => /rsameE -> rk; rewrite -of_intsE (rank_sound R rk). Qed.

(* comparisons *)
Definition less (w : Z) k (a b : real) := (0 <=? w)%bZ && (is_le m w k b a == Some false).
Definition less_eq (w : Z) k (a b : real) := (0 <=? w)%bZ && (is_le m w k a b == Some true).

Lemma lessE w k a b : less w k a b -> den a < den b.
Proof. by case/andP => w0 /eqP /(is_leP ok w0) /negbT; rewrite -ltNge. Qed.
Lemma less_eqE w k a b : less_eq w k a b -> den a <= den b.
Proof. by case/andP => w0 /eqP /(is_leP ok w0). Qed.

(* Ranks of real matrices from below: an integer matrix N that makes the minor,
   known up to its enclosures, diagonally dominant. *)
Section Dominant.
Lemma dominant_unit n (A : 'M[R]_n) :
  (forall i, \sum_(j < n | j != i) `|A i j| < `|A i i|) -> A \in unitmx.
Proof.
move=> dom; rewrite -unitmx_tr unitmxE unitfE; apply/det0P => -[v v0 vA].
have [i vi] : exists i, v 0 i != 0.
  apply/existsP; apply: contraNT v0; rewrite negb_exists => /forallP z.
  by apply/eqP/matrixP => x j; rewrite !mxE !ord1; have /negbNE/eqP := z j.
have [l _ lmax] : exists2 l, true & forall j, `|v 0 j| <= `|v 0 l|.
  pose l := [arg max_(j > i | true) `|v 0 j|]%O; exists l => // j.
  by rewrite /l; case: arg_maxP => // a _; apply.
have vl : 0 < `|v 0 l| by apply: lt_le_trans (lmax i); rewrite normr_gt0.
have /matrixP/(_ 0 l) := vA; rewrite !mxE (bigD1 l) //= !mxE => /eqP.
rewrite addr_eq0 => /eqP e; have := dom l; apply/negP; rewrite -leNgt.
rewrite -(ler_pmul2l vl) -normrM e normrN.
apply: le_trans (ler_norm_sum _ _ _) _; rewrite mulr_sumr; apply: ler_sum => j _.
by rewrite !mxE normrM; apply: ler_wpmul2r.
Qed.
End Dominant.

(* interval dot products with integers *)
Fixpoint dot_i (I : seq (Z * Z)) (c : seq Z) : Z * Z :=
  match I, c with
  | x :: I', y :: c' =>
      let s := dot_i I' c' in
      if (0 <=? y)%bZ then (x.1 * y + s.1, x.2 * y + s.2)%bZ else (x.2 * y + s.1, x.1 * y + s.2)%bZ
  | _, _ => (0, 0)%bZ
  end.

Definition mag (x : Z * Z) : Z := Z.max (- x.1) x.2.    (* |.| is at most this *)
Definition mig (x : Z * Z) : Z := Z.max x.1 (- x.2).    (* and at least this *)

Fixpoint others (i : nat) (r : seq (Z * Z)) : Z :=
  match r, i with
  | [::], _ => 0%bZ
  | x :: r', 0%N => foldr (fun y s => mag y + s)%bZ 0%bZ r'
  | x :: r', i'.+1 => (mag x + others i' r')%bZ
  end.

Definition dominant_row (i : nat) (r : seq (Z * Z)) := (others i r <? mig (nth (0, 0)%bZ r i))%bZ.

Definition enclosures (w : Z) k (S : rmat) : seq (seq (option (Z * Z))) :=
  [seq [seq enclose m w k x | x <- r] | r <- S].

(* the matrix S N, row by row; Nt lists the columns of N *)
Definition dominant (w : Z) k r (S : rmat) (Nt : seq (seq Z)) :=
  let E := enclosures w k S in
  [&& (0 <=? w)%bZ, rshaped r r S, shaped r r Nt, all (all isSome) E &
  all (fun i => let row := [seq odflt (0, 0)%bZ x | x <- nth [::] E i] in
                dominant_row i [seq dot_i row c | c <- Nt]) (iota 0 r)].

Lemma dot_iP w n (I : seq (Z * Z)) (c : seq Z) (x : nat -> R) : size I = n -> size c = n ->
  (forall l, (l < n)%N -> enclosed w (x l) (nth (0, 0)%bZ I l)) ->
  let s := dot_i I c in
  zr R s.1 <= \sum_(l < n) (zr R (Z.shiftl 1 w) * x l) * zr R (nth 0%bZ c l) <= zr R s.2.
Proof.
elim: n I c x => [|n IH] [|J I] [|y c] x //= ; first by rewrite big_ord0 zr0 lexx.
move=> [sI] [sc] enc; rewrite big_ord_recl /=.
have /andP[lo hi] := enc 0%N isT; have /= /andP[slo shi] := IH I c (fun l => x l.+1) sI sc (fun l => enc l.+1).
have [y0|y0] := ifP; rewrite /= !zrD !zrM; apply/andP; split; apply: ler_add => //.
- by apply: ler_wpmul2r; rewrite ?zr_ge0.
- by apply: ler_wpmul2r; rewrite ?zr_ge0.
- by apply: ler_wnmul2r => //; rewrite leNgt zr_gt0; apply: contraFN y0 => /Z.ltb_lt/Z.lt_le_incl/Z.leb_le.
by apply: ler_wnmul2r => //; rewrite leNgt zr_gt0; apply: contraFN y0 => /Z.ltb_lt/Z.lt_le_incl/Z.leb_le.
Qed.

Lemma zr_max a b : zr R (Z.max a b) = Num.max (zr R a) (zr R b).
Proof.
have [ab|ba] := Z.max_spec a b; first case: ab => ab ->.
  by rewrite max_r // zr_le; apply/Z.leb_le/Z.lt_le_incl.
by case: ba => ba ->; rewrite max_l // zr_le; apply/Z.leb_le.
Qed.

Lemma magP (y : R) J : zr R J.1 <= y <= zr R J.2 -> `|y| <= zr R (mag J).
Proof.
case/andP => lo hi; rewrite /mag zr_max zrN ler_norml; apply/andP; split.
  by rewrite ler_oppl le_maxr ler_opp2 lo.
by rewrite le_maxr hi orbT.
Qed.

Lemma migP (y : R) J : zr R J.1 <= y <= zr R J.2 -> zr R (mig J) <= `|y|.
Proof.
case/andP => lo hi; rewrite /mig zr_max zrN le_maxl; apply/andP; split.
  exact: le_trans lo (ler_norm _).
by rewrite -normrN; apply: le_trans (ler_norm _); rewrite ler_opp2.
Qed.

Lemma magsP n (r : seq (Z * Z)) (y : nat -> R) : size r = n ->
  (forall l, (l < n)%N -> zr R (nth (0, 0)%bZ r l).1 <= y l <= zr R (nth (0, 0)%bZ r l).2) ->
  \sum_(l < n) `|y l| <= zr R (foldr (fun J s => mag J + s)%bZ 0%bZ r).
Proof.
elim: n r y => [|n IH] [|J r] y //=; first by rewrite big_ord0 zr0.
move=> [sr] enc; rewrite big_ord_recl zrD; apply: ler_add; first by apply: magP; apply: (enc 0%N).
exact: (IH r (fun l => y l.+1) sr (fun l => enc l.+1)).
Qed.

Lemma othersP n i (r : seq (Z * Z)) (y : nat -> R) : size r = n -> (i < n)%N ->
  (forall l, (l < n)%N -> zr R (nth (0, 0)%bZ r l).1 <= y l <= zr R (nth (0, 0)%bZ r l).2) ->
  \sum_(l < n | val l != i) `|y l| <= zr R (others i r).
Proof.
elim: n i r y => [|n IH] [|i] [|J r] y //= [sr] ip enc; rewrite big_mkcond big_ord_recl /=.
  by rewrite add0r; apply: (magsP (y := fun l => y l.+1) sr (fun l => enc l.+1)).
rewrite zrD; apply: ler_add; first by apply: magP; apply: (enc 0%N).
rewrite -big_mkcond /=; exact: (IH i r (fun l => y l.+1) sr ip (fun l => enc l.+1)).
Qed.

Lemma dominantP w k r S Nt : dominant w k r S Nt -> mden r r S \in unitmx.
Proof.
case/and5P => w0 sS sN /(all_nthP [::]) E0 /allP dom.
have [/eqP zS _] := andP sS; have [/eqP zN _] := andP sN.
pose G := (zr R (Z.shiftl 1 w) *: mden r r S) *m (zmx R r r Nt)^T.
suff : G \in unitmx.
  rewrite /G unitmx_mul => /andP[]; rewrite !unitmxE detZ unitrM => /andP[_ ->] _; by [].
apply: dominant_unit => i.
set row := [seq odflt (0, 0)%bZ x | x <- nth [::] (enclosures w k S) i].
have rS : size (nth [::] S i) = r.
  by have [_ /(all_nthP [::]) H] := andP sS; apply/eqP/H; rewrite zS.
have srow : size row = r by rewrite size_map /enclosures (nth_map [::]) ?zS // size_map.
have encl l : (l < r)%N -> enclosed w (den (at_ S i l)) (nth (0, 0)%bZ row l).
  move=> lr; rewrite /row /enclosures (nth_map [::]) ?zS // (nth_map None) ?size_map ?rS //.
  rewrite (nth_map zero) ?rS //.
  have := E0 i; rewrite size_map zS /enclosures (nth_map [::]) ?zS // => /(_ (ltn_ord i)).
  move/(all_nthP None)/(_ l); rewrite size_map rS (nth_map zero) ?rS // => /(_ lr).
  by case E: enclose => [J|] // _; apply: (encloseP ok w0 E).
have GE (j : 'I_r) : zr R (dot_i row (nth [::] Nt j)).1 <= G i j <= zr R (dot_i row (nth [::] Nt j)).2.
  have sc : size (nth [::] Nt j) = r by apply: (shaped_row sN).
  have := dot_iP srow sc encl; rewrite /G !mxE.
  by under [in X in _ -> X]eq_bigr => l _ do rewrite !mxE.
have nthG (l : nat) : (l < r)%N -> nth (0, 0)%bZ [seq dot_i row c | c <- Nt] l = dot_i row (nth [::] Nt l).
  by move=> lr; rewrite (nth_map [::]) ?zN.
have := dom i; rewrite mem_iota ltn_ord => /(_ isT); rewrite /dominant_row -/row => /Z.ltb_lt lt.
pose y l := if insub l is Some j then G i j else 0.
have yE (j : 'I_r) : y j = G i j by rewrite /y valK.
have yP l : (l < r)%N -> zr R (nth (0, 0)%bZ [seq dot_i row c | c <- Nt] l).1 <= y l <=
    zr R (nth (0, 0)%bZ [seq dot_i row c | c <- Nt] l).2.
  by move=> lr; rewrite nthG // -[l]/(val (Ordinal lr)) yE GE.
have sG : size [seq dot_i row c | c <- Nt] = r by rewrite size_map.
have := othersP sG (ltn_ord i) yP; under eq_bigr => l _ do rewrite yE.
move/le_lt_trans; apply; apply: lt_le_trans (_ : zr R (mig (nth (0, 0)%bZ [seq dot_i row c | c <- Nt] i)) <= _).
  by rewrite zr_lt; apply/Z.ltb_lt.
by apply: migP; rewrite nthG.
Qed.

(* the same of any matrix whose entries are enclosed *)
Definition dominant_rows r (E : seq (seq (Z * Z))) (Nt : seq (seq Z)) :=
  [&& all (fun row => size row == r) E, size E == r, shaped r r Nt
    & all (fun i => dominant_row i [seq dot_i (nth [::] E i) c | c <- Nt]) (iota 0 r)].

Lemma dominant_rowsP w r (S : 'M[R]_r) E Nt : dominant_rows r E Nt ->
  (forall i l : 'I_r, enclosed w (S i l) (nth (0, 0)%bZ (nth [::] E i) l)) -> S \in unitmx.
Proof.
case/and4P => /(all_nthP [::]) rE /eqP zE sN /allP dom encl.
have [/eqP zN _] := andP sN.
pose G := (zr R (Z.shiftl 1 w) *: S) *m (zmx R r r Nt)^T.
suff : G \in unitmx.
  rewrite /G unitmx_mul => /andP[]; rewrite !unitmxE detZ unitrM => /andP[_ ->] _; by [].
apply: dominant_unit => i; set row := nth [::] E i.
have srow : size row = r by apply/eqP/rE; rewrite zE.
pose x l := if insub l is Some j then S i j else 0.
have xE (j : 'I_r) : x j = S i j by rewrite /x valK.
have xP l : (l < r)%N -> enclosed w (x l) (nth (0, 0)%bZ row l).
  by move=> lr; rewrite -[l]/(val (Ordinal lr)) xE; apply: encl.
have GE (j : 'I_r) : zr R (dot_i row (nth [::] Nt j)).1 <= G i j <= zr R (dot_i row (nth [::] Nt j)).2.
  have sc : size (nth [::] Nt j) = r by apply: (shaped_row sN).
  have := dot_iP srow sc xP; rewrite /G !mxE.
  by under [in X in _ -> X]eq_bigr => l _ do rewrite !mxE -xE.
have nthG (l : nat) : (l < r)%N -> nth (0, 0)%bZ [seq dot_i row c | c <- Nt] l = dot_i row (nth [::] Nt l).
  by move=> lr; rewrite (nth_map [::]) ?zN.
have := dom i; rewrite mem_iota ltn_ord => /(_ isT); rewrite /dominant_row -/row => /Z.ltb_lt lt.
pose y l := if insub l is Some j then G i j else 0.
have yE (j : 'I_r) : y j = G i j by rewrite /y valK.
have yP l : (l < r)%N -> zr R (nth (0, 0)%bZ [seq dot_i row c | c <- Nt] l).1 <= y l <=
    zr R (nth (0, 0)%bZ [seq dot_i row c | c <- Nt] l).2.
  by move=> lr; rewrite nthG // -[l]/(val (Ordinal lr)) yE GE.
have sG : size [seq dot_i row c | c <- Nt] = r by rewrite size_map.
have := othersP sG (ltn_ord i) yP; under eq_bigr => l _ do rewrite yE.
move/le_lt_trans; apply; apply: lt_le_trans (_ : zr R (mig (nth (0, 0)%bZ [seq dot_i row c | c <- Nt] i)) <= _).
  by rewrite zr_lt; apply/Z.ltb_lt.
by apply: migP; rewrite nthG.
Qed.

(* the rows I and the columns J *)
Definition rminor (L : rmat) (I J : seq nat) : rmat :=
  [seq [seq nth zero r j | j <- J] | r <- [seq nth [::] L i | i <- I]].

Definition rrank_ge_check (w : Z) k p q (L : rmat) (I J : seq nat) Nt :=
  [&& all (fun i => i < p)%N I, all (fun j => j < q)%N J, size J == size I
    & dominant w k (size I) (rminor L I J) Nt].

Lemma rrank_geE w k p q L I J Nt :
  rrank_ge_check w k p q L I J Nt -> (size I <= \rank (mden p q L))%N.
Proof.
case/and4P => /(all_nthP 0%N) Ip /(all_nthP 0%N) Jq /eqP sJ /dominantP unit.
have Jq' (j : 'I_(size I)) : (nth 0%N J j < q)%N by apply: Jq; rewrite sJ.
pose f (i : 'I_(size I)) := Ordinal (Ip i (ltn_ord i)).
pose g (j : 'I_(size I)) := Ordinal (Jq' j).
have subE : mden (size I) (size I) (rminor L I J) = mxsub f g (mden p q L).
  apply/matrixP => i j; rewrite !mxE /at_ /rminor -map_comp (nth_map 0%N) //=.
  by rewrite (nth_map 0%N) // sJ.
by rewrite -(mxrank_unit unit) subE mxrank_mxsub.
Qed.

End Meaning.
