"""Newton steps and dual corrections on the levels of the lines that a first-order method has identified.

Where the neighbours that are equal stay so, and jumps keep their signs, h and g are linear. With S the indicators of the levels (and of the free
coordinates of other variables), x = S c moves by

    S' K' diag(f'') K S d = -S' (grad F + D' h' + g'),

and the same matrix moves multipliers y by diag(f'') K S d to where S' (K'y + q + D' h' + g') = 0: no step's multiplier then leaves its ends.
A ridge asks for no equality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.functions import FastLoss, FastRows
from fwdsl.backends.lines.function import Along
from fwdsl.backends.maps import KernelMatrix
from fwdsl.backends.newton import MAX_DENSE
from fwdsl.backends.problem import LARGEST_COLUMNS, PreparedProblem
from fwdsl.canon.chains import Places
from fwdsl.canon.combined_maps import Scaled
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.parts import Block, SumTerm
from fwdsl.light_dataclass import light_dataclass

if TYPE_CHECKING:
    from scipy.sparse import csr_array

EPS = float(np.finfo(np.float64).eps)
DAMPING = 1e-13
NOISE = 16.0 * EPS


def signature(problem: PreparedProblem, x: Array) -> Array:
    """Numbers by which faces differ: the signs of jumps, and which coordinates are free; none where g is curved."""
    parts = []
    for block in problem.canonical.blocks:
        g, own = block.g, x[block.slice]
        if isinstance(g, Along):
            parts.append(np.sign(g.steps(own)))
            g = g.g
        face = g.face(own)
        if face is None or face.normals.size:
            return np.zeros(0)
        free = np.zeros(block.size)
        free[face.free] = np.where(face.slope == g.curvature * own[face.free], 2.0, np.sign(own[face.free]))
        parts.append(free)
    return np.concatenate(parts) if parts else np.zeros(0)


@light_dataclass
class OfBlock:
    """The levels of one block: its free coordinates level by level, where each level begins among them, and the number of the first."""

    block: Block
    free: Places
    starts: Places
    first: int

    @property
    def count(self) -> int:
        """The number of levels."""
        return int(self.starts.size)

    def units(self) -> csr_array:
        """The indicators of the levels as columns."""
        from scipy.sparse import csr_array

        column = np.repeat(np.arange(self.count), np.diff(self.starts, append=self.free.size))
        return csr_array((np.ones(self.free.size), (self.free, column)), (self.block.size, self.count))


@light_dataclass
class Levels:
    """The face at x: the levels of its blocks, the slopes of g and of the lines along them, the curvatures of g, and K S of each term."""

    blocks: list[OfBlock]
    slope: Array
    curvature: Array
    images: list[Any]

    @staticmethod
    def at(problem: PreparedProblem, x: Array, ridged: bool = True) -> Levels | None:
        """The levels of the lines at x, or of blocks without a ridge only; None where g is curved, nothing is free, or the system is too large."""
        blocks, slopes, curvatures = [], [], []
        count = 0
        for block in problem.canonical.blocks:
            g, own = block.g, x[block.slice]
            if g.curvature > 0.0 and not ridged:
                continue
            level = g.levels(own) if isinstance(g, Along) else np.arange(block.size)
            more = g.slope_of_steps(own) if isinstance(g, Along) else np.zeros(block.size)
            face = g.g.face(own) if isinstance(g, Along) else g.face(own)
            if face is None or face.normals.size:
                return None
            names, column = np.unique(level[face.free], return_inverse=True)
            sizes = np.bincount(column, minlength=names.size)
            free = face.free[np.argsort(column, kind="stable")]
            blocks.append(OfBlock(block, free, np.cumsum(sizes) - sizes, count))
            slopes.append(np.bincount(column, face.slope + more[face.free], names.size))
            curvatures.append(g.curvature * sizes)
            count += names.size
        if not 0 < count <= MAX_DENSE or count * sum(t.map.rows for t in problem.terms) > LARGEST_COLUMNS:
            return None
        images = [_image(problem, term, blocks, count) for term in problem.terms]
        return Levels(blocks, np.concatenate(slopes), np.concatenate(curvatures), images)

    def sums(self, v: Array) -> Array:
        """S'v: the sums over the levels."""
        found = np.zeros(self.slope.size)
        for own in self.blocks:
            if own.count:
                found[own.first : own.first + own.count] = np.add.reduceat(v[own.block.slice][own.free], own.starts)
        return found

    def spread(self, d: Array, size: int) -> Array:
        """S d: a number for each entry of a level."""
        found = np.zeros(size)
        for own in self.blocks:
            each = np.diff(own.starts, append=own.free.size)
            found[own.block.start + own.free] = np.repeat(d[own.first : own.first + own.count], each)
        return found

    def solve(self, weights: list[Array], right: Array) -> Array | None:
        """d of (S' K' diag(w) K S + curvature) d = right, brought to a unit diagonal; None where it is singular."""
        gram = np.diag(self.curvature)
        for image, w in zip(self.images, weights, strict=True):
            part = image.T @ (image.multiply(w[:, None]) if hasattr(image, "multiply") else w[:, None] * image)
            gram += part.toarray() if hasattr(part, "toarray") else part
        diagonal = np.einsum("ii->i", gram)
        largest = max(float(diagonal.max(initial=0.0)), 1e-300)
        scale = 1.0 / np.sqrt(np.where(diagonal > 1e-300, diagonal, largest))
        gram *= scale[:, None] * scale
        np.einsum("ii->i", gram)[:] += DAMPING
        try:
            d = np.asarray(scale * np.linalg.solve(gram, scale * right))
        except np.linalg.LinAlgError:
            return None
        return d if np.all(np.isfinite(d)) else None


def _image(problem: PreparedProblem, term: SumTerm, levels: Sequence[OfBlock], count: int) -> Any:
    """K S of a term."""
    of = {id(own.block): own for own in levels}
    found = [
        (own, _product(problem, own, m)) for block, m in term.map.parts if (own := of.get(id(block))) and own.count
    ]
    if len(found) == 1 and found[0][0].count == count:
        return found[0][1]
    if found and all(hasattr(part, "tocsc") for _, part in found):
        from scipy.sparse import csr_array

        parts = [part.tocoo() for _, part in found]
        columns = [own.first + part.coords[1] for (own, _), part in zip(found, parts, strict=True)]
        data, rows = (np.concatenate(of) for of in zip(*((p.data, p.coords[0]) for p in parts), strict=True))
        return csr_array((data, (rows, np.concatenate(columns))), (term.map.rows, count))
    total = np.zeros((term.map.rows, count))
    for own, part in found:
        total[:, own.first : own.first + own.count] += part.toarray() if hasattr(part, "toarray") else part
    return total


def _product(problem: PreparedProblem, own: OfBlock, m: LinearMap) -> Any:
    """M S of a block: sums of columns."""
    factor, inner = (m.c, m.inner) if isinstance(m, Scaled) else (1.0, m)
    if isinstance(inner, KernelMatrix):
        A = inner.source.A
        inner.operator.counter.touched += inner.nnz
        found = A.T if inner.transposed else A
        if hasattr(found, "indptr"):
            return factor * (found @ own.units())
        # a copy of all columns takes longer than their sums
        whole = own.free.size == m.columns and bool(np.all(own.free[1:] > own.free[:-1]))
        columns = np.asarray(found if whole else found[:, own.free], dtype=np.float64)
        return factor * np.add.reduceat(columns, own.starts, axis=1)
    if m.nnz == 0:
        return m.written() @ own.units()
    out = np.empty((m.rows, own.count))
    for k, level in enumerate(np.split(own.free, own.starts[1:])):
        problem.look()
        unit = np.zeros(own.block.size)
        unit[level] = 1.0
        out[:, k] = m.apply(unit)
    return out


def newton(
    problem: PreparedProblem, x: Array, z: list[Array], value: float, grad: Array
) -> tuple[Array, list[Array], float, bool] | None:
    """(x, z, P, whether P still tells) after a step on the levels, or None where P would not fall enough. Levels that meet on the way are one then.

    A step by which P falls less than rounding is taken too: multipliers are as near to their optimum as x, and P to the square of it.
    """
    levels = Levels.at(problem, x)
    if levels is None:
        return None
    right = -(levels.sums(grad) + levels.slope)
    d = levels.solve(problem.curvatures(z), right)
    if d is None:
        return None
    slope = float(right @ d)
    if not slope > 0.0:
        return None
    noise = NOISE * abs(value)
    move = levels.spread(d, x.size)
    free, first = _longest(problem, x, move)
    for length in (1.0, free):
        problem.look()
        if not length > EPS:
            return None
        new = x + length * move
        if length == free and length < 1.0:
            new = _merged(problem, new, first)
        new = problem.prox_g(new, 0.0)
        z_new = problem.forward(new)
        value_new = problem.objective(new, z_new)
        if value - value_new > 1e-4 * length * slope or (slope <= noise and value_new <= value + noise):
            return new, z_new, value_new, slope > noise
        if free == 1.0:
            return None
    return None


def _longest(problem: PreparedProblem, x: Array, move: Array) -> tuple[float, dict[int, int]]:
    """The length of the step, at most 1, at which the first jump closes, or the first entry reaches a kink; and the edge of each block that does."""
    best, first = 1.0, {}
    for k, block in enumerate(problem.canonical.blocks):
        g = block.g
        own, step = x[block.slice], move[block.slice]
        if isinstance(g, Along):
            jumps, change = g.steps(own), g.steps(step)
            closing = (jumps * (jumps + change) < 0.0) & ((g.chain.lo != 0.0) | (g.chain.hi != 0.0))
            lengths = np.where(closing, jumps / np.where(closing, -change, 1.0), math.inf)
            if lengths.size and lengths.min() < best:
                best, first = float(lengths.min()), {k: int(lengths.argmin())}
            g = g.g
        face = g.face(own)
        if face is not None and g.pair[0] is not None:
            crossing = own * (own + step) < 0.0
            lengths = np.where(crossing, own / np.where(crossing, -step, 1.0), math.inf)
            if lengths.size and lengths.min() < best:
                best, first = float(lengths.min()), {}
    return best, first


def _merged(problem: PreparedProblem, x: Array, first: dict[int, int]) -> Array:
    """x with the two levels at an edge made one."""
    for k, edge in first.items():
        block = problem.canonical.blocks[k]
        g = block.g
        assert isinstance(g, Along)
        own = g.chain.in_order(x[block.slice])
        lower, upper = own[edge], own[edge + 1]
        stop = edge + 1
        while stop < own.size and own[stop] == upper:
            own[stop] = lower
            stop += 1
        x[block.slice] = g.chain.in_place(own)
    return x


def corrected(problem: PreparedProblem, x: Array, z: list[Array], ys: list[Array]) -> list[Array]:
    """Multipliers of the losses near `ys` whose sums over the levels at x are met; `ys` where there is no face, or no way."""
    for _ in range(2):
        levels = Levels.at(problem, x, ridged=False)
        if levels is None:
            return ys
        weights = problem.curvatures(z)
        miss = levels.sums(problem.adjoint(ys) + problem.q) + levels.slope
        d = levels.solve(weights, -miss)
        if d is None:
            return ys
        new_ys = []
        for f, y, w, image in zip(problem.functions, ys, weights, levels.images, strict=True):
            assert isinstance(f, FastLoss | FastRows)
            new = y + w * np.asarray(image @ d)
            f.into_domain(new)
            new_ys.append(new)
        ys = new_ys
    return ys
