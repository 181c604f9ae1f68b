"""The protocol of canonical forms: callers need not know which form they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ..bind.instance import Instance
from ..grammar.diagnostic import Diagnostic

if TYPE_CHECKING:
    from .factored import Factored
    from .form import Canonical, Expansion
    from .kinds import FormKind


class FormTerm(Protocol):
    """A term of the sum, in the user's words."""

    @property
    def text(self) -> str:
        """The term as the program has it."""

    @property
    def origin(self) -> int:
        """The place among the objective's terms, or among the constraints."""

    @property
    def name(self) -> str:
        """The `let` that names it, or nothing."""

    @property
    def is_constraint(self) -> bool:
        """True if the term stands for a constraint."""


class Form(Protocol):
    """A bound problem in the shape that some methods solve: `Canonical` writes every variable down, `Factored` keeps one matrix as factors,
    `Expansion` one function over an implicit feature map by the coefficients of its samples.

    A point x and the parts of a dual point are whatever the form's methods work on (a vector, factors, handles to arrays elsewhere); only the
    form itself looks inside. `fwdsl.solve.forms.Solvable` is what a run asks of it beside this.
    """

    @property
    def instance(self) -> Instance:
        """The program with its data."""

    @property
    def sense(self) -> int:
        """1, or -1 where the program maximises: the form minimises the negative."""

    @property
    def terms(self) -> Sequence[FormTerm]:
        """The terms that the parts of a dual point belong to, in their order."""

    @property
    def size(self) -> int:
        """The number of unknowns, were they all written down."""

    @property
    def scale(self) -> float:
        """The sum of the sizes of the objective's terms at zero: a part of S."""

    @property
    def contradiction(self) -> Diagnostic | None:
        """The reason why no point meets the constraints, where the numbers alone show it."""

    @property
    def dense(self) -> Canonical | None:
        """The same problem with every variable written down; None where that takes too much memory."""

    @property
    def factored(self) -> Factored | None:
        """The same problem with its one matrix kept as factors; None where it has no such form."""

    @property
    def expansion(self) -> Expansion | None:
        """The same problem with its one function as an expansion in samples; None where it has no such form."""

    def why_not(self, kind: FormKind) -> tuple[str, ...]:
        """The reasons why methods that work on a kind of form have none here, a sentence each; empty where they have."""

    def at_hand(self, kind: FormKind) -> Form | None:
        """A form that tells methods of a kind what they would cost; None where it would take work to have one."""

    def split(self, x: Any) -> Mapping[str, object]:
        """The variables' values by name, as the user sees them."""

    def auxiliary(self, x: Any) -> Mapping[str, object]:
        """The values of what is solved for besides the variables (the weights of a polytope's vertices), by name."""

    def dual_sizes(self, parts: Sequence[Any]) -> list[int]:
        """The number of entries of each part of a dual point; `parts` are those of the point asked about, whose rank may be free."""
