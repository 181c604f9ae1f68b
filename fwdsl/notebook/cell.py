"""A cell `%%fw`: its first line as arguments, the rest as a program, whose data come from the notebook's own names."""

from __future__ import annotations

import numbers
import shlex
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from inspect import isclass, ismodule, isroutine
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from ..bind import Bindings
from ..cli.arguments import Parser, add_solve
from ..cli.exits import CommandStop
from ..diagnostics.traceback import SHOWN
from ..errors import FwError, RunError, error_for
from ..grammar.diagnostic import Diagnostic
from ..problem import Problem, parse
from ..readers.sources import parse_dim_argument, parse_set_argument
from ..words import SOLVE_OPTIONS

if TYPE_CHECKING:
    from ..plan import Plan
    from ..results.solution import Solution
    from .progress import ProgressLine

NAME = "fw"

SOURCE = "<cell>"
"""The name of the program in messages."""


def run_cell(shell: Any, progress: ProgressLine | None, line: str, cell: str) -> Solution | Plan | None:
    """Solve the program of a cell.

    %%fw [--data X=df] [--set mu=.1] [--dim n=5] [-o solution] [-p problem] [--plan] [options of solve]

    Data without a source are bound to what the notebook has by their names, and so are parameters without a default; `--data NAME=EXPRESSION` and
    `--set NAME=VALUE` give others. `-o` keeps the solution under a name, `-p` the problem with what is bound to it; `--plan` shows the plan and
    solves nothing. Further options are those of `fwdsl run`: `--tol`, `--method`, `--time`, ...
    """
    try:
        try:
            return _run(shell, progress, line, cell)
        except CommandStop as stop:
            if stop.diagnostics:
                raise error_for(tuple(stop.diagnostics)) from None
            return None  # the help was asked for
    except FwError as error:
        _show(error)
        raise


def _run(shell: Any, progress: ProgressLine | None, line: str, cell: str) -> Solution | Plan:
    known = _arguments(line)
    # the first line of the cell is ours, so that lines are counted as the notebook counts them
    problem, said = _bound(parse("\n" + cell, SOURCE), known, shell)
    if known.problem:
        shell.push({known.problem: problem})
    options = _options(known)
    found: Solution | Plan = problem.plan(**options) if known.plan else problem.solve(**options)
    if known.out:
        shell.push({known.out: found})
    if progress is not None and progress.take_away():
        from IPython.display import clear_output

        clear_output(wait=True)  # of this cell, whose output is ours alone
    if said:
        print(said)  # noqa: T201
    return found


def _show(error: FwError) -> None:
    """Show the diagnostics as a notebook can: the error that is raised then repeats nothing."""
    from IPython.display import display

    display(error)
    setattr(error, SHOWN, True)


# --- the first line --------------------------------------------------------------------------------------------------


def parser() -> Parser:
    """The parser of the first line."""
    made = Parser("", "Solve the program of the cell on what the notebook has by the names of its data.")
    made.prog = "%%" + NAME
    made.add_argument("--data", action="append", default=[], metavar="NAME=EXPRESSION", help="bind data to a value")
    made.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="give a parameter its value")
    made.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE", help="give a dimension its size")
    made.add_argument("-o", "--out", metavar="NAME", help="keep the solution under this name")
    made.add_argument("-p", "--problem", metavar="NAME", help="keep the problem under this name")
    made.add_argument("--plan", action="store_true", help="show the plan and solve nothing")
    add_solve(made)
    return made


def _arguments(line: str) -> Any:
    try:
        words = [_unquoted(word) for word in shlex.split(line, comments=True, posix=False)]
    except ValueError as error:
        hint = "close the quotes, or leave them out"
        raise RunError([Diagnostic("FW0332", f"the line of the cell cannot be read: {error}", hint=hint)]) from None
    known = parser().parse(words)
    for option, name in (("-o", known.out), ("-p", known.problem)):
        if name is not None and (not name.isidentifier() or iskeyword(name)):
            rule = f"`{option}` takes a name of Python, which the notebook then has."
            found = f"`{name}` is not what `{option}` takes"
            raise RunError([Diagnostic("FW0004", found, rule=rule, hint=f"write for instance `{option} solution`")])
    return known


def _unquoted(word: str) -> str:
    """A word without the quotes around it. Those within it stay: they may be of Python, as in `X=frame[["age","dose"]]`."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word


def _options(known: Any) -> dict[str, Any]:
    options = {name: getattr(known, name) for name in SOLVE_OPTIONS if getattr(known, name) is not None}
    if "method" in options:
        options["method"], own = options["method"]
        options |= own
    return options


# --- names of the notebook -------------------------------------------------------------------------------------------


def _bound(problem: Problem, known: Any, shell: Any) -> tuple[Problem, str]:
    """The problem with what the line gives and what the notebook has, and a line that says what was taken from the notebook unasked."""
    data = dict(_value(text, shell) for text in known.data)
    params = dict(_parameter(text, shell.user_ns) for text in known.set)
    dims: dict[str, Any] = dict(_checked(parse_dim_argument(text)) for text in known.dim)
    found = _from_notebook(problem, {**data, **params, **dims}, shell.user_ns)
    said = f"bound from the notebook: {', '.join(found)}" if found else ""
    if not (found or data or params or dims):
        return problem, said
    # so that messages tell what is wrong in the words of the line
    return problem._given(Bindings({**found, **data}, params=params, dims=dims, given="--data {}")), said


def _from_notebook(problem: Problem, given: Mapping[str, object], namespace: Mapping[str, object]) -> dict[str, object]:
    """The values of names that the program leaves open, and that the notebook has."""
    model = problem.model
    data = [d.name for d in model.data if d.source is None and d.literal is None]
    params = [p for p in model.params if p.default is None]
    found = {name: namespace[name] for name in data if name in namespace and not _is_code(namespace[name])}
    found |= {p.name: namespace[p.name] for p in params if _is_value(namespace.get(p.name), p.type.is_scalar)}
    return {name: value for name, value in found.items() if name not in given}


def _is_value(value: object, scalar: bool) -> bool:
    """True if an object of the notebook may be the value of a parameter: a number, or an array for a vector or a matrix."""
    return isinstance(value, numbers.Real) if scalar else hasattr(value, "shape") and bool(value.shape)


def _value(text: str, shell: Any) -> tuple[str, object]:
    """`X=df` or `X=df.values`: a name of the program and an expression of the notebook."""
    name, sign, expression = (part.strip() for part in text.partition("="))
    if not (sign and name.isidentifier() and expression):
        rule = "`--data` takes a name of the program, `=` and a name of the notebook."
        raise _wrong(f"`{text}` is not what `--data` takes", rule, "write for instance `--data X=frame`")
    try:
        return name, shell.ev(expression)
    except Exception as error:
        rule = "The value of `--data` is an expression of Python, in the names of the notebook. A file is named in the program: `from csv(...)`."
        close = get_close_matches(expression, _names(shell.user_ns), n=1)
        hint = f"did you mean `{close[0]}`?" if close else "make the value in an earlier cell, and give its name"
        raise _wrong(f"`{expression}` has no value: {type(error).__name__}: {error}", rule, hint) from None


def _parameter(text: str, namespace: Mapping[str, object]) -> tuple[str, object]:
    """`mu=.1`, or `mu=best` with a number of the notebook."""
    name, _, value = (part.strip() for part in text.partition("="))
    if value.isidentifier() and isinstance(namespace.get(value), numbers.Real):
        return name, namespace[value]
    return _checked(parse_set_argument(text))


def _checked(parsed: tuple[str, object] | Diagnostic) -> tuple[str, object]:
    if isinstance(parsed, Diagnostic):
        raise RunError([parsed])
    return parsed


def _wrong(found: str, rule: str, hint: str) -> RunError:
    return RunError([Diagnostic("FW0332", found, rule=rule, hint=hint)])


def _is_code(value: object) -> bool:
    """True of functions, classes and modules, which are no data whatever their names."""
    return isroutine(value) or isclass(value) or ismodule(value)


def _names(namespace: Mapping[str, object]) -> Sequence[str]:
    return [name for name in namespace if not name.startswith("_")]
