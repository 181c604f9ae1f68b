r"""Problems that are one sum over samples, for stochastic and coordinate methods.

    minimise over x in R^d   sum_j w_j l(c a_j . x + b0_j; b_j) + <q, x> + g(x)

with one loss, one data matrix A (rows a_j, perhaps scaled by c), one variable and its proximable part g: a norm or a set and perhaps a ridge
(mu / 2) |x|^2, mu = `g.curvature`. The papers' 1/n is in the weights: w_j = 1/n for a mean.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses import LOSSES, smoothness
from fwdsl.backends.functions import FastLoss, FastVector
from fwdsl.backends.kernels.compile import Function
from fwdsl.backends.kernels.operators import Operator
from fwdsl.backends.kernels.rows import row_kernels, rows_of
from fwdsl.backends.maps import KernelMatrix
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.requirements import one_variable
from fwdsl.canon.arrange import Arrangement, SumPlan
from fwdsl.canon.combined_maps import unscaled
from fwdsl.canon.data_maps import Matrix, is_written
from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.parts import Block
from fwdsl.light_dataclass import light_dataclass
from fwdsl.words import CONVEX


def reasons(
    arrangement: Arrangement,
    *,
    losses: Collection[str] | None = None,
    sets: Collection[str | None] | None = None,
    norms: Collection[str | None] | None = None,
    smooth: bool = True,
    ridge: bool | None = None,
    two_norms: bool = False,
    lengths: bool = False,
) -> tuple[str, ...]:
    """The reasons why a problem is no such sum, or not one with these losses, sets and norms (None among them: without one); `ridge` True requires a
    `sum_squares`, False refuses one. None lets everything pass. A variable with `two_norms` is refused where it is not asked for; with `lengths` the
    Euclidean norm of all predictions counts as a loss."""
    found = not_one_loss(arrangement, lengths)
    for term in arrangement.sums:
        if term.kind != "loss":
            continue
        if losses is not None and term.atom not in losses:
            found.append(f"`{term.text}`: it takes the losses {_listed(losses)}")
        elif smooth and smoothness(term.atom) is None:
            found.append(f"`{term.text}` is not smooth")
        if term.atom in LOSSES and not LOSSES[term.atom].compiled:
            found.append(f"`{term.text}`: {term.atom} has no compiled kernels, which its loops over samples call")
    found += one_variable(arrangement)
    for block in arrangement.blocks:
        if sets is not None and block.set not in sets:
            found.append(f"{block.name} is in {block.set or 'no set'}: it takes {_listed(sets)}")
        if norms is not None and block.norm not in norms:
            found.append(f"{block.name} has {block.norm or 'no norm'}: it takes {_listed(norms)}")
        elif block.beside is not None and not two_norms:
            found.append(f"{block.name} has {block.beside} beside its {block.norm}")
        if ridge is not None and bool(block.ridges) != ridge:
            found.append(f"it {'needs a' if ridge else 'takes no'} `sum_squares({block.name})`")
    return tuple(found)


def not_one_loss(arrangement: Arrangement, lengths: bool = False) -> list[str]:
    """The reason why the sum is not one loss; empty where it is. With `lengths` the Euclidean norm of all predictions is one."""
    if len(arrangement.sums) == 1 and (
        arrangement.sums[0].kind == "loss" or (lengths and _is_length(arrangement.sums[0]))
    ):
        return []
    others = [f"`{t.text}`" for t in arrangement.sums if t.kind != "loss"]
    what = f"also {', '.join(others)}" if others else f"{len(arrangement.sums)} losses"
    return [f"it takes one loss over samples, and the sum holds {what}"]


def _is_length(term: SumPlan) -> bool:
    return term.kind == "norm" and CONVEX[term.atom].is_norm and CONVEX[term.atom].euclidean


def _listed(names: Collection[str | None]) -> str:
    listed = ", ".join(f"`{n}`" for n in names if n)
    return listed if None not in names else f"{listed}, or none" if listed else "none"


def value_reasons(canonical: Canonical) -> tuple[str, ...]:
    """The reasons why a bound problem, which passed `reasons`, is still no sum over rows of one data matrix."""
    parts = canonical.terms[0].map.parts if len(canonical.terms) == 1 else ()
    if len(parts) != 1 or matrix_by_rows(parts[0][1]) is None:
        return ("its predictions are not the rows of one data matrix times the variable",)
    if not isinstance(canonical.terms[0].f, LossFunction):
        return ("its loss ties the predictions together",)
    return ()


def matrix_by_rows(m: LinearMap) -> tuple[float, LinearMap] | None:
    """(c, A) where a map is c A for a matrix of data by rows."""
    c, m = unscaled(m)
    if isinstance(m, Matrix) and is_written(m.A) and not m.transposed:
        return c, m
    return (c, m) if isinstance(m, KernelMatrix) and not m.transposed else None


@light_dataclass
class FiniteSum:
    """The problem above on kernels."""

    operator: Operator
    c: float
    offset: Array
    f: FastLoss
    g: FastVector
    block: Block
    q: Array

    @staticmethod
    def of(problem: PreparedProblem) -> FiniteSum:
        """The view of a problem that passed `reasons` and `value_reasons`."""
        (term,) = problem.terms
        ((block, m),) = term.map.parts
        found = matrix_by_rows(m)
        (f,), (g,) = problem.functions, problem.g
        assert found is not None and isinstance(found[1], KernelMatrix) and isinstance(f, FastLoss)
        return FiniteSum(found[1].operator, found[0], term.map.offset, f, g, block, problem.q)

    @property
    def n(self) -> int:
        return self.operator.shape[0]

    @property
    def d(self) -> int:
        return self.operator.shape[1]

    @property
    def loss(self) -> LossFunction:
        return self.f.f

    @property
    def mu(self) -> float:
        return self.g.f.curvature

    @property
    def rows(self) -> tuple[object, ...]:
        return rows_of(self.operator)

    @property
    def data(self) -> tuple[object, ...]:
        """(rows, c, offset, b, w, p), as one argument of the loops over samples: as a plain tuple it costs a call nothing."""
        f = self.loss
        return self.rows, self.c, self.offset, f.b, f.w, f.p

    @property
    def row_kernels(self) -> dict[str, Function]:
        """The functions that a kernel over rows calls as `row_dot`, `row_add` and `row_size`."""
        return row_kernels(self.operator)

    def row_squares(self) -> Array:
        """|c a_j|^2 for each j."""
        return np.asarray(self.c**2 * self.operator.storage.row_squares())

    def forward(self, x: Array) -> Array:
        """c A x + b0: one data pass."""
        z = self.operator.matvec(x)
        z *= self.c
        z += self.offset
        return z

    def adjoint(self, y: Array) -> Array:
        v = self.operator.rmatvec(y)
        v *= self.c
        return v

    def count(self, touched: float) -> None:
        """Count stored numbers that a kernel over rows touched."""
        self.operator.counter.touched += round(touched)


def draws(seed: int, epoch: int) -> np.random.Generator:
    """The generator of an epoch, from the seed and the epoch alone, so that a resumed run draws as an unbroken one."""
    return np.random.default_rng((seed, epoch))
