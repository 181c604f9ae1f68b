"""The kinds of forms that methods work on, and why a problem may have none of a kind."""

from __future__ import annotations

from typing import Literal

FormKind = Literal["dense", "factored", "expansion"]
"""The forms that methods work on: every variable written down, one matrix as factors, one function as an expansion in its samples."""

NO_EXPANSION = "its predictions are not those of one variable over an implicit feature map, with a `sum_squares` and perhaps an intercept"

NO_VALUES = (
    "the numbers bound leave no factored form: the data is neither dense nor sparse numbers, a constant stands beside"
    " the predictions of a loss that is not of residuals, or nothing is bounded"
)
