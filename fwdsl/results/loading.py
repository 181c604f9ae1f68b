"""Reading answers in files again: for the same program and data, for new data, or by themselves. Nothing in a file is unpickled."""

from __future__ import annotations

import json
import math
import os
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from ..atoms.low_rank import LowRank
from ..bind import Bindings
from ..bind.features import SavedFeatures
from ..certify.certificate import Certificate
from ..errors import RunError, error_for
from ..grammar.diagnostic import Diagnostic, has_errors
from ..model import VarDecl, sizes_of
from .answer import DeviceUse, Placed
from .evaluation import Fit
from .fingerprint import of_instance, of_program
from .json_form import dumps
from .saved import FEATURE, FIXED, RECORD, SEAL, VERSION, digest_of, dual_labels, key_of, seal_of
from .solution import Change, Solution, Times
from .status import STATUSES

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike
    from ..canon import Form
    from ..model import Model


OF_PROGRAM = " of this program"


def load_solution(path: str | os.PathLike[str]) -> Solution:
    """The solution that `solution.save` or `--out` wrote, by itself: without the data it was found on.

    It predicts, evaluates and tells error rates on data given by name, with the label maps, statistics and parameters of the fit; paths in its
    program are not followed. Its `instance`, `plan` and `state` are None. Raises `RunError`: FW0016 where the file holds no solution, FW0212 where
    it is of a newer version, FW0213 where it was changed since it was saved; `RejectedError` where its program is not accepted here, as without
    words that were registered.
    """
    name = os.fspath(path)
    arrays, written = _read(name)
    _require_seal(name, arrays, written)
    model = program_in(name, written)
    try:
        fit = _fit(arrays, written, model)
        fixed = {d.name: arrays[f"{FIXED}{d.name}"] for d in model.data if f"{FIXED}{d.name}" in arrays}
        values = {n: _number_of(_real(a)) for n, a in fixed.items()}
        duals = {n: _number_of(y) for n, y in _duals(arrays).items()}
        of_constraints = {c.name for c in model.constraints}
        version = _mapping(written["versions"]).get("fwdsl", "")
        return replace(
            _solution(written, fit.variables, {n: y for n, y in duals.items() if n in of_constraints}),
            record={"dual_point": None, "file": arrays},
            fit=replace(fit, values=values, alone=True),
            origin=f"`{name}`, saved by fwdsl {version}",
        )
    except (ValueError, KeyError, TypeError) as error:
        raise RunError([_no_solution(name, error)]) from None


def program_in(name: str, written: Mapping[str, Any]) -> Model:
    """The checked model of the program in a record. Raises `RejectedError` where it is not accepted."""
    from ..check import compile_text

    model, found = compile_text(str(written.get("program", "")), f"the program in {name}")
    if model is None or has_errors(found):
        raise error_for(found)
    return model


def solution_of(name: str, form: Form) -> Solution:
    """The solution that `save_solution` wrote. Raises `RunError`: FW0016 where the file holds none, FW0017 where it is of another program or data."""
    arrays, written = _read(name, OF_PROGRAM)
    try:
        now, then = of_instance(form.instance), _mapping(written["fingerprints"])
        changed = sorted(key for key in now if now[key] != then.get(key))
        # what was saved for another problem has other shapes, too
        solution = None if changed else _solution_on(arrays, written, form)
    except (ValueError, KeyError, TypeError) as error:
        raise RunError([_no_solution(name, error, OF_PROGRAM)]) from None
    if changed:
        raise RunError([_of_another(name, changed)])
    assert solution is not None
    return solution


def load_fit(name: str, model: Model) -> Fit:
    """The fit in a file that `save_solution` wrote. Raises `RunError`: FW0016 where it holds none, FW0017 where it is of another program, FW0213
    where it was changed since it was saved."""
    arrays, written = _read(name, OF_PROGRAM)
    try:
        if _mapping(written["fingerprints"])["program"] != of_program(model):
            raise RunError([_of_another(name, ["program"])])
        fit = _fit(arrays, written, model)
        _require_seal(name, arrays, written)
        return fit
    except (ValueError, KeyError, TypeError) as error:
        raise RunError([_no_solution(name, error, OF_PROGRAM)]) from None


def saved_problem(name: str) -> tuple[str, Bindings]:
    """The text of the program in a file, and the parameters, sizes and label maps of the fit. Errors as those of `load_solution`."""
    _, written = _read(name)
    try:
        dims = {str(n): _size(size) for n, size in _mapping(written["dimensions"]).items() if "(" not in n}
        params = {str(n): _numbers(value) for n, value in _mapping(written["parameters"]).items()}
        maps = {str(n): _labels(values) for n, values in _mapping(written["maps"]).items()}
        return str(written["program"]), Bindings(params=params, dims=dims, labels=maps, of_fit=True)
    except (ValueError, KeyError, TypeError) as error:
        raise RunError([_no_solution(name, error)]) from None


def _fit(arrays: Mapping[str, Any], written: Mapping[str, Any], model: Model) -> Fit:
    dims = {str(n): _size(size) for n, size in _mapping(written["dimensions"]).items()}
    params: dict[str, Any] = {p.name: _numbers(_mapping(written["parameters"])[p.name]) for p in model.params}
    maps = {str(n): _labels(values) for n, values in _mapping(written["maps"]).items()}
    variables = {v.name: _number_of(_variable(arrays, v, dims)) for v in model.variables}
    statistics = {key.removeprefix(FEATURE): a for key, a in arrays.items() if key.startswith(FEATURE)}
    if SEAL not in written and written["statistics"] != digest_of(statistics):
        raise ValueError("the statistics of feature maps are not those that were saved")
    features = SavedFeatures(model, statistics) if statistics else None
    return Fit(model, variables, dims, params, maps, features=features)


def _read(name: str, of: str = "") -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The arrays of a file and its record. Raises `RunError` FW0016 where it has none, FW0212 where it is of a newer version."""
    try:
        with np.load(name, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        written = _mapping(json.loads(str(arrays[RECORD])))
        version = written["v"]
        if isinstance(version, bool) or not isinstance(version, int):
            raise ValueError(f"{version!r} is no version")
    except Exception as error:  # damaged archives, headers and records fail in many ways, none of them a bug of ours
        raise RunError([_no_solution(name, error, of)]) from None
    if version > VERSION:
        raise RunError([_newer(name, version, written)])
    return arrays, written


def _newer(name: str, version: int, written: Mapping[str, Any]) -> Diagnostic:
    own = written.get("versions")
    by = own.get("fwdsl") if isinstance(own, dict) else None
    return Diagnostic(
        "FW0212",
        f"`{name}` was saved by a newer fwdsl{f', {by}' if by else ''}: its record has version {version}",
        rule=f"This fwdsl reads records up to version {VERSION}.",
        hint="pip install --upgrade fwdsl",
    )


def _require_seal(name: str, arrays: Mapping[str, Any], written: Mapping[str, Any]) -> None:
    """Stop where a file is not as it was saved. What was saved before there were seals has none."""
    if SEAL not in written:
        return
    text = dumps({key: value for key, value in written.items() if key != SEAL}, indent=1)
    if written[SEAL] != seal_of(text, {key: a for key, a in arrays.items() if key != RECORD}):
        raise RunError(
            [
                Diagnostic(
                    "FW0213",
                    f"`{name}` was changed since it was saved",
                    rule="A saved solution carries a checksum of its arrays and its record.",
                    hint="save it again, or take another copy; `fwdsl verify FILE.npz --data ...` checks what it claims",
                )
            ]
        )


def _number_of(value: MatrixLike) -> Any:
    """A float for an array of no axis."""
    return float(value) if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _duals(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {key.removeprefix("dual:"): _real(value) for key, value in arrays.items() if key.startswith("dual:")}


def _solution_on(arrays: Mapping[str, Any], written: Mapping[str, Any], form: Form) -> Solution:
    """The solution with its dual point, by the form it is of."""
    labels, duals = dual_labels(form), _duals(arrays)
    point = tuple(duals[label] for label in labels) if set(labels) <= set(duals) else None
    if point is not None and [y.size for y in point] != form.dual_sizes(point):
        raise ValueError("the dual point is not of this program")
    dims = form.instance.dims
    variables = {v.name: _variable(arrays, v, dims) for v in form.instance.model.variables}
    found = _solution(written, variables, {name: value for name, value in duals.items() if name not in labels})
    return replace(found, record={"dual_point": point})


def _solution(written: Mapping[str, Any], variables: Mapping[str, Any], dual: Mapping[str, Any]) -> Solution:
    how = _mapping(written["certificate"])
    keys = ("objective", "dual_bound", "gap", "relative_gap", "infeasibility")
    if written["status"] not in STATUSES:
        raise ValueError(f"`{written['status']}` is no status")
    return Solution(
        status=written["status"],
        certificate=Certificate(
            how["kind"],
            **{key: _number(written[key], math.inf if "gap" in key else math.nan) for key in keys},
            scale=_number(how["scale"]),
            statement=str(how["statement"]),
            radius=None if how["radius"] is None else _finite(how["radius"]),
            hidden=_number(how.get("hidden", 0.0)),
            missed=_number(how.get("missed", 0.0)),
        ),
        variables=variables,
        dual=dual,
        terms={str(name): _number(value) for name, value in _mapping(written["terms"]).items()},
        method=str(written["method"]),
        iterations=int(_finite(written["iterations"])),
        passes=_finite(written["passes"]),
        verify_passes=_finite(written["verify_passes"]),
        reason=str(written["reason"]),
        times=Times(**{str(stage): _finite(time) for stage, time in _mapping(written["time"]).items()}),
        changes=tuple(Change(**_mapping(change)) for change in written.get("changes", ())),
        start=str(written.get("start", "")),
        device=_device(written.get("device")),
        warnings=tuple(str(warning) for warning in written.get("warnings", ())),
    )


def _device(written: object) -> DeviceUse:
    """The device that took the products; the host in answers that say nothing."""
    if written is None:
        return DeviceUse()
    told = dict(_mapping(written))
    return DeviceUse(**{**told, "data": tuple(Placed(**_mapping(placed)) for placed in told.get("data", ()))})


def _number(value: object, unknown: float = math.nan) -> float:
    """A number, or what a null stands for: JSON has no numbers that are not finite."""
    return unknown if value is None else _finite(value)


def _finite(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise ValueError(f"{value!r} is no number")
    return float(value)


def _numbers(value: object) -> Any:
    """The value of a parameter: a number, or the array of nested lists."""
    if not isinstance(value, list):
        return _finite(value)
    array = np.array(value, dtype=np.float64)
    if not np.all(np.isfinite(array)):
        raise ValueError("an array with a value that is no number")
    return array


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


def _no_solution(name: str, error: Exception, of: str = "") -> Diagnostic:
    if isinstance(error, FileNotFoundError):
        return Diagnostic(
            "FW0016", f"there is no file `{name}`", hint="solutions are saved by `fwdsl run FILE --out FILE.npz`"
        )
    if isinstance(error, BadZipFile | zlib.error | EOFError):
        return Diagnostic(
            "FW0016",
            f"`{name}` holds no solution{of}: it is empty, cut short or damaged",
            rule="A saved solution is a whole npz archive.",
            hint="copy it again, or save it again",
        )
    return Diagnostic(
        "FW0016",
        f"`{name}` holds no solution{of}",
        rule="A saved solution has the program's variables by name, and a record.",
        hint="name a file that `fwdsl run FILE --out FILE.npz` or `solution.save` wrote",
    )


def _of_another(name: str, changed: Sequence[str]) -> Diagnostic:
    what = ", ".join("the program" if key == "program" else f"`{key}`" for key in changed)
    return Diagnostic(
        "FW0017",
        f"`{name}` was saved for another problem: {what} differs",
        rule="A saved solution belongs to the program that it was found for, and is verified against the same data.",
        hint="give the same `--data` and `--set` as when it was saved, or solve again",
    )


def _variable(saved: Mapping[str, Any], decl: VarDecl, dims: Mapping[str, int]) -> Any:
    """The value of a variable that `_arrays` saved. Raises `KeyError` if it is absent, `ValueError` if it is not finite or has another shape."""
    key, shape = key_of(decl.name), sizes_of(decl.type, dims)
    factored = f"{key}:U" in saved
    parts = [_real(saved[name]) for name in ((f"{key}:U", f"{key}:V") if factored else (key,))]
    found = tuple(part.shape[0] for part in parts if part.ndim == 2) if factored else parts[0].shape
    if found != shape or (factored and parts[0].shape[1] != parts[1].shape[1]):
        raise ValueError(f"`{decl.name}` has another shape")
    if not all(np.isfinite(part).all() for part in parts):
        raise ValueError(f"`{decl.name}` is not finite")
    return LowRank(*parts) if factored else parts[0]
