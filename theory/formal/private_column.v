(* claim: lemmax/private-column@291053e3a7956d33, by private_column, private_row.
   control: private_column_needs_privacy.
   If no value of the query q0 is a value of another query, then over every field
   rank(D) = |V_q0| + rank(D'), where D' is D without the slice D_:q0:. The same
   holds for a key whose values are values of no other key. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor database proposition_2_1 substitution_with_restriction.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Column.
Variable F : fieldType.
Variables K Q V : finType.
Variable D : database K Q V.
Variable q0 : Q.

(* D without the slice of q0 *)
Definition drop_query : database K [finType of {q : Q | q != q0}] V := fun k q => D k (val q).

Local Notation T := (tensor_of F D).
Local Notation T' := (tensor_of F drop_query).

Lemma flat_v_rank_database : \rank (flat_v T) = #|\bigcup_q V_q D q|.
Proof.
rewrite /flat_v mx_of_rank_tr.
rewrite (rank_partial_function F (fun kq : K * Q => D kq.1 kq.2)).
apply: eq_card => v; rewrite !inE; apply/existsP/bigcupP => [[[k q] /= Dkq]|[q _]].
  by exists q => //; rewrite inE; apply/existsP; exists k.
by rewrite inE => /existsP [k Dkq]; exists (k, q).
Qed.

(* always: one more slice costs at most its rank *)
Lemma private_column_le r : rank_le T' r -> rank_le T (#|V_q D q0| + r).
Proof.
move=> [a [b [c TE]]]; rewrite -(slice_rank_q F).
pose b' i (q : Q) : F := if insub q is Some q' then b i q' else 0.
have r' : rank_le (fun k q v => \sum_(i < r) a i k * b' i q * c i v) r by exists a, b', c.
apply: rank_le_ext (rank_le_add (rank_le_outer_q (fun q => (q == q0)%:R) _) r') => k q v.
have [->|qq0] := eqVneq q q0.
  rewrite mul1r big1 ?addr0 // => i _; rewrite /b' insubF ?eqxx //.
  by rewrite mulr0 mul0r.
rewrite mul0r add0r -[RHS]/(T' k (Sub q qq0) v) TE; apply: eq_bigr => i _.
by rewrite /b' insubT.
Qed.

Hypothesis private : forall q, q != q0 -> [disjoint V_q D q0 & V_q D q].

Lemma private_column_ge r : rank_le T r -> exists2 s, rank_le T' s & (#|V_q D q0| + s <= r)%N.
Proof.
move=> rT.
pose inc (q' : {q : Q | q != q0}) (q : Q) : F := (val q' == q)%:R.
pose idK (k' k : K) : F := (k' == k)%:R.
have [s rs le] := substitution_with_restriction_v idK inc rT.
have TE k q' v : \sum_k' \sum_q idK k k' * inc q' q * T k' q v = T' k q' v.
  under eq_bigr => k' _ do under eq_bigr => q _ do rewrite -mulrA.
  under eq_bigr => k' _ do rewrite -mulr_sumr (sum_pick (fun q => T k' q v)).
  exact: (sum_pick (fun k' => T k' (val q') v)).
exists s; first exact: rank_le_ext TE rs.
have flatE : flat_v (fun k q' v => \sum_k' \sum_q idK k k' * inc q' q * T k' q v) = flat_v T'.
  by apply: mx_of_ext => v [k q'] /=; rewrite TE.
rewrite flatE flat_v_rank_database in le.
rewrite -(leq_add2r (\rank (flat_v T'))); apply: leq_trans le; rewrite addnAC leq_add2r.
have -> : \rank (flat_v T') = #|\bigcup_(q | q != q0) V_q D q|.
  rewrite /flat_v mx_of_rank_tr.
  rewrite (rank_partial_function F (fun kq => drop_query kq.1 kq.2)).
  apply: eq_card => v; rewrite !inE; apply/existsP/bigcupP => [[[k q] /= Dkq]|[q qq0]].
    by exists (val q); rewrite ?(valP q) // inE; apply/existsP; exists k.
  by rewrite inE => /existsP [k Dkq]; exists (k, Sub q qq0).
have -> : \bigcup_q V_q D q = V_q D q0 :|: \bigcup_(q | q != q0) V_q D q by rewrite (bigD1 q0).
rewrite cardsU.
rewrite (_ : _ :&: _ = set0) ?cards0 ?subn0 //; apply/setP => v; rewrite in_setI in_set0.
apply/negP => /andP [v0 /bigcupP [q qq0 vq]].
by have /disjoint_setI0/setP/(_ v) := private qq0; rewrite in_setI v0 vq in_set0.
Qed.

Theorem private_column s : rank_is T' s -> rank_is T (#|V_q D q0| + s).
Proof.
move=> [rs smin]; split; first exact: private_column_le.
move=> r /private_column_ge [s' rs' le]; apply: leq_trans le.
by rewrite leq_add2l smin.
Qed.

End Column.

Arguments drop_query [K Q V] D q0 _ _.

(* the same for a key: exchange the roles of K and Q *)
Section Row.
Variable F : fieldType.
Variables K Q V : finType.
Variable D : database K Q V.
Variable k0 : K.

Definition drop_key : database [finType of {k : K | k != k0}] Q V := fun k q => D (val k) q.

Theorem private_row s : (forall k, k != k0 -> [disjoint V_k D k0 & V_k D k]) ->
  rank_is (tensor_of F drop_key) s -> rank_is (tensor_of F D) (#|V_k D k0| + s).
Proof.
move=> private [rs smin].
pose Dt : database Q K V := fun q k => D k q.
have swapped r : rank_le (tensor_of F (drop_query Dt k0)) r <-> rank_le (tensor_of F drop_key) r.
  exact: (rank_le_swap (tensor_of F drop_key) r).
have [|rt tmin] := @private_column F Q K V Dt k0 private s.
  by split=> [|r /swapped /smin //]; apply/swapped.
have back r : rank_le (tensor_of F Dt) r <-> rank_le (tensor_of F D) r.
  exact: (rank_le_swap (tensor_of F D) r).
by split=> [|r /back /tmin //]; apply/back.
Qed.

End Row.

Arguments drop_key [K Q V] D k0 _ _.

(* Privacy is needed: two equal columns, a table of rank 1 in which each column
   has one value. *)
Theorem private_column_needs_privacy (F : fieldType) :
  let D : database unit_finType bool_finType unit_finType := fun _ _ => Some tt in
  rank_le (tensor_of F D) 1 /\
  (forall s, rank_le (tensor_of F (drop_query D false)) s -> (1 < #|V_q D false| + s)%N).
Proof.
move=> D; split.
  by do 3! exists (fun _ _ => 1); move=> k q []; rewrite big_ord1 !mulr1.
move=> s rs; have -> : #|V_q D false| = 1%N.
  rewrite -[RHS](card_unit); apply: eq_card => -[]; rewrite !inE.
  by apply/existsP; exists tt.
case: s rs => // -[a [b [c TE]]].
by have /eqP := TE tt (Sub true isT) tt; rewrite big_ord0 /tensor_of /= oner_eq0.
Qed.

Print Assumptions private_column.
Print Assumptions private_row.
Print Assumptions private_column_needs_privacy.
