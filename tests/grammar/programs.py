"""Programs and pieces that the tests of the grammar share: every construct of the language."""

from __future__ import annotations

PROGRAMS = {
    "first": """\
fw 1                                     # language version (optional; the formatter adds it)
problem sparse_logistic                  # optional name

data  X: matrix[n, p], y: signs[n] from libsvm("data/a9a.svm.gz")
param delta: positive = 5
var   beta: vector[p]                    # or: var beta: vector[p] in l1_ball(delta)

minimize   mean(logistic(X @ beta, y))
subject to norm1(beta) <= delta

solve tol = 1e-6
""",
    "data": """\
# item: NAME: TYPE [in SET] [from SOURCE | = LITERAL]; data, param and var take comma lists
data A: matrix[n, d], b: vector[n]                        # unbound: supplied at run time
data A: matrix[n, d] from npy("A.npy")
data X: matrix[n, p], y: labels[n] from libsvm("dna.svm.gz", features=180)
data X: matrix[n, p], y: vector[n] from csv("housing.csv", target="price")
data M: entries[n, p] from coo("ratings.csv")             # row, column, value; header optional
data A: matrix[2, 2] = [[1, 0], [0, 2]]                   # literal
param mu: nonnegative = 10/n                              # default; any scalar expression of dims and params
param delta: positive                                     # no default: must be supplied
""",
    "kernel": """\
data X: matrix[n, p], y: labels[n, k] from libsvm("dna.svm.gz")
param C: positive = 0.1
let Phi = rbf(X, gamma=0.5)
var W: matrix[dim(Phi), k]
minimize C * sum(multiclass_hinge(Phi @ W, y)) + 1/2 * sum_squares(W)
""",
    "types": """\
data a: real, c: count, T3: tensor[n, d, e, 3], Y: signs[n, k], g: index[n] of T, h: index[n] of 5
data M: entries[n, p], N: entries[n, p] of signs, P: psd[d] in nonnegative, S: symmetric[d]
data Z: matrix[n, p] from csv("a.csv", columns=["u", "v"], header=false), z: vector[n] = [1, -2.5, 1e-3]
data Q: matrix[n, p] from npz("a.npz", key="Q"), R: matrix[n, p] from parquet("t.parquet", target="y")
var F: family[T] of psd[d], G: family[3] of matrix[d, e] in fro_ball(2), b: real, s: nonnegative
var U: psd[dim(Phi)], u: index[n] of dim(Phi)
""",
    "expressions": """\
let a = inner(D, X) + quad(U, X)
let b = B[M] - F[task]
let c = x[0:5] + W[:, 2] + W[1:, :3]
let d = U @ (V @ x) - (U @ V) @ x
let e = eye(d) + ones(n) + zeros(n) + diag(v) + trace(X) + sum(x) + mean(x) + dot(a, b)
let f = -x + 2 * -y - -z * w / 3 + (-x) * y - (-x)
let g = A.T @ (A @ x).T.T[0]
let h = a - (b - c) + (d + e) - (-(f + g))
let i = a * (b * c) / (d / e) @ (f @ g)
let j = quantile(z, b, tau=0.9) + group_norm(x, [[0, 1], [2]], weights=[1, 2])
let k = inf + .5 + 1_000 + 1e-3 + 1.5e+10 + box(-inf, inf)
let l = true
""",
    "constraints": """\
minimize
    sum(x)
    + y
    - z
subject to
    norm1(x) <= delta, c * norm(e) <= r, r >= norm(e)
    budget: sum(x) == 1
    norm(e) - r <= 0
    0 <= x <= 1
    -x <= 1
    W in rows(simplex(1)),
    x in nonnegative
subject to sum_squares(e) <= r
subject to
    x in polytope(V)
solve tol = 1e-6, gap = relative, method = pdhg(restart=true, gamma=0.5), max_iter = 100, time = 60 s, seed = 1
solve time = 5 min, threads = 2, method = auto
""",
    "unicode": "var β: vector[p]\nminimize sum(β · 2)\nsubject to 0 ≤ β, β ≥ -1\n    β ∈ simplex(1)\n",
    "maximize": "var x: vector[n] in simplex(1)\nmaximize dot(c, x) - entropy(x)\n",
    "empty": "",
    "comments": "# only\n\n\n   # comments\n",
}
