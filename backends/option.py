"""An option of a method: its default, its domain and its meaning."""

from __future__ import annotations

import math
import sys

from fwdsl.light_dataclass import light_dataclass

OptionValue = bool | int | float | str | None

AUTO = "auto"
"""The value of an option whose default the method works out from the problem."""


@light_dataclass
class Option:
    """An option of a method.

    A `default` of None is worked out from the problem, and a program may write `auto` for it; then `kind` says what else it may be.
    Numbers lie between `lower` and `upper`, ends excluded where `open_lower` or `open_upper` says so; text is one of `choices`.
    """

    default: OptionValue
    meaning: str
    kind: type | None = None
    choices: tuple[str, ...] = ()
    lower: float = -math.inf
    upper: float = math.inf
    open_lower: bool = False
    open_upper: bool = False

    @property
    def type(self) -> type:
        """bool, int, float or str."""
        if self.kind is not None:
            return self.kind
        assert self.default is not None, "an option that is worked out names its kind"
        return type(self.default)

    def accepts(self, value: object) -> bool:
        """True if the value lies in the domain; a whole number serves as a number, None as `auto`."""
        if self._left_open(value):
            return True
        if self.type is str:
            return isinstance(value, str) and value in self.choices
        if self.type is bool or isinstance(value, bool):
            return self.type is bool and isinstance(value, bool)
        if self.type is int and isinstance(value, float) and not value.is_integer():
            return False
        # a whole number may be too large for a float, which every option is small enough for
        if not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
            return False
        above = value > self.lower if self.open_lower else value >= self.lower
        below = value < self.upper if self.open_upper else value <= self.upper
        return above and below

    def take(self, value: object) -> OptionValue:
        """An accepted value as the method gets it: `auto` is None, numbers have the option's type."""
        if self._left_open(value):
            return None
        taken: OptionValue = self.type(value)
        return taken

    def _left_open(self, value: object) -> bool:
        return self.default is None and (value is None or (isinstance(value, str) and value == AUTO))

    def describe(self) -> str:
        """The domain in words: `a number above 0 and at most 1, or auto`."""
        if self.type is bool:
            words = "`true` or `false`"
        elif self.type is str:
            words = " or ".join(f'`"{choice}"`' for choice in self.choices)
        else:
            words = "a whole number" if self.type is int else "a number"
            ends = []
            if self.lower > -math.inf:
                ends.append(f"{'above' if self.open_lower else 'at least'} {self.lower:g}")
            if self.upper < math.inf:
                ends.append(f"{'below' if self.open_upper else 'at most'} {self.upper:g}")
            words += " " + " and ".join(ends) if ends else ""
        return f"{words}, or `auto`" if self.default is None else words

    def example(self) -> str:
        """A value that is accepted, as a program writes it."""
        if self.default is None:
            return AUTO
        if isinstance(self.default, bool):
            return str(self.default).lower()
        return f'"{self.default}"' if isinstance(self.default, str) else f"{self.default:g}"
