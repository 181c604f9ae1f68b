"""The command line before anything is compiled: commands, options, files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fwdsl import __version__
from fwdsl.cli import main
from fwdsl.cli.app import COMMANDS

PROGRAM = "var x: real\nminimize sum_squares(x - 1)\n"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fit.fw").write_text(PROGRAM)
    return "fit.fw"


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        ((), "FW0001", "a command is missing"),
        (("chekc", "a.fw"), "FW0001", "did you mean `fwdsl check`?"),
        (("fit.fw",), "FW0001", "write `fwdsl run fit.fw`"),
        (("run", "fit.fw", "--tolerance", "1"), "FW0002", "did you mean `--tol`?"),
        (("check", "fit.fw", "--tol=1"), "FW0002", "`fwdsl check` has no option `--tol`"),
        (("run", "fit.fw", "-x"), "FW0002", "`fwdsl run` has no option `-x`"),
        (("run", "fit.fw", "--tol"), "FW0003", "`--tol` has no value"),
        (("run", "fit.fw", "--quiet=3"), "FW0003", "`--quiet` takes no value"),
        (("run", "fit.fw", "--tol", "small"), "FW0004", "`--tol` takes a number above 0"),
        (("run", "fit.fw", "--tol", "nan"), "FW0004", "`--tol` takes a number above 0"),
        (("run", "fit.fw", "--tol", "0"), "FW0004", "`--tol` takes a number above 0"),
        (("run", "fit.fw", "--time", "soon"), "FW0004", "`--time` takes a time in seconds"),
        (("run", "fit.fw", "--max-iter", "1.5"), "FW0004", "a whole number from 0"),
        (("run", "fit.fw", "--max-iter=-1"), "FW0004", "a whole number from 0"),
        (("run", "fit.fw", "--method", "apg("), "FW0004", "`NAME(option=value)`"),
        (("run", "fit.fw", "--method", "apg, tol=1"), "FW0004", "`NAME(option=value)`"),
        (("run", "fit.fw", "--method", "apg,auto"), "FW0004", "or names separated by"),
        (("run", "fit.fw", "--gap", "relativ"), "FW0004", "write for instance `--gap relative`"),
        (("run",), "FW0005", "no program is named"),
        (("run", "fit.fw", "train.svm"), "FW0006", "`train.svm` is one argument too many"),
        (("run", "fiit.fw"), "FW0010", "did you mean `fit.fw`?"),
        (("run", "fit"), "FW0010", "did you mean `fit.fw`?"),
        (("run", "a\0b.fw"), "FW0010", "there is no file"),
        (("check", "."), "FW0011", "it holds `fit.fw`"),
        (("solve", "fit.fw"), "FW0001", "did you mean `fwdsl run`?"),
        (("predict", "fit.npz"), "FW0001", "did you mean `fwdsl eval FILE.npz --predict`?"),
        (("run", "fit.fw", "--out", "nowhere/fit.npz"), "FW0013", "there is no folder `nowhere`"),
        (("run", "fit.fw", "--out", "."), "FW0013", "it is a folder"),
        (("run", "fit.fw", "--data", "X"), "FW0100", "no `=`"),
        (("explain", "FW0000"), "FW0015", "is not the code of a diagnostic"),
        (("explain", "15"), "FW0015", "did you mean `FW0015`?"),
    ],
)
@pytest.mark.usefixtures("program")
def test_what_is_wrong_is_named(capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], code: str, words: str):
    assert main(argv) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error[{code}]: ")
    assert words in err


@pytest.mark.parametrize(
    ("command", "name", "words"),
    [
        ("run", "train.svm", "`fwdsl new train.svm` writes a program for it"),
        ("check", "a b.csv", "`fwdsl new 'a b.csv'` writes a program for it"),
        ("plan", "fit.npz", "`fwdsl eval fit.npz` and `fwdsl verify fit.npz` take a saved answer"),
        ("fmt", "B.npy", "help: `--data NAME=B.npy` gives it to one"),
    ],
)
@pytest.mark.usefixtures("program")
def test_data_in_the_place_of_a_program(capsys: pytest.CaptureFixture[str], command: str, name: str, words: str):
    Path(name).write_bytes(b"PK\x03\x04")
    assert main([command, name]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"error[FW0011]: `{name}` is data by its suffix") and words in " ".join(err.split())
    assert Path(name).read_bytes() == b"PK\x03\x04"


@pytest.mark.usefixtures("program")
def test_all_that_is_wrong_with_bindings_is_named_at_once(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "fit.fw", "--data", "X", "--set", "delta", "--dim", "k=0"]) == 1
    text = capsys.readouterr().err
    assert [code in text for code in ("FW0100", "FW0110", "FW0121", "3 errors")] == [True] * 4


@pytest.mark.usefixtures("program")
def test_the_value_of_an_unknown_option_is_no_error_of_its_own(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "fit.fw", "--mehtod", "apg"]) == 1
    err = capsys.readouterr().err
    assert "did you mean `--method`?" in err and "FW0006" not in err


@pytest.mark.usefixtures("program")
def test_options_that_exclude_each_other(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "fit.fw", "--json", "--json-stream"]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out)["diagnostics"][0]["code"] == "FW0007"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(capsys: pytest.CaptureFixture[str], command: str):
    assert main([command, "--help"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"usage: fwdsl {command} ")
    assert err == ""


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]):
    assert main(["--help"]) == 0
    out, _ = capsys.readouterr()
    for name, (_, summary) in COMMANDS.items():
        assert f"  {name}" in out and summary in out


def test_version(capsys: pytest.CaptureFixture[str]):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"fwdsl {__version__}\n"


def test_explain(capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "fw0001", "FW0002"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("FW0001: no such command\n") and "\nFW0002: no such option\n" in out
    assert main(["explain"]) == 0
    assert "FW0001  no such command" in capsys.readouterr().out


def test_explain_a_method(capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "gsfw", "FW5004", "apg"]) == 0
    out = capsys.readouterr().out
    assert (
        out.startswith("gsfw: generalised stochastic Frank-Wolfe\n") and "\nbatch: a number above 0, or `auto`\n" in out
    )
    assert "\n\nFW5004: " in out and "\nnewton: `true` or `false`, true unless given\n" in out
    assert main(["explain", "gfsw"]) == 1
    assert "did you mean `gsfw`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("norm1", ["norm1(x", "Sum of absolute values", "docs/language.md#convex-functions"]),
        ("psd", ["a set of", "a type:", "#constraints", "#types"]),
        ("csv", ['csv("PATH")', "- `sep`:", "#data"]),
        ("tol", ["solve tol = VALUE", "#options"]),
        ("minimize", ["minimize EXPRESSION", "#programs"]),
        ("power", ["of each entry", "power(z, p)", "#functions-of-entries"]),
    ],
)
def test_explain_a_word(word: str, parts: list[str], capsys: pytest.CaptureFixture[str]):
    assert main(["explain", word]) == 0
    out = capsys.readouterr().out
    assert all(part in out for part in parts) and "```" not in out


@pytest.mark.parametrize(("name", "meant"), [("norm7", "`norm1`"), ("l1ball", "`l1_ball`"), ("FW00001", "`FW0001`")])
def test_what_is_like_a_word_or_a_code(name: str, meant: str, capsys: pytest.CaptureFixture[str]):
    assert main(["explain", name]) == 1
    assert meant in capsys.readouterr().err


def test_every_word_is_explained():
    from fwdsl.lsp.wordbook import explain_word, words

    assert all("docs/language.md#" in (explain_word(word) or "") for word in words())
    assert explain_word("norm7") is None
