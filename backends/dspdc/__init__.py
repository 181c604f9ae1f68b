"""Doubly stochastic primal-dual coordinates (Yu, Lin, Yang 2015)."""

from .method import DSPDC
from .state import DSPDCState

__all__ = ["DSPDC", "DSPDCState"]
