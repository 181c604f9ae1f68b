"""The trees: what the text says, where it stands, and that it parses at all, however it is written."""

from __future__ import annotations

import re
from math import inf
from pathlib import Path

import pytest

from fwdsl.grammar import dump_tree, parse
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
    Member,
    Name,
    NamedRelation,
    Neg,
    Number,
    Objective,
    ProblemName,
    Product,
    Slice,
    Solve,
    Statement,
    String,
    SubjectTo,
    Sum,
    Transpose,
    TypeExpr,
    Version,
)

from .programs import PROGRAMS

A, B, C, X = (Name(letter) for letter in "abcx")


def statements(text: str | bytes) -> tuple[Statement, ...]:
    """The statements of a program that is right."""
    program, found = parse(text)
    assert [d.message for d in found] == []
    return program.statements


def expr(text: str) -> Expr:
    """The tree of an expression."""
    (statement,) = statements(f"let r = {text}")
    assert isinstance(statement, Let)
    return statement.value


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("-a", Neg(A)),
        ("--a", Neg(Neg(A))),
        ("-a + b", Sum((A, B), (-1, 1))),
        ("a - b + c", Sum((A, B, C), (1, -1, 1))),
        ("(-a) + b", Sum((Neg(A), B), (1, 1))),
        ("a + -b", Sum((A, Neg(B)), (1, 1))),
        ("a - (b - c)", Sum((A, Sum((B, C), (1, -1))), (1, -1))),
        ("(a + b) + c", Sum((Sum((A, B), (1, 1)), C), (1, 1))),
        ("-(a + b)", Neg(Sum((A, B), (1, 1)))),
        ("-a * b", Neg(Product((A, B), ("*",)))),
        ("(-a) * b", Product((Neg(A), B), ("*",))),
        ("a * -b / c", Product((A, Neg(B), C), ("*", "/"))),
        ("a * b @ c", Product((A, B, C), ("*", "@"))),
        ("a * (b @ c)", Product((A, Product((B, C), ("@",))), ("*",))),
        ("a - b * c", Sum((A, Product((B, C), ("*",))), (1, -1))),
        ("((a))", A),
        ("a.T.T", Transpose(Transpose(A))),
        ("-a.T", Neg(Transpose(A))),
        ("(a @ b).T[0]", Index(Transpose(Product((A, B), ("@",))), (Number(0.0),))),
        ("x[0:5]", Index(X, (Slice(Number(0.0), Number(5.0)),))),
        ("x[:, 1:, :2, a]", Index(X, (Slice(), Slice(Number(1.0)), Slice(None, Number(2.0)), A))),
        ("f()", Call(Ident("f"))),
        ("f(a, -b, c=a + b)", Call(Ident("f"), (A, Neg(B)), (Keyword(Ident("c"), Sum((A, B), (1, 1))),))),
        ("[]", List(())),
        ("[[1, 0], [-2]]", List((List((Number(1.0), Number(0.0))), List((Neg(Number(2.0)),))))),
        ("[true, false]", List((Boolean(True), Boolean(False)))),
        ("[1, .5, 1.5, 1_000, 1e-3, inf]", List(tuple(map(Number, (1.0, 0.5, 1.5, 1000.0, 1e-3, inf))))),
        (r'"a\"b\\c\n\t\u00e9é"', String('a"b\\c\n\téé')),
        ("a·b", Product((A, B), ("*",))),
        ("cafe\u0301", Name("café")),
    ],
)
def test_expressions(text: str, tree: Expr):
    assert expr(text) == tree


def test_declarations():
    text = """
        data M: entries[n, 3] of signs, t: index[n] of T, u: index[n] of 5 from npz("a.npz", key="k")
        param mu: positive in box(0, 1) = 10/n
        var F: family[T] of psd[dim(Phi)] in spectrahedron(1)
    """
    n, three = Name("n"), Number(3.0)
    dim = Call(Ident("dim"), (Name("Phi"),))
    npz = Call(Ident("npz"), (String("a.npz"),), (Keyword(Ident("key"), String("k")),))
    assert statements(text) == (
        Declaration(
            "data",
            (
                Item(Ident("M"), TypeExpr(Ident("entries"), (n, three), TypeExpr(Ident("signs")))),
                Item(Ident("t"), TypeExpr(Ident("index"), (n,), Name("T"))),
                Item(Ident("u"), TypeExpr(Ident("index"), (n,), Number(5.0)), source=npz),
            ),
        ),
        Declaration(
            "param",
            (
                Item(
                    Ident("mu"),
                    TypeExpr(Ident("positive")),
                    member=Call(Ident("box"), (Number(0.0), Number(1.0))),
                    value=Product((Number(10.0), n), ("/",)),
                ),
            ),
        ),
        Declaration(
            "var",
            (
                Item(
                    Ident("F"),
                    TypeExpr(Ident("family"), (Name("T"),), TypeExpr(Ident("psd"), (dim,))),
                    member=Call(Ident("spectrahedron"), (Number(1.0),)),
                ),
            ),
        ),
    )


def test_statements():
    text = "fw 1\nproblem p\nmaximize a\nsubject to 0 <= x <= 1, x in nonnegative\n  b: x == a\nsolve time = 5 min, tol = 60 s"
    time = Keyword(Ident("time"), Number(300.0))
    assert statements(text) == (
        Version(Number(1.0)),
        ProblemName(Ident("p")),
        Objective("maximize", A),
        SubjectTo(
            (
                NamedRelation(Comparison((Number(0.0), X, Number(1.0)), ("<=", "<="))),
                NamedRelation(Member(X, Name("nonnegative"))),
                NamedRelation(Comparison((X, A), ("==",)), Ident("b")),
            )
        ),
        Solve((time, Keyword(Ident("tol"), Number(60.0)))),
    )
    assert [
        n.text
        for s in statements(text)
        if isinstance(s, Solve)
        for o in s.options
        for n in [o.value]
        if isinstance(n, Number)
    ] == [
        "5 min",
        "60 s",
    ]


def test_spans_are_those_of_the_text():
    text = "minimize -a * (b + c)  # comment\nsubject to q: f(a)[0] <= -1"
    program, _ = parse(text)
    objective, subject = program.statements
    assert isinstance(objective, Objective) and isinstance(subject, SubjectTo) and isinstance(objective.value, Neg)
    inner = objective.value.operand
    assert isinstance(inner, Product)
    relation = subject.constraints[0].relation
    assert isinstance(relation, Comparison)
    nodes = (objective, objective.value, inner, inner.factors[1], subject, subject.constraints[0], *relation.operands)
    assert [program.source.slice(node.span) for node in (*nodes, program.comments[0])] == [
        "minimize -a * (b + c)",
        "-a * (b + c)",
        "a * (b + c)",
        "(b + c)",
        "subject to q: f(a)[0] <= -1",
        "q: f(a)[0] <= -1",
        "f(a)[0]",
        "-1",
        "# comment",
    ]


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_every_construct_of_the_language_parses(text: str):
    assert parse(text)[1] == ()


def _spec_programs() -> list[str]:
    path = Path(__file__).resolve().parents[3] / "shared" / "spec" / "language.md"
    if not path.is_file():
        return []
    blocks = re.findall(r"(?:^    .*\n|^\n)+", path.read_text("utf-8"), re.M)
    return [block for block in blocks if re.search(r"^    (data|var|minimize)", block, re.M)]


@pytest.mark.skipif(not _spec_programs(), reason="the specification is not beside the repository")
def test_every_program_of_the_specification_parses():
    blocks = _spec_programs()
    assert len(blocks) == 3
    assert [parse(block)[1] for block in blocks] == [(), (), ()]


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_line_endings_byte_order_mark_and_bytes_make_no_difference(text: str):
    plain = parse(text)[0]
    for other in (
        text.replace("\n", "\r\n"),
        "\ufeff" + text,
        text.encode(),
        b"\xef\xbb\xbf" + text.encode(),
        text.rstrip("\n"),
    ):
        program, found = parse(other)
        assert found == ()
        assert program == plain
        assert [c.text for c in program.comments] == [c.text for c in plain.comments]


def test_positions_count_without_the_byte_order_mark():
    program, (found,) = parse("\ufeffx")
    assert found.span is not None
    assert program.source.position(found.span.start) == (1, 1)


def test_comments_know_whether_they_stand_alone():
    program, _ = parse("# a \nvar x: real # b\r\n\t# c")
    assert [(c.text, c.own_line) for c in program.comments] == [("# a", True), ("# b", False), ("# c", True)]


def test_twenty_thousand_terms_are_one_flat_sum():
    value = expr(" + ".join(["x"] * 20_000))
    assert isinstance(value, Sum)
    assert len(value.terms) == 20_000


def test_a_line_of_a_megabyte():
    assert isinstance(expr("f(" + "1.25, a_name_of_many_letters, " * 35_000 + "x)"), Call)
    assert [d.code for d in parse("x" * 1_000_000)[1]] == ["FW1003"]
    assert [d.code for d in parse("minimize " + '"' * 1_000_001)[1]] != []


def test_dump():
    program, _ = parse("let r = -a * f(b, c=1)[0]")
    assert dump_tree(program) == (
        "Program\n"
        "  Let  @1:1-1:26\n"
        "    name: Ident name='r'  @1:5-1:6\n"
        "    value: Neg  @1:9-1:26\n"
        "      Product ops=*  @1:10-1:26\n"
        "        Name id='a'  @1:10-1:11\n"
        "        Index  @1:14-1:26\n"
        "          base: Call  @1:14-1:23\n"
        "            func: Ident name='f'  @1:14-1:15\n"
        "            args: Name id='b'  @1:16-1:17\n"
        "            keywords: Keyword  @1:19-1:22\n"
        "              name: Ident name='c'  @1:19-1:20\n"
        "              value: Number value=1.0 text='1'  @1:21-1:22\n"
        "          items: Number value=0.0 text='0'  @1:24-1:25\n"
    )
