"""Stacks of layers on one shared context: what each head adds, and labels that a stack gives."""

from random import Random
from typing import Any

import numpy as np
import pytest
import sympy
from flint import fmpq, fmpq_mat
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

Floats = NDArray[np.float64]
generators = st.integers(0, 2**32 - 1).map(Random)
PRIMES = (2, 3, 5, 7, 11, 13)  # slopes of the scores, a head each
SIZES = [(2, 1, 2), (2, 2, 2), (3, 1, 2), (3, 2, 2), (4, 1, 3), (2, 1, 4)]  # n, H, layers


def softmax(logits: Floats) -> Floats:
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def stack(
    E: Floats,
    queries: Floats,
    layers: list[list[tuple[Floats, Floats]]],
    last: list[tuple[Floats, Floats]],
) -> Floats:
    """A stack as it is defined: heads are M = W_K W_Qᵀ and W_V W_O, or a vector W_V W_O at last."""
    for heads in layers:

        def moved(x: Floats, E: Floats = E, heads: list[tuple[Floats, Floats]] = heads) -> Floats:
            return x + sum(softmax(E @ M @ x) @ E @ VO for M, VO in heads)

        E, queries = np.array([moved(x) for x in E]), np.array([moved(x) for x in queries])
    return np.array([sum(softmax(E @ M @ x) @ E @ p for M, p in last) for x in queries])


def functions(x: list[int], n: int, H: int, layers: int) -> list[list[fmpq]]:
    """The functions of step 5 at integers x, with powers of two in place of exponentials."""

    def attention(b: list[int]) -> list[list[fmpq]]:
        rows = [[fmpq(2) ** (c * y) for c in b] for y in x]
        return [[row[j] / sum(row, fmpq(0)) for row in rows] for j in range(len(b))]

    steep = ([-slope * j for j in range(n)] for slope in PRIMES)
    theta = attention([0, 0, *range(1, n - 1)])
    found = [theta[0], [a * y for a, y in zip(theta[0], x, strict=True)], *theta[2:]]
    for _ in range(H - 1):
        found += attention(next(steep))
    for _ in range((layers - 1) * H):
        for column in attention(next(steep)):
            found.append([a * b for a, b in zip(theta[0], column, strict=True)])
    return found


@pytest.mark.parametrize(("n", "H", "layers"), SIZES)
def test_functions_of_a_stack_have_full_rank(n: int, H: int, layers: int) -> None:
    """Exactly ℓ H (n - 1) + 1 of them are independent on more points, and no more can be."""
    most = layers * H * (n - 1) + 1
    columns = functions(list(range(1, most + 3)), n, H, layers)
    assert fmpq_mat(columns).rank() == most


@given(st.integers(2, 4), st.integers(0, 2), generators)
def test_shifted_contexts_keep_their_rank(n: int, more: int, draw: Random) -> None:
    """E + r vᵀ for v outside of the row space, or v = Eᵀq and q · r = 0; q · r = -1 loses one."""
    d = n + more
    E = [[fmpq(draw.randint(-9, 9)) for _ in range(d)] for _ in range(n)]
    q, r = ([fmpq(draw.randint(-9, 9)) for _ in range(n)] for _ in range(2))
    if fmpq_mat(E).rank() < n or not any(q):
        return
    product = sum((a * b for a, b in zip(q, r, strict=True)), fmpq(0))
    length = sum((a * a for a in q), fmpq(0))

    def shifted(r: list[fmpq], v: list[fmpq]) -> int:
        return fmpq_mat([[E[i][k] + r[i] * v[k] for k in range(d)] for i in range(n)]).rank()

    inside = [sum((q[i] * E[i][k] for i in range(n)), fmpq(0)) for k in range(d)]
    assert shifted([a - product / length * b for a, b in zip(r, q, strict=True)], inside) == n
    assert shifted([-b / length for b in q], inside) == n - 1
    outside = [fmpq(draw.randint(-9, 9)) for _ in range(d)]
    if fmpq_mat([*E, outside]).rank() > n:
        assert shifted(r, outside) == n


def test_a_pair_of_tokens_multiplies() -> None:
    """(e^(ax + εs/2) - e^(ax - εs/2))/(ε Z) tends to θ₁ s, Z with the other tokens in it."""
    a, x, s, rest, eps = sympy.symbols("a x s rest epsilon", positive=True)
    up, down = (sympy.exp(a * x + sign * eps * s / 2) for sign in (1, -1))
    limit = sympy.limit((up - down) / (eps * (up + down + rest)), eps, 0)
    assert sympy.simplify(limit - sympy.exp(a * x) * s / (2 * sympy.exp(a * x) + rest)) == 0


def outer(a: NDArray[np.floating[Any]], b: Floats) -> Floats:
    """The matrix of the products; numpy's own is typed as if it might be complex."""
    return np.asarray(a[:, None] * b, dtype=np.float64)


def built(E: Floats, queries: Floats, H: int, layers: int, eps: float) -> tuple[Floats, Floats]:
    """The limit of step 5 at random parameters, and the outputs of the stack with its weights."""
    random = np.random.default_rng(7)
    n, d = E.shape
    c, shift = np.ones(d) / d**0.5, 4.0
    u = c + random.normal(0, 0.05, d)
    x = (queries + shift * c) @ u
    assert (x > 0).all()
    assert (queries @ u < 0).any()
    moved = E + shift * c
    q = random.normal(0, 1, n)
    q -= (q @ (moved @ u)) / ((moved @ u) @ (moved @ u)) * (moved @ u)
    v = moved.T @ q if d == n else random.normal(0, 1, d)
    v = v - (v @ u) / (u @ u) * u
    a = np.array([0.0, 0.0, *(1.0 + np.arange(n - 2))])
    alpha, p = float(random.normal()), np.array(random.normal(0, 1, n))
    p[1] = p[0]

    f, now, made = np.zeros(len(x)), E, []
    for layer in range(layers - 1):
        inverse, values = np.linalg.pinv(now), random.normal(0, 1, (H, n))
        scores = [outer(inverse @ random.normal(0, 1, n), u) for _ in range(H)]
        if not layer:  # the first layer may see more of the queries
            scores = [random.normal(0, 1, (d, 2)) @ random.normal(0, 1, (2, d)) for _ in range(H)]
        state = queries if not layer else queries + shift * c + outer(f, v)
        if d == n:  # the constant that keeps q · ρ = 0
            values[0] -= (q @ _added(now, scores, values, now)) / q.sum()
        maps = [outer(inverse @ g, v) for g in values]
        if not layer:
            maps[0] = maps[0] + outer(inverse @ np.full(n, shift), c)
        made.append(list(zip(scores, maps, strict=True)))
        f = f + _added(now, scores, values, state)
        rows = _added(now, scores, values, now)
        now = (moved if not layer else now) + outer(rows, v)
    inverse, values = np.linalg.pinv(now), random.normal(0, 1, (H - 1, n))
    scores = [outer(inverse @ random.normal(0, 1, n), u) for _ in range(H - 1)]
    final = queries + shift * c + outer(f, v)
    theta = np.array([softmax(a * y) for y in x])
    s = (queries + shift * c) @ v / (v @ v) + alpha * x + f
    limit = theta[:, 0] * s + theta @ p + _added(now, scores, values, final)

    sign = np.array([1.0, -1.0, *np.zeros(n - 2)])
    first = outer(inverse @ a, u) + eps / 2 * outer(inverse @ sign, v / (v @ v) + alpha * u)
    last = [(first, inverse @ (p + sign / eps))]
    last += [(M, inverse @ g) for M, g in zip(scores, values, strict=True)]
    return limit, stack(E, queries, made, last)


def _added(E: Floats, scores: list[Floats], values: Floats, at: Floats) -> Floats:
    """What heads with these scores and values add along v to some vectors."""
    heads = list(zip(scores, values, strict=True))
    return np.array([sum(g @ softmax(E @ M @ y) for M, g in heads) for y in at], dtype=np.float64)


@pytest.mark.parametrize("more", [0, 2])
@pytest.mark.parametrize(("n", "H", "layers"), SIZES)
def test_a_stack_gives_what_the_limit_says(n: int, H: int, layers: int, more: int) -> None:
    """By the definition of a stack, with the weights of the proof; the error falls with ε²."""
    random = np.random.default_rng(1 + n + H + layers + more)
    T, d = layers * H * (n - 1) + 1, n + more
    E, queries = random.normal(0, 1, (n, d)), random.normal(0, 0.5, (T, d))
    queries[-1] = -np.ones(d)  # so that they lie on both sides
    errors = []
    for eps in (1e-2, 1e-3):
        limit, outputs = built(E, queries, H, layers, eps)
        errors.append(float(np.abs(outputs - limit).max()))
    assert errors[0] < 0.1
    assert errors[1] < errors[0] / 50


@given(st.integers(2, 4), st.integers(0, 6), st.booleans(), generators)
def test_heads_of_the_first_layer_add_their_dimension(
    n: int, size: int, shifted: bool, draw: Random
) -> None:
    """The limit of step 9, exactly: attention on S by powers of two, one token elsewhere.

    Modulo any V it adds min(n - 1, T - dim V), for some z with one of them large.
    """
    T = 7
    V = [[fmpq(draw.randint(-3, 3)) for _ in range(T)] for _ in range(size)]
    V += [[fmpq(1)] * T] if shifted else []
    dimension = fmpq_mat(V).rank() if V else 0
    m = min(n - 1, T - dimension)
    units = [[fmpq(int(t == s)) for t in range(T)] for s in range(T)]
    S: list[int] = []
    for t in range(T):
        if len(S) < m and fmpq_mat([*V, *(units[s] for s in [*S, t])]).rank() > dimension + len(S):
            S.append(t)
    token = [draw.randrange(2) for _ in range(T)]  # what an example outside of S attends to
    best = 0
    for large in range(-1, m):
        z = [60 if k == large else 3 * k + 2 for k in range(m)]
        rows = [[fmpq(int(j == token[t])) for j in range(n)] for t in range(T)]
        for t, y in zip(S, z, strict=True):
            powers = [fmpq(1, 2 ** (j * y)) for j in range(n)]
            rows[t] = [p / sum(powers, fmpq(0)) for p in powers]
        columns = [[row[j] for row in rows] for j in range(1, m + 1)]
        best = max(best, fmpq_mat([*V, *columns]).rank() if V or m else 0)
    assert best == dimension + m
