"""Settings of all tests: one thread, the same random numbers each time, bounded examples, the shared data."""

from __future__ import annotations

import gc
import os
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Libraries read these when they load; nothing above loads any.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
# What a user's terminal says must not change what is compared.
for _name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
    os.environ.pop(_name, None)
# Hundreds of tests start a process, and each would compile all sources of Python again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A run that was started in the background ignores these, and so would the processes that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _name in ("SIGHUP", "SIGTERM"):
    if hasattr(signal, _name):
        signal.signal(getattr(signal, _name), signal.SIG_DFL)

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """Know the setting of pytest-asyncio where it is not installed: its tests are left out there."""
    if find_spec("pytest_asyncio") is None:
        parser.addini("asyncio_default_fixture_loop_scope", "the scope of loops")


def pytest_collection_finish() -> None:
    """Leave what is loaded, and all tests, out of what is looked through for garbage: that took half a second each time."""
    gc.collect()
    gc.freeze()


settings.register_profile(
    "fwdsl",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("fwdsl")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the repository; tests that need it are skipped where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the real data sets are not at {folder}")
    return folder
