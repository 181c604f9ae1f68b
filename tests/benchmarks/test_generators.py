"""The generators give the numbers of the specification's own for the same seed, and what their docstrings say."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import generators

SMALL: dict[str, dict[str, Any]] = {
    "rcv1_like": {"n": 60, "d": 400, "row_nnz": 12, "topics": 8},
    "dense_signs": {"n": 40, "d": 30, "support": 7},
    "simplex_ls": {"n": 30, "d": 6},
    "sparse_rows": {"n": 30, "d": 50, "row_nnz": 6, "support": 9},
    "trace_norm": {"n": 20, "d": 12, "c": 9, "rank": 3, "noise": 0.1},
    "completion": {"n": 40, "p": 30, "rank": 3, "observed": 0.2},
    "sublinear": {"size": 15},
    "factorised": {"n": 30, "p": 12, "rank": 4, "support": 5},
    "matrix_risk": {"n": 4, "blocks": 3, "d": 5},
}


@pytest.fixture(scope="module")
def specified(root: Path) -> ModuleType:
    path = root.parent / "shared" / "spec" / "generators.py"
    if not path.is_file():
        pytest.skip(f"the specification's generators are not at {path}")
    spec = importlib.util.spec_from_file_location("specified_generators", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arrays(value: Any) -> Iterator[np.ndarray]:
    for part in value:
        if sp.issparse(part):
            yield from (part.data, part.indices, part.indptr)
        else:
            yield np.asarray(part)


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("name", SMALL)
def test_same_numbers_as_specified(specified: ModuleType, name: str, seed: int) -> None:
    ours = list(arrays(getattr(generators, name)(**SMALL[name], seed=seed)))
    theirs = list(arrays(getattr(specified, name)(**SMALL[name], seed=seed)))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["simplex_ls", "sparse_rows"])
def test_same_defaults_as_specified(specified: ModuleType, name: str) -> None:
    for a, b in zip(arrays(getattr(generators, name)()), arrays(getattr(specified, name)()), strict=True):
        np.testing.assert_array_equal(a, b)


def test_every_specified_generator_is_there(specified: ModuleType) -> None:
    public = {k for k, v in vars(specified).items() if callable(v) and not k.startswith("_")}
    assert public == set(SMALL)


@pytest.mark.parametrize("name", ["rcv1_like", "dense_signs"])
def test_rows_have_length_one(name: str) -> None:
    A, signs = getattr(generators, name)(**SMALL[name])
    np.testing.assert_allclose(np.sqrt(np.asarray((A * A).sum(axis=1)).ravel()), 1.0, rtol=1e-12)
    assert set(np.unique(signs)) == {-1.0, 1.0}


def test_radius_of_completion_is_a_share_of_the_trace_norm() -> None:
    full = generators.completion(**SMALL["completion"], share=1.0, noise=0.0)
    rows, columns, values, radius = full
    rng = np.random.default_rng(0)
    rng.integers(0, 40 * 30, int(0.2 * 40 * 30 * 1.005))
    M = (rng.standard_normal((40, 3)) / np.sqrt(3)) @ rng.standard_normal((30, 3)).T
    np.testing.assert_allclose(values, M[rows, columns], rtol=1e-12)
    assert radius == pytest.approx(np.linalg.svd(M, compute_uv=False).sum(), rel=1e-12)
