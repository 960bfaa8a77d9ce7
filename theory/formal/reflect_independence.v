(* The Kruskal rank by reflection: every set of k rows has a minor with an inverse
   modulo p, and there are no more rows, or no more columns. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import independent_rows reflect_integers reflect_rank.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* the sublists of k entries *)
Fixpoint sublists (k : nat) (s : seq nat) : seq (seq nat) :=
  match k, s with
  | 0%N, _ => [:: [::]]
  | _, [::] => [::]
  | k'.+1, x :: s' => [seq x :: t | t <- sublists k' s'] ++ sublists k s'
  end.

Lemma sublistsP k s t : subseq t s -> size t = k -> t \in sublists k s.
Proof.
elim: s k t => [|x s IH] [|k] [|y t] //=.
case: eqP => [->|_] st [sz]; rewrite mem_cat; last by rewrite IH ?orbT //= sz.
by apply/orP; left; apply: map_f; apply: IH.
Qed.

Definition subset_check p m n M (x : seq nat * seq nat * seq (seq Z)) :=
  [&& all (fun i => i < m)%N x.1.1, all (fun j => j < n)%N x.1.2, size x.1.2 == size x.1.1
    & inverse_mod p (size x.1.1) (minor M x.1.1 x.1.2) x.2].

Definition kruskal_check p m n k (d : Z) M (xs : seq (seq nat * seq nat * seq (seq Z))) :=
  [&& ~~ (d =? 0)%bZ, (k <= m)%N, (k == m) || (n <= k)%N,
      [seq x.1.1 | x <- xs] == sublists k (iota 0 m) & all (subset_check p m n M) xs].

Section Sound.
Variable F : numFieldType.

Lemma kruskal_sound p m n k d M xs : kruskal_check p m n k d M xs -> kruskal_is (qmx F m n d M) k.
Proof.
case/and5P => d0 km size_ok /eqP subs chk; split=> //.
  move=> S cS; pose I := [seq val x | x <- enum S].
  have sI : size I = k by rewrite size_map -cardE.
  have : I \in [seq x.1.1 | x <- xs].
    rewrite subs; apply: sublistsP => //; rewrite -(val_enum_ord m) /I.
    by apply: map_subseq; rewrite {1}/enum_mem -enumT; apply: filter_subseq.
  case/(nthP [::]) => i; rewrite size_map => ixs.
  pose x0 : seq nat * seq nat * seq (seq Z) := ([::], [::], [::]).
  rewrite (nth_map x0) // => xI.
  have /and4P[/(all_nthP 0%N) Im /(all_nthP 0%N) Jn /eqP sJ inv] := all_nthP x0 chk i ixs.
  set x := nth x0 xs i in xI Im Jn sJ inv; have /and4P[p1 _ _ _] := inv.
  have Jn' (j : 'I_(size x.1.1)) : (nth 0%N x.1.2 j < n)%N by apply: Jn; rewrite sJ.
  have sx : size x.1.1 = #|S| by rewrite xI size_map -cardE.
  pose f (i : 'I_(size x.1.1)) := cast_ord sx i.
  pose g (j : 'I_(size x.1.1)) := Ordinal (Jn' j).
  have subE : (zr F d)^-1 *: zmx F (size x.1.1) (size x.1.1) (minor M x.1.1 x.1.2) =
      mxsub f g (rows_in (qmx F m n d M) S).
    apply/matrixP => a b; rewrite !mxE mulrC /entry /row_at /minor -map_comp (nth_map 0%N) //=.
    rewrite (nth_map 0%N) ?sJ //; congr (zr F (nth _ (nth _ _ _) _) / _).
    have -> : nth 0%N x.1.1 a = nth 0%N I a by rewrite {1}xI.
    rewrite /I (nth_map (enum_val (f a))) -?cardE; last by rewrite -sx.
    by rewrite -(enum_val_nth (enum_val (f a)) (f a)).
  apply/eqP; rewrite eqn_leq; apply/andP; split; first by rewrite -[X in (_ <= X)%N]cS rank_leq_row.
  have dn : (zr F d)^-1 != 0 by rewrite invr_eq0 zr_eq0.
  apply: leq_trans (mxrank_mxsub f g _); rewrite -subE (mxrank_scale_nz _ dn).
  rewrite mxrank_unit; first by rewrite sx cS.
  by rewrite unitmxE unitfE (inverse_mod_det p1 F inv).
have [->|kn] := eqVneq k m; first by left.
right => any; have km' : (k.+1 <= m)%N by rewrite ltn_neqAle kn.
have nk : (n <= k)%N by move: size_ok; rewrite (negPf kn).
pose S := [set x in take k.+1 (enum 'I_m)].
have cS : #|S| = k.+1.
  rewrite cardsE (card_uniqP _) ?take_uniq ?enum_uniq // size_takel // size_enum_ord.
  by [].
have := any S cS; have := rank_leq_col (rows_in (qmx F m n d M) S) => le e.
by rewrite e in le; have := leq_trans le nk; rewrite ltnn.
Qed.
End Sound.

Print Assumptions kruskal_sound.
