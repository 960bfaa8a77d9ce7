"""Which facts a model provably knows, one by one, with the certificate of those that it does."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any

from lemmax.checker.coded.arrays import tables
from lemmax.checker.limits import LIMITS, NotACertificate, metered
from lemmax.checker.models.network import Arrays, Network
from lemmax.numerics.certifying.architecture import Architecture
from lemmax.numerics.certifying.deciding import Outcome, decided, room
from lemmax.numerics.certifying.margins import margins, rounded_down
from lemmax.numerics.certifying.modules import same_logits
from lemmax.numerics.certifying.prompts import PROMPT, Tokenize, asked
from lemmax.numerics.certifying.reading import read_transformer
from lemmax.numerics.certifying.transformer import Transformer
from lemmax.numerics.figures import write_figure
from lemmax.numerics.twins.exact_layers import positive
from lemmax.theory.certificates.writing import Certificate, certificate, to_json
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_bytes, write_text
from lemmax.theory.shown import counted, html_table


def precisions(steps: int) -> tuple[int, int, int]:
    """Bits after the point that are tried in turn where none are asked for.

    A step of the model widens balls by about ten bits (measured for widths from 32 to 256).

    >>> precisions(5), precisions(9)
    ((96, 192, 384), (160, 320, 640))
    """
    first = max(96, -(-(11 * steps + 32) // 32) * 32)
    return first, 2 * first, 4 * first


_INSIDE = 200_000  # bytes of arrays that still stand in the certificate itself


@dataclass(frozen=True, repr=False)
class CertifiedModel:
    """A model, and what is decided about each fact."""

    model: Transformer
    outcomes: tuple[Outcome, ...] = field(repr=False)
    margin: Fraction
    tokens: tuple[Hashable, ...] | None = field(default=None, repr=False)
    built: int = field(default=0, repr=False)

    def __repr__(self) -> str:
        certified = f"{len(self.known)} of {counted(len(self.outcomes), 'fact')} certified"
        return f"CertifiedModel({certified}, {counted(self.model.parameters, 'parameter')})"

    def _repr_html_(self) -> str:
        """The facts with the least margins first, for notebooks."""
        lows = sorted(self.outcomes, key=lambda o: (o.low is not None, o.low or 0))
        rows = [
            (*map(str, o.fact), "" if o.low is None else f"{float(o.low):.4g}", o.reason or "known")
            for o in lows
        ]
        most = max(len(o.fact) for o in lows)
        names = ("subject", "predicate", "object") if most == 3 else ("prompt", "answer")
        return f"<p>{escape(repr(self))}</p>" + html_table(rows, (*names, "margin", ""))

    @property
    def known(self) -> tuple[tuple[Any, ...], ...]:
        """The facts that are certified."""
        return tuple(o.fact for o in self.outcomes if o.known)

    @property
    def missed(self) -> tuple[tuple[Any, ...], ...]:
        """The facts that are not."""
        return tuple(o.fact for o in self.outcomes if not o.known)

    @property
    def share(self) -> Fraction:
        """The share of certified facts."""
        return Fraction(len(self.known), len(self.outcomes))

    def figure(self, path: str | Path) -> None:
        """Draw the margin of every fact (.svg, .pdf, .png)."""
        write_figure(Path(path), lambda figure: margins(self.outcomes, self.margin, figure))

    def report(self) -> dict[str, Any]:
        """Everything that is known, ready for JSON; margins are rounded down."""
        leads = [o.low for o in self.outcomes if o.known and o.low is not None]
        return {
            "facts": len(self.outcomes),
            "known": len(self.known),
            "share": float(self.share),
            "least_margin": rounded_down(min(leads)) if leads else None,
            "parameters": self.model.parameters,
            "model": self.model.checked_fields(),
            "ignored": list(self.model.ignored),
            "assumed": list(self.model.assumed),
            "outcomes": [
                {
                    "fact": list(o.fact),
                    "known": o.known,
                    "margin": None if o.low is None else rounded_down(o.low),
                    "reason": o.reason or None,
                    "bits": o.bits,
                }
                for o in self.outcomes
            ],
        }

    def certificate(self) -> Certificate:
        """The certificate of the facts that are known, its arrays inside.

        Raises LemmaxError where one file cannot hold it, or the checker not check it in one go:
        :meth:`save` then writes the arrays beside, and several certificates.
        """
        chunks = list(self._chunks())
        data = self.model.safetensors()
        if len(chunks) > 1 or len(data) > _INSIDE:
            raise LemmaxError(
                f"The certificate is {len(chunks)} files with {len(data)} bytes of arrays beside "
                "them: write them with save."
            )
        return self._certificate(chunks[0], {"base64": base64.b64encode(data).decode()})

    def save(self, path: str | Path) -> list[Path]:
        """Write the certificate, or several of them (NAME-2.json, …); returns the files.

        Arrays of more than 200 kB stand in NAME.safetensors beside it. What the checker does not
        check within its limits in one go is parted.
        """
        path, data = Path(path), self.model.safetensors()
        chunks, written = list(self._chunks()), []
        place: dict[str, Any] = {"base64": base64.b64encode(data).decode()}
        if len(data) > _INSIDE:
            if len(data) > LIMITS["array bytes"]:
                raise LemmaxError(
                    f"The arrays have {len(data)} bytes, and the checker reads "
                    f"{LIMITS['array bytes']} at most."
                )
            beside = path.with_suffix(".safetensors")
            write_bytes(beside, data)
            written.append(beside)
            digest = hashlib.sha256(data).hexdigest()
            place = {"file": beside.name, "sha256": digest, "bytes": len(data)}
        for number, chunk in enumerate(chunks, 1):
            file = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
            write_text(file, to_json(self._certificate(chunk, place)))
            written.append(file)
        return written

    def _chunks(self) -> Iterator[list[Outcome]]:
        """Facts that are known, parted so that the checker can check each part."""
        known = sorted((o for o in self.outcomes if o.known), key=lambda o: o.prompt)
        if not known:
            raise LemmaxError("The model knows none of the facts: there is nothing to certify.")
        bits = max(o.bits for o in known)
        part: list[Outcome] = []
        spent = 0
        for outcome in known:
            before = part[-1] if part and self.model.mask == "causal" else None
            work = outcome.after(before) * (bits // outcome.bits) ** 2
            if part and spent + work > room(self.built):
                yield part
                part, spent = [], 0
                work = outcome.after(None) * (bits // outcome.bits) ** 2
            part.append(outcome)
            spent += work
        yield part

    def _certificate(self, part: Sequence[Outcome], arrays: dict[str, Any]) -> Certificate:
        fields: dict[str, Any] = {
            "model": self.model.checked_fields(),
            "arrays": arrays,
            "bits": max(o.bits for o in part),
            "margin": str(self.margin),
            "facts": [[list(o.prompt), o.answer] for o in part],
        }
        if self.model.ignored:
            fields["ignored"] = list(self.model.ignored)
        if self.model.assumed:
            words = ", ".join(self.model.assumed)
            fields["note"] = f"Assumed, since no array says it: {words}."[:2000]
        return certificate("transformer-memorization", fields)


def certify(
    model: Any,
    facts: Any,
    *,
    prompt: str | Sequence[Any] = PROMPT,
    tokens: Sequence[Hashable] | None = None,
    tokenize: Tokenize | None = None,
    answer: str = "{object}",
    margin: Any = 0,
    bits: int | None = None,
    ignore: Collection[str] = (),
    names: Mapping[str, str] | None = None,
    progress: Callable[[int, int], object] | None = None,
    **architecture: Any,
) -> CertifiedModel:
    r"""Decide which facts a transformer provably knows, with its weights as they are.

    The model is the function over the reals that its weights define: embeddings, learned or
    sinusoidal positions, layers of attention with biases, mask and scale, LayerNorm or RMSNorm,
    MLPs. A fact is known if, after its prompt, the logit of its answer is larger than every other
    by more than ``margin``. Logits are enclosed in balls, never guessed.

    Parameters
    ----------
    model
        A path (``.safetensors``, ``.npz``, ``.pt``), arrays by name, a torch module or a
        TransformerLens bridge: see
        :func:`~lemmax.numerics.certifying.reading.read_transformer`. A module that can be called
        is also run, and refused where it computes other logits than the model that it was read as.
    facts
        Triples (subject, predicate, object), pairs (prompt, answer), or a database, a frame, a
        file of facts.
    prompt, tokens, tokenize, answer
        How a fact becomes tokens: see :func:`~lemmax.numerics.certifying.prompts.asked`.
    margin
        How much larger the answer's logit has to be. Programs that compute the model in floating
        point err by less than about 10⁻⁴ in float32; a margin above that covers them.
    bits
        After the point. Without it 96, more for models of many steps, and then twice and four times
        as many for the facts that are not decided.
    ignore
        Names of arrays to leave out, although they may decide; the certificate names them.
    names
        What arrays with names of your own are, ``{"yours": "ours"}``; a * in both stands for the
        number of a block.
    progress
        Called with the number of facts that are decided, and of all.
    architecture
        What arrays cannot tell, such as ``heads``, ``activation``, ``scale``, ``eps``:
        :class:`~lemmax.numerics.certifying.architecture.Architecture`. Some of it is asked for; the
        rest is assumed, and the certificate says so.

    Notes
    -----
    Cost: about 0.5 µs per weight once; then 20 ns per weight and token of the prompts with 96
    bits, twice as much with 160, prompts that begin alike sharing their beginning. Models of more
    than 600,000,000 / (55 + bits) weights are refused: the checker has no memory for them. A prompt
    that takes more work than the checker does is a fact that is not known, with that reason.

    Examples
    --------
    >>> weights = {"W_E": [[1.0], [-1.0]], "W_U": [[1.0, -1.0]], "W_pos": [[0.0], [0.5]]}
    >>> result = certify(weights, [(0, 1, 1), (1, 0, 1)])
    >>> result.known, result.outcomes[1].reason
    (((0, 1, 1),), 'token 0 has the larger logit')
    """
    net = read_transformer(model, architecture_of(architecture), ignore, names)
    listed = asked(facts, net.size, prompt, tokens, tokenize, answer, net.places)
    least = Fraction(0) if margin == 0 else positive("The margin", margin)
    if bits is not None and not 32 <= bits <= LIMITS["precision bits"]:
        raise LemmaxError(f"bits lie between 32 and {LIMITS['precision bits']}, unlike {bits}.")
    if net.size < 2:
        raise LemmaxError("A model with one token has nothing to know.")
    if same_logits(model, net, [one.prompt for one in listed if one.prompt]):
        net = replace(net, assumed=())  # it was run: that is no assumption any more
    data = base64.b64encode(net.safetensors()).decode()
    outcomes: dict[int, Outcome] = {
        i: Outcome(one.fact, (), -1, False, reason=one.reason)
        for i, one in enumerate(listed)
        if one.reason
    }
    left, built = [i for i, one in enumerate(listed) if not one.reason], 0
    for precision in precisions(len(net.steps)) if bits is None else (bits,):
        try:
            with metered() as meter:
                checked = Network(net.checked_fields(), Arrays(tables({"base64": data})), precision)
            built = max(built, meter.work)
        except NotACertificate as reason:
            if built:  # what was decided with fewer bits stays decided
                break
            raise LemmaxError(
                f"The model is too large for the checker with {precision} bits: {reason} Fewer "
                "bits take less memory, and decide less."
            ) from None
        again = []
        some = [(i, listed[i]) for i in left]
        for i, outcome in decided(checked, some, least, precision, built):
            if i in outcomes and not outcome.work:  # with fewer bits it was within the limits
                why = f"{outcomes[i].reason}; {outcome.reason}"
                outcome = replace(outcomes[i], reason=why)
            else:
                again += [] if outcome.final else [i]
            outcomes[i] = outcome
            if progress is not None:
                progress(len(outcomes), len(listed))
        left = again
        if not left:
            break
    return CertifiedModel(
        net,
        tuple(outcomes[i] for i in range(len(listed))),
        least,
        None if tokens is None else tuple(tokens),
        built,
    )


def architecture_of(options: Mapping[str, Any]) -> Architecture:
    """An architecture from options by name; one that nobody knows is refused."""
    for name in options:
        if name not in Architecture.__dataclass_fields__:
            known = ", ".join(Architecture.__dataclass_fields__)
            raise LemmaxError(f"There is no option {name!r}; an architecture has {known}.")
    return Architecture(**options)
