"""The Frobenius norm and its ball: the Euclidean ones of all entries, by their names for matrices."""

from __future__ import annotations

from ..vectors.l2_ball import L2Ball
from ..vectors.norm2 import Norm2
from ..vectors.norm2_l2_ball import Norm2L2Ball
from ..vectors.norm2_nonnegative import Norm2Nonnegative


class NormFro(Norm2):
    """`c * norm_fro`."""

    pair = ("norm_fro", None)


class FroBall(L2Ball):
    """`fro_ball(r)`."""

    pair = (None, "fro_ball")


class NormFroFroBall(Norm2L2Ball):
    """`c * norm_fro` on `fro_ball(r)`."""

    pair = ("norm_fro", "fro_ball")


class NormFroNonnegative(Norm2Nonnegative):
    """`c * norm_fro` on `nonnegative`."""

    pair = ("norm_fro", "nonnegative")
