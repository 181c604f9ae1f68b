"""The form of a program that is solved as an equivalent one: points and multipliers are led back to the program as it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import Any, ClassVar

import numpy as np

from ...atoms.arrays import ROUNDING
from ...atoms.base import Array, VectorFunction
from ...atoms.vectors import ConvexSet, Ridged
from ...bind.instance import Instance
from ...check import shapes
from ...light_dataclass import light_dataclass
from ...model import Model, evaluate_dim, once_per_model, sizes_of
from ...readers.row_blocks import is_on_disk
from ..arrange import BlockPlan, arrange
from ..form import Canonical
from ..kinds import FormKind
from ..parts import Block, SumTerm
from ..sets import part_of_bounds, stated
from ..terms import samples_of
from .accumulated import Accumulated, accumulated
from .definitions import Definition, defined
from .draft import Draft, Duals, Key, Place, RewritingStep, key_of_term, reader_of
from .duals import DualMachine, machine
from .envelopes import Parts, enveloped, parted
from .pieces import pieced
from .plain import plainer
from .slacks import bounded_sizes, slackened
from .slices import Slices, sliced
from .transposed import transposed
from .weights import EqualWeights, Weights, equal_weights, with_sums

RULES: tuple[Callable[[Draft], tuple[Draft, RewritingStep] | None], ...] = (
    accumulated,
    pieced,
    plainer,
    machine,
    defined,
    parted,
    enveloped,
    slackened,
    bounded_sizes,
    sliced,
    plainer,
    transposed,
)
"""The rewritings, each tried until it finds nothing more."""

MOST_STEPS = 16


@light_dataclass
class Rewriting:
    """The model that a program is solved as, and the steps to it."""

    draft: Draft
    steps: tuple[RewritingStep, ...]

    @property
    def facts(self) -> tuple[str, ...]:
        """Sentences on what was recognised, for the plan."""
        return tuple(step.fact for step in self.steps)


@once_per_model
def rewritten(model: Model, weights: Weights = ()) -> Rewriting | None:
    """The model as it is solved, from names and what is known of weights alone; None where that is as it is written."""
    draft = Draft.of(model)
    steps: list[RewritingStep] = []
    if weights:
        draft = with_sums(draft, weights)
        told = (f"all entries of `{name}` are {k:g}" for name, k in weights)
        steps.append(EqualWeights("; ".join(told)))
    ended: dict[Any, Draft] = {}  # the draft in which each rule found nothing more
    for rule in RULES:
        while len(steps) < MOST_STEPS and ended.get(rule) is not draft and (found := rule(draft)) is not None:
            draft, step = found
            steps.append(step)
        ended[rule] = draft
    return Rewriting(draft, tuple(steps)) if steps else None


def rewriting_of(instance: Instance) -> Rewriting | None:
    """The rewriting of a model with its data. Where sizes leave nothing of a part, as of w[10:] with 10 entries, it is made anew with these sizes."""
    weights = equal_weights(instance)
    found = rewritten(instance.model, weights)
    empty = [] if found is None else [s.name for s in found.steps if isinstance(s, Slices) and not _fits(s, instance)]
    lengths = tuple((name, _length(instance, name)) for name in empty)
    return rewritten(with_lengths(instance.model, lengths), weights) if lengths else found


@once_per_model
def with_lengths(model: Model, lengths: tuple[tuple[str, int], ...]) -> Model:
    """The model with these numbers of entries of some vectors written out."""
    known = dict(lengths)
    declared = (replace(v, type=shapes.of_shape((known[v.name],))) if v.name in known else v for v in model.variables)
    return replace(model, variables=tuple(declared))


def _length(instance: Instance, name: str) -> int:
    return evaluate_dim(instance.model.variable(name).type.array_shape[0], instance.dims)


def _fits(step: Slices, instance: Instance) -> bool:
    n = _length(instance, step.name)
    return all(0 <= a < b <= n for a, b in step.sizes(n))


def rewritten_instance(instance: Instance) -> Instance | None:
    """The instance of the rewritten model; None where there is none, sizes leave nothing of a part, or data on a disk would be copied."""
    found = rewriting_of(instance)
    if found is None:
        return None
    for step in found.steps:
        if isinstance(step, DualMachine):
            rows, columns = (evaluate_dim(d, instance.dims) for d in (step.rows, step.columns))
            if rows >= columns:
                return None
        if isinstance(step, Accumulated) and sizes_of(step.value.type, instance.dims)[step.value.axis] < 2:
            return None
        if isinstance(step, Slices):
            if not _fits(step, instance):
                return None
            stats = [instance.stats[name] for name in step.data if name in instance.stats]
            if any(is_on_disk(instance.values[name]) for name in step.data if name in instance.stats):
                return None
            if any(s.mapped or s.storage not in ("dense", "csr") for s in stats):
                return None
    return replace(instance, model=found.draft.model)


@light_dataclass
class Rewritten:
    """A program as it is written (`outer`) and as it is solved (`inner`). Methods have points of `inner`, the verifier those of `outer`."""

    outer: Canonical
    inner: Canonical
    rewriting: Rewriting
    factored: ClassVar[None] = None
    expansion: ClassVar[None] = None
    contradiction: ClassVar[None] = None

    @staticmethod
    def of(outer: Canonical, inner: Canonical) -> Rewritten | None:
        """Join both forms; None where one constraint has become several terms."""
        found = rewriting_of(outer.instance)
        for form in (outer, inner):
            keys = [key_of_term(t.is_constraint, t.origin) for t in form.terms]
            if len(set(keys)) < len(keys) or any(b.auxiliary or b.basis is not None for b in form.blocks):
                return None
        return Rewritten(outer, inner, found) if found is not None else None

    @property
    def instance(self) -> Instance:
        return self.outer.instance

    @property
    def sense(self) -> int:
        return self.outer.sense

    @property
    def terms(self) -> tuple[SumTerm, ...]:
        return self.outer.terms

    @property
    def size(self) -> int:
        return self.outer.size

    @property
    def scale(self) -> float:
        return self.outer.scale

    @property
    def dense(self) -> Canonical:
        """The form that methods work on."""
        return self.inner

    def why_not(self, kind: FormKind) -> tuple[str, ...]:
        return self.inner.why_not(kind)

    def at_hand(self, kind: FormKind) -> Canonical:
        return self.inner

    def split(self, x: Array) -> Mapping[str, object]:
        return self.outer.split(x)

    def auxiliary(self, x: Array) -> Mapping[str, object]:
        return {}

    def dual_sizes(self, parts: Sequence[Any]) -> list[int]:
        return self.outer.dual_sizes(parts)

    def __repr__(self) -> str:
        return repr(self.inner)

    # --- the way back -------------------------------------------------------------------------------------------------

    @cached_property
    def _parts(self) -> dict[str, tuple[str, Place]]:
        """The variable of `outer` that each one of `inner` is part of, and its place there; other variables that a rewriting made are left out."""
        own = {b.name for b in self.outer.blocks}
        out: dict[str, tuple[str, Place]] = {
            b.name: (b.name, slice(0, b.size)) for b in self.inner.blocks if b.name in own
        }
        for step in self.rewriting.steps:
            out.update(step.parts(self.outer))
        return out

    def outward(self, x: Array, ys: Sequence[Array] | None, v: Array | None = None) -> tuple[Array, list[Array] | None]:
        """The point of the program as it is written, and the multipliers of its terms; None of these without those of the rewritten program.

        v is -(q + K'y) of the rewritten program, where it is known: a product with the data.
        """
        out = np.zeros(self.outer.size)
        places, parts = {b.name: b for b in self.outer.blocks}, self._parts
        for block in self.inner.blocks:
            if block.name in parts:
                name, at = parts[block.name]
                out[places[name].slice][at] = x[block.slice]
        known = {} if ys is None else self._known(x, ys, v)
        duals = Duals(self.outer, out, known)
        for step in reversed(self.rewriting.steps):
            step.place(duals.reader, out, known)
        if ys is None:
            return out, None
        for define, steps in groupby(reversed(self.rewriting.steps), key=lambda step: isinstance(step, Definition)):
            # the equality of a definition is a term of the variables in it: its multiplier comes before those of their own definitions
            for step in reversed(list(steps)) if define else steps:
                step.multipliers(duals)
        told = []
        for term in self.outer.terms:
            y = known.get(key_of_term(term.is_constraint, term.origin))
            told.append(term.of_written(y) if y is not None and y.size == term.map.rows else np.zeros(term.map.rows))
        return out, told

    def inward(self, x: Array, ys: Sequence[Array]) -> Array:
        """The point of the rewritten program."""
        out = np.zeros(self.inner.size)
        places, parts = {b.name: b for b in self.outer.blocks}, self._parts
        made: dict[str, Array] = {}
        for step in self.rewriting.steps:
            if isinstance(step, DualMachine) and len(ys) == len(self.outer.terms):
                made.update(step.enter(self._written(ys)))
            elif isinstance(step, Accumulated):
                made[step.name] = step.enter(reader_of(self.outer), x)
        for block in self.inner.blocks:
            if block.name in parts:
                name, at = parts[block.name]
                out[block.slice] = x[places[name].slice][at]
            elif block.name in made:
                out[block.slice] = made[block.name]
            for step in self.rewriting.steps:
                if isinstance(step, Parts) and step.u == block.name:
                    out[block.slice] -= x[places[step.v].slice]
        return out

    def _written(self, ys: Sequence[Array]) -> dict[Key, Array]:
        """The multipliers of the program as it is written, by key."""
        pairs = zip(self.outer.terms, ys, strict=True)
        return {key_of_term(t.is_constraint, t.origin): t.as_written(y) for t, y in pairs}

    @property
    def mirrors(self) -> bool:
        """True if the rewritten program is a dual of the one that is written: its values are bounds, with the other sign."""
        return any(isinstance(step, DualMachine) for step in self.rewriting.steps)

    def inward_dual(self, x: Array, ys: Sequence[Array]) -> list[Array] | None:
        """The multipliers of the rewritten program; None where they cannot be told."""
        duals = Duals(self.outer, x, self._written(ys))
        for step in self.rewriting.steps:
            step.inward(duals)
        found = [duals.known.get(self._key(t)) for t in self.inner.terms]
        fits = [
            t.of_written(y)
            for y, t in zip(found, self.inner.terms, strict=True)
            if y is not None and y.size == t.map.rows
        ]
        return fits if len(fits) == len(found) else None

    def _key(self, term: SumTerm) -> Key:
        draft = self.rewriting.draft
        return draft.constraints[term.origin] if term.is_constraint else draft.terms[term.origin]

    def _known(self, x: Array, ys: Sequence[Array], v: Array | None) -> dict[Key, Array]:
        """The multipliers of the rewritten program by key, those among them that its blocks hold."""
        inner = self.inner
        known = {self._key(t): t.as_written(y) for t, y in zip(inner.terms, ys, strict=True)}
        known.update({("point", b.name): x[b.slice] for b in inner.blocks})
        if v is None:
            v = -inner.q
            for term, y in zip(inner.terms, ys, strict=True):
                term.map.adjoint(-y, v)
        for block in inner.blocks:
            known.update(self._held(self._plans[block.name], block, x[block.slice], v[block.slice]))
        return known

    @cached_property
    def _plans(self) -> dict[str, BlockPlan]:
        """The plan of each variable of the rewritten program."""
        return {plan.name: plan for plan in arrange(self.inner.instance.model).blocks}

    @cached_property
    def _multiples(self) -> dict[int, tuple[float, float]]:
        """The number c and the coefficient of each term f(c x_B) that blocks of the rewritten program hold, by its index."""
        model, reader, out = self.inner.instance.model, reader_of(self.inner), {}
        sense = 1 if model.sense == "minimize" else -1
        for i in {i for p in self._plans.values() for i in (*p.ridges, *p.norms, *p.besides)}:
            m = reader.stacked(model.terms[i].argument).parts[0][1]
            c = float(m.apply(np.ones(m.columns))[0])
            out[i] = c, max(0.0, sense * reader.scalar(model.terms[i].coefficient))
        return out

    def _held(self, plan: BlockPlan, block: Block, x: Array, v: Array) -> dict[Key, Array]:
        """v as a sum of the multipliers of what the block holds: first the squares', then the set's, and what is left is the norm's."""
        draft, model, out = self.rewriting.draft, self.inner.instance.model, {}
        g: VectorFunction = block.g
        left = v
        if isinstance(g, Ridged):
            curvature = 2.0 * g.c
            best = g.inner.prox(v / curvature, 1.0 / curvature)
            for i in plan.ridges:
                c, weight = self._multiples[i]
                out[draft.terms[i]] = 2.0 * weight / samples_of(model.terms[i], block.shape) * c * best
            left, g = v - curvature * best, g.inner
            # what is rounding is no multiplier of the set: elsewhere nothing would balance it
            left = np.where(np.abs(left) <= ROUNDING * (np.abs(v) + curvature * np.abs(best)), 0.0, left)
        if plan.sets:
            on = g.set_beneath()
            normal = g.normal_part(x, left) if plan.norms and on is not None else left
            left, first = left - normal, True
            for i in plan.sets:
                constraint = model.constraints[i]
                if constraint.set is None and isinstance(on, ConvexSet):
                    # on the simplex the sum's multiplier is in every entry
                    y = on.of_radius(1.0).conjugate(normal)
                    out[draft.constraints[i]] = np.array([y])
                    normal = normal - y
            for i in plan.sets:
                ref = model.constraints[i].set
                if ref is None:
                    continue
                part = normal if first else np.zeros_like(normal)
                if len(plan.sets) > 1 and ref.word.bounds and isinstance(on, ConvexSet) and on.record.given_bounds:
                    # of two bounds that are the same the first one holds, and on a simplex the first has the whole cone
                    part = part_of_bounds(normal, stated(model.constraints[i], on.size, reader_of(self.inner)), on)
                    normal = normal - part
                out[draft.constraints[i]], first = part, False
        # where x is 0 the sizes of entries hold what they can, elsewhere all that they must
        slopes = {i: abs(c) * weight for i, (c, weight) in self._multiples.items()}
        most = sum(slopes[i] for i in plan.besides)
        of_sizes = np.where(x != 0.0, most * np.sign(x), np.clip(left, -most, most)) if most else np.zeros_like(left)
        for ids, part in ((plan.norms, left - of_sizes), (plan.besides, of_sizes)):
            total = sum(slopes[i] for i in ids)
            for i in ids:
                c, _ = self._multiples[i]
                share = slopes[i] / total if total else 0.0
                out[draft.terms[i]] = share * part / c if c else np.zeros_like(part)
        return out
