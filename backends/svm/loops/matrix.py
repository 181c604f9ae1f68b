"""Vertices of all rows at once, as codes: the class that a row of Crammer and Singer's set moves to (its own: none), a 0 or 1 for each class of a
row of Weston and Watkins's."""


def singer_codes(q, C, y, codes):
    """codes = the vertices with the least <q, s>; returns that product."""
    n, k = q.shape
    total = 0.0
    for i in range(n):
        first = y[i]
        for l in range(k):
            if q[i, l] > q[i, first]:
                first = l
        codes[i, 0] = first
        total -= C[i] * (q[i, first] - q[i, y[i]])
    return total


def weston_codes(q, C, y, codes):
    """codes = the vertices with the least <q, s>; returns that product."""
    n, k = q.shape
    total = 0.0
    for i in range(n):
        own = q[i, y[i]]
        for l in range(k):
            codes[i, l] = 0
            if q[i, l] > own:
                codes[i, l] = 1
                total -= C[i] * (q[i, l] - own)
    return total


def singer_place(codes, scale, C, y, out):
    """out += scale s."""
    for i in range(y.size):
        l = codes[i, 0]
        if l != y[i]:
            out[i, l] -= scale * C[i]
            out[i, y[i]] += scale * C[i]


def weston_place(codes, scale, C, y, out):
    """out += scale s."""
    for i in range(y.size):
        total = 0.0
        for l in range(out.shape[1]):
            if codes[i, l]:
                out[i, l] -= scale * C[i]
                total += scale * C[i]
        out[i, y[i]] += total


def singer_product(codes, q, C, y):
    """<q, s>."""
    total = 0.0
    for i in range(y.size):
        total += C[i] * (q[i, y[i]] - q[i, codes[i, 0]])
    return total


def weston_product(codes, q, C, y):
    """<q, s>."""
    total = 0.0
    for i in range(y.size):
        own = q[i, y[i]]
        for l in range(q.shape[1]):
            if codes[i, l]:
                total += C[i] * (own - q[i, l])
    return total
