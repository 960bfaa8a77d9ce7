from .compiler import CompiledDatabase as CompiledDatabase, compile_database as compile_database
from .dana.associations import (
    AssociativeMemory as AssociativeMemory,
    associative_memory as associative_memory,
)
from .dana.encoder_intervals import best_encoder as best_encoder
from .dana.encoders import sequence_encoder as sequence_encoder
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
