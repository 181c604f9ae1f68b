"""Every norm, set and pair of matrices: kernels against references, references against the definitions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.matrices import (
    DUAL_NORMS,
    EIGENVALUES,
    MATRIX_NORMS,
    MATRIX_SETS,
    Eigen,
    Lines,
    LinesSet,
    build_matrix,
    dual_norm,
)
from fwdsl.atoms.matrices.common import backward_error, singular_values
from fwdsl.atoms.vectors import ConvexSet, Ridged, build
from fwdsl.backends.kernels import kernel

#: Ways to draw the arguments of each set; the first is the plainest.
ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    **{name: [{"r": 1.5}, {"r": 0.0}, {"r": 20.0}] for name in MATRIX_SETS if name.endswith(("ball", "spectrahedron"))},
    **{name: [{}] for name in ("nonnegative", "psd", "simplex_product", "birkhoff")},
    "box": [{"lo": -0.5, "hi": 2.0}],
    "vec": [{"set": ("simplex", {"r": 2.0})}, {"set": ("l2_ball", {"r": 2.0})}],
    **{
        name: [
            {"set": ("simplex", {"r": 1.0})},
            {"set": ("solid_simplex", {"r": 1.5})},
            {"set": ("l1_ball", {"r": 1.5})},
            {"set": ("l2_ball", {"r": 0.5})},
            {"set": ("linf_ball", {"r": 0.5})},
            {"set": ("box", {"lo": -1.0, "hi": np.array([0.0, 0.5, 1.0])})},
            {"set": ("nonnegative", {})},
        ]
        for name in ("rows", "columns")
    },
}
SETS = [None, *MATRIX_SETS]
PAIRS = [
    (norm, name)
    for norm, name in itertools.product([None, *MATRIX_NORMS], SETS)
    if (norm or name)
    and build_matrix((norm, 1.0) if norm else None, (name, ARGUMENTS[name][0]) if name else None, (3, 3)) is not None
]
PROXIMABLE = [pair for pair in PAIRS if pair[1] != "birkhoff"]
each = pytest.mark.parametrize("pair", PROXIMABLE, ids=lambda pair: " on ".join(str(p) for p in pair))
each_set = pytest.mark.parametrize("name", MATRIX_SETS)

#: Pairs whose vector kernels have no version along lines.
UNCOMPILED = [
    f"{c:g} * {norm}"
    for c in (0.7, 4.0)
    for norm in ("norm21 on rows(nonnegative)", *(f"norm1 on {on}(l2_ball(0.5))" for on in ("rows", "columns")))
]


def shape_of(pair: tuple[str | None, str | None]) -> tuple[int, int]:
    """Rows shorter than columns, but for sets of square matrices and for bounds of lines, which are vectors of three."""
    return (3, 3) if pair[1] in (*EIGENVALUES, "birkhoff") else ((4, 3) if pair[1] != "columns" else (3, 4))


def functions(pair: tuple[str | None, str | None], ridge: bool = True) -> Iterator[VectorFunction]:
    """The function of this pair with each way to draw arguments, plain and with a ridge."""
    norm, name = pair
    for arguments in ARGUMENTS[name] if name else [{}]:
        for c in (0.7, 4.0) if norm else (0.0,):
            g = build_matrix((norm, c) if norm else None, (name, arguments) if name else None, shape_of(pair))
            if g is not None:
                yield g
                if ridge:
                    yield Ridged(g, 0.3)


def points(g: Any, seed: int, count: int = 8) -> Iterator[Array]:
    """Flat matrices of all sizes, some of low rank, with ties, zeros and entries that are equal; symmetric where the function is of such."""
    shape, symmetric = shape_and_kind(g)
    rng = np.random.default_rng(seed)
    made = [np.zeros(shape), np.full(shape, 1.5), np.eye(*shape)]
    for k in range(count):
        a = rng.normal(0.0, 10.0 ** rng.uniform(-1.5, 1.5), shape)
        if k % 4 == 1:
            a = np.outer(a[:, 0], a[0])
        made.append(np.round(a) if k % 3 == 0 else a)
    for a in made:
        yield (a + a.T if symmetric else a).reshape(-1)


def shape_and_kind(g: Any) -> tuple[tuple[int, int], bool]:
    g = g.inner if isinstance(g, Ridged) else g
    columns = isinstance(g, LinesSet) and g.axis == 1
    return getattr(g, "shape", (3, 3) if isinstance(g, Eigen) else ((3, 4) if columns else (4, 3))), isinstance(
        g, Eigen
    )


def inside(on: ConvexSet, v: Array) -> Array:
    """A point of the set: the projection, or where there is none the middle of two vertices."""
    if on.proximable:
        return on.prox(v, 1.0)
    a, b = on.lmo(v), on.lmo(-v[::-1])
    assert a is not None and b is not None
    return 0.5 * (a + b)


def compiled_prox(g: VectorFunction, v: Array, t: float) -> Array:
    out = np.full(v.size, np.nan)
    share, step = g.prox_change(t)
    kernel(g.prox_kernel)(share * v, step, out, *g.kernel_args())
    return out


@each
def test_compiled_prox_matches_the_reference(pair: tuple[str | None, str | None]) -> None:
    for g in functions(pair):
        for v in points(g, 1):
            for t in (0.2, 3.0):
                expected = g.prox(v, t)
                assert g.violation(expected) <= 5e-15
                if g.compiled:
                    found = compiled_prox(g, v, t)
                    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13 * (1 + np.abs(v).max()))
                    assert g.violation(found) <= 1e-15


@each
def test_prox_is_optimal_and_moreau_holds(pair: tuple[str | None, str | None]) -> None:
    """u = (v - x) / t is a subgradient at x = prox(v): g(x) + g*(u) = <u, x>, so that x + t prox of the conjugate = v."""
    for g in functions(pair):
        for v in points(g, 2):
            for t in (0.2, 3.0):
                x = g.prox(v, t)
                u = (v - x) / t
                inside = g.dual_project(u)
                np.testing.assert_allclose(inside, u, atol=1e-11 * (1 + np.abs(u).max()))
                left = g.value(x) + g.conjugate(inside)
                assert left == pytest.approx(
                    float(inside @ x), abs=2e-11 * (1 + np.abs(u).max()) * (1 + np.abs(x).max())
                )


@each
def test_conjugate_bounds_every_feasible_point(pair: tuple[str | None, str | None]) -> None:
    for g in functions(pair):
        feasible = [g.prox(v, 1.0) for v in points(g, 3)]
        for v in points(g, 4):
            v = g.dual_project(v)
            bound = g.conjugate(v)
            for x in feasible:
                assert float(v @ x) - g.value(x) <= bound + 1e-12 * (1 + abs(bound) + np.abs(v).max() * np.abs(x).max())


@each
def test_domain_of_the_conjugate(pair: tuple[str | None, str | None]) -> None:
    for g in functions(pair):
        for v in points(g, 5, 20):
            s = g.dual_scale(v)
            assert 0.0 <= s <= 1.0
            projected = g.dual_project(v)
            assert math.isfinite(g.conjugate(s * v)) and math.isfinite(g.conjugate(projected))
            assert (s == 1.0) == math.isfinite(g.conjugate(v))
            if s < 1.0:
                assert g.conjugate(min(1.0, s * (1 + 1e-9) + 1e-12) * v) == math.inf
            # the projection is nearest: <v - Pv, w - Pv> <= 0 for w in the domain
            for w in (np.zeros(g.size), s * v, g.dual_project(-v)):
                assert float((v - projected) @ (w - projected)) <= 1e-11 * (1 + float(v @ v))


ORDER = {"linf": 1, "l2": 2, "l1": np.inf}


def primal_norm(dual: str, x: Array, shape: tuple[int, int]) -> float:
    """The norm whose dual norm has this name."""
    a = x.reshape(shape)
    if dual in ORDER:
        return float(np.linalg.norm(x, ORDER[dual]))
    if dual == "l2inf":
        return float(np.linalg.norm(a, axis=1).sum())
    if dual == "l1inf":
        return float(np.abs(a).max(axis=1).sum())
    return float(np.linalg.norm(a, "nuc" if dual == "spectral" else 2))


@each
def test_infimum_coercivity_and_radius(pair: tuple[str | None, str | None]) -> None:
    for g in functions(pair):
        shape, _ = shape_and_kind(g)
        lowest = g.infimum()
        coercive = g.coercive()
        assert lowest == pytest.approx(-g.conjugate(np.zeros(g.size)), abs=1e-12)
        for v in points(g, 6):
            x = g.prox(v, 1.0)
            assert g.value(x) >= lowest - 1e-12 * (1 + abs(lowest))
            if coercive is not None:
                c, dual = coercive
                assert g.value(x) >= c * primal_norm(dual, x, shape) - 1e-12
            assert np.linalg.norm(x) <= g.radius() * (1 + 1e-12)
        assert g.value(g.prox(np.zeros(g.size), 1e6)) == pytest.approx(lowest, abs=1e-4)


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


@each
def test_faces(pair: tuple[str | None, str | None]) -> None:
    """Along a face g is affine but for its curvature, and stays in the set."""
    rng = np.random.default_rng(7)
    for g in functions(pair):
        for v in points(g, 8):
            x = g.prox(v, 0.5)
            face = g.face(x)
            if face is None:
                assert not g.polyhedral or pair[0] in ("norm_inf", "norm1_inf") or pair[1] == "l1_inf_ball"
                continue
            d = rng.normal(size=face.free.size)
            if face.normals.size:
                d -= np.linalg.pinv(face.normals) @ (face.normals @ d)
            h = 1e-7 * min(1.0, float(np.abs(x[x != 0.0]).min(initial=1.0))) / (1.0 + np.abs(d).sum())
            y = x.copy()
            y[face.free] += h * d
            expected = g.value(x) + h * float(face.slope @ d) + 0.5 * g.curvature * h * h * float(d @ d)
            assert g.violation(y) <= 1e-14
            assert g.value(y) == pytest.approx(expected, rel=1e-12, abs=1e-14)


@each
def test_facts(pair: tuple[str | None, str | None]) -> None:
    for g in functions(pair, ridge=False):
        shape, symmetric = shape_and_kind(g)
        spectral = any("nuc" in str(p) or "spec" in str(p) or p == "psd" for p in pair)
        assert g.size == math.prod(shape) and g.proximable and g.curvature == 0.0
        assert (g.certificate == "rigorous") == spectral
        assert g.compiled == (not spectral and g.describe() not in UNCOMPILED)
        for word in pair:
            assert word in (None, "vec", "simplex_product") or word in g.describe()
        ridged = Ridged(g, 0.3)
        assert (ridged.compiled, ridged.proximable, ridged.certificate) == (g.compiled, True, g.certificate)
        if symmetric:
            for v in points(g, 15):
                for x in (g.prox(v, 0.3), g.lmo(v)):
                    assert x is None or np.array_equal(x.reshape(shape), x.reshape(shape).T)


def test_descriptions_in_the_words_of_the_language() -> None:
    simplex = {"set": ("simplex", {"r": 1})}
    for norm, on, text in [
        (("norm_nuc", 0.1), None, "0.1 * norm_nuc"),
        (("norm_nuc", 0.1), ("psd", {}), "0.1 * norm_nuc on psd"),
        (None, ("spectrahedron", {"r": 5}), "spectrahedron(5)"),
        (("norm_fro", 2.0), ("fro_ball", {"r": 5}), "2 * norm_fro on fro_ball(5)"),
        (("norm1", 2.0), ("rows", simplex), "2 * norm1 on rows(simplex(1))"),
        (("norm21", 2.0), None, "2 * norm21"),
        (None, ("simplex_product", {}), "rows(simplex(1))"),
        (None, ("columns", {"set": ("l2_ball", {"r": 0.5})}), "columns(l2_ball(0.5))"),
    ]:
        g = build_matrix(norm, on, (3, 3))
        assert g is not None and g.describe() == text
        assert g.pair[0] == (norm and norm[0])


# --- sets -----------------------------------------------------------------------------------------------------------


@each_set
def test_lmo_attains_the_support_function(name: str) -> None:
    for on in functions((None, name), ridge=False):
        assert isinstance(on, ConvexSet)
        feasible = [inside(on, v) for v in points(on, 11)]
        for c in points(on, 9):
            x = on.lmo(c)
            assert (x is None) == (not math.isfinite(on.radius()))
            if x is None:
                continue
            assert on.violation(x) <= 5e-15
            best = float(c @ x)
            assert best == pytest.approx(-on.conjugate(-c), abs=1e-12 * (1 + np.abs(c).sum() * np.abs(x).max()))
            assert all(best <= float(c @ y) + 1e-11 * (1 + np.abs(c).sum()) for y in feasible)
            named = on.vertex_id(c)
            if named is not None:
                hash(named)
                for other in points(on, 10):
                    if on.vertex_id(other) == named:
                        np.testing.assert_array_equal(on.lmo(other), x)


@each_set
def test_gauge_membership_and_diameter(name: str) -> None:
    for on in functions((None, name), ridge=False):
        assert isinstance(on, ConvexSet)
        reached = 0.0
        feasible = [inside(on, v) for v in points(on, 11)]
        flat = name == "birkhoff" or "simplex" in on.describe() or name == "spectrahedron"
        for x in feasible:
            assert on.contains(x, 5e-15)
            assert on.gauge(np.maximum(x, 0.0) if "simplex" in name else x) <= 1.0 + 1e-12 or isinstance(on, Eigen)
            reached = max(reached, *(float(np.linalg.norm(x - y)) for y in feasible))
        assert reached <= on.diameter() * (1 + 1e-12)
        for v in points(on, 12):
            s = on.gauge(v)
            if 0.0 < s < math.inf:
                assert on.contains(v / s, 1e-12) or flat
                assert not on.contains(v / (s * (1 - 1e-3)), 1e-9) or flat
        assert not on.contains(feasible[0] + 1e3, 1e-3) or name in ("nonnegative", "psd") or "nonneg" in on.describe()


# --- spectra --------------------------------------------------------------------------------------------------------


def test_backward_error_covers_known_spectra() -> None:
    """Matrices whose spectra are known exactly: Hadamard, rank one of integers, arrow-free diagonals under Hadamard conjugation."""
    hadamard = np.array([[1.0]])
    for _ in range(5):
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    n = hadamard.shape[0]
    spectrum = 2.0 ** -np.arange(n)
    spectrum[n // 2 :] = 0.0
    conjugated = (hadamard * spectrum) @ hadamard.T / n
    ones = np.zeros(n)
    ones[0] = float(n)
    for a, exact in (
        (hadamard, np.full(n, math.sqrt(n))),
        (np.ones((n, n)), ones),
        (conjugated, spectrum),
        (hadamard[:8], np.full(8, math.sqrt(n))),
    ):
        error = backward_error(a.reshape(-1), a.shape)
        assert np.all(np.abs(singular_values(a.reshape(-1), a.shape) - exact) <= error)
        assert error <= 1e-13 * np.linalg.norm(a)


def test_conjugates_are_rounded_up() -> None:
    """The support function at a matrix of known spectrum is at least the truth, and hardly more."""
    a = np.block([[np.ones((2, 2)), np.ones((2, 2))], [np.ones((2, 2)), -np.ones((2, 2))]])
    for name, exact in (("nuclear_ball", 3.0 * 2.0 * math.sqrt(2.0)), ("spectrahedron", 3.0 * 2.0 * math.sqrt(2.0))):
        g = build_matrix(None, (name, {"r": 3.0}), (4, 4))
        assert g is not None
        assert exact * (1 - 1e-16) <= g.conjugate(a.reshape(-1)) <= exact * (1 + 1e-13)
        ridged, values = Ridged(g, 0.25), np.array([2.0 * math.sqrt(2.0), 2.0 * math.sqrt(2.0), 0.0, 0.0])
        if name == "spectrahedron":
            # the eigenvalues come in pairs of both signs
            values[1] *= -1.0
        truth = Ridged(g.inner, 0.25).conjugate(values)
        assert truth * (1 - 2e-16) <= ridged.conjugate(a.reshape(-1)) <= truth * (1 + 1e-13)
    # at the boundary of the domain membership is not granted by rounding
    norm = build_matrix(("norm_nuc", 2.0 * math.sqrt(2.0)), None, (4, 4))
    assert norm is not None and norm.conjugate(a.reshape(-1)) == math.inf
    assert 1.0 - 1e-13 < norm.dual_scale(a.reshape(-1)) < 1.0


def test_only_the_symmetric_part_counts() -> None:
    rng = np.random.default_rng(16)
    a = rng.normal(size=(4, 4))
    skew = rng.normal(size=(4, 4))
    skew = (skew - skew.T).reshape(-1)
    part = (a + a.T).reshape(-1) / 2
    for norm, on in ((None, ("psd", {})), (None, ("spectrahedron", {"r": 1.0})), (("norm_nuc", 0.5), ("psd", {}))):
        g = build_matrix(norm, on, (4, 4))
        assert g is not None
        v = part + skew
        np.testing.assert_allclose(g.prox(v, 0.4), g.prox(part, 0.4), atol=1e-13)
        projected = g.dual_project(v)
        np.testing.assert_allclose(projected, g.dual_project(part) + skew, atol=1e-13)
        assert math.isfinite(g.conjugate(projected))
        assert g.conjugate(projected) == pytest.approx(g.conjugate(g.dual_project(part)), abs=1e-12)


def test_norms_of_a_symmetric_matrix_have_symmetric_proxes() -> None:
    a = np.random.default_rng(17).normal(size=(5, 5))
    symmetric, general = (a + a.T), (a + a.T).copy()
    general[0, 1] *= 1 + 1e-15
    for norm in ("norm_nuc", "norm_spec"):
        g = build_matrix((norm, 0.8), None, (5, 5))
        assert g is not None
        x = g.prox(symmetric.reshape(-1), 1.0)
        assert np.array_equal(x.reshape(5, 5), x.reshape(5, 5).T)
        np.testing.assert_allclose(x, g.prox(general.reshape(-1), 1.0), atol=1e-13)


# --- construction ---------------------------------------------------------------------------------------------------


def test_arguments_are_checked() -> None:
    for norm, on, error in [
        (("norm7", 1.0), None, KeyError),
        (None, ("ball", {"r": 1.0}), KeyError),
        (("norm_nuc", 0.0), None, ValueError),
        (None, ("nuclear_ball", {"r": -1.0}), ValueError),
        (None, ("psd", {}), ValueError),
        (None, ("rows", {"set": ("rows", {"set": ("simplex", {"r": 1.0})})}), KeyError),
    ]:
        with pytest.raises(error):
            build_matrix(norm, on, (3, 2))
    with pytest.raises(ValueError, match="lines of 2"):
        LinesSet((3, 2), 0, build_matrix(None, ("rows", {"set": ("simplex", {"r": 1.0})}), (2, 3)).inner)
    free = build_matrix(None, None, (3, 2))
    assert free is not None and free.size == 6 and free.describe() == "free"


def test_pairs_without_a_joint_prox_are_none() -> None:
    assert build_matrix(("norm_nuc", 1.0), ("nonnegative", {}), (3, 3)) is None
    assert build_matrix(("norm1", 1.0), ("psd", {}), (3, 3)) is None
    assert build_matrix(("norm21", 1.0), ("columns", {"set": ("simplex", {"r": 1.0})}), (3, 3)) is None
    assert ("norm_nuc", "psd") in PAIRS and ("norm1", "rows") in PAIRS and ("norm_fro", "fro_ball") in PAIRS
    assert ("norm_nuc", "spectral_ball") in PAIRS and ("norm1_inf", "linf_ball") in PAIRS


@each
def test_no_entries(pair: tuple[str | None, str | None]) -> None:
    norm, name = pair
    arguments = ARGUMENTS[name][0] if name else {}
    if "r" in arguments:
        arguments = {"r": 0.0}
    if "set" in arguments:
        arguments = {"set": ("simplex", {"r": 0.0})}
    if name == "simplex_product":
        return
    g = build_matrix((norm, 1.0) if norm else None, (name, arguments) if name else None, (0, 0))
    assert g is not None
    nothing = np.empty(0)
    assert g.prox(nothing, 1.0).shape == (0,) and (not g.compiled or compiled_prox(g, nothing, 1.0).shape == (0,))
    assert g.value(nothing) == g.violation(nothing) == g.conjugate(nothing) == g.radius() == 0.0
    assert g.dual_scale(nothing) == 1.0 and g.dual_project(nothing).shape == (0,)


# --- against cvxpy --------------------------------------------------------------------------------------------------

#: The prox is as far off as the root of the gap.
PRECISE = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def cvxpy_norm(name: str, x: Any) -> Any:
    import cvxpy as cp

    return {
        "norm1": lambda: cp.sum(cp.abs(x)),
        "norm_inf": lambda: cp.max(cp.abs(x)),
        "norm_fro": lambda: cp.norm(x, "fro"),
        "norm_nuc": lambda: cp.normNuc(x),
        "norm_spec": lambda: cp.sigma_max(x),
        "entropy": lambda: -cp.sum(cp.entr(x)),
        "norm21": lambda: cp.sum(cp.norm(x, 2, axis=1)),
        "norm1_inf": lambda: cp.sum(cp.max(cp.abs(x), axis=1)),
    }[name]()


def cvxpy_constraints(name: str, arguments: Any, x: Any) -> list[Any]:
    import cvxpy as cp

    balls = {"nuclear_ball": "norm_nuc", "spectral_ball": "norm_spec", "fro_ball": "norm_fro", "l1_ball": "norm1"}
    balls |= {"linf_ball": "norm_inf", "l21_ball": "norm21", "l1_inf_ball": "norm1_inf"}
    if name in balls:
        return [cvxpy_norm(balls[name], x) <= arguments["r"]]
    if name == "nonnegative":
        return [x >= 0]
    if name == "box":
        return [x >= arguments["lo"], x <= arguments["hi"]]
    if name == "vec":
        return [x >= 0, cp.sum(x) == arguments["set"][1]["r"]]
    if name in ("rows", "columns", "simplex_product"):
        return [x >= 0, cp.sum(x, axis=0 if name == "columns" else 1) == 1.0]
    if name == "birkhoff":
        return [x >= 0, cp.sum(x, axis=0) == 1.0, cp.sum(x, axis=1) == 1.0]
    trace = {
        "psd": [],
        "spectrahedron": [cp.trace(x) == arguments.get("r")],
        "solid_spectrahedron": [cp.trace(x) <= arguments.get("r")],
    }
    return [x >> 0, *trace[name]]


@each
def test_prox_and_conjugate_against_cvxpy(pair: tuple[str | None, str | None]) -> None:
    import cvxpy as cp

    g = next(functions(pair, ridge=False))
    shape, symmetric = shape_and_kind(g)
    v = np.random.default_rng(14).normal(0.0, 2.0, shape)
    v = v + v.T if symmetric else v
    x = cp.Variable(shape, symmetric=symmetric)
    value: Any = 0.0 if pair[0] is None else 0.7 * cvxpy_norm(pair[0], x)
    constraints = cvxpy_constraints(pair[1], ARGUMENTS[pair[1]][0], x) if pair[1] else []
    cp.Problem(cp.Minimize(0.6 * value + cp.sum_squares(x - v) / 2), constraints).solve(solver=cp.CLARABEL, **PRECISE)
    np.testing.assert_allclose(g.prox(v.reshape(-1), 0.6).reshape(shape), x.value, atol=2e-5)
    if math.isfinite(g.radius()):
        best = cp.Problem(cp.Maximize(cp.sum(cp.multiply(v, x)) - value), constraints).solve(
            solver=cp.CLARABEL, **PRECISE
        )
        assert g.conjugate(v.reshape(-1)) == pytest.approx(best, abs=2e-5)


# --- at size ----------------------------------------------------------------------------------------------------------


def test_kernels_at_size_agree_with_references() -> None:
    """Many lines of many entries, on several scales, with ties."""
    rng = np.random.default_rng(22)
    shape = (60, 45)
    for a in (rng.normal(size=shape), rng.standard_cauchy(shape), np.round(3.0 * rng.random(shape))):
        v = a.reshape(-1)
        for norm, on in (
            (("norm1_inf", 0.4), None),
            (("norm21", 0.4), None),
            (None, ("l1_inf_ball", {"r": 20.0})),
            (("norm1_inf", 0.4), ("l1_inf_ball", {"r": 20.0})),
            (None, ("l21_ball", {"r": 20.0})),
            (("norm21", 1.4), ("l21_ball", {"r": 200.0})),
            *((None, (lines, {"set": ("simplex", {"r": 2.0})})) for lines in ("rows", "columns")),
            *((("norm1", 0.3), (lines, {"set": ("l1_ball", {"r": 2.0})})) for lines in ("rows", "columns")),
            *((("entropy", 0.3), (lines, {"set": ("simplex", {"r": 2.0})})) for lines in ("rows", "columns")),
        ):
            g = build_matrix(norm, on, shape)
            assert g is not None
            np.testing.assert_allclose(compiled_prox(g, v, 0.5), g.prox(v, 0.5), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1])
def test_lines_are_the_sum_over_their_vectors(axis: int) -> None:
    """Also those whose references are written for all lines at once."""
    rng = np.random.default_rng(26)
    shape = (5, 4)
    arguments = [
        *ARGUMENTS["rows"],
        {"set": ("ksupport_ball", {"k": 2, "r": 1.0})},
        {"set": ("permutahedron", {"c": np.arange(float(shape[1 - axis]))})},
    ]
    specs: list[tuple[Any, Any]] = [(None, a["set"]) for a in arguments if a["set"][0] != "box"]
    specs += [((norm, 0.7), None) for norm in ("norm1", "norm2", "norm_inf", "entropy")]
    for norm, on in specs:
        inner = build(norm, on, shape[1 - axis])
        assert inner is not None
        g = Lines(shape, axis, inner)
        for _ in range(4):
            a = np.round(rng.normal(0.0, 1.0, shape), 1)
            lines = a if axis == 0 else a.T
            x = a.reshape(-1)
            assert g.value(x) == pytest.approx(sum(inner.value(line) for line in lines), abs=1e-14)
            assert g.violation(x) == pytest.approx(max(inner.violation(line) for line in lines), abs=1e-15)
            assert g.conjugate(x) == pytest.approx(sum(inner.conjugate(line) for line in lines))
            expected = np.array([inner.dual_project(line) for line in lines])
            np.testing.assert_allclose(
                g.dual_project(x).reshape(shape), expected if axis == 0 else expected.T, atol=1e-14
            )
            assert g.dual_scale(x) == pytest.approx(min(inner.dual_scale(line) for line in lines))


def test_a_birkhoff_assignment_is_the_best_of_all() -> None:
    rng = np.random.default_rng(23)
    on = build_matrix(None, ("birkhoff", {}), (6, 6))
    assert on is not None and not on.proximable
    c = rng.normal(size=(6, 6))
    best = min(sum(c[i, p[i]] for i in range(6)) for p in itertools.permutations(range(6)))
    x = on.lmo(c.reshape(-1))
    assert x is not None
    assert float(c.reshape(-1) @ x) == pytest.approx(best, rel=1e-12)
    assert on.conjugate(-c.reshape(-1)) == pytest.approx(-best, rel=1e-12)
    with pytest.raises(TypeError, match=r"rows\(simplex\(1\)\)"):
        on.prox(x, 1.0)
    # the middle of two permutations that differ in three places may move in one direction of the face, or back
    p, q = np.eye(6), np.eye(6)[[1, 2, 0, 3, 4, 5]]
    middle = 0.5 * (p + q)
    face = on.face(middle.reshape(-1))
    assert face is not None
    d = (p - q).reshape(-1)[face.free]
    np.testing.assert_allclose(face.normals @ d, 0.0, atol=1e-15)
    assert face.free.size - np.linalg.matrix_rank(face.normals) == 1
    assert build_matrix(None, ("birkhoff", {}), (1, 1)).diameter() == 0.0
    with pytest.raises(ValueError, match="square"):
        build_matrix(None, ("birkhoff", {}), (2, 3))


def test_importing_loads_neither_numba_nor_scipy() -> None:
    import subprocess
    import sys

    code = "import sys, fwdsl.atoms.matrices, fwdsl.atoms.losses; print({'numba', 'scipy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
