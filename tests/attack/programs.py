"""Mutated programs: each is checked and formatted, a share of them planned and run.

`python -m tests.attack.programs` attacks with 20,000. A mutation may be valid, or rejected with diagnostics; it never ends in an
exception, an internal error, or in no time that a person would wait.
"""

from __future__ import annotations

import re
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import fwdsl as fw
from fwdsl.check import compile_text
from fwdsl.check.printer import describe_model
from fwdsl.diagnostics import render_text, to_json
from fwdsl.diagnostics.catalogue import all_entries
from fwdsl.errors import FwError, InternalError
from fwdsl.grammar import dump_tree, format_source, parse
from fwdsl.grammar.diagnostic import Diagnostic
from fwdsl.model import Model
from tests.corpus import corpus
from tests.docs.pages import blocks
from tests.grammar.regenerate import programs as slips

from .harness import ROOT, SLOW, bounded, command, faults_of, rng_of, script
from .mutations import mutate, mutate_gently

COUNT = 20_000
RUN = 12
"""Every so many of the cases that are accepted are run; all of them are planned."""
_SECONDS = 1.0
MEMORY = 4 << 30
_PLACE = re.compile(r"  @\d+:\d+-\d+:\d+$")


Seed = tuple[str, dict[str, Any] | None]
"""A program and the values that it is run with; None for one that finds its data beside it."""


@cache
def sound() -> tuple[Seed, ...]:
    """Programs that are accepted."""
    examples = [(path.read_text("utf-8"), None) for path in sorted((ROOT / "examples").glob("*.fw"))]
    pages = [page.read_text("utf-8") for page in sorted((ROOT / "docs").glob("*.md"))]
    told = [b.text for page in pages for b in blocks(page) if b.kind == "fw"]
    told += [entry.good for entry in all_entries().values() if entry.good]
    corpora = [(program.text, program.data) for program in corpus()]
    return (*examples * 3, *corpora, *((text, {}) for text in told if compile_text(text)[0] is not None))


@cache
def broken() -> tuple[Seed, ...]:
    """Programs with an error each."""
    return tuple((text, {}) for text in (*(e.bad for e in all_entries().values() if e.bad), *slips()))


def made(number: int) -> tuple[bytes, dict[str, Any] | None]:
    """The mutated program of a case, and its values."""
    rng = rng_of("programs", number)
    text, values = rng.choice(sound() if rng.random() < 0.8 else broken())
    if rng.random() < 0.6:
        return mutate_gently(rng, text).encode("utf-8", "surrogatepass"), values
    content = mutate(rng, text).encode("utf-8", "surrogatepass")
    if rng.random() < 0.03:  # bytes that are no text
        at = rng.randrange(len(content) + 1)
        content = content[:at] + bytes(rng.randrange(256) for _ in range(rng.randint(1, 3))) + content[at:]
    return content, values


def case(number: int) -> list[str]:
    content, values = made(number)
    model, found = checked(content)
    found += formatted(content)
    if model is not None:
        found += planned(content, values, run=number % RUN == 0)
    return [f"{seen}\n--- program:\n{content[:3000]!r}" for seen in found]


def checked(content: bytes) -> tuple[Model | None, list[str]]:
    """The checker's model of a text, and the faults of its diagnostics."""
    start = time.process_time()
    model, found = compile_text(content, "mutated.fw")
    if model is not None:
        describe_model(model)
    wrong = [seen for d in found for seen in _flaws(d)]
    render_text(found, width=100, color=False, unicode=True)
    if model is None and not any(d.severity == "error" for d in found):
        wrong.append("check: no model, and no error")
    seconds = time.process_time() - start
    return model, wrong + ([f"check: took {seconds:.1f} s"] if seconds > SLOW else [])


def _flaws(d: Diagnostic) -> list[str]:
    to_json(d)
    wrong = []
    if d.code not in all_entries() or d.code.startswith("FW9"):
        wrong.append(f"check: {d.code} {d.message}")
    if d.span is None or d.source is None or not 0 <= d.span.start <= d.span.end <= len(d.source.text):
        wrong.append(f"check: {d.code} has no place in the text: {d.span}")
    if not d.message or "\n" in d.message:
        wrong.append(f"check: {d.code} has a message that is no line: {d.message[:300]!r}")
    return wrong


def formatted(content: bytes) -> list[str]:
    start = time.process_time()
    before, errors = parse(content, "mutated.fw")
    text, found = format_source(content, "mutated.fw")
    wrong = []
    if not any(d.severity == "error" for d in found):
        again, _ = format_source(text, "mutated.fw")
        if again != text:
            wrong.append(f"fmt: not idempotent\n{text[:1500]}\n--- again:\n{again[:1500]}")
        after, _ = parse(text, "mutated.fw")
        if _shape(dump_tree(before)) != _shape(dump_tree(after)):
            wrong.append(f"fmt: another tree\n{text[:1500]}")
        if sorted(c.text.rstrip() for c in before.comments) != sorted(c.text.rstrip() for c in after.comments):
            wrong.append(f"fmt: lost a comment\n{text[:1500]}")
    elif not errors:
        wrong.append(f"fmt: refuses what parses: {[d.message for d in found]}")
    seconds = time.process_time() - start
    return wrong + ([f"fmt: took {seconds:.1f} s"] if seconds > SLOW else [])


def _shape(tree: str) -> list[str]:
    """A printed tree without the places, and without the version, which the formatter adds."""
    lines = [_PLACE.sub("", line) for line in tree.splitlines()]
    at = lines.index("  Version") if "  Version" in lines else len(lines)
    return lines[:at] + lines[at + 2 :]


def planned(content: bytes, values: dict[str, Any] | None, run: bool) -> list[str]:
    """`plan`, and `run` for a short time: on the command line beside its data, or in Python with its values."""
    with bounded(MEMORY):
        if values:
            return _in_python(content, values, run)
        _beside_data()
        Path("mutated.fw").write_bytes(content)
        found = faults_of(command("plan", "mutated.fw", "--json"), "plan")
        if run:
            found += faults_of(command("run", "mutated.fw", "--time", f"{_SECONDS}"), "run", seconds=SLOW + 60)
        return found


def _beside_data() -> None:
    if not Path("data").exists():
        Path("data").symlink_to(ROOT / "examples" / "data")


def _in_python(content: bytes, values: dict[str, Any], run: bool) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wrong = _refused(content, values, run)
    leaked = {str(w.message) for w in caught if not issubclass(w.category, UserWarning)}
    return wrong + [f"python: a warning leaks: {message}" for message in leaked]


def _refused(content: bytes, values: dict[str, Any], run: bool) -> list[str]:
    try:
        problem = fw.parse(content.decode("utf-8", "replace"))
        known = {d.name for d in problem.model.data} | {p.name for p in problem.model.params}
        problem = problem.bind(**{name: value for name, value in values.items() if name in known})
        problem.plan()
        if run:
            problem.solve(time=_SECONDS, threads=1)
    except InternalError as error:
        return [f"python: {error}"]
    except FwError as error:
        return [] if str(error) else ["python: an error without words"]
    return []


if __name__ == "__main__":
    script("programs", case, COUNT)
