"""Packs the statistics of feature maps for files, so that `fwdsl eval` can transform new data without the old.

A packed map is a form of plain values, for JSON, and arrays by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from . import MAPS
from .base import Array, Fitted
from .gram import FittedKernel, Kernel
from .rank_one import RankOneUpdated

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

Form = dict[str, object]


def pack(fitted: Fitted, prefix: str) -> tuple[Form, dict[str, Array]]:
    """A map's form, and its arrays under names that begin with `prefix`. The arrays of an implicit map are its samples."""
    if isinstance(fitted, FittedKernel):
        form = {"map": fitted.kernel.word.name, **_values(fitted.kernel)}
        return {**form, "arrays": prefix}, _packed_matrix(f"{prefix}.samples", fitted.samples)
    name = next(n for n, made in MAPS.items() if isinstance(fitted, made.fitted))
    values = _values(fitted)
    arrays = {f"{prefix}.{n}": v for n, v in values.items() if isinstance(v, np.ndarray)}
    form = {n: v for n, v in values.items() if not isinstance(v, np.ndarray)}
    return {"map": name, **form, "arrays": prefix}, arrays


def unpack(form: Mapping[str, Any], arrays: Mapping[str, Array]) -> Fitted:
    """The map of a form and its arrays. Raises KeyError where something is missing."""
    made, prefix = MAPS[form["map"]], form["arrays"]
    if issubclass(made, Kernel):
        return FittedKernel(made(**{n: form[n] for n in _names(made)}), _unpacked_matrix(f"{prefix}.samples", arrays))
    return made.fitted(**{n: form[n] if n in form else arrays[f"{prefix}.{n}"] for n in _names(made.fitted)})


def _names(made: Any) -> list[str]:
    return [f.name for f in fields(made)]


def _values(part: Any) -> dict[str, object]:
    return {n: getattr(part, n) for n in _names(part)}


def _packed_matrix(name: str, X: MatrixLike) -> dict[str, Array]:
    if isinstance(X, RankOneUpdated):
        return {**_packed_matrix(f"{name}.A", X.A), f"{name}.u": X.u, f"{name}.v": X.v}
    if isinstance(X, np.ndarray):
        return {name: X}
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    return {f"{name}.{part}": value for part, value in parts.items()}


def _unpacked_matrix(name: str, arrays: Mapping[str, Array]) -> Any:
    if f"{name}.u" in arrays:
        return RankOneUpdated(_unpacked_matrix(f"{name}.A", arrays), arrays[f"{name}.u"], arrays[f"{name}.v"])
    if name in arrays:
        return arrays[name]
    from scipy.sparse import csr_array

    data, indices, indptr, shape = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr", "shape"))
    return csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
