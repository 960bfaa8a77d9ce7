"""The formats of an evaluation, for which layers by codes are proved."""

from __future__ import annotations

from dataclasses import dataclass

from lemmax.theory.errors import LemmaxError
from lemmax.theory.formats import Format, number_format


@dataclass(frozen=True)
class Arithmetic:
    """The formats of weights and stored intermediates, sums, logits, and the residual stream."""

    weights: Format
    accumulate: Format
    logits: Format
    residual: Format

    @classmethod
    def named(
        cls,
        dtype: str,
        accumulate: str = "float32",
        logits: str | None = None,
        residual: str | None = None,
    ) -> Arithmetic:
        """The arithmetic by names; what is not named is stored like the weights.

        >>> str(Arithmetic.named("bfloat16", residual="float32"))
        'bfloat16 weights, float32 accumulation, float32 residual stream, bfloat16 logits'
        """
        weights, sums = number_format(dtype), number_format(accumulate)
        if "float64" in (weights.name, sums.name):
            raise LemmaxError(
                "In float64 exp(-128) is not zero: weights and sums are of float32 at most."
            )
        if not sums.contains(weights):
            raise LemmaxError(f"{sums.name} does not hold the {weights.name} weights that it adds.")
        stored = [weights if name is None else number_format(name) for name in (logits, residual)]
        # a wider store holds what was accumulated, and no more
        told, stream = (sums if f.significand > sums.significand else f for f in stored)
        if not stream.contains(weights):
            raise LemmaxError(f"A {stream.name} residual stream does not hold {weights.name}.")
        return cls(weights, sums, told, stream)

    def __str__(self) -> str:
        own = self.residual.name == self.weights.name
        stream = "" if own else f"{self.residual.name} residual stream, "
        return (
            f"{self.weights.name} weights, {self.accumulate.name} accumulation, {stream}"
            f"{self.logits.name} logits"
        )
