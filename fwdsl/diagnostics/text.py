"""Diagnostics as text: the message, its line with carets under the exact columns, the rule and the remedy.

error[FW2003]: `A @ w` multiplies d columns by k entries
 --> fit.fw:4:24
  |
2 | var w: vector[k]
  |               - `w` has k entries
  | ...
4 | minimize mean(squared(A @ w, b))
  |                       ^^^^^
  |
  = rule: the columns of a matrix are as many as the entries of the vector it multiplies.
  = help: declare `w: vector[d]`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from ..grammar.diagnostic import Diagnostic, Fix, Place
from ..grammar.source import Source, Span
from .excerpt import cut, printable
from .secrets import veiled

_LONGEST_TEXT = 1000  # a message quotes the user's names, which have any length
_LINES_OF_A_SPAN = 4
STYLES = {"error": "1;31", "warning": "1;33", "quiet": "34", "strong": "1", "good": "32"}


def render_text(
    diagnostics: Sequence[Diagnostic] | Diagnostic,
    *,
    width: int = 100,
    color: bool = False,
    unicode: bool = True,
) -> str:
    """The diagnostics as text, separated by empty lines, each ending with a newline; "" for none.

    Lines of the program are cut to `width` columns (at least 40). With `unicode=False` the text is plain ASCII.
    """
    found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else diagnostics
    return "\n".join("\n".join(_Rendering(d, max(width, 40), color, unicode).lines()) + "\n" for d in found)


def counted(diagnostics: Sequence[Diagnostic]) -> str:
    """The number of errors and of warnings: `2 errors, 1 warning`."""
    errors = sum(d.severity == "error" for d in diagnostics)
    numbers = ((errors, "error"), (len(diagnostics) - errors, "warning"))
    return ", ".join(f"{n} {word}{'s' if n > 1 else ''}" for n, word in numbers if n)


@dataclass(frozen=True)
class _Mark:
    """Code points `[start, end)` of one line (from 0) to underline, followed by words."""

    line: int
    start: int
    end: int
    text: str
    primary: bool


@dataclass(frozen=True)
class _Rendering:
    diagnostic: Diagnostic
    width: int
    color: bool
    unicode: bool

    def lines(self) -> Iterator[str]:
        d = self.diagnostic
        head = self._paint(f"{d.severity}[{d.code}]", d.severity)
        yield head + self._paint(": " + self._clean(d.message), "strong")
        marks = self._marks()
        fixed = self._fixed_lines(d.fix)
        shown = [mark.line for mark in marks] + [number for number, _, _, _ in fixed]
        digits = len(str(max(shown))) if shown else 1
        gutter = digits * " "
        arrow = self._paint(f"{gutter}-->", "quiet")
        if d.place is not None:
            yield f"{arrow} {self._place(d.place)}"
            arrow = self._paint(f"{gutter}:::", "quiet")
        if d.source is not None and d.span is not None:
            line, column = d.source.position(d.span.start)
            yield f"{arrow} {self._clean(d.source.name)}:{line}:{column}"
        if marks:
            yield self._bar(gutter)
            yield from self._marked_lines(d.source, marks, digits)
        notes = [*self._notes(gutter)]
        if marks and notes:
            yield self._bar(gutter)
        yield from notes
        if fixed:
            yield self._bar(gutter)
        for number, text, start, end in fixed:
            yield from self._line(text, number, digits, [_Mark(number, start, end, "", False)], "+", "good")

    # --- the program's lines ---------------------------------------------------------------------------------------

    def _marks(self) -> list[_Mark]:
        """The marks in the order of the lines, the primary span first in its line."""
        d = self.diagnostic
        if d.source is None:
            return []
        marks = [] if d.span is None else [*_marks_of(d.source, d.span, d.label, True)]
        for label in d.labels:
            marks += _marks_of(d.source, label.span, label.text, False)
        return sorted(marks, key=lambda mark: (mark.line, not mark.primary, mark.start))

    def _marked_lines(self, source: Source | None, marks: list[_Mark], digits: int) -> Iterator[str]:
        assert source is not None
        previous = marks[0].line
        for number in dict.fromkeys(mark.line for mark in marks):
            if number > previous + 1:
                yield f"{self._bar(digits * ' ')} {'…' if self.unicode else '...'}"
            here = [mark for mark in marks if mark.line == number]
            style = self.diagnostic.severity
            yield from self._line(source.line(number), number, digits, here, "^", style)
            previous = number

    def _line(self, text: str, number: int, digits: int, marks: list[_Mark], sign: str, style: str) -> Iterator[str]:
        """A line with a row for each mark. The line is repeated, cut elsewhere, for marks that the first piece does not show."""
        text, room = veiled(text), self.width - digits - 3
        while marks:
            excerpt = cut(text, marks[0].start, marks[0].end, room, self.unicode)
            yield f"{self._bar(f'{number:>{digits}}')} {excerpt.text}".rstrip()
            here = [m for m in marks if m is marks[0] or excerpt.shows(m.start, m.end)]
            marks = [m for m in marks if m not in here]
            for mark in here:
                if sign == "+" and mark.start == mark.end:
                    continue
                left, right = excerpt.marked(mark.start, mark.end)
                under = (sign if mark.primary or sign == "+" else "-") * (right - left)
                words = self._clean(mark.text)
                bar, tone = self._bar(digits * " "), style if mark.primary or sign == "+" else "quiet"
                if right + 1 + len(words) <= room or not words:
                    yield f"{bar} {left * ' '}{self._paint(f'{under} {words}'.rstrip(), tone)}"
                    continue
                yield f"{bar} {left * ' '}{self._paint(under, tone)}"
                indent = min(left, max(room - 50, 0))
                for row in wrap(words, room - indent, break_long_words=False, break_on_hyphens=False):
                    yield f"{bar} {indent * ' '}{self._paint(row, tone)}"

    def _fixed_lines(self, fix: Fix | None) -> list[tuple[int, str, int, int]]:
        """The lines after the fix: number, text, and the range of new code points."""
        source = self.diagnostic.source
        if fix is None or source is None:
            return []
        first, column = source.position(fix.span.start)
        last, end = source.position(fix.span.end)
        before, after = source.line(first)[: column - 1], source.line(last)[end - 1 :]
        rows = fix.replacement.split("\n")
        result = []
        for i, row in enumerate(rows[:_LINES_OF_A_SPAN]):
            start = len(before) if i == 0 else 0
            text = (before if i == 0 else "") + row + (after if i == len(rows) - 1 else "")
            result.append((first + i, text, start, start + len(row)))
        return result

    # --- words -----------------------------------------------------------------------------------------------------

    def _notes(self, gutter: str) -> Iterator[str]:
        d = self.diagnostic
        if d.rule:
            yield from self._note(gutter, "rule", d.rule)
        remedy = d.hint or (d.fix.description if d.fix else "")
        if remedy:
            yield from self._note(gutter, "help", remedy)
        if d.fix and d.hint and not _says(d.hint, d.fix):
            yield from self._note(gutter, "fix", d.fix.description)

    def _note(self, gutter: str, word: str, text: str) -> Iterator[str]:
        lead = f"{gutter} = {word}: "
        rows = wrap(self._clean(text), self.width - len(lead), break_long_words=False, break_on_hyphens=False) or [""]
        yield f"{self._paint(f'{gutter} =', 'quiet')} {self._paint(f'{word}:', 'strong')} {rows[0]}"
        for row in rows[1:]:
            yield len(lead) * " " + row

    def _place(self, place: Place) -> str:
        parts = [place.file]
        if place.key is not None:
            parts.append(f"key `{place.key}`")
        if place.row is not None:
            parts.append(f"row {place.row}")
        if place.column is not None:
            parts.append(f"column {place.column}")
        where = ", ".join(parts)
        return self._clean(where if not place.value else f"{where}: `{place.value}`")

    def _bar(self, gutter: str) -> str:
        return self._paint(f"{gutter} |", "quiet")

    def _clean(self, text: str) -> str:
        if len(text) > _LONGEST_TEXT:
            text = text[: _LONGEST_TEXT // 2] + " ... " + text[-_LONGEST_TEXT // 4 :]
        return printable(text, self.unicode)

    def _paint(self, text: str, style: str) -> str:
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.color and text else text


def _says(hint: str, fix: Fix) -> bool:
    """True if the hint already shows the fix."""
    return not fix.description or fix.description in hint or f"`{fix.replacement}`" in hint


def _marks_of(source: Source, span: Span, text: str, primary: bool) -> Iterator[_Mark]:
    """A mark for each line of a span, or for the first and last line of a long span. The last mark has the words."""
    first, column = source.position(span.start)
    last, end = source.position(span.end)
    if end == 1 and last > first:  # the span ends with a line's end
        last -= 1
        end = len(source.line(last)) + 1
    numbers = range(first, last + 1)
    if len(numbers) > _LINES_OF_A_SPAN:
        numbers = range(first, last + 1, last - first)
    for number in numbers:
        line = source.line(number)
        start = column - 1 if number == first else len(line) - len(line.lstrip())
        stop = end - 1 if number == last else len(line)
        if start < stop or number in (first, last):
            yield _Mark(number, min(start, len(line)), min(stop, len(line)), text if number == last else "", primary)
