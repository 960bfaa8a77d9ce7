"""The rank of what attention gives the output matrices of an attention-only transformer."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..arithmetic import Table, lowest, residues, softmax_mod, times_mod
from ..limits import refuse
from ..reading import choice, fields, integer, items, whole
from ..steps import Step, check_minor, minor_of
from ..transformers import Transformer


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """rank >= r for A, A' = [X_S; A] or W_V A' = [X_S; W_V A]; one row of the minor per sequence.

    With q a common denominator of the scores the entries are rational functions of z = e^(1/q),
    which is transcendental (in unit ln2 scores are integers and z = 2): a minor that is nonzero at
    one point mod p, where no denominator vanishes, is nonzero.
    """
    fields(data, "The certificate", "layer pos sequences matrix at_least prime point rows columns")
    net = Transformer(data, items(data["sequences"], "sequences"))
    kind = choice(data["matrix"], "matrix", ("A", "A'", "W_V A'"))
    d, heads, unit = len(net.E[0]), net.layer.heads, net.layer.unit
    width = d * (kind != "A") + sum(len(h.W_O) if kind == "W_V A'" else d for h in heads)
    p, rows, columns = minor_of(data, len(net.inputs), width)
    least, point = integer(data["at_least"], "at_least", width + 1), whole(data["point"], "point")
    keys = [net.keys(net.inputs[i]) for i in rows]
    pairs = zip(rows, keys, strict=True)
    scores, q = lowest([net.scores(net.inputs[i], x) for i, x in pairs], net.score_scale)
    if not 2 <= point < p or (unit == "ln2" and (point, q) != (2, 1)):
        refuse("point", "must be in 2..prime-1; in unit ln2 it is 2 and the scores are integers")
    # weights are known mod p only, so p may divide no denominator that they are multiplied with
    W_V = [V for V in (residues(h.W_V, p) for h in heads) if V is not None]
    if net.scale % p == 0 or len(W_V) < len(heads):
        yield Step(False, f"the prime {p} divides a denominator")
        return
    inverse, minor = pow(net.scale, -1, p), []
    for x, row in zip(keys, scores, strict=True):
        X = Table([[v * inverse % p for v in key] for key in x])
        entries = [] if kind == "A" else list(X[-1])
        for V, exponents in zip(W_V, row, strict=True):
            theta = softmax_mod(exponents, point, p)
            if theta is None:
                yield Step(False, f"a normalising sum is zero mod {p}")
                return
            average = times_mod(theta, X, p)
            entries += times_mod(average, V, p) if kind == "W_V A'" else average
        minor.append([entries[j] for j in columns])
    yield check_minor(minor, p, least, kind)
