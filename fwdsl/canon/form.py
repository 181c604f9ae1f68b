"""The canonical form: min over x of sum_i f_i(K_i x + b_i) + sum_B g_B(x_B) + <q, x> + constant.

x is the concatenation of the blocks, one a variable. Each f_i is a `LossFunction` (its coefficient and 1/n are in its weights) or a
`VectorFunction` (a norm with its coefficient, or the indicator of a set); each K_i is a linear map, given per block; g_B is the one
(norm, set) pair on a block for which a joint prox is registered, with its ridge c |x|^2. A `maximize` program is negated: `sense` is -1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ..atoms.base import Array, VectorFunction
from ..atoms.conic import Conic
from ..atoms.loss import LossFunction
from ..atoms.vector_loss import VectorLossFunction
from ..bind.instance import Instance
from ..features.gram import GramOperator
from ..grammar.diagnostic import Diagnostic
from ..light_dataclass import light_dataclass
from ..words import CONVEX
from .chains import Chain, chains_of
from .combined_maps import unscaled
from .data_maps import Matrix
from .kinds import NO_EXPANSION, NO_VALUES, FormKind
from .matrix_maps import LeftMultiply
from .parts import Block, SumTerm

if TYPE_CHECKING:
    from .factored import Factored

R = TypeVar("R")

LOW_RANK = 0.25
"""The share of the samples that a small feature space has at most: methods that write its coordinates down are then as good."""


@light_dataclass
class Canonical:
    """The canonical form of an instance, with what is needed to speak of it in the user's words.

    `size_of_affine` is the sum of the sizes of the affine terms at zero; `constraint_place[i]` tells where constraint i went,
    ("block", B) or ("term", i): to several places where its set is an intersection, to none where it says nothing. `factored` is the form
    that keeps the one matrix variable as factors, `expansion` that of one function over an implicit feature map, where it has one.
    `contradiction` is set where the numbers alone show that no point meets the constraints: FW5010, whose message is the proof. Each
    constraint is a term of its own then.
    """

    instance: Instance
    blocks: tuple[Block, ...]
    terms: tuple[SumTerm, ...]
    q: Array
    constant: float
    sense: int
    size_of_affine: float
    facts: tuple[str, ...] = ()
    constraint_place: Sequence[tuple[tuple[str, int], ...]] = ()
    factored: Factored | None = None
    expansion: Expansion | None = None
    contradiction: Diagnostic | None = None

    @property
    def size(self) -> int:
        return self.q.size

    @cached_property
    def nnz(self) -> int:
        """Stored numbers that one pass over all maps touches: the unit of a data pass."""
        return max(1, sum(t.map.nnz for t in self.terms))

    @cached_property
    def worked_out(self) -> dict[str, Any]:
        """The values that `once_per_form` keeps."""
        return {}

    @cached_property
    def scale(self) -> float:
        """The sum of the sizes of the objective's finite terms at zero: a part of S ("What an answer promises" in docs/language.md)."""
        sizes = [
            t.f.size_at(t.map.offset) if isinstance(t.f, LossFunction) else abs(t.f.value(t.map.offset))
            for t in self.terms
            if not t.is_constraint
        ]
        return self.size_of_affine + math.fsum(s for s in sizes if math.isfinite(s))

    @cached_property
    def missed_at_zero(self) -> tuple[Array, ...]:
        """The way from the arguments at zero into the epigraphs, an array a term, empty of what is none: a part of S.

        Below a bound a function is not 0 where the bound is, as it would not be in the objective.
        """
        return tuple(_missed_at_zero(t) for t in self.terms)

    @cached_property
    def stretch(self) -> float | None:
        """A guess of L = sigma_max(K' diag(w f'') K), the curvature of one loss of one matrix in memory times a variable; None for other problems.

        It is the Rayleigh quotient at the squared norms of the columns, which bind has measured: a lower bound, for one product with the data.
        On the data sets of docs/papers/pdbfw.md L was at most 2.5 times as large. For losses of rows of predictions it is that of one class.
        """
        stats = self.instance.stats
        if len(self.terms) != 1 or any(s.mapped for s in stats.values()):
            return None
        (term,) = self.terms
        if not (isinstance(term.f, LossFunction | VectorLossFunction) and term.is_smooth) or len(term.map.parts) != 1:
            return None
        ((_, m),) = term.map.parts
        factor, m = unscaled(m)
        if not isinstance(m, Matrix if isinstance(term.f, LossFunction) else LeftMultiply) or m.transposed:
            return None
        norms = self.instance.column_norms(m.A)
        if norms is None:
            return None
        with np.errstate(all="ignore"):
            v = norms**2
            v /= max(float(v.max(initial=0.0)), 1e-300)
            z = factor * Matrix(m.A).apply(v)
            if z.shape != term.f.w.shape:  # one loss of all the rows
                return None
            found = term.curvature * float(term.f.w @ (z * z)) / max(float(v @ v), 1e-300)
        return found if math.isfinite(found) else None

    @cached_property
    def total_stretch(self) -> float:
        """A guess of trace(K' diag(w f'') K) of the smooth losses of entries, in the units of the problem. L is at most the trace.

        Of matrices in memory it comes from the norms of columns and the mean weight, of other maps from one product with random signs, of
        feature maps that are not written down from the length of the longest row.
        """
        stats = self.instance.stats
        losses = [(t, t.f) for t in self.terms if isinstance(t.f, LossFunction) and t.is_smooth]
        with np.errstate(all="ignore"):
            if any(s.mapped for s in stats.values()):
                largest = max((s.largest_row_norm for s in stats.values()), default=1.0)
                factors = [max((abs(unscaled(m)[0]) for _, m in t.map.parts), default=0.0) for t, _ in losses]
                each = [float(f.w.sum() * np.square(largest * c)) for (_, f), c in zip(losses, factors, strict=True)]
            else:
                each = [self._of_signs(t, f.w) for t, f in losses]
            found = sum(t.curvature * size for (t, _), size in zip(losses, each, strict=True))
        return float(found) if math.isfinite(found) else math.inf

    def _of_signs(self, term: SumTerm, w: Array) -> float:
        """A guess of trace(K' diag(w) K) of a term: the sum of those of its blocks."""
        total, left = 0.0, []
        for block, m in term.map.parts:
            factor, inner = unscaled(m)
            norms = None
            if isinstance(inner, Matrix) and not inner.transposed:
                norms = self.instance.column_norms(inner.A)
            if norms is None and m.columns == 1:
                total += float(w @ np.square(m.apply(np.ones(1))))
            elif norms is None:
                left.append((block, m))
            else:
                total += float(factor * factor * (norms @ norms) * (w.sum() / w.size if w.size else 0.0))
        if left:
            signs = np.random.default_rng(0).choice([-1.0, 1.0], self.size)
            z = sum((m.apply(signs[b.slice]) for b, m in left), np.zeros(term.map.rows))
            total += float(w @ (z * z))
        return total

    @cached_property
    def has_losses_on_sets(self) -> bool:
        """True if a loss or a function is finite on a set only, as a logarithm is: then an iterate may be where the objective is infinite."""
        return any(
            t.f.loss.has_domain
            if isinstance(t.f, LossFunction)
            else isinstance(t.f, VectorFunction) and t.domain is not None and not t.is_indicator
            for t in self.terms
        ) or any(b.g.pair[0] in CONVEX and CONVEX[b.g.pair[0]].domain for b in self.blocks)

    @cached_property
    def leaves_equalities(self) -> bool:
        """True if the dual has equalities K'y + q = 0 for some block: nothing bounds its variable, or grows with it, but the terms."""
        return not all(
            b.g.coercive() is not None or b.g.curvature > 0.0 or math.isfinite(b.g.radius()) for b in self.blocks
        )

    @cached_property
    def conics(self) -> tuple[Conic | None, ...]:
        """The conic forms of the terms and then of the blocks; None of those that have none. The planner and the method ask for them."""
        return tuple(f.conic() for f in (*(t.f for t in self.terms), *(b.g for b in self.blocks)))

    @cached_property
    def chains(self) -> tuple[tuple[Chain, ...], str]:
        """The differences of neighbours that the terms are of, or why there is no exact prox along lines (`chains.chains_of`)."""
        return chains_of(self.terms, self.blocks)

    @property
    def dense(self) -> Canonical:
        """This form: it writes every variable down."""
        return self

    def __repr__(self) -> str:
        # min over the blocks of the sum, a line a term, then g of each block with what moved out of it
        names = ", ".join(f"{b.name} in R^{b.size}" if b.shape else f"{b.name} in R" for b in self.blocks)
        lines = [f"minimise over {names}"]
        for term in self.terms:
            lines.append(f"  f  {_term(term)}")
        for block in self.blocks:
            note = f"   (moved into the sum: {', '.join(block.in_sum)})" if block.in_sum else ""
            lines.append(f"  g  {block.name}: {block.text}{note}")
        if self.q.any():
            lines.append(f"  q  a linear term with {int((self.q != 0).sum())} nonzero coefficients")
        if self.constant:
            lines.append(f"  c  {self.constant:g}")
        if self.sense < 0:
            lines.append("  (the negative of the program's objective, which is maximised)")
        return "\n".join(lines)

    def split(self, x: Array) -> Mapping[str, object]:
        """The variables' values by name, in their shapes; scalars as floats."""
        return {b.name: b.decoded(x) for b in self.blocks if not b.auxiliary}

    def why_not(self, kind: FormKind) -> tuple[str, ...]:
        """The numbers bound may leave no other form."""
        if kind == "expansion":
            return (NO_EXPANSION,) if self.expansion is None else ()
        return (NO_VALUES,) if kind == "factored" and self.factored is None else ()

    def at_hand(self, kind: FormKind) -> Canonical:
        return self

    def auxiliary(self, x: Array) -> Mapping[str, object]:
        """The values of auxiliary blocks, by name."""
        return {b.name: b.decoded(x) for b in self.blocks if b.auxiliary}

    def dual_sizes(self, parts: Sequence[Any]) -> list[int]:
        """The rows of the terms, whatever the point."""
        return [term.map.rows for term in self.terms]

    def join(self, values: Mapping[str, object]) -> Array:
        """The flat x of values by name (zeros for a missing one)."""
        x = np.zeros(self.size)
        for b in self.blocks:
            if b.name in values:
                x[b.slice] = b.encoded(values[b.name])
        return x


def _missed_at_zero(term: SumTerm) -> Array:
    """The way from the argument at zero into an epigraph; empty of what is none, and where it is not finite."""
    if isinstance(term.f, VectorFunction) and term.f.bounds_number > 0:
        with np.errstate(all="ignore"):
            way = np.abs(term.map.offset - term.f.prox(term.map.offset, 1.0))
        if np.isfinite(way).all():
            return way
    return np.zeros(0)


def _term(term: SumTerm) -> str:
    shape = f"{term.map.rows} rows, {term.map.nnz:,} stored numbers"
    if isinstance(term.f, LossFunction | VectorLossFunction):
        kind = "smooth" if term.is_smooth else "nonsmooth, with a prox"
        return f"{term.f.name}({term.map.describe()}; {shape}): {kind}"
    return f"{term.f.describe()} of {term.map.describe()} ({shape}): {'indicator' if term.is_indicator else 'norm'}"


@light_dataclass
class Offset:
    """The intercept b of predictions: d times b is added to each, and q b to the objective."""

    name: str
    d: float
    q: float


@light_dataclass
class Expansion:
    """The problem that `expansion.py` states, in the sense of minimisation. A point is the vector of a and, behind it, b."""

    instance: Instance
    name: str
    gram: GramOperator
    c: float
    mu: float
    f: LossFunction
    offset: Array
    intercept: Offset | None
    constant: float
    sense: int
    scale: float
    term: SumTerm
    make_dense: Callable[[], Canonical | None]
    factored: ClassVar[None] = None
    contradiction: ClassVar[None] = None

    @cached_property
    def dense(self) -> Canonical | None:
        """The problem in coordinates of the span of the samples' features, for which K is factored; None where that takes too much memory."""
        found = self.make_dense()
        if found is not None:
            object.__setattr__(found, "expansion", self)
        return found

    @property
    def expansion(self) -> Expansion:
        return self

    @property
    def n(self) -> int:
        return self.f.size

    @property
    def size(self) -> int:
        return self.n + (self.intercept is not None)

    @property
    def terms(self) -> tuple[SumTerm, ...]:
        return (self.term,)

    @property
    def is_small_space(self) -> bool:
        """True if the space of features is small beside the number of samples."""
        return self.gram.dimension <= LOW_RANK * self.n

    def why_not(self, kind: FormKind) -> tuple[str, ...]:
        """There are no factors, and that of the Gram matrix may be too large."""
        if kind == "dense" and self.__dict__.get("dense", self) is None:
            return ("its Gram matrix has a factor that memory does not hold",)
        return (NO_VALUES,) if kind == "factored" else ()

    def at_hand(self, kind: FormKind) -> Expansion | Canonical | None:
        """This form for its methods; for others the dense one, where it is there already."""
        return self if kind == "expansion" else self.__dict__.get("dense")

    def parts(self, x: Array) -> tuple[Array, float]:
        """a and b, which is 0 where there is none."""
        return x[: self.n], float(x[self.n]) if self.intercept is not None else 0.0

    def joined(self, a: Array, b: float) -> Array:
        """The point of a and b."""
        return np.append(a, b) if self.intercept is not None else a

    def split(self, x: Array) -> Mapping[str, object]:
        """The expansion coefficients and the intercept by their names."""
        a, b = self.parts(x)
        return {self.name: a.copy(), **({self.intercept.name: b} if self.intercept is not None else {})}

    def auxiliary(self, x: Array) -> Mapping[str, object]:
        return {}

    def dual_sizes(self, parts: Sequence[Any]) -> list[int]:
        """A slope for each sample."""
        return [self.n]

    def __repr__(self) -> str:
        n, free = self.n, self.intercept
        b = "" if free is None else f" + {free.name}"
        c = "" if self.c == 1.0 else f"{self.c:g} * "
        lines = [
            f"minimise over {self.name} by its {n:,} expansion coefficients" + (f", {free.name} in R" if free else ""),
            f"  f  {self.f.name}({c}{self.gram.kernel.word.name} features @ {self.name}{b}; {n:,} rows)",
            f"  g  {self.name}: {0.5 * self.mu:g} * sum_squares, by rows of the Gram matrix as they are needed",
        ]
        lines += [f"  q  {free.q:g} * {free.name}"] if free is not None and free.q else []
        lines += [f"  c  {self.constant:g}"] if self.constant else []
        lines += ["  (the negative of the program's objective, which is maximised)"] if self.sense < 0 else []
        return "\n".join(lines)


def once_per_form(fn: Callable[[Canonical], R]) -> Callable[[Canonical], R]:
    """`fn(canonical)`, worked out once for each form, which never changes. Nobody may change the result."""
    name = f"{fn.__module__}.{fn.__qualname__}"

    @wraps(fn)
    def known(canonical: Canonical) -> R:
        kept = canonical.worked_out
        if name not in kept:
            kept[name] = fn(canonical)
        found: R = kept[name]
        return found

    return known
