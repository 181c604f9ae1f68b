"""Feature maps over a data matrix: `fit(name, X, options)` computes a map's statistics, `transform` the features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ..words import FEATURE_MAPS, Domain
from .base import FeatureMap, Fitted
from .fourier import Fourier
from .gram import GramOperator, Kernel, Linear, Polynomial, Rbf
from .intercept import Intercept
from .normalize import Normalize
from .random_binning import RandomBinning
from .rank_one import RankOneUpdated
from .standardize import Standardize

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

__all__ = ["MAPS", "FeatureMap", "Fitted", "GramOperator", "Kernel", "RankOneUpdated", "feature_map", "fit"]

MAPS: dict[str, type[FeatureMap]] = {
    made.word.name: made
    for made in (Rbf, Polynomial, Linear, Fourier, RandomBinning, Standardize, Normalize, Intercept)
}
"""The feature maps by name. Adding one is a file, a line here, and its record."""

for _name, _word in FEATURE_MAPS.items():
    if [f.name for f in fields(MAPS[_name])] != [p.name for p in _word.options]:  # type: ignore[arg-type]
        raise TypeError(f"the feature map {_name} has other options than its record")

_AS_NUMBER: Mapping[Domain, Callable[[Any], Any]] = {"count": int, "seed": int, "boolean": bool}


def feature_map(name: str, options: Mapping[str, object]) -> FeatureMap:
    """The map that a name of the language stands for, with options as numbers.

    Raises `ValueError` for an unknown name and `KeyError` for a missing option.
    """
    word = FEATURE_MAPS.get(name)
    if word is None:
        raise ValueError(f"`{name}` is no feature map")
    values = {**{p.name: p.default for p in word.options if not p.required}, **options}
    return MAPS[name](**{p.name: _AS_NUMBER.get(p.domain, float)(values[p.name]) for p in word.options})


def fit(name: str, X: MatrixLike, options: Mapping[str, object]) -> Fitted:
    """Fit a map to X (n, p), which is dense, memory-mapped, a `csr_array` or a `RankOneUpdated`."""
    return feature_map(name, options).fit(X)
