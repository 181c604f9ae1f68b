"""Writes expressions and models as text."""

from __future__ import annotations

from math import inf

from ..model import ConstraintDecl, DataDecl, Expr, Model, ParamDecl, SetRef, Term, names_in
from . import algebra
from .shapes import format_type

_SUM, _PRODUCT, _UNARY, _ATOM = range(4)


def format_number(value: float) -> str:
    """A number in its shortest exact form: `5`, `0.5`, `1e-06`."""
    if value == int(value) if abs(value) < 1e15 else False:
        return str(int(value))
    return repr(value)


def format_typed(expr: Expr) -> str:
    """A typed expression in the language's notation, with the brackets that it needs."""
    return _format(expr)[0]


def _format(e: Expr) -> tuple[str, int]:
    """The text of an expression and its operator precedence."""
    match e.op:
        case "const":
            text = format_number(e.value) if isinstance(e.value, float) else str(e.value)
            return text, _UNARY if text.startswith("-") else _ATOM
        case "data" | "param" | "var" | "dim":
            return e.name, _ATOM
        case "literal" | "list":
            return _nested(e.value), _ATOM
        case "string":
            return f'"{e.value}"', _ATOM
        case "boolean":
            return str(e.value).lower(), _ATOM
        case "add":
            return _sum(e.args), _SUM
        case "neg":
            return f"-{_wrapped(e.args[0], _PRODUCT)}", _UNARY
        case "mul" | "div" | "matmul":
            op = {"mul": "*", "div": "/", "matmul": "@"}[e.op]
            return f"{_wrapped(e.args[0], _PRODUCT)} {op} {_wrapped(e.args[1], _UNARY)}", _PRODUCT
        case "transpose":
            return f"{_wrapped(e.args[0], _ATOM)}.T", _ATOM
        case "slice":
            items = e.value if isinstance(e.value, tuple) else ()
            return f"{_wrapped(e.args[0], _ATOM)}[{', '.join(map(_item, items))}]", _ATOM
        case "take":
            before = ":, " * e.axis
            return f"{_wrapped(e.args[0], _ATOM)}[{before}{format_typed(e.args[1])}]", _ATOM
        case "reshape" if not e.name:
            return f"reshape({', '.join((format_typed(e.args[0]), *map(str, e.type.shape)))})", _ATOM
        case "diff" | "cumsum" | "sum_axis":
            return _along(e), _ATOM
        case "gather" | "observe":
            return f"{_wrapped(e.args[0], _ATOM)}[{format_typed(e.args[1])}]", _ATOM
        case "eye":
            return f"eye({e.type.shape[0]})", _ATOM
        case "ones" | "zeros":
            return f"{e.op}({', '.join(map(str, e.type.shape))})", _ATOM
    args = [format_typed(a) for a in e.args] + [f"{n}={format_typed(v)}" for n, v in e.options]
    return f"{e.name or e.op}({', '.join(args)})", _ATOM


def _along(e: Expr) -> str:
    """A function along an axis, which is written out where it is not the first."""
    order, axis = e.order, e.axis
    text = format_typed(e.args[0])
    text += f", {order}" if order != 1 else ""
    return f"{e.name or e.op}({text}{f', axis={axis}' if axis or e.op == 'sum_axis' else ''})"


def _wrapped(e: Expr, at_least: int) -> str:
    text, binding = _format(e)
    return text if binding >= at_least else f"({text})"


def _sum(terms: tuple[Expr, ...]) -> str:
    parts: list[str] = []
    for i, term in enumerate(terms):
        text = _wrapped(term, _PRODUCT)
        if i == 0:
            parts.append(text)
        elif text.startswith("-"):
            parts.append(f"- {text[1:]}")
        else:
            parts.append(f"+ {text}")
    return " ".join(parts)


def _nested(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_nested, value))}]"
    return format_number(float(value)) if isinstance(value, int | float) else str(value)


def _item(item: object) -> str:
    if isinstance(item, tuple):
        return ":".join("" if i is None else str(i) for i in item)
    return str(item)


def format_set(ref: SetRef) -> str:
    """A set in the language's notation."""
    args = [format_set(ref.inner)] if ref.inner is not None else []
    args += [format_typed(v) if i < 2 else f"{n}={format_typed(v)}" for i, (n, v) in enumerate(ref.args)]
    return f"{ref.name}({', '.join(args)})" if args else ref.name


def format_term(term: Term) -> str:
    """A term in the language's notation, with the coefficient first."""
    if term.kind == "affine":
        body = _wrapped(term.argument, _PRODUCT)
    else:
        # the further argument stands before the first one
        joint = term.convex is not None and term.convex.joint
        own = term.argument.args[::-1] if joint else (term.argument,)
        args = [*own, *((term.target,) if term.target is not None else ())]
        texts = [format_typed(a) for a in args] + [f"{n}={format_typed(v)}" for n, v in term.options]
        body = f"{term.atom}({', '.join(texts)})"
        if term.weights is not None:
            body = f"{_wrapped(term.weights, _PRODUCT)} * {body}"
        if term.reduce:
            body = f"{term.reduce}({body})"
    of_name = algebra.times(term.coefficient, algebra.const(-1.0)) if term.is_concave else term.coefficient
    coefficient = format_typed(of_name)
    if coefficient == "1":
        return body
    return f"-{body}" if coefficient == "-1" else f"{_wrapped(of_name, _PRODUCT)} * {body}"


def format_constraint(c: ConstraintDecl) -> str:
    """A constraint in its normalised form."""
    if c.relation == "below":
        bound, terms = c.below
        return f"{' + '.join(map(format_term, terms))} <= {format_typed(bound)}"
    left = format_typed(c.argument)
    if c.set is not None:
        return f"{left} in {format_set(c.set)}"
    return f"{left} {'<=' if c.relation == 'le' else '=='} 0"


# --- models --------------------------------------------------------------------------------------------------------


def describe_model(model: Model) -> str:
    """The text of a checked model: declarations with their sources, dimensions, terms, constraints and facts."""
    blocks = [[f"problem {model.name}"] if model.name else []]
    blocks.append(_section("data", [(d.name, _data(d)) for d in model.data]))
    blocks.append(_section("param", [(p.name, _param(p)) for p in model.params]))
    blocks.append(_section("var", [(v.name, format_type(v.type)) for v in model.variables]))
    blocks.append(_section("dimension", [(str(d), _binder(model, str(d))) for d in model.dims]))
    blocks.append(_section(model.sense, [(t.name or f"t{i}", format_term(t)) for i, t in enumerate(model.terms, 1)]))
    blocks.append(_section("subject to", [(c.name, format_constraint(c)) for c in model.constraints]))
    blocks.append(_section("solve", [(n, str(v)) for n, v in model.options]))
    blocks.append(_section("facts", [(f.subject, f"{f.fact}: {f.reason}") for f in model.facts]))
    return "\n".join(line for block in blocks for line in block) + "\n"


def _section(title: str, rows: list[tuple[str, str]]) -> list[str]:
    if not rows:
        return []
    width = min(24, max(len(name) for name, _ in rows))
    return [title, *(f"  {name:<{width}}  {text}" for name, text in rows)]


def _data(d: DataDecl) -> str:
    text = format_type(d.type)
    if d.literal is not None:
        return f"{text}, literal"
    if d.source is None:
        return f"{text}, unbound"
    return f"{text}, from {d.source.func.name}"


def format_domain(p: ParamDecl) -> str:
    """The type of a parameter, with the set that it is declared in."""
    text = format_type(p.type)
    if p.bounds is not None and p.bounds[1] < inf:
        return f"{text.partition(' in ')[0]} in box({', '.join(map(format_number, p.bounds))})"
    return text


def _param(p: ParamDecl) -> str:
    return format_domain(p) + (f", default {format_typed(p.default)}" if p.default is not None else ", no default")


def _binder(model: Model, dim: str) -> str:
    names = [d.name for d in model.data if any(dim in names_in(own) for own in (*d.type.shape, d.type.classes or 0))]
    return f"bound by {', '.join(names)}" if names else f"given with --dim {dim}=..."
