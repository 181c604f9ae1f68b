"""The checked model: what a program means, before any data is read."""

from .dims import (
    Dim,
    add_dims,
    evaluate_dim,
    every,
    monomials,
    multiply_dims,
    names_in,
    shift_dim,
    solve_dim,
    split_dim,
)
from .expr import Expr, SliceItem, sizes_of, slice_key
from .program import (
    ConstraintDecl,
    DataDecl,
    Fact,
    Model,
    ParamDecl,
    SetRef,
    Term,
    VarDecl,
    is_concave,
    is_of_rows,
    once_per_model,
)
from .types import Sign, Type

__all__ = [
    "ConstraintDecl",
    "DataDecl",
    "Dim",
    "Expr",
    "Fact",
    "Model",
    "ParamDecl",
    "SetRef",
    "Sign",
    "SliceItem",
    "Term",
    "Type",
    "VarDecl",
    "add_dims",
    "evaluate_dim",
    "every",
    "is_concave",
    "is_of_rows",
    "monomials",
    "multiply_dims",
    "names_in",
    "once_per_model",
    "shift_dim",
    "sizes_of",
    "slice_key",
    "solve_dim",
    "split_dim",
]
