"""Checks that given names are declared, and given in the way that fits their declaration."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from ..grammar.source import Span
from ..model import Model
from .bindings import Bindings
from .findings import Findings


def all_given(bindings: Bindings) -> list[str]:
    """Every given name, however it is given."""
    names = [*bindings.data, *(n for names, _ in bindings.sources for n in names), *bindings.params, *bindings.dims]
    return list(dict.fromkeys(names))


def given_names(bindings: Bindings) -> str:
    """A list of what was given, for messages about what is missing."""
    unique = all_given(bindings)
    return f"given were {', '.join(f'`{n}`' for n in unique)}" if unique else "nothing was given"


def check_names(model: Model, bindings: Bindings, known_dims: Sequence[str], findings: Findings) -> None:
    """Note given names that the program does not declare, or declares as another kind of thing."""
    data = [d.name for d in model.data]
    params = [p.name for p in model.params]
    # The kinds that each way of giving takes; Python's `bind` takes all three.
    ways: list[tuple[str, list[str], list[str]]] = [
        ("bind({}=...)", list(bindings.data), [*data, *params, *known_dims]),
        ("--data {}", [n for names, _ in bindings.sources for n in names], data),
        ("--set {}", list(bindings.params), params),
        ("--dim {}", list(bindings.dims), list(known_dims)),
    ]
    instead = {v.name: "a variable: leave it out, as its value is what is found" for v in model.variables}
    instead |= {n: f"a dimension: write `--dim {n}=5`" for n in known_dims}
    instead |= {n: f"a parameter: write `--set {n}=3`" for n in params}
    instead |= {n: f"data: write `--data {n}=PATH`" for n in data}
    declared = "; ".join(
        f"{word} {', '.join(f'`{n}`' for n in names)}"
        for word, names in (("data", data), ("parameters", params), ("dimensions", list(known_dims)))
        if names
    )
    spans: dict[str, Span] = {d.name: d.span for d in model.data}
    spans.update((p.name, p.span) for p in model.params)
    spans.update((v.name, v.span) for v in model.variables)
    for way, names, allowed in ways:
        for name in dict.fromkeys(names):
            if name in allowed:
                continue
            text = f"`{way.format(name)}`"
            if name in instead:
                kind, _, remedy = instead[name].partition(": ")
                findings.add(
                    "FW4503",
                    f"{text} gives `{name}`, which is {kind}",
                    span=spans.get(name),
                    rule="Data are given with `--data`, parameters with `--set`, dimensions with `--dim`.",
                    hint=remedy,
                )
                continue
            close = _similar(name, allowed)
            findings.add(
                "FW4500",
                f"{text} gives `{name}`, which the program does not declare",
                rule=f"Only what a program declares can be given: {declared or 'nothing here'}.",
                hint=f"did you mean `{close}`?" if close else "",
            )


def _similar(name: str, allowed: Sequence[str]) -> str:
    """A hint with the declared name that was most likely meant, or nothing."""
    other_case = [n for n in allowed if n.casefold() == name.casefold()]
    close = other_case or get_close_matches(name, allowed, n=1, cutoff=0.7)
    return close[0] if close else ""
