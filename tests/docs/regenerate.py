"""Write what the commands print now into the pages: `python -m tests.docs.regenerate`, then read the difference."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .pages import FENCE, PAGES, ROOT, Page, block_of, check_exit, commands


def main() -> None:
    """Every page but the generated one; `text` blocks with a line `...` are left as they are."""
    for path in PAGES:
        if path.name == "methods.md":
            continue
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "examples", Path(folder) / "examples")
            os.chdir(folder)
            new = regenerated(text, path.name)
            os.chdir(ROOT)
        path.write_text(new, encoding="utf-8")


def regenerated(markdown: str, name: str) -> str:
    """The page with the output of its commands, each in a process of its own, so that times are those that a reader sees."""
    page = Page(name)
    printed: str | None = None
    parts: list[str] = []
    done = 0
    for match in FENCE.finditer(markdown):
        block = block_of(match, markdown)
        if block.title is not None:
            Path(block.title).write_text(block.text, encoding="utf-8")
        if block.kind == "sh":
            printed = "".join(run(line, argv) for line, argv in commands(block.text))
        elif block.kind == "python":
            printed = page.run_python(block)
        elif block.kind == "ipython":
            printed = page.run_cell(block)
        elif block.kind == "text" and block.title is None and printed is not None:
            if not re.search(r"^\.\.\.$", block.text, re.MULTILINE):
                parts += [markdown[done : match.start("body")], printed.rstrip("\n") + "\n"]
                done = match.end("body")
            printed = None
    return "".join([*parts, markdown[done:]])


def run(line: str, argv: list[str]) -> str:
    """The output of one command, on a machine that has its kernels."""
    command = [sys.executable, "-m", "fwdsl", *argv]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check_exit(line, result.returncode, result.stdout)
    return re.sub(r"^compiling kernels.*\n", "", result.stdout, flags=re.MULTILINE)


if __name__ == "__main__":
    main()
