"""A solution as JSON, and JSON of whatever holds NumPy's numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .answer import Answer

LARGEST_IN_JSON = 10_000
"""Numbers up to which an array is written out."""


def solution_json(solution: Answer) -> dict[str, object]:
    """The keys and values that docs/command-line.md lists."""
    c, times = solution.certificate, solution.times
    plan = solution.plan
    return {
        "status": solution.status,
        "certificate": {
            "kind": c.kind,
            "statement": c.statement,
            "radius": c.radius,
            "scale": c.scale,
            "hidden": c.hidden,
            "missed": c.missed,
        },
        "infeasibility": c.infeasibility,
        "objective": c.objective,
        "dual_bound": c.dual_bound,
        "gap": c.gap,
        "relative_gap": c.relative_gap,
        "method": solution.method,
        "iterations": solution.iterations,
        "passes": solution.passes,
        "verify_passes": solution.verify_passes,
        "reason": solution.reason,
        "changes": [asdict(change) for change in solution.changes],
        "start": solution.start,
        "device": asdict(solution.device),
        "time": {
            "compile": times.compile,
            "load": times.load,
            "plan": times.plan,
            "solve": times.solve,
            "verify": times.verify,
            "kernels": times.kernels,
            "move": times.move,
        },
        "variables": _values(solution.variables),
        "dual": _values(solution.dual),
        "terms": dict(solution.terms),
        "warnings": list(solution.warnings),
        "plan": None if plan is None else plan.to_json(everything=False),
    }


def _values(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value_json(value) for name, value in values.items()}


def value_json(value: object) -> Any:
    """Nested lists, or the shape of what has more than `LARGEST_IN_JSON` numbers; of factors the rank too."""
    import numpy as np

    from ..atoms.low_rank import LowRank

    if isinstance(value, LowRank) and value.size > LARGEST_IN_JSON:
        return {"shape": list(value.shape), "rank": value.rank, "values": None}
    array = np.asarray(value)
    if array.size > LARGEST_IN_JSON:
        return {"shape": list(array.shape), "values": None}
    return array.tolist()


def dumps(value: object, indent: int | None = None) -> str:
    """JSON text in ASCII; numbers that are not finite become null, and NumPy's numbers and arrays are plain ones."""
    return json.dumps(_plain(value), indent=indent, allow_nan=False)


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)
