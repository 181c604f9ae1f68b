"""Coordinate descent on working sets."""
