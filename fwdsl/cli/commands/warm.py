"""`fwdsl warm FILE... | --all`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import FwError
from ...session import Raising, Session
from ..arguments import Parser, add_bindings, add_file, add_json
from ..exits import OK, CommandStop, code_for
from ..files import display_name
from ..opening import absent_sources, at_hand, bindings_of, opened
from ..output import Output
from ..progress import compiling

if TYPE_CHECKING:
    from ...bind import Bindings
    from ...studies.warm import Warmed

EVERY = "every word"
"""The word in place of a program's name for `--all`."""


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        "warm",
        "Compile ahead what programs use, and keep it, so that their first runs do not wait for it. A program is solved on its data, for ten "
        "seconds at most; where they are not at hand, on random data of its types, by each method that the planner may choose.",
    )
    add_file(made, several=True)
    made.add_argument("--all", action="store_true", help="for every loss, function and set, beside the programs")
    add_bindings(made)
    add_json(made)
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Compile what programs use, and keep it; what is kept already is not compiled again."""
    arguments = parser()
    known = arguments.parse(argv)
    output.configure(mode="json" if known.json else "text")
    from ...backends.kernels.uncompiled import why_not_compiled

    if (why := why_not_compiled()) is not None:
        output.text(f"there is nothing to compile: kernels run as plain Python ({why})\n")
        output.finish({"status": "ok", "folder": None, "programs": {}})
        return OK
    names: list[str] = known.files if known.all else arguments.files(known, several=True)
    bindings = bindings_of(known)
    jobs: dict[str, Callable[[], Warmed]] = {display_name(n): partial(_program, n, bindings, output) for n in names}
    if known.all:
        jobs[EVERY] = _every_word
    codes, told = [OK], {}
    for name, job in jobs.items():
        try:
            with compiling(output, name):
                warmed = job()
        except CommandStop as stop:
            output.report(stop.diagnostics)
            codes.append(stop.code)
        except FwError as error:
            output.report(error.diagnostics)
            output.note(f"{name}: random data of its types do not fit it; bind its data by `--data NAME=PATH`")
            codes.append(code_for(error.diagnostics))
        else:
            told[name] = {
                "methods": list(warmed.methods),
                "compiled": list(warmed.compiled),
                "seconds": warmed.seconds,
            }
            output.text(f"{name}: {_line(warmed)}\n")
    output.finish({"status": "rejected" if any(codes) else "ok", "folder": _folder(), "programs": told})
    return max(codes)


def _line(warmed: Warmed) -> str:
    n = len(warmed.compiled)
    made = f"{n} kernel{'' if n == 1 else 's'} compiled" if n else "everything was compiled already"
    return f"{made}, {warmed.seconds:.1f} s, for {', '.join(warmed.methods) or 'no method'}"


def _folder() -> str | None:
    from ...backends.kernels.cache import kernel_folder

    folder = kernel_folder()
    return None if folder is None else str(folder)


def _program(name: str, bindings: Bindings, output: Output) -> Warmed:
    from ...studies.warm import mocked, warm

    session = opened(name, output, bindings)
    session.check_bindings()
    model = session.compile()
    absent = absent_sources(model, bindings, session.base)
    if at_hand(model, bindings, absent):
        return warm([session])
    return warm(mocked(session, bindings.dims, bindings.params), each=True)


def _every_word() -> Warmed:
    from ...studies.every_word import DIMS, programs
    from ...studies.warm import joined, mocked, warm

    sessions = (Session(text, f"<{EVERY}>", Path(), Raising()) for text in programs())
    return joined(warm(mocked(session, DIMS), each=True) for session in sessions)
