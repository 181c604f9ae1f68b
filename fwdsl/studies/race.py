"""Methods under one clock: each solves the same problem alone, and the gap that the verifier certifies counts.

    race = fw.load("lasso.fw").race(["apg", "frank_wolfe(step=line_search)"], tol=1e-8, time=5)
    print(race)
    race.plot("race.svg")

The clock of a run starts before the method's preparations and stops while the verifier works. Before it every method runs a little on the same
problem, so that no compilation is timed. Gaps are relative ones, of the best point and the best bound
verified so far ("What an answer promises" in docs/language.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..certify.certificate import relative
from ..errors import FwError
from ..model.options import Options
from ..results.solution import Progress, Solution
from ..results.status import Status
from ..session import Session
from ..solve.watch import LEVELS, Moment, Watch
from .entrant import Entrant
from .lanes import RaceLane

if TYPE_CHECKING:
    from ..canon import Form
    from ..plan import Plan

WARM_UP = 0.5
"""Seconds of warming up at most."""

TRUSTED = ("exact", "rigorous", "probabilistic")
"""Bounds that hold for every point, whichever it came with."""

#: (name of the entrant, its progress) -> False to end the race.
OnProgress = Callable[[str, Progress], bool | None]


@dataclass(frozen=True, repr=False)
class Race:
    """The results of methods on one problem. Entrants are in order, fastest first. A race prints as a table.

    `levels` are the gaps that the table shows; `race["apg"]` is an entrant by its name. Of an interrupted race `waiting` are those whose turn had
    not come.
    """

    entrants: tuple[Entrant, ...]
    options: Options
    levels: tuple[float, ...]
    scale: float
    sense: int
    interrupted: bool = False
    waiting: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.entrants)

    def __iter__(self) -> Iterator[Entrant]:
        return iter(self.entrants)

    def __getitem__(self, name: str) -> Entrant:
        try:
            return next(e for e in self.entrants if e.name == name)
        except StopIteration:
            raise KeyError(name) from None

    def __repr__(self) -> str:
        from .race_table import table_text

        return table_text(self.entrants, self.levels, self.options, self.waiting)

    @property
    def status(self) -> Status:
        """`interrupted`, else the best of the entrants'."""
        if self.interrupted:
            return "interrupted"
        found = {e.status for e in self.entrants}
        order: tuple[Status, ...] = ("optimal", "infeasible", "unbounded")
        return next((s for s in order if s in found), "tolerance_not_reached")

    @property
    def dual_bound(self) -> float:
        """The best bound that any entrant proved, which holds for all; in the user's sense."""
        found = [
            e.solution.certificate for e in self.entrants if e.solution and e.status not in ("infeasible", "unbounded")
        ]
        bounds = [self.sense * c.dual_bound for c in found if c.kind in TRUSTED and math.isfinite(c.dual_bound)]
        return self.sense * max(bounds, default=-math.inf)

    def distance(self, moment: Moment) -> float:
        """The largest distance of a moment's point from the optimum: its gap to the best bound of the whole race.

        What papers plot: it does not charge a method for the quality of its own bounds. inf while no feasible point is known.
        """
        bound = self.dual_bound
        if not (math.isfinite(bound) and math.isfinite(moment.relative_gap)):
            return moment.relative_gap
        return relative(abs(moment.objective - bound), moment.objective, bound, self.scale)

    @property
    def contradiction(self) -> str:
        """A sentence where one entrant's bound lies above another's feasible value, which is a bug of fwdsl; else empty."""
        bound = self.sense * self.dual_bound
        for e in self.entrants:
            c = e.solution.certificate if e.solution is not None else None
            if c is None or c.infeasibility > 1e-12 or not (math.isfinite(c.objective) and math.isfinite(bound)):
                continue
            if relative(bound - self.sense * c.objective, c.objective, bound, self.scale) > 1e-9:
                return f"`{e.name}` found a feasible point of value {c.objective:.12g}, and the best bound is {self.dual_bound:.12g}"
        return ""

    def to_json(self) -> dict[str, object]:
        """The race as plain data; moments are lists of seconds, passes, iteration, objective, dual bound and gap."""
        o = self.options
        return {
            "status": self.status,
            "tol": o.tol,
            "gap": o.gap,
            "time": o.time,
            "seed": o.seed,
            "threads": o.threads,
            "dual_bound": self.dual_bound,
            "methods": [_entrant_json(e, self.levels) for e in self.entrants],
        }

    def plot(self, name: str) -> None:
        """Draw gap against time and passes into a file whose suffix tells the format (extra `plot`)."""
        from .plot import plot_race, require_plot

        require_plot(name)
        plot_race(name, self.entrants)


def _entrant_json(e: Entrant, levels: Sequence[float]) -> dict[str, object]:
    last = e.moments[-1] if e.moments else None
    return {
        "name": e.name,
        "method": e.method,
        "options": dict(e.options),
        "status": e.status,
        "reason": e.reason,
        "objective": last.objective if last else None,
        "dual_bound": last.dual_bound if last else None,
        "relative_gap": e.relative_gap,
        "iterations": e.iterations,
        "passes": e.passes,
        "seconds": e.seconds,
        "verify_seconds": e.verify_seconds,
        "to": [{"relative_gap": x, "seconds": e.to(x), "passes": e.to(x, "passes")} for x in levels],
        "moments": [[m.seconds, m.passes, m.iteration, m.objective, m.dual_bound, m.relative_gap] for m in e.moments],
    }


# --- running ---------------------------------------------------------------------------------------------------------


def run_race(
    session: Session,
    entered: Sequence[RaceLane],
    on_progress: OnProgress | None = None,
    on_entrant: Callable[[Entrant], None] | None = None,
) -> Race:
    """Let each lane run, one after the other; `on_entrant` is called with each that has finished.

    Ctrl-C ends the race and keeps what has finished.
    """
    form, options = session.canonicalise(), session.options
    levels = levels_of(options)
    done: list[Entrant] = []
    interrupted = False
    try:
        for lane in sorted(entered, key=lambda lane: lane.plan is None):
            entrant = _run(form, lane, options, levels, on_progress)
            done.append(entrant)
            if on_entrant is not None:
                on_entrant(entrant)
            if entrant.status == "interrupted":
                interrupted = True
                break
    except KeyboardInterrupt:
        interrupted = True
    ranked = tuple(sorted(done, key=lambda e: _rank(e, levels)))
    names = {e.name for e in done}
    waiting = tuple(lane.name for lane in entered if lane.plan and lane.name not in names)
    scale = max((e.solution.certificate.scale for e in done if e.solution is not None), default=form.scale)
    return Race(ranked, options, levels, scale, form.sense, interrupted, waiting)


def levels_of(options: Options) -> tuple[float, ...]:
    """The gaps at which methods are compared: the usual ones, down to the tolerance."""
    if options.gap == "absolute":
        return LEVELS
    return (*(level for level in LEVELS if level > options.tol), options.tol)


def _rank(e: Entrant, levels: Sequence[float]) -> tuple[object, ...]:
    """The sort key of an entrant: whether it ran, the times to the levels from the smallest gap up, then its last gap."""
    return (not e.ran, *(e.to(level) for level in reversed(levels)), e.relative_gap, e.status == "does not apply")


def _run(
    form: Form,
    lane: RaceLane,
    options: Options,
    levels: tuple[float, ...],
    on_progress: OnProgress | None,
) -> Entrant:
    if lane.plan is None:
        return Entrant(lane.name, lane.name.partition("(")[0], "does not apply", lane.reason)
    raised: list[BaseException] = []

    def tell(progress: Progress) -> bool | None:
        try:
            return on_progress(lane.name, progress) if on_progress is not None else None
        except BaseException as error:
            raised.append(error)
            raise

    method, own = lane.plan.method, lane.plan.method_options
    try:
        solution, watch = _timed(form, lane.plan, options, levels, tell)
    except Exception as error:
        if raised:  # the caller's own error, which is no failure of the method
            raise
        return Entrant(lane.name, method, "failed", _failure(error), own)
    return Entrant(
        lane.name,
        method,
        solution.status,
        solution.reason,
        own,
        tuple(watch.moments),
        solution.iterations,
        solution.times.verify,
        replace(solution, state=None, plan=lane.plan, instance=form.instance, options=options),
    )


def _timed(
    form: Form,
    plan: Plan,
    options: Options,
    levels: tuple[float, ...],
    tell: Callable[[Progress], bool | None],
) -> tuple[Solution, Watch]:
    """A run with warm kernels, and its watch. Short runs go first until no kernel is compiled or loaded; a run in which one was is repeated."""
    from ..backends.kernels.compile import compiled_signatures, loaded_signatures
    from ..solve import solve

    def once(within: Options) -> tuple[Solution, Watch, bool]:
        before = kernels()
        watch = Watch(levels)
        solution = solve(form, plan, within, tell, watch=watch)
        return solution, watch, kernels() == before or solution.status == "interrupted"

    def kernels() -> int:
        return len(compiled_signatures()) + len(loaded_signatures())

    short = replace(options, time=min(WARM_UP, 0.1 * options.time))
    for within, times in ((short, 3), (options, 2)):
        for _ in range(times):
            solution, watch, clean = once(within)
            if clean:
                break
        if solution.status == "interrupted":
            break
    return solution, watch


def _failure(error: Exception) -> str:
    if isinstance(error, FwError):
        return error.diagnostics[0].message
    if isinstance(error, MemoryError):
        return "the memory of this machine ran out"
    return f"a bug of fwdsl: {type(error).__name__}: {error}"
