"""The one import of cvxpy, and the errors where it does not serve."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import RunError
from ..grammar.diagnostic import Diagnostic


def require_cvxpy() -> Any:
    """The module cvxpy; `RunError` FW0311 that says how to install it."""
    try:
        import cvxpy
    except ImportError:
        rule, hint = "What goes to cvxpy needs the extra `oracle`.", "pip install 'fwdsl[oracle]'"
        raise RunError([Diagnostic("FW0311", "cvxpy is not installed", rule=rule, hint=hint)]) from None
    return cvxpy


@contextmanager
def quiet() -> Iterator[None]:
    """A context in which cvxpy's warnings are silent: the residual of an answer says how accurate it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def cannot(what: str) -> RunError:
    """The error for what has no translation."""
    message, hint = f"{what} cannot be translated to cvxpy", "the certificate can still be checked by itself"
    return RunError([Diagnostic("FW0312", message, hint=hint)])
