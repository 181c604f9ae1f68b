"""The LALR driver: a stack of states and a stack of values over the tables. No recursion, at any depth of the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fwdsl.grammar.lexer import Token
from fwdsl.grammar.tables import Tables

Bound = tuple[int, str, Callable[[list[Any]], Any] | None]
"""A production: the number of symbols it takes, the symbol it makes, and what makes its value; None where that is the last symbol's."""


@dataclass(frozen=True)
class Stop:
    """The parse stopped at token `index`, which is the number of tokens at the line's end.

    `accepts` are the terminals that were expected there, with `$END` where the line could have ended.
    """

    index: int
    accepts: frozenset[str]


def run(tables: Tables, start: str, tokens: Sequence[Token], end: Token, rules: Sequence[Bound]) -> Any:
    """The value of the symbol `start` for the tokens, or a `Stop`; `rules` are those of the tables."""
    table, first = tables.states, tables.starts[start]
    states, values, state = [first], list[Any](), first
    # a line may have half a million tokens, so reducing and shifting stand here
    for index, token in enumerate((*tokens, end)):
        symbol = token.type
        target = table[state].get(symbol)
        while target is not None and target < 0:
            length, origin, action = rules[-1 - target]
            if action is not None:
                values[-length:] = [action(values[-length:])]
            elif length > 1:
                del values[1 - length :]
            state = table[states[-length - 1]][origin]
            states[-length:] = [state]
            target = table[state].get(symbol)
        if target is None:
            return _stop(tables, start, tokens, index)
        state = target
        states.append(state)
        values.append(token)
    return values[0]


def _stop(tables: Tables, start: str, tokens: Sequence[Token], index: int) -> Stop:
    # The refused token has caused reductions that hide alternatives, so the stack is built again without it.
    states = [tables.starts[start]]
    for token in tokens[:index]:
        _advance(tables, states, token.type)
    symbols = [s for s in tables.states[states[-1]] if s.isupper()]
    return Stop(index, frozenset(s for s in symbols if _advance(tables, states.copy(), s)))


def _advance(tables: Tables, states: list[int], symbol: str) -> bool:
    """Reduce, then shift a symbol, without values. False if it cannot be shifted."""
    while (target := tables.states[states[-1]].get(symbol)) is not None:
        if target >= 0:
            states.append(target)
            return True
        rule = tables.rules[-1 - target]
        del states[-rule.length :]
        states.append(tables.states[states[-1]][rule.origin])
    return False
