"""Dual norms, and the care that scaling into a domain takes."""

from __future__ import annotations

import numpy as np
import pytest

from fwdsl.atoms.matrices import DUAL_NORMS, dual_norm
from fwdsl.atoms.vectors.common import scale_into
from fwdsl.testing.functions import primal_norm


@pytest.mark.parametrize("name", DUAL_NORMS)
def test_dual_norms_are_dual(name: str) -> None:
    """<u, x> <= |u|_* |x|, and some x of the random ones comes near."""
    rng = np.random.default_rng(21)
    shape, best = (2, 3), 0.0
    for _ in range(200):
        u = rng.normal(size=6)
        bound = dual_norm(name, u, shape)
        x = rng.normal(size=6)
        if name in ("nuclear", "spectral"):
            left, _, right = np.linalg.svd(u.reshape(shape), full_matrices=False)
            x = (left @ right if name == "nuclear" else np.outer(left[:, 0], right[0])).reshape(-1)
        ratio = float(u @ x) / (bound * primal_norm(name, x, shape))
        assert ratio <= 1.0 + 1e-12
        best = max(best, ratio)
    assert best > 0.6
    assert dual_norm("l2", np.array([3.0, 4.0]), (2,)) == pytest.approx(5.0)
    assert dual_norm("l1inf", np.array([3.0, -4.0]), (2,)) == pytest.approx(7.0)


def test_scaling_into_a_domain_gives_way_to_rounding_only() -> None:
    v = np.array([1.0])
    assert scale_into(lambda u: bool(u[0] <= 0.5), v, 0.5) == 0.5
    for ulps in (1, 7, 100):
        reached = scale_into(lambda u, most=0.5 * (1 - ulps * 2.0**-52): bool(u[0] <= most), v, 0.5)
        assert 0.5 * (1 - 2.0 * (ulps + 1) * 2.0**-52) <= reached <= 0.5 * (1 - ulps * 2.0**-52)
    assert scale_into(lambda u: False, v, 0.5) == 0.0
