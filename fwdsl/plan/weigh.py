"""The methods as candidates for a problem: why they do not apply, or what they would cost. Each is looked at when somebody asks, and once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from ..backends.costs import TAKEN
from ..backends.method import Estimate, Method
from ..backends.registry import METHODS
from ..canon.arrange import Arrangement, arrange
from ..canon.forms import Form
from ..canon.kinds import FormKind
from ..light_dataclass import light_dataclass
from ..model import Model, once_per_model
from ..model.options import Options
from .fitted import LEAST_FACTOR, corrected, features
from .memory import enough, piece_of, why_beyond, why_not_streamed


@light_dataclass
class Candidate:
    """A method for this problem: `reasons` why it does not apply (empty: it does), `estimate` what it would cost (with data).

    `by_name_only` says why the planner does not choose it by itself; empty where it may.
    """

    name: str
    title: str
    reasons: tuple[str, ...]
    estimate: Estimate | None = None
    by_name_only: str = ""

    @property
    def applies(self) -> bool:
        return not self.reasons


class Weighing:
    """The candidates for a problem; `form` is its canonical form, None for a model without data."""

    def __init__(self, model: Model, apart: frozenset[tuple[str, int]], form: Form | None, options: Options) -> None:
        self._model, self._apart, self._form, self._options = model, apart, form, options
        self._features: dict[FormKind, tuple[float, ...]] = {}
        self._reasons: dict[str, tuple[str, ...]] = {}
        self._candidates: dict[str, Candidate] = {}
        #: Of the methods that apply but for the memory that they take: the bytes that would do.
        self._enough: dict[str, float] = {}
        #: The planner chooses among the methods whose products a device takes.
        self.by_device = False
        #: What their products take, beside what the host takes.
        self.share = 1.0

    def candidate(self, name: str) -> Candidate:
        """A method with its reasons, or its predicted cost."""
        if name not in self._candidates:
            self._candidates[name] = self._look(METHODS[name])
        return self._candidates[name]

    def choose(self, names: Sequence[str], arrangement: Arrangement) -> tuple[str, str]:
        """The method that structure settles, else the one of least predicted time; without data the first that applies, in the registry's order.

        Methods that cannot be chosen any more are not looked at.
        """
        by_name = _applicable(self._model, self._apart, tuple(names))
        free = [name for name in by_name if not self._left_out(METHODS[name])]
        for name in free:
            if METHODS[name].may_settle and not self.reasons(name):
                settled = METHODS[name].settles(arrangement, self._form)
                if settled:
                    return name, settled
        best: Candidate | None = None
        least = float("inf")
        for name in sorted(free, key=lambda name: METHODS[name].least_seconds) if self._form is not None else ():
            method = METHODS[name]
            if best is not None and (method.least_seconds * LEAST_FACTOR > least or self._least(method) > least):
                continue
            found = self.candidate(name)
            if found.applies and found.estimate is not None and found.estimate.seconds < least:
                best, least = found, found.estimate.seconds
        first = best.name if best is not None else next(name for name in free if not self.reasons(name))
        # whether another one applies is known of those that were looked at
        others = sorted((name for name in free if name != first), key=lambda name: name not in self._reasons)
        if all(self.reasons(name) for name in others):
            return first, "the only method that applies"
        if best is not None:
            return first, "the least predicted time"
        return first, "the structure decides; bind data for predicted times"

    @np.errstate(all="ignore")  # predictions of problems at the ends of the range overflow
    def _least(self, method: type[Method]) -> float:
        """The seconds that no corrected estimate of a method on this form is below."""
        told = self._form.at_hand(method.works_on) if self._form is not None else None
        with self._priced(method):
            seconds = 0.0 if told is None else method.least(told)
        if told is None or not seconds > 0.0:
            return 0.0
        return self._corrected(method, told, Estimate(0.0, seconds, 0.0, "")).seconds

    @contextmanager
    def _priced(self, method: type[Method]) -> Iterator[None]:
        """A context in which products with data cost a method what they do where they are taken."""
        token = TAKEN.set(1.0 if method.on_host else self.share)
        try:
            yield
        finally:
            TAKEN.reset(token)

    def _corrected(self, method: type[Method], told: Form, estimate: Estimate) -> Estimate:
        """An estimate with its fitted correction."""
        if method.works_on not in self._features:
            self._features[method.works_on] = features(told)
        return corrected(estimate, method.name, self._features[method.works_on], self._options.tol)

    def reasons(self, name: str) -> tuple[str, ...]:
        """The reasons why a method does not apply."""
        if name not in self._reasons:
            self._reasons[name] = self._why_not(METHODS[name])
        return self._reasons[name]

    def enough(self, name: str) -> float | None:
        """The bytes that would do for a method that lacks nothing but memory; None where that is not so."""
        return self._enough.get(name) if self.reasons(name) else None

    @np.errstate(all="ignore")  # forms of problems at the ends of the range overflow
    def _why_not(self, method: type[Method]) -> tuple[str, ...]:
        reasons = _reasons(self._model, self._apart, method.name)
        if reasons or self._form is None:
            return reasons
        reasons = (*self._form.why_not(method.works_on), *why_not_streamed(method, self._form))
        told = None if reasons else self._form.at_hand(method.works_on)
        reasons = reasons if told is None else method.requires_values(told)
        if told is None or reasons or self._options.memory is None:
            return reasons
        estimate = method.estimate(told, self._options.tol)
        if estimate is None:
            return ()
        piece = piece_of(self._form)
        reasons = why_beyond(estimate, self._options.memory, self._options.threads, piece)
        if reasons:
            self._enough[method.name] = enough(estimate, self._options.threads, piece)
        return reasons

    @np.errstate(all="ignore")  # predictions of problems at the ends of the range overflow
    def _look(self, method: type[Method]) -> Candidate:
        reasons = self.reasons(method.name)
        told = self._form.at_hand(method.works_on) if self._form is not None and not reasons else None
        with self._priced(method):
            estimate = method.estimate(told, self._options.tol) if told is not None else None
        if told is not None and estimate is not None:
            estimate = self._corrected(method, told, estimate)
        return Candidate(method.name, method.title, reasons, estimate, self._left_out(method))

    def _left_out(self, method: type[Method]) -> str:
        """The reason why the planner does not choose a method by itself, or where it has a list of names to choose from."""
        if not self._options.among:
            on_host = f"runs on the host: it {method.on_host}" if self.by_device and method.on_host else ""
            return method.by_name_only or on_host
        return "" if method.name in self._options.among else "not among those to choose from"


@once_per_model
def _applicable(model: Model, apart: frozenset[tuple[str, int]], names: tuple[str, ...]) -> tuple[str, ...]:
    """The methods among `names` that apply, from the program's words alone."""
    arrangement = arrange(model, apart)
    return tuple(name for name in names if not METHODS[name].requires(arrangement))


@once_per_model
def _reasons(model: Model, apart: frozenset[tuple[str, int]], name: str) -> tuple[str, ...]:
    """The reasons why a method does not apply, from names alone."""
    return METHODS[name].requires(arrange(model, apart))
