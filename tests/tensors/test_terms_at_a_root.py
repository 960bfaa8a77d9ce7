"""Terms at one root of a polynomial: quaternions over R and C, and false ones."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import acb, acb_poly, fmpq, fmpq_poly
from jsonschema import Draft202012Validator

from lemmax import checker
from lemmax.checker import NotACertificate, check
from lemmax.theory import tensor_rank
from lemmax.theory.errors import LemmaxError
from lemmax.theory.tensors.above.algebras import algebra_terms
from lemmax.theory.tensors.algebras.groups import OTHERS, quaternions
from lemmax.theory.tensors.algebras.structure import structure
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.decompositions import Bundle, Decomposition, IrrationalSum
from lemmax.theory.tensors.fields import Field
from lemmax.theory.tensors.files import decomposition_texts

Certificate = dict[str, Any]
SCHEMAS = Path(checker.__file__).parents[1] / "theory" / "certificates" / "schemas"


def terms_of(T: Array, field: Field) -> Decomposition:
    found = structure(T)
    assert found is not None
    terms = algebra_terms(found, field)
    assert terms is not None
    return terms


@pytest.mark.parametrize(
    ("name", "rank"),
    [("Q8", 11), ("Dic3", 18), ("Q16", 25), ("Z4 ⋊ Z4", 22), ("Q8 × Z2", 22)],
)
def test_groups_with_quaternions_have_as_many_terms_over_c_as_the_bound(
    name: str, rank: int
) -> None:
    result = tensor_rank(OTHERS[name], "C")
    assert result.rank == rank
    assert result.decomposition.adds_up_to(OTHERS[name])
    certificate = json.loads(json.dumps(result.certificate()))
    assert check(certificate).holds
    schema = json.loads((SCHEMAS / "tensor-rank.schema.json").read_text(encoding="utf-8"))
    assert Draft202012Validator(schema).is_valid(certificate)


@pytest.mark.parametrize(
    ("a", "b", "real"),
    [(-1, -1, 8), (-1, -3, 8), (-3, -1, 8), (-4, -9, 8), (-2, -8, 12), (2, 5, 7), (3, -1, 7)],
)
def test_quaternions_of_all_squares(a: int, b: int, real: int) -> None:
    """Over C seven terms; over R eight where both squares are negative and a root is rational."""
    T = quaternions(a, b)
    for field, most in (("R", real), ("C", 7)):
        terms = terms_of(T, field)  # type: ignore[arg-type]
        assert terms.adds_up_to(T)
        assert len(terms) <= most
        result = tensor_rank(T, field)  # type: ignore[arg-type]
        assert result.upper <= most
        assert check(result.certificate()).holds


def test_dic3_over_r_takes_the_root_of_three() -> None:
    result = tensor_rank(OTHERS["Dic3"], "R")
    assert result.rank == 20
    bundles = [f for f in result.decomposition.families if isinstance(f, Bundle)]
    assert [f.modulus for f in bundles] == [fmpq_poly([-3, 0, 1])]
    assert check(result.certificate()).holds


def test_the_terms_add_up_at_every_root_in_balls() -> None:
    """A second opinion: the complex roots of the modulus, and sums of products of numbers."""
    T = OTHERS["Q16"]
    result = tensor_rank(T, "C").decomposition
    rational = Decomposition(T.shape, result.terms).tensor()
    bundles = [f for f in result.families if isinstance(f, Bundle)]
    others = [f for f in result.families if not isinstance(f, Bundle)]
    assert len(bundles) == 1
    assert bundles[0].modulus.degree() == 4

    def values(term: Any, root: acb) -> Any:
        return [np.array([acb_poly(list(p))(root) for p in vector]) for vector in term]

    for root in acb_poly(list(bundles[0].modulus)).roots():
        total = np.array(rational, dtype=object) + acb(0)
        for term in bundles[0].written:
            total = total + np.einsum("i,j,k->ijk", *values(term, root))
        for family in others:
            for each in acb_poly(list(family.modulus)).roots():
                total = total + np.einsum("i,j,k->ijk", *values(family.factors, each))
        error = max(abs(x - int(t)) for x, t in zip(total.ravel(), T.ravel(), strict=True))
        assert error < 1e-9


def test_moves_keep_the_sum() -> None:
    terms = tensor_rank(quaternions(), "C").decomposition
    T = quaternions()
    assert any(isinstance(f, Bundle) for f in terms.families)
    assert terms.permuted((2, 0, 1)).adds_up_to(T.transpose(2, 0, 1))
    assert terms.chosen(1, [2, 0]).adds_up_to(T[:, [2, 0]])
    doubled = [[fmpq(2 * (i == j)) for j in range(4)] for i in range(4)]
    assert terms.mapped(0, doubled).adds_up_to(2 * T)
    placed = np.zeros((4, 4, 6), dtype=int)
    placed[:, :, [0, 2, 3, 5]] = T
    assert terms.placed(2, [0, 2, 3, 5], 6).adds_up_to(placed)
    assert not terms.adds_up_to(2 * T)


def test_they_are_told_in_words_formulas_and_sympy() -> None:
    result = tensor_rank(quaternions(), "C")
    lines = result.in_words()
    assert len(lines) == 7
    assert all(line.endswith("at one root θ of θ^2 + 1") for line in lines)
    assert result.decomposition.formula().count(r"\theta^{2} + 1 = 0") == 7
    flat = quaternions().ravel()
    total = np.zeros((4, 4, 4), dtype=object)
    for term in result.decomposition.to_sympy():
        u, v, w = (np.array(vector.T.tolist()[0], dtype=object) for vector in term)
        total = total + np.einsum("i,j,k->ijk", u, v, w)
    assert all(x.expand() == int(t) for x, t in zip(total.ravel(), flat, strict=True))
    with pytest.raises(LemmaxError, match="irrational"):
        decomposition_texts(result.decomposition)


def test_an_irrational_sum_is_one_sentence() -> None:
    i, one = fmpq_poly([0, 1]), fmpq_poly([1])
    with pytest.raises(IrrationalSum, match=r"no rational sum\.$"):
        Bundle(fmpq_poly([1, 0, 1]), (((i,), (one,), (one,)),)).tensor()


def bundle(modulus: list[str], term: list[list[list[str]]], **fields: Any) -> Certificate:
    """The tensor 1 × 1 × 1 with the entry 1, by one term at a root."""
    return {
        "format": "lemmax-certificate",
        "version": 1,
        "kind": "tensor-rank",
        "tensor": {"shape": [1, 1, 1], "entries": [[0, 0, 0, "1"]]},
        "field": "C",
        "lower": 1,
        "upper": 1,
        "proof": [{"lemma": "flattening", "mode": 0, "prime": "7"}],
        "terms": [],
        "families": [{"modulus": modulus, "terms": [term]}],
        **fields,
    }


ROOT, MINUS, ONE = [["0", "1"]], [["0", "-1"]], [["1", "0"]]


def test_a_term_at_a_root_is_read_with_its_field() -> None:
    """i · (-i) · 1 = 1 over C; √2 · √2 · 1/2 = 1 over R too; over Q neither."""
    i = bundle(["1", "0", "1"], [ROOT, MINUS, ONE])
    root = bundle(["-2", "0", "1"], [ROOT, ROOT, [["1/2", "0"]]])
    for certificate, fields in ((i, "C"), (root, "RC")):
        held = {f for f in "QRC" if check({**certificate, "field": f}).holds}
        assert held == set(fields)


def test_one_real_root_is_enough_for_one_term() -> None:
    """x³ - 2 has one real root and two others: for a family that is not enough."""
    x, y = [["0", "1", "0"]], [["0", "0", "1"]]
    certificate = bundle(["-2", "0", "0", "1"], [x, y, [["1/2", "0", "0"]]], field="R")
    assert check(certificate).holds
    none = bundle(
        ["2", "0", "0", "0", "1"],
        [[["0", "1", "0", "0"]], [["0", "0", "0", "1"]]] * 1 + [[["-1/2", "0", "0", "0"]]],
    )
    assert check(none).holds
    assert not check({**none, "field": "R"}).holds


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["families"][0]["terms"].pop(),
        lambda c: c["families"][0]["terms"].append(c["families"][0]["terms"][0]),
        lambda c: c["families"][0]["terms"][3][0].reverse(),
        lambda c: c["families"][0].update(modulus=["-1", "0", "1"]),
        lambda c: c["families"][0].update(modulus=["2", "0", "1"]),
        lambda c: c["families"][0]["terms"][2][1][0].reverse(),
        lambda c: c.update(upper=6, lower=6),
        lambda c: c.update(field="R"),
        lambda c: c.update(field="Q"),
    ],
)
def test_false_terms_of_quaternions_are_not_accepted(change: Callable[[Certificate], Any]) -> None:
    certificate = json.loads(json.dumps(tensor_rank(quaternions(), "C").certificate()))
    assert check(certificate).holds
    damaged = copy.deepcopy(certificate)
    change(damaged)
    assert damaged != certificate
    assert not check(damaged).holds


def test_the_sum_must_be_rational_where_the_constants_are_right() -> None:
    """1 + 0·i is right and 1 + i is not, though its constant is."""
    assert check(bundle(["1", "0", "1"], [ONE, ONE, ONE])).holds
    verdict = check(bundle(["1", "0", "1"], [ONE, ONE, [["1", "1"]]]))
    assert not verdict.holds
    assert any("not rational" in step for step in verdict.steps)


@pytest.mark.parametrize(
    "family",
    [
        {"modulus": ["1", "0", "1"], "terms": []},
        {"modulus": ["1"], "terms": [[[["1"]]] * 3]},
        {"modulus": ["1", "0", "2"], "terms": [[ONE] * 3]},
        {"modulus": ["1", "0", "1"], "terms": [[ONE] * 2]},
        {"modulus": ["1", "0", "1"], "terms": [[[["1"]], ONE, ONE]]},
        {"modulus": ["1", "0", "1"], "terms": [[ONE] * 3], "factors": [ONE] * 3},
        {"terms": [[ONE] * 3]},
    ],
)
def test_malformed_terms_at_a_root_are_refused(family: Any) -> None:
    with pytest.raises(NotACertificate):
        check(bundle([], [], families=[family]))
