"""Which kind of certificate a structure allows, before anything is solved."""

from __future__ import annotations

from ..canon.arrange import Arrangement

COMPACT = frozenset({"simplex", "solid_simplex", "l1_ball", "l2_ball", "linf_ball"})


def expected_certificate(arrangement: Arrangement, factored: bool = False) -> str:
    """What the dual bound will rest on, a clause a block; `factored` where the method works on factors."""
    if factored:
        name = arrangement.blocks[0].name
        return f"{name}: rigorous where it is small, else probabilistic, by a bound of the gradient's largest singular value"
    clauses = []
    moved = {s.bare for s in arrangement.sums if s.bare is not None}
    for block in arrangement.blocks:
        if block.set in COMPACT:
            clauses.append(f"{block.name}: exact, by the support function of its {block.set}")
        elif block.ridges:
            clauses.append(f"{block.name}: exact, its quadratic term has a finite conjugate")
        elif block.norm is not None:
            clauses.append(
                f"{block.name}: exact, by scaling the dual into the ball of its {block.norm} or its implied bound"
            )
        elif block.name in moved:
            clauses.append(f"{block.name}: exact where a penalty or a bounded set bounds it")
        else:
            clauses.append(f"{block.name}: an equality of the dual: exact where met to rounding, else conditional")
    return "; ".join(clauses)
