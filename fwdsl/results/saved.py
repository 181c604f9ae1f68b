"""Answers in files (`--out FILE.npz`, `solution.save`): the variables by name, `dual:NAME`, and the record of the run.

`loading` reads them again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..atoms.low_rank import LowRank
from ..bind.features import saved
from ..bind.values import is_sparse
from ..diagnostics.secrets import masked
from ..files.arrays import write_arrays
from .answer import Answer
from .fingerprint import of_array, of_instance
from .json_form import dumps, solution_json
from .row_counts import data_without_rows
from .versions import versions

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike
    from ..bind.instance import Instance
    from ..canon import Form
    from ..model.options import Options
    from .evaluation import Fit

A = TypeVar("A", bound=Answer)

RECORD, VERSION = "record", 1
"""The name of the record, and the version of what it says; a record of a later version may mean something else."""

FEATURE, FIXED, SEAL = "feature:", "data:", "seal"

LARGEST_KEPT = 1_000_000
"""Numbers of data without a row for each sample up to which an answer keeps them: new rows need them, and they are no training data."""


def save_solution(name: str, solution: Answer, form: Form, options: Options) -> None:
    """Write a solution with its record, whole or not at all. Raises `OSError` where that fails."""
    write_arrays(name, _file(solution, form, options))


def _file(solution: Answer, form: Form, options: Options) -> dict[str, Any]:
    """The arrays of a solution's file by name, its record among them."""
    point = solution.record.get("dual_point") or ()
    labels = dual_labels(form) if point else []
    arrays = {
        **{key: a for name, value in solution.variables.items() for key, a in _arrays(name, value).items()},
        **{f"dual:{constraint}": value for constraint, value in solution.dual.items()},
        **{f"dual:{label}": y for label, y in zip(labels, point, strict=True)},
        **{f"{FEATURE}{key}": array for key, array in _statistics(form.instance).items()},
        **{f"{FIXED}{name}": array for name, array in _kept(form.instance).items()},
    }
    arrays = {key: np.asarray(value) for key, value in arrays.items()}
    return {**arrays, RECORD: np.asarray(sealed(record(solution, form, options), arrays))}


def save(name: str, solution: Answer) -> None:
    """Write a solution by itself, one that was loaded as it was saved. Raises `OSError` where that fails."""
    write_arrays(name, file_of(solution))


def file_of(solution: Answer) -> Mapping[str, Any]:
    """The arrays of the file of a solution by itself, by name; of one that was loaded those that it was loaded from."""
    written: Mapping[str, Any] | None = solution.record.get("file")
    if written is not None:
        return written
    from ..canon import canonicalise
    from ..model.options import Options

    form, _ = canonicalise(solution.instance)
    assert form is not None  # it was solved
    return _file(solution, form, solution.options or Options())


def without_data(solution: A, fit: Fit) -> A:
    """A solution as it is handed on, with this fit in the place of the data it was found on. It saves as it did before."""
    written = {**solution.record, "file": file_of(solution)}
    return replace(solution, instance=None, state=None, plan=None, fit=fit, record=written)


def sealed(written: Mapping[str, Any], arrays: Mapping[str, Any]) -> str:
    """The text of a record with a seal over it and the arrays beside it."""
    text = dumps(written, indent=1)
    return dumps({**json.loads(text), SEAL: seal_of(text, arrays)}, indent=1)


def seal_of(text: str, arrays: Mapping[str, Any]) -> str:
    """SHA-256 of a record's text and of arrays by name. It tells of damage and slips, not of malice: who changes the file can seal it again."""
    return sha256(f"{text}\n{digest_of(arrays)}".encode()).hexdigest()


def _kept(instance: Instance) -> dict[str, Any]:
    """The data without a row for each sample, where they are dense and few."""
    values = {name: instance.values[name] for name in data_without_rows(instance.model)}
    dense = {n: v for n, v in values.items() if isinstance(v, np.ndarray | float) and not is_sparse(v)}
    return dense if sum(np.size(v) for v in dense.values()) <= LARGEST_KEPT else {}


def _statistics(instance: Instance) -> dict[str, Any]:
    """The statistics that feature maps took of the data, as arrays."""
    return saved(instance.model, instance.features) if instance.features is not None else {}


def digest_of(arrays: Mapping[str, Any]) -> str:
    """SHA-256 of arrays by name."""
    parts = [f"{name} {of_array(array)}" for name, array in sorted(arrays.items())]
    return sha256("\n".join(parts).encode()).hexdigest()


def dual_labels(form: Form) -> list[str]:
    """Names of the parts of the dual point: that of a term of the objective or `termK` for the K-th, `NAME:point` for a
    constraint that is a term of the canonical form."""
    model = form.instance.model
    taken = {c.name for c in model.constraints}
    labels: list[str] = []
    for term in form.terms:
        label = f"{model.constraints[term.origin].name}:point" if term.is_constraint else term.name
        if not label or label in taken:
            label = f"term{term.origin + 1}"
        while label in taken:
            label += "'"
        taken.add(label)
        labels.append(label)
    return labels


def record(solution: Answer, form: Form, options: Options) -> Mapping[str, Any]:
    """The program, its data and options, the versions of packages, and the answer with its certificate."""
    instance = form.instance
    result = {k: v for k, v in solution_json(solution).items() if k not in ("variables", "dual")}
    return {
        "v": VERSION,
        "program": masked(instance.model.source.text),  # an answer is handed on
        "options": asdict(options),
        "versions": versions(),
        "dimensions": dict(instance.dims),
        "parameters": {p.name: instance.values[p.name] for p in instance.model.params},
        "origins": dict(instance.origins),
        "fingerprints": of_instance(instance),
        **({"pulled": dict(instance.pulled)} if instance.pulled else {}),
        "maps": dict(instance.maps),
        "statistics": digest_of(_statistics(instance)),
        **result,
    }


def key_of(variable: str) -> str:
    """A variable called `record` gives way to the record."""
    return f"var:{variable}" if variable == RECORD else variable


def _arrays(variable: str, value: MatrixLike) -> dict[str, Any]:
    """The array of a variable, or its factors as `NAME:U` and `NAME:V`."""
    if isinstance(value, LowRank):
        return {f"{key_of(variable)}:U": value.U, f"{key_of(variable)}:V": value.V}
    return {key_of(variable): value}
