(* claim: wong/proposition-2.1@36305707aaab9c07, by proposition_2_1, slice_sums_at_most_triples.
   claim: wong/slice-ranks@db1663c32e818a51, by slice_rank_k, slice_rank_q.
   control: proposition_2_1_sharp, proposition_2_1_loose.
   rank(D) <= min(sum_k rank(D_k::), sum_q rank(D_:q:))
            = min(sum_k |V_k|, sum_q |V_q|) <= |D|, over every field. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor database.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Functions.
Variable F : fieldType.

(* the 0/1 matrix of a partial function has as rank the number of its values *)
Lemma rank_partial_function (A V : finType) (f : A -> option V) :
  \rank (mx_of (fun a v => (f a == Some v)%:R : F)) = #|[set v | [exists a, f a == Some v]]|.
Proof.
set S := [set v | _]; apply/eqP; rewrite eqn_leq; apply/andP; split.
  apply: rank_nonzero_cols => a v; rewrite inE negb_exists => /forallP /(_ a).
  by move=> /negPf ->.
have wit (s : {v | v \in S}) : exists a, f a == Some (val s).
  by have := valP s; rewrite inE => /existsP.
have [pre preP] := fin_all_exists wit.
pose sel := mx_of (fun (s : {v | v \in S}) a => (pre s == a)%:R : F).
pose inc := mx_of (fun v (s : {v | v \in S}) => (v == val s)%:R : F).
have selE : sel *m mx_of (fun a v => (f a == Some v)%:R) *m inc = 1%:M.
  rewrite !mx_of_mul -mx_of_id; apply: mx_of_ext => s s'.
  rewrite (bigD1 (val s')) //= eqxx mulr1 [X in _ + X]big1 => [|v vs]; last by rewrite (negPf vs) mulr0.
  rewrite (sum_pick (fun a => (f a == Some (val s'))%:R)) (eqP (preP s)) addr0.
  by rewrite (inj_eq Some_inj) val_eqE.
rewrite -(card_sig (mem S)) -(mxrank1 F #|_|) -selE.
by apply: leq_trans (mxrankM_maxl _ _) (mxrankM_maxr _ _).
Qed.

End Functions.

Section Proposition.
Variable F : fieldType.
Variables K Q V : finType.
Variable D : database K Q V.

Local Notation T := (tensor_of F D).

Theorem slice_rank_k k : \rank (slice_k T k) = #|V_k D k|.
Proof. exact: rank_partial_function. Qed.

Theorem slice_rank_q q : \rank (slice_q T q) = #|V_q D q|.
Proof. exact: (rank_partial_function F (fun k => D k q)). Qed.

Lemma card_triples : #|triples D| = (\sum_k \sum_q isSome (D k q))%N.
Proof.
rewrite pair_big /= -sum1dep_card (partition_big (fun x => x.1) predT) //=.
apply: eq_bigr => -[k q] _ /=; case Dkq: (D k q) => [v|] /=.
  rewrite (big_pred1 (k, q, v)) // => -[[k' q'] v'] /=.
  rewrite !xpair_eqE; have [->|_] := eqVneq k' k; last by rewrite andbF.
  have [->|_] := eqVneq q' q; last by rewrite /= andbF.
  by rewrite /= Dkq andbT eq_sym.
rewrite big_pred0 // => -[[k' q'] v'] /=; rewrite xpair_eqE.
have [->|_] := eqVneq k' k; last by rewrite andbF.
by have [->|_] := eqVneq q' q; rewrite /= ?andbF // Dkq.
Qed.

Lemma card_V_k_le k : (#|V_k D k| <= \sum_q isSome (D k q))%N.
Proof.
rewrite -slice_rank_k /slice_k; have <- : #|[set q | isSome (D k q)]| = (\sum_q isSome (D k q))%N.
  by rewrite -sum1dep_card [RHS](bigID (fun q => isSome (D k q))) /= [X in (_ + X)%N]big1 ?addn0;
    [apply: eq_bigr => q -> | move=> q /negPf ->].
by apply: rank_nonzero_rows => q v; rewrite inE /tensor_of; case: (D k q).
Qed.

Lemma card_V_q_le q : (#|V_q D q| <= \sum_k isSome (D k q))%N.
Proof.
rewrite -slice_rank_q /slice_q; have <- : #|[set k | isSome (D k q)]| = (\sum_k isSome (D k q))%N.
  by rewrite -sum1dep_card [RHS](bigID (fun k => isSome (D k q))) /= [X in (_ + X)%N]big1 ?addn0;
    [apply: eq_bigr => k -> | move=> k /negPf ->].
by apply: rank_nonzero_rows => k v; rewrite inE /tensor_of; case: (D k q).
Qed.

Theorem proposition_2_1 :
  [/\ rank_le T (minn (\sum_k \rank (slice_k T k)) (\sum_q \rank (slice_q T q))),
      minn (\sum_k \rank (slice_k T k)) (\sum_q \rank (slice_q T q)) =
        minn (\sum_k #|V_k D k|) (\sum_q #|V_q D q|) &
      (minn (\sum_k #|V_k D k|) (\sum_q #|V_q D q|) <= #|triples D|)%N].
Proof.
split.
- by rewrite /minn; case: ifP => _; [apply: rank_le_slices_k | apply: rank_le_slices_q].
- by congr minn; apply: eq_bigr => x _; rewrite ?slice_rank_k ?slice_rank_q.
by rewrite geq_min card_triples leq_sum // => k _; apply: card_V_k_le.
Qed.

(* the second inequality holds of each of the two sums *)
Theorem slice_sums_at_most_triples :
  (\sum_k #|V_k D k| <= #|triples D|)%N /\ (\sum_q #|V_q D q| <= #|triples D|)%N.
Proof.
rewrite card_triples; split; first by apply: leq_sum => k _; apply: card_V_k_le.
by rewrite exchange_big; apply: leq_sum => q _; apply: card_V_q_le.
Qed.

End Proposition.

(* Sharpness, at every size: if all objects are different, D(k, q) = (k, q), then
   the rank is |K| |Q|, and so are both sums and |D|. *)
Theorem proposition_2_1_sharp (F : fieldType) (K Q : finType) :
  let D : database K Q [finType of K * Q] := fun k q => Some (k, q) in
  rank_is (tensor_of F D) (#|K| * #|Q|) /\
  minn (\sum_k #|V_k D k|) (\sum_q #|V_q D q|) = (#|K| * #|Q|)%N.
Proof.
move=> D.
have lower s : rank_le (tensor_of F D) s -> (#|K| * #|Q| <= s)%N.
  move/flat_v_rank; have -> : flat_v (tensor_of F D) = 1%:M.
    rewrite -(mx_of_id F); apply: mx_of_ext => -[k q] [k' q'] /=.
    by rewrite eq_sym.
  by rewrite mxrank1 card_prod.
have [up eqr le] := proposition_2_1 F D.
have tr : #|triples D| = (#|K| * #|Q|)%N.
  by rewrite card_triples /=; under eq_bigr do rewrite sum1_card; rewrite sum_nat_const.
rewrite eqr in up; have low := lower _ up.
have mE : minn (\sum_k #|V_k D k|) (\sum_q #|V_q D q|) = (#|K| * #|Q|)%N.
  by apply/eqP; rewrite eqn_leq low -tr le.
by split=> //; split=> //; rewrite -mE.
Qed.

(* The bound can be loose: the constant table D(k, q) = v has rank 1, while both
   sums grow with the table. *)
Theorem proposition_2_1_loose (F : fieldType) (K Q : finType) :
  let D : database K Q unit_finType := fun k q => Some tt in
  rank_le (tensor_of F D) 1 /\
  ((0 < #|K|)%N -> (0 < #|Q|)%N ->
   minn (\sum_k #|V_k D k|) (\sum_q #|V_q D q|) = minn #|K| #|Q|).
Proof.
move=> D; split.
  do 3! exists (fun _ _ => 1); move=> k q v; rewrite big_ord1 !mulr1.
  by rewrite /tensor_of /D; case: v.
move=> /card_gt0P [k0 _] /card_gt0P [q0 _].
have VkE k : #|V_k D k| = 1%N.
  rewrite -[RHS](card_unit); apply: eq_card => v; rewrite !inE.
  by apply/existsP; exists q0; case: v.
have VqE q : #|V_q D q| = 1%N.
  rewrite -[RHS](card_unit); apply: eq_card => v; rewrite !inE.
  by apply/existsP; exists k0; case: v.
by under eq_bigr do rewrite VkE; rewrite sum1_card; under eq_bigr do rewrite VqE; rewrite sum1_card.
Qed.

Print Assumptions proposition_2_1.
Print Assumptions slice_rank_k.
Print Assumptions slice_rank_q.
Print Assumptions slice_sums_at_most_triples.
Print Assumptions proposition_2_1_sharp.
Print Assumptions proposition_2_1_loose.
