"""Smaller instances: what can be left out of an instance, or written with smaller numbers."""

from __future__ import annotations

import copy
import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from lemmax.theory.hunting.question import Instance
from lemmax.theory.hunting.sizes import size_of

_Path = tuple[Any, ...]
_SHORT = 3  # entries of a row that takes the place of another, and how large they are


def shrunk(
    instance: Instance,
    keeps: Callable[[Instance], bool],
    late: Callable[[], bool] = lambda: False,
) -> Instance:
    """An instance that no single step makes smaller and that still has the property.

    When it gets ``late`` the smallest so far is returned.

    >>> big = {"M": [["3", "0"], ["0", "5"]]}
    >>> shrunk(big, lambda i: any(x != "0" for row in i["M"] for x in row))
    {'M': [['1']]}
    """
    best, size = instance, size_of(instance)
    moved = True
    while moved:
        moved = False
        for candidate in smaller(best):
            if late():
                return best
            if size_of(candidate) < size and keeps(candidate):
                best, size, moved = candidate, size_of(candidate), True
                break
    return best


def smaller(instance: Instance) -> Iterator[Instance]:
    """Instances that leave something out, large steps first, then ones with smaller numbers."""
    yield from _fewer_facts(instance)
    yield from _fewer_tokens(instance)
    yield from _fewer_dimensions(instance)
    yield from _fewer_heads(instance)
    yield from _fewer_lines(instance)
    yield from _divided(instance)
    for path, text in leaves(instance):
        for other in _simpler(text):
            yield changed(instance, path, other)
    yield from _other_rows(instance)


def leaves(value: Any, path: _Path = ()) -> Iterator[tuple[_Path, str]]:
    """Every number that is written as a text, with its path; names are no numbers."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in ("facts", "tokens", "unit", "scale"):
                yield from leaves(part, (*path, key))
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from leaves(part, (*path, i))
    elif isinstance(value, str):
        try:
            Fraction(value)
        except ValueError:
            return
        yield path, value


def changed(instance: Instance, path: _Path, text: str) -> Instance:
    """The same instance with another number at one place."""
    other = copy.deepcopy(instance)
    place: Any = other
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = text
    return other


def neighbour(instance: Instance, draw: random.Random) -> Instance:
    """The instance with one or two numbers changed, for walks."""
    places = list(leaves(instance))
    for _ in range(draw.choice((1, 1, 2))):
        if not places:
            break
        path, text = draw.choice(places)
        step = draw.choice((-1, 1, -1, 1, -2, 2))
        x = Fraction(text)
        near = [str(x + step), "0", draw.choice(places)[1]]
        if x.denominator > 1:  # the next fraction with the same distance from 0, or from 1
            q = max(2, x.denominator + step)
            near += [
                str(Fraction(x.numerator, q)),
                str(Fraction(x.numerator - x.denominator + q, q)),
            ]
        instance = changed(instance, path, draw.choice(near))
    return instance


def _simpler(text: str) -> Iterator[str]:
    x = Fraction(text)
    size = size_of(text)
    tried = {Fraction(0), Fraction(1), Fraction(-1), Fraction(round(x)), x / 2, -x}
    tried |= {x - 1, x + 1, Fraction(1, 2), Fraction(int(x / 2)), x.limit_denominator(9)}
    p, q = x.numerator, x.denominator
    lower = {q - 1, q // 2, *(q - q // part for part in (10, 100, 1000))} - {0, q}
    tried |= {Fraction(y, z) for z in lower for y in (p, p - q + z)}  # as near to 0, or to 1
    tried |= {Fraction(int(x * 9 / 10))}
    for y in sorted(tried, key=size_of):
        if size_of(y) < size:
            yield str(y)


def _fewer_lines(instance: Instance) -> Iterator[Instance]:
    """Without a row or a column of a matrix, in one matrix or in all that have as many."""
    for name, value in instance.items():
        if not _is_matrix(value):
            continue
        for axis, count in enumerate((len(value), len(value[0]))):
            for i in range(count if count > 1 else 0):
                yield {**instance, name: _without(value, axis, i)}
                for square in (False, True):  # from square ones a column, or a row and a column
                    alike = {
                        other: _without_all(M, count, i, square)
                        for other, M in instance.items()
                        if _is_matrix(M) and count in (len(M), len(M[0]))
                    }
                    if len(alike) > 1:
                        yield {**instance, **alike}
    for name, value in instance.items():
        if isinstance(value, list) and value and _is_matrix(value[0]):  # a tensor
            for i in range(len(value) if len(value) > 1 else 0):
                yield {**instance, name: value[:i] + value[i + 1 :]}
            for axis, count in enumerate((len(value[0]), len(value[0][0]))):
                for i in range(count if count > 1 else 0):
                    cut = [_without(M, axis, i) for M in value]
                    yield {**instance, name: cut}
                    for other, M in instance.items():
                        if _is_matrix(M) and len(M[0]) == count > 1:
                            yield {**instance, name: cut, other: _without(M, 1, i)}


def _divided(instance: Instance) -> Iterator[Instance]:
    """A matrix, a row of it, or all integers, over a common divisor: ranks and ratios stay."""
    whole = {n: int(x) for n, x in instance.items() if isinstance(x, str) and _is_integer(x)}
    if (common := math.gcd(*whole.values())) > 1:
        yield {**instance, **{name: str(x // common) for name, x in whole.items()}}
    for name, M in instance.items():
        if _is_matrix(M):
            for rows in (range(len(M)), *([i] for i in range(len(M)))):
                entries = [Fraction(x) for i in rows for x in M[i]]
                common = math.gcd(*(x.numerator for x in entries))
                if common > 1 and all(x.denominator == 1 for x in entries):
                    cut = [[str(Fraction(x) / common) for x in row] for row in M]
                    yield {**instance, name: [cut[i] if i in rows else r for i, r in enumerate(M)]}


def _other_rows(instance: Instance) -> Iterator[Instance]:
    """With another row of small integers in the place of one: where no single number can change."""
    for name, M in instance.items():
        if _is_matrix(M) and 1 < len(M[0]) <= _SHORT:
            for i, row in enumerate(M):
                for other in _short_rows(len(row)):
                    if size_of(other) >= size_of(row):
                        break
                    yield {**instance, name: [*M[:i], list(other), *M[i + 1 :]]}


@cache
def _short_rows(length: int) -> list[tuple[str, ...]]:
    """Integer vectors, the smaller ones first."""
    rows = itertools.product(range(-_SHORT, _SHORT + 1), repeat=length)
    return sorted((tuple(map(str, row)) for row in rows), key=size_of)


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


def _is_matrix(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and (
        isinstance(value[0], list) and isinstance(value[0][0], str)
    )  # fmt: skip


def _without(M: list[list[str]], axis: int, i: int) -> list[list[str]]:
    return M[:i] + M[i + 1 :] if axis == 0 else [row[:i] + row[i + 1 :] for row in M]


def _without_all(M: list[list[str]], count: int, i: int, square: bool) -> list[list[str]]:
    """Without the row and the column of an index, where there are so many of them."""
    rows, columns = len(M) == count, len(M[0]) == count
    cut = _without(M, 1, i) if columns else M
    return _without(cut, 0, i) if rows and (square or not columns) else cut


def _tagged(instance: Instance, tag: str) -> Iterator[tuple[str, Any]]:
    for name, value in instance.items():
        if isinstance(value, dict) and tag in value:
            yield name, value[tag]


def _fewer_facts(instance: Instance) -> Iterator[Instance]:
    for tag in ("facts", "associations", "sequences"):
        for name, facts in _tagged(instance, tag):
            few = (1, 2) if 2 < len(facts) <= 10 else (1,)
            for gone in few if len(facts) > 1 else ():  # two at once where one alone is missed
                for fewer in itertools.combinations(facts, len(facts) - gone):
                    yield {**instance, name: {tag: list(fewer)}}
    for name, A in _tagged(instance, "multi-head"):
        T = len(A["context_of"])
        for t in range(T if T > 1 else 0):
            without_t = {
                "context_of": A["context_of"][:t] + A["context_of"][t + 1 :],
                "queries": _without(A["queries"], 0, t),
            }
            yield {**instance, name: {"multi-head": {**A, **without_t}}}
        for c in range(len(A["contexts"]) if len(A["contexts"]) > 1 else 0):
            if c not in A["context_of"]:
                of = [i - (i > c) for i in A["context_of"]]
                kept = A["contexts"][:c] + A["contexts"][c + 1 :]
                yield {
                    **instance,
                    name: {"multi-head": {**A, "contexts": kept, "context_of": of}},
                }
        n = len(A["contexts"][0])
        for i in range(n if n > 1 else 0):
            kept = [_without(E, 0, i) for E in A["contexts"]]
            yield {**instance, name: {"multi-head": {**A, "contexts": kept}}}
    for name, p in _tagged(instance, "distribution"):
        rows, tokens = p["table"], len(p["table"][0])
        without = [[row for row in rows if row[j] == "0"] for j in range(tokens)]
        tables = [_without(kept, 1, j) for j, kept in enumerate(without) if kept and tokens > 1]
        tables += [_without(rows, 0, i) for i in range(len(rows) if len(rows) > 1 else 0)]
        for table in tables:
            prior = [str(Fraction(1, len(table)))] * len(table)
            yield {**instance, name: {"distribution": {"prior": prior, "table": table}}}


def _layers(instance: Instance) -> Iterator[tuple[Callable[[Any], Instance], Any]]:
    """Every layer, with a function that puts another in its place."""

    def inside(name: str, rest: Mapping[str, Any] | None = None) -> Callable[[Any], Instance]:
        def put(layer: Any) -> Instance:
            if rest is None:
                return {**instance, name: {"layer": layer}}
            return {**instance, name: {"transformer": {**rest, "layer": layer}}}

        return put

    for name, L in _tagged(instance, "layer"):
        yield inside(name), L
    for name, T in _tagged(instance, "transformer"):
        yield inside(name, T), T["layer"]


def _fewer_tokens(instance: Instance) -> Iterator[Instance]:
    used = {token for _, facts in _tagged(instance, "facts") for fact in facts for token in fact}
    for name, L in _tagged(instance, "layer"):
        for i, token in enumerate(L["tokens"]):
            if token not in used and len(L["tokens"]) > 1:
                yield {**instance, name: {"layer": _without_token(L, i)}}
    yield from _merged_tokens(instance)


def _merged_tokens(instance: Instance) -> Iterator[Instance]:
    """Two keys, two queries or two values become one, in the facts and in each layer."""
    databases, layers = (list(_tagged(instance, tag)) for tag in ("facts", "layer"))
    roles = [sorted({fact[i] for _, D in databases for fact in D}) for i in range(3)]
    pairs = [pair for role in roles for pair in itertools.permutations(role, 2)]
    for kept, gone in pairs if layers else ():
        if all({kept, gone} <= set(L["tokens"]) for _, L in layers):
            other = dict(instance)
            for name, D in databases:
                new = [[kept if token == gone else token for token in fact] for fact in D]
                other[name] = {"facts": [f for i, f in enumerate(new) if f not in new[:i]]}
            for name, L in layers:
                other[name] = {"layer": _without_token(L, L["tokens"].index(gone))}
            yield other


def _without_token(L: Mapping[str, Any], i: int) -> dict[str, Any]:
    return {
        **L,
        "tokens": L["tokens"][:i] + L["tokens"][i + 1 :],
        "W_E": _without(L["W_E"], 0, i),
        "W_U": _without(L["W_U"], 1, i),
    }


def _fewer_heads(instance: Instance) -> Iterator[Instance]:
    for put, L in _layers(instance):
        for h in range(len(L["heads"])):
            yield put({**L, "heads": L["heads"][:h] + L["heads"][h + 1 :]})
        for h, head in enumerate(L["heads"]):
            for outer, inner in (("W_Q", "W_K"), ("W_V", "W_O")):
                for i in range(len(head[inner]) if len(head[inner]) > 1 else 0):
                    cut = {outer: _without(head[outer], 1, i), inner: _without(head[inner], 0, i)}
                    heads = [{**g, **cut} if j == h else g for j, g in enumerate(L["heads"])]
                    yield put({**L, "heads": heads})
    for name, A in _tagged(instance, "multi-head"):
        for h in range(len(A["heads"]) if len(A["heads"]) > 1 else 0):
            heads = A["heads"][:h] + A["heads"][h + 1 :]
            yield {**instance, name: {"multi-head": {**A, "heads": heads}}}
        width = len(A["heads"][0]["W_K"][0])
        for i in range(width if width > 1 else 0):
            heads = [
                {part: _without(head[part], 1, i) for part in ("W_K", "W_Q")} for head in A["heads"]
            ]
            yield {**instance, name: {"multi-head": {**A, "heads": heads}}}


def _fewer_dimensions(instance: Instance) -> Iterator[Instance]:
    for put, L in _layers(instance):
        d = len(L["W_U"])
        for i in range(d if d > 1 else 0):
            heads = [
                {
                    "W_Q": _without(head["W_Q"], 0, i),
                    "W_K": _without(head["W_K"], 1, i),
                    "W_V": _without(head["W_V"], 0, i),
                    "W_O": _without(head["W_O"], 1, i),
                }
                for head in L["heads"]
            ]
            new = {"W_E": _without(L["W_E"], 1, i), "W_U": _without(L["W_U"], 0, i)}
            other = put({**L, **new, "heads": heads})
            for name, T in _tagged(other, "transformer"):
                other[name] = {"transformer": {**T, "pos": _without(T["pos"], 1, i)}}
            yield other
    for name, A in _tagged(instance, "multi-head"):
        d = len(A["contexts"][0][0])
        for i in range(d if d > 1 else 0):
            cut = {
                "contexts": [_without(E, 1, i) for E in A["contexts"]],
                "queries": _without(A["queries"], 1, i),
                "heads": [
                    {part: _without(head[part], 0, i) for part in ("W_K", "W_Q")}
                    for head in A["heads"]
                ],
            }
            yield {**instance, name: {"multi-head": {**A, **cut}}}
