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
    from lemmax.theory.attention import AttentionLayer, Head
    from lemmax.theory.database import Database
    from lemmax.theory.exact import Matrix
    from lemmax.theory.kruskal import KruskalRank, kruskal_rank
    from lemmax.theory.memorization import Memorization, memorizes
    from lemmax.theory.multihead import ContextHead, MultiHead, multi_head
    from lemmax.theory.rank import RankResult, certified_rank
    from lemmax.theory.rowwise import (
        SoftmaxRank,
        argmax,
        softmax,
        softmax_rank,
        softmax_threshold,
    )
    from lemmax.theory.tensors.decompositions import Decomposition
    from lemmax.theory.tensors.ranks import TensorRank, tensor_rank

__all__ = [
    "AttentionLayer",
    "ContextHead",
    "Database",
    "Decomposition",
    "Head",
    "KruskalRank",
    "Matrix",
    "Memorization",
    "MultiHead",
    "RankResult",
    "SoftmaxRank",
    "TensorRank",
    "argmax",
    "certified_rank",
    "kruskal_rank",
    "memorizes",
    "multi_head",
    "softmax",
    "softmax_rank",
    "softmax_threshold",
    "tensor_rank",
]

_HOME = {
    "AttentionLayer": "attention",
    "ContextHead": "multihead",
    "Database": "database",
    "Decomposition": "tensors.decompositions",
    "Head": "attention",
    "KruskalRank": "kruskal",
    "Matrix": "exact",
    "Memorization": "memorization",
    "MultiHead": "multihead",
    "RankResult": "rank",
    "SoftmaxRank": "rowwise",
    "TensorRank": "tensors.ranks",
    "argmax": "rowwise",
    "certified_rank": "rank",
    "kruskal_rank": "kruskal",
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
