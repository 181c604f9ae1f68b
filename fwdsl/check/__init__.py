"""The checker: syntax tree -> checked model. Names, dimensions, types, signs and convexity, before any data is read."""

from __future__ import annotations

from .printer import describe_model, format_constraint, format_set, format_term, format_typed
from .program import Examined, check, compile_text, examine_text
from .shapes import format_type

__all__ = [
    "Examined",
    "check",
    "compile_text",
    "describe_model",
    "examine_text",
    "format_constraint",
    "format_set",
    "format_term",
    "format_type",
    "format_typed",
]
