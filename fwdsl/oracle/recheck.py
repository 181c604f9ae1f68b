"""The certificate of a solution, recomputed from its saved variables and dual point by other means than the verifier's.

The objective and the violations are cvxpy's, at the saved variables. For the dual bound, the terms f_i(A_i(x)) that have a dual vector y_i are
replaced by their affine lower bounds <y_i, A_i(x)> - f_i*(y_i); what remains is a small convex problem,

    D(y) = sum_i -f_i*(y_i) + min over |x| <= R of  sum_i <y_i, A_i(x)> + the other terms, subject to the other constraints,

which cvxpy solves. It is the best bound that y proves within the radius R, so a claimed bound above it is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..instance import Instance
from ..model import Constraint, Term
from ..solution import Solution
from .conjugates import SLACK, dual_norm, loss_conjugate
from .require import quiet
from .translate import Translator

TOLERANCE = 1e-7
"""Relative difference that rounding and cvxpy's own accuracy explain."""

RADIUS_FACTOR = 1e3


@dataclass(frozen=True)
class Recheck:
    """The certificate's numbers by other means, in the user's sense; `dual_bound` is nan where no dual point was saved."""

    agrees: bool
    objective: float
    dual_bound: float
    infeasibility: float
    text: str


def check_certificate(instance: Instance, solution: Solution) -> Recheck:
    """Whether the objective, the bound and the violation that a solution claims hold."""
    translator = Translator(instance)
    for name, variable in translator.variables.items():
        variable.value = np.asarray(solution.variables[name], dtype=np.float64)
    problem = translator.problem()
    objective = float(problem.objective.value)
    infeasibility = max((float(np.max(c.violation(), initial=0.0)) for c in problem.constraints), default=0.0)
    c = solution.certificate
    scale = max(abs(objective), abs(c.dual_bound) if math.isfinite(c.dual_bound) else 0.0, 1e-3 * c.scale)
    findings = []
    if abs(objective - c.objective) > TOLERANCE * scale:
        findings.append(f"the objective at the solution is {objective:.10g}, not {c.objective:.10g}")
    if infeasibility > 1e-6 * (1.0 + scale) and c.infeasibility <= 1e-7:
        findings.append(f"a constraint is missed by {infeasibility:.1e}")
    bound = dual_bound(instance, solution)
    sense = 1.0 if instance.model.sense == "minimize" else -1.0
    if math.isfinite(c.dual_bound) and not math.isnan(bound) and sense * (c.dual_bound - bound) > TOLERANCE * scale:
        findings.append(f"the dual point proves {bound:.10g}, not {c.dual_bound:.10g}")
    text = (
        "; ".join(findings)
        or f"objective {objective:.10g}, dual point proves {bound:.10g}, violation {infeasibility:.1e}"
    )
    return Recheck(not findings, objective, bound, infeasibility, text)


def dual_bound(instance: Instance, solution: Solution) -> float:
    """The best bound that the saved dual point proves, in the user's sense; nan where none was saved or it cannot be told."""
    from ..canon import canonicalise

    canonical, _ = canonicalise(instance)
    saved = solution.record.get("dual_point")
    if canonical is None or saved is None or len(saved) != len(canonical.terms):
        return math.nan
    # Only the order of the dual point is the canonical form's: which term or constraint of the model each part belongs to.
    places = [(t.is_constraint, t.origin) for t in canonical.terms]
    return _Lagrangian(instance, places, saved, solution).bound()


class _Lagrangian:
    def __init__(
        self, instance: Instance, places: Sequence[tuple[bool, int]], ys: Sequence[Any], solution: Solution
    ) -> None:
        self.instance = instance
        self.model = instance.model
        self.sense = 1.0 if self.model.sense == "minimize" else -1.0
        self.translator = Translator(instance)
        self.places = places
        self.ys = [np.asarray(y, dtype=np.float64) for y in ys]
        self.claimed = solution.certificate
        size = math.sqrt(sum(float(np.sum(np.square(v))) for v in solution.variables.values()))
        self.radius = solution.certificate.radius or RADIUS_FACTOR * max(1.0, size)

    def bound(self) -> float:
        cp, translator = self.translator.cp, self.translator
        taken = set(self.places)
        constant, linear = 0.0, 0.0
        for (is_constraint, k), y in zip(self.places, self.ys, strict=True):
            if is_constraint:
                constraint = self.model.constraints[k]
                constant -= self._support(constraint, y)
                argument = constraint.argument
            else:
                constant -= self._conjugate(self.model.terms[k], y)
                argument = self.model.terms[k].argument
            linear = linear + y @ cp.vec(_expression(cp, translator.expr(argument)), order="C")
        if not math.isfinite(constant):
            return self.sense * constant
        rest = translator.total(t for k, t in enumerate(self.model.terms) if (False, k) not in taken)
        kept = [c for k, c in enumerate(self.model.constraints) if (True, k) not in taken]
        constraints = [made for c in kept for made in translator.constraint(c)] + translator.domains()
        constraints += [cp.norm(cp.vec(v, order="C"), 2) <= self.radius for v in translator.variables.values()]
        if "any better" in self.claimed.statement and self.claimed.infeasibility == 0.0:
            # the claim rests on what a point must satisfy to be better than the answer: so may the check
            better = self.sense * translator.total(self.model.terms)
            value = self.sense * self.claimed.objective
            constraints.append(better <= value + TOLERANCE * max(abs(value), 1e-3 * self.claimed.scale))
        return self.sense * (constant + _minimum(translator, linear + self.sense * rest, constraints))

    def _conjugate(self, term: Term, y: Any) -> float:
        """f*(y) of f = c * reduce(weights * atom(., target)), in the sense of `minimize`."""
        c = self.sense * self.translator.number(term.coefficient)
        if term.kind == "loss":
            size = y.size
            w = np.full(size, c / size if term.reduce == "mean" else c)
            if term.weights is not None:
                w = w * np.asarray(self.translator.expr(term.weights), dtype=np.float64)
            assert term.target is not None
            b = np.broadcast_to(np.asarray(self.translator.expr(term.target), dtype=np.float64), y.shape)
            live = w > 0.0
            if np.any(np.abs(y[~live]) > SLACK):
                return math.inf
            options = {name: self.translator.number(e) for name, e in term.options}
            return float(w[live] @ loss_conjugate(term.atom, y[live] / w[live], b[live], options))
        if term.atom == "sum_squares":
            return float(y @ y) / (4.0 * c)
        return 0.0 if dual_norm(term.atom, y) <= c * (1.0 + SLACK) else math.inf

    def _support(self, constraint: Constraint, y: Any) -> float:
        """sup of <y, z> over the set of z that a constraint allows for its argument."""
        if constraint.relation == "eq":
            return 0.0
        size = float(np.abs(y).max(initial=0.0))
        if constraint.relation == "le":
            return 0.0 if np.all(y >= -SLACK * size) else math.inf
        assert constraint.set is not None
        z = self.translator.cp.Variable(y.shape)
        return -_minimum(self.translator, -(y @ z), self.translator.member(z, constraint.set))


def _minimum(translator: Translator, objective: Any, constraints: list[Any]) -> float:
    """The least value of an objective, as accurately as Clarabel finds it; -inf where there is none."""
    problem = translator.optimum("minimize", _expression(translator.cp, objective), constraints)
    with quiet():
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return float(problem.value) if problem.value is not None else -math.inf


def _expression(cp: Any, value: Any) -> Any:
    return value if hasattr(value, "is_affine") else cp.Constant(value)
