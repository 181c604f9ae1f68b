"""Names of words stand in their records and in `fwdsl.atoms`: everybody else asks these, and compares no names and no classes of atoms."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache, lru_cache
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
from fwdsl.words import CONVEX, FEATURE_MAPS, FUNCTIONS, LOSSES, SETS, SOLVE_OPTIONS, SOURCES, TYPES

ROOT = Path(__file__).resolve().parents[2]
HOMES = ("fwdsl/words/", "fwdsl/atoms/", "fwdsl/oracle/")

#: Types, and words that mean something else too: lines of a matrix, an affine term, an absolute gap, a scale of an axis, a method of NumPy, minutes.
PLAIN = {*TYPES, "rows", "columns", "affine", "absolute", "vec", "log", "power", "min"}
NAMES = {*LOSSES, *CONVEX, *SETS} - PLAIN

#: How many names a file may have, and why.
ALLOWED = {
    "grammar/marks.py": (
        9,
        "`||x||_1`, `sum(x^2)` and `abs(x)^3` of mathematics are mended to words, and the grammar knows no records",
    ),
    "backends/highs/method.py": (1, "`simplex` is a method of HiGHS"),
    "backends/highs/run.py": (1, "`simplex` is a method of HiGHS"),
    "grammar/phrases.py": (1, "`[0, 1]` of mathematics is mended to a word, and the grammar knows no records"),
}

#: The names of the other kinds of words. Many are names of other things too (`sum` of an operation, `nonnegative` of a sign), so only
#: comparisons of what is called a name, a kind, a role or a format are counted.
OTHERS = {*TYPES, *FUNCTIONS, *SOLVE_OPTIONS, *SOURCES, *FEATURE_MAPS}
NAMED = ("kind", "name", "id", "role", "format", "format_name")

#: How many of these names a file may compare with, and why. `Type` has a property for each kind that is asked for.
ALLOWED_OTHERS = {
    "fwdsl/bind/bindings.py": (3, "arrays of NumPy's files have places in them, and npz ones keys"),
    "fwdsl/bind/dimensions.py": (1, "a libsvm file says how many columns it has"),
    "fwdsl/build/assemble.py": (3, "roles of values from Python, which have no type yet"),
    "fwdsl/build/convert.py": (2, "roles of values from Python, which have no type yet"),
    "fwdsl/build/declare.py": (2, "types as they are written, before they are checked"),
    "fwdsl/build/indexing.py": (1, "a type as it is written, before it is checked"),
    "fwdsl/canon/matrix_prediction.py": (1, "the kind of a prediction, not of a type"),
    "fwdsl/canon/pairs.py": (3, "what a function is of, by the words of its record"),
    "fwdsl/canon/rewrites/slacks.py": (3, "the kind of a cost, not a feature map"),
    "fwdsl/check/data.py": (13, "rules for literals of each kind of data"),
    "fwdsl/check/declarations.py": (3, "kinds of constants that a `let` cannot name"),
    "fwdsl/check/functions.py": (1, "`ones` and `zeros` have one rule"),
    "fwdsl/check/indexing.py": (1, "`dim(Phi)` stands in the place of a dimension"),
    "fwdsl/check/options.py": (1, "the value of `method` is a name or a call"),
    "fwdsl/check/settings.py": (7, "rules for the values of single options"),
    "fwdsl/check/shapes.py": (3, "how types are told to a user"),
    "fwdsl/check/types.py": (8, "types as they are written, before they are checked"),
    "fwdsl/extend.py": (1, "every class has a seed"),
    "fwdsl/model/types.py": (13, "the properties of `Type`"),
    "fwdsl/plan/named.py": (1, "the place where the program names a method"),
    "fwdsl/readers/coo.py": (1, "the role of a datum in a file, by the kind of its type"),
    "fwdsl/readers/roles.py": (7, "the role of a datum in a file, by the kind of its type"),
    "fwdsl/readers/sources.py": (1, "a key is of npz files"),
    "fwdsl/studies/every_word.py": (1, "an argument that is a positive semidefinite matrix"),
    "fwdsl/testing/forms.py": (1, "the kind of a cone"),
    "backends/interior/program.py": (2, "the kind of a cone"),
    "grammar/build.py": (1, "`index[n] of T`, whose T is a dimension"),
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


@lru_cache(1)
def nodes(path: Path) -> list[ast.AST]:
    """All nodes of a file's tree, kept until the next file is asked for."""
    return [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def comparisons(path: Path, known: set[str]) -> Iterator[str]:
    """The names `known` that a file compares with, asks `isinstance` for, or has as keys of a table."""
    for node in nodes(path):
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
    tree = nodes(path)
    prose = {id(n.value) for n in tree if isinstance(n, ast.Expr)}
    prose |= {id(v) for n in tree if isinstance(n, ast.JoinedStr) for v in n.values}
    for node in tree:
        if isinstance(node, ast.Constant) and id(node) not in prose and node.value in NAMES:
            yield str(node.value)


def names_compared(path: Path) -> Iterator[str]:
    """The names of other words that a file compares a name, a kind, a role or a format with."""
    for node in nodes(path):
        if isinstance(node, ast.Compare):
            left = node.left.attr if isinstance(node.left, ast.Attribute) else getattr(node.left, "id", "")
            if left in NAMED:
                inner = (n for part in node.comparators for n in ast.walk(part))
                yield from (str(n.value) for n in inner if isinstance(n, ast.Constant) and n.value in OTHERS)


@cache
def found() -> dict[str, tuple[list[str], list[str], list[str]]]:
    """Of each source what the three kinds of names are that it has, read in one go."""
    known, each = CONSTANTS | classes(), {}
    for name in files():
        path = ROOT / name
        each[name] = sorted(literals(path)), sorted(comparisons(path, known)), sorted(names_compared(path))
    return each


def files() -> Iterator[str]:
    """The sources outside the homes of names; `fwdsl/backends` and `fwdsl/grammar` are seen under their own folders."""
    for folder in ("fwdsl", "backends", "grammar"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith((*HOMES, "fwdsl/backends/", "fwdsl/grammar/")):
                yield name


def test_files_ask_records_and_atoms() -> None:
    over = {name: names for name, (names, _, _) in found().items() if len(names) > ALLOWED.get(name, (0, ""))[0]}
    assert not over, f"names are compared here; ask `fwdsl.words` or the atom: {over}"


def test_files_compare_with_no_word_and_no_atom() -> None:
    each = {name: names for name, (_, names, _) in found().items()}
    wrong = {name: names for name, names in each.items() if len(names) != ALLOWED_COMPARISONS.get(name, (0, ""))[0]}
    assert not wrong, f"words or atoms are compared here; ask a trait of the record, or a method of the atom: {wrong}"


def test_files_compare_few_names_of_types_functions_options_and_sources() -> None:
    over = {name: names for name, (_, _, names) in found().items() if len(names) > ALLOWED_OTHERS.get(name, (0, ""))[0]}
    assert not over, f"names are compared here; ask a property of the type, or a fact of the record: {over}"


def test_the_tables_are_of_files_that_are_there() -> None:
    for table in (ALLOWED, ALLOWED_OTHERS, ALLOWED_COMPARISONS):
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


def test_a_compared_name_is_found(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(
        'if t.kind == "psd" or name in ("csv", "other") or t.sign == "nonnegative":\n    kind = "matrix"\n'
    )
    assert sorted(names_compared(source)) == ["csv", "psd"]


def test_a_comparison_is_found(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(
        "if name == BOX or name in (NONNEGATIVE, other):\n    made = BOX\n"
        "if isinstance(g, Norm1 | ConvexSet) or type(g) is vectors.Norm2 or {L1Ball: 1}:\n    g = Norm1(2, 1.0)\n"
        "match name:\n    case words.PSD:\n        pass\n"
    )
    seen = sorted(comparisons(source, CONSTANTS | classes()))
    assert seen == ["BOX", "L1Ball", "NONNEGATIVE", "Norm1", "Norm2", "PSD"]
