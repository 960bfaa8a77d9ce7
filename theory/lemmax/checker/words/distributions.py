"""The words about distributions of the next token (Dana, Pydi and Chevaleyre 2024)."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..language.evidence import Evidence, same_rows
from ..language.reals import Interval, Real, collapsed
from ..language.sorts import Distribution
from ..limits import spend
from ..reading import Matrix
from .matrices import whole


def kl_infimum(p: Distribution, d: Fraction, evidence: Evidence) -> Real:
    """inf over W (N × d) and E of the mean divergence of softmax(W E_t): evidence, else >= 0."""
    size = whole(d, "kl_infimum(...)")

    def equal(other: tuple[tuple[Fraction, ...], Matrix, int]) -> bool:
        prior, table, dimension = other
        spend("The evidence", 4 * len(prior), table.bits)
        return size == dimension and p.prior == prior and same_rows(p.table, table)

    return collapsed(evidence.cut("kl-interval", Interval(Fraction(0), None), equal))


WORDS: dict[str, Callable[..., Any]] = {
    "outcomes(distribution)  N, the number of tokens": lambda p: len(p.table[0]),
    "deterministic(distribution)  every row has one entry 1": lambda p: all(
        max(row) == 1 for row in p.table
    ),
    "full_support(distribution)  every prior probability is above 0": lambda p: min(p.prior) > 0,
    "support(distribution)  the number of contexts of positive probability": lambda p: sum(
        x > 0 for x in p.prior
    ),
    "largest_support(distribution)  the most positive entries of a row": lambda p: max(
        sum(x > 0 for x in row) for row in p.table
    ),
}

EVIDENT: dict[str, Callable[..., Any]] = {
    "kl_infimum(distribution, rational)  bounds of the least divergence of dimension d": kl_infimum,
}
