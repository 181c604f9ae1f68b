"""Diagnostics for people and programs: one object (`fwdsl.grammar.diagnostic.Diagnostic`), rendered as text or JSON.

`explain` prints the long forms of codes, which `catalogue` reads from Markdown files. Neither is loaded with this package.
"""

from .jsonform import to_json
from .text import counted, render_text

__all__ = ["counted", "render_text", "to_json"]
