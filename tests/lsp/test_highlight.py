"""Colours outside of the server: the generated files, the lexer of Pygments, the grammar of tree-sitter."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from fwdsl.highlight import vocabulary
from fwdsl.highlight.generate import EDITORS, files
from fwdsl.words import LOSSES, TYPES

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.fw"))
TREE_SITTER = EDITORS / "tree-sitter-fw"


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_generated_files_are_those_of_today(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == files()[path], "run `python -m fwdsl.highlight.generate`"


def test_keywords_have_records() -> None:
    assert vocabulary.missing() == set()


def test_snippets_of_programs_are_programs() -> None:
    from fwdsl.check import compile_text

    snippets = json.loads((EDITORS / "vscode" / "snippets" / "fw.json").read_text(encoding="utf-8"))
    text = re.sub(r"\$(?:\{\d+:([^}]*)\}|\d+)", r"\1", "\n".join(snippets["program"]["body"]))
    assert compile_text(text)[1] == ()
    assert set(LOSSES) <= set(snippets)


def test_the_extension_ships_what_it_names() -> None:
    package = json.loads((EDITORS / "vscode" / "package.json").read_text(encoding="utf-8"))
    contributed = package["contributes"]
    named = [g["path"] for g in contributed["grammars"]] + [s["path"] for s in contributed["snippets"]]
    named += [language["configuration"] for language in contributed["languages"]]
    assert all((EDITORS / "vscode" / path).is_file() for path in named)
    assert all(any(path.removeprefix("./").startswith(kept) for kept in package["files"]) for path in named)


def test_cells_of_notebooks_are_coloured_from_their_first_line_on() -> None:
    folder = EDITORS / "vscode" / "syntaxes"
    (rule,) = json.loads((folder / "python-fw.json").read_text(encoding="utf-8"))["patterns"]
    grammar = json.loads((folder / "fw.tmLanguage.json").read_text(encoding="utf-8"))
    assert rule["patterns"] == [{"include": grammar["scopeName"]}]
    begin = re.compile(rule["begin"].replace(r"[\p{L}\p{N}_]", r"\w"))
    assert begin.search("%%fw") and begin.search("%%fw --set mu=.1 -o sol")
    assert not any(begin.search(text) for text in ("%%fwx", "x = 1\n%%fw", "# %%fw", "%fw"))


def test_the_editor_offers_what_the_server_offers() -> None:
    # VS Code has snippets and words of the text everywhere: behind an operand, and where Enter ends a new name.
    package = json.loads((EDITORS / "vscode" / "package.json").read_text(encoding="utf-8"))
    settings = package["contributes"]["configurationDefaults"]["[fw]"]
    assert (settings["editor.snippetSuggestions"], settings["editor.wordBasedSuggestions"]) == ("none", "off")
    assert settings["editor.tabCompletion"] == "onlySnippets"


def test_the_editor_knows_what_a_word_is() -> None:
    # VS Code takes a text for a pattern without the flag `u`, in which `\p{L}` is no letter: nothing is then offered while typing.
    pattern = json.loads((EDITORS / "vscode" / "language-configuration.json").read_text(encoding="utf-8"))[
        "wordPattern"
    ]
    assert "\\p{" in pattern["pattern"]
    assert "u" in pattern["flags"]


def test_types_in_the_parser_are_those_of_today() -> None:
    grammar = json.loads((TREE_SITTER / "src" / "grammar.json").read_text(encoding="utf-8"))
    (alias,) = [part["content"] for part in grammar["rules"]["type"]["content"]["members"] if part["type"] == "FIELD"]
    assert [m["value"] for m in alias["content"]["members"]] == list(TYPES)


# --- Pygments --------------------------------------------------------------------------------------------------------


def test_the_entry_point_names_the_lexer() -> None:
    pytest.importorskip("pygments")
    project = tomllib.loads((EDITORS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ((_, value),) = project["entry-points"]["pygments.lexers"].items()
    lexer = EntryPoint("", value, "").load()
    assert lexer.name in lexer.aliases and lexer.filenames == ["*.fw"]


def lexed(text: str) -> list[tuple[str, str]]:
    pytest.importorskip("pygments")
    from fwdsl.highlight.pygments_lexer import FwLexer

    return [(str(kind).removeprefix("Token."), word) for kind, word in FwLexer().get_tokens(text) if word.strip()]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_lexed_whole(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = lexed(text)
    assert "Error" not in {kind for kind, _ in found}
    assert "".join("".join(word for _, word in found).split()) == "".join(text.split())


def test_words_are_what_their_records_say() -> None:
    found = lexed('var x\u0302: psd[d] in psd # a\nminimize mean(huber(A.T @ x, "\\"", delta=1e-3)) ?')
    assert ("Keyword", "var") in found and ("Keyword.Type", "psd") in found
    assert ("Name", "x\u0302") in found and ("Name.Builtin", "huber") in found
    assert ("Name.Attribute", "delta") in found and ("Literal.Number", "1e-3") in found
    assert ("Literal.String.Double", '"\\""') in found and ("Error", "?") in found
    assert ("Comment.Single", "# a") in found


# --- tree-sitter -----------------------------------------------------------------------------------------------------


def cli() -> str:
    found = shutil.which("tree-sitter", path=f"{TREE_SITTER / 'node_modules' / '.bin'}{os.pathsep}{os.environ['PATH']}")
    if found is None or shutil.which("node") is None or shutil.which("cc") is None:
        pytest.skip("tree-sitter's command, node or a C compiler is not installed")
    return found


@pytest.mark.slow  # it compiles a parser
def test_the_grammar_parses_its_corpus_and_every_example(tmp_path: Path) -> None:
    command = cli()
    folder = tmp_path / "grammar"
    shutil.copytree(TREE_SITTER, folder, ignore=shutil.ignore_patterns("node_modules", "build"))
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=500
        )

    generated = run("generate")
    assert generated.returncode == 0, generated.stderr
    # what else stands in the file depends on the version of the command
    made, kept = (json.loads((at / "src" / "grammar.json").read_text()) for at in (folder, TREE_SITTER))
    assert made["rules"] == kept["rules"], "run `tree-sitter generate` in editors/tree-sitter-fw"
    tested = run("test")
    assert tested.returncode == 0, tested.stdout
    parsed = run("parse", "--quiet", *map(str, EXAMPLES))
    assert parsed.returncode == 0, parsed.stdout
    queried = run("query", "queries/highlights.scm", str(EXAMPLES[0]))
    assert queried.returncode == 0, queried.stderr
