"""The pictures of the README, made from what fwdsl prints: `python -m tools.pictures` writes docs/images/*.svg.

`session.svg` is a terminal session: the commands of `SESSION` are run in an empty folder beside a copy of `examples/`, and what they print is
drawn in its colours, line after line in the time it took (a waiting of more than a second is shown as one). `overview.svg` is what fwdsl does,
around one program and the lines that its run printed. Both load nothing, and stand still where the reader asks for less motion.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from pygments.token import Comment, Keyword, Name, Number, String
from rich.console import Console
from rich.style import Style
from rich.text import Text

from fwdsl.highlight.pygments_lexer import FwLexer
from fwdsl.html.markup import Html, el

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
PROGRAM = ROOT / "examples" / "sparse_logistic.fw"

#: What is typed. `fwdsl new` looks at a table, the program that it writes is run, then run once more with a word misspelt.
SESSION = (
    "fwdsl new examples/data/classes.csv --target kind",
    "fwdsl run classes.fw",
    "sed -i s/norm1/norm_1/ classes.fw && fwdsl run classes.fw",
    "fwdsl run examples/sparse_logistic.fw",
)

_WIDTH = 112  # columns
_CHAR, _LINE = 7.83, 18.0  # of 13 px monospace
_MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
_SANS = "system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"
#: ANSI's numbers of colours, on dark ground.
_COLORS = {1: "#ff8f87", 2: "#5fd39a", 3: "#f0b356", 4: "#7ab7ff", 5: "#e59adb", 6: "#62d0bd"}
_CONSOLE = Console(width=_WIDTH, color_system="truecolor")
_LONGEST_WAIT = 1.0  # seconds
_TYPING = 0.03  # seconds a character


@dataclass(frozen=True)
class Shown:
    """A line of the session and the second at which it appears."""

    text: Text
    at: float


def recorded(commands: Iterable[str], folder: Path) -> list[Shown]:
    """Run the commands one after the other; each line that they print, with its time.

    Raises `RuntimeError` where a command is not found.
    """
    shown: list[Shown] = []
    clock = 0.3
    # `fwdsl` is this checkout's, whether or not it is installed.
    (folder / "bin").mkdir()
    command = folder / "bin" / "fwdsl"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m fwdsl "$@"\n')
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "FORCE_COLOR": "1",
        "COLUMNS": str(_WIDTH),
    }
    for typed in commands:
        shown.append(Shown(Text.assemble(("$ ", "green"), (typed, "bold")), clock))
        clock += 0.4 + _TYPING * len(typed)
        before = time.perf_counter()
        with subprocess.Popen(
            typed, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as running:
            assert running.stdout is not None
            for line in running.stdout:
                now = time.perf_counter()
                clock += min(now - before, _LONGEST_WAIT)
                before = now
                printed = Text.from_ansi(line.rstrip("\n"))
                shown += (
                    [Shown(row, clock) for row in printed.wrap(_CONSOLE, _WIDTH)]
                    if printed
                    else [Shown(printed, clock)]
                )
        if running.returncode == 127:
            raise RuntimeError(f"`{typed}` was not found")
        shown.append(Shown(Text(""), clock))
        clock += 0.8
    return shown[:-1]


def _css(style: Style) -> str | None:
    said = []
    if style.color is not None:
        said.append(f"fill:{_COLORS[(style.color.number or 0) % 8]}")
    if style.bold:
        said.append("font-weight:700")
    return ";".join(said) or None


def _kept(text: str) -> str:
    """A text whose spaces are all drawn: SVG draws several as one."""
    return text.replace(" ", "\u00a0")


def terminal(lines: list[Shown]) -> Html:
    """The session as a window of a terminal, whose lines appear one after the other."""
    width, height = _WIDTH * _CHAR + 36, len(lines) * _LINE + 62
    drawn = []
    for i, line in enumerate(lines):
        spans = [
            el("tspan", _kept(part.text), style=_css(part.style or Style())) for part in line.text.render(_CONSOLE)
        ]
        place = {"x": "18", "y": f"{52 + i * _LINE:g}"}
        drawn.append(el("text", *spans, **place, style=f"animation-delay:{line.at:.2f}s"))
    look = Html(
        f"text{{font:13px {_MONO};fill:#e4e7ec;animation:shown 1ms both}}"
        "@keyframes shown{from{opacity:0}to{opacity:1}}"
        "@media (prefers-reduced-motion:reduce){text{animation:none}}"
        "@media print{text{animation:none}}"
    )
    dots = [
        el("circle", cx=str(20 + 18 * i), cy="18", r="5.5", fill=fill)
        for i, fill in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    ]
    label = "A terminal session: " + "; ".join(
        line.text.plain[2:] for line in lines if line.text.plain.startswith("$ ")
    )
    return _svg(
        width, height, label, look, el("rect", width="100%", height="100%", rx="9", fill="#14171b"), *dots, *drawn
    )


def _svg(width: float, height: float, label: str, look: str, *children: Html) -> Html:
    return el(
        "svg",
        el("title", label),
        el("style", Html(look)),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        role="img",
    )


# The kinds of words that have a colour, the first that fits.
_CLASSES = (
    (Comment, "comment"),
    (Keyword.Type, "type"),
    (Keyword, "keyword"),
    (Name.Builtin, "function"),
    (Number, "number"),
    (String, "string"),
)


def _program(text: str, x: float, y: float) -> list[Html]:
    """The lines of a program in the colours of its words."""
    rows: list[list[Html]] = [[]]
    for kind, value in FwLexer().get_tokens(text):
        class_ = next((name for of, name in _CLASSES if kind in of), None)
        for i, part in enumerate(value.split("\n")):
            if i:
                rows.append([])
            if part:
                rows[-1].append(el("tspan", _kept(part), class_=class_))
    return [el("text", *row, x=f"{x:g}", y=f"{y + i * _LINE:g}", class_="mono") for i, row in enumerate(rows) if row]


#: What happens between a program and its answer: a name, and what it does.
STAGES = (
    ("check", "syntax, names, shapes, convexity, before any data is read"),
    ("bind", "data from files, frames, arrays; sizes and promises measured"),
    ("plan", "structure and predicted cost choose the method"),
    ("solve", "compiled kernels; structure kept down to each product"),
    ("verify", "the gap recomputed from a dual point by other code"),
)


def overview(program: str, printed: list[str]) -> Html:
    """What goes in, what happens, what comes out: three columns."""
    look = (
        "svg{--fg:#1c1f24;--dim:#565d68;--line:#c9ced6;--soft:#f4f6f8;--accent:#0b57b0;--good:#0a6b3d;"
        "--keyword:#8a1f7a;--type:#0a6b5c;--number:#8a4b00;--string:#3f6b12}"
        "@media (prefers-color-scheme:dark){svg{--fg:#e4e7ec;--dim:#a2abb8;--line:#3b424d;--soft:#1e232a;--accent:#7ab7ff;"
        "--good:#5fd39a;--keyword:#e59adb;--type:#62d0bd;--number:#f0b27a;--string:#a9d67a}}"
        f"text{{font:13px {_SANS};fill:var(--fg)}}.mono{{font:12px {_MONO}}}.head{{font-weight:700;font-size:15px;fill:var(--accent)}}"
        ".dim,.comment{fill:var(--dim)}.box{fill:var(--soft);stroke:var(--line)}.arrow{stroke:var(--dim);stroke-width:1.6;fill:none}"
        ".strong{font-weight:700}.good{fill:var(--good);font-weight:700}.keyword{fill:var(--keyword)}.function{fill:var(--accent)}"
        ".type{fill:var(--type)}.number{fill:var(--number)}.string{fill:var(--string)}"
    )
    top, left, middle, right = 52.0, 20.0, 556.0, 880.0
    written = "\n".join(row for row in program.strip().split("\n") if not row.startswith("#"))
    answer = [(line[:12] if i == 0 else "", part) for line in printed for i, part in enumerate(wrap(line[12:], 40))]
    tall = max(len(written.split("\n")), len(answer)) * _LINE + 14
    tall = max(tall, len(STAGES) * 50 + 6)
    drawn = [
        el("text", "You write what to minimise", x=f"{left:g}", y="30", class_="head"),
        el("text", "fwdsl finds how", x=f"{middle:g}", y="30", class_="head"),
        el("text", "and proves the answer", x=f"{right:g}", y="30", class_="head"),
        el("rect", x=f"{left:g}", y=f"{top - 8:g}", width="496", height=f"{tall:g}", rx="7", class_="box"),
        *_program(written, left + 12, top + 16),
        el("rect", x=f"{right:g}", y=f"{top - 8:g}", width="400", height=f"{tall:g}", rx="7", class_="box"),
    ]
    for i, (name, what) in enumerate(STAGES):
        y = top + i * 50
        drawn.append(el("text", name, x=f"{middle + 12:g}", y=f"{y + 10:g}", class_="strong"))
        first, second = _halves(what)
        drawn.append(el("text", first, x=f"{middle + 68:g}", y=f"{y + 10:g}", class_="dim"))
        drawn.append(el("text", second, x=f"{middle + 68:g}", y=f"{y + 26:g}", class_="dim"))
    for x in (left + 500, right - 36):
        y = top + tall / 2 - 8
        drawn.append(el("path", d=f"M{x:g} {y:g}h28m-8 -6l8 6l-8 6", class_="arrow"))
    for i, (name, value) in enumerate(answer):
        y = top + 16 + i * _LINE
        drawn.append(el("text", _kept(name), x=f"{right + 12:g}", y=f"{y:g}", class_="mono dim"))
        drawn.append(
            el("text", _kept(value), x=f"{right + 96:g}", y=f"{y:g}", class_="mono good" if i == 0 else "mono")
        )
    label = "From a program through check, bind, plan, solve and verify to an answer with a certified duality gap"
    return _svg(right + 420, top + tall + 14, label, look, *drawn)


def _halves(text: str) -> tuple[str, str]:
    """A text on two lines, broken where the first is no longer than it must be."""
    words = text.split()
    cut = min(range(1, len(words)), key=lambda i: abs(len(" ".join(words[:i])) - len(" ".join(words[i:]))))
    return " ".join(words[:cut]), " ".join(words[cut:])


def main() -> None:
    """Run the session and write both pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples")
        lines = recorded(SESSION, folder)
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "session.svg").write_text(terminal(lines) + "\n")
    last = next(i for i in reversed(range(len(lines))) if lines[i].text.plain.startswith("$ "))
    printed = [line.text.plain for line in lines[last + 1 :]]
    (IMAGES / "overview.svg").write_text(overview(PROGRAM.read_text(), printed) + "\n")


if __name__ == "__main__":
    main()
