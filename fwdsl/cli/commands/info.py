"""`fwdsl info FILE [--names KIND] [--json]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..arguments import Parser, add_file, add_json, add_strict, choice
from ..exits import OK
from ..opening import opened
from ..output import Output

NAMED = ("data", "parameters", "variables", "dimensions")
"""The kinds that `--names` lists."""


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser("info", "What a program takes and gives: data, parameters, variables, dimensions. No data are read.")
    add_file(made)
    made.add_argument(
        "--names",
        type=choice("--names", *NAMED),
        metavar="KIND",
        help=f"print names alone, one a line: {', '.join(NAMED)}",
    )
    add_json(made)
    add_strict(made)
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Tell what a program takes and gives; no data are read."""
    arguments = parser()
    known = arguments.parse(argv)
    output.configure(mode="json" if known.json else "text", strict=known.strict)
    (name,) = arguments.files(known)
    model = opened(name, output).compile()
    from ...check.describe import describe_program

    told = describe_program(model)
    if known.names is not None:
        named: Any = told[known.names]
        output.text("".join(f"{entry['name']}\n" for entry in named))
    else:
        output.text("\n".join(_lines(told)) + "\n")
    output.finish({"status": "ok", **told})
    return OK


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    yield f"{told['sense']} {told['name'] or 'a program without a name'}"
    rows = {
        "data": [(d["name"], d["type"], _whence(d)) for d in told["data"]],
        "parameters": [(p["name"], p["domain"], _default(p)) for p in told["parameters"]],
        "variables": [(v["name"], v["type"], "") for v in told["variables"]],
        "dimensions": [(d["name"], "", _binding(d)) for d in told["dimensions"]],
        "objective": [(t["name"] or "", t["text"], "") for t in told["terms"]],
        "constraints": [(c["name"], c["text"], "") for c in told["constraints"]],
    }
    for title, table in rows.items():
        if table:
            yield f"\n{title}"
            yield from _table(table)


def _table(rows: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Columns under each other; one that is empty throughout takes no room."""
    kept = [column for column in zip(*rows, strict=True) if any(column)]
    widths = [max(map(len, column)) for column in kept]
    for cells in zip(*kept, strict=True):
        yield "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def _whence(datum: Mapping[str, object]) -> str:
    if datum["literal"]:
        return "written out"
    if datum["source"]:
        return f"from {datum['source']}"
    return f"needed: --data {datum['name']}=PATH"


def _default(parameter: Mapping[str, object]) -> str:
    if parameter["needed"]:
        return f"needed: --set {parameter['name']}=VALUE"
    return f"default {parameter['default']}"


def _binding(dimension: Mapping[str, Any]) -> str:
    if dimension["needed"]:
        return f"needed: --dim {dimension['name']}=SIZE"
    return ", ".join(dimension["bound_by"])
