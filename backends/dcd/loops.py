"""Kernels of dual coordinate descent, in the notation of `backends.signed_dual`. Those of rows, and `prefetch`,
are linked in."""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

import math

PARTS = 5
"""Numbers of an entry of the dual that a visit needs, which lie beside each other: entries are visited in random order, and each place of memory
that no cache has takes as long as a row of some numbers."""

FAR, NEAR = 16, 8
"""Visits before its own at which memory is asked for what leads to an entry's row, and for the row."""


def sweeps(rows, iterate, order, scale, dual, limits):
    """Exact steps on the entries of `index`, in place, sweep after sweep in random orders, entries that stand fast at an end left out.

    iterate = (v, x = (c A'v - q) / mu, intercept (1,)): the last two are kept up to date with v;
    order = (index, places, levels), with places = (entries of this sweep, those that stay so far, visited, sweeps done) and levels = (the largest
    violation of this sweep so far; that beyond which the slope holds an entry at its end, inf after all came back; the largest one of the last
    sweep over all). Where the others have converged to the share `converged` of that, all come back;
    scale = (c, d, step_x, step_b): a prediction is c a_i'x + d intercept, and a change of v_i by 1 adds step_x a_i to x and step_b to the intercept;
    dual = (parts, e): s, t, lo, hi of `backends.signed_dual` and H + s for each entry, one after the other, H being the curvature of the rest of
    the dual along it; and e;
    limits = (seed, last, converged, visit, enough, most): it ends before sweep `last`, after the sweep in which its work reached `enough`, or at
    `most`, within a sweep. Work is numbers touched, and `visit` for each entry visited.

    Returns the numbers touched and the visits. Tuples are plain: numba takes microseconds to look at named ones.
    """
    v, x, intercept = iterate
    index, places, levels = order
    c, d, step_x, step_b = scale
    parts, e = dual
    seed, last, converged, visit, enough, most = limits
    count, kept, at, done = places
    worst, bar, full = levels
    touched, visits = 0, 0
    while done < last and touched + visit * visits < enough:
        while at < count and touched + visit * visits < most:
            j = index[at]
            if at + FAR < count:
                ahead = index[at + FAR]
                prefetch(parts, PARTS * ahead)
                prefetch(v, ahead)
                row_ends(rows, ahead)
                row_start(rows, index[at + NEAR])
            at += 1
            visits += 1
            own = PARTS * j
            s, t, lo, hi, h = parts[own], parts[own + 1], parts[own + 2], parts[own + 3], parts[own + 4]
            old = v[j]
            g = c * row_dot(rows, j, x) + d * intercept[0] + s * old - t
            touched += row_size(rows, j)
            up = g + (e if old >= 0.0 else -e)
            down = g + (e if old > 0.0 else -e)
            rises = up < 0.0 and old < hi
            falls = down > 0.0 and old > lo
            if not rises and not falls:
                if (old < hi and not up > bar) or (old > lo and not -down > bar):
                    index[kept] = j
                    kept += 1
                continue
            index[kept] = j
            kept += 1
            worst = max(worst, -up if rises else down)
            if h > 0.0:
                new = old - g / h
                # the kink at 0
                if e > 0.0:
                    new = max(new - e / h, 0.0) if new > 0.0 else min(new + e / h, 0.0)
                new = min(max(new, lo), hi)
            else:
                # a sample without features: its dual is linear, with the kink an end of each side
                new = hi if rises else lo
                if e > 0.0 and ((rises and old < 0.0) or (falls and old > 0.0)):
                    new = 0.0
            if new != old:
                v[j] = new
                row_add(rows, j, step_x * (new - old), x)
                intercept[0] += step_b * (new - old)
                touched += row_size(rows, j)
        if at < count:
            break
        done += 1
        if count == v.size:
            full = worst
        if (count < v.size and worst <= converged * full) or kept == 0:
            for j in range(v.size):
                index[j] = j
            count, bar = v.size, math.inf
        else:
            count, bar = kept, worst
        shuffle(index, count, seed, done)
        kept, at, worst = 0, 0, 0.0
    # One by one: assigned to a slice, a tuple would be compiled with the text of an error about shapes, which takes longer than all the rest.
    places[0], places[1], places[2], places[3] = count, kept, at, done
    levels[0], levels[1], levels[2] = worst, bar, full
    return touched, visits


def shuffle(index, count, seed, sweep):
    """Put the first `count` entries into a random order that seed and sweep tell: Fisher and Yates, with Lehmer's generator."""
    z = 1 + (seed % 1000003 * 7919 + sweep * 104729) % 2147483646
    for i in range(count - 1, 0, -1):
        z = z * 48271 % 2147483647
        # z (i + 1) / 2^31 rounded down: a division would take as long as the visit of a short row
        k = z * (i + 1) >> 31
        index[i], index[k] = index[k], index[i]


def rows_times(indptr, indices, data, x, out):
    """out = Z x."""
    for i in range(out.size):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * x[indices[k]]
        out[i] = total


def rows_adjoint(indptr, indices, data, u, out):
    """out += Z'u."""
    for i in range(u.size):
        if u[i] != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                out[indices[k]] += u[i] * data[k]


def rows_gram(indptr, indices, data, w, out):
    """out += Z' diag(w) Z, its lower triangle; the columns of each row ascend."""
    for i in range(w.size):
        for k in range(indptr[i], indptr[i + 1]):
            own = w[i] * data[k]
            row = out[indices[k]]
            for m in range(indptr[i], k + 1):
                row[indices[m]] += own * data[m]
