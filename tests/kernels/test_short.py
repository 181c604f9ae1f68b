"""The short compiler of kernels: it computes what numba's own does, and leaves the references to arrays as they were."""

# Kernels are written for numba: without annotations.
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

from fwdsl.backends.kernels.short import ShortCompiler


def total(a):
    found = 0.0
    for i in range(a.size):
        found += a[i]
    return found


def of_rows(A):
    found = 0.0
    for row in A:
        part = row[1:]
        for i in range(part.size):
            found += part[i]
    return found


def of_tuple(both):
    a, b = both
    return a[0] + b[1]


def turns(a, b):
    for _ in range(3):
        a, b = b, a
    return a[0]


def kernel_of_parts(a):
    return summed(a[1:]) + summed(a)


def closure(a):
    def more(x):
        return x + 1.0

    return more(a[0])


def unpacked(a):
    one, two = pair(a[0])
    return one * two


PLAIN = [total, of_rows, of_tuple, turns, kernel_of_parts, closure, unpacked]


def given_back(a):
    return a


def part_of(a):
    return a[1:]


def fresh(a):
    out = np.empty(a.size)
    for i in range(a.size):
        out[i] = 2.0 * a[i]
    return out


def expression(a):
    return (a * a + 1.0).sum()


def assigned(a, b):
    a[1:] = b[1:]
    return a[1]


def shifted(a):
    a[1:] = a[:-1]
    return a[2]


def chosen(a, at):
    found = a[at]
    found[0] += 1.0
    return found[0]


def placed(a, at, b):
    a[at] = b[: at.size]
    return a[1]


def masked(a):
    return a[a > 1.5].size


def added(a, b):
    a += b
    return a[0]


def listed(a):
    return len([2.0 * x for x in a])


def of_library(A, a):
    return np.dot(A, a[:2])[0] + np.linalg.norm(a)


COUNTED = [given_back, part_of, fresh, expression, assigned, shifted, chosen, placed, masked, added, listed, of_library]


def short(fn: Callable[..., Any], **options: str) -> Any:
    return numba.njit(pipeline_class=ShortCompiler, error_model="numpy", **options)(fn)


def twice(x):
    return x, x + 1.0


summed, pair = short(total), short(twice, inline="always")


def arguments(fn: Callable[..., Any]) -> list[Any]:
    a, b = np.arange(1.0, 5.0), np.full(4, 0.5)
    known = {"a": a, "b": b, "A": np.arange(6.0).reshape(3, 2), "both": (a, b), "at": np.array([2, 1])}
    return [known[name] for name in fn.__code__.co_varnames[: fn.__code__.co_argcount]]


@pytest.mark.parametrize("fn", PLAIN + COUNTED)
def test_kernels_compute_what_they_say_and_keep_references(fn: Callable[..., Any]) -> None:
    compiled, own, others = short(fn), arguments(fn), arguments(fn)
    arrays = [x for x in own if isinstance(x, np.ndarray)]
    compiled(*own)
    fn(*others)
    before = [sys.getrefcount(x) for x in arrays]
    for _ in range(20):
        found = compiled(*own)
        np.testing.assert_allclose(found, fn(*others))
        del found
    assert [sys.getrefcount(x) for x in arrays] == before
    for x, y in zip(own, others, strict=True):
        np.testing.assert_allclose(x, y)


@pytest.mark.parametrize("fn", PLAIN + COUNTED)
def test_references_are_counted_where_arrays_are_made(fn: Callable[..., Any]) -> None:
    compiled = short(fn)
    compiled(*arguments(fn))
    (signature,) = compiled.signatures
    assert ("NRT_incref" in compiled.inspect_llvm(signature) or "NRT_decref" in compiled.inspect_llvm(signature)) == (
        fn in COUNTED
    )


def test_what_is_remembered_of_numbers_is_by_their_kinds() -> None:
    """One operator of several kinds of numbers within a kernel."""

    def mixed(a, n, k):
        return a * a + n * n + (n // k) + (a // k) + (n / k)

    assert short(mixed)(1.5, 7, 2) == mixed(1.5, 7, 2)
    assert short(mixed)(7, 1.5, np.float32(2)) == mixed(7, 1.5, np.float32(2))
