"""Hypothesis strategies: the vocabulary in which laws about ranks and layers are tested.

They are public, so that tests of another paper can use the same words::

    from hypothesis import given
    from lemmax.strategies import databases, layers

Entries are drawn from wide ranges on purpose: small integer weights make accidental coincidences
that a statement about generic weights does not survive.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.numbers.row_maps import Unit
from lemmax.theory.wong.layer import AttentionLayer, Head

__all__ = ["databases", "integer_matrices", "layers", "low_rank_matrices", "rational_matrices"]


def integer_matrices(
    rows: st.SearchStrategy[int] | int | None = None,
    columns: st.SearchStrategy[int] | int | None = None,
    bound: int = 10**4,
) -> st.SearchStrategy[Matrix]:
    """Integer matrices with entries at most ``bound``; sizes from 1 to 6 unless given."""
    return _matrices(rows, columns, st.integers(-bound, bound))


def rational_matrices(
    rows: st.SearchStrategy[int] | int | None = None,
    columns: st.SearchStrategy[int] | int | None = None,
    bound: int = 50,
    denominators: int = 12,
) -> st.SearchStrategy[Matrix]:
    """Rational matrices; numerators and denominators bounded as given."""
    entries = st.builds(
        Fraction,
        st.integers(-bound * denominators, bound * denominators),
        st.integers(1, denominators),
    )
    return _matrices(rows, columns, entries)


@st.composite
def _matrices(
    draw: st.DrawFn,
    rows: st.SearchStrategy[int] | int | None,
    columns: st.SearchStrategy[int] | int | None,
    entries: st.SearchStrategy[int] | st.SearchStrategy[Fraction],
) -> Matrix:
    m, n = _size(draw, rows), _size(draw, columns)
    return Matrix(draw(st.lists(st.lists(entries, min_size=n, max_size=n), min_size=m, max_size=m)))


def _size(draw: st.DrawFn, given: st.SearchStrategy[int] | int | None) -> int:
    if isinstance(given, int):
        return given
    return draw(given if given is not None else st.integers(1, 6))


@st.composite
def low_rank_matrices(draw: st.DrawFn, bound: int = 50) -> tuple[Matrix, int]:
    """A matrix that factors through dimension r, and r: its rank is at most r."""
    m, n, r = draw(st.integers(1, 8)), draw(st.integers(1, 8)), draw(st.integers(1, 4))
    left = draw(integer_matrices(m, r, bound))
    return left @ draw(integer_matrices(r, n, bound)), r


@st.composite
def databases(
    draw: st.DrawFn,
    max_keys: int = 5,
    max_queries: int = 4,
    max_values: int = 4,
    total: bool = False,
    disjoint: bool = True,
) -> Database:
    """Databases with at least one fact.

    ``total`` asks for a value in every cell; ``disjoint=False`` lets one pool of tokens serve as
    keys, queries and values, so that k = q and all other overlaps occur.
    """
    size = draw(st.integers(1, max_keys)), draw(st.integers(1, max_queries))
    values = draw(st.integers(1, max_values))
    if disjoint:
        names = [f"k{i}" for i in range(size[0])], [f"q{i}" for i in range(size[1])]
        pool = [f"v{i}" for i in range(values)]
    else:
        tokens = [f"t{i}" for i in range(max(*size, values))]
        names, pool = (tokens[: size[0]], tokens[: size[1]]), tokens[:values]
    cells = [(k, q) for k in names[0] for q in names[1]]
    chosen = (
        cells
        if total
        else draw(st.lists(st.sampled_from(cells), min_size=1, unique=True, max_size=len(cells)))
    )
    return Database.from_triples([(k, q, draw(st.sampled_from(pool))) for k, q in chosen])


@st.composite
def layers(
    draw: st.DrawFn,
    tokens: int | None = None,
    max_model: int = 4,
    max_heads: int = 2,
    bound: int = 20,
    unit: Unit | None = None,
) -> AttentionLayer:
    """Attention layers with integer weights and independent d_qk and d_vo of at most d_model."""
    size = tokens if tokens is not None else draw(st.integers(1, 5))
    d = draw(st.integers(1, max_model))
    heads = []
    for _ in range(draw(st.integers(0, max_heads))):
        d_qk, d_vo = draw(st.integers(1, d)), draw(st.integers(1, d))
        heads.append(
            Head(
                draw(integer_matrices(d, d_qk, 3)),
                draw(integer_matrices(d_qk, d, 3)),
                draw(integer_matrices(d, d_vo, bound)),
                draw(integer_matrices(d_vo, d, bound)),
            )
        )
    return AttentionLayer(
        tuple(f"t{i}" for i in range(size)),
        draw(integer_matrices(size, d, 3)),
        draw(integer_matrices(d, size, bound)),
        tuple(heads),
        unit if unit is not None else draw(st.sampled_from(("1", "ln2"))),
    )
