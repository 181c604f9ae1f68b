"""Checks the options of `solve` by name and range."""

from __future__ import annotations

from typing import Any

from ..grammar import parse, tree
from ..grammar.diagnostic import Fix, Label
from ..model import Expr
from ..words import SOLVE_OPTIONS, OptionWord
from ..words.options import bytes_of
from . import algebra
from .arguments import DOMAIN_WORDS, literal, literal_fits
from .context import Context


def solve_options(ctx: Context, nodes: list[tree.Solve]) -> tuple[tuple[str, object], ...]:
    """The options of all `solve` statements: numbers, `gap` and `method` as text, `method_options` as a dictionary, and `among`, names of methods."""
    keywords: dict[str, tree.Keyword] = {}
    out: list[tuple[str, object]] = []
    for keyword in (k for node in nodes for k in node.options):
        name = keyword.name.name
        if name not in SOLVE_OPTIONS:
            _unknown(ctx, keyword)
        elif name in keywords:
            _twice(ctx, keyword, keywords[name], "`solve`")
        else:
            keywords[name] = keyword
            if name == "method":
                out.extend(_method(ctx, keyword))
                continue
            value = _value(ctx, keyword, SOLVE_OPTIONS[name])
            if value is not None:
                out.append((name, value))
    return tuple(out)


def method_option(text: str) -> tuple[str, dict[str, object]] | None:
    """The name of a method and its options, from `NAME` or `NAME(option=value, ...)`; None for any other text."""
    settings = _method_options(text)
    return (settings["method"], settings.get("method_options", {})) if settings and "among" not in settings else None


def method_list(text: str) -> tuple[str, ...] | None:
    """The names in `NAME, NAME, ...`, with or without the brackets of a list; None for any other text."""
    settings = _method_options(text if text.lstrip().startswith("[") else f"[{text}]")
    return settings.get("among", (settings["method"],)) if settings else None


def _method_options(text: str) -> dict[str, Any]:
    """The options of `solve method = TEXT`; none where that is an error, or says more."""
    from .infer import infer

    program, found = parse(f"solve method = {text}")
    ctx = Context(program.source, infer)
    settings: dict[str, Any] = dict(solve_options(ctx, [s for s in program.statements if isinstance(s, tree.Solve)]))
    wrong = found or ctx.found or "method" not in settings or set(settings) - {"method", "method_options", "among"}
    return {} if wrong else settings


_OTHER_WORDS = {
    "tolerance": "tol",
    "eps": "tol",
    "epsilon": "tol",
    "maxiter": "max_iter",
    "iterations": "max_iter",
    "max_iterations": "max_iter",
    "timeout": "time",
    "time_limit": "time",
    "solver": "method",
    "algorithm": "method",
    "random_state": "seed",
    "n_jobs": "threads",
}


def _unknown(ctx: Context, keyword: tree.Keyword) -> None:
    from ..words.foreign import foreign

    name = keyword.name.name
    record = foreign(name, "option")
    ctx.unknown(
        "FW2013",
        f"`solve` has no option `{name}`",
        name,
        keyword.name.span,
        () if record else SOLVE_OPTIONS,
        elsewhere=_OTHER_WORDS,
        rule="The options are " + ", ".join(f"`{o}`" for o in SOLVE_OPTIONS) + ".",
        otherwise=record.why if record else "",
    )


def _twice(ctx: Context, keyword: tree.Keyword, first: tree.Keyword, taker: str) -> None:
    ctx.error(
        "FW2015",
        f"option `{keyword.name.name}` is given twice",
        keyword.span,
        labels=[Label(first.span, "given here first")],
        rule=f"{taker} takes each option once.",
    )


def _value(ctx: Context, keyword: tree.Keyword, option: OptionWord) -> object:
    """The value of an option; None after an error."""
    node, domain = keyword.value, option.domain
    if option.choices:
        if isinstance(node, tree.Name) and node.id in option.choices:
            return node.id
        meant = next((w for w in option.choices if isinstance(node, tree.Name) and w.startswith(node.id)), "")
        _wrong(ctx, keyword, " or ".join(f"`{w}`" for w in option.choices), meant)
        return None
    value = literal(node)
    if domain == "memory":
        told = bytes_of(value) if isinstance(value, str | int | float) else None
        if told is None:
            _wrong(ctx, keyword, 'a size such as `"2GB"` or `"500 MiB"`')
        return told
    if value is None and isinstance(node, tree.Product | tree.Sum):
        folded = ctx.infer(ctx, node)
        value = algebra.number(folded) if isinstance(folded, Expr) else None
        if folded is None:
            return None
    if not literal_fits(value, domain):
        _wrong(ctx, keyword, DOMAIN_WORDS[domain])
        return None
    unbounded = value == float("inf")
    return int(value) if domain in ("count", "seed") and not unbounded else value  # type: ignore[call-overload]


def _method(ctx: Context, keyword: tree.Keyword) -> list[tuple[str, object]]:
    """A method, `NAME` or `NAME(option=value)`, or several as `[NAME, ...]`. The planner checks that they exist."""
    node = keyword.value
    if isinstance(node, tree.Name):
        return [("method", node.id)]
    names = [item.id for item in node.items if isinstance(item, tree.Name)] if isinstance(node, tree.List) else []
    if isinstance(node, tree.List) and names and len(names) == len(node.items) and "auto" not in names:
        several = tuple(dict.fromkeys(names))
        return [("method", "auto"), ("among", several)] if len(several) > 1 else [("method", several[0])]
    if not isinstance(node, tree.Call) or node.args:
        meant = node.value if isinstance(node, tree.String) and node.value.isidentifier() else ""
        _wrong(ctx, keyword, "`auto`, the name of a method, `name(option=value)`, or a list of names", meant)
        return []
    options: dict[str, object] = {}
    keywords: dict[str, tree.Keyword] = {}
    for k in node.keywords:
        if (first := keywords.setdefault(k.name.name, k)) is not k:
            _twice(ctx, k, first, "A method")
            return []
        value = k.value.id if isinstance(k.value, tree.Name) else literal(k.value)
        if value is None:
            _wrong(ctx, k, "a number, `true`, `false`, a name or a quoted text")
            return []
        options[k.name.name] = value
    return [("method", node.func.name), ("method_options", options)]


def _wrong(ctx: Context, keyword: tree.Keyword, takes: str, meant: str = "") -> None:
    hint = f"write `{meant}`" if meant else ""
    ctx.error(
        "FW2014",
        f"`{keyword.name.name}` is {takes}, not `{ctx.text(keyword.value)}`",
        keyword.value.span,
        rule="The options of `solve` are written out, each within its range.",
        hint=hint,
        fix=Fix(hint, keyword.value.span, meant) if meant else None,
    )
