"""Newton's method for smooth losses of free variables, for the planner: what it applies to and what it costs. `newton` has the steps."""

from __future__ import annotations

from types import MappingProxyType

from fwdsl.atoms.base import Array
from fwdsl.atoms.losses import LOSSES, smoothness
from fwdsl.atoms.vectors.ridge import Ridged
from fwdsl.backends.costs import is_quadratic
from fwdsl.backends.method import Estimate, Method, State
from fwdsl.backends.option import Option
from fwdsl.backends.smooth import costs
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.canon.forms import Form
from fwdsl.light_dataclass import light_state
from fwdsl.readers.row_blocks import is_on_disk

SOON = 64
"""Equalities up to which a repair of a candidate takes no longer than a step."""


@light_state
class NewtonState(State):
    """The state of a run of `newton`."""

    x: Array  # the iterate
    zs: list[Array]  # its predictions K x + b
    ys: list[Array]  # f'(z)
    grad: Array  # of P
    value: float  # P(x)
    best_bound: float  # the best bound so far
    dual: list[Array]  # its dual point
    guessed: bool  # that is the gradient at x, which may miss equalities
    late: bool  # the gradient is that of an earlier point yet: the bound is near enough
    first: float  # the gradient's measure at the start
    bend: float  # the mean f'' of the last step, by weights
    hs: list[Array]  # f'' of the last model; none before
    gram: Array  # K'diag(f'') K of losses with quadratic pieces; empty before
    gram_of: list[Array]  # the f'' that it has
    factored: bool  # the Hessian with these has been factored
    single: bool  # in single precision
    decrement: float  # -<grad, d> of the last step
    length: float  # of the last step, 1 where it went to the minimum of its model
    direction: Array  # the next one of conjugate gradients on a quadratic; empty before
    floor: float  # the share of the largest f'' that losses with linear pieces have at least
    still: int  # steps in a row without any gain
    products: int  # with the Hessian, by conjugate gradients
    blocks_of: Array  # the f'' of which the preconditioner's blocks of columns were formed; empty before
    fresh: int  # products of the first whole step with these blocks; 0 before
    spent: int  # products since they were formed beyond `fresh` in each step
    phase: str = "Newton"  # of the last step


def not_smooth(arrangement: Arrangement) -> list[str]:
    """The reasons why the sum is none of smooth losses; empty where it is one."""
    found = [] if arrangement.sums else ["the objective has no loss"]
    for term in arrangement.sums:
        if term.kind != "loss":
            found.append(f"`{term.text}` is not smooth")
        elif smoothness(term.atom) is None:
            found.append(f"`{term.text}` is not differentiable")
    return found


class Newton(Method):
    """Newton's method by Cholesky factors or conjugate gradients (option `system`)."""

    name = "newton"
    title = "Newton's method, by Cholesky factors or truncated conjugate gradients"
    source = "Dembo, Steihaug 1983; Lin, Weng, Keerthi 2008; Keerthi, DeCoste 2005"
    most_iterations = 5_000
    runs_in = "fwdsl.backends.smooth.newton"
    streams = True
    on_host = ""
    options = MappingProxyType(
        {
            "system": Option(
                None,
                "what is factored: the Hessian, a matrix over the rows, the Hessian's blocks of the classes, anew in each step, or nothing",
                kind=str,
                choices=("primal", "dual", "blocks", "cg"),
            )
        }
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Smooth losses, and no norm or set."""
        found = not_smooth(arrangement)
        found += [f"{b.name} is in {b.set}" for b in arrangement.blocks if b.set is not None]
        found += [f"{b.name} has {b.norm}" for b in arrangement.blocks if b.norm is not None]
        return tuple(found)

    @classmethod
    def settles(cls, arrangement: Arrangement, form: Form | None) -> str:
        """The reason is that its variables are written down: nothing beats it by much, and conditioning, which slows others, is not known before.

        The factor of a Gram matrix, in whose coordinates it would work, costs more than methods on rows of that matrix take. Where curvatures jump
        (squared hinges) steps are more, and methods of the dual fast: predicted times decide.
        """
        if form is not None and form.at_hand("dense") is None:
            return ""
        losses = [LOSSES[t.atom] for t in arrangement.sums if t.atom in LOSSES]
        if any(loss.piecewise_quadratic and not loss.quadratic for loss in losses):
            return ""
        return "smooth losses of free variables: a few Newton steps, whatever the conditioning"

    @classmethod
    def requires_values(cls, form: Canonical) -> tuple[str, ...]:
        """Data whose columns are at hand, where it is rows that are few."""
        if any(map(is_on_disk, form.instance.values.values())) and costs.needs_columns(form):
            return ("its system over the rows takes columns of data, which are not at hand",)
        return ()

    @classmethod
    def requires_options(cls, form: Canonical, options: object) -> tuple[str, ...]:
        """A system that the problem has."""
        kind = options.get("system") if isinstance(options, dict | MappingProxyType) else None
        if kind == "dual" and any(map(is_on_disk, form.instance.values.values())):
            return ("its system over the rows takes columns of data, which are not at hand",)
        if kind is None or costs.able(form, kind):
            return ()
        return (f"the problem has no {kind} system that can be formed",)

    @classmethod
    def outruns_repairs(cls, form: Canonical) -> int:
        """Two, where a repair has many equalities to meet, those of unknowns without a ridge: a step costs no more than a round of it, and squares
        what is missed. A quadratic is done with its first step."""
        equalities = sum(b.size for b in form.blocks if not isinstance(b.g, Ridged))
        return 2 if equalities > SOON and not is_quadratic(form) else 0

    @classmethod
    def is_unrivalled(cls, canonical: Canonical) -> bool:
        """True on a quadratic: no other method gets as far with as many products as conjugate gradients, and a factor ends it at once."""
        return is_quadratic(canonical)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """A few Newton steps, each with its system."""
        return costs.estimate(canonical, tol)
