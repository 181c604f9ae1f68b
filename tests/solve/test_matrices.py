"""Matrix, symmetric and family variables, maps, and the functions of issue 3, each against the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.oracle import solve_oracle

pytest.importorskip("cvxpy")

RNG = np.random.default_rng(7)
N, D, K = 14, 4, 3
A = RNG.standard_normal((N, D))
Y = RNG.standard_normal((N, K))
LABELS = np.concatenate([np.arange(K), RNG.integers(0, K, N - K)])
X = RNG.standard_normal(D)
B = A @ X + 0.3 * RNG.standard_normal(N)
S = RNG.standard_normal((D, D))
P = S @ S.T
TENSOR = RNG.standard_normal((N, D, D))
TASK = np.concatenate([np.arange(2), RNG.integers(0, 2, N - 2)])
U = RNG.standard_normal((N, D))
V = RNG.standard_normal((6, D))
H = RNG.standard_normal((2, D))
W = RNG.uniform(0.5, 2.0, N)
DATA: dict[str, Any] = {
    "A": A, "Y": Y, "y": LABELS, "b": B, "P": P, "T": TENSOR, "t": TASK, "U": U, "V": V, "H": H, "h": H @ X, "w": W,
    "S": sp.csr_array(A * (RNG.random(A.shape) < 0.6)),
    "C": P + np.eye(D), "L": RNG.standard_normal((N, 2)), "R": RNG.standard_normal((2, D)), "c": np.arange(4.0) / 4,
}  # fmt: skip
DECLARED = {
    "A": "A: matrix[n, d]",
    "Y": "Y: matrix[n, k]",
    "y": "y: labels[n, k]",
    "b": "b: vector[n]",
    "P": "P: psd[d]",
    "T": "T: tensor[n, d, d]",
    "t": "t: index[n] of J",
    "U": "U: matrix[n, d]",
    "V": "V: matrix[m, d]",
    "H": "H: matrix[q, d]",
    "h": "h: vector[q]",
    "w": "w: vector[n] in nonnegative",
    "S": "S: matrix[n, d]",
    "C": "C: symmetric[d]",
    "L": "L: matrix[n, l]",
    "R": "R: matrix[l, d]",
    "c": "c: vector[d]",
}
MATRIX = "var W: matrix[d, k]"
VECTOR = "var x: vector[d]"
SYMMETRIC = "var X: symmetric[d]"
FAMILY = "var F: family[J] of psd[d]"

PROGRAMS = {
    "multi-output": ("A Y", MATRIX, "mean(squared(A @ W, Y)) + 0.1 * sum_squares(W)", ""),
    "multi-output sparse": ("S Y", MATRIX, "mean(squared(S @ W, Y)) + 0.1 * norm1(W)", ""),
    "multi-output weights": ("A Y w", MATRIX, "mean(w * huber(A @ W, Y)) + 0.1 * norm21(W)", ""),
    "nuclear": ("A Y", MATRIX, "mean(squared(A @ W, Y)) + 0.2 * norm_nuc(W)", ""),
    "nuclear ball": ("A Y", MATRIX + " in nuclear_ball(0.7)", "mean(squared(A @ W, Y))", ""),
    "spectral ball": ("A Y", MATRIX + " in spectral_ball(0.2)", "mean(squared(A @ W, Y))", ""),
    "norm_spec": ("A Y", MATRIX, "mean(squared(A @ W, Y)) + norm_spec(W)", ""),
    "fro": ("A Y", MATRIX + " in fro_ball(0.5)", "mean(squared(A @ W, Y)) + 0.1 * norm_fro(W)", ""),
    "l21 ball": ("A Y", MATRIX + " in l21_ball(0.5)", "mean(squared(A @ W, Y))", ""),
    "l1_inf": ("A Y", MATRIX, "mean(squared(A @ W, Y)) + 0.3 * norm1_inf(W)", ""),
    "l1_inf ball": ("A Y", MATRIX + " in l1_inf_ball(0.5)", "mean(absolute(A @ W, Y))", ""),
    "rows simplex": ("A Y", MATRIX + " in simplex_product", "mean(squared(A @ W, Y))", ""),
    "columns l2": ("A Y", MATRIX + " in columns(l2_ball(0.3))", "mean(squared(A @ W, Y))", ""),
    "vec simplex": ("A Y", MATRIX + " in vec(simplex(2))", "mean(squared(A @ W, Y))", ""),
    "softmax": ("A y", MATRIX, "mean(softmax(A @ W, y)) + 0.05 * sum_squares(W)", ""),
    "softmax l1": ("A y", MATRIX, "mean(softmax(A @ W, y)) + 0.02 * norm1(W)", ""),
    "crammer-singer": ("A y", MATRIX, "mean(multiclass_hinge(A @ W, y)) + 0.05 * sum_squares(W)", ""),
    "weston-watkins": ("A y", MATRIX, "0.1 * sum(weston_watkins(A @ W, y)) + 0.5 * sum_squares(W)", ""),
    "intercept of rows": ("A Y", MATRIX + ", c: vector[k]", "mean(squared(A @ W + c, Y)) + 0.1 * norm_nuc(W)", ""),
    "factored data": ("L R b", VECTOR, "mean(squared(L @ (R @ x), b)) + 0.1 * norm1(x)", ""),
    "right product": ("A Y", MATRIX, "mean(squared(A @ W @ eye(k), Y)) + 0.1 * sum_squares(W.T)", ""),
    "slices": ("A b Y", MATRIX, "mean(squared(A @ W[:, 0], b)) + sum_squares(W[0:2, 1:3]) + 0.1 * sum_squares(W)", ""),
    "trace": ("C", SYMMETRIC + " in psd", "trace(C @ X) + sum_squares(X - eye(d))", ""),
    "max-cut": ("C", SYMMETRIC + " in psd", "-1 * trace(C @ X)", "diag(X) == 1"),
    "spectrahedron": ("C", SYMMETRIC + " in spectrahedron(2)", "sum_squares(X - C)", ""),
    "solid spectrahedron": ("C", SYMMETRIC + " in solid_spectrahedron(1)", "sum_squares(X - C)", ""),
    "symmetric": ("C", SYMMETRIC, "sum_squares(X - C) + norm_nuc(X)", ""),
    "inner": ("T b", SYMMETRIC + " in psd", "mean(squared(inner(T, X), b)) + 0.1 * trace(X)", ""),
    "quad": ("U b", SYMMETRIC + " in psd", "mean(squared(quad(U, X), b)) + 0.1 * trace(X)", ""),
    "groups": ("A b", VECTOR, "mean(squared(A @ x, b)) + 0.5 * group_norm(x, [[0, 1], [2, 3]])", ""),
    "overlapping groups": ("A b", VECTOR, "mean(squared(A @ x, b)) + 0.5 * group_norm(x, [[0, 1, 2], [2, 3]])", ""),
    "group ball": ("A b", VECTOR + " in group_ball(0.8, [[0, 1], [2, 3]])", "mean(squared(A @ x, b))", ""),
    "k-support": ("A b", VECTOR + " in ksupport_ball(2, 0.8)", "mean(squared(A @ x, b))", ""),
    "quad_form": ("A b P", VECTOR, "mean(squared(A @ x, b)) + 0.1 * quad_form(x, P)", ""),
    "quad_form of an expression": ("A b P", VECTOR, "mean(absolute(A @ x, b)) + quad_form(x - 1, P)", ""),
    "entropy": ("A b", VECTOR + " in simplex(1)", "mean(squared(A @ x, b)) + 0.5 * entropy(x)", ""),
    "entropy alone": ("A b", VECTOR, "mean(squared(A @ x, b)) + 0.5 * entropy(x)", ""),
    "affine set": ("A b H h", VECTOR + " in affine(H, h)", "mean(absolute(A @ x, b))", ""),
    "halfspace": ("A b", VECTOR + " in halfspace(ones(d), -1)", "mean(squared(A @ x, b))", ""),
    "polytope": ("A b V", VECTOR + " in polytope(V)", "mean(squared(A @ x, b))", ""),
    "permutahedron": ("A b c", VECTOR + " in permutahedron(c)", "mean(squared(A @ x, b))", ""),
    "birkhoff": ("C", "var X: matrix[d, d] in birkhoff", "sum_squares(X - C)", ""),
    "transport": ("C", "var X: matrix[d, d] in birkhoff", "sum(C * X)", ""),
    "l1 and nuclear": ("A Y", MATRIX, "mean(squared(A @ W, Y)) + 0.1 * norm_nuc(W) + 0.05 * norm1(W)", ""),
    "nuclear on nonnegative": ("A Y", MATRIX + " in nonnegative", "mean(squared(A @ W, Y)) + 0.1 * norm_nuc(W)", ""),
    "norm of a product": ("A Y", MATRIX, "norm_fro(A @ W - Y) + 0.1 * sum_squares(W)", ""),
    "entrywise bounds": ("A Y", MATRIX, "mean(squared(A @ W, Y))", "W <= 0.2"),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_against_the_oracle(name: str) -> None:
    used, variables, objective, constraint = PROGRAMS[name]
    names = used.split()
    text = "data " + ", ".join(DECLARED[n] for n in names) + f"\n{variables}\nminimize {objective}\n"
    if constraint:
        text += f"subject to {constraint}\n"
    bound = fw.parse(text).bind(**{n: DATA[n] for n in names})
    solution = bound.solve(tol=1e-6, threads=1, time=30)
    assert solution.status == "optimal", f"{solution.reason} {solution.certificate}"
    oracle = solve_oracle(bound.instance)
    assert abs(solution.objective - oracle.value) <= 2e-6 * max(1.0, abs(oracle.value))


def test_a_family_is_its_blocks() -> None:
    """F[task] over two blocks is two problems side by side."""
    text = "data U: matrix[n, d], b: vector[n], t: index[n] of J\nvar F: family[J] of vector[d]\n"
    text += "minimize sum(squared(inner(U, F[t]), b)) + 0.3 * norm1(F)\n"
    both = fw.parse(text).bind(U=U, b=B, t=TASK).solve(tol=1e-9, threads=1)
    assert both.status == "optimal"
    assert both["F"].shape == (2, D)
    alone = "data U: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(U @ x, b)) + 0.3 * norm1(x)\n"
    parts = [fw.parse(alone).bind(U=U[j == TASK], b=B[j == TASK]).solve(tol=1e-9, threads=1) for j in range(2)]
    assert both.objective == pytest.approx(sum(p.objective for p in parts), rel=1e-7)
    np.testing.assert_allclose(both["F"], np.stack([p["x"] for p in parts]), atol=1e-4)


def test_a_family_of_psd_blocks_stays_psd() -> None:
    text = "data T: tensor[n, d, d], b: vector[n]\nvar F: family[2] of psd[d]\n"
    text += "minimize mean(squared(inner(T, F[0]) + inner(T, F[1]), b)) + 0.1 * sum_squares(F)\n"
    solution = fw.parse(text).bind(T=TENSOR, b=B).solve(tol=1e-6, threads=1)
    assert solution.status == "optimal"
    assert all(np.linalg.eigvalsh(block)[0] >= -1e-9 for block in solution["F"])


def test_quadratic_forms_of_the_block_of_each_sample() -> None:
    """quad(U, F[t]) is inner of the outer products with F[t]."""
    head = "b: vector[n], t: index[n] of J\nvar F: family[J] of psd[d]\nminimize mean(squared("
    tail = ", b)) + 0.1 * sum_squares(F)\n"
    quad = (
        fw.parse(f"data U: matrix[n, d], {head}quad(U, F[t]){tail}").bind(U=U, b=B, t=TASK).solve(tol=1e-7, threads=1)
    )
    assert quad.status == "optimal"
    outer = np.einsum("ni,nj->nij", U, U)
    text = "data D: tensor[n, d, d], E: tensor[n, d, d], b: vector[n]\nvar X: psd[d], Y: psd[d]\n"
    text += "minimize mean(squared(inner(D, X) + inner(E, Y), b)) + 0.1 * sum_squares(X) + 0.1 * sum_squares(Y)\n"
    pair = [outer * (j == TASK)[:, None, None] for j in range(2)]
    apart = fw.parse(text).bind(D=pair[0], E=pair[1], b=B).solve(tol=1e-7, threads=1)
    assert quad.objective == pytest.approx(apart.objective, rel=1e-6)
