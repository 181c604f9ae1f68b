"""Types and shapes of every form of expression."""

from __future__ import annotations

import pytest

from fwdsl.check import format_type, format_typed
from fwdsl.model import Expr

from .helpers import accepted, codes, marked, only

DECLARED = """\
data X: matrix[n, p], y: vector[n], v: vector[p], C: matrix[p, p], S: psd[p], D: tensor[n, d, d], U: matrix[n, d], g: signs[n]
data M: entries[n, p], task: index[n] of T, c: real, N: matrix[k, p], nn: vector[n] in nonnegative, K: matrix[4, 3]
param mu: nonnegative, delta: positive
var w: vector[p], W: matrix[p, k], B: matrix[n, p], Z: symmetric[d], P: psd[d], b: real, row: vector[k]
var F: family[T] of vector[d], G: family[T] of psd[d], x5: vector[5], V: matrix[4, 6]
"""


def typed(text: str) -> Expr:
    value = dict(accepted(f"{DECLARED}let e = {text}\nminimize sum_squares(w)\n").lets)["e"]
    assert isinstance(value, Expr)
    return value


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("X @ w", "vector[n]"),
        ("X @ W", "matrix[n, k]"),
        ("w @ X.T", "vector[n]"),
        ("w @ v", "real"),
        ("X.T @ (X @ w - y)", "vector[p]"),
        ("(X @ W).T", "matrix[k, n]"),
        ("w.T", "vector[p]"),
        ("2 * X @ w / n", "vector[n]"),
        ("X @ w + b", "vector[n]"),
        ("X @ W + row", "matrix[n, k]"),
        ("row + X @ W", "matrix[n, k]"),
        ("g * (X @ w)", "vector[n]"),
        ("(X @ w) / nn", "vector[n]"),
        ("diag(v) @ W", "matrix[p, k]"),
        ("diag(W[0:3, 0:3])", "vector[3]"),
        ("P - eye(d)", "symmetric[d]"),
        ("2 * P", "psd[d]"),
        ("-P", "symmetric[d]"),
        ("P + eye(d)", "psd[d]"),
        ("P + Z", "symmetric[d]"),
        ("P * 1 + U.T @ U", "symmetric[d]"),
        ("inner(D, Z)", "vector[n]"),
        ("inner(G, eye(d))", "vector[T]"),
        ("inner(U, F[task])", "vector[n]"),
        ("inner(D, G[task])", "vector[n]"),
        ("quad(U, P)", "vector[n]"),
        ("B[M]", "vector[len(M)]"),
        ("F[task]", "matrix[n, d]"),
        ("G[task]", "tensor[n, d, d]"),
        ("F[0]", "vector[d]"),
        ("G[1]", "psd[d]"),
        ("G[0:2]", "family[2] of psd[d]"),
        ("F + F", "family[T] of vector[d]"),
        ("x5[0:3]", "vector[3]"),
        ("x5[-2:]", "vector[2]"),
        ("x5[1:-1]", "vector[3]"),
        ("x5[4]", "real"),
        ("w[1:]", "vector[p-1]"),
        ("w[1:-1]", "vector[p-2]"),
        ("w[:3]", "vector[3]"),
        ("W[:, 2]", "vector[p]"),
        ("W[0]", "vector[k]"),
        ("W[1:3, 0:2]", "matrix[2, 2]"),
        ("W[0, 1]", "real"),
        ("Z[0, 1]", "real"),
        ("trace(Z)", "real"),
        ("sum(W)", "real"),
        ("mean(X @ w)", "real"),
        ("dot(v, w)", "real"),
        ("dot(C, C)", "real"),
        ("ones(n)", "vector[n]"),
        ("zeros(n, 3)", "matrix[n, 3]"),
        ("ones(dim(X))", "vector[p]"),
        ("dim(X) * b", "real"),
        ("10/n * b", "real"),
        ("K @ V", "none"),
        ("K.T @ V", "matrix[3, 6]"),
        ("[[1, 2], [3, 4]]", "matrix[2, 2]"),
        ("standardize(X)", "matrix[n, p]"),
        ("intercept(X)", "matrix[n, p+1]"),
        ("fourier(X, features=7, gamma=1)", "matrix[n, 7]"),
    ],
)
def test_the_type_of_an_expression(text: str, type_: str):
    if type_ == "none":
        assert codes(f"{DECLARED}minimize sum({text})\n") == ["FW2032"]
    else:
        assert format_type(typed(text).type) == type_


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("mu", "nonnegative"),
        ("delta", "positive"),
        ("c", "unknown"),
        ("n", "positive"),
        ("10/n", "positive"),
        ("mu - delta", "unknown"),
        ("-delta * mu", "nonpositive"),
        ("mu + delta", "positive"),
        ("nn", "nonnegative"),
        ("nn / n + 1", "positive"),
        ("sum(nn)", "nonnegative"),
        ("[1, 2]", "positive"),
        ("[0, -2]", "nonpositive"),
        ("[1, -1]", "unknown"),
        ("c * c", "nonnegative"),
        ("dot(v, v)", "nonnegative"),
        ("quad(U, P)", "nonnegative"),
        ("trace(P)", "nonnegative"),
        ("ones(n) * delta", "positive"),
        ("zeros(n)", "zero"),
        ("nn[0:3]", "nonnegative"),
    ],
)
def test_the_sign_of_an_expression(text: str, sign: str):
    assert typed(text).sign == sign


def test_data_given_as_a_product_stays_a_product():
    program = "data A: matrix[n, k], B: matrix[k, p], y: vector[n]\nvar w: vector[p]\n"
    for text in ("A @ (B @ w)", "A @ B @ w"):
        term = accepted(f"{program}minimize mean(squared({text}, y))\n").terms[0]
        assert format_typed(term.argument) == text
    bracketed = accepted(f"{program}minimize mean(squared((A @ B) @ w, y))\n").terms[0].argument
    assert bracketed.op == "matmul" and bracketed.args[0].op == "matmul"


def test_scalars_leave_a_matrix_product():
    assert format_typed(typed("2 * X @ w")) == "2 * (X @ w)"
    assert format_typed(typed("X @ (w / 2)")) == "0.5 * (X @ w)"
    assert format_typed(typed("-X @ w")) == "-X @ w"
    assert typed("-X @ w").op == "neg"


@pytest.mark.parametrize(
    ("text", "code", "under"),
    [
        ("X @ y", "FW2032", "X @ y"),
        ("3 @ w", "FW2031", "3"),
        ("D @ w", "FW2031", "D"),
        ("X @ w + w", "FW2033", "w"),
        ("X @ W + y", "FW2033", "y"),
        ("v * X", "FW2034", "v * X"),
        ("X / y", "FW2034", "X / y"),
        ("inner(D, D)", "FW2035", "inner(D, D)"),
        ("dot(y, w)", "FW2035", "dot(y, w)"),
        ("quad(X, P)", "FW2035", "quad(X, P)"),
        ("task + 1", "FW2036", "task"),
        ("M * 2", "FW2036", "M"),
        ("w[p]", "FW2041", "p"),
        ("w[p + 1]", "FW2041", "p + 1"),
        ("w[1.5]", "FW2040", "1.5"),
        ("w[::0]", "FW2040", "0"),
        ("w[3::-1]", "FW2040", "-1"),
        ("w[[0, 1.5]]", "FW2040", "1.5"),
        ("w[[]]", "FW2040", "[]"),
        ("x5[[0, 5]]", "FW2041", "[0, 5]"),
        ("C[[0, 1], [0, 1]]", "FW2040", "C[[0, 1], [0, 1]]"),
        ("hstack(w, C)", "FW2035", "C"),
        ("hstack(C, w)", "FW2035", "w"),
        ("vstack(w, 1)", "FW2035", "1"),
        ("vstack(w, y)", "FW2035", "y"),
        ("reshape(w, 2, 3)", "FW2035", "reshape(w, 2, 3)"),
        ("outer(w, w)", "FW3003", "outer(w, w)"),
        ("kron(w, w)", "FW3003", "kron(w, w)"),
        ("kron(w, C)", "FW2044", "C"),
        ("kron(1, w)", "FW2044", "1"),
        ("conv(w, C)", "FW2044", "C"),
        ("diff(3)", "FW2044", "3"),
        ("diff(x5, 5)", "FW2041", "diff(x5, 5)"),
        ("diff(w, 0)", "FW2012", "0"),
        ("diff(w, axis=1)", "FW2041", "1"),
        ("sum(C, axis=2)", "FW2041", "2"),
        ("sum(C, axis=y)", "FW2012", "y"),
        ("cumsum(1)", "FW2044", "1"),
        ("w[1.5]", "FW2040", "1.5"),
        ("w[0, 0]", "FW2040", "w[0, 0]"),
        ("b[0]", "FW2040", "b[0]"),
        ("x5[5]", "FW2041", "5"),
        ("x5[2:2]", "FW2041", "2:2"),
        ("x5[3:9]", "FW2041", "3:9"),
        ("W[M]", "FW2042", "W[M]"),
        ("W[task]", "FW2042", "W[task]"),
        ("trace(X)", "FW2044", "X"),
        ("D.T", "FW2044", "D.T"),
        ("sum(task)", "FW2044", "task"),
        ("ones(b)", "FW2020", "b"),
        ("eye(1.5)", "FW2020", "1.5"),
        ("X[0, 0] / 0", "FW2060", "0"),
        ("inf * b", "FW2060", "inf * b"),
        ("[[1], [2, 3]]", "FW2021", "[2, 3]"),
        ("[]", "FW2021", "[]"),
    ],
)
def test_what_does_not_fit(text: str, code: str, under: str):
    found = only(f"{DECLARED}minimize sum({text}) + sum_squares(w)\n")
    assert (found.code, marked(found)) == (code, under)


def test_a_clash_shows_both_declarations():
    found = only("data A: matrix[n, d]\nvar w: vector[k]\nminimize sum_squares(A @ w)\n")
    assert found.message == "`A` has `d` columns, but `w` has `k` entries"
    assert [marked_label(found, i) for i in (0, 1)] == ["matrix[n, d]", "vector[k]"]
    assert found.hint == "declare `w: vector[d]`"


def marked_label(found, i: int) -> str:
    return found.source.slice(found.labels[i].span)


def test_a_transposed_matrix_is_proposed():
    assert (
        only("data A: matrix[n, d], y: vector[n]\nvar x: vector[d]\nminimize dot(A @ y, x)\n").hint
        == "did you mean `A.T @ y`?"
    )


@pytest.mark.parametrize(
    ("text", "hint"), [("v * X", "X @ diag(v)"), ("y * X", "diag(y) @ X"), ("X / y", "diag(1 / y) @ X")]
)
def test_scaling_a_matrix_by_a_vector_names_diag(text: str, hint: str):
    assert hint in only(f"{DECLARED}minimize sum({text}) + sum_squares(w)\n").hint
