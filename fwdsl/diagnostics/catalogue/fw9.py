"""FW9nnn: bugs of fwdsl. There is nothing wrong with the program or the data; bad and good are command lines."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW9001": Entry(
        title="an error in fwdsl itself",
        explanation=(
            "Something happened that should be impossible. A report was written to a file: versions, the program and where "
            "it happened, no data. Please send it to us."
        ),
        bad="fwdsl run fit.fw",
        good="fwdsl run fit.fw",
    ),
}
