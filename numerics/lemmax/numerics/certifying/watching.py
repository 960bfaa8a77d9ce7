"""The certified share while a model is trained, beside its accuracy."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from lemmax.numerics.certifying.bounds import margin_bounds
from lemmax.numerics.certifying.certify import architecture_of, certify
from lemmax.numerics.certifying.modules import same_logits
from lemmax.numerics.certifying.prompts import PROMPT, Tokenize, asked
from lemmax.numerics.certifying.reading import read_transformer
from lemmax.numerics.figures import PALETTE, write_figure
from lemmax.theory.errors import LemmaxError

_COMPARED = 4  # prompts on which a module is run at every look, to see that it is still the same


@dataclass(frozen=True)
class Watched:
    """What is known at a step: shares of the facts.

    ``accuracy`` is what floats say, ``bounded`` what bounds in float64 ensure (never more than is
    true, if their assumptions hold), ``certified`` what exact arithmetic decides, where it was
    asked to.
    """

    step: int
    accuracy: float
    bounded: float
    certified: Fraction | None = None


class CertifiedShare:
    """A callback for a training loop of one's own: call it with the step and the model.

    Every ``every`` steps margins are bounded in float64, for all facts at once; every ``exact``
    steps they are certified too. What is seen stands in ``history``. A torch module is run as well,
    in float64, on every prompt at the first look and when certifying and on a few at others, and
    refused where it computes other logits than the model that its weights were read as.

    Parameters
    ----------
    facts, prompt, tokens, tokenize, answer, ignore, names, architecture
        As in :func:`~lemmax.numerics.certify`.

    Notes
    -----
    Cost: three passes over the facts in float64 per bound, and the module on four prompts.

    Examples
    --------
    >>> watch = CertifiedShare([(0, 1, 1)], every=10)
    >>> weights = {"W_E": [[1.0], [-1.0]], "W_U": [[1.0, -1.0]]}
    >>> watch(0, weights)
    Watched(step=0, accuracy=1.0, bounded=1.0, certified=None)
    >>> watch(5, weights) is None, len(watch.history)
    (True, 1)
    """

    def __init__(
        self,
        facts: Any,
        *,
        every: int = 1,
        exact: int | None = None,
        prompt: str | Sequence[Any] = PROMPT,
        tokens: Sequence[Hashable] | None = None,
        tokenize: Tokenize | None = None,
        answer: str = "{object}",
        ignore: Collection[str] = (),
        names: Mapping[str, str] | None = None,
        **architecture: Any,
    ) -> None:
        if every < 1 or (exact is not None and exact < 1):
            raise LemmaxError("Steps between two looks are at least 1.")
        self.facts, self.every, self.exact = facts, every, exact
        self.asked: dict[str, Any] = {
            "prompt": prompt,
            "tokens": tokens,
            "tokenize": tokenize,
            "answer": answer,
        }
        self.read: tuple[Any, ...] = architecture_of(architecture), ignore, names
        self.history: list[Watched] = []
        self._same = False  # whether a module was compared on all prompts, and passed
        self._questions: tuple[list[tuple[int, ...]], list[int], int] | None = None

    def __call__(self, step: int, model: Any) -> Watched | None:
        """Look at a model (whatever ``certify`` takes); None between two looks."""
        exactly = self.exact is not None and step % self.exact == 0
        if step % self.every and not exactly:
            return None
        net = read_transformer(model, *self.read)
        if self._questions is None:
            listed = asked(self.facts, net.size, **self.asked, places=net.places)
            some = [one for one in listed if not one.reason]
            self._questions = [o.prompt for o in some], [o.answer for o in some], len(listed)
        prompts, answers, count = self._questions
        self._same = same_logits(
            model, net, prompts, _COMPARED if self._same and not exactly else None
        )
        near, low = margin_bounds(net, prompts, answers)
        certified = certify(net, self.facts, **self.asked).share if exactly else None
        seen = Watched(
            step, float((near > 0).sum()) / count, float((low > 0).sum()) / count, certified
        )
        self.history.append(seen)
        return seen

    def figure(self, path: str | Path) -> None:
        """Draw the shares against the steps (.svg, .pdf, .png)."""
        if not self.history:
            raise LemmaxError("Nothing was seen yet.")

        def draw(figure: Any) -> None:
            figure.set_size_inches(4.6, 2.8)
            axes = figure.subplots()
            steps = [seen.step for seen in self.history]
            axes.plot(steps, [s.accuracy for s in self.history], color=PALETTE[1], label="accuracy")
            axes.plot(steps, [s.bounded for s in self.history], color=PALETTE[0], label="bounded")
            exact = [s for s in self.history if s.certified is not None]
            if exact:
                shares = [float(s.certified or 0) for s in exact]
                axes.plot([s.step for s in exact], shares, "o", color=PALETTE[2], label="certified")
            axes.set(xlabel="step", ylabel="share of the facts", ylim=(-0.02, 1.02))
            axes.grid(alpha=0.3)
            axes.legend(frameon=False, fontsize=7)

        write_figure(Path(path), draw)
