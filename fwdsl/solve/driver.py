"""One loop for all methods: time, limits, progress, interruption, checkpoints, and when to ask the verifier.

The status starts as "not solved"; only a verified certificate within the tolerance ends it as `optimal`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..backends.kernels.compile import kernel_seconds
from ..backends.kernels.pool import Stopped
from ..backends.method import Method, Report
from ..canon.forms import Form
from ..certify import Bound, Verified
from ..certify.rays import Ray
from ..options import Options
from ..solution import Progress, Status, relative
from .interrupt import BrokenOff, Control
from .journal import FEASIBLE, Journal
from .no_solution import no_solution
from .watch import Moment, Watch

SECOND_RAY = 128
"""Iterations at which directions are tried again as certificates that there is no solution; then whenever their number has doubled."""

LEAST_START = 0.5
"""Seconds that a method's start may take whatever the limit: a point with a bound is worth them."""

STALLED = 200
"""Steps without any change after which a run ends."""

BOUND_ABOVE = "FW9002"
"""The code of a bound above the objective of a feasible point."""

OUT_OF_RANGE = "a decomposition failed: the numbers are out of range, or nearly so"

PROGRESS_EVERY = 0.1
HISTORY = 400


#: `fwdsl.solve.forms.Solvable.verify` for a problem: (x, dual point, sizes of unknowns, whether it is the first, whether to stop) -> points
#: with what the verifier says of them.
Certifier = Callable[
    [Any, "list[Array] | None", "Array | None", bool, Callable[[], bool]], Iterator[tuple[Any, Verified]]
]


def now() -> float:
    """A clock that stands still while kernels are compiled or loaded: a limit of time is one of solving."""
    return time.perf_counter() - kernel_seconds()


@dataclass
class Outcome:
    """How a run ended: the best verified answer and its bookkeeping; without a state where a step was broken off that cannot go on."""

    status: Status
    verified: Verified
    x: Any
    iterations: int
    passes: float
    verify_passes: float
    seconds: float
    verify_seconds: float
    reason: str
    history: tuple[Progress, ...]
    state: Any = None


@dataclass
class _Run:
    canonical: Form
    problem: Any
    method: Method
    options: Options
    control: Control
    on_progress: Callable[[Progress], bool | None] | None
    on_state: Callable[[Any], None] | None
    certify: Certifier
    watch: Watch | None = None
    started: float = field(default_factory=now)
    away: float = 0.0
    repaired: float = 0.0
    resumed_at: float = 0.0
    history: list[Progress] = field(default_factory=list)
    journal: Journal = field(default_factory=lambda: Journal(0))
    verify_seconds: float = 0.0
    verified_at: int = -1
    ray: Ray | None = None
    last_progress: float = -math.inf
    iteration: int = 0
    stride: int = 1

    def seconds(self) -> float:
        """The time on the run's clock, which stops outside the method where it is watched."""
        elapsed = now() - self.started
        return elapsed - self.away if self.watch is not None else elapsed

    def must_stop(self) -> bool:
        """Whether time is over or the run is interrupted, for methods that ask within a step."""
        return self.control.stop or self.seconds() >= self.options.time

    def must_not_start(self) -> bool:
        """The same for a method's start, which has `LEAST_START` seconds at least."""
        return self.control.stop or self.seconds() >= max(self.options.time, LEAST_START)

    def ending(self) -> tuple[Status, str] | None:
        """How the run ends where it is interrupted, or its time is over."""
        if self.control.stop:
            return "interrupted", "interrupted"
        if self.seconds() >= self.options.time:
            return "tolerance_not_reached", f"the limit of {self.options.time:g} s"
        return None

    @property
    def passes(self) -> float:
        """Data passes of the method from its first start, without those of repairing dual points for the verifier."""
        return self.resumed_at + float(self.problem.passes) - self.repaired


def drive(
    canonical: Form,
    problem: Any,
    method: Method,
    start: Callable[[], Any],
    x: Any,
    certify: Certifier,
    options: Options,
    on_progress: Callable[[Progress], bool | None] | None = None,
    control: Control | None = None,
    on_state: Callable[[Any], None] | None = None,
    watch: Watch | None = None,
) -> Outcome:
    """Run a method until the tolerance is certified or a limit is reached; `certify` asks the verifier.

    `start` makes the state that it starts from, within the limits of the run; `x` is the point it is made of, which is the answer where even
    that is broken off. With a `watch` the limit of time, and all times that it notes, are those of the method: the clock starts with it and
    stops while the verifier or a callback has its turn.
    """
    run = _Run(canonical, problem, method, options, control or Control(), on_progress, on_state, certify, watch)
    run.started = watch.started - kernel_seconds() if watch is not None else run.started
    state: Any = None
    with _asked(run, run.must_stop):
        try:
            with run.control.breakable():
                with _asked(run, run.must_not_start):
                    state = start()
                _begin(run, state)
                status, reason = _loop(run, state)
            report = method.report(problem, state)
        except (BrokenOff, Stopped, np.linalg.LinAlgError) as error:
            status, reason = run.ending() or ("interrupted", "interrupted")
            if isinstance(error, np.linalg.LinAlgError):
                status, reason = "tolerance_not_reached", OUT_OF_RANGE
            report = _rescue(run, state, x)
            state = None
        if state is not None:
            # what is verified because a limit is reached is no part of a run that goes on
            state.journal = run.journal.copied()
            if run.verified_at != state.iteration and status not in ("optimal", "infeasible", "unbounded"):
                _verify(run, state, last=True)
                if _is_optimal(run):
                    status, reason = "optimal", "the tolerance is certified"
            if run.journal.best.primal is None:
                _verify(run, state, last=True)
    verified = run.journal.best.merged()
    if run.ray is not None and status in ("infeasible", "unbounded"):
        value = math.inf if status == "infeasible" else -math.inf
        proof = Bound(value, 0.0, run.ray.kind, run.ray.statement, run.ray.radius, verified.y)
        verified = replace(verified, bound=proof)
    elif verified.contradicts():
        # FW9002: a bound above the value of a feasible point is a bug of ours, and never an answer
        status, reason = (
            "tolerance_not_reached",
            f"{BOUND_ABOVE}: the dual bound lies above the objective, which is a bug of fwdsl",
        )
        verified = replace(verified, bound=replace(verified.bound, kind="estimate"))
    _report_progress(run, report, last=True)
    assert run.journal.best.x is not None
    return Outcome(
        status,
        verified,
        run.journal.best.x,
        run.iteration,
        run.passes,
        run.journal.verify_passes,
        now() - run.started,
        run.verify_seconds,
        reason,
        tuple(run.history),
        state,
    )


def _begin(run: _Run, state: Any) -> None:
    """Take over the journal of a state that was resumed, or give it one."""
    resumed = getattr(state, "journal", None)
    run.journal = resumed.copied() if resumed is not None else Journal(state.iteration, scale=run.canonical.scale)
    run.resumed_at = run.journal.passes
    run.journal.passes = run.passes
    run.iteration = state.iteration
    state.journal = run.journal


def _rescue(run: _Run, state: Any, x: Any) -> Report:
    """Have the point verified of a state whose last step was cut in two, or, where that holds nothing of use, the one that the run started from."""
    # workers that still write would move the point under the verifier
    run.problem.pool.close()
    try:
        if state is not None:
            _verify(run, state, last=True)
    except Exception:
        # half a step may leave anything behind
        run.verified_at = -1
    if run.journal.best.primal is None:
        _certify(run, x, None, None, lambda: True)
    found = run.journal.best.merged()
    return Report(found.primal, found.dual, "interrupted", found.infeasibility)


def _loop(run: _Run, state: Any) -> tuple[Status, str]:
    limit = run.options.max_iter if run.options.max_iter is not None else math.inf
    own_limit = run.journal.first + run.method.most_iterations
    while True:
        report = run.method.report(run.problem, state)
        if not _report_progress(run, report):
            return "interrupted", "the callback asked to stop"
        if _looks_done(run, report) and state.iteration >= run.journal.next_verify:
            _verify(run, state)
            if _is_optimal(run):
                return "optimal", "the tolerance is certified"
            run.journal.next_verify = state.iteration + 1 + state.iteration // 8
        elif _is_watched(run, state, report) or _is_due(run, state):
            _verify(run, state)
            if _is_optimal(run):
                return "optimal", "the tolerance is certified"
        if run.control.stop or state.iteration < limit:
            ending = run.ending()
        else:
            ending = "tolerance_not_reached", f"the limit of {run.options.max_iter} iterations"
        if ending is not None:
            return ending
        if state.iteration >= own_limit:
            return "tolerance_not_reached", f"{run.method.name}'s own limit of {own_limit} iterations"
        if state.iteration >= run.journal.next_ray or report.failure:
            run.journal.next_ray = max(SECOND_RAY, 2 * state.iteration)
            seen = run.journal.best.primal
            missed = max(report.infeasibility, 0.0 if seen is None else seen.infeasibility)
            stuck = missed > max(0.5 * run.journal.violation, FEASIBLE) or bool(report.failure)
            run.journal.violation = missed
            proven = no_solution(run.problem, run.method, state, stuck, run.journal.best, run.must_stop)
            if proven is not None:
                verdict, run.ray = proven
                return verdict, run.ray.statement
        if report.failure:
            return "tolerance_not_reached", report.failure
        if run.journal.moved(report.objective, report.bound, report.infeasibility) >= STALLED:
            return "tolerance_not_reached", "no further progress: the numbers have reached the limits of rounding"
        if not math.isfinite(report.objective) and state.iteration > 0:
            return "tolerance_not_reached", "the objective is no longer finite"
        before = dict(vars(state))
        try:
            run.method.step(run.problem, state)
        except Stopped:
            vars(state).update(before)
        except np.linalg.LinAlgError:
            return "tolerance_not_reached", OUT_OF_RANGE
        run.iteration = state.iteration
        run.journal.passes = run.passes
        # a step that was broken off counts no iteration, and may have found a better point
        run.verified_at = -1
        if run.on_state is not None:
            run.on_state(state)


def _is_due(run: _Run, state: Any) -> bool:
    """Whether so many data passes have gone by that the verifier has a look whatever the method believes."""
    if run.passes < run.journal.next_look or run.verified_at == state.iteration:
        return False
    run.journal.next_look = 2.0 * run.passes
    return True


def _is_watched(run: _Run, state: Any, report: Report) -> bool:
    """Whether who watches the run wants it verified now; never twice at the same point."""
    if run.watch is None or run.verified_at == state.iteration:
        return False
    gap = _believed_gap(run, report) if report.infeasibility <= FEASIBLE else math.inf
    return run.watch.wants(run.seconds(), gap, run.verify_seconds)


def _believed_gap(run: _Run, report: Report) -> float:
    """The relative gap by the method's own numbers."""
    gap = abs(report.objective - run.journal.best_bound) + report.hidden
    return relative(gap, report.objective, run.journal.best_bound, run.journal.scale)


def _looks_done(run: _Run, report: Report) -> bool:
    run.journal.best_bound = max(run.journal.best_bound, report.bound) if report.infeasibility == 0.0 else report.bound
    if report.infeasibility > FEASIBLE:
        return False
    if run.options.gap == "absolute":
        return abs(report.objective - report.bound) + report.hidden <= run.options.tol
    gap = abs(report.objective - report.bound) + report.hidden
    return relative(gap, report.objective, report.bound, run.journal.scale) <= run.options.tol


def _is_certified(run: _Run, v: Verified) -> bool:
    """Whether the gap may be called one: a feasible point, and a bound that is more than an estimate."""
    inside = min(1e-9, 1e-12 * math.sqrt(max(1, run.canonical.size)))
    if v.kind in ("estimate", "none") or not v.infeasibility <= FEASIBLE or not v.point.outside <= inside:
        return False
    return not v.contradicts()


def _is_optimal(run: _Run) -> bool:
    v = run.journal.best.merged()
    if not _is_certified(run, v):
        return False
    return _meets(run, v)


def _meets(run: _Run, v: Verified) -> bool:
    """Whether the gap is within the tolerance, whatever it is known by."""
    return (v.gap if run.options.gap == "absolute" else v.relative_gap) <= run.options.tol


def _verify(run: _Run, state: Any, last: bool = False) -> None:
    """Have the candidate verified, its dual point repaired where the blocks' domains ask for it.

    The repair ends when the run's time is over or it is interrupted; at the end of a run (`last`) it has half a second, or a tenth of what
    the run took, for a limit is to be honoured.
    """
    begin, elapsed, before = now(), run.seconds(), run.problem.passes
    x, ys = run.method.candidate(run.problem, state)
    deadline = begin + (max(0.5, 0.1 * elapsed) if last else run.options.time - elapsed)
    asked = run.control.stop

    def stop() -> bool:
        return now() > deadline or run.control.impatient or (run.control.stop and not asked)

    columns = run.method.scales(run.problem, state)[0]
    with _asked(run, stop):
        _certify(run, x, ys, columns, stop)
    repaired = run.problem.passes - before
    run.repaired += repaired
    run.journal.verify_passes += repaired
    run.verify_seconds += now() - begin
    run.verified_at = state.iteration
    if run.watch is not None:
        run.watch.see(_moment(run, state.iteration, elapsed))
    run.away += now() - begin


def _moment(run: _Run, iteration: int, seconds: float) -> Moment:
    v, sense = run.journal.best.merged(), run.canonical.sense
    gap = v.relative_gap if _is_certified(run, v) else math.inf
    return Moment(seconds, run.passes, iteration, sense * v.primal, sense * v.dual, gap)


def _certify(run: _Run, x: Any, ys: list[Array] | None, columns: Array | None, stop: Callable[[], bool]) -> None:
    """Note what the verifier says of a point, or of what it is made into until the tolerance is met or the time for it is over."""
    first = run.journal.best.primal is None
    for count, (point, verified) in enumerate(run.certify(x, ys, columns, first, stop)):
        run.journal.add(point, verified)
        if _is_optimal(run) or (count >= 2 and stop()):
            break


def _report_progress(run: _Run, report: Report, last: bool = False) -> bool:
    """Record where the run stands and, about ten times a second, pass it on; False where the callback asked to stop."""
    elapsed = run.seconds()
    due = not last and run.on_progress is not None and elapsed - run.last_progress >= PROGRESS_EVERY
    keep = last or run.iteration % run.stride == 0
    if not (keep or due):
        return True
    sense = run.canonical.sense
    progress = Progress(
        report.phase,
        run.method.name,
        run.iteration,
        run.passes,
        elapsed,
        sense * report.objective,
        sense * report.bound,
        relative(
            abs(report.objective - report.bound) + report.hidden, report.objective, report.bound, run.journal.scale
        ),
    )
    if keep:
        run.history.append(progress)
        if len(run.history) > HISTORY:
            run.history = run.history[::2]
            run.stride *= 2
    if due and run.on_progress is not None:
        run.last_progress = elapsed
        begin = now()
        goes_on = run.on_progress(progress) is not False
        run.away += now() - begin
        return goes_on
    return True


@contextmanager
def _asked(run: _Run, stop: Callable[[], bool]) -> Iterator[None]:
    """While open, the problem says by `stop` whether work on it is to end; afterwards nothing ties it to the run, which would keep its data
    alive."""
    pool = run.problem.pool
    before, pool.must_stop = pool.must_stop, stop
    try:
        yield
    finally:
        pool.must_stop = before
