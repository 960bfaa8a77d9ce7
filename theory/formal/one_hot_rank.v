(* claim: lemmax/feature-rank-exact@05b07ce43fbe8726 (attention to one token for each head of each example
     has the ceiling as its largest rank; that generic weights do as well is argued),
     by one_hot_attains, one_hot_ceiling.
   control: rado.
   Rado's theorem for vectors, with a defect, is proved first. For any contexts
   some choice of one token by each head of each example gives a matrix whose
   rank is the least of |T \ F| + rho(F) + (H - 1) delta(F), and no choice
   gives more. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor multi_head_attention.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Rado.
Variables (F : fieldType) (X I : finType) (m : nat).
Variable P : X -> I -> 'rV[F]_m.
Implicit Types (J : {set X}) (A : X -> {set I}).

(* the span of the vectors that the examples in J may choose *)
Definition span J A : 'M[F]_m := (\sum_(t in J) \sum_(i in A t) <<P t i>>)%MS.

Definition rado_condition r A := forall J, (r <= #|~: J| + \rank (span J A))%N.

Lemma span_sub J A (k : nat) (B : 'M[F]_(k, m)) :
  (forall t i, t \in J -> i \in A t -> (P t i <= B)%MS) -> (span J A <= B)%MS.
Proof.
move=> sub; apply/sumsmx_subP => t tJ; apply/sumsmx_subP => i iA.
by rewrite genmxE sub.
Qed.

Lemma in_span J A t i : t \in J -> i \in A t -> (P t i <= span J A)%MS.
Proof.
move=> tJ iA; rewrite /span (sumsmx_sup t) // (sumsmx_sup i) //.
by rewrite genmxE.
Qed.

Definition without A t0 x t := if t == t0 then A t :\ x else A t.

Lemma drop_one r A t0 x y : x != y -> rado_condition r A -> x \in A t0 -> y \in A t0 ->
  rado_condition r (without A t0 x) \/ rado_condition r (without A t0 y).
Proof.
move=> xy cond xA yA.
pose low z J := (#|~: J| + \rank (span J (without A t0 z)) < r)%N.
have none z : (forall J, ~~ low z J) -> rado_condition r (without A t0 z).
  by move=> h J; have := h J; rewrite /low -leqNgt.
have [/existsP [J1 l1]|/existsPn h] := boolP [exists J, low x J]; last by left; apply: none.
have [/existsP [J2 l2]|/existsPn h] := boolP [exists J, low y J]; last by right; apply: none.
exfalso.
have same z J : t0 \notin J -> span J (without A t0 z) = span J A.
  move=> tJ; rewrite /span; apply: eq_bigr => t tJ'; rewrite /without.
  by case: eqP tJ' => // ->; rewrite (negPf tJ).
have in1 : t0 \in J1.
  by apply: contraT => n1; move: l1; rewrite /low same // ltnNge cond.
have in2 : t0 \in J2.
  by apply: contraT => n2; move: l2; rewrite /low same // ltnNge cond.
set U := span J1 (without A t0 x) in l1; set V := span J2 (without A t0 y) in l2.
have join : (span (J1 :|: J2) A <= U + V)%MS.
  apply: span_sub => t i tJ iA.
  have [tE|ne] := eqVneq t t0.
    have [iE|ni] := eqVneq i x.
      apply: submx_trans (addsmxSr _ _); apply: in_span; rewrite ?tE //.
      by rewrite /without eqxx !inE iE xy -tE -iE.
    apply: submx_trans (addsmxSl _ _); apply: in_span; rewrite ?tE //.
    by rewrite /without eqxx !inE ni -tE.
  move: tJ; rewrite inE => /orP [tJ|tJ].
    by apply: submx_trans (addsmxSl _ _); apply: in_span; rewrite // /without (negPf ne).
  by apply: submx_trans (addsmxSr _ _); apply: in_span; rewrite // /without (negPf ne).
have meet : (span ((J1 :&: J2) :\ t0) A <= U :&: V)%MS.
  apply: span_sub => t i; rewrite !inE => /and3P [ne t1 t2] iA.
  by rewrite sub_capmx !in_span // /without (negPf ne).
have := leq_add (mxrankS join) (mxrankS meet); rewrite mxrank_sum_cap => rk.
have c1 := cond (J1 :|: J2); have c2 := cond ((J1 :&: J2) :\ t0).
have cards : (#|~: (J1 :|: J2)| + #|~: ((J1 :&: J2) :\ t0)| = (#|~: J1| + #|~: J2|).+1)%N.
  have i12 : t0 \in J1 :&: J2 by rewrite inE in1.
  have e1 := cardsC (J1 :|: J2); have e2 := cardsC ((J1 :&: J2) :\ t0).
  have e3 := cardsC J1; have e4 := cardsC J2.
  have e5 := cardsUI J1 J2; have e6 := cardsD1 t0 (J1 :&: J2); rewrite i12 in e6.
  move: e1 e2 e3 e4 e5 e6; move: #|~: (J1 :|: J2)| #|J1 :|: J2| #|~: _| #|_ :\ t0| => cu u cd d.
  move: #|~: J1| #|~: J2| #|J1| #|J2| #|J1 :&: J2| #|X| => ca cb a b i c e1 e2 e3 e4 e5 e6.
  apply/eqP; rewrite -(eqn_add2l (u + d)) addnACA e1 e2 addnS -addSn -[(u + d).+1]addnS.
  by rewrite -[d.+1]add1n -[X in (u + X)%N]/(true + d)%N -e6 e5 addnACA e3 e4.
have := leq_add c1 c2; rewrite addnACA cards => big.
have small := leq_add l1 l2.
have : (r + r < r + r)%N.
  apply: leq_ltn_trans (leq_trans big (leq_add (leqnn _) rk)) _.
  by apply: leq_trans small; rewrite addSn addnS !addSn ltnS addnACA.
by rewrite ltnn.
Qed.

Lemma rado_within r A : (forall t, A t != set0) -> rado_condition r A ->
  exists c : X -> I, (r <= \rank (\sum_t <<P t (c t)>>)%MS)%N.
Proof.
have [k le] := ubnP (\sum_t #|A t|); elim: k A le => // k IH A le ne cond.
have [/forallP single|/forallPn [t0]] := boolP [forall t, #|A t| <= 1]%N.
  have pick t : exists i, A t = [set i].
    by apply/cards1P; rewrite eqn_leq single card_gt0 ne.
  have [c cE] := fin_all_exists pick; exists c.
  apply: leq_trans (cond setT) _; rewrite setCT cards0 add0n mxrankS //.
  apply: span_sub => t i _; rewrite cE inE => /eqP ->.
  by rewrite (sumsmx_sup t) ?genmxE.
rewrite -ltnNge => /card_gt1P [x [y [xA yA xy]]].
have smaller z : z \in A t0 -> rado_condition r (without A t0 z) -> z \in [set x; y] ->
    exists c : X -> I, (r <= \rank (\sum_t <<P t (c t)>>)%MS)%N.
  move=> zA condz zxy; apply: (IH (without A t0 z)) => // [|t].
    rewrite -ltnS; apply: leq_trans le; rewrite ltnS.
    rewrite (bigD1 t0) //= [X in (_ < X)%N](bigD1 t0) //= {1}/without eqxx.
    rewrite (cardsD1 z (A t0)) zA add1n addSn ltnS leq_add2l.
    by rewrite leq_eqVlt (_ : _ == _) //; apply/eqP/eq_bigr => t /negPf tt; rewrite /without tt.
  rewrite /without; have [->|//] := eqVneq t t0.
  have [zx|zx] := eqVneq z x.
    by apply/set0Pn; exists y; rewrite !inE yA zx eq_sym xy.
  by apply/set0Pn; exists x; rewrite !inE xA eq_sym zx.
have [cx|cy] := drop_one xy cond xA yA.
  by apply: (smaller x) => //; rewrite !inE eqxx.
by apply: (smaller y) => //; rewrite !inE eqxx orbT.
Qed.
End Rado.

(* Rado's theorem for vectors, with a defect: if for every set J of examples
   r is at most |X \ J| plus the dimension of what the examples in J may
   choose, then some choice has rank at least r. *)
Theorem rado (F : fieldType) (X I : finType) (m : nat) (P : X -> I -> 'rV[F]_m) (r : nat) :
  (0 < #|I|)%N ->
  (forall J : {set X}, (r <= #|~: J| + \rank (\sum_(t in J) \sum_i <<P t i>>)%MS)%N) ->
  exists c : X -> I, (r <= \rank (\matrix_(k < #|X|) P (enum_val k) (c (enum_val k))))%N.
Proof.
move=> /card_gt0P [i0 _] cond.
have [t|J|c rc] := @rado_within _ _ _ _ P r (fun=> setT).
- by apply/set0Pn; exists i0; rewrite inE.
- apply: leq_trans (cond J) _; rewrite leq_add2l mxrankS // /span.
  apply/sumsmx_subP => t tJ; apply/sumsmx_subP => i _.
  by rewrite (sumsmx_sup t) // (sumsmx_sup i) ?inE.
exists c; apply: leq_trans rc _; apply: mxrankS; apply/sumsmx_subP => t _.
rewrite genmxE -[t]enum_rankK.
have -> : P (enum_val (enum_rank t)) (c (enum_val (enum_rank t))) =
  row (enum_rank t) (\matrix_(k < #|X|) P (enum_val k) (c (enum_val k))).
  by rewrite rowK.
exact: row_sub.
Qed.

Section OneHot.
Lemma sum_enum' (F : fieldType) (A : finType) (f : 'I_#|A| -> F) :
  \sum_a f (enum_rank a) = \sum_i f i.
Proof.
rewrite -(sum_enum (fun a => f (enum_rank a))); apply: eq_bigr => i _.
by rewrite enum_valK.
Qed.
Variable R : realFieldType.
Variables (X : finType) (n g d : nat).
Let H := g.+1.
Variable E : X -> 'M[R]_(n, d).

(* every head h of every example t attends to one token c t h only *)
Definition one_hot (c : X -> {ffun 'I_H -> 'I_n}) :=
  mx_of (fun t (hj : 'I_H * 'I_d) => E t (c t hj.1) hj.2).

Let P (t : X) (c : {ffun 'I_H -> 'I_n}) : 'rV[R]_#|[finType of 'I_H * 'I_d]| :=
  \row_k E t (c (enum_val k).1) (enum_val k).2.

Lemma one_hot_rows c :
  one_hot c = \matrix_(k < #|X|) P (enum_val k) (c (enum_val k)).
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.

Let S (J : {set X}) : 'M[R]_#|[finType of 'I_H * 'I_d]| := (\sum_(t in J) \sum_c <<P t c>>)%MS.

Lemma choice_in (J : {set X}) t c : t \in J -> (P t c <= S J)%MS.
Proof. by move=> tJ; rewrite /S (sumsmx_sup t) // (sumsmx_sup c) // genmxE. Qed.

Let h0 : 'I_H := ord0.
Let B (J : {set X}) := [finType of 'I_(rho E J) + {h : 'I_H | h != h0} * 'I_(delta E J)].

Lemma card_B J : #|B J| = (rho E J + g * delta E J)%N.
Proof.
rewrite card_sum card_prod !card_ord card_sig; congr (_ + _ * _)%N.
have := cardD1 h0 [pred h : 'I_H | true]; rewrite inE add1n.
rewrite (eq_card (_ : _ =i 'I_H)) ?card_ord // => -[->].
by apply: eq_card => h; rewrite !inE andbT.
Qed.

(* the span of all choices is, up to a change of basis, rho + (H - 1) delta dimensional *)
Lemma choices_span J : (rho E J + g * delta E J <= \rank (S J))%N.
Proof.
pose A1 := mx_of (fun (ti : X * 'I_n) j => if ti.1 \in J then E ti.1 ti.2 j else 0).
pose A2 := mx_of (fun (tik : X * ('I_n * 'I_n)) j =>
    if tik.1 \in J then E tik.1 tik.2.1 j - E tik.1 tik.2.2 j else 0).
pose C := mx_of (fun (b : B J) (hj : 'I_H * 'I_d) => match b with
  | inl a => row_base A1 a (enum_rank hj.2)
  | inr hb => (val hb.1 == hj.1)%:R * row_base A2 hb.2 (enum_rank hj.2) end).
have sub : (C <= S J)%MS.
  have [K1 K1E] : exists K, row_base A1 = K *m A1 by apply/submxP; rewrite eq_row_base.
  have [K2 K2E] : exists K, row_base A2 = K *m A2 by apply/submxP; rewrite eq_row_base.
  apply/row_subP => b; case bE : (enum_val b) => [a|[h s]].
    have -> : row b C = \sum_ti K1 a (enum_rank ti) *:
        (if ti.1 \in J then P ti.1 [ffun=> ti.2] else 0).
      apply/rowP => k; rewrite summxE !mxE bE K1E mxE -[LHS]sum_enum'.
      apply: eq_bigr => ti _; rewrite !mxE !enum_rankK; case: ifP => _; rewrite !mxE ?ffunE //.
    apply: summx_sub => ti _; apply: scalemx_sub; case: ifP => [tJ|_]; last exact: sub0mx.
    exact: choice_in.
  have -> : row b C = \sum_tik K2 s (enum_rank tik) *:
      (if tik.1 \in J then P tik.1 [ffun h' => if h' == val h then tik.2.1 else tik.2.2]
        - P tik.1 [ffun=> tik.2.2] else 0).
    apply/rowP => k; rewrite summxE !mxE bE K2E mxE -[X in _ * X]sum_enum' mulr_sumr.
    apply: eq_bigr => tik _; rewrite !mxE !enum_rankK mulrCA; congr (_ * _).
    case: ifP => _; rewrite !mxE ?mulr0 // !ffunE eq_sym.
    by case: ifP => _; rewrite ?mul1r // mul0r subrr.
  apply: summx_sub => tik _; apply: scalemx_sub; case: ifP => [tJ|_]; last exact: sub0mx.
  by apply: addmx_sub; rewrite ?eqmx_opp choice_in.
rewrite -card_B; apply: leq_trans (mxrankS sub); rewrite leq_eqVlt; apply/orP; left.
rewrite eq_sym; apply/inj_row_free => c /rowP c0.
pose x a := c 0 (enum_rank (inl a : B J)); pose y h s := c 0 (enum_rank (inr (h, s) : B J)).
have col h j : \sum_a x a * row_base A1 a j +
    \sum_hs y hs.1 hs.2 * ((val hs.1 == h)%:R * row_base A2 hs.2 j) = 0.
  have := c0 (enum_rank (h, enum_val j)); rewrite mxE [RHS]mxE; apply: etrans.
  rewrite -[RHS]sum_enum' big_sumType /=; congr (_ + _).
    by apply: eq_bigr => a _; rewrite [C _ _]mxE !enum_rankK /= enum_valK.
  by apply: eq_bigr => -[h1 s] _; rewrite [C _ _]mxE !enum_rankK /= enum_valK.
have other h' j : \sum_hs y hs.1 hs.2 * ((val hs.1 == val h')%:R * row_base A2 hs.2 j) =
    \sum_s y h' s * row_base A2 s j.
  rewrite -(pair_bigA _ (fun h1 s => y h1 s * ((val h1 == val h')%:R * row_base A2 s j))) /=.
  rewrite (bigD1 h') //= [X in _ + X]big1 ?addr0 => [|h1 ne].
    by apply: eq_bigr => s _; rewrite eqxx mul1r.
  by rewrite big1 // => s _; rewrite val_eqE (negPf ne) mul0r mulr0.
have x0 : \row_a x a = 0.
  have/row_free_inj := row_base_free A1; apply; rewrite mul0mx; apply/rowP => j.
  rewrite !mxE -[RHS](col h0 j) [X in _ + X]big1 ?addr0.
    by apply: eq_bigr => a _; rewrite mxE.
  by move=> -[h1 s] _; rewrite (negPf (valP h1)) mul0r mulr0.
have xa a : x a = 0 by have /rowP /(_ a) := x0; rewrite !mxE.
have y0 h' : \row_s y h' s = 0.
  have/row_free_inj := row_base_free A2; apply; rewrite mul0mx; apply/rowP => j.
  rewrite !mxE -[RHS](col (val h') j) [X in X + _]big1 ?add0r.
    by rewrite other; apply: eq_bigr => s _; rewrite mxE.
  by move=> a _; rewrite xa mul0r.
apply/rowP => b; rewrite mxE -[b]enum_valK; case: (enum_val b) => [a|[h' s]]; first exact: xa.
by have /rowP /(_ s) := y0 h'; rewrite !mxE.
Qed.

(* no choice exceeds the ceiling *)
Theorem one_hot_ceiling c (F : {set X}) :
  (\rank (one_hot c) <= #|~: F| + rho E F + H.-1 * delta E F)%N.
Proof.
have -> : one_hot c =
    mx_of (fun t (hj : 'I_H * 'I_d) => if t \in F then 0 else E t (c t hj.1) hj.2) +
    mx_of (fun t (hj : 'I_H * 'I_d) => if t \in F then E t (c t hj.1) hj.2 else 0).
  by apply/matrixP => i j; rewrite !mxE; case: ifP; rewrite ?add0r ?addr0.
apply: leq_trans (mxrank_add _ _) _; rewrite -addnA; apply: leq_add.
  by apply: rank_nonzero_rows => t hj; rewrite inE negbK => ->.
have [u [v vE]] := factor_rank (fun (ti : X * 'I_n) j => if ti.1 \in F then E ti.1 ti.2 j else 0).
have [u' [v' vE']] := factor_rank (fun (tik : X * ('I_n * 'I_n)) j =>
    if tik.1 \in F then E tik.1 tik.2.1 j - E tik.1 tik.2.2 j else 0).
rewrite -[X in (_ <= X)%N]card_B.
pose U t (b : B F) : R := match b with
  | inl a => u a (t, c t h0) | inr hs => u' hs.2 (t, (c t (val hs.1), c t h0)) end.
pose W (b : B F) (hj : 'I_H * 'I_d) : R := match b with
  | inl a => v a hj.2 | inr hs => (val hs.1 == hj.1)%:R * v' hs.2 hj.2 end.
apply: (rank_factor (u := U) (v := W)) => t [h j]; rewrite big_sumType /= /U /W.
have := vE (t, c t h0) j; rewrite /= => <-.
rewrite -(pair_bigA _ (fun (h1 : {h : 'I_H | h != h0}) s =>
  u' s (t, (c t (val h1), c t h0)) * ((val h1 == h)%:R * v' s j))) /=.
under eq_bigr => h1 _ do under eq_bigr => s _ do rewrite mulrCA.
under eq_bigr => h1 _ do rewrite -mulr_sumr -(vE' (t, (c t (val h1), c t h0)) j) /=.
have [->|hh0] := eqVneq h h0.
  by rewrite big1 ?addr0 // => h1 _; rewrite (negPf (valP h1)) mul0r.
rewrite (bigD1 (Sub h hh0)) //= eqxx mul1r [X in _ + (_ + X)]big1 ?addr0 => [|h1 ne].
  by case: ifP => _; rewrite ?addr0 // addrC subrK.
rewrite (_ : (sval h1 == h) = false) ?mul0r //.
by apply: contraNF ne => /eqP hE; rewrite -val_eqE /= hE.
Qed.

(* one-hot attention attains the ceiling *)
Theorem one_hot_attains (r : nat) : (0 < n)%N ->
  (forall F : {set X}, (r <= #|~: F| + rho E F + H.-1 * delta E F)%N) ->
  exists c, (r <= \rank (one_hot c))%N.
Proof.
move=> n0 cond; have [|J|c rc] := @rado _ _ _ _ P r.
- by rewrite card_ffun !card_ord expn_gt0 n0.
- by apply: leq_trans (cond J) _; rewrite -addnA leq_add2l choices_span.
by exists c; rewrite one_hot_rows.
Qed.
End OneHot.

Print Assumptions rado.
Print Assumptions one_hot_ceiling.
Print Assumptions one_hot_attains.
