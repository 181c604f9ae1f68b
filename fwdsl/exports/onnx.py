"""Scores as an ONNX graph (extra `onnx`): one matrix product, an addition, and the label where the program classifies."""

from __future__ import annotations

import os
from typing import IO, Any, Literal, get_args

import numpy as np

from ..errors import RunError, misuse
from ..extras import require
from ..files.target import MODEL, unwritable, write_atomically, wrong_suffix
from ..results.solution import Solution
from ..results.versions import versions
from .affine_rows import AffineRows, affine_rows

OPSET, IR_VERSION = 17, 8
"""Versions that runtimes since 2022 know."""

Precision = Literal["float32", "float64"]


def export_onnx(
    solution: Solution, path: str | os.PathLike[str], what: str | None = None, *, dtype: Precision = "float64"
) -> AffineRows:
    """Write what `solution.predict(what, X=rows)` gives as an ONNX model, and return the affine map that is in it.

    The graph has the input of the data's name, (rows, p) in `dtype`, and the outputs `scores`, (rows,) or (rows, k), and `label`, (rows,), where
    the program classifies: of two classes the second where the score is positive, of several the one of the largest score. Names of columns and
    classes are in the model's metadata. float64 gives the numbers of `predict`; float32 is what most serving systems expect, with relative
    errors of about 1e-6. Raises `RunError`: FW0214 where onnx is not installed, FW0215 for scores that are no affine map of the rows of one
    matrix, FW0013 where the file cannot be written, FW0028 where its name does not end in `.onnx`; `BuildError` FW0309 for another `dtype`.
    """
    if dtype not in get_args(Precision):
        raise misuse(
            "FW0309", f"`{dtype}` is no number type of a model", hint='write dtype="float64" or dtype="float32"'
        )
    given: object = solution
    if not isinstance(given, Solution):
        message = f"`export_onnx` takes a solution first, not a {type(given).__name__}"
        raise misuse("FW0309", message, hint='write `fw.export_onnx(solution, "model.onnx")`')
    name = os.fspath(path)
    if (wrong := wrong_suffix(name, "export_onnx", MODEL)) is not None:
        raise RunError([wrong])
    onnx = require("onnx")
    rows = affine_rows(solution, what)
    model = _model(onnx, rows, dtype)

    def write(stream: IO[bytes]) -> None:
        stream.write(model.SerializeToString())

    try:
        write_atomically(name, write)
    except OSError as error:
        raise RunError([unwritable(name, error)]) from None
    return rows


def _model(onnx: Any, rows: AffineRows, dtype: Precision) -> Any:
    make, types = onnx.helper, onnx.TensorProto
    kind = types.FLOAT if dtype == "float32" else types.DOUBLE
    p, k = rows.coefficients.shape
    constants = {"A": rows.coefficients.astype(dtype), "c": rows.constants.astype(dtype)}
    nodes = [make.make_node("MatMul", [rows.input, "A"], ["products"])]
    if rows.single:
        constants["one"] = np.array([1], dtype=np.int64)
        nodes += [
            make.make_node("Add", ["products", "c"], ["column"]),
            make.make_node("Squeeze", ["column", "one"], ["scores"]),
        ]
    else:
        nodes.append(make.make_node("Add", ["products", "c"], ["scores"]))
    outputs = [make.make_tensor_value_info("scores", kind, ["rows"] if rows.single else ["rows", k])]
    classes = _labels(rows)
    if classes is not None:
        label = {"i": types.INT64, "f": types.DOUBLE}.get(classes.dtype.kind, types.STRING)
        constants["classes"] = classes
        if rows.single:
            constants["zero"] = np.zeros(1, dtype=dtype)
            nodes += [
                make.make_node("Greater", ["scores", "zero"], ["positive"]),
                make.make_node("Cast", ["positive"], ["place"], to=types.INT64),
            ]
        else:
            nodes.append(make.make_node("ArgMax", ["scores"], ["place"], axis=1, keepdims=0))
        nodes.append(make.make_node("Gather", ["classes", "place"], ["label"]))
        outputs.append(make.make_tensor_value_info("label", label, ["rows"]))
    graph = make.make_graph(
        nodes,
        "scores",
        [make.make_tensor_value_info(rows.input, kind, ["rows", p])],
        outputs,
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    model.producer_name, model.producer_version = "fwdsl", versions()["fwdsl"]
    told = {"columns": rows.columns, "classes": rows.classes or ()}
    make.set_model_props(model, {key: _listed(values) for key, values in told.items() if values})
    onnx.checker.check_model(model)
    return model


def _labels(rows: AffineRows) -> np.ndarray | None:
    """The classes that scores stand for, where there are as many as the scores tell apart."""
    if rows.classes is None or len(rows.classes) != (2 if rows.single else rows.coefficients.shape[1]):
        return None
    if all(isinstance(c, int | float) and float(c).is_integer() for c in rows.classes):
        return np.array([int(c) for c in rows.classes], dtype=np.int64)
    if all(isinstance(c, int | float) for c in rows.classes):
        return np.array(rows.classes, dtype=np.float64)
    return np.array([str(c) for c in rows.classes], dtype=object)


def _listed(values: tuple[Any, ...]) -> str:
    from ..results.json_form import dumps

    return dumps(list(values))
