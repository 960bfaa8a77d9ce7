"""Random instances of every sort: small, structured, and planted so that assumptions come true.

A drawn layer is asked what it answers and a drawn database repeats that, so that the layer knows
it: floats suggest, the checker decides.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from lemmax.theory.errors import LemmaxError
from lemmax.theory.hunting.question import Instance, Question

_RATIONALS = (
    *("1/2", "1", "0", "3/4", "9/10", "99/100", "1/3", "2/3", "2"),
    *("1/4", "4/5", "3/5", "-1", "5", "1/10", "51/100", "1/100", "10"),
)
_Rows = list[list[int]]
_CELLS = 400  # of a matrix whose shape is named


class Draw:
    """A source of instances of one statement, the same for the same seed or choices."""

    def __init__(self, question: Question, seed: int | random.Random) -> None:
        self.question = question
        if isinstance(seed, random.Random):
            self.random = self.aside = seed
        else:
            self.random, self.aside = random.Random(seed), random.Random(f"aside {seed}")
        for name, sort in question.given.items():
            if sort not in _SORTS:
                raise LemmaxError(f"{name} is of the sort {sort}, which has no generator.")

    def instance(self, like: Instance | None = None) -> Instance:
        """One instance; dimensions are shared between its objects, so that they fit often.

        With ``like`` they are those of the matrices of another instance.
        """
        known = [
            count
            for value in (like or {}).values()
            if isinstance(value, list) and value and isinstance(value[0], list)
            for count in (len(value), len(value[0]))
        ]
        self.only = bool(known)
        self.sizes = known or [self.random.choice((1, 2, 2, 3, 3, 4, 5)) for _ in range(3)]
        drawn = {name: _SORTS[sort](self) for name, sort in self.question.given.items()}
        self._fit(drawn)
        self._plant(drawn)
        plain = [n for n, sort in self.question.given.items() if sort in ("integer", "rational")]
        for _ in range(40 if plain else 0):  # equations between numbers rarely hold by chance
            if self.question.fits(drawn):
                break
            for name in plain:
                whole = self.question.given[name] == "integer"
                other = str(self.random.randint(-4, 6)) if whole else self.rational()
                drawn[name] = other
        return drawn

    def _fit(self, drawn: Instance) -> None:
        """Give matrices the numbers of rows and columns that an assumption names."""
        for name in {name: None for name, _, _ in self.question.sides}:
            wanted = {side: n for other, side, n in self.question.sides if other == name}
            m, n = wanted.get("rows", len(drawn[name])), wanted.get("columns", len(drawn[name][0]))
            if (m, n) != (len(drawn[name]), len(drawn[name][0])) and 0 < m * n <= _CELLS:
                drawn[name] = texts(self.rows(m, n))

    def side(self) -> int:
        """A dimension, mostly one of those of this instance."""
        if self.only:
            return self.random.choice(self.sizes)
        return self.random.choice((*self.sizes, *self.sizes, 1, self.random.randint(1, 6)))

    def rows(self, m: int, n: int) -> _Rows:
        """An integer matrix of one of many kinds."""
        draw = self.random
        kind = draw.randrange(10)
        bound = draw.choice((1, 1, 2, 3))
        if kind == 0:
            u, v = ([draw.randint(-bound, bound) for _ in range(k)] for k in (m, n))
            return [[a * b for b in v] for a in u]
        if kind == 1:  # points on a parabola: rank two, argmax the identity
            return [[2 * i * j - j * j for j in range(n)] for i in range(m)]
        if kind == 2:
            return [[int(j == draw.randrange(n)) for j in range(n)] for _ in range(m)]
        if kind == 3:
            return [[int(i == j) for j in range(n)] for i in range(m)]
        if kind == 4:
            left, right = (
                [[draw.randint(-1, 1) for _ in range(2)] for _ in range(k)] for k in (m, n)
            )
            return [[sum(a * b for a, b in zip(x, y, strict=True)) for y in right] for x in left]
        if kind == 7 and m == n:  # the products of vectors with each other
            d = draw.choice((2, 2, 3))
            points = [[draw.randint(-1, 1) for _ in range(d)] for _ in range(m)]
            others = [list(p) for p in itertools.product((-1, 0, 1), repeat=d) if any(p)]
            if m <= len(others) and self.aside.random() < 0.5:  # all different, as on a circle
                points = self.aside.sample(others, m)
            return [
                [sum(a * b for a, b in zip(x, y, strict=False)) for y in points] for x in points
            ]
        if kind == 5:
            return [[draw.randint(0, bound) for _ in range(n)] for _ in range(m)]
        table = [[draw.randint(-bound, bound) for _ in range(n)] for _ in range(m)]
        if kind == 6 and m > 1:
            table[draw.randrange(m)] = list(table[draw.randrange(m)])
        return table

    def matrix(self) -> list[list[str]]:
        draw = self.random
        kind = draw.randrange(14)
        if kind == 5:  # one dependence among many rows in general position
            count, d = draw.choice((6, 15, 16)), draw.choice((2, 2, 3))
            powers = [[i**e for e in range(d)] for i in range(count - 1)]
            return texts([*powers, powers[draw.randrange(count - 1)]])
        if kind == 6:  # tiny entries, or large ones
            top = draw.choice(("1/1001", "1/101", "100", "10000"))
            return [[draw.choice(("0", top))] for _ in range(self.side())]
        if kind == 0:  # a distribution
            weights = [draw.randint(0, 4) for _ in range(draw.randint(1, 6))]
            total = sum(weights) or 1
            if not sum(weights):
                weights[0] = 1
            return [[f"{w}/{total}" if w % total else str(w // total) for w in weights]]
        if kind == 1:  # rows on the unit sphere
            pairs = (("1", "0"), ("0", "1"), ("-1", "0"), ("3/5", "4/5"), ("4/5", "3/5"))
            return [list(draw.choice(pairs)) for _ in range(draw.randint(2, 4))]
        m, n = (1, self.side()) if kind == 3 else (self.side(), self.side())
        m, n = (self.side(), 1) if kind == 4 else (m, n)
        factor = draw.choice((1, 1, 1, 1, 10, 60))
        return [[str(factor * x) for x in row] for row in self.rows(m, n)]

    def tensor(self) -> list[list[list[str]]]:
        m, n = self.side(), self.side()
        if self.random.random() < 0.3:  # all matrix units: the slices span every matrix
            cells = [(i, j) for i in range(m) for j in range(n)]
            return [
                [[str(int((i, j) == cell)) for j in range(n)] for i in range(m)] for cell in cells
            ]
        return [texts(self.rows(m, n)) for _ in range(self.side())]

    def database(self) -> dict[str, Any]:
        draw = self.random
        known = [text for text in self.question.literals if len(text.split()) % 3 == 0 and text]
        if known and draw.random() < 0.7:
            return {"facts": [part.split() for part in draw.choice(known).split(",")]}
        if draw.random() < 0.3:  # blocks of keys and queries, a value for each block
            sides = [(draw.choice((1, 1, 2)), draw.choice((1, 1, 2))) for _ in range(3)]
            blocks = sides[: draw.choice((2, 3, 3))]
            facts = [
                [f"k{b}{i}", f"q{b}{j}", f"v{b}"]
                for b, (m, n) in enumerate(blocks)
                for i in range(m)
                for j in range(n)
            ]
            return {"facts": facts}
        keys, queries, values = (draw.randint(1, 3) for _ in range(3))
        share = draw.choice((0.5, 0.8, 1.0))
        facts = [
            [f"k{i}", f"q{j}", f"v{draw.randrange(values)}"]
            for i in range(keys)
            for j in range(queries)
            if draw.random() < share
        ]
        return {"facts": facts or [["k0", "q0", "v0"]]}

    def layer(self) -> dict[str, Any]:
        draw = self.random
        names = [f"{kind}{i}" for kind in "kqv" for i in range(draw.randint(1, 3))]
        d = min(draw.choice((1, 1, 2, 2, 3)), len(names))
        return {"layer": self._layer(names, d, draw.choice((1, 1, 2)))}

    def _layer(self, names: list[str], d: int, heads: int) -> dict[str, Any]:
        draw = self.random
        inner = draw.randint(1, d), draw.randint(1, d)
        scale = draw.choice((1, 1, 2, 8))
        attends = draw.random() < 0.7
        return {
            "tokens": names,
            "unit": draw.choice(("1", "ln2")),
            "W_E": texts(self.rows(len(names), d)),
            "W_U": [[str(scale * x) for x in row] for row in self.rows(d, len(names))],
            "heads": [
                {
                    "W_Q": texts(self.rows(d, inner[0]) if attends else [[0] * inner[0]] * d),
                    "W_K": texts(self.rows(inner[0], d)),
                    "W_V": texts(self.rows(d, inner[1])),
                    "W_O": texts(self.rows(inner[1], d)),
                }
                for _ in range(heads)
            ],
        }

    def transformer(self) -> dict[str, Any]:
        draw = self.random
        names = [str(i) for i in range(draw.randint(2, 4))]
        d = draw.randint(1, 2)
        layer = self._layer(names, d, draw.choice((0, 0, 1)))
        return {"transformer": {"layer": layer, "pos": texts(self.rows(2, d))}}

    def associations(self) -> dict[str, Any]:
        draw = self.random
        if draw.random() < 0.2:  # the parity of some bits, then one token
            bits = list(itertools.product((0, 1), repeat=draw.randint(1, 3)))
            return {"associations": [[[*t, 0], sum(t) % 2] for t in bits]}
        tokens = draw.randint(2, 4)
        pairs = [[i, j] for i in range(tokens) for j in range(tokens)]
        chosen = draw.sample(pairs, draw.choice((len(pairs), draw.randint(1, len(pairs)))))
        if draw.random() < 0.5:  # a checkerboard: no two neighbours agree
            return {"associations": [[t, (t[0] + t[1]) % 2] for t in chosen]}
        return {"associations": [[t, draw.randrange(tokens)] for t in chosen]}

    def sequences(self) -> dict[str, Any]:
        return {"sequences": [t for t, _ in self.associations()["associations"]]}

    def contexts(self) -> dict[str, Any]:
        draw = self.random
        n, d, T = draw.randint(1, 3), draw.randint(1, 4), draw.randint(1, 7)
        different = draw.choice((1, 1, 2, 3))
        d_h = draw.randint(1, 3)
        return {
            "multi-head": {
                "contexts": [texts(self.rows(n, d)) for _ in range(different)],
                "context_of": [draw.randrange(different) for _ in range(T)],
                "queries": texts(self.rows(T, d)),
                "scale": "1",
                "heads": [
                    {"W_K": texts(self.rows(d, d_h)), "W_Q": texts(self.rows(d, d_h))}
                    for _ in range(draw.randint(1, 3))
                ],
            }
        }

    def distribution(self) -> dict[str, Any]:
        draw = self.random
        contexts, tokens = draw.randint(1, 4), draw.randint(1, 4)
        after = [i % tokens if draw.random() < 0.8 else 0 for i in range(contexts)]
        table = [[str(int(j == token)) for j in range(tokens)] for token in after]
        prior = [str(Fraction(1, contexts))] * contexts
        return {"distribution": {"prior": prior, "table": table}}

    def integer(self) -> str:
        return str(self.random.choice((0, 1, 1, 2, 2, 3, 4, 5, 10, 20, 100)))

    def rational(self) -> str:
        draw = self.random
        if "log_odds" in self.question.words and draw.random() < 0.5:  # odds are powers of ten
            odds = Fraction(10) ** draw.randint(-6, 6)
            return str(odds / (1 + odds))
        return draw.choice(_RATIONALS)

    def integers(self) -> list[int]:
        return self.random.sample(range(6), self.random.randint(1, 3))

    def _plant(self, drawn: Instance) -> None:
        """Make the database what the layer answers, or the layer's tokens those of the database."""
        sorts = {sort: name for name, sort in self.question.given.items()}
        if "layer" in sorts and "database" in sorts:
            L, D = drawn[sorts["layer"]]["layer"], drawn[sorts["database"]]
            names = list(dict.fromkeys(token for fact in D["facts"] for token in fact))
            others = [n for n, s in self.question.given.items() if s == "layer"]
            d = min(len(L["W_U"]), len(names))
            choice = self.random.random()
            if choice < 0.4 or self.question.literals:  # any layer over the database's tokens
                for name in others:
                    drawn[name] = {"layer": self._layer(names, d, len(L["heads"]))}
            else:  # what the layer answers, and sometimes not all of it
                kinds = [[t for t in L["tokens"] if t.startswith(kind)] for kind in "kqv"]
                facts = answers(L, *kinds)
                few = self.random.sample(facts, self.random.randint(1, len(facts)))
                D["facts"] = facts if choice < 0.8 else few
        if "transformer" in sorts and "associations" in sorts and "parity" in self.question.words:
            T = drawn[sorts["transformer"]]["transformer"]
            bits = itertools.product((0, 1), repeat=len(T["layer"]["heads"]) + 1)
            T["pos"] = texts(self.rows(len(T["layer"]["heads"]) + 2, len(T["layer"]["W_U"])))
            drawn[sorts["associations"]] = {"associations": [[[*t, 0], sum(t) % 2] for t in bits]}
        elif "transformer" in sorts and "associations" in sorts and self.random.random() < 0.8:
            T = drawn[sorts["transformer"]]["transformer"]
            pairs = [t for t, _ in drawn[sorts["associations"]]["associations"]]
            size = len(T["layer"]["tokens"])
            pairs = [t for t in pairs if max(t) < size] or [[0, 0]]
            logits = _table(T["layer"]["W_E"]) @ _table(T["layer"]["W_U"])
            shift = _table(T["pos"])[-1] @ _table(T["layer"]["W_U"])
            drawn[sorts["associations"]] = {
                "associations": [[t, int((logits[t[1]] + shift).argmax())] for t in pairs]
            }


def answers(L: dict[str, Any], keys: list[str], queries: list[str], values: list[str]) -> Any:
    """The facts that a layer answers, by floats: the value with the largest logit."""
    place = {token: i for i, token in enumerate(L["tokens"])}
    E, U = _table(L["W_E"]), _table(L["W_U"])[:, [place[v] for v in values]]
    facts = []
    for k in keys:
        for q in queries:
            x, y = E[place[k]], E[place[q]]
            out = y.copy()
            for head in L["heads"]:
                W_Q, W_K, W_V, W_O = (_table(head[f"W_{part}"]) for part in "QKVO")
                score = float(y @ W_Q @ W_K @ (x - y))
                alpha = 1 / (1 + np.exp(-np.clip(score, -500, 500)))
                out = out + (y + alpha * (x - y)) @ W_V @ W_O
            facts.append([k, q, values[int((out @ U).argmax())]])
    return facts


def _table(rows: list[list[str]]) -> Any:
    return np.array([[float(x) for x in row] for row in rows])


def texts(rows: _Rows) -> list[list[str]]:
    """Integers as certificates write them."""
    return [[str(x) for x in row] for row in rows]


_SORTS: dict[str, Callable[[Draw], Any]] = {
    "integer": Draw.integer,
    "rational": Draw.rational,
    "integers": Draw.integers,
    "matrix": Draw.matrix,
    "tensor": Draw.tensor,
    "database": Draw.database,
    "layer": Draw.layer,
    "transformer": Draw.transformer,
    "associations": Draw.associations,
    "sequences": Draw.sequences,
    "contexts": Draw.contexts,
    "distribution": Draw.distribution,
    "field": lambda draw: draw.random.choice(("Q", "R", "C")),
}
