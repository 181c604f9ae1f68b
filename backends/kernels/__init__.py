"""Compiled array kernels, our thread pool, and the linear operators the methods use.

Importing this package loads NumPy only: numba is loaded by the first `kernel`, scipy by the first sparse operator.
"""

from .blocks import row_blocks
from .compile import compile_seconds, compiled_signatures, kernel, kernel_seconds, loaded_signatures, on_compile
from .operators import Counter, Operator
from .pool import Pool

__all__ = [
    "Counter",
    "Operator",
    "Pool",
    "compile_seconds",
    "compiled_signatures",
    "kernel",
    "kernel_seconds",
    "loaded_signatures",
    "on_compile",
    "row_blocks",
]
