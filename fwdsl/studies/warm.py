"""Compiling ahead: programs are solved, on their own data or on random ones, and what their kernels were compiled to is kept."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..model import Model
from ..session import Raising, Session

SECONDS = 10.0
"""Seconds of solving at most: what has not been called by then is compiled when it is."""

STEPS, MOMENT = 100, 1.0
"""Iterations and seconds at most of each method on random data: they are few, and their answer is of no use."""

SIZES = (60, 12, 4)
"""The sizes of a program's dimensions in random data, in its own order; the last one serves the others too."""


@dataclass(frozen=True)
class Warmed:
    """The kernels that were compiled for a program, the methods that ran, and the seconds that all of it took."""

    methods: tuple[str, ...]
    compiled: tuple[str, ...]
    seconds: float


def warm(sessions: Sequence[Session], each: bool = False) -> Warmed:
    """Solve with the method of the plan; with `each`, with every method that the planner may choose, for other data may make it choose another.

    Raises `KeyboardInterrupt` where a solve is interrupted.
    """
    from ..backends.kernels import compiled_signatures

    began, before = time.perf_counter(), len(compiled_signatures())
    ran: list[str] = []
    for session in sessions:
        plan, options = session.plan(), session.options
        limited = replace(options, time=min(options.time, SECONDS))
        if each:
            limited = replace(options, max_iter=STEPS, time=MOMENT)
        able = [c.name for c in plan.weighed if c.applies and not c.by_name_only]
        for method in able if each and options.method == "auto" else [options.method]:
            solution = session.solved_with(replace(limited, method=method)).solve()
            if solution.status == "interrupted":
                raise KeyboardInterrupt
            ran.append(solution.method)
    return Warmed(tuple(dict.fromkeys(ran)), tuple(compiled_signatures()[before:]), time.perf_counter() - began)


def joined(parts: Iterable[Warmed]) -> Warmed:
    """All of it together."""
    known = tuple(parts)
    methods = dict.fromkeys(method for part in known for method in part.methods)
    return Warmed(
        tuple(methods), tuple(s for part in known for s in part.compiled), sum(part.seconds for part in known)
    )


def mocked(
    session: Session, dims: Mapping[str, int] | None = None, params: Mapping[str, object] | None = None
) -> list[Session]:
    """A session with random data of the declared types; where the program may be given any matrices, two more: in single precision, and sparse.

    Raises `FwError` where no random data of these sizes are data of the program.
    """
    from ..bind.mock import mock, sizes_needed
    from ..check.describe import dimensions, is_shown
    from ..errors import error_for

    model = session.compile()
    needed = sizes_needed(model)
    sizes = {name: SIZES[min(k, len(SIZES) - 1)] for k, name in enumerate(needed)} | dict(dims or {})
    made, found = mock(model, sizes)
    if made is None:
        raise error_for(found)
    hidden = {n: made.dims[n] for n in dimensions(model) if n in made.dims and not is_shown(n, model)}
    values: dict[str, Any] = {**made.arrays, **made.entries, **made.params, **dict(params or {}), **hidden}
    quiet = session.solved_with(session.options, Raising())
    sessions = [quiet.bound_to(layout) for layout in _layouts(model, session.base, values)]
    for one in sessions:
        one.bind()
    return sessions


def _layouts(model: Model, base: Path, values: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """Matrices as the program's sources give them; those without a source in each way that kernels tell apart."""
    import numpy as np
    from scipy.sparse import csr_array

    from ..bind.bindings import spec_of
    from ..words import SOURCES

    matrices = [d for d in model.data if d.type.is_matrix and d.name in values]
    formats = {d.name: spec_of(d.source, base).format for d in matrices if d.source is not None}
    sparse = {name for name, format_ in formats.items() if format_ in SOURCES and SOURCES[format_].sparse}
    own = {name: csr_array(values[name]) for name in sparse}
    yield {**values, **own}
    free = [d.name for d in matrices if d.source is None]
    if free:
        yield {**values, **own, **{name: values[name].astype(np.float32) for name in free}}
        yield {**values, **own, **{name: csr_array(values[name]) for name in free}}
