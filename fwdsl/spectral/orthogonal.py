"""Orthogonalisation against bases, to working precision."""

from __future__ import annotations

import numpy as np

from ..atoms.base import Array

EPS = float(np.finfo(np.float64).eps)


def orthogonalise(v: Array, basis: Array) -> tuple[Array, Array]:
    """(v - B'c, c) with c = B v for an orthonormal basis in the *rows* of B, by Gram-Schmidt twice."""
    coefficients = basis @ v
    v = v - coefficients @ basis
    again = basis @ v
    return v - again @ basis, coefficients + again


def fresh(rng: np.random.Generator, n: int, basis: Array) -> Array:
    """A random unit vector orthogonal to the rows of the basis (zero where they span the space)."""
    if basis.shape[0] >= n:
        return np.zeros(n)
    v, _ = orthogonalise(rng.standard_normal(n), basis)
    v, _ = orthogonalise(v / np.linalg.norm(v), basis)
    return v / np.linalg.norm(v)


def direction(w: Array, scale: float, basis: Array, rng: np.random.Generator) -> tuple[Array, float]:
    """(w / |w|, |w|) for w orthogonal to the basis; (a fresh direction, 0) where w is rounding noise of numbers of size `scale`."""
    size = float(np.linalg.norm(w))
    if size <= 32.0 * EPS * scale or size == 0.0:
        return fresh(rng, w.size, basis), 0.0
    if size <= 1e-6 * scale:
        # the normalisation has raised the noise
        unit, _ = orthogonalise(w / size, basis)
        return unit / np.linalg.norm(unit), size
    return w / size, size


def complete(X: Array, basis: Array | None = None) -> Array:
    """An orthonormal basis, in columns, of the part of span(X) outside span(basis); directions lost to rounding are left out."""
    for _ in range(2):
        if basis is not None and basis.shape[1]:
            X = X - basis @ (basis.T @ X)
        sizes = np.linalg.norm(X, axis=0)
        X = X[:, sizes > 0.0] / sizes[sizes > 0.0]
        if X.shape[1] == 0:
            return X
        U, s, _ = np.linalg.svd(X, full_matrices=False)
        X = U[:, s > 1e-8 * s[0]]
    return X
