"""Binding answers with an instance or with diagnostics, whatever a user gives."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from fwdsl.bind import Bindings, bind
from fwdsl.bind.values import Entries
from fwdsl.grammar.diagnostic import has_errors

TYPES = [
    "real",
    "count",
    "vector[n]",
    "matrix[n, p]",
    "tensor[n, p, q]",
    "signs[n]",
    "signs[n, k]",
    "labels[n, k]",
    "index[n] of T",
    "symmetric[n]",
    "psd[n]",
    "family[T] of vector[n]",
    "entries[n, p]",
]
THINGS: list[Any] = [
    None,
    object(),
    "text",
    b"bytes",
    {},
    {"a": 1},
    {1, 2},
    [],
    [[]],
    [None],
    [[1], [2, 3]],
    [date(2020, 1, 1)],
    [Fraction(1, 2), Fraction(1, 3)],
    [(1, 2), (3,)],
    [10**400, 1],
    10**400,
    1j,
    float("nan"),
    [float("inf"), 1.0],
    iter([1, 2]),
    lambda: 0,
    np.array(1),
    np.array("a"),
    np.empty((0,)),
    np.empty((3, 0)),
    np.zeros(2, dtype=[("a", float), ("b", int)]),
    np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
    np.array([b"a", b"b"]),
    np.array([[1, 2], [3, 4]], dtype=object),
    np.array([np.nan, "a"], dtype=object),
    np.full((2, 2), 1e308),
    np.full((2, 2), 5e-324),
    np.ones((2, 2, 2)),
    np.broadcast_to(1.0, (3, 3)),
    np.ones((3, 3))[::-1, ::-1],
    np.ma.masked_all((2, 2)),
    sp.csr_array((2, 2)),
    sp.csr_array((0, 2)),
    sp.coo_array(np.ones((2, 2), dtype=bool)),
    sp.eye_array(3, format="dia"),
    sp.dok_array((2, 2), dtype=np.float32),
]


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("thing", THINGS, ids=range(len(THINGS)))
def test_any_object_for_any_type(declare, tmp_path, type_, thing):
    instance, diagnostics = bind(declare(f"data D: {type_}"), Bindings({"D": thing}), tmp_path)
    assert (instance is None) == has_errors(diagnostics)
    if instance is not None:
        stored = instance.values["D"]
        numbers = stored.values if isinstance(stored, Entries) else stored.data if sp.issparse(stored) else stored
        assert np.all(np.isfinite(numbers))


@pytest.mark.parametrize("thing", THINGS, ids=range(len(THINGS)))
def test_any_object_for_a_parameter_or_a_dimension(declare, tmp_path, thing):
    model = declare("param mu: nonnegative\nvar x: vector[n]")
    instance, diagnostics = bind(model, Bindings({"mu": thing, "n": thing}), tmp_path)
    assert (instance is None) == has_errors(diagnostics)


numbers = st.one_of(st.floats(), st.integers(), st.booleans(), st.text(max_size=2), st.none())
nested = st.recursive(numbers, lambda inner: st.lists(inner, max_size=3), max_leaves=8)


@given(value=nested, type_=st.sampled_from(TYPES))
def test_any_nested_list_for_any_type(declare, tmp_path, value, type_):
    instance, diagnostics = bind(declare(f"data D: {type_}"), Bindings({"D": value}), tmp_path)
    assert (instance is None) == has_errors(diagnostics)
