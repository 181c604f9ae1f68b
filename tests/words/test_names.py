"""Names of words stand in their records and in `fwdsl.atoms`: everybody else asks these, and compares no names and no classes of atoms."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import fwdsl.words
from fwdsl.atoms.base import VectorFunction
from fwdsl.atoms.loss import Loss
from fwdsl.atoms.losses import LOSSES as LOSS_CLASSES
from fwdsl.atoms.losses import VECTOR_LOSSES
from fwdsl.atoms.vector_loss import VectorLoss
from fwdsl.atoms.vectors import JOINTS, NORMS
from fwdsl.atoms.vectors import SETS as SET_CLASSES
from fwdsl.grammar import declarations
from fwdsl.words import CONVEX, LOSSES, SETS, SOURCES, TYPES

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

#: How often a file may compare with a constant that holds names of words, or ask for the class of an atom, and why.
ALLOWED_COMPARISONS = {
    "fwdsl/canon/arrange.py": (1, "bounds that meet are written as one box"),
    "fwdsl/canon/sets.py": (1, "bounds that meet were written as one box"),
    "backends/gsfw/oracle.py": (3, "two pairs of a norm and a set, which nobody registers, have oracles like no other"),
    "backends/svm/l2svm.py": (1, "the method is the dual of this one loss"),
}

#: The constants that hold names.
CONSTANTS = {
    name for name in dir(fwdsl.words) if name.isupper() and isinstance(getattr(fwdsl.words, name), (str, tuple))
}


def classes() -> set[str]:
    """The classes of single functions, sets, pairs and losses of ours; the frames that several share are none."""
    for registry in (NORMS, SET_CLASSES, JOINTS, LOSS_CLASSES, VECTOR_LOSSES):
        for key in registry:
            assert registry[key] is not None  # type: ignore[index]
    found, left = set(), [VectorFunction, Loss, VectorLoss]
    while left:
        left += (cls := left.pop()).__subclasses__()
        single = isinstance(cls.__dict__.get("pair"), tuple) or "name" in cls.__dict__
        if single and cls.__module__.startswith("fwdsl.atoms."):
            found.add(cls.__name__)
    return found


def comparisons(path: Path, known: set[str]) -> Iterator[str]:
    """The names `known` that a file compares with, asks `isinstance` for, or has as keys of a table."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Compare():
                parts: list[ast.expr | ast.pattern | None] = [node.left, *node.comparators]
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                parts = [kinds]
            case ast.Dict():
                parts = [*node.keys]
            case ast.match_case():
                parts = [node.pattern]
            case _:
                continue
        for inner in (n for part in parts if part is not None for n in ast.walk(part)):
            name = inner.id if isinstance(inner, ast.Name) else inner.attr if isinstance(inner, ast.Attribute) else ""
            if name in known:
                yield name


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


def test_files_compare_with_no_word_and_no_atom() -> None:
    known = CONSTANTS | classes()
    found = {name: sorted(comparisons(ROOT / name, known)) for name in files()}
    wrong = {name: names for name, names in found.items() if len(names) != ALLOWED_COMPARISONS.get(name, (0, ""))[0]}
    assert not wrong, f"words or atoms are compared here; ask a trait of the record, or a method of the atom: {wrong}"


def test_the_tables_are_of_files_that_are_there() -> None:
    for table in (ALLOWED, ALLOWED_COMPARISONS):
        assert sorted(set(table) - set(files())) == []
        assert all(reason for _, reason in table.values())


def test_the_grammar_knows_the_suffixes_of_the_records() -> None:
    known = {suffix.removeprefix("."): name for name, source in SOURCES.items() for suffix in source.suffixes}
    assert known == declarations._SUFFIXES
    assert [name for name, source in SOURCES.items() if source.serves == "entries"] == list(declarations._OBSERVED)


def test_a_name_is_found(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text('"""norm1"""\nif word in ("norm1", "l1_ball", "rows"):\n    print(f"hinge")\n')
    assert sorted(literals(source)) == ["l1_ball", "norm1"]


def test_a_comparison_is_found(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(
        "if name == BOX or name in (NONNEGATIVE, other):\n    made = BOX\n"
        "if isinstance(g, Norm1 | ConvexSet) or type(g) is vectors.Norm2 or {L1Ball: 1}:\n    g = Norm1(2, 1.0)\n"
        "match name:\n    case words.PSD:\n        pass\n"
    )
    found = sorted(comparisons(source, CONSTANTS | classes()))
    assert found == ["BOX", "L1Ball", "NONNEGATIVE", "Norm1", "Norm2", "PSD"]
