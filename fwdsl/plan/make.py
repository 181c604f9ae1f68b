"""Making a plan. Every method is a candidate for every problem: it says why it does not apply or what it would cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..backends.lowrank.with_workers import told as told_of_entries
from ..backends.registry import AUTOMATIC, EXPANDED, FACTORED, METHODS
from ..canon.arrange import Arrangement, arrange
from ..canon.expansion import unexpanded
from ..canon.factored import unfactored
from ..canon.form import Canonical, Expansion
from ..canon.forms import Form
from ..canon.groups import weightless
from ..canon.rewrites import Rewritten, rewritten
from ..grammar.diagnostic import Diagnostic
from ..model import Model
from ..model.options import Options
from ..readers.memory import give_back, size
from ..readers.row_blocks import is_on_disk
from ..words import SQUARES
from .certificate import expected_certificate
from .memory import KEEPS, allowed
from .named import refusal, unfit_option, unknown_method
from .plan import Plan
from .weigh import Weighing

if TYPE_CHECKING:
    from ..backends.devices import Placement


def make_plan(problem: Form | Model, options: Options) -> tuple[Plan | None, tuple[Diagnostic, ...]]:
    """The plan for a canonical problem, or, from names alone, for a model without data.

    A program that is solved as an equivalent one is planned as that; as it is written where a method is named that takes it so alone.
    """
    if options.memory is not None:
        give_back()  # what loading freed does not count against the run
    if isinstance(problem, Model):
        found = rewritten(problem)
        inner: Form | Model | None = found.draft.model if found is not None else None
        outer: Form | Model = problem
    elif isinstance(problem, Rewritten):
        found, inner, outer = problem.rewriting, problem.inner, problem.outer
    else:
        found, inner, outer = None, None, problem
    if found is None or inner is None:
        return _plan_of(outer, options)
    plan, refusal = _plan_of(inner, options)
    if plan is None:
        written, _ = _plan_of(outer, options)
        return (replace(written, as_written=True), ()) if written is not None else (None, refusal)
    return replace(plan, facts=(*found.facts, *plan.facts)), ()


def _plan_of(problem: Form | Model, options: Options) -> tuple[Plan | None, tuple[Diagnostic, ...]]:
    """The plan for a form, or for a model without data."""
    model = problem if isinstance(problem, Model) else problem.instance.model
    contradiction = None if isinstance(problem, Model) else problem.contradiction
    # where no point meets the constraints nothing has to run: what counts is which method would, were they met
    form = None if isinstance(problem, Model) or contradiction is not None else problem
    apart: frozenset[tuple[str, int]] = frozenset() if form is None else weightless(form.instance)
    arrangement = arrange(model, apart)
    form = _written_down(form, options)

    weighing = Weighing(model, apart, form, options)
    device = _device(form, options)
    weighing.share = device.share if device is not None else 1.0

    def told() -> tuple[str, tuple[str, ...]]:
        expected = expected_certificate(arrangement, form, METHODS[chosen].works_on)
        method = METHODS[chosen]
        at_hand = form.at_hand(method.works_on) if form is not None else None
        more = method.tells(at_hand) if at_hand is not None else ()
        more += told_of_entries(form.instance, method) if form is not None else ()
        return expected, (*_structure_lines(arrangement, form), *(f"  {line}" for line in more))

    pointless = {
        *(FACTORED if unfactored(arrangement) else ()),
        *(EXPANDED if unexpanded(arrangement) else ()),
    }
    freely = set(options.among) or {n for n in AUTOMATIC if n not in pointless}
    names = tuple(n for n in METHODS if n == options.method or n in freely)
    refusal = (
        _beyond(options, model, weighing, names, form) if options.memory is not None and form is not None else None
    )
    refusal = refusal or _refuse(options, model, weighing, names, form)
    if refusal is not None:
        return None, (refusal,)
    if options.method == "auto":
        # a wish for the device is one for methods that use it, where there are any and data that go there
        moves = device is not None and device.moves and not options.among
        weighing.by_device = moves and any(not METHODS[n].on_host and not weighing.reasons(n) for n in names)
        chosen, why = weighing.choose(names, arrangement)
        why = f"{why}, among those whose products the device takes" if weighing.by_device else why
        why = "from names alone: it does not have to run" if contradiction is not None else why
    else:
        chosen, why = options.method, "named by the program or the call"
    on_device = device is not None and device.moves and not METHODS[chosen].on_host
    plan = Plan(
        chosen,
        dict(options.method_options) if options.method == chosen else {},
        why,
        names,
        (
            *(form.facts if isinstance(form, Canonical) else arrangement.facts),
            *([f"no point meets the constraints: {contradiction.message}"] if contradiction else []),
            *(_device_lines(device, chosen, on_device) if device is not None else ()),
        ),
        not isinstance(problem, Model),
        options.tol,
        told,
        weighing.candidate,
        lambda: tuple(n for n in METHODS if n not in names),
        on_device=on_device,
    )
    return plan, ()


def _device(form: Form | None, options: Options) -> Placement | None:
    """The places of the data where another device than the host may take products; None where none may."""
    if not options.elsewhere:
        return None
    # a run on the host alone loads nothing of it
    from ..backends.devices import placement

    return placement(options.device, None if form is None else form.at_hand("dense"))  # type: ignore[arg-type]


def _device_lines(device: Placement, chosen: str, on_device: bool) -> tuple[str, ...]:
    """The device, where the data lie, and why the host takes all products where it does."""
    if on_device or len(device.lines) == 1:
        return device.lines
    why = f"it {METHODS[chosen].on_host}" if METHODS[chosen].on_host else "no matrix goes to the device"
    return (*device.lines, f"{chosen} runs on the host: {why}")


def _structure_lines(arrangement: Arrangement, form: Form | None) -> tuple[str, ...]:
    """The canonical form, with numbers where data is bound."""
    if form is not None:
        return tuple(repr(form).splitlines())
    lines = ["minimise over " + ", ".join(b.name for b in arrangement.blocks)]
    for term in arrangement.sums:
        lines.append(f"  f  {term.text}")
    for block in arrangement.blocks:
        words = [w for w in (block.norm, block.beside, block.set) if w] or ["free"]
        if block.ridges:
            words.append(SQUARES)
        note = f"   (moved into the sum: {', '.join(block.in_sum)})" if block.in_sum else ""
        lines.append(f"  g  {block.name}: {', '.join(words)}{note}")
    if arrangement.linear:
        lines.append(f"  q  {len(arrangement.linear)} affine term{'s' if len(arrangement.linear) > 1 else ''}")
    return tuple(lines)


def _written_down(form: Form | None, options: Options) -> Form | None:
    """The dense form in the place of an expansion in samples, where a method is named that works on it, or where it is small: times then decide."""
    if not isinstance(form, Expansion):
        return form
    named = {METHODS[name].works_on for name in (options.method, *options.among) if name in METHODS} or {"expansion"}
    return form.dense or form if "expansion" not in named or form.is_small_space else form


def _refuse(
    options: Options, model: Model, weighing: Weighing, names: Sequence[str], form: Form | None
) -> Diagnostic | None:
    """The refusal of a name that is none, and of methods that do not apply."""
    unknown = unknown_method(options, model)
    if unknown is not None:
        return unknown
    if options.method != "auto":
        return _refuse_method(options, model, weighing, names, form)
    if not options.among or any(not weighing.reasons(name) for name in names):
        return None
    reasons = "; ".join(f"`{name}`: {', '.join(weighing.reasons(name))}" for name in names)
    return refusal(
        "FW5003",
        f"none of the methods to choose from applies: {reasons}",
        model,
        rule="One of the methods to choose from must cover the problem's structure.",
        hint="write `method = auto`, or name one that `fwdsl plan` shows among those that apply",
    )


def _beyond(options: Options, model: Model, weighing: Weighing, names: Sequence[str], form: Form) -> Diagnostic | None:
    """The refusal where no method that may be taken keeps to the memory allowed; None where one does, or where they lack another thing."""
    assert options.memory is not None
    named = options.among or (() if options.method == "auto" else (options.method,))
    asked = named or names
    if any(name not in METHODS or not weighing.reasons(name) for name in asked):
        return None
    short = {name: needed for name in asked if (needed := weighing.enough(name)) is not None}
    if named and not short:
        return None
    only = len(named) == 1
    who = f"`{named[0]}` does not keep" if only else "no method keeps"
    reasons = [(name, weighing.reasons(name)[-1]) for name in short]
    told = list(dict.fromkeys(f"{'it' if only else f'`{n}`'} {why}" if KEEPS in why else why for n, why in reasons))
    hint = "allow more memory, so that the data are read into it, or leave `--memory` out"
    if short:
        others = ", ".join(f"`{name}`" for name in names if not weighing.reasons(name)) if named else ""
        on_disk = [value.nbytes for value in form.instance.values.values() if is_on_disk(value)]
        hint = f"allow about {allowed(min(short.values()), on_disk)}{f', or name a method that keeps to it: {others}' if others else ''}"
    return refusal(
        "FW4095",
        f"{who} to `--memory` {size(options.memory)}: {'; '.join(told[:3]) or 'none that applies takes data that stay on their disk'}",
        model,
        rule="`--memory` is a promise: the interpreter, the vectors of a solve and the buffers of its data stay within it.",
        hint=hint,
    )


def _refuse_method(
    options: Options, model: Model, weighing: Weighing, names: Sequence[str], form: Form | None
) -> Diagnostic | None:
    reasons = weighing.reasons(options.method)
    if reasons:
        able = ", ".join(f"`{name}`" for name in names if not weighing.reasons(name))
        hint = f"write `method = auto`, or name one that applies: {able}"
        if not able:
            lacking = any(weighing.enough(name) is not None for name in names)
            hint = "allow more memory" if lacking else "change the program: no other method applies to it"
        return refusal(
            "FW5003",
            f"the method `{options.method}` does not apply: {'; '.join(reasons)}",
            model,
            rule="A named method must cover the problem's structure.",
            hint=hint,
        )
    return _refuse_options(options, model, form)


def _refuse_options(options: Options, model: Model, form: Form | None) -> Diagnostic | None:
    unfit = unfit_option(options, model)
    if unfit is not None:
        return unfit
    misfits = METHODS[options.method].requires_options(form, options.method_options) if form is not None else ()
    if misfits:
        return refusal(
            "FW5004",
            f"the options of `{options.method}` do not fit the problem: {'; '.join(misfits)}",
            model,
            rule="A method's options have a domain.",
            hint="give other values, or leave them out",
        )
    return None
