"""The stages in a row: text -> model -> instance -> canonical form -> plan -> solution. Each returns its result and diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .grammar.diagnostic import Diagnostic, has_errors
from .model import Model
from .options import Options

AT_MOST = 20
"""Diagnostics of one run."""

if TYPE_CHECKING:
    from .bind import Bindings
    from .canon import Canonical, Factored
    from .instance import Instance
    from .plan import Plan
    from .solution import Progress, Solution
    from .solve import Control


def compile_text(text: str | bytes, name: str = "<text>") -> tuple[Model | None, tuple[Diagnostic, ...]]:
    """Parse and check a program; no model where there is an error. What a broken statement hides is not reported, nor are
    warnings beside an error, as they may follow from it."""
    from .check import check
    from .grammar import parse

    program, found = parse(text, name)
    broken = has_errors(found)
    model, more = check(program, partial=broken)
    told = [d for d in (*found, *more) if d.severity == "error" or not broken]
    every = sorted(told, key=lambda d: d.span.start if d.span else -1)
    return (None if broken else model), tuple(every[:AT_MOST])


def bind(
    model: Model, bindings: Bindings, base: Path, tol: float | None = None
) -> tuple[Instance | None, tuple[Diagnostic, ...]]:
    """Attach data and parameters; `base` is the folder that paths of the program are relative to."""
    from .bind import bind as bind_model

    return bind_model(model, bindings, base, tol)


def canonicalise(instance: Instance) -> tuple[Canonical | Factored | None, tuple[Diagnostic, ...]]:
    """The canonical form of a bound model."""
    from .canon import canonicalise as build

    return build(instance)


def make_plan(problem: Canonical | Factored | Model, options: Options) -> tuple[Plan | None, tuple[Diagnostic, ...]]:
    """The plan, with data or without."""
    from .plan import make_plan as plan

    return plan(problem, options)


def solve(
    canonical: Canonical | Factored,
    plan: Plan,
    options: Options,
    on_progress: Callable[[Progress], bool | None] | None = None,
    start: Solution | Mapping[str, Any] | None = None,
    control: Control | None = None,
) -> Solution:
    """Run the plan."""
    from .solve import solve as run

    return run(canonical, plan, options, on_progress, start, control)
