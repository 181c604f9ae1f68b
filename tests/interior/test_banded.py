"""Systems in a narrow band: against dense solutions, in any order of the unknowns; programs whose systems have one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends import dual, dual_step
from fwdsl.backends.interior import banded
from fwdsl.backends.interior.banded import NARROW, Band, BandedNormal
from fwdsl.backends.interior.sizes import size_of


def chain(n: int, width: int, seed: int = 0) -> sp.csr_array:
    """A definite matrix with a band, its unknowns in a random order."""
    rng = np.random.default_rng(seed)
    D = sp.diags_array([rng.standard_normal(n - k) for k in range(width + 1)], offsets=range(width + 1), shape=(n, n))
    order = rng.permutation(n)
    return sp.csr_array(sp.csr_array(D.T @ D + 0.1 * sp.eye_array(n))[order][:, order])


@pytest.mark.parametrize("width", [0, 1, 4, NARROW])
def test_a_definite_system(width: int) -> None:
    matrix = chain(60, width)
    band = Band.of(matrix)
    assert band is not None and band.width <= 2 * width
    right = np.cos(np.arange(60))
    solve = band.factored(matrix)
    assert solve is not None
    found = solve(right)
    np.testing.assert_allclose(found, np.linalg.solve(matrix.toarray(), right), rtol=1e-9, atol=1e-9)


def bordered(upper: sp.csr_array, equal: sp.csr_array, shift: float) -> sp.csr_array:
    return sp.csr_array(sp.block_array([[upper, equal.T], [equal, -shift * sp.eye_array(equal.shape[0])]]))


def test_an_indefinite_system() -> None:
    upper, right = chain(50, 2), np.cos(np.arange(75))
    equal = sp.csr_array(sp.eye_array(25, 50))
    matrix = bordered(upper, equal, 1e-11)
    band = Band.of(matrix, 25)
    assert band is not None
    solve = band.factored(upper, equal, 1e-11)
    assert solve is not None
    # the factor has a shift of its own, which refinement takes back
    found = solve(right)
    found += solve(right - matrix @ found)
    np.testing.assert_allclose(found, np.linalg.solve(matrix.toarray(), right), rtol=1e-7, atol=1e-7)


def test_no_multiplier_goes_before_all_unknowns_of_its_equation() -> None:
    """States over time, whose equations see two neighbours each: some would come first."""
    n = 200
    upper, equal = sp.csr_array(sp.eye_array(n)), sp.csr_array(np.eye(n - 1, n, k=1) - 0.9 * np.eye(n - 1, n))
    band = Band.of(bordered(upper, equal, 1e-11), n - 1)
    assert band is not None
    rows, columns = equal.tocoo().coords
    first = np.full(n - 1, 2 * n)
    np.minimum.at(first, rows, band.place[columns])
    assert np.all(band.place[n:] > first)


@pytest.mark.parametrize("own", [0.0, 1e-14, 1.0])
def test_a_factor_without_digits_gives_way_to_pivots(own: float) -> None:
    """Without a number of its own an unknown is as much of a first pivot as an equation is: then D is the shift alone, or less."""
    n = 40
    upper = sp.csr_array(own * sp.eye_array(n))
    equal = sp.csr_array(sp.eye_array(n))
    matrix = bordered(upper, equal, 1e-11)
    band = Band.of(matrix, n)
    assert band is not None
    solve, right = band.factored(upper, equal, 1e-11), np.cos(np.arange(2 * n))
    assert solve is not None
    found = solve(right)
    found += solve(right - matrix @ found)
    np.testing.assert_allclose(matrix @ found, right, atol=1e-9)


@pytest.mark.parametrize("width", [1, 3, NARROW])
def test_a_system_whose_weights_change(width: int) -> None:
    """P + A'diag(w)A, whose entries cancel at the first weights."""
    rng = np.random.default_rng(width)
    P = sp.csr_array(sp.diags_array([np.full(39, -1.0), np.full(40, 9.0), np.full(39, -1.0)], offsets=[-1, 0, 1]))
    A = sp.csr_array(np.vstack([np.eye(40), np.eye(40, k=width), np.eye(40) - np.eye(40, k=width)]))
    normal = BandedNormal.of(P, A)
    assert normal is not None
    right = np.cos(np.arange(40))
    for weights in (np.ones(120), rng.uniform(0.1, 10.0, 120), 10.0 ** rng.uniform(-6, 6, 120)):
        matrix = (P + A.T @ sp.diags_array(weights) @ A).toarray()
        found = normal.factored(weights, 0.0)(right)
        size = np.abs(matrix) @ np.abs(found)
        np.testing.assert_array_less(np.abs(matrix @ found - right), 1e-11 * size.max())
    with pytest.raises(np.linalg.LinAlgError):
        normal.factored(np.full(120, -1e3), 0.0)


def test_many_products_have_no_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(banded, "PRODUCTS", 100)
    A = sp.csr_array(np.eye(40) - np.eye(40, k=1))
    assert BandedNormal.of(sp.csr_array(sp.eye_array(40)), A) is None
    assert trend(40).solve(tol=1e-8, method="interior").status == "optimal"


def test_what_is_no_band() -> None:
    rng = np.random.default_rng(1)
    assert Band.of(sp.csr_array(rng.standard_normal((200, 200)))) is None
    band = Band.of(chain(50, 1))
    assert band is not None and band.factored(chain(50, 5, seed=2)) is None
    with pytest.raises(np.linalg.LinAlgError):
        band.factored(-1.0 * chain(50, 1))


TREND = "data y: vector[n], D: matrix[m, n]\nvar x: vector[n]\nminimize 1/2 * sum(squared(x, y)) + 3 * norm1(D @ x)\n"


def trend(n: int) -> fw.Problem:
    """Second differences of a noisy wave."""
    D = sp.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(n - 2, n), format="csr")
    y = np.sin(np.arange(n) / 40.0) + 0.3 * np.cos(1.7 * np.arange(n) ** 1.3)
    return fw.parse(TREND).bind(y=y, D=D)


def test_a_trend_needs_no_other_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The systems have a band, and the dual equalities entries of their own: no SuperLU, no conjugate gradients."""
    used = []
    monkeypatch.setattr("fwdsl.backends.interior.system.splu", lambda *a, **k: pytest.fail("SuperLU was used"))
    monkeypatch.setattr(
        dual_step, "conjugate_gradients", lambda *a, **k: pytest.fail("an equality was left to a system")
    )
    plain = BandedNormal.factored
    monkeypatch.setattr(BandedNormal, "factored", lambda *a, **k: used.append(1) or plain(*a, **k))
    s = trend(2_000).solve(tol=1e-8, method="interior")
    assert s.status == "optimal" and used


def test_entries_of_their_own_make_up_for_what_others_leave() -> None:
    problem = trend(30)
    prepared = fw.backends.problem.PreparedProblem(problem.canonical, 1)
    ((term, rows, columns, coefficients),) = prepared.absorbing
    assert term == 0 and coefficients.size == rows.size == 30 and np.array_equal(columns, np.arange(30))
    rng = np.random.default_rng(0)
    ys = [rng.standard_normal(30), rng.uniform(-3.0, 3.0, 28)]
    found = dual.repair(prepared, ys, rng.standard_normal(30))
    np.testing.assert_array_equal(found[1], ys[1])
    np.testing.assert_allclose(prepared.adjoint(found), 0.0, atol=1e-13)


def test_chains_are_told_from_patterns_that_fill_up() -> None:
    """Differences of any order have a narrow factor, whatever the number of products; a random pattern of as many entries has not."""
    n = 600
    third = sp.csr_array(np.diff(np.eye(n), 3, axis=0))
    anywhere = sp.random_array((n - 3, n), density=4.0 / n, rng=np.random.default_rng(0), format="csr")
    text = "data y: vector[n], D: matrix[m, n]\nvar x: vector[n]\nminimize sum(squared(x, y))\nsubject to D @ x >= 0\n"
    y = np.cos(np.arange(n))
    chain, random = (fw.parse(text).bind(y=y, D=D) for D in (third, anywhere))
    assert size_of(chain.canonical).seconds < 0.2 * size_of(random.canonical).seconds
    assert size_of(chain.canonical).kind == "sparse"
    assert chain.plan().method == "interior"
