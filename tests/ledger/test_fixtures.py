"""The fixtures that earn grades, alone: what each earns, to the letter, and what it refuses."""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, cast

import pytest
from sympy.polys.polyerrors import ExactQuotientFailed

from lemmax.pytest_plugin import fixtures, hunting, properties
from lemmax.pytest_plugin.earnings import MARKED, earn, earned_by, failures_of, marked_claims
from lemmax.pytest_plugin.measuring import parts
from lemmax.pytest_plugin.properties import Sample, text_of, unread
from lemmax.pytest_plugin.symbolic import Symbolic
from lemmax.theory.certificates.writing import refutation, sha256, to_json
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import Catalogue, Claim
from lemmax.theory.ledger.earning import Earned
from lemmax.theory.ledger.formulas import read_formula
from lemmax.theory.numbers.matrices import Matrix

z3 = pytest.importorskip("z3")
deciding = importlib.import_module("lemmax.pytest_plugin.symbolic")  # not the fixture


class Item:
    """As much of a test as a fixture needs, and what it earned."""

    def __init__(self, *claims: str) -> None:
        self.stash = pytest.Stash()
        self.stash[MARKED] = [{"claim": name} for name in claims]

    @property
    def node(self) -> pytest.Item:
        return cast(pytest.Item, self)

    @property
    def earned(self) -> tuple[Earned, ...]:
        return earned_by(self.node)


def refused(item: Item, act: Callable[[], object]) -> str:
    """The sentence with which a fixture fails a test; it is remembered, and nothing is earned."""
    before = item.earned
    with pytest.raises(AssertionError) as failed:
        act()
    assert failures_of(item.node)[-1] == str(failed.value)
    assert item.earned == before
    return str(failed.value)


def claim(name: str, kind: Any = "A", **fields: Any) -> Claim:
    return Claim(name, kind, "1", "title", f"says {name}", "here", "text", **fields)


SQUARES = "given x, y: real; conclude x*x + y*y >= 2*x*y"
RANKS = "given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 2"
LISTED = (
    claim("x/for", formula=SQUARES),
    claim("x/against", counterformula=SQUARES),
    claim("x/both", formula=SQUARES, counterformula="given x: real; conclude x*x >= 0"),
    claim("x/none"),
    claim("x/false", formula="given x: real; conclude x*x > 0"),
    claim("x/rank", formal=RANKS),
)
CATALOGUE = Catalogue(MappingProxyType({c.id: c for c in LISTED}), MappingProxyType({}))


# -- earning itself -----------------------------------------------------------------------------


def test_only_the_plugin_earns() -> None:
    item = Item("x/a", "x/b")
    assert marked_claims(item.node) == ["x/a", "x/b"]
    said = refused(item, lambda: earn(item.node, Earned("kernel")))
    assert said == f"{__name__} types what it earned: a fixture of lemmax has to decide it."
    assert failures_of(Item().node) == ()
    nameless = {"earn": earn, "item": item.node, "earned": Earned("kernel")}
    said = refused(item, lambda: exec("earn(item, earned)", nameless))
    assert said == " types what it earned: a fixture of lemmax has to decide it."


# -- symbolic -----------------------------------------------------------------------------------


def test_a_formula_that_a_claim_carries_is_decided() -> None:
    item = Item("x/for", "x/against", "x/both", "x/none", "x/false")
    decide = Symbolic(item.node, CATALOGUE).decide
    text = read_formula(SQUARES).text
    decide("x/for")
    decide("x/against")
    decide("x/both")
    square = read_formula("given x: real; conclude x*x >= 0").text
    assert item.earned == (
        Earned("symbolic", "x/for", "for", formula=text, symbols=("x", "y")),
        Earned("symbolic", "x/against", "against", formula=text, symbols=("x", "y")),
        Earned("symbolic", "x/both", "for", formula=text, symbols=("x", "y")),
        Earned("symbolic", "x/both", "against", formula=square, symbols=("x",)),
    )
    assert refused(item, lambda: decide("x/none")) == "x/none carries no formula."
    assert refused(item, lambda: decide("x/rank")) == "The test is not marked with x/rank."
    assert (
        refused(item, lambda: decide("x/false")) == "The solver says sat to the negation: [x = 0]."
    )


@pytest.mark.parametrize(
    "text",
    [
        "given x, y: real; conclude (x + y)**2 == x**2 + 2*x*y + y**2",
        "given x: real; conclude (x + 1)**3 - 1 == x*(x**2 + 3*x + 3)",
        "given x: real; conclude -(x - 1) == 1 - x",
        "given x, y: real; conclude x**0 * y == y",
        "given x, y: real; conclude (x + y)**2 / 2 == x**2 / 2 + x*y + y**2 / 2",
        "given a, b, c, d: real; conclude det([[a, b], [c, d]]) == a*d - b*c",
        "given a, b, c: real; conclude det([[a, b, c], [b, c, a], [c, a, b]]) "
        "== 3*a*b*c - a**3 - b**3 - c**3",
        "given a: real; conclude det([[a]]) + 1 == a + 1",
        "given x: real; conclude det([[exp(x), 1], [1, exp(-x)]]) == 0",
        "given x, y: real; conclude exp(x + y) == exp(x) * exp(y)",
        "given x: real; assume x > 0; conclude log(x**2) == 2 * log(x)",
        "given x: real; assume x > 0; conclude sqrt(x**2) == x",
        "given x: real; conclude series(exp(x), x, 2) == 1 + x + x**2 / 2",
        "given x, y: real; assume x > 1 and y > x; conclude x*y > 1",
        "given x: real; assume x > 1; conclude x*x > x and x > 0",
        "given x: real; assume x > 1 or x < -1; conclude x*x > 1",
        "given x: real; assume not x <= 2; conclude x > 1",
        "given x, y: real; assume 0 < x < y; conclude x*x < y*y",
        "given x, y, z: real; assume x == y and y == z; conclude x == z",
        "given x: real; assume x != 0; conclude x*x > 0",
        "given x: real; assume x >= 2; conclude x / 2 >= 1",
        "given x, y: real; assume x > y; conclude det([[x, y], [1, 1]]) > 0",
    ],
)
def test_true_formulas(text: str) -> None:
    item = Item("x/c")
    known = Catalogue(MappingProxyType({"x/c": claim("x/c", formula=text)}), MappingProxyType({}))
    Symbolic(item.node, known).decide("x/c")
    formula = read_formula(text)
    told = Earned("symbolic", "x/c", "for", formula=formula.text, symbols=tuple(formula.symbols))
    assert item.earned == (told,)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "given x, y: real; conclude (x + y)**2 == x**2 + x*y + y**2",
            "(x + y) ** 2 == x ** 2 + x * y + y ** 2 is not an identity.",
        ),
        (
            "given a, b, c, d: real; conclude det([[a, b], [c, d]]) == a*d + b*c",
            "det([[a, b], [c, d]]) == a * d + b * c is not an identity.",
        ),
        (
            "given x, y: real; conclude exp(x + y) == exp(x) + exp(y)",
            "exp(x + y) == exp(x) + exp(y) is not an identity.",
        ),
        (
            "given x: real; conclude sqrt(x**2) == x",
            "sqrt(x ** 2) == x is not an identity.",
        ),
        (
            "given x: real; conclude series(exp(x), x, 3) == 1 + x + x**2 / 2",
            "series(exp(x), x, 3) == 1 + x + x ** 2 / 2 is not an identity.",
        ),
        (
            "given x: real; assume x > 1 and x < 0; conclude x > 5",
            "The assumptions are not known to be satisfiable.",
        ),
        (
            "given x: real; assume x > 1; conclude x*x >= 0",
            "0 <= x*x is true whatever is assumed.",
        ),
        (
            "given x: real; assume x > 1 or x < -1; conclude x > 1",
            None,
        ),
        ("given x: real; assume x >= 1; conclude x > 1", None),
        ("given x: real; conclude x*x + x + 1 > 0 and x > 5", None),
        ("given x, y: real; assume 0 < x < y; conclude y*y < x*x", None),
    ],
)
def test_false_formulas(text: str, sentence: str | None) -> None:
    item = Item("x/c")
    known = Catalogue(MappingProxyType({"x/c": claim("x/c", formula=text)}), MappingProxyType({}))
    said = refused(item, lambda: Symbolic(item.node, known).decide("x/c"))
    if sentence is None:
        assert said.startswith("The solver says sat to the negation: [")
    else:
        assert said == sentence


def test_formulas_that_mean_nothing_are_refused() -> None:
    for text, sentence in (
        ("given x: real; conclude exp(x) > 0", "The word exp has no meaning in an inequality."),
        ("given x, n: real; conclude x**n >= 0", "An exponent is a number."),
        ("given x: real; conclude det([[x, 1]]) == 0", "A determinant wants a square matrix."),
    ):
        tree = ast.parse(text.partition("conclude ")[2], mode="eval").body
        formula = cast(
            Any, SimpleNamespace(symbols=("x", "n"), assumptions=(), conclusions=(tree,))
        )
        with pytest.raises(LemmaxError) as wrong:
            Symbolic(Item().node, CATALOGUE)._decided(formula)
        assert str(wrong.value) == sentence


@pytest.mark.parametrize(
    "text",
    [
        "given x: real; conclude x / (x + 1) == 1",  # 1 is the quotient, and -1 remains
        "given x: real; conclude 1 / (x + 1) == 0",
        "given x: real; conclude det([[x / (x + 1)]]) == 1",
        "given x, y: real; conclude det([[x / y, 1], [1, y / x]]) == 0",  # but where y is 0
        "given x: real; conclude x / x == 1",  # but where x is 0
        "given x, y: real; conclude (x**2 - y**2) / (x - y) == x + y",
    ],
)
def test_quotients_that_are_no_polynomials_show_nothing(text: str) -> None:
    item = Item("x/c")
    known = Catalogue(MappingProxyType({"x/c": claim("x/c", formula=text)}), MappingProxyType({}))
    with pytest.raises(ExactQuotientFailed):
        Symbolic(item.node, known).decide("x/c")
    assert item.earned == ()


def test_formulas_of_z3_support() -> None:
    item = Item()
    proves = Symbolic(item.node, CATALOGUE).proves
    x, y = z3.Reals("x y")
    proves(x * x + y * y >= 2 * x * y)
    proves(x * y > 0, x > 0, y > 0)
    assert item.earned == (
        Earned("symbolic", formula="x*x + y*y >= 2*x*y", symbols=("x", "y")),
        Earned(
            "symbolic",
            formula="Implies(And(x > 0, y > 0), x*y > 0)",
            symbols=("x", "y"),
        ),
    )
    assert refused(item, lambda: proves(True)) == "A formula of z3 is wanted, not True."
    assert refused(item, lambda: proves(x >= x)) == (
        "x >= x is true without looking at its symbols."
    )
    assert refused(item, lambda: proves(x > 0)) == "The solver says sat to the negation: [x = 0]."
    assert refused(item, lambda: proves(x * x + y * y >= 2 * x * y, y > 0)) == (
        "x*x + y*y >= 2*x*y is true whatever is assumed."
    )
    assert refused(item, lambda: proves(y > 5, x > 0, x < 0)) == (
        "The assumptions are not known to be satisfiable."
    )


def test_the_solver_has_a_minute_and_may_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[Any, ...]] = []

    class Solver(z3.Solver):  # type: ignore[misc, name-defined]
        def set(self, *words: Any) -> None:
            told.append(words)

    monkeypatch.setattr(z3, "Solver", Solver)
    x, y = z3.Reals("x y")
    item = Item()
    fixture = Symbolic(item.node, CATALOGUE)
    fixture.proves(x * y > 0, x > 0, y > 0)
    assert told == [("timeout", 60_000)] * 2
    doubtful = SimpleNamespace(add=lambda formula: None, check=lambda: z3.unknown)
    monkeypatch.setattr(fixture, "_satisfiable", lambda assumptions: doubtful)
    said = refused(item, lambda: fixture.proves(x * y > 0))
    assert said == "The solver says unknown to the negation."


def test_identities_of_sympy_support(monkeypatch: pytest.MonkeyPatch) -> None:
    import sympy
    from sympy.polys.domains import QQ
    from sympy.polys.rings import ring

    item, other = Item(), Item()
    fixture = Symbolic(item.node, CATALOGUE)
    x, y = sympy.symbols("x y")
    fixture.identity((x + y) ** 2, x**2 + 2 * x * y + y**2)
    fixture.identity(sympy.sin(y) ** 2 + sympy.cos(y) ** 2 - 1)
    R, a, b = ring("a,b", QQ)
    fixture.identity((a + b) * (a - b), a**2 - b**2)
    half = Symbolic(other.node, CATALOGUE)
    half.identity(a - a + b * 0 + R(0) + a, a)
    assert other.earned == (Earned("symbolic", formula="a == a", symbols=("a",)),)
    assert refused(other, lambda: half.identity(R(2), 2)) == (
        "Nothing is free in 2 == 2: it is an instance."
    )
    fixture.singular([[a, b], [2 * a, 2 * b]])
    fixture.singular([[R(0)] * 2, [a, R(1)]])
    assert item.earned == (
        Earned("symbolic", formula="(x + y)**2 == x**2 + 2*x*y + y**2", symbols=("x", "y")),
        Earned("symbolic", formula="sin(y)**2 + cos(y)**2 - 1 == 0", symbols=("y",)),
        Earned("symbolic", formula="a**2 - b**2 == a**2 - b**2", symbols=("a", "b")),
        Earned("symbolic", formula="det([[a, b], [2*a, 2*b]]) == 0", symbols=("a", "b")),
        Earned("symbolic", formula="det([[0, 0], [a, 1]]) == 0", symbols=("a",)),
    )
    assert refused(item, lambda: fixture.identity(x, x)) == "x is compared with itself."
    assert refused(item, lambda: fixture.identity(x, y)) == "x is not y."
    assert refused(item, lambda: fixture.identity(a, b)) == "a is not b."
    assert refused(item, lambda: fixture.identity(sympy.sqrt(4), 2)) == "2 is compared with itself."
    assert refused(
        item, lambda: fixture.identity(sympy.sqrt(3 + 2 * sympy.sqrt(2)), 1 + sympy.sqrt(2))
    ) == ("Nothing is free in sqrt(2*sqrt(2) + 3) == 1 + sqrt(2): it is an instance.")
    square = "A square matrix is wanted."
    assert refused(item, lambda: fixture.singular([])) == square
    assert refused(item, lambda: fixture.singular([[a, b]])) == square
    assert refused(item, lambda: fixture.singular([[a, b], [b]])) == square
    assert refused(item, lambda: fixture.singular([[a, b], [b, a]])) == (
        "The determinant is not the zero polynomial."
    )
    monkeypatch.setattr(deciding, "LONGEST", 10)
    fixture.identity(x * (y + 1), x * y + x)
    assert item.earned[-1].formula == "x*(y + 1)  …"
    monkeypatch.setattr(deciding, "LONGEST", len("x*(y + 1) == x*y + x"))
    fixture.identity(x * (y + 1), x * y + x)
    assert item.earned[-1].formula == "x*(y + 1) == x*y + x"


def test_long_sentences_are_cut() -> None:
    assert deciding._short("a" * 200) == "a" * 200
    assert deciding._short("a" * 201) == "a" * 200 + " …"
    assert properties._short("a" * 298) == repr("a" * 298)
    assert properties._short("a" * 299) == "'" + "a" * 299 + " …"


# -- exhaust and sample -------------------------------------------------------------------------


def is_small(n):  # type: ignore[no-untyped-def]
    return n < 10


SMALL = "def is_small(n): # type: ignore[no-untyped-def] return n < 10"


@pytest.fixture
def item(request: pytest.FixtureRequest) -> Iterator[Item]:
    """This very test, whose marks are taken away before anyone reads them."""
    node = cast(Any, request.node)
    yield cast(Item, SimpleNamespace(node=node))
    node.stash[MARKED] = []


def earned_here(request: pytest.FixtureRequest) -> tuple[Earned, ...]:
    return earned_by(cast(pytest.Item, request.node))


def failed_here(request: pytest.FixtureRequest, act: Callable[[], object]) -> str:
    before = earned_here(request)
    with pytest.raises(AssertionError) as failed:
        act()
    node = cast(pytest.Item, request.node)
    assert failures_of(node)[-1] == str(failed.value)
    assert earned_here(request) == before
    return str(failed.value)


def test_instances_are_counted_once_and_their_range_is_told(
    exhaust: Callable[..., int], request: pytest.FixtureRequest
) -> None:
    assert exhaust([3, 1, 2, 3, 1], is_small, control=11) == 3
    pairs = lambda m, n: m < n  # noqa: E731
    assert exhaust([(5, 6), (-1, 9), (0, 1)], pairs, control=(2, 1)) == 3
    words = lambda w: w.islower()  # noqa: E731
    assert exhaust(["a", "b", "a"], words, control="A") == 2
    assert exhaust([1, 2], lambda n, limit=5: n < limit, control=7) == 2
    first, second, third, fourth = earned_here(request)
    assert first == Earned("universal", count=3, scope="3 instances, n = 1..3", predicate=SMALL)
    assert second.scope == "3 instances, m = -1..5, n = 1..9"
    assert second.predicate == "pairs = lambda m, n: m < n # noqa: E731"
    assert (third.count, third.scope) == (2, None)
    assert fourth.scope == "2 instances, n = 1..2"


def test_what_exhaust_refuses(exhaust: Callable[..., int], request: pytest.FixtureRequest) -> None:
    def said(*arguments: Any, control: Any) -> str:
        return failed_here(request, lambda: exhaust(*arguments, control=control))

    assert said([1], print, control=2) == (f"A predicate is a function of Python, not {print!r}.")
    assert said([(1, 2)], lambda m, n: n > 0, control=(1, 0)) == (
        "The predicate does not read its argument m."
    )
    assert said([1], lambda n: n < 9, control=3) == "The predicate says True of the control (3,)."
    assert said([1], lambda n: n and None, control=3) == (
        "The predicate says None of the control (3,)."
    )
    assert said([1, 11], is_small, control=12) == "The predicate says False of (11,)."
    assert said(["a"], is_small, control=12) == "The control is of another type than ('a',)."
    assert said([True], is_small, control=12) == "The control is of another type than (True,)."
    assert said([(1, 2)], is_small, control=12) == "The control is of another type than (1, 2)."
    assert said([], lambda n: n < 0, control=1) == "There was no instance to decide."
    asked: list[int] = []

    def forgets(n: int) -> bool:
        asked.append(n)
        return len(asked) > 1

    assert said([1, 2], forgets, control=3) == "The predicate says True of the control (3,)."
    asked.clear()

    def forgets_later(n: int) -> bool:
        asked.append(n)
        return len(asked) > 1

    assert said([1], forgets_later, control=3) == "The predicate says True of the control (3,)."


def test_a_predicate_of_numpy_and_of_lists(
    exhaust: Callable[..., int], request: pytest.FixtureRequest
) -> None:
    import numpy as np

    rows = [np.array([1, 2]), np.array([1, 2]), np.array([[1, 2]]), np.array([2, 1])]
    assert exhaust(rows, lambda a: (a > 0).all(), control=np.array([0])) == 3
    long, other = np.ones(5000), np.ones(5000)
    other[2500] = 2  # which numpy does not print
    assert exhaust([long, other, long], lambda a: a.min() > 0, control=np.zeros(1)) == 2
    lists = [[1, [2]], [1, [2]], [1, 2]]
    assert exhaust(lists, lambda a: a[0] > 0, control=[0]) == 2
    sets = [{1}, {1}, {2}]
    assert exhaust(sets, lambda a: len(a) > 0, control=set()) == 2
    assert [e.scope for e in earned_here(request)] == [None] * 4


def test_samples_are_counted_one_by_one(request: pytest.FixtureRequest) -> None:
    item = Item()
    run = SimpleNamespace(running=item)
    sample = Sample(cast(Any, run))
    for n in (1, 2, 1):
        sample(is_small, n, control=11)
    one = Earned("property", count=1, predicate=SMALL)
    assert item.earned == (one, one)
    said = refused(item, lambda: sample(is_small, 12, control=11, about={"seed": 1}))
    assert said == "The predicate says False of (12,) ({'seed': 1})."
    assert refused(item, lambda: sample(is_small, 12, control=11)) == (
        "The predicate says False of (12,)."
    )
    run.running = None
    with pytest.raises(RuntimeError, match="An example is decided inside of a test"):
        sample(is_small, 1, control=11)


def test_arguments_that_are_read() -> None:
    assert unread(lambda a, b, c: a is b) == ["c"]
    assert unread(lambda a, *b, c=1, **d: bool(a and b and c and d)) == []
    assert unread(lambda a: any(a for _ in range(3))) == []
    assert unread(lambda: True) == []


def test_the_text_of_a_predicate_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert text_of(is_small) == SMALL
    made: dict[str, Any] = {}
    exec("def unknown(n): return n > 1", made)
    assert text_of(made["unknown"]) == "unknown"
    monkeypatch.setattr(properties, "LONGEST", len(SMALL))
    assert text_of(is_small) == SMALL
    monkeypatch.setattr(properties, "LONGEST", 7)
    assert text_of(is_small) == "def is_ …"


# -- measure ------------------------------------------------------------------------------------


class Said:
    def __init__(self, claim: str, verdict: str, sentence: str) -> None:
        self.claim, self.verdict, self.sentence = claim, verdict, sentence


def judged(verdict: str, sentence: str = "{} of them", fewest: int = 1) -> Callable[[Any], Any]:
    def judge(data: Any) -> Iterator[Said]:
        if len(data) < fewest:
            raise ValueError("too few")
        yield Said("x/t", verdict, sentence.format(len(data)))
        yield Said("x/other", "reproduced", "always")

    return judge


def test_what_data_say(
    measure: Callable[..., None], request: pytest.FixtureRequest, item: Item
) -> None:
    item.node.stash[MARKED] = [{"claim": "x/t"}]
    data = [1, 2, 3]
    for verdict in ("reproduced", "not-reproduced", "recipe-dependent"):
        measure(judged(verdict), data)
    measure(judged("open"), data, undecided=True)
    said: dict[str, Any] = {"about": "x/t", "details": "3 of them"}
    assert earned_here(request) == (
        *(
            Earned("empirical", measured=cast(Any, verdict), **said)
            for verdict in ("reproduced", "not-reproduced", "recipe-dependent", "open")
        ),
    )

    def fails(*arguments: Any, **named: Any) -> str:
        return failed_here(request, lambda: measure(*arguments, **named))

    assert fails("judge", data) == "measure takes a judge and its data, not 'judge'."
    assert fails(judged("reproduced"), []) == "There are no data to judge."
    assert fails(judged("reproduced"), 3) == "There are no data to judge."
    assert fails(lambda data: [], data) == "The judge says nothing about the marked claim."
    assert fails(judged("open"), data) == "x/t is not decided: 3 of them"
    assert fails(judged("reproduced"), data, undecided=True) == (
        "x/t is decided after all, reproduced: 3 of them"
    )
    assert fails(judged("reproduced", fewest=0), data) == (
        "The judge of x/t reaches a verdict without data."
    )
    assert fails(judged("reproduced", "always"), data) == (
        "The judge of x/t says the same of half of its data."
    )

    def changes(data: list[int]) -> list[Said]:
        data.clear()
        return [Said("x/t", "reproduced", "3 of them")] if not data else []

    fails(changes, data)
    assert data == [1, 2, 3]


def test_parts_of_data() -> None:
    import numpy as np

    assert parts({"a": [1, 2, 3], "b": "word"}, 2) == {"a": [1, 3], "b": "word"}
    assert parts(([1, 2], [3, 4]), 2) == ([1], [3])
    assert parts((1, 2, 3), 2) == (1, 3)
    assert parts(([1, 2], 3), 2) == ([1, 2],)
    assert parts((), 2) == ()
    assert parts([1, 2, 3], 1) == [1, 2, 3]
    assert parts([1, 2, 3], 0) == []
    assert parts((1, 2), 0) == ()
    assert parts(np.arange(4), 2).tolist() == [0, 2]
    assert parts(np.arange(4), 0).tolist() == []
    assert parts(5, 2) == 5


# -- certify ------------------------------------------------------------------------------------

M = Matrix([[1, 0, -1], [-1, 0, 1], [0, 0, 0]])
TRUE = refutation("x/rank", {"M": M}, ["rank(M) == 1"], "rank(argmax(M)) <= 2")
FALSE = refutation("x/rank", {"M": M}, ["rank(M) == 1"], "rank(argmax(M)) <= 3")


class Run:
    """A request for a fixture of a project with these places."""

    def __init__(self, item: Item, certificates: Path | None, write: bool = False) -> None:
        places = SimpleNamespace(certificates=certificates)
        gatherer = SimpleNamespace(places=places, catalogue=CATALOGUE)
        options = {"--write-certificates": write}
        self.node = item
        self.config = SimpleNamespace(
            getoption=options.__getitem__,
            pluginmanager=SimpleNamespace(get_plugin={"lemmax-gatherer": gatherer}.__getitem__),
        )


def certify(item: Item, folder: Path, certificates: Path | None, write: bool = False) -> Any:
    plain = cast(Any, fixtures.certify)
    make = getattr(plain, "_get_wrapped_function", None)
    make = make() if make else plain.__wrapped__
    return make(Run(item, certificates, write), folder)


def test_a_certificate_is_checked_shipped_and_compared(tmp_path: Path) -> None:
    item, shipped = Item(), tmp_path / "shipped"
    accept = certify(item, tmp_path, shipped)
    checked = accept(TRUE)
    assert (checked.kind, checked.holds, checked.claim) == ("refutation", True, "x/rank")
    assert len(checked.steps) > 2
    bare = Earned("certified", about="x/rank", shows="against", bound=True)
    assert item.earned == (bare,)
    path = shipped / "x" / "rank.json"
    missing = f"{path} is not shipped: run with --write-certificates"
    assert refused(item, lambda: accept(TRUE, ship_as="x/rank")) == missing
    certify(item, tmp_path, shipped, write=True)(TRUE, ship_as="x/rank")
    assert path.read_text(encoding="utf-8") == to_json(TRUE)
    accept(TRUE, ship_as="x/rank")
    ships = Earned(
        "certified",
        about="x/rank",
        shows="against",
        bound=True,
        certificates=("x/rank.json",),
        sha256=(sha256(TRUE),),
    )
    assert [*item.earned] == [bare, ships, ships]
    path.write_text(to_json(FALSE))
    assert refused(item, lambda: accept(TRUE, ship_as="x/rank")) == f"{path} is out of date"
    nowhere = "The setting lemmax_certificates names no folder to ship from."
    assert refused(item, lambda: certify(item, tmp_path, None)(TRUE, ship_as="x")) == nowhere
    said = refused(item, lambda: accept(FALSE))
    assert said.endswith("\nthe conclusion holds: rank(argmax(M)) = 3 <= 3")


def test_a_certificate_about_something_else_binds_nothing(tmp_path: Path) -> None:
    item = Item()
    accept = certify(item, tmp_path, None)
    accept(TRUE | {"claim": "y/unknown"})
    assert item.earned == (Earned("certified", about="y/unknown", shows="against"),)


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("import sys; sys.exit(' oh ')", "The checker did not answer: oh"),
        ("print('[1, 2]')", "The checker did not answer: "),
        (
            "import json; print(json.dumps([{'status': 'no', 'steps': ['a', 'b']}]))",
            "a\nb",
        ),
        ("import json; print(json.dumps([{'status': 'no', 'error': 'bad'}]))", "bad"),
        ("import json; print(json.dumps([{'status': 'no'}]))", ""),
        (
            "import json; print(json.dumps([{'status': 'holds', 'steps': ['a']}])); exit(1)",
            "a",
        ),
    ],
)
def test_a_checker_that_says_no_is_believed(
    script: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = Item()
    (tmp_path / "checker.py").write_text(script)
    monkeypatch.setattr(fixtures, "CHECKER", tmp_path / "checker.py")
    assert refused(item, lambda: certify(item, tmp_path, None)(TRUE)) == sentence


def test_witnesses_show_for_and_other_kinds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = Item()
    monkeypatch.setattr(fixtures, "CHECKER", tmp_path / "checker.py")
    for kind in ("witness", "refutation", "matrix-rank"):
        answer = [{"status": "holds", "kind": kind, "steps": ["a", "b"]}]
        (tmp_path / "checker.py").write_text(f"print({json.dumps(json.dumps(answer))})")
        checked = certify(item, tmp_path, None)({"kind": kind})
        assert (checked.kind, checked.holds, checked.steps) == (kind, True, ("a", "b"))
        assert checked.claim == ""
    assert item.earned == (
        Earned("certified", shows="for"),
        Earned("certified", shows="against"),
        Earned("certified"),
    )


# -- none_up_to ---------------------------------------------------------------------------------


def none_up_to(item: Item, size: int, *claims: Claim) -> int:
    catalogue = Catalogue(MappingProxyType({c.id: c for c in claims}), MappingProxyType({}))
    gatherer = SimpleNamespace(catalogue=catalogue)
    manager = SimpleNamespace(get_plugin={"lemmax-gatherer": gatherer}.__getitem__)
    plain = cast(Any, hunting.none_up_to)
    make = getattr(plain, "_get_wrapped_function", None)
    make = make() if make else plain.__wrapped__
    request = SimpleNamespace(node=item, config=SimpleNamespace(pluginmanager=manager))
    return cast(int, make(request)(size))


GIVEN = "given M: matrix; assume rank(M) == 1; conclude "


def test_all_instances_up_to_a_size_are_asked() -> None:
    whole = claim("x/c", formal=GIVEN + "rank(M) <= 1")
    item = Item("x/other", "x/c")
    assert none_up_to(item, 3, claim("x/other"), whole) == 10
    scope = (
        "all 15 instances of size Σ(|p| + q) at most 3, up to permutations and names; "
        "10 of them satisfy the assumptions"
    )
    assert item.earned == (
        Earned(
            "universal",
            about="x/c",
            shows="for",
            statement=whole.digest,
            scope=scope,
            count=10,
        ),
    )


def test_what_none_up_to_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    true = GIVEN + "rank(M) <= 1"
    one = "Mark one claim about all instances that its formal statement says whole."
    for claims in (
        (),
        (claim("x/c"),),
        (claim("x/c", "E", formal=true),),
        (claim("x/c", formal=true, consequence="a part"),),
        (claim("x/c", formal=true), claim("x/d", formal=true)),
    ):
        item = Item(*(c.id for c in claims))
        assert refused(item, partial(none_up_to, item, 2, *claims)) == one
    item = Item("x/c")
    few = claim("x/c", formal="given M: matrix; assume rank(M) == 3; conclude rank(M) <= 3")
    assert refused(item, partial(none_up_to, item, 2, few)) == (
        "No instance of size at most 2 satisfies the assumptions."
    )
    false = claim("x/c", formal=GIVEN + "max_entry(M) > 1")
    assert refused(item, partial(none_up_to, item, 2, false)) == (
        "{'M': [['-1']]} breaks the statement."
    )
    odd = SimpleNamespace(ask=lambda instance: SimpleNamespace(answer="open"))
    monkeypatch.setattr(hunting, "Question", lambda text: odd)
    monkeypatch.setattr(hunting, "instances", lambda asked, below: [below])
    monkeypatch.setattr(hunting, "enumerable", lambda asked: asked is odd)
    assert refused(item, partial(none_up_to, item, 2, false)) == "1 is undecided."
    monkeypatch.setattr(hunting, "enumerable", lambda asked: False)
    assert refused(item, partial(none_up_to, item, 2, false)) == (
        "Not every sort of x/c can be enumerated."
    )
