"""Names of words stand in their records and in `fwdsl.atoms`: everybody else asks these, and compares no names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from fwdsl.words import CONVEX, LOSSES, SETS, TYPES

ROOT = Path(__file__).resolve().parents[2]
HOMES = ("fwdsl/words/", "fwdsl/atoms/", "fwdsl/oracle/")

#: Types, and words that mean something else too: lines of a matrix, an affine term, an absolute gap.
PLAIN = {*TYPES, "rows", "columns", "affine", "absolute", "vec"}
NAMES = {*LOSSES, *CONVEX, *SETS} - PLAIN

#: How many names a file may have, and why.
ALLOWED = {
    "grammar/marks.py": (5, "`||x||_1` of mathematics is mended to a word, and the grammar knows no records"),
    "grammar/phrases.py": (1, "`[0, 1]` of mathematics is mended to a word, and the grammar knows no records"),
}


def literals(path: Path) -> Iterator[str]:
    """The strings of a file that are names of words; docstrings and parts of formatted texts are none."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    prose |= {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in prose and node.value in NAMES:
            yield str(node.value)


def files() -> Iterator[str]:
    """The sources outside the homes of names; `fwdsl/backends` and `fwdsl/grammar` are seen under their own folders."""
    for folder in ("fwdsl", "backends", "grammar"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith((*HOMES, "fwdsl/backends/", "fwdsl/grammar/")):
                yield name


def test_files_ask_records_and_atoms() -> None:
    found = {name: sorted(literals(ROOT / name)) for name in files()}
    over = {name: names for name, names in found.items() if len(names) > ALLOWED.get(name, (0, ""))[0]}
    assert not over, f"names are compared here; ask `fwdsl.words` or the atom: {over}"


def test_the_table_is_of_files_that_are_there() -> None:
    assert sorted(set(ALLOWED) - set(files())) == []
    assert all(reason for _, reason in ALLOWED.values())


def test_a_name_is_found(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text('"""norm1"""\nif word in ("norm1", "l1_ball", "rows"):\n    print(f"hinge")\n')
    assert sorted(literals(source)) == ["l1_ball", "norm1"]
