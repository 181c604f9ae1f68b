"""Canonicalisation: a bound instance becomes a sum of proximable functions of linear maps."""

from .build import canonicalise
from .factored import Factored
from .form import Block, Canonical, Stacked, SumTerm
from .forms import Form

__all__ = ["Block", "Canonical", "Factored", "Form", "Stacked", "SumTerm", "canonicalise"]
