"""Low-rank methods for matrix problems with a trace norm: numerical cores that know nothing of the canonical form."""

from fwdsl.backends.lowrank.completion import Completion, CompletionState
from fwdsl.backends.lowrank.observed import ObservedEntries
from fwdsl.backends.lowrank.trace_regression import RegressionState, TraceRegression

__all__ = [
    "Completion",
    "CompletionState",
    "ObservedEntries",
    "RegressionState",
    "TraceRegression",
]
