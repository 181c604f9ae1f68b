"""The losses by name. Adding one is a file, and a line here."""

from __future__ import annotations

from ..base import Loss
from ..vector_loss import VectorLoss
from .absolute import Absolute
from .epsilon_insensitive import EpsilonInsensitive
from .hinge import Hinge
from .huber import Huber
from .logistic import Logistic
from .multiclass_hinge import MulticlassHinge
from .poisson import Poisson
from .quantile import Quantile
from .smooth_hinge import SmoothHinge
from .softmax import Softmax
from .squared import Squared
from .squared_epsilon_insensitive import SquaredEpsilonInsensitive
from .squared_hinge import SquaredHinge
from .weston_watkins import WestonWatkins

__all__ = ["LOSSES", "VECTOR_LOSSES", "smoothness"]

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

#: Those of a row of predictions.
VECTOR_LOSSES: dict[str, type[VectorLoss]] = {cls.name: cls for cls in (Softmax, MulticlassHinge, WestonWatkins)}


def smoothness(name: str) -> float | None:
    """A Lipschitz constant of a loss's gradient, a sample; None where it is not differentiable."""
    return LOSSES[name].smoothness if name in LOSSES else VECTOR_LOSSES[name].smoothness
