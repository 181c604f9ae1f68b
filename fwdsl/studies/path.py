"""A problem along values of a parameter, each solved from the answer before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..atoms.low_rank import LowRank
from ..results.solution import Solution

P = TypeVar("P")

COLUMNS = ("objective", "relative gap", "support", "passes", "seconds", "status")


@dataclass(frozen=True, repr=False)
class SolutionPath:
    """Solutions along values of a parameter, in the order given. An interrupted path has fewer solutions than values.

    `path[i]` is the solution at `path.values[i]`; printed, it is a table.
    """

    parameter: str
    values: tuple[float, ...]
    solutions: tuple[Solution, ...]

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    def __getitem__(self, i: int) -> Solution:
        return self.solutions[i]

    def __repr__(self) -> str:
        rows = [row_text(v, s) for v, s in zip(self.values, self.solutions, strict=True)]
        return "\n".join([header_text(self.parameter), *rows])

    def plot(self, name: str) -> None:
        """Draw objective and coefficients against the parameter into a file whose suffix tells the format (extra `plot`)."""
        from .plot import plot_path, require_plot

        require_plot(name)
        plot_path(name, self)


def solve_along(
    parameter: str,
    values: tuple[float, ...],
    problems: Iterable[P],
    solve: Callable[[P, Any], Solution],
    start: Any = None,
) -> SolutionPath:
    """Solve one problem a value, by `solve(problem, start)`, each from the last answer that is one, the first from `start`.

    Ends early where a solve is interrupted. Where there is no solution there is nothing to go on from.
    """
    solutions: list[Solution] = []
    for problem in problems:
        solutions.append(solve(problem, start))
        if solutions[-1].status == "interrupted":
            break
        if solutions[-1].status not in ("infeasible", "unbounded"):
            start = solutions[-1]
    return SolutionPath(parameter, values[: len(solutions)], tuple(solutions))


def support(solution: Solution) -> Mapping[str, int]:
    """The number of nonzero entries of each variable; of one kept as factors, its rank."""
    return {
        name: value.rank if isinstance(value, LowRank) else int(np.count_nonzero(value))
        for name, value in solution.variables.items()
    }


def header_text(parameter: str) -> str:
    """The head of the table."""
    return _line([parameter, *COLUMNS])


def row_text(value: float, solution: Solution) -> str:
    """A line of the table."""
    nonzero = sum(support(solution).values())
    numbers = [f"{value:.6g}", f"{solution.objective:.8g}", f"{solution.relative_gap:.1e}", f"{nonzero}"]
    return _line([*numbers, f"{solution.passes:.0f}", f"{solution.times.solve:.3f}", solution.status])


def _line(cells: Sequence[Any]) -> str:
    widths = (13, 16, 14, 9, 9, 9)
    return "".join(f"{cell:<{w}}" for cell, w in zip(cells, widths, strict=False)) + str(cells[-1])
