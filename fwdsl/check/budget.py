"""Limits how large an expression is once every `let` is written out, since a short text can stand for exponentially many operations."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model import Expr
from .values import Combination, Value

OPERATIONS_AT_MOST = 1_000_000
DEPTH_AT_MOST = 200


@dataclass
class ExpressionLimits:
    """The sizes and depths of expressions, each measured once. It keeps the expressions alive, since their identities are its keys."""

    measured: dict[int, tuple[int, int, Expr]] = field(default_factory=dict)

    def allows(self, value: Value) -> bool:
        """True if a value is within the limits."""
        total = 0
        for expr in _parts(value):
            size, depth = self._measure(expr)
            total += size
            if total > OPERATIONS_AT_MOST or depth > DEPTH_AT_MOST:
                return False
        return True

    def _measure(self, expr: Expr) -> tuple[int, int]:
        stack = [expr]
        while stack:
            node = stack[-1]
            if id(node) in self.measured:
                stack.pop()
                continue
            inner = _inside(node)
            waiting = [a for a in inner if id(a) not in self.measured]
            if waiting:
                stack.extend(waiting)
                continue
            size, depth = 1, 1
            for a in inner:
                own, deep, _ = self.measured[id(a)]
                size, depth = size + own, max(depth, 1 + deep)
            self.measured[id(node)] = (size, depth, node)
            stack.pop()
        size, depth, _ = self.measured[id(expr)]
        return size, depth


def _inside(expr: Expr) -> tuple[Expr, ...]:
    return (*expr.args, *(e for _, e in expr.options)) if expr.options else expr.args


def _parts(value: Value) -> list[Expr]:
    if isinstance(value, Expr):
        return [value]
    out: list[Expr] = []
    assert isinstance(value, Combination)
    for s in value.summands:
        out.append(s.coefficient)
        if isinstance(s.body, Expr):
            out.append(s.body)
        else:
            out.extend(e for e in (s.body.argument, s.body.target, s.body.weights) if e is not None)
    return out
