"""Vector functions by name: norms, sets, and the pairs of both whose joint prox is exact. Adding one is a file, and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base import VectorFunction
from .affine import Affine
from .box import Box
from .common import ConvexSet, Joint, Norm
from .entropy import Entropy
from .entropy_simplex import EntropySimplex
from .free import Free
from .group_ball import GroupBall
from .group_norm import GroupNorm
from .group_norm_group_ball import GroupNormGroupBall
from .halfspace import Halfspace
from .ksupport_ball import KSupportBall
from .l1_ball import L1Ball
from .l2_ball import L2Ball
from .linf_ball import LinfBall
from .nonnegative import Nonnegative
from .norm1 import Norm1
from .norm1_box import Norm1Box
from .norm1_l1_ball import Norm1L1Ball
from .norm1_l2_ball import Norm1L2Ball
from .norm1_linf_ball import Norm1LinfBall
from .norm1_nonnegative import Norm1Nonnegative
from .norm1_simplex import Norm1Simplex
from .norm1_solid_simplex import Norm1SolidSimplex
from .norm2 import Norm2
from .norm2_l2_ball import Norm2L2Ball
from .norm2_nonnegative import Norm2Nonnegative
from .norm_inf import NormInf
from .norm_inf_linf_ball import NormInfLinfBall
from .permutahedron import Permutahedron
from .polytope import Polytope
from .ridge import Ridged
from .simplex import Simplex
from .solid_simplex import SolidSimplex

__all__ = ["NORMS", "SETS", "ConvexSet", "Joint", "Norm", "Ridged", "build", "class_of"]

#: c * norm, and c * another convex function, made as cls(size, c, **arguments).
NORMS: dict[str, type[VectorFunction]] = {str(cls.pair[0]): cls for cls in (Norm1, Norm2, NormInf, GroupNorm, Entropy)}

#: Indicators, made as cls(size, **arguments); None is no set.
SETS: dict[str | None, type[ConvexSet]] = {
    cls.pair[1]: cls
    for cls in (
        Free,
        L1Ball,
        L2Ball,
        LinfBall,
        Box,
        Nonnegative,
        Simplex,
        SolidSimplex,
        KSupportBall,
        GroupBall,
        Halfspace,
        Affine,
        Polytope,
        Permutahedron,
    )
}

#: c * norm on a set, made as cls(c, set).
JOINTS: dict[tuple[str | None, str | None], type[Joint]] = {
    cls.pair: cls
    for cls in (
        Norm1Nonnegative,
        Norm1Box,
        Norm1LinfBall,
        Norm1L1Ball,
        Norm1L2Ball,
        Norm1Simplex,
        Norm1SolidSimplex,
        Norm2L2Ball,
        Norm2Nonnegative,
        NormInfLinfBall,
        EntropySimplex,
        GroupNormGroupBall,
    )
}


def class_of(norm: str | None, set: str | None) -> type[VectorFunction] | None:
    """The class of c * norm on a set of vectors, told from names; None where no joint prox is registered for this pair."""
    if norm is None:
        return SETS.get(set)
    return NORMS.get(norm) if set is None else JOINTS.get((norm, set))


def build(
    norm: tuple[str, float] | tuple[str, float, Mapping[str, Any]] | None,
    set: tuple[str, Mapping[str, Any]] | None,
    size: int,
) -> VectorFunction | None:
    """c * norm on a set, of vectors of `size` entries: `build(("norm1", 0.1), ("l1_ball", {"r": 5.0}), d)`.

    A norm with arguments has them third: `("group_norm", 0.1, {"groups": groups, "weights": weights})`. None where no joint prox is
    registered for this pair. Raises `KeyError` for an unknown name and `ValueError` for a coefficient that is not positive, a negative
    radius, bounds that cross, groups that overlap and the like.
    """
    on = SETS[None](size) if set is None else SETS[set[0]](size, **set[1])  # type: ignore[call-arg]
    if norm is None:
        return on
    name, c = norm[:2]
    if set is None:
        return NORMS[name](size, c, **(norm[2] if len(norm) > 2 else {}))  # type: ignore[call-arg]
    joint = JOINTS.get((NORMS[name].pair[0], on.pair[1]))
    if isinstance(on, GroupBall):
        return None if joint is None else _on_group_ball(norm, on)
    return None if joint is None else joint(c, on)


def _on_group_ball(norm: tuple[Any, ...], on: GroupBall) -> VectorFunction | None:
    """The group norm on its own ball, where groups and weights are the same."""
    g = GroupNorm(on.size, norm[1], **norm[2])
    same = all(
        np.array_equal(getattr(g.parts, part), getattr(on.parts, part)) for part in ("order", "start", "weights")
    )
    return GroupNormGroupBall(norm[1], on) if same else None
