"""Epigraphs whose losses have their proxes compiled: a projection evaluates them a dozen times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.epigraphs.epigraph import Epigraph, EpigraphSet
from fwdsl.atoms.epigraphs.rows import RowEpigraphs
from fwdsl.atoms.epigraphs.summed import Inner
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends.kernels.compile import kernel


class CompiledLoss(LossFunction):
    """A loss of single predictions with the prox by its kernel."""

    def prox(self, v: Array, t: float) -> Array:
        out = np.empty_like(v)
        kernel(self.loss.prox_loop)(np.ascontiguousarray(v), float(t), self.b, self.w, self.p, out)
        return out


class CompiledRows(VectorLossFunction):
    """A loss of rows of predictions with the prox by its kernel."""

    def prox(self, v: Array, t: float) -> Array:
        rows = np.ascontiguousarray(v).reshape(self.shape)
        out = np.empty_like(rows)
        kernel(self.loss.prox_loop)(rows, float(t), self.y, self.w, out)
        return out.reshape(-1)


def on_kernels(f: VectorFunction) -> VectorFunction:
    """An epigraph with compiled losses; any other function as it is."""
    if isinstance(f, Epigraph):
        return replace(f, f=replace(f.f, parts=tuple(_compiled(part) for part in f.f.parts)))
    if isinstance(f, RowEpigraphs):
        made = {id(g): _of_row(g) for g in f.rows}
        return replace(f, rows=tuple(made[id(g)] for g in f.rows))
    return f


def _of_row(g: EpigraphSet) -> EpigraphSet:
    found = on_kernels(g)
    assert isinstance(found, EpigraphSet)
    return found


def _compiled(f: Inner) -> Inner:
    if isinstance(f, LossFunction):
        return CompiledLoss(f.loss, f.b, f.w, f.p)
    if isinstance(f, VectorLossFunction):
        return CompiledRows(f.loss, f.y, f.w, f.k)
    return f
