(* claim: lemmax/codebook@5cad5ee7f54669c2, by codebook, codebook_near.
   control: codebook_needs_distinct_codes.
   Logits 2 <c_v, x> - <c_v, c_v> are strictly largest at w if x = c_w and no other
   code is c_w, and more generally if x is nearer to c_w than half the way from
   c_w to any other code. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Codebook.
Variable R : realFieldType.
Variable m : nat.
Implicit Types x y : 'I_m -> R.

Definition dot x y : R := \sum_i x i * y i.
Definition minus x y : 'I_m -> R := fun i => x i - y i.
Definition square x : R := dot x x.

Variable V : eqType.
Variable c : V -> 'I_m -> R.

Definition logit x (v : V) : R := dot (c v) x *+ 2 - square (c v).

Lemma square_ge0 x : 0 <= square x.
Proof. by apply: sumr_ge0 => i _; rewrite -expr2 sqr_ge0. Qed.

Lemma square_gt0 x i : x i != 0 -> 0 < square x.
Proof.
move=> xi; rewrite /square /dot (bigD1 i) //=.
have pos : 0 < x i * x i by rewrite -expr2 lt_def sqr_ge0 sqrf_eq0 xi.
apply: (lt_le_trans pos); rewrite ler_addl.
by apply: sumr_ge0 => j _; rewrite -expr2 sqr_ge0.
Qed.

(* the codebook identity *)
Lemma logitE x v : logit x v = square x - square (minus x (c v)).
Proof.
rewrite /logit /square /dot -sumrMnl -!sumrB; apply: eq_bigr => i _; rewrite /minus.
by rewrite -!expr2 sqrrB !opprD opprK !addrA subrr add0r mulrC.
Qed.

Theorem codebook w : (forall v, v != w -> exists i, c v i != c w i) ->
  forall v, v != w -> logit (c w) v < logit (c w) w.
Proof.
move=> distinct v vw; rewrite !logitE ltr_add2l ltr_opp2.
have -> : square (minus (c w) (c w)) = 0.
  by rewrite /square /dot big1 // => i _; rewrite /minus subrr mul0r.
have [i cvi] := distinct v vw; apply: (@square_gt0 _ i).
by rewrite /minus subr_eq0 eq_sym.
Qed.

(* 4 |e|^2 < |d|^2 and |2e + d|^2 >= 0 give 2 <e, d> + |d|^2 > 0 *)
Theorem codebook_near x w :
  (forall v, v != w -> square (minus x (c w)) *+ 4 < square (minus (c w) (c v))) ->
  forall v, v != w -> logit x v < logit x w.
Proof.
move=> near v /near; rewrite !logitE ltr_add2l ltr_opp2.
set e := minus x (c w); set d := minus (c w) (c v) => lt.
have sumE : square (minus x (c v)) = square e + dot e d *+ 2 + square d.
  rewrite /square /dot -sumrMnl -!big_split; apply: eq_bigr => i _ /=.
  have -> : minus x (c v) i = e i + d i by rewrite /e /d /minus addrA subrK.
  by rewrite -!expr2 sqrrD.
have big : 0 <= square e *+ 4 + dot e d *+ 4 + square d.
  have <- : square (fun i => e i *+ 2 + d i) = square e *+ 4 + dot e d *+ 4 + square d.
    rewrite /square /dot -!sumrMnl -!big_split; apply: eq_bigr => i _ /=.
    by rewrite -!expr2 sqrrD exprMn_n mulrnAl -mulrnA.
  exact: square_ge0.
have pos : 0 < dot e d *+ 2 + square d.
  rewrite -(pmulrn_lgt0 _ (isT : (0 < 2)%N)) mulrnDl -mulrnA; apply: le_lt_trans big _.
  by rewrite -addrA addrC -addrA mulr2n ltr_add2l ltr_add2l.
by rewrite sumE -addrA ltr_addl.
Qed.

End Codebook.

(* Codes must be distinct: with two equal ones neither logit is larger. *)
Theorem codebook_needs_distinct_codes (R : realFieldType) :
  let c := fun (_ : bool) (_ : 'I_1) => 1 : R in
  logit c (c true) false = logit c (c true) true.
Proof. by []. Qed.

Print Assumptions codebook.
Print Assumptions codebook_near.
Print Assumptions codebook_needs_distinct_codes.
