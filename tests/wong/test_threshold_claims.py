"""softmax at a threshold: when it picks one token, what it represents, how scales reach it."""

from typing import Any

import pytest
import sympy
import z3
from hypothesis import assume, given
from hypothesis import strategies as st

from lemmax.pytest_plugin.properties import Sample
from lemmax.strategies import databases, rational_matrices
from lemmax.theory import (
    AttentionLayer,
    Database,
    Head,
    Matrix,
    certified_rank,
    softmax_threshold,
    tensor_rank,
)
from lemmax.theory.wong.effective_ranks import effective_rank, represents
from lemmax.theory.wong.layer_tensors import flattening_ranks, layer_tensor

taus = st.sampled_from(("1/2", "51/100", "3/5", "3/4", "9/10", "99/100", "1"))


def reals(names: str) -> list[Any]:
    return [z3.Real(name) for name in names.split()]


def unsatisfiable(*constraints: Any) -> bool:
    solver = z3.Solver()
    solver.add(*constraints)
    return bool(solver.check() == z3.unsat)


def test_threshold_unique_inequalities() -> None:
    """p_t ≥ τ ≥ 1/2; rest is the total of the tokens besides s and t."""
    p_t, p_s, rest, tau = reals("p_t p_s rest tau")
    common = (p_t + p_s + rest == 1, p_s > 0, rest >= 0, p_t >= tau, 2 * tau >= 1)
    assert unsatisfiable(*common, p_s > p_t)
    assert unsatisfiable(*common, 2 * tau > 1, p_s >= p_t)
    assert unsatisfiable(*common, rest > 0, p_s >= p_t)  # a third token has positive probability
    assert not unsatisfiable(*common, p_s == p_t)  # and the tie at one half is real


def unique_argmax(entries: list[Any], tau: str) -> bool:
    """Whether what reaches the threshold is the one largest logit."""
    marked = softmax_threshold(Matrix([entries]), tau).rows()[0]
    return all(
        entries[t] == max(entries) and entries.count(entries[t]) == 1
        for t, one in enumerate(marked)
        if one
    )


@pytest.mark.claim(
    "lemmax/threshold-unique",
    grade="property",
    scope="random rational rows of 2 to 6 logits, thresholds 1/2 to 1",
    statement="430911312367d97e",
)
@given(rational_matrices(1, st.integers(2, 6), bound=3), taus)
def test_threshold_unique_on_random_rows(sample: Sample, row: Matrix, tau: str) -> None:
    entries = list(row.rows()[0])
    assume(tau != "1/2" or len(entries) >= 3)
    sample(unique_argmax, entries, tau, control=([0, 0], "1/2"))  # a tie of two at one half


def uniform_layers(db: Database) -> st.SearchStrategy[AttentionLayer]:
    """Layers with even attention, so that their tensors are rational."""

    @st.composite
    def build(draw: st.DrawFn) -> AttentionLayer:
        numbers = st.integers(-3, 3)
        d = draw(st.integers(1, 3))

        def matrix(m: int, n: int) -> Matrix:
            return Matrix([[draw(numbers) for _ in range(n)] for _ in range(m)])

        size = len(db.tokens)
        head = Head(Matrix.zeros(d, 1), Matrix.zeros(1, d), matrix(d, d), matrix(d, d))
        return AttentionLayer(db.tokens, matrix(size, d), matrix(d, size), (head,))

    return build()


def selecting_layer(db: Database, scale: int) -> AttentionLayer:
    """One head per query, which answers that query: the value of the fact gets the logit ``scale``.

    Head q' looks at the key where the query is q' and at the query itself elsewhere, up to 2^-20.
    """
    size, index = len(db.tokens), {t: i for i, t in enumerate(db.tokens)}
    identity = Matrix.identity(size)
    heads = []
    for own in db.queries:
        scores, values = ([[0] * size for _ in range(size)] for _ in range(2))
        for q in db.queries:
            for t in db.tokens:
                scores[index[q]][index[t]] = 20 * int((t == q) != (q == own))
        for k in db.keys:
            if (k, own) in db:
                values[index[k]][index[db[k, own]]] = scale
        heads.append(Head(identity, Matrix(scores), Matrix(values), identity))
    return AttentionLayer(db.tokens, identity, identity, heads, "ln2")


def iff_represented(marked: list[Any], db: Database) -> bool:
    """Whether every fact reaches the threshold iff the thresholded tensor represents the table."""
    k, q, v = ({t: i for i, t in enumerate(part)} for part in (db.keys, db.queries, db.values))
    accurate = all(marked[k[a]][q[b]][v[c]] for a, b, c in db)
    return bool(accurate == represents(marked, db))


# At one half two values may be marked: accurate, and no representation.
HALF = ([[[1, 1]], [[0, 1]]], Database.from_triples([("a", "f", "x"), ("b", "f", "y")]))


@pytest.mark.claim(
    "lemmax/threshold-represents",
    grade="property",
    scope="random databases up to 3 by 3 by 3; layers with even attention, layers that memorize",
    statement="e531ccf2e4e0b619",
)
@given(st.data(), databases(3, 3, 3), taus, st.sampled_from((0, 1, 3, 12)))
def test_threshold_represents_iff_memorized(
    sample: Sample, data: Any, db: Database, tau: str, scale: int
) -> None:
    assume(tau != "1/2" or len(db.values) >= 3)
    layer = selecting_layer(db, scale) if scale else data.draw(uniform_layers(db))
    marked = layer_tensor(layer, db).threshold(tau)
    k, q, v = ({t: i for i, t in enumerate(part)} for part in (db.keys, db.queries, db.values))
    accurate = all(marked[k[a]][q[b]][v[c]] for a, b, c in db)
    sample(iff_represented, marked, db, control=HALF)
    assert accurate or scale < 12 or tau == "1"
    if accurate:
        assert effective_rank(db).lower <= tensor_rank(marked).upper


def test_threshold_represents_tensors_no_shorter_than_the_effective_rank() -> None:
    """Exclusive or has effective rank 2, and so has what a layer that memorizes it represents."""
    facts = [(f"k{a}", f"q{b}", f"v{a ^ b}") for a in (0, 1) for b in (0, 1)]
    db = Database.from_triples(facts)
    marked = layer_tensor(selecting_layer(db, 12), db).threshold("9/10")
    assert marked == db.tensor().tolist()
    assert effective_rank(db).rank == tensor_rank(marked).rank == 2


def test_threshold_represents_fails_at_one_half_with_two_values() -> None:
    db = Database.from_triples([("a", "f", "x"), ("b", "f", "y")])
    zero = Head(Matrix([[0]]), Matrix([[0]]), Matrix([[0]]), Matrix([[0]]))
    layer = AttentionLayer(db.tokens, Matrix([[0]] * 5), Matrix([[0] * 5]), (zero,))
    marked = layer_tensor(layer, db).threshold("1/2")
    assert marked == [[[1, 1]], [[1, 1]]]
    assert not represents(marked, db)


def test_scaling_turns_the_tensor_into_a_multiple() -> None:
    """L is linear in W_U, with symbols for every number that occurs in one fibre."""
    c, x_q, x_k, alpha, m, u = sympy.symbols("c x_q x_k alpha m u")
    fibre = x_q * u + (alpha * x_k + (1 - alpha) * x_q) * m * u
    assert sympy.expand(fibre.subs(u, c * u) - c * fibre) == 0


@given(
    st.lists(st.fractions(0, 1, max_denominator=50), min_size=1, max_size=6),
    st.integers(1, 6),
)
def test_power_of_a_sum_dominates_the_sum_of_powers(terms: list[Any], c: int) -> None:
    assert sum(x**c for x in terms) <= sum(terms) ** c


def reaches_the_odds(row: Matrix, tau: str, scale: int, power: int) -> bool:
    """Whether what reaches τ, scaled, reaches the threshold with the power of τ's odds."""
    low = sympy.Rational(tau)
    odds = (low / (1 - low)) ** power
    before, after = softmax_threshold(row, tau), softmax_threshold(scale * row, odds / (1 + odds))
    return all(b <= a for b, a in zip(before.rows()[0], after.rows()[0], strict=True))


@pytest.mark.claim(
    "lemmax/threshold-scaling",
    grade="property",
    scope="random rational rows of 2 to 5 logits, odds multiplied in log scale by 2, 3, 4",
    statement="e7df0c7b07f654ee",
)
@given(
    rational_matrices(1, st.integers(2, 5), bound=4),
    st.sampled_from(("3/5", "2/3", "3/4", "9/10")),
    st.integers(2, 4),
)
def test_scaling_reaches_the_larger_threshold(
    sample: Sample, row: Matrix, tau: str, c: int
) -> None:
    sample(reaches_the_odds, row, tau, c, c, control=(Matrix([[1, 0]]), "3/5", 1, 4))


def monotone(M: Matrix, low: str, high: str) -> bool:
    """Whether rows only vanish from one threshold to the other, so that the rank falls."""
    at_low, at_high = softmax_threshold(M, low), softmax_threshold(M, high)
    rows = zip(at_low.rows(), at_high.rows(), strict=True)
    vanish = all(sum(b) <= 1 and a in (b, (0,) * len(b)) for b, a in rows)
    return vanish and certified_rank(at_high).rank <= certified_rank(at_low).rank


@pytest.mark.claim(
    "lemmax/threshold-monotone-matrices",
    grade="property",
    scope="random rational matrices up to 5 by 5",
    statement="64dca67503c27e4d",
)
@given(rational_matrices(st.integers(1, 5), st.integers(1, 5), bound=3), taus, taus)
def test_thresholded_matrix_rank_is_monotone(
    sample: Sample, M: Matrix, low: str, high: str
) -> None:
    order = ("1/2", "51/100", "3/5", "3/4", "9/10", "99/100", "1")
    low, high = sorted((low, high), key=order.index)
    assume(low != "1/2")
    # the control: thresholds in the wrong order
    sample(monotone, M, low, high, control=(Matrix([[1, 0]]), "99/100", "3/5"))


def test_thresholded_rank_counts_the_columns_that_are_marked() -> None:
    marked = Matrix([[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]])
    assert certified_rank(marked).rank == 2


def all_or_nothing(layer: AttentionLayer, db: Database, tau: str) -> bool:
    """Whether nothing reaches the threshold, or everything if there is one value only."""
    expected = (0, 0, 0) if len(db.values) >= 2 else (1, 1, 1)
    return flattening_ranks(layer_tensor(layer, db).threshold(tau)) == expected


PAIR = Database.from_triples([("a", "f", "x"), ("b", "f", "y")])


@pytest.mark.claim(
    "lemmax/threshold-one",
    grade="property",
    scope="random databases up to 3 by 3 by 3 and layers with even attention",
    statement="396ab0cfd65e2294",
)
@given(st.data(), databases(3, 3, 3))
def test_threshold_one_on_random_layers(sample: Sample, data: Any, db: Database) -> None:
    layer, low = data.draw(uniform_layers(db)), selecting_layer(PAIR, 12)
    sample(all_or_nothing, layer, db, "1", control=(low, PAIR, "9/10"))


def test_footnote_4_inequality() -> None:
    """Write a for the diagonal exponential and b for the sum of the others in its row."""
    a, b, part = reals("a b part")
    assert unsatisfiable(a > b, b >= 0, a < (a + b) / 2)
    assert unsatisfiable(a > b, part > 0, part <= b, part >= (a + b) / 2)


def becomes_identity(M: Matrix) -> bool:
    return softmax_threshold(M, "1/2") == Matrix.identity(M.shape[0])


@pytest.mark.claim(
    "wong/footnote-4",
    grade="property",
    scope="random rational matrices up to 5 by 5",
    statement="611faf24e8a598e7",
)
@given(st.integers(1, 5).flatmap(lambda n: rational_matrices(n, n, bound=3)))
def test_footnote_4_on_random_matrices(sample: Sample, M: Matrix) -> None:
    n = M.shape[0]
    scaled = Matrix(
        [[x + 8 if i == j else x for j, x in enumerate(row)] for i, row in enumerate(M.rows())]
    )
    # The hypothesis, exactly: the diagonal probability exceeds one half.
    dominant = all(softmax_threshold(scaled, "501/1000")[i, i] == 1 for i in range(n))
    assume(dominant)
    sample(becomes_identity, scaled, control=Matrix([[0, 0], [0, 0]]))
