"""Writes programs in canonical form. Comments are kept.

`fw 1` is the first statement. Each constraint has a line. Single blank lines between statements stay, more become one. A
statement with comments inside gets a line for each item, term, constraint or option, with its own comments. A comment
from inside one of these moves above it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from fwdsl.grammar import tree
from fwdsl.grammar.diagnostic import Diagnostic, has_errors
from fwdsl.grammar.parser import parse
from fwdsl.grammar.printer import STEP, WIDTH, Printer
from fwdsl.grammar.source import Span
from fwdsl.grammar.tree import names_of

_PARTS: dict[type[tree.Node], int] = {
    tree.Version: 0,
    tree.ProblemName: 0,
    tree.Declaration: 1,
    tree.Let: 1,
    tree.Objective: 2,
    tree.SubjectTo: 2,
    tree.Solve: 3,
}


def format_program(program: tree.Program) -> str:
    """The program's text in canonical form. A program that was never text gets blank lines between its parts."""
    return _Writer(program).text()


def format_source(text: str | bytes, name: str = "<text>") -> tuple[str, tuple[Diagnostic, ...]]:
    """The text in canonical form and its warnings. Where the text has errors it is returned unchanged, with them.

    Where formatting would change what the program says, which is a bug of fwdsl, the error is FW9101.
    """
    program, found = parse(text, name)
    if has_errors(found):
        return program.source.text, found
    formatted = format_program(program)
    again, problems = parse(formatted, name)
    if problems or not _same(program, again):
        return program.source.text, (
            Diagnostic(
                "FW9101",
                "formatting would have changed what this program says",
                Span(0, 0),
                program.source,
                rule="Formatting keeps every statement and every comment.",
                hint="the file is left as it was; please report this with the file",
            ),
        )
    return formatted, found


def _same(a: tree.Program, b: tree.Program) -> bool:
    def statements(program: tree.Program) -> list[tree.Node]:
        return [s for s in program.statements if not isinstance(s, tree.Version)]

    def comments(program: tree.Program) -> list[str]:
        return sorted(comment.text for comment in program.comments)

    return _equal(statements(a), statements(b)) and comments(a) == comments(b)


def _equal(a: Sequence[object], b: Sequence[object]) -> bool:
    """True if two sequences of nodes are equal, without recursion."""
    todo: list[tuple[object, object]] = [(a, b)]
    while todo:
        x, y = todo.pop()
        if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)) and len(x) == len(y):
            todo += zip(x, y, strict=True)
        elif isinstance(x, tree.Node) and type(x) is type(y):
            todo += ((getattr(x, name), getattr(y, name)) for name in names_of(type(x), compared=True))
        elif x != y:
            return False
    return True


@dataclass
class _Notes:
    """The comments of one statement."""

    pieces: tuple[tree.Node, ...]
    head: list[str] = field(default_factory=list)  # between the keyword and the first piece
    over: list[list[str]] = field(default_factory=list)  # above each piece
    behind: list[list[str]] = field(default_factory=list)  # behind each piece, in the end at most one

    def __post_init__(self) -> None:
        self.over = [[] for _ in self.pieces]
        self.behind = [[] for _ in self.pieces]

    @property
    def inside(self) -> bool:
        """True if comments force a line for each piece of the statement."""
        return bool(self.head or any(self.over) or any(self.behind[:-1]))

    @property
    def tail(self) -> str:
        """The comment behind the last piece, as written behind the code."""
        return self.after(-1)

    def after(self, i: int) -> str:
        """The comment behind piece `i`, as written behind the code."""
        return "".join("  " + text for text in self.behind[i])

    def hoisted(self) -> list[str]:
        """Remove and return the comments between the keyword and the first piece."""
        up = [*self.head, *self.over[0]]
        self.head, self.over[0] = [], []
        return up


@dataclass(frozen=True)
class _Lines:
    """Lines to write, with the first and the last line of the source that they come from.

    In a program that was never text, the number of its part takes the place of the lines.
    """

    lines: list[str]
    first: int
    last: int


class _Writer:
    def __init__(self, program: tree.Program) -> None:
        self.program = program
        self.printer = Printer()
        self.written = bool(program.source.text)  # whether spans mean anything

    def text(self) -> str:
        entries = self._entries()
        if not any(isinstance(s, tree.Version) for s in self.program.statements):
            named = bool(self.program.statements) and isinstance(self.program.statements[0], tree.ProblemName)
            next_to = entries[0].first if entries else 0
            # A program's name stands right under its version, everything else after a blank line.
            at = next_to - 1 if named and not (self.written and self.program.comments) else next_to - 2
            entries.insert(0, _Lines(["fw 1"], at, at))
        lines: list[str] = []
        for before, entry in zip([None, *entries], entries, strict=False):
            if before is not None and entry.first - before.last > 1:
                lines.append("")
            lines += entry.lines
        return "\n".join(lines) + "\n"

    def _entries(self) -> list[_Lines]:
        entries = []
        waiting = list(reversed(self.program.comments))
        for statement in self.program.statements:
            while waiting and waiting[-1].span.start < statement.span.start:
                entries.append(self._comment(waiting.pop()))
            notes = self._notes(statement, waiting)
            lines = self._statement(statement, notes)
            if self.written:
                entries.append(_Lines(lines, self._line(statement.span.start), self._line(statement.span.end)))
            else:
                part = 2 * _PARTS[type(statement)]
                entries.append(_Lines(lines, part, part))
        entries += [self._comment(comment) for comment in reversed(waiting)]
        return entries

    def _comment(self, comment: tree.Comment) -> _Lines:
        line = self._line(comment.span.start)
        return _Lines([comment.text], line, line)

    def _line(self, offset: int) -> int:
        return self.program.source.position(offset)[0]

    def _notes(self, statement: tree.Statement, waiting: list[tree.Comment]) -> _Notes:
        """Take the statement's comments from `waiting`, which has the next comment last."""
        notes = _Notes(_pieces(statement))
        starts = [piece.span.start for piece in notes.pieces]
        while waiting:
            comment = waiting[-1]
            start = comment.span.start
            if start > statement.span.end and (comment.own_line or self._line(start) != self._line(statement.span.end)):
                break
            waiting.pop()
            at = bisect_right(starts, start) - 1
            if not comment.own_line:
                (notes.behind[at] if at >= 0 else notes.head).append(comment.text)
            elif at >= 0 and start < notes.pieces[at].span.end:
                notes.over[at].append(comment.text)
            else:
                notes.over[at + 1].append(comment.text)
        for over, behind in zip(notes.over, notes.behind, strict=True):
            over += behind[:-1]
            del behind[:-1]
        if len(notes.head) > 1:
            notes.over[0][:0] = notes.head[:-1]
            del notes.head[:-1]
        return notes

    # --- statements

    def _statement(self, statement: tree.Statement, notes: _Notes) -> list[str]:
        match statement:
            case tree.Version(number=number):
                return [*notes.hoisted(), f"fw {self.printer.flat(number)}{notes.tail}"]
            case tree.ProblemName(name=name):
                return [*notes.hoisted(), f"problem {name.name}{notes.tail}"]
            case tree.Declaration(kind=kind):
                return self._row(kind, notes)
            case tree.Solve():
                return self._row("solve", notes)
            case tree.Let(name=name, value=value):
                return self._valued(f"let {name.name} =", value, notes)
            case tree.Objective(sense=sense, value=value):
                return self._valued(sense, value, notes)
            case tree.SubjectTo():
                return self._list(notes)

    def _row(self, keyword: str, notes: _Notes) -> list[str]:
        """The pieces behind a keyword, on its line or below each other."""
        above = notes.hoisted()
        flat = f"{keyword} " + ", ".join(self._piece(piece) for piece in notes.pieces)
        if not notes.inside and len(flat) <= WIDTH:
            return [*above, flat + notes.tail]
        column = len(keyword) + 1
        lines = above
        for i, piece in enumerate(notes.pieces):
            last = i == len(notes.pieces) - 1
            indent = column if len(notes.pieces) > 1 else 0
            text = self._piece(piece, column, indent, 0 if last else 1) + ("" if last else ",") + notes.after(i)
            lines += [" " * column + comment for comment in notes.over[i]]
            lines.append((" " * column if i else f"{keyword} ") + text)
        return lines

    def _valued(self, head: str, value: tree.Expr, notes: _Notes) -> list[str]:
        """A keyword and an expression, on one line, or a sum with a line for each term."""
        flat = f"{head} {self.printer.flat(value)}"
        if not notes.inside and len(flat) <= WIDTH:
            return [flat + notes.tail]
        if not notes.inside and not isinstance(value, tree.Sum):
            return [f"{head} {self.printer.broken(value, len(head) + 1, 0)}{notes.tail}"]
        lines = [head + "".join("  " + text for text in notes.head)]
        for i, piece in enumerate(notes.pieces):
            lines += [" " * STEP + comment for comment in notes.over[i]]
            if isinstance(value, tree.Sum):
                text = self.printer.term(value.terms[i], i, value.signs[i], STEP)
            else:
                text = self.printer.broken(piece, STEP, STEP)
            lines.append(" " * STEP + text + notes.after(i))
        return lines

    def _list(self, notes: _Notes) -> list[str]:
        """`subject to` with its only constraint, or with a line for each constraint."""
        if len(notes.pieces) == 1 and not notes.inside:
            flat = "subject to " + self._piece(notes.pieces[0])
            if len(flat) <= WIDTH:
                return [flat + notes.tail]
        lines = ["subject to" + "".join("  " + text for text in notes.head)]
        for i, piece in enumerate(notes.pieces):
            lines += [" " * STEP + comment for comment in notes.over[i]]
            lines.append(" " * STEP + self._piece(piece, STEP, STEP) + notes.after(i))
        return lines

    # --- pieces

    def _piece(self, piece: tree.Node, column: int | None = None, indent: int = 0, tail: int = 0) -> str:
        """An item, option or constraint, on one line or, if it does not fit, over several lines from `column` on."""
        parts: list[str | tree.Expr]
        match piece:
            case tree.Item(name=name, type=kind, member=member, source=source, value=value):
                parts = [f"{name.name}: {self.printer.flat(kind)}"]
                for word, expr in (("in", member), ("from", source), ("=", value)):
                    parts += [f" {word} ", expr] if expr is not None else []
            case tree.Keyword(name=name, value=value):
                parts = [f"{name.name} = ", value]
            case tree.NamedRelation(relation=relation, name=named):
                parts = [f"{named.name}: "] if named is not None else []
                if isinstance(relation, tree.Member):
                    parts += [relation.value, " in ", relation.set]
                else:
                    parts.append(relation.operands[0])
                    for op, operand in zip(relation.ops, relation.operands[1:], strict=True):
                        parts += [f" {op} ", operand]
            case _:
                raise TypeError(f"not a piece: {type(piece).__name__}")
        texts = [part if isinstance(part, str) else self.printer.flat(part) for part in parts]
        if column is not None and column + sum(map(len, texts)) + tail > WIDTH:
            # Only the longest expression is broken. A name with a type alone has none.
            expressions = [(i, part) for i, part in enumerate(parts) if not isinstance(part, str)]
            if expressions:
                at, longest = max(expressions, key=lambda found: len(texts[found[0]]))
                rest = sum(map(len, texts[at + 1 :]))
                before = column + sum(map(len, texts[:at]))
                texts[at] = self.printer.broken(longest, before, indent, rest + tail)
        return "".join(texts)


def _pieces(statement: tree.Statement) -> tuple[tree.Node, ...]:
    """The parts of a statement that can have comments of their own."""
    match statement:
        case tree.Declaration(items=items):
            return items
        case tree.SubjectTo(constraints=constraints):
            return constraints
        case tree.Solve(options=options):
            return options
        case tree.Let(value=value) | tree.Objective(value=value):
            return value.terms if isinstance(value, tree.Sum) else (value,)
        case tree.Version(number=number):
            return (number,)
        case tree.ProblemName(name=name):
            return (name,)
