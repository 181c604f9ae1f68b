"""Programs as estimators use them: each text compiled once in a process, and what its names are to an estimator."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..files.program import read_program
from ..model import DataDecl, Expr, Model, Term, once_per_model
from ..problem import Problem
from ..results.evaluation import data_of
from ..results.prediction import prediction_of
from ..session import Raising, Session
from ..words import LOSSES, LossWord
from .errors import estimator_error, no_such_data


def compiled(program: object, name: str = "<text>") -> Problem:
    """The problem of a program: a `Problem`, a text (of several lines), which messages call `name`, or the path of a file.

    Raises `FwError` for a file that cannot be read, FW0220 for anything else.
    """
    if isinstance(program, Problem):
        return program
    if isinstance(program, str) and "\n" in program:
        return _parsed(program, name, Path())
    if isinstance(program, str | os.PathLike):
        path = str(os.fspath(program))
        return _parsed(read_program(path), path, Path(path).parent)
    raise estimator_error(
        "FW0220",
        f"`program` is of the type `{type(program).__name__}`, which is no program",
        rule="A program is a text, the path of a `.fw` file, or a problem of `fw.load`, `fw.parse`, `fw.minimize`.",
        hint='write FwRegressor("lasso.fw")',
    )


@lru_cache(maxsize=256)
def _parsed(text: str | bytes, name: str, folder: Path) -> Problem:
    return Problem(Session(text, name, folder, Raising()), {})


@dataclass(frozen=True)
class Names:
    """A program's names for what an estimator is given: samples, targets (None where there are none), weights; and the `let` that is predicted,
    or None for the argument of the program's losses. `call` is the estimator's class, for messages."""

    call: str
    X: str
    y: str | None
    weights: str
    predict: str | None = None


@dataclass(frozen=True)
class Roles:
    """The parts of a program that an estimator names: declarations, the prediction, and the loss of that prediction where there is one."""

    X: DataDecl
    y: DataDecl | None
    weights: DataDecl | None
    prediction: Expr
    loss: Term | None
    averaged: bool
    """True if the program takes the mean of what it weighs."""

    @property
    def word(self) -> LossWord | None:
        """The record of the loss."""
        return None if self.loss is None else LOSSES[self.loss.atom]


@once_per_model
def roles_of(model: Model, names: Names) -> Roles:
    """The roles of a program's names. Raises FW0220 for data that are not there, FW0204 and FW0211 where what is predicted cannot be told."""
    data = {d.name: d for d in model.data}
    for role, name in (("X", names.X), ("y", names.y)):
        if name not in data and not (name is None and role == "y"):
            raise no_such_data(model, role, name, names.call)
    prediction = prediction_of(model, names.predict)
    losses = [t for t in model.terms if t.kind == "loss" and t.argument == prediction]
    weighed = [t for t in model.terms if t.weights is not None and names.weights in data_of([t.weights])]
    return Roles(
        data[names.X],
        None if names.y is None else data[names.y],
        data.get(names.weights),
        prediction,
        losses[0] if len(losses) == 1 else None,
        bool(weighed) and all(t.reduce == "mean" for t in weighed),
    )


def coefficients(roles: Roles) -> tuple[str, str | None] | None:
    """The variables of coefficients and intercept in a prediction `X @ w` or `X @ w + b`; None where it is another one."""
    expr = roles.prediction
    parts = expr.args if expr.op == "add" else (expr,)
    products = [e for e in parts if e.op == "matmul" and e.args[0].op == "data" and e.args[1].op == "var"]
    others = [e for e in parts if e.op == "var"]
    if len(products) != 1 or len(others) > 1 or len(products) + len(others) != len(parts):
        return None
    matrix, variable = products[0].args
    return (variable.name, others[0].name if others else None) if matrix.name == roles.X.name else None
