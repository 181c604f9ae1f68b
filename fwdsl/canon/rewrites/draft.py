"""A model on its way to an equivalent one: where each of its terms and constraints comes from, and the way back for points and multipliers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...atoms.arrays import ROUNDING
from ...atoms.base import Array
from ...light_dataclass import light_dataclass, light_state
from ...model import ConstraintDecl, Model, Term, VarDecl
from ..affine import AffineReader, KeptReader
from ..form import Canonical, once_per_form

Key = tuple[str, object]
"""("term", i) and ("constraint", i) of the program as it is written; ("new", what) of what a rewriting made, ("point", name) for
a variable that it made, whose value may be a multiplier."""


Place = slice | NDArray[np.intp]
"""The entries of a variable, in a row or in any order."""


@once_per_form
def reader_of(form: Canonical) -> AffineReader:
    """The reader of the expressions of a form's program."""
    return KeptReader(form.instance, {b.name: b for b in form.blocks})


@light_state
class Duals:
    """Multipliers on their way back: of the program as it is written (`form`) at its point x, an array for each term of the sum that a key has.

    `known` has those of the rewritten program's arguments; those that its blocks hold are among them.
    """

    form: Canonical
    x: Array
    known: dict[Key, Array]

    @property
    def reader(self) -> AffineReader:
        return reader_of(self.form)

    def left(self, name: str, held: Mapping[Key, float]) -> Array:
        """-(q + K'y) on a variable: what no term with a known multiplier balances; 0 where that is rounding.

        `held` are terms and constraints of the variable itself, with the number that multiplies it in each: another rewriting may yet change
        the argument that their multipliers belong to. Those of a root of a matrix stay, and those that are not of it in the program as it is written.
        """
        block = next(b for b in self.form.blocks if b.name == name)
        out = -self.form.q[block.slice]
        sizes, own = np.abs(out), set()
        for term in self.form.terms:
            key = key_of_term(term.is_constraint, term.origin)
            apart = key in held and not self._is_of_root(key)
            if not apart:
                own.add(key)
            y = np.zeros(term.map.rows) if apart else self.known.get(key)
            for other, m in term.map.parts:
                if other is block and y is not None and y.size == m.rows:
                    z = term.of_written(y)
                    out, sizes = out - m.adjoint(z), sizes + m.absolute().adjoint(np.abs(z))
        for key, factor in held.items():
            if key in self.known and key not in own and self._is_of(key, name):
                part = factor * self.known[key]
                out, sizes = out - part, sizes + np.abs(part)
        # in an equation of its own a multiplier that is rounding would be all that there is
        return np.asarray(np.where(np.abs(out) <= ROUNDING * sizes, 0.0, out))

    def _part(self, key: Key) -> Term | ConstraintDecl | None:
        """The term or constraint of the program as it is written; None of one that a rewriting made."""
        kind, i = key
        if not isinstance(i, int):
            return None
        model = self.form.instance.model
        return model.terms[i] if kind == "term" else model.constraints[i]

    def _is_of(self, key: Key, name: str) -> bool:
        part = self._part(key)
        return part is None or name in part.argument.variables

    def _is_of_root(self, key: Key) -> bool:
        part = self._part(key)
        return isinstance(part, Term) and part.convex is not None and bool(part.convex.root_of)


def key_of_term(is_constraint: bool, origin: int) -> Key:
    """The key of a term of the sum."""
    return ("constraint" if is_constraint else "term", origin)


class RewritingStep:
    """One rewriting of a model: an identity, and what leads back through it, which is nothing where points and multipliers stay the same."""

    #: A sentence on what was recognised, for the plan.
    fact: str

    def parts(self, outer: Canonical) -> Mapping[str, tuple[str, Place]]:
        """The variable of the program as it is written that each one that the rewriting made is part of, and its place there."""
        return {}

    def place(self, reader: AffineReader, x: Array, known: dict[Key, Array]) -> None:
        """Fill in the values of variables that the rewritten program does not have, at x with all others; `known` are its multipliers."""

    def multipliers(self, duals: Duals) -> None:
        """Add the multipliers of what the rewriting took away."""

    def inward(self, duals: Duals) -> None:
        """Add the multipliers of what the rewriting made."""


@light_dataclass
class Draft:
    """A model, and the key of each of its terms and constraints."""

    model: Model
    terms: tuple[Key, ...]
    constraints: tuple[Key, ...]

    @staticmethod
    def of(model: Model) -> Draft:
        """The model as it is written."""
        terms, constraints = len(model.terms), len(model.constraints)
        return Draft(
            model, tuple(("term", i) for i in range(terms)), tuple(("constraint", i) for i in range(constraints))
        )

    def using(self, name: str) -> tuple[list[int], list[int]]:
        """The terms and the constraints that a variable enters."""
        terms = [i for i, t in enumerate(self.model.terms) if name in t.argument.variables]
        return terms, [i for i, c in enumerate(self.model.constraints) if name in c.argument.variables]

    def without(self, name: str, terms: list[int], constraints: list[int], made: list[tuple[Key, Term]]) -> Draft:
        """The model without a variable and these terms and constraints, and with others in their place."""
        kept = [i for i in range(len(self.terms)) if i not in terms]
        held = [i for i in range(len(self.constraints)) if i not in constraints]
        model = self.model
        return Draft(
            replace(
                model,
                variables=tuple(v for v in model.variables if v.name != name),
                terms=(*(model.terms[i] for i in kept), *(t for _, t in made)),
                constraints=tuple(model.constraints[i] for i in held),
            ),
            (*(self.terms[i] for i in kept), *(k for k, _ in made)),
            tuple(self.constraints[i] for i in held),
        )

    def changed(
        self,
        variables: tuple[VarDecl, ...],
        term: Callable[[Term], Term],
        constraint: Callable[[ConstraintDecl], ConstraintDecl],
    ) -> Draft:
        """The model with other variables, and each term and constraint rewritten in them."""
        model = self.model
        return replace(
            self,
            model=replace(
                model,
                variables=variables,
                terms=tuple(map(term, model.terms)),
                constraints=tuple(map(constraint, model.constraints)),
            ),
        )
