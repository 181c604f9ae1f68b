"""Checks that build nothing: links within the repository, and spelling."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

from . import generated
from .links import ROOT, broken, broken_in_made, markdown_files

#: Words of ours that codespell takes for others misspelt.
OURS = ROOT / "docs" / "words.txt"


def check() -> int:
    """Print what is wrong; 0 where nothing is."""
    faults = [fault for page in markdown_files() for fault in broken(page, generated.pages())]
    faults += broken_in_made(generated.pages())
    for fault in faults:
        print(fault)
    spelled = spelling()
    if not faults and spelled == 0:
        print(f"links and spelling of {len(markdown_files())} pages: nothing found")
    return 1 if faults or spelled else 0


def spelling() -> int:
    """Run codespell over pages, sources and examples; its exit code."""
    if find_spec("codespell_lib") is None:
        print("spelling is checked by codespell: pip install -e '.[docs]'", file=sys.stderr)
        return 1
    folders = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "fwdsl", "backends", "grammar"]
    folders += ["examples", "editors", "tools", "benchmarks"]
    skip = "*.svg,*.gz,*.npz,*.csv,*.tables,*/_build/*,docs/reference,docs/auto_gallery,*/node_modules/*,*/dist/*,*.json,*/data/*"
    command = [sys.executable, "-m", "codespell_lib", "--skip", skip, "--ignore-words", str(OURS), *folders]
    return subprocess.run(command, cwd=ROOT).returncode


_ID = re.compile(r"\s(?:id|name)=\"([^\"]+)\"")
_LINK = re.compile(r"\s(href|src)=\"([^\"]+)\"")
_ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:")


def broken_in(site: Path) -> list[str]:
    """The faults of the links of a built site: files that are not there, addresses that a page has not, files from elsewhere."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    ids = {path: {unescape(name) for name in _ID.findall(text)} for path, text in texts.items()}
    found = []
    for path, text in texts.items():
        for kind, written in _LINK.findall(text):
            target = unescape(written)
            where = f"{path.relative_to(site)}: {target}"
            if _ELSEWHERE.match(target):
                if kind == "src" and not target.startswith("data:"):
                    found.append(f"{where}: is loaded from elsewhere")
                continue
            name, _, anchor = target.partition("#")
            other = (path.parent / unquote(name.partition("?")[0])).resolve() if name else path
            if not other.is_file():
                found.append(f"{where}: there is no such file")
            elif anchor and other in ids and unquote(anchor) not in ids[other]:
                found.append(f"{where}: there is no such address")
    return found
