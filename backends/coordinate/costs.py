"""The costs of the parts of coordinate descent, on the scale of `backends.costs`."""

from __future__ import annotations

import math

import numpy as np

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends import costs
from fwdsl.backends.coordinate.coordinates import is_ball
from fwdsl.backends.coordinate.parts import COPIED_NUMBERS, factor_and_matrix, main_part, tasks_of
from fwdsl.backends.kernels.operators import Operator
from fwdsl.backends.kernels.storage import Dense, Sparse
from fwdsl.backends.method import Estimate
from fwdsl.canon.data_maps import Matrix
from fwdsl.canon.form import Canonical, once_per_form
from fwdsl.canon.matrix_maps import LeftMultiply

NS_PER_NUMBER = {"dense": 0.6, "sparse": 1.5}
"""A stored number of a column in an epoch: its product with the residual, and now and then its share in a change."""

NS_PER_PRODUCT = {"dense": 0.02, "sparse": 1.2}
"""A product of two numbers of a row in a Gram matrix: by blocks and BLAS, or pair by pair."""

NS_OF_NEWTON = 300_000.0
"""Nanoseconds that a model on its Gram matrix takes beside its sums more than one on columns: Newton steps are calls of NumPy."""

NS_PER_CUBE = 0.1
"""The systems of the Newton steps on a Gram matrix, for a number of free coordinates to the third power: one to three of them a model."""

CLASS_MODELS, OF_AWAY = 14.0, (4.7, 0.2)
"""Models of a loss of rows, to six digits; and beside a norm with a share s of its largest useful weight the first of these times (1 - s) / s to the
power of the second: 5 at one half, 6 to 12 at a tenth, 9 to 16 at 0.003, as measured."""

CLASS_WIDTH, WIDTH_OF_AWAY = 0.25, (0.1, 0.15)
"""The share of a matrix variable that a working set has, and the same by the share of the largest useful weight."""

CLASS_TRUSTED = 2.0
"""The multiple of its predicted passes that such a run may take: while the working set grows the bound hardly moves."""

NS_PER_COPY = 1.0
"""A number of a column that is copied and weighted."""

MOST_SHARE = 6
"""The share of the columns in a working set, one in so many, from which the Gram matrix of all dense ones is formed."""

MOST_GRAM = 1_500
"""Columns up to which a Gram matrix is formed."""

WHOLE = 6.0
"""Passes over the data that the Gram matrix of all columns may cost to be formed at once."""


BALL, FLAT_BALL = 1.25, 3.0
"""The ratio of the work on a ball, whose multiplier is to be found, to that of a penalised problem, as measured; and that of losses with linear
pieces, whose models are flat where the multiplier is small."""

EFFORT, OF_QUADRATICS, OF_OTHERS = 0.7, 0.7, 0.4
"""The work over that of the constants above for a share s of a norm's largest useful weight: `EFFORT` times (1 - s) / s to one of these powers, for a
quadratic loss and for others. On 14 problems it took 0.4 to 1.6 times as long as without it at one half, 1.7 to 8 times at a tenth, and 32 to 170
or 4 to 10 times at 0.003. A quadratic with no more unknowns than rows takes as long whatever the share: the Gram matrix of its working set serves."""

OF_ROOT = 1.0
"""The same where nothing but a ridge holds a loss with linear pieces, over the root of the curvature along a sample over the ridge's: models of such
pieces are right nearby alone, and nothing keeps columns apart. Squared and smooth hinges on five shapes took 2 to 6 times as long as without it at
roots of 3 to 4, 7 to 10 times at 8, 30 to 70 times at 26, more than 140 times at 80; Huber losses from a tenth of that on."""

FAR, OF_FAR, MOST_FAR = 12.0, 6.0, 200.0
"""The same on a ball so large that margins reach far to where a loss vanishes, as a logistic one: it is the margin over the first to the power of the
second, at most the third. There is no curvature left, nor a multiplier to be found. On four shapes it took 3 to 10 times as long as without it at
margins of 6 to 13, but 100 times at one of 12 on 25 samples, and 60 to 600 times at 20 to 2,000."""

LEAST_EFFORT = 0.25
"""The least of it: the passes that look at all columns."""

MOST_ON_BOX = 4.0
"""The most of it where an active set ends what a weak norm makes long."""

STEPS, BALL_STEPS = 8.0, 6.0
"""Steps of a pass over all columns; and on a ball with a loss that is curved everywhere: 2 to 9 as measured."""

SUPPORT, SUPPORT_POWER = 0.025, 0.8
"""The share of the columns, or of the rows if they are fewer, that are in the support beside a few rows of constraints: the first times (1 - s) / s
to the power of the second, s being the share of the largest useful weight. 0.01 to 0.025 at one half, 0.03 to 0.2 at a tenth, 0.65 to 0.9 at a
hundredth, as measured."""

MOST_COLUMNS = 3_000
"""Columns of a working set up to which models under rows are solved: their matrices then take a third of a gigabyte, and a step some seconds."""

OF_SUPPORT, LEAST_WIDTH = 1.5, 20.0
"""Columns of the last working set there for each of the support, and beside."""

WEAK = 100.0
"""The ratio (1 - s) / s from which on a norm is weak beside more columns than rows: data of 150 x 300 and 200 x 400 took 20 ms at 32, 0.1 to 1.2 s at
330, and 0.2 to over 10 s at 3,300."""

MODELS_A_STEP = 3.0
"""Models in a step there, of losses that are not quadratic."""

NS_PER_ENTRY, NS_PER_FACTORED = 60.0, 0.03
"""Nanoseconds of such a model for each coordinate of the support and column of the working set, some ten epochs; and of its systems, for each
coordinate of the support to the third power."""

TRUSTED_UNDER_ROWS = 2.0
"""The multiple of its predicted passes that such a run may take: its bound comes with the last working set."""

START_UNDER_ROWS, MODEL_UNDER_ROWS = 1e-3, 8e-4
"""Seconds of the start there, and of a model, of any size."""


def column_lengths(canonical: Canonical) -> Array:
    """|K_j| for the columns of the data, as bind has measured them, for each coordinate of x; 1 for the others, and where it is 0 or not known."""
    (term,) = canonical.terms
    best = main_part(term)
    out = np.ones(canonical.size)
    if best is None:
        return out
    block, m = term.map.parts[best]
    found = factor_and_matrix(m)
    assert found is not None and isinstance(found[1], Matrix | LeftMultiply)
    norms = canonical.instance.column_norms(found[1].A)
    if norms is not None:
        lengths = np.where((norms > 0.0) & np.isfinite(norms), abs(found[0]) * norms, 1.0)
        out[block.slice] = np.repeat(lengths, tasks_of(m))
    return out


@once_per_form
def _shape(canonical: Canonical) -> tuple[int, int, int, str, int]:
    """Rows, columns and stored numbers of the data, how they are stored, and the columns of a matrix variable."""
    (term,) = canonical.terms
    best = main_part(term)
    assert best is not None
    m = term.map.parts[best][1]
    found = factor_and_matrix(m)
    assert found is not None and isinstance(found[1], Matrix | LeftMultiply)
    kind, tasks = "dense" if isinstance(found[1].A, np.ndarray) else "sparse", tasks_of(m)
    return m.rows // tasks, m.columns // tasks, m.nnz, kind, tasks


def _gram(n: int, stored: float, columns: int, kind: str) -> float:
    """Nanoseconds that the Gram matrix of columns with so many stored numbers takes."""
    pairs = n * columns**2 if kind == "dense" else 0.5 * stored * (stored / max(1, n) + 1.0)
    return NS_PER_PRODUCT[kind] * pairs


def is_whole(canonical: Canonical) -> bool:
    """True if the Gram matrix of all columns is formed at once: it takes a few passes, or no penalty leaves coordinates at zero."""
    return _is_whole(canonical, *_shape(canonical))


def _is_whole(canonical: Canonical, n: int, d: int, nnz: int, kind: str, tasks: int) -> bool:
    if d > MOST_GRAM:
        return False
    # one that changes with x is formed again and again
    share = 1.0 if costs.is_quadratic(canonical) or isinstance(canonical.terms[0].f, VectorFunction) else 0.1
    # a support is small beside more columns than rows, and so is the Gram matrix of a working set
    share *= tasks if n >= d else 1.0
    is_small = _gram(n, nnz, d, kind) <= share * WHOLE * NS_PER_NUMBER[kind] * nnz
    return is_small or (n >= d and all(b.g.pair[0] is None and not is_ball(b.g) for b in canonical.blocks))


def most_gram(operator: Operator, on_box: bool) -> int:
    """Columns of a working set up to which its Gram matrix is formed: but on a box no more than there are rows, beyond which it is singular."""
    return MOST_GRAM if on_box else min(MOST_GRAM, operator.shape[0])


@once_per_form
def is_on_box(canonical: Canonical) -> bool:
    """True if a loss is quadratic, and x a vector in intervals where each norm is linear: an active set then ends."""
    if not costs.is_quadratic(canonical) or _shape(canonical)[4] != 1:
        return False
    parts = [b.g.entries() for b in canonical.blocks]
    return all(
        e is not None and bool(np.all((np.asarray(e.c) == 0.0) | (np.asarray(e.lo) >= 0.0) | (np.asarray(e.hi) <= 0.0)))
        for e in parts
    )


def of_models(operator: Operator, size: int, stored: int, known: int = 0) -> tuple[float, float]:
    """(an epoch over so many columns, their Gram matrix and Newton steps on it) in nanoseconds; inf for more than can be formed. `stored` numbers
    are in the columns. Of dense ones the Gram matrix of the first `known` may be there."""
    kind = "sparse" if isinstance(operator.storage, Sparse) else "dense"
    # rows are gone through as a whole
    gram = _gram(operator.shape[0], stored, size, kind) + (1.0 * operator.nnz if kind == "sparse" else 0.0)
    gram -= _gram(operator.shape[0], 0.0, known, kind)
    gram += NS_PER_CUBE * size**3
    return NS_PER_NUMBER[kind] * stored, gram


def is_wide(operator: Operator, size: int) -> bool:
    """True if there are so many dense columns that BLAS forms the Gram matrix of all of them faster than we form it by parts."""
    n, d = operator.shape
    return isinstance(operator.storage, Dense) and d <= min(MOST_GRAM, n) and MOST_SHARE * size >= d


def is_plain(canonical: Canonical) -> bool:
    """True if there is no norm and no bound: nothing keeps the variables from being dense."""
    return all(b.g.pair == (None, None) for b in canonical.blocks)


def _by_classes(canonical: Canonical, digits: float) -> Estimate:
    """Newton steps, each with the Gram matrix of a working set: a part of a matrix variable, or all of one without a norm or bounds."""
    n, d, _, kind, classes = _shape(canonical)
    known = costs.strength(canonical)
    models, width = CLASS_MODELS, 1.0 if is_plain(canonical) else CLASS_WIDTH
    if known is not None:
        models = max(1.0, OF_AWAY[0] * math.pow(known.away, OF_AWAY[1]))
        width = min(1.0, WIDTH_OF_AWAY[0] * math.pow(known.away, WIDTH_OF_AWAY[1]), n * (classes - 1.0) / (d * classes))
    models, width = models * digits, width * d * classes
    # half of the products are formed, once as such and once for the classes, and the columns are copied twice
    gram = NS_PER_PRODUCT["dense"] * n * width**2 + 2.0 * NS_PER_COPY * n * width + NS_PER_CUBE * width**3
    seconds = costs.seconds(canonical, 3.0 * models, 3.0 * models) + 1e-9 * models * gram
    why = f"about {models:.0f} Newton steps, each with the Gram matrix of a working set and its classes"
    copy = 8.0 * n * d if kind == "dense" and n * d <= COPIED_NUMBERS else 0.0
    memory = costs.memory(canonical, 12, 12, copy + 8.0 * (d * classes) ** 2)
    return Estimate(3.0 * models, seconds, memory, costs.with_copy(canonical, why), CLASS_TRUSTED)


def _searches(canonical: Canonical) -> float:
    """The ratio of the work to that of a penalised problem: the multiplier of a ball is searched for."""
    if not any(is_ball(b.g) for b in canonical.blocks):
        return 1.0
    f = canonical.terms[0].f
    flat = isinstance(f, LossFunction) and f.loss.piecewise_quadratic and not f.loss.quadratic
    return FLAT_BALL if flat else BALL


def _root_of_pieces(canonical: Canonical) -> float:
    """The root of the mean curvature along a sample over that of the weakest ridge, of a loss with linear pieces on variables that have a ridge
    alone; 0 of others."""
    f = canonical.terms[0].f
    if not isinstance(f, LossFunction):
        return 0.0
    ridges = [b.g.curvature for b in canonical.blocks if b.shape]
    if not (
        is_plain(canonical) and f.loss.piecewise_quadratic and not f.loss.quadratic and min(ridges, default=0.0) > 0.0
    ):
        return 0.0
    return math.sqrt(canonical.total_stretch / max(1, f.size) / min(ridges))


def _margin(canonical: Canonical) -> float:
    """A guess of the margin of separable samples on a ball of radius r: r |A_ij| / n^(1/2), that of weights as large for each of n samples.

    It is 0 of losses that are not curved everywhere or grow both ways, and where samples are more than twice as many as unknowns, up to which signs
    at random can be told apart (Cover 1965).
    """
    f = canonical.terms[0].f
    n, d = _shape(canonical)[:2]
    radius = max((b.g.radius() for b in canonical.blocks if is_ball(b.g)), default=0.0)
    if not isinstance(f, LossFunction) or f.loss.piecewise_quadratic:
        return 0.0
    if not 0.0 < radius < math.inf or not 0 < n <= 2 * d:
        return 0.0
    lo, hi = f.dual_bounds()
    if not np.all((lo == 0.0) | (hi == 0.0)):
        return 0.0
    return radius * math.sqrt(float(np.square(column_lengths(canonical)).mean())) / n


def _effort(canonical: Canonical, quadratic: bool) -> float:
    """The ratio of the work to that which the constants tell: a weak norm leaves many columns in the support, and hardly keeps them apart; nor does
    a weak ridge, or a ball that is nearly everything."""
    known = costs.strength(canonical) or costs.strength_beside_length(canonical)
    if known is None:
        far = min(MOST_FAR, math.pow(min(_margin(canonical) / FAR, MOST_FAR), OF_FAR))
        return max(1.0, OF_ROOT * _root_of_pieces(canonical), far)
    most = MOST_ON_BOX if is_on_box(canonical) else math.inf
    found = EFFORT * math.pow(known.away, OF_QUADRATICS if quadratic else OF_OTHERS)
    return min(max(LEAST_EFFORT, found), most)


def estimate(canonical: Canonical, tol: float) -> Estimate:
    """A few steps of a pass each, and epochs over the columns of the support, which is taken to be a fifth of them at most; or the Gram matrix."""
    shape = n, d, nnz, kind, tasks = _shape(canonical)
    digits = max(1.0, -math.log10(tol)) / 6.0
    if isinstance(canonical.terms[0].f, VectorLossFunction):
        return _by_classes(canonical, digits)
    # one Gram matrix serves all models of a length
    quadratic = costs.is_quadratic(canonical) or isinstance(canonical.terms[0].f, VectorFunction)
    models = 1.0 if quadratic else 6.0
    searches, whole = _searches(canonical), _is_whole(canonical, *shape)
    effort = 1.0 if quadratic and d <= n else _effort(canonical, quadratic)
    models *= effort
    if whole:
        steps, passes = 2.0 * digits * effort, 4.0 + models * (3.0 if quadratic else 2.0)
        extra = (models if quadratic else models * searches) * _gram(n, nnz, d, kind) + 20.0 * searches * tasks * d * d
        why = f"the Gram matrix of all {d:,} columns, and Newton steps on it"
    else:
        # flat models of a ball lead less far
        steps = digits * (BALL_STEPS if searches == BALL and not quadratic else STEPS * max(1.0, searches / BALL))
        steps *= effort
        passes, width = 2.0 * steps, d if is_plain(canonical) else min(d, n) / 5.0
        extra = 60.0 * digits * effort * searches * NS_PER_NUMBER[kind] * tasks * nnz * min(1.0, width / d)
        why = f"about {steps:.0f} steps of a pass over all columns, and epochs over those of the support"
    seconds = costs.seconds(canonical, passes, steps * (1.0 if quadratic else 3.0)) + 1e-9 * extra
    memory = costs.memory(canonical, 12, 12, 8.0 * min(d, MOST_GRAM) ** 2)
    return Estimate(passes, seconds, memory, costs.with_copy(canonical, why))


def estimate_under_rows(canonical: Canonical, rows: int, tol: float) -> Estimate:
    """Steps of a pass over all columns each, and of models on the Gram matrix of the support and half as many columns more, under so many rows of
    constraints; the form is that of the loss alone."""
    n, d, nnz, kind, _ = _shape(canonical)
    quadratic = costs.is_quadratic(canonical)
    support = support_under_rows(canonical)
    whole = _is_whole(canonical, n, d, nnz, kind, 1)
    width = float(d) if whole else min(d, OF_SUPPORT * support + LEAST_WIDTH)
    steps = 1.0 if whole and quadratic else 2.0 + 0.5 * math.log2(width / LEAST_WIDTH)
    steps *= (1.0 if quadratic else max(1.0, -math.log10(tol) / 6.0)) * _weakness(canonical)
    models = steps if quadratic else MODELS_A_STEP * steps
    grams = _gram(n, nnz * width / d, math.ceil(width), kind)
    # dense columns are added to those that are there, and of sparse ones all are gone through again
    each = grams * (1.0 if quadratic and kind == "dense" else models) + models * (
        NS_PER_ENTRY * (support + rows) * width + NS_PER_FACTORED * support**3
    )
    passes = 2.0 + 2.0 * models
    seconds = costs.seconds(canonical, passes, steps) + START_UNDER_ROWS + MODEL_UNDER_ROWS * models + 1e-9 * each
    memory = costs.memory(canonical, 14, 12, 32.0 * width**2 + 8.0 * rows * d)
    why = f"about {steps:.0f} steps of models on the Gram matrix of some {width:,.0f} columns, under {rows} row{'s' * (rows != 1)}"
    return Estimate(passes, seconds, memory, costs.with_copy(canonical, why), TRUSTED_UNDER_ROWS)


def _weakness(canonical: Canonical) -> float:
    """The ratio of the work to that of a norm that keeps columns apart, which one so weak beside more columns than rows does not."""
    n, d = _shape(canonical)[:2]
    known = costs.strength(canonical)
    return 1.0 if d <= n or known is None else max(1.0, known.away / WEAK)


def support_under_rows(canonical: Canonical) -> float:
    """A guess of the coordinates that are not 0: of a norm by its share of the largest useful weight, else half of those with bounds."""
    n, d = _shape(canonical)[:2]
    known = costs.strength(canonical)
    if known is not None:
        return max(1.0, min(n, d) * min(1.0, SUPPORT * math.pow(known.away, SUPPORT_POWER)))
    return d if is_plain(canonical) else 0.5 * d
