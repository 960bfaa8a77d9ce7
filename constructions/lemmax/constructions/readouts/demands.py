r"""What a readout has to satisfy, as points of one space.

Fact t has the feature \(z_t \in \mathbb{Q}^D\) and the label \(y_t\). A readout W (V × D) holds it
iff \(\langle W, A_{tv}\rangle > 0\) for each other label v, with the demand
\(A_{tv} = (e_{y_t} - e_v) \otimes z_t\), a point of \(\mathbb{Q}^{V \times D}\).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from flint import fmpz, fmpz_mat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Demand: TypeAlias = tuple[int, int]
"""A fact t and a label v that is not its own."""


@dataclass(frozen=True)
class Demands:
    """Integer features (one row per fact) with a label in 0..V-1 per fact.

    >>> two = Demands(fmpz_mat([[1, 0], [0, 1]]), (0, 1), 2)
    >>> two.total({(0, 1): fmpz(1), (1, 0): fmpz(1)})
    [ 1, -1]
    [-1,  1]
    >>> two.least(two.total({(0, 1): fmpz(1), (1, 0): fmpz(1)}))
    ((0, 1), 2)
    """

    Z: fmpz_mat
    labels: tuple[int, ...]
    V: int

    @property
    def T(self) -> int:
        """The number of facts."""
        return len(self.labels)

    def total(self, weights: Mapping[Demand, fmpz]) -> fmpz_mat:
        """Σ λ_tv A_tv (V × D) for integer weights λ."""
        facts = sorted({t for t, _ in weights})
        row = {t: i for i, t in enumerate(facts)}
        signs = [[fmpz(0)] * len(facts) for _ in range(self.V)]
        for (t, v), weight in weights.items():
            signs[self.labels[t]][row[t]] += weight
            signs[v][row[t]] -= weight
        return fmpz_mat(signs) * self.rows(facts)

    def rows(self, facts: Sequence[int]) -> fmpz_mat:
        """The features of some facts."""
        return fmpz_mat([self._rows[t] for t in facts])

    @cached_property
    def _rows(self) -> list[list[fmpz]]:
        return list(self.Z.tolist())

    def point(self, demand: Demand) -> list[fmpz]:
        """A_tv, row after row."""
        (t, v), D = demand, self.Z.ncols()
        point, own = [fmpz(0)] * (self.V * D), self.labels[t] * D
        point[own : own + D] = self._rows[t]
        point[v * D : (v + 1) * D] = [-x for x in self._rows[t]]
        return point

    def gram(self, demands: Sequence[Demand]) -> list[list[fmpz]]:
        """The inner products ⟨A_i, A_j⟩ of some demands."""
        Z = self.rows([t for t, _ in demands])
        products = (Z * Z.transpose()).tolist()
        ends = [(self.labels[t], v) for t, v in demands]
        return [
            [
                x * ((y == u) - (y == w) - (v == u) + (v == w))
                for x, (u, w) in zip(r, ends, strict=True)
            ]
            for r, (y, v) in zip(products, ends, strict=True)
        ]

    def least(self, W: fmpz_mat) -> tuple[Demand, fmpz]:
        """The demand with the least ⟨W, A_tv⟩, and that number."""
        best: tuple[Demand, fmpz] | None = None
        for t, row in enumerate((self.Z * W.transpose()).tolist()):
            own = self.labels[t]
            v = max((v for v in range(self.V) if v != own), key=row.__getitem__)
            if best is None or row[own] - row[v] < best[1]:
                best = (t, v), row[own] - row[v]
        assert best is not None, "there is at least one fact, and another label"
        return best

    @cached_property
    def floats(self) -> NDArray[np.float64]:
        """The features as floats, scaled to mean square norm one."""
        import numpy as np

        top = max((abs(x) for x in self.Z.entries()), default=fmpz(0)) or fmpz(1)
        shift = max(int(top).bit_length() - 60, 0)
        Z = np.array([[float(int(x) >> shift) for x in row] for row in self._rows])
        scale = np.sqrt((Z**2).sum(axis=1).mean())
        return Z / scale if scale > 0 else Z


def squared(W: fmpz_mat) -> fmpz:
    """The square of the Frobenius norm."""
    return sum((x * x for x in W.entries()), fmpz(0))
