"""FW1nnn: syntax. Raised by `fwdsl.grammar`."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW1001": Entry(
        title="something else was expected",
        explanation=(
            "The line follows the grammar up to the marked place, where only what the message lists can stand. "
            "Look at the place itself and at what stands in front of it."
        ),
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b)) of\n"
            "subject to norm1(x) <= 1\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= 1\n"
        ),
    ),
    "FW1002": Entry(
        title="a line ends too early",
        explanation=(
            "A statement ends at the end of its line, unless the line ends with a comma, `=`, `:` or an operator,"
            " or a bracket is open. Complete the line, or let it end with one of these where it goes on below."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize\n    sum(squared(A @ x, b))\n"),
    ),
    "FW1003": Entry(
        title="a line starts with no keyword",
        explanation=(
            "Every statement starts with its keyword: `fw`, `problem`, `data`, `param`, `var`, `let`, `minimize`,"
            " `maximize`, `subject to` or `solve`. Only the constraints below `subject to`, and lines that "
            "continue a statement, start otherwise."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvra x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1004": Entry(
        title="two statements on a line",
        explanation="A statement ends at the end of its line; the next one starts on a line of its own.",
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b)) subject to norm1(x) <= 1\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= 1\n"
        ),
    ),
    "FW1005": Entry(
        title="a semicolon",
        explanation=(
            "Nothing is separated by `;`: statements end with their line, constraints are separated by commas or "
            "lines, and the rows of a matrix are lists in a list."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b));\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1006": Entry(
        title="a keyword as a name",
        explanation=(
            "The keywords (`fw problem data param var let minimize maximize subject to solve in of from family "
            "true false inf`) are reserved and cannot name anything."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvar data: vector[d]\nminimize sum(squared(A @ data, b))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar data_1: vector[d]\nminimize sum(squared(A @ data_1, b))\n"),
    ),
    "FW1007": Entry(
        title="a line continues nothing",
        explanation=(
            "A line is continued by the next one after a comma, `=`, `:` or an operator at its end, and while a "
            "bracket is open; a line that starts with `*`, `/`, `@`, a comparison, `from`, `in` or `of` also "
            "continues. Only in `minimize`, `maximize` and `let` may a line start with `+` or `-` to continue; "
            "elsewhere put them at the end of the line above."
        ),
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "param delta: positive = 1\n"
            "    + 2\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= delta\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "param delta: positive = 1 +\n"
            "    2\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= delta\n"
        ),
    ),
    "FW1008": Entry(
        title="too deep nesting",
        explanation=(
            "Brackets nest at most 200 deep, and operations at most 250, so that no program can exhaust the "
            "stack. Name a part with `let` and use the name."
        ),
        bad="var x: real\nminimize " + "(" * 201 + "x" + ")" * 201 + "\nsubject to x >= 0\n",
        good=("var x: real\nminimize x\nsubject to x >= 0\n"),
    ),
    "FW1009": Entry(
        title="another version of the language",
        explanation="`fw N` says which version of the language the program is written in. This fwdsl reads version 1.",
        bad=("fw 2\ndata A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
        good=("fw 1\ndata A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1010": Entry(
        title="`fw` is not first",
        explanation="`fw 1` is the first statement of a program, or is left out (`fwdsl fmt` adds it).",
        bad=("data A: matrix[n, d], b: vector[n]\nfw 1\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
        good=("fw 1\ndata A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1020": Entry(
        title="a bracket that is never closed",
        explanation=(
            "Every `(` and `[` needs its partner. The bracket marked is the last one that is still open where the"
            " statement ends; a keyword at the start of a line always starts a new statement."
        ),
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b)\n"
            "subject to norm1(x) <= 1\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= 1\n"
        ),
    ),
    "FW1021": Entry(
        title="a bracket that closes nothing",
        explanation="No bracket is open where this one closes: it is one too many, or its partner is missing in front.",
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b)))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1022": Entry(
        title="brackets of different kinds",
        explanation="`(` is closed by `)` and `[` by `]`.",
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b])\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1030": Entry(
        title="a character that means nothing",
        explanation=(
            "The character is not part of the language. Comments start with `#`, blocks have no braces, functions"
            " are called as `sum(x)` (not `x.sum()`), and a line that goes on needs no backslash. A NUL character"
            " means that the file is no text."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b)) $\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1032": Entry(
        title="text that is not UTF-8",
        explanation=(
            "Programs are text in UTF-8. The file was saved in another encoding, or is no text at all. U+FFFD is "
            "what other programs leave where they could not read a character."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b)) \ufffd\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1033": Entry(
        title="a text that is never closed",
        explanation='A text starts and ends with `"` on the same line.',
        bad=(
            'data A: matrix[n, d], b: vector[n] from libsvm("a9a.svm)\n'
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
        ),
        good=(
            'data A: matrix[n, d], b: vector[n] from libsvm("a9a.svm")\n'
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
        ),
    ),
    "FW1034": Entry(
        title="curly quotes",
        explanation=(
            "Word processors and web pages turn straight quotes into curly ones. Texts stand in straight double quotes."
        ),
        bad=(
            "data A: matrix[n, d], b: vector[n] from libsvm(“a9a.svm”)\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
        ),
        good=(
            'data A: matrix[n, d], b: vector[n] from libsvm("a9a.svm")\n'
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
        ),
    ),
    "FW1035": Entry(
        title="single quotes",
        explanation="Texts stand in double quotes.",
        bad=(
            "data A: matrix[n, d], b: vector[n] from libsvm('a9a.svm')\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
        ),
        good=(
            'data A: matrix[n, d], b: vector[n] from libsvm("a9a.svm")\n'
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
        ),
    ),
    "FW1036": Entry(
        title="an unknown escape",
        explanation=(
            'In a text, a backslash stands in front of `\\`, `"`, `n`, `t`, or `u` with four hexadecimal digits. '
            "In paths write `/`, which works on every system."
        ),
        bad=(
            'data A: matrix[n, d], b: vector[n] from libsvm("data\\a9a.svm")\n'
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
        ),
        good=(
            'data A: matrix[n, d], b: vector[n] from libsvm("data/a9a.svm")\n'
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
        ),
    ),
    "FW1037": Entry(
        title="a malformed number",
        explanation=(
            "Numbers are written `1`, `1.5`, `.5`, `1e-3` or `1_000`, at most 1.8e308; a point needs a digit behind it."
        ),
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= 1.\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= 1.0\n"
        ),
    ),
    "FW1038": Entry(
        title="a character that looks like another",
        explanation=(
            "Text copied from a paper or a web page often has a dash for a minus sign, `×` for `*`, or blanks "
            "that are not plain blanks. The language is written in ASCII, with `≤`, `≥`, `∈` and `·` accepted for"
            " `<=`, `>=`, `in` and `*`."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x − b, zeros(n)))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x - b, zeros(n)))\n"),
    ),
    "FW1040": Entry(
        title="`=` in a constraint",
        explanation=(
            "`=` gives a value (in `let`, `param`, `solve` and arguments); an equality in a constraint is written `==`."
        ),
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to sum(x) = 1\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to sum(x) == 1\n"
        ),
    ),
    "FW1041": Entry(
        title="`==` for a value",
        explanation="`==` compares two sides of a constraint; `let`, `param` and `solve` give values with `=`.",
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nlet r == A @ x\nminimize sum(squared(r, b))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nlet r = A @ x\nminimize sum(squared(r, b))\n"),
    ),
    "FW1042": Entry(
        title="a power",
        explanation=(
            "The language has no powers: the compiler proves convexity from the functions it knows. A sum of "
            "squares is `sum_squares(x)`, a squared error per sample `squared(z, b)`."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum((A @ x - b)^2)\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum_squares(A @ x - b)\n"),
    ),
    "FW1043": Entry(
        title="a strict or misspelt inequality",
        explanation=(
            "Constraints are written `<=`, `>=` and `==`. Strict inequalities leave out the boundary, where optima lie."
        ),
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) < 1\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= 1\n"
        ),
    ),
    "FW1044": Entry(
        title="`!=`",
        explanation="A set with a point taken out is not convex, so `!=` is no constraint of a convex program.",
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to sum(x) != 0\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to sum(x) == 0\n"
        ),
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
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b)) + 2 norm1(x)\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b)) + 2 * norm1(x)\n"),
    ),
    "FW1047": Entry(
        title="a norm written with bars",
        explanation=(
            "Norms and absolute values have names: `norm2(x)`, `norm1(x)`, `norm_inf(x)`, and per sample the loss"
            " `absolute(z, b)`."
        ),
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to ||x||_1 <= 1\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= 1\n"
        ),
    ),
    "FW1048": Entry(
        title="a constraint where none can stand",
        explanation="Comparisons and `in` make constraints, and constraints are the entries of `subject to`.",
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b)) <= 3\n"),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= 1\n"
        ),
    ),
    "FW1049": Entry(
        title="a missing comma",
        explanation=(
            "Declarations, arguments, dimensions, options, the entries of lists, and constraints on one line are "
            "separated by commas."
        ),
        bad=("data A: matrix[n, d] b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1050": Entry(
        title="a comma with nothing behind it",
        explanation="Commas stand between things; a list does not end with one.",
        bad=("data A: matrix[n, d], b: vector[n],\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1051": Entry(
        title="a constraint that compares nothing",
        explanation="A constraint compares two sides with `<=`, `>=` or `==`, or puts an expression in a set with `in`.",
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x)\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= 1\n"
        ),
    ),
    "FW1052": Entry(
        title="`subject to` without constraints",
        explanation="Constraints follow `subject to` on its line, separated by commas, or one a line below it.",
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to\n"
            "solve tol = 1e-6\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= 1\n"
            "solve tol = 1e-6\n"
        ),
    ),
    "FW1060": Entry(
        title="another spelling of `minimize` or `maximize`",
        explanation="An objective starts with `minimize` or `maximize`, in lower case and without a colon.",
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimise sum(squared(A @ x, b))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1061": Entry(
        title="another spelling of `subject to`",
        explanation="Constraints start with `subject to`, on a line of its own or in front of the first constraint.",
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "such that norm1(x) <= 1\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= 1\n"
        ),
    ),
    "FW1062": Entry(
        title="a declaration without a type",
        explanation=(
            "Every name is declared with its type: `NAME: TYPE`. The type says the shape, and for parameters "
            "which values are allowed."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvar x\nminimize sum(squared(A @ x, b))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
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
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1066": Entry(
        title="an unknown unit of time",
        explanation="A time is a number of seconds (`60` or `60 s`) or of minutes (`5 min`).",
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "solve time = 2 hours\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "solve time = 120 min\n"
        ),
    ),
    "FW1067": Entry(
        title="an argument without a name after one with a name",
        explanation="Arguments without a name come first, in their order; arguments with a name follow.",
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(huber(delta=1, A @ x, b))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(huber(A @ x, b, delta=1))\n"),
    ),
    "FW1068": Entry(
        title="`subject` without `to`",
        explanation="Constraints start with the two words `subject to`.",
        bad=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject norm1(x) <= 1\n"
        ),
        good=(
            "data A: matrix[n, d], b: vector[n]\n"
            "var x: vector[d]\n"
            "minimize sum(squared(A @ x, b))\n"
            "subject to norm1(x) <= 1\n"
        ),
    ),
    "FW1069": Entry(
        title="a colon behind a keyword",
        explanation=(
            "Keywords are followed directly by what they are about; a `:` stands only between a name and its "
            "type, or a constraint and its name."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize: sum(squared(A @ x, b))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
    ),
    "FW1070": Entry(
        title="arithmetic in a dimension",
        explanation=(
            "A dimension is a name, an integer, or `dim(Phi)` of a feature map. Give the sum or product a name of"
            " its own; the data or `--dim` binds it."
        ),
        bad=("data A: matrix[n, d + 1], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
        good=("data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
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
