"""Layers by codes as torch, TransformerLens and safetensors' own reader make of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from flint import fmpq

from lemmax.constructions import CompiledDatabase, compile_database
from lemmax.constructions.capacity import cities, random_table
from lemmax.constructions.compiler import save
from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.by_codes import by_codes, fact_numbers
from lemmax.constructions.compiler.coded.codes import families
from lemmax.constructions.countries import countries
from lemmax.numerics.twins.coded import TorchCodedLayer
from lemmax.theory import Database, memorizes
from lemmax.theory.errors import LemmaxError, RoundedWeights
from lemmax.theory.formats import FORMATS

FORMS = [
    ("bfloat16", None),
    ("bfloat16", "float32"),
    ("float16", None),
    ("float16", "float32"),
    ("float32", None),
]


@pytest.mark.parametrize(("dtype", "logits"), FORMS)
@pytest.mark.parametrize(
    "sizes", [(30, 3, 10), (600, 3, 1500), (150, 16, 2200), (900, 1, 560), (40, 2, 2)]
)
def test_torch_recalls_every_fact(
    dtype: str, logits: str | None, sizes: tuple[int, int, int]
) -> None:
    compiled = compile_database(random_table(*sizes, gaps=7), dtype=dtype, logits=logits)
    facts = torch.from_numpy(compiled.facts)
    for fused in (False, True):
        module = TorchCodedLayer.from_coded(compiled.coded, fused=fused)
        assert module.W_E.dtype == getattr(torch, dtype)
        assert module.misses(facts) == 0


@pytest.mark.parametrize(("dtype", "logits"), FORMS)
@pytest.mark.parametrize("asked", ["bfloat16", "float16", "float32", "float64"])
def test_another_dtype_recalls_every_fact_or_is_refused(
    dtype: str, logits: str | None, asked: str
) -> None:
    """The logits stay in the format for which they are proved, whatever the weights are kept in."""
    compiled = compile_database(random_table(600, 3, 1500), dtype=dtype, logits=logits)
    if asked in (dtype, "float32"):
        module: Any = compiled.to_torch(getattr(torch, asked))
        assert module.W_E.dtype == getattr(torch, asked)
        assert module.misses(torch.from_numpy(compiled.facts)) == 0
    else:
        with pytest.raises(LemmaxError, match=f"and not in {asked}: compile_database"):
            compiled.to_torch(getattr(torch, asked))


@pytest.mark.parametrize(
    ("dtype", "logits"), [("float32", "bfloat16"), ("float32", "float16"), ("float16", "bfloat16")]
)
def test_torch_recalls_with_narrow_logits(dtype: str, logits: str) -> None:
    for sizes in ((30, 3, 10), (200, 3, 500), (100, 16, 900)):
        compiled = compile_database(random_table(*sizes), dtype=dtype, logits=logits)
        module: Any = compiled.to_torch()
        assert module.misses(torch.from_numpy(compiled.facts)) == 0


@pytest.mark.parametrize("size", [20_000, 60_000])
def test_torch_recalls_large_tables(size: int) -> None:
    db = random_table(size // 3, 3, size)
    for logits in (None, "float32"):
        compiled = compile_database(db, dtype="bfloat16", logits=logits)
        some = torch.from_numpy(compiled.facts[:: size // 600])
        assert TorchCodedLayer.from_coded(compiled.coded).misses(some) == 0


@pytest.mark.parametrize("shared", [0, 2, 3])
def test_torch_recalls_facts_by_lines(shared: int) -> None:
    arithmetic = Arithmetic.named("bfloat16", logits="float32")
    codes = (c for m in (1, 2) for c in families(m, 2, arithmetic) if c.family == "envelope")
    db = random_table(600, 7, 3000, gaps=5)
    facts = fact_numbers(db)
    coded = by_codes(db, next(c for c in codes if c.shared == shared), arithmetic, 1, facts)
    for fused in (False, True):
        layer = TorchCodedLayer.from_coded(coded, fused=fused)
        assert layer.misses(torch.from_numpy(facts[::4])) == 0


@pytest.mark.parametrize(("dtype", "logits"), FORMS)
def test_torch_recalls_facts_about_predicates(dtype: str, logits: str | None) -> None:
    """Six predicates that are subjects too, asked about themselves as well."""
    table = random_table(200, 6, 300)
    renamed = {f"k{i}": f"q{i}" for i in range(6)}
    db = Database.from_triples([(renamed.get(str(k), k), q, v) for k, q, v in table])
    compiled = compile_database(db, dtype=dtype, logits=logits)
    facts = torch.from_numpy(compiled.facts)
    assert (facts[:, 0] == facts[:, 1]).sum() == 6
    for fused in (False, True):
        module = TorchCodedLayer.from_coded(compiled.coded, fused=fused)
        assert module.misses(facts) == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the compiler, about itself
@pytest.mark.parametrize(
    ("dtype", "logits", "fused"),
    [
        ("bfloat16", None, False),
        ("bfloat16", "float32", True),
        ("float16", None, True),
        ("float32", None, False),
    ],
)
def test_compiled_torch_recalls_every_fact(dtype: str, logits: str | None, fused: bool) -> None:
    """torch.compile, for the processor; it needs a C++ compiler and takes some seconds each."""
    compiled = compile_database(random_table(128, 3, 300), dtype=dtype, logits=logits)
    facts = torch.from_numpy(compiled.facts)
    torch.compiler.reset()
    layer = torch.compile(TorchCodedLayer.from_coded(compiled.coded, fused=fused), dynamic=False)
    top = layer(facts[:, :2]).topk(2, dim=-1)
    assert (top.indices[:, 0] == facts[:, 2]).all()
    assert (top.values[:, 0] > top.values[:, 1]).all()


def test_cities_are_held_in_bfloat16() -> None:
    db = cities()
    assert len(db) > 90_000
    compiled = compile_database(db, dtype="bfloat16")
    some = torch.from_numpy(compiled.facts[::200])
    assert TorchCodedLayer.from_coded(compiled.coded).misses(some) == 0


def test_torch_misses_codes_that_floats_confuse(confused: Any) -> None:
    db = confused.database
    layer = by_codes(db, confused.code, confused.arithmetic)
    assert TorchCodedLayer.from_coded(layer).misses(torch.from_numpy(fact_numbers(db))) > 0


def test_rational_weights_in_a_format_that_rounds_them_warn() -> None:
    compiled = compile_database(countries())
    with pytest.warns(RoundedWeights, match="bfloat16 holds 8 bits and the weights need 20"):
        rounded = compiled.to_torch(torch.bfloat16)
    asked = [compiled.layer.indices(fact) for fact in compiled.database]
    facts = torch.tensor(asked)
    answers = rounded(facts[:, :2])[:, -1].argmax(-1)
    assert (answers == facts[:, 2]).sum() < 200  # of 749: what the page says
    compiled.to_torch(torch.float32)  # holds them: a warning would be an error here


@pytest.mark.parametrize(
    ("scale", "held"), [("1/3", ()), ("1099511627776", ("bfloat16", "float32", "float64"))]
)
def test_weights_that_are_not_dyadic_or_too_large_warn_too(
    scale: str, held: tuple[str, ...]
) -> None:
    """1/3 has one bit over a denominator that no format has; 2^40 is beyond float16."""
    db = Database.from_triples([("a", "f", "x"), ("b", "f", "y")])
    small = compile_database(db)
    assert small.held_in == ("bfloat16", "float16", "float32", "float64")
    layer = small.layer.scaled(fmpq(*map(int, (scale + "/1").split("/")[:2])))
    compiled = CompiledDatabase(db, small.method, memorizes(layer, db))
    assert compiled.held_in == held
    with pytest.warns(RoundedWeights):
        compiled.to_torch(torch.float16)
    said = compiled.exact_in()
    assert f"{', '.join(held) or 'no number format'} hold" in said
    assert "float16 would round them" in said or "float64 would round them" in said


def test_formats_round_as_torch_does() -> None:
    from fractions import Fraction

    words = np.random.default_rng(0).integers(0, 2**32, 3000, dtype=np.uint32)
    floats = words.view(np.float32)
    floats = floats[np.isfinite(floats) & (np.abs(floats) < 6e4)]
    for name in ("bfloat16", "float16"):
        theirs = torch.from_numpy(floats).to(getattr(torch, name)).double().numpy()
        ours = [float(FORMATS[name].round(Fraction(float(x)))) for x in floats]
        assert (theirs == ours).all()


def test_safetensors_libraries_read_the_arrays(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    compiled = compile_database(random_table(20, 3, 12), dtype="bfloat16")
    save(compiled, tmp_path / "layer.json")
    tensors = load_file(tmp_path / "layer.safetensors")
    assert tensors["W_E"].dtype == torch.bfloat16
    assert (tensors["W_E"].double().numpy() == compiled.coded.W_E).all()
    names = json.loads(bytes(tensors["tokens"].tolist()))
    assert names == list(map(str, compiled.coded.tokens))
