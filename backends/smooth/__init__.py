"""Newton's method for smooth losses of free variables, with ridges or without."""

from fwdsl.backends.smooth.newton import Newton, NewtonState

__all__ = ["Newton", "NewtonState"]
