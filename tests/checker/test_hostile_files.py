"""Files below a megabyte that ask for hours or for all of the memory.

Each is checked by a process that the operating system stops at 60 seconds of processor time and at
a gigabyte, interpreter included. It has to end by itself: with a verdict, or with one sentence.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import math
import resource
import subprocess
import sys
from array import array
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from lemmax import checker
from lemmax.checker import enclosures

Certificate = dict[str, Any]
MERSENNE = 2**61 - 1  # Python's hash of an integer is its residue
HOSTILE: dict[str, Callable[[], Certificate]] = {}


def hostile(make: Callable[[], Certificate]) -> Callable[[], Certificate]:
    HOSTILE[make.__name__] = make
    return make


def envelope(kind: str, **fields: Any) -> Certificate:
    return {"format": "lemmax-certificate", "version": 1, "kind": kind, **fields}


def refutation(hypotheses: list[str], conclusion: str, **instance: Any) -> Certificate:
    statement = {"hypotheses": hypotheses, "conclusion": conclusion}
    return envelope("refutation", claim="own/hostile", statement=statement, instance=instance)


def tensor_rank(shape: list[int], entries: list[Any], *proof: dict[str, Any]) -> Certificate:
    """With one term for the entries of each (i, j): the decomposition is right."""
    terms = [
        [
            ["1" if n == i else "0" for n in range(shape[0])],
            ["1" if n == j else "0" for n in range(shape[1])],
            ["1" if [i, j, n, "1"] in entries else "0" for n in range(shape[2])],
        ]
        for i, j in sorted({(i, j) for i, j, _, _ in entries})
    ]
    return envelope(
        "tensor-rank",
        tensor={"shape": shape, "entries": entries},
        field="C",
        lower=0,
        upper=len(terms),
        proof=list(proof),
        terms=terms,
        families=[],
    )


FLAT = {"lemma": "flattening", "mode": 0, "prime": "7"}


@hostile
def a_huge_binomial() -> Certificate:
    return tensor_rank([999_999, 1, 1], [], {"lemma": "koszul", "mode": 0, "prime": "7"})


@hostile
def a_binomial_of_middle_size() -> Certificate:
    return tensor_rank([23, 2, 2], [], {"lemma": "koszul", "mode": 0, "prime": "7"})


@hostile
def zeros_in_maps() -> Certificate:
    maps = [[["0"]] * 2_000, [], []]
    return tensor_rank([1, 1_000, 1_000], [], {"lemma": "restriction", "maps": maps}, FLAT)


@hostile
def zeros_in_maps_again_and_again() -> Certificate:
    maps = [[["0"]] * 100, [], []]
    back = [[["0"] * 100], [], []]
    steps = [{"lemma": "restriction", "maps": m} for m in (maps, back)]
    return tensor_rank([1, 100, 100], [], *(steps * 500), FLAT)


@hostile
def a_tensor_of_facts() -> Certificate:
    facts = [[f"k{i}", f"q{i}", f"v{i}"] for i in range(600)]
    return refutation([], "flattening_rank(tensor(D), 0) == 0", D={"facts": facts})


@hostile
def many_identities() -> Certificate:
    chain = "identity(999)"
    for _ in range(16):
        chain = f"product({chain}, identity(999))"
    return refutation(["rank(M) >= 0"], f"rank({chain}) == 0", M=[["1"]])


@hostile
def many_equal_identities() -> Certificate:
    hypotheses = ["equal(identity(1000), identity(1000))"] * 20_000
    return refutation(hypotheses, "rank(M) == 0", M=[["1"]])


@hostile
def tokens_times_positions() -> Certificate:
    count = 15_000
    layer = {
        "tokens": [f"t{i}" for i in range(count)],
        "unit": "1",
        "W_E": [["1"]] * count,
        "W_U": [["0"] * count],
        "heads": [],
    }
    pairs = [[[0] * count, 0]]
    return envelope("aot-memorization", layer=layer, pos=[["0"]] * count, pairs=pairs)


@hostile
def minors_times_pairs() -> Certificate:
    entries = [[13 * i + j, i, j, "1"] for i in range(13) for j in range(13)]
    minors = [[i % 13, (i + 1) % 13, i % 11, 12] for i in range(60_000)]
    step = {"lemma": "quadrics", "mode": 0, "prime": "1000003", "minors": minors}
    return tensor_rank([169, 13, 13], entries, step)


def dyadic(rows: int, columns: int) -> list[list[str]]:
    """One short number with a long denominator."""
    table = [["1"] * columns for _ in range(rows)]
    table[0][0] = "0x1p-1000000"
    return table


@hostile
def dyadic_numbers_in_every_matrix() -> Certificate:
    head = {"W_Q": dyadic(40, 40), "W_K": dyadic(40, 40), "W_V": dyadic(40, 40)}
    layer = {
        "tokens": [f"t{i}" for i in range(40)],
        "unit": "1",
        "W_E": dyadic(40, 40),
        "W_U": dyadic(40, 40),
        "heads": [{**head, "W_O": dyadic(40, 40)}],
    }
    criterion = {"type": "argmax"}
    return envelope("memorization", layer=layer, facts=[[0, 1, 2]], criterion=criterion)


@hostile
def dyadic_numbers_in_a_product() -> Certificate:
    statement = "rank(product(product(M, M), product(M, M))) == 0"
    return refutation([], statement, M=dyadic(30, 30))


@hostile
def long_denominators() -> Certificate:
    row = [f"1/{10**900 + i}" for i in range(0, 500)]
    return refutation([], "entry_sum(M) == 0", M=[row])


def wide_transformer(kind: str, **fields: Any) -> Certificate:
    d, S, count = 3_000, 30, 2_000
    head = {"W_Q": [["1"]] * d, "W_K": [["1"] * d], "W_V": [["1"]] * d, "W_O": [["0"] * d]}
    layer = {
        "tokens": ["a", "b"],
        "unit": "1",
        "W_E": [["1"] * d, ["0"] * d],
        "W_U": [["1", "0"]] * d,
        "heads": [head],
    }
    sequences = [[int(b) for b in f"{i:0{S - 1}b}"] + [0] for i in range(count)]
    return envelope(kind, layer=layer, pos=[["0"] * d] * S, **fields, sequences=sequences)


@hostile
def scores_of_a_wide_transformer() -> Certificate:
    minor = {"prime": "1000003", "point": "3", "rows": list(range(2_000))}
    return wide_transformer(
        "aot-rank", matrix="A'", at_least=2_000, columns=list(range(2_000)), **minor
    )


@hostile
def forward_passes_of_a_wide_transformer() -> Certificate:
    certificate = wide_transformer("aot-memorization")
    certificate["pairs"] = [[t, 0] for t in certificate.pop("sequences")]
    return certificate


@hostile
def hypotheses_without_number() -> Certificate:
    M = [[str((i * i + j) % 97) for j in range(60)] for i in range(60)]
    return refutation(["rank(M) >= 1"] * 40_000, "rank(M) == 0", M=M)


@hostile
def linear_words_again_and_again() -> Certificate:
    M = [[str(Fraction(i, j + 7_919)) for j in range(150)] for i in range(1, 151)]
    words = ["distinct_rows(M)", "max_entry(argmax(transpose(M))) > 0", "covering(M, 1/2) > 0"]
    words += ["row_gap(M) >= 0", "entry_sum(M) > 0", "not unit_rows(M)", "equal(M, M)"]
    return refutation(words * 2_500, "rows(M) == 0", M=M)


@hostile
def colliding_columns() -> Certificate:
    row = [str(j * MERSENNE) for j in range(25_000)]
    lower = {"prime": "1000003", "rows": [0], "columns": [0], "point": "3"}
    upper = {"method": "column-classes"}
    return envelope("softmax-rank", logits=[row], unit="1", rank=1, lower=lower, upper=upper)


@hostile
def colliding_logits() -> Certificate:
    row = [str(j * MERSENNE) for j in range(25_000)]
    return refutation([], "max_entry(threshold(M, 1/2)) == 0", M=[row])


@hostile
def colliding_rows() -> Certificate:
    column = [[str(j * MERSENNE)] for j in range(25_000)]
    return refutation(["distinct_rows(M)"], "rows(M) == 0", M=column)


@hostile
def colliding_unembeddings() -> Certificate:
    count = 20_000
    layer = {
        "tokens": [f"t{i}" for i in range(count)],
        "unit": "1",
        "W_E": [["1"]] * count,
        "W_U": [[str(j * MERSENNE) for j in range(count)]],
        "heads": [],
    }
    criterion = {"type": "argmax"}
    return envelope("memorization", layer=layer, facts=[[0, 1, count - 1]], criterion=criterion)


@hostile
def colliding_scores() -> Certificate:
    count = 3_000
    one = [["1"]]
    heads = [
        {"W_Q": one, "W_K": [[str(h * MERSENNE)]], "W_V": one, "W_O": one} for h in range(count)
    ]
    layer = {
        "tokens": ["a", "b", "c"],
        "unit": "1",
        "W_E": [["0"], ["1"], ["2"]],
        "W_U": [["0", "1", "2"]],
        "heads": heads,
    }
    facts = [[k, q, 2] for k in range(3) for q in range(3)]
    return envelope("memorization", layer=layer, facts=facts, criterion={"type": "argmax"})


@hostile
def colliding_lines() -> Certificate:
    vectors = [["1", str(j * MERSENNE)] for j in range(20_000)]
    lower = {"method": "search", "prime": "3317044064679887385961813"}
    upper = {"method": "size"}
    return envelope("kruskal-rank", vectors=vectors, rank=2, lower=lower, upper=upper)


def hidden(bits: int) -> str:
    """A number within 2^-bits of 1 / (1 + 1/e), above it."""
    return f"{enclosures.sigmoid(Fraction(1), '1', bits)[1]:#x}p-{bits}"


@hostile
def outputs_at_the_largest_precision() -> Certificate:
    count = 300
    return envelope(
        "multi-head",
        contexts=[[["1"], ["0"]]],
        context_of=[0] * count,
        queries=[["1"]] * count,
        scale="1",
        heads=[{"W_K": [["1"]], "W_Q": [["1"]], "V": [["1"]]}],
        assertion={"type": "outputs", "labels": [[hidden(8_000)]] * count, "error": "0x1p-7990"},
    )


@hostile
def thresholds_at_the_largest_precision() -> Certificate:
    layer = {
        "tokens": ["a", "b"],
        "unit": "1",
        "W_E": [["1"], ["1"]],
        "W_U": [["1", "0"]],
        "heads": [],
    }
    facts = {"facts": [["a", "b", "a"], ["b", "a", "a"]]}
    hypotheses = ["accuracy_at(L, D, t) == 0"] * 10_000
    return refutation(hypotheses, "size(D) == 0", L={"layer": layer}, D=facts, t=hidden(7_800))


@hostile
def heads_at_the_largest_precision() -> Certificate:
    heads = [
        {
            "W_Q": [["0"], ["1"]],
            "W_K": [[f"1/{h}", "0"]],
            "W_V": [["1"], ["0"]],
            "W_O": [["1", "0"]],
        }
        for h in range(2, 300)
    ]
    layer = {
        "tokens": ["k", "q"],
        "unit": "ln2",
        "W_E": [["1", "0"], ["0", "1"]],
        "W_U": [["1", "1"], ["0", "0x1p-1000000"]],
        "heads": heads,
    }
    criterion = {"type": "argmax"}
    return envelope("memorization", layer=layer, facts=[[0, 1, 1]], criterion=criterion)


@hostile
def idle_steps() -> Certificate:
    idle = {"lemma": "substitution", "mode": 0, "prime": "7", "maps": [[], [], []]}
    entries = [[i, i, i, "1"] for i in range(100)]
    return tensor_rank([100, 100, 100], entries, *[idle] * 7_000, FLAT)


@hostile
def idle_steps_that_turn_the_tensor() -> Certificate:
    idle = {"lemma": "restriction", "maps": [[], [], list(range(10))]}
    return tensor_rank([300, 300, 10], [], *[idle] * 10_000, FLAT)


@hostile
def cones_without_end() -> Certificate:
    d = 14
    return envelope(
        "kl-interval",
        prior=["1"],
        table=[["1"] + ["0"] * (d + 1)],
        d=d,
        upper={"value": "100", "W": [["0"] * d] * (d + 2), "E": [["0"] * d]},
        lower={
            "value": "0",
            "blocks": [{"tokens": list(range(d + 2)), "nodes": [{"mu": ["0"]}] * 2 ** (d + 1)}],
        },
    )


@hostile
def bisections_in_depth() -> Certificate:
    nodes: list[Any] = [[0, 1]] * 100_000
    return envelope(
        "kl-interval",
        prior=["1"],
        table=[["1", "0", "0"]],
        d=1,
        upper={"value": "100", "W": [["0"]] * 3, "E": [["0"]]},
        lower={"value": "0", "blocks": [{"tokens": [0, 1, 2], "nodes": nodes}]},
    )


@hostile
def a_long_radius() -> Certificate:
    ball = {
        "maps": [[], [], []],
        "centre": [[["1"], ["1"], ["1"]]],
        "free": [0],
        "radius": "0x" + "f" * 300_000 + "p-1000000",
    }
    certificate = tensor_rank([1, 1, 1], [[0, 0, 0, "1"]], FLAT)
    return {**certificate, "ball": ball, "upper": 1, "field": "R"}


@hostile
def a_long_chain_of_polynomials() -> Certificate:
    degree = 1_000
    modulus = [str(7**i % 1_000_003) for i in range(degree)] + ["1"]
    factors = [[["1"] * degree]] * 3
    certificate = tensor_rank([1, 1, 1], [], FLAT)
    family = {"modulus": modulus, "factors": factors}
    return {**certificate, "families": [family], "upper": degree, "field": "R"}


@hostile
def terms_at_a_root_of_large_degree() -> Certificate:
    degree, a = 60, 40
    vector = [[str(7**i % 1_000_003) for i in range(degree)]] * a
    family = {"modulus": ["1"] * (degree + 1), "terms": [[vector] * 3] * 2}
    certificate = tensor_rank([a, a, a], [], FLAT)
    return {**certificate, "families": [family], "upper": 2}


@hostile
def terms_at_a_root_with_many_denominators() -> Certificate:
    """Every term has denominators of its own, so that the sum is long."""
    terms = [
        [[[f"1/{10**3900 + 3 * r + 2 * mode + 1}", "1"]] * 3 for mode in range(3)]
        for r in range(25)
    ]
    certificate = tensor_rank([3, 3, 3], [], FLAT)
    return {**certificate, "families": [{"modulus": ["1", "0", "1"], "terms": terms}], "upper": 25}


@hostile
def a_large_prime_without_roots() -> Certificate:
    step = {
        "lemma": "eigenvalue",
        "mode": 0,
        "prime": "7",
        "order": [0, 1],
        "modulus": ["1", "0", "1"],
        "left": [[["1", "0"]]],
        "pivots": [0],
        "outside": "2147483647",
    }
    return {**tensor_rank([2, 1, 1], [], step), "field": "Q"}


@hostile
def powers_of_a_number() -> Certificate:
    return refutation([], " * ".join(["x"] * 100) + " == 1", x="0x" + "f" * 200_000)


@hostile
def subsets_without_number() -> Certificate:
    M = [[str((i * j) % 101) for j in range(40)] for i in range(80)]
    return refutation([], "kruskal_rank(M) == 0", M=M)


@hostile
def a_search_for_transversals() -> Certificate:
    places = {(q, q, (q * k * k + k) % 60) for q in range(60) for k in range(20)}
    entries = [[*place, "1"] for place in sorted(places)]
    step = {"lemma": "transversal", "mode": 0, "columns": 1, "hitting": 30}
    return tensor_rank([60, 60, 60], entries, step)


@hostile
def empty_lists() -> Certificate:
    return envelope("matrix-rank", matrix=[[]] * 300_000, rank=0, lower={}, upper={})


# Honest, heavy, and well within the minute: the meter must not refuse them.
DECIDED = {
    "long_denominators": 0,
    "outputs_at_the_largest_precision": 0,
    "heads_at_the_largest_precision": 1,
}


def algebra(n: int, entry: str, **changed: Any) -> Certificate:
    """All structure constants are equal: associative, of rank one, and without a unit."""
    places = itertools.product(range(n), repeat=3)
    lemma = {"lemma": "algebra", "unit": ["1"] * n, "prime": "2", "element": ["1"] * n}
    linear = {"polynomial": ["1", "1"], "degree": 1, "point": "9", "prime": "2"}
    step = lemma | {"factors": [linear | changed]}
    found = tensor_rank([n, n, n], [], step)
    found["tensor"]["entries"] = [[*place, entry] for place in places]
    return found | {"terms": [[[entry] * n, ["1"] * n, ["1"] * n]], "upper": 1}


@hostile
def a_dense_algebra_of_long_numbers() -> Certificate:
    return algebra(24, "0x1p20000")


@hostile
def a_long_point_of_a_polynomial() -> Certificate:
    return algebra(1, "1", polynomial=["1"] * 231, point="0x1p1000000")


def safetensors(**parts: tuple[str, tuple[int, ...], bytes]) -> bytes:
    """A file of arrays: types, shapes and bytes by name."""
    header, place = {}, 0
    for name, (kind, shape, data) in parts.items():
        offsets = [place, place := place + len(data)]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": offsets}
    head = json.dumps(header).encode()
    data = b"".join(data for _, _, data in parts.values())
    return len(head).to_bytes(8, "little") + head + data


def ones(*shape: int) -> tuple[str, tuple[int, ...], bytes]:
    return "F16", shape, b"\x00\x3c" * math.prod(shape)


def long_prompt(positions: int) -> tuple[Certificate, bytes]:
    """A transformer without steps, two tokens in one dimension, and a prompt that is as long."""
    names = {"mask": "causal", "positions": "learned", "unembedding": "own"}
    found = envelope(
        "transformer-memorization",
        model={**names, "steps": []},
        bits=32,
        margin="0",
        facts=[[[0] * positions, 0]],
    )
    return found, safetensors(W_E=ones(2, 1), W_U=ones(1, 2), W_pos=ones(positions, 1))


@hostile
def positions_that_see_all_before_them() -> Certificate:
    found, arrays = long_prompt(30_000)
    return found | {"arrays": {"base64": base64.b64encode(arrays).decode()}}


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))


def run(path: Path) -> subprocess.CompletedProcess[str]:
    folder = Path(checker.__file__).parent
    return subprocess.run(
        [sys.executable, "-I", "-S", folder, path],
        capture_output=True,
        text=True,
        preexec_fn=limited,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends_by_itself(name: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(HOSTILE[name](), separators=(",", ":")), encoding="utf-8")
    assert path.stat().st_size <= 1_000_000
    done = run(path)
    assert done.returncode in (0, 1, 2), done
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr  # by its own account, and not by that of the system
    assert done.returncode == DECIDED.get(name, done.returncode), done.stderr
    if done.returncode == 2:
        assert done.stderr.count("\n") == 1
        assert len(done.stderr) < 600


# --- files of arrays beside a certificate --------------------------------------------------------


def by_codes(heads: int, m: int, tokens: bytes) -> tuple[Certificate, bytes]:
    """Predicates as they should be, one fact, and heads of zeros."""
    blocks, size = heads * m, heads + 2
    d, one = blocks + 1, b"\x80\x3f"
    W_E = bytearray(2 * size * d)
    for i, hot in enumerate([1, *range(m, blocks, m)]):
        for j in (hot, blocks):
            W_E[2 * (i * d + j) : 2 * (i * d + j) + 2] = one
    shapes = {"W_U": (d, size), "W_Q": (heads, d, 1), "W_K": (heads, 1, d)}
    shapes |= {"W_V": (heads, d, m), "W_O": (heads, m, d)}
    arrays = safetensors(
        W_E=("BF16", (size, d), bytes(W_E)),
        **{name: ("BF16", shape, bytes(2 * math.prod(shape))) for name, shape in shapes.items()},
        facts=("I32", (1, 3), array("i", [heads, 0, heads + 1]).tobytes()),
        queries=("I32", (heads,), array("i", range(heads)).tobytes()),
        tokens=("U8", (len(tokens),), tokens),
    )
    formats = {"weights": "bfloat16", "accumulate": "float32", "logits": "float32"}
    code = {"family": "integers", "coordinates": m, "intercepts": 2, "factor": 1}
    return envelope("float-memorization", arithmetic=formats, code=code, facts=1), arrays


def names(count: int) -> bytes:
    return json.dumps([f"t{i}" for i in range(count)]).encode()


BESIDE: dict[str, tuple[Callable[[], tuple[Certificate, bytes]], str]] = {
    "a prompt of millions": (lambda: long_prompt(4_000_000), "The positions"),
    "wide heads": (lambda: by_codes(110, 64, names(112)), "The heads"),
    "names that are lists": (lambda: by_codes(2, 2, b"[[]" + b",[]" * 40_000_000), "The tokens"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BESIDE)
def test_large_files_beside_are_refused(name: str, tmp_path: Path) -> None:
    make, what = BESIDE[name]
    found, arrays = make()
    (tmp_path / "a.safetensors").write_bytes(arrays)
    digest = hashlib.sha256(arrays).hexdigest()
    found["arrays"] = {"file": "a.safetensors", "sha256": digest, "bytes": len(arrays)}
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(found, separators=(",", ":")), encoding="utf-8")
    done = run(path)
    assert done.returncode == 2, done
    assert f"{what} brings the memory to" in done.stderr
