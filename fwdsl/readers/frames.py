"""Tables whose columns have names (pandas, polars, Arrow), told by what they offer: nothing of them is imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


def column_names(value: object) -> tuple[str, ...]:
    """The names of a frame's columns, as texts; none for whatever is no frame."""
    shape = getattr(value, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or not hasattr(value, "__array__"):
        return ()
    names: Any = getattr(value, "column_names", None)  # Arrow, whose `columns` are arrays
    names = getattr(value, "columns", None) if names is None else names
    if not hasattr(names, "__len__") or not hasattr(names, "__iter__") or len(names) != shape[1]:
        return ()
    return tuple(str(name) for name in names)


def select(frame: Any, positions: Sequence[int]) -> Any:
    """The frame of some columns, in this order."""
    if hasattr(frame, "iloc"):
        return frame.iloc[:, list(positions)]
    return frame.select(list(positions)) if hasattr(frame, "column_names") else frame[:, list(positions)]


def as_array(frame: Any) -> Any:
    """The numbers of a frame. Where columns have no type in common each is converted alone; an array of objects is what has no numbers."""
    import numpy as np  # only where there is a frame: building expressions loads no NumPy

    array = np.asarray(frame)
    if array.dtype.kind != "O" or not_numbers(frame):
        return array
    columns = [np.asarray(select(frame, [i])) for i in range(array.shape[1])]
    return np.concatenate([column.astype(np.float64) for column in columns], axis=1)


def not_numbers(frame: Any) -> list[str]:
    """The names of the columns that hold something else than numbers."""
    import numpy as np

    names = column_names(frame)
    return [name for i, name in enumerate(names) if np.asarray(select(frame, [i])).dtype.kind not in "biuf"]


@dataclass(frozen=True)
class Match:
    """The positions of a fit's columns in new data; `wrong` names those that are not there exactly once. Neither is set where names say nothing."""

    positions: tuple[int, ...] = ()
    wrong: tuple[str, ...] = ()

    def words(self, names: Sequence[str]) -> str:
        """The words for what is wrong: "no column `b`"."""
        absent = [name for name in self.wrong if name not in names]
        listed = absent or self.wrong
        told = ", ".join(f"`{name}`" for name in listed[:5]) + (", ..." if len(listed) > 5 else "")
        return f"{'no column' if absent else 'several columns'} {told}"


def match(fitted: Sequence[str], names: Sequence[str], named: bool = True) -> Match:
    """Find each column of a fit among the `names` of new data, other columns left out.

    A frame made of an array numbers its columns from 0, which is no name: such data are taken by position unless they have the
    fit's names. `named` tells that the new names are names, even where they are these numbers (the header of a file).
    """
    if tuple(fitted) == tuple(names):
        return Match(tuple(range(len(names))))
    wrong = tuple(name for name in fitted if names.count(name) != 1)
    if not wrong:
        return Match(tuple(names.index(name) for name in fitted))
    unnamed = _are_numbers(fitted) or (not named and _are_numbers(names))
    return Match() if unnamed and not set(fitted) & set(names) else Match(wrong=wrong)


def _are_numbers(names: Sequence[str]) -> bool:
    return tuple(names) == tuple(str(i) for i in range(len(names)))
