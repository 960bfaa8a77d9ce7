"""False certificates, instances that no claim speaks of, and certificates that cost too much."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from lemmax import checker
from lemmax.checker import NotACertificate, check

Certificate = dict[str, Any]
ONE = [["1", "0"], ["0", "1"]]


def envelope(kind: str, **fields: Any) -> Certificate:
    return {"format": "lemmax-certificate", "version": 1, "kind": kind, **fields}


def head(W_Q: Any, W_K: Any, W_V: Any, W_O: Any) -> dict[str, Any]:
    return {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}


# --- false certificates -------------------------------------------------------------------------


def equal_heads(prime: str, point: str) -> Certificate:
    """Two heads whose scores differ by a constant: A has two equal blocks, and rank at most 2."""
    keys = ([["25", "0"], ["0", "0"]], [["25", "0"], ["0", "1"]])
    return envelope(
        "aot-rank",
        layer={
            "tokens": ["a", "b", "c", "d", "e"],
            "unit": "1",
            "W_E": [["1", "1"], ["4/5", "1"], ["2/5", "1"], ["6/5", "1"], ["1/5", "1"]],
            "W_U": [["0"] * 5] * 2,
            "heads": [head(ONE, W_K, ONE, ONE) for W_K in keys],
        },
        pos=[["0", "0"]] * 3,
        sequences=[[0, 0, 0], [0, 2, 4], [0, 4, 1]],
        matrix="A",
        at_least=3,
        prime=prime,
        point=point,
        rows=[0, 1, 2],
        columns=[0, 1, 2],
    )


@pytest.mark.parametrize(("prime", "point"), [("5", "2"), ("5", "3"), ("7", "3"), ("1000003", "2")])
def test_a_prime_that_divides_an_embedding_shows_no_rank(prime: str, point: str) -> None:
    """Weights are residues: a sum of them that p divides must not cancel a denominator p."""
    assert not check(equal_heads(prime, point)).holds


# --- instances that the claim does not speak of ---------------------------------------------------


def refutation(claim: str, **instance: Any) -> Certificate:
    known = checker.STATEMENTS[claim]
    statement = {"hypotheses": list(known.hypotheses), "conclusion": known.conclusion}
    return envelope("refutation", claim=claim, statement=statement, instance=instance)


def accepted(certificate: Certificate) -> bool:
    try:
        return check(certificate).holds
    except NotACertificate:
        return False


def test_a_scale_is_one_number() -> None:
    """With two rows, C0 and C could be matrices instead of the scales of the claim."""
    certificate = refutation(
        "wong/large-tau-large-c",
        M=[["1", "0"], ["1", "0"]],
        C0=[["10", "1"], ["10", "1"]],
        C=[["1/100", "100"], ["1/100", "100"]],
        tau0="3/4",
        tau="9/10",
    )
    assert not accepted(certificate)


def small_layer(tokens: list[str], d: int, heads: list[dict[str, Any]]) -> dict[str, Any]:
    unembedding = [["10" if token == "v" else "0" for token in tokens]] * d
    embedding = [["1"] * d for _ in tokens]
    return {"tokens": tokens, "unit": "1", "W_E": embedding, "W_U": unembedding, "heads": heads}


FACT = {"facts": [["k", "q", "v"]]}
WIDE = head([["0"]], [["0"]], [["0", "0"]], [["0"], ["0"]])


def test_the_grid_has_layers_with_heads_only() -> None:
    layer = {"layer": small_layer(["k", "q", "v"], 1, [])}
    assert not accepted(refutation("wong/figure-3-tau-99", L=layer, D=FACT))


@pytest.mark.parametrize(
    ("tokens", "d", "heads"),
    [
        (["k", "q", "v"], 1, [WIDE]),
        (["k", "q", "v"], 4, [head([["0"]] * 4, [["0"] * 4], [["0"]] * 4, [["0"] * 4])]),
        (["k", "q"], 1, [head([["0"]], [["0"]], [["0"]], [["0"]])]),
    ],
    ids=["d_vo above d_model", "d_model above |T|", "a value that is no token"],
)
def test_layers_are_those_of_the_paper(
    tokens: list[str], d: int, heads: list[dict[str, Any]]
) -> None:
    layer = {"layer": small_layer(tokens, d, heads)}
    assert not accepted(refutation("wong/equation-9", L=layer, D=FACT))


def test_a_layer_of_the_paper_refutes_equation_9() -> None:
    layer = {"layer": small_layer(["k", "q", "v"], 1, [head([["0"]], [["0"]], [["0"]], [["0"]])])}
    assert accepted(refutation("wong/equation-9", L=layer, D=FACT))


def test_tokens_and_queries_of_different_dimensions_have_no_family() -> None:
    data = {
        "contexts": [[["1", "0"], ["0", "1"]]],
        "context_of": [0, 0],
        "queries": [["1", "2", "3"], ["4", "5", "7"]],
        "scale": "1",
        "heads": [{"W_K": [["1"], ["2"]], "W_Q": [["1"], ["1"], ["1"]]}],
    }
    with pytest.raises(NotACertificate, match="one dimension"):
        check(refutation("mahdavi/general-position-limit", A={"multi-head": data}))


def test_no_fact_on_the_diagonal() -> None:
    """For k = q the claims depend on how equation (5) is read."""
    layer = {"layer": small_layer(["k", "q", "v"], 1, [head([["0"]], [["0"]], [["0"]], [["0"]])])}
    diagonal = {"facts": [["q", "q", "v"]]}
    assert not accepted(refutation("wong/equation-9", L=layer, D=diagonal))


# --- time and memory ------------------------------------------------------------------------------


def test_cones_are_counted_before_they_are_made() -> None:
    d = 60
    certificate = envelope(
        "kl-interval",
        prior=["1"],
        table=[["1"] + ["0"] * (d + 1)],
        d=d,
        upper={"value": "100", "W": [["0"] * d] * (d + 2), "E": [["0"] * d]},
        lower={
            "value": "0",
            "blocks": [{"tokens": list(range(d + 2)), "nodes": [{"mu": ["0"]}]}],
        },
    )
    with pytest.raises(NotACertificate, match="cones"):
        check(certificate)


def test_powers_of_two_with_huge_exponents_are_quick() -> None:
    certificate = envelope(
        "memorization",
        layer={
            "tokens": ["a", "b"],
            "unit": "ln2",
            "W_E": [["0"], ["1"]],
            "W_U": [["0", "1"]],
            "heads": [head([["0x1p900000"]], [["0x1p900000"]], [["1"]], [["1"]])],
        },
        facts=[[0, 1, 1]],
        criterion={"type": "argmax"},
    )
    assert check(certificate).holds


def test_many_long_scores_are_refused() -> None:
    count = 2000
    long = "0x1p-900000"
    certificate = envelope(
        "memorization",
        layer={
            "tokens": [f"t{i}" for i in range(count)],
            "unit": "1",
            "W_E": [["1", "1"]] * count,
            "W_U": [["1"] + ["0"] * (count - 1)] * 2,
            "heads": [head([[long], ["3"]], [[long, "7"]], [["0"], ["0"]], [["0", "0"]])],
        },
        facts=[[i, 1, 0] for i in range(count)],
        criterion={"type": "argmax"},
    )
    with pytest.raises(NotACertificate, match="attention scores"):
        check(certificate)


def test_a_minor_is_reduced_entry_by_entry() -> None:
    n = 40
    rows = [
        [("0x1p-200000" if j == 0 else "1") if j <= i else "0" for j in range(n)] for i in range(n)
    ]
    certificate = envelope(
        "matrix-rank",
        matrix=rows,
        rank=n,
        lower={"prime": "1000003", "rows": list(range(n)), "columns": list(range(n))},
        upper={"method": "size"},
    )
    tracemalloc.start()
    try:
        assert check(certificate).holds
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8_000_000


def test_rows_with_long_denominators_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(checker.LIMITS, "memory", 300_000)
    certificate = envelope(
        "matrix-rank",
        matrix=[["1" if i == j else "0" for j in range(20)] for i in range(20)],
        rank=20,
        lower={"prime": "1000003", "rows": list(range(20)), "columns": list(range(20))},
        upper={
            "method": "factorisation",
            "left": [["0x1p-1000"] + ["1"] * 19] * 20,
            "right": [["1"] * 20] * 20,
        },
    )
    with pytest.raises(NotACertificate, match="common denominators"):
        check(certificate)


def test_layers_without_heads_are_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(checker.LIMITS, "work", 20_000)
    count = 100
    certificate = envelope(
        "aot-memorization",
        layer={
            "tokens": [f"t{i}" for i in range(count)],
            "unit": "1",
            "W_E": [["1", "0"]] * count,
            "W_U": [["0"] * count] * 2,
            "heads": [],
        },
        pos=[["0", "0"]],
        pairs=[[[i], 0] for i in range(count)],
    )
    with pytest.raises(NotACertificate, match="forward pass"):
        check(certificate)


def decomposition(n: int, a: int, modulus: list[str], field: str) -> Certificate:
    factors = [[["1"] * n] * a, [["1"] * n] * a, [["0"] * n]]
    return envelope(
        "tensor-rank",
        tensor={"shape": [a, a, 1], "entries": []},
        field=field,
        lower=0,
        upper=n,
        proof=[{"lemma": "flattening", "mode": 0, "prime": "7"}],
        terms=[],
        families=[{"modulus": modulus, "factors": factors}],
    )


def test_families_of_large_degree_are_counted() -> None:
    with pytest.raises(NotACertificate, match="families"):
        check(decomposition(60, 300, ["1"] * 61, "C"))


def test_real_roots_of_large_degree_are_counted_quickly() -> None:
    modulus = [str((-7) ** i % 1_000_003 - 500_000) for i in range(80)] + ["1"]
    verdict = check(decomposition(80, 1, modulus, "R"))
    assert not verdict.holds
    assert "80 roots are real" in verdict.steps[-1]


def test_subsets_of_long_vectors_are_refused() -> None:
    rows = [["0x" + "f" * 10_000 + f"{i * j:x}" for j in range(4)] for i in range(14)]
    statement = {"hypotheses": [], "conclusion": "independent_share(M, 4) == 5"}
    certificate = envelope(
        "refutation", claim="own/share", statement=statement, instance={"M": rows}
    )
    with pytest.raises(NotACertificate, match="subsets"):
        check(certificate)


def test_long_rows_are_read_once() -> None:
    """The largest entry of a row, or score of a sequence, is found once and not for each entry."""
    count = 10_000
    row = [str(i) for i in range(count)]
    statement = {"hypotheses": ["rows(M) == 1"], "conclusion": "max_entry(argmax(M)) == 0"}
    refuted = envelope("refutation", claim="own/top", statement=statement, instance={"M": [row]})
    assert check(refuted).holds
    layer = {
        "tokens": ["a", "b"],
        "unit": "1",
        "W_E": [["1"], ["0"]],
        "W_U": [["1", "0"]],
        "heads": [head([["1"]], [["1"]], [["1"]], [["1"]])],
    }
    pairs = [[[0] * 5_000, 0]]
    pos = [["0"]] * 5_000
    assert check(envelope("aot-memorization", layer=layer, pos=pos, pairs=pairs)).holds


def test_the_steps_of_a_proof_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def proof(steps: int) -> Certificate:
        idle = {"lemma": "substitution", "mode": 0, "prime": "7", "maps": [[], [], []]}
        return envelope(
            "tensor-rank",
            tensor={"shape": [2, 2, 2], "entries": [[0, 0, 0, "1"]]},
            field="C",
            lower=1,
            upper=1,
            proof=[idle] * steps + [{"lemma": "flattening", "mode": 0, "prime": "7"}],
            terms=[[["1", "0"]] * 3],
            families=[],
        )

    monkeypatch.setitem(checker.LIMITS, "work", 60_000)
    for _ in range(50):  # every certificate starts anew
        assert check(proof(10)).holds
    with pytest.raises(NotACertificate, match="brings the work"):
        check(proof(10_000))
