"""One iteration of GSFW (Lu, Freund 2018, Algorithm 1) on any samples: rows of a matrix of predictions, and oracles that are not compiled.

The same as the loops of `loops`, which serve vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.baselines.samples import MatrixSamples, SampleSum, VectorSamples, linked
from fwdsl.backends.gsfw.loops import batch_predictions
from fwdsl.backends.gsfw.oracle import Oracle
from fwdsl.backends.gsfw.state import GSFWState


def predictions(of: SampleSum, x: Array, rows: Any) -> Array:
    """a_j x + b_j for the rows j, one row of numbers each."""
    if isinstance(of, VectorSamples):
        z, view = np.empty(rows.size), of.sum
        view.count(linked(batch_predictions, view.row_kernels)(of.rows, rows, x, view.c, view.offset, z))
        return z.reshape(-1, 1)
    assert isinstance(of, MatrixSamples)
    return of.predictions(x, rows)


def _add(of: SampleSum, rows: Any, change: Array, kty: Array) -> None:
    of.add(rows, change.reshape(-1) if isinstance(of, VectorSamples) else change, 1.0, kty)


def prescribed_step(
    of: SampleSum, respond: Oracle, state: GSFWState, rows: Any, eta: float, alpha: float, gamma: float
) -> None:
    """See `loops.prescribed_steps`; gamma = 0 keeps no sums."""
    st = state
    last = respond(st.kty + of.q)
    st.x = (1.0 - alpha) * st.x + alpha * last
    s, y = (v.reshape(of.n, -1) for v in (st.s, st.y))
    fresh = (1.0 - eta) * s[rows] + eta * predictions(of, last, rows)
    _, slopes = of.derivative(fresh, rows)
    if gamma:
        st.total += gamma
        st.kty_sum += gamma * st.kty
        st.y_sum.reshape(of.n, -1)[rows] += y[rows] * (st.total - st.stamp[rows])[:, None]
        st.stamp[rows] = st.total
    _add(of, rows, slopes - y[rows], st.kty)
    s[rows], y[rows] = fresh, slopes


def adaptive_step(of: SampleSum, respond: Oracle, state: GSFWState, rows: Any, batches: float, last: Array) -> Array:
    """See `loops.adaptive_steps`: `last` is the response to y; the result is the response to the new y."""
    st = state
    st.inverse = 1.0 + (1.0 - st.share) * st.inverse
    st.x = st.x + (last - st.x) / st.inverse
    s, y = (v.reshape(of.n, -1) for v in (st.s, st.y))
    z, old, before = predictions(of, last, rows), s[rows], st.kty.copy()
    value, _ = of.derivative(old, rows)
    applied = y[rows]
    while True:
        eta = 1.0 / (1.0 + st.tau)
        fresh = (1.0 - eta) * old + eta * z
        after, slopes = of.derivative(fresh, rows)
        distance = value - after - float((slopes * (old - fresh)).sum())
        size = abs(value) + abs(after)
        if abs(distance) <= 1e-9 * size:
            distance = 0.5 * float(((slopes - y[rows]) * (fresh - old)).sum())
        _add(of, rows, slopes - applied, st.kty)
        applied = slopes
        new = respond(st.kty + of.q)
        change, response_change = st.kty - before, last - new
        square, inner = float(np.square(change).sum()), float((response_change * change).sum())
        needed = min(square / (2.0 * respond.mu), inner - 0.5 * respond.mu * float(np.square(response_change).sum()))
        if st.tau >= st.most or not needed > 1.000001 * st.tau * distance or distance <= 1e-18 * size:
            break
        st.tau = min(st.most, max(2.0 * st.tau, min(needed / distance, 16.0 * st.tau)))
    st.share = eta / batches
    if distance > 1e-18 * size and needed < 0.5 * st.tau * distance:
        st.tau /= 1.3
    s[rows], y[rows] = fresh, slopes
    return new
