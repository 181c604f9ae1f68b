"""Links from blocks of variables to samples: a prediction is a sum of them.

Each link is of data with one block, with the blocks of a family in a row, or with the block of a family that belongs to the sample's task.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.family import Repeated
from fwdsl.atoms.matrices.spectral import Spectral
from fwdsl.atoms.vectors import Ridged
from fwdsl.backends.dspdc.steps import Index
from fwdsl.canon.combined_maps import Add, Compose, Scaled
from fwdsl.canon.data_maps import Matrix, is_written
from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.matrix_maps import Gathered, Quad, Symmetrise
from fwdsl.canon.parts import Block
from fwdsl.light_dataclass import light_dataclass


@light_dataclass
class PlacedBlock:
    """A block: its slice of x, its g, the side `d` of a symmetric matrix (else 0), and whether its prox takes an eigendecomposition."""

    start: int
    stop: int
    g: VectorFunction
    d: int
    spectral: bool

    @property
    def slice(self) -> slice:
        return slice(self.start, self.stop)

    def symmetric_part(self, v: Array) -> Array:
        """v, or its symmetric part where only that counts."""
        if not self.d:
            return v
        V = v.reshape(self.d, self.d)
        return (0.5 * (V + V.T)).reshape(-1)


def places_of(canonical: Canonical) -> list[PlacedBlock]:
    """The blocks in the order of x: a variable is one, a family one for each of its members."""
    sides = {block.start: _side(m) for block, m in canonical.terms[0].map.parts}
    return [place for block in canonical.blocks for place in _places(block, sides.get(block.start, 0))]


def _side(m: LinearMap) -> int:
    """The side of the symmetric matrices that a map takes; 0 where it takes others."""
    if isinstance(m, Symmetrise):
        return m.d
    inner = m.left if isinstance(m, Add) else m.inner if isinstance(m, Scaled | Compose) else None
    return 0 if inner is None else _side(inner)


def _places(block: Block, d: int) -> Iterator[PlacedBlock]:
    g = block.g
    inner, c = (g.inner, g.c) if isinstance(g, Ridged) else (g, 0.0)
    one, count = (inner.inner, inner.count) if isinstance(inner, Repeated) else (inner, 1)
    own = Ridged(one, c) if c else one
    for t in range(count):
        start = block.start + t * one.size
        yield PlacedBlock(start, start + one.size, own, d, isinstance(one, Spectral))


@light_dataclass
class Link:
    """z += c * data(x[start:stop]), for all samples or, one map a task, for those of each task with the block of its own.

    `tasks` has the task of each sample and its place among those of the task.
    """

    start: int
    stop: int
    c: float
    maps: tuple[LinearMap, ...]
    tasks: tuple[Index, Index] | None = None

    @property
    def width(self) -> int:
        """The numbers of a block."""
        return (self.stop - self.start) // len(self.maps)

    @property
    def nnz(self) -> int:
        return sum(m.nnz for m in self.maps)

    def block(self, start: int, stop: int, index: Index) -> LinkPart | None:
        """The links of the samples at `index` with one block, with copies of no more data; None where there are none."""
        if not (self.start <= start and stop <= self.stop):
            return None
        if self.tasks is None:
            m = self.maps[0]
            if isinstance(m, Quad):
                return LinkPart(start, stop, self.c, _some(m, index), slice(None))
            assert isinstance(m, Matrix)
            columns = slice(start - self.start, stop - self.start)
            A = m.A[index, columns] if isinstance(m.A, np.ndarray) else m.A[index][:, columns]
            return LinkPart(start, stop, self.c, Matrix(A, False, m.name), slice(None))
        t = (start - self.start) // self.width
        at = np.flatnonzero(self.tasks[0][index] == t)
        return LinkPart(start, stop, self.c, _some(self.maps[t], self.tasks[1][index[at]]), at)

    def all_rows(self) -> Iterator[LinkPart]:
        """The maps of all rows with the samples of each."""
        for t, m in enumerate(self.maps):
            start = self.start + t * self.width
            at = slice(None) if self.tasks is None else np.flatnonzero(self.tasks[0] == t)
            yield LinkPart(start, start + self.width, self.c, m, at)

    def rows(self, index: Index) -> Iterator[LinkPart]:
        """The same for the samples at `index`; each part holds its places in `index`."""
        if self.tasks is None:
            yield LinkPart(self.start, self.stop, self.c, _some(self.maps[0], index), slice(None))
            return
        task, place = (v[index] for v in self.tasks)
        order = np.argsort(task, kind="stable")
        ends = np.searchsorted(task[order], np.arange(len(self.maps) + 1))
        for t in np.flatnonzero(np.diff(ends)):
            at = order[ends[t] : ends[t + 1]]
            start = self.start + int(t) * self.width
            yield LinkPart(start, start + self.width, self.c, _some(self.maps[t], place[at]), at)


@light_dataclass
class LinkPart:
    """z[at] += c * map(x[start:stop])."""

    start: int
    stop: int
    c: float
    map: LinearMap
    at: Index | slice

    def forward(self, x: Array, z: Array) -> None:
        """Add to the predictions z of the samples that it was asked for."""
        z[self.at] += self.c * self.map.apply(x[self.start : self.stop])

    def backward(self, y: Array, out: Array) -> None:
        """Add the adjoint at y to `out`, of the size of x."""
        out[self.start : self.stop] += self.c * self.map.adjoint(y[self.at])

    def narrowed(self, start: int, stop: int) -> LinkPart:
        """The part for one of several blocks in a row."""
        if (start, stop) == (self.start, self.stop):
            return self
        assert isinstance(self.map, Matrix)
        A = self.map.A
        columns = slice(start - self.start, stop - self.start)
        return LinkPart(start, stop, self.c, Matrix(A[:, columns], False, self.map.name), self.at)


def _some(m: LinearMap, index: Index) -> LinearMap:
    """The rows of a map at `index`."""
    if index.size == m.rows:
        return m
    if isinstance(m, Quad):
        return Quad(m.U[index], m.name)
    assert isinstance(m, Matrix)
    return Matrix(m.A[index], False, m.name)


def links_of(block: Block, m: LinearMap) -> list[Link] | None:
    """The links that a map of one variable is made of; None where it is made of other things."""
    found: list[Link] = []
    return found if _collect(block, m, 1.0, found) else None


def _collect(block: Block, m: LinearMap, c: float, found: list[Link]) -> bool:
    if isinstance(m, Scaled):
        return _collect(block, m.inner, c * m.c, found)
    if isinstance(m, Add):
        return _collect(block, m.left, c, found) and _collect(block, m.right, c, found)
    if isinstance(m, Compose) and isinstance(m.inner, Symmetrise):
        return _collect(block, m.outer, c, found)
    if isinstance(m, Gathered):
        if not all(_is_data(part) for part in m.parts):
            return False
        task, place = np.zeros(m.n, np.intp), np.zeros(m.n, np.intp)
        for t, at in enumerate(m.samples):
            task[at], place[at] = t, np.arange(at.size)
        found.append(Link(block.start, block.stop, c, m.parts, (task, place)))
        return True
    if _is_data(m):
        found.append(Link(block.start, block.stop, c, (m,)))
        return True
    return False


def _is_data(m: LinearMap) -> bool:
    if isinstance(m, Quad):
        return is_written(m.U)
    return isinstance(m, Matrix) and not m.transposed and is_written(m.A)


def largest_row(links: list[Link], n: int) -> float:
    """max_i |K_i|_F^2: exact for squares of differences (|aa' - cc'|^2 = |a|^4 + |c|^4 - 2 (a'c)^2), else by the triangle inequality."""
    total = np.zeros(n)
    by_place: dict[tuple[int, int], list[Link]] = {}
    for link in links:
        by_place.setdefault((link.start, link.stop), []).append(link)
    for group in by_place.values():
        quads = [_vectors(link, n) for link in group]
        if all(u is not None for u in quads):
            for a, u in zip(group, quads, strict=True):
                for b, v in zip(group, quads, strict=True):
                    assert u is not None and v is not None
                    total += a.c * b.c * np.einsum("ij,ij->i", u, v) ** 2
        else:
            total += sum(abs(link.c) * np.sqrt(_row_squares(link, n)) for link in group) ** 2
    return float(total.max(initial=0.0))


def _vectors(link: Link, n: int) -> Array | None:
    """The vectors of a link by `quad`, in the order of the samples."""
    if not all(isinstance(m, Quad) and isinstance(m.U, np.ndarray) for m in link.maps):
        return None
    out = np.empty((n, link.maps[0].U.shape[1]))  # type: ignore[attr-defined]
    for part in link.all_rows():
        out[part.at] = part.map.U  # type: ignore[attr-defined]
    return out


def _row_squares(link: Link, n: int) -> Array:
    out = np.zeros(n)
    for part in link.all_rows():
        A = part.map.U if isinstance(part.map, Quad) else part.map.A  # type: ignore[attr-defined]
        if isinstance(A, np.ndarray):
            squares = np.einsum("ij,ij->i", A, A, dtype=np.float64)
        else:
            squares = np.asarray(A.power(2).sum(axis=1), dtype=np.float64).reshape(-1)
        out[part.at] = squares**2 if isinstance(part.map, Quad) else squares
    return out
