"""Kernels of cones of three rows that are not symmetric: exponential cones (a = 0) and power cones (0 < a < 1).

The dual barrier is f*(z) = -log psi(z) - sum_j beta_j log |z_j|, of degree 3, with

    exponential   psi = z_1 - z_0 - z_0 log(-z_2 / z_0),                              beta = (1, 0, 1)
    power         psi = (z_0 / a)^(2 a) (z_1 / (1 - a))^(2 - 2 a) - z_2^2,            beta = (1 - a, a, 0)

and f, the primal barrier, is its conjugate: the gradient of f at s is -z where that of f* at z is -s. Points are rows of arrays (n, 3).

Sources: Dahl, Andersen, "A primal-dual interior-point algorithm for nonsymmetric exponential-cone optimization", 2022 (scaling, corrector,
centrality); Serrano, "Algorithms for unsymmetric cone optimization", 2015 (the gradient of f); Goulart, Chen 2024 (power cones).
"""

import math

CENTRED = 1e-7
"""mu mu~ - 1 up to which a point is on the central path for the scaling, which is the Hessian of the dual barrier there."""

HALVINGS, NEAR = 60, 1e-3
"""Halvings of the interval in which a ray leaves a cone, and the relative length of it that ends them."""


def potential(a, x, y, w):
    """psi at (x, y, w), its gradient, and its second derivatives 00, 01, 11, 02, 22."""
    if a == 0.0:
        ratio = -w / x
        l = math.log(ratio)
        return y - x - x * l, -l, 1.0, 1.0 / ratio, 1.0 / x, 0.0, 0.0, -1.0 / w, x / (w * w)
    b = 1.0 - a
    root = math.exp(a * math.log(x / a) + b * math.log(y / b))
    phi = root * root
    p, q = 2.0 * a, 2.0 * b
    return (
        (root - w) * (root + w),
        p * phi / x,
        q * phi / y,
        -2.0 * w,
        p * (p - 1.0) * phi / (x * x),
        p * q * phi / (x * y),
        q * (q - 1.0) * phi / (y * y),
        0.0,
        -2.0,
    )


def third_of_potential(a, x, y, w, u, v):
    """The vector of the third derivatives of psi in the directions u and v."""
    if a == 0.0:
        across = 1.0 / (w * w)
        return (
            -u[0] * v[0] / (x * x) + across * u[2] * v[2],
            0.0,
            across * (u[0] * v[2] + u[2] * v[0]) - 2.0 * x / (w * w * w) * u[2] * v[2],
        )
    b = 1.0 - a
    p, q = 2.0 * a, 2.0 * b
    root = math.exp(a * math.log(x / a) + b * math.log(y / b))
    phi = root * root
    d, e, f, g = u[0] / x, u[1] / y, v[0] / x, v[1] / y
    straight, mixed, other = p * (p - 1.0), p * q, q * (q - 1.0)
    return (
        phi / x * (straight * (p - 2.0) * d * f + straight * q * (d * g + e * f) + mixed * (q - 1.0) * e * g),
        phi / y * (other * (q - 2.0) * e * g + other * p * (d * g + e * f) + mixed * (p - 1.0) * d * f),
        0.0,
    )


def shares_of_logs(a):
    """beta."""
    if a == 0.0:
        return 1.0, 0.0, 1.0
    return 1.0 - a, a, 0.0


def order_of_pivots(a):
    """The order of the unknowns in which the factor of the Hessian is a triangle."""
    if a == 0.0:
        return 1, 0, 2
    return 2, 0, 1


def dual_barrier(a, z, g, R):
    """The gradient of f* at z into g (3,), and the factor R of its Hessian R'R into R (3, 3).

    Close to the boundary the Hessian is a square of the gradient of psi, beside which all else is rounding. R is made of the terms themselves.
    """
    x, y, w = z[0], z[1], z[2]
    if a == 0.0:
        psi, p0, _, p2, _, _, _, _, _ = potential(a, x, y, w)
        one = 1.0 / psi
        g[0], g[1], g[2] = -p0 * one - 1.0 / x, -one, -p2 * one - 1.0 / w
        # the rest is c q q' + diag(1 / x^2, 0, 1 / w^2) with q = (1, 0, -x / w)
        bent = -x * one
        R[0, 0], R[0, 1], R[0, 2] = p0 * one, one, p2 * one
        R[1, 0], R[1, 1], R[1, 2] = -math.sqrt(1.0 + bent) / x, 0.0, bent / math.sqrt(1.0 + bent) / w
        R[2, 0], R[2, 1], R[2, 2] = 0.0, 0.0, math.sqrt((1.0 + 2.0 * bent) / (1.0 + bent)) / w
        return
    b = 1.0 - a
    root = math.exp(a * math.log(x / a) + b * math.log(y / b))
    # psi = (root + w) (root - w)
    more, less = 1.0 / (root + w), 1.0 / (root - w)
    g[0], g[1], g[2] = -(a * root * (more + less) + b) / x, -(b * root * (more + less) + a) / y, less - more
    first, second = more * more, less * less
    both = first + second
    share = root * (first - second) / both
    R[0, 0], R[0, 1], R[0, 2] = math.sqrt(both) * share * a / x, math.sqrt(both) * share * b / y, math.sqrt(both)
    # the rest is diag(1 / x, 1 / y) [k + e, f - k; f - k, k + d] diag(1 / x, 1 / y)
    bent = root * a * b * (more + less)
    own = 4.0 * first * second / both * root * root
    e, f, d = b + own * a * a, own * a * b, a + own * b * b
    determinant = bent * (e + d + 2.0 * f) + a * b + own * (b * b * b + a * a * a)
    head = math.sqrt(bent + e)
    R[1, 0], R[1, 1], R[1, 2] = head / x, (f - bent) / head / y, 0.0
    R[2, 0], R[2, 1], R[2, 2] = 0.0, math.sqrt(determinant) / head / y, 0.0


def primal_gradient(a, s, g):
    """The gradient of f at s into g."""
    x, y, w = s[0], s[1], s[2]
    if a == 0.0:
        # 1 + e is the Wright omega function of 1 + rest; Newton from the left of the root of a concave function
        rest = math.log(w / y) - x / y
        e = 0.5 * rest if rest < 1.0 else rest - math.log1p(rest)
        for _ in range(50):
            change = (rest - e - math.log1p(e)) * (1.0 + e) / (2.0 + e)
            e += change
            if change <= 1e-16 * e:
                break
        g[0] = 1.0 / (e * y)
        g[1] = ((1.0 - x / y) / e - 2.0) / y
        g[2] = -(1.0 + e) / (e * w)
        return
    b = 1.0 - a
    if w == 0.0:
        r, g[2] = 0.0, 0.0
    else:
        # with v = 1 / r: a concave function, Newton from the left of its root
        rest = 2.0 * (a * math.log(x) + b * math.log(y) - math.log(abs(w)))
        c, d = 1.0 / a + 1.0, 1.0 / b + 1.0
        v = 0.25 * rest
        if rest > 4.0:
            # beside what it is for large v
            v = max(v, 0.5 * math.exp(min(700.0, rest + math.log(2.0) - 2.0 * (a * math.log(c) + b * math.log(d)))))
            if 2.0 * (a * math.log1p(c * v) + b * math.log1p(d * v)) - math.log1p(2.0 * v) > rest:
                v = 0.25 * rest
        for _ in range(200):
            over = rest - 2.0 * (a * math.log1p(c * v) + b * math.log1p(d * v)) + math.log1p(2.0 * v)
            change = over / (2.0 * (a * c / (1.0 + c * v) + b * d / (1.0 + d * v)) - 2.0 / (1.0 + 2.0 * v))
            v += change
            if change <= 1e-15 * v:
                break
        r = 1.0 / v
        g[2] = r / w
    g[0] = -(1.0 + a + a * r) / x
    g[1] = -(1.0 + b + b * r) / y


def is_inside(a, x, y, w):
    """True if (x, y, w) is in the interior of the cone."""
    if a == 0.0:
        return y > 0.0 and w > 0.0 and y * math.log(w / y) > x
    if not (x > 0.0 and y > 0.0):
        return False
    return w == 0.0 or a * math.log(x) + (1.0 - a) * math.log(y) > math.log(abs(w))


def is_inside_dual(a, x, y, w):
    """True if (x, y, w) is in the interior of the dual cone."""
    if a == 0.0:
        return x < 0.0 and w > 0.0 and y - x - x * math.log(-w / x) > 0.0
    return is_inside(a, x / a, y / (1.0 - a), w)


def all_inside(a, s, dual):
    """True if all rows are in the interiors of their cones, or of the dual ones."""
    for i in range(s.shape[0]):
        if dual:
            if not is_inside_dual(a, s[i, 0], s[i, 1], s[i, 2]):
                return False
        elif not is_inside(a, s[i, 0], s[i, 1], s[i, 2]):
            return False
    return True


def reach_in_cones(a, s, d, dual, longest):
    """The largest t up to `longest`, to a small share of it, for which all s + t d are inside."""
    t = longest
    for i in range(s.shape[0]):
        least, most = 0.0, t
        for k in range(HALVINGS):
            at = most if k == 0 else 0.5 * (least + most)
            x, y, w = s[i, 0] + at * d[i, 0], s[i, 1] + at * d[i, 1], s[i, 2] + at * d[i, 2]
            if is_inside_dual(a, x, y, w) if dual else is_inside(a, x, y, w):
                least = at
            else:
                most = at
            if most - least <= NEAR * most:
                break
        t = least
    return t


def farthest(a, s, z, mu, g, h, R):
    """The largest mu <f'(s), f*'(z)> / 3 of the cones, which is 1 on the central path; g, h and R are workspace."""
    found = 1.0
    for i in range(s.shape[0]):
        primal_gradient(a, s[i], g)
        dual_barrier(a, z[i], h, R)
        value = mu * (g[0] * h[0] + g[1] * h[1] + g[2] * h[2]) / 3.0
        if not value <= found:
            found = value
    return found


def cross(u, v, out):
    """The vector at right angles to u and v, of length one; False where they are parallel."""
    x, y, w = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
    length = math.sqrt(x * x + y * y + w * w)
    if not length > 0.0:
        return False
    x, y, w = x / length, y / length, w / length
    # where they are nearly parallel, rounding of their product is along them
    share = (x * u[0] + y * u[1] + w * u[2]) / (u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    out[0], out[1], out[2] = x - share * u[0], y - share * u[1], w - share * u[2]
    return True


def inner(u, v):
    """<u, v>."""
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def scaling_by_secants(s, z, g, c, R, W, V, work):
    """Write W and V = W^-T with W z = W^-T s and W f'(s) = W^-T f*'(z), c being f'(s); False near the central path, where these are one condition."""
    products = inner(s, z)
    mu = products / 3.0
    if not mu * inner(g, c) / 3.0 - 1.0 > CENTRED:
        return False
    ds, dz, axis, other, bent = work[0], work[1], work[2], work[3], work[4]
    for j in range(3):
        ds[j], dz[j] = s[j] + mu * g[j], z[j] + mu * c[j]
        bent[j] = inner(R[j], c)
    across = inner(ds, dz)
    # what the Hessian has along the vector at right angles to f*'(z) and H f'(s)
    for j in range(3):
        other[j] = R[0, j] * bent[0] + R[1, j] * bent[1] + R[2, j] * bent[2]
    if not (cross(z, dz, axis) and cross(g, other, bent)):
        return False
    meet = inner(axis, bent)
    total = 0.0
    for j in range(3):
        along = inner(R[j], bent)
        total += along * along
    if not (across > 0.0 and meet != 0.0 and cross(s, ds, other)):
        return False
    root, side, last = math.sqrt(products), math.sqrt(across), math.sqrt(mu * total) / abs(meet)
    share = 1.0 / (last * inner(axis, other))
    for j in range(3):
        W[0, j], W[1, j], W[2, j] = s[j] / root, ds[j] / side, last * axis[j]
        V[0, j], V[1, j], V[2, j] = z[j] / root, dz[j] / side, share * other[j]
    return True


def scalings_of_three(a, s, z, W, V, G, H, work):
    """W with W z = W^-T s and V = W^-T of each cone, the gradients of f* into G and the factors of its Hessians into H; `work` has six vectors.

    W has the rows s / sqrt<s, z>, ds / sqrt<ds, dz> and sqrt(t) times the axis at right angles to z and dz, where ds = s + mu f*'(z) and
    dz = z + mu f'(s). t is what the rank-two update of Broyden, Fletcher, Goldfarb and Shanno leaves of the Hessian along it. Close to the central
    path W'W is mu times the Hessian.
    """
    i0, i1, i2 = order_of_pivots(a)
    for i in range(s.shape[0]):
        R, w, v = H[i], W[i], V[i]
        dual_barrier(a, z[i], G[i], R)
        primal_gradient(a, s[i], work[5])
        if scaling_by_secants(s[i], z[i], G[i], work[5], R, w, v, work):
            continue
        root = math.sqrt(inner(s[i], z[i]) / 3.0)
        for j in range(3):
            for k in range(3):
                w[j, k] = root * R[j, k]
                v[j, k] = 0.0
        one = 1.0 / root
        v[0, i0] = one / R[0, i0]
        v[1, i1], v[2, i2] = one / R[1, i1], one / R[2, i2]
        v[1, i0] = -v[1, i1] * R[0, i1] / R[0, i0]
        v[2, i1] = -v[2, i2] * R[1, i2] / R[1, i1]
        v[2, i0] = -(v[2, i1] * R[0, i1] + v[2, i2] * R[0, i2]) / R[0, i0]


def centring(a, s, z, G, H, ds, dz, mu, u, out):
    """s + mu f*'(z) - f*^(3)(z)[dz, H^-1 ds] / 2 of each cone, into `out`; u is workspace of three numbers."""
    i0, i1, i2 = order_of_pivots(a)
    for i in range(s.shape[0]):
        R, v, x, d = H[i], dz[i], z[i], ds[i]
        first = d[i0] / R[0, i0]
        second = (d[i1] - R[0, i1] * first) / R[1, i1]
        third = (d[i2] - R[0, i2] * first - R[1, i2] * second) / R[2, i2]
        u[i2] = third / R[2, i2]
        u[i1] = (second - R[1, i2] * u[i2]) / R[1, i1]
        u[i0] = (first - R[0, i1] * u[i1] - R[0, i2] * u[i2]) / R[0, i0]
        psi, p0, p1, p2, h00, h01, h11, h02, h22 = potential(a, x[0], x[1], x[2])
        b0, b1, b2 = shares_of_logs(a)
        t0, t1, t2 = third_of_potential(a, x[0], x[1], x[2], u, v)
        one = 1.0 / psi
        pu, pv = (p0 * u[0] + p1 * u[1] + p2 * u[2]) * one, (p0 * v[0] + p1 * v[1] + p2 * v[2]) * one
        hu0, hv0 = h00 * u[0] + h01 * u[1] + h02 * u[2], h00 * v[0] + h01 * v[1] + h02 * v[2]
        hu1, hv1 = h01 * u[0] + h11 * u[1], h01 * v[0] + h11 * v[1]
        hu2, hv2 = h02 * u[0] + h22 * u[2], h02 * v[0] + h22 * v[2]
        along = (u[0] * hv0 + u[1] * hv1 + u[2] * hv2) * one - 2.0 * pu * pv
        third0 = (along * p0 + pu * hv0 + pv * hu0 - t0) * one - 2.0 * b0 * u[0] * v[0] / (x[0] * x[0] * x[0])
        third1 = (along * p1 + pu * hv1 + pv * hu1 - t1) * one
        if b1 > 0.0:
            third1 -= 2.0 * b1 * u[1] * v[1] / (x[1] * x[1] * x[1])
        third2 = (along * p2 + pu * hv2 + pv * hu2 - t2) * one
        if b2 > 0.0:
            third2 -= 2.0 * b2 * u[2] * v[2] / (x[2] * x[2] * x[2])
        out[i, 0] = s[i, 0] + mu * G[i, 0] - 0.5 * third0
        out[i, 1] = s[i, 1] + mu * G[i, 1] - 0.5 * third1
        out[i, 2] = s[i, 2] + mu * G[i, 2] - 0.5 * third2
