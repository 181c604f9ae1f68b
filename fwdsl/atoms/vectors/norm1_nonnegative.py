"""c |x|_1 on x >= 0, where it is the linear c sum x: prox max(v - t c, 0), conjugate the indicator of v <= c."""

from __future__ import annotations

from .common import OnOrthant
from .nonnegative import positive_kernel
from .norm1 import Norm1OnPositive


class Norm1Nonnegative(OnOrthant, Norm1OnPositive):
    """`c * norm1` on `nonnegative`."""

    pair = ("norm1", "nonnegative")
    polyhedral = True
    prox_kernel = staticmethod(positive_kernel)
