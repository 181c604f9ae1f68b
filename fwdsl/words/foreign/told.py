"""The record of a name from elsewhere as text, for `fwdsl explain`."""

from __future__ import annotations

from textwrap import fill

from . import foreign, is_said
from .record import WHY


def told(name: str, width: int = 100) -> str | None:
    """The systems of a name, the text of its calls and what else there is to say; None for a name that is nobody's."""
    record = foreign(name, "call", "value", "option")
    if record is None:
        return None
    kind = f", {record.kind}" if record.kind else ""
    parts = [f"{record.name}: a name of {', '.join(record.of)}{kind}"]
    calls = [(f"{record.name}({way.arguments})", way.text) for way in record.ways if is_said(way)]
    if calls:
        wide = max(len(call) for call, _ in calls)
        parts.append("\n".join(f"    {call:<{wide}}  {text}" for call, text in calls))
    if record.told or record.kind:
        why = record.told or WHY[record.kind]
        parts.append(
            fill(f"{why[:1].upper()}{why[1:]}.", max(width, 40), break_long_words=False, break_on_hyphens=False)
        )
    return "\n\n".join(parts) + "\n"
