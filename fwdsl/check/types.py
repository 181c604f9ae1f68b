"""Checks declared types and dimensions."""

from __future__ import annotations

from typing import Literal

from ..grammar import tree
from ..model import Dim, Expr, Type, add_dims, multiply_dims
from ..words import TYPES, TypeWord
from . import shapes
from .context import Context

DIMENSION_RULE = "A dimension is a name, a whole number of at least 1, `dim(Phi)`, or sums and products of these such as `n + 1` and `2 * n`."


def resolve_dimension(ctx: Context, node: tree.Expr, declaring: bool = False) -> Dim | None:
    """A dimension in a type or an argument; None after an error. With `declaring` new names declare dimensions."""
    dim = _resolved(ctx, node, node, declaring)
    if isinstance(dim, int) and dim < 1:
        _no_dimension(ctx, node)
        return None
    return dim


def _resolved(ctx: Context, node: tree.Expr, whole: tree.Expr, declaring: bool) -> Dim | None:
    match node:
        case tree.Number() if node.is_integer and (node.value >= 1 or node is not whole):
            return int(node.value)
        case tree.Name():
            return _named(ctx, node, declaring)
        case tree.Call() if node.func.name == "dim":
            return _columns(ctx, node)
        case tree.Neg():
            inner = _resolved(ctx, node.operand, whole, declaring)
            return None if inner is None else multiply_dims(-1, inner)
        case tree.Sum():
            terms = [_resolved(ctx, term, whole, declaring) for term in node.terms]
            signed = [multiply_dims(sign, t) for sign, t in zip(node.signs, terms, strict=True) if t is not None]
            return add_dims(*signed) if len(signed) == len(terms) else None
        case tree.Product() if set(node.ops) == {"*"}:
            factors = [_resolved(ctx, factor, whole, declaring) for factor in node.factors]
            known = [f for f in factors if f is not None]
            return multiply_dims(*known) if len(known) == len(factors) else None
    _no_dimension(ctx, whole)
    return None


def _no_dimension(ctx: Context, node: tree.Expr) -> None:
    ctx.error("FW2020", f"`{ctx.text(node)}` is not a dimension", node.span, rule=DIMENSION_RULE)


def _named(ctx: Context, node: tree.Name, declaring: bool) -> Dim | None:
    if declaring:
        ctx.use_dimension(node.id, node.span)
        entry = ctx.entries.get(node.id)
        return node.id if entry is not None and entry.kind == "dimension" else None
    if ctx.lookup(node.id, node.span) is None:
        return None
    if ctx.entries[node.id].kind == "dimension":
        return node.id
    ctx.error(
        "FW2020",
        f"`{node.id}` is not a dimension",
        node.span,
        labels=ctx.declared(node),
        rule=DIMENSION_RULE,
    )
    return None


def _columns(ctx: Context, node: tree.Call) -> Dim | None:
    """`dim(Phi)`: the number of columns of a feature map, or of a data matrix."""
    part = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if part is None:
        ctx.error(
            "FW2020", f"`{ctx.text(node)}` is not a dimension", node.span, rule=DIMENSION_RULE, hint="write `dim(Phi)`"
        )
        return None
    value = ctx.infer(ctx, part)
    if value is None:
        return None
    if isinstance(value, Expr) and value.is_constant and (value.type.is_features or shapes.has_two_axes(value.type)):
        return value.type.array_shape[1]
    ctx.error(
        "FW2020",
        f"`{ctx.text(part)}` is not a feature map",
        part.span,
        labels=ctx.declared(part),
        rule="`dim(Phi)` is the number of columns of a feature map.",
    )
    return None


Declares = Literal["data", "param", "var"]
"""The kind of declaration that a type stands in."""


def resolve_type(ctx: Context, node: tree.TypeExpr, of: Declares) -> Type | None:
    """A declared type; None after an error. New names of dimensions are declared."""
    name = node.name.name
    signature = TYPES.get(name)
    if signature is None:
        _unknown(ctx, node, of)
        for d in node.dims:
            if isinstance(d, tree.Name):
                resolve_dimension(ctx, d, declaring=True)
        return None
    dims = [resolve_dimension(ctx, d, declaring=True) for d in node.dims]
    shape = tuple(d for d in dims if d is not None)
    if not _counts(ctx, node, signature) or len(shape) < len(dims):
        return None
    if signature.is_number:
        return Type("real", domain=name)  # type: ignore[arg-type]
    if node.of is None:
        if signature.of_required:
            _wrong_of(ctx, node, signature, f"`{name}` needs `of` behind it")
            return None
        return Type(name, shape)  # type: ignore[arg-type]
    return _with_of(ctx, node, signature, shape)


def _with_of(ctx: Context, node: tree.TypeExpr, signature: TypeWord, shape: shapes.Shape) -> Type | None:
    name, of = node.name.name, node.of
    if signature.of == "signs" and isinstance(of, tree.TypeExpr) and of.name.name in ("signs", "real") and not of.dims:
        return Type("entries", shape, element=Type("signs")) if of.name.name == "signs" else Type("entries", shape)
    if signature.of == "dimension" and of is not None:
        as_dim = tree.Name(of.name.name, span=of.span) if isinstance(of, tree.TypeExpr) and not of.dims else of
        if not isinstance(as_dim, tree.TypeExpr):
            classes = resolve_dimension(ctx, as_dim, declaring=True)
            return None if classes is None else Type("index", shape, classes=classes)
    if (
        signature.of == "type"
        and isinstance(of, tree.TypeExpr)
        and of.name.name in ("psd", "symmetric", "vector", "matrix")
    ):
        element = resolve_type(ctx, of, "var")
        return None if element is None else Type("family", shape, element=element)
    _wrong_of(
        ctx, node, signature, f"`{name}` cannot be of `{ctx.text(of)}`" if of is not None else f"`{name}` needs `of`"
    )
    return None


def _wrong_of(ctx: Context, node: tree.TypeExpr, signature: TypeWord, message: str) -> None:
    of = {"signs": "`of signs`", "dimension": "a dimension", "type": "`psd`, `symmetric`, `vector` or `matrix`"}.get(
        signature.of
    )
    ctx.error(
        "FW2019",
        message,
        node.span,
        rule=f"Behind `{node.name.name}` stands {'`of` and ' if of else 'no `of`'}{of or ''}.",
        hint=f"write `{signature.example}`",
    )


def _counts(ctx: Context, node: tree.TypeExpr, signature: TypeWord) -> bool:
    """True if the number of dimensions is right."""
    count = len(node.dims)
    if count >= 2 if signature.dims is None else count in signature.dims:
        return True
    if signature.dims is None:
        takes = "two dimensions or more"
    elif signature.dims == (0,):
        takes = "no dimensions"
    else:
        takes = " or ".join(str(n) for n in signature.dims) + (
            " dimension" if signature.dims == (1,) else " dimensions"
        )
    ctx.error(
        "FW2018",
        f"`{node.name.name}` has {takes}, and {count or 'none'} {'is' if count == 1 else 'are'} given",
        node.span,
        rule="A type is written with its dimensions in square brackets.",
        hint=f"write `{signature.example}`",
    )
    return False


_NUMBERS = {0: "real", 1: "vector", 2: "matrix"}
_OTHER_WORDS = {
    **dict.fromkeys(("int", "integer"), "count"),
    **dict.fromkeys(("classes", "label", "category", "categorical"), "labels"),
    **dict.fromkeys(("sign", "binary", "bool", "boolean"), "signs"),
    "sym": "symmetric",
    "semidefinite": "psd",
    "groups": "index",
}
#: Words of other languages for arrays of numbers. The number of dimensions tells which type is meant.
_ANY_NUMBERS = ("float", "double", "number", "scalar", "array", "ndarray", "vec", "mat", "sparse", "dense")


def _allowed(of: Declares) -> tuple[str, ...]:
    """The types that may be declared for data, a parameter or a variable."""
    allowed = {"data": "data", "param": "of_parameters", "var": "var"}[of]
    return tuple(name for name, signature in TYPES.items() if getattr(signature, allowed))


def _unknown(ctx: Context, node: tree.TypeExpr, of: Declares) -> None:
    from ..words.foreign import foreign
    from .foreign import report_foreign

    name, dims = node.name.name, len(node.dims)
    allowed = _allowed(of)

    def fits(word: str) -> bool:
        taken = TYPES[word].dims if word in allowed else ()
        return word in allowed and (dims >= 2 if taken is None else dims in taken)

    what = {"data": "data", "param": "parameters", "var": "variables"}[of]
    rule = f"The types of {what} are " + ", ".join(f"`{t}`" for t in allowed) + "."
    record = foreign(name, "call")
    others = {**_OTHER_WORDS, **dict.fromkeys(_ANY_NUMBERS, _NUMBERS.get(dims, "tensor"))}
    if record is not None and not fits(others.get(name.lower(), "")):
        report_foreign(ctx, record, "FW2007", f"there is no type `{name}`", node.name.span, rule)
        return
    ctx.unknown(
        "FW2007",
        f"there is no type `{name}`",
        name,
        node.name.span,
        allowed,
        elsewhere=others,
        fits=fits,
        rule=rule,
    )
