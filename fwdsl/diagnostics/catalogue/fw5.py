"""FW5nnn: planning."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW5001": Entry(
        "a problem that takes more memory than this version spends",
        "The program is correct: it parses, its shapes agree and it is convex, and there are methods for all of the language. But what it"
        " asks for would take gigabytes, which is seen before any work is done: a sparse matrix with 50 million places or more that is added"
        " to an expression in the variables and filled up thereby, a Gram matrix of so many samples that its factor takes over 8 GB. Most"
        " often the same can be said with less: by a part of the matrix, by an explicit feature map such as `fourier`.",
        "var b: real\nminimize norm1(b + eye(8000))\n",
        "var b: real\nminimize norm1(b + ones(8000))\n",
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
        "constraints that no point meets",
        "With the values bound, a set is empty, or two do not meet: a box whose lower end is above its upper end, a sum of nonnegative numbers"
        " that is to be negative, one sum that is to have two values, bounds outside of the domain of the objective. It is no fault of the"
        " program: the answer is `infeasible` (exit code 3), with this contradiction for a proof, and `--strict` makes no error of it. Bounds"
        " are compared relative to their own sizes: what the rounding of either explains contradicts nothing.",
        "var x: vector[2]\nminimize sum(x)\nsubject to\n    x >= 3\n    x <= 1\n",
        "var x: vector[2]\nminimize sum(x)\nsubject to\n    x >= 1\n    x <= 3\n",
    ),
    "FW5012": Entry(
        "a set or norm that cannot take this argument",
        "With the numbers that are bound, an argument is none that the set or norm takes: a coefficient that, with a factor taken out of the"
        " norm, is beyond the range of numbers, say. What makes a set empty is told by FW5010, what is not finite as it is written FW5011.",
        "param c: positive = 1e200\nvar x: vector[2]\nminimize c * norm1(c * x) + sum_squares(x - 1)\n",
        "param c: positive = 10\nvar x: vector[2]\nminimize c * norm1(c * x) + sum_squares(x - 1)\n",
    ),
    "FW5013": Entry(
        "a variable too large to be written down",
        "A matrix in a trace-norm ball or under a trace norm has more than 100,000,000 numbers. Such matrices are solved by two thin factors, and the"
        " message says what the program has that is no function of the factors. Or the variables have more numbers than the memory of this machine"
        " holds, most often because a single index in the data is far out.",
        "var X: matrix[20000, 10000] in nuclear_ball(1)\nminimize sum_squares(X - 1)\n",
        "var X: matrix[20, 10] in nuclear_ball(1)\nminimize sum_squares(X - 1)\n",
    ),
    "FW5011": Entry(
        "an expression without a finite value",
        "With the numbers that are bound, a coefficient, a radius, a target or a divisor is not a finite number: a division by zero, an"
        " overflow, or what would fill a sparse matrix. The program is right for other values.",
        "param c: real = 0\nvar x: vector[2]\nminimize sum_squares(x / c - 1)\n",
        "param c: real = 2\nvar x: vector[2]\nminimize sum_squares(x / c - 1)\n",
    ),
}
