"""Problems of cvxpy by the words of the language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ...build.expression import Constraint, Expression
from ...errors import RunError, misuse
from ...extras import require
from ...grammar.diagnostic import Diagnostic
from .constraints import Reader


@dataclass(frozen=True)
class Read:
    """A problem that was read: its objective and constraints as the builder's, and the names of its variables."""

    sense: Literal["minimize", "maximize"]
    objective: Any
    constraints: tuple[Constraint, ...]
    names: Mapping[int, str]


def read_problem(problem: Any) -> Read:
    """The problem of cvxpy. `RunError` FW0320 for what has no equivalent, by name; FW0321 for a problem that is not convex by cvxpy's rules; FW0311
    where cvxpy is not installed. `BuildError` FW0309 for what is no problem of it."""
    if not isinstance(problem, require("oracle").Problem):
        raise misuse(
            "FW0309",
            f"`from_cvxpy` takes a `cvxpy.Problem`, not a {type(problem).__name__}",
            hint="write `fw.from_cvxpy(cvxpy.Problem(cvxpy.Minimize(objective), constraints))`",
        )
    if not problem.is_dcp():
        hint = "quasi-convex and geometric programs are out; `problem.is_dcp()` of each part tells which it is"
        raise RunError([Diagnostic("FW0321", "the problem is not convex by cvxpy's rules (DCP)", hint=hint)])
    reader = Reader()
    for variable in problem.variables():
        reader.leaves.variable(variable)
    maximise = type(problem.objective).__name__ == "Maximize"
    objective = reader.value(problem.objective.args[0])
    if not isinstance(objective, Expression):
        free = next(iter(reader.leaves.variables.values()), None)
        if free is None:
            raise RunError([Diagnostic("FW0321", "the problem has no variable", hint="there is nothing to solve for")])
        still = reader.leaves.fresh((), "still")  # an objective has a variable: this one is 0
        reader.constraints.append(still == 0)
        objective = still + objective
    for constraint in problem.constraints:
        reader.constraint(constraint)
    constraints = (*reader.leaves.constraints, *reader.constraints)
    names = {leaf: reader.leaves.names[leaf] for leaf in reader.leaves.names}
    return Read("maximize" if maximise else "minimize", objective, constraints, names)
