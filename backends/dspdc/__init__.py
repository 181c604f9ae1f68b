"""Doubly stochastic primal-dual coordinates (Yu, Lin, Yang 2015)."""

from fwdsl.backends.dspdc.dspdc import DSPDC
from fwdsl.backends.dspdc.state import DSPDCState

__all__ = ["DSPDC", "DSPDCState"]
