"""Kernels of dual coordinate descent, in the notation of `backends.signed_dual`. `row_dot`, `row_add` and `row_size` are linked in."""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"


def sweep(rows, c, index, keep, v, x, extra, d, step_x, step_b, H, s, t, e, lo, hi, bar):
    """Exact steps on the entries of `index`, in place; `keep` is false where an entry stands at an end by more than `bar`.

    x = (c A'v - q) / mu is kept up to date, and the intercept extra[0] likewise. Returns the largest violation and the numbers touched.
    """
    worst, touched = 0.0, 0
    for at in range(index.size):
        j = index[at]
        g = c * row_dot(rows, j, x) + d * extra[0] + s[j] * v[j] - t[j]
        touched += row_size(rows, j)
        old = v[j]
        up = g + (e if old >= 0.0 else -e)
        down = g + (e if old > 0.0 else -e)
        rises = up < 0.0 and old < hi[j]
        falls = down > 0.0 and old > lo[j]
        if not rises and not falls:
            far = True
            if old < hi[j] and not up > bar:
                far = False
            if old > lo[j] and not -down > bar:
                far = False
            keep[at] = not far
            continue
        worst = max(worst, -up if rises else down)
        h = H[j] + s[j]
        if h > 0.0:
            new = old - g / h
            # the kink at 0
            if e > 0.0:
                new = max(new - e / h, 0.0) if new > 0.0 else min(new + e / h, 0.0)
            new = min(max(new, lo[j]), hi[j])
        else:
            # a sample without features: its dual is linear, with the kink an end of each side
            new = hi[j] if rises else lo[j]
            if e > 0.0 and ((rises and old < 0.0) or (falls and old > 0.0)):
                new = 0.0
        if new != old:
            v[j] = new
            row_add(rows, j, step_x * (new - old), x)
            extra[0] += step_b * (new - old)
            touched += row_size(rows, j)
    return worst, touched


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
