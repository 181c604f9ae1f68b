"""The checked model: what a program means, before any data is read."""

from .expr import Expr, evaluate_dim, sizes_of
from .program import ConstraintDecl, DataDecl, Fact, Model, ParamDecl, SetRef, Term, VarDecl, is_concave, once_per_model
from .types import Dim, Sign, Type, shift_dim, split_dim

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
    "Term",
    "Type",
    "VarDecl",
    "evaluate_dim",
    "is_concave",
    "once_per_model",
    "shift_dim",
    "sizes_of",
    "split_dim",
]
