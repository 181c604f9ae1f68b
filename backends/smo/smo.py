r"""Sequential minimal optimisation on two levels, for kernel machines.

Problem: the dual of one loss over samples of a function over an implicit feature map, with a ridge and perhaps an intercept
(`backends.smo.problem` has it), for every loss whose conjugate is a quadratic with at most one kink: hinge, squared and smooth hinge, absolute,
quantile, huber, and both epsilon-insensitive ones; the one-class machine is the hinge with a linear term in the intercept.

    g = kappa K v + s v - t;   up_j = g_j + e sgn+(v_j),   down_j = g_j + e sgn-(v_j)
    violation = max down_j - min up_j over the entries that may move so (without an equality: the largest of down_j and -up_j)

A step takes a working set W of at most `working` entries: free ones of the last set, up to half, and those that violate most on either side. On the
block K_WW it runs SMO with pairs of second order (Fan, Chen, Lin 2005), or without an equality with single entries, until the violation in W
is at most 0.1 of that of all; then g is brought up to date with the rows of what has changed. Those that are not kept are computed together,
by matrix products. A step within the block costs O(|W|), so nothing has to be shrunk, and nothing unshrunk.

Where the free entries have settled, and the steps have cost as much as a factor of their block, Newton's method on them finishes
(`backends.smo.free_set`), which ends at rounding. Where the equality says that few entries have a part, as that of a one-class machine does, working
sets are small, so that the rows of most others are never computed.

Rows are kept within `cache` megabytes, as many as fit, the least recently used given up, and stay for the next solve on the same data. The Gram
matrix is never formed; g and so both bounds are known at all times: v is always feasible, and P takes a search for the best intercept.

Source: Platt 1998; Fan, Chen, Lin 2005; Joachims 1998 (working sets); Scheinberg 2006 (active sets).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.method import Estimate, Method, Report, Run, State
from fwdsl.backends.option import Option
from fwdsl.backends.smo import loops
from fwdsl.backends.smo.free_set import newton_step
from fwdsl.backends.smo.problem import ExpansionProblem
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.expansion import unexpanded
from fwdsl.light_dataclass import light_state

INNER = 0.1
"""The violation that is left in a block, as a share of that of all."""

FEW, SHARE = 256, 4.0
"""The least number of entries of a working set where a sum of bounded entries is given, and its multiple of those that the sum needs."""

INNER_STEPS = 100
"""Steps on a block, for each of its entries, after which the others are looked at again."""

FREE_ROWS = 2_500
"""Free entries up to which Newton's method takes over: a Cholesky factor of more costs more than the steps it saves."""

NEAR = 1e-2
"""The relative gap from which Newton's method is tried."""

FASTER = 10.0
"""The factor by which a multiplication of a Cholesky factor is faster than one of a step on a block."""

SETTLED = 0.05
"""The share of the free entries that may have changed since the last step where it is tried."""


@light_state
class SMOState(State):
    """The state of a run of `smo`."""

    v: Array  # the dual point, signs turned
    g: Array  # kappa K v + s v - t
    working: NDArray[np.int64]  # the entries of the last step
    free: NDArray[np.int64]  # the free entries after it
    b: float  # the best intercept at v
    value: float  # P
    bound: float  # D
    kept: NDArray[np.int64]  # the rows that are kept (`Rows.record`)
    inner: int = 0  # steps on blocks so far
    polished: int = 0  # steps of Newton's method so far
    spent: float = 0.0  # multiplications of the steps on blocks since the last one of Newton's method

    def counts(self) -> dict[str, int]:
        return {"inner": self.inner, "newton": self.polished}


class SMO(Method):
    """Two-level SMO; options `cache` (megabytes of kept rows), `working` (entries of a block)."""

    name = "smo"
    title = "two-level SMO over rows of the Gram matrix, Newton's method on the free samples"
    source = "Platt 1998; Fan, Chen, Lin 2005; Joachims 1998; Scheinberg 2006"
    works_on = "expansion"
    options = MappingProxyType(
        {
            "cache": Option(256.0, "megabytes of rows of the Gram matrix that are kept", lower=0.0),
            "working": Option(1024, "entries that are worked on together", kind=int, lower=2),
        }
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        return unexpanded(arrangement)

    @classmethod
    def settles(cls, arrangement: Arrangement, form: Any) -> str:
        """A kernel machine whose Gram matrix nothing has factored."""
        if form is not None and form.expansion is not form:
            return ""
        return "a kernel machine: rows of its Gram matrix are computed as they are needed, and nothing is factored"

    @classmethod
    def estimate(cls, form: Any, tol: float) -> Estimate:
        """Rows of half of the samples by matrix products, each read by about twenty steps."""
        found = form.expansion
        n, X = found.n, found.gram.samples
        width = X.shape[1] if isinstance(X, np.ndarray) else getattr(X, "nnz", X.shape[1]) / max(1, n)
        rows = min(float(n), 512.0 + 0.4 * n)
        seconds = 1e-9 * n * (rows * (10.0 + 0.05 * width) + 20.0 * 256.0 * 1.0) + 2e-3
        kept = min(8.0 * n * n, 1e6 * cls.options["cache"].default)  # type: ignore[operator]
        copy = 8.0 * X.size if isinstance(X, np.ndarray) else 0.0
        why = f"about {rows:.0f} rows of the Gram matrix, of which memory keeps those that fit"
        return Estimate(rows / max(1, n), seconds, kept + copy + 8.0 * 512.0**2 + 80.0 * n, why)


class SMORun(Run[ExpansionProblem, SMOState], of=SMO):
    """Two-level SMO on a problem."""

    def __init__(self, problem: ExpansionProblem, cache: float, working: int) -> None:
        super().__init__(problem)
        self.cache = 1e6 * cache
        self.rows = problem.rows(self.cache)
        self.size = max(2, min(working, problem.n, max(FEW, math.ceil(SHARE * self._needed()))))

    def _needed(self) -> float:
        """The entries that the equality needs at least: few where most samples are to have no part; all where it says nothing."""
        problem = self.problem
        most = float(np.abs(problem.hi if problem.total > 0.0 else problem.lo).max(initial=0.0))
        said = problem.total != 0.0 and 0.0 < most < math.inf
        return min(float(problem.n), abs(problem.total) / most) if said else float(problem.n)

    def begin(self, x: Array, ys: Sequence[Array] | None) -> SMOState:
        """v of the dual point, or of x, moved into its domain."""
        problem = self.problem
        v, b = problem.slopes_of(x)
        v = problem.feasible(-ys[0] if ys is not None else v)
        g = problem.s * v - problem.t
        at = np.flatnonzero(v)
        if at.size:
            # entries that move on ask for their rows again
            problem.entries += float(at.size) * problem.n
            self.rows.add(problem.gram, at, problem.kappa * v[at], problem.look, g)
        none = np.zeros(0, dtype=np.int64)
        state = SMOState(0, v, g, none, none, b, math.inf, -math.inf, self.rows.record())
        self._bounds(state)
        return state

    # --- slopes -------------------------------------------------------------------------------------------------------

    def _slopes(self, s: SMOState) -> tuple[Array, Array]:
        """The slopes up and down, +- FAR where an entry may not move so."""
        problem = self.problem
        up, down = np.empty(problem.n), np.empty(problem.n)
        kernel(loops.reach)(s.v, problem.lo, problem.hi, problem.e, up, down)
        up += s.g
        down += s.g
        return up, down

    def _violation(self, up: Array, down: Array) -> float:
        least, most = float(up.min()), float(down.max())
        return most - least if self.problem.has_equality else max(most, -least, 0.0)

    def _bounds(self, s: SMOState) -> None:
        """P, D and the best intercept, by the slopes."""
        guess = width = 0.0
        if self.problem.has_equality:
            up, down = self._slopes(s)
            least, most = float(up.min()), float(down.max())
            ends = [end for end in (least, most) if abs(end) < loops.FAR / 2]
            guess = -0.5 * sum(ends) if len(ends) == 2 else -sum(ends)
            width = abs(most - least) if len(ends) == 2 else abs(guess)
        s.value, s.bound, s.b = self.problem.ends(s.v, s.g, guess, width)

    # --- the working set ----------------------------------------------------------------------------------------------

    def _working_set(self, s: SMOState, up: Array, down: Array) -> NDArray[np.int64]:
        """Free entries of the last set, up to half, and the worst violators of both sides."""
        kept = s.working[self.problem.dual.is_free(s.v)[s.working]][: self.size // 2]
        taken = np.zeros(self.problem.n, dtype=bool)
        taken[kept] = True
        chosen = [kept]
        left = self.size - kept.size
        if self.problem.has_equality:
            least, most = float(up.min()), float(down.max())
            # each side has half of what is left, and what the other does not need
            rising = self._worst(np.where(taken | (up >= most), loops.FAR, up), (left + 1) // 2)
            taken[rising] = True
            falling = self._worst(np.where(taken | (down <= least), loops.FAR, -down), left - rising.size)
            chosen += [rising, falling]
        else:
            violation = np.maximum(down, -up)
            chosen.append(self._worst(np.where(taken | (violation <= 0.0), loops.FAR, -violation), left))
        # in order, the rows of a block are read from one end to the other
        return np.sort(np.concatenate(chosen))

    def _worst(self, keys: Array, count: int) -> NDArray[np.int64]:
        """The positions of the least keys, among those that are not out of reach."""
        count = min(count, int(np.count_nonzero(keys < loops.FAR / 2)))
        if count <= 0:
            return np.zeros(0, dtype=np.int64)
        found = np.argpartition(keys, count - 1)[:count] if count < keys.size else np.arange(keys.size)
        return found[np.argsort(keys[found], kind="stable")]

    # --- steps --------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """A working set, then Newton's method where the free entries have settled."""
        problem, s = self.problem, self.state
        self.rows.restore(problem.gram, s.kept, problem.look)
        up, down = self._slopes(s)
        violation = self._violation(up, down)
        at = self._working_set(s, up, down)
        Q = self._block(at)
        v, g = s.v[at], s.g[at]
        solver = kernel(loops.pairs if problem.has_equality else loops.singles, fuse=True)
        room = np.empty(at.size), np.empty(at.size)
        tol = max(INNER * violation, 1e-15 * float(np.abs(problem.t).max(initial=0.0)))
        most = INNER_STEPS * max(1, at.size)
        inner = int(solver(Q, g, v, problem.lo[at], problem.hi[at], problem.e, *room, tol, most))
        before = s.v[at]
        s.v, s.g = self._with_entries(s, at, v)
        s.inner += inner
        s.spent += at.size * (2.0 * inner + at.size) + np.count_nonzero(v - before) * float(problem.n)
        s.working = at
        s.iteration += 1
        self._bounds(s)
        free = np.flatnonzero(problem.dual.is_free(s.v))
        if self._has_settled(s, free):
            self._polish(s, free)
            free = np.flatnonzero(problem.dual.is_free(s.v))
        s.free, s.kept = free, self.rows.record()

    def _block(self, at: NDArray[np.int64]) -> Array:
        """kappa K_WW + diag(s_W), which nobody changes."""
        problem = self.problem
        problem.entries += at.size**2
        return self.rows.block(problem.gram, at, problem.look, problem.kappa, problem.s[at])

    def _with_entries(self, s: SMOState, at: NDArray[np.int64], new: Array) -> tuple[Array, Array]:
        """v with new entries, and g to it: with the rows of those that changed."""
        problem = self.problem
        step = new - s.v[at]
        changed = np.flatnonzero(step)
        v, g = s.v.copy(), s.g.copy()
        v[at] = new
        g[at] += problem.s[at] * step
        problem.entries += float(changed.size) * problem.n
        self.rows.add(problem.gram, at[changed], problem.kappa * step[changed], problem.look, g)
        return v, g

    def _has_settled(self, s: SMOState, free: NDArray[np.int64]) -> bool:
        if not 0 < free.size <= FREE_ROWS:
            return False
        # a factor pays where the steps that it may save have cost as much already
        if s.spent < free.size**3 / (6.0 * FASTER) + free.size**2:
            return False
        if s.value - s.bound > NEAR * max(abs(s.value), abs(s.bound)):
            return False
        changed = np.setxor1d(free, s.free, assume_unique=True).size
        return changed <= SETTLED * free.size

    def _polish(self, s: SMOState, free: NDArray[np.int64]) -> None:
        """A step of Newton's method on the free entries; nothing where it does not lower the dual."""
        problem = self.problem
        Q = self._block(free)
        v, lo, hi = s.v[free], problem.lo[free].copy(), problem.hi[free].copy()
        slope = s.g[free] + problem.e * np.sign(v)
        if problem.e > 0.0:
            # the kink ends the piece on which the dual is a quadratic
            lo, hi = np.where(v > 0.0, np.maximum(lo, 0.0), lo), np.where(v < 0.0, np.minimum(hi, 0.0), hi)
        step = newton_step(Q, slope, v, lo, hi, problem.has_equality, problem.look)
        if step is None:
            return
        s.v, s.g = self._with_entries(s, free, np.clip(v + step, lo, hi))
        s.polished += 1
        s.spent = 0.0
        self._bounds(s)

    def report(self) -> Report:
        s = self.state
        return Report(s.value, s.bound, "SMO" if not s.polished else "SMO and Newton's method")

    def candidate(self) -> tuple[Array, list[Array] | None]:
        """The point of v, and v with its own signs."""
        s = self.state
        return self.problem.point(s.v, s.b), [-s.v]
