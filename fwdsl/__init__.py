"""fwdsl: a modeling language that compiles structured convex learning problems to certified solvers.

Importing this package loads nothing else: each public name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # the checker's name for it, without an import of `typing`
if TYPE_CHECKING:
    from typing import Any

    from .atoms.base import MatrixLike
    from .bind.data_operator import operator
    from .build.declare import (
        data,
        dim,
        entries_type,
        family,
        index_type,
        labels_type,
        let,
        matrix,
        matrix_type,
        param,
        psd_type,
        psd_var,
        real_type,
        scalar,
        signs_type,
        symmetric_type,
        symmetric_var,
        tensor_type,
        vector,
        vector_type,
    )
    from .build.expression import Constraint, Expression, SetExpression
    from .errors import BuildError, DataError, FwError, PlanError, RejectedError, RunError
    from .exports.onnx import export_onnx
    from .extend import register
    from .problem import Problem, from_cvxpy, load, maximize, minimize, parse
    from .results.loading import load_solution
    from .results.solution import Solution

__version__ = "0.1.0"

#: Where each public name lives.
_HOMES = {
    **dict.fromkeys(("DataError", "FwError", "PlanError", "RejectedError", "RunError"), ".errors"),
    **dict.fromkeys(("Problem", "from_cvxpy", "load", "maximize", "minimize", "parse"), ".problem"),
    **dict.fromkeys(("Constraint", "Expression", "SetExpression"), ".build.expression"),
    **dict.fromkeys(
        "data dim entries_type family index_type labels_type let matrix matrix_type param psd_type psd_var real_type"
        " scalar signs_type symmetric_type symmetric_var tensor_type vector vector_type".split(),
        ".build.declare",
    ),
    **dict.fromkeys(("load_ipython_extension", "unload_ipython_extension"), ".notebook"),
    "BuildError": ".errors",
    "Solution": ".results.solution",
    "export_onnx": ".exports.onnx",
    "load_solution": ".results.loading",
    "operator": ".bind.data_operator",
    "register": ".extend",
}

__all__ = [
    "BuildError",
    "Constraint",
    "DataError",
    "Expression",
    "FwError",
    "PlanError",
    "Problem",
    "RejectedError",
    "RunError",
    "SetExpression",
    "Solution",
    "data",
    "dim",
    "entries_type",
    "export_onnx",
    "family",
    "from_cvxpy",
    "index_type",
    "labels_type",
    "let",
    "load",
    "load_solution",
    "matrix",
    "matrix_type",
    "maximize",
    "minimize",
    "operator",
    "param",
    "parse",
    "psd_type",
    "psd_var",
    "real_type",
    "register",
    "scalar",
    "signs_type",
    "symmetric_type",
    "symmetric_var",
    "tensor_type",
    "vector",
    "vector_type",
]


def __getattr__(name: str) -> Any:
    """A public name, or a word of the language: losses, convex functions, functions, feature maps and sets are made when first used."""
    value: MatrixLike
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name], __name__), name)
    elif not name.startswith("_") and name in _words():
        from .build.words import word

        value = word(name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_elsewhere(name)}")
    globals()[name] = value
    return value


def _elsewhere(name: str) -> str:
    """The words behind an error that say what is written for a name of another package; empty for a name that is nobody's."""
    if name.startswith("_"):
        return ""
    from .words.foreign import foreign

    record = foreign(name, "call", "value")
    return f": {record.why}" if record else ""


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_words()})


def _words() -> set[str]:
    """The words of the language that Python has as objects. (`dim` of a feature map is a method there.)"""
    from .words import SETS, function_names

    return {*function_names(), *SETS} - {"dim"}
