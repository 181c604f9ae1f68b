"""Primal-dual block Frank-Wolfe (Lei, Zhuo, Caramanis, Dhillon, Dimakis 2019): sparse or low-rank primal steps, greedy dual ones."""

from fwdsl.backends.pdbfw.core import PDBFWState
from fwdsl.backends.pdbfw.pdbfw import PDBFW

__all__ = ["PDBFW", "PDBFWState"]
