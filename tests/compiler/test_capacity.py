"""Bits per parameter: the table of the page on capacity, and the limit beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lemmax.constructions.capacity import capacities, counting_bound
from lemmax.constructions.capacity.bits import Sizes
from lemmax.constructions.compiler import compile_database
from lemmax.theory import Database
from lemmax.theory.formats import FORMATS


@pytest.mark.parametrize(
    ("queries", "values", "times", "logits", "d_model", "bits"),
    [
        (3, 2**16, 100, "bfloat16", 7, (6.86, 6.66, 3.33)),
        (16, 2**16, 100, "bfloat16", 33, (7.76, 6.69, 3.34)),
        (64, 2**16, 1000, "bfloat16", 129, (7.94, 7.46, 3.73)),
        (64, 2**16, 1000, "float32", 91, (11.25, 10.57, 5.29)),
        (16, 2**16, 1000, "float32", 27, (9.48, 9.33, 4.67)),
        (64, 2**15, 1000, "float32", 67, (14.33, 13.46, 6.73)),
        (1000, 2**15, 10**5, "float32", 1003, (14.96, 14.78, 7.4)),
        (1000, 58_166, 10**5, "float32", 1003, (15.78, 15.61, 7.81)),
        (16, 2**12, 1000, "float32", 18, (10.67, 10.50, 5.25)),
        (64, 2**14, 1000, "float32", 66, (13.58, 12.74, 6.38)),
        (16, 2**18, 100, "float32", 33, (8.73, 7.52, 3.76)),
    ],
)
def test_bits_of_bfloat16_weights(
    queries: int, values: int, times: int, logits: str, d_model: int, bits: tuple[float, ...]
) -> None:
    sizes = Sizes.full(queries, values, times * values)
    row = next(c for c in capacities(sizes) if (c.dtype, c.logits) == ("bfloat16", logits))
    assert row.dims.d_model == d_model
    assert (row.per_key_weight, row.per_used, row.per_parameter) == pytest.approx(bits, abs=0.006)
    assert row.limit is not None
    assert row.per_parameter < row.limit < 8.01


def test_counts_are_those_of_compiled_layers() -> None:
    triples = [(f"k{i}", f"q{j}", f"v{(i * 7 + j) % 50}") for i in range(60) for j in range(3)]
    db = Database.from_triples(triples)
    for row in capacities(db):
        if row.dtype is None:
            continue
        compiled = compile_database(db, dtype=row.dtype, logits=row.logits)
        assert compiled.dims == row.dims
        assert sum(array.size for array in compiled.to_numpy().values()) == row.parameters


def test_the_counting_bound_is_the_number_of_finite_values() -> None:
    bits = [round(counting_bound(1, FORMATS[name]), 3) for name in ("bfloat16", "float16")]
    assert bits == [15.994, 15.954]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lemmax.cli import main

    path = tmp_path / "facts.csv"
    path.write_text("subject,f,g\na,x,y\nb,y,x\n")
    for arguments in ([], ["--json"]):
        with pytest.raises(SystemExit) as done:
            main(["capacity", str(path), *arguments])
        assert done.value.code == 0
    text = capsys.readouterr().out
    assert json.loads(text[text.index("{") :])["bits"] == 4.0
    layer = tmp_path / "layer.json"
    with pytest.raises(SystemExit) as done:
        main(["compile", str(path), "-o", str(layer), "--dtype", "bfloat16"])
    assert done.value.code == 0
    assert "bfloat16 weights" in capsys.readouterr().out
    with pytest.raises(SystemExit) as done:
        main(["check", str(layer)])
    assert done.value.code == 0
    with pytest.raises(SystemExit) as done:
        main(["compile", str(path), "-o", str(layer), "--dtype", "int3"])
    assert done.value.code == 2
