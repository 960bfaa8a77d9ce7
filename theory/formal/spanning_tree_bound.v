(* claim: lemmax/spanning-tree-bound@0d9116b2a6c0daac, by spanning_tree_bound,
     minimum_spanning_tree_bound, spanning_tree_bound_q, spanning_tree_bound_v.
   control: spanning_tree_equal_slices, spanning_tree_needs_tree.
   The slices of a tensor in one mode and a root, the zero slice, are the vertices
   of a complete graph in which the edge ij weighs rank(S_i - S_j). The rank of the
   tensor is at most the weight of every spanning tree, so of a minimum one, and
   that is at most the sum of the ranks of the slices. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Tree.
Variable F : fieldType.
Variables K Q V : finType.
Variable T : tensor F K Q V.

(* the vertices: Some k is the slice of k, None is the root *)
Definition vertex_slice (x : option K) (q : Q) (v : V) : F :=
  if x is Some k then T k q v else 0.

(* A spanning tree, rooted at None, is given by the parent of every slice; the
   edges are k -- parent k. That it has no circle is witnessed by a depth. *)
Definition spanning_tree (parent : K -> option K) :=
  exists depth : option K -> nat, forall k, (depth (parent k) < depth (Some k))%N.

(* rank(S_i - S_j), and the weight of a tree *)
Definition edge_weight (x y : option K) : nat :=
  \rank (mx_of (fun q v => vertex_slice x q v - vertex_slice y q v)).

Definition tree_weight (parent : K -> option K) : nat :=
  (\sum_k edge_weight (Some k) (parent k))%N.

(* m is the weight of a minimum spanning tree *)
Definition minimum_weight (m : nat) :=
  (exists2 parent, spanning_tree parent & tree_weight parent = m) /\
  forall parent, spanning_tree parent -> (m <= tree_weight parent)%N.

Theorem spanning_tree_bound parent : spanning_tree parent -> rank_le T (tree_weight parent).
Proof.
move=> [depth depthP].
pose diff i q v := vertex_slice (Some i) q v - vertex_slice (parent i) q v.
have path k : exists c : K -> F, forall q v, T k q v = \sum_i c i * diff i q v.
  have [n] := ubnP (depth (Some k)); elim: n k => // n IH k; rewrite ltnS => kn.
  have diffE q v : T k q v = diff k q v + vertex_slice (parent k) q v.
    by rewrite /diff /= subrK.
  case parE: (parent k) => [j|].
    have [|c cP] := IH j; first by apply: leq_trans kn; rewrite -parE.
    exists (fun i => (k == i)%:R + c i) => q v; rewrite diffE parE /= cP.
    under [RHS]eq_bigr => i _ do rewrite mulrDl.
    by rewrite big_split /= (sum_pick (fun i => diff i q v)).
  exists (fun i => (k == i)%:R) => q v.
  by rewrite diffE parE /= addr0 (sum_pick (fun i => diff i q v)).
have [c cP] := fin_all_exists path.
have := rank_le_sum (fun i => rank_le_outer_k (fun k => c k i) (diff i)).
by apply: rank_le_ext => k q v; rewrite cP.
Qed.

(* the star: every slice is joined to the root *)
Lemma star_spanning : spanning_tree (fun=> None).
Proof. by exists (fun x => if x is Some _ then 1%N else 0%N). Qed.

Lemma star_weight : tree_weight (fun=> None) = (\sum_k \rank (slice_k T k))%N.
Proof.
by apply: eq_bigr => k _; congr mxrank; apply: mx_of_ext => q v; rewrite /= subr0.
Qed.

Theorem minimum_spanning_tree_bound m : minimum_weight m ->
  rank_le T m /\ (m <= \sum_k \rank (slice_k T k))%N.
Proof.
move=> [[parent tree <-] least]; split; first exact: spanning_tree_bound.
by rewrite -star_weight; apply/least/star_spanning.
Qed.

End Tree.

(* the same in the other two modes *)
Corollary spanning_tree_bound_q (F : fieldType) (K Q V : finType) (T : tensor F K Q V)
    (parent : Q -> option Q) : spanning_tree parent ->
  rank_le T (tree_weight (fun q k v => T k q v) parent).
Proof.
move=> tree.
exact: (proj1 (rank_le_swap T _) (spanning_tree_bound (fun q k v => T k q v) tree)).
Qed.

Corollary spanning_tree_bound_v (F : fieldType) (K Q V : finType) (T : tensor F K Q V)
    (parent : V -> option V) : spanning_tree parent ->
  rank_le T (tree_weight (fun v k q => T k q v) parent).
Proof.
move=> tree.
exact: (proj1 (rank_le_rot T _) (spanning_tree_bound (fun v k q => T k q v) tree)).
Qed.

(* It improves on the sum of the slice ranks by any factor: if all slices are equal
   to one matrix f, hang all but one on that one. *)
Theorem spanning_tree_equal_slices (F : fieldType) (K Q V : finType) (f : Q -> V -> F) (k0 : K) :
  let T : tensor F K Q V := fun _ => f in
  let parent k := if k == k0 then None else Some k0 in
  [/\ spanning_tree parent, tree_weight T parent = \rank (mx_of f) &
      (\sum_k \rank (slice_k T k) = #|K| * \rank (mx_of f))%N].
Proof.
move=> T parent; split.
- exists (fun x => if x is Some k then (if k == k0 then 1 else 2) else 0)%N => k.
  by rewrite /parent; case: (k == k0); rewrite ?eqxx.
- rewrite /tree_weight (bigD1 k0) //= /parent eqxx big1 ?addn0 => [|k /negPf ->].
    by congr mxrank; apply: mx_of_ext => q v; rewrite /= subr0.
  apply/eqP; rewrite mxrank_eq0; apply/eqP/matrixP => i j.
  by rewrite !mxE /= subrr.
by rewrite -sum_nat_const.
Qed.

(* Without the condition on circles the bound fails: if every slice is its own
   parent the weight is 0, while the tensor 1 has rank 1. *)
Theorem spanning_tree_needs_tree (F : fieldType) :
  let T : tensor F unit_finType unit_finType unit_finType := fun _ _ _ => 1 in
  tree_weight T (fun k => Some k) = 0%N /\ ~ rank_le T 0.
Proof.
move=> T; split.
  rewrite /tree_weight big1 // => k _; apply/eqP; rewrite mxrank_eq0; apply/eqP/matrixP => i j.
  by rewrite !mxE subrr.
by move=> [a [b [c TE]]]; have /eqP := TE tt tt tt; rewrite big_ord0 oner_eq0.
Qed.

Print Assumptions spanning_tree_bound.
Print Assumptions minimum_spanning_tree_bound.
Print Assumptions spanning_tree_bound_q.
Print Assumptions spanning_tree_bound_v.
Print Assumptions spanning_tree_equal_slices.
Print Assumptions spanning_tree_needs_tree.
