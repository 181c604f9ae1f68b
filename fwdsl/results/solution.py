"""The solution that a solve returns: primal, dual, certificate, history, record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..backends.speed import told_seconds
from ..certify.certificate import Certificate
from ..html.shown import ShownInNotebooks
from .status import Status

if TYPE_CHECKING:
    from ..backends.method import Estimate

MOST_PHASES = 8
"""Phases that are told; those that took less are taken together."""


@dataclass(frozen=True)
class Progress:
    """One report of a running solve; numbers in the user's sense, from the method's own bookkeeping (not yet verified)."""

    phase: str
    method: str
    iteration: int
    passes: float
    elapsed: float
    objective: float
    dual_bound: float
    relative_gap: float


@dataclass(frozen=True)
class Change:
    """A change of the method within a run: who goes on, after how many iterations, data passes and seconds of all before it, and why."""

    method: str
    iteration: int
    passes: float
    elapsed: float
    reason: str


@dataclass(frozen=True)
class Times:
    """Seconds: compiling the program, loading data, planning, solving, verifying (within solve), compiling kernels (within solve; none where the
    cache has them). The limit of time does not count the last."""

    compile: float = 0.0
    load: float = 0.0
    plan: float = 0.0
    solve: float = 0.0
    verify: float = 0.0
    kernels: float = 0.0


@dataclass(frozen=True)
class Solution(ShownInNotebooks):
    """A certified answer. `solution["beta"]` is a variable's value; nothing is lost when a limit was reached.

    `dual[name]` is the derivative of the optimal value in the right-hand side of that constraint; `terms[name]` the value of a named term;
    `support` counts nonzeros per variable; `passes` are data passes (one touch of every nonzero) of the method, `verify_passes` those of the
    verifier; `reason` says why it stopped; `changes` are those of the method on the way; `start` what it started from;
    `instance` is the program with the data it was solved on. Of a run that was resumed `iterations` and passes are those of the
    whole run, `times` and `history` of its last part.
    """

    _html_from = "fwdsl.results.html_form:solution_html"

    status: Status
    certificate: Certificate
    variables: Mapping[str, Any]
    dual: Mapping[str, Any]
    terms: Mapping[str, float]
    method: str
    iterations: int
    passes: float
    verify_passes: float
    reason: str
    times: Times
    history: tuple[Progress, ...] = ()
    changes: tuple[Change, ...] = ()
    plan: Any = None
    start: str = "the method's own starting point"
    warnings: tuple[str, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    state: Any = field(default=None, repr=False)
    instance: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        c = self.certificate
        reason = f" ({self.reason})" if self.status != "optimal" and self.reason else ""
        return (
            f"<Solution {self.status}{reason}: objective {c.objective:.10g}, dual bound {c.dual_bound:.10g}, "
            f"relative gap {c.relative_gap:.1e} ({c.kind}), by {self.method} in {self.iterations} iterations; "
            f"variables {', '.join(self.variables)}>"
        )

    def __getitem__(self, name: str) -> Any:
        return self.variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def evaluate(self, name: str, /, **values: object) -> Any:
        """A `let` or a term of the program (or "objective") at this solution, on data given by name.

        Data that are not given are those of the fit; labels are read by the fit's maps, and features by its statistics. A float, or an array.
        Observed entries in rows and columns that the fit has not seen are left out, with a Python warning that says how many.
        """
        return self._on(values, name).values[name]

    def error_rates(self, **values: object) -> Mapping[str, float]:
        """The share of samples classified wrongly, by term of the objective whose loss is one of classification, on data given by name."""
        rates: Mapping[str, float] = self._on(values).error_rates
        return rates

    def plot(self, name: str | None = None) -> Any:
        """Draw how the gap closed against data passes and seconds, into a file whose suffix tells the format; without a name the figure is given
        (extra `plot`)."""
        from .plot import plot_gap, require_plot

        require_plot(name)
        reports = [(p.passes, p.elapsed, p.relative_gap) for p in self.history]
        return plot_gap(name, f"{self.method}: {self.status.replace('_', ' ')}", reports)

    def to_frame(self, name: str | None = None, *, history: bool = False) -> Any:
        """The solution as a frame of pandas.

        Without a name every entry of every variable is a row: `variable`, `row`, `column`, `value`. With the name of a variable the frame has
        that variable's shape, its rows and columns under the names of the data's columns, classes or ids where there are any. With `history`
        it has the reports of the run, a row each. Raises `RunError` FW0330 where pandas is not installed, `BuildError` FW0331 for a name that is no
        variable and for a matrix kept as factors that is too large to write out.
        """
        from .frames import entries_frame, history_frame, variable_frame

        if history:
            return history_frame(self.history, tuple(Progress.__dataclass_fields__))
        if name is None:
            return entries_frame(self.variables, self.instance)
        return variable_frame(self.variables, self.instance, name)

    def analysis(self) -> Mapping[str, Any]:
        """Passes and seconds that the plan predicted beside the actual ones, and those of each phase: see `fwdsl.results.solution.analysis`."""
        return analysis(self.plan.chosen.estimate, self)

    def _on(self, values: Mapping[str, object], *names: str) -> Any:
        from pathlib import Path
        from warnings import warn

        from ..bind import bind_python
        from .evaluation import evaluate, fit_of

        found = evaluate(fit_of(self.instance, self.variables), names, bind_python(**values), Path())
        for warning in found.warnings:
            # two calls up: where `evaluate` or `error_rates` was called
            warn(warning.message, stacklevel=3)
        return found

    @property
    def objective(self) -> float:
        """The verified objective value, in the user's sense."""
        return self.certificate.objective

    @property
    def dual_bound(self) -> float:
        """The verified bound on the optimal value: below for `minimize`, above for `maximize`."""
        return self.certificate.dual_bound

    @property
    def gap(self) -> float:
        """|objective - dual_bound|, and what infeasibility may hide."""
        return self.certificate.gap

    @property
    def relative_gap(self) -> float:
        """The gap relative to max(|P|, |D|, 1e-6 S)."""
        return self.certificate.relative_gap

    @property
    def infeasibility(self) -> float:
        """The largest relative violation of a constraint."""
        return self.certificate.infeasibility


def analysis(estimate: Estimate | None, solution: Solution) -> dict[str, Any]:
    """Passes and seconds, predicted by the plan's estimate and actual, and those of each phase of the run; kernels are not compiled in them.

    `passes` and `seconds` have `predicted` (None where nothing was) and `actual`, verifying included; `phases` has a row for each method and phase,
    with `method`, `phase`, `passes` and `seconds` of the method's own count, from report to report.
    """
    passes, seconds = (None, None) if estimate is None else (estimate.passes, told_seconds(estimate))
    return {
        "passes": {"predicted": passes, "actual": solution.passes + solution.verify_passes},
        "seconds": {"predicted": seconds, "actual": solution.times.solve - solution.times.kernels},
        "phases": _phases(solution),
    }


def _phases(solution: Solution) -> list[dict[str, Any]]:
    spent: dict[tuple[str, str], list[float]] = {}
    before = (0.0, 0.0)
    for report in solution.history:
        now = (report.passes, report.elapsed)
        row = spent.setdefault((report.method, report.phase), [0.0, 0.0])
        # what is counted again after a resumption begins lower
        row[0] += max(0.0, now[0] - before[0])
        row[1] += max(0.0, now[1] - before[1])
        before = now
    told = sorted(spent, key=lambda at: -spent[at][1])[:MOST_PHASES]
    rows = [(method, phase, *spent[method, phase]) for method, phase in spent if (method, phase) in told]
    others = [spent[at] for at in spent if at not in told]
    if others:
        rows.append(("", f"{len(others)} other phases", sum(r[0] for r in others), sum(r[1] for r in others)))
    return [dict(zip(("method", "phase", "passes", "seconds"), row, strict=True)) for row in rows]
