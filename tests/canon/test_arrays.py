"""Functions that arrange entries: their values beside NumPy's, as constants, as maps with their adjoints, and in cvxpy's translation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.canon.affine import AffineReader
from fwdsl.check.printer import format_typed
from fwdsl.grammar import format_program, parse
from fwdsl.oracle.translate import Translator

RNG = np.random.default_rng(5)
V: dict[str, Any] = {
    "a": RNG.standard_normal(5),
    "b": RNG.standard_normal(3),
    "A": RNG.standard_normal((4, 3)),
    "J": np.array([2, 0, 2, 1]),
    "K": sp.csr_array(np.where(RNG.random((4, 3)) < 0.5, 1.5, 0.0)),
}
HEAD = "data a: vector[m], b: vector[d], A: matrix[n, d], K: matrix[n, d], J: index[k] of d\n"
USED = " + 0 * (sum(a) + sum(b) + sum(A) + sum(K) + sum(b[J]))\n"
X, Y, S = RNG.standard_normal(3), RNG.standard_normal((4, 3)), 0.7

FORMS: dict[str, Callable[..., Any]] = {
    "hstack(x, b, s, 2)": lambda x, Y, s: np.hstack([x, V["b"], s, 2]),
    "hstack(A @ x - a[0:n], x)": lambda x, Y, s: np.hstack([V["A"] @ x - V["a"][:4], x]),
    "hstack(Y, A, Y @ A.T)": lambda x, Y, s: np.hstack([Y, V["A"], Y @ V["A"].T]),
    "vstack(x, b, x - b)": lambda x, Y, s: np.vstack([x, V["b"], x - V["b"]]),
    "vstack(Y, x, K)": lambda x, Y, s: np.vstack([Y, x, V["K"].toarray()]),
    "vec(Y)": lambda x, Y, s: Y.reshape(-1),
    "vec(A @ diag(x))": lambda x, Y, s: (V["A"] * x).reshape(-1),
    "reshape(vec(Y), d, n)": lambda x, Y, s: Y.reshape(3, 4),
    "reshape(x, 1, d)": lambda x, Y, s: x.reshape(1, 3),
    "outer(a, x)": lambda x, Y, s: np.outer(V["a"], x),
    "outer(x - b, a)": lambda x, Y, s: np.outer(x - V["b"], V["a"]),
    "kron(x, a)": lambda x, Y, s: np.kron(x, V["a"]),
    "kron(a, x - b)": lambda x, Y, s: np.kron(V["a"], x - V["b"]),
    "kron(A, Y)": lambda x, Y, s: np.kron(V["A"], Y),
    "kron(Y - K, A[:, 0:2])": lambda x, Y, s: np.kron(Y - V["K"].toarray(), V["A"][:, :2]),
    "kron(K, Y.T)": lambda x, Y, s: np.kron(V["K"].toarray(), Y.T),
    "kron(eye(2), diag(x)) @ kron(K[0:3, 0:2], eye(d))[0:2 * d]": lambda x, Y, s: (
        np.kron(np.eye(2), np.diag(x)) @ np.kron(V["K"].toarray()[:3, :2], np.eye(3))[:6]
    ),
    "kron(Y, eye(d))": lambda x, Y, s: np.kron(Y, np.eye(3)),
    "conv(a, x)": lambda x, Y, s: np.convolve(V["a"], x),
    "conv(x, b)": lambda x, Y, s: np.convolve(x, V["b"]),
    "conv([1, -2, 1], Y[:, 0])": lambda x, Y, s: np.convolve([1, -2, 1], Y[:, 0]),
    "diff(x)": lambda x, Y, s: np.diff(x),
    "diff(x, 2)": lambda x, Y, s: np.diff(x, 2),
    "diff(Y)": lambda x, Y, s: np.diff(Y, axis=0),
    "diff(Y, order=2, axis=1)": lambda x, Y, s: np.diff(Y, 2, axis=1),
    "diff(Y, axis=-1)": lambda x, Y, s: np.diff(Y, axis=-1),
    "cumsum(x)": lambda x, Y, s: np.cumsum(x),
    "cumsum(Y)": lambda x, Y, s: np.cumsum(Y, axis=0),
    "cumsum(Y, axis=1)": lambda x, Y, s: np.cumsum(Y, axis=1),
    "sum(Y, axis=0)": lambda x, Y, s: Y.sum(axis=0),
    "sum(Y, axis=1)": lambda x, Y, s: Y.sum(axis=1),
    "sum(x, axis=0)": lambda x, Y, s: x.sum(),
    "mean(Y, axis=0)": lambda x, Y, s: Y.mean(axis=0),
    "mean(Y, axis=1)": lambda x, Y, s: Y.mean(axis=1),
    "x[J]": lambda x, Y, s: x[V["J"]],
    "x[[1, -1]]": lambda x, Y, s: x[[1, -1]],
    "Y[:, J]": lambda x, Y, s: Y[:, V["J"]],
    "Y[[2, 0]]": lambda x, Y, s: Y[[2, 0]],
    "Y[1, J]": lambda x, Y, s: Y[1, V["J"]],
    "Y[[3, 1]][:, J[0:2]]": lambda x, Y, s: Y[[3, 1]][:, V["J"][:2]],
    "Y[::2]": lambda x, Y, s: Y[::2],
    "Y[::-1, 1]": lambda x, Y, s: Y[::-1, 1],
    "Y[1:n:2, 0:d:2]": lambda x, Y, s: Y[1::2, ::2],
    "b[0:1][::-1] + x[0:1][::3]": lambda x, Y, s: V["b"][:1] + x[:1],
    "Y + reshape(x, 1, d)": lambda x, Y, s: Y + x,
    "Y - reshape(a[0:n], n, 1)": lambda x, Y, s: Y - V["a"][:4, None],
    "Y + reshape(Y[:, 0], n, 1)": lambda x, Y, s: Y + Y[:, :1],
}


@pytest.fixture(scope="module")
def problems() -> dict[str, fw.Problem]:
    def problem(form: str) -> fw.Problem:
        text = f"{HEAD}var x: vector[d], Y: matrix[n, d], s: real\nlet e = {form}\nminimize sum_squares(e){USED}"
        return fw.parse(text).bind(**V)

    return {form: problem(form) for form in FORMS}


@pytest.mark.parametrize("form", FORMS)
def test_a_map_is_numpys_and_its_adjoint_is_its_own(form: str, problems: dict[str, fw.Problem]) -> None:
    problem = problems[form]
    model, form_of = problem.instance.model, problem.canonical
    reader = AffineReader(problem.instance, {b.name: b for b in form_of.blocks})
    stacked = reader.stacked(dict(model.lets)["e"])
    flat = {"x": X, "Y": Y.reshape(-1), "s": np.array([S])}
    point = np.concatenate([flat[b.name] for b in form_of.blocks])
    wanted = np.asarray(FORMS[form](X, Y, S))
    assert stacked.shape == wanted.shape
    np.testing.assert_allclose(stacked.apply(point), wanted.reshape(-1), atol=1e-12)
    y, back = RNG.standard_normal(stacked.rows), np.zeros(point.size)
    stacked.adjoint(y, back)
    x = RNG.standard_normal(point.size)
    np.testing.assert_allclose(back @ x, y @ stacked.linear(x), atol=1e-11)


@pytest.mark.parametrize("form", FORMS)
def test_the_translation_is_numpys(form: str, problems: dict[str, fw.Problem]) -> None:
    translator = Translator(problems[form].instance)
    for name, value in {"x": X, "Y": Y, "s": S}.items():
        if name in translator.variables:
            translator.variables[name].value = value
    found = translator.problem().objective.value
    np.testing.assert_allclose(found, (np.asarray(FORMS[form](X, Y, S)) ** 2).sum(), rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_constants_have_numpys_values(form: str) -> None:
    data = f"{HEAD}data x: vector[d], Y: matrix[n, d], s: real\n"
    problem = fw.parse(f"{data}var z: real\nlet e = {form}\nminimize sum_squares(z){USED}").bind(**V, x=X, Y=Y, s=S)
    instance = problem.instance
    found = instance.evaluate(dict(instance.model.lets)["e"])
    found = found.toarray() if hasattr(found, "toarray") else found
    np.testing.assert_allclose(found, FORMS[form](X, Y, S), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_forms_come_back_from_the_formatter_and_the_printer(form: str) -> None:
    text = f"{HEAD}var x: vector[d], Y: matrix[n, d], s: real\nlet e = {form}\nminimize sum_squares(e){USED}"
    program, _ = parse(text)
    model = fw.parse(text).model
    assert fw.parse(format_program(program)).model == model
    printed = format_typed(dict(model.lets)["e"])
    assert fw.parse(text.replace(f"e = {form}", f"e = {printed}")).model.terms == model.terms
