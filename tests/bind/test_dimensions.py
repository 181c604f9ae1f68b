from __future__ import annotations

import numpy as np
import pytest

from fwdsl.bind import Bindings, bind


def test_names_unify_over_all_data(bound):
    text = "data X: matrix[n, p], y: signs[n], W: matrix[p, 2]"
    assert bound(text, X=np.ones((4, 3)), y=[0, 1, 0, 1], W=np.ones((3, 2))).dims == {"n": 4, "p": 3}


def test_a_clash_names_both_data_both_sizes_and_both_places(found):
    text = "data X: matrix[n, p]\ndata y: vector[n]"
    (d,) = found(text, X=np.ones((4, 3)), y=np.ones(5))
    assert d.code == "FW4506"
    assert d.message == "`n` is 4 in `X: matrix[n, p]` (rows), but 5 in `y: vector[n]` (entries)"
    assert d.source.slice(d.span) == "y: vector[n]"
    assert [(d.source.slice(x.span), x.text) for x in d.labels] == [("X: matrix[n, p]", "4 rows from bind(X=...)")]


def test_every_clash_is_found_in_one_run(found):
    text = "data X: matrix[n, p], y: vector[n], w: vector[p]"
    diagnostics = found(text, X=np.ones((4, 3)), y=np.ones(5), w=np.ones(2))
    assert [d.code for d in diagnostics] == ["FW4506", "FW4506"]
    assert "`n`" in diagnostics[0].message and "`p`" in diagnostics[1].message


def test_a_matrix_that_should_be_square(found):
    (d,) = found("data Q: symmetric[d]", Q=np.ones((2, 3)))
    assert (d.code, d.message) == ("FW4506", "`d` is both the 2 rows and the 3 columns of `Q`")


def test_an_integer_must_match(found):
    (d,) = found("data X: matrix[n, 5]", X=np.ones((4, 1)))
    assert (d.code, d.message) == ("FW4507", "`X` has 1 column, where `matrix[n, 5]` says 5")


def test_the_number_of_classes_must_match(found):
    (d,) = found("data y: labels[n, 3]", y=[1, 2, 1])
    assert (d.code, d.message) == ("FW4507", "`y` has 2 classes, where `labels[n, 3]` says 3")


def test_a_dimension_is_given(declare, tmp_path):
    model = declare("data y: vector[n]\nvar W: matrix[n, k]")
    for bindings in (Bindings({"y": [1.0, 2.0]}, dims={"k": 5}), Bindings({"y": [1.0, 2.0], "k": 5})):
        instance, diagnostics = bind(model, bindings, tmp_path)
        assert diagnostics == ()
        assert instance is not None and instance.dims == {"n": 2, "k": 5}


def test_a_given_dimension_clashes_with_data(found):
    (d,) = found("data y: vector[n]", Bindings({"y": [1.0, 2.0]}, dims={"n": 3}))
    assert (d.code, d.message) == ("FW4506", "`n` is given as 3, but `y` has 2 entries")


@pytest.mark.parametrize("size", [0, -1, 2.5, "x", None])
def test_a_given_dimension_is_a_whole_number(found, size):
    diagnostics = found("data y: vector[n]", Bindings({"y": [1.0]}, dims={"n": size}))
    assert [d.code for d in diagnostics] == ["FW4509"]


def test_an_unbound_dimension_tells_what_would_bind_it(found):
    (d,) = found("data y: labels[n]\nvar W: matrix[n, k]", y=[1, 2])
    assert (d.code, d.message) == ("FW4508", "nothing binds the dimension `k`")
    assert d.source.slice(d.span) == "W: matrix[n, k]"
    assert d.hint.startswith("declare `y: labels[n, k]` if it is the number of classes, give `--dim k=5`")


def test_a_dimension_of_missing_data_is_not_asked_for(found):
    diagnostics = found("data X: matrix[n, p], y: vector[n]\nparam mu: real = 1/n\nvar b: vector[p]")
    assert [d.code for d in diagnostics] == ["FW4501", "FW4501"]


def test_the_columns_of_a_feature_map_are_not_asked_for(declare, tmp_path):
    from dataclasses import replace

    from fwdsl.model import Type, VarDecl

    model = declare("data X: matrix[n, p]")
    model = replace(model, variables=(VarDecl("W", Type("vector", ("dim(Phi)",))),), dims=("n", "p", "dim(Phi)"))
    instance, diagnostics = bind(model, Bindings({"X": np.ones((2, 2))}), tmp_path)
    assert diagnostics == () and instance is not None
