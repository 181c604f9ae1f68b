"""Checks the options of a solve from Python, and merges them with those of the program."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Literal

from ..errors import misuse
from ..model import Model, once_per_model
from ..model.options import Options
from ..words import SOLVE_OPTIONS
from ..words.options import bytes_of

_NAMES = tuple(SOLVE_OPTIONS)

_EXPECTED = {
    "tol": "a number above 0",
    "gap": '"relative" or "absolute"',
    "method": "the name of a method, `NAME(option=value)`, or several names to choose from",
    "max_iter": "a whole number from 0",
    "time": "seconds, a number from 0",
    "seed": "a whole number from 0",
    "threads": "a whole number from 0 (0: one a core)",
    "device": " or ".join(f'"{name}"' for name in SOLVE_OPTIONS["device"].choices),
    "memory": 'a size such as "2GB" or "500 MiB", or a number of bytes',
}


def resolve_options(model: Model, **option_values: object) -> Options:
    """The program's `solve` options, overridden by the given ones that are not None. Unknown options belong to the named method.

    Raises `BuildError` for a value that an option cannot have, and for an unknown option where no method is named.
    """
    options = _declared(model)
    known = {name: value for name, value in option_values.items() if value is not None and name in _NAMES}
    extra = {name: _plain(value) for name, value in option_values.items() if name not in _NAMES}
    for name, value in known.items():
        if not _fits(name, value):
            raise misuse(
                "FW0310", f"{name}={value!r} is not what the option takes", rule=f"`{name}` takes {_EXPECTED[name]}."
            )
    if "memory" in known:
        known["memory"] = bytes_of(known["memory"])
    if "method" in known:
        known |= _method(known["method"])
    options = replace(options, **known) if known else options  # type: ignore[arg-type]
    if extra and options.method == "auto":
        name = next(iter(extra))
        close = get_close_matches(name, _NAMES, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}=?" if close else "options of a method are given together with method="
        raise misuse("FW0310", f"solve has no option {name!r}", rule=f"The options are {', '.join(_NAMES)}.", hint=hint)
    return replace(options, method_options={**options.method_options, **extra}) if extra else options


def swept(model: Model, by_name: Mapping[str, object]) -> tuple[str, tuple[float, ...]]:
    """The one swept parameter among the arguments of `path`, and its values. Raises `BuildError` FW0313 where there is not exactly one."""
    params = [p.name for p in model.params]
    names = [n for n in by_name if n in params]
    if len(names) == 1:
        return names[0], swept_values(model, {names[0]: by_name[names[0]]}, "path")[names[0]]
    unknown = [n for n in by_name if n not in params and n not in _NAMES]
    close = get_close_matches(unknown[0], params, n=1) if unknown else []
    hint = (
        f"did you mean {close[0]}=?"
        if close
        else f"write problem.path({params[0] if params else 'delta'}=[0.1, 1, 10])"
    )
    if len(names) > 1:
        hint = f"write problem.grid({{{', '.join(f'{n!r}: [...]' for n in names)}}})"
    found = "is given no parameter" if not names else f"is given {len(names)} parameters: {', '.join(names)}"
    raise misuse("FW0313", f"path {found}", rule=_rule(model, "path"), hint=hint)


def swept_values(model: Model, values: object, call: Literal["path", "grid"] = "grid") -> dict[str, tuple[float, ...]]:
    """The values of each parameter of a grid. Raises `BuildError` FW0313 where a name is no parameter, or has no list of numbers."""
    params, rule = [p.name for p in model.params], _rule(model, call)
    if not isinstance(values, Mapping) or not values:
        hint = f'write problem.grid({{"{params[0] if params else "delta"}": [0.1, 1, 10]}})'
        raise misuse("FW0313", "grid is given no parameter", rule=rule, hint=hint)
    for name in values:
        if name not in params:
            close = get_close_matches(str(name), params, n=1)
            hint = (
                f"did you mean {close[0]!r}?" if close else "a grid is over parameters; other names are given to bind"
            )
            raise misuse("FW0313", f"{name!r} is no parameter of the program", rule=rule, hint=hint)
    return {name: _numbers(name, value, rule) for name, value in values.items()}


FOLDS = "`folds` takes a whole number from 2, or a list of pairs: rows to fit to, and rows that are left out."


def require_folds(folds: Any, score: object) -> Any:
    """Folds, a number of NumPy's as one of Python's. Raises `BuildError` FW0310 unless they are given by their number or as pairs of rows, beside the
    name of a score."""
    is_number = isinstance(folds, numbers.Integral) and not isinstance(folds, bool)
    are_pairs = isinstance(folds, list | tuple) and folds and all(hasattr(p, "__len__") and len(p) == 2 for p in folds)
    if not is_number and not are_pairs:
        hint = (
            "write folds=list(splitter.split(X))" if hasattr(folds, "split") and hasattr(folds, "get_n_splits") else ""
        )
        raise misuse("FW0310", f"folds={folds!r} is not what the option takes", rule=FOLDS, hint=hint)
    if score not in ("loss", "error"):
        rule = '`score` takes "loss" or "error".'
        raise misuse("FW0310", f"score={score!r} is not what the option takes", rule=rule)
    return int(folds) if is_number else folds


def _rule(model: Model, call: Literal["path", "grid"]) -> str:
    listed = ", ".join(f"`{p.name}`" for p in model.params) or "none"
    over = {"path": "A path goes along the values of one parameter", "grid": "A grid is over values of parameters"}
    return f"{over[call]}; the program has {listed}."


def _numbers(name: str, value: object, rule: str) -> tuple[float, ...]:
    values = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else ()
    if not values or not all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in values):
        raise misuse("FW0313", f"{name}={value!r} is no list of numbers", rule=rule, hint=f"write {name}=[0.1, 1, 10]")
    return tuple(float(v) for v in values)


@once_per_model
def _declared(model: Model) -> Options:
    """The program's options. A method with options is a pair in the model."""
    declared: dict[str, Any] = dict(model.options)
    method = declared.get("method")
    if isinstance(method, tuple):
        declared["method"], declared["method_options"] = method[0], dict(method[1])
    return Options(**declared)


def _method(method: Any) -> dict[str, object]:
    """The options that a method, with its own in brackets or without, or several to choose from, stand for."""
    names, own = _named(method) if isinstance(method, str) else (tuple(dict.fromkeys(method)), {})
    one = len(names) == 1
    return {"method": names[0] if one else "auto", "method_options": own, "among": () if one else names}


def _named(text: str) -> tuple[tuple[str, ...], dict[str, object]]:
    """The methods that a text names, as on the command line, and the options in the brackets of one; no names where it is none."""
    if text.isidentifier():
        return (text,), {}
    from .options import method_list, method_option

    one = method_option(text)
    return ((one[0],), one[1]) if one else (method_list(text) or (), {})


def _plain(value: object) -> object:
    """A NumPy number or truth value as a Python one, which methods expect."""
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    if isinstance(value, bool | int | float) or not isinstance(value, numbers.Real):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _is_name(value: object, several: bool) -> bool:
    """True if it may name a method; `auto` is none of several."""
    return isinstance(value, str) and value.isidentifier() and not (several and value == "auto")


def _fits(name: str, value: object) -> bool:
    if SOLVE_OPTIONS[name].choices:
        return isinstance(value, str) and value in SOLVE_OPTIONS[name].choices
    if name == "memory":
        return isinstance(value, str | int) and bytes_of(value) is not None
    if name == "method":
        names = _named(value)[0] if isinstance(value, str) else value
        several = not isinstance(value, str)
        return isinstance(names, list | tuple) and bool(names) and all(_is_name(n, several) for n in names)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    if name in ("max_iter", "seed", "threads"):
        return isinstance(value, numbers.Integral) and int(value) >= 0
    try:
        number = float(value)
    except OverflowError:
        return False
    return number > 0.0 if name == "tol" else number >= 0.0
