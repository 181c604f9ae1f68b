"""FW1001-FW1038: lines, brackets, characters, numbers and texts. Raised by `fwdsl.grammar`."""

from __future__ import annotations

from .entry import DECLARED, LEAST_SQUARES, Entry

ENTRIES: dict[str, Entry] = {
    "FW1001": Entry(
        title="something else was expected",
        explanation=(
            "The line follows the grammar up to the marked place, where only what the message lists can stand. "
            "Look at the place itself and at what stands in front of it."
        ),
        bad=DECLARED + "minimize sum(squared(A @ x, b)) of\nsubject to norm1(x) <= 1\n",
        good=LEAST_SQUARES + "subject to norm1(x) <= 1\n",
    ),
    "FW1002": Entry(
        title="a line ends too early",
        explanation=(
            "A statement ends at the end of its line, unless the line ends with a comma, `=`, `:` or an operator,"
            " or a bracket is open. Complete the line, or let it end with one of these where it goes on below."
        ),
        bad=DECLARED + "minimize\n",
        good=DECLARED + "minimize\n    sum(squared(A @ x, b))\n",
    ),
    "FW1003": Entry(
        title="a line starts with no keyword",
        explanation=(
            "Every statement starts with its keyword: `fw`, `problem`, `data`, `param`, `var`, `let`, `minimize`,"
            " `maximize`, `subject to` or `solve`. Only the constraints below `subject to`, and lines that "
            "continue a statement, start otherwise."
        ),
        bad=("data A: matrix[n, d], b: vector[n]\nvra x: vector[d]\nminimize sum(squared(A @ x, b))\n"),
        good=LEAST_SQUARES,
    ),
    "FW1004": Entry(
        title="two statements on a line",
        explanation="A statement ends at the end of its line; the next one starts on a line of its own.",
        bad=DECLARED + "minimize sum(squared(A @ x, b)) subject to norm1(x) <= 1\n",
        good=LEAST_SQUARES + "subject to norm1(x) <= 1\n",
    ),
    "FW1005": Entry(
        title="a semicolon",
        explanation=(
            "Nothing is separated by `;`: statements end with their line, constraints are separated by commas or "
            "lines, and the rows of a matrix are lists in a list."
        ),
        bad=DECLARED + "minimize sum(squared(A @ x, b));\n",
        good=LEAST_SQUARES,
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
        bad=DECLARED
        + "param delta: positive = 1\n    + 2\nminimize sum(squared(A @ x, b))\nsubject to norm1(x) <= delta\n",
        good=DECLARED
        + "param delta: positive = 1 +\n    2\nminimize sum(squared(A @ x, b))\nsubject to norm1(x) <= delta\n",
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
        bad=DECLARED + "minimize sum(squared(A @ x, b)\nsubject to norm1(x) <= 1\n",
        good=LEAST_SQUARES + "subject to norm1(x) <= 1\n",
    ),
    "FW1021": Entry(
        title="a bracket that closes nothing",
        explanation="No bracket is open where this one closes: it is one too many, or its partner is missing in front.",
        bad=DECLARED + "minimize sum(squared(A @ x, b)))\n",
        good=LEAST_SQUARES,
    ),
    "FW1022": Entry(
        title="brackets of different kinds",
        explanation="`(` is closed by `)` and `[` by `]`.",
        bad=DECLARED + "minimize sum(squared(A @ x, b])\n",
        good=LEAST_SQUARES,
    ),
    "FW1030": Entry(
        title="a character that means nothing",
        explanation=(
            "The character is not part of the language. Comments start with `#`, blocks have no braces, functions"
            " are called as `sum(x)` (not `x.sum()`), and a line that goes on needs no backslash. A NUL character"
            " means that the file is no text."
        ),
        bad=DECLARED + "minimize sum(squared(A @ x, b)) $\n",
        good=LEAST_SQUARES,
    ),
    "FW1032": Entry(
        title="text that is not UTF-8",
        explanation=(
            "Programs are text in UTF-8. The file was saved in another encoding, or is no text at all. U+FFFD is "
            "what other programs leave where they could not read a character."
        ),
        bad=DECLARED + "minimize sum(squared(A @ x, b)) �\n",
        good=LEAST_SQUARES,
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
        bad=LEAST_SQUARES + "subject to norm1(x) <= 1.\n",
        good=LEAST_SQUARES + "subject to norm1(x) <= 1.0\n",
    ),
    "FW1038": Entry(
        title="a character that looks like another",
        explanation=(
            "Text copied from a paper or a web page often has a dash for a minus sign, `×` for `*`, or blanks "
            "that are not plain blanks. The language is written in ASCII, with `≤`, `≥`, `∈` and `·` accepted for"
            " `<=`, `>=`, `in` and `*`."
        ),
        bad=DECLARED + "minimize sum(squared(A @ x − b, zeros(n)))\n",
        good=DECLARED + "minimize sum(squared(A @ x - b, zeros(n)))\n",
    ),
}
