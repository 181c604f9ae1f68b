"""FW2001-FW2016: names, calls, options. Raised by `fwdsl.check`."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW2001": Entry(
        "a name is not declared",
        "Every name is declared by `data`, `param`, `var` or `let`, or is a dimension in the type of a declaration. "
        "Names are case-sensitive.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + lambda * norm1(x)
""",
        """\
data A: matrix[n, d], b: vector[n]
param lambda: nonnegative
var x: vector[d]
minimize sum_squares(A @ x - b) + lambda * norm1(x)
""",
    ),
    "FW2002": Entry(
        "a name is declared twice",
        "Data, parameters, variables, lets and dimensions share one set of names, and the names of constraints must "
        "differ from all of them: results are looked up by name. The first declaration stands.",
        """\
data A: matrix[n, d], b: vector[n]
param d: count = 3
var x: vector[d]
minimize sum_squares(A @ x - b) + d * norm1(x)
""",
        """\
data A: matrix[n, d], b: vector[n]
param degree: count = 3
var x: vector[d]
minimize sum_squares(A @ x - b) + degree * norm1(x)
""",
    ),
    "FW2003": Entry(
        "a reserved name is declared",
        "The names of types, functions and sets of the language cannot be declared, so that a program never means "
        "something else than it seems to.",
        """\
data A: matrix[n, d], box: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - box)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
    ),
    "FW2004": Entry(
        "a name is used before it is declared",
        "The order of statements is free, except that a name is declared before its use.",
        """\
data A: matrix[n, d], b: vector[n]
let r = A @ x - b
var x: vector[d]
minimize sum_squares(r)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
let r = A @ x - b
minimize sum_squares(r)
""",
    ),
    "FW2005": Entry(
        "a word of the language stands where a value should",
        "Functions are called, sets stand behind `in`, types behind `:`, and data sources behind `from`. A declared "
        "name is no function: a product is written with `*`, and entries with square brackets.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + simplex(1)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to x in simplex(1)
""",
    ),
    "FW2006": Entry(
        "no such function",
        "The functions are the losses, the norms and other convex functions, the feature maps, and operations such as "
        "`sum`, `dot` or `diag`. Roots, logarithms and powers are not among them: losses and norms contain what is needed.",
        """\
data X: matrix[n, p], y: signs[n]
var w: vector[p]
minimize mean(logistics(X @ w, y))
""",
        """\
data X: matrix[n, p], y: signs[n]
var w: vector[p]
minimize mean(logistic(X @ w, y))
""",
    ),
    "FW2007": Entry(
        "no such type",
        "The types of scalars are `real`, `positive`, `nonnegative` and `count`; the others are `vector[n]`, "
        "`matrix[n, d]`, `tensor[n, d, e]`, `signs[n]`, `labels[n, k]`, `index[n] of T`, `entries[n, p]`, "
        "`symmetric[d]`, `psd[d]` and `family[T] of psd[d]`.",
        """\
data A: matrix[n, d], b: vec[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
    ),
    "FW2008": Entry(
        "no such set",
        "Behind `in` stands one of the sets of the language, called with its parameters. A norm is not a set: its "
        "ball is, and `norm1(x) <= r` and `x in l1_ball(r)` are the same constraint.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to x in l1ball(5)
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
subject to x in l1_ball(5)
""",
    ),
    "FW2009": Entry(
        "no such data source",
        "Data is read by `libsvm`, `csv`, `npy`, `npz`, `mtx`, `parquet` or `coo`, whatever the suffix of the file.",
        """\
data A: matrix[n, d], b: vector[n] from svmlight("train.svm")
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
        """\
data A: matrix[n, d], b: vector[n] from libsvm("train.svm")
var x: vector[d]
minimize sum_squares(A @ x - b)
""",
    ),
    "FW2010": Entry(
        "no such argument",
        "Arguments are given by position, or by the names that the signature of the function, set or source has.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize mean(huber(A @ x, b, threshold=2))
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize mean(huber(A @ x, b, delta=2))
""",
    ),
    "FW2011": Entry(
        "wrong number of arguments",
        "Each argument without a default is given once, by position or by name. A loss takes its prediction first "
        "and its target second.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize mean(squared(A @ x - b))
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize mean(squared(A @ x, b))
""",
    ),
    "FW2012": Entry(
        "an option is out of its range",
        "Options of losses, feature maps, sets and sources are constant, and lie where the function is defined: "
        "`tau` between 0 and 1, `delta` and `gamma` positive, `eps` not negative, counts whole. The options of a source "
        "are written out as numbers, texts, or `true` and `false`.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize mean(quantile(A @ x, b, tau=90))
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize mean(quantile(A @ x, b, tau=0.9))
""",
    ),
    "FW2013": Entry(
        "`solve` has no such option",
        "The options are `tol`, `gap`, `method`, `max_iter`, `time`, `seed` and `threads`. None of them changes what "
        "is minimised.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
solve tolerance = 1e-8
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
solve tol = 1e-8
""",
    ),
    "FW2014": Entry(
        "an option of `solve` is out of its range",
        "`tol` is positive; `time`, `max_iter`, `seed` and `threads` are not negative, the last three whole; `gap` is "
        "`relative` or `absolute`; `method` is `auto`, a name, or a name with options.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
solve tol = 0
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
solve tol = 1e-8
""",
    ),
    "FW2015": Entry(
        "an option of `solve` is given twice",
        "`solve` may be repeated, but takes each option once.",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
solve tol = 1e-8
solve tol = 1e-4
""",
        """\
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b)
solve tol = 1e-8
""",
    ),
    "FW2016": Entry(
        "the program is named twice",
        "A program has one name, or none: `problem NAME` stands once.",
        """\
problem lasso
problem sparse_regression
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + norm1(x)
""",
        """\
problem lasso
data A: matrix[n, d], b: vector[n]
var x: vector[d]
minimize sum_squares(A @ x - b) + norm1(x)
""",
    ),
}
