"""Generalised stochastic Frank-Wolfe with a substitute gradient (Lu, Freund 2018)."""

from .method import GSFW
from .state import GSFWState

__all__ = ["GSFW", "GSFWState"]
