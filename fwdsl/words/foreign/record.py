"""The record of a name from elsewhere: whose it is, what to write here in its place, or why it is out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["", "integer", "complex", "quasi-convex", "geometric", "not convex", "steps", "no program"]
"""The kind of program that a name makes, where that kind is out; `steps` is what programs here do not take, `no program` no model of this kind."""

WHY: Mapping[Kind, str] = {
    "integer": "whole numbers make a set that is not convex, so that no duality gap could certify the answer; "
    "a relaxation is a variable between bounds, as `x in box(0, 1)`",
    "complex": "variables and data are real; a complex vector is two real ones, its real and its imaginary part, as rows of a matrix",
    "quasi-convex": "a sublevel set is convex for each level but the function is not, so it takes a search over levels, "
    "each of them a convex program; none is solved here as one program",
    "geometric": "a program in monomials and posynomials is convex only in the logarithms of its variables; "
    "write it in these: monomials become affine",
    "not convex": "it is neither convex nor concave, so that no duality gap could certify the answer",
    "steps": "a program states what is minimised and takes no steps: `fwdsl run` solves it, and Python reads the answer",
    "no program": "its fit minimises no convex function of coefficients, and fwdsl solves nothing else",
}
"""The reason why each kind is out, and what is there instead."""

Place = Literal["call", "value", "option"]
"""`call`: a function, a set, a type or an object, wherever its name stands; `value`: a name alone; `option`: one of `solve`."""

_CALLED = re.compile(r"\b([A-Za-z_]\w*)(?=\()|(?<=\bin )([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a way: bound to a name, perhaps of one shape, or a literal that has to stand there; perhaps by keyword."""

    name: str = ""
    shape: Literal["", "scalar", "vector", "matrix"] = ""
    literal: str = ""
    keyword: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """The text that is written for a call: `arguments` as in `x: vector, 1`, and `text`, in which their names stand for what was given."""

    arguments: str
    text: str

    @property
    def pattern(self) -> tuple[Argument, ...]:
        """The arguments that it is of, in order."""
        return tuple(_argument(part.strip()) for part in self.arguments.split(",") if part.strip())

    @property
    def words(self) -> frozenset[str]:
        """The words of the language that the text takes."""
        return frozenset(filter(None, (name for found in _CALLED.findall(self.text) for name in found)))


def _argument(text: str) -> Argument:
    keyword, _, rest = text.rpartition("=")
    name, _, shape = rest.partition(":")
    name, shape = name.strip(), shape.strip()
    bound = name.isidentifier() and name.lower() not in ("inf", "true", "false")
    return Argument(name if bound else "", shape, "" if bound else name, keyword.strip())  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Foreign:
    """A name of other systems (`of`). `ways` are calls that mean exactly something here; `told` is what else to say.

    `kind` names the kind of program it makes where that is out; `several` says that it could be any of several words here.
    """

    name: str
    of: tuple[str, ...]
    ways: tuple[Way, ...] = ()
    told: str = ""
    kind: Kind = ""
    several: bool = False
    place: Place = "call"
    #: The variable of one number that the ways take beside what was given.
    variable: str = ""

    @property
    def why(self) -> str:
        """The help of a message: what is written instead, or why it is out."""
        ways = " or ".join(f"`{w.text}`" for w in self.ways[:2])
        return (
            self.told
            or WHY.get(self.kind, "")
            or (f"with a variable `{self.variable}: real`: {ways}" if self.variable else ways)
        )


def instead(
    of: tuple[str, ...],
    name: str,
    ways: Mapping[str, str] | None = None,
    told: str = "",
    *,
    several: bool = False,
    place: Place = "call",
    variable: str = "",
) -> Foreign:
    """The record of a name that has something in its place here."""
    written = tuple(Way(a, t) for a, t in (ways or {}).items())
    return Foreign(name, of, written, told, several=several, place=place, variable=variable)


def out(of: tuple[str, ...], kind: Kind, names: str, told: str = "", place: Place = "call") -> list[Foreign]:
    """The records of names that make a program of a kind that is out; `told` in place of the kind's own reason."""
    return [Foreign(name, of, (), told, kind, place=place) for name in names.split()]


def alike(of: tuple[str, ...], names: str, told: str, place: Place = "call") -> list[Foreign]:
    """The records of names of which one sentence is true."""
    return [Foreign(name, of, (), told, place=place) for name in names.split()]
