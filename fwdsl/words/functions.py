"""Convex functions that are no losses (norms, squares, entropy, quadratic forms), and the functions of algebra.

The mathematics of a norm is in `fwdsl.atoms.vectors` or `fwdsl.atoms.matrices`, in a file of its name or of what it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .base import AXIS, EXPONENT, GROUPS, LAMBDAS, MORE, SHARES, Parameter, Word, values

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
    #: f(s x) = s f(x) for s >= 0, and it is no norm: it sees signs.
    sublinear: bool = False
    #: It is the sum over the rows of a matrix as it is the sum over pieces of a vector: of all entries it is the same.
    adds_pieces: bool = False
    #: It is at most a number where each of its entries is.
    bounds_entries: bool = False
    #: It is concave, and what stands for it in the canonical form is its negative.
    concave: bool = False
    #: It is at least as large where every entry is.
    rises: bool = False
    #: The function f of which it is the negative at the negative: -f(-x).
    negative_of: str = ""
    #: The functions that it is of the values of functions of entries: of `abs(x)` the largest entry is `norm_inf(x)`.
    of_values: tuple[tuple[str, str], ...] = ()
    #: The functions that it is the sum of: of differences of neighbours, and of pairs of such differences.
    of_differences: str = ""
    of_pairs: str = ""
    #: It depends on the Euclidean norm of all entries alone.
    euclidean: bool = False
    #: It is the same for a matrix and its transpose.
    transposable: bool = False
    #: It is of symmetric matrices, by their eigenvalues.
    of_eigenvalues: bool = False
    #: It is the logarithm of a determinant.
    of_determinant: bool = False
    #: The vector norm that it is of the singular values, or else of which it is the sum over rows.
    spectrum: str = ""
    rows: str = ""
    #: The function of vectors of which it is the largest over the rows.
    most_of_rows: str = ""
    #: It is the trace norm, under which a matrix has low rank and is kept as factors.
    trace_norm: bool = False
    #: The same for a matrix, where this one is of vectors only.
    of_matrices: str = ""
    #: The loss that it is the sum of, of a linear map of its argument.
    as_loss: str = ""
    #: The loss of a row of scores that it is, of the class 0, beside the first of its entries: f(z) = loss(z; 0) + z_0.
    as_row_loss: str = ""
    #: It is finite on a set only.
    domain: str = ""
    #: It has a value for each row of a matrix, and this is the function of the matrix that they add up to.
    total: str = ""
    #: The parameter beside the first that is an affine number too: the function is of a stack of it and the first, in which it is convex.
    joint: str = ""
    #: That parameter is a symmetric matrix.
    of_joint_matrix: bool = False
    #: The parameter P = L'L of whose root L it is: f(x) is that loss of L x.
    root_of: str = ""
    called: str = ""

    @property
    def is_concave_function(self) -> bool:
        """True if the function of this name is concave."""
        return self.concave or bool(self.negative_of)

    @property
    def grouped(self) -> bool:
        """True if the function is of groups of entries."""
        return any(p.name == GROUPS[0].name for p in self.parameters)

    @property
    def certificate(self) -> Literal["exact", "rigorous"]:
        """The kind of certificate, by how its conjugate is known: to rounding, or by a dense decomposition, rounded up."""
        return (
            "rigorous"
            if self.of_eigenvalues or self.of_joint_matrix or (self.spectrum and not self.euclidean)
            else "exact"
        )

    @property
    def additive(self) -> bool:
        """True if the function is the sum of a function of each entry."""
        return bool(self.rows) and self.rows == self.name

    @property
    def by_rows(self) -> bool:
        """True if it has a value for each row of its argument."""
        return bool(self.total)

    @property
    def is_norm(self) -> bool:
        return self.degree == 1

    @property
    def of_several(self) -> bool:
        """True if it takes several numbers in place of a vector of them: `max(a, b, c)`."""
        return any(p.repeated for p in self.parameters)

    @property
    def is_composed(self) -> bool:
        """True if it is taken apart into other functions, and has no mathematics of its own."""
        return bool(self.negative_of or self.of_differences or self.concave)

    @property
    def is_concave(self) -> bool:
        """True if a program has it with a minus in `minimize`."""
        return self.concave or bool(self.negative_of)

    @property
    def grows_evenly(self) -> bool:
        """True if f(s x) = s f(x) for s >= 0: far out it grows as it does near 0."""
        return self.is_norm or self.sublinear or bool(self.total)

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
        """The parameters that are constant."""
        return tuple(p for p in self.parameters[1:] if not p.repeated and p != AXIS and p.name != self.joint)

    @property
    def along(self) -> bool:
        """True if it may be taken of each row or each column of a matrix: `max(X, axis=1)`."""
        return AXIS in self.parameters

    @property
    def of_each_row(self) -> str:
        """The function that has its value for each row of a matrix; its own name where that is no other."""
        return next((w.name for w in CONVEX.values() if w.total and CONVEX[w.total].rows == self.name), self.name)

    @property
    def largest_over_rows(self) -> str:
        """The function of a matrix that is the largest of this one over its rows; empty where there is none."""
        own = CONVEX[self.total].rows if self.total else self.name
        return next((w.name for w in CONVEX.values() if w.most_of_rows == own), "")

    @property
    def sum_over_rows(self) -> str:
        """The function of a matrix that is the sum of this one over its rows; empty where there is none."""
        if self.adds_pieces:
            return self.name
        return self.total or next((w.name for w in CONVEX.values() if self.name == w.rows and "matrix" in w.of), "")


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
    most_of_rows: str = "",
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
        most_of_rows=most_of_rows,
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
    negative_of: str = "",
    domain: str = "",
    sublinear: bool = False,
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
        sublinear=sublinear,
        concave=concave,
        of_determinant=of_determinant,
        negative_of=negative_of,
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
            options=(AXIS,),
            elsewhere=("l1_norm", "l1norm", "norm_l1", "l1"),
        ),
        _norm(
            "norm_inf",
            "Largest absolute value, of all entries.",
            _ANY,
            "linf_ball",
            "the largest size",
            transposable=True,
            most_of_rows="norm_inf",
            options=(AXIS,),
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
            options=(AXIS,),
            elsewhere=("l2_norm", "l2norm", "norm_l2", "l2"),
        ),
        ConvexWord(
            name="sum_squares",
            formula="Sum of squares, of all entries.",
            parameters=_X,
            elsewhere=("sumsq",),
            what="sum of squares",
            of=_ANY,
            ball="l2_ball",
            degree=2,
            euclidean=True,
            transposable=True,
            as_loss="squared",
            of_values=(("abs", "sum_squares"), ("pos", "sum(square_pos")),
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
        ConvexWord(
            name="rownorm2",
            formula="The Euclidean norm of each row: a value for each, to be added up or bounded.",
            parameters=_X,
            elsewhere=("row_norms", "rownorms", "norms"),
            what="norm of each row",
            of=("matrix",),
            total="norm21",
            called="the norm of a row",
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
            "max_rownorm2",
            "Largest Euclidean norm of a row, what `max(norm2(X, axis=1))` is.",
            ("matrix",),
            "",
            "the largest row norm",
            most_of_rows="norm2",
        ),
        _norm(
            "max_rownorm1",
            "Largest sum of absolute values of a row, what `max(norm1(X, axis=1))` is.",
            ("matrix",),
            "",
            "the rows' largest sum of sizes",
            most_of_rows="norm1",
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
        _norm(
            "norm_p",
            "(sum |x_i|^p)^(1/p), p at least 1.",
            ("vector",),
            "lp_ball",
            "the p-norm",
            elsewhere=("pnorm", "p_norm", "lp_norm", "normp"),
            options=(*EXPONENT, AXIS),
        ),
        ConvexWord(
            name="max",
            formula="Largest entry, or the largest of several numbers.",
            parameters=(*_X, MORE, AXIS),
            elsewhere=("maximum", "vmax", "amax"),
            what="largest entry",
            rises=True,
            of=_ANY,
            transposable=True,
            sublinear=True,
            bounds_entries=True,
            most_of_rows="max",
            of_values=(("abs", "norm_inf"),),
            called="the largest entry",
        ),
        ConvexWord(
            name="min",
            formula="Smallest entry, or the smallest of several numbers, concave.",
            parameters=(*_X, MORE, AXIS),
            elsewhere=("minimum", "vmin", "amin"),
            what="smallest entry",
            rises=True,
            of=_ANY,
            negative_of="max",
        ),
        ConvexWord(
            name="sum_largest",
            formula="Sum of the k largest entries.",
            parameters=(*_X, Parameter("k", domain="count"), AXIS),
            elsewhere=("sumlargest", "top_k", "sum_k_largest"),
            what="sum of largest entries",
            rises=True,
            of=("vector", "matrix"),
            transposable=True,
            sublinear=True,
            called="the sum of the largest entries",
        ),
        ConvexWord(
            name="sum_smallest",
            formula="Sum of the k smallest entries, concave.",
            parameters=(*_X, Parameter("k", domain="count"), AXIS),
            elsewhere=("sumsmallest",),
            what="sum of smallest entries",
            rises=True,
            of=("vector", "matrix"),
            negative_of="sum_largest",
        ),
        ConvexWord(
            name="tv",
            formula="Total variation: the sum of the sizes of differences of neighbours, times weights. Of a matrix the lengths "
            "of the differences down and to the right, of entries that have both neighbours; with isotropic=false the sizes of all.",
            parameters=(
                *_X,
                Parameter("weights", optional=True, kind="weights"),
                Parameter("isotropic", domain="boolean", default=True),
            ),
            elsewhere=("total_variation", "totalvariation", "tv_norm"),
            what="total variation",
            of=("vector", "matrix"),
            of_differences="norm1",
            of_pairs="norm21",
        ),
        ConvexWord(
            name="joint_kl_div",
            formula="Sum of x log(x/y) - x + y over the pairs of entries (x, y), x and y >= 0: what `kl_div` is of two affine expressions.",
            parameters=_X,
            what="relative entropy of both arguments",
            of=("vector",),
            sublinear=True,
            adds_pieces=True,
            domain="nonnegative",
        ),
        ConvexWord(
            name="geo_mean",
            formula="(x_1 x_2 ... x_n)^(1/n), the geometric mean, concave, x >= 0; with weights w the product of x_i^(w_i / sum(w)).",
            parameters=(*_X, SHARES),
            elsewhere=("geomean", "geometric_mean"),
            what="geometric mean",
            rises=True,
            of=("vector",),
            sublinear=True,
            concave=True,
            domain="nonnegative",
        ),
        ConvexWord(
            name="log_sum_exp",
            formula="log sum exp(x_i), of all entries.",
            parameters=(*_X, AXIS),
            elsewhere=("logsumexp", "lse", "softmax_max"),
            what="logarithm of a sum of exponentials",
            rises=True,
            of=("vector", "matrix"),
            transposable=True,
            as_row_loss="softmax",
            called="the log-sum-exp",
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
        ConvexWord(
            name="quad_over_lin",
            formula="x' x / t for t > 0, both affine.",
            parameters=(*_X, Parameter("t")),
            elsewhere=("quadoverlin", "quad_over_linear"),
            what="sum of squares over a positive number",
            of=("scalar", "vector"),
            joint="t",
        ),
        ConvexWord(
            name="matrix_frac",
            formula="x' P^-1 x for positive definite P, both affine, P symmetric.",
            parameters=(*_X, Parameter("P", kind="psd")),
            elsewhere=("matrix_fraction", "matrixfrac"),
            what="matrix fraction, jointly convex in both",
            of=("vector",),
            joint="P",
            of_joint_matrix=True,
        ),
        _of_eigenvalues(
            "lambda_max",
            "Largest eigenvalue.",
            "largest eigenvalue",
            sublinear=True,
            elsewhere=("eigmax", "max_eigenvalue", "largest_eigenvalue", "lambdamax"),
        ),
        _of_eigenvalues(
            "sum_largest_eigs",
            "Sum of the k largest eigenvalues.",
            "sum of largest eigenvalues",
            sublinear=True,
            options=(Parameter("k", domain="count"),),
            elsewhere=("lambda_sum_largest", "sumlargesteigs", "sum_largest_eigenvalues", "eigsumlargest"),
        ),
        _of_eigenvalues(
            "lambda_min",
            "Smallest eigenvalue; concave.",
            "smallest eigenvalue",
            negative_of="lambda_max",
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
    """A function of algebra. One that `reduces` makes one number of a loss over samples, or of the entries of an expression.

    One that `averages` then divides by their number. One that `sums_products` makes one number of weights and of losses or functions of entries.
    """

    reduces: bool = False
    averages: bool = False
    sums_products: bool = False


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
            name="sum",
            formula="The sum over all entries, over an axis of a matrix, or of a loss over samples.",
            parameters=(*_X, AXIS),
            reduces=True,
        ),
        FunctionWord(
            name="mean",
            formula="The mean over all entries, over an axis of a matrix, or of a loss over samples.",
            parameters=(*_X, AXIS),
            reduces=True,
            averages=True,
        ),
        FunctionWord(
            name="dot", formula="The inner product of two vectors.", parameters=values("a", "b"), sums_products=True
        ),
        FunctionWord(
            name="hstack",
            formula="Numbers and vectors one after the other, or matrices beside each other.",
            parameters=(Parameter("a"), MORE),
            elsewhere=("concatenate", "concat", "horzcat", "hcat", "append", "column_stack"),
        ),
        FunctionWord(
            name="vstack",
            formula="Vectors as rows, and matrices, below each other.",
            parameters=(Parameter("a"), MORE),
            elsewhere=("vertcat", "vcat", "row_stack"),
        ),
        FunctionWord(
            name="vec",
            formula="The entries of a matrix as a vector, row after row.",
            parameters=values("X"),
            elsewhere=("flatten", "ravel"),
        ),
        FunctionWord(
            name="reshape",
            formula="The entries in another shape, row after row: a vector of n, or an n x k matrix.",
            parameters=(*values("x", "n"), _SECOND_SIZE),
        ),
        FunctionWord(name="outer", formula="The matrix of the products a_i b_j.", parameters=values("a", "b")),
        FunctionWord(
            name="kron",
            formula="The Kronecker product: a copy of B for each entry of A, times it; of two vectors or two matrices.",
            parameters=values("A", "B"),
        ),
        FunctionWord(
            name="diff",
            formula="The differences of neighbours, x[1:] - x[:-1], along the first axis; order=2 takes them twice.",
            parameters=(*_X, Parameter("order", "count", default=1.0), AXIS),
        ),
        FunctionWord(
            name="cumsum",
            formula="The sums of the entries up to each one, along the first axis.",
            parameters=(*_X, AXIS),
        ),
        FunctionWord(
            name="conv",
            formula="The convolution of two vectors of m and n entries, m + n - 1 entries.",
            parameters=values("k", "x"),
            elsewhere=("convolve", "conv1d"),
        ),
        FunctionWord(name="dim", formula="The number of columns of a feature map.", parameters=values("Phi")),
    )
}
