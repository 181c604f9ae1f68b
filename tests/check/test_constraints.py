"""Constraints: norm form and set form are one, boxes, sets and what they are of, names, warnings."""

from __future__ import annotations

import pytest

from fwdsl.check import format_constraint
from fwdsl.words import CONVEX

from .helpers import accepted, codes, marked, only

DECLARED = """\
data A: matrix[m, d], b: vector[m], c: vector[d], g: index[d] of G, l: vector[d] in nonnegative, C: symmetric[d]
param r: positive, s: real, k: count, mu: nonnegative
var x: vector[d], W: matrix[d, e], S: symmetric[d], t: real, F: family[T] of vector[d], H: family[T] of psd[d]
minimize sum_squares(x)
subject to """

FURTHER = {"group_norm": ", g", "sorted_l1": ", l", "norm_p": ", 3"}
"""The arguments of a norm after its vector."""


def normalised(text: str) -> list[str]:
    return [format_constraint(c) for c in accepted(DECLARED + text + "\n").constraints if c.text != "H in psd"][-5:]


def one(text: str) -> str:
    model = accepted(DECLARED + text + "\n")
    made = [c for c in model.constraints if c.text != "H in psd"]
    assert len(made) == 1
    return format_constraint(made[0])


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("norm1(x) <= r", "x in l1_ball(r)"),
        ("r >= norm1(x)", "x in l1_ball(r)"),
        ("norm1(x) - r <= 0", "x in l1_ball(r)"),
        ("0 >= norm1(x) - r", "x in l1_ball(r)"),
        ("-norm1(x) >= -r", "x in l1_ball(r)"),
        ("2 * norm1(x) <= r", "x in l1_ball(0.5 * r)"),
        ("norm1(x) / r <= 1", "x in l1_ball(r)"),
        ("norm1(x) + 1 <= r + 1 + 1", "x in l1_ball(-1 + (r + 1 + 1))"),
        ("r * norm2(x) <= 3", "x in l2_ball(3 / r)"),
        ("norm1(x) + norm1(x) <= 4", "x in l1_ball(2)"),
        ("norm2(A @ x - b) <= 1", "A @ x - b in l2_ball(1)"),
        ("norm_inf(x) <= 1", "x in linf_ball(1)"),
        ("norm_fro(W) <= 1", "W in fro_ball(1)"),
        ("norm_nuc(W) <= 1", "W in nuclear_ball(1)"),
        ("norm_spec(W) <= 1", "W in spectral_ball(1)"),
        ("norm21(W) <= 1", "W in l21_ball(1)"),
        ("norm1_inf(W) <= 1", "W in l1_inf_ball(1)"),
        ("group_norm(x, g) <= 1", "x in group_ball(1, g)"),
        ("sum_squares(x) <= 4", "x in l2_ball(2)"),
        ("sum_squares(W) <= 4", "W in fro_ball(2)"),
        ("1/2 * sum_squares(A @ x - b) <= r", "A @ x - b in l2_ball(sqrt(2 * r))"),
        ("norm1(t) <= r", "t in box(-r, r)"),
        ("x >= 0", "x in nonnegative"),
        ("0 <= x", "x in nonnegative"),
        ("x <= c", "x in box(-inf, c)"),
        ("x >= 1", "x in box(1, inf)"),
        ("0 <= x <= 1", "x in box(0, 1)"),
        ("1 >= x >= -c", "x in box(-c, 1)"),
        ("-1 <= A @ x <= b", "A @ x in box(-1, b)"),
        ("W <= 1", "W in box(-inf, 1)"),
        ("W >= 0.5", "W in box(0.5, inf)"),
        ("0 <= W <= 1", "W in box(0, 1)"),
        ("W in nonnegative", "W in nonnegative"),
        ("A @ x <= b", "A @ x - b <= 0"),
        ("b >= A @ x", "A @ x - b <= 0"),
        ("x <= t", "x - t <= 0"),
        ("A @ x >= 0", "-A @ x <= 0"),
        ("sum(x) == 1", "sum(x) - 1 == 0"),
        ("A @ x == 0", "A @ x == 0"),
        ("1 == t", "1 - t == 0"),
        ("x in simplex(1)", "x in simplex(1)"),
        ("A @ x - b in l2_ball(r)", "A @ x - b in l2_ball(r)"),
        ("x in l1_ball(r=2)", "x in l1_ball(2)"),
        ("x in box(lo=0, hi=c)", "x in box(0, c)"),
        ("x in box(-inf, 3)", "x in box(-inf, 3)"),
        ("x in ksupport_ball(k, r)", "x in ksupport_ball(k, r)"),
        ("x in ksupport_ball(3, 1)", "x in ksupport_ball(3, 1)"),
        ("x in group_ball(r, [[0, 1], [2]], weights=[1, 2])", "x in group_ball(r, [[0, 1], [2]], weights=[1, 2])"),
        ("x in affine(A, b)", "x in affine(A, b)"),
        ("x in affine(A, 0)", "x in affine(A, 0)"),
        ("x in halfspace(c, 1)", "x in halfspace(c, 1)"),
        ("x in polytope(A)", "x in polytope(A)"),
        ("x in permutahedron(c)", "x in permutahedron(c)"),
        ("W in rows(simplex(1))", "W in rows(simplex(1))"),
        ("W in simplex_product", "W in rows(simplex(1))"),
        ("W in columns(box(0, c))", "W in columns(box(0, c))"),
        ("W in vec(simplex(1))", "W in vec(simplex(1))"),
        ("W in l1_ball(1)", "W in l1_ball(1)"),
        ("S in birkhoff", "S in birkhoff"),
        ("S in psd", "S in psd"),
        ("eye(d) - S in psd", "eye(d) - S in psd"),
        ("S in spectrahedron(r)", "S in spectrahedron(r)"),
        ("S in nuclear_ball(r)", "S in nuclear_ball(r)"),
        ("F in l2_ball(1)", "F in l2_ball(1)"),
        ("H in spectrahedron(1)", "H in spectrahedron(1)"),
        ("t in box(0, 1)", "t in box(0, 1)"),
    ],
)
def test_what_a_constraint_is(text: str, form: str):
    assert one(text) == form


def test_every_norm_form_is_its_set_form():
    for name, function in CONVEX.items():
        if not function.ball or name == "sum_squares":
            continue
        e, more = "x" if "vector" in function.of else "W", FURTHER.get(name, "")
        by_norm = accepted(f"{DECLARED}{name}({e}{more}) <= r\n").constraints[-1]
        given = "3, r" if name == "norm_p" else f"r{more}"
        by_set = accepted(f"{DECLARED}{e} in {function.ball}({given})\n").constraints[-1]
        assert by_norm == by_set


def test_the_set_of_a_declaration_is_a_constraint_like_any_other():
    declared = accepted("param r: positive\nvar x: vector[d] in l1_ball(r)\nminimize sum(x)\n")
    stated = accepted("param r: positive\nvar x: vector[d]\nminimize sum(x)\nsubject to norm1(x) <= r\n")
    assert declared.constraints == stated.constraints
    typed = accepted("var b: nonnegative, X: psd[d]\nminimize b + trace(X)\n")
    assert [format_constraint(c) for c in typed.constraints] == ["b in nonnegative", "X in psd"]


def test_a_type_is_not_called_implied():
    assert (
        codes("var X: psd[d] in spectrahedron(1), b: nonnegative\nminimize trace(X) + b\nsubject to b in box(1, 2)\n")
        == []
    )
    assert codes("var X: psd[d]\nminimize trace(X)\nsubject to X in psd\n") == ["FW2094"]


def test_names_of_constraints():
    model = accepted(f"{DECLARED}budget: sum(x) == 1\n x <= t\n c3: x >= -1\n").constraints
    assert [c.name for c in model] == ["c1", "budget", "c3_", "c3"]
    assert [c.flipped for c in model] == [False, False, False, True]
    assert model[1].text == "sum(x) == 1"
    assert codes(f"{DECLARED}a: sum(x) == 1, a: x <= t\n") == ["FW2002"]
    assert codes(f"{DECLARED}r: sum(x) == 1\n") == ["FW2002"]


def test_a_chain_with_variables_at_both_ends_is_two_constraints():
    model = accepted(f"{DECLARED}order: x[0] <= x[1] <= x[2]\n").constraints
    assert [(c.name, format_constraint(c)) for c in model][1:] == [
        ("order", "x[0] - x[1] <= 0"),
        ("order_2", "x[1] - x[2] <= 0"),
    ]


@pytest.mark.parametrize(
    ("text", "code", "under"),
    [
        ("norm1(x) >= 1", "FW3008", "norm1(x) >= 1"),
        ("1 <= norm1(x)", "FW3008", "1 <= norm1(x)"),
        ("norm1(x) == 1", "FW3009", "norm1(x) == 1"),
        ("x in l1_ball(t)", "FW3010", "t"),
        ("x in box(t, 1)", "FW3010", "t"),
        ("norm1(x) <= norm2(x)", "FW3008", "norm1(x) <= norm2(x)"),
        ("norm1(x) - t >= 0", "FW3008", "norm1(x) - t >= 0"),
        ("norm1(x) == t", "FW3009", "norm1(x) == t"),
        ("norm1(x) <= x", "FW2037", "x"),
        ("squared(A @ x, b) + absolute(A @ x, b) <= 1", "FW3011", "squared(A @ x, b) + absolute(A @ x, b) <= 1"),
        ("squared(A @ x, b) <= x", "FW2037", "x"),
        ("norm1(x) in l1_ball(1)", "FW3005", "norm1(x)"),
        ("norm1(x) <= s", "FW2064", "s"),
        ("norm1(x) <= mu", "FW2064", "mu"),
        ("x in simplex(s)", "FW2064", "s"),
        ("s * norm1(x) <= 1", "FW2064", "s"),
        ("norm1(x) <= -1", "FW2065", "-1"),
        ("norm1(x) <= 0", "FW2065", "norm1(x) <= 0"),
        ("x in l1_ball(0)", "FW2065", "0"),
        ("x in l1_ball(inf)", "FW2065", "inf"),
        ("x in box(1, 0)", "FW2066", "box(1, 0)"),
        ("1 <= x <= 0", "FW2066", "1 <= x <= 0"),
        ("norm1(x) <= b", "FW2037", "b"),
        ("x <= b", "FW2037", "x <= b"),
        ("W == x", "FW2037", "W == x"),
        ("0 <= x >= 1", "FW2055", "0 <= x >= 1"),
        ("0 == x <= 1", "FW2055", "0 == x <= 1"),
        ("r <= 3", "FW2056", "r <= 3"),
        ("A in nonnegative", "FW2056", "A"),
        ("W >= 0", "FW2070", "W >= 0"),
        ("0 <= W", "FW2070", "0 <= W"),
        ("S >= 0", "FW2070", "S >= 0"),
        ("S <= eye(d)", "FW2070", "S <= eye(d)"),
        ("0 <= S <= 1", "FW2070", "0 <= S <= 1"),
        ("C <= t", "FW2070", "C <= t"),
        ("t >= C", "FW2070", "t >= C"),
        ("norm2(F) <= 1", "FW2071", "norm2(F) <= 1"),
        ("W in l2_ball(1)", "FW2052", "l2_ball(1)"),
        ("W in simplex(1)", "FW2053", "simplex(1)"),
        ("W in rows(fro_ball(1))", "FW2053", "fro_ball(1)"),
        ("W in rows(rows(simplex(1)))", "FW2053", "rows(simplex(1))"),
        ("x in fro_ball(1)", "FW2054", "fro_ball(1)"),
        ("W in psd", "FW2054", "psd"),
        ("W in birkhoff", "FW2054", "birkhoff"),
        ("t in l1_ball(1)", "FW2054", "l1_ball(1)"),
        ("x in l1ball(1)", "FW2008", "l1ball"),
        ("x in norm1", "FW2008", "norm1"),
        ("x in c", "FW2008", "c"),
        ("x in l1_ball", "FW2011", "l1_ball"),
        ("x in l1_ball(1, 2)", "FW2011", "2"),
        ("x in l1_ball(radius=1)", "FW2010", "radius"),
        ("x in ksupport_ball(1.5, 1)", "FW2012", "1.5"),
        ("x in ksupport_ball(r, 1)", "FW2012", "r"),
        ("x in l1_ball(c)", "FW2044", "c"),
        ("x in affine(A, c)", "FW2044", "c"),
        ("x in affine(A.T, b)", "FW2044", "A.T"),
        ("x in halfspace(b, 1)", "FW2044", "b"),
        ("x in group_ball(1, b)", "FW2044", "b"),
        ("A @ x <= inf", "FW2060", "A @ x <= inf"),
        ("x <= inf", "FW2060", "x <= inf"),
    ],
)
def test_what_is_refused(text: str, code: str, under: str):
    found = only(f"{DECLARED}{text}\n")
    assert (found.code, marked(found)) == (code, under)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("W >= 0", ["`W in nonnegative`"]),
        ("S >= 0", ["`S in nonnegative`", "`S in psd`"]),
        ("S <= eye(d)", ["`eye(d) - S in nonnegative`", "`eye(d) - S in psd`"]),
        ("W in l2_ball(1)", ["`fro_ball(r)`"]),
        ("W in simplex(1)", ["`rows(simplex(1))`", "`columns(simplex(1))`", "`vec(simplex(1))`"]),
        ("norm1(x) <= s", ["`param s: positive`"]),
        ("norm1(x) == 1", ["`norm1(x) <= ...`", "simplex"]),
        ("norm1(x) <= 0", ["`x == 0`"]),
        ("x in norm2", ["`l2_ball`"]),
        ("norm2(F) <= 1", ["`F in l2_ball(r)`"]),
    ],
)
def test_what_to_write_instead(text: str, words: list[str]):
    hint = only(f"{DECLARED}{text}\n").hint
    assert [w for w in words if w not in hint] == []


@pytest.mark.parametrize(
    ("text", "implied"),
    [
        ("norm1(x) <= 1, x in l1_ball(1)", True),
        ("norm1(x) <= 1, norm1(x) <= 2", True),
        ("norm1(x) <= 1, norm2(x) <= 1", True),
        ("norm2(x) <= 1, norm1(x) <= 1", True),
        ("norm1(x) <= r, norm_inf(x) <= r", True),
        ("x in simplex(1), x >= 0", True),
        ("0 <= x <= 1, x >= 0", True),
        ("0 <= x <= 1, x in linf_ball(2)", True),
        ("x in simplex(1), x <= 1", True),
        ("S in spectrahedron(1), S in psd", True),
        ("W in simplex_product, W in nonnegative", True),
        ("W in rows(l1_ball(1)), W in rows(l2_ball(1))", True),
        ("A @ x <= b, A @ x <= b", True),
        ("norm1(x) <= 2, norm2(x) <= 1", False),
        ("norm1(x) <= r, norm1(x) <= 2", False),
        ("0 <= x <= 1, x in box(0.5, 2)", False),
        ("x in simplex(1), x in simplex(2)", False),
        ("norm1(x) <= 1, norm1(A @ x) <= 1", False),
        ("x >= 0, sum(x) == 1", False),
    ],
)
def test_implied_constraints_are_warned_of(text: str, implied: bool):
    assert codes(f"{DECLARED}{text}\n") == (["FW2094"] if implied else [])


@pytest.mark.parametrize("side", ["c", "reshape(c, 1, k)", "reshape(r, m, 1)", "x"])
def test_a_comparison_meets_rows_and_columns_as_a_sum_does(side: str):
    declared = "data A: matrix[m, k], c: vector[k], r: vector[m]\nvar X: matrix[m, k], x: vector[k]\n"
    model = accepted(f"{declared}minimize norm1(X - A) + norm1(x)\nsubject to X <= {side}, {side} == X\n")
    assert [c.argument.type.array_shape for c in model.constraints] == [("m", "k")] * 2
