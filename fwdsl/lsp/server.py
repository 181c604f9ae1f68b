"""The server: which request is answered by what, and when findings are told.

A handler that fails is logged, on standard error and with the client, and answers nothing; the next request finds the server as before.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from .. import __version__
from . import actions, convert, hover, naming, outline, solving
from .analysis import Analysis

LOG = logging.getLogger("fwdsl.lsp")

DELAY = 0.15
"""Seconds without a key before a text is checked."""

SOLVE = "fwdsl.solve"
"""The command of the code lens: the argument is the address of the document."""

_SHOWN = 400
"""Characters of a variable's value where the pointer rests on its name."""

_REFUSED = -32803
"""The protocol's code of a request that cannot be met for a reason that the user is told."""


class Answer(NamedTuple):
    """The last answer to a document: the text that it is of, its headline and the values of the variables."""

    text: str
    headline: str
    values: dict[str, str]


class Server(LanguageServer):
    """The server with what it knows of each open document."""

    def __init__(self) -> None:
        # Texts come whole: pygls, which would put changes of parts together, cuts lines at characters that end none in the protocol.
        super().__init__("fwdsl", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.analyses: dict[str, Analysis] = {}
        self.waiting: dict[str, asyncio.TimerHandle] = {}
        self.answers: dict[str, Answer] = {}
        self.solves: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self.seconds = solving.SECONDS

    def has(self, uri: str) -> bool:
        """True if the document is open. pygls keeps documents by their addresses without escapes, older versions by the addresses as sent."""
        return not {uri, unquote(uri)}.isdisjoint(self.workspace.text_documents)

    def analysis(self, uri: str) -> Analysis:
        """The analysis of the text as it stands; of an empty one where the document is not open."""
        if not self.has(uri):
            return Analysis("")
        text = self.workspace.get_text_document(uri).source
        known = self.analyses.get(uri)
        if known is None or known.text != text:
            path = to_fs_path(uri) if uri.startswith("file:") else None
            encoding = str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))
            folder = Path(path).parent if path else None
            known = self.analyses[uri] = Analysis(text, Path(path).name if path else "<text>", folder, encoding)
        return known

    def tell(self, uri: str) -> None:
        """Publish the findings of a document."""
        self.waiting.pop(uri, None)
        try:
            analysis = self.analysis(uri)
            found = [convert.to_protocol(analysis, d, uri) for d in analysis.diagnostics]
        except Exception as error:
            self.failed("diagnostics", error)
            return
        version = self.workspace.get_text_document(uri).version
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, version))

    def tell_soon(self, uri: str) -> None:
        """Publish the findings of a document once nothing has been typed for a moment."""
        if uri in self.waiting:
            self.waiting[uri].cancel()
        self.waiting[uri] = asyncio.get_running_loop().call_later(DELAY, self.tell, uri)

    def failed(self, what: str, error: Exception) -> None:
        """Log a failure of ours, here and with the client."""
        LOG.error("%s failed: %s", what, "".join(traceback.format_exception(error)))
        message = f"fwdsl: {what} failed, which is a bug: {type(error).__name__}: {error}"
        self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, message))


Handler = Callable[..., Any]


def guarded(handler: Handler) -> Handler:
    """A handler whose failure is logged and answers None. What it refuses is told to the user."""

    @functools.wraps(handler)
    def run(ls: Server, *params: Any) -> Any:
        try:
            return handler(ls, *params)
        except naming.Refused as refused:
            raise JsonRpcException(str(refused), _REFUSED) from None
        except Exception as error:
            ls.failed(handler.__name__, error)
            return None

    return run


# --- documents -------------------------------------------------------------------------------------------------------


def initialize(ls: Server, params: lsp.InitializeParams) -> None:
    """Take the editor's settings: `solveSeconds`."""
    given = params.initialization_options
    seconds = given.get("solveSeconds") if isinstance(given, dict) else None
    if isinstance(seconds, int | float) and 0 < seconds < float("inf"):
        ls.seconds = float(seconds)


def did_open(ls: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    """Check at once."""
    ls.tell(params.text_document.uri)


def did_change(ls: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    """Check soon."""
    ls.tell_soon(params.text_document.uri)


def did_save(ls: Server, params: lsp.DidSaveTextDocumentParams) -> None:
    """Check at once."""
    if params.text_document.uri in ls.waiting:
        ls.waiting[params.text_document.uri].cancel()
    ls.tell(params.text_document.uri)


def did_close(ls: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    """Forget the document and take its findings back."""
    uri = params.text_document.uri
    if uri in ls.waiting:
        ls.waiting.pop(uri).cancel()
    if uri in ls.solves:
        ls.solves[uri].cancel()
    ls.analyses.pop(uri, None)
    ls.answers.pop(uri, None)
    ls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


# --- requests --------------------------------------------------------------------------------------------------------


def formatting(ls: Server, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
    """The canonical form, as `fwdsl fmt` writes it."""
    return actions.formatted(ls.analysis(params.text_document.uri))


def code_action(ls: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """Quick fixes."""
    uri = params.text_document.uri
    return actions.code_actions(ls.analysis(uri), uri, params)


def hovered(ls: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    """The text for the place where the pointer rests."""
    analysis = ls.analysis(params.text_document.uri)
    answer = _answer(ls, params.text_document.uri)
    found = hover.hover(analysis, convert.offset_of(analysis, params.position), answer.values if answer else {})
    if found is None:
        return None
    told, span = found
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, told), convert.range_of(analysis, span))


def completion(ls: Server, params: lsp.CompletionParams) -> lsp.CompletionList:
    """The texts that may stand at the cursor."""
    text_document = ls.client_capabilities.text_document
    supported = text_document.completion if text_document is not None else None
    item = supported.completion_item if supported is not None else None
    snippets = bool(item is not None and item.snippet_support)
    return actions.completions(ls.analysis(params.text_document.uri), params.position, snippets)


def _places(
    ls: Server, params: lsp.DefinitionParams | lsp.ReferenceParams | lsp.DocumentHighlightParams
) -> tuple[Analysis, str]:
    """The analysis, and the name at the position; empty where there is none."""
    analysis = ls.analysis(params.text_document.uri)
    try:
        return analysis, naming.renamable(analysis, convert.offset_of(analysis, params.position)).token.text
    except naming.Refused:
        return analysis, ""


def definition(ls: Server, params: lsp.DefinitionParams) -> lsp.Location | None:
    """The place where a name is declared."""
    analysis, name = _places(ls, params)
    found = analysis.declaration(name)
    return None if found is None else lsp.Location(params.text_document.uri, convert.range_of(analysis, found.span))


def references(ls: Server, params: lsp.ReferenceParams) -> list[lsp.Location]:
    """The places where a name stands."""
    analysis, name = _places(ls, params)
    declared = analysis.declaration(name)
    found = [w for w in analysis.occurrences(name) if params.context.include_declaration or w != declared]
    return [lsp.Location(params.text_document.uri, convert.range_of(analysis, w.span)) for w in found]


def highlight(ls: Server, params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
    """The places of the name at the cursor."""
    analysis, name = _places(ls, params)
    return [lsp.DocumentHighlight(convert.range_of(analysis, w.span)) for w in analysis.occurrences(name)]


def prepare_rename(ls: Server, params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder:
    """The name that would be changed."""
    analysis = ls.analysis(params.text_document.uri)
    word = naming.renamable(analysis, convert.offset_of(analysis, params.position))
    return lsp.PrepareRenamePlaceholder(convert.range_of(analysis, word.span), word.token.text)


def rename(ls: Server, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
    """The edits that give a name another one."""
    uri = params.text_document.uri
    analysis = ls.analysis(uri)
    edits = naming.rename(analysis, convert.offset_of(analysis, params.position), params.new_name)
    return lsp.WorkspaceEdit(changes={uri: actions.edits_of(analysis, edits)})


def document_symbol(ls: Server, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    """The outline."""
    return convert.outline_of(ls.analysis(params.text_document.uri))


def semantic_tokens(ls: Server, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
    """The colours."""
    return convert.semantic_tokens(ls.analysis(params.text_document.uri))


def inlay_hint(ls: Server, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    """Dimensions behind the names of `let`s and behind predictions."""
    analysis = ls.analysis(params.text_document.uri)
    start, end = convert.offset_of(analysis, params.range.start), convert.offset_of(analysis, params.range.end)
    return [
        lsp.InlayHint(convert.position_of(analysis, at), text, kind=lsp.InlayHintKind.Type)
        for at, text in outline.hints(analysis, start, end)
    ]


def code_lens(ls: Server, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    """The lens over the objective of a program without errors, which solves it, and the last answer to it as it stands."""
    uri = params.text_document.uri
    analysis = ls.analysis(uri)
    objective = next((s for s in outline.symbols(analysis) if s.kind == "objective"), None)
    if objective is None or analysis.examined.model is None:
        return []
    place = convert.range_of(analysis, objective.own)
    title = "solving: end it" if uri in ls.solves else f"solve, at most {ls.seconds:g} s"
    answer = _answer(ls, uri)
    titles = [title, answer.headline] if answer else [title]
    return [lsp.CodeLens(place, lsp.Command(title, SOLVE, arguments=[uri])) for title in titles]


def _answer(ls: Server, uri: str) -> Answer | None:
    """The last answer to a document as it stands; None where there is none."""
    found = ls.answers.get(uri)
    return found if found is not None and found.text == ls.analysis(uri).text else None


# --- commands --------------------------------------------------------------------------------------------------------


async def solve(ls: Server, *given: Any) -> str | None:
    """Solve a document as it stands, show the answer, and return it. A second call while it runs ends the first."""
    uri = given[0] if given and isinstance(given[0], str) else ""
    try:
        if not ls.has(uri):
            raise naming.Refused("this document is not open")
        return await _solved(ls, uri)
    except naming.Refused as refused:
        raise JsonRpcException(str(refused), _REFUSED) from None
    except Exception as error:
        ls.failed("solve", error)
        return None


async def _solved(ls: Server, uri: str) -> str | None:
    analysis = ls.analysis(uri)
    if uri in ls.solves:
        ls.solves[uri].cancel()
        return None
    task = ls.solves[uri] = asyncio.create_task(solving.solve(analysis.text, analysis.folder, ls.seconds))
    _refresh(ls)
    try:
        answer = await task
    except asyncio.CancelledError:
        ls.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, "the solve was ended"))
        return None
    finally:
        del ls.solves[uri]
        _refresh(ls)
    ls.answers[uri] = Answer(analysis.text, solving.headline(answer), solving.values(answer, _SHOWN))
    told = solving.details(answer)
    kind = lsp.MessageType.Info if answer.get("objective") is not None else lsp.MessageType.Warning
    ls.window_show_message(lsp.ShowMessageParams(kind, told))
    _refresh(ls)
    return told


def _refresh(ls: Server) -> None:
    """Have the client ask for lenses again, where it can be told to."""
    workspace = ls.client_capabilities.workspace
    if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
        ls.workspace_code_lens_refresh(None)


def explain(ls: Server, *given: Any) -> str | None:
    """Show the long form of a code: in an editor's window where it can open one, else as a message."""
    from ..diagnostics.explain import explain as long_form

    code = given[0] if given and isinstance(given[0], str) else ""
    text, place = long_form(code), actions.place_of_explanation(code)
    if text is None or place is None:
        raise naming.Refused(f"`{code}` is not the code of a diagnostic")
    window = ls.client_capabilities.window
    if window is not None and window.show_document is not None and window.show_document.support:
        ls.window_show_document(place)
    else:
        ls.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, text))
    return text


_TRIGGERS = ["(", "=", '"', "[", ":"]
_KINDS = [lsp.CodeActionKind.QuickFix, actions.FIX_ALL]

FEATURES: tuple[tuple[str, Handler, Any], ...] = (
    (lsp.INITIALIZE, initialize, None),
    (lsp.TEXT_DOCUMENT_DID_OPEN, did_open, None),
    (lsp.TEXT_DOCUMENT_DID_CHANGE, did_change, None),
    (lsp.TEXT_DOCUMENT_DID_SAVE, did_save, None),
    (lsp.TEXT_DOCUMENT_DID_CLOSE, did_close, None),
    (lsp.TEXT_DOCUMENT_FORMATTING, formatting, None),
    (lsp.TEXT_DOCUMENT_CODE_ACTION, code_action, lsp.CodeActionOptions(code_action_kinds=_KINDS)),
    (lsp.TEXT_DOCUMENT_HOVER, hovered, None),
    (lsp.TEXT_DOCUMENT_COMPLETION, completion, lsp.CompletionOptions(trigger_characters=_TRIGGERS)),
    (lsp.TEXT_DOCUMENT_DEFINITION, definition, None),
    (lsp.TEXT_DOCUMENT_REFERENCES, references, None),
    (lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, highlight, None),
    (lsp.TEXT_DOCUMENT_PREPARE_RENAME, prepare_rename, None),
    (lsp.TEXT_DOCUMENT_RENAME, rename, lsp.RenameOptions(prepare_provider=True)),
    (lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, document_symbol, None),
    (lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, semantic_tokens, convert.LEGEND),
    (lsp.TEXT_DOCUMENT_INLAY_HINT, inlay_hint, None),
    (lsp.TEXT_DOCUMENT_CODE_LENS, code_lens, None),
)


def create() -> Server:
    """A server with all its features."""
    server = Server()
    for name, handler, options in FEATURES:
        server.feature(name, options)(guarded(handler))
    server.command(SOLVE)(solve)
    server.command(actions.EXPLAIN)(guarded(explain))
    return server


def _is_news(record: logging.LogRecord) -> bool:
    """False for a request that was refused: the client tells its user why, and a traceback would look like a failure."""
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, JsonRpcException) and error.code == _REFUSED)


def serve(stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Answer requests until the client ends the session or goes away."""
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_news)
    create().start_io(stdin, stdout)
