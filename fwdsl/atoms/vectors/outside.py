"""Sets of vectors from outside, which carry their record: what `fwdsl.extend` makes words of."""

from __future__ import annotations

import numpy as np

from ...words import SetWord
from ..base import Array, VectorFunction
from ..entries import EntrySum
from .common import ConvexSet


class VectorSet(ConvexSet):
    """A set of vectors from outside, made as `cls(size, **parameters)`; it carries its record: `word = set_word(...)`.

    A class must have `radius`, `violation`, `prox` (the projection) and `conjugate` (the support function); `lmo` where it is bounded,
    `dual_scale` and `dual_project` where it is not. The rest has defaults here.
    """

    compiled = False
    #: A class that has a kernel says `compiled = True` and names its arguments in `kernel_args`.
    prox_kernel = None  # type: ignore[assignment]

    @property
    def record(self) -> SetWord:
        return self.word

    @property
    def entrywise(self) -> bool:  # type: ignore[override]
        """True if its record says that bounds of the entries are all of it."""
        return self.word.bounds

    def bounds(self) -> tuple[Array, Array]:
        """The ends that its record names."""
        if not self.word.bounds:
            return super().bounds()
        arguments = {p.name: getattr(self, p.name) for p in self.word.parameters}
        ends = (np.asarray(end, dtype=np.float64) for end in self.word.bounds_of(arguments, float, np.negative))
        lo, hi = (np.ascontiguousarray(np.broadcast_to(end, (self.size,))) for end in ends)
        return lo, hi

    def describe(self) -> str:
        """`name(parameters)`, arrays by the names of their parameters."""
        arguments = {p.name: getattr(self, p.name) for p in self.word.parameters}
        written = (f"{value:g}" if np.ndim(value) == 0 else name for name, value in arguments.items())
        return f"{self.word.name}({', '.join(written)})" if arguments else self.word.name

    @property
    def has_faces(self) -> bool:
        """True if the class tells faces."""
        return type(self).face is not VectorFunction.face

    def entries(self) -> EntrySum | None:
        """The bounds, where these are all of it."""
        return EntrySum(0.0, 0.0, *self.bounds()) if self.entrywise else None
