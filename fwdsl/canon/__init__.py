"""Canonicalisation: a bound instance becomes a sum of proximable functions of linear maps."""

from .build import canonicalise
from .factored import Factored
from .form import Canonical, Expansion
from .forms import Form
from .parts import Block, Stacked, SumTerm
from .rewrites import Rewritten

__all__ = ["Block", "Canonical", "Expansion", "Factored", "Form", "Rewritten", "Stacked", "SumTerm", "canonicalise"]
