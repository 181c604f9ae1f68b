"""The collector of cycles is kept still, and comes back as it was."""

from __future__ import annotations

import gc

import pytest

from fwdsl.collector import still_collector


@pytest.mark.parametrize("collects", [True, False])
def test_the_collector_comes_back_as_it_was(collects: bool) -> None:
    try:
        (gc.enable if collects else gc.disable)()
        with pytest.raises(KeyError), still_collector():
            with still_collector():
                pass
            assert not gc.isenabled()
            raise KeyError
        assert gc.isenabled() == collects
    finally:
        gc.enable()
