"""GSFW against a naive transcription of Algorithms 1 and 2, iterate by iterate; its step rules, its oracles, its draws."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from fwdsl.atoms.matrices import build_matrix
from fwdsl.atoms.matrices.spectral import Singular
from fwdsl.atoms.vectors import build
from fwdsl.atoms.vectors.l1_ball import L1Ball
from fwdsl.atoms.vectors.norm1_l1_ball import Norm1L1Ball
from fwdsl.backends.gsfw import rules
from fwdsl.backends.gsfw.general import prescribed_step
from fwdsl.backends.gsfw.gsfw import drawn
from fwdsl.backends.gsfw.oracle import Oracle, oracle
from tests.baselines.common import Naive, bound, data, matrix_data, matrix_text, text
from tests.gsfw.reference import Dual, Primal, rows_of
from tests.runs import started

Array = Any
CLOSE = {"rtol": 1e-10, "atol": 1e-11}
RIDGE = " + 0.05 * sum_squares(x)"

VECTORS = [
    ("logistic", "l1_ball(0.7)", "", "csr"),
    ("squared_hinge", "box(-0.2, 0.3)", " + 0.02 * norm1(x)", "fortran"),
    ("squared", "simplex(1)", "", "csc"),
    ("smooth_hinge", "", " + 0.05 * norm1(x)", "dense"),
    ("logistic", "l1_ball(0.7)", RIDGE, "csr"),
    ("squared", "", RIDGE + " + 0.02 * norm1(x)", "dense"),
    ("smooth_hinge", "ksupport_ball(2, 0.5)", RIDGE, "csr"),
    ("logistic", "simplex(1)", " + 0.3 * entropy(x)", "dense"),
]
COMPILED = (0, 1, 4, 5)
"""The step rules that run through the loops too, each of which takes seconds to compile."""


def vector(case: tuple[str, str, str, str]) -> Any:
    loss, set_, more, layout = case
    return bound(text(loss, set_, more), data(loss, layout))


MATRICES = [
    bound(matrix_text("softmax", "nuclear_ball(2)"), matrix_data("softmax")),
    bound(matrix_text("squared", "", " + 0.1 * sum_squares(X)"), matrix_data("squared", "csr")),
]
PROBLEMS = [
    *(pytest.param(vector(c), id="-".join(c[:2]) + c[2]) for c in VECTORS),
    *(pytest.param(p, id=f"matrix{i}") for i, p in enumerate(MATRICES)),
]


def cases(which: list[int]) -> list[Any]:
    """(problem, whether by the plain iteration)."""
    plain = [pytest.param(*PROBLEMS[k].values, True, id=f"{PROBLEMS[k].id}-plain") for k in which]
    loops = [pytest.param(*PROBLEMS[k].values, False, id=f"{PROBLEMS[k].id}-loop") for k in which if k in COMPILED]
    return plain + loops


EVERY, RIDGED = cases(list(range(10))), cases([4, 5, 6, 7, 9])


@pytest.fixture(autouse=True)
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step is an epoch, however small the data."""
    monkeypatch.setattr("fwdsl.backends.baselines.common.LEAST_WORK", 1)


def stepped(problem: Any, steps: int, plain: bool = False, **options: Any) -> tuple[Any, Naive, Oracle, int]:
    """The state after some epochs, the naive problem, the oracle, the batch."""
    run = started(problem, "gsfw", **options)
    state, found = run.state, run.oracle
    if plain:
        run.oracle = Oracle(found.mu, found.size, plain=found)
    for _ in range(steps):
        run.step()
    return state, Naive(problem), found, round(run.samples.n * state.epochs / max(1, state.k))


def start_of(problem: Any) -> Array:
    return problem.canonical.blocks[0].g.prox(np.zeros(problem.canonical.size), 0.0)


# --- Algorithm 1 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize(("problem", "plain"), EVERY)
def test_the_open_rule_is_algorithm_1(problem: Any, batch: int, plain: bool) -> None:
    state, naive, respond, b = stepped(problem, 5, plain, batch=batch, rule="open")
    N = naive.n / b
    run = Primal(naive, respond, start_of(problem))
    y_sum, total = np.zeros_like(run.s), 0.0
    for i, rows in enumerate(rows_of(naive, b, state.k)):
        y_sum += (2.0 * N + i) * run.slopes(run.s)
        total += 2.0 * N + i
        run.iterate(rows, 2.0 * N / (2.0 * N + i + 1.0), 2.0 * (2.0 * N + i) / ((4.0 * N + i) * (i + 1.0)))
    np.testing.assert_allclose(state.x, run.x, **CLOSE)
    np.testing.assert_allclose(state.s, run.s.reshape(-1), **CLOSE)
    np.testing.assert_allclose(state.y, run.slopes(run.s).reshape(-1), **CLOSE)
    np.testing.assert_allclose(state.kty + naive.q, run.gradient(), **CLOSE)
    # the mean of the dual points, kept row by row
    mean = state.y_sum.reshape(naive.n, -1) + state.y.reshape(naive.n, -1) * (state.total - state.stamp)[:, None]
    np.testing.assert_allclose(mean / state.total, y_sum / total, **CLOSE)
    np.testing.assert_allclose(state.kty_sum / state.total, naive.back(y_sum / total, np.arange(naive.n)), **CLOSE)


@pytest.mark.parametrize("options", [{"batch": 1}, {"batch": 4}, {"batch": 3, "sigma": 2.5}])
@pytest.mark.parametrize(("problem", "plain"), RIDGED)
def test_the_rule_of_theorem_3_2_is_algorithm_1(problem: Any, options: dict[str, Any], plain: bool) -> None:
    state, naive, respond, b = stepped(problem, 5, plain, rule="theory", **options)
    N = naive.n / b
    f = naive.term.f
    squares = np.array([np.square(naive.K[j]).sum(axis=1).max() for j in range(naive.n)])
    weights = np.broadcast_to(f.w.reshape(naive.n, -1).max(axis=1), naive.n)
    largest = np.sort(weights * squares)[::-1][:b].sum()
    sigma = options.get("sigma", 1.0 + f.loss.smoothness * largest / respond.mu)
    assert sigma == pytest.approx(1.0 + state.tau)
    run = Primal(naive, respond, start_of(problem))
    for i, rows in enumerate(rows_of(naive, b, state.k)):
        alpha = sigma**i / N / (sigma ** (i + 1) - (sigma - 1.0 / N) ** (i + 1))
        run.iterate(rows, 1.0 / sigma, alpha)
    np.testing.assert_allclose(state.x, run.x, rtol=1e-8, atol=1e-9)  # the printed alpha cancels
    np.testing.assert_allclose(state.s, run.s.reshape(-1), **CLOSE)


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize(("problem", "plain"), RIDGED)
def test_the_adaptive_rule(problem: Any, batch: int, plain: bool) -> None:
    state, naive, respond, b = stepped(problem, 4, plain, batch=batch)
    f, mu = naive.term.f, respond.mu
    fresh, _, _, _ = stepped(problem, 0, batch=batch)
    tau, most = fresh.tau, fresh.most
    run = Primal(naive, respond, start_of(problem))
    inverse, share = 0.0, 0.0

    def one(s: Array) -> Array:
        """The loss of each sample."""
        if hasattr(f, "b"):
            return (f.w * f.loss.value_naive(s.reshape(-1), f.b, f.p)).reshape(naive.n, -1).sum(axis=1)
        return f.w * f.loss.value_naive(s, f.y)

    def dual(y: Array) -> float:
        """-g* of the dual objective."""
        v = -(naive.back(y, np.arange(naive.n)) + naive.q)
        return -naive.g.conjugate(v)

    for rows in rows_of(naive, b, state.k):
        inverse = 1.0 + (1.0 - share) * inverse
        before, c = run.s.copy(), run.gradient()
        while True:
            run.s = before.copy()
            eta = 1.0 / (1.0 + tau)
            x = run.x
            run.iterate(rows, eta, 1.0 / inverse)
            change, moved = run.gradient() - c, run.last - respond(run.gradient())
            y, y_new = run.slopes(before), run.slopes(run.s)
            of_batch = [float(one(v)[np.unique(rows)].sum()) for v in (before, run.s)]
            distance = of_batch[0] - of_batch[1] - float((y_new * (before - run.s)).sum())
            size = np.abs(of_batch).sum()
            if abs(distance) <= 1e-9 * size:
                distance = 0.5 * float(((y_new - y) * (run.s - before)).sum())
            needed = min(change @ change / (2.0 * mu), moved @ change - 0.5 * mu * moved @ moved)
            # what is needed bounds the Bregman distance of g*, so that the dual objective grows as in the proof
            assert dual(y) - dual(y_new) + run.last @ change <= needed + 1e-9
            if tau >= most or needed <= 1.000001 * tau * distance or distance <= 1e-18 * size:
                break
            tau = min(most, max(2.0 * tau, min(needed / distance, 16.0 * tau)))
            run.x = x
        share = eta * b / naive.n
        if distance > 1e-18 * size and needed < 0.5 * tau * distance:
            tau /= 1.3
    np.testing.assert_allclose(state.s, run.s.reshape(-1), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(state.x, run.x, rtol=1e-6, atol=1e-7)
    assert state.tau == pytest.approx(tau, rel=1e-6)


# --- Algorithm 2 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize(
    ("options", "more"), [({"rule": "open"}, ""), ({"rule": "open"}, RIDGE), ({"rule": "theory", "sigma": 3.0}, RIDGE)]
)
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_algorithm_2_is_the_same_in_the_dual(loss: str, options: dict[str, Any], more: str, batch: int) -> None:
    problem = bound(text(loss, "l1_ball(0.7)", more), data(loss, "csr"))
    run = started(problem, "gsfw", batch=batch, **options)
    state, naive, respond = run.state, Naive(problem), run.oracle
    dual, primal = (
        Dual(naive, respond, loss, start_of(problem)),
        Primal(naive, respond, start_of(problem)),
    )
    index = rows_of(naive, batch, 24)
    a_step = round(naive.n / batch)
    for i, rows in enumerate(index):
        eta = rules.open_loop(i, 1, naive.n / batch)[0][0] if options["rule"] == "open" else 1.0 / 3.0
        dual.iterate(rows, eta)
        primal.iterate(rows, eta, 0.5)
        np.testing.assert_allclose(dual.last, primal.last, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(dual.w * dual.u, primal.slopes(primal.s)[:, 0], rtol=1e-8, atol=1e-10)
        if (i + 1) % a_step == 0:
            run.step()
            np.testing.assert_allclose(state.y, dual.w * dual.u, rtol=1e-8, atol=1e-10)


# --- step rules ----------------------------------------------------------------------------------------------------------------


def test_alphas_of_the_open_rule_make_the_weighted_mean() -> None:
    _, alphas, gammas = rules.open_loop(0, 50, 7.5)
    np.testing.assert_allclose(alphas, gammas / np.cumsum(gammas), rtol=1e-14)


def test_alphas_of_the_linear_rule_are_the_printed_ones() -> None:
    batches, sigma = Fraction(20), Fraction(13, 10)
    _, alphas = rules.linear(0, 60, float(batches), float(sigma))
    printed = [sigma**i / batches / (sigma ** (i + 1) - (sigma - 1 / batches) ** (i + 1)) for i in range(60)]
    np.testing.assert_allclose(alphas, [float(a) for a in printed], rtol=1e-13)
    inverse = 0.0
    for alpha in alphas:
        inverse = 1.0 + (1.0 - 1.0 / 26.0) * inverse
        assert alpha == pytest.approx(1.0 / inverse, rel=1e-13)


def test_alphas_of_the_linear_rule_stay_finite_where_powers_do_not() -> None:
    for sigma in (1.0, 1e4):
        _, alphas = rules.linear(1_000_000, 3, 10.0, sigma)
        assert np.all((alphas > 0.0) & (alphas <= 1.0)) and alphas[0] >= 1.0 / (10.0 * sigma)
    np.testing.assert_array_equal(rules.linear(0, 3, 1.0, 1.0)[1], np.ones(3))


# --- oracles -------------------------------------------------------------------------------------------------------------------

SETS: list[tuple[Any, Any]] = [
    (None, ("l1_ball", {"r": 2.0})),
    (None, ("l2_ball", {"r": 2.0})),
    (None, ("linf_ball", {"r": 0.5})),
    (None, ("box", {"lo": np.linspace(-1.0, 0.3, 6), "hi": np.linspace(0.4, 2.0, 6)})),
    (None, ("simplex", {"r": 1.5})),
    (None, ("solid_simplex", {"r": 1.5})),
    (None, ("ksupport_ball", {"k": 2, "r": 1.5})),
    (("norm1", 0.4), ("l1_ball", {"r": 2.0})),
    (("norm1", 0.4), ("l2_ball", {"r": 2.0})),
    (("norm1", 0.4), ("linf_ball", {"r": 0.5})),
    (("norm1", 0.4), ("box", {"lo": np.linspace(-1.0, 0.3, 6), "hi": np.linspace(0.4, 2.0, 6)})),
    (("norm1", 0.4), ("simplex", {"r": 1.5})),
    (("norm1", 0.4), ("solid_simplex", {"r": 1.5})),
    (("norm2", 0.9), ("l2_ball", {"r": 2.0})),
    (("norm_inf", 2.0), ("linf_ball", {"r": 0.5})),
    (("entropy", 0.7), ("simplex", {"r": 1.5})),
]


def attains(g: Any, respond: Any, conjugate: Any, size: int = 6, inside: Any = None) -> None:
    """<-c, x> - g(x) is the conjugate at -c, at x in the domain, for slopes small and large."""
    rng = np.random.default_rng(3)
    for scale in (0.1, 0.5, 1.0, 3.0):
        for _ in range(5):
            c = scale * rng.standard_normal(size)
            x = respond(c)
            assert (inside or g).violation(x) <= 1e-12
            assert -c @ x - g.value(x) == pytest.approx(conjugate(-c), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize(("norm", "set_"), SETS)
def test_the_oracle_attains_the_conjugate(norm: Any, set_: Any) -> None:
    g = build(norm, set_, 6)
    found = oracle(g, np.zeros(6), 1.0)
    assert found is not None
    attains(g, found, g.conjugate)


@pytest.mark.parametrize(
    ("norm", "ball", "joint"),
    [
        (("norm1", 0.4), "l1_ball", None),
        (("norm2", 0.4), "l2_ball", None),
        (("norm_inf", 0.4), "linf_ball", None),
        (("norm1", 0.4), "solid_simplex", "nonnegative"),
    ],
)
def test_penalties_have_the_oracle_of_their_norm_on_its_implied_ball(norm: Any, ball: str, joint: str | None) -> None:
    g = build(norm, (joint, {}) if joint else None, 6)
    q = np.array([0.01, -0.02, 0.0, 0.03, 0.0, 0.0])
    found = oracle(g, q, 1.2)
    assert found is not None
    slope = {"l1_ball": 0.03, "l2_ball": np.linalg.norm(q), "linf_ball": 0.06, "solid_simplex": 0.02}[ball]
    within = build(norm, (ball, {"r": 1.2 / (0.4 - slope)}), 6)
    attains(within, found, within.conjugate)


def test_a_penalty_that_the_linear_part_outweighs_bounds_nothing() -> None:
    assert oracle(build(("norm1", 0.4), None, 3), np.array([0.0, 0.4, 0.0]), 1.0) is None


MATRIX_SETS: list[tuple[Any, Any]] = [
    (("norm1", 0.4), ("fro_ball", {"r": 2.0})),
    (("norm1", 0.4), ("vec", {"set": ("solid_simplex", {"r": 1.5})})),
    (("norm1", 0.4), ("rows", {"set": ("l1_ball", {"r": 0.7})})),
    (("norm1", 0.4), ("columns", {"set": ("l2_ball", {"r": 0.7})})),
    (("norm21", 0.4), ("rows", {"set": ("l2_ball", {"r": 0.7})})),
    (("norm21", 0.4), ("l21_ball", {"r": 1.5})),
    (("norm1_inf", 0.4), ("l1_inf_ball", {"r": 1.5})),
    (("norm1_inf", 0.4), ("linf_ball", {"r": 0.7})),
    (("norm_nuc", 0.4), ("fro_ball", {"r": 1.5})),
    (("norm_nuc", 0.4), ("spectral_ball", {"r": 1.5})),
    (("norm_spec", 0.4), ("spectral_ball", {"r": 1.5})),
    (("entropy", 0.4), ("vec", {"set": ("simplex", {"r": 1.5})})),
    (("entropy", 0.4), ("rows", {"set": ("simplex", {"r": 1.5})})),
    (("entropy", 0.4), ("columns", {"set": ("simplex", {"r": 1.5})})),
]


@pytest.mark.parametrize(("norm", "set_"), MATRIX_SETS)
def test_norms_of_matrices_on_their_sets(norm: Any, set_: Any) -> None:
    g = build_matrix(norm, set_, (2, 3))
    found = oracle(g, np.zeros(6), 1.0)
    assert found is not None
    attains(g, found, g.conjugate)
    assert found.mu == (0.4 / 1.5 if norm[0] == "entropy" else 0.0)


@pytest.mark.parametrize(
    ("norm", "set_", "ball", "slope"),
    [
        ("norm21", None, "l21_ball", 0.05),
        ("norm21", "nonnegative", "l21_ball", 0.02),
        ("norm1_inf", None, "l1_inf_ball", 0.07),
        ("norm_spec", None, "spectral_ball", 0.07),
        ("norm_fro", "nonnegative", "fro_ball", 0.02),
    ],
)
def test_penalties_of_matrices_on_their_implied_balls(norm: str, set_: str | None, ball: str, slope: float) -> None:
    g = build_matrix((norm, 0.4), (set_, {}) if set_ else None, (2, 3))
    # rows of lengths 0.05 and 0.02, orthogonal
    q = np.array([0.03, 0.04, 0.0, 0.0, 0.0, -0.02])
    found = oracle(g, q, 1.2)
    assert found is not None
    within = build_matrix((norm, 0.4), (ball, {"r": 1.2 / (0.4 - slope)}), (2, 3))
    on_cone = (lambda v: within.conjugate(np.maximum(v, 0.0))) if set_ else within.conjugate
    attains(g, found, on_cone, inside=within)
    assert oracle(g, -40.0 * np.abs(q), 1.2) is None


def test_groups_and_spectra() -> None:
    groups = np.array([0, 0, 1, 1, 2, 2])
    g = build(("group_norm", 0.4, {"groups": groups, "weights": None}), None, 6)
    found = oracle(g, np.zeros(6), 0.8)
    ball = build(None, ("group_ball", {"r": 2.0, "groups": groups, "weights": None}), 6)
    attains(g, found, lambda v: max(0.0, ball.conjugate(v) - 0.8), inside=ball)
    joint = build(("group_norm", 0.4, {"groups": groups}), ("group_ball", {"r": 2.0, "groups": groups}), 6)
    attains(joint, oracle(joint, np.zeros(6), 1.0), joint.conjugate)
    nuclear = Singular((2, 3), ("norm_nuc", None), build(("norm1", 0.4), None, 2))
    within = Singular((2, 3), ("norm_nuc", "nuclear_ball"), Norm1L1Ball(0.4, L1Ball(2, 2.0)))
    for of in (oracle(nuclear, np.zeros(6), 0.8), oracle(within, np.zeros(6), 1.0)):
        attains(within, of, within.conjugate)


# --- draws ---------------------------------------------------------------------------------------------------------------------


def test_batches_are_uniform_sets_of_different_rows() -> None:
    index = drawn(np.random.default_rng(0), 5, 2, 20_000)
    pairs, counts = np.unique(np.sort(index, axis=1), axis=0, return_counts=True)
    assert [tuple(p) for p in pairs] == list(combinations(range(5), 2))
    # ten sets, 2000 each: five standard deviations
    assert np.all(np.abs(counts - 2000) <= 5.0 * np.sqrt(2000 * 0.9))
    assert np.array_equal(np.sort(drawn(np.random.default_rng(0), 5, 5, 2), axis=1), [range(5)] * 2)


@pytest.mark.parametrize("problem", [PROBLEMS[0], PROBLEMS[8]])
@pytest.mark.parametrize("size", [1, 2])
def test_the_subgradient_is_unbiased(problem: Any, size: int) -> None:
    """The mean over all batches of what s moves by is b / n of eta times the subgradient K x~ + b - s of D (with the metric of f*)."""
    run = started(problem, "gsfw", rule="open")
    kernels, before = run.problem, run.state
    eta, n = 0.3, run.samples.n
    batches = list(combinations(range(n), size))
    x = run.oracle(before.kty + kernels.q)
    total = np.zeros_like(before.s)
    for rows in batches:
        s = run.begin(np.zeros(kernels.size), None)
        prescribed_step(run.samples, run.oracle, s, np.array(rows), eta, 0.5, 0.0)
        total += s.s - before.s
    expected = eta * size / n * (kernels.forward(x)[0] - before.s)
    np.testing.assert_allclose(total / len(batches), expected, rtol=1e-11, atol=1e-13)
