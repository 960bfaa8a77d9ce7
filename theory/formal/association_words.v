(* Words of comparisons about associations, pairs of a sequence of tokens and a
   target; and the parity associations. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Definition association_count (R : realFieldType) (a : seq (seq nat * nat)) : R := (size (undup a))%:R.
Arguments association_count R a : clear implicits.

(* all lists of n bits *)
Fixpoint bit_lists (n : nat) : seq (seq bool) :=
  if n is n'.+1 then [seq false :: b | b <- bit_lists n'] ++ [seq true :: b | b <- bit_lists n']
  else [:: [::]].

(* two tokens for the bits, then one token some times; the target says the parity of the bits *)
Definition parity_of (zero one last even odd_ m : nat) (b : seq bool) : seq nat * nat :=
  ([seq if x then one else zero | x <- b] ++ nseq m last, if odd (count id b) then odd_ else even)%N.

(* all sequences of H + 1 bits, then one token; targets by parity *)
Definition parity (a : seq (seq nat * nat)) (H : nat) : Prop :=
  exists zero one last even odd_ m : nat, [/\ zero != one, even != odd_, (0 < m)%N
    & a =i [seq parity_of zero one last even odd_ m b | b <- bit_lists H.+1]].
