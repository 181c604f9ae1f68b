"""The error for what cvxpy does not serve, and a context without its warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import RunError
from ..grammar.diagnostic import Diagnostic


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
