"""Writes expressions with as few brackets as the tree needs, on one line or, where that is too long, on several."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

from fwdsl.grammar import tree

WIDTH = 100
STEP = 4


def format_expr(expr: tree.Expr | tree.Slice | tree.Keyword | tree.TypeExpr) -> str:
    """An expression (or a part of one) on one line, as the formatter writes it."""
    return Printer().flat(expr)


def format_number(number: tree.Number) -> str:
    """A number as it was written or, if it was never text, in the shortest form that reads back the same."""
    if number.text:
        return number.text
    value = number.value
    if isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 1e16:
        return str(int(value))
    mantissa, _, exponent = repr(float(value)).partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def format_string(text: str) -> str:
    """A text in quotes, with escapes where they are needed."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(c, c if ord(c) >= 32 else f"\\u{ord(c):04x}") for c in text) + '"'


class Printer:
    """Prints the expressions of one program. Remembers the text of each node, so that nested ones are printed once."""

    def __init__(self) -> None:
        # by identity; the node is kept so that no other gets its identity
        self._flat: dict[int, tuple[tree.Node, str]] = {}

    # --- on one line

    def flat(self, node: tree.Node) -> str:
        """The text of a node on one line."""
        todo = [] if id(node) in self._flat else [node]
        while todo:  # children first, so that `_make` finds them and never recurses
            missing = [child for child in todo[-1].children() if id(child) not in self._flat]
            if missing:
                todo += missing
            else:
                ready = todo.pop()
                self._flat[id(ready)] = (ready, self._make(ready))
        return self._flat[id(node)][1]

    def _make(self, node: tree.Node) -> str:
        match node:
            case tree.Name(id=text) | tree.Ident(name=text):
                return text
            case tree.Number():
                return format_number(node)
            case tree.Boolean(value=value):
                return "true" if value else "false"
            case tree.String(value=text):
                return format_string(text)
            case tree.Neg(operand=operand):
                return "-" + self._bracketed(operand, isinstance(operand, tree.Sum) or _negative(operand))
            case tree.Sum():
                first, *rest = self.terms(node)
                return " ".join([first, *rest])
            case tree.Product(factors=factors, ops=ops):
                text = self._factor(factors[0], 0)
                for i, (op, factor) in enumerate(zip(ops, factors[1:], strict=True)):
                    tight = op == "/" and _simple(factors[i]) and _simple(factor)
                    text += ("/" if tight else f" {op} ") + self._factor(factor, i + 1)
                return text
            case tree.Transpose(operand=operand):
                return self._bracketed(operand, _compound(operand)) + ".T"
            case tree.Index(base=base, items=items):
                return self._bracketed(base, _compound(base)) + "[" + self._list(items) + "]"
            case tree.Slice(start=start, stop=stop, step=step):
                ends = (self.flat(start) if start else "") + ":" + (self.flat(stop) if stop else "")
                return f"{ends}:{self.flat(step)}" if step else ends
            case tree.Call(func=func, args=args, keywords=keywords):
                return f"{func.name}({self._list((*args, *keywords))})"
            case tree.Keyword(name=name, value=value):
                return f"{name.name}={self.flat(value)}"
            case tree.List(items=items):
                return "[" + self._list(items) + "]"
            case tree.TypeExpr(name=name, dims=dims, of=of):
                text = name.name + (f"[{self._list(dims)}]" if dims else "")
                return text if of is None else f"{text} of {self.flat(of)}"
        raise TypeError(f"not an expression: {type(node).__name__}")

    def terms(self, node: tree.Sum) -> list[str]:
        """The terms of a sum, each with its sign as it stands: `a`, `+ b`, `- c`."""
        out = []
        for i, (term, sign) in enumerate(zip(node.terms, node.signs, strict=True)):
            out.append(_sign(i, sign) + self._bracketed(term, _term_needs(term)))
        return out

    def _factor(self, factor: tree.Expr, i: int) -> str:
        signs, bare = _bare(factor, i)
        return signs + self._bracketed(bare, _compound(bare))

    def _bracketed(self, node: tree.Node, needed: bool) -> str:
        return f"({self.flat(node)})" if needed else self.flat(node)

    def _list(self, nodes: Sequence[tree.Node]) -> str:
        return ", ".join(self.flat(node) for node in nodes)

    # --- on several lines

    def broken(self, node: tree.Node, column: int, indent: int, tail: int = 0, bracketed: bool = False) -> str:
        """The text of a node that starts at `column` on a line with this indent, broken where it does not fit.

        `tail` characters follow the text on its last line. Outside of brackets, lines break only behind an operator.
        """
        flat = self.flat(node)
        if column + len(flat) + tail <= WIDTH or indent > WIDTH // 2:  # so far to the right, breaking gains nothing
            return flat
        match node:
            case tree.Call(func=func, args=args, keywords=keywords) if args or keywords:
                return f"{func.name}(" + self._block((*args, *keywords), indent) + ")"
            case tree.List(items=items) if items:
                if all(isinstance(item, (tree.Number, tree.Neg, tree.Name)) for item in items):
                    return "[" + self._filled(items, indent) + "]"
                return "[" + self._block(items, indent) + "]"
            case tree.Keyword(name=name, value=value):
                head = f"{name.name}="
                return head + self.broken(value, column + len(head), indent, tail, bracketed)
            case tree.Sum():
                return self._sum(node, column, indent, tail, bracketed)
            case tree.Product(factors=factors):
                # Only the longest factor is broken.
                longest = max(range(len(factors)), key=lambda i: len(self.flat(factors[i])))
                parts = [self._factor(factor, i) for i, factor in enumerate(factors)]
                before = flat[: self._offset(node, longest)]
                after = flat[len(before) + len(parts[longest]) :]
                return before + self._enclosed(factors[longest], longest, column + len(before), indent, tail) + after
            case tree.Neg(operand=operand):
                needed = isinstance(operand, tree.Sum) or _negative(operand)
                return "-" + self._maybe_enclosed(operand, needed, column + 1, indent, tail)
            case tree.Transpose(operand=operand):
                return self._maybe_enclosed(operand, _compound(operand), column, indent, tail + 2) + ".T"
            case tree.Index(base=base, items=items):
                after = "[" + self._list(items) + "]"
                return self._maybe_enclosed(base, _compound(base), column, indent, tail + len(after)) + after
        return flat

    def term(self, term: tree.Expr, i: int, sign: int, column: int, tail: int = 0) -> str:
        """Term `i` of a sum with its sign, on a line of its own at `column`."""
        head = _sign(i, sign)
        return head + self._maybe_enclosed(term, _term_needs(term), column + len(head), column, tail)

    def _sum(self, node: tree.Sum, column: int, indent: int, tail: int, bracketed: bool) -> str:
        pad = "\n" + " " * indent
        if bracketed:
            each = zip(node.terms, node.signs, strict=True)
            return pad.join(self.term(term, i, sign, indent, tail) for i, (term, sign) in enumerate(each))
        pad += " " * STEP
        text = ""
        for i, (term, sign) in enumerate(zip(node.terms, node.signs, strict=True)):
            head = _sign(i, sign).strip()
            text += head if i == 0 else f" {head}{pad}"
            at = column if i == 0 else indent + STEP
            text += self._maybe_enclosed(term, _term_needs(term), at, indent + STEP, tail + 2)
        return text

    def _offset(self, node: tree.Product, index: int) -> int:
        """The position of factor `index` in the flat text."""
        if index == 0:
            return 0
        head = tree.Product(node.factors[: index + 1], node.ops[:index])
        return len(self._make(head)) - len(self._factor(node.factors[index], index))

    def _enclosed(self, factor: tree.Expr, i: int, column: int, indent: int, tail: int) -> str:
        signs, bare = _bare(factor, i)
        return signs + self._maybe_enclosed(bare, _compound(bare), column + len(signs), indent, tail)

    def _maybe_enclosed(self, node: tree.Node, needed: bool, column: int, indent: int, tail: int) -> str:
        if not needed:
            return self.broken(node, column, indent, tail)
        flat = f"({self.flat(node)})"
        return flat if column + len(flat) + tail <= WIDTH else "(" + self._block((node,), indent) + ")"

    def _block(self, nodes: Sequence[tree.Node], indent: int) -> str:
        """The text between two brackets, indented, with one node a line."""
        pad = "\n" + " " * (indent + STEP)
        lines = [self.broken(node, indent + STEP, indent + STEP, 1, bracketed=True) for node in nodes]
        return pad + ("," + pad).join(lines) + "\n" + " " * indent

    def _filled(self, nodes: Sequence[tree.Node], indent: int) -> str:
        """The text between two brackets, indented, with as many nodes a line as fit."""
        lines: list[str] = []
        for node in nodes:
            text = self.flat(node) + ","
            if lines and indent + STEP + len(lines[-1]) + 1 + len(text) <= WIDTH:
                lines[-1] += " " + text
            else:
                lines.append(text)
        pad = "\n" + " " * (indent + STEP)
        return pad + pad.join(lines)[:-1] + "\n" + " " * indent


def _bare(factor: tree.Expr, i: int) -> tuple[str, tree.Expr]:
    """The minus signs in front of a factor that is not the first, and the factor without them."""
    signs = ""
    while i and isinstance(factor, tree.Neg):
        signs, factor = signs + "-", factor.operand
    return signs, factor


def _sign(i: int, sign: int) -> str:
    if i == 0:
        return "" if sign > 0 else "-"
    return "+ " if sign > 0 else "- "


def _negative(node: tree.Node) -> bool:
    """True if a node is a number below zero, which only trees that were never text have."""
    return isinstance(node, tree.Number) and format_number(node).startswith("-")


def _compound(node: tree.Node) -> bool:
    return isinstance(node, (tree.Sum, tree.Product, tree.Neg)) or _negative(node)


def _term_needs(node: tree.Node) -> bool:
    return isinstance(node, (tree.Sum, tree.Neg)) or _negative(node)


def _simple(node: tree.Node) -> bool:
    return isinstance(node, (tree.Number, tree.Name)) and not _negative(node)
