"""Warnings about data that make a problem hard to solve."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..model import Model
from ..model.options import Options
from .findings import Findings
from .instance import DataStats

_RATIO = 1e4
_FLOAT32_TOLERANCE = 1e-6


def warn_scales(model: Model, stats: Mapping[str, DataStats], findings: Findings) -> None:
    """Warn where the Euclidean norms of a matrix's columns differ by more than 1e4; columns of zeros do not count."""
    for decl in model.data:
        measured = stats.get(decl.name)
        if decl.type.kind != "matrix" or measured is None or measured.column_norms is None:
            continue
        norms = measured.column_norms
        if not norms.any():
            continue
        low, high = int(np.argmin(np.where(norms > 0, norms, np.inf))), int(np.argmax(norms))
        ratio = float(norms[high]) / float(norms[low])
        if ratio > _RATIO:
            findings.add(
                "FW4801",
                f"the columns of `{decl.name}` differ {ratio:.0e} in scale: `{decl.name}[:, {high}]` has norm "
                f"{norms[high]:.2g}, `{decl.name}[:, {low}]` has norm {norms[low]:.2g}",
                span=decl.span,
                rule="Columns that differ much in scale slow methods down, and a norm of the coefficients weighs them "
                "unequally.",
                hint=f"use `standardize({decl.name})`, or choose units that bring the columns together",
                severity="warning",
            )


def warn_float32(model: Model, stats: Mapping[str, DataStats], tol: float | None, findings: Findings) -> None:
    """Warn about data in single precision where the tolerance is below 1e-6."""
    if tol is None:
        declared = dict(model.options).get("tol", Options.tol)
        tol = float(declared) if isinstance(declared, int | float) else Options.tol
    if tol >= _FLOAT32_TOLERANCE:
        return
    for decl in model.data:
        measured = stats.get(decl.name)
        if measured is not None and measured.dtype == "float32":
            findings.add(
                "FW4802",
                f"`{decl.name}` is float32, and the tolerance is {tol:g}",
                span=decl.span,
                rule="Single precision keeps about seven digits, fewer than such a tolerance asks of an answer.",
                hint=f"give `{decl.name}` as float64, or a tolerance of at least 1e-6",
                severity="warning",
            )
