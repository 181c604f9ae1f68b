"""The losses by name: each is the one class of a file of its word's name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ... import words
from ...words.base import Lazy
from ..loss import Loss
from ..vector_loss import VectorLoss

__all__ = ["LOSSES", "VECTOR_LOSSES", "class_of", "smoothness"]


def _defined_in(name: str) -> Any:
    module = import_module(f".{name}", __name__)
    kind = VectorLoss if words.LOSSES[name].scores else Loss
    own = (v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__)
    for found in own:
        if issubclass(found, kind) and found.name == name:
            return found
    raise TypeError(f"{module.__name__} has no {kind.__name__} that is named `{name}`, as its record says")


LOSSES: Lazy[str, type[Loss]] = Lazy([n for n, word in words.LOSSES.items() if not word.scores], _defined_in)

#: Losses of a row of predictions.
VECTOR_LOSSES: Lazy[str, type[VectorLoss]] = Lazy([n for n, word in words.LOSSES.items() if word.scores], _defined_in)


def class_of(name: str) -> type[Loss] | type[VectorLoss]:
    """The class of a loss, of either kind."""
    return LOSSES[name] if name in LOSSES else VECTOR_LOSSES[name]


def smoothness(name: str) -> float | None:
    """A Lipschitz constant of a loss's gradient, a sample; None where it is not differentiable."""
    return class_of(name).smoothness
