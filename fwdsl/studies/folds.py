"""Cross-validation: each point of a grid is scored on samples that its fit has not seen.

For each of k folds, the program is fitted to the samples outside of it, at every point, and scored on those in it. See `samples.py` for what is a
sample. Whatever a program learns from its data (intercepts, standardisation, feature maps) it learns from the samples that it is fitted to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..bind import Bindings
from ..errors import RunError
from ..grammar.diagnostic import Diagnostic
from ..model import Expr, Model, Type
from ..results.evaluation import Evaluated, Fit, evaluate, fit_of, labelled
from ..results.solution import Solution
from ..results.status import Status
from ..session import Raising, Session
from ..words import LOSSES
from .grid import Point, at_point, solve_over, table_line
from .samples import Samples, deal, part_of, rows_of, samples_of

ScoreName = Literal["loss", "error"]

Solve = Callable[[Session, Any], Solution]
"""Solves a session from a start."""

COLUMNS = ("mean", "standard error", "training loss")

_ONE = Expr("const", Type("real"), value=1.0, sign="positive")


@dataclass(frozen=True, repr=False)
class CrossValidation:
    """Scores of a grid on samples left out, the parameters chosen, and the fit to all samples with them.

    `by_fold[i, j]` is the score of the fit at `points[i]` on fold j: the mean loss of its samples, or the share classified wrongly. It is not finite
    where there is no fit: the constraints cannot be met, or the run was interrupted. `training_loss` is the mean loss of the samples fitted to.
    `best` has the least mean score. `one_se` is, of the points whose mean is within one standard error of it, the one with the largest training
    loss: the most regularised. Both are None, and so is `solution`, the fit at `best`, where the run was interrupted or no point has a fit.
    """

    parameters: tuple[str, ...]
    points: tuple[Point, ...]
    score: ScoreName
    samples: str
    seed: int
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
        """The standard error of each mean: the standard deviation over the folds, divided by the square root of their number."""
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
        near = mean <= mean[best] + self.standard_error[best]
        return best, int(np.argmax(np.where(near, self.training_loss, -np.inf)))

    def plot(self, name: str) -> None:
        """Draw the mean scores with their standard errors into a file whose suffix tells the format (extra `plot`)."""
        from .plot import plot_folds, require_plot

        require_plot(name)
        plot_folds(name, self)

    def to_json(self) -> dict[str, Any]:
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

    def __repr__(self) -> str:
        best, near = self.chosen
        lines = [table_line([*self.parameters, *COLUMNS, ""], len(self.parameters)).rstrip()]
        rows = zip(self.points, self.mean, self.standard_error, self.training_loss, strict=True)
        for i, (point, *numbers) in enumerate(rows):
            marks = [word for word, at in (("best", best), ("one standard error", near)) if at == i]
            cells = [*(f"{v:.6g}" for v in point), *(f"{v:.6g}" for v in numbers), ", ".join(marks)]
            lines.append(table_line(cells, len(point)).rstrip())
        what = "mean loss" if self.score == "loss" else "error rate"
        return "\n".join(
            [*lines, f"{what} by {self.folds} folds of the samples `{self.samples}`, shuffled with seed {self.seed}"]
        )

    def _named(self, i: int | None) -> dict[str, float] | None:
        return None if i is None else dict(zip(self.parameters, self.points[i], strict=True))


def cross_validate(
    session: Session, parameters: Sequence[str], points: Sequence[Point], folds: int, score: ScoreName, solve: Solve
) -> CrossValidation:
    """Score every point by folds, choose, and fit to all samples. Folds are shuffled with the seed of the session's options.

    Raises `RunError`: FW0205 where what is a sample cannot be told, FW0206 for a number of folds that the samples do not allow, FW0207 for error
    rates of a program that classifies nothing.
    """
    samples = samples_of(session.compile())
    if score == "error":
        _require_classes(samples)
    instance, seed = session.bind(), session.options.seed
    parts = deal(samples, instance, folds, seed)
    total = sum(part.size for part in parts)
    by_fold, training = np.full((2, len(points), folds), np.nan)
    status: Status = "optimal"
    for j, held in enumerate(parts):
        rows = np.setdiff1d(np.arange(total), held)
        fold = session.with_model(samples.model, part_of(samples, instance, rows, session.bindings), Raising())
        fold.bind()
        problems = (fold.bound_to(at_point(fold.bindings, parameters, p), same_data=True) for p in points)
        grid = solve_over(parameters, points, problems, solve)
        unseen = Bindings(data=rows_of(samples, instance, held))
        for i, solution in enumerate(grid):
            by_fold[i, j], training[i, j] = _scores(samples, solution, unseen, (rows.size, held.size), score)
        if grid[-1].status == "interrupted":
            by_fold[len(grid) - 1, j], status = np.nan, "interrupted"
            break
    found = CrossValidation(
        tuple(parameters), tuple(points), score, samples.dim, seed, by_fold, training.mean(axis=1), None, status
    )
    if found.best is None:
        return found if status == "interrupted" else replace(found, status="infeasible")
    at = at_point(session.bindings, parameters, tuple(found.best.values()))
    solution = solve(session.bound_to(at, same_data=True), None)
    return replace(found, solution=solution, status=solution.status)


def _require_classes(samples: Samples) -> None:
    atoms = [samples.model.terms[i].atom for i in samples.terms]
    if not any(atom in LOSSES and LOSSES[atom].classifies for atom in atoms):
        named = ", ".join(f"`{atom}`" for atom in dict.fromkeys(atoms))
        rule = "An error rate is the share of samples that a loss of classification gives the wrong class."
        hint = "leave the score out: samples are then scored by their loss"
        raise RunError(
            [Diagnostic("FW0207", f"{named} classifies nothing, so there is no error rate", rule=rule, hint=hint)]
        )


def _scores(
    samples: Samples, solution: Solution, unseen: Bindings, counts: tuple[int, int], score: ScoreName
) -> tuple[float, float]:
    """The score of a fit on samples left out, and its mean loss on those fitted to; not finite where there is no fit.

    Losses are taken without their coefficients, by sample; several are averaged with the weights of their coefficients in the fit.
    """
    if solution.status in ("infeasible", "unbounded"):
        return np.inf, np.nan
    terms = samples.model.terms
    bare: Model = replace(samples.model, terms=tuple(replace(t, coefficient=_ONE) for t in terms), lets=())
    fit: Fit = replace(fit_of(solution.instance, solution.variables), model=bare)
    names = [name for i, name in enumerate(labelled(bare)) if i in samples.terms]
    summed = {n: terms[i].reduce != "mean" for n, i in zip(names, samples.terms, strict=True)}
    weights = {
        n: abs(float(solution.instance.evaluate(terms[i].coefficient))) * (counts[0] if summed[n] else 1)
        for n, i in zip(names, samples.terms, strict=True)
    }

    def mean_loss(found: Evaluated, count: int) -> float:
        return _average({n: v / count if summed[n] else v for n, v in found.values.items()}, weights)

    found, seen = evaluate(fit, names, unseen, Path()), evaluate(fit, names, Bindings(), Path())
    unseen_score = _average(found.error_rates, weights) if score == "error" else mean_loss(found, counts[1])
    return unseen_score, mean_loss(seen, counts[0])


def _average(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The mean of values, by weight where there is any."""
    total = sum(weights[n] for n in values)
    if not total:
        return float(np.mean(list(values.values())))
    return float(sum(weights[n] * v for n, v in values.items()) / total)
