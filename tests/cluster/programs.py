"""Programs, their data, and what "the same answer" means: the bits of the variables and of the certificate."""

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw

N, D = 6001, 60
"""Of more than two times 2^17 numbers: three leaves, which is no power of two."""

HEAD = "data X: matrix[n, p], y: {target}\n"
PROGRAMS = {
    "logistic": ("signs", "var w: vector[p]\nminimize mean(logistic(X @ w, y))\nsubject to norm1(w) <= 3", "apg"),
    "lasso": ("vector", "var w: vector[p]\nminimize mean(squared(X @ w, y)) + 0.1 * norm1(w)", "apg"),
    "groups": (
        "vector",
        "var w: vector[p], c: real\nminimize mean(squared(X @ w + c, y)) + 0.1 * group_norm(w, groups=[{groups}])",
        "apg",
    ),
    "softmax": ("labels", "var W: matrix[p, k]\nminimize mean(softmax(X @ W, y)) + 0.1 * sum_squares(W)", "apg"),
    "smooth_hinge": (
        "signs",
        "var w: vector[p]\nminimize mean(smooth_hinge(X @ w, y)) + 0.01 * sum_squares(w)",
        "apg",
    ),
    "simplex": ("vector", "var w: vector[p] in simplex(1)\nminimize mean(squared(X @ w, y))", "apg"),
    "quantile": (
        "vector",
        "var w: vector[p]\nminimize mean(quantile(X @ w, y, tau=0.3)) + 0.05 * norm1(w)",
        "pdhg",
    ),
    "trace_norm": (
        "labels",
        "var W: matrix[p, k]\nminimize mean(softmax(X @ W, y)) + 0.05 * norm_nuc(W)",
        "apg",
    ),
    "portfolio": (
        "vector",
        "var w: vector[p] in simplex(1)\nminimize mean(squared(X @ w, y)) + 0.1 * sum_squares(w)\nsubject to sum(X @ w) >= -50",
        "pdhg",
    ),
    "vertices": (
        "signs",
        "var w: vector[p]\nminimize mean(logistic(X @ w, y))\nsubject to norm1(w) <= 3",
        "blended_pairwise",
    ),
    "newton": (
        "signs",
        "var w: vector[p], c: real\nminimize mean(logistic(X @ w + c, y)) + 0.01 * sum_squares(w)",
        "newton",
    ),
    "newton_cg": (
        "vector",
        "var w: vector[p]\nminimize mean(squared(X @ w, y)) + 0.01 * sum_squares(w)",
        'newton(system="cg")',
    ),
    "classes": (
        "labels",
        "var W: matrix[p, k]\nminimize mean(softmax(X @ W, y)) + 0.01 * sum_squares(W)",
        "newton",
    ),
    "dual_blocks": (
        "signs",
        "var w: vector[p]\nminimize mean(smooth_hinge(X @ w, y)) + 0.05 * sum_squares(w)\nsubject to norm1(w) <= 0.5",
        "pdbfw",
    ),
    "dual_mirror": (
        "signs",
        "var w: vector[p] in simplex(1)\nminimize mean(logistic(X @ w, y)) + 0.05 * sum_squares(w)",
        "pdbfw",
    ),
    "low_rank": (
        "matrix",
        "var W: matrix[p, q]\nminimize mean(squared(X @ W, y)) + 0.1 * norm_nuc(W)",
        "lowrank",
    ),
    "low_rank_ridge": (
        "matrix",
        "var W: matrix[p, q], c: vector[q]\nminimize mean(squared(X @ W + c, y)) + 0.1 * norm_nuc(W) + 0.01 * sum_squares(W)",
        "lowrank",
    ),
    "low_rank_ball": (
        "matrix",
        "var W: matrix[p, q]\nminimize mean(huber(X @ W, y, delta=1))\nsubject to norm_nuc(W) <= 5",
        "block_fw",
    ),
}
TYPES = {"signs": "signs[n]", "vector": "vector[n]", "labels": "labels[n, k]", "matrix": "matrix[n, q]"}


def data(seed=0, sparse=False):
    """X, and targets of each kind."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.8)
    z = X[:, :8] @ rng.standard_normal(8) + rng.standard_normal(N)
    targets = {"vector": z, "signs": np.where(z > 0.0, 1.0, -1.0), "labels": np.digitize(z, [-1.0, 1.0])}
    targets["matrix"] = X[:, :3] @ rng.standard_normal((3, 12)) + z[:, None]
    return (sp.csr_array(X) if sparse else X), targets


def problem(name, X, targets):
    """A program with its data bound."""
    target, body, method = PROGRAMS[name]
    groups = ", ".join(f"[{', '.join(map(str, range(i, i + 5)))}]" for i in range(0, D, 5))
    text = HEAD.format(target=TYPES[target]) + body.replace("{groups}", groups)
    return fw.parse(f"{text}\nsolve method = {method}, tol = 1e-4\n").bind(X=X, y=targets[target])


COMPLETION = {
    "penalty": ("entries[n, p]", "mean(squared(X[M], M)) + 0.0004 * norm_nuc(X)", "lowrank"),
    "ball": ("entries[n, p]", "mean(huber(X[M], M, delta=1)) + 1e-8 * sum_squares(X)", "lowrank"),
    "signs": ("entries[n, p] of signs", "mean(logistic(X[M], M)) + 0.0001 * norm_nuc(X)", "lowrank"),
    "block": ("entries[n, p]", "mean(squared(X[M], M)) + 0.0004 * norm_nuc(X)", "block_fw"),
    "block_fixed": ("entries[n, p]", "mean(squared(X[M], M))", 'block_fw(curvature="fixed")'),
    "factored": ("entries[n, p]", "mean(squared(X[M], M))", "factored_fw"),
    "away": ("entries[n, p] of signs", "mean(logistic(X[M], M)) + 0.0001 * norm_nuc(X)", 'factored_fw(correct="away")'),
}
"""Programs of observed entries; those without a penalty have a ball."""

ROWS, COLUMNS, SEEN = 3000, 300, 420_000
"""Of more than three times 2^17 entries: four leaves. The shorter side is beyond that up to which the verifier writes the gradient down."""


def observed(seed=0):
    """Places, some of them twice, and values of a matrix of rank 3 with noise."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, ROWS, SEEN), rng.integers(0, COLUMNS, SEEN)
    U, V = rng.standard_normal((ROWS, 3)), rng.standard_normal((COLUMNS, 3))
    return rows, columns, np.einsum("ek,ek->e", U[rows], V[columns]) + rng.standard_normal(SEEN)


def completion(name, entries=None, path=None):
    """A program of observed entries with its data bound, or with those of a file that stay there."""
    type_, objective, method = COMPLETION[name]
    source = f' from coo("{path}")' if path else ""
    ball = "" if "norm_nuc" in objective else "\nsubject to norm_nuc(X) <= 2500"
    memory = ', memory = "8GB"' if path else ""
    text = f"data M: {type_}{source}\nvar X: matrix[n, p]\n"
    text += f"minimize {objective}{ball}\nsolve method = {method}, tol = 1e-2{memory}\n"
    if path:
        return fw.parse(text)
    rows, columns, values = entries
    return fw.parse(text).bind(M=(rows, columns, np.sign(values) if "signs" in type_ else values))


def quick(names, *default):
    """The names, of which these are of the default run: with workers each takes a second."""
    return [name if name in default else pytest.param(name, marks=pytest.mark.slow) for name in names]


def same(one, other):
    """True if variables and certificates have the same bits."""
    names = [v.name for v in one.instance.model.variables]
    return (
        all(np.array_equal(_numbers(one[name]), _numbers(other[name])) for name in names)
        and (one.objective, one.dual_bound, one.gap) == (other.objective, other.dual_bound, other.gap)
        and one.status == other.status == "optimal"
        and one.iterations == other.iterations
    )


def _numbers(value):
    """The numbers of a variable; of a matrix kept as factors those of both."""
    return np.vstack([value.U, value.V]) if hasattr(value, "U") else value
