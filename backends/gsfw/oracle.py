r"""The generalised linear oracle of GSFW: argmin_x <c, x> + g(x), which is the gradient of g* at -c.

* With a ridge, g = h + (mu / 2) |x|^2: the prox of h / mu at -c / mu, for every h.
* Sets: their linear minimisation oracle.
* Norms on a bounded set: closed forms (`loops`), and a norm on its own ball: a vertex where the slope exceeds c, else 0; entropy on the simplex:
  a softmax, and strong convexity of c / r (Pinsker).
* Norms alone: with an implied bound. An optimal x has |x| <= R = (P(0) - inf of the loss) / (c - |q|_*), so g may have the ball of its norm of
  radius R added; then the answer is a vertex where the slope exceeds c, else 0.
* Matrices: functions of singular values by the oracle of the function on them, functions of rows or columns by that of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.groups import even
from fwdsl.atoms.matrices.by_rows import norms2
from fwdsl.atoms.matrices.l1_inf_ball import L1InfBall
from fwdsl.atoms.matrices.lines import Lines
from fwdsl.atoms.matrices.spectral import Singular
from fwdsl.atoms.vectors.common import ConvexSet, Joint, Norm, OnOwnBall, largest, norm2
from fwdsl.atoms.vectors.entropy_simplex import EntropySimplex
from fwdsl.atoms.vectors.group_ball import GroupBall
from fwdsl.atoms.vectors.norm1_l2_ball import Norm1L2Ball
from fwdsl.atoms.vectors.ridge import Ridged
from fwdsl.backends.gsfw import loops
from fwdsl.backends.kernels.compile import Function, kernel
from fwdsl.light_dataclass import light_dataclass
from fwdsl.words import CONVEX, SETS

Respond = Callable[[Array], Array]


@light_dataclass
class Oracle:
    """c -> argmin_x <c, x> + g(x); `mu` is the strong convexity of g.

    `function(scale * c, step, out, *args)` does the same compiled; None where only `plain` does.
    """

    mu: float
    size: int
    function: Function | None = None
    scale: float = -1.0
    step: float = 0.0
    args: tuple[Any, ...] = ()
    plain: Respond | None = None

    def __call__(self, c: Array) -> Array:
        if self.plain is not None:
            # LAPACK refuses numbers that overflowed
            return self.plain(c) if np.all(np.isfinite(c)) else np.full(self.size, math.nan)
        assert self.function is not None
        out = np.empty(self.size)
        kernel(self.function)(self.scale * c, self.step, out, *self.args)
        return out


def is_penalty(norm: str | None, on: str | None) -> bool:
    """True if a pair of names is a norm, perhaps of nonnegative entries, which bounds x by itself."""
    return (
        norm is not None and CONVEX[norm].is_norm and (on is None or (on in SETS and SETS[on].ends == (0.0, math.inf)))
    )


def oracle(g: VectorFunction, q: Array, above: float) -> Oracle | None:
    """The oracle of g, None where it has none. `above` is P at 0 less the infimum of the loss, which bounds penalties; q the linear part."""
    if isinstance(g, Ridged):
        return _of_ridge(g)
    if isinstance(g, EntropySimplex):
        r = g.on.r
        return Oracle(g.c / r if r > 0.0 else 0.0, g.size, loops.softmax_of, args=(g.c, r))
    if isinstance(g, Lines) and g.pair[0] is not None:
        return _of_lines(g, q, above)
    if is_penalty(*g.pair):
        return _of_penalty(g, q, above)
    if not math.isfinite(g.radius()):
        return None
    found = compiled(g)
    if found is not None:
        return Oracle(0.0, g.size, found[0], args=found[1])
    plain = _plain(g)
    return Oracle(0.0, g.size, plain=plain) if plain is not None else None


def _of_ridge(g: Ridged) -> Oracle:
    mu = g.curvature
    inner = g.inner
    if not g.compiled:
        return Oracle(mu, g.size, plain=lambda c: inner.prox(c / -mu, 1.0 / mu))
    share, step = inner.prox_change(1.0 / mu)
    return Oracle(mu, g.size, inner.prox_kernel, -share / mu, step, inner.kernel_args())


def compiled(g: VectorFunction) -> tuple[Function, tuple[object, ...]] | None:
    """The kernel of a bounded set, alone or with a norm, and its arguments; None where there is none."""
    # a joint prox is of one norm on one set, both of them ours: these two have oracles that are like no other
    if isinstance(g, EntropySimplex):
        return None
    if isinstance(g, Norm1L2Ball):
        return loops.soft_on_l2, (g.c, g.on.scale)
    if isinstance(g, OnOwnBall) and g.coercive() == (g.c, "l1"):
        return loops.signs_of_linf, (g.c, g.on.scale)
    on, c = (g.on, g.c) if isinstance(g, Joint) else (g, 0.0)
    budget, entries = on.budget(), on.entries()
    if budget is not None:
        if budget.signed:
            return loops.one_of_l1, (c, budget.r)
        return loops.one_of_simplex, (-math.inf if budget.exact else c, budget.r)
    if entries is not None:
        lo, hi = (np.ascontiguousarray(end) for end in entries.bounds(g.size))
        return loops.ends_of_box, (c, lo, hi)
    if not isinstance(on, ConvexSet) or not on.record.norm or not CONVEX[on.record.norm].euclidean:
        return None
    return loops.along_l2, (c, on.scale, True)


def _plain(g: VectorFunction) -> Respond | None:
    if isinstance(g, Singular) and g.pair[0] is not None:
        return _of_spectrum(g, compiled(g.inner))
    if isinstance(g, OnOwnBall):
        return _within(g.on, g.on.scale, g.c)
    if isinstance(g, Joint) or g.lmo(np.zeros(g.size)) is None:
        return None
    return lambda c: _required(g.lmo(c))


def _within(ball: ConvexSet, r: float, slope: float) -> Respond:
    """The oracle of `slope` times a norm on its own ball of radius r, whose support function is r times the dual norm."""
    return lambda c: _required(ball.lmo(c)) if ball.conjugate(-c) > slope * r else np.zeros(c.size)


def _required(x: Array | None) -> Array:
    assert x is not None, "looked at before"
    return x


def _of_spectrum(g: Singular, inner: tuple[Function, tuple[object, ...]] | None) -> Respond | None:
    """<C, X> + h(sigma(X)) is least at singular vectors of -C and the minimiser of h on its singular values."""
    if inner is None:
        return None
    function, args = inner

    def respond(c: Array) -> Array:
        values, rebuild = g.decompose(-c)
        out = np.empty_like(values)
        kernel(function)(values, 0.0, out, *args)
        return rebuild(out)

    return respond


def _of_lines(g: Lines, q: Array, above: float) -> Oracle | None:
    """A norm of the rows or columns, added up: on a bounded set the oracle of each, without one the largest of them on the ball of the whole."""
    inner = g.inner
    # norms whose sum over lines is no sum over entries
    if is_penalty(*inner.pair) and not CONVEX[str(inner.pair[0])].additive:
        assert isinstance(inner, Norm | Joint)
        positive, largest_of_each = inner.pair[1] is not None, _dual_of(inner) == "l1"
        lines = g.lines(np.minimum(q, 0.0) if positive else q)
        duals = np.abs(lines).sum(axis=1) if largest_of_each else norms2(lines)
        r = _radius(above, inner.c, float(duals.max(initial=0.0)))
        if not math.isfinite(r):
            return None
        ball: ConvexSet = L1InfBall(g.shape, r) if largest_of_each else GroupBall(g.size, r, even(*g.shape))
        respond = _within(ball, r, inner.c)
        return Oracle(0.0, g.size, plain=(lambda c: respond(np.minimum(c, 0.0))) if positive else respond)
    one = oracle(inner, np.zeros(inner.size), 0.0) if math.isfinite(inner.radius()) else None
    if one is None:
        return None

    def each(c: Array) -> Array:
        lines = g.lines(c)
        return g.flat(np.stack([one(line) for line in lines])) if c.size else c.copy()

    return Oracle(one.mu, g.size, plain=each)


def _dual_of(g: Norm | Joint) -> str:
    """The dual of the norm that bounds x: "linf" of the sum of sizes, "l1" of the largest, "l2"."""
    found = g.coercive()
    assert found is not None, "a norm bounds x by itself"
    return found[1]


def _of_penalty(g: VectorFunction, q: Array, above: float) -> Oracle | None:
    """The oracle of g on the ball of radius R."""
    groups = g.groups_of()
    if groups is not None:
        r = _radius(above, g.slope, groups.dual(q)) if g.size else 0.0
        return (
            Oracle(0.0, g.size, plain=_within(GroupBall(g.size, r, groups), r, g.slope)) if math.isfinite(r) else None
        )
    if isinstance(g, Singular):
        assert isinstance(g.inner, Norm)
        values = g.spectrum(q)
        r = _radius(above, g.inner.c, g.inner.dual_norm(values))
        function = loops.one_of_l1 if _dual_of(g.inner) == "linf" else loops.signs_of_linf
        plain = _of_spectrum(g, (function, (g.inner.c, r))) if math.isfinite(r) else None
        return Oracle(0.0, g.size, plain=plain) if plain is not None else None
    assert isinstance(g, Norm | Joint)
    signed = g.pair[1] is None
    down = q if signed else np.minimum(q, 0.0)
    if _dual_of(g) == "linf":
        r = _radius(above, g.c, largest(down))
        function, args = (loops.one_of_l1 if signed else loops.one_of_simplex), (g.c, r)
    elif _dual_of(g) == "l1":
        r = _radius(above, g.c, float(np.abs(q).sum()))
        function, args = loops.signs_of_linf, (g.c, r)
    else:
        r = _radius(above, g.c, norm2(down))
        return Oracle(0.0, g.size, loops.along_l2, args=(g.c, r, signed)) if math.isfinite(r) else None
    return Oracle(0.0, g.size, function, args=args) if math.isfinite(r) else None


def _radius(above: float, c: float, slope: float) -> float:
    """R with |x| <= R where (c - slope) |x| <= above; inf where there is none."""
    return above / (c - slope) if math.isfinite(above) and c > slope else math.inf
