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
    from lemmax.theory.aot import AoT, AoTHead
    from lemmax.theory.attention import AttentionLayer, Head
    from lemmax.theory.attention_rank import aot_rank, bigram_rank
    from lemmax.theory.database import Database
    from lemmax.theory.effective_rank import EffectiveRank
    from lemmax.theory.exact import Matrix
    from lemmax.theory.kruskal import KruskalRank, kruskal_rank
    from lemmax.theory.layer_rank import LayerShape, layer_grid
    from lemmax.theory.layer_tensor import LayerTensor
    from lemmax.theory.memorization import Memorization, memorizes
    from lemmax.theory.multihead import ContextHead, MultiHead, multi_head
    from lemmax.theory.rank import RankResult, certified_rank
    from lemmax.theory.rowwise import SoftmaxRank, argmax, softmax, softmax_rank, softmax_threshold
    from lemmax.theory.sequence_encoders import SequenceEncoder, Table
    from lemmax.theory.tensors.decompositions import Decomposition
    from lemmax.theory.tensors.ranks import TensorRank, tensor_rank

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
    "AoT": "aot",
    "AoTHead": "aot",
    "AttentionLayer": "attention",
    "ContextHead": "multihead",
    "Database": "database",
    "Decomposition": "tensors.decompositions",
    "EffectiveRank": "effective_rank",
    "Head": "attention",
    "KruskalRank": "kruskal",
    "LayerShape": "layer_rank",
    "LayerTensor": "layer_tensor",
    "Matrix": "exact",
    "Memorization": "memorization",
    "MultiHead": "multihead",
    "RankResult": "rank",
    "SequenceEncoder": "sequence_encoders",
    "SoftmaxRank": "rowwise",
    "Table": "sequence_encoders",
    "TensorRank": "tensors.ranks",
    "aot_rank": "attention_rank",
    "argmax": "rowwise",
    "bigram_rank": "attention_rank",
    "certified_rank": "rank",
    "kruskal_rank": "kruskal",
    "layer_grid": "layer_rank",
    "memorizes": "memorization",
    "multi_head": "multihead",
    "softmax": "rowwise",
    "softmax_rank": "rowwise",
    "softmax_threshold": "rowwise",
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
