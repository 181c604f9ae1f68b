"""Which nonsmooth parts of variables coordinate descent takes, told from names alone."""

from __future__ import annotations

from fwdsl.canon.arrange import BlockPlan
from fwdsl.words import CONVEX, SETS
from fwdsl.words.functions import ConvexWord


def fits(block: BlockPlan) -> bool:
    """Whether g is a sum over entries or groups, or the ball of one, told from the records of its words."""
    word = CONVEX[block.norm] if block.norm is not None else None
    on = SETS.get(block.set) if block.set is not None else None
    if (block.set is not None and on is None) or (word is not None and not _adds_up(word)):
        return False
    if on is None or (word is not None and on.name == word.ball):
        return True
    if on.bounds:
        return word is None or word.additive
    return word is None and (
        (on.of == "vector" and on.total == "most") or (bool(on.norm) and _adds_up(CONVEX[on.norm]))
    )


def _adds_up(norm: ConvexWord) -> bool:
    """Whether it is a sum over entries, groups or, of Euclidean lengths, rows."""
    lengths = norm.grouped or (bool(norm.rows) and CONVEX[norm.rows].euclidean)
    return norm.is_norm and (norm.additive or lengths)
