"""False uses of joint substitution, of blocks and of the bounds of algebras: the terms are known.

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
from lemmax.theory.tensors.stages import quickly_proved

Certificate = dict[str, Any]
Step = dict[str, Any]
Rows = list[list[int]]
PRIMES = ("2", "3", "5", "101", str(2**61 - 1), str(2**61 - 1), str(2**61 - 1))
NAMES = ("joint", "radical", "algebra", "blocks")  # lemmas that are attacked here
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


# Strassen's seven products of two by two matrices, with the columns of the one and the rows of the
# other as two blocks each.
_SEVEN = (
    ([1, 0, 0, 1], [1, 0, 0, 1]),
    ([0, 1, 0, 1], [1, 0, 0, 0]),
    ([1, 0, 0, 0], [0, 1, 0, -1]),
    ([0, 0, 0, 1], [-1, 0, 1, 0]),
    ([1, 0, 1, 0], [0, 0, 0, 1]),
    ([-1, 1, 0, 0], [1, 1, 0, 0]),
    ([0, 0, 1, -1], [0, 0, 1, 1]),
)
Pairs = list[list[Any]]  # of vectors: matrices of rank one


def _vector(rng: random.Random, sizes: Sequence[int], block: int) -> Any:
    entries = [rng.choice([0, 1, 1, -1]) for _ in range(sizes[block])]
    return np.array([*[0] * (sizes[0] * block), *entries, *[0] * (sizes[1] * (1 - block))], object)


def _pairs(rng: random.Random) -> tuple[list[list[int]], Pairs]:
    """The sizes of the blocks, and matrices of rank one: some in a block, some in none.

    Few vectors are the parts of those in none, so that many combinations of them are in the blocks.
    """
    kind = rng.choice(["seven", "five", "five", "five", "mixed", "mixed", "none"])
    sizes = [[2, 2] if kind == "seven" else [rng.randint(2, 3) for _ in "12"] for _ in "12"]
    if kind == "mixed":
        sizes = [[rng.randint(1, 3) for _ in "12"] for _ in "12"]
    (p, x1, q, x2), (q1, y1, p2, y2) = (
        [_vector(rng, own, block) for block in (0, 0, 1, 1)] for own in sizes
    )
    pairs: Pairs = []
    if kind == "seven":
        pairs = [[np.array(x, object) for x in pair] for pair in _SEVEN]
    elif kind == "five":  # Strassen's for three of four entries
        pairs = [[p, p2 + y1], [p + x2, p2], [q + x1, q1], [q, q1 + y2], [p + q, p2 + q1]]
    elif kind == "mixed":
        for _ in range(rng.randint(2, 7)):
            a, b = rng.choice([p, x1]), rng.choice([q, x2])
            c, d = rng.choice([q1, y1]), rng.choice([p2, y2])
            pairs.append([rng.choice([a, b, a + b]), rng.choice([c, d, c + d])])
    for _ in range(rng.choice([0, 1, 2, 2, 3, 4])):
        block = rng.randrange(2)
        pairs.append([_vector(rng, own, block) for own in sizes])
    return sizes, pairs


def two_blocks(rng: random.Random) -> tuple[Any, list[list[Any]], list[list[list[int]]]]:
    """A tensor of two blocks that share the first mode, its terms, and the indices of the blocks.

    Its slices are the combinations of some matrices of rank one that lie in the blocks, or a part;
    in some cases one is not in the blocks.
    """
    sizes, pairs = _pairs(rng)
    b, c = (own[0] for own in sizes)
    products = [np.outer(*pair) for pair in pairs]
    outside = [[*M[:b, c:].ravel(), *M[b:, :c].ravel()] for M in products]
    rows = _whole(left_null_space(_matrix(outside))) if pairs else []
    if rng.random() < 0.15:  # one slice more, which is often outside
        rows.append([rng.choice([0, 0, 1]) for _ in pairs])
    for _ in range(rng.choice([0, 0, 0, 1, 2]) if len(rows) > 2 else 0):
        i, j = rng.sample(range(len(rows)), 2)
        added = [x + y for x, y in zip(rows[i], rows[j], strict=True)]
        rows[i] = added
        if rng.random() < 0.5:
            rows.pop(j)
    T = np.zeros((len(rows), *map(sum, sizes)), dtype=object)
    for j, M in enumerate(products):
        T = T + np.multiply.outer(np.array([row[j] for row in rows], dtype=object), M)
    terms = [[[row[j] for row in rows], *map(list, pair)] for j, pair in enumerate(pairs)]
    halves = [[[*range(n)] for n in (b, c)], [[*range(own[0], sum(own))] for own in sizes]]
    return T, terms, halves


def _of_block(rng: random.Random, part: Any) -> tuple[list[Step], int]:
    """A proof for a block, and the bound that it gives."""
    if rng.random() < 0.3:
        bound = quickly_proved(part.astype(np.int64), "Q")
        return list(bound.steps), bound.value
    closing, rank = _flattened(rng, part)
    nothing = {"lemma": "restriction", "maps": [[], [], []]}
    return rng.choice([[closing], [closing], [nothing, closing]]), rank


def blocks(rng: random.Random) -> tuple[Certificate, int, int]:
    """Two planted blocks with their honest step, the number of planted terms, and what it gives."""
    T, terms, halves = two_blocks(rng)
    while len(T) == 0 or not all(_part(T, half).any() for half in halves):
        T, terms, halves = two_blocks(rng)
    parts = [_part(T, half) for half in halves]
    rank, *ranks = (_matrix(X.reshape(len(X), -1)).rank() for X in (T, *parts))
    proofs, bounds = zip(*(_of_block(rng, part) for part in parts), strict=True)
    exact = all(bound <= r for bound, r in zip(bounds, ranks, strict=True))
    more, alone = 2 if sum(ranks) - rank == 3 and exact else 3, []
    for own in rng.sample(range(2), 2):
        rows = _whole(left_null_space(_matrix(parts[1 - own].reshape(len(T), -1))))
        inside = np.tensordot(np.array(rows, dtype=object), parts[own], 1) if rows else rows
        if not np.any(inside):
            continue
        steps, needed = _of_block(rng, inside)
        if needed > rank - ranks[1 - own] or rng.random() < 0.1:
            alone.append({"block": own, "combinations": _text(rows), "proof": steps})
            more = 3 if more and needed > rank - ranks[1 - own] else 0
    b, c = map(len, halves[0])
    apart = not T[:, :b, c:].any() and not T[:, b:, :c].any()
    gain = min(sum(bounds), rank + more) if more and apart else 0
    order = rng.sample(range(3), 3)
    mode = order.index(0)
    first = [halves[0][m - 1] for m in order if m]
    step = {"lemma": "blocks", "mode": mode, "first": first, "proofs": list(proofs), "alone": alone}
    _reordered(step, order)
    made = {"terms": [_text([term[m] for m in order]) for term in terms], "families": []}
    base = {"field": rng.choice("QRC"), "proof": [step], **made}
    return {"tensor": tensor_fields(T.transpose(order)), **base}, len(terms), gain


def _part(T: Any, half: list[list[int]]) -> Any:
    return T[np.ix_(range(len(T)), *half)]


def _reordered(step: Step, order: list[int]) -> None:
    """The steps for the blocks, where the modes stand in another order."""
    for steps in (*step["proofs"], *(one["proof"] for one in step["alone"])):
        for one in steps:
            for name in ("mode", "columns"):
                if name in one:
                    one[name] = order.index(one[name])
            if "maps" in one:
                one["maps"] = [one["maps"][m] for m in order]


def changed_blocks(rng: random.Random, step: Step) -> None:
    """One field changed in a way that would raise the bound, or that breaks what it rests on."""
    flat = {"lemma": "flattening", "mode": rng.randrange(3), "prime": rng.choice(PRIMES)}
    koszul = {**flat, "lemma": "koszul"}
    hitting = {"lemma": "transversal", "mode": flat["mode"], "columns": rng.randrange(3)}
    false = [[flat], [koszul], [{**hitting, "hitting": rng.randint(1, 4)}], [flat, flat]]
    nested = copy.deepcopy(step)
    nested["alone"] = rng.choice([[], nested["alone"]])
    false.append([nested])
    alone, chosen = step["alone"], rng.choice(step["first"])
    change = rng.choice(["proof", "twice", "swap", "first", "mode", "new", *["alone"] * 4])
    one = rng.choice([x for x in alone if type(x["combinations"][0]) is list] or [None])
    if change == "proof":
        step["proofs"][rng.randrange(2)] = rng.choice(false)
    elif change == "twice":
        step["proofs"] = [rng.choice(step["proofs"])] * 2
    elif change == "swap":
        step["proofs"] = step["proofs"][::-1]
    elif change == "mode":
        step["mode"] = rng.randrange(3)
    elif change == "first":
        move = rng.choice(["more", "fewer", "other", "repeated", "exchanged"])
        if move == "fewer" and len(chosen) > 1:
            chosen.pop(rng.randrange(len(chosen)))
        elif move == "exchanged":
            step["first"] = step["first"][::-1]
        else:
            own = {"more": rng.randrange(6), "repeated": chosen[0]}.get(move, rng.randrange(4))
            chosen[:] = [own] if move == "other" else [*chosen, own]
    elif change == "new" or one is None:
        width = len(one["combinations"][0]) if one else rng.choice([3, 3, 4, 5])
        rows: Any = [
            [rng.choice([0, 0, 1, -1]) for _ in range(width)] for _ in range(rng.randint(1, 3))
        ]
        units = [[int(i == j) for j in range(width)] for i in range(width)]
        some = rng.sample(range(width), rng.randint(1, width))
        made = rng.choice([some, _text(rows), _text(units), _text([units[i] for i in some])])
        more = {"block": rng.randrange(2), "combinations": made, "proof": rng.choice(false)}
        alone.insert(rng.randint(0, len(alone)), more)
    else:
        _changed_alone(rng, one, false)


def _changed_alone(rng: random.Random, one: Step, false: list[list[Step]]) -> None:
    """Combinations that do not vanish, that are only a part, or that are many; a false proof."""
    rows, change = one["combinations"], rng.randrange(7)
    if change == 0:
        one["block"] = 1 - one["block"]
    elif change == 1 and len(rows) > 1:
        rows.pop(rng.randrange(len(rows)))
    elif change == 2:
        rows.append([rng.choice(["0", "1", "-1"]) for _ in rows[0]])
    elif change == 3:
        rows.append([str(int(x) * 10 ** rng.choice([1, 30, 900])) for x in rng.choice(rows)])
    elif change == 4:
        one["combinations"] = rng.sample(range(len(rows[0])), rng.randint(1, len(rows[0])))
    elif change == 5:
        rng.choice(rows)[rng.randrange(len(rows[0]))] = rng.choice(["0", "1", "-1", "2"])
    else:
        one["proof"] = rng.choice(false)


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


def block_steps(rng: random.Random) -> tuple[Certificate, bool]:
    """R + 1 by two blocks, where R terms are planted."""
    return forged(rng, blocks, changed_blocks)
