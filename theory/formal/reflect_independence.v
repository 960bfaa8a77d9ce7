(* The Kruskal rank by reflection: every set of k rows has a minor with an inverse
   modulo p; and there are no more rows, or no more columns, or k + 1 rows that
   are dependent. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import independent_rows reflect_integers reflect_rank reflect_reals reflect_matrices.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Delimit Scope Z_scope with bZ.
Delimit Scope Q_scope with bQ.
Local Open Scope nat_scope.
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

(* a combination of the rows, with a coefficient for each, that is zero: those in S suffice *)
Definition zero_combination m n (M : seq (seq Z)) (S : seq nat) (cs : seq Z) :=
  [&& uniq S, all (fun i => i < m)%N S, shaped m n M, size cs == m,
      has (fun x => ~~ (x =? 0)%bZ) cs, all (fun i => (i \in S) || (nth 0 cs i =? 0)%bZ) (iota 0 m)
    & all (fun j => (dot cs [seq nth 0%bZ r j | r <- M] =? 0)%bZ) (iota 0 n)].

Definition kruskal_check p m n k (d : Z) M (xs : seq (seq nat * seq nat * seq (seq Z)))
    (dependent : seq nat * seq Z) :=
  [&& ~~ (d =? 0)%bZ, (k <= m)%N,
      [|| k == m, (n <= k)%N
        | (size dependent.1 == k.+1) && zero_combination m n M dependent.1 dependent.2],
      [seq x.1.1 | x <- xs] == sublists k (iota 0 m) & all (subset_check p m n M) xs].

Section Sound.
Variable F : numFieldType.

Lemma dependent_sound m n (d : Z) M S cs : ~~ (d =? 0)%bZ -> zero_combination m n M S cs ->
  ~ any_independent (qmx F m n d M) (size S).
Proof.
move=> d0 /and5P[uS /allP Sm sM /eqP sc /and3P[nz out zero]] any.
pose X := [set i : 'I_m | val i \in S].
have cX : #|X| = size S.
  have -> : #|X| = size [seq val i | i <- enum X] by rewrite size_map -cardE.
  apply/perm_size/uniq_perm => // [|x]; first by rewrite map_inj_uniq ?enum_uniq //; apply: val_inj.
  apply/mapP/idP => [[i]|xS]; first by rewrite mem_enum inE => iS ->.
  by exists (Ordinal (Sm x xS)) => //; rewrite mem_enum inE.
pose v : 'rV[F]_#|X| := \row_(i < #|X|) zr F (nth 0%bZ cs (enum_val i)).
have vM : v *m rows_in (qmx F m n d M) X = 0.
  apply/matrixP => a j; rewrite !mxE.
  under eq_bigr => i _ do rewrite !mxE.
  rewrite -(big_enum_val (fun i : 'I_m => zr F (nth 0%bZ cs i) * (zr F (entry M i j) / zr F d))).
  have -> : \sum_(i : 'I_m | i \in X) zr F (nth 0%bZ cs i) * (zr F (entry M i j) / zr F d) =
      (\sum_(i < m) zr F (nth 0%bZ cs i) * zr F (entry M i j)) / zr F d.
    rewrite mulr_suml [RHS](bigID (mem X)) /= [X in _ + X]big1 ?addr0 => [|i].
      by apply: eq_bigr => i _; rewrite mulrA.
    rewrite inE => iS; have /allP/(_ (val i)) := out; rewrite mem_iota ltn_ord (negPf iS) /=.
    by move=> /(_ isT)/Z.eqb_eq ->; rewrite zr0 !mul0r.
  have [/eqP zM /(all_nthP [::]) rM] := andP sM.
  have := allP zero j; rewrite mem_iota ltn_ord => /(_ isT)/Z.eqb_eq/(congr1 (zr F)).
  rewrite (@dotE F m) ?size_map // zr0 => e; apply/eqP; rewrite mulf_eq0; apply/orP; left; apply/eqP.
  by rewrite -{}[RHS]e; apply: eq_bigr => i _; rewrite (nth_map [::]) ?zM.
have /eqP fr : \rank (rows_in (qmx F m n d M) X) == #|X| by rewrite (any X cX) cX.
have v0 : v = 0.
  have free : row_free (rows_in (qmx F m n d M) X) by apply/eqP.
  by apply: (row_free_inj free); rewrite vM mul0mx.
case/(has_nthP 0%bZ): nz => i; rewrite sc => im /negP; apply.
have [iS|iS] := boolP (i \in S); last first.
  by have /allP/(_ i) := out; rewrite mem_iota im (negPf iS) => /(_ isT).
have iX : Ordinal im \in X by rewrite inE.
have := congr1 (fun u : 'rV_#|X| => u 0 (enum_rank_in iX (Ordinal im))) v0.
by rewrite !mxE enum_rankK_in // => /eqP; rewrite zr_eq0.
Qed.

Lemma kruskal_sound p m n k d M xs dep :
  kruskal_check p m n k d M xs dep -> kruskal_is (qmx F m n d M) k.
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
case/or3P: size_ok => [|nk|/andP[/eqP sS /(dependent_sound d0)]]; rewrite ?(negPf kn) //; last first.
  by rewrite sS => /(_ any).
pose S := [set x in take k.+1 (enum 'I_m)].
have cS : #|S| = k.+1.
  rewrite cardsE (card_uniqP _) ?take_uniq ?enum_uniq // size_takel // size_enum_ord.
  by [].
have := any S cS; have := rank_leq_col (rows_in (qmx F m n d M) S) => le e.
by rewrite e in le; have := leq_trans le nk; rewrite ltnn.
Qed.
End Sound.

(* the same of a matrix of expressions that are rational *)
Section Word.
Variables (R : realFieldType) (exp : R -> R).
Definition rkruskal_check p m n k (L : rmat) xs dep :=
  let d := lcm_den L in let M := to_ints d L in
  rsame m n L (of_ints d M) && kruskal_check p m n k (Zpos d) M xs dep.

Lemma kruskal_wordE p m n k L xs dep : rkruskal_check p m n k L xs dep ->
  kruskal_is (mden exp m n L) k.
Proof. by case/andP => /(rsameE exp) -> /(kruskal_sound R); rewrite (of_intsE exp). Qed.
End Word.

Print Assumptions kruskal_sound.
