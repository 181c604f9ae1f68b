"""The stages of the pipeline as a command goes through them: each reports what it found, and stops at an error."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..grammar.diagnostic import Diagnostic, has_errors
from .arguments import SOLVE_OPTIONS, bindings
from .exits import REJECTED, USAGE, Stop, code_for
from .files import STDIN, display_name, folder_of, program_text
from .output import Output
from .outputs import Outputs, keep_apart

if TYPE_CHECKING:
    from ..bind import Bindings
    from ..canon import Canonical, Factored
    from ..instance import Instance
    from ..model import Model
    from ..options import Options
    from ..plan import Plan
    from ..solution import Solution
    from ..solve import Control

Y = TypeVar("Y")


@dataclass
class Clock:
    """Seconds spent in each stage."""

    compile: float = 0.0
    load: float = 0.0
    plan: float = 0.0

    def measure(self, stage: str, action: Callable[[], Y]) -> Y:
        """Run `action` on the time of `stage`."""
        start = time.perf_counter()
        try:
            return action()
        finally:
            setattr(self, stage, getattr(self, stage) + time.perf_counter() - start)


def passed(result: tuple[Y | None, Sequence[Diagnostic]], output: Output, code: int) -> Y:
    """A stage's result, its diagnostics reported; an error stops with the exit code `code`."""
    value, diagnostics = result
    diagnostics = output.graded(diagnostics)
    if has_errors(diagnostics) or value is None:
        raise Stop(diagnostics, code_for(diagnostics, code))
    output.report(diagnostics)
    return value


def compile_file(name: str, output: Output) -> Model:
    """Read and check a program; an error in its text exits 2."""
    output.program = program_text(name)
    from ..pipeline import compile_text

    return passed(compile_text(output.program, display_name(name)), output, REJECTED)


def bindings_of(known: argparse.Namespace) -> Bindings:
    """What `--data`, `--set` and `--dim` bind."""
    sources, params, dims = bindings(known)
    from ..bind import Bindings

    return Bindings(data={}, sources=sources, params=params, dims=dims)


def inputs_of(model: Model, given: Bindings, name: str) -> list[tuple[str, str | Path]]:
    """The files that a program is read from and run on: its own sources, also where others are given."""
    from ..bind.given import spec_of

    sources = {d.name: spec_of(d.source, folder_of(name)).path for d in model.data if d.source is not None}
    data = [*sources.items(), *((", ".join(names), spec.path) for names, spec in given.sources)]
    program: list[tuple[str, str | Path]] = [] if name == STDIN else [("the program", name)]
    return [*program, *((f"the data of `{names}`", path) for names, path in data)]


def check_given(model: Model, given: Bindings, output: Output) -> None:
    """Stop where a name, parameter or dimension is given that does not fit the program; no data are read."""
    from ..bind import check_given as check

    passed((model, check(model, given)), output, USAGE)


def bind_model(model: Model, given: Bindings, name: str, output: Output, tol: float | None = None) -> Instance:
    """Attach the data; `tol` is the tolerance asked for, which the data's precision must allow."""
    from ..pipeline import bind

    return passed(bind(model, given, folder_of(name), tol), output, USAGE)


def canonicalise_instance(instance: Instance, output: Output) -> Canonical | Factored:
    """The canonical form; where no point meets the constraints it is told where that is seen, which is an answer and no fault."""
    from ..canon import Canonical
    from ..pipeline import canonicalise

    # mypy would take the join of the two forms for the type
    form = cast("Canonical | Factored", passed(canonicalise(instance), output, REJECTED))
    if isinstance(form, Canonical) and form.contradiction is not None:
        output.report([form.contradiction])
    return form


def options_for(model: Model, known: argparse.Namespace) -> Options:
    """The program's `solve` options, the command line's winning over them."""
    from ..settings import resolve_options

    given = {name: getattr(known, name) for name in SOLVE_OPTIONS}
    method, own = given.pop("method") or (None, {})
    options = resolve_options(model, **given, method=method)
    return replace(options, method_options=own) if own else options


def plan_for(
    problem: Canonical | Factored | Model, options: Options, known: argparse.Namespace, output: Output
) -> Plan:
    """The plan; what is refused is the program's fault, or the command line's where that names the method."""
    from ..pipeline import make_plan

    return passed(make_plan(problem, options), output, REJECTED if known.method is None else USAGE)


def prepare(
    name: str,
    known: argparse.Namespace,
    given: Bindings,
    clock: Clock,
    output: Output,
    outputs: Outputs = MappingProxyType({}),
) -> tuple[Options, Instance, Canonical | Factored]:
    """A program with its data in canonical form, and the options to solve it with; none of them is among the files to write."""
    model = clock.measure("compile", lambda: compile_file(name, output))
    keep_apart(outputs, inputs_of(model, given, name))
    options = options_for(model, known)
    instance = clock.measure("load", lambda: bind_model(model, given, name, output, options.tol))
    return options, instance, clock.measure("plan", lambda: canonicalise_instance(instance, output))


def solve_plan(
    canonical: Canonical | Factored,
    plan: Plan,
    options: Options,
    clock: Clock,
    output: Output,
    resume: Any = None,
    on_state: Callable[[Any], None] | None = None,
    start: Solution | None = None,
    control: Control | None = None,
) -> Solution:
    """Solve, with progress; the solution knows its plan and the times of all stages."""
    from ..solve import solve
    from .progress import reporting

    with reporting(output, options) as on_progress:
        solution = solve(canonical, plan, options, on_progress, start, control, resume, on_state)
    times = replace(solution.times, compile=clock.compile, load=clock.load, plan=clock.plan)
    return replace(solution, times=times, plan=solution.plan or plan)
