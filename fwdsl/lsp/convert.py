"""Places and findings in the words of the protocol."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from lsprotocol import types as lsp

from ..diagnostics.catalogue import FOLDER, lookup
from ..grammar.diagnostic import Diagnostic
from ..grammar.source import Span
from .analysis import Analysis
from .outline import TOKEN_MODIFIERS, TOKEN_TYPES, Symbol, colours, symbols

SOURCE = "fwdsl"


def position_of(analysis: Analysis, offset: int) -> lsp.Position:
    """An offset as a position."""
    return lsp.Position(*analysis.positions.position(offset))


def range_of(analysis: Analysis, span: Span) -> lsp.Range:
    """A span as a range."""
    return lsp.Range(position_of(analysis, span.start), position_of(analysis, span.end))


def offset_of(analysis: Analysis, position: lsp.Position) -> int:
    """A position as an offset."""
    return analysis.positions.offset(position.line, position.character)


def whole_of(analysis: Analysis) -> lsp.Range:
    """The range of the whole text, a byte order mark included."""
    first, last = analysis.positions.whole()
    return lsp.Range(lsp.Position(*first), lsp.Position(*last))


# --- diagnostics -----------------------------------------------------------------------------------------------------

_SEVERITY = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}


@cache
def explanation(code: str) -> tuple[str, int] | None:
    """The address of the long form of a code, as `fwdsl explain` prints it, and its line from 0; None where there is none."""
    if lookup(code) is None:
        return None
    path = FOLDER / f"{code[:3]}.md"
    heading = f"## {code}:"
    lines = path.read_text(encoding="utf-8").splitlines()
    return path.as_uri(), next(i for i, line in enumerate(lines) if line.startswith(heading))


def message_of(d: Diagnostic) -> str:
    """The message, the rule and the hint, each on its line."""
    hint = f"help: {d.hint}" if d.hint else ""
    return "\n".join(filter(None, (d.message, d.rule, hint)))


def to_protocol(analysis: Analysis, d: Diagnostic, uri: str) -> lsp.Diagnostic:
    """A finding with its code, a link to the long form and the related places."""
    found = explanation(d.code)
    return lsp.Diagnostic(
        range=range_of(analysis, d.span or Span(0, 0)),
        message=message_of(d),
        severity=_SEVERITY[d.severity],
        code=d.code,
        code_description=None if found is None else lsp.CodeDescription(href=f"{found[0]}#L{found[1] + 1}"),
        source=SOURCE,
        related_information=[
            lsp.DiagnosticRelatedInformation(lsp.Location(uri, range_of(analysis, label.span)), label.text)
            for label in d.labels
        ]
        or None,
    )


# --- the outline and the colours -------------------------------------------------------------------------------------

_SYMBOLS = {
    "data": lsp.SymbolKind.Array,
    "param": lsp.SymbolKind.Constant,
    "var": lsp.SymbolKind.Variable,
    "let": lsp.SymbolKind.Function,
    "objective": lsp.SymbolKind.Operator,
    "constraints": lsp.SymbolKind.Namespace,
    "constraint": lsp.SymbolKind.Boolean,
    "solve": lsp.SymbolKind.Property,
}


def outline_of(analysis: Analysis) -> list[lsp.DocumentSymbol]:
    """The outline of the text."""

    def symbol(s: Symbol) -> lsp.DocumentSymbol:
        return lsp.DocumentSymbol(
            name=s.name,
            kind=_SYMBOLS[s.kind],
            range=range_of(analysis, s.whole),
            selection_range=range_of(analysis, s.own),
            detail=s.detail or None,
            children=[symbol(c) for c in s.children] or None,
        )

    return [symbol(s) for s in symbols(analysis)]


LEGEND = lsp.SemanticTokensLegend(token_types=TOKEN_TYPES, token_modifiers=TOKEN_MODIFIERS)


def semantic_tokens(analysis: Analysis) -> lsp.SemanticTokens:
    """The colours of the text: five numbers a word, its place relative to the word before."""
    rows = []
    for span, kind, modifiers in colours(analysis):
        (line, start), (_, end) = analysis.positions.position(span.start), analysis.positions.position(span.end)
        bits = sum(1 << TOKEN_MODIFIERS.index(m) for m in modifiers)
        rows.append((line, start, end - start, TOKEN_TYPES.index(kind), bits))
    data: list[int] = []
    for before, row in pairwise([(0, 0, 0, 0, 0), *rows]):
        down = row[0] - before[0]
        data += [down, row[1] - (0 if down else before[1]), *row[2:]]
    return lsp.SemanticTokens(data=data)
