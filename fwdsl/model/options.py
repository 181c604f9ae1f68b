"""How a program is solved: options with their defaults. None of them changes what is minimised."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Options:
    """The options of `solve` (language.md, section 8).

    tol: relative duality gap to certify; gap: whether `tol` is relative or absolute; method: "auto" or a method's name, with its own options in
    `method_options`; max_iter: iterations; time: seconds of solving, without those of compiling kernels; seed: of the random generator;
    threads: of the kernels (0: one a core).
    """

    tol: float = 1e-6
    gap: Literal["relative", "absolute"] = "relative"
    method: str = "auto"
    method_options: Mapping[str, object] = field(default_factory=dict)
    max_iter: int | None = None
    time: float = math.inf
    seed: int = 0
    threads: int = 0
