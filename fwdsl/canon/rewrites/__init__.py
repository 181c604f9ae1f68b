"""Equivalent programs: what a person may write in many ways is brought to the one that the strong methods know.

A rewriting is an identity between models (`slices`, `slacks`, `definitions`). A program that was rewritten is planned and solved as its
`Rewritten` form, and verified, measured and answered as it is written.
"""

from .form import Rewritten, rewritten

__all__ = ["Rewritten", "rewritten"]
