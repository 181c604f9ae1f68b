"""Checks that build nothing: links within the repository, and spelling."""

from __future__ import annotations

import subprocess
import sys

from . import generated
from .links import ROOT, broken, markdown_files

#: Words of ours that codespell takes for others misspelt.
OURS = ROOT / "docs" / "words.txt"


def check() -> int:
    """Print what is wrong; 0 where nothing is."""
    faults = [fault for page in markdown_files() for fault in broken(page, generated.pages())]
    for fault in faults:
        print(fault)
    spelled = spelling()
    if not faults and spelled == 0:
        print(f"links and spelling of {len(markdown_files())} pages: nothing found")
    return 1 if faults or spelled else 0


def spelling() -> int:
    """Run codespell over pages, sources and examples; its exit code."""
    folders = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "fwdsl", "backends", "grammar"]
    folders += ["examples", "editors", "tools", "benchmarks"]
    skip = "*.svg,*.gz,*.npz,*.csv,*.tables,*/_build/*,*/docs/reference/*,*/node_modules/*,*.json,*/data/*"
    command = [sys.executable, "-m", "codespell_lib", "--skip", skip, "--ignore-words", str(OURS), *folders]
    return subprocess.run(command, cwd=ROOT).returncode
