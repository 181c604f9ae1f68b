"""`fwdsl mock FILE --dims n=1000,p=50 [--seed K] --out DIR`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ...files.target import unwritable, write_atomically
from ...grammar.diagnostic import Diagnostic
from ...readers.sources import parse_data_argument, parse_dim_argument, parse_set_argument
from ..arguments import Parser, add_file, add_json, whole
from ..exits import OK, USAGE, CommandStop
from ..opening import inputs_of, opened
from ..output import Output
from ..outputs import Inputs, keep_apart

if TYPE_CHECKING:
    from ...bind import Bindings
    from ...bind.mock import Mock
    from ...model import Model

_LENGTH = re.compile(r"\s*len\((?P<name>\w+)\)\s*=(?P<size>.*)", re.DOTALL)


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        "mock",
        "Write random data that keep the promises of a program, and print the command that runs it on them.",
    )
    add_file(made)
    made.add_argument(
        "--dims",
        "--dim",
        action="append",
        default=[],
        metavar="n=1000,p=50",
        help="the sizes of the dimensions; `len(M)=500` for the number of observed entries",
    )
    made.add_argument("--seed", type=whole("--seed", least=0), default=0, metavar="K", help="of the random generator")
    made.add_argument("--out", metavar="DIR", help="the folder to write to, made if it is not there")
    add_json(made)
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Write random data of the declared types, bind them, and print the command that runs the program on them."""
    arguments = parser()
    known = arguments.parse(argv)
    output.configure(mode="json" if known.json else "text")
    (name,) = arguments.files(known)
    if known.out is None:
        rule = "Mocked data are written to files."
        raise CommandStop([Diagnostic("FW0024", "no folder is named to write to", rule=rule, hint="write `--out DIR`")])
    session = opened(name, output)
    model = session.compile()
    from ...bind.mock import mock

    made, found = mock(model, _sizes(known.dims, model), known.seed)
    if made is None:
        raise CommandStop(found)
    files = _write(made, Path(known.out), inputs_of(session, name))
    data, params, dims = _options(model, made, files)
    session.bound_to(_bindings(data, params, dims)).bind()
    options = [*data, *(f"--set={p}" for p in params), *(f"--dim={d}" for d in dims)]
    command = ["fwdsl", "run", name, *(part for o in options for part in o.split("=", 1))]
    output.text(shlex.join(command) + "\n")
    output.finish({"status": "ok", "files": files, "dimensions": dict(made.dims), "command": command})
    return OK


def _sizes(texts: Sequence[str], model: Model) -> dict[str, int]:
    """The sizes that `--dims` gives, or a stop with every error."""
    from ...bind.mock import sizes_needed

    lengths = [f"len({d.name})" for d in model.data if d.type.is_entries]
    allowed = [*sizes_needed(model), *lengths]
    sizes: dict[str, int] = {}
    wrong: list[Diagnostic] = []
    for part in (part for text in texts for part in text.split(",") if part.strip()):
        length = _LENGTH.match(part)
        parsed = parse_dim_argument(f"{length['name']}={length['size']}" if length else part, "--dims")
        if isinstance(parsed, Diagnostic):
            wrong.append(parsed)
            continue
        dim = f"len({parsed[0]})" if length else parsed[0]
        if dim in allowed:
            sizes[dim] = parsed[1]
            continue
        close = get_close_matches(dim, allowed, n=1)
        listed = ", ".join(f"`{n}`" for n in allowed) or "none"
        wrong.append(
            Diagnostic(
                "FW0021",
                f"`--dims {part.strip()}` gives `{dim}`, which is no dimension that data need",
                rule=f"The dimensions to give are {listed}.",
                hint=f"did you mean `{close[0]}`?" if close else "`fwdsl info` lists the dimensions of a program",
            )
        )
    if wrong:
        raise CommandStop(wrong)
    return sizes


def _write(made: Mock, folder: Path, inputs: Inputs) -> dict[str, str]:
    """The file of each name. Stops where one of them is a source of the program."""
    import numpy as np

    files = {name: str(folder / f"{name}.npy") for name in made.arrays}
    files |= {name: str(folder / f"{name}.csv") for name in made.entries}
    for file in files.values():
        keep_apart({"--out": file}, inputs)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in made.arrays.items():
            write_atomically(files[name], partial(np.save, arr=array, allow_pickle=False))
        for name, columns in made.entries.items():
            write_atomically(files[name], partial(_write_entries, columns))
    except OSError as error:
        raise CommandStop([unwritable(str(error.filename or folder), error)]) from None
    return files


def _write_entries(columns: Sequence[Any], stream: IO[bytes]) -> None:
    stream.write(b"row,column,value\n")
    rows = zip(*(column.tolist() for column in columns), strict=True)
    stream.writelines(f"{i},{j},{v!r}\n".encode("ascii") for i, j, v in rows)


def _options(model: Model, made: Mock, files: Mapping[str, str]) -> tuple[list[str], list[str], list[str]]:
    """The options of the command to print: `--data`, `--set`, and `--dim` for sizes that no array shows."""
    from ...check.describe import dimensions, is_shown

    arrays = {p.name for p in model.params}
    data = [f"--data={n}={'coo:' if n in made.entries else ''}{path}" for n, path in files.items() if n not in arrays]
    params = [f"{name}={value:g}" for name, value in made.params.items()]
    params += [f"{name}={path}" for name, path in files.items() if name in arrays]
    hidden = [n for n in dimensions(model) if n in made.dims and not is_shown(n, model)]
    return data, params, [f"{n}={made.dims[n]}" for n in hidden]


def _bindings(data: Sequence[str], params: Sequence[str], dims: Sequence[str]) -> Bindings:
    """The bindings of the files written, as the printed command makes them."""
    from ...bind import Bindings

    sources = [parse_data_argument(text.removeprefix("--data=")) for text in data]
    wrong = [s for s in sources if isinstance(s, Diagnostic)]
    if wrong:
        raise CommandStop(wrong, USAGE)
    return Bindings(
        sources=tuple(s for s in sources if not isinstance(s, Diagnostic)),
        params=dict(s for s in map(parse_set_argument, params) if not isinstance(s, Diagnostic)),
        dims={n: int(v) for n, _, v in (d.partition("=") for d in dims)},
    )
