"""The words about workers."""

import asyncio
import logging
from types import SimpleNamespace

import numpy as np
import pytest

from fwdsl.cli.commands.run import told_of_memory
from fwdsl.cluster.closing import close
from fwdsl.cluster.driver import Cluster, Share
from fwdsl.readers.held_rows import HeldDense


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
    whom = "the other one" if len(busy) == 2 else "the middle one"
    assert not slow or (state.endswith(f"times {whom}") and lines[1].endswith(f"times as long as {whom}"))


def test_many_workers_take_one_short_line():
    assert cluster(*[2.0] * 99, 2.5).state() == "workers 100 with 2.0 to 2.5 s  20% transport"
    assert not cluster().state() and not cluster().lines()


def test_rows_that_workers_hold_were_not_read_here():
    held = HeldDense(np.ones((4, 2)), ((0, 4),))
    solution = SimpleNamespace(options=SimpleNamespace(memory=10**9), instance=SimpleNamespace(values={"X": held}))
    assert all(line.startswith("memory: ") for line in told_of_memory(solution))


def test_a_closed_client_is_quiet_about_a_scheduler_that_is_gone(caplog):
    close()
    log = logging.getLogger("distributed.client")
    for error in (asyncio.CancelledError(), OSError("another")):
        try:
            raise error
        except BaseException:
            log.exception("it failed")
    assert [record.exc_info[0] for record in caplog.records] == [OSError]
