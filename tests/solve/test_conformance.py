"""Every loss x regulariser x set x layout x method against the oracle and against its own certificate."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.oracle import solve_oracle
from tests.problems import LAYOUTS, LOSSES, NONSMOOTH, REGULARISERS, SETS, SMOOTH, RandomProblem, random_problem

pytest.importorskip("cvxpy")


def check(problem: RandomProblem, method: str = "auto", tol: float = 1e-7, **options: object) -> object:
    """Solve, and compare with the oracle: within 1e-6, or a certificate of at most 1e-8 that contradicts the oracle's residual."""
    bound = fw.parse(problem.text).bind(**problem.data)
    solution = bound.solve(method=method, tol=tol, threads=1, **options)
    assert solution.status == "optimal", f"{problem.text}\n{solution.reason} {solution.certificate}"
    certificate = solution.certificate
    assert certificate.relative_gap <= tol
    assert certificate.infeasibility <= 1e-7
    slack = 1e-9 * max(abs(certificate.objective), abs(certificate.dual_bound), 1e-3 * certificate.scale)
    if certificate.infeasibility <= 1e-12:
        assert certificate.dual_bound <= certificate.objective + slack
    oracle = solve_oracle(bound.instance)
    scale = max(1.0, abs(oracle.value))
    off = abs(solution.objective - oracle.value) / scale
    narrow = certificate.relative_gap <= 1e-8 and oracle.residual >= 0.1 * off
    assert off <= 1e-6 or narrow, (
        f"{problem.text}\n{solution.objective!r} against {oracle.value!r} ({oracle.residual:.1e})"
    )
    return solution


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("regulariser", REGULARISERS)
def test_every_loss_with_every_regulariser(loss: str, regulariser: str) -> None:
    check(random_problem(hash_of(loss, regulariser), loss, regulariser, set_="", layout="dense"))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("set_", SETS)
def test_every_loss_on_every_set(loss: str, set_: str) -> None:
    check(random_problem(hash_of(loss, set_), loss, regulariser="", set_=set_, layout="csr"))


@pytest.mark.parametrize("regulariser", REGULARISERS)
@pytest.mark.parametrize("set_", SETS)
def test_every_regulariser_on_every_set(regulariser: str, set_: str) -> None:
    check(random_problem(hash_of(regulariser, set_), "squared", regulariser, set_, layout="dense"))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("method", ["apg", "frank_wolfe", "pdhg"])
def test_every_method_on_every_layout(layout: str, method: str) -> None:
    tol = 1e-4 if method == "frank_wolfe" else 1e-7
    problem = random_problem(hash_of(layout, method), "logistic", "", "l1_ball(1.5)", layout, intercept=False)
    solution = fw.parse(problem.text).bind(**problem.data).solve(method=method, tol=tol, threads=1)
    assert solution.status == "optimal"
    assert solution.method == method
    reference = fw.parse(problem.text).bind(**problem.data).solve(tol=1e-9, threads=1)
    assert abs(solution.objective - reference.objective) <= 2 * tol * abs(reference.objective)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("l1_ball(1.5)", "simplex(1)"),
        ("l1_ball(1)", "linf_ball(0.4)"),
        ("l2_ball(1)", "nonnegative"),
        ("l1_ball(1)", "box(-0.1, 0.6)"),
        ("simplex(1)", "box(0, 0.6)"),
        ("linf_ball(1)", "nonnegative"),
    ],
)
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_pairs_of_sets(first: str, second: str, loss: str) -> None:
    problem = random_problem(hash_of(first, second, loss) % 1000, loss, "", first, "dense", second, intercept=False)
    if "simplex" in first and problem.data["A"].shape[1] < 2:
        problem = random_problem(7, loss, "", first, "dense", second, intercept=False)
    check(problem, tol=1e-6)


@pytest.mark.parametrize("loss", SMOOTH)
def test_pdhg_agrees_with_apg_on_smooth_losses(loss: str) -> None:
    problem = random_problem(hash_of(loss), loss, "norm1", "", "dense", intercept=False)
    check(problem, method="pdhg", tol=1e-6)


@pytest.mark.parametrize("loss", NONSMOOTH)
def test_an_intercept_meets_its_equality(loss: str) -> None:
    solution = check(random_problem(hash_of(loss), loss, "norm1", "", "dense", intercept=True))
    assert solution.certificate.kind == "exact"


@pytest.mark.parametrize("seed", range(60))
def test_random_problems(seed: int) -> None:
    check(random_problem(seed))


@pytest.mark.slow
def test_ten_thousand_certificates_cover_the_suboptimality() -> None:
    """The certified gap is at least the true suboptimality, known from a solve to a hundredth of it."""
    wrong = []
    for seed in range(10_000, 20_000):
        problem = random_problem(seed)
        rough = problem.solve(tol=1e-3, threads=1)
        fine = problem.solve(tol=1e-7, threads=1)
        scale = max(abs(fine.objective), 1e-3 * fine.certificate.scale)
        if (
            rough.objective - fine.objective > rough.gap + 1e-6 * scale
            or fine.dual_bound > rough.objective + 1e-6 * scale
        ):
            wrong.append((seed, rough.certificate, fine.certificate))
    assert not wrong


def test_a_solve_stopped_by_a_limit_never_says_optimal() -> None:
    for seed in range(40):
        problem = random_problem(seed)
        for options in ({"max_iter": 1}, {"max_iter": 3}, {"time": 0.0}):
            solution = problem.solve(tol=1e-13, threads=1, **options)
            assert solution.status in ("tolerance_not_reached", "optimal")
            assert (solution.status == "optimal") == (solution.relative_gap <= 1e-13 and solution.infeasibility <= 1e-7)
            assert all(np.all(np.isfinite(v)) for v in solution.variables.values())


def test_threads_do_not_change_a_bit() -> None:
    for seed in range(25):
        problem = random_problem(seed)
        one = problem.solve(threads=1, max_iter=50, tol=1e-9)
        two = problem.solve(threads=2, max_iter=50, tol=1e-9)
        for name in one.variables:
            assert np.array_equal(one[name], two[name])
        assert one.dual_bound == two.dual_bound


def hash_of(*words: str) -> int:
    """A seed that does not change from run to run."""
    return sum(ord(c) * (31**i % 9973) for i, c in enumerate("".join(words))) % 100_000
