"""Block-coordinate Frank-Wolfe for several classes, for the planner: what it applies to and what it costs. `bcfw` has the steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends.method import Estimate, Method, State
from fwdsl.backends.option import Option
from fwdsl.backends.products import product_of
from fwdsl.backends.svm import multiclass
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.canon.matrix_maps import LeftMultiply
from fwdsl.canon.parts import Block
from fwdsl.light_dataclass import light_state

LARGEST_PRICE = 30.0
"""The largest r = C c^2 |x_i|^2 / mu up to which exact steps are taken on tall data.

Against the general method, on 30 to 2,000 normal samples of 5 to 40 numbers, they took 0.1 to 1 times as long at r = 10, 0.3 to 3 times at 100,
0.7 to 5 times at 1,000, and ten times or more at 10,000; with more columns than samples 0.02 to 0.5 times at each.
"""

VARIANTS = ("plain", "away", "pairwise")


@light_state
class BCFWState(State):
    """The state of a run of `bcfw`."""

    a: Array  # the multipliers (n, k)
    W: Array  # W(a), as the kernels keep it
    b: Array  # b(a)
    due: NDArray[np.int64]  # the sweep at which each row has its next turn
    delay: NDArray[np.int64]  # the sweeps it waits after one
    kept: NDArray[np.int32]  # the classes that each row looks at, (n, k)
    sizes: NDArray[np.int64]  # how many they are
    sweep: int = 0  # sweeps so far
    rows_done: int = 0  # visits of rows so far
    refreshed: int = 0  # the visits when W was last computed afresh
    changes: int = 0  # visits that changed a row
    goal: int = 0  # the visits until which the step under way goes on
    before: int = 0  # the changes before it
    still: int = 0  # steps without a change
    on_face: bool = False  # the last step ended at the minimum of a face
    wait: int = 0  # evaluations until Newton's method on the face is tried again
    patience: int = 1  # how many these are where it leads nowhere once more
    value: float = math.inf  # P at W
    best_value: float = math.inf  # the least P so far
    best_bound: float = -math.inf  # the best D so far
    best_x: Array = field(default_factory=lambda: np.zeros(0))  # the point of the least P
    best_a: Array = field(default_factory=lambda: np.zeros((0, 0)))  # the multipliers of the best D


class BCFW(Method):
    """Exact, optimal or oblivious steps on one sample at a time; options `step`, `variant` and `order` as the module says."""

    name = "bcfw"
    title = "the dual of the multiclass support vector machine, one sample at a time"
    source = "Lacoste-Julien et al. 2013; Keerthi et al. 2008; Kang, Cao, Liu 2025, Algorithm 3"
    most_iterations = 100_000
    runs_in = "fwdsl.backends.svm.bcfw"
    options = MappingProxyType(
        {
            "step": Option("exact", "the step on a row", choices=("exact", "optimal", "oblivious")),
            "variant": Option("plain", "the direction of Frank-Wolfe steps", choices=VARIANTS),
            "order": Option(
                None,
                "rows drawn uniformly, as in the paper, or each once a sweep, shuffled; exact steps are always shuffled",
                kind=str,
                choices=("uniform", "shuffled"),
            ),
        }
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        return multiclass.reasons(arrangement)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Predictions by the rows of one data matrix, no weight of 0 on a `sum_squares`."""
        return (*multiclass.value_reasons(canonical), *multiclass.row_reasons(canonical))

    @classmethod
    def requires_options(cls, form: Any, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Away and pairwise directions go with the optimal step, an order with Frank-Wolfe steps."""
        step, variant = options.get("step", "exact"), options.get("variant", "plain")
        found = []
        if variant != "plain" and step != "optimal":
            found.append(f'`variant="{variant}"` needs `step="optimal"`')
        if options.get("order") == "uniform" and step == "exact":
            found.append('`order="uniform"` needs `step="optimal"` or `step="oblivious"`')
        return tuple(found)

    @classmethod
    def settles(cls, arrangement: Arrangement, form: Any) -> str:
        """The reason is that samples are no more than columns, or C |x_i|^2 at most LARGEST_PRICE; beyond it the least predicted time decides."""
        if form is not None:
            rows, columns = _product(form).A.shape
            if rows > columns and _price(form) > LARGEST_PRICE:
                return ""
        return "a multiclass support vector machine: exact steps on one sample at a time beat the general method"

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """20 + 80 r^0.6 visits of each row to 1e-6, r = C c^2 |x_i|^2 / mu: measured on dna, usps and letter, r from 0.4 to 45.

        The largest row stands for all. A visit takes the row twice, 0.25 ns a number and class, and 0.2 us; a sweep 0.1 ms of Python.
        """
        (term,) = canonical.terms
        n, k = term.map.shape
        product = _product(canonical)
        visits = min(1e5, max(0.2, -math.log10(tol) / 6.0) * (20.0 + 80.0 * _price(canonical) ** 0.6))
        passes = 2.25 * visits
        seconds = 1e-9 * (passes * product.nnz * (0.5 + 0.25 * k) + visits * (n * (200.0 + 10.0 * k) + 1e5))
        memory = 8.0 * (3.0 * n * k + 2.0 * canonical.size + multiclass.spread(product.A))
        return Estimate(passes, seconds, memory, f"about {visits:.0f} visits of each sample, more the larger C |x_i|^2")


def _data(canonical: Canonical) -> tuple[Block, float, LeftMultiply]:
    """The variable that the data multiply, the factor before them, the product."""
    for block, m in canonical.terms[0].map.parts:
        found = product_of(m)
        if found is not None:
            return block, found.c, found.left
    raise AssertionError("`requires_values` lets no other problem pass")


def _product(canonical: Canonical) -> LeftMultiply:
    return _data(canonical)[2]


def _price(canonical: Canonical) -> float:
    """r = C c^2 |x|^2 / mu for the largest C and the largest row x."""
    (term,) = canonical.terms
    assert isinstance(term.f, VectorLossFunction)
    block, c, _ = _data(canonical)
    row = max((s.largest_row_norm for s in canonical.instance.stats.values()), default=1.0) or 1.0
    r: float = float(term.f.w.max(initial=0.0)) * min(c * c * row * row, 1e150) / block.g.curvature
    return r
