"""Singular values and eigenvalues of linear operators: the largest ones with their vectors, and bounds from above that certify.

`top` estimates them (Lanczos, warm subspace iteration, LOBPCG); `bounds` proves, each bound with its kind (`rigorous` or `probabilistic`) and a
sentence that says why it holds.
"""
