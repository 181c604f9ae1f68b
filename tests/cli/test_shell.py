"""The shell: completion scripts, the man page, colour, `new`, `doctor`, `repl`, names of `info`."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.cli import main
from fwdsl.cli.commands.completion import SCRIPTS
from fwdsl.cli.manual import manual, parsers
from fwdsl.cli.terminal import style_of

PROGRAM = """\
data X: matrix[n, p], y: vector[n]
param mu: positive = 0.1, nu: positive = 1
var w: vector[p]
minimize sum(squared(X @ w, y)) + mu * norm1(w)
"""
SOURCE = Path(__file__).parents[2]
COMPLETIONS = SOURCE / "fwdsl" / "cli" / "completions"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("lasso.fw").write_text(PROGRAM)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    code = main([*argv, "--json"])
    return code, json.loads(capsys.readouterr().out)


# --- completion and the man page --------------------------------------------------------------------------------------


def test_the_scripts_and_the_man_page_are_those_of_the_commands() -> None:
    pytest.importorskip("shtab", reason="completion scripts are made by shtab")
    from tests.cli.completions import PAGE, script

    again = "`python -m tests.cli.completions` writes them again"
    for shell, name in SCRIPTS.items():
        assert (COMPLETIONS / name).read_text() == script(shell), again
    assert PAGE.read_text() == manual(), again


def test_every_command_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name, parser in parsers().items():
        assert main([name, "--help"]) == 0
        out = capsys.readouterr().out
        assert f"usage: fwdsl {name}" in out and parser.description
        assert "--color" in out


@pytest.mark.parametrize("shell", SCRIPTS)
def test_completion_prints_the_script(shell: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["completion", shell]) == 0
    assert capfdbinary.readouterr().out.decode() == (COMPLETIONS / SCRIPTS[shell]).read_text()


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_finds_files_by_the_patterns() -> None:
    patterns = set(re.findall(r"_files -g '(.*?)'", (COMPLETIONS / "_fwdsl").read_text()))
    assert len(patterns) == 3
    for name in ("a.fw", "b.npz"):
        Path(name).touch()
    for pattern in patterns:
        run = subprocess.run(["zsh", "-f", "-c", f"print -l {pattern}"], capture_output=True, text=True, timeout=60)
        found = {name for name in ("a.fw", "b.npz", "lasso.fw") if Path(name).suffix in pattern}
        assert set(run.stdout.split()) == found, run.stderr


@pytest.mark.skipif(shutil.which("bash") is None or os.name != "posix", reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ver"], {"verify"}),
        (["verify", ""], {"a.npz", "b.fw", "lasso.fw", "my dir"}),
        (["eval", ""], {"a.npz", "b.fw", "lasso.fw", "my dir"}),
        (["export", ""], {"a.npz", "my dir"}),
        (["export", "a.npz", "--dtype", "f"], {"float64", "float32"}),
        (["run", "b.fw", "--html", ""], {"a.npz", "b.fw", "lasso.fw", "my dir", "page.html"}),
        (["run", "my dir/"], {"my dir/c d.fw"}),
        (["run", "my\\ dir/c\\ d.fw", "--set", "m"], {"mu="}),
    ],
)
def test_bash_offers_the_files_that_a_command_takes(words: list[str], offered: set[str]) -> None:
    for name in ("a.npz", "b.fw", "my dir/c d.fw", "page.html"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("param mu: real\nparam nu: real\nvar x: real\nminimize mu * x\n")
    argv = [sys.executable, "-m", "fwdsl"]
    lines = [
        f'fwdsl() {{ {shlex.join(argv)} "$@"; }}',
        "compopt() { :; }",
        f"source {shlex.quote(str(COMPLETIONS / 'fwdsl.bash'))}",
        f"COMP_WORDS=(fwdsl {' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words)}",
        f"_fwdsl fwdsl {shlex.quote(words[-1])} {shlex.quote(['fwdsl', *words][-2])}",
        "printf '%s\\n' \"${COMPREPLY[@]}\"",
    ]
    run = subprocess.run(["bash", "--norc", "-c", "\n".join(lines)], capture_output=True, text=True, timeout=60)
    assert set(run.stdout.splitlines()) == offered, run.stderr


@pytest.mark.parametrize("argv", [[], ["tcl"], ["bash", "zsh"]])
def test_another_shell_is_refused_with_those_that_there_are(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", *argv]) == 1
    assert "The shells are bash, zsh, fish." in capsys.readouterr().err


WORDS = [
    (["run", "lasso.fw", "--set", ""], {"mu=", "nu="}),
    (["run", "lasso.fw", "--data", ""], {"X=", "y="}),
    (["run", ""], {"lasso.fw"}),
    (["run", "lasso.fw", "--method", "pairwise"], {"pairwise_frank_wolfe"}),
    (["doct"], {"doctor"}),
    (["run", "--color", ""], {"auto", "always", "never"}),
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_commands_files_parameters_and_methods() -> None:
    calls = "\n".join(
        f"COMP_WORDS=(fwdsl {' '.join(repr(w) for w in words)}); COMP_CWORD={len(words)}; COMPREPLY=()\n"
        f"_fwdsl fwdsl {words[-1]!r} 2>/dev/null; echo ${{COMPREPLY[*]}}"
        for words, _ in WORDS
    )
    script = f'source {COMPLETIONS / "fwdsl.bash"}\nfwdsl() {{ {sys.executable} -m fwdsl "$@"; }}\n{calls}\n'
    found = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, env=_environment())
    lines = [set(line.split()) for line in found.stdout.splitlines()]
    assert lines == [expected for _, expected in WORDS], found.stderr


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_fish_completes_commands_files_parameters_and_methods() -> None:
    calls = "\n".join(f"complete -C 'fwdsl {' '.join(words)}' | cut -f 1 | string join ' '; echo" for words, _ in WORDS)
    script = f"function fwdsl; {sys.executable} -m fwdsl $argv; end\nsource {COMPLETIONS / 'fwdsl.fish'}\n{calls}\n"
    found = subprocess.run(["fish", "-c", script], capture_output=True, text=True, check=False, env=_environment())
    lines = [set(line.split()) for line in found.stdout.splitlines() if line]
    assert lines == [expected for _, expected in WORDS], found.stderr


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_zsh_takes_the_script_for_the_command() -> None:
    script = f"fpath=({COMPLETIONS} $fpath); autoload -U compinit; compinit -u -d dump; echo $_comps[fwdsl]; autoload +X _fwdsl && echo read"
    found = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=False, env=_environment())
    assert found.stdout.split() == ["_fwdsl", "read"], found.stderr


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


@pytest.mark.parametrize(
    ("kind", "names"),
    [("data", "X y"), ("parameters", "mu nu"), ("variables", "w"), ("dimensions", "n p")],
)
def test_info_prints_names_alone(kind: str, names: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "lasso.fw", "--names", kind]) == 0
    assert capsys.readouterr().out.split() == names.split()


# --- colour -----------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "on_terminal", "on_pipe"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
    ],
)
def test_colour_follows_the_environment(
    variables: dict[str, str], on_terminal: bool, on_pipe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert style_of(Terminal()).color == on_terminal
    assert style_of(io.StringIO()).color == on_pipe


@pytest.mark.parametrize(
    ("argv", "colored"),
    [
        (["check", "absent.fw", "--color", "always"], True),
        (["check", "absent.fw", "--color=always"], True),
        (["check", "absent.fw", "--color", "never"], False),
        (["check", "absent.fw", "--color=auto"], False),
        (["check", "absent.fw", "--color", "always", "--unknown"], True),
    ],
)
def test_color_is_an_option_of_every_command(
    argv: list[str], colored: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    before = dict(os.environ)
    assert main(argv) == 1
    assert ("\x1b[" in capsys.readouterr().err) == colored
    assert dict(os.environ) == before


def test_another_colour_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "lasso.fw", "--color", "blue"]) == 1
    assert "`--color` takes `auto` or `always` or `never`." in capsys.readouterr().err


# --- doctor -----------------------------------------------------------------------------------------------------------


def test_doctor_tells_versions_cores_caches_and_extras(capsys: pytest.CaptureFixture[str]) -> None:
    code, form = told(capsys, "doctor")
    assert (code, form["status"], form["versions"]["fwdsl"]) == (0, "ok", fw.__version__)
    assert form["versions"]["numpy"] == np.__version__ and form["cores"] >= 1
    assert not {"test", "bench"} & form["extras"].keys()
    for entry in form["extras"].values():
        assert entry["installed"] == (None not in entry["packages"].values())
    assert main(["doctor"]) == 0
    assert fw.__version__ in capsys.readouterr().out


# --- new --------------------------------------------------------------------------------------------------------------


def houses(path: str = "houses.csv", rows: int = 80, header: bool = True) -> None:
    rng = np.random.default_rng(0)
    lines = ["size,rooms,town,age,price"] if header else []
    for i in range(rows):
        size, rooms = rng.uniform(40, 200), rng.integers(1, 7)
        town = ("Bern", "Basel", "Chur")[i % 3] if header else str(i % 3)
        age = "" if i == 7 and header else f"{rng.integers(0, 90)}"
        lines.append(f"{size:.1f},{rooms},{town},{age},{3 * size + 20 * rooms + rng.normal():.1f}")
    Path(path).write_text("\n".join(lines) + "\n")


def test_a_first_program_fits_the_columns_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    houses()
    code, form = told(capsys, "new", "houses.csv")
    assert code == 0 and (form["file"], form["target"], form["kind"]) == ("houses.fw", "price", "number")
    assert {entry["column"] for entry in form["left_out"]} == {"age"}
    solution = fw.load("houses.fw").solve()
    assert solution.status == "optimal"
    # the weight of the penalty has an effect, and leaves what matters
    assert solution["w"].size == 5 and np.all(solution["w"][:2] > 0.0)
    assert solution.instance.maps["X[town]"] == ("Basel", "Bern", "Chur")


def test_words_that_hardly_repeat_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{i % 7},owner {i},{i % 5}" for i in range(60)]
    Path("owners.csv").write_text("\n".join(["size,owner,price", *rows]) + "\n")
    _, form = told(capsys, "new", "owners.csv")
    assert form["left_out"] == [{"column": "owner", "reason": "it holds words that hardly repeat"}]


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (lambda i: f"{i}.5%", "it holds values such as `0.5%`, which are no numbers"),
        (lambda i: "Total" if i == 59 else str(i), "1 of its values is no number: `Total`"),
        (lambda i: f"town {i % 20}", "it holds 20 different words, and each is in less than ten rows on average"),
        (lambda i: "" if i == 7 else str(i), "1 of its values is missing"),
    ],
)
def test_why_a_column_is_left_out(last: Callable[[int], str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{i % 7},{last(i)},{i % 5}.5" for i in range(60)]
    Path("owners.csv").write_text("\n".join(["size,last,price", *rows]) + "\n")
    assert told(capsys, "new", "owners.csv")[1]["left_out"] == [{"column": "last", "reason": reason}]


def test_the_numbers_of_rows_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rows.csv").write_text("\n".join([",size,price", *(f"{i},{i % 7},{i % 5}.5" for i in range(60))]) + "\n")
    _, form = told(capsys, "new", "rows.csv")
    assert [entry["column"] for entry in form["left_out"]] == ["column 1"] and form["target"] == "price"
    solution = fw.load("rows.fw").solve()
    assert solution.instance.maps["X.columns"] == ("size",) and not solution.warnings


def test_a_table_between_tabs_has_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rows.tsv").write_text("\n".join(["size\tprice", *(f"{i % 7}\t{i % 5}.5" for i in range(60))]) + "\n")
    assert told(capsys, "new", "rows.tsv")[0] == 0
    assert fw.load("rows.fw").solve().status == "optimal"


@pytest.mark.parametrize(("last", "target"), [("owner {i}", "price"), ("2024-01-{i:02}", "price"), ("{i}", "last")])
def test_what_differs_in_each_row_is_no_class_to_predict(
    last: str, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{i % 7},{i % 5}.5,{last.format(i=i)}" for i in range(60)]
    Path("owners.csv").write_text("\n".join(["size,price,last", *rows]) + "\n")
    assert told(capsys, "new", "owners.csv")[1]["target"] == target
    # where it is named it is taken
    _, form = told(capsys, "new", "owners.csv", "--target", "last", "--out", "named.fw")
    assert form["target"] == "last"


@pytest.mark.parametrize("name", ["data", "in", "inf", "simplex", "1st", "caf\u00e9"])
def test_a_file_may_have_any_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    houses(f"{name}.csv")
    assert told(capsys, "new", f"{name}.csv")[0] == 0
    assert fw.load(f"{name}.fw").solve().status == "optimal"


def test_rows_with_gaps_are_left_out_where_every_column_has_some(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        f"{'' if i == 3 else i % 7},{'NA' if i % 20 == 5 else i % 4},{'' if i % 3 else 1},{i % 10}" for i in range(40)
    ]
    Path("gaps.csv").write_text("\n".join(["a,b,mostly,price", *rows]) + "\n")
    code, form = told(capsys, "new", "gaps.csv")
    assert code == 0 and [entry["column"] for entry in form["left_out"]] == ["mostly"]
    solution = fw.load("gaps.fw").solve()
    assert solution.status == "optimal" and solution.instance.values["X"].shape == (37, 2)


@pytest.mark.parametrize(
    ("target", "kind", "loss"),
    [("town", "classes", "softmax"), ("rooms", "classes", "softmax"), ("size", "number", "squared")],
)
def test_the_target_may_be_named(target: str, kind: str, loss: str, capsys: pytest.CaptureFixture[str]) -> None:
    houses()
    code, form = told(capsys, "new", "houses.csv", "--target", target, "--out", "other.fw")
    assert (code, form["kind"]) == (0, kind)
    assert loss in Path("other.fw").read_text() and fw.load("other.fw").solve().status == "optimal"


def test_two_classes_of_words_are_told_apart_by_logistic_regression(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    rows = [f"{x:.3f},{x + rng.normal():.3f},{'yes' if x > 0 else 'no'}" for x in rng.normal(size=60)]
    Path("answers.csv").write_text("\n".join(["a,b,answer", *rows]) + "\n")
    code, form = told(capsys, "new", "answers.csv")
    assert (code, form["target"], form["kind"]) == (0, "answer", "two classes")
    solution = fw.load("answers.fw").solve()
    assert solution.status == "optimal" and solution.error_rates()["fit"] < 0.2


def test_a_table_without_a_header_has_positions(capsys: pytest.CaptureFixture[str]) -> None:
    houses("bare.csv", header=False)
    code, form = told(capsys, "new", "bare.csv")
    assert (code, form["target"]) == (0, "4")
    assert fw.load("bare.fw").solve().status == "optimal"


def test_columns_of_one_name_have_no_program(capsys: pytest.CaptureFixture[str]) -> None:
    Path("twice.csv").write_text("a,a,y\n" + "".join(f"{i},{i % 3},{2 * i}\n" for i in range(40)))
    code, form = told(capsys, "new", "twice.csv")
    (found,) = form["diagnostics"]
    assert (code, found["code"]) == (1, "FW4038") and "2 columns named `a`" in found["message"]
    assert not Path("twice.fw").exists()


def test_separators_and_decimal_commas_are_seen(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{i % 7},5;{i % 3};{2 * (i % 7)},{i % 10}" for i in range(40)]
    Path("komma.csv").write_text("\n".join(["a;b;c", *rows]) + "\n")
    code, form = told(capsys, "new", "komma.csv")
    assert (code, form["target"], form["kind"]) == (0, "c", "number")
    assert 'sep=";", decimal=","' in Path("komma.fw").read_text()
    solution = fw.load("komma.fw").solve()
    assert solution.instance.values["X"][1].tolist() == [1.5, 1.0] and solution.instance.values["y"][1] == 2.1


@pytest.mark.parametrize("sep", [",", ";"])
def test_names_with_line_breaks_have_programs_too(sep: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [sep.join([f"{i % 7}", f"{i % 3}", f"{2 * (i % 7)}.5"]) for i in range(40)]
    Path("rents.csv").write_text(
        "\n".join(["", sep.join(['"area\nin m2"', '"rooms"', '"rent\n\na month"']), *rows]) + "\n"
    )
    code, form = told(capsys, "new", "rents.csv")
    assert (code, form["target"], form["left_out"]) == (0, "rent\n\na month", [])
    solution = fw.load("rents.fw").solve()
    assert solution.status == "optimal" and solution.instance.maps["X.columns"] == ("area\nin m2", "rooms")


def test_quotes_that_are_never_closed_are_told_with_their_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("open.csv").write_text("\na,b\n" + "1,2\n" * 9 + '"1,2\n' + "1,2\n" * 50_000)
    code, form = told(capsys, "new", "open.csv")
    assert code == 1 and [(d["code"], d["place"]["row"]) for d in form["diagnostics"]] == [("FW4035", 12)]


def test_libsvm_and_parquet_files_have_programs_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("few.svm").write_text("".join(f"{1 if i % 2 else -1} 1:{i % 5} 3:{i * 0.1:.1f}\n" for i in range(40)))
    code, form = told(capsys, "new", "few.svm")
    assert (code, form["kind"]) == (0, "two classes") and fw.load("few.fw").solve().status == "optimal"
    pandas = pytest.importorskip("pandas", reason="the parquet file is written by pandas")
    pytest.importorskip("pyarrow", reason="parquet files need pyarrow")
    rng = np.random.default_rng(2)
    pandas.DataFrame({"u": rng.normal(size=50), "v": rng.normal(size=50)}).to_parquet("pairs.parquet")
    code, form = told(capsys, "new", "pairs.parquet")
    assert (code, form["target"]) == (0, "v") and fw.load("pairs.fw").solve().status == "optimal"
    pandas.read_parquet("pairs.parquet").to_feather("twins.feather")
    code, form = told(capsys, "new", "twins.feather")
    twins, pairs = (fw.load(f"{name}.fw").solve() for name in ("twins", "pairs"))
    assert (code, form["target"], twins.objective) == (0, "v", pairs.objective)
    pandas.DataFrame({"u": [], "v": []}).to_feather("none.feather")
    code, form = told(capsys, "new", "none.feather")
    assert (code, form["diagnostics"][0]["code"]) == (1, "FW4004")


def test_the_column_is_asked_for_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    houses()
    monkeypatch.setattr("sys.stdin", Terminal("rooms\n"))
    assert main(["new", "houses.csv"]) == 0
    told = capsys.readouterr()
    assert "the column to predict [price]:" in told.err and 'target="rooms"' in told.out


@pytest.mark.parametrize(
    ("argv", "content", "says"),
    [
        (["absent.csv"], None, "does not exist"),
        (["notes.txt"], "a", "no file of samples by its suffix"),
        (["empty.csv"], "", "is empty"),
        (["head.csv"], "a,b\n", "no rows"),
        (["one.csv"], "a\n1\n2\n3\n", "no column to predict `a` from"),
        (["empty_cells.csv"], "a,b,y\n1,,1\n,2,2\n,,3\n", "no column to predict `y` from"),
        (["ragged.csv"], "a,b\n1,2\n3,4,5\n6\n", "line 3 has 3 fields, where 2 were expected"),
        (["ragged.csv"], "\na;b\n1;2\n6\n", "line 4 has 1 field, where 2 were expected"),
        (["same.csv"], "a,b\n1,2\n1,2\n", "no column that can be predicted"),
        (["some.csv", "--target", "pricee"], "size,price\n1,2\n2,3\n", "did you mean `--target price`?"),
        ([], None, "no file of data is named"),
        (["a.csv", "b.csv"], None, "one argument too many"),
    ],
)
def test_what_is_no_table_of_samples_is_told(
    argv: list[str], content: str | None, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        Path(argv[0]).write_text(content)
    assert main(["new", *argv]) == 1
    assert says in capsys.readouterr().err.replace("\n          ", " ")


def test_a_table_that_is_not_utf8_has_no_program(capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.csv").write_bytes("gr\u00f6\u00dfe,preis\n1,2\n2,3\n".encode("latin-1"))
    assert main(["new", "old.csv"]) == 1
    assert "line 1 is not UTF-8 text" in capsys.readouterr().err and not Path("old.fw").exists()


def test_a_program_that_is_there_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    houses()
    Path("houses.fw").write_text("mine")
    assert main(["new", "houses.csv"]) == 1
    assert "`houses.fw` exists" in capsys.readouterr().err and Path("houses.fw").read_text() == "mine"


# --- repl -------------------------------------------------------------------------------------------------------------


def typed(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *argv: str
) -> tuple[str, str]:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert main(["repl", *argv]) == 0
    found = capsys.readouterr()
    return found.out, found.err


def test_a_program_from_a_pipe_is_utf8_in_every_locale() -> None:
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    text = "var gr\u00f6\u00dfe: vector[2]\nminimize norm1(gr\u00f6\u00dfe)\n:check\n"
    argv = [sys.executable, "-m", "fwdsl", "repl"]
    run = subprocess.run(argv, input=text.encode(), capture_output=True, env=env, timeout=60)
    assert (run.stdout.split(), run.stderr) == ([b"no", b"errors"], b"")


def test_ctrl_c_drops_what_is_being_typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    typed: list[str | None] = ["var x: vector[2]", "minimize norm1(", None, None, "minimize norm1(x)", ":show", ":quit"]

    def line(prompt: str) -> str:
        found = typed.pop(0)
        if found is None:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("builtins.input", line)
    assert main(["repl"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.endswith("var x: vector[2]\nminimize norm1(x)\n")


def test_a_program_is_typed_and_solved(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "param r: real = 1\nvar w: vector[3]\nminimize sum_squares(w - 1) +\n  0.5 * norm1(w)\nsubject to\n  sum(w) == r\n"
        ":set r=2\n:solve\n:save kept.fw\n:undo\n:quit\nminimize nonsense\n"
    )
    out, err = typed(text, monkeypatch, capsys)
    assert "status      optimal" in out and "[0.6666666667, 0.6666666667, 0.6666666667]" in out
    assert "error" not in err and "warning" not in err
    assert fw.load("kept.fw").bind(r=2.0).solve().objective == pytest.approx(4 / 3)
    assert out.rstrip().endswith("0.5 * norm1(w)")


def test_data_that_are_missing_are_given_at_the_prompt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "data y: vector[n]\nvar w: vector[n]\nminimize sum_squares(w - y)\n:solve\n"
    _, err = typed(text, monkeypatch, capsys)
    assert "error[FW4501]" in err and "help: write `:data y=PATH`" in err
    _, err = typed("param mu: real\nvar w: vector[2]\nminimize sum_squares(w - mu)\n:solve\n", monkeypatch, capsys)
    assert "error[FW4502]" in err and "help: write `:set mu=VALUE`" in err


def test_a_wrong_line_is_told_and_left_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = typed("var w: vector[3]\nminimize norm1(v)\n:shw\n:set w\n:check\n:show\n", monkeypatch, capsys)
    assert "`v` is not declared" in err and "`:shw` is no command" in err and "there is no objective" in err
    assert out == "var w: vector[3]\n"


def test_what_the_program_does_not_take_is_told_and_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        ":set nu=2\nparam mu: positive = 1\nvar w: vector[2]\nminimize sum_squares(w - mu)\n"
        ":set mu=-3\n:data q=q.npy\n:plan\n:solve\n"
    )
    out, err = typed(text, monkeypatch, capsys)
    # each once: what was given before the program was whole is told where that is used first
    assert [err.count(each) for each in ("gives `q`", "`mu` is -3", "gives `nu`")] == [1, 1, 1]
    assert "status      optimal" in out and "[1, 1]" in out


def test_a_program_in_a_file_goes_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("X.npy", np.eye(3))
    np.save("y.npy", np.array([3.0, 2.0, 0.0]))
    text = ":data X=X.npy\n:data y=y.npy\n:plan\nsubject to norm1(w) <= 4\n:solve\n:new\n:show\n"
    out, err = typed(text, monkeypatch, capsys, "lasso.fw")
    assert "methods that apply" in out and "status      optimal" in out and "error" not in err


@pytest.mark.parametrize("word", ["solve", "show", "quit", "exit"])
def test_a_command_without_its_colon_is_told(
    word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = typed(f"{word}\n:show\n", monkeypatch, capsys)
    assert out == "" and "FW0032" in err and f"write `:{word}`" in err


# --- logging ----------------------------------------------------------------------------------------------------------


def test_what_is_read_planned_and_found_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    np.save("X.npy", np.eye(3))
    Path("read.fw").write_text(PROGRAM.replace("p], y", 'p] from npy("X.npy"), y'))
    with caplog.at_level("INFO", logger="fwdsl"):
        solution = fw.load("read.fw").bind(y=np.array([3.0, 2.0, 0.0])).solve()
    said = [(record.name, record.getMessage()) for record in caplog.records if record.name != "fwdsl.kernels"]
    assert [name for name, _ in said] == ["fwdsl.readers", "fwdsl.solve", "fwdsl.solve"]
    assert "X.npy is read as npy for X" in said[0][1]
    assert said[1][1].startswith(solution.method) and "optimal" in said[2][1]
