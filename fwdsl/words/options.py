"""The options of `solve`, each with its domain."""

from __future__ import annotations

SOLVE_OPTIONS: dict[str, str] = {
    "tol": "positive",
    "gap": "gap",
    "method": "method",
    "max_iter": "seed",
    "time": "nonnegative",
    "seed": "seed",
    "threads": "seed",
}
