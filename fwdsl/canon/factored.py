r"""Problems over one matrix that is kept as a product of two thin factors, and is never formed.

    min over X (n x p) of  F(k K X) + ridge |X|_F^2 + penalty |X|_* + constant   subject to   |X|_* <= radius,

F one smooth loss f, K X the observed entries of X or a product A X, k a number. A free intercept b beside X is minimised out: then
F(z) = min over b of f(z + d b), b one number or one for each column of A X. Recognised from an arrangement before anything of the size of X
is allocated: beyond `LARGEST_DENSE_FORM` numbers this is the only canonical form that such a program has; below, it stands beside the dense one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..atoms.base import Array
from ..atoms.loss import Loss, LossFunction
from ..atoms.losses import LOSSES
from ..atoms.low_rank import LowRank
from ..bind.instance import Instance
from ..bind.observed_places import PIECE, entries_on_disk
from ..bind.values import Entries
from ..light_dataclass import light_dataclass
from ..model import Model, Term, sizes_of
from ..readers.row_blocks import NotInMemory, Stored, is_on_disk
from ..sums import Rows, pieces, sum_of_pieces
from ..words import CONVEX, SETS
from .affine import AffineReader, NotFinite
from .arrange import Arrangement, BlockPlan, arrange
from .data_matrix import DataMatrix
from .intercept import added, best_shift
from .kinds import NO_EXPANSION, NO_VALUES, FormKind
from .matrix_prediction import MatrixPrediction, Multipliers, matrix_prediction
from .terms import bare_factor, loss_function

LARGEST_DENSE_FORM = 5_000_000
"""Numbers of a variable up to which the dense canonical form is built beside the factored one."""


@light_dataclass
class EntryMap:
    """X -> (X_ij) over the places (i, j) of the entries, one of them possibly more than once."""

    entries: Entries
    text: str

    @property
    def rows(self) -> Any:
        return self.entries.rows

    @property
    def columns(self) -> Any:
        return self.entries.columns

    @property
    def count(self) -> int:
        return len(self.entries)

    @property
    def nnz(self) -> int:
        """Numbers that one application touches."""
        return self.count

    def predict(self, X: LowRank) -> Array:
        return X.at(self.rows, self.columns)


class StoredLoss:
    """z -> sum_e w l(z_e; b_e) over observed entries whose targets b stay in a file, in their order by rows: a `LossFunction` of any part of them."""

    def __init__(self, loss: type[Loss], targets: Stored, weight: float, p: Array) -> None:
        self.loss, self.targets, self.weight, self.p = loss, targets, weight, p

    @property
    def size(self) -> int:
        """The number of predictions."""
        return self.targets.count

    @property
    def name(self) -> str:
        return self.loss.name

    @property
    def lipschitz(self) -> float:
        """A Lipschitz constant of the gradient."""
        return math.inf if self.loss.smoothness is None else self.loss.smoothness * self.weight

    def infimum(self, leaves: tuple[Rows, ...]) -> float:
        """The sum of the infima over these leaves of the entries."""
        parts = ([self.part(slice(*at)).infimum() for at in of_leaf] for of_leaf in pieces(leaves, PIECE))
        return float(sum_of_pieces(parts))

    def part(self, at: slice) -> LossFunction:
        """The sum over some of the entries, read from the file."""
        found = self.targets.read(at.start, at.stop, ahead=min(at.stop - at.start, self.size - at.stop))
        return LossFunction(self.loss, found, np.full(found.size, self.weight), self.p)

    def cut(self, at: slice) -> StoredLoss:
        """The sum over some of the entries, which stay in the file."""
        return StoredLoss(self.loss, self.targets.cut(at.start, at.stop), self.weight, self.p)


@light_dataclass
class ProductMap:
    """X -> A X, flat in C order: A a dense array of float64 or float32, sparse, or rows on a disk or with workers."""

    A: Any
    columns: int
    text: str

    @property
    def count(self) -> int:
        return int(self.A.shape[0] * self.columns)

    @property
    def nnz(self) -> int:
        """Multiplications of A with a dense X: the unit of a data pass."""
        return int(self.A.size) * self.columns

    def predict(self, X: LowRank) -> Array:
        return np.asarray((DataMatrix(self.A).matmat(X.U) @ X.V.T).reshape(-1))


@light_dataclass
class FreeIntercept:
    """A free variable b that is added to the predictions times d: one number (`columns` is 1), or one for each of the columns."""

    name: str
    d: float
    columns: int
    is_vector: bool


@light_dataclass
class FactoredTerm:
    """The loss in the user's words: `origin` is its place among the objective's terms."""

    text: str
    origin: int
    name: str
    is_constraint: bool = False


@light_dataclass
class Factored:
    """The problem of this module's docstring, in the sense of minimisation (`sense` is -1 where the program maximises).

    `f` is over the predictions `k` K X of `data` and holds the coefficient, weights and targets, constants of the predictions included;
    `radius` is inf, `penalty` and `ridge` are 0 where there is none. `scale` is the size of the objective's terms at
    zero, a part of S (see "What an answer promises" in docs/language.md).
    """

    instance: Instance
    name: str
    shape: tuple[int, int]
    data: EntryMap | ProductMap
    f: LossFunction | StoredLoss
    radius: float
    penalty: float
    constant: float
    sense: int
    scale: float
    term: FactoredTerm
    k: float = 1.0
    ridge: float = 0.0
    intercept: FreeIntercept | None = None
    contradiction: ClassVar[None] = None
    dense: ClassVar[None] = None
    expansion: ClassVar[None] = None

    @property
    def factored(self) -> Factored:
        return self

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def by_rows(self) -> LossFunction | StoredLoss:
        """The loss over observed entries in their order by rows."""
        assert isinstance(self.data, EntryMap)
        order, f = self.data.entries.by_rows[1], self.f
        return f if isinstance(f, StoredLoss) or order is None else LossFunction(f.loss, f.b[order], f.w[order], f.p)

    @property
    def plain_by_rows(self) -> LossFunction:
        """The same, whose targets are in memory."""
        if isinstance(self.by_rows, StoredLoss):
            raise NotInMemory
        return self.by_rows

    @cached_property
    def infimum(self) -> float:
        """A lower bound of the loss."""
        if not self.is_by_rows:
            return self.plain.infimum()
        return self.by_rows.infimum(self.data.entries.by_rows[0].entry_leaves)  # type: ignore[union-attr]

    @property
    def is_by_rows(self) -> bool:
        """True if sums over the predictions are taken by the order of the entries by rows, a piece at a time: all but those with a free intercept."""
        return isinstance(self.data, EntryMap) and self.intercept is None

    @property
    def plain(self) -> LossFunction:
        """The loss, whose targets are in memory."""
        if isinstance(self.f, StoredLoss):
            raise NotInMemory
        return self.f

    def loss(self, x: LowRank) -> float:
        """The loss at x."""
        if not self.is_by_rows:
            return self.plain.value(self.predictions(x))
        places, f = self.data.entries.by_rows[0], self.by_rows  # type: ignore[union-attr]
        found = places.sum(lambda at: f.part(at).value(self.predictions_of(x, at)))
        return 0.0 if found is None else float(found)

    def predictions_of(self, x: LowRank, at: slice) -> Array:
        """k K X of some observed entries in their order by rows."""
        assert isinstance(self.data, EntryMap)
        places = self.data.entries.by_rows[0]
        return self.k * x.at(places.rows_of(at.start, at.stop), places.columns_of(at.start, at.stop))

    @property
    def terms(self) -> tuple[FactoredTerm, ...]:
        """The terms of the parts of a dual point: the loss, and for the two factors of the ridge's matrix, if any, the loss again."""
        return (self.term, self.term, self.term) if self.ridge else (self.term,)

    def reach(self, value: float) -> float:
        """The largest trace norm of a point whose objective is at most `value`: the radius, or what the penalty and the ridge leave of it."""
        left = max(0.0, value - self.constant - self.infimum)
        bounds = [self.radius]
        if self.penalty > 0.0:
            bounds.append(left / self.penalty)
        if self.ridge > 0.0:
            bounds.append(math.sqrt(min(self.shape) * left / self.ridge))
        return min(bounds)

    def predictions(self, x: LowRank) -> Array:
        """k K X, and the best intercept added where there is a free one."""
        z = self.k * self.data.predict(x)
        return z if self.intercept is None else added(z, best_shift(self.plain, z, self.intercept.columns))

    def split(self, x: LowRank) -> Mapping[str, Any]:
        """The variables' values by their names; the intercept is the best one for X."""
        if self.intercept is None:
            return {self.name: x}
        b = best_shift(self.plain, self.k * self.data.predict(x), self.intercept.columns) / self.intercept.d
        return {self.name: x, self.intercept.name: b if self.intercept.is_vector else float(b[0])}

    def why_not(self, kind: FormKind) -> tuple[str, ...]:
        """The size of the matrix."""
        if kind == "expansion":
            return (NO_EXPANSION,)
        written = f"{self.name} has {self.size:,} numbers, and this method would write them all down"
        if isinstance(self.f, StoredLoss):
            written = f"the entries of {self.data.text} stay on their disk under `--memory`, and this method needs all of them at once"
        return () if kind == "factored" else (written,)

    def at_hand(self, kind: FormKind) -> Factored:
        return self

    def auxiliary(self, x: LowRank) -> Mapping[str, Any]:
        return {}

    def dual_sizes(self, parts: Sequence[Any]) -> list[int]:
        """The predictions, and of a ridge's matrix the factors, of the rank that the last part has."""
        rank = parts[-1].shape[-1] if parts[-1].ndim else 0
        return [self.f.size, *(n * rank for n in self.shape)][: len(self.terms)]

    def __repr__(self) -> str:
        n, p = self.shape
        g = [f"{self.penalty:g} * norm_nuc"] if self.penalty else []
        g += [f"nuclear_ball({self.radius:g})"] if math.isfinite(self.radius) else []
        g += [f"{self.ridge:g} * sum_squares"] if self.ridge else []
        k = "" if self.k == 1.0 else f"{self.k:g} * "
        free = "" if self.intercept is None else f" + {self.intercept.name}, which is minimised out"
        lines = [
            f"minimise over {self.name} in R^({n:,} x {p:,}), kept as factors U V'",
            f"  f  {self.f.name}({k}{self.data.text}{free}; {self.data.count:,} predictions): smooth",
            f"  g  {self.name}: {' with '.join(g)}",
        ]
        lines += [f"  c  {self.constant:g}"] if self.constant else []
        lines += ["  (the negative of the program's objective, which is maximised)"] if self.sense < 0 else []
        return "\n".join(lines)


def has_trace_norm(block: BlockPlan, only: bool = False) -> bool:
    """True if a trace norm, or its ball, bounds a variable; with `only`, if nothing else does."""
    norm = None if block.norm is None else CONVEX[block.norm].trace_norm
    set_ = None if block.set is None else block.set in SETS and SETS[block.set].trace_norm
    return False not in (norm, set_) if only else True in (norm, set_)


def unfactored(arrangement: Arrangement) -> tuple[str, ...]:
    """The reasons why a program has no factored form, one sentence each, from names alone; empty where it has one."""
    losses = [s for s in arrangement.sums if s.kind == "loss"]
    matrices = [b for b in arrangement.blocks if b.type.is_matrix]
    if len(matrices) != 1:
        if len(matrices) > 1:
            return ("there are several matrix variables, and one is needed",)
        return (f"{arrangement.blocks[0].name if arrangement.blocks else 'nothing'} is no `matrix` variable",)
    (block,) = matrices
    reasons = []
    if not has_trace_norm(block, only=True):
        kept = " with ".join(f"`{w}`" for w in (block.norm, block.set) if w)
        reasons.append(f"{kept} of {block.name} is not a trace norm")
    elif not has_trace_norm(block):
        reasons.append(f"no `norm_nuc` and no `nuclear_ball` bounds {block.name}")
    reasons += [f"`{s.text}` stands beside the loss" for s in arrangement.sums if s.kind != "loss"]
    if len(losses) != 1:
        return (*reasons, f"there are {len(losses)} losses, and one is needed")
    (loss,) = losses
    if loss.atom not in LOSSES or LOSSES[loss.atom].smoothness is None:
        reasons.append(f"`{loss.text}` is not a smooth loss of single predictions")
    elif loss.over is None:
        reasons.append(f"`{loss.text}` is of neither entries of {block.name} nor a product of data with it")
    for other in arrangement.blocks:
        if other is not block and (
            other.norm is not None or other.set is not None or other.ridges or other.type.domain != "real"
        ):
            reasons.append(f"{other.name} is no free intercept of the predictions")
        elif other is not block and other.name != loss.intercept:
            reasons.append(
                f"{other.name} is not added to the predictions of {block.name}, a number or one for each column"
            )
    return tuple(reasons)


def why_entries_stay(instance: Instance) -> str:
    """The reason why workers can do nothing with the observed entries of a program, from names alone; "" where they can."""
    arrangement = arrange(instance.model)
    reasons = unfactored(arrangement)
    if reasons:
        return f"workers have a part in methods on factors, and {reasons[0]}"
    free = next((s.intercept for s in arrangement.sums if s.over == "entries" and s.intercept is not None), None)
    return "" if free is None else f"`{free}` is minimised out over all of them"


def may_stay_in_files(model: Model) -> bool:
    """True if the observed entries of a program may stay in files, from names alone: a loss of entries of one matrix, with their own values for
    targets, one weight and nothing beside them (`_stored_loss`)."""
    arrangement = arrange(model)
    if unfactored(arrangement):
        return False
    (plan,) = arrangement.sums
    term = model.terms[plan.origin]
    found = matrix_prediction(term.argument)
    if found is None or not found.is_of_entries or found.constants or found.intercept is not None:
        return False
    own = term.target is not None and term.target.op == "data" and term.target.name == found.data.name
    return own and term.weights is None


def factored_form(instance: Instance, arrangement: Arrangement) -> Factored | None:
    """The factored form; None where there is none, by names or by the values bound."""
    if unfactored(arrangement):
        return None
    model, reader = instance.model, AffineReader(instance, {})
    if not all(model.terms[i].argument.is_constant for i in arrangement.linear):
        return None
    (block,) = (b for b in arrangement.blocks if b.type.is_matrix)
    (plan,) = arrangement.sums
    n, p = sizes_of(block.type, instance.dims)
    sense = 1 if model.sense == "minimize" else -1
    radius = _ball(reader, block)
    penalty, ridge = (_penalty(reader, terms, sense, power) for terms, power in ((block.norms, 1), (block.ridges, 2)))
    term = model.terms[plan.origin]
    found = matrix_prediction(term.argument)
    assert found is not None, "the arrangement says what the loss is over"
    data, k = _data(reader, found, p), _number(reader, found.path)
    if data is None or not radius > 0.0 or k == 0.0 or (math.isinf(radius) and penalty == 0.0):
        return None
    f = _loss(reader, term, plan.atom, data, sense, found) if min(n, p, data.count) > 0 else None
    if f is None:
        return None
    intercept = _intercept(reader, found, data)
    if found.intercept is not None and intercept is None:
        return None
    affine = [model.terms[i] for i in arrangement.linear]
    values = [sense * reader.scalar(t.coefficient) * float(reader.constant(t.argument)) for t in affine]
    at_zero = abs(_at_zero(f, data))
    scale = sum(map(abs, values)) + (at_zero if math.isfinite(at_zero) else 0.0)
    what = FactoredTerm(plan.text, plan.origin, term.name)
    return Factored(
        instance,
        block.name,
        (n, p),
        data,
        f,
        radius,
        penalty,
        math.fsum(values),
        sense,
        scale,
        what,
        k,
        ridge,
        intercept,
    )


def _ball(reader: AffineReader, block: BlockPlan) -> float:
    constraints = [reader.instance.model.constraints[i] for i in block.sets]
    return min((reader.scalar(dict(c.set.args)["r"]) for c in constraints if c.set is not None), default=math.inf)


def _penalty(reader: AffineReader, indices: tuple[int, ...], sense: int, power: int) -> float:
    terms = [reader.instance.model.terms[i] for i in indices]
    return sum(max(0.0, sense * reader.scalar(t.coefficient)) * bare_factor(reader, t.argument) ** power for t in terms)


def _number(reader: AffineReader, path: Multipliers) -> float:
    """The product of the multipliers of a path."""
    k = 1.0
    for step, expr in path:
        value = 1.0 if expr is None else reader.scalar(expr)
        if expr is not None and step == "div" and value == 0.0:
            raise NotFinite("a division by zero", expr)
        k = -k if step == "neg" else k / value if step == "div" else k * value
    return k


def _data(reader: AffineReader, found: MatrixPrediction, p: int) -> EntryMap | ProductMap | None:
    if found.is_of_entries:
        entries = reader.instance.values[found.data.name]
        return EntryMap(entries, f"{found.variable}[{found.data.name}]")
    A = reader.constant(found.data)
    if not hasattr(A, "tocsr") and not (
        (isinstance(A, np.ndarray) or is_on_disk(A)) and A.dtype in (np.float64, np.float32)
    ):
        return None
    left = found.data
    name = f"{left.args[0].name}.T" if left.op == "transpose" else left.name or "A"
    return ProductMap(A.tocsr() if hasattr(A, "tocsr") else A, p, f"{name} @ {found.variable}")


def _intercept(reader: AffineReader, found: MatrixPrediction, data: EntryMap | ProductMap) -> FreeIntercept | None:
    """The free intercept. None if there is none, if its factor is 0, or if it has a number for each sample."""
    if found.intercept is None:
        return None
    b, path = found.intercept
    d = _number(reader, path)
    is_vector = bool(b.type.array_shape)
    columns = data.columns if is_vector and isinstance(data, ProductMap) else 1
    if d == 0.0 or (is_vector and not isinstance(data, ProductMap)):
        return None
    return FreeIntercept(b.name, d, columns, is_vector)


def _loss(
    reader: AffineReader,
    term: Term,
    atom: str,
    data: EntryMap | ProductMap,
    sense: int,
    found: MatrixPrediction,
) -> LossFunction | StoredLoss | None:
    """The loss with the constants of its predictions taken into its targets; None where it has no such targets or weighs nothing."""
    shape = (data.count,) if isinstance(data, EntryMap) else (data.A.shape[0], data.columns)
    stored = data.entries.stored if isinstance(data, EntryMap) else None
    if stored is not None and isinstance(data, EntryMap):
        return _stored_loss(reader, term, atom, data, stored, sense, found)
    f = loss_function(reader, term, atom, max(0.0, sense * reader.scalar(term.coefficient)), shape)
    if not f.w.any() or (found.constants and not f.loss.word.residual):
        return None
    b = f.b
    for expr, path in found.constants:
        b = b - _number(reader, path) * np.broadcast_to(_dense(reader.constant(expr)), shape).reshape(-1)
    return LossFunction(f.loss, b, f.w, f.p)


def require_factored(instance: Instance, arrangement: Arrangement) -> None:
    """Raise `NotInMemory` where observed entries stay in files, and a program without a factored form needs them."""
    if any(isinstance(value, Entries) and value.stored is not None for value in instance.values.values()):
        raise entries_on_disk((unfactored(arrangement) or (NO_VALUES,))[0])


def _stored_loss(
    reader: AffineReader, term: Term, atom: str, data: EntryMap, stored: Stored, sense: int, found: MatrixPrediction
) -> StoredLoss | None:
    """The loss of entries that stay in files: with their own values for targets, one weight, and nothing beside them."""
    target = term.target
    own = target is not None and target.op == "data" and reader.instance.values[target.name] is data.entries
    if not own:
        raise entries_on_disk("the targets are not their own values")
    if term.weights is not None:
        raise entries_on_disk("weights would be in memory for all of them")
    if found.constants or found.intercept is not None:
        beside = "constants stand" if found.constants else "a free intercept stands"
        raise entries_on_disk(f"{beside} beside the predictions")
    none = loss_function(reader, replace(term, target=None), atom, 1.0, (0,))
    c = max(0.0, sense * reader.scalar(term.coefficient))
    weight = c / data.count if term.reduce == "mean" else c
    return StoredLoss(none.loss, stored, weight, none.p) if weight else None


def _at_zero(f: LossFunction | StoredLoss, data: EntryMap | ProductMap) -> float:
    """The loss at X = 0."""
    if isinstance(data, ProductMap):
        assert isinstance(f, LossFunction)
        return f.value(np.zeros(f.size))
    order = data.entries.by_rows[1]
    f = LossFunction(f.loss, f.b[order], f.w[order], f.p) if isinstance(f, LossFunction) and order is not None else f
    return float(data.entries.by_rows[0].sum(lambda at: f.part(at).value(np.zeros(at.stop - at.start))))


def _dense(value: Any) -> Any:
    return value.toarray() if hasattr(value, "toarray") else np.asarray(value, dtype=np.float64)
