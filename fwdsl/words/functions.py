"""Convex functions that are no losses (norms, squares, entropy, quadratic forms), and the functions of algebra.

The mathematics of a norm is in `fwdsl.atoms.vectors` or `fwdsl.atoms.matrices`, in a file of its name or of what it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .base import GROUPS, LAMBDAS, Parameter, Word, values

Shape = Literal["scalar", "vector", "matrix"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvexWord(Word):
    """A convex function of one argument that is not a loss.

    `what` completes "a ... is convex"; `called` names its value in a sentence.
    """

    what: str
    #: The arguments it takes.
    of: tuple[Shape, ...]
    #: The set of the points at which it is at most a number.
    ball: str = ""
    #: The degree of homogeneity, f(s x) = s^degree f(x) for s >= 0; 0 where there is none.
    degree: Literal[0, 1, 2] = 0
    #: It depends on the Euclidean norm of all entries alone.
    euclidean: bool = False
    #: It is the same for a matrix and its transpose.
    transposable: bool = False
    #: It is of symmetric matrices, by their eigenvalues.
    of_eigenvalues: bool = False
    #: It is the logarithm of a determinant.
    of_determinant: bool = False
    #: The word is of a concave function, of which the atom is the negative.
    concave: bool = False
    #: The word whose negative it is, at the negative of the argument.
    mirrors: str = ""
    #: The vector norm that it is of the singular values, or else of which it is the sum over rows.
    spectrum: str = ""
    rows: str = ""
    #: It is the trace norm, under which a matrix has low rank and is kept as factors.
    trace_norm: bool = False
    #: The same for a matrix, where this one is of vectors only.
    of_matrices: str = ""
    #: The loss that it is the sum of, of a linear map of its argument.
    as_loss: str = ""
    #: It is finite on a set only.
    domain: str = ""
    #: The parameter P = L'L of whose root L it is: f(x) is that loss of L x.
    root_of: str = ""
    called: str = ""

    @property
    def grouped(self) -> bool:
        """True if the function is of groups of entries."""
        return any(p.name == GROUPS[0].name for p in self.parameters)

    @property
    def certificate(self) -> Literal["exact", "rigorous"]:
        """The kind of certificate, by how its conjugate is known: to rounding, or by a dense decomposition, rounded up."""
        return "rigorous" if self.of_eigenvalues or (self.spectrum and not self.euclidean) else "exact"

    @property
    def additive(self) -> bool:
        """True if the function is the sum of a function of each entry."""
        return bool(self.rows) and self.rows == self.name

    @property
    def is_norm(self) -> bool:
        return self.degree == 1

    @property
    def adds_sizes(self) -> bool:
        """True if it is the norm that is a sum over entries: that of their sizes."""
        return self.is_norm and self.additive

    @property
    def adds_lengths(self) -> bool:
        """True if it is a norm that is a sum of Euclidean lengths: of groups of entries, of rows, or of all entries together."""
        return self.is_norm and (self.grouped or self.euclidean or (bool(self.rows) and CONVEX[self.rows].euclidean))

    @property
    def adds_squares(self) -> bool:
        """True if it is the sum of the squares of the entries themselves, and of no map of them."""
        return self.degree == 2 and not self.root_of

    @property
    def options(self) -> tuple[Parameter, ...]:
        return self.parameters[1:]


_ANY: tuple[Shape, ...] = ("scalar", "vector", "matrix")
_X = (Parameter("x"),)


def _norm(
    name: str,
    formula: str,
    of: tuple[Shape, ...],
    ball: str,
    called: str,
    *,
    euclidean: bool = False,
    transposable: bool = False,
    spectrum: str = "",
    rows: str = "",
    trace_norm: bool = False,
    of_matrices: str = "",
    elsewhere: tuple[str, ...] = (),
    options: tuple[Parameter, ...] = (),
) -> ConvexWord:
    return ConvexWord(
        name=name,
        formula=formula,
        parameters=(*_X, *options),
        elsewhere=elsewhere,
        what="norm",
        of=of,
        ball=ball,
        degree=1,
        euclidean=euclidean,
        transposable=transposable,
        spectrum=spectrum,
        rows=rows,
        trace_norm=trace_norm,
        of_matrices=of_matrices,
        called=called,
    )


def _of_eigenvalues(
    name: str,
    formula: str,
    what: str,
    *,
    concave: bool = False,
    of_determinant: bool = False,
    mirrors: str = "",
    domain: str = "",
    options: tuple[Parameter, ...] = (),
    elsewhere: tuple[str, ...] = (),
) -> ConvexWord:
    return ConvexWord(
        name=name,
        formula=formula,
        parameters=(*_X, *options),
        elsewhere=elsewhere,
        what=what,
        of=("matrix",),
        transposable=True,
        of_eigenvalues=True,
        concave=concave,
        of_determinant=of_determinant,
        mirrors=mirrors,
        domain=domain,
        called=f"the {what}",
    )


CONVEX: dict[str, ConvexWord] = {
    word.name: word
    for word in (
        _norm(
            "norm1",
            "Sum of absolute values, of all entries.",
            _ANY,
            "l1_ball",
            "the sum of sizes",
            transposable=True,
            rows="norm1",
            elsewhere=("l1_norm", "l1norm", "norm_l1", "l1"),
        ),
        _norm(
            "norm_inf",
            "Largest absolute value, of all entries.",
            _ANY,
            "linf_ball",
            "the largest size",
            transposable=True,
            elsewhere=("linf_norm", "norm_max"),
        ),
        _norm(
            "norm2",
            "Euclidean norm of a vector.",
            ("scalar", "vector"),
            "l2_ball",
            "the Euclidean norm",
            euclidean=True,
            of_matrices="norm_fro",
            elsewhere=("l2_norm", "l2norm", "norm_l2", "l2"),
        ),
        ConvexWord(
            name="sum_squares",
            formula="Sum of squares, of all entries.",
            parameters=_X,
            elsewhere=("square", "sumsq"),
            what="sum of squares",
            of=_ANY,
            ball="l2_ball",
            degree=2,
            euclidean=True,
            transposable=True,
            as_loss="squared",
        ),
        _norm(
            "norm_fro",
            "Frobenius norm: root of the sum of squares.",
            ("matrix",),
            "fro_ball",
            "the Frobenius norm",
            euclidean=True,
            transposable=True,
            spectrum="norm2",
            elsewhere=("frobenius", "norm_frobenius"),
        ),
        _norm(
            "norm_nuc",
            "Nuclear (trace) norm: sum of singular values.",
            ("matrix",),
            "nuclear_ball",
            "the trace norm",
            transposable=True,
            spectrum="norm1",
            trace_norm=True,
            elsewhere=("nuclear_norm", "norm_nuclear", "trace_norm"),
        ),
        _norm(
            "norm_spec",
            "Spectral norm: largest singular value.",
            ("matrix",),
            "spectral_ball",
            "the largest singular value",
            transposable=True,
            spectrum="norm_inf",
        ),
        _norm(
            "norm21",
            "Sum of the Euclidean norms of the rows.",
            ("matrix",),
            "l21_ball",
            "the sum of row norms",
            rows="norm2",
        ),
        _norm(
            "norm1_inf",
            "Sum of the largest absolute values of the rows.",
            ("matrix",),
            "l1_inf_ball",
            "the sum of the rows' largest sizes",
            rows="norm_inf",
        ),
        _norm(
            "group_norm",
            "Sum of the Euclidean norms of groups of entries, times their weights; groups may share entries.",
            ("vector",),
            "group_ball",
            "the group norm",
            options=GROUPS,
        ),
        _norm(
            "sorted_l1",
            "Sum of the sizes of entries, the largest times the first lambda, the next times the second, and so on; lambdas do not rise.",
            ("vector",),
            "sorted_l1_ball",
            "the sorted l1 norm",
            elsewhere=("slope", "owl", "oscar", "sorted_l1_norm"),
            options=LAMBDAS,
        ),
        ConvexWord(
            name="entropy",
            formula="Sum of x log x.",
            parameters=_X,
            what="negative entropy",
            of=("vector", "matrix"),
            transposable=True,
            rows="entropy",
            domain="nonnegative",
        ),
        ConvexWord(
            name="quad_form",
            formula="x' P x with P positive semidefinite: literals, data with literals, sums and multiples of these, or data of type psd[d].",
            parameters=(*_X, Parameter("P", kind="psd")),
            what="quadratic form with a positive semidefinite matrix",
            of=("vector",),
            degree=2,
            as_loss="squared",
            root_of="P",
        ),
        _of_eigenvalues(
            "lambda_max",
            "Largest eigenvalue.",
            "largest eigenvalue",
            elsewhere=("eigmax", "max_eigenvalue", "largest_eigenvalue", "lambdamax"),
        ),
        _of_eigenvalues(
            "sum_largest_eigs",
            "Sum of the k largest eigenvalues.",
            "sum of largest eigenvalues",
            options=(Parameter("k", domain="count"),),
            elsewhere=("lambda_sum_largest", "sumlargesteigs", "sum_largest_eigenvalues", "eigsumlargest"),
        ),
        _of_eigenvalues(
            "lambda_min",
            "Smallest eigenvalue; concave.",
            "smallest eigenvalue",
            concave=True,
            mirrors="lambda_max",
            elsewhere=("eigmin", "min_eigenvalue", "smallest_eigenvalue", "lambdamin"),
        ),
        _of_eigenvalues(
            "log_det",
            "Logarithm of the determinant, on positive definite matrices; concave.",
            "logarithm of a determinant",
            concave=True,
            of_determinant=True,
            domain="psd",
            elsewhere=("logdet", "slogdet", "log_determinant"),
        ),
        _of_eigenvalues(
            "tr_inv",
            "Trace of the inverse, on positive definite matrices.",
            "trace of an inverse",
            domain="psd",
            elsewhere=("trace_inv", "trinv"),
        ),
    )
}

SQUARES = "sum_squares"
"""The function that joins whatever else is on a variable, as its prox always does."""

SIZES, LARGEST_SIZE, GROUPED = "norm1", "norm_inf", "group_norm"
"""The sum and the largest of the sizes of entries; the sum of the lengths of groups."""

_SECOND_SIZE = Parameter("k", optional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionWord(Word):
    """A function of algebra. One that `reduces` makes one number of a loss over samples, or of the entries of an expression."""

    reduces: bool = False


FUNCTIONS: dict[str, FunctionWord] = {
    word.name: word
    for word in (
        FunctionWord(
            name="inner", formula="Contracts all axes of D but the first with X.", parameters=values("D", "X")
        ),
        FunctionWord(
            name="combine",
            formula="The sum of x_i M_i over the matrices M_i of a tensor M.",
            parameters=values("x", "M"),
            elsewhere=("tensordot", "einsum", "linear_combination"),
        ),
        FunctionWord(name="quad", formula="u_i' X u_i for the rows u_i of U.", parameters=values("U", "X")),
        FunctionWord(
            name="eye",
            formula="The identity matrix of size d.",
            parameters=values("d"),
            elsewhere=("identity",),
        ),
        FunctionWord(name="ones", formula="A vector or matrix of ones.", parameters=(*values("n"), _SECOND_SIZE)),
        FunctionWord(name="zeros", formula="A vector or matrix of zeros.", parameters=(*values("n"), _SECOND_SIZE)),
        FunctionWord(
            name="diag",
            formula="The diagonal matrix of a vector; the diagonal of a matrix.",
            parameters=values("v"),
        ),
        FunctionWord(name="trace", formula="The trace of a square matrix.", parameters=values("X"), elsewhere=("tr",)),
        FunctionWord(
            name="sum", formula="The sum over all entries, or of a loss over samples.", parameters=_X, reduces=True
        ),
        FunctionWord(
            name="mean", formula="The mean over all entries, or of a loss over samples.", parameters=_X, reduces=True
        ),
        FunctionWord(name="dot", formula="The inner product of two vectors.", parameters=values("a", "b")),
        FunctionWord(name="dim", formula="The number of columns of a feature map.", parameters=values("Phi")),
    )
}
