"""The models of the three papers as plain data: sizes, shapes of the parameters, data to learn.

Nothing here is trained or drawn by luck: random data come from a stream that the configuration
names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.training.own import Own
from lemmax.numerics.training.recipes import Family
from lemmax.numerics.training.streams import stream
from lemmax.theory.errors import LemmaxError

Arrays: TypeAlias = dict[str, NDArray[Any]]
Triple: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True)
class RandomDatabase:
    """Random tables, at most ``triples`` triples in all; a generator of our own.

    Each table has 2 to 12 subjects and 1 to 6 predicates of its own, and every predicate takes its
    objects from 2 to 8 values, which tables may share.
    """

    seed: int
    triples: int = 200

    def facts(self) -> tuple[Triple, ...]:
        """Triples of token numbers."""
        random = stream("database", self.seed, self.triples)
        limit = int(random.integers(min(4, self.triples), self.triples + 1))
        names: dict[tuple[str, int, int], int] = {}

        def number(*name: Any) -> int:
            return names.setdefault(name, len(names))

        facts: list[Triple] = []
        table = 0
        while len(facts) < limit:
            subjects, predicates = int(random.integers(2, 13)), int(random.integers(1, 7))
            for p in range(predicates):
                domain, size = int(random.integers(0, 4)), int(random.integers(2, 9))
                for s in range(subjects):
                    value = number("value", domain, int(random.integers(size)))
                    facts.append(
                        (number("subject", table, s), number("predicate", table, p), value)
                    )
            table += 1
        return tuple(facts[:limit])


@dataclass(frozen=True)
class Wong:
    """Wong's layer on a database: heads alike, one row of the data per triple.

    ``database`` is a generator or the triples themselves, as token numbers 0, 1, 2, …

    >>> Wong(d_model=2, d_vo=1, d_qk=1, heads=1, database=((0, 2, 3), (1, 2, 4))).tokens
    5
    """

    family: ClassVar[Family] = "wong"
    d_model: int
    d_vo: int
    d_qk: int
    heads: int
    database: RandomDatabase | tuple[Triple, ...]

    def __post_init__(self) -> None:
        _positive(self, ("d_model", "d_vo", "d_qk"))
        if self.heads < 0:
            raise LemmaxError("A layer has no negative number of heads.")
        if not isinstance(self.database, RandomDatabase):
            facts = tuple((int(k), int(q), int(v)) for k, q, v in self.database)
            object.__setattr__(self, "database", facts)
            if not facts:
                raise LemmaxError("There are no facts to train on.")
            if min(min(fact) for fact in facts) < 0:
                raise LemmaxError("Token numbers start at 0.")

    def __repr__(self) -> str:
        return _shown(self, "facts")

    @property
    def facts(self) -> tuple[Triple, ...]:
        """The triples."""
        if isinstance(self.database, RandomDatabase):
            return _facts(self.database)
        return self.database

    @property
    def tokens(self) -> int:
        """The size of the vocabulary."""
        return 1 + max(max(fact) for fact in self.facts)

    @property
    def samples(self) -> int:
        """The number of triples."""
        return len(self.facts)

    @property
    def work(self) -> int:
        """Rows × vocabulary of one step."""
        return 2 * self.samples * self.tokens

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The parameters, heads stacked in front."""
        d, h = self.d_model, self.heads
        return {
            "W_E": (self.tokens, d),
            "W_U": (d, self.tokens),
            "W_Q": (h, d, self.d_qk),
            "W_K": (h, self.d_qk, d),
            "W_V": (h, d, self.d_vo),
            "W_O": (h, self.d_vo, d),
        }


@lru_cache(maxsize=4096)
def _facts(database: RandomDatabase) -> tuple[Triple, ...]:
    return database.facts()


@dataclass(frozen=True)
class Dana:
    """Dana's attention-only transformer on bigrams, or with one head and an MLP of some width.

    ``maps`` is ``per-head`` (equation 1: each head has its own d_h × d maps, no scaling, positions
    in the residual), ``shared`` (the public code: one map d → d_h and back around all heads,
    scores divided by √d_h, positions only inside) or ``direct`` (the public code at d_h = d, where
    it leaves the shared maps out). d_h > d is allowed. The next tokens form a random table drawn
    from ``data_seed``, or ``pairs``: sequences of S tokens with their targets.

    >>> Dana(N=5, d=2, d_h=2, H=3).shapes()["e"]
    (5, 2)
    """

    family: ClassVar[Family] = "dana"
    N: int
    d: int
    d_h: int
    H: int
    maps: Literal["per-head", "shared", "direct"] = "shared"
    width: int = 0
    data_seed: int = 0
    pairs: tuple[tuple[tuple[int, ...], int], ...] | None = None

    def __post_init__(self) -> None:
        _positive(self, ("N", "d", "d_h"))
        if self.H < 0 or self.width < 0:
            raise LemmaxError("Neither the number of heads nor the width can be negative.")
        if self.maps not in ("per-head", "shared", "direct"):
            raise LemmaxError(f"The maps are 'per-head', 'shared' or 'direct', not {self.maps!r}.")
        if self.maps == "direct" and self.d_h != self.d:
            raise LemmaxError(f"Without maps d_h = {self.d_h} must be d = {self.d}.")
        if self.pairs is not None:
            pairs = tuple((tuple(int(x) for x in t), int(y)) for t, y in self.pairs)
            object.__setattr__(self, "pairs", pairs)
            if not pairs or len({len(t) for t, _ in pairs}) != 1 or not pairs[0][0]:
                raise LemmaxError("The sequences must be given and all have one length.")
            if not all(0 <= x < self.N for t, y in pairs for x in (*t, y)):
                raise LemmaxError(f"Tokens are numbered from 0 to {self.N - 1}.")

    def __repr__(self) -> str:
        return _shown(self, "pairs")

    @property
    def S(self) -> int:
        """The length of a sequence."""
        return 2 if self.pairs is None else len(self.pairs[0][0])

    def data(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sequences (T × S) and their next tokens (T)."""
        if self.pairs is not None:
            return np.array([t for t, _ in self.pairs]), np.array([y for _, y in self.pairs])
        first, last = np.divmod(np.arange(self.N**2), self.N)
        targets = stream("bigrams", self.N, self.data_seed).integers(self.N, size=self.N**2)
        return np.stack([first, last], axis=1), targets

    @property
    def samples(self) -> int:
        """The number of distinct inputs."""
        return self.N**2 if self.pairs is None else len(self.pairs)

    @property
    def inner(self) -> int:
        """The dimension in which the heads read and write."""
        return self.d if self.maps == "per-head" else self.d_h

    @property
    def scaled(self) -> bool:
        """Whether scores are divided by √d_h and positions stay out of the residual."""
        return self.maps != "per-head"

    @property
    def work(self) -> int:
        """Inputs × (vocabulary + heads + width) of one full step."""
        return self.samples * (self.N + self.H * self.S + self.width)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The parameters, heads stacked in front."""
        p, d_h, h = self.inner, self.d_h, self.H
        shapes: dict[str, tuple[int, ...]] = {
            "e": (self.N, self.d),
            "pos": (self.S, p),
            "W_Q": (h, d_h, p),
            "W_K": (h, d_h, p),
            "W_V": (h, d_h, p),
            "W_O": (h, p, d_h),
        }
        if self.maps == "shared":
            shapes |= {"W_in": (self.d_h, self.d), "W_out": (self.d, self.d_h)}
        if self.width:
            shapes |= {"W_1": (self.width, self.d), "b_1": (self.width,)}
            shapes |= {"W_2": (self.d, self.width)}
        return shapes | {"W_U": (self.N, self.d)}


@dataclass(frozen=True)
class Mahdavi:
    """Mahdavi's multi-head layer: T examples of a query and a context of n vectors.

    ``classes`` = 0 means regression on labels from U[0, 1]. ``embedding`` adds what the public code
    adds: a learned linear map with bias in front, sinusoidal positions, a bias behind. Scores are
    divided by √d.

    >>> Mahdavi(d=4, n=3, H=2, T=10).samples
    10
    """

    family: ClassVar[Family] = "mahdavi"
    d: int
    n: int
    H: int
    T: int
    classes: int = 100
    d_h: int = 0
    d_v: int = 1
    shared_context: bool = False
    embedding: bool = True
    data_seed: int = 0

    def __post_init__(self) -> None:
        if not self.d_h:
            object.__setattr__(self, "d_h", self.d)
        _positive(self, ("d", "n", "H", "T", "d_h", "d_v"))
        if self.classes < 0:
            raise LemmaxError("The number of classes is positive, or 0 for regression.")
        if self.embedding and self.d % 2:
            raise LemmaxError(f"Sinusoidal positions need an even dimension, not {self.d}.")

    @property
    def outputs(self) -> int:
        """The number of outputs: one per class, or one."""
        return self.classes or 1

    @property
    def samples(self) -> int:
        """The number of examples."""
        return self.T

    @property
    def work(self) -> int:
        """Examples × heads × context × dimension of one full step."""
        return self.T * self.H * self.n * self.d

    def data(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[Any]]:
        """Queries (T × d), contexts (T × n × d, or 1 × n × d when shared), labels (T)."""
        random = stream("contexts", self.d, self.n, self.T, self.shared_context, self.data_seed)
        contexts = random.random((1 if self.shared_context else self.T, self.n, self.d))
        queries = random.random((self.T, self.d))
        if self.classes:
            return queries, contexts, random.integers(self.classes, size=self.T)
        return queries, contexts, random.random(self.T)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The parameters, heads stacked in front."""
        d, h = self.d, self.H
        shapes: dict[str, tuple[int, ...]] = {
            "W_Q": (h, d, self.d_h),
            "W_K": (h, d, self.d_h),
            "W_V": (h, d, self.d_v),
            "W_O": (h, self.d_v, d),
            "W_D": (d, self.outputs),
        }
        if self.embedding:
            shapes |= {"W_in": (d, d), "b_in": (d,), "b_D": (self.outputs,)}
        return shapes


def sinusoids(positions: int, d: int) -> NDArray[np.float64]:
    """The sinusoidal encoding, one row per position; d is even."""
    angle = np.arange(positions)[:, None] * np.exp(np.arange(0, d, 2) * (-np.log(1e4) / d))
    table = np.empty((positions, d))
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return table


_LONG = 8  # facts that are shown one by one


def _shown(config: Any, what: str) -> str:
    """The fields of a configuration; a long tuple by its length, so that a line stays a line."""
    parts = []
    for field in fields(config):
        value = getattr(config, field.name)
        long = isinstance(value, tuple) and len(value) > _LONG
        parts.append(f"{field.name}={f'{len(value)} {what}' if long else repr(value)}")
    return f"{type(config).__name__}({', '.join(parts)})"


def _positive(config: Any, names: Iterable[str]) -> None:
    for name in names:
        if getattr(config, name) < 1:
            raise LemmaxError(f"{name} must be at least 1, not {getattr(config, name)}.")


Config: TypeAlias = Wong | Dana | Mahdavi | Own
FAMILIES: Mapping[str, type[Wong] | type[Dana] | type[Mahdavi] | type[Own]] = {
    "wong": Wong,
    "dana": Dana,
    "mahdavi": Mahdavi,
    "own": Own,
}
