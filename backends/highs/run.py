"""Runs of `highs`: the conic program of `backends/interior/program.py`, where all of its cones are half-lines or zero, is

    minimise  <c, v>   subject to   A v <= b,  and = b in the rows of equations

in the scales of `equilibrated`. Its multipliers are minus SciPy's marginals, c + A'z = 0, z >= 0 in the inequalities.

HiGHS cannot be broken off from outside, so the run waits for a try (`tries`) and asks meanwhile whether it is to end. Each try has a limit of time,
four times that of the one before; a run that goes on waits for the try that has begun.

Where HiGHS says that there is no solution an interior-point run proves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.highs.method import Highs, HighsState
from fwdsl.backends.highs.tries import Asked, Try, begun
from fwdsl.backends.highs.worker import Answer
from fwdsl.backends.interior.method import Interior
from fwdsl.backends.interior.presolve import presolved
from fwdsl.backends.interior.program import ConicProgram, equilibrated, levels, scaled
from fwdsl.backends.method import Report, Run
from fwdsl.backends.problem import PreparedProblem

SOLVED, LIMIT, INFEASIBLE, UNBOUNDED = 0, 1, 2, 3
"""SciPy's numbers for how HiGHS ended."""

GROW = 4.0
"""The factor by which the time of a try grows."""

WAIT = 0.02
"""Seconds between two questions whether the run is to end."""

METHODS = {"ipm": "highs-ipm", "simplex": "highs-ds"}


class HighsRun(Run[PreparedProblem, HighsState], of=Highs):
    """A run on a problem."""

    def __init__(self, problem: PreparedProblem, solver: str) -> None:
        super().__init__(problem)
        self.method_of_scipy = METHODS[solver]
        problem.writes_down = True
        program = self.program = presolved(ConicProgram.of(problem.canonical, problem.look), problem.look)
        self.d, self.e = equilibrated(program, problem.look)
        c, b = self.d * program.c, self.e * program.b
        self.of_c, self.of_b = levels(np.zeros(c.size), c, b)
        self.c, self.b, self.A = self.of_c * c, self.of_b * b, scaled(program.A, self.e, self.d)
        self.start: tuple[Array, list[Array] | None] | None = None
        self.tried: Try | None = None
        self.proof: Run[PreparedProblem, Any] | None = None

    def begin(self, x: Any, ys: Sequence[Array] | None) -> HighsState:
        """Nothing is known; the given point is the first candidate."""
        self.start = self.problem.prox_g(np.asarray(x), 0.0, seldom=True), None if ys is None else list(ys)
        return HighsState(0, np.zeros(self.c.size), np.zeros(self.b.size))

    def step(self) -> None:
        """A try of HiGHS, or a step of the proof that there is no solution."""
        s = self.state
        if self.proof is not None:
            self.proof.step()
        elif s.found in (INFEASIBLE, UNBOUNDED):
            self.proof = Interior.start(self.problem, {}, np.zeros(self.problem.size))
        else:
            found = self._tried(s.seconds)
            s.found = found.status
            if s.found == SOLVED:
                s.v, s.z = found.v, found.z
            elif s.found == LIMIT:
                s.seconds *= GROW
        s.iteration += 1

    def _tried(self, seconds: float) -> Answer:
        """The answer of HiGHS within so much time. Raises `Stopped` where the run is to end before."""
        if self.tried is None:
            asked = Asked(self.c, self.A, self.b, self.program.equations, self.method_of_scipy, seconds)
            self.tried = begun(asked)
        while not self.tried.wait(WAIT):
            self.problem.look()
        ended, self.tried = self.tried, None
        return ended.answer()

    def _point(self) -> tuple[Array, list[Array] | None]:
        s = self.state
        if s.found != SOLVED:
            return self.start or (np.zeros(self.problem.size), None)
        v, z = self.d * s.v / self.of_b, self.e * s.z / self.of_c
        return self.problem.prox_g(self.program.point(v), 0.0, seldom=True), self.program.multipliers(v, z)

    def report(self) -> Report:
        """P at the point, and P as the bound where HiGHS has solved the program, which the verifier judges."""
        if self.proof is not None:
            return self.proof.report()
        s, (x, ys) = self.state, self._point()
        zs = self.problem.forward(x)
        value = self.problem.objective(x, zs)
        if ys is None or s.found != SOLVED:
            return Report(value, -np.inf, "HiGHS", failure=self._failure())
        missed, hidden = self.problem.missed(x, zs, ys)
        # another step would find the same
        failure = "HiGHS has no better answer" if s.iteration > 1 else ""
        return Report(value, value, "HiGHS", missed, failure, hidden)

    def _failure(self) -> str:
        s = self.state
        if s.found > UNBOUNDED:
            return "HiGHS gave no answer"
        if s.found in (INFEASIBLE, UNBOUNDED) and Interior.requires_values(self.problem.canonical):
            return "HiGHS says that there is no solution, and the program is too large for a proof"
        return ""

    def candidate(self) -> tuple[Array, list[Array] | None]:
        """The unknowns in the blocks' domains, and the slopes at the multipliers."""
        return self._point() if self.proof is None else self.proof.candidate()

    def ray(self) -> tuple[Array, list[Array]] | None:
        """The ray of the interior-point run."""
        return None if self.proof is None else self.proof.ray()

    def feasibility(self) -> tuple[Array, list[Array]] | None:
        """The proof of the interior-point run."""
        return None if self.proof is None else self.proof.feasibility()
