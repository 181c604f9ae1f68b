"""Coordinate descent on working sets."""

from fwdsl.backends.coordinate.descent import CoordinateDescent
from fwdsl.backends.coordinate.state import CoordinateState

__all__ = ["CoordinateDescent", "CoordinateState"]
