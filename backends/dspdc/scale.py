r"""Lambda, the bound on |K_I^J|_2^2 over blocks of m rows and q columns of Yu, Lin and Yang 2015: (8), and (27) for blocks of variables.

Behind (17) the paper suggests the estimate m q max_i |K_i|^2 / p, which is up to 90 times too large for blocks of matrices and 14 times too
small for sparse rows, as measured. The other guess is 1.1 times the largest of some random blocks, by power iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array

Index = NDArray[np.intp]

SAMPLES = 10
"""Blocks that are looked at, fewer where they are large."""

POWERS = 6
"""Power iterations on each."""

PASSES = 6.0
"""Data passes that all of them may take."""

SAFETY = 1.1
"""The factor on the largest one found."""


@dataclass(frozen=True)
class Sampler:
    """A block by its products; `columns` is the size of its argument."""

    apply: Callable[[Array], Array]
    adjoint: Callable[[Array], Array]
    columns: int


def block_scale(block: Sampler, seed: int, look: Callable[[], None]) -> float:
    """|B|_2^2 from below, by power iterations from a random start; `look` is called before each, and may raise."""
    x = np.random.default_rng(seed).standard_normal(block.columns)
    found = 0.0
    for _ in range(POWERS):
        look()
        size = float(np.linalg.norm(x))
        if size == 0.0:
            return found
        z = block.apply(x / size)
        found = max(found, float(z @ z))
        x = block.adjoint(z)
    return found


def sampled_scale(
    sampler: Callable[[Index, Index], Sampler],
    n: int,
    p: int,
    m: int,
    q: int,
    rng: np.random.Generator,
    look: Callable[[], None],
) -> float:
    """1.1 times the largest |K_I^J|_2^2 of random blocks, of as many as a few data passes allow."""
    largest = 0.0
    share = 2.0 * POWERS * m * q / (n * p)
    for _ in range(max(1, min(SAMPLES, int(PASSES / share)))):
        rows = np.sort(rng.choice(n, m, replace=False, shuffle=False))
        columns = np.sort(rng.choice(p, q, replace=False, shuffle=False))
        largest = max(largest, block_scale(sampler(rows, columns), int(rng.integers(2**31)), look))
    return SAFETY * largest
