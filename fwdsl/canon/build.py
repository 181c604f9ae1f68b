"""Fills an arrangement with the numbers of an instance."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..atoms.base import VectorFunction
from ..atoms.family import Repeated
from ..atoms.loss import LossFunction
from ..atoms.losses import VECTOR_LOSSES
from ..atoms.vector_loss import VectorLossFunction
from ..atoms.vectors import Ridged
from ..bind.features import nodes_of
from ..bind.instance import Instance
from ..features.factor import GramFactor
from ..grammar.diagnostic import Diagnostic
from ..model import ConstraintDecl, Expr, Model, Term, Type, VarDecl, once_per_model, sizes_of
from ..words import BOX, CONVEX, SETS
from .affine import AffineReader, Asymmetric, NotFinite, Unsupported
from .arrange import Arrangement, BlockPlan, SumPlan, arrange
from .combined_maps import compose
from .data_maps import Matrix
from .emptiness import Empty, Region, check_box, check_meeting
from .expansion import expansion_of, unexpanded
from .factored import LARGEST_DENSE_FORM, StoredLoss, factored_form, require_factored
from .form import Canonical, Expansion
from .forms import Form
from .groups import overlapping, regrouped, weightless
from .indicators import IndicatorReader, epigraph, mapped, rows_epigraph
from .pairs import build, has_given_bounds, innermost, key_of
from .parts import Block, Stacked, SumTerm
from .reach import check_reach
from .rewrites.form import Rewritten, rewritten_instance
from .scores import take_first_scores, take_scores
from .sets import BadArguments, SetReader
from .squares import complete_squares, root_of_form
from .terms import bare_factor, labels_of_signs, loss_function, samples_of
from .too_large import refused, too_large
from .units import measure_in_own_size

LARGEST_FACTOR = 8_000_000_000
"""Bytes of the factor of a Gram matrix."""


@np.errstate(all="ignore")  # sizes at the ends of the range overflow in products; what has to be finite is looked at
def canonicalise(instance: Instance) -> tuple[Form | None, tuple[Diagnostic, ...]]:
    """The canonical form of an instance, beside that of an equivalent program where it is solved as one (`rewrites`).

    FW5001 where it takes more memory than this version spends, FW5011 where a number is not finite, FW5012 where an argument does not fit.
    Where a set is empty, or sets do not meet, the form says so in its `contradiction`.
    """
    roots: dict[int, Matrix] = {}
    form, found = as_written(instance, roots)
    other = rewritten_instance(instance)
    if other is None or not isinstance(form, Canonical) or form.contradiction is not None or form.factored is not None:
        return form, found
    inner, _ = as_written(other, roots)
    if not isinstance(inner, Canonical) or inner.contradiction is not None:
        return form, found
    # the way back leads from points that are written down
    return Rewritten.of(form, replace(inner, factored=None)) or form, found


def as_written(
    instance: Instance, roots: dict[int, Matrix] | None = None
) -> tuple[Form | None, tuple[Diagnostic, ...]]:
    """The canonical form of a program as it is written, only the factored one where its variable is too large to write down.

    `roots` keeps those of quadratic forms for another form of the same data.
    """
    apart = weightless(instance)
    arrangement = arrange(instance.model, apart)
    try:
        factored = factored_form(instance, arrangement)
        if factored is not None and (factored.size > LARGEST_DENSE_FORM or isinstance(factored.f, StoredLoss)):
            return factored, ()
        if factored is None:
            require_factored(instance, arrangement)
        expansion = _expansion(instance, arrangement, apart)
        if expansion is not None:
            return expansion, ()
        refusal = too_large(instance, arrangement) if factored is None else None
        if refusal is not None:
            return None, (refusal,)
        try:
            form = _Builder(instance, arrangement, apart, roots=roots).build()
            return form if factored is None else replace(form, factored=factored), ()
        except Empty as error:
            return _contradicted(instance, apart, error), ()
    except (Asymmetric, Unsupported, NotFinite, BadArguments) as error:
        return None, (refused(instance, error),)


def _expansion(instance: Instance, arrangement: Arrangement, apart: frozenset[tuple[str, int]]) -> Expansion | None:
    """The form by expansion coefficients, where the program has one. The dense form, whose Gram matrix is factored, waits until it is asked for."""
    if unexpanded(arrangement):
        return None

    def dense() -> Canonical | None:
        try:
            return _Builder(instance, arrangement, apart).build()
        except Unsupported:
            return None

    return expansion_of(_Builder(instance, arrangement, apart, expanded=True).build(), dense)


def _contradicted(instance: Instance, apart: frozenset[tuple[str, int]], error: Empty) -> Canonical:
    """The form of constraints that no point meets. Each of them is a term of its own, because no block can keep them all."""
    apart |= {("constraint", i) for i in range(len(instance.model.constraints))}
    contradiction = Diagnostic(
        "FW5010",
        error.message,
        span=error.span,
        source=instance.model.source,
        rule="No point meets constraints that contradict each other.",
        hint="check the values bound to their parameters",
        severity="warning",
    )
    form = _Builder(instance, arrange(instance.model, apart), apart, empty=True).build()
    return replace(form, contradiction=contradiction)


@once_per_model
def _products_with_maps(model: Model) -> tuple[Expr, ...]:
    """The products of a feature map with variables."""
    return tuple(node for node in nodes_of(model, "matmul") if node.args[0].type.is_features)


class _Builder:
    """Builds the canonical form of an instance; `empty` says that no point meets the constraints.

    Where it is `expanded` the variables over implicit feature maps are their expansion coefficients, which only `Expansion` makes sense of.
    """

    def __init__(
        self,
        instance: Instance,
        arrangement: Arrangement,
        apart: frozenset[tuple[str, int]],
        empty: bool = False,
        expanded: bool = False,
        roots: dict[int, Matrix] | None = None,
    ) -> None:
        self.instance = instance
        self.model = instance.model
        self.arrangement = arrangement
        self.sense = 1 if self.model.sense == "minimize" else -1
        self.reader = AffineReader(instance, {})
        self.apart = apart
        self.empty, self.expanded = empty, expanded
        self.roots = roots if roots is not None else {}
        self.sets = SetReader(self.reader)
        self.indicators = IndicatorReader(self.reader, self.sets, empty)

    def build(self) -> Canonical:
        blocks: list[Block] = []
        start, of_factors = 0, 0.0
        bases = self._bases()
        if not self.empty:
            self._check_sets()
        for plan in self.arrangement.blocks:
            shape = sizes_of(plan.type, self.instance.dims)
            basis = bases.get(plan.name)
            if basis is not None:
                shape = (basis.rank, *shape[1:])
            size = math.prod(shape)
            g = self._block_function(plan, shape)
            of_factors += self._of_factors(plan, shape)
            stop, symmetric = start + size, plan.type.is_symmetric
            blocks.append(
                Block(plan.name, start, stop, shape, g, g.describe(), plan.in_sum, basis=basis, symmetric=symmetric)
            )
            start = stop
        for i in self.arrangement.lifted:
            blocks.append(self.indicators.weights_of_vertices(self.model.constraints[i], start))
            start = blocks[-1].stop
        self.reader.blocks = {b.name: b for b in blocks}
        terms = [t for t in (self._sum_term(s) for s in self.arrangement.sums) if t is not None]
        if not self.empty:
            told = {plan.name: self._kept(plan) for plan in self.arrangement.blocks}
            for made in terms:
                check_reach(made, told)
        scored = take_scores(self.reader, self.model, terms, self.arrangement.linear, self.sense)
        q, constant = np.zeros(start), of_factors
        for i in scored.linear:
            term = self.model.terms[i]
            c = self.sense * self.reader.scalar(term.coefficient)
            stacked = self.reader.stacked(term.argument)
            stacked.adjoint(np.array([c]), q)
            constant += c * float(stacked.offset[0])
        constant += complete_squares(self.model, terms, q) + take_first_scores(self.model, terms, q)
        constant += measure_in_own_size(terms, start)
        return Canonical(
            self.instance,
            tuple(blocks),
            tuple(terms),
            q,
            constant,
            self.sense,
            self._size_of_affine(),
            self.arrangement.facts + scored.facts,
            self._places(terms),
        )

    def _bases(self) -> dict[str, GramFactor]:
        """The factor of the Gram matrix of each variable over an implicit feature map; the matrix is computed by blocks and never formed."""
        out: dict[str, GramFactor] = {}
        for node in _products_with_maps(self.model):
            gram = self.reader.constant(node.args[0])
            if id(gram) not in self.reader.factors:
                if not gram.is_finite:
                    raise NotFinite("a Gram matrix that is not finite", node.args[0])
                if self.expanded:
                    continue
                factor = gram.factor(LARGEST_FACTOR)
                if factor is None:
                    what = f"a Gram matrix of {gram.shape[0]:,} samples whose factor needs over 8 GB"
                    raise Unsupported(what, node.args[0])
                self.reader.factors[id(gram)] = factor
            for name in node.args[1].variables:
                out[name] = self.reader.factors[id(gram)]
        return out

    # --- g ----------------------------------------------------------------------------------------------------------

    def _coefficient(self, term: Term) -> float:
        return max(0.0, self.sense * self.reader.scalar(term.coefficient))

    def _slope(self, term: Term) -> float:
        """c of c f(x), for a function of a multiple of the variable x; what a factor in a determinant adds is in `_of_factors`."""
        c = self._coefficient(term)
        return c if CONVEX[term.atom].of_determinant else c * bare_factor(self.reader, term.argument)

    def _of_factors(self, plan: BlockPlan, shape: tuple[int, ...]) -> float:
        """The constant that factors of a variable in its functions leave: c f(k X) - c f(X), of the logarithm of a determinant."""
        left = 0.0
        for term in (self.model.terms[i] for i in plan.norms):
            if CONVEX[term.atom].of_determinant and term.argument.op != "var" and self._coefficient(term) > 0.0:
                norm = self.sets.norm_spec(term, self._coefficient(term))
                found = self.sets.function(norm, None, plan.type, shape, [term.span]).in_units(
                    bare_factor(self.reader, term.argument)
                )
                assert found is not None, "a determinant has units"
                left += found[1]
        return left

    def _block_function(self, plan: BlockPlan, shape: tuple[int, ...]) -> VectorFunction:
        terms = self.model.terms
        c, s = (sum(map(self._slope, (terms[i] for i in ids))) for ids in (plan.norms, plan.besides))
        ridge = 0.0
        for i in plan.ridges:
            factor = bare_factor(self.reader, terms[i].argument)
            ridge += self._coefficient(terms[i]) * factor * factor / samples_of(terms[i], shape)
            if not math.isfinite(ridge):
                raise NotFinite("a coefficient that is not finite", terms[i].argument)
        norms = [(ids, factor) for ids, factor in ((plan.norms, c), (plan.besides, s)) if ids and factor > 0.0]
        norm = self.sets.norm_spec(terms[norms[0][0][0]], norms[0][1]) if norms else None
        constraints = [self.model.constraints[i] for i in plan.sets]
        inner = shape[1:] if plan.type.is_family else shape
        set_ = self.sets.set_spec(plan.set, constraints, math.prod(inner)) if plan.set is not None else None
        if set_ is not None and has_given_bounds(set_[0]) and plan.type.block.is_symmetric:
            # the spec is a box's, whatever the name of the bounds
            lo, hi = set_[1].values()
            set_ = set_[0], self.sets.symmetric_box(lo, hi, inner)
        places = [constraint.span for constraint in constraints] + [terms[i].span for i in plan.norms]
        g = self.sets.function(norm, set_, plan.type, shape, places)
        if len(norms) > 1:
            from ..atoms.vectors.sparse_lengths import with_norm1  # few programs have two norms of a variable

            word = CONVEX[terms[plan.norms[0]].atom]
            g = with_norm1(g, s, inner[0] if word.rows else 1)
        return Ridged(g, ridge) if ridge > 0.0 else g

    def _kept(self, plan: BlockPlan) -> list[str]:
        """The constraints and domains that keep a variable in a set, in the user's words."""
        kept = [f"`{self.model.constraints[i].text}`" for i in plan.sets]
        norms = [self.model.terms[i] for i in plan.norms]
        return kept + [f"the domain of `{term.text}`" for term in norms if CONVEX[term.atom].domain]

    def _check_sets(self) -> None:
        """Raise `Empty` if numbers alone show that a set is empty, or that two sets of one variable do not meet."""
        for c in self.model.constraints:
            if c.set is not None and innermost(c.set).word.given_bounds:
                bounds = self.sets.bounds(innermost(c.set))
                bare = c.set.inner is None and c.argument.op == "var"
                check_box(*bounds, c.text, c.span, self._entry(c.argument.name if bare else "", c.argument.type))
        for variable in self.model.variables:
            own = variable.type.block
            shape = sizes_of(own, self.instance.dims)
            regions = [*self._sets_of(variable), *self._domains_of(variable)]
            if own.is_symmetric:
                regions = [self._symmetric(r, shape) for r in regions]
                for r in regions:
                    if has_given_bounds(r.key):
                        check_box(r.args["lo"], r.args["hi"], r.text, r.span, self._entry(variable.name, variable.type))
            if len(regions) > 1:
                check_meeting(regions, shape, self._entry(variable.name, variable.type))

    def _sets_of(self, variable: VarDecl) -> list[Region]:
        return [
            Region(key_of(c.set), self.sets.own_args(innermost(c.set)), f"`{c.text}`", c.span)
            for c in self.model.constraints
            if c.set is not None and c.argument.op == "var" and c.argument.name == variable.name
            if SETS[innermost(c.set).name].written_as in ("", "rows and columns")
        ]

    def _domains_of(self, variable: VarDecl) -> list[Region]:
        """The domains of terms of the objective: an entropy is of nonnegative numbers."""
        return [
            Region(CONVEX[term.atom].domain, {}, f"the domain of `{term.text}`", term.span)
            for term in self.model.terms
            if term.atom in CONVEX
            and CONVEX[term.atom].domain
            and term.argument.op == "var"
            and term.argument.name == variable.name
            if self._coefficient(term) > 0.0
        ]

    def _symmetric(self, region: Region, shape: tuple[int, ...]) -> Region:
        if not has_given_bounds(region.key):
            return region
        lo, hi = SETS[region.key].bounds_of(region.args, float, np.negative)
        return replace(region, key=BOX, args=self.sets.symmetric_box(lo, hi, shape))

    def _entry(self, variable: str, type_: Type) -> Callable[[int], str]:
        """A function that writes the entry at a flat place of a variable; of a family, that of any block."""
        shape = sizes_of(type_.block, self.instance.dims)

        def name(j: int) -> str:
            if not variable:
                return f"entry {j}"
            if not shape:
                return f"`{variable}`"
            return f"`{variable}[{', '.join(str(int(k)) for k in np.unravel_index(j, shape))}]`"

        return name

    # --- the sum ----------------------------------------------------------------------------------------------------

    def _sum_term(self, plan: SumPlan) -> SumTerm | None:
        """One term of the sum; None where it is 0."""
        if plan.is_constraint:
            constraint = self.model.constraints[plan.origin]
            if constraint.relation == "below":
                f, stacked = self._epigraph(constraint, ("constraint", plan.origin) in self.apart)
                return SumTerm(f, stacked, plan.text, plan.origin, True, constraint.name, constraint.span)
            stacked = self.reader.stacked(constraint.argument)
            found = self.indicators.read(constraint, plan.atom, stacked, ("constraint", plan.origin) in self.apart)
            if found is None:
                return None
            return SumTerm(
                found.f, found.map, plan.text, plan.origin, True, constraint.name, constraint.span, found.side
            )
        term = self.model.terms[plan.origin]
        c = self._coefficient(term)
        if c == 0.0:
            return None
        g: Any
        g, stacked = self._function(term, c, plan.atom, ("term", plan.origin) in self.apart)
        if isinstance(g, LossFunction):
            turned = labels_of_signs(g, stacked)
            if turned is not None:
                g, stacked, signs = turned
                return SumTerm(g, stacked, plan.text, plan.origin, False, term.name, term.span, turned=signs)
        return None if g is None else SumTerm(g, stacked, plan.text, plan.origin, False, term.name, term.span)

    def _function(self, term: Term, c: float, atom: str, apart: bool) -> tuple[Any, Stacked]:
        """c times the function of a term, `atom` being the loss or function that it is, and its argument; None where it is 0."""
        stacked = self.reader.stacked(term.argument)
        if atom in CONVEX and (overlapping(term.options) or apart):
            return self._regrouped(term, c, stacked)
        if atom in CONVEX and term.of_rows:
            return self.sets.of_each_row(term, c, stacked.shape), stacked
        if atom in CONVEX:
            spec = self.sets.norm_spec(term, c)
            return self.sets.function(spec, None, term.argument.type, stacked.shape, [term.span]), stacked
        if atom in VECTOR_LOSSES and term.kind == "function":
            return self._row_loss(term, atom, c, stacked)
        if atom in VECTOR_LOSSES:
            return self._vector_loss(term, c, stacked), stacked
        root_of = CONVEX[term.atom].root_of if term.kind == "function" else ""
        stacked = self._factored(term, root_of, stacked) if root_of else stacked
        return loss_function(self.reader, term, atom, c, stacked.shape), stacked

    def _epigraph(self, constraint: ConstraintDecl, apart: bool) -> tuple[VectorFunction, Stacked]:
        """The set of the bounds and arguments of convex terms, and the map to them."""
        bound, terms = constraint.below
        limit = self.reader.stacked(bound)
        parts: list[tuple[Any, Stacked]] = []
        for term in terms:
            c = max(0.0, self.reader.scalar(term.coefficient))
            if c == 0.0:
                continue
            word = term.convex
            if word is not None and word.by_rows:
                stacked = self.reader.stacked(term.argument)
                return rows_epigraph(c, stacked, limit)
            atom = word.as_loss or word.name if word is not None else term.atom
            is_apart = apart and word is not None and word.grouped
            f, stacked = self._function(term, c, atom, is_apart)
            if f is not None:
                parts.append((f, stacked))
        return epigraph(parts, limit)

    def _regrouped(self, term: Term, c: float, stacked: Stacked) -> tuple[VectorFunction | None, Stacked]:
        """A group norm with groups that overlap or have no weight, added up over the blocks of a family."""
        count = stacked.shape[0] if term.argument.type.is_family else 1
        found = regrouped(self.sets.group_args(dict(term.options)), count, stacked.rows // max(1, count))
        if found is None:
            return None, stacked
        norm = build((term.atom, c, found.args), None, found.length)
        return (norm if count == 1 else Repeated(norm, count)), mapped(stacked, found.take)

    def _row_loss(self, term: Term, loss: str, c: float, stacked: Stacked) -> tuple[VectorLossFunction, Stacked]:
        """A function of all entries, or of each row, as the loss of rows of scores at class 0; `take_first_scores` adds what it lacks."""
        n, k = stacked.shape if term.of_rows else (1, stacked.rows)
        w = np.full(n, c) if term.weights is None else c * self.reader.vector(term.weights, n)
        found = VectorLossFunction(VECTOR_LOSSES[loss], np.zeros(n, dtype=np.int64), w, k)
        return found, replace(stacked, shape=(n, k))

    def _vector_loss(self, term: Term, c: float, stacked: Stacked) -> VectorLossFunction:
        n, k = stacked.shape
        assert term.target is not None
        y = np.asarray(self.reader.constant(term.target), dtype=np.int64)
        w = np.full(n, c / n if term.reduce == "mean" and n else c)
        if term.weights is not None:
            w = w * self.reader.vector(term.weights, n)
        return VectorLossFunction(VECTOR_LOSSES[term.atom], y, w, k)

    def _factored(self, term: Term, root_of: str, stacked: Stacked) -> Stacked:
        """x'Px as |L x|^2 with P = L'L by the eigenvalues of P."""
        matrix = dict(term.options)[root_of]
        P = self.reader.constant(matrix)
        # what is computed for the form alone may have the place of another one in memory
        factor = self.roots.get(id(P)) if matrix.op == "data" else None
        if factor is None:
            factor = root_of_form(term, root_of, matrix, P)
            self.roots[id(P)] = factor
        parts = tuple((b, compose(factor, m)) for b, m in stacked.parts)
        return Stacked(parts, factor.apply(stacked.offset), (factor.rows,))

    # --- the rest ---------------------------------------------------------------------------------------------------

    def _size_of_affine(self) -> float:
        """The sum of the sizes of the affine terms at zero."""
        total = 0.0
        for i in self.arrangement.linear:
            term = self.model.terms[i]
            offset = self.reader.stacked(term.argument).offset
            total += abs(self.reader.scalar(term.coefficient) * float(offset[0]))
        return total

    def _places(self, terms: list[SumTerm]) -> list[tuple[tuple[str, int], ...]]:
        places: list[tuple[tuple[str, int], ...]] = [()] * len(self.model.constraints)
        for b, plan in enumerate(self.arrangement.blocks):
            for i in plan.sets:
                places[i] = (*places[i], ("block", b))
        for t, term in enumerate(terms):
            if term.is_constraint:
                places[term.origin] = (*places[term.origin], ("term", t))
        return places
