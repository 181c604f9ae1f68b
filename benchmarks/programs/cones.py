"""Second-order cones: norms below affine bounds, sums of norms, quadratic constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from .written import Stated, Written, generator, program


@program("cones")
def robust_least_squares() -> Written:
    """The least worst case of residuals whose matrix is known up to a spectral error."""
    rng = generator(301)
    A, b = rng.standard_normal((60, 20)), rng.standard_normal(60)

    def state(cp: Any) -> Stated:
        x = cp.Variable(20)
        return cp.Minimize(cp.norm2(A @ x - b) + 0.5 * cp.norm2(x)), []

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n]
minimize norm2(A @ x - b) + 0.5 * norm2(x)
"""
    return Written(text, {"A": A, "b": b}, state)


@program("cones")
def worst_case_rows() -> Written:
    """Regression whose every sample is known up to a ball: the worst case of absolute errors."""
    rng = generator(302)
    A, b = rng.standard_normal((100, 10)), rng.standard_normal(100)

    def state(cp: Any) -> Stated:
        x, t = cp.Variable(10), cp.Variable()
        return cp.Minimize(cp.norm1(A @ x - b) + 100 * 0.3 * t), [cp.norm2(x) <= t]

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n], t: real
minimize norm1(A @ x - b) + m * 0.3 * t
subject to norm2(x) <= t
"""
    return Written(text, {"A": A, "b": b}, state)


@program("cones")
def chance_constrained_portfolio() -> Written:
    """The best return of 100 assets that is at least -0.2 with probability 0.95."""
    rng = generator(303)
    F, mu = rng.standard_normal((20, 100)) / 10.0, rng.uniform(0.02, 0.2, 100)

    def state(cp: Any) -> Stated:
        w = cp.Variable(100)
        return cp.Maximize(mu @ w), [cp.sum(w) == 1, w >= 0, 1.645 * cp.norm2(F @ w) <= mu @ w + 0.2]

    text = """
data F: matrix[k, n], mu: vector[n]
var w: vector[n] in simplex(1)
maximize dot(mu, w)
subject to 1.645 * norm2(F @ w) <= dot(mu, w) + 0.2
"""
    return Written(text, {"F": F, "mu": mu}, state)


@program("cones")
def robust_inequalities() -> Written:
    """A linear program whose 30 rows are known up to ellipsoids."""
    rng = generator(304)
    A, b, c = rng.standard_normal((30, 10)), rng.uniform(1.0, 2.0, 30), rng.standard_normal(10)
    P = rng.standard_normal((10, 10)) / 10.0

    def state(cp: Any) -> Stated:
        x = cp.Variable(10)
        return cp.Minimize(c @ x), [A @ x + cp.norm2(P @ x) <= b]

    text = """
data A: matrix[m, n], b: vector[m], c: vector[n], P: matrix[n, n]
var x: vector[n], t: real
minimize dot(c, x)
subject to norm2(P @ x) <= t, A @ x + t <= b
"""
    return Written(text, {"A": A, "b": b, "c": c, "P": P}, state)


@program("cones")
def antenna_array() -> Written:
    """Weights of 20 antennas: one in a direction, the smallest sidelobes elsewhere, real and imaginary parts."""
    n, m = 20, 120
    rng = generator(305)
    place = rng.uniform(0.0, 5.0, (n, 2))
    angles = np.concatenate([np.linspace(0.5, 2 * np.pi - 0.5, m), [0.0]])
    phase = 2 * np.pi * (np.outer(np.cos(angles), place[:, 0]) + np.outer(np.sin(angles), place[:, 1])) / 2.0
    re, im = np.cos(phase), np.sin(phase)

    def state(cp: Any) -> Stated:
        u, v, t = cp.Variable(n), cp.Variable(n), cp.Variable()
        real, imaginary = re @ u - im @ v, im @ u + re @ v
        lobes = cp.norm2(cp.vstack([real[:-1], imaginary[:-1]]).T, axis=1) <= t
        return cp.Minimize(t), [lobes, real[m] == 1, imaginary[m] == 0]

    text = """
data re: matrix[m + 1, n], im: matrix[m + 1, n]
var u: vector[n], v: vector[n], t: real
let real_part = re @ u - im @ v
let imaginary = im @ u + re @ v
minimize t
subject to rownorm2(vstack(real_part[:m], imaginary[:m]).T) <= t, real_part[m] == 1, imaginary[m] == 0
"""
    return Written(text, {"re": re, "im": im}, state)


@program("cones")
def facility_location() -> Written:
    """Five depots beside 40 customers: the weighted distances between them, in the plane."""
    rng = generator(306)
    P, W = rng.uniform(-1.0, 1.0, (40, 2)), rng.random((40, 5)) * (rng.random((40, 5)) < 0.4)
    i, j = np.nonzero(W)
    w = W[i, j]
    pick, fixed = np.eye(5)[j], P[i]

    def state(cp: Any) -> Stated:
        X = cp.Variable((5, 2))
        customers = cp.sum(cp.multiply(w, cp.norm2(pick @ X - fixed, axis=1)))
        return cp.Minimize(customers + cp.sum(cp.norm2(cp.diff(X, axis=0), axis=1))), []

    text = """
data pick: matrix[e, k], fixed: matrix[e, 2], w: vector[e] in nonnegative
var X: matrix[k, 2]
minimize sum(w * rownorm2(pick @ X - fixed)) + sum(rownorm2(diff(X, axis=0)))
"""
    return Written(text, {"pick": pick, "fixed": fixed, "w": w}, state)


@program("cones")
def geometric_median() -> Written:
    """The point with the least sum of distances from 500 points in 5 dimensions."""
    P = generator(307).standard_normal((500, 5)) ** 3

    def state(cp: Any) -> Stated:
        x = cp.Variable(5)
        return cp.Minimize(cp.sum(cp.norm2(P - np.ones((500, 1)) @ cp.reshape(x, (1, 5), order="C"), axis=1))), []

    text = """
data P: matrix[n, d]
var x: vector[d]
minimize sum(rownorm2(P - x))
"""
    return Written(text, {"P": P}, state)


@program("cones")
def smallest_enclosing_ball() -> Written:
    """The smallest ball around 200 points in 6 dimensions."""
    P = generator(308).standard_normal((200, 6))

    def state(cp: Any) -> Stated:
        x = cp.Variable(6)
        return cp.Minimize(cp.max(cp.norm2(P - np.ones((200, 1)) @ cp.reshape(x, (1, 6), order="C"), axis=1))), []

    text = """
data P: matrix[n, d]
var x: vector[d], r: real
minimize r
subject to rownorm2(P - x) <= r
"""
    return Written(text, {"P": P}, state)


@program("cones")
def quadratic_constraints() -> Written:
    """A quadratic objective under five quadratic constraints in 30 unknowns."""
    rng = generator(309)
    forms = []
    for _ in range(6):
        B = rng.standard_normal((30, 30))
        forms.append(B.T @ B / 30 + 0.1 * np.eye(30))
    q = rng.standard_normal((6, 30))

    def state(cp: Any) -> Stated:
        x = cp.Variable(30)
        return cp.Minimize(cp.quad_form(x, forms[0]) + q[0] @ x), [
            cp.quad_form(x, P) + g @ x <= 0.05 for P, g in zip(forms[1:], q[1:], strict=True)
        ]

    names = [f"P{i}" for i in range(6)]
    text = (
        f"data {', '.join(f'{name}: psd[n]' for name in names)}, {', '.join(f'q{i}: vector[n]' for i in range(6))}\n"
        "var x: vector[n]\n"
        "minimize quad_form(x, P0) + dot(q0, x)\n"
        f"subject to {', '.join(f'quad_form(x, P{i}) + dot(q{i}, x) <= 0.05' for i in range(1, 6))}\n"
    )
    data = {f"P{i}": forms[i] for i in range(6)} | {f"q{i}": q[i] for i in range(6)}
    return Written(text, data, state)


@program("cones")
def tracking_within_risk() -> Written:
    """The best return within a variance, from a covariance matrix."""
    rng = generator(310)
    R = rng.standard_normal((200, 50)) @ np.diag(rng.uniform(0.5, 1.5, 50))
    S, mu = np.cov(R, rowvar=False), rng.uniform(0.0, 0.3, 50)

    def state(cp: Any) -> Stated:
        w = cp.Variable(50)
        return cp.Maximize(mu @ w), [cp.quad_form(w, S) <= 0.05, cp.sum(w) == 1, w >= 0]

    text = """
data S: psd[n], mu: vector[n]
var w: vector[n] in simplex(1)
maximize dot(mu, w)
subject to quad_form(w, S) <= 0.05
"""
    return Written(text, {"S": S, "mu": mu}, state)


@program("cones")
def hanging_chain() -> Written:
    """A chain of 40 links between two nails: the lowest weight, no link longer than 0.06."""
    start, end = np.array([0.0, 1.0]), np.array([1.0, 1.2])

    def state(cp: Any) -> Stated:
        X = cp.Variable((41, 2))
        return cp.Minimize(cp.sum(X[:, 1])), [X[0] == start, X[40] == end, cp.norm2(cp.diff(X, axis=0), axis=1) <= 0.06]

    text = """
data start: vector[2], end: vector[2]
var X: matrix[41, 2]
minimize sum(X[:, 1])
subject to X[0] == start, X[40] == end, rownorm2(diff(X, axis=0)) <= 0.06
"""
    return Written(text, {"start": start, "end": end}, state)


@program("cones")
def minimal_surface_line() -> Written:
    """The shortest line through slits: 60 heights between bounds."""
    rng = generator(311)
    low = np.sin(np.arange(60) / 5.0) - 0.3 - 0.2 * rng.random(60)
    high = low + 0.5

    def state(cp: Any) -> Stated:
        x = cp.Variable(60)
        steps = cp.vstack([cp.diff(x), 0.1 * np.ones(59)])
        return cp.Minimize(cp.sum(cp.norm2(steps.T, axis=1))), [x >= low, x <= high]

    text = """
data low: vector[n], high: vector[n]
var x: vector[n]
minimize sum(rownorm2(vstack(diff(x), 0.1 * ones(n - 1)).T))
subject to low <= x, x <= high
"""
    return Written(text, {"low": low, "high": high}, state)


@program("cones")
def quadratic_over_linear() -> Written:
    """Shares of 8 links: each sends x_i^2 / c_i for what it costs, capacities bought."""
    rng = generator(312)
    price = rng.uniform(0.5, 2.0, 8)
    A = rng.uniform(0.0, 1.0, (6, 8))

    def state(cp: Any) -> Stated:
        x, t = cp.Variable(8), cp.Variable()
        return cp.Minimize(cp.quad_over_lin(x, t) + 2 * t), [A @ x >= 1, price @ x <= 20]

    text = """
data A: matrix[m, n], price: vector[n]
var x: vector[n], t: real
minimize quad_over_lin(x, t) + 2 * t
subject to A @ x >= 1, dot(price, x) <= 20
"""
    return Written(text, {"A": A, "price": price}, state)


@program("cones")
def least_error_within_two_norms() -> Written:
    """A linear cost within the l1 ball, the l2 ball and a distance of measurements."""
    rng = generator(313)
    A = rng.standard_normal((40, 60))
    truth = rng.standard_normal(60) * (rng.random(60) < 0.1)
    b, c = A @ truth + 0.01 * rng.standard_normal(40), rng.standard_normal(60)

    def state(cp: Any) -> Stated:
        x = cp.Variable(60)
        return cp.Minimize(c @ x), [cp.norm2(A @ x - b) <= 0.5, cp.norm1(x) <= 10, cp.norm2(x) <= 3]

    text = """
data A: matrix[m, n], b: vector[m], c: vector[n]
var x: vector[n]
minimize dot(c, x)
subject to norm2(A @ x - b) <= 0.5, norm1(x) <= 10, norm2(x) <= 3
"""
    return Written(text, {"A": A, "b": b, "c": c}, state)


@program("cones")
def basis_pursuit_denoising() -> Written:
    """The least sum of sizes within a distance of 60 noisy measurements."""
    rng = generator(314)
    A = rng.standard_normal((60, 150))
    b = A @ (rng.standard_normal(150) * (rng.random(150) < 0.08)) + 0.05 * rng.standard_normal(60)

    def state(cp: Any) -> Stated:
        x = cp.Variable(150)
        return cp.Minimize(cp.norm1(x)), [cp.norm2(A @ x - b) <= 0.4]

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n]
minimize norm1(x)
subject to norm2(A @ x - b) <= 0.4
"""
    return Written(text, {"A": A, "b": b}, state)


@program("cones")
def square_root_lasso() -> Written:
    """A lasso whose weight does not depend on the noise."""
    rng = generator(315)
    A = rng.standard_normal((100, 80))
    b = A[:, :5].sum(axis=1) + 0.5 * rng.standard_normal(100)

    def state(cp: Any) -> Stated:
        x = cp.Variable(80)
        return cp.Minimize(cp.norm2(A @ x - b) + 2 * cp.norm1(x)), []

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n]
minimize norm2(A @ x - b) + 2 * norm1(x)
"""
    return Written(text, {"A": A, "b": b}, state)
