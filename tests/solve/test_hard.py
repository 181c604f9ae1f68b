"""Programs that once broke the solver: overflow, divergence, limits inside the repair, bad scaling, rounding at bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.dual import repair
from fwdsl.backends.newton import NewtonFace, newton_step
from fwdsl.backends.problem import PreparedProblem
from fwdsl.certify.verify import verify
from fwdsl.solve import attempts
from tests.problems import random_problem

RNG = np.random.default_rng(0)


def solve(text: str, options: dict | None = None, **data: object):  # type: ignore[no-untyped-def]
    return fw.parse(text).bind(**data).solve(**{"threads": 1, **(options or {})})


def test_an_unbounded_program_is_proven_so() -> None:
    text = "data h: vector[n]\nvar x: vector[n]\nminimize norm1(x - h) - 9 * sum(x)\n"
    solution = solve(text, h=np.ones(4))
    assert solution.status == "unbounded"
    assert solution.dual_bound == -np.inf
    assert "without bound" in solution.reason
    assert np.all(np.isfinite(solution["x"]))


def test_an_infeasible_program_is_proven_so() -> None:
    solution = solve(
        "var x: vector[2]\nminimize sum_squares(x)\nsubject to\n    sum(x) == 1\n    sum(x) == 2\n", {"max_iter": 2000}
    )
    assert solution.status == "infeasible"
    assert solution.dual_bound == np.inf
    assert "`sum(x) == 1` and `sum(x) == 2` cannot hold together" in solution.reason
    assert solution.infeasibility > 1e-3


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (
            "data A: matrix[n, d], b: vector[n]\nparam c: real\nvar x: vector[d]\nminimize sum(squared(A @ x / c, b))\n",
            {"c": 0.0},
        ),
        (
            "data A: matrix[n, d], b: vector[n]\nparam c: real\nvar x: vector[d]\nminimize sum(squared(A @ x, b / c))\n",
            {"c": 0.0},
        ),
        (
            "data A: matrix[n, d], b: vector[n]\nparam c: positive\nvar x: vector[d]\nminimize c * 10 * sum(squared(A @ x, b))\n",
            {"c": 1e308},
        ),
        (
            "data A: matrix[n, d], b: vector[n]\nparam c: real\nvar x: vector[d]\nminimize sum(squared(A @ x / c, b))\n",
            {"c": 1e-320},
        ),
    ],
)
def test_numbers_that_are_not_finite_are_a_diagnostic(text: str, data: dict) -> None:
    with pytest.raises(fw.FwError) as caught:
        solve(text, A=np.ones((3, 2)), b=np.ones(3), **data)
    assert caught.value.code == "FW5011"


def test_overflowing_data_end_with_a_status() -> None:
    solution = solve(
        "data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\n",
        A=1e160 * RNG.standard_normal((5, 3)),
        b=np.ones(5),
    )
    assert solution.status == "tolerance_not_reached"


def in_unit(unit: float, method: str) -> fw.Solution:
    rng = np.random.default_rng(0)
    return solve(
        "data A: matrix[n, d], B: matrix[n, k]\nvar X: matrix[d, k] in nuclear_ball(2)\nminimize sum_squares(A @ X - B)\n",
        {"method": method, "max_iter": 500},
        A=unit * rng.standard_normal((20, 6)),
        B=unit * rng.standard_normal((20, 4)),
    )


def test_spectra_that_overflow_end_with_a_status() -> None:
    solution = in_unit(1e100, "apg")
    assert solution.status == "tolerance_not_reached"
    assert solution.reason.startswith(("the objective is no longer finite", "a decomposition failed"))


def test_blocks_of_factors_take_data_of_any_size() -> None:
    large, usual = (in_unit(unit, "block_fw") for unit in (1e100, 1.0))
    assert large.status == usual.status == "optimal"
    assert large.objective == pytest.approx(1e200 * usual.objective, rel=1e-5)


@pytest.mark.parametrize("set_", ["nuclear_ball(2)", "spectral_ball(2)"])
def test_matrices_that_are_not_finite_have_no_spectrum(set_: str) -> None:
    text = f"data B: matrix[n, k]\nvar X: matrix[n, k] in {set_}\nminimize sum_squares(X - B)\n"
    g = fw.parse(text).bind(B=np.eye(3)).canonical.blocks[0].g
    v = np.full(9, np.nan)
    assert np.isnan(g.conjugate(v))
    assert np.isnan(g.prox(v, 1.0)).all()


def test_a_wild_start_ends_with_a_status() -> None:
    A = RNG.standard_normal((50, 4))
    k = RNG.poisson(1.0, 50).astype(float)
    text = "data A: matrix[n, d], k: vector[n] in nonnegative\nvar x: vector[d]\nminimize mean(poisson(A @ x, k))\n"
    solution = solve(text, {"start": {"x": np.full(4, 1e3)}, "max_iter": 200}, A=A, k=k)
    assert solution.status in ("optimal", "tolerance_not_reached")


def test_the_repair_ends_when_it_is_asked_to() -> None:
    A, b = RNG.standard_normal((60, 40)), RNG.standard_normal(60)
    text = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize mean(absolute(A @ x, b))\n"
    canonical = fw.parse(text).bind(A=A, b=b).canonical
    y = [RNG.uniform(-1e-3, 1e-3, 60)]
    for limit in (0, 1, 5):
        problem, asked = PreparedProblem(canonical, 1), []

        def stop(asked: list = asked, limit: int = limit) -> bool:
            asked.append(True)
            return len(asked) > limit

        repair(problem, y, np.zeros(40), stop)
        assert problem.passes <= 3 + 4 * limit


def test_an_equality_beside_tiny_data_is_met() -> None:
    text = (
        "data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nvar t: real\n"
        "minimize mean(squared(A @ x + t, b)) + 0.003 * norm2(x[0:1]) + 0.013 * norm1(x - 1)\n"
    )
    assert solve(text, A=np.array([[1.0, -1.0, 0.0, 2.0]]), b=np.array([0.7])).status == "optimal"


@pytest.mark.parametrize("set_", ["l1_ball(1)", "nonnegative", "box(-1, 1)"])
def test_columns_of_very_different_scale(set_: str) -> None:
    rng = np.random.default_rng(0)
    scale = np.logspace(0, 6, 50)
    A = rng.standard_normal((300, 50)) * scale
    b = A @ (rng.standard_normal(50) / scale) + rng.standard_normal(300)
    text = f"data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in {set_}\nminimize mean(squared(A @ x, b))\n"
    assert solve(text, A=A, b=b).status == "optimal"


def test_a_newton_step_of_length_zero_is_none() -> None:
    rng = np.random.default_rng(3)
    A = rng.standard_normal((40, 40))
    A[:, -1] = A[:, 0]
    y = np.sign(rng.standard_normal(40))
    text = "data A: matrix[n, d], y: signs[n]\nvar x: vector[d] in box(-inf, 0.3)\nminimize sum(squared_hinge(A @ x, y)) + 0.05 * sum(x)\n"
    assert solve(text, A=A, y=y).status == "optimal"


def test_rounding_does_not_decide_a_newton_step_where_columns_repeat() -> None:
    """The damped system divides what rounding leaves of the right side in the null space."""
    rng = np.random.default_rng(5)
    A = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 8))
    data = {"A": A, "b": rng.standard_normal(40)}
    text = (
        "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in l1_ball(3)\nminimize mean(huber(A @ x, b, delta=20))\n"
    )
    problem = PreparedProblem(fw.parse(text).bind(**data).canonical, 1)
    x = 0.1 + 0.2 * rng.random(8)
    steps = []
    for turned in (0.0, 1e-16, -1e-16):
        z = problem.forward(x)
        value = problem.objective(x, z)
        _, ys = problem.losses_gradient(z)
        grad = problem.adjoint(ys)
        face = NewtonFace.at(problem, x)
        assert face is not None
        noise = turned * np.abs(grad).max() * np.sign(rng.standard_normal(8))
        taken = newton_step(problem, face, x, z, value, grad + noise)
        assert taken is not None
        steps.append(taken[0])
    np.testing.assert_allclose(steps[1:], [steps[0]] * 2, rtol=0.0, atol=1e-3 * np.abs(steps[0]).max())


def test_the_dual_of_a_symmetric_matrix_is_made_up_for_by_its_squares() -> None:
    """One entry of y for each of X, though the map takes the symmetric part: what the other terms leave is absorbed at once."""
    rng = np.random.default_rng(2)
    text = (
        "data y: signs[n], U: matrix[n, d]\nvar X: symmetric[d] in psd\n"
        "minimize mean(logistic(quad(U, X), y)) + 0.1 * sum_squares(2 * X - eye(d))\n"
    )
    bound = fw.parse(text).bind(y=np.where(rng.random(15) < 0.5, 1.0, -1.0), U=rng.standard_normal((15, 4)))
    problem = PreparedProblem(bound.canonical, 1)
    X = rng.standard_normal((4, 4))
    x = (X @ X.T).ravel()
    ys = [
        f.f.into_domain(-0.02 * rng.random(t.map.rows))
        for f, t in zip(problem.functions[:1], problem.terms, strict=False)
    ]
    S = rng.standard_normal((4, 4))
    found = repair(problem, [*ys, (S + S.T).ravel()], x)
    V = -(problem.q + problem.adjoint(found)).reshape(4, 4)
    assert np.linalg.eigvalsh(V).max() <= 1e-13
    np.testing.assert_array_equal(found[0], ys[0])


def test_a_bound_above_the_objective_is_never_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*args):  # type: ignore[no-untyped-def]
        honest = verify(*args)
        return replace(honest, bound=replace(honest.bound, value=honest.primal * (1 + 1e-7)))

    monkeypatch.setattr(attempts, "verify", wrong)
    solution = solve(
        "data b: vector[n]\nvar x: vector[n] in l1_ball(1)\nminimize sum_squares(x - b)\n",
        {"max_iter": 50},
        b=np.arange(4.0),
    )
    assert solution.status == "tolerance_not_reached"
    assert "FW9002" in solution.reason
    assert solution.certificate.kind == "estimate"


def test_violations_are_relative_to_the_sizes_of_their_terms() -> None:
    text = "data a: vector[n]\nvar x: vector[n]\nminimize sum_squares(x)\nsubject to dot(a, x) == 0\n"
    canonical = fw.parse(text).bind(a=np.array([1e9, -1e9])).canonical
    assert verify(canonical, np.array([1.0, 1.0 + 1e-12]), None).infeasibility < 1e-11
    assert verify(canonical, np.array([1.0, 1.1]), None).infeasibility > 1e-3


def test_sizes_for_the_rounding_rule_do_not_copy_the_data() -> None:
    from fwdsl.canon.data_maps import Matrix

    A = RNG.standard_normal((7, 3))
    x, y = RNG.uniform(size=3), RNG.uniform(size=7)
    absolute = Matrix(A).absolute()
    np.testing.assert_allclose(absolute.apply(x), np.abs(A) @ x)
    np.testing.assert_allclose(absolute.adjoint(y), np.abs(A).T @ y)
    turned = Matrix(A, transposed=True).absolute()
    np.testing.assert_allclose(turned.apply(y), np.abs(A).T @ y)


def test_frank_wolfe_keeps_a_given_start() -> None:
    A, b = RNG.standard_normal((30, 8)), RNG.standard_normal(30)
    bound = fw.parse(
        "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in l1_ball(1)\nminimize mean(squared(A @ x, b))\n"
    ).bind(A=A, b=b)
    best = bound.solve(tol=1e-8)
    cold = bound.solve(method="frank_wolfe", tol=1e-4, threads=1)
    warm = bound.solve(method="frank_wolfe", tol=1e-4, threads=1, start={"x": best["x"]})
    assert warm.iterations < cold.iterations


def test_separable_data_without_a_regulariser_is_warned_of() -> None:
    A = np.array([[1.0, 0.0], [2.0, 1.0], [-1.0, 0.5], [-2.0, 0.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    text = "data A: matrix[n, d], y: signs[n]\nvar x: vector[d]\nminimize mean(logistic(A @ x, y))\n"
    assert any("separable" in w for w in solve(text, A=A, y=y).warnings)
    mixed = solve(text, A=np.vstack([A, A[:1]]), y=np.append(y, -1.0))
    assert not any("separable" in w for w in mixed.warnings)
    assert not solve(text.replace("A @ x, y))", "A @ x, y)) + 0.1 * sum_squares(x)"), A=A, y=y).warnings
    bounded = solve(text.replace("vector[d]", "vector[d] in l1_ball(1)"), A=A, y=y)
    assert not any("separable" in w for w in bounded.warnings)


@pytest.mark.parametrize("loss", ["hinge(A @ x, y)", "squared_hinge(A @ x, y)", "smooth_hinge(A @ x, y)"])
def test_separable_data_of_a_hinge_have_a_minimum(loss: str) -> None:
    A = np.array([[1.0, 0.0], [2.0, 1.0], [-1.0, 0.5], [-2.0, 0.0]])
    text = f"data A: matrix[n, d], y: signs[n]\nvar x: vector[d]\nminimize mean({loss})\n"
    found = solve(text, A=A, y=np.array([1.0, 1.0, -1.0, -1.0]))
    assert found.status == "optimal" and abs(found.objective) <= 1e-9
    assert not any("separable" in w for w in found.warnings)


def test_a_newton_step_may_end_on_a_curved_boundary() -> None:
    assert random_problem(10981).solve(threads=1).status == "optimal"


def test_a_transposed_copy_lives_as_long_as_its_data() -> None:
    """`apg` is a method that goes by products with sparse data, which are taken by columns from such a copy; methods of Gram matrices need none."""
    import gc

    import scipy.sparse as sp

    from fwdsl.backends import problem as module

    gc.collect()  # of what other tests left
    before = len(module._KEPT)
    text = "data A: matrix[n, d], b: vector[n]\nparam r: positive\nvar x: vector[d] in l1_ball(r)\nminimize mean(squared(A @ x, b))\n"
    A = sp.csr_array(RNG.standard_normal((30, 5)))
    first = fw.parse(text).bind(A=A, b=RNG.standard_normal(30), r=1.0)
    first.solve(threads=1, method="apg")
    first.bind(r=2.0).solve(threads=1, method="apg")
    assert len(module._KEPT) == before + 1
    del first, A
    gc.collect()
    assert len(module._KEPT) == before


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_accelerated_gradients_settle_below_the_rounding_of_values(seed: int) -> None:
    """Steps that rounding of values hid were too long or far too short, and the bound stood at 1e-6 for ever."""
    rng = np.random.default_rng(seed)
    X, factor = rng.standard_normal((100, 10)), rng.standard_normal((10, 3))
    y = np.square(X @ factor).sum(axis=1) + 0.5 * rng.standard_normal(100)
    text = (
        "data X: matrix[n, d], y: vector[n]\nvar S: symmetric[d] in psd\n"
        "minimize mean(squared(quad(X, S), y)) + 0.01 * trace(S)\n"
    )
    solution = fw.parse(text).bind(X=X, y=y).solve(threads=1, method="apg", tol=1e-9, max_iter=1000)
    assert solution.status == "optimal", solution.reason


@pytest.mark.parametrize("size", [24609.375, 3e-9])
def test_a_fair_game_won_at_a_corner_ends(size: float) -> None:
    """All terms of the objective and of the row that holds it vanish: a point that is better by 1e-109 once stood before the exact one."""
    text = (
        "data A: matrix[m, n]\nvar x: vector[n] in simplex(5.11), t: real\n"
        "minimize 2 * t\nsubject to 0.00048828125 * (A @ x) <= 0.00020820880308747292 * t\n"
    )
    solution = fw.parse(text).bind(A=np.array([[0.0, size], [-size, 0.0]])).solve(threads=1)
    assert solution.status == "optimal", solution.reason
    assert abs(solution.objective) <= 1e-12 * size


#: Feasible programs whose matrices have no interior, and a point of each.
WITHOUT_INTERIOR = {
    "minimize X[0, 1]\nsubject to X[0, 0] <= 0, X[2, 2] == 1, X[1, 1] == 1": 3,
    "minimize trace(X)\nsubject to X[1, 1] == 0, -1 * X[0, 0] + 2 * X[0, 1] == -0.01, trace(X) <= 100": 2,
    "minimize X[0, 1] + X[1, 0] + 1e-6 * X[2, 2] - 2e-6 * X[1, 2]\nsubject to X[0, 0] == 0, X[2, 2] == 1, X[1, 1] <= 1": 3,
    "minimize trace(X)\nsubject to X[0, 0] <= 1e-9, X[0, 1] == 1": 2,
}


@pytest.mark.parametrize("body", WITHOUT_INTERIOR)
def test_a_feasible_matrix_without_an_interior_is_not_called_impossible(body: str) -> None:
    """With 1 on an entry that is 0 at every feasible point, e elsewhere costs e^2, which no decomposition sees."""
    found = solve(f"var X: psd[{WITHOUT_INTERIOR[body]}]\n{body}\n", {"time": 2.0})
    assert found.status in ("optimal", "tolerance_not_reached")


def test_a_matrix_that_cannot_be_is_still_proven_so() -> None:
    for body in ("trace(X) <= -1", "X[0, 0] + X[1, 1] <= 1, X[0, 1] >= 1", "X[0, 0] <= 1, X[1, 1] <= 1, X[0, 1] == 3"):
        assert solve(f"var X: psd[2]\nminimize trace(X)\nsubject to {body}\n").status == "infeasible", body


def test_a_bound_at_hand_takes_the_place_of_one_by_huge_multipliers() -> None:
    """Without an interior multipliers grow for ever, and with them the sizes that a gap is measured by; the box alone bounds the sum by 2."""
    found = solve(
        "data S: symmetric[2]\nvar d: vector[2]\nmaximize sum(d)\nsubject to S - diag(d) in psd, d in box(0, 1)\n",
        {"time": 5.0},
        S=np.ones((2, 2)),
    )
    assert found.dual_bound <= 2.0 + 1e-9
    assert -1e-9 <= found.objective <= 1e-5


@pytest.mark.parametrize("small", [1e-3, 1e-5, 1e-7])
def test_a_bound_measured_at_zero_serves_no_other_point(small: float) -> None:
    """-1 / (4 small) is the optimum, far out; what rounding costs there is nothing at 0, and the bound of 0 once lay beyond the optimum."""
    found = solve(f"var X: psd[2]\nminimize X[0, 1] + {small!r} * X[1, 1]\nsubject to X[0, 0] <= 1\n", {"time": 2.0})
    assert found.dual_bound <= -0.25 / small * (1.0 - 1e-9)
    if small == 1e-3:
        assert found.status == "optimal"
