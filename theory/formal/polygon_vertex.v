(* claim: lemmax/polygon-vertex@3e2b3f546ea54edc, by vertex_beats_all, inner_point_never_wins.
   control: vertex_needs_both_neighbours.
   Points that lie in the cone of the two edges at w: a linear form that is larger at
   w than at the ends p and q of the edges is larger there than at every other point.
   At an average of other points no linear form is strictly largest. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Polygon.
Variables (R : realFieldType) (V : lmodType R) (f : {scalar V}).
Implicit Types (p q t w : V) (a b : R).

Theorem vertex_beats_all w p q t a b :
  t - w = a *: (p - w) + b *: (q - w) -> 0 <= a -> 0 <= b -> t != w ->
  f p < f w -> f q < f w -> f t < f w.
Proof.
move=> tE a0 b0 tw fp fq.
have fE : f t - f w = a * (f p - f w) + b * (f q - f w).
  by rewrite -(linearB f t w) tE linearD !linearZ !linearB.
have np : f p - f w < 0 by rewrite subr_lt0.
have nq : f q - f w < 0 by rewrite subr_lt0.
have bq : b * (f q - f w) <= 0 by apply: mulr_ge0_le0 => //; exact: ltW.
rewrite -subr_lt0 fE; have [az|an] := eqVneq a 0; last first.
  have pos : 0 < a by rewrite lt_def an.
  by apply: (lt_le_trans _ bq); rewrite gtr_addr pmulr_rlt0.
have [bz|bn] := eqVneq b 0; last first.
  by rewrite az mul0r add0r pmulr_rlt0 // lt_def bn.
by move: tw; rewrite -subr_eq0 tE az bz !scale0r addr0 eqxx.
Qed.

(* an average of other points is no vertex *)
Theorem inner_point_never_wins (n : nat) (u : 'I_n -> V) (a : 'I_n -> R) t :
  (forall i, 0 <= a i) -> \sum_i a i = 1 -> t = \sum_i a i *: u i ->
  ~ (forall i, f (u i) < f t).
Proof.
move=> pos one tE below.
have e : \sum_i a i * (f t - f (u i)) = 0.
  under eq_bigr => i _ do rewrite mulrBr.
  rewrite sumrB -mulr_suml one mul1r tE linear_sum.
  under [X in _ - X]eq_bigr => i _ do rewrite -linearZ.
  by rewrite subrr.
have zero i : a i = 0.
  have nonneg j : true -> 0 <= a j * (f t - f (u j)).
    by move=> _; rewrite mulr_ge0 // subr_ge0 ltW.
  move/eqP: e; rewrite psumr_eq0 // => /allP/(_ i).
  rewrite mem_index_enum => /(_ isT); rewrite mulf_eq0 subr_eq0 (gt_eqF (below i)) orbF.
  by move/eqP.
by move: one; rewrite big1 // => /eqP; rewrite eq_sym oner_eq0.
Qed.

End Polygon.

(* One neighbour is not enough: on the line 0 < 1 < 2 the identity is larger at 1 than
   at 0, and larger still at 2. *)
Theorem vertex_needs_both_neighbours (R : realFieldType) :
  exists (f : {scalar R^o}) (w p q : R^o), f p < f w /\ f w < f q.
Proof.
exists [linear of idfun], 1, 0, 2%:R => /=; split; first exact: ltr01.
by rewrite ltr1n.
Qed.

Print Assumptions vertex_beats_all.
Print Assumptions inner_point_never_wins.
Print Assumptions vertex_needs_both_neighbours.
