"""What is known of the rank of a tensor while it is being solved: chains below, terms above."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lemmax.theory.tensors.below.chains import LowerBound
from lemmax.theory.tensors.decompositions import Decomposition


@dataclass(frozen=True)
class Bounds:
    """Bounds of the rank of a tensor.

    ``additive`` ends in a flattening, so it adds to any bound of the other summands of a direct
    sum; ``lower`` may end in a lemma that does not. ``thin`` says that a mode has size at most two
    after concision; ``cited`` is what is gained beyond ``lower`` if the ranks of direct sums with
    thin summands add up; ``stopped`` says that time ended the search, ``cut`` that it ended one for
    proofs from below. ``fitted`` is the fewest terms of a numerical fit, which proves nothing: as
    many as the decomposition has where every fit failed, None where none was tried.
    """

    additive: LowerBound
    lower: LowerBound
    decomposition: Decomposition
    reasons: tuple[str, ...]
    thin: bool = False
    cited: int = 0
    stopped: bool = False
    cut: bool = False
    fitted: int | None = None

    @property
    def closed(self) -> bool:
        """Whether both sides agree."""
        return self.lower.value == len(self.decomposition)

    def raised(self, bound: LowerBound | None) -> Bounds:
        """The bounds with another one from below, where that one is larger."""
        if bound is None or bound.value <= self.lower.value:
            return self
        return replace(self, lower=bound)

    def shortened(self, reason: str, decomposition: Decomposition | None) -> Bounds:
        """The bounds with another decomposition, where that one is shorter."""
        if decomposition is None or len(decomposition) >= len(self.decomposition):
            return self
        return replace(self, decomposition=decomposition, reasons=(reason,))
