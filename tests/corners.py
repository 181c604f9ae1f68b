"""Programs of the corpus for what the decks do not deal: sets within sets, families in sets, constants, feature maps; each in one line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

N, D = 12, 4
OVERLAPPING = "[[0, 1, 2], [2, 3]]"
DISJOINT = "[[0, 1], [2, 3]]"

DECLARED = {
    "A": "A: matrix[n, d]",
    "U": "U: matrix[n, d]",
    "y": "y: vector[n]",
    "s": "s: signs[n]",
    "V": "V: matrix[v, d]",
    "Corners": "Corners: matrix[u, 16]",
    "H": "H: matrix[e, d]",
    "h": "h: vector[e]",
    "c": "c: vector[d]",
    "q": "q: vector[d]",
    "S": "S: symmetric[d]",
    "P": "P: psd[d]",
    "K": "K: matrix[n, n]",
    "Laplacian": "Laplacian: symmetric[6]",
}

FIT = "mean(squared(A @ x, y))"
FREE = "var x: vector[d]"

#: name: (variables, objective, constraint), then the same in words that the oracle has where the first are not.
CORNERS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "rows in a group ball": (
        ("var W: matrix[n, d] in rows(group_ball(1, [[0, 1], [2, 3]]))", "mean(squared(W, U))", ""),
    ),
    "groups that overlap": ((f"{FREE} in group_ball(0.5, {OVERLAPPING})", FIT, ""),),
    "groups that overlap in rows": (
        (f"var W: matrix[n, d] in rows(group_ball(0.5, {OVERLAPPING}))", "mean(squared(W, U))", ""),
    ),
    "groups that overlap under a map": ((FREE, FIT, f"P @ x in group_ball(0.5, {OVERLAPPING})"),),
    "rows in a polytope": (("var W: matrix[n, d] in rows(polytope(V))", "mean(squared(W, U))", ""),),
    "columns in a polytope": (("var W: matrix[d, n] in columns(polytope(V))", "mean(squared(W.T, U))", ""),),
    "all entries in a polytope": (
        ("var X: matrix[4, 4] in vec(polytope(Corners))", "sum_squares(X - 1) + 0.1 * norm_nuc(X)", ""),
    ),
    "rows of a map in a polytope": (
        ("var W: matrix[n, d]", "mean(squared(W, U)) + 0.1 * norm_nuc(W)", "W @ P in rows(polytope(V))"),
    ),
    "rows in an affine set": (
        ("var W: matrix[n, d] in rows(affine(H, h))", "mean(squared(W, U)) + 0.1 * norm1(W)", ""),
    ),
    "columns in a half-space": (("var W: matrix[d, n] in columns(halfspace(c, -1))", "mean(huber(W.T, U))", ""),),
    "groups that overlap in columns": (
        (f"var W: matrix[d, n] in columns(group_ball(0.5, {OVERLAPPING}))", "mean(squared(W.T, U))", ""),
    ),
    "a group without weight": ((FREE, f"{FIT} + 0.3 * group_norm(x, {DISJOINT}, weights=[0, 1])", ""),),
    "a bounded group and a free one": ((f"{FREE} in group_ball(0.3, {DISJOINT}, weights=[2, 0])", FIT, ""),),
    "rows with a group without weight": (
        (f"var W: matrix[n, d] in rows(group_ball(0.3, {OVERLAPPING}, weights=[0, 1]))", "mean(squared(W, U))", ""),
    ),
    "a group norm on a ball of other groups": (
        (f"{FREE} in group_ball(0.8, [[0, 2], [1, 3]])", f"{FIT} + 0.2 * group_norm(x, {DISJOINT})", ""),
    ),
    "total variation by dimensions": ((FREE, f"{FIT} + 0.3 * norm1(x[0:d - 1] - x[1:d])", ""),),
    "entropy of a multiple": ((FREE, f"{FIT} + 0.3 * entropy(2 * x)", ""),),
    "entropy beside another set": ((FREE, f"{FIT} + 0.3 * entropy(x)", "x in l1_ball(1)"),),
    "a matrix contracted with a vector": (
        ("var W: matrix[n, d]", "mean(absolute(inner(W, c), y)) + 0.1 * sum_squares(W)", ""),
        ("var W: matrix[n, d]", "mean(absolute(W @ c, y)) + 0.1 * sum_squares(W)", ""),
    ),
    "a constant inner product": (
        (FREE, "sum_squares(x - inner(P, q)) + norm1(x)", ""),
        (FREE, "sum_squares(x - P @ q) + norm1(x)", ""),
    ),
    "columns in an affine set": (("var W: matrix[d, n] in columns(affine(H, h))", "mean(absolute(W.T, U))", ""),),
    "rows in a half-space": (("var W: matrix[n, d] in rows(halfspace(c, -1))", "mean(squared(W, U))", ""),),
    "blocks in Birkhoff's polytope": (
        ("var F: family[2] of matrix[d, d] in birkhoff", "sum_squares(F[0] - S) + 0.5 * sum_squares(F)", ""),
        (
            "var X: matrix[d, d] in birkhoff, Z: matrix[d, d] in birkhoff",
            "sum_squares(X - S) + 0.5 * sum_squares(X) + 0.5 * sum_squares(Z)",
            "",
        ),
    ),
    "blocks in a polytope": (
        ("var F: family[2] of vector[d] in polytope(V)", "sum_squares(F[0] - c) + 0.5 * sum_squares(F)", ""),
        (
            "var x: vector[d] in polytope(V), z: vector[d] in polytope(V)",
            "sum_squares(x - c) + 0.5 * sum_squares(x) + 0.5 * sum_squares(z)",
            "",
        ),
    ),
    "rows of blocks in a polytope": (
        ("var F: family[2] of matrix[n, d] in rows(polytope(V))", "sum_squares(F[0] - U) + sum_squares(F[1] + A)", ""),
        (
            "var X: matrix[n, d] in rows(polytope(V)), Z: matrix[n, d] in rows(polytope(V))",
            "sum_squares(X - U) + sum_squares(Z + A)",
            "",
        ),
    ),
    "columns of blocks in an affine set": (
        ("var F: family[2] of matrix[d, n] in columns(affine(H, h))", "norm21(F[0] - U.T) + norm1(F[1])", ""),
        (
            "var X: matrix[d, n] in columns(affine(H, h)), Z: matrix[d, n] in columns(affine(H, h))",
            "norm21(X - U.T) + norm1(Z)",
            "",
        ),
    ),
    "blocks in a half-space": (
        ("var F: family[2] of vector[d] in halfspace(c, -1)", "sum_squares(F[0] - c) + 0.5 * sum_squares(F)", ""),
        (
            "var x: vector[d] in halfspace(c, -1), z: vector[d] in halfspace(c, -1)",
            "sum_squares(x - c) + 0.5 * sum_squares(x) + 0.5 * sum_squares(z)",
            "",
        ),
    ),
    "blocks in an affine set": (
        ("var F: family[2] of vector[d] in affine(H, h)", "sum_squares(F[0] - c) + 0.5 * sum_squares(F)", ""),
        (
            "var x: vector[d] in affine(H, h), z: vector[d] in affine(H, h)",
            "sum_squares(x - c) + 0.5 * sum_squares(x) + 0.5 * sum_squares(z)",
            "",
        ),
    ),
    "group norms of blocks": (
        (
            "var F: family[2] of vector[d]",
            "sum_squares(F[0] - c) + sum_squares(F[1] - q) + 0.5 * group_norm(F, [[0, 1], [2, 3]])",
            "",
        ),
        (
            "var x: vector[d], z: vector[d]",
            "sum_squares(x - c) + sum_squares(z - q) + 0.5 * group_norm(x, [[0, 1], [2, 3]])"
            " + 0.5 * group_norm(z, [[0, 1], [2, 3]])",
            "",
        ),
    ),
    "a family contracted with a constant": (
        ("var F: family[2] of symmetric[d]", "sum_squares(inner(F, S) - 1) + 0.1 * sum_squares(F)", ""),
        (
            "var X: symmetric[d], Z: symmetric[d]",
            "sum_squares(trace(S @ X) - 1) + sum_squares(trace(S @ Z) - 1) + 0.1 * sum_squares(X) + 0.1 * sum_squares(Z)",
            "",
        ),
    ),
    "a permutahedron under a map": ((FREE, f"{FIT} + 0.1 * norm1(x)", "x + 0.1 in permutahedron(q)"),),
    "a constant quadratic form": (
        ("var x: vector[n]", "sum(squared(x, quad(U, P))) + norm1(x)", ""),
        ("var x: vector[n]", "sum(squared(x, diag(U @ P @ U.T))) + norm1(x)", ""),
    ),
    "MAX-CUT": (("var X: psd[d]", "-1 * trace(S @ X)", "diag(X) == 1"),),
    "MAX-CUT of a wheel": (("var X: psd[6]", "-1/4 * trace(Laplacian @ X)", "diag(X) == 1"),),
    "a die": ((f"{FREE} in simplex(1)", "entropy(x)", "dot(c, x) == mean(c)"),),
    "standardize": (("let Z = standardize(A)\nvar x: vector[d]", "mean(logistic(Z @ x, s)) + 0.1 * norm1(x)", ""),),
    "normalize": (("let Z = normalize(A)\nvar x: vector[d]", "mean(huber(Z @ x, y)) + 0.1 * norm1(x)", ""),),
    "intercept": (("let Z = intercept(A)\nvar x: vector[dim(Z)]", "mean(absolute(Z @ x, y)) + 0.1 * norm1(x)", ""),),
    "fourier": (
        (
            "let Z = fourier(A, features=20, gamma=0.5)\nvar x: vector[dim(Z)]",
            "mean(hinge(Z @ x, s)) + 0.1 * sum_squares(x)",
            "",
        ),
    ),
    "random binning": (
        (
            "let Z = random_binning(A, grids=5, gamma=0.5)\nvar x: vector[dim(Z)]",
            "mean(squared(Z @ x, y)) + 0.1 * sum_squares(x)",
            "",
        ),
    ),
    "linear kernel": (
        ("let Z = linear(A)\nvar x: vector[dim(Z)]", "mean(hinge(Z @ x, s)) + 0.1 * sum_squares(x)", ""),
        (FREE, "mean(hinge(A @ x, s)) + 0.1 * sum_squares(x)", ""),
    ),
    "Gaussian kernel": (
        ("let Z = rbf(A, gamma=0.3)\nvar x: vector[dim(Z)]", "mean(logistic(Z @ x, s)) + 0.1 * sum_squares(x)", ""),
        ("var x: vector[n]", "mean(logistic(K @ x, s)) + 0.1 * sum_squares(x)", ""),
    ),
    "Gaussian kernel on a ball": (
        ("let Z = rbf(A, gamma=0.3)\nvar x: vector[dim(Z)] in l2_ball(1.5)", "mean(absolute(Z @ x, y))", ""),
        ("var x: vector[n] in l2_ball(1.5)", "mean(absolute(K @ x, y))", ""),
    ),
}


def corners() -> Iterator[tuple[str, str, dict[str, Any], str, dict[str, Any]]]:
    """Name, program and data; then the program for the oracle and its data, empty where it is the same."""
    rng = np.random.default_rng(306)
    A, V, H = rng.standard_normal((N, D)), rng.standard_normal((7, D)), rng.standard_normal((2, D))
    G = rng.standard_normal((D, D))
    q = np.arange(1.0, D + 1) / 10
    distances = ((A[:, None, :] - A[None, :, :]) ** 2).sum(axis=2)
    rim = np.roll(np.eye(5), 1, axis=1)
    wheel = np.block([[np.array([[5.0]]), -np.ones((1, 5))], [-np.ones((5, 1)), 3 * np.eye(5) - rim - rim.T]])
    y = A @ rng.standard_normal(D) + 0.5 * rng.standard_normal(N)
    values: dict[str, Any] = {
        "A": A,
        "U": rng.standard_normal((N, D)),
        "y": y,
        "s": np.where(y + 0.5 * rng.standard_normal(N) > 0, 1.0, -1.0),
        "V": V,
        "H": H,
        "h": H @ q,
        "c": rng.standard_normal(D),
        "q": q,
        "S": G + G.T,
        "P": G @ G.T,
        # with K = L L', the rows of L are features with the inner products K
        "Laplacian": wheel,
        "K": np.linalg.cholesky(np.exp(-0.3 * distances)),
        "Corners": 3.0 * rng.standard_normal((20, D * D)),
    }
    for name, forms in CORNERS.items():
        made = [_program(form, values) for form in forms]
        yield (name, *made[0], *(made[1] if len(made) > 1 else ("", {})))


def _program(form: tuple[str, str, str], values: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    variables, objective, constraint = form
    body = f"{variables}\nminimize {objective}\n" + (f"subject to {constraint}\n" if constraint else "")
    tokens = set("".join(c if c.isalnum() or c == "_" else " " for c in body).split())
    used = [n for n in DECLARED if n in tokens]
    return "data " + ", ".join(DECLARED[n] for n in used) + "\n" + body, {n: values[n] for n in used}
