"""Solving with cvxpy as accurately as it can, and comparing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bind.instance import Instance
from ..certify.certificate import Certificate
from ..extras import require
from ..model import Term, sizes_of
from ..results.solution import Solution
from .refusals import quiet
from .translate import Translator

AGREEMENT = 1e-6
"""Relative difference of objective values that counts as agreement."""

NARROW = 1e-8
"""A certificate this narrow (relative gap) is trusted over an oracle whose own residual explains the difference."""

ACCURATE = 1e-8
"""A residual this small is an answer, whatever tolerance was asked for."""

UNCERTIFIED = ("tolerance_not_reached", "interrupted")
"""The statuses of an answer whose bounds are all that it claims."""

MISSED = 1e-8
"""The infeasibility beyond which a point proves nothing of the optimum: its value may be better than that."""

LARGEST_UNKNOWNS = 5_000_000
"""Numbers of the variables beyond which cvxpy's own matrices would not fit."""

FAR = 1e3
"""A size from which, or from the inverse of which, absolute tolerances mean another thing."""

LARGEST = 20_000_000
"""Stored numbers of data beyond which cvxpy is not asked: it would fill the memory long before it answers."""

LARGEST_CONES = 4e9
"""Bytes of the blocks of semidefinite cones beyond which Clarabel is not asked: where memory lacks, its process is aborted."""

TOO_LARGE, OUT_OF_TIME = "too large", "out of time"
"""The values of `OracleResult.status` where the oracle has not answered."""


@dataclass(frozen=True)
class OracleResult:
    """The answer of cvxpy, in the user's sense. `residual` is its own relative error: duality gap and violation of constraints."""

    value: float
    variables: Mapping[str, Any]
    residual: float
    status: str
    solver: str


@dataclass(frozen=True)
class Verdict:
    """A verdict: whether a solution and the oracle agree (None if the oracle has not answered), and a sentence why."""

    agrees: bool | None
    text: str


def solve_oracle(instance: Instance, seconds: float = math.inf) -> OracleResult:
    """Solve with cvxpy as accurately as its solvers can; the status is cvxpy's (`optimal`, `infeasible`, `unbounded`, ...).

    Its solvers get `seconds` in all. What cvxpy takes to prepare the problem for them cannot be limited: instances with more
    than `LARGEST` numbers are not tried. Their tolerances are absolute: where the first answer is far from 1 in size, the problem is
    solved again in units of that answer.
    """
    cp = require("oracle")
    unknowns = sum(math.prod(sizes_of(v.type, instance.dims)) for v in instance.model.variables)
    if sum(stats.nnz for stats in instance.stats.values()) > LARGEST or unknowns > LARGEST_UNKNOWNS:
        return OracleResult(math.nan, {}, math.inf, TOO_LARGE, "none")
    end = time.monotonic() + seconds
    first = _solve(cp, instance, end)
    sizes = {n: float(np.abs(v).max(initial=0.0)) for n, v in first.variables.items()}
    units = {n: s for n, s in sizes.items() if s > 0.0}
    # where that says nothing, 1
    size = (size_of_terms(instance, first.variables) if first.status == "optimal" else 0.0) or 1.0
    if first.status != "optimal" or all(1.0 / FAR <= s <= FAR for s in (size, *units.values())):
        return first
    again = _solve(cp, instance, end, units, size)
    return again if again.status == "optimal" else first


def _value_of(translator: Translator, term: Term) -> NDArray[np.float64]:
    """The value of a term; inf where cvxpy cannot tell it, as of the inverse of a singular matrix."""
    try:
        return np.asarray(getattr(translator.total([term]), "value", 0.0), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.array(math.inf)


def size_of_terms(instance: Instance, variables: Mapping[str, Any]) -> float:
    """The sum of the sizes of the objective's terms at a point or, where larger, at zero; terms that are not finite there count for nothing."""
    largest = 0.0
    for share in (0.0, 1.0):
        translator = Translator(instance)
        translator.put({n: share * np.asarray(v, dtype=np.float64) for n, v in variables.items()})
        # a logarithm is infinite at zero
        with np.errstate(all="ignore"):
            values = [_value_of(translator, t) for t in instance.model.terms]
        sizes = [float(np.abs(v).sum()) for v in values]
        largest = max(largest, sum(s for s in sizes if math.isfinite(s)))
    return largest


def _solve(
    cp: Any, instance: Instance, end: float, units: Mapping[str, float] | None = None, size: float = 1.0
) -> OracleResult:
    """Solve by one solver after the other until one is sure. Variables have these units, the objective that of its size."""
    translator = Translator(instance, units)
    whole = translator.problem()
    direction = type(whole.objective)
    problem = cp.Problem(direction(whole.objective.expr / size), whole.constraints) if size != 1.0 else whole
    variables = translator.variables
    best = OracleResult(math.nan, {}, math.inf, "solver_error", "none")
    for solver, attempt in _ATTEMPTS:
        left = end - time.monotonic()
        if left <= 0.0:
            return replace(best, status=OUT_OF_TIME)
        try:
            with quiet():
                own = attempt(cp, problem, left)
        except (cp.error.SolverError, ValueError, ArithmeticError):
            continue
        value = math.nan if problem.value is None else size * float(problem.value)
        found = {n: _plain_value(v.value) for n, v in variables.items() if v.value is not None}
        # Inaccurate means short of the tolerance asked for; how accurate it is, the residual says.
        status = "optimal" if problem.status == "optimal_inaccurate" and own <= ACCURATE else problem.status
        result = OracleResult(value, found, max(own, _violation(problem)), status, solver)
        if status in ("optimal", "infeasible", "unbounded"):
            return result
        if result.residual < best.residual:
            best = result
    return replace(best, status=OUT_OF_TIME) if time.monotonic() >= end else best


def compare(solution: Solution, oracle: OracleResult) -> Verdict:
    """Agreement within 1e-6 relative; or a certificate at most 1e-8 wide where the oracle's own residual explains the difference.

    An answer that is not certified claims no more than its bounds: where the oracle lies within what these leave open, nothing is contradicted.
    """
    if oracle.status == TOO_LARGE:
        return Verdict(None, "the problem is too large for cvxpy")
    if oracle.status == OUT_OF_TIME:
        return _unfinished(solution, oracle)
    if solution.status in ("infeasible", "unbounded") or oracle.status.startswith(("infeasible", "unbounded")):
        same = oracle.status.startswith(solution.status)
        says = f"{oracle.solver} says {oracle.status}, the solution says {solution.status}"
        if same or solution.status not in UNCERTIFIED:
            return Verdict(same, says)
        if _refutes(solution.certificate, oracle.status):
            return Verdict(False, f"{says}: not certified, but its point or its bound rules this out")
        return Verdict(None, f"{says}: an answer that is not certified, and does not tell")
    if not math.isfinite(oracle.value):
        return Verdict(False, f"cvxpy found no answer ({oracle.status})")
    c = solution.certificate
    scale, difference, numbers = _difference(solution, oracle)
    if difference <= AGREEMENT:
        return Verdict(True, numbers)
    if c.gap / scale <= NARROW and difference <= oracle.residual:
        return Verdict(True, f"{numbers}, explained by the residual {oracle.residual:.1e} of {oracle.solver}")
    if solution.status in UNCERTIFIED:
        low, high = sorted((c.objective, c.dual_bound))
        uncertified = f"the answer is not certified ({solution.status})"
        if low - AGREEMENT * scale <= oracle.value <= high + AGREEMENT * scale:
            return Verdict(True, f"{numbers}; {uncertified}, and its bounds [{low:.10g}, {high:.10g}] contain it")
        sense = 1.0 if c.dual_bound <= c.objective else -1.0
        better = sense * (oracle.value - c.objective)
        if better > 0.0 and (c.infeasibility > MISSED or better <= c.hidden):
            missed = f"its point misses the constraints by {c.infeasibility:.1e}, which makes it seem better than it is"
            return Verdict(None, f"{numbers}; {uncertified}: {missed}")
        return Verdict(False, f"{numbers}; {uncertified}, but its bounds [{low:.10g}, {high:.10g}] rule this out")
    return Verdict(False, numbers)


def _refutes(certificate: Certificate, says: str) -> bool:
    """True if a feasible point or a finite bound shows that a program is not infeasible, or not unbounded."""
    if says.startswith("infeasible"):
        return certificate.infeasibility <= MISSED and math.isfinite(certificate.objective)
    return math.isfinite(certificate.dual_bound)


def _unfinished(solution: Solution, oracle: OracleResult) -> Verdict:
    """The verdict on an oracle out of time: it may agree, but its disagreement says nothing."""
    if not math.isfinite(oracle.value):
        return Verdict(None, "cvxpy did not answer in its time")
    _, difference, numbers = _difference(solution, oracle)
    if difference <= AGREEMENT:
        return Verdict(True, f"{numbers}, when its time was over")
    return Verdict(None, f"cvxpy did not answer in its time; so far {numbers}")


def _difference(solution: Solution, oracle: OracleResult) -> tuple[float, float, str]:
    """The scale of the two objectives, their difference relative to it, and both in words."""
    c = solution.certificate
    scale = max(abs(c.objective), abs(oracle.value), 1e-3 * c.scale) or 1.0
    difference = abs(c.objective - oracle.value) / scale
    return (
        scale,
        difference,
        f"objective {c.objective:.10g}, {oracle.solver} {oracle.value:.10g}, relative difference {difference:.1e}",
    )


# --- solving ---------------------------------------------------------------------------------------------------------


Attempt = Callable[[Any, Any, float], float]


def _clarabel(tolerance: float) -> Attempt:
    """Solve with Clarabel; the relative duality gap and residuals that it reports itself."""

    def attempt(cp: Any, problem: Any, seconds: float) -> float:
        names = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
        options = {**dict.fromkeys(names, tolerance), "max_iter": 500, "time_limit": seconds}
        data, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts=options)
        if 8.0 * sum((0.5 * k * (k + 1)) ** 2 for k in data["dims"].psd) > LARGEST_CONES:
            raise cp.error.SolverError("its semidefinite cones do not fit into memory")
        raw = chain.solve_via_data(problem, data, solver_opts=options)
        problem.unpack_results(raw, chain, inverse)
        if problem.value is None or not math.isfinite(problem.value):
            return 0.0
        gap = abs(raw.obj_val - raw.obj_val_dual) / max(1.0, abs(raw.obj_val))
        return float(max(gap, raw.r_prim, raw.r_dual))

    return attempt


def _scs(cp: Any, problem: Any, seconds: float) -> float:
    """Solve with SCS to its tolerance, which stands for its residual."""
    limit = seconds if math.isfinite(seconds) else 0.0  # 0: none
    problem.solve(solver=cp.SCS, eps_abs=1e-9, eps_rel=1e-9, max_iters=200_000, time_limit_secs=limit)
    return 1e-9


_ATTEMPTS: tuple[tuple[str, Attempt], ...] = (
    ("CLARABEL", _clarabel(1e-11)),
    ("CLARABEL", _clarabel(1e-8)),
    ("SCS", _scs),
)


def _violation(problem: Any) -> float:
    """The largest violation of a constraint at the point found."""
    if problem.value is None or not math.isfinite(problem.value):
        return 0.0
    return max((float(np.max(c.violation(), initial=0.0)) for c in problem.constraints), default=0.0)


def _plain_value(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else np.asarray(value)
