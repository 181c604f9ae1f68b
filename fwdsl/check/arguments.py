"""Matches arguments, by position and by name, with a signature, and checks the domains of options."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from ..grammar import tree
from ..grammar.diagnostic import Fix
from ..model import Expr
from ..words import LOSSES, NUMBERS, Domain, Parameter
from . import algebra, shapes, signs
from .context import Context
from .scalars import scalar_sign
from .values import Combination

BoundArguments = dict[str, tree.Expr]


def bind_arguments(ctx: Context, call: tree.Call, parameters: Sequence[Parameter]) -> BoundArguments | None:
    """The argument nodes by parameter name; None after an error. Every wrong keyword is reported."""
    bound: BoundArguments = {}
    usage = signature(call.func.name, parameters)
    fine = True
    repeated = next((i for i, p in enumerate(parameters) if p.repeated), None)
    if len(call.args) > len(parameters) and repeated is None:
        extra = call.args[len(parameters)]
        ctx.error(
            "FW2011",
            f"`{call.func.name}` takes {_count(len(parameters))}, and {len(call.args)} are given",
            extra.span,
            rule="A call gives each argument once.",
            hint=f"write `{usage}`{_loss_of(call)}",
        )
        fine = False
    # what follows repeated arguments is given by name
    for parameter, node in zip(parameters if repeated is None else parameters[: repeated + 1], call.args, strict=False):
        bound[parameter.name] = node
    names = [p.name for p in parameters if not p.repeated]
    for keyword in call.keywords:
        name = keyword.name.name
        if name not in names:
            _unknown_keyword(ctx, call, keyword, names, usage)
            fine = False
        elif name in bound:
            ctx.error(
                "FW2011",
                f"`{name}` is given twice",
                keyword.span,
                rule="A call gives each argument once.",
                hint=f"write `{usage}`",
            )
            fine = False
        else:
            bound[name] = keyword.value
    missing = [p.name for p in parameters if p.required and p.name not in bound]
    if missing and fine:
        listed = " and ".join(f"`{m}`" for m in missing)
        ctx.error(
            "FW2011",
            f"`{call.func.name}` needs {listed}",
            call.span,
            rule="An argument without a default is given.",
            hint=f"write `{usage}`",
        )
    return bound if fine and not missing else None


def _loss_of(call: tree.Call) -> str:
    """The loss that a function of numbers given a target may be meant for: `squared(z, b)` for `square(z, b)`. Empty where there is none."""
    name = call.func.name
    longer = (w for w in LOSSES.values() if w.name != name and w.name.startswith(name))
    found = next((w for w in longer if len(w.parameters) == len(call.args)), None)
    return f", or the loss `{signature(found.name, found.parameters)}`" if found is not None else ""


def _count(n: int) -> str:
    return "no arguments" if n == 0 else "1 argument" if n == 1 else f"{n} arguments"


def _unknown_keyword(ctx: Context, call: tree.Call, keyword: tree.Keyword, names: list[str], usage: str) -> None:
    name = keyword.name.name
    ctx.unknown(
        "FW2010",
        f"`{call.func.name}` has no argument `{name}`",
        name,
        keyword.name.span,
        names,
        rule="Arguments are given by position or by the names of the signature.",
        otherwise=f"write `{usage}`",
    )


def signature(name: str, parameters: Sequence[Parameter]) -> str:
    """A call as a user writes it: `huber(prediction, target, delta=1)`."""
    parts = []
    for p in parameters:
        if p.repeated:
            parts.append("...")
        elif p.default is not None:
            default = str(p.default).lower() if isinstance(p.default, bool) else f"{p.default:g}"
            parts.append(f"{p.name}={default}")
        else:
            option = p.optional or p.domain in ("unit", "count", "seed") or p.name == "gamma"
            parts.append(f"{p.name}=..." if option else p.name)
    return f"{name}({', '.join(parts)})"


# --- options -------------------------------------------------------------------------------------------------------

SEPARATORS = tuple(",;\t|: ")
"""The characters that may separate fields of a csv file."""

DOMAIN_WORDS: dict[str, str] = {
    **{name: domain.told for name, domain in NUMBERS.items()},
    "path": "a quoted path",
    "string": "a quoted text",
    "boolean": "`true` or `false`",
    "column": "a quoted column name or a position counted from 0",
    "columns": 'a list of column names or positions, like `["a", "b"]`, or of calls like `onehot("c")`',
    "base": "0 or 1",
    "separator": 'one character that separates fields, like `";"` or `"\\t"`',
    "decimal": '`"."` or `","`',
    "missing": '`"drop"`',
    "drop": '`"first"`',
    "unknown": '`"ignore"`',
}
"""Describe an argument by its domain."""


def option(ctx: Context, func: str, parameter: Parameter, node: tree.Expr | None) -> Expr | None:
    """The value of an option of a loss or a feature map: its default where `node` is None. None after an error."""
    if node is None:
        if isinstance(parameter.default, bool):
            return Expr("boolean", shapes.BOOLEAN, value=parameter.default)
        return algebra.const(parameter.default or 0.0)
    value = ctx.infer(ctx, node)
    if value is None:
        return None
    if isinstance(value, Expr) and _fits(value, parameter.domain):
        return value
    if isinstance(value, Expr) and _could_fit(value, parameter.domain):
        report_unknown_sign(ctx, f"option `{parameter.name}` of `{func}`", node, value, parameter.domain)
        return None
    depends = isinstance(value, Combination) or not value.is_constant
    ctx.error(
        "FW3010" if depends else "FW2012",
        f"`{parameter.name}` of `{func}` is {DOMAIN_WORDS[parameter.domain]}, "
        + (f"and `{ctx.text(node)}` depends on a variable" if depends else f"not `{ctx.text(node)}`"),
        node.span,
        rule="Options are constant, and within the domain of the function.",
    )
    return None


def _fits(value: Expr, domain: Domain) -> bool:
    """True if a constant is in the domain, as far as the text tells. Binding checks the rest."""
    if not value.is_constant:
        return False
    if domain == "boolean":
        return value.op == "boolean"
    if not value.type.is_scalar:
        return False
    number = algebra.number(value)
    if number is None:
        return _sign_fits(value, domain)
    return isfinite(number) and (domain not in NUMBERS or NUMBERS[domain].holds(number))


def _sign_fits(value: Expr, domain: Domain) -> bool:
    sign, wanted = scalar_sign(value), NUMBERS.get(domain)
    if wanted is None:
        return True
    if wanted.whole:
        return value.op == "dim" or (value.op == "param" and NUMBERS[value.type.domain].whole)
    if wanted.sign == "positive":
        # that a number is below 1 no sign tells
        return sign == "positive" or (domain == "unit" and sign == "nonnegative")
    return signs.is_nonnegative(sign) if wanted.sign == "nonnegative" else True


def _could_fit(value: Expr, domain: Domain) -> bool:
    scalar = value.type.is_scalar and value.is_constant and algebra.number(value) is None
    return scalar and domain in ("positive", "nonnegative", "unit") and scalar_sign(value) in ("unknown", "nonnegative")


def report_unknown_sign(ctx: Context, what: str, node: tree.Node, value: Expr, domain: Domain, text: str = "") -> None:
    """Report a constant that must be positive or nonnegative but is not known to be. The hint is the declaration that promises it."""
    wanted = "nonnegative" if domain == "nonnegative" else "positive"
    culprits = [e for e in value.walk() if e.op == "param" and e.type.domain not in ("positive", wanted)]
    names = list(dict.fromkeys(e.name for e in culprits))
    hint = f"make it {wanted} by its form, or give it a name of its own: `param NAME: {wanted}`"
    fix, labels = None, []
    if names:
        entries = [ctx.entries[n] for n in names if n in ctx.entries]
        labels = ctx.declared(*(tree.Name(n) for n in names))
        if value.op == "param":
            hint = f"declare `param {names[0]}: {wanted}`"
        if len(entries) == 1 and entries[0].type_span is not None and value.op == "param":
            fix = Fix(f"declare `{names[0]}` as `{wanted}`", entries[0].type_span, wanted, guess=True)
    ctx.error(
        "FW2064",
        f"{what} is `{text or ctx.text(node)}`, which is not known to be {wanted}",
        node.span,
        labels=labels,
        rule=f"It must be proved {wanted} from the text, before any value is bound.",
        hint=hint,
        fix=fix,
    )


# --- literal arguments of sources and `solve` ----------------------------------------------------------------------


def literal(node: tree.Expr) -> object:
    """The value of a number, a text, a truth value or a list of these; None for any other expression."""
    match node:
        case tree.Number():
            return node.value
        case tree.String() | tree.Boolean():
            return node.value
        case tree.Neg():
            inner = literal(node.operand)
            return -inner if isinstance(inner, float) else None
        case tree.List():
            return tuple(literal(i) for i in node.items)
    return None


def literal_fits(value: object, domain: str) -> bool:
    """True if a literal is in a domain of source arguments or solve options."""
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if domain in NUMBERS:
        return number is not None and NUMBERS[domain].holds(number)
    match domain:
        case "path" | "string":
            return isinstance(value, str) and bool(value)
        case "boolean":
            return isinstance(value, bool)
        case "column":
            return isinstance(value, str) or literal_fits(value, "seed")
        case "columns":
            return isinstance(value, tuple) and bool(value) and all(literal_fits(v, "column") for v in value)
        case "base":
            return number in (0, 1)
        case "separator":
            return isinstance(value, str) and value in SEPARATORS
        case "decimal":
            return value in (".", ",")
        case "missing":
            return value == "drop"
        case "drop":
            return value == "first"
        case "unknown":
            return value == "ignore"
    return False
