"""The words about databases: finite partial functions from keys and queries to values."""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from ..language.sorts import Facts, facts_literal
from ..limits import beyond, keep, refuse, spend
from ..reading import Integers, Matrix, Tensor
from .matrices import as_index, zero_one

_NAMES = 8  # keys, queries or values that are mapped by search


def names_of(D: Facts) -> tuple[list[str], list[str], list[str]]:
    """The keys, the queries and the values, each sorted."""
    keys, queries, values = (sorted(set(names)) for names in zip(*D, strict=True))
    spend("A table of the facts", 2 * len(keys) * len(queries) * len(values))
    keep("A table of the facts", len(keys) * len(queries) * len(values) // 2)
    return keys, queries, values


def tensor(D: Facts) -> Tensor:
    keys, queries, values = names_of(D)
    present = set(D)
    return Tensor(zero_one([(k, q, v) in present for v in values] for q in queries) for k in keys)


def domain(D: Facts) -> Matrix:
    keys, queries, _ = names_of(D)
    present = {(k, q) for k, q, _ in D}
    return zero_one([(k, q) in present for q in queries] for k in keys)


def slices_rank_sum(D: Facts) -> int:
    return min(len({(k, v) for k, _, v in D}), len({(q, v) for _, q, v in D}))


def value_counts(D: Facts, mode: Fraction) -> Integers:
    """How many values each key, or each query, has, in sorted order."""
    m = as_index(mode, 2)
    tally = Counter(name for name, _ in {(fact[m], fact[2]) for fact in D})
    return Integers(tally[name] for name in sorted(tally))


def represents(X: Tensor, D: Facts) -> bool:
    keys, queries, values = names_of(D)
    if (len(X), len(X[0]), len(X[0][0])) != (len(keys), len(queries), len(values)):
        refuse("represents(...)", "needs a tensor of shape keys × queries × values")
    truth = tensor(D)
    place = [{name: i for i, name in enumerate(part)} for part in (keys, queries)]
    return all(X[place[0][k]][place[1][q]] == truth[place[0][k]][place[1][q]] for k, q, _ in D)


def disjoint(D: Facts) -> bool:
    return not {k for k, _, _ in D} & {q for _, q, _ in D}


def total(D: Facts) -> bool:
    return len(D) == len({k for k, _, _ in D}) * len({q for _, q, _ in D})


def same_table(D: Facts, E: Facts) -> bool:
    """Equal up to bijections of the keys, of the queries and of the values."""
    return mapped(D, E, False)


def isomorphic(D: Facts, E: Facts) -> bool:
    """The same with one bijection on keys and queries together, and one on values."""
    return mapped(D, E, True)


def mapped(D: Facts, E: Facts, together: bool) -> bool:
    """Search for bijections, one name after the other; every step keeps the facts that it can see.

    Names of keys and queries are told apart by a tag where they are mapped apart.
    """
    first, second = ([_tagged(fact, together) for fact in facts] for facts in (D, E))
    sides = [[sorted({fact[m] for fact in facts}) for m in range(3)] for facts in (first, second)]
    if len(D) != len(E) or [*map(len, sides[0])] != [*map(len, sides[1])]:
        return False
    if max(map(len, sides[0])) > _NAMES:
        beyond("A bijection", f"is searched for at most {_NAMES} keys, queries or values")
    target = {(k, q): v for k, q, v in second}
    return any(True for _ in _extended(first, target, {}, {}))


def _tagged(fact: tuple[str, str, str], together: bool) -> tuple[str, str, str]:
    k, q, v = fact
    return (f"t{k}", f"t{q}", v) if together else (f"k{k}", f"q{q}", v)


def _extended(
    facts: list[tuple[str, str, str]],
    target: dict[tuple[str, str], str],
    names: dict[str, str],
    values: dict[str, str],
) -> Iterator[None]:
    """All ways to map the facts into the target by injections of names and of values."""
    spend("A bijection", 20 * len(target))
    if not facts:
        yield None
        return
    known = sorted(facts, key=lambda fact: -((fact[0] in names) + (fact[1] in names)))
    (k, q, v), rest = known[0], known[1:]
    for (a, b), c in target.items():
        grown, valued = dict(names), dict(values)
        if all(_assigned(grown, *pair) for pair in ((k, a), (q, b))) and _assigned(valued, v, c):
            yield from _extended(rest, target, grown, valued)


def _assigned(mapping: dict[str, str], name: str, to: str) -> bool:
    """Whether the name goes there already, or may from now on."""
    if name in mapping:
        return mapping[name] == to
    if to in mapping.values():
        return False
    mapping[name] = to
    return True


WORDS: dict[str, Callable[..., Any]] = {
    'facts(text)  the database "k q v, ..." of three names each': facts_literal,
    "tensor(database)  0/1 over the sorted keys, queries, values (Wong 2025, equation 1)": tensor,
    "domain(database)  0/1 over the sorted keys and queries: where there is a fact": domain,
    "slices_rank_sum(database)  min(Σ_k |V_k|, Σ_q |V_q|) (Wong 2025, 2.1)": slices_rank_sum,
    "value_counts(database, rational)  |V_k| of all keys (mode 0), or |V_q| (mode 1)": value_counts,
    "size(database)  the number of facts": len,
    "keys(database)  |K|, the number of different keys": lambda D: len({f[0] for f in D}),
    "queries(database)  |Q|, the number of different queries": lambda D: len({f[1] for f in D}),
    "values(database)  |V|, the number of different values": lambda D: len({f[2] for f in D}),
    "swap(database)  keys and queries exchanged": lambda D: Facts((q, k, v) for k, q, v in D),
    "equal(database, database)  the same facts, in any order": lambda D, E: set(D) == set(E),
    "same_table(database, database)  up to names of keys, queries and values": same_table,
    "isomorphic(database, database)  the same, a key that is a query remaining one": isomorphic,
    "disjoint(database)  no key is a query": disjoint,
    "total(database)  a fact for every key and query": total,
    "represents(tensor, database)  X_kq: is that of D wherever D has a fact": represents,
}
