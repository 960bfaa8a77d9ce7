(* claim: lemmax/counting-bound@c42ec82abf63897d, by counting_bound.
   control: counting_bound_needs_all_tables.
   Whatever the architecture: if every table of N facts with values in V is what
   some choice of P weights gives, and a weight has one of |F| values, then
   |V|^N <= |F|^P. *)
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Theorem counting_bound (F V : finType) (N P : nat)
    (answers : {ffun 'I_P -> F} -> {ffun 'I_N -> V}) :
  (forall table, exists weights, answers weights == table) -> #|V| ^ N <= #|F| ^ P.
Proof.
move=> held; pose weights table := xchoose (held table).
have inj : injective weights.
  move=> s t st; rewrite -(eqP (xchooseP (held s))) -(eqP (xchooseP (held t))).
  by congr answers.
by have := leq_card weights inj; rewrite !card_ffun !card_ord.
Qed.

(* One table that is held says nothing: no weights at all hold a table of ten
   facts with two values. *)
Theorem counting_bound_needs_all_tables :
  exists answers : {ffun 'I_0 -> bool} -> {ffun 'I_10 -> bool},
    (exists weights, answers weights == [ffun=> true]) /\
    ~~ (#|bool_finType| ^ 10 <= #|bool_finType| ^ 0).
Proof.
exists (fun _ => [ffun=> true]); split; first by exists [ffun=> true].
by rewrite card_bool.
Qed.

Print Assumptions counting_bound.
Print Assumptions counting_bound_needs_all_tables.
