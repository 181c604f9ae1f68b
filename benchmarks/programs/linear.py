"""Linear programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .written import Stated, Written, generator, program


@program("linear")
def transport_40() -> Written:
    """Ship what 40 plants have to 40 shops at the least cost."""
    rng = generator(1)
    C = rng.uniform(1.0, 10.0, (40, 40))
    a, b = rng.uniform(1.0, 2.0, 40), rng.uniform(1.0, 2.0, 40)
    b *= a.sum() / b.sum()

    def state(cp: Any) -> Stated:
        X = cp.Variable((40, 40), nonneg=True)
        return cp.Minimize(cp.sum(cp.multiply(C, X))), [cp.sum(X, axis=1) == a, cp.sum(X, axis=0) == b]

    text = """
data C: matrix[m, n], a: vector[m], b: vector[n]
var X: matrix[m, n] in nonnegative
minimize sum(C * X)
subject to X @ ones(n) == a, X.T @ ones(m) == b
"""
    return Written(text, {"C": C, "a": a, "b": b}, state)


@program("linear")
def assignment_30() -> Written:
    """Give 30 jobs to 30 people at the least cost: a linear program over doubly stochastic matrices."""
    C = generator(2).uniform(0.0, 1.0, (30, 30))

    def state(cp: Any) -> Stated:
        X = cp.Variable((30, 30), nonneg=True)
        return cp.Minimize(cp.sum(cp.multiply(C, X))), [cp.sum(X, axis=1) == 1, cp.sum(X, axis=0) == 1]

    text = """
data C: matrix[n, n]
var X: matrix[n, n] in birkhoff
minimize sum(C * X)
"""
    return Written(text, {"C": C}, state)


@program("linear")
def diet() -> Written:
    """Meet the needs of 20 nutrients with 60 foods at the least price."""
    rng = generator(3)
    N, price, need = rng.uniform(0.0, 1.0, (20, 60)) ** 3, rng.uniform(0.5, 3.0, 60), rng.uniform(1.0, 2.0, 20)

    def state(cp: Any) -> Stated:
        x = cp.Variable(60)
        return cp.Minimize(price @ x), [need <= N @ x, x >= 0, x <= 3]

    text = """
data N: matrix[m, n], price: vector[n], need: vector[m]
var x: vector[n] in box(0, 3)
minimize dot(price, x)
subject to N @ x >= need
"""
    return Written(text, {"N": N, "price": price, "need": need}, state)


@program("linear")
def chebyshev_centre() -> Written:
    """The largest ball in a polyhedron of 100 inequalities."""
    rng = generator(4)
    A = rng.standard_normal((100, 20))
    b = rng.uniform(1.0, 2.0, 100)
    lengths = np.linalg.norm(A, axis=1)

    def state(cp: Any) -> Stated:
        x, r = cp.Variable(20), cp.Variable()
        return cp.Maximize(r), [A @ x + r * lengths <= b]

    text = """
data A: matrix[m, n], b: vector[m], lengths: vector[m]
var x: vector[n], r: real
maximize r
subject to A @ x + r * lengths <= b
"""
    return Written(text, {"A": A, "b": b, "lengths": lengths}, state)


@program("linear")
def least_absolute_deviations() -> Written:
    """A line through 400 points of 20 features, a tenth of them wrong."""
    rng = generator(5)
    A = rng.standard_normal((400, 20))
    b = A @ rng.standard_normal(20) + 0.1 * rng.standard_normal(400) + 10.0 * (rng.random(400) < 0.1)

    def state(cp: Any) -> Stated:
        x = cp.Variable(20)
        return cp.Minimize(cp.norm1(A @ x - b)), []

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n]
minimize norm1(A @ x - b)
"""
    return Written(text, {"A": A, "b": b}, state)


@program("linear")
def chebyshev_fit() -> Written:
    """A polynomial of degree 9 with the smallest largest error on 200 points."""
    t = np.linspace(-1.0, 1.0, 200)
    A, b = np.polynomial.chebyshev.chebvander(t, 9), np.exp(np.sin(3.0 * t))

    def state(cp: Any) -> Stated:
        x = cp.Variable(10)
        return cp.Minimize(cp.norm_inf(A @ x - b)), []

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n]
minimize norm_inf(A @ x - b)
"""
    return Written(text, {"A": A, "b": b}, state)


@program("linear")
def basis_pursuit_decoding() -> Written:
    """A sparse vector of 200 entries from 80 measurements."""
    rng = generator(6)
    A = rng.standard_normal((80, 200))
    truth = rng.standard_normal(200) * (rng.random(200) < 0.08)
    b = A @ truth

    def state(cp: Any) -> Stated:
        x = cp.Variable(200)
        return cp.Minimize(cp.norm1(x)), [A @ x == b]

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n]
minimize norm1(x)
subject to A @ x == b
"""
    return Written(text, {"A": A, "b": b}, state)


def _network(nodes: int, edges: int, seed: int) -> tuple[sp.csr_array, np.ndarray]:
    """The incidence matrix of a random directed graph with a path through all nodes, and capacities."""
    rng = generator(seed)
    tail = np.concatenate([np.arange(nodes - 1), rng.integers(0, nodes, edges - nodes + 1)])
    head = np.concatenate([np.arange(1, nodes), rng.integers(0, nodes, edges - nodes + 1)])
    head = np.where(head == tail, (head + 1) % nodes, head)
    at = np.arange(edges)
    E = sp.csr_array(
        (np.repeat([1.0, -1.0], edges), (np.concatenate([tail, head]), np.tile(at, 2))), shape=(nodes, edges)
    )
    return E, rng.uniform(1.0, 5.0, edges)


@program("linear")
def maximum_flow() -> Written:
    """The most that flows from the first to the last of 60 nodes over 300 edges."""
    E, capacity = _network(60, 300, 7)
    source = np.zeros(60)
    source[0], source[-1] = 1.0, -1.0

    def state(cp: Any) -> Stated:
        f, v = cp.Variable(300), cp.Variable()
        return cp.Maximize(v), [E @ f == v * source, f >= 0, f <= capacity]

    text = """
data E: matrix[m, n], capacity: vector[n], source: vector[m]
var f: vector[n], v: real
maximize v
subject to E @ f == v * source, f >= 0, f <= capacity
"""
    return Written(text, {"E": E, "capacity": capacity, "source": source}, state)


@program("linear")
def minimum_cost_flow() -> Written:
    """Send three units through a network of 80 nodes and 500 edges at the least cost."""
    E, capacity = _network(80, 500, 8)
    cost = generator(9).uniform(1.0, 10.0, 500)
    supply = np.zeros(80)
    supply[0], supply[-1] = 1.0, -1.0

    def state(cp: Any) -> Stated:
        f = cp.Variable(500)
        return cp.Minimize(cost @ f), [E @ f == supply, f >= 0, f <= capacity]

    text = """
data E: matrix[m, n], capacity: vector[n], cost: vector[n], supply: vector[m]
var f: vector[n]
minimize dot(cost, f)
subject to E @ f == supply, 0 <= f, f <= capacity
"""
    return Written(text, {"E": E, "capacity": capacity, "cost": cost, "supply": supply}, state)


@program("linear")
def matrix_game() -> Written:
    """The best mixed strategy of 40 moves against 50."""
    P = generator(10).standard_normal((50, 40))

    def state(cp: Any) -> Stated:
        x = cp.Variable(40, nonneg=True)
        return cp.Minimize(cp.max(P @ x)), [cp.sum(x) == 1]

    text = """
data P: matrix[m, n]
var x: vector[n] in simplex(1)
minimize max(P @ x)
"""
    return Written(text, {"P": P}, state)


@program("linear")
def piecewise_linear() -> Written:
    """The lowest point of the largest of 300 affine functions of 30 unknowns."""
    rng = generator(11)
    A, b = rng.standard_normal((300, 30)), rng.standard_normal(300)

    def state(cp: Any) -> Stated:
        x = cp.Variable(30)
        return cp.Minimize(cp.max(A @ x + b)), []

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n]
minimize max(A @ x + b)
"""
    return Written(text, {"A": A, "b": b}, state)


@program("linear")
def conditional_value_at_risk() -> Written:
    """A portfolio of 30 assets whose worst twentieth of 400 scenarios loses least on average."""
    rng = generator(12)
    R = 0.01 * rng.standard_normal((400, 30)) + rng.uniform(0.0, 0.002, 30)

    def state(cp: Any) -> Stated:
        w = cp.Variable(30, nonneg=True)
        return cp.Minimize(cp.sum_largest(-R @ w, 20) / 20), [cp.sum(w) == 1]

    text = """
data R: matrix[n, p]
var w: vector[p] in simplex(1)
minimize sum_largest(-R @ w, 20) / 20
"""
    return Written(text, {"R": R}, state)


@program("linear")
def production_over_time() -> Written:
    """Produce and store over 60 months what is asked for, at the least cost."""
    rng = generator(13)
    T = 60
    demand, cost = 5.0 + 3.0 * np.sin(np.arange(T) / 4.0) + rng.uniform(0.0, 1.0, T), rng.uniform(1.0, 2.0, T)

    def state(cp: Any) -> Stated:
        make, stock = cp.Variable(T), cp.Variable(T + 1)
        balance = [stock[1:] == stock[:-1] + make - demand]
        return cp.Minimize(cost @ make + 0.1 * cp.sum(stock)), [
            *balance,
            stock[0] == 2,
            stock >= 0,
            make >= 0,
            make <= 8,
        ]

    text = """
data demand: vector[T], cost: vector[T]
var made: vector[T] in box(0, 8), stock: vector[T + 1] in nonnegative
minimize dot(cost, made) + 0.1 * sum(stock)
subject to stock[1:] == stock[:-1] + made - demand, stock[0] == 2
"""
    return Written(text, {"demand": demand, "cost": cost}, state)


@program("linear")
def sparse_linear_program() -> Written:
    """A feasible and bounded program of 400 equations in 800 nonnegative unknowns, five numbers a column."""
    rng = generator(14)
    A = sp.random_array((400, 800), density=5 / 400, rng=rng, data_sampler=rng.standard_normal, format="csr")
    A = sp.csr_array(A + sp.eye_array(400, 800, k=0) + sp.eye_array(400, 800, k=400))
    x = rng.uniform(0.0, 1.0, 800) * (rng.random(800) < 0.5)
    b = A @ x
    c = A.T @ rng.standard_normal(400) + rng.uniform(0.0, 1.0, 800) * (x == 0.0)

    def state(cp: Any) -> Stated:
        z = cp.Variable(800)
        return cp.Minimize(c @ z), [A @ z == b, z >= 0]

    text = """
data A: matrix[m, n], b: vector[m], c: vector[n]
var x: vector[n]
minimize dot(c, x)
subject to A @ x == b, x >= 0
"""
    return Written(text, {"A": A, "b": b, "c": c}, state)


@program("linear")
def robust_linear_program() -> Written:
    """40 inequalities that hold for all coefficients within boxes."""
    rng = generator(15)
    A, D = rng.standard_normal((40, 15)), rng.uniform(0.0, 0.1, (40, 15))
    b, c = rng.uniform(1.0, 2.0, 40), rng.standard_normal(15)

    def state(cp: Any) -> Stated:
        x = cp.Variable(15)
        return cp.Minimize(c @ x), [A @ x + D @ cp.abs(x) <= b, cp.norm_inf(x) <= 10]

    text = """
data A: matrix[m, n], D: matrix[m, n], b: vector[m], c: vector[n]
var x: vector[n] in linf_ball(10), t: vector[n]
minimize dot(c, x)
subject to A @ x + D @ t <= b, -t <= x, x <= t
"""
    return Written(text, {"A": A, "D": D, "b": b, "c": c}, state)


@program("linear")
def quantile_bands() -> Written:
    """The 0.9 quantile of 300 samples as a nonnegative combination of 12 features."""
    rng = generator(16)
    X = rng.uniform(0.0, 1.0, (300, 12))
    y = X @ rng.uniform(-0.5, 1.0, 12) + rng.exponential(1.0, 300)

    def state(cp: Any) -> Stated:
        w = cp.Variable(12)
        r = y - X @ w
        return cp.Minimize(cp.sum(cp.maximum(0.9 * r, -0.1 * r))), [w >= 0]

    text = """
data X: matrix[n, p], y: vector[n]
var w: vector[p] in nonnegative
minimize sum(quantile(X @ w, y, tau=0.9))
"""
    return Written(text, {"X": X, "y": y}, state)


@program("linear")
def unit_commitment_relaxed() -> Written:
    """Ten plants follow the demand of 48 hours within their ramps."""
    rng = generator(17)
    hours, plants = 48, 10
    demand = 30.0 + 10.0 * np.sin(np.arange(hours) * np.pi / 12.0) + rng.uniform(0.0, 2.0, hours)
    price, top = rng.uniform(1.0, 5.0, plants), rng.uniform(4.0, 8.0, plants)

    def state(cp: Any) -> Stated:
        P = cp.Variable((hours, plants), nonneg=True)
        return cp.Minimize(cp.sum(P @ price)), [
            cp.sum(P, axis=1) >= demand,
            np.tile(top, (hours, 1)) >= P,
            cp.abs(cp.diff(P, axis=0)) <= 1,
        ]

    text = """
data demand: vector[T], price: vector[k], top: vector[k]
var P: matrix[T, k] in nonnegative
minimize sum(P @ price)
subject to P @ ones(k) >= demand, P <= outer(ones(T), top), norm_inf(diff(P, axis=0)) <= 1
"""
    return Written(text, {"demand": demand, "price": price, "top": top}, state)
