r"""Problems over one function in the space of an implicit feature map, kept as an expansion in its n samples: w = sum_i a_i phi(x_i).

    min over a in R^n and perhaps b   f(c K a + o + d b 1) + mu/2 a'Ka + q b + constant,      K_ij = <phi(x_i), phi(x_j)>

f a loss of single predictions, mu > 0, and b an intercept that nothing penalises. Its dual in y, the slopes of f, with w = -c/mu sum_i y_i phi(x_i):

    max   constant + <o, y> - f*(y) - c^2 / (2 mu) y'Ky      subject to   d sum(y) + q = 0   (with an intercept)

so that a = -c/mu y gives both ends from one product with K. The Gram matrix is neither formed nor factored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..atoms.base import Array
from ..atoms.loss import LossFunction
from ..atoms.losses import LOSSES
from ..bind.instance import Instance
from ..features.gram import GramOperator
from ..frozen import frozen
from .arrange import Arrangement
from .combined_maps import Scaled
from .data_maps import Matrix
from .form import Block, Canonical, SumTerm
from .forms import NO_VALUES, FormKind
from .maps import LinearMap

LOW_RANK = 0.25
"""The share of the samples that a small feature space has at most: methods that write its coordinates down are then as good."""


@frozen
class Offset:
    """The intercept b of predictions: d times b is added to each, and q b to the objective."""

    name: str
    d: float
    q: float


@frozen
class Expansion:
    """The problem of this module's docstring, in the sense of minimisation. A point is the vector of a and, behind it, b."""

    instance: Instance
    name: str
    gram: GramOperator
    c: float
    mu: float
    f: LossFunction
    offset: Array
    intercept: Offset | None
    constant: float
    sense: int
    scale: float
    term: SumTerm
    make_dense: Callable[[], Canonical | None]
    factored: ClassVar[None] = None
    contradiction: ClassVar[None] = None

    @cached_property
    def dense(self) -> Canonical | None:
        """The problem in coordinates of the span of the samples' features, for which K is factored; None where that takes too much memory."""
        found = self.make_dense()
        if found is not None:
            object.__setattr__(found, "expansion", self)
        return found

    @property
    def expansion(self) -> Expansion:
        return self

    @property
    def n(self) -> int:
        """The number of samples."""
        return self.f.size

    @property
    def size(self) -> int:
        return self.n + (self.intercept is not None)

    @property
    def terms(self) -> tuple[SumTerm, ...]:
        """The loss, whose slopes are the dual point."""
        return (self.term,)

    @property
    def is_small_space(self) -> bool:
        """True if the space of features is small beside the number of samples."""
        return self.gram.dimension <= LOW_RANK * self.n

    def why_not(self, kind: FormKind) -> tuple[str, ...]:
        """There are no factors, and that of the Gram matrix may be too large."""
        if kind == "dense" and self.__dict__.get("dense", self) is None:
            return ("its Gram matrix has a factor that memory does not hold",)
        return (NO_VALUES,) if kind == "factored" else ()

    def at_hand(self, kind: FormKind) -> Expansion | Canonical | None:
        """This form for its methods; for others the dense one, where it is there already."""
        return self if kind == "expansion" else self.__dict__.get("dense")

    def parts(self, x: Array) -> tuple[Array, float]:
        """a and b, which is 0 where there is none."""
        return x[: self.n], float(x[self.n]) if self.intercept is not None else 0.0

    def joined(self, a: Array, b: float) -> Array:
        """The point of a and b."""
        return np.append(a, b) if self.intercept is not None else a

    def split(self, x: Array) -> Mapping[str, object]:
        """The expansion coefficients and the intercept by their names."""
        a, b = self.parts(x)
        return {self.name: a.copy(), **({self.intercept.name: b} if self.intercept is not None else {})}

    def auxiliary(self, x: Array) -> Mapping[str, object]:
        return {}

    def dual_sizes(self, parts: Sequence[Any]) -> list[int]:
        """A slope for each sample."""
        return [self.n]

    def __repr__(self) -> str:
        n, free = self.n, self.intercept
        b = "" if free is None else f" + {free.name}"
        c = "" if self.c == 1.0 else f"{self.c:g} * "
        lines = [
            f"minimise over {self.name} by its {n:,} expansion coefficients" + (f", {free.name} in R" if free else ""),
            f"  f  {self.f.name}({c}{self.gram.kernel.word.name} features @ {self.name}{b}; {n:,} rows)",
            f"  g  {self.name}: {0.5 * self.mu:g} * sum_squares, by rows of the Gram matrix as they are needed",
        ]
        lines += [f"  q  {free.q:g} * {free.name}"] if free is not None and free.q else []
        lines += [f"  c  {self.constant:g}"] if self.constant else []
        lines += ["  (the negative of the program's objective, which is maximised)"] if self.sense < 0 else []
        return "\n".join(lines)


def unexpanded(arrangement: Arrangement) -> tuple[str, ...]:
    """The reasons why a program has no such form, one sentence each, from names alone; empty where it may have one."""
    over = [b for b in arrangement.blocks if b.implicit]
    if len(over) != 1 or over[0].type.kind != "vector":
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
        if other.norm is not None or other.set is not None or other.ridges or other.type.kind != "real":
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
