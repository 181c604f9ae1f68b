"""Programs that were bound to the same samples lately: a search over a parameter fits to each fold again for every value."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ..model import Model
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
    """A program, that program bound to copies of its data, which nobody else can change, the numbers of these, and the number of the fit that used
    it last."""

    program: Problem
    problem: Problem
    numbers: Mapping[str, Any]
    nbytes: int
    used: int

    def is_of(self, program: Problem, numbers: Mapping[str, Any]) -> bool:
        return self.program is program and all(np.array_equal(self.numbers[name], a) for name, a in numbers.items())


@dataclass(frozen=True)
class Given:
    """Samples and targets as `fit` got them, and what an estimator found when it checked them: its attributes by name. `reader` is all that the check
    depends on beside them."""

    reader: Key
    X: Any
    y: Any
    found: Mapping[str, Any]


@dataclass(frozen=True)
class _Checked:
    """Data of `kept` as they were given, the samples as the program has them, and what the check of these found."""

    kept: _Kept
    X: Any
    y: Any
    found: Mapping[str, Any]


class Recent:
    """Binds programs to data, and knows data again that came before, by all their numbers: they are then neither looked through nor measured again,
    and what methods keep of them (`Instance.kept`) is there. Parameters are bound anew, and a fit has the bits that it has without.

    Data are copied when they come for the second time, so that whoever fits once pays nothing.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[Key, None] = {}
        self._kept: dict[Key, _Kept] = {}
        self._checked: dict[Key, _Checked] = {}
        self._fits = 0

    def again(
        self, problem: Problem, settings: Mapping[str, object], reader: Key, X: object, y: object
    ) -> tuple[Problem, Mapping[str, Any]] | None:
        """The program bound to samples and targets that such an estimator has checked before, and what it found; None where these are others."""
        if not (_is_plain(X) and _is_plain(y)):
            return None
        with self._lock:
            known = self._checked.get(_key_of_given(problem, settings, reader, X, y))
            if known is None or known.kept.program is not problem:
                return None
        if not (np.array_equal(known.X, X) and np.array_equal(known.y, y)):  # type: ignore[arg-type]
            return None
        with self._lock:
            self._count_fit()
            known.kept.used = self._fits
        return _with(known.kept.problem, settings), known.found

    def bound(
        self,
        problem: Problem,
        settings: Mapping[str, object],
        data: Mapping[str, object],
        frames: Mapping[str, tuple[tuple[str, ...], Any]] = MappingProxyType({}),
        given: Given | None = None,
    ) -> Problem:
        """`problem.bind(**settings, **data)`. `frames` has the names of the columns and the numbers of those data that are frames, `given` what is
        known `again` from now on if the data are kept. Raises what `bind` raises."""
        params = {p.name for p in problem.model.params}
        numbers: Mapping[str, Any] = {name: frames[name][1] if name in frames else a for name, a in data.items()}
        known = params.issuperset(settings) and all(_is_plain(a) and _is_whole(a) for a in numbers.values())
        if not known or not _is_all_there_is(problem.model, settings, data):
            return problem.bind(**settings, **data)
        # a name that is given now and was not before would leave its value to fits without it
        of_names = tuple(columns for columns, _ in frames.values())
        key = (id(problem), tuple(sorted(settings)), of_names, *((name, *_looks(a)) for name, a in numbers.items()))
        with self._lock:
            self._count_fit()
            kept, again = self._kept.get(key), key in self._seen
            self._note(key)
        if kept is not None and kept.is_of(problem, numbers):
            kept.used = self._fits
            self._remember(kept, settings, numbers, given)
            return _with(kept.problem, settings)
        # of a frame there are both
        nbytes = sum((2 if name in frames else 1) * a.nbytes for name, a in numbers.items())
        if kept is not None or not again or not self._has_room(nbytes):
            return problem.bind(**settings, **data)
        own = {name: a.copy(order="K") for name, a in numbers.items()}
        for a in own.values():
            a.flags.writeable = False
        made = problem.bind(**settings, **{n: deepcopy(data[n]) if n in frames else own[n] for n in data})
        kept = _Kept(problem, made, own, nbytes, self._fits)
        with self._lock:
            self._kept[key] = kept
        self._remember(kept, settings, numbers, given)
        return made

    def _remember(
        self, kept: _Kept, settings: Mapping[str, object], numbers: Mapping[str, Any], given: Given | None
    ) -> None:
        """Know what was given again, where the samples were taken as they are: else another copy of them would have to be kept. `numbers` are those
        that `kept` has copies of."""
        if given is None or not (_is_plain(given.X) and _is_plain(given.y)):
            return
        own = next((a for name, a in kept.numbers.items() if _is_copy(a, numbers[name], given.X)), None)
        if own is not None:
            known = _Checked(kept, own, given.y.copy(), deepcopy(dict(given.found)))
            with self._lock:
                self._checked[_key_of_given(kept.program, settings, given.reader, given.X, given.y)] = known

    def _count_fit(self) -> None:
        """Count a fit, and give up what came no more."""
        self._fits += 1
        self._kept = {k: kept for k, kept in self._kept.items() if self._fits - kept.used <= FORGOTTEN}
        self._checked = {k: c for k, c in self._checked.items() if self._fits - c.kept.used <= FORGOTTEN}

    def _note(self, key: Key) -> None:
        """Know the key from now on, in the place of the one that came longest ago."""
        self._seen.pop(key, None)
        self._seen[key] = None
        if len(self._seen) > SIGHTS:
            del self._seen[next(iter(self._seen))]

    def _has_room(self, nbytes: int) -> bool:
        """True if so many bytes can be kept. What is in use stays: folds come in turn, and each would drive out the next."""
        return nbytes + sum(kept.nbytes for kept in list(self._kept.values())) <= LARGEST


def _key_of_given(problem: Problem, settings: Mapping[str, object], reader: Key, X: Any, y: Any) -> Key:
    return id(problem), tuple(sorted(settings)), reader, _looks(X), _looks(y)


def _is_copy(a: Any, of: Any, X: Any) -> bool:
    """True if `a`, a copy of `of`, has the numbers and the layout of X."""
    return of is X or (_looks(a) == _looks(X) and np.array_equal(a, X))


def _with(problem: Problem, settings: Mapping[str, object]) -> Problem:
    """The program with these parameters."""
    return problem.bind(**settings) if settings else problem


def _is_all_there_is(model: Model, settings: Mapping[str, object], data: Mapping[str, object]) -> bool:
    """True if these are all arrays of the program: files, and arrays that the program was bound to before, may have other numbers in the next fit."""
    return all(d.name in data or d.literal is not None for d in model.data) and all(
        p.name in settings or p.type.is_scalar for p in model.params
    )


def _is_plain(value: object) -> bool:
    """True for a vector or larger array of numbers."""
    return type(value) is np.ndarray and value.dtype.kind in "fiub" and value.ndim > 0 and value.size > 0


def _is_whole(a: Any) -> bool:
    """True for an array by rows or by columns. A copy of another one would have another layout, and sums over it other bits."""
    return bool(a.flags.c_contiguous or a.flags.f_contiguous)


def _looks(a: Any) -> Key:
    """The layout and some entries of an array, in which most arrays that differ do so."""
    at = tuple([size * i // LOOKS for i in range(LOOKS)] for size in a.shape)
    return a.shape, a.dtype.str, a.flags.c_contiguous, a.flags.f_contiguous, tuple(a[at].tolist())


RECENT = Recent()
"""The process's own: a search makes a new estimator for each fit."""
