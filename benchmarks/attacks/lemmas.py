"""False uses of joint substitution and of the bounds of algebras, on tensors with known terms.

Every instance is a tensor with a decomposition of R terms, and a proof that would give more than R:
made as an honest one is, then changed in one place or in none. No such certificate is true, so
whatever is accepted is a false acceptance. One in five asserts what its honest steps prove, at most
R, so that it shows that such steps are accepted.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from flint import fmpq_mat, fmpz_mat

from lemmax.theory.numbers.linear import integers, left_null_space, null_space
from lemmax.theory.tensors.above.algebras import algebra_terms
from lemmax.theory.tensors.algebras.groups import quaternions, truncated
from lemmax.theory.tensors.algebras.structure import structure
from lemmax.theory.tensors.below.algebras import algebra_bound
from lemmax.theory.tensors.examples import cyclic, matrix_product
from lemmax.theory.tensors.ranks import tensor_fields

Certificate = dict[str, Any]
Step = dict[str, Any]
Rows = list[list[int]]
PRIMES = ("2", "3", "5", "101", str(2**61 - 1), str(2**61 - 1), str(2**61 - 1))
NAMES = ("joint", "radical", "algebra")  # lemmas that are attacked here
_LARGEST = 9  # dimension of a product of algebras


def _text(rows: Sequence[Sequence[Any]]) -> list[list[str]]:
    return [[str(x) for x in row] for row in rows]


def _whole(rows: Sequence[Sequence[Any]]) -> Rows:
    return [[int(x) for x in integers(row)] for row in rows]


def _matrix(rows: Any) -> fmpq_mat:
    return fmpq_mat(fmpz_mat([[int(x) for x in row] for row in rows]))


def _kernel(images: Any, forms: Rows) -> Rows:
    """Coordinates of what all the forms kill, of the space whose basis has these images."""
    values = [(np.array(forms, dtype=object) @ part.T).ravel().tolist() for part in images]
    return _whole(left_null_space(_matrix(values)))


def joint_step(rng: random.Random, T: Any) -> tuple[Step, Any, bool]:
    """Two random spaces with levels, what remains of the tensor, and whether the levels are honest.

    Where the condition fails, the last level lies that nothing is left.
    """
    order = rng.sample(range(3), 3)
    X = np.array(T, dtype=object).transpose(order)
    a, b, c = X.shape
    spaces = [_space(rng, n) for n in (a, b)]
    U, V = (np.array(rows, dtype=object) for rows in spaces)
    left = [*np.tensordot(U, X, (1, 0)).reshape(-1, c), *np.tensordot(V, X, (1, 1)).reshape(-1, c)]
    last = _whole(null_space(_matrix(left))) or [[0] * c]
    levels, honest = [], True
    while len(U) or len(V):
        over_u, over_v = np.tensordot(U, X, (1, 0)), np.tensordot(V, X, (1, 1))
        products: Any = np.tensordot(V, over_u, (1, 1)).reshape(-1, c) if len(U) and len(V) else []
        empty = [[int(i == j) for j in range(c)] for i in range(c)]
        forms = _whole(null_space(_matrix(products))) if len(products) else empty
        if not forms:
            forms = [[0] * c]
        first = _kernel(over_u, forms) if len(U) else []
        second = _kernel(over_v, forms) if len(V) else []
        if (len(first), len(second)) == (len(U), len(V)):
            first, second, honest = [], [], False
        levels.append({"functionals": _text(forms), "first": _text(first), "second": _text(second)})
        U = np.array(first, dtype=object).reshape(len(first), len(U)) @ U
        V = np.array(second, dtype=object).reshape(len(second), len(V)) @ V
    maps: list[Any] = [[], [], []]
    maps[order[2]] = _text(last)
    step = {"lemma": "joint", "mode": order[0], "columns": order[1], "levels": levels, "maps": maps}
    step |= {"first": _text(spaces[0]), "second": _text(spaces[1]), "prime": rng.choice(PRIMES)}
    rest = np.moveaxis(np.tensordot(np.array(last, dtype=object), X, (1, 2)), 0, 2)
    honest = honest and all(_matrix(rows).rank() == len(rows) for rows in spaces)
    return step, rest.transpose(np.argsort(order)), honest


def _space(rng: random.Random, n: int) -> Rows:
    """Rows that span a space, most of it or a part, rarely dependent ones."""
    rows = [[rng.choice([0, 0, 1, -1, 2]) for _ in range(n)] for _ in range(rng.randint(1, n))]
    units = [[int(i == j) for j in range(n)] for i in rng.sample(range(n), rng.randint(1, n))]
    return rng.choice([rows, units, units])


def _flattened(rng: random.Random, rest: Any) -> tuple[Step, int]:
    ranks = [_matrix(np.moveaxis(rest, m, 0).reshape(rest.shape[m], -1)).rank() for m in range(3)]
    mode = max(range(3), key=lambda m: ranks[m])
    return {"lemma": "flattening", "mode": mode, "prime": rng.choice(PRIMES)}, ranks[mode]


def joint(rng: random.Random) -> tuple[Certificate, int, int]:
    """A joint substitution on a planted tensor, the number of planted terms, and what it proves."""
    shape = [rng.randint(2, 4) for _ in range(3)]
    R = rng.randint(2, 6)
    terms = [[[rng.choice([0, 1, 1, -1, 2]) for _ in range(n)] for n in shape] for _ in range(R)]
    T = np.zeros(shape, dtype=object)
    for u, v, w in terms:
        T = T + np.einsum("i,j,k->ijk", *(np.array(x, dtype=object) for x in (u, v, w)))
    step, rest, honest = joint_step(rng, T)
    for _ in range(rng.choice([0, 7])):
        if honest:
            break
        step, rest, honest = joint_step(rng, T)
    closing, last = _flattened(rng, rest)
    gain = len(step["first"]) + len(step["second"]) + last if honest else 0
    made = {"terms": [[list(map(str, v)) for v in term] for term in terms], "families": []}
    base = {"field": rng.choice("QRC"), "proof": [step, closing], **made}
    return {"tensor": tensor_fields(T), **base}, R, gain


def changed_joint(rng: random.Random, step: Step) -> None:
    """One field changed in a way that raises the bound or hides that the condition fails."""
    level = rng.choice(step["levels"])
    side = rng.choice(["first", "second"])
    width = len(step[side][0])
    change = rng.choice(["more", "twice", "levels", "forms", "zero", "coordinates", "map", "modes"])
    if change == "more":
        step[side].append([str(rng.randint(-1, 1)) for _ in range(width)])
    elif change == "twice":
        step[side].append(list(rng.choice(step[side])))
    elif change == "levels":
        del step["levels"][rng.randrange(len(step["levels"])) :]
        step["levels"] = step["levels"] or [level]
    elif change == "forms":
        level["functionals"].append([str(rng.randint(-1, 1)) for _ in level["functionals"][0]])
    elif change == "zero":
        level["functionals"] = [["0"] * len(level["functionals"][0])]
    elif change == "coordinates":
        level[side] = level[side][:-1]
    elif change == "map":
        step["maps"] = [[], [], []]
    else:
        step["mode"], step["columns"] = step["columns"], step["mode"]


_FIELDS = (
    np.array([[[1, 0], [0, 1]], [[0, 1], [2, 0]]]),  # Q(√2)
    np.array([[[1, 0], [0, 1]], [[0, 1], [-1, 0]]]),  # Q(i)
)
_SMALL = (*map(cyclic, range(1, 6)), truncated(2), truncated(3), matrix_product(2), quaternions())


@cache
def product(seed: int, rooted: bool = False) -> tuple[Certificate, int, int] | None:
    """Algebras side by side in another basis, with the honest certificate; None if it has none."""
    rng = random.Random(f"product {seed}")
    parts = [quaternions() if rooted else rng.choice([*_FIELDS, *_SMALL])]
    while rng.random() < 0.6 and sum(map(len, parts)) < _LARGEST:
        parts.append(rng.choice([*_FIELDS, *_SMALL[:7]]))
    parts = parts if sum(map(len, parts)) <= _LARGEST else parts[:1]
    n, start = sum(map(len, parts)), 0
    T = np.zeros((n, n, n), dtype=object)
    for part in parts:
        end = start + len(part)
        T[start:end, start:end, start:end] = part
        start = end
    B = np.eye(n, dtype=object)
    for _ in range(rng.randint(0, 3)):  # elementary steps: the inverse is integral too
        i, j = rng.sample(range(n), 2) if n > 1 else (0, 0)
        if i != j:
            B[i] += rng.choice([1, -1]) * B[j]
    inverse = np.array(fmpz_mat(B.tolist()).inv().tolist(), dtype=object)
    T = np.einsum("ai,bj,ijk,kc->abc", B, B, T, np.vectorize(int, otypes=[object])(inverse))
    field: Any = "C" if rooted else rng.choice("QRC")
    found = structure(T.astype(np.int64)) if n > 1 else None
    bound = None if found is None else algebra_bound(found, field)
    terms = None if found is None else algebra_terms(found, field)
    if bound is None or terms is None:
        return None
    made = {"proof": list(bound.steps), **terms.certificate_fields()}
    return {"tensor": tensor_fields(T), "field": field, **made}, len(terms), bound.value


def algebra(rng: random.Random) -> tuple[Certificate, int, int]:
    """A product of algebras with its honest proof, the number of its terms, and what it proves."""
    while True:
        made = product(rng.randrange(120))
        if made is not None:
            return copy.deepcopy(made[0]), *made[1:]


def changed_algebra(rng: random.Random, step: Step) -> None:
    """One field changed in a way that would raise the bound, or that breaks what it rests on."""
    if step["lemma"] == "radical":
        change = rng.choice(["larger", "map", "kept"])
        n = len(step["unit"])
        if change == "larger":
            step["ideal"].append([str(rng.randint(-1, 1)) for _ in range(n)])
            step["map"] = step["map"][:-1] or step["map"]
        elif change == "map":
            row = rng.choice(step["map"])
            row[rng.randrange(n)] = str(rng.randint(-2, 2))
        else:
            step["kept"] = sorted(rng.sample(range(n), len(step["kept"])))
        return
    factors = step["factors"]
    change = rng.choice(["join", "drop", "degree", "point", "element", "unit", "split", "root"])
    one = rng.choice(factors)
    if change == "join" and len(factors) > 1:  # a product is called irreducible
        first, second = rng.sample(range(len(factors)), 2)
        p, q = (list(map(int, factors[i]["polynomial"])) for i in (first, second))
        both = np.convolve(p, q).tolist()
        point = rng.choice([3, 10, 97, 1009])
        value = abs(sum(c * point**k for k, c in enumerate(both)))
        joined = {"polynomial": [str(c) for c in both], "degree": one["degree"]}
        joined |= {"point": str(point), "prime": str(rng.choice([value, 2, 3, 7]))}
        kept = [f for i, f in enumerate(factors) if i not in (first, second)]
        step["factors"] = [*kept, joined]
    elif change == "drop" and len(factors) > 1:
        factors.remove(one)
    elif change == "degree":
        one["degree"] += rng.choice([1, 1, -1]) if one["degree"] > 1 else 1
    elif change == "point":
        one["point"], one["prime"] = str(rng.choice([0, 1, 2, 97])), rng.choice(PRIMES)
    elif change == "element":
        step["element"][rng.randrange(len(step["element"]))] = str(rng.randint(-3, 3))
    elif change == "unit":
        step["unit"][rng.randrange(len(step["unit"]))] = str(rng.randint(-1, 1))
    elif change == "split":
        factors.append(dict(one))
    else:
        one["polynomial"][0] = str(int(one["polynomial"][0]) + rng.choice([-1, 1]))


def at_a_root(rng: random.Random) -> tuple[Certificate, bool]:
    """Terms at one root of a polynomial, of an algebra with quaternions; and if that is false.

    Over C the bound and the number of terms agree, so no sum of fewer terms is right. False ones
    have one term less, two made one, another polynomial or other entries; honest ones are left.
    """
    made = None
    while made is None:
        made = product(rng.randrange(40), rooted=True)
    base, R = json.loads(json.dumps(made[0])), made[2]
    false = rng.random() < 0.8
    if not false:
        return {**base, "lower": R, "upper": R}, False
    bundle = rng.choice([family for family in base["families"] if "terms" in family])
    terms = bundle["terms"]
    gone = terms.pop(rng.randrange(len(terms)))
    for _ in range(rng.randint(0, 3)):
        change = rng.choice(["join", "entry", "modulus", "root", "double"])
        one = rng.choice(terms)
        mode = rng.randrange(3)
        if change == "join":  # what two terms share is put together
            one[mode] = [
                [str(Fraction(x) + Fraction(y)) for x, y in zip(p, q, strict=True)]
                for p, q in zip(one[mode], gone[mode], strict=True)
            ]
        elif change == "entry":
            rng.choice(one[mode])[rng.randrange(2)] = rng.choice(["0", "1", "-1", "1/2", "2"])
        elif change == "modulus":
            bundle["modulus"] = rng.choice([["-1", "0", "1"], ["0", "0", "1"], ["4", "0", "1"]])
        elif change == "root":
            bundle["modulus"] = ["0", "1"]
            bundle["terms"] = [[[[x[0]] for x in v] for v in term] for term in terms]
            break
        else:
            one[mode] = [[str(2 * Fraction(x)) for x in p] for p in one[mode]]
    return {**base, "lower": R - 1, "upper": R - 1}, True


def forged(
    rng: random.Random,
    planted: Callable[[random.Random], tuple[Certificate, int, int]],
    changed: Callable[[random.Random, Step], None],
) -> tuple[Certificate, bool]:
    """A certificate of one of the lemmas, and whether what it asserts is false."""
    base, R, proved = planted(rng)
    base = json.loads(json.dumps(base))
    false = rng.random() < 0.8 or not proved
    steps = [step for step in base["proof"] if step["lemma"] in NAMES]
    for _ in range(rng.choice([0, 1, 1, 2]) if false else 0):
        changed(rng, rng.choice(steps))
    if false:
        base["terms"].append([["0"] * n for n in base["tensor"]["shape"]])
    lower = R + 1 if false else min(proved, R)  # more than R would be a false theorem
    return {**base, "lower": lower, "upper": R + false}, false


def joint_steps(rng: random.Random) -> tuple[Certificate, bool]:
    """R + 1 by substitution in two modes at once, where R terms are planted."""
    return forged(rng, joint, changed_joint)


def algebras(rng: random.Random) -> tuple[Certificate, bool]:
    """R + 1 by the parts of an algebra with R terms."""
    return forged(rng, algebra, changed_algebra)
