"""A solution as frames of pandas: all entries a row each, one variable in its own shape, or the history of the run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..atoms.low_rank import LARGEST_WRITTEN
from ..errors import RunError, misuse
from ..grammar.diagnostic import Diagnostic
from .labels import axis_names

if TYPE_CHECKING:
    from .solution import Solution

_COLUMNS = ("variable", "row", "column", "value")


def require_pandas() -> Any:
    """The module pandas. Raises `RunError` FW0330 that says how to install it."""
    try:
        import pandas
    except ImportError:
        rule, hint = "A frame is one of pandas, which comes with the extra `notebook`.", "pip install 'fwdsl[notebook]'"
        raise RunError([Diagnostic("FW0330", "pandas is not installed", rule=rule, hint=hint)]) from None
    return pandas


def history_frame(solution: Solution) -> Any:
    """The reports of the run, a row each: `phase`, `method`, `iteration`, `passes`, `elapsed`, `objective`, `dual_bound`, `relative_gap`."""
    from .solution import Progress

    pandas = require_pandas()
    return pandas.DataFrame([asdict(p) for p in solution.history], columns=list(Progress.__dataclass_fields__))


def variable_frame(solution: Solution, name: str) -> Any:
    """One variable in its own shape: a vector as one column of its name, a matrix as rows and columns. More axes are put into the rows' index."""
    pandas = require_pandas()
    if name not in solution.variables:
        hint = f"the variables are {', '.join(solution.variables)}"
        raise misuse("FW0331", f"{name!r} is no variable of the solution", hint=hint)
    value = _written(name, solution[name])
    names = axis_names(solution.instance, name, value.shape)
    axes = [_index(pandas, known, size) for known, size in zip(names, value.shape, strict=True)]
    if value.ndim < 2:
        return pandas.DataFrame({name: value.ravel()}, index=axes[0] if axes else None)
    index = axes[0] if value.ndim == 2 else pandas.MultiIndex.from_product(axes[:-1])
    return pandas.DataFrame(value.reshape(-1, value.shape[-1]), index=index, columns=axes[-1])


def entries_frame(solution: Solution) -> Any:
    """Every entry of every variable in a row: `variable`, `row`, `column` and `value`.

    `row` and `column` are names where the data gave any, else positions; a number has neither, a vector no column. Of more axes `row` has all but the last.
    """
    pandas = require_pandas()
    frames = []
    for name, value in solution.variables.items():
        wide = variable_frame(solution, name)
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
