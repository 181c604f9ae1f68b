"""Low-rank methods for matrix problems with a trace norm: numerical cores that know nothing of the canonical form."""

from .completion import Completion, CompletionState
from .observed import Entries
from .trace_regression import RegressionState, TraceRegression

__all__ = [
    "Completion",
    "CompletionState",
    "Entries",
    "RegressionState",
    "TraceRegression",
]
