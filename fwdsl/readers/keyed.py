"""Reads files of arrays by name: MATLAB's mat files up to version 7 by SciPy, HDF5 files by h5py (extra `hdf5`), zarr stores (extra `zarr`)."""

from __future__ import annotations

import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .decoded import Pile
from .files import Unreadable, check_readable, lacking, need, opened
from .findings import FileFindings
from .memory import most_memory
from .npy import check_array, check_key, no_such_key
from .roles import Role
from .row_blocks import PIECE, is_on_disk

if TYPE_CHECKING:
    from .pieces import Cut
    from .roles import Raw

_ZARR = ("zarr.json", ".zgroup", ".zarray")
"""The files that tell what is in the folder of a store."""


def read_mat(path: str, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings) -> dict[str, Raw]:
    """The variable of each role's name, or of `key=`; matrices of one row or column serve vectors, sparse ones stay sparse.

    Raises `Unreadable` where the file is no mat file of versions 4 to 7.
    """
    from scipy.io import loadmat, whosmat
    from scipy.io.matlab import MatReadError

    with opened(path, findings) as stream:
        try:
            keys = [name for name, _, _ in whosmat(stream)]
            stream.seek(0)
            wanted = [str(options.get("key", role.name)) for role in roles]
            held = loadmat(stream, variable_names=wanted)
        except NotImplementedError:
            findings.add(
                "FW4073",
                f"`{path}` is a mat file of version 7.3",
                rule="Mat files of versions 4 to 7 are read; those of version 7.3 are HDF5 files, in which matrices are transposed.",
                hint='save it with `save -v7`, or read it `from hdf5("...")` and write `X.T`',
            )
            raise Unreadable from None
        except (MatReadError, ValueError, TypeError, KeyError, IndexError) as error:
            findings.add(
                "FW4073",
                f"`{path}` is no mat file, or a damaged one: {_first_line(error)}",
                rule="A mat source is a file of MATLAB's, of versions 4 to 7.",
                hint="save it again with `save -v7`",
            )
            raise Unreadable from None
    return _served(path, options, roles, keys, lambda key, role: held[key], findings)


def read_hdf5(
    path: str,
    options: Mapping[str, object],
    roles: Sequence[Role],
    findings: FileFindings,
    rows: tuple[int, int] | None = None,
) -> dict[str, Raw]:
    """The dataset of each role's name, or of `key=`, which may be a path through groups; of all rows or of some.

    Raises `Unreadable` where the file is no HDF5 file or h5py is absent.
    """
    check_readable(path, findings)
    need("hdf5", path, findings)
    import h5py

    with opened(path, findings) as stream:
        try:
            with h5py.File(stream, "r") as file:
                keys: list[str] = []
                file.visititems(lambda name, item: keys.append(name) if isinstance(item, h5py.Dataset) else None)

                def dataset(key: str, role: Role) -> Any:
                    found = file[key]
                    if h5py.check_string_dtype(found.dtype):
                        return np.asarray(found.asstr()[_range(rows)], dtype=str)
                    if role.may_stay and len(found.shape) == 2:
                        return _by_rows(found, role, path, key, findings)
                    _check_stored(found, role, path, key, findings, rows)
                    return np.asarray(found[_range(rows)])

                return _served(path, options, roles, keys, dataset, findings)
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            findings.add(
                "FW4073",
                f"`{path}` is no HDF5 file, or a damaged one: {_first_line(error)}",
                rule="An HDF5 source is a complete file of that format.",
                hint="write it again",
            )
            raise Unreadable from None


def read_zarr(
    path: str,
    options: Mapping[str, object],
    roles: Sequence[Role],
    findings: FileFindings,
    rows: tuple[int, int] | None = None,
) -> dict[str, Raw]:
    """The array of each role's name, or of `key=`, which may be a path through groups, of all rows or of some. A store of one array serves one name.

    An array's chunks are read once, when its type and size are known to do. Raises `Unreadable` where the folder is no zarr store of
    version 2 or 3, or zarr is absent.
    """
    if not os.path.isdir(path):
        check_readable(path, findings)
    if not any(os.path.exists(os.path.join(path, name)) for name in _ZARR):
        _no_store(path, "it has no `zarr.json`, `.zgroup` or `.zarray`", findings)
    zarr = _zarr(path, findings)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other files in the folder, and of what writing would do
            return _from_store(path, zarr.open(path, mode="r"), options, roles, findings, rows)
    except (Unreadable, MemoryError):
        raise
    except Exception as error:  # metadata are JSON, and chunks what codecs make of them: both fail in many ways
        _no_store(path, _first_line(error), findings)


def pieces_hdf5(path: str, options: Mapping[str, object], roles: Sequence[Role], most: int) -> list[Cut]:
    """Ranges of rows of about `most` bytes, of whole chunks; none where they cannot be told."""
    try:
        import h5py

        with h5py.File(path, "r") as file:
            return _cuts([file[str(options.get("key", role.name))] for role in roles], most)
    except (ImportError, OSError, RuntimeError, ValueError, KeyError):
        return []


def pieces_zarr(path: str, options: Mapping[str, object], roles: Sequence[Role], most: int) -> list[Cut]:
    """The same of a store."""
    try:
        import zarr

        root = zarr.open(path, mode="r")
        members = hasattr(root, "members")
        return _cuts([root[str(options.get("key", role.name))] if members else root for role in roles], most)
    except Exception:  # what is wrong with a store is told when it is read
        return []


def _cuts(arrays: Sequence[Any], most: int) -> list[Cut]:
    if not all(len(getattr(a, "shape", ())) in (1, 2) and a.shape[0] == arrays[0].shape[0] for a in arrays):
        return []
    n, chunk = arrays[0].shape[0], max((a.chunks or (1,))[0] for a in arrays)
    width = sum(a.dtype.itemsize * math.prod(a.shape[1:]) for a in arrays)
    step = max(1, most // max(1, width * chunk)) * chunk
    return [(a, ("rows", (a, min(a + step, n)))) for a in range(0, n, step)]


def _from_store(
    path: str,
    root: Any,
    options: Mapping[str, object],
    roles: Sequence[Role],
    findings: FileFindings,
    rows: tuple[int, int] | None = None,
) -> dict[str, Raw]:
    """The arrays of a group, or the array that is the root."""
    if not hasattr(root, "members"):
        if len(roles) > 1 or "key" in options:
            rule = "A store of one array serves one name, without a key."
            findings.cannot_serve(roles, "the store is one array", rule, "leave `key=` out, or name a group")
            return {}
        arrays = {roles[0].name: root}
    else:
        arrays = {name: item for name, item in root.members(max_depth=None) if hasattr(item, "dtype")}

    def pulled(key: str, role: Role) -> Any:
        found = arrays[key]
        _check_codecs(found, path, key, findings)
        if role.may_stay and len(found.shape) == 2:
            return _by_rows(found, role, path, key, findings)
        _check_stored(found, role, path, key, findings, rows)
        array = np.asarray(found[_range(rows)])
        return np.array(array.tolist(), dtype=str) if array.dtype.kind == "T" else array

    return _served(path, options, roles, sorted(arrays), pulled, findings)


def _no_store(path: str, reason: str, findings: FileFindings) -> NoReturn:
    findings.add(
        "FW4073",
        f"`{path}` is no zarr store, or a damaged one: {reason}",
        rule="A zarr source is a folder with an array or a group, of version 2 or 3.",
        hint="name the folder that was written, or write it again",
    )
    raise Unreadable


def _zarr(path: str, findings: FileFindings) -> Any:
    """The module. Raises `Unreadable`, with the reason noted, where it is absent or too old."""
    need("zarr", path, findings)
    import zarr

    if tuple(int(n) for n in re.findall(r"\d+", zarr.__version__)[:2]) < (3, 1):
        lacking("zarr", path, f"zarr {zarr.__version__} is too old", findings)
    return zarr


def _check_codecs(found: Any, path: str, key: str, findings: FileFindings) -> None:
    """Refuse an array whose chunks are pickles: reading them would run code that they bring."""
    metadata = {name: value for name, value in found.metadata.to_dict().items() if name != "attributes"}
    if "pickle" in json.dumps(metadata, default=str).lower():
        check_array(np.dtype(object), Role(key, "matrix"), path, key, findings)


def _range(rows: tuple[int, int] | None) -> Any:
    return ... if rows is None else slice(*rows)


def _check_stored(
    found: Any, role: Role, path: str, key: str, findings: FileFindings, rows: tuple[int, int] | None = None
) -> None:
    """Refuse an array by its type and its size, before any of it is read."""
    text = found.dtype.kind == "T"  # texts of any length, which NumPy counts among objects
    check_array(np.dtype("U1") if text else found.dtype, role, path, key, findings)
    count = math.prod(found.shape) if rows is None else (rows[1] - rows[0]) * math.prod(found.shape[1:])
    if count * found.dtype.itemsize > most_memory():
        raise MemoryError


def _by_rows(found: Any, role: Role, path: str, key: str, findings: FileFindings) -> Any:
    """The matrix by ranges of rows: whole chunks of the file, as each is decompressed where any of it is read."""
    check_array(found.dtype, role, path, key, findings)
    assert role.decoded is not None
    pile = Pile(role.decoded, role.name)
    n, d = found.shape
    chunk = (found.chunks or (1,))[0]
    rows = max(1, PIECE // (8 * max(1, d) * chunk)) * chunk
    for start in range(0, n, rows):
        part = np.asarray(found[start : min(start + rows, n)])
        pile.add(part if part.dtype.isnative else part.astype(part.dtype.newbyteorder("=")))
    return pile.finish() if n else np.zeros((0, d))


def _served(
    path: str,
    options: Mapping[str, object],
    roles: Sequence[Role],
    keys: Iterable[str],
    get: Callable[[str, Role], Any],
    findings: FileFindings,
) -> dict[str, Raw]:
    names = [key.strip("/") for key in keys]
    if not check_key(path, options, roles, findings):
        return {}
    result: dict[str, Raw] = {}
    for role in roles:
        key = str(options.get("key", role.name)).strip("/")
        if key not in names:
            no_such_key(path, key, names, findings)
            continue
        value = get(key, role)
        if is_on_disk(value):
            result[role.name] = value
            continue
        if hasattr(value, "tocsr"):
            from scipy.sparse import csr_array

            result[role.name] = csr_array(value)
            continue
        array = _like(np.asarray(value), role)
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        check_array(array.dtype, role, path, key, findings)
        result[role.name] = array
    return findings.with_rows(result)


def _like(array: np.ndarray, role: Role) -> np.ndarray:
    """An array of one row or one column as a vector, where a vector is declared: such files may know matrices alone."""
    if array.dtype.kind == "O" and array.ndim == 2 and all(np.size(cell) == 1 for cell in array.flat):
        array = np.array([[np.asarray(cell).item() for cell in row] for row in array])
    if array.ndim == 2 and 1 in array.shape and (role.is_column or len(role.shape) == 1):
        return array.reshape(-1)
    return array.reshape(()) if array.size == 1 and not role.shape and not role.is_column else array


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
