"""The texts that may stand at the cursor: keywords, types, names, functions, sets, sources, arguments, options, methods, files and columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..grammar.lexer import Token
from ..grammar.source import Span
from ..words import COLUMN_WORDS, SETS, SOLVE_OPTIONS, SOURCES, TYPES, function_named, function_names
from ..words.keywords import KEYWORDS
from .analysis import Analysis
from .files import columns_of, files_for
from .roles import DECLARING, Bracket, Place, Role, logical_lines, roles_of
from .wordbook import about_parameter, about_word, method_names, method_options, parameters_of


@dataclass(frozen=True)
class Offer:
    """A text to insert in the place of the word at the cursor. With `call` brackets follow; `rank` 0 stands before 1."""

    text: str
    kind: str
    detail: str = ""
    told: str = ""
    call: bool = False
    rank: int = 1


@dataclass(frozen=True)
class Offers:
    """The offers, and the span of the word that they replace."""

    span: Span
    items: tuple[Offer, ...] = ()


#: Tokens behind which an expression is complete.
_OPERANDS = frozenset("NAME NUMBER STRING TRUE FALSE INF RPAR RSQB TRANSPOSE".split())
_QUOTES = ("STRING", "OPEN")


def complete(analysis: Analysis, offset: int) -> Offers:
    """The offers at an offset; none in a comment."""
    if any(c.span.start < offset <= c.span.end for c in analysis.comments):
        return Offers(Span(offset, offset))
    word = next((t for t in analysis.tokens if t.start < offset <= t.end and _is_word(t, offset)), None)
    span = Span(offset, offset) if word is None else word.span
    before = [t for t in analysis.tokens if t.end <= span.start]
    lines = list(logical_lines([*before, Token("NAME", "", span.start, max(span.end, span.start))]))
    if not lines or not lines[-1].tokens:
        return Offers(span)
    place = roles_of(lines[-1])[1]
    if word is not None and word.type in _QUOTES:
        closed = word.type == "STRING"
        inner = Span(word.start + 1, word.end - closed)
        return Offers(inner, tuple(_quoted(analysis, place)))
    return Offers(span, tuple(_unique(_offers(analysis, place, len(lines[-1].tokens) == 1))))


def _is_word(token: Token, offset: int) -> bool:
    if token.type in _QUOTES:
        return token.type == "OPEN" or offset < token.end
    return token.text[:1].isalpha() or token.text[:1] == "_"


def _unique(offers: Iterator[Offer]) -> Iterator[Offer]:
    seen: set[str] = set()
    for offer in offers:
        if offer.text not in seen:
            seen.add(offer.text)
            yield offer


def _offers(analysis: Analysis, place: Place, first: bool) -> Iterator[Offer]:
    if first:
        yield from (_keyword(name) for name, word in KEYWORDS.items() if word.starts)
        if place.kind == "CONSTRAINT":
            yield from _values(analysis)
        return
    call = place.call
    if call is not None and call.opener == place.brackets[-1].opener == "(":
        yield from _arguments(analysis, place, call)
        if call.role in (Role.SOURCE, Role.METHOD):
            return
    yield from _PARTS.get(place.part, _nothing)(analysis, place)


def _nothing(analysis: Analysis, place: Place) -> Iterator[Offer]:
    yield from ()


def _keyword(name: str) -> Offer:
    return Offer(name, "keyword", KEYWORDS[name].form, about_word(name, Role.KEYWORD))


def _complete_before(place: Place) -> bool:
    return place.last is not None and place.last.type in _OPERANDS


def _types(analysis: Analysis, place: Place) -> Iterator[Offer]:
    if place.brackets:
        yield from _dimensions(analysis)
    elif place.last is not None and place.last.type == "COLON":
        wanted = {"DATA": "data", "PARAM": "of_parameters", "VAR": "var"}[place.kind]
        for name, word in TYPES.items():
            if getattr(word, wanted):
                yield Offer(name, "type", word.example, word.meaning)
    else:
        head = place.last.text if place.last is not None else ""
        yield from _joining(place, "of" if head in TYPES and TYPES[head].of else "")


def _joining(place: Place, *more: str) -> Iterator[Offer]:
    """The words that may follow a complete type."""
    of_data = place.kind == DECLARING[0]
    joining = ("in", "from") if of_data else ("in",) if place.kind == DECLARING[-1] else ()
    yield from (_keyword(name) for name in (*more, "of", *joining) if name in KEYWORDS)


def _of(analysis: Analysis, place: Place) -> Iterator[Offer]:
    if place.brackets or place.last is None or place.last.text not in KEYWORDS:
        yield from _dimensions(analysis) if place.brackets else _joining(place)
        return
    of = TYPES[place.of].of if place.of in TYPES else ""
    if of == "dimension":
        yield from _dimensions(analysis)
    for name, word in TYPES.items():
        blocks = word.var and not word.is_number and not word.of
        if (of == "type" and blocks) or name == of:
            yield Offer(name, "type", word.example, word.meaning)


def _dimensions(analysis: Analysis) -> Iterator[Offer]:
    for name, entry in analysis.entries.items():
        if entry.kind == "dimension":
            yield Offer(name, "dimension", "dimension", rank=0)


def _sets(analysis: Analysis, place: Place) -> Iterator[Offer]:
    if place.call is not None and place.brackets and place.call.role is not Role.SET:
        yield from _values(analysis)
        return
    if not place.brackets and _complete_before(place):
        yield from (_keyword(w) for w in ("from",) if place.kind == DECLARING[0])
        return
    for name, word in SETS.items():
        yield Offer(name, "set", word.call, about_word(name, Role.SET), bool(word.parameters))
    if place.brackets:
        yield from _names(analysis)


def _sources(analysis: Analysis, place: Place) -> Iterator[Offer]:
    source = _source_around(place)
    if source is not None:
        listed = place.brackets[-1].opener == "[" and _domain(source) == "columns"
        yield from _listed_columns(analysis, place, source) if listed and not _complete_before(place) else ()
    elif not _complete_before(place):
        for name, word in SOURCES.items():
            detail = f'{name}("PATH")  {", ".join(word.suffixes)}'
            yield Offer(name, "function", detail, about_word(name, Role.SOURCE), True)


def _listed_columns(analysis: Analysis, place: Place, source: Bracket) -> Iterator[Offer]:
    """Columns in quotes, and the words for columns."""
    for name in _columns(analysis, place, source):
        yield Offer(_in_quotes(name), "column", "column", rank=0)
    for name, word in COLUMN_WORDS.items():
        yield Offer(name, "function", word.call, about_word(name, Role.FUNCTION), True)


def _source_around(place: Place) -> Bracket | None:
    """The source in whose brackets the cursor stands."""
    return next((b for b in place.brackets if b.role is Role.SOURCE and b.callee in SOURCES), None)


def _domain(call: Bracket) -> str:
    """The domain of the argument that is being given to a call, by name or by position."""
    parameters = parameters_of(call)
    if call.argument:
        return next((p.domain for p in parameters if p.name == call.argument), "")
    return parameters[call.position].domain if call.position < len(parameters) else ""


def _in_quotes(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _expression(analysis: Analysis, place: Place) -> Iterator[Offer]:
    if not _complete_before(place):
        yield from _values(analysis)
    elif place.kind == "CONSTRAINT" and not place.brackets:
        yield _keyword("in")


def _values(analysis: Analysis) -> Iterator[Offer]:
    """Names of the program, then functions."""
    yield from _names(analysis)
    for name in function_names():
        word = function_named(name)
        assert word is not None
        yield Offer(name, "function", word.call, about_word(name, Role.FUNCTION), True)


def _names(analysis: Analysis) -> Iterator[Offer]:
    for name, entry in analysis.entries.items():
        detail = f"{entry.kind} {entry.type_text.strip('`')}".strip()
        yield Offer(name, entry.kind, detail, rank=0)


def _arguments(analysis: Analysis, place: Place, call: Bracket) -> Iterator[Offer]:
    """The names of arguments of a call, or the values of the one that is being given."""
    if call.argument:
        yield from _of_argument(analysis, place, call)
        return
    if place.last is None or place.last.type not in ("LPAR", "COMMA"):
        return
    if call.role is Role.METHOD:
        told = method_options(call.callee)
    else:
        named = [p for p in parameters_of(call) if not p.required or call.role is Role.SOURCE]
        told = {p.name: about_parameter(p) for p in named[call.role is Role.SOURCE :]}
    for name, meaning in told.items():
        if name not in call.given:
            yield Offer(f"{name}=", "argument", meaning)


def _of_argument(analysis: Analysis, place: Place, call: Bracket) -> Iterator[Offer]:
    if _complete_before(place):
        return
    domain = _domain(call)
    if domain == "boolean" or call.role is Role.METHOD:
        yield from (_keyword(name) for name in ("true", "false"))
    source = _source_around(place)
    if domain in _COLUMNS and source is not None:
        for name in _columns(analysis, place, source):
            yield Offer(_in_quotes(name), "column", "column", rank=0)


_COLUMNS = ("column", "columns")


def _quoted(analysis: Analysis, place: Place) -> Iterator[Offer]:
    """The texts that may stand in quotes: a file of a source, or a column of it."""
    call, source = place.call, _source_around(place)
    if call is None or source is None:
        return
    if _domain(call) in _COLUMNS:
        yield from (Offer(name, "column", "column") for name in _columns(analysis, place, source))
    elif call is source and not call.argument and call.position == 0:
        yield from (Offer(name, "file") for name in files_for(analysis.folder, call.callee))


def _columns(analysis: Analysis, place: Place, call: Bracket) -> tuple[str, ...]:
    """The columns of the file that the source around the cursor names."""
    around = [w for w in analysis.words if place.last is not None and w.token.start <= place.last.start]
    opened = next((i for i in range(len(around) - 1, -1, -1) if around[i].role is Role.SOURCE), None)
    path = around[opened + 2] if opened is not None and opened + 2 < len(around) else None
    if path is None or path.token.type != "STRING" or analysis.folder is None:
        return ()
    return columns_of(analysis.folder / _unescaped(path.token.text), call.callee)


def _unescaped(text: str) -> str:
    return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")


def _options(analysis: Analysis, place: Place) -> Iterator[Offer]:
    for name, word in SOLVE_OPTIONS.items():
        if name not in place.given:
            yield Offer(f"{name} = ", "argument", word.meaning, about_word(name, Role.OPTION))


def _option(analysis: Analysis, place: Place) -> Iterator[Offer]:
    word = SOLVE_OPTIONS.get(place.option)
    if word is None or (_complete_before(place) and not place.brackets):
        return
    yield from (Offer(choice, "choice") for choice in word.choices)
    if word.domain == _A_METHOD:
        yield from (Offer(name, "choice") for name in filter(None, (str(word.default or ""), *method_names())))


_A_METHOD = "method"

_PARTS: dict[str, Callable[[Analysis, Place], Iterator[Offer]]] = {
    "type": _types,
    "of": _of,
    "set": _sets,
    "source": _sources,
    "value": _expression,
    "options": _options,
    "option": _option,
}
