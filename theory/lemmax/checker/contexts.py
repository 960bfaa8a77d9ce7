"""Heads on contexts and queries (Mahdavi, Liao and Thrampoulidis 2024)."""

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from .arithmetic import (
    Table,
    cleared_all,
    image,
    integer_rank,
    lowest,
    softmax_mod,
    times,
    times_mod,
)
from .limits import keep, refuse, spend
from .reading import Matrix, fields, integer, items, matrix, tensor_value


@dataclass(frozen=True)
class MultiHead:
    """Heads (W_K, W_Q, V or None) on contexts (n × d) and queries; logits are times ``scale``."""

    contexts: tuple[Matrix, ...]
    context_of: tuple[int, ...]
    queries: Matrix
    scale: str
    heads: tuple[tuple[Matrix, Matrix, Matrix | None], ...]

    def integers(self) -> list[tuple[list[Table], int]]:
        """The contexts, the queries, all W_K, all W_Q, all V, each over a common denominator."""
        W_K, W_Q, V = zip(*self.heads, strict=True)
        known = [v for v in V if v is not None]
        return [cleared_all(part) for part in (self.contexts, [self.queries], W_K, W_Q, known)]


def multi_head(value: object, where: str) -> MultiHead:
    data = fields(value, where, "contexts context_of queries scale heads")
    contexts = tensor_value(data["contexts"], f"{where}.contexts")
    of = [integer(c, "context_of", len(contexts)) for c in items(data["context_of"], "context_of")]
    queries = matrix(data["queries"], f"{where}.queries", rows=len(of))
    scale = data["scale"]
    if type(scale) is not str or not re.fullmatch(r"1|ln2|1/sqrt\([1-9][0-9]{0,8}\)", scale):
        refuse(f"{where}.scale", "must be 1, ln2 or 1/sqrt(N)")
    heads, outputs = [], set()
    for head in items(data["heads"], f"{where}.heads"):
        known = type(head) is dict and "V" in head
        part = fields(head, "A head", "W_K W_Q" + " V" * known)
        W_K = matrix(part["W_K"], "W_K", rows=len(contexts[0][0]))
        W_Q = matrix(part["W_Q"], "W_Q", rows=len(queries[0]), columns=len(W_K[0]))
        V = matrix(part["V"], "V", rows=len(W_K)) if known else None
        heads.append((W_K, W_Q, V))
        outputs.add(len(V[0]) if V else 0)
    if len(outputs) != 1:
        refuse(f"{where}.heads", "have different numbers of outputs")
    return MultiHead(tuple(contexts), tuple(of), queries, scale, tuple(heads))


def attention_logits(A: MultiHead) -> tuple[list[list[list[int]]], int]:
    """Integers a[t][h][j] and q > 0: head h has the logits a / q = E W_K W_Qᵀ e, times scale."""
    (contexts, d_c), ((queries,), d_e), (keys, d_k), (maps, d_q), _ = A.integers()
    rows = [
        [image(contexts[c], image(W_K, times(e, W_Q))) for W_K, W_Q in zip(keys, maps, strict=True)]
        for e, c in zip(queries, A.context_of, strict=True)
    ]
    return lowest(rows, d_c * d_e * d_k * d_q)


def rows_mod(A: MultiHead, p: int, z: int, jacobian: bool = False) -> list[list[int]]:
    """Z, or the Jacobian of the output in all W_K, W_Q, V, at z mod p, columns scaled.

    With u = E V and g_j = θ_j (u_j - θᵀu), the derivatives in W_K_ab, W_Q_ab and V_a are, up to
    the scale, (gᵀE)_a (W_Qᵀe)_b, e_a (gᵀE W_K)_b and (θᵀE)_a.
    """
    logits, q = attention_logits(A)
    if A.scale == "ln2" and q != 1:
        refuse("The logits", "must be integers in unit ln2")
    contexts, (queries,), W_Ks, W_Qs, Vs = (part for part, _ in A.integers())
    found: list[list[int]] = []
    for e, c, rows in zip(queries, A.context_of, logits, strict=True):
        E = contexts[c]
        line: list[int] = []
        for h, row in enumerate(rows):
            theta = softmax_mod(row, z, p)
            if theta is None:
                refuse("lower", "names a prime that divides a softmax denominator")
            if jacobian:
                u = image(E, [v[0] for v in Vs[h]])
                centre = sum(map(operator.mul, theta, u))
                g = [a * (b - centre) % p for a, b in zip(theta, u, strict=True)]
                gE = times_mod(g, E, p)
                for left, right in (gE, times(e, W_Qs[h])), (e, times_mod(gE, W_Ks[h], p)):
                    keep("The Jacobian", len(left) * len(right), p.bit_length())
                    spend("The Jacobian", 2 * len(left) * len(right), Table([e, right]).bits, 90)
                    line += [a * b % p for a in left for b in right]
            line += times_mod(theta, E, p)
        keep("The features", len(line), p.bit_length())
        found.append(line)
    return found


def spans(contexts: Sequence[Matrix]) -> tuple[int, int]:
    """The dimensions ρ of all tokens and δ of all differences of two tokens of one context."""
    parts = cleared_all(contexts)[0]
    steps = [list(map(operator.sub, x, E[0])) for E in parts for x in E[1:]]
    return integer_rank(list(chain(*parts)), "The tokens"), integer_rank(steps, "The differences")
