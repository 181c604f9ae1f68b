"""FW2055-FW2094: objectives, constraints and whole programs, and warnings. Raised by `fwdsl.check`."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW2055": Entry(
        "a chain of comparisons in two directions",
        "A chain such as `0 <= x <= 1` points in one direction, and has no `==` in it.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to 0 <= x >= -1
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to -1 <= x <= 0
""",
    ),
    "FW2056": Entry(
        "a constraint without a variable",
        "A constraint restricts variables. What data and parameters satisfy is said where they are declared: "
        "`param delta: positive`, `data w: vector[n] in nonnegative`.",
        """\
data A: matrix[n, d], b: vector[n]
param delta: positive
var x: vector[d] in l1_ball(delta)
minimize sum_squares(A @ x - b)
subject to delta <= 10
""",
        """\
data A: matrix[n, d], b: vector[n]
param delta: positive
var x: vector[d] in l1_ball(delta)
minimize sum_squares(A @ x - b)
""",
    ),
    "FW2057": Entry(
        "the objective is not a number",
        "What is minimised is one number. The entries of a vector are added up by `sum`, averaged by `mean`, their "
        "squares added up by `sum_squares`.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize A @ x - b
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
    ),
    "FW2058": Entry(
        "a loss without `mean` or `sum`",
        "A loss has one value for each sample. The average and the total need different weights on everything else in "
        "the objective, so which of them is meant is not guessed.",
        """\
data X: matrix[n, p], y: signs[n]
var w: vector[p]
minimize logistic(X @ w, y) + 0.1 * norm1(w)
""",
        """\
data X: matrix[n, p], y: signs[n]
var w: vector[p]
minimize mean(logistic(X @ w, y)) + 0.1 * norm1(w)
""",
    ),
    "FW2059": Entry(
        "an objective without a variable",
        "The objective depends on a variable; else every point that satisfies the constraints is as good as any other.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(b)
subject to A @ x <= b
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(x)
subject to A @ x <= b
""",
    ),
    "FW2060": Entry(
        "not a finite number",
        "Arithmetic is between finite numbers, and no divisor is zero. `inf` is a bound of a box, and nothing else.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) / 0
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) / 2
""",
    ),
    "FW2061": Entry(
        "`mean` or `sum` of what is one number already",
        "`sum_squares`, the norms and the other convex functions are one number each. The mean of squared errors is that "
        "of a loss: `mean(squared(prediction, target))`.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize mean(sum_squares(A @ x - b))
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize mean(squared(A @ x, b))
""",
    ),
    "FW2062": Entry(
        "no objective",
        "A program says what is minimised, or maximised: one `minimize` or one `maximize`.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
subject to A @ x == b
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize norm1(x)
subject to A @ x == b
""",
    ),
    "FW2063": Entry(
        "two objectives",
        "A program has one objective. Two aims are added up with weights, or one of them is bounded in `subject to`.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
minimize norm1(x)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + 0.1 * norm1(x)
""",
    ),
    "FW2064": Entry(
        "a number that is not known to be positive",
        "Radii, the factor of a bounded norm and some options must be positive (or not negative), and that is proved from "
        "the text: by a literal, or by the type of a parameter. What a parameter promises is checked when it is bound.",
        """\
data A: matrix[n, d], b: vector[n]
param delta: real = 5
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to norm1(x) <= delta
""",
        """\
data A: matrix[n, d], b: vector[n]
param delta: positive = 5
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to norm1(x) <= delta
""",
    ),
    "FW2065": Entry(
        "a radius that is not positive",
        "A ball of negative radius is empty, one of radius zero a point, one of infinite radius restricts nothing.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to norm1(x) <= -5
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to norm1(x) <= 5
""",
    ),
    "FW2066": Entry(
        "an empty box",
        "The lower bound is at most the upper bound.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d] in box(1, 0)
minimize sum_squares(A @ x - b)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d] in box(0, 1)
minimize sum_squares(A @ x - b)
""",
    ),
    "FW2067": Entry(
        "an expression that is too large",
        "With every `let` written out, an expression has at most 1,000,000 operations, nested at most 200 deep. Matrices, `sum` and "
        "products of scalars say the same in few operations.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
let a1 = x + x
let a2 = a1 + a1 + a1 + a1 + a1 + a1 + a1 + a1 + a1 + a1
let a3 = a2 + a2 + a2 + a2 + a2 + a2 + a2 + a2 + a2 + a2
let a4 = a3 + a3 + a3 + a3 + a3 + a3 + a3 + a3 + a3 + a3
let a5 = a4 + a4 + a4 + a4 + a4 + a4 + a4 + a4 + a4 + a4
let a6 = a5 + a5 + a5 + a5 + a5 + a5 + a5 + a5 + a5 + a5
let a7 = a6 + a6 + a6 + a6 + a6 + a6 + a6 + a6 + a6 + a6
minimize sum_squares(A @ a7 - b)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ (2000000 * x) - b)
""",
    ),
    "FW2068": Entry(
        "no variable",
        "A program has at least one variable: what is solved for.",
        """\
data b: vector[n]
minimize sum_squares(b)
""",
        """\
data b: vector[n]
var c: real
minimize sum_squares(b - c)
""",
    ),
    "FW2070": Entry(
        "a matrix is compared",
        "`W >= 0` means nonnegative entries to some, and a positive semidefinite matrix to others; so does any comparison "
        "of symmetric matrices. Both are sets: `nonnegative` and `psd`.",
        """\
data X: matrix[n, p], Y: matrix[n, k]
var W: matrix[p, k]
minimize mean(squared(X @ W, Y))
subject to W >= 0
""",
        """\
data X: matrix[n, p], Y: matrix[n, k]
var W: matrix[p, k]
minimize mean(squared(X @ W, Y))
subject to W in nonnegative
""",
    ),
    "FW2071": Entry(
        "a bound on the norm of a family",
        "A function of a family adds up over its blocks, a set holds for each block. A bounded norm would be both.",
        """\
data D: matrix[n, d], task: index[n] of T, y: vector[n]
var F: family[T] of vector[d]
minimize mean(squared(inner(D, F[task]), y))
subject to norm2(F) <= 1
""",
        """\
data D: matrix[n, d], task: index[n] of T, y: vector[n]
var F: family[T] of vector[d]
minimize mean(squared(inner(D, F[task]), y))
subject to F in l2_ball(1)
""",
    ),
    "FW2072": Entry(
        "groups that do not cover",
        "Each entry is in at least one group. An entry in none would be neither penalised nor bounded, which most often is a mistake; where "
        "it is meant, slice the expression to the entries that are grouped.",
        """\
data A: matrix[n, 5], b: vector[n]
var x: vector[5]
minimize mean(squared(A @ x, b)) + group_norm(x, [[0, 1], [2, 3]])
""",
        """\
data A: matrix[n, 5], b: vector[n]
var x: vector[5]
minimize mean(squared(A @ x, b)) + group_norm(x[0:4], [[0, 1], [2, 3]])
""",
    ),
    "FW2090": Entry(
        "unused data",
        "A warning. Data that no expression uses is read and checked, and does not change the answer.",
        """\
data A: matrix[n, d], b: vector[n], c: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
    ),
    "FW2091": Entry(
        "an unused parameter",
        "A warning. A parameter that no expression uses does not change the answer.",
        """\
data A: matrix[n, d], b: vector[n]
param mu: nonnegative
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
        """\
data A: matrix[n, d], b: vector[n]
param mu: nonnegative
var x: vector[d]
minimize sum_squares(A @ x - b) + mu * norm1(x)
""",
    ),
    "FW2092": Entry(
        "an unused variable",
        "A warning. A variable that neither the objective nor a constraint uses can be anything.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d], c: real
minimize sum_squares(A @ x - b)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d], c: real
minimize sum_squares(A @ x + c - b)
""",
    ),
    "FW2093": Entry(
        "a zero coefficient",
        "A warning. A term whose coefficient is zero, or cancels, adds nothing.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + 0 * norm1(x)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + 0.1 * norm1(x)
""",
    ),
    "FW2094": Entry(
        "a constraint that another implies",
        "A warning. A constraint that follows from another one does not change the answer. Only what the text shows is "
        "judged: the same constraint twice, balls within balls, a simplex that is nonnegative anyway.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d] in simplex(1)
minimize sum_squares(A @ x - b)
subject to x >= 0
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d] in simplex(1)
minimize sum_squares(A @ x - b)
""",
    ),
}
