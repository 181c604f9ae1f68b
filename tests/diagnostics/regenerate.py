"""`python -m tests.diagnostics.regenerate`: write the golden files anew, one for each code whose example is a program.

Read the difference before committing it: a golden file is what users are told.
"""

from __future__ import annotations

from pathlib import Path

from fwdsl.diagnostics.catalogue import all_entries
from fwdsl.diagnostics.document import FAMILIES_OF_PROGRAMS, rendered_example

GOLDEN = Path(__file__).with_name("golden")


def codes() -> list[str]:
    """The codes that have a golden file."""
    return [code for code in all_entries() if code.startswith(FAMILIES_OF_PROGRAMS)]


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for path in GOLDEN.glob("*.txt"):
        path.unlink()
    for code in codes():
        (GOLDEN / f"{code}.txt").write_text(rendered_example(all_entries()[code].bad), encoding="utf-8")


if __name__ == "__main__":
    main()
