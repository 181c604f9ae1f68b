"""Values of convex functions other than losses, by their references. No prox is needed for them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..words import CONVEX
from .base import Array
from .losses import LOSSES
from .matrices import build_matrix
from .vectors import build
from .vectors.common import norm2
from .vectors.groups import members


def function_value(name: str, z: Array, options: Mapping[str, Any]) -> float:
    """f(z) for a number, a vector or a matrix z; inf outside the domain. Raises `KeyError` for an unknown name."""
    word = CONVEX[name]
    if word.grouped:
        # groups may overlap here, and have no weight
        return _group_norm(z, **options)
    if word.root_of:
        return float(z @ (options[word.root_of] @ z))
    if word.as_loss:
        return float(LOSSES[word.as_loss].value_naive(z, np.zeros_like(z), np.zeros(0)).sum())
    f = build_matrix((name, 1.0), None, (z.shape[0], z.shape[1])) if z.ndim == 2 else build((name, 1.0), None, z.size)
    assert f is not None
    flat = z.reshape(-1)
    return f.value(flat) if f.violation(flat) == 0.0 else math.inf


def _group_norm(z: Array, groups: Any, weights: Any = None) -> float:
    parts = members(groups)
    lengths = np.array([norm2(z[part]) for part in parts])
    if weights is not None:
        lengths = lengths * np.asarray(weights, dtype=np.float64)[: len(parts)]
    return float(lengths.sum())
