(* claim: lemmax/effective-rank-block@72d152b3aaa60109, by effective_rank_block,
     effective_rank_block_rank, effective_rank_values.
   control: effective_rank_diagonal.
   Let K' x Q' be part of the domain of D and V' the set of values of D on it. The
   effective rank of D is at least rank(D restricted to K' x Q') + |V \ V'|, over
   every field; in particular it is at least |V|. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor database substitution_with_restriction.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section EffectiveRank.
Variable F : fieldType.
Variables K Q V : finType.
Variable D : database K Q V.

(* E represents D: it has the fibers of D on the domain of D (Wong, Section 2.1) *)
Definition represents (E : tensor F K Q V) :=
  forall k q, D k q != None -> forall v, E k q v = tensor_of F D k q v.

(* r is the effective rank: the least rank of a tensor that represents D *)
Definition effective_rank_is (r : nat) :=
  (exists2 E, represents E & rank_le E r) /\
  forall E s, represents E -> rank_le E s -> (r <= s)%N.

(* the values of D, and those of the block K' x Q' *)
Definition values : {set V} := [set v | [exists k, exists q, D k q == Some v]].
Definition block_values (K' : {set K}) (Q' : {set Q}) : {set V} :=
  [set v | [exists k in K', exists q in Q', D k q == Some v]].

(* D restricted to K' x Q' *)
Definition block (K' : {set K}) (Q' : {set Q}) :
    database [finType of {k | k \in K'}] [finType of {q | q \in Q'}] V :=
  fun k q => D (val k) (val q).
Arguments block K' Q' _ _ : clear implicits.

Theorem effective_rank_block (K' : {set K}) (Q' : {set Q}) (E : tensor F K Q V) r :
  (forall k q, k \in K' -> q \in Q' -> D k q != None) -> represents E -> rank_le E r ->
  exists2 s, rank_le (tensor_of F (block K' Q')) s &
    (s + #|values :\: block_values K' Q'| <= r)%N.
Proof.
move=> dom rep [a [b [c EE]]].
set O := values :\: _.
pose Y : 'M[F]_(#|[finType of {v | v \in O}]|, r) :=
  \matrix_(v, i) c i (val (enum_val v)).
pose A : 'M[F]_(#|V|, r) := \matrix_(v, i) c i (enum_val v).
have rankY : \rank Y = #|O|.
  have wit (v : {v | v \in O}) : exists kq : K * Q, D kq.1 kq.2 == Some (val v).
    have := valP v; rewrite inE => /andP [_]; rewrite inE => /existsP [k /existsP [q Dkq]].
    by exists (k, q).
  have [kq kqP] := fin_all_exists wit.
  pose N : 'M[F]_(r, #|[finType of {v | v \in O}]|) :=
    \matrix_(i, v) (a i (kq (enum_val v)).1 * b i (kq (enum_val v)).2).
  have YN : Y *m N = 1%:M.
    apply/matrixP => v v'; rewrite !mxE; set w := enum_val v'.
    have Dw : D (kq w).1 (kq w).2 = Some (val w) by apply/eqP/kqP.
    have := EE (kq w).1 (kq w).2 (val (enum_val v)); rewrite rep ?Dw // /tensor_of Dw => e.
    transitivity ((val w == val (enum_val v))%:R : F); last first.
      by rewrite val_eqE /w (inj_eq enum_val_inj) eq_sym.
    rewrite e; apply: eq_bigr => i _; rewrite !mxE mulrC //.
  apply/eqP; rewrite eqn_leq; apply/andP; split.
    by apply: leq_trans (rank_leq_row _) _; rewrite card_sig.
  rewrite -(card_sig (mem O)) -[X in (X <= _)%N](mxrank1 F) -YN.
  exact: mxrankM_maxl.
have [S [Z [cardS zeroS]]] := eliminate_columns Y A.
exists (r - #|O|)%N; last first.
  by rewrite subnK // -rankY rank_leq_col.
pose B v i := if v \in block_values K' Q' then (A - Z *m Y) (enum_rank v) i else 0.
have -> : (r - #|O|)%N = #|[finType of {i : 'I_r | i \in ~: S}]|.
  rewrite card_sig -rankY -cardS; have := cardsC S; rewrite card_ord => e.
  by rewrite -[X in (X - _)%N]e addKn.
apply: (@rank_le_fin F _ _ _ [finType of {i : 'I_r | i \in ~: S}] _
  (fun i k => a (val i) (val k)) (fun i q => b (val i) (val q)) (fun i v => B v (val i))).
move=> k q v; rewrite /tensor_of /block.
have kK := valP k; have qQ := valP q; have Dkq := dom _ _ kK qQ.
have [vB|vB] := boolP (v \in block_values K' Q'); last first.
  rewrite big1 => [|i _]; last by rewrite /B (negPf vB) mulr0.
  case: eqP => // Dv; case/negP: vB; rewrite inE.
  by apply/existsP; exists (val k); rewrite kK; apply/existsP; exists (val q); rewrite qQ Dv /=.
rewrite -[LHS]/(tensor_of F D (val k) (val q) v) -rep // EE.
rewrite -(sum_sig (fun i => i \in ~: S) (fun i => a i (val k) * b i (val q) * B v i)).
pose g i := a i (val k) * b i (val q).
have YO : \sum_i g i * (Z *m Y) (enum_rank v) i = 0.
  under eq_bigr => i _ do rewrite mxE mulr_sumr.
  rewrite exchange_big big1 //= => o _.
  have : \sum_i g i * Y o i = 0.
    pose w := val (enum_val o).
    have wO : w \in O by apply: valP.
    have := EE (val k) (val q) w; rewrite rep // /tensor_of.
    have -> : (D (val k) (val q) == Some w) = false.
      apply/negP => Dw; move: wO; rewrite inE => /andP [/negP nb _]; apply: nb; rewrite inE.
      by apply/existsP; exists (val k); rewrite kK; apply/existsP; exists (val q); rewrite qQ.
    by move=> e; rewrite [RHS](_ : 0 = false%:R) // e; apply: eq_bigr => i _; rewrite mxE.
  move=> e; under eq_bigr => i _ do rewrite mulrCA.
  by rewrite -mulr_sumr e mulr0.
transitivity (\sum_i g i * (A - Z *m Y) (enum_rank v) i).
  have AB i : (A - Z *m Y) (enum_rank v) i = A (enum_rank v) i - (Z *m Y) (enum_rank v) i.
    by rewrite [LHS]mxE; congr (_ + _); rewrite [LHS]mxE.
  under [RHS]eq_bigr => i _ do rewrite AB mulrBr.
  rewrite sumrB YO subr0; apply: eq_bigr => i _.
  by rewrite [A _ _]mxE enum_rankK.
rewrite (bigID (mem S)) /= big1 ?add0r => [|i iS]; last by rewrite zeroS // mulr0.
rewrite (eq_bigl (fun i => i \in ~: S)) => [|i]; last by rewrite inE.
by apply: eq_bigr => i _; rewrite /B vB.
Qed.

Corollary effective_rank_block_rank (K' : {set K}) (Q' : {set Q}) r s :
  (forall k q, k \in K' -> q \in Q' -> D k q != None) ->
  effective_rank_is r -> rank_is (tensor_of F (block K' Q')) s ->
  (s + #|values :\: block_values K' Q'| <= r)%N.
Proof.
move=> dom [[E rep rE] _] [_ smin].
have [s' rs' le] := effective_rank_block dom rep rE.
by apply: leq_trans le; rewrite leq_add2r smin.
Qed.

(* the empty block: at least the number of values *)
Corollary effective_rank_values r : effective_rank_is r -> (#|values| <= r)%N.
Proof.
move=> [[E rep rE] _].
have [|s _] := @effective_rank_block set0 set0 E r _ rep rE; first by move=> k q; rewrite inE.
have -> : block_values set0 set0 = set0.
  by apply/setP => v; rewrite !inE; apply/existsP => -[k]; rewrite inE.
by rewrite setD0; apply: leq_trans; rewrite leq_addl.
Qed.

End EffectiveRank.

(* The block must lie in the domain: the facts (k_i, q_i, v), i < n, have rank n and
   effective rank at most 1 (Wong, Example 2.4, at every size). *)
Theorem effective_rank_diagonal (F : fieldType) (n : nat) :
  let D : database [finType of 'I_n] [finType of 'I_n] unit_finType :=
    fun k q => if k == q then Some tt else None in
  rank_is (tensor_of F D) n /\ exists2 E, represents D E & rank_le (E : tensor F _ _ _) 1.
Proof.
move=> D.
have TE k q v : tensor_of F D k q v = (k == q)%:R.
  by rewrite /tensor_of /D; case: v; case: (k == q).
split; last first.
  exists (fun _ _ _ => 1) => [k q Dkq []|].
    by rewrite TE; move: Dkq; rewrite /D; case: (k == q).
  by do 3! exists (fun _ _ => 1); move=> k q v; rewrite big_ord1 !mulr1.
split.
  exists (fun i k => (k == i)%:R), (fun i q => (q == i)%:R), (fun _ _ => 1) => k q v.
  rewrite TE; under eq_bigr => i _ do rewrite mulr1.
  by rewrite (sum_pick (fun i => (q == i)%:R)) eq_sym.
move=> s /flat_k_rank; apply: leq_trans.
have : flat_k (tensor_of F D) *m mx_of (fun (x : 'I_n * unit) q => (x.1 == q)%:R) = 1%:M.
  rewrite /flat_k mx_of_mul -mx_of_id; apply: mx_of_ext => k q.
  rewrite (bigD1 (q, tt)) //= TE eqxx mulr1 big1 ?addr0 // => -[q' []] /= qq'.
  have /negPf -> : q' != q by apply: contraNneq qq' => ->.
  by rewrite mulr0.
move/(congr1 mxrank); rewrite mxrank1 => rk.
by rewrite -[X in (X <= _)%N](card_ord n) -[X in (X <= _)%N]rk mxrankM_maxl.
Qed.

Print Assumptions effective_rank_block.
Print Assumptions effective_rank_block_rank.
Print Assumptions effective_rank_values.
Print Assumptions effective_rank_diagonal.
