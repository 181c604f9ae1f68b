"""Solving from the editor: the program as it stands there, in a process of its own, for a short while."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

SECONDS = 10.0
"""Seconds of solving, unless the editor says otherwise."""

_SHOWN = 60
"""Characters of a variable's value in a message."""

_GRACE = 120.0
"""Seconds that reading the data and compiling kernels may take beside the solving."""


async def solve(text: str, folder: Path | None, seconds: float = SECONDS) -> dict[str, Any]:
    """The object that `fwdsl run - --json` prints of a text, whose paths are relative to `folder`.

    The process is ended where it lasts much longer than `seconds`, or where the caller is cancelled.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "fwdsl", "run", "-", "--json", "--time", f"{seconds:g}"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder if folder is not None and folder.is_dir() else None,  # a new file may be in no folder yet
    )
    try:
        printed, complaint = await asyncio.wait_for(
            process.communicate(text.encode(errors="replace")), seconds + _GRACE
        )
    except TimeoutError:
        return {"status": f"ended after {seconds + _GRACE:g} s"}
    finally:
        if process.returncode is None:
            process.kill()
    try:
        found: dict[str, Any] = json.loads(printed)
    except ValueError:
        return {"status": complaint.decode(errors="replace").strip() or "no answer"}
    return found


def headline(answer: dict[str, Any]) -> str:
    """An answer in a line: status, objective and certified gap, or the first error."""
    told = [f"{d['code']}: {d['message']}" for d in answer.get("diagnostics", ()) if d["severity"] == "error"]
    if answer.get("objective") is None:
        return f"{answer.get('status', 'no answer')}" + (f": {told[0]}" if told else "")
    gap = answer.get("relative_gap")
    parts = [f"objective {answer['objective']:.10g}", f"relative gap {gap:.1e}" if gap is not None else ""]
    seconds = (answer.get("time") or {}).get("solve")
    parts.append(f"{answer['method']}, {seconds:.2f} s" if seconds is not None else "")
    return f"{answer['status']}: {', '.join(filter(None, parts))}"


def details(answer: dict[str, Any]) -> str:
    """The headline with the variables below it, long ones cut."""
    return "\n".join([headline(answer), *(f"{name} = {value}" for name, value in values(answer, _SHOWN).items())])


def values(answer: dict[str, Any], most: int) -> dict[str, str]:
    """The values of the variables by their names, of at most so many characters each."""
    found = {}
    for name, value in (answer.get("variables") or {}).items():
        if isinstance(value, dict):
            text = "shape " + " x ".join(map(str, value.get("shape", ())))
        else:
            text = json.dumps(_rounded(value))
        found[name] = text if len(text) <= most else text[: most - 1] + "…"
    return found


def _rounded(value: object) -> object:
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return float(f"{value:.6g}") + 0.0 if isinstance(value, float) else value  # -0.0 is 0
