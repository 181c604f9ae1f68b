"""Makes a `Source` of bytes or text, with or without a byte order mark. Never refuses its input."""

from __future__ import annotations

import re

from fwdsl.grammar.diagnostic import Diagnostic
from fwdsl.grammar.source import Source, Span

_SURROGATE = re.compile("[\ud800-\udfff]")


def read(text: str | bytes, name: str) -> tuple[Source, list[Diagnostic]]:
    """The source without its byte order mark. Bytes that are not UTF-8 become U+FFFD, and are reported."""
    found: list[Diagnostic] = []
    broken: Span | None = None  # the first place that is not UTF-8
    if isinstance(text, str):
        decoded = text
        if match := _SURROGATE.search(text):
            broken = Span(match.start(), match.end())
            decoded = _SURROGATE.sub("\ufffd", text)
    else:
        if text.startswith((b"\xff\xfe", b"\xfe\xff")):
            source = Source(name, "")
            return source, [not_utf8(source, Span(0, 0), "the file is UTF-16")]
        try:
            decoded = text.decode("utf-8")
        except UnicodeDecodeError as error:
            start = len(text[: error.start].decode("utf-8"))
            broken = Span(start, start + 1)
            decoded = text.decode("utf-8", "replace")
    if decoded.startswith("\ufeff"):
        decoded = decoded[1:]
        broken = broken and Span(broken.start - 1, broken.end - 1)
    source = Source(name, decoded)
    if broken is not None:
        found.append(not_utf8(source, broken, f"line {source.position(broken.start)[0]} is not UTF-8"))
    if (at := decoded.find("\0")) >= 0:
        message = "the text holds a NUL character"
        hint = "delete it; a file with many is UTF-16 or no text at all: save it as UTF-8"
        found.append(Diagnostic("FW1030", message, Span(at, at + 1), source, rule=_RULE, hint=hint))
    return source, found


def not_utf8(source: Source, span: Span, message: str) -> Diagnostic:
    """The finding for a text that is damaged at `span`."""
    return Diagnostic("FW1032", message, span, source, rule=_RULE, hint="save the file as UTF-8")


_RULE = "Programs are text in UTF-8."
