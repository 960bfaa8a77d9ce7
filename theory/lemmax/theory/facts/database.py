"""Databases: finite partial functions K × Q → V, written as facts (subject, predicate, object).

A database reads from tables or RDF, knows its keys K, queries Q and values V in the order in which
they appear, and is the 0/1 tensor D with D[k, q, v] = 1 iff (k, q, v) is a fact (Wong, equation 1).
"""

from __future__ import annotations

import csv
import io
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.frames import frame_rows, is_frame
from lemmax.theory.facts.layouts import HEADER, Layout, Reading, interpret, is_empty
from lemmax.theory.facts.layouts import Fact as Fact
from lemmax.theory.facts.layouts import Token as Token
from lemmax.theory.facts.readers import read_facts
from lemmax.theory.files import write_text
from lemmax.theory.latex import Typeset, latex_facts
from lemmax.theory.shown import counted, html_table, shortened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LARGEST_TENSOR = 200_000_000


class Contradiction(LemmaxError):
    """One subject and predicate with two different objects."""


@dataclass(frozen=True)
class Database(Typeset):
    """A finite partial function from pairs (key, query) to values.

    Examples
    --------
    >>> db = Database.from_triples([("Astrid", "born_in", "Singapore"),
    ...                             ("Astrid", "lives_in", "Malaysia")])
    >>> db.keys, db.queries, db.values, len(db)
    (('Astrid',), ('born_in', 'lives_in'), ('Singapore', 'Malaysia'), 2)
    >>> db["Astrid", "born_in"]
    'Singapore'
    >>> db.tensor().shape
    (1, 2, 2)
    """

    triples: tuple[Fact, ...]

    def __post_init__(self) -> None:
        triples = tuple(_triple(fact) for fact in self.triples)
        object.__setattr__(self, "triples", tuple(dict.fromkeys(triples)))
        if not self.triples:
            raise LemmaxError("A database needs at least one fact.")
        seen: dict[tuple[Token, Token], Token] = {}
        for k, q, v in self.triples:
            if seen.setdefault((k, q), v) != v:
                raise Contradiction(
                    f"{k!r} {q!r} has two objects, {seen[k, q]!r} and {v!r}: not a function."
                )

    # -- making one --------------------------------------------------------------------------
    @classmethod
    def from_triples(cls, triples: Iterable[Fact]) -> Database:
        """A database from (subject, predicate, object) facts; repeated facts count once."""
        return cls(tuple(triples))

    @classmethod
    def from_tables(cls, *tables: Mapping[Token, Mapping[Token, Token | None]]) -> Database:
        """A database from tables {subject: {predicate: object}}; None and NaN are empty.

        >>> len(Database.from_tables({"a": {"f": 1, "g": None}}, {"b": {"f": 2}}))
        2
        """
        return cls(
            tuple(
                (k, q, v)
                for table in tables
                for k, row in table.items()
                for q, v in row.items()
                if not _absent(v)
            )
        )

    @classmethod
    def read(cls, path: str | Path, format: Layout | None = None) -> Database:
        """Read facts from a file; its ending says how: csv, tsv, jsonl, nt, ttl.

        Rows of a CSV or TSV are one fact each under a usual header (subject, predicate, object;
        s, p, o; head, relation, tail; key, query, value) or without one; or they are a table whose
        first column is the subject and each further column a predicate, blank cells undefined.
        Rows that can be read in two ways are refused until ``format`` says which:
        ``triples``, ``headed-triples`` or ``table``. A contradiction is refused with the lines of
        both facts.
        """
        return cls.read_aloud(path, format)[0]

    @classmethod
    def read_aloud(cls, path: str | Path, format: Layout | None = None) -> tuple[Database, str]:
        """The same, and one sentence about how the file was read."""
        source = Path(path)
        reading = read_facts(source, format)
        return _from_reading(str(source), reading), reading.how

    @classmethod
    def from_frame(cls, frame: Any, format: Layout | None = None) -> Database:
        """A database from a pandas or polars frame, read as a file with its columns would be.

        A named or textual pandas index is the first column. NaN, NaT, NA and None are empty cells.
        """
        return _from_reading("the frame", interpret(frame_rows(frame), format))

    @classmethod
    def of(cls, data: Any) -> Database:
        """A database from whatever holds facts: a database, a file, a frame, a table, triples.

        >>> Database.of({"a": {"f": 1}}) == Database.of([("a", "f", 1)])
        True
        """
        if isinstance(data, cls):
            return data
        if isinstance(data, (str, Path)):
            return cls.read(data)
        if is_frame(data):
            return cls.from_frame(data)
        if isinstance(data, Mapping):
            if not all(isinstance(row, Mapping) for row in data.values()):
                raise LemmaxError("A mapping of facts is {subject: {predicate: object}}.")
            return cls.from_tables(data)
        if isinstance(data, Iterable):
            return cls.from_triples(data)
        raise LemmaxError(
            f"{type(data).__name__} holds no facts: give a Database, a file, a frame, "
            "{subject: {predicate: object}} or triples."
        )

    def __repr__(self) -> str:
        return shortened(self, self._summary())

    def _summary(self) -> str:
        sizes = (
            counted(len(self.keys), "key"),
            counted(len(self.queries), "query", "queries"),
            counted(len(self.values), "value"),
        )
        return f"{counted(len(self), 'fact')}: {', '.join(sizes)}"

    def _repr_html_(self) -> str:
        return f"<p>{self._summary()}</p>{html_table(self.triples, HEADER)}"

    # -- looking at it -----------------------------------------------------------------------
    @cached_property
    def _function(self) -> dict[tuple[Token, Token], Token]:
        return {(k, q): v for k, q, v in self.triples}

    @cached_property
    def columns(self) -> tuple[tuple[tuple[Token, ...], array[int]], ...]:
        """Subjects, predicates and objects: each once, and the number of each fact's own.

        >>> db = Database.from_triples([("a", "f", 1), ("a", "g", 2), ("b", "f", 1)])
        >>> [(tokens, list(numbers)) for tokens, numbers in db.columns][::2]
        [(('a', 'b'), [0, 0, 1]), ((1, 2), [0, 1, 0])]
        """
        columns = []
        for part in range(3):
            number: defaultdict[Token, int] = defaultdict()
            number.default_factory = number.__len__  # a new token gets the next number
            own = array("q", map(number.__getitem__, map(itemgetter(part), self.triples)))
            columns.append((tuple(number), own))
        return tuple(columns)

    @property
    def keys(self) -> tuple[Token, ...]:
        """K, the subjects."""
        return self.columns[0][0]

    @property
    def queries(self) -> tuple[Token, ...]:
        """Q, the predicates."""
        return self.columns[1][0]

    @property
    def values(self) -> tuple[Token, ...]:
        """V, the objects."""
        return self.columns[2][0]

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """T, all tokens: keys, queries, values, each once."""
        return tuple(dict.fromkeys((*self.keys, *self.queries, *self.values)))

    def __len__(self) -> int:
        return len(self.triples)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.triples)

    def __contains__(self, pair: object) -> bool:
        return pair in self._function

    def __getitem__(self, pair: tuple[Token, Token]) -> Token:
        try:
            return self._function[pair]
        except KeyError:
            raise LemmaxError(f"The database has no fact about {pair[0]!r} {pair[1]!r}.") from None

    def V_k(self, key: Token) -> tuple[Token, ...]:
        """The values that occur with a key."""
        return tuple(dict.fromkeys(v for k, _, v in self.triples if k == key))

    def V_q(self, query: Token) -> tuple[Token, ...]:
        """The values that occur with a query."""
        return tuple(dict.fromkeys(v for _, q, v in self.triples if q == query))

    @cached_property
    def slice_rank_bound(self) -> int:
        """min(Σ|V_k|, Σ|V_q|), the bound of Wong's Proposition 2.1."""
        by_key = len({(k, v) for k, _, v in self.triples})
        by_query = len({(q, v) for _, q, v in self.triples})
        return min(by_key, by_query)

    def to_sympy(self) -> Any:
        """The 0/1 tensor D as a sparse array, indexed by keys, queries and values.

        >>> Database.from_triples([("a", "f", 1), ("a", "g", 2)]).to_sympy()
        [[[1, 0], [0, 1]]]
        """
        from sympy import ImmutableSparseNDimArray

        (keys, k), (queries, q), (values, v) = self.columns
        ones = dict.fromkeys(zip(k, q, v, strict=True), 1)
        return ImmutableSparseNDimArray(ones, (len(keys), len(queries), len(values)))

    def tensor(self) -> NDArray[np.int64]:
        """The 0/1 tensor D, indexed by keys, queries and values in their order."""
        import numpy as np

        shape = len(self.keys), len(self.queries), len(self.values)
        if shape[0] * shape[1] * shape[2] > _LARGEST_TENSOR:
            raise LemmaxError(f"A tensor of shape {shape} is too large to write out.")
        tensor = np.zeros(shape, dtype=np.int64)
        number = [
            {t: i for i, t in enumerate(part)} for part in (self.keys, self.queries, self.values)
        ]
        where = np.array(
            [[n[t] for n, t in zip(number, fact, strict=True)] for fact in self.triples]
        )
        tensor[tuple(where.T)] = 1
        return tensor

    def slice_k(self, key: Token) -> NDArray[np.int64]:
        """The slice D[k, :, :]."""
        return _slice(self.tensor(), 0, _position(self.keys, key))

    def slice_q(self, query: Token) -> NDArray[np.int64]:
        """The slice D[:, q, :]."""
        return _slice(self.tensor(), 1, _position(self.queries, query))

    def slice_v(self, value: Token) -> NDArray[np.int64]:
        """The slice D[:, :, v]."""
        return _slice(self.tensor(), 2, _position(self.values, value))

    # -- writing it --------------------------------------------------------------------------
    def to_csv(self, path: str | Path) -> None:
        """Write one fact per row under the header ``subject,predicate,object``."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(self.triples)
        write_text(path, stream.getvalue())

    def formula(self) -> str:
        """An array of the facts; beyond 16 of them with dots."""
        return latex_facts(self.triples)


def _from_reading(name: str, reading: Reading) -> Database:
    """The database of facts that were read; a contradiction names the places of both."""
    first: dict[tuple[Token, Token], tuple[Token, int | None]] = {}
    for number, (k, q, v) in reading.facts:
        value, earlier = first.setdefault((k, q), (v, number))
        if value != v:
            where = "" if number is None else f" ({reading.unit}s {earlier} and {number})"
            raise Contradiction(f"{name}: {k!r} {q!r} has two objects, {value!r} and {v!r}{where}.")
    if not first:
        raise LemmaxError(f"{name} holds no facts.")
    triples = tuple([(k, q, v) for (k, q), (v, _) in first.items()])
    if all(type(token) is str for token in chain.from_iterable(triples)):
        # a function of texts already: a million facts need not be looked at again
        database = object.__new__(Database)
        object.__setattr__(database, "triples", triples)
        return database
    return Database(triples)


def _absent(value: Token) -> bool:
    """None or NaN; a blank text given in Python is a token."""
    return is_empty(value) and not isinstance(value, str)


def _slice(array: NDArray[np.int64], axis: int, position: int) -> NDArray[np.int64]:
    """The slice of an array at one position of one axis."""
    return array.take([position], axis=axis).squeeze(axis)


def _triple(fact: Fact) -> Fact:
    if isinstance(fact, str) or not isinstance(fact, Iterable):
        raise LemmaxError(f"{fact!r} is not a fact: give subject, predicate and object.")
    parts = tuple(fact)
    if len(parts) != 3:
        raise LemmaxError(f"{fact!r} is not a fact: give subject, predicate and object.")
    if any(part is not None and _absent(part) for part in parts):
        raise LemmaxError(f"{fact!r} is not a fact: NaN is an empty cell.")
    try:
        hash(parts)
    except TypeError:
        raise LemmaxError(f"{fact!r} is not a fact: its parts must be hashable.") from None
    return parts


def _position(tokens: tuple[Token, ...], token: Token) -> int:
    try:
        return tokens.index(token)
    except ValueError:
        raise LemmaxError(f"{token!r} does not occur in this place of the database.") from None
