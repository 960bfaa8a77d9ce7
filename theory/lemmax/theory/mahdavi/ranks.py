r"""The rank of the features Z and of the Jacobian of the outputs, bounded from both sides.

Every entry of Z is a rational function of :math:`z = e^{s/q}`, which is transcendental (Lindemann)
for the scales 1 and :math:`1/\sqrt N`: a minor vanishes iff it vanishes identically. One
evaluation of z modulo a prime therefore bounds the real rank from below, and so it does for the
Jacobian of the outputs in the weights. In units of ln 2 with integer logits z is the number 2
itself. From above: what no weights exceed (:mod:`lemmax.theory.mahdavi.ceilings`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flint import nmod, nmod_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset, between
from lemmax.theory.mahdavi.ceilings import (
    CeilingBound,
    dimension_ceiling,
    feature_rank_ceiling,
)
from lemmax.theory.mahdavi.layer import ContextHead, MultiHead
from lemmax.theory.numbers.interval import Interval
from lemmax.theory.numbers.matrices import Matrix, integer_matrix
from lemmax.theory.numbers.primes import primes
from lemmax.theory.numbers.rank import pivots_modulo

if TYPE_CHECKING:
    pass


_POINT = 1_234_567_890_123_456_789  # any residue would do; a fixed one makes certificates stable


_ATTEMPTS = 4  # points that are tried before a modular rank below the ceiling is reported


@dataclass(frozen=True)
class FeatureRank(Interval, Typeset):
    """Bounds for rank Z; ``lower`` is attained modulo ``prime`` at z = ``point``."""

    layer: MultiHead
    lower: int
    upper: int
    ceiling: CeilingBound
    prime: int
    point: int

    def certificate(self) -> Certificate:
        """A ``multi-head`` certificate for lower <= rank Z <= upper."""
        matrix = features_modulo(self.layer, self.prime, self.point)
        assert matrix is not None, "the point was tried before"
        rows, columns = pivots_modulo(matrix)
        return _rank_certificate(
            self.layer,
            "feature-rank",
            {"bound": self.lower, **_minor(self, rows, columns)},
            {"bound": self.upper, "method": "contexts", "contexts": list(self.ceiling.contexts)},
        )

    def formula(self) -> str:
        """The rank as an equation, or the bounds as inequalities."""
        return _equation("Z", self.lower, self.upper)


@dataclass(frozen=True)
class JacobianRank(Interval, Typeset):
    """Bounds for the rank of the Jacobian of the outputs in the weights."""

    layer: MultiHead
    lower: int
    upper: int
    method: str
    prime: int
    point: int

    def certificate(self) -> Certificate:
        """A ``multi-head`` certificate for lower <= rank of the Jacobian <= upper."""
        matrix = jacobian_modulo(self.layer, self.prime, self.point)
        assert matrix is not None, "the point was tried before"
        rows, columns = pivots_modulo(matrix)
        return _rank_certificate(
            self.layer,
            "jacobian-rank",
            {"bound": self.lower, **_minor(self, rows, columns)},
            {"bound": self.upper, "method": self.method},
        )

    def formula(self) -> str:
        """The rank as an equation, or the bounds as inequalities."""
        return _equation("J", self.lower, self.upper)


def _minor(
    bounds: FeatureRank | JacobianRank, rows: list[int], columns: list[int]
) -> dict[str, object]:
    minor: dict[str, object] = {"prime": str(bounds.prime), "rows": rows, "columns": columns}
    if bounds.layer.scale != "ln2":
        minor["point"] = str(bounds.point)
    return minor


def _rank_certificate(
    layer: MultiHead, kind: str, lower: dict[str, Any], upper: dict[str, Any]
) -> Certificate:
    return certificates.certificate(
        "multi-head",
        {
            **layer.certificate_fields(values=kind == "jacobian-rank"),
            "assertion": {"type": kind, "lower": lower, "upper": upper},
        },
    )


def _equation(symbol: str, lower: int, upper: int) -> str:
    return between(lower, rf"\operatorname{{rank}} {symbol}", upper)


def feature_rank(layer: MultiHead) -> FeatureRank:
    """The exact rank of Z for these weights, or bounds for it.

    Below: evaluation modulo a prime. Above: the ceiling of
    :func:`~lemmax.theory.mahdavi.ceilings.feature_rank_ceiling`, which no weights exceed.
    """
    lower, prime, point = _modular_rank(layer, "features", None)
    if lower == layer.T:  # as many as there are rows: no ceiling is needed
        return FeatureRank(layer, lower, lower, CeilingBound(lower, (), lower, 0, 0), prime, point)
    ceiling = feature_rank_ceiling(layer.contexts, layer.context_of, layer.H)
    if lower < ceiling.value:
        lower, prime, point = _modular_rank(layer, "features", ceiling.value)
    return FeatureRank(layer, lower, ceiling.value, ceiling, prime, point)


def jacobian_rank(layer: MultiHead) -> JacobianRank:
    """The rank of the Jacobian of the T outputs in all the weights.

    Rank T certifies that an open set of label vectors is memorized. Above it is bounded by T
    and, for a shared context, by the dimension ceiling D.
    """
    upper, method = layer.T, "size"
    if layer.shared:
        shared = layer.contexts[layer.context_of[0]]
        ceiling = dimension_ceiling(shared, layer.queries, layer.H, layer.d_h)
        if ceiling < upper:
            upper, method = ceiling, "dimension"
    lower, prime, point = _modular_rank(layer, "jacobian", upper)
    return JacobianRank(layer, lower, upper, method, prime, point)


def _modular_rank(
    layer: MultiHead, what: Literal["features", "jacobian"], upper: int | None
) -> tuple[int, int, int]:
    """The largest rank at a few points, or at the first usable one without an upper bound."""
    best = (-1, 0, 0)
    for attempt, prime in zip(range(_ATTEMPTS), primes(), strict=False):
        point = 2 if layer.scale == "ln2" else _POINT + attempt
        made = (
            features_modulo(layer, prime, point)
            if what == "features"
            else jacobian_modulo(layer, prime, point)
        )
        if made is None:
            continue
        rank = made.rank()
        if rank > best[0]:
            best = (rank, prime, point)
        if upper is None or rank == upper:
            break
    if best[0] < 0:
        raise LemmaxError("Every prime that was tried divides a softmax denominator.")
    return best


def attention_modulo(layer: MultiHead, prime: int, point: int) -> list[list[list[int]]] | None:
    """θ[h][t][j] at z = point modulo a prime; None where a denominator vanishes there."""
    exponents, _ = layer.exponents
    z = nmod(point, prime)  # flint's powers take a tenth of the time of Python's
    weights = []
    for logits in exponents:
        rows = []
        for row in logits:
            least = min(row)
            powers = [int(z ** ((x - least) % (prime - 1))) for x in row]
            total = sum(powers) % prime
            if total == 0:
                return None
            inverse = pow(total, -1, prime)
            rows.append([x * inverse % prime for x in powers])
        weights.append(rows)
    return weights


def features_modulo(layer: MultiHead, prime: int, point: int) -> nmod_mat | None:
    """Z · (common denominator of the contexts) at z = point modulo a prime."""
    weights = attention_modulo(layer, prime, point)
    if weights is None:
        return None
    tokens = [nmod_mat(E, prime) for E in layer.integer_contexts[0]]
    rows: list[list[Any]] = []
    for t, context in enumerate(layer.context_of):
        block = nmod_mat([theta[t] for theta in weights], prime) * tokens[context]
        rows.append([int(x) for x in block.entries()])
    return nmod_mat(rows, prime)


def jacobian_modulo(layer: MultiHead, prime: int, point: int) -> nmod_mat | None:
    """The Jacobian of the T outputs in (W_K, W_Q, V) of every head, columns scaled.

    With u = E V, g_j = θ_j (u_j - Σ θ u): the derivatives are Σ_j g_j E_ja (W_Qᵀ e)_b,
    Σ_j g_j (E W_K)_jb e_a and (θᵀ E)_a. A common factor s/q of columns is left out.
    """
    weights = attention_modulo(layer, prime, point)
    if weights is None:
        return None
    tokens = [nmod_mat(E, prime) for E in layer.integer_contexts[0]]
    queries = nmod_mat(layer.queries.flint.numer_denom()[0], prime)
    blocks: list[list[list[int]]] = [[] for _ in range(layer.T)]
    for head, theta in zip(layer.heads, weights, strict=True):
        V = nmod_mat(integer_matrix(_scalar_values(head)), prime)
        W_K = nmod_mat(integer_matrix(head.W_K), prime)
        projected = (queries * nmod_mat(integer_matrix(head.W_Q), prime)).tolist()
        values = [(E * V).entries() for E in tokens]
        for t, context in enumerate(layer.context_of):
            E, u = tokens[context], [int(x) for x in values[context]]
            mean = sum(a * b for a, b in zip(theta[t], u, strict=True))
            g = nmod_mat(
                [[a * (b - mean) % prime for a, b in zip(theta[t], u, strict=True)]], prime
            )
            gE = [int(x) for x in (g * E).entries()]
            gEK = [int(x) for x in (g * E * W_K).entries()]
            e = [int(queries[t, a]) for a in range(queries.ncols())]
            row = [a * int(b) % prime for a in gE for b in projected[t]]
            row += [a * b % prime for a in e for b in gEK]
            row += [int(x) for x in (nmod_mat([theta[t]], prime) * E).entries()]
            blocks[t].append(row)
    return nmod_mat([[x for part in row for x in part] for row in blocks], prime)


def _scalar_values(head: ContextHead) -> Matrix:
    if head.values is None or head.values.shape[1] != 1:
        raise LemmaxError("The Jacobian is that of one output: give W_V and W_O with d_out = 1.")
    return head.values
