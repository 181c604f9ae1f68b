"""The words about workers."""

import pytest

from fwdsl.cluster.driver import Cluster, Share


def cluster(*busy):
    """A cluster whose workers have worked for so many seconds."""
    found = object.__new__(Cluster)
    found.shares = [Share(i, f"tcp://{i}", busy=b, waited=10.0, holds={"X": None}) for i, b in enumerate(busy)]
    found._waited, found._busiest, found.round_trips, found.told, found.lost = 10.0, 8.0, 7, [], ""
    return found


@pytest.mark.parametrize(
    ("busy", "slow"),
    [
        ((5.0, 4.0), ""),
        ((4.0, 7.0), "tcp://1"),
        ((9.0, 4.0, 4.0), "tcp://0"),
        ((9.0, 8.0, 1.0), ""),
        ((0.1, 0.9), ""),
        ((7.0,), ""),
        ((0.0, 3.0), "tcp://1"),
    ],
)
def test_a_worker_that_lags_is_told_while_it_does_and_at_the_end(busy, slow):
    found = cluster(*busy)
    state, lines = found.state(), found.lines()
    assert "20% transport" in state and "20% of it transport" in lines[0]
    assert all(f"{b:.1f}" in state and f"{b:.2f} s" in lines[0] for b in busy)
    assert ("slowest" in state) == bool(slow) == (len(lines) > 1)
    assert slow in state and (not slow or slow in lines[1])


def test_many_workers_take_one_short_line():
    assert cluster(*[2.0] * 99, 2.5).state() == "workers 100 with 2.0 to 2.5 s  20% transport"
    assert not cluster().state() and not cluster().lines()
