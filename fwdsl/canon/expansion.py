r"""Problems over one function in the space of an implicit feature map, kept as an expansion in its n samples: w = sum_i a_i phi(x_i).

    min over a in R^n and perhaps b   f(c K a + o + d b 1) + mu/2 a'Ka + q b + constant,      K_ij = <phi(x_i), phi(x_j)>

f a loss of single predictions, mu > 0, and b an intercept that nothing penalises. Its dual in y, the slopes of f, with w = -c/mu sum_i y_i phi(x_i):

    max   constant + <o, y> - f*(y) - c^2 / (2 mu) y'Ky      subject to   d sum(y) + q = 0   (with an intercept)

so that a = -c/mu y gives both ends from one product with K. The Gram matrix is neither formed nor factored.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..atoms.loss import LossFunction
from ..atoms.losses import LOSSES
from ..features.gram import GramOperator
from .arrange import Arrangement
from .combined_maps import Scaled
from .data_maps import Matrix
from .form import Canonical, Expansion, Offset
from .maps import LinearMap
from .parts import Block


def unexpanded(arrangement: Arrangement) -> tuple[str, ...]:
    """The reasons why a program has no such form, one sentence each, from names alone; empty where it may have one."""
    over = [b for b in arrangement.blocks if b.implicit]
    if len(over) != 1 or not over[0].type.is_vector:
        return ("no one vector is over an implicit feature map",)
    (block,), reasons = over, []
    if block.norm is not None or block.set is not None:
        reasons.append(f"{block.name} has a {block.norm or block.set} beside its norm in the space of features")
    if not block.ridges:
        reasons.append(f"it needs a `sum_squares({block.name})`")
    if len(arrangement.sums) != 1 or arrangement.sums[0].kind != "loss":
        reasons.append("it takes one loss over samples, and nothing else in the sum")
    elif arrangement.sums[0].atom not in LOSSES:
        reasons.append(f"`{arrangement.sums[0].text}` is not a loss of single predictions")
    elif LOSSES[arrangement.sums[0].atom].dual_kink is None or LOSSES[arrangement.sums[0].atom].quadratic:
        reasons.append(f"`{arrangement.sums[0].text}` has no piecewise dual that is worked on a few samples at a time")
    others = [b for b in arrangement.blocks if b is not block]
    if len(others) > 1:
        reasons.append(f"it takes one intercept, and the program has {', '.join(b.name for b in others)}")
    for other in others:
        if other.norm is not None or other.set is not None or other.ridges or not other.type.is_scalar:
            reasons.append(f"{other.name} is no free number")
    return tuple(reasons)


def expansion_of(built: Canonical, make_dense: Callable[[], Canonical | None]) -> Expansion | None:
    """The form of a canonical one whose variable holds expansion coefficients; None where numbers leave none: a weight of 0, other maps."""
    if len(built.terms) != 1 or not isinstance(built.terms[0].f, LossFunction):
        return None
    (term,) = built.terms
    f = term.f
    assert isinstance(f, LossFunction)
    found, intercept = None, None
    for block, m in term.map.parts:
        if block.shape:
            found = _scaled_gram(block, m)
        elif (d := m.apply(np.ones(1))).size and d[0] != 0.0 and np.all(d == d[0]):
            intercept = Offset(block.name, float(d[0]), float(built.q[block.start]))
    if found is None or f.size == 0 or len(built.blocks) != 1 + (intercept is not None):
        return None
    block, c, gram = found
    if intercept is not None and not _reaches(f, intercept):
        return None
    if not block.g.curvature > 0.0 or built.q[block.slice].any() or c == 0.0 or gram.shape[0] != f.size:
        return None
    return Expansion(
        built.instance,
        block.name,
        gram,
        c,
        block.g.curvature,
        f,
        term.map.offset,
        intercept,
        built.constant,
        built.sense,
        built.scale,
        term,
        make_dense,
    )


def _reaches(f: LossFunction, free: Offset) -> bool:
    """True if slopes of f can meet the equality of the intercept, without which the objective is unbounded below."""
    lo, hi = f.dual_bounds()
    return float(lo.sum()) <= -free.q / free.d <= float(hi.sum())


def _scaled_gram(block: Block, m: LinearMap) -> tuple[Block, float, GramOperator] | None:
    """(block, c, K) where a map is c K."""
    c = 1.0
    while isinstance(m, Scaled):
        c, m = c * m.c, m.inner
    return (block, c, m.A) if isinstance(m, Matrix) and isinstance(m.A, GramOperator) else None
