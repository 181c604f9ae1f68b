r"""Problems over one matrix that is kept as a product of two thin factors, and is never formed.

    min over X (n x p) of  f(K X) + penalty |X|_* + constant   subject to   |X|_* <= radius,

f one smooth loss, K X the observed entries of X or a product A X. Recognised from an arrangement before anything of the size of X is allocated:
beyond `LARGEST_DENSE` numbers this is the only canonical form that such a program has; below, it stands beside the dense one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..atoms.base import Array, LossFunction
from ..atoms.losses import LOSSES
from ..instance import Instance
from ..low_rank import LowRank
from ..model import Term, evaluate_dim
from .affine import AffineReader
from .arrange import Arrangement, parts_of
from .numbers import bare_factor, loss_function

LARGEST_DENSE = 5_000_000
"""Numbers of a variable up to which the dense canonical form is built too."""


@dataclass(frozen=True, eq=False)
class Observed:
    """X -> (X_ij) over the places (i, j), one of them possibly more than once."""

    rows: Any
    columns: Any
    text: str

    @property
    def count(self) -> int:
        """How many predictions."""
        return int(self.rows.size)

    @property
    def nnz(self) -> int:
        """Numbers that one application touches."""
        return self.count

    def predict(self, X: LowRank) -> Array:
        """(X_ij), by the factors' rows."""
        return X.at(self.rows, self.columns)


@dataclass(frozen=True, eq=False)
class Product:
    """X -> A X, flat in C order, A dense."""

    A: Array
    columns: int
    text: str

    @property
    def count(self) -> int:
        """How many predictions."""
        return int(self.A.shape[0] * self.columns)

    @property
    def nnz(self) -> int:
        """Multiplications of A with a dense X: the unit of a data pass."""
        return self.A.size * self.columns

    def predict(self, X: LowRank) -> Array:
        """A X, by the factors."""
        return np.asarray(((self.A @ X.U) @ X.V.T).reshape(-1))


@dataclass(frozen=True)
class FactoredTerm:
    """The loss in the user's words: `origin` is its place among the objective's terms."""

    text: str
    origin: int
    name: str
    is_constraint: bool = False


@dataclass(frozen=True, repr=False, eq=False)
class Factored:
    """The problem of this module's docstring, in the sense of minimisation (`sense` is -1 where the program maximises).

    `f` is over the predictions of `data` and holds the coefficient, weights and targets, constants of the predictions included; `radius`
    is inf and `penalty` 0 where there is none. `scale` is S of language.md, section 8.
    """

    instance: Instance
    name: str
    shape: tuple[int, int]
    data: Observed | Product
    f: LossFunction
    radius: float
    penalty: float
    constant: float
    sense: int
    scale: float
    term: FactoredTerm

    @property
    def size(self) -> int:
        """The number of unknowns, were they all written down."""
        return math.prod(self.shape)

    @property
    def terms(self) -> tuple[FactoredTerm]:
        """The one term of the sum: its dual vector is the dual point."""
        return (self.term,)

    def split(self, x: LowRank) -> Mapping[str, Any]:
        """The variable's value by its name."""
        return {self.name: x}

    def __repr__(self) -> str:
        n, p = self.shape
        g = [f"{self.penalty:g} * norm_nuc"] if self.penalty else []
        g += [f"nuclear_ball({self.radius:g})"] if math.isfinite(self.radius) else []
        lines = [
            f"minimise over {self.name} in R^({n:,} x {p:,}), kept as factors U V'",
            f"  f  {self.f.name}({self.data.text}; {self.data.count:,} predictions): smooth",
            f"  g  {self.name}: {' on '.join(g)}",
        ]
        lines += [f"  c  {self.constant:g}"] if self.constant else []
        lines += ["  (the negative of the program's objective, which is maximised)"] if self.sense < 0 else []
        return "\n".join(lines)


def unfactored(arrangement: Arrangement) -> tuple[str, ...]:
    """Why a program has no factored form, one sentence each, from names alone; empty where it has one."""
    if len(arrangement.blocks) != 1:
        return ("there are several variables, and one matrix is needed",)
    (block,) = arrangement.blocks
    if block.type.kind != "matrix":
        return (f"{block.name} is no `matrix` variable",)
    reasons = []
    if block.norm not in (None, "norm_nuc") or block.set not in (None, "nuclear_ball"):
        kept = " with ".join(f"`{w}`" for w in (block.norm, block.set) if w)
        reasons.append(f"{kept} of {block.name} is not a trace norm")
    elif block.norm is None and block.set is None:
        reasons.append(f"no `norm_nuc` and no `nuclear_ball` bounds {block.name}")
    if block.ridges:
        reasons.append(f"`sum_squares` of {block.name} is no function of the factors' lengths")
    losses = [s for s in arrangement.sums if s.kind == "loss"]
    reasons += [f"`{s.text}` stands beside the loss" for s in arrangement.sums if s.kind != "loss"]
    if len(losses) != 1:
        return (*reasons, f"there are {len(losses)} losses, and one is needed")
    (loss,) = losses
    if loss.atom not in LOSSES or LOSSES[loss.atom].smoothness is None:
        reasons.append(f"`{loss.text}` is not a smooth loss of single predictions")
    elif loss.over is None:
        reasons.append(f"`{loss.text}` is of neither entries of {block.name} nor a product of data with it")
    elif loss.over == "product" and loss.atom != "squared":
        reasons.append(f"of products with data only `squared` has factored steps, and `{loss.text}` is none")
    return tuple(reasons)


def factored_form(instance: Instance, arrangement: Arrangement) -> Factored | None:
    """The factored form; None where there is none, by names or by the values bound."""
    if unfactored(arrangement):
        return None
    model, reader = instance.model, AffineReader(instance, {})
    if not all(model.terms[i].argument.is_constant for i in arrangement.linear):
        return None
    (block,), (plan,) = arrangement.blocks, arrangement.sums
    n, p = (evaluate_dim(d, instance.dims) for d in block.type.array_shape)
    sense = 1 if model.sense == "minimize" else -1
    radius, penalty = _ball(reader, arrangement), _penalty(reader, arrangement, sense)
    term = model.terms[plan.origin]
    data = _data(reader, term, p)
    if data is None or not radius > 0.0 or (math.isinf(radius) and penalty == 0.0) or min(n, p, data.count) == 0:
        return None
    f = _loss(reader, term, plan.atom, data, sense)
    if f is None:
        return None
    affine = [model.terms[i] for i in arrangement.linear]
    values = [sense * reader.scalar(t.coefficient) * float(reader.constant(t.argument)) for t in affine]
    at_zero = abs(f.value(np.zeros(data.count)))
    scale = sum(map(abs, values)) + (at_zero if math.isfinite(at_zero) else 1.0)
    what = FactoredTerm(plan.text, plan.origin, term.name)
    return Factored(
        instance, block.name, (n, p), data, f, radius, penalty, math.fsum(values), sense, scale or 1.0, what
    )


def _ball(reader: AffineReader, arrangement: Arrangement) -> float:
    constraints = [reader.instance.model.constraints[i] for i in arrangement.blocks[0].sets]
    return min((reader.scalar(dict(c.set.args)["r"]) for c in constraints if c.set is not None), default=math.inf)


def _penalty(reader: AffineReader, arrangement: Arrangement, sense: int) -> float:
    terms = [reader.instance.model.terms[i] for i in arrangement.blocks[0].norms]
    return sum(max(0.0, sense * reader.scalar(t.coefficient)) * bare_factor(reader, t.argument) for t in terms)


def _data(reader: AffineReader, term: Term, p: int) -> Observed | Product | None:
    inner, _ = parts_of(term.argument)
    if inner.op == "observe":
        name = inner.args[1].name
        entries = reader.instance.values[name]
        return Observed(entries.rows, entries.columns, f"{inner.args[0].name}[{name}]")
    A = reader.constant(inner.args[0])
    if not isinstance(A, np.ndarray) or A.dtype != np.float64:
        return None
    left = inner.args[0]
    name = f"{left.args[0].name}.T" if left.op == "transpose" else left.name or "A"
    return Product(A, p, f"{name} @ {inner.args[1].name}")


def _loss(reader: AffineReader, term: Term, atom: str, data: Observed | Product, sense: int) -> LossFunction | None:
    """The loss with the constants of its predictions taken into its targets; None where it has no such targets or weighs nothing."""
    samples = data.count if isinstance(data, Observed) else data.A.shape[0]
    shape = (samples,) if isinstance(data, Observed) else (samples, data.columns)
    f = loss_function(reader, term, atom, max(0.0, sense * reader.scalar(term.coefficient)), shape)
    _, added = parts_of(term.argument)
    if not f.w.any() or (added and f.loss.target != "real"):
        return None
    if isinstance(data, Product) and np.ptp(f.w) > 0.0:
        return None
    b = f.b
    for expr in added:
        b = b - np.broadcast_to(_dense(reader.constant(expr)), shape).reshape(-1)
    return LossFunction(f.loss, b, f.w, f.p)


def _dense(value: Any) -> Any:
    return value.toarray() if hasattr(value, "toarray") else np.asarray(value, dtype=np.float64)
