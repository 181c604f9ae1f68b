"""`--out FILE.npz`: the variables by name, `dual:NAME`, and the record of the run."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ..bind.features import SavedFeatures, saved
from ..canon.factored import Factored
from ..fingerprint import of_instance, of_program
from ..grammar.diagnostic import Diagnostic
from ..low_rank import LowRank
from ..model import evaluate_dim
from ..solution import Certificate, Solution, Times
from .crash import versions
from .exits import OF_STATUS, Stop
from .output import dumps
from .outputs import write_atomically
from .report import solution_json

if TYPE_CHECKING:
    from ..canon import Canonical
    from ..evaluation import Fit
    from ..model import Model, VarDecl
    from ..options import Options

RECORD = "record"
_FEATURE = "feature:"


def save_solution(name: str, solution: Solution, canonical: Canonical | Factored, options: Options) -> None:
    """Write it, whole or not at all; `OSError` where that fails."""
    point = solution.record.get("dual_point") or ()
    labels = _dual_labels(canonical) if point else []
    instance = canonical.instance
    statistics = saved(instance.model, instance.features) if instance.features is not None else {}
    arrays = {
        **{key: a for name, value in solution.variables.items() for key, a in _arrays(name, value).items()},
        **{f"dual:{constraint}": value for constraint, value in solution.dual.items()},
        **{f"dual:{label}": y for label, y in zip(labels, point, strict=True)},
        **{f"{_FEATURE}{key}": array for key, array in statistics.items()},
        RECORD: dumps(record(solution, canonical, options), indent=1),
    }

    def write(stream: IO[bytes]) -> None:
        # By hand, as `numpy.savez` takes names as keywords of its own: a variable may be called `file`.
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for key, value in arrays.items():
                with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asarray(value), allow_pickle=False)

    write_atomically(name, write)


def load_solution(name: str, canonical: Canonical | Factored) -> Solution:
    """What `save_solution` wrote; stops where the file is none of ours, or of another program or other data."""
    now = of_instance(canonical.instance)
    with _reading(name):
        arrays, written = _read(name)
        solution = _solution(arrays, written, canonical)
        changed = sorted(key for key in now if now[key] != written["fingerprints"].get(key))
    if changed:
        raise Stop([_of_another(name, changed)])
    return solution


def load_fit(name: str, model: Model) -> Fit:
    """What new data are put to, of a file that `save_solution` wrote; stops where that is none of ours, or of another program."""
    from ..evaluation import Fit

    with _reading(name):
        arrays, written = _read(name)
        dims = {str(n): int(size) for n, size in written["dimensions"].items()}
        variables = {v.name: _variable(arrays, v, dims) for v in model.variables}
        statistics = {key.removeprefix(_FEATURE): a for key, a in arrays.items() if key.startswith(_FEATURE)}
        params = {p.name: float(written["parameters"][p.name]) for p in model.params}
        maps = {str(n): tuple(values) for n, values in written["maps"].items()}
        same = written["fingerprints"]["program"] == of_program(model)
        features = SavedFeatures(model, statistics) if same and statistics else None
    if not same:
        raise Stop([_of_another(name, ["program"])])
    return Fit(model, variables, dims, params, maps, features=features)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Stops where what is read turns out to be no solution: what NumPy, zipfile and json say of such files is of no use."""
    try:
        yield
    except Exception as error:
        raise Stop([_no_solution(name, error)]) from None


def _read(name: str) -> tuple[dict[str, Any], Any]:
    """The arrays of a file by name, and its record."""
    with np.load(name, allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    return arrays, json.loads(str(arrays[RECORD]))


def _solution(arrays: Mapping[str, Any], written: Mapping[str, Any], canonical: Canonical | Factored) -> Solution:
    how = written["certificate"]
    numbers = {
        key: _number(written[key]) for key in ("objective", "dual_bound", "gap", "relative_gap", "infeasibility")
    }
    labels = _dual_labels(canonical)
    duals = {key.removeprefix("dual:"): value for key, value in arrays.items() if key.startswith("dual:")}
    point = tuple(duals[label] for label in labels) if set(labels) <= set(duals) else None
    sizes = [] if isinstance(canonical, Factored) else [t.map.rows for t in canonical.terms]
    if point is not None and any(np.shape(y) != (size,) for y, size in zip(point, sizes, strict=False)):
        raise ValueError("a dual point of another size")
    if written["status"] not in OF_STATUS:
        raise ValueError("no status")
    instance = canonical.instance
    return Solution(
        status=written["status"],
        certificate=Certificate(
            how["kind"],
            **numbers,
            scale=_number(how["scale"]),
            statement=how["statement"],
            radius=None if how["radius"] is None else float(how["radius"]),
        ),
        variables={v.name: _variable(arrays, v, instance.dims) for v in instance.model.variables},
        dual={name: value for name, value in duals.items() if name not in labels},
        terms=written["terms"],
        method=written["method"],
        iterations=written["iterations"],
        passes=written["passes"],
        verify_passes=written["verify_passes"],
        reason=written["reason"],
        times=Times(**written["time"]),
        record={"dual_point": point},
    )


def _number(value: float | None) -> float:
    """JSON has no number that is not finite: a bound or gap that is unknown."""
    return math.nan if value is None else float(value)


def _dual_labels(canonical: Canonical | Factored) -> list[str]:
    """Names of the parts of the dual point: that of a term of the objective or `termK` for the K-th, `NAME:point` for a
    constraint that is a term of the canonical form."""
    model = canonical.instance.model
    taken = {c.name for c in model.constraints}
    labels: list[str] = []
    for term in canonical.terms:
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


def record(solution: Solution, canonical: Canonical | Factored, options: Options) -> Mapping[str, Any]:
    """What was run, on what, with what, and how well the answer is known."""
    instance = canonical.instance
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
        **result,
    }


def _key(variable: str) -> str:
    """A variable called `record` gives way to the record."""
    return f"var:{variable}" if variable == RECORD else variable


def _arrays(variable: str, value: Any) -> dict[str, Any]:
    """What is saved of a variable: its array, or its factors as `NAME:U` and `NAME:V`."""
    if isinstance(value, LowRank):
        return {f"{_key(variable)}:U": value.U, f"{_key(variable)}:V": value.V}
    return {_key(variable): value}


def _variable(saved: Mapping[str, Any], declared: VarDecl, dims: Mapping[str, int]) -> Any:
    """The value of a variable as `_arrays` saved it; `KeyError` where there is none, `ValueError` where it does not fit its declaration."""
    key = _key(declared.name)
    value = LowRank(saved[f"{key}:U"], saved[f"{key}:V"]) if f"{key}:U" in saved else saved[key]
    if np.shape(value) != tuple(evaluate_dim(d, dims) for d in declared.type.array_shape):
        raise ValueError("a variable of another shape")
    parts = (value.U, value.V) if isinstance(value, LowRank) else (value,)
    if any(part.dtype.kind not in "fiub" for part in parts):
        raise ValueError("a variable that is not made of numbers")
    return value
