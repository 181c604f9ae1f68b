"""Least squares on the Gram matrix, in intervals, simplices and l1 balls: block principal pivoting."""

from fwdsl.backends.pivoting.method import Pivoting, PivotingState

__all__ = ["Pivoting", "PivotingState"]
