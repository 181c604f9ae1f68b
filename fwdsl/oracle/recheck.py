"""The certificate of a solution, recomputed from its saved variables and dual point by other means than the verifier's.

The objective and the violations are cvxpy's, at the saved variables. For the dual bound, the terms f_i(A_i(x)) that have a dual vector y_i are
replaced by their affine lower bounds <y_i, A_i(x)> - f_i*(y_i); what remains is a small convex problem,

    D(y) = sum_i -f_i*(y_i) + min over |x| <= R of  sum_i <y_i, A_i(x)> + the other terms, subject to the other constraints,

which cvxpy solves. It is the best bound that y proves within the radius R, so a claimed bound above it is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..bind.instance import Instance
from ..model import ConstraintDecl, Term
from ..results.solution import Solution
from .blocks import FamilyExpression, blocks_of, flat
from .conjugates import CONJUGATES, FUNCTION_CONJUGATES, SLACK, dual_norm, loss_conjugate, of_mean, row_loss_conjugate
from .factored import recheck_factors
from .refusals import quiet
from .solve import size_of_terms
from .translate import Translator, loss_of_atom

TOLERANCE = 1e-7
"""Relative difference that rounding and cvxpy's own accuracy explain."""

INACCURATE = 1e-5
"""The same, where the solver says itself that it was not accurate."""

LEAST_SHARE = 1e-6
"""The share of a variable's largest entry that a row of a comparison counts at least as."""

INFEASIBLE = 1e-6
"""The violation relative to the sizes of a constraint's terms that contradicts a claim of feasibility."""

RADIUS_FACTOR = 1e3

SPARE = 10.0
"""The multiple of the sizes counted here that a claimed sum of sizes may be: the verifier's own counts terms in other parts."""


@dataclass(frozen=True)
class Recheck:
    """The certificate's numbers by other means, in the user's sense; `dual_bound` is nan where no dual point was saved.

    `scale` is the sum of the sizes of terms that the claim has, or what is left of it.
    """

    agrees: bool
    objective: float
    dual_bound: float
    infeasibility: float
    text: str
    scale: float = math.inf


def check_certificate(instance: Instance, solution: Solution) -> Recheck:
    """Check the objective, the bound, the gap and the violation that a solution claims.

    A saved answer may claim any sum of the sizes of its terms, beside which every difference is small: more than `SPARE` times what is counted here
    is not believed.
    """
    from ..canon import canonicalise

    form, _ = canonicalise(instance)
    if form is not None and form.dense is None and form.factored is not None:
        found = recheck_factors(instance, form.factored, solution)
        sizes = form.factored.scale + abs(found[0])
        return _judged(instance, _believed(solution, lambda: sizes), *found)
    translator = Translator(instance)
    values = {n: np.asarray(v, dtype=np.float64) for n, v in solution.variables.items()}
    placed = {n: translator.coordinates(n, values[n]) for n in translator.variables}
    translator.put(placed)
    problem = translator.problem()
    objective = float(problem.objective.value)
    missed = [_share(_missed(translator, c), _terms(translator, c)) for c in instance.model.constraints]
    missed += [_share(_violation(c), float(np.abs(c.args[0].value).sum())) for c in translator.domains()]
    infeasibility = max(missed, default=0.0)
    solution = _believed(solution, lambda: size_of_terms(instance, placed), lambda: _balanced(instance, solution))
    return _judged(instance, solution, objective, infeasibility, dual_bound(instance, solution))


def _believed(solution: Solution, *sizes: Callable[[], float]) -> Solution:
    """The solution with no larger sum of sizes than these explain; the later ones are counted only where the first are too small."""
    claimed, counted = solution.certificate.scale, 0.0
    for size in sizes:
        if not claimed <= SPARE * counted:
            counted += size()
    scale = min(claimed, SPARE * counted)
    return replace(solution, certificate=replace(solution.certificate, scale=scale))


def _balanced(instance: Instance, solution: Solution) -> float:
    """The sum of |y_i|' (|J_i| |x| + |b_i|) over the saved dual point; 0 where there is none whose parts are known."""
    lagrangian = _lagrangian(instance, solution)
    return 0.0 if lagrangian is None else lagrangian.balanced()


def _judged(instance: Instance, solution: Solution, objective: float, infeasibility: float, bound: float) -> Recheck:
    """The verdict on the claims of a solution."""
    c = solution.certificate
    scale = max(abs(objective), abs(c.dual_bound) if math.isfinite(c.dual_bound) else 0.0, 1e-3 * c.scale)
    findings = []
    if abs(objective - c.objective) > TOLERANCE * scale:
        findings.append(f"the objective at the solution is {objective:.10g}, not {c.objective:.10g}")
    if infeasibility > INFEASIBLE and c.infeasibility <= 1e-7:
        findings.append(f"a constraint is missed by {infeasibility:.1e}")
    sense = 1.0 if instance.model.sense == "minimize" else -1.0
    if math.isfinite(c.dual_bound) and not math.isnan(bound) and sense * (c.dual_bound - bound) > TOLERANCE * scale:
        findings.append(f"the dual point proves {bound:.10g}, not {c.dual_bound:.10g}")
    if math.isfinite(c.objective):
        apart = abs(c.objective - c.dual_bound) if math.isfinite(c.dual_bound) else math.inf
        least = apart - TOLERANCE * scale
        if c.gap < least or (least > 0.0 and c.relative_gap < least / scale):
            findings.append(f"objective and bound are {apart:.3g} apart, a relative {apart / scale:.3g}")
    text = (
        "; ".join(findings)
        or f"objective {objective:.10g}, dual point proves {_told(bound)}, violation {infeasibility:.1e}"
    )
    return Recheck(not findings, objective, bound, infeasibility, text, c.scale)


def _told(bound: float) -> str:
    return "a bound that cvxpy cannot tell" if math.isnan(bound) else f"{bound:.10g}"


def _violation(constraint: Any) -> float:
    return float(np.max(constraint.violation(), initial=0.0))


def _share(violation: float, size: float) -> float:
    """Relative to the size; violations of no size are none."""
    return violation / size if violation > 0.0 and size > 0.0 else (math.inf if violation > 0.0 else 0.0)


def _terms(translator: Translator, constraint: ConstraintDecl) -> float:
    """The sum of the sizes of the terms of a constraint's argument.

    A row of a comparison counts at least as `LEAST_SHARE` of |J| times the largest entry of each variable, as in the verifier's measure.
    """
    total = 0.0
    for block in blocks_of(_expression(translator.cp, translator.expr(constraint.argument))):
        sizes, least = _sizes(block)
        floor = LEAST_SHARE * least if constraint.set is None else 0.0
        total += float(np.maximum(sizes, floor).sum())
    return total


def _sizes(e: Any) -> tuple[Any, Any]:
    """|J| |x| and the size of the constant that is left, of each entry of an affine expression; |J| times the largest entry of each variable."""
    value = np.asarray(e.value, dtype=np.float64).reshape(-1, order="F")
    rest, sizes, least = value, np.zeros_like(value), np.zeros_like(value)
    for variable, J in e.grad.items():
        x = np.asarray(variable.value, dtype=np.float64).reshape(-1, order="F")
        # of one number by one number it is a number
        J = J if np.ndim(J) else np.reshape(J, (1, 1))
        rest = rest - np.asarray(J.T @ x).reshape(-1)
        sizes = sizes + np.asarray(abs(J).T @ np.abs(x)).reshape(-1)
        least = least + np.asarray(abs(J).T @ np.full(x.size, np.abs(x).max(initial=0.0))).reshape(-1)
    return sizes + np.abs(rest), least


def _missed(translator: Translator, constraint: ConstraintDecl) -> float:
    """The amount by which a constraint is missed; where cvxpy says the set with variables of its own (a polytope's weights), the distance from it."""
    parts = translator.constraint(constraint)
    if all(v.value is not None for part in parts for v in part.variables()):
        return max((_violation(part) for part in parts), default=0.0)
    assert constraint.set is not None
    cp, far = translator.cp, 0.0
    for block in blocks_of(_expression(cp, translator.expr(constraint.argument))):
        # relative to its own size, as the claim is
        size = float(np.abs(block.value).max(initial=0.0)) or 1.0
        z = cp.Variable(block.shape)
        distance = cp.norm(cp.vec(z - block.value / size, order="C"), 2)
        far = max(far, size * _minimum(translator, distance, translator.member(size * z, constraint.set)))
    return far


def dual_bound(instance: Instance, solution: Solution) -> float:
    """The best bound that the saved dual point proves, in the user's sense; nan where none was saved or it cannot be told."""
    lagrangian = _lagrangian(instance, solution)
    return math.nan if lagrangian is None else lagrangian.bound()


def _lagrangian(instance: Instance, solution: Solution) -> _Lagrangian | None:
    """The problem of the saved dual point; None where none was saved or whose parts these are is not known."""
    from ..canon import canonicalise
    from ..canon.parts import SumTerm

    canonical, _ = canonicalise(instance)
    saved = solution.record.get("dual_point")
    if canonical is None or saved is None or len(saved) != len(canonical.terms):
        return None
    # Only the order of the dual point is the canonical form's: which term or constraint of the model each part belongs to.
    places = [(t.is_constraint, t.origin) for t in canonical.terms]
    pairs = zip(canonical.terms, saved, strict=True)
    written = [t.as_written(np.asarray(y)) if isinstance(t, SumTerm) else y for t, y in pairs]
    return _Lagrangian(instance, places, written, solution)


class _Lagrangian:
    def __init__(
        self, instance: Instance, places: Sequence[tuple[bool, int]], ys: Sequence[Any], solution: Solution
    ) -> None:
        self.instance = instance
        self.model = instance.model
        self.sense = 1.0 if self.model.sense == "minimize" else -1.0
        plain = Translator(instance)
        self.values = {n: plain.coordinates(n, np.asarray(v)) for n, v in solution.variables.items()}
        units = {n: float(np.abs(v).max(initial=0.0)) for n, v in self.values.items()}
        self.translator = Translator(instance, {n: unit for n, unit in units.items() if unit > 0.0})
        self.places = places
        self.ys = [np.asarray(y, dtype=np.float64) for y in ys]
        self.claimed = solution.certificate
        size = math.sqrt(sum(float(np.sum(np.square(v))) for v in self.values.values()))
        self.radius = solution.certificate.radius or RADIUS_FACTOR * (size or 1.0)

    def balanced(self) -> float:
        """A bound of the sum of |y_i|' (|J_i| |x| + |b_i|): rows of some terms stand in another order here."""
        plain = Translator(self.instance)
        plain.put(self.values)
        total = 0.0
        for (is_constraint, k), y in zip(self.places, self.ys, strict=True):
            e = self._argument(self.model.constraints[k] if is_constraint else self.model.terms[k], plain)
            largest = max((float(_sizes(block)[0].max(initial=0.0)) for block in blocks_of(e)), default=0.0)
            total += float(np.abs(y).sum()) * largest
        return total

    def bound(self) -> float:
        cp, translator = self.translator.cp, self.translator
        taken = set(self.places)
        constant, linear = 0.0, 0.0
        if len(taken) < len(self.places):
            return math.nan  # a term in parts (overlapping groups): whose dual vectors these are cannot be told here
        for (is_constraint, k), y in zip(self.places, self.ys, strict=True):
            part = self.model.constraints[k] if is_constraint else self.model.terms[k]
            e = self._argument(part, translator)
            if e.size != y.size:
                return math.nan  # the dual vector of a factor of the term (`quad_form`), which is not saved
            y = y.reshape(e.shape)
            for block in y if isinstance(e, FamilyExpression) else (y,):  # of a family the blocks stand for themselves
                constant -= (
                    self._support(part, block) if isinstance(part, ConstraintDecl) else self._conjugate(part, block)
                )
            linear = linear + y.reshape(-1) @ flat(cp, e)
        if not math.isfinite(constant):
            # +-inf, or nan where a part could not be told
            return self.sense * constant
        rest = translator.total(t for k, t in enumerate(self.model.terms) if (False, k) not in taken)
        # of a birkhoff polytope only the columns are taken out
        kept = [c for k, c in enumerate(self.model.constraints) if (True, k) not in taken or _is(c, "birkhoff")]
        constraints = [made for c in kept for made in translator.constraint(c)] + translator.domains()
        constraints += [cp.norm(flat(cp, v) / self.radius, 2) <= 1.0 for v in translator.variables.values()]
        if "any better" in self.claimed.statement and self.claimed.infeasibility == 0.0:
            # the claim rests on what a point must satisfy to be better than the answer: so may the check
            better = self.sense * translator.total(self.model.terms)
            value = self.sense * self.claimed.objective
            constraints.append(better <= value + TOLERANCE * max(abs(value), 1e-3 * self.claimed.scale))
        least, sure = _solved(translator, linear + self.sense * rest, constraints, self._size())
        value = self.sense * (constant + least)
        short = self.sense * (self.claimed.dual_bound - value) / self._size()
        # nothing is unbounded within a radius: what says so has failed; and what the solver does not stand by refutes no small difference
        failed = not math.isfinite(least) or (not sure and TOLERANCE < short <= INACCURATE)
        return math.nan if failed else value

    def _size(self) -> float:
        """The size of the numbers of the objective."""
        return max(abs(self.claimed.objective), 1e-3 * self.claimed.scale) or 1.0

    def _argument(self, part: Term | ConstraintDecl, translator: Translator) -> Any:
        """The expression that a dual vector belongs to: the argument, or its image under an affine set or halfspace."""
        cp = translator.cp
        e = _expression(cp, translator.expr(part.argument))
        if isinstance(part, ConstraintDecl) and (_is(part, "affine") or _is(part, "halfspace")):
            assert part.set is not None
            given = dict(part.set.args)
            rows, rhs = ("A", "b") if part.set.name == "affine" else ("a", "b")
            row, b = translator.expr(given[rows]), translator.expr(given[rhs])
            if isinstance(e, FamilyExpression):
                return e.each(lambda x: _expression(cp, row @ x - b))
            return _expression(cp, row @ e - b)
        return e

    def _conjugate(self, term: Term, y: Any) -> float:
        """f*(y) of f = c * reduce(weights * atom(., target)), in the sense of `minimize`."""
        c = self.sense * self.translator.number(term.coefficient)
        if term.kind == "loss":
            return self._loss_conjugate(term, c, y)
        if term.atom == "quad_over_lin":
            length = float(np.linalg.norm(y[1:]))
            return 0.0 if y[0] + length * length / (4.0 * c) <= SLACK * max(abs(float(y[0])), c) else math.inf
        if term.atom == "sum_squares":
            return float(np.square(y).sum()) / (4.0 * c)
        if term.atom in FUNCTION_CONJUGATES:
            p = {n: self.translator.number(e) for n, e in term.options}
            of = FUNCTION_CONJUGATES[term.atom]
            weights = np.ones(len(y)) if term.weights is None else self.translator.expr(term.weights)
            return sum(of(row, c * w, p) for row, w in zip(y, weights, strict=True)) if term.of_rows else of(y, c, p)
        if term.atom == "geo_mean":
            given = dict(term.options)
            weights = np.asarray(self.translator.expr(given["weights"])) if given else np.ones(y.size)
            return of_mean(y, c, weights.reshape(-1) / weights.sum())
        if term.atom == "group_norm":
            return self._group_conjugate(term, c, y)
        if term.atom == "sorted_l1":
            most = np.cumsum(np.asarray(self.translator.expr(dict(term.options)["lambdas"]), dtype=np.float64))
            return 0.0 if np.all(np.cumsum(np.sort(np.abs(y))[::-1]) <= c * most * (1.0 + SLACK)) else math.inf
        return 0.0 if dual_norm(term.atom, y) <= c * (1.0 + SLACK) else math.inf

    def _loss_conjugate(self, term: Term, c: float, y: Any) -> float:
        samples = y.shape[0] if y.ndim else 1
        w = np.full(samples, c / samples if term.reduce == "mean" else c)
        if term.weights is not None:
            own = np.asarray(self.translator.expr(term.weights), dtype=np.float64)
            if own.ndim == 2:
                # a sample an entry
                samples, y, w = y.size, y.reshape(-1), np.repeat(w, own.shape[1])
            w = w * own.reshape(-1)
        target = np.asarray(self.translator.expr(term.target) if term.target is not None else 0.0)
        # a row a sample, of one column where it has one prediction
        y = y.reshape(samples, -1)
        live = w > 0.0
        if np.any(np.abs(y[~live]) > SLACK):
            return math.inf
        u = y[live] / w[live, None]
        if term.atom in ("softmax", "multiclass_hinge", "weston_watkins"):
            return float(w[live] @ row_loss_conjugate(term.atom, u, target[live].astype(np.int64)))
        b = np.broadcast_to(target.astype(np.float64).reshape((samples, -1) if target.ndim else (1, 1)), y.shape)
        options = {name: self.translator.number(e) for name, e in term.options}
        if term.atom not in CONJUGATES:
            return self._numeric_conjugate(term.atom, w[live, None], u, b[live], options)
        return float((w[live, None] * loss_conjugate(term.atom, u, b[live], options)).sum())

    def _numeric_conjugate(self, name: str, w: Any, u: Any, b: Any, options: dict[str, float]) -> float:
        """sup over z of sum w (u z - l(z; b)), of a loss from outside."""
        cp = self.translator.cp
        z = cp.Variable(u.shape)
        below = cp.multiply(w, loss_of_atom(name, z, b, options) - cp.multiply(u, z))
        return -_minimum(self.translator, cp.sum(below), [], self._size())

    def _group_conjugate(self, term: Term, c: float, y: Any) -> float:
        """0 where the norm of each group is at most its weight times c."""
        given = dict(term.options)
        groups = self.translator.groups(given["groups"])
        weights = self.translator.expr(given["weights"]) if "weights" in given else np.ones(len(groups))
        fits = all(np.linalg.norm(y[g]) <= c * w * (1.0 + SLACK) for g, w in zip(groups, weights, strict=True))
        return 0.0 if fits else math.inf

    def _support(self, constraint: ConstraintDecl, y: Any) -> float:
        """sup of <y, z> over the set of z that a constraint allows for its argument."""
        if constraint.relation == "below":
            return self._of_epigraph(constraint, y)
        if constraint.relation == "eq" or _is(constraint, "affine"):
            return 0.0
        size = float(np.abs(y).max(initial=0.0))
        if constraint.relation == "le" or _is(constraint, "halfspace"):
            return 0.0 if np.all(y >= -SLACK * size) else math.inf
        assert constraint.set is not None
        cp = self.translator.cp
        if constraint.set.name == "birkhoff":
            return float(y.max(axis=0).sum())
        type_ = constraint.argument.type
        symmetric = type_.block.kind in ("symmetric", "psd")
        z = cp.Variable(y.shape, symmetric=True) if symmetric else cp.Variable(y.shape)
        if size == 0.0:
            return 0.0
        objective = -cp.sum(cp.multiply(y / size, z))
        return -size * _minimum(self.translator, objective, self.translator.member(z, constraint.set))

    def _of_epigraph(self, constraint: ConstraintDecl, y: Any) -> float:
        """sup of <y, z> over the stacks z of bounds and arguments that convex terms below a bound allow; nan where y is of a factor of them."""
        bound, terms = constraint.below
        if any(t.kind == "function" and (t.convex is not None and t.convex.root_of) for t in terms):
            return math.nan
        size = float(np.abs(y).max(initial=0.0))
        if size == 0.0:
            return 0.0
        z = self.translator.cp.Variable(y.size)
        sizes = [self.translator.expr(e) for e in (bound, *(t.argument for t in terms))]
        parts, start = [], 0
        for own in sizes:
            shape = np.shape(own) if not hasattr(own, "shape") else own.shape
            count = math.prod(shape)
            cut = z[start : start + count]
            parts.append(self.translator.cp.reshape(cut, shape, order="C") if len(shape) != 1 else cut)
            start += count
        made = self.translator.below(terms, parts[1:]) <= parts[0]
        return -size * _minimum(self.translator, -(y / size) @ z, [made])


def _is(constraint: ConstraintDecl, name: str) -> bool:
    return constraint.set is not None and constraint.set.name == name


def _minimum(translator: Translator, objective: Any, constraints: list[Any], size: float = 1.0) -> float:
    """The least value of an objective of about a given size, as accurately as Clarabel finds it; -inf where there is none, nan where it fails."""
    return _solved(translator, objective, constraints, size)[0]


def _solved(translator: Translator, objective: Any, constraints: list[Any], size: float) -> tuple[float, bool]:
    """`_minimum`, and whether the solver stands by it: its tolerances are absolute, so it is given an objective of about 1."""
    problem = translator.optimum("minimize", _expression(translator.cp, objective) / size, constraints)
    try:
        with quiet():
            problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    except translator.cp.error.SolverError:
        return math.nan, False
    value = float(problem.value) * size if problem.value is not None else -math.inf
    return value, problem.status == "optimal"


def _expression(cp: Any, value: Any) -> Any:
    return value if hasattr(value, "is_affine") or isinstance(value, FamilyExpression) else cp.Constant(value)
