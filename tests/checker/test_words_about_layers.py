"""The words about layers in the checker's language, against lemmax's own computation."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lemmax import checker
from lemmax.checker import attention
from lemmax.checker.language.sorts import Facts
from lemmax.checker.words import layers as layer_words
from lemmax.strategies import databases, layers
from lemmax.theory import AttentionLayer, Database
from lemmax.theory.certificates.writing import refutation
from lemmax.theory.numbers.matrices import fraction
from lemmax.theory.wong.layer_tensors import layer_tensor


@given(st.data(), databases(3, 3, 3, disjoint=False), st.booleans())
def test_layer_tensor_of_the_checker(data: Any, db: Database, masked: bool) -> None:
    drawn = data.draw(layers(tokens=len(db.tokens), unit="ln2"))
    layer = AttentionLayer(db.tokens, drawn.W_E, drawn.W_U, drawn.heads, "ln2")
    read = attention.layer(layer.certificate_fields(), "layer")
    facts = Facts((str(k), str(q), str(v)) for k, q, v in db)
    ordered = Database.from_triples(sorted(facts))
    tensor = layer_tensor(layer, ordered, masked)
    place = [
        {token: i for i, token in enumerate(part)}
        for part in (tensor.keys, tensor.queries, tensor.values)
    ]
    numbers = tensor.rationals()
    expected = tuple(
        tuple(
            tuple(
                fraction(numbers[place[0][k]][place[1][q]][place[2][v]])
                for v in sorted({f[2] for f in facts})
            )
            for q in sorted({f[1] for f in facts})
        )
        for k in sorted({f[0] for f in facts})
    )
    number = layer.index
    gaps = [
        scores[number[q], number[k]] - scores[number[q], number[q]]
        for scores in map(layer.W_QK, range(len(layer.heads)))
        for k in tensor.keys
        for q in tensor.queries
    ]
    # Beyond 2^256 the checker treats an odds ratio as a real number.
    assume(all(abs(gap) <= 256 for gap in gaps))
    found = layer_words.layer_tensor(read, facts, masked)
    assert tuple(tuple(tuple(fibre) for fibre in line) for line in found) == expected


def own(conclusion: str, **instance: Any) -> dict[str, Any]:
    """A refutation in a namespace of its own, so that any statement may be asked about."""
    return refutation("example/words", instance, [], conclusion)


@pytest.mark.parametrize(
    ("conclusion", "holds"),
    [
        ("row_gap(M) == 2", False),
        ("row_gap(M) == 1", True),
        ("flattening_rank(fold(M, 1), 0) == 2", False),
        ("flattening_rank(fold(M, 2), 0) == 2", True),
        ("equal(fibres(fold(M, 1)), M)", False),
        ("equal(fibres(fold(M, 2)), M)", False),
    ],
)
def test_row_gap_fold_and_fibres(conclusion: str, holds: bool) -> None:
    """A certificate holds iff its conclusion is false."""
    matrix = [["5", "1", "3"], ["0", "7", "2"]]
    assert checker.check(own(conclusion, M=matrix)).holds is holds


@pytest.mark.parametrize("conclusion", ["row_gap(M) == 1", "flattening_rank(fold(M, 2), 0) == 1"])
def test_words_refuse_what_has_no_meaning(conclusion: str) -> None:
    with pytest.raises(checker.NotACertificate):
        checker.check(own(conclusion, M=[["1"], ["2"], ["3"]]))
    with pytest.raises(checker.NotACertificate):
        checker.check(own("flattening_rank(fold(M, 0), 0) == 1", M=[["1"]]))


def test_irrational_attention_is_refused() -> None:
    weights = [["1"], ["2"], ["0"]]
    head = {"W_Q": [["1"]], "W_K": [["1"]], "W_V": [["1"]], "W_O": [["1"]]}
    layer = {
        "tokens": ["k", "q", "v"],
        "unit": "1",
        "W_E": weights,
        "W_U": [["0", "0", "1"]],
        "heads": [head],
    }
    certificate = own(
        "rank(fibres(layer_tensor(L, D))) == 0", L={"layer": layer}, D={"facts": [["k", "q", "v"]]}
    )
    with pytest.raises(checker.NotACertificate, match="irrational"):
        checker.check(certificate)
