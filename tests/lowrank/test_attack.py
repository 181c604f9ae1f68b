"""Small problems that are hard for methods on factors: loose and tight balls, next to no penalty, losses with linear pieces, units."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses import LOSSES
from fwdsl.backends.kernels import Pool
from fwdsl.backends.lowrank.smooth import Shifted, Smooth, on_segment
from tests.problems import SIGNED

TRIED = ("squared", "huber", "logistic", "squared_hinge", "smooth_hinge", "poisson", "squared_epsilon_insensitive")
ON_FACTORS = ("lowrank", "factored_fw", "block_fw")


def random_problem(seed: int) -> tuple[str, dict[str, Any]]:
    """Entries of a matrix, or a product with data, under a loss with numbers of some unit."""
    rng = np.random.default_rng(seed)
    n, p = (1 if rng.random() < 0.15 else int(rng.integers(2, 8)) for _ in range(2))
    # signs are two at least
    p = max(p, 3 - n)
    loss, product = str(rng.choice(TRIED)), rng.random() < 0.3
    unit = 1.0 if loss in SIGNED or loss == "poisson" else float(rng.choice([1.0, 1.0, 1e-9, 1e9]))
    if product:
        A = rng.standard_normal((int(rng.integers(2, 8)), n)) * float(rng.choice([1.0, 1.0, 1e-4, 1e4]))
        count = A.shape[0] * p
    else:
        count = int(rng.choice([2, max(2, n * p // 2), n * p]))
        at = rng.choice(n * p, min(count, n * p), replace=False)
        count = at.size
    values = np.full(count, 0.7) if rng.random() < 0.2 else rng.standard_normal(count)
    if loss in SIGNED:
        values = np.where(values > 0.0, 1.0, -1.0)
        values[0] = -values[-1]
    values = rng.poisson(2.0, count).astype(float) if loss == "poisson" else unit * values
    given = {
        "huber": f", delta={unit * float(rng.choice([1e-3, 0.1, 1.0, 100.0]))!r}",
        "squared_epsilon_insensitive": f", eps={unit * float(rng.choice([0.0, 1e-4, 0.1]))!r}",
    }.get(loss, "")
    ball = f" in nuclear_ball({unit * float(rng.choice([1e-4, 0.5, 5.0, 1e4]))!r})" if rng.random() < 0.6 else ""
    terms = [
        f"{rng.choice(['mean', 'sum'])}({loss}({'A @ X' if product else 'X[M]'}, {'Y' if product else 'M'}{given}))"
    ]
    if not ball or rng.random() < 0.2:
        terms.append(f"{unit * float(rng.choice([0.01, 0.1, 1.0]))!r} * norm_nuc(X)")
    if rng.random() < 0.15:
        terms.append("0.1 * sum_squares(X)")
    lines = [f"var X: matrix[n, p]{ball}", f"minimize {' + '.join(terms)}"]
    if product:
        kind = "signs" if loss in SIGNED else "matrix"
        return "\n".join([f"data A: matrix[k, n], Y: {kind}[k, p]", *lines]), {"A": A, "Y": values.reshape(-1, p)}
    kind = " of signs" if loss in SIGNED else ""
    return "\n".join([f"data M: entries[n, p]{kind}", *lines]), {"M": (at // p, at % p, values), "n": n, "p": p}


def check(seed: int) -> None:
    """`lowrank` is certified wherever it applies, and no bound of any method lies above a point of another."""
    text, data = random_problem(seed)
    problem = fw.parse(text + "\n").bind(**data)
    applying = {c.name for c in problem.plan().candidates if not c.reasons}
    found = {
        name: problem.solve(method=name, time=20.0, max_iter=None if name == "lowrank" else 300, threads=1)
        for name in ("apg", *ON_FACTORS)
        if name in applying
    }
    scale = max(s.certificate.scale for s in found.values())
    best = min(s.objective for s in found.values() if s.certificate.infeasibility <= 1e-9)
    for name, s in found.items():
        assert s.dual_bound <= best + 1e-7 * max(abs(best), 1e-3 * scale), name
    if "lowrank" in found:
        assert found["lowrank"].status == "optimal", text


@pytest.mark.parametrize("seed", range(8))
def test_a_problem_at_random(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8, 300))
def test_problems_at_random(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize("method", ON_FACTORS)
def test_a_column_that_fits_perfectly(method: str) -> None:
    text = "data M: entries[n, p]\nvar B: matrix[n, p] in nuclear_ball(5)\nminimize mean(huber(B[M], M, delta=0.1))\n"
    values = np.array([-0.36, 0.66, 0.56, -0.73])
    s = fw.parse(text).bind(M=(np.arange(4), np.zeros(4, int), values), n=4, p=1).solve(method=method, threads=1)
    assert s.status == "optimal" and s.objective == pytest.approx(0.0, abs=1e-7)
    np.testing.assert_allclose(np.asarray(s["B"])[:, 0], values, atol=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_a_penalty_of_next_to_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = np.nonzero(rng.random((6, 3)) < 0.6)
    text = (
        "data M: entries[n, p]\nvar B: matrix[n, p]\nminimize mean(huber(B[M], M, delta=0.001)) + 1e-10 * norm_nuc(B)\n"
    )
    values = rng.standard_normal(rows.size)
    s = fw.parse(text).bind(M=(rows, columns, values), n=6, p=3).solve(method="lowrank", max_iter=2000, threads=1)
    # the fit costs a ten thousandth of what 0 does, which was the answer
    assert 0.0 <= s.dual_bound <= s.objective <= 1e-4 * np.abs(values).mean() * 0.001


def test_the_best_point_of_a_segment_whatever_its_length() -> None:
    rng, pool = np.random.default_rng(0), Pool(1)
    for _ in range(300):
        name, n = str(rng.choice(TRIED)), int(rng.integers(1, 12))
        b = rng.choice([-1.0, 1.0], n) if name in SIGNED else rng.poisson(3.0, n).astype(float)
        given = {"huber": 1.0, "squared_epsilon_insensitive": 0.1}.get(name)
        p = np.array([given * 10.0 ** rng.uniform(-6.0, 1.0)]) if given else np.zeros(0)
        f = LossFunction(LOSSES[name], b, np.full(n, 10.0 ** rng.uniform(-9.0, 9.0)), p)
        z, d = rng.standard_normal(n), rng.standard_normal(n) * 10.0 ** rng.uniform(-3.0, 10.0)
        slope = float(f.w[0] * rng.choice([0.0, 1e-6, 1.0]) * rng.standard_normal())

        def falls(g: float, f: Any = f, z: Any = z, d: Any = d, slope: float = slope) -> bool:
            return float(f.gradient(z + g * d) @ d) + slope < 0.0

        with np.errstate(all="ignore"):
            g = on_segment(Smooth(f, pool), z, d, slope)
            low, high = (0.0, 1.0) if falls(0.0) and not falls(1.0) else (1.0, 1.0) if falls(0.0) else (0.0, 0.0)
            while low < (middle := math.sqrt(low * high) if low > 0.0 else 1e-3 * high) < high:
                low, high = (middle, high) if falls(middle) else (low, middle)
            at = [f.value(z + t * d) + slope * t for t in (0.0, g, low)]
        assert at[1] - at[2] <= 1e-6 * (at[0] - at[2]) + 1e-12 * abs(at[2]), (name, g, low)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_an_intercept_is_found_in_any_unit(unit: float) -> None:
    b = unit * np.array([1.0, 2.0, 3.0, 50.0, 7.0])
    f = LossFunction(LOSSES["huber"], b, np.ones(5), np.array([0.01 * unit]))
    z = unit * np.array([0.1, -0.2, 0.3, 0.0, 0.0])
    shifted = Shifted(f, Pool(1), 1).shift(z)
    # the middle one of the residuals 0.9, 2.2, 2.7, 7, 50 is within delta of the best shift
    assert (shifted - z)[0] == pytest.approx(2.7 * unit, abs=0.011 * unit)
    slope = f.gradient(shifted).sum()
    assert abs(slope) <= 1e-9 * np.abs(f.gradient(shifted)).sum()
