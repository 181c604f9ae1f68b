"""A word under another name is treated as ours is: the same method is chosen, takes the same steps and says the same of its certificate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.frank_wolfe.starts import combination
from fwdsl.backends.gsfw.oracle import compiled
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon import canonicalise
from fwdsl.oracle import compare as compare_with_oracle
from fwdsl.oracle import solve_oracle
from fwdsl.testing import check_loss, check_set, registered
from tests.plugins.copies import Bend, Between, Budget, Clipped, Cube, Distance, Quadratic, Shares, Sizes, Tube

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 8))
Y = X @ RNG.normal(size=8) + RNG.normal(size=60)
DATA = {"X": X, "y": Y, "s": np.sign(Y)}

PROGRAM = """\
data X: matrix[n, p]
data y: vector[n]
data s: signs[n]
var w: vector[p]

minimize {}
subject to
  inside: w in {}
"""

SETS = {"l1_ball(1)": "sizes(1)", "simplex(1)": "shares(1)", "box(-0.3, 0.4)": "between(-0.3, 0.4)"}
SQUARED = "mean(squared(X @ w, y))"
LOGISTIC = "mean(logistic(X @ w, s))"
HINGE = "mean(hinge(X @ w, s)) + 0.1 * sum_squares(w)"


@pytest.fixture(autouse=True)
def words() -> Iterator[None]:
    """The words for the time of a test."""
    with registered(Sizes, Shares, Between, Cube, Quadratic, Bend, Distance, Tube, Clipped):
        yield


def outcome(text: str, method: str) -> tuple[Any, ...]:
    """The outcome of a solve: the method, its steps, the value, the certificate, the multipliers; or that it does not apply."""
    try:
        found = fw.parse(text).bind(**DATA).solve(method=method)
    except fw.PlanError as error:
        return (error.code,)
    duals = tuple(np.ravel(found.dual[name]) for name in sorted(found.dual))
    return found.method, found.iterations, found.status, found.certificate.kind, found.objective, duals


def compare(ours: str, other: str, method: str) -> tuple[Any, ...]:
    first, second = outcome(ours, method), outcome(other, method)
    assert first[:4] == second[:4]
    if len(first) > 1:
        assert second[4] == pytest.approx(first[4], rel=1e-12)
        for a, b in zip(first[5], second[5], strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12)
    return first


def test_the_copies_conform() -> None:
    check_set(Sizes)
    check_set(Shares)
    check_set(Between, {"low": -0.3, "high": 0.7}, {"low": np.linspace(-1.0, 0.0, 5), "high": np.linspace(0.5, 2.0, 5)})
    check_set(Cube)
    for loss in (Quadratic, Bend, Distance, Tube, Clipped):
        check_loss(loss)


LOSSES = {
    "hinge(X @ w, s)": "bend(X @ w, s)",
    "absolute(X @ w, y)": "distance(X @ w, y)",
    "epsilon_insensitive(X @ w, y, eps=0.2)": "tube(X @ w, y, eps=0.2)",
    "huber(X @ w, y, delta=0.5)": "clipped(X @ w, y, delta=0.5)",
}


@pytest.mark.parametrize(
    "rest",
    [
        "",
        " + 0.1 * sum_squares(w)",
        " + 0.1 * norm1(w)",
        "\nsubject to\n  whole: sum(w) == 1",
        "\nsubject to\n  inside: w in l1_ball(1)",
    ],
    ids=["free", "ridge", "norm", "equality", "ball"],
)
@pytest.mark.parametrize("ours", LOSSES)
def test_a_loss_gets_the_method_of_ours(ours: str, rest: str) -> None:
    """The conic form, the kink of the conjugate and the pieces are facts of the class."""
    free = PROGRAM.partition("subject to")[0].rstrip()
    found = compare(free.format(f"mean({ours})") + rest, free.format(f"mean({LOSSES[ours]})") + rest, "auto")
    assert found[2] == "optimal" and found[3] == "exact"
    for method in ("dcd", "interior", "coordinate_descent", "apg", "pdhg"):
        compare(free.format(f"mean({ours})") + rest, free.format(f"mean({LOSSES[ours]})") + rest, method)


@pytest.mark.parametrize("objective", [SQUARED, LOGISTIC, HINGE, f"{LOGISTIC} + 0.05 * norm1(w)"])
@pytest.mark.parametrize("ours", SETS)
def test_the_same_method_is_chosen_and_takes_the_same_steps(ours: str, objective: str) -> None:
    found = compare(PROGRAM.format(objective, ours), PROGRAM.format(objective, SETS[ours]), "auto")
    assert found[2] == "optimal"


@pytest.mark.parametrize(
    ("objective", "ours", "method"),
    [
        (SQUARED, "l1_ball(1)", "away_frank_wolfe"),
        (SQUARED, "l1_ball(1)", "coordinate_descent"),
        (f"{SQUARED} + 0.1 * sum_squares(w)", "l1_ball(1)", "pdbfw"),
        (HINGE, "l1_ball(1)", "sdca"),
        (LOGISTIC, "l1_ball(1)", "gsfw"),
        (f"{LOGISTIC} + 0.05 * norm1(w)", "l1_ball(1)", "coordinate_descent"),
        (SQUARED, "simplex(1)", "pivoting"),
        (SQUARED, "simplex(1)", "pairwise_frank_wolfe"),
        (f"{SQUARED} + 0.1 * sum_squares(w)", "simplex(1)", "pdbfw"),
        (SQUARED, "box(-0.3, 0.4)", "coordinate_descent"),
        (SQUARED, "box(-0.3, 0.4)", "pivoting"),
        (f"{SQUARED} + 0.1 * norm1(w[1:] - w[:-1])", "l1_ball(1)", "lines"),
    ],
)
def test_methods_that_are_for_some_sets_take_the_copy(objective: str, ours: str, method: str) -> None:
    found = compare(PROGRAM.format(objective, ours), PROGRAM.format(objective, SETS[ours]), method)
    assert found[0] == method and found[2] == "optimal"


ENTRYWISE = {"linf_ball(0.3)": "cube(0.3)", "l1_ball(1)": "budget(1)", "box(L, 0.5)": "between(L, 0.5)"}


@pytest.mark.parametrize("declared", ["matrix[6, 3]", "symmetric[3]"])
@pytest.mark.parametrize("rest", ["", " + 0.1 * norm1(Z)", " + 0.1 * norm_nuc(Z)"], ids=["alone", "norm1", "norm_nuc"])
@pytest.mark.parametrize("ours", ENTRYWISE)
def test_an_entrywise_set_is_one_of_matrices(ours: str, rest: str, declared: str) -> None:
    """The same method, and the answer of the oracle, which has bounds from the record."""
    program = """\
data A: matrix[n, {}], M: matrix[n, 3], L: matrix[{}, 3]
var Z: {}
minimize sum(squared(A @ Z, M)){}
subject to
  inside: Z in {}
"""
    k = 6 if declared.startswith("matrix") else 3
    rng = np.random.default_rng(5)
    data = {"A": rng.normal(size=(12, k)), "M": rng.normal(size=(12, 3)), "L": rng.uniform(-0.4, 0.0, (k, 3))}
    with registered(Budget):
        problems = [fw.parse(program.format(k, k, declared, rest, on)).bind(**data) for on in (ours, ENTRYWISE[ours])]
        first, second = (problem.solve() for problem in problems)
        assert first.method == second.method and first.status == second.status == "optimal"
        assert second.objective == pytest.approx(first.objective, rel=1e-9)
        np.testing.assert_allclose(second.dual["inside"], first.dual["inside"], rtol=1e-6, atol=1e-6)
        if "budget" not in ENTRYWISE[ours]:
            verdict = compare_with_oracle(second, solve_oracle(problems[1].instance))
            assert verdict.agrees, verdict.text


def test_a_set_of_vectors_in_a_frame_beside_a_norm() -> None:
    M = np.random.default_rng(6).normal(size=(4, 3))
    program = "data M: matrix[n, p]\nvar Z: matrix[n, p]\nminimize sum(squared(Z, M)) + 0.1 * norm1(Z)\nsubject to\n  Z in {}\n"
    first, second = (fw.parse(program.format(on)).bind(M=M).solve() for on in ("vec(l1_ball(1))", "vec(sizes(1))"))
    assert first.method == second.method and second.objective == pytest.approx(first.objective, rel=1e-12)


@pytest.mark.parametrize("ours", SETS)
def test_the_plan_says_the_same_of_the_certificate(ours: str) -> None:
    lines = []
    for on in (ours, SETS[ours]):
        plan = str(fw.parse(PROGRAM.format(SQUARED, on)).plan())
        (line,) = (line for line in plan.splitlines() if line.strip().startswith("certificate"))
        lines.append(line.replace(on.partition("(")[0], "SET"))
    # bounds are written as a box, whatever their name
    assert lines[0] == lines[1].replace("its box", "its SET")


def test_a_start_is_taken_apart_and_the_oracle_is_compiled_alike() -> None:
    found = []
    x = np.array([0.2, -0.3, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0])
    for on in ("l1_ball(1)", "sizes(1)"):
        form, _ = canonicalise(fw.parse(PROGRAM.format(SQUARED, on)).bind(**DATA).instance)
        problem = PreparedProblem(form, 1)
        parts = [(w, a.places.tolist(), a.numbers.tolist()) for w, a in combination(problem, x)]
        found.append((parts, compiled(form.blocks[0].g)))
    assert found[0] == found[1]
    assert len(found[0][0]) == 5


def test_bounds_of_a_copy_meet_others_in_one_box() -> None:
    """The tighter of two bounds holds, whatever the names, and only it has a multiplier."""
    text = PROGRAM.format(SQUARED, "{}") + "  other: w in {}\n"
    (first, second), (a, b) = (
        [fw.parse(text.format(*sets)).bind(**DATA).solve() for sets in pair]
        for pair in (
            (("box(-0.3, 0.4)", "box(-0.2, 1)"), ("box(-0.2, 1)", "box(-0.3, 0.4)")),
            (("between(-0.3, 0.4)", "box(-0.2, 1)"), ("between(-0.2, 1)", "between(-0.3, 0.4)")),
        )
    )
    for ours, other in ((first, a), (second, b)):
        assert other.status == "optimal" and other.objective == pytest.approx(ours.objective, rel=1e-9)
        for name in ("inside", "other"):
            np.testing.assert_allclose(other.dual[name], ours.dual[name], atol=1e-9)


@pytest.mark.parametrize(
    "objective", [f"{SQUARED} + 0.1 * norm1(w)", SQUARED, f"{LOGISTIC} + 0.3 * sum(squared(w, zeros(p)))"]
)
def test_a_loss_that_is_the_square_is_taken_as_squares(objective: str) -> None:
    free = PROGRAM.partition("subject to")[0]
    found = compare(free.format(objective), free.format(objective.replace("squared", "quadratic")), "auto")
    assert found[2] == "optimal"


@pytest.mark.parametrize(("total", "told"), [("most", "`total`"), ("equal", "`total`")])
def test_a_total_that_is_none_is_found(total: Any, told: str) -> None:
    from fwdsl.extend import set_word
    from tests.plugins.copies import RADIUS

    wrong = type(
        "Wrong", (Sizes,), {"word": set_word("wrong", "f.", RADIUS, total=total), "describe": lambda _: "wrong"}
    )
    with pytest.raises(AssertionError, match=told):
        check_set(wrong)
