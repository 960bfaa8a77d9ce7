(* The rank of a tensor by reflection. From above a decomposition over the
   integers and one denominator; from below a list of steps, each of which is a
   theorem about tensors: a flattening, a restriction, a substitution, a
   rotation of the modes, and the least transversal of a total database. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor database substitution_with_restriction saturated_table.
From lemmax Require Import reflect_integers reflect_rank.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* a tensor as a list of slices, each a list of rows *)
Definition cube := seq (seq (seq Z)).
Definition cell (T : cube) i j k : Z := entry (nth [::] T i) j k.

Definition table b c (f : nat -> nat -> Z) := mkseq (fun j => mkseq (f j) c) b.
Definition tab a b c (f : nat -> nat -> nat -> Z) : cube := mkseq (fun i => table b c (f i)) a.

Lemma table_entry b c f j k : (j < b)%N -> (k < c)%N -> entry (table b c f) j k = f j k.
Proof. by move=> jb kc; rewrite /entry /row_at nth_mkseq // nth_mkseq. Qed.

Lemma table_shaped b c f : shaped b c (table b c f).
Proof. by rewrite /shaped size_mkseq eqxx /= all_map; apply/allP => j _ /=; rewrite size_mkseq. Qed.

Lemma tab_cell a b c f i j k : (i < a)%N -> (j < b)%N -> (k < c)%N ->
  cell (tab a b c f) i j k = f i j k.
Proof. by move=> ia jb kc; rewrite /cell nth_mkseq // table_entry. Qed.

(* the tensor T / d in a field *)
Definition ztensor (F : fieldType) a b c (d : Z) (T : cube) : tensor F
    [finType of 'I_a] [finType of 'I_b] [finType of 'I_c] :=
  fun i j k => zr F (cell T i j k) / zr F d.
Arguments ztensor F (a b c)%nat_scope d%Z_scope T : clear implicits.

(* the database with the listed facts; the first fact about a pair counts *)
Fixpoint answer (facts : seq (nat * nat * nat)) (k q : nat) : option nat :=
  match facts with
  | [::] => None
  | (k', q', v) :: facts' => if (k' == k) && (q' == q) then Some v else answer facts' k q
  end.

Definition facts_db a b c (facts : seq (nat * nat * nat)) :
    database [finType of 'I_a] [finType of 'I_b] [finType of 'I_c] :=
  fun k q => obind insub (answer facts k q).
Arguments facts_db (a b c)%nat_scope facts : clear implicits.

(* every fact lies within the sizes, and no pair is asked about twice *)
Fixpoint facts_ok a b c (facts : seq (nat * nat * nat)) : bool :=
  match facts with
  | [::] => true
  | (k, q, v) :: facts' =>
      [&& (k < a)%N, (q < b)%N, (v < c)%N, answer facts' k q == None & facts_ok a b c facts']
  end.

Definition facts_cube a b c facts : cube :=
  mkseq (fun i => mkseq (fun j =>
    let v := answer facts i j in
    mkseq (fun k => if v == Some k then 1%bZ else 0%bZ) c) b) a.

Lemma facts_cubeE (F : fieldType) a b c facts i j k :
  tensor_of F (facts_db a b c facts) i j k = ztensor F a b c 1 (facts_cube a b c facts) i j k.
Proof.
rewrite /ztensor /cell /entry /row_at /facts_cube !nth_mkseq // /tensor_of /facts_db divr1.
case: answer => [v|] //=; case: insubP => /= [u _ uv|].
  rewrite -{}uv /= (_ : (Some u == Some k) = (u == k)) // (_ : (Some _ == _) = (val u == val k)) //.
  by rewrite val_eqE; case: eqP.
by case: eqP => // -[->]; rewrite ltn_ord.
Qed.

Lemma all_iota n (P : pred nat) : all P (iota 0 n) -> forall i : 'I_n, P i.
Proof. by move=> /allP H i; apply: H; rewrite mem_iota ltn_ord. Qed.

Section Bounds.
Variable F : numFieldType.
Local Notation ten a b c T := (fun (i : 'I_a) (j : 'I_b) (k : 'I_c) => zr F (cell T i j k)).

(* a submatrix of the flattening that keeps the first mode *)
Definition flat_minor (T : cube) (I : seq nat) (J : seq (nat * nat)) :=
  [seq let s := nth [::] T i in [seq entry s x.1 x.2 | x <- J] | i <- I].

Definition flat_check a b c (T : cube) p I J Nt :=
  [&& all (fun i => i < a)%N I, all (fun x => (x.1 < b) && (x.2 < c))%N J, size J == size I
    & inverse_mod p (size I) (flat_minor T I J) Nt].

Lemma flat_sound a b c T p I J Nt : flat_check a b c T p I J Nt ->
  (size I <= \rank (flat_k (ten a b c T)))%N.
Proof.
case/and4P => /(all_nthP 0%N) Ia /(all_nthP (0, 0)%N) Jbc /eqP sJ inv.
have /and4P[p1 sS _ _] := inv.
have Jl (l : 'I_(size I)) : (l < size J)%N by rewrite sJ.
have Jb (l : 'I_(size I)) : ((nth (0, 0)%N J l).1 < b)%N.
  by case/andP: (Jbc l (Jl l)).
have Jc (l : 'I_(size I)) : ((nth (0, 0)%N J l).2 < c)%N.
  by case/andP: (Jbc l (Jl l)).
pose f (i : 'I_(size I)) := enum_rank (Ordinal (Ia i (ltn_ord i))).
pose g (l : 'I_(size I)) := enum_rank (Ordinal (Jb l), Ordinal (Jc l)).
have subE : zmx F (size I) (size I) (flat_minor T I J) = mxsub f g (flat_k (ten a b c T)).
  apply/matrixP => i l; rewrite !mxE !enum_rankK /= /cell /entry /row_at.
  by rewrite (nth_map 0%N) // (nth_map (0, 0)%N) ?sJ.
apply: leq_trans (mxrank_mxsub f g _); rewrite -subE.
by rewrite mxrank_unit // unitmxE unitfE (inverse_mod_det p1 F inv).
Qed.

(* d T = L R, for the rows of the flattening; slice l of R is a matrix *)
Definition flat_le_check a b c (T : cube) r (d : Z) (L : seq (seq Z)) (Rs : cube) :=
  ~~ (d =? 0)%bZ &&
  all (fun i => all (fun j => all (fun k =>
    (d * cell T i j k =? foldr (fun l s => entry L i l * cell Rs l j k + s) 0 (iota 0 r))%bZ)
  (iota 0 c)) (iota 0 b)) (iota 0 a).

Lemma foldr_sum (f : nat -> Z) r :
  zr F (foldr (fun l s => f l + s)%bZ 0%bZ (iota 0 r)) = \sum_(l < r) zr F (f l).
Proof.
rewrite -(big_mkord xpredT (fun l => zr F (f l))) /index_iota subn0.
by elim: (iota 0 r) => [|l s IH] /=; rewrite ?big_nil // big_cons zrD IH.
Qed.

Lemma flat_le_sound a b c T r d L Rs : flat_le_check a b c T r d L Rs ->
  (\rank (flat_k (ten a b c T)) <= r)%N.
Proof.
case/andP => d0 /all_iota LR; rewrite -[X in (_ <= X)%N]card_ord.
have dn : zr F d != 0 by rewrite zr_eq0.
apply: (@rank_factor F _ _ [finType of 'I_r] _ (fun (i : 'I_a) (l : 'I_r) => zr F (entry L i l))
  (fun (l : 'I_r) (jk : 'I_b * 'I_c) => (zr F d)^-1 * zr F (cell Rs l jk.1 jk.2))) => i [j k] /=.
have /all_iota/(_ j)/all_iota/(_ k)/(zr_eqb F) := LR i.
rewrite zrM foldr_sum => dT; apply: (mulfI dn); rewrite dT mulr_sumr.
by apply: eq_bigr => l _; rewrite zrM [RHS]mulrCA mulVKf.
Qed.

(* the restriction of the second and the third mode *)
Definition transposed m n (X : seq (seq Z)) := table n m (fun j i => entry X i j).
Definition restricted b c (beta gamma : seq (seq Z)) (T : cube) : cube :=
  [seq times (times beta (transposed b c X)) gamma | X <- T].

Definition restrict_ok a b c b' c' (beta gamma : seq (seq Z)) (T : cube) :=
  [&& size T == a, shaped b' b beta & shaped c' c gamma].

Lemma restrictedE a b c b' c' beta gamma T (i : 'I_a) (j : 'I_b') (k : 'I_c') :
  restrict_ok a b c b' c' beta gamma T ->
  ten a b' c' (restricted b c beta gamma T) i j k =
  restrict (ten a b c T) (fun (y : 'I_b') (q : 'I_b) => zr F (entry beta y q))
    (fun (z : 'I_c') (v : 'I_c) => zr F (entry gamma z v)) i j k.
Proof.
case/and3P => /eqP sT sb sc; rewrite /cell /restricted (nth_map [::]) ?sT //.
set X := nth [::] T i; have st : shaped c b (transposed b c X) by apply: table_shaped.
have st1 : shaped b' c (times beta (transposed b c X)).
  have [/eqP zb _] := andP sb; rewrite /shaped size_map zb eqxx /= all_map.
  by apply/(all_nthP [::]) => r _ /=; rewrite size_map size_mkseq.
have /matrixP/(_ j k) := timesE F st1 sc; rewrite (timesE F sb st) {1}mxE => ->; rewrite mxE /restrict exchange_big /=; apply: eq_bigr => v _.
rewrite !mxE mulr_suml; apply: eq_bigr => q _.
by rewrite !mxE table_entry // /cell -/X mulrAC.
Qed.

(* the modes turned: T'_vkq = T_kqv *)
Definition rotated a b c (T : cube) : cube := tab c a b (fun v k q => cell T k q v).

Lemma rotatedE a b c T (v : 'I_c) (k : 'I_a) (q : 'I_b) :
  ten c a b (rotated a b c T) v k q = ten a b c T k q v.
Proof. by rewrite /rotated tab_cell. Qed.

(* no set with fewer than h elements meets all the sets *)
Fixpoint unhit (h : nat) (sets : seq (seq nat)) : bool :=
  match h, sets with
  | 0%N, _ => true
  | h'.+1, [::] => false
  | h'.+1, s :: _ => all (fun v => unhit h' [seq t <- sets | v \notin t]) s
  end.

Lemma unhit_sound h sets (S : seq nat) : uniq S -> unhit h sets ->
  (forall s, s \in sets -> exists2 v, v \in S & v \in s) -> (h <= size S)%N.
Proof.
elim: h sets S => // h IH [|s sets] S uS // un0 meet.
have /allP un : all (fun v => unhit h [seq t <- s :: sets | v \notin t]) s := un0.
have [v vS vs] := meet s (mem_head _ _).
have vS1 : (size S = (size (rem v S)).+1)%N.
  by rewrite size_rem // prednK // -has_predT; apply/hasP; exists v.
rewrite vS1 ltnS; apply: IH (rem_uniq v uS) (un v vs) _ => t; rewrite mem_filter => /andP[vt ts].
have [w wS wt] := meet t ts; exists w => //; rewrite mem_rem_uniq // !inE wS andbT.
by apply: contraNneq vt => <-.
Qed.

(* the values of each query, and what a total database is *)
Definition values_of a (facts : seq (nat * nat * nat)) q : seq nat :=
  pmap (fun k => answer facts k q) (iota 0 a).

Definition total_check a b c (facts : seq (nat * nat * nat)) :=
  all (fun k => all (fun q => if answer facts k q is Some v then (v < c)%N else false) (iota 0 b))
    (iota 0 a).

Lemma transversal_bound a b c facts h s :
  (0 < a)%N -> total_check a b c facts -> unhit h [seq values_of a facts q | q <- iota 0 b] ->
  rank_le (tensor_of F (facts_db a b c facts)) s ->
  (\rank (flat_k (tensor_of F (facts_db a b c facts))) + h <= s + 1)%N.
Proof.
move=> a0 /all_iota tot un rs; set D := facts_db a b c facts in rs *.
have answerP (k : 'I_a) (q : 'I_b) : exists2 v : 'I_c, answer facts k q = Some (val v) & D k q = Some v.
  have /all_iota/(_ q) := tot k.
  by rewrite /D /facts_db; case: answer => // v vc; exists (Ordinal vc); rewrite //= insubT.
have Dtot : total D by move=> k q; have [v _ ->] := answerP k q; exists v.
have [w wP wle] := pivots_lower Dtot (Ordinal a0) rs.
have [S trS Sle] := transversal_of_pivots wP.
apply: leq_trans wle; rewrite leq_add2l; apply: leq_trans Sle.
rewrite cardE -(size_map val); apply: unhit_sound un _.
  by rewrite map_inj_uniq ?enum_uniq //; apply: val_inj.
move=> s0 /mapP[q]; rewrite mem_iota /= add0n => qb {s0}->.
have [v vS] := trS (Ordinal qb); rewrite inE => /existsP[k /eqP Dk].
exists (val v); first by apply: map_f; rewrite mem_enum.
rewrite /values_of mem_pmap; apply/mapP; exists (val k); first by rewrite mem_iota ltn_ord.
by have [v' -> ] := answerP k (Ordinal qb); rewrite Dk => -[->].
Qed.

(* a proof that the rank of a tensor is at least some number *)
Inductive lower :=
  (* a minor of the flattening that keeps the first mode *)
  | Flattening (p : Z) (I : seq nat) (J : seq (nat * nat)) (Nt : seq (seq Z))
  (* turn the modes *)
  | Rotation (rest : lower)
  (* apply linear maps to the second and to the third mode *)
  | Restriction (b' c' : nat) (beta gamma : seq (seq Z)) (rest : lower)
  (* the same, gaining rank(before) - rank(after) of the flattenings *)
  | Substitution (b' c' : nat) (beta gamma : seq (seq Z))
      (p : Z) (I : seq nat) (J : seq (nat * nat)) (Nt : seq (seq Z))
      (after : nat) (d : Z) (L : seq (seq Z)) (Rs : cube) (rest : lower).

(* gain x + s - t, never with x - t first *)
Fixpoint bound a b c (T : cube) (l : lower) : option nat :=
  match l with
  | Flattening p rs cs Nt => if flat_check a b c T p rs cs Nt then Some (size rs) else None
  | Rotation rest => bound c a b (rotated a b c T) rest
  | Restriction b' c' beta gamma rest =>
      if restrict_ok a b c b' c' beta gamma T
      then bound a b' c' (restricted b c beta gamma T) rest else None
  | Substitution b' c' beta gamma p rs cs Nt after d L Rs rest =>
      let T' := restricted b c beta gamma T in
      if [&& restrict_ok a b c b' c' beta gamma T, flat_check a b c T p rs cs Nt
           & flat_le_check a b' c' T' after d L Rs]
      then obind (fun s => Some (size rs + s - after)%N) (bound a b' c' T' rest) else None
  end.

Lemma flat_k_ext (K Q V : finType) (X Y : tensor F K Q V) :
  (forall k q v, X k q v = Y k q v) -> flat_k X = flat_k Y.
Proof. by move=> XY; apply: mx_of_ext => k qv; rewrite XY. Qed.

Lemma bound_sound a b c T l r s : bound a b c T l = Some r -> rank_le (ten a b c T) s -> (r <= s)%N.
Proof.
elim: l a b c T r s => [p I J Nt|rest IH|b' c' be ga rest IH|b' c' be ga p I J Nt af d L Rs rest IH]
  a b c T r s /=.
- case: ifP => // /flat_sound lo [<-] /flat_k_rank; exact: leq_trans.
- move/IH => H rT; apply: H; apply/(@rank_le_rot F [finType of 'I_a] [finType of 'I_b] [finType of 'I_c]).
  by apply: rank_le_ext rT => k q v; rewrite rotatedE.
- case: ifP => // ok /IH H [A [B [C TE]]]; apply: H.
  apply: (rank_le_ext (fun i j k => esym (restrictedE i j k ok))).
  exists A, (fun l (y : 'I_b') => \sum_(q < b) zr F (entry be y q) * B l q).
  exists (fun l (z : 'I_c') => \sum_(v < c) zr F (entry ga z v) * C l v) => k y z; rewrite /restrict.
  under eq_bigr => q _ do under eq_bigr => v _ do rewrite TE mulr_sumr.
  under eq_bigr => q _ do rewrite exchange_big /=.
  rewrite exchange_big /=; apply: eq_bigr => i _.
  rewrite -mulrA mulr_suml mulr_sumr; apply: eq_bigr => q _.
  rewrite !mulr_sumr; apply: eq_bigr => v _.
  by rewrite -[A i k * _ * _]mulrA mulrCA mulrACA.
case: ifP => // /and3P[ok lo up] ; case E: bound => [t|] //= [<-] rT.
have [s' rs' le] := substitution_with_restriction
     (fun (y : 'I_b') (q : 'I_b) => zr F (entry be y q))
     (fun (z : 'I_c') (v : 'I_c) => zr F (entry ga z v)) rT.
have ts' : (t <= s')%N.
  by apply: IH E _; apply: rank_le_ext rs' => i j k; rewrite -restrictedE.
rewrite leq_subLR [X in (_ <= X)%N]addnC.
apply: leq_trans (leq_add (flat_sound lo) ts') (leq_trans le _); rewrite leq_add2l.
rewrite -(flat_k_ext (fun i j k => restrictedE i j k ok)).
exact: flat_le_sound up.
Qed.

(* a decomposition: for each term an integer vector for each mode; d T = d' (sum of terms) *)
Definition decomposition := seq (seq Z * seq Z * seq Z).

Definition decomposes a b c (d : Z) (T : cube) (d' : Z) (terms : decomposition) :=
  [&& ~~ (d =? 0)%bZ, ~~ (d' =? 0)%bZ &
  all (fun i =>
    let ti := [seq (nth 0 t.1.1 i * d, t.1.2, t.2)%bZ | t <- terms] in
    all (fun j =>
      let tij := [seq (t.1.1 * nth 0 t.1.2 j, t.2)%bZ | t <- ti] in
      all (fun k =>
        (d' * cell T i j k =? foldr (fun t s => t.1 * nth 0 t.2 k + s) 0 tij)%bZ)
    (iota 0 c)) (iota 0 b)) (iota 0 a)].

Lemma decomposes_sound a b c d T d' terms :
  decomposes a b c d T d' terms -> rank_le (ztensor F a b c d T) (size terms).
Proof.
case/and3P => d0 d'0 /all_iota ok.
have dn : zr F d != 0 by rewrite zr_eq0.
have d'n : zr F d' != 0 by rewrite zr_eq0.
pose at_ l := nth ([::], [::], [::]) terms l.
exists (fun l (i : 'I_a) => zr F (nth 0%bZ (at_ l).1.1 i) / zr F d').
exists (fun l (j : 'I_b) => zr F (nth 0%bZ (at_ l).1.2 j)).
exists (fun l (k : 'I_c) => zr F (nth 0%bZ (at_ l).2 k)) => i j k.
have /all_iota/(_ j)/all_iota/(_ k)/(zr_eqb F) := ok i.
rewrite zrM -!map_comp => TE; rewrite /ztensor; apply: (mulfI d'n); rewrite mulrA TE.
have -> : zr F (foldr (fun t s => t.1 * nth 0 t.2 k + s)%bZ 0%bZ
    [seq ((fun t => (t.1.1 * nth 0 t.1.2 j, t.2)%bZ) \o
          (fun t => (nth 0 t.1.1 i * d, t.1.2, t.2)%bZ)) t | t <- terms]) =
  \sum_(t <- terms) zr F (nth 0%bZ t.1.1 i) * zr F d * zr F (nth 0%bZ t.1.2 j) * zr F (nth 0%bZ t.2 k).
  by elim: (terms) => [|t ts IH] /=; rewrite ?big_nil // big_cons zrD IH !zrM.
rewrite mulr_suml mulr_sumr (big_nth ([::], [::], [::])) big_mkord; apply: eq_bigr => l _.
rewrite -/(at_ l); set A := zr F _; set B := zr F (nth _ _ j); set C := zr F (nth _ _ k).
by rewrite [A * _ * B]mulrAC [A * B * _ * C]mulrAC mulfK // !mulrA [zr F d' * A]mulrC mulfK.
Qed.

Lemma ztensor_scaled a b c d T s : ~~ (d =? 0)%bZ ->
  rank_le (ztensor F a b c d T) s -> rank_le (ten a b c T) s.
Proof.
move=> d0 [A [B [C TE]]]; exists (fun l (i : 'I_a) => zr F d * A l i), B, C => i j k.
have dn : zr F d != 0 by rewrite zr_eq0.
have := TE i j k; rewrite /ztensor => /(congr1 (fun x => x * zr F d)); rewrite divfK // => ->.
by rewrite mulr_suml; apply: eq_bigr => l _; rewrite mulrC !mulrA.
Qed.

Definition tensor_check a b c r d T l d' terms :=
  [&& decomposes a b c d T d' terms, size terms == r & bound a b c T l == Some r].

(* the rank of the tensor T / d is r *)
Lemma tensor_rank_sound a b c r d T l d' terms :
  tensor_check a b c r d T l d' terms -> rank_is (ztensor F a b c d T) r.
Proof.
case/and3P => up /eqP <- /eqP lo; split; first exact: decomposes_sound up.
by move=> s /ztensor_scaled rs; apply: bound_sound lo _; apply: rs; case/and3P: up.
Qed.

Definition database_check a b c r facts l d' terms :=
  facts_ok a b c facts && tensor_check a b c r 1 (facts_cube a b c facts) l d' terms.

(* the rank of the database with these facts is r *)
Lemma database_rank_sound a b c r facts l d' terms :
  database_check a b c r facts l d' terms -> rank_is (tensor_of F (facts_db a b c facts)) r.
Proof.
case/andP => _ /tensor_rank_sound [up lo]; split=> [|s rs].
  by apply: rank_le_ext up => i j k; rewrite facts_cubeE.
by apply: lo; apply: rank_le_ext rs => i j k; rewrite facts_cubeE.
Qed.

Definition transversal_check a b c r facts p I J Nt h d' terms :=
  let T := facts_cube a b c facts in
  [&& facts_ok a b c facts, decomposes a b c 1 T d' terms, size terms == r, (0 < a)%N,
      total_check a b c facts, flat_check a b c T p I J Nt,
      unhit h [seq values_of a facts q | q <- iota 0 b] & (r + 1 == size I + h)%N].

(* the rank of a total database by its least transversal *)
Lemma transversal_rank_sound a b c r facts p I J Nt h d' terms :
  transversal_check a b c r facts p I J Nt h d' terms ->
  rank_is (tensor_of F (facts_db a b c facts)) r.
Proof.
case/and5P => _ up /eqP sr a0 /and4P[tot lo un /eqP re]; split=> [|s rs].
  by rewrite -sr; apply: rank_le_ext (decomposes_sound up) => i j k; rewrite facts_cubeE.
rewrite -(leq_add2r 1) re; apply: leq_trans (transversal_bound a0 tot un rs).
rewrite leq_add2r; apply: leq_trans (flat_sound lo) _.
rewrite (_ : flat_k _ = flat_k (tensor_of F (facts_db a b c facts))) //.
by apply: flat_k_ext => i j k; rewrite facts_cubeE /ztensor divr1.
Qed.

End Bounds.

Print Assumptions tensor_rank_sound.
Print Assumptions database_rank_sound.
Print Assumptions transversal_rank_sound.
