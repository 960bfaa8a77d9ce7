"""What a survey says: one summary per regime, as a table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lemmax.numerics.experiments.statistics import Estimate, wilson
from lemmax.numerics.survey.recorded import Row


@dataclass(frozen=True)
class Summary:
    """The databases of one regime, with 95 % intervals of Wilson for shares.

    ``closed`` is the share whose rank is known, ``exact`` the share whose rank is known to be the
    bound of Proposition 2.1; ``ratio`` the median of upper bound / Proposition 2.1, ``gap`` the
    median of upper - lower over the open ones; ``stopped`` counts those that time ended. Of the
    open ones, ``by_time`` counts those where time ended a search for proofs from below,
    ``by_theory`` those where every such search ended by itself, and ``unfitted`` those of the
    latter where every numerical fit below the upper bound failed; None where open rows do not say.
    ``checked`` counts certificates given to the independent checker, ``closed_checked`` those of
    them that close a database, ``rejected`` those that do not hold.
    """

    regime: str
    databases: int
    closed: Estimate
    exact: Estimate
    ratio: float
    gap: float | None
    stopped: int
    by_time: int | None
    by_theory: int | None
    unfitted: int | None
    mean_seconds: float
    max_seconds: float
    checked: int
    closed_checked: int
    rejected: int

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    def cells(self) -> dict[str, str]:
        """The row of a table, by the heads of its columns."""
        return {
            "regime": self.regime,
            "n": str(self.databases),
            "closed": _share(self.closed),
            "Prop. 2.1 exact": _share(self.exact),
            "upper / Prop. 2.1": f"{self.ratio:.2f}",
            "open gap": "–" if self.gap is None else f"{self.gap:g}",
            "open by time": _count(self.by_time),
            "by theory": _count(self.by_theory),
            "no fit below": _count(self.unfitted),
            "mean s": f"{self.mean_seconds:.2f}",
            "max s": f"{self.max_seconds:.1f}",
            "checked": f"{self.checked - self.rejected}/{self.checked}",
        }


def _share(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def _count(number: int | None) -> str:
    return "–" if number is None else str(number)


def summaries(rows: Sequence[Row]) -> list[Summary]:
    """One summary for each regime, in the order of the rows."""
    regimes = dict.fromkeys(row.regime for row in rows)
    return [_summary([row for row in rows if row.regime == regime]) for regime in regimes]


def _summary(rows: Sequence[Row]) -> Summary:
    still_open = [row for row in rows if row.lower < row.upper]
    gaps = [row.upper - row.lower for row in still_open]
    by_theory = [row for row in still_open if row.cut is False]
    told = all(row.cut is not None for row in still_open)
    checked = [row for row in rows if row.holds is not None]
    return Summary(
        rows[0].regime,
        len(rows),
        wilson(len(rows) - len(gaps), len(rows)),
        wilson(sum(row.lower == row.proposition for row in rows), len(rows)),
        statistics.median(row.upper / row.proposition for row in rows),
        statistics.median(gaps) if gaps else None,
        sum(row.stopped for row in rows),
        len(still_open) - len(by_theory) if told else None,
        len(by_theory) if told else None,
        sum(row.fitted == row.upper for row in by_theory) if told else None,
        statistics.fmean(row.seconds for row in rows),
        max(row.seconds for row in rows),
        len(checked),
        sum(row.lower == row.upper for row in checked),
        sum(not row.holds for row in checked),
    )


def markdown(some: Sequence[Summary]) -> str:
    """The table in Markdown."""
    lines = [list(summary.cells().values()) for summary in some]
    heads = list(some[0].cells())
    table = [heads, ["---"] + ["--:"] * (len(heads) - 1), *lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in table)
