"""A lexer for Pygments, which sites and notebooks colour programs with: the language `fw`."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace

from ..grammar.tables import tables
from .vocabulary import CONSTANTS, FUNCTION_NAMES, JOINING, SET_NAMES, SOURCE_NAMES, STATEMENTS, TYPE_NAMES

_PATTERNS = dict(tables().patterns)
_NAME = _PATTERNS["NAME"]
_CALLED = r"(?=\s*\()"


class FwLexer(RegexLexer):
    """Programs of fwdsl. What is a name, a number, a text and a comment is what the grammar's terminals say."""

    name = "fw"
    aliases: ClassVar[list[str]] = ["fw", "fwdsl"]
    filenames: ClassVar[list[str]] = ["*.fw"]
    mimetypes: ClassVar[list[str]] = ["text/x-fw"]
    url = ""

    flags = re.UNICODE
    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            (r"\s+", Whitespace),
            (_PATTERNS["COMMENT"], Comment.Single),
            (_PATTERNS["STRING"], String.Double),
            (words(STATEMENTS, prefix=r"\b", suffix=r"\b"), Keyword),
            (words(JOINING, prefix=r"\b", suffix=r"\b"), Keyword.Reserved),
            (words(CONSTANTS, prefix=r"\b", suffix=r"\b"), Keyword.Constant),
            (rf"(:)(\s*)({'|'.join(TYPE_NAMES)})\b", bygroups(Punctuation, Whitespace, Keyword.Type)),
            (words(SET_NAMES, prefix=r"\b", suffix=r"\b"), Name.Class),
            (words(TYPE_NAMES, prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (words((*FUNCTION_NAMES, *SOURCE_NAMES), prefix=r"\b", suffix=r"\b" + _CALLED), Name.Builtin),
            (rf"({_NAME})(\s*)(=)(?!=)", bygroups(Name.Attribute, Whitespace, Operator)),
            (_PATTERNS["TRANSPOSE"], Operator),
            (_NAME, Name),
            (_PATTERNS["NUMBER"], Number),
            (r"<=|>=|==|[-+*/@=≤≥∈·]", Operator),
            (r"[\[\](),:]", Punctuation),
            (r"[^\n]", Error),
            (r"\n", Text),
        ]
    }
