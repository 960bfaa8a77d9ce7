(* claim: lemmax/domain-pivot@ddfa872cfa1c1344, by domain_pivot, domain_pivot_at.
   control: domain_pivot_constant.
   For every database and every field,
     rank(D) <= rank(Dom) + sum_v rank(D_::v) - max_v rank(D_::v),
   where Dom is the 0/1 matrix of the domain of D. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor database.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section DomainPivot.
Variable F : fieldType.
Variables K Q V : finType.
Variable D : database K Q V.

Local Notation T := (tensor_of F D).

(* the matrix of the domain *)
Definition domain_mx : 'M[F]_(#|K|, #|Q|) := mx_of (fun k q => (D k q != None)%:R).

Lemma domainE k q : (D k q != None)%:R = \sum_v T k q v :> F.
Proof.
rewrite /tensor_of; case: (D k q) => [v0|]; last by rewrite big1.
by rewrite (bigD1 v0) //= eqxx big1 ?addr0 // => v vv0; rewrite (_ : (Some v0 == Some v) = false) //;
  apply/negbTE; rewrite eq_sym.
Qed.

(* with any value as the pivot *)
Theorem domain_pivot_at v0 :
  rank_le T (\rank domain_mx + \sum_(v | v != v0) \rank (slice_v T v))%N.
Proof.
rewrite [X in (_ + X)%N]big_mkcond.
pose rest v' : tensor F K Q V := fun k q v =>
  if v' != v0 then ((v == v')%:R - (v == v0)%:R) * T k q v' else 0.
have rank_rest v' : rank_le (rest v') (if v' != v0 then \rank (slice_v T v') else 0%N).
  rewrite /rest; case: ifP => _; last by exact: rank_le0.
  exact: (rank_le_outer_v (fun v => (v == v')%:R - (v == v0)%:R) (fun k q => T k q v')).
have := rank_le_add (rank_le_outer_v (fun v => (v == v0)%:R) (fun k q => (D k q != None)%:R))
                    (rank_le_sum rank_rest).
apply: rank_le_ext => k q v; rewrite domainE /rest -big_mkcond /=.
under [X in _ + X]eq_bigr => v' _ do rewrite mulrBl.
rewrite sumrB -[X in _ + (_ - X)]mulr_sumr (bigD1 v0) //= mulrDr addrACA.
have [->|vv0] := eqVneq v v0.
  rewrite !mul1r big1 => [|v' vv']; first by rewrite addr0 subrr addr0.
  by rewrite eq_sym (negPf vv') mul0r.
rewrite !mul0r subrr add0r addr0 (bigD1 v) //= eqxx mul1r big1 ?addr0 //.
by move=> v' /andP [_ vv']; rewrite eq_sym (negPf vv') mul0r.
Qed.

Theorem domain_pivot :
  rank_le T (\rank domain_mx +
             (\sum_v \rank (slice_v T v) - \max_v \rank (slice_v T v)))%N.
Proof.
have [V0|V0] := posnP #|V|.
  apply: (rank_le_mono (leq0n _)); do 3! exists (fun _ _ => 0) => //; move=> k q v.
  by have := card0_eq V0 v.
have [v0 ->] := eq_bigmax (fun v => \rank (slice_v T v)) V0.
by have := domain_pivot_at v0; rewrite [in X in _ -> X](bigD1 v0) //= addKn.
Qed.

End DomainPivot.

(* On a constant table it gives the rank, 1, at every size; without the term
   rank(Dom) the bound would be 0, which is false. *)
Theorem domain_pivot_constant (F : fieldType) (K Q : finType) :
  (0 < #|K|)%N -> (0 < #|Q|)%N ->
  let D : database K Q unit_finType := fun _ _ => Some tt in
  [/\ \rank (domain_mx F D) = 1%N,
      (\sum_v \rank (slice_v (tensor_of F D) v) - \max_v \rank (slice_v (tensor_of F D) v) = 0)%N &
      rank_is (tensor_of F D) 1].
Proof.
move=> /card_gt0P [k0 _] /card_gt0P [q0 _] D.
have dom1 : \rank (domain_mx F D) = 1%N.
  apply/eqP; rewrite eqn_leq; apply/andP; split.
    apply: leq_trans (_ : #|unit_finType| <= 1)%N; last by rewrite card_unit.
    apply: (rank_factor (u := fun _ _ => 1) (v := fun _ _ => 1)) => k q.
    by rewrite (big_pred1 tt) => [|[]] //; rewrite mulr1.
  rewrite lt0n mxrank_eq0; apply/eqP => /matrixP /(_ (enum_rank k0) (enum_rank q0)).
  by rewrite !mxE => /eqP; rewrite oner_eq0.
have zero : (\sum_v \rank (slice_v (tensor_of F D) v) -
    \max_v \rank (slice_v (tensor_of F D) v) = 0)%N.
  by rewrite !(big_pred1 tt) => [|[]|[]] //; rewrite subnn.
split=> //; split.
  by have := domain_pivot F D; rewrite zero dom1.
case=> // -[a [b [c TE]]]; have /eqP := TE k0 q0 tt.
by rewrite big_ord0 /tensor_of /= oner_eq0.
Qed.

Print Assumptions domain_pivot_at.
Print Assumptions domain_pivot.
Print Assumptions domain_pivot_constant.
