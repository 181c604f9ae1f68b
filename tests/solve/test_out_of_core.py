"""Data that stay on their disk: answers and certificates to the bits of those in memory, and ends of runs that cannot go on."""

import os
import re
import signal
import subprocess
import sys
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.bind import bindings, row_chunks
from fwdsl.errors import DataError, PlanError
from fwdsl.model.options import Options
from fwdsl.plan import memory
from fwdsl.plan.memory import allowed
from fwdsl.readers import row_blocks

N, D = 3001, 60
"""Of more than 2^17 numbers, so that there are leaves to add up."""

TARGETS = {"signs": "signs[n]", "values": "vector[n]", "classes": "labels[n, k]"}

PROGRAMS = {
    "logistic": ("signs", "var w: vector[p]\nminimize mean(logistic(X @ w, y))\nsubject to norm1(w) <= 3", "apg"),
    "lasso": ("values", "var w: vector[p]\nminimize mean(squared(X @ w, y)) + 0.1 * norm1(w)", "apg"),
    "groups": (
        "values",
        "var w: vector[p]\nminimize mean(squared(X @ w, y)) + 0.1 * group_norm(w, groups=[{groups}])",
        "apg",
    ),
    "softmax": ("classes", "var W: matrix[p, k]\nminimize mean(softmax(X @ W, y)) + 0.1 * sum_squares(W)", "apg"),
    "simplex": ("values", "var w: vector[p] in simplex(1)\nminimize mean(squared(X @ w, y))", "apg"),
    "quantile": ("values", "var w: vector[p]\nminimize mean(quantile(X @ w, y, tau=0.3)) + 0.05 * norm1(w)", "pdhg"),
    "newton": (
        "signs",
        "var w: vector[p], c: real\nminimize mean(logistic(X @ w + c, y)) + 0.01 * sum_squares(w)",
        "newton",
    ),
    "classes": (
        "classes",
        "var W: matrix[p, k]\nminimize mean(softmax(X @ W, y)) + 0.01 * sum_squares(W)",
        "newton",
    ),
    "dual_blocks": (
        "signs",
        "var w: vector[p]\nminimize mean(smooth_hinge(X @ w, y)) + 0.05 * sum_squares(w)\nsubject to norm1(w) <= 0.5",
        "pdbfw",
    ),
    "vertices": (
        "signs",
        "var w: vector[p]\nminimize mean(logistic(X @ w, y))\nsubject to norm1(w) <= 3",
        "blended_pairwise",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The data in the formats that are streamed."""
    at = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.8)
    z = X[:, :8] @ rng.standard_normal(8) + rng.standard_normal(N)
    np.save(at / "dense.npy", X)
    sp.save_npz(at / "sparse.npz", sp.csr_array(X))
    np.save(at / "values.npy", z)
    np.save(at / "signs.npy", np.where(z > 0.0, 1.0, -1.0))
    np.save(at / "classes.npy", np.digitize(z, [-1.0, 1.0]))
    (at / "rows").mkdir()
    for i in range(3):
        np.save(at / "rows" / f"{i}.npy", X[1000 * i : 1000 * (i + 1) if i < 2 else N])
    return at


def problem(folder, name, source='npy("dense.npy")', tail=""):
    target, body, method = PROGRAMS[name]
    groups = ", ".join(f"[{', '.join(map(str, range(i, i + 5)))}]" for i in range(0, D, 5))
    path = folder / f"{name}.fw"
    path.write_text(
        f'fw 1\ndata X: matrix[n, p] from {source}\ndata y: {TARGETS[target]} from npy("{target}.npy")\n'
        f"{body.replace('{groups}', groups)}\nsolve method = {method}, tol = 1e-4{tail}\n"
    )
    return fw.load(path)


@pytest.fixture
def streamed(monkeypatch, tmp_path):
    """All matrices stay on their disk, and are read by pieces of a few hundred rows."""
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    monkeypatch.setattr(row_blocks, "PIECE", 100_000)
    monkeypatch.setenv("FWDSL_CACHE_DIR", os.environ.get("FWDSL_CACHE_DIR") or str(tmp_path))


def same(one, other):
    names = [v.name for v in one.instance.model.variables]
    return (
        all(np.array_equal(one[name], other[name]) for name in names)
        and (one.objective, one.dual_bound, one.gap) == (other.objective, other.dual_bound, other.gap)
        and one.status == other.status == "optimal"
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_bits_are_those_in_memory(folder, name, streamed):
    inside = problem(folder, name).solve(threads=2)
    for threads in (1, 2):
        outside = problem(folder, name).solve(memory="8GB", threads=threads)
        assert isinstance(outside.instance.values["X"], row_blocks.DenseRows)
        assert same(inside, outside)


def test_short_rows_beside_an_intercept(tmp_path, streamed):
    """Their entries were asked for, to mend a dual point by those that stand alone in a row."""
    rng = np.random.default_rng(0)
    X = sp.random_array((600, 8), density=0.15, rng=rng, format="csr")
    sp.save_npz(tmp_path / "X.npz", X, compressed=False)
    (tmp_path / "p.fw").write_text(
        'fw 1\ndata X: matrix[n, p] from npz("X.npz"), y: vector[n]\nvar w: vector[p], b: real\n'
        "minimize mean(squared(X @ w + b, y)) + 0.01 * norm1(w)\n"
    )
    made = fw.load(tmp_path / "p.fw").bind(y=X @ rng.standard_normal(8) + rng.standard_normal(600))
    best = made.solve(tol=1e-9)
    for method in ("apg", "pdhg"):
        for steps in (3, 20, 2000):
            found = made.solve(memory="8GB", method=method, tol=1e-7, max_iter=steps)
            assert isinstance(found.instance.values["X"], row_blocks.SparseRows)
            assert found.dual_bound <= best.objective * (1 + 1e-8)
        assert found.status == "optimal"


@pytest.mark.parametrize("source", ['npz("sparse.npz")', 'npy("rows")'])
def test_bits_of_sparse_and_of_several_files(folder, source, streamed):
    inside = problem(folder, "logistic", source).solve(threads=1)
    outside = problem(folder, "logistic", source).solve(memory="8GB", threads=2)
    assert isinstance(outside.instance.values["X"], row_blocks.RowBlocks) and same(inside, outside)


FILES = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "small": lambda A: np.round(10 * A).astype(np.int8),
    "small_columns": lambda A: np.asfortranarray(np.round(10 * A).astype(np.int8)),
    "single": lambda A: A.astype(np.float32),
    "single_columns": lambda A: np.asfortranarray(A.astype(np.float32)),
}


@pytest.mark.parametrize("files", list(permutations(FILES, 2)), ids="-".join)
def test_files_of_a_folder_may_lie_by_rows_and_by_columns(folder, tmp_path, files, streamed):
    for i, kind in enumerate((*files, files[0])):
        np.save(tmp_path / f"part{i}.npy", FILES[kind](np.load(folder / "rows" / f"{i}.npy")))
    np.save(tmp_path / "values.npy", np.load(folder / "values.npy"))
    inside = problem(tmp_path, "lasso", 'npy("part*.npy")').solve(threads=1)
    for _ in range(2):  # decoded, where they are, and as they were decoded
        outside = problem(tmp_path, "lasso", 'npy("part*.npy")').solve(memory="8GB", threads=1)
        assert isinstance(outside.instance.values["X"], row_blocks.RowBlocks) and same(inside, outside)


@pytest.mark.parametrize("dtypes", list(permutations([np.int8, np.float32, np.float64], 2)))
def test_sparse_files_of_a_folder_may_be_of_several_types(folder, tmp_path, dtypes, streamed):
    X = sp.csr_array(np.round(3 * np.load(folder / "dense.npy")))
    for i, dtype in enumerate(dtypes):
        sp.save_npz(tmp_path / f"part{i}.npz", X[1500 * i : 1500 * (i + 1)].astype(dtype), compressed=i == 0)
    np.save(tmp_path / "values.npy", np.load(folder / "values.npy")[:3000])
    inside = problem(tmp_path, "lasso", 'npz("part*.npz")').solve(threads=1)
    outside = problem(tmp_path, "lasso", 'npz("part*.npz")').solve(memory="8GB", threads=1)
    assert isinstance(outside.instance.values["X"], row_blocks.SparseRows) and same(inside, outside)


def test_small_data_are_read_into_memory(folder):
    found = problem(folder, "lasso").solve(memory="8GB")
    assert isinstance(found.instance.values["X"], np.ndarray)


def test_limit_in_the_program_and_of_the_call(folder, streamed):
    own = problem(folder, "lasso", tail=', memory = "8GB"')
    assert isinstance(own.solve().instance.values["X"], row_blocks.DenseRows)
    with pytest.raises(PlanError, match="in memory before the run began"):
        own.solve(memory="1MB")
    with pytest.raises(fw.BuildError, match="a size such as"):
        own.solve(memory="2 apples")


def test_methods_that_need_columns_say_why(folder, streamed):
    with pytest.raises(PlanError, match="reads `X` in no order"):
        problem(folder, "lasso").solve(memory="8GB", method="coordinate_descent")


def test_uses_that_need_all_entries_are_refused(folder, streamed):
    made = problem(folder, "lasso")
    text = str(made).replace("X @ w", "standardize(X) @ w")
    (folder / "scaled.fw").write_text(text)
    with pytest.raises(DataError, match="FW4091"):
        fw.load(folder / "scaled.fw").solve(memory="8GB")


def test_nan_is_told_with_its_file_and_row(folder, tmp_path, streamed):
    for name in ("0", "1"):
        X = np.load(folder / "rows" / f"{name}.npy")
        X[17, 3] = np.nan if name == "1" else 1.0
        np.save(tmp_path / f"{name}.npy", X)
    np.save(tmp_path / "values.npy", np.ones(2000))
    with pytest.raises(DataError) as error:
        problem(tmp_path, "lasso", 'npy("[01].npy")').solve(memory="8GB")
    place = error.value.first.place
    assert error.value.code == "FW4021" and (Path(place.file).name, place.row, place.column) == ("1.npy", 18, 4)


@pytest.mark.parametrize("limit", ["8GB", "small"])
def test_nan_in_decoded_rows_is_told_with_its_source(folder, tmp_path, streamed, monkeypatch, limit):
    if limit == "8GB":  # all fit into memory, joined under each other
        monkeypatch.setattr(bindings, "SHARE", 8)
    for name in ("0", "1"):
        X = np.load(folder / "rows" / f"{name}.npy")
        X[17, 3] = np.nan if name == "1" else 1.0
        np.save(tmp_path / f"{name}.npy", np.asfortranarray(X))
    np.save(tmp_path / "values.npy", np.ones(2000))
    # decoded, then as they were decoded
    for _ in range(2):
        with pytest.raises(DataError) as error:
            problem(tmp_path, "lasso", 'npy("[01].npy")').solve(memory="8GB")
        place = error.value.first.place
        assert error.value.code == "FW4021" and (Path(place.file).name, place.row, place.column) == ("1.npy", 18, 4)


def test_multipliers_cost_no_pass_of_their_own(folder, streamed, monkeypatch):
    products, asked = row_chunks.turned_times, []

    def watched(A, Y, *args, **named):
        asked.append(Y.copy())
        return products(A, Y, *args, **named)

    inside = problem(folder, "vertices", 'npz("sparse.npz")').solve(threads=1)
    monkeypatch.setattr(row_chunks, "turned_times", watched)
    outside = problem(folder, "vertices", 'npz("sparse.npz")').solve(memory="8GB", threads=1)
    assert len(inside.dual) == 1 and inside.dual == outside.dual
    assert asked and not any(np.array_equal(a, b) for a, b in pairwise(asked))


@pytest.mark.parametrize("how", ["cut", "written"])
def test_file_changed_while_a_run_is_on(folder, tmp_path, how, streamed):
    np.save(tmp_path / "dense.npy", np.load(folder / "dense.npy"))
    np.save(tmp_path / "values.npy", np.load(folder / "values.npy"))
    path = tmp_path / "dense.npy"

    def change(progress):
        if how == "cut":
            os.truncate(path, 10_000)
        else:
            os.utime(path, ns=(1, 1))

    with pytest.raises(DataError) as error:
        problem(tmp_path, "lasso").solve(memory="8GB", callback=change, tol=1e-9)
    assert error.value.code == "FW4090" and "after it was bound" in str(error.value)


def test_callback_that_stops_leaves_a_certified_point(folder, streamed):
    found = problem(folder, "quantile").solve(memory="8GB", tol=1e-9, callback=lambda progress: progress.iteration < 3)
    assert found.status == "interrupted" and np.isfinite(found.objective)


@pytest.mark.skipif(sys.platform == "win32", reason="a signal to oneself is not Ctrl-C there")
def test_ctrl_c_leaves_the_best_certified_point(folder, streamed):
    pressed = []

    def press(progress):
        if progress.iteration >= 3 and not pressed:
            pressed.append(progress.iteration)
            signal.raise_signal(signal.SIGINT)

    found = problem(folder, "vertices").solve(
        memory="8GB", tol=1e-12, max_iter=200, method="frank_wolfe", callback=press
    )
    assert found.status == "interrupted" and np.isfinite(found.dual_bound) and 0.0 < found.relative_gap < 1.0


def test_limit_of_time_is_seen_within_a_product(folder, streamed):
    found = problem(folder, "quantile").solve(memory="8GB", tol=1e-12, time=1e-3)
    assert found.status == "tolerance_not_reached" and np.isfinite(found.objective)


def test_products_that_are_stopped_while_a_dual_point_is_repaired_leave_the_point(folder, streamed, monkeypatch):
    """At the end of a run the verifier has a tenth of its time: the products of a repair on a disk once ended in a traceback then."""
    from fwdsl.backends.kernels.pool import Stopped
    from fwdsl.solve import attempts

    asked = []

    def stopped(*given, **more):
        asked.append(given)
        raise Stopped

    monkeypatch.setattr(attempts, "repair", stopped)
    found = problem(folder, "newton").solve(memory="8GB", method="apg", tol=1e-9, max_iter=1)
    assert asked and found.status == "tolerance_not_reached" and np.isfinite(found.objective)


def test_saved_state_is_of_the_same_data(folder, streamed):
    from fwdsl.results.fingerprint import of_array

    for source in ('npy("dense.npy")', 'npz("sparse.npz")'):
        inside, outside = (
            problem(folder, "logistic", source).solve(memory=memory).instance.values["X"] for memory in (None, "8GB")
        )
        assert of_array(inside) == of_array(outside)


PEAK = """
import sys, fwdsl as fw
from fwdsl.readers.memory import resident
found = fw.load(sys.argv[1]).solve(memory="450MB", tol=1e-4, threads=2)
assert found.status == "optimal", found.status
found.save(sys.argv[2])
print(resident()[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is told by Linux alone")
def test_peak_of_a_process_keeps_to_the_limit(tmp_path):
    n, d = 500_000, 250
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(tmp_path / "dense.npy", "w+", np.float64, (n, d))
    y = np.empty(n)
    for a in range(0, n, 10_000):
        X[a : a + 10_000] = rows = rng.standard_normal((10_000, d))
        y[a : a + 10_000] = np.where(rows[:, 0] + rng.standard_normal(10_000) > 0.0, 1.0, -1.0)
    np.save(tmp_path / "signs.npy", y)
    problem(tmp_path, "logistic")
    command = [sys.executable, "-c", PEAK, str(tmp_path / "logistic.fw"), str(tmp_path / "answer.npz")]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert 0 < int(told.stdout.split()[-1]) <= 450_000_000 < n * d * 8


LOADED = """
import sys, fwdsl as fw
from fwdsl.errors import PlanError
from fwdsl.readers.memory import resident
memory, method = int(sys.argv[2]), sys.argv[3]
try:
    print(fw.load(sys.argv[1]).solve(memory=memory, method=method, tol=1e-3, threads=2).status)
except PlanError as error:
    print(error.code)
print(resident()[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is told by Linux alone")
@pytest.mark.parametrize("form", ["parquet", "csv", "npz"])
def test_peak_of_a_process_that_decodes_a_folder_keeps_to_the_limit(form, tmp_path, monkeypatch):
    """Files of 20 MB of numbers, the whole of which is more than may be in memory."""
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "rows").mkdir()
    rng = np.random.default_rng(0)
    for i in range(24):
        X = rng.standard_normal((50_000, 50)).round(3)
        y = np.where(X[:, 0] + rng.standard_normal(50_000) > 0.0, 1.0, -1.0)
        path = tmp_path / "rows" / f"{i:02}.{form}"
        if form == "npz":
            np.savez(path, X=X, y=y)
            continue
        pa = pytest.importorskip("pyarrow")
        table = pa.table([*X.T.copy(), y], names=[*(f"x{j}" for j in range(50)), "y"])
        if form == "csv":
            pytest.importorskip("pyarrow.csv").write_csv(table, path)
        else:
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
    (tmp_path / "p.fw").write_text(
        f'fw 1\ndata X: matrix[n, p], y: signs[n] from {form}("rows"{"" if form == "npz" else ", target = " + chr(34) + "y" + chr(34)})\n'
        "var w: vector[p]\nminimize mean(logistic(X @ w, y))\nsubject to norm1(w) <= 3\n"
    )
    limit = 420_000_000
    for _ in ("decoded", "read again"):
        command = [sys.executable, "-c", LOADED, str(tmp_path / "p.fw"), str(limit), "apg"]
        told = subprocess.run(command, capture_output=True, text=True)
        assert told.returncode == 0, told.stderr
        status, peak = told.stdout.split()
        assert status == "optimal" and int(peak) <= limit < 24 * 50_000 * 50 * 8


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is told by Linux alone")
@pytest.mark.parametrize("method", ["auto", "apg", "frank_wolfe"])
def test_what_memory_would_do_is_told(folder, streamed, method):
    with pytest.raises(PlanError) as error:
        problem(folder, "logistic").solve(memory="2MB", method=method)
    assert error.value.code == "FW4095"
    told = re.search(r"allow about (\d+)MB", error.value.first.hint)
    assert told is not None and int(told[1]) > 20
    assert problem(folder, "logistic").solve(memory=f"{2 * int(told[1])}MB", method=method).status == "optimal"


def test_rows_that_are_longer_than_a_piece_count_as_they_are(tmp_path, streamed, monkeypatch):
    X = np.random.default_rng(0).standard_normal((8, 30_000))
    np.save(tmp_path / "X.npy", X)
    sp.save_npz(tmp_path / "X.npz", sp.csr_array(X), compressed=False)
    np.save(tmp_path / "values.npy", X[:, 0])
    for source, bytes_ in (('npy("X.npy")', 4 * 8 * 30_000), ('npz("X.npz")', 12 * 30_000)):
        told = []
        for size in (100_000, 10**7):  # of a piece
            monkeypatch.setattr(memory, "PIECE", size)
            monkeypatch.setattr(row_blocks, "PIECE", size)
            with pytest.raises(PlanError) as error:
                problem(tmp_path, "lasso", source).solve(memory="1MB", threads=1)
            assert error.value.code == "FW4095"
            matrix = problem(tmp_path, "lasso", source)._with(Options(memory=8 * 10**9)).bind().values["X"]
            told.append(matrix.largest_piece)
        assert told == [bytes_, 10**7]


def test_what_would_do_counts_the_matrices_that_it_reads_into_memory():
    assert allowed(312e6) == "330MB"
    assert allowed(312e6, [42_000_000]) == "330MB"  # more than an eighth: it stays on its disk
    assert allowed(312e6, [41_000_000, 10**9]) == "380MB"
    assert allowed(312e6, [41_000_000, 47_000_000]) == "420MB"


def test_no_list_of_methods_is_empty(folder, streamed):
    with pytest.raises(PlanError) as error:
        problem(folder, "lasso").solve(memory="1MB", method="coordinate_descent")
    assert error.value.code == "FW5003" and not error.value.first.hint.rstrip().endswith(":")


def test_newton_on_few_rows_is_refused_where_the_columns_are_not_at_hand(streamed, tmp_path):
    rng = np.random.default_rng(1)
    np.save(tmp_path / "X.npy", rng.standard_normal((90, 4000)))
    np.save(tmp_path / "y.npy", rng.standard_normal(90))
    text = 'fw 1\ndata X: matrix[n, p] from npy("X.npy"), y: vector[n] from npy("y.npy")\nvar w: vector[p]\n'
    (tmp_path / "p.fw").write_text(f"{text}minimize mean(squared(X @ w, y)) + 0.1 * sum_squares(w)\n")
    whole = fw.load(tmp_path / "p.fw")
    assert whole.solve(method="newton").status == "optimal"
    for method in ("newton", 'newton(system="dual")'):
        with pytest.raises(PlanError, match="columns of data, which are not at hand"):
            whole.solve(method=method, memory="8GB")
    assert whole.solve(memory="8GB").status == "optimal"
