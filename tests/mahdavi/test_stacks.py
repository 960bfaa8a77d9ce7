"""Stacks of layers on one shared context: what each head adds, and labels that a stack gives."""

from random import Random

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


def built(E: Floats, queries: Floats, H: int, layers: int, eps: float) -> tuple[Floats, Floats]:
    """The limit of step 4 at random parameters, and the outputs of the stack with its weights."""
    random = np.random.default_rng(7)
    n, d = E.shape
    u = np.ones(d) / d + random.normal(0, 0.05, d)
    x, xi = queries @ u, E @ u  # which never change
    assert (x > 0).all()
    q = random.normal(0, 1, n)
    q -= (q @ xi) / (xi @ xi) * xi
    v = E.T @ q if d == n else random.normal(0, 1, d)
    v = v - (v @ u) / (u @ u) * u
    a = np.array([0.0, 0.0, *(1.0 + np.arange(n - 2))])
    alpha = float(random.normal())
    p = np.array(random.normal(0, 1, n))
    p[1] = p[0]

    f, now, made = np.zeros(len(x)), E.copy(), []
    for _ in range(layers - 1):
        heads = random.normal(0, 1, (H, n))
        values = random.normal(0, 1, (H, n))
        if d == n:  # the constant that keeps q · ρ = 0
            values[0] -= (q @ _added(heads, values, xi)) / q.sum()
        inverse = np.linalg.pinv(now)
        made.append([
            (np.outer(inverse @ b, u), np.outer(inverse @ g, v))
            for b, g in zip(heads, values, strict=True)
        ])  # fmt: skip
        f += _added(heads, values, x)
        now = now + np.outer(_added(heads, values, xi), v)
    heads, values = random.normal(0, 1, (2, H - 1, n))
    theta = np.array([softmax(a * y) for y in x])
    s = queries @ v / (v @ v) + alpha * x + f
    limit = theta[:, 0] * s + theta @ p + _added(heads, values, x)

    inverse = np.linalg.pinv(now)
    sign = np.array([1.0, -1.0, *np.zeros(n - 2)])
    first = np.outer(inverse @ a, u) + eps / 2 * np.outer(inverse @ sign, v / (v @ v) + alpha * u)
    last = [(first, inverse @ (p + sign / eps))]
    last += [(np.outer(inverse @ b, u), inverse @ g) for b, g in zip(heads, values, strict=True)]
    return limit, stack(E, queries, made, last)


def _added(heads: Floats, values: Floats, x: Floats) -> Floats:
    """What the heads of a layer add along v at the coordinates x."""
    added = [sum(g @ softmax(b * y) for b, g in zip(heads, values, strict=True)) for y in x]
    return np.array(added, dtype=np.float64)


@pytest.mark.parametrize("more", [0, 2])
@pytest.mark.parametrize(("n", "H", "layers"), SIZES)
def test_a_stack_gives_what_the_limit_says(n: int, H: int, layers: int, more: int) -> None:
    """By the definition of a stack, with the weights of the proof; the error falls with ε²."""
    random = np.random.default_rng(1 + n + H + layers + more)
    T, d = layers * H * (n - 1) + 1, n + more
    E = random.normal(0, 1, (n, d))
    queries = np.linspace(0.5, 3, T)[:, None] + random.normal(0, 0.1, (T, d))
    errors = []
    for eps in (1e-2, 1e-3):
        limit, outputs = built(E, queries, H, layers, eps)
        errors.append(float(np.abs(outputs - limit).max()))
    assert errors[0] < 0.1
    assert errors[1] < errors[0] / 50
