r"""tensor-rank: ``rank_is (tensor_of F (facts_db a b c facts)) r`` for a table of facts.

Other tensors are ``ztensor F a b c d T``, the integers T over d. The proof from below repeats the
certificate's steps, with a rotation of the modes before each, so that the mode a step keeps is
the first one. Since a proof holds over every numerical field, so does the theorem.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from lemmax.theory.proving import literals, numbers
from lemmax.theory.proving.theorem import NotTranslated, Parsed, Theorem

Cube = list[list[list[int]]]
_SIZES = r"F (?P<a>\d+) (?P<b>\d+) (?P<c>\d+)"
_STATEMENT = re.compile(
    rf"\(F : numFieldType\) : rank_is \((?:ztensor {_SIZES} d T|"
    r"tensor_of F \(facts_db (?P<i>\d+) (?P<j>\d+) (?P<k>\d+) facts\))\) (?P<r>\d+)%N"
)


def entries_of(certificate: Mapping[str, Any]) -> dict[tuple[int, int, int], Fraction]:
    """The nonzero entries of the tensor, by their indices."""
    return {(i, j, k): numbers.number(x) for i, j, k, x in certificate["tensor"]["entries"]}


def _is_table(entries: Mapping[tuple[int, int, int], Fraction]) -> bool:
    pairs = {(i, j) for i, j, _ in entries}
    return len(pairs) == len(entries) > 0 and set(entries.values()) == {Fraction(1)}


def cube(shape: Sequence[int], entries: Mapping[tuple[int, int, int], Fraction], d: int) -> Cube:
    a, b, c = shape
    return [
        [[int(entries.get((i, j, k), Fraction(0)) * d) for k in range(c)] for j in range(b)]
        for i in range(a)
    ]


def translate(certificate: Mapping[str, Any]) -> Theorem:
    """The theorem of a tensor-rank certificate whose bounds meet."""
    if certificate["lower"] != certificate["upper"]:
        raise NotTranslated("The bounds of the certificate do not meet.")
    if certificate["families"]:
        raise NotTranslated("Its decomposition is over the roots of a polynomial, not rational.")
    if "ball" in certificate:
        raise NotTranslated("A ball of real terms needs completeness, which no real field has.")
    r, (a, b, c) = certificate["upper"], certificate["tensor"]["shape"]
    entries = entries_of(certificate)
    d = math.lcm(*(x.denominator for x in entries.values()))
    T = cube((a, b, c), entries, d)
    terms = [[[numbers.number(x) for x in part] for part in term] for term in certificate["terms"]]
    scale, whole = integral(terms)
    decomposition = literals.write(whole)
    table = _is_table(entries)
    steps = certificate["proof"]
    sizes = " ".join(f"{x}%N" for x in (a, b, c, r))
    if steps[-1]["lemma"] == "transversal":
        if not table or len(steps) > 1 or (steps[0]["mode"], steps[0]["columns"]) != (0, 1):
            raise NotTranslated("Its transversal is not that of the queries of a table.")
        _, minor = flattening(T)
        check = f"transversal_rank_sound F {sizes} facts {minor} {steps[0]['hitting']}%N"
    else:
        proof = lower(T, steps)
        data = "facts" if table else "d T"
        name = "database_rank_sound" if table else "tensor_rank_sound"
        check = f"{name} F {sizes} {data} ({proof})"
    proof = literals.folded(f"apply: (@{check} {scale}%bZ ({decomposition}%bZ)).")
    proof += "\nvm_cast_no_check (erefl true)."
    if table:
        facts = [tuple(fact) for fact in sorted(entries)]
        return Theorem(
            {"facts": ("seq (nat * nat * nat)", facts)},
            f"(F : numFieldType) :\n  rank_is (tensor_of F (facts_db {a} {b} {c} facts)) {r}%N",
            proof,
        )
    return Theorem(
        {"d": ("Z", d), "T": ("cube", T)},
        f"(F : numFieldType) : rank_is (ztensor F {a} {b} {c} d T) {r}%N",
        proof,
    )


def integral(terms: list[list[list[Fraction]]]) -> tuple[int, list[tuple[list[int], ...]]]:
    """A scale s > 0 and integer vectors with s · Σ of the terms = Σ of the integer terms."""
    scales = [[math.lcm(*(x.denominator for x in part)) for part in term] for term in terms]
    whole = math.lcm(*(math.prod(scale) for scale in scales)) if scales else 1
    found = []
    for term, scale in zip(terms, scales, strict=True):
        extra = whole // math.prod(scale)
        parts = [[int(x * s) for x in part] for part, s in zip(term, scale, strict=True)]
        parts[0] = [x * extra for x in parts[0]]
        found.append(tuple(parts))
    return whole, found


def flattening(T: Cube) -> tuple[int, str]:
    """The rank of the flattening that keeps the first mode, and the arguments that show it."""
    b, c = len(T[0]), len(T[0][0])
    flat = [[Fraction(x) for row in part for x in row] for part in T]
    rows, columns = numbers.pivots(flat)
    p, inverse = numbers.small_inverse([[int(flat[i][j]) for j in columns] for i in rows])
    places = [(j // c, j % c) for j in columns]
    assert b * c == len(flat[0])
    return len(rows), (
        f"{p}%bZ ({literals.write(rows)}%N) ({literals.write(places)}%N) "
        f"({literals.write(inverse)}%bZ)"
    )


def rotated(T: Cube) -> Cube:
    """T'_vkq = T_kqv."""
    return [
        [[T[k][q][v] for q in range(len(T[0]))] for k in range(len(T))] for v in range(len(T[0][0]))
    ]


def turned(T: Cube, times: int) -> Cube:
    for _ in range(times):
        T = rotated(T)
    return T


def _maps(value: list[Any], size: int) -> list[list[int]]:
    """The rows of the map of one mode: the identity, a selection, or integer combinations."""
    if not value:
        value = list(range(size))
    if isinstance(value[0], int):
        return [[int(i == j) for j in range(size)] for i in value]
    return [[int(numbers.number(x)) for x in row] for row in value]


def _restricted(T: Cube, beta: list[list[int]], gamma: list[list[int]]) -> Cube:
    return [
        [
            [
                sum(
                    x * y * part[q][v]
                    for q, x in enumerate(row)
                    if x
                    for v, y in enumerate(column)
                    if y
                )
                for column in gamma
            ]
            for row in beta
        ]
        for part in T
    ]


# A mode is brought to the front by so many rotations: after one the third mode is first.
_TURNS = {0: 0, 2: 1, 1: 2}


def lower(T: Cube, steps: Sequence[Mapping[str, Any]]) -> str:
    """The Coq term of the steps, applied to T in its own order of modes."""
    step, rest = steps[0], steps[1:]
    if step["lemma"] == "flattening":
        turns = _TURNS[step["mode"]]
        _, minor = flattening(turned(T, turns))
        return "Rotation (" * turns + f"Flattening {minor}" + ")" * turns
    if step["lemma"] == "restriction":
        return _restriction(T, step["maps"], 3, lambda X: lower(X, rest))
    if step["lemma"] == "substitution":
        mode = step["mode"]
        turns = _TURNS[mode]
        X = turned(T, turns)
        order = [(mode + i) % 3 for i in range(3)]
        maps = [step["maps"][i] for i in order]
        beta, gamma = _maps(maps[1], len(X[0])), _maps(maps[2], len(X[0][0]))
        Y = _restricted(X, beta, gamma)
        _, minor = flattening(X)
        after = numbers.factors([[Fraction(x) for row in part for x in row] for part in Y])
        rank = len(after[1])
        d, left = numbers.cleared(after[0])
        c = len(gamma)
        right = [
            [[int(x) for x in row[i : i + c]] for i in range(0, len(row), c)] for row in after[1]
        ]
        # back to the order of modes of T, then the map of the mode itself, then the rest
        back = (3 - turns) % 3

        def close(Z: Cube) -> str:
            own = [step["maps"][m] if m == mode else [] for m in range(3)]
            return _restriction(Z, own, 3, lambda X: lower(X, rest))

        inner = "Rotation (" * back + close(turned(Y, back)) + ")" * back
        return (
            "Rotation (" * turns
            + f"Substitution {len(beta)} {len(gamma)} ({literals.write(beta)}%bZ) "
            + f"({literals.write(gamma)}%bZ) {minor} {rank} {d}%bZ ({literals.write(left)}%bZ) "
            + f"({literals.write(right)}%bZ) ({inner})"
            + ")" * turns
        )
    raise NotTranslated(f"Its step {step['lemma']} has no checker that is proved in Coq.")


def _restriction(T: Cube, maps: Sequence[list[Any]], turns: int, then: Any) -> str:
    """Apply the maps of all modes: two at once, one more after a rotation, and turn back."""
    if not any(maps):
        return str(then(T))
    beta, gamma = _maps(maps[1], len(T[0])), _maps(maps[2], len(T[0][0]))
    X = _restricted(T, beta, gamma)
    alpha = _maps(maps[0], len(T))
    once = rotated(X)  # modes 2, 0, 1: the first mode is now the second
    same = _maps([], len(once[0][0]))
    Y = _restricted(once, alpha, same)
    Z = rotated(rotated(Y))

    def term(second: list[list[int]], third: list[list[int]], inside: str) -> str:
        return (
            f"Restriction {len(second)} {len(third)} ({literals.write(second)}%bZ) "
            f"({literals.write(third)}%bZ) ({inside})"
        )

    inside = f"Rotation (Rotation ({then(Z)}))"
    return term(beta, gamma, f"Rotation ({term(alpha, same, inside)})")


def read_back(parsed: Parsed) -> Any:
    """What the written theorem says: the shape, the nonzero entries and the rank."""
    match = _STATEMENT.fullmatch(parsed.statement)
    if match is None:
        return None
    entries: dict[tuple[int, int, int], Fraction] = {}
    if match["a"]:
        if set(parsed.data) != {"d", "T"}:
            return None
        shape = tuple(int(match[x]) for x in "abc")
        T: Any = parsed.data["T"]
        d: Any = parsed.data["d"]
        if len(T) != shape[0] or any(len(part) != shape[1] for part in T):
            return None
        for i, part in enumerate(T):
            for j, row in enumerate(part):
                if len(row) != shape[2]:
                    return None
                entries |= {(i, j, k): Fraction(x, d) for k, x in enumerate(row) if x}
    else:
        if set(parsed.data) != {"facts"}:
            return None
        shape = tuple(int(match[x]) for x in "ijk")
        facts: Any = parsed.data["facts"]
        for fact in facts:
            inside = all(0 <= x < n for x, n in zip(fact, shape, strict=True))
            if not inside or any(fact[:2] == known[:2] for known in entries):
                return None  # out of range, or asked about twice
            entries[fact] = Fraction(1)
    return shape, entries, int(match["r"])


def meant(certificate: Mapping[str, Any]) -> Any:
    """The same of the certificate."""
    return tuple(certificate["tensor"]["shape"]), entries_of(certificate), certificate["upper"]
