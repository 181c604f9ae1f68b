"""CVXPY's open solvers as peers. Their time includes what CVXPY does to the problem, as a user's does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .cases import Peer

MOST = 100_000
"""Numbers of data beyond which CVXPY is not tried."""
GRID = (1e-4, 1e-6, 1e-8, 1e-10)

State = Callable[[Any], tuple[Any, Sequence[Any], Sequence[Any]]]
"""Of the module: what is minimised, the constraints, and the variables in the order of the program's."""

_TOLERANCES: Mapping[str, Callable[[float], dict[str, float]]] = {
    "CLARABEL": lambda tol: {"tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol},
    "SCS": lambda tol: {"eps_abs": tol, "eps_rel": tol, "max_iters": 1_000_000},
    "OSQP": lambda tol: {"eps_abs": tol, "eps_rel": tol, "max_iter": 1_000_000},
    "HIGHS": lambda tol: {
        "primal_feasibility_tolerance": max(tol, 1e-10),
        "dual_feasibility_tolerance": max(tol, 1e-10),
    },
}


def convex(state: State, numbers: int, solvers: Sequence[str] = ("CLARABEL", "OSQP", "SCS")) -> tuple[Peer, ...]:
    """A peer for each solver, none where there are more numbers of data than CVXPY is tried on."""
    if numbers > MOST:
        return ()
    return tuple(Peer(f"CVXPY {solver.capitalize()}", "cvxpy", _fit(state, solver), GRID) for solver in solvers)


def _fit(state: State, solver: str) -> Callable[[float], tuple[Any, ...]]:
    def fit(tol: float) -> tuple[Any, ...]:
        import cvxpy as cp

        objective, constraints, variables = state(cp)
        cp.Problem(cp.Minimize(objective), list(constraints)).solve(solver=solver, **_TOLERANCES[solver](tol))
        return tuple(variable.value for variable in variables)

    return fit
