"""The independent verifier: primal value, feasibility and dual bound recomputed from the instance's own data."""

from .verify import Verified, verify

__all__ = ["Verified", "verify"]
