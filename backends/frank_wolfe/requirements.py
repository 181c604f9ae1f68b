"""The requirements of the Frank-Wolfe methods."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from fwdsl.atoms.family import Repeated
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses import smoothness
from fwdsl.backends.frank_wolfe.birkhoff import halves
from fwdsl.backends.frank_wolfe.polytope import hulls, lifted
from fwdsl.backends.requirements import bounded_set, linear_oracle
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.canon.pairs import words_of


def reasons(arrangement: Arrangement, finite: bool = False) -> tuple[str, ...]:
    """Smooth losses over compact sets with a linear minimisation oracle, and no norm beside them; `finite`: with finitely many vertices."""
    found = []
    inside = lifted(arrangement)
    whole = [*halves(arrangement), *inside.values()]
    for term in arrangement.sums:
        if term in whole:
            continue
        if term.kind != "loss" or smoothness(term.atom) is None:
            found.append(f"`{term.text}` is not smooth")
    for block in (b for b in arrangement.blocks if b.name not in inside):
        own = bounded_set(block)
        if finite and not own and block.set is not None and not words_of(block.set)[1].polyhedral:
            own.append(f"{block.name}: steps away from vertices need finitely many of them, and {block.set} is round")
        found += own
    return tuple(found)


def value_reasons(canonical: Canonical, finite: bool = False) -> tuple[str, ...]:
    """No infinite side of a box, and an oracle for every set."""
    found = []
    points = {h.x.name for h in hulls(canonical.terms)}
    for b in (b for b in canonical.blocks if b.name not in points):
        # the blocks of a family have one set, of which there may be a million
        g = b.g.inner if isinstance(b.g, Repeated) and b.g.count else b.g
        own = linear_oracle(b, g)
        if finite and not own and g.size and g.vertex_id(np.zeros(g.size)) is None:
            own.append(f"{b.name}: steps away from vertices need finitely many of them, and {b.text} is round")
        found += own
    return tuple(found)


def option_reasons(canonical: Canonical, options: Mapping[str, object]) -> tuple[str, ...]:
    """`short` needs losses of bounded curvature."""
    if options.get("step") != "short":
        return ()
    steep = [
        f'`{t.text}` has a curvature without bound, which `step="short"` needs'
        for t in canonical.terms
        if isinstance(t.f, LossFunction) and not math.isfinite(t.f.loss.smoothness or 0.0)
    ]
    return tuple(steep)
