(* claim: lemmax/feature-rank-ceiling@a1b7202713650f47, by feature_rank_ceiling,
     feature_rank_ceiling_all.
   For all data and all weights, and for every set F of examples (in particular
   every union of groups of examples that share a context),
     rank(Z) <= |T \ F| + rho(F) + (H - 1) delta(F). *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor multi_head_attention.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Ceiling.
Variable R : realFieldType.
Variable exp : R -> R.
Hypothesis exp_gt0 : forall z, 0 < exp z.
Variables (X : finType) (n H d dh : nat).
Variables (E : X -> 'M[R]_(n, d)) (e : X -> 'cV[R]_d).
Variables W_K W_Q : 'I_H -> 'M[R]_(d, dh).

Local Notation feature := (feature exp E e W_K W_Q).
Local Notation theta := (theta exp E e W_K W_Q).

Lemma rank_features_in (F : {set X}) :
  (\rank (mx_of (fun t hj => if t \in F then feature t hj else 0%R)) <=
   rho E F + H.-1 * delta E F)%N.
Proof.
have [n0|n0] := posnP n.
  have -> : mx_of (fun t hj => if t \in F then feature t hj else 0) = 0.
    apply/matrixP => i j; rewrite !mxE; case: ifP => // _.
    by rewrite /feature big1 // => k _; have := ltn_ord k; rewrite [X in (_ < X)%N]n0.
  by rewrite mxrank0.
have [H0|H0] := posnP H.
  apply: leq_trans (rank_leq_col _) _.
  by rewrite card_prod !card_ord (_ : (H * d = 0)%N) // H0.
pose h0 := Ordinal H0.
have [u [v vE]] := factor_rank (fun (ti : X * 'I_n) j => if ti.1 \in F then E ti.1 ti.2 j else 0).
have [u' [v' vE']] := factor_rank (fun (tik : X * ('I_n * 'I_n)) j =>
    if tik.1 \in F then E tik.1 tik.2.1 j - E tik.1 tik.2.2 j else 0).
have -> : (rho E F + H.-1 * delta E F)%N =
    #|[finType of 'I_(rho E F) + {h : 'I_H | h != h0} * 'I_(delta E F)]|.
  rewrite card_sum card_prod !card_ord card_sig; congr (_ + _ * _)%N.
  rewrite -[in H.-1](card_ord H) (cardD1 h0) /=; apply: eq_card => h.
  by rewrite !inE andbT.
pose U t (i : 'I_(rho E F) + {h : 'I_H | h != h0} * 'I_(delta E F)) : R := match i with
  | inl a => if t \in F then \sum_i theta h0 t i * u a (t, i) else 0
  | inr hb => if t \in F then
      \sum_i \sum_k theta (val hb.1) t i * theta h0 t k * u' hb.2 (t, (i, k)) else 0 end.
pose W (i : 'I_(rho E F) + {h : 'I_H | h != h0} * 'I_(delta E F)) (hj : 'I_H * 'I_d) : R :=
  match i with
  | inl a => v a hj.2
  | inr hb => (val hb.1 == hj.1)%:R * v' hb.2 hj.2 end.
apply: (rank_factor (u := U) (v := W)) => t [h j].
rewrite big_sumType /= /U /W; case: ifP => tF; last first.
  by rewrite !big1 ?addr0 // => i _; rewrite mul0r.
have base : \sum_a (\sum_i theta h0 t i * u a (t, i)) * v a j = feature t (h0, j).
  rewrite /feature /=; under eq_bigr => a _ do rewrite mulr_suml.
  rewrite exchange_big; apply: eq_bigr => i _ /=.
  have := vE (t, i) j; rewrite /= tF => ->; rewrite mulr_sumr.
  by apply: eq_bigr => a _; rewrite mulrA.
have diff h' : \sum_b (\sum_i \sum_k theta h' t i * theta h0 t k * u' b (t, (i, k))) * v' b j =
    feature t (h', j) - feature t (h0, j).
  have -> : feature t (h', j) - feature t (h0, j) =
      \sum_i \sum_k theta h' t i * theta h0 t k * (E t i j - E t k j).
    have s1 h1 := theta_sum1 E e W_K W_Q exp_gt0 h1 t n0.
    under eq_bigr => i _ do under eq_bigr => k _ do rewrite mulrBr.
    under eq_bigr => i _ do rewrite sumrB.
    rewrite sumrB; congr (_ - _).
      apply: eq_bigr => i _ /=; rewrite -mulr_suml -mulr_sumr s1 mulr1 //.
    rewrite exchange_big; apply: eq_bigr => k _ /=.
    by under eq_bigr => i _ do rewrite -mulrA; rewrite -mulr_suml s1 mul1r.
  under eq_bigr => b _ do rewrite mulr_suml.
  rewrite exchange_big; apply: eq_bigr => i _ /=.
  under eq_bigr => b _ do rewrite mulr_suml.
  rewrite exchange_big; apply: eq_bigr => k _ /=.
  have := vE' (t, (i, k)) j; rewrite /= tF => ->; rewrite mulr_sumr.
  by apply: eq_bigr => b _; rewrite [RHS]mulrA.
rewrite base -(pair_bigA _ (fun (s : {h : 'I_H | h != h0}) b =>
  (\sum_i \sum_k theta (val s) t i * theta h0 t k * u' b (t, (i, k))) *
  ((val s == h)%:R * v' b j))) /=.
under eq_bigr => s _ do under eq_bigr => b _ do rewrite mulrCA.
under eq_bigr => s _ do rewrite -mulr_sumr diff.
have [->|hh0] := eqVneq h h0.
  rewrite big1 ?addr0 // => s _; by rewrite (negPf (valP s)) mul0r.
rewrite (bigD1 (Sub h hh0)) //= eqxx mul1r [X in _ + (_ + X)]big1.
  by rewrite addr0 addrC subrK.
move=> s sh; rewrite (_ : (sval s == h) = false) ?mul0r //.
by apply: contraNF sh => /eqP sE; rewrite -val_eqE /= sE.
Qed.

Theorem feature_rank_ceiling (F : {set X}) :
  (\rank (Z exp E e W_K W_Q) <= #|~: F| + rho E F + H.-1 * delta E F)%N.
Proof.
have -> : Z exp E e W_K W_Q = mx_of (fun t hj => if t \in F then 0 else feature t hj) +
                              mx_of (fun t hj => if t \in F then feature t hj else 0).
  by apply/matrixP => i j; rewrite !mxE; case: ifP; rewrite ?add0r ?addr0.
apply: leq_trans (mxrank_add _ _) _; rewrite -addnA; apply: leq_add; last exact: rank_features_in.
by apply: rank_nonzero_rows => t hj; rewrite inE negbK => ->.
Qed.

(* with F everything: rank(Z) <= rho + (H - 1) delta, and rank(Z) <= T with F empty *)
Corollary feature_rank_ceiling_all :
  (\rank (Z exp E e W_K W_Q) <= minn #|X| (rho E setT + H.-1 * delta E setT))%N.
Proof.
rewrite leq_min rank_leq_row /=; have := feature_rank_ceiling setT.
by rewrite setCT cards0.
Qed.

End Ceiling.

Print Assumptions feature_rank_ceiling.
Print Assumptions feature_rank_ceiling_all.
