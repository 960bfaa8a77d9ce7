(* Real numbers by reflection: expressions in rationals and exponentials, which
   are computed exactly where they are rational and enclosed between integers
   over a power of two where they are not.

   No exponential is constructed. It is a function on a real field of which two
   things are known, exp (x + y) = exp x exp y and 1 + x <= exp x; these enclose
   it, since exp x >= (1 + x / 2^k)^(2^k) by k squarings and exp x = 1 / exp (-x).
   Where scores are counted in units of ln 2, exp (x + y) = exp x exp y and
   exp 1 = 2, and integers have rational exponentials. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import reflect_integers.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Delimit Scope Z_scope with bZ.
Delimit Scope Q_scope with bQ.
Local Open Scope nat_scope.
Local Open Scope ring_scope.

(* what is asked of an exponential, and of the power of two *)
Definition natural_exponential (R : realFieldType) (exp : R -> R) :=
  (forall x y, exp (x + y) = exp x * exp y) /\ (forall x, 1 + x <= exp x).
Definition binary_exponential (R : realFieldType) (exp : R -> R) :=
  (forall x y, exp (x + y) = exp x * exp y) /\ exp 1 = 2%:R.

(* expressions *)
Inductive real :=
  | Rat of Q
  | Add of real & real
  | Mul of real & real
  | Opp of real
  | Inv of real
  | Exp of real.

Section Rationals.
Variable R : realFieldType.

Definition qr (q : Q) : R := zr R (Qnum q) / zr R (Zpos (Qden q)).

Lemma den_gt0 q : 0 < zr R (Zpos (Qden q)). Proof. by rewrite zr_gt0. Qed.
Lemma den_neq0 q : zr R (Zpos (Qden q)) != 0. Proof. by rewrite gt_eqF ?den_gt0. Qed.
Hint Resolve den_neq0 den_gt0 : core.

Lemma qr_eq p q : (p == q)%bQ -> qr p = qr q.
Proof.
move=> /(congr1 (zr R)); rewrite !zrM => e; rewrite /qr.
by apply/eqP; rewrite eqr_div // e.
Qed.

Lemma qrD p q : qr (p + q)%bQ = qr p + qr q.
Proof. by rewrite /qr /= Pos2Z.inj_mul !zrD !zrM addf_div. Qed.

Lemma qrM p q : qr (p * q)%bQ = qr p * qr q.
Proof. by rewrite /qr /= Pos2Z.inj_mul !zrM mulf_div. Qed.

Lemma qrN p : qr (- p)%bQ = - qr p.
Proof. by rewrite /qr /= zrN mulNr. Qed.

Lemma qrV p : qr (/ p)%bQ = (qr p)^-1.
Proof.
rewrite /qr /Qinv; case: p => [[|n|n] d] /=; rewrite ?mul0r ?invr0 // ?invf_div //.
by rewrite -[Zneg d]/(- Zpos d)%bZ -[Zneg n]/(- Zpos n)%bZ !zrN invrN mulrN mulNr.
Qed.

Lemma qr_red p : qr (Qred p) = qr p.
Proof. by apply/qr_eq/Qred_correct. Qed.

Lemma qr_le p q : (qr p <= qr q) = Qle_bool p q.
Proof.
by rewrite /qr ler_pdivr_mulr // mulrAC ler_pdivl_mulr // -!zrM zr_le.
Qed.

Lemma qr_lt p q : (qr p < qr q) = ~~ Qle_bool q p.
Proof. by rewrite ltNge qr_le. Qed.

Lemma qr_Z z : qr (inject_Z z) = zr R z.
Proof. by rewrite /qr /= divr1. Qed.

End Rationals.

(* expressions are simplified while they are built *)
Definition zero := Rat 0%bQ.
Definition one := Rat 1%bQ.

Definition sadd (a b : real) : real :=
  match a, b with
  | Rat x, Rat y => Rat (Qred (x + y)%bQ)
  | Rat x, _ => if Qeq_bool x 0%bQ then b else Add a b
  | _, Rat y => if Qeq_bool y 0%bQ then a else Add a b
  | _, _ => Add a b
  end.

Definition smul (a b : real) : real :=
  match a, b with
  | Rat x, Rat y => Rat (Qred (x * y)%bQ)
  | Rat x, _ => if Qeq_bool x 0%bQ then zero else Mul a b
  | _, Rat y => if Qeq_bool y 0%bQ then zero else Mul a b
  | _, _ => Mul a b
  end.

Definition sopp (a : real) : real := if a is Rat x then Rat (- x)%bQ else Opp a.
Definition sinv (a : real) : real := if a is Rat x then Rat (Qred (/ x)%bQ) else Inv a.

(* what is known of the exponential: nothing, that it is one, or that it is the power of two *)
Inductive mode := Plain | Natural | Binary.
Definition is_binary m := if m is Binary then true else false.
Definition is_natural m := if m is Natural then true else false.
Definition is_plain m := if m is Plain then true else false.

Definition exponential_of (R : realFieldType) (m : mode) (exp : R -> R) :=
  match m with
  | Plain => True
  | Natural => natural_exponential exp
  | Binary => binary_exponential exp
  end.

Definition sexp (m : mode) (a : real) : real :=
  match a with
  | Rat x =>
      if is_plain m then Exp a
      else if Qeq_bool x 0%bQ then one
      else if is_binary m && (Qden (Qred x) =? 1)%positive then Rat (Qpower 2 (Qnum (Qred x)))
      else Exp a
  | _ => Exp a
  end.

Definition ssum n (f : nat -> real) : real := foldr (fun i s => sadd (f i) s) zero (iota 0 n).

Section Meaning.
Variable R : realFieldType.
Variable exp : R -> R.
Variable m : mode.
Hypothesis ok : exponential_of m exp.

Fixpoint den (e : real) : R :=
  match e with
  | Rat q => qr R q
  | Add a b => den a + den b
  | Mul a b => den a * den b
  | Opp a => - den a
  | Inv a => (den a)^-1
  | Exp a => exp (den a)
  end.

Section Exponential.
Hypothesis nonplain : ~~ is_plain m.

Lemma expD x y : exp (x + y) = exp x * exp y.
Proof. by move: ok nonplain; case: m => // -[]. Qed.

Lemma exp_ge0 x : 0 <= exp x.
Proof.
have -> : x = x / 2%:R + x / 2%:R by rewrite -mulr2n -[X in _ = X]mulr_natr divfK ?pnatr_eq0.
by rewrite expD -expr2 sqr_ge0.
Qed.

Lemma exp_neq0 x : exp x != 0.
Proof.
apply/eqP => x0; move: ok nonplain; case: m => // -[_ H] _; last first.
  by move: H; rewrite -[X in exp X](subrK x 1) expD x0 mulr0 => /eqP; rewrite eq_sym pnatr_eq0.
have := H 0; rewrite addr0 -(subrr x) expD x0 mul0r.
by rewrite leNgt ltr01.
Qed.

Lemma exp_gt0 x : 0 < exp x.
Proof. by rewrite lt_def exp_neq0 exp_ge0. Qed.

Lemma exp0 : exp 0 = 1.
Proof. by apply: (mulfI (exp_neq0 0)); rewrite -expD addr0 mulr1. Qed.

Lemma expN x : exp (- x) = (exp x)^-1.
Proof. by apply: (mulfI (exp_neq0 x)); rewrite -expD subrr exp0 mulfV // exp_neq0. Qed.

Lemma exp_nat n : exp 1 = 2%:R -> exp n%:R = 2%:R ^+ n.
Proof.
by move=> e1; elim: n => [|n IH]; rewrite ?exp0 ?expr0 // exprSr -IH -addn1 natrD expD e1.
Qed.

End Exponential.

Lemma den_zero : den zero = 0. Proof. by rewrite /= /qr zr0 mul0r. Qed.
Lemma den_one : den one = 1. Proof. by rewrite /= /qr /= divr1. Qed.

Lemma qeq0 x : Qeq_bool x 0%bQ -> qr R x = 0.
Proof. by move/Qeq_bool_iff/(qr_eq R) ->; rewrite /qr mul0r. Qed.

Lemma den_sadd a b : den (sadd a b) = den a + den b.
Proof.
have right (x : Q) e : den (if Qeq_bool x 0%bQ then e else Add (Rat x) e) = qr R x + den e.
  by case: ifP => // /qeq0 ->; rewrite add0r.
have left (x : Q) e : den (if Qeq_bool x 0%bQ then e else Add e (Rat x)) = den e + qr R x.
  by case: ifP => // /qeq0 ->; rewrite addr0.
case: a b => [x|? ?|? ?|?|?|?] [y|? ?|? ?|?|?|?] //; try exact: right; try exact: left.
by rewrite -[LHS]/(qr R (Qred (x + y)%bQ)) qr_red qrD.
Qed.

Lemma den_smul a b : den (smul a b) = den a * den b.
Proof.
have right (x : Q) e : den (if Qeq_bool x 0%bQ then zero else Mul (Rat x) e) = qr R x * den e.
  by case: ifP => // /qeq0 ->; rewrite den_zero mul0r.
have left (x : Q) e : den (if Qeq_bool x 0%bQ then zero else Mul e (Rat x)) = den e * qr R x.
  by case: ifP => // /qeq0 ->; rewrite den_zero mulr0.
case: a b => [x|? ?|? ?|?|?|?] [y|? ?|? ?|?|?|?] //; try exact: right; try exact: left.
by rewrite -[LHS]/(qr R (Qred (x * y)%bQ)) qr_red qrM.
Qed.

Lemma den_sopp a : den (sopp a) = - den a.
Proof. by case: a => // x; rewrite -[LHS]/(qr R (- x)%bQ) qrN. Qed.

Lemma den_sinv a : den (sinv a) = (den a)^-1.
Proof. by case: a => // x; rewrite -[LHS]/(qr R (Qred (/ x)%bQ)) qr_red qrV. Qed.

Lemma den_ssum n f : den (ssum n f) = \sum_(i < n) den (f i).
Proof.
rewrite -(big_mkord xpredT (fun i => den (f i))) /index_iota subn0 /ssum.
by elim: (iota 0 n) => [|i s IH]; rewrite ?big_nil ?den_zero // big_cons -IH -den_sadd.
Qed.

Lemma qr_power_pos q p : qr R (Qpower_positive q p) = qr R q ^+ Pos.to_nat p.
Proof.
elim: p => [p IH|p IH|]; rewrite /Qpower_positive /= -/(Qpower_positive _ _) ?expr1 //.
  by rewrite !qrM IH Pos2Nat.inj_xI exprS -exprD addnn -mul2n.
by rewrite !qrM IH Pos2Nat.inj_xO -exprD addnn -mul2n.
Qed.

Lemma den_sexp a : den (sexp m a) = exp (den a).
Proof.
case: a => // x; rewrite /sexp [den (Rat x)]/=; case: ifP => // /negbT np.
case: ifP => [/qeq0 ->|_]; first by rewrite den_one exp0.
case: ifP => // /andP[tw /Pos.eqb_eq d1]; rewrite -[LHS]/(qr R (Qpower 2 (Qnum (Qred x)))).
have e1 : exp 1 = 2%:R by move: ok tw; case: m => // -[].
have q2 : qr R 2 = 2%:R by rewrite /qr /= divr1.
rewrite -[in RHS]qr_red /qr [in RHS]d1 divr1 -/(qr R _).
case: (Qnum _) => [|p|p] /=; first by rewrite exp0 // /qr /= divr1.
  by rewrite qr_power_pos q2 -exp_nat.
rewrite qrV qr_power_pos q2 -exp_nat // -expN // /zr /=.
by rewrite mulrNz.
Qed.

(* enclosures: integers over P = 2^w, rounded outwards *)
Section Enclosures.
Variables (w : Z) (k : nat).
Let P := Z.shiftl 1 w.
Hypothesis w0 : (0 <=? w)%bZ.

Definition enclosed (x : R) (I : Z * Z) := zr R I.1 <= zr R P * x <= zr R I.2.

Lemma P_gt0Z : (0 < P)%bZ.
Proof. by rewrite /P Z.shiftl_1_l; apply: Z.pow_pos_nonneg => //; apply/Z.leb_le. Qed.

Lemma P_gt0 : 0 < zr R P. Proof. by rewrite zr_gt0; apply/Z.ltb_lt/P_gt0Z. Qed.
Lemma P_neq0 : zr R P != 0. Proof. by rewrite gt_eqF // P_gt0. Qed.

(* rounding down and up *)
Definition down (a : Z) : Z := Z.shiftr a w.
Definition up (a : Z) : Z := (- Z.shiftr (- a) w)%bZ.

Lemma div_le a b : (0 < b)%bZ -> zr R (a / b)%bZ * zr R b <= zr R a.
Proof.
move=> b0; rewrite -zrM zr_le; apply/Z.leb_le.
by rewrite Z.mul_comm; apply: Z.mul_div_le.
Qed.

Lemma div_ge a b : (0 < b)%bZ -> zr R a <= (zr R (a / b)%bZ + 1) * zr R b.
Proof.
move=> b0; rewrite -zr1 -zrD -zrM zr_le; apply/Z.leb_le.
rewrite Z.mul_comm Z.add_1_r; apply/Z.lt_le_incl/Z.mul_succ_div_gt => //.
Qed.

Lemma downE a : zr R (down a) * zr R P <= zr R a.
Proof. by rewrite /down Z.shiftr_div_pow2 -?Z.shiftl_1_l; [exact/div_le/P_gt0Z | exact/Z.leb_le]. Qed.

Lemma upE a : zr R a <= zr R (up a) * zr R P.
Proof. by rewrite /up zrN mulNr -[zr R a]opprK ler_opp2 -zrN downE. Qed.

Definition add_i (I J : Z * Z) := (I.1 + J.1, I.2 + J.2)%bZ.
Definition opp_i (I : Z * Z) := (- I.2, - I.1)%bZ.
Definition mul_i (I J : Z * Z) :=
  let a := (I.1 * J.1)%bZ in let b := (I.1 * J.2)%bZ in
  let c := (I.2 * J.1)%bZ in let d := (I.2 * J.2)%bZ in
  (down (Z.min (Z.min a b) (Z.min c d)), up (Z.max (Z.max a b) (Z.max c d))).
Definition inv_i (I : Z * Z) : option (Z * Z) :=
  if (0 <? I.1)%bZ then Some (P * P / I.2, P * P / I.1 + 1)%bZ else None.
Definition rat_i (q : Q) : Z * Z :=
  if (Qden q =? 1)%positive then (Qnum q * P, Qnum q * P)%bZ
  else let z := (Qnum q * P / Zpos (Qden q))%bZ in (z, z + 1)%bZ.

Lemma add_iP x y I J : enclosed x I -> enclosed y J -> enclosed (x + y) (add_i I J).
Proof.
by move=> /andP[a b] /andP[c d]; rewrite /enclosed /= !zrD mulrDr !ler_add.
Qed.

Lemma opp_iP x I : enclosed x I -> enclosed (- x) (opp_i I).
Proof. by move=> /andP[a b]; rewrite /enclosed /= !zrN mulrN !ler_opp2 a b. Qed.

Lemma mul_high (x y : R) a b c d M : zr R a <= x <= zr R b -> zr R c <= y <= zr R d ->
  [&& a * c <=? M, a * d <=? M, b * c <=? M & b * d <=? M]%bZ -> x * y <= zr R M.
Proof.
move=> /andP[ax xb] /andP[cy yd] /and4P[]; rewrite -!(zr_le R) !zrM => ac ad bc bd.
have [y0|y0] := leP 0 y.
  apply: le_trans (ler_wpmul2r y0 xb) _.
  have [b0|b0] := leP 0 (zr R b); first exact: le_trans (ler_wpmul2l b0 yd) bd.
  by apply: le_trans bc; rewrite ler_nmul2l.
apply: (le_trans (_ : _ <= zr R a * y)); first by rewrite ler_nmul2r.
have [a0|a0] := leP 0 (zr R a); first exact: le_trans (ler_wpmul2l a0 yd) ad.
by apply: le_trans ac; rewrite ler_nmul2l.
Qed.

Lemma mul_iP x y I J : enclosed x I -> enclosed y J -> enclosed (x * y) (mul_i I J).
Proof.
case: I J => [a b] [c d] Ix Jy; rewrite /enclosed /mul_i /=.
set mm := Z.min _ _; set M := Z.max _ _.
have hi : zr R P * x * (zr R P * y) <= zr R M.
  apply: mul_high Ix Jy _; rewrite /M; apply/and4P; split; apply/Z.leb_le.
  - exact: Z.le_trans (Z.le_max_l _ _) (Z.le_max_l _ _).
  - exact: Z.le_trans (Z.le_max_r _ _) (Z.le_max_l _ _).
  - exact: Z.le_trans (Z.le_max_l _ _) (Z.le_max_r _ _).
  exact: Z.le_trans (Z.le_max_r _ _) (Z.le_max_r _ _).
have lo : zr R mm <= zr R P * x * (zr R P * y).
  rewrite -[zr R mm]opprK -[X in _ <= X]opprK ler_opp2 -zrN -mulNr.
  have Ix' : zr R (- b)%bZ <= - (zr R P * x) <= zr R (- a)%bZ.
    by case/andP: Ix => ? ?; rewrite !zrN !ler_opp2; apply/andP.
  apply: mul_high Ix' Jy _; rewrite !Z.mul_opp_l /mm; apply/and4P; split; apply/Z.leb_le;
    rewrite -Z.opp_le_mono.
  - exact: Z.le_trans (Z.le_min_r _ _) (Z.le_min_l _ _).
  - exact: Z.le_trans (Z.le_min_r _ _) (Z.le_min_r _ _).
  - exact: Z.le_trans (Z.le_min_l _ _) (Z.le_min_l _ _).
  exact: Z.le_trans (Z.le_min_l _ _) (Z.le_min_r _ _).
rewrite -(ler_pmul2r P_gt0) -[X in _ && X](ler_pmul2r P_gt0).
have -> : zr R P * (x * y) * zr R P = zr R P * x * (zr R P * y) by rewrite [RHS]mulrACA mulrAC.
by rewrite (le_trans (downE _) lo) (le_trans hi (upE _)).
Qed.

Lemma inv_iP x I J : enclosed x I -> inv_i I = Some J -> enclosed x^-1 J.
Proof.
case: I => a b /andP[/= ax xb]; rewrite /inv_i; case: ifP => //= a0 [<-].
have a0R : 0 < zr R a by rewrite zr_gt0.
have Px0 : 0 < zr R P * x by apply: lt_le_trans ax.
have x0 : 0 < x by rewrite -(pmulr_rgt0 _ P_gt0).
have b0R : 0 < zr R b by apply: lt_le_trans xb.
have b0 : (0 < b)%bZ by apply/Z.ltb_lt; rewrite -(zr_gt0 R).
have a0Z : (0 < a)%bZ by apply/Z.ltb_lt.
rewrite /enclosed /= zrD zr1; apply/andP; split.
  rewrite ler_pdivl_mulr // -(ler_pmul2r P_gt0).
  apply: le_trans (_ : zr R (P * P / b)%bZ * zr R b <= _); last first.
    by rewrite (le_trans (div_le _ b0)) // zrM.
  rewrite -mulrA [x * _]mulrC; apply: ler_wpmul2l => //.
  rewrite zr_ge0; apply/Z.leb_le/Z.div_pos => //; apply/Z.lt_le_incl.
  by apply: Z.mul_pos_pos; apply: P_gt0Z.
rewrite ler_pdivr_mulr // -(ler_pmul2r P_gt0) -zrM.
apply: le_trans (div_ge _ a0Z) _; rewrite -mulrA [x * _]mulrC; apply: ler_wpmul2l => //.
apply: addr_ge0; last exact: ler01.
rewrite zr_ge0; apply/Z.leb_le/Z.div_pos => //; apply/Z.lt_le_incl.
by apply: Z.mul_pos_pos; apply: P_gt0Z.
Qed.

Lemma rat_iP q : enclosed (qr R q) (rat_i q).
Proof.
rewrite /enclosed /rat_i /qr; case: ifP => [/Pos.eqb_eq ->|_] /=.
  by rewrite divr1 zrM mulrC lexx.
rewrite mulrA mulrC -[zr R P * _]mulrC -zrM.
by rewrite ler_pdivl_mull ?den_gt0 // ler_pdivr_mull ?den_gt0 // zrD zr1 mulrC div_le //= mulrC div_ge.
Qed.

(* the exponential of a number above z / P from below, by k squarings *)
Fixpoint squares n (b : Z) : Z := if n is n'.+1 then squares n' (down (b * b)) else b.
Definition exp_low (z0 : Z) : Z :=
  let z := Z.min z0 (Z.shiftl w w) in   (* beyond exp w nothing is gained *)
  let b := (P + Z.shiftr z (Z.of_nat k))%bZ in if (0 <=? b)%bZ then squares k b else 0%bZ.
Definition exp_i (I : Z * Z) : option (Z * Z) :=
  let l := exp_low (- I.2)%bZ in
  if (0 <? l)%bZ then Some (exp_low I.1, (P * P / l + 1)%bZ) else None.

Lemma squaresP n b y : ~~ is_plain m -> (0 <=? b)%bZ -> zr R b <= zr R P * exp y ->
  zr R (squares n b) <= zr R P * exp (y * (2 ^ n)%:R).
Proof.
move=> np; elim: n b y => [|n IH] b y b0 be /=; first by rewrite mulr1.
have -> : y * (2 ^ n.+1)%:R = (y + y) * (2 ^ n)%:R.
  by rewrite expnS mul2n -addnn natrD mulrDr mulrDl.
apply: IH.
  apply/Z.leb_le; rewrite /down Z.shiftr_div_pow2 -?Z.shiftl_1_l; last exact/Z.leb_le.
  by apply: Z.div_pos (P_gt0Z); apply: Z.square_nonneg.
rewrite -(ler_pmul2r P_gt0); apply: le_trans (downE _) _; rewrite zrM expD //.
have -> : zr R P * (exp y * exp y) * zr R P = zr R P * exp y * (zr R P * exp y).
  by rewrite [RHS]mulrACA mulrAC.
by apply: ler_pmul => //; rewrite zr_ge0.
Qed.

Hypothesis natural : is_natural m.

Lemma natural_nonplain : ~~ is_plain m. Proof. by move: natural; case: m. Qed.
Let np := natural_nonplain.

Lemma exp_lowP z x : zr R z <= zr R P * x -> zr R (exp_low z) <= zr R P * exp x.
Proof.
have exp1 : forall x, 1 + x <= exp x by move: ok natural; case: m => // -[].
move=> zx0; rewrite /exp_low; set z1 := Z.min _ _.
have zx : zr R z1 <= zr R P * x.
  by apply: le_trans zx0; rewrite zr_le; apply/Z.leb_le/Z.le_min_l.
case: ifP => b0; last first.
  by rewrite mulr_ge0 ?exp_ge0 ?np // ltW // P_gt0.
have k2 : 0 < (2 ^ k)%:R :> R by rewrite ltr0n expn_gt0.
rewrite -[x](divfK (lt0r_neq0 k2)); apply: squaresP => //.
apply: le_trans (ler_wpmul2l (ltW P_gt0) (exp1 _)); rewrite zrD mulrDr mulr1 ler_add2l.
rewrite mulrA ler_pdivl_mulr //; apply: le_trans zx.
have -> : (2 ^ k)%:R = zr R (2 ^ Z.of_nat k)%bZ.
  elim: k => [|n IH] //; rewrite Nat2Z.inj_succ Z.pow_succ_r; last exact: Nat2Z.is_nonneg.
  by rewrite zrM -IH expnS natrM.
rewrite Z.shiftr_div_pow2; last exact: Nat2Z.is_nonneg.
apply: div_le; apply: Z.pow_pos_nonneg => //; exact: Nat2Z.is_nonneg.
Qed.

Lemma exp_iP x I J : enclosed x I -> exp_i I = Some J -> enclosed (exp x) J.
Proof.
case: I => a b /andP[/= ax xb]; rewrite /exp_i /=; case: ifP => // l0 [<-].
rewrite /enclosed /= exp_lowP //=.
have lo : zr R (exp_low (- b)) <= zr R P * exp (- x) by apply: exp_lowP; rewrite zrN mulrN ler_opp2.
have l0R : 0 < zr R (exp_low (- b)) by rewrite zr_gt0.
have l0Z : (0 < exp_low (- b))%bZ by apply/Z.ltb_lt.
rewrite zrD zr1 -(ler_pmul2r l0R); apply: le_trans (div_ge _ l0Z); rewrite zrM.
rewrite -mulrA; apply: ler_wpmul2l; first exact/ltW/P_gt0.
apply: le_trans (ler_wpmul2l (exp_ge0 np _) lo) _.
by rewrite mulrCA -expD // subrr exp0 // mulr1.
Qed.

End Enclosures.

Fixpoint enclose (w : Z) (k : nat) (e : real) : option (Z * Z) :=
  match e with
  | Rat q => Some (rat_i w q)
  | Add a b => if enclose w k a is Some x then
                 if enclose w k b is Some y then Some (add_i x y) else None else None
  | Mul a b => if enclose w k a is Some x then
                 if enclose w k b is Some y then Some (mul_i w x y) else None else None
  | Opp a => omap opp_i (enclose w k a)
  | Inv a => obind (inv_i w) (enclose w k a)
  | Exp a => if is_natural m then obind (exp_i w k) (enclose w k a) else None
  end.

Lemma encloseP w k e I : (0 <=? w)%bZ -> enclose w k e = Some I -> enclosed w (den e) I.
Proof.
move=> w0; elim: e I => [q|a IHa b IHb|a IHa b IHb|a IH|a IH|a IH] I /=.
- by move=> [<-]; apply: rat_iP.
- case: enclose IHa => // x /(_ _ erefl) Ha; case: enclose IHb => // y /(_ _ erefl) Hb [<-].
  exact: add_iP.
- case: enclose IHa => // x /(_ _ erefl) Ha; case: enclose IHb => // y /(_ _ erefl) Hb [<-].
  exact: mul_iP.
- by case: enclose IH => //= x /(_ _ erefl) H [<-]; apply: opp_iP.
- by case: enclose IH => //= x /(_ _ erefl) H; apply: inv_iP.
case: ifP => // tw; case: enclose IH => //= x /(_ _ erefl) H; exact: exp_iP.
Qed.

(* comparisons: exact between rationals, else by enclosures, or undecided *)
Definition is_le (w : Z) (k : nat) (a b : real) : option bool :=
  match a, b with
  | Rat x, Rat y => Some (Qle_bool x y)
  | _, _ =>
      if enclose w k (sadd b (sopp a)) is Some J
      then if (0 <=? J.1)%bZ then Some true else if (J.2 <? 0)%bZ then Some false else None
      else None
  end.

Lemma is_leP w k a b t : (0 <=? w)%bZ -> is_le w k a b = Some t -> (den a <= den b) = t.
Proof.
move=> w0; have gen : (if enclose w k (sadd b (sopp a)) is Some J
      then if (0 <=? J.1)%bZ then Some true else if (J.2 <? 0)%bZ then Some false else None
      else None) = Some t -> (den a <= den b) = t.
  case E: enclose => [J|] //; have /andP[lo hi] := encloseP w0 E.
  move: lo hi; rewrite den_sadd den_sopp => lo hi; rewrite -subr_ge0.
  case: ifP => [J0 [<-]|_].
    by rewrite -(pmulr_rge0 _ (P_gt0 w0)); apply: le_trans lo; rewrite zr_ge0.
  case: ifP => // J0 [<-]; apply/negbTE; rewrite -ltNge -(pmulr_rlt0 _ (P_gt0 w0)).
  by apply: le_lt_trans hi _; rewrite -(zr0 R) zr_lt.
by case: a b gen => [x|? ?|? ?|?|?|?] [y|? ?|? ?|?|?|?] // _ [<-]; rewrite /= qr_le.
Qed.

End Meaning.
