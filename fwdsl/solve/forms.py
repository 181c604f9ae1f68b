"""The protocol between a run and a canonical form: the seam for a further form."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..atoms.base import Array
from ..backends.kernels.pool import Pool
from ..backends.method import Report
from ..canon.forms import Form
from ..certify.verified import DualBound, Verified
from ..results.solution import Solution


@dataclass(frozen=True)
class Start:
    """A point to start from, a dual point where one is known, and where they come from, in words."""

    x: Any
    ys: list[Array] | None
    origin: str


class Prepared(Protocol):
    """A form made ready for its methods, which know what else it offers (see `Solvable`)."""

    pool: Pool

    @property
    def passes(self) -> float:
        """Data passes so far: touches of every stored number."""

    def close(self) -> None:
        """Give back threads, and whatever else it holds."""


class Solvable(Protocol):
    """A form with everything that a run needs. `solve`, the driver and `solution_of` know no other difference between forms.

    A further form (data on several machines, on a GPU) is a class that keeps `fwdsl.canon.Form`, one that keeps this protocol, and a line in
    `solvable`, which goes by what a method says that it works on (`Method.works_on`). What crosses the seam:

    - x and the parts of a dual point are the form's own. The driver copies a point (`x.copy()`), keeps it and hands it back, and never looks
      inside. What `Form.split`, `duals` and `terms` return is in local memory.
    - A method reaches data, predictions and iterates through what `prepare` returns. For the canonical form these are the vector operations of
      `fwdsl.backends.problem.PreparedProblem`: `forward` and `adjoint` (K x + b and K'y), `losses_value`, `losses_gradient` and `curvatures` of
      predictions, `prox_g`, `g_value` and `conjugates`, `gram`. Its methods also add and scale iterates as NumPy arrays. A form whose arrays lie
      elsewhere gives arrays with these operators, or has methods of its own, as the factored form does.
    - A method's state holds arrays in local memory, so that it can be saved.
    - The verifier trusts nothing that a kernel computed: `verify` and `measure` recompute from the instance's own data.
    """

    attempts: int
    """The verifier's findings so far that rest on chance, which each are to have their own: a run that goes on counts from where it stood."""

    @property
    def form(self) -> Form:
        """The form itself."""

    def prepare(self) -> Prepared:
        """The form on kernels, threads and devices, for the methods; whoever asks closes it."""

    def start(self, start: Solution | Mapping[str, object] | Start | None) -> Start:
        """The point that a solution or values by name stand for, zero without; a start of the dense form is taken as it is.

        Raises `DataError` FW0203 for values that do not fit.
        """

    def verify(
        self, problem: Any, x: Any, ys: list[Array] | None, scales: Array | None, first: bool, stop: Callable[[], bool]
    ) -> Iterator[tuple[Any, Verified]]:
        """Points made of x and y with the verifier's findings, the likeliest to certify first. The caller ends the iteration.

        `problem` is what `prepare` returned, `scales` the sizes of the unknowns where the method knows them, `first` whether nothing was
        verified before. Work that may take long ends once `stop()` is true.
        """

    def measure(self, x: Any) -> tuple[Any, Verified]:
        """A method's point as it is verified, and the verifier's findings for it without a dual point."""

    def restart(self, at: Start) -> Start:
        """A verified point and dual point as methods take them to start from."""

    def report(self, report: Report) -> Report:
        """Return a method's report as one on the program as it is written."""

    def duals(self, x: Any, bound: DualBound) -> dict[str, object]:
        """The derivative of the optimal value in each constraint's right-hand side, in the user's sense, by name."""

    def terms(self, x: Any) -> dict[str, float]:
        """The value of each term that a `let` names, coefficient included; terms of one name are added up."""

    def warnings(self, x: Any) -> tuple[str, ...]:
        """Warnings that only the answer can show, a sentence each."""


class AsWritten:
    """The part of `Solvable` that is the same for forms of the program as it is written: points and reports are what they are,
    and bounds rest on no chance."""

    attempts = 0

    def restart(self, at: Start) -> Start:
        return at

    def report(self, report: Report) -> Report:
        return report

    def warnings(self, x: Any) -> tuple[str, ...]:
        return ()


def default_threads() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
