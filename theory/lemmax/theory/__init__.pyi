from .dana.bigrams import bigram_rank as bigram_rank
from .dana.encoders import SequenceEncoder as SequenceEncoder, Table as Table
from .dana.transformer import AoT as AoT, AoTHead as AoTHead
from .dana.transformer_rank import aot_rank as aot_rank
from .facts.database import Database as Database
from .hunting.hunts import hunt as hunt
from .hunting.outcomes import Hunt as Hunt
from .mahdavi.layer import (
    ContextHead as ContextHead,
    MultiHead as MultiHead,
    multi_head as multi_head,
)
from .numbers.families.ranks import (
    FamilyRank as FamilyRank,
    GenericRank as GenericRank,
    family_rank as family_rank,
    generic_rank as generic_rank,
)
from .numbers.families.softmax import SoftmaxFamilyRank as SoftmaxFamilyRank
from .numbers.kruskal_rank import KruskalRank as KruskalRank, kruskal_rank as kruskal_rank
from .numbers.matrices import Matrix as Matrix
from .numbers.rank import RankResult as RankResult, certified_rank as certified_rank
from .numbers.row_maps import (
    argmax as argmax,
    softmax as softmax,
    softmax_threshold as softmax_threshold,
)
from .numbers.softmax_rank import SoftmaxRank as SoftmaxRank, softmax_rank as softmax_rank
from .tensors.decompositions import Decomposition as Decomposition
from .tensors.ranks import TensorRank as TensorRank, tensor_rank as tensor_rank
from .wong.effective_ranks import EffectiveRank as EffectiveRank, effective_rank as effective_rank
from .wong.layer import AttentionLayer as AttentionLayer, Head as Head
from .wong.layer_ranks import LayerShape as LayerShape, layer_grid as layer_grid
from .wong.layer_tensors import LayerTensor as LayerTensor, layer_tensor as layer_tensor
from .wong.memorization import Memorization as Memorization, memorizes as memorizes

__version__: str
