"""The solution that a solve returns, and what can be asked of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..backends.speed import told_seconds
from ..html.shown import ShownInNotebooks
from .answer import Answer, Change, Progress, Times

if TYPE_CHECKING:
    from ..backends.method import Estimate
    from .prediction import Predictor

__all__ = ["Change", "Progress", "Solution", "Times", "analysis"]

MOST_PHASES = 8
"""Phases that are told; those that took less are taken together."""


@dataclass(frozen=True, repr=False)
class Solution(Answer, ShownInNotebooks):
    """A certified answer. `solution["beta"]` is a variable's value; nothing is lost when a limit was reached.

    `dual[name]` is the derivative of the optimal value in the right-hand side of that constraint; `terms[name]` the value of a named term;
    `support` counts nonzeros per variable; `passes` are data passes (one touch of every nonzero) of the method, `verify_passes` those of the
    verifier; `reason` says why it stopped; `changes` are those of the method on the way; `start` what it started from;
    `instance` is the program with the data it was solved on, `options` are those of the solve. What `fw.load_solution` gives has neither:
    `fit` stands in the place of the instance, `origin` says where it was loaded from. Of a run that was resumed `iterations` and passes are
    those of the whole run, `times` and `history` of its last part.
    """

    _html_from = "fwdsl.results.html_form:solution_html"

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
        (extra `plot`). Raises `RunError` FW0217 for a loaded solution, as a saved answer has no history of its run."""
        from .plot import plot_gap, require_history, require_plot

        require_plot(name)
        require_history(self.origin, self.history)
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
            return entries_frame(self.variables, self.found_on)
        return variable_frame(self.variables, self.found_on, name)

    def predict(self, what: str | None = None, /, **data: object) -> Any:
        """Predictions on new rows, from data by name: `solution.predict(X=rows)`.

        `what` names a `let` of the program, or a loss (`termK` where no `let` does), whose argument is predicted; without it that of the
        objective's losses, which are the scores. Targets and weights are not needed; data that are not given are those of the fit. See
        `predictor` for the forms of data and for many calls.
        """
        from .prediction import predict

        return predict(self._fit(), self.predictor(what), data)

    def predictor(self, what: str | None = None) -> Predictor:
        """The `Predictor` of what `predict` gives: made ready once, without the training data, and picklable.

        Raises `RunError`: FW0204 for a name that is no `let`, FW0211 where what to predict cannot be told.
        """
        from .evaluation import require_name
        from .prediction import Predictor

        require_name("predict", what)
        known: dict[str | None, Predictor] = self.__dict__.setdefault("_predictors", {})
        if what not in known:
            known[what] = Predictor(self._fit(), what)
        return known[what]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_predictors"}

    def analysis(self) -> Mapping[str, Any]:
        """Passes and seconds that the plan predicted beside the actual ones, and those of each phase: see `fwdsl.results.solution.analysis`."""
        return analysis(None if self.plan is None else self.plan.chosen.estimate, self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the answer into an `.npz` file, as `fwdsl run --out` does, whole or not at all. `fw.load_solution` reads it.

        The file has the variables by name, `dual:NAME`, statistics of feature maps, and a record: program, parameters, label maps, certificate,
        fingerprints of the data. Raises `RunError`: FW0028 for a name that does not end in `.npz`, FW0013 where it cannot be written.
        """
        from ..errors import RunError
        from ..files.target import unwritable, wrong_suffix
        from .saved import save

        name = os.fspath(path)
        if (wrong := wrong_suffix(name, "save")) is not None:
            raise RunError([wrong])
        try:
            save(name, self)
        except OSError as error:
            raise RunError([unwritable(name, error)]) from None

    def _on(self, values: Mapping[str, object], *names: str) -> Any:
        from pathlib import Path
        from warnings import warn

        from ..bind import bind_python
        from .evaluation import evaluate

        found = evaluate(self._fit(), names, bind_python("evaluate", **values), Path())
        for warning in found.warnings:
            # two calls up: where `evaluate` or `error_rates` was called
            warn(warning.message, stacklevel=3)
        return found

    def _fit(self) -> Any:
        from .evaluation import fit_of

        return self.fit if self.fit is not None else fit_of(self.instance, self.variables)


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
