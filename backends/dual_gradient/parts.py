r"""The parts of a program as the dual's gradient takes them:

    minimise  sum_i a_i x_i^2 / 2 + s_i x_i + c_i |x_i|  over lo <= x <= hi   +   sum_g r_g |(K x + b)_g|,   a > 0

The losses and the functions of blocks are sums over the entries of x, and all other terms are sums of lengths of groups of rows.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_array, vstack

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.groups import Partition, even
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.matrices.lines import Lines
from fwdsl.backends.lines.parts import Multiples, of_entries
from fwdsl.backends.sparse_rows import Index, SparseRows, has_short_rows, sparse_map
from fwdsl.canon.form import Canonical, once_per_form
from fwdsl.canon.parts import SumTerm
from fwdsl.light_dataclass import light_dataclass
from fwdsl.words import CONVEX

LONGEST = 16
"""Entries of a row, and of a column, that are few: a product with K then costs little beside the vectors."""

SAME = 1e-9
"""The relative difference of a function's value from that of its lengths that rounding explains."""


@light_dataclass
class Entries:
    """The sum over entries: curvature a, slope s, weight c, and ends of each; of the losses `shares`, what of a their weights are."""

    curvature: Array
    slope: Array
    weight: Array
    lo: Array
    hi: Array
    losses: tuple[tuple[int, Multiples, slice], ...]  # (term, entries of its block, the block)
    shares: Array


@light_dataclass
class Rows:
    """The lengths: K by rows, b, the first row of each group, its radius and its step; of each term its rows in their order."""

    K: SparseRows
    adjoint: SparseRows
    offset: Array
    group: Index
    radius: Array
    step: Array
    terms: tuple[tuple[int, slice, Index], ...]

    @property
    def far(self) -> float:
        """The largest squared distance of multipliers from 0, in the metric of the steps."""
        return float((np.square(self.radius) / self.step).sum())


@once_per_form
def parts_of(form: Canonical) -> tuple[Entries, Rows] | str:
    """The parts of a form; why it has none."""
    smooth = [k for k, t in enumerate(form.terms) if t.is_smooth]
    found = _entries(form, smooth)
    if isinstance(found, str):
        return found
    rest = [(k, t) for k, t in enumerate(form.terms) if k not in smooth]
    if not rest:
        return "there is no sum of lengths of rows"
    groups = []
    for _, term in rest:
        partition = _lengths(term)
        if partition is None:
            return f"`{term.text}` is no sum of lengths of rows"
        if not has_short_rows(term, LONGEST):
            return f"`{term.text}` is of rows of more than {LONGEST} entries"
        groups.append(partition)
    return found, _rows(form, rest, groups, found.curvature)


def _entries(form: Canonical, smooth: list[int]) -> Entries | str:
    """The sum over entries, in which every entry has a curvature."""
    curvature, shares, weight, lo, hi = (np.zeros(form.size) for _ in range(5))
    slope = form.q.copy()
    losses = []
    for k in smooth:
        term = form.terms[k]
        f = term.f
        found = of_entries([term])
        if found is None or not isinstance(f, LossFunction) or not f.loss.quadratic:
            return f"`{term.text}` is no sum of squares of entries"
        at = term.map.parts[0][0].slice
        found[0].add_to(curvature[at], f.w * (f.loss.smoothness or 0.0))
        found[0].add_to(shares[at], f.w)
        term.map.adjoint(f.gradient(term.map.offset), slope)
        losses.append((k, found[0], at))
    for block in form.blocks:
        g = block.g.entries()
        if g is None:
            return f"{block.text} of {block.name} is no sum over entries"
        curvature[block.slice] += 2.0 * g.ridge
        weight[block.slice] = g.c
        lo[block.slice], hi[block.slice] = g.lo, g.hi
    flat = next((b for b in form.blocks if not np.all(curvature[b.slice] > 0.0)), None)
    if flat is not None:
        return f"entries of {flat.name} are in no square"
    return Entries(curvature, slope, weight, lo, hi, tuple(losses), shares)


def _lengths(term: SumTerm) -> Partition | None:
    """The groups of a sum of lengths, weighted by their radii; None where the term is anything else."""
    f = term.f
    if isinstance(f, LossFunction):
        return _sizes(f)
    if not isinstance(f, VectorFunction) or f.pair[1] is not None or f.pair[0] not in CONVEX or not f.size:
        return None
    word = CONVEX[f.pair[0]]
    inner = f.inner if isinstance(f, Lines) else f
    if word.adds_sizes:
        found: Partition | None = even(f.size, 1)
    elif word.adds_lengths:
        found = _lines(f) if isinstance(f, Lines) else f.groups_of() or even(1, f.size)
    else:
        return None
    assert found is not None
    radii = inner.slope * found.weights
    # a sum of sizes beside the lengths has the name of these
    at = np.random.default_rng(0).standard_normal(f.size)
    if not math.isclose(f.value(at), float(radii @ found.norms(at)), rel_tol=SAME):
        return None
    return Partition(found.order, found.start, radii, found.listed)


def _sizes(f: LossFunction) -> Partition | None:
    """The entries of a loss that is sum_j w_j |z_j - b_j|; None where it is any other."""
    if not getattr(f.loss, "piecewise_linear", False):
        return None
    at = np.random.default_rng(0).standard_normal(f.size)
    if not math.isclose(f.value(at), float(f.w @ np.abs(at - f.b)), rel_tol=SAME):
        return None
    found = even(f.size, 1)
    return Partition(found.order, found.start, f.w, found.listed)


def _lines(f: Lines) -> Partition:
    """The rows or columns as groups."""
    k = f.shape[f.axis]
    found = even(k, f.size // k)
    if f.axis == 0:
        return found
    order = np.arange(f.size).reshape(f.shape).T.reshape(-1)
    return Partition(order, found.start, found.weights, found.listed)


def _rows(form: Canonical, rest: list[tuple[int, SumTerm]], groups: list[Partition], curvature: Array) -> Rows:
    """K, b and the groups of all terms below each other, and the steps."""
    matrices, offsets, starts, radii, places = [], [], [np.zeros(1, dtype=np.intp)], [], []
    at = 0
    for (k, term), found in zip(rest, groups, strict=True):
        K = sparse_map(term, form.size)
        order = found.order if found.order.size else np.arange(term.map.rows)
        matrices.append(K[order] if found.order.size else K)
        offset = term.map.offset - term.f.b if isinstance(term.f, LossFunction) else term.map.offset
        offsets.append(offset[order])
        starts.append(at + found.start[1:])
        radii.append(found.weights)
        places.append((k, slice(at, at + order.size), order))
        at += order.size
    A = csr_array(vstack(matrices, format="csr"))
    group = np.concatenate(starts).astype(np.intp)
    return Rows(
        SparseRows.of(A),
        SparseRows.of(csr_array(A.T.tocsr())),
        np.concatenate(offsets),
        group,
        np.concatenate(radii),
        _steps(A, group, curvature),
        tuple(places),
    )


def _steps(A: csr_array, group: Index, curvature: Array) -> Array:
    r"""A step for each group, with |S^(1/2) K diag(a)^(-1/2)| <= 1.

    For any t > 0 and c = |K|'t, by Cauchy and Schwarz,

        sum_j (sum_r K_rj u_r)^2 / a_j <= sum_r u_r^2 / t_r * sum_j |K_rj| c_j / a_j

    t is one over the sums of the rows, so that a row in other units has its step in those.
    """
    B = abs(A)
    sums = B.sum(axis=1)
    t = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0.0)
    most = B @ ((B.T @ t) / curvature)
    own = np.divide(t, most, out=np.full_like(t, math.inf), where=most > 0.0)
    found = np.minimum.reduceat(own, group[:-1])
    # rows without entries move nothing
    finite = np.isfinite(found)
    return np.where(finite, found, found[finite].min(initial=1.0) if finite.any() else 1.0)
