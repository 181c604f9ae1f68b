"""The record of a convex set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

from .base import GROUPS, Parameter, Word

Of = Literal["vector", "entrywise", "matrix", "square", "symmetric"]
Total = Literal["", "equal", "most", "sizes"]
End = float | str
V = TypeVar("V")


@dataclass(frozen=True, kw_only=True)
class SetWord(Word):
    """A convex set. `of` says what it is a set of.

    "vector": vectors only; "entrywise": vectors and, entry by entry, matrices; "matrix"; "square"; "symmetric". Entrywise sets and those marked
    `scalar` hold for a number too. A set with a parameter `r` is r times a set.
    """

    of: Of
    #: It is the solution set of finitely many linear inequalities.
    polyhedral: bool
    scalar: bool = False
    #: It is made of a vector set, which it asks of each row, of each column or of all entries.
    inner: Literal["", "rows", "columns", "entries"] = ""
    #: The norm whose ball it is.
    norm: str = ""
    #: It is the ball of the trace norm, in which a matrix is kept as factors.
    trace_norm: bool = False
    #: It is bounded. A box is, where its bounds are finite.
    compact: bool = True
    #: The least and the largest value of each entry, which are all that it says: numbers, or parameters, `-r` for less a parameter.
    #: Several such sets meet in a box.
    ends: tuple[End, End] | None = None
    #: Of two with different radii the smaller one is their intersection.
    nested: bool = False
    #: The cone it lies in, whatever its radius.
    cone: str = ""
    #: Sets of the same radius that contain it, whatever the dimension.
    within: tuple[str, ...] = ()
    #: What is r, or at most r: the sum of its nonnegative entries or the trace of its matrices ("equal", "most"), the sum of the sizes of its
    #: entries ("sizes").
    total: Total = ""
    #: It is the same under every permutation of the entries.
    permutable: bool = False
    #: It does not tell a matrix from its transpose (a box, once its bounds are made so).
    transposable: bool = False
    #: The vector set that it asks of the eigenvalues (of "symmetric") or the singular values.
    spectrum: str = ""
    #: How its support function is known: to rounding, or by a dense decomposition, rounded up.
    certificate: Literal["exact", "rigorous"] = "exact"
    #: What it is written with instead of a prox of its own: A x = b, a'x <= b, a convex combination of points, or its rows and columns.
    written_as: Literal["", "equations", "inequality", "hull", "rows and columns"] = ""
    #: The order in which the nonsmooth part of a block prefers sets: compact ones that bound the dual first, entrywise ones last.
    place: int = 1
    #: The same for a matrix, where this one is of vectors only; what to write for a vector, where it is of matrices.
    of_matrices: str = ""
    of_vectors: str = ""
    #: Another notation for a set of vectors of radius 1, asked of each row: (`rows`, the set).
    stands_for: tuple[str, ...] = ()

    @property
    def bounds(self) -> bool:
        """True if it bounds each entry by itself, and says no more."""
        return self.ends is not None

    @property
    def given_bounds(self) -> bool:
        """True if its bounds are parameters of their own, which may be infinite, differ from entry to entry, and cross."""
        return self.bounds and any(p.shape == "bound" for p in self.parameters)

    def bounds_of(self, args: Mapping[str, V], number: Callable[[float], V], negated: Callable[[V], V]) -> tuple[V, V]:
        """The ends, with `args` in the place of parameters: `number` makes such a value of a number."""
        assert self.ends is not None

        def value(end: End) -> V:
            if not isinstance(end, str):
                return number(end)
            return negated(args[end[1:]]) if end.startswith("-") else args[end]

        return value(self.ends[0]), value(self.ends[1])

    @cached_property
    def threshold(self) -> bool:
        """True if its projection takes one number from the sizes of all entries, or of all groups: the multiplier of its bound."""
        return self.of in ("vector", "entrywise") and (bool(self.total) or self.grouped)

    @property
    def one_radius(self) -> bool:
        """True if two of it, of radii that may differ, are one: the smaller one, or none but where the radii are the same."""
        return self.nested or (self.total == "equal" and self.threshold)

    @cached_property
    def grouped(self) -> bool:
        """True if it is of groups of entries."""
        return any(p.name == GROUPS[0].name for p in self.parameters)

    @property
    def scaled(self) -> bool:
        """True if it has a radius: it is r times the set of radius 1."""
        return any(p.name == "r" for p in self.parameters)


NONNEGATIVE = "nonnegative"
"""The set of all points without a negative entry."""


def set_word(
    name: str,
    formula: str,
    *parameters: Parameter,
    of: Literal["", "vector", "entrywise"] = "",
    compact: bool = True,
    polyhedral: bool = False,
    permutable: bool = False,
    ends: tuple[End, End] | None = None,
    total: Total = "",
    elsewhere: tuple[str, ...] = (),
) -> SetWord:
    """The record of a set of vectors, or of vectors and all entries of matrices alike ("entrywise"); see `SetWord`.

    What `ends` and `total` imply need not be said: bounds of the entries are entrywise, and the same for every order of them where they are numbers.
    """
    numbers = not any(p.shape in ("bound", "entries") for p in parameters)
    permutable = permutable or bool(total) or (ends is not None and numbers)
    entrywise = of == "entrywise" or (not of and ends is not None)
    return SetWord(
        name=name,
        formula=formula,
        parameters=parameters,
        elsewhere=elsewhere,
        of="entrywise" if entrywise else "vector",
        compact=compact,
        polyhedral=polyhedral or ends is not None or bool(total),
        permutable=permutable,
        transposable=entrywise and (permutable or ends is not None),
        ends=ends,
        total=total,
        nested=total in ("most", "sizes"),
        cone=NONNEGATIVE if total in ("most", "equal") else "",
        place=0 if total == "equal" else 4 if ends is not None else 1,
    )
