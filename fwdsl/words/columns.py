"""The words for columns of a table, in the `columns` of a source. Their mathematics is in `fwdsl.readers.categories`."""

from __future__ import annotations

from .base import Parameter, Word

ONEHOT = Word(
    name="onehot",
    formula="A column of 0 and 1 for each value of the column, the levels in sorted order.",
    parameters=(
        Parameter("column", "column", meaning="its name or its position from 0"),
        Parameter("drop", "drop", optional=True, meaning='`"first"` leaves out the first level'),
        Parameter(
            "unknown", "unknown", optional=True, meaning='`"ignore"` gives zeros to levels that the fit has not seen'
        ),
    ),
    elsewhere=("one_hot", "onehotencoder", "get_dummies", "dummies", "dummy", "factor", "categorical", "category"),
)

COLUMN_WORDS: dict[str, Word] = {word.name: word for word in (ONEHOT,)}
