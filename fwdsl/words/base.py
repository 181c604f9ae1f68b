"""The parts of every record of a word: its parameters, their domains, and other names of the same thing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import Literal, TypeVar

Domain = Literal[
    "real",
    "positive",
    "nonnegative",
    "unit",  # strictly between 0 and 1
    "exponent",  # any number but 0
    "at_least_1",
    "between_1_and_2",  # strictly
    "count",  # an integer of at least 1
    "seed",  # an integer of at least 0
    "base",  # 0 or 1
    "boolean",
    "string",
    "column",  # a name or a position
    "columns",  # a list of names, positions and words for columns
    "path",
    "separator",  # a character that separates fields
    "decimal",  # "." or ","
    "missing",  # "drop"
    "drop",  # "first"
    "unknown",  # "ignore"
    "value",  # an expression (checked by whoever asks for it)
    "set",
]


Shape = Literal[
    "",  # whoever asks for the argument checks its shape
    "number",
    "bound",  # a number or an array of the expression's shape; it may be infinite
    "entries",  # a vector with an entry for each entry of the expression
    "columns",  # a matrix with a column for each entry of the expression
    "right",  # a number, or a vector with an entry for each row of the matrix before it
]


def _is_whole(v: float) -> bool:
    return math.isfinite(v) and v == math.floor(v)


@dataclass(frozen=True, slots=True)
class NumberDomain:
    """A domain of numbers: what one is (`told`), has to be (`promised`) and is not (`missed`), for sentences; which numbers are in it.

    `sign` is what it says of their sign, `example` one of them.
    """

    told: str
    promised: str
    missed: str
    holds: Callable[[float], bool]
    sign: Literal["unknown", "positive", "nonnegative"]
    example: float
    whole: bool = False


NUMBERS: dict[str, NumberDomain] = {
    "real": NumberDomain("a number", "finite", "not finite", lambda v: True, "unknown", 0.0),
    "positive": NumberDomain("a positive number", "greater than 0", "not positive", lambda v: v > 0.0, "positive", 1.0),
    "nonnegative": NumberDomain(
        "a number that is not negative", "0 or greater", "negative", lambda v: v >= 0.0, "nonnegative", 1.0
    ),
    "unit": NumberDomain(
        "a number between 0 and 1", "between 0 and 1", "not between 0 and 1", lambda v: 0.0 < v < 1.0, "positive", 0.5
    ),
    "exponent": NumberDomain("a number other than 0", "other than 0", "0", lambda v: v != 0.0, "unknown", 1.5),
    "at_least_1": NumberDomain(
        "a number of at least 1", "1 or greater", "less than 1", lambda v: v >= 1.0, "positive", 1.5
    ),
    "between_1_and_2": NumberDomain(
        "a number between 1 and 2", "between 1 and 2", "not between 1 and 2", lambda v: 1.0 < v < 2.0, "positive", 1.5
    ),
    "count": NumberDomain(
        "a whole number of at least 1",
        "a whole number from 1",
        "not a whole number of at least 1",
        lambda v: _is_whole(v) and v >= 1.0,
        "positive",
        1.0,
        whole=True,
    ),
    "seed": NumberDomain(
        "a whole number that is not negative",
        "a whole number from 0",
        "not a whole number of at least 0",
        lambda v: _is_whole(v) and v >= 0.0,
        "nonnegative",
        0.0,
        whole=True,
    ),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument, by position or by name. Without a default it is required; `optional` ones may be left out.

    `shape` is that of the value, beside the expression that a set is of; `kind` is the type that data given for it in Python are declared with,
    where their values do not tell.
    """

    name: str
    domain: Domain = "value"
    default: float | bool | None = None
    optional: bool = False
    shape: Shape = ""
    kind: Literal["", "signs", "labels", "index", "psd", "weights"] = ""
    #: It may be given any number of times, by position.
    repeated: bool = False
    #: Its entries are nonnegative, none is larger than the one before, and the first is positive.
    falls: bool = False
    #: For the table of data sources.
    meaning: str = ""

    @property
    def required(self) -> bool:
        return self.default is None and not self.optional


def values(*names: str) -> tuple[Parameter, ...]:
    """Required parameters, each an expression."""
    return tuple(Parameter(name) for name in names)


GROUPS = (Parameter("groups", kind="index"), Parameter("weights", optional=True))
"""The groups of a group norm or ball, and a weight for each."""

AXIS = Parameter("axis", "seed", optional=True)
"""The axis of a matrix along which a function is taken: 1 of each row, 0 of each column."""

MORE = Parameter("more", optional=True, repeated=True)
"""Further arguments like the first one."""

EXPONENT = (Parameter("p", "at_least_1"),)
"""The exponent of a p-norm or its ball."""

SHARES = Parameter("weights", shape="entries", kind="weights", optional=True)
"""Nonnegative weights of entries, of which the shares in their sum count."""

LAMBDAS = (Parameter("lambdas", shape="entries", kind="weights", falls=True),)
"""The weights of entries by the rank of their sizes, of a sorted norm or ball: the largest size has the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word that is called like a function: its name, its formula in one line, its parameters.

    `elsewhere` has the names that other systems, or habits, give to the same thing: what "did you mean" offers the word for.
    """

    name: str
    formula: str
    parameters: tuple[Parameter, ...] = ()
    elsewhere: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """A sentence on what it is: the docstring of the function of its name."""
        return self.formula

    @property
    def ranked(self) -> bool:
        """True if it weighs entries by the rank of their sizes."""
        return any(p.falls for p in self.parameters)

    @property
    def call(self) -> str:
        """The text of a call: `huber(prediction, target, delta=1)`."""
        written = (
            "..."
            if p.repeated
            else p.name
            if p.default is None or isinstance(p.default, bool)
            else f"{p.name}={p.default:g}"
            for p in self.parameters
        )
        return f"{self.name}({', '.join(written)})" if self.parameters else self.name


K = TypeVar("K")
V = TypeVar("V")
W = TypeVar("W", bound=Word)


class Registry(dict[K, V]):
    """A mapping from the names of words; `fwdsl.register` adds to it. A saved object may hold a word that another process registered."""

    def __missing__(self, name: K) -> V:
        raise KeyError(
            f"`{name}` is no word of this process: a loss or set from outside is one after `fwdsl.register(CLASS)`"
        )


class Lazy(MutableMapping[K, V]):
    """A mapping from names to values, each made by `make(name)` when it is first asked for: a run loads only what it uses."""

    def __init__(self, names: Iterable[K], make: Callable[[K], V]) -> None:
        self._made: Registry[K, V | None] = Registry(dict.fromkeys(names))
        self._make = make

    def __getitem__(self, name: K) -> V:
        found = self._made[name]
        if found is None:
            found = self._made[name] = self._make(name)
        return found

    def __setitem__(self, name: K, value: V) -> None:
        self._made[name] = value

    def __delitem__(self, name: K) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[K]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __contains__(self, name: object) -> bool:
        return name in self._made


class Words(Registry[str, W]):
    """Records by name."""

    def __init__(self, words: Iterable[W]) -> None:
        super().__init__({word.name: word for word in words})
