"""Frank-Wolfe with away steps."""

from __future__ import annotations

from fwdsl.backends.frank_wolfe.atoms import ActiveState
from fwdsl.backends.frank_wolfe.corrective import Corrective, CorrectiveRun, Move, VertexSlopes


class AwayState(ActiveState):
    """See `ActiveState`."""


class AwayFrankWolfe(Corrective):
    r"""Frank-Wolfe with away steps.

    Problem: that of `frank_wolfe`, over sets with finitely many vertices; x = sum_v w_v v over the active set S.

        v = argmin over the set <grad P(x), v>,    a = argmax over S <grad P(x), a>
        d = v - x, gamma <= 1                          where <grad P(x), x - v> >= <grad P(x), a - x>,
        d = x - a, gamma <= w_a / (1 - w_a)            else; at the end of the segment a is dropped.

    `lazy`: a step to the best vertex of S, or away from the worst, will do where it promises phi / 2; only else the oracle is asked, and phi, which
    starts at the gap, is halved where its answer promises no more. Bounds come with the oracle's answers.

    Step rules: `secant` (default), `line_search`, `adaptive`, `short` (see `steps`). Complexity: over polytopes linear in the number of
    steps that are not drops, for strongly convex losses of K x; each step one K'y, and columns for the vertices' support.

    Source: Guelat, Marcotte 1986; Lacoste-Julien, Jaggi 2015, Algorithm 1; Braun, Pokutta, Zink 2017 for `lazy`. Corrected, here and in the other
    two: vertices are told apart by their numbers, not by the question to the oracle; weights that sum to 1 and x as their combination are made
    again at each drop, where updates would keep rounding in entries that are 0; a start is a combination of vertices, not a vertex; what phi
    waits for is not below rounding, where it would be halved without end.
    """

    name = "away_frank_wolfe"
    title = "Frank-Wolfe with away steps"
    source = "Lacoste-Julien, Jaggi 2015"


class AwayFrankWolfeRun(CorrectiveRun, of=AwayFrankWolfe):
    """Away steps on a problem."""

    kept = AwayState

    def choose(self, found: VertexSlopes) -> Move:
        """Move towards the vertex or away from the worst, whichever promises more."""
        away = found.most - found.at_x
        if found.gap >= away or self.state.live == 1:
            return Move(found.gap, to=found.vertex)
        return Move(away, of=found.worst)

    def without_oracle(self, found: VertexSlopes) -> Move | None:
        towards, away = found.at_x - found.least, found.most - found.at_x
        if self.state.live == 1:
            return None
        return Move(towards, to=found.best) if towards >= away else Move(away, of=found.worst)

    def with_oracle(self, found: VertexSlopes) -> Move:
        return Move(found.gap, to=found.vertex)
