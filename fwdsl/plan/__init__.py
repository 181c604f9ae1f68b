"""The planner: the method, its parameters, and every other method with the reason."""

from .plan import Candidate, Plan, make_plan

__all__ = ["Candidate", "Plan", "make_plan"]
