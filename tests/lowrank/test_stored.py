"""Observed entries that stay in files: answers and certificates to the bits of those in memory, and what cannot be done with them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.bind import bindings
from fwdsl.bind.observed_places import PIECE, Places, StoredPlaces
from fwdsl.errors import DataError, FwError, PlanError
from fwdsl.model.options import Options
from fwdsl.readers import sorted_entries
from fwdsl.readers.decoded import Decoded
from fwdsl.readers.scratch import Scratch
from fwdsl.solve import solve
from fwdsl.solve.state import load_state, save_state

N, P, SEEN = 2000, 1100, 300_000
"""Of two leaves, by the columns, each of which is read in two pieces. The shorter side is beyond what is proven densely."""

PROGRAMS = {
    "penalty": ("mean(squared(X[M], M)) + 0.0004 * norm_nuc(X)", "lowrank"),
    "ball and ridge": ("mean(huber(X[M], M, delta=1)) + 1e-8 * sum_squares(X)", "lowrank"),
    "block": ("mean(squared(X[M], M)) + 0.0004 * norm_nuc(X)", "block_fw"),
    "block of fixed curvature": ("sum(squared(X[M], M))", 'block_fw(curvature="fixed")'),
    "factored": ("mean(squared(X[M], M))", "factored_fw"),
    "away": ("mean(huber(X[M], M, delta=1)) + 0.0001 * norm_nuc(X)", 'factored_fw(correct="away")'),
}


def written(path: Path, rows: Any, columns: Any, values: Any) -> Path:
    text = "".join(f"{i},{j},{float(v)!r}\n" for i, j, v in zip(rows, columns, values, strict=True))
    path.write_text(text, encoding="ascii")
    return path


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Entries of a matrix of rank 3 with noise, some places twice, in the order in which they came."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, N, SEEN), rng.integers(0, P, SEEN)
    U, V = rng.standard_normal((N, 3)), rng.standard_normal((P, 3))
    values = np.round(np.einsum("ek,ek->e", U[rows], V[columns]) + rng.standard_normal(SEEN), 4)
    return written(tmp_path_factory.mktemp("entries") / "m.coo", rows, columns, values)


@pytest.fixture
def outgrown(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All data outgrow memory."""
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    root = tmp_path_factory.getbasetemp() / "cache of entries"
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(root))
    return root


def problem(path: Path, objective: str, rest: str = "", variables: str = "") -> fw.Problem:
    ball = "" if "norm_nuc" in objective else "\nsubject to norm_nuc(X) <= 3000"
    head = f'data M: entries[n, p] from coo("{path}")\nvar X: matrix[n, p]{variables}\n'
    return fw.parse(f"{head}minimize {objective}{ball}\nsolve tol = 1e-2{rest}\n")


def program(name: str, path: Path) -> fw.Problem:
    objective, method = PROGRAMS[name]
    return problem(path, objective, f", method = {method}")


def same(one: fw.Solution, other: fw.Solution) -> bool:
    bits = (one["X"].U, other["X"].U), (one["X"].V, other["X"].V)
    numbers = [
        (s.status, s.iterations, s.objective, s.dual_bound, s.gap, s.certificate, s.dual, s.terms) for s in (one, other)
    ]
    return all(np.array_equal(a, b) for a, b in bits) and repr(numbers[0]) == repr(numbers[1])


@pytest.mark.parametrize("name", [n if n == "penalty" else pytest.param(n, marks=pytest.mark.slow) for n in PROGRAMS])
def test_entries_in_files_have_the_bits_of_those_in_memory(name: str, ratings: Path, outgrown: Path) -> None:
    whole = program(name, ratings).solve(threads=2)
    places = whole.instance.values["M"].by_rows[0]
    assert whole.status == "optimal" and not isinstance(places, StoredPlaces)
    assert len(places.leaves) == 2 and all(b - a > PIECE for a, b in places.entry_leaves)
    for threads in (1, 2):
        found = program(name, ratings).solve(memory="8GB", threads=threads)
        assert isinstance(found.instance.values["M"].by_rows[0], StoredPlaces) and same(whole, found)
    # they were decoded and sorted once, and nothing else is left behind
    assert [p.name for p in outgrown.glob("*rows-*")] == [p.name for p in outgrown.glob("rows-*")]
    (folder,) = (p for p in outgrown.glob("rows-*") if (p / "M.columns.raw").stat().st_size == 4 * SEEN)
    assert {p.suffix for p in folder.iterdir()} == {".json", ".npy", ".raw"}
    assert sum(p.stat().st_size for p in folder.glob("*.raw")) == 12 * SEEN


def test_a_narrow_matrix_is_proven_as_in_memory(tmp_path: Path, outgrown: Path) -> None:
    rng = np.random.default_rng(1)
    rows, columns = rng.integers(1, 40, 3000), rng.integers(0, 30, 3000)
    values = (rows % 3 - 1.0) * (columns % 2 + 1.0) + 0.1 * rng.standard_normal(3000)
    path = written(tmp_path / "m.coo", rows, columns, values)
    for objective in ("mean(squared(X[M], M)) + 0.01 * norm_nuc(X)", "mean(squared(X[M], M)) + 1e-4 * sum_squares(X)"):
        made = problem(path, objective, ", method = lowrank")
        whole, found = made.solve(), made.solve(memory="8GB")
        assert same(whole, found) and found.certificate.kind == "rigorous"


def test_a_run_goes_on_from_its_state(ratings: Path, outgrown: Path, tmp_path: Path) -> None:
    for name, at in (("penalty", 4), ("factored", 3)):
        method = PROGRAMS[name][1]
        made = program(name, ratings).solve(memory="8GB")
        session = program(name, ratings)._session
        session.options = Options(method=method, tol=1e-2, threads=1, memory=8 * 10**9)
        form, plan, saved = session.canonicalise(), session.plan(), []

        def keep(state: Any, form: Any = form, saved: list[Path] = saved, at: int = at) -> None:
            if state.iteration == at:
                saved.append(tmp_path / f"{len(saved)}.npz")
                save_state(saved[-1], form, state)

        whole = solve(form, plan, session.options, on_state=keep)
        rest = solve(form, plan, session.options, resume=load_state(saved[0], form))
        assert whole.iterations == rest.iterations == made.iterations
        assert whole.dual_bound == rest.dual_bound == made.dual_bound
        assert np.array_equal(whole["X"].U, rest["X"].U) and np.array_equal(whole["X"].U, made["X"].U)


def test_ids_of_words_and_signs_are_read_into_memory(tmp_path: Path, outgrown: Path) -> None:
    rng = np.random.default_rng(2)
    rows, columns = rng.integers(0, 30, 800), rng.integers(0, 20, 800)
    path = tmp_path / "m.coo"
    path.write_text("".join(f"u{i},{j},{i % 5}\n" for i, j in zip(rows, columns, strict=True)))
    made = problem(path, "mean(squared(X[M], M)) + 0.01 * norm_nuc(X)", ", method = lowrank")
    whole, found = made.solve(), made.solve(memory="8GB")
    assert same(whole, found) and found.instance.values["M"].stored is None
    path.write_text("".join(f"{i},{j},{1 if i % 2 else -1}\n" for i, j in zip(rows, columns, strict=True)))
    text = f'data M: entries[n, p] of signs from coo("{path}")\nvar X: matrix[n, p]\n'
    signs = fw.parse(f"{text}minimize mean(logistic(X[M], M)) + 0.01 * norm_nuc(X)\nsolve method = lowrank\n")
    assert same(signs.solve(), signs.solve(memory="8GB"))


def test_ids_that_are_not_counted_from_0(tmp_path: Path, outgrown: Path) -> None:
    rng = np.random.default_rng(3)
    rows, columns = 10.0 * rng.integers(5, 40, 900), rng.integers(0, 15, 900) - 7.5
    path = tmp_path / "m.coo"
    path.write_text("".join(f"{i},{j},{float(np.sin(i) + j)!r}\n" for i, j in zip(rows, columns, strict=True)))
    made = problem(path, "mean(squared(X[M], M)) + 0.01 * norm_nuc(X)", ", method = lowrank")
    whole, found = made.solve(), made.solve(memory="8GB")
    assert same(whole, found) and found.instance.values["M"].stored is not None
    assert found.instance.maps["M.rows"] == whole.instance.maps["M.rows"]
    # a size from elsewhere makes indices of ids, and leaves rows without entries
    path.write_text(
        "".join(f"{int(i) // 10},{int(j + 9)},{float(np.sin(i))!r}\n" for i, j in zip(rows, columns, strict=True))
    )
    text = f'data M: entries[n, p] from coo("{path}", base=1)\nvar X: matrix[n, p]\n'
    made = fw.parse(f"{text}minimize mean(squared(X[M], M)) + 0.01 * norm_nuc(X)\nsolve method = lowrank\n")
    whole, found = made.bind(n=45, p=20).solve(), made.bind(n=45, p=20).solve(memory="8GB")
    assert whole["X"].shape == (45, 20) and same(whole, found)
    with pytest.raises(DataError, match="is not from 1 to 30"):
        made.bind(n=30, p=20).solve(memory="8GB")


@pytest.mark.parametrize(
    ("objective", "variables", "why"),
    [
        ("mean(squared(X[M] + c, M)) + 0.01 * norm_nuc(X)", ", c: real", "a free intercept stands beside"),
        ("mean(squared(X[M] + 1, M)) + 0.01 * norm_nuc(X)", "", "constants stand beside"),
        ("mean(absolute(X[M], M)) + 0.01 * norm_nuc(X)", "", "is not a smooth loss"),
    ],
)
def test_what_needs_all_entries_at_once_is_refused(
    objective: str, variables: str, why: str, ratings: Path, outgrown: Path
) -> None:
    with pytest.raises(FwError, match=why) as error:
        problem(ratings, objective, variables=variables).solve(memory="8GB")
    assert error.value.code == "FW4091"


def test_methods_of_whole_matrices_say_why_not(ratings: Path, outgrown: Path) -> None:
    with pytest.raises(PlanError, match=r"entries of X\[M\] stay on their disk"):
        program("penalty", ratings).solve(memory="8GB", method="pdhg")
    assert "stay on their disk" in str(program("penalty", ratings).plan(memory="8GB"))


def test_a_file_that_changes_is_an_error(ratings: Path, outgrown: Path) -> None:
    made = program("penalty", ratings)

    def change(progress: Any) -> None:
        for stored in outgrown.glob("rows-*/M.columns.raw"):
            os.truncate(stored, 1000)

    try:
        with pytest.raises(DataError, match="cut short") as error:
            made.solve(callback=change, memory="8GB")
        assert error.value.code == "FW4090"
    finally:
        for folder in outgrown.glob("rows-*"):
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()


def test_saved_answers_are_read_again(ratings: Path, outgrown: Path, tmp_path: Path) -> None:
    made = program("penalty", ratings)
    found = made.solve(memory="8GB")
    found.save(tmp_path / "s.npz")
    again = fw.load_solution(tmp_path / "s.npz")
    assert np.array_equal(again["X"].U, found["X"].U) and again.gap == found.gap
    assert np.array_equal(found.predict(M=([0, 5], [2, 3])), again.predict(M=([0, 5], [2, 3])))


@pytest.mark.parametrize("least", [100, 700, 10**6])
def test_sorting_by_buckets_is_sorting(least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(sorted_entries, "LEAST", least)
    monkeypatch.setattr(sorted_entries, "CHUNK", 333)
    rng = np.random.default_rng(4)
    rows, columns, values = 3.0 * rng.integers(0, 50, 2000), rng.integers(0, 9, 2000) - 2.0, rng.standard_normal(2000)
    rows[:600] = 6.0  # a row larger than a bucket
    cache = Decoded("test", (), 0)
    found = sorted_entries.sort_into_files(cache, "M", (rows, columns, values), 0)
    order = np.lexsort((columns, rows))
    assert np.array_equal(found.rows, np.unique(rows)) and found.rows.dtype == np.int64
    assert np.array_equal(np.repeat(found.rows, found.counts), rows[order])
    assert np.array_equal(found.columns[found.codes.read(0, 2000)], columns[order])
    assert np.array_equal(found.values.read(0, 2000), values[order])
    cache.drop()


def test_places_by_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fwdsl.bind.observed_places.PIECE", 7)
    rng = np.random.default_rng(5)
    for m, n, p in ((50, 4, 5), (30, 3, 3), (7, 2, 2), (8, 1, 1), (100, 30, 30), (1, 5, 5)):
        rows, columns = rng.integers(0, n, m), rng.integers(0, p, m)
        places, order = Places.by_rows((n, p), rows, columns)
        assert places.most_frequent() == np.unique(rows * p + columns, return_counts=True)[1].max()
        for start in range(0, m, 5):
            stop = min(start + 9, m)
            assert np.array_equal(places.rows_of(start, stop), rows[order][start:stop])
            assert np.array_equal(places.columns_of(start, stop), columns[order][start:stop])
        assert places.sum(lambda at: float(at.stop - at.start)) == m


def test_scratch_keeps_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path / "made"))
    numbers, kept = np.random.default_rng(6).standard_normal(100), Scratch()
    kept[40:100] = numbers[40:]
    kept[0:40] = numbers[:40]
    assert np.array_equal(kept[10:90], numbers[10:90])
