"""A solution as frames of pandas: all entries a row each, one variable in its own shape, or the history of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..atoms.low_rank import LARGEST_WRITTEN
from ..errors import misuse
from ..extras import require
from .labels import axis_names

if TYPE_CHECKING:
    from ..bind.instance import Instance
    from .evaluation import Fit

_COLUMNS = ("variable", "row", "column", "value")


def history_frame(reports: Sequence[Any], columns: Sequence[str]) -> Any:
    """The reports of a run, data classes with these fields, a row each."""
    return require("notebook").DataFrame([asdict(report) for report in reports], columns=list(columns))


def variable_frame(variables: Mapping[str, Any], instance: Instance | Fit | None, name: str) -> Any:
    """One variable in its own shape: a vector as one column of its name, a matrix as rows and columns. More axes are put into the rows' index."""
    pandas = require("notebook")
    if name not in variables:
        hint = f"the variables are {', '.join(variables)}"
        raise misuse("FW0331", f"{name!r} is no variable of the solution", hint=hint)
    value = _written(name, variables[name])
    names = axis_names(instance, name, value.shape)
    axes = [_index(pandas, known, size) for known, size in zip(names, value.shape, strict=True)]
    if value.ndim < 2:
        return pandas.DataFrame({name: value.ravel()}, index=axes[0] if axes else None)
    index = axes[0] if value.ndim == 2 else pandas.MultiIndex.from_product(axes[:-1])
    return pandas.DataFrame(value.reshape(-1, value.shape[-1]), index=index, columns=axes[-1])


def entries_frame(variables: Mapping[str, Any], instance: Instance | Fit | None) -> Any:
    """Every entry of every variable in a row: `variable`, `row`, `column` and `value`.

    `row` and `column` are names where the data gave any, else positions; a number has neither, a vector no column. Of more axes `row` has all but
    the last.
    """
    pandas = require("notebook")
    frames = []
    for name, value in variables.items():
        wide = variable_frame(variables, instance, name)
        axes = np.ndim(value)
        rows = list(wide.index) if axes else [None]
        columns = list(wide.columns) if axes > 1 else [None]
        places = [(name, row, column) for row in rows for column in columns]
        frame = pandas.DataFrame(places, columns=_COLUMNS[:3], dtype=object)
        frame["value"] = wide.to_numpy().ravel()
        frames.append(frame)
    return pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame(columns=list(_COLUMNS))


def _index(pandas: Any, names: tuple[Any, ...] | None, size: int) -> Any:
    return pandas.RangeIndex(size) if names is None else pandas.Index(names)


def _written(name: str, value: Any) -> Any:
    if np.size(value) > LARGEST_WRITTEN:
        hint = f"its factors are solution[{name!r}].U and .V"
        raise misuse("FW0331", f"`{name}` is kept as factors and too large for a frame", hint=hint)
    return np.asarray(value) + 0.0  # no negative zero
