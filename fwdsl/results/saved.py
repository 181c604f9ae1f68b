"""Answers in files (`--out FILE.npz`): the variables by name, `dual:NAME`, and the record of the run."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from ..atoms.low_rank import LowRank
from ..bind.features import SavedFeatures, saved
from ..certify.certificate import Certificate
from ..errors import RunError
from ..files.arrays import write_arrays
from ..grammar.diagnostic import Diagnostic
from ..model import VarDecl, sizes_of
from .evaluation import Fit
from .fingerprint import of_array, of_instance, of_program
from .json_form import dumps, solution_json
from .solution import Solution, Times
from .status import STATUSES
from .versions import versions

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike
    from ..bind.instance import Instance
    from ..canon import Form
    from ..model import Model
    from ..model.options import Options

RECORD = "record"
_FEATURE = "feature:"


def save_solution(name: str, solution: Solution, form: Form, options: Options) -> None:
    """Write a solution with its record, whole or not at all. Raises `OSError` where that fails."""
    point = solution.record.get("dual_point") or ()
    labels = _dual_labels(form) if point else []
    arrays = {
        **{key: a for name, value in solution.variables.items() for key, a in _arrays(name, value).items()},
        **{f"dual:{constraint}": value for constraint, value in solution.dual.items()},
        **{f"dual:{label}": y for label, y in zip(labels, point, strict=True)},
        **{f"{_FEATURE}{key}": array for key, array in _statistics(form.instance).items()},
        RECORD: dumps(record(solution, form, options), indent=1),
    }

    write_arrays(name, arrays)


def _statistics(instance: Instance) -> dict[str, Any]:
    """The statistics that feature maps took of the data, as arrays."""
    return saved(instance.model, instance.features) if instance.features is not None else {}


def load_solution(name: str, form: Form) -> Solution:
    """The solution that `save_solution` wrote. Raises `RunError`: FW0016 where the file holds none, FW0017 where it is of another program or data."""
    arrays, written = _read(name)
    try:
        now, then = of_instance(form.instance), _mapping(written["fingerprints"])
        changed = sorted(key for key in now if now[key] != then.get(key))
        # what was saved for another problem has other shapes, too
        solution = None if changed else _solution(arrays, written, form)
    except (ValueError, KeyError, TypeError) as error:
        raise RunError([_no_solution(name, error)]) from None
    if changed:
        raise RunError([_of_another(name, changed)])
    assert solution is not None
    return solution


def load_fit(name: str, model: Model) -> Fit:
    """The fit in a file that `save_solution` wrote. Raises `RunError`: FW0016 where it holds none, FW0017 where it is of another program."""
    arrays, written = _read(name)
    try:
        if _mapping(written["fingerprints"])["program"] != of_program(model):
            raise RunError([_of_another(name, ["program"])])
        dims = {str(n): _size(size) for n, size in _mapping(written["dimensions"]).items()}
        params = {p.name: _finite(_mapping(written["parameters"])[p.name]) for p in model.params}
        maps = {str(n): _labels(values) for n, values in _mapping(written["maps"]).items()}
        variables = {v.name: _variable(arrays, v, dims) for v in model.variables}
        statistics = {key.removeprefix(_FEATURE): a for key, a in arrays.items() if key.startswith(_FEATURE)}
        if written["statistics"] != _digest(statistics):
            raise ValueError("the statistics of feature maps are not those that were saved")
        features = SavedFeatures(model, statistics) if statistics else None
    except (ValueError, KeyError, TypeError) as error:
        raise RunError([_no_solution(name, error)]) from None
    return Fit(model, variables, dims, params, maps, features=features)


def _read(name: str) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The arrays of a file and its record. Raises `RunError` FW0016 where it has none."""
    try:
        with np.load(name, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        return arrays, _mapping(json.loads(str(arrays[RECORD])))
    except Exception as error:  # damaged archives, headers and records fail in many ways, none of them a bug of ours
        raise RunError([_no_solution(name, error)]) from None


def _solution(arrays: Mapping[str, Any], written: Mapping[str, Any], form: Form) -> Solution:
    how = _mapping(written["certificate"])
    numbers = {
        key: _number(written[key]) for key in ("objective", "dual_bound", "gap", "relative_gap", "infeasibility")
    }
    labels = _dual_labels(form)
    duals = {key.removeprefix("dual:"): _real(value) for key, value in arrays.items() if key.startswith("dual:")}
    point = tuple(duals[label] for label in labels) if set(labels) <= set(duals) else None
    if point is not None and [y.size for y in point] != form.dual_sizes(point):
        raise ValueError("the dual point is not of this program")
    if written["status"] not in STATUSES:
        raise ValueError(f"`{written['status']}` is no status")
    dims = form.instance.dims
    return Solution(
        status=written["status"],
        certificate=Certificate(
            how["kind"],
            **numbers,
            scale=_number(how["scale"]),
            statement=str(how["statement"]),
            radius=None if how["radius"] is None else _finite(how["radius"]),
        ),
        variables={v.name: _variable(arrays, v, dims) for v in form.instance.model.variables},
        dual={name: value for name, value in duals.items() if name not in labels},
        terms={str(name): _number(value) for name, value in _mapping(written["terms"]).items()},
        method=str(written["method"]),
        iterations=int(_finite(written["iterations"])),
        passes=_finite(written["passes"]),
        verify_passes=_finite(written["verify_passes"]),
        reason=str(written["reason"]),
        times=Times(**{str(stage): _finite(time) for stage, time in _mapping(written["time"]).items()}),
        record={"dual_point": point},
    )


def _number(value: object) -> float:
    """A number, or nan for the null that stands for an unknown bound or gap: JSON has no other numbers."""
    return math.nan if value is None else _finite(value)


def _finite(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise ValueError(f"{value!r} is no number")
    return float(value)


def _size(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is no size")
    return value


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is no mapping")
    return value


def _labels(values: object) -> tuple[Any, ...]:
    """The values that labels or ids had in the fit, in order of code."""
    if not isinstance(values, list) or not all(isinstance(v, int | float | str) for v in values):
        raise ValueError("the values of labels are a list of numbers and words")
    return tuple(values)


def _real(array: MatrixLike) -> np.ndarray:
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise ValueError(f"an array of `{array.dtype}` is none of real numbers")
    return np.asarray(array, dtype=np.float64)


def _digest(arrays: Mapping[str, Any]) -> str:
    """SHA-256 of arrays by name."""
    parts = [f"{name} {of_array(array)}" for name, array in sorted(arrays.items())]
    return sha256("\n".join(parts).encode()).hexdigest()


def _dual_labels(form: Form) -> list[str]:
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


def _no_solution(name: str, error: Exception) -> Diagnostic:
    if isinstance(error, FileNotFoundError):
        return Diagnostic(
            "FW0016", f"there is no file `{name}`", hint="solutions are saved by `fwdsl run FILE --out FILE.npz`"
        )
    return Diagnostic(
        "FW0016",
        f"`{name}` holds no solution of this program",
        rule="A saved solution has the program's variables by name, and a record.",
        hint="name a file that `fwdsl run FILE --out FILE.npz` wrote",
    )


def _of_another(name: str, changed: Sequence[str]) -> Diagnostic:
    what = ", ".join("the program" if key == "program" else f"`{key}`" for key in changed)
    return Diagnostic(
        "FW0017",
        f"`{name}` was saved for another problem: {what} differs",
        rule="A saved solution belongs to the program that it was found for, and is verified against the same data.",
        hint="give the same `--data` and `--set` as when it was saved, or solve again",
    )


def record(solution: Solution, form: Form, options: Options) -> Mapping[str, Any]:
    """The program, its data and options, the versions of packages, and the answer with its certificate."""
    instance = form.instance
    result = {k: v for k, v in solution_json(solution).items() if k not in ("variables", "dual")}
    return {
        "v": 1,
        "program": instance.model.source.text,
        "options": asdict(options),
        "versions": versions(),
        "dimensions": dict(instance.dims),
        "parameters": {p.name: instance.values[p.name] for p in instance.model.params},
        "origins": dict(instance.origins),
        "fingerprints": of_instance(instance),
        "maps": dict(instance.maps),
        "statistics": _digest(_statistics(instance)),
        **result,
    }


def _key(variable: str) -> str:
    """A variable called `record` gives way to the record."""
    return f"var:{variable}" if variable == RECORD else variable


def _arrays(variable: str, value: MatrixLike) -> dict[str, Any]:
    """The array of a variable, or its factors as `NAME:U` and `NAME:V`."""
    if isinstance(value, LowRank):
        return {f"{_key(variable)}:U": value.U, f"{_key(variable)}:V": value.V}
    return {_key(variable): value}


def _variable(saved: Mapping[str, Any], decl: VarDecl, dims: Mapping[str, int]) -> Any:
    """The value of a variable that `_arrays` saved. Raises `KeyError` if it is absent, `ValueError` if it is not finite or has another shape."""
    key, shape = _key(decl.name), sizes_of(decl.type, dims)
    factored = f"{key}:U" in saved
    parts = [_real(saved[name]) for name in ((f"{key}:U", f"{key}:V") if factored else (key,))]
    found = tuple(part.shape[0] for part in parts if part.ndim == 2) if factored else parts[0].shape
    if found != shape or (factored and parts[0].shape[1] != parts[1].shape[1]):
        raise ValueError(f"`{decl.name}` has another shape")
    if not all(np.isfinite(part).all() for part in parts):
        raise ValueError(f"`{decl.name}` is not finite")
    return LowRank(*parts) if factored else parts[0]
