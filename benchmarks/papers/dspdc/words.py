"""What the page says of its races: tables beside them, and the verdict, each clause of it from the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fwdsl.studies.race import Race

TOL = 1e-6

TELLING = 0.5
"""A gap that one of two methods must reach for a comparison of them to tell anything."""


def dspdc(m: int, q: int, multiplier: float | None = None) -> str:
    """The method as a race names it."""
    more = "" if multiplier is None else f", Lambda={multiplier:g}"
    return f"dspdc(m={m}, q={q}{more})"


def _seconds(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "-"


def best(entrants: Iterable[Any], level: float) -> Any:
    """Who was first at a level, or nearest to it at the end."""
    return min((e for e in entrants if e.ran), key=lambda e: (e.to(level), e.relative_gap))


def best_dspdc(race: Race, level: float) -> Any:
    """The form of dspdc that was first at a level."""
    return best((e for e in race if e.method == "dspdc"), level)


def formed_table(first: Mapping[str, Race], formed: Mapping[str, Race]) -> tuple[list[str], list[list[str]]]:
    """Seconds to 1e-3 and 1e-6: who is fastest on the factors, and each on the product."""
    rows = []
    for name, race in formed.items():
        cells = []
        for entrant in (best_dspdc(first[name], 1e-3), first[name]["apg"], *(race[e] for e in ("sdca", "spdc", "apg"))):
            cells.append(f"{_seconds(entrant.to(1e-3))} / {_seconds(entrant.to(TOL))}")
        rows.append([name, *cells])
    columns = ["seconds to 1e-3 / 1e-6", "best dspdc, factors", "`apg`, factors", "`sdca`, A", "`spdc`, A", "`apg`, A"]
    return columns, rows


def risk_rows(risks: Mapping[str, Race]) -> list[list[str]]:
    """Eigendecompositions of each run."""
    rows = []
    for name, race in risks.items():
        for e in race:
            if e.method == "dspdc" and e.solution is not None:
                own, bounds = e.solution.record["counts"].values()
                rows.append([name, f"`{e.name}`", f"{e.relative_gap:.1e}", f"{own:,} + {bounds:,}"])
    return rows


# --- who is ahead -----------------------------------------------------------------------------------------------------


def compared(own: Any, other: Any) -> int:
    """1 where `own` is ahead: to 1e-6 where both come there, else by the gap at the end; -1 behind; 0 where neither comes to a telling gap."""
    if min(own.relative_gap, other.relative_gap) > TELLING:
        return 0
    if math.isfinite(own.to(TOL)) and math.isfinite(other.to(TOL)):
        return 1 if own.to(TOL) < other.to(TOL) else -1
    return 1 if own.relative_gap < other.relative_gap else -1


def against_spdc(race: Race, given: bool) -> int | None:
    """Sampling q coordinates or blocks against taking all of them, SPDC, with the same m and, where `given`, the paper's Lambda; None if not run."""
    m, q, p = pair(race)
    entered = {e.name: e for e in race}
    own, spdc = (entered.get(dspdc(m, size, 1.0 if given else None)) for size in (q, p))
    return None if own is None or spdc is None else compared(own, spdc)


def pair(race: Race) -> tuple[int, int, int]:
    """m, q and p of the paper's comparison: of the two entrants with its Lambda, or of the only two."""
    names = [e.name for e in race if "m=" in e.name]
    found = [n.removesuffix(", Lambda=1)") for n in names if "Lambda" in n] or [n.removesuffix(")") for n in names]
    m = int(found[0].split("m=")[1].split(",")[0])
    q, p = sorted(int(name.split("q=")[1]) for name in found)
    return m, q, p


def counted(signs: Iterable[int | None]) -> str:
    """How often ahead of those that were run, and how often nothing can be said."""
    found = [v for v in signs if v is not None]
    text = f"{found.count(1)} of {len(found)}"
    return f"{text} (and {found.count(0)} where neither comes to a gap of {TELLING:g})" if 0 in found else text


def judged(signs: Iterable[int | None]) -> str:
    """Of those that were run all, some or none won; one that tells nothing is not won."""
    found = [v for v in signs if v is not None]
    won = found.count(1)
    return "holds" if found and won == len(found) else "holds in part" if won else "does not hold"


# --- the verdict ------------------------------------------------------------------------------------------------------


def verdict(
    factors: Mapping[str, Race],
    formed: Mapping[str, Race],
    blocks: Mapping[str, Race],
    shares: Mapping[str, float | None],
) -> str:
    """Against SPDC with the paper's Lambda and with the watched one, against A formed, and against full gradients."""
    every = {**factors, **blocks}
    sampled = {name: against_spdc(race, True) for name, race in every.items()}
    given = [e for race in every.values() for e in race if "Lambda" in e.name]
    reached = sum(e.to(1e-3) < math.inf for e in given)
    changed = []
    for race in every.values():
        names = [e.name for e in race if "Lambda" in e.name]
        pairs = [(n.replace(", Lambda=1", ""), n) for n in names]
        entered = {e.name for e in race}
        changed += [compared(race[own], race[n]) for own, n in pairs if own in entered]
    sizes = [
        f"{value:.2f} of them on {name}" if value is not None else f"a number that is not known on {name}"
        for name, value in shares.items()
    ]
    beside = [compared(best_dspdc(factors[name], 1e-3), best(race, 1e-3)) for name, race in formed.items()]
    full = {
        name: compared(best_dspdc(race, TOL), best((e for e in race if e.method != "dspdc"), TOL))
        for name, race in every.items()
    }
    return (
        f"Against SPDC, with the paper's Lambda, the claim {judged(sampled.values())}: sampling coordinates too is ahead in "
        f"{counted(sampled[n] for n in factors)} races on factors and {counted(sampled[n] for n in blocks)} on matrices; {reached} of the "
        f"{len(given)} runs with that Lambda come to 1e-3. A Lambda from random blocks is better in {counted(changed)} runs, and with it sampling is "
        f"ahead in {counted(against_spdc(race, False) for race in blocks.values())} races on matrices; of SPDC's eigendecompositions to 1e-6 it "
        f"takes {' and '.join(sizes)}. Where A is formed instead, the best form on the factors is ahead of `sdca`, `spdc` and `apg` on A in "
        f"{counted(beside)}. Against full gradients it {judged(full.values())}: the best of its forms is ahead of `apg` and, where run, `pdhg` "
        f"in {counted(full[n] for n in factors)} races on factors and {counted(full[n] for n in blocks)} on matrices."
    )
