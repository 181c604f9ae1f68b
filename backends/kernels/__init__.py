"""Compiled array kernels, our thread pool, and the linear operators the methods use.

Importing this package loads NumPy only: numba is loaded by the first `kernel`, scipy by the first sparse operator.
"""

from fwdsl.backends.kernels.blocks import row_blocks
from fwdsl.backends.kernels.compile import (
    compile_seconds,
    compiled_signatures,
    is_compiling,
    kernel,
    kernel_seconds,
    loaded_signatures,
    on_compile,
)
from fwdsl.backends.kernels.operators import Counter, Operator
from fwdsl.backends.kernels.pool import Pool

__all__ = [
    "Counter",
    "Operator",
    "Pool",
    "compile_seconds",
    "compiled_signatures",
    "is_compiling",
    "kernel",
    "kernel_seconds",
    "loaded_signatures",
    "on_compile",
    "row_blocks",
]
