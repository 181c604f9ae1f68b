"""FW6nnn: running. Bad and good are command lines."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW6001": Entry(
        title="memory ran out",
        explanation=(
            "The data, one transposed copy where a method needs it, and a few vectors of the length of a row and a column "
            "must fit in memory. Plain `.npy` files are mapped, so that the system reads them piece by piece; "
            "compressed ones and all other formats are read as a whole. `fwdsl plan` predicts the memory of each method."
        ),
        bad="fwdsl run fit.fw --data A=huge.csv",
        good="fwdsl run fit.fw --data A=huge.npy",
    ),
}
