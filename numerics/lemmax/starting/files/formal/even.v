(* claim: @key@/lem-even@@digest:lem-even@, by even_product.
   The product of two neighbours is even. *)
Require Import Arith.

Theorem even_product : forall n : nat, Nat.even (n * S n) = true.
Proof.
intro n.
rewrite Nat.even_mul, Nat.even_succ, <- Nat.negb_even.
destruct (Nat.even n); reflexivity.
Qed.
