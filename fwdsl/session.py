"""One way from a program's text to its solution, for the command line, Python, paths and races alike.

    session = Session(text, "lasso.fw", folder, Raising(), bindings)
    solution = session.solve()

A session goes through the stages of docs/architecture.md in their order. Each stage asks for the one before it and is gone through once, so a
caller may stop after any of them, or look at what it made before going on. What a stage finds is told to a `Sink` at once: the command line
prints it and exits where the stage failed, Python raises an `FwError`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NoReturn, Protocol, TypeVar

from .collector import still_collector
from .errors import error_for
from .grammar.diagnostic import Diagnostic, has_errors
from .model.options import Options

if TYPE_CHECKING:
    from .bind import Bindings
    from .bind.instance import Instance
    from .canon import Form
    from .cluster.driver import Cluster
    from .model import Model
    from .plan import Plan
    from .results.solution import Progress, Solution
    from .solve import Control
    from .solve.forms import Start
    from .solve.watch import Watch

Y = TypeVar("Y")
Diagnostics = tuple[Diagnostic, ...]
StageName = Literal["compile", "bind", "canonicalise", "plan"]


class Sink(Protocol):
    """The receiver of a session's diagnostics, stage by stage."""

    def found(self, stage: StageName, diagnostics: Diagnostics) -> None:
        """Take the warnings of a stage that has a result."""

    def failed(self, stage: StageName, diagnostics: Diagnostics) -> NoReturn:
        """Raise an exception: the stage has no result, and the diagnostics say why."""

    def contradicted(self, proof: Diagnostic) -> None:
        """Take the proof that no point meets the constraints. It is an answer and no fault: the session goes on to an `infeasible` solution."""


class Raising:
    """The sink of Python: errors are raised as an `FwError`, and warnings stay with the session."""

    def found(self, stage: StageName, diagnostics: Diagnostics) -> None:
        """Do nothing: `Session.found` has them."""

    def failed(self, stage: StageName, diagnostics: Diagnostics) -> NoReturn:
        """Raise the `FwError` that fits the first error."""
        raise error_for(diagnostics)

    def contradicted(self, proof: Diagnostic) -> None:
        """Do nothing: the solution says so."""


class Stage(Generic[Y]):
    """The result of a stage, its findings, and the seconds it took. Sessions share the stages that they have in common."""

    def __init__(self, name: StageName) -> None:
        self.name = name
        self.value: Y | None = None
        self.found: Diagnostics = ()
        self.seconds = 0.0

    def reach(self, sink: Sink, work: Callable[[], tuple[Y | None, Diagnostics]], earlier: Diagnostics = ()) -> Y:
        """The stage's result, by `work` where there is none yet. A stage that failed is tried again, for its cause may be gone.

        `earlier` was found, and told, when another session did most of the work.
        """
        if self.value is None:
            began = time.perf_counter()
            self.value, found = work()
            self.seconds, self.found = time.perf_counter() - began, (*earlier, *found)
            if self.value is None:
                sink.failed(self.name, found)
            sink.found(self.name, found)
        return self.value


class Session:
    """A program on its way to a solution: its text, bindings and options, and the result and findings of each stage.

    `base` is the folder that the program's own paths are relative to; `inputs` are bindings, or values of data, parameters and dimensions by
    name. `options` are the program's own until they are set.
    """

    #: Makes the callback of a solve that has none; a notebook sets it, to show the progress of all.
    reporter: ClassVar[Callable[[Options], Callable[[Progress], bool | None] | None] | None] = None

    def __init__(
        self,
        text: str | bytes,
        name: str,
        base: Path,
        sink: Sink,
        inputs: Bindings | Mapping[str, object] | None = None,
    ) -> None:
        self.text, self.name, self.base, self.sink = text, name, base, sink
        self._inputs = inputs
        #: The workers that hold the rows of data; None where this process does.
        self.cluster: Cluster | None = None
        self._options: Options | None = None
        self._compiled: Stage[Model] = Stage("compile")
        self._bound: Stage[Instance] = Stage("bind")
        self._canonical: Stage[Form] = Stage("canonicalise")
        self._planned: Stage[Plan] = Stage("plan")
        #: The plans of this canonical problem, by the options that they hang on.
        self._plans: dict[tuple[object, ...], Stage[Plan]] = {}
        self._earlier: Stage[Instance] | None = None

    # --- the stages --------------------------------------------------------------------------------------------------

    def solve(
        self,
        on_progress: Callable[[Progress], bool | None] | None = None,
        start: Solution | Mapping[str, Any] | Start | None = None,
        control: Control | None = None,
        resume: Any = None,
        on_state: Callable[[Any], None] | None = None,
        watch: Watch | None = None,
    ) -> Solution:
        """All stages in a row; the solution has its plan, its instance and the times of all. See `fwdsl.solve.solve` for the arguments."""
        self.compile()
        from .backends.kernels.pool import serial_blas

        # what is measured of the data are sums as well, and the threads of BLAS take longer to wake than most of them
        with serial_blas():
            self.bind()
            form = self.canonicalise()
            plan = self.plan()
            from .solve import solve

            watched = on_progress or self.default_progress()
            solution = solve(form, plan, self.options, watched, start, control, resume, on_state, watch)
        from .readers.mapped import check_mapped
        from .results.solution import Times

        check_mapped(form.instance.values.values())
        spent, planning = solution.times, self._canonical.seconds + self._planned.seconds
        before = (self._compiled.seconds, self._bound.seconds, planning)
        times = Times(*before, spent.solve, spent.verify, spent.kernels, spent.move)
        return replace(solution, times=times, plan=solution.plan or plan, instance=form.instance, options=self.options)

    def default_progress(self) -> Callable[[Progress], bool | None] | None:
        """The callback of a solve that is given none."""
        make = Session.reporter
        return None if make is None else make(self.options)

    def compile(self) -> Model:
        """The checked model of the text."""
        if self._compiled.value is not None:
            return self._compiled.value

        def work() -> tuple[Model | None, Diagnostics]:
            from .check import compile_text

            return compile_text(self.text, self.name)

        return self._compiled.reach(self.sink, work)

    def bind(self) -> Instance:
        """The model with its data and parameters. Where only parameters changed, the data are neither read nor measured again."""
        model, options = self.compile(), self.options
        if options.elsewhere:
            from .backends.devices import opened

            # nobody waits for data to be read, only to be told that there is no device
            opened(options.device)
        if self._bound.value is not None:
            return self._bound.value
        tol, memory, earlier, cluster = options.tol, options.memory, self._earlier, self.cluster

        def work() -> tuple[Instance | None, Diagnostics]:
            from .bind import bind, rebind

            if earlier is not None and earlier.value is not None:
                return rebind(earlier.value, self.bindings)
            given = self.bindings
            if memory is not None or cluster is not None:
                given = replace(given, memory=memory, held=cluster is not None)
            if cluster is None:
                return bind(model, given, self.base, tol)
            from .canon.factored import may_stay_in_files
            from .readers.places import reading_at

            if memory is None and any(datum.type.is_entries for datum in model.data):
                given = replace(given, entries_stay=may_stay_in_files(model))
            with reading_at(cluster.each):
                instance, found = bind(model, given, self.base, tol)
            return None if instance is None else cluster.share(instance), found

        return self._bound.reach(self.sink, work, earlier.found if earlier is not None else ())

    def canonicalise(self) -> Form:
        instance, is_new = self.bind(), self._canonical.value is None

        def work() -> tuple[Form | None, Diagnostics]:
            with still_collector():
                from .canon import canonicalise

            return canonicalise(instance)

        form = self._canonical.reach(self.sink, work)
        if is_new and form.contradiction is not None:
            self.sink.contradicted(form.contradiction)
        return form

    def plan(self, *, with_data: bool = True) -> Plan:
        """The method and the reasons for it. A plan without data rests on the program alone and is only for display."""
        problem, options = self.canonicalise() if with_data else self.compile(), self.options

        def work() -> tuple[Plan | None, Diagnostics]:
            with still_collector():
                from .plan import make_plan

                return make_plan(problem, options)

        stage: Stage[Plan] = self._planned if with_data else Stage("plan")
        return stage.reach(self.sink, work)

    # --- bindings and options ----------------------------------------------------------------------------------------

    @property
    def bindings(self) -> Bindings:
        """The bindings given beside the program's own sources."""
        from .bind import Bindings, bind_python

        return self._inputs if isinstance(self._inputs, Bindings) else bind_python(**(self._inputs or {}))

    @property
    def options(self) -> Options:
        """The options of planning and solving. Set them before the stage that uses them."""
        if self._options is None:
            from .check.settings import resolve_options

            self._options = resolve_options(self.compile())
        return self._options

    @options.setter
    def options(self, options: Options) -> None:
        self._options, known = options, _planned_by(options)
        self._planned = Stage("plan") if known is None else self._plans.setdefault(known, Stage("plan"))

    def check_bindings(self) -> None:
        """Fail where a name, parameter or dimension is given that does not fit the program; no data are read."""
        model = self.compile()
        from .bind import check_bindings

        found = check_bindings(model, self.bindings)
        if has_errors(found):
            self.sink.failed("bind", found)
        self.sink.found("bind", found)

    def check_method(self) -> None:
        """Fail where a method is named that is none, or given an option that it cannot have; whether one applies is for the plan to say."""
        model = self.compile()
        if self.options.method == "auto" and not self.options.among:
            return  # the planner is not loaded
        from .plan.named import misnamed

        wrong = misnamed(self.options, model)
        if wrong is not None:
            self.sink.failed("plan", (wrong,))

    def found(self, *stages: StageName) -> Diagnostics:
        """The findings of these stages so far, or of all stages where none is named."""
        every = (self._compiled, self._bound, self._canonical, self._planned)
        return tuple(d for stage in every if not stages or stage.name in stages for d in stage.found)

    # --- the same again ----------------------------------------------------------------------------------------------

    def _shared(self) -> Session:
        """A session with the same stages."""
        other = object.__new__(Session)
        vars(other).update(vars(self))
        return other

    def _start_from_binding(self) -> None:
        """Leave all stages but the first to be gone through again."""
        self._bound, self._canonical, self._planned = Stage("bind"), Stage("canonicalise"), Stage("plan")
        self._plans = {}

    def solved_with(self, options: Options, sink: Sink | None = None) -> Session:
        """The same problem with other options: nothing is compiled again, nor bound, unless `memory` is another."""
        other = self._shared()
        other.options, other.sink = options, sink or self.sink
        if options.memory != self.options.memory:
            # the limit says which data are read into memory
            other._start_from_binding()
            other._earlier = None
        return other

    def held_by(self, cluster: Cluster) -> Session:
        """The same problem with its rows in the hands of workers; nothing is bound again."""
        other, bound = self._shared(), self._bound
        other.cluster = cluster
        other._start_from_binding()
        if bound.value is not None:
            other._bound.value, other._bound.found = cluster.share(bound.value), bound.found
        return other

    def bound_to(self, inputs: Bindings | Mapping[str, object], *, same_data: bool = False) -> Session:
        """The same program with other bindings; `same_data` where they differ in parameters alone."""
        other = self._shared()
        other._inputs = inputs
        other._earlier = (self._bound if self._bound.value is not None else self._earlier) if same_data else None
        other._start_from_binding()
        return other

    def with_model(self, model: Model, inputs: Bindings, sink: Sink) -> Session:
        """Another model with its own bindings, solved with the same options."""
        other = self.bound_to(inputs)
        other._compiled, other.sink = Stage("compile"), sink
        other._compiled.value = model
        return other


def _planned_by(options: Options) -> tuple[object, ...] | None:
    """The options that a plan hangs on, where the planner chooses for this host; None where it is made anew, for what a device has free changes."""
    if options.method != "auto" or options.elsewhere:
        return None
    return options.tol, options.among, options.threads, options.memory
