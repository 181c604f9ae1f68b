"""Ways to solve the systems of a step: against dense solutions and against each other; first points."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.interior.banded import BandedNormal
from fwdsl.backends.interior.cones import KINDS
from fwdsl.backends.interior.directions import scalings_of
from fwdsl.backends.interior.loops import missed
from fwdsl.backends.interior.program import Batch
from fwdsl.backends.interior.small import solver_of_small
from fwdsl.backends.interior.system import System, Systems, _scaled, least_change
from fwdsl.backends.kernels.compile import kernel
from tests.interior.test_banded import trend
from tests.runs import stepped, without_patterns

STANDARD = (
    "data A: matrix[m, n], b: vector[m], c: vector[n]\nvar x: vector[n]\nminimize dot(c, x)\n"
    "subject to\n  A @ x == b\n  x >= 0\n"
)


def standard(m: int, n: int, repeated: int = 0, unit: float = 1.0) -> fw.Problem:
    """A linear program with a bounded optimum; some of its equations may come twice."""
    rng = np.random.default_rng(m)
    A = rng.standard_normal((m, n))
    x = np.maximum(rng.standard_normal(n), 0.0)
    c = A.T @ rng.standard_normal(m) + rng.random(n)
    A = np.vstack([A, A[:repeated]])
    return fw.parse(STANDARD).bind(A=A, b=unit * (A @ x), c=c)


@pytest.mark.parametrize("repeated", [0, 5])
def test_equations_by_their_schur_complement(repeated: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same optimum as by the whole matrix, with dependent equations too, in every unit."""
    used: list[int] = []
    plain = Systems._of_long
    without_patterns(monkeypatch)
    monkeypatch.setattr(Systems, "_of_long", lambda *a: used.append(1) or plain(*a))
    found = standard(30, 260, repeated).solve(method="interior", tol=1e-7)
    assert found.status == "optimal" and used
    large = standard(30, 260, repeated, 2.0**20).solve(method="interior", tol=1e-7)
    assert large.status == "optimal" and large.objective == pytest.approx(2.0**20 * found.objective, rel=1e-6)
    monkeypatch.setattr(Systems, "_long_rows", lambda *a: None)
    whole = standard(30, 260, repeated).solve(method="interior", tol=1e-7)
    assert whole.status == "optimal" and whole.objective == pytest.approx(found.objective, rel=1e-6)


@pytest.mark.parametrize(("equations", "long"), [(4, 0), (0, 4), (3, 2)])
def test_the_schur_complement_solves_the_system(equations: int, long: int) -> None:
    """Rows that see more than one unknown may be equations or not, and have large entries."""
    rng = np.random.default_rng(3)
    n, k = 12, equations
    full = rng.standard_normal((k + long, n))
    full[k:] *= 1e6
    A = sp.csr_array(np.vstack([full, np.diag(rng.uniform(0.5, 2.0, n))]))
    m = A.shape[0]
    batches = (Batch("zero", 0, 1, k), Batch("nonnegative", k, 1, m - k))
    systems = Systems(sp.csr_array((n, n)), A, batches, "condensed", lambda: None, lambda: None)
    systems.thin, systems.A = True, A
    found = systems._long_rows(sp.csr_array((n, n)))
    assert found is not None and found.rows.tolist() == list(range(k + long))
    right = rng.standard_normal(n + m)
    whole = np.block([[np.zeros((n, n)), A.toarray().T], [A.toarray(), np.diag(-1.0 * (np.arange(m) >= k))]])
    solution = systems._of_long(found, A, A.T.tocsr())(right)
    np.testing.assert_allclose(whole @ solution, right, rtol=1e-7, atol=1e-7)


def test_unknowns_of_single_entries_leave_a_narrow_band(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same optimum as with them, and with no band at all."""
    expected = trend(300).solve(method="interior", tol=1e-8)
    plain = BandedNormal.of
    tried: list[int] = []

    def not_at_first(P: sp.csr_array, A: sp.csr_array) -> BandedNormal | None:
        tried.append(P.shape[0])
        return plain(P, A) if len(tried) == 2 else None

    monkeypatch.setattr(BandedNormal, "of", not_at_first)
    with_all = trend(300).solve(method="interior", tol=1e-8)
    assert tried == [300, 598]
    monkeypatch.setattr(BandedNormal, "of", lambda P, A: None)
    without = trend(300).solve(method="interior", tol=1e-8)
    for other in (with_all, without):
        assert other.status == expected.status == "optimal"
        assert other.objective == pytest.approx(expected.objective, rel=1e-7)


def test_least_changes_of_dependent_and_independent_rows() -> None:
    rng = np.random.default_rng(1)
    A = rng.standard_normal((6, 9))
    for rows in (A, np.vstack([A, A[:2]]), np.vstack([A, np.zeros(9)]), np.vstack([A, A])):
        right = rows @ rng.standard_normal(9)
        np.testing.assert_allclose(rows @ least_change(rows, right), right, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    ("kind", "number", "rows"), [("nonnegative", 1, 7), ("second_order", 3, 4), ("semidefinite", 2, 6)]
)
def test_the_depth_of_a_point_in_a_cone(kind: str, number: int, rows: int) -> None:
    """On its boundary once the unit is taken away as often, and inside by less."""
    batch, cone = Batch(kind, 0, number, rows), KINDS[kind]
    s = np.random.default_rng(2).standard_normal(number * rows)
    depth, unit = cone.depth(batch, s), cone.unit(batch)
    assert cone.holds(batch, s - (depth - 1e-6) * unit)
    assert not cone.holds(batch, s - (depth + 1e-6) * unit)


def inexact(p: np.ndarray, r: np.ndarray, asked: list[int], harmless: float) -> np.ndarray:
    """The answer of a system of the identity whose solver misses a part in a million of p."""
    n = p.size

    def solve(right: np.ndarray) -> np.ndarray:
        asked.append(1)
        return np.concatenate([(1.0 + 1e-6) * right[:n], -right[n:]])

    system = System(lambda v: v, lambda v, u: (np.zeros(r.size), np.zeros(n)), 0, solve)
    return np.concatenate(system(p, r, harmless))


def test_answers_are_refined_until_what_they_miss_is_harmless() -> None:
    rng = np.random.default_rng(4)
    p, r = rng.standard_normal(5), rng.standard_normal(3)
    exact, loose = list[int](), list[int]()
    np.testing.assert_allclose(inexact(p, r, exact, 0.0), np.concatenate([p, -r]), rtol=1e-12)
    np.testing.assert_allclose(inexact(p, r, loose, 1e-5), np.concatenate([p, -r]), rtol=2e-6)
    assert len(loose) == 1 < len(exact)


def test_what_is_missed_and_its_sizes() -> None:
    rng = np.random.default_rng(6)
    n, m, k = 7, 5, 2
    p, curved, across = rng.standard_normal((3, n))
    r, along, u = rng.standard_normal((3, m))
    rest, sizes = np.empty(n + m), np.empty(6)
    kernel(missed)(p, curved, across, r, along, u, k, rest, sizes)
    left, below = p - curved - across, r - along + u * (np.arange(m) >= k)
    np.testing.assert_allclose(rest, np.concatenate([left, below]), atol=1e-15)
    np.testing.assert_allclose(sizes, [np.abs(v).max() for v in (left, p, across, below, r, along)], atol=1e-15)
    u[k] = np.nan
    kernel(missed)(p, curved, across, r, along, u, k, rest, sizes)
    assert np.isnan(sizes[0]) and np.isnan(sizes[3])


@pytest.mark.parametrize("equations", [0, 2])
@pytest.mark.parametrize("large", [0, 3, 9])
def test_small_systems_with_rows_of_any_size(equations: int, large: int) -> None:
    """The unknowns and all multipliers, whichever rows keep theirs."""
    rng = np.random.default_rng([equations, large])
    n, m = 6, equations + 9
    A = rng.normal(size=(m, n))
    A[equations : equations + large] *= 1e5
    root = rng.normal(size=(n, n))
    whole = np.block([[root @ root.T, A.T], [A, np.diag(-1.0 * (np.arange(m) >= equations))]])
    expected = rng.normal(size=n + m)
    solve = solver_of_small(root @ root.T, A, equations, 0.0, lambda: None)
    np.testing.assert_allclose(whole @ solve(whole @ expected), whole @ expected, rtol=1e-7, atol=1e-5)


@pytest.mark.parametrize(("n", "density"), [(200, 0.2), (50, 1.0)])
@pytest.mark.parametrize(
    "text",
    [
        "minimize norm2(A @ x - b) + sum(absolute(A @ x, b)) + norm2(x)",
        "minimize sum(absolute(A @ x, b)) + norm2(x)\nsubject to A[:2, :] @ x == b[:2]",
        "minimize sum(absolute(A @ x, b)) + group_norm(x, groups=g) + norm2(A[:30, :] @ x)",
    ],
)
def test_long_cones_are_turned_without_a_matrix(
    text: str, n: int, density: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scaling of a long second-order cone is a diagonal and products of two vectors: products and squares are those of its matrix."""
    without_patterns(monkeypatch)
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((n + 10, n)) * (rng.random((n + 10, n)) < density), rng.standard_normal(n + 10)
    data = "data A: matrix[m, n], b: vector[m]" + (", g: index[n] of k" if "groups" in text else "")
    given = {"A": A if density == 1.0 else sp.csr_array(A), "b": b, "g": np.repeat(np.arange(2), n // 2)}
    problem = fw.parse(f"{data}\nvar x: vector[n]\n{text}\n").bind(
        **{k: v for k, v in given.items() if f"{k}: " in data}
    )
    run = stepped(problem, "interior", 4)
    systems, now = run.systems, run.state
    separate = systems.separate
    assert separate is not None and systems.few is None and systems.long_cones
    scalings = scalings_of(run.batches, now.s, now.z)
    weights, rest = systems._mixed(separate.rest, separate.others, run.batches, scalings)
    with monkeypatch.context() as alone:
        alone.setattr(systems, "long_cones", ())
        others, whole = systems._mixed(separate.rest, separate.others, run.batches, scalings)
    single = np.setdiff1d(np.arange(weights.size), separate.others)
    np.testing.assert_array_equal(weights[single], others[single])
    written = whole.matrix.toarray()
    v, u = rng.standard_normal(written.shape[1]), rng.standard_normal(written.shape[0])
    size = np.abs(written).max()
    np.testing.assert_allclose(rest @ v, written @ v, atol=1e-9 * size)
    out = np.zeros(v.size)
    rest.add_adjoint(u, out)
    np.testing.assert_allclose(out, written.T @ u, atol=1e-9 * size)
    matrix = np.zeros((v.size + 3, v.size + 3), order="F")
    rest.add_squares(matrix, systems.equations, lambda: None)
    expected = written[systems.equations :].T @ written[systems.equations :]
    np.testing.assert_allclose(np.tril(matrix)[: v.size, : v.size], np.tril(expected), atol=1e-9 * size**2)


@pytest.mark.parametrize("tail", ["", "\nsubject to sum(x) == 0.5"])
def test_a_sparse_system_with_long_cones_is_solved(tail: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """P v + A'W^-1 u = p and W^-T A v - u = r, without the squares of rows that the cone turns."""
    without_patterns(monkeypatch)
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((30, 120)) * (rng.random((30, 120)) < 0.2), rng.standard_normal(30)
    text = (
        "data A: matrix[m, n], b: vector[m]\nvar x: vector[n]\nminimize sum_squares(A @ x - b) + norm_inf(x) + norm2(x)"
    )
    run = stepped(fw.parse(text + tail).bind(A=sp.csr_array(A), b=b), "interior", 4)
    systems, now = run.systems, run.state
    assert systems.thin and systems.long_cones
    scalings = scalings_of(run.batches, now.s, now.z)
    k, scaled = systems.equations, _scaled(run.A.toarray(), run.batches, scalings)
    p, r = rng.standard_normal(run.c.size), rng.standard_normal(now.z.size)
    v, u = systems.at(run.batches, scalings)(p, r)
    size = np.abs(scaled).max() * max(np.abs(u).max(), np.abs(v).max())
    P = run.P if isinstance(run.P, np.ndarray) else run.P.toarray()
    np.testing.assert_allclose(P @ v + scaled.T @ u, p, atol=1e-9 * size)
    np.testing.assert_allclose(scaled[:k] @ v, r[:k], atol=1e-6 * size)
    np.testing.assert_allclose((scaled @ v - u)[k:], r[k:], atol=1e-9 * size)
