"""Types and shapes by dimension name."""

from __future__ import annotations

from typing import Literal

from ..light_dataclass import value_dataclass
from ..words import Scalar
from .dims import Dim

Sign = Literal["zero", "positive", "nonnegative", "negative", "nonpositive", "unknown"]
"""The sign of every entry of an expression, as far as it is known. `positive` and `negative` are strict."""

Kind = Literal[
    "real",  # also positive, nonnegative, count: see `Type.domain`
    "vector",
    "matrix",
    "tensor",
    "signs",
    "labels",
    "index",
    "entries",
    "symmetric",
    "psd",
    "family",
    "features",  # a feature map over a data matrix: an implicit one is only used through its Gram matrix
    "list",  # literal lists (groups)
    "string",
    "boolean",
]


_PLAIN = frozenset(("real", "vector", "matrix"))
"""The kinds of most types: their arrays have the shapes that are declared."""


@value_dataclass
class Type:
    """A type with its shape.

    `shape` lists the dimensions as declared; `()` for scalars. For `labels[n, k]` it is `(n, k)` or `(n,)`, for
    `symmetric[d]` and `psd[d]` it is `(d,)`, for `family[T] of B` it is `(T,)` with `element` = B, for `index[n] of T`
    it is `(n,)` with `classes` = T. `domain` is the domain of a scalar, or the
    promise (`in nonnegative`) of vectors and matrices of data.
    """

    kind: Kind
    shape: tuple[Dim, ...] = ()
    domain: Scalar = "real"
    element: Type | None = None
    classes: Dim | None = None

    @property
    def array_shape(self) -> tuple[Dim, ...]:
        """The shape of the array: (d, d) for `symmetric[d]`, (T, ...) for a family, (n,) for labels and an index."""
        if self.kind in _PLAIN:
            return self.shape
        if self.is_symmetric:
            return self.shape * 2
        if self.is_family and self.element is not None:
            return self.shape + self.element.array_shape
        return self.shape[:1] if self.is_coded else self.shape

    @property
    def block(self) -> Type:
        """The type of one block of a family, and any other type itself."""
        return self.element if self.is_family and self.element is not None else self

    @property
    def is_scalar(self) -> bool:
        return self.kind == "real"

    @property
    def is_vector(self) -> bool:
        return self.kind == "vector"

    @property
    def is_matrix(self) -> bool:
        """True if it is declared a matrix, and promises no symmetry."""
        return self.kind == "matrix"

    @property
    def is_symmetric(self) -> bool:
        """True if it promises a symmetric matrix, positive semidefinite or not."""
        return self.kind in ("symmetric", "psd")

    @property
    def is_psd(self) -> bool:
        return self.kind == "psd"

    @property
    def is_signs(self) -> bool:
        return self.kind == "signs"

    @property
    def is_labels(self) -> bool:
        return self.kind == "labels"

    @property
    def is_index(self) -> bool:
        return self.kind == "index"

    @property
    def is_coded(self) -> bool:
        """True if its values stand for things by their numbers: classes, or positions."""
        return self.kind in ("labels", "index")

    @property
    def is_entries(self) -> bool:
        return self.kind == "entries"

    @property
    def is_family(self) -> bool:
        return self.kind == "family"

    @property
    def is_features(self) -> bool:
        return self.kind == "features"
