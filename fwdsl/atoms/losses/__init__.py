"""The losses by name. Adding one is a file, and a line here."""

from __future__ import annotations

from ..base import Loss
from .absolute import Absolute
from .epsilon_insensitive import EpsilonInsensitive
from .hinge import Hinge
from .huber import Huber
from .logistic import Logistic
from .poisson import Poisson
from .quantile import Quantile
from .smooth_hinge import SmoothHinge
from .squared import Squared
from .squared_epsilon_insensitive import SquaredEpsilonInsensitive
from .squared_hinge import SquaredHinge

__all__ = ["LOSSES"]

LOSSES: dict[str, type[Loss]] = {
    cls.name: cls
    for cls in (
        Squared,
        Absolute,
        Quantile,
        Huber,
        EpsilonInsensitive,
        SquaredEpsilonInsensitive,
        Logistic,
        Hinge,
        SquaredHinge,
        SmoothHinge,
        Poisson,
    )
}
