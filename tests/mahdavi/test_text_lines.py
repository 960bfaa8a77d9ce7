"""A second pretrained model, a reader of text lines, and what both say of the assumptions."""

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from lemmax.numerics.pretrained import minilm, ppocr
from lemmax.numerics.pretrained.assumptions import AssumptionReport, check_assumptions
from lemmax.numerics.pretrained.judges import judge_assumptions
from lemmax.numerics.pretrained.reports import minilm_layers
from lemmax.theory.errors import LemmaxError

DATA = Path(__file__).parents[1] / "data"
TEXT = DATA / "gettysburg.txt"


def needs_reader() -> None:
    if not all(map(find_spec, (ppocr.PACKAGE, "onnx", "onnxruntime", "PIL"))):
        pytest.skip("the pretrained reader of text lines is not installed")


@pytest.fixture(scope="module")
def lines() -> list[AssumptionReport]:
    """124 lines of five letters, more than the 121 coordinates of a query."""
    needs_reader()
    words = ppocr.lines(TEXT.read_text(encoding="utf-8"), letters=5, count=124)
    layers = ppocr.attention_layers(words, n=12)
    assert [layer.shape for layer in layers] == [(124, 12, 120)] * 2
    return [check_assumptions(layer, contexts=40) for layer in layers]


@pytest.fixture(scope="module")
def windows() -> list[AssumptionReport]:
    """388 windows, more than the 385 coordinates of a query; 24 contexts of each layer."""
    if find_spec(minilm.PACKAGE) is None:
        pytest.skip("the pretrained model is not installed")
    texts = [(DATA / name).read_text(encoding="utf-8") for name in (TEXT.name, "inaugural.txt")]
    model = minilm.MiniLM()
    chosen = model.windows("\n".join(texts), n=12, count=model.d + 4)
    assert len(chosen) == 388
    layers = minilm_layers(model, chosen, heads=False)
    return [check_assumptions(layer, contexts=24, samples=50) for layer in layers]


@pytest.mark.claim(
    "mahdavi/assumptions-in-practice", grade="empirical", statement="5c1de92fe0795acc"
)
def test_assumptions_in_practice(
    windows: list[AssumptionReport], lines: list[AssumptionReport], measure: Callable[..., None]
) -> None:
    assert (len(windows), len(lines)) == (6, 2)
    measure(judge_assumptions, {"MiniLM": windows, "PP-OCR": lines})


def test_a_model_that_fails_an_assumption_is_seen(
    lines: list[AssumptionReport], windows: list[AssumptionReport]
) -> None:
    def verdict(model: str, *layers: AssumptionReport) -> str | None:
        both = {"MiniLM": windows, "PP-OCR": lines} | {model: layers}
        return judge_assumptions(both)[0].verdict

    first, second = lines
    assert verdict("PP-OCR", first, second) == "reproduced"
    rank = replace(second, kruskal_lower=5, kruskal_upper=5)
    assert verdict("PP-OCR", first, rank) == "recipe-dependent"
    assert verdict("PP-OCR", first, replace(second, kruskal_lower=5)) is None
    assert verdict("PP-OCR", first, replace(second, contexts_full_rank=39)) == "recipe-dependent"
    noise = replace(second, float64_least_singular_value=1e-6)
    assert verdict("PP-OCR", first, noise) is None
    assert verdict("MiniLM", replace(windows[0], repeated_tokens=0), *windows[1:]) is None
    with pytest.raises(LemmaxError, match="after the first"):
        verdict("PP-OCR", first)


def test_trained_heads_of_both_layers_exceed_the_bound_of_the_theorem(
    lines: list[AssumptionReport],
) -> None:
    for report in lines:
        assert report.assumption_1
        assert report.assumption_2
        # H(n - 1) + 1 is the ceiling for one shared context; these differ, and Z has full rank
        assert report.feature_rank_lower == report.examples == 109
        assert report.theorem_1 == 89


def test_equal_lines_are_seen() -> None:
    needs_reader()
    layers = ppocr.attention_layers(["Four", "Four", "score"], n=4)
    assert check_assumptions(layers[1]).kruskal_upper == 1


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ppocr, "PACKAGE", "no_such_package")
    with pytest.raises(LemmaxError, match="pip install"):
        ppocr.model_file()
