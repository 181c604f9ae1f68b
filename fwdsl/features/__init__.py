"""Feature maps over a data matrix: `fit(name, X, options)` computes a map's statistics, `transform` the features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import FeatureMap, Fitted
from .fourier import Fourier
from .gram import GramOperator, Kernel
from .intercept import Intercept
from .normalize import Normalize
from .random_binning import RandomBinning
from .rank_one import RankOneUpdated
from .standardize import Standardize

__all__ = ["IMPLICIT", "FeatureMap", "Fitted", "GramOperator", "Kernel", "RankOneUpdated", "feature_map", "fit"]

IMPLICIT = ("rbf", "polynomial", "linear")
"""The maps that are used by their Gram matrix alone."""


def feature_map(name: str, options: Mapping[str, Any]) -> FeatureMap:
    """The map that a name of the language stands for, with options as numbers."""
    match name:
        case "fourier":
            return Fourier(int(options["features"]), float(options["gamma"]), int(options.get("seed", 0)))
        case "random_binning":
            return RandomBinning(int(options["grids"]), float(options["gamma"]), int(options.get("seed", 0)))
        case "standardize":
            return Standardize(bool(options.get("center", True)))
        case "normalize":
            return Normalize()
        case "intercept":
            return Intercept()
        case "rbf":
            return Kernel("rbf", gamma=float(options["gamma"]))
        case "polynomial":
            return Kernel("polynomial", degree=int(options["degree"]), coef0=float(options.get("coef0", 0.0)))
        case "linear":
            return Kernel("linear")
    raise ValueError(f"`{name}` is no feature map")


def fit(name: str, X: Any, options: Mapping[str, Any]) -> Fitted:
    """Fit a map to X (n, p), which is dense, memory-mapped, a `csr_array` or a `RankOneUpdated`."""
    return feature_map(name, options).fit(X)
