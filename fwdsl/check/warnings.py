"""Warnings about unused declarations, and about constraints that others imply."""

from __future__ import annotations

from ..grammar.diagnostic import Label
from ..model import ConstraintDecl, Expr, SetRef
from ..words import SETS
from . import algebra
from .context import Context

_UNUSED = {"data": ("FW2090", "data"), "param": ("FW2091", "parameter"), "var": ("FW2092", "variable")}


def warn_unused(ctx: Context) -> None:
    """Warn about data, parameters and variables that no expression uses."""
    for entry in ctx.entries.values():
        if entry.kind in _UNUSED and entry.name not in ctx.used:
            code, what = _UNUSED[entry.kind]
            ctx.warn(
                code,
                f"{what} `{entry.name}` is declared and never used",
                entry.span,
                rule="A declaration that nothing uses does not change the answer.",
                hint="leave it out",
            )


def warn_implied(ctx: Context, constraints: list[ConstraintDecl]) -> None:
    """Warn about constraints that follow from another one, as far as the text shows."""
    of_types = {entry.type_span for entry in ctx.entries.values()}
    by_argument: dict[Expr, list[ConstraintDecl]] = {}
    for c in constraints:
        by_argument.setdefault(c.argument, []).append(c)
    for group in by_argument.values():
        dropped: list[ConstraintDecl] = []
        for i, c in enumerate(group):
            if c.span in of_types:  # `X: psd[d]` is a type, so it is not redundant beside other constraints on X
                continue
            others = [o for j, o in enumerate(group) if j != i and o not in dropped]
            by = next((o for j, o in enumerate(group) if j != i and o in others and _implies(o, c)), None)
            if by is not None:
                dropped.append(c)
                ctx.warn(
                    "FW2094",
                    f"`{c.text}` is implied by `{by.text}`",
                    c.span,
                    labels=[Label(by.span, "implies it")] if by.span != c.span else [],
                    rule="A constraint that follows from another does not change the answer.",
                    hint="leave it out",
                )


def _implies(a: ConstraintDecl, b: ConstraintDecl) -> bool:
    """True if every point that satisfies a satisfies b. Both have the same argument."""
    if a.relation != b.relation or a.terms != b.terms:
        return False
    if a.set is None or b.set is None:
        return True
    return a.set == b.set or _within(a.set, b.set)


def _within(a: SetRef, b: SetRef) -> bool:
    """True if a is a subset of b, as far as the text shows."""
    if a.inner is not None and b.inner is not None:
        return a.name == b.name and (a.inner == b.inner or _within(a.inner, b.inner))
    first = a.word
    if first.inner and b.word.bounds and a.inner is not None:
        return _within(a.inner, b)
    if first.cone == b.name:
        return True
    x, y = dict(a.args), dict(b.args)
    if a.word.given_bounds or b.word.given_bounds:
        return _box_within(a, b)
    if b.name in (a.name, *first.within) and "r" in x and "r" in y:
        same = {k: v for k, v in x.items() if k != "r"} == {k: v for k, v in y.items() if k != "r"}
        if not same or (a.name == b.name and first.total == "equal"):
            return False
        r, s = algebra.number(x["r"]), algebra.number(y["r"])
        return x["r"] == y["r"] or (r is not None and s is not None and r <= s)
    return False


def _bounds(s: SetRef) -> tuple[float, float] | None:
    """The literal bounds of every entry; None where the text does not show them."""
    word = s.word
    if word.bounds:
        low, high = algebra.numeric_bounds(s)
        return None if low is None or high is None else (low, high)
    args = dict(s.args)
    r = algebra.number(args["r"]) if "r" in args else None
    if r is None:
        return None
    if word.cone and SETS[word.cone].bounds:
        return 0.0, r
    return (-r, r) if _LARGEST_SIZE in word.within else None


#: The set that bounds every entry by its radius.
_LARGEST_SIZE = next(name for name, word in SETS.items() if word.bounds and word.scaled)


def _box_within(a: SetRef, b: SetRef) -> bool:
    inner, outer = _bounds(a), _bounds(b)
    if inner is None or outer is None or not b.word.bounds:
        return False
    return outer[0] <= inner[0] and inner[1] <= outer[1]
