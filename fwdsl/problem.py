"""A program with what is bound to it: the face of the compiler and its solvers in Python.

    prob = fw.load("lasso.fw")
    sol = prob.bind(X=X, y=y, mu=0.1).solve(tol=1e-8)

Problems never change: `bind` gives a new one that shares the compiled program, so solving again for another parameter
does not compile again, and does not read or scan the data again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, overload

from .build.assemble import assemble
from .check.settings import require_folds, resolve_options, swept, swept_values
from .errors import FwError, RejectedError, error_for, misuse
from .grammar.diagnostic import has_errors
from .html.shown import ShownInNotebooks
from .readers.frames import is_lazy
from .session import Diagnostics, Raising, Session

if TYPE_CHECKING:
    from .bind import Bindings
    from .bind.instance import Instance
    from .build.expression import Constraint, Expression
    from .canon import Form
    from .model import Model
    from .model.options import Options
    from .plan import Plan
    from .results.solution import Progress, Solution
    from .studies.folds import CrossValidation, ScoreName, Splits
    from .studies.grid import SolutionGrid, SolutionPath
    from .studies.race import Race

    Start = Solution | Mapping[str, object] | None
    Values = Mapping[str, Sequence[float]]
    Folds = int | Splits


class Problem(ShownInNotebooks):
    """A program, and values for its data, parameters and dimensions. Made by `fw.load`, `fw.parse`, `fw.minimize`, `fw.maximize`.

    Whatever is wrong is raised as an `FwError` by the first call that needs it right; `check()` only reports.
    """

    def __init__(self, session: Session, values: Mapping[str, object]) -> None:
        self._session = session
        self._values = dict(values)

    def _given(self, bindings: Bindings) -> Problem:
        """The problem, without values so far, with these: `bind`, told in the words of the bindings."""
        values = {**bindings.data, **bindings.params, **bindings.dims}
        return Problem(self._session.bound_to(bindings), values)

    # --- the stages --------------------------------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The checked model. Raises `RejectedError` where the program is not accepted."""
        return self._session.compile()

    @property
    def bound(self) -> Mapping[str, object]:
        """The values that `bind` was given, by name."""
        return MappingProxyType(self._values)

    @property
    def instance(self) -> Instance:
        """The model with its data attached. Raises `DataError` where they are missing or do not fit."""
        return self._session.bind()

    @property
    def canonical(self) -> Form:
        """The canonical form that the methods solve."""
        return self._session.canonicalise()

    def check(self, *, data: bool = False) -> Diagnostics:
        """All findings about the program, errors and warnings; with `data`, of binding its data and parameters too."""
        with suppress(FwError):
            self._session.compile()
            if data:
                self._session.bind()
        return self._session.found("compile", "bind") if data else self._session.found("compile")

    def bind(self, **values: object) -> Problem:
        """The problem with data, parameters or dimensions given by name; they win over the program's own sources and defaults.

        `client`, unless the program has that name, are workers of Dask that hold the rows of its matrices from then on, as `solve` takes them:
        solving again for other parameters sends no data again.
        """
        declared = {d.name for d in self.model.data} | set(self.model.dims) | {p.name for p in self.model.params}
        client = values.pop("client") if "client" in values and "client" not in declared else None
        params = {p.name for p in self.model.params}
        every = {**self._values, **values}
        session = self._session.bound_to(every, same_data=params >= set(values)) if values else self._session
        if client is not None:
            from .cluster.connect import connect

            session = session.held_by(connect(client, closing=True))
        return Problem(session, every)

    def plan(self, **options: object) -> Plan:
        """The plan of a solve: every method with its reasons, predicted cost, and the choice. Takes the options of `solve`.

        Sharper once all data and parameters have values; without, it rests on the program alone.
        """
        session = self._with(resolve_options(self.model, **options), bound=self._complete())
        return session.plan(with_data=self._complete())

    def solve(
        self,
        *,
        tol: float | None = None,
        method: str | Sequence[str] | None = None,
        time: float | None = None,
        max_iter: int | None = None,
        seed: int | None = None,
        threads: int | None = None,
        device: Literal["cpu", "cuda"] | None = None,
        memory: str | int | None = None,
        gap: Literal["relative", "absolute"] | None = None,
        start: Solution | Mapping[str, Any] | None = None,
        callback: Callable[[Progress], bool | None] | None = None,
        client: Any = None,
        **method_options: object,
    ) -> Solution:
        """Solve it to a certified duality gap.

        The options are those of the language's `solve` and win over the program's own; further ones go to the method named. Several
        names, as a list or tuple, are those that the planner chooses from. `callback` is
        called with each `Progress` and stops the solve by returning False. `start` is a solution to start from, or values of
        variables by name. A limit or Ctrl-C is a status of the solution, which holds the best point found, never an exception; nor are
        constraints that no point meets (`infeasible`) and an objective without a finite optimum (`unbounded`).

        With `device="cuda"` an NVIDIA device takes products with large data (extra `cuda`), and `solution.device` says which. Raises `RunError`:
        FW0250 where CuPy is not installed, FW0251 where there is no device.

        `client` are workers that hold the rows of the data while it is solved: a `distributed.Client`, the address of a scheduler, the path of its
        file, or a number of processes to start here. The answer has the bits of one process.
        """
        options = resolve_options(
            self.model,
            tol=tol,
            method=method,
            time=time,
            max_iter=max_iter,
            seed=seed,
            threads=threads,
            device=device,
            memory=memory,
            gap=gap,
            **method_options,
        )
        if client is not None:
            from .cluster.connect import connect

            # not bound before: what is given in blocks is not to be pulled whole
            with connect(client) as cluster:
                session = self._session.solved_with(options).held_by(cluster)
                return self._solved(session, options, callback, start)
        return self._solved(self._with(options), options, callback, start)

    def _solved(
        self, session: Session, options: Options, callback: Callable[[Progress], bool | None] | None, start: Start
    ) -> Solution:
        solution, found = session.solve(callback, start), session.found()
        if options.tol != self._session.options.tol:
            # the data may be bound for the program's own tolerance
            found = _judged(found, session.bind(), options.tol)
        warnings = tuple(d.message for d in found if d.severity == "warning")
        return replace(solution, warnings=(*warnings, *solution.warnings)) if warnings else solution

    @overload
    def path(
        self, *, start: Start = None, folds: None = None, score: ScoreName = "loss", **keywords: object
    ) -> SolutionPath: ...
    @overload
    def path(
        self, *, start: Start = None, folds: Folds, score: ScoreName = "loss", **keywords: object
    ) -> CrossValidation: ...

    def path(
        self, *, start: Start = None, folds: Folds | None = None, score: ScoreName = "loss", **keywords: object
    ) -> SolutionPath | CrossValidation:
        """Solve along values of one parameter, each from the nearest answer: `problem.path(delta=[0.1, 1, 10], tol=1e-8)`.

        The grid of one parameter: see `grid` for the rest.
        """
        name, values = swept(self.model, keywords)
        options = {n: v for n, v in keywords.items() if n != name}
        found: Any = self._over({name: values}, start, folds, score, options)
        return found  # type: ignore[no-any-return]

    @overload
    def grid(
        self, values: Values, *, start: Start = None, folds: None = None, score: ScoreName = "loss", **options: object
    ) -> SolutionGrid: ...
    @overload
    def grid(
        self, values: Values, *, start: Start = None, folds: Folds, score: ScoreName = "loss", **options: object
    ) -> CrossValidation: ...

    def grid(
        self,
        values: Values,
        *,
        start: Start = None,
        folds: Folds | None = None,
        score: ScoreName = "loss",
        **options: object,
    ) -> SolutionGrid | CrossValidation:
        """Solve for every combination of values of parameters, each from the nearest answer: `problem.grid({"mu": [0.1, 1], "nu": [1, 2]})`.

        What else is given are options of `solve`. Ends early where it is interrupted; a limit ends only the solve that it stops, and a point
        for which no values of the variables meet the constraints is `infeasible` there.

        With `folds` the points are compared by cross-validation: by `score`, the mean "loss" or the "error" rate of samples left out. Rows are
        shuffled with `seed`, or `folds` is a list of pairs: rows that are fitted to, and rows left out.

        Raises `RunError`: FW0205 where what is a sample cannot be told, FW0206 for a number of folds that the
        samples do not allow, FW0207 for error rates of a program that classifies nothing, FW0208 for a loss
        that changes along the grid.
        """
        return self._over(swept_values(self.model, values), start, folds, score, options)

    def _over(
        self,
        values: Mapping[str, tuple[float, ...]],
        start: Start,
        folds: Folds | None,
        score: ScoreName,
        options: dict[str, Any],
    ) -> SolutionGrid | CrossValidation:
        from .studies.grid import points_of, solve_over

        names, points = tuple(values), points_of(values)
        problems = [self]
        for point in points:
            problems.append(problems[-1].bind(**dict(zip(names, point, strict=True))))
            _ = problems[-1].instance  # so that a value that does not fit is found before any work is done
        if folds is None:
            return solve_over(names, points, problems[1:], lambda at, before: at.solve(start=before, **options), start)
        from .studies.folds import cross_validate

        folds = require_folds(folds, score)
        callback = options.pop("callback", None)
        session = problems[1]._with(resolve_options(self.model, **options))
        return cross_validate(session, names, points, folds, score, lambda at, before: at.solve(callback, before))

    def race(
        self,
        methods: Sequence[str] | None = None,
        *,
        tol: float | None = None,
        time: float | None = None,
        max_iter: int | None = None,
        seed: int | None = None,
        threads: int | None = None,
        device: Literal["cpu", "cuda"] | None = None,
        gap: Literal["relative", "absolute"] | None = None,
        callback: Callable[[str, Progress], bool | None] | None = None,
    ) -> Race:
        """Run methods under one clock, each alone, to the tolerance or for `time` seconds (10 unless told), on one thread unless told.

        `methods` are names or `"name(option=value)"`; without them all that apply. `callback` is called with the name of the one that runs and its
        `Progress`, and ends the race by returning False; so does Ctrl-C. Methods that do not apply or fail are in the result, with the reason.
        """
        from .studies.lanes import lanes, race_options
        from .studies.race import run_race

        options = race_options(
            self.model, tol=tol, time=time, max_iter=max_iter, seed=seed, threads=threads, device=device, gap=gap
        )
        session = self._with(options)
        report = None if callback else session.default_progress()
        watched = callback if report is None else lambda _name, progress: report(progress)
        return run_race(session, lanes(session, methods), watched)

    def to_cvxpy(self) -> tuple[Any, dict[str, Any]]:
        """The problem with its data as a `cvxpy.Problem`, and its variables by name (extra `oracle`).

        A symmetric or psd variable is a symmetric one of cvxpy, a `family` the list of its blocks. Data, parameters and dimensions have the values
        bound; the objective has the program's sense. Raises `RunError`: FW0311 where cvxpy is not installed, FW0312 for what it cannot express.
        """
        from .oracle import to_cvxpy

        return to_cvxpy(self.instance)

    # --- printing ----------------------------------------------------------------------------------------------------

    def to_fw(self) -> str:
        """The program as canonically formatted text. Raises `RejectedError` where it cannot be parsed."""
        from .grammar import format_source

        text, diagnostics = format_source(self._session.text, self._session.name)
        if has_errors(diagnostics):
            raise error_for(diagnostics)
        return text

    def _repr_html_(self) -> str:
        from .html.markup import el, table
        from .html.style import fragment
        from .words.highlight import program_html

        rows = ((el("code", name), _shown(value)) for name, value in self._values.items())
        bound = [table(("name", "value"), rows, "Bound from Python")] if self._values else []
        # marimo serialises what is a `str` itself, and no kind of it
        return str(fragment(program_html(self._text()), *bound, label=f"program {self._session.name}"))

    def _text(self) -> str:
        """The program as formatted text, or as it stands where it cannot be parsed."""
        try:
            return self.to_fw()
        except RejectedError:
            raw = self._session.text
            return raw if isinstance(raw, str) else raw.decode("utf-8", "replace")

    def __repr__(self) -> str:
        from .diagnostics.secrets import masked

        text = masked(self._text())
        bound = [f"# bound: {name} = {_shown(value)}" for name, value in self._values.items()]
        return "\n".join([text.rstrip("\n"), *([""] if bound else []), *bound])

    def _with(self, options: Options, bound: bool = True) -> Session:
        """The session with options of a call. The data are bound first, by the program's own options, as other calls share them."""
        if bound and options.memory == self._session.options.memory:
            self._session.bind()
        return self._session.solved_with(options)

    def _complete(self) -> bool:
        """True if everything has a value: bound, from a source, a literal or a default."""
        model = self.model
        return all(d.name in self._values or d.source is not None or d.literal is not None for d in model.data) and all(
            p.name in self._values or p.default is not None for p in model.params
        )


def load(path: str | os.PathLike[str]) -> Problem:
    """The problem in a `.fw` file; paths in it are relative to its folder. Raises `FwError` where it cannot be read."""
    from .files.program import read_program

    name = os.fspath(path)
    return Problem(Session(read_program(name), name, Path(name).parent, Raising()), {})


def parse(text: str, name: str = "<text>") -> Problem:
    """The problem in a text; paths in it are relative to the current folder. Raises `BuildError` FW0309 for what is no text."""
    given: object = text
    if not isinstance(given, str | bytes):
        raise misuse(
            "FW0309", f"`parse` takes a text, not a {type(given).__name__}", hint="a file is read by `fw.load(path)`"
        )
    return Problem(Session(text, name, Path(), Raising()), {})


def minimize(objective: Expression | float, *constraints: Constraint, name: str | None = None) -> Problem:
    """The problem of minimizing a convex expression subject to constraints."""
    return _built("minimize", objective, constraints, name)


def maximize(objective: Expression | float, *constraints: Constraint, name: str | None = None) -> Problem:
    """The problem of maximizing a concave expression subject to constraints."""
    return _built("maximize", objective, constraints, name)


def from_cvxpy(problem: Any, name: str | None = None) -> Problem:
    """The problem of a `cvxpy.Problem`: variables and parameters by their names, constants as data, each atom by the word that it has here.

    Parameters that are numbers are parameters, with their values as defaults, and others data: `bind` gives both new values. A convex function
    inside another gets a variable of its own (`t1`, ...). `to_fw()` prints what came of it.

    Raises `RunError`: FW0320 for an atom, a cone or a variable that has no equivalent, by its name and with what to write; FW0321 for a problem
    that is not convex by cvxpy's rules; FW0311 where cvxpy is not installed. `BuildError` FW0309 for what is no problem of cvxpy. What the language
    refuses for its shape is told by the checker as for any program.
    """
    from .oracle.reading import read_problem

    read = read_problem(problem)
    return _built(read.sense, read.objective, read.constraints, name)


def _built(
    sense: Literal["minimize", "maximize"], objective: object, constraints: tuple[object, ...], name: str | None
) -> Problem:
    from .grammar import format_program

    assembled = assemble(sense, objective, constraints, name)
    # The printed program is compiled, so that text and builder agree by construction and messages point into it.
    text, values = format_program(assembled.program), assembled.values
    return Problem(Session(text, name or "<built>", Path(), Raising(), values), values)


def _judged(found: Diagnostics, instance: Instance, tol: float) -> Diagnostics:
    """The findings of binding, with those that depend on the tolerance made for this one."""
    from .bind.checks import warn_float32
    from .bind.findings import Findings

    findings = Findings(instance.model.source)
    warn_float32(instance.model, instance.stats, tol, findings)
    return (*(d for d in found if d.code != "FW4802"), *findings.result())


def _shown(value: object) -> str:
    if is_lazy(value):
        return type(value).__name__  # what it is of, only computing it tells
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{type(value).__name__} of shape {' x '.join(str(n) for n in shape)}, {getattr(value, 'dtype', '')}".rstrip(
            ", "
        )
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:56]} ..."
