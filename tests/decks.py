"""The words that the corpus deals out: regularisers, sets and maps, the data that they name, and the decks that they are dealt from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

VECTOR_LOSSES = ("softmax", "multiclass_hinge", "weston_watkins")
GROUPS = "[[0, 1], [2, 3]]"
OVERLAPPING = "[[0, 1, 2], [2, 3]]"

VECTOR_REGULARISERS = {
    "none": "",
    "norm1": "norm1(x)",
    "norm2": "norm2(x)",
    "norm_inf": "norm_inf(x)",
    "sum_squares": "sum_squares(x)",
    "elastic net": "norm1(x) + 0.1 * sum_squares(x)",
    "affine": "dot(c, x)",
    "group_norm": f"group_norm(x, {GROUPS})",
    "weighted group_norm": f"group_norm(x, {GROUPS}, weights=[1, 2])",
    "overlapping group_norm": f"group_norm(x, {OVERLAPPING})",
    "entropy": "entropy(x)",
    "quad_form": "quad_form(x, P)",
    "shifted quad_form": "quad_form(x - 0.2, P)",
    "total variation": "norm1(x[1:] - x[:-1])",
    "norm of a map": "norm2(H @ x)",
    "two norms": "norm1(x) + 0.1 * norm_inf(x)",
}
VECTOR_SETS = (
    "",
    "l1_ball(1.5)",
    "l2_ball(1.2)",
    "linf_ball(0.6)",
    "box(-0.4, 0.9)",
    "box(-inf, 0.5)",
    "nonnegative",
    "simplex(1)",
    "solid_simplex(1.3)",
    "ksupport_ball(2, 1.2)",
    f"group_ball(1.5, {GROUPS})",
    "affine(H, h)",
    "halfspace(ones(d), 1.3)",
    "polytope(V)",
    "permutahedron(q)",
)
VECTOR_MAPS = {
    "plain": "A @ x",
    "intercept": "A @ x + b",
    "factored": "L @ (R @ x)",
    "product first": "(L @ R) @ x",
    "transposed": "B.T @ x",
    "sliced": "A[:, 0:3] @ x[0:3]",
    "diagonal": "A @ (diag(c) @ x)",
    "two variables": "A @ x + L @ z",
    "shifted": "2 * (A @ x) - c[0]",
}

MATRIX_REGULARISERS = {
    "none": "",
    "norm1": "norm1(W)",
    "norm_inf": "norm_inf(W)",
    "sum_squares": "sum_squares(W)",
    "norm_fro": "norm_fro(W)",
    "norm_nuc": "norm_nuc(W)",
    "norm_spec": "norm_spec(W)",
    "norm21": "norm21(W)",
    "norm1_inf": "norm1_inf(W)",
    "max_rownorm2": "max(norm2(W, axis=1))",
    "max_rownorm1": "max_rownorm1(W)",
    "entropy": "entropy(W)",
    "affine": "sum(G * W)",
    "trace norm and ridge": "norm_nuc(W) + 0.1 * sum_squares(W)",
    "two norms": "norm_nuc(W) + 0.3 * norm1(W)",
    "norm of columns": "norm21(W.T)",
    "norm of a product": "norm_fro(A @ W)",
}
MATRIX_SETS = (
    "",
    "l1_ball(2)",
    "linf_ball(0.5)",
    "box(-0.3, 0.8)",
    "nonnegative",
    "fro_ball(1.5)",
    "nuclear_ball(1.5)",
    "spectral_ball(1.2)",
    "l21_ball(2.5)",
    "l1_inf_ball(1.5)",
    "rows(simplex(1))",
    "rows(l2_ball(0.8))",
    "rows(l1_ball(1))",
    "rows(ksupport_ball(2, 0.9))",
    "columns(simplex(1))",
    "columns(linf_ball(0.4))",
    "columns(l2_ball(0.7))",
    "vec(simplex(2))",
    "vec(l2_ball(1.2))",
    "simplex_product",
    "birkhoff",
)
MATRIX_MAPS = {
    "plain": "A @ W",
    "intercept": "A @ W + b",
    "factored": "L @ (R @ W)",
    "both sides": "A @ W @ E",
    "transposed": "(W.T @ B).T",
    "sliced": "A[:, 0:2] @ W[0:2]",
    "two variables": "A @ W + L @ Z",
    "shifted": "A @ (W - 0.1)",
}

SYMMETRIC_REGULARISERS = {
    "trace": "trace(X)",
    "sum_squares": "sum_squares(X - eye(d))",
    "norm_nuc": "norm_nuc(X)",
    "norm_spec": "norm_spec(X)",
    "norm_fro": "norm_fro(X)",
    "norm1": "norm1(X)",
}
SYMMETRIC_SETS = (
    "",
    "psd",
    "spectrahedron(1)",
    "solid_spectrahedron(1.5)",
    "nuclear_ball(1.5)",
    "spectral_ball(0.8)",
    "fro_ball(1)",
)
SYMMETRIC_MAPS = {"inner": "inner(T, X)", "quad": "quad(U, X)", "product": "U @ (X @ c)"}

DECLARED = {
    "A": "A: matrix[n, d]",
    "B": "B: matrix[d, n]",
    "L": "L: matrix[n, l]",
    "R": "R: matrix[l, d]",
    "H": "H: matrix[e, d]",
    "h": "h: vector[e]",
    "V": "V: matrix[v, d]",
    "P": "P: psd[d]",
    "c": "c: vector[d]",
    "q": "q: vector[d]",
    "G": "G: matrix[d, k]",
    "E": "E: matrix[k, k]",
    "T": "T: tensor[n, d, d]",
    "U": "U: matrix[n, d]",
    "w": "w: vector[n] in nonnegative",
    "t": "t: index[n] of J",
    "m0": "m0: vector[n]",
    "m1": "m1: vector[n]",
}


class Deck:
    """Deals what it holds in random order, all of it before any of it again."""

    def __init__(self, rng: np.random.Generator, cards: Sequence[str]) -> None:
        self.rng = rng
        self.cards = list(cards)
        self.left: list[str] = []

    def deal(self) -> str:
        """The next card."""
        if not self.left:
            self.left = [self.cards[i] for i in self.rng.permutation(len(self.cards))]
        return self.left.pop()
