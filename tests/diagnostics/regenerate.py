"""`python -m tests.diagnostics.regenerate`: write the golden files anew, one for each code whose example is a program.

Read the difference before committing it: a golden file is what users are told.
"""

from __future__ import annotations

from pathlib import Path

from fwdsl.diagnostics.catalogue import all_entries

from .examples import codes, rendered

GOLDEN = Path(__file__).with_name("golden")


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for path in GOLDEN.glob("*.txt"):
        path.unlink()
    for code in codes():
        (GOLDEN / f"{code}.txt").write_text(rendered(all_entries()[code].bad), encoding="utf-8")


if __name__ == "__main__":
    main()
