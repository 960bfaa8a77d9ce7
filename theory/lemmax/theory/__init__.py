"""What is said: exact arithmetic, ranks, databases, attention layers, claims.

The names below are imported when they are first used, so that ``import lemmax.theory`` costs
next to nothing and loads neither torch, cvxpy, matplotlib nor scipy.

>>> from lemmax.theory import certified_rank
>>> certified_rank([[1, 2], [2, 4]]).rank
1
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lemmax.theory.dana.encoders import SequenceEncoder, Table
    from lemmax.theory.dana.transformer import AoT, AoTHead
    from lemmax.theory.dana.transformer_rank import aot_rank, bigram_rank
    from lemmax.theory.facts.database import Database
    from lemmax.theory.mahdavi.layer import ContextHead, MultiHead, multi_head
    from lemmax.theory.numbers.kruskal_rank import KruskalRank, kruskal_rank
    from lemmax.theory.numbers.matrices import Matrix
    from lemmax.theory.numbers.rank import RankResult, certified_rank
    from lemmax.theory.numbers.row_maps import (
        SoftmaxRank,
        argmax,
        softmax,
        softmax_rank,
        softmax_threshold,
    )
    from lemmax.theory.tensors.decompositions import Decomposition
    from lemmax.theory.tensors.ranks import TensorRank, tensor_rank
    from lemmax.theory.wong.effective_ranks import EffectiveRank
    from lemmax.theory.wong.layer import AttentionLayer, Head
    from lemmax.theory.wong.layer_ranks import LayerShape, layer_grid
    from lemmax.theory.wong.layer_tensors import LayerTensor
    from lemmax.theory.wong.memorization import Memorization, memorizes

__all__ = [
    "AoT",
    "AoTHead",
    "AttentionLayer",
    "ContextHead",
    "Database",
    "Decomposition",
    "EffectiveRank",
    "Head",
    "KruskalRank",
    "LayerShape",
    "LayerTensor",
    "Matrix",
    "Memorization",
    "MultiHead",
    "RankResult",
    "SequenceEncoder",
    "SoftmaxRank",
    "Table",
    "TensorRank",
    "aot_rank",
    "argmax",
    "bigram_rank",
    "certified_rank",
    "kruskal_rank",
    "layer_grid",
    "memorizes",
    "multi_head",
    "softmax",
    "softmax_rank",
    "softmax_threshold",
    "tensor_rank",
]

_HOME = {
    "AoT": "dana.transformer",
    "AoTHead": "dana.transformer",
    "AttentionLayer": "wong.layer",
    "ContextHead": "mahdavi.layer",
    "Database": "facts.database",
    "Decomposition": "tensors.decompositions",
    "EffectiveRank": "wong.effective_ranks",
    "Head": "wong.layer",
    "KruskalRank": "numbers.kruskal_rank",
    "LayerShape": "wong.layer_ranks",
    "LayerTensor": "wong.layer_tensors",
    "Matrix": "numbers.matrices",
    "Memorization": "wong.memorization",
    "MultiHead": "mahdavi.layer",
    "RankResult": "numbers.rank",
    "SequenceEncoder": "dana.encoders",
    "SoftmaxRank": "numbers.row_maps",
    "Table": "dana.encoders",
    "TensorRank": "tensors.ranks",
    "aot_rank": "dana.transformer_rank",
    "argmax": "numbers.row_maps",
    "bigram_rank": "dana.transformer_rank",
    "certified_rank": "numbers.rank",
    "kruskal_rank": "numbers.kruskal_rank",
    "layer_grid": "wong.layer_ranks",
    "memorizes": "wong.memorization",
    "multi_head": "mahdavi.layer",
    "softmax": "numbers.row_maps",
    "softmax_rank": "numbers.row_maps",
    "softmax_threshold": "numbers.row_maps",
    "tensor_rank": "tensors.ranks",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
