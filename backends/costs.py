"""The costs of passes and iterations: the planner's constants, their sources, and the predictions for methods.

Units: nanoseconds of one thread on the reference machine (AMD EPYC, AVX-512, 2026), as `benchmarks/costs.py` measures them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import ContextVar
from functools import cached_property

import numpy as np

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.inner import OfInner
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.atoms.vectors.common import Joint, Norm, norm2
from fwdsl.atoms.vectors.ridge import Ridged
from fwdsl.backends.kernels.blocks import BLOCK_NUMBERS
from fwdsl.backends.kernels.pool import PARTIALS
from fwdsl.backends.kernels.storage import GRAM_NUMBERS, is_turned
from fwdsl.backends.method import Estimate
from fwdsl.backends.newton import CG_STEPS, MAX_DENSE
from fwdsl.canon.combined_maps import unscaled
from fwdsl.canon.form import Canonical, once_per_form
from fwdsl.canon.maps import Identity
from fwdsl.canon.matrix_maps import Symmetrise, Tile
from fwdsl.canon.parts import SumTerm
from fwdsl.light_dataclass import light_dataclass
from fwdsl.readers.held_rows import is_held
from fwdsl.readers.row_blocks import is_on_disk
from fwdsl.sums import dense_leaves
from fwdsl.words import CONVEX, SETS

NS_PER_NONZERO = {"csr": 1.0, "dense": 0.6}
"""One touch of a stored number, the mean of A x and A'y (`benchmarks/costs.py`)."""

NS_PER_PRODUCT = 0.1
"""Another product of a stored number, by BLAS: with a matrix that has few columns it reaches a third of its speed."""

NS_PER_BYTE_READ = 1.0
"""A byte of data that stay on their disk: of one that gives a gigabyte a second."""

NS_PER_COORDINATE = 15.0
"""A prox with a threshold search (cold: 13), the vector operations of an iteration included."""

NS_PER_SCORE = 4.0
"""One prediction of a loss of rows, its value and gradient (softmax: 5, the others: 3)."""

NS_PER_THRESHOLD = 25.0
"""The cost that `apg` adds on a ball or simplex: another search for the bound, backtracking, the face (docs/papers/pdbfw.md, wide sets)."""

FACE_STEPS = 6.0
"""Newton steps on an identified face."""

CURVED_STEPS = 60.0
"""The most iterations to 1e-6 where lengths bend the objective and no share of their largest useful weight is known: 20 to 130 as a rule, as
measured."""

LEAST_SHARE = 1e-6
"""The least share of the largest useful weight that predictions tell from others."""

LEAST_STEPS, PASSES_A_STEP = 4.0, 1.8
"""Accelerated gradient steps of a penalty so strong that the solution is 0, and the data passes of one."""

STEPS_OF_STIFFNESS = 2.0
"""Accelerated gradient steps to 1e-6 on smoothed signals in intervals, over the root of L / mu: with 500 to 10,000 unknowns and conditions of 17 to
160,000 it was 1.7 to 6, with the Newton steps at the end. In an l1 ball, measured once, it was 35."""

BENT_STEPS, BENT_POWER, BENT_MOST = 6.0, 0.7, 30.0
"""The iterations to 1e-6 where lengths bend the objective, by (1 - s) / s for a share s of the largest useful weight: a length of that weight has
a curvature of about s / (1 - s) times the mean one of the losses. Measured on 24 problems at six shares from 0.9 to 0.01: 10 to 50 passes at one
half, 35 to 310 at a tenth. With more rows than unknowns losses of bounded curvature bend by themselves, and there are at most `BENT_MOST` times the
root of L over the mean curvature."""

SOUGHT_STEPS = {"wide": 6.5, "tall": 1.6, "classes": 10.0}
"""The same until the support of a norm with corners is found, with more unknowns than rows or fewer: 8 to 20 passes at one half, and 35 to 65 or
12 to 40 at a tenth. With losses of rows of predictions, the Newton steps on the support included, 35 to 55 and 65 to 180."""

SINGULAR_STEPS = {"norm": 35.0, "ball": 15.0}
"""Iterations to 1e-6 with a norm of singular values and in a ball of one, as measured: 20 to 65 and 9 to 22, whatever the sizes and weights."""

OF_A_MATRIX, NS_PER_CUBE = 6e-5, 4.0
"""Seconds of the decompositions of a matrix in an iteration, of any size, and nanoseconds for each entry and row or column, whichever are fewer:
small ones are decomposed up to three times, for conjugates and bounds too."""

SPECTRAL = {name for words in (SETS, CONVEX) for name, word in words.items() if word.certificate == "rigorous"}
"""The sets and functions whose proxes decompose a matrix."""

FIRST_PASSES, PASSES_OF_ROOT, MOST_PASSES = 20.0, 8.0, 350.0
"""Data passes to 1e-6 of free variables with a ridge whose Newton steps are by conjugate gradients, for they are too many for a factor: so many, and
so many times the root of the condition number, up to the last. 14 to 375 were measured, with conditions of 1 to 25,000."""

CONE_STEPS = 120.0
"""Iterations to 1e-6 in a cone of matrices where no ridge tells: 70 to 260, as measured."""

CONES = {name for name, word in SETS.items() if word.spectrum and (word.cone == "psd" or not word.compact)}
"""The cone of matrices and the sets that lie in it, on whose faces first-order methods turn slowly."""

OVERHEAD = 120e-6
"""Seconds an iteration costs whatever the size: calls of kernels from Python."""


NS_PER_ASSIGNED = 1.0
"""A row, a column and a candidate of an assignment of least cost: 0.5 to 1.2 on random costs with 30 to 700 rows."""

NS_PER_BYTE_THERE = 5e-4
"""A byte of a matrix that a device multiplies: an H100, as `benchmarks/cuda.py` measures it."""

NS_PER_NUMBER_MOVED = 0.9
"""A number of a vector that a product moves to the device or back."""

PRODUCT_THERE = 60e-6
"""Seconds of a product on a device, whatever the size."""

TAKEN: ContextVar[float] = ContextVar("seconds of products with data, over those of the host", default=1.0)
"""The cost of products with data where they are taken, over that on the host: the planner sets it for methods that use a device."""


def on_device(shape: tuple[int, int], nbytes: float) -> float:
    """Predicted seconds of a product with a matrix on a device."""
    return PRODUCT_THERE + 1e-9 * (NS_PER_BYTE_THERE * nbytes + NS_PER_NUMBER_MOVED * sum(shape))


REFERENCE_BLOCK, REFERENCE_VECTORS = 1 << 16, 10
"""Samples that the references of losses look at together, and the temporary vectors that they have of them."""

FLOAT32_BLOCK = 1 << 21
"""Numbers of single precision that the verifier makes double at a time."""


def seconds(canonical: Canonical, passes: float, iterations: float) -> float:
    """Predicted seconds of some passes and iterations on one thread."""
    per_pass, per_iteration = _nanoseconds(canonical)
    return 1e-9 * (passes * (per_pass * TAKEN.get()) + iterations * per_iteration) + iterations * OVERHEAD


@once_per_form
def _nanoseconds(canonical: Canonical) -> tuple[float, float]:
    """The nanoseconds of a pass over data on the host, and of what else an iteration does."""
    stats = canonical.instance.stats
    dense = sum(s.nnz for s in stats.values() if s.storage == "dense")
    sparse = sum(s.nnz for s in stats.values() if s.storage == "csr")
    share = dense / max(1, dense + sparse)
    per_pass = canonical.nnz * (share * NS_PER_NONZERO["dense"] + (1 - share) * NS_PER_NONZERO["csr"])
    values = canonical.instance.values
    # of workers the count is left out: the method, and the bits of the answer, do not depend on it
    read = (s for name, s in stats.items() if is_on_disk(values[name]) and not is_held(values[name]))
    per_pass += NS_PER_BYTE_READ * sum(s.nbytes for s in read)
    per_pass += NS_PER_PRODUCT * sum(m.nnz * (m.repeats - 1) for t in canonical.terms for _, m in t.map.parts)
    samples = sum(t.f.size * t.f.loss.nanoseconds for t in canonical.terms if isinstance(t.f, LossFunction))
    samples += sum(NS_PER_SCORE * t.map.rows for t in canonical.terms if isinstance(t.f, VectorLossFunction))
    return per_pass, 1.7 * samples + NS_PER_COORDINATE * canonical.size


@once_per_form
def decompositions(canonical: Canonical) -> float:
    """Predicted seconds of the singular values and eigenvalues of an iteration."""
    functions = [b.g for b in canonical.blocks] + [t.f for t in canonical.terms if isinstance(t.f, VectorFunction)]
    return sum(map(_decomposition, functions))


def _decomposition(g: VectorFunction) -> float:
    """The seconds of an iteration in which a function decomposes its matrices; 0 of one that has none."""
    matrices = 1
    while isinstance(g, OfInner):
        matrices *= getattr(g, "count", 1)
        g = g.inner
    if not hasattr(g, "decompose"):
        return 0.0
    n, d = g.shape  # type: ignore[attr-defined]
    return float(matrices * (OF_A_MATRIX + 1e-9 * NS_PER_CUBE * n * d * min(n, d)))


@once_per_form
def has_singular_values(canonical: Canonical) -> bool:
    """True if norms or balls of singular values are on the variables, and no cone of matrices, on whose faces steps of first order turn slowly."""
    words = {word for b in canonical.blocks for word in b.g.pair if word is not None}
    return not words.isdisjoint(SPECTRAL) and words.isdisjoint(CONES)


def is_of_singular_values(canonical: Canonical) -> bool:
    """True of one smooth loss beside singular values: steps of first order get to 1e-6 in 10 to 100 iterations, as measured."""
    return len(canonical.terms) == 1 and canonical.terms[0].is_smooth and has_singular_values(canonical)


def memory(canonical: Canonical, of_x: float, of_rows: float, passing: float = 0.0) -> float:
    """Bytes of so many vectors of the unknowns and of the predictions, those of the canonical form and of verified points included (as counted
    by `tracemalloc`), of the transposed copy of sparse data, and of the most that is needed for a moment: `passing` by the method, or by a
    product or the verifier."""
    vectors = 8.0 * (of_x * canonical.size + of_rows * sum(t.map.rows for t in canonical.terms))
    return vectors + transposed_copy(canonical) + max(passing, _for_a_moment(canonical))


def _for_a_moment(canonical: Canonical) -> float:
    """Bytes of the largest of: partial sums of A'y, the verifier's blocks of samples, and its blocks of float32 data made float64."""
    samples = max((t.map.rows for t in canonical.terms), default=0)
    worst = [8.0 * REFERENCE_VECTORS * min(samples, REFERENCE_BLOCK)]
    for name, s in canonical.instance.stats.items():
        if s.storage != "dense" or len(s.shape) != 2:
            continue
        value = canonical.instance.values[name]
        by_rows = is_on_disk(value) or bool(value.flags.c_contiguous)
        leaves = max(1, len(dense_leaves(s.shape[0], s.shape[1], not by_rows)))
        if by_rows:
            worst.append(8.0 * s.shape[1] * min(PARTIALS, leaves))
        if s.dtype == "float32":
            worst.append(8.0 * min(s.nnz / leaves, FLOAT32_BLOCK))
    return max(worst)


def _newton(canonical: Canonical) -> float:
    """Bytes of the Gram matrix of a face, its partial sums and copies, or of the vectors of conjugate gradients; a penalty or
    set with corners is taken to leave half of the unknowns free."""
    if not all(isinstance(t.f, LossFunction) for t in canonical.terms):
        return 0.0
    k = sum(b.size / (2.0 if b.g.polyhedral and b.g.pair != (None, None) else 1.0) for b in canonical.blocks)
    if k > MAX_DENSE:
        return 8.0 * 11.0 * canonical.size
    partials = max(1.0, min(PARTIALS, GRAM_NUMBERS // max(1.0, k * k)))
    return 8.0 * ((partials + 4.0) * k * k + 3.0 * BLOCK_NUMBERS)


def transposed_copy(canonical: Canonical) -> float:
    """Bytes of the copies by columns that gather A'y from sparse data given by rows."""
    values, stats = canonical.instance.values, canonical.instance.stats
    return float(sum(s.nbytes for n, s in stats.items() if s.storage == "csr" and not is_on_disk(values[n])))


def turned_copy(canonical: Canonical) -> float:
    """Bytes of the copies by rows of dense data by columns, which methods that take rows one by one have (`Dense.by_rows`)."""
    values, stats = canonical.instance.values, canonical.instance.stats
    arrays = ((s, values[n]) for n, s in stats.items() if s.storage == "dense" and len(s.shape) == 2)
    return float(sum(s.nbytes for s, A in arrays if is_turned(A)))


def with_copy(canonical: Canonical, why: str) -> str:
    """The reason of an estimate, and that memory holds a transposed copy where it does."""
    return f"{why}; keeps a transposed copy of the sparse data" if transposed_copy(canonical) else why


def condition(canonical: Canonical) -> float:
    """A guess of L / mu, 1e4 where there is no ridge, as on the face of a set.

    It is 1 of squared distances from a point. L comes from one product with the data where `Canonical.stretch` has it, else it is a guess of the
    trace; mu is that of the ridge.
    """
    ridge = max((b.g.curvature for b in canonical.blocks), default=0.0)
    if not ridge > 0.0:
        return 1.0 if _is_distance(canonical) else 1e4
    top = canonical.total_stretch if canonical.stretch is None else canonical.stretch
    return max(1.0, top / ridge)


def gauge(g: VectorFunction) -> VectorFunction | None:
    """The norm of a block, its ridge and its set left out; None where there is none, or one of singular values, which costs a decomposition."""
    g = g.inner if isinstance(g, Ridged) else g
    g = g.norm if isinstance(g, Joint) else g
    innermost = g
    while isinstance(innermost, OfInner):
        innermost = innermost.inner
    return g if isinstance(innermost, Norm) else None


@light_dataclass
class Strength:
    """The strength of the norms of a problem: `share` is their weights over the largest useful ones, the least of the blocks; at 1 x is 0.

    `term` is the loss, and `along` its gradient at zero.
    """

    share: float
    term: SumTerm
    along: Array

    @cached_property
    def bend(self) -> float:
        """The curvature of the loss along its gradient at zero, a lower bound of the largest one: a product with the data, and inf or nan where
        numbers overflow."""
        f, along = self.term.f, self.along
        assert isinstance(f, LossFunction | VectorLossFunction)
        with np.errstate(all="ignore"):
            z = self.term.map.linear(along)
            each = z * z if isinstance(f, LossFunction) else (z * z).reshape(f.shape).sum(axis=1)
            return self.term.curvature * float(f.w @ each) / max(float(along @ along), 1e-300)

    @property
    def away(self) -> float:
        """(1 - s) / s for the share s: 0 where the solution is 0, and 1 at half the largest useful weight."""
        return (1.0 - self.share) / max(self.share, LEAST_SHARE)


@once_per_form
def strength(canonical: Canonical) -> Strength | None:
    """The strength of the norms beside one smooth loss of data in memory; None where there are none.

    share = 1 / |K' f'(b)| in the dual of the weighted norm, and at most 1. It takes a product with the transpose of the data. The slopes are those at
    zero without their part along free numbers, one for all predictions or for each column of a matrix of them, as at intercepts of their own where
    the loss is quadratic.
    """
    if len(canonical.terms) != 1:
        return None
    (term,) = canonical.terms
    if not (isinstance(term.f, LossFunction | VectorLossFunction) and term.is_smooth):
        return None
    return None if _is_far(canonical) else _strength(canonical, term.f.gradient)


@once_per_form
def strength_beside_length(canonical: Canonical) -> Strength | None:
    """The same beside the Euclidean norm c |z| of predictions of data, whose slopes are c z / |z|."""
    f = canonical.terms[0].f if len(canonical.terms) == 1 else None
    if not isinstance(f, Norm):
        return None
    c = f.c
    return _strength(canonical, lambda z: z * (c / (norm2(z) or 1.0)))


def _strength(canonical: Canonical, gradient: Callable[[Array], Array]) -> Strength | None:
    """The strength of the norms beside a function of predictions with this gradient."""
    gauges = [(b, gauge(b.g)) for b in canonical.blocks]
    if all(g is None for _, g in gauges):
        return None
    (term,) = canonical.terms
    with np.errstate(all="ignore"):
        slopes = gradient(term.map.offset)
        for block, m in term.map.parts:
            # the columns of such a map meet no sample together, so that K'K 1 are the squares of their lengths
            if block.g.pair == (None, None) and (not block.shape or isinstance(unscaled(m)[1], Tile)):
                squares = m.adjoint(m.apply(np.ones(m.columns)))
                slopes = slopes - m.apply(m.adjoint(slopes) / np.maximum(squares, 1e-300))
        along = canonical.q.copy()
        term.map.adjoint(slopes, along)
        share = min(g.dual_scale(-along[b.slice]) for b, g in gauges if g is not None)
    return Strength(share, term, along) if math.isfinite(share) else None


@once_per_form
def is_over_rows(canonical: Canonical) -> bool:
    """True of one loss over rows of data, or one Euclidean or polyhedral norm of residuals or a ball of theirs, of variables that are vectors.

    A loss that is finite on a set only counts where the predictions of zero are within it, and sets bound all unknowns. Predictions of
    such programs are fitted apart: what is known of them says nothing of programs with several sums, equations or matrices.
    """
    if len(canonical.terms) != 1 or not canonical.terms[0].map.nnz or any(len(b.shape) > 1 for b in canonical.blocks):
        return False
    f = canonical.terms[0].f
    if isinstance(f, LossFunction):
        return not f.loss.has_domain or _starts_within(canonical, f)
    if isinstance(f, VectorLossFunction):
        return False
    norm, on = f.pair
    if norm is None:
        # equations and inequalities are boxes
        return on in SETS and SETS[on].compact and not f.entrywise
    return on is None and norm in CONVEX and (f.polyhedral or CONVEX[norm].euclidean)


@np.errstate(all="ignore")  # slopes at the end of a domain are infinite
def _starts_within(canonical: Canonical, f: LossFunction) -> bool:
    """True if slopes at the predictions of zero are finite and sets bound all unknowns: then `pdhg` takes 120 to 290 passes whatever the sizes, and
    500 to 3,000 and more where zero is at the end of the domain, or predictions go far from there, as measured."""
    bounded = all(math.isfinite(b.g.radius()) for b in canonical.blocks)
    return bounded and bool(np.all(np.isfinite(f.gradient(canonical.terms[0].map.offset))))


def _is_distance(canonical: Canonical) -> bool:
    """True of one quadratic loss of all unknowns as they are, with the same weight: gradient steps end where the first one leads."""
    if len(canonical.terms) != 1 or canonical.nnz > 1 or len(canonical.terms[0].map.parts) != 1:
        return False
    (term,) = canonical.terms
    if not (isinstance(term.f, LossFunction) and term.f.loss.quadratic and float(np.ptp(term.f.w)) == 0.0):
        return False
    return isinstance(unscaled(term.map.parts[0][1])[1], Identity | Symmetrise)


def is_quadratic(canonical: Canonical) -> bool:
    """True if the sum is of losses of entries alone, whose second derivatives are constant."""
    return all(is_quadratic_loss(t) for t in canonical.terms)


def is_quadratic_loss(term: SumTerm) -> bool:
    """True if a term is a loss of entries whose second derivative is constant."""
    return isinstance(term.f, LossFunction) and term.f.loss.quadratic


def apg(canonical: Canonical, tol: float) -> Estimate:
    """2 to 6 times sqrt(kappa) iterations to 1e-6, as measured, and at most 20 to 40, where Newton steps on the identified face take over.

    Singular values and eigenvalues have no such faces, nor have lengths, whose own curvature serves instead: the more, the larger their
    weights are (`strength`).
    """
    digits = max(1.0, -math.log10(tol)) / 6.0
    finishes = all(b.g.has_faces for b in canonical.blocks)
    rate = 4.0 * math.sqrt(condition(canonical))
    bends = not any(word in SPECTRAL for b in canonical.blocks for word in b.g.pair)
    most = 25.0 if finishes else CURVED_STEPS
    if not bends:
        on_ball = any(b.g.pair[1] in SPECTRAL for b in canonical.blocks)
        most = SINGULAR_STEPS["ball" if on_ball else "norm"] if has_singular_values(canonical) else CONE_STEPS
    known = _by_strength(canonical, finishes) if bends else None
    stiff = _stiffness(canonical)
    iterations = min(most if known is None else known, rate) * digits + LEAST_STEPS
    if stiff is not None:
        # faces of smoothed signals settle late
        iterations = STEPS_OF_STIFFNESS * math.sqrt(stiff) * digits + LEAST_STEPS
    if _is_distance(canonical):
        # one step ends at the nearest point
        iterations = LEAST_STEPS
    passes = PASSES_A_STEP * iterations
    if is_by_gradients(canonical):
        passes = min(FIRST_PASSES + 0.25 * PASSES_OF_ROOT * rate, MOST_PASSES) * digits
    if finishes and known is None and _has_classes(canonical):
        # f'' of rows of predictions is applied, never formed
        passes += 2.0 * FACE_STEPS * min(CG_STEPS, 3.0 + rate / 8.0)
    why = f"about {iterations:.0f} iterations of one A x and one A'y{' until Newton steps on the support finish' if finishes else ''}"
    searched = sum(b.size for b in canonical.blocks if b.g.pair[1] in SETS and SETS[b.g.pair[1]].threshold)
    return Estimate(
        passes,
        seconds(canonical, passes, iterations)
        + (1e-9 * NS_PER_THRESHOLD * searched + decompositions(canonical)) * iterations,
        memory(canonical, 9, 7, _newton(canonical)),
        with_copy(canonical, why),
    )


@once_per_form
def _stiffness(canonical: Canonical) -> float | None:
    """L / mu of quadratic losses of maps without data, as those of differences beside one of the unknowns themselves; None of others.

    L is at most the largest row sum of sum_i |K_i|'diag(w f'') |K_i|, and mu at least the least weight of an unknown as it is.
    """
    if not canonical.terms or not all(
        is_quadratic_loss(t) and not any(m.nnz for _, m in t.map.parts) for t in canonical.terms
    ):
        return None
    ones, most, least = np.ones(canonical.size), np.zeros(canonical.size), np.zeros(canonical.size)
    for block in canonical.blocks:
        most[block.slice] = least[block.slice] = block.g.curvature
    for term in canonical.terms:
        assert isinstance(term.f, LossFunction)
        weight = term.curvature * term.f.w
        rows = sum((m.absolute().apply(ones[b.slice]) for b, m in term.map.parts), np.zeros(term.map.rows))
        for block, m in term.map.parts:
            most[block.slice] += m.absolute().adjoint(weight * rows)
            factor, inner = unscaled(m)
            if isinstance(inner, Identity) and len(term.map.parts) == 1:
                least[block.slice] += factor**2 * weight
    mu = float(least.min(initial=math.inf))
    return max(1.0, float(most.max()) / mu) if mu > 0.0 and math.isfinite(mu) else None


def is_by_gradients(canonical: Canonical) -> bool:
    """True of losses of entries of free variables that are too many for the factor of a Newton step: conjugate gradients take it, in passes."""
    free = all(b.g.pair == (None, None) for b in canonical.blocks)
    return free and canonical.size > MAX_DENSE and all(isinstance(t.f, LossFunction) for t in canonical.terms)


def _has_classes(canonical: Canonical) -> bool:
    return any(isinstance(t.f, VectorLossFunction) for t in canonical.terms)


def _by_strength(canonical: Canonical, finishes: bool) -> float | None:
    """The iterations to 1e-6 by the strength of the norms; None where they do not hang on it, or it is not known."""
    ranks = canonical.size <= sum(t.map.rows for t in canonical.terms)
    # where the Gram matrix of all columns serves, others are faster however strong the norm is
    known = None if finishes and ranks and is_quadratic(canonical) else strength(canonical)
    if known is None or not math.isfinite(known.bend):
        return None
    # L over the mean curvature, 4 where it is not known, as with as many random rows as unknowns
    mean = canonical.total_stretch / canonical.size
    spread = min(max(1.0, known.bend / mean), float(canonical.size)) if mean > 0.0 else 4.0
    if finishes:
        kind = "classes" if _has_classes(canonical) else "tall" if ranks else "wide"
        return SOUGHT_STEPS[kind] * math.sqrt(known.away) * math.pow(spread, 0.25)
    found = BENT_STEPS * math.pow(known.away, BENT_POWER) * math.pow(spread, 0.25)
    return min(found, BENT_MOST * math.sqrt(spread)) if ranks and mean > 0.0 else found


@once_per_form
def is_at_vertex(canonical: Canonical) -> bool:
    """True if one smooth loss of data in memory is least at the vertex of its sets that the gradient at zero points to, as in a small enough ball.

    The gradient at the vertex then points to the same one, so the gap is 0. It takes two products with the data and two with their transpose.
    """
    if len(canonical.terms) != 1 or any(isinstance(b.g, OfInner) for b in canonical.blocks):
        return False
    if not all(b.g.pair[0] is None and b.g.polyhedral for b in canonical.blocks):
        return False
    if any(b.g.curvature > 0.0 or not math.isfinite(b.g.radius()) for b in canonical.blocks) or _is_far(canonical):
        return False
    (term,) = canonical.terms
    if not (isinstance(term.f, LossFunction | VectorLossFunction) and term.is_smooth):
        return False
    x = found = np.zeros(canonical.size)
    with np.errstate(all="ignore"):
        for _ in range(2):
            along = canonical.q.copy()
            term.map.adjoint(term.f.gradient(term.map.apply(x)), along)
            corners = [b.g.lmo(along[b.slice]) for b in canonical.blocks]
            if not np.all(np.isfinite(along)) or any(corner is None for corner in corners):
                return False
            found, x = x, np.concatenate([corner for corner in corners if corner is not None])
    return bool(np.array_equal(found, x))


def _is_far(canonical: Canonical) -> bool:
    """True if data stay on their disk or with workers: a product with them is no small part of a solve."""
    return any(is_on_disk(v) or is_held(v) for v in canonical.instance.values.values())


@once_per_form
def is_linear(canonical: Canonical) -> bool:
    """True if the objective is linear where it is finite: the vertex that it points to is a solution."""
    return all(t.is_indicator for t in canonical.terms) and not any(
        b.g.curvature > 0.0 or b.g.pair[0] is not None for b in canonical.blocks
    )


def fw(canonical: Canonical, tol: float) -> Estimate:
    """10/sqrt(tol) iterations as a rule, as measured; 1/tol where the gap falls like 1/k.

    That is so on the Birkhoff polytope (measured at sizes 6 to 100 and gaps of 1e-1 to 1e-3) and on a hull: both have an indicator in the sum. With a
    linear objective the first vertex is the solution, on the Birkhoff polytope the assignment of least cost.
    """
    worst = any(t.is_indicator for t in canonical.terms)
    iterations = 1.0 / tol if worst else 10.0 / math.sqrt(tol)
    why = f"about {iterations:.0f} iterations: its gap falls like {'1/k' if worst else '1/k to 1/k^2'}"
    oracle = 0.0
    if is_linear(canonical):
        iterations, why = 2.0, "two iterations: the vertex that the linear objective points to is the solution"
        oracle = 1e-9 * NS_PER_ASSIGNED * canonical.size**1.5 if worst else 0.0
    elif is_at_vertex(canonical):
        iterations, why = 2.0, "two iterations: the vertex that the gradient at zero points to is the solution"
    passes = 2.0 * iterations
    return Estimate(
        passes,
        seconds(canonical, passes, iterations) + oracle * iterations,
        memory(canonical, 5, 6.5),
        with_copy(canonical, why),
    )
