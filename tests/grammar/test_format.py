"""Canonical formatting: the look, the same tree, nothing lost, nothing left to do the second time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdsl.grammar import format_expr, format_program, format_source, parse
from fwdsl.grammar.tree import (
    Boolean,
    Call,
    Comparison,
    Declaration,
    Expr,
    Ident,
    Index,
    Item,
    Keyword,
    Let,
    List,
    Name,
    NamedRelation,
    Neg,
    Number,
    Objective,
    Product,
    Program,
    Slice,
    Solve,
    String,
    SubjectTo,
    Sum,
    Transpose,
    TypeExpr,
    Version,
)

from .programs import PROGRAMS


def formatted(text: str) -> str:
    """The text in canonical form; also checks that it stays so."""
    out, found = format_source(text)
    assert [d.message for d in found] == []
    assert format_source(out) == (out, ())
    return out


LOOKS = {
    "the first example": (
        PROGRAMS["first"],
        """\
fw 1  # language version (optional; the formatter adds it)
problem sparse_logistic  # optional name

data X: matrix[n, p], y: signs[n] from libsvm("data/a9a.svm.gz")
param delta: positive = 5
var beta: vector[p]  # or: var beta: vector[p] in l1_ball(delta)

minimize mean(logistic(X @ beta, y))
subject to norm1(beta) <= delta

solve tol = 1e-6
""",
    ),
    "the version is added": ("var x: real", "fw 1\n\nvar x: real\n"),
    "the version is added above the name": ("problem p\nvar x: real", "fw 1\nproblem p\nvar x: real\n"),
    "the version is added above comments": ("# about\n\nvar x: real", "fw 1\n\n# about\n\nvar x: real\n"),
    "comments above the version stay there": ("# about\nfw 1\nvar x: real", "# about\nfw 1\nvar x: real\n"),
    "one blank line at most": ("fw 1\n\n\n\nvar x: real\n# a\n\n\n# b\n\n", "fw 1\n\nvar x: real\n# a\n\n# b\n"),
    "ascii": (
        "fw 1\nsubject to 0≤x·y,x≥1\n x∈simplex( 1 )",
        "fw 1\nsubject to\n    0 <= x * y\n    x >= 1\n    x in simplex(1)\n",
    ),
    "constraints one a line": ("fw 1\nsubject to q:a<=1,b==2", "fw 1\nsubject to\n    q: a <= 1\n    b == 2\n"),
    "options on a line": ("fw 1\nsolve tol=1e-6,time=5   min", "fw 1\nsolve tol = 1e-6, time = 5 min\n"),
    "fractions are tight": ("fw 1\nlet a = 1 / 2*x / f( y )/n", "fw 1\nlet a = 1/2 * x / f(y) / n\n"),
    "comments in a sum": (
        "fw 1\nminimize a # one\n # two\n + b # three\n\n - c\n# four",
        "fw 1\nminimize\n    a  # one\n    # two\n    + b  # three\n    - c\n# four\n",
    ),
    "comments in a call move out of it": (
        "fw 1\nlet r = f(a, # one\n # two\n b) # three",
        "fw 1\nlet r =\n    # two\n    # one\n    f(a, b)  # three\n",
    ),
    "comments behind keywords": (
        "fw 1\nminimize # one\n a\nsubject to # two\n # three\n a <= 1 # four",
        "fw 1\nminimize  # one\n    a\nsubject to  # two\n    # three\n    a <= 1  # four\n",
    ),
    "comments among declarations and options": (
        "fw 1\ndata a: real, # one\n # two\n b: real # three\nsolve tol =\n # four\n 1, # five\n seed = 2",
        "fw 1\ndata a: real,  # one\n     # two\n     b: real  # three\n# four\nsolve tol = 1,  # five\n      seed = 2\n",
    ),
    "long sums": (
        "fw 1\nminimize mean(logistic(standardize(X) @ beta, y)) + lambda1 * norm1(beta) - lambda2 * sum_squares(beta - ones(p))",
        "fw 1\nminimize\n    mean(logistic(standardize(X) @ beta, y))\n    + lambda1 * norm1(beta)\n    - lambda2 * sum_squares(beta - ones(p))\n",
    ),
    "long sums in constraints break behind the operator": (
        "fw 1\nsubject to " + " + ".join(["a_rather_long_name"] * 6) + " <= 1",
        "fw 1\nsubject to\n    a_rather_long_name" + " +\n        a_rather_long_name" * 5 + " <= 1\n",
    ),
    "long calls": (
        "fw 1\ndata X: matrix[n, p] from csv("
        + '"a/long/path/to/a/file/with/a/long/name.csv"'
        + ', target="price", columns=["u", "v"])',
        'fw 1\ndata X: matrix[n, p] from csv(\n    "a/long/path/to/a/file/with/a/long/name.csv",\n'
        '    target="price",\n    columns=["u", "v"]\n)\n',
    ),
    "long literals are filled": (
        "fw 1\ndata v: vector[n] = [" + "1.25, " * 40 + "1]",
        "fw 1\ndata v: vector[n] = [\n    "
        + " ".join(["1.25,"] * 16)
        + "\n    "
        + " ".join(["1.25,"] * 16)
        + "\n    "
        + "1.25, " * 8
        + "1\n]\n",
    ),
    "long declarations": (
        "fw 1\nvar " + ", ".join(f"name_{i}: vector[dimension]" for i in range(5)),
        "fw 1\nvar " + ",\n    ".join(f"name_{i}: vector[dimension]" for i in range(5)) + "\n",
    ),
    "a name longer than a line": ("fw 1\nvar " + "n" * 120 + ":real", "fw 1\nvar " + "n" * 120 + ": real\n"),
    "sizes longer than a line": (
        "fw 1\nvar x: matrix[" + "r" * 60 + "," + "c" * 60 + "],y:real",
        "fw 1\nvar x: matrix[" + "r" * 60 + ", " + "c" * 60 + "],\n    y: real\n",
    ),
    "a name longer than a line, and its set": (
        "fw 1\nvar " + "n" * 120 + ":vector[3] in simplex(1)",
        "fw 1\nvar " + "n" * 120 + ": vector[3] in simplex(\n    1\n)\n",
    ),
}


@pytest.mark.parametrize(("text", "expected"), LOOKS.values(), ids=LOOKS)
def test_looks(text: str, expected: str):
    assert formatted(text) == expected


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_every_construct_round_trips_with_its_comments(text: str):
    program, again = parse(text)[0], parse(formatted(text))[0]
    assert [s for s in again.statements if not isinstance(s, Version)] == [
        s for s in program.statements if not isinstance(s, Version)
    ]
    assert sorted(c.text for c in again.comments) == sorted(c.text for c in program.comments)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_without_its_text_formats_to_the_same_statements(text: str):
    program = parse(text)[0]
    again, found = parse(format_program(Program(program.statements)))
    assert found == ()
    assert [s for s in again.statements if not isinstance(s, Version)] == [
        s for s in program.statements if not isinstance(s, Version)
    ]


def test_a_built_program_has_blank_lines_between_its_parts():
    x, one = Name("x"), Number(1.0)
    program = Program(
        (
            Declaration("var", (Item(Ident("x"), TypeExpr(Ident("real"))),)),
            Let(Ident("r"), Sum((x, Number(-0.5)), (1, 1))),
            Objective("minimize", x),
            SubjectTo((NamedRelation(Comparison((Number(1e-7), x), ("<=",))),)),
            Solve((Keyword(Ident("tol"), one),)),
        )
    )
    assert format_program(program) == (
        "fw 1\n\nvar x: real\nlet r = x + (-0.5)\n\nminimize x\nsubject to 1e-7 <= x\n\nsolve tol = 1\n"
    )


def test_text_that_is_wrong_is_left_alone():
    text = "minimize   x^2"
    out, found = format_source(text)
    assert (out, [d.code for d in found]) == (text, ["FW1042"])


def test_formatting_that_would_change_a_program_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fwdsl.grammar.formatter.format_program", lambda program: "fw 1\nvar x: real\n")
    for text in ("var y: real\n", "var x: real # lost\n", "var x: integer\n"):
        out, found = format_source(text)
        assert (out, [d.code for d in found]) == (text, ["FW9101"])


def test_nested_to_the_limit_and_wide():
    for text in (
        "f(" * 199 + " + ".join(["x"] * 300) + ")" * 199,
        "(1 + " * 199 + "x" + ")" * 199,
        "x" + ".T" * 240,
        "-" * 240 + "x",
        "a * " + "-" * 240 + "(b * c)",
    ):
        formatted(f"let a = {text}")


# --- random trees

_names = st.sampled_from(["a", "b", "x1", "β"]).map(Name)
_numbers = st.one_of(
    st.integers(0, 10**6).map(lambda i: Number(float(i))),
    st.floats(0, allow_nan=False, allow_infinity=True).map(Number),
)
_strings = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufffd"), max_size=5).map(String)
_leaves = st.one_of(_names, _names, _numbers, _strings, st.booleans().map(Boolean))
_idents = st.sampled_from(["f", "gamma", "norm1"]).map(Ident)


def _branches(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    several = st.lists(inner, min_size=2, max_size=4).map(tuple)
    few = st.lists(inner, max_size=3).map(tuple)
    keywords = st.lists(st.builds(Keyword, _idents, inner), max_size=2).map(tuple)
    items = st.lists(st.one_of(inner, st.builds(Slice, st.none() | inner, st.none() | inner)), min_size=1, max_size=2)

    def signed(terms: tuple[Expr, ...]) -> st.SearchStrategy[Expr]:
        signs = st.lists(st.sampled_from([1, -1]), min_size=len(terms), max_size=len(terms))
        return signs.map(lambda s: Sum(terms, tuple(s)))

    def joined(factors: tuple[Expr, ...]) -> st.SearchStrategy[Expr]:
        ops = st.lists(st.sampled_from(["*", "/", "@"]), min_size=len(factors) - 1, max_size=len(factors) - 1)
        return ops.map(lambda o: Product(factors, tuple(o)))

    return st.one_of(
        several.flatmap(signed),
        several.flatmap(joined),
        inner.map(Neg),
        inner.map(Transpose),
        st.builds(Call, _idents, few, keywords),
        st.builds(Index, inner, items.map(tuple)),
        few.map(List),
    )


expressions = st.recursive(_leaves, _branches, max_leaves=25)


@given(expressions)
def test_any_expression_reads_back_as_itself(tree: Expr):
    program, found = parse("let r = " + format_expr(tree))
    assert found == ()
    assert program.statements == (Let(Ident("r"), tree),)


@given(expressions, st.sampled_from(["let", "param", "minimize", "subject", "solve"]))
def test_any_program_reads_back_as_itself_however_it_is_broken(tree: Expr, kind: str):
    long = Name("a_name_that_makes_lines_long_" * 3)
    tree = Sum((Product((long, tree), ("*",)), tree, Call(Ident("f"), (tree, long))), (1, -1, 1))
    statement = {
        "let": Let(Ident("r"), tree),
        "param": Declaration("param", (Item(Ident("p"), TypeExpr(Ident("real")), value=tree),)),
        "minimize": Objective("minimize", tree),
        "subject": SubjectTo(
            (
                NamedRelation(Comparison((tree, long, tree), ("<=", "=="))),
                NamedRelation(Comparison((tree, long), (">=",))),
            )
        ),
        "solve": Solve((Keyword(Ident("tol"), tree),)),
    }[kind]
    text = format_program(Program((statement,)))
    program, found = parse(text)
    assert found == ()
    assert program.statements[1:] == (statement,)
    assert formatted(text) == text


_lengths = st.sampled_from([1, 40, 60, 95, 101, 300])
_long_names = st.builds(lambda head, n: head + "_" * (n - 1), st.sampled_from("abc"), _lengths)
_dims = st.lists(_long_names.map(Name), min_size=1, max_size=2).map(tuple)
_types = st.one_of(
    st.just(TypeExpr(Ident("real"))),
    st.builds(TypeExpr, _long_names.map(Ident), _dims),
    st.builds(lambda dims, size: TypeExpr(Ident("index"), dims, Name(size)), _dims, _long_names),
)
_origins = st.one_of(
    st.just({}),
    _long_names.map(lambda path: {"source": Call(Ident("csv"), (String(path),))}),
    _long_names.map(lambda name: {"member": Call(Ident("box"), (Name(name), Number(1.0)))}),
    _long_names.map(lambda name: {"value": Name(name)}),
)
_items = st.builds(lambda name, type_, origin: Item(Ident(name), type_, **origin), _long_names, _types, _origins)


@given(st.sampled_from(["data", "param", "var"]), st.lists(_items, min_size=1, max_size=3).map(tuple))
def test_any_declaration_reads_back_as_itself_however_long(kind: str, items: tuple[Item, ...]):
    text = format_program(Program((Declaration(kind, items),)))
    program, found = parse(text)
    assert found == ()
    assert program.statements[1:] == (Declaration(kind, items),)
    assert formatted(text) == text
