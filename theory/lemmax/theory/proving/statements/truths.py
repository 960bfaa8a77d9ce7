"""Conditions of a statement: their Coq text, and the proof that they hold or fail."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from lemmax.checker.language.sorts import Facts
from lemmax.checker.reading import Matrix, Tensor
from lemmax.theory.proving import literals
from lemmax.theory.proving.kinds import memorization
from lemmax.theory.proving.statements.objects import Thing, indices, numbering, weights
from lemmax.theory.proving.statements.tensor_words import context_arguments, layer_arguments
from lemmax.theory.proving.statements.trees import Tree
from lemmax.theory.proving.statements.writer import PRECISION, VM, Writer, pair, untranslated
from lemmax.theory.proving.theorem import NotTranslated

Shown = tuple[str, str]  # a condition, and the proof of it, or of its negation
CLOSE = "vm_cast_no_check (erefl true)"


def shown(writer: Writer, tree: Tree, wanted: bool) -> Shown:
    """The text of a condition, and the proof of the goal ``text`` or ``~ text``."""
    word, *arguments = tree
    if word in ("<=", "<", "="):
        return _comparison(writer, word, arguments[0], arguments[1], wanted)
    if word not in TRUTHS:
        raise untranslated(word)
    return TRUTHS[word](writer, arguments, wanted)


def goal(text: str, wanted: bool) -> str:
    """What is to be proved of a condition."""
    return text if wanted else f"(~ {text})"


def _comparison(writer: Writer, word: str, left: Tree, right: Tree, wanted: bool) -> Shown:
    a, b = writer.scalar(left), writer.scalar(right)
    sides = f"({a.term}) ({b.term})"
    name = {"<=": "le", "<": "lt", "=": "eq"}[word]
    if wanted and word == "=":
        close = writer.lemma("eq_wordE", sides)
    else:
        close = writer.decided(f"{'' if wanted else 'n'}{name}_wordE", sides)
    proof = f"{writer.rewriting((*a.steps, *b.steps))}apply: {close}; {CLOSE}"
    return f"({a.coq} {word} {b.coq} :> R)", proof


def _and(writer: Writer, parts: list[Tree], wanted: bool) -> Shown:
    texts = [shown(writer, part, writer.sent.holds(part))[0] for part in parts]
    text = "(" + " /\\ ".join(texts) + ")"
    if wanted:
        proofs = [shown(writer, part, True)[1] for part in parts]
        return text, "".join(f"split. {proof}. " for proof in proofs[:-1]) + proofs[-1]
    i = next(i for i, part in enumerate(parts) if not writer.sent.holds(part))
    last = i == len(parts) - 1
    pattern = "[_ " * i + ("H" if last else "[H _]") + "]" * i
    proof = shown(writer, parts[i], False)[1]
    return text, f"suff N : (~ {texts[i]}) by move=> {pattern}; exact: (N H). {proof}"


def _not(writer: Writer, parts: list[Tree], wanted: bool) -> Shown:
    text, proof = shown(writer, parts[0], not wanted)
    if wanted:
        return f"(~ {text})", proof
    return f"(~ {text})", f"suff H : {text} by move=> N; exact: (N H). {proof}"


def _or(writer: Writer, parts: list[Tree], wanted: bool) -> Shown:
    if len(parts) != 2:
        raise NotTranslated("An alternative of more than two has no translation into Coq.")
    truths = [writer.sent.holds(part) for part in parts]
    (a, first), (b, second) = (
        shown(writer, part, truth) for part, truth in zip(parts, truths, strict=True)
    )
    text = f"({a} \\/ {b})"
    if wanted:
        return text, f"left. {first}" if truths[0] else f"right. {second}"
    both = f"suff [H K] : (~ {a}) /\\ (~ {b}) by case=> X; [exact: (H X) | exact: (K X)]"
    return text, f"{both}. split. {first}. {second}"


def _iff(writer: Writer, parts: list[Tree], wanted: bool) -> Shown:
    truths = [writer.sent.holds(part) for part in parts]
    (a, first), (b, second) = (
        shown(writer, part, truth) for part, truth in zip(parts, truths, strict=True)
    )
    both = f"suff [H K] : {goal(a, truths[0])} /\\ {goal(b, truths[1])} by "
    cases = {
        (True, True): "split",
        (False, False): "split=> X; [case: (H X) | case: (K X)]",
        (True, False): "move=> [X _]; exact: (K (X H))",
        (False, True): "move=> [_ X]; exact: (H (X K))",
    }
    step = cases[truths[0], truths[1]]
    return f"({a} <-> {b})", f"{both}{step}. split. {first}. {second}"


def _equal(writer: Writer, sides: list[Tree], wanted: bool) -> Shown:
    kind = writer.sort(sides[0])
    if kind is Facts:
        D, E = (writer.facts(side) for side in sides)
        if not wanted:
            raise NotTranslated("That two databases differ has no translation into Coq.")
        return f"(equal_facts {D} {E})", f"apply: (@equal_facts_wordE {D} {E}); {CLOSE}"
    if kind is Matrix:
        A, B = (writer.matrix(side) for side in sides)
        text, name = f"(equal {A.coq} {B.coq})", "equal"
        tables = [[list(writer.table(side))] for side in sides]
    elif kind is Tensor:
        A, B = (writer.tensor(side) for side in sides)
        text, name = f"(equal_tensors {A.coq} {B.coq})", "equal_tensors"
        tables = [list(writer.table(side)) for side in sides]
    else:
        raise NotTranslated(f"equal of {kind.__name__} has no translation into Coq.")
    arguments = f"{' '.join(A.sizes)} ({A.term}) ({B.term})"
    if wanted:
        close = writer.lemma(f"{name}_wordE", arguments)
    else:
        k, i, j = _difference(tables)
        place = f"{i}%N {j}%N" if kind is Matrix else f"{k}%N {i}%N {j}%N"
        close = writer.decided(f"un{name}_wordE", f"{arguments} {place}")
    return text, f"{writer.rewriting((*A.steps, *B.steps))}apply: {close}; {CLOSE}"


def _difference(tables: list[list[list[tuple[Fraction, ...]]]]) -> tuple[int, int, int]:
    for k, (M, N) in enumerate(zip(*tables, strict=True)):
        for i, (a, b) in enumerate(zip(M, N, strict=True)):
            for j, (x, y) in enumerate(zip(a, b, strict=True)):
                if x != y:
                    return k, i, j
    raise NotTranslated("Two objects that should differ are equal.")


def _rows(word: str) -> Callable[[Writer, list[Tree], bool], Shown]:
    def rows(writer: Writer, parts: list[Tree], wanted: bool) -> Shown:
        if not wanted:
            raise NotTranslated(f"The negation of {word} has no translation into Coq.")
        M = writer.matrix(parts[0])
        shape = f"{' '.join(M.sizes)} ({M.term})"
        if word == "unit_rows":
            close = writer.lemma("unit_wordE", shape)
        else:
            close = writer.decided("distinct_wordE", shape)
        return f"({word} {M.coq})", f"{writer.rewriting(M.steps)}apply: {close}; {CLOSE}"

    return rows


def _memorizes_at(writer: Writer, parts: list[Tree], wanted: bool) -> Shown:
    L, D, tau = writer.named(parts[0]), writer.facts(parts[1]), parts[2]
    if not wanted or writer.mode != "Natural":
        raise NotTranslated("That facts are not memorized has no translation into Coq.")
    n, sizes = L.sizes[0], " ".join(f"{x}%N" for x in L.sizes)
    text = f"(memorizes_at exp {L.name} (qr R {pair(tau)}) (facts_db {n} {n} {n} {D}))"
    precision = memorization.precise(_weights(L), writer.things[parts[1]].said, tau)
    close = f"(@tau_sound R exp ok {precision} {sizes} {weights(L.name)} {pair(tau)} {D})"
    return text, f"{writer.rewriting(())}apply: {close}; {CLOSE}"


def _weights(L: Thing) -> dict[str, Any]:
    """The weights of a layer, under the names that they have without the layer's."""
    return {name.removeprefix(f"{L.name}_"): value for name, (_, value) in L.data.items()}


def _memorizes_values(writer: Writer, parts: list[Tree], wanted: bool) -> Shown:
    """Each fact against the other values; a fact that is missed, and by which value."""
    L, D = writer.named(parts[0]), writer.facts(parts[1])
    level = f" (qr R {pair(parts[2])})" if len(parts) > 2 else ""
    number = f" {pair(parts[2])}" if len(parts) > 2 else ""
    suffix = "_at" if level else ""
    text = f"(memorizes_values{suffix} exp {L.name} {D}{level})"
    arguments = f"{layer_arguments(L, D)} {PRECISION}{number}"
    if wanted and level and writer.mode == "Natural":
        facts = indices(writer.sent.value(parts[1]), numbering(writer.sent))
        values = {fact[2] for fact in facts}
        counts = [i in values for i in range(L.sizes[0])]
        precision = memorization.precise(_weights(L), facts, parts[2], counts)
        n, *rest = L.sizes
        sizes = f"{n - 1}%N {' '.join(f'{x}%N' for x in rest)} {weights(L.name)} {D}"
        close = writer.lemma(
            "memorizes_values_at_tau_wordE", f"{sizes} {precision}{number} ok {VM}"
        )
        return text, f"{writer.rewriting(())}apply: {close}; {CLOSE}"
    if wanted:
        close = writer.real(f"memorizes_values{suffix}_wordE", arguments)
        return text, f"{writer.rewriting(())}apply: {close}; {CLOSE}"
    fact, rival = missed(writer, parts)
    place = f"({fact[0]}, {fact[1]}, {fact[2]})%N" + ("" if level else f" {rival}%N")
    close = writer.real(f"misses_values{suffix}_wordE", f"{arguments} {place}")
    return text, f"{writer.rewriting(())}apply: {close}; {CLOSE}"


def missed(writer: Writer, parts: list[Tree]) -> tuple[tuple[int, ...], int]:
    """A fact that the layer does not know, and a value that is not below it."""
    layer, facts = parts[0], parts[1]
    number = numbering(writer.sent)
    listed: Facts = writer.sent.value(facts)
    table = writer.sent.value(("logits_tensor", layer, facts))
    keys, queries, values = (sorted(set(x)) for x in zip(*listed, strict=True))
    worst: list[tuple[Fraction, tuple[int, ...], int]] = []
    for fact, named in zip(indices(listed, number), listed, strict=True):
        row = table[keys.index(named[0])][queries.index(named[1])]
        own = values.index(named[2])
        rival = max((x, v) for v, x in enumerate(row) if v != own)
        worst.append((rival[0] - row[own], fact, number[values[rival[1]]]))
    _, fact, other = max(worst)
    return fact, other


def _disjoint(writer: Writer, parts: list[Tree], wanted: bool) -> Shown:
    D = writer.facts(parts[0])
    if not wanted:
        raise NotTranslated("That a key is a query has no translation into Coq.")
    return f"(disjoint {D})", f"apply: (@disjoint_wordE {D}); {CLOSE}"


def _same_table(writer: Writer, parts: list[Tree], wanted: bool) -> Shown:
    D, E = (writer.facts(part) for part in parts)
    if not wanted:
        raise NotTranslated("That two tables differ has no translation into Coq.")
    number = numbering(writer.sent)
    first, second = (indices(writer.sent.value(part), number) for part in parts)
    maps = bijections(first, second)
    lists = " ".join(
        f"({literals.write([m.get(i, 0) for i in range(max(m) + 1)])}%N)" for m in maps
    )
    return f"(same_table {D} {E})", f"apply: (@same_table_wordE {lists} {D} {E}); {CLOSE}"


def bijections(
    first: list[tuple[int, ...]], second: list[tuple[int, ...]]
) -> tuple[dict[int, int], ...]:
    """Maps of keys, queries and values that turn one table into the other.

    >>> bijections([(0, 1, 2), (3, 1, 4)], [(5, 6, 7), (8, 6, 9)])
    ({0: 5, 3: 8}, {1: 6}, {2: 7, 4: 9})
    """

    def extended(rest: list[tuple[int, ...]], maps: tuple[dict[int, int], ...]) -> bool:
        if not rest:
            return True
        order = sorted(rest, key=lambda fact: -sum(x in m for x, m in zip(fact, maps, strict=True)))
        fact, others = order[0], order[1:]
        for target in second:
            places = list(zip(fact, target, maps, strict=True))
            fits = all(m.get(x, y) == y and (x in m or y not in m.values()) for x, y, m in places)
            if not fits:
                continue
            new = [(m, x) for x, _, m in places if x not in m]
            for x, y, m in places:
                m[x] = y
            if extended(others, maps):
                return True
            for m, x in new:
                m.pop(x, None)
        return False

    maps: tuple[dict[int, int], ...] = ({}, {}, {})
    if not extended(first, maps):
        raise NotTranslated("Two tables that should be the same differ.")
    return maps


def _represents(writer: Writer, parts: list[Tree], wanted: bool) -> Shown:
    X, D = writer.tensor(parts[0]), writer.facts(parts[1])
    if not wanted:
        raise NotTranslated("That a tensor does not represent facts has no translation into Coq.")
    close = writer.lemma("represents_wordE", f"{' '.join(X.sizes)} ({X.term}) {D}")
    return f"(represents {X.coq} {D})", f"{writer.rewriting(X.steps)}apply: {close}; {CLOSE}"


def _parity(writer: Writer, parts: list[Tree], wanted: bool) -> Shown:
    """The tokens of the bits, the last token, and the targets of an even and an odd number."""
    a, H = writer.named(parts[0]), parts[1]
    if not wanted:
        raise NotTranslated("That associations are not parities has no translation into Coq.")
    bits = int(H) + 1
    pairs = a.said
    zero, one = sorted({x for t, _ in pairs for x in t[:bits]})
    targets = {t[:bits].count(one) % 2: y for t, y in pairs}
    numbers = (zero, one, pairs[0][0][-1], targets[0], targets[1], len(pairs[0][0]) - bits)
    listed = " ".join(f"{x}%N" for x in numbers)
    close = f"(@parity_wordE {listed} {a.name} {H}%N)"
    return f"(parity {a.name} {H}%N)", f"apply: {close}; {CLOSE}"


def _shared(writer: Writer, parts: list[Tree], wanted: bool) -> Shown:
    A = writer.named(parts[0])
    if not wanted:
        raise NotTranslated("That contexts differ has no translation into Coq.")
    close = f"(@shared_wordE R {context_arguments(A)})"
    return f"(shared {A.name})", f"{writer.rewriting(())}apply: {close}; {CLOSE}"


TRUTHS: dict[str, Callable[[Writer, list[Tree], bool], Shown]] = {
    "and": _and,
    "or": _or,
    "not": _not,
    "iff": _iff,
    "equal": _equal,
    "distinct_rows": _rows("distinct_rows"),
    "unit_rows": _rows("unit_rows"),
    "memorizes_at": _memorizes_at,
    "memorizes_values": _memorizes_values,
    "memorizes_values_at": _memorizes_values,
    "disjoint": _disjoint,
    "same_table": _same_table,
    "represents": _represents,
    "shared": _shared,
    "parity": _parity,
}
