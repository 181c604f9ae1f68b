"""Files to write: they are checked before any work, and none may also be read."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from ..files.target import MODEL, SUFFIX, target_of, unwritable, wrong_suffix
from ..grammar.diagnostic import Diagnostic
from .exits import CommandStop

#: The option that names a file to write -> the name, or None where it is not given.
Outputs = Mapping[str, str | None]

#: The files that are read, by what they are in words.
Inputs = Iterable[tuple[str, str | Path]]


_SUFFIXES = {"--out": SUFFIX, "--onnx": MODEL}


def require_outputs(outputs: Outputs) -> None:
    """Stop before solving unless each of the files can be written, and is named as one of what is written."""
    for option, name in outputs.items():
        if name is None:
            continue
        if not name:
            hint = f"write the path of a file after `{option}`"
            raise CommandStop([Diagnostic("FW0003", f"`{option}` has an empty path", hint=hint)])
        require_writable(name)
        suffix = _SUFFIXES.get(option)
        wrong = None if suffix is None else wrong_suffix(name, option, suffix)
        if wrong is not None:
            raise CommandStop([wrong])


def require_writable(name: str) -> None:
    """Stop unless a file of this name can be written."""
    if name == "-":
        raise CommandStop([unwritable(name, "it stands for standard output, where results are printed")])
    try:
        path = target_of(name)
        if not path.parent.is_dir():
            folder = path.parent if Path(name).is_symlink() else Path(name).parent
            raise CommandStop([unwritable(name, f"there is no folder `{folder}`")])
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except PermissionError:
        raise CommandStop([unwritable(name, "permission is denied")]) from None
    except OSError as error:
        raise CommandStop([unwritable(name, error)]) from None


def keep_apart(outputs: Outputs, inputs: Inputs) -> None:
    """Stop where a file to write is also read, or written twice. Standard output may go into no file that is read either."""
    written = {option: name for option, name in outputs.items() if name is not None}
    read = list(inputs)
    for option, name in written.items():
        for what, path in read:
            if _same(name, path):
                raise CommandStop([_overwrites(f"`{option} {name}`", what)])
        for other, another in written.items():
            if option < other and _same(name, another):
                raise CommandStop([_overwrites(f"`{other} {another}`", f"what `{option}` writes")])
        if _is_standard_output(name):
            raise CommandStop([_overwrites(f"`{option} {name}`", "the file that standard output goes into")])
    for what, path in read:
        if _is_standard_output(path):
            spare_standard_output()
            raise CommandStop([_overwrites("standard output", what)])


def spare_standard_output() -> None:
    """Discard what is written to standard output from now on, for it would go into a file that is read."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def written(writers: Mapping[str | None, Callable[[str], object]]) -> tuple[list[str], list[Diagnostic]]:
    """Write the files that are named. The names written, and diagnostics for those that could not be: what was found is printed in any case.

    What cannot be written where it is to be, as on a full disk, is written to the folder for temporary files, so that no work is lost.
    """
    saved: list[str] = []
    unsaved: list[Diagnostic] = []
    for name, write in writers.items():
        if name is not None:
            try:
                write(name)
                saved.append(name)
            except OSError as error:
                unsaved.append(unwritable(name, error, _kept_elsewhere(name, write)))
    return saved, unsaved


def _kept_elsewhere(name: str, write: Callable[[str], object]) -> str:
    """The file in a new folder for temporary files that is written in place of another; "" where that fails too."""
    folder = ""
    try:
        folder = tempfile.mkdtemp(prefix="fwdsl-")
        spare = os.path.join(folder, os.path.basename(name))
        write(spare)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        return ""
    return spare


def _overwrites(what: str, over: str) -> Diagnostic:
    rule = "What a command reads, it does not write over."
    return Diagnostic("FW0029", f"{what} would overwrite {over}", rule=rule, hint="name another file")


def _same(name: str | Path, other: str | Path) -> bool:
    if os.path.realpath(name) == os.path.realpath(other):
        return True
    try:
        return os.path.samefile(name, other)
    except (OSError, ValueError):
        return False


def _is_standard_output(path: str | Path) -> bool:
    """True if standard output goes into the regular file of this name."""
    try:
        return os.path.isfile(path) and os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):  # a stream without a file, a name that none can have
        return False
