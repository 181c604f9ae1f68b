"""Docstrings begin with the thing that they describe or with a verb, and each field of a method's state has a comment."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    {path.resolve() for folder in ("fwdsl", "backends", "grammar") for path in (ROOT / folder).rglob("*.py")}
)

TESTS = sorted((ROOT / "tests").rglob("*.py"))

#: First words of clauses and phrases, which do not name what is described.
CLAUSES = frozenset("What Where Whether How Which Who Whose Why When While Those That Its".split())
OPENINGS = CLAUSES | frozenset("It As At By For From If In Of On To With".split())


#: What a file with such a docstring holds: most files need not be parsed.
OPENED = re.compile(rf"[\"']\s*(?:{'|'.join(sorted(OPENINGS))})\s")


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings of a file with their lines: of itself, of classes and functions, and those behind assignments."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        described = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for before, statement in zip([None, *body], body, strict=False):
            if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
                continue
            text = statement.value.value
            if isinstance(text, str) and (
                (before is None and described) or isinstance(before, ast.Assign | ast.AnnAssign)
            ):
                yield statement.lineno, text


def test_docstrings_name_their_subject_first() -> None:
    assert len(SOURCES) > 500
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path in (*SOURCES, *TESTS)
        if OPENED.search(path.read_text(encoding="utf-8"))
        for line, text in docstrings(path)
        # a test may say its case in a phrase
        if text.split(maxsplit=1)[0] in (CLAUSES if path in TESTS else OPENINGS)
    ]
    assert not found, "write `The ...`, `True if ...`, `The reasons why ...` or a verb:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        '"""Where x is."""',
        'def f():\n    """Whether x is."""',
        'class A:\n    x: int = 0\n    """How many."""',
        'class A:\n    def f(self):\n        """Of x."""',
    ],
)
def test_a_bad_opening_is_found(source: str, tmp_path: Path) -> None:
    path = tmp_path / "source.py"
    path.write_text(source)
    assert OPENED.search(source)
    assert [text.split()[0] in OPENINGS for _, text in docstrings(path)] == [True]


def bare_fields(source: str) -> list[str]:
    """The fields of classes of states without a comment on their lines or above."""
    lines = source.splitlines()
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and node.name.endswith("State"):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and "ClassVar" not in ast.unparse(field.annotation):
                    own = lines[field.lineno - 1 : field.end_lineno]
                    if not any("#" in line for line in own) and not lines[field.lineno - 2].lstrip().startswith("#"):
                        found.append(f"{node.name}.{ast.unparse(field.target)}")
    return found


def test_fields_of_states_have_comments() -> None:
    assert sum("State(State)" in path.read_text(encoding="utf-8") for path in SOURCES) > 10
    found = {path.name: bare_fields(path.read_text(encoding="utf-8")) for path in SOURCES if "backends" in path.parts}
    assert not {name: fields for name, fields in found.items() if fields}


def test_a_field_without_a_comment_is_found() -> None:
    source = "class AState:\n    x: int  # the point\n    y: int\n    kind: ClassVar[str] = ''\n"
    assert bare_fields(source) == ["AState.y"]
