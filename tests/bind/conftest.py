"""Models of declarations alone, so that binding is tested without the checker's objective rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fwdsl.bind import Bindings, bind
from fwdsl.bind.instance import Instance
from fwdsl.grammar import parse, tree
from fwdsl.grammar.diagnostic import Diagnostic
from fwdsl.model import DataDecl, Expr, Model, ParamDecl, Type, VarDecl

REAL = Type("real")
SCALARS = ("real", "positive", "nonnegative", "count")


def type_of(node: tree.TypeExpr, member: tree.Expr | None = None) -> Type:
    dims = tuple(d.id if isinstance(d, tree.Name) else int(d.value) for d in node.dims)
    name = node.name.name
    if name in SCALARS:
        return Type("real", (), name)
    if isinstance(node.of, tree.TypeExpr) and name != "index":
        return Type(name, dims, element=type_of(node.of))
    classes = getattr(node.of, "id", None) or getattr(node.of, "value", None) or getattr(node.of, "name", None)
    if isinstance(classes, tree.Ident):
        classes = classes.name
    domain = member.id if isinstance(member, tree.Name) else "real"
    return Type(name, dims, domain, classes=int(classes) if isinstance(classes, float) else classes)


def literal(node: tree.Expr | None) -> Any:
    match node:
        case None:
            return None
        case tree.List():
            return tuple(literal(item) for item in node.items)
        case tree.Neg():
            return -literal(node.operand)
    return node.value


def constant(node: tree.Expr, params: tuple[str, ...]) -> Expr:
    match node:
        case tree.Number():
            return Expr("const", REAL, value=node.value, span=node.span)
        case tree.Name():
            return Expr("param" if node.id in params else "dim", REAL, name=node.id, span=node.span)
        case tree.Product(factors=(a, b), ops=(op,)):
            args = (constant(a, params), constant(b, params))
            return Expr("mul" if op == "*" else "div", REAL, args, span=node.span)
        case tree.Neg():
            return Expr("neg", REAL, (constant(node.operand, params),), span=node.span)
    raise NotImplementedError(node)


def model_of(text: str, options: Mapping[str, object] | None = None) -> Model:
    """The model of the declarations of a program, without its objective."""
    program, diagnostics = parse(text)
    assert diagnostics == ()
    data: list[DataDecl] = []
    params: list[ParamDecl] = []
    variables: list[VarDecl] = []
    pending: list[DataDecl] = []
    for statement in program.statements:
        for item in statement.items:
            type_ = type_of(item.type, item.member)
            if statement.kind == "param":
                names = tuple(p.name for p in params)
                default = None if item.value is None else constant(item.value, names)
                params.append(ParamDecl(item.name.name, type_, default, item.span))
            elif statement.kind == "var":
                variables.append(VarDecl(item.name.name, type_, item.span))
            else:
                decl = DataDecl(item.name.name, type_, None, (), literal(item.value), item.span)
                pending.append(decl)
                if item.source is not None:
                    names = tuple(d.name for d in pending)
                    pending = [DataDecl(d.name, d.type, item.source, names, None, d.span) for d in pending]
                if item.source is not None or item.value is not None:
                    data += pending
                    pending = []
        data += pending
        pending = []
    dims = tuple(dict.fromkeys(d for x in (*data, *variables) for d in x.type.shape))
    options = tuple((options or {}).items())
    return Model("", tuple(data), tuple(params), tuple(variables), "minimize", (), (), (), options, dims, (), program)


Bind = Callable[..., tuple[Instance | None, tuple[Diagnostic, ...]]]


@pytest.fixture
def bound(tmp_path: Path) -> Callable[..., Instance]:
    """`bound(text, X=..., ...)` is the instance; a finding of any severity fails the test."""

    def run(text: str, **values: object) -> Instance:
        instance, diagnostics = bind(model_of(text), Bindings(values), tmp_path)
        assert diagnostics == ()
        assert instance is not None
        return instance

    return run


@pytest.fixture
def found(tmp_path: Path) -> Callable[..., list[Diagnostic]]:
    """`found(text, X=..., ...)` lists what is wrong; there must be no instance."""

    def run(text: str, /, bindings: Bindings | None = None, **values: object) -> list[Diagnostic]:
        given = Bindings(values) if bindings is None else bindings
        instance, diagnostics = bind(model_of(text), given, tmp_path)
        assert instance is None
        return list(diagnostics)

    return run


@pytest.fixture
def declare() -> Callable[..., Model]:
    return model_of
