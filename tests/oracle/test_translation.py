"""The translation to cvxpy means what the language says: values at a point, by formulas written here in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.atoms.loss import Loss
from fwdsl.atoms.losses import class_of
from fwdsl.atoms.vectors import SETS as SETS_BY_CLASS
from fwdsl.atoms.vectors import ConvexSet
from fwdsl.oracle import solve_oracle
from fwdsl.oracle.translate import Translator
from fwdsl.words import CONVEX, LOSSES, SETS

RNG = np.random.default_rng(7)
X = RNG.standard_normal((6, 3))
POINT = np.array([0.7, -1.2, 0.4])
Z = X @ POINT
B = RNG.standard_normal(6)
Y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
C = np.array([0, 2, 1, 1, 0, 2])
W = RNG.standard_normal((3, 3))
SCORES = X @ W
OWN = SCORES[np.arange(6), C]
R = Z - B


def at(problem: fw.Problem, **values: np.ndarray | float) -> float:
    """The objective of the translated problem at a point."""
    translator = Translator(problem.instance)
    for name, value in values.items():
        translator.variables[name].value = np.asarray(value)
    return float(translator.problem().objective.value)


def violation(problem: fw.Problem, **values: np.ndarray) -> float:
    translator = Translator(problem.instance)
    for name, value in values.items():
        translator.variables[name].value = value
    return max(float(np.max(c.violation())) for c in translator.problem().constraints)


# those that the oracle translates itself; others have a translation beside their formulas
VALUES = {
    "squared": R**2,
    "absolute": abs(R),
    "quantile": np.where(R < 0, 0.5 * abs(R), 0.5 * abs(R)),
    "huber": np.where(abs(R) <= 1, R**2 / 2, abs(R) - 0.5),
    "epsilon_insensitive": np.maximum(0, abs(R) - 0.1),
    "squared_epsilon_insensitive": np.maximum(0, abs(R) - 0.1) ** 2,
    "logistic": np.log1p(np.exp(-Y * Z)),
    "hinge": np.maximum(0, 1 - Y * Z),
    "squared_hinge": np.maximum(0, 1 - Y * Z) ** 2,
    "smooth_hinge": np.where(Y * Z >= 1, 0, np.where(Y * Z >= 0, (1 - Y * Z) ** 2 / 2, 0.5 - Y * Z)),
    "poisson": np.exp(Z) - B * Z,
    "softmax": np.log(np.exp(SCORES).sum(axis=1)) - OWN,
    "multiclass_hinge": np.array([max(SCORES[i, k] + (k != C[i]) for k in range(3)) - OWN[i] for i in range(6)]),
    "weston_watkins": np.array(
        [sum(max(0, 1 + SCORES[i, k] - OWN[i]) for k in range(3) if k != C[i]) for i in range(6)]
    ),
}


OF_RATES = {
    "gamma_loss": lambda z, b: z + b * np.exp(-z),
    "tweedie_loss": lambda z, b: 2.0 * b * np.exp(-0.5 * z) + 2.0 * np.exp(0.5 * z),
    "poisson_rate": lambda z, b: z - b + b * np.log(b / z),
    "kl_div": lambda z, b: z * np.log(z / b) - z + b,
}
OF_ENTRIES = {
    "log": (np.log, -1.0, ()),
    "power": (lambda z: z**1.5, 1.0, (1.5,)),
    "abs_power": (lambda z: np.abs(z) ** 1.5, 1.0, (1.5,)),
}


def test_no_loss_is_left_out():
    assert {n for n, loss in LOSSES.items() if loss.entrywise} == set(OF_ENTRIES)
    assert {n for n, loss in LOSSES.items() if loss.nonnegative_target} == set(OF_RATES)


@pytest.mark.parametrize("name", OF_RATES)
def test_losses_of_rates(name: str):
    x, b = fw.vector(6, name="x"), np.abs(B)
    point = np.abs(Z) + 0.1
    problem = fw.minimize(fw.sum(getattr(fw, name)(x, b)))
    assert at(problem, x=point) == pytest.approx(OF_RATES[name](point, b).sum())


@pytest.mark.parametrize("name", OF_ENTRIES)
def test_functions_of_entries(name: str):
    value, sign, options = OF_ENTRIES[name]
    x, point = fw.vector(6, name="x"), np.abs(Z) + 0.1
    term = fw.sum(getattr(fw, name)(x, *options))
    problem = fw.minimize(term) if sign > 0.0 else fw.maximize(term)
    assert at(problem, x=point) == pytest.approx(value(point).sum())


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", [n for n in LOSSES if n not in {*OF_RATES, *OF_ENTRIES}])
def test_losses(name: str, layout):
    x, w = fw.vector(3, name="x"), fw.matrix(3, 3, name="W")
    target = {"real": B, "signs": Y, "labels": C}[LOSSES[name].target]
    scores = LOSSES[name].scores
    prediction = layout(X) @ (w if scores else x)
    point = {"W": W} if scores else {"x": POINT}
    loss = getattr(fw, name)(prediction, target)
    values = VALUES[name] if name in VALUES else value_by_its_class(name, target)
    assert at(fw.minimize(fw.sum(loss)), **point) == pytest.approx(values.sum())
    assert at(fw.minimize(3 * fw.mean(loss)), **point) == pytest.approx(3 * values.mean())


def value_by_its_class(name: str, target: np.ndarray) -> np.ndarray:
    cls = class_of(name)
    assert issubclass(cls, Loss) and cls.cvxpy is not None, f"the oracle and {cls.__name__} have no translation"
    return cls.value_naive(Z, target, np.array([o.default for o in cls.word.options], dtype=float))


@pytest.mark.parametrize(
    ("name", "option", "value", "expected"),
    [
        ("quantile", "tau", 0.9, np.where(R < 0, 0.9 * abs(R), 0.1 * abs(R))),
        ("huber", "delta", 0.3, np.where(abs(R) <= 0.3, R**2 / 2, 0.3 * (abs(R) - 0.15))),
        ("epsilon_insensitive", "eps", 0.7, np.maximum(0, abs(R) - 0.7)),
        ("squared_epsilon_insensitive", "eps", 0.7, np.maximum(0, abs(R) - 0.7) ** 2),
    ],
)
def test_options_of_losses(name: str, option: str, value: float, expected: np.ndarray):
    loss = getattr(fw, name)(X @ fw.vector(3, name="x"), B, **{option: value})
    assert at(fw.minimize(fw.sum(loss)), x=POINT) == pytest.approx(expected.sum())


def test_weights_columns_and_terms():
    weights = np.array([1.0, 0.0, 2.0, 0.5, 1.0, 3.0])
    x, w, c = fw.vector(3, name="x"), fw.matrix(3, 2, name="W"), fw.scalar(name="c")
    weighted = fw.mean(weights * fw.squared(X @ x, B))
    assert at(fw.minimize(weighted), x=POINT) == pytest.approx((weights * R**2).mean())
    # an elementwise loss of several columns is added up over the columns of a sample
    columns = X @ W[:, :2] - np.ones((6, 2))
    assert at(fw.minimize(fw.mean(fw.squared(X @ w, 1.0))), W=W[:, :2]) == pytest.approx((columns**2).sum() / 6)
    problem = fw.maximize(2 * fw.dot(np.arange(3.0), x) - fw.sum_squares(x - 1) / 2 - 5 * c + 7)
    assert at(problem, x=POINT, c=0.3) == pytest.approx(2 * POINT @ np.arange(3) - ((POINT - 1) ** 2).sum() / 2 + 5.5)


def test_an_intercept_is_added_to_every_row():
    w, v = fw.matrix(3, 2, name="W"), fw.vector(2, name="v")
    shifted = X @ W[:, :2] + np.array([1.0, -2.0])
    problem = fw.minimize(fw.sum_squares(X @ w + v))
    assert at(problem, W=W[:, :2], v=np.array([1.0, -2.0])) == pytest.approx((shifted**2).sum())


NORMS = {
    "norm1": abs(W).sum(),
    "norm_inf": abs(W).max(),
    "sum_squares": (W**2).sum(),
    "norm_fro": np.sqrt((W**2).sum()),
    "norm_nuc": np.linalg.svd(W)[1].sum(),
    "norm_spec": np.linalg.svd(W)[1].max(),
    "norm21": np.sqrt((W**2).sum(axis=1)).sum(),
    "rownorm2": np.sqrt((W**2).sum(axis=1)).sum(),
    "norm1_inf": abs(W).max(axis=1).sum(),
    "max_rownorm2": np.sqrt((W**2).sum(axis=1)).max(),
    "max_rownorm1": abs(W).sum(axis=1).max(),
    "entropy": (abs(W) * np.log(abs(W))).sum(),
    "max": W.max(),
    "min": W.min(),
    "sum_largest": np.sort(W.reshape(-1))[-2:].sum(),
    "sum_smallest": np.sort(W.reshape(-1))[:2].sum(),
    "log_sum_exp": np.log(np.exp(W).sum()),
    "tv": np.hypot(np.diff(W, axis=0)[:, :-1], np.diff(W, axis=1)[:-1]).sum(),
}
COUNTED = ("sum_largest", "sum_smallest", "sum_largest_eigs")
"""Functions with a count, here 2."""

DEFINITE = W.T @ W + np.eye(3)
EIGENVALUES = np.linalg.eigvalsh(DEFINITE)
OF_EIGENVALUES = {
    "lambda_max": EIGENVALUES[-1],
    "lambda_min": EIGENVALUES[0],
    "sum_largest_eigs": EIGENVALUES[1:].sum(),
    "log_det": np.log(EIGENVALUES).sum(),
    "tr_inv": (1.0 / EIGENVALUES).sum(),
}


@pytest.mark.parametrize("name", [n for n, f in CONVEX.items() if "matrix" in f.of])
def test_functions_of_matrices(name: str):
    point = abs(W) if name == "entropy" else W
    word = CONVEX[name]
    if word.of_eigenvalues:
        point = DEFINITE
    variable = fw.symmetric_var(3, name="W") if word.of_eigenvalues else fw.matrix(3, 3, name="W")
    function = getattr(fw, name)(variable, *([2] if name in COUNTED else []))
    goal = fw.maximize if word.concave or word.negative_of else fw.minimize
    problem = goal(fw.sum(function) if word.by_rows else function)
    assert at(problem, W=point) == pytest.approx((OF_EIGENVALUES if word.of_eigenvalues else NORMS)[name])


def test_a_matrix_fraction():
    S, x = fw.symmetric_var(3, name="S"), fw.vector(3, name="x")
    expected = POINT @ np.linalg.solve(DEFINITE, POINT)
    assert at(fw.minimize(fw.matrix_frac(x, S)), S=DEFINITE, x=POINT) == pytest.approx(expected)


def test_a_combination_of_matrices():
    M = np.stack([W, W.T, np.eye(3)])
    y = fw.vector(3, name="y")
    expected = np.abs(np.tensordot(POINT, M, axes=1)).sum()
    assert at(fw.minimize(fw.norm1(fw.combine(y, M))), y=POINT) == pytest.approx(expected)


def test_functions_of_vectors():
    x = fw.vector(3, name="x")
    assert at(fw.minimize(fw.norm2(x - B[:3])), x=POINT) == pytest.approx(np.linalg.norm(POINT - B[:3]))
    P = X.T @ X
    assert at(fw.minimize(fw.quad_form(x, (P + P.T) / 2)), x=POINT) == pytest.approx(Z @ Z)
    groups = fw.group_norm(x, [[0, 2], [1]])
    assert at(fw.minimize(groups), x=POINT) == pytest.approx(np.hypot(0.7, 0.4) + 1.2)
    assert at(fw.minimize(fw.group_norm(x, np.array([0, 1, 0]))), x=POINT) == pytest.approx(np.hypot(0.7, 0.4) + 1.2)


def test_expressions():
    x, w = fw.vector(3, name="x"), fw.matrix(3, 3, name="W")
    for expression, value in [
        (fw.sum(fw.diag(POINT) @ x), (POINT * POINT).sum()),
        (fw.mean(w[:, 1]) + fw.trace(w), W[:, 1].mean() + np.trace(W)),
        (fw.sum(w[0:2, :]) - x[2] / 4, W[:2].sum() - 0.1),
        (fw.sum(fw.quad(X, w)), np.einsum("ni,ij,nj->", X, W, X)),
        (fw.sum(fw.inner(np.stack([W, W.T]), w)), (W * W).sum() + (W.T * W).sum()),
        (fw.sum(w.T @ fw.ones(3)) + fw.sum((w @ fw.eye(3)) * W), W.sum() + (W * W).sum()),
        (fw.sum(X.T @ (X @ x)), (X.T @ Z).sum()),
        (fw.sum(-x * POINT / np.array([1.0, 2.0, 4.0])), -(POINT**2 / np.array([1, 2, 4])).sum()),
    ]:
        assert at(fw.minimize(expression + 0 * (fw.sum(x) + fw.sum(w))), x=POINT, W=W) == pytest.approx(value)


SQUARE = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]])
PSD = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
V = np.array([[1.0, 0, 0], [0, 2.0, 0], [0, 0, 3.0], [0, 0, 0]])
# name -> arguments, a point on the boundary or inside, a point outside; of the sets that the oracle translates itself
MEMBERS = {
    "l1_ball": ((2.3,), POINT, 1.1 * POINT),
    "l2_ball": ((1.5,), POINT, 1.1 * POINT),
    "linf_ball": ((1.2,), POINT, 1.1 * POINT),
    "box": ((-1.2, 0.7), POINT, 1.1 * POINT),
    "nonnegative": ((), abs(POINT), POINT),
    "simplex": ((2.0,), np.array([0.0, 1.5, 0.5]), np.array([0.0, 1.0, 0.5])),
    "solid_simplex": ((2.0,), np.array([0.0, 1.0, 0.5]), np.array([0.0, 2.0, 0.5])),
    "ksupport_ball": ((2, 1.0), np.array([0.6, 0.8, 0.0]), np.array([0.6, 0.8, 0.1])),
    "group_ball": ((2.0, [[0, 1], [2]]), np.array([0.6, 0.8, 1.0]), np.array([0.6, 0.8, 1.1])),
    "affine": ((np.ones((1, 3)), np.array([2.0])), np.array([1.0, 0.5, 0.5]), np.array([1.0, 0.5, 0.6])),
    "halfspace": ((np.ones(3), 2.0), np.array([1.0, 0.5, 0.5]), np.array([1.0, 0.5, 0.6])),
    "polytope": ((V,), np.array([0.5, 1.0, 0.0]), np.array([0.6, 1.0, 0.0])),
    "sorted_l1_ball": ((2.0, [2.0, 1.0, 0.0]), np.array([0.5, -1.0, 0.5]) * 0.8, np.array([0.5, -1.0, 0.5])),
    "permutahedron": ((np.array([1.0, 2.0, 3.0]),), np.array([2.0, 1.0, 3.0]), np.array([2.0, 0.9, 3.1])),
    "fro_ball": ((3.0,), np.ones((3, 3)), 1.1 * np.ones((3, 3))),
    "nuclear_ball": ((3.0,), np.ones((3, 3)), np.ones((3, 3)) + 0.1 * np.eye(3)),
    "spectral_ball": ((3.0,), np.ones((3, 3)), 1.1 * np.ones((3, 3))),
    "lp_ball": ((3.0, 1.5), POINT, 3 * POINT),
    "l21_ball": ((5.2,), np.ones((3, 3)), 1.1 * np.ones((3, 3))),
    "l1_inf_ball": ((3.0,), np.ones((3, 3)), 1.1 * np.ones((3, 3))),
    "simplex_product": ((), SQUARE, 1.1 * SQUARE),
    "birkhoff": ((), SQUARE, np.eye(3)[[0, 0, 1]]),
    "psd": ((), PSD, PSD - 1.1 * np.eye(3)),
    "spectrahedron": ((5.0,), PSD, PSD + 0.1 * np.eye(3)),
    "solid_spectrahedron": ((5.0,), PSD, PSD + 0.1 * np.eye(3)),
    "rows": ((fw.simplex(1),), SQUARE, 1.1 * SQUARE),
    "columns": ((fw.l2_ball(1),), SQUARE, 2 * SQUARE),
    "vec": ((fw.simplex(3),), SQUARE, 1.1 * SQUARE),
}
#: Sets whose translation has helping variables: membership is whether a point can be projected on itself.
LIFTED = ("ksupport_ball", "polytope", "permutahedron")


def test_every_set_is_here_or_has_a_translation_of_its_own():
    """The public checks compare that with its formulas."""
    assert set(MEMBERS) <= set(SETS)
    assert all(SETS_BY_CLASS[name].cvxpy is not ConvexSet.cvxpy for name in set(SETS) - set(MEMBERS))


@pytest.mark.parametrize("name", MEMBERS)
def test_sets(name: str):
    args, inside, outside = MEMBERS[name]
    members = getattr(fw, name)(*args) if SETS[name].parameters else getattr(fw, name)
    of = SETS[name].of
    if of == "symmetric":
        v = fw.symmetric_var(3, name="v")
    else:
        v = fw.matrix(3, 3, name="v") if inside.ndim == 2 else fw.vector(3, name="v")
    if name in LIFTED:
        for point, distance in ((inside, 0.0), (outside, 0.01)):
            translator = Translator(fw.minimize(fw.sum_squares(v - point), v.in_(members)).instance)
            problem = translator.problem()
            problem.solve(solver="CLARABEL")
            assert problem.value <= 1e-6 if distance == 0.0 else problem.value >= 1e-4
        return
    problem = fw.minimize(fw.sum(v), v.in_(members))
    assert violation(problem, v=inside) <= 1e-9
    assert violation(problem, v=outside) >= 1e-3


def test_infinite_bounds_are_left_out():
    x = fw.vector(3, name="x")
    lo = fw.data("lo", fw.vector_type(3), np.array([0.0, -1.0, 1.0]))
    translator = Translator(fw.minimize(fw.sum(x), x.in_(fw.box(lo, float("inf")))).instance)
    (constraint,) = translator.problem().constraints
    assert constraint.shape == (3,)


def test_comparisons():
    x = fw.vector(3, name="x")
    problem = fw.minimize(fw.norm1(x), X @ x <= 1 + Z, fw.sum(x) == POINT.sum(), x >= -1.2)
    assert violation(problem, x=POINT) <= 1e-12
    assert violation(problem, x=POINT + 0.1) >= 0.09


def test_a_variable_that_no_term_has_is_left_out() -> None:
    problem = fw.parse("data b: vector[n]\nvar x: vector[n], y: real\nminimize sum_squares(x - b)\n").bind(b=np.ones(3))
    assert solve_oracle(problem.instance).value == pytest.approx(0.0, abs=1e-9)
