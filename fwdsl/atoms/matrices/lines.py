"""A function of vectors, added up over the rows or the columns of a matrix: rows(SET), columns(SET), norm21, norm1_inf.

With g(X) = sum_i h(x_i) over the lines x_i everything is line by line: prox, conjugate, LMO, projections. norm21 is norm2 of the rows (dual norm the
largest l2 norm of a row), norm1_inf norm_inf of the rows (dual the largest l1 norm), simplex_product rows(simplex(1)).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base import Array, Face, VectorFunction
from ..conic import Conic
from ..family import joined
from ..inner import OfInner
from ..vectors.box import box_kernel
from ..vectors.common import ConvexSet
from ..vectors.entropy import entropy_kernel
from ..vectors.entropy_simplex import lines_entropy_simplex_kernel
from ..vectors.free import free_kernel
from ..vectors.linf_ball import clip_kernel
from ..vectors.nonnegative import positive_kernel
from ..vectors.norm2 import norm2_kernel
from ..vectors.threshold import threshold_kernel
from .by_rows import Norms, RowFunctions, rows_of
from .common import Shape
from .line_kernels import lines_norm2_kernel, lines_threshold_kernel

Kernel = Callable[..., None]

#: Kernels that see one entry at a time: the same for a matrix.
ENTRYWISE: tuple[Kernel, ...] = (clip_kernel, entropy_kernel, free_kernel, positive_kernel)

#: Kernels of a vector, and those of many.
ALONG_LINES: dict[Kernel, Kernel] = {threshold_kernel: lines_threshold_kernel, norm2_kernel: lines_norm2_kernel}

NORMS_OF_ROWS = {"norm1": "norm1", "norm2": "norm21", "norm_inf": "norm1_inf", "entropy": "entropy"}

FACE_NUMBERS = 10_000_000
"""No face is told where its normals would take more numbers than this."""


@dataclass(frozen=True, eq=False, repr=False)
class Lines(OfInner):
    """`inner` of every row (axis 0) or every column (axis 1)."""

    shape: Shape
    axis: int
    inner: VectorFunction
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", math.prod(self.shape))
        if self.inner.size != self.shape[1 - self.axis]:
            raise ValueError(
                f"a function of {self.inner.size} entries is not one of lines of {self.shape[1 - self.axis]}"
            )

    @cached_property
    def _rows(self) -> RowFunctions | None:
        """All lines at once, for the inner functions that are written so."""
        return rows_of(self.inner)

    def lines(self, x: Array) -> Array:
        """x by lines: a view."""
        a = x.reshape(self.shape)
        return a if self.axis == 0 else a.T

    def flat(self, lines: Array) -> Array:
        return np.ascontiguousarray(lines if self.axis == 0 else lines.T).reshape(-1)

    # --- facts --------------------------------------------------------------------------------------------------------
    @property
    def pair(self) -> tuple[str | None, str | None]:  # type: ignore[override]
        """The norm's name over rows, and `rows` or `columns` where there is a set."""
        norm, on = self.inner.pair
        return (None if norm is None else NORMS_OF_ROWS.get(norm, norm)), (
            None if on is None else ("rows", "columns")[self.axis]
        )

    vectorised = False

    @property
    def compiled(self) -> bool:  # type: ignore[override]
        return self.inner.compiled and self.prox_kernel is not None

    def like(self, inner: VectorFunction) -> VectorFunction:
        return (LinesSet if isinstance(inner, ConvexSet) else Lines)(self.shape, self.axis, inner)

    def radius(self) -> float:
        """n^(1/2) times that of a line."""
        return math.sqrt(self.shape[self.axis]) * self.inner.radius() if self.size else 0.0

    def describe(self) -> str:
        """`c * norm21`, `rows(simplex(1))`, `c * norm1 on columns(l2_ball(1))`."""
        norm, on = self.pair
        words = [] if norm is None else [f"{self.inner.c:g} * {norm}"]  # type: ignore[attr-defined]
        words += [] if on is None else [f"{on}({getattr(self.inner, 'on', self.inner).describe()})"]
        return " on ".join(words)

    def coercive(self) -> tuple[float, str] | None:
        """c for the norm of the lines added up, or for a smaller one of all entries."""
        found = self.inner.coercive()
        if found is None or found[1] == "linf":
            return found
        over_rows = {"l2": "l2inf", "l1": "l1inf"}[found[1]]
        return found[0], over_rows if self.axis == 0 else found[1]

    # --- functions ----------------------------------------------------------------------------------------------------
    def value(self, x: Array) -> float:
        if self._rows is not None:
            return self._rows.value(self.lines(x))
        return 0.0 if self.pair[0] is None else math.fsum(self.inner.value(line) for line in self.lines(x))

    def enclosing_box(self) -> tuple[Array, Array]:
        """The entries of each line, side by side."""
        lo, hi = (self.flat(np.tile(end, (self.shape[self.axis], 1))) for end in self.inner.enclosing_box())
        return lo, hi

    def into_recession(self, d: Array) -> Array:
        return self.flat(np.array([self.inner.into_recession(line) for line in self.lines(d)])) if d.size else d.copy()

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """The largest of a line."""
        lines, size = self.lines(x), self.lines(self.own_sizes(x) if sizes is None else sizes)
        if self._rows is not None:
            return self._rows.violation(lines, size)
        return max((self.inner.violation(line, s) for line, s in zip(lines, size, strict=True)), default=0.0)

    def prox(self, v: Array, t: float) -> Array:
        together = self._rows.project(self.lines(v)) if self._rows is not None else None
        if together is not None:
            return self.flat(together)
        return self._each(v, lambda line: self.inner.prox(line, t))

    def conjugate(self, v: Array) -> float:
        if self._rows is not None:
            return self._rows.conjugate(self.lines(v))
        return _sum(self.inner.conjugate(line) for line in self.lines(v))

    def infimum(self) -> float:
        return self.shape[self.axis] * self.inner.infimum()

    def dual_scale(self, v: Array) -> float:
        """The least of a line: the domain of a conjugate that holds the origin is a star around it."""
        if isinstance(self._rows, Norms):
            return self._rows.dual_scale(self.lines(v))
        return min((self.inner.dual_scale(line) for line in self.lines(v)), default=1.0)

    def dual_project(self, v: Array) -> Array:
        if isinstance(self._rows, Norms):
            return self.flat(self._rows.dual_project(self.lines(v)))
        return self._each(v, self.inner.dual_project)

    def normal_part(self, x: Array, rest: Array) -> Array:
        pairs = zip(self.lines(x), self.lines(rest), strict=True)
        return self.flat(np.array([self.inner.normal_part(*pair) for pair in pairs])) if self.size else rest

    def lmo(self, c: Array) -> Array | None:
        """Line by line, or all at once."""
        together = self._rows.lmo(self.lines(c)) if self._rows is not None else None
        if together is not None:
            return self.flat(together)
        found = [self.inner.lmo(line) for line in self.lines(c)]
        inside = [x for x in found if x is not None]
        return None if len(inside) < len(found) else self.flat(np.array(inside).reshape(len(found), -1))

    def vertex_id(self, c: Array) -> tuple[int, ...] | None:
        return joined(self.inner.vertex_id(line) for line in self.lines(c))

    @property
    def has_faces(self) -> bool:
        return self.inner.has_faces

    def face(self, x: Array) -> Face | None:
        """The faces of the lines side by side; None where a line has none, or where there are too many normals to write down."""
        together = self._rows.faces(self.lines(x)) if self._rows is not None else None
        if together is not None:
            return self._face_of_sums(*together)
        faces = []
        for line in self.lines(x):
            found = self.inner.face(line)
            if found is None:
                return None
            faces.append(found)
        free = sum(f.free.size for f in faces)
        count = sum(f.normals.shape[0] for f in faces)
        if count * free > FACE_NUMBERS:
            return None
        normals, slope = np.zeros((count, free)), np.zeros(free)
        across, along = self._strides()
        places, row, column = [np.zeros(0, dtype=np.intp)], 0, 0
        for i, f in enumerate(faces):
            rows, columns = slice(row, row + f.normals.shape[0]), slice(column, column + f.free.size)
            normals[rows, columns] = f.normals
            slope[columns] = f.slope
            places.append(i * across + f.free * along)
            row, column = rows.stop, columns.stop
        return Face(np.concatenate(places), normals, slope)

    def _face_of_sums(self, free: NDArray[np.bool_], tight: NDArray[np.bool_]) -> Face | None:
        """The face of these entries, whose sum is kept in the tight lines."""
        line, entry = np.nonzero(free)
        count = int(np.count_nonzero(tight))
        if count * line.size > FACE_NUMBERS:
            return None
        normals, kept = np.zeros((count, line.size)), np.flatnonzero(tight[line])
        normals[(np.cumsum(tight) - 1)[line[kept]], kept] = 1.0
        across, along = self._strides()
        return Face(line * across + entry * along, normals, np.zeros(line.size))

    def diameter(self) -> float:
        """n^(1/2) times that of a line."""
        assert isinstance(self.inner, ConvexSet)
        return math.sqrt(self.shape[self.axis]) * self.inner.diameter() if self.size else 0.0

    def _each(self, v: Array, do: Callable[[Array], Array]) -> Array:
        lines = self.lines(v)
        out = np.empty(lines.shape)
        for i, line in enumerate(lines):
            out[i] = do(np.ascontiguousarray(line))
        return self.flat(out)

    # --- kernels ------------------------------------------------------------------------------------------------------
    def _strides(self) -> tuple[int, int]:
        return (self.shape[1], 1) if self.axis == 0 else (1, self.shape[1])

    @property
    def prox_kernel(self) -> Kernel:  # type: ignore[override]
        """The kernel of the inner function along lines; None where there is none, and `compiled` is False."""
        inner = self.inner.prox_kernel
        if inner in (*ENTRYWISE, box_kernel, lines_entropy_simplex_kernel):
            return inner
        return ALONG_LINES.get(inner)  # type: ignore[return-value]

    def conic(self) -> Conic | None:
        inner = self.inner.conic()
        places = np.arange(self.size).reshape(self.shape)
        return None if inner is None else inner.repeated(places if self.axis == 0 else places.T, self.size)

    def conic_limit(self) -> str:
        return self.inner.conic_limit()

    def kernel_args(self) -> tuple[Any, ...]:
        """The places of the lines, and the arguments of the inner function."""
        inner = self.inner.prox_kernel
        if inner in ENTRYWISE:
            return self.inner.kernel_args()
        if inner is box_kernel:
            c, lo, hi = self.inner.kernel_args()
            count = self.shape[self.axis]
            return c, *(self.flat(np.broadcast_to(bound, (count, bound.size))) for bound in (lo, hi))
        own = self.inner.kernel_args()
        if inner is lines_entropy_simplex_kernel:
            # it is one for lines already: of a vector it has one, and its strides
            own = own[4:]
        return (self.shape[self.axis], self.shape[1 - self.axis], *self._strides(), *own)


class LinesSet(Lines, ConvexSet):
    """`rows(SET)` and `columns(SET)`."""

    inner: ConvexSet

    @property
    def scale(self) -> float:
        return self.inner.scale

    def of_radius(self, r: float) -> LinesSet:
        """The same lines, each with its set of another radius."""
        return replace(self, inner=self.inner.of_radius(r))


def _sum(parts: Any) -> float:
    """The sum, where one part may be infinite."""
    found = list(parts)
    return math.inf if math.inf in found else math.fsum(found)
