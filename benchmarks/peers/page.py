"""The page of the comparison: a table for each group, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from report import Report, Target, ratio, size
from timing import duration

GOALS = {"rows": 0.8, "mean": 0.6, "worst": 2.0, "cvxpy": 20.0}
"""At most the peer's time on this share of rows, the geometric mean of the ratios, the worst ratio, CVXPY's time over ours."""


@dataclass
class Row:
    """What was measured of a case; times in seconds, by competitor those that reached the objective."""

    group: str
    name: str
    shape: str
    method: str = ""
    status: str = ""
    ours: float = float("nan")
    reached: float = float("nan")
    cap: float = float("nan")
    times: dict[str, float] = field(default_factory=dict)
    #: of the first calls of turns, ours under ""
    firsts: dict[str, float] = field(default_factory=dict)
    tolerances: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    methods: dict[str, float] = field(default_factory=dict)
    #: bytes that processes added, ours under ""
    memory: dict[str, float] = field(default_factory=dict)
    #: our first solve in a fresh process, and the best peer's, where they were measured
    cold: tuple[float, float] | None = None

    @property
    def certified(self) -> bool:
        """Whether we proved 1e-6."""
        return self.status == "optimal"

    @property
    def best(self) -> str:
        """The fastest peer, empty where none reached the objective."""
        return min(self.times, key=self.times.__getitem__) if self.times else ""

    @property
    def ratio(self) -> float:
        """Our time over the fastest peer's; at least, where we did not certify and so stopped at the cap."""
        return self.ours / self.times[self.best] if self.best else float("nan")

    @property
    def ratio_of_firsts(self) -> float:
        """The same of the first calls of turns."""
        peers = [seconds for name, seconds in self.firsts.items() if name]
        return self.firsts[""] / min(peers) if peers and "" in self.firsts else float("nan")

    @property
    def over_cvxpy(self) -> float:
        """The time of CVXPY's fastest solver over ours."""
        found = [time for name, time in self.times.items() if name.startswith("CVXPY")]
        return min(found) / self.ours if found and self.certified else float("nan")


def mean(values: Iterable[float]) -> float:
    """Geometric, of those that are numbers; nan where there are none."""
    kept = [value for value in values if np.isfinite(value)]
    return float(np.exp(np.mean(np.log(kept)))) if kept else float("nan")


def targets(report: Report, rows: Sequence[Row]) -> None:
    """The figures of all rows that have a peer."""
    found = [row.ratio if row.certified else np.inf for row in rows if row.best]
    if not found:
        return
    share = float(np.mean(np.array(found) <= 1.0))
    report.target(
        Target("share of rows on which we take at most the fastest peer's time", share, GOALS["rows"], least=True),
        Target(
            "our time over the fastest peer's, geometric mean",
            mean(row.ratio for row in rows),
            GOALS["mean"],
            show=ratio,
        ),
        Target("our time over the fastest peer's, worst row", max(found), GOALS["worst"], show=ratio),
    )
    over = mean(row.over_cvxpy for row in rows)
    if np.isfinite(over):
        report.target(
            Target("CVXPY's best time over ours, geometric mean", over, GOALS["cvxpy"], least=True, show=ratio)
        )


def summary(report: Report, groups: dict[str, list[Row]]) -> None:
    """One row a group."""
    every = [row for rows in groups.values() for row in rows]
    report.section(
        "Groups",
        "Rows with a peer that reached the objective; those we did not certify count neither as at most 1 nor as at most 2 times.",
    )
    report.table(
        ["group", "rows", "with a peer", "at most 1.0 x", "at most 2.0 x", "geometric mean", "not certified"],
        [_summary(name, rows) for name, rows in {**groups, "all": every}.items()],
    )
    firsts = [row.ratio_of_firsts for row in every if row.certified and np.isfinite(row.ratio_of_firsts)]
    if firsts:
        share = float(np.mean(np.array(firsts) <= 1.0))
        report.text(
            f"By the first calls of turns we take at most the fastest peer's time on {share:.3g} of the rows, "
            f"{_ratio(mean(firsts))} in the geometric mean."
        )


def _summary(name: str, rows: Sequence[Row]) -> list[str]:
    compared = [row for row in rows if row.best]
    within = [sum(row.certified and row.ratio <= limit for row in compared) for limit in (1.0, 2.0)]
    return [
        name,
        str(len(rows)),
        str(len(compared)),
        *map(str, within),
        _ratio(mean(row.ratio for row in rows)),
        str(sum(not row.certified for row in rows)),
    ]


def group(report: Report, name: str, rows: Sequence[Row]) -> None:
    """The table of a group, and what each peer took."""
    report.section(name[0].upper() + name[1:])
    report.table(
        [
            "problem",
            "size",
            "our method",
            "ours",
            "reached",
            "best peer",
            "its time",
            "our time over its",
            "",
            *_more(rows),
        ],
        [[*_cells(row), *_more(rows, row)] for row in rows],
    )
    report.text("\n".join(f"- {row.name}: {_peers(row)}" for row in rows))


def _cells(row: Row) -> list[str]:
    ours = duration(row.ours) if row.certified else f"{row.status}, {duration(row.ours)}"
    reached = duration(row.reached) if row.certified else ""
    if not row.best:
        return [row.name, row.shape, row.method, ours, reached, "none", "", "", "no peer reached it"]
    faster = row.certified and row.ratio <= 1.0
    return [
        row.name,
        row.shape,
        row.method,
        ours,
        reached,
        row.best,
        duration(row.times[row.best]),
        _ratio(row.ratio),
        "fwdsl is faster" if faster else f"**{row.best} is faster**",
    ]


def _more(rows: Sequence[Row], row: Row | None = None) -> list[str]:
    """The cells of a row that only some pages have, or their heads."""
    cold = any(each.cold is not None for each in rows)
    if row is None:
        return ["memory", "cold", "ours over its"] if cold else ["memory"]
    memory = " / ".join(size(row.memory[name]) for name in ("", row.best) if np.isfinite(row.memory.get(name, np.nan)))
    if not cold:
        return [memory]
    ours, its = row.cold or (float("nan"), float("nan"))
    took = " / ".join(duration(each) for each in (ours, its) if np.isfinite(each))
    return [memory, took, _ratio(ours / its)]


def _peers(row: Row) -> str:
    at = {name: f" at {tol:.0e}" if tol else "" for name, tol in row.tolerances.items()}
    took = [f"{name} {duration(row.times[name])}{at[name]}" for name in sorted(row.times, key=row.times.__getitem__)]
    return "; ".join([*took, *(f"{name}: {why}" for name, why in row.failed.items())]) or "no peer"


def methods(report: Report, rows: Sequence[Row]) -> None:
    """What our other methods took, by case."""
    report.section(
        "Our methods",
        "Where a peer is faster: each of our methods that takes the program, once, with little more time than the planner's choice took.",
    )
    rows = [row for row in rows if row.methods]
    report.table(
        ["problem", "chosen", "its time", "fastest", "its time", "chosen over fastest"],
        [_methods(row) for row in rows],
    )


def _methods(row: Row) -> list[str]:
    chosen = duration(row.ours) if row.certified else row.status
    title = f"{row.group}: {row.name}"
    best = min(row.methods, key=row.methods.__getitem__)
    return [title, row.method, chosen, best, duration(row.methods[best]), _ratio(row.ours / row.methods[best])]


def _ratio(value: float) -> str:
    return ratio(value) if np.isfinite(value) else ""
