"""FW2031-FW2054: shapes, and what functions and sets are of. Raised by `fwdsl.check`."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW2031": Entry(
        "`@` between things that have no matrix product",
        "`@` is the product of matrices and vectors, as in NumPy. A number multiplies with `*`; a tensor or a family is "
        "contracted by `inner(D, X)`.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(2 @ x) + sum_squares(A @ x - b)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(2 * x) + sum_squares(A @ x - b)
""",
    ),
    "FW2032": Entry(
        "inner dimensions differ",
        "In `A @ B` the columns of `A` are the rows of `B`: the same dimension, by name. Two names are two dimensions, "
        "even where the data would give them the same size.",
        """\
data A: matrix[n, d], b: vector[n]
var w: vector[k]
minimize sum_squares(A @ w - b)
""",
        """\
data A: matrix[n, d], b: vector[n]
var w: vector[d]
minimize sum_squares(A @ w - b)
""",
    ),
    "FW2033": Entry(
        "terms of different shapes are added",
        "Terms of a sum have equal shapes, by dimension name. The only broadcasting: a scalar is added to every entry, "
        "a `vector[k]` to every row of a `matrix[n, k]` (an intercept).",
        """\
data A: matrix[n, d], b: vector[d]
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
    ),
    "FW2034": Entry(
        "`*` or `/` between different shapes",
        "One side of `*` is a scalar, or both have the same shape and are multiplied entry by entry. The rows of a matrix "
        "are scaled by `diag(v) @ X`, its columns by `X @ diag(v)`; `@` is the matrix product.",
        """\
data X: matrix[n, p], v: vector[n], y: vector[n]
var w: vector[p]
minimize mean(squared((v * X) @ w, y))
""",
        """\
data X: matrix[n, p], v: vector[n], y: vector[n]
var w: vector[p]
minimize mean(squared((diag(v) @ X) @ w, y))
""",
    ),
    "FW2035": Entry(
        "two arguments do not fit together",
        "`inner(D, X)` contracts all axes of `D` but the first with those of `X`; `quad(U, X)` takes a `matrix[n, d]` and "
        "a d x d matrix; `dot(a, b)` takes two arrays of one shape.",
        """\
data c: vector[n], A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize dot(c, x) + sum_squares(A @ x - b)
""",
        """\
data c: vector[d], A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize dot(c, x) + sum_squares(A @ x - b)
""",
    ),
    "FW2036": Entry(
        "something that is no number is computed with",
        "Classes, indices, observed entries, implicit feature maps and quoted texts have uses of their own; arithmetic is "
        "between scalars, vectors, matrices, tensors, signs and families.",
        """\
data X: matrix[n, p], y: labels[n, k]
var w: vector[p]
minimize sum_squares(X @ w - y)
""",
        """\
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize sum_squares(X @ w - y)
""",
    ),
    "FW2037": Entry(
        "sides of different shapes are compared",
        "Both sides of a comparison have one shape, by dimension name, or one of them is a scalar, which meets every "
        "entry of the other.",
        """\
data A: matrix[n, d], b: vector[n], u: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to x <= u
""",
        """\
data A: matrix[n, d], b: vector[n], u: vector[d]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to x <= u
""",
    ),
    "FW2040": Entry(
        "an index that is no position",
        "Square brackets hold an integer or a range `start:stop` of integers for each axis, `entries` data (the observed "
        "entries of a matrix) or `index` data (the block of a family for each sample).",
        """\
data A: matrix[n, d], b: vector[n]
param j: count = 2
var x: vector[d]
minimize sum_squares(A @ x - b) + norm1(x[j])
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + norm1(x[2])
""",
    ),
    "FW2041": Entry(
        "a position out of range",
        "Positions count from 0, negative ones from the end; a range ends before its stop and is not empty.",
        """\
data A: matrix[n, 3], b: vector[n]
var x: vector[3]
minimize sum_squares(A @ x - b) + norm1(x[3])
""",
        """\
data A: matrix[n, 3], b: vector[n]
var x: vector[3]
minimize sum_squares(A @ x - b) + norm1(x[2])
""",
    ),
    "FW2042": Entry(
        "`B[M]` or `F[task]` of different dimensions",
        "`B[M]` takes the entries of a matrix that were observed in `M: entries[n, p]`, so `B` is n x p. `F[task]` takes "
        "block `task_i` for each i, so `F` is a family of as many blocks as `task: index[n] of T` addresses.",
        """\
data M: entries[n, p]
var B: matrix[p, n]
minimize mean(squared(B[M], M)) + norm_nuc(B)
""",
        """\
data M: entries[n, p]
var B: matrix[n, p]
minimize mean(squared(B[M], M)) + norm_nuc(B)
""",
    ),
    "FW2044": Entry(
        "an argument of the wrong shape or type",
        "A function is applied to what it is of: `trace` to square matrices, `norm_nuc` to matrices, `softmax` to a row "
        "of scores for each sample.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + norm_nuc(x)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + norm2(x)
""",
    ),
    "FW2046": Entry(
        "prediction and target have different shapes",
        "A loss compares a prediction with a target sample by sample: the same dimension, by name. Where predictions "
        "have several columns so has the target, and scores have a column for each class.",
        """\
data X: matrix[n, p], y: vector[p]
var w: vector[p]
minimize mean(squared(X @ w, y))
""",
        """\
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize mean(squared(X @ w, y))
""",
    ),
    "FW2047": Entry(
        "a target of the wrong kind",
        "Regression losses take numbers, classification losses of two classes `signs` (or `ones(n)`), those of several "
        "classes `labels[n, k]`. Bound data of any two distinct values can be `signs`, of any values `labels`.",
        """\
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize mean(logistic(X @ w, y))
""",
        """\
data X: matrix[n, p], y: signs[n]
var w: vector[p]
minimize mean(logistic(X @ w, y))
""",
    ),
    "FW2049": Entry(
        "a weight of the wrong shape",
        "Terms of the objective are weighted by scalars. Inside `mean` and `sum` a loss can be weighted by a vector with "
        "an entry for each sample.",
        """\
data X: matrix[n, p], y: vector[n], c: vector[p] in nonnegative
var w: vector[p]
minimize mean(c * squared(X @ w, y))
""",
        """\
data X: matrix[n, p], y: vector[n], c: vector[n] in nonnegative
var w: vector[p]
minimize mean(c * squared(X @ w, y))
""",
    ),
    "FW2050": Entry(
        "a bare `norm`",
        "`norm` could be any of several norms, and what other languages take by default differs. Each norm has a name: "
        "`norm1`, `norm2`, `norm_inf`, `norm_fro`, `norm_nuc`, `norm_spec`, `norm21`, `norm1_inf`, `group_norm`.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + norm(x, 1)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + norm1(x)
""",
    ),
    "FW2051": Entry(
        "`norm2` of a matrix",
        "The 2-norm of a matrix means the largest singular value to some, the root of the sum of squares to others. "
        "The first is `norm_spec`, the second `norm_fro`.",
        """\
data X: matrix[n, p], Y: matrix[n, k]
var W: matrix[p, k]
minimize mean(squared(X @ W, Y)) + norm2(W)
""",
        """\
data X: matrix[n, p], Y: matrix[n, k]
var W: matrix[p, k]
minimize mean(squared(X @ W, Y)) + norm_fro(W)
""",
    ),
    "FW2052": Entry(
        "`l2_ball` on a matrix",
        "`l2_ball` is a set of vectors. The ball of the Frobenius norm is `fro_ball`, that of the largest singular value "
        "`spectral_ball`; `rows(l2_ball(r))` holds for each row.",
        """\
data X: matrix[n, p], Y: matrix[n, k]
var W: matrix[p, k] in l2_ball(5)
minimize mean(squared(X @ W, Y))
""",
        """\
data X: matrix[n, p], Y: matrix[n, k]
var W: matrix[p, k] in fro_ball(5)
minimize mean(squared(X @ W, Y))
""",
    ),
    "FW2053": Entry(
        "a set of vectors on a matrix",
        "It could hold for each row, for each column, or for all entries as one vector: `rows(SET)`, `columns(SET)`, "
        "`vec(SET)`. Only `l1_ball`, `linf_ball`, `box` and `nonnegative` hold entrywise for matrices as they are.",
        """\
data X: matrix[n, p], Y: matrix[n, k]
var W: matrix[p, k] in simplex(1)
minimize mean(squared(X @ W, Y))
""",
        """\
data X: matrix[n, p], Y: matrix[n, k]
var W: matrix[p, k] in rows(simplex(1))
minimize mean(squared(X @ W, Y))
""",
    ),
    "FW2054": Entry(
        "a set of something else",
        "A set contains what it is of: vectors, matrices, or symmetric matrices. A matrix variable is symmetric where it "
        "is declared `symmetric[d]` or `psd[d]`.",
        """\
data D: tensor[n, d, d], y: vector[n]
var X: matrix[d, d] in spectrahedron(1)
minimize mean(squared(inner(D, X), y))
""",
        """\
data D: tensor[n, d, d], y: vector[n]
var X: symmetric[d] in spectrahedron(1)
minimize mean(squared(inner(D, X), y))
""",
    ),
}
