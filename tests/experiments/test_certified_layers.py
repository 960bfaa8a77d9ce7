"""Trained layers certified: the recorded weights know what the rows say, and the checker agrees."""

from __future__ import annotations

import json
import os
import re
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lemmax import checker
from lemmax.constructions import compile_database
from lemmax.constructions.exports import write_safetensors
from lemmax.numerics.experiments import studies as frame
from lemmax.numerics.experiments.studies import Experiment, Row, Study, recorded
from lemmax.numerics.experiments.wong import certified as certified
from lemmax.numerics.training.configurations import RandomDatabase, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe
from lemmax.numerics.twins.certify import certify_layer, kept_by_bits
from lemmax.numerics.twins.exact_layers import exact_layer, exact_transformer, rounded
from lemmax.numerics.twins.weights import read_weights
from lemmax.theory.errors import LemmaxError, ShapeError
from lemmax.theory.facts.database import Database
from lemmax.theory.wong.layer import AttentionLayer
from lemmax.theory.wong.memorization import HiddenStates

DATABASE = Database.from_triples([("a", "f", 1), ("a", "g", 2), ("b", "f", 3), ("b", "g", 1)])


@pytest.fixture(scope="module")
def rows() -> tuple[Row, ...]:
    return recorded(certified.STUDY)[1]


def test_every_row_is_decided_again_from_its_weights(rows: tuple[Row, ...]) -> None:
    assert len(rows) == certified.LAYERS
    for row in rows:
        config, said = row.job.config, row.inspected
        assert isinstance(config, Wong)
        result = certified.certify_row(row)
        missed = {config.facts[i] for i in said["missed"]}
        assert set(result.known) >= set(config.facts) - missed
        assert len(result.known) == said["counts"][said["bits"]]
        assert said["safe"] == said["bits"]
        assert config.samples - len(missed) == round(row.accuracy * config.samples)


def test_certificates_of_trained_layers_pass_the_checker(rows: tuple[Row, ...]) -> None:
    files = certified.files({certified.STUDY.name: rows})
    table = files.pop("wong-certified/table.csv").splitlines()
    assert len(table) == len(rows) + 1
    assert len(files) == len(rows)
    for text in files.values():
        assert checker.check(json.loads(text)).holds
    document = json.loads(files["wong-certified/layer-02.json"])
    k, q, v = document["facts"][0]
    document["facts"][0] = [k, q, (v + 1) % len(document["layer"]["tokens"])]
    assert not checker.check(document).holds


def test_a_missed_fact_is_reported_and_in_no_certificate(rows: tuple[Row, ...]) -> None:
    row = next(row for row in rows if row.inspected["missed"])
    assert isinstance(row.job.config, Wong)
    lost = [row.job.config.facts[i] for i in row.inspected["missed"]]
    result = certified.certify_row(row)
    document = result.certificate()
    assert not {tuple(fact) for fact in document["facts"]} & set(result.missed)
    table = certified.files({certified.STUDY.name: [row]})["wong-certified/table.csv"]
    assert " ".join(map(str, lost[0])) in table


def test_weights_that_do_not_fill_the_layer_are_refused(rows: tuple[Row, ...]) -> None:
    longer = rows[0].inspected | {"weights": [*rows[0].inspected["weights"], 0]}
    with pytest.raises(LemmaxError, match="holds 1261 weights, not 1260"):
        certified.weights_of(replace(rows[0], inspected=longer))


# -- a user's own layer ------------------------------------------------------------------------
def test_a_layer_from_a_file_is_certified(tmp_path: Path) -> None:
    layer = compile_database(DATABASE).layer
    arrays = layer.to_numpy()
    np.savez(tmp_path / "layer.npz", allow_pickle=False, **arrays)
    result = certify_layer(tmp_path / "layer.npz", DATABASE, tokens=layer.tokens)
    assert result.share == 1
    assert checker.check(result.certificate()).holds
    assert exact_layer(arrays, layer.tokens, 2**60).W_E == layer.W_E  # dyadic to begin with


def test_a_safetensors_file_is_certified(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    layer = compile_database(DATABASE).layer
    write_safetensors(layer, tmp_path / "layer.safetensors")
    result = certify_layer(tmp_path / "layer.safetensors", DATABASE, tokens=layer.tokens)
    assert result.layer == layer
    assert result.share == 1


def test_ties_are_missed_and_never_certified() -> None:
    """All weights zero: every token ties with every other one."""
    zero = {"W_E": np.zeros((7, 2)), "W_U": np.zeros((2, 7))}
    result = certify_layer(zero, [(0, 1, 2), (3, 4, 5)])
    assert result.missed == ((0, 1, 2), (3, 4, 5))
    assert result.share == 0
    with pytest.raises(LemmaxError, match="knows none of the facts"):
        result.certificate()


def test_coarser_rounding_keeps_fewer_facts_until_it_is_safe() -> None:
    layer = compile_database(DATABASE).layer
    numbered = [tuple(layer.index[t] for t in fact) for fact in DATABASE]
    counts, safe = kept_by_bits(layer.to_numpy(), numbered, 8)  # type: ignore[arg-type]
    assert counts[safe:] == [4] * (9 - safe)
    assert counts[safe - 1] < 4


def stacks(**changed: object) -> dict[str, object]:
    """One head of dimension one, but for what is changed."""
    heads: dict[str, object] = {key: [[[1.0]]] for key in ["W_Q", "W_K", "W_V", "W_O"]}
    return {"W_E": [[1.0]], "W_U": [[1.0]], **heads, **changed}


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ({"W_E": [[1.0]]}, r"lack W_U .*; they are W_E"),
        ({"W_E": [[float("nan")]], "W_U": [[1.0]]}, "W_E has an entry that is not a finite"),
        ({"W_E": [["x"]], "W_U": [[1.0]]}, "W_E is not an array of real numbers"),
        ({"W_E": [1.0], "W_U": [[1.0]]}, "W_E has 1 dimensions, not 2"),
        (stacks(W_K=[]), "equally many heads"),
        (stacks(W_V=1.0), "equally many heads"),
        (dict.fromkeys(["W_E", "W_U", "W_Q", "W_K", "W_V", "W_O"], 1.0), "equally many heads"),
        (stacks(W_O=[1.0]), "W_O has 0 dimensions, not 2"),
        ({"W_E": [[1.0]], "W_U": [[1.0]], "W_K": [[[1.0]]]}, "lack W_Q; they are W_E, W_U, W_K"),
        ({"W_E": [[1.0]], "W_U": [[1.0]], "heads.0.W_Q": [[1.0]]}, r"lack heads\.0\.W_K"),
    ],
)
def test_bad_weights_are_one_sentence(weights: dict[str, object], sentence: str) -> None:
    with pytest.raises((LemmaxError, ShapeError), match=sentence):
        certify_layer(weights, [(0, 0, 0)])


# -- nothing is rounded, and nothing is ignored --------------------------------------------------
LARGE = 2**53 + 1
"""The least positive integer that float64 does not hold."""


EMBEDDING = [[1, -1], [0, 0], [0, 0]]
TIED = [[0, LARGE, 2**53], [0, 1, 0]]
"""After token 0 the tokens 1 and 2 tie: (2^53 + 1) - 1 = 2^53."""


@pytest.mark.parametrize(
    "convert",
    [
        lambda rows: np.array(rows, dtype=np.int64),
        lambda rows: np.array(rows, dtype=np.uint64),
        lambda rows: np.array(rows, dtype=object),
        lambda rows: rows,
        lambda rows: [[Fraction(x) for x in row] for row in rows],
        lambda rows: [[float(x) if x == 0 else x for x in row] for row in rows],
    ],
    ids=["int64", "uint64", "objects", "lists", "fractions", "integers beside floats"],
)
def test_integers_beyond_float64_are_refused(convert: Any) -> None:
    """Rounded, token 2 would be known; in truth it ties with token 1."""
    with pytest.raises(LemmaxError, match="W_U has an entry that float64 does not hold exactly"):
        certify_layer({"W_E": EMBEDDING, "W_U": convert(TIED)}, [(0, 0, 2)])


def test_rounding_to_a_denominator_starts_from_what_is_given() -> None:
    assert rounded(np.array([[2**53, -3]], dtype=np.int64), 2) == [2**54, -6]
    with pytest.raises(LemmaxError, match="float64 does not hold exactly"):
        rounded(np.array([[LARGE]], dtype=np.int64), 2)


def test_an_exact_tie_is_missed() -> None:
    """The same tie in numbers that float64 holds."""
    weights = {"W_E": EMBEDDING, "W_U": [[0, 2**53, 2**53 - 1], [0, 1, 0]]}
    assert certify_layer(weights, [(0, 0, 2)]).missed == ((0, 0, 2),)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint64, bool])
def test_what_float64_holds_is_taken(dtype: Any) -> None:
    weights = {"W_E": np.array([[1], [0]], dtype), "W_U": np.array([[1, 0]], dtype)}
    assert certify_layer(weights, [(1, 0, 0)]).share == 1


def test_powers_of_two_beyond_2_to_53_are_taken() -> None:
    weights = {"W_E": [[1], [-1]], "W_U": np.array([[2**60, -(2**62)]], dtype=np.int64)}
    assert certify_layer(weights, [(0, 0, 0), (0, 1, 1)]).share == 1


def test_long_doubles_are_refused_where_they_would_be_rounded() -> None:
    """On some machines a long double is a double, which is taken."""
    longer = np.array([[1, 1 + np.finfo(np.longdouble).eps]], dtype=np.longdouble)
    weights = {"W_E": np.array([[1], [1]], dtype=np.longdouble), "W_U": longer}
    longer_than_double = np.finfo(np.longdouble).nmant > 52
    sentence = "W_U has an entry that float64 does not hold exactly"
    with pytest.raises(LemmaxError, match=sentence) if longer_than_double else nullcontext():
        certify_layer(weights, [(0, 1, 1)])
    weights["W_U"] = np.array([[1, 2]], dtype=np.longdouble)
    assert certify_layer(weights, [(0, 1, 1)]).share == 1


@pytest.mark.parametrize(
    "values",
    [
        np.array([[1 + 1j, 0]]),
        np.array([[1 + 0j, 0]]),
        [[1j, 0]],
        np.array([["1", "2"]]),
        [["1", "2"]],
        [[1, None]],
        [[1, 2], [3]],
        np.array([["2020-01-01"]], dtype="datetime64[D]"),
        np.array([[(1.0, 2.0)]], dtype=[("x", "f8"), ("y", "f8")]),
        {"a": 1},
        "W_U",
        None,
    ],
    ids=range(12),
)
def test_what_is_no_real_number_is_refused(values: object) -> None:
    with pytest.raises(LemmaxError, match="W_U is not an array of real numbers"):
        certify_layer({"W_E": [[1.0], [1.0]], "W_U": values}, [(0, 1, 1)])


@pytest.mark.parametrize("large", [10**400, Fraction(1, 3), float("inf"), np.nan], ids=range(4))
def test_numbers_that_are_no_floats_are_refused(large: Any) -> None:
    with pytest.raises(LemmaxError, match=r"W_U has an entry that (float64 does not|is not a fin)"):
        certify_layer({"W_E": [[1.0], [1.0]], "W_U": [[large, 1]]}, [(0, 1, 1)])


@pytest.mark.parametrize(
    "name", ["b_U", "ln_final.w", "W_pos", "heads.0.b_Q", "heads.x.W_Q", "W_QK", "heads.00.W_Q", ""]
)
def test_arrays_that_are_not_understood_are_refused_by_name(name: str) -> None:
    """A bias b_U = (9, 0) would reverse the answer: it must not be left out."""
    weights: dict[str, Any] = {"W_E": [[1.0], [1.0]], "W_U": [[1.0, 2.0]]}
    assert certify_layer(weights, [(0, 1, 1)]).share == 1
    with pytest.raises(LemmaxError, match=f"hold {re.escape(repr(name))}"):
        certify_layer(weights | {name: [9.0, 0.0]}, [(0, 1, 1)])


def test_heads_are_stacked_or_named_but_not_both() -> None:
    layer = compile_database(DATABASE).layer
    named = layer.to_numpy()
    stacked = {name: named[f"heads.0.{name}"][None] for name in ("W_Q", "W_K", "W_V", "W_O")}
    with pytest.raises(LemmaxError, match=r"hold 'heads\.0\.W_Q'"):
        certify_layer(named | stacked, DATABASE, tokens=layer.tokens)


def test_a_transformer_has_no_arrays_but_its_own() -> None:
    weights: dict[str, Any] = {"e": [[1.0], [2.0]], "pos": [[0.0]] * 2, "W_U": [[1.0], [-1.0]]}
    heads = {name: np.zeros((0, 1, 1)) for name in ("W_Q", "W_K", "W_V", "W_O")}
    assert exact_transformer(weights | heads).tokens == (0, 1)
    with pytest.raises(LemmaxError, match="hold 'b_U'"):
        exact_transformer(weights | heads | {"b_U": [9.0, 0.0]})
    with pytest.raises(LemmaxError, match="lack W_Q"):
        exact_transformer(weights)


def test_the_facts_are_decided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    prepare = HiddenStates.__init__

    def counted(self: HiddenStates, layer: AttentionLayer) -> None:
        nonlocal count
        count += 1
        prepare(self, layer)

    monkeypatch.setattr(HiddenStates, "__init__", counted)
    layer = compile_database(DATABASE).layer
    count = 0
    result = certify_layer(layer.to_numpy(), DATABASE, tokens=layer.tokens, tau="2/5")
    document = result.certificate()
    assert count == 1
    assert document["criterion"] == {"type": "probability", "tau": "2/5"}
    assert checker.check(document).holds


def safetensors_file(kind: str, *tensors: tuple[str, list[int], bytes]) -> bytes:
    """The format by hand: the length of a JSON header, the header, the entries."""
    header: dict[str, Any] = {}
    body = b""
    for name, shape, entries in tensors:
        ends = [len(body), len(body) + len(entries)]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": ends}
        body += entries
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def test_bfloat16_files_are_read(tmp_path: Path) -> None:
    """1, 1/2, -3/8 and 3 in sixteen bits each; eight bits are refused with their name."""
    pytest.importorskip("safetensors")
    path = tmp_path / "layer.safetensors"
    embedding, unembedding = bytes.fromhex("803f003f"), bytes.fromhex("c0be4040")
    path.write_bytes(
        safetensors_file("BF16", ("W_E", [2, 1], embedding), ("W_U", [1, 2], unembedding))
    )
    weights = {"W_E": [[1.0], [0.5]], "W_U": [[-0.375, 3.0]]}
    assert certify_layer(path, [(0, 1, 1)]).layer == exact_layer(weights)
    path.write_bytes(safetensors_file("F8_E4M3", ("W_E", [2, 1], b"12")))
    with pytest.raises(LemmaxError, match="W_E has entries of the type F8_E4M3"):
        read_weights(path)


def test_pipes_and_devices_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "device.pt").symlink_to("/dev/zero")
    for name in ("pipe.npz", "device.pt"):
        with pytest.raises(LemmaxError, match="not a regular file"):
            read_weights(tmp_path / name)
    with (tmp_path / "large.safetensors").open("wb") as file:
        file.truncate(10**12)  # a hole: nothing is on the disk
    with pytest.raises(LemmaxError, match="has 1000000000000 bytes"):
        read_weights(tmp_path / "large.safetensors")


def test_bad_files_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LemmaxError, match="weights are read from"):
        read_weights(tmp_path / "layer.bin")
    with pytest.raises(LemmaxError, match="cannot be read"):
        read_weights(tmp_path / "missing.npz")
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 cut short")
    with pytest.raises(LemmaxError, match="damaged"):
        read_weights(tmp_path / "cut.npz")
    with pytest.raises(LemmaxError, match="at least 1"):
        exact_layer({"W_E": [[1.0]], "W_U": [[1.0]]}, denominator=0)


def test_what_is_inspected_is_recorded_and_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    jobs = [Job(Wong(2, 1, 1, 1, RandomDatabase(seed, 12))) for seed in range(2)]
    inspect = "lemmax.numerics.experiments.wong.certified:inspect"
    study = Study("tiny", recipe("wong-guess").changed(steps=30), lambda scale: jobs, inspect)
    tiny = Experiment("tiny", "", (study,), lambda rows: [], lambda rows, figure: None)
    first = frame.measure_rows(tiny, "small", tmp_path)
    assert list(first["tiny"]) == frame.rerun(study, first["tiny"])
    assert all(row.inspected["counts"] for row in first["tiny"])
    (tmp_path / "recorded").mkdir()
    assert frame.record(study, tmp_path / "tiny.jsonl", tmp_path / "recorded" / "tiny.jsonl") == 2
    monkeypatch.setattr(frame, "RECORDED", tmp_path / "recorded")
    assert recorded(study)[1] == first["tiny"]
    with pytest.raises(LemmaxError, match="was made with inspect"):
        frame.measure_rows(
            replace(tiny, studies=(replace(study, inspect=None),)), "small", tmp_path
        )


# -- never another model -------------------------------------------------------------------------
SQUARE: dict[str, Any] = {
    "W_E": [[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]],
    "W_U": [[1.0, 0.0, -1.0], [0.0, 2.0, 1.0]],
    "W_Q": [[[1.0, 2.0], [0.0, 1.0]]],
    "W_K": [[[1.0, 0.0], [4.0, 1.0]]],
    "W_V": [[[2.0, 0.0], [0.0, -1.0]]],
    "W_O": [[[1.0, 3.0], [0.0, 1.0]]],
}
"""Every matrix of the head is square, so that its transpose has the same shape."""


@pytest.mark.parametrize(
    "name", ["b_U", "W_pos", "ln1.w", "mlp.W_in", "attn.W_Q", "heads.0.b_V", "blocks.0.attn.W_Q"]
)
def test_what_a_layer_has_no_place_for_is_left_out_only_by_name(name: str) -> None:
    """Biases, positions, norms and MLPs, and a head that is called otherwise: never silently."""
    weights: dict[str, Any] = {"W_E": [[1.0], [1.0]], "W_U": [[1.0, 2.0]], name: [9.0, 0.0]}
    with pytest.raises(LemmaxError, match=f"hold {re.escape(repr(name))}.*ignore="):
        certify_layer(weights, [(0, 1, 1)])
    result = certify_layer(weights, [(0, 1, 1)], ignore=[name])
    assert result.ignored == (name,)
    assert result.certificate()["note"] == f"Left out of the model: {name}."
    assert checker.check(result.certificate()).holds
    with pytest.raises(LemmaxError, match="no array is called 'mask'"):
        certify_layer(weights, [(0, 1, 1)], ignore=[name, "mask"])


def test_what_a_layer_needs_cannot_be_ignored() -> None:
    with pytest.raises(LemmaxError, match="W_U is part of the layer and cannot be left out"):
        certify_layer(SQUARE, [(0, 1, 1)], ignore=["W_U"])


def test_shapes_that_fit_in_several_ways_are_asked_about() -> None:
    with pytest.raises(LemmaxError, match="fit the layouts wong, transformer-lens: say which"):
        exact_layer(SQUARE)
    wong, lens, linear = (
        exact_layer(SQUARE | {"W_U": W_U}, layout=name)
        for name, W_U in {
            "wong": SQUARE["W_U"],
            "transformer-lens": SQUARE["W_U"],
            "linear": np.transpose(SQUARE["W_U"]),
        }.items()
    )
    (a,), (b,), (c,) = wong.heads, lens.heads, linear.heads
    assert a.W_K == b.W_K.T != b.W_K == a.W_K.T
    assert (c.W_Q, c.W_K, c.W_V, c.W_O) == (a.W_Q.T, a.W_K, a.W_V.T, a.W_O.T)
    assert linear.W_U == wong.W_U
    with pytest.raises(LemmaxError, match="layout is one of wong, transformer-lens, linear"):
        exact_layer(SQUARE, layout="keras")


def test_shapes_that_fit_in_one_way_are_not_asked_about() -> None:
    """W_K is symmetric, or has more columns than rows: d_qk × d_model or its transpose."""
    assert exact_layer(SQUARE | {"W_K": [[[1.0, 4.0], [4.0, 0.0]]]}).d_qk == 2
    tall = SQUARE | {"W_Q": [[[1.0], [2.0]]], "W_K": [[[1.0], [4.0]]]}
    assert exact_layer(tall) == exact_layer(tall | {"W_K": [[[1.0, 4.0]]]})


def test_the_scale_multiplies_the_scores() -> None:
    """For four dimensions 1/√4 = 1/2, exactly; 1/√2 is no rational number."""
    plain = exact_layer(SQUARE, layout="wong")
    for scale in ("1/3", Fraction(1, 3)):
        scaled = exact_layer(SQUARE, layout="wong", scale=scale)
        assert 3 * scaled.heads[0].W_Q == plain.heads[0].W_Q
    weights = {name: np.kron(value, np.eye(2)) for name, value in SQUARE.items()}
    rooted = exact_layer(weights, layout="wong", scale="1/sqrt(d)")
    assert rooted == exact_layer(weights, layout="wong", scale=0.5)
    assert rooted != exact_layer(weights, layout="wong")
    with pytest.raises(LemmaxError, match="1/√2 is not rational"):
        exact_layer(SQUARE, layout="wong", scale="1/sqrt(d)")
    for bad in (0, -1, "x", float("nan"), True):
        with pytest.raises(LemmaxError, match="scale is a positive number"):
            exact_layer(SQUARE, layout="wong", scale=bad)


def test_tied_weights_are_said_to_be_tied() -> None:
    tied = {name: value for name, value in SQUARE.items() if name != "W_U"}
    with pytest.raises(LemmaxError, match=r"lack W_U .tied=True"):
        exact_layer(tied, layout="wong")
    layer = exact_layer(tied, layout="wong", tied=True)
    assert layer.W_U == layer.W_E.T
    with pytest.raises(LemmaxError, match="W_U is not the transpose of W_E"):
        exact_layer(SQUARE, layout="wong", tied=True)
