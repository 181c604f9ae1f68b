"""Singular values and eigenvalues of linear operators: the largest ones with their vectors, and bounds from above that certify.

`top_singular` and `top_eigen` estimate (Lanczos, warm subspace iteration, LOBPCG); `largest_singular_bound` and
`largest_eigenvalue_bound` prove, each bound with its kind (`rigorous` or `probabilistic`) and a sentence that says why it holds.
"""

from .bounds import SpectralBound, largest_eigenvalue_bound, largest_singular_bound
from .operators import LinearOperator, SparseOperator, as_operator
from .top import Pairs, SingularTriplets, top_eigen, top_singular

__all__ = [
    "LinearOperator",
    "Pairs",
    "SingularTriplets",
    "SparseOperator",
    "SpectralBound",
    "as_operator",
    "largest_eigenvalue_bound",
    "largest_singular_bound",
    "top_eigen",
    "top_singular",
]
