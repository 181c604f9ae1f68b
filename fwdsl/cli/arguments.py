"""Arguments of the commands: argparse, with diagnostics in place of its messages."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from ..grammar.diagnostic import Diagnostic
from ..readers.sources import SourceSpec, parse_data_argument, parse_dim_argument, parse_set_argument
from ..words.options import SOLVE_OPTIONS, bytes_of
from .exits import CommandStop
from .terminal import COLORS

Check = Callable[[str], Any]


class Parser(argparse.ArgumentParser):
    """The parser of one command. Every error is a `CommandStop` with a diagnostic."""

    def __init__(self, command: str, summary: str) -> None:
        super().__init__(prog=f"fwdsl {command}", description=summary, allow_abbrev=False, exit_on_error=False)
        self.several = False
        """True if the command takes several files, or other names, which may stand between its options."""
        if command:  # a cell of a notebook has none: what it shows is HTML
            self.add_argument(
                "--color",
                type=choice("--color", *COLORS),
                metavar="WHEN",
                help="auto (unless told), always, never; NO_COLOR and FORCE_COLOR are read too",
            )

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """Parse the arguments, or stop with every error."""
        try:
            known, rest = self.parse_known_args(list(argv))
        except argparse.ArgumentError as error:
            raise CommandStop([self._argument_error(error)]) from None
        if rest and self.several and not any(a.startswith("-") for a in rest):
            # argparse takes files in one place only, and leaves those behind an option.
            known.files.extend(rest)
        elif rest:
            # Behind an unknown option stands its value, which is no error of its own.
            values = {i + 1 for i, a in enumerate(rest) if a.startswith("-") and "=" not in a}
            told = [a for i, a in enumerate(rest) if a.startswith("-") or i not in values]
            raise CommandStop(list(dict.fromkeys(map(self._left_over, told))))
        return known

    def error(self, message: str) -> NoReturn:
        """Called by argparse for whatever has no better place."""
        raise CommandStop([Diagnostic("FW0003", message, hint=self._help())])

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Called by argparse once it has printed the help."""
        raise CommandStop((), status)

    def files(self, known: argparse.Namespace, *, several: bool = False) -> list[str]:
        """The programs named; at least one, and only one unless `several`."""
        names: list[str] = known.files
        if not names:
            found = "no program is named"
            rule = "This command takes the file of a program."
            raise CommandStop([Diagnostic("FW0005", found, rule=rule, hint=f"write `{self.prog} FILE.fw`")])
        if len(names) > 1 and not several:
            found = f"`{names[1]}` is one argument too many"
            rule = f"`{self.prog}` takes one program."
            hint = f"write `{self.prog} {names[0]}`; data are bound by `--data NAME=PATH`"
            raise CommandStop([Diagnostic("FW0006", found, rule=rule, hint=hint)])
        return names

    def _argument_error(self, error: argparse.ArgumentError) -> Diagnostic:
        option = (error.argument_name or "").split("/")[-1]
        if "ignored explicit argument" in error.message:
            return Diagnostic("FW0003", f"`{option}` takes no value", hint=f"write `{option}` alone")
        if "not allowed with" in error.message:
            other = error.message.split()[-1]
            return Diagnostic("FW0007", f"`{option}` and `{other}` exclude each other", hint="give one of them")
        action = next((a for a in self._actions if option in a.option_strings), None)
        value = action.metavar if action is not None and isinstance(action.metavar, str) else "VALUE"
        return Diagnostic("FW0003", f"`{option}` has no value", hint=f"write `{option} {value}`; {self._help()}")

    def _left_over(self, argument: str) -> Diagnostic:
        if not argument.startswith("-"):
            return Diagnostic("FW0006", f"`{argument}` is one argument too many", hint=self._help())
        name = argument.partition("=")[0]
        options = [o for action in self._actions for o in action.option_strings if o.startswith("--")]
        close = get_close_matches(name, options, n=1)
        hint = f"did you mean `{close[0]}`? {self._help()}" if close else self._help()
        rule = f"The options of `{self.prog}` are {', '.join(sorted(options))}."
        return Diagnostic("FW0002", f"`{self.prog}` has no option `{name}`", rule=rule, hint=hint)

    def _help(self) -> str:
        return f"`{self.prog} --help` lists the options"


# --- groups of options that several commands share -------------------------------------------------------------------


def add_file(parser: Parser, *, several: bool = False) -> None:
    """The program, or programs; `-` is standard input."""
    parser.several = several
    what = "programs" if several else "the program"
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"{what}; `-` reads standard input")


def add_bindings(parser: Parser) -> None:
    """`--data`, `--set`, `--dim`."""
    group = parser.add_argument_group("what the program is run on")
    group.add_argument(
        "--data",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="bind data to a file: NAME=PATH, X,y=train.svm, X,y=libsvm:PATH, A=arrays.npz:key",
    )
    group.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="give a parameter its value")
    group.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE", help="give a dimension its size")


def add_solve(parser: Parser, *, several: bool = False) -> None:
    """The options of `solve`; they win over the program's own. With `several` there are `--methods` in place of `--method`."""
    group = parser.add_argument_group("how it is solved (these win over the program's `solve`)")
    if several:
        group.add_argument(
            "--methods",
            type=methods("--methods"),
            metavar="A,B",
            help="methods as `fwdsl plan` lists them, or NAME(option=value); all that apply unless told",
        )
    else:
        group.add_argument(
            "--method",
            type=method("--method"),
            metavar="M",
            help="`auto`, a method's name as `fwdsl plan` lists them, NAME(option=value), or A,B to choose from",
        )
    group.add_argument("--tol", type=number("--tol", strict=True), metavar="T", help="duality gap to certify")
    group.add_argument("--gap", type=choice("--gap", "relative", "absolute"), metavar="KIND", help="relative, absolute")
    group.add_argument("--time", type=seconds("--time"), metavar="S", help="seconds of solving at most")
    group.add_argument("--max-iter", type=whole("--max-iter", least=0), metavar="N", help="iterations at most")
    group.add_argument("--seed", type=whole("--seed", least=0), metavar="K", help="of the random generator")
    group.add_argument("--threads", type=whole("--threads", least=0), metavar="T", help="0: one a core")
    group.add_argument(
        "--device",
        type=choice("--device", *SOLVE_OPTIONS["device"].choices),
        metavar="NAME",
        help="cpu, or cuda: products with large data on an NVIDIA device (extra `cuda`)",
    )
    group.add_argument(
        "--memory",
        type=memory("--memory"),
        metavar="SIZE",
        help="memory at most, as 2GB: larger matrices stay in their files, and are read by ranges of rows",
    )


def add_workers(parser: Parser) -> None:
    """`--workers`."""
    parser.add_argument(
        "--workers",
        type=workers("--workers"),
        metavar="WHO",
        help="hold the rows of data in N processes here, or in Dask's workers at tcp://HOST:PORT or of a scheduler.json",
    )


def add_json(parser: Parser, *, stream: bool = False) -> None:
    """`--json`, and where there is something to follow `--json-stream`."""
    group = parser.add_mutually_exclusive_group() if stream else parser
    group.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    if stream:
        group.add_argument("--json-stream", action="store_true", help="print a JSON object a line while it runs")


def add_html(parser: Parser) -> None:
    """`--html`."""
    parser.add_argument("--html", metavar="FILE", help="write a page that shows it all, and needs no network")


def add_strict(parser: Parser) -> None:
    """`--strict`."""
    parser.add_argument("--strict", action="store_true", help="warnings are errors")


def bindings(
    known: argparse.Namespace,
) -> tuple[tuple[tuple[tuple[str, ...], SourceSpec], ...], dict[str, object], dict[str, int]]:
    """Sources, parameters and dimensions that the command line gives; or a stop with every error."""
    wrong: list[Diagnostic] = []
    sources = _each(known.data, parse_data_argument, wrong)
    params = _each(known.set, parse_set_argument, wrong)
    dims = _each(known.dim, parse_dim_argument, wrong)
    if wrong:
        raise CommandStop(wrong)
    return tuple(sources), dict(params), dict(dims)


def _each(texts: Sequence[str], parse: Callable[[str], Any], wrong: list[Diagnostic]) -> list[Any]:
    results = [parse(text) for text in texts]
    wrong.extend(r for r in results if isinstance(r, Diagnostic))
    return [r for r in results if not isinstance(r, Diagnostic)]


# --- values of options -----------------------------------------------------------------------------------------------


def number(option: str, *, strict: bool) -> Check:
    """A finite number, at least 0, or above it."""
    expected = "a number above 0" if strict else "a number from 0"

    def check(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise _bad_value(option, text, expected, "1e-6") from None
        if not math.isfinite(value) or value < 0 or (strict and value == 0):
            raise _bad_value(option, text, expected, "1e-6")
        return value

    return check


def seconds(option: str) -> Check:
    """Seconds: `60`, `60 s`, `60s`, `5 min`."""

    def check(text: str) -> float:
        unit, digits = 1.0, text.strip()
        for suffix, size in (("min", 60.0), ("s", 1.0)):
            if digits.endswith(suffix):
                unit, digits = size, digits.removesuffix(suffix)
                break
        try:
            value = float(digits) * unit
        except ValueError:
            value = math.nan
        if not value >= 0:
            raise _bad_value(option, text, "a time in seconds", "60")
        return value

    return check


def workers(option: str) -> Check:
    """A count of processes, the address of a scheduler, or the path of its file."""

    def check(text: str) -> int | str:
        if text.isascii() and text.isdigit() and 0 < int(text) < 10_000:
            return int(text)
        if "://" in text or text.endswith(".json"):
            return text
        expected = "a number of processes, the address of a Dask scheduler (tcp://HOST:PORT), or the path of its scheduler.json"
        raise _bad_value(option, text, expected, "2")

    return check


def memory(option: str) -> Check:
    """A size: `2GB`, `500 MiB`, or a number of bytes."""

    def check(text: str) -> int:
        found = bytes_of(text)
        if found is None:
            raise _bad_value(option, text, "a size in bytes, or with a unit: KB, MB, GB, KiB, MiB, GiB", "2GB")
        return found

    return check


def method(option: str) -> Check:
    """A method's name and its options, `apg`, `apg(newton=false)`, or several to choose from, `apg,pdhg`."""

    def check(text: str) -> tuple[str | tuple[str, ...], dict[str, object]]:
        from ..check.options import method_list, method_option

        named = method_option(text)
        several = None if named is not None else method_list(text)
        if several is not None:
            return several, {}
        if named is None:
            expected = "`auto`, the name of a method, `NAME(option=value)`, or names separated by commas"
            raise _bad_value(option, text, expected, "apg")
        return named

    return check


def methods(option: str) -> Check:
    """Methods separated by commas outside brackets: `apg,frank_wolfe(step=line_search)`."""

    def check(text: str) -> list[str]:
        from ..check.options import method_option

        parts = [part.strip() for part in re.split(r",(?![^()]*\))", text)]
        for part in parts:
            if method_option(part) is None:
                expected = "names of methods, or `NAME(option=value)`, separated by commas"
                raise _bad_value(option, text, expected, "apg,frank_wolfe")
        return parts

    return check


def whole(option: str, *, least: int) -> Check:
    """A whole number, at least `least`."""

    def check(text: str) -> int:
        digits = text.replace("_", "")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 19 and int(digits) >= least):
            raise _bad_value(option, text, f"a whole number from {least}", str(max(least, 1)))
        return int(digits)

    return check


def choice(option: str, *values: str) -> Check:
    """One of a few words."""

    def check(text: str) -> str:
        if text not in values:
            close = get_close_matches(text, values, n=1)
            raise _bad_value(option, text, " or ".join(f"`{v}`" for v in values), close[0] if close else values[0])
        return text

    return check


def _bad_value(option: str, text: str, expected: str, example: str) -> CommandStop:
    found = f"`{text}` is not what `{option}` takes"
    rule = f"`{option}` takes {expected}."
    return CommandStop([Diagnostic("FW0004", found, rule=rule, hint=f"write for instance `{option} {example}`")])
