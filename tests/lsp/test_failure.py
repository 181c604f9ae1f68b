"""A handler that fails is logged, and the server goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

pytest_lsp = pytest.importorskip("pytest_lsp", reason="pytest-lsp is not installed")
pytest.importorskip("pytest_asyncio", reason="pytest-asyncio is not installed")

from lsprotocol import types as lsp  # noqa: E402
from pytest_lsp import ClientServerConfig, LanguageClient  # noqa: E402

BROKEN = """
import sys
from fwdsl.lsp import hover, server
def fail(*_):
    raise RecursionError("on purpose")
hover.hover = fail
server.serve(sys.stdin.buffer, sys.stdout.buffer)
"""


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[sys.executable, "-c", BROKEN]))
async def broken(lsp_client: LanguageClient) -> AsyncIterator[None]:
    general = lsp.GeneralClientCapabilities(position_encodings=[lsp.PositionEncodingKind.Utf8])
    await lsp_client.initialize_session(lsp.InitializeParams(capabilities=lsp.ClientCapabilities(general=general)))
    yield
    await lsp_client.shutdown_session()


@pytest.mark.asyncio
async def test_a_failure_is_logged_and_the_next_request_answered(broken: LanguageClient) -> None:
    uri = Path("/nowhere/a.fw").as_uri()
    item = lsp.TextDocumentItem(uri, "fw", 1, "var \u00e9: real, x: real\nminimize x\n")
    broken.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
    document, at = lsp.TextDocumentIdentifier(uri), lsp.Position(1, 9)
    assert await broken.text_document_hover_async(lsp.HoverParams(document, at)) is None
    assert "on purpose" in broken.log_messages[-1].message
    place = await broken.text_document_definition_async(lsp.DefinitionParams(document, at))
    assert place.range.start == lsp.Position(0, 14), "the client counts in UTF-8"


def test_the_end_of_the_input_ends_the_server() -> None:
    run = subprocess.run([sys.executable, "-m", "fwdsl", "lsp"], input=b"", capture_output=True, timeout=60)
    assert (run.returncode, run.stdout) == (0, b"")


def test_what_is_refused_is_told_to_the_client_and_is_no_failure_in_the_log() -> None:
    document = {"uri": "file:///nowhere/a.fw"}
    messages = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {
            "method": "textDocument/didOpen",
            "params": {"textDocument": {**document, "languageId": "fw", "version": 1, "text": "minimize 1"}},
        },
        {
            "id": 2,
            "method": "textDocument/prepareRename",
            "params": {"textDocument": document, "position": {"line": 0, "character": 9}},
        },
        {"id": 3, "method": "shutdown"},
        {"method": "exit"},
    ]
    sent = b""
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        sent += b"Content-Length: %d\r\n\r\n" % len(body) + body
    run = subprocess.run([sys.executable, "-m", "fwdsl", "lsp"], input=sent, capture_output=True, timeout=60)
    assert b"there is no name here" in run.stdout
    assert b"Traceback" not in run.stderr, run.stderr.decode()
