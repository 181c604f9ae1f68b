"""Data classes whose constructor is written when it is first needed."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, fields, is_dataclass, replace
from typing import Any, ClassVar

import pytest

from fwdsl.light_dataclass import light_dataclass, light_state, value_dataclass


def made() -> tuple[type[Any], type[Any]]:
    """A class and one derived from it, of which no object was made yet."""

    @light_dataclass
    class Base:
        """Two numbers."""

        kinds: ClassVar[int] = 3
        a: int
        b: int = 2

        def __post_init__(self) -> None:
            self.__dict__["total"] = self.a + self.b

    @light_dataclass
    class Derived(Base):
        """A list besides."""

        more: list[int] = field(default_factory=list)

    return Base, Derived


def test_the_derived_class_may_be_the_first_one_used() -> None:
    base, derived = made()
    one = derived(1, more=[4])
    assert (one.a, one.b, one.more, one.total) == (1, 2, [4], 3)
    assert derived(5).more == [] and derived(5).more is not derived(5).more
    assert base(1, b=7).total == 8


@pytest.mark.parametrize("ask", [fields, is_dataclass, lambda cls: cls.__match_args__ if is_dataclass(cls) else None])
def test_the_fields_are_there_before_an_object_is(ask: Callable[[Any], object]) -> None:
    _, derived = made()
    assert ask(derived)
    assert [f.name for f in fields(derived)] == ["a", "b", "more"]


def test_an_object_made_without_the_constructor_can_be_replaced() -> None:
    base, _ = made()
    read = object.__new__(base)  # as pickle makes it
    read.__dict__.update(a=1, b=1, total=2)
    assert replace(read, a=4).total == 5
    assert copy.copy(read).a == 1


def test_a_subclass_that_adds_no_field_may_be_asked_first() -> None:
    base, _ = made()

    class Same(base):  # type: ignore[misc, valid-type]
        """The same fields."""

    assert [f.name for f in fields(Same)] == ["a", "b"]
    assert Same(1).total == 3


def test_fields_of_a_state_are_assigned_again() -> None:
    @light_state
    class Base:
        """A count."""

        steps: int

    @light_state
    class Walk(Base):
        """A list besides, and one that is filled later."""

        places: list[int] = field(default_factory=list)
        last: int = field(init=False)

    walk = Walk(0)
    walk.steps, walk.last = 1, 4
    assert (walk.steps, walk.last, walk.places) == (1, 4, []) and Walk(2, [1]).places == [1]
    assert copy.deepcopy(walk).last == 4


def test_wrong_arguments_are_refused() -> None:
    base, _ = made()
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        base()
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        base(1, c=2)


def test_a_definition_that_is_wrong_is_refused_each_time() -> None:
    class Named:
        @property
        def name(self) -> str:
            return ""

    @light_dataclass
    class Wrong(Named):
        """The property is taken for the default of the field, and the next one has none."""

        name: str  # type: ignore[assignment]
        size: int

    for _ in range(2):
        with pytest.raises(TypeError, match="non-default argument 'size' follows default argument"):
            Wrong("a", 2)


def test_threads_may_make_the_first_objects_at_once() -> None:
    for _ in range(20):
        _, derived = made()
        gate = threading.Barrier(8)

        def one(number: int, cls: type[Any] = derived, gate: threading.Barrier = gate) -> int:
            gate.wait()
            return int(cls(number, number).total)

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(one, range(8))) == [2 * n for n in range(8)]


def test_values_are_compared_hashed_and_shown_by_their_fields() -> None:
    @value_dataclass
    class Place:
        """A row, and how it is told."""

        row: int
        told: str = field(default="", compare=False)

    one, same = Place(1, "here"), Place(1, "there")
    assert one == same and hash(one) == hash(same) and one != Place(2)
    assert replace(one, row=2) == Place(2) and repr(same).endswith("Place(row=1, told='there')")
    assert copy.copy(one).told == "here" and not hasattr(one, "__dict__")
