"""Canonicalisation: a bound instance becomes a sum of proximable functions of linear maps."""

from .build import canonicalise
from .expansion import Expansion
from .factored import Factored
from .form import Block, Canonical, Stacked, SumTerm
from .forms import Form

__all__ = ["Block", "Canonical", "Expansion", "Factored", "Form", "Stacked", "SumTerm", "canonicalise"]
