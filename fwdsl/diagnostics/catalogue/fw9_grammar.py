"""FW9nnn of the formatter."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW9101": Entry(
        title="formatting would have changed the program",
        explanation=(
            "The formatter parses what it has written and compares it with what it read. Here a statement or a comment came "
            "out different, so the file was left as it was. This is a bug of fwdsl: please report it with the file."
        ),
        bad="fwdsl fmt fit.fw",
        good="fwdsl fmt fit.fw",
    ),
}
