"""What a method is. The driver owns time, limits, progress, checkpoints and status; a method only improves its state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from ..atoms.base import Array
from ..canon.arrange import Arrangement
from .option import Option, Value


@dataclass(frozen=True)
class Estimate:
    """What a method would cost: data passes to the tolerance, seconds, bytes beyond the data; `why` says from what."""

    passes: float
    seconds: float
    memory: float
    why: str


@dataclass(frozen=True)
class Report:
    """Where a run stands, in the canonical sense: P at the current point, the method's own bound, and the phase it is in.

    `bound` may be optimistic (an equality of the dual point still to be repaired): only the verifier certifies. `infeasibility` is that
    of the constraints that moved into the sum, `hidden` what it may hide of P (multiplier times violation); `failure` says why further steps are
    pointless, where they are.
    """

    objective: float
    bound: float
    phase: str
    infeasibility: float = 0.0
    failure: str = ""
    hidden: float = 0.0


@dataclass
class State:
    """Base of a method's state: plain arrays, lists of arrays and numbers, so that it can be saved and resumed exactly.

    `journal` is the driver's own (`fwdsl.solve.journal`), which goes with the state.
    """

    journal: ClassVar[Any] = None

    iteration: int

    def counts(self) -> dict[str, int]:
        """What a method counts beside iterations and passes, for the record of a solution."""
        return {}


class Method(ABC):
    """A method for canonical problems: `form` is the canonical one or, for methods that are `factored`, one with a factored form; `problem` is
    it on kernels. Options that a program may give are in `options`, and come to the constructor by name."""

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    options: ClassVar[Mapping[str, Option]] = MappingProxyType({})
    #: It works on the factored form (`fwdsl.canon.factored`), not on the dense one.
    factored: ClassVar[bool] = False
    #: Why the planner never chooses it by itself ("a baseline"); "" where predicted times decide.
    by_name_only: ClassVar[str] = ""
    #: Iterations after which a run ends whatever the options say; a limit is a status, never an exception.
    most_iterations: ClassVar[int] = 100_000

    @classmethod
    def with_options(cls, given: Mapping[str, Any]) -> Method:
        """The method with the options that a program gave, each accepted by its `Option`, and the defaults of the others."""
        values: dict[str, Value] = {name: option.default for name, option in cls.options.items()}
        values |= {name: cls.options[name].take(value) for name, value in given.items()}
        return cls(**values)

    @classmethod
    @abstractmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Why the method does not apply, one sentence each; empty where it does."""

    @classmethod
    def requires_values(cls, form: Any) -> tuple[str, ...]:
        """Reasons that only the bound values show (an infinite side of a box); empty where it applies."""
        return ()

    @classmethod
    def requires_options(cls, form: Any, options: Mapping[str, Any]) -> tuple[str, ...]:
        """What is wrong with options that lie in their domains but do not fit the bound problem (a batch beyond the number of samples)."""
        return ()

    @classmethod
    def settles(cls, arrangement: Arrangement, form: Any) -> str:
        """Why it is to be chosen whatever the predicted times, where it applies (`form` is None without data); "" where times decide."""
        return ""

    @classmethod
    @abstractmethod
    def estimate(cls, form: Any, tol: float) -> Estimate | None:
        """What it would cost on a bound problem, from shapes, counts, what bind measured and one product at most. None where these tell nothing."""

    @abstractmethod
    def init(self, problem: Any, x: Any, ys: Sequence[Array] | None) -> Any:
        """The state that starts at x (moved into the domain) and, where the method keeps one, the dual point."""

    @abstractmethod
    def step(self, problem: Any, state: Any) -> None:
        """One iteration, in place."""

    @abstractmethod
    def report(self, problem: Any, state: Any) -> Report:
        """Cheap: from what the last step left behind."""

    def ray(self, problem: Any, state: Any) -> tuple[Array, list[Array]] | None:
        """The directions in which the primal and dual points last moved, which point to infinity where there is no solution; None if not kept."""
        return None

    def scales(self, problem: Any, state: Any) -> tuple[Array | None, list[Array] | None]:
        """How large the unknowns and the rows of the terms are, in their units, as far as the method knows; None where it does not."""
        return None, None

    @abstractmethod
    def candidate(self, problem: Any, state: Any) -> tuple[Any, list[Array] | None]:
        """The primal point and dual point to certify, as the state has them."""
