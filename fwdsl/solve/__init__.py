"""Running a plan: the driver, and the solution in the user's words."""

from .interrupt import Control
from .solve import solve

__all__ = ["Control", "solve"]
