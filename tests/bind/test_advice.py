from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.bind import Bindings, bind


def warnings_of(model, path, **values):
    instance, diagnostics = bind(model, Bindings(values), path)
    assert instance is not None
    assert all(d.severity == "warning" for d in diagnostics)
    return diagnostics


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_columns_that_differ_much_in_scale(declare, tmp_path, form):
    model = declare("data X: matrix[n, p]")
    (d,) = warnings_of(model, tmp_path, X=form([[1.0, 0.0, 2e5], [1.0, 0.0, 2e5]]))
    assert d.code == "FW4801"
    assert "`X[:, 2]`" in d.message and "`X[:, 0]`" in d.message and "2e+05" in d.message
    assert warnings_of(model, tmp_path, X=form([[1.0, 0.0, 9e3], [1.0, 0.0, 9e3]])) == ()
    assert warnings_of(model, tmp_path, X=form([[0.0, 0.0]])) == ()


@pytest.mark.parametrize(("dtype", "tol", "codes"), [("f4", 1e-8, ["FW4802"]), ("f4", 1e-6, []), ("f8", 1e-8, [])])
def test_single_precision_with_a_tight_tolerance(declare, tmp_path, dtype, tol, codes):
    X = np.ones((2, 2), dtype)
    assert [d.code for d in warnings_of(declare("data X: matrix[n, p]", {"tol": tol}), tmp_path, X=X)] == codes
    _, diagnostics = bind(declare("data X: matrix[n, p]"), Bindings({"X": X}), tmp_path, tol=tol)
    assert [d.code for d in diagnostics] == codes


def test_the_default_tolerance_is_no_reason_to_warn(declare, tmp_path):
    assert warnings_of(declare("data X: matrix[n, p]"), tmp_path, X=np.ones((2, 2), np.float32)) == ()


def test_warnings_come_after_errors(declare, tmp_path):
    model = declare("data X: matrix[n, p]\nparam mu: real")
    instance, diagnostics = bind(model, Bindings({"X": [[1.0, 1e6]]}), tmp_path)
    assert instance is None
    assert [d.severity for d in diagnostics] == ["error", "warning"]
