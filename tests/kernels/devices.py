"""Arrays that stand for a device, and those of the device that there may be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from fwdsl.backends import devices
from fwdsl.backends.kernels.arrays import Arrays
from fwdsl.errors import RunError


class StandIn(Arrays):
    """NumPy in the place of a device: it counts what is moved, may have little room, and may fail after some products."""

    def __init__(self, room: int | None = None, fails_after: int | None = None) -> None:
        super().__init__()
        self.room, self.fails_after = room, fails_after
        self.moved: list[Any] = []

    def free(self) -> int:
        return 10**12 if self.room is None else self.room

    def put(self, host: Any) -> Any:
        self.moved.append(host.shape)
        return super().put(host)

    def fetch(self, found: Any, out: Any) -> None:
        if self.fails_after is not None:
            self.fails_after -= 1
            if self.fails_after < 0:
                raise MemoryError
        super().fetch(found, out)


@contextmanager
def standing_in(arrays: Arrays, monkeypatch: pytest.MonkeyPatch, least: int = 1) -> Iterator[devices.Device]:
    """A context in which `device="cuda"` is the stand-in, and takes all matrices of at least so many bytes."""
    device = devices.Device("cuda", "a stand-in", arrays)
    with monkeypatch.context() as patch:
        patch.setitem(devices._OPENED, "cuda", device)
        patch.setattr(devices, "LEAST", least)
        yield device


def real() -> devices.Device:
    """The NVIDIA device of this machine; the test is skipped, and says why, where there is none."""
    try:
        return devices.opened("cuda")
    except RunError as error:
        pytest.skip(f"needs an NVIDIA device: {error.first.message}")
