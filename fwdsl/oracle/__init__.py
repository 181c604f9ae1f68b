"""A second opinion: the model translated to cvxpy, solved there, and compared, for tests, `fwdsl verify` and `Problem.to_cvxpy`.

`reading` is the other way: problems of cvxpy as programs, for `fw.from_cvxpy`.

The translation walks the model's own expressions and the bound values; it shares nothing with the atoms, the verifier or the kernels.
This is the only package that imports cvxpy (the extra `fwdsl[oracle]`), and no solve imports this package.
"""

from .recheck import Recheck, check_certificate
from .solve import OracleResult, Verdict, compare, solve_oracle
from .translate import to_cvxpy

__all__ = ["OracleResult", "Recheck", "Verdict", "check_certificate", "compare", "solve_oracle", "to_cvxpy"]
