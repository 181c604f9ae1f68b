"""The scores of a fitted program as an affine map of a row: scores = x A + c."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..errors import FwError, RunError
from ..grammar.diagnostic import Diagnostic
from ..results.prediction import Predictor
from ..results.solution import Solution

LARGE = 2.0**30
"""The entries of the rows that A is taken from: beside them the constant part is lost in no digits of A."""

AGREES = 1e-9
"""The relative difference between the program's scores and x A + c that rounding explains."""

BLOCK = 256


@dataclass(frozen=True, eq=False)
class AffineRows:
    """The coefficients A (p, k) and constants c (k,) of scores of rows of the input, a vector of one score a row where `single`.

    `columns` are the names of the input's columns where the fit knows them, `classes` the labels that scores stand for, or None.
    """

    input: str
    coefficients: Array
    constants: Array
    single: bool
    columns: tuple[str, ...]
    classes: tuple[Any, ...] | None


def affine_rows(solution: Solution, what: str | None) -> AffineRows:
    """The affine map of what `solution.predict(what, X=rows)` gives.

    Scores at rows of one large entry give A, the row of zeros gives c, and random rows tell whether that is all. Raises `RunError` FW0215 where
    the scores are no affine map of the rows of one matrix.
    """
    predictor: Predictor = solution.predictor(what)
    if [len(size) for size in predictor.sizes.values()] != [2]:
        raise _refused(
            f"they are computed from {', '.join(f'`{n}`' for n in predictor.inputs) or 'no data'}, not from one matrix"
        )
    bent = [word.name for word in predictor.maps if not word.affine]
    if bent:
        raise _refused(f"`{bent[0]}` is no affine map of its rows")
    (name,) = predictor.inputs
    p = predictor.sizes[name][1]
    constants = _scores(predictor, name, np.zeros((1, p)))[0]
    coefficients = np.concatenate([_differences(predictor, name, p, start) for start in range(0, p, BLOCK)])
    found = AffineRows(
        name,
        coefficients,
        constants,
        np.ndim(predictor(**{name: np.zeros((1, p))})) == 1,
        predictor.columns.get(name, ()),
        predictor.classes,
    )
    _require_affine(predictor, found, p)
    return found


def _differences(predictor: Predictor, name: str, p: int, start: int) -> Array:
    """The rows `start`, ... of A, by central differences, which are exact for an affine map but for rounding."""
    rows = np.eye(min(BLOCK, p - start), p, start) * LARGE
    found: Array = (_scores(predictor, name, rows) - _scores(predictor, name, -rows)) / (2.0 * LARGE)
    return found


def _scores(predictor: Predictor, name: str, rows: Array) -> Array:
    """The scores of rows, as a matrix."""
    try:
        found = np.asarray(predictor(**{name: rows}), dtype=np.float64)
    except FwError as error:
        raise _refused(f"they have no value everywhere: {error.first.message}") from None
    if found.shape[:1] != (len(rows),) or found.ndim > 2:
        raise _refused("they are not one for each row")
    return found.reshape(len(rows), -1)


def _require_affine(predictor: Predictor, found: AffineRows, p: int) -> None:
    rng = np.random.default_rng(0)
    for size in (1.0, 1e3):
        rows = size * rng.standard_normal((4, p))
        ours = rows @ found.coefficients + found.constants
        scale = np.abs(rows) @ np.abs(found.coefficients) + np.abs(found.constants)
        if not np.all(np.abs(ours - _scores(predictor, found.input, rows)) <= AGREES * scale):
            raise _refused("they are no affine map of its rows")


def _refused(why: str) -> RunError:
    return RunError(
        [
            Diagnostic(
                "FW0215",
                f"the scores cannot be exported: {why}",
                rule="What is exported is X @ w + b, or X @ W + b for several classes, where X may be standardised.",
                hint="score with `solution.predict`; kernels and random features need their maps",
            )
        ]
    )
