"""The words of the language, a record each: signature, formula, and every fact that anybody asks of a word.

Pure data. The mathematics is in `fwdsl.atoms`, each atom tied to its record when it is imported. The checker, the canonical form, the planner,
the certificates, `info`, the builder, the oracle and the documentation ask a record or an atom; none has a table of words of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from .base import AXIS, NUMBERS, SHARES, Domain, Parameter, Word
from .columns import COLUMN_WORDS, ONEHOT
from .constants import CONSTANTS, NUMBERS_BY_NAME, ConstantWord
from .features import FEATURE_MAPS, MapWord
from .functions import (
    CONVEX,
    FUNCTIONS,
    GROUPED,
    LARGEST_SIZE,
    SIZES,
    SQUARES,
    ConvexWord,
    FunctionWord,
)
from .losses import ABSOLUTE, ENTRYWISE, HINGE, HUBER, LOSSES, QUANTILE, SQUARED_HINGE, EntryWord, LossWord
from .options import SOLVE_OPTIONS, OptionWord
from .set_word import NONNEGATIVE, SetWord
from .sets import BOX, PSD, SETS, SIMPLEX
from .sources import SOURCES, SourceWord
from .types import SCALAR_TYPES, TYPES, Scalar, TypeWord

__all__ = [
    "ABSOLUTE",
    "AXIS",
    "BOX",
    "COLUMN_WORDS",
    "CONSTANTS",
    "CONVEX",
    "ENTRYWISE",
    "FEATURE_MAPS",
    "FUNCTIONS",
    "GROUPED",
    "HINGE",
    "HUBER",
    "LARGEST_SIZE",
    "LOSSES",
    "NONNEGATIVE",
    "NUMBERS",
    "NUMBERS_BY_NAME",
    "ONEHOT",
    "PSD",
    "QUANTILE",
    "SCALAR_TYPES",
    "SETS",
    "SHARES",
    "SIMPLEX",
    "SIZES",
    "SOLVE_OPTIONS",
    "SOURCES",
    "SQUARED_HINGE",
    "SQUARES",
    "TYPES",
    "ConstantWord",
    "ConvexWord",
    "Domain",
    "EntryWord",
    "FunctionWord",
    "LossWord",
    "MapWord",
    "OptionWord",
    "Parameter",
    "Scalar",
    "SetWord",
    "SourceWord",
    "TypeWord",
    "Word",
    "elsewhere",
    "function_named",
    "function_names",
    "is_reserved",
    "is_taken",
    "kind_of_word",
]


def function_named(name: str) -> Word | None:
    """The loss, function of entries, convex function, function or feature map of a name; None for any other word."""
    return (
        LOSSES.get(name)
        or ENTRYWISE.get(name)
        or CONVEX.get(name)
        or FUNCTIONS.get(name)
        or FEATURE_MAPS.get(name)
        or CONSTANTS.get(name)
    )


def elsewhere(words: Iterable[Word]) -> dict[str, str]:
    """The words by the names that go elsewhere for the same thing."""
    return {name: word.name for word in words for name in word.elsewhere}


def function_names() -> tuple[str, ...]:
    """All names that are called like a function: of losses, convex functions, functions, feature maps."""
    return tuple(dict.fromkeys((*LOSSES, *ENTRYWISE, *CONVEX, *FUNCTIONS, *FEATURE_MAPS, *CONSTANTS)))


def is_reserved(name: str) -> bool:
    """True if a word has a meaning in the language."""
    return function_named(name) is not None or name in SETS or name in TYPES


def is_taken(name: str) -> bool:
    """True if nothing can be declared by the name of a word. The functions of numbers leave theirs: `power` may be a datum beside `power(x, 2)`."""
    of_numbers = name in ENTRYWISE or name in CONSTANTS or (name in LOSSES and LOSSES[name].entrywise)
    return is_reserved(name) and not of_numbers


def kind_of_word(name: str) -> str:
    """The kind of a word of the language, for a sentence: "a loss", "a set", ...; empty for any other word."""
    if name in LOSSES and not LOSSES[name].entrywise:
        return "a loss"
    if function_named(name) is not None:
        return "a function"
    if name in SETS:
        return "a set"
    if name in TYPES:
        return "a type"
    if name in COLUMN_WORDS:
        return "a word for columns"
    return "a data source" if name in SOURCES else ""
