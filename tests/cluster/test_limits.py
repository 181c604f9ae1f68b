"""Memory and disks that end, with real processes: the best certified point or one diagnostic, and nothing hangs."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from distributed import Client, LocalCluster

import fwdsl as fw
from fwdsl.cluster import tasks
from fwdsl.cluster.driver import Cluster
from fwdsl.errors import RunError
from fwdsl.readers.decoded import PART, PREFIX
from tests.cluster.programs import data, problem, same

X, TARGETS = data()


def held(made, cluster):
    made._session.bind()
    return made._session.held_by(cluster)


def wide(n, loss="logistic", method="apg"):
    """A problem of n rows of 1 MB in all per 1,000."""
    rng = np.random.default_rng(5)
    A = rng.standard_normal((n, 125))
    text = "data X: matrix[n, p], y: signs[n]\nvar w: vector[p]\nminimize mean({loss}(X @ w, y)) + 0.1 * norm1(w)\n"
    text = text.replace("{loss}", loss)
    return fw.parse(f"{text}solve method = {method}, tol = 1e-12\n").bind(X=A, y=np.sign(A[:, 0] + 0.1))


def workers(memory, count=1):
    return LocalCluster(
        n_workers=count, threads_per_worker=1, memory_limit=memory, dashboard_address=":0", silence_logs=50
    )


@pytest.mark.slow
def test_a_share_larger_than_a_worker_is_refused():
    with (
        workers("200MB") as local,
        Client(local, set_as_default=False) as client,
        Cluster(client) as cluster,
        pytest.raises(RunError, match="do not fit into its memory") as error,
    ):
        held(wide(200_000), cluster)
    assert error.value.code == "FW0244"


@pytest.mark.slow
def test_rows_that_fit_by_number_but_not_beside_the_rest_of_the_worker_are_one_diagnostic():
    # 0.7 of the limit and what Python, NumPy and fwdsl take themselves: the nanny kills each worker that tries
    began = time.monotonic()
    with (
        workers("300MB") as local,
        Client(local, set_as_default=False) as client,
        Cluster(client) as cluster,
        pytest.raises(RunError) as error,
    ):
        held(wide(215_000), cluster)
    assert error.value.code == "FW0241" and len(error.value.diagnostics) == 1
    assert time.monotonic() - began < 180


@pytest.mark.slow
def test_a_worker_that_outgrows_its_limit_is_replaced():
    made = problem("quantile", X, TARGETS)
    whole = made.solve(threads=1)
    with (
        workers("500MB", 2) as local,
        Client(local, set_as_default=False) as client,
        Cluster(client) as cluster,
    ):
        grown = []

        def grow(progress):
            if progress.iteration >= 40 and not grown:
                grown.append(cluster.shares[0].address)
                threading.Thread(
                    target=client.run, args=(outgrow,), kwargs={"workers": grown, "on_error": "return"}
                ).start()

        def wait(progress):
            grow(progress)
            if len(grown) == 1 and not cluster.told:
                time.sleep(0.01)  # the nanny looks ten times a second

        found = held(made, cluster).solve(wait)
        assert cluster.told and not cluster.lost
    assert same(whole, found)


def outgrow():
    """Take memory beyond the limit, and keep it. It is written to, so that it counts."""
    sys.modules["fwdsl"].ballast = np.ones(80_000_000)


@pytest.mark.skipif(sys.platform != "linux", reason="malloc is glibc's")
def test_a_holder_uses_the_pages_of_freed_arrays_again(client):
    with Cluster(client):
        for found in client.run(new_pages).values():
            assert found < 100 * 256 / 4


def new_pages():
    """The pages that 100 arrays of 1 MB (256 pages), one after the other, had anew."""
    np.ones(1 << 17)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.ones(1 << 17)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.slow
def test_rows_of_a_lost_worker_that_fit_nowhere_end_with_the_best_point(tmp_path):
    file = tmp_path / "scheduler.json"
    # workers that take fewer bytes themselves than the limit allows are none, so nobody pauses them
    own = {f"DASK_DISTRIBUTED__WORKER__MEMORY__{what}": "False" for what in ("TARGET", "SPILL", "PAUSE", "TERMINATE")}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": {**os.environ, **own}}
    run = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    processes = [subprocess.Popen([*run, "--scheduler-file", str(file)], **quiet)]
    one = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--no-dashboard"]
    one += ["--nthreads", "1", "--no-nanny", "--memory-limit", "80MB"]
    processes += [subprocess.Popen(one, **quiet) for _ in range(2)]
    try:
        while not file.exists():
            time.sleep(0.1)
        with Client(scheduler_file=str(file), set_as_default=False, direct_to_workers=True) as client:
            client.wait_for_workers(2, timeout=60)
            with Cluster(client) as cluster:
                session = held(wide(100_000, "hinge", "pdhg"), cluster)  # 50 MB each
                pids, killed = client.run(os.getpid), []

                def kill(progress):
                    if progress.iteration >= 5 and not killed:
                        killed.append(progress.iteration)
                        os.kill(pids[cluster.shares[0].address], signal.SIGKILL)

                began = time.monotonic()
                found = session.solve(kill)
                assert time.monotonic() - began < 120
                assert found.status == "tolerance_not_reached" and "do not fit beside" in found.reason
                assert found.dual_bound <= found.objective < np.inf and found.dual_bound > -np.inf
    finally:
        for process in processes:
            process.kill()


def die(_what, left):
    """End this worker's process, as its nanny does where memory ends, as often as there are files in a folder."""
    for name in sorted(os.listdir(left)):
        os.remove(os.path.join(left, name))
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 9])
def test_all_workers_may_be_lost_at_once_as_they_read(times, tmp_path):
    for i in range(times):
        (tmp_path / str(i)).touch()
    began = time.monotonic()
    with workers(0) as local, Client(local, set_as_default=False) as client, Cluster(client) as cluster:
        asked = [("rows.csv", str(tmp_path))] * 2
        if times == 1:
            assert len(cluster.each(die, asked)) == 2
        else:
            with pytest.raises(RunError, match=r"4 workers in a row were lost as they read `rows\.csv`") as error:
                cluster.each(die, asked)
            assert error.value.code == "FW0243" and len(error.value.diagnostics) == 1
    assert time.monotonic() - began < 120


def nearly_full(dask_worker):
    """Take memory up to where Dask begins nothing more, and not up to where it ends the process."""
    import psutil

    room = int(0.87 * dask_worker.memory_manager.memory_limit) - psutil.Process().memory_info().rss
    sys.modules["fwdsl"].ballast = np.ones(room // 8)


@pytest.mark.slow
def test_workers_that_begin_nothing_are_given_up(monkeypatch):
    monkeypatch.setattr(tasks, "WAIT", 3.0)
    with workers("600MB") as local, Client(local, set_as_default=False) as client, Cluster(client) as cluster:
        client.run(nearly_full)
        while client.scheduler_info(n_workers=-1)["workers"][cluster.shares[0].address]["status"] != "paused":
            time.sleep(0.1)
        with pytest.raises(RunError, match="no worker has begun to read for 3 s: they are nearly out of memory"):
            cluster.each(os.path.exists, [("rows.csv",)] * 3)


@pytest.fixture
def csv(tmp_path):
    """A program whose rows, 6 MB of text, outgrow 8 MB of memory once they are decoded."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40_000, 10))
    rows = np.column_stack([A, np.sign(A[:, 0] + 0.1)])
    header = ",".join([*(f"a{i}" for i in range(10)), "y"])
    np.savetxt(tmp_path / "d.csv", rows, "%.9g", ",", header=header, comments="")
    (tmp_path / "p.fw").write_text(
        'fw 1\ndata X: matrix[n, p], y: signs[n] from csv("d.csv", target="y")\nvar w: vector[p]\n'
        "minimize mean(logistic(X @ w, y)) + 0.01 * sum_squares(w)\n"
    )
    return tmp_path


def ran(folder, cache, *options, limit=None):
    """The exit code of a run whose files have up to `limit` bytes, what it told, and what is left in the cache."""
    env = {**os.environ, "FWDSL_CACHE_DIR": str(cache), "NUMBA_CACHE_DIR": str(folder)}
    cap = None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    command = [sys.executable, "-m", "fwdsl", "run", "p.fw", *options]
    done = subprocess.run(command, cwd=folder, env=env, preexec_fn=cap, capture_output=True, text=True, timeout=120)
    left = [p.name for p in cache.iterdir() if p.name.startswith((PREFIX, PART))]
    return done.returncode, done.stdout + done.stderr, left


@pytest.mark.slow
@pytest.mark.parametrize("limit", [100_000, 3_199_900])
def test_files_that_may_not_grow_are_a_full_disk(csv, limit):
    # the second limit is met by the last buffer, which is written when the file is closed
    cache = csv / "cache"
    cache.mkdir()
    code, told, left = ran(csv, cache, "--memory", "16MB", limit=limit)
    assert code == 1 and told.count("error") == 1 and "FW4093" in told and "Traceback" not in told
    assert not left


@pytest.mark.slow
def test_a_small_disk_is_told(csv):
    disk = csv / "disk"
    disk.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=False).returncode:
        pytest.skip("no file system may be mounted here")
    try:
        for options in (["--memory", "16MB"], ["--memory", "16MB", "--workers", "2"]):
            code, told, left = ran(csv, disk, *options)
            assert code == 1 and "FW4093" in told and "Traceback" not in told and not left
    finally:
        subprocess.run(["umount", disk], check=True)
