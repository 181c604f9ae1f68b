"""The convex sets. Their mathematics is in `fwdsl.atoms.vectors` and `fwdsl.atoms.matrices`, in a file of their name or of what they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .base import GROUPS, Parameter, Word, Words

Of = Literal["vector", "entrywise", "matrix", "square", "symmetric"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetWord(Word):
    """A convex set. `of` says what it is a set of.

    "vector": vectors only; "entrywise": vectors and, entry by entry, matrices; "matrix"; "square"; "symmetric". Entrywise sets and those marked
    `scalar` hold for a number too. A set with a parameter `r` is r times a set.
    """

    of: Of
    scalar: bool = False
    #: It is made of a vector set, which it asks of each row, of each column or of all entries.
    inner: Literal["", "rows", "columns", "entries"] = ""
    #: The norm whose ball it is.
    norm: str = ""
    #: It is the ball of the trace norm, in which a matrix is kept as factors.
    trace_norm: bool = False
    #: It is bounded. A box is, where its bounds are finite.
    compact: bool = True
    #: It is the solution set of finitely many linear inequalities.
    polyhedral: bool = True
    #: It bounds each entry by itself; several such sets meet in a box.
    bounds: bool = False
    #: Of two with different radii the smaller one is their intersection.
    nested: bool = False
    #: The cone it lies in, whatever its radius.
    cone: str = ""
    #: Sets of the same radius that contain it, whatever the dimension.
    within: tuple[str, ...] = ()
    #: The sum of its entries, or the trace of its matrices: r, or at most r.
    total: Literal["", "equal", "most"] = ""
    #: Its projection takes one number from the sizes of all entries, or of all groups: the multiplier of its bound.
    threshold: bool = False
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
    def grouped(self) -> bool:
        """True if the set is of groups of entries."""
        return any(p.name == GROUPS[0].name for p in self.parameters)

    @property
    def scaled(self) -> bool:
        """True if the set has a radius: it is r times the set of radius 1."""
        return any(p.name == "r" for p in self.parameters)


def set_word(
    name: str,
    formula: str,
    *parameters: Parameter,
    compact: bool = True,
    polyhedral: bool = False,
    permutable: bool = False,
    elsewhere: tuple[str, ...] = (),
) -> SetWord:
    """The record of a set of vectors that has no place of its own in the canonical form; see `SetWord`."""
    return SetWord(
        name=name,
        formula=formula,
        parameters=parameters,
        elsewhere=elsewhere,
        of="vector",
        compact=compact,
        polyhedral=polyhedral,
        permutable=permutable,
    )


_RADIUS = (Parameter("r", "positive"),)
_INNER = (Parameter("set", "set"),)
_ALL_BALLS = ("l1_ball", "l2_ball", "linf_ball")
_SPECTRAL_BALLS = ("nuclear_ball", "fro_ball", "spectral_ball")

# The sets that the language has another notation for (comparisons, types), and those that the canonical form writes others with.
BOX = "box"
NONNEGATIVE = "nonnegative"
PSD = "psd"
SIMPLEX = "simplex"
SOLID_SIMPLEX = "solid_simplex"

SETS: dict[str, SetWord] = Words(
    (
        SetWord(
            name="l1_ball",
            formula="norm1(x) <= r.",
            parameters=_RADIUS,
            elsewhere=("l1",),
            of="entrywise",
            norm="norm1",
            nested=True,
            within=("l2_ball", "linf_ball"),
            threshold=True,
            permutable=True,
            transposable=True,
        ),
        SetWord(
            name="l2_ball",
            formula="norm2(x) <= r.",
            parameters=_RADIUS,
            elsewhere=("ball", "l2"),
            of="vector",
            norm="norm2",
            polyhedral=False,
            nested=True,
            within=("linf_ball",),
            permutable=True,
            of_matrices="fro_ball",
        ),
        SetWord(
            name="linf_ball",
            formula="norm_inf(x) <= r.",
            parameters=_RADIUS,
            elsewhere=("linf",),
            of="entrywise",
            norm="norm_inf",
            bounds=True,
            nested=True,
            permutable=True,
            transposable=True,
            place=4,
        ),
        SetWord(
            name="box",
            formula="lo <= x <= hi, entrywise; a side may be inf or -inf.",
            parameters=(Parameter("lo", shape="bound"), Parameter("hi", shape="bound")),
            elsewhere=("interval", "bounds"),
            of="entrywise",
            scalar=True,
            bounds=True,
            transposable=True,
            place=5,
        ),
        SetWord(
            name="nonnegative",
            formula="x >= 0, entrywise.",
            elsewhere=("positive", "nonneg", "r_plus", "nonnegative_orthant"),
            of="entrywise",
            scalar=True,
            compact=False,
            bounds=True,
            permutable=True,
            transposable=True,
            place=6,
        ),
        SetWord(
            name="simplex",
            formula="x >= 0 and sum(x) = r.",
            parameters=_RADIUS,
            elsewhere=("simplex1", "unit_simplex", "probability_simplex"),
            of="vector",
            cone="nonnegative",
            within=("solid_simplex", *_ALL_BALLS),
            total="equal",
            threshold=True,
            permutable=True,
            place=0,
        ),
        SetWord(
            name="solid_simplex",
            formula="x >= 0 and sum(x) <= r.",
            parameters=_RADIUS,
            of="vector",
            nested=True,
            cone="nonnegative",
            within=_ALL_BALLS,
            total="most",
            threshold=True,
            permutable=True,
        ),
        SetWord(
            name="ksupport_ball",
            formula="Hull of the vectors with at most k nonzeros and Euclidean norm at most r.",
            parameters=(Parameter("k", "count"), *_RADIUS),
            of="vector",
            polyhedral=False,
            permutable=True,
        ),
        SetWord(
            name="group_ball",
            formula="group_norm(x, groups, weights) <= r.",
            parameters=(*_RADIUS, *GROUPS),
            of="vector",
            norm="group_norm",
            polyhedral=False,
            threshold=True,
        ),
        SetWord(
            name="affine",
            formula="A @ x == b.",
            parameters=(Parameter("A", shape="columns"), Parameter("b", shape="right")),
            of="vector",
            compact=False,
            written_as="equations",
        ),
        SetWord(
            name="halfspace",
            formula="dot(a, x) <= b.",
            parameters=(Parameter("a", shape="entries"), Parameter("b", shape="number")),
            of="vector",
            compact=False,
            written_as="inequality",
        ),
        SetWord(
            name="polytope",
            formula="The convex hull of the rows of V.",
            parameters=(Parameter("V", shape="columns"),),
            of="vector",
            written_as="hull",
        ),
        SetWord(
            name="permutahedron",
            formula="The convex hull of the permutations of c.",
            parameters=(Parameter("c", shape="entries"),),
            of="vector",
            permutable=True,
            place=3,
        ),
        SetWord(
            name="fro_ball",
            formula="norm_fro(X) <= r.",
            parameters=_RADIUS,
            of="matrix",
            norm="norm_fro",
            polyhedral=False,
            nested=True,
            within=("spectral_ball",),
            transposable=True,
            spectrum="l2_ball",
            of_vectors="l2_ball",
        ),
        SetWord(
            name="nuclear_ball",
            formula="norm_nuc(X) <= r.",
            parameters=_RADIUS,
            of="matrix",
            norm="norm_nuc",
            trace_norm=True,
            polyhedral=False,
            nested=True,
            within=("fro_ball", "spectral_ball"),
            transposable=True,
            spectrum="l1_ball",
            certificate="rigorous",
        ),
        SetWord(
            name="spectral_ball",
            formula="norm_spec(X) <= r.",
            parameters=_RADIUS,
            of="matrix",
            norm="norm_spec",
            polyhedral=False,
            nested=True,
            transposable=True,
            spectrum="linf_ball",
            certificate="rigorous",
        ),
        SetWord(
            name="l21_ball",
            formula="norm21(X) <= r.",
            parameters=_RADIUS,
            of="matrix",
            norm="norm21",
            polyhedral=False,
            nested=True,
        ),
        SetWord(
            name="l1_inf_ball",
            formula="norm1_inf(X) <= r.",
            parameters=_RADIUS,
            of="matrix",
            norm="norm1_inf",
            nested=True,
        ),
        SetWord(
            name="rows",
            formula="Matrices whose every row lies in a set.",
            parameters=_INNER,
            of="matrix",
            inner="rows",
        ),
        SetWord(
            name="columns",
            formula="Matrices whose every column lies in a set.",
            parameters=_INNER,
            of="matrix",
            inner="columns",
        ),
        SetWord(
            name="vec",
            formula="Matrices whose entries, as one vector, lie in a set.",
            parameters=_INNER,
            of="matrix",
            inner="entries",
        ),
        SetWord(
            name="simplex_product",
            formula="Matrices whose every row lies in simplex(1).",
            of="matrix",
            of_vectors="simplex(1)",
            stands_for=("rows", SIMPLEX),
        ),
        SetWord(
            name="birkhoff",
            formula="Doubly stochastic matrices: every row and every column lies in simplex(1).",
            of="square",
            cone="nonnegative",
            written_as="rows and columns",
        ),
        SetWord(
            name="psd",
            formula="Positive semidefinite matrices.",
            elsewhere=("psd_cone",),
            of="symmetric",
            compact=False,
            polyhedral=False,
            transposable=True,
            spectrum="nonnegative",
            certificate="rigorous",
            place=2,
        ),
        SetWord(
            name="spectrahedron",
            formula="Positive semidefinite with trace r.",
            parameters=_RADIUS,
            of="symmetric",
            polyhedral=False,
            cone="psd",
            within=("solid_spectrahedron", *_SPECTRAL_BALLS),
            total="equal",
            transposable=True,
            spectrum="simplex",
            certificate="rigorous",
            place=0,
        ),
        SetWord(
            name="solid_spectrahedron",
            formula="Positive semidefinite with trace at most r.",
            parameters=_RADIUS,
            of="symmetric",
            polyhedral=False,
            nested=True,
            cone="psd",
            within=_SPECTRAL_BALLS,
            total="most",
            transposable=True,
            spectrum="solid_simplex",
            certificate="rigorous",
        ),
    )
)

THRESHOLD_SETS = tuple(name for name, word in SETS.items() if word.threshold)
"""The sets whose projection searches for one number."""
