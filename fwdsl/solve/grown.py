"""A saved state of data that only got more rows since: its best point and dual point are where a run on the longer data starts.

The old rows are told by their fingerprint: those that are first now hash to what all of them hashed to. Multipliers of old rows are scaled as the
weights of their losses are (a mean over more samples weighs each less); those of new rows are 0, which every loss allows.

Observed entries grow likewise. Rows and columns that only the new ones have are zero in a matrix that is kept as factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..atoms.loss import LossFunction
from ..atoms.low_rank import LowRank
from ..atoms.vector_loss import VectorLossFunction
from ..bind.values import Entries
from ..canon.data_maps import rows_between
from ..canon.form import Canonical
from ..canon.forms import Form
from ..canon.rewrites import Rewritten
from ..readers.row_blocks import is_on_disk
from ..results.fingerprint import of_array, of_instance
from .forms import Start
from .journal import unpack

_OBSERVED = "entries"


def extents(form: Form) -> dict[str, Any]:
    """The part of a saved state that tells later how its data have grown: shapes of data, and the weight of the first sample of each loss."""
    values = form.instance.values
    shapes = {name: list(np.shape(value)) for name, value in values.items()}
    entries = {
        name: _Known.of(value).record()
        for name, value in values.items()
        if isinstance(value, Entries) and value.stored is None  # those in files are in another order than their source
    }
    canonical = _canonical(form)
    weights = [] if canonical is None else [_weight(t.f) for t in canonical.terms]
    return {"shapes": shapes, _OBSERVED: entries, "weights": weights}


def _canonical(form: Form) -> Canonical | None:
    """The canonical form of the program as it is written."""
    found = form.outer if isinstance(form, Rewritten) else form
    return found if isinstance(found, Canonical) else None


def _weight(f: object) -> float:
    return float(f.w[0]) if isinstance(f, LossFunction | VectorLossFunction) and f.w.size else 0.0


def grown(record: Mapping[str, Any], arrays: Mapping[str, Any], form: Form, path: str | Path) -> Start | None:
    """The start of a run on longer data, from the record and the arrays of a saved state; None where other things changed too."""
    canonical, before, shapes = _canonical(form), record["fingerprints"], record.get("shapes", {})
    if not shapes:
        return None
    now = of_instance(form.instance)
    changed = [name for name in {*now, *before} if now.get(name) != before.get(name)]
    more: dict[str, int] = {}
    counted = {name: _Known(**told) for name, told in record.get(_OBSERVED, {}).items()}
    observed: list[tuple[Entries, _Known]] = []
    for name in changed:
        value: Any = form.instance.values.get(name)
        known = counted.get(name)
        if isinstance(value, Entries) and known is not None:
            first = known.first_of(value, tuple(shapes[name]))
            if first is None or of_array(first) != before[name]:
                return None
            more[name] = len(value) - known.count
            observed.append((value, known))
            continue
        old, new = tuple(shapes.get(name, ())), np.shape(value)
        if not old or len(new) != len(old) or new[1:] != old[1:] or new[0] <= old[0]:
            return None
        if of_array(_first(value, old[0])) != before[name]:
            return None
        more[name] = new[0] - old[0]
    if not more:
        return None
    best = unpack(record["journal"], arrays).best
    names = " and ".join(f"`{name}`" for name in sorted(more))
    origin = f"the answer in {path}, of {max(more.values()):,} rows less of {names}"
    if isinstance(best.x, LowRank):
        return _of_factors(best.x, observed, form, origin)
    if canonical is None or not isinstance(best.x, np.ndarray) or best.x.size != canonical.size:
        return None
    ys = _longer(canonical, best.bound.y if best.bound is not None else (), record["weights"])
    return Start(best.x, ys, origin)


@dataclass(frozen=True)
class _Known:
    """The number of observed entries, and the ids of their rows and columns (None where positions were given)."""

    count: int
    rows: list[Any] | None
    columns: list[Any] | None

    @classmethod
    def of(cls, value: Entries) -> _Known:
        rows, columns = (None if ids is None else list(ids) for ids in (value.row_ids, value.column_ids))
        return cls(len(value), rows, columns)

    def record(self) -> dict[str, Any]:
        """The same as plain values."""
        rows, columns = (None if ids is None else np.asarray(ids).tolist() for ids in (self.rows, self.columns))
        return {"count": self.count, "rows": rows, "columns": columns}

    def first_of(self, value: Entries, shape: tuple[int, ...]) -> Entries | None:
        """The entries that were there before, at their positions then; None where they cannot be told."""
        if value.stored is not None or len(value) <= self.count:
            return None
        places = []
        for at, ids, now in ((value.rows, self.rows, value.row_ids), (value.columns, self.columns, value.column_ids)):
            first = at[: self.count]
            if ids is not None and now is not None:
                before = {name: k for k, name in enumerate(ids)}
                first = np.array([before.get(name, -1) for name in now], dtype=np.int64)[first]
            elif ids is not None or now is not None:
                return None
            places.append(first)
        rows, columns = places
        return Entries(rows, columns, value.values[: self.count], (shape[0], shape[1]))

    def placed(self, factor: Array, axis: int, value: Entries) -> Array | None:
        """A factor whose rows are those of the old positions, at the new ones; None where it is of other rows."""
        ids, now = ((self.rows, value.row_ids), (self.columns, value.column_ids))[axis]
        old = range(value.shape[axis]) if ids is None else ids
        if len(old) != len(factor):
            return None
        out = np.zeros((value.shape[axis], factor.shape[1]))
        at = {name: k for k, name in enumerate(old if now is None else now)}
        out[[at[name] for name in old]] = factor
        return out


def _of_factors(x: LowRank, observed: Sequence[tuple[Entries, _Known]], form: Form, origin: str) -> Start | None:
    """The start at factors, where the observed entries that grew are those of their matrix."""
    kept = form.factored
    if kept is None or isinstance(form, Rewritten) or len(observed) > 1:
        return None
    factors: list[Array | None] = [x.U, x.V]
    for value, known in observed:
        factors = [known.placed(factor, k, value) for k, factor in enumerate((x.U, x.V))]
    U, V = factors
    if U is None or V is None or (len(U), len(V)) != kept.shape:
        return None
    return Start(LowRank(U, V), None, origin)


def _first(value: Any, count: int) -> Any:
    return value.between(0, count) if is_on_disk(value) else rows_between(value, 0, count)


def _longer(canonical: Canonical, ys: Sequence[Array], weights: Sequence[float]) -> list[Array] | None:
    """The dual point of the longer program; None where there was none."""
    if len(ys) != len(canonical.terms) or len(weights) != len(ys):
        return None
    found = []
    for term, y, weight in zip(canonical.terms, ys, weights, strict=True):
        if y.size > term.map.rows:
            return None
        out = np.zeros(term.map.rows)
        out[: y.size] = y * (_weight(term.f) / weight) if weight else y
        found.append(out)
    return found
