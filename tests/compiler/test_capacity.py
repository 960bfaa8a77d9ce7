"""Bits per parameter: the table of the page on capacity, and the limit beside it."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from lemmax.constructions.capacity import capacities, counting_bound
from lemmax.constructions.capacity.bits import TAU, Sizes
from lemmax.constructions.compiler import compile_database
from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.codes import families
from lemmax.theory import Database
from lemmax.theory.formats import FORMATS

PAGE = (Path(__file__).parents[2] / "docs" / "capacity.md").read_text(encoding="utf-8")
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def number(text: str) -> int:
    """58,166 or 2¹⁶."""
    plain = text.strip().replace(",", "")
    base = plain.rstrip("⁰¹²³⁴⁵⁶⁷⁸⁹")
    power = plain[len(base) :].translate(SUPERSCRIPTS)
    return int(base) ** int(power) if power else int(plain)


def down(bits: float) -> str:
    return f"{math.floor(bits * 100) / 100:.2f}"


ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.splitlines()
    if re.match(r"\| \d+, [^|]*\\\|V\\\| \|", line)
]


@pytest.mark.parametrize("cells", ROWS, ids=lambda cells: f"{cells[0]} {cells[1]}")
def test_the_page_has_the_bits_of_bfloat16_weights_rounded_down(cells: list[str]) -> None:
    queries, rest = cells[0].split(", ", 1)
    values, times = (number(x) for x in rest.removesuffix(r"\|V\|").rsplit(", ", 1))
    residual = "float32" if "stream too" in cells[1] else "bfloat16"
    formats = ("bfloat16", cells[1].split(",")[0], residual)
    sizes = Sizes.full(int(queries), values, times * values)
    row = next(c for c in capacities(sizes) if (c.dtype, c.logits, c.residual) == formats)
    assert row.family == cells[2].split(",")[0]
    assert row.dims.d_model == int(cells[3])
    assert [down(x) for x in (row.per_key_weight, row.per_used, row.per_parameter)] == cells[4:]
    assert row.limit is not None
    assert row.per_parameter < row.limit < 8.01


def test_the_page_has_all_of_the_notes_sizes_and_beyond() -> None:
    told = {(cells[0], cells[1]): float(cells[5]) for cells in ROWS}
    assert told[r"16, 2¹², 1000\|V\|", "float32"] >= 10.49
    assert told[r"64, 2¹⁶, 1000\|V\|", "float32"] > 8
    assert max(told.values()) > 15
    assert len(told) == 11


@pytest.mark.parametrize(
    ("family", "m", "dtype", "logits", "size"),
    [
        ("integers", 2, "bfloat16", "float32", 10**6),
        ("one-rounding", 1, "bfloat16", None, 2),
        ("octaves", 1, "bfloat16", "float32", 2),
        ("lattice", 2, "bfloat16", None, 2),
        ("envelope", 1, "bfloat16", "float32", 2),
        ("octaves", 1, "float16", "float32", 2),
        ("one-rounding", 1, "float32", None, 2),
    ],
)
def test_the_page_has_the_codes_of_each_family(
    family: str, m: int, dtype: str, logits: str | None, size: int
) -> None:
    arithmetic = Arithmetic.named(dtype, logits=logits)
    code = next(c for c in families(m, size, arithmetic) if c.family == family)
    count = "513²" if code.capacity == 513**2 else f"{code.capacity:,}"
    bits = down(math.log2(code.capacity) / m)
    if dtype == "bfloat16":
        line = next(x for x in PAGE.splitlines() if x.startswith(f"| {family.replace('-', ' ')}"))
        assert f"| {count}" in line
        assert line.endswith(f"| {bits} |")
    else:
        assert re.search(rf"{count}\s(codes\s)?\({bits}\sbits\)", PAGE)


def test_the_page_has_the_limits_rounded_up() -> None:
    for name in ("bfloat16", "float16", "float32"):
        bits = math.ceil(counting_bound(1, FORMATS[name]) * 10_000) / 10_000
        assert f"{bits:.4f} in {name}" in PAGE


def test_the_page_has_the_seconds_of_the_record() -> None:
    """What a million facts cost, and with which exponent that grows, from the recorded run."""
    record = Path(__file__).parents[2] / "benchmarks" / "results" / "million.json"
    rows = json.loads(record.read_text(encoding="utf-8"))["rows"]
    told = PAGE[PAGE.index("## A million facts") :].split("![")[0].replace("\n", " ")
    grown = {}
    for logits in ("bfloat16", "float32"):
        small, large = (
            next(r for r in rows if (r["facts"], r["logits"]) == (facts, logits))
            for facts in (100_000, 1_000_000)
        )
        assert f"d_model {'= ' if logits == 'bfloat16' else 'is '}{large['d_model']}" in told
        for step in ("check", "total", "compile"):
            grown[logits, step] = f"{math.log10(large[step] / small[step]):.2f}"
        if logits == "bfloat16":
            words = f"dump {large['read']:.1f}, compiling {large['compile']:.1f}, saving "
            assert f"{words}{large['save']:.2f} ({large['mib']} MiB" in told
            assert f"checker {large['check']:.1f} ({large['check_mib']} MiB)" in told
            assert f"100,000 facts take {small['total']:.2f} s" in told
            assert float(grown[logits, "total"]) < 1.15
    first, second = (
        tuple(grown[x, s] for s in ("check", "total")) for x in ("bfloat16", "float32")
    )
    assert f"exponent {first[0]} and the whole with {first[1]}" in told
    assert f"({second[0]} and {second[1]} with float32 logits" in told
    alone = f"{grown['bfloat16', 'compile']} ({grown['float32', 'compile']})"
    assert f"compiling alone with {alone}" in told


def test_counts_are_those_of_compiled_layers() -> None:
    triples = [(f"k{i}", f"q{j}", f"v{(i * 7 + j) % 50}") for i in range(60) for j in range(3)]
    db = Database.from_triples(triples)
    for row in capacities(db):
        if row.dtype is None:
            continue
        assert row.logits is not None
        assert row.residual is not None
        formats = {"dtype": row.dtype, "logits": row.logits, "residual": row.residual}
        compiled = compile_database(db, **formats)
        assert compiled.dims == row.dims
        assert compiled.coded.code.family == row.family
        assert sum(array.size for array in compiled.to_numpy().values()) == row.parameters
        likely = compile_database(db, TAU, **formats)
        assert likely.dims == row.likely
        size = sum(array.size for array in likely.to_numpy().values())
        assert row.per_parameter_likely == pytest.approx(row.bits / size)


def test_tau_has_a_price_at_most_where_codes_are_no_integers() -> None:
    rows = list(capacities(Sizes.full(16, 2**18, 100 * 2**18)))
    for row in rows:
        told = row.report()
        assert row.likely is not None
        dearer = told["bits_per_parameter_with_tau"] < told["bits_per_parameter"]
        assert dearer == (row.family not in ("integers", "unmarked"))
    assert {row.residual for row in rows if row.family == "unmarked"} == {"float32"}


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
    for column in ("residual", "embeddings", "with", "limit"):
        assert column in text[: text.index("{")]
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
