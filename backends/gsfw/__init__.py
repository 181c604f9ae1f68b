"""Generalised stochastic Frank-Wolfe with a substitute gradient (Lu, Freund 2018)."""

from fwdsl.backends.gsfw.gsfw import GSFW
from fwdsl.backends.gsfw.state import GSFWState

__all__ = ["GSFW", "GSFWState"]
