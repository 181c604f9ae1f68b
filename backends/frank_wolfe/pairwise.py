"""Pairwise Frank-Wolfe, and blended pairwise conditional gradients."""

from __future__ import annotations

from fwdsl.backends.frank_wolfe.atoms import ActiveState
from fwdsl.backends.frank_wolfe.corrective import Corrective, CorrectiveRun, Move, VertexSlopes


class PairwiseState(ActiveState):
    """See `ActiveState`."""


class BlendedState(ActiveState):
    """See `ActiveState`."""


class PairwiseFrankWolfe(Corrective):
    r"""Pairwise Frank-Wolfe.

    Problem: that of `away_frank_wolfe`. Weight moves from the worst vertex of S to the oracle's:

        v = argmin over the set <grad P(x), v>,    a = argmax over S <grad P(x), a>,    d = v - a,    gamma <= w_a.

    At the end of the segment a is dropped; where v was not in S, that is a swap, of which there may be many.

    `lazy`: from the worst to the best vertex of S where that promises phi / 2; only else the oracle is asked, and phi, which starts at the gap, is
    halved where <grad P(x), x - v> is below phi / 2.

    Step rules: `secant` (default), `line_search`, `adaptive`, `short` (see `steps`). Complexity: linear over polytopes, swaps aside; each
    step one K'y, and two columns of the vertices' support.

    Source: Lacoste-Julien, Jaggi 2015, Algorithm 2; Braun, Pokutta, Zink 2017 for `lazy`. Corrected: as in `away_frank_wolfe`.
    """

    name = "pairwise_frank_wolfe"
    title = "pairwise Frank-Wolfe"
    source = "Lacoste-Julien, Jaggi 2015"


class PairwiseFrankWolfeRun(CorrectiveRun, of=PairwiseFrankWolfe):
    """Pairwise steps on a problem."""

    kept = PairwiseState

    def choose(self, found: VertexSlopes) -> Move:
        return Move(found.most - found.at_vertex, to=found.vertex, of=found.worst)

    def without_oracle(self, found: VertexSlopes) -> Move | None:
        return Move(found.most - found.least, to=found.best, of=found.worst) if self.state.live > 1 else None

    def with_oracle(self, found: VertexSlopes) -> Move:
        return self.choose(found)


class BlendedPairwise(Corrective):
    r"""Blended pairwise conditional gradients.

    Problem: that of `away_frank_wolfe`. Weight moves within S as long as that promises at least as much as the oracle:

        v = argmin over the set <grad P(x), v>,    a, s = argmax, argmin over S <grad P(x), .>
        d = s - a, gamma <= w_a     where <grad P(x), a - s> >= <grad P(x), x - v>; at the end of the segment a is dropped,
        d = v - x, gamma <= 1       else.

    No swaps, and S stays small. `lazy`: the first where <grad P(x), a - s> >= phi / 2; only else the oracle is asked, and phi, which starts at the
    gap, is halved where <grad P(x), x - v> is below phi / 2.

    Step rules: `secant` (default), `line_search`, `adaptive`, `short` (see `steps`). Complexity: linear over polytopes for strongly convex
    losses of K x; each step one K'y, and columns for the vertices' support.

    Source: Tsuji, Tanaka, Pokutta 2022, Algorithms 1 and 3. Corrected: as in `away_frank_wolfe`.
    """

    name = "blended_pairwise"
    title = "blended pairwise conditional gradients"
    source = "Tsuji, Tanaka, Pokutta 2022"


class BlendedPairwiseRun(CorrectiveRun, of=BlendedPairwise):
    """Blended pairwise steps on a problem."""

    kept = BlendedState

    def choose(self, found: VertexSlopes) -> Move:
        """Move within S where that promises at least as much, else towards the vertex."""
        within = found.most - found.least
        if within >= found.gap and self.state.live > 1:
            return Move(within, to=found.best, of=found.worst)
        return Move(found.gap, to=found.vertex)

    def without_oracle(self, found: VertexSlopes) -> Move | None:
        return Move(found.most - found.least, to=found.best, of=found.worst) if self.state.live > 1 else None

    def with_oracle(self, found: VertexSlopes) -> Move:
        return Move(found.gap, to=found.vertex)
