"""One loop for all methods: time, limits, progress, interruption, checkpoints, and when to ask the verifier.

The status starts as "not solved"; only a verified certificate within the tolerance ends it as `optimal`.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..atoms.base import Array, VectorFunction
from ..backends.dual import polish_ray, repair
from ..backends.functions import relative_gap
from ..backends.method import Method, Report
from ..canon.factored import Factored
from ..canon.form import Canonical
from ..certify import Verified, verify
from ..certify.rays import Ray, infeasible, unbounded
from ..certify.verify import evaluate_primal
from ..options import Options
from ..solution import Progress, Status

FEASIBLE = 1e-7
"""The largest relative violation of a constraint that `optimal` allows (language.md, section 7)."""

FIRST_RAY = 128
"""Iterations at which directions are first tried as certificates that there is no solution; then whenever their number has doubled."""

BOUND_ABOVE = "FW9002"
"""The code of a bound above the objective of a feasible point."""

PROGRESS_EVERY = 0.1
HISTORY = 400

#: Iterations after which a run ends whatever the options say; a limit is a status, never an exception.
DEFAULT_ITERATIONS = {"apg": 20_000, "frank_wolfe": 200_000, "pdhg": 400_000, "lowrank": 20_000}


#: (x, dual point, whether to stop) -> what the verifier found.
Certifier = Callable[[Any, Any, Callable[[], bool]], Verified]


@dataclass
class Control:
    """What the caller can do to a running solve: `stop` ends it after the current step (Ctrl-C sets it, and so may another thread)."""

    stop: bool = False


@dataclass
class Outcome:
    """How a run ended: the best verified answer and its bookkeeping."""

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
class _Best:
    """The best primal point and the best bound ever verified; a bound stays valid whatever point it came with."""

    x: Any = None
    primal: Verified | None = None
    bound: Verified | None = None

    def add(self, x: Any, v: Verified) -> None:
        """Keep what is better."""
        old = self.primal
        if old is None or _rank(v) < _rank(old):
            self.x, self.primal = x.copy(), v
        # only bounds that rest on nothing of their own point serve another one
        trusted = v.kind in ("exact", "rigorous", "probabilistic")
        if trusted and (self.bound is None or v.dual > self.bound.dual):
            self.bound = v

    def merged(self) -> Verified:
        """The best point with the bound that serves it best."""
        assert self.primal is not None
        own, other = self.primal, self.bound
        if other is not None and other.dual > own.dual:
            return replace(
                own, dual=other.dual, kind=other.kind, statement=other.statement, radius=other.radius, y=other.y
            )
        return own


def _rank(v: Verified) -> tuple[bool, bool, float]:
    """Finite points first, then feasible ones, by objective; then by how far they are from feasible."""
    infeasible = not v.infeasibility <= FEASIBLE
    return not math.isfinite(v.primal), infeasible, v.infeasibility if infeasible else v.primal


@dataclass
class _Run:
    canonical: Canonical | Factored
    problem: Any
    method: Method
    options: Options
    control: Control
    on_progress: Callable[[Progress], bool | None] | None
    on_state: Callable[[Any], None] | None
    certify: Certifier | None
    started: float = field(default_factory=time.perf_counter)
    history: list[Progress] = field(default_factory=list)
    best: _Best = field(default_factory=_Best)
    best_bound: float = -math.inf
    verify_passes: float = 0.0
    verify_seconds: float = 0.0
    verified_at: int = -1
    next_verify: int = 0
    next_ray: int = 64
    ray: Ray | None = None
    violation: float = math.inf
    last_progress: float = -math.inf
    stride: int = 1


def drive(
    canonical: Canonical | Factored,
    problem: Any,
    method: Method,
    state: Any,
    options: Options,
    on_progress: Callable[[Progress], bool | None] | None = None,
    control: Control | None = None,
    on_state: Callable[[Any], None] | None = None,
    certify: Certifier | None = None,
) -> Outcome:
    """Run a method from a state until the tolerance is certified or a limit is reached; `certify` verifies points that are no arrays."""
    run = _Run(canonical, problem, method, options, control or Control(), on_progress, on_state, certify)
    with _interruptible(run.control) as interrupted:
        status, reason = _loop(run, state, interrupted)
        if run.verified_at != state.iteration and status not in ("optimal", "infeasible", "unbounded"):
            _verify(run, state, last=True)
            if _is_optimal(run):
                status, reason = "optimal", "the tolerance is certified"
    if run.best.primal is None:
        _verify(run, state, last=True)
    verified = run.best.merged()
    if run.ray is not None and status in ("infeasible", "unbounded"):
        verified = replace(
            verified,
            dual=math.inf if status == "infeasible" else -math.inf,
            kind=run.ray.kind,
            statement=run.ray.statement,
            radius=run.ray.radius,
        )
    elif verified.contradicts(canonical.scale):
        # FW9002: a bound above the value of a feasible point is a bug of ours, and never an answer
        status, reason = (
            "tolerance_not_reached",
            f"{BOUND_ABOVE}: the dual bound lies above the objective, which is a bug of fwdsl",
        )
        verified = replace(verified, kind="estimate")
    _report_progress(run, state, method.report(problem, state), last=True)
    assert run.best.x is not None
    return Outcome(
        status,
        verified,
        run.best.x,
        state.iteration,
        problem.passes,
        run.verify_passes,
        time.perf_counter() - run.started,
        run.verify_seconds,
        reason,
        tuple(run.history),
        state,
    )


def _loop(run: _Run, state: Any, interrupted: Callable[[], bool]) -> tuple[Status, str]:
    limit = run.options.max_iter if run.options.max_iter is not None else math.inf
    own_limit = state.iteration + DEFAULT_ITERATIONS.get(run.method.name, 100_000)
    stalled = _Stall()
    while True:
        report = run.method.report(run.problem, state)
        if not _report_progress(run, state, report):
            return "interrupted", "the callback asked to stop"
        if _looks_done(run, report) and state.iteration >= run.next_verify:
            _verify(run, state)
            if _is_optimal(run):
                return "optimal", "the tolerance is certified"
            run.next_verify = state.iteration + 1 + state.iteration // 8
        if interrupted():
            return "interrupted", "interrupted"
        if state.iteration >= limit:
            return "tolerance_not_reached", f"the limit of {run.options.max_iter} iterations"
        if time.perf_counter() - run.started >= run.options.time:
            return "tolerance_not_reached", f"the limit of {run.options.time:g} s"
        if state.iteration >= own_limit:
            return "tolerance_not_reached", f"{run.method.name}'s own limit of {own_limit} iterations"
        if state.iteration >= run.next_ray or report.failure:
            run.next_ray = max(FIRST_RAY, 2 * state.iteration)
            proven = _no_solution(run, state, report)
            if proven is not None:
                return proven, run.ray.statement if run.ray is not None else ""
        if report.failure:
            return "tolerance_not_reached", report.failure
        if stalled.after(report):
            return "tolerance_not_reached", "no further progress: the numbers have reached the limits of rounding"
        if not math.isfinite(report.objective) and state.iteration > 0:
            return "tolerance_not_reached", "the objective is no longer finite"
        run.method.step(run.problem, state)
        if run.on_state is not None:
            run.on_state(state)


@dataclass
class _Stall:
    """Tells when neither the objective nor the bound has changed for many steps."""

    last: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    count: int = 0

    def after(self, report: Report) -> bool:
        """Count one report."""
        now = (report.objective, report.bound, report.infeasibility)
        self.count = self.count + 1 if now == self.last else 0
        self.last = now
        return self.count >= 200


def _looks_done(run: _Run, report: Report) -> bool:
    run.best_bound = max(run.best_bound, report.bound) if report.infeasibility == 0.0 else report.bound
    if report.infeasibility > FEASIBLE:
        return False
    if run.options.gap == "absolute":
        return abs(report.objective - report.bound) <= run.options.tol
    return relative_gap(report.objective, report.bound, run.canonical.scale) <= run.options.tol


def _no_solution(run: _Run, state: Any, report: Report) -> Status | None:
    """Whether the directions in which the iterates move prove that there is no feasible point, or no finite optimum.

    Multipliers are only tried where the violation of the constraints has stopped falling: preparing them costs a decomposition.
    """
    stuck = report.infeasibility > max(0.5 * run.violation, FEASIBLE) or bool(report.failure)
    run.violation = report.infeasibility
    found = run.method.ray(run.problem, state)
    if found is None or not isinstance(run.canonical, Canonical):
        return None
    x, ys = run.method.candidate(run.problem, state)
    primal, dual = found
    size = float(np.linalg.norm(x))
    for multipliers in () if not stuck else (dual, ys) if ys is not None else (dual,):
        run.ray = infeasible(run.canonical, polish_ray(run.problem, multipliers), size)
        if run.ray is not None:
            return "infeasible"
    for direction in (primal, x):
        run.ray = unbounded(run.canonical, direction, evaluate_primal(run.canonical, x)[1])
        if run.ray is not None:
            return "unbounded"
    return None


def _is_optimal(run: _Run) -> bool:
    v = run.best.merged()
    inside = min(1e-9, 1e-12 * math.sqrt(max(1, run.canonical.size)))
    if v.kind in ("estimate", "none") or v.infeasibility > FEASIBLE or v.outside > inside:
        return False
    if v.contradicts(run.canonical.scale):
        return False
    if run.options.gap == "absolute":
        return abs(v.primal - v.dual) <= run.options.tol
    return v.relative_gap(run.canonical.scale) <= run.options.tol


def _verify(run: _Run, state: Any, last: bool = False) -> None:
    """Have the candidate verified, its dual point repaired where the blocks' domains ask for it.

    The repair ends when the run's time is over or it is interrupted; at the end of a run (`last`) it has half a second, or a tenth of what
    the run took, for a limit is to be honoured.
    """
    begin = time.perf_counter()
    x, ys = run.method.candidate(run.problem, state)
    elapsed = begin - run.started
    deadline = begin + max(0.5, 0.1 * elapsed) if last else run.started + run.options.time
    asked = run.control.stop

    def stop() -> bool:
        return time.perf_counter() > deadline or (run.control.stop and not asked)

    verified = run.certify(x, ys, stop) if run.certify is not None else _certify(run, x, ys, stop)
    run.best.add(x, verified)
    run.verify_passes += verified.passes
    run.verify_seconds += time.perf_counter() - begin
    run.verified_at = state.iteration


def _certify(run: _Run, x: Array, ys: list[Array] | None, stop: Callable[[], bool]) -> Verified:
    """Verify a point of the canonical form, its dual point repaired."""
    assert isinstance(run.canonical, Canonical)
    if ys is not None and _needs_repair(run.canonical):
        before = run.problem.passes
        ys = repair(run.problem, ys, x, stop)
        run.verify_passes += run.problem.passes - before
    verified = verify(run.canonical, x, ys)
    missed = not math.isfinite(verified.dual) or verified.relative_gap(run.canonical.scale) > run.options.tol
    if missed and ys is not None and _needs_repair(run.canonical):
        # where the optimum is a perfect fit the losses' y is rounding, and no repair of it can be told from noise: y = 0 bounds by their
        # infima, with the other multipliers repaired, or, if that fails too, with those of the constraints alone
        without = [
            np.zeros(y.size) if not isinstance(t.f, VectorFunction) else y
            for t, y in zip(run.canonical.terms, ys, strict=True)
        ]
        alone = [np.zeros(y.size) if not t.is_indicator else y for t, y in zip(run.canonical.terms, ys, strict=True)]
        for other in (repair(run.problem, without, x, stop), alone):
            run.verify_passes += verified.passes
            found = verify(run.canonical, x, other)
            if math.isfinite(found.dual) and not verified.dual >= found.dual:
                verified = found
    return verified


def _needs_repair(canonical: Canonical) -> bool:
    return any(not math.isfinite(b.g.radius()) and b.g.curvature == 0.0 for b in canonical.blocks)


def _report_progress(run: _Run, state: Any, report: Report, last: bool = False) -> bool:
    """Record where the run stands and, about ten times a second, pass it on; False where the callback asked to stop."""
    elapsed = time.perf_counter() - run.started
    due = not last and run.on_progress is not None and elapsed - run.last_progress >= PROGRESS_EVERY
    keep = last or state.iteration % run.stride == 0
    if not (keep or due):
        return True
    sense = run.canonical.sense
    progress = Progress(
        report.phase,
        run.method.name,
        state.iteration,
        run.problem.passes,
        elapsed,
        sense * report.objective,
        sense * report.bound,
        relative_gap(report.objective, report.bound, run.canonical.scale),
    )
    if keep:
        run.history.append(progress)
        if len(run.history) > HISTORY:
            run.history = run.history[::2]
            run.stride *= 2
    if due and run.on_progress is not None:
        run.last_progress = elapsed
        return run.on_progress(progress) is not False
    return True


@contextmanager
def _interruptible(control: Control) -> Iterator[Callable[[], bool]]:
    """While open, the first Ctrl-C only sets a flag, so that no step is cut in two; the second one raises as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: control.stop
        return
    previous = signal.getsignal(signal.SIGINT)

    def handle(_signal: int, _frame: object) -> None:
        control.stop = True
        signal.signal(signal.SIGINT, previous if callable(previous) else signal.default_int_handler)

    signal.signal(signal.SIGINT, handle)
    try:
        yield lambda: control.stop
    finally:
        signal.signal(signal.SIGINT, previous)
