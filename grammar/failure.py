"""The state where the parser stopped, and the slip that a recogniser finds there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from fwdsl.grammar.diagnostic import Diagnostic, Fix, Label
from fwdsl.grammar.lexer import Token
from fwdsl.grammar.lines import CLOSING, OPENING
from fwdsl.grammar.source import Source, Span
from fwdsl.grammar.words import expected, quoted


@dataclass(frozen=True)
class Slip:
    """A finding and, where the meaning is plain, the mended tokens of the line, with which parsing goes on.

    `resume` is the offset at which another statement starts, if one starts within the line.
    """

    diagnostic: Diagnostic
    mended: tuple[Token, ...] | None = None
    resume: int | None = None


Role = Literal["call", "group", "type", "index", "list"]


@dataclass(frozen=True)
class Failure:
    """The parser took `tokens[:index]` of a line of this kind, and expected one of `accepts`."""

    source: Source
    kind: str
    tokens: tuple[Token, ...]
    index: int
    accepts: frozenset[str]
    end: Token

    @property
    def found(self) -> Token:
        return self.at(self.index)

    @property
    def before(self) -> Token:
        return self.at(self.index - 1)

    @property
    def after(self) -> Token:
        return self.at(self.index + 1)

    def at(self, index: int) -> Token:
        """The token at an index, or the line's end for an index outside."""
        return self.tokens[index] if 0 <= index < len(self.tokens) else self.end

    @cached_property
    def opens(self) -> tuple[int, ...]:
        """The indices of the brackets that are open, the innermost last."""
        stack: list[int] = []
        for i, token in enumerate(self.tokens[: self.index]):
            if token.type in OPENING:
                stack.append(i)
            elif token.type in CLOSING and stack:
                stack.pop()
        return tuple(stack)

    @property
    def declares(self) -> bool:
        """True if the line is `data`, `param` or `var`."""
        return self.kind in ("DATA", "PARAM", "VAR")

    def role(self) -> Role | None:
        """The role of the innermost open bracket."""
        if not self.opens:
            return None
        at = self.opens[-1]
        previous = self.at(at - 1).type
        if self.tokens[at].type == "LPAR":
            return "call" if previous == "NAME" else "group"
        if previous in ("NAME", "FAMILY") and self.declares and self.at(at - 2).type in ("COLON", "OF"):
            return "type"
        return "index" if previous in ("NAME", "RPAR", "RSQB", "TRANSPOSE") else "list"

    def closer(self, index: int) -> int | None:
        """The index of the bracket that closes the one at `index`."""
        depth = 0
        for i in range(index, len(self.tokens)):
            depth += (self.tokens[i].type in OPENING) - (self.tokens[i].type in CLOSING)
            if depth == 0:
                return i
        return None

    def operand(self, stop: int) -> int | None:
        """The index at which the operand in front of token `stop` starts: a name, a call, a group, entries; None where there is none."""
        at = stop - 1
        while self.at(at).type == "TRANSPOSE":
            at -= 1
        while self.at(at).type in CLOSING:
            opening = next(
                (i for i in range(at - 1, -1, -1) if self.tokens[i].type in OPENING and self.closer(i) == at), None
            )
            if opening is None:
                return None
            if self.at(opening - 1).type not in ("NAME", "RPAR", "RSQB", "TRANSPOSE"):
                return opening
            at = opening - 1
        return at if self.at(at).type in ("NAME", "NUMBER") else None

    def text(self, start: int, stop: int) -> str:
        """The text from token `start` up to token `stop`, quoted for a message."""
        return quoted(self.source.text[self.tokens[start].start : self.tokens[stop - 1].end])

    def wanted(self) -> str:
        """The tokens that were expected here, in words."""
        before = self.before.type if self.index else ""
        if before == "FROM":
            return "a source such as `libsvm(...)`"
        if before == "IN" and "NAME" in self.accepts:
            return "a set"
        if self.declares and before in ("COLON", "OF") and not self.opens:
            return "a type" if before == "COLON" else "a type or a dimension"
        if self.role() == "type" and "NAME" in self.accepts:
            return "a dimension"
        if self.kind == "SOLVE" and self.accepts == {"NAME"}:
            return "an option"
        return expected(self.accepts)

    # --- making slips

    def slip(
        self,
        code: str,
        message: str,
        rule: str,
        hint: str,
        *,
        span: Span | None = None,
        label: str = "",
        labels: tuple[Label, ...] = (),
        fix: tuple[Span, str] | None = None,
        mended: tuple[Token, ...] | None = None,
        resume: int | None = None,
    ) -> Slip:
        """A slip at `span` (by default the token found); `fix` is an edit that the hint describes."""
        edit = None if fix is None else Fix(hint, *fix)
        at = self.found.span if span is None else span
        return Slip(Diagnostic(code, message, at, self.source, label, labels, rule, hint, edit), mended, resume)

    def swapped(self, *tokens: Token) -> tuple[Token, ...]:
        """The line with these tokens in place of the token found."""
        return (*self.tokens[: self.index], *tokens, *self.tokens[self.index + 1 :])

    def inserted(self, kind: str, text: str) -> tuple[Token, ...]:
        """The line with a token in front of the one found."""
        at = self.before.end
        return (*self.tokens[: self.index], Token(kind, text, at, at), *self.tokens[self.index :])
