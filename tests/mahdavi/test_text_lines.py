"""A second pretrained model: the attention layers of a reader of text lines."""

from pathlib import Path

import onnx  # noqa: F401  without these two this file is left out
import onnxruntime  # noqa: F401
import pytest

from lemmax.numerics.pretrained import ppocr
from lemmax.numerics.pretrained.assumptions import check_assumptions
from lemmax.theory.errors import LemmaxError

TEXT = Path(__file__).parents[1] / "data" / "gettysburg.txt"


def test_the_assumptions_hold_in_both_layers_with_more_examples_than_dimensions() -> None:
    words = ppocr.lines(TEXT.read_text(encoding="utf-8"), letters=5, count=124)
    layers = ppocr.attention_layers(words, n=12)
    assert [layer.shape for layer in layers] == [(124, 12, 120)] * 2
    for layer in layers:
        report = check_assumptions(layer, contexts=40)
        assert report.assumption_1
        assert report.assumption_2
        assert report.float64_least_singular_value > 1e-5
        # H(n - 1) + 1 is the ceiling for one shared context; these differ, and Z has full rank
        assert report.feature_rank_lower == report.examples == 109
        assert report.theorem_1 == 89


def test_equal_lines_are_seen() -> None:
    layers = ppocr.attention_layers(["Four", "Four", "score"], n=4)
    assert check_assumptions(layers[1]).kruskal_upper == 1


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ppocr, "PACKAGE", "no_such_package")
    with pytest.raises(LemmaxError, match="pip install"):
        ppocr.model_file()
