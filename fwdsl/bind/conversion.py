"""Converts what was given for a datum to the array, the labels or the number of its type."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..readers.roles import LabelSets
from .arrays import Unfit, known_labels, known_signs, labels, numbers, signs, vector
from .data_operator import DataOperator
from .forms import is_sparse
from .given import Given
from .operators import refuse_types
from .parameters import scalar

_MATRICES = ("matrix", "symmetric", "psd")


def convert(given: Given) -> tuple[Any, tuple[Any, ...]]:
    """The array of a datum, and the label values behind its codes."""
    type_, raw = given.decl.type, given.raw
    if isinstance(raw, DataOperator):
        return refuse_types(given.decl, raw), ()
    if given.labels is not None and type_.kind in ("signs", "labels"):
        return _as_fitted(given, given.labels), given.labels
    if isinstance(raw, LabelSets):
        if type_.kind != "signs" or len(type_.shape) != 2:
            raise Unfit("FW4505", "holds sets of labels", f"declare `{given.decl.name}: signs[n, k]`")
        return raw.signs, tuple(raw.classes.tolist())
    if type_.kind == "labels":
        codes, classes = labels(raw)
        if len(classes) == 1:
            hint = "give data of at least two classes; nothing can be learned from one"
            raise Unfit("FW4525", f"holds one class only, `{classes[0]}`", hint)
        return codes, classes
    if type_.kind == "signs":
        place = given.place if given.located else None
        return signs(raw, len(type_.shape), given.decl.name, place)
    if type_.kind == "real":
        value = scalar(raw)
        if value is None:
            raise Unfit("FW4512", "is no number", f"give one number, or declare `{given.decl.name}: vector[n]`")
        return value, ()
    if type_.kind in _MATRICES:
        return numbers(raw), ()
    if len(type_.array_shape) == 1:
        return vector(raw), ()
    array = numbers(raw)
    if is_sparse(array):
        raise Unfit(
            "FW4505", "is sparse, where a dense array is needed", "give a dense array: only matrices may be sparse"
        )
    return array, ()


def _as_fitted(given: Given, classes: tuple[Any, ...]) -> Any:
    """Labels of new data, coded as in an earlier fit."""
    type_, raw = given.decl.type, given.raw
    if not isinstance(raw, LabelSets):
        return known_labels(raw, classes) if type_.kind == "labels" else known_signs(raw, classes, len(type_.shape))
    at = known_labels(raw.classes, classes)
    signs_ = np.full((raw.signs.shape[0], len(classes)), -1.0)
    signs_[:, at] = raw.signs
    return signs_
