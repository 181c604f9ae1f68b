"""`%%fw` cells in an IPython of our own: names of the notebook, options, what is kept, errors, completion, the line of progress."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

IPython = pytest.importorskip("IPython", reason="IPython is not installed")

import fwdsl as fw  # noqa: E402
from fwdsl.model.options import Options  # noqa: E402
from fwdsl.notebook.completion import kind_of, names_in  # noqa: E402
from fwdsl.notebook.progress import EMPTY, SECONDS_BEFORE, ProgressLine  # noqa: E402
from fwdsl.results.solution import Progress  # noqa: E402
from fwdsl.session import Session  # noqa: E402

LASSO = """\
param mu: nonnegative
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize mean(squared(X @ w, y)) + mu * norm1(w)
"""


@pytest.fixture(scope="module")
def module_shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config(HistoryManager={"enabled": False})
    shell = InteractiveShell(config=config, ipython_dir=str(tmp_path_factory.mktemp("ipython")))
    shell.run_line_magic("load_ext", "fwdsl")
    shell.before = set(shell.user_ns)
    yield shell
    shell.run_line_magic("unload_ext", "fwdsl")
    assert "fw" not in shell.magics_manager.magics["cell"] and Session.reporter is None


@pytest.fixture
def shell(module_shell: Any) -> Any:
    """The shell with data under the names of the program, and nothing else of earlier tests."""
    for name in set(module_shell.user_ns) - module_shell.before:
        del module_shell.user_ns[name]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    module_shell.push({"X": X, "y": X @ [1.0, -2.0, 0.0]})
    return module_shell


def run(shell: Any, line: str, cell: str) -> Any:
    return shell.run_cell_magic("fw", line, cell)


def test_names_of_the_notebook_are_bound_and_said(shell: Any, capsys: pytest.CaptureFixture[str]):
    solution = run(shell, "--set mu=.1 -o sol -p prob --tol 1e-9", LASSO)
    assert solution.status == "optimal" and solution.relative_gap <= 1e-9
    assert shell.user_ns["sol"] is solution and isinstance(shell.user_ns["prob"], fw.Problem)
    assert capsys.readouterr().out == "bound from the notebook: X, y\n"
    assert shell.user_ns["prob"].bind(mu=0.2).solve().objective > solution.objective


def test_what_is_given_wins_over_names_of_the_notebook(shell: Any, capsys: pytest.CaptureFixture[str]):
    shell.push({"half": shell.user_ns["X"] / 2, "mu": 0.1, "best": 0.2})
    run(shell, "-o whole", LASSO)
    assert capsys.readouterr().out == "bound from the notebook: X, y, mu\n"
    run(shell, "--data X=half --data y=y*1 --set mu=best -o other", LASSO)
    assert capsys.readouterr().out == ""
    ns = shell.user_ns
    expected = fw.parse(LASSO).bind(X=ns["half"], y=ns["y"], mu=0.2).solve()
    assert ns["other"].objective == pytest.approx(expected.objective, rel=1e-6)
    assert ns["whole"].objective != pytest.approx(ns["other"].objective, rel=1e-3)


@pytest.mark.parametrize(
    "line", ["--data X=cut[['a','b']] --set 'mu = .1'  # a remark", '--data \'X = cut[["a", "b"]]\' --set mu={0.1}']
)
def test_expressions_have_quotes_and_lines_remarks(line: str, shell: Any):
    rng = np.random.default_rng(1)
    pandas = pytest.importorskip("pandas")
    shell.push({"cut": pandas.DataFrame(rng.standard_normal((30, 3)), columns=["a", "b", "c"])})
    solution = run(shell, line, LASSO)
    assert solution["w"].shape == (2,) and solution.instance.values["mu"] == 0.1


def test_sources_literals_and_defaults_of_the_program_win(shell: Any, capsys: pytest.CaptureFixture[str]):
    shell.push({"a": np.ones(2), "mu": 5.0})
    cell = "data a: vector[2] = [3, 4]\nparam mu: nonnegative = 0\nvar x: vector[2]\nminimize sum_squares(x - a) + mu * norm1(x)"
    assert run(shell, "", cell)["x"] == pytest.approx([3.0, 4.0])
    assert capsys.readouterr().out == ""


def test_functions_and_modules_are_no_data(shell: Any):
    shell.push({"y": np.linalg, "X": max})
    with pytest.raises(fw.DataError):
        run(shell, "--set mu=1", LASSO)


def test_a_plan_and_a_dimension(shell: Any):
    plan = run(
        shell,
        "--plan --dim n=3",
        "param mu: nonnegative = 1\nvar x: vector[n]\nminimize sum_squares(x - 1) + mu * norm1(x)",
    )
    assert plan.method and plan.bound


def test_a_method_with_options(shell: Any):
    solution = run(shell, "--set mu=.1 --method apg(newton=false) --max-iter 3", LASSO)
    assert solution.method == "apg" and solution.iterations == 3


@pytest.mark.parametrize(
    ("line", "cell", "code", "said"),
    [
        ("--tol no", LASSO, "FW0004", "write for instance `--tol 1e-6`"),
        ("--tolerance 1", LASSO, "FW0002", "did you mean `--tol`?"),
        ("--data X", LASSO, "FW0332", "write for instance `--data X=frame`"),
        ("--data X=Xx", LASSO, "FW0332", "did you mean `X`?"),
        ("--data X=train.csv", LASSO, "FW0332", "A file is"),
        ("--set 'mu=a", LASSO, "FW0332", "close the quotes"),
        ("--set mu=a", LASSO, "FW", "`a`"),
        ("-o 1x", LASSO, "FW0004", "`-o` takes a name of Python"),
        ("-o class", LASSO, "FW0004", "`-o` takes a name of Python"),
        ("--color always", LASSO, "FW0002", "`%%fw` has no option `--color`"),
        ("--data Z=X --set mu=1", LASSO, "FW4500", "`--data Z` gives `Z`"),
        ("--set mu=-1", LASSO, "FW4511", "`mu` is -1 from --set mu"),
        ("", LASSO, "FW4502", "`mu`"),
        ("", "var x: vector[k]\nminimize norm(x)", "FW2050", "<cell>:3:10"),
        ("", "\n", "FW", ""),
    ],
)
def test_an_error_is_shown_once_and_without_a_traceback(
    line: str, cell: str, code: str, said: str, shell: Any, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(fw.FwError) as caught:
        run(shell, line, cell)
    shown = capsys.readouterr().out
    assert caught.value.code.startswith(code), caught.value
    assert said in shown and str(caught.value) in shown
    (only,) = caught.value._render_traceback_()
    assert only.startswith(f"{type(caught.value).__name__}: ") and only.endswith(", shown above")


def test_help_is_printed(shell: Any, capsys: pytest.CaptureFixture[str]):
    assert run(shell, "--help", "nonsense") is None
    assert capsys.readouterr().out.startswith("usage: %%fw ")


def test_a_terminal_has_no_line_of_progress(shell: Any):
    assert Session.reporter is None


# --- completion ------------------------------------------------------------------------------------------------------


def completed(shell: Any, text: str, rest: str = "") -> set[str]:
    """The text before the cursor with each of its completions; `rest` is behind the cursor."""
    from IPython.core.completer import provisionalcompleter

    with provisionalcompleter():
        return {text[: c.start] + c.text for c in shell.Completer.completions(text + rest, len(text))}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("%%fw\nmini", "minimize"),
        ("%%fw\nvar x: vector[p]\nminimize mean(log", "logistic"),
        ("%%fw\nvar weights: vector[p]\nminimize norm1(wei", "weights"),
        ("%%fw\nvar w: vec", "vector"),
        ("%%fw\nvar w: real\nminimize w\nsolve to", "tol"),
        ("%%fw\nvar w: real\nminimize w\nsolve method = frank", "frank_wolfe"),
        ("%%fw --met", "--method"),
        ("%%fw --method pd", "pdhg"),
        ("%%fw --data We", None),
        ("%%fw --data X=trai", "training"),
    ],
)
def test_words_are_completed(text: str, word: str | None, shell: Any):
    shell.push({"training": 1})
    found = completed(shell, text)
    if word is None:
        assert found == set()
    else:
        start = text[: len(text) - len(text.replace("=", " ").replace("(", " ").split()[-1])]
        assert start + word in found
        assert all(each.startswith(text) for each in found)


def test_names_of_the_program_are_offered_to_data(shell: Any):
    first, rest = "%%fw --data ", "\ndata Xs: matrix[n, p]\nminimize mean(squared(Xs))"
    assert completed(shell, first, rest) == {f"{first}{name}=" for name in ("Xs", "n", "p")}
    assert names_in(first + rest) == ["Xs", "n", "p"]


def test_words_have_their_kinds():
    kinds = {
        "minimize": "keyword",
        "squared": "function",
        "l1_ball": "function",
        "vector": "class",
        "--tol": "keyword",
        "w": "instance",
    }
    assert {word: kind_of(word) for word in kinds} == kinds


def test_the_word_that_is_typed_is_not_offered(shell: Any):
    text = "%%fw\nminimize mean(squ"
    assert text not in completed(shell, text)


def test_other_cells_are_left_alone(shell: Any):
    assert not any("minimize" in each for each in completed(shell, "mini"))
    assert not any("minimize" in each for each in completed(shell, "%%time\nmini"))


# --- progress --------------------------------------------------------------------------------------------------------


def reported(i: int) -> Progress:
    return Progress("steps", "apg", i, 2.0 * i, 0.1 * i, 1.0, 0.5, 0.5)


class Display:
    """Stands for a display handle, and keeps what it is told."""

    def __init__(self, log: list[tuple[str, dict[str, str]]]) -> None:
        self.log = log

    def display(self, bundle: dict[str, str], raw: bool) -> None:
        self.log.append(("display", bundle))

    def update(self, bundle: dict[str, str], raw: bool) -> None:
        self.log.append(("update", bundle))


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, str]]]:
    kept: list[tuple[str, dict[str, str]]] = []
    monkeypatch.setattr("IPython.display.DisplayHandle", lambda: Display(kept))
    return kept


def test_a_short_solve_shows_no_line(log: list[tuple[str, dict[str, str]]]):
    line = ProgressLine(now=lambda: 0.0)
    report = line.begin(Options())
    assert report is not None
    for i in range(100):
        assert report(reported(i)) is None
    line.after_cell()
    assert log == [] and not line.take_away()


def test_a_long_solve_shows_one_line_a_few_times_and_leaves_nothing(log: list[tuple[str, dict[str, str]]]):
    clock = [0.0]
    line = ProgressLine(now=lambda: clock[0])
    for solve in range(2):  # solves of one cell share the line
        report = line.begin(Options())
        assert report is not None
        for i in range(1000):
            clock[0] = SECONDS_BEFORE + solve + i / 1000
            report(reported(i))
    assert [what for what, _ in log].count("display") == 1 and 10 <= len(log) <= 25
    assert all("gap 5.0e-01" in bundle["text/plain"] and "\n" not in bundle["text/plain"] for _, bundle in log)
    line.after_cell()
    assert log[-1] == ("update", EMPTY) and not line.take_away()


def test_solves_of_other_threads_show_no_line():
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(ProgressLine().begin(Options())))
    thread.start()
    thread.join()
    assert found == [None]


def test_a_solve_without_a_callback_is_reported(monkeypatch: pytest.MonkeyPatch):
    seen: list[Progress] = []
    monkeypatch.setattr(Session, "reporter", lambda options: lambda p: seen.append(p))
    problem = fw.parse("var x: vector[3]\nminimize sum_squares(x - 1) + norm1(x)")
    problem.solve(threads=1)
    assert seen
    count = len(seen)
    own: list[Progress] = []
    problem.solve(threads=1, callback=lambda p: own.append(p) or None)
    assert own and len(seen) == count
    problem.race(["pdhg"], tol=0.1)
    assert len(seen) > count
