"""`@light_dataclass` and `@light_state`: data classes that cost next to nothing to define. `@value_dataclass`: values that cost little to make."""

from __future__ import annotations

import threading
from dataclasses import Field, dataclass, field, fields, make_dataclass
from typing import Any, TypeVar, dataclass_transform

C = TypeVar("C")

_lock = threading.RLock()


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def light_dataclass(cls: type[C]) -> type[C]:
    """A data class without comparison, representation and checks at run time: an object equals itself alone, and it is the type checker that keeps
    its fields from being assigned again.

    For the classes that planning loads. `dataclass(frozen=True)` writes and compiles six methods a class, half a millisecond each time a process
    starts; this one writes the constructor alone, when the first object is made or somebody asks for the fields: most of the classes that a
    solve loads are never used. Classes that are compared, shown or derived from outside are others.
    """
    return _deferred(cls)


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def light_state(cls: type[C]) -> type[C]:
    """The same for objects whose fields are assigned again, as those of a method's state are."""
    return _deferred(cls)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_dataclass(cls: type[C]) -> type[C]:
    """A data class with slots that is compared, hashed and shown by its fields, which the type checker keeps from being assigned again.

    For what a text is read and checked into, hundreds of objects a program: `dataclass(frozen=True)` takes three times as long to make one.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)


def _deferred(cls: type[C]) -> type[C]:
    """The class, which is completed when its constructor or its fields are first asked for."""

    def completing(self: Any, *values: object, **named: object) -> None:
        _complete(cls)
        cls.__init__(self, *values, **named)  # the one that has taken this one's place

    cls.__init__ = completing  # type: ignore[method-assign]
    cls.__dataclass_fields__ = _Fields(cls)  # type: ignore[attr-defined]
    return cls


class _Fields:
    """Stands for the fields of a class until somebody asks for them, as `fields`, `replace` and the definition of a subclass do."""

    def __init__(self, owner: type) -> None:
        self.owner = owner

    def __get__(self, _: object, cls: type) -> dict[str, Field[Any]]:
        _complete(self.owner)  # `cls` may be a subclass that adds no field
        found: dict[str, Field[Any]] = cls.__dataclass_fields__  # type: ignore[attr-defined]
        return found


def _complete(cls: type) -> None:
    """Collect the fields, then put the constructor in place at once: another thread may be making an object."""
    with _lock:
        if isinstance(cls.__dict__["__dataclass_fields__"], _Fields):
            dataclass(init=False, eq=False, repr=False)(cls)
        if cls.__init__.__name__ != "completing":  # type: ignore[misc]
            return
        after = {"__post_init__": cls.__post_init__} if hasattr(cls, "__post_init__") else {}
        made = make_dataclass(
            cls.__name__, [(f.name, f.type, f) for f in fields(cls)], namespace=after, eq=False, repr=False
        )
        cls.__init__ = made.__init__  # type: ignore[misc]
