"""Quick fixes, formatting, renaming and completion in the words of the protocol."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lsprotocol import types as lsp

from ..files.fixes import apart
from ..grammar import format_source
from ..grammar.diagnostic import Diagnostic, Fix, has_errors
from ..words.keywords import KEYWORDS
from .analysis import Analysis
from .completion import Offer, complete
from .convert import explanation, offset_of, range_of, to_protocol, whole_of
from .naming import Edit, applied

EXPLAIN = "fwdsl.explain"
"""The command that shows the long form of a code."""

FIX_ALL = "source.fixAll.fwdsl"


def formatted(analysis: Analysis) -> list[lsp.TextEdit]:
    """The edit that brings the text into canonical form; none where it has errors, or has that form."""
    text, found = format_source(analysis.text, analysis.name)
    if "\r\n" in analysis.text:  # how lines end is the editor's affair
        text = text.replace("\n", "\r\n")
    if has_errors(found) or text == analysis.text:
        return []
    return [lsp.TextEdit(whole_of(analysis), text)]


def edits_of(analysis: Analysis, edits: list[Edit]) -> list[lsp.TextEdit]:
    """Edits of spans as edits of ranges."""
    return [lsp.TextEdit(range_of(analysis, span), text) for span, text in edits]


def code_actions(analysis: Analysis, uri: str, asked: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """The fixes of the findings that touch the range, all fixes at once, and the long forms of the findings."""
    start, end = offset_of(analysis, asked.range.start), offset_of(analysis, asked.range.end)
    only = asked.context.only
    touched = [d for d in analysis.examined.diagnostics if _touches(d, start, end)]
    actions: list[lsp.CodeAction] = []
    if _wanted(lsp.CodeActionKind.QuickFix, only):
        actions += [_fix(analysis, uri, d, d.fix) for d in touched if d.fix is not None]
        actions += [_fix(analysis, uri, d, fix) for d in touched for fix in d.choices]
        actions += [_explain(analysis, uri, code) for code in dict.fromkeys(d.code for d in touched)]
    if _wanted(FIX_ALL, only) and (edits := _every_fix(analysis)):
        title = f"fix all: {len(edits)} {'fix' if len(edits) == 1 else 'fixes'}"
        edit = lsp.WorkspaceEdit(changes={uri: edits_of(analysis, edits)})
        actions.append(lsp.CodeAction(title, kind=FIX_ALL, edit=edit))
    return actions


def _wanted(kind: str, only: Sequence[lsp.CodeActionKind | str] | None) -> bool:
    """True if a client that asks for these kinds wants this one: a kind is asked for with all kinds under it."""
    if not only:
        return True
    asked = [str(o.value if isinstance(o, lsp.CodeActionKind) else o) for o in only]
    return any(not o or kind == o or kind.startswith(f"{o}.") for o in asked)


def _touches(d: Diagnostic, start: int, end: int) -> bool:
    spans = [s for s in (d.span, d.fix.span if d.fix else None) if s is not None]
    return not spans or any(s.start <= end and start <= s.end for s in spans)


def _fix(analysis: Analysis, uri: str, d: Diagnostic, fix: Fix) -> lsp.CodeAction:
    edits = edits_of(analysis, [(fix.span, fix.replacement)])
    return lsp.CodeAction(
        title=fix.description,
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[to_protocol(analysis, d, uri)],
        is_preferred=True if fix is d.fix else None,  # of several the user chooses
        edit=lsp.WorkspaceEdit(changes={uri: edits}),
    )


def _explain(analysis: Analysis, uri: str, code: str) -> lsp.CodeAction:
    title = f"explain {code}"
    return lsp.CodeAction(
        title, kind=lsp.CodeActionKind.QuickFix, command=lsp.Command(title, EXPLAIN, arguments=[code])
    )


def _every_fix(analysis: Analysis) -> list[Edit]:
    """The fixes that do not overlap, of the first round: what they uncover has fixes of its own."""
    fixes = apart(d.fix for d in analysis.examined.diagnostics if d.fix is not None)
    found: list[Edit] = [(fix.span, fix.replacement) for fix in fixes]
    return found if applied(analysis.source.text, found) != analysis.source.text else []


# --- completion ------------------------------------------------------------------------------------------------------

_KINDS = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "type": lsp.CompletionItemKind.Class,
    "function": lsp.CompletionItemKind.Function,
    "set": lsp.CompletionItemKind.Interface,
    "argument": lsp.CompletionItemKind.Property,
    "choice": lsp.CompletionItemKind.EnumMember,
    "dimension": lsp.CompletionItemKind.TypeParameter,
    "data": lsp.CompletionItemKind.Value,
    "param": lsp.CompletionItemKind.Constant,
    "var": lsp.CompletionItemKind.Variable,
    "let": lsp.CompletionItemKind.Reference,
    "column": lsp.CompletionItemKind.Field,
    "file": lsp.CompletionItemKind.File,
}


#: What a user writes, in the form of a keyword.
_GIVEN = re.compile(r"\b[A-Z]{2,}\b")


def completions(analysis: Analysis, position: lsp.Position, snippets: bool) -> lsp.CompletionList:
    """The offers at a position, names of the program first. With `snippets` the cursor goes into the brackets of a call."""
    offers = complete(analysis, offset_of(analysis, position))
    place = range_of(analysis, offers.span)
    return lsp.CompletionList(is_incomplete=False, items=[_item(offer, place, snippets) for offer in offers.items])


def _item(offer: Offer, place: lsp.Range, snippets: bool) -> lsp.CompletionItem:
    text, form = offer.text, lsp.InsertTextFormat.PlainText
    if offer.text in KEYWORDS and KEYWORDS[offer.text].starts:
        text = _GIVEN.split(KEYWORDS[offer.text].form)[0]
    elif offer.call and snippets:
        text, form = f"{offer.text}($0)", lsp.InsertTextFormat.Snippet
    return lsp.CompletionItem(
        label=offer.text.removesuffix(" = "),
        kind=_KINDS[offer.kind],
        detail=offer.detail or None,
        documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, offer.told) if offer.told else None,
        sort_text=f"{offer.rank}{offer.text}",
        filter_text=offer.text,
        insert_text_format=form,
        text_edit=lsp.TextEdit(place, text),
    )


def place_of_explanation(code: str) -> lsp.ShowDocumentParams | None:
    """The place of the long form of a code; None where there is none."""
    found = explanation(code)
    if found is None:
        return None
    at = lsp.Position(found[1], 0)
    return lsp.ShowDocumentParams(uri=found[0], take_focus=False, selection=lsp.Range(at, at))
