"""One sample of a support vector machine for several classes: its predictions, its exact solution, its Frank-Wolfe steps.

A row a of k multipliers with sum 0, its gradient q, and its curvature A: f(a + d) = f(a) + <q, d> + A/2 |d|^2. Plain loops, compiled into
those that use them.
"""


def csr_times(rows, i, c, W, b, out):
    """out = c x_i W + b, W by rows."""
    indptr, indices, data = rows
    k = out.size
    for l in range(k):
        out[l] = b[l]
    for p in range(indptr[i], indptr[i + 1]):
        v = c * data[p]
        w = W[indices[p]]
        for l in range(k):
            out[l] += v * w[l]


def csr_outer(rows, i, c, d, W):
    """W += c x_i d', W by rows."""
    indptr, indices, data = rows
    k = d.size
    for p in range(indptr[i], indptr[i + 1]):
        v = c * data[p]
        w = W[indices[p]]
        for l in range(k):
            w[l] += v * d[l]


def dense_times(rows, i, c, W, b, out):
    """out = c x_i W + b, W by columns."""
    x = rows[0][i]
    for l in range(out.size):
        w = W[l]
        total = 0.0
        for j in range(x.size):
            total += x[j] * w[j]
        out[l] = c * total + b[l]


def csr_times_some(rows, i, c, W, b, some, count, out):
    """out_l = c x_i W_l + b_l for the first `count` classes l of `some`, W by rows."""
    indptr, indices, data = rows
    for e in range(count):
        out[some[e]] = b[some[e]]
    for p in range(indptr[i], indptr[i + 1]):
        v = c * data[p]
        w = W[indices[p]]
        for e in range(count):
            out[some[e]] += v * w[some[e]]


def dense_times_some(rows, i, c, W, b, some, count, out):
    """out_l = c x_i W_l + b_l for the first `count` classes l of `some`, W by columns."""
    x = rows[0][i]
    for e in range(count):
        l = some[e]
        w = W[l]
        total = 0.0
        for j in range(x.size):
            total += x[j] * w[j]
        out[l] = c * total + b[l]


def dense_outer(rows, i, c, d, W):
    """W += c x_i d', W by columns; classes that do not change are not touched."""
    x = rows[0][i]
    for l in range(d.size):
        if d[l] != 0.0:
            v = c * d[l]
            w = W[l]
            for j in range(x.size):
                w[j] += v * x[j]


def singer_row(a, q, A, C, y, out):
    """out = argmin <q, v> + A/2 |v - a|^2 over the row's set of Crammer and Singer.

    out = min(C e_y, v - t) with v = a - q / A and sum 0: p = C e_y - out is the projection of C e_y - v on the simplex of size C, its
    threshold found by Newton's method from the largest entry, which is monotone and ends exactly.
    """
    k = q.size
    top = -1e300
    for l in range(k):
        # p before the threshold
        p = q[l] / A - a[l]
        if l == y:
            p += C
        out[l] = p
        top = max(top, p)
    t = top - C
    count = 0
    for _ in range(k + 1):
        total = -C
        above = 0
        for l in range(k):
            if out[l] > t:
                total += out[l]
                above += 1
        if above == count:
            break
        count = above
        t = total / above
    total = 0.0
    for l in range(k):
        if l != y:
            p = max(out[l] - t, 0.0)
            out[l] = -p
            total += p
    if total > C:
        # by rounding
        for l in range(k):
            out[l] *= C / total
        total = C
    out[y] = total


def weston_row(a, q, A, C, y, out):
    """out = argmin <q, v> + A/2 |v - a|^2 over the row's set of Weston and Watkins.

    With g_l = -out_l for l != y: g_l = clip(-a_l + (q_l - q_y) / A - t, 0, C), t = sum g - sum of the old ones. The difference falls in t
    with slope at most -1: Newton's method inside a finite bracket of t, wider by C than it need be so that its ends can be stepped on; a step
    onto an end of it would cycle.
    """
    k = q.size
    old = 0.0
    size = C
    for l in range(k):
        if l != y:
            old -= a[l]
            out[l] = (q[l] - q[y]) / A - a[l]
            size = max(size, abs(out[l]))
    lo = -old - C
    hi = k * C - old
    t = 0.0
    for _ in range(100):
        rest = -old - t
        slope = 1
        for l in range(k):
            if l != y:
                g = out[l] - t
                rest += min(max(g, 0.0), C)
                if 0.0 < g < C:
                    slope += 1
        change = rest / slope
        if abs(change) <= 2.3e-16 * size:
            break
        if change > 0.0:
            lo = t
        else:
            hi = t
        new = t + change
        if not lo < new < hi:
            new = 0.5 * (lo + hi)
            if not lo < new < hi:
                break
        t = new
    total = 0.0
    for l in range(k):
        if l != y:
            g = min(max(out[l] - t, 0.0), C)
            out[l] = -g
            total += g
    out[y] = total


def singer_vertex(q, C, y, out):
    """out = the vertex s of Crammer and Singer's set with the least <q, s>: C (e_y - e_j) at the largest q_j, 0 where that is q_y."""
    first = y
    for l in range(q.size):
        out[l] = 0.0
        if q[l] > q[first]:
            first = l
    if first != y:
        out[first] = -C
        out[y] = C


def weston_vertex(q, C, y, out):
    """out = the vertex s of Weston and Watkins's set with the least <q, s>: -C wherever q_l > q_y."""
    total = 0.0
    for l in range(q.size):
        out[l] = 0.0
        if l != y and q[l] > q[y]:
            out[l] = -C
            total += C
    out[y] = total


def singer_away(a, q, C, y, out):
    """out = the vertex with the largest <q, s> among those that a is a mean of; returns its weight. The weights -a_l / C, 1 + sum / C are unique."""
    rest = C
    for l in range(q.size):
        out[l] = 0.0
        if l != y:
            rest += a[l]
    last = -1
    # a weight that is rounding is none
    if rest > 1e-14 * C:
        last = y
    for l in range(q.size):
        if l != y and a[l] < 0.0 and (last < 0 or q[l] < q[last]):
            last = l
    if last != y:
        out[last] = -C
        out[y] = C
    return (rest if last == y else -a[last]) / C


def weston_away(a, q, C, y, out):
    """out = the vertex with the largest <q, s> of the smallest face that a lies on; returns 1, for how far a step may go the entries tell.

    Its set is a box: a's weights on vertices are not unique, and none are kept (Garber, Meshulam 2016; Bashiri, Zhang 2017).
    """
    total = 0.0
    for l in range(q.size):
        if l != y:
            out[l] = 0.0 if a[l] >= 0.0 or (a[l] > -C and q[l] >= q[y]) else -C
            total -= out[l]
    out[y] = total
    return 1.0


def farthest(a, d, C, y, weston):
    """The largest g with a + g d in the row's set (given that the sum of d is 0)."""
    most = 1e300
    for l in range(d.size):
        if l != y:
            if d[l] > 0.0:
                most = min(most, -a[l] / d[l])
            elif weston and d[l] < 0.0:
                most = min(most, (a[l] + C) / -d[l])
    if not weston and d[y] > 0.0:
        most = min(most, (C - a[y]) / d[y])
    return max(most, 0.0)
