"""Problems as users of cvxpy write them, small, each a function that makes a `cvxpy.Problem`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

RNG = np.random.default_rng(7)
N, P = 24, 6
A = RNG.normal(size=(N, P))
TRUE = np.array([1.5, -1.0, 0.0, 0.0, 0.5, 0.0])
B = A @ TRUE + 0.3 * RNG.normal(size=N)
Y = np.sign(A @ TRUE + 0.8 * RNG.normal(size=N))
COUNTS = RNG.poisson(np.exp(0.3 * (A @ TRUE))).astype(float)
MEAN = 0.05 + 0.1 * RNG.uniform(size=P)
COV = np.cov(RNG.normal(size=(60, P)).T)
SIGNAL = np.repeat([0.0, 2.0, 1.0], 10) + 0.2 * RNG.normal(size=30)
PICTURE = np.kron(np.array([[1.0, 0.0], [0.0, 1.0]]), np.ones((3, 3))) + 0.1 * RNG.normal(size=(6, 6))
MASK = (RNG.uniform(size=(6, 6)) < 0.7).astype(float)
LOW = RNG.normal(size=(6, 2)) @ RNG.normal(size=(2, 6))

PROBLEMS: dict[str, Callable[[], Any]] = {}


def problem(made: Callable[[], Any]) -> Callable[[], Any]:
    PROBLEMS[made.__name__] = made
    return made


def x_of(n: int = P, **attributes: Any) -> Any:
    return cp.Variable(n, name="x", **attributes)


@problem
def least_squares():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - B)))


@problem
def ridge():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - B) / N + 0.1 * cp.sum_squares(x)))


@problem
def lasso_with_a_parameter():
    x, mu = x_of(), cp.Parameter(nonneg=True, value=0.3, name="mu")
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ x - B) + mu * cp.norm(x, 1)))


@problem
def lasso_of_a_bounded_norm():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.norm(A @ x - B)), [cp.norm1(x) <= 2])


@problem
def elastic_net():
    x = x_of()
    loss = cp.sum(cp.square(A @ x - B)) / (2 * N)
    return cp.Problem(cp.Minimize(loss + 0.05 * cp.norm1(x) + 0.05 * cp.sum_squares(x)))


@problem
def nonnegative_least_squares():
    x = x_of(nonneg=True)
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - B)))


@problem
def bounded_least_squares():
    x = x_of(bounds=[-0.5, 1.0])
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - B)))


@problem
def bounds_by_entries():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - B)), [x >= -np.arange(1.0, P + 1) / 6, x <= 0.7])


@problem
def least_absolute_deviations():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.norm1(A @ x - B)))


@problem
def chebyshev_fit():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.norm(A @ x - B, "inf")))


@problem
def huber_fit():
    x, v = x_of(), cp.Variable(name="v")
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(A @ x + v - B, 0.5))))


@problem
def quantile_regression():
    x = x_of()
    r = B - A @ x
    return cp.Problem(cp.Minimize(cp.sum(cp.maximum(0.8 * r, -0.2 * r))))


@problem
def quantile_by_parts():
    x = x_of()
    r = B - A @ x
    return cp.Problem(cp.Minimize(cp.sum(0.8 * cp.pos(r) + 0.2 * cp.neg(r)) / N))


@problem
def weighted_absolute():
    x = x_of()
    w = np.linspace(0.5, 2.0, N)
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(w, cp.abs(A @ x - B)))))


@problem
def weighted_squares():
    x = x_of()
    w = np.linspace(0.5, 2.0, N)
    return cp.Problem(cp.Minimize(w @ cp.square(A @ x - B)))


@problem
def svm():
    x, v = x_of(), cp.Variable(name="v")
    hinge = cp.sum(cp.pos(1 - cp.multiply(Y, A @ x + v))) / N
    return cp.Problem(cp.Minimize(hinge + 0.1 * cp.sum_squares(x)))


@problem
def svm_of_slacks():
    x, s = x_of(), cp.Variable(N, name="s")
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x) + cp.sum(s)), [s >= 0, cp.multiply(Y, A @ x) >= 1 - s])


@problem
def squared_hinge():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.sum(cp.square(cp.pos(1 - cp.multiply(Y, A @ x)))) + cp.sum_squares(x)))


@problem
def support_vector_regression():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.sum(cp.pos(cp.abs(A @ x - B) - 0.2)) + 0.5 * cp.sum_squares(x)))


@problem
def logistic_regression():
    x, v = x_of(), cp.Variable(name="v")
    return cp.Problem(cp.Minimize(cp.sum(cp.logistic(cp.multiply(-Y, A @ x + v))) / N + 0.05 * cp.norm1(x)))


@problem
def logistic_likelihood():
    x = x_of()
    labels = (Y > 0).astype(float)
    likelihood = cp.sum(cp.multiply(labels, A @ x) - cp.logistic(A @ x))
    return cp.Problem(cp.Maximize(likelihood / N - 0.05 * cp.norm(x, 1)))


@problem
def poisson_regression():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.sum(cp.exp(A @ x) - cp.multiply(COUNTS, A @ x)) + 0.5 * cp.sum_squares(x)))


@problem
def group_lasso():
    x = x_of()
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ x - B) + cp.norm(x[:3]) + cp.norm(x[3:])))


@problem
def fused_lasso():
    x = cp.Variable(30, name="x")
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x - SIGNAL) + cp.norm1(cp.diff(x)) + 0.1 * cp.norm1(x)))


@problem
def total_variation():
    x = cp.Variable(30, name="x")
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x - SIGNAL) + 0.5 * cp.tv(x)))


@problem
def trend_filter():
    x = cp.Variable(30, name="x")
    D = sp.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(28, 30)).tocsr()
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(SIGNAL - x) + cp.norm(D @ x, 1)))


@problem
def second_differences():
    x = cp.Variable(30, name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(SIGNAL - x) + 2 * cp.sum_squares(cp.diff(x, 2))))


@problem
def isotonic():
    x = cp.Variable(30, name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(x - SIGNAL)), [x[1:] >= x[:-1]])


@problem
def markowitz():
    x = x_of()
    return cp.Problem(cp.Maximize(MEAN @ x - 2.0 * cp.quad_form(x, COV)), [cp.sum(x) == 1, x >= 0])


@problem
def least_variance():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.quad_form(x, COV)), [cp.sum(x) == 1, MEAN @ x >= 0.1, cp.norm1(x) <= 1.5])


@problem
def portfolio_with_costs():
    x = x_of()
    held = np.full(P, 1 / P)
    return cp.Problem(
        cp.Minimize(cp.quad_form(x, COV) - MEAN @ x + 0.01 * cp.norm1(x - held)), [cp.sum(x) == 1, x >= 0, x <= 0.4]
    )


@problem
def linear_program():
    x = x_of()
    G = np.abs(RNG.normal(size=(8, P)))
    return cp.Problem(cp.Maximize(np.arange(1.0, P + 1) @ x), [G @ x <= 2, x >= 0])


@problem
def transport():
    X = cp.Variable((3, 4), name="X", nonneg=True)
    cost = np.arange(12.0).reshape(3, 4) % 5
    return cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(cost, X))),
        [cp.sum(X, axis=1) == np.ones(3) * 4, cp.sum(X, axis=0) == np.ones(4) * 3],
    )


@problem
def basis_pursuit():
    x = cp.Variable(12, name="x")
    G = np.random.default_rng(5).normal(size=(5, 12))
    return cp.Problem(cp.Minimize(cp.norm1(x)), [G @ x == G @ np.r_[1.0, -1.0, np.zeros(10)]])


@problem
def denoised_basis_pursuit():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.norm1(x)), [cp.norm(A @ x - B) <= 2.5])


@problem
def projection_on_a_simplex():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.sum_squares(x - TRUE)), [x >= 0, cp.sum(x) == 1])


@problem
def projection_on_a_ball():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.norm(x - 2 * np.ones(P))), [cp.norm(x) <= 1])


@problem
def entropy_maximised():
    x = x_of()
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, np.arange(P) @ x == 2.0])


@problem
def multitask_lasso():
    W = cp.Variable((P, 3), name="W")
    T = A @ np.outer(TRUE, [1.0, 0.5, -1.0]) + 0.1
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ W - T) + 2.0 * cp.sum(cp.norm(W, 2, axis=1))))


@problem
def multitask_by_mixed_norm():
    W = cp.Variable((P, 3), name="W")
    T = A @ np.outer(TRUE, [1.0, 0.5, -1.0]) + 0.1
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ W - T) + 2.0 * cp.mixed_norm(W, 2, 1)))


@problem
def matrix_completion():
    X = cp.Variable((6, 6), name="X")
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(cp.multiply(MASK, X - LOW)) + 0.3 * cp.normNuc(X)))


@problem
def robust_components():
    L, S = cp.Variable((6, 6), name="L"), cp.Variable((6, 6), name="S")
    return cp.Problem(cp.Minimize(cp.norm(L, "nuc") + 0.4 * cp.sum(cp.abs(S))), [L + S == LOW])


@problem
def nearest_correlation():
    X = cp.Variable((4, 4), name="X", PSD=True)
    C = np.array([[1, 0.9, -0.7, 0.2], [0.9, 1, 0.8, 0.1], [-0.7, 0.8, 1, 0.5], [0.2, 0.1, 0.5, 1]])
    return cp.Problem(cp.Minimize(cp.sum_squares(X - C)), [cp.diag(X) == 1])


@problem
def max_cut_relaxed():
    X = cp.Variable((5, 5), name="X", symmetric=True)
    W = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    return cp.Problem(cp.Maximize(0.25 * cp.sum(cp.multiply(W, 1 - X))), [X >> 0, cp.diag(X) == np.ones(5)])


@problem
def picture_denoised():
    X = cp.Variable((6, 6), name="X")
    rough = cp.norm1(X[1:] - X[:-1]) + cp.norm1(X[:, 1:] - X[:, :-1])
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(X - PICTURE) + 0.1 * rough))


@problem
def control():
    n, m, steps = 3, 2, 6
    rng = np.random.default_rng(3)
    F, G = np.eye(n) + 0.1 * rng.normal(size=(n, n)), rng.normal(size=(n, m))
    x, u = cp.Variable((n, steps + 1), name="x"), cp.Variable((m, steps), name="u")
    cost = sum(cp.sum_squares(x[:, t + 1]) + cp.sum_squares(u[:, t]) for t in range(steps))
    rules = [x[:, t + 1] == F @ x[:, t] + G @ u[:, t] for t in range(steps)]
    return cp.Problem(cp.Minimize(cost), [*rules, x[:, 0] == np.ones(n), cp.abs(u) <= 0.4])


@problem
def smallest_maximum():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.max(A @ x - B)), [cp.norm(x) <= 1])


@problem
def piecewise_linear():
    x, t = x_of(), cp.Variable(name="t")
    return cp.Problem(cp.Minimize(t + 0.1 * cp.norm1(x)), [A[:8] @ x - B[:8] <= t, -t <= 10, cp.abs(x) <= 1])


@problem
def stacked_parts():
    x, z = cp.Variable(2, name="x"), cp.Variable(4, name="z")
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ cp.hstack([x, z]) - B) + cp.norm1(cp.hstack([x, z]))))


@problem
def picked_entries():
    x = x_of()
    return cp.Problem(
        cp.Minimize(cp.sum_squares(A @ x - B)),
        [x[[0, 3, 5]] == np.array([1.0, 0.0, 0.2]), cp.cumsum(x) <= 2, x[::2] >= 0],
    )


@problem
def deconvolved():
    x = cp.Variable(8, name="x")
    kernel = np.array([0.25, 0.5, 0.25])
    observed = np.convolve(kernel, np.r_[0, 0, 1.0, 0, 0, 2.0, 0, 0])
    return cp.Problem(cp.Minimize(cp.sum_squares(cp.convolve(kernel, x) - observed) + 0.01 * cp.norm1(x)), [x >= 0])


@problem
def feasible_point():
    x = x_of()
    return cp.Problem(cp.Minimize(0), [A[:3] @ x == np.ones(3), x >= -5, x <= 5])


@problem
def square_root_lasso():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.norm(A @ x - B, 2) / np.sqrt(N) + 0.1 * cp.norm(x, 1)))


@problem
def mean_of_losses():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.mean(cp.abs(A @ x - B)) + cp.square(x[0] - 1) + cp.abs(x[1])))


@problem
def data_as_parameters():
    x = x_of()
    G, h = cp.Parameter((N, P), name="G", value=A), cp.Parameter(N, name="h", value=B)
    return cp.Problem(cp.Minimize(cp.sum_squares(G @ x - h)), [cp.sum(x) == 1])


@problem
def cone_constraint():
    x = x_of()
    return cp.Problem(cp.Minimize(-MEAN @ x), [cp.SOC(cp.Constant(1.0), x), cp.sum(x) == 0.5])


@problem
def largest_sizes():
    x = x_of()
    return cp.Problem(
        cp.Minimize(cp.sum_squares(A @ x - B)), [cp.norm_inf(x) <= 0.8, cp.max(x) <= 0.6, cp.sum(cp.abs(x)) <= 2]
    )


@problem
def several_losses():
    x = x_of()
    return cp.Problem(
        cp.Minimize(cp.sum(cp.huber(A[:12] @ x - B[:12])) + cp.sum(cp.logistic(-cp.multiply(Y[12:], A[12:] @ x))))
    )


@problem
def row_added_to_a_matrix():
    W, c = cp.Variable((P, 2), name="W"), cp.Variable(2, name="c")
    T = np.column_stack([B, Y])
    return cp.Problem(
        cp.Minimize(cp.sum_squares(A @ W + cp.reshape(c, (1, 2), order="F") - T) / N + 0.2 * cp.norm(W, "fro"))
    )


@problem
def multinomial_regression():
    W = cp.Variable((P, 3), name="W")
    hot = np.eye(3)[np.argmax(A[:, :3], axis=1)]
    scores = A @ W
    return cp.Problem(
        cp.Minimize(cp.sum(cp.log_sum_exp(scores, axis=1)) - cp.sum(cp.multiply(hot, scores)) + 0.5 * cp.sum_squares(W))
    )


@problem
def crammer_singer():
    W = cp.Variable((P, 3), name="W")
    hot = np.eye(3)[np.argmax(A[:, :3], axis=1)]
    scores = A @ W
    return cp.Problem(
        cp.Minimize(cp.sum(cp.max(1 - hot + scores, axis=1)) - cp.sum(cp.multiply(hot, scores)) + cp.sum_squares(W))
    )


@problem
def functions_in_functions():
    x = x_of()
    return cp.Problem(
        cp.Minimize(cp.sum_squares(cp.pos(A @ x - B)) + cp.sum(cp.huber(cp.pos(x))) + cp.norm(cp.pos(2 - x)))
    )


@problem
def analytic_center():
    x = x_of()
    return cp.Problem(cp.Minimize(-cp.sum(cp.log(3 - A @ x))))


@problem
def growth():
    x = x_of()
    returns = 1 + 0.1 * A
    return cp.Problem(cp.Maximize(np.full(N, 1 / N) @ cp.log(returns @ x)), [cp.sum(x) == 1, x >= 0])


@problem
def water_filling():
    x = x_of()
    return cp.Problem(cp.Maximize(cp.sum(cp.log(np.arange(1.0, P + 1) / 3 + x))), [cp.sum(x) == 1, x >= 0])


@problem
def epigraph_of_a_norm():
    x, t = x_of(), cp.Variable(name="t")
    return cp.Problem(cp.Minimize(t), [cp.norm(A @ x - B) <= t])


@problem
def second_order_cone():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.sum(x)), [cp.norm(x - 1) <= 2 + 0.1 * x[0]])


@problem
def largest_of_several():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.maximum(cp.norm(x - 1), cp.norm1(x + 1), 3 * x[0])))


@problem
def square_of_a_norm():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.square(cp.norm1(x - 1)) + cp.sum_squares(A @ x - B)))


@problem
def two_norms_bounded():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - B)), [cp.norm1(x) + cp.norm(x) <= 1])


@problem
def soft_maximum():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.log_sum_exp(A @ x - B) + cp.sum_squares(x)))


@problem
def exponentials_bounded():
    x = x_of()
    return cp.Problem(cp.Maximize(cp.sum(x)), [cp.exp(x) <= np.arange(1.0, P + 1), x[0] + x[1] <= 0.3])


@problem
def geometric_mean():
    x = x_of()
    return cp.Problem(cp.Maximize(cp.geo_mean(x)), [np.arange(1.0, P + 1) @ x <= 1])


@problem
def divergence():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.sum(cp.kl_div(x, np.full(P, 1 / P)))), [cp.sum(x) == 1, x[0] >= 0.5])


@problem
def fourth_powers():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.sum(cp.power(A @ x - B, 4))))


@problem
def divergence_of_two_variables():
    x, y = x_of(), cp.Variable(P, name="y")
    terms = cp.sum(cp.kl_div(x, y + 0.1)) + cp.sum(cp.rel_entr(cp.sum(x), 2 * y[:2])) + 0.5 * cp.kl_div(x[0], y[1])
    return cp.Problem(cp.Minimize(terms), [cp.sum(x) == 1, y <= 0.4, np.arange(P) @ x >= 2])


@problem
def weighted_divergence_of_matrices():
    X, Y = cp.Variable((2, 3), name="X"), cp.Variable((2, 3), name="Y")
    weights = np.arange(1.0, 7.0).reshape(2, 3)
    near = cp.sum(cp.multiply(weights, cp.rel_entr(X, Y.T.T))) + cp.sum_squares(Y - weights)
    return cp.Problem(cp.Minimize(near), [np.ones((2, 3)) <= X, cp.sum(cp.kl_div(X, Y)) <= 6])


@problem
def weighted_geometric_mean():
    x = x_of()
    return cp.Problem(cp.Maximize(cp.geo_mean(x, [1, 2, 3, 0, 1, 0])), [np.arange(1.0, P + 1) @ x <= 1, x <= 1])


@problem
def largest_lengths_of_rows():
    X = cp.Variable((4, 3), name="X")
    far = cp.max(cp.norm(X, 2, axis=1)) + cp.norm(cp.norm(X - A[:4, :3], 1, axis=0), "inf")
    return cp.Problem(cp.Minimize(far + 0.1 * cp.sum_squares(X - 1)), [cp.max(cp.norm(X, 2, axis=0)) <= 1.2])


@problem
def kronecker_products():
    x, X = x_of(3), cp.Variable((2, 2), name="X")
    near = cp.sum_squares(cp.kron(A[:2, :2], X) - A[2:6, :4]) + cp.norm1(cp.kron(cp.reshape(x, (3, 1), "C"), A[:1]))
    return cp.Problem(cp.Minimize(near), [cp.kron(X, np.eye(3)) <= 0.5, cp.sum(x) == 1])


@problem
def roots():
    x = x_of()
    return cp.Problem(cp.Maximize(cp.sum(cp.sqrt(x))), [np.arange(1.0, P + 1) @ x <= 1])


@problem
def inverses():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.sum(cp.inv_pos(x))), [np.arange(1.0, P + 1) @ x <= 1])


@problem
def largest_residuals():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.sum_largest(A @ x - B, 3)), [cp.norm(x) <= 1])


@problem
def third_norm():
    x = x_of()
    return cp.Problem(cp.Minimize(cp.norm(A @ x - B, 3)))


@problem
def value_at_risk():
    x, t = x_of(), cp.Variable(name="t")
    return cp.Problem(cp.Minimize(t + cp.sum(cp.pos(-A @ x - t)) / (0.1 * N)), [cp.sum(x) == 1, x >= 0])


@problem
def largest_eigenvalue():
    X = cp.Variable((4, 4), name="X", symmetric=True)
    C = np.diag([1.0, 2.0, 3.0, 4.0]) + 0.5
    return cp.Problem(cp.Minimize(cp.lambda_max(C - X) + cp.sum_squares(X)))


@problem
def inverse_covariance():
    X, S = cp.Variable((4, 4), name="X", PSD=True), np.cov(A[:, :4].T)
    return cp.Problem(cp.Minimize(cp.trace(S @ X) - cp.log_det(X) + 0.1 * cp.sum(cp.abs(X))))


@problem
def total_variation_of_a_picture():
    X = cp.Variable((6, 6), name="X")
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(X - PICTURE) + 0.2 * cp.tv(X)))
