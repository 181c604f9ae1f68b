"""What a user gives to start from, before it is anything a method can use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import DataError
from ..grammar.diagnostic import Diagnostic


def values_of(start: object) -> Mapping[str, Any]:
    """Values by name; `DataError` FW0203 where `start`, which is no solution, has none."""
    if not isinstance(start, Mapping):
        raise refused([f"`start` is a {type(start).__name__}, where a solution or values by name were expected"])
    return start


def flaw(name: str, value: object, shape: tuple[int, ...]) -> str:
    """What is wrong with the value of a variable of this shape; nothing where it is an array of finite numbers."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return f"the value of `{name}` to start from is no array"
    if array.shape != shape:
        return f"`{name}` has shape {shape}, and the value to start from {array.shape}"
    if array.dtype.kind not in "fiub" or not np.all(np.isfinite(array)):
        return f"the value of `{name}` to start from is not made of finite numbers"
    return ""


def refused(messages: Sequence[str]) -> DataError:
    """FW0203, one a message."""
    rule = "a start gives values of the program's variables, in their shapes"
    hint = "start from a solution of the same variables, or leave `start` out"
    return DataError([Diagnostic("FW0203", message, rule=rule, hint=hint) for message in messages])
