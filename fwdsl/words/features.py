"""The feature maps. Their mathematics is in `fwdsl.features`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .base import Parameter, Word


@dataclass(frozen=True, slots=True, kw_only=True)
class MapWord(Word):
    """A feature map over a data matrix. Of an implicit one only the Gram matrix is ever used.

    `columns` says how many it has: as many as the data ("same"), one more ("more"), its option `features`, or a number of its own. Features of an
    `affine` map are an affine function of the row, given the statistics of the fit.
    """

    implicit: bool = False
    columns: Literal["same", "more", "features", "own"] = "own"
    affine: bool = False

    @property
    def options(self) -> tuple[Parameter, ...]:
        return self.parameters[1:]


_X = Parameter("X")
_GAMMA = Parameter("gamma", "positive")
_SEED = Parameter("seed", "seed", 0.0)

FEATURE_MAPS: dict[str, MapWord] = {
    word.name: word
    for word in (
        MapWord(
            name="rbf",
            formula="Features with Gram matrix exp(-gamma |x - x'|^2) (implicit).",
            parameters=(_X, _GAMMA),
            implicit=True,
        ),
        MapWord(
            name="polynomial",
            formula="Features with Gram matrix (x.x' + coef0)^degree (implicit).",
            parameters=(_X, Parameter("degree", "count"), Parameter("coef0", "nonnegative", 0.0)),
            implicit=True,
        ),
        MapWord(
            name="linear",
            formula="The rows themselves, used through their Gram matrix (implicit).",
            parameters=(_X,),
            implicit=True,
            affine=True,
        ),
        MapWord(
            name="fourier",
            formula="Random Fourier features that approximate rbf.",
            parameters=(_X, Parameter("features", "count"), _GAMMA, _SEED),
            columns="features",
        ),
        MapWord(
            name="random_binning",
            formula="Random binning features that approximate exp(-gamma |x - x'|_1).",
            parameters=(_X, Parameter("grids", "count"), _GAMMA, _SEED),
        ),
        MapWord(
            name="standardize",
            formula="Columns brought to mean 0 and population standard deviation 1.",
            parameters=(_X, Parameter("center", "boolean", True)),
            columns="same",
            affine=True,
        ),
        MapWord(
            name="normalize",
            formula="Rows brought to Euclidean length 1.",
            parameters=(_X,),
            columns="same",
        ),
        MapWord(name="intercept", formula="A column of ones appended.", parameters=(_X,), columns="more", affine=True),
    )
}
