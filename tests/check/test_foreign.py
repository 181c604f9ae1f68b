"""Programs as other systems write them: what is said of them, in the user's own names, and what `fwdsl check --fix` makes of them."""

from __future__ import annotations

import pytest

from fwdsl.check import examine_text
from fwdsl.files.fixes import mended

from .helpers import only

DECLARED = "data A: matrix[n, d], b: vector[n], P: psd[d]\nparam mu: nonnegative = 1\nvar x: vector[d], X: matrix[d, k], s: real\n"


def fixed(text: str) -> str:
    """The program with every fix that keeps its meaning."""
    return mended(text, lambda t: examine_text(t).diagnostics)[0]


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("norm(x, 1)", "norm1(x)"),
        ("norm(x)", "norm2(x)"),
        ("norm(A @ x - b, 2)", "norm2(A @ x - b)"),
        ("norm(x, inf)", "norm_inf(x)"),
        ("norm(x, Inf)", "norm_inf(x)"),
        ("norm(x, 3)", "norm_p(x, 3)"),
        ('norm(x, "inf")', "norm_inf(x)"),
        ('norm(X, "fro")', "norm_fro(X)"),
        ("normNuc(X)", "norm_nuc(X)"),
        ("sum(inv(x))", "sum(inv_pos(x))"),
        ("norm1('x')", "norm1(x)"),
        ("sum(abs(A @ x - b)**1.5)", "sum(abs_power(A @ x - b, 1.5))"),
        ("sum((2 * x).^4)", "sum(abs_power(2 * x, 4))"),
        ("sumsquares(x)", "sum_squares(x)"),
        ("cp.norm(x, 1)", "norm1(x)"),
        ("np.linalg.norm(x)", "norm2(x)"),
        ("norm1(matmul(A, x))", "norm1(A @ x)"),
        ("norm1(2 * matmul(A, x))", "norm1(2 * (A @ x))"),
        ("norm1(transpose(A) @ b + x)", "norm1(A.T @ b + x)"),
        ("norm1(subtract(x, x) * 2)", "norm1((x - x) * 2)"),
        ("x.T @ x", "sum_squares(x)"),
        ("x.T @ P @ x", "quad_form(x, P)"),
        ("x @ (P @ x)", "quad_form(x, P)"),
        ("dot(x, P @ x)", "quad_form(x, P)"),
        ("dot(x, x)", "sum_squares(x)"),
        ("s * s", "sum_squares(s)"),
        ("x' * x", "sum_squares(x)"),
        ("sum((A @ x - b)^2)", "sum_squares(A @ x - b)"),
        ("sum((A @ x - b).^2)", "sum_squares(A @ x - b)"),
        ("sum(x**2)", "sum_squares(x)"),
        ("sum(x[1:]^2)", "sum_squares(x[1:])"),
        ("norm2(A @ x)^2", "sum_squares(A @ x)"),
        ("norm(A @ x)**2", "sum_squares(A @ x)"),
        ("norm_fro(X)^2", "sum_squares(X)"),
        ("||A @ x - b||", "norm2(A @ x - b)"),
        ("||x||^2", "sum_squares(x)"),
        ("||x||_1", "norm1(x)"),
        ("norm1(A.dot(x))", "norm1((A @ (x)))"),
    ],
)
def test_a_fix_that_keeps_the_meaning(written: str, right: str):
    program = f"{DECLARED}minimize sum(x) + {written}\n"
    assert fixed(program) == program.replace(written, right)


@pytest.mark.parametrize(
    ("written", "right"), [("x.T @ x", "sum_squares(x)"), ("x.T @ P @ x", "quad_form(x, P)"), ("norm(x)", "norm2(x)")]
)
def test_a_fix_behind_a_factor(written: str, right: str):
    program = f"{DECLARED}minimize 3 * mu * {written}\n"
    assert fixed(program) == program.replace(written, right)


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("0 <= s >= b[0]", "0 <= s, s >= b[0]"),
        ("x .<= 1", "x <= 1"),
        ("x < 1", "x <= 1"),
        ("sum(x) = 1", "sum(x) == 1"),
    ],
)
def test_constraints(written: str, right: str):
    program = f"{DECLARED}minimize norm1(x)\nsubject to {written}\n"
    assert fixed(program) == program.replace(written, right)


@pytest.mark.parametrize(
    "text",
    [
        "minimize norm(X)",
        "minimize norm(X, 2)",
        "minimize norm(X)^2",
        "minimize norm(X, 2)**2",
        "minimize norm2(X)^2",
        "minimize ||X||^2",
        "minimize norm1(A @ b)",
        "minimize norm1(squard(x))",
    ],
)
def test_what_might_mean_another_thing_is_not_fixed(text: str):
    program = f"{DECLARED}{text}\n"
    assert fixed(program) == program


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ("var z: integer", "`integer` makes an integer program", "relaxation"),
        ("var z: boolean", "`boolean` makes an integer program", "relaxation"),
        ("var z: complex[n]", "`complex` makes a program in complex numbers", "two real ones"),
        ("minimize norm1(x)\nsubject to x in Binary", "`Binary` makes an integer program", "box(0, 1)"),
        ("minimize sum(ceil(x))", "`ceil` makes a program that is quasi-convex at best", "level"),
        ("minimize prod(x)", "`prod` belongs to geometric programs", "logarithms"),
        ("minimize KMeans(A)", "`KMeans` makes a program that is not convex", "duality gap"),
        ("minimize RandomForestClassifier(A)", "`RandomForestClassifier` fits no convex program", "nothing else"),
    ],
)
def test_other_kinds_of_programs_are_named_as_what_they_are(text: str, says: str, hint: str):
    found = [d for d in examine_text(f"{DECLARED}{text}\n").diagnostics if d.code == "FW2074"]
    assert [d.message for d in found] == [says] and hint in found[0].hint and found[0].fix is None


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("minimize LassoCV(A, b)", "alpha * norm1(w)"),
        ("minimize Lasso(A, b)", "alpha * norm1(w)"),
        ("minimize SVC(A, b)", "hinge(Phi @ w + b, y)"),
        ("minimize Variable(3)", "`var x: vector[n]`"),
        ("minimize sum(argsort(x))", "no sorting"),
    ],
)
def test_estimators_and_objects(text: str, hint: str):
    assert hint in only(f"{DECLARED}{text}\n").hint


@pytest.mark.parametrize(
    ("option", "hint"), [("C = 1", "`param mu"), ("verbose = true", "--progress"), ("abstol = 1", "`tol`")]
)
def test_options_of_other_solvers(option: str, hint: str):
    assert hint in only(f"{DECLARED}minimize norm1(x)\nsolve {option}\n").hint


def test_a_program_of_jump():
    text = """using JuMP
model = Model(HiGHS.Optimizer)
data A: matrix[m, n], b: vector[m]
@variable(model, x[1:n] >= 0)
@variable(model, 0 <= t <= 3)
@objective(model, Min, sum((A @ x - b).^2) + t)
@constraint(model, budget, sum(x) == 1)
@constraint(model, x .<= t)
optimize!(model)
"""
    right = fixed(text)
    assert examine_text(right).diagnostics == ()
    assert (
        "var x: vector[n] in nonnegative" in right
        and "budget: sum(x) == 1" in right
        and "sum_squares(A @ x - b)" in right
    )


def test_a_program_of_cvxpy():
    text = """import cvxpy as cp
data A: matrix[n, p], b: vector[n]
x = cp.Variable(p)
S = cp.Variable((p, p), PSD=True)
lam = cp.Parameter(nonneg=True, value=0.1)
constraints = [x >= 0, cp.sum(x) == 1, cp.norm(x, 2)**2 <= 4]
objective = cp.Minimize(cp.sum_squares(A @ x - b) + lam * cp.norm(x, 1) + cp.trace(S))
prob = cp.Problem(objective, constraints)
prob.solve(solver=cp.OSQP)
print(x.value)
"""
    right = fixed(text)
    assert examine_text(right).diagnostics == ()
    assert "param lam: nonnegative = 0.1" in right and "var S: psd[p]" in right and "sum_squares(x) <= 4" in right


def test_a_program_of_convex_jl():
    text = """using Convex
data A: matrix[n, p], b: vector[n]
x = Variable(p)
problem = minimize(sumsquares(A @ x - b) + norm(x, 1), x >= 0, sum(x) <= 1)
solve!(problem, SCS.Optimizer)
"""
    right = fixed(text)
    assert examine_text(right).diagnostics == ()
    assert "minimize sum_squares(A @ x - b) + norm1(x)" in right


def test_a_name_is_told_as_it_is_written():
    assert only(f"{DECLARED}minimize ridge(x)\n").message == "there is no function `ridge`"
    assert only(f"{DECLARED}minimize Sum_Squares_(x)\n").message == "there is no function `Sum_Squares_`"


def test_the_inverse_of_a_matrix_is_no_inverse_of_entries():
    found = only(f"{DECLARED}minimize trace(inv(X))\n")
    assert found.fix is None and "`tr_inv(X)`" in found.hint
    assert only(f"{DECLARED}minimize sum(crossentropy(x, b))\n").hint == "did you mean `softmax`?"
