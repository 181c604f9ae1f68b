"""Functions of singular values and eigenvalues: rounding that is accounted for, and symmetry that is kept."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fwdsl.atoms.matrices import build_matrix
from fwdsl.atoms.matrices.common import backward_error, singular_values
from fwdsl.atoms.vectors import Ridged


def test_backward_error_covers_known_spectra() -> None:
    """Matrices whose spectra are known exactly: Hadamard, rank one of integers, arrow-free diagonals under Hadamard conjugation."""
    hadamard = np.array([[1.0]])
    for _ in range(5):
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    n = hadamard.shape[0]
    spectrum = 2.0 ** -np.arange(n)
    spectrum[n // 2 :] = 0.0
    conjugated = (hadamard * spectrum) @ hadamard.T / n
    ones = np.zeros(n)
    ones[0] = float(n)
    for a, exact in (
        (hadamard, np.full(n, math.sqrt(n))),
        (np.ones((n, n)), ones),
        (conjugated, spectrum),
        (hadamard[:8], np.full(8, math.sqrt(n))),
    ):
        error = backward_error(a.reshape(-1), a.shape)
        assert np.all(np.abs(singular_values(a.reshape(-1), a.shape) - exact) <= error)
        assert error <= 1e-13 * np.linalg.norm(a)


def test_conjugates_are_rounded_up() -> None:
    """The support function at a matrix of known spectrum is at least the truth, and hardly more."""
    a = np.block([[np.ones((2, 2)), np.ones((2, 2))], [np.ones((2, 2)), -np.ones((2, 2))]])
    for name, exact in (("nuclear_ball", 3.0 * 2.0 * math.sqrt(2.0)), ("spectrahedron", 3.0 * 2.0 * math.sqrt(2.0))):
        g = build_matrix(None, (name, {"r": 3.0}), (4, 4))
        assert g is not None
        assert exact * (1 - 1e-16) <= g.conjugate(a.reshape(-1)) <= exact * (1 + 1e-13)
        ridged, values = Ridged(g, 0.25), np.array([2.0 * math.sqrt(2.0), 2.0 * math.sqrt(2.0), 0.0, 0.0])
        if name == "spectrahedron":
            # the eigenvalues come in pairs of both signs
            values[1] *= -1.0
        truth = Ridged(g.inner, 0.25).conjugate(values)
        assert truth * (1 - 2e-16) <= ridged.conjugate(a.reshape(-1)) <= truth * (1 + 1e-13)
    # at the boundary of the domain membership is not granted by rounding
    norm = build_matrix(("norm_nuc", 2.0 * math.sqrt(2.0)), None, (4, 4))
    assert norm is not None and norm.conjugate(a.reshape(-1)) == math.inf
    assert 1.0 - 1e-13 < norm.dual_scale(a.reshape(-1)) < 1.0


def test_only_the_symmetric_part_counts() -> None:
    rng = np.random.default_rng(16)
    a = rng.normal(size=(4, 4))
    skew = rng.normal(size=(4, 4))
    skew = (skew - skew.T).reshape(-1)
    part = (a + a.T).reshape(-1) / 2
    for norm, on in ((None, ("psd", {})), (None, ("spectrahedron", {"r": 1.0})), (("norm_nuc", 0.5), ("psd", {}))):
        g = build_matrix(norm, on, (4, 4))
        assert g is not None
        v = part + skew
        np.testing.assert_allclose(g.prox(v, 0.4), g.prox(part, 0.4), atol=1e-13)
        projected = g.dual_project(v)
        np.testing.assert_allclose(projected, g.dual_project(part) + skew, atol=1e-13)
        assert math.isfinite(g.conjugate(projected))
        assert g.conjugate(projected) == pytest.approx(g.conjugate(g.dual_project(part)), abs=1e-12)


def test_norms_of_a_symmetric_matrix_have_symmetric_proxes() -> None:
    a = np.random.default_rng(17).normal(size=(5, 5))
    symmetric, general = (a + a.T), (a + a.T).copy()
    general[0, 1] *= 1 + 1e-15
    for norm in ("norm_nuc", "norm_spec"):
        g = build_matrix((norm, 0.8), None, (5, 5))
        assert g is not None
        x = g.prox(symmetric.reshape(-1), 1.0)
        assert np.array_equal(x.reshape(5, 5), x.reshape(5, 5).T)
        np.testing.assert_allclose(x, g.prox(general.reshape(-1), 1.0), atol=1e-13)


@pytest.mark.parametrize(
    ("on", "shape"),
    [
        (("nuclear_ball", {"r": 2.0}), (4, 6)),
        (("spectral_ball", {"r": 2.0}), (5, 3)),
        (("spectrahedron", {"r": 2.0}), (4, 4)),
    ],
)
def test_zero_is_decomposed_without_lapack(on, shape, monkeypatch: pytest.MonkeyPatch) -> None:
    g = build_matrix(None, on, shape)
    assert g is not None
    zero = np.zeros(math.prod(shape))
    with monkeypatch.context() as patch:
        for name in ("svd", "eigh"):
            patch.delattr(f"numpy.linalg.{name}")
        vertex, projected = g.lmo(zero), g.prox(zero, 1.0)
    assert vertex is not None
    for x in (vertex, projected):
        assert g.violation(x) <= 1e-15
    # a vertex of the set, whichever: the linear minimisation of a small matrix finds one of the same size
    other = g.lmo(1e-3 * np.arange(1.0, zero.size + 1.0))
    assert other is not None
    if on[0] != "spectral_ball":
        assert np.linalg.norm(vertex) == pytest.approx(np.linalg.norm(other))
