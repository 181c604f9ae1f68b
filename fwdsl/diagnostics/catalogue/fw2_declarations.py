"""FW2018-FW2029: types, dimensions, literals and sources. Raised by `fwdsl.check`."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW2018": Entry(
        "wrong number of dimensions",
        "A type is written with all its dimensions: `vector[n]`, `matrix[n, d]`, `psd[d]`. Scalars have none.",
        """\
data A: matrix[n], b: vector[n]
var x: real
minimize sum(squared(x * b, b))
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum(squared(A @ x, b))
""",
    ),
    "FW2019": Entry(
        "what follows `of` does not fit the type",
        "`index[n] of T` names the dimension that its integers address, `family[T] of psd[d]` the type of its blocks, "
        "`entries[n, p] of signs` says that the observed values are of two kinds. No other type has an `of`.",
        """\
data X: matrix[n, d], y: vector[n], task: index[n]
var F: family[T] of vector[d]
minimize mean(squared(inner(X, F[task]), y)) + sum_squares(F)
""",
        """\
data X: matrix[n, d], y: vector[n], task: index[n] of T
var F: family[T] of vector[d]
minimize mean(squared(inner(X, F[task]), y)) + sum_squares(F)
""",
    ),
    "FW2020": Entry(
        "not a dimension",
        "A dimension is a name, a whole number of at least 1, or `dim(Phi)` for a feature map or a data matrix. There is "
        "no arithmetic of dimensions: name the matrix, and take the `dim` of it.",
        """\
data X: matrix[n, p], y: vector[n]
var w: vector[0]
minimize mean(squared(X @ w, y))
""",
        """\
data X: matrix[n, p], y: vector[n]
let Z = intercept(X)
var w: vector[dim(Z)]
minimize mean(squared(Z @ w, y))
""",
    ),
    "FW2021": Entry(
        "a literal is not an array of numbers",
        "A literal is made of finite numbers in square brackets, with rows of equal length. Labels may be quoted texts. "
        "Groups are a list of lists of positions, counted from 0.",
        """\
data A: matrix[2, 2] = [[1, 0], [2]]
var x: vector[2]
minimize sum_squares(A @ x - 1)
""",
        """\
data A: matrix[2, 2] = [[1, 0], [0, 2]]
var x: vector[2]
minimize sum_squares(A @ x - 1)
""",
    ),
    "FW2022": Entry(
        "a type that cannot be declared here",
        "Variables are `real`, `nonnegative`, `vector`, `matrix`, `symmetric`, `psd` or a `family` of these: whole "
        "numbers and open sets are not convex and closed. Parameters are scalars; everything else that is given is data.",
        """\
data A: matrix[n, d], b: vector[n]
param c: vector[d]
var x: vector[d]
minimize sum_squares(A @ x - b) + dot(c, x)
""",
        """\
data A: matrix[n, d], b: vector[n], c: vector[d]
var x: vector[d]
minimize sum_squares(A @ x - b) + dot(c, x)
""",
    ),
    "FW2023": Entry(
        "a promise that cannot be made",
        "Data may promise `in nonnegative`, or be declared `symmetric[d]` or `psd[d]`; that is checked when it is bound. "
        "The domain of a parameter is its type.",
        """\
data A: matrix[n, d], b: vector[n] in simplex(1)
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
        """\
data A: matrix[n, d], b: vector[n] in nonnegative
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
    ),
    "FW2024": Entry(
        "a value where none can be given",
        "Data is read from sources or written out, parameters have defaults, and variables are solved for: they take no "
        "value. A start is given when solving.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d], c: real = 1
minimize sum_squares(A @ x + c - b)
""",
        """\
data A: matrix[n, d], b: vector[n]
param c: real = 1
var x: vector[d]
minimize sum_squares(A @ x + c - b)
""",
    ),
    "FW2025": Entry(
        "a literal does not fit its type",
        "A literal has the shape of its declared type, and its values: two distinct values for `signs`, whole numbers for "
        "`index`, a symmetric matrix for `symmetric` and `psd`.",
        """\
data P: psd[2] = [[1, 2], [2, 1]]
var x: vector[2]
minimize quad_form(x, P) + sum(x)
""",
        """\
data P: psd[2] = [[2, 1], [1, 2]]
var x: vector[2]
minimize quad_form(x, P) + sum(x)
""",
    ),
    "FW2026": Entry(
        "a dimension has two sizes",
        "Names of dimensions unify across declarations: `n` is one number in the whole program.",
        """\
data a: vector[n] = [1, 2, 3]
data b: vector[n] = [1, 2]
var c: real
minimize sum_squares(c * a - b)
""",
        """\
data a: vector[n] = [1, 2, 3]
data b: vector[n] = [1, 2, 2]
var c: real
minimize sum_squares(c * a - b)
""",
    ),
    "FW2028": Entry(
        "a source cannot serve these names",
        "A source serves the names since the previous `from` or literal of its statement. `libsvm`, `csv` and `parquet` give a "
        "matrix and a target, `npy` and `mtx` one array, `npz` arrays by name, `coo` observed entries.",
        """\
data A: matrix[n, d], b: vector[n] from npy("A.npy")
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
        """\
data A: matrix[n, d] from npy("A.npy"), b: vector[n] from npy("b.npy")
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
    ),
    "FW2029": Entry(
        "a default outside the domain of its parameter",
        "A default is a scalar of numbers, dimensions and other parameters, computed before any data is read, and it is "
        "what the type of the parameter says: `positive`, `nonnegative`, or a `count`.",
        """\
data A: matrix[n, d], b: vector[n]
param mu: nonnegative = -1
var x: vector[d]
minimize sum_squares(A @ x - b) + mu * norm1(x)
""",
        """\
data A: matrix[n, d], b: vector[n]
param mu: nonnegative = 10/n
var x: vector[d]
minimize sum_squares(A @ x - b) + mu * norm1(x)
""",
    ),
}
