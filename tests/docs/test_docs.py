"""The pages of documentation do what they say, say all that there is, and point to what exists."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest

import fwdsl as fw
from fwdsl import words
from fwdsl.backends.registry import METHODS
from fwdsl.check import compile_text
from fwdsl.cli.app import COMMANDS
from fwdsl.cli.exits import OF_STATUS
from fwdsl.model.options import Options
from fwdsl.plan import make_plan
from fwdsl.plan.document import document
from fwdsl.results.json_form import solution_json
from tools.site import generated
from tools.site.links import broken, markdown_files

from .pages import PAGES, Block, Page, blocks, compare, run_commands

ROOT = Path(__file__).resolve().parents[2]
LINKED = markdown_files()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, with the examples in it."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", PAGES, ids=[str(p.relative_to(ROOT)) for p in PAGES])
def test_a_page_does_what_it_says(path: Path, folder: Path):
    Page(path.name).follow(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", LINKED, ids=[str(p.relative_to(ROOT)) for p in LINKED])
def test_links_point_to_what_exists(path: Path):
    assert broken(path, generated.pages()) == []


# --- the sources that pages name ---------------------------------------------------------------------------------------

SOURCES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/README.md")]
SOURCES += [ROOT / "docs" / name for name in ("architecture.md", "decisions.md", "extending.md")]


@pytest.mark.parametrize("path", [*PAGES, *ROOT.glob("*.md")], ids=lambda path: path.name)
def test_no_page_has_the_marks_of_a_merge(path: Path):
    found = re.findall(r"^(?:<{7} |={7}$|>{7} ).*", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert not found


def prose(path: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def paths_in(text: str) -> list[str]:
    """Files and folders in backticks, from the top of the repository; those that a page makes for itself have no folder."""
    return re.findall(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.py)`", text)


@pytest.mark.parametrize("path", SOURCES, ids=[str(p.relative_to(ROOT)) for p in SOURCES])
def test_sources_that_a_page_names_exist(path: Path):
    # NAME stands for any name, FWd for any family of diagnostics
    patterns = {name: name.replace("NAME", "*").replace("FWd", "FW[0-9]") for name in paths_in(prose(path))}
    assert [name for name, pattern in patterns.items() if not any(ROOT.glob(pattern))] == []


def test_paths_are_found_in_pages():
    assert paths_in("`fwdsl/a.py`, `grammar/`, `b.py`, `first.fw`, `x / y`") == ["fwdsl/a.py", "grammar/", "b.py"]


def test_names_of_python_in_the_architecture_exist():
    names = re.findall(r"`(fwdsl(?:\.\w+)+)`", prose(ROOT / "docs" / "architecture.md"))
    assert len(names) > 5
    for name in names:
        resolve_name(name)  # raises where there is none


def test_rooms_are_the_layers():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    rooms = page("architecture.md").partition("| room | has |")[2].partition("\n\n")[0].splitlines()[2:]
    named = [{Path(p).stem for p in paths_in(row.split("|")[1])} for row in rooms]
    layers = [{room.strip() for room in layer.split("|")} for layer in contract["layers"]]
    assert named == [layer for layer in layers if layer != {"__main__"}]


# --- nothing is left out ---------------------------------------------------------------------------------------------


def quoted(text: str) -> set[str]:
    """The words at the start of what stands in backticks."""
    return set(re.findall(r"`(?:fw\.|--)?([\w-]+)", text))


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_the_reference_has_every_word_of_the_language():
    known = {*words.function_names(), *words.SETS, *words.TYPES, *words.SOURCES, *words.SOLVE_OPTIONS}
    assert sorted(known - quoted(page("language.md"))) == []


def test_the_reference_has_every_option_of_a_word():
    groups = (words.LOSSES, words.FEATURE_MAPS, words.SETS, words.SOURCES)
    options = {
        p.name
        for group in groups
        for s in group.values()
        for p in s.parameters
        if p.name not in ("prediction", "target", "X", "set")
    }
    assert sorted(o for o in options if not re.search(rf"\b{o}\b", page("language.md"))) == []


def test_the_page_on_python_has_every_public_name():
    assert sorted(set(fw.__all__) - quoted(page("python.md"))) == []


def test_the_page_on_python_has_every_field_of_a_solution():
    fields = {n for n in (*fw.Solution.__dataclass_fields__, *vars(fw.Solution)) if not n.startswith("_")}
    assert sorted(fields - quoted(page("python.md"))) == []


def test_the_page_on_commands_has_every_command_and_option(capsys: pytest.CaptureFixture[str]):
    from fwdsl.cli import main

    for command in COMMANDS:
        assert main([command, "--help"]) == 0
    options = set(re.findall(r"--([a-z][a-z-]*)", capsys.readouterr().out))
    text = page("command-line.md")
    assert sorted({*COMMANDS, *options} - quoted(text) - set(re.findall(r"--([a-z-]+)", text))) == []


def test_the_page_on_commands_has_every_key_of_the_json_form():
    form = solution_json(fw.parse("var x: real\nminimize sum_squares(x - 1)").solve(threads=1))
    keys = {*form, *form["certificate"], *form["time"]}
    assert sorted(keys - quoted(page("command-line.md"))) == []


def test_the_page_on_commands_has_every_status():
    assert sorted(set(OF_STATUS) - quoted(page("command-line.md"))) == []


def test_the_page_on_methods_is_what_the_registry_says():
    assert page("methods.md") == document(), "run: python -m fwdsl.plan.document > docs/methods.md"


def test_the_reference_has_every_method_and_option():
    rows = [line for line in page("language.md").splitlines() if line.startswith("| `")]
    words = quoted("\n".join(rows))
    assert sorted(set(METHODS) - words) == []
    assert sorted({o for m in METHODS.values() for o in m.options} - words) == []


# --- what this version does not solve --------------------------------------------------------------------------------

_VALUES = {"r": "1", "lo": "0", "hi": "1", "k": "2", "groups": "[[0], [1]]", "set": "simplex(1)", "A": "M", "b": "1"}
_VALUES |= {
    "a": "v",
    "V": "M",
    "c": "v",
    "lambdas": "d",
    "p": "3",
    "P": "eye(p)",
    "gamma": "1",
    "degree": "2",
    "features": "9",
    "grids": "9",
}


def _arguments(parameters: tuple[words.Parameter, ...]) -> str:
    return ", ".join(f"{p.name}={_VALUES[p.name]}" for p in parameters if p.required)


def _minimised(declared: str, term: str, rest: str = "") -> str:
    """A program with this term, with a minus where it is concave."""
    text = f"{declared}\nminimize {term}{rest}"
    return text if compile_text(text)[0] is not None else f"{declared}\nminimize -{term}{rest}"


def _loss(name: str) -> str:
    loss = words.LOSSES[name]
    if loss.entrywise:
        options = "".join(f", {p.name}=2" for p in loss.options if p.required)
        return _minimised("var z: vector[n]", f"sum({name}(z{options}))")
    target = {"real": "vector[n] in nonnegative", "signs": "signs[n]", "labels": "labels[n, k]"}[loss.target]
    z = "matrix[n, k]" if loss.scores else "vector[n]"
    return f"data y: {target}\nvar z: {z}\nminimize sum({name}(z, y))"


def _convex(name: str) -> str:
    function = words.CONVEX[name]
    x = (
        "vector[p]"
        if "vector" in function.of
        else "symmetric[p]"
        if function.of_eigenvalues or function.of_determinant
        else "matrix[p, k]"
    )
    more = "".join(f", {_VALUES[p.name]}" for p in function.options if p.required) + (
        f", {_VALUES.get(function.joint, 1)}" if function.joint else ""
    )
    applied = f"sum({name}(x{more}))" if function.by_rows else f"{name}(x{more})"
    return _minimised(f"data v: vector[p], d: vector[p] in nonnegative\nvar x: {x}", applied, " + sum(v) + sum(d)")


def _set(name: str) -> str:
    signature = words.SETS[name]
    kind = {"matrix": "matrix[p, p]", "square": "matrix[p, p]", "symmetric": "symmetric[p]"}
    members = f"{name}({_arguments(signature.parameters)})" if signature.parameters else name
    return (
        f"data v: vector[p], d: vector[p] in nonnegative, M: matrix[p, p]\nvar x: {kind.get(signature.of, 'vector[p]')}\n"
        f"minimize sum(x) + sum(v) + sum(d) + sum(M)\nsubject to x in {members.replace('b=1', 'b=v') if name == 'affine' else members}"
    )


def _map(name: str) -> str:
    options = _arguments(words.FEATURE_MAPS[name].options)
    made = f"{name}(X, {options})" if options else f"{name}(X)"
    return (
        f"data X: matrix[n, p], y: vector[n]\nlet Phi = {made}\nvar w: vector[dim(Phi)]\n"
        "minimize mean(squared(Phi @ w, y)) + sum_squares(w)"
    )


def _variable(name: str) -> str:
    signature = words.TYPES[name]
    dims = {0: "", 1: "[p]", 2: "[p, p]"}[(signature.dims or (0,))[0]]
    of = " of vector[p]" if signature.of == "type" else ""
    return f"data v: vector[p]\nvar x: {name}{dims}{of}\nminimize sum(x) + sum(v)"


PROGRAMS = {
    **{name: _loss(name) for name in words.LOSSES},
    **{name: _convex(name) for name in words.CONVEX},
    **{name: _set(name) for name in words.SETS if name != "psd"},
    **{name: _map(name) for name in words.FEATURE_MAPS},
    **{name: _variable(name) for name, signature in words.TYPES.items() if signature.var},
}


def refusals() -> set[str]:
    """The words that the reference has in its table of what is accepted and not solved."""
    section = page("language.md").partition("## What this version does not solve\n")[2].partition("\n## ")[0]
    return quoted("\n".join(line for line in section.splitlines() if line.startswith("|")))


@pytest.mark.parametrize("word", PROGRAMS)
def test_what_is_not_solved_is_listed(word: str):
    model, found = compile_text(PROGRAMS[word])
    assert model is not None, found
    plan, refused = make_plan(model, Options())
    assert (plan is None) == (word in refusals())
    assert {d.code for d in refused} == ({"FW5001"} if word in refusals() else set())


# --- the tests of the pages themselves -------------------------------------------------------------------------------


def test_blocks_are_found_with_their_lines():
    text = 'a\n\n```fw part title="a.fw"\nvar x: real\n```\n\n```\nprose\n```\n'
    assert list(blocks(text)) == [
        Block("fw", True, "a.fw", "var x: real\n", 4),
        Block("", False, None, "prose\n", 8),
    ]


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("objective   0.50000001\ngap   1e-9 (relative 3e-8)", "objective 0.5\ngap 2e-10 (relative 0)"),
        ("time  1.20 s: compile 0.03 s", "time  0.90 s: compile 0.01 s"),
        ("apg: 1 iteration, 1 data pass and 3 to verify", "apg: 1 iteration, 1 data pass and 2 to verify"),
        ("a\nb\nc\nd", "a\n...\nd"),
        ("a\nb", "a\n..."),
        ("compiling kernels (once)\na", "a"),
        (
            "known by  exact: closed-form dual",
            "known by  exact: closed-form dual; the equality of b is met to rounding",
        ),
    ],
)
def test_what_depends_on_the_machine_is_not_compared(printed: str, shown: str):
    compare(printed, shown)


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("objective 0.51", "objective 0.5"),
        ("3 of 10 entries", "4 of 10 entries"),
        ("status optimal", "status interrupted"),
        ("a\nb", "a"),
        ("a", "a\nb"),
        ("known by  conditional: closed-form dual", "known by  exact: closed-form dual"),
        ("a\nc", "a\n...\nb"),
    ],
)
def test_what_does_not_is(printed: str, shown: str):
    with pytest.raises(AssertionError):
        compare(printed, shown)


def test_an_exit_code_that_is_not_shown_is_found():
    assert "fwdsl" in run_commands("fwdsl --version\n")
    with pytest.raises(AssertionError, match="exit code 1"):
        run_commands("fwdsl nothing\n")
