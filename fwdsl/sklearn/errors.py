"""Errors of estimators, which scikit-learn takes for its own, with the codes of ours."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from ..errors import RunError
from ..grammar.diagnostic import Diagnostic
from ..model import Model


class EstimatorError(RunError, ValueError):
    """An estimator and its program or data do not fit. It is a `ValueError` too, as scikit-learn's own errors are."""


def estimator_error(code: str, message: str, *, rule: str = "", hint: str = "") -> EstimatorError:
    """The exception for one finding."""
    return EstimatorError((Diagnostic(code, message, rule=rule, hint=hint),))


def no_such_data(model: Model, role: str, name: object, call: str) -> EstimatorError:
    """The program has no data of the name that the estimator's argument `role` gives (FW0220)."""
    names = [d.name for d in model.data]
    close = get_close_matches(str(name), names, n=1, cutoff=0.7)
    # samples are a matrix, and targets mostly none
    fitting = [d.name for d in model.data if (d.type.is_matrix or d.type.is_entries) == (role == "X")]
    other = next(
        iter([*(n for n in close if n in fitting), *(n for n in (role,) if n in names), *fitting, *close, *names]), "X"
    )
    return estimator_error(
        "FW0220",
        f"the program has no data `{name}`, which `{role}` names",
        rule=f"`{role}` names data of the program, which has {listed(names)}.",
        hint=f'write {call}(..., {role}="{other}") with the name of yours',
    )


def listed(names: Iterable[str]) -> str:
    """Names in words: "`a`, `b`", or "none"."""
    return ", ".join(f"`{n}`" for n in names) or "none"
