"""Saving and resuming runs: a resumed run has the same iterates as an unbroken one.

One `.npz` file, written to a temporary name and moved into place, so that a kill at any moment leaves the old one or the new one. Nothing
in it is pickled. It is sealed by a checksum of all that it holds: methods trust their states, kernels do not look whether an index fits.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ..backends.method import State
from ..backends.registry import is_state, state_class
from ..canon.forms import Form
from ..errors import DataError
from ..files.target import target_of
from ..grammar.diagnostic import Diagnostic
from ..results.fingerprint import of_array, of_instance
from .forms import Start
from .grown import extents, grown
from .journal import Journal, pack, unpack

_JOURNAL = "journal:"
_RECORD, _SEAL = "record", "seal"
_VERSION = 4


@dataclass
class Checkpoint:
    """A point in a run from which it can go on: the method with the options that were given, its state, and the driver's journal."""

    method: str
    options: Mapping[str, Any]
    state: State
    journal: Journal

    @property
    def iteration(self) -> int:
        return self.state.iteration


def save_state(path: str | Path, form: Form, checkpoint: Checkpoint) -> None:
    """Write a checkpoint with the fingerprints of its program and data."""
    arrays: dict[str, Any] = {}
    scalars: dict[str, object] = {}
    lists: dict[str, int] = {}
    from ..backends.row_vectors import RowVector

    state = checkpoint.state
    for f in fields(state):
        value = getattr(state, f.name)
        if isinstance(value, RowVector):
            value = np.asarray(value)
        if isinstance(value, np.ndarray):
            arrays[f.name] = value
        elif isinstance(value, list | tuple):
            lists[f.name] = len(value)
            arrays.update({f"{f.name}:{k}": v for k, v in enumerate(value)})
        else:
            scalars[f.name] = float(value).hex() if isinstance(value, float) else value
    journal, kept = pack(checkpoint.journal)
    arrays |= {f"{_JOURNAL}{name}": value for name, value in kept.items()}
    record = {
        "v": _VERSION,
        "state": type(state).__name__,
        "scalars": scalars,
        "lists": lists,
        "journal": journal,
        "options": dict(checkpoint.options),
        "fingerprints": of_instance(form.instance),
        **extents(form),
    }
    text = json.dumps(record)
    _write(target_of(path), {_RECORD: np.array(text), _SEAL: np.array(_seal(text, arrays)), **arrays})


def _write(target: Path, sealed: Mapping[str, Any]) -> None:
    """Put the file into its place in one piece."""
    # a name of its own kind, so that what a kill leaves behind is written over by the next save
    part = target.with_name(f"{target.name}.part")
    try:
        with open(part, "wb") as file:
            np.savez(file, **sealed)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def load_state(path: str | Path, form: Form) -> Checkpoint:
    """The checkpoint in a file. Raises `DataError`: FW0201 for a damaged file or another format, FW0202 for another program or other data."""
    record, arrays = _read(path)
    now = of_instance(form.instance)
    changed = sorted(k for k in {*now, *record["fingerprints"]} if now.get(k) != record["fingerprints"].get(k))
    if changed:
        names = ", ".join(f"`{c}`" if c != "program" else "the program" for c in changed)
        raise _refuse(
            "FW0202",
            f"`{path}` was saved for another problem: {names} changed",
            "solve afresh, or bind what it was saved with",
        )
    method, cls = state_class(record["state"])
    missing = [
        f.name for f in fields(cls) if not any(f.name in kept for kept in (record["lists"], arrays, record["scalars"]))
    ]
    if missing:
        raise _refuse("FW0201", f"`{path}` was saved by another version of fwdsl", "solve afresh")
    values: dict[str, Any] = {}
    for f in fields(cls):
        if f.name in record["lists"]:
            values[f.name] = [arrays[f"{f.name}:{k}"] for k in range(record["lists"][f.name])]
        elif f.name in arrays:
            values[f.name] = arrays[f.name]
        else:
            value = record["scalars"][f.name]
            values[f.name] = float.fromhex(value) if f.type in ("float", float) else value
    kept = {k.removeprefix(_JOURNAL): v for k, v in arrays.items() if k.startswith(_JOURNAL)}
    return Checkpoint(method, record["options"], cls(**values), unpack(record["journal"], kept))


def load_grown(path: str | Path, form: Form) -> Start | None:
    """The start on data that only got more rows since the state in a file; None where the state is of other data, or of these."""
    record, arrays = _read(path)
    kept = {k.removeprefix(_JOURNAL): v for k, v in arrays.items() if k.startswith(_JOURNAL)}
    return grown(record, kept, form, path)


def _read(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the record, the arrays) of a file of this version that is as it was saved; FW0201 where it is none."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {k: file[k] for k in file.files}
        text, seal = str(arrays.pop(_RECORD)), str(arrays.pop(_SEAL, ""))
        record: dict[str, Any] = json.loads(text)
        version = record["v"]
        if "state" not in record:
            raise _refuse(
                "FW0201",
                f"`{path}` holds a solution and no state",
                "give the file of `--checkpoint`, or start from the solution",
            )
        sound = seal == _seal(text, arrays)
    except DataError:
        raise
    except OSError as error:
        why = f": {error.strerror.lower()}" if error.strerror else ""
        raise _refuse("FW0201", f"`{path}` cannot be read{why}", "give a file that was saved") from error
    except Exception as error:  # what NumPy, zipfile and json say of such files is of no use to who named the wrong one
        raise _refuse("FW0201", f"`{path}` holds no saved state of fwdsl", "give a file that was saved") from error
    if version == _VERSION and not sound:
        raise _refuse("FW0201", f"`{path}` is damaged: it is not as it was saved", "give another one, or solve afresh")
    if version != _VERSION or not is_state(record["state"]):
        raise _refuse("FW0201", f"`{path}` was saved by another version of fwdsl", "solve afresh")
    return record, arrays


def _seal(record: str, arrays: Mapping[str, object]) -> str:
    parts = (f"{name} {of_array(value)}" for name, value in sorted(arrays.items()))
    return sha256("\n".join((record, *parts)).encode()).hexdigest()


def _refuse(code: str, message: str, hint: str) -> DataError:
    return DataError((Diagnostic(code, message, rule="a state resumes the run it was saved from", hint=hint),))
