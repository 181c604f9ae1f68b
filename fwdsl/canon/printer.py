"""The canonical form in print."""

from __future__ import annotations

from ..atoms.base import LossFunction
from ..atoms.vector_loss import VectorLossFunction
from .form import Canonical, SumTerm


def describe_canonical(canonical: Canonical) -> str:
    """min over the blocks of the sum, one line a term, then g of each block with what moved out of it."""
    names = ", ".join(f"{b.name} in R^{b.size}" if b.shape else f"{b.name} in R" for b in canonical.blocks)
    lines = [f"minimise over {names}"]
    for term in canonical.terms:
        lines.append(f"  f  {_term(term)}")
    for block in canonical.blocks:
        moved = f"   (moved into the sum: {', '.join(block.moved)})" if block.moved else ""
        lines.append(f"  g  {block.name}: {block.text}{moved}")
    if canonical.q.any():
        lines.append(f"  q  a linear term with {int((canonical.q != 0).sum())} nonzero coefficients")
    if canonical.constant:
        lines.append(f"  c  {canonical.constant:g}")
    if canonical.sense < 0:
        lines.append("  (the negative of the program's objective, which is maximised)")
    return "\n".join(lines)


def _term(term: SumTerm) -> str:
    shape = f"{term.map.rows} rows, {term.map.nnz:,} stored numbers"
    if isinstance(term.f, LossFunction | VectorLossFunction):
        kind = "smooth" if term.is_smooth else "nonsmooth, with a prox"
        return f"{term.f.name}({term.map.describe()}; {shape}): {kind}"
    return f"{term.f.describe()} of {term.map.describe()} ({shape}): {'indicator' if term.is_indicator else 'norm'}"
