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
