(* claim: lemmax/one-relation@cc54046c1d529b36 (every plane of relations has one that suits the labels,
     and a relation that does not suit them excludes them),
     by plane_suits, unsuitable_excludes.
   control: one_relation_is_not_enough.
   A relation v between the features of the examples is unsuitable for labels g
   if it vanishes outside of two classes of g and has one sign on each. Then
   no readout tells the labels apart. Two relations with signs (+,+) and (+,-)
   on two examples are not both unsuitable, so that every plane of relations
   has a suitable one. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Relations.
Variables (R : realFieldType) (X L : finType).
Implicit Types (v w : X -> R) (g : X -> L).

(* v is 0 outside of two classes, >= 0 on one of them and <= 0 on the other *)
Definition unsuitable v g := exists c c' : L, c != c' /\
  forall t, [/\ g t = c -> 0 <= v t, g t = c' -> v t <= 0 & g t != c -> g t != c' -> v t = 0].

Lemma positive_class v g c c' t :
  [/\ g t = c -> 0 <= v t, g t = c' -> v t <= 0 & g t != c -> g t != c' -> v t = 0] ->
  0 < v t -> g t = c.
Proof.
case=> _ neg zero pos; have [//|nc] := eqVneq (g t) c.
have [e|nc'] := eqVneq (g t) c'; first by have := neg e; rewrite leNgt pos.
by move: pos; rewrite zero // ltxx.
Qed.

Lemma negative_class v g c c' t :
  [/\ g t = c -> 0 <= v t, g t = c' -> v t <= 0 & g t != c -> g t != c' -> v t = 0] ->
  v t < 0 -> g t = c'.
Proof.
case=> pos _ zero neg; have [//|nc'] := eqVneq (g t) c'.
have [e|nc] := eqVneq (g t) c; first by have := pos e; rewrite leNgt neg.
by move: neg; rewrite zero // ltxx.
Qed.

Lemma two_relations v w g t t' : 0 < v t -> 0 < v t' -> 0 < w t -> w t' < 0 ->
  unsuitable v g -> unsuitable w g -> False.
Proof.
move=> vt vt' wt wt' [c [c' [_ uv]]] [b [b' [bb' uw]]].
have e1 := positive_class (uv t) vt; have e2 := positive_class (uv t') vt'.
have e3 := positive_class (uw t) wt; have e4 := negative_class (uw t') wt'.
by move: bb'; rewrite -e3 -e4 e1 e2 eqxx.
Qed.

Lemma cramer_at_s (a b c d y : R) : (d - y * b) * a + (y * a - c) * b = a * d - b * c.
Proof. by rewrite !mulrBl -!mulrA [b * a]mulrC addrA subrK [d * a]mulrC [c * b]mulrC. Qed.

Lemma cramer_at_t (a b c d y : R) : (d - y * b) * c + (y * a - c) * d = y * (a * d - b * c).
Proof.
by rewrite !mulrBl mulrBr -!mulrA [d * c]mulrC addrC addrA subrK.
Qed.

(* a plane of relations is the row space of two independent rows *)
Theorem plane_suits (M : 'M[R]_(2, #|X|)) g : row_free M ->
  exists u : 'rV[R]_2, ~ unsuitable (fun t => (u *m M) 0 (enum_rank t)) g.
Proof.
move=> free.
have entry (u : 'rV[R]_2) s : (u *m M) 0 s = u 0 0 * M 0 s + u 0 1 * M 1 s.
  by rewrite mxE !big_ord_recl big_ord0 addr0; congr (_ * _ + _ * _); congr (_ _ _); apply: val_inj.
pose minor s t := M 0 s * M 1 t - M 1 s * M 0 t.
pose w (x y : R) : 'rV[R]_2 := \row_i (if i == 0 then x else y).
have wE x y s : (w x y *m M) 0 s = x * M 0 s + y * M 1 s by rewrite entry !mxE.
have [/existsP [s /existsP [t st]]|none] := boolP [exists s, exists t, minor s t != 0].
  pose u y := minor s t *: w (M 1 t - y * M 1 s) (y * M 0 s - M 0 t).
  have pos : 0 < minor s t * minor s t by rewrite -expr2 exprn_even_gt0.
  have at_s y : (u y *m M) 0 s = minor s t * minor s t.
    by rewrite -scalemxAl mxE wE cramer_at_s.
  have at_t y : (u y *m M) 0 t = minor s t * (y * minor s t).
    by rewrite -scalemxAl mxE wE cramer_at_t.
  pose v y x := (u y *m M) 0 (enum_rank x).
  have vs y : 0 < v y (enum_val s) by rewrite /v enum_valK at_s.
  have [same|differ] := eqVneq (g (enum_val s)) (g (enum_val t)).
    exists (u (-1)) => -[c [c' [cc' uv]]]; move: cc'.
    have vt : v (-1) (enum_val t) < 0 by rewrite /v enum_valK at_t mulN1r mulrN oppr_lt0.
    by rewrite -(positive_class (uv _) (vs _)) same (negative_class (uv _) vt) eqxx.
  exists (u 1) => -[c [c' [cc' uv]]]; move: differ.
  have vt : 0 < v 1 (enum_val t) by rewrite /v enum_valK at_t mul1r.
  by rewrite (positive_class (uv _) (vs _)) (positive_class (uv _) vt) eqxx.
have zero s t : M 0 s * M 1 t = M 1 s * M 0 t.
  by apply/eqP; rewrite -subr_eq0; apply: contraNT none => st; apply/existsP; exists s; apply/existsP; exists t.
have M0 i s : M i s = 0.
  have k0 : w (M 1 s) (- M 0 s) = 0.
    apply: (row_free_inj free); rewrite mul0mx; apply/rowP => t.
    by rewrite wE mxE mulNr zero subrr.
  have /rowP k := k0; have := k 0; have := k 1; rewrite !mxE /= => /eqP; rewrite oppr_eq0.
  move=> /eqP m0 m1; case: i => -[|[|//]] lt; [rewrite -[RHS]m0 | rewrite -[RHS]m1];
  by congr (M _ _); apply: val_inj.
have : row_free (0 : 'M[R]_(2, #|X|)).
  by rewrite (_ : 0 = M) //; apply/matrixP => i s; rewrite M0 mxE.
by rewrite /row_free mxrank0.
Qed.

Theorem unsuitable_excludes m (f : X -> 'cV[R]_m) (W : L -> 'rV[R]_m) v g :
  \sum_t v t *: f t = 0 -> (exists t, v t != 0) -> unsuitable v g ->
  ~ (forall t y, y != g t -> (W y *m f t) 0 0 < (W (g t) *m f t) 0 0).
Proof.
move=> rel [t0 v0] [c [c' [cc' uv]]] wins.
pose d t := (W c *m f t) 0 0 - (W c' *m f t) 0 0.
have sum0 : \sum_t v t * d t = 0.
  have : ((W c - W c') *m \sum_t v t *: f t) 0 0 = 0 by rewrite rel mulmx0 mxE.
  rewrite mulmx_sumr summxE; apply: etrans; apply: eq_bigr => t _.
  rewrite -scalemxAr mulmxBl [RHS]mxE /d; congr (_ * _).
  by rewrite [RHS]mxE; congr (_ + _); rewrite [RHS]mxE.
have pos t : v t != 0 -> 0 < v t * d t.
  rewrite neq_lt => /orP [neg|po].
    have e := negative_class (uv t) neg; rewrite nmulr_rgt0 // /d subr_lt0.
    by rewrite -[X in _ < (W X *m _) _ _]e; apply: wins; rewrite e.
  have e := positive_class (uv t) po; rewrite pmulr_rgt0 // /d subr_gt0.
  by rewrite -[X in _ < (W X *m _) _ _]e; apply: wins; rewrite e eq_sym.
have ge0 t : true -> 0 <= v t * d t.
  by move=> _; have [->|nz] := eqVneq (v t) 0; [rewrite mul0r | apply/ltW/pos].
have /allP all0 : all (fun t => true ==> (v t * d t == 0)) (index_enum X).
  by rewrite -psumr_eq0 // sum0.
by have := pos _ v0; rewrite lt_def (eqP (all0 t0 (mem_index_enum t0))) eqxx.
Qed.
End Relations.

(* a single relation can be unsuitable: +1 and -1 on two examples with two labels *)
Theorem one_relation_is_not_enough (R : realFieldType) :
  unsuitable (fun b : bool => if b then 1 else -1 : R) id.
Proof.
exists true, false; split=> // -[]; split=> //= _; rewrite ?ler01 //.
by rewrite oppr_le0 ler01.
Qed.

Print Assumptions plane_suits.
Print Assumptions unsuitable_excludes.
Print Assumptions one_relation_is_not_enough.
