(* Tensors with three modes, their slices and flattenings, and their rank.
   The rank of a tensor is the least number of simple tensors a (x) b (x) c
   that sum up to it (Wong 2025, footnote 3). Over an arbitrary field that
   number is not computed here but bounded: rank_le T r says that r terms
   suffice, rank_is T r that r is the least such number. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Matrices.
Variable F : fieldType.

(* the matrix of a function of two finite index sets *)
Definition mx_of (A B : finType) (f : A -> B -> F) : 'M[F]_(#|A|, #|B|) :=
  \matrix_(i, j) f (enum_val i) (enum_val j).

Lemma sum_enum (A : finType) (f : A -> F) :
  \sum_(i < #|A|) f (enum_val i) = \sum_a f a.
Proof. by rewrite -big_enum_val; apply: eq_bigl. Qed.

Lemma mx_of_mul (A B C : finType) (f : A -> B -> F) (g : B -> C -> F) :
  mx_of f *m mx_of g = mx_of (fun a c => \sum_b f a b * g b c).
Proof.
apply/matrixP => i j; rewrite !mxE -[RHS]sum_enum; apply: eq_bigr => k _.
by rewrite !mxE.
Qed.

Lemma mx_of_ext (A B : finType) (f g : A -> B -> F) :
  (forall a b, f a b = g a b) -> mx_of f = mx_of g.
Proof. by move=> fg; apply/matrixP => i j; rewrite !mxE. Qed.

Lemma mx_of_tr (A B : finType) (f : A -> B -> F) :
  (mx_of f)^T = mx_of (fun b a => f a b).
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.

Lemma mx_of_rank_tr (A B : finType) (f : A -> B -> F) :
  \rank (mx_of (fun b a => f a b)) = \rank (mx_of f).
Proof. by rewrite -mx_of_tr mxrank_tr. Qed.

Lemma mx_of_id (A : finType) : mx_of (fun a b : A => (a == b)%:R) = 1%:M.
Proof.
by apply/matrixP => i j; rewrite !mxE (inj_eq enum_val_inj).
Qed.

Lemma sum_pick (A : finType) (f : A -> F) a : \sum_b (a == b)%:R * f b = f a.
Proof.
rewrite (bigD1 a) //= eqxx mul1r big1 ?addr0 // => b /negPf ba.
by rewrite eq_sym ba mul0r.
Qed.

Lemma sum_sig (A : finType) (P : pred A) (f : A -> F) :
  \sum_(a | P a) f a = \sum_(s : {a | P a}) f (val s).
Proof.
rewrite (reindex_omap (val : {a | P a} -> A) insub) => [|a Pa]; last by rewrite insubT.
by apply: eq_bigl => s; rewrite (valP s) valK eqxx.
Qed.

(* a factorisation through an index set bounds the rank, and the rank is
   attained by a factorisation *)
Lemma rank_factor (A B I : finType) (f : A -> B -> F) (u : A -> I -> F) (v : I -> B -> F) :
  (forall a b, f a b = \sum_i u a i * v i b) -> (\rank (mx_of f) <= #|I|)%N.
Proof.
move=> fE; rewrite (mx_of_ext fE) -mx_of_mul.
exact: leq_trans (mxrankM_maxr _ _) (rank_leq_row _).
Qed.

Lemma factor_rank (A B : finType) (f : A -> B -> F) :
  exists (u : 'I_(\rank (mx_of f)) -> A -> F) (v : 'I_(\rank (mx_of f)) -> B -> F),
    forall a b, f a b = \sum_i u i a * v i b.
Proof.
exists (fun i a => col_base (mx_of f) (enum_rank a) i).
exists (fun i b => row_base (mx_of f) i (enum_rank b)) => a b.
have /matrixP /(_ (enum_rank a) (enum_rank b)) := mulmx_base (mx_of f).
by rewrite !mxE !enum_rankK => <-.
Qed.

(* the rank is at most the number of nonzero rows, or columns *)
Lemma rank_nonzero_rows (A B : finType) (f : A -> B -> F) (S : {set A}) :
  (forall a b, a \notin S -> f a b = 0) -> (\rank (mx_of f) <= #|S|)%N.
Proof.
move=> f0; rewrite -(card_sig (mem S)).
apply: (@rank_factor _ _ [finType of {a | a \in S}] _
  (fun a s => (a == val s)%:R) (fun s b => f (val s) b)) => a b.
have [aS|aS] := boolP (a \in S); last first.
  rewrite f0 // big1 // => s _; case: eqP => [aE|]; last by rewrite mul0r.
  by rewrite aE (valP s) in aS.
rewrite (bigD1 (Sub a aS)) //= eqxx mul1r big1 ?addr0 // => s /negPf sa.
case: eqP => [aE|]; last by rewrite mul0r.
by rewrite -val_eqE /= -aE eqxx in sa.
Qed.

Lemma rank_nonzero_cols (A B : finType) (f : A -> B -> F) (S : {set B}) :
  (forall a b, b \notin S -> f a b = 0) -> (\rank (mx_of f) <= #|S|)%N.
Proof. by move=> f0; rewrite -mx_of_rank_tr; apply: rank_nonzero_rows => b a /f0. Qed.

End Matrices.

Section Tensors.
Variable F : fieldType.

Definition tensor (K Q V : finType) := K -> Q -> V -> F.

(* T is a sum of r simple tensors *)
Definition rank_le (K Q V : finType) (T : tensor K Q V) (r : nat) :=
  exists (a : 'I_r -> K -> F) (b : 'I_r -> Q -> F) (c : 'I_r -> V -> F),
    forall k q v, T k q v = \sum_(i < r) a i k * b i q * c i v.

(* r is the rank of T *)
Definition rank_is (K Q V : finType) (T : tensor K Q V) (r : nat) :=
  rank_le T r /\ forall s, rank_le T s -> (r <= s)%N.

(* the slices T_k::, T_:q:, T_::v *)
Definition slice_k (K Q V : finType) (T : tensor K Q V) (k : K) := mx_of (fun q v => T k q v).
Definition slice_q (K Q V : finType) (T : tensor K Q V) (q : Q) := mx_of (fun k v => T k q v).
Definition slice_v (K Q V : finType) (T : tensor K Q V) (v : V) := mx_of (fun k q => T k q v).

(* the flattenings: one mode against the pair of the others *)
Definition flat_k (K Q V : finType) (T : tensor K Q V) :=
  mx_of (fun k (qv : Q * V) => T k qv.1 qv.2).
Definition flat_q (K Q V : finType) (T : tensor K Q V) :=
  mx_of (fun q (kv : K * V) => T kv.1 q kv.2).
Definition flat_v (K Q V : finType) (T : tensor K Q V) :=
  mx_of (fun v (kq : K * Q) => T kq.1 kq.2 v).

Section Basic.
Variables K Q V : finType.
Implicit Types T : tensor K Q V.

Lemma rank_le_ext T T' r :
  (forall k q v, T k q v = T' k q v) -> rank_le T r -> rank_le T' r.
Proof.
by move=> TT' [a [b [c TE]]]; exists a, b, c => k q v; rewrite -TT'.
Qed.

(* terms indexed by any finite set *)
Lemma rank_le_fin (I : finType) T (a : I -> K -> F) (b : I -> Q -> F) (c : I -> V -> F) :
  (forall k q v, T k q v = \sum_i a i k * b i q * c i v) -> rank_le T #|I|.
Proof.
move=> TE; exists (fun i => a (enum_val i)), (fun i => b (enum_val i)).
exists (fun i => c (enum_val i)) => k q v.
by rewrite TE -[LHS]sum_enum.
Qed.

Lemma rank_le0 : rank_le (fun _ _ _ => 0 : F) 0 (K := K) (Q := Q) (V := V).
Proof. by do 3! exists (fun _ _ => 0); move=> k q v; rewrite big_ord0. Qed.

Lemma rank_le_add T T' r r' : rank_le T r -> rank_le T' r' ->
  rank_le (fun k q v => T k q v + T' k q v) (r + r').
Proof.
move=> [a [b [c TE]]] [a' [b' [c' TE']]].
pose sum_ X (f : 'I_r -> X -> F) (f' : 'I_r' -> X -> F) (i : 'I_(r + r')) :=
  match split i with inl j => f j | inr j => f' j end.
exists (sum_ _ a a'), (sum_ _ b b'), (sum_ _ c c') => k q v.
rewrite TE TE' big_split_ord /=; congr (_ + _); apply: eq_bigr => i _.
  by rewrite /sum_ (unsplitK (inl i)).
by rewrite /sum_ (unsplitK (inr i)).
Qed.

Lemma rank_le_mono T r r' : (r <= r')%N -> rank_le T r -> rank_le T r'.
Proof.
move=> rr' rT; rewrite -(subnKC rr').
have r0 : rank_le (fun _ _ _ => 0 : F) (r' - r) (K := K) (Q := Q) (V := V).
  do 3! exists (fun _ _ => 0); move=> k q v; rewrite big1 // => i _.
  by rewrite mulr0.
by apply: rank_le_ext (rank_le_add rT r0) => k q v; rewrite addr0.
Qed.

Lemma rank_le_sum (I : finType) (T : I -> tensor K Q V) (r : I -> nat) :
  (forall i, rank_le (T i) (r i)) ->
  rank_le (fun k q v => \sum_i T i k q v) (\sum_i r i).
Proof.
move=> rT; rewrite -!big_enum /=.
apply: (rank_le_ext (T := fun k q v => \sum_(i <- enum I) T i k q v)).
  by move=> k q v; rewrite big_enum.
elim: (enum I) => [|i s IH]; rewrite ?big_nil ?big_cons.
  by apply: rank_le_ext rank_le0 => k q v; rewrite big_nil.
by apply: rank_le_ext (rank_le_add (rT i) IH) => k q v; rewrite big_cons.
Qed.

(* vector (x) matrix, in each of the three ways *)
Lemma rank_le_outer_k (a : K -> F) (f : Q -> V -> F) :
  rank_le (fun k q v => a k * f q v) (\rank (mx_of f)).
Proof.
have [u [w fE]] := factor_rank f.
exists (fun=> a), u, w => k q v; rewrite fE mulr_sumr; apply: eq_bigr => i _.
by rewrite mulrA.
Qed.

Lemma rank_le_outer_q (b : Q -> F) (f : K -> V -> F) :
  rank_le (fun k q v => b q * f k v) (\rank (mx_of f)).
Proof.
have [u [w fE]] := factor_rank f.
exists u, (fun=> b), w => k q v; rewrite fE mulr_sumr; apply: eq_bigr => i _.
by rewrite mulrA [b q * _]mulrC.
Qed.

Lemma rank_le_outer_v (c : V -> F) (f : K -> Q -> F) :
  rank_le (fun k q v => c v * f k q) (\rank (mx_of f)).
Proof.
have [u [w fE]] := factor_rank f.
exists u, w, (fun=> c) => k q v; rewrite fE mulr_sumr; apply: eq_bigr => i _.
by rewrite mulrC.
Qed.

(* the rank is at most the sum of the ranks of the slices, in each mode *)
Lemma rank_le_slices_k T : rank_le T (\sum_k \rank (slice_k T k)).
Proof.
have := rank_le_sum (fun k0 => rank_le_outer_k (fun k => (k == k0)%:R) (T k0)).
by apply: rank_le_ext => k q v; rewrite (sum_pick (fun k0 => T k0 q v)).
Qed.

Lemma rank_le_slices_q T : rank_le T (\sum_q \rank (slice_q T q)).
Proof.
have := rank_le_sum (fun q0 => rank_le_outer_q (fun q => (q == q0)%:R) (fun k v => T k q0 v)).
by apply: rank_le_ext => k q v; rewrite (sum_pick (fun q0 => T k q0 v)).
Qed.

Lemma rank_le_slices_v T : rank_le T (\sum_v \rank (slice_v T v)).
Proof.
have := rank_le_sum (fun v0 => rank_le_outer_v (fun v => (v == v0)%:R) (fun k q => T k q v0)).
by apply: rank_le_ext => k q v; rewrite (sum_pick (fun v0 => T k q v0)).
Qed.

(* the order of the modes does not matter *)
Lemma rank_le_rot T r : rank_le (fun v k q => T k q v) r <-> rank_le T r.
Proof.
split=> -[a [b [c TE]]].
  exists b, c, a => k q v; rewrite TE; apply: eq_bigr => i _.
  by rewrite -mulrA mulrC.
exists c, a, b => v k q; rewrite TE; apply: eq_bigr => i _.
by rewrite mulrC mulrA.
Qed.

Lemma rank_le_swap T r : rank_le (fun q k v => T k q v) r <-> rank_le T r.
Proof.
split=> -[a [b [c TE]]]; exists b, a, c => k q v; rewrite TE; apply: eq_bigr => i _;
  by rewrite [a i _ * _]mulrC.
Qed.

(* flattenings bound the rank from below *)
Lemma flat_k_rank T r : rank_le T r -> (\rank (flat_k T) <= r)%N.
Proof.
move=> [a [b [c TE]]]; rewrite -[X in (_ <= X)%N](card_ord r).
apply: (rank_factor (u := fun k i => a i k) (v := fun i qv => b i qv.1 * c i qv.2)).
by move=> k qv; rewrite TE; apply: eq_bigr => i _; rewrite mulrA.
Qed.

Lemma flat_q_rank T r : rank_le T r -> (\rank (flat_q T) <= r)%N.
Proof.
move=> [a [b [c TE]]]; rewrite -[X in (_ <= X)%N](card_ord r).
apply: (rank_factor (u := fun q i => b i q) (v := fun i kv => a i kv.1 * c i kv.2)).
by move=> q kv; rewrite TE; apply: eq_bigr => i _; rewrite mulrCA mulrA.
Qed.

Lemma flat_v_rank T r : rank_le T r -> (\rank (flat_v T) <= r)%N.
Proof.
move=> [a [b [c TE]]]; rewrite -[X in (_ <= X)%N](card_ord r).
apply: (rank_factor (u := fun v i => c i v) (v := fun i kq => a i kq.1 * b i kq.2)).
by move=> v kq; rewrite TE; apply: eq_bigr => i _; rewrite mulrC.
Qed.

End Basic.
End Tensors.
