"""The driver's view of one run: its clock and limits, the verifier's findings, and its progress."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..atoms.base import Array
from ..backends.kernels.compile import kernel_seconds
from ..backends.kernels.pool import Pool
from ..backends.method import Method, Report, Run
from ..certify.certificate import FLOOR, relative
from ..certify.point import evaluate_point
from ..certify.rays import Ray
from ..certify.verified import Verified
from ..model.options import Options
from ..readers.held_rows import Hands, hands_of
from ..readers.row_blocks import is_on_disk
from ..results.solution import Progress
from ..results.status import Status
from .forms import Solvable
from .interrupt import BrokenOff, Control
from .journal import FEASIBLE, Best, Journal
from .relay import counted
from .watch import Moment, Watch

LEAST_START = 0.5
"""Seconds that a method's start may take whatever the limit: a point with a bound is worth them."""

LATE = 1.0
"""Seconds after the limit that a step may take to end by itself, before an uncompiled kernel within it is broken off."""

LOOK_AFTER = 10.0
"""The multiple of the data passes of a costly turn of the verifier that the run takes until the verifier is due again."""

LAST_PASSES = 12.0
"""The data passes that the repair of a run's last dual point may take where data stay apart: it takes 9 to meet the equality of an intercept."""

NOTHING = 1e-24
"""The share of the sizes of its terms that the square of what rounding leaves of a residual is."""

PROGRESS_EVERY = 0.1
HISTORY = 400


def now() -> float:
    """A clock that stands still while kernels are compiled or loaded: a limit of time is one of solving."""
    return time.perf_counter() - kernel_seconds()


@dataclass(frozen=True)
class Before:
    """The work of the turns before one: seconds, and of other methods iterations and data passes; `counted` passes the problem has counted."""

    seconds: float = 0.0
    iterations: int = 0
    passes: float = 0.0
    counted: float = 0.0
    told: float = 0.0  # passes of all methods as they were last told: rounding of sums in another order takes none back


class _Asked:
    """The context of `Supervisor.asked`, which each step enters: a class takes a third of the time of a generator."""

    def __init__(self, pool: Pool, stop: Callable[[], bool]) -> None:
        self.pool, self.stop = pool, stop

    def __enter__(self) -> None:
        self.before, self.pool.must_stop = self.pool.must_stop, self.stop

    def __exit__(self, *_: object) -> None:
        self.pool.must_stop = self.before


@dataclass
class Supervisor:
    """One run under the driver. `run` is None until the method has started."""

    task: Solvable
    problem: Any
    method: type[Method]
    options: Options
    journal: Journal
    control: Control
    on_progress: Callable[[Progress], bool | None] | None = None
    watch: Watch | None = None
    run: Run[Any, Any] | None = None
    iteration: int = 0  # of the method, that a step which was broken off does not change
    started: float = field(default_factory=now)
    before: Before = field(default_factory=Before)  # what all turns before this one took
    until: float = math.inf  # counted passes after which another method may have its turn
    later: Callable[[], float] | None = (
        None  # the same where that is more, inf where no other could follow: asked when `until` is reached
    )
    too_slow: Callable[[float, float], bool] | None = None  # the same by the clock, told passes and seconds of the turn
    slow_after: float = 0.0  # seconds of the turn before which it is not
    own: Best | None = None  # the best of this method alone, where the journal's is that of several
    away: float = 0.0  # seconds of the verifier and of callbacks
    resumed_at: float = 0.0  # data passes before this part of the run
    repaired: float = 0.0  # data passes that repairing points for the verifier took
    verified_at: int = -1  # the iteration whose candidate the verifier has seen, -1 for none
    verified: int = 0  # candidates of this method that were verified
    verify_seconds: float = 0.0
    ray: Ray | None = None
    gave_up: bool = False  # the method itself saw no way on
    paused: bool = False  # its turn is over
    history: list[Progress] = field(default_factory=list)
    stride: int = 1  # iterations from one entry of the history to the next
    last_progress: float = -math.inf
    hands: tuple[Hands, ...] = ()

    def __post_init__(self) -> None:
        self.resumed_at = self.journal.passes - self.before.counted
        self.hands = hands_of(self.task.form.instance.values)
        if self.watch is not None:
            self.started = self.watch.started - kernel_seconds()

    # --- clock and limits ---------------------------------------------------------------------------------------------

    def seconds(self) -> float:
        """The time on the run's clock, which stops outside the method where it is watched."""
        elapsed = self.before.seconds + now() - self.started
        return elapsed - self.away if self.watch is not None else elapsed

    def _is_out_of_time(self) -> bool:
        return self.options.time < math.inf and self.seconds() >= self.options.time

    def must_stop(self) -> bool:
        return self.control.stop or self._is_out_of_time() or (bool(self.hands) and bool(self._lost()))

    def must_leave(self) -> bool:
        """The same for methods that ask within a step, which may leave it to another method too: the state of before stands."""
        return self.must_stop() or self.is_slow()

    def must_not_start(self) -> bool:
        """The same for a method's start, which has `LEAST_START` seconds at least."""
        return self.control.stop or self.seconds() >= max(self.options.time, LEAST_START) or bool(self._lost())

    def _lost(self) -> str:
        """The reason why workers that hold rows cannot be asked any more; "" where they can, or there are none."""
        return next((hands.lost for hands in self.hands if hands.lost), "")

    def break_off_late(self) -> None:
        """Raise `BrokenOff` where the limit of time is long past: asked within uncompiled kernels, of which one may take minutes."""
        limit = self.options.time
        if self.control.within and limit < math.inf and self.seconds() >= max(limit, LEAST_START) + LATE:
            raise BrokenOff

    def ending(self) -> tuple[Status, str] | None:
        """The status and reason of a run that is interrupted or out of time; None while it may go on."""
        if self.control.stop:
            return "interrupted", "interrupted"
        if lost := self._lost():
            return "tolerance_not_reached", lost
        if self._is_out_of_time():
            return "tolerance_not_reached", f"the limit of {self.options.time:g} s"
        return None

    def turn_is_over(self) -> bool:
        """True if another method may have its turn."""
        if math.isinf(self.until):
            return False
        at = counted(self.journal.passes, self.iteration)
        return (at >= self.until and at >= self._ends()) or self.is_slow()

    def is_slow(self) -> bool:
        """True if the method takes far longer than its count says, where another one may have its turn."""
        if self.too_slow is None or math.isinf(self.until):
            return False
        taken = now() - self.started
        # asked often: passes are added up only once it may be slow at all
        is_slow = taken > self.slow_after and self.too_slow(counted(self.passes, self.iteration), taken)
        return is_slow and not math.isinf(self._ends())

    def _ends(self) -> float:
        """The passes at which the turn ends, all methods that could follow known."""
        if self.later is not None:
            self.until, self.later = max(self.until, self.later()), None
        return self.until

    def give_up(self, reason: str) -> tuple[Status, str]:
        """The end of a run whose method sees no way on, and why."""
        self.gave_up = True
        return "tolerance_not_reached", reason

    @property
    def passes(self) -> float:
        """Data passes of the method from its first start, without those of repairing dual points for the verifier."""
        return self.resumed_at + float(self.problem.passes) - self.repaired

    def asked(self, stop: Callable[[], bool]) -> _Asked:
        """A context in which the problem says by `stop` whether work on it is to end; afterwards nothing ties it to the run, which would keep its
        data alive."""
        return _Asked(self.problem.pool, stop)

    # --- what the method believes -------------------------------------------------------------------------------------

    def believed_gap(self, report: Report) -> float:
        """The relative gap by the method's own numbers."""
        gap = abs(report.objective - self.journal.best_bound) + report.hidden
        return relative(gap, report.objective, self.journal.best_bound, self.journal.scale, self.journal.rounding)

    def looks_done(self, report: Report) -> bool:
        """True if the method's own numbers meet the tolerance."""
        journal = self.journal
        journal.best_bound = max(journal.best_bound, report.bound) if report.infeasibility == 0.0 else report.bound
        if report.infeasibility > FEASIBLE:
            return False
        gap = abs(report.objective - report.bound) + report.hidden
        if self.options.gap == "absolute":
            return gap <= self.options.tol
        return relative(gap, report.objective, report.bound, journal.scale, journal.rounding) <= self.options.tol

    # --- the verifier -------------------------------------------------------------------------------------------------

    def is_due(self) -> bool:
        """True if the verifier is due after this many data passes, whatever the method believes."""
        journal = self.journal
        if journal.passes < journal.next_look or self.verified_at == self.iteration:
            return False
        journal.next_look = 2.0 * journal.passes
        return True

    def has_vanished(self, report: Report) -> bool:
        """True if P, and the gap that the method believes in, have vanished beside what P has been."""
        journal, size = self.journal, abs(report.objective)
        if not math.isfinite(size):
            return False
        journal.largest = max(journal.largest, size)
        gap = max(size, abs(report.objective - report.bound))
        if self.verified_at == self.iteration or not gap <= journal.next_gap * journal.largest:
            return False
        journal.next_gap = 1e-3 * gap / journal.largest if gap > 0.0 else -1.0
        return report.infeasibility <= FEASIBLE

    def is_watched(self, report: Report) -> bool:
        """True if the watch wants the run verified now; never twice at the same point."""
        if self.watch is None or self.verified_at == self.iteration:
            return False
        gap = self.believed_gap(report) if report.infeasibility <= FEASIBLE else math.inf
        return self.watch.wants(self.seconds(), gap, self.verify_seconds)

    def verify(self, last: bool = False) -> bool:
        """Have the candidate verified, its dual point repaired where the blocks' domains ask for it; whether the tolerance is certified.

        The repair ends when the run's time is over or it is interrupted; at the end of a run (`last`) it has half a second, or a tenth of what
        the run took, for a limit is to be honoured; where data stay on a disk or with workers, as long as a few passes take, without which there
        may be no bound at all. The first candidates of a method that outruns repairs are verified as they are, where these are long.
        """
        assert self.run is not None
        begin, elapsed, before = now(), self.seconds(), self.problem.passes
        spent = self.journal.verify_passes
        x, ys = self.run.candidate()
        x = self._nearer(x)
        deadline = begin + (self._last_seconds(elapsed) if last else self.options.time - elapsed)
        already = self.control.stop

        def stop() -> bool:
            return now() > deadline or self.control.impatient or (self.control.stop and not already)

        as_it_is = not last and self.verified < self._outrun()
        self.verified += 1
        with self.asked(stop):
            certified = self.note(x, ys, self.run.scales()[0], (lambda: True) if as_it_is else stop)
        repaired = self.problem.passes - before
        self.repaired += repaired
        self.journal.verify_passes += repaired
        cost = self.journal.verify_passes - spent
        if cost > self.passes:
            # a bound of singular values may cost more than the run so far, which then goes on before the verifier is due again
            self.journal.next_look = max(self.journal.next_look, LOOK_AFTER * cost)
        self.verify_seconds += now() - begin
        self.verified_at = self.iteration
        if self.watch is not None:
            self.watch.see(self._moment(elapsed))
        self.away += now() - begin
        return certified

    def _nearer(self, x: Any) -> Any:
        """x, or the run's plain point where x misses constraints by too much and that by less."""
        assert self.run is not None
        plain = self.run.spare()
        if plain is None:
            return x
        form = self.problem.canonical
        missed = evaluate_point(form, x).infeasibility
        return plain if missed > FEASIBLE and evaluate_point(form, plain).infeasibility < missed else x

    def _outrun(self) -> int:
        """The number of the method's first candidates that are verified as they are."""
        form = self.task.form.at_hand(self.method.works_on)
        return 0 if form is None else self.method.outruns_repairs(form)

    def _last_seconds(self, elapsed: float) -> float:
        """The seconds that the repair of a run's last dual point may take."""
        apart = any(is_on_disk(value) for value in self.task.form.instance.values.values())
        a_pass = elapsed / self.passes if apart and self.passes >= 1.0 else 0.0
        return max(0.5, 0.1 * elapsed, LAST_PASSES * a_pass)

    def note(self, x: Any, ys: list[Array] | None, scales: Array | None, stop: Callable[[], bool]) -> bool:
        """Note the verifier's findings for a point and for those made of it, until the tolerance is met, as is returned, or its time is over.

        At the end of a turn the first ones do: those that serve few programs are tried where the run goes on, or at its end.
        """
        first = self.journal.best.primal is None
        certified = False
        for count, (point, verified) in enumerate(self.task.verify(self.problem, x, ys, scales, first, stop)):
            self.journal.add(point, verified)
            if self.own is not None:
                self.own.add(point, verified)
            self.journal.attempts = self.task.attempts
            certified = self.is_optimal()
            if (certified and not (first and self._rests_on_sizes())) or (count >= 2 and (self.paused or stop())):
                break
        return certified

    def is_optimal(self) -> bool:
        """True if the best point and bound have a certified gap within the tolerance."""
        v = self.journal.best.merged()
        return (
            self._is_certified(v) and (v.gap if self.options.gap == "absolute" else v.relative_gap) <= self.options.tol
        )

    def _rests_on_sizes(self) -> bool:
        """True if the gap is small beside the sizes of terms alone: where multipliers are huge, a bound that is at hand may be far better.

        A gap that is the square of rounding, as that of a perfect fit, is as small as any.
        """
        v = self.journal.best.merged()
        return v.gap > NOTHING * v.scale and max(abs(v.primal), abs(v.dual)) < FLOOR * v.scale

    def own_gap(self) -> float:
        """The certified gap of what this method found by itself; inf where there is none."""
        if self.own is None or self.own.primal is None:
            return math.inf
        v = self.own.merged()
        gap = v.gap if self.options.gap == "absolute" else v.relative_gap
        return gap if self._is_certified(v) else math.inf

    def _is_certified(self, v: Verified) -> bool:
        """True if the gap is certified: a feasible point, and a bound that is more than an estimate."""
        inside = min(1e-9, 1e-12 * math.sqrt(max(1, self.task.form.size)))
        if v.kind in ("estimate", "none") or not v.infeasibility <= FEASIBLE or not v.point.outside <= inside:
            return False
        return not v.contradicts()

    def _moment(self, seconds: float) -> Moment:
        v, sense = self.journal.best.merged(), self.task.form.sense
        gap = v.relative_gap if self._is_certified(v) else math.inf
        return Moment(seconds, self.passes, self.iteration, sense * v.primal, sense * v.dual, gap)

    # --- progress -----------------------------------------------------------------------------------------------------

    def tell(self, report: Report, last: bool = False) -> bool:
        """Record progress and report it about ten times a second; False if the callback asked to stop."""
        elapsed = self.seconds()
        due = not last and self.on_progress is not None and elapsed - self.last_progress >= PROGRESS_EVERY
        keep = last or self.iteration % self.stride == 0
        if not (keep or due):
            return True
        progress = self._progress(report, elapsed)
        if keep:
            self.history.append(progress)
            if len(self.history) > HISTORY:
                self.history = self.history[::2]
                self.stride *= 2
        if due and self.on_progress is not None:
            self.last_progress = elapsed
            begin = now()
            goes_on = self.on_progress(progress) is not False
            self.away += now() - begin
            return goes_on
        return True

    def _progress(self, report: Report, elapsed: float) -> Progress:
        report = self.task.report(report)
        sense, gap = self.task.form.sense, abs(report.objective - report.bound) + report.hidden
        return Progress(
            report.phase,
            self.method.name,
            self.before.iterations + self.iteration,
            max(self.before.told, self.before.passes + self.passes),
            elapsed,
            sense * report.objective,
            sense * report.bound,
            relative(gap, report.objective, report.bound, self.journal.scale, self.journal.rounding),
        )
