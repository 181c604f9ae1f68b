r"""A matrix that the program sees by its transpose becomes that transpose, as the coefficients of classes or tasks that are written by rows.

    f(X W') + g(W')     =     f(X V) + g(V)     with V = W'

What does not tell a matrix from its transpose is of V as it was of W: norms and boxes of entries, losses of entries, norms of singular values. A
function of rows keeps W = V', so the rewriting is made only where less is left of that than there was. Multipliers of what was turned are transposed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...atoms.base import Array
from ...check import algebra, shapes
from ...light_dataclass import light_dataclass
from ...model import ConstraintDecl, Dim, Expr, SetRef, Term, VarDecl, sizes_of
from ...words import LOSSES
from ..arrange import bare_variable
from ..form import Canonical
from .draft import Draft, Duals, Key, RewritingStep
from .expressions import changed

Shape = tuple[Dim, ...]

OF_BLOCK, OF_PRODUCT, OF_ANY = 100, 10, 1
"""The cost of a transpose: of a norm or set of the variable alone, which loses its prox; of a product with data; anywhere else."""


@light_dataclass
class Transposed(RewritingStep):
    """`made`, which is the transpose of a variable; `turned` are the keys of arguments that were transposed, with their shapes before."""

    name: str
    made: str
    turned: tuple[tuple[Key, Shape], ...]
    fact: str

    def parts(self, outer: Canonical) -> dict[str, tuple[str, NDArray[np.intp]]]:
        """The entries of the variable, in the order of its transpose."""
        block = next(b for b in outer.blocks if b.name == self.name)
        return {self.made: (self.name, np.arange(block.size).reshape(block.shape).T.reshape(-1))}

    def multipliers(self, duals: Duals) -> None:
        """Turn those of what was turned back."""
        self._turn(duals, back=True)

    def inward(self, duals: Duals) -> None:
        """Turn those of what was turned."""
        self._turn(duals, back=False)

    def _turn(self, duals: Duals, back: bool) -> None:
        for key, shape in self.turned:
            y = duals.known.get(key)
            rows, columns = sizes_of(shapes.of_shape(shape), duals.form.instance.dims)
            if y is not None and y.size == rows * columns:
                duals.known[key] = _turned(y, (columns, rows) if back else (rows, columns))


def _turned(y: Array, shape: tuple[int, int]) -> Array:
    return np.ascontiguousarray(y.reshape(shape).T).reshape(-1)


def transposed(draft: Draft) -> tuple[Draft, Transposed] | None:
    """The model with the first matrix variable that is better told by its transpose as that."""
    for variable in draft.model.variables:
        # what a rewriting made has no place in the program as it is written
        if variable.type.is_matrix and variable.name.isidentifier():
            found = _by_transpose(draft, variable)
            if found is not None:
                return found
    return None


def _by_transpose(draft: Draft, variable: VarDecl) -> tuple[Draft, Transposed] | None:
    name = variable.name
    terms, constraints = draft.using(name)
    if not any(_sees_transpose(e, name) for e in _arguments(draft, terms, constraints)):
        return None
    type_ = shapes.of_shape(variable.type.array_shape[::-1])
    made = f"{name}.T"
    v = Expr("var", type_, name=made, variables=frozenset((made,)), span=variable.span)
    before = after = 0
    turned: list[tuple[Key, Shape]] = []
    new: dict[Key, Expr] = {}
    parts: list[tuple[Key, Term | ConstraintDecl]] = [
        *((draft.terms[i], draft.model.terms[i]) for i in terms),
        *((draft.constraints[i], draft.model.constraints[i]) for i in constraints),
    ]
    for key, part in parts:
        argument = part.argument
        straight = _straight(argument, name, v)
        flipped = _flipped(argument, name, v) if _is_transposable(part) else None
        before += _cost(part, argument)
        cost = _cost(part, straight)
        new[key] = straight
        if flipped is not None and _cost(part, flipped) < cost:
            cost, new[key] = _cost(part, flipped), flipped
            turned.append((key, argument.type.array_shape))
        after += cost
    if after + OF_PRODUCT > before or _parts_are_shared(parts):
        return None
    changed_ = {key for key, _ in turned}

    def term(key: Key, t: Term) -> Term:
        if key not in new:
            return t
        return replace(_turned_round(t) if key in changed_ else t, argument=new[key])

    def constraint(key: Key, c: ConstraintDecl) -> ConstraintDecl:
        if key not in new:
            return c
        ref = c.set
        if key in changed_ and ref is not None:
            ref = replace(ref, args=tuple((n, _transpose(e) if e.type.array_shape else e) for n, e in ref.args))
        return replace(c, argument=new[key], set=ref)

    model = replace(
        draft.model,
        variables=tuple(VarDecl(made, type_, x.span) if x is variable else x for x in draft.model.variables),
        terms=tuple(term(k, t) for k, t in zip(draft.terms, draft.model.terms, strict=True)),
        constraints=tuple(constraint(k, c) for k, c in zip(draft.constraints, draft.model.constraints, strict=True)),
    )
    fact = f"{name}: the program sees its transpose, which is solved for"
    return replace(draft, model=model), Transposed(name, made, tuple(turned), fact)


def _parts_are_shared(parts: list[tuple[Key, Term | ConstraintDecl]]) -> bool:
    """True if a norm of the transpose would meet a set of the variable in its prox: what either holds of the multiplier could not be told."""
    alone = [part for _, part in parts if _of_transpose(part.argument) is not None]
    sets = [c for _, c in parts if isinstance(c, ConstraintDecl) and c.set is not None and _is_bare(c.argument)]
    return bool(sets) and any(isinstance(part, Term) for part in alone)


def _of_transpose(e: Expr) -> str | None:
    """The variable of whose transpose an expression is a multiple; None of another."""
    return bare_variable(e.args[0]) if e.op == "transpose" else None


def _is_bare(e: Expr) -> bool:
    return bare_variable(e) is not None or _of_transpose(e) is not None


def _turned_round(t: Term) -> Term:
    """The term with its target transposed; a mean over its rows is a sum over the number of these."""
    target = _transpose(t.target) if t.target is not None and t.target.type.array_shape else t.target
    if t.reduce != "mean":
        return replace(t, target=target)
    rows = algebra.length(t.argument.type.array_shape[0])
    return replace(t, target=target, reduce="sum", coefficient=algebra.ratio(t.coefficient, rows))


def _arguments(draft: Draft, terms: list[int], constraints: list[int]) -> list[Expr]:
    model = draft.model
    return [*(model.terms[i].argument for i in terms), *(model.constraints[i].argument for i in constraints)]


def _sees_transpose(e: Expr, name: str) -> bool:
    """True if an expression has a transpose with the variable in it, or a product with it on the left."""
    return any(
        (part.op == "transpose" and name in part.variables) or (part.op == "matmul" and name in part.args[0].variables)
        for part in e.walk()
    )


def _is_transposable(part: Term | ConstraintDecl) -> bool:
    """True if the function or set of an argument is the same of its transpose."""
    if isinstance(part, ConstraintDecl):
        if part.set is None:
            return part.relation in ("le", "eq")
        return _is_same_turned(part.set)
    if part.kind == "loss":
        return part.weights is None and not LOSSES[part.atom].scores
    word = part.convex
    return word is not None and not part.options and (word.transposable or bool(word.as_loss))


def _is_same_turned(ref: SetRef) -> bool:
    return ref.inner is None and ref.word.transposable and not any(len(e.type.array_shape) == 1 for _, e in ref.args)


# --- expressions ------------------------------------------------------------------------------------------------------


def _straight(e: Expr, name: str, v: Expr) -> Expr:
    """The same expression, with V' in the place of W."""

    def change(part: Expr) -> Expr | None:
        if part.op == "transpose" and name in part.variables:
            return _flipped(part.args[0], name, v)
        if part.op == "var" and part.name == name:
            return algebra.transposed(v)
        return None

    return changed(e, change)


def _flipped(e: Expr, name: str, v: Expr) -> Expr | None:
    """The transpose of an expression, with V in the place of W'; None where that is not as simple."""
    if len(e.type.array_shape) != 2 or e.type.is_family:
        return None
    if e.is_constant:
        return _transpose(e)
    if e.variables != {name}:
        return None
    if e.op == "var":
        return v
    if e.op == "transpose":
        return _straight(e.args[0], name, v)
    type_ = shapes.of_shape(e.type.array_shape[::-1])
    if e.op in ("matmul", "add", "neg"):
        args = tuple(a if not a.type.array_shape else _flipped(a, name, v) for a in e.args)
        known = [a for a in args if a is not None]
        if len(known) < len(args):
            return None
        if e.op == "matmul":
            return algebra.matmul(known[1], known[0], type_, e.span)
        return algebra.add(known, type_, e.span) if e.op == "add" else algebra.negate(known[0], e.span)
    if e.op in ("mul", "div"):
        factor, other = (e.args[1], e.args[0]) if not e.args[1].type.array_shape else e.args
        inner = None if factor.type.array_shape else _flipped(other, name, v)
        if inner is None or (e.op == "div" and factor is not e.args[1]):
            return None
        return algebra.divide(inner, factor, type_, e.span) if e.op == "div" else algebra.multiply(factor, inner, type_)
    return None


def _transpose(e: Expr) -> Expr:
    """The transpose of a constant, which may be one itself."""
    return e.args[0] if e.op == "transpose" else algebra.transposed(e)


def _cost(part: Term | ConstraintDecl, e: Expr) -> int:
    """The cost of the transposes of variables, and of products with variables on the left, in a term or constraint with this argument."""
    if isinstance(part, Term) and part.kind == "affine":
        return 0
    if _of_transpose(e) is not None:
        return OF_BLOCK
    total = 0
    for node in e.walk():
        if node.op == "matmul":
            left, right = node.args
            # X.T on the right is X on the left; of other data on the right nothing is gained
            turned = right.op == "transpose" and (right.variables or left.variables)
            total += OF_PRODUCT if turned else 0
        elif node.op == "transpose" and node.variables:
            total += OF_ANY
    return total
