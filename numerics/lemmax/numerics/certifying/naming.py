"""Names that others give to their arrays, and where each belongs in a transformer.

A convention is a table of patterns. What no pattern knows is refused by name; options that arrays
cannot tell (heads of fused matrices, activations) are asked for.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lemmax.theory.errors import LemmaxError, ShapeError

Array = NDArray[np.float64]
Parts = dict[str, Array]
"""Arrays under the names W_E, W_pos, W_U, b_U, final.gain, final.bias and L.PLACE.NAME, where L is
the number of a block and PLACE one of norm1, attn, norm2, mlp."""


class Rule(NamedTuple):
    """A pattern of names, and the parts that an array of such a name gives."""

    pattern: re.Pattern[str]
    parts: Callable[[str, Array], Parts]


def _at(match: re.Match[str], name: str) -> str:
    return f"{match[1]}.{name}" if match.re.groups else name


def _rule(pattern: str, name: str, change: Callable[[Array], Array] = lambda a: a) -> Rule:
    compiled = re.compile(pattern)

    def parts(found: str, array: Array) -> Parts:
        match = compiled.fullmatch(found)
        assert match is not None
        return {_at(match, name): change(array)}

    return Rule(compiled, parts)


def _thirds(pattern: str, name: str, turned: bool) -> Rule:
    """One array that holds those of queries, keys and values side by side."""
    compiled = re.compile(pattern)

    def parts(found: str, array: Array) -> Parts:
        match = compiled.fullmatch(found)
        assert match is not None
        array = array.T if turned else array
        if array.shape[-1] % 3:
            raise ShapeError(f"{found} does not hold three arrays of one shape side by side.")
        pieces = np.split(array, 3, axis=-1)
        return {_at(match, f"attn.{name}_{x}"): p for x, p in zip("QKV", pieces, strict=True)}

    return Rule(compiled, parts)


def _turned(array: Array) -> Array:
    return array.T


def _in(array: Array) -> Array:
    """heads × d × width, side by side."""
    return array.transpose(1, 0, 2).reshape(array.shape[1], -1) if array.ndim == 3 else array


def _out(array: Array) -> Array:
    """heads × width × d, one below the other."""
    return array.reshape(-1, array.shape[-1]) if array.ndim == 3 else array


def _flat(array: Array) -> Array:
    return array.reshape(-1)


def _places(array: Array) -> Array:
    """Positions, perhaps with an axis for the batch."""
    return array.reshape(-1, array.shape[-1]) if 1 in array.shape[:-1] else array


def _norms(pattern: str, name: str, gain: str, bias: str) -> list[Rule]:
    return [
        _rule(rf"{pattern}\.{gain}", f"{name}.gain"),
        _rule(rf"{pattern}\.{bias}", f"{name}.bias"),
    ]


def _linear(pattern: str, place: str, name: str) -> list[Rule]:
    """A weight as outputs × inputs, and its bias."""
    return [
        _rule(rf"{pattern}\.weight", f"{place}W_{name}", _turned),
        _rule(rf"{pattern}\.bias", f"{place}b_{name}"),
    ]


_B = r"blocks\.(\d+)"
_H = r"(?:transformer\.)?h\.(\d+)"
_L = r"(?:\w+\.)?layers\.(\d+)"


def _gpt2(change: Callable[[Array], Array]) -> list[Rule]:
    """GPT-2's names: its maps act on rows, and those of nanoGPT are torch's Linear."""
    return [
        _rule(r"(?:transformer\.)?wte\.weight", "W_E"),
        _rule(r"(?:transformer\.)?wpe\.weight", "W_pos"),
        _rule(r"lm_head\.weight", "W_U", _turned),
        _thirds(rf"{_H}\.attn\.c_attn\.weight", "W", turned=change is _turned),
        _thirds(rf"{_H}\.attn\.c_attn\.bias", "b", turned=False),
        _rule(rf"{_H}\.attn\.c_proj\.weight", "attn.W_O", change),
        _rule(rf"{_H}\.attn\.c_proj\.bias", "attn.b_O"),
        _rule(rf"{_H}\.mlp\.c_fc\.weight", "mlp.W_in", change),
        _rule(rf"{_H}\.mlp\.c_fc\.bias", "mlp.b_in"),
        _rule(rf"{_H}\.mlp\.c_proj\.weight", "mlp.W_out", change),
        _rule(rf"{_H}\.mlp\.c_proj\.bias", "mlp.b_out"),
        *_norms(rf"{_H}\.ln_1", "norm1", "weight", "bias"),
        *_norms(rf"{_H}\.ln_2", "norm2", "weight", "bias"),
        *_norms(r"(?:transformer\.)?ln_f", "final", "weight", "bias"),
    ]


CONVENTIONS: Mapping[str, list[Rule]] = {
    "transformer-lens": [
        _rule(r"(?:embed\.)?W_E", "W_E"),
        _rule(r"(?:pos_embed\.)?W_pos", "W_pos", _places),
        _rule(r"(?:unembed\.)?W_U", "W_U"),
        _rule(r"(?:unembed\.)?b_U", "b_U"),
        *(_rule(rf"{_B}\.attn\.W_{x}", f"attn.W_{x}", _in) for x in "QKV"),
        _rule(rf"{_B}\.attn\.W_O", "attn.W_O", _out),
        *(_rule(rf"{_B}\.attn\.b_{x}", f"attn.b_{x}", _flat) for x in "QKVO"),
        *(_rule(rf"{_B}\.mlp\.{x}", f"mlp.{x}") for x in ("W_in", "b_in", "W_out", "b_out")),
        *_norms(rf"{_B}\.ln1", "norm1", "w", "b"),
        *_norms(rf"{_B}\.ln2", "norm2", "w", "b"),
        *_norms(r"ln_final", "final", "w", "b"),
    ],
    "bridge": [
        _rule(r"embed\.weight", "W_E"),
        _rule(r"pos_embed\.weight", "W_pos"),
        *_linear(r"unembed", "", "U"),
        *(rule for x in "QKVO" for rule in _linear(rf"{_B}\.attn\.{x.lower()}", "attn.", x)),
        *_linear(rf"{_B}\.mlp\.in", "mlp.", "in"),
        *_linear(rf"{_B}\.mlp\.out", "mlp.", "out"),
        *_norms(rf"{_B}\.ln1", "norm1", "weight", "bias"),
        *_norms(rf"{_B}\.ln2", "norm2", "weight", "bias"),
        *_norms(r"ln_final", "final", "weight", "bias"),
    ],
    "gpt2": _gpt2(lambda a: a),
    "nanoGPT": _gpt2(_turned),
    "torch": [
        _rule(r"W_E|(?:\w+\.)?(?:embed|embedding|tok_emb|token_embedding)\.weight", "W_E"),
        _rule(r"W_pos|(?:\w+\.)?(?:pos_emb|position_embedding)\.weight", "W_pos", _places),
        _rule(r"(?:\w+\.)?pe", "W_pos", _places),
        _rule(r"W_U", "W_U"),
        _rule(r"b_U", "b_U"),
        *_linear(r"(?:unembed|unembedding|head|lm_head)", "", "U"),
        _thirds(rf"{_L}\.self_attn\.in_proj_weight", "W", turned=True),
        _thirds(rf"{_L}\.self_attn\.in_proj_bias", "b", turned=False),
        *_linear(rf"{_L}\.self_attn\.out_proj", "attn.", "O"),
        *_linear(rf"{_L}\.linear1", "mlp.", "in"),
        *_linear(rf"{_L}\.linear2", "mlp.", "out"),
        *_norms(rf"{_L}\.norm1", "norm1", "weight", "bias"),
        *_norms(rf"{_L}\.norm2", "norm2", "weight", "bias"),
        *_norms(r"(?:\w+\.)?(?:norm|ln_f|final_norm)", "final", "weight", "bias"),
    ],
}  # fmt: skip

_MASK = re.compile(r"blocks\.\d+\.attn\.mask|(?:transformer\.)?h\.\d+\.attn\.bias")
_FILLER = re.compile(r"blocks\.\d+\.attn\.IGNORE|(?:transformer\.)?h\.\d+\.attn\.masked_bias")


def is_filler(name: str) -> bool:
    """Whether an array only holds what stands in place of a masked score."""
    return _FILLER.fullmatch(name) is not None


def is_causal_mask(name: str, array: Array) -> bool:
    """Whether an array is the causal mask, which is no weight; another mask has no place here."""
    if _MASK.fullmatch(name) is None or array.ndim < 2:
        return False
    n = array.shape[-1]
    return array.size == n * n and bool((array.reshape(n, n) == np.tri(n)).all())


def convention_of(arrays: Mapping[str, Any]) -> str | None:
    """The convention that knows most of the names; None where none knows any.

    nanoGPT has the names of GPT-2, and c_attn.weight with three times as many rows as columns.
    """
    best = _best(tuple(map(str, arrays)))
    if best == "gpt2":
        shapes = [np.shape(a) for n, a in arrays.items() if str(n).endswith("c_attn.weight")]
        if shapes and all(len(shape) == 2 and shape[0] == 3 * shape[1] for shape in shapes):
            return "nanoGPT"
    return best


@functools.lru_cache(maxsize=16)
def _best(names: tuple[str, ...]) -> str | None:
    counts = {
        convention: sum(any(rule.pattern.fullmatch(name) for rule in rules) for name in names)
        for convention, rules in CONVENTIONS.items()
    }
    best = max(counts, key=lambda convention: counts[convention])
    return best if counts[best] else None


def place_of(norm: str) -> str | None:
    """The place of the norm whose gain has this name, such as 0.norm1; None where none has it.

    >>> place_of("encoder.layers.3.norm2.weight"), place_of("ln_final.w"), place_of("head.weight")
    ('3.norm2', 'final', None)
    """
    for rule in (rule for rules in CONVENTIONS.values() for rule in rules):
        if rule.pattern.fullmatch(norm):
            for part in rule.parts(norm, np.zeros((3, 3))):
                if part.endswith(".gain"):
                    return part.removesuffix(".gain")
    return None


def renamed(names: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """The name that each array goes by, given names for some; * stands for the number of a block.

    >>> renamed(["emb", "l.0.q", "l.1.q"], {"emb": "embed.W_E", "l.*.q": "blocks.*.attn.q.weight"})
    {'emb': 'embed.W_E', 'l.0.q': 'blocks.0.attn.q.weight', 'l.1.q': 'blocks.1.attn.q.weight'}
    """
    found = {name: name for name in names}
    for theirs, ours in given.items():
        if not isinstance(theirs, str) or not isinstance(ours, str):
            raise LemmaxError("The names of arrays are given as texts: names={'theirs': 'ours'}.")
        if theirs.count("*") != ours.count("*") or theirs.count("*") > 1:
            raise LemmaxError(f"{theirs!r} and {ours!r} have one * each, or none.")
        pattern = re.compile(re.escape(theirs).replace(r"\*", r"(\d+)"))
        matches = [match for name in names if (match := pattern.fullmatch(name))]
        if not matches:
            raise LemmaxError(f"To rename it, it must be there: no array is called {theirs!r}.")
        for match in matches:
            found[match[0]] = ours.replace("*", match[1]) if "*" in ours else ours
    taken: dict[str, str] = {}
    for theirs, ours in found.items():
        if taken.setdefault(ours, theirs) != theirs:
            raise LemmaxError(f"{taken[ours]!r} and {theirs!r} would both be called {ours!r}.")
    return found
