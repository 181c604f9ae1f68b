r"""The generalised linear oracle of GSFW: argmin_x <c, x> + g(x), which is the gradient of g* at -c.

* With a ridge, g = h + (mu / 2) |x|^2: the prox of h / mu at -c / mu, for every h.
* Sets: their linear minimisation oracle.
* Norms on a bounded set: closed forms (`loops`); entropy on the simplex: a softmax, and strong convexity of c / r (Pinsker).
* Norms alone: with an implied bound. An optimal x has |x| <= R = (P(0) - inf of the loss) / (c - |q|_*), so g may have the ball of its norm of
  radius R added; then the answer is a vertex where the slope exceeds c, else 0.
* Spectra: functions of singular values by the oracle of the function on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...atoms.base import Array, VectorFunction
from ...atoms.matrices.spectral import Singular
from ...atoms.vectors.box import Box
from ...atoms.vectors.common import Joint, Norm, largest, norm2
from ...atoms.vectors.entropy_simplex import EntropySimplex
from ...atoms.vectors.group_ball import GroupBall
from ...atoms.vectors.group_norm import GroupNorm
from ...atoms.vectors.l1_ball import L1Ball
from ...atoms.vectors.l2_ball import L2Ball
from ...atoms.vectors.linf_ball import LinfBall
from ...atoms.vectors.ridge import Ridged
from ...atoms.vectors.simplex import Simplex
from ...atoms.vectors.solid_simplex import SolidSimplex
from ..kernels.compile import Function, kernel
from . import loops

PENALTIES = (
    ("norm1", None),
    ("norm2", None),
    ("norm_inf", None),
    ("norm_fro", None),
    ("norm_nuc", None),
    ("group_norm", None),
    ("norm1", "nonnegative"),
    ("norm2", "nonnegative"),
    ("norm_fro", "nonnegative"),
)
"""Norms that bound x by themselves."""

PAIRS = (
    ("norm1", "l1_ball"),
    ("norm1", "l2_ball"),
    ("norm1", "linf_ball"),
    ("norm1", "box"),
    ("norm1", "simplex"),
    ("norm1", "solid_simplex"),
    ("norm2", "l2_ball"),
    ("norm_fro", "fro_ball"),
    ("norm_inf", "linf_ball"),
    ("norm_nuc", "nuclear_ball"),
    ("entropy", "simplex"),
)
"""Norms on sets that have an oracle without a ridge."""

Respond = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
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
        """The minimiser."""
        if self.plain is not None:
            return self.plain(c)
        assert self.function is not None
        out = np.empty(self.size)
        kernel(self.function)(self.scale * c, self.step, out, *self.args)
        return out


def oracle(g: VectorFunction, q: Array, above: float) -> Oracle | None:
    """The oracle of g, None where it has none. `above` is P at 0 less the infimum of the loss, which bounds penalties; q the linear part."""
    if isinstance(g, Ridged):
        return _of_ridge(g)
    if isinstance(g, EntropySimplex):
        r = g.on.r
        return Oracle(g.c / r if r > 0.0 else 0.0, g.size, loops.softmax_of, args=(g.c, r))
    if g.pair in PENALTIES:
        return _of_penalty(g, q, above)
    if not math.isfinite(g.radius()):
        return None
    if g.pair[0] is None or g.pair in PAIRS:
        found = compiled(g)
        if found is not None:
            return Oracle(0.0, g.size, found[0], args=found[1])
        plain = _plain(g)
        return Oracle(0.0, g.size, plain=plain) if plain is not None else None
    return None


def _of_ridge(g: Ridged) -> Oracle:
    mu = g.curvature
    inner = g.inner
    if not g.compiled:
        return Oracle(mu, g.size, plain=lambda c: inner.prox(c / -mu, 1.0 / mu))
    share, step = inner.prox_change(1.0 / mu)
    return Oracle(mu, g.size, inner.prox_kernel, -share / mu, step, inner.kernel_args())


def compiled(g: VectorFunction) -> tuple[Function, tuple[Any, ...]] | None:
    """The kernel of a bounded set, alone or with a norm, and its arguments; None where there is none."""
    on = g.on if isinstance(g, Joint) else g
    c = g.c if isinstance(g, Joint) else 0.0
    signs = g.pair[0] in (None, "norm1")
    if isinstance(on, L1Ball) and signs:
        return loops.one_of_l1, (c, on.r)
    if isinstance(on, Simplex) and signs:
        return loops.one_of_simplex, (-math.inf, on.r)
    if isinstance(on, SolidSimplex) and signs:
        return loops.one_of_simplex, (c, on.r)
    if isinstance(on, Box) and signs:
        return loops.ends_of_box, (c, on.lo, on.hi)
    if isinstance(on, LinfBall) and signs:
        return loops.ends_of_box, (c, np.full(g.size, -on.r), np.full(g.size, on.r))
    if isinstance(on, LinfBall):
        return loops.signs_of_linf, (c, on.r)
    if isinstance(on, L2Ball):
        return (loops.soft_on_l2, (c, on.r)) if g.pair[0] == "norm1" else (loops.along_l2, (c, on.r, True))
    return None


def _plain(g: VectorFunction) -> Respond | None:
    if isinstance(g, Singular) and g.pair[0] is not None:
        return _of_spectrum(g, compiled(g.inner))
    return None if g.lmo(np.zeros(g.size)) is None else lambda c: _required(g.lmo(c))


def _required(x: Array | None) -> Array:
    assert x is not None, "looked at before"
    return x


def _of_spectrum(g: Singular, inner: tuple[Function, tuple[Any, ...]] | None) -> Respond | None:
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


def _of_penalty(g: VectorFunction, q: Array, above: float) -> Oracle | None:
    """That of g with the ball of radius R added to it."""
    norm = g.pair[0]
    if norm == "group_norm":
        assert isinstance(g, GroupNorm)
        if not g.size:
            return Oracle(0.0, 0, plain=lambda c: c)
        r = _radius(above, g.c, g.parts.dual(q))
        if not math.isfinite(r):
            return None
        parts, slope, ball = g.parts, g.c, GroupBall(g.size, r, g.parts)
        return Oracle(0.0, g.size, plain=lambda c: ball.lmo(c) if parts.dual(c) > slope else np.zeros(c.size))
    if norm == "norm_nuc":
        assert isinstance(g, Singular) and isinstance(g.inner, Norm)
        r = _radius(above, g.inner.c, largest(g.spectrum(q)))
        plain = _of_spectrum(g, (loops.one_of_l1, (g.inner.c, r))) if math.isfinite(r) else None
        return Oracle(0.0, g.size, plain=plain) if plain is not None else None
    assert isinstance(g, Norm | Joint)
    signed = g.pair[1] is None
    down = q if signed else np.minimum(q, 0.0)
    if norm == "norm1":
        r = _radius(above, g.c, largest(down))
        function, args = (loops.one_of_l1 if signed else loops.one_of_simplex), (g.c, r)
    elif norm == "norm_inf":
        r = _radius(above, g.c, float(np.abs(q).sum()))
        function, args = loops.signs_of_linf, (g.c, r)
    else:
        r = _radius(above, g.c, norm2(down))
        return Oracle(0.0, g.size, loops.along_l2, args=(g.c, r, signed)) if math.isfinite(r) else None
    return Oracle(0.0, g.size, function, args=args) if math.isfinite(r) else None


def _radius(above: float, c: float, slope: float) -> float:
    """R with |x| <= R where (c - slope) |x| <= above; inf where there is none."""
    return above / (c - slope) if math.isfinite(above) and c > slope else math.inf
