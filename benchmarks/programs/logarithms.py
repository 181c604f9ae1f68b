"""Logarithms, exponentials, powers: likelihoods, utilities, barriers, entropies."""

from __future__ import annotations

from typing import Any

import numpy as np

from .written import Stated, Written, generator, program


@program("logarithms")
def water_filling() -> Written:
    """Power of one unit on 100 channels."""
    a = generator(401).uniform(0.01, 1.0, 100)

    def state(cp: Any) -> Stated:
        x = cp.Variable(100)
        return cp.Maximize(cp.sum(cp.log(a + x))), [x >= 0, cp.sum(x) == 1]

    text = """
data a: vector[n]
var x: vector[n] in simplex(1)
maximize sum(log(a + x))
"""
    return Written(text, {"a": a}, state)


@program("logarithms")
def analytic_centre() -> Written:
    """The analytic centre of 150 inequalities in 30 dimensions."""
    rng = generator(402)
    A, b = rng.standard_normal((150, 30)), rng.uniform(0.5, 2.0, 150)

    def state(cp: Any) -> Stated:
        x = cp.Variable(30)
        return cp.Minimize(-cp.sum(cp.log(b - A @ x))), []

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n]
minimize -sum(log(b - A @ x))
"""
    return Written(text, {"A": A, "b": b}, state)


@program("logarithms")
def kelly_betting() -> Written:
    """The bets on 20 lots with the best growth over 200 outcomes."""
    rng = generator(403)
    R = rng.uniform(0.5, 1.6, (200, 20))
    R[:, 0] = 1.0
    p = rng.dirichlet(np.ones(200))

    def state(cp: Any) -> Stated:
        b = cp.Variable(20)
        return cp.Maximize(p @ cp.log(R @ b)), [cp.sum(b) == 1, b >= 0]

    text = """
data R: matrix[n, k], p: vector[n] in nonnegative
var b: vector[k] in simplex(1)
maximize sum(p * log(R @ b))
"""
    return Written(text, {"R": R, "p": p}, state)


@program("logarithms")
def optimal_advertising() -> Written:
    """Displays of 5 adverts over 24 hours: what is paid grows up to budgets, traffic is shared."""
    rng = generator(404)
    m, T = 5, 24
    traffic = 10.0 + 5.0 * np.sin(np.arange(T) / 4.0) + rng.uniform(0.0, 1.0, T)
    click, budget, pay = rng.uniform(0.0, 1.0, (m, T)), rng.uniform(10.0, 30.0, m), rng.uniform(0.5, 2.0, m)
    need = rng.uniform(5.0, 15.0, m)

    def state(cp: Any) -> Stated:
        D = cp.Variable((m, T), nonneg=True)
        income = [cp.minimum(pay[i] * click[i] @ D[i], budget[i]) for i in range(m)]
        return cp.Maximize(sum(income)), [cp.sum(D, axis=0) == traffic, cp.sum(D, axis=1) >= need]

    text = """
data traffic: vector[T], click: matrix[m, T], budget: vector[m], pay: vector[m], need: vector[m]
var D: matrix[m, T] in nonnegative, income: vector[m]
maximize sum(income)
subject to income <= pay * sum(click * D, axis=1), income <= budget,
           sum(D, axis=0) == traffic, sum(D, axis=1) >= need
"""
    data = {"traffic": traffic, "click": click, "budget": budget, "pay": pay, "need": need}
    return Written(text, data, state)


@program("logarithms")
def maximum_entropy() -> Written:
    """The most even distribution on 100 points with given moments."""
    t = np.linspace(-1.0, 1.0, 100)
    A = np.vstack([t, t**2, 3 * t**3 - 2 * t, (t < 0).astype(float)])
    low = np.array([-0.1, 0.5, -0.3, 0.3])
    high = np.array([0.1, 0.6, -0.2, 0.4])

    def state(cp: Any) -> Stated:
        p = cp.Variable(100)
        return cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1, A @ p >= low, A @ p <= high]

    text = """
data A: matrix[m, n], low: vector[m], high: vector[m]
var p: vector[n] in simplex(1)
maximize -entropy(p)
subject to low <= A @ p, A @ p <= high
"""
    return Written(text, {"A": A, "low": low, "high": high}, state)


@program("logarithms")
def entropy_projection() -> Written:
    """The distribution nearest to a prior in the sense of Kullback and Leibler, with 10 moments."""
    rng = generator(405)
    prior, A = rng.dirichlet(np.ones(80)), rng.standard_normal((10, 80))
    b = A @ rng.dirichlet(np.ones(80))

    def state(cp: Any) -> Stated:
        p = cp.Variable(80)
        return cp.Minimize(cp.sum(cp.kl_div(p, prior))), [A @ p == b, cp.sum(p) == 1]

    text = """
data A: matrix[m, n], b: vector[m], prior: vector[n] in nonnegative
var p: vector[n]
minimize sum(kl_div(p, prior))
subject to A @ p == b, sum(p) == 1
"""
    return Written(text, {"A": A, "b": b, "prior": prior}, state)


@program("logarithms")
def poisson_regression() -> Written:
    """Counts of 300 samples by 10 features with a ridge."""
    rng = generator(406)
    X = rng.standard_normal((300, 10)) / 3.0
    y = rng.poisson(np.exp(X @ rng.standard_normal(10) + 0.5)).astype(float)

    def state(cp: Any) -> Stated:
        w, b = cp.Variable(10), cp.Variable()
        z = X @ w + b
        return cp.Minimize(cp.sum(cp.exp(z) - cp.multiply(y, z)) + cp.sum_squares(w)), []

    text = """
data X: matrix[n, p], y: vector[n] in nonnegative
var w: vector[p], b: real
minimize sum(poisson(X @ w + b, y)) + sum_squares(w)
"""
    return Written(text, {"X": X, "y": y}, state)


@program("logarithms")
def poisson_rates() -> Written:
    """Nonnegative sources behind the counts of 120 detectors (emission tomography)."""
    rng = generator(407)
    A = rng.uniform(0.0, 1.0, (120, 40)) ** 2
    y = rng.poisson(A @ rng.uniform(0.0, 10.0, 40)).astype(float)

    def state(cp: Any) -> Stated:
        x = cp.Variable(40, nonneg=True)
        z = A @ x + 0.1
        return cp.Minimize(cp.sum(z - cp.multiply(y, cp.log(z)))), []

    text = """
data A: matrix[m, n], y: vector[m] in nonnegative
var x: vector[n] in nonnegative
let z = A @ x + 0.1
minimize sum(z) - sum(y * log(z))
"""
    return Written(text, {"A": A, "y": y}, state)


@program("logarithms")
def exponential_waiting_times() -> Written:
    """Rates of waiting times of 200 samples, linear in 8 features."""
    rng = generator(408)
    X = rng.uniform(0.1, 1.0, (200, 8))
    t = rng.exponential(1.0 / (X @ rng.uniform(0.5, 2.0, 8)))

    def state(cp: Any) -> Stated:
        w = cp.Variable(8)
        return cp.Minimize(t @ (X @ w) - cp.sum(cp.log(X @ w))), [w >= 0]

    text = """
data X: matrix[n, p], t: vector[n]
var w: vector[p] in nonnegative
minimize dot(t, X @ w) - sum(log(X @ w))
"""
    return Written(text, {"X": X, "t": t}, state)


@program("logarithms")
def log_sum_exp_fit() -> Written:
    """The lowest point of a log-sum-exp of 80 terms in 20 unknowns, as geometric programs become."""
    rng = generator(409)
    A, b = rng.standard_normal((80, 20)), rng.standard_normal(80)

    def state(cp: Any) -> Stated:
        x = cp.Variable(20)
        return cp.Minimize(cp.log_sum_exp(A @ x + b)), []

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n]
minimize log_sum_exp(A @ x + b)
"""
    return Written(text, {"A": A, "b": b}, state)


@program("logarithms")
def geometric_program() -> Written:
    """A geometric program in logarithms: a posynomial under two others."""
    rng = generator(410)
    A = [rng.standard_normal((12, 8)) for _ in range(3)]
    b = [rng.standard_normal(12) - 2.0 for _ in range(3)]

    def state(cp: Any) -> Stated:
        x = cp.Variable(8)
        return cp.Minimize(cp.log_sum_exp(A[0] @ x + b[0])), [
            *(cp.log_sum_exp(A[i] @ x + b[i]) <= 1 for i in (1, 2)),
            cp.norm_inf(x) <= 3,
        ]

    text = """
data A0: matrix[m, n], b0: vector[m], A1: matrix[m, n], b1: vector[m], A2: matrix[m, n], b2: vector[m]
var x: vector[n] in linf_ball(3)
minimize log_sum_exp(A0 @ x + b0)
subject to log_sum_exp(A1 @ x + b1) <= 1, log_sum_exp(A2 @ x + b2) <= 1
"""
    return Written(text, {f"A{i}": A[i] for i in range(3)} | {f"b{i}": b[i] for i in range(3)}, state)


@program("logarithms")
def logistic_with_constraints() -> Written:
    """Logistic regression whose effects add up to 0 and fall."""
    rng = generator(411)
    X = rng.standard_normal((200, 15))
    y = np.sign(X @ np.linspace(1.0, -1.0, 15) + 0.5 * rng.standard_normal(200))

    def state(cp: Any) -> Stated:
        w = cp.Variable(15)
        return cp.Minimize(cp.sum(cp.logistic(-cp.multiply(y, X @ w))) + 0.5 * cp.sum_squares(w)), [
            cp.sum(w) == 0,
            cp.diff(w) <= 0,
        ]

    text = """
data X: matrix[n, p], y: signs[n]
var w: vector[p]
minimize sum(logistic(X @ w, y)) + 1/2 * sum_squares(w)
subject to sum(w) == 0, diff(w) <= 0
"""
    return Written(text, {"X": X, "y": y}, state)


@program("logarithms")
def risk_parity() -> Written:
    """Weights of 40 assets that share the risk alike."""
    rng = generator(412)
    B = rng.standard_normal((60, 40))
    S = B.T @ B / 60

    def state(cp: Any) -> Stated:
        w = cp.Variable(40)
        return cp.Minimize(cp.quad_form(w, S) / 2 - cp.sum(cp.log(w)) / 40), []

    text = """
data S: psd[n]
var w: vector[n]
minimize quad_form(w, S) / 2 - mean(log(w))
"""
    return Written(text, {"S": S}, state)


@program("logarithms")
def fair_rates() -> Written:
    """Rates of 40 flows over 25 links: proportional fairness."""
    rng = generator(413)
    R = (rng.random((25, 40)) < 0.15).astype(float)
    R[rng.integers(0, 25, 40), np.arange(40)] = 1.0
    c = rng.uniform(1.0, 3.0, 25)

    def state(cp: Any) -> Stated:
        f = cp.Variable(40)
        return cp.Maximize(cp.sum(cp.log(f))), [R @ f <= c]

    text = """
data R: matrix[m, n], c: vector[m]
var f: vector[n]
maximize sum(log(f))
subject to R @ f <= c
"""
    return Written(text, {"R": R, "c": c}, state)


@program("logarithms")
def square_root_utilities() -> Written:
    """Goods of 30 kinds within three budgets, each worth the root of its amount."""
    rng = generator(414)
    A, w = rng.uniform(0.1, 1.0, (3, 30)), rng.uniform(0.5, 2.0, 30)

    def state(cp: Any) -> Stated:
        x = cp.Variable(30)
        return cp.Maximize(w @ cp.sqrt(x)), [A @ x <= 1]

    text = """
data A: matrix[m, n], w: vector[n] in nonnegative
var x: vector[n]
maximize sum(w * sqrt(x))
subject to A @ x <= 1
"""
    return Written(text, {"A": A, "w": w}, state)


@program("logarithms")
def inverse_costs() -> Written:
    """Sizes of 30 gates: the delays fall as they grow, the area is bounded."""
    rng = generator(415)
    load, area = rng.uniform(0.5, 2.0, 30), rng.uniform(0.5, 2.0, 30)

    def state(cp: Any) -> Stated:
        x = cp.Variable(30)
        return cp.Minimize(load @ cp.inv_pos(x)), [area @ x <= 30, x >= 0.1]

    text = """
data load: vector[n] in nonnegative, area: vector[n]
var x: vector[n]
minimize sum(load * inv_pos(x))
subject to dot(area, x) <= 30, x >= 0.1
"""
    return Written(text, {"load": load, "area": area}, state)


@program("logarithms")
def least_powers() -> Written:
    """Residuals to the power 1.5 of 150 measurements."""
    rng = generator(416)
    A, b = rng.standard_normal((150, 20)), rng.standard_normal(150)

    def state(cp: Any) -> Stated:
        x = cp.Variable(20)
        return cp.Minimize(cp.sum(cp.power(cp.abs(A @ x - b), 1.5))), []

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n]
minimize sum(abs_power(A @ x - b, 1.5))
"""
    return Written(text, {"A": A, "b": b}, state)


@program("logarithms")
def p_norm_fit() -> Written:
    """The fit with the least 3-norm of residuals."""
    rng = generator(417)
    A, b = rng.standard_normal((100, 15)), rng.standard_normal(100)

    def state(cp: Any) -> Stated:
        x = cp.Variable(15)
        return cp.Minimize(cp.pnorm(A @ x - b, 3)), []

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n]
minimize norm_p(A @ x - b, 3)
"""
    return Written(text, {"A": A, "b": b}, state)


@program("logarithms")
def largest_box() -> Written:
    """The box of largest volume in a polyhedron of 60 inequalities in 10 dimensions."""
    rng = generator(418)
    A, b = rng.standard_normal((60, 10)), rng.uniform(1.0, 2.0, 60)
    up, down = np.maximum(A, 0.0), np.maximum(-A, 0.0)

    def state(cp: Any) -> Stated:
        low, high = cp.Variable(10), cp.Variable(10)
        return cp.Maximize(cp.sum(cp.log(high - low))), [up @ high - down @ low <= b]

    text = """
data up: matrix[m, n], down: matrix[m, n], b: vector[m]
var low: vector[n], high: vector[n]
maximize sum(log(high - low))
subject to up @ high - down @ low <= b
"""
    return Written(text, {"up": up, "down": down, "b": b}, state)


@program("logarithms")
def geometric_mean_of_shares() -> Written:
    """The geometric mean of what 12 people get of 6 goods."""
    rng = generator(419)
    V = rng.uniform(0.0, 1.0, (12, 6))

    def state(cp: Any) -> Stated:
        X = cp.Variable((12, 6), nonneg=True)
        return cp.Maximize(cp.geo_mean(cp.sum(cp.multiply(V, X), axis=1))), [cp.sum(X, axis=0) <= 1]

    text = """
data V: matrix[n, k]
var X: matrix[n, k] in nonnegative
maximize geo_mean(sum(V * X, axis=1))
subject to sum(X, axis=0) <= 1
"""
    return Written(text, {"V": V}, state)


@program("logarithms")
def exponential_loss() -> Written:
    """Boosting's exponential loss of 200 samples with the l1 norm."""
    rng = generator(420)
    X = rng.standard_normal((200, 30))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(200) > 0, 1.0, -1.0)
    Z = -y[:, None] * X

    def state(cp: Any) -> Stated:
        w = cp.Variable(30)
        return cp.Minimize(cp.sum(cp.exp(Z @ w)) / 200 + 0.05 * cp.norm1(w)), []

    text = """
data Z: matrix[n, p]
var w: vector[p]
minimize mean(exp(Z @ w)) + 0.05 * norm1(w)
"""
    return Written(text, {"Z": Z}, state)


@program("logarithms")
def entropic_transport() -> Written:
    """Transport of 15 to 15 places with an entropy."""
    rng = generator(421)
    C, a, b = rng.uniform(0.0, 1.0, (15, 15)), rng.dirichlet(np.ones(15)), rng.dirichlet(np.ones(15))

    def state(cp: Any) -> Stated:
        X = cp.Variable((15, 15))
        return cp.Minimize(cp.sum(cp.multiply(C, X)) - 0.1 * cp.sum(cp.entr(X))), [
            cp.sum(X, axis=1) == a,
            cp.sum(X, axis=0) == b,
        ]

    text = """
data C: matrix[m, n], a: vector[m], b: vector[n]
var X: matrix[m, n]
minimize sum(C * X) + 0.1 * entropy(X)
subject to sum(X, axis=1) == a, sum(X, axis=0) == b
"""
    return Written(text, {"C": C, "a": a, "b": b}, state)


@program("logarithms")
def softmax_with_bounds() -> Written:
    """Three classes of 150 samples, effects between bounds."""
    rng = generator(422)
    X = rng.standard_normal((150, 6))
    y = np.argmax(X @ rng.standard_normal((6, 3)) + 0.5 * rng.standard_normal((150, 3)), axis=1)
    onehot = np.eye(3)[y]

    def state(cp: Any) -> Stated:
        W = cp.Variable((6, 3))
        Z = X @ W
        return cp.Minimize(cp.sum(cp.log_sum_exp(Z, axis=1)) - cp.sum(cp.multiply(onehot, Z))), [cp.abs(W) <= 1]

    text = """
data X: matrix[n, p], y: labels[n, k]
var W: matrix[p, k] in linf_ball(1)
minimize sum(softmax(X @ W, y))
"""
    return Written(text, {"X": X, "y": y}, state)


@program("logarithms")
def mixing_chain_with_entropy() -> Written:
    """A chain of 12 states, as random as may be, with a given steady state."""
    rng = generator(423)
    p = rng.dirichlet(np.full(12, 3.0))

    def state(cp: Any) -> Stated:
        P = cp.Variable((12, 12))
        return cp.Maximize(cp.sum(p @ cp.entr(P))), [cp.sum(P, axis=1) == 1, p @ P == p]

    text = """
data p: vector[n] in nonnegative
var P: matrix[n, n] in rows(simplex(1))
maximize -sum(p * rel_entr(P, 1))
subject to P.T @ p == p
"""
    return Written(text, {"p": p}, state)
