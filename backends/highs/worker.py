"""One call of HiGHS, in a thread or, as a script, in a process of its own: it imports nothing of fwdsl, so that it starts soon and from anywhere.

python worker.py FOLDER     reads FOLDER/program.npz and writes FOLDER/answer.npz
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

PROGRAM, ANSWER = "program.npz", "answer.npz"

TIGHT = 1e-9
"""HiGHS's tolerances."""


class Answer(NamedTuple):
    """SciPy's number for how HiGHS ended, and v and z where it is 0."""

    status: int
    v: Any = None
    z: Any = None


def solved(c: Any, A: Any, b: Any, equations: int, method: str, seconds: float) -> Answer:
    """min <c, v> with A v = b in the first rows and A v <= b in the others; z are minus SciPy's marginals."""
    k = equations
    with warnings.catch_warnings():
        # of entries that HiGHS drops: the verifier looks at the answer
        warnings.simplefilter("ignore")
        found = linprog(
            c,
            A_ub=A[k:],
            b_ub=b[k:],
            A_eq=A[:k],
            b_eq=b[:k],
            bounds=(None, None),
            method=method,
            options={
                "time_limit": seconds,
                "primal_feasibility_tolerance": TIGHT,
                "dual_feasibility_tolerance": TIGHT,
            },
        )
    if found.status != 0:
        return Answer(int(found.status))
    return Answer(0, np.asarray(found.x), -np.concatenate([found.eqlin.marginals, found.ineqlin.marginals]))


def main(folder: str) -> None:
    """Solve the program in a folder."""
    with np.load(os.path.join(folder, PROGRAM)) as p:
        A = csr_array((p["data"], p["indices"], p["indptr"]), shape=tuple(p["shape"]))
        found = solved(p["c"], A, p["b"], int(p["equations"]), str(p["method"]), float(p["seconds"]))
    none = np.zeros(0)
    path = os.path.join(folder, ANSWER)
    # whole or not at all: the other process may look at any time
    np.savez(
        path + ".part.npz",
        status=found.status,
        v=none if found.v is None else found.v,
        z=none if found.z is None else found.z,
    )
    os.replace(path + ".part.npz", path)


if __name__ == "__main__":
    main(sys.argv[1])
