"""The estimators that are ready, as data: for each its program, with what its parameters stand for.

A program's text has places in braces, which `ready.py` fills in: `{target}`, `{loss}`, `{penalty}` and `{limits}` from the recipe or from the
parameters `penalty` and `constraint`; `{weights}` and `{each}` where samples have weights; `{b}` and `{plus_b}` where there is an intercept;
`{beside}` declares the other data that are given; `{groups}` are groups by name or as a list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["regressor", "classifier", "completion", "outliers"]

LINEAR = """
data X: matrix[n, p], y: {target}{weights}{beside}
param alpha: nonnegative = 1{params}
var w: vector[p]{b}
let f = X @ w{plus_b}
minimize {loss}{penalty}
{limits}
"""

WIDE = LINEAR.replace("var w: vector[p]", "var W: matrix[p, k]").replace("X @ w", "X @ W")
"""The same with a column of coefficients for each class or target."""

COMPLETION = """
data X: entries[n, p]
param alpha: nonnegative = 1
var Z: matrix[n, p]
minimize 1/2 * sum(squared(Z[X], X)) + alpha * norm_nuc(Z)
"""

OUTLIERS = """
data X: matrix[n, p]{weights}
param nu: positive = 0.5{params}
let Phi = {features}
var w: vector[dim(Phi)], rho: real
let f = Phi @ w - rho
minimize 1/2 * sum_squares(w) - rho + 1/nu * mean({each}hinge(f + 1, ones(n)))
"""

Parameter = tuple[str, Any, str]
"""A parameter of a constructor: its name, its default, and what it is."""

ALPHA: Parameter = ("alpha", 1.0, "the weight of the penalty")
SMALL: Parameter = ("alpha", 0.01, "the weight of the penalty")
RIDGE: Parameter = ("alpha", 0.0, "the weight of a ridge, alpha/2 times the sum of squares")
RATIO: Parameter = ("l1_ratio", 0.5, "the share of the penalty that is on single coefficients, from 0 to 1")
GROUPS: tuple[Parameter, ...] = (
    (
        "groups",
        None,
        "the group of each feature, p whole numbers; or names; or lists of positions or of columns' names, which may overlap; None for each alone",
    ),
    ("group_weights", None, "a factor for each group's norm, at least 0; None for ones"),
)
LAMBDAS: tuple[Parameter, ...] = (
    (
        "lambdas",
        None,
        "the weights of coefficients by the rank of their sizes, p numbers that do not rise; None for those of Benjamini and Hochberg",
    ),
    ("q", 0.1, "the level of that sequence, between 0 and 1: the share of false discoveries that it aims at"),
)


RANGES: dict[str, tuple[float, float, str]] = {
    "l1_ratio": (0.0, 1.0, "from 0 to 1"),
    "tau": (1e-9, 1.0 - 1e-9, "between 0 and 1"),
    "q": (1e-9, 1.0 - 1e-9, "between 0 and 1"),
    "nu": (1e-9, 1.0, "above 0 and at most 1"),
}
"""Parameters that lie in a range which the program does not tell: its ends, and in words."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One estimator: its class name, what it is in a sentence or two, its program, and the constructor's parameters beside the common ones.

    `penalty` and `constraint` are names of `PENALTIES` and `CONSTRAINTS`; where the parameters have one of these, they are the user's. `along` is
    the parameter that a path goes along. `scale` says how the `CV` class finds values for it: by the gradient at 0 (`entries`, `sorted`,
    `spectral`), or by the squares of the data; it is empty where there is no such class. `poor` where it is too restricted to fit every data
    set well.
    """

    name: str
    doc: str
    kind: Kind
    parameters: tuple[Parameter, ...]
    text: str = LINEAR
    loss: str = "1/2 * mean({each}squared(f, y))"
    target: str = "vector[n]"
    params: str = ""
    penalty: str | None = None
    constraint: str | None = None
    along: str = "alpha"
    scale: Literal["entries", "sorted", "spectral", "squares", ""] = "entries"
    poor: bool = False

    @property
    def has_intercept(self) -> bool:
        """True if its program has a place for an intercept."""
        return "{b}" in self.text


_SHARES = ", l1_ratio: nonnegative = 0.5, rest: nonnegative = 0.5"
"""The share on single coefficients, and 1 less that."""

PENALTIES: dict[str, str] = {
    "l1": "alpha * norm1(w)",
    "l2": "alpha / 2 * sum_squares(w)",
    "elastic_net": "alpha * l1_ratio * norm1(w) + alpha * rest / 2 * sum_squares(w)",
    "group": "alpha * group_norm(w, {groups})",
    "sparse_group": "alpha * rest * group_norm(w, {groups}) + alpha * l1_ratio * norm1(w)",
    "fused": "alpha * rest * norm1(w[1:] - w[:-1]) + alpha * l1_ratio * norm1(w)",
    "largest": "alpha * norm_inf(w)",
    "slope": "alpha * sorted_l1(w, lambdas)",
    "features": "alpha * rest * norm21(W) + alpha * l1_ratio * norm1(W)",
    "trace": "alpha * norm_nuc(W)",
}
"""The texts of penalties by name."""

CONSTRAINTS: dict[str, str] = {
    "nonnegative": "w in nonnegative",
    "increasing": "w[1:] >= w[:-1]",
    "decreasing": "w[1:] <= w[:-1]",
    "shares": "w in simplex(total)",
}
"""The texts of constraints by name."""

OPEN_PENALTIES = ("l1", "l2", "elastic_net", "group", "sparse_group", "fused", "largest")
OPEN_CONSTRAINTS = ("nonnegative", "increasing", "decreasing")
"""The names that a user may choose."""

_OPEN: tuple[Parameter, ...] = (
    ("penalty", "l1", f"{', '.join(repr(n) for n in OPEN_PENALTIES)}, or None"),
    ("constraint", None, f"{', '.join(repr(n) for n in OPEN_CONSTRAINTS)}, or None"),
    RATIO,
    *GROUPS,
)

_LEAST_SQUARES = (
    Recipe(
        name="ConstrainedRegression",
        doc="Least squares whose coefficients keep linear inequalities `A_ub @ w <= b_ub` and equations `A_eq @ w == b_eq`.",
        kind="regressor",
        parameters=(
            RIDGE,
            ("A_ub", None, "(m, p), or None"),
            ("b_ub", None, "(m,)"),
            ("A_eq", None, "(m, p), or None"),
            ("b_eq", None, "(m,)"),
        ),
        penalty="l2",
        scale="squares",
    ),
    Recipe(
        name="NonnegativeRegression",
        doc="Least squares whose coefficients are at least 0.",
        kind="regressor",
        parameters=(RIDGE,),
        penalty="l2",
        constraint="nonnegative",
        scale="squares",
        poor=True,
    ),
    Recipe(
        name="BoxRegression",
        doc="Least squares whose coefficients lie between bounds.",
        kind="regressor",
        parameters=(
            RIDGE,
            ("lower", -1.0, "the least coefficient, a number or (p,); -inf for none"),
            ("upper", 1.0, "the largest coefficient, a number or (p,); inf for none"),
        ),
        penalty="l2",
        scale="squares",
        poor=True,
    ),
    Recipe(
        name="MonotoneRegression",
        doc="Least squares whose coefficients increase from one feature to the next, or decrease.",
        kind="regressor",
        parameters=(RIDGE, ("increasing", True, "False for coefficients that decrease")),
        penalty="l2",
        scale="squares",
        poor=True,
    ),
    Recipe(
        name="SimplexRegression",
        doc="Least squares whose coefficients are shares: at least 0, and `total` in sum.",
        kind="regressor",
        parameters=(RIDGE, ("total", 1.0, "the sum of the coefficients")),
        params=", total: positive = 1",
        penalty="l2",
        constraint="shares",
        scale="squares",
        poor=True,
    ),
    Recipe(
        name="GroupLasso",
        doc="Least squares that takes or leaves whole groups of features.",
        kind="regressor",
        parameters=(ALPHA, *GROUPS),
        penalty="group",
    ),
    Recipe(
        name="SparseGroupLasso",
        doc="Least squares that takes or leaves whole groups of features, and few features of each.",
        kind="regressor",
        parameters=(ALPHA, RATIO, *GROUPS),
        params=_SHARES,
        penalty="sparse_group",
    ),
    Recipe(
        name="FusedLasso",
        doc="Least squares whose coefficients change seldom from one feature to the next, and are 0 for many.",
        kind="regressor",
        parameters=(ALPHA, RATIO),
        params=_SHARES,
        penalty="fused",
    ),
    Recipe(
        name="SlopeRegression",
        doc="SLOPE: least squares whose coefficients are weighed by the rank of their sizes, so that few are not 0 and similar ones are equal.",
        kind="regressor",
        parameters=(ALPHA, *LAMBDAS),
        penalty="slope",
        scale="sorted",
    ),
    Recipe(
        name="TraceNormRegression",
        doc="Several regressions at once whose coefficients share few directions: the trace norm makes them a matrix of low rank.",
        kind="regressor",
        parameters=(ALPHA,),
        text=WIDE,
        target="matrix[n, k]",
        loss="1/2 * mean({each}squared(f, y))",
        penalty="trace",
        scale="spectral",
    ),
)

_ROBUST = (
    Recipe(
        name="QuantileRegression",
        doc="The quantile `tau` of the targets, with any penalty and constraint.",
        kind="regressor",
        parameters=(ALPHA, ("tau", 0.5, "the quantile, between 0 and 1"), *_OPEN),
        params=f", tau: positive = 0.5{_SHARES}",
        loss="mean({each}quantile(f, y, tau=tau))",
        poor=True,
    ),
    Recipe(
        name="HuberRegression",
        doc="Regression in which large residuals count linearly, with any penalty and constraint.",
        kind="regressor",
        parameters=(ALPHA, ("delta", 1.35, "the size of a residual beyond which it counts linearly"), *_OPEN),
        params=f", delta: positive = 1.35{_SHARES}",
        loss="mean({each}huber(f, y, delta=delta))",
        poor=True,
    ),
)

_CLASSIFIERS = (
    Recipe(
        name="GroupLogisticRegression",
        doc="Logistic regression that takes or leaves whole groups of features.",
        kind="classifier",
        parameters=(SMALL, *GROUPS),
        target="signs[n]",
        loss="mean({each}logistic(f, y))",
        penalty="group",
    ),
    Recipe(
        name="SparseGroupLogisticRegression",
        doc="Logistic regression that takes or leaves whole groups of features, and few features of each.",
        kind="classifier",
        parameters=(SMALL, RATIO, *GROUPS),
        target="signs[n]",
        params=_SHARES,
        loss="mean({each}logistic(f, y))",
        penalty="sparse_group",
    ),
    Recipe(
        name="SlopeLogisticRegression",
        doc="Logistic regression whose coefficients are weighed by the rank of their sizes (SLOPE).",
        kind="classifier",
        parameters=(SMALL, *LAMBDAS),
        target="signs[n]",
        loss="mean({each}logistic(f, y))",
        penalty="slope",
        scale="sorted",
    ),
    Recipe(
        name="GroupSoftmaxRegression",
        doc="Logistic regression of several classes that takes or leaves a feature for all of them, and few coefficients of each.",
        kind="classifier",
        parameters=(SMALL, ("l1_ratio", 0.0, RATIO[2])),
        text=WIDE,
        target="labels[n, k]",
        params=_SHARES,
        loss="mean({each}softmax(f, y))",
        penalty="features",
    ),
)

RECIPES = (
    *_LEAST_SQUARES,
    *_ROBUST,
    *_CLASSIFIERS,
    Recipe(
        name="MatrixCompletion",
        doc="The missing entries (nan) of a matrix, by a matrix of low rank: the trace norm beside the squares, as in softImpute.",
        kind="completion",
        parameters=(ALPHA, ("center", True, "False to leave the means of the columns in what is made of low rank")),
        text=COMPLETION,
        scale="spectral",
    ),
    Recipe(
        name="OneClassMachine",
        doc="The region that holds most samples. At most the share `nu` of them lies outside of it, the outliers.",
        kind="outliers",
        parameters=(
            ("nu", 0.5, "the largest share of outliers among the samples, above 0 and at most 1"),
            ("kernel", "rbf", "'rbf', exp(-gamma |x - x'|^2), or 'linear'"),
            ("gamma", None, "of the kernel; None for 1 / (p times the variance of X)"),
        ),
        text=OUTLIERS,
        along="nu",
        scale="",
    ),
)
"""The table of all that are ready."""
