"""The unembedding of widest margin for the embedding and the heads that a layer has."""

from __future__ import annotations

from flint import fmpq, fmpq_mat

from lemmax.constructions.readouts.demands import Demands, squared
from lemmax.constructions.readouts.features import layer_features
from lemmax.constructions.readouts.readout import readout
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer

_KEPT = fmpq(1023, 1024)
"""The share of the square of the margin that rounding the weights must leave."""


def widest_margin(layer: AttentionLayer, db: Database) -> AttentionLayer:
    """The layer with the W_U whose least gap, over its Frobenius norm, is about the widest.

    The weights of the readout are rounded to as few fractional bits as keep the square of the
    margin but for a thousandth; every gap stays at least 1/2.

    >>> from lemmax.constructions import compile_database
    >>> db = Database.from_triples([("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y")])
    >>> compile_database(db, margin="widest").recall("b", "f").answer
    'y'
    """
    facts = list(db)
    features = layer_features(layer, [(k, q) for k, q, _ in facts])
    labels = [v for *_, v in facts]
    if len(layer.tokens) < 2:
        raise LemmaxError("A vocabulary of one token has no margin.")
    told = readout(features, labels, rivals=layer.tokens, shrink=False)
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
    while True:
        grid = fmpq(2) ** bits
        rounded = fmpq_mat(
            [[fmpq((x * grid + fmpq(1, 2)).floor()) / grid for x in row] for row in exact.tolist()]
        )
        if share(rounded) >= wanted:
            break
        bits += 1
    columns = rounded.tolist()
    W_U = Matrix([columns[place[token]] for token in layer.tokens]).T
    return AttentionLayer(layer.tokens, layer.W_E, W_U, layer.heads, layer.unit)
