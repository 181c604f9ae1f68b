"""FW5nnn: planning."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW5001": Entry(
        "a construct that this version cannot solve yet",
        "The program is correct: it parses, its shapes agree and it is convex. But no method of this version covers the named construct, and"
        " the planner says so before any work is done. Almost all of the language can be solved; what cannot is listed at the end of"
        " docs/language.md. Often the same can be said in other words: that each row is a mean of given points, by a matrix of weights whose"
        " rows are in the simplex.",
        "data A: matrix[n, d], B: matrix[n, d], V: matrix[m, d]\n"
        "var X: matrix[n, d] in rows(polytope(V))\nminimize sum(squared(X + A, B))\n",
        "data A: matrix[n, d], B: matrix[n, d], V: matrix[m, d]\n"
        "var W: matrix[n, m] in rows(simplex(1))\nminimize sum(squared(W @ V + A, B))\n",
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
    "FW5012": Entry(
        "a set or norm that cannot take this argument",
        "With the numbers that are bound, an argument is none that the set or norm takes: a weight of a group that is zero, say. What makes a"
        " set empty is FW5010, what is not finite FW5011.",
        "var x: vector[4] in box(-1, 1)\nminimize group_norm(x - 2, [[0, 1], [2, 3]], weights=[1, 0])\n",
        "var x: vector[4] in box(-1, 1)\nminimize group_norm(x - 2, [[0, 1], [2, 3]], weights=[1, 0.5])\n",
    ),
    "FW5011": Entry(
        "an expression without a finite value",
        "With the numbers that are bound, a coefficient, a radius, a target or a divisor is not a finite number: a division by zero, an"
        " overflow, or what would fill a sparse matrix. The program is right for other values.",
        "param c: real = 0\nvar x: vector[2]\nminimize sum_squares(x / c - 1)\n",
        "param c: real = 2\nvar x: vector[2]\nminimize sum_squares(x / c - 1)\n",
    ),
}
