(* claim: lemmax/column-pivot@1b2249d336e2b2da, by column_pivot, row_pivot.
   control: column_pivot_constant.
   For each query q choose w_q in the affine hull of the unit vectors e_v, v in V_q,
   and group the queries with equal w_q. Then over every field
     rank(D) <= sum_q (|V_q| - 1) + sum over the groups g of rank(Dom_:,g),
   where Dom_:,g consists of the columns in g of the domain matrix. The same holds
   with keys and queries exchanged. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor database saturated_table domain_pivot.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section ColumnPivot.
Variable F : fieldType.
Variables K Q V : finType.
Variable D : database K Q V.

(* the groups, and the pivot of each *)
Variables (G : finType) (group : Q -> G) (w : G -> V -> F).

(* the columns of the domain matrix in the group g *)
Definition group_mx (g : G) :=
  mx_of (fun k (q : {q | group q == g}) => (D k (val q) != None)%:R : F).

Theorem column_pivot : (forall q, in_affine_hull D q (w (group q))) ->
  rank_le (tensor_of F D) (excess D + \sum_g \rank (group_mx g)).
Proof.
move=> wP.
pose dom k q : F := (D k q != None)%:R.
have rest : rank_le (fun k q v => tensor_of F D k q v - dom k q * w (group q) v) (excess D).
  apply: rank_le_mono (rank_le_slices_q _); apply: leq_sum => q _.
  apply: rank_sum_zero => [k v vq|k].
    by rewrite fiber_support // (wP q).1 // mulr0 subrr.
  by rewrite sumrB -domainE -mulr_sumr (wP q).2 mulr1 subrr.
have part g : rank_le (fun k q v => w g v * (if group q == g then dom k q else 0))
                      (\rank (group_mx g)).
  apply: rank_le_mono (rank_le_outer_v (w g) _).
  have -> : mx_of (fun k q => if group q == g then dom k q else 0) =
      group_mx g *m mx_of (fun (s : {q | group q == g}) q => (val s == q)%:R).
    rewrite mx_of_mul; apply: mx_of_ext => k q; case: ifP => qg.
      rewrite (bigD1 (Sub q qg)) //= eqxx mulr1 big1 ?addr0 // => s sq.
      by rewrite (_ : (sval s == q) = false) ?mulr0 //; apply: contraNF sq => /eqP sE; rewrite -val_eqE /= sE.
    rewrite big1 // => s _; have [sq|_] := eqVneq (val s) q; last by rewrite mulr0.
    by have := valP s; rewrite /= sq qg.
  exact: mxrankM_maxl.
apply: rank_le_ext (rank_le_add rest (rank_le_sum part)) => k q v.
rewrite (bigD1 (group q)) //= eqxx big1 ?addr0 => [|g /negPf gq].
  by rewrite mulrC subrK.
by rewrite eq_sym gq mulr0.
Qed.

End ColumnPivot.

(* the same for keys *)
Corollary row_pivot (F : fieldType) (K Q V : finType) (D : database K Q V) (G : finType)
    (group : K -> G) (w : G -> V -> F) :
  let Dt : database Q K V := fun q k => D k q in
  (forall k, in_affine_hull Dt k (w (group k))) ->
  rank_le (tensor_of F D) (excess Dt + \sum_g \rank (group_mx F Dt group g)).
Proof.
move=> Dt wP; have := column_pivot wP.
exact: (proj1 (rank_le_swap (tensor_of F D) _)).
Qed.

(* Sharpness, at every size: on a constant table the bound is 1, and so is the rank. *)
Theorem column_pivot_constant (F : fieldType) (K Q : finType) :
  (0 < #|K|)%N -> (0 < #|Q|)%N ->
  let D : database K Q unit_finType := fun _ _ => Some tt in
  let group (q : Q) := tt in
  [/\ forall q, in_affine_hull D q (fun _ => 1 : F),
      (excess D + \sum_g \rank (group_mx F D group g) <= 1)%N & rank_is (tensor_of F D) 1].
Proof.
move=> K0 Q0 D group; have [_ _ rk] := domain_pivot_constant F K0 Q0.
have /card_gt0P [k0 _] := K0.
have VqE q : V_q D q = setT.
  by apply/setP => -[]; rewrite !inE; apply/existsP; exists k0.
split=> //.
  by move=> q; split=> [v|]; [rewrite VqE inE | rewrite (big_pred1 tt) // => -[]].
have -> : excess D = 0%N by rewrite /excess big1 // => q _; rewrite VqE cardsT card_unit.
rewrite add0n (big_pred1 tt) => [|[]] //.
apply: leq_trans (_ : #|unit_finType| <= 1)%N; last by rewrite card_unit.
apply: (rank_factor (u := fun _ _ => 1) (v := fun _ _ => 1)) => k q.
by rewrite (big_pred1 tt) => [|[]] //; rewrite mulr1.
Qed.

Print Assumptions column_pivot.
Print Assumptions row_pivot.
Print Assumptions column_pivot_constant.
