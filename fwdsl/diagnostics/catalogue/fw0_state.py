"""FW02nn: saved states of a run."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW0201": Entry(
        "a file that holds no saved state",
        "`fwdsl.solve.state.load_state` reads what `save_state` wrote: one `.npz` file with the arrays of a method's state and a record. The file"
        " is missing, something else, of another version of fwdsl, or damaged: its checksum does not fit what it holds.",
        'load_state("solution.npz", prob.canonical)',
        'load_state("state.npz", prob.canonical)',
    ),
    "FW0202": Entry(
        "a state saved for another problem",
        "A state resumes the run it was saved from: the same program on the same data, told by fingerprints. The message names what"
        " differs.",
        'load_state("state.npz", prob.bind(delta=4.0).canonical)   # saved with delta = 5',
        'load_state("state.npz", prob.bind(delta=5.0).canonical)',
    ),
    "FW0203": Entry(
        "a starting point that does not fit",
        "`start=` takes a solution, or values of variables by name, in the variables' shapes and finite. Variables without a value start at"
        " zero. It need not be feasible: methods move it into the constraint sets.",
        'prob.solve(start={"x": np.ones(5)})   # x has 8 entries',
        'prob.solve(start={"x": np.ones(8)})',
    ),
}
