"""The device that takes a run's products with data: its table is in use for the whole of the run, and the solution says what it did."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ..backends.registry import METHODS
from ..canon.forms import Form
from ..model.options import Options
from ..plan import Plan
from ..results.answer import DeviceUse, Placed
from ..results.solution import Solution

if TYPE_CHECKING:
    from ..backends.devices import DeviceTable


@contextmanager
def by_device(form: Form, plan: Plan, options: Options) -> Iterator[DeviceTable | None]:
    """A context in which the problems of a run are prepared by the table of its device; of the host, and None, where the plan has no device."""
    if not plan.on_device:
        yield None
        return
    # a run on the host alone loads nothing of it
    from ..backends.devices import DeviceTable, matrices, opened
    from ..backends.table import use

    dense = form.dense
    names = {} if dense is None else {id(A): name for name, A in matrices(dense)}
    table = DeviceTable(opened(options.device), names)
    with use(table):
        yield table


def told_of_device(solution: Solution, table: DeviceTable | None, options: Options) -> Solution:
    """The solution with what its device did; as it is where none was asked for. Moving data is no part of the seconds of solving."""
    if not options.elsewhere:
        return solution
    if table is None:
        host = METHODS[solution.method].on_host
        why = f"{solution.method} {host}" if host else "no matrix goes to the device"
        return replace(solution, device=DeviceUse(why=why))
    data = tuple(Placed(*placed) for placed in table.placed())
    serves = any(placed.products for placed in data)
    used = DeviceUse(
        table.device.name if serves else DeviceUse().name,
        table.device.model,
        "" if serves else "the device took no product",
        data,
    )
    lost = tuple(
        f"the host took over the products with `{placed.name}`: {placed.why}"
        for placed in data
        if placed.products and placed.why
    )
    times = replace(solution.times, solve=max(0.0, solution.times.solve - table.move), move=table.move)
    return replace(solution, device=used, times=times, warnings=(*solution.warnings, *lost))
