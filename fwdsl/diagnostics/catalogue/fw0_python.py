"""FW03nn: the Python builder and the oracle. The snippets are Python, after `import fwdsl as fw`."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW0301": Entry(
        "a truth value asked of an expression or a constraint",
        "Python reads `0 <= x <= 1` as `(0 <= x) and (x <= 1)` and asks the first comparison whether it is true. An expression"
        " has no truth value before the problem is solved, so one of the two constraints would silently be lost. `and`, `or`,"
        " `not`, `if` and `assert` ask the same.",
        "prob = fw.minimize(fw.sum_squares(x - b), 0 <= x <= 1)",
        "prob = fw.minimize(fw.sum_squares(x - b), x.in_(fw.box(0, 1)))",
    ),
    "FW0302": Entry(
        "Python's `in` where membership is meant",
        "Python turns the answer of `in` into True or False at once, so it cannot make a constraint. Membership is the"
        " method `in_`.",
        "prob = fw.minimize(fw.sum_squares(x - b), x in fw.l1_ball(5))",
        "prob = fw.minimize(fw.sum_squares(x - b), x.in_(fw.l1_ball(5)))",
    ),
    "FW0303": Entry(
        "an operator that the language does not have",
        "Expressions have `+`, `-`, `*`, `/`, `@`, `.T`, slices, and the comparisons `<=`, `>=`, `==`. Powers and absolute"
        " values are functions; strict comparisons would make sets that are not closed.",
        "prob = fw.minimize(fw.sum((A @ x - b) ** 2))",
        "prob = fw.minimize(fw.sum_squares(A @ x - b))",
    ),
    "FW0304": Entry(
        "a value that cannot stand in a program",
        "A program is made of expressions, real numbers, and arrays of real numbers (NumPy arrays, memory maps, any SciPy"
        " sparse format, lists of numbers). Complex numbers, texts, Python objects and nan are refused. An array of objects"
        " often comes from `A.dot(x)`, where NumPy takes the expression for a scalar.",
        "prob = fw.minimize(fw.sum_squares(A.dot(x) - b))",
        "prob = fw.minimize(fw.sum_squares(A @ x - b))",
    ),
    "FW0305": Entry(
        "an expression nested too deep",
        "Operations nest at most 200 deep. Sums and products that grow to the right of themselves (`total = total + term`)"
        " are flat and have no limit.",
        "for _ in range(1000): r = 2 * (r + 1)",
        "for term in terms: total = total + term",
    ),
    "FW0306": Entry(
        "a name that cannot be used",
        "Names are letters, digits and `_`, not starting with a digit, and no keywords; in one program a name stands for one"
        " thing.",
        'x = fw.vector(5, name="my vector")',
        'x = fw.vector(5, name="my_vector")',
    ),
    "FW0307": Entry(
        "a NumPy function applied to an expression",
        "NumPy computes with numbers, and an expression stands for numbers that are not known yet. The functions of the"
        " language have the same names in `fwdsl`.",
        "prob = fw.minimize(np.sum(x))",
        "prob = fw.minimize(fw.sum(x))",
    ),
    "FW0308": Entry(
        "an index that the language does not have",
        "Indices are whole numbers, slices without a step, `B[M]` for observed entries and `F[task]` for the blocks of a family; negative"
        " positions count from the end. What a mask or a list of positions chooses is a product `S @ x` with a matrix of zeros and ones."
        " An expression cannot be iterated over.",
        "prob = fw.minimize(fw.sum_squares(x[::2]))",
        "prob = fw.minimize(fw.sum_squares(x[0:5]))",
    ),
    "FW0309": Entry(
        "an argument of the wrong sort",
        "The objective is an expression, what follows it are constraints, and `in_` takes a set. A function of the language"
        " that makes a set, such as `fw.l1_ball(5)`, is not a constraint by itself.",
        "prob = fw.minimize(fw.sum_squares(x - b), fw.l1_ball(5))",
        "prob = fw.minimize(fw.sum_squares(x - b), x.in_(fw.l1_ball(5)))",
    ),
    "FW0310": Entry(
        "an option of `solve` that cannot be",
        "The options are those of the language's `solve`: tol, method, time, max_iter, seed, threads, gap. Further options belong"
        " to a method and are given together with `method=`.",
        "prob.solve(tolerance=1e-8)",
        "prob.solve(tol=1e-8)",
    ),
    "FW0311": Entry(
        "cvxpy is not installed",
        "`fwdsl verify` compares with cvxpy, which is an optional extra. Nothing else needs it: the certificate of a solve is"
        " checked without it.",
        "pip install fwdsl && fwdsl verify lasso.fw",
        "pip install 'fwdsl[oracle]' && fwdsl verify lasso.fw",
    ),
    "FW0312": Entry(
        "what cvxpy cannot express",
        "The comparison writes a program with the numbers of its data, in cvxpy's words. Data that are known by their products alone"
        " (`fw.operator`) have none, and are not compared; the certificate of the solution stands by itself.",
        "solve_oracle(prob.bind(A=fw.operator(L)).instance)",
        "solve_oracle(prob.bind(A=A).instance)    # A the matrix of L",
    ),
}
