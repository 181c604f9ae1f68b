"""The text that is shown where the pointer rests: on a word of the language, a name of the program, or what the checker knows of an expression."""

from __future__ import annotations

from collections.abc import Mapping

from ..check.context import IS
from ..check.describe import binders
from ..check.seen import Seen
from ..grammar import tree
from ..grammar.source import Span
from .analysis import Analysis, Marked
from .roles import NAMES, Bracket, Role, logical_lines, roles_of
from .wordbook import about_word, fenced


def hover(analysis: Analysis, offset: int, values: Mapping[str, str] | None = None) -> tuple[str, Span] | None:
    """Markdown and the place that it is about, with the values that variables had when it was solved; None where there is nothing to say."""
    word = analysis.word_at(offset)
    if word is None:
        return None
    name, span = word.token.text, word.span
    if word.role in NAMES and (told := _name(analysis, word)):
        if values and name in values:
            told += f"\n\nsolved:\n\n{fenced(f'{name} = {values[name]}')}"
        return told, span
    if word.role is Role.OPERATOR or word.role is Role.NUMBER:
        return _expression(analysis, span.start)
    told = about_word(name, word.role, call_around(analysis, word))
    if word.role in (Role.FUNCTION, Role.SET):
        call = next((n for n in reversed(analysis.path_to(span.start)) if isinstance(n, tree.Call)), None)
        if call is not None and call.func.span == span and (seen := analysis.seen(call)) is not None:
            told = f"{told}\n\n---\n{_known(analysis, call.span, seen)}"
    if word.role is Role.KEYWORD:
        told += _facts(analysis, word)
    return (told, span) if told else None


def call_around(analysis: Analysis, word: Marked) -> Bracket | None:
    """The call that a word stands in."""
    until = [t for t in analysis.tokens if t.start <= word.token.start]
    lines = list(logical_lines(until))
    return roles_of(lines[-1])[1].call if lines else None


def _name(analysis: Analysis, word: Marked) -> str:
    name, entry = word.token.text, analysis.entries.get(word.token.text)
    if word.role is Role.LABEL:
        facts = [f for f in _all_facts(analysis) if f[0] == name]
        return "\n\n".join([f"**{name}**: a constraint", *(f"{fact}: {reason}" for _, fact, reason in facts)])
    if entry is None:
        return ""
    if entry.kind == "dimension":
        return _dimension(analysis, name)
    seen = analysis.describe(name)
    head = f"{entry.kind} {name}" + (f": {seen.type}" if seen is not None and seen.has_type else "")
    parts = [fenced(head), IS[entry.kind] + (f", {seen.type}" if seen is not None and not seen.has_type else "")]
    if seen is not None:
        parts += _properties(seen, own=entry.kind == "let")
    return "\n\n".join(parts)


def _dimension(analysis: Analysis, name: str) -> str:
    model = analysis.examined.model
    told = f"{fenced(f'dimension {name}')}\n\na dimension"
    if model is None:
        return told
    bound = binders(name, model)
    return f"{told}: {', '.join(bound)}" if bound else f"{told}, given with `--dim {name}=SIZE`"


def _expression(analysis: Analysis, offset: int) -> tuple[str, Span] | None:
    """The innermost expression around an offset that has a meaning of its own."""
    for node in reversed(analysis.path_to(offset)):
        seen = analysis.seen(node)
        if seen is not None:
            return _known(analysis, node.span, seen), node.span
    return None


def _known(analysis: Analysis, span: Span, seen: Seen) -> str:
    text = " ".join(analysis.source.slice(span).split())
    text = text if len(text) <= 80 else f"{text[:60]} ... {text[-15:]}"
    return "\n\n".join([fenced(f"{text}: {seen.type}" if seen.has_type else text), *_properties(seen, own=True)])


def _properties(seen: Seen, own: bool) -> list[str]:
    """Sign and curvature; of an expression (`own`) with the reasons for it."""
    found = []
    if seen.sign != "unknown":
        found.append(f"sign: {seen.sign}" if seen.is_number else f"sign of every entry: {seen.sign}")
    if own and seen.has_type:
        found.append(f"curvature: {seen.curvature}" + "".join(f"\n- {reason}" for reason in seen.reasons))
    return found


def _all_facts(analysis: Analysis) -> list[tuple[str, str, str]]:
    model = analysis.examined.model
    return [] if model is None else [(f.subject, f.fact, f.reason) for f in model.facts]


def _facts(analysis: Analysis, word: Marked) -> str:
    """The facts that the checker proved of the statement that a keyword begins."""
    model = analysis.examined.model
    path = analysis.path_to(word.token.start)
    if model is None or not path:
        return ""
    whole = path[0].span
    if isinstance(path[0], tree.Objective):
        facts = model.facts[: len(model.terms)]  # each term has one, which may stand at its `let`
    elif isinstance(path[0], tree.SubjectTo):
        facts = tuple(f for f in model.facts if whole.start <= f.span.start and f.span.end <= whole.end)
    else:
        return ""
    return "\n\n---\n" + "\n".join(f"- `{f.subject}` is {f.fact}: {f.reason}" for f in facts) if facts else ""
