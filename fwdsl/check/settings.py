"""Checks the options of a solve from Python, and merges them with those of the program."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Any

from ..errors import misuse
from ..model import Model, once_per_model
from ..model.options import Options

_NAMES = tuple(f.name for f in fields(Options) if f.name != "method_options")

_EXPECTED = {
    "tol": "a number above 0",
    "gap": '"relative" or "absolute"',
    "method": "the name of a method",
    "max_iter": "a whole number from 0",
    "time": "seconds, a number from 0",
    "seed": "a whole number from 0",
    "threads": "a whole number from 0 (0: one a core)",
}


def resolve_options(model: Model, **given: object) -> Options:
    """The program's `solve` options, overridden by the given ones that are not None. Unknown options belong to the named method.

    Raises `BuildError` for a value that an option cannot have, and for an unknown option where no method is named.
    """
    options = _declared(model)
    known = {name: value for name, value in given.items() if name in _NAMES and value is not None}
    extra = {name: _plain(value) for name, value in given.items() if name not in _NAMES}
    for name, value in known.items():
        if not _fits(name, value):
            raise misuse(
                "FW0310", f"{name}={value!r} is not what the option takes", rule=f"`{name}` takes {_EXPECTED[name]}."
            )
    if "method" in known:
        known["method_options"] = {}
    options = replace(options, **known) if known else options  # type: ignore[arg-type]
    if extra and options.method == "auto":
        name = next(iter(extra))
        close = get_close_matches(name, _NAMES, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}=?" if close else "options of a method are given together with method="
        raise misuse("FW0310", f"solve has no option {name!r}", rule=f"The options are {', '.join(_NAMES)}.", hint=hint)
    return replace(options, method_options={**options.method_options, **extra}) if extra else options


def swept(model: Model, given: Mapping[str, object]) -> tuple[str, tuple[float, ...]]:
    """The one swept parameter among the arguments of `path`, and its values. Raises `BuildError` FW0313 where there is not exactly one."""
    params = [p.name for p in model.params]
    names = [n for n in given if n in params]
    listed = ", ".join(f"`{n}`" for n in params) or "none"
    rule = f"A path goes along the values of one parameter; the program has {listed}."
    if len(names) != 1:
        unknown = [n for n in given if n not in params and n not in _NAMES]
        close = get_close_matches(unknown[0], params, n=1) if unknown else []
        hint = (
            f"did you mean {close[0]}=?"
            if close
            else f"write problem.path({params[0] if params else 'delta'}=[0.1, 1, 10])"
        )
        found = "is given no parameter" if not names else f"is given {len(names)} parameters: {', '.join(names)}"
        raise misuse("FW0313", f"path {found}", rule=rule, hint=hint)
    (name,) = names
    value = given[name]
    values = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else ()
    if not values or not all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in values):
        raise misuse("FW0313", f"{name}={value!r} is no list of numbers", rule=rule, hint=f"write {name}=[0.1, 1, 10]")
    return name, tuple(float(v) for v in values)


@once_per_model
def _declared(model: Model) -> Options:
    """The program's options. A method with options is a pair in the model."""
    declared: dict[str, Any] = dict(model.options)
    method = declared.get("method")
    if isinstance(method, tuple):
        declared["method"], declared["method_options"] = method[0], dict(method[1])
    return Options(**declared)


def _plain(value: object) -> object:
    """A NumPy number or truth value as a Python one, which methods expect."""
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    if isinstance(value, bool | int | float) or not isinstance(value, numbers.Real):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _fits(name: str, value: object) -> bool:
    if name == "gap":
        return isinstance(value, str) and value in ("relative", "absolute")
    if name == "method":
        return isinstance(value, str) and value.isidentifier()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    if name in ("max_iter", "seed", "threads"):
        return isinstance(value, numbers.Integral) and int(value) >= 0
    try:
        number = float(value)
    except OverflowError:
        return False
    return number > 0.0 if name == "tol" else number >= 0.0
