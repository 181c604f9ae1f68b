"""The independent verifier: primal value, feasibility and dual bound recomputed from the instance's own data."""

from .verify import Bound, Point, Verified, verify

__all__ = ["Bound", "Point", "Verified", "verify"]
