import pytest


@pytest.fixture(scope="module")
def local():
    """Two worker processes of Dask, of one thread each."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as found:
        yield found


@pytest.fixture
def client(local):
    from distributed import Client

    with Client(local, set_as_default=False) as found:
        yield found
