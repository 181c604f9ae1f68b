"""Primal-dual block Frank-Wolfe for the planner: what it applies to and what it costs. `pdbfw` has the steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.losses import LOSSES
from fwdsl.backends import costs
from fwdsl.backends.finite_sum import reasons, value_reasons
from fwdsl.backends.functions import without_ridge
from fwdsl.backends.method import Estimate, Method, State
from fwdsl.backends.option import Option
from fwdsl.backends.pdbfw.block_step import is_even, parts
from fwdsl.backends.pdbfw.product import matrix_reasons, matrix_value_reasons
from fwdsl.backends.requirements import positive_ridges
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.canon.parts import Block
from fwdsl.light_dataclass import light_state
from fwdsl.words import SETS

TRACE_BALLS = tuple(name for name, word in SETS.items() if word.trace_norm)

PER_ROOT = 4.0
"""Iterations to 1e-6 for each unit of the root of kappa = beta |A|^2 / (n mu): 3.4 on a9a with rows of length 1, 4.1 as it is."""


@light_state
class PDBFWState(State):
    """The state of a run of `pdbfw`."""

    x: Array  # the primal point
    w: Array  # K x + b0
    y: Array  # the dual point
    z: Array  # K'y
    s: Array  # y is a derivative of f there
    value: float  # P(x)
    least: float  # R(z)
    slack: float  # by how much R(z) may be less
    t: float  # delta / n, the dual step
    cap: int  # parts of x that a block step may use
    warm: Array  # the start of the next projection
    best_x: Array  # the best point so far
    best_value: float  # P there
    best_y: Array  # the best dual point so far
    best_bound: float  # D there
    y_old: Array  # the y before; of the mirror step u = f'(s), the point of the estimate sequence
    z_old: Array  # K'y of it
    momentum: float = 1.0  # of the mirror step 1 + the weight of the estimate sequence
    short: int = 0  # steps that asked for momentum


class PDBFW(Method):
    r"""Primal-dual block Frank-Wolfe.

    Problem: min over x in C of (1/n) sum_i f_i(a_i . x) + (mu / 2) |x|^2, f_i smooth, C an l1 ball, a simplex, a group ball (Algorithm 1), or a
    trace-norm ball with a_i'X in place of a_i . x (Algorithm 2); as a saddle point,

        min over x in C max over y   (mu / 2) |x|^2 + (1/n) <y, A x> - (1/n) sum_i f_i*(y_i),    w = A x, z = A'y kept.

    Updates of the paper, run where one of `s`, `k`, `delta`, `eta` is given (the others: s all, k = n s / d or n s (1/c + 1/d), delta of Corollary
    4.1.1, eta = 1/2):

        x~ = argmin over x in C, |x|_0 <= s of <z / n + mu x_old, x> + (mu eta / 2) |x - x_old|^2     (8); rank <= s on matrices (18)
        x  = (1 - eta) x_old + eta x~,   w = (1 - eta) w_old + eta A x~                                (9), (13)
        y~ = argmax_y (1/n) <w, y> - (1/n) f*(y) - |y - y_old|^2 / (2 delta)                            (10), (14)
        y_i = y~_i for the k largest |y~_i - y_old_i|,   z += A_I' (y - y_old)_I                         (11), (12), (15), (16)

    s doubles when a block step uses all of it (a cap below the solution's support stalls); `grow = false` keeps it.

    By default the steps adapt: eta = 1, so that x is the minimiser at y and D(y) is known; y starts at f'(0); the rows with
    |y~_i - y_i| above 5 % of the largest move, or all where that costs no more; delta is lowered until
    R(z+) >= R(z) + <w, y+ - y> / n - B / delta holds (R the minimum over x, B the step's distance) and grows by 1.3 where half of it was
    enough. Losses that are no pieces of parabolas take the mirror step (`dual_step`). On trace-norm balls x misses R(z) by at most 1 % of the gap.

    Momentum on y, over all rows, sets in after 20 steps with beta n / delta > 30 (`accelerate = true`: from the start, `false`: never): Nesterov's
    with restarts for the Euclidean step, an estimate sequence for the mirror step (`core`).

    Complexity: O(nnz(A_S) + nnz(A_I) + n + d) an iteration, S the support of x~ and I the rows that move; linear convergence, to 1e-6 in about
    kappa = beta |A|^2 / (n mu) iterations (Theorem 4.1 loses a factor of n), and about 4 sqrt(kappa) with momentum.

    Source: Lei, Zhuo, Caramanis, Dhillon, Dimakis, Primal-Dual Block Frank-Wolfe (2019), Algorithms 1 and 2. Corrected: (9) has A x~, not A (x~ - x);
    f* in (10) is (1/n) sum f_i*, and (14) lacks 1/n twice; k = n s / d (4.2), not s d / n; A_{I,:}' in (12), the rows I in (16), which line 7 selects
    by |Y~ - Y|; Z / n under the SVD of 4.4; (1/2, eps / 8) as in Algorithm 2, not (1/2, eps / 2). y starts at f'(0) in place of 0.
    """

    name = "pdbfw"
    title = "primal-dual block Frank-Wolfe"
    source = "Lei, Zhuo, Caramanis, Dhillon, Dimakis 2019"
    most_iterations = 100_000
    runs_in = "fwdsl.backends.pdbfw.pdbfw"
    streams = True
    on_host = ""
    options = MappingProxyType(
        {
            "s": Option(None, "parts of x that a block step may use; it doubles when all are used", kind=int, lower=1),
            "k": Option(None, "rows of the dual variable that move in a step", kind=int, lower=1),
            "delta": Option(None, "the dual step size, as in the paper", kind=float, lower=0.0, open_lower=True),
            "eta": Option(None, "the primal step size", kind=float, lower=0.0, open_lower=True, upper=1.0),
            "grow": Option(True, "double `s` when a block step uses all of it"),
            "accelerate": Option(None, "momentum on the dual variable; by default once steps stay short", kind=bool),
            "eps": Option(
                None,
                "on trace-norm balls, the accuracy of block steps relative to the objective; a share of the gap by default",
                kind=float,
                lower=0.0,
                open_lower=True,
            ),
        }
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """One smooth loss over rows, one variable in a ball that has a block step, and a ridge."""
        atoms = [t.atom for t in arrangement.sums if t.kind == "loss"]
        # all losses are loaded only to be listed
        losses = atoms if all(map(_is_smooth, atoms)) else [name for name in LOSSES if _is_smooth(name)]
        if len(arrangement.blocks) == 1 and arrangement.blocks[0].set in TRACE_BALLS:
            return matrix_reasons(arrangement, losses)
        balls = [name for name, word in SETS.items() if word.threshold]
        found = list(reasons(arrangement, losses=losses, sets=(*balls, *TRACE_BALLS), norms=(None,)))
        if len(arrangement.blocks) == 1 and not arrangement.blocks[0].ridges:
            name = arrangement.blocks[0].name
            found.append(f"it needs a `sum_squares({name})`, which makes the primal steps strongly convex")
        return tuple(found)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """A ridge that is not zero, and predictions that are rows of data times the variable."""
        (block,) = canonical.blocks
        found = positive_ridges(canonical)
        of_map = matrix_value_reasons if is_in_trace_ball(block) else value_reasons
        return (*found, *of_map(canonical))

    @classmethod
    def requires_options(cls, canonical: Canonical, options: Mapping[str, object]) -> tuple[str, ...]:
        """No more rows and parts than there are; s only where the block step is exact; no momentum in the paper's form."""
        (block,) = canonical.blocks
        found = []
        matrix = is_in_trace_ball(block)
        on = without_ridge(block.g)
        most = min(block.shape) if matrix else parts(on)
        samples = canonical.terms[0].map.rows // (block.shape[1] if matrix else 1)
        s, k = (options.get(name) for name in ("s", "k"))
        if isinstance(s, int | float) and s > most:
            found.append(f"s is {s:g}, and {block.name} has {most:,} parts")
        if isinstance(k, int | float) and k > samples:
            found.append(f"k is {k:g}, and there are {samples:,} rows")
        paper = [name for name in ("s", "k", "delta", "eta") if isinstance(options.get(name), int | float)]
        if isinstance(s, int | float) and not matrix and not is_even(on):
            found.append("s is for groups of one weight: with others the largest groups need not be the best")
        if options.get("accelerate") and paper:
            found.append(
                f"`accelerate` is no part of the paper's form, which {', '.join(f'`{n}`' for n in paper)} ask for"
            )
        return tuple(found)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate | None:
        """About four iterations of two passes for each unit of the root of kappa, momentum included (docs/papers/pdbfw.md).

        None on trace-norm balls, where all depends on whether they bind, which no plan knows.
        """
        if is_in_trace_ball(canonical.blocks[0]):
            return None
        digits = max(1.0, -np.log10(tol)) / 6.0
        kappa = costs.condition(canonical)
        iterations = 4.0 + PER_ROOT * digits * float(np.sqrt(kappa))
        passes = 1.8 * iterations
        why = f"about {iterations:.0f} iterations at a condition number of about {kappa:.2g}"
        seconds = costs.seconds(canonical, passes, iterations)
        return Estimate(passes, seconds, costs.memory(canonical, 8, 8), why)


def _is_smooth(name: str) -> bool:
    """True if a loss of one prediction has a gradient with a Lipschitz constant."""
    return name in LOSSES and math.isfinite(LOSSES[name].smoothness or math.inf)


def is_in_trace_ball(block: Block) -> bool:
    """True if a block is a matrix in a ball of the trace norm, or a set like it."""
    return block.g.pair[1] in TRACE_BALLS
