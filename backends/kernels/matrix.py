"""Products with matrices: plain loops over arrays, compiled by `kernel`. Sums are in float64 whatever the data.

A sparse matrix comes as (indptr, indices, data) by rows; the same arrays by columns are its transpose by rows, so one gather
serves A x (over CSR) and A'y (over CSC). Index arrays are viewed as unsigned, and so are columns that do not begin at 0: the
wrap-around test of signed ones halves the speed. The dense loops may be compiled to add in any order (a sum of products then fills
vector registers, and each row's order is still fixed); the gathers may not, which would make them several times slower.
"""

import numpy as np


def csr_matvec(indptr, indices, data, x, out, r0, r1):
    """out[r] = row r . x for r0 <= r < r1."""
    for r in range(r0, r1):
        total = 0.0
        for k in range(indptr[r], indptr[r + 1]):
            total += data[k] * x[indices[k]]
        out[r] = total


def leaf_starts(indptr, indices, cuts, out):
    """out[r, l] = where the entries of row r with an index of at least cuts[l] begin, and out[r, last] where they end; False where indices fall."""
    count = cuts.size
    for r in range(indptr.size - 1):
        last = cuts[0]
        l = 0
        for k in range(indptr[r], indptr[r + 1]):
            here = indices[k]
            if here < last:
                return False
            last = here
            while l < count and cuts[l] <= here:
                out[r, l] = k
                l += 1
        while l <= count:
            out[r, l] = indptr[r + 1]
            l += 1
    return True


def csr_matvec_leaves(starts, indices, data, x, out, r0, r1):
    """out[r] = row r . x for r0 <= r < r1: the tree sum (`fwdsl.sums`) of the parts of the row that begin at starts[r]."""
    count = starts.shape[1] - 1
    part = np.empty(count)
    for r in range(r0, r1):
        for l in range(count):
            total = 0.0
            for k in range(starts[r, l], starts[r, l + 1]):
                total += data[k] * x[indices[k]]
            part[l] = total
        step = 1
        while step < count:
            for l in range(0, count - step, 2 * step):
                part[l] += part[l + step]
            step *= 2
        out[r] = part[0]


def csr_scatter(indptr, indices, data, rows, x, out):
    """out += the sum over r in `rows`, in their order, of x[r] * row r."""
    for r in rows:
        xr = x[r]
        for k in range(indptr[r], indptr[r + 1]):
            out[indices[k]] += data[k] * xr


def count_columns(indices, counts):
    """counts[j] += how often j is among the indices."""
    for k in range(indices.size):
        counts[indices[k]] += 1


def csc_rows(indptr, indices, data, chosen, last, at, out_indices, out_data):
    """The chosen columns by rows, the i-th as i. at[r] is where row r begins, and becomes where it ends; what stands twice is added up.

    `last` is -1 everywhere. With no room for the entries, only `at` moves.
    """
    writes = out_indices.size > 0
    for i in range(chosen.size):
        for k in range(indptr[chosen[i]], indptr[chosen[i] + 1]):
            r = indices[k]
            if last[r] != i:
                last[r] = i
                if writes:
                    out_indices[at[r]] = i
                    out_data[at[r]] = data[k]
                at[r] += 1
            elif writes:
                out_data[at[r] - 1] += data[k]


def csr_gram(indptr, indices, data, place, longest, d, out, r0, r1):
    """out += the upper triangle of the sum over r0 <= r < r1 of d[r] a a', a the entries of row r at the columns with place >= 0.

    place[j] is a column's position in `out`, or -1; `longest` bounds the entries of a row. Indices may come in any order, and twice.
    """
    at = np.empty(longest, np.int64)
    value = np.empty(longest)
    for r in range(r0, r1):
        weight = d[r]
        if weight == 0.0:
            continue
        size = 0
        for k in range(indptr[r], indptr[r + 1]):
            i = place[indices[k]]
            if i >= 0:
                at[size] = i
                value[size] = data[k]
                size += 1
        for k in range(size):
            i = at[k]
            scaled = weight * value[k]
            out[i, i] += scaled * value[k]
            for m in range(k + 1, size):
                j = at[m]
                product = scaled * value[m]
                if i < j:
                    out[i, j] += product
                elif i > j:
                    out[j, i] += product
                else:
                    out[i, i] += 2.0 * product


def dense_matvec(A, x, out, r0, r1):
    """out[r] = A[r] . x for r0 <= r < r1."""
    for r in range(r0, r1):
        total = 0.0
        for j in range(A.shape[1]):
            total += A[r, j] * x[j]
        out[r] = total


def dense_matvec_leaves(A, x, cuts, out, r0, r1):
    """out[r] = A[r] . x for r0 <= r < r1: the tree sum (`fwdsl.sums`) of its parts from cuts[l] to cuts[l + 1]."""
    count = cuts.size - 1
    part = np.empty(count)
    for r in range(r0, r1):
        for l in range(count):
            row, own = A[r, cuts[l] : cuts[l + 1]], x[cuts[l] : cuts[l + 1]]
            total = 0.0
            for j in range(row.size):
                total += row[j] * own[j]
            part[l] = total
        step = 1
        while step < count:
            for l in range(0, count - step, 2 * step):
                part[l] += part[l + step]
            step *= 2
        out[r] = part[0]


def dense_rmatvec(A, y, out, r0, r1, c0, c1):
    """out[j] += the sum over r0 <= r < r1 of y[r] A[r, j], for c0 <= j < c1."""
    first, last = np.uint64(c0), np.uint64(c1)
    r = r0
    # four rows at a time: out is loaded and stored a quarter as often
    while r + 3 < r1:
        y0 = y[r]
        y1 = y[r + 1]
        y2 = y[r + 2]
        y3 = y[r + 3]
        for j in range(first, last):
            out[j] += A[r, j] * y0 + A[r + 1, j] * y1 + A[r + 2, j] * y2 + A[r + 3, j] * y3
        r += 4
    while r < r1:
        yr = y[r]
        for j in range(first, last):
            out[j] += A[r, j] * yr
        r += 1


def dense_rmatvec_leaves(A, y, cuts, nodes, out):
    """out = the sum of y[r] A[r] for cuts[0] <= r < cuts[last]: the tree sum (`fwdsl.sums`) of those from cuts[l] to cuts[l + 1].

    `nodes` has room for the nodes that wait for each other: a row for each level of the tree.
    """
    waiting = 0
    for l in range(cuts.size - 1):
        part = nodes[waiting]
        for j in range(part.size):
            part[j] = 0.0
        dense_rmatvec(A, y, part, cuts[l], cuts[l + 1], 0, A.shape[1])
        at = l
        while at % 2 == 1:
            waiting -= 1
            left, right = nodes[waiting], nodes[waiting + 1]
            for j in range(left.size):
                left[j] += right[j]
            at //= 2
        waiting += 1
    while waiting > 1:
        waiting -= 1
        left, right = nodes[waiting - 1], nodes[waiting]
        for j in range(left.size):
            left[j] += right[j]
    for j in range(out.size):
        out[j] = nodes[0, j]


def dense_scatter(A, rows, x, out, c0, c1):
    """out[j] += the sum over r in `rows`, in their order, of x[r] A[r, j], for c0 <= j < c1."""
    first, last = np.uint64(c0), np.uint64(c1)
    for r in rows:
        xr = x[r]
        for j in range(first, last):
            out[j] += A[r, j] * xr


def dense_matvec_columns_leaves(A, columns, cuts, x, out, r0, r1):
    """out[r] = the sum over j in `columns` of A[r, j] x[j], for r0 <= r < r1: the tree sum of those from columns[cuts[l]] to columns[cuts[l + 1]]."""
    count = cuts.size - 1
    part = np.empty(count)
    for r in range(r0, r1):
        for l in range(count):
            total = 0.0
            for k in range(cuts[l], cuts[l + 1]):
                j = columns[k]
                total += A[r, j] * x[j]
            part[l] = total
        step = 1
        while step < count:
            for l in range(0, count - step, 2 * step):
                part[l] += part[l + step]
            step *= 2
        out[r] = part[0]


def dense_matvec_columns(A, columns, x, out, r0, r1):
    """out[r] = the sum over j in `columns` of A[r, j] x[j], for r0 <= r < r1."""
    for r in range(r0, r1):
        total = 0.0
        for j in columns:
            total += A[r, j] * x[j]
        out[r] = total


def scaled_rows(A, w, out):
    """out[r] = w[r] A[r], A in the precision of `out` and w, as NumPy takes it."""
    for r in range(w.size):
        wr = w[r]
        for j in range(A.shape[1]):
            out[r, j] = A[r, j]
            out[r, j] *= wr


def pair_products(K, out):
    """out[i] = the products K_ij K_il of the entries of row i, for j <= l, row after row of the triangle."""
    n, q = K.shape
    for i in range(n):
        row, into = K[i], out[i]
        at = 0
        for j in range(q):
            x = row[j]
            for l in range(j, q):
                into[at + l - j] = x * row[l]
            at += q - j


def products_of_columns(A, b, of, classes, out):
    """out[w] = A[of[w]] b[classes[w]], entry by entry: the weighted columns of entries (of[w], classes[w]) of a matrix."""
    for w in range(of.size):
        x, y, into = A[of[w]], b[classes[w]], out[w]
        for i in range(x.size):
            into[i] = x[i] * y[i]


def csr_row_squares(rows, out):
    """|a_i|^2 for every row."""
    indptr, _, data = rows
    for i in range(out.size):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += float(data[k]) * float(data[k])
        out[i] = total
