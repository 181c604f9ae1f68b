"""Programs whose other terms are functions of the differences of neighbours: what the method applies to and what it costs."""

from __future__ import annotations

import math

from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses import smoothness
from fwdsl.backends import costs
from fwdsl.backends.lines.state import LinesState
from fwdsl.backends.method import Estimate, Method
from fwdsl.backends.newton import MAX_DENSE
from fwdsl.backends.smooth.costs import NS_PER_CUBE, gram_seconds
from fwdsl.canon.arrange import Arrangement, SumPlan
from fwdsl.canon.form import Canonical
from fwdsl.words import CONVEX, SETS

__all__ = ["LinesMethod", "LinesState"]

NS_PER_ENTRY = 120.0
"""A prox along a line, an entry; measured on 100,000 and 1,000,000."""

MODELS = 8.0
"""Quadratic models of a loss of the entries themselves until its optimum to 1e-6, measured on logistic, huber and Poisson losses."""

ORDERED = 6.0
"""Iterations through data until an order of the entries is found: few levels stay, and Newton's steps on them finish."""

JUMPS = 4.0
"""Iterations through data until the jumps of a total variation are found, over the root of its steps."""

TRIED, APART = 0.5, 0.5
"""The share of iterations that try a Newton step on the levels, and the share of entries that have a level of their own; these and the two above
were measured on 12 to 400 steps under five losses, and on the problems of `benchmarks/calibration`."""


def _may_be_of_steps(term: SumPlan) -> bool:
    """True if a term is a sum of sizes, or has bounds that may be 0."""
    norm, on = CONVEX.get(term.atom), SETS.get(term.atom)
    return (norm is not None and norm.adds_sizes) or (on is not None and on.bounds and not on.scaled)


class LinesMethod(Method):
    """Exact proxes along lines: of the total variation, of the fused lasso and of orders of the entries."""

    name = "lines"
    title = "exact proxes along lines (total variation, fused lasso, orders): one prox, prox-Newton, or accelerated gradient with Newton steps"
    source = "Johnson 2013; Friedman, Hastie, Hoefling, Tibshirani 2007; Beck, Teboulle 2009"
    most_iterations = 20_000
    runs_in = "fwdsl.backends.lines.run"

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Smooth losses, and terms that may be of differences: their numbers tell."""
        reasons, may = [], False
        for term in arrangement.sums:
            if term.kind == "loss":
                if smoothness(term.atom) is None:
                    reasons.append(f"`{term.text}` is not differentiable")
            elif term.bare is not None or not _may_be_of_steps(term):
                reasons.append(f"`{term.text}` is no `norm1` and no bound of differences of neighbours")
            else:
                may = True
        return tuple(reasons) or (() if may else ("no term is of the differences of neighbours",))

    @classmethod
    def requires_values(cls, form: Canonical) -> tuple[str, ...]:
        """Terms that are of the differences of neighbours along the lines of a variable."""
        why = form.chains[1]
        return (why,) if why else ()

    @classmethod
    def settles(cls, arrangement: Arrangement, form: Canonical | None) -> str:
        """One prox is the answer where the loss is of squares of the variable itself."""
        from fwdsl.backends.lines.parts import is_one_prox

        if form is None or not is_one_prox(form):
            return ""
        return f"one prox along the lines is exact: {cls._words(form)}"

    @classmethod
    def is_unrivalled(cls, form: Canonical) -> bool:
        """True where one prox is the answer: nobody asks what another method would take beside it."""
        from fwdsl.backends.lines.parts import is_one_prox

        return is_one_prox(form)

    @classmethod
    def _words(cls, form: Canonical) -> str:
        return "; ".join(c.describe(form.blocks[c.block].name) for c in form.chains[0])

    @classmethod
    def estimate(cls, form: Canonical, tol: float) -> Estimate:
        """One prox for squares, some for other losses of the entries themselves, else as many as `apg` takes, and Newton steps on the levels."""
        from fwdsl.backends.lines.parts import is_of_entries, is_one_prox

        digits = max(1.0, -math.log10(tol)) / 6.0
        entries = sum(form.blocks[c.block].size for c in form.chains[0])
        tries = 0.0
        if is_of_entries(form):
            steps = 1.0 if is_one_prox(form) else MODELS * digits
            why = "one prox is the answer" if steps == 1.0 else f"about {steps:.0f} quadratic models, a prox each"
        else:
            chains = form.chains[0]
            jumps = sum(c.jumps for c in chains)
            found = JUMPS * math.sqrt(jumps) if jumps else ORDERED
            if any(b.g.curvature > 0.0 for b in form.blocks):
                found = min(found, 4.0 * math.sqrt(costs.condition(form)))
            steps = found * digits + 4.0
            levels = min(APART * (entries - sum(c.joined for c in chains)), MAX_DENSE)
            pairs, cubes = (levels / form.size) ** 2 * gram_seconds(form), 1e-9 * NS_PER_CUBE * levels**3
            tries = TRIED * steps * (pairs + cubes)
            why = f"about {steps:.0f} iterations of one A x, one A'y and a prox until Newton steps on the levels finish"
        losses = [t for t in form.terms if isinstance(t.f, LossFunction)]
        passes = 1.8 * steps * sum(t.map.nnz for t in losses) / form.nnz
        spent = costs.seconds(form, passes, steps) + steps * 2e-9 * NS_PER_ENTRY * entries + tries
        return Estimate(passes, spent, costs.memory(form, 20, 7), f"{cls._words(form)}; {why}")
