"""The Frank-Wolfe family: vanilla here; with away steps, pairwise, blended pairwise and block by block in modules loaded where they are named."""

from .plain import FrankWolfe
from .state import FWState

__all__ = ["FWState", "FrankWolfe"]
