"""The entry point: it finds the command, runs it, and turns every ending into an exit code."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module

from ..collector import still_collector
from ..errors import FwError
from ..grammar.diagnostic import Diagnostic
from .exits import BUG, INTERRUPTED, LIMIT, OK, PROVEN, REJECTED, USAGE, CommandStop, code_for
from .output import Mode, Output
from .signals import Held, Noted
from .terminal import colored

#: The commands in the order of `fwdsl --help`: name -> (module, one line).
COMMANDS = {
    "run": ("run", "compile, plan and solve a program; print the answer and its certificate"),
    "check": ("check", "check programs: syntax, names, shapes, convexity"),
    "plan": ("plan", "show the canonical form, every method with its reasons, and the choice"),
    "explain": ("explain", "the long form of a diagnostic, or the list of all; the options of a method"),
    "info": ("info", "what a program takes and gives: data, parameters, variables, dimensions"),
    "mock": ("mock", "write random data of the declared types, and print the command that runs on them"),
    "fmt": ("fmt", "format programs, comments kept"),
    "verify": ("verify", "solve, then compare with cvxpy and check the certificate independently"),
    "eval": ("evaluate", "values of a saved solution on new data: terms, `let`s, error rates"),
    "export": ("export", "write the scores of a saved answer as an ONNX model"),
    "race": ("race", "run methods under one clock: table and plot of gap against time and passes"),
    "path": ("path", "solve along values of a parameter, each from the answer before"),
    "grid": ("grid", "solve over values of several parameters, each from the nearest answer"),
    "new": ("new", "look at a data file, and write a first program that fits its columns"),
    "repl": ("repl", "type a program line by line: each is checked at once, `:solve` solves it"),
    "completion": ("completion", "completion for a shell: commands, files, parameters, methods"),
    "doctor": ("doctor", "what is installed: versions, cores, caches, extras"),
    "warm": ("warm", "compile ahead what programs use, so that their first runs do not wait for it"),
    "lsp": ("lsp", "the language server, which an editor starts"),
}

#: Commands that need no arrays, so that NumPy is not loaded for them.
_WITHOUT_DATA = ("check", "explain", "info", "fmt", "completion", "doctor", "lsp")

EXIT_CODES = {
    OK: "solved to tolerance",
    USAGE: "usage, file or data error (`fmt --check`: a file differs; `verify`: disagreement)",
    REJECTED: "program rejected",
    PROVEN: "infeasible or unbounded, proven",
    LIMIT: "stopped at a limit before the tolerance",
    BUG: "a bug of fwdsl",
    INTERRUPTED: "interrupted",
}
"""The exit codes, and what they say."""

_HELP_HINT = "`fwdsl --help` lists the commands"


def run(argv: Sequence[str], interrupted: bool = False) -> int:
    """Run `fwdsl` with these arguments and return its exit code; it may have been `interrupted` already."""
    _open_streams()
    output = Output()
    if isinstance(sys.stdout, io.TextIOWrapper):  # names that the encoding lacks are escaped, as on standard error
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with colored(argv):
            code = _dispatch(list(argv), output, interrupted)
        sys.stdout.flush()
        return code
    except OSError as error:
        # Whoever read our output has gone, or the disk is full. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            reason = (error.strerror or "writing failed").lower()
            Output().report([Diagnostic("FW0013", f"standard output cannot be written: {reason}")])
        return USAGE


def _open_streams() -> None:
    """Put the null device where the caller has closed a stream, so that writing need not ask."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _dispatch(argv: list[str], output: Output, interrupted: bool) -> int:
    with Noted() as noted:
        try:
            if interrupted:
                output.configure(mode=_mode(argv))
                raise KeyboardInterrupt
            code = _command(argv, output)
            sys.stdout.flush()
            return code
        except CommandStop as stop:
            if stop.diagnostics:
                output.reject(stop.diagnostics)
            return stop.code
        except FwError as error:
            output.reject(error.diagnostics)
            return code_for(error.diagnostics)
        except KeyboardInterrupt:
            output.interrupted()
            return INTERRUPTED
        except MemoryError:
            output.reject([_out_of_memory()])
            return USAGE
        except Exception as error:
            if noted.came:
                output.interrupted()
                return INTERRUPTED
            if isinstance(error, OSError) and error.errno in _OUTPUT_ENDED and error.filename is None:
                raise  # not of a file that a command opened
            return _bug(error, argv, output)


#: How writing to standard output fails: its reader has gone, or its disk is full.
_OUTPUT_ENDED = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _bug(error: Exception, argv: list[str], output: Output) -> int:
    from .crash import bug

    output.reject([bug(error, argv, output.program)])
    return BUG


def _command(argv: list[str], output: Output) -> int:
    name = argv[0] if argv else ""
    if name in ("-h", "--help", "help"):
        sys.stdout.write(usage())
        return OK
    if name in ("-V", "--version"):
        from .. import __version__

        sys.stdout.write(f"fwdsl {__version__}\n")
        return OK
    if name not in COMMANDS:
        raise CommandStop([_unknown_command(name)])
    # Before the arguments are parsed, so that what is wrong with them is told as JSON too.
    output.configure(mode=_mode(argv))
    with Held() as held, still_collector():
        module = import_module(f".commands.{COMMANDS[name][0]}", __package__)
        if name not in _WITHOUT_DATA:
            import_module("..bind", __package__)
    if held.came:
        raise KeyboardInterrupt
    return int(module.run(argv[1:], output))


def _mode(argv: Sequence[str]) -> Mode:
    return "json" if "--json" in argv else "stream" if "--json-stream" in argv else "text"


def usage() -> str:
    """The text of `fwdsl --help`."""
    from textwrap import fill

    width = max(len(name) for name in COMMANDS)
    lines = "\n".join(f"  {name:<{width}}  {summary}" for name, (_, summary) in COMMANDS.items())
    codes = fill("Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + ".", 100)
    return (
        "usage: fwdsl COMMAND [ARGUMENTS]\n\n"
        "Structured convex learning with a certificate: compiles `.fw` programs and solves them.\n\n"
        f"{lines}\n\n"
        f"`fwdsl COMMAND --help` tells more of a command, `fwdsl --version` the version.\n\n{codes}\n"
    )


_ELSEWHERE = {
    **dict.fromkeys(("solve", "fit", "train"), "run"),
    **dict.fromkeys(("predict", "score"), "eval FILE.npz --predict"),
    **dict.fromkeys(("lint", "compile"), "check"),
    "init": "new",
    "convert": "export",
    "version": "--version",
}
"""The commands and options for what other programs call otherwise."""


def _unknown_command(name: str) -> Diagnostic:
    rule = f"The commands are {', '.join(COMMANDS)}."
    if not name:
        return Diagnostic("FW0001", "a command is missing", rule=rule, hint=_HELP_HINT)
    if name.endswith(".fw"):
        return Diagnostic(
            "FW0001", f"`{name}` is a program, not a command", rule=rule, hint=f"write `fwdsl run {name}`"
        )
    close = get_close_matches(name, COMMANDS, n=1)
    meant = _ELSEWHERE.get(name) or (close[0] if close else "")
    hint = f"did you mean `fwdsl {meant}`?" if meant else _HELP_HINT
    return Diagnostic("FW0001", f"`{name}` is not a command", rule=rule, hint=hint)


def _out_of_memory() -> Diagnostic:
    return Diagnostic(
        "FW6001",
        "the memory of this machine ran out",
        rule="The data, one transposed copy where a method needs it, and a few vectors must fit in memory.",
        hint="keep dense data in a plain `.npy` file, which is mapped instead of read, or use less data",
    )
