"""A problem over values of its parameters, each point solved from the nearest answer. A path is the grid of one parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeVar

import numpy as np

from ..atoms.low_rank import LARGEST_WRITTEN
from ..bind import Bindings
from ..files.arrays import write_arrays
from ..html.shown import ShownInNotebooks
from ..results.solution import Solution
from ..solve.interrupt import heard
from .points import Point, spans_decades, support

P = TypeVar("P")

COLUMNS = ("objective", "relative gap", "support", "passes", "seconds", "status")


@dataclass(frozen=True, repr=False)
class SolutionGrid(ShownInNotebooks):
    """Solutions over values of parameters; the last parameter changes fastest. An interrupted grid has fewer points than asked for.

    `grid[i]` is the solution at `grid.points[i]`, which has a value for each of `grid.parameters`; printed, it is a table.
    """

    _html_from = "fwdsl.studies.html_form:grid_html"

    parameters: tuple[str, ...]
    points: tuple[Point, ...]
    solutions: tuple[Solution, ...]

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    def __getitem__(self, i: int) -> Solution:
        return self.solutions[i]

    def __repr__(self) -> str:
        rows = [row_text(p, s) for p, s in zip(self.points, self.solutions, strict=True)]
        return "\n".join([header_text(self.parameters), *rows])

    def plot(self, name: str | None = None) -> Any:
        """Draw the solutions against the parameters into a file whose suffix tells the format; without a name the figure is given (extra `plot`)."""
        from ..results.plot import require_plot
        from .plot import plot_grid

        require_plot(name)
        return plot_grid(name, self.parameters, self.points, self.solutions)


class SolutionPath(SolutionGrid):
    """Solutions along values of one parameter, in the order given: `path[i]` is the solution at `path.values[i]`."""

    @property
    def parameter(self) -> str:
        """The name of the parameter."""
        return self.parameters[0]

    @property
    def values(self) -> tuple[float, ...]:
        """The values that were solved for."""
        return tuple(value for (value,) in self.points)


def points_of(values: Mapping[str, Sequence[float]]) -> tuple[Point, ...]:
    """Every combination of the values; the last parameter changes fastest."""
    return tuple(product(*values.values()))


def at_point(bindings: Bindings, parameters: Sequence[str], point: Point) -> Bindings:
    """The bindings with the parameters of a point."""
    return bindings.merge(Bindings(params=dict(zip(parameters, point, strict=True))))


def solve_over(
    parameters: Sequence[str],
    points: Sequence[Point],
    problems: Iterable[P],
    solve: Callable[[P, Any], Solution],
    start: Any = None,
) -> SolutionGrid:
    """Solve one problem a point, by `solve(problem, start)`, each from the answer at the nearest point, the first from `start`.

    Ends early where a solve is interrupted. Where there is no solution there is nothing to go on from.
    """
    solutions = tuple(solutions_over(points, problems, solve, start))
    make = SolutionPath if len(parameters) == 1 else SolutionGrid
    return make(tuple(parameters), tuple(points[: len(solutions)]), solutions)


def solutions_over(
    points: Sequence[Point], problems: Iterable[P], solve: Callable[[P, Any], Solution], start: Any = None
) -> Iterator[Solution]:
    """The same solutions, one after the other. Of those that were had, only the ones that a later point starts from are kept."""
    at = _positions(points)
    nearest, distances = np.full(len(points), -1), np.full(len(points), np.inf)
    kept: dict[int, Solution] = {}
    for i, problem in enumerate(problems):
        before = heard()
        solution = solve(problem, kept.get(int(nearest[i]), start))
        if heard() > before:  # though it is proven that there is no solution
            solution = replace(solution, status="interrupted")
        if solution.status not in ("infeasible", "unbounded"):
            found = np.sum((at - at[i]) ** 2, axis=1)
            # of equally near points the last
            nearer = found <= distances
            nearest[nearer], distances[nearer] = i, found[nearer]
            kept[i] = solution
        later = set(nearest[i + 1 :].tolist())
        kept = {k: one for k, one in kept.items() if k in later}
        yield solution
        if solution.status == "interrupted":
            return
        del solution


def _positions(points: Sequence[Point]) -> Any:
    """The points in a unit cube, an axis a parameter."""
    axes = [np.log(axis) if spans_decades(axis) else axis for axis in np.array(points, dtype=np.float64).T]
    return np.array([(axis - axis.min()) / (float(np.ptp(axis)) or 1.0) for axis in axes]).T


def header_text(parameters: Sequence[str]) -> str:
    """The head of the table."""
    return table_line([*parameters, *COLUMNS], len(parameters))


def row_text(point: Point, solution: Solution) -> str:
    """A line of the table."""
    return table_line(row_cells(point, solution), len(point))


def row_cells(point: Point, solution: Solution) -> list[str]:
    """The cells of a line of the table: the values of the parameters, then `COLUMNS`."""
    nonzero = sum(support(solution).values())
    numbers = [f"{solution.objective:.8g}", f"{solution.relative_gap:.1e}", f"{nonzero}", f"{solution.passes:.0f}"]
    return [*(f"{v:.6g}" for v in point), *numbers, f"{solution.times.solve:.3f}", solution.status]


def table_line(cells: Sequence[str], parameters: int, others: Sequence[int] = (16, 14, 9, 9, 9)) -> str:
    """Cells in columns: those of the parameters, then the others, of these widths."""
    widths = (*(13,) * parameters, *others)
    return "".join(f"{cell:<{w}}" for cell, w in zip(cells[:-1], widths, strict=True)) + cells[-1]


def save_grid(name: str, grid: SolutionGrid) -> None:
    """Write a grid into an npz file, the points along the first axis of every array; `OSError` where that fails.

    Variables have their names; `at:NAME` are the values of parameters, `points:objective`, `points:dual_bound`, `points:relative_gap` and
    `points:status` what was found there. Left out are variables whose shape changes, and matrices kept as factors that are too large to write out.
    """
    arrays: dict[str, Any] = {
        f"at:{n}": np.array(column) for n, column in zip(grid.parameters, zip(*grid.points, strict=True), strict=True)
    }
    for key in ("objective", "dual_bound", "relative_gap", "status"):
        arrays[f"points:{key}"] = np.array([getattr(s, key) for s in grid])
    for variable in grid[0].variables:
        values = [s[variable] for s in grid]
        if np.size(values[0]) <= LARGEST_WRITTEN and len({np.shape(v) for v in values}) == 1:
            arrays[variable] = np.array([np.asarray(v) for v in values])
    write_arrays(name, arrays)
