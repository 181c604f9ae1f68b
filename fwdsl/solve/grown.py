"""A saved state of data that only got more rows since: its best point and dual point are where a run on the longer data starts.

The old rows are told by their fingerprint: those that are first now hash to what all of them hashed to. Multipliers of old rows are scaled as the
weights of their losses are (a mean over more samples weighs each less); those of new rows are 0, which every loss allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..atoms.loss import LossFunction
from ..atoms.vector_loss import VectorLossFunction
from ..canon.data_maps import rows_between
from ..canon.form import Canonical
from ..canon.forms import Form
from ..canon.rewrites import Rewritten
from ..readers.row_blocks import is_on_disk
from ..results.fingerprint import of_array, of_instance
from .forms import Start
from .journal import unpack


def extents(form: Form) -> dict[str, Any]:
    """The part of a saved state that tells later how its data have grown: shapes of data, and the weight of the first sample of each loss."""
    shapes = {name: list(np.shape(value)) for name, value in form.instance.values.items()}
    canonical = _canonical(form)
    return {"shapes": shapes, "weights": [] if canonical is None else [_weight(t.f) for t in canonical.terms]}


def _canonical(form: Form) -> Canonical | None:
    """The canonical form of the program as it is written."""
    found = form.outer if isinstance(form, Rewritten) else form
    return found if isinstance(found, Canonical) else None


def _weight(f: object) -> float:
    return float(f.w[0]) if isinstance(f, LossFunction | VectorLossFunction) and f.w.size else 0.0


def grown(record: Mapping[str, Any], arrays: Mapping[str, Any], form: Form, path: str | Path) -> Start | None:
    """The start of a run on longer data, from the record and the arrays of a saved state; None where other things changed too."""
    canonical, before, shapes = _canonical(form), record["fingerprints"], record.get("shapes", {})
    if canonical is None or not shapes:
        return None
    now = of_instance(form.instance)
    changed = [name for name in {*now, *before} if now.get(name) != before.get(name)]
    more: dict[str, int] = {}
    for name in changed:
        value: Any = form.instance.values.get(name)
        old, new = tuple(shapes.get(name, ())), np.shape(value)
        if not old or len(new) != len(old) or new[1:] != old[1:] or new[0] <= old[0]:
            return None
        if of_array(_first(value, old[0])) != before[name]:
            return None
        more[name] = new[0] - old[0]
    best = unpack(record["journal"], arrays).best
    if not more or not isinstance(best.x, np.ndarray) or best.x.size != canonical.size:
        return None
    ys = _longer(canonical, best.bound.y if best.bound is not None else (), record["weights"])
    names = " and ".join(f"`{name}`" for name in sorted(more))
    return Start(best.x, ys, f"the answer in {path}, of {max(more.values()):,} rows less of {names}")


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
