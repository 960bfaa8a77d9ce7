"""Every exact object has ``to_sympy()``: the walk over all classes, and what comes out."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy
from flint import arb, ctx, fmpq, fmpq_poly

import lemmax.constructions
import lemmax.theory
from lemmax.constructions import (
    associative_memory,
    attention_features,
    best_encoder,
    compile_database,
    compiler_scalar,
    example_3_3,
    example_3_3_family,
    gram_blowup,
    gram_family,
    memorize,
    parabola_family,
    parity_identity,
    readout,
    saturation_family,
    saturation_heads,
    sequence_encoder,
)
from lemmax.constructions.dana.encoders import EncoderConstruction
from lemmax.constructions.dana.fixed_factor import FixedFactorInterval
from lemmax.constructions.dana.one_relation import RelationMemory
from lemmax.numerics.twins.certify import CertifiedLayer, certify_layer
from lemmax.theory import (
    AoT,
    AoTHead,
    AttentionLayer,
    ContextHead,
    Database,
    Decomposition,
    Head,
    Hunt,
    Matrix,
    Memorization,
    SequenceEncoder,
    SoftmaxRank,
    Table,
    aot_rank,
    bigram_rank,
    certified_rank,
    effective_rank,
    family_rank,
    generic_rank,
    kruskal_rank,
    layer_tensor,
    memorizes,
    multi_head,
    softmax_rank,
    tensor_rank,
)
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.matrices import rational
from lemmax.theory.tensors.decompositions import Family
from lemmax.theory.wong.logit_rows import LogitRow

c = sympy.Symbol("c", real=True)
FACTS = [("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y")]


@cache
def instances() -> tuple[Any, ...]:
    """One small object of each exact class."""
    db = Database.from_triples(FACTS)
    head = Head([[1], [2]], [["1/2", 1]], [[3], [1]], [["1/3", 1]])
    W_E = [[1, 0], [0, 1], [1, 1], [2, 0], [0, 0]]
    layer = AttentionLayer("abfgx", W_E, [[0, 0, 1, 2, 3], [1, 0, 0, 1, 1]], [head], "ln2")
    facts = [("a", "f", "x"), ("b", "g", "x")]
    table = Table([["4/5", "1/10", "1/10"], ["1/10", "4/5", "1/10"]], ["1/3", "2/3"])
    context_head = ContextHead([[0], [1]], [[1], ["1/2"]], [[1], [2]], [[3]])
    contexts = multi_head([[1, 0], [0, 1]], [[1, 0], [2, 1]], [context_head], "1/sqrt(2)")
    model = associative_memory({"ab": "b", "ba": "a"}, H=1, d_h=1)
    relation = RelationMemory(model.model, model.pairs, model.margin)
    aot_head = AoTHead(row := Matrix([[1, 2]]), row, row, Matrix([[1], ["1/2"]]))
    aot = AoT("ab", [[1, 0], [0, 2]], [[0, 1], [1, 0]], [[1, 0], [0, 1]], (aot_head,), "ln2")  # type: ignore[arg-type]
    one, x = fmpq_poly([1]), fmpq_poly([0, 1])
    family = Family(fmpq_poly([-2, 0, 1]), ((one, x), (one, x), (x, one)))
    e = (fmpq(1), fmpq(0))
    encoder = SequenceEncoder([[0], [1]], [[0], ["1/2"]])  # type: ignore[arg-type]
    weights = {"W_E": [[0.5], [-6.0], [3.0]], "W_U": [[1.0, -1.0, 0.25]]}
    return (
        db,
        head,
        layer,
        table,
        context_head,
        contexts,
        contexts.feature_rank(),
        contexts.jacobian_rank(),
        model,
        relation,
        aot_head,
        aot,
        aot_rank(aot, ["ab", "ba"]),
        family,
        Decomposition((2, 2, 2), ((e, e, e),), (family,)),
        Matrix([[1, "1/2"]]),
        certified_rank([[1, 2], [2, 4]]),
        certified_rank([[1, 2], [2, 4]]).certificate(),
        softmax_rank([[0, 1], [1, 0]]),
        softmax_rank(c * sympy.Matrix([[0, 1], [1, 0]])),
        family_rank(sympy.Matrix([[c, 1], [1, 1]])),
        generic_rank(sympy.Matrix([[c, 1], [1, 1]])),
        kruskal_rank([[1, 0], [0, 1], [2, 0]]),
        tensor_rank(db),
        effective_rank(db),
        bigram_rank([(0, 0), (1, 1)], d=2, d_h=1, H=1),
        layer_tensor(layer, Database.from_triples(facts)),
        layer.last_logits(("a", "f")),
        memorizes(layer, facts),
        encoder,
        sequence_encoder(table, scale=2),
        best_encoder(table, 1, starts=1, leaves=4),
        gram_blowup(3, 2),
        example_3_3(),
        saturation_heads([[1, 0], [0, 1]], [[1, 0], [1, 1]], H=1),
        memorize([[1, 0], [0, 1]], [[1, 0], [0, 1]], [3, -1], H=1),
        compile_database(db),
        compile_database(db, dtype="bfloat16"),
        certify_layer(weights, [(0, 1, 0), (0, 2, 0)]),
        readout([[1, 0], [0, 1]], "ab"),
        FixedFactorInterval(table, encoder, Matrix([[1, 0]]), fmpq(0), fmpq(1, 2)),
        Hunt("given M: matrix; conclude rank(M) < 1", instance={"M": [["1"]]}),
        gram_family(),
        example_3_3_family(),
        saturation_family(saturation_heads([[1, 0], [0, 1]], [[1, 0], [1, 1]], H=1), 1),
        compiler_scalar("two-heads"),
        attention_features(["ab", "ba"], d=1, H=1),
        parity_identity(1),
        parabola_family(),
    )


def exact_classes() -> Iterator[type]:
    """All classes that a paper can print, that become arrays, or that hold exact matrices."""
    yield from (CertifiedLayer, LogitRow, Family)
    for package in (lemmax.theory, lemmax.constructions):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(module.name)).items():
                own = inspect.isclass(value) and value.__module__ == module.name
                if not own or name.startswith("_") or value is Typeset:
                    continue
                held = [str(f.type) for f in fields(value)] if is_dataclass(value) else []
                if (
                    issubclass(value, Typeset)
                    or hasattr(value, "to_numpy")
                    or any("Matrix" in kind for kind in held)
                ):
                    yield value


def test_no_exact_class_forgets_sympy() -> None:
    classes = set(exact_classes())
    assert len(classes) > 30
    for kind in classes:
        assert getattr(kind, "to_sympy", Typeset.to_sympy) is not Typeset.to_sympy, kind
    assert {type(value) for value in instances()} == classes


def parts(value: Any) -> Iterator[Any]:
    """The expressions of whatever ``to_sympy`` returns."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple):
        for part in value:
            yield from parts(part)
    elif isinstance(value, sympy.MatrixBase | sympy.NDimArray):
        yield from sympy.flatten(value.tolist())
    else:
        yield value


def as_floats(value: Any) -> Any:
    return np.vectorize(lambda x: float(x.evalf(30)), otypes=[np.float64])(np.array(value.tolist()))


def by_name(value: Any) -> dict[str, Any]:
    """What ``to_numpy`` or ``to_sympy`` returns, with names."""
    if isinstance(value, dict):
        return value
    return {str(i): x for i, x in enumerate(value if isinstance(value, tuple) else (value,))}


def test_what_sympy_gets_is_exact_and_the_same() -> None:
    for value in instances():
        exact = value.to_sympy()
        expressions = list(parts(exact))
        assert expressions
        for part in expressions:
            assert isinstance(part, sympy.Basic), type(value)
            assert not part.has(sympy.Float), type(value)
            free = ".families." in type(value).__module__
            assert free or not part.free_symbols, type(value)
        if hasattr(value, "to_numpy"):
            named = by_name(exact)
            for name, array in by_name(value.to_numpy()).items():
                if name in named:
                    np.testing.assert_allclose(as_floats(named[name]).ravel(), array.ravel(), 1e-12)
                else:  # the compiler's codes stack their heads
                    np.testing.assert_allclose(as_floats(named[f"heads.0.{name}"]), array[0], 1e-12)


def test_terms_add_up_to_the_tensor() -> None:
    (decomposition,) = (value for value in instances() if isinstance(value, Decomposition))
    total: Any = sum(
        np.einsum("i,j,k", *(np.array(v, dtype=object).ravel() for v in term))
        for term in decomposition.to_sympy()
    )
    exact = [[[rational(sympy.expand(x)) for x in row] for row in rows] for rows in total.tolist()]
    assert exact == decomposition.tensor()


def test_a_conflict_is_a_matrix_that_cancels() -> None:
    facts = readout([[1], [1]], "ab")
    weights = facts.to_sympy()
    assert facts.conflict is not None
    assert weights == sympy.Matrix([[0, 1], [1, 0]])


def test_divergences_and_open_ranks() -> None:
    of = {type(value): value for value in instances()}
    built = of[EncoderConstruction]
    digits = str(sympy.N(built.to_sympy()["divergence"], 40))
    with ctx.workprec(128):
        assert abs(arb(digits) - built.divergence) < arb(10) ** -30
    decision = of[Memorization]
    known = [
        not any(gap <= 0 for j, gap in enumerate(row) if j != decision.layer.index[fact[2]])
        for row, fact in zip(decision.to_sympy().tolist(), decision.facts, strict=True)
    ]
    assert known == [fact not in decision.missed for fact in decision.facts]
    open_rank = SoftmaxRank(Matrix([[0]]), "1", 2, 4, "size")
    assert list(open_rank.to_sympy()) == [2, 3, 4]
