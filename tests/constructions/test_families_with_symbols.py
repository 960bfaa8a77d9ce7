"""Constructions with free symbols: they specialise to the exact objects, and have limits."""

from __future__ import annotations

import random
from typing import Any, Literal

import pytest
import sympy
from flint import arb, arb_mat, ctx

from lemmax.constructions import (
    attention_features,
    compiler_scalar,
    example_3_3_family,
    figure_1,
    gram_family,
    parabola_family,
    parity_identity,
    saturation_family,
    saturation_heads,
)
from lemmax.constructions.compiler.compiling import BUILDERS, CompiledDatabase
from lemmax.constructions.dana.one_relation import rational_features
from lemmax.constructions.families.limits import softmax_limit, softmax_row
from lemmax.pytest_plugin.symbolic import Symbolic
from lemmax.theory import AoT, AoTHead, Database, Matrix, Table, layer_tensor, memorizes
from lemmax.theory.errors import LemmaxError
from lemmax.theory.numbers.balls import rational_above, rational_below
from lemmax.theory.numbers.families.elimination import eliminate
from lemmax.theory.sympified import symbolic_number

Method = Literal["by-predicates", "by-keys", "two-heads", "two-heads-one-hot"]


def vanishes(expression: Any) -> bool:
    """Whether a rational function is zero."""
    return bool(sympy.expand(sympy.fraction(sympy.together(expression))[0]) == 0)


# -- the integer blow-up -------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "r"), [(2, 2), (5, 2), (6, 4), (7, 7)])
def test_gram_family_specialises(n: int, r: int) -> None:
    family = gram_family()
    explicit = family.to_sympy().subs({family.n: n, family.r: r}).as_explicit()
    assert explicit == family.at(n, r).to_sympy()
    assert family.margin.subs({family.i: 1, family.j: n - r + 2}) == (n - r + 1) ** 2


@pytest.mark.claim("lemmax/gram-minors", grade="symbolic", statement="ab278b54726736b5")
def test_gram_minors_are_polynomials(symbolic: Symbolic) -> None:
    """Of order 3 they are zero, of order 2 they factor, and the margin is a square."""
    symbolic.decide("lemmax/gram-minors")
    family = gram_family()
    assert family.minor(3) == 0
    i1, i2, j1, j2 = sympy.symbols("i1 i2 j1 j2", integer=True)
    assert sympy.expand(family.minor(2) - 2 * j1 * j2 * (i1 - i2) * (j1 - j2)) == 0


@pytest.mark.claim("lemmax/gram-integers", grade="symbolic", statement="cb3341f9711cd281")
def test_gram_margin_is_a_square_for_all_sizes(symbolic: Symbolic) -> None:
    family = gram_family()
    symbolic.identity(family.entry.subs(family.j, family.i) - family.entry, family.margin)


# -- Example 3.3 ---------------------------------------------------------------------------------


@pytest.mark.parametrize("c", ["1/3", 1, 5])
def test_example_3_3_family_specialises(c: Any) -> None:
    family = example_3_3_family()
    layer = family.at(c)
    tensor = layer_tensor(layer, family.example.database)
    order = [tensor.values.index(v) for v in "ms"]
    scale = sympy.Rational(str(c))
    assert sympy.Array(
        [[[x[v] for v in order] for x in line] for line in tensor.to_sympy().tolist()]
    ) == family.to_sympy().subs(family.c, scale)
    assert family.W_VO.subs(family.c, scale) == (
        sympy.Rational(str(c)) * family.example.W_VO.to_sympy()
    )
    assert memorizes(layer, family.example.database).holds


def test_example_3_3_tends_to_the_slices_of_the_database() -> None:
    family = example_3_3_family()
    for q, query in enumerate(family.example.database.queries):
        wanted = [line[q] for line in family.example.argmax()]
        assert family.limit(str(query)).tolist() == wanted
    scale = family.scale_for("99/100")
    least = min(
        family.probabilities(q).subs(family.c, scale)[k, v]
        for q in "βλ"
        for k, row in enumerate(family.limit(q).tolist())
        for v, right in enumerate(row)
        if right
    )
    assert least == sympy.Rational(99, 100)


@pytest.mark.claim("lemmax/example-3.3-scaled", grade="symbolic", statement="bca7c12d3f8f673b")
def test_example_3_3_scaled_probabilities(symbolic: Symbolic) -> None:
    symbolic.decide("lemmax/example-3.3-scaled")
    family = example_3_3_family()
    gaps = {"β": (1, 3, 1), "λ": (1, 1, 3)}
    for q, by_key in gaps.items():
        limits = family.limit(q)
        for k, gap in enumerate(by_key):
            right = list(limits.row(k)).index(1)
            wanted = 1 / (1 + sympy.exp(-gap * family.c))
            assert vanishes(family.probabilities(q)[k, right] - wanted)


# -- saturation ----------------------------------------------------------------------------------


def test_saturation_family_specialises_and_tends_to_its_limit() -> None:
    moment = [[x**i for i in range(4)] for x in range(1, 6)]
    built = saturation_heads([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], moment, H=2)
    stage = built.stages[1]
    family = saturation_family(built, 2)
    layer = family.at(stage.c)
    assert layer.heads == built.layer.heads
    with ctx.workprec(128):
        theta = layer.balls()[-1]
        for t in range(layer.T):
            exact = family.attention(t).subs(family.c, stage.c)
            for j in range(layer.n):
                assert abs(arb(str(sympy.N(exact[j], 35))) - theta[t, j]) < arb(10) ** -30
    assert set(family.limit(0)) == {0, 1}
    assert family.c not in family.attention(4).free_symbols  # a new example does not see c
    assert all(vanishes(x) for x in family.attention(4) - family.limit(4))
    assert (family.limit_rank, family.rank) == (5, 5)


@pytest.mark.claim("lemmax/saturated-attention", grade="symbolic", statement="459e7554d789eb6a")
def test_saturated_attention_leaves_little(symbolic: Symbolic) -> None:
    symbolic.decide("lemmax/saturated-attention")
    built = saturation_heads([[1, 0, 0], [0, 1, 0]], [[1, x, x * x] for x in (1, 2, 3)], H=2)
    family = saturation_family(built, 2)
    for t in (0, 1):
        top = list(family.limit(t)).index(1)
        assert vanishes(family.attention(t)[top] - 1 / (1 + family.rest(t)))
        assert sympy.limit(family.rest(t), family.c, sympy.oo) == 0
    with pytest.raises(LemmaxError, match="is not saturated"):
        family.rest(2)


def test_limits_are_those_of_sympy() -> None:
    c = sympy.Symbol("c", positive=True)
    slopes, constants = (2, 2, -1), (0, 1, 5)
    row = softmax_row([c * a + b for a, b in zip(slopes, constants, strict=True)])
    for x, limit in zip(row, softmax_limit(slopes, constants), strict=True):
        assert vanishes(sympy.limit(x, c, sympy.oo) - limit)


def test_saturation_fails_at_finitely_many_scales() -> None:
    """Two exceptions, one of them hardly told from 1/2, where the rank is full."""
    moment = [[x**i for i in range(4)] for x in range(1, 6)]
    built = saturation_heads([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], moment, H=2)
    family = saturation_family(built, 2)
    assert [x.rank for x in family.exceptions] == [4, 4]
    assert all(x.value.mixed for x in family.exceptions)
    first, second = family.exceptions
    assert 0 < abs(first.ball - arb(1) / 2) < arb(10) ** -6
    for c in (-3, "1/2", "7/6", 4):
        assert family.at(c).feature_rank().rank == 5
    columns = eliminate(family.rows).columns
    for exception in (first, second):  # the features themselves, in balls, on both sides of it
        signs = []
        for end in (rational_below(exception.ball), rational_above(exception.ball)):
            with ctx.workprec(512):
                Z = family.at(end).features(512)
                minor = arb_mat([[Z[t, k] for k in columns] for t in range(5)]).det()
                signs.append(1 if minor > 0 else -1 if minor < 0 else 0)
        assert sorted(signs) == [-1, 1]
    start = saturation_family(built, 1)
    assert (start.rank, start.exceptions) == (3, ())


# -- the compiler --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["by-predicates", "by-keys", "two-heads", "two-heads-one-hot"])
def test_compiler_scalars_are_what_layers_read(method: Method) -> None:
    facts = [("a", "f", "x"), ("a", "g", "y"), ("b", "f", "z"), ("b", "g", "x")]
    db = Database.from_triples(facts)
    layer = BUILDERS[method](db)
    compiled = CompiledDatabase(db, method, memorizes(layer, db))
    scalar = compiler_scalar(method)
    for k, q, value in db:
        s = scalar.at(compiled, k, q)
        logits = layer.symbolic_logits((k, q))
        number = db.values.index(value) + 1
        assert abs(sympy.N(s - number, 30)) <= sympy.Rational(1, 8)
        for n, v in enumerate(db.values, 1):
            wanted = s * n - sympy.Rational(n * n, 2)
            assert vanishes(logits[layer.index[v]] - wanted)
    assert vanishes(scalar.s.subs(scalar.alpha, scalar.attention) - scalar.n)


@pytest.mark.claim("lemmax/compiler-scalars", grade="symbolic", statement="f9311748e2761a4f")
def test_compiler_scalars_reach_every_number(symbolic: Symbolic) -> None:
    symbolic.decide("lemmax/compiler-scalars")


@pytest.mark.claim("lemmax/parabola-margin", grade="symbolic", statement="691750e61058b362")
def test_parabola_margin_is_three_eighths(symbolic: Symbolic) -> None:
    symbolic.decide("lemmax/parabola-margin")
    scalar = compiler_scalar("by-keys")
    assert sympy.expand(scalar.margin - (scalar.n - scalar.v) ** 2 / 2) == 0


# -- Dana's Lemma 2 ------------------------------------------------------------------------------


def model_in_powers_of_two(d: int, H: int, S: int, seed: int) -> AoT:
    source = random.Random(seed)

    def table(rows: int, columns: int) -> Matrix:
        return Matrix([[source.randint(-2, 2) for _ in range(columns)] for _ in range(rows)])

    zero = Matrix.zeros(2, d)
    heads = [
        AoTHead(table(d, d), table(d, d), Matrix.identity(d), Matrix.zeros(d, d)) for _ in range(H)
    ]
    return AoT(("a", "b"), table(2, d), table(S, d), zero, tuple(heads), "ln2")


@pytest.mark.parametrize(("d", "H", "S"), [(1, 2, 2), (2, 1, 3), (2, 2, 2)])
def test_attention_features_specialise_to_a_transformer(d: int, H: int, S: int) -> None:
    """With the embeddings and the powers of two of a model the features are the model's."""
    sequences = [tuple("ab"[(n >> s) & 1] for s in range(S)) for n in range(3)]
    family = attention_features(sequences, d, H, skip=True)
    model = model_in_powers_of_two(d, H, S, seed=d + H)
    number = {token: i for i, token in enumerate(family.tokens, 1)}
    e, pos = model.e.rows(), model.pos.rows()
    values: dict[Any, Any] = {}
    x = [[[a + b for a, b in zip(e[i], p, strict=True)] for p in pos] for i in range(len(e))]
    for token, i in number.items():
        own = model.index[token]
        values |= {sympy.Symbol(f"e{i}_{k}", real=True): e[own][k - 1] for k in range(1, d + 1)}
        for last, j in number.items():
            for h, head in enumerate(model.heads, 1):
                for s in range(S):
                    query, key = Matrix([x[model.index[last]][S - 1]]), Matrix([x[own][s]])
                    score = (query @ head.W_QK @ key.T)[0, 0]
                    values[family.weight(h, j, i, s + 1)] = sympy.Integer(2) ** int(score.p)
    for s in range(S):
        values |= {sympy.Symbol(f"p{s + 1}_{k}", real=True): pos[s][k - 1] for k in range(1, d + 1)}
    exact = rational_features(model, sequences).tolist()
    specialised = family.to_sympy().subs(values).tolist()
    for row, wanted in zip(specialised, exact, strict=True):
        scale = {x / symbolic_number(y) for x, y in zip(row, wanted, strict=True) if y != 0}
        assert len(scale) <= 1  # each sequence is multiplied by its normalisers
        assert all(x == 0 for x, y in zip(row, wanted, strict=True) if y == 0)


@pytest.mark.parametrize(
    ("sequences", "d", "H", "rank"),
    [
        (["aa", "bb", "cc", "dd"], 2, 2, 3),  # constant sequences
        (["000", "010", "100", "110"], 4, 1, 3),  # exclusive or
        (["a", "b"], 1, 2, 1),  # one position
        (["ab", "ba", "aa", "bb"], 2, 2, 4),
    ],
)
def test_lemma_2_generic_ranks(sequences: list[str], d: int, H: int, rank: int) -> None:
    """For all weights at once, and the minor is a polynomial that is not zero."""
    family = attention_features(sequences, d, H)
    assert family.rank == rank
    assert family.generic.minor != 0
    promised = min(len(sequences), H * d)
    assert (family.determinant == 0) == (rank < promised) if d * H == len(sequences) else True
    assert ("<" in family.formula()) == (rank < promised)


@pytest.mark.claim("lemmax/two-heads-determinant", grade="symbolic", statement="52b613afb2f7d42f")
def test_determinant_of_two_heads(symbolic: Symbolic) -> None:
    symbolic.decide("lemmax/two-heads-determinant")
    determinant = attention_features(["ab", "ba"], d=1, H=2).determinant
    assert determinant != 0
    same = {
        s: sympy.Symbol(str(s).replace("w2", "w1"), positive=True)
        for s in determinant.free_symbols
        if str(s).startswith("w2")
    }
    assert sympy.expand(determinant.subs(same)) == 0  # two heads with equal attention


# -- parity, the parabola of Proposition 3 -------------------------------------------------------


def test_parity_identity_needs_one_bit_more_than_heads() -> None:
    assert parity_identity(2).to_sympy() == 0
    assert r"= 0" in parity_identity(1).formula()
    assert r"\ne 0" in parity_identity(1, bits=1).formula()


def test_parabola_family_specialises() -> None:
    family = parabola_family()
    table = Table([[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    built = family.at(table, "3/2")
    logits = built.encoder.logits.to_sympy()
    targets, scale = (0, 2, 3), sympy.Rational(3, 2)
    for t, g in enumerate(targets):
        for j in range(4):
            values = {family.g: g, family.j: j, family.scale: scale}
            assert logits[t, j] == family.logit.subs(values)
    mean = sympy.Add(*(family.divergence(4, g) for g in targets)) / 3
    difference = mean.subs(family.scale, scale) - built.to_sympy()["divergence"]
    assert abs(sympy.N(difference, 50)) < 1e-45
    assert sympy.limit(family.divergence(4, 2), family.scale, sympy.oo) == family.limit == 0


@pytest.mark.claim("lemmax/parabola-encoder", grade="symbolic", statement="445f2a497a51536f")
def test_parabola_encoder_margin(symbolic: Symbolic) -> None:
    symbolic.decide("lemmax/parabola-encoder")


@pytest.mark.claim("dana/proposition-3", grade="symbolic", statement="5e327ea8ceb0bae1")
def test_proposition_3_margin_with_free_symbols(symbolic: Symbolic) -> None:
    family = parabola_family()
    symbolic.identity(family.logit.subs(family.j, family.g) - family.logit, family.margin)


# -- bad input, typesetting ----------------------------------------------------------------------


def test_families_typeset() -> None:
    built = saturation_heads([[1, 0], [0, 1]], [[1, 0], [1, 1]], H=1)
    for family in (
        gram_family(),
        example_3_3_family(),
        saturation_family(built, 1),
        compiler_scalar("two-heads"),
        attention_features(["ab", "ba"], d=1, H=1),
        parity_identity(1),
        parabola_family(),
    ):
        told = family.to_latex()
        assert rf"\label{{lemmax:{family.claim}}}" in told
        assert told.count("{") == told.count("}")
        assert family._repr_latex_().startswith(r"$\displaystyle")


def test_families_refuse_what_they_are_not_for() -> None:
    db = figure_1()
    with pytest.raises(LemmaxError, match="for r ≥ 2, not 1"):
        gram_family().at(5, 1)
    with pytest.raises(LemmaxError, match="order of a minor"):
        gram_family().minor(0)
    with pytest.raises(LemmaxError, match="must be positive, not -1"):
        example_3_3_family().at(-1)
    with pytest.raises(LemmaxError, match="none of the queries"):
        example_3_3_family().logits("κ")
    with pytest.raises(LemmaxError, match="strictly between 0 and 1"):
        example_3_3_family().scale_for(1)
    with pytest.raises(LemmaxError, match="not of 'by-codes'"):
        compiler_scalar("by-codes")
    layer = BUILDERS["two-heads"](db)
    compiled = CompiledDatabase(db, "two-heads", memorizes(layer, db))
    with pytest.raises(LemmaxError, match="compiled two-heads, not by-keys"):
        compiler_scalar("by-keys").at(compiled, "Astrid", "born_in")
    with pytest.raises(LemmaxError, match="is no fact about two different tokens"):
        compiler_scalar("two-heads").at(compiled, "Astrid", "currency")
    with pytest.raises(LemmaxError, match="at least one head"):
        attention_features(["ab"], d=1, H=0)
    with pytest.raises(LemmaxError, match="no determinant"):
        _ = attention_features(["ab"], d=2, H=1).determinant
    with pytest.raises(LemmaxError, match="at least one bit"):
        parity_identity(-1)
    built = saturation_heads([[1, 0], [0, 1]], [[1, 0], [1, 1]], H=1)
    with pytest.raises(LemmaxError, match="stages 1 to 1, not 2"):
        saturation_family(built, 2)
    with pytest.raises(LemmaxError, match="no example 9"):
        saturation_family(built, 1).limit(9)
