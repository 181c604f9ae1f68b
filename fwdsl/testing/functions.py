"""The checks of every norm, set and pair: kernels against references, references against the definitions, facts against samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..atoms.base import Array, Face, VectorFunction
from ..backends.kernels import kernel
from .compare import Where, close, require, shown


@dataclass(frozen=True)
class Tolerances:
    """The tolerances of the checks, relative to the sizes of the terms.

    `inside`: how far a projection may miss its set, `inside_compiled` by the kernel; `near`: (v - x) / t from the conjugate's domain; `equal`:
    the equality of Fenchel; `nearest`: the projection on the conjugate's domain.
    """

    inside: float = 1e-15
    inside_compiled: float = 1e-15
    near: float = 1e-12
    equal: float = 1e-11
    nearest: float = 1e-12
    slack: float = 1.0


@dataclass(frozen=True, eq=False)
class FunctionCase:
    """A function, the shape of its argument (one number for a vector), and whether only symmetric matrices are meant."""

    g: VectorFunction
    shape: tuple[int, ...]
    symmetric: bool = False
    tolerances: Tolerances = Tolerances()

    def points(self, seed: int, many: bool = False) -> Iterator[Array]:
        """Vectors and flat matrices of all sizes, with ties, zeros and entries that are equal; some matrices are of low rank."""
        rng = np.random.default_rng(seed)
        matrix = len(self.shape) > 1
        made = [np.zeros(self.shape), np.full(self.shape, 1.5)]
        if matrix:
            made.append(np.eye(self.shape[0], self.shape[1]))
        for k in range((20 if many else 8) if matrix else (60 if many else 12)):
            a = rng.normal(0.0, 10.0 ** rng.uniform(-1.5, 1.5), self.shape)
            if matrix and k % 4 == 1:
                a = np.outer(a[:, 0], a[0])
            made.append(np.round(a) if k % 3 == 0 else a)
        for a in made:
            yield (a + a.T if self.symmetric else a).reshape(-1)

    def feasible(self, seed: int) -> list[Array]:
        """Points of the domain: proxes, or where there are none the middles of two vertices."""
        if self.g.proximable:
            return [self.g.prox(v, 1.0) for v in self.points(seed)]
        pairs = [(self.g.lmo(v), self.g.lmo(-v[::-1])) for v in self.points(seed)]
        return [0.5 * (a + b) for a, b in pairs if a is not None and b is not None]

    def at(self, **points: Array) -> Where:
        """Tells of the points at which a property fails."""
        return lambda _: ", ".join([self.g.describe(), *(f"{name} = {shown(v)}" for name, v in points.items())])


def compiled_prox(g: VectorFunction, v: Array, t: float) -> Array:
    """The prox by the kernel."""
    out = np.full(v.size, np.nan)
    share, step = g.prox_change(t)
    kernel(g.prox_kernel)(share * v, step, out, *g.kernel_args())
    return out


def primal_norm(dual: str, x: Array, shape: tuple[int, ...]) -> float:
    """The norm whose dual norm has this name."""
    order = {"linf": 1, "l2": 2, "l1": np.inf}
    a = x.reshape(shape)
    if dual in order:
        return float(np.linalg.norm(x, order[dual]))
    if dual == "l2inf":
        return float(np.linalg.norm(a, axis=1).sum())
    if dual == "l1inf":
        return float(np.abs(a).max(axis=1).sum())
    return float(np.linalg.norm(a, "nuc" if dual == "spectral" else 2))


# --- of every function -----------------------------------------------------------------------------------------------


def prox_is_in_the_domain(case: FunctionCase) -> None:
    """The prox meets the set, and the kernel gives what the reference gives."""
    g, allowed = case.g, case.tolerances
    for v in case.points(1):
        for t in (0.2, 3.0):
            expected = g.prox(v, t)
            missed = g.violation(expected)
            require(missed <= allowed.inside, f"`prox` is in the set but for {missed:.1e}", case.at(v=v))
            if g.compiled:
                found = compiled_prox(g, v, t)
                size = 1e-13 * allowed.slack * (1 + np.abs(v).max(initial=0.0))
                what = f"the kernel is the reference `prox` for t = {t:g}"
                close(found, expected, what, case.at(v=v), 1e-12 * allowed.slack, size)
                missed = g.violation(found)
                what = f"the kernel's prox is in the set but for {missed:.1e}"
                require(missed <= allowed.inside_compiled, what, case.at(v=v))


def prox_is_optimal_and_moreau_holds(case: FunctionCase) -> None:
    """u = (v - x) / t is a subgradient at x = prox(v): g(x) + g*(u) = <u, x>, so that x + t prox of the conjugate = v."""
    g, allowed = case.g, case.tolerances
    for v in case.points(2):
        for t in (0.2, 3.0):
            x = g.prox(v, t)
            u = (v - x) / t
            inside = g.dual_project(u)
            largest = 1 + float(np.abs(u).max(initial=0.0))
            what = f"(v - prox) / t is in the conjugate's domain for t = {t:g}"
            close(inside, u, what, case.at(v=v), atol=allowed.near * largest)
            left = g.value(x) + g.conjugate(inside)
            what = f"g(x) + g*(u) = <u, x> at x = prox(v) and u = (v - x) / t for t = {t:g}"
            atol = allowed.equal * largest * (1 + float(np.abs(x).max(initial=0.0)))
            close(left, float(inside @ x), what, case.at(v=v), atol=atol)


def conjugate_bounds_every_point(case: FunctionCase) -> None:
    """<v, x> - g(x) <= g*(v) for x in the domain; that the prox finds an x with equality, Moreau's identity tells."""
    g = case.g
    feasible = case.feasible(3)
    for v in case.points(4):
        v = g.dual_project(v)
        bound = g.conjugate(v)
        for x in feasible:
            allowed = 1e-12 * case.tolerances.slack * (1 + abs(bound) + np.abs(v).max(initial=0.0) * np.abs(x).max())
            below = float(v @ x) - g.value(x) <= bound + allowed
            require(below, "<v, x> - g(x) <= g*(v) for x in the domain", case.at(v=v, x=x))


def domain_of_the_conjugate(case: FunctionCase) -> None:
    """`dual_scale` is the largest scale, or 0 where no share of v is inside; `dual_project` the nearest point; `conjugate` judges as they do."""
    g, allowed = case.g, case.tolerances
    zero = np.zeros(g.size)
    holds_zero = math.isfinite(g.conjugate(zero))
    for v in case.points(5, many=True):
        told = case.at(v=v)
        s = g.dual_scale(v)
        require(0.0 <= s <= 1.0, f"`dual_scale` is between 0 and 1, not {s:g}", told)
        projected = g.dual_project(v)
        finite = math.isfinite(g.conjugate(v))
        require((s == 1.0) == finite, "`dual_scale(v)` is 1 exactly where g*(v) is finite", told)
        if finite and np.array_equal(projected, v):
            # all that follows would ask for the same again
            continue
        if s < 1.0 and (holds_zero or s > 0.0):
            require(math.isfinite(g.conjugate(s * v)), "g* is finite at `dual_scale(v) * v`", told)
        require(math.isfinite(g.conjugate(projected)), "g* is finite at `dual_project(v)`", told)
        if s < 1.0:
            beyond = g.conjugate(min(1.0, s * (1 + 1e-9) + 1e-12) * v)
            require(beyond == math.inf, f"g* is infinite beyond `dual_scale(v)` = {s:g}", told)
        # the projection is nearest: <v - Pv, w - Pv> <= 0 for w in the domain
        scaled = (zero, s * v) if holds_zero else ()
        for w in (*scaled, g.dual_project(-v), g.dual_project(v[::-1].copy())):
            nearest = float((v - projected) @ (w - projected)) <= allowed.nearest * (1 + float(v @ v))
            require(nearest, "`dual_project(v)` is the nearest point of the conjugate's domain", told)


def infimum_coercivity_and_radius(case: FunctionCase) -> None:
    """`infimum` is -g*(0) and below all values; `coercive` and `radius` bound what they say."""
    g = case.g
    slack = 1e-12 * case.tolerances.slack
    lowest = g.infimum()
    coercive = g.coercive()
    close(lowest, -g.conjugate(np.zeros(g.size)), "`infimum` is -g*(0)", atol=slack)
    for x in case.feasible(6):
        told = case.at(x=x)
        require(g.value(x) >= lowest - slack * (1 + abs(lowest)), "no value is below `infimum`", told)
        if coercive is not None:
            c, dual = coercive
            above = g.value(x) >= c * primal_norm(dual, x, case.shape) - slack
            require(above, f"g(x) >= {c:g} times the norm whose dual is {dual}", told)
        far = float(np.linalg.norm(x))
        require(far <= g.radius() * (1 + slack), f"|x| = {far:.17g} is at most `radius` = {g.radius():.17g}", told)
    if g.proximable and math.isfinite(lowest):
        value = g.value(g.prox(np.zeros(g.size), 1e18))
        close(value, lowest, "the value at the prox of a long step is `infimum`", atol=1e-4)
    elif g.proximable:
        near, far = (g.value(g.prox(np.zeros(g.size), t)) for t in (1e3, 1e18))
        require(far < near, "the value at the prox of a long step falls to the infimum, which is -inf")


def is_the_sum_of_its_entries(case: FunctionCase) -> None:
    """Check that the sum of `entries` has the same prox, and the same domain of the conjugate."""
    g, found = case.g, case.g.entries()
    if found is None:
        return
    for v in case.points(17):
        for t in (0.1, 1.0, 10.0):
            what = f"`entries`: the sum over entries has the same prox for t = {t:g}"
            size = float(np.abs(v).max(initial=0.0))
            close(found.prox(v, t), g.prox(v, t), what, case.at(v=v), 1e-12, 1e-12 * size)
        slopes = found.slopes(g.size)
        if slopes is not None and not math.isfinite(g.radius()):
            y = np.clip(v, *slopes)
            close(g.dual_project(v), y, "`entries`: the conjugate has the same domain", case.at(v=v), 1e-12, 1e-12)


def arguments_are_kept(case: FunctionCase) -> None:
    """No method writes into its arguments, and what the prox returns is an array of its own."""
    g = case.g
    calls = {
        "prox": lambda v: g.prox(v, 0.7) if g.proximable else None,
        "conjugate": g.conjugate,
        "violation": lambda v: g.violation(v, np.abs(v)),
        "value": g.value,
        "dual_scale": g.dual_scale,
        "dual_project": g.dual_project,
        "lmo": g.lmo,
        "vertex_id": g.vertex_id,
        "face": g.face,
    }
    for v in case.points(19):
        for name, call in calls.items():
            # the value and the face are asked for at points of the domain only
            given = g.prox(v, 0.7) if name in ("value", "face") and g.proximable else v.copy()
            before = given.copy()
            found = call(given)
            require(np.array_equal(given, before), f"`{name}` leaves its argument as it is", case.at(v=before))
            if name in ("prox", "dual_project") and isinstance(found, np.ndarray) and g.size:
                require(not np.shares_memory(found, given), f"`{name}` returns an array of its own", case.at(v=before))


def face_is_flat(case: FunctionCase) -> None:
    """Along a face of g the domain goes on both ways for a while, and g is affine but for its curvature."""
    g, rng = case.g, np.random.default_rng(20)
    for v in case.points(8) if g.proximable else ():
        x = g.prox(v, 0.5)
        face = g.face(x)
        if face is None or not face.free.size:
            continue
        d = rng.normal(size=face.free.size)
        if face.normals.size:
            d -= np.linalg.pinv(face.normals) @ (face.normals @ d)
        size = max(float(np.abs(x).max()), 1e-3 * float(np.abs(v).max())) or 1.0
        if float(np.abs(d).max()) <= 1e-9:
            # of a face that is a point rounding is left
            continue
        d = d / float(np.abs(d).max())
        flat = any(_is_flat(case, x, face, size * 10.0**-k * d) for k in range(1, 10))
        require(flat, "`face`: along it the set goes on both ways, and g is affine there", case.at(x=x))


def _is_flat(case: FunctionCase, x: Array, face: Face, step: Array) -> bool:
    """True if g is affine but for its curvature from x - step to x + step, and both are in the domain."""
    g = case.g
    for d in (step, -step):
        y = x.copy()
        y[face.free] += d
        expected = g.value(x) + float(face.slope @ d) + 0.5 * g.curvature * float(d @ d)
        allowed = case.tolerances.slack * (1e-12 * abs(expected) + 1e-14)
        if not (abs(g.value(y) - expected) <= allowed and g.violation(y) <= max(1e-14, case.tolerances.inside)):
            return False
    return True


def face_holds_what_is_near(case: FunctionCase) -> None:
    """Proxes of points nearby lie on the same face, nearly everywhere: it lacks no direction in which g is flat."""
    g, rng = case.g, np.random.default_rng(21)
    left, told = [], 0
    for scale in np.repeat([0.1, 1.0, 10.0], 8) if g.proximable else ():
        v, near = scale * rng.normal(size=(2, g.size))
        if case.symmetric:
            v, near = (a.reshape(case.shape) + a.reshape(case.shape).T for a in (v, near))
            v, near = v.reshape(-1), near.reshape(-1)
        x = g.prox(v, 0.5)
        face = g.face(x)
        if face is None or not g.size:
            continue
        told += 1
        moved = g.prox(v + 1e-6 * near, 0.5) - x
        off = np.delete(moved, face.free)
        along = face.normals @ moved[face.free] if face.normals.size else np.zeros(0)
        most = 1e-4 * 1e-6 * float(np.abs(near).max())
        if float(np.abs(off).max(initial=0.0)) > most or float(np.abs(along).max(initial=0.0)) > most * max(
            1.0, float(np.abs(face.normals).max(initial=0.0))
        ):
            left.append(x)
    require(
        2 * len(left) <= told,
        "`face`: proxes of points nearby lie on the same face",
        lambda j: case.at(x=left[j])(0),
    )


FUNCTION_CHECKS: tuple[Callable[[FunctionCase], None], ...] = (
    arguments_are_kept,
    prox_is_in_the_domain,
    prox_is_optimal_and_moreau_holds,
    conjugate_bounds_every_point,
    domain_of_the_conjugate,
    infimum_coercivity_and_radius,
    is_the_sum_of_its_entries,
    face_is_flat,
    face_holds_what_is_near,
)
"""The checks of functions with a prox."""
