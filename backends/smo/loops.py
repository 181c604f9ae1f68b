"""Kernels of two-level SMO, in the notation of `backends.smo.problem`: `up` and `down` add to a slope what moving an entry up or down meets at the
kink, and put entries at a bound out of reach."""

FAR = 1e300


def reach(v, lo, hi, e, up, down):
    """The parts of the slopes up and down that depend on where v is."""
    for j in range(v.size):
        up[j] = FAR if v[j] >= hi[j] else (e if v[j] >= 0.0 else -e)
        down[j] = -FAR if v[j] <= lo[j] else (e if v[j] > 0.0 else -e)


def gather(rows, slots, at, factor, out):
    """The columns `at` of rows in their slots, times a factor; a row without one (-1) is left."""
    for k in range(slots.size):
        if slots[k] >= 0:
            row = rows[slots[k]]
            for m in range(at.size):
                out[k, m] = factor * row[at[m]]


def add_rows(rows, slots, step, out):
    """out += sum_k step_k K_k, four rows at a time."""
    n, size = out.size, slots.size
    k = 0
    while k + 4 <= size:
        a, b, c, d = rows[slots[k]], rows[slots[k + 1]], rows[slots[k + 2]], rows[slots[k + 3]]
        p, q, r, t = step[k], step[k + 1], step[k + 2], step[k + 3]
        for j in range(n):
            out[j] += p * a[j] + q * b[j] + r * c[j] + t * d[j]
        k += 4
    while k < size:
        a = rows[slots[k]]
        p = step[k]
        for j in range(n):
            out[j] += p * a[j]
        k += 1


def pairs(Q, g, v, lo, hi, e, up, down, tol, most):
    """SMO with second-order pairs on a block, in place, until the violation is at most tol; the number of steps."""
    q = g.size
    reach(v, lo, hi, e, up, down)
    for done in range(most):
        i, least, worst = -1, FAR, -FAR
        for k in range(q):
            a = g[k] + up[k]
            if a < least:
                least, i = a, k
            b = g[k] + down[k]
            if b > worst:
                worst = b
        if i < 0 or not worst - least > tol:
            return done
        j, best = -1, 0.0
        own = Q[i, i]
        row = Q[i]
        for k in range(q):
            over = g[k] + down[k] - least
            if over > 0.0:
                gain = over * over / max(own + Q[k, k] - 2.0 * row[k], 1e-14 * (own + Q[k, k]) + 1e-300)
                if gain > best:
                    best, j = gain, k
        if j < 0:
            return done
        over = g[j] + down[j] - least
        step = over / max(own + Q[j, j] - 2.0 * row[j], 1e-14 * (own + Q[j, j]) + 1e-300)
        end_i, end_j = hi[i], lo[j]
        if e > 0.0 and v[i] < 0.0:
            end_i = min(end_i, 0.0)
        if e > 0.0 and v[j] > 0.0:
            end_j = max(end_j, 0.0)
        limit_i, limit_j = end_i - v[i], v[j] - end_j
        step = min(step, limit_i, limit_j)
        v[i] = end_i if step == limit_i else v[i] + step
        v[j] = end_j if step == limit_j else v[j] - step
        other = Q[j]
        for k in range(q):
            g[k] += step * (row[k] - other[k])
        for k in (i, j):
            up[k] = FAR if v[k] >= hi[k] else (e if v[k] >= 0.0 else -e)
            down[k] = -FAR if v[k] <= lo[k] else (e if v[k] > 0.0 else -e)
    return most


def singles(Q, g, v, lo, hi, e, up, down, tol, most):
    """The same without an equality: one entry at a time, that of the largest gain."""
    q = g.size
    reach(v, lo, hi, e, up, down)
    for done in range(most):
        i, best, worst = -1, 0.0, 0.0
        for k in range(q):
            over = max(-(g[k] + up[k]), g[k] + down[k])
            if over > 0.0:
                worst = max(worst, over)
                gain = over * over / (Q[k, k] + 1e-300)
                if gain > best:
                    best, i = gain, k
        if i < 0 or not worst > tol:
            return done
        rises = -(g[i] + up[i]) >= g[i] + down[i]
        over = -(g[i] + up[i]) if rises else g[i] + down[i]
        end = hi[i] if rises else lo[i]
        if e > 0.0 and rises and v[i] < 0.0:
            end = min(end, 0.0)
        if e > 0.0 and not rises and v[i] > 0.0:
            end = max(end, 0.0)
        limit = abs(end - v[i])
        step = min(over / (Q[i, i] + 1e-300), limit)
        signed = step if rises else -step
        v[i] = end if step == limit else v[i] + signed
        row = Q[i]
        for k in range(q):
            g[k] += signed * row[k]
        up[i] = FAR if v[i] >= hi[i] else (e if v[i] >= 0.0 else -e)
        down[i] = -FAR if v[i] <= lo[i] else (e if v[i] > 0.0 else -e)
    return most
