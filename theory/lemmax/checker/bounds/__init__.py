"""What bounds the rank of a tensor from below: one small rule each, in the register ``RULES``.

A rule is a lemma of the form R(T) >= gain + R(S), where S is computed from T, or it ends a proof
with R(T) >= gain. It reads its own step of the certificate. The proofs are in docs/proofs/lemmax.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..tensors import Bound, Integral
from . import algebras, blocks, flattenings, joint, pencils, spans


class Rule(NamedTuple):
    """The fields of a step, whether it ends a proof, and what it gives (a negative gain: no)."""

    fields: str
    closes: bool
    apply: Callable[[Mapping[str, Any], Integral, str, str], Bound]


_PENCIL = "mode prime order modulus left pivots"
RULES: dict[str, Rule] = {
    "restriction": Rule("maps", False, flattenings.by_restriction),
    "substitution": Rule("mode prime maps", False, flattenings.by_substitution),
    "flattening": Rule("mode prime", True, flattenings.by_flattening),
    "koszul": Rule("mode prime", True, flattenings.by_koszul),
    "transversal": Rule("mode columns hitting", True, flattenings.by_transversal),
    "jet": Rule(f"{_PENCIL} jet", True, pencils.by_jet),
    "eigenvalue": Rule(f"{_PENCIL} outside", True, pencils.by_eigenvalue),
    "quadrics": Rule("mode prime minors", True, spans.by_quadrics),
    "quadric-pencil": Rule("mode prime minors kernel pencil", True, spans.by_quadric_pencil),
    "contraction": Rule("mode columns functional basis prime", True, spans.by_contraction),
    "joint": Rule("mode columns first second levels maps prime", False, joint.by_joint),
    "radical": Rule("unit prime ideal kept map", False, algebras.by_radical),
    "algebra": Rule("unit prime element factors", True, algebras.by_algebra),
    "square": Rule("mode form minors weights prime", True, spans.by_square),
}
# Blocks have proofs of their own, by the rules of this register.
RULES["blocks"] = Rule("mode first proofs alone", True, partial(blocks.by_blocks, RULES))
