(* Databases and their tensors (Wong 2025, Section 2): a database is a partial
   function D from subjects K and predicates Q to objects V. K, Q and V are
   any finite sets, in particular any subsets of one set of tokens. *)
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Database.
Variable F : fieldType.
Variables K Q V : finType.

Definition database := K -> Q -> option V.
Implicit Type D : database.

(* equation (1): D_kqv = 1 if (k, q, v) is in D, and 0 otherwise *)
Definition tensor_of D : tensor F K Q V := fun k q v => (D k q == Some v)%:R.

(* the triples of D: their number is |D| *)
Definition triples D : {set K * Q * V} := [set x | D x.1.1 x.1.2 == Some x.2].

(* V_k and V_q: the objects that occur with subject k, with predicate q *)
Definition V_k D k : {set V} := [set v | [exists q, D k q == Some v]].
Definition V_q D q : {set V} := [set v | [exists k, D k q == Some v]].

End Database.
