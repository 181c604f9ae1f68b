"""The checks of every loss: kernels against references, references against the definitions, facts against samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..atoms.loss import Loss, LossFunction
from ..backends.kernels import kernel
from ..words import NUMBERS
from .compare import Where, close, fail, require
from .forms import least, translated_loss

SAMPLES = 400


@dataclass(frozen=True, eq=False)
class LossCase:
    """A weighted sum of a loss, some weights zero, and predictions z, some exactly at the target or a kink.

    `slack` multiplies all tolerances.
    """

    f: LossFunction
    z: Array
    slack: float = 1.0

    def first(self, count: int) -> LossCase:
        """The case of the first samples only, for checks that look at each closely."""
        f = LossFunction(self.f.loss, self.f.b[:count], self.f.w[:count], self.f.p)
        return LossCase(f, self.z[:count], self.slack)

    def at(self, name: str, values: Array) -> Where:
        """Tells one of `values`, beside the target and the parameters."""
        f = self.f
        options = "".join(f", {o.name} = {v:.17g}" for o, v in zip(f.loss.word.options, f.p.tolist(), strict=True))
        return lambda j: f"{name} = {values[j]:.17g}, b = {f.b[j]:.17g}{options}"


def loss_case(
    loss: type[Loss], parameters: tuple[float, ...] | None = None, targets: Array | None = None, slack: float = 1.0
) -> LossCase:
    """Return the case that the checks run over.

    Targets are drawn from those given, or as the record says: signs, numbers, or where the loss is not one of z - b counts, zero included.
    """
    rng = np.random.default_rng(5)
    if targets is not None:
        b = rng.choice(np.asarray(targets, dtype=np.float64), SAMPLES)
    elif loss.word.target == "signs":
        b = rng.choice([-1.0, 1.0], SAMPLES)
    else:
        b = rng.normal(0.0, 2.0, SAMPLES) if loss.word.residual else rng.poisson(2.0, SAMPLES).astype(float)
    if loss.word.entrywise:
        b = np.zeros(SAMPLES)
    w = rng.exponential(1.0, SAMPLES) * (rng.random(SAMPLES) > 0.1)
    z = rng.normal(0.0, 3.0, SAMPLES)
    z[::7] = b[::7]
    z[1::7] = np.round(z[1::7])
    given = _defaults(loss) if parameters is None else parameters
    z = within(loss, z)
    if loss.has_domain:
        z = np.clip(z, *loss.domain_naive(b, np.array(given)))
    return LossCase(LossFunction(loss, b, w, np.array(given)), z, slack)


def within(loss: type[Loss], z: Array) -> Array:
    """Points at which a loss is finite and has a slope, one for each number: away from 0 where it is finite on one side of 0 only."""
    return np.maximum(np.abs(z), 0.01) if loss.has_domain else z


def _inside(f: LossFunction, rng: np.random.Generator) -> Array:
    """A point in the domain of the conjugate, on its boundary in places."""
    lo, hi = _ends(f)
    y = np.clip(rng.normal(0.0, 2.0, f.size) * f.w, lo, hi)
    for i, end in ((0, lo), (1, hi)):
        y[i::5] = np.where(np.isfinite(end), end, np.clip(0.0, lo, hi))[i::5]
    return y


def _ends(f: LossFunction) -> tuple[Array, Array]:
    """The ends of the domain of the conjugate, moved inside where it is open there."""
    lo, hi = f.dual_bounds()
    below, above = f.ends_open
    return lo + 1e-3 * below * f.w, hi - 1e-3 * above * f.w


def formulas_give_numbers(case: LossCase) -> None:
    """Each formula of a loss gives what is asked of it, called as plain Python: a compiler's message would name none of ours."""
    loss, p = case.f.loss, case.f.p
    z, b = float(case.z[2]), float(case.f.b[2])
    y = float(_inside(case.f, np.random.default_rng(1))[2])
    asked: tuple[tuple[str, str, tuple[Any, ...], int], ...] = (
        ("tangent", "tangent(z, b, p) gives l and l', two numbers", (z, b, p), 2),
        ("curvature", "curvature(z, b, p) gives l'', a number", (z, b, p), 1),
        ("prox", "prox(v, t, b, p) gives a number", (z, 1.0, b, p), 1),
        ("conjugate", "conjugate(u, b, w, p) gives a number", (y, b, float(case.f.w[2]), p), 1),
    )
    for name, what, arguments, count in asked:
        formula = vars(loss).get(name) if loss.compiled else None
        if formula is None:
            continue
        try:
            found = getattr(loss, name)(*arguments)
        except TypeError as error:
            fail(f"the formula {what}", str(error))
        numbers = found if isinstance(found, tuple) and count > 1 else (found,)
        fits = len(numbers) == count and all(isinstance(e, int | float) for e in numbers)
        if not fits:
            fail(f"the formula {what}", f"it gives {found!r}")


def values_of_kernels(case: LossCase) -> None:
    """The kernel `value_gradient` gives what the references give."""
    f, z, loss = case.f, case.z, case.f.loss
    out = np.empty(f.size)
    rtol = 1e-13 * case.slack
    found = kernel(loss.value_gradient_loop)(z, f.b, f.w, f.p, out)
    close(found, f.value(z), "the kernel `value_gradient` returns the value", rtol=rtol)
    what = "the kernel `value_gradient` is the reference `gradient_naive`"
    close(out, f.gradient(z), what, case.at("z", z), rtol, 1e-14 * case.slack)


def prox_and_conjugate_of_kernels(case: LossCase) -> None:
    """The kernels `prox` and `conjugate` give what the references give."""
    f, loss, tolerance = case.f, case.f.loss, 1e-12 * case.slack
    out = np.empty(f.size)
    for t in (1e-3, 1.0, 50.0):
        kernel(loss.prox_loop)(case.z, t, f.b, f.w, f.p, out)
        what = f"the kernel `prox` is the reference `prox_naive` for t = {t:g}"
        close(out, f.prox(case.z, t), what, case.at("v", case.z), tolerance, tolerance)
    y = _inside(f, np.random.default_rng(1))
    require(math.isfinite(f.conjugate(y)), "the conjugate is finite between `dual_bounds_naive`")
    found = kernel(loss.conjugate_loop)(y, f.b, f.w, f.p)
    close(found, f.conjugate(y), "the kernel `conjugate` is the reference", rtol=tolerance, atol=0.1 * tolerance)


def domain_of_the_conjugate(case: LossCase) -> None:
    """The conjugate is infinite outside the bounds, and where nothing weighs everywhere but at 0."""
    f = case.first(20).f
    conjugate = kernel(f.loss.conjugate_loop)
    for bound, step in zip(f.dual_bounds(), (-1.0, 1.0), strict=True):
        for j in np.flatnonzero(np.isfinite(bound)):
            y = np.zeros(f.size)
            y[j] = bound[j] + step * 1e-3
            infinite = f.conjugate(y) == conjugate(y, f.b, f.w, f.p) == math.inf
            what = "the conjugate is infinite outside `dual_bounds_naive`"
            require(infinite, f"{what}, at u = {y[j]:.17g} for b = {f.b[j]:.17g} with weight {f.w[j]:.17g}")
    dead = LossFunction(f.loss, f.b, np.zeros(f.size), f.p)
    nothing = np.zeros(f.size)
    zero = dead.conjugate(nothing) == conjugate(nothing, f.b, dead.w, f.p) == 0.0
    require(zero, "the conjugate of no weight is 0 at 0")
    for sign in (-1.0, 1.0):
        y = np.full(f.size, sign)
        infinite = dead.conjugate(y) == conjugate(y, f.b, dead.w, f.p) == math.inf
        require(infinite, f"the conjugate of no weight is infinite at {sign:g}")


def ends_of_the_domain(case: LossCase) -> None:
    """Weights times the ends of the domain are in it, whatever the rounding."""
    rng = np.random.default_rng(7)
    b = rng.choice(case.f.b, 2000)
    f = LossFunction(case.f.loss, b, rng.random(2000), case.f.p)
    for bound, is_open in zip(f.dual_bounds(), f.ends_open, strict=True):
        if is_open:
            continue
        y = np.where(np.isfinite(bound), bound, _inside(f, rng))
        for conjugate in (f.conjugate(y), kernel(f.loss.conjugate_loop)(y, f.b, f.w, f.p)):
            require(math.isfinite(conjugate), "the conjugate is finite at the ends of its domain times weights")


def prox_is_optimal(case: LossCase) -> None:
    """u = (v - z) / t is a subgradient at z = prox(v): l(z) + l*(u) = u z, the equality of Fenchel."""
    f, loss = case.f, case.f.loss
    # from both sides of the domain, where it has an end
    v = case.z * np.where(np.arange(f.size) % 3 == 0, -1.0, 1.0) if loss.has_domain else case.z
    for t in (0.01, 1.0, 20.0):
        z = loss.prox_naive(v, np.full(f.size, t), f.b, f.p)
        slope = (v - z) / t
        u = np.clip(slope, *loss.dual_bounds_naive(f.b, f.p))
        allowed = 1e-12 / t * (1 + np.abs(v).max()) * case.slack
        close(u, slope, f"(v - prox) / t is in the conjugate's domain for t = {t:g}", case.at("v", v), atol=allowed)
        both = loss.value_naive(z, f.b, f.p) + loss.conjugate_naive(u, f.b, f.p)
        what = f"l(z) + l*(u) = u z at z = prox(v) and u = (v - z) / t for t = {t:g}"
        close(both, u * z, what, case.at("v", v), 1e-9 * case.slack, 1e-9 * case.slack)


def gradient_is_a_subgradient(case: LossCase) -> None:
    """l lies above its tangents."""
    f, z, loss = case.f, case.z, case.f.loss
    u = loss.gradient_naive(z, f.b, f.p)
    other = np.random.default_rng(2).normal(0.0, 3.0, f.size)
    bound = loss.value_naive(z, f.b, f.p) + u * (other - z)
    above = loss.value_naive(other, f.b, f.p) >= bound - 1e-12 * case.slack * (1 + np.abs(bound))
    require(above, "l lies above the tangent of `gradient_naive`", case.at("z", z))


def conjugate_is_the_supremum(case: LossCase) -> None:
    """Against the largest of u z - l(z) over a fine grid, whose error is the slope's change over a step."""
    few = case.first(12)
    f, loss = few.f, few.f.loss
    grid = np.linspace(-60.0, 60.0, 240_001)
    lo, hi = loss.dual_bounds_naive(f.b, f.p)
    # strictly inside, where the supremum is attained within the grid
    u = np.random.default_rng(3).normal(0.0, 2.0, f.size)
    u = np.clip(u, np.minimum(np.maximum(lo, -8.0) + 0.02, hi), np.maximum(np.minimum(hi, 8.0) - 0.02, lo))
    for j in range(f.size):
        values = loss.value_naive(grid, np.full_like(grid, f.b[j]), f.p)
        lines = u[j] * grid - values
        found = float(np.max(lines))
        exact = float(loss.conjugate_naive(u[j : j + 1], f.b[j : j + 1], f.p)[0])
        what = f"`conjugate_naive` is the supremum of u z - l(z), at {few.at('u', u)(j)}"
        require(found <= exact + 1e-10 * case.slack * (1.0 + abs(exact)), f"{what}: {exact:.17g}, and not {found:.17g}")
        # at an end of the grid the supremum may lie beyond it
        if lines[0] < found > lines[-1]:
            close(exact, found, what, atol=2e-3)


def infimum_is_lowest(case: LossCase) -> None:
    """The infimum is minus the conjugate at 0, below all values, and what the prox of a long step comes near to."""
    few = case.first(60)
    f, loss = few.f, few.f.loss
    infimum = loss.infimum_naive(f.b, f.p)
    at_zero = -loss.conjugate_naive(np.zeros(f.size), f.b, f.p)
    close(infimum, at_zero, "`infimum_naive` is -l*(0)", few.at("b", f.b), 1e-14 * case.slack, 1e-14 * case.slack)
    for z in np.linspace(-40.0, 40.0, 801):
        values = loss.value_naive(np.full(f.size, z), f.b, f.p)
        above = values >= infimum - 1e-13 * case.slack * (1 + np.abs(infimum))
        require(above, "no value is below `infimum_naive`", few.at("z", np.full(f.size, z)))
    if not np.isfinite(infimum).all():
        return
    # one that is not attained is come near to slowly
    for step in (1e9, 1e50):
        lowest = loss.prox_naive(np.zeros(f.size), np.full(f.size, step), f.b, f.p)
        values = loss.value_naive(lowest, f.b, f.p)
        if np.all(np.abs(values - infimum) <= 1e-6):
            break
    close(values, infimum, "the value at the prox of a long step is `infimum_naive`", few.at("b", f.b), atol=1e-6)


def facts_hold(case: LossCase) -> None:
    """Slopes change by at most `smoothness` and at least `strong_convexity`; specific facts imply general ones."""
    f, z, loss = case.f, case.z, case.f.loss
    require((loss.smoothness is None) == (loss.curvature_loop is None), "a loss has a curvature where it is smooth")
    general = loss.piecewise_quadratic or not loss.piecewise_linear
    require(general, "what is piecewise linear is piecewise quadratic")
    require(loss.smoothness is None or not loss.piecewise_linear, "what is piecewise linear is not smooth")
    shifted = loss.value_naive(z + 0.75, f.b + 0.75, f.p)
    same = np.allclose(shifted, loss.value_naive(z, f.b, f.p), rtol=1e-12 * case.slack, atol=1e-12 * case.slack)
    told = "the loss of z + 0.75 for b + 0.75 is that of z for b exactly where the record says `residual`"
    require(same == loss.word.residual, told)
    if loss.word.square:
        close(loss.value_naive(z, f.b, f.p), np.square(z - f.b), "`square`: the loss is (z - b)^2", rtol=1e-12)
    other = within(loss, z + np.random.default_rng(4).normal(0.0, 1.0, f.size))
    change = (loss.gradient_naive(other, f.b, f.p) - loss.gradient_naive(z, f.b, f.p)) / (other - z)
    where = case.at("z", z)
    least = loss.strong_convexity - 1e-12 * case.slack
    require(change >= least, f"slopes change by at least `strong_convexity` = {loss.strong_convexity:g}", where)
    if loss.smoothness is None:
        return
    most = loss.smoothness + 1e-12 * case.slack
    require(change <= most, f"slopes change by at most `smoothness` = {loss.smoothness:g}", where)
    reached = float(change.max())
    told = f"`smoothness` = {loss.smoothness:g} is far above what slopes change by, {reached:.6g}"
    require(loss.smoothness == math.inf or reached > 0.5 * loss.smoothness, told)


def curvature_is_the_slope_of_the_gradient(case: LossCase) -> None:
    """`curvature` against differences of the gradient, where these are smooth."""
    f, loss = case.f, case.f.loss
    if loss.curvature_loop is None:
        return
    z = within(loss, np.random.default_rng(6).normal(0.0, 3.0, f.size))
    out, h = np.empty(f.size), 1e-5
    kernel(loss.curvature_loop)(z, f.b, f.w, f.p, out)
    slope = (f.gradient(z + h) - f.gradient(z - h)) / (2.0 * h)
    ahead = (f.gradient(z + 2 * h) - f.gradient(z)) / (2.0 * h)
    smooth = (f.w > 0.0) & (np.abs(slope - ahead) < 1e-3 * (1 + np.abs(slope)))
    require(float(smooth.mean()) > 0.5, "the gradient of a smooth loss has a slope at most places")
    at = np.flatnonzero(smooth)
    where = case.at("z", z)
    close(out[at], slope[at], "`curvature` is the slope of the gradient", lambda j: where(int(at[j])), 1e-3, 1e-4)


def pieces_are_as_told(case: LossCase) -> None:
    """`quadratic`: slopes change by `smoothness` times the way. `piecewise_...`: slopes change, or bend, at a few places only."""
    f, z, loss = case.f, case.z, case.f.loss
    if loss.quadratic:
        told = "`quadratic`: slopes change by `smoothness` times the way"
        require(loss.piecewise_quadratic, "what is quadratic is piecewise quadratic")
        beta = math.nan if loss.smoothness is None else loss.smoothness
        other = np.random.default_rng(8).normal(0.0, 3.0, f.size)
        change = loss.gradient_naive(other, f.b, f.p) - loss.gradient_naive(z, f.b, f.p)
        allowed = 1e-12 * case.slack * beta * (1 + np.abs(other) + np.abs(z) + np.abs(f.b))
        require(np.abs(change - beta * (other - z)) <= allowed, told, case.at("z", z))
    for order, name in ((1, "piecewise_linear"), (2, "piecewise_quadratic")):
        if not getattr(loss, name):
            continue
        verb = "change" if order == 1 else "bend"
        for j in range(4):
            few, many = (_changing(case, j, order, count) for count in (1000, 4000))
            # a kink is in one interval, or at the end of two, however short they are; a curve is in four times as many
            what = f"`{name}`: slopes {verb} at a few places only, not in {many} of 4000 intervals"
            require(many <= 2 * few + 4, f"{what}, for b = {f.b[j]:.17g}")


def _changing(case: LossCase, j: int, order: int, count: int) -> int:
    """The number of intervals about the target of a sample in which the derivative of this order of the slope is not 0."""
    f = case.f
    grid = np.linspace(f.b[j] - 12.3, f.b[j] + 12.1, 2 * count + 1)
    slopes = f.loss.gradient_naive(grid, np.full_like(grid, f.b[j]), f.p)
    left, middle, right = slopes[:-2:2], slopes[1::2], slopes[2::2]
    change = np.maximum(np.abs(right - middle), np.abs(middle - left)) if order == 1 else left - 2.0 * middle + right
    bound = f.loss.smoothness or 0.0
    size = np.abs(left) + np.abs(middle) + np.abs(right)
    size = size + bound * np.abs(grid[1::2]) if math.isfinite(bound) else size
    return int((np.abs(change) > 1e-13 * case.slack * (1 + size)).sum())


def dual_kink_is_that_of_the_conjugate(case: LossCase) -> None:
    """`dual_kink`: on its domain l*(u; b) = s u^2 / 2 + b u + e |u|, with s = 1 / smoothness, or 0 where l is not smooth."""
    f, loss = case.f, case.f.loss
    if loss.dual_kink is None:
        return
    e = float(loss.dual_kink(f.p))
    lo, hi = loss.dual_bounds_naive(f.b, f.p)
    s = 0.0 if loss.smoothness is None else 1.0 / loss.smoothness
    drawn = np.random.default_rng(9).normal(0.0, 2.0, f.size)
    u = np.clip(drawn * np.minimum(hi - lo, 1.0), lo, hi)
    expected = 0.5 * s * u * u + f.b * u + e * np.abs(u)
    what = f"`dual_kink`: the conjugate is {s:g} u^2 / 2 + b u + {e:g} |u| on its domain"
    rounding = 1e-12 * case.slack
    close(loss.conjugate_naive(u, f.b, f.p), expected, what, case.at("u", u), rounding, rounding)
    require(e >= 0.0, f"`dual_kink` is not negative, as {e:g} is")


def conic_form_is_the_loss(case: LossCase) -> None:
    """The least of a conic form over its own unknowns is the value, of each sample with its weight."""
    few = case.first(12)
    f, loss = few.f, few.f.loss
    if loss.conic is None:
        return
    for j in range(f.size):
        one = slice(j, j + 1)
        form = loss.conic(f.b[one], f.w[one], f.p)
        found = None if form is None else least(form, few.z[one])
        if found is None:
            return
        told = f"`conic` has the value of the loss, at {few.at('z', few.z)(j)} with weight {f.w[j]:.17g}"
        expected = f.w[one] * loss.value_naive(few.z[one], f.b[one], f.p)
        close(found, expected, told, rtol=1e-7 * case.slack, atol=1e-7 * case.slack)


def translation_is_the_loss(case: LossCase) -> None:
    """The expression of `cvxpy`, where it is installed, has the value of the loss, and is convex by its rules."""
    few = case.first(40)
    f, loss = few.f, few.f.loss
    found = None if loss.cvxpy is None else translated_loss(loss.cvxpy, few.z, f.b, f.p)
    if found is None:
        return
    expected = loss.value_naive(few.z, f.b, f.p)
    close(found[0], expected, "`cvxpy` has the value of the loss", few.at("z", few.z), 1e-9, 1e-9)
    require(found[1], "`cvxpy` is convex by the rules of cvxpy")


def arguments_are_kept(case: LossCase) -> None:
    """No function writes into its arguments, but kernels into the last one."""
    f, loss = case.f, case.f.loss
    u = np.clip(np.zeros(f.size), *loss.dual_bounds_naive(f.b, f.p))
    out, t = np.empty(f.size), np.full(f.size, 0.7)
    calls: dict[str, tuple[Any, ...]] = {
        "value_naive": (case.z, f.b, f.p),
        "gradient_naive": (case.z, f.b, f.p),
        "curvature_naive": (case.z, f.b, f.p),
        "prox_naive": (case.z, t, f.b, f.p),
        "conjugate_naive": (u, f.b, f.p),
        "dual_bounds_naive": (f.b, f.p),
        "infimum_naive": (f.b, f.p),
        "value_gradient_loop": (case.z, f.b, f.w, f.p, out),
        "curvature_loop": (case.z, f.b, f.w, f.p, out),
        "prox_loop": (case.z, 0.7, f.b, f.w, f.p, out),
        "conjugate_loop": (f.w * u, f.b, f.w, f.p),
    }
    for name, arguments in calls.items():
        function = getattr(loss, name, None)
        if function is None:
            continue
        given = [a.copy() if isinstance(a, np.ndarray) and a is not out else a for a in arguments]
        (function if name.endswith("_naive") else kernel(function))(*given)
        same = [np.array_equal(a, b) for a, b in zip(given, arguments, strict=True) if b is not out]
        require(same, f"`{name}` leaves its arguments as they are")


LOSS_CHECKS: tuple[Callable[[LossCase], None], ...] = (
    arguments_are_kept,
    formulas_give_numbers,
    values_of_kernels,
    prox_and_conjugate_of_kernels,
    domain_of_the_conjugate,
    ends_of_the_domain,
    prox_is_optimal,
    gradient_is_a_subgradient,
    conjugate_is_the_supremum,
    infimum_is_lowest,
    facts_hold,
    curvature_is_the_slope_of_the_gradient,
    pieces_are_as_told,
    dual_kink_is_that_of_the_conjugate,
    conic_form_is_the_loss,
    translation_is_the_loss,
)


def _defaults(loss: type[Loss]) -> tuple[float, ...]:
    """The defaults of the options, and an example of those that have none."""
    return tuple(float(NUMBERS[o.domain].example if o.default is None else o.default) for o in loss.word.options)


def cases_of(loss: type[Loss], targets: Array | None, slack: float) -> Iterator[LossCase]:
    """The case of the defaults, and one with each option moved within its domain."""
    yield loss_case(loss, None, targets, slack)
    defaults = _defaults(loss)
    for k, o in enumerate(loss.word.options):
        others = {"count": defaults[k] + 1.0, "real": defaults[k] - 0.75, "at_least_1": 3.0, "between_1_and_2": 1.2}
        changed = others.get(o.domain, 0.3 * defaults[k])
        yield loss_case(loss, (*defaults[:k], changed, *defaults[k + 1 :]), targets, slack)
