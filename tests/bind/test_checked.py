"""Binding what the checker makes of a whole program."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fwdsl.bind import Bindings, bind
from fwdsl.check import check
from fwdsl.grammar import parse
from fwdsl.model import evaluate_dim

PROGRAM = """\
data X: matrix[n, p], y: signs[n] from libsvm("train.svm", features=3)
data A: matrix[2, 2] = [[1, 0], [0, -2]], s: positive = 2
data w: vector[n] in nonnegative, task: index[n] of T
data P: psd[2] = [[2, 1], [1, 2]]
param delta: positive = 10/n
param mu: nonnegative = 2 * delta / n
var beta: vector[p], z: vector[2], F: family[T] of vector[p]
minimize mean(w * logistic(X @ beta, y)) + mu * sum_squares(A @ z - A[:, 1] + s) + quad_form(z, P)
       + sum_squares(X.T @ w + beta) + sum(squared(inner(X, F[task]), w)) + norm1(diag(A) + z)
subject to norm1(beta) <= delta
"""


def test_a_checked_program_is_bound_and_its_constants_have_their_shapes(tmp_path):
    (tmp_path / "train.svm").write_text("1 1:1 3:2\n2 2:1\n1 1:0.5\n2 1:3\n")
    program, diagnostics = parse(PROGRAM)
    model, found = check(program)
    assert (*diagnostics, *found) == () and model is not None
    values = {"w": [1.0, 0.0, 2.0, 1.0], "task": [0, 2, 1, 0]}
    instance, diagnostics = bind(model, Bindings(values), tmp_path)
    assert diagnostics == () and instance is not None
    assert instance.dims == {"n": 4, "p": 3, "T": 3}
    assert instance.values["delta"] == 2.5 and instance.values["mu"] == 1.25
    assert instance.values["y"].tolist() == [-1, 1, -1, 1] and instance.maps["y"] == (1.0, 2.0)
    assert isinstance(instance.values["X"], sp.csr_array)
    seen = set()
    for term in model.terms:
        for root in (term.argument, term.coefficient, term.target, term.weights):
            for expr in () if root is None else root.walk():
                if expr.is_constant and expr.type.kind not in ("string", "list", "boolean"):
                    value = instance.evaluate(expr)
                    assert np.shape(value) == tuple(evaluate_dim(d, instance.dims) for d in expr.type.array_shape)
                    seen.add(expr.op)
    assert {"const", "data", "param", "neg", "slice", "matmul", "transpose", "diag"} <= seen
