"""The losses by name: each is the one class of a file of its word's name."""

from __future__ import annotations

from importlib import import_module

from ... import words
from ...words.base import Registry
from ..loss import Loss
from ..vector_loss import VectorLoss

__all__ = ["LOSSES", "VECTOR_LOSSES", "smoothness"]


def _defined_in(name: str) -> type[Loss | VectorLoss]:
    module = import_module(f".{name}", __name__)
    (found,) = (v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__)
    assert issubclass(found, Loss | VectorLoss)
    return found


_FOUND = [_defined_in(name) for name in words.LOSSES]

LOSSES: dict[str, type[Loss]] = Registry({cls.name: cls for cls in _FOUND if issubclass(cls, Loss)})

#: Those of a row of predictions.
VECTOR_LOSSES: dict[str, type[VectorLoss]] = {cls.name: cls for cls in _FOUND if issubclass(cls, VectorLoss)}


def smoothness(name: str) -> float | None:
    """A Lipschitz constant of a loss's gradient, a sample; None where it is not differentiable."""
    return LOSSES[name].smoothness if name in LOSSES else VECTOR_LOSSES[name].smoothness
