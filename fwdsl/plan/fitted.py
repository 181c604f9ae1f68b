"""Predictions of methods corrected by what was measured: `python benchmarks/calibrate.py` fits the constants of `constants.py`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import mul

from ..atoms.base import VectorFunction
from ..atoms.loss import LossFunction
from ..atoms.vector_loss import VectorLossFunction
from ..backends.costs import CONES, SPECTRAL, condition, is_over_rows
from ..backends.method import Estimate
from ..canon.form import Canonical
from ..canon.forms import Form
from ..canon.parts import SumTerm
from ..words import SETS
from .constants import CONSTANTS

NAMES = (
    "one",
    "digits beyond six",
    "samples",
    "unknowns",
    "density",
    "terms that are not smooth",
    "losses that are not quadratic",
    "norms",
    "sets",
    "ridge",
    "condition",
    "unknowns without norms and sets",
    "more unknowns than samples",
    "no losses",
    "singular values or eigenvalues",
    "no norms and sets, many unknowns",
    "squared data over the ridge",
    "the same, no norms and sets, many unknowns",
    "cones of matrices",
    "images with corners",
    "images whose lengths count",
    "images of maps without data",
    "constraints on images",
    "sets that tie entries together",
    "one sum over rows of data",
)
"""The features of a problem that corrections are linear in, the logarithms in powers of ten."""

Constants = Mapping[str, tuple[tuple[float, ...], tuple[float, ...], float]]
"""The coefficients of the features for passes and for seconds, and the seconds that a start takes whatever the problem, by the names of methods."""

SMALLEST, LARGEST = -2.0, 1.0
"""The sizes that corrections were fitted to, in powers of ten of a thousand."""

MANY = 1500
"""Unknowns beyond which methods form no Gram matrix of all of them."""

WIDEST = 0.6
"""The powers of ten that a correction is at most."""

LOOSE, SURE = 0.9, 0.3
"""The powers of ten that predictions of programs over rows are raised by at most; those of a known number of steps (`Estimate.trusted`) by less."""

APART = ("pdhg", "interior")
"""The methods whose predictions of programs over rows of data are fitted apart (`is_over_rows`)."""

APART_OF_MATRICES = ("pdhg", "interior", "apg")
"""The methods whose predictions of programs with singular values or eigenvalues are: what decompositions and cones of matrices take has nothing to do
with what other programs take."""

OF_MATRICES = NAMES.index("singular values or eigenvalues")

APART_OF_MANY = ("apg",)
"""The methods whose predictions of many free variables are: conjugate gradients are in the place of a factor there."""

OF_MANY = NAMES.index("no norms and sets, many unknowns")

LEAST_FACTOR = 10.0**-WIDEST
"""The least factor that a prediction is corrected by."""


def features(form: Form) -> tuple[float, ...]:
    """The features of a bound problem, without the digits of the tolerance; `NAMES` in their order."""
    dense = form.dense if isinstance(form, Canonical) else None
    if dense is None:
        return (1.0, 0.0, 0.0, _within(_log(form.size / 1000)), *[0.0] * (len(NAMES) - 4))
    rows = sum([t.map.rows for t in dense.terms])
    losses = [t.f for t in dense.terms if isinstance(t.f, LossFunction | VectorLossFunction)]
    curved = any(not getattr(f.loss, "quadratic", False) for f in losses)
    pairs = [b.g.pair for b in dense.blocks] + [t.f.pair for t in dense.terms if isinstance(t.f, VectorFunction)]
    norms = {norm for norm, _ in pairs if norm is not None}
    sets = {on for _, on in pairs if on is not None}
    ridge = any(b.g.curvature > 0.0 for b in dense.blocks)
    loose = _log(_squares(dense)) - 2.0 if ridge and losses else 0.0
    bare = not norms and not sets
    rough = [t for t in dense.terms if not t.is_smooth]
    images = [t.f for t in rough if isinstance(t.f, VectorFunction)]
    size = _within(_log(dense.size / 1000))
    stiff = min(_log(condition(dense)), 8.0) - 4.0 if ridge and losses else 0.0
    return (
        1.0,
        0.0,
        _within(_log(rows / 1000)),
        size,
        _log(dense.nnz / max(1.0, rows * dense.size)),
        float(bool(rough)),
        float(curved),
        float(bool(norms)),
        float(bool(sets)),
        float(ridge),
        stiff,
        size if bare else 0.0,
        max(0.0, _log(dense.size / max(1, rows))),
        float(not losses),
        float(not SPECTRAL.isdisjoint(norms | sets)),
        float(bare and dense.size > MANY),
        loose,
        # nothing tells how a ridge that outweighs the data changes it: hardly any were fitted to
        max(loose, 0.0) if bare and dense.size > MANY else 0.0,
        float(not CONES.isdisjoint(sets)),
        float(any(_is_polyhedral(t) for t in rough)),
        float(any(not f.polyhedral for f in images)),
        float(any(t.map.nnz == 0 for t in dense.terms)),
        float(any(t.is_indicator for t in dense.terms)),
        float(any(on in SETS and SETS[on].threshold for on in sets)),
        float(is_over_rows(dense)),
    )


def _is_polyhedral(term: SumTerm) -> bool:
    """True if its function is piecewise linear."""
    f = term.f
    return bool(f.polyhedral if isinstance(f, VectorFunction) else f.loss.piecewise_linear)


def _squares(dense: Canonical) -> float:
    """The trace of the losses' largest Hessian over the curvature of the ridge: what L / mu is at most."""
    found = dense.total_stretch / max(b.g.curvature for b in dense.blocks)
    return found if math.isfinite(found) else 1.0


def corrected(
    estimate: Estimate, name: str, known: Sequence[float], tol: float, constants: Constants | None = None
) -> Estimate:
    """An estimate with its passes and seconds as they came out on problems with such features, by the fitted constants or others."""
    key = key_of(name, known)
    found = (CONSTANTS if constants is None else constants).get(key)
    if found is None:
        return estimate
    most = most_of(key, name, estimate.trusted)
    passes, seconds = (_factor(theta, known, tol, most) for theta in found[:2])
    return Estimate(
        passes * estimate.passes,
        seconds * (estimate.seconds + found[2]),
        estimate.memory,
        estimate.why,
        estimate.trusted,
    )


def key_of(name: str, known: Sequence[float]) -> str:
    """The name by which `CONSTANTS` has what is fitted to a method on problems with such features."""
    if name in APART_OF_MATRICES and known[OF_MATRICES]:
        return f"{name} of matrices"
    if name in APART_OF_MANY and known[OF_MANY]:
        return f"{name} of many"
    return f"{name} over rows" if name in APART and known[-1] else name


def most_of(key: str, name: str, trusted: float) -> float:
    """The powers of ten that a prediction of a method is raised by at most; `key` is that of its constants, `trusted` that of the estimate."""
    return WIDEST if key == name else SURE if trusted > 1.0 else LOOSE


def _factor(theta: Sequence[float], known: Sequence[float], tol: float, most: float) -> float:
    power = theta[1] * (-math.log10(tol) - 6.0) / 6.0
    power += sum(map(mul, theta, known))
    return float(10.0 ** min(most, max(-WIDEST, power)))


def _within(power: float) -> float:
    """A logarithm within the sizes that corrections were fitted to: beyond them predictions are corrected as at the next one."""
    return min(LARGEST, max(SMALLEST, power))


def _log(value: float) -> float:
    return math.log10(max(value, 1e-9))
