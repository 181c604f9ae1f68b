"""The planner: the method, its parameters, and every other method with the reason."""

from .make import make_plan
from .plan import Plan
from .weigh import Candidate

__all__ = ["Candidate", "Plan", "make_plan"]
