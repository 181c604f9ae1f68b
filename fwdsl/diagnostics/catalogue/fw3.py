"""FW3nnn: convexity. Raised by `fwdsl.check`."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW3001": Entry(
        "a term of the wrong curvature",
        "`minimize` takes a sum of convex terms, `maximize` one of concave terms. Losses, norms and the other functions are "
        "convex; a negative coefficient makes them concave. The sign is judged after brackets are expanded and like "
        "terms are added up.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) - 0.1 * norm1(x)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + 0.1 * norm1(x)
""",
    ),
    "FW3002": Entry(
        "a coefficient of unknown sign",
        "The coefficient of a convex term must be known to be nonnegative before any value is bound: a literal, or an "
        "expression of parameters declared `nonnegative` or `positive`. What they promise is checked when they are bound.",
        """\
data A: matrix[n, d], b: vector[n]
param mu: real = 0.1
var x: vector[d]
minimize sum_squares(A @ x - b) + mu * norm1(x)
""",
        """\
data A: matrix[n, d], b: vector[n]
param mu: nonnegative = 0.1
var x: vector[d]
minimize sum_squares(A @ x - b) + mu * norm1(x)
""",
    ),
    "FW3003": Entry(
        "a product of variables",
        "At most one factor of a product depends on variables: a product of two is neither convex nor concave. Sums of "
        "squares and quadratic forms have functions of their own.",
        """\
data M: entries[n, p]
var U: matrix[n, 5], V: matrix[5, p]
minimize mean(squared((U @ V)[M], M))
""",
        """\
data M: entries[n, p]
var B: matrix[n, p]
minimize mean(squared(B[M], M)) + norm_nuc(B)
""",
    ),
    "FW3004": Entry(
        "a variable in a divisor",
        "No variable occurs in a divisor. A ratio in a constraint can be multiplied out where the divisor is positive.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) / norm1(x)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + norm1(x)
""",
    ),
    "FW3005": Entry(
        "a convex function where something affine is needed",
        "The argument of a loss or norm is affine in the variables, and so is all else outside of losses, norms and other "
        "convex functions. A convex function stands in the objective, with a coefficient, or alone in a constraint.",
        """\
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize norm2(squared(X @ w, y))
""",
        """\
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize norm2(X @ w - y)
""",
    ),
    "FW3007": Entry(
        "weights that are not known to be nonnegative",
        "Weights of samples or groups keep a sum convex where none of them is negative: data that promises `in "
        "nonnegative` (checked when bound), or a literal that shows it.",
        """\
data X: matrix[n, p], y: vector[n], c: vector[n]
var w: vector[p]
minimize mean(c * squared(X @ w, y))
""",
        """\
data X: matrix[n, p], y: vector[n], c: vector[n] in nonnegative
var w: vector[p]
minimize mean(c * squared(X @ w, y))
""",
    ),
    "FW3008": Entry(
        "a norm bounded from below",
        "The points at which a norm is at most a number are a convex set, a ball; those at which it is at least that are "
        "not.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to norm2(x) >= 1
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to norm2(x) <= 1
""",
    ),
    "FW3009": Entry(
        "a norm set equal",
        "The points at which a norm has a given value are the surface of a ball, which is not convex. Often the "
        "inequality holds with equality at the solution anyway.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to norm1(x) == 1
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to norm1(x) <= 1
""",
    ),
    "FW3010": Entry(
        "a variable where a constant is needed",
        "The bound of a norm, the parameters of a set, options and the further arguments of convex functions are "
        "constant: numbers, data, parameters.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d], t: real
minimize sum_squares(A @ x - b) + t
subject to norm1(x) <= t
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + norm1(x)
""",
    ),
    "FW3011": Entry(
        "several norms in one constraint",
        "A constraint bounds one norm by a constant. Several norms are bounded one by one, or added to the objective.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to norm1(x) + norm2(x) <= 1
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to
    norm1(x) <= 1
    norm2(x) <= 0.5
""",
    ),
    "FW3012": Entry(
        "a loss in a constraint",
        "A constraint bounds an affine expression or one norm. For every bound of a loss there is a weight in the "
        "objective that has the same solution; a bound on squared errors is one on a norm.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize norm1(x)
subject to sum(squared(A @ x, b)) <= 1
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize norm1(x)
subject to sum_squares(A @ x - b) <= 1
""",
    ),
    "FW3013": Entry(
        "entropy or a quadratic form in a constraint",
        "A constraint bounds an affine expression or one norm; `entropy` and `quad_form` are terms of the objective. "
        "`x' P x` with P = L' L is `sum_squares(L @ x)`, which can be bounded.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d] in simplex(1)
minimize sum_squares(A @ x - b)
subject to entropy(x) <= -1
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d] in simplex(1)
minimize sum_squares(A @ x - b) + 0.1 * entropy(x)
""",
    ),
    "FW3014": Entry(
        "an implicit feature map without a norm",
        "Of `rbf`, `polynomial` and `linear` only the Gram matrix is used. That takes a norm of the variable, as a term or "
        "as a ball: then the answer is a combination of the samples. An explicit map such as `fourier` needs none.",
        """\
data X: matrix[n, p], y: signs[n]
let Phi = rbf(X, gamma=0.5)
var w: vector[dim(Phi)]
minimize mean(hinge(Phi @ w, y))
""",
        """\
data X: matrix[n, p], y: signs[n]
let Phi = rbf(X, gamma=0.5)
var w: vector[dim(Phi)]
minimize mean(hinge(Phi @ w, y)) + 0.1 * sum_squares(w)
""",
    ),
    "FW3015": Entry(
        "an implicit feature map used as a matrix",
        "A variable over an implicit map stands only in `Phi @ W`, and bare in `sum_squares`, `norm2`, `norm_fro` and their "
        "balls; the map itself only in `Phi @ W`. An explicit map such as `fourier` can be used like any matrix.",
        """\
data X: matrix[n, p], y: signs[n]
let Phi = rbf(X, gamma=0.5)
var w: vector[dim(Phi)]
minimize mean(hinge(Phi @ w, y)) + norm1(w)
""",
        """\
data X: matrix[n, p], y: signs[n]
let Phi = fourier(X, features=100, gamma=0.5)
var w: vector[dim(Phi)]
minimize mean(hinge(Phi @ w, y)) + norm1(w)
""",
    ),
    "FW3016": Entry(
        "a target that depends on a variable",
        "A loss takes its prediction first and its target second. The prediction is affine in the variables, the target "
        "is constant.",
        """\
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize mean(huber(y, X @ w))
""",
        """\
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize mean(huber(X @ w, y))
""",
    ),
    "FW3017": Entry(
        "a matrix that is not known to be positive semidefinite",
        "`quad_form(x, P)` is convex where `P` is symmetric positive semidefinite: a literal that is, or data declared "
        "`psd[d]`, which is checked when it is bound. Where P = L' L is known, `sum_squares(L @ x)` needs no promise.",
        """\
data P: matrix[d, d], q: vector[d]
var x: vector[d]
minimize quad_form(x, P) + dot(q, x)
""",
        """\
data P: psd[d], q: vector[d]
var x: vector[d]
minimize quad_form(x, P) + dot(q, x)
""",
    ),
}
