"""`fwdsl explain [CODE, METHOD, WORD or NAME]`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches

from ...grammar.diagnostic import Diagnostic
from ..arguments import Parser
from ..exits import OK, CommandStop
from ..output import Output
from ..terminal import style_of

_CODE = re.compile(r"(?:fw)?\W*\d+", re.IGNORECASE)
"""The names that are meant as codes."""


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        "explain",
        "The long form of a diagnostic, or the list of all; the options of a method; a word of the language; a name of another system.",
    )
    made.add_argument(
        "codes",
        nargs="*",
        metavar="CODE",
        help="such as FW2001, a method's name, a word such as norm1, or a name of CVXPY, JuMP, NumPy, ...; without one, all codes with titles",
    )
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Print what there is to say of each code, method, word or name from elsewhere; or the list of all codes."""
    arguments = parser()
    codes = arguments.parse(argv).codes
    from ...diagnostics.explain import listing

    if not codes:
        output.text(listing())
    for i, code in enumerate(codes):
        text = _explained(code, style_of(sys.stdout).width)
        if text is None:
            raise CommandStop([_unknown(code)])
        output.text(("\n" if i else "") + text)
    return OK


def _explained(code: str, width: int) -> str | None:
    """The text on a code, a method, a word of the language or a name from elsewhere; None where it is none of them."""
    from ...diagnostics.explain import explain

    text = explain(code, width)
    if text is not None or _CODE.fullmatch(code):
        return text
    from ...plan.document import explain_method

    text = explain_method(code.lower(), width)
    if text is not None:
        return text
    from ...grammar.foreign import without_module
    from ...lsp.wordbook import explain_word
    from ...words.foreign import said_by_words
    from ...words.foreign.told import told

    name = without_module(code)
    own, foreign = explain_word(name, width), told(name, width)
    if own is None and foreign is None and (word := said_by_words().get(name.lower())) is not None:
        return f"{name}: a name elsewhere of `{word}`\n\n{explain_word(word, width)}"
    if own is not None and foreign is not None and not foreign.startswith(f"{name}:"):
        return own  # a name elsewhere with other capitals is the word
    return "\n".join(filter(None, (own, foreign))) or None


def _unknown(code: str) -> Diagnostic:
    from ...backends.registry import METHODS
    from ...diagnostics.explain import similar
    from ...grammar.foreign import without_module
    from ...lsp.wordbook import words

    if _CODE.fullmatch(code):
        close = similar(code)
    else:
        close = get_close_matches(without_module(code).lower(), [*METHODS, *words()], n=2)
    hint = f"did you mean `{'` or `'.join(close)}`?" if close else "`fwdsl explain` lists all codes"
    rule = "What is explained are codes, methods, words of the language, and names of other systems."
    return Diagnostic("FW0015", f"`{code}` is not the code of a diagnostic, nor a word", rule=rule, hint=hint)
