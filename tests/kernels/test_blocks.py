"""Blocks of rows, and the pool that works on them."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.kernels import Pool, row_blocks
from fwdsl.backends.kernels.blocks import BLOCK_NUMBERS, MOST_BLOCKS, strip_blocks
from fwdsl.backends.kernels.pool import serial_blas


def covers(blocks: list[tuple[int, int]], n: int) -> bool:
    """True if the blocks are consecutive, not empty, and together all rows."""
    return [r for a, b in blocks for r in range(a, b)] == list(range(n)) and all(a < b for a, b in blocks)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 10**9), (7, 3), (100_000, 30), (3_000_000, 300)])
def test_dense_blocks(shape: tuple[int, int]) -> None:
    blocks = row_blocks(shape)
    assert len(blocks) <= MOST_BLOCKS
    if shape[0] <= 100_000:
        assert covers(blocks, shape[0])
    if shape == (100_000, 30):
        assert len(blocks) == -(-3_000_000 // BLOCK_NUMBERS)
        assert max(b - a for a, b in blocks) - min(b - a for a, b in blocks) <= 1
    assert len(row_blocks(shape, most=16)) <= 16


@pytest.mark.parametrize("kind", [np.uint32, np.int64])
def test_sparse_blocks_hold_like_numbers(kind: type) -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 300, 20_000)
    lengths[50] = 500_000
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(kind)
    blocks = row_blocks(indptr)
    assert covers(blocks, lengths.size)
    for a, b in blocks:
        assert int(indptr[b]) - int(indptr[a]) <= 2 * BLOCK_NUMBERS or b - a <= 600
    assert covers(row_blocks(np.zeros(11, dtype=kind)), 10)
    assert row_blocks(np.zeros(1, dtype=kind)) == ()


def test_strips_are_tall() -> None:
    blocks = strip_blocks([(0, 5000)], 4000)
    assert covers(blocks, 5000)
    assert min(b - a for a, b in blocks) >= 512


def test_results_come_back_in_order_for_any_number_of_threads() -> None:
    blocks = list(range(23))
    for threads in (1, 2, 5):
        with Pool(threads) as pool:
            assert pool.run(lambda block: block * block, blocks) == [b * b for b in blocks]
            assert pool.run(lambda block: block, []) == []


def test_several_threads_work_at_once_and_one_thread_is_the_callers() -> None:
    meet = threading.Barrier(2, timeout=20.0)
    with Pool(2) as pool:
        seen = set(pool.run(lambda _: (meet.wait(), threading.get_ident())[1], [0, 1]))
    assert len(seen) == 2
    assert Pool(1).run(lambda _: threading.get_ident(), [0, 1]) == [threading.get_ident()] * 2


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_block_is_raised_and_the_pool_goes_on(threads: int) -> None:
    with Pool(threads) as pool:
        with pytest.raises(ZeroDivisionError):
            pool.run(lambda block: 1 // (block - 2), [0, 1, 2, 3])
        assert pool.run(lambda block: block, [1, 2]) == [1, 2]
    assert pool.run(lambda block: block, [1, 2]) == [1, 2]
    pool.close()


def test_a_pool_has_a_thread() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Pool(0)


def test_blas_is_held_to_one_thread() -> None:
    from threadpoolctl import threadpool_info

    def threads() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = threads()
    with serial_blas():
        assert set(threads()) == {1}
        with serial_blas():
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert threads() == before


def test_the_blas_of_scipy_is_held_too_once_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy.linalg
    from threadpoolctl import threadpool_info

    def threads() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = threads()
    with monkeypatch.context() as unloaded:
        unloaded.delitem(sys.modules, "scipy.linalg")
        outer = serial_blas()
        outer.__enter__()
    assert sys.modules["scipy.linalg"] is scipy.linalg
    with serial_blas():
        assert set(threads()) == {1}
    outer.__exit__(None, None, None)
    assert threads() == before


def test_what_is_measured_before_the_first_step_has_one_thread_of_blas_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from threadpoolctl import threadpool_info, threadpool_limits

    seen: list[int] = []
    measure = LossFunction.size_at

    def told(self: LossFunction, z: np.ndarray) -> float:
        seen.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        return measure(self, z)

    monkeypatch.setattr(LossFunction, "size_at", told)
    y = np.random.default_rng(0).standard_normal(50)
    problem = fw.parse("data y: vector[n]\nvar x: vector[n]\nminimize sum(squared(x, y)) + norm1(x)\n").bind(y=y)
    with threadpool_limits(2, "blas"):
        assert problem.solve().status == "optimal"
    assert set(seen) == {1}
