"""`fwdsl repl [FILE]`."""

from __future__ import annotations

import io
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from ...errors import FwError
from ...files.target import unwritable, write_text
from ...grammar.diagnostic import Diagnostic
from ...session import Session
from ..arguments import Parser
from ..exits import OK, CommandStop
from ..opening import Printing, absent_sources, at_hand, bindings_of, opened, solve
from ..output import Output
from .run import tell

PROMPT, MORE = "fw> ", "... "

ENDS = (":quit", ":q", ":exit")

UNFINISHED = ("FW2062", "FW2068")
"""The errors of a program that has no objective or no variable yet."""

HELP = """\
A line that begins with a colon is a command; every other one is added to the program, and checked.

  :show              the program so far
  :check             all errors and warnings of it
  :undo              take the last addition away
  :set NAME=VALUE    give a parameter its value
  :data NAME=PATH    bind data to a file
  :solve             solve it
  :plan              the plan
  :save FILE.fw      write the program
  :new               begin anew
  :quit              end; so does the end of the input
"""


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        "repl", "Type a program line by line: each is checked at once. `:help` lists the commands, `:solve` solves it."
    )
    made.add_argument("files", nargs="*", metavar="FILE", help="a program to begin with")
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Read lines of a program and commands until the end of the input."""
    arguments = parser()
    known = arguments.parse(argv)
    repl = Repl(output)
    if known.files:
        (name,) = arguments.files(known)
        text = opened(name, output).text
        repl.parts = [text if isinstance(text, str) else text.decode("utf-8", "replace")]
        repl.base = Path(name).parent
    if sys.stdin.isatty():
        with suppress(ImportError):
            import readline  # noqa: F401 - lines that are edited, and come back
        sys.stdout.write("fwdsl: type a program line by line; `:help` lists the commands\n")
    elif isinstance(sys.stdin, io.TextIOWrapper):  # programs are UTF-8, whatever the encoding of the system
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    while (line := repl.next_line()) is not None:
        if repl.take(line):
            break
    return OK


class Repl:
    """A program that grows, with what is bound to it. `take` is one line of input."""

    def __init__(self, output: Output) -> None:
        self.parts: list[str] = []
        self.base = Path()
        self._bound: dict[str, list[str]] = {"data": [], "set": [], "dim": []}
        self._output = output
        self._commands: dict[str, Callable[[str], None]] = {
            "help": lambda _: output.text(HELP),
            "show": lambda _: output.text(self.text),
            "check": self._check,
            "undo": self._undo,
            "set": lambda value: self._bind("set", value),
            "data": lambda value: self._bind("data", value),
            "solve": self._solve,
            "plan": self._plan,
            "save": self._save,
            "new": self._clear,
        }

    @property
    def text(self) -> str:
        """The program so far."""
        return "".join(part if part.endswith("\n") else part + "\n" for part in self.parts)

    def next_line(self) -> str | None:
        """A line of input; None at its end. Ctrl-C drops the line."""
        try:
            return self.read(PROMPT)
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            return ""

    def read(self, prompt: str) -> str | None:
        """A line of input; None at its end."""
        try:
            return input(prompt) if sys.stdin.isatty() else next(iter(sys.stdin.readline, ""), None)
        except EOFError:
            sys.stdout.write("\n")
            return None

    def take(self, line: str) -> bool:
        """Run a command or add to the program; True at the end."""
        stripped = line.strip()
        if stripped in ENDS:
            return True
        if stripped.startswith(":"):
            name, _, value = stripped[1:].partition(" ")
            command = self._commands.get(name)
            if command is None:
                known = ", ".join(f":{each}" for each in self._commands)
                found = f"`:{name}` is no command of the prompt"
                self._output.report(
                    [
                        Diagnostic(
                            "FW0032", found, rule=f"The commands are {known}, :quit.", hint="`:help` tells what they do"
                        )
                    ]
                )
            else:
                self._guarded(lambda: command(value.strip()))
        elif stripped in self._commands or f":{stripped}" in ENDS:
            found = f"`{stripped}` is a command of the prompt, and no statement"
            rule = "Commands begin with a colon; every other line is added to the program."
            self._output.report([Diagnostic("FW0032", found, rule=rule, hint=f"write `:{stripped}`")])
        elif stripped:
            self._guarded(lambda: self._add(line))
        return False

    def _guarded(self, work: Callable[[], None]) -> None:
        """Report what is wrong, and go on."""
        try:
            work()
        except (CommandStop, FwError) as error:
            self._output.report(self._told(error.diagnostics))
        except KeyboardInterrupt:
            sys.stdout.write("\n")
        sys.stdout.flush()

    def _told(self, found: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
        """The diagnostics, with where the prompt is given the data and parameters that are missing."""
        from ...bind.bindings import told_where_to_give
        from ...check import compile_text

        model, _ = compile_text(self.text, "<prompt>")
        if model is None:
            return found
        return told_where_to_give(
            found,
            model,
            data=lambda name: f"write `:data {name}=PATH`, or a `from` in the program",
            params=lambda name: f"write `:set {name}=VALUE`, or a default in the program",
        )

    def _add(self, line: str) -> None:
        """Add a line, and those that continue it, if the program is right as far as it goes. Ctrl-C drops all of them."""
        from ...check import compile_text

        text = line.rstrip("\n") + "\n"
        while _is_open(text) and (more := self.read(MORE)):
            text += more.rstrip("\n") + "\n"
        _, found = compile_text(self.text + text, "<prompt>")
        # warnings, as of what is not used yet, wait for `:check`
        wrong = [d for d in found if d.severity == "error" and d.code not in UNFINISHED]
        self._output.report(wrong)
        if not wrong:
            self.parts.append(text)

    def _check(self, _: str) -> None:
        from ...check import compile_text

        _model, found = compile_text(self.text, "<prompt>")
        self._output.report(found)
        if not found:
            self._output.text("no errors\n")

    def _undo(self, _: str) -> None:
        if self.parts:
            self.parts.pop()
        self._output.text(self.text)

    def _clear(self, _: str) -> None:
        self.parts = []
        self._bound = {option: [] for option in self._bound}

    def _bind(self, option: str, value: str) -> None:
        """Keep a binding, if it can be read and fits the program, where that is whole already."""
        if wrong := self._wrong(option, value):
            raise CommandStop(wrong)
        name = value.partition("=")[0].strip()
        self._bound[option] = [b for b in self._bound[option] if b.partition("=")[0].strip() != name] + [value]

    def _wrong(self, option: str, value: str) -> tuple[Diagnostic, ...]:
        """The reasons why a binding does not fit the program so far; none while that is no whole program."""
        from ...bind import check_bindings
        from ...check import compile_text

        alone = bindings_of(Namespace(**{name: [value] if name == option else [] for name in self._bound}))
        model, _ = compile_text(self.text, "<prompt>")
        found = () if model is None else check_bindings(model, alone)
        return tuple(d for d in found if d.severity == "error")

    def _session(self) -> Session:
        """The program so far with what is bound. What was bound before the program was whole and does not fit it is told and dropped."""
        found = {(option, v): self._wrong(option, v) for option, values in self._bound.items() for v in values}
        self._bound = {option: [v for v in values if not found[option, v]] for option, values in self._bound.items()}
        if wrong := [d for each in found.values() for d in each]:
            raise CommandStop(wrong)
        session = Session(
            self.text, "<prompt>", self.base, Printing(self._output), bindings_of(Namespace(**self._bound))
        )
        session.compile()
        session.check_bindings()
        return session

    def _solve(self, _: str) -> None:
        tell(solve(self._session(), self._output), self._output, ())

    def _plan(self, _: str) -> None:
        session = self._session()
        model, bindings = session.compile(), session.bindings
        absent = absent_sources(model, bindings, session.base)
        self._output.text(session.plan(with_data=at_hand(model, bindings, absent)).render().rstrip("\n") + "\n")

    def _save(self, name: str) -> None:
        if not name:
            raise CommandStop([Diagnostic("FW0032", "no file is named to save to", hint="write `:save model.fw`")])
        try:
            write_text(name, self.text)
        except OSError as error:
            raise CommandStop([unwritable(name, error)]) from None
        self._output.text(f"saved {name}\n")


def _is_open(text: str) -> bool:
    """True if a statement goes on in the next line: a bracket is open, or the line ends with an operator, a comma or `subject to`."""
    bare = re.sub(r"#.*|\"[^\"\n]*\"", "", text).rstrip()
    opens = sum(bare.count(c) for c in "([{") > sum(bare.count(c) for c in ")]}")
    return opens or bare.endswith(("+", "-", "*", "/", "@", ",", "=", "<", ">", "subject to"))
