"""FW1040-FW1072: operators, commas, words of other languages, declarations. Raised by `fwdsl.grammar`."""

from __future__ import annotations

from .entry import DECLARED, LEAST_SQUARES, Entry

ENTRIES: dict[str, Entry] = {
    "FW1040": Entry(
        title="`=` in a constraint",
        explanation=(
            "`=` gives a value (in `let`, `param`, `solve` and arguments); an equality in a constraint is written `==`."
        ),
        bad=LEAST_SQUARES + "subject to sum(x) = 1\n",
        good=LEAST_SQUARES + "subject to sum(x) == 1\n",
    ),
    "FW1041": Entry(
        title="`==` for a value",
        explanation="`==` compares two sides of a constraint; `let`, `param` and `solve` give values with `=`.",
        bad=DECLARED + "let r == A @ x\nminimize sum(squared(r, b))\n",
        good=DECLARED + "let r = A @ x\nminimize sum(squared(r, b))\n",
    ),
    "FW1042": Entry(
        title="a power",
        explanation=(
            "The language has no powers: the compiler proves convexity from the functions it knows. A sum of "
            "squares is `sum_squares(x)`, a squared error per sample `squared(z, b)`."
        ),
        bad=DECLARED + "minimize sum((A @ x - b)^2)\n",
        good=DECLARED + "minimize sum_squares(A @ x - b)\n",
    ),
    "FW1043": Entry(
        title="a strict or misspelt inequality",
        explanation=(
            "Constraints are written `<=`, `>=` and `==`. Strict inequalities leave out the boundary, where optima lie."
        ),
        bad=LEAST_SQUARES + "subject to norm1(x) < 1\n",
        good=LEAST_SQUARES + "subject to norm1(x) <= 1\n",
    ),
    "FW1044": Entry(
        title="`!=`",
        explanation="A set with a point taken out is not convex, so `!=` is no constraint of a convex program.",
        bad=LEAST_SQUARES + "subject to sum(x) != 0\n",
        good=LEAST_SQUARES + "subject to sum(x) == 0\n",
    ),
    "FW1045": Entry(
        title="a transpose written `'`",
        explanation="The transpose of a matrix is written `A.T`.",
        bad=("data A: matrix[d, n], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A' @ x, b))\n"),
        good=("data A: matrix[d, n], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A.T @ x, b))\n"),
    ),
    "FW1046": Entry(
        title="a product without an operator",
        explanation=(
            "Products are written with an operator: `*` by a scalar or entry by entry, `@` between matrices and "
            "vectors."
        ),
        bad=DECLARED + "minimize sum(squared(A @ x, b)) + 2 norm1(x)\n",
        good=DECLARED + "minimize sum(squared(A @ x, b)) + 2 * norm1(x)\n",
    ),
    "FW1047": Entry(
        title="a norm written with bars",
        explanation=(
            "Norms and absolute values have names: `norm2(x)`, `norm1(x)`, `norm_inf(x)`, and per sample the loss"
            " `absolute(z, b)`."
        ),
        bad=LEAST_SQUARES + "subject to ||x||_1 <= 1\n",
        good=LEAST_SQUARES + "subject to norm1(x) <= 1\n",
    ),
    "FW1048": Entry(
        title="a constraint where none can stand",
        explanation="Comparisons and `in` make constraints, and constraints are the entries of `subject to`.",
        bad=DECLARED + "minimize sum(squared(A @ x, b)) <= 3\n",
        good=LEAST_SQUARES + "subject to norm1(x) <= 1\n",
    ),
    "FW1049": Entry(
        title="a missing comma",
        explanation=(
            "Declarations, arguments, dimensions, options, the entries of lists, and constraints on one line are "
            "separated by commas."
        ),
        bad=("data A: matrix[n, d] b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
        good=LEAST_SQUARES,
    ),
    "FW1050": Entry(
        title="a comma with nothing behind it",
        explanation="Commas stand between things; a list does not end with one.",
        bad=("data A: matrix[n, d], b: vector[n],\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
        good=LEAST_SQUARES,
    ),
    "FW1051": Entry(
        title="a constraint that compares nothing",
        explanation="A constraint compares two sides with `<=`, `>=` or `==`, or puts an expression in a set with `in`.",
        bad=LEAST_SQUARES + "subject to norm1(x)\n",
        good=LEAST_SQUARES + "subject to norm1(x) <= 1\n",
    ),
    "FW1052": Entry(
        title="`subject to` without constraints",
        explanation="Constraints follow `subject to` on its line, separated by commas, or one a line below it.",
        bad=LEAST_SQUARES + "subject to\nsolve tol = 1e-6\n",
        good=LEAST_SQUARES + "subject to norm1(x) <= 1\nsolve tol = 1e-6\n",
    ),
    "FW1053": Entry(
        title="a word of a programming language",
        explanation=(
            "A program states what is minimised; it has no steps, loops, conditions, functions of its own or imports. "
            "Expressions are of whole vectors and matrices: `x >= 0` holds for every entry, `A @ x` is the product, and "
            "`sum` and `mean` run over all entries."
        ),
        bad=LEAST_SQUARES + "for i in d: x[i] >= 0\n",
        good=LEAST_SQUARES + "subject to x >= 0\n",
    ),
    "FW1054": Entry(
        title="a comment of another language",
        explanation=(
            "A comment starts with `#` and ends with its line, as in Python. There are no comments over several lines: "
            "each line has its own `#`."
        ),
        bad=(
            "// least squares\ndata A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"
        ),
        good=(
            "# least squares\ndata A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"
        ),
    ),
    "FW1055": Entry(
        title="a list where a set stands",
        explanation=(
            "`[0, 1]` is a literal vector. The numbers between two bounds are the set `box(0, 1)`; `0 <= x <= 1` says the "
            "same. A list of values to choose from is no convex set."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in [0, 1]\nminimize sum(squared(A @ x, b))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in box(0, 1)\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1060": Entry(
        title="another spelling of `minimize` or `maximize`",
        explanation="An objective starts with `minimize` or `maximize`, in lower case and without a colon.",
        bad=DECLARED + "minimise sum(squared(A @ x, b))\n",
        good=LEAST_SQUARES,
    ),
    "FW1061": Entry(
        title="another spelling of `subject to`",
        explanation="Constraints start with `subject to`, on a line of its own or in front of the first constraint.",
        bad=LEAST_SQUARES + "such that norm1(x) <= 1\n",
        good=LEAST_SQUARES + "subject to norm1(x) <= 1\n",
    ),
    "FW1062": Entry(
        title="a declaration without a type",
        explanation=(
            "Every name is declared with its type: `NAME: TYPE`. The type says the shape, and for parameters "
            "which values are allowed."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvar x\nminimize sum(squared(A @ x, b))\n"),
        good=LEAST_SQUARES,
    ),
    "FW1063": Entry(
        title="`from` is missing",
        explanation='Data comes `from` a source: `data X: matrix[n, p] from npy("X.npy")`.',
        bad=(
            'data A: matrix[n, d], b: vector[n] libsvm("a9a.svm")\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n'
        ),
        good=(
            'data A: matrix[n, d], b: vector[n] from libsvm("a9a.svm")\n'
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
        ),
    ),
    "FW1064": Entry(
        title="a path without quotes or format",
        explanation=(
            'A source is a format with a path in double quotes, such as `libsvm("a9a.svm")` or `csv("table.csv")`.'
        ),
        bad=(
            "data A: matrix[n, d], b: vector[n] from libsvm(data/a9a.svm)\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
        ),
        good=(
            'data A: matrix[n, d], b: vector[n] from libsvm("data/a9a.svm")\n'
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
        ),
    ),
    "FW1065": Entry(
        title="dimensions in round brackets",
        explanation="Dimensions stand in square brackets: `matrix[n, p]`, `vector[n]`.",
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector(d)\nminimize sum(squared(A @ x, b))\n"),
        good=LEAST_SQUARES,
    ),
    "FW1066": Entry(
        title="an unknown unit of time",
        explanation="A time is a number of seconds (`60` or `60 s`) or of minutes (`5 min`).",
        bad=LEAST_SQUARES + "solve time = 2 hours\n",
        good=LEAST_SQUARES + "solve time = 120 min\n",
    ),
    "FW1067": Entry(
        title="an argument without a name after one with a name",
        explanation="Arguments without a name come first, in their order; arguments with a name follow.",
        bad=DECLARED + "minimize sum(huber(delta=1, A @ x, b))\n",
        good=DECLARED + "minimize sum(huber(A @ x, b, delta=1))\n",
    ),
    "FW1068": Entry(
        title="`subject` without `to`",
        explanation="Constraints start with the two words `subject to`.",
        bad=LEAST_SQUARES + "subject norm1(x) <= 1\n",
        good=LEAST_SQUARES + "subject to norm1(x) <= 1\n",
    ),
    "FW1069": Entry(
        title="a colon behind a keyword",
        explanation=(
            "Keywords are followed directly by what they are about; a `:` stands only between a name and its "
            "type, or a constraint and its name."
        ),
        bad=DECLARED + "minimize: sum(squared(A @ x, b))\n",
        good=LEAST_SQUARES,
    ),
    "FW1070": Entry(
        title="arithmetic in a dimension",
        explanation=(
            "A dimension is a name, an integer, or `dim(Phi)` of a feature map. Give the sum or product a name of"
            " its own; the data or `--dim` binds it."
        ),
        bad=("data A: matrix[n, d + 1], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
        good=LEAST_SQUARES,
    ),
    "FW1072": Entry(
        title="a comparison in a declaration",
        explanation=(
            "A declaration may put its name in a set (`in nonnegative`); comparisons are constraints and stand "
            "under `subject to`."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d] >= 0\nminimize sum(squared(A @ x, b))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in nonnegative\nminimize sum(squared(A @ x, b))\n"),
    ),
}
