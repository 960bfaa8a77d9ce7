"""Facts that no readout holds together: fewer of them, and whether any can be left out.

Which facts to keep is a question to a linear program in floats, whose answers exact arithmetic
re-checks: weights that hold the others are rounded, and put to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from lemmax.constructions.readouts.demands import Demand, Demands

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAIRS = 300
"""Pairs of labels that are asked for a conflict of their own."""
WORK = 10**13
"""The squares of the sizes of all linear programs together: about half a minute."""


@dataclass(frozen=True)
class Conflict:
    """Facts that no linear readout holds together, with the weights that show it.

    ``weights[t, v]`` is the positive integer λ of the demand that fact t prefers its label to v;
    Σ λ (e_y - e_v) ⊗ z = 0, so that not all of these demands can be positive. ``facts`` are in
    order. ``irreducible`` says that without any one of them a readout exists; where it is False
    that was not decided, and fewer of them may conflict.
    """

    facts: tuple[int, ...]
    weights: dict[Demand, int]
    names: tuple[str, ...]
    irreducible: bool

    def __repr__(self) -> str:
        together = "; ".join(self.names[:12]) + ("; …" if len(self.names) > 12 else "")
        if len(self.names) == 1:
            return f"No linear readout of these features holds this fact: {together}."
        least = (
            ", and without any one of them a readout exists"
            if self.irreducible
            else " (whether fewer of them conflict was not decided)"
        )
        return (
            f"No linear readout of these features holds these {len(self.names)} facts "
            f"together{least}: {together}."
        )


def fewer(demands: Demands, support: Sequence[Demand]) -> list[Demand] | None:
    """Demands of fewer facts that seem to cancel, by linear programs; None where none were found.

    Facts of two labels conflict with at most D + 1 facts, from which none can be left out: pairs
    of labels are asked first. Otherwise labels, then facts are left out of the support one by one.

    >>> from flint import fmpz_mat
    >>> four = Demands(fmpz_mat([[1, 1], [1, -1], [-1, 1], [-1, -1]]), (0, 1, 1, 0), 2)
    >>> len(fewer(four, [(0, 1), (1, 0), (2, 0), (3, 1)]))
    2
    """
    pairs = _of_two_labels(demands)
    if pairs is not None:
        return pairs
    facts = {t for t, _ in support}
    found: list[Demand] | None = None
    work = WORK
    labels = sorted({demands.labels[t] for t in facts})
    groups = [{t for t in facts if demands.labels[t] == label} for label in labels]
    for group in (*groups, *({t} for t in sorted(facts))):
        rest = sorted(facts - group)
        if not rest or not facts & group:
            continue
        work -= _cost(demands, rest)
        if work < 0:
            break
        _, names = _asked(demands, rest)
        if names is not None:
            found, facts = names, {t for t, _ in names}
    return found


def without_any(demands: Demands, facts: Sequence[int]) -> bool:
    """Whether exact arithmetic confirms a readout of all of these facts but one, for each of them.

    False where it was not confirmed, or would cost too much.
    """
    from lemmax.constructions.readouts.deciding import integer_weights

    if len(facts) * _cost(demands, facts) > WORK:
        return False
    for t in facts:
        rest = [u for u in facts if u != t]
        W, _ = _asked(demands, rest) if rest else (None, None)
        if rest and (W is None or part(demands, rest).least(integer_weights(W))[1] <= 0):
            return False
    return True


def part(demands: Demands, facts: Sequence[int]) -> Demands:
    """The demands of some facts, numbered anew."""
    return Demands(demands.rows(facts), tuple(demands.labels[t] for t in facts), demands.V)


def _cost(demands: Demands, facts: Sequence[int]) -> int:
    """About what the linear program of these facts costs: the square of its demands × weights."""
    labels = len({demands.labels[t] for t in facts}) + 1
    return (len(facts) * labels * labels * demands.Z.ncols()) ** 2


def _of_two_labels(demands: Demands) -> list[Demand] | None:
    """The smallest conflict that the first few pairs of labels have between them."""
    import numpy as np

    labels = np.array(demands.labels)
    several: list[list[Demand]] = []
    for one, other in _pairs(demands):
        facts = np.nonzero((labels == one) | (labels == other))[0].tolist()
        _, names = _asked(demands, facts, (one, other))
        if names is not None:
            several.append(names)
            if len(several) == 8:
                break
    return min(several, key=len, default=None)


def _pairs(demands: Demands) -> Iterator[tuple[int, int]]:
    """Pairs of labels that facts have, those with many facts first; a lone label and a rival."""
    counts = {label: demands.labels.count(label) for label in set(demands.labels)}
    often = sorted(counts, key=lambda label: -counts[label])
    if len(often) == 1:
        often.append((often[0] + 1) % demands.V)
    pairs = sorted(combinations(range(len(often)), 2), key=sum)
    return ((often[i], often[j]) for i, j in pairs[:PAIRS])


def _asked(
    demands: Demands, facts: Sequence[int], among: Sequence[int] | None = None
) -> tuple[NDArray[np.float64] | None, list[Demand] | None]:
    """Weights W that seem to hold these facts, or demands of theirs that seem to cancel.

    The program is: the largest m with ⟨W, A⟩ >= m for all demands and all entries of W between -1
    and 1. If m is zero the multipliers cancel, and a basic solution has few of them. Only labels
    that some fact has are asked, or the lone label and a rival; no other matters.
    """
    import numpy as np
    from scipy import sparse
    from scipy.optimize import linprog

    own = np.array([demands.labels[t] for t in facts])
    used = sorted(set(own.tolist()) | set(among or ()))
    if len(used) == 1:
        used.append((used[0] + 1) % demands.V)
    Z, D = demands.floats[list(facts)], demands.Z.ncols()
    names = [(i, v) for i, y in enumerate(own) for v in used if v != y]
    at, rivals = (np.array(column) for column in zip(*names, strict=True))
    place = {label: i for i, label in enumerate(used)}
    inside, lines = np.arange(D), np.arange(len(names))
    mine = np.array([place[y] for y in own[at].tolist()])
    theirs = np.array([place[v] for v in rivals.tolist()])
    columns = np.concatenate([mine[:, None] * D + inside, theirs[:, None] * D + inside], axis=1)
    values = np.concatenate([-Z[at], Z[at]], axis=1)
    shape = len(names), len(used) * D
    A = sparse.csr_matrix((values.ravel(), (np.repeat(lines, 2 * D), columns.ravel())), shape)
    told: Any = linprog(
        np.r_[np.zeros(shape[1]), -1.0],
        A_ub=sparse.hstack([A, sparse.csr_matrix(np.ones((shape[0], 1)))]).tocsr(),
        b_ub=np.zeros(shape[0]),
        bounds=[(-1, 1)] * shape[1] + [(0, 1)],
        method="highs-ds",
    )
    if told.status != 0:
        return None, None
    if told.x[-1] > 1e-9:
        W = np.zeros((demands.V, D))
        mean = told.x[:-1].reshape(len(used), D).mean(axis=0)
        W[:] = mean  # which every fact's own row beats
        W[used] = told.x[:-1].reshape(len(used), D)
        return W, None
    weights = -told.ineqlin.marginals
    kept = np.nonzero(weights > 1e-9 * weights.max())[0]
    return None, [(facts[at[i]], int(rivals[i])) for i in kept.tolist()]
