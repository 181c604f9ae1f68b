"""The grammar of TextMate, which VS Code and many other editors and sites colour programs with, and snippets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..words import LOSSES, SETS, SOURCES
from ..words.keywords import KEYWORDS
from .vocabulary import CONSTANTS, FUNCTION_NAMES, JOINING, SET_NAMES, SOURCE_NAMES, STATEMENTS, TYPE_NAMES

_NAME = r"[\p{L}_][\p{L}\p{N}\p{M}_]*"
_BOUND = r"(?<![\p{L}\p{N}\p{M}_])", r"(?![\p{L}\p{N}\p{M}_])"


def _any(names: Iterable[str], behind: str = "") -> str:
    return f"{_BOUND[0]}(?:{'|'.join(names)}){_BOUND[1]}{behind}"


def _match(scope: str, pattern: str) -> dict[str, str]:
    return {"name": f"{scope}.fw", "match": pattern}


def grammar() -> dict[str, Any]:
    """The grammar as a value of JSON."""
    called = r"(?=\s*\()"
    declared = {
        "match": rf"{_BOUND[0]}(let|problem)\s+({_NAME})",
        "captures": {"1": {"name": "keyword.control.fw"}, "2": {"name": "entity.name.variable.fw"}},
    }
    typed = {
        "match": rf"({_NAME})\s*(:)\s*({'|'.join(TYPE_NAMES)}){_BOUND[1]}",
        "captures": {
            "1": {"name": "entity.name.variable.fw"},
            "2": {"name": "punctuation.separator.fw"},
            "3": {"name": "support.type.fw"},
        },
    }
    member = {
        "match": rf"({_BOUND[0]}in{_BOUND[1]}|∈)\s*({'|'.join(SETS)}){_BOUND[1]}",
        "captures": {"1": {"name": "keyword.other.fw"}, "2": {"name": "support.class.fw"}},
    }
    string = {
        "name": "string.quoted.double.fw",
        "begin": '"',
        "end": '"|$',
        "patterns": [_match("constant.character.escape", r"\\(?:u[0-9a-fA-F]{4}|.)")],
    }
    patterns = [
        _match("comment.line.number-sign", "#.*$"),
        string,
        declared,
        typed,
        member,
        _match("keyword.control", _any(STATEMENTS)),
        _match("keyword.other", _any(JOINING)),
        _match("constant.language", _any(CONSTANTS)),
        _match("support.class", _any(SET_NAMES)),
        _match("support.type", _any(TYPE_NAMES)),
        _match("support.function", _any((*FUNCTION_NAMES, *SOURCE_NAMES), called)),
        _match("variable.parameter", rf"{_NAME}(?=\s*=(?!=))"),
        _match("keyword.operator", r"\.T(?![\p{L}\p{N}_])|<=|>=|==|[-+*/@=≤≥∈·]"),
        _match("constant.numeric", r"(?<![\p{L}\p{N}_])(?:\d[\d_]*(?:\.\d[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?"),
    ]
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "fw",
        "scopeName": "source.fw",
        "fileTypes": ["fw"],
        "patterns": patterns,
    }


_PLACE = re.compile(r"\b[A-Z]{2,}\b")

_PROGRAM = """\
fw 1
problem ${1:name}

data X: matrix[n, p], y: vector[n] from csv("${2:train.csv}", target="${3:y}")
param mu: nonnegative = ${4:0.1}
var w: vector[p], b: real

minimize mean(squared(X @ w + b, y)) + mu * norm1(w)
$0"""


def snippets() -> dict[str, Any]:
    """Snippets: a whole program, each keyword in its form, each loss, set and source as a call."""
    found: dict[str, Any] = {"program": _snippet("program", _PROGRAM, "A first program.")}
    for name, word in KEYWORDS.items():
        if _PLACE.search(word.form) and word.starts:
            found[name] = _snippet(name, _placed(word.form), word.meaning)
    for name, loss in LOSSES.items():
        arguments = ", ".join(f"${{{i}:{p.name}}}" for i, p in enumerate(loss.parameters[:2], 1))
        found[name] = _snippet(name, f"{'sum' if loss.entrywise else 'mean'}({name}({arguments}))", loss.formula)
    for name, word_of_set in SETS.items():
        required = [p for p in word_of_set.parameters if p.required]
        arguments = ", ".join(f"${{{i}:{p.name}}}" for i, p in enumerate(required, 1))
        found[f"in {name}"] = _snippet(f"in {name}", f"in {name}({arguments})" if required else f"in {name}", "")
    for name, source in SOURCES.items():
        found[f"from {name}"] = _snippet(
            f"from {name}", f'from {name}("${{1:data{source.suffixes[0]}}}")', source.meaning
        )
    return found


def _snippet(prefix: str, body: str, meaning: str) -> dict[str, Any]:
    return {"prefix": prefix, "body": body.split("\n"), **({"description": meaning} if meaning else {})}


def _placed(form: str) -> str:
    """A form with the words in capitals as places to fill in."""
    count = iter(range(1, 10))
    return _PLACE.sub(lambda m: f"${{{next(count)}:{m[0]}}}", form)
