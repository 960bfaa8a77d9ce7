"""What heads of a layer by codes have in common: head h copies block h to the outputs."""

from collections.abc import Callable

from ..limits import keep
from ..steps import Step
from .codebooks import Layer
from .floats import ONE, values

Stacks = dict[str, list[int]]  # the entries of every head's matrix, one head after the other


def stacked(layer: Layer) -> Stacks:
    """The entries over 2^150."""
    found = {}
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        entries = layer.arrays[name].entries
        keep("The heads", len(entries) // 5)
        known = values(entries, layer.weights, name)
        found[name] = [known[w] for w in entries]
    return found


def astray(
    layer: Layer, stacks: Stacks, scores: Callable[[int], tuple[list[int], list[int]]]
) -> Step | None:
    """The step that fails where a head has other entries: scores(h) are its W_Q and its W_K.

    The outputs may stand in several copies; lines share the block of their second number.
    """
    place, m, d = layer.layout, layer.m, layer.layout.width
    copies = len(place.outputs) // m
    for h in range(len(place.hot)):
        W_Q, W_K = scores(h)
        W_V, W_O = [0] * (d * m), [0] * (d * m)
        for j in range(m):
            at, weight = h * m + j, ONE
            if layer.family == "envelope":
                at = h if not j else len(place.hot) + h // layer.shared
                weight = ONE >> (h % layer.shared if j else 0)
            W_V[at * m + j] = ONE
            for output in place.outputs[j * copies : (j + 1) * copies]:
                W_O[j * d + output] = weight
        for name, wanted in {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}.items():
            if stacks[name][h * len(wanted) : (h + 1) * len(wanted)] != wanted:
                return Step(False, f"{name} of head {h} does not select its block and predicate")
    return None
