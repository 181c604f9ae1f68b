"""The words for a solution: its facts a line each, its values, its numbers. Terminals and pages tell the same."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..readers.memory import size

if TYPE_CHECKING:
    from .solution import Solution
    from .status import Status

_LARGEST_IN_TEXT = 6

ROUNDING = 1e-15
"""An infeasibility that is not worth a line: some ulps of the numbers compared."""

HEADLINES: dict[Status, str] = {
    "optimal": "optimal",
    "tolerance_not_reached": "tolerance not reached",
    "infeasible": "infeasible: no point meets the constraints",
    "unbounded": "unbounded: the objective has no finite optimum",
    "interrupted": "interrupted",
}


def answer_rows(solution: Solution) -> Iterator[tuple[str, str]]:
    """The verdict, what it rests on, and what it took."""
    c, times = solution.certificate, solution.times
    yield "status", headline(solution)
    yield "objective", number_text(c.objective)
    yield "dual bound", number_text(c.dual_bound)
    yield "gap", f"{small_text(c.gap)} (relative {small_text(c.relative_gap)})"
    yield "known by", f"{c.kind}: {c.statement}" if c.statement else c.kind
    if c.infeasibility > ROUNDING:
        yield "infeasibility", small_text(c.infeasibility)
    work = f"{_count(solution.iterations, 'iteration')}, {_count(solution.passes, 'data pass', 'data passes')}"
    yield "method", f"{solution.method}: {work} and {_plain(solution.verify_passes)} to verify"
    for change in solution.changes:
        yield "", f"{change.method} from iteration {change.iteration}: {change.reason}"
    yield from device_rows(solution)
    kernels = f"compiling kernels {_seconds(times.kernels)}, " if times.kernels >= 0.005 else ""
    moved = f"move to the device {_seconds(times.move)}, " if times.move > 0.0 else ""
    yield (
        "time",
        f"{_seconds(times.compile + times.load + times.move + times.plan + times.solve)}: compile {_seconds(times.compile)}, "
        f"load {_seconds(times.load)}, {moved}plan {_seconds(times.plan)}, solve {_seconds(times.solve)} "
        f"({kernels}verify {_seconds(times.verify)})",
    )


def device_rows(solution: Solution) -> Iterator[tuple[str, str]]:
    """The device that took products, and the matrices; nothing where none was asked for."""
    used = solution.device
    if not used.model and not used.why:
        return
    yield "device", f"{used.name}, {used.model}" if not used.why else f"{used.name}: {used.why}"
    for placed in used.data:
        told = f"`{placed.name}`, {size(placed.bytes)}: "
        if placed.products or not placed.why:
            told += _count(placed.products, "product")
            told += f" there, then on the host: {placed.why}" if placed.why else " there"
        else:
            told += f"on the host: {placed.why}"
        yield "", told


def value_rows(solution: Solution) -> Iterator[tuple[str, str]]:
    """The named terms of the objective and the variables."""
    for name, value in solution.terms.items():
        yield f"term {name}", number_text(value)
    for name, value in solution.variables.items():
        yield name, value_text(value)


def headline(solution: Solution) -> str:
    """The way in which the solve ended, and why where it is not solved."""
    text = HEADLINES[solution.status]
    if solution.status == "optimal" or not solution.reason:
        return text
    return f"{text} ({solution.reason})"


def value_text(value: object) -> str:
    """A number, the numbers of a short vector, the count of nonzero entries of an array, or the rank of a matrix kept as factors."""
    import numpy as np

    from ..atoms.low_rank import LowRank

    if isinstance(value, LowRank):
        return f"{' x '.join(f'{n:,}' for n in value.shape)} of rank {value.rank}"

    array = np.asarray(value)
    if array.ndim == 0:
        return number_text(float(array))
    shape = " x ".join(str(n) for n in array.shape)
    support = f"{np.count_nonzero(array)} of {shape} entries are not zero"
    if array.ndim == 1 and array.size <= _LARGEST_IN_TEXT:
        return f"[{', '.join(number_text(float(v)) for v in array)}]"
    return support


def number_text(value: float) -> str:
    """A number to ten digits."""
    return f"{value + 0.0:.10g}"  # no negative zero


def small_text(value: float) -> str:
    """Two digits of a gap or of what else is to be small."""
    return f"{value:.2g}" if math.isfinite(value) else "unknown"


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def _count(value: float, one: str, many: str = "") -> str:
    return f"{_plain(value)} {one if value == 1 else many or one + 's'}"


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value < 100 else f"{value:,.0f} s"
