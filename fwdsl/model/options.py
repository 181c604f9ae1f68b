"""The options of a solve. None of them changes the problem."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..words import SOLVE_OPTIONS


def _default(name: str) -> Any:
    return SOLVE_OPTIONS[name].default


@dataclass(frozen=True)
class Options:
    """The options of `solve` (docs/language.md, "Options").

    tol: the duality gap to certify; gap: whether `tol` is relative or absolute; method: "auto" or the name of a method, whose options are in
    `method_options`; among: the methods that "auto" chooses from, empty for the planner's own list; max_iter: the number of iterations; time:
    seconds of solving, without those of compiling kernels; seed: the seed of the generator; threads: the number of threads of the kernels (0:
    one for each core); device: what takes products with data, the host or a device beside it; memory: the bytes that the process takes at most
    (None: no limit).
    """

    tol: float = _default("tol")
    gap: Literal["relative", "absolute"] = _default("gap")
    method: str = _default("method")
    method_options: Mapping[str, object] = field(default_factory=dict)
    among: tuple[str, ...] = ()
    max_iter: int | None = _default("max_iter")
    time: float = math.inf
    seed: int = _default("seed")
    threads: int = _default("threads")
    device: str = _default("device")
    memory: int | None = _default("memory")

    @property
    def elsewhere(self) -> bool:
        """True if another device than the host is to take products with data."""
        return bool(self.device != _default("device"))
