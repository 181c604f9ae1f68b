"""The loops of coordinate descent, by groups of coordinates: over the columns of a matrix with a residual kept, and over a Gram matrix with a
gradient kept. `column_dot`, `column_add`, `column_square`, `extra_dot` and `extra_add` are linked in (`kernels.compile`).

Group g, the coordinates from start[g] to start[g + 1], has the penalty c_g |x_g|_2 + thin_g |x_g|_1; one alone stays in lo <= x <= hi, and its
thin_g is 0. `size` bounds its second derivative, that of its ridge included; groups of size 0 stay where they are. The columns of a matrix come as
the rows of its transpose do in `backends.kernels.rows`; `extra` has columns of other maps as its rows, whose coordinates come first, one for each row
of the residual. Both loops return (epochs, measure): the measure bounds about what an epoch's violations of optimality cost, sum_i |v_i x_i| +
max_g |v_g| / c_g times the penalty.
"""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

import math

import numpy as np


def coordinate_minimum(x, slope, size, c, lo, hi):
    """argmin over u in [lo, hi] of slope (u - x) + size (u - x)^2 / 2 + c |u|."""
    a = x - slope / size
    threshold = c / size
    if a > threshold:
        a -= threshold
    elif a < -threshold:
        a += threshold
    else:
        a = 0.0
    return min(max(a, lo), hi)


def group_share(x, v, start, stop, size, c, thin):
    """The share of u = x - v / size, its entries first drawn thin / size nearer to 0, that is left of a group shrunk by c / size: u / |u| times
    max(|u| - c / size, 0). Puts u into v."""
    total = 0.0
    for i in range(start, stop):
        u = x[i] - v[i] / size
        v[i] = max(u - thin / size, 0.0) + min(u + thin / size, 0.0)
        total += v[i] * v[i]
    length = math.sqrt(total)
    return max(length - c / size, 0.0) / length if length > 0.0 else 0.0


def residual_epochs(
    columns,
    cols,
    tasks,
    extra,
    r,
    scale,
    slope,
    start,
    size,
    c,
    thin,
    ridge,
    lo,
    hi,
    x,
    rounds,
    enough,
    rough,
    trail,
    first,
    v,
):
    """Epochs of coordinate descent on scale |r|^2 / 2 + <slope, x> + sum_i ridge_i x_i^2 / 2 + the penalties, r changing by M dx, until the
    measure is `enough`, or the share `rough` of that of the first epoch, which `first` gets. Coordinate i moves row tasks[i] of r. `trail` gets x
    after each epoch; v is a buffer of the size of x."""
    # references are not counted in a kernel that makes no array and copies none: that took up to two thirds of the time of a short column
    tasked = r.shape[0]
    m = extra.shape[0] * tasked
    one = r.shape[0] == 1
    only = r[0]
    measure = 0.0
    for epoch in range(rounds):
        lean = 0.0
        worst = 0.0
        weight = 0.0
        for g in range(size.size):
            if not size[g] > 0.0:
                continue
            for i in range(start[g], start[g + 1]):
                rest = only if one else r[tasks[i]]
                dot = extra_dot((extra,), i // tasked, rest) if i < m else column_dot(columns, cols[i - m], rest)
                v[i] = scale * dot + slope[i] + ridge[i] * x[i]
            alone = start[g + 1] - start[g] == 1
            share = 0.0 if alone else group_share(x, v, start[g], start[g + 1], size[g], c[g], thin[g])
            moves = 0.0
            length = 0.0
            for i in range(start[g], start[g + 1]):
                old = x[i]
                new = coordinate_minimum(old, v[i], size[g], c[g], lo[i], hi[i]) if alone else share * v[i]
                step = new - old
                length += new * new
                weight += thin[g] * abs(new)
                if step != 0.0:
                    x[i] = new
                    rest = only if one else r[tasks[i]]
                    if i < m:
                        extra_add((extra,), i // tasked, step, rest)
                    else:
                        column_add(columns, cols[i - m], step, rest)
                    lean += abs(step) * size[g] * max(abs(new), abs(old))
                    moves += step * step
            if moves > 0.0 and c[g] > 0.0:
                worst = max(worst, math.sqrt(moves) * size[g] / c[g])
            weight += c[g] * math.sqrt(length)
        for i in range(x.size):
            trail[epoch, i] = x[i]
        measure = lean + worst * weight
        if epoch == 0:
            first[0] = measure
        if measure <= max(enough, rough * first[0]):
            return epoch + 1, measure
    return rounds, measure


def residual_entry_epochs(
    columns,
    cols,
    tasks,
    extra,
    r,
    scale,
    slope,
    size,
    c,
    ridge,
    lo,
    hi,
    x,
    rounds,
    enough,
    rough,
    trail,
    first,
    inverse,
):
    """`residual_epochs` of groups of one coordinate each, as most programs have them: a visit takes half of the time beside that of its column. Puts
    1 / size into `inverse`."""
    tasked = r.shape[0]
    m = extra.shape[0] * tasked
    one = r.shape[0] == 1
    only = r[0]
    measure = 0.0
    for i in range(size.size):
        inverse[i] = 1.0 / size[i] if size[i] > 0.0 else 0.0
    for epoch in range(rounds):
        lean = 0.0
        worst = 0.0
        weight = 0.0
        for i in range(size.size):
            turn = inverse[i]
            if not turn > 0.0:
                continue
            rest = only if one else r[tasks[i]]
            dot = extra_dot((extra,), i // tasked, rest) if i < m else column_dot(columns, cols[i - m], rest)
            old = x[i]
            cost = c[i]
            new = old - (scale * dot + slope[i] + ridge[i] * old) * turn
            threshold = cost * turn
            if new > threshold:
                new -= threshold
            elif new < -threshold:
                new += threshold
            else:
                new = 0.0
            new = min(max(new, lo[i]), hi[i])
            weight += cost * abs(new)
            step = new - old
            if step != 0.0:
                x[i] = new
                if i < m:
                    extra_add((extra,), i // tasked, step, rest)
                else:
                    column_add(columns, cols[i - m], step, rest)
                rise = abs(step) * size[i]
                lean += rise * max(abs(new), abs(old))
                # a division takes as long as a short column
                if rise > worst * cost and cost > 0.0:
                    worst = rise / cost
        for i in range(x.size):
            trail[epoch, i] = x[i]
        measure = lean + worst * weight
        if epoch == 0:
            first[0] = measure
        if measure <= max(enough, rough * first[0]):
            return epoch + 1, measure
    return rounds, measure


def gram_epochs(gram, slope, at, tasks, start, size, c, thin, lo, hi, x, rounds, enough, first, v):
    """The same on <slope, d> + d' gram d / 2 + the penalties, `slope` being kept at x; a coordinate that stays costs nothing. Coordinate i is that
    of row at[i] of `gram` for the task tasks[i], which has a row of `slope`: between tasks there are no products."""
    measure = 0.0
    for epoch in range(rounds):
        lean = 0.0
        worst = 0.0
        weight = 0.0
        for g in range(size.size):
            if not size[g] > 0.0:
                continue
            for i in range(start[g], start[g + 1]):
                v[i] = slope[tasks[i], at[i]]
            alone = start[g + 1] - start[g] == 1
            share = 0.0 if alone else group_share(x, v, start[g], start[g + 1], size[g], c[g], thin[g])
            moves = 0.0
            length = 0.0
            for i in range(start[g], start[g + 1]):
                old = x[i]
                new = coordinate_minimum(old, v[i], size[g], c[g], lo[i], hi[i]) if alone else share * v[i]
                step = new - old
                length += new * new
                weight += thin[g] * abs(new)
                if step != 0.0:
                    x[i] = new
                    own = slope[tasks[i]]
                    row = gram[at[i]]
                    for j in range(row.size):
                        own[j] += step * row[j]
                    lean += abs(step) * size[g] * max(abs(new), abs(old))
                    moves += step * step
            if moves > 0.0 and c[g] > 0.0:
                worst = max(worst, math.sqrt(moves) * size[g] / c[g])
            weight += c[g] * math.sqrt(length)
        measure = lean + worst * weight
        if epoch == 0:
            first[0] = measure
        if measure <= enough:
            return epoch + 1, measure
    return rounds, measure


def entry_epochs(gram, slope, at, tasks, size, c, lo, hi, x, rounds, enough, first):
    """`gram_epochs` of groups of one coordinate each, as most programs have them: it compiles in half of the time."""
    measure = 0.0
    for epoch in range(rounds):
        lean = 0.0
        worst = 0.0
        weight = 0.0
        for i in range(size.size):
            bend = size[i]
            if not bend > 0.0:
                continue
            cost = c[i]
            own = slope[tasks[i]]
            old = x[i]
            new = coordinate_minimum(old, own[at[i]], bend, cost, lo[i], hi[i])
            step = new - old
            weight += cost * abs(new)
            if step != 0.0:
                x[i] = new
                row = gram[at[i]]
                for j in range(row.size):
                    own[j] += step * row[j]
                rise = abs(step) * bend
                lean += rise * max(abs(new), abs(old))
                if cost > 0.0:
                    worst = max(worst, rise / cost)
        measure = lean + worst * weight
        if epoch == 0:
            first[0] = measure
        if measure <= enough:
            return epoch + 1, measure
    return rounds, measure


def group_grams(columns, cols, start, longest, length, out):
    """out[g] = M_g'M_g for the columns of group g, whose length is that of a sample's vector; zero beyond the group."""
    buffer = np.zeros(length)
    for g in range(start.size - 1):
        for i in range(start[g], start[g + 1]):
            column_add(columns, cols[i], 1.0, buffer)
            for j in range(i, start[g + 1]):
                dot = column_dot(columns, cols[j], buffer)
                out[g, i - start[g], j - start[g]] = dot
                out[g, j - start[g], i - start[g]] = dot
            for j in range(length):
                buffer[j] = 0.0


def sparse_gram(indptr, indices, data, cols, h, out):
    """out = A_C' diag(h) A_C for the columns in `cols`, each with those before it."""
    weighed = np.zeros(h.size)
    for i in range(cols.size):
        start, stop = indptr[cols[i]], indptr[cols[i] + 1]
        for k in range(start, stop):
            weighed[indices[k]] += h[indices[k]] * data[k]
        for j in range(i + 1):
            total = 0.0
            for k in range(indptr[cols[j]], indptr[cols[j] + 1]):
                total += data[k] * weighed[indices[k]]
            out[i, j] = total
            out[j, i] = total
        for k in range(start, stop):
            weighed[indices[k]] = 0.0


def column_squares(columns, cols, out):
    """|a_j|^2 for the columns in `cols`."""
    for i in range(cols.size):
        out[i] = column_square(columns, cols[i])


def column_dots(columns, cols, y, out):
    """a_j . y for the columns in `cols`."""
    for i in range(cols.size):
        out[i] = column_dot(columns, cols[i], y)


def column_sum(columns, cols, x, out):
    """out += the sum over i of x_i times column cols[i]."""
    for i in range(cols.size):
        if x[i] != 0.0:
            column_add(columns, cols[i], x[i], out)


def csr_row_square(rows, i):
    """|a_i|^2."""
    indptr, _indices, data = rows
    total = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        total += np.float64(data[k]) * data[k]
    return total


def dense_row_square(rows, i):
    """|a_i|^2."""
    A = rows[0]
    total = 0.0
    for j in range(A.shape[1]):
        total += np.float64(A[i, j]) * A[i, j]
    return total


def weighted_rows(indptr, indices, data, chosen, root, out_indptr, out_indices, out_data, squares):
    """The chosen rows, their entries times those of `root` in their columns, and the squares of their lengths."""
    at = 0
    for i in range(chosen.size):
        total = 0.0
        for k in range(indptr[chosen[i]], indptr[chosen[i] + 1]):
            entry = data[k] * root[indices[k]]
            out_indices[at] = indices[k]
            out_data[at] = entry
            total += entry * entry
            at += 1
        out_indptr[i + 1] = at
        squares[i] = total


def thinned_share(kty, order, start, stop, thin, room, share):
    """The largest s <= `share` at which the entries of s kty, drawn `thin` nearer to 0, are at most `room` long.

    That length is convex in s: Newton's steps go down to it. Without `thin` the first one is there."""
    for _ in range(50):
        squares = 0.0
        rise = 0.0
        for k in range(start, stop):
            size = abs(kty[order[k]])
            near = max(share * size - thin, 0.0)
            squares += near * near
            rise += near * size
        length = math.sqrt(squares)
        if length <= room or rise <= 0.0:
            break
        lower = share - (length - room) * length / rise
        if not lower < share:
            break
        share = max(lower, 0.0)
    return share


def survey_entries(x, kty, order, start, c, ridge, lo, hi, q, length, out):
    """`survey_groups` of groups of one coordinate, which stay in [lo, hi]; leaves the others alone."""
    share = 1.0
    for g in range(start.size - 1):
        if start[g + 1] - start[g] != 1:
            continue
        j = order[start[g]]
        at = x[j]
        rise = kty[j]
        cost = c[g]
        u = -(rise + q[j] + ridge[j] * at)
        right = cost if at >= 0.0 else -cost
        if at >= hi[j]:
            right = math.inf
        left = cost if at > 0.0 else -cost
        if at <= lo[j]:
            left = -math.inf
        out[j] = max(u - right, left - u, 0.0) / length[j]
        if ridge[j] == 0.0 and rise != 0.0:
            bounded = lo[j] != -math.inf
            room = cost - q[j]
            if rise < 0.0:
                rise = -rise
                bounded = hi[j] != math.inf
                room = cost + q[j]
            if not bounded and room > 0.0 and rise * share > room:
                share = room / rise
    return share


def survey_groups(x, kty, order, start, c, thin, ridge, q, length, share, out):
    """out_j = the distance of u = -(kty + q + ridge x) from the subdifferential of the penalty at x, in the group of j, over its length.

    Group g has the coordinates order[start[g] : start[g + 1]], more than one, and the penalty c_g |x_g| + thin_g |x_g|_1. Returns the largest s
    in [0, share] with -(q + s kty) in the domain of the conjugate, as far as that takes a positive s.
    """
    for g in range(start.size - 1):
        if start[g + 1] - start[g] == 1:
            continue
        j = order[start[g]]
        size = 0.0
        for k in range(start[g], start[g + 1]):
            size += x[order[k]] * x[order[k]]
        size = math.sqrt(size)
        miss = 0.0
        least = 0.0
        most = 0.0
        flat = ridge[j] == 0.0
        for k in range(start[g], start[g + 1]):
            i = order[k]
            u = -(kty[i] + q[i] + ridge[i] * x[i])
            if size > 0.0:
                u -= c[g] * x[i] / size
            if x[i] != 0.0:
                u -= math.copysign(thin[g], x[i])
            else:
                u = max(u - thin[g], 0.0) + min(u + thin[g], 0.0)
            miss += u * u
            least += q[i] * q[i]
            near = max(share * abs(kty[i]) - thin[g], 0.0)
            most += near * near
        miss = math.sqrt(miss)
        miss = miss if size > 0.0 else max(miss - c[g], 0.0)
        room = c[g] - math.sqrt(least)
        if flat and room > 0.0 and math.sqrt(most) > room:
            share = thinned_share(kty, order, start[g], start[g + 1], thin[g], room, share)
        for k in range(start[g], start[g + 1]):
            out[order[k]] = miss / length[order[k]]
    return share


def conjugate_entries(kty, share, order, start, c, ridge, lo, hi, q):
    """The sum over groups of one coordinate of sup v x - c |x| - ridge x^2 / 2 over [lo, hi] at v = -(q + share kty).

    Those that are infinite are left out."""
    total = 0.0
    for g in range(start.size - 1):
        if start[g + 1] - start[g] != 1:
            continue
        j = order[start[g]]
        v = -(q[j] + share * kty[j])
        slack = abs(v) - c[g]
        best = 0.0
        if slack > 0.0:
            best = slack / ridge[j] if ridge[j] > 0.0 else math.inf
            if v < 0.0:
                best = -best
        best = min(max(best, lo[j]), hi[j])
        if abs(best) == math.inf:
            best = min(max(0.0, lo[j]), hi[j])
        total += v * best - c[g] * abs(best) - 0.5 * ridge[j] * best * best
    return total


def conjugate_groups(kty, share, order, start, c, thin, ridge, q):
    """The same of larger groups, over all x: sup <v, x> - c |x| - thin |x|_1 - ridge |x|^2 / 2."""
    total = 0.0
    for g in range(start.size - 1):
        j = order[start[g]]
        if start[g + 1] - start[g] == 1 or not ridge[j] > 0.0:
            continue
        size = 0.0
        for k in range(start[g], start[g + 1]):
            near = max(abs(q[order[k]] + share * kty[order[k]]) - thin[g], 0.0)
            size += near * near
        near = max(math.sqrt(size) - c[g], 0.0)
        total += 0.5 * near * near / ridge[j]
    return total
