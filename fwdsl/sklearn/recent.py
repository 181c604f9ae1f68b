"""Programs that were bound to the same samples lately: a search over a parameter fits to each fold again for every value."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import Problem

LARGEST = 64 << 20
"""Bytes of samples and targets that are kept, in all."""

FORGOTTEN = 64
"""Fits after which samples that came no more are given up."""

SIGHTS = 256
"""Samples, by their looks, that are known to have come once."""

LOOKS = 8
"""Entries of an array that its looks have."""

Key = tuple[Any, ...]


@dataclass
class _Kept:
    """A program, that program bound to copies of its data, which nobody else can change, and the number of the fit that used it last."""

    program: Problem
    problem: Problem
    data: Mapping[str, Any]
    used: int

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in self.data.values())

    def is_of(self, program: Problem, data: Mapping[str, Any]) -> bool:
        return self.program is program and all(np.array_equal(self.data[name], value) for name, value in data.items())


class Recent:
    """Binds programs to data, and knows data again that came before, by all their numbers: they are then neither looked through nor measured again,
    and what methods keep of them (`Instance.kept`) is there. Parameters are bound anew, and a fit has the bits that it has without.

    Data are copied when they come for the second time, so that whoever fits once pays nothing.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[Key, None] = {}
        self._kept: dict[Key, _Kept] = {}
        self._fits = 0

    def bound(self, problem: Problem, settings: Mapping[str, object], data: Mapping[str, object]) -> Problem:
        """`problem.bind(**settings, **data)`. Raises what that raises."""
        params = {p.name for p in problem.model.params}
        if not params.issuperset(settings) or not all(map(_is_plain, data.values())):
            return problem.bind(**settings, **data)
        # a name that is given now and was not before would leave its value to fits without it
        key = (id(problem), tuple(sorted(settings)), *((name, *_looks(a)) for name, a in data.items()))
        with self._lock:
            self._fits += 1
            self._kept = {k: kept for k, kept in self._kept.items() if self._fits - kept.used <= FORGOTTEN}
            kept, again = self._kept.get(key), key in self._seen
            self._note(key)
        if kept is not None and kept.is_of(problem, data):
            kept.used = self._fits
            return kept.problem.bind(**settings) if settings else kept.problem
        arrays: Mapping[str, Any] = data
        if kept is not None or not again or not self._has_room(sum(a.nbytes for a in arrays.values())):
            return problem.bind(**settings, **data)
        own = {name: a.copy(order="K") for name, a in arrays.items()}
        made = problem.bind(**settings, **own)
        with self._lock:
            self._kept[key] = _Kept(problem, made, own, self._fits)
        return made

    def _note(self, key: Key) -> None:
        """Know the key from now on, in the place of the one that came longest ago."""
        self._seen.pop(key, None)
        self._seen[key] = None
        if len(self._seen) > SIGHTS:
            del self._seen[next(iter(self._seen))]

    def _has_room(self, nbytes: int) -> bool:
        """True if so many bytes can be kept. What is in use stays: folds come in turn, and each would drive out the next."""
        return nbytes + sum(kept.nbytes for kept in list(self._kept.values())) <= LARGEST


def _is_plain(value: object) -> bool:
    """True for an array of numbers."""
    return type(value) is np.ndarray and value.dtype.kind in "fiub" and value.size > 0


def _looks(a: Any) -> Key:
    """The layout and some entries of an array, in which most arrays that differ do so."""
    at = tuple([size * i // LOOKS for i in range(LOOKS)] for size in a.shape)
    return a.shape, a.dtype.str, a.flags.c_contiguous, tuple(a[at].tolist())


RECENT = Recent()
"""The process's own: a search makes a new estimator for each fit."""
