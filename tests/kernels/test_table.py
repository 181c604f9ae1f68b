"""A second table of kernels, over an array library that NumPy cannot look into, solves a problem to the same certificate."""

import math

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.functions import FastLoss, FastVector
from fwdsl.backends.kernels.storage import Dense
from fwdsl.backends.table import NUMBA, Table, in_use, use


class Device:
    """An array of another library: what is in it is only had by `fetch`, and arithmetic stays with it."""

    moved = 0

    def __init__(self, numbers):
        self._numbers = numbers

    @classmethod
    def put(cls, array):
        cls.moved += 1
        return cls(np.array(array, dtype=np.float64))

    def fetch(self):
        Device.moved += 1
        return self._numbers.copy()

    def __array__(self, *_, **__):
        raise TypeError("it lies on another device")

    def _with(self, fn, other):
        return Device(fn(self._numbers, other._numbers if isinstance(other, Device) else other))

    def __matmul__(self, other):
        return self._with(np.matmul, other)

    def __mul__(self, other):
        return self._with(np.multiply, other)

    def __truediv__(self, other):
        return self._with(np.divide, other)

    def __add__(self, other):
        return self._with(np.add, other)

    @property
    def T(self):
        return Device(self._numbers.T)

    def __getitem__(self, at):
        return Device(self._numbers[at])

    def apply(self, name):
        return Device(getattr(np, name)(self._numbers))

    def sum(self):
        return float(self._numbers.sum())


class DeviceMatrix(Dense):
    """A dense matrix on the device; only vectors move."""

    def __init__(self, A, leaves):
        super().__init__(np.ascontiguousarray(A), False, leaves)
        self.on_device, self.products = Device.put(A), 0
        self.store = None  # whoever would read the numbers here fails

    def matvec(self, x, out, pool):
        self.products += 1
        out[:] = (self.on_device @ Device.put(x)).fetch()

    def rmatvec(self, y, out, pool):
        self.products += 1
        out[:] = (self.on_device.T @ Device.put(y)).fetch()

    def matvec_columns(self, x, support, out, pool):
        self.matvec(x, out, pool)

    def rmatvec_rows(self, y, rows, out, pool):
        self.rmatvec(y, out, pool)

    def gram(self, support, d, pool, plan=None, single=False):
        chosen = self.on_device if support is None else self.on_device[:, support]
        return (chosen.T @ (Device.put(d[:, None]) * chosen)).fetch()


class DeviceLogistic(FastLoss):
    """w log(1 + exp(-b z)), fused with its slope."""

    def value(self, z):
        return self.value_gradient(z, np.empty_like(z))

    def value_gradient(self, z, out):
        b, w = Device.put(self.f.b), Device.put(self.f.w)
        t = Device.put(z) * b
        # log(1 + e^-t) = max(-t, 0) + log1p(e^-|t|)
        e = (t.apply("abs") * -1.0).apply("exp")
        left = Device.put(np.maximum(-t.fetch(), 0.0))
        slope = b * w * -1.0 / ((t.apply("exp")) + 1.0)
        out[:] = slope.fetch()
        return (w * (left + e.apply("log1p"))).sum()


class DeviceBall(FastVector):
    """The projection on an l1 ball, by sorting."""

    def prox(self, v, t, out):
        radius = self.f.r
        size = Device.put(v).apply("abs").fetch()
        if size.sum() <= radius:
            out[:] = v
            return
        ordered = np.sort(size)[::-1]
        excess = np.cumsum(ordered) - radius
        k = np.flatnonzero(ordered * np.arange(1, v.size + 1) > excess)[-1]
        out[:] = np.sign(v) * np.maximum(size - excess[k] / (k + 1.0), 0.0)


class DeviceTable(Table):
    """The table of the device, for what it has."""

    def __init__(self):
        self.matrices = []

    def storage(self, A, leaves):
        if not isinstance(A, np.ndarray):
            return super().storage(A, leaves)
        self.matrices.append(DeviceMatrix(A, leaves))
        return self.matrices[-1]

    def loss(self, term, pool):
        if term.f.name != "logistic":
            return super().loss(term, pool)
        return DeviceLogistic(term.f, pool, term.map.leaves)

    def vector(self, f):
        return DeviceBall(f) if f.pair == (None, "l1_ball") else super().vector(f)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 30))
    y = np.where(X[:, :4].sum(axis=1) + rng.standard_normal(800) > 0.0, 1.0, -1.0)
    text = "data X: matrix[n, p], y: signs[n]\nvar w: vector[p]\nminimize mean(logistic(X @ w, y))\nsubject to norm1(w) <= 2\n"
    return fw.parse(text).bind(X=X, y=y)


@pytest.mark.parametrize("method", ["apg", "frank_wolfe"])
def test_a_second_table_gives_the_same_certificate(problem, method):
    tol = 1e-8 if method == "apg" else 1e-3
    ours = problem.solve(method=method, tol=tol)
    table, moved = DeviceTable(), Device.moved
    with use(table):
        theirs = problem.solve(method=method, tol=tol)
    assert in_use() is NUMBA
    assert table.matrices and table.matrices[0].products > 4 and Device.moved > moved
    assert theirs.status == ours.status == "optimal" and theirs.certificate.kind == ours.certificate.kind
    assert math.isclose(ours.objective, theirs.objective, rel_tol=2.0 * tol)
    assert theirs.dual_bound <= ours.objective + 1e-12 and ours.dual_bound <= theirs.objective + 1e-12
