"""Diagnostics for people and programs: one object (`fwdsl.grammar.diagnostic.Diagnostic`), rendered as text or JSON.

`catalogue` holds the long form of every code as Markdown, which `explain` reads when it is first asked.
"""

from .explain import explain
from .jsonform import to_json
from .text import render_text

__all__ = ["explain", "render_text", "to_json"]
