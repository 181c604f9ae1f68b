"""`tools/check_certificate.py`: proven bounds of saved answers, false claims found, other forms refused in a line."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from tools import check_certificate as tool

RNG = np.random.default_rng(1)
X = RNG.normal(size=(40, 5))
SCORE = X @ [1.0, -2.0, 0.0, 0.0, 0.5]
SIGNS = np.where(SCORE + 0.5 * RNG.normal(size=40) > 0, 1.0, -1.0)
VALUES = SCORE + 0.1 * RNG.normal(size=40)
LOSSES = {"squared": "vector", "logistic": "signs", "hinge": "signs", "squared_hinge": "signs", "huber": "vector"}
PENALTIES = {
    "l1": ("0.05 * norm1(w)", ""),
    "ridge": ("mu / 2 * sum_squares(w)", ""),
    "elastic net": ("mu * norm1(w) + mu/2*sum_squares(w)", ""),
    "length": ("0.1*norm2(w)", ""),
    "l1 ball": ("", "subject to norm1(w) <= 1"),
    "l2 ball": ("", "subject to ball: w in l2_ball(1)"),
    "box": ("", "subject to\n    w >= -0.2  # both ends\n    w <= 0.5"),
    "cube": ("0.02*norm1(w)", "subject to norm_inf(w) <= 0.3"),
    "nonnegative": ("", "subject to w >= 0"),
    "nonnegative l1": ("0.05*norm1(w)", "subject to w in nonnegative"),
    "simplex": ("", "subject to w in simplex(1)"),
    "solid simplex": ("", "subject to w in solid_simplex(0.3)"),
    "simplex and ridge": ("0.1*sum_squares(w)", "subject to sum(w) == 1, w >= 0"),
    "ball and ridge": ("0.02*sum_squares(w)", "subject to norm1(w) <= 1"),
}  # fmt: skip


def program(loss: str, penalty: str, intercept: bool) -> str:
    more, constraint = PENALTIES[penalty]
    score = "X @ w + b" if intercept else "X @ w"
    return (
        f"data X: matrix[n, p], y: {LOSSES[loss]}[n]\nparam mu: nonnegative = 0.03\n"
        f"var w: vector[p]{', b: real' if intercept else ''}\nlet score = {score}\n"
        f"minimize 1/2 * mean({loss}(score, y)){f' + {more}' if more else ''}\n{constraint}\n"
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", X)
    np.save("signs.npy", SIGNS)
    np.save("vector.npy", VALUES)
    return tmp_path


def saved(text: str, kind: str, **options: Any) -> fw.Solution:
    y = SIGNS if kind == "signs" else VALUES
    found = fw.parse(text).bind(X=X, y=y).solve(threads=1, **{"tol": 1e-8, **options})
    found.save("a.npz")
    return found


def checked(kind: str, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    capsys.readouterr()
    code = tool.main(["a.npz", "--data", "X=X.npy", "--data", f"y={kind}.npy", *more])
    return code, capsys.readouterr().out


CASES = [
    (loss, penalty, bool((i + j) % 2))
    for (i, loss), (j, penalty) in itertools.product(enumerate(LOSSES), enumerate(PENALTIES))
]


@pytest.mark.parametrize(("loss", "penalty", "intercept"), CASES[::3])
def test_answers_are_verified(
    loss: str, penalty: str, intercept: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = saved(program(loss, penalty, intercept), LOSSES[loss])
    code, out = checked(LOSSES[loss], capsys)
    assert code == 0 and "\nverified: the optimal value lies between the bounds" in out, out
    upper, lower = (float(line.split()[2]) for line in out.splitlines()[1:3])
    assert lower <= upper <= lower + (found.relative_gap + 1e-9) * abs(upper)


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "penalty", "intercept"), [(a, b, c) for a, b, _ in CASES for c in (False, True)])
def test_answers_of_every_form_are_verified(
    loss: str, penalty: str, intercept: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved(program(loss, penalty, intercept), LOSSES[loss])
    assert checked(LOSSES[loss], capsys)[0] == 0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_standardized_columns_are_verified(
    loss: str, shift: float, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The form that `fwdsl new` writes, with columns far from 0 and one of a single value."""
    text = program(loss, "l1", True).replace("let score = X", "let Z = standardize(X)\nlet score = Z")
    rows = np.column_stack([X * [1.0, 10.0, 1e-3, 1.0, 1e4] + shift, np.full(40, 7.1)])
    np.save("rows.npy", rows)
    found = fw.parse(text).bind(X=rows, y=SIGNS if LOSSES[loss] == "signs" else VALUES).solve(tol=1e-8, threads=1)
    found.save("a.npz")
    code = tool.main(["a.npz", "--data", "X=rows.npy", "--data", f"y={LOSSES[loss]}.npy"])
    out = capsys.readouterr().out
    assert code == 0 and "standardize(X) @ w + b" in out and "\nverified" in out, out
    # other columns are another problem
    np.save("rows.npy", rows * np.linspace(1.0, 2.0, 40)[:, None])
    assert tool.main(["a.npz", "--data", "X=rows.npy", "--data", f"y={LOSSES[loss]}.npy"]) == 1


def test_standardized_columns_contain_the_exact_ones() -> None:
    columns = np.array([[1e8 + 1.0, 0.1], [1e8 + 2.0, 0.1], [1e8 + 4.0, 0.1], [1e8, 0.1]])
    band = tool.standardized(columns)
    assert not band.mid[:, 1].any() and not band.radius[:, 1].any() and band.radius.max() < 1e-14
    exact = [Fraction(float(v)) for v in columns[:, 0]]
    mean = sum(exact) / 4
    variance = sum((v - mean) ** 2 for v in exact) / 4
    for v, mid, radius in zip(exact, band.mid[:, 0], band.radius[:, 0], strict=True):
        # |mid| - radius <= |v - mean| / std <= |mid| + radius, squared
        low, high = max(Fraction(0), Fraction(abs(mid)) - Fraction(radius)), Fraction(abs(mid)) + Fraction(radius)
        assert low**2 * variance <= (v - mean) ** 2 <= high**2 * variance
    plain = tool.dots(band.mid, np.array([1.0, 2.0]))
    wide = tool.dots(band, np.array([1.0, 2.0]))
    assert np.all(wide[0] <= plain[0]) and np.all(plain[1] <= wide[1])


def test_an_answer_far_from_the_optimum_has_its_gap(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = saved(program("logistic", "l1 ball", False), "signs", method="frank_wolfe", max_iter=5)
    code, out = checked("signs", capsys)
    upper, lower = (float(line.split()[2]) for line in out.splitlines()[1:3])
    assert code == 0 and upper - lower == pytest.approx(found.gap, rel=1e-6) and found.relative_gap > 1e-4


def changed(change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    with np.load("a.npz", allow_pickle=False) as old:
        arrays = {name: old[name] for name in old.files}
    record = json.loads(str(arrays.pop("record")))
    change(arrays, record)
    np.savez("a.npz", record=np.array(json.dumps(record)), **arrays)


def of(part: str, key: str, value: Callable[[Any], Any]) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    def change(arrays: dict[str, Any], record: dict[str, Any]) -> None:
        held = arrays if part == "arrays" else record
        held[key] = value(held[key])

    return change


def loose(change: Callable[..., None]) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    """A change beside a record that tries to have it pass: a size that makes every difference small."""

    def both(arrays: dict[str, Any], record: dict[str, Any]) -> None:
        change(arrays, record)
        record["certificate"]["scale"] = 1e12

    return both


@pytest.mark.parametrize(
    "change",
    [
        loose(of("arrays", "w", lambda w: w + 1e-3)),
        loose(of("record", "dual_bound", lambda d: d + 1e-4)),
        of("arrays", "w", lambda w: w + 1e-3),
        of("arrays", "w", lambda w: 0 * w),
        of("arrays", "b", lambda b: b + 0.1),
        of("arrays", "dual:term1", lambda y: 0.99 * y),
        of("arrays", "dual:term1", lambda y: -y),
        of("arrays", "dual:term1", lambda y: y[::-1]),
        of("record", "objective", lambda p: p - 1e-4),
        of("record", "objective", lambda p: p + 1e-4),
        of("record", "objective", lambda p: None),
        of("record", "dual_bound", lambda d: d + 1e-4),
        of("record", "parameters", lambda _: {"mu": 0.031}),
        of("record", "program", lambda text: text.replace("1/2 * mean", "0.49 * mean")),
        of("record", "program", lambda text: text.replace("norm1", "norm2").replace("+ mu/2*sum_squares(w)", "")),
    ],
)
def test_false_claims_are_found(change: Callable[..., None], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(program("logistic", "elastic net", True), "signs")
    assert checked("signs", capsys)[0] == 0
    changed(change)
    code, out = checked("signs", capsys)
    assert code == 1 and "NOT VERIFIED" in out


@pytest.mark.parametrize(
    "claims",
    [
        {"status": "optimal"},
        {"gap": 1e-9},
        {"relative_gap": 1e-9},
        {"status": "optimal", "gap": None, "dual_bound": None},
    ],
)
def test_a_gap_that_is_claimed_smaller_than_it_is(
    claims: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = saved(program("logistic", "l1 ball", False), "signs", method="frank_wolfe", max_iter=5)
    assert found.relative_gap > 1e-4 and checked("signs", capsys)[0] == 0
    changed(lambda _arrays, record: record.update(claims))
    code, out = checked("signs", capsys)
    assert code == 1 and ("more than is claimed" in out or "proves no more" in out)


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan"), "inf", True, [1.0]])
@pytest.mark.parametrize("key", ["objective", "dual_bound", "gap", "relative_gap"])
def test_claims_that_are_no_numbers(value: object, key: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside an infinite objective every difference would be small."""
    saved(program("logistic", "elastic net", True), "signs")
    changed(lambda _arrays, record: record.update({"dual_bound": 1e300, key: value}))
    code, out = checked("signs", capsys)
    assert code == 2 and "refused: the record does not say" in out, out


@pytest.mark.parametrize(("weight", "name"), [("10 / n", "n"), ("p / 50", "p"), ("mu", "mu")])
def test_values_of_names_that_are_no_parameters_are_not_taken_from_the_record(
    weight: str, name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"data X: matrix[n, p], y: vector[n]\nparam mu: positive = 0.1\nvar w: vector[p]\nminimize mean(squared(X @ w, y)) + {weight} * norm1(w)"
    saved(text, "vector")
    before = checked("vector", capsys)
    changed(lambda _arrays, record: record["parameters"].update({name: 0.3}))
    assert before[0] == 0 and checked("vector", capsys)[0] == (1 if name == "mu" else 0)
    # a vector of the data is no number
    changed(of("record", "program", lambda t: t.replace(f"{weight} *", "y *")))
    changed(lambda _arrays, record: record["parameters"].update({"y": 0.1}))
    assert checked("vector", capsys)[0] == 2


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "0.03"])
def test_parameters_that_are_no_numbers(value: object, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(program("logistic", "elastic net", True), "signs")
    changed(lambda _arrays, record: record.update({"parameters": {"mu": value}}))
    assert checked("signs", capsys)[0] == 2


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("bounds", ["w >= 0", "w >= -0.05", "w <= 0.1", "-0.3 <= w <= 0.1", "w >= 0.01, w <= 0.1"])
@pytest.mark.parametrize("weight", [0.02, 0.2, 20.0])
def test_a_length_beside_bounds_has_the_bound_that_its_dual_vector_proves(
    loss: str, bounds: str, weight: float, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"{program(loss, 'length', True).replace('0.1*', f'{weight} * ')}subject to {bounds}\n"
    found = saved(text, LOSSES[loss])
    code, out = checked(LOSSES[loss], capsys)
    assert found.status == "optimal" and code == 0, out


def test_the_bound_of_a_length_beside_bounds_is_the_least_value() -> None:
    rng = np.random.default_rng(0)
    ends = [(-np.inf, np.inf), (0.0, np.inf), (-0.1, 0.2), (0.05, 0.2), (-np.inf, -0.1), (-0.2, 0.0), (0.1, np.inf)]
    for trial in range(70):
        low, high = ends[trial % len(ends)]
        v, size = rng.normal(size=3), float(rng.choice([0.3, 1.0, 3.0]))
        p = tool.Problem(length=(size, size), low=(low, low), high=(high, high))
        with np.errstate(all="ignore"):
            bound = tool.beside_length(p, (v, v))
        points = np.clip(rng.normal(size=(4000, 3)) * 10.0 ** rng.uniform(-3, 1, size=(4000, 1)), low, high)
        points = np.vstack([points, np.clip(-v * np.geomspace(1e-3, 10, 50)[:, None], low, high)])
        least = (points @ v + size * np.linalg.norm(points, axis=1)).min()
        assert bound <= least + 1e-12
        if np.isfinite(low) and np.isfinite(high):
            import cvxpy as cp

            w = cp.Variable(3)
            exact = cp.Problem(cp.Minimize(v @ w + size * cp.norm(w)), [w >= low, w <= high]).solve(solver="CLARABEL")
            assert bound == pytest.approx(exact, abs=1e-6)


ALONE = [[1, 0, 0, 1], [0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 0, 1], [0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 1], [0, 1, 0, 1]]
"""Columns of which the last is 1 in all rows that the optimum needs: it leaves X'y >= 0 no room where the entries add up to 0."""


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_nonnegative_coefficients_and_an_intercept_without_a_penalty(
    loss: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, y = np.array(ALONE, dtype=float), np.array([1, 1, -1, -1, 1, 1, 1, -1.0])
    np.save("X.npy", rows)
    np.save("signs.npy", y)
    text = program(loss, "nonnegative", True)
    found = fw.parse(text).bind(X=rows, y=y).solve(threads=1, tol=1e-8)
    found.save("a.npz")
    code, out = checked("signs", capsys)
    assert found.status == "optimal" and code == 0, out


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("minimize mean(huber(X @ w, y, 0.3)) + norm1(w)", "1 * mean(huber(X @ w, y, delta=0.3)) + 1 * norm1(w)"),
        ("param lambda: nonnegative = .1\nminimize mean(squared(X @ w, y)) + lambda * norm1(w)", "+ 0.1 * norm1(w)"),
        ("minimize mean(squared(X @ w, y))\nsubject to 1 == sum(w),\n w >=\n 0", "0 <= w, sum(w) == 1"),
        ("minimize mean(squared(X @ w, y))\nsubject to\n norm1(w)\n <= 1\n w >= -1", "-1 <= w, norm1(w) <= 1"),
    ],
)
def test_programs_are_read_as_fwdsl_reads_them(
    text: str, first: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = 'data X: matrix[n, p], y: vector[n] from csv("a#b(1, 2).csv", target="y")\nvar w: vector[p]\n'
    saved(head + text, "vector")
    code, out = checked("vector", capsys)
    assert code == 0 and first in out.splitlines()[0], out


def test_coefficients_far_larger_than_the_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("X.npy", 1e-9 * X)
    text = program("huber", "simplex and ridge", False)
    fw.parse(text).bind(X=1e-9 * X, y=VALUES).solve(tol=1e-8, threads=1).save("a.npz")
    code, out = checked("vector", capsys)
    assert code == 0, out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("(score, y)", "(score, y, 0.3)"), "`logistic(score, y, 0.3)`"),
        (lambda text: text.replace("norm1(w)", "norm1(w, 2)"), "`norm1(w, 2)`"),
        (lambda text: text.replace("norm1(w)", "norm1(x=w)"), "`norm1(x=w)`"),
        (lambda text: text.replace("(score, y))", "(score, y), weights=mu)"), "`mean(logistic(score, y), weights=mu)`"),
        (lambda text: text + "subject to w in l1_ball(1, weights=mu)", "the set `l1_ball(1, weights=mu)`"),
        (lambda text: text + "subject to sum() == 1", "`sum()`"),
        (lambda text: text.replace("norm1(w)", "norm1(\uff57)"), "the name `\uff57`, which Python takes for `w`"),
        (lambda text: text.replace("mean(logistic(score, y))", "mean(logistic(y=y))"), "`logistic(y=y)`"),
    ],
)
def test_arguments_that_are_not_known_are_refused(
    change: Callable[[str], str], words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved(program("logistic", "l1", False), "signs")
    changed(of("record", "program", change))
    code, out = checked("signs", capsys)
    assert code == 2 and out.count("\n") == 1 and words in out, out


@pytest.mark.parametrize("value", [0.0, -1.0, 1.0, 1e300])
def test_a_dual_vector_that_is_far_from_its_domain(
    value: float, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved(program("hinge", "length", True), "signs")
    assert checked("signs", capsys)[0] == 0

    def change(arrays: dict[str, Any], _record: dict[str, Any]) -> None:
        y = arrays["dual:term1"]
        y[np.argmax(np.abs(y))] = value

    changed(change)
    code, out = checked("signs", capsys)
    assert code == 1 and "the dual vector misses its domain" in out, out


def test_a_coefficient_of_zero_and_the_problem_in_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = program("logistic", "elastic net", True).replace("= 0.03", "= 0") + "subject to norm1(w) <= 0.5\n"
    saved(text, "signs")
    code, out = checked("signs", capsys)
    first = "minimize     0.5 * mean(logistic(X @ w + b, y)) subject to norm1(w) <= 0.5"
    assert code == 0 and out.splitlines()[0] == first


def test_an_optimum_of_zero(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("X.npy", SIGNS[:, None] * np.abs(X))
    np.save("signs.npy", SIGNS)
    text = "data X: matrix[n, p], y: signs[n]\nvar w: vector[p]\nminimize mean(logistic(X @ w, y))\nsubject to w >= 0"
    fw.parse(text).bind(X=SIGNS[:, None] * np.abs(X), y=SIGNS).solve(tol=1e-9, threads=1, time=5).save("a.npz")
    code, out = checked("signs", capsys)
    assert code == 0 and float(out.splitlines()[2].split()[2]) >= -1e-300


def test_other_data_are_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(program("squared", "l1", False), "vector")
    np.save("X.npy", X + 1e-6)
    assert checked("vector", capsys)[0] == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("minimize mean(absolute(X @ w, y)) + norm1(w)", "the term `mean(absolute(X @ w, y))`"),
        ("minimize mean(squared(X @ w, y)) + norm_inf(w)", "the term `norm_inf(w)`"),
        ("minimize mean(squared(normalize(X) @ w, y)) + norm1(w)", "the prediction `normalize(X) @ w`"),
        (
            "minimize mean(squared(standardize(X, center=false) @ w, y)) + norm1(w)",
            "`standardize(X, center=false)`",
        ),
        ("minimize mean(squared(X @ w, y))", "coefficients that neither a norm nor a set bounds"),
        ("minimize mean(squared(X @ w, y)) + norm1(w)\nsubject to w[0] <= 1", "the constraint `w[0] <= 1`"),
        ("minimize sum_squares(w)\nsubject to w in l1_ball(1)", "an objective without one of the losses"),
    ],
)
def test_other_forms_are_refused_in_a_line(
    text: str, words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\n" if "X" in text else "var w: vector[5]\n"
    values = {"X": X, "y": VALUES} if "X" in text else {}
    fw.parse(head + text).bind(**values).solve(threads=1).save("a.npz")
    code, out = checked("vector", capsys)
    assert code == 2 and out.count("\n") == 1 and words in out


def test_files_that_are_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("X.npy", "absent.npz"):
        assert tool.main([name]) == 2
    saved(program("squared", "l1", False), "vector")
    np.save("short.npy", X[:-1])
    for argv in (
        [],
        ["--data", "X=short.npy", "--data", "y=vector.npy"],
        ["--data", "X=absent.npy", "--data", "y=vector.npy"],
        ["--data", "X=vector.npy", "--data", "y=vector.npy"],
    ):
        assert tool.main(["a.npz", *argv]) == 2
    capsys.readouterr()
    assert tool.main(["a.npz"]) == 2
    assert capsys.readouterr().out == "refused: no data for `X`: give `--data X=PATH`\n"
    Path("rows.csv").write_text("a,b\n1,2\n")
    assert tool.main(["a.npz", "--data", "X=rows.csv", "--data", "y=vector.npy"]) == 2
    told = capsys.readouterr().out
    assert "`--data X=X.npy`" in told and "pickle" not in told and "unsafe" not in told
    changed(of("record", "v", lambda v: 2))
    assert checked("vector", capsys) == (2, "refused: this check does not know a record of version 2\n")
    assert all(line.startswith("refused: ") for line in capsys.readouterr().out.splitlines())


def test_it_runs_alone(folder: Path) -> None:
    saved("data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize sum_squares(X @ w - y) + norm1(w)", "vector")
    argv = ["a.npz", "--data", "X=X.npy", "--data", "y=vector.npy"]
    found = subprocess.run([sys.executable, "-I", tool.__file__, *argv], capture_output=True, text=True, check=False)
    assert found.returncode == 0 and found.stdout.splitlines()[-1].startswith("verified"), found.stderr
    assert not {"fwdsl", "scipy"} & {
        line.split()[1].split(".")[0]
        for line in Path(tool.__file__).read_text().splitlines()
        if line.startswith(("import ", "from "))
    }


# --- the arithmetic ----------------------------------------------------------------------------------------------------


def problem(text: str) -> Any:
    return tool.Reader(text, {"mu": 0.03}, {}).checked()


@pytest.mark.parametrize(("loss", "penalty", "intercept"), CASES[1::4])
def test_any_dual_vector_gives_a_bound_and_any_point_one_above(
    loss: str, penalty: str, intercept: bool, folder: Path
) -> None:
    found = saved(program(loss, penalty, intercept), LOSSES[loss])
    p, t = problem(program(loss, penalty, intercept)), SIGNS if LOSSES[loss] == "signs" else VALUES
    c = tuple(float(v) for v in tool.div(p.c, (40.0, 40.0)))
    rng = np.random.default_rng(7)
    for scale in (1e-3, 1e-2, 1.0):
        with np.errstate(all="ignore"):
            lower, _ = tool.lower_bound(p, X, t, scale * rng.normal(size=40), c)
            w = tool.feasible(p, 0.05 * np.abs(rng.normal(size=5)) if penalty != "simplex" else np.full(5, 0.2))
            upper = tool.upper_bound(p, X, t, w, 0.1 if intercept else None, c)
        assert lower <= found.objective * (1 + 1e-12) and upper >= found.dual_bound * (1 - 1e-12)


def test_products_and_sums_contain_the_exact_ones() -> None:
    rng = np.random.default_rng(0)
    for size in (1e-8, 1.0, 1e8):
        A, x = size * rng.normal(size=(6, 50)), rng.normal(size=50)
        x[:25] = -x[25:]
        A[:, :25] = A[:, 25:]  # sums that cancel
        A[:, 0] += 1e-9
        low, high = tool.dots(A, x)
        exact = [sum(Fraction(a) * Fraction(b) for a, b in zip(row, x, strict=True)) for row in A]
        assert all(Fraction(a) <= e <= Fraction(b) for a, e, b in zip(low, exact, high, strict=True))
        assert np.all(high - low <= 4e-16 * np.abs(low) + 1e-290)
    for op, real in ((tool.add, Fraction.__add__), (tool.mul, Fraction.__mul__), (tool.div, Fraction.__truediv__)):
        for a, b in rng.normal(size=(200, 2)):
            low, high = op((a, a), (b, b))
            assert Fraction(float(low)) <= real(Fraction(a), Fraction(b)) <= Fraction(float(high))


def test_conjugates_are_bounds_by_the_definition() -> None:
    rng = np.random.default_rng(2)
    z = np.linspace(-30, 30, 20_001)
    for loss, kind in LOSSES.items():
        value, conjugate, rule = tool.LOSSES[loss]
        for _ in range(20):
            t = float(rng.choice([-1.0, 1.0])) if kind == "signs" else float(rng.normal())
            c = float(rng.uniform(0.1, 2.0))
            y = float(-t * c * rng.uniform(0, 1)) if rule in ("signs", "half") else float(0.9 * c * rng.uniform(-1, 1))
            ones = np.full(z.shape, t)
            values = value((z, z), ones, (1.0, 1.0))
            best = np.max(y * z - c * values)
            with np.errstate(all="ignore"):
                bound = float(conjugate(np.array([y]), np.array([t]), (c, c), (1.0, 1.0))[0])
            assert best - 1e-12 <= bound <= best + 1e-3 * (1 + abs(best))
