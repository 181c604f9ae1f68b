"""One loop for all methods: time, limits, progress, interruption, checkpoints, and when to ask the verifier.

The status starts as "not solved"; only a verified certificate within the tolerance ends it as `optimal`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..backends.kernels.pool import Stopped
from ..backends.kernels.uncompiled import looking
from ..backends.method import Method, Report, Run
from ..backends.problem import PreparedProblem
from ..backends.registry import METHODS
from ..certify.verified import DualBound, Verified
from ..model.options import Options
from ..plan import Plan
from ..results.solution import Progress
from ..results.status import Status
from .forms import Solvable, Start
from .interrupt import BrokenOff, Control
from .journal import FEASIBLE, Journal
from .no_solution import no_solution
from .relay import Lane
from .state import Checkpoint
from .supervisor import Before, Supervisor, now
from .watch import Watch

SECOND_RAY = 128
"""Iterations at which directions are tried again as certificates that there is no solution; then whenever their number has doubled."""

STALLED = 200
"""Steps without any change after which a run ends."""

LOST = 3_000
"""Steps at the edge of the objective's domain or outside of it, without any gain, after which a run ends: constraints that only touch a domain have
no point in it, and nothing proves that."""

BOUND_ABOVE = "FW9002"
"""The code of a bound above the objective of a feasible point."""

OUT_OF_RANGE = "a decomposition failed: the numbers are out of range, or nearly so"


@dataclass(frozen=True)
class Turn:
    """A turn of a method among several: its lane, the passes of its own at which it ends, and what all turns before it took.

    `later` tells when it ends where that is more, and is asked when the passes are over.
    """

    lane: Lane
    until: float
    before: Before
    later: Callable[[], float] | None = None


OnState = Callable[[Checkpoint], None]

CERTIFIED: tuple[Status, str] = ("optimal", "the tolerance is certified")


@dataclass
class Outcome:
    """The end of a run: the best verified answer and its bookkeeping. There is no state where a step was broken off that cannot go on."""

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
    state: Checkpoint | None = None
    #: The method sees no way on: no limit of the run ended it.
    gave_up: bool = False
    #: Its turn is over, and nothing else ended it.
    paused: bool = False
    run: Run[Any, Any] | None = None
    own_gap: float = math.inf


def drive(
    task: Solvable,
    problem: Any,
    plan: Plan,
    at: Start,
    options: Options,
    *,
    resume: Checkpoint | None = None,
    on_progress: Callable[[Progress], bool | None] | None = None,
    control: Control | None = None,
    on_state: OnState | None = None,
    watch: Watch | None = None,
    turn: Turn | None = None,
) -> Outcome:
    """Run the plan's method on what `task` prepared until the tolerance is certified or a limit is reached.

    The run starts at a point, or goes on from `resume`, within the limits of the run; the point is the answer where even the start is broken
    off. With a `watch` the limit of time, and all times that it notes, are those of the method: the clock starts with it and stops while the
    verifier or a callback has its turn. A `turn` ends when its passes are over.
    """
    method, method_options = METHODS[plan.method], dict(plan.method_options)
    over = _supervisor(task, problem, method, options, control or Control(), on_progress, watch, resume, turn)
    journal, live = over.journal, turn.lane.run if turn is not None else None
    checkpoint: Checkpoint | None = None
    with over.asked(over.must_stop):
        try:
            with over.control.breakable(), looking(over.break_off_late):
                with over.asked(over.must_not_start):
                    over.iteration = 0 if resume is None else resume.iteration
                    began = now()
                    run = live or _begun(method, problem, method_options, at, resume)
                    if turn is not None and live is None:
                        turn.lane.beginning = now() - began
                over.run, over.iteration, journal.passes = run, run.state.iteration, over.passes
                checkpoint = Checkpoint(method.name, method_options, run.state, journal)
                status, reason = _loop(over, run, checkpoint, on_state)
            report = run.report()
        except (BrokenOff, Stopped, np.linalg.LinAlgError) as error:
            status, reason = over.ending() or ("interrupted", "interrupted")
            if isinstance(error, np.linalg.LinAlgError):
                status, reason = over.give_up(OUT_OF_RANGE)
            report = _rescue(over, at.x)
            checkpoint = None
        if checkpoint is not None:
            # what is verified because a limit is reached is no part of a run that goes on
            checkpoint = Checkpoint(method.name, method_options, checkpoint.state, journal.copied())
            status, reason = _verified_at_last(over, status, reason, at.x)
    over.tell(report, last=True)
    return _outcome(over, status, reason, checkpoint)


def _supervisor(
    task: Solvable,
    problem: Any,
    method: type[Method],
    options: Options,
    control: Control,
    on_progress: Callable[[Progress], bool | None] | None,
    watch: Watch | None,
    resume: Checkpoint | None,
    turn: Turn | None,
) -> Supervisor:
    if turn is not None:
        lane = turn.lane
        over = Supervisor(task, problem, method, options, lane.journal, control, on_progress, watch, before=turn.before)
        over.until, over.later, over.too_slow, over.own = turn.until, turn.later, lane.is_slow, lane.own
        over.slow_after = lane.patience - lane.seconds
        over.verified_at = -1 if lane.run is None else lane.run.state.iteration
        return over
    journal = resume.journal.copied() if resume is not None else Journal(0, scale=task.form.scale)
    task.attempts = max(task.attempts, journal.attempts)
    return Supervisor(task, problem, method, options, journal, control, on_progress, watch)


def _begun(
    method: type[Method], problem: Any, method_options: Mapping[str, object], at: Start, resume: Checkpoint | None
) -> Run[Any, Any]:
    """The run from a start or a saved state. Raises `LinAlgError` where the numbers are out of range."""
    try:
        if resume is not None:
            return method.resume(problem, method_options, resume.state)
        return method.start(problem, method_options, at.x, at.ys)
    except ArithmeticError as error:
        raise np.linalg.LinAlgError(OUT_OF_RANGE) from error


def _rescue(over: Supervisor, x: Any) -> Report:
    """Have a point verified after a step was cut in two: that of the state or, if it is useless, the starting point."""
    # workers that still write would move the point under the verifier
    over.problem.pool.close()
    try:
        if over.run is not None:
            over.verify(last=True)
    except Exception:
        # half a step may leave anything behind
        over.verified_at = -1
    if over.journal.best.primal is None:
        over.note(x, None, None, lambda: True)
    found = over.journal.best.merged()
    return Report(found.primal, found.dual, "interrupted", found.infeasibility)


def _verified_at_last(over: Supervisor, status: Status, reason: str, start: Any) -> tuple[Status, str]:
    """The end of a run after the verifier has seen its last point, and the start where numbers overflowed at all others."""
    proven = status in ("optimal", "infeasible", "unbounded")
    if not proven and over.verified_at != over.iteration and over.verify(last=True):
        status, reason = CERTIFIED
    if over.journal.best.primal is None:
        over.verify(last=True)
    best = over.journal.best.primal
    if best is None or math.isnan(best.primal):
        over.note(start, None, None, lambda: True)
    return status, reason


def _outcome(over: Supervisor, status: Status, reason: str, checkpoint: Checkpoint | None) -> Outcome:
    best = over.journal.best
    verified = best.merged()
    if over.ray is not None and status in ("infeasible", "unbounded"):
        value = math.inf if status == "infeasible" else -math.inf
        proof = DualBound(value, 0.0, over.ray.kind, over.ray.statement, over.ray.radius, verified.y)
        verified = replace(verified, bound=proof)
    elif verified.contradicts():
        # FW9002: a bound above the value of a feasible point is a bug of ours, and never an answer
        status, reason = (
            "tolerance_not_reached",
            f"{BOUND_ABOVE}: the dual bound lies above the objective, which is a bug of fwdsl",
        )
        verified = replace(verified, bound=replace(verified.bound, kind="estimate"))
    assert best.x is not None
    return Outcome(
        status,
        verified,
        best.x,
        over.iteration,
        over.passes,
        over.journal.verify_passes,
        now() - over.started,
        over.verify_seconds,
        reason,
        tuple(over.history),
        checkpoint,
        over.gave_up and status == "tolerance_not_reached",
        over.paused and status == "tolerance_not_reached",
        over.run,
        over.own_gap(),
    )


def _loop(over: Supervisor, run: Run[Any, Any], checkpoint: Checkpoint, on_state: OnState | None) -> tuple[Status, str]:
    """Steps until the run ends, and how it ends. Where numbers overflow, the state before the step is the one that it ends with."""
    sound: dict[str, Any] | None = None
    while True:
        report = run.report()
        if sound is not None and _has_overflown(run, report):
            vars(run.state).update(sound)
            over.iteration = run.state.iteration
        sound = dict(vars(run.state)) if math.isfinite(report.objective) else None
        if not over.tell(report):
            return "interrupted", "the callback asked to stop"
        ending = _certified(over, report) or _limited(over) or _hopeless(over, run, report)
        if ending is None and over.turn_is_over():
            over.paused = True
            ending = "tolerance_not_reached", "the turn of the method is over"
        if ending is not None:
            return ending
        before = dict(vars(run.state))
        try:
            with over.asked(over.must_leave):
                run.step()
        except Stopped:
            vars(run.state).update(before)
        except (np.linalg.LinAlgError, ArithmeticError):
            return over.give_up(OUT_OF_RANGE)
        over.iteration = run.state.iteration
        over.journal.passes = over.passes
        # a step that was broken off counts no iteration, and may have found a better point
        over.verified_at = -1
        if on_state is not None:
            on_state(checkpoint)


def _certified(over: Supervisor, report: Report) -> tuple[Status, str] | None:
    """The end where the tolerance is certified; the verifier is asked where its turn has come."""
    journal, iteration = over.journal, over.iteration
    if over.looks_done(report) and iteration >= journal.next_verify:
        if over.verify():
            return CERTIFIED
        journal.next_verify = iteration + 1 + iteration // 8
    elif (over.is_watched(report) or over.is_due() or over.has_vanished(report)) and over.verify():
        return CERTIFIED
    return None


def _limited(over: Supervisor) -> tuple[Status, str] | None:
    """The end by a limit or an interruption."""
    most = over.options.max_iter if over.options.max_iter is not None else math.inf
    if over.control.stop or over.iteration < most:
        ending = over.ending()
        if ending is not None:
            return ending
    else:
        return "tolerance_not_reached", f"the limit of {over.options.max_iter} iterations"
    own = over.journal.first + over.method.most_iterations
    if over.iteration >= own:
        return over.give_up(f"{over.method.name}'s own limit of {own} iterations")
    return None


def _hopeless(over: Supervisor, run: Run[Any, Any], report: Report) -> tuple[Status, str] | None:
    """The end where there is no solution, or where further steps are pointless."""
    journal = over.journal
    pointless = _pointless(over, run, report)
    if over.iteration >= journal.next_ray or pointless or report.leaves:
        journal.next_ray = max(SECOND_RAY, 2 * over.iteration)
        best = journal.best.primal
        missed = max(report.infeasibility, 0.0 if best is None else best.infeasibility)
        stuck = missed > max(0.5 * journal.violation, FEASIBLE) or bool(pointless) or report.leaves
        journal.violation = missed
        proven = no_solution(run, stuck, journal.best, over.must_stop)
        if proven is not None:
            status, over.ray = proven
            return status, over.ray.statement
    return over.give_up(pointless) if pointless else None


def _pointless(over: Supervisor, run: Run[Any, Any], report: Report) -> str:
    """The reason why further steps are pointless; "" where they are not."""
    if report.failure:
        return report.failure
    if over.journal.count_unmoved(report.objective, report.bound, report.infeasibility) >= STALLED:
        return "no further progress: the numbers have reached the limits of rounding"
    if _has_domain(run) and over.journal.count_lost(report.objective, report.bound, report.infeasibility) >= LOST:
        return "no further progress: all points are at the edge of the objective's domain, or outside of it"
    return "the objective is no longer finite" if _has_overflown(run, report) and over.iteration > 0 else ""


def _has_domain(run: Run[Any, Any]) -> bool:
    """True if the objective is infinite in places, as outside of a logarithm's domain: until a point in it is found, and where iterates leave it
    again."""
    return isinstance(run.problem, PreparedProblem) and run.problem.canonical.has_losses_on_sets


def _has_overflown(run: Run[Any, Any], report: Report) -> bool:
    """True if the objective is no number, or infinite though it has no domain."""
    return not math.isfinite(report.objective) and not (_has_domain(run) and report.objective == math.inf)
