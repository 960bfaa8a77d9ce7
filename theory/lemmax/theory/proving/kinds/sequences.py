"""aot-memorization: an attention-only transformer memorizes pairs of a sequence and a token."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from lemmax.theory.proving import literals, numbers
from lemmax.theory.proving.literals import Value
from lemmax.theory.proving.theorem import NotTranslated, Parsed, Theorem

_WORDS = "dE dP dQ dK dV dO dU E P Q K V O U"
_STATEMENT = re.compile(
    r"\(R : realFieldType\) \(exp : R -> R\) : (natural|binary)_exponential exp -> "
    r"forall p, p \\in pairs -> attention_only_transformer\.memorizes exp "
    rf"\(transformer_of R (\d+) (\d+) (\d+) (\d+) (\d+) {_WORDS}\) "
    r"\(sequence_of (\d+) (\d+) p\.1\) \(inord p\.2\)"
)


UNITS = {"1": "natural", "ln2": "binary"}


def _turned(rows: list[Any]) -> list[Any]:
    return [list(column) for column in zip(*rows, strict=True)]


def weights(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The weights in the shapes of the formal model, where vectors are columns."""
    layer = certificate["layer"]
    heads = layer["heads"]
    return {
        "E": numbers.rows_of(layer["W_E"]),
        "P": numbers.rows_of(certificate["pos"]),
        "Q": [_turned(numbers.rows_of(head["W_Q"])) for head in heads],
        "K": [numbers.rows_of(head["W_K"]) for head in heads],
        "V": [_turned(numbers.rows_of(head["W_V"])) for head in heads],
        "O": [_turned(numbers.rows_of(head["W_O"])) for head in heads],
        "U": _turned(numbers.rows_of(layer["W_U"])),
    }


def translate(certificate: Mapping[str, Any]) -> Theorem:
    """The theorem of an aot-memorization certificate; in units of ln 2 exp is the power of two."""
    unit = UNITS[certificate["layer"]["unit"]]
    W = weights(certificate)
    inner = {len(M) for name in "QKV" for M in W[name]} or {1}
    if len(inner) > 1:
        raise NotTranslated("Its heads have different dimensions.")
    N, s, H, d, dh = len(W["E"]), len(W["P"]) - 1, len(W["Q"]), len(W["E"][0]), inner.pop()
    data: dict[str, tuple[str, Value]] = {}
    for name in "EPU":
        den, whole = numbers.cleared(W[name])
        data[f"d{name}"], data[name] = ("positive", den), ("seq (seq Z)", whole)
    for name in "QKVO":
        den = math.lcm(*(x.denominator for M in W[name] for row in M for x in row))
        data[f"d{name}"] = ("positive", den)
        data[name] = ("cube", [[[int(x * den) for x in row] for row in M] for M in W[name]])
    pairs = [(list(t), y) for t, y in certificate["pairs"]]
    data["pairs"] = ("seq (seq nat * nat)", pairs)
    mode = f"{unit.capitalize()} 128%bZ 48%N"
    call = f"@pairs_sound R exp {mode} {N - 1}%N {s}%N {H}%N {d}%N {dh}%N {_WORDS}"
    return Theorem(
        data,
        f"(R : realFieldType) (exp : R -> R) : {unit}_exponential exp ->\n"
        "  forall p, p \\in pairs ->\n  attention_only_transformer.memorizes exp\n"
        f"    (transformer_of R {N} {s} {H} {d} {dh} {_WORDS})\n"
        f"    (sequence_of {N - 1} {s} p.1) (inord p.2)",
        literals.folded(f"move=> ok; apply: ({call} pairs ok isT).")
        + "\nvm_cast_no_check (erefl true).",
    )


def read_back(parsed: Parsed) -> Any:
    """What the written theorem says: the unit, the weights and the pairs."""
    match = _STATEMENT.fullmatch(parsed.statement)
    if match is None or set(parsed.data) != {"pairs", *_WORDS.split()}:
        return None
    N, s, H, d, dh, below, last = map(int, match.groups()[1:])
    pairs: Any = parsed.data["pairs"]
    inside = all(0 <= x < N for t, y in pairs for x in (*t, y))
    if (below, last) != (N - 1, s) or not inside or any(len(t) != s + 1 for t, _ in pairs):
        return None
    data: Any = parsed.data
    found: dict[str, Any] = {x: numbers.over(data[f"d{x}"], data[x]) for x in "EPU"}
    found |= {x: [numbers.over(data[f"d{x}"], M) for M in data[x]] for x in "QKVO"}
    shapes = {"E": (N, d), "P": (s + 1, d), "U": (N, d), "Q": (dh, d), "K": (dh, d)}
    shapes |= {"V": (dh, d), "O": (d, dh)}
    for name, (a, b) in shapes.items():
        tables = [found[name]] if name in "EPU" else found[name]
        if name not in "EPU" and len(tables) != H:
            return None
        if any(len(M) != a or any(len(row) != b for row in M) for M in tables):
            return None
    return match[1], found, [(list(t), y) for t, y in pairs]


def meant(certificate: Mapping[str, Any]) -> Any:
    """The same of the certificate."""
    unit = UNITS[certificate["layer"]["unit"]]
    return unit, weights(certificate), [(list(t), y) for t, y in certificate["pairs"]]
