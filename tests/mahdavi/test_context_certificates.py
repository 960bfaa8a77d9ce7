"""False and damaged certificates of the kinds multi-head and kruskal-rank: none is accepted."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from flint import arb, ctx

from lemmax import checker
from lemmax.constructions import memorize, saturation_heads
from lemmax.constructions.mahdavi import counterexamples
from lemmax.theory import ContextHead, Matrix, MultiHead, certified_rank, kruskal_rank, multi_head
from lemmax.theory.certificates.writing import Certificate, certificate, matrix, to_json
from lemmax.theory.numbers.kruskal_rank import kruskal_rank_by_enumeration

SCHEMAS = Path(checker.__file__).parents[1] / "theory" / "certificates" / "schemas"


def rows(m: int, n: int, bound: int, draw: Random) -> Matrix:
    return Matrix([[draw.randint(-bound, bound) for _ in range(n)] for _ in range(m)])


def layer(draw: Random, scale: str = "ln2", outputs: bool = False) -> MultiHead:
    n, d, H, T = draw.randint(1, 3), draw.randint(1, 3), draw.randint(1, 3), draw.randint(2, 7)
    contexts = [rows(n, d, 2, draw) for _ in range(2)]
    heads = []
    for _ in range(H):
        W_K, W_Q = rows(d, 1, 2, draw), rows(d, 1, 2, draw)
        values = (rows(d, 1, 9, draw), Matrix([[1]])) if outputs else (None, None)
        heads.append(ContextHead(W_K, W_Q, *values))
    return multi_head([draw.choice(contexts) for _ in range(T)], rows(T, d, 2, draw), heads, scale)


def holds(value: Certificate) -> bool:
    """Whether the checker accepts; a refusal to read counts as no."""
    try:
        return checker.check(json.loads(to_json(value))).holds
    except checker.NotACertificate:
        return False


def test_false_feature_ranks_are_not_accepted() -> None:
    """Claims beside the exact rank over Q, which is computed from the rational matrix itself."""
    draw = Random(0)
    false = true = 0
    while false < 150:
        A = layer(draw)
        exact = certified_rank(A.exact_features()).rank
        honest = A.feature_rank().certificate()
        assert holds(honest)
        true += 1
        width = A.H * A.d
        for size in {exact + 1, draw.randint(0, min(A.T, width))}:
            if exact < size <= min(A.T, width):
                claim = copy.deepcopy(honest)
                claim["assertion"]["lower"] |= {
                    "bound": size,
                    "rows": sorted(draw.sample(range(A.T), size)),
                    "columns": sorted(draw.sample(range(width), size)),
                }
                assert not holds(claim)
                false += 1
        for top in range(exact):
            claim = copy.deepcopy(honest)
            claim["assertion"]["upper"]["bound"] = top
            for chosen in ([], [0], list(range(len(A.contexts)))):
                claim["assertion"]["upper"]["contexts"] = chosen
                assert not holds(claim)
                false += 1
    assert true >= 20


def test_false_jacobian_ranks_are_not_accepted() -> None:
    """Too many rows, or an upper bound below a rank that is known from below."""
    draw = Random(1)
    false = 0
    while false < 60:
        A = layer(draw, "1", outputs=True)
        bounds = A.jacobian_rank()
        honest = bounds.certificate()
        assert holds(honest)
        for top in range(bounds.lower):
            claim = copy.deepcopy(honest)
            claim["assertion"]["upper"] = {
                "bound": top,
                "method": draw.choice(["size", "dimension"]),
            }
            assert not holds(claim)
            false += 1
        claim = copy.deepcopy(honest)
        claim["assertion"]["lower"]["bound"] += 1
        assert not holds(claim)
        false += 1


def test_a_vanishing_minor_is_not_accepted() -> None:
    """Two equal examples: every minor with both rows is zero at every point."""
    head = ContextHead([[1], [2]], [[1], [1]])
    A = multi_head([[1, 0], [0, 1]], [[1, 2], [1, 2], [3, 1]], [head])
    claim = A.feature_rank().certificate()
    claim["assertion"]["lower"] |= {"bound": 2, "rows": [0, 1], "columns": [0, 1]}
    assert not holds(claim)


def test_false_outputs_are_not_accepted() -> None:
    draw = Random(2)
    for scale in ("1", "ln2") * 30:
        A = layer(draw, scale, outputs=True)
        outputs = A.outputs(200).entries()
        labels = [[draw.randint(-20, 20)] for _ in outputs]
        with ctx.workprec(200):
            far = max(float(abs(x - y[0]).mid()) for x, y in zip(outputs, labels, strict=True))
            too_small = int(far * 1000) - 1
            assert any(
                abs(x - y[0]) > arb(too_small) / 1000 for x, y in zip(outputs, labels, strict=True)
            )
        assert not holds(A.output_certificate(labels, f"{max(too_small, 0)}/1000"))
        assert holds(A.output_certificate(labels, int(far) + 1))


def test_false_kruskal_ranks_are_not_accepted() -> None:
    draw = Random(3)
    false = 0
    while false < 150:
        T, d, bound = draw.randint(1, 7), draw.randint(1, 4), draw.choice((1, 2, 5))
        vectors = rows(T, d, bound, draw)
        exact = kruskal_rank_by_enumeration(vectors)
        assert holds(kruskal_rank(vectors).certificate())
        for k in range(min(T, d) + 1):
            for method in ("dual", "search"):
                uppers: list[dict[str, Any]] = [{"method": "size"}]
                if k < T:
                    subset = sorted(draw.sample(range(T), k + 1))
                    uppers.append({"method": "subset", "indices": subset})
                for upper in uppers:
                    claim = certificate(
                        "kruskal-rank",
                        {
                            "vectors": matrix(vectors),
                            "rank": k,
                            "lower": {"method": method, "prime": str(2**61 - 1)},
                            "upper": upper,
                        },
                    )
                    if k != exact:
                        assert not holds(claim)
                        false += 1


def test_a_small_prime_proves_less() -> None:
    """Independent over Q and dependent mod 3: the lower bound is not accepted."""
    krank = kruskal_rank([[1, 1], [1, 4]])
    claim = krank.certificate()
    assert holds(claim)
    claim["lower"]["prime"] = "3"
    assert not holds(claim)


def honest() -> list[Certificate]:
    moment = [[x**i for i in range(3)] for x in range(1, 6)]
    E = Matrix.identity(3)[range(2), range(3)]
    memory = memorize(E, [[1, x, 0] for x in range(3)], [1, 2, 3], H=2)
    return [
        saturation_heads(E, moment[:3], 2).certificate(),
        memory.certificate(),
        memory.layer.jacobian_rank().certificate(),
        counterexamples.two_token_memorizer([1, -1, 1]).output_certificate([[1], [-1], [1]], 0),
        kruskal_rank(moment).certificate(),
        kruskal_rank([[1, 0], [0, 1], [2, 0], [1, 1], [1, 2], [1, 3]]).certificate(),
        counterexamples.kruskal_weakening_not_tight(),
        counterexamples.parallel_pair(),
    ]


def damaged(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place of a certificate with a value of a wrong kind in it, or missing, or added."""
    if isinstance(value, dict):
        for key in value:
            yield (*path, key), None
            yield from damaged(value[key], (*path, key))
        yield (*path, "surplus"), "1"
    elif isinstance(value, list):
        other: tuple[Any, ...] = ({}, "x", [[]], 1.5)
        yield from ((path, wrong) for wrong in other)
        if value:
            yield from damaged(value[0], (*path, 0))
    elif isinstance(value, str):
        strange: tuple[Any, ...] = ("007", "1.5", "1/0", "2/4", "nan", 1.5, True, None, [], "0x")
        yield from ((path, wrong) for wrong in strange)
    else:
        yield from ((path, wrong) for wrong in (-1, 1.5, True, "1", None, 2**60))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    made = copy.deepcopy(value)
    place = made
    for key in path[:-1]:
        place = place[key]
    if new is None and path and isinstance(place, dict):
        del place[path[-1]]
    else:
        place[path[-1]] = new
    return made


FREE = {("note",), ("claim",)}


@pytest.mark.parametrize("number", range(8))
def test_damaged_certificates_are_refused(number: int) -> None:
    good = json.loads(to_json(honest()[number]))
    assert checker.check(good).holds
    count = 0
    for path, new in damaged(good):
        bad = replaced(good, path, new)
        if path[:1] in FREE or bad == good:
            continue
        try:
            accepted = checker.check(bad).holds
        except checker.NotACertificate:
            accepted = False
        assert not accepted, (path, new)
        count += 1
    assert count >= 20


@pytest.mark.parametrize("number", range(8))
def test_schemas_accept_what_is_honest(number: int) -> None:
    good = json.loads(to_json(honest()[number]))
    schema = json.loads((SCHEMAS / f"{good['kind']}.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(good)
    for path, new in damaged(good):
        if not path or path[0] in ("version", "claim", "statement", "instance"):
            continue
        bad = replaced(good, path, new)
        if bad != good and validator.is_valid(bad):
            # what a schema cannot see, the checker still refuses or rejects
            assert not holds(bad), (path, new)


def test_scale_and_point_belong_together() -> None:
    claim = saturation_heads(Matrix.identity(2), [[1, 1], [1, 2]], 1).certificate()
    without = copy.deepcopy(claim)
    del without["assertion"]["lower"]["point"]
    with pytest.raises(checker.NotACertificate, match="point"):
        checker.check(without)
    with pytest.raises(checker.NotACertificate, match="scale"):
        checker.check(claim | {"scale": "1/sqrt(0)"})
    with pytest.raises(checker.NotACertificate):
        checker.check(claim | {"scale": "ln2"})
    claim["assertion"]["lower"]["point"] = "1"
    with pytest.raises(checker.NotACertificate, match="point"):
        checker.check(claim)


def test_too_large_certificates_are_refused_with_a_sentence() -> None:
    """The quotient search of the checker is bounded; it says so instead of running on."""
    vectors = [[x**i for i in range(12)] for x in range(1, 60)]
    claim = certificate(
        "kruskal-rank",
        {
            "vectors": matrix(Matrix(vectors)),
            "rank": 12,
            "lower": {"method": "search", "prime": str(2**61 - 1)},
            "upper": {"method": "size"},
        },
    )
    with pytest.raises(checker.NotACertificate, match="limit"):
        checker.check(claim)
