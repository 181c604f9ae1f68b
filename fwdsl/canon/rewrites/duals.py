r"""The dual of a linear machine is solved as the machine.

    min over a in [0, h]^n   alpha |K a|^2 + beta |a|^2 - kappa 1'a   subject to   v'a = 0

is, with its sign turned, min over u and b of   |u|^2 / (4 alpha) + sum_i g*(kappa - (K'u + b v)_i),   g* being

    h max(0, s)   without beta, that is h kappa hinge((K'u + b v) / kappa);   s_+^2 / (4 beta) without h, that is kappa^2 / (4 beta) squared_hinge.

The slopes y of the loss are -kappa a; u and b are the multipliers of the squares and of the equality. It is solved so where K has fewer rows than
columns: a support vector machine has fewer features than samples.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...atoms.base import Array
from ...check import algebra, shapes
from ...check.scalars import scalar_sign, tidied
from ...light_dataclass import light_dataclass
from ...model import ConstraintDecl, Dim, Expr, Term, VarDecl
from ...words import HINGE, SQUARED_HINGE, SQUARES
from ..affine import AffineReader
from .draft import Draft, Duals, Key, RewritingStep
from .expressions import number_and_rest, sum_of


@light_dataclass
class DualMachine(RewritingStep):
    """a as the slopes of a loss of u and b."""

    name: str
    u: str
    b: str
    kappa: Expr
    squares: Key
    equality: Key | None
    made: Key
    rows: Dim
    columns: Dim
    fact: str

    def place(self, reader: AffineReader, x: Array, known: dict[Key, Array]) -> None:
        """a = -y / kappa."""
        block = reader.blocks[self.name]
        y = known.get(self.made)
        if y is not None:
            x[block.slice] = np.maximum(-y / reader.scalar(self.kappa), 0.0)

    def multipliers(self, duals: Duals) -> None:
        """The multipliers u and b of the program as it is written."""
        duals.known[self.squares] = duals.known[("point", self.u)]
        if self.equality is not None:
            duals.known[self.equality] = duals.known[("point", self.b)]

    def inward(self, duals: Duals) -> None:
        """y = -kappa a."""
        block = duals.reader.blocks[self.name]
        duals.known[self.made] = -duals.reader.scalar(self.kappa) * duals.x[block.slice]

    def enter(self, known: dict[Key, Array]) -> dict[str, Array]:
        """u and b of a verified point: its multipliers, zero where there are none."""
        out = {}
        for name, key in ((self.u, self.squares), (self.b, self.equality)):
            if key is not None and key in known:
                out[name] = known[key]
        return out


def machine(draft: Draft) -> tuple[Draft, DualMachine] | None:
    """The machine that a program is the dual of; None where it is no such dual."""
    model = draft.model
    if len(model.variables) != 1 or not model.variables[0].type.is_vector:
        return None
    (variable,) = model.variables
    found = _objective(draft, variable.name, 1.0 if model.sense == "minimize" else -1.0)
    limits = _limits(draft, variable.name)
    if found is None or limits is None:
        return None
    (alpha, K, squares, beta, kappa), (high, equality) = found, limits
    if (high is None) == (beta is None):
        return None
    u_name, b_name = f"multipliers of `{model.terms[squares].text}`", ""
    u = Expr("var", shapes.of_shape(K.type.array_shape), name=u_name, variables=frozenset((u_name,)))
    z = _adjoint(K, u)
    if z is None:
        return None
    variables = [VarDecl(u_name, u.type)]
    if equality is not None:
        b_name = f"multiplier of `{model.constraints[equality].text}`"
        b = Expr("var", shapes.REAL, name=b_name, variables=frozenset((b_name,)))
        v = next(a for a in model.constraints[equality].argument.args if a.is_constant)
        z = algebra.add((z, algebra.multiply(v, b, shapes.plain(v.type))), z.type)
        variables.append(VarDecl(b_name, b.type))
    if kappa != algebra.ONE:
        z = algebra.divide(z, kappa, shapes.plain(z.type))
    if high is not None:
        word, weight = HINGE, algebra.times(high, kappa)
    else:
        assert beta is not None
        word, weight = (
            SQUARED_HINGE,
            algebra.ratio(algebra.times(kappa, kappa), algebra.times(algebra.const(4.0), beta)),
        )
    quarter = algebra.ratio(algebra.ONE, algebra.times(algebra.const(4.0), alpha))
    text = " + ".join(term.text for term in model.terms)
    loss = Term("loss", word, tidied(weight), z, algebra.ones(z.type.array_shape), None, "sum", text=f"dual of {text}")
    ridge = Term("function", SQUARES, tidied(quarter), u, text=f"dual of {model.terms[squares].text}")
    key: Key = ("new", (variable.name, word))
    made = Draft(
        replace(model, variables=tuple(variables), sense="minimize", terms=(loss, ridge), constraints=()),
        (key, ("new", (variable.name, SQUARES))),
        (),
    )
    fact = f"{variable.name}: the program is the dual of a machine with `{word}`, which is solved"
    own = draft.constraints[equality] if equality is not None else None
    (rows,), (columns,) = K.type.array_shape, variable.type.array_shape
    step = DualMachine(variable.name, u_name, b_name, kappa, draft.terms[squares], own, key, rows, columns, fact)
    return made, step


def _objective(draft: Draft, name: str, sign: float) -> tuple[Expr, Expr, int, Expr | None, Expr] | None:
    """(alpha, K a, the place of its squares, beta, kappa)."""
    alpha: Expr | None = None
    beta: Expr | None = None
    K, place, linear = None, -1, algebra.const(0.0)
    for i, term in enumerate(draft.model.terms):
        c = algebra.times(algebra.const(sign), term.coefficient)
        if term.kind == "affine":
            found = sum_of(term.argument, name)
            if found is None or found[2] is not None:
                return None
            share = algebra.const(-found[0])
            if found[1] == "mean":
                (n,) = draft.model.variables[0].type.array_shape
                share = algebra.ratio(share, algebra.length(n))
            linear = algebra.plus(linear, algebra.times(c, share))
            continue
        if term.convex is None or not term.convex.adds_squares:
            return None
        k, bare = number_and_rest(term.argument)
        c = algebra.times(algebra.const(k * k), c)
        if bare.op == "var" and beta is None:
            beta = c
        elif bare.op != "var" and K is None and len(bare.type.array_shape) == 1:
            alpha, K, place = c, bare, i
        else:
            return None
    kappa = tidied(linear)
    signs = [scalar_sign(e) for e in (alpha, beta, kappa) if e is not None]
    if alpha is None or K is None or any(s != "positive" for s in signs):
        return None
    return alpha, K, place, beta, kappa


def _limits(draft: Draft, name: str) -> tuple[Expr | None, int | None] | None:
    """(h, the place of the equality) of entries from 0 to h."""
    high, signed, equality = None, False, None
    for i, c in enumerate(draft.model.constraints):
        if c.relation == "eq" and equality is None and _is_homogeneous(c, name):
            equality = i
            continue
        bounds = algebra.bounds(c.set) if c.set is not None and c.argument.op == "var" else None
        if bounds is None:
            return None
        low, top = algebra.number(bounds[0]), bounds[1]
        if low not in (0.0, -np.inf):
            return None
        signed = signed or low == 0.0
        if algebra.number(top) != np.inf:
            if high is not None or top.type.array_shape or scalar_sign(top) != "positive":
                return None
            high = top
    return (high, equality) if signed else None


def _is_homogeneous(c: ConstraintDecl, name: str) -> bool:
    """v'a == 0."""
    e = c.argument
    return e.op == "dot" and any(a.op == "var" and a.name == name for a in e.args)


def _adjoint(e: Expr, u: Expr) -> Expr | None:
    """K'u of K a; None where K is written in another way."""
    if e.op == "var":
        return u
    if e.op == "neg":
        return _adjoint(e.args[0], algebra.negate(u))
    if e.op == "matmul" and e.args[0].is_constant and len(e.args[0].type.array_shape) == 2:
        A = e.args[0]
        rows, columns = A.type.array_shape
        if A.op == "transpose":
            turned = A.args[0]
        else:
            turned = algebra.make("transpose", shapes.of_shape((columns, rows)), (A,))
        return _adjoint(e.args[1], algebra.matmul(turned, u, shapes.of_shape((columns,))))
    if e.op in ("mul", "div"):
        constant = e.args[1] if e.op == "div" or e.args[1].is_constant else e.args[0]
        live = e.args[0] if constant is e.args[1] else e.args[1]
        if live.type.array_shape != e.type.array_shape or constant.type.array_shape not in ((), e.type.array_shape):
            return None
        make = algebra.divide if e.op == "div" else algebra.multiply
        inner = (u, constant) if e.op == "div" else (constant, u)
        return _adjoint(live, make(*inner, shapes.plain(u.type)))
    return None
