"""The unembedding of widest margin for the embedding and the heads that a layer has."""

from __future__ import annotations

from flint import fmpq, fmpq_mat

from lemmax.constructions.readouts.demands import Demands, squared
from lemmax.constructions.readouts.features import layer_features
from lemmax.constructions.readouts.margin import Margin
from lemmax.constructions.readouts.readout import margin_of, readout
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer

_KEPT = fmpq(1023, 1024)
"""The share of the square of the margin that rounding the weights must leave."""


def widest_margin(layer: AttentionLayer, db: Database) -> tuple[AttentionLayer, Margin]:
    """The layer with a W_U whose least gap, over its Frobenius norm, is about the widest.

    The weights of the readout are rounded to few fractional bits that keep the square of the
    margin but for a thousandth. The margin says what they have and what no W_U exceeds, for every
    point of the balls in which the features lie. Cost: that of :func:`readout` from the weights
    that the layer has, facts · tokens demands.

    >>> from lemmax.constructions import compile_database
    >>> db = Database.from_triples([("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y")])
    >>> compiled = compile_database(db, margin="widest")
    >>> compiled.recall("b", "f").answer
    'y'
    >>> compiled.margin.upper_squared < compiled.margin.lower_squared * fmpq(1001, 1000)
    True
    """
    facts = list(db)
    features = layer_features(layer, [(k, q) for k, q, _ in facts])
    labels = [v for *_, v in facts]
    if len(layer.tokens) < 2:
        raise LemmaxError("A vocabulary of one token has no margin.")
    order = [layer.index[t] for t in dict.fromkeys((*labels, *layer.tokens))]
    start = layer.W_U.T[order, range(layer.d_model)]
    told = readout(features, labels, rivals=layer.tokens, shrink=False, start=start)
    if told.weights is None:
        raise AssertionError("the construction's own unembedding is a readout")
    place = {token: i for i, token in enumerate(told.classes)}
    integers = told.features.flint.numer_denom()[0]  # no scale matters: margins are compared
    demands = Demands(integers, tuple(place[v] for v in labels), len(place))

    def share(W: fmpq_mat) -> fmpq:
        """The square of the margin, times that of the denominator of the features."""
        whole, _ = W.numer_denom()
        gap = demands.least(whole)[1]
        return fmpq(gap * gap, squared(whole)) if gap > 0 else fmpq(0)

    exact, bits = told.weights.flint, 0
    wanted = share(exact) * _KEPT
    while share(rounded := _rounded(exact, bits)) < wanted:
        bits += 2
    columns = rounded.tolist()
    W_U = Matrix([columns[place[token]] for token in layer.tokens]).T
    read = AttentionLayer(layer.tokens, layer.W_E, W_U, layer.heads, layer.unit)
    return read, margin_of(features, demands, Matrix(rounded), told.dual)


def _rounded(weights: fmpq_mat, bits: int) -> fmpq_mat:
    """The entries as the nearest multiples of 2^-bits."""
    grid, half = fmpq(2) ** bits, fmpq(1, 2)
    rows = [[fmpq((x * grid + half).floor()) / grid for x in row] for row in weights.tolist()]
    return fmpq_mat(rows)
