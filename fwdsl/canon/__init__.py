"""Canonicalisation: a bound instance becomes a sum of proximable functions of linear maps."""

from .build import canonicalise
from .expansion import Expansion
from .factored import Factored
from .form import Block, Canonical, Stacked, SumTerm
from .forms import Form
from .rewrites import Rewritten

__all__ = ["Block", "Canonical", "Expansion", "Factored", "Form", "Rewritten", "Stacked", "SumTerm", "canonicalise"]
