"""Every program of the corpus and every example in other units, beside itself in its own: `python -m tests.attack.corpus_units`.

The same status, the same objective in its unit, a relative gap that is the same or below the tolerance in both, and as many iterations within
20 % are asked for. What differs is told in a table by program. `--only WORD` takes the programs with the word in their names.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import fwdsl as fw
from tests.corpus import corpus

from .runner import Outcome, Worker
from .units import Units, rescale, scaled_values

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LARGE = frozenset({"completion", "sparse_logistic"})
TOL = 1e-6
FEW = 2
"""So many iterations more or fewer count as none."""


@dataclass(frozen=True)
class Sample:
    """A program with all its data bound."""

    name: str
    text: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """Factors of the objective, of all variables and of all data."""

    name: str
    objective: float = 1.0
    variables: float = 1.0
    data: float = 1.0

    def units(self, text: str) -> Units:
        """For every name of a program."""
        names = re.findall(r"[^\W\d]\w*", text)
        # entropy(c x) is another function, with another prox: such a variable keeps its unit
        kept = dict.fromkeys(re.findall(r"entropy\((\w+)\)", text), 1.0)
        return Units(self.objective, dict.fromkeys(names, self.variables) | kept, dict.fromkeys(names, self.data))


OBJECTIVES = tuple(Change(f"objective {c:.0e}", objective=c) for c in (1e-12, 1e-6, 1e6, 1e12))
UNITS = (
    *(Change(f"variables {u:.0e}", variables=u) for u in (1e-9, 1e9)),
    *(Change(f"data {u:.0e}", data=u) for u in (1e-9, 1e9)),
)
TOGETHER = (Change("together", 1e-12, 1e9, 1e-9), Change("together, reversed", 1e12, 1e-9, 1e9))
CHANGES = (*OBJECTIVES, *UNITS, *TOGETHER)


@cache
def samples(large: bool = False) -> tuple[Sample, ...]:
    """The corpus and the examples."""
    out = [Sample(p.name, p.text, p.data) for p in corpus()]
    for path in sorted(EXAMPLES.glob("*.fw")):
        if large or path.stem not in LARGE:
            out.append(Sample(f"example: {path.stem}", path.read_text(encoding="utf-8"), _data_of(path)))
    return tuple(out)


def _data_of(path: Path) -> dict[str, Any]:
    """The data of an example as they are bound: labels are codes, observed entries triplets with the sizes of their matrix."""
    instance = fw.load(path).bind().instance
    out: dict[str, Any] = {}
    for datum in instance.model.data:
        value = instance.values[datum.name]
        if datum.type.kind == "entries":
            value = (value.rows, value.columns, value.values)
            out |= {str(d): instance.dims[str(d)] for d in datum.type.shape if str(d) in instance.dims}
        out[datum.name] = value
    return out


def difference(own: Outcome, other: Outcome, factor: float) -> str:
    """The differences of two outcomes in a few words; empty where there are none, iterations up to a fifth aside."""
    if other.status != own.status:
        return f"{other.status}{f' {other.code}' if other.code else ''}, not {own.status}"
    found = []
    if own.status == "optimal":
        there, here = other.objective / factor, own.objective
        # both are certified: each is within its own gap of the optimum
        allowed = abs(other.objective - other.dual_bound) / abs(factor) + abs(own.objective - own.dual_bound)
        if not abs(there - here) <= 1.01 * allowed + 1e-9 * abs(here):
            found.append(f"objective {there:.9g}, not {here:.9g}")
        if not (other.relative_gap <= TOL and own.relative_gap <= TOL):
            found.append(f"gap {other.relative_gap:.1e}, not {own.relative_gap:.1e}")
    if own.method != other.method:
        found.append(f"by {other.method}, not {own.method}")
    elif own.status == "optimal" and abs(other.iterations - own.iterations) > max(FEW, 0.2 * own.iterations):
        found.append(f"{other.iterations} iterations, not {own.iterations}")
    return "; ".join(found)


def compare(worker: Worker, sample: Sample, changes: tuple[Change, ...], limit: float) -> dict[str, str]:
    """The differences by the name of the change; under "own" the outcome in the program's own units."""
    own = worker.solve(sample.text, sample.data, limit, tol=TOL)
    out = {"own": f"{own.status} by {own.method} in {own.iterations} iterations {own.code}"}
    for change in changes:
        there = rescale(sample.text, change.units(sample.text))
        other = worker.solve(there.text, scaled_values(sample.data, there), limit, tol=TOL)
        out[change.name] = difference(own, other, there.objective)
    return out


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", type=float, default=10.0)
    parser.add_argument("--only", default="", help="programs with this in their names")
    parser.add_argument("--every", type=int, default=1, help="every such program")
    parser.add_argument(
        "--change", default="", help="changes with this in their names: objective, variables, data, together"
    )
    parser.add_argument("--large", action="store_true", help="the large examples too")
    given = parser.parse_args()
    changes = tuple(c for c in CHANGES if given.change in c.name)
    counts: Counter[str] = Counter()
    programs = 0
    with Worker() as worker:
        for sample in [s for s in samples(given.large) if given.only in s.name][:: given.every]:
            programs += 1
            found = compare(worker, sample, changes, given.time)
            wrong = {name: what for name, what in found.items() if what and name != "own"}
            counts.update(wrong.keys())
            print(
                f"{sample.name} | {found['own']} | "
                + (" | ".join(f"{n}: {w}" for n, w in wrong.items()) or "the same"),
                flush=True,
            )
    print(f"\nof {programs} programs not the same:")
    for change in changes:
        print(f"{change.name} | {counts[change.name]}")
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main())
