"""`@light_dataclass`: a data class that costs little to define."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

C = TypeVar("C")


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def light_dataclass(cls: type[C]) -> type[C]:
    """A data class without comparison, representation and checks at run time: an object equals itself alone, and it is the type checker that keeps
    its fields from being assigned again.

    For the classes that planning loads: `dataclass(frozen=True)` writes and compiles six methods a class, half a millisecond each time a process
    starts; this one is a third of that. Classes that are compared, shown or derived from outside stay what they are.
    """
    return dataclass(eq=False, repr=False)(cls)
