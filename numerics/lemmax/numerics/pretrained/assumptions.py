r"""Do the assumptions of Mahdavi et al. hold on a real model? Decided on stored floats, exactly.

A float is a dyadic rational, so ranks and Kruskal ranks of stored activations are exact facts, and
so is the rank of Z for stored weights (softmax logits are dyadic multiples of one scale). They are
facts about the stored numbers. Rounding noise alone makes a matrix of floats full rank, so the
report also says what the same computation proves in real arithmetic, where balls were computed.

Any model goes through :func:`check_assumptions`: give contexts, queries and head weights as arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from numpy.typing import NDArray

from lemmax.numerics.pretrained.minilm import MiniLM, rank_of_balls
from lemmax.theory.errors import LemmaxError, NotExact, ShapeError
from lemmax.theory.mahdavi.ceilings import theorem_1_bound
from lemmax.theory.mahdavi.layer import ContextHead, MultiHead, multi_head
from lemmax.theory.numbers.kruskal_rank import kruskal_rank
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.numbers.rank import certified_rank

if TYPE_CHECKING:
    from rich.table import Table

Array = NDArray[Any]


@dataclass(frozen=True)
class AttentionData:
    """What enters one attention layer, as arrays.

    ``contexts`` is T × n × d, ``queries`` T × d_q; each head is a pair (W_K: d × d_h, W_Q:
    d_q × d_h), rows are inputs. A bias of the query map is one more coordinate 1 of the queries;
    a bias of the key map moves all logits of a row alike and is left out.
    """

    name: str
    contexts: Array
    queries: Array
    heads: Sequence[tuple[Array, Array]] = ()
    scale: str = "1"

    def __post_init__(self) -> None:
        if self.contexts.ndim != 3:
            raise ShapeError(
                f"{self.name}: contexts need three dimensions (examples, tokens, d), "
                f"not {self.contexts.ndim}."
            )
        if self.queries.ndim != 2 or len(self.queries) != len(self.contexts):
            raise ShapeError(f"{self.name}: there must be one query an example.")
        if not len(self.contexts):
            raise ShapeError(f"{self.name}: there must be at least one example.")
        arrays = [self.contexts, self.queries, *(W for head in self.heads for W in head)]
        for array in arrays:
            if not np.isfinite(array).all():
                raise NotExact(f"{self.name}: an array contains NaN or infinity.")

    @property
    def shape(self) -> tuple[int, int, int]:
        """T, n and d."""
        T, n, d = self.contexts.shape
        return int(T), int(n), int(d)


@dataclass(frozen=True)
class AssumptionReport:
    """One layer. Everything but the ``float*`` and ``sampled_*`` fields is exact.

    The least singular value, over the queries and over each context, is what rounding would have to
    reach before it could have made the rank: compare it with the error of the forward pass.
    """

    name: str
    T: int
    n: int
    d: int
    contexts_checked: int
    contexts_full_rank: int
    repeated_tokens: int
    distinct_queries: int
    queries_checked: int
    kruskal_lower: int
    kruskal_upper: int
    float32_rank_of_queries: int
    sampled_share_independent: float
    float64_least_singular_value: float
    examples: int | None
    feature_rank_lower: int | None
    feature_rank_upper: int | None
    theorem_1: int | None
    shared_bound: int | None

    @property
    def assumption_1(self) -> bool | None:
        """Whether the queries have Kruskal rank n or more; None: not decided."""
        if self.kruskal_lower >= self.n:
            return True
        return False if self.kruskal_upper < self.n else None

    @property
    def assumption_2(self) -> bool:
        """Whether every context that was checked has rank n."""
        return self.contexts_full_rank == self.contexts_checked

    def to_json(self) -> dict[str, Any]:
        """All fields, with the two assumptions."""
        return {
            **asdict(self),
            "assumption_1": self.assumption_1,
            "assumption_2": self.assumption_2,
        }


def dyadic_matrix(array: Array) -> Matrix:
    """A float matrix as the dyadic rationals that its bits spell, converted as a whole.

    >>> dyadic_matrix(np.array([[0.5, 3.0]]))
    Matrix([['1/2', '3']])
    """
    mantissas, exponents = np.frexp(np.asarray(array, dtype=np.float64))
    integers = (mantissas * 2.0**53).astype(np.int64)
    shifts = np.where(integers == 0, 0, exponents - 53)
    least = int(shifts.min())
    rows = [
        [m << s for m, s in zip(ms, ss, strict=True)]
        for ms, ss in zip(integers.tolist(), (shifts - least).tolist(), strict=True)
    ]
    scale = fmpq(2) ** least
    return Matrix(fmpq_mat(fmpz_mat(rows)) * scale)


def check_assumptions(
    data: AttentionData,
    *,
    contexts: int | None = None,
    queries: int | None = None,
    examples: int | None = None,
    samples: int = 200,
    seed: int = 0,
) -> AssumptionReport:
    """Decide Assumptions 1 and 2 and the rank of Z on stored arrays.

    Parameters
    ----------
    contexts, queries, examples
        How many contexts, queries and examples of Z to look at; all contexts, all queries and
        as many examples as exceed H(n - 1) + 1 by twenty, unless given. Up to d + 3 queries in
        general have an exact Kruskal rank; more of them may leave an interval.
    samples, seed
        For the published approximate test: random sets of n queries, float32 rank.

    Notes
    -----
    Cost: one exact rank of an n × d matrix a context, the Kruskal rank of the queries, and where
    there are heads one evaluation of Z modulo a prime.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> data = AttentionData("random", draw.normal(size=(8, 3, 5)), draw.normal(size=(8, 5)))
    >>> report = check_assumptions(data)
    >>> report.assumption_1, report.assumption_2, report.kruskal_lower
    (True, True, 5)
    """
    T, n, d = data.shape
    looked = min(T, contexts or T)
    full = sum(certified_rank(dyadic_matrix(data.contexts[t])).rank == n for t in range(looked))
    asked = min(T, queries or T)
    chosen = data.queries[:asked]
    kruskal = kruskal_rank(dyadic_matrix(chosen))
    single = np.asarray(chosen, dtype=np.float32)
    rank_z: tuple[int | None, ...] = (None,) * 5
    if data.heads:
        layer = exact_layer(data, examples)
        found = layer.feature_rank()
        rank_z = (
            layer.T,
            found.lower,
            found.upper,
            theorem_1_bound(n, layer.d_h, layer.H),
            layer.H * (n - 1) + 1,
        )
    return AssumptionReport(
        data.name,
        T,
        n,
        d,
        looked,
        full,
        _repeated(data.contexts),
        len({row.tobytes() for row in np.ascontiguousarray(chosen)}),
        asked,
        kruskal.lower,
        kruskal.upper,
        int(np.linalg.matrix_rank(single)),
        sampled_share(single, n, samples, seed),
        _least_singular_value([chosen, *data.contexts[:looked]]),
        *rank_z,
    )


def exact_layer(data: AttentionData, examples: int | None = None) -> MultiHead:
    """The layer on stored floats, read as dyadic rationals."""
    T, n, _ = data.shape
    wanted = examples or len(data.heads) * (n - 1) + 21
    used = min(T, wanted)
    heads = [ContextHead(dyadic_matrix(W_K), dyadic_matrix(W_Q)) for W_K, W_Q in data.heads]
    return multi_head(
        [dyadic_matrix(data.contexts[t]) for t in range(used)],
        dyadic_matrix(data.queries[:used]),
        heads,
        data.scale,
    )


def sampled_share(vectors: NDArray[np.float32], k: int, samples: int, seed: int) -> float:
    """The published test: the share of random sets of k vectors whose float32 rank is k."""
    if k > len(vectors):
        return 0.0
    draw = np.random.default_rng(seed)
    hits = 0
    for _ in range(samples):
        subset = draw.choice(len(vectors), size=k, replace=False)
        hits += int(np.linalg.matrix_rank(vectors[subset]) == k)
    return hits / samples


def _least_singular_value(matrices: Sequence[Array]) -> float:
    values = [np.linalg.svd(np.asarray(M, np.float64), compute_uv=False)[-1] for M in matrices]
    return float(min(values))


def _repeated(contexts: Array) -> int:
    """How many tokens of different contexts equal an earlier one: then no general position."""
    different = {E.tobytes(): E for E in np.ascontiguousarray(contexts)}.values()
    tokens = [row.tobytes() for E in different for row in np.ascontiguousarray(E)]
    return len(tokens) - len(set(tokens))


# --- models given as arrays ---------------------------------------------------------------------


def read_arrays(path: Path) -> list[AttentionData]:
    """Layers from a .npz file with the arrays LAYER.contexts, LAYER.queries, LAYER.heads.0.W_K, ...

    ``LAYER`` is any name; ``LAYER.scale`` may hold the scale as a string.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = dict(archive)
    except (OSError, ValueError):
        raise LemmaxError(f"{path} is not a .npz file of arrays.") from None
    names = [key.removesuffix(".contexts") for key in arrays if key.endswith(".contexts")]
    if not names:
        raise LemmaxError(f"{path} has no array whose name ends with .contexts.")
    found = []
    for name in names:
        if f"{name}.queries" not in arrays:
            raise LemmaxError(f"{path} has {name}.contexts but no {name}.queries.")
        heads: list[tuple[Array, Array]] = []
        while f"{name}.heads.{len(heads)}.W_K" in arrays:
            number = len(heads)
            if f"{name}.heads.{number}.W_Q" not in arrays:
                raise LemmaxError(f"{path} has no {name}.heads.{number}.W_Q.")
            heads.append(
                (arrays[f"{name}.heads.{number}.W_K"], arrays[f"{name}.heads.{number}.W_Q"])
            )
        scale = str(arrays.get(f"{name}.scale", "1"))
        found.append(
            AttentionData(name, arrays[f"{name}.contexts"], arrays[f"{name}.queries"], heads, scale)
        )
    return found


def arrays_report(path: Path, *, examples: int | None = None) -> ModelReport:
    """The assumptions of every layer of a .npz file."""
    layers = tuple(check_assumptions(data, examples=examples) for data in read_arrays(path))
    return ModelReport(path.name, layers, 0, None)


# --- the pretrained model -----------------------------------------------------------------------


@dataclass(frozen=True)
class ModelReport:
    """All layers of a model on one text, and what balls prove about the first one."""

    model: str
    layers: tuple[AssumptionReport, ...]
    balls_examples: int
    balls_independent: bool | None

    def to_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "model": self.model,
            "layers": [layer.to_json() for layer in self.layers],
            "real_arithmetic": {
                "examples": self.balls_examples,
                "queries_after_layer_1_independent": self.balls_independent,
            },
        }

    def table(self) -> Table:
        """A table for a terminal."""
        from rich.table import Table

        table = Table(box=None, pad_edge=False)
        for title in (
            "input of",
            "rank n",
            "distinct",
            "Kruskal",
            "float32",
            "sampled",
            "least σ",
            "rank Z",
            "Thm 1",
        ):
            side: Literal["left", "right"] = "left" if title == "input of" else "right"
            table.add_column(title, justify=side, no_wrap=True)
        for r in self.layers:
            lower, upper = r.feature_rank_lower, r.feature_rank_upper
            table.add_row(
                r.name,
                f"{r.contexts_full_rank}/{r.contexts_checked}",
                f"{r.distinct_queries}/{r.queries_checked}",
                _interval(r.kruskal_lower, r.kruskal_upper),
                str(r.float32_rank_of_queries),
                f"{r.sampled_share_independent:.0%}",
                f"{r.float64_least_singular_value:.0e}",
                "-"
                if lower is None or upper is None
                else f"{_interval(lower, upper)}/{r.examples}",
                str(r.theorem_1 or "-"),
            )
        return table

    def sentences(self) -> list[str]:
        """What is exact, and about what."""
        n = self.layers[0].n
        found = [
            "Exact facts about the stored floats: contexts of rank n, distinct queries, the "
            "Kruskal rank of the queries, rank Z of the trained heads for so many examples.",
            f"Numerical: the float32 rank of the queries, the share of random sets of {n} queries "
            "with float32 rank n, and the least singular value of queries and contexts, which says "
            "how far rounding is from making the rank.",
            "Thm 1 is what Theorem 1 promises under its assumptions; rank Z may exceed it.",
        ]
        if self.balls_independent is not None:
            word = "are independent" if self.balls_independent else "could not be shown independent"
            found.append(
                f"In real arithmetic (balls) the first {self.balls_examples} queries after "
                f"layer 1 {word}."
            )
        return found

    def figure(self, path: str | Path) -> None:
        """A bar chart: exact Kruskal rank, float32 rank and n, layer by layer."""
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
        places = np.arange(len(self.layers))
        axes.bar(
            places - 0.2, [r.kruskal_lower for r in self.layers], 0.4, label="exact Kruskal rank"
        )
        axes.bar(
            places + 0.2,
            [r.float32_rank_of_queries for r in self.layers],
            0.4,
            label="float32 rank",
        )
        axes.axhline(self.layers[0].n, linestyle="--", color="black", linewidth=1, label="n")
        axes.set_xticks(places, [r.name for r in self.layers])
        axes.set_ylabel("queries")
        axes.legend(frameon=False)
        figure.savefig(path)
        plt.close(figure)


def _interval(lower: int, upper: int) -> str:
    return str(lower) if lower == upper else f"{lower}..{upper}"


def minilm_layers(
    model: MiniLM, windows: NDArray[np.int64], *, heads: bool = True
) -> list[AttentionData]:
    """The inputs of all layers as stored float32 arrays; queries are the first position."""
    found = []
    hidden = model.hidden(windows)
    for i, (x, layer) in enumerate(zip(hidden, model.layers, strict=False), 1):
        stored = x.astype(np.float32)
        queries = np.concatenate([stored[:, 0], np.ones((len(x), 1), np.float32)], axis=1)
        size = model.d_h
        pairs = [
            (
                layer.W_K[:, h * size : (h + 1) * size],
                np.concatenate(
                    [
                        layer.W_Q[:, h * size : (h + 1) * size],
                        layer.b_Q[None, h * size : (h + 1) * size],
                    ]
                ),
            )
            for h in range(model.heads)
        ]
        found.append(
            AttentionData(
                f"layer {i}", stored, queries, pairs if heads else (), f"1/sqrt({model.d_h})"
            )
        )
    return found


def minilm_report(
    text: str,
    *,
    n: int = 16,
    examples: int | None = None,
    stride: int = 1,
    layers: Sequence[int] | None = None,
    heads: bool = True,
    balls: int = 48,
    model: MiniLM | None = None,
) -> ModelReport:
    """The assumptions of every layer of MiniLM on the windows of a text.

    ``examples`` windows (d + 3 unless given, fewer if the text is short); ``balls`` of them in
    real arithmetic through the first layer.
    """
    used = model or MiniLM()
    windows = used.windows(text, n, examples or used.d + 3, stride)
    reports = []
    for number, data in enumerate(minilm_layers(used, windows, heads=heads), 1):
        if layers is None or number in layers:
            # The Kruskal rank is that of the tokens themselves, without the coordinate of the bias.
            plain = AttentionData(data.name, data.contexts, data.queries[:, :-1])
            report = check_assumptions(plain, contexts=64)
            if data.heads:
                layer = exact_layer(data)
                found = layer.feature_rank()
                report = AssumptionReport(
                    **{
                        **asdict(report),
                        "examples": layer.T,
                        "feature_rank_lower": found.lower,
                        "feature_rank_upper": found.upper,
                        "theorem_1": theorem_1_bound(n, layer.d_h, layer.H),
                        "shared_bound": layer.H * (n - 1) + 1,
                    }
                )
            reports.append(report)
    if not reports:
        raise LemmaxError(f"The model has {len(used.layers)} layers; none of those named exists.")
    count = min(balls, len(windows), used.d)
    proved = None
    if count:
        proved = rank_of_balls(used.certified_first_layer(windows[:count]))
    return ModelReport("minilm", tuple(reports), count, proved)


def clopper_pearson(hits: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """The exact confidence interval of a share.

    >>> low, high = clopper_pearson(48, 48)
    >>> round(low, 3), high
    (0.926, 1.0)
    """
    alpha = (1 - level) / 2

    def tail(p: float, least: int, most: int) -> float:
        return sum(comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(least, most + 1))

    def solve(least: int, most: int, rising: bool) -> float:
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            if (tail(middle, least, most) > alpha) == rising:
                high = middle
            else:
                low = middle
        return (low + high) / 2

    lower = 0.0 if hits == 0 else solve(hits, trials, True)
    upper = 1.0 if hits == trials else solve(0, hits, False)
    return lower, upper
