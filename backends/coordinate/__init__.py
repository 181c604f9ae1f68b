"""Coordinate descent on working sets."""

from fwdsl.backends.coordinate.descent import CoordinateDescent, CoordinateState

__all__ = ["CoordinateDescent", "CoordinateState"]
