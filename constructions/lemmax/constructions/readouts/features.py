"""The features of attention layers: what a linear readout of a layer reads at the last position."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from flint import arb_mat, ctx, fmpq, fmpq_mat, fmpz

from lemmax.theory.dana.transformer import AoT
from lemmax.theory.errors import LemmaxError
from lemmax.theory.mahdavi.layer import MultiHead
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer


def layer_features(
    layer: AttentionLayer | AoT | MultiHead,
    sequences: Sequence[Sequence[Hashable]] | None = None,
    precision: int = 128,
) -> Matrix | arb_mat:
    """One row per sequence: the vector that the last linear map of the layer reads.

    For Wong's and Dana's layers it is the residual stream at the last position, read by W_U; for
    Mahdavi's the rows of Z (T × Hd), read by the values of the heads, whose examples the layer
    itself names.

    Parameters
    ----------
    sequences
        Token sequences; None for a :class:`~lemmax.theory.mahdavi.layer.MultiHead`.
    precision
        Bits of the balls, where attention is irrational.

    Returns
    -------
    Matrix or arb_mat
        Exact rationals where every attention weight is rational: scores that are integers in units
        of ln 2, or all equal. Otherwise balls.

    Raises
    ------
    LemmaxError
        An unknown token, or sequences where there should be none.

    Notes
    -----
    Cost: one forward pass per sequence.

    Examples
    --------
    >>> from lemmax.theory.wong.layer import Head
    >>> layer = AttentionLayer("ab", [[1], [2]], [[1, 0]], [Head([[1]], [[1]], [[3]], [[1]])])
    >>> layer_features(layer, ["ab"])[0, 0] > 7
    True
    >>> exact = AttentionLayer(layer.tokens, layer.W_E, layer.W_U, layer.heads, "ln2")
    >>> layer_features(exact, ["ab"])  # 2 + 3 (1 · 2² + 2 · 2⁴) / (2² + 2⁴)
    Matrix([['37/5']])
    """
    if isinstance(layer, MultiHead):
        if sequences is not None:
            raise LemmaxError("A layer of contexts names its examples itself: give no sequences.")
        return layer.exact_features() if layer.scale == "ln2" else layer.features(precision)
    if sequences is None or not len(sequences):
        raise LemmaxError("The features of a layer need at least one sequence.")
    if isinstance(layer, AoT):
        return _of_transformer(layer, sequences, precision)
    return _of_layer(layer, sequences, precision)


def _of_layer(
    layer: AttentionLayer, sequences: Sequence[Sequence[Hashable]], precision: int
) -> Matrix | arb_mat:
    """Wong's residual stream: the logits of the same layer whose unembedding is the identity."""
    embedded = [layer.W_E[layer.indices(s), range(layer.d_model)] for s in sequences]
    scores = [[m.flint.tolist()[-1] for m in layer.scores(s)] for s in sequences]
    rational = [_rational(heads, layer.unit) for heads in scores]
    if all(heads is not None for heads in rational):
        rows = []
        for X, heads in zip(embedded, rational, strict=True):
            assert heads is not None
            row = fmpq_mat([X.flint.tolist()[-1]])
            for head, attention in zip(layer.heads, heads, strict=True):
                row = row + fmpq_mat([attention]) * (X @ head.W_V @ head.W_O).flint
            rows.append(row.entries())
        return Matrix(fmpq_mat(rows))
    balls = []
    with ctx.workprec(precision):
        for s, X in zip(sequences, embedded, strict=True):
            state = arb_mat(X.flint)
            for head, attended in zip(layer.heads, layer.attention(s, precision), strict=True):
                state = state + attended * arb_mat((X @ head.W_V @ head.W_O).flint)
            balls.append(state.tolist()[-1])
        return arb_mat(balls)


def _rational(scores: Sequence[Sequence[fmpq]], unit: str) -> list[list[fmpq]] | None:
    """The attention of every head over one sequence, if it is rational."""
    heads = []
    for row in scores:
        low = min(row)
        if any(x != low and (unit != "ln2" or (x - low).q != 1) for x in row):
            return None
        powers = [fmpz(2) ** int(x - low) for x in row]
        total = sum(powers, fmpz(0))
        heads.append([fmpq(x, total) for x in powers])
    return heads


def _of_transformer(
    model: AoT, sequences: Sequence[Sequence[Hashable]], precision: int
) -> Matrix | arb_mat:
    """Dana's residual stream x(t, S) + Σ_h W_O W_V A^h(t)."""
    indices = model.indices(sequences)
    e, pos = model.e.flint.tolist(), model.pos.flint.tolist()
    rows: list[list[fmpq]] = []
    for t in indices:
        X = Matrix([[a + b for a, b in zip(e[i], pos[s], strict=True)] for s, i in enumerate(t)])
        last = X[[len(t) - 1], range(model.d)]
        scores = [(last @ head.W_QK @ X.T).flint.entries() for head in model.heads]
        heads = _rational(scores, model.unit)
        if heads is None:
            return _transformer_balls(model, sequences, precision)
        row = last.flint
        for head, attention in zip(model.heads, heads, strict=True):
            row = row + fmpq_mat([attention]) * (X @ (head.W_O @ head.W_V).T).flint
        rows.append(row.entries())
    return Matrix(fmpq_mat(rows))


def _transformer_balls(
    model: AoT, sequences: Sequence[Sequence[Hashable]], precision: int
) -> arb_mat:
    state, outputs = model.attention_before_output(sequences, precision)
    with ctx.workprec(precision):
        for head, output in zip(model.heads, outputs, strict=True):
            state = state + output * arb_mat((head.W_O @ head.W_V).T.flint)
        return state
