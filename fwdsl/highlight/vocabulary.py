"""The words of the language by what they are, from their records alone."""

from __future__ import annotations

from ..grammar.words import KEYWORDS as TERMINALS
from ..words import COLUMN_WORDS, SETS, SOURCES, TYPES, function_names
from ..words.keywords import KEYWORDS

STATEMENTS = (*(name for name, word in KEYWORDS.items() if word.starts), "to")
"""Keywords that begin a statement."""

JOINING = tuple(n for n, word in KEYWORDS.items() if n not in STATEMENTS and n not in TYPES and not word.value)
"""Keywords between the parts of a statement."""

CONSTANTS = tuple(name for name, word in KEYWORDS.items() if word.value)
"""Keywords that are values."""

TYPE_NAMES = tuple(TYPES)
FUNCTION_NAMES = function_names()
SOURCE_NAMES = (*SOURCES, *COLUMN_WORDS)
"""Data sources, and the words for their columns."""

SET_NAMES = tuple(name for name in SETS if name not in TYPES)
"""Sets that are not types too."""


def missing() -> set[str]:
    """Keywords of the grammar without a record, and records of no keyword: none, or a test fails."""
    return {terminal.lower() for terminal in TERMINALS} ^ set(KEYWORDS)
