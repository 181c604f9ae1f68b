"""Saving a method's state and taking it up again: the same iterates as if nothing had happened.

One `.npz` file, written to a temporary name and moved into place, so that a kill at any moment leaves the old one or the new one. Nothing
in it is pickled.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ..backends.apg import APGState
from ..backends.frank_wolfe import FWState
from ..backends.lowrank import CompletionState, RegressionState
from ..backends.pdhg import PDHGState
from ..canon.factored import Factored
from ..canon.form import Canonical
from ..errors import DataError
from ..fingerprint import of_instance
from ..grammar.diagnostic import Diagnostic

STATES = {cls.__name__: cls for cls in (APGState, CompletionState, FWState, PDHGState, RegressionState)}


def save_state(path: str | Path, canonical: Canonical | Factored, state: Any) -> None:
    """Write a state with the fingerprints of its program and data."""
    arrays: dict[str, Any] = {}
    scalars: dict[str, Any] = {}
    lists: dict[str, int] = {}
    for f in fields(state):
        value = getattr(state, f.name)
        if isinstance(value, np.ndarray):
            arrays[f.name] = value
        elif isinstance(value, list | tuple):
            lists[f.name] = len(value)
            arrays.update({f"{f.name}:{k}": v for k, v in enumerate(value)})
        else:
            scalars[f.name] = float(value).hex() if isinstance(value, float) else value
    record = {
        "v": 1,
        "state": type(state).__name__,
        "scalars": scalars,
        "lists": lists,
        "fingerprints": of_instance(canonical.instance),
    }
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent or ".", prefix=target.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, record=np.array(json.dumps(record)), **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load_state(path: str | Path, canonical: Canonical | Factored) -> Any:
    """The state in a file; `DataError` FW0201 where it is no such file, FW0202 where it is of another program or other data."""
    try:
        with np.load(path, allow_pickle=False) as file:
            record = json.loads(str(file["record"]))
            arrays = {k: file[k] for k in file.files if k != "record"}
            cls = STATES[record["state"]]
    except (OSError, ValueError, KeyError) as error:
        raise _refuse(
            "FW0201", f"`{path}` holds no saved state of fwdsl ({error})", "give a file that was saved"
        ) from error
    now = of_instance(canonical.instance)
    changed = sorted(k for k in {*now, *record["fingerprints"]} if now.get(k) != record["fingerprints"].get(k))
    if changed:
        names = ", ".join(f"`{c}`" if c != "program" else "the program" for c in changed)
        raise _refuse(
            "FW0202",
            f"`{path}` was saved for another problem: {names} changed",
            "solve afresh, or bind what it was saved with",
        )
    values: dict[str, Any] = {}
    for f in fields(cls):
        if f.name in record["lists"]:
            values[f.name] = [arrays[f"{f.name}:{k}"] for k in range(record["lists"][f.name])]
        elif f.name in arrays:
            values[f.name] = arrays[f.name]
        else:
            value = record["scalars"][f.name]
            values[f.name] = float.fromhex(value) if f.type in ("float", float) else value
    return cls(**values)


def _refuse(code: str, message: str, hint: str) -> DataError:
    return DataError((Diagnostic(code, message, rule="a state resumes the run it was saved from", hint=hint),))
