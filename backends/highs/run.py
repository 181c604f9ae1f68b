"""Runs of `highs`: the conic program of `backends/interior/program.py`, where all of its cones are half-lines or zero, is

    minimise  <c, v>   subject to   A v <= b,  and = b in the rows of equations

in the scales of `equilibrated`. Its multipliers are minus SciPy's marginals, c + A'z = 0, z >= 0 in the inequalities.

HiGHS runs in a thread that the run waits for, and asks meanwhile whether it is to end: it cannot be broken off from outside. Each try has a limit of
time, four times that of the one before, so that one that is left alone ends by itself; a run that goes on waits for the try that runs.

Where HiGHS says that there is no solution an interior-point run proves it.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linprog

from fwdsl.atoms.base import Array
from fwdsl.backends.highs.method import Highs, HighsState
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

TIGHT = 1e-9
"""HiGHS's tolerances in the scaled program."""

METHODS = {"ipm": "highs-ipm", "simplex": "highs-ds"}


class HighsRun(Run[PreparedProblem, HighsState], of=Highs):
    """A run on a problem."""

    def __init__(self, problem: PreparedProblem, solver: str) -> None:
        super().__init__(problem)
        self.method_of_scipy = METHODS[solver]
        program = self.program = presolved(ConicProgram.of(problem.canonical, problem.look), problem.look)
        self.d, self.e = equilibrated(program, problem.look)
        c, b = self.d * program.c, self.e * program.b
        self.of_c, self.of_b = levels(np.zeros(c.size), c, b)
        self.c, self.b, self.A = self.of_c * c, self.of_b * b, scaled(program.A, self.e, self.d)
        self.start: tuple[Array, list[Array] | None] | None = None
        self.tried: tuple[threading.Thread, list[Any]] | None = None
        self.proof: Run[PreparedProblem, Any] | None = None

    def begin(self, x: Any, ys: Sequence[Array] | None) -> HighsState:
        """Nothing is known; the given point is the first candidate."""
        self.start = self.problem.prox_g(np.asarray(x), 0.0), None if ys is None else list(ys)
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
                s.v, s.z = np.asarray(found.x), -np.concatenate([found.eqlin.marginals, found.ineqlin.marginals])
            elif s.found == LIMIT:
                s.seconds *= GROW
        s.iteration += 1

    def _tried(self, seconds: float) -> Any:
        """What HiGHS finds within so much time. Raises `Stopped` where the run is to end before."""
        if self.tried is None:
            found: list[Any] = []
            thread = threading.Thread(target=self._call, args=(seconds, found), name="fwdsl-highs", daemon=True)
            self.tried = thread, found
            thread.start()
        thread, found = self.tried
        while thread.is_alive():
            thread.join(WAIT)
            self.problem.look()
        self.tried = None
        if isinstance(found[0], BaseException):
            raise np.linalg.LinAlgError("HiGHS ended with an error") from found[0]
        return found[0]

    def _call(self, seconds: float, found: list[Any]) -> None:
        k, A, b = self.program.equations, self.A, self.b
        try:
            with warnings.catch_warnings():
                # of entries that HiGHS drops, and of tolerances: the verifier looks at the answer
                warnings.simplefilter("ignore")
                found.append(
                    linprog(
                        self.c,
                        A_ub=A[k:],
                        b_ub=b[k:],
                        A_eq=A[:k],
                        b_eq=b[:k],
                        bounds=(None, None),
                        method=self.method_of_scipy,
                        options={
                            "time_limit": seconds,
                            "primal_feasibility_tolerance": TIGHT,
                            "dual_feasibility_tolerance": TIGHT,
                        },
                    )
                )
        except Exception as error:
            found.append(error)

    def _point(self) -> tuple[Array, list[Array] | None]:
        s = self.state
        if s.found != SOLVED:
            return self.start or (np.zeros(self.problem.size), None)
        v, z = self.d * s.v / self.of_b, self.e * s.z / self.of_c
        return self.problem.prox_g(self.program.point(v), 0.0), self.program.multipliers(v, z)

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
        """That of the interior-point run."""
        return None if self.proof is None else self.proof.ray()

    def feasibility(self) -> tuple[Array, list[Array]] | None:
        """That of the interior-point run."""
        return None if self.proof is None else self.proof.feasibility()
