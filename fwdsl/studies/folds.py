"""Cross-validation: each point of a grid is scored on samples that its fit has not seen.

For each of k folds, the program is fitted to the samples outside of it, at every point, and scored on those in it. See `samples.py` for what is a
sample. Whatever a program learns from its data (intercepts, standardisation, feature maps) it learns from the samples that it is fitted to.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..bind import Bindings
from ..bind.instance import Instance
from ..check.settings import FOLDS
from ..errors import RunError, misuse
from ..grammar.diagnostic import Diagnostic
from ..html.shown import ShownInNotebooks
from ..model import Expr, Model, Type
from ..readers.memory import give_back
from ..results.evaluation import Fit, evaluate, fit_of, labelled
from ..results.solution import Solution
from ..results.status import Status
from ..session import Raising, Session
from ..words import LOSSES
from .grid import at_point, solutions_over, table_line
from .points import Point
from .samples import Samples, deal, part_of, rows_of, sample_count, samples_of

ScoreName = Literal["loss", "error"]

Splits = Sequence[tuple[Any, Any]]
"""The rows of each fold that are fitted to, and those that are left out."""

Solve = Callable[[Session, Any], Solution]
"""Solves a session from a start."""

COLUMNS = ("mean", "standard error", "training loss")

_WIDTHS = (16, 16, 16)

_ONE = Expr("const", Type("real"), value=1.0, sign="positive")


@dataclass(frozen=True, repr=False)
class CrossValidation(ShownInNotebooks):
    """Scores of a grid on samples left out, the parameters chosen, and the fit to all samples with them.

    `by_fold[i, j]` is the score of the fit at `points[i]` on fold j: the mean loss of its samples, or the share classified wrongly. It is not finite
    where there is no fit: the constraints cannot be met, or the run was interrupted. `training_loss` is the mean loss of the samples fitted to.
    `best` has the least mean score. `one_se` is, of the points whose mean is within one standard error of it, the one with the largest training
    loss: the most regularised. Both are None, and so is `solution`, the fit at `best`, where the run was interrupted or no point has a fit.
    """

    _html_from = "fwdsl.studies.html_form:folds_html"

    parameters: tuple[str, ...]
    points: tuple[Point, ...]
    score: ScoreName
    samples: str
    seed: int | None
    by_fold: Any
    training_loss: Any
    solution: Solution | None
    status: Status

    @property
    def folds(self) -> int:
        """The number of folds."""
        return int(self.by_fold.shape[1])

    @property
    def mean(self) -> Any:
        """The mean score of each point over the folds."""
        return self.by_fold.mean(axis=1)

    @property
    def standard_error(self) -> Any:
        """The standard error of each mean: the standard deviation over the folds, divided by the square root of their number. NaN for one fold."""
        if self.folds == 1:
            return np.full(len(self.points), np.nan)
        with np.errstate(invalid="ignore"):
            return self.by_fold.std(axis=1, ddof=1) / np.sqrt(self.folds)

    @property
    def best(self) -> dict[str, float] | None:
        """The parameters of the least mean score."""
        return self._named(self.chosen[0])

    @property
    def one_se(self) -> dict[str, float] | None:
        """The parameters of the most regularised fit within one standard error of the best."""
        return self._named(self.chosen[1])

    @property
    def chosen(self) -> tuple[int | None, int | None]:
        """The positions of `best` and `one_se` among the points."""
        mean = self.mean
        if self.status == "interrupted" or not np.isfinite(mean).any():
            return None, None
        best = int(np.argmin(np.where(np.isfinite(mean), mean, np.inf)))
        near = mean <= mean[best] + np.nan_to_num(self.standard_error[best])
        return best, int(np.argmax(np.where(near, self.training_loss, -np.inf)))

    def plot(self, name: str | None = None) -> Any:
        """Draw the mean scores with their standard errors into a file whose suffix tells the format; without a name the figure is given
        (extra `plot`)."""
        from ..results.plot import require_plot
        from .plot import plot_folds

        require_plot(name)
        score = f"{'loss' if self.score == 'loss' else 'error rate'} by {self.folds} folds"
        return plot_folds(name, self.parameters, self.points, self.mean, self.standard_error, self.chosen, score)

    def to_json(self) -> dict[str, object]:
        """Everything but the solution as plain data."""
        columns = (self.mean, self.standard_error, self.by_fold, self.training_loss)
        keys = ("mean", "standard_error", "by_fold", "training_loss")
        rows = zip(self.points, *(column.tolist() for column in columns), strict=True)
        return {
            "status": self.status,
            "parameters": list(self.parameters),
            "score": self.score,
            "samples": self.samples,
            "folds": self.folds,
            "seed": self.seed,
            "points": [
                {"values": dict(zip(self.parameters, point, strict=True)), **dict(zip(keys, numbers, strict=True))}
                for point, *numbers in rows
            ],
            "best": self.best,
            "one_se": self.one_se,
        }

    @property
    def caption(self) -> str:
        """The words for what the scores are, for a table."""
        what = "mean loss" if self.score == "loss" else "error rate"
        dealt = "as given" if self.seed is None else f"shuffled with seed {self.seed}"
        return f"{what} by {self.folds} folds of the samples `{self.samples}`, {dealt}"

    def __repr__(self) -> str:
        fixed = len(self.parameters)
        lines = [table_line([*self.parameters, *COLUMNS, ""], fixed, _WIDTHS).rstrip()]
        lines += [table_line(row_cells(self, i), fixed, _WIDTHS).rstrip() for i in range(len(self.points))]
        if self.chosen[0] is None and self.status != "interrupted":
            lines.append("no point has a fit in every fold")
        return "\n".join([*lines, self.caption])

    def _named(self, i: int | None) -> dict[str, float] | None:
        return None if i is None else dict(zip(self.parameters, self.points[i], strict=True))


def row_cells(found: CrossValidation, i: int) -> list[str]:
    """The cells of a point in the table: the values of the parameters, `COLUMNS`, and for what it is chosen."""
    marks = [word for word, at in zip(("best", "one standard error"), found.chosen, strict=True) if at == i]
    numbers = (found.mean[i], found.standard_error[i], found.training_loss[i])
    return [*(f"{v:.6g}" for v in (*found.points[i], *numbers)), ", ".join(marks)]


def cross_validate(
    session: Session,
    parameters: Sequence[str],
    points: Sequence[Point],
    folds: int | Splits,
    score: ScoreName,
    solve: Solve,
) -> CrossValidation:
    """Score every point by folds, choose, and fit to all samples. A number of folds is shuffled with the seed of the session's options.

    Raises `RunError`: FW0205 where what is a sample cannot be told, FW0206 for a number of folds that the samples do not allow, FW0207 for error
    rates of a program that classifies nothing, FW0208 for losses that change along the grid, FW0241 where the workers are lost before all are scored.
    """
    samples = samples_of(session.compile())
    if score == "error":
        _require_classes(samples)
    else:
        _require_comparable(samples, parameters)
    instance, seed = session.bind(), session.options.seed
    scores = _scorer(samples, instance, score)
    count, splits = _splits(samples, instance, folds, seed)
    if session.options.memory is not None:
        # the last fit is to all samples: whether it keeps to the limit is known before the first fold is solved
        session.solved_with(session.options, Raising()).plan()
    # under a limit rows of a disk stay on it: the data of a fit, and those left out, are there together
    stays = Bindings(held=session.cluster is not None).stays if session.options.memory is None else 0
    by_fold, training = np.full((2, len(points), count), np.nan)
    status: Status = "optimal"
    for j, (rows, held) in enumerate(splits):
        fold = session.with_model(samples.model, part_of(samples, instance, rows, session.bindings, stays), Raising())
        fold.bind()
        problems = (fold.bound_to(at_point(fold.bindings, parameters, p), same_data=True) for p in points)
        unseen = Bindings(data=rows_of(samples, instance, held, stays))
        # each is scored as it comes, so that those of many points are not there together
        for i, solution in enumerate(solutions_over(points, problems, solve)):
            if solution.status == "interrupted":
                status = "interrupted"
                break
            if session.cluster is not None:
                # a fit that was cut short is not to be compared with the others
                session.cluster.require()
            by_fold[i, j], training[i, j] = scores(solution, unseen, (held.size, rows.size))
            del solution
        if status == "interrupted":
            break
        del fold, problems, unseen  # with the rows of this fold, before those of the next are taken
        if session.options.memory is not None:
            # what refers to itself is there until Python looks for it, and would count as memory of the next fold
            gc.collect()
            give_back()
    found = CrossValidation(
        tuple(parameters),
        tuple(points),
        score,
        samples.dim,
        seed if isinstance(folds, int) else None,
        by_fold,
        training.mean(axis=1),
        None,
        status,
    )
    if found.best is None:
        return found if status == "interrupted" else replace(found, status="infeasible")
    at = at_point(session.bindings, parameters, tuple(found.best.values()))
    solution = solve(session.bound_to(at, same_data=True), None)
    return replace(found, solution=solution, status=solution.status)


def _splits(
    samples: Samples, instance: Instance, folds: int | Splits, seed: int
) -> tuple[int, Iterator[tuple[Any, Any]]]:
    """The number of folds, and the rows that each is fitted to with those left out. The former are made as their fold comes: those of all folds
    together are as many as samples times folds."""
    count = sample_count(samples, instance)
    if isinstance(folds, int):
        parts = deal(samples, instance, folds, seed)
        return len(parts), ((_others(held, count), held) for held in parts)
    given = [
        (_rows(fitted, count, j, "to fit to"), _rows(held, count, j, "to leave out"))
        for j, (fitted, held) in enumerate(folds)
    ]
    return len(given), iter(given)


def _others(held: Any, count: int) -> Any:
    """The rows of all samples that are not held, which rise."""
    fitted = np.ones(count, bool)
    fitted[held] = False
    return np.flatnonzero(fitted)


def _rows(given: object, count: int, fold: int, what: str) -> Any:
    """Rows of a fold as an array of positions, which rise; a mask has those where it is true. `what` says what they are for.

    Raises `BuildError` FW0310 where they are none of the samples.
    """
    rows = np.asarray(given)
    if rows.dtype.kind == "b" and rows.shape == (count,):
        rows = np.flatnonzero(rows)
    wrong = ""
    if rows.shape == (0,):
        wrong = f"has no rows {what}"
    elif rows.ndim != 1 or rows.dtype.kind not in "iu":
        wrong = "has rows that are no positions"
    elif int(rows.max()) >= count or int(rows.min()) < 0:
        wrong = f"has the row {int(rows.max()) if int(rows.min()) >= 0 else int(rows.min())}, and the samples have 0 to {count - 1}"
    if wrong:
        raise misuse("FW0310", f"folds[{fold}] {wrong}", rule=FOLDS)
    return np.sort(rows)


def _require_classes(samples: Samples) -> None:
    atoms = [samples.model.terms[i].atom for i in samples.terms]
    if not any(atom in LOSSES and LOSSES[atom].classifies for atom in atoms):
        named = ", ".join(f"`{atom}`" for atom in dict.fromkeys(atoms))
        rule = "An error rate is the share of samples that a loss of classification gives the wrong class."
        hint = "leave the score out: samples are then scored by their loss"
        raise RunError(
            [Diagnostic("FW0207", f"{named} classifies nothing, so there is no error rate", rule=rule, hint=hint)]
        )


def _require_comparable(samples: Samples, parameters: Sequence[str]) -> None:
    """Raise `RunError` FW0208 where a loss itself changes along the grid, so that its values say nothing of which fit is better."""
    for i in samples.terms:
        term = samples.model.terms[i]
        parts = [term.target, term.weights, *(e for _, e in term.options)]
        used = {e.name for part in parts if part is not None for e in part.walk() if e.op == "param"}
        changing = [n for n in parameters if n in used]
        if changing:
            found = (
                f"the loss `{term.atom}` is another one at each value of `{changing[0]}`: its values cannot be compared"
            )
            rule = "Points are compared by a score that is the same at all of them."
            hint = f"leave `{changing[0]}` at one value, or compare classifiers by their error rate"
            raise RunError([Diagnostic("FW0208", found, rule=rule, hint=hint)])


@dataclass(frozen=True)
class _Scorer:
    """Scores fits by the terms that sum over samples: each without its coefficient and by sample, several averaged with `weights`."""

    bare: Model
    score: ScoreName
    weights: Mapping[str, float]
    summed: frozenset[str]

    def __call__(self, solution: Solution, unseen: Bindings, counts: tuple[int, int]) -> tuple[float, float]:
        """The score on samples left out, and the mean loss of those fitted to, of which there are `counts`; not finite where there is no fit."""
        if solution.status in ("infeasible", "unbounded"):
            return np.inf, np.nan
        fit: Fit = replace(fit_of(solution.instance, solution.variables), model=self.bare)
        names = list(self.weights)
        found, fitted = evaluate(fit, names, unseen, Path()), evaluate(fit, names, Bindings(), Path())
        score = self._average(found.error_rates) if self.score == "error" else self._loss(found.values, counts[0])
        return score, self._loss(fitted.values, counts[1])

    def _loss(self, values: Mapping[str, float], count: int) -> float:
        return self._average({n: v / count if n in self.summed else v for n, v in values.items()})

    def _average(self, values: Mapping[str, float]) -> float:
        return float(np.average(list(values.values()), weights=[self.weights[n] for n in values]))


def _scorer(samples: Samples, instance: Instance, score: ScoreName) -> _Scorer:
    """The scorer of a grid. Its weights are those of the terms at the first point, as all points are to have the same score."""
    bare: Model = replace(
        samples.model, terms=tuple(replace(t, coefficient=_ONE) for t in samples.model.terms), lets=()
    )
    names = {name: samples.model.terms[i] for i, name in enumerate(labelled(bare)) if i in samples.terms}
    summed = frozenset(n for n, term in names.items() if term.reduce != "mean")
    count = sample_count(samples, instance)
    weights = {
        n: abs(float(instance.evaluate(t.coefficient))) * (count if n in summed else 1) for n, t in names.items()
    }
    return _Scorer(bare, score, weights if all(weights.values()) else dict.fromkeys(weights, 1.0), summed)
