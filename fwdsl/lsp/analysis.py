"""A program while it is written: tokens with their roles, the tree, what the checker knows, whether or not the text has errors."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..check import Examined, examine_text
from ..check.context import Entry
from ..check.seen import Seen, inspect_expression
from ..grammar import tree
from ..grammar.diagnostic import Diagnostic
from ..grammar.lexer import Token, scan
from ..grammar.reader import read
from ..grammar.source import Span
from .positions import Positions
from .roles import NAMES, Role, logical_lines, roles_of


@dataclass(frozen=True, slots=True)
class Marked:
    """A token with its role; `kind` is the terminal that its logical line starts with."""

    token: Token
    role: Role
    kind: str

    @property
    def span(self) -> Span:
        return self.token.span


class Analysis:
    """One version of a text. Everything is worked out when it is first asked for.

    `folder` is what paths of the program are relative to, None where the text is in no file.
    """

    def __init__(self, text: str, name: str = "<text>", folder: Path | None = None, encoding: str = "utf-16") -> None:
        self.text, self.name, self.folder = text, name, folder
        self.positions = Positions(text, encoding)
        self.source, _ = read(text, name)

    @cached_property
    def _scanned(self) -> tuple[list[Token], list[tree.Comment]]:
        tokens, comments, _ = scan(self.source, 0, damaged=True)
        return tokens, comments

    @property
    def tokens(self) -> list[Token]:
        """All tokens, newlines among them."""
        return self._scanned[0]

    @property
    def comments(self) -> list[tree.Comment]:
        return self._scanned[1]

    @cached_property
    def words(self) -> tuple[Marked, ...]:
        """The tokens of the logical lines, in the order of the text."""
        return tuple(
            Marked(token, role, line.kind)
            for line in logical_lines(self.tokens)
            for token, role in zip(line.tokens, roles_of(line)[0], strict=True)
        )

    @cached_property
    def examined(self) -> Examined:
        """The tree, the model, the diagnostics and the declared names."""
        return examine_text(self.text, self.name)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings of the checker, and that a method or an option of it is named which there is not."""
        found, model = self.examined.diagnostics, self.examined.model
        if model is None or not any(isinstance(s, tree.Solve) for s in model.program.statements):
            return found
        from ..check.settings import resolve_options

        options = resolve_options(model)
        if options.method == "auto" and not options.among:
            return found
        from ..plan.named import misnamed

        wrong = misnamed(options, model)
        return found if wrong is None else (*found, wrong)

    @property
    def entries(self) -> dict[str, Entry]:
        """The declared names, also of a text with errors."""
        return self.examined.context.entries

    # --- places ------------------------------------------------------------------------------------------------------

    def word_at(self, offset: int) -> Marked | None:
        """The word, number or text at an offset, or that ends there; else the sign there."""
        near = [w for w in self.words if w.token.start <= offset <= w.token.end]
        return next((w for w in near if w.role is not Role.OPERATOR), near[-1] if near else None)

    def occurrences(self, name: str) -> tuple[Marked, ...]:
        """Every place where a name of the program stands, declarations first where they come first."""
        name = unicodedata.normalize("NFC", name)
        return tuple(w for w in self.words if w.role in NAMES and w.token.text == name)

    def declaration(self, name: str) -> Marked | None:
        """The place where a name is declared: by a statement, else as a dimension of a type, else as the name of a constraint."""
        found = self.occurrences(name)
        for role in (Role.DECLARATION, Role.DIMENSION, Role.LABEL):
            for word in found:
                if word.role is role:
                    return word
        return None

    def path_to(self, offset: int) -> tuple[tree.Node, ...]:
        """The nodes of the tree around an offset, from the statement inwards."""
        path: list[tree.Node] = []
        level: Iterator[tree.Node] = iter(self.examined.program.statements)
        while (node := next((n for n in level if n.span.start <= offset <= n.span.end), None)) is not None:
            path.append(node)
            level = self._inner(node, offset)
        return tuple(path)

    def _inner(self, node: tree.Node, offset: int) -> Iterator[tree.Node]:
        """The children, those that begin at the offset before those that end there."""
        children = [c for c in node.children() if c.span.start <= offset <= c.span.end]
        return iter(sorted(children, key=lambda c: c.span.end == offset))

    def seen(self, node: tree.Node) -> Seen | None:
        """The type, sign and curvature of an expression; None where it has no meaning."""
        return inspect_expression(self.examined.context, node) if isinstance(node, tree.Expr) else None

    def describe(self, name: str) -> Seen | None:
        """The type, sign and curvature of a declared name; None where it has no meaning."""
        entry = self.entries.get(name)
        return None if entry is None or entry.value is None else self.seen(tree.Name(name, span=entry.span))
