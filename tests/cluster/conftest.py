import pytest

WORKERS = 2


@pytest.fixture(scope="session")
def two_workers():
    """Two worker processes of Dask, of one thread each, for all tests: starting them takes longer than most of these."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as found:
        yield found


@pytest.fixture
def local(two_workers):
    """The same, all of them there: a test before may have killed one."""
    from distributed import Client

    with Client(two_workers, set_as_default=False) as client:
        client.wait_for_workers(WORKERS, timeout=60)
    return two_workers


@pytest.fixture
def client(two_workers):
    from distributed import Client

    with Client(two_workers, set_as_default=False) as found:
        found.wait_for_workers(WORKERS, timeout=60)
        yield found
