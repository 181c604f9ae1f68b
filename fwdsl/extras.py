"""Extras: packages that fwdsl uses but does not need. Each is loaded where it is used, and here one line tells that something of it is absent."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from .errors import RunError
from .grammar.diagnostic import Diagnostic


class Extra(NamedTuple):
    """An extra: the code of its absence, what it is for, and the modules that are loaded before it is used."""

    code: str
    rule: str
    modules: tuple[str, ...]


EXTRAS = {
    "cluster": Extra("FW0240", "Workers are those of Dask, which the extra `cluster` has.", ("distributed",)),
    "cuda": Extra("FW0250", "Products on a device are taken by CuPy, which the extra `cuda` has.", ("cupy",)),
    "hdf5": Extra("FW4074", "HDF5 files are read by h5py, the extra `hdf5` of fwdsl.", ("h5py",)),
    "lsp": Extra(
        "FW0060", "The language server needs the extra `lsp`.", ("lsprotocol.types", "pygls.lsp.server", "pygls.uris")
    ),
    "notebook": Extra("FW0330", "A frame is one of pandas, which comes with the extra `notebook`.", ("pandas",)),
    "onnx": Extra("FW0214", "Models are exported by the extra `onnx`.", ("onnx",)),
    "oracle": Extra("FW0311", "What goes to cvxpy needs the extra `oracle`.", ("cvxpy",)),
    "parquet": Extra(
        "FW4070",
        "parquet and feather files are read by pyarrow, the extra `parquet` of fwdsl.",
        ("pyarrow", "pyarrow.parquet", "pyarrow.ipc", "pyarrow.compute"),
    ),
    "plot": Extra("FW0018", "Plots need the extra `plot`.", ("matplotlib.figure",)),
    "remote": Extra(
        "FW4080",
        "URLs are read by fsspec, the extra `remote` of fwdsl, and what it needs for each kind of URL.",
        ("fsspec.core", "fsspec.asyn"),
    ),
    "sklearn": Extra("FW0224", "Estimators need the extra `sklearn`.", ("sklearn.base",)),
    "zarr": Extra("FW4075", "zarr stores are read by zarr 3.1 or newer, the extra `zarr` of fwdsl.", ("zarr",)),
}
"""The extras by name. That of notebooks is loaded by IPython, which is there then."""

ABSENCES = frozenset(extra.code for extra in EXTRAS.values())
"""The codes of what is not installed."""

_PROJECTS = {"sklearn": "scikit-learn", "distributed": "Dask's `distributed`", "cupy": "CuPy"}
"""The names of modules in messages, where these are not their own."""


def install(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'fwdsl[{extra}]'"


def absence(extra: str) -> str:
    """The part of an extra that is absent or cannot be loaded, as a clause; empty where all of it is loaded."""
    for module in EXTRAS[extra].modules:
        try:
            import_module(module)
        except ImportError as error:
            return told(error, module)
    return ""


def told(error: ImportError, module: str) -> str:
    """The reason why a module was not loaded, as a clause: the package that is absent may be one that it needs itself."""
    if isinstance(error, ModuleNotFoundError):
        root = (error.name or module).partition(".")[0]
        return f"{_PROJECTS.get(root, root)} is not installed"
    return f"{module} cannot be loaded: {str(error).strip().partition(chr(10))[0]}"


def require(extra: str) -> Any:
    """The package of an extra, that of its first module, once all its modules are loaded; `RunError` that says how to install it."""
    why = absence(extra)
    _, rule, modules = EXTRAS[extra]
    if why:
        raise RunError([Diagnostic(EXTRAS[extra].code, why, rule=rule, hint=install(extra))])
    return import_module(modules[0].partition(".")[0])
