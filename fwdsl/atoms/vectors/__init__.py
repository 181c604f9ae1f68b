"""Vector functions by name: norms, sets, and the pairs of both whose joint prox is exact, each in a file of its name."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np

from ... import words
from ...words.base import Lazy
from ..base import VectorFunction
from .common import ConvexSet, Joint, Norm
from .group_ball import GroupBall
from .group_norm import GroupNorm
from .group_norm_group_ball import GroupNormGroupBall
from .ridge import Ridged

__all__ = ["JOINTS", "NORMS", "SETS", "ConvexSet", "Joint", "Norm", "Ridged", "build", "class_of"]


Pair = tuple[str | None, str | None]


def _pairs() -> dict[Pair, str]:
    """(norm, set) -> the file of its name: `norm1`, `l1_ball`, `norm1_l1_ball`, and `free` for neither."""
    files = [file.name for file in iter_modules(__path__)]
    pairs = itertools.product((None, *words.CONVEX), (None, *words.SETS))
    of_file = {"_".join(name for name in pair if name) or "free": pair for pair in pairs}
    return {of_file[file]: file for file in files if file in of_file}


_FILES = _pairs()


def _defined_for(pair: Pair) -> Any:
    module = import_module(f".{_FILES[pair]}", __name__)
    (found,) = (v for v in vars(module).values() if isinstance(v, type) and v.__dict__.get("pair") == pair)
    return found


#: c * norm, and c * another convex function, made as cls(size, c, **arguments).
NORMS: Lazy[str, type[VectorFunction]] = Lazy(
    [norm for norm, on in _FILES if norm is not None and on is None], lambda norm: _defined_for((norm, None))
)

#: Indicators, made as cls(size, **arguments); None is no set.
SETS: Lazy[str | None, type[ConvexSet]] = Lazy(
    [on for norm, on in _FILES if norm is None], lambda on: _defined_for((None, on))
)

#: c * norm on a set, made as cls(c, set).
JOINTS: Lazy[Pair, type[Joint]] = Lazy([pair for pair in _FILES if None not in pair], _defined_for)

if _absent := [n for n, word in words.SETS.items() if word.of in ("vector", "entrywise") and n not in SETS]:
    raise TypeError(f"no file of {__name__} has the set {', '.join(_absent)}")


def class_of(norm: str | None, set: str | None) -> type[VectorFunction] | None:
    """The class of c * norm on a set of vectors, told from names; None where no joint prox is registered for this pair."""
    if norm is None:
        return SETS.get(set)
    return NORMS.get(norm) if set is None else JOINTS.get((norm, _ours(set)))


def _ours(name: str) -> str:
    """Our set that is the same as another one of which the record says all: joint proxes are of ours."""
    word = words.SETS[name]
    if not (word.total and word.threshold):
        return name
    return next(n for n, other in words.SETS.items() if other.total == word.total and other.threshold)


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
    assert set is not None
    if _ours(set[0]) != set[0]:
        on = SETS[_ours(set[0])](size, **set[1])  # type: ignore[call-arg]
    joint = JOINTS.get((NORMS[name].pair[0], on.pair[1]))
    if isinstance(on, GroupBall):
        return None if joint is None else _on_group_ball(norm, on)
    return None if joint is None else joint(c, on, **(norm[2] if len(norm) > 2 else {}))


def _on_group_ball(norm: tuple[Any, ...], on: GroupBall) -> VectorFunction | None:
    """The group norm on its own ball, where groups and weights are the same."""
    g = GroupNorm(on.size, norm[1], **norm[2])
    same = all(
        np.array_equal(getattr(g.parts, part), getattr(on.parts, part)) for part in ("order", "start", "weights")
    )
    return GroupNormGroupBall(norm[1], on) if same else None
