"""Workers and schedulers that are killed, files that change, memory that ends: no wrong answer, and nothing hangs."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from distributed import Client, LocalCluster

import fwdsl as fw
from fwdsl.bind import bindings
from fwdsl.cluster import driver, holder
from fwdsl.cluster.driver import Cluster
from fwdsl.errors import DataError, RunError
from tests.cluster.programs import completion, data, observed, problem, same

X, TARGETS = data()


def held(made, cluster):
    made._session.bind()
    return made._session.held_by(cluster)


def connected(at, **keywords):
    client = Client(at, set_as_default=False)
    return Cluster(client, [client], **keywords)


def pids(cluster):
    return list(cluster._client.run(os.getpid).values())


@pytest.fixture
def mapped(tmp_path):
    """A program whose rows lie in a file."""
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", TARGETS["vector"])
    (tmp_path / "p.fw").write_text(
        'fw 1\ndata X: matrix[n, p] from npy("X.npy"), y: vector[n] from npy("y.npy")\nvar w: vector[p]\n'
        "minimize mean(quantile(X @ w, y, tau=0.3)) + 0.05 * norm1(w)\nsolve method = pdhg, tol = 1e-8\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("make", "after"),
    [
        pytest.param(lambda: problem("quantile", X, TARGETS), 40, id="rows"),
        pytest.param(lambda: completion("block_fixed", observed()), 10, id="observed entries", marks=pytest.mark.slow),
    ],
)
def test_a_lost_worker_changes_no_bit(local, make, after):
    made = make()
    whole = made.solve(threads=1)
    with connected(local) as cluster:
        killed = []

        def kill(progress):
            if progress.iteration >= after and not killed:
                killed.append(pids(cluster)[0])
                os.kill(killed[0], signal.SIGKILL)

        found = held(made, cluster).solve(kill)
        assert killed and len(cluster.told) >= 1 and not cluster.lost
    assert same(whole, found)


def test_a_worker_that_is_lost_as_round_trips_are_measured_is_replaced(local):
    made = problem("quantile", X, TARGETS)
    whole = made.solve(threads=1)
    with connected(local) as cluster:
        session = held(made, cluster)
        at = cluster._client.run(os.getpid)
        os.kill(at[cluster.shares[0].address], signal.SIGKILL)
        assert cluster.predicted(session.bind()) and len(cluster.told) == 1
        assert same(whole, session.solve())


def test_nothing_is_predicted_where_nobody_answers_any_more(monkeypatch, local):
    with connected(local) as cluster:
        session = held(problem("quantile", X, TARGETS), cluster)

        def silent(*_, **__):
            raise OSError("gone")

        monkeypatch.setattr(cluster, "_sync", silent)
        cluster._there = {}
        assert cluster.predicted(session.bind()) == [] and "scheduler" in cluster.lost


@pytest.mark.slow
def test_a_worker_that_is_stopped_is_lost(monkeypatch, local):
    """The process is there, and so is its connection: only silence tells."""
    monkeypatch.setattr(driver, "STILL", 3.0)
    made = problem("quantile", X, TARGETS)
    whole = made.solve(threads=1)
    stopped = []
    try:
        with connected(local) as cluster:

            def stop(progress):
                if progress.iteration >= 40 and not stopped:
                    stopped.append(pids(cluster)[0])
                    os.kill(stopped[0], signal.SIGSTOP)

            found = held(made, cluster).solve(stop)
            assert stopped and len(cluster.told) == 1 and not cluster.lost
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    assert same(whole, found)


@pytest.mark.slow
def test_a_worker_that_is_stopped_before_the_run_is_told(monkeypatch, local):
    monkeypatch.setattr(driver, "BEGINS", 2.0)
    with Client(local, set_as_default=False) as client:
        pid = min(client.run(os.getpid).values())
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(RunError, match="not all of the 2 workers tell their versions"):
                Cluster(client)
        finally:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.slow
def test_files_of_a_worker_that_is_stopped_are_read_by_another(monkeypatch, local):
    monkeypatch.setattr(driver, "STILL", 3.0)
    with connected(local) as cluster:
        at = dict(cluster._client.run(os.getpid))
        pid = at[sorted(at)[0]]
        os.kill(pid, signal.SIGSTOP)
        try:
            assert cluster.each(abs, [(-1,), (-2,), (-3,), (-4,)]) == [1, 2, 3, 4]
        finally:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["factored", "penalty"])
def test_deaths_at_random_moments_of_a_completion(name):
    made = completion(name, observed())
    whole, rng = made.solve(threads=1), np.random.default_rng(4)
    for _ in range(5):
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as local,
            connected(local) as cluster,
        ):
            session, victim, wait = held(made, cluster), int(rng.choice(pids(cluster))), float(rng.uniform(0.0, 2.0))
            timer = threading.Timer(wait, os.kill, (victim, signal.SIGKILL))
            timer.start()
            assert same(whole, session.solve())
            timer.join()


@pytest.mark.slow
@pytest.mark.parametrize("between", [1, 20])
def test_workers_that_die_at_every_question_are_given_up_and_those_that_die_now_and_then_are_not(between, local):
    made, x = problem("lasso", X, TARGETS), np.ones(X.shape[1])
    with connected(local) as cluster:
        hands = held(made, cluster).bind().values["X"].hands
        for _ in range(6):
            os.kill(cluster._client.run(os.getpid)[cluster.shares[0].address], signal.SIGKILL)
            answers = [hands.rows("matvec", (x,)) for _ in range(between)]
            if cluster.lost:
                break
            assert all(np.array_equal(np.concatenate(a), np.concatenate(answers[0])) for a in answers)
        assert bool(cluster.lost) == (between == 1) and (between > 1 or "again and again" in cluster.lost)


@pytest.mark.slow
def test_twenty_deaths_at_random_moments():
    made = problem("quantile", X, TARGETS)
    whole, rng = made.solve(threads=1), np.random.default_rng(3)
    survived = 0
    for _ in range(20):
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as local,
            connected(local) as cluster,
        ):
            session = held(made, cluster)
            victims = pids(cluster)

            wait, victim = float(rng.uniform(0.0, 1.5)), int(rng.choice(victims))

            def kill(wait=wait, victim=victim):
                time.sleep(wait)
                os.kill(victim, signal.SIGKILL)

            thread = threading.Thread(target=kill)
            thread.start()
            survived += same(whole, session.solve())
            thread.join()
    assert survived == 20


@pytest.mark.slow
def test_rows_of_a_lost_worker_are_read_from_its_file_and_a_changed_one_is_an_error(mapped, local):
    made = fw.load(mapped / "p.fw")
    with connected(local) as cluster:
        session = held(made, cluster)
        assert session.bind().values["X"].files == (str(mapped / "X.npy"),)

        def change(progress):
            if progress.iteration >= 40 and os.path.getsize(mapped / "X.npy") > 200_000:
                with open(mapped / "X.npy", "r+b") as file:
                    file.truncate(200_000)
                os.kill(pids(cluster)[0], signal.SIGKILL)

        with pytest.raises(DataError, match="cut short"):
            session.solve(change)


def test_rows_that_do_not_fit_into_a_worker_are_refused(monkeypatch, local):
    monkeypatch.setattr(driver, "FITS", 1e-5)
    with connected(local) as cluster, pytest.raises(RunError) as error:
        held(problem("lasso", X, TARGETS), cluster)
    assert error.value.code == "FW0244"


def test_a_worker_that_goes_while_a_share_is_given_away_takes_none(monkeypatch, local):
    with connected(local) as cluster:
        session = held(problem("lasso", X, TARGETS), cluster)
        share, there = cluster.shares[0], cluster.workers()
        monkeypatch.setattr(cluster, "workers", lambda within=0.0: {"tcp://127.0.0.1:1": 1, **there})
        cluster._engage(share)
        assert share.address in there
        assert same(problem("lasso", X, TARGETS).solve(), session.solve())


def test_other_versions_are_refused(monkeypatch, local):
    # the worker runs what this process sends by name: its own versions
    monkeypatch.setattr(driver, "own_versions", lambda: {**holder.versions(), "numpy": "0.1"})
    with (
        Client(local, set_as_default=False) as client,
        pytest.raises(RunError, match=r"numpy .* there and 0\.1 here") as error,
    ):
        Cluster(client)
    assert error.value.code == "FW0242"


def test_a_worker_that_is_lost_as_it_tells_its_versions_is_waited_for(monkeypatch, local, tmp_path):
    flag = str(tmp_path / "asked")

    def dies_once():
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return told()
        os._exit(1)

    told = holder.versions
    monkeypatch.setattr(driver, "versions", dies_once)
    with connected(local) as cluster:
        assert os.path.exists(flag)
        assert 1 <= len(cluster.shares) <= 2


@pytest.mark.slow
def test_nobody_there():
    with pytest.raises(RunError) as error:
        problem("lasso", X, TARGETS).solve(client="tcp://127.0.0.1:9")
    assert error.value.code == "FW0241"


@pytest.fixture
def scheduler(tmp_path):
    """A scheduler of its own and a client of its two workers."""
    file = tmp_path / "scheduler.json"
    run = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--port",
        "0",
        "--no-dashboard",
        "--scheduler-file",
        str(file),
    ]
    scheduler = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    workers = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "distributed.cli.dask_worker",
                "--scheduler-file",
                str(file),
                "--nthreads",
                "1",
                "--no-dashboard",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(2)
    ]
    try:
        while not file.exists():
            time.sleep(0.1)
        client = Client(scheduler_file=str(file), set_as_default=False, direct_to_workers=True)
        client.wait_for_workers(2, timeout=60)
        yield scheduler, client
    finally:
        for process in (scheduler, *workers):
            process.kill()


@pytest.mark.slow
def test_a_lost_scheduler_ends_with_the_best_point(scheduler):
    process, client = scheduler
    with Cluster(client) as cluster:
        made = problem("quantile", X, TARGETS)

        def kill(progress):
            if progress.iteration >= 20 and process.poll() is None:
                process.kill()

        began = time.monotonic()
        session = held(made, cluster)
        session.options = replace(session.options, tol=1e-13)
        found = session.solve(kill)
        assert time.monotonic() - began < 120
        assert found.status == "tolerance_not_reached" and "scheduler" in found.reason
        assert np.isfinite(found.objective) and np.isfinite(found.dual_bound)


@pytest.mark.slow
@pytest.mark.parametrize("after", [3, 40])
def test_folds_whose_scheduler_is_lost_end_in_one_error(after, scheduler, rows_in_a_file, tmp_path, monkeypatch):
    """Scores of fits that were cut short would choose the parameter."""
    monkeypatch.setattr(bindings, "HELD_STAYS", 0)
    process, client = scheduler
    told = []

    def kill(progress):
        told.append(progress.iteration)
        if len(told) == after:
            process.kill()

    with pytest.raises(RunError, match="scheduler") as error:
        rows_in_a_file.bind(client=client).path(**{**FOLDS, "folds": 5}, tol=1e-6, callback=kill)
    assert error.value.code == "FW0241" and len(told) >= after
    del error
    gc.collect()
    assert not list((tmp_path / "cache").glob("*rows-*"))


@pytest.mark.slow
def test_ctrl_c_ends_with_the_best_point(mapped):
    text = (mapped / "p.fw").read_text().replace("1e-8", "1e-14")
    (mapped / "p.fw").write_text(text)
    run = subprocess.Popen(
        [sys.executable, "-m", "fwdsl", "run", "p.fw", "--workers", "2"],
        cwd=mapped,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while "hold" not in (line := run.stderr.readline()):
        assert line, "it ended"
    time.sleep(6.0)
    os.killpg(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode in (130, 0), err
    assert "objective" in out


@pytest.mark.parametrize("text", [None, "", "{}", "[1]"])
def test_a_file_of_a_scheduler_that_is_not_there_or_none(tmp_path, text):
    path = tmp_path / "scheduler.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(RunError, match=r"scheduler.json") as error:
        problem("lasso", X, TARGETS).solve(client=str(path))
    assert error.value.code == "FW0241"


@pytest.fixture
def rows_in_a_file(tmp_path, monkeypatch):
    """A program with a parameter, and its rows in a file."""
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path / "cache"))
    np.save(tmp_path / "X.npy", X)
    text = (
        f'fw 1\ndata X: matrix[n, p] from npy("{tmp_path}/X.npy"), y: vector[n]\nparam mu: nonnegative\nvar w: vector[p]\n'
        "minimize mean(quantile(X @ w, y, tau=0.3)) + mu * norm1(w)\nsolve method = pdhg, tol = 1e-3\n"
    )
    return fw.parse(text).bind(y=TARGETS["vector"])


FOLDS = {"mu": [0.1, 0.02], "folds": 3, "seed": 1}


@pytest.mark.slow
@pytest.mark.parametrize("where", ["file", "memory"])
def test_deaths_at_random_moments_of_folds(where, rows_in_a_file, tmp_path, monkeypatch):
    monkeypatch.setattr(bindings, "HELD_STAYS", 0)
    alone, rng = rows_in_a_file.path(**FOLDS, threads=1), np.random.default_rng(6)
    began = time.monotonic()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as local:
        given = {"client": local.scheduler_address, **({"X": X} if where == "memory" else {})}
        assert same_scores(alone, rows_in_a_file.bind(**given).path(**FOLDS))
        took = time.monotonic() - began
        lost = 0
        for _ in range(5):
            with Client(local, set_as_default=False) as client:
                client.wait_for_workers(2, timeout=60)
                victim, wait = int(rng.choice(list(client.run(os.getpid).values()))), float(rng.uniform(0.0, took))
            timer = threading.Timer(wait, os.kill, (victim, signal.SIGKILL))
            timer.start()
            assert same_scores(alone, rows_in_a_file.bind(**given).path(**FOLDS))
            gc.collect()
            lost += not timer.is_alive()
            timer.cancel()
            timer.join()
            assert not list((tmp_path / "cache").glob("*rows-*"))
    assert lost


def same_scores(one, other):
    return (
        np.array_equal(one.by_fold, other.by_fold)
        and np.array_equal(one.training_loss, other.training_loss)
        and same(one.solution, other.solution)
    )
