"""The words of the language explained in Markdown, from their records alone."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill

from ..words import (
    COLUMN_WORDS,
    FEATURE_MAPS,
    LOSSES,
    NUMBERS,
    SETS,
    SOLVE_OPTIONS,
    SOURCES,
    TYPES,
    EntryWord,
    LossWord,
    Parameter,
    SetWord,
    Word,
    function_named,
    function_names,
    kind_of_word,
)
from ..words.keywords import KEYWORDS
from ..words.tables import sections_of
from .roles import Bracket, Role


def fenced(text: str) -> str:
    """A piece of a program as a block of Markdown."""
    return f"```fw\n{text}\n```"


def word_of(name: str, role: Role | None = None) -> Word | None:
    """The record of a word that is called, or of a set."""
    found: Word | None = SETS.get(name) if role is Role.SET else function_named(name) or SETS.get(name)
    return found or COLUMN_WORDS.get(name)


def about_word(name: str, role: Role, call: Bracket | None = None) -> str:
    """An explanation of a word of the language; empty where it is none. `call` is the call around an argument, or the option around a choice."""
    if role is Role.KEYWORD and name in KEYWORDS:
        keyword = KEYWORDS[name]
        return f"{fenced(keyword.form)}\n{keyword.meaning}"
    if role is Role.TYPE and name in TYPES:
        return f"{fenced(TYPES[name].example)}\na type: {TYPES[name].meaning}"
    if role is Role.SOURCE and name in SOURCES:
        return about_source(name)
    if role is Role.OPTION and name in SOLVE_OPTIONS:
        return about_option(name)
    if role is Role.ARGUMENT and call is not None:
        return about_argument(call, name)
    if role in (Role.FUNCTION, Role.SET, Role.NAME):
        word = word_of(name, role)
        return "" if word is None else about_record(word)
    return about_method(name) if role in (Role.METHOD, Role.CHOICE) else ""


def about_record(word: Word) -> str:
    """The call of a word, what it is and its formula, its options."""
    kind = kind_of_word(word.name)
    if isinstance(word, SetWord):
        of = {"entrywise": "vectors and matrices, entry by entry", "vector": "vectors", "matrix": "matrices"}
        kind = f"a set of {of.get(word.of, f'{word.of} matrices')}"
    elif word.name in FEATURE_MAPS:
        kind = "a feature map"
    elif isinstance(word, EntryWord) or (isinstance(word, LossWord) and word.entrywise):
        kind = "a function of each entry, under `sum` or `mean`"
    elif word.name in LOSSES:
        kind = f"a loss of {'scores' if LOSSES[word.name].scores else 'predictions'} and {_targets(word.name)}"
    lines = [fenced(word.call), f"{kind}: {word.formula}", *_parameters(word.parameters)]
    return "\n".join(lines)


def _targets(name: str) -> str:
    target = LOSSES[name].target
    return f"`{target}`" if LOSSES[name].classifies else "numbers"


def _parameters(parameters: Iterable[Parameter]) -> list[str]:
    told = [f"- `{p.name}`: {about_parameter(p)}" for p in parameters if about_parameter(p)]
    return ["", *told] if told else []


def about_parameter(p: Parameter) -> str:
    """The domain, the meaning and the default of an argument; empty where nothing is to be said of it."""
    parts = [p.meaning or (NUMBERS[p.domain].told if p.domain in NUMBERS else "")]
    if isinstance(p.default, bool):
        parts.append(f"`{str(p.default).lower()}` unless given")
    elif p.default is not None:
        parts.append(f"{p.default:g} unless given")
    elif p.optional and not p.meaning:
        parts.append("may be left out")
    return ", ".join(filter(None, parts))


def about_source(name: str) -> str:
    """A data source with its arguments."""
    word = SOURCES[name]
    head = f"a data source, for files `{'`, `'.join(word.suffixes)}`" + (f": {word.meaning}" if word.meaning else "")
    return "\n".join([fenced(f'{name}("PATH")'), head, *_parameters(word.parameters[1:])])


def about_option(name: str) -> str:
    """An option of `solve`."""
    word = SOLVE_OPTIONS[name]
    default = word.otherwise or (f"`{word.default}`" if isinstance(word.default, str) else f"{word.default:g}")
    return f"{fenced(f'solve {name} = VALUE')}\nan option: {word.meaning}; {default} unless given"


def parameters_of(call: Bracket) -> tuple[Parameter, ...]:
    """The arguments that the called word takes; none where it is no word."""
    if call.role is Role.SOURCE:
        return SOURCES[call.callee].parameters if call.callee in SOURCES else ()
    word = word_of(call.callee, call.role)
    return () if word is None else word.parameters


def about_argument(call: Bracket, name: str) -> str:
    """An argument of a call, or an option of a method."""
    if call.role is Role.METHOD:
        return about_method_option(call.callee, name)
    for p in parameters_of(call):
        if p.name == name:
            told = about_parameter(p)
            return f"{fenced(f'{name}=')}\nan argument of `{call.callee}`" + (f": {told}" if told else "")
    return ""


def explain_word(name: str, width: int = 100) -> str | None:
    """All that a word of the language means and the sections that tell of it, in lines of `width` columns (at least 40); None for any other name."""
    roles = (Role.FUNCTION, Role.SET, Role.TYPE, Role.SOURCE, Role.OPTION, Role.KEYWORD)
    told = {about_word(name, role): None for role in roles if role is not Role.SET or name in SETS}
    parts = [_plain(about, max(width, 40)) for about in told if about]
    if not parts:
        return None
    return "\n\n".join([*parts, f"See {' and '.join(f'docs/language.md#{s}' for s in sections_of(name))}."]) + "\n"


def words() -> tuple[str, ...]:
    """The words that `explain_word` tells of."""
    return tuple(dict.fromkeys((*function_names(), *SETS, *COLUMN_WORDS, *TYPES, *SOURCES, *SOLVE_OPTIONS, *KEYWORDS)))


def _plain(markdown: str, width: int) -> str:
    """The text on a word without the signs of Markdown: the form first, then what it is."""
    _, form, rest = markdown.split("```", 2)
    lines = [
        fill(
            line, width, subsequent_indent="  " * line.startswith("- "), break_long_words=False, break_on_hyphens=False
        )
        for line in rest.strip("\n").split("\n")
    ]
    return "\n".join([form.removeprefix("fw\n").rstrip("\n"), "", *lines])


# --- methods, whose records are in `fwdsl.backends`: its registry is loaded when it is asked for ---------------------


def method_names() -> tuple[str, ...]:
    """The methods that a program may name."""
    from ..backends.registry import METHODS

    return tuple(METHODS)


def method_options(name: str) -> dict[str, str]:
    """The options of a method with their meanings; none where there is no such method."""
    from ..backends.registry import METHODS

    if name not in METHODS:
        return {}
    return {key: f"{option.meaning} ({option.describe()})" for key, option in METHODS[name].options.items()}


def about_method(name: str) -> str:
    """A method: what it is, and its options."""
    from ..backends.registry import METHODS

    if name not in METHODS:
        return ""
    options = [f"- `{key}`: {meaning}" for key, meaning in method_options(name).items()]
    title = f"a method: {METHODS[name].title} ({METHODS[name].source})"
    return "\n".join([fenced(f"solve method = {name}"), title, *(["", *options] if options else [])])


def about_method_option(method: str, name: str) -> str:
    """An option of a method."""
    told = method_options(method).get(name)
    return f"{fenced(f'{method}({name}=)')}\nan option of `{method}`: {told}" if told else ""
