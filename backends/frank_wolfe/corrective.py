"""The shared parts of Frank-Wolfe methods that keep their point as a combination of vertices."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.frank_wolfe.atoms import ActiveState, atom_of
from fwdsl.backends.frank_wolfe.oracle_method import REFRESH_EVERY, OracleMethod, OracleRun
from fwdsl.backends.frank_wolfe.starts import combination
from fwdsl.backends.frank_wolfe.steps import step_length, whole
from fwdsl.backends.method import Report
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.light_dataclass import light_dataclass

CORRECTIVE_RULES = ("secant", "line_search", "adaptive", "short")

PATIENCE = 2.0
"""J of the lazy variants: a direction that promises phi / J will do."""

EPS = float(np.finfo(np.float64).eps)


@light_dataclass
class VertexSlopes:
    """Slopes along the gradient c: <c, x>, the live atoms of largest and of least <c, v>, and the oracle's vertex where it was asked."""

    c: Array
    at_x: float
    worst: int
    best: int
    most: float
    least: float
    vertex: Array | None = None
    at_vertex: float = math.inf

    @property
    def gap(self) -> float:
        """The Frank-Wolfe gap <c, x - v>, -inf before the oracle was asked."""
        return self.at_x - self.at_vertex


@light_dataclass
class Move:
    """d = to - of. `to` is an atom's place, a vertex, or None for x; `of` an atom's place or None for x. `promise` is <c, -d>."""

    promise: float
    to: int | Array | None = None
    of: int | None = None


class Corrective(OracleMethod):
    """A method that moves weight among the vertices of an active set."""

    streams = True
    on_host = ""

    by_name_only = "it is ahead where a handful of vertices make the solution, which no plan foresees"
    most_iterations = 200_000
    finite = True
    options = MappingProxyType(
        {
            "step": Option("secant", "the step rule", choices=CORRECTIVE_RULES),
            "lazy": Option(False, "ask the oracle only where the active set promises too little"),
        }
    )


class CorrectiveRun(OracleRun[ActiveState]):
    """A run that moves weight among the vertices of an active set; its state is a `kept`."""

    kept: ClassVar[type[ActiveState]]

    def __init__(self, problem: PreparedProblem, step: str, lazy: bool) -> None:
        super().__init__(problem)
        self.rule, self.lazy = step, lazy

    def begin(self, x: Array, ys: Sequence[Array] | None) -> ActiveState:
        """The start as a combination of vertices; where it is 0, the best vertex for the gradient there, if P is finite at it."""
        problem = self.reduced
        s = self.started(self.kept, x, ys)
        x = s.x
        if self.is_start(x):
            s.x = self.vertex(s, self.slope(s))
            s.z = problem.forward(s.x)
            self.look(s)
            if math.isfinite(s.value):
                s.alone(s.place_of(atom_of(s.x)))
                return s
            s.x, s.z = x, problem.forward(x)
            self.look(s)
        for weight, atom in combination(problem, x):
            at = s.place_of(atom)
            s.weigh(at, float(s.weights[at]) + weight)
        s.tidy()
        return s

    def step(self) -> None:
        problem, s = self.reduced, self.state
        move = self._choose()
        direction, dz, longest = self._direction(move)
        segment = whole(problem, s.x, s.z, s.ys, direction, dz, longest)
        gamma, s.curvature = step_length(self.rule, segment, 0.0, s.curvature)
        changed = self._reweigh(s, move, gamma, longest)
        if changed or (s.iteration + 1) % REFRESH_EVERY == 0:
            s.tidy()
            x = s.combined()
        else:
            x = s.x + gamma * direction
        self.advance(s, segment, gamma, x, bound=not self.lazy)

    def _choose(self) -> Move:
        problem, s = self.reduced, self.state
        c = self.slope(s)
        found = VertexSlopes(c, float(c @ s.x), *s.extremes(c))
        if not self.lazy:
            return self.choose(self._ask(found))
        # a gap as small as rounding is not worth another call
        noise = 8.0 * EPS * float(np.abs(c) @ np.abs(s.x))
        while True:
            move = self.without_oracle(found)
            if move is not None and s.phi > 0.0 and move.promise >= s.phi / PATIENCE:
                return move
            if found.vertex is None:
                found = self._ask(found)
                value = problem.losses_value(s.z)
                self.keep_bound(s, s.ys, s.kty, value - float(s.kty @ s.x))
                s.phi = s.phi if s.phi > 0.0 else found.gap
            if found.gap >= s.phi / PATIENCE or not found.gap > noise:
                return self.with_oracle(found)
            s.phi = min(found.gap, 0.5 * s.phi)

    def _ask(self, found: VertexSlopes) -> VertexSlopes:
        v = self.vertex(self.state, found.c)
        return replace(found, vertex=v, at_vertex=float(found.c @ v))

    @abstractmethod
    def choose(self, found: VertexSlopes) -> Move:
        """The direction where the oracle was asked."""

    @abstractmethod
    def without_oracle(self, found: VertexSlopes) -> Move | None:
        """The lazy variant's best direction within the active set; None where there is none."""

    @abstractmethod
    def with_oracle(self, found: VertexSlopes) -> Move:
        """The lazy variant's direction to the oracle's vertex."""

    def _direction(self, move: Move) -> tuple[Array, list[Array], float]:
        """d, K d and how far one can go; products by the columns of the support of vertices."""
        problem, s = self.reduced, self.state
        size = s.x.size
        target = s.x if move.to is None else s.atom(move.to).dense(size) if isinstance(move.to, int) else move.to
        if move.of is None:
            z = problem.linear(target)
            return target - s.x, [a - b for a, b in zip(z, self.without_offset(s), strict=True)], 1.0
        away = s.atom(move.of).dense(size)
        weight = float(s.weights[move.of])
        direction = target - away
        if move.to is not None:
            return direction, problem.linear(direction), weight
        z = problem.linear(away)
        dz = [a - b for a, b in zip(self.without_offset(s), z, strict=True)]
        return direction, dz, weight / (1.0 - weight) if weight < 1.0 else 0.0

    @staticmethod
    def _reweigh(s: ActiveState, move: Move, gamma: float, longest: float) -> bool:
        """The weights after the step; whether an atom was dropped, so that entries of x may have become 0."""
        if gamma <= 0.0:
            return False
        full = gamma >= longest
        to = -1
        if move.to is not None:
            to = move.to if isinstance(move.to, int) else s.place_of(atom_of(move.to))
        if move.of is None:
            if full:
                s.alone(to)
            else:
                s.scale(1.0 - gamma)
                s.weigh(to, float(s.weights[to]) + gamma)
            return full
        left = float(s.weights[move.of])
        if move.to is None:
            s.scale(1.0 + gamma)
            left *= 1.0 + gamma
        else:
            s.weigh(to, float(s.weights[to]) + gamma)
        s.weigh(move.of, 0.0 if full else left - gamma)
        dropped = float(s.weights[move.of]) == 0.0
        s.drops += int(dropped)
        return dropped

    def report(self) -> Report:
        return Report(self.state.value, self.state.best_bound, f"{self.state.live} vertices")
