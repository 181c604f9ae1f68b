"""Text and builder make equal models, and what either prints reads back as the same model."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

import fwdsl as fw
from fwdsl.words import CONVEX, LOSSES, SETS

VAR = "var x: vector[p]\n"


class Parts:
    """Declarations that the programs below have in common."""

    def __init__(self) -> None:
        self.X = fw.data("X", fw.matrix_type("n", "p"))
        self.y = fw.data("y", fw.signs_type("n"))
        self.b = fw.data("b", fw.vector_type("n"))
        self.x = fw.vector("p", name="x")
        self.W = fw.matrix("p", 3, name="W")
        self.r = self.X @ self.x - self.b


Build = Callable[[Parts], fw.Problem]

REGRESSION = [name for name, loss in LOSSES.items() if loss.target == "real" and not loss.nonnegative_target]
BINARY = [name for name, loss in LOSSES.items() if loss.target == "signs"]
MULTICLASS = [name for name, loss in LOSSES.items() if loss.target == "labels"]


def same(text: str, problem: fw.Problem) -> None:
    parsed = fw.parse(text)
    assert [d for d in parsed.check() if d.severity == "error"] == []
    assert problem.model == parsed.model
    for one in (parsed, problem):
        assert fw.parse(one.to_fw()).model == one.model
        assert fw.parse(one.to_fw()).to_fw() == one.to_fw()


@pytest.mark.parametrize("name", REGRESSION)
def test_regression_losses(name: str):
    q = Parts()
    text = f"data X: matrix[n, p]\ndata b: vector[n]\n{VAR}minimize sum({name}(X @ x, b))"
    same(text, fw.minimize(fw.sum(getattr(fw, name)(q.X @ q.x, q.b))))


@pytest.mark.parametrize("name", BINARY)
def test_binary_losses(name: str):
    q = Parts()
    text = f"data X: matrix[n, p]\ndata y: signs[n]\n{VAR}minimize mean({name}(X @ x, y))"
    same(text, fw.minimize(fw.mean(getattr(fw, name)(q.X @ q.x, q.y))))


@pytest.mark.parametrize("name", MULTICLASS)
def test_multiclass_losses(name: str):
    X, c = fw.data("X", fw.matrix_type("n", "p")), fw.data("c", fw.labels_type("n", "k"))
    W = fw.matrix("p", "k", name="W")
    text = f"data X: matrix[n, p]\ndata c: labels[n, k]\nvar W: matrix[p, k]\nminimize mean({name}(X @ W, c))"
    same(text, fw.minimize(fw.mean(getattr(fw, name)(X @ W, c))))


@pytest.mark.parametrize("options", ["quantile tau 0.9", "huber delta 2", "epsilon_insensitive eps 0.5"])
def test_options_of_losses(options: str):
    name, option, value = options.split()
    q = Parts()
    text = f"data X: matrix[n, p]\ndata b: vector[n]\n{VAR}minimize mean({name}(X @ x, b, {option}={value}))"
    same(text, fw.minimize(fw.mean(getattr(fw, name)(q.X @ q.x, q.b, **{option: float(value)}))))


@pytest.mark.parametrize(
    "name", [n for n, f in CONVEX.items() if "vector" in f.of and not f.options and n != "entropy" and not f.joint]
)
def test_functions_of_vectors(name: str):
    x = fw.vector(4, name="x")
    function = getattr(fw, name)
    if CONVEX[name].is_concave:
        same(f"var x: vector[4]\nmaximize 2 * {name}(x) - x[0]", fw.maximize(2 * function(x) - x[0]))
        same(f"var x: vector[4]\nminimize x[0]\nsubject to {name}(x) >= 3", fw.minimize(x[0], function(x) >= 3))
        return
    same(f"var x: vector[4]\nminimize 2 * {name}(x) - x[0]", fw.minimize(2 * function(x) - x[0]))
    same(f"var x: vector[4]\nminimize x[0]\nsubject to {name}(x) <= 3", fw.minimize(x[0], function(x) <= 3))


@pytest.mark.parametrize("name", [n for n, f in CONVEX.items() if "vector" not in f.of])
def test_functions_of_matrices(name: str):
    word = CONVEX[name]
    W = fw.symmetric_var(4, name="W") if word.of_eigenvalues else fw.matrix(4, 3, name="W")
    declared = "symmetric[4]" if word.of_eigenvalues else "matrix[4, 3]"
    options = {p.name: 2 for p in word.options if p.required}
    written = "".join(f", {key}={value}" for key, value in options.items())
    argument, given = ("W", W) if word.of_eigenvalues else ("W - 1", W - 1)
    applied, built = f"{name}({argument}{written})", getattr(fw, name)(given, **options)
    if word.by_rows:
        applied, built = f"sum({applied})", fw.sum(built)
    sense, make = ("maximize", fw.maximize) if word.is_concave else ("minimize", fw.minimize)
    same(f"var W: {declared}\n{sense} {applied}", make(built))


def test_convex_functions_below_affine_bounds():
    x, t, W = fw.vector(4, name="x"), fw.scalar(name="t"), fw.matrix(3, 2, name="W")
    text = "var t: real, x: vector[4], W: matrix[3, 2]\nminimize t + quad_over_lin(x, t)\nsubject to\n"
    rows = "norm2(x - 1) + 0.5 * norm1(x) <= t + sum(W)\nrownorm2(W) <= x[:3]\nentropy(x) <= -1\nt >= sum_squares(x)\n"
    problem = fw.minimize(
        t + fw.quad_over_lin(x, t),
        fw.norm2(x - 1) + 0.5 * fw.norm1(x) <= t + fw.sum(W),
        fw.rownorm2(W) <= x[:3],
        fw.entropy(x) <= -1,
        t >= fw.sum_squares(x),
    )
    same(text + rows, problem)


@pytest.mark.parametrize("name", [n for n, s in SETS.items() if len(s.parameters) == 1 and s.parameters[0].name == "r"])
def test_sets_with_a_radius(name: str):
    kind = SETS[name].of
    v, declared = {
        "matrix": (fw.matrix(4, 3, name="x"), "matrix[4, 3]"),
        "symmetric": (fw.symmetric_var(4, name="x"), "symmetric[4]"),
    }.get(kind, (fw.vector(4, name="x"), "vector[4]"))
    text = f"var x: {declared}\nminimize sum_squares(x)\nsubject to x in {name}(2)"
    same(text, fw.minimize(fw.sum_squares(v), v.in_(getattr(fw, name)(2))))


CASES: dict[str, tuple[str, Build]] = {}


def case(text: str) -> Callable[[Build], Build]:
    """Enter a program's text and the function that builds the same."""

    def enter(build: Build) -> Build:
        CASES[build.__name__] = (text, build)
        return build

    return enter


@case(
    """
    data X: matrix[n, p], y: signs[n]
    param delta: positive = 5
    var x: vector[p]
    minimize mean(logistic(X @ x, y))
    subject to norm1(x) <= delta
    """
)
def l1_ball(q: Parts) -> fw.Problem:
    return fw.minimize(fw.mean(fw.logistic(q.X @ q.x, q.y)), fw.norm1(q.x) <= fw.param("delta", 5))


@case("var x: vector[5]\nminimize sum_squares(x)\nsubject to budget: sum(x) == 1")
def named_constraint(q: Parts) -> fw.Problem:
    x = fw.vector(5, name="x")
    return fw.minimize(fw.sum_squares(x), (fw.sum(x) == 1).named("budget"))


@case("problem demo\nvar x: vector[5]\nminimize sum_squares(x - 1)")
def problem_name(q: Parts) -> fw.Problem:
    return fw.minimize(fw.sum_squares(fw.vector(5, name="x") - 1), name="demo")


@case("var x: vector[5] in simplex(1)\nmaximize x[0] - sum_squares(x)")
def maximize(q: Parts) -> fw.Problem:
    x = fw.vector(5, name="x", in_=fw.simplex(1))
    return fw.maximize(x[0] - fw.sum_squares(x))


@case(
    """
    data X: matrix[n, p], y: signs[n]
    var x: vector[p], c: real
    minimize mean(logistic(X @ x + c, y)) + norm1(x)/10
    """
)
def intercept(q: Parts) -> fw.Problem:
    c = fw.scalar(name="c")
    return fw.minimize(fw.mean(fw.logistic(q.X @ q.x + c, q.y)) + fw.norm1(q.x) / 10)


@case(
    """
    data X: matrix[n, p], b: vector[n]
    var x: vector[p]
    let r = X @ x - b
    let fit = sum_squares(r)
    minimize fit + norm1(x)
    """
)
def lets(q: Parts) -> fw.Problem:
    r = fw.let("r", q.r)
    fit = fw.let("fit", fw.sum_squares(r))
    return fw.minimize(fit + fw.norm1(q.x))


@case(
    """
    data X: matrix[n, p], b: vector[n]
    param mu: nonnegative = 10/n
    var x: vector[p]
    minimize sum_squares(X @ x - b) + mu * norm1(x)
    """
)
def dimension_as_a_number(q: Parts) -> fw.Problem:
    mu = fw.param("mu", 10 / fw.dim("n"), "nonnegative")
    return fw.minimize(fw.sum_squares(q.r) + mu * fw.norm1(q.x))


@case(
    """
    data w: vector[n] in nonnegative, X: matrix[n, p], b: vector[n]
    var x: vector[p]
    minimize sum(w * squared(X @ x, b))
    """
)
def weights(q: Parts) -> fw.Problem:
    w = fw.data("w", fw.vector_type("n"), in_=fw.nonnegative)
    return fw.minimize(fw.sum(w * fw.squared(q.X @ q.x, q.b)))


@case(
    """
    data lo: vector[5]
    var x: vector[5]
    minimize sum_squares(x)
    subject to x in box(lo, inf), x <= 3, x[0:2] >= 1
    """
)
def bounds(q: Parts) -> fw.Problem:
    x, lo = fw.vector(5, name="x"), fw.data("lo", fw.vector_type(5))
    return fw.minimize(fw.sum_squares(x), x.in_(fw.box(lo, float("inf"))), x <= 3, x[0:2] >= 1)


@case(
    """
    data A: matrix[m, 5], c: vector[m]
    var x: vector[5]
    minimize norm2(x)
    subject to A @ x == c, sum(x) <= 3, x[0] >= 1
    """
)
def equality_and_inequality(q: Parts) -> fw.Problem:
    x, A, c = fw.vector(5, name="x"), fw.data("A", fw.matrix_type("m", 5)), fw.data("c", fw.vector_type("m"))
    return fw.minimize(fw.norm2(x), [A @ x == c, fw.sum(x) <= 3], x[0] >= 1)


@case(
    """
    data X: matrix[n, p]
    var W: matrix[p, 3]
    minimize norm_nuc(W) + sum_squares(X @ W - 1)
    subject to W in nonnegative
    """
)
def matrix_variable(q: Parts) -> fw.Problem:
    return fw.minimize(fw.norm_nuc(q.W) + fw.sum_squares(q.X @ q.W - 1), q.W.in_(fw.nonnegative))


@case(
    """
    data S: symmetric[d]
    var P: psd[d]
    minimize sum_squares(P - S) + trace(P)
    subject to P in spectrahedron(1)
    """
)
def psd_variable(q: Parts) -> fw.Problem:
    S, P = fw.data("S", fw.symmetric_type("d")), fw.psd_var("d", name="P")
    return fw.minimize(fw.sum_squares(P - S) + fw.trace(P), P.in_(fw.spectrahedron(1)))


@case("var x: vector[5]\nminimize sum_squares(x - 1) + group_norm(x, [[0, 1], [2, 3, 4]])")
def groups(q: Parts) -> fw.Problem:
    x = fw.vector(5, name="x")
    return fw.minimize(fw.sum_squares(x - 1) + fw.group_norm(x, [[0, 1], [2, 3, 4]]))


@case(
    """
    var W: matrix[4, 3]
    minimize sum_squares(W - 1)
    subject to W in rows(simplex(1)), W in columns(l2_ball(2))
    """
)
def sets_of_sets(q: Parts) -> fw.Problem:
    W = fw.matrix(4, 3, name="W")
    return fw.minimize(fw.sum_squares(W - 1), W.in_(fw.rows(fw.simplex(1))), W.in_(fw.columns(fw.l2_ball(2))))


@case("data v: vector[5]\nvar x: vector[5]\nminimize sum_squares(diag(v) @ x) - dot(v, x) + mean(x)")
def dot_and_diag(q: Parts) -> fw.Problem:
    v, x = fw.data("v", fw.vector_type(5)), fw.vector(5, name="x")
    return fw.minimize(fw.sum_squares(fw.diag(v) @ x) - fw.dot(v, x) + fw.mean(x))


@case("var U: matrix[4, 3]\nminimize sum_squares(U[:, 1] - ones(4)) + sum_squares((U.T @ zeros(4) + 1)/2)")
def shapes(q: Parts) -> fw.Problem:
    U = fw.matrix(4, 3, name="U")
    return fw.minimize(fw.sum_squares(U[:, 1] - fw.ones(4)) + fw.sum_squares((U.T @ fw.zeros(4) + 1) / 2))


@case(
    """
    data X: matrix[n, p], c: labels[n, k]
    param C: positive = 0.1
    let Phi = rbf(X, gamma=0.5)
    var W: matrix[dim(Phi), k]
    minimize C * sum(multiclass_hinge(Phi @ W, c)) + 0.5 * sum_squares(W)
    """
)
def kernel(q: Parts) -> fw.Problem:
    Phi = fw.let("Phi", fw.rbf(q.X, gamma=0.5))
    W, c = fw.matrix(fw.dim(Phi), "k", name="W"), fw.data("c", fw.labels_type("n", "k"))
    fit = fw.param("C", 0.1) * fw.sum(fw.multiclass_hinge(Phi @ W, c))
    return fw.minimize(fit + 0.5 * fw.sum_squares(W))


@case(
    """
    data X: matrix[n, d], task: index[n] of T, b: vector[n]
    var F: family[T] of vector[d]
    minimize mean(squared(inner(X, F[task]), b)) + sum_squares(F)
    """
)
def family(q: Parts) -> fw.Problem:
    X, task = fw.data("X", fw.matrix_type("n", "d")), fw.data("task", fw.index_type("n", of="T"))
    F = fw.family("T", fw.vector_type("d"), name="F")
    return fw.minimize(fw.mean(fw.squared(fw.inner(X, F[task]), q.b)) + fw.sum_squares(F))


@pytest.mark.parametrize("name", CASES)
def test_builder_and_text_agree(name: str):
    text, build = CASES[name]
    same(dedent(text).strip(), build(Parts()))
