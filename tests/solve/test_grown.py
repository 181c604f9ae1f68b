"""`--resume` on data that only got more rows starts from the old answer and dual point."""

import numpy as np
import pytest

from fwdsl.cli import main

N, D = 4000, 40


def program(at, method):
    (at / "p.fw").write_text(
        'fw 1\ndata X: matrix[n, p] from npy("X.npy"), y: vector[n] from npy("y.npy")\nvar w: vector[p]\n'
        f"minimize mean(quantile(X @ w, y, tau=0.3)) + 0.05 * norm1(w)\nsolve method = {method}, tol = 1e-6\n"
    )


def save(at, n, change=None):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(N)
    if change is not None:
        X[change] += 1.0
    np.save(at / "X.npy", X[:n])
    np.save(at / "y.npy", y[:n])


def run(at, capsys, *more):
    code = main(["run", str(at / "p.fw"), *more])
    out = capsys.readouterr()
    return code, out.out, out.err


def iterations(text):
    return int(text.split("pdhg: ")[1].split()[0].replace(",", ""))


def test_more_rows_start_from_the_answer(tmp_path, capsys):
    program(tmp_path, "pdhg")
    state = str(tmp_path / "state.npz")
    save(tmp_path, 3980)
    assert run(tmp_path, capsys, "--checkpoint", state)[0] == 0
    save(tmp_path, N)
    code, fresh, _ = run(tmp_path, capsys)
    again, found, told = run(tmp_path, capsys, "--resume", state)
    assert code == again == 0 and "status      optimal" in found
    assert "starts from the answer in" in told and "20 rows less of `X` and `y`" in told
    assert iterations(found) <= iterations(fresh)


@pytest.mark.parametrize("how", ["changed", "fewer"])
def test_other_changes_are_refused(tmp_path, capsys, how):
    program(tmp_path, "pdhg")
    state = str(tmp_path / "state.npz")
    save(tmp_path, 3000)
    assert run(tmp_path, capsys, "--checkpoint", state, "--max-iter", "20")[0] is not None
    save(tmp_path, *((N, 7) if how == "changed" else (2000,)))
    code, _, told = run(tmp_path, capsys, "--resume", state)
    assert code != 0 and "FW0202" in told


def ratings(at, count, change=None, by="lowrank"):
    """The first of 3,000 entries of a 90 x 60 matrix, by ids in no order; the last of them are of rows and columns of their own."""
    rng = np.random.default_rng(0)
    M = rng.standard_normal((90, 3)) @ rng.standard_normal((3, 60))
    places = rng.permutation(80 * 50)[:2990]
    rows, columns = np.append(places // 50, np.arange(80, 90)), np.append(places % 50, np.arange(50, 60))
    values = M[rows, columns] + 0.1 * rng.standard_normal(rows.size)
    if change is not None:
        values[change] += 1.0
    lines = [f"u{97 * i % 90},{(37 * j) % 60},{v:.6f}" for i, j, v in zip(rows, columns, values, strict=True)]
    (at / "r.csv").write_text("\n".join(lines[:count]) + "\n")
    (at / "p.fw").write_text(
        'fw 1\ndata R: entries[m, n] from coo("r.csv")\nvar B: matrix[m, n]\nminimize mean(squared(B[R], R))\n'
        f"subject to norm_nuc(B) <= 120\nsolve method = {by}, tol = 1e-5\n"
    )


@pytest.mark.parametrize("by", ["lowrank", "apg"])
@pytest.mark.parametrize("before", [2960, 2995])
def test_more_observed_entries_start_from_the_factors(tmp_path, capsys, before, by):
    state = str(tmp_path / "state.npz")
    ratings(tmp_path, before)
    assert run(tmp_path, capsys, "--checkpoint", state)[0] == 0
    ratings(tmp_path, 3000, by=by)
    code, found, told = run(tmp_path, capsys, "--resume", state)
    assert code == 0 and "status      optimal" in found
    assert f"starts from the answer in {state}, of {3000 - before} rows less of `R`" in " ".join(told.split())
    _, fresh, _ = run(tmp_path, capsys)
    values = [float(text.split("objective")[1].split()[0]) for text in (found, fresh)]
    assert values[0] == pytest.approx(values[1], rel=2e-5)


@pytest.mark.parametrize("how", ["changed", "fewer"])
def test_other_changes_of_observed_entries_are_refused(tmp_path, capsys, how):
    state = str(tmp_path / "state.npz")
    ratings(tmp_path, 2900)
    assert run(tmp_path, capsys, "--checkpoint", state, "--max-iter", "20")[0] is not None
    ratings(tmp_path, *((3000, 7) if how == "changed" else (2800,)))
    code, _, told = run(tmp_path, capsys, "--resume", state)
    assert code != 0 and "FW0202" in told
