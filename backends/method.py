"""A method, and a run of it. The driver owns time, limits, progress, checkpoints and status; a run only improves its state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

from fwdsl.atoms.base import Array
from fwdsl.backends.option import Option, OptionValue
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.kinds import FormKind
from fwdsl.light_dataclass import light_dataclass, light_state


@light_dataclass
class Estimate:
    """The predicted cost of a method: data passes to the tolerance, seconds, bytes beyond the data; `why` says what they rest on.

    Up to `trusted` times the predicted passes these, and no gaps, tell what is left of a run: more than 1 where gaps fall at the end alone.
    """

    passes: float
    seconds: float
    memory: float
    why: str
    trusted: float = 1.0


@light_dataclass
class Report:
    """A report on a run, in the canonical sense: P at the current point, the method's own bound, and the phase it is in.

    `bound` may be optimistic (an equality of the dual point still to be repaired): only the verifier certifies. `infeasibility` is that
    of the constraints that moved into the sum, `hidden` how much of P it may hide (multiplier times violation); `failure` says why further steps are
    pointless, where they are; `leaves` says that the run's ray may prove by now that there is no solution.
    """

    objective: float
    bound: float
    phase: str
    infeasibility: float = 0.0
    failure: str = ""
    hidden: float = 0.0
    leaves: bool = False


@light_state
class State:
    """The base of states, which the steps of a run change: plain arrays, lists of arrays and numbers, so that it can be saved and resumed exactly."""

    iteration: int  # steps so far

    def copied(self: S) -> S:
        """A state of the same numbers, whose steps change this one's arrays alone where they write into them."""
        found = object.__new__(type(self))
        vars(found).update(vars(self))
        return found

    def counts(self) -> dict[str, int]:
        """The counts that a method keeps beside iterations and passes, for the record of a solution."""
        return {}


P = TypeVar("P")
S = TypeVar("S", bound=State)


class Run(ABC, Generic[P, S]):
    """One run of a method: bound to a problem (a form on kernels) and to options, it takes steps and owns their state.

    A subclass names its method, `class APGRun(Run[PreparedProblem, APGState], of=APG)`; its constructor takes the problem and the options by name,
    and prepares what steps need and do not change: a run that is resumed prepares it again. All that steps change is in `state`.
    """

    method: ClassVar[type[Method]]
    state: S

    def __init_subclass__(cls, of: type[Method] | None = None) -> None:
        super().__init_subclass__()
        if of is not None:
            cls.method, of.run = of, cls

    def __init__(self, problem: P) -> None:
        self.problem = problem

    @abstractmethod
    def begin(self, x: Any, ys: Sequence[Array] | None) -> S:
        """The state that starts at x (moved into the domain) and, where the method keeps one, at the dual point."""

    def taken_up(self, state: S) -> S:
        """A state to go on from, of a run that was saved or of another one, as this run has it."""
        return state

    @abstractmethod
    def step(self) -> None:
        """One iteration: changes the state in place."""

    @abstractmethod
    def report(self) -> Report:
        """Report on the run, at no cost: from the last step's numbers."""

    @abstractmethod
    def candidate(self) -> tuple[Any, list[Array] | None]:
        """The primal point and dual point to certify, as the state has them."""

    def spare(self) -> Any | None:
        """A point that takes the place of the candidate's where that misses constraints; None where there is none."""
        return None

    def ray(self) -> tuple[Array, list[Array]] | None:
        """The directions in which the primal and dual points last moved, which point to infinity where there is no solution; None if not kept."""
        return None

    def feasibility(self) -> tuple[Array, list[Array]] | None:
        """A point between the constraints, and multipliers that prove that there is none, where there is none.

        They serve a run whose iterates leave for infinity. None where the method has no way to them.
        """
        return None

    def scales(self) -> tuple[Array | None, list[Array] | None]:
        """The sizes of the unknowns and of the rows of the terms, in their units, as far as the method knows; None where it does not."""
        return None, None


class Method(ABC):
    """A method for canonical problems, without a state: its requirements, its predicted cost, its options, and `start`.

    `form` is the canonical form, one that has the form that the method works on (`works_on`); `problem` is it on kernels.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    options: ClassVar[Mapping[str, Option]] = MappingProxyType({})
    #: The module of its runs, where that is not its own: planning does without it.
    runs_in: ClassVar[str] = ""
    #: The class of its runs, which names the method (`of=`).
    run: ClassVar[type[Run[Any, Any]]]
    #: The form that it works on (`fwdsl.canon.forms`).
    works_on: ClassVar[FormKind] = "dense"
    #: Why the planner never chooses it by itself ("a baseline"); "" where predicted times decide.
    by_name_only: ClassVar[str] = ""
    #: Seconds that no estimate of it is below, before data are looked at.
    least_seconds: ClassVar[float] = 0.0
    #: Whether it has a `settles` of its own.
    may_settle: ClassVar[bool] = False
    #: Whether it takes data that stay on their disk: by products, and by Gram matrices and entries that are gathered from ranges of rows.
    streams: ClassVar[bool] = False
    #: Why the host takes its products with data on whatever device they could be, as what it does; "" where it asks the table of kernels for them.
    on_host: ClassVar[str] = "visits single samples, columns or entries by kernels of its own"
    #: Whether predictions may stay with the workers that hold their rows: it does no more with them than arithmetic and sums.
    keeps_rows: ClassVar[bool] = False
    #: Iterations after which a run ends whatever the options say; a limit is a status, never an exception.
    most_iterations: ClassVar[int] = 100_000

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.may_settle = cls.settles.__func__ is not Method.settles.__func__  # type: ignore[attr-defined]

    @classmethod
    def completed(cls, options: Mapping[str, object]) -> dict[str, OptionValue]:
        """The options that a program gave, each accepted by its `Option`, and the defaults of the others."""
        values: dict[str, OptionValue] = {name: option.default for name, option in cls.options.items()}
        return values | {name: cls.options[name].take(value) for name, value in options.items()}

    @classmethod
    def load(cls) -> None:
        """Import what runs need and planning does not, before BLAS is held to one thread."""
        if cls.runs_in:
            import_module(cls.runs_in)

    @classmethod
    def start(
        cls, problem: Any, options: Mapping[str, object], x: Any, ys: Sequence[Array] | None = None
    ) -> Run[Any, Any]:
        """A run from x and, where the method keeps one, the dual point."""
        cls.load()
        run = cls.run(problem.partitioned if cls.keeps_rows else problem, **cls.completed(options))
        run.state = run.begin(x, ys)
        return run

    @classmethod
    def resume(cls, problem: Any, options: Mapping[str, object], state: State) -> Run[Any, Any]:
        """The run that goes on from a state, which it changes."""
        cls.load()
        run = cls.run(problem.partitioned if cls.keeps_rows else problem, **cls.completed(options))
        run.state = run.taken_up(state)
        return run

    @classmethod
    @abstractmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """The reasons why the method does not apply, one sentence each; empty where it does."""

    @classmethod
    def requires_values(cls, form: Any) -> tuple[str, ...]:
        """Reasons that only the bound values show (an infinite side of a box); empty where it applies."""
        return ()

    @classmethod
    def requires_options(cls, form: Any, options: Mapping[str, object]) -> tuple[str, ...]:
        """The faults of options that lie in their domains but do not fit the bound problem (a batch beyond the number of samples)."""
        return ()

    @classmethod
    def settles(cls, arrangement: Arrangement, form: Any) -> str:
        """The reason to choose the method whatever the predicted times, where it applies (`form` is None without data); "" where times decide."""
        return ""

    @classmethod
    def tells(cls, form: Any) -> tuple[str, ...]:
        """Changes of the form before the first step, a line each, for a plan in print."""
        return ()

    @classmethod
    def is_unrivalled(cls, form: Any) -> bool:
        """True if no other method is tried beside it and one follows only where it gives up.

        That is so where looks cost more than steps do: the verifier of low rank takes many products.
        """
        return cls.works_on == "factored"

    @classmethod
    def outruns_repairs(cls, form: Any) -> int:
        """The number of its first candidates that are verified as they are: its next step makes a better dual point sooner than a repair does.

        That is so of methods whose error falls tenfold a step, where there are so many unknowns that a repair takes longer than a step.
        """
        return 0

    @classmethod
    def least(cls, form: Any) -> float:
        """Seconds that its estimate on this form is not below, from sizes alone: a method that cannot be chosen any more is not looked at."""
        return cls.least_seconds

    @classmethod
    @abstractmethod
    def estimate(cls, form: Any, tol: float) -> Estimate | None:
        """The predicted cost on a bound problem, from shapes, counts, what bind measured and one product at most. None where these tell nothing."""
