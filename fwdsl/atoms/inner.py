"""The facts of a function that is made of another one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from .base import VectorFunction


class OfInner(VectorFunction):
    """A function made of another, whose facts it has."""

    inner: VectorFunction

    @property
    def pair(self) -> tuple[str | None, str | None]:  # type: ignore[override]
        return self.inner.pair

    @property
    def polyhedral(self) -> bool:  # type: ignore[override]
        return self.inner.polyhedral

    @property
    def entrywise(self) -> bool:  # type: ignore[override]
        return self.inner.entrywise

    @property
    def curvature(self) -> float:  # type: ignore[override]
        return self.inner.curvature

    @property
    def proximable(self) -> bool:  # type: ignore[override]
        return self.inner.proximable

    @property
    def certificate(self) -> str:  # type: ignore[override]
        return self.inner.certificate

    @property
    def slope(self) -> float:
        return self.inner.slope

    def set_beneath(self) -> VectorFunction | None:
        """The sets beneath the inner functions, side by side; beneath an entropy, which adds up over entries, the set of all of them."""
        norm, on = self.pair
        if norm is None:
            return super().set_beneath()
        below = self.inner.set_beneath()
        if below is None:
            return None
        return self.like(below) if on is not None else replace(below, size=self.size)  # type: ignore[type-var]

    @abstractmethod
    def like(self, inner: VectorFunction) -> VectorFunction:
        """The same of another inner function."""
