"""Loops over the samples of a machine for several classes. What a row is solved or moved by is linked in: see `rows` and `bcfw`."""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

FAR = -1e300
"""The gradient that classes have which a row does without: no step leads to them."""

MOST_DELAY = 64
"""Sweeps after which a row that did not change is looked at again, at the latest."""


def exact_sweep(rows, order, y, C, A, offset, c, scale, growth, W, b, a, sweep, due, delay, kept, sizes, q, new, d):
    """Solve the rows of `order` one after the other, exactly; returns how many changed.

    Row i looks at the first `sizes[i]` classes of `kept[i]`, the others having the multiplier 0 (`gap` says which). A row that does not change is
    due again after 1, 2, 4, ... sweeps, one that does at the next.
    """
    changed = 0
    k = q.size
    for at in range(order.size):
        i = order[at]
        own = y[i]
        if sizes[i] < k:
            for l in range(k):
                q[l] = FAR
            row_some(rows, i, c, W, b, kept[i], sizes[i], q)
        else:
            row_times(rows, i, c, W, b, q)
        for l in range(k):
            q[l] += offset[i, l]
        q[own] -= 1.0
        if A[i] > 0.0:
            solve_row(a[i], q, A[i], C[i], own, new)
        else:
            best_vertex(q, C[i], own, new)
        most = 0.0
        for l in range(k):
            d[l] = new[l] - a[i, l]
            most = max(most, abs(d[l]))
        if most <= 1e-14 * C[i]:
            due[i] = sweep + delay[i]
            delay[i] = min(MOST_DELAY, 2 * delay[i])
            continue
        due[i] = sweep + 1
        delay[i] = 1
        changed += 1
        for l in range(k):
            a[i, l] = new[l]
            b[l] += growth * d[l]
        row_outer(rows, i, scale, d, W)
    return changed


def frank_wolfe_steps(
    rows, order, y, C, A, offset, c, scale, growth, W, b, a, variant, count, q, new, d, worst, weston
):
    """A Frank-Wolfe step on each row of `order`, one after the other; returns how many changed.

    `variant`: 0 towards the best vertex, 1 that or away from the worst, whichever slopes more, 2 from the worst to the best. The step is the
    best along the segment, or with `count` >= 0 the oblivious 2 n / (t + 2 n), t counting from `count`.
    """
    changed = 0
    n = y.size
    k = q.size
    for at in range(order.size):
        i = order[at]
        own = y[i]
        row_times(rows, i, c, W, b, q)
        for l in range(k):
            q[l] += offset[i, l]
        q[own] -= 1.0
        best_vertex(q, C[i], own, new)
        slope = 0.0
        for l in range(k):
            d[l] = new[l] - a[i, l]
            slope -= d[l] * q[l]
        farthest_step = 1.0
        if variant > 0:
            weight = worst_vertex(a[i], q, C[i], own, worst)
            backward = 0.0
            for l in range(k):
                backward += (worst[l] - a[i, l]) * q[l]
            if variant == 2:
                # not the sum of two differences: what does not move must not, to the last bit
                slope += backward
                for l in range(k):
                    d[l] = new[l] - worst[l]
                farthest_step = reach(a[i], d, C[i], own, weston)
            elif backward > slope and (weston or weight < 1.0):
                slope = backward
                for l in range(k):
                    d[l] = a[i, l] - worst[l]
                farthest_step = reach(a[i], d, C[i], own, weston)
        if count >= 0:
            step = 2.0 * n / (count + at + 2.0 * n)
        else:
            square = 0.0
            for l in range(k):
                square += d[l] * d[l]
            if not slope > 0.0:
                continue
            curvature = A[i] * square
            step = slope / curvature if slope < farthest_step * curvature else farthest_step
        changed += 1
        total = 0.0
        for l in range(k):
            if l != own:
                after = min(a[i, l] + step * d[l], 0.0)
                # a full step ends on the boundary: what rounding leaves would be a vertex of its own
                if after < -C[i] * (1.0 - 1e-14):
                    after = -C[i]
                if -after < 1e-14 * C[i]:
                    after = 0.0
                d[l] = after - a[i, l]
                a[i, l] = after
                total -= after
        if not weston and total > C[i]:
            shrink = C[i] / total
            total = 0.0
            for l in range(k):
                if l != own:
                    d[l] += a[i, l] * (shrink - 1.0)
                    a[i, l] *= shrink
                    total -= a[i, l]
        d[own] = total - a[i, own]
        a[i, own] = total
        for l in range(k):
            b[l] += growth * d[l]
        row_outer(rows, i, scale, d, W)
    return changed


def gap(rows, y, C, offset, c, W, b, a, margin, kept, sizes, q, new):
    """sum_i <a_i - s_i, q_i> with the best vertices s_i: the duality gap.

    `kept[i]` takes the classes that row i looks at from now on, `sizes[i]` of them: its own, those with a multiplier, and those whose gradient is
    at most `margin` below the largest.
    """
    k = q.size
    total = 0.0
    for i in range(y.size):
        own = y[i]
        row_times(rows, i, c, W, b, q)
        top = -1e300
        for l in range(k):
            q[l] += offset[i, l]
        q[own] -= 1.0
        best_vertex(q, C[i], own, new)
        for l in range(k):
            total += (a[i, l] - new[l]) * q[l]
            top = max(top, q[l])
        count = 0
        for l in range(k):
            if l == own or a[i, l] != 0.0 or q[l] >= top - margin:
                kept[i, count] = l
                count += 1
        sizes[i] = count
    return total
