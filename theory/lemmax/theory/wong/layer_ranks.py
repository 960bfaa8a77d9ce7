r"""How large the rank of an attention layer can be, and how large it almost always is.

Write n = min(d_model, |V|) and ρ = min(H·d_vo, n). For all weights, with the mask of equation (5)
or without it, rank L ≤ ρ·min(|K|,|Q|) + min(|Q|, n-ρ) (:func:`rank_ceiling`). Without the mask, for
K ∩ Q = ∅ and almost all weights, the three flattening ranks are those of
:func:`generic_multilinear_ranks`, and rank L = |Q|ρ + min(|Q|, n-ρ) once there are enough keys
(:func:`generic_rank`). None of these depends on d_qk.

The estimate (9) of the paper, d_model + H·d_vo ≤ rank L, is :attr:`LayerShape.estimate`;
:func:`where_estimate_fails` lists the layers of the paper's grid for which no weights satisfy it.
"""

from __future__ import annotations

from dataclasses import dataclass

from lemmax.theory.errors import LemmaxError


@dataclass(frozen=True, order=True)
class LayerShape:
    """The dimensions of a layer.

    >>> LayerShape(d_model=3, d_vo=2, d_qk=1, heads=2).estimate
    7
    """

    d_model: int
    d_vo: int
    d_qk: int
    heads: int

    def __post_init__(self) -> None:
        if min(self.d_model, self.d_vo, self.d_qk, self.heads) < 1:
            raise LemmaxError("Every dimension of a layer is at least 1.")
        if max(self.d_vo, self.d_qk) > self.d_model:
            raise LemmaxError("d_vo and d_qk are at most d_model.")

    @property
    def estimate(self) -> int:
        """d_model + H·d_vo, which equation (9) expects below the rank of the layer."""
        return self.d_model + self.heads * self.d_vo

    @property
    def parameters(self) -> int:
        """Non-embedding parameters, 2·H·d_model·(d_vo + d_qk)."""
        return 2 * self.heads * self.d_model * (self.d_vo + self.d_qk)

    def n(self, values: int) -> int:
        """min(d_model, |V|)."""
        return min(self.d_model, values)

    def rho(self, values: int) -> int:
        """min(H·d_vo, d_model, |V|), the dimension of what all heads together can write."""
        return min(self.heads * self.d_vo, self.n(values))


def rank_ceiling(shape: LayerShape, keys: int, queries: int, values: int) -> int:
    """No weights of this shape give L a larger rank: ρ·min(|K|,|Q|) + min(|Q|, n-ρ).

    >>> rank_ceiling(LayerShape(1, 1, 1, 1), keys=9, queries=1, values=9)  # (9) expects 2
    1
    """
    n, rho = shape.n(values), shape.rho(values)
    return rho * min(keys, queries) + min(queries, n - rho)


def generic_rank(shape: LayerShape, keys: int, queries: int, values: int) -> int | None:
    """The rank of L for almost all weights, unmasked, K ∩ Q = ∅; None if |K| < |Q|ρ + [n>ρ].

    >>> generic_rank(LayerShape(4, 3, 1, 1), keys=10, queries=3, values=5)
    10
    """
    n, rho = shape.n(values), shape.rho(values)
    if keys < queries * rho + (n > rho):
        return None
    return queries * rho + min(queries, n - rho)


def generic_multilinear_ranks(
    shape: LayerShape, keys: int, queries: int, values: int
) -> tuple[int, int, int]:
    """(r_K, r_Q, r_V) of L for almost all weights, unmasked, K ∩ Q = ∅.

    >>> generic_multilinear_ranks(LayerShape(9, 9, 1, 1), keys=3, queries=3, values=9)
    (3, 3, 8)
    """
    n, rho = shape.n(values), shape.rho(values)
    head = min(shape.d_vo, keys + queries - 1)
    return (
        min(keys, queries * rho + (n > rho)),
        min(queries, n - rho + keys * rho),
        min(n, queries + min(shape.heads * head, queries * (keys - 1))),
    )


def layer_grid() -> list[LayerShape]:
    """The 364 layers of the paper: 1 ≤ d_vo, d_qk ≤ d_model ≤ 6 and 1 to 4 heads.

    >>> len(layer_grid())
    364
    """
    return [
        LayerShape(d_model, d_vo, d_qk, heads)
        for d_model in range(1, 7)
        for d_vo in range(1, d_model + 1)
        for d_qk in range(1, d_model + 1)
        for heads in range(1, 5)
    ]


def where_estimate_fails(queries: int) -> list[LayerShape]:
    """The grid layers that violate (9) with every choice of weights, however many keys and values.

    The ceiling grows with |K| and |V| until |K| = |Q| and |V| = d_model, and not after.

    >>> [len(where_estimate_fails(queries)) for queries in range(1, 7)]
    [364, 242, 92, 32, 0, 0]
    """
    return [
        shape
        for shape in layer_grid()
        if rank_ceiling(shape, queries, queries, shape.d_model) < shape.estimate
    ]
