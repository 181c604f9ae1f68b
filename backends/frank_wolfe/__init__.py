"""The Frank-Wolfe family: vanilla here; with away steps, pairwise, blended pairwise and block by block in modules loaded where they are named."""

from fwdsl.backends.frank_wolfe.plain import FrankWolfe
from fwdsl.backends.frank_wolfe.state import FWState

__all__ = ["FWState", "FrankWolfe"]
