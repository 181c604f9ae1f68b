"""Positions, groups, counts and sets that the bound sizes and numbers rule out: each a diagnostic, none a traceback."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw

RNG = np.random.default_rng(5)
N, D = 8, 4
VECTOR: dict[str, Any] = {"A": RNG.standard_normal((N, D)), "b": RNG.standard_normal(N)}
MATRIX: dict[str, Any] = {"A": VECTOR["A"], "Y": RNG.standard_normal((N, 3))}
C = {"C": np.diag(np.arange(1.0, 5.0))}
LEAST = "minimize mean(squared(A @ x, b))"


def of_vector(members: str = "", rest: str = "", data: str = "") -> str:
    return f"data A: matrix[n, d], b: vector[n]{data}\nvar x: vector[d]{members}\n{LEAST}{rest}\n"


def of_matrix(members: str = "", rest: str = "", data: str = "") -> str:
    return f"data A: matrix[n, d], Y: matrix[n, k]{data}\nvar W: matrix[d, k]{members}\nminimize mean(squared(A @ W, Y)){rest}\n"


def of_symmetric(members: str, rest: str = "") -> str:
    return f"data C: symmetric[d]\nvar X: symmetric[d] in {members}\nminimize trace(C @ X){rest}\n"


def found(text: str, **data: Any) -> tuple[str, str]:
    with pytest.raises(fw.FwError) as error:
        fw.parse(text).bind(**data).solve(threads=1, time=1)
    assert len(error.value.diagnostics) == 1
    d = error.value.diagnostics[0]
    return d.code, d.message


BEYOND = "of a group is out of range: there are 4 entries, counted from 0"
AXIS = "is out of range or empty: `x` has 4 entries, counted from 0"
EQUATIONS = of_vector(" in affine(H, h)", data=", H: matrix[m, d], h: vector[m]")

OUT_OF_RANGE = {
    "a range": (of_vector(rest="\nsubject to x[0:9] <= 1"), f"`0:9` {AXIS}"),
    "a position": (of_vector(rest="\nsubject to x[9] <= 1"), f"`9` {AXIS}"),
    "a negative one": (of_vector(rest="\nsubject to x[-5] <= 1"), f"`-5` {AXIS}"),
    "an empty range": (of_vector(rest="\nsubject to x[4:] <= 1"), f"`4:` {AXIS}"),
    "a group": (of_vector(rest=" + group_norm(x, [[0, 1], [2, 3, 7]])"), f"position 7 {BEYOND}"),
    "overlapping": (of_vector(rest=" + group_norm(x, [[0, 1], [1, 2, 3, 9]])"), f"position 9 {BEYOND}"),
    "a ball's group": (of_vector(" in group_ball(1, [[0, 1], [2, 9]])"), f"position 9 {BEYOND}"),
    "k": (of_vector(" in ksupport_ball(9, 1)"), "`k` of `ksupport_ball` is 9, and the set is of vectors of 4 entries"),
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_what_the_sizes_rule_out(name: str) -> None:
    text, message = OUT_OF_RANGE[name]
    assert found(text, **VECTOR) == ("FW4523", message)


def test_a_column_and_a_block_out_of_range() -> None:
    text = of_matrix(rest="\nsubject to W[:, 7] <= 1")
    assert found(text, **MATRIX) == (
        "FW4523",
        "`7` is out of range or empty: axis 1 of `W` has 3 entries, counted from 0",
    )
    text = "data U: matrix[n, d], b: vector[n], t: index[n] of J\nvar F: family[J] of vector[d]\n"
    text += "minimize mean(squared(inner(U, F[5]), b)) + mean(squared(inner(U, F[t]), b))\n"
    code, message = found(text, U=VECTOR["A"], b=VECTOR["b"], t=np.arange(N) % 2)
    assert code == "FW4523" and "`F` has 2 entries" in message


def test_rebinding_a_count_checks_it_again() -> None:
    bound = fw.parse(of_vector(" in ksupport_ball(k, 1)").replace("var", "param k: count\nvar")).bind(k=2, **VECTOR)
    with pytest.raises(fw.FwError, match="`k` of `ksupport_ball` is 5"):
        bound.bind(k=5).solve()


@pytest.mark.parametrize("rest", [" + group_norm(x, [[0, 1], [2]])", " + group_norm(x, [[0, 1], [1, 2]])"])
def test_groups_that_do_not_cover(rest: str) -> None:
    assert found(of_vector(rest=rest), **VECTOR) == ("FW4524", "no group holds position 3 of 4 entries")
    assert found(of_vector(rest=rest).replace("d]", "4]"), **VECTOR) == (
        "FW2072",
        "no group holds position 3 of 4 entries",
    )


def test_a_weight_of_zero_takes_its_group_out() -> None:
    weights = {"g": np.array([0, 0, 1, 1]), "w": np.array([1.0, 0.0]), **VECTOR}
    data = ", g: index[d] of G, w: vector[G] in nonnegative"
    for text, meant in (
        (of_vector(rest=" + group_norm(x, g, weights=w)", data=data), of_vector(rest=" + norm2(x[0:2])")),
        (of_vector(" in group_ball(0.1, g, weights=w)", data=data), of_vector("", "\nsubject to norm2(x[0:2]) <= 0.1")),
    ):
        given = fw.parse(text).bind(**weights).solve(tol=1e-8)
        wanted = fw.parse(meant).bind(**VECTOR).solve(tol=1e-8)
        assert given.status == "optimal"
        assert given.objective == pytest.approx(wanted.objective, rel=1e-6)


EMPTY = {
    "rows of a box": (of_matrix(" in rows(box(l, 1))", data=", l: vector[k]"), {**MATRIX, "l": np.full(3, 2.0)}),
    "equations": (EQUATIONS, {**VECTOR, "H": np.ones((2, D)), "h": np.arange(2.0) + 1.0}),
    "zero equations": (EQUATIONS, {**VECTOR, "H": np.zeros((2, D)), "h": np.arange(2.0) + 1.0}),
    "halfspace": (of_vector(" in halfspace(a, -1)", data=", a: vector[d]"), {**VECTOR, "a": np.zeros(D)}),
    "simplex and l2 ball": (of_vector(" in simplex(4)", "\nsubject to norm2(x) <= 1"), VECTOR),
    "simplex and linf ball": (of_vector(" in simplex(8)", "\nsubject to norm_inf(x) <= 1"), VECTOR),
    "simplex and box": (of_vector(" in simplex(1)", "\nsubject to x <= 0.1"), VECTOR),
    "simplices": (of_vector(" in simplex(1)", "\nsubject to x in simplex(2)"), VECTOR),
    "solid simplex and box": (of_vector(" in solid_simplex(1)", "\nsubject to x >= 1"), VECTOR),
    "box and l1 ball": (of_vector(" in l1_ball(1)", "\nsubject to x >= 1"), VECTOR),
    "rows and entries": (of_matrix(" in simplex_product", "\nsubject to W in rows(simplex(2))"), MATRIX),
    "rows and a norm": (of_matrix(" in simplex_product", "\nsubject to norm21(W) <= 1"), MATRIX),
    "spectrahedra": (of_symmetric("spectrahedron(1)", "\nsubject to X in spectrahedron(2)"), C),
    "spectrahedron and trace norm": (of_symmetric("spectrahedron(3)", "\nsubject to norm_nuc(X) <= 1"), C),
    "spectrahedron and spectral norm": (of_symmetric("spectrahedron(8)", "\nsubject to norm_spec(X) <= 1"), C),
    "birkhoff and box": (
        "data C: matrix[d, d]\nvar X: matrix[d, d] in birkhoff\nminimize sum(C * X)\nsubject to X <= 0.1\n",
        C,
    ),
}


@pytest.mark.parametrize("name", EMPTY)
def test_sets_without_a_common_point(name: str) -> None:
    text, data = EMPTY[name]
    solution = fw.parse(text).bind(**data).solve(threads=1, time=1)
    assert (solution.status, solution.iterations, solution.certificate.kind) == ("infeasible", 0, "exact")
    assert solution.reason == solution.certificate.statement


TOUCHING = {
    "simplex and l2 ball": (of_vector(" in simplex(4)", "\nsubject to norm2(x) <= 2"), VECTOR),
    "simplex and linf ball": (of_vector(" in simplex(4)", "\nsubject to norm_inf(x) <= 1"), VECTOR),
    "simplex and box": (of_vector(" in simplex(1)", "\nsubject to x <= 0.25"), VECTOR),
    "equations said twice": (EQUATIONS, {**VECTOR, "H": np.ones((2, D)), "h": np.ones(2)}),
    "halfspace": (of_vector(" in halfspace(a, 0)", data=", a: vector[d]"), {**VECTOR, "a": np.zeros(D)}),
    "spectrahedron and spectral norm": (of_symmetric("spectrahedron(4)", "\nsubject to norm_spec(X) <= 1"), C),
    "birkhoff and box": (
        "data C: matrix[d, d]\nvar X: matrix[d, d] in birkhoff\nminimize sum(C * X)\nsubject to X <= 0.25\n",
        C,
    ),
}


@pytest.mark.parametrize("name", TOUCHING)
def test_sets_that_touch_are_not_called_empty(name: str) -> None:
    text, data = TOUCHING[name]
    solution = fw.parse(text).bind(**data).solve(threads=1, time=2)
    assert solution.status in ("optimal", "tolerance_not_reached")


def test_labels_of_one_class() -> None:
    text = "data A: matrix[n, d], y: labels[n, k]\nvar W: matrix[d, k]\nminimize mean(softmax(A @ W, y)) + sum_squares(W)\n"
    assert found(text, A=VECTOR["A"], y=["cat"] * N) == ("FW4525", "`y: labels[n, k]` holds one class only, `cat`")
