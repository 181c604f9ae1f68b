"""Random data of the types that a program declares: `fwdsl mock`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..check.describe import dimensions
from ..check.shapes import format_type
from ..grammar.diagnostic import Diagnostic
from ..light_dataclass import light_dataclass
from ..model import DataDecl, Model, ParamDecl, Type, evaluate_dim, sizes_of
from ..words import NUMBERS, SCALAR_TYPES

Array = np.ndarray[Any, Any]

LARGEST = 4_000_000_000
"""The bytes that all mocked data together may take."""

_OBSERVED = 0.1
_PLAIN_CLASSES = 3


@light_dataclass
class Mock:
    """Random values: arrays by name, observed entries as (rows, columns, values), and a value for each parameter without a default."""

    arrays: Mapping[str, Array]
    entries: Mapping[str, tuple[Array, Array, Array]]
    params: Mapping[str, float]
    dims: Mapping[str, int]


def mock(model: Model, dims: Mapping[str, int], seed: int = 0) -> tuple[Mock | None, tuple[Diagnostic, ...]]:
    """Random data for all that a program does not write out, or None with what is wrong with the sizes given.

    Numbers are standard normal, their absolute values where `nonnegative` is promised, from the largest to the smallest where a word needs
    them so; a `psd[d]` is G G' / d, a `symmetric[d]` (G + G') / 2; of labels and signs each value occurs, of an index the largest; a tenth of the
    entries of a matrix is observed, or `len(M)` of them. The same seed gives the same data.
    """
    sizes = {**_written_out(model), **dims}
    found = _missing(model, sizes)
    if found:
        return None, found
    drawn = [d for d in model.data if d.literal is None]
    found = tuple(f for d in drawn if (f := _too_few(d, sizes)) is not None)
    if found:
        return None, found
    total = sum(8 * _numbers(d, sizes) for d in drawn)
    if total > LARGEST:
        rule = f"Mocked data are made in memory, at most {LARGEST / 1e9:.0f} GB of them."
        message = f"data of these sizes take {total / 1e9:,.1f} GB"
        return None, (Diagnostic("FW0023", message, rule=rule, hint="give smaller sizes"),)
    rng = np.random.default_rng(seed)
    entries = {d.name: _entries(d, sizes, rng) for d in drawn if d.type.is_entries}
    arrays = {d.name: _array(d.type, sizes, rng) for d in drawn if not d.type.is_entries}
    arrays |= {name: np.sort(arrays[name])[::-1].copy() for name in _falling(model) if name in arrays}
    params = {p.name: _example(p) for p in model.params if p.default is None}
    shaped = {p.name: sizes_of(p.type, sizes) for p in model.params if p.name in params and not p.type.is_scalar}
    arrays |= {name: np.full(shape, params.pop(name)) for name, shape in shaped.items()}
    return Mock(arrays, entries, params, sizes), ()


def _example(decl: ParamDecl) -> float:
    """A number in the domain of a parameter."""
    value = NUMBERS[decl.type.domain].example
    if decl.bounds is not None:
        value = min(max(value, decl.bounds[0]), decl.bounds[1])
    return value


def _falling(model: Model) -> set[str]:
    """The names of data whose entries must not rise, as the lambdas of a sorted norm."""
    called = [(t.convex.parameters, t.options) for t in model.terms if t.convex is not None]
    called += [
        (s.word.parameters, s.args) for c in model.constraints for s in (c.set, c.set and c.set.inner) if s is not None
    ]
    return {
        e.name
        for parameters, values in called
        for p in parameters
        if p.falls
        for e in dict(values)[p.name].walk()
        if e.op == "data"
    }


def sizes_needed(model: Model) -> list[str]:
    """The dimensions that must be given: all but those of literals and feature maps."""
    return [n for n in dimensions(model) if not n.startswith("dim(") and n not in _written_out(model)]


def _written_out(model: Model) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for decl in model.data:
        if decl.literal is None or decl.type.is_entries:
            continue
        shape = np.shape(np.array(decl.literal, dtype=object))
        sizes |= {d: n for d, n in zip(decl.type.array_shape, shape, strict=False) if isinstance(d, str)}
        if decl.type.is_labels and len(decl.type.shape) == 2 and isinstance(decl.type.shape[1], str):
            sizes[decl.type.shape[1]] = len(set(np.array(decl.literal, dtype=object).tolist()))
    return sizes


def _missing(model: Model, sizes: Mapping[str, int]) -> tuple[Diagnostic, ...]:
    missing = [n for n in sizes_needed(model) if n not in sizes]
    if not missing:
        return ()
    listed = ", ".join(f"`{n}`" for n in missing)
    have = "has" if len(missing) == 1 else "have"
    rule = "Random data need a size for each dimension of the program."
    example = ",".join(f"{n}={size}" for n, size in zip(sizes_needed(model), _examples(), strict=False))
    return (Diagnostic("FW0020", f"{listed} {have} no size", rule=rule, hint=f"write `--dims {example}`"),)


def _examples() -> list[int]:
    return [1000, 50, *[5] * 20]


def _too_few(decl: DataDecl, sizes: Mapping[str, int]) -> Diagnostic | None:
    """The error for data with too few entries for every value to occur."""
    type_ = decl.type
    count = _numbers(decl, sizes)
    need = 1
    if type_.is_signs or (type_.is_entries and type_.element is not None):
        need = 2
    elif type_.is_labels and len(type_.shape) == 2:
        need = evaluate_dim(type_.shape[1], sizes)
    if count >= need:
        return None
    return Diagnostic(
        "FW0022",
        f"`{decl.name}: {format_type(type_)}` would have {count} value{'' if count == 1 else 's'}, and must show {need}",
        rule="Each class of labels, and both signs, must occur.",
        hint="give a larger size",
    )


def _numbers(decl: DataDecl, sizes: Mapping[str, int]) -> int:
    """The number of entries of a datum."""
    if decl.type.is_entries:
        return _observations(decl, sizes)
    return math.prod(sizes_of(decl.type, sizes))


def _observations(decl: DataDecl, sizes: Mapping[str, int]) -> int:
    cells = math.prod(sizes_of(decl.type, sizes))
    return sizes.get(f"len({decl.name})", min(cells, max(2, int(_OBSERVED * cells))))


def _array(type_: Type, sizes: Mapping[str, int], rng: np.random.Generator) -> Array:
    return _DRAWS.get(type_.kind, _normal)(type_, sizes, rng)


def _normal(type_: Type, sizes: Mapping[str, int], rng: np.random.Generator) -> Array:
    values: Array = rng.standard_normal(sizes_of(type_, sizes))
    return np.abs(values) if type_.domain == "nonnegative" else values


def _real(type_: Type, sizes: Mapping[str, int], rng: np.random.Generator) -> Array:
    value = rng.standard_normal()
    if type_.domain == "count":
        value = float(rng.integers(1, 10))
    return np.array(value if type_.domain == "real" else abs(value))


def _symmetric(type_: Type, sizes: Mapping[str, int], rng: np.random.Generator) -> Array:
    values = _normal(type_, sizes, rng)
    return (values + values.T) / 2.0


def _psd(type_: Type, sizes: Mapping[str, int], rng: np.random.Generator) -> Array:
    factor = _normal(type_, sizes, rng)
    gram: Array = factor @ factor.T / factor.shape[0]
    return (gram + gram.T) / 2.0


def _signs(type_: Type, sizes: Mapping[str, int], rng: np.random.Generator) -> Array:
    shape = sizes_of(type_, sizes)
    return 2.0 * _classes(math.prod(shape), 2, rng).reshape(shape) - 1.0


def _labels(type_: Type, sizes: Mapping[str, int], rng: np.random.Generator) -> Array:
    n = evaluate_dim(type_.shape[0], sizes)
    return _classes(n, evaluate_dim(type_.shape[1], sizes) if len(type_.shape) == 2 else min(n, _PLAIN_CLASSES), rng)


def _index(type_: Type, sizes: Mapping[str, int], rng: np.random.Generator) -> Array:
    assert type_.classes is not None
    values: Array = rng.integers(0, evaluate_dim(type_.classes, sizes), evaluate_dim(type_.shape[0], sizes))
    values[0] = evaluate_dim(type_.classes, sizes) - 1
    return values


def _classes(n: int, k: int, rng: np.random.Generator) -> Array:
    """n codes below k, each of which occurs."""
    codes: Array = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    rng.shuffle(codes)
    return codes


def _entries(decl: DataDecl, sizes: Mapping[str, int], rng: np.random.Generator) -> tuple[Array, Array, Array]:
    n, p = sizes_of(decl.type, sizes)
    count = _observations(decl, sizes)
    cells = rng.choice(n * p, count, replace=count > n * p)
    two = decl.type.element is not None
    values = 2.0 * _classes(count, 2, rng) - 1.0 if two else rng.standard_normal(count)
    return cells // p, cells % p, values


_DRAWS: Mapping[str, Callable[[Type, Mapping[str, int], np.random.Generator], Array]] = {
    **dict.fromkeys(SCALAR_TYPES, _real),
    "symmetric": _symmetric,
    "psd": _psd,
    "signs": _signs,
    "labels": _labels,
    "index": _index,
}
