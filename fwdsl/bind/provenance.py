"""Says where the values of an instance come from."""

from __future__ import annotations

DECLARED = "the declaration"
"""The origin of a value that the program's text gives: a literal, or the default of a parameter."""
