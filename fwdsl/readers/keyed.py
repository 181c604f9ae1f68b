"""Reads files of arrays by name: MATLAB's mat files up to version 7 by SciPy, HDF5 files by h5py (extra `hdf5`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .files import Unreadable, opened
from .findings import FileFindings
from .npy import check_array, check_key, no_such_key
from .roles import Role

if TYPE_CHECKING:
    from .roles import Raw


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
    return _served(path, options, roles, keys, held.__getitem__, findings)


def read_hdf5(
    path: str, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings
) -> dict[str, Raw]:
    """The dataset of each role's name, or of `key=`, which may be a path through groups.

    Raises `Unreadable` where the file is no HDF5 file or h5py is absent.
    """
    try:
        import h5py
    except ImportError:
        findings.add(
            "FW4074",
            f"`{path}` cannot be read: h5py is not installed",
            rule="HDF5 files are read by h5py, the extra `hdf5` of fwdsl.",
            hint="pip install 'fwdsl[hdf5]'",
        )
        raise Unreadable from None
    with opened(path, findings) as stream:
        try:
            with h5py.File(stream, "r") as file:
                keys: list[str] = []
                file.visititems(lambda name, item: keys.append(name) if isinstance(item, h5py.Dataset) else None)
                return _served(path, options, roles, keys, lambda key: _dataset(file[key]), findings)
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            findings.add(
                "FW4073",
                f"`{path}` is no HDF5 file, or a damaged one: {_first_line(error)}",
                rule="An HDF5 source is a complete file of that format.",
                hint="write it again",
            )
            raise Unreadable from None


def _dataset(found: Any) -> np.ndarray:
    """The numbers or words of a dataset."""
    import h5py

    return np.asarray(found.asstr()[()], dtype=str) if h5py.check_string_dtype(found.dtype) else np.asarray(found[()])


def _served(
    path: str,
    options: Mapping[str, object],
    roles: Sequence[Role],
    keys: Iterable[str],
    get: Callable[[str], Any],
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
        value = get(key)
        if hasattr(value, "tocsr"):
            from scipy.sparse import csr_array

            result[role.name] = csr_array(value)
            continue
        array = _like(np.asarray(value), role)
        check_array(array.dtype, role, path, key, findings)
        if array.size == 0:
            findings.no_rows()
        result[role.name] = array
    return result


def _like(array: np.ndarray, role: Role) -> np.ndarray:
    """An array of one row or one column as a vector, where a vector is declared: such files may know matrices alone."""
    if array.dtype.kind == "O" and array.ndim == 2 and all(np.size(cell) == 1 for cell in array.flat):
        array = np.array([[np.asarray(cell).item() for cell in row] for row in array])
    if array.ndim == 2 and 1 in array.shape and (role.is_column or len(role.shape) == 1):
        return array.reshape(-1)
    return array.reshape(()) if array.size == 1 and not role.shape and not role.is_column else array


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
