"""Draws by running sums: an entry of weights, a feature of a class, a class of a row."""

BLOCK = 64
"""Entries whose weights are added up before one of them is looked for."""


def pick(weights, share, total):
    """The index where the running sum of the weights passes share * total; the last with a weight where rounding leaves none."""
    n = weights.size
    left = share * total
    first = 0
    while first < n:
        last = min(first + BLOCK, n)
        part = 0.0
        for j in range(first, last):
            part += weights[j]
        if part > left:
            for j in range(first, last):
                left -= weights[j]
                if left < 0.0:
                    return j
        else:
            left -= part
        first = last
    for j in range(n - 1, -1, -1):
        if weights[j] > 0.0:
            return j
    return 0


def pick_feature(column, product, sigma, blocks, share, total):
    """The index where the running sum of sigma_i U(., i) passes share * total, by `blocks`, the sums of each BLOCK of either sign.

    The column holds the first sign of U, and the second is product / column.
    """
    d = sigma.size
    in_half = (d + BLOCK - 1) // BLOCK
    left = share * total
    b = 0
    while b < blocks.size - 1 and left >= blocks[b]:
        left -= blocks[b]
        b += 1
    while b > 0 and not blocks[b] > 0.0:
        b -= 1
    half = b // in_half
    first = (b % in_half) * BLOCK
    last = min(first + BLOCK, d)
    found = first
    for i in range(first, last):
        w = sigma[i] * (column[i] if half == 0 else product / column[i])
        if w > 0.0:
            found = i
        left -= w
        if left < 0.0:
            break
    return half * d + found


def pick_class(V, groups, j, own, steady, share, total):
    """A class other than `own` where the running sum of V(., j) passes share * total; V(own, j) is 0.

    `groups` are sums of each BLOCK of classes, which spare most of the strided reads; where the row is not `steady` its entries are so
    much smaller than they were that the rounding of those sums would show.
    """
    k = V.shape[0]
    left = share * total
    g = 0
    if steady:
        while g < groups.shape[0] - 1 and left >= groups[g, j]:
            left -= groups[g, j]
            g += 1
    for l in range(g * BLOCK, k):
        left -= V[l, j]
        if left < 0.0 and V[l, j] > 0.0:
            return l
    last = k - 1
    while last == own or (last > 0 and not V[last, j] > 0.0):
        last -= 1
    return last
