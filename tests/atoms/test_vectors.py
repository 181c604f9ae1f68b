"""Every norm, set and pair of the registry: kernels against references, references against the definitions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.vectors import JOINTS, NORMS, SETS, ConvexSet, Norm, Ridged, build
from fwdsl.atoms.vectors.common import scale_into
from fwdsl.atoms.vectors.groups import is_partition
from fwdsl.atoms.vectors.ksupport_ball import ksupport_norm
from fwdsl.backends.kernels import kernel

PAIRS = (
    [(norm, None) for norm in NORMS] + [(None, name) for name in SETS] + list(JOINTS) + [("group_norm", "group_ball")]
)
each = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: " on ".join(str(p) for p in pair))
each_set = pytest.mark.parametrize("name", list(SETS), ids=str)

GROUPS = {"groups": [[0, 3], [4, 2], [1]], "weights": [1.0, 2.0, 0.5]}
VERTICES = np.round(2.0 * np.random.default_rng(20).normal(size=(9, 5)), 1)

#: Ways to draw the arguments of each set; the first is the plainest.
ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "nonnegative": [{}],
    "box": [
        {"lo": -0.5, "hi": 2.0},
        {"lo": np.array([-np.inf, -1.0, 0.0, -2.0, 0.5]), "hi": np.array([1.0, np.inf, np.inf, -2.0, 0.75])},
        {"lo": -np.inf, "hi": np.inf},
        {"lo": 1.0, "hi": 1.0},
    ],
    **{
        ball: [{"r": 1.5}, {"r": 0.0}, {"r": 20.0}, {"r": 1e-6}]
        for ball in ("l1_ball", "l2_ball", "linf_ball", "simplex", "solid_simplex")
    },
    "ksupport_ball": [{"k": k, "r": r} for k, r in ((2, 1.5), (1, 1.5), (3, 20.0), (5, 1.5), (4, 1e-6), (2, 0.0))],
    "group_ball": [
        {"r": 1.5, **GROUPS},
        {"r": 4.0, "groups": np.array([0, 1, 0, 2, 1])},
        {"r": 0.0, "groups": [[0, 1, 2, 3, 4]]},
    ],
    "halfspace": [
        {"a": np.array([1.0, -2.0, 0.0, 0.5, 3.0]), "b": 1.0},
        {"a": np.array([1.0, -2.0, 0.0, 0.5, 3.0]), "b": -1.0},
        {"a": 1.0, "b": 0.0},
        {"a": 0.0, "b": 1.0},
    ],
    "affine": [
        {"A": np.array([[1.0, 1.0, 1.0, 1.0, 1.0], [1.0, -2.0, 0.0, 0.5, 3.0]]), "b": np.array([2.0, 1.0])},
        {"A": csr_array(np.array([[1.0, 0.0, 2.0, 0.0, 0.0], [2.0, 0.0, 4.0, 0.0, 0.0]])), "b": np.array([1.0, 2.0])},
        {"A": np.eye(5) + 0.1, "b": 1.0},
        {"A": np.zeros((1, 5)), "b": 0.0},
    ],
    "polytope": [{"V": VERTICES}, {"V": VERTICES[:1]}, {"V": csr_array(np.vstack([np.eye(5), np.zeros((1, 5))]))}],
    "permutahedron": [
        {"c": np.array([0.5, -1.0, 3.0, 0.5, 2.0])},
        {"c": np.array([1.0, -2.0, 1.0, 0.0, 0.0])},
        {"c": 2.0},
    ],
}
SIZE = 5


def norm_of(name: str | None, c: float) -> Any:
    """The norm as `build` takes it."""
    return None if name is None else ((name, c, GROUPS) if name == "group_norm" else (name, c))


def functions(pair: tuple[str | None, str | None], ridge: bool = True) -> Iterator[VectorFunction]:
    """The function of this pair with each way to draw arguments, plain and with a ridge."""
    norm, name = pair
    for arguments in ARGUMENTS[name] if name else [{}]:
        for c in (0.7, 4.0) if norm else (0.0,):
            g = build(norm_of(norm, c), (name, arguments) if name else None, SIZE)
            if g is None:
                # the group norm on the ball of other groups
                assert pair == ("group_norm", "group_ball")
                continue
            yield g
            if ridge:
                yield Ridged(g, 0.3)


def points(seed: int, count: int = 12) -> Iterator[Array]:
    """Vectors of all sizes, with ties, zeros and entries that are equal."""
    rng = np.random.default_rng(seed)
    yield np.zeros(SIZE)
    yield np.full(SIZE, 1.5)
    for k in range(count):
        v = rng.normal(0.0, 10.0 ** rng.uniform(-1.5, 1.5), SIZE)
        yield np.round(v) if k % 3 == 0 else v


def rounding(name: str | None) -> float:
    """How far a projection may miss its set: products with a matrix round more."""
    return 2e-14 if name in ("affine", "polytope") else 1e-15


def compiled_prox(g: VectorFunction, v: Array, t: float) -> Array:
    out = np.full(v.size, np.nan)
    share, step = g.prox_change(t)
    kernel(g.prox_kernel)(share * v, step, out, *g.kernel_args())
    return out


@each
def test_compiled_prox_matches_the_reference(pair: tuple[str | None, str | None]) -> None:
    for g in functions(pair):
        for v in points(1):
            for t in (0.2, 3.0):
                expected = g.prox(v, t)
                assert g.violation(expected) <= rounding(pair[1])
                if g.compiled:
                    found = compiled_prox(g, v, t)
                    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13 * (1 + np.abs(v).max()))
                    assert g.violation(found) <= rounding(pair[1])


@each
def test_prox_is_optimal_and_moreau_holds(pair: tuple[str | None, str | None]) -> None:
    """u = (v - x) / t is a subgradient at x = prox(v): g(x) + g*(u) = <u, x>, so that x + t prox of the conjugate = v."""
    for g in functions(pair):
        for v in points(2):
            for t in (0.2, 3.0):
                x = g.prox(v, t)
                u = (v - x) / t
                inside = g.dual_project(u)
                np.testing.assert_allclose(inside, u, atol=1e-12 * (1 + np.abs(u).max()))
                left = g.value(x) + g.conjugate(inside)
                assert left == pytest.approx(
                    float(inside @ x), abs=1e-11 * (1 + np.abs(u).max()) * (1 + np.abs(x).max())
                )


@each
def test_conjugate_bounds_every_feasible_point(pair: tuple[str | None, str | None]) -> None:
    """<v, x> - g(x) <= g*(v) for x in the domain, with equality at the x that the prox finds (the test above)."""
    for g in functions(pair):
        feasible = [g.prox(v, 1.0) for v in points(3)]
        for v in points(4):
            v = g.dual_project(v)
            bound = g.conjugate(v)
            for x in feasible:
                assert float(v @ x) - g.value(x) <= bound + 1e-12 * (1 + abs(bound) + np.abs(v).max() * np.abs(x).max())


@each
def test_domain_of_the_conjugate(pair: tuple[str | None, str | None]) -> None:
    for g in functions(pair):
        for v in points(5, 60):
            s = g.dual_scale(v)
            assert 0.0 <= s <= 1.0
            assert math.isfinite(g.conjugate(s * v)) and math.isfinite(g.conjugate(g.dual_project(v)))
            assert (s == 1.0) == math.isfinite(g.conjugate(v))
            if s < 1.0:
                assert g.conjugate(min(1.0, s * (1 + 1e-9) + 1e-12) * v) == math.inf
            # the projection is nearest: <v - Pv, w - Pv> <= 0 for w in the domain
            projected = g.dual_project(v)
            for w in (np.zeros(SIZE), s * v, g.dual_project(-v), g.dual_project(v[::-1].copy())):
                if math.isfinite(g.conjugate(w)):
                    assert float((v - projected) @ (w - projected)) <= 1e-12 * (1 + float(v @ v))


@each
def test_infimum_and_coercivity(pair: tuple[str | None, str | None]) -> None:
    order = {"linf": 1, "l2": 2, "l1": np.inf}
    for g in functions(pair):
        lowest = g.infimum()
        coercive = g.coercive()
        for v in points(6):
            x = g.prox(v, 1.0)
            assert g.value(x) >= lowest - 1e-12 * (1 + abs(lowest))
            if coercive is not None:
                c, dual = coercive
                assert g.value(x) >= c * np.linalg.norm(x, order[dual]) - 1e-12
            assert np.linalg.norm(x) <= g.radius() * (1 + 1e-12)
        reached = g.value(g.prox(np.zeros(SIZE), 1e6))
        assert reached == pytest.approx(lowest, abs=1e-4)


@each
def test_faces(pair: tuple[str | None, str | None]) -> None:
    """Along a face g is affine but for its curvature, and stays in the set."""
    rng = np.random.default_rng(7)
    for g in functions(pair):
        for v in points(8):
            x = g.prox(v, 0.5)
            face = g.face(x)
            if face is None:
                assert not g.polyhedral or pair[0] == "norm_inf" or pair[1] == "polytope"
                continue
            d = rng.normal(size=face.free.size)
            if face.normals.size:
                d -= np.linalg.pinv(face.normals) @ (face.normals @ d)
            gaps = [np.abs(x[face.free])[x[face.free] != 0.0], [1e-2]]
            on = g_set(g)
            if pair[1] == "box":
                gaps += [(x - on.lo)[face.free], (on.hi - x)[face.free]]
            elif pair[1] == "linf_ball":
                gaps += [on.r - np.abs(x)[face.free]]
            elif pair[1] in ("l2_ball", "l1_ball", "solid_simplex") and not face.normals.size:
                gaps += [[on.r - float(np.linalg.norm(x, 2 if pair[1] == "l2_ball" else 1))]]
            elif pair[1] in ("ksupport_ball", "group_ball"):
                gaps += [[on.r - on.r * on.gauge(x)]]
            elif pair[1] == "halfspace" and not face.normals.size:
                gaps += [[(on.b - float(on.a @ x)) / (1.0 + np.abs(on.a).max())]]
            elif pair[1] == "permutahedron":
                room = np.cumsum(on.c) - np.cumsum(np.sort(x)[::-1])
                gaps += [room[room > 1e-9]]
            h = 0.1 * float(np.concatenate([np.asarray(a, dtype=float) for a in gaps]).min()) / (1.0 + np.abs(d).sum())
            # a step that can be told from rounding: a face that forgot a bound of the set would leave none
            assert h > 1e-10 or not face.free.size
            y = x.copy()
            y[face.free] += h * d
            expected = g.value(x) + h * float(face.slope @ d) + 0.5 * g.curvature * h * h * float(d @ d)
            assert g.violation(y) <= 1e-14
            assert g.value(y) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def g_set(g: VectorFunction) -> Any:
    """The set within."""
    g = g.inner if isinstance(g, Ridged) else g
    return getattr(g, "on", g)


@each
def test_facts(pair: tuple[str | None, str | None]) -> None:
    for g in functions(pair, ridge=False):
        assert g.pair == pair and g.curvature == 0.0
        for word in pair:
            assert word is None or word in g.describe()
        ridged = Ridged(g, 0.3)
        assert ridged.curvature == 0.6 and not ridged.polyhedral
        assert "0.3 * sum_squares" in ridged.describe()


def test_descriptions_in_the_words_of_the_language() -> None:
    assert build(("norm1", 0.1), None, 3).describe() == "0.1 * norm1"
    assert build(None, ("l1_ball", {"r": 5}), 3).describe() == "l1_ball(5)"
    assert build(("norm1", 0.1), ("nonnegative", {}), 3).describe() == "0.1 * norm1 on nonnegative"
    assert build(None, ("box", {"lo": 0.0, "hi": np.arange(3.0)}), 3).describe() == "box(0, hi)"
    assert Ridged(build(("norm1", 0.1), None, 3), 2.0).describe() == "0.1 * norm1 + 2 * sum_squares"
    assert Ridged(build(None, None, 3), 2.0).describe() == "2 * sum_squares"


# --- sets -----------------------------------------------------------------------------------------------------------


def sets(name: str | None) -> Iterator[ConvexSet]:
    for g in functions((None, name), ridge=False):
        assert isinstance(g, ConvexSet)
        yield g


def inequalities(on: Any) -> dict[str, Any]:
    """The polytope for scipy's LP, in x = p - q with p, q >= 0 (so that norms are sums)."""
    d, name = on.size, on.pair[1]
    if name in ("l1_ball", "solid_simplex", "simplex"):
        rows = np.ones((1, 2 * d))
        return {"A_ub": rows, "b_ub": [on.r]} if name != "simplex" else {"A_eq": rows, "b_eq": [on.r]}
    if name == "affine":
        return {"A_eq": np.hstack([on.A, -on.A]), "b_eq": on.b}
    if name == "permutahedron":
        # every subset of k entries sums to at most the k largest of c
        subsets = np.array(list(itertools.product([0.0, 1.0], repeat=d)))
        most = np.concatenate([[0.0], np.cumsum(on.c)])[subsets.sum(axis=1).astype(int)]
        both = np.hstack([subsets, -subsets])
        return {"A_ub": both[:-1], "b_ub": most[:-1], "A_eq": both[-1:], "b_eq": most[-1:]}
    lo, hi = (np.full(d, -on.r), np.full(d, on.r)) if name == "linf_ball" else (on.lo, on.hi)
    both = np.hstack([np.eye(d), -np.eye(d)])
    return {"A_ub": np.vstack([both, -both]), "b_ub": np.concatenate([hi, -lo])}


@each_set
def test_lmo_against_a_linear_program(name: str | None) -> None:
    for on in sets(name):
        bounded = math.isfinite(on.radius())
        for c in points(9):
            x = on.lmo(c)
            assert (x is None) == (not bounded)
            if x is None:
                continue
            assert on.violation(x) <= rounding(name)
            assert float(c @ x) == pytest.approx(-on.conjugate(-c), abs=1e-12 * (1 + np.abs(c).sum() * np.abs(x).max()))
            if name == "polytope":
                assert float(c @ x) == min(float(c @ vertex) for vertex in on.V)
            elif on.polyhedral:
                top = None if name not in ("simplex", "solid_simplex") else 0.0
                bounds = [(0.0, None)] * SIZE + [(0.0, top)] * SIZE
                found = linprog(np.concatenate([c, -c]), **inequalities(on), bounds=bounds)
                assert float(c @ x) == pytest.approx(found.fun, abs=1e-7 * (1 + np.abs(c).sum()))
                named = on.vertex_id(c)
                assert named is not None
                hash(named)
                for other in points(10):
                    if on.vertex_id(other) == named:
                        np.testing.assert_array_equal(on.lmo(other), x)


@each_set
def test_gauge_membership_and_diameter(name: str | None) -> None:
    for on in sets(name):
        reached = 0.0
        feasible = [on.prox(v, 1.0) for v in points(11)]
        for x in feasible:
            assert on.contains(x, rounding(name))
            assert on.gauge(x) <= 1.0 + (1e-9 if name == "polytope" else 1e-12)
            for y in feasible:
                reached = max(reached, float(np.linalg.norm(x - y)))
        assert reached <= on.diameter() * (1 + 1e-12) + 1e-14
        for v in points(12):
            s = on.gauge(v)
            if 0.0 < s < math.inf:
                assert on.contains(v / s, 1e-8 if name == "polytope" else 1e-12)
                assert not on.contains(v / (s * (1 - 1e-3)), 1e-9) or name == "simplex"
            elif s == math.inf:
                assert not any(on.contains(v / k, 1e-12) for k in (0.1, 1.0, 10.0))
        unbounded = (None, "nonnegative", "box", "halfspace", "affine")
        assert not on.contains(feasible[0] + 1e3, 1e-3) or name in unbounded


def test_diameter_is_attained_by_vertices() -> None:
    eye = np.eye(SIZE)
    for name in ("l1_ball", "linf_ball", "l2_ball", "simplex", "solid_simplex"):
        on = next(sets(name))
        vertices = [x for c in (*eye, *-eye, np.ones(SIZE), -np.ones(SIZE)) if (x := on.lmo(c)) is not None]
        longest = max(float(np.linalg.norm(x - y)) for x in vertices for y in vertices)
        assert longest == pytest.approx(on.diameter())
        assert max(float(np.linalg.norm(x)) for x in vertices) == pytest.approx(on.radius())


def test_violation_is_relative_to_the_size_of_the_terms() -> None:
    assert build(None, ("l1_ball", {"r": 3.0}), 2).violation(np.array([2.0, -2.0])) == pytest.approx(1.0 / 5.0)
    assert build(None, ("nonnegative", {}), 2).violation(np.array([5.0, -1.0])) == pytest.approx(0.5)
    assert build(None, ("box", {"lo": 0.0, "hi": np.inf}), 2).violation(np.array([-3.0, 9.0])) == pytest.approx(0.75)
    assert build(None, ("simplex", {"r": 1.0}), 2).violation(np.array([0.25, 0.25])) == pytest.approx(0.25)


# --- construction and the registry ----------------------------------------------------------------------------------


def test_scaling_into_a_domain_gives_way_to_rounding_only() -> None:
    v = np.array([1.0])
    assert scale_into(lambda u: bool(u[0] <= 0.5), v, 0.5) == 0.5
    for ulps in (1, 7, 100):
        reached = scale_into(lambda u, most=0.5 * (1 - ulps * 2.0**-52): bool(u[0] <= most), v, 0.5)
        assert 0.5 * (1 - 2.0 * (ulps + 1) * 2.0**-52) <= reached <= 0.5 * (1 - ulps * 2.0**-52)
    assert scale_into(lambda u: False, v, 0.5) == 0.0


def test_build_knows_which_pairs_are_joint() -> None:
    for norm in NORMS:
        for name in ARGUMENTS:
            g = build(norm_of(norm, 1.0), (name, ARGUMENTS[name][0]), SIZE)
            assert (g is not None) == ((norm, name) in PAIRS)
    with pytest.raises(KeyError):
        build(("norm7", 1.0), None, 3)


@pytest.mark.parametrize(
    ("norm", "on"),
    [
        (("norm1", 0.0), None),
        (("norm2", -1.0), None),
        (("norm1", math.inf), None),
        (None, ("l1_ball", {"r": -1.0})),
        (None, ("l2_ball", {"r": math.nan})),
        (None, ("simplex", {"r": math.inf})),
        (None, ("box", {"lo": 1.0, "hi": 0.0})),
        (None, ("box", {"lo": math.nan, "hi": 0.0})),
        (None, ("box", {"lo": math.inf, "hi": math.inf})),
    ],
)
def test_arguments_are_checked(norm: Any, on: Any) -> None:
    with pytest.raises(ValueError):
        build(norm, on, 3)
    with pytest.raises(ValueError):
        Ridged(build(None, None, 3), 0.0)


@each
def test_no_entries(pair: tuple[str | None, str | None]) -> None:
    norm, name = pair
    empty: dict[str | None, dict[str, Any]] = {
        None: {},
        "nonnegative": {},
        "box": {"lo": 0.0, "hi": 1.0},
        "ksupport_ball": {"k": 2, "r": 0.0},
        "group_ball": {"r": 0.0, "groups": []},
        "halfspace": {"a": 1.0, "b": 0.0},
        "affine": {"A": np.zeros((0, 0)), "b": 0.0},
        "polytope": {"V": np.zeros((1, 0))},
        "permutahedron": {"c": 0.0},
    }
    given = (norm, 1.0, {"groups": []}) if norm == "group_norm" else (norm, 1.0)
    g = build(given if norm else None, (name, empty.get(name, {"r": 0.0})) if name else None, 0)  # type: ignore[arg-type]
    assert g is not None
    nothing = np.empty(0)
    assert g.prox(nothing, 1.0).shape == (0,)
    assert not g.compiled or compiled_prox(g, nothing, 1.0).shape == (0,)
    assert g.value(nothing) == g.violation(nothing) == g.conjugate(nothing) == g.radius() == 0.0
    assert g.dual_scale(nothing) == 1.0


def test_projections_of_large_vectors_agree_with_sorting() -> None:
    """Sizes where the filtering passes of the kernel matter, spread over many scales, with ties."""
    rng = np.random.default_rng(13)
    for v in (
        rng.normal(size=3000),
        rng.standard_cauchy(3000),
        np.round(3.0 * rng.random(3000)),
        2.0 ** -np.arange(900.0),
    ):
        for name in ("l1_ball", "simplex", "solid_simplex"):
            for r in (1e-3, 1.0, 300.0):
                g = build(None, (name, {"r": r}), v.size)
                assert g is not None
                np.testing.assert_allclose(
                    compiled_prox(g, v, 1.0), g.prox(v, 1.0), rtol=1e-10, atol=1e-13 * (r + 1e-3)
                )
        norm = NORMS["norm_inf"](v.size, 2.0)
        assert isinstance(norm, Norm)
        np.testing.assert_allclose(compiled_prox(norm, v, 0.5), norm.prox(v, 0.5), rtol=1e-10, atol=1e-12)


def test_projection_far_from_the_set_keeps_its_digits() -> None:
    v = 1e9 + np.array([0.0, 0.25, 0.5])
    for name in ("l1_ball", "simplex", "solid_simplex"):
        g = build(None, (name, {"r": 1.0}), 3)
        assert g is not None
        for x in (g.prox(v, 1.0), compiled_prox(g, v, 1.0)):
            np.testing.assert_allclose(x, [1 / 12, 1 / 3, 7 / 12], rtol=1e-14)


def test_kernels_of_structured_sets_at_size() -> None:
    """Against the references, on several scales, with ties and few nonzeros."""
    rng = np.random.default_rng(24)
    n = 150
    codes = rng.integers(0, 30, n)
    sparse = rng.normal(size=n) * (rng.random(n) < 0.05)
    for v in (rng.normal(size=n), rng.standard_cauchy(n), np.round(3.0 * rng.random(n)), sparse, 1e3 + rng.random(n)):
        cases: list[tuple[Any, Any]] = [
            (None, ("ksupport_ball", {"k": k, "r": r})) for k in (1, 30, 149) for r in (0.1, 3.0)
        ]
        cases += [(None, ("permutahedron", {"c": c})) for c in (rng.normal(size=n), np.round(rng.normal(size=n)))]
        cases += [(("group_norm", 0.7, {"groups": codes}), None), (None, ("group_ball", {"r": 5.0, "groups": codes}))]
        cases += [(("entropy", 0.1), None), (("entropy", 2.0), ("simplex", {"r": 3.0}))]
        for norm, on in cases:
            g = build(norm, on, n)
            assert g is not None
            expected, found = g.prox(v, 0.8), compiled_prox(g, v, 0.8)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * (1 + np.abs(v).max()))
            assert g.violation(found) <= 1e-12


def test_ksupport_norm_by_its_definition() -> None:
    """The least of sum x^2 / u over 0 <= u <= 1, sum u <= k, which is attained at u = min(alpha |x|, 1)."""
    rng = np.random.default_rng(25)
    for _ in range(40):
        x = np.round(rng.normal(0.0, 2.0, 6), 1)
        a = np.abs(x[x != 0.0])
        assert ksupport_norm(x, 1) == pytest.approx(float(a.sum()))
        assert ksupport_norm(x, 6) == pytest.approx(float(np.linalg.norm(x)))
        for k in (2, 3, 5):
            lo, hi = 0.0, 1.0 / a.min()
            for _ in range(100):
                alpha = 0.5 * (lo + hi)
                lo, hi = (lo, alpha) if np.minimum(alpha * a, 1.0).sum() > k else (alpha, hi)
            u = np.minimum(lo * a, 1.0)
            assert ksupport_norm(x, k) == pytest.approx(math.sqrt(float((a * a / u).sum())), rel=1e-9)


def test_groups_in_either_form() -> None:
    v = np.array([3.0, 0.0, 4.0, -1.0, 0.0])
    for groups in (np.array([0, 2, 0, 1, 1]), [[0, 2], [3, 4], [1]], [[0, 2], [], [1], [4, 3]]):
        g = build(("group_norm", 2.0, {"groups": groups}), None, 5)
        assert g is not None and g.value(v) == pytest.approx(12.0)
        assert g.describe() == "2 * group_norm(groups)"
        np.testing.assert_allclose(g.prox(v, 1.0), [1.8, 0.0, 2.4, 0.0, 0.0])
    weighted = build(None, ("group_ball", {"r": 1, "groups": [[0, 2], [3, 4, 1]], "weights": [2.0, 1.0]}), 5)
    assert weighted is not None and weighted.describe() == "group_ball(1, groups, weights=weights)"
    assert weighted.conjugate(v) == pytest.approx(2.5)
    assert is_partition([[0, 1], [2]], 3) and not is_partition([[0, 1], [1, 2]], 3) and not is_partition([[0], [2]], 3)


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("group_ball", {"r": 1.0, "groups": [[0, 1], [1, 2]]}, "exactly once"),
        ("group_ball", {"r": 1.0, "groups": [[0], [2]]}, "exactly once"),
        ("group_ball", {"r": 1.0, "groups": [[0, 1], [2]], "weights": [1.0, 0.0]}, "positive"),
        ("group_ball", {"r": 1.0, "groups": [[0, 1], [2]], "weights": [1.0]}, "as many weights"),
        ("ksupport_ball", {"k": 0, "r": 1.0}, "whole number"),
        ("ksupport_ball", {"k": 1.5, "r": 1.0}, "whole number"),
        ("halfspace", {"a": np.zeros(3), "b": -1.0}, "empty"),
        ("halfspace", {"a": np.ones(3), "b": math.inf}, "finite"),
        ("affine", {"A": np.ones((2, 3)), "b": np.array([1.0, 2.0])}, "contradict"),
        ("affine", {"A": np.zeros((1, 3)), "b": 1.0}, "contradict"),
        ("affine", {"A": np.ones((1, 3)), "b": math.nan}, "finite"),
        ("polytope", {"V": np.zeros((0, 3))}, "at least one vertex"),
        ("permutahedron", {"c": np.array([1.0, math.inf, 0.0])}, "finite"),
    ],
)
def test_structured_sets_check_their_arguments(name: str, arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        build(None, (name, arguments), 3)


# --- against cvxpy --------------------------------------------------------------------------------------------------

#: The prox is as far off as the root of the gap.
PRECISE = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def cvxpy_norm(name: str, x: Any) -> Any:
    import cvxpy as cp

    if name == "entropy":
        return -cp.sum(cp.entr(x))
    if name == "group_norm":
        return sum(w * cp.norm(x[g], 2) for g, w in zip(GROUPS["groups"], GROUPS["weights"], strict=True))
    return cp.norm(x, {"norm1": 1, "norm2": 2, "norm_inf": "inf"}[name])


def cvxpy_constraints(on: Any, x: Any) -> list[Any]:
    """x in the set."""
    import cvxpy as cp

    name = on.pair[1]
    if name == "box":
        return [x >= on.lo, x <= on.hi]
    if name == "halfspace":
        return [on.a @ x <= on.b]
    if name == "affine":
        return [on.A @ x == on.b]
    if name == "polytope":
        w = cp.Variable(on.V.shape[0], nonneg=True)
        return [x == on.V.T @ w, cp.sum(w) == 1]
    if name == "permutahedron":
        mix = cp.Variable((on.size, on.size), nonneg=True)
        return [x == mix @ on.c, cp.sum(mix, axis=0) == 1, cp.sum(mix, axis=1) == 1]
    if name == "group_ball":
        return [cvxpy_norm("group_norm", x) <= on.r]
    if name == "ksupport_ball":
        # the hull: a sum over the sets of k entries of vectors that live there
        supports = list(itertools.combinations(range(on.size), on.k))
        parts = cp.Variable((len(supports), on.k))
        lengths = cp.norm(parts, 2, axis=1)
        spread = [sum(parts[i, s.index(j)] for i, s in enumerate(supports) if j in s) == x[j] for j in range(on.size)]
        return [*spread, cp.sum(lengths) <= on.r]
    signed = [] if name is None or name.endswith("ball") else [x >= 0]
    if name in (None, "nonnegative"):
        return signed
    if name.endswith("simplex"):
        return [*signed, cp.sum(x) == on.r if name == "simplex" else cp.sum(x) <= on.r]
    return [cp.norm(x, {"l1_ball": 1, "l2_ball": 2, "linf_ball": "inf"}[name]) <= on.r]


@each
def test_prox_and_conjugate_against_cvxpy(pair: tuple[str | None, str | None]) -> None:
    import cvxpy as cp

    rng = np.random.default_rng(14)
    plain = next(functions(pair))
    for g, ridge in ((plain, 0.0), (Ridged(plain, 0.3), 0.3)):
        v, t = rng.normal(0.0, 2.0, SIZE), 0.6
        x = cp.Variable(SIZE)
        value = ridge * cp.sum_squares(x)
        if pair[0] is not None:
            value += 0.7 * cvxpy_norm(pair[0], x)
        constraints = cvxpy_constraints(g_set(plain), x) if pair[1] else []
        cp.Problem(cp.Minimize(t * value + cp.sum_squares(x - v) / 2), constraints).solve(solver=cp.CLARABEL, **PRECISE)
        np.testing.assert_allclose(g.prox(v, t), x.value, atol=2e-5)
        u = g.dual_project(v)
        best = cp.Problem(cp.Maximize(u @ x - value), constraints).solve(solver=cp.CLARABEL, **PRECISE)
        assert g.conjugate(u) == pytest.approx(best, abs=1e-5)
