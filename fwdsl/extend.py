"""Losses and sets from outside: what a class of them is made of, and how the language takes it. docs/extending.md builds one of each."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import fields
from importlib.util import find_spec
from keyword import iskeyword
from typing import Any, TypeVar

from . import words
from .atoms.base import Array, Face
from .atoms.conic import (
    Cone,
    Conic,
    ConicRow,
    ConicTriple,
    MatrixEntries,
    box_form,
    budget_form,
    by_entries,
    norm1_form,
    norm2_form,
    norm_inf_form,
    within_form,
)
from .atoms.conic import entries as matrix_entries
from .atoms.loss import Loss, first_parameter, no_kink
from .atoms.losses import LOSSES
from .atoms.matrices import maker
from .atoms.vectors import SETS
from .atoms.vectors.outside import VectorSet
from .check.program import forget_texts
from .grammar.tables import tables
from .words.base import Parameter
from .words.losses import LossWord, loss_word
from .words.set_word import SetWord, set_word

__all__ = [
    "Array",
    "Cone",
    "Conic",
    "ConicRow",
    "ConicTriple",
    "Face",
    "Loss",
    "LossWord",
    "MatrixEntries",
    "Parameter",
    "SetWord",
    "VectorSet",
    "box_form",
    "budget_form",
    "by_entries",
    "first_parameter",
    "loss_word",
    "matrix_entries",
    "no_kink",
    "norm1_form",
    "norm2_form",
    "norm_inf_form",
    "register",
    "set_word",
    "unregister",
    "within_form",
]

C = TypeVar("C", bound=type[Loss] | type[VectorSet])

_NUMBERS = tuple(name for name in words.NUMBERS if name != "seed")
_SHAPES = ("number", "bound", "entries", "columns")
_SETTABLE = ("elsewhere", "compact", "polyhedral", "permutable", "place")


def register(cls: C) -> C:
    """Make a loss or a set of your own a word of the language, in this process: in Python and in programs that it compiles.

    `cls` is a class of `fwdsl.extend.Loss` or `fwdsl.extend.VectorSet` with its record as `word`; it is returned, so that
    `register` can stand above a class. The same class may be registered again. `ValueError` for a name or a parameter
    that the language cannot take, `TypeError` for a class that lacks a fact or contradicts its record.
    """
    word = cls.__dict__.get("word") if isinstance(cls, type) else None
    if not (isinstance(cls, type) and issubclass(cls, Loss | VectorSet) and isinstance(word, LossWord | SetWord)):
        raise TypeError(
            "`fwdsl.register` takes a class of `fwdsl.extend.Loss` or `fwdsl.extend.VectorSet` with its record: "
            "`word = loss_word(...)` or `word = set_word(...)`"
        )
    name = word.name
    if (LOSSES.get(name) if isinstance(word, LossWord) else SETS.get(name)) is cls:
        return cls
    _check_name(name)
    _check_parameters(word)
    if issubclass(cls, Loss):
        assert isinstance(word, LossWord)
        words.LOSSES[name], LOSSES[name] = word, cls
    else:
        assert isinstance(word, SetWord)
        _check_set(cls, word)
        words.SETS[name], SETS[name] = word, cls
    maker.cache_clear()
    forget_texts()
    return cls


def unregister(name: str) -> None:
    """Take a word from outside back; `KeyError` where there is none of this name. Problems that are built already do not know it any more."""
    if (own := _from_outside(name)) is None:
        raise KeyError(f"`{name}` is no word that was registered")
    for registry in (words.LOSSES, LOSSES) if issubclass(own, Loss) else (words.SETS, SETS):
        del registry[name]
    maker.cache_clear()
    forget_texts()
    vars(sys.modules[__package__]).pop(name, None)


def _from_outside(name: str) -> type[Loss] | type[VectorSet] | None:
    """The registered class of a name; None for a word of ours."""
    cls: Any = LOSSES.get(name) or SETS.get(name)
    return (
        cls if cls is not None and "word" in cls.__dict__ and not cls.__module__.startswith(f"{__package__}.") else None
    )


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or iskeyword(name) or name in tables().keywords:
        raise ValueError(f"`{name}` cannot name a word: small letters, digits and `_`, and no keyword")
    if (own := _from_outside(name)) is not None:
        raise ValueError(
            f'`{name}` is {own.__module__}.{own.__qualname__} already: call `fwdsl.extend.unregister("{name}")` first'
        )
    kind = words.kind_of_word(name) or ("an option of `solve`" if name in words.SOLVE_OPTIONS else "")
    package = sys.modules[__package__]
    if kind or name in package.__all__ or find_spec(f"{__package__}.{name}") is not None:
        raise ValueError(f"`{name}` is {kind or f'fwdsl.{name}'} already: choose another name")


def _check_parameters(word: LossWord | SetWord) -> None:
    is_loss = isinstance(word, LossWord)
    parameters = word.options if isinstance(word, LossWord) else word.parameters
    names = [p.name for p in word.parameters]
    for p in parameters:
        where = f"the parameter `{p.name}` of `{word.name}`"
        if not p.name.isidentifier() or iskeyword(p.name) or p.name in tables().keywords or names.count(p.name) > 1:
            raise ValueError(f"{where} needs a name of its own that is no keyword")
        if p.name in ("groups", "weights", "set", "size"):
            raise ValueError(f"{where} has a name that means something else: choose another one")
        if p.domain not in _NUMBERS and (is_loss or p.domain != "value" or p.shape not in _SHAPES):
            raise ValueError(
                f"{where} needs a domain, one of {', '.join(_NUMBERS)}"
                + ("" if is_loss else f", or for data a shape, one of {', '.join(_SHAPES)}")
            )
        if is_loss and (p.default is None or isinstance(p.default, bool)):
            raise ValueError(f"{where} needs a default, a number")
        if not is_loss and (not p.required or (p.name == "r" and p.domain != "positive")):
            raise ValueError(f"{where} takes no default" if not p.required else f"{where} is a radius: it is positive")


def _check_set(cls: type[VectorSet], word: SetWord) -> None:
    plain = set_word(
        word.name,
        word.formula,
        *word.parameters,
        of="entrywise" if word.of == "entrywise" else "vector",
        permutable=word.permutable,
        ends=word.ends,
        total=word.total,
    )
    other = [
        f.name for f in fields(word) if f.name not in _SETTABLE and getattr(word, f.name) != getattr(plain, f.name)
    ]
    if other:
        raise TypeError(f"the record of `{word.name}` says what only ours may: {', '.join(other)}")
    _check_traits(word)
    if "__dataclass_fields__" not in cls.__dict__:
        raise TypeError(f"{cls.__name__} must be a dataclass: `@dataclass(frozen=True, eq=False)` above it")
    takes = list(inspect.signature(cls).parameters)
    wanted = ["size", *(p.name for p in word.parameters)]
    if takes != wanted:
        raise TypeError(f"{cls.__name__} is made of ({', '.join(takes)}), and its record says ({', '.join(wanted)})")
    needed = ("lmo",) if word.compact else ("dual_scale", "dual_project")
    missing = [name for name in needed if getattr(cls, name) is getattr(VectorSet, name)]
    if missing:
        what = "bounded" if word.compact else "not bounded"
        told = "".join(f"\n  {name}: {getattr(cls, name).__doc__}" for name in missing)
        raise TypeError(f"`{word.name}` is {what}, and {cls.__name__} lacks {', '.join(missing)}{told}")


def _check_traits(word: SetWord) -> None:
    """Refuse a record whose `total` or `ends` is not told by its parameters."""
    names = [p.name for p in word.parameters]
    if word.total and (names != ["r"] or not word.compact):
        raise ValueError(f"`{word.name}` bounds a total: it is bounded, and its one parameter is the radius `r`")
    unknown = [end for end in word.ends or () if isinstance(end, str) and end.removeprefix("-") not in names]
    if unknown:
        raise ValueError(f"the ends of `{word.name}` are numbers or its parameters, not `{unknown[0]}`")
