"""The server through a real client over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest_lsp = pytest.importorskip("pytest_lsp", reason="pytest-lsp is not installed")
pytest.importorskip("pytest_asyncio", reason="pytest-asyncio is not installed")

from lsprotocol import types as lsp  # noqa: E402
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities  # noqa: E402

from fwdsl.grammar import format_source  # noqa: E402

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.fw"))
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.asyncio(loop_scope="module")

COMMAND = [sys.executable, "-m", "fwdsl", "lsp", "--stdio"]

GOOD = """\
fw 1

# \U0001f600 weights e\u0301
data A: matrix[3, 2] = [[1, 0], [0, 1], [1, 1]], b: vector[3] = [1, 0.5, 0.5]
var x: vector[2]

minimize mean(squared(A @ x, b)) + norm1(x)
"""


class Editor:
    """An editor with one document at a time."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.uri, self.text, self.version = "", "", 0

    @property
    def id(self) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri)

    async def open(self, text: str, path: Path | str = "/nowhere/program.fw") -> list[lsp.Diagnostic]:
        self.uri, self.text, self.version = Path(path).as_uri(), text, 1
        item = lsp.TextDocumentItem(self.uri, "fw", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await self.told()

    async def change(self, text: str) -> list[lsp.Diagnostic]:
        self.type(text)
        return await self.told()

    def type(self, text: str) -> None:
        self.text, self.version = text, self.version + 1
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        document = lsp.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))

    async def told(self) -> list[lsp.Diagnostic]:
        """The findings of the document as it stands."""
        while True:
            params = await self.client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
            if params.uri == self.uri and params.version == self.version:
                return list(params.diagnostics)

    def offset(self, at: lsp.Position) -> int:
        """The offset of a position of an ASCII or UTF-16 text, worked out otherwise than in the server."""
        lines = self.text.split("\n")
        line = lines[at.line].encode("utf-16-le")[: 2 * at.character].decode("utf-16-le")
        return sum(len(text) + 1 for text in lines[: at.line]) + len(line)

    def position(self, word: str, behind: int = 0) -> lsp.Position:
        before = self.text[: self.text.index(word) + behind]
        tail = before.rpartition("\n")[2]
        return lsp.Position(before.count("\n"), len(tail.encode("utf-16-le")) // 2)

    def applied(self, edits: Any) -> str:
        text = self.text
        for edit in sorted(edits, key=lambda e: self.offset(e.range.start), reverse=True):
            text = text[: self.offset(edit.range.start)] + edit.new_text + text[self.offset(edit.range.end) :]
        return text

    async def actions(self, found: lsp.Diagnostic, *only: str) -> list[lsp.CodeAction]:
        context = lsp.CodeActionContext([found], only=list(only) or None)
        params = lsp.CodeActionParams(self.id, found.range, context)
        return list(await self.client.text_document_code_action_async(params) or [])

    async def hover(self, word: str, behind: int = 0) -> str:
        params = lsp.HoverParams(self.id, self.position(word, behind))
        found = await self.client.text_document_hover_async(params)
        return "" if found is None else found.contents.value

    async def formatted(self) -> str:
        options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
        edits = await self.client.text_document_formatting_async(lsp.DocumentFormattingParams(self.id, options))
        return self.applied(edits or [])

    async def completed(self, word: str, behind: int) -> list[str]:
        params = lsp.CompletionParams(self.id, self.position(word, behind))
        found = await self.client.text_document_completion_async(params)
        return [item.label for item in found.items]


@pytest_lsp.fixture(scope="module", config=ClientServerConfig(server_command=COMMAND))
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    @lsp_client.feature(lsp.WORKSPACE_CODE_LENS_REFRESH)
    def refresh(*_: object) -> None:
        """Take note: the tests ask for lenses themselves."""

    params = lsp.InitializeParams(capabilities=client_capabilities("visual-studio-code"))
    await lsp_client.initialize_session(params)
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def editor(client: LanguageClient) -> Editor:
    return Editor(client)


async def test_an_error_is_introduced_fixed_and_formatted(editor: Editor) -> None:
    assert await editor.open(GOOD) == []
    (found,) = await editor.change(GOOD.replace("squared(A", "sqared(A"))
    assert (found.code, found.severity, found.source) == ("FW2006", lsp.DiagnosticSeverity.Error, "fwdsl")
    assert editor.text[editor.offset(found.range.start) : editor.offset(found.range.end)] == "sqared"
    actions = await editor.actions(found)
    (fix,) = [a for a in actions if isinstance(a, lsp.CodeAction) and a.kind == lsp.CodeActionKind.QuickFix]
    assert fix.is_preferred
    fixed = editor.applied(fix.edit.changes[editor.uri])
    assert fixed == GOOD
    assert await editor.change(fixed.replace("A @ x, b", "A@x,b")) == []
    assert await editor.formatted() == GOOD


async def test_findings_link_to_their_long_form_and_to_other_places(editor: Editor) -> None:
    (found,) = await editor.open(GOOD.replace("var x: vector[2]", "var x: vector[4]"))
    (first, *_) = found.related_information
    assert first.location.uri == editor.uri
    path, _, line = found.code_description.href.removeprefix("file://").partition("#L")
    assert Path(path).read_text(encoding="utf-8").splitlines()[int(line) - 1].startswith(f"## {found.code}:")


async def test_fix_all_takes_every_fix_at_once(editor: Editor) -> None:
    found = await editor.open(GOOD.replace("squared", "sqared").replace("norm1", "norm_1"))
    (action,) = await editor.actions(found[0], "source.fixAll")
    assert editor.applied(action.edit.changes[editor.uri]) == GOOD


async def test_a_user_chooses_where_fixes_mean_different_things(editor: Editor) -> None:
    (found,) = await editor.open(GOOD.replace("mean(squared(A @ x, b))", "squared(A @ x, b)"))
    fixes = [a for a in await editor.actions(found, "quickfix") if isinstance(a, lsp.CodeAction)]
    assert [f.title for f in fixes] == ["write `mean(squared(A @ x, b))`", "write `sum(squared(A @ x, b))`"]
    assert not any(f.is_preferred for f in fixes)
    assert editor.applied(fixes[0].edit.changes[editor.uri]) == GOOD


async def test_positions_count_utf16_behind_emoji_and_combining_characters(editor: Editor) -> None:
    text = GOOD.replace("var x: vector[2]", "var x: vector[2], e\u0301: real  # \U0001f600\U0001f600 x\u0302")
    text = text.replace("norm1(x)", 'norm1(x) + e\u0301 * norm1("\U0001f600") + unknwn')
    found = await editor.open(text)
    names = [editor.text[editor.offset(d.range.start) : editor.offset(d.range.end)] for d in found]
    assert "unknwn" in names
    at = editor.position("e\u0301: real")
    places = await editor.client.text_document_references_async(
        lsp.ReferenceParams(lsp.ReferenceContext(include_declaration=True), editor.id, at)
    )
    words = [editor.text[editor.offset(p.range.start) : editor.offset(p.range.end)] for p in places]
    assert words == ["e\u0301"] * 2


async def test_names_are_found_and_renamed(editor: Editor) -> None:
    await editor.open(GOOD)
    at = editor.position("x, b")
    place = await editor.client.text_document_definition_async(lsp.DefinitionParams(editor.id, at))
    assert editor.offset(place.range.start) == GOOD.index("x: vector")
    prepared = await editor.client.text_document_prepare_rename_async(lsp.PrepareRenameParams(editor.id, at))
    assert prepared.placeholder == "x"
    edit = await editor.client.text_document_rename_async(
        lsp.RenameParams(text_document=editor.id, position=at, new_name="w")
    )
    renamed = editor.applied(edit.changes[editor.uri])
    assert renamed == GOOD.replace("x:", "w:").replace("@ x", "@ w").replace("(x)", "(w)")
    with pytest.raises(Exception, match="already data"):
        await editor.client.text_document_rename_async(
            lsp.RenameParams(text_document=editor.id, position=at, new_name="A")
        )
    with pytest.raises(Exception, match="a loss of the language"):
        at = editor.position("squared")
        await editor.client.text_document_prepare_rename_async(lsp.PrepareRenameParams(editor.id, at))


async def test_a_broken_program_is_completed_and_explained(editor: Editor) -> None:
    assert await editor.open(GOOD.replace("norm1(x)", "norm1("))
    assert {"x", "A"} <= set(await editor.completed("norm1(", 6))
    assert "matrix[3, 2]" in await editor.hover("A: matrix")
    assert await editor.formatted() == editor.text


async def test_typing_is_checked_once_it_stops(editor: Editor) -> None:
    await editor.open(GOOD)
    for cut in range(1, 20):
        editor.type(GOOD[:-cut])
    assert [d.code for d in await editor.change(GOOD)] == []


async def test_an_address_with_escapes_is_of_the_same_document(editor: Editor, tmp_path: Path) -> None:
    folder = tmp_path / "my \u00e9tude \U0001f600"
    folder.mkdir()
    (folder / "d.csv").write_text("size,price\n1,2\n")
    text = 'data y: vector[n] from csv("d.csv", target=)\n' + GOOD.replace("sum(", "nosum(")
    found = await editor.open(text, folder / "a.fw")
    assert "%20" in editor.uri and found, "findings of the text itself"
    assert await editor.completed("target=", len("target=")) == ['"size"', '"price"']
    editor.uri = "file:///c%3A/models/a.fw"  # as VS Code writes drives
    item = lsp.TextDocumentItem(editor.uri, "fw", 1, GOOD)
    editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
    assert len(await editor.client.text_document_code_lens_async(lsp.CodeLensParams(editor.id))) == 1


async def test_closing_takes_findings_back(editor: Editor) -> None:
    assert await editor.open("minimize")
    editor.client.text_document_did_close(lsp.DidCloseTextDocumentParams(editor.id))
    params = await editor.client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert (params.uri, params.diagnostics) == (editor.uri, ())


async def test_outline_colours_and_hints_are_answered(editor: Editor) -> None:
    await editor.open(GOOD)
    outline = await editor.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(editor.id))
    assert [s.name for s in outline] == ["A", "b", "x", "minimize"]
    tokens = await editor.client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(editor.id))
    assert len(tokens.data) % 5 == 0
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
    (hint,) = await editor.client.text_document_inlay_hint_async(lsp.InlayHintParams(editor.id, whole))
    assert (editor.offset(hint.position), hint.label) == (GOOD.index("A @ x"), "vector[3]: ")


async def test_every_example_is_accepted_as_it_is(editor: Editor) -> None:
    for path in EXAMPLES:
        text = path.read_text(encoding="utf-8")
        assert await editor.open(text, path) == []
        assert await editor.formatted() == format_source(text)[0]


async def test_the_lens_solves_and_shows_the_answer(editor: Editor) -> None:
    await editor.open(GOOD)
    (lens,) = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(editor.id))
    assert lens.command.title.startswith("solve")
    run = lsp.ExecuteCommandParams(lens.command.command, lens.command.arguments)
    told = await editor.client.workspace_execute_command_async(run)
    assert told.startswith("optimal: objective ") and "\nx = [" in told
    assert editor.client.messages[-1].message == told
    _, answer = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(editor.id))
    assert answer.command.title == told.partition("\n")[0]
    value = told.partition("\n")[2]
    assert value in await editor.hover("x: vector")
    assert value not in await editor.hover("b: vector")
    await editor.change(GOOD + "# another text\n")
    assert value not in await editor.hover("x: vector")


async def test_a_second_click_ends_the_solve(editor: Editor) -> None:
    await editor.open(GOOD + "solve method = subgradient, tol = 1e-15\n")
    run = lsp.ExecuteCommandParams("fwdsl.solve", [editor.uri])
    first = editor.client.protocol.send_request_async(lsp.WORKSPACE_EXECUTE_COMMAND, run)
    first = asyncio.ensure_future(first)
    titles: list[str] = []
    while titles != ["solving: end it"] and not first.done():
        lenses = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(editor.id))
        titles = [lens.command.title for lens in lenses]
    assert await editor.client.workspace_execute_command_async(run) is None
    assert await first is None
    assert editor.client.messages[-1].message == "the solve was ended"


async def test_a_solve_without_data_says_what_is_missing(editor: Editor) -> None:
    await editor.open("fw 1\n\ndata A: matrix[n, d]\nvar x: vector[d]\n\nminimize norm1(A @ x)\n")
    run = lsp.ExecuteCommandParams("fwdsl.solve", [editor.uri])
    told = await editor.client.workspace_execute_command_async(run)
    assert told.startswith("rejected: FW4501") and "`A`" in told
    with pytest.raises(Exception, match="not open"):
        await editor.client.workspace_execute_command_async(lsp.ExecuteCommandParams("fwdsl.solve", ["file:///no.fw"]))


async def test_the_long_form_is_shown(editor: Editor) -> None:
    (found,) = await editor.open(GOOD.replace("squared(A", "sqared(A"))
    # the client's converter takes an action with a command and no edit for a command, so only its title is asked for
    assert "explain FW2006" in [a.title for a in await editor.actions(found)]
    run = lsp.ExecuteCommandParams("fwdsl.explain", ["FW2006"])
    assert (await editor.client.workspace_execute_command_async(run)).startswith("FW2006:")
    assert editor.client.shown_documents[-1].uri.endswith("FW2.md")
