"""FW5nnn: planning."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW5001": Entry(
        "a construct that this version cannot solve yet",
        "The program is correct: it parses, its shapes agree and it is convex. But no method of this version covers the named construct, and"
        " the planner says so before any work is done. Solvable are vector and scalar variables with the scalar losses, `norm1`, `norm2`,"
        " `norm_inf`, `sum_squares` and affine terms, over l1, l2 and linf balls, boxes, `nonnegative`, `simplex` and `solid_simplex`, with any"
        " affine constraints.",
        "data A: matrix[n, d], B: matrix[n, k]\nvar X: matrix[d, k] in nuclear_ball(2)\nminimize mean(squared(A @ X, B))\n",
        "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in l1_ball(2)\nminimize mean(squared(A @ x, b))\n",
    ),
    "FW5002": Entry(
        "an unknown method",
        "`method` is `auto`, where the planner chooses, or the name of a method. `fwdsl plan FILE` lists them all, each with why it does or"
        " does not apply.",
        "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in l1_ball(2)\nminimize mean(squared(A @ x, b))\nsolve method = fista\n",
        "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in l1_ball(2)\nminimize mean(squared(A @ x, b))\nsolve method = apg\n",
    ),
    "FW5003": Entry(
        "a method that does not apply",
        "A method that is named must cover the problem. The message lists what it misses; `fwdsl plan FILE` shows the same for every method.",
        "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in l1_ball(2)\nminimize mean(absolute(A @ x, b))\nsolve method = frank_wolfe\n",
        "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in l1_ball(2)\nminimize mean(absolute(A @ x, b))\nsolve method = pdhg\n",
    ),
    "FW5004": Entry(
        "a method's option that it does not have, or outside its domain",
        "Each method has options of its own, given in brackets behind its name. The message lists them with the values they take.",
        "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in l1_ball(2)\nminimize mean(squared(A @ x, b))\n"
        'solve method = frank_wolfe(step="fast")\n',
        "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in l1_ball(2)\nminimize mean(squared(A @ x, b))\n"
        'solve method = frank_wolfe(step="line_search")\n',
    ),
    "FW5010": Entry(
        "a constraint set without a point",
        "With the values bound to its parameters, a set is empty: a box whose lower end is above its upper end, a sum of nonnegative numbers"
        " that is to be negative, one sum that is to have two values.",
        "var x: vector[2]\nminimize sum(x)\nsubject to\n    x >= 3\n    x <= 1\n",
        "var x: vector[2]\nminimize sum(x)\nsubject to\n    x >= 1\n    x <= 3\n",
    ),
    "FW5011": Entry(
        "an expression without a finite value",
        "With the numbers that are bound, a coefficient, a radius, a target or a divisor is not a finite number: a division by zero, an"
        " overflow, or what would fill a sparse matrix. The program is right for other values.",
        "param c: real = 0\nvar x: vector[2]\nminimize sum_squares(x / c - 1)\n",
        "param c: real = 2\nvar x: vector[2]\nminimize sum_squares(x / c - 1)\n",
    ),
}
