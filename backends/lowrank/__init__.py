"""Low-rank methods for matrix problems with a trace norm: numerical cores that know nothing of the canonical form."""

from .completion import Certificate, Completion, CompletionState, complete
from .observed import Entries
from .trace_regression import RegressionState, TraceRegression

__all__ = [
    "Certificate",
    "Completion",
    "CompletionState",
    "Entries",
    "RegressionState",
    "TraceRegression",
    "complete",
]
