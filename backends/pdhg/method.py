"""The general method for the planner: what it applies to and what it costs. `pdhg` has the steps."""

from __future__ import annotations

import math
from types import MappingProxyType

from fwdsl.atoms.base import Array
from fwdsl.backends.method import Estimate, Method, State
from fwdsl.backends.option import Option
from fwdsl.backends.pdhg import costs
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.canon.forms import Form
from fwdsl.light_dataclass import light_state

FIRST_LEAP = 200
"""Iterations before large proximal steps are tried."""

DELTA, LEAST_DELTA, MOST_DELTA = 1e-2, 1e-6, 0.1
"""The metric of a large step over that of an ordinary one: at the start, and its range."""


@light_state
class PDHGState(State):
    """The state of a run of `pdhg`; T is one step of primal-dual hybrid gradient."""

    x: Array  # (n,), x of the Halpern point z = (x, y), in the units of x
    ys: list[Array]  # its y, an array of m_i multipliers for each term
    kx: list[Array]  # K x of each term, without the offsets
    kty: Array  # (n,), K'y
    x_anchor: Array  # (n,), x of the anchor z_0, where the last restart was
    ys_anchor: list[Array]  # its y
    kx_anchor: list[Array]  # its K x
    kty_anchor: Array  # (n,), its K'y
    x_hat: Array  # (n,), x of T(z) of the last step
    ys_hat: list[Array]  # its y
    kx_hat: list[Array]  # its K x
    kty_hat: Array  # (n,), its K'y
    column_scale: Array  # (n,), t, the scales of the columns
    row_scale: list[Array]  # s, the scales of the m_i rows of each term
    eta: float  # the step: tau = eta t^2 / omega, sigma = eta omega s^2
    omega: float  # the primal weight
    omega_first: float  # the one made of the data's sizes
    inner: int = 0  # steps since the last restart
    residual_start: float = math.inf  # the fixed-point residual of the first step after it
    residual_last: float = math.inf  # that of the last step
    restarts: int = 0  # restarts so far
    objective: float = math.inf  # P at the last measurement
    bound: float = -math.inf  # D there
    infeasibility: float = math.inf  # the largest relative violation there
    hidden: float = 0.0  # how much of P it may hide
    diverged: bool = False  # the iterates have left for infinity
    next_leap: int = FIRST_LEAP  # the iteration of the next large proximal steps
    delta: float = DELTA  # the metric of a large step over that of an ordinary one


class PDHG(Method):
    """Restarted primal-dual hybrid gradient; applies to every program this version accepts."""

    name = "pdhg"
    streams = True
    on_host = ""
    title = "restarted primal-dual hybrid gradient"
    source = "Chambolle, Pock 2011; Applegate et al. 2021; Lu, Yang 2024"
    most_iterations = 400_000
    runs_in = "fwdsl.backends.pdhg.pdhg"
    least_seconds = costs.LEAST_SECONDS
    options = MappingProxyType({"restart": Option(True, "restart, and adapt the primal weight")})

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Every problem is taken: all canonical functions have a prox."""
        return ()

    @classmethod
    def settles(cls, arrangement: Arrangement, form: Form | None) -> str:
        """The reason where entries of a small matrix under a trace norm are observed: methods on its factors take long for a bound where the
        solution has full rank, as under a tiny weight."""
        if form is None or not any(s.over == "entries" for s in arrangement.sums):
            return ""
        factored = form.factored
        if factored is None or factored.size * min(factored.shape) > costs.SMALL_MATRIX:
            return ""
        return "the matrix is small: all its singular values cost no more than products with its factors"

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """Hundreds to thousands of iterations."""
        return costs.pdhg(canonical, tol)
