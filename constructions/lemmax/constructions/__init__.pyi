from .compiler import CompiledDatabase as CompiledDatabase, compile_database as compile_database
from .compiler.smallest.front import compile_smallest as compile_smallest
from .dana.associations import (
    AssociativeMemory as AssociativeMemory,
    associative_memory as associative_memory,
)
from .dana.encoder_intervals import best_encoder as best_encoder
from .dana.encoders import sequence_encoder as sequence_encoder
from .dana.fixed_factor import (
    FixedFactorInterval as FixedFactorInterval,
    best_codes as best_codes,
)
from .families.compiler import (
    CompilerScalar as CompilerScalar,
    compiler_scalar as compiler_scalar,
)
from .families.example_3_3 import (
    ScaledExample33 as ScaledExample33,
    example_3_3_family as example_3_3_family,
)
from .families.features import (
    AttentionFeatures as AttentionFeatures,
    attention_features as attention_features,
)
from .families.gram import GramFamily as GramFamily, gram_family as gram_family
from .families.parabola import ParabolaFamily as ParabolaFamily, parabola_family as parabola_family
from .families.parity import ParityIdentity as ParityIdentity, parity_identity as parity_identity
from .families.saturation import (
    FeatureFamily as FeatureFamily,
    saturation_family as saturation_family,
)
from .readouts.features import layer_features as layer_features
from .readouts.intervals import MarginInterval as MarginInterval, margin_interval as margin_interval
from .readouts.readout import Readout as Readout, readout as readout
from .mahdavi.memory import ContextMemory as ContextMemory, memorize as memorize
from .mahdavi.saturation import (
    SaturationHeads as SaturationHeads,
    saturation_heads as saturation_heads,
)
from .wong.blowups import GramBlowup as GramBlowup, gram_blowup as gram_blowup
from .wong.examples import (
    Example33 as Example33,
    example_2_2 as example_2_2,
    example_2_4 as example_2_4,
    example_3_3 as example_3_3,
    figure_1 as figure_1,
)
