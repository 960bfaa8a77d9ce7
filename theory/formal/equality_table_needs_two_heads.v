(* claim: lemmax/equality-table-needs-two-heads@0fe57141641490c7, by equality_table_needs_two_heads.
   against: wong/equation-10@4233bd3d9075221f, by equation_10_fails.
   control: two_heads_memorize_equality.
   Let D(1, 1) = D(2, 2) = v1 and D(1, 2) = D(2, 1) = v2 <> v1. No layer with one head
   memorizes D by argmax, whatever its dimensions and weights; a layer with two
   heads does, on two tokens. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor database attention_layer.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Equality.
Variable R : realFieldType.
Variable exp : R -> R.
Hypothesis exp_gt0 : forall z, 0 < exp z.

(* the equality table on the tokens a and b *)
Definition is_equality n (D : 'I_n -> 'I_n -> option 'I_n) (a b v1 v2 : 'I_n) :=
  [/\ D a a = Some v1, D b b = Some v1, D a b = Some v2 & D b a = Some v2].

Theorem equality_table_needs_two_heads n d dqk dvo (A : layer R n 1 d dqk dvo)
    (V : {set 'I_n}) (D : 'I_n -> 'I_n -> option 'I_n) (a b v1 v2 : 'I_n) :
  v1 != v2 -> v1 \in V -> v2 \in V -> is_equality D a b v1 v2 -> ~ memorizes exp A V D.
Proof.
move=> v12 v1V v2V [Daa Dbb Dab Dba] mem.
pose s k q := final_logits exp A k q v1 - final_logits exp A k q v2.
pose x t := W_VO A 0 t v1 - W_VO A 0 t v2.
pose al k q := attention_to_first exp A 0 k q.
have al_gt0 k q : 0 < al k q by rewrite divr_gt0 // addr_gt0.
have sE k q : s k q = s q q + al k q * (x k - x q).
  have E k' : s k' q = (W_EU A q v1 - W_EU A q v2) + (al k' q * x k' + (1 - al k' q) * x q).
    rewrite /s !final_logitsE // !big_ord1 -/(al k' q) opprD addrACA; congr (_ + _).
    by rewrite opprD addrACA -!mulrBr.
  rewrite (E k) (E q); set c := _ - W_EU A q v2; rewrite -[RHS]addrA; congr (_ + _).
  have -> : al q q * x q + (1 - al q q) * x q = x q by rewrite -mulrDl addrC subrK mul1r.
  by rewrite mulrBl mul1r [al k q * (x k - x q)]mulrBr addrCA.
have spos q : D q q = Some v1 -> 0 < s q q.
  by move=> Dqq; rewrite subr_gt0; apply: (mem q q _ Dqq) => //; rewrite eq_sym.
have step k q : D q q = Some v1 -> D k q = Some v2 -> x k < x q.
  move=> Dqq Dkq; have : s k q < 0 by rewrite subr_lt0; apply: (mem k q _ Dkq).
  rewrite sE => neg; rewrite -subr_lt0 -(pmulr_rlt0 _ (al_gt0 k q)).
  by apply: lt_trans neg; rewrite ltr_addr spos.
by have := lt_trans (step a b Dbb Dab) (step b a Daa Dba); rewrite ltxx.
Qed.

(* Two heads suffice, with d_model = |T| = 2 and d_qk = d_vo = 1: the second head is
   uniform and takes back half of what the first one adds. *)
Definition equality_table (k q : 'I_2) : option 'I_2 := if k == q then Some 0 else Some 1.

Theorem two_heads_memorize_equality : exp (-1) < exp 0 ->
  exists A : layer R 2 2 2 1 1,
    is_equality equality_table 0 1 0 1 /\ memorizes exp A setT equality_table.
Proof.
move=> exp10.
pose lo := exp (-1) / (exp (-1) + exp 0).
have sum_gt0 : 0 < exp (-1) + exp 0 by rewrite addr_gt0.
have hiE : exp 0 / (exp 0 + exp (-1)) = 1 - lo.
  rewrite /lo [exp 0 + _]addrC -[X in X - _](divff (lt0r_neq0 sum_gt0)) -mulrBl.
  by rewrite addrAC subrr add0r.
have halfE z : exp z / (exp z + exp z) = 2%:R^-1.
  by rewrite -mulr2n -(mulr_natr (exp z) 2) invfM mulrA divff ?mul1r // gt_eqF.
pose gap := 2%:R^-1 - lo.
have gap_gt0 : 0 < gap.
  rewrite subr_gt0 /lo ltr_pdivr_mulr // mulrC ltr_pdivl_mulr ?ltr0n //.
  by rewrite mulr_natr mulr2n ltr_add2l.
pose A : layer R 2 2 2 1 1 := Layer
  1%:M
  (\matrix_(_, v) (if v == 0 then 2%:R^-1 else - 2%:R^-1))
  (fun h => if h == 0 then const_mx 1 else 0)
  (fun _ => - delta_mx 0 0)
  (fun h => \col_t ((if h == t then 1 else -1) / gap))
  (fun _ => delta_mx 0 0).
have two (i : 'I_2) : i = 0 \/ i = 1.
  by case: i => [[|[|//]] ?]; [left|right]; apply: val_inj.
have EU q v : W_EU A q v = if v == 0 then 2%:R^-1 else - 2%:R^-1.
  by rewrite /W_EU /= mul1mx mxE.
have QK0 q k : W_QK A 0 q k = if k == 0 then -1 else 0.
  rewrite /W_QK /= mul1mx trmx1 mulmx1 mxE big_ord1 !mxE mul1r /=.
  by case: (k == 0); rewrite ?oppr0.
have QK1 q k : W_QK A 1 q k = 0 by rewrite /W_QK /= mulmx0 !mul0mx mxE.
pose y (v : 'I_2) : R := if v == 0 then 2%:R^-1 else - 2%:R^-1.
have VO h t v : W_VO A h t v = if h == t then y v / gap else - (y v / gap).
  rewrite /W_VO /= mul1mx -mulmxA -rowE mxE big_ord1 !mxE -/(y v).
  by case: (h == t); rewrite ?mul1r ?mulN1r ?mulNr mulrC.
exists A; split=> //.
have al0 k q : attention_to_first exp A 0 k q =
    if k == q then 2%:R^-1 else if k == 0 then lo else 1 - lo.
  by rewrite /attention_to_first !QK0; have [->|->] := two k; have [->|->] := two q;
    rewrite /= ?halfE ?hiE.
have al1 k q : attention_to_first exp A 1 k q = 2%:R^-1.
  by rewrite /attention_to_first !QK1 halfE.
have hh : 2%:R^-1 + 2%:R^-1 = 1 :> R.
  by rewrite -mulr2n -(mulr_natr 2%:R^-1 2) mulVf ?pnatr_eq0.
have half2 : 1 - 2%:R^-1 = 2%:R^-1 :> R by rewrite -[X in X - _]hh addrK.
have LE k q v : final_logits exp A k q v = if k == q then y v else - y v.
  rewrite final_logitsE // !big_ord_recl big_ord0 addr0.
  have -> : lift ord0 ord0 = 1 :> 'I_2 by apply: val_inj.
  rewrite EU !VO al0 al1 -/(y v) half2; set u := y v / gap.
  have gu : gap * u = y v by rewrite /u mulrC divfK // gt_eqF.
  have lu : lo * u = 2%:R^-1 * u - y v by rewrite -gu -mulrBl /gap opprB addrC subrK.
  have l1u : (1 - lo) * u = 2%:R^-1 * u + y v.
    by rewrite -gu -mulrDl /gap addrA hh.
  have [->|->] := two k; have [->|->] := two q; rewrite /= ?half2 ?subKr ?mulrN.
  - by rewrite -opprD subrr addr0.
  - by rewrite lu l1u addNr addr0 opprD addrACA subrr add0r addNKr.
  - by rewrite lu l1u subrr addr0 opprD addrACA addNr add0r addNKr.
  - by rewrite -opprD addNr addr0.
have h0 : 0 < 2%:R^-1 :> R by rewrite invr_gt0 ltr0n.
have hN : - 2%:R^-1 < 2%:R^-1 :> R by rewrite (lt_trans _ h0) // oppr_lt0.
move=> k q v; rewrite /equality_table => Dkq v' _ v'v; rewrite !LE.
case: eqVneq Dkq => _ [ve]; move: v'v; rewrite -ve /y => v'v.
  by rewrite (negPf v'v).
have -> : v' = 0 by have [//|v1] := two v'; rewrite v1 in v'v.
by rewrite /= opprK.
Qed.

End Equality.

(* The condition of equation (10), min(sum_k |V_k|, sum_q |V_q|) <= d_model +
   n_heads d_head,vo, is not sufficient: on the equality table it holds for
   d_model = d_head,vo = 2 and one head, and no such layer memorizes the table. *)
Theorem equation_10_fails (R : realFieldType) (exp : R -> R) : (forall z, 0 < exp z) ->
  let D : database [finType of 'I_2] [finType of 'I_2] [finType of 'I_2] := equality_table in
  (minn (\sum_k #|V_k D k|) (\sum_q #|V_q D q|) <= 2 + 1 * 2)%N /\
  forall dqk (A : layer R 2 1 2 dqk 2), ~ memorizes exp A setT equality_table.
Proof.
move=> exp_gt0 D; split.
  rewrite geq_min; apply/orP; left.
  apply: leq_trans (_ : \sum_(k < 2) 2 <= _)%N; last by rewrite sum_nat_const card_ord.
  by apply: leq_sum => k _; rewrite -[X in (_ <= X)%N](card_ord 2) max_card.
move=> dqk A mem.
exact: (@equality_table_needs_two_heads R exp exp_gt0 2 2 dqk 2 A setT equality_table 0 1 0 1).
Qed.

Print Assumptions equality_table_needs_two_heads.
Print Assumptions two_heads_memorize_equality.
Print Assumptions equation_10_fails.
