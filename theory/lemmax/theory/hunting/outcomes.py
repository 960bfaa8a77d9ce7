"""How a hunt ended, in words and as a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lemmax.theory.certificates.writing import Certificate, about_claim
from lemmax.theory.errors import LemmaxError
from lemmax.theory.hunting.question import Instance
from lemmax.theory.hunting.sizes import size_of
from lemmax.theory.latex import Typeset, latex_text

UNNAMED = "hunted/statement"  # the claim of a statement that was typed


@dataclass(frozen=True)
class Hunt(Typeset):
    """How a hunt ended.

    ``instance`` breaks the statement, or is None. Every instance whose size is below
    ``exhausted`` was looked at (0: sizes cannot be enumerated), up to symmetries that no word
    sees: ``looked`` of them, of which ``satisfied`` satisfy the assumptions and ``open`` could not
    be decided. Drawn ones and those of a size that is not finished count with them in ``tried``,
    and in ``met`` where they satisfy the assumptions. ``gap`` is the least difference of the sides
    of the conclusion's inequalities among all instances where it held, and ``tight`` the smallest
    instance with that gap. Cost: none, it is what a hunt brought home.

    >>> from lemmax.theory.hunting import hunt
    >>> caught = hunt("given n: integer; conclude n * n < 2")
    >>> caught.size, caught.instance
    (3, {'n': '-2'})
    """

    statement: str
    claim: str = UNNAMED  # pyright: ignore[reportIncompatibleMethodOverride]
    instance: Instance | None = None
    exhausted: int = 0
    tried: int = 0
    open: int = 0
    rounds: int = 0
    seconds: float = 0.0
    evidence: tuple[Certificate, ...] = ()
    gap: Fraction | None = None
    tight: Instance | None = None
    looked: int = 0
    satisfied: int = 0
    met: int = 0

    @property
    def size(self) -> int | None:
        """The size of the counterexample."""
        return None if self.instance is None else size_of(self.instance)

    @property
    def smallest(self) -> bool:
        """Whether no smaller instance breaks the statement: all of them were looked at."""
        return self.size is not None and self.exhausted >= self.size and not self.open

    def certificate(self) -> Certificate:
        """A ``refutation`` that the independent checker accepts."""
        if self.instance is None:
            raise LemmaxError("Nothing was caught, so there is no certificate.")
        return about_claim("refutation", self.claim, self.statement, self.instance, self.evidence)

    def formula(self) -> str:
        """The counterexample, or the sentence that there is none."""
        if self.instance is None:
            return rf"\text{{{latex_text(self.sentence())}}}"
        return self.certificate().formula()

    def to_sympy(self) -> dict[str, Any]:
        """The objects of the counterexample, by name."""
        return self.certificate().to_sympy()

    def sentence(self) -> str:
        """The outcome in words; what no instance satisfies is not said to hold."""
        below = f"{self.looked:,} instances, exhaustive"
        if self.instance is not None:
            told = f"A counterexample of size {self.size}"
            told += f" ({self.tried:,} instances in {self.seconds:.0f} s)"
            if not self.smallest:
                return f"{told}."
            return f"{told}; there is no smaller one ({below})."
        if self.exhausted > 1 and self.open:  # one of these may be a counterexample
            return (
                f"None found below size {self.exhausted}, but {self.open:,} of {self.looked:,} "
                f"instances undecided{self._others()}."
            )
        if self.exhausted > 1:
            met = _satisfying(self.satisfied)
            return f"None up to {self.exhausted - 1}, {below}: {met}{self._others()}."
        met = _satisfying(self.met)
        return f"None found in {self.seconds:.0f} s, {self.tried:,} tried: {met}."

    def _others(self) -> str:
        """What was tried beside the finished sizes."""
        others, met = self.tried - self.looked, self.met - self.satisfied
        told = f"; {others:,} others in {self.seconds:.0f} s, {_satisfying(met)}"
        return told if others else ""


def _satisfying(count: int) -> str:
    """How many satisfy the assumptions.

    >>> _satisfying(0)
    'no instance satisfies the assumptions'
    """
    if not count:
        return "no instance satisfies the assumptions"
    return f"{count:,} satisf{'y' if count > 1 else 'ies'} the assumptions"
