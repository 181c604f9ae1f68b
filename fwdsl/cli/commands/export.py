"""`fwdsl export S.npz --onnx FILE [--what NAME] [--dtype float32]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...grammar.diagnostic import Diagnostic
from ..arguments import Parser, add_json
from ..exits import OK, CommandStop
from ..output import Output
from ..outputs import keep_apart, require_outputs

if TYPE_CHECKING:
    from ...exports.affine_rows import AffineRows
    from ...exports.onnx import Precision

DTYPES: tuple[Precision, ...] = ("float64", "float32")


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        "export",
        "Write the scores of a saved answer, X @ w + b or those of several classes, as an ONNX model (extra `onnx`).",
    )
    made.add_argument("files", nargs="*", metavar="FILE.npz", help="an answer saved by `fwdsl run --out`")
    made.add_argument("--onnx", metavar="FILE", help="the model to write")
    made.add_argument("--what", metavar="NAME", help="a `let` of the program; the argument of its loss unless told")
    made.add_argument(
        "--dtype", metavar="TYPE", help=f"the numbers of the model: {' or '.join(DTYPES)} (default float64)"
    )
    add_json(made)
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Write the scores of a saved answer in another format."""
    arguments = parser()
    known = arguments.parse(argv)
    output.configure(mode="json" if known.json else "text")
    (name,) = arguments.files(known)
    dtype = next((each for each in DTYPES if each == (known.dtype or DTYPES[0])), None)
    if dtype is None:
        hint = f"write `--dtype {DTYPES[0]}` or `--dtype {DTYPES[1]}`"
        raise CommandStop([Diagnostic("FW0004", f"`--dtype` does not take `{known.dtype}`", hint=hint)])
    if known.onnx is None:
        hint = f"write `fwdsl export {name} --onnx model.onnx`"
        raise CommandStop([Diagnostic("FW0216", "no file to export to is named", hint=hint)])
    outputs = {"--onnx": known.onnx}
    keep_apart(outputs, [("the answer", name)])
    require_outputs(outputs)
    from ...exports.onnx import export_onnx
    from ...extras import require
    from ...results.loading import load_solution

    require("onnx")
    rows = export_onnx(load_solution(name), known.onnx, known.what, dtype=dtype)
    output.text(_told(rows, dtype, known.onnx))
    output.finish(
        {
            "status": "ok",
            "saved": known.onnx,
            "dtype": dtype,
            "input": rows.input,
            "shape": list(rows.coefficients.shape),
            "columns": list(rows.columns),
            "classes": None if rows.classes is None else list(rows.classes),
        }
    )
    return OK


def _told(rows: AffineRows, dtype: str, name: str) -> str:
    p, k = rows.coefficients.shape
    scores = "one score" if rows.single else f"{k} scores"
    columns = f"\ncolumns {', '.join(rows.columns)}" if rows.columns else ""
    classes = f"\nclasses {', '.join(f'{c}' for c in rows.classes)}" if rows.classes else ""
    return f"{name}: {scores} for each row of `{rows.input}`, {p} columns, in {dtype}{columns}{classes}\n"
