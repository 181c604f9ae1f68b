"""exp of an array, written so that LLVM vectorises it."""

NEAR = 0.34
"""Numbers up to it need no power of 2."""


def exponentials(a, c, most, bits, power, out):
    """out = exp(c a), c a cut to [-700, 700] and at most `most` in size; `power` is work space of the same length and `bits` its view as integers.

    exp(x) = 2^k exp(r) with k from the low bits of x log2(e) + 1.5 2^52 and a Taylor polynomial on |r| <= log(2) / 2: an ulp or two off, at a
    fifth of the time of `math.exp`. The two halves of log(2) are multiplied apart: call it compiled without reordering.
    """
    n = a.size
    if most <= NEAR:
        for j in range(n):
            r = c * a[j]
            e = r * (
                1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r / 479001600))))
            )
            out[j] = 1.0 + r * (1.0 + r * (0.5 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + e))))))
        return
    for j in range(n):
        x = min(max(c * a[j], -700.0), 700.0)
        power[j] = 6755399441055744.0 + 1.4426950408889634 * x
        k = power[j] - 6755399441055744.0
        r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10
        e = r * (1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r / 479001600)))))
        out[j] = 1.0 + r * (1.0 + r * (0.5 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + e))))))
    for j in range(n):
        bits[j] = (bits[j] << 52) + (1023 << 52)
    for j in range(n):
        out[j] *= power[j]
