"""The fenced blocks of a page of documentation, and what is done with each. docs/README.md describes the same to readers.

    ```fw              a whole program: it checks without a warning, is canonically formatted, and where all that it needs is at
                       hand (literals, defaults, files that the page has made) it is solved
    ```fw part         statements of a program: they parse and are canonically formatted
    ```sh              commands `fwdsl ...`; a comment `# exit code 2` says how one ends when that is not 0
    ```python          run in order in one namespace for each page
    ```ipython         cells of a notebook, a block each, run by IPython in one session for each page; skipped where IPython is not installed
    ```text            what the `sh`, `python` or `ipython` block before it printed, a line `...` standing for any lines

    ```{toctree}       and other directives in braces are for the site, which Sphinx builds

A block of any language with `title="NAME"` is written to a file of that name first. Blocks without a language are prose.

Printed lines are compared word for word, and numbers to 1e-3, but for what depends on the machine: times, counts of iterations and
passes, bytes, gaps, how far rounding leaves a point from its constraints, and the clauses of `known by` on what it leaves the dual to miss. Runs of
spaces count as one, and empty lines at the end as none.
"""

from __future__ import annotations

import contextlib
import glob
import io
import math
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import fwdsl as fw
from fwdsl.check import compile_text
from fwdsl.cli import main
from fwdsl.grammar import format_source, parse

FENCE = re.compile(r"^```(?P<info>[^`\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_INFO = re.compile(r'(?P<kind>\w*|\{[\w-]+\}[^"]*)(?P<part> part)?(?: title="(?P<title>[^"]+)")?\Z')
_EXIT = re.compile(r"#\s*exit code (\d+)\s*$")
_NO_VALUE = {"FW4001", "FW4501", "FW4502"}


@dataclass(frozen=True)
class Block:
    """One fenced block; `line` is that of its first line of content."""

    kind: str
    part: bool
    title: str | None
    text: str
    line: int


def blocks(markdown: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    return (block_of(match, markdown) for match in FENCE.finditer(markdown))


def block_of(match: re.Match[str], markdown: str) -> Block:
    """The block of a match of `FENCE`."""
    info = _INFO.match(match["info"])
    assert info is not None, f"the info string {match['info']!r} is none of those that pages.py describes"
    line = markdown.count("\n", 0, match.start("body")) + 1
    return Block(info["kind"], bool(info["part"]), info["title"], match["body"], line)


class Page:
    """Goes through the blocks of one page in the current folder."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.namespace: dict[str, Any] = {"__name__": name}
        self.printed: str | None = None
        self._shell: Any = None

    def follow(self, markdown: str) -> None:
        """Do what each block asks for; an assertion fails where the page and the program part."""
        for block in blocks(markdown):
            try:
                self._one(block)
            except Exception as error:
                error.add_note(f"at {self.name}:{block.line}")
                raise
        self._nothing_more()

    def _one(self, block: Block) -> None:
        if block.title is not None:
            Path(block.title).write_text(block.text, encoding="utf-8")
        if block.kind == "fw":
            check_part(block.text) if block.part else check_program(block.text)
        elif block.kind == "sh":
            self._nothing_more()
            self.printed = run_commands(block.text)
        elif block.kind == "python":
            self._nothing_more()
            self.printed = self.run_python(block)
        elif block.kind == "ipython":
            self._nothing_more()
            self.printed = self.run_cell(block)
        elif block.kind == "text" and block.title is None:
            assert self.printed is not None, "no command printed this"
            compare(self.printed, block.text)
            self.printed = None

    def run_python(self, block: Block) -> str:
        """The output of a block of Python."""
        code = compile("\n" * (block.line - 1) + block.text, self.name, "exec", dont_inherit=True)
        return _captured(lambda: exec(code, self.namespace))[1]  # noqa: S102

    def run_cell(self, block: Block) -> str:
        """The output of a notebook's cell, as IPython prints it."""
        pytest.importorskip("IPython", reason="IPython is not installed")
        if self._shell is None:
            from IPython.core.interactiveshell import InteractiveShell
            from traitlets.config import Config

            config = Config(HistoryManager={"enabled": False})
            self._shell = InteractiveShell(config=config, ipython_dir=str(Path("ipython").resolve()), colors="nocolor")
            self._shell.user_ns["__name__"] = self.name
        return _captured(lambda: self._shell.run_cell(block.text, store_history=True))[1].rstrip("\n")

    def _nothing_more(self) -> None:
        assert not self.printed, f"the page does not show what was printed:\n{self.printed}"


def check_program(text: str) -> None:
    """A whole program is accepted without a word, formatted, and solved where nothing is missing."""
    model, found = compile_text(text)
    assert model is not None and found == ()
    assert format_source(text, "<text>") == (text, ())
    problem = fw.parse(text)
    missing = {d.code for d in problem.check(data=True) if d.severity == "error"}
    if not missing:
        assert problem.solve(threads=1).status == "optimal"
    assert missing <= _NO_VALUE


def check_part(text: str) -> None:
    """Statements of a program parse and are formatted."""
    whole = f"fw 1\n\n{text}"
    assert parse(whole)[1] == ()
    assert format_source(whole, "<text>") == (whole, ())


def run_commands(text: str) -> str:
    """The output of the commands, standard output and standard error as they come."""
    printed = ""
    for line, argv in commands(text):
        code, more = _captured(lambda argv=argv: main(argv))
        check_exit(line, code, more)
        printed += more
    return printed


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a block that are ours: the line, and the arguments of `fwdsl`. Continuous integration runs the others."""
    for line in filter(None, text.splitlines()):
        words = shlex.split(line, comments=True)
        if words[:2] == ["pip", "install"]:
            words = words[words.index("&&") + 1 :]
            if words == ["pytest"]:
                continue
        assert words[0] == "fwdsl", f"not a command of ours: {line}"
        yield line, [name for word in words[1:] for name in (sorted(glob.glob(word)) or [word])]


def check_exit(line: str, code: int, printed: str) -> None:
    """Fail unless a command ended as its line says."""
    expected = _EXIT.search(line)
    assert code == (int(expected[1]) if expected else 0), f"`{line}` ended with exit code {code}:\n{printed}"


def _captured(action: Any) -> tuple[Any, str]:
    """An action's result and what it prints."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        result = action()
        sys.stdout.flush()
    return result, stream.buffer.getvalue().decode()  # type: ignore[attr-defined]


# --- comparing -------------------------------------------------------------------------------------------------------

#: Lines that depend on the machine altogether: kernels may be compiled or not, a violation may be 0 or rounding.
_DROPPED = re.compile(r"compiling kernels|infeasibility ")

_UNITS = r"(?:s|ms|us|min|iterations?|data pass(?:es)?|to verify|B|kB|MB|GB)\b"
_MASKED = re.compile(
    rf"(?<![\w.])[\d.,]+(?:e[+-]?\d+)? {_UNITS}"
    r"|(?<= )[\d.]+e[+-]?\d+ \d+ \d+ [\d.]+(?= [a-z_]+$)"  # gap, support, passes and seconds of a path
    r"|(?<= )(?:optimal|not reached) [\d.]+e[+-]?\d+ \d+(?: (?:[\d.]+|-))+$"  # a row of a race
    r"|^gap .*|^(?:passes|seconds) .*|(?:relative gap|violation|relative difference) [\d.e+-]+"
)
#: What `known by` says of a block whose dual misses by rounding, and leaves out where the last bit meets it.
_MISSED = re.compile(
    r"; (?:the equality of \w+ is met to rounding"
    r"|any better \w+ has norm at most [\d.e+-]+, as its penalty alone would exceed the objective found)"
)
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?!\w)")


def compare(printed: str, shown: str) -> None:
    """Fail unless what was printed is what a page shows, up to what depends on the machine."""
    actual = [_tidy(line) for line in printed.rstrip().splitlines() if not _DROPPED.match(line)]
    expected = [_tidy(line) for line in shown.rstrip().splitlines() if not _DROPPED.match(line)]
    where = 0
    anywhere = False
    for i, line in enumerate(expected):
        if line == "...":
            anywhere = True
            if i == len(expected) - 1:
                return
            continue
        if anywhere:
            where = next((k for k in range(where, len(actual)) if _same(actual[k], line)), len(actual))
            anywhere = False
        found = actual[where] if where < len(actual) else "(nothing more)"
        assert _same(found, line), f"the page shows\n  {line}\nand this was printed\n  {found}\nin\n{printed}"
        where += 1
    assert where == len(actual), f"more was printed than the page shows:\n{printed}"


def _tidy(line: str) -> str:
    # which is said where the cache of kernels was empty
    line = re.sub(r"\(compiling kernels [^,]*, ", "(", re.sub(r"(?<=\S) {2,}", " ", line.rstrip()))
    if line.startswith("known by "):
        line = _MISSED.sub("", line)
    return _MASKED.sub(lambda m: re.sub(r"[\d.,]+(?:e[+-]?\d+)?", "#", m[0]).replace("pass ", "passes "), line)


def _same(actual: str, expected: str) -> bool:
    if _NUMBER.sub("#", actual) != _NUMBER.sub("#", expected):
        return False
    pairs = zip(_NUMBER.findall(actual), _NUMBER.findall(expected), strict=True)
    return all(a == b or _close(a, b) for a, b in pairs)


def _close(a: str, b: str) -> bool:
    if a.lstrip("-").isdigit() and b.lstrip("-").isdigit() and int(a) != int(b):
        return False
    return math.isclose(float(a), float(b), rel_tol=1e-3, abs_tol=1e-6)
