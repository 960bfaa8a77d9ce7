"""Tensors of torch as exact weights: every float as it is, nothing rounded."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from lemmax.numerics.twins.certify import certify_layer
from lemmax.theory.errors import LemmaxError

EMBEDDING = torch.tensor([[1.0], [1.0]])


def known(unembedding: torch.Tensor) -> int:
    return len(certify_layer({"W_E": EMBEDDING, "W_U": unembedding}, [(0, 1, 1)]).known)


@pytest.mark.parametrize(
    "dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int64, torch.uint8]
)
def test_tensors_are_read_exactly(dtype: torch.dtype) -> None:
    assert known(torch.tensor([[1, 2]], dtype=dtype)) == 1
    assert known(torch.tensor([[2, 2]], dtype=dtype)) == 0


def test_parameters_are_read() -> None:
    assert known(torch.nn.Parameter(torch.tensor([[1.0, 2.0]]))) == 1


def test_integers_that_double_would_round_are_refused() -> None:
    """As doubles the two would tie."""
    with pytest.raises(LemmaxError, match="W_U has an entry that float64 does not hold exactly"):
        known(torch.tensor([[2**53, 2**53 + 1]]))


@pytest.mark.parametrize(
    "unembedding",
    [torch.tensor([[1j, 2]]), torch.tensor([[1.0, 2.0]]).to_sparse()],
    ids=["complex", "sparse"],
)
def test_other_tensors_are_refused(unembedding: torch.Tensor) -> None:
    with pytest.raises(LemmaxError, match="W_U is not an array of real numbers"):
        known(unembedding)


def test_a_file_of_bfloat16_is_read(tmp_path: Path) -> None:
    weights = {"W_E": torch.tensor([[1.0], [0.5]]), "W_U": torch.tensor([[-0.375, 3.0]])}
    short = {name: tensor.to(torch.bfloat16) for name, tensor in weights.items()}
    save_file(short, tmp_path / "layer.safetensors")
    result = certify_layer(tmp_path / "layer.safetensors", [(0, 1, 1)])
    assert result.layer == certify_layer(weights, [(0, 1, 1)]).layer
