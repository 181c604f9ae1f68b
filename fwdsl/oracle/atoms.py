"""Translations to cvxpy that a loss or a set brings in its class: words from outside, and ours without a translation in this folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import words
from ..atoms.losses import LOSSES
from ..atoms.vectors import SETS
from ..errors import RunError
from ..grammar.diagnostic import Diagnostic


def loss_of_atom(name: str, z: Any, b: Any, options: Mapping[str, float]) -> Any:
    """One value for each prediction; `RunError` FW0312 where the class has no translation."""
    cls = LOSSES.get(name)
    if cls is None or cls.cvxpy is None:
        raise _untranslated(name, "cvxpy(z, b, p)")
    p = np.array([options[o.name] for o in cls.word.options])
    return cls.cvxpy(z, np.broadcast_to(np.asarray(b, dtype=np.float64), z.shape), p)


def set_of_atom(name: str, x: Any, arguments: Mapping[str, Any]) -> list[Any]:
    """The constraints that say that x is in a set; `RunError` FW0312 where the class has no translation."""
    counts = {p.name for p in words.SETS[name].parameters if p.domain == "count"}
    given = {n: int(v) if n in counts else v for n, v in arguments.items()}
    constraints = SETS[name](x.size, **given).cvxpy(x) if name in SETS else None  # type: ignore[call-arg]
    if constraints is None:
        raise _untranslated(name, "cvxpy(self, x)")
    return constraints


def _untranslated(name: str, method: str) -> RunError:
    hint = f"give its class a method `{method}`, or rely on the certificate, which needs no second solver"
    message = f"there is no independent translation of `{name}` to cvxpy"
    return RunError([Diagnostic("FW0312", message, hint=hint)])
