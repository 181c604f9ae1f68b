r"""The shared parts of baselines: the state of a certified run, the bound of a full gradient, the times to compute it, and broken steps.

For any y in the domain of f*, D(y) = constant - f*(y) + <b, y> - g*(-(q + K'y)) bounds the optimal value from below. At y = f'(K x + b)
(a subgradient serves too) f*(y) - <b, y> = <K x, y> - f(K x + b), so a full gradient certifies at no further pass. Where the penalties' domain
asks for it, y is scaled (`backends.dual`). A stochastic method works between such points without a certificate; the best pair so far is kept.

A step is about an epoch, which may take long: it asks `PreparedProblem.must_stop` now and then.
A step that was broken off goes on where it was, with
the generator as it stood. So the iterates do not depend on when it asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.matrices import Spectral
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends import costs
from fwdsl.backends.baselines.samples import batch_misfit, sample_count
from fwdsl.backends.dual import feasible_scale
from fwdsl.backends.finite_sum import draws
from fwdsl.backends.functions import without_ridge
from fwdsl.backends.method import Estimate, Method, Report, Run, State
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.combined_maps import Scaled
from fwdsl.canon.form import Canonical
from fwdsl.canon.parts import Block
from fwdsl.light_dataclass import light_state

LEAST_WORK = 50_000
"""Stored numbers that a step touches at least, so that calls from Python do not dominate on small data."""

MOST_EPOCHS = 64
"""Epochs that a step takes at most."""

MOST_NUMBERS = 20_000_000
"""Numbers that the proxes or vertices of a step go through at most: an epoch of a large matrix would take minutes, past any limit of time."""

LOOK = 5_000_000
"""Numbers that a compiled loop goes through between two looks at the clock: less than a tenth of a second."""

PROX = 10
"""Numbers that a coordinate of a prox costs as much as."""

CALL = 10_000
"""Numbers that a call from Python costs as much as."""

SWEEPS = 20
"""Numbers of a matrix's Gram matrix times this many stand for its singular value decomposition."""

REST = 0.2
"""After a certificate, the share of all epochs so far that pass before the next: certificates then cost a fraction of the run."""

MOST_STEPS = 64
"""Steps from certificate to certificate at most, where a step is a small part of an epoch: a run that says nothing new for long is taken for done."""

LONGEST_REST = 16.0
"""Epochs between certificates at most."""


@light_state
class BaselineState(State):
    """The state of a certified run."""

    x: Array  # the point of the last certificate
    value: float = math.inf  # P there
    best_value: float = math.inf  # the least P of all certificates
    best_x: Array = field(default_factory=lambda: np.zeros(0))  # its point
    best_bound: float = -math.inf  # the best bound of all certificates
    ys: list[Array] = field(default_factory=list)  # its dual point
    epochs: float = 0.0  # visited samples over n
    checked: float = 0.0  # the epochs at the last certificate

    def due(self) -> bool:
        """True if the run has worked enough since the last certificate to compute one."""
        rest = min(max(1.0, REST * self.epochs), LONGEST_REST)
        return self.epochs - self.checked >= rest - 1e-9 or self.iteration % MOST_STEPS == 0

    def keep_point(self, x: Array, objective: float) -> None:
        """Note a point whose P is known."""
        self.value = objective
        self.checked = self.epochs
        if objective < self.best_value or not math.isfinite(self.best_value):
            self.best_value, self.best_x = objective, x.copy()


def _none() -> NDArray[np.uint64]:
    return np.zeros(0, np.uint64)


@light_state
class SampledState(BaselineState):
    """The state of a run whose steps may be broken off."""

    # that of its draws as it then stood, empty between steps
    generator: NDArray[np.uint64] = field(default_factory=_none)

    def draws(self, seed: int, epoch: int) -> np.random.Generator:
        """The generator of an epoch, as it stood where the step was broken off."""
        if self.generator.size == 0:
            return draws(seed, epoch)
        high, low, step_high, step_low, has, kept = (int(v) for v in self.generator)
        self.generator = _none()
        bits = np.random.PCG64()
        bits.state = {
            "bit_generator": "PCG64",
            "state": {"state": high << 64 | low, "inc": step_high << 64 | step_low},
            "has_uint32": has,
            "uinteger": kept,
        }
        return np.random.Generator(bits)

    def break_off(self, rng: np.random.Generator) -> None:
        """Note how the generator stands."""
        found: Any = rng.bit_generator.state
        low = (1 << 64) - 1
        numbers = (found["state"]["state"], found["state"]["inc"])
        halves = [half for v in numbers for half in (v >> 64, v & low)]
        self.generator = np.array([*halves, found["has_uint32"], found["uinteger"]], np.uint64)


@light_state
class SnapshotState(BaselineState):
    """The state of a run with reduced variance."""

    slopes: Array = field(default_factory=lambda: np.zeros(0))  # y at the snapshot
    kty: Array = field(default_factory=lambda: np.zeros(0))  # K'y


S = TypeVar("S", bound=BaselineState)
T = TypeVar("T", bound=BaselineState)


class Baseline(Method):
    """A method that is run by name."""

    by_name_only = "a baseline, run where it is named"
    most_iterations = 1_000_000

    @classmethod
    def requires_options(cls, canonical: Canonical, options: Mapping[str, object]) -> tuple[str, ...]:
        """A batch, of a method that takes batches, of at most n."""
        return batch_misfit(options.get("batch"), canonical)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate | None:
        """None: the noise of its samples, which the rate depends on, is not measured."""
        return None


class BaselineRun(Run[PreparedProblem, S]):
    """A run whose report and candidate are those of its certificates."""

    phase: ClassVar[str] = "stochastic"

    def report(self) -> Report:
        return Report(self.state.value, self.state.best_bound, self.phase)

    def candidate(self) -> tuple[Array, list[Array] | None]:
        return self.state.best_x, self.state.ys or None

    def started(self, cls: type[T], x: Array, ys: Sequence[Array] | None, **more: Any) -> T:
        """A state at x, moved into the domain."""
        problem = self.problem
        x = problem.prox_g(x, 0.0)
        state = cls(0, x, best_x=x.copy(), **more)
        if ys is not None and len(ys) == len(problem.terms):
            state.ys = [y.copy() for y in ys]
        state.value = state.best_value = problem.objective(x, problem.forward(x))
        return state

    def take_snapshot(self, s: SnapshotState) -> None:
        """A certificate at x (two passes), which is the snapshot."""
        ys, s.kty = self.certify(s, s.x)
        s.slopes = ys[0]

    def certify(self, s: BaselineState, x: Array) -> tuple[list[Array], Array]:
        """P and the bound at x by a full gradient (two passes): the slopes y and K'y, which are the caller's to use."""
        problem = self.problem
        value, ys = problem.losses_gradient(problem.forward(x))
        kty = problem.adjoint(ys)
        s.keep_point(x, problem.canonical.constant + value + float(problem.q @ x) + problem.g_value(x))
        self.keep_bound(s, [y.copy() for y in ys], kty, value - float(kty @ x))
        return ys, kty

    def keep_bound(self, s: BaselineState, ys: list[Array], kty: Array, conjugates: float | None = None) -> None:
        """Keep the dual point if its bound is the best so far; `conjugates` is -(f*(y) - <b, y>) where that is known."""
        problem = self.problem
        scale = feasible_scale(problem, kty)
        if scale != 1.0 and scale != 0.0:
            ys, kty, conjugates = [scale * y for y in ys], scale * kty, None
        bound = problem.canonical.constant + (-problem.conjugates(ys) if conjugates is None else conjugates)
        v = -(problem.q + kty)
        for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
            vb = v[block.slice]
            found = g.conjugate(vb)
            bound -= found if math.isfinite(found) else g.conjugate(g.f.dual_project(vb))
        if not math.isfinite(bound):
            # of a run that diverges
            bound = -math.inf
        # where no scaling helps (an equality of the dual, of a free variable) the bound is optimistic, and the latest y is the one to repair
        latest = scale == 0.0 and math.isfinite(bound)
        if latest or bound > s.best_bound or not s.ys:
            s.best_bound, s.ys = bound, ys


# --- steps --------------------------------------------------------------------------------------------------------------


def epochs_a_step(nnz: int) -> int:
    """Epochs that make up one step."""
    return max(1, min(MOST_EPOCHS, LEAST_WORK // max(1, nnz)))


def most_calls(block: Block) -> int:
    """Proxes, or vertices, of the block that a step takes at most where each is a call from Python."""
    work = CALL + block.size
    if isinstance(without_ridge(block.g), Spectral):
        work += SWEEPS * block.size * min(block.shape)
    return max(1, MOST_NUMBERS // work)


def between_looks(of_rows: float, batch: int, size: int) -> int:
    """Iterations of a compiled loop between two looks at the clock: each takes a batch of rows with so many numbers, drawn by a call where it is
    more than one, and a prox."""
    return max(1, int(LOOK / (2.0 * batch * of_rows + PROX * (size + 1) + (CALL if batch > 1 else 0))))


# --- predicted cost ----------------------------------------------------------------------------------------------------


def conditioning(canonical: Canonical) -> tuple[float, float]:
    """n, and max_j L_j / mu by the largest row norm that bind measured, L_j the smoothness of n w_j l(a_j x); 10,000 stands for it where there
    is no ridge, or no bound of the smoothness."""
    mu = min((b.g.curvature for b in canonical.blocks), default=0.0)
    row = max((s.largest_row_norm for s in canonical.instance.stats.values()), default=1.0)
    n, top = 1, 0.0
    for term in canonical.terms:
        if isinstance(term.f, LossFunction | VectorLossFunction):
            beta, rows = term.f.loss.smoothness, sample_count(term)
            n = max(n, rows)
            factor = max((abs(m.c) for _, m in term.map.parts if isinstance(m, Scaled)), default=1.0)
            top += rows * (math.inf if beta is None else beta) * float(term.f.w.max(initial=0.0)) * factor**2
    known = mu > 0.0 and math.isfinite(top)
    return float(n), max(1.0, top * min(row, 1e150) ** 2 / mu) if known else 1e4


def linear_estimate(
    canonical: Canonical, tol: float, rounds: float, passes: float, iterations: float, why: str
) -> Estimate:
    """The cost of a method with a linear rate: `rounds` for each factor e of the gap, each so many passes and iterations with a prox."""
    rounds *= max(1.0, -math.log(tol))
    memory = costs.memory(canonical, 10, 8)
    seconds = costs.seconds(canonical, rounds * passes, rounds * iterations)
    return Estimate(rounds * passes, seconds, memory, f"about {rounds:.0f} {why}")
