"""The generated files of editors: `python -m fwdsl.highlight.generate` writes them anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import textmate, tree_sitter

EDITORS = Path(__file__).resolve().parents[2] / "editors"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def files() -> dict[Path, str]:
    """Each generated file with what belongs into it."""
    return {
        EDITORS / "vscode" / "syntaxes" / "fw.tmLanguage.json": _json(textmate.grammar()),
        EDITORS / "vscode" / "snippets" / "fw.json": _json(textmate.snippets()),
        EDITORS / "tree-sitter-fw" / "words.json": _json(tree_sitter.words()),
        EDITORS / "tree-sitter-fw" / "queries" / "highlights.scm": tree_sitter.highlights(),
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
