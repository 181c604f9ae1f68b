"""The arrays and products of an NVIDIA device, by CuPy (the extra `cuda`).

Products with vectors are kernels of our own: cuBLAS and cuSPARSE have none of float32 data with float64 sums, and these take the same sums in the
same order each time. Gram matrices and products with matrices are cuBLAS's.
Vectors move through pinned memory, which the device reads and writes by itself.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.backends.kernels.arrays import NUMBERS, SIZES, SQUARES, Array, Arrays, OnDevice
from fwdsl.backends.kernels.pool import Pool

CHUNK = 1 << 25
"""Bytes of a matrix that are moved at a time: one chunk is copied into pinned memory while the device takes the one before."""

SHARED = 1 << 20
"""Bytes from which on threads share a copy."""

COPYING = 8
"""Threads that copy, at most."""

THREADS = 1 << 18
"""Threads that keep a device busy."""

LONGEST = 1 << 12
"""Stored numbers of a piece of a sparse row: longer rows are cut, so that no group of threads works on one alone."""

SOURCE = r"""
// a number, its size, or its square
template <int OF>
__device__ double of(double a) { return OF == 0 ? a : OF == 1 ? fabs(a) : a * a; }

template <typename T, int OF>
__device__ double dot(const T* a, const double* v, const long long* at, long long from, long long to, int lane) {
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    long long j = from + lane;
    if (at) {
        for (; j < to; j += 32) s0 += of<OF>(a[at[j]]) * v[j];
    } else {
        for (; j + 96 < to; j += 128) {
            s0 += of<OF>(a[j]) * v[j];
            s1 += of<OF>(a[j + 32]) * v[j + 32];
            s2 += of<OF>(a[j + 64]) * v[j + 64];
            s3 += of<OF>(a[j + 96]) * v[j + 96];
        }
        for (; j < to; j += 32) s0 += of<OF>(a[j]) * v[j];
    }
    return (s0 + s1) + (s2 + s3);
}

// out[i, s] = the sum over the columns of segment s of M[i, at] v: 32 threads take a segment of a row
template <typename T, int OF>
__global__ void dot_rows(const T* M, const double* v, const long long* at, long long n, long long d, long long k,
                         long long segments, long long step, double* out) {
    long long one = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (one >= n * segments) return;  // all threads of a warp leave together
    long long row = one / segments, from = (one % segments) * step;
    long long to = from + step < k ? from + step : k;
    double s = dot<T, OF>(M + row * d, v, at, from, to, lane);
    for (int o = 16; o; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o);
    if (lane == 0) out[one] = s;
}

// out[c, j] = the sum over the rows of chunk c of M[at, j] v: a thread takes a column of a chunk
template <typename T, int OF>
__global__ void sum_rows(const T* M, const double* v, const long long* at, long long d, long long count,
                         long long step, double* out) {
    long long j = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long c = (long long)blockIdx.y * blockDim.y + threadIdx.y;
    long long i = c * step, to = i + step < count ? i + step : count;
    if (j >= d || i >= to) return;
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    if (at) {
        for (; i < to; i++) s0 += of<OF>(M[at[i] * d + j]) * v[i];
    } else {
        const T* a = M + j;
        for (; i + 3 < to; i += 4) {
            s0 += of<OF>(a[i * d]) * v[i];
            s1 += of<OF>(a[(i + 1) * d]) * v[i + 1];
            s2 += of<OF>(a[(i + 2) * d]) * v[i + 2];
            s3 += of<OF>(a[(i + 3) * d]) * v[i + 3];
        }
        for (; i < to; i++) s0 += of<OF>(a[i * d]) * v[i];
    }
    out[c * d + j] = (s0 + s1) + (s2 + s3);
}

// out[p] = the product of a piece of a sparse row with v: LANES threads take a piece
template <typename T, typename I, int LANES>
__global__ void gather(const long long* cuts, const I* indices, const T* data, const double* v, long long pieces,
                       double* out) {
    long long p = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES;
    double s = 0.0;
    if (p < pieces) {
        for (long long e = cuts[p] + lane; e < cuts[p + 1]; e += LANES) s += (double)data[e] * v[indices[e]];
    }
    for (int o = LANES / 2; o; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o, LANES);
    if (lane == 0 && p < pieces) out[p] = s;
}

// out[i] = the sum of the pieces of row i, in their order
__global__ void add_pieces(const long long* first, const double* parts, long long n, double* out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double s = 0.0;
    for (long long p = first[i]; p < first[i + 1]; p++) s += parts[p];
    out[i] = s;
}
"""

TYPES = {"float32": "float", "float64": "double", "uint32": "unsigned int", "uint64": "unsigned long long"}
GROUPS = (2, 4, 8, 16, 32)


class CudaArrays(Arrays):
    """The arrays of the current device of CuPy."""

    def __init__(self, cupy: Any) -> None:
        super().__init__(cupy)
        self.cupy = cupy
        from cupy_backends.cuda.api.driver import CUDADriverError
        from cupy_backends.cuda.api.runtime import CUDARuntimeError
        from cupy_backends.cuda.libs.cublas import CUBLASError

        self.errors = (MemoryError, CUDARuntimeError, CUDADriverError, CUBLASError)
        dense = [
            f"{name}<{t}, {of}>"
            for name in ("dot_rows", "sum_rows")
            for t in ("float", "double")
            for of in (NUMBERS, SIZES, SQUARES)
        ]
        sparse = [
            f"gather<{t}, {i}, {lanes}>"
            for t in ("float", "double")
            for i in ("unsigned int", "unsigned long long")
            for lanes in GROUPS
        ]
        self._names = (*dense, *sparse, "add_pieces")
        self._module: Any = None
        self._kernels: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._pool = Pool(min(COPYING, os.cpu_count() or 1))
        self._pinned = threading.local()

    def _kernel(self, name: str) -> Any:
        """A kernel by its name. All are compiled when the first one is asked for, and CuPy keeps them for the next process."""
        found = self._kernels.get(name)
        if found is None:
            with self._lock:
                if self._module is None:
                    options = ("-std=c++17",)
                    self._module = self.cupy.RawModule(code=SOURCE, options=options, name_expressions=self._names)
                found = self._kernels[name] = self._module.get_function(name)
        return found

    # --- memory -----------------------------------------------------------------------------------------------------

    def free(self) -> int:
        pool = self.cupy.get_default_memory_pool()
        return int(self.cupy.cuda.runtime.memGetInfo()[0]) + int(pool.free_bytes())

    def release(self) -> None:
        self.cupy.get_default_memory_pool().free_all_blocks()

    def _buffer(self, place: str, nbytes: int) -> NDArray[np.uint8]:
        """Pinned memory of at least so many bytes, of this thread: the same one each time a place is named."""
        kept: dict[str, NDArray[np.uint8]] = self._pinned.__dict__
        if place not in kept or kept[place].size < nbytes:
            kept.pop(place, None)
            memory = self.cupy.cuda.alloc_pinned_memory(nbytes)
            kept[place] = np.frombuffer(memory, np.uint8, nbytes)
        return kept[place][:nbytes]

    def _copy(self, onto: NDArray[Any], some: NDArray[Any]) -> None:
        """Copy one contiguous array into another, by several threads where that pays: one alone is slower than the way to the device."""
        if some.nbytes < SHARED:
            np.copyto(onto, some)
            return
        step = -(-some.size // self._pool.threads)
        parts = [slice(start, start + step) for start in range(0, some.size, step)]
        self._pool.run(lambda part: np.copyto(onto[part], some[part]), parts)

    def put(self, host: NDArray[Any]) -> Any:
        there = self.cupy.empty(host.shape, host.dtype)
        if not host.size:
            return there
        flat, onto = np.ascontiguousarray(host).reshape(-1), there.reshape(-1)
        step, stream = max(1, CHUNK // host.dtype.itemsize), self.cupy.cuda.get_current_stream()
        taken: list[Any] = [None, None]
        for turn, start in enumerate(range(0, flat.size, step)):
            some = flat[start : start + step]
            staged = self._buffer(f"matrix {turn % 2}", some.nbytes).view(host.dtype)
            if taken[turn % 2] is not None:
                taken[turn % 2].synchronize()
            self._copy(staged, some)
            onto[start : start + step].set(staged, stream=stream)
            taken[turn % 2] = stream.record()
        stream.synchronize()
        return there

    def vector(self, v: Array) -> Any:
        staged = self._buffer("in", v.nbytes).view(v.dtype)
        self._copy(staged, v.reshape(-1))
        there = self.cupy.empty(v.shape, v.dtype)
        there.reshape(-1).set(staged, stream=self.cupy.cuda.get_current_stream())
        self.wait()
        return there

    def fetch(self, found: Any, out: Array) -> None:
        stream = self.cupy.cuda.get_current_stream()
        staged = self._buffer("out", found.nbytes).view(found.dtype)
        flat = self.cupy.ascontiguousarray(found).reshape(-1)
        flat.get(out=staged, stream=stream)
        stream.synchronize()
        if out.flags.c_contiguous:
            self._copy(out.reshape(-1), staged)
        else:
            out[...] = staged.reshape(found.shape)

    def wait(self) -> None:
        self.cupy.cuda.get_current_stream().synchronize()

    # --- products ---------------------------------------------------------------------------------------------------

    def dot_rows(self, M: Any, v: Any, at: Any = None, of: int = NUMBERS) -> Any:
        n, d = M.shape
        k = d if at is None else int(at.size)
        # few long rows are cut, so that there are threads enough
        segments = max(1, min(-(-THREADS // (32 * max(1, n))), -(-k // 1024)))
        step = -(-k // segments)
        out = self.cupy.empty((n, segments))
        self._kernel(f"dot_rows<{TYPES[M.dtype.name]}, {of}>")(
            (-(-n * segments * 32 // 256),), (256,), (M, v, _address(at), *_longs(n, d, k, segments, step), out)
        )
        return out.reshape(-1) if segments == 1 else out.sum(axis=1)

    def sum_rows(self, M: Any, v: Any, at: Any = None, of: int = NUMBERS) -> Any:
        d, count = int(M.shape[1]), int(v.size)
        across = min(128, 32 * -(-d // 32))
        down = 256 // across
        columns = across * -(-d // across)
        chunks = max(1, min(-(-THREADS // columns), -(-count // 64)))
        step = -(-count // chunks)
        chunks = -(-count // step) if count else 1
        out = self.cupy.zeros((chunks, d))
        self._kernel(f"sum_rows<{TYPES[M.dtype.name]}, {of}>")(
            (columns // across, -(-chunks // down)), (across, down), (M, v, _address(at), *_longs(d, count, step), out)
        )
        return out.reshape(-1) if chunks == 1 else out.sum(axis=0)

    def compressed(self, indptr: Any, indices: Any, data: Any, width: int) -> OnDevice:
        """Rows, and the pieces that they are cut into: where each begins, and the first of each row."""
        cupy, ends = self.cupy, indptr.astype(np.int64)
        lengths = ends[1:] - ends[:-1]
        counts = cupy.maximum(1, (lengths + LONGEST - 1) // LONGEST)
        first = cupy.zeros(ends.size, dtype=np.int64)
        first[1:] = cupy.cumsum(counts)
        pieces, rows = int(first[-1]), int(lengths.size)
        if pieces == rows:
            cuts, first = ends, None
        else:
            every = cupy.arange(pieces, dtype=np.int64)
            row = cupy.searchsorted(first[1:], every, side="right")
            cuts = cupy.concatenate([ends[row] + LONGEST * (every - first[row]), ends[-1:]])
        mean = int(data.size) / max(1, pieces)
        lanes = next((g for g in GROUPS if g >= mean / 2.0), GROUPS[-1])
        return OnDevice(indptr, indices, data, width, (cuts, first, pieces, rows, lanes))

    def sorting(self, keys: Any) -> Any:
        # all of CuPy's sorting is stable
        return keys.argsort()

    def gather(self, rows: OnDevice, v: Any) -> Any:
        cuts, first, pieces, n, lanes = rows.more
        parts = self.cupy.empty(pieces)
        name = f"gather<{TYPES[rows.data.dtype.name]}, {TYPES[rows.indices.dtype.name]}, {lanes}>"
        grid = (-(-pieces * lanes // 256),)
        self._kernel(name)(grid, (256,), (cuts, rows.indices, rows.data, v, np.int64(pieces), parts))
        if first is None:
            return parts
        out = self.cupy.empty(n)
        self._kernel("add_pieces")((-(-n // 256),), (256,), (first, parts, np.int64(n), out))
        return out


def _longs(*values: int) -> tuple[np.int64, ...]:
    """Numbers as kernels take them."""
    return tuple(np.int64(v) for v in values)


def _address(at: Any) -> Any:
    """The argument that a kernel is given for an array of indices; a null pointer where there is none."""
    return np.uint64(0) if at is None else at
