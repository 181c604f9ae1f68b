"""Names of CVXPY, Convex.jl, JuMP, NumPy and scikit-learn that are no words here, a record each: what to write, or why they are out.

Loaded when an unknown name is met. A name that has become a word is no longer foreign; a test then asks for its record to be deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from .. import COLUMN_WORDS, SETS, SOLVE_OPTIONS, elsewhere, function_named, function_names, is_reserved
from .arrays import ARRAYS
from .estimators import ESTIMATORS
from .functions import FUNCTIONS
from .options import OPTIONS
from .record import WHY, Argument, Foreign, Kind, Place, Way

__all__ = [
    "WHY",
    "Argument",
    "Foreign",
    "Kind",
    "Place",
    "Way",
    "foreign",
    "foreign_names",
    "is_said",
    "is_word",
    "records",
    "said_by_words",
]


def records() -> Iterator[Foreign]:
    """All records, those of names that are words now too."""
    yield from FUNCTIONS
    yield from ARRAYS
    yield from ESTIMATORS
    yield from OPTIONS


@cache
def _table() -> tuple[dict[str, Foreign], dict[str, Foreign]]:
    exact = {record.name: record for record in records()}
    folded: dict[str, Foreign] = {}
    for name, record in exact.items():
        folded.setdefault(name.casefold(), record)
    return exact, folded


def is_word(record: Foreign) -> bool:
    """True if the name is a word here, or the name elsewhere that a word's own record has, where it stands."""
    if record.place == "option":
        return record.name in SOLVE_OPTIONS
    return is_reserved(record.name) or (record.place == "call" and record.name.lower() in said_by_words())


def said_by_words() -> Mapping[str, str]:
    """The words by the names that their own records say go elsewhere for the same thing."""
    functions = (word for name in function_names() if (word := function_named(name)) is not None)
    return elsewhere([*functions, *SETS.values(), *COLUMN_WORDS.values()])


def is_said(way: Way) -> bool:
    """True if this version has all words that a way is written with."""
    return all(is_reserved(word) for word in way.words)


def foreign(name: str, *places: Place) -> Foreign | None:
    """The record of a name from elsewhere, as it is written or in other cases; None for a word and for a name that is nobody's."""
    exact, folded = _table()
    record = exact.get(name) or folded.get(name.casefold())
    return record if record is not None and record.place in places and not is_word(record) else None


def foreign_names() -> tuple[str, ...]:
    """The names that have a record and are no words."""
    return tuple(record.name for record in records() if not is_word(record))
