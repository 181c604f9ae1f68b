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
    "FW9002": Entry(
        "a dual bound above the objective of a feasible point",
        "The verifier found a bound on the optimal value that lies above the value of a point that meets all constraints: one of the two is"
        " wrong, and the answer is never called optimal. The certificate is marked as an estimate.",
        "fwdsl run example.fw    # prints FW9002 as the reason",
        "fwdsl run example.fw    # a bound below the objective",
    ),
}
