(* claim: lemmax/uniform-attention-no-xor@8f1eaa881f6646f0, by uniform_attention_no_xor.
   control: attention_memorizes_xor.
   Let D(a, f) = D(b, g) = v1 and D(a, g) = D(b, f) = v2 with v1 <> v2. No layer with
   W_QK^h = 0 in every head memorizes D by argmax, whatever the number of heads,
   the dimensions and the other weights. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor attention_layer.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Xor.
Variable R : realFieldType.
Variable exp : R -> R.
Hypothesis exp_gt0 : forall z, 0 < exp z.

(* the exclusive or of two subjects and two predicates *)
Definition is_xor n (D : 'I_n -> 'I_n -> option 'I_n) (a b f g v1 v2 : 'I_n) :=
  [/\ D a f = Some v1, D b g = Some v1, D a g = Some v2 & D b f = Some v2].

Theorem uniform_attention_no_xor n H d dqk dvo (A : layer R n H d dqk dvo)
    (V : {set 'I_n}) (D : 'I_n -> 'I_n -> option 'I_n) (a b f g v1 v2 : 'I_n) :
  v1 != v2 -> v1 \in V -> v2 \in V -> is_xor D a b f g v1 v2 ->
  (forall h, W_QK A h = 0) -> ~ memorizes exp A V D.
Proof.
move=> v12 v1V v2V [Daf Dbg Dag Dbf] uniform mem.
pose s k q := final_logits exp A k q v1 - final_logits exp A k q v2.
pose al := exp 0 / (exp 0 + exp 0).
have sE k q : s k q = \sum_h al * (W_VO A h k v1 - W_VO A h k v2) +
    (W_EU A q v1 - W_EU A q v2 + \sum_h (1 - al) * (W_VO A h q v1 - W_VO A h q v2)).
  rewrite /s !final_logitsE // opprD addrACA -sumrB [RHS]addrCA -big_split /=; congr (_ + _).
  apply: eq_bigr => h _; rewrite /attention_to_first uniform !mxE -/al.
  by rewrite opprD addrACA -!mulrBr.
have sum_eq : s a f + s b g = s a g + s b f by rewrite !sE addrACA [RHS]addrACA [X in _ + X]addrC.
have pos : 0 < s a f + s b g.
  by rewrite addr_gt0 // subr_gt0; [apply: (mem a f) | apply: (mem b g)]; rewrite // eq_sym.
have neg : s a g + s b f < 0.
  rewrite -oppr_gt0 opprD addr_gt0 // oppr_gt0 subr_lt0; first exact: (mem a g).
  exact: (mem b f).
by have := lt_trans neg pos; rewrite sum_eq ltxx.
Qed.

(* Attention is what is missing: one head with d_vo = 1 and attention that is not
   uniform memorizes the exclusive or, for any tokens with a, b, f, g different. *)
Section OneHead.
Variables (n : nat) (a b f g v1 v2 : 'I_n).
Hypotheses (ab : a != b) (fg : f != g) (af : a != f) (ag : a != g) (bf : b != f) (bg : b != g).
Hypothesis v12 : v1 != v2.

Definition xor_table (k q : 'I_n) : option 'I_n :=
  if ((k == a) && (q == f)) || ((k == b) && (q == g)) then Some v1 else
  if ((k == a) && (q == g)) || ((k == b) && (q == f)) then Some v2 else None.

Let p := exp 1 / (exp 1 + exp 0).
Let half := exp 0 / (exp 0 + exp 0).
Let E := - ((p + half) / 2%:R).

Let A : layer R n 1 n n 1 := Layer
  1%:M
  (\matrix_(i, v) ((((i == f) || (i == g)) && (v == v1))%:R * E))
  (fun _ => \matrix_(q, k) (((q == f) && (k == a)) || ((q == g) && (k == b)))%:R)
  (fun _ => 1%:M)
  (fun _ => \col_t (((t == a) || (t == b))%:R / E))
  (fun _ => delta_mx 0 f).

Theorem attention_memorizes_xor : exp 0 < exp 1 ->
  exists A : layer R n 1 n n 1,
    is_xor xor_table a b f g v1 v2 /\ memorizes exp A [set v1; v2] xor_table.
Proof.
move=> exp01.
have p_gt0 : 0 < p by rewrite divr_gt0 // addr_gt0.
have half_gt0 : 0 < half by rewrite divr_gt0 // addr_gt0.
have half_p : half < p.
  rewrite /half /p ltr_pdivr_mulr ?addr_gt0 // mulrAC ltr_pdivl_mulr ?addr_gt0 //.
  by rewrite !mulrDr [exp 1 * _]mulrC ltr_add2l ltr_pmul2l.
have E0 : E != 0 by rewrite oppr_eq0 mulf_neq0 ?invr_eq0 ?pnatr_eq0 // gt_eqF // addr_gt0.
have nab : (b == a) = false by rewrite eq_sym (negPf ab).
have ngf : (g == f) = false by rewrite eq_sym (negPf fg).
have nfa : (f == a) = false by rewrite eq_sym (negPf af).
have nfb : (f == b) = false by rewrite eq_sym (negPf bf).
have nga : (g == a) = false by rewrite eq_sym (negPf ag).
have ngb : (g == b) = false by rewrite eq_sym (negPf bg).
have EU q v : W_EU A q v = (((q == f) || (q == g)) && (v == v1))%:R * E.
  by rewrite /W_EU /= mul1mx mxE.
have QK q k : W_QK A 0 q k = (((q == f) && (k == a)) || ((q == g) && (k == b)))%:R.
  by rewrite /W_QK /= mul1mx mulmx1 trmx1 mulmx1 mxE.
have VO t v : W_VO A 0 t v = (((t == a) || (t == b)) && (v == v1))%:R.
  rewrite /W_VO /= mul1mx -mulmxA -rowE mxE big_ord1 !mxE eqxx /=.
  by case: (_ || _); rewrite ?mul0r //; case: (v == v1); rewrite /= ?mul1r ?mul0r ?mulr0 // mulVf.
exists A; split.
  by rewrite /is_xor /xor_table !eqxx /= (negPf ab) nab (negPf fg) ngf.
have L k q v : (k == a) || (k == b) -> (q == f) || (q == g) ->
    final_logits exp A k q v = (v == v1)%:R * (E + attention_to_first exp A 0 k q).
  move=> kK qQ; rewrite final_logitsE // big_ord1 EU !VO kK qQ /=.
  have -> : ((q == a) || (q == b)) = false.
    by case/orP: qQ => /eqP ->; rewrite ?nfa ?nfb ?nga ?ngb.
  by rewrite /= mulr0 addr0 mulrDr [_ * attention_to_first _ _ _ _ _]mulrC.
have al_p : attention_to_first exp A 0 a f = p /\ attention_to_first exp A 0 b g = p.
  by rewrite /attention_to_first !QK !eqxx nfa nfb nga ngb ?andbF ?orbT.
have al_half : attention_to_first exp A 0 a g = half /\ attention_to_first exp A 0 b f = half.
  by rewrite /attention_to_first !QK (negPf ab) nab (negPf fg) ngf nfa nfb nga ngb ?andbF.
have Ep : 0 < E + p.
  rewrite addrC subr_gt0 ltr_pdivr_mulr ?ltr0n // mulr_natr mulr2n ltr_add2l //.
have Eh : E + half < 0.
  by rewrite addrC subr_lt0 ltr_pdivl_mulr ?ltr0n // mulr_natr mulr2n ltr_add2r.
have only v' : v' \in [set v1; v2] -> v' != v2 -> v' = v1.
  by rewrite !inE => /orP [/eqP //|->].
move=> k q v; rewrite /xor_table.
case: ifP => [/orP [] /andP [/eqP -> /eqP ->] [<-] v' _ v'v|_].
- by rewrite !L ?eqxx ?orbT // (negPf v'v) mul0r mul1r al_p.1.
- by rewrite !L ?eqxx ?orbT // (negPf v'v) mul0r mul1r al_p.2.
case: ifP => [/orP [] /andP [/eqP -> /eqP ->] [<-] v' v'V /(only _ v'V) ->|//].
- by rewrite !L ?eqxx ?orbT // eq_sym (negPf v12) mul0r mul1r al_half.1.
- by rewrite !L ?eqxx ?orbT // eq_sym (negPf v12) mul0r mul1r al_half.2.
Qed.

End OneHead.
End Xor.

Print Assumptions uniform_attention_no_xor.
Print Assumptions attention_memorizes_xor.
