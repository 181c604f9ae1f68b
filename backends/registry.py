"""The methods, by the names that a program may give."""

from __future__ import annotations

from .apg import APG
from .frank_wolfe import FrankWolfe
from .lowrank.method import LowRankMethod
from .method import Method
from .pdhg import PDHG

METHODS: dict[str, type[Method]] = {m.name: m for m in (APG, PDHG, FrankWolfe, LowRankMethod)}
