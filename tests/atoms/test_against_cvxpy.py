"""The prox and the conjugate of every norm, set and pair against a conic solver."""

from __future__ import annotations

import itertools
import math
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from fwdsl.atoms.vectors import ConvexSet, Ridged
from tests.atoms.pairs import GROUPS, LAMBDAS, OPTIONS, Case, each_matrix, each_vector, functions, is_joint, set_within

#: The prox is as far off as the root of the gap.
PRECISE = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def norm_of_vectors(name: str, x: Any) -> Any:
    if name == "entropy":
        return -cp.sum(cp.entr(x))
    if name == "max":
        return cp.max(x)
    if name == "log_sum_exp":
        return cp.log_sum_exp(x)
    if name == "joint_kl_div":
        return cp.sum(cp.kl_div(x[0::2], x[1::2]))
    if name == "geo_mean":
        return -cp.geo_mean(x)
    if name == "norm_p":
        return cp.pnorm(x, OPTIONS["norm_p"]["p"])
    if name == "sum_largest":
        return cp.sum_largest(x, OPTIONS["sum_largest"]["k"])
    if name == "quad_over_lin":
        return cp.quad_over_lin(x[1:], x[0])
    if name == "group_norm":
        return sum(w * cp.norm(x[g], 2) for g, w in zip(GROUPS["groups"], GROUPS["weights"], strict=True))
    if name == "sorted_l1":
        falls = -np.diff(LAMBDAS["lambdas"], append=0.0)
        return sum(fall * cp.sum_largest(cp.abs(x), k) for k, fall in enumerate(falls, start=1) if fall)
    return cp.norm(x, {"norm1": 1, "norm2": 2, "norm_inf": "inf"}[name])


def constraints_of_vectors(on: Any, x: Any) -> list[Any]:
    """x in the set: as its class says it, or else as is said here."""
    name = on.pair[1]
    own = on.cvxpy(x) if isinstance(on, ConvexSet) else None
    if own is not None:
        return own
    if name == "box":
        return [x >= on.lo, x <= on.hi]
    if name == "halfspace":
        return [on.a @ x <= on.b]
    if name == "affine":
        return [on.A @ x == on.b]
    if name == "polytope":
        w = cp.Variable(on.V.shape[0], nonneg=True)
        return [x == on.V.T @ w, cp.sum(w) == 1]
    if name == "permutahedron":
        mix = cp.Variable((on.size, on.size), nonneg=True)
        return [x == mix @ on.c, cp.sum(mix, axis=0) == 1, cp.sum(mix, axis=1) == 1]
    if name == "group_ball":
        return [norm_of_vectors("group_norm", x) <= on.r]
    if name == "lp_ball":
        return [cp.pnorm(x, on.p) <= on.r]
    if name == "sorted_l1_ball":
        return [norm_of_vectors("sorted_l1", x) <= on.r]
    if name == "ksupport_ball":
        # the hull: a sum over the sets of k entries of vectors that live there
        supports = list(itertools.combinations(range(on.size), on.k))
        parts = cp.Variable((len(supports), on.k))
        lengths = cp.norm(parts, 2, axis=1)
        spread = [sum(parts[i, s.index(j)] for i, s in enumerate(supports) if j in s) == x[j] for j in range(on.size)]
        return [*spread, cp.sum(lengths) <= on.r]
    signed = [] if name is None or name.endswith("ball") else [x >= 0]
    if name in (None, "nonnegative"):
        return signed
    if name.endswith("simplex"):
        return [*signed, cp.sum(x) == on.r if name == "simplex" else cp.sum(x) <= on.r]
    return [cp.norm(x, {"l1_ball": 1, "l2_ball": 2, "linf_ball": "inf"}[name]) <= on.r]


def prox_of_fraction(v: Any, t: float, c: float, ridge: float) -> Any:
    """The prox of c |x|^2 / s + ridge (s^2 + |x|^2) at (s, x) = v, by halving its condition of optimality in s, where x = s y / (s e + 2 t c)."""
    e, length = 1.0 + 2.0 * t * ridge, float(v[1:] @ v[1:])

    def rises(s: float) -> float:
        return e * s - v[0] - t * c * length / (s * e + 2.0 * t * c) ** 2

    if rises(0.0) >= 0.0:
        return np.zeros_like(v)
    lo, hi = 0.0, 1.0 + abs(float(v[0])) + length / (t * c)
    for _ in range(200):
        s = 0.5 * (lo + hi)
        lo, hi = (lo, s) if rises(s) > 0.0 else (s, hi)
    return np.concatenate([[lo], lo * v[1:] / (lo * e + 2.0 * t * c)])


def beyond(name: str, u: Any, c: float) -> Any:
    """The inequalities of the domain of a conjugate that is an indicator: at most 0 inside."""
    if name == "joint_kl_div":
        return u[1::2] + c * np.expm1(u[::2] / c)
    return np.array([u[0] + float(u[1:] @ u[1:]) / (4.0 * c)])


def outside(name: str, u: Any, c: float) -> Any:
    """True for the inequalities that a point misses, so that its projection meets them with equality."""
    return beyond(name, u, c) > 0.0


def inwards(name: str, u: Any, by: float = 0.1) -> Any:
    """A point as far inside, in the entries that the inequalities are linear in."""
    moved = u.copy()
    moved[slice(1, None, 2) if name == "joint_kl_div" else 0] -= by
    return moved


@each_vector
def test_prox_and_conjugate_of_vectors(case: Case) -> None:
    rng = np.random.default_rng(14)
    plain = next(functions(case))
    for g, ridge in ((plain, 0.0), (Ridged(plain, 0.3), 0.3)):
        v, t = rng.normal(0.0, 2.0, case.shape), 0.6
        x = cp.Variable(case.shape)
        value = ridge * cp.sum_squares(x)
        if case.norm is not None:
            value += 0.7 * norm_of_vectors(case.norm, x)
        constraints = constraints_of_vectors(set_within(plain), x) if case.on else []
        cp.Problem(cp.Minimize(t * value + cp.sum_squares(x - v) / 2), constraints).solve(solver=cp.CLARABEL, **PRECISE)
        if is_joint(case.norm):
            # the solver meets a rotated cone less exactly than its own condition of optimality is solved
            np.testing.assert_allclose(g.prox(v, t), prox_of_fraction(v, t, 0.7, ridge), atol=1e-12)
        else:
            np.testing.assert_allclose(g.prox(v, t), x.value, atol=2e-5)
        u = g.dual_project(v)
        if (case.norm == "joint_kl_div" or is_joint(case.norm)) and not ridge:
            # the indicator of a curved set: of a point of its boundary the solver cannot tell, so there its own inequality is looked at
            assert g.conjugate(u) == 0.0 and np.all(
                np.abs(beyond(case.norm, u, 0.7)[outside(case.norm, v, 0.7)]) <= 1e-13
            )
            u = inwards(case.norm, u)
            assert np.all(beyond(case.norm, u, 0.7) <= -0.099)
            assert outside(case.norm, v, 0.7).any() and g.conjugate(inwards(case.norm, u, -0.2)) == math.inf
            # both sides are sublinear: what holds in a box around 0 holds everywhere, and the solver has an end
            constraints = [*constraints, cp.norm(x, "inf") <= 1.0]
        highest = cp.Problem(cp.Maximize(u @ x - value), constraints)
        highest.solve(solver=cp.CLARABEL, **PRECISE)
        # the solver's own value: cvxpy takes a logarithm of entries that rounding left below 0 else
        best = highest.solution.opt_val
        assert g.conjugate(u) == pytest.approx(best, abs=1e-5)


def norm_of_matrices(name: str, x: Any) -> Any:
    return {
        "norm1": lambda: cp.sum(cp.abs(x)),
        "norm_inf": lambda: cp.max(cp.abs(x)),
        "norm_fro": lambda: cp.norm(x, "fro"),
        "norm_nuc": lambda: cp.normNuc(x),
        "norm_spec": lambda: cp.sigma_max(x),
        "entropy": lambda: -cp.sum(cp.entr(x)),
        "norm21": lambda: cp.sum(cp.norm(x, 2, axis=1)),
        "norm1_inf": lambda: cp.sum(cp.max(cp.abs(x), axis=1)),
        "max_rownorm2": lambda: cp.max(cp.norm(x, 2, axis=1)),
        "max_rownorm1": lambda: cp.max(cp.sum(cp.abs(x), axis=1)),
        "max": lambda: cp.max(x),
        "log_sum_exp": lambda: cp.log_sum_exp(x),
        "sum_largest": lambda: cp.sum_largest(x, OPTIONS["sum_largest"]["k"]),
        "lambda_max": lambda: cp.lambda_max(x),
        "sum_largest_eigs": lambda: cp.lambda_sum_largest(x, 2),
        "log_det": lambda: -cp.log_det(x),
        "tr_inv": lambda: cp.tr_inv(x),
    }[name]()


def constraints_of_matrices(name: str, arguments: Any, x: Any) -> list[Any]:
    balls = {"nuclear_ball": "norm_nuc", "spectral_ball": "norm_spec", "fro_ball": "norm_fro", "l1_ball": "norm1"}
    balls |= {"linf_ball": "norm_inf", "l21_ball": "norm21", "l1_inf_ball": "norm1_inf"}
    if name in balls:
        return [norm_of_matrices(balls[name], x) <= arguments["r"]]
    if name == "nonnegative":
        return [x >= 0]
    if name == "box":
        return [x >= arguments["lo"], x <= arguments["hi"]]
    if name == "vec":
        return [x >= 0, cp.sum(x) == arguments["set"][1]["r"]]
    if name in ("rows", "columns", "simplex_product"):
        return [x >= 0, cp.sum(x, axis=0 if name == "columns" else 1) == 1.0]
    if name == "birkhoff":
        return [x >= 0, cp.sum(x, axis=0) == 1.0, cp.sum(x, axis=1) == 1.0]
    trace = {
        "psd": [],
        "spectrahedron": [cp.trace(x) == arguments.get("r")],
        "solid_spectrahedron": [cp.trace(x) <= arguments.get("r")],
    }
    return [x >> 0, *trace[name]]


@each_matrix
def test_prox_and_conjugate_of_matrices(case: Case) -> None:
    g = next(functions(case, ridge=False))
    v = np.random.default_rng(14).normal(0.0, 2.0, case.shape)
    v = v + v.T if case.symmetric else v
    x = cp.Variable(case.shape, symmetric=case.symmetric)
    value: Any = 0.0 if case.norm is None else 0.7 * norm_of_matrices(case.norm, x)
    constraints = constraints_of_matrices(case.on, case.arguments[0], x) if case.on else []
    cp.Problem(cp.Minimize(0.6 * value + cp.sum_squares(x - v) / 2), constraints).solve(solver=cp.CLARABEL, **PRECISE)
    np.testing.assert_allclose(g.prox(v.reshape(-1), 0.6).reshape(case.shape), x.value, atol=2e-5)
    if math.isfinite(g.radius()):
        best = cp.Problem(cp.Maximize(cp.sum(cp.multiply(v, x)) - value), constraints).solve(
            solver=cp.CLARABEL, **PRECISE
        )
        assert g.conjugate(v.reshape(-1)) == pytest.approx(best, abs=2e-5)
