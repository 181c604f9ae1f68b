"""The driver's own memory of a run. It is saved with the method's state, so that a resumed run ends where an unbroken one does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..atoms.low_rank import LowRank
from ..certify.verified import DualBound, Point, Verified

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

FEASIBLE = 1e-7
"""The largest relative violation of a constraint that `optimal` allows (see "What an answer promises" in docs/language.md)."""

ARRAYS = frozenset({"y", "violations", "sums", "far_sums", "ends", "slopes"})
"""The parts of what was verified that are tuples of arrays."""

EPS = float(np.finfo(np.float64).eps)

FIRST_LOOK = 100.0
"""The data passes after which a run is verified whatever its method believes, and then whenever they have doubled: only the verifier knows the
sizes of all terms, and bounds that the method has not."""

VANISHED = 1e-10
"""The share of the largest value in a run at which value and gap have vanished beside it: an optimum of 0 has no size of its own, and the verifier
is asked there, and each time that they are 1e-3 of that."""

CONTRADICTS = 1e-3
"""The share of a bound or an objective by which a run's own bound lies above the objective from which on its numbers contradict each other."""

FIRST_RAY = 64
"""The iteration at which directions are first tried as certificates that there is no solution."""


def _sum(a: float, b: float) -> float:
    """a + b, 0 where rounding alone is left: what is no better must not win by it."""
    return 0.0 if abs(a + b) <= 4.0 * EPS * abs(a) else a + b


@dataclass
class Best:
    """The best primal point and the best bound ever verified; a bound stays valid whatever point it came with."""

    x: Any = None
    primal: Verified | None = None
    bound: DualBound | None = None

    def add(self, x: Any, v: Verified) -> None:
        """Keep what is better."""
        # only bounds that rest on nothing of their own point serve another one
        trusted = v.kind in ("exact", "rigorous", "probabilistic") and not v.bound.local
        if trusted and (self.bound is None or v.dual > self.bound.proven):
            self.bound = v.bound
        if self.primal is None or self._rank(v) < self._rank(self.primal) or self._stands_alone(v):
            self.x, self.primal = x.copy(), v

    def _stands_alone(self, v: Verified) -> bool:
        """True if a point with a bound that serves it alone is better certified than all before."""
        return v.bound.local and v.infeasibility <= FEASIBLE and v.relative_gap < self.merged().relative_gap

    def _rank(self, v: Verified) -> tuple[bool, bool, bool, float, float]:
        """Points that are numbers first, of them those of a finite value, then feasible ones, by the objective and what infeasibility may hide of it;
        all by how far they are from feasible.

        What is hidden is measured by the multipliers of the best bound too: those of a poor dual point hide nothing, whatever the point.
        """
        infeasible = not v.infeasibility <= FEASIBLE
        hidden = v.hidden
        if self.bound is not None and self.bound is not v.bound:
            hidden = max(hidden, replace(v, bound=self.bound).hidden)
        value = v.infeasibility if infeasible else _sum(v.primal, hidden)
        return math.isnan(v.primal), not math.isfinite(v.primal), infeasible, value, v.infeasibility

    def merged(self) -> Verified:
        """The best point with the bound that serves it best."""
        assert self.primal is not None
        own, other = self.primal, self.bound
        return replace(own, bound=other) if other is not None and other.proven > own.dual else own


@dataclass
class Journal:
    """The next turns of the verifier and of the tests for programs without a solution, their findings, the steps without change, and the data
    passes so far, of the method and of the verifier. `largest` is the largest value that the method has told, `scale` the S of the last
    point that was verified, `rounding` what rounding may make of its P, `attempts` the bounds by chance so far (`Solvable.attempts`), `lost`
    the steps of `count_lost`, before which `least` and `proven` were the best value and bound."""

    first: int
    next_verify: int = 0
    next_ray: int = FIRST_RAY
    next_look: float = FIRST_LOOK
    next_gap: float = VANISHED
    largest: float = 0.0
    scale: float = 0.0
    rounding: float = 0.0
    best_bound: float = -math.inf
    violation: float = math.inf
    unmoved: int = 0
    lost: int = 0
    least: float = math.inf
    proven: float = -math.inf
    passes: float = 0.0
    verify_passes: float = 0.0
    attempts: int = 0
    last: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    best: Best = field(default_factory=Best)

    def add(self, x: Any, v: Verified) -> None:
        """Note the verifier's findings for a point."""
        self.best.add(x, v)
        self.verify_passes += v.passes
        merged = self.best.merged()
        self.scale, self.rounding = merged.scale, merged.point.rounding

    def copied(self) -> Journal:
        """A copy that later findings do not change."""
        return Journal(**{**vars(self), "best": Best(**vars(self.best))})

    def count_unmoved(self, *now: float) -> int:
        """Count a report, and return for how many steps objective, bound and infeasibility have not changed."""
        self.unmoved = self.unmoved + 1 if now == self.last else 0
        self.last = (now[0], now[1], now[2])
        return self.unmoved

    def count_lost(self, objective: float, bound: float, infeasibility: float) -> int:
        """Count a report, and return for how many steps points have been outside of the objective's domain, or on its edge as far as rounding tells,
        without any gain that the verifier has seen: the objective is infinite, or lies far below a bound though nothing is missed."""
        primal, proven = self.best.primal, -math.inf if self.best.bound is None else self.best.bound.proven
        least = math.inf if primal is None else primal.primal
        gained = least < self.least or proven > self.proven
        self.least, self.proven = min(self.least, least), max(self.proven, proven)
        beyond = infeasibility <= FEASIBLE and bound - objective > CONTRADICTS * max(abs(bound), abs(objective))
        self.lost = self.lost + 1 if not gained and (objective == math.inf or beyond) else 0
        return self.lost


def pack(journal: Journal) -> tuple[dict[str, Any], dict[str, Any]]:
    """A journal as plain values, floats exactly, and arrays by name."""
    numbers = {f.name: _exact(getattr(journal, f.name)) for f in fields(journal) if f.name != "best"}
    arrays: dict[str, Any] = {}
    best: dict[str, Any] = {}
    v = journal.best.primal
    if v is not None:
        best["primal"] = {"at_zero": _exact(v.at_zero), "passes": _exact(v.passes)}
        for part in ("point", "bound"):
            best["primal"][part] = _taken_apart(getattr(v, part), f"primal:{part}", arrays)
    if journal.best.bound is not None:
        best["bound"] = _taken_apart(journal.best.bound, "bound", arrays)
    x = journal.best.x
    if isinstance(x, LowRank):
        arrays |= {"x:U": x.U, "x:V": x.V}
    elif x is not None:
        arrays["x"] = x
    return {**numbers, "best": best}, arrays


def unpack(form: Mapping[str, Any], arrays: Mapping[str, Any]) -> Journal:
    """The journal that `pack` took apart. A `KeyError`, `ValueError` or `TypeError` where it is none."""
    found: dict[str, Any] = {}
    if "primal" in form["best"]:
        v = form["best"]["primal"]
        point = Point(**_put_together(v["point"], "primal:point", arrays))
        bound = DualBound(**_put_together(v["bound"], "primal:bound", arrays))
        found["primal"] = Verified(point, bound, _inexact(v["at_zero"]), _inexact(v["passes"]))
    if "bound" in form["best"]:
        found["bound"] = DualBound(**_put_together(form["best"]["bound"], "bound", arrays))
    x = LowRank(arrays["x:U"], arrays["x:V"]) if "x:U" in arrays else arrays.get("x")
    numbers = {key: _inexact(value) for key, value in form.items() if key != "best"}
    return Journal(**{**numbers, "last": tuple(numbers["last"])}, best=Best(x, **found))


def _taken_apart(part: Point | DualBound, name: str, arrays: dict[str, object]) -> dict[str, object]:
    """The numbers and words of a point or bound. Tuples of arrays go to `arrays`, and their lengths stay."""
    if isinstance(part, DualBound):
        part = replace(part, weight=part.share)
    out: dict[str, object] = {}
    for f in fields(part):
        value = getattr(part, f.name)
        if f.name in ARRAYS:
            arrays.update({f"{name}:{f.name}:{k}": array for k, array in enumerate(value)})
            value = len(value)
        out[f.name] = _exact(value)
    return out


def _put_together(form: Mapping[str, Any], name: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in form.items():
        found = _inexact(value)
        if key in ARRAYS:
            found = tuple(arrays[f"{name}:{key}:{k}"] for k in range(value))
        out[key] = tuple(found) if isinstance(found, list) else found
    return out


def _exact(value: MatrixLike) -> MatrixLike:
    """A value as JSON keeps it exactly: a float is marked and in hexadecimal digits."""
    if isinstance(value, tuple):
        return [_exact(item) for item in value]
    return {"hex": float(value).hex()} if isinstance(value, float | np.floating) else value


def _inexact(value: Any) -> Any:
    if isinstance(value, list):
        return [_inexact(item) for item in value]
    return float.fromhex(value["hex"]) if isinstance(value, dict) else value
