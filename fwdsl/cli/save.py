"""`--out FILE.npz`: the variables by name, `dual:NAME`, and the record of the run."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ..fingerprint import of_instance
from ..grammar.diagnostic import Diagnostic
from ..solution import Certificate, Solution, Times
from .crash import versions
from .exits import Stop
from .files import write_atomically
from .output import dumps
from .report import solution_json

if TYPE_CHECKING:
    from ..canon import Canonical
    from ..options import Options

RECORD = "record"


def save_solution(name: str, solution: Solution, canonical: Canonical, options: Options) -> None:
    """Write it, whole or not at all; `OSError` where that fails."""
    point = solution.record.get("dual_point") or ()
    labels = _dual_labels(canonical) if point else []
    arrays = {
        **{_key(variable): value for variable, value in solution.variables.items()},
        **{f"dual:{constraint}": value for constraint, value in solution.dual.items()},
        **{f"dual:{label}": y for label, y in zip(labels, point, strict=True)},
        RECORD: dumps(record(solution, canonical, options), indent=1),
    }

    def write(stream: IO[bytes]) -> None:
        # By hand, as `numpy.savez` takes names as keywords of its own: a variable may be called `file`.
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for key, value in arrays.items():
                with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asarray(value), allow_pickle=False)

    write_atomically(name, write)


def load_solution(name: str, canonical: Canonical) -> Solution:
    """What `save_solution` wrote; stops where the file is none of ours, or of another program or other data."""
    try:
        with np.load(name, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        saved = json.loads(str(arrays[RECORD]))
        solution = _solution(arrays, saved, canonical)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise Stop([_no_solution(name, error)]) from None
    now = of_instance(canonical.instance)
    changed = sorted(key for key in now if now[key] != saved["fingerprints"].get(key))
    if changed:
        raise Stop([_of_another(name, changed)])
    return solution


def _solution(arrays: Mapping[str, Any], saved: Mapping[str, Any], canonical: Canonical) -> Solution:
    how = saved["certificate"]
    numbers = {key: _number(saved[key]) for key in ("objective", "dual_bound", "gap", "relative_gap", "infeasibility")}
    labels = _dual_labels(canonical)
    duals = {key.removeprefix("dual:"): value for key, value in arrays.items() if key.startswith("dual:")}
    point = tuple(duals[label] for label in labels) if set(labels) <= set(duals) else None
    return Solution(
        status=saved["status"],
        certificate=Certificate(
            how["kind"], **numbers, scale=how["scale"], statement=how["statement"], radius=how["radius"]
        ),
        variables={v.name: arrays[_key(v.name)] for v in canonical.instance.model.variables},
        dual={name: value for name, value in duals.items() if name not in labels},
        terms=saved["terms"],
        method=saved["method"],
        iterations=saved["iterations"],
        passes=saved["passes"],
        verify_passes=saved["verify_passes"],
        reason=saved["reason"],
        times=Times(**saved["time"]),
        record={"dual_point": point},
    )


def _number(value: float | None) -> float:
    """JSON has no number that is not finite: a bound or gap that is unknown."""
    return math.nan if value is None else value


def _dual_labels(canonical: Canonical) -> list[str]:
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
        rule="A solution is verified against the program and the data that it was found for.",
        hint="give the same `--data` and `--set` as when it was saved, or solve again",
    )


def record(solution: Solution, canonical: Canonical, options: Options) -> Mapping[str, Any]:
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
