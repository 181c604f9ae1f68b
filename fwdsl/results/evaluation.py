"""Values of a solution on new data: terms, `let`s and error rates, with the label maps of the fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..atoms.low_rank import LowRank
from ..atoms.vectors.free import Free
from ..bind import Bindings, bind, check_bindings
from ..bind.dimensions import dimensions_of
from ..bind.features import Features, FittedMaps, implicit_maps
from ..bind.instance import Instance
from ..canon.affine import AffineReader, Unsupported
from ..canon.build import LARGEST_FACTOR
from ..canon.data_maps import Matrix
from ..canon.factored import LARGEST_DENSE_FORM
from ..canon.matrix_maps import LeftMultiply
from ..canon.on_factors import value_on_factors
from ..canon.parts import Block
from ..canon.terms import value_at
from ..check.shapes import format_type
from ..errors import DataError, PlanError, RunError, misuse
from ..features.gram import FittedKernel, GramOperator
from ..grammar.diagnostic import Diagnostic
from ..model import Expr, Model, Term, sizes_of
from ..words import LOSSES
from .row_counts import FeaturesByCount, with_row_names

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

OBJECTIVE = "objective"
"""The whole objective, in the user's sense."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The fitted variables, and what the fit fixed about its data: sizes, parameters, label maps, statistics of feature maps.

    `values` holds the data of the fit where they are at hand. They replace data that are not given anew. Of a fit that stands `alone` the program's
    own sources are not read: they may not be where its answer is.
    """

    model: Model
    variables: Mapping[str, Any]
    dims: Mapping[str, int]
    params: Mapping[str, Any]
    maps: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    features: FittedMaps | None = None
    alone: bool = False


def fit_of(instance: Instance, variables: Mapping[str, Any]) -> Fit:
    """The fit of an instance whose data are at hand."""
    params = {p.name: instance.values[p.name] for p in instance.model.params}
    return Fit(instance.model, variables, instance.dims, params, instance.maps, instance.values, instance.features)


@dataclass(frozen=True)
class Evaluated:
    """Values by name, and by term of the objective the share of samples that it classifies wrongly.

    `dims` are the sizes that the new data have, `origins` where they came from; `warnings` tell of entries that the fit says nothing of.
    """

    values: Mapping[str, Any]
    error_rates: Mapping[str, float]
    dims: Mapping[str, int]
    origins: Mapping[str, str]
    warnings: tuple[Diagnostic, ...] = ()


@np.errstate(all="ignore")  # values at the ends of the range overflow, and are told as infinite
def evaluate(
    fit: Fit,
    names: Sequence[str],
    new_bindings: Bindings,
    base: Path,
    choose: Callable[[Model], Mapping[str, Part]] | None = None,
) -> Evaluated:
    """The named `let`s and terms (`termK` for the K-th) of a program at a fit, on the data given.

    Without names: the objective, the `let`s that are numbers or have variables, and the error rates. Data that are not given
    are those of the fit, or of the program's own sources; those that nothing named needs are not looked at. Raises `RunError`
    FW0204 for a name that is none, `DataError` where data are missing or do not fit. Where `choose` chooses in the place of the names there are
    no error rates.
    """

    def chosen(model: Model) -> Mapping[str, Part]:
        return _chosen(model, names) if choose is None else choose(model)

    found = on_new_data(fit, chosen, new_bindings, base)
    try:
        values = {name: found.at.value(part) for name, part in found.parts.items()}
        terms = {
            n: t for n, t in labelled(found.model).items() if not names or n in found.parts or t.name in found.parts
        }
        terms = terms if choose is None else {}
        rates = {n: r for n, t in terms.items() if (r := found.at.error_rate(t)) is not None}
    except Unsupported as error:
        raise PlanError([_no_value(error, found.model)]) from None
    instance = found.instance
    shown = {name: instance.dims[name] for name in instance.dims if not name.startswith(("dim(", "len("))}
    origins = {d.name: instance.origins.get(d.name, "the fit") for d in instance.model.data}
    return Evaluated(values, rates, shown, origins, found.warnings)


def value_of(
    fit: Fit, chosen: Callable[[Model], Expr], new_bindings: Bindings, base: Path
) -> tuple[Any, tuple[Diagnostic, ...]]:
    """The value of the expression that `chosen` finds in the program, and the warnings; errors as `evaluate` raises them."""
    with np.errstate(all="ignore"):
        found = on_new_data(fit, lambda model: {"": chosen(model)}, new_bindings, base)
        try:
            return found.at.value(found.parts[""]), found.warnings
        except Unsupported as error:
            raise PlanError([_no_value(error, found.model)]) from None


@dataclass(frozen=True, eq=False)
class OnNewData:
    """Parts of a program, the instance that has the data they need, and the fit's variables over it."""

    model: Model
    parts: Mapping[str, Part]
    instance: Instance
    at: OnData
    warnings: tuple[Diagnostic, ...]


def on_new_data(
    fit: Fit, chosen: Callable[[Model], Mapping[str, Part]], new_bindings: Bindings, base: Path
) -> OnNewData:
    """Bind what the chosen parts of a program need. Raises `DataError` where data are missing or do not fit."""
    fit = with_free_rows(fit, {*new_bindings.data, *(n for names, _ in new_bindings.sources for n in names)})
    parts = chosen(fit.model)
    instance, warnings = _with_new_data(fit, data_of(parts.values()), new_bindings, base)
    return OnNewData(fit.model, parts, instance, FittedPoint(fit).on(instance), warnings)


def with_free_rows(fit: Fit, new: set[str]) -> Fit:
    """The fit with a name for each integer that counts the rows of the data given anew."""
    renamed, sizes = with_row_names(fit.model, frozenset(new))
    if not sizes:
        return fit
    features = None if fit.features is None else FeaturesByCount(fit.features, sizes)
    return replace(fit, model=renamed, dims={**fit.dims, **sizes}, features=features)


def labelled(model: Model) -> dict[str, Term]:
    """The terms of the objective by name: that of a `let` with this term alone, else `termK`."""
    names = [t.name for t in model.terms]
    return {t.name if t.name and names.count(t.name) == 1 else f"term{i}": t for i, t in enumerate(model.terms, 1)}


Part = Expr | tuple[Term, ...]


def _chosen(model: Model, names: Sequence[str]) -> dict[str, Part]:
    """The `let`s and terms to evaluate, by name. A `let` wins over a term of its name, because the text names it."""
    terms: dict[str, Part] = {name: (term,) for name, term in labelled(model).items()}
    every: dict[str, Part] = {OBJECTIVE: model.terms, **terms, **{n: p for n, p in model.lets if _has_value(p)}}
    if not names:
        return {n: p for n, p in every.items() if n == OBJECTIVE or (n in dict(model.lets) and not _is_data(p))}
    for name in names:
        require_name("evaluate", name)
    wrong = [n for n in names if n not in every]
    if wrong:
        raise RunError([unknown_name(n, every) for n in wrong])
    return {n: every[n] for n in names}


def _has_value(part: Part) -> bool:
    return isinstance(part, tuple) or not part.type.is_features


def _is_data(part: Part) -> bool:
    """True if it is an array that no variable is in."""
    return isinstance(part, Expr) and part.is_constant and bool(part.type.array_shape)


def require_name(method: str, name: object) -> None:
    """Raise `BuildError` FW0309 where something else than a text is given as the name of a part."""
    if name is not None and not isinstance(name, str):
        message = f"`{method}` takes the name of a part of the program first, not a {type(name).__name__}"
        raise misuse("FW0309", message, hint="give data by name: `X=rows`")


def unknown_name(name: str, every: Mapping[str, Part]) -> Diagnostic:
    """The diagnostic for a name that none of these has."""
    close = get_close_matches(name, every, n=1)
    return Diagnostic(
        "FW0204",
        f"`{name}` is no `let` and no term of the program",
        rule=f"What has a value is {', '.join(f'`{n}`' for n in every)}.",
        hint=f"did you mean `{close[0]}`?" if close else "name a `let`, `termK` for the K-th term, or `objective`",
    )


def data_of(parts: Iterable[Part]) -> set[str]:
    """The names of data that expressions use."""
    found: set[str] = set()
    for part in parts:
        for expr in (part,) if isinstance(part, Expr) else (e for t in part for e in _expressions(t)):
            found |= {e.name for e in expr.walk() if e.op == "data"}
    return found


def _expressions(term: Term) -> list[Expr]:
    optional = [term.target, term.weights]
    return [term.coefficient, term.argument, *(e for e in optional if e is not None), *(e for _, e in term.options)]


# --- data ------------------------------------------------------------------------------------------------------------


def _with_new_data(
    fit: Fit, needed: set[str], new_bindings: Bindings, base: Path
) -> tuple[Instance, tuple[Diagnostic, ...]]:
    """The program's instance on the data given, with the fit's data for the rest, and warnings of entries left out."""
    model = fit.model
    wrong = [d for d in check_bindings(model, new_bindings) if d.severity == "error"]
    if wrong:
        raise DataError(wrong)
    new = set(new_bindings.data) | {n for names, _ in new_bindings.sources for n in names}
    kept = [d for d in model.data if d.name in needed - new and d.name in fit.values]
    read = tuple(d for d in model.data if d.name in (needed | new) and d not in kept)
    absent = [d for d in read if d.name not in new and d.literal is None and (fit.alone or d.source is None)]
    if absent:
        raise DataError([missing(d.name, _NO_TARGETS) for d in absent])
    fixed = {n: fit.dims[n] for v in model.variables for n in dimensions_of(v.type) if n in fit.dims}
    unread = Bindings(params=fit.params, dims=fixed, labels=fit.maps, of_fit=True)
    bindings = unread.merge(new_bindings)
    # Without terms: feature maps keep the statistics of the fit, and are computed where something names them.
    bare = replace(model, data=read, dims=(), terms=(), constraints=(), lets=())
    instance, found = bind(bare, bindings, base)
    if instance is None:
        raise DataError([d for d in found if d.severity == "error"])
    clashes = [_clash(d.name, fit, instance) for d in kept if not _agrees(d.type.shape, fit, instance)]
    if clashes:
        raise DataError(clashes)
    dims = {**fit.dims, **instance.dims}
    values = {**{d.name: fit.values[d.name] for d in kept}, **instance.values}
    features = Features(dims, values, fitted=fit.features)
    instance = replace(instance, model=replace(model, data=(*read, *kept)), dims=dims, values=values, features=features)
    return instance, tuple(d for d in found if d.code == "FW4530")


_NO_TARGETS = "; predictions need no targets: `predict`, `fwdsl eval --predict`"


def missing(name: str, more: str = "") -> Diagnostic:
    """The diagnostic for data that neither the fit has nor the caller gives, with what else its help says."""
    return Diagnostic(
        "FW4501",
        f"`{name}` has no value",
        rule="Data that are not at hand with the fit are given anew.",
        hint=f"give `{name}=...`, on the command line `--data {name}=PATH`{more}",
    )


def _agrees(dims: Iterable[Any], fit: Fit, instance: Instance) -> bool:
    return all(instance.dims.get(d, fit.dims.get(d)) == fit.dims.get(d) for d in dims if isinstance(d, str))


def _clash(name: str, fit: Fit, instance: Instance) -> Diagnostic:
    decl = next(d for d in fit.model.data if d.name == name)
    dim = next(d for d in decl.type.shape if instance.dims.get(str(d), fit.dims.get(str(d))) != fit.dims.get(str(d)))
    return Diagnostic(
        "FW4522",
        f"`{name}: {format_type(decl.type)}` is that of the fit, where `{dim}` is {fit.dims[str(dim)]}, "
        f"but `{dim}` is {instance.dims[str(dim)]} in the new data",
        span=decl.span if fit.model.source.text else None,
        source=fit.model.source if fit.model.source.text else None,
        rule="Data that are not given anew are those of the fit.",
        hint=f"give `{name}` too",
    )


# --- values ----------------------------------------------------------------------------------------------------------


class FittedPoint:
    """A fit's variables in one vector; large matrices that are kept as factors are not written out."""

    def __init__(self, fit: Fit) -> None:
        blocks: dict[str, Block] = {}
        parts: list[Any] = [np.zeros(0)]
        start = 0
        self.values = fit.variables
        self.factored = {
            name for name, v in fit.variables.items() if isinstance(v, LowRank) and v.size > LARGEST_DENSE_FORM
        }
        for decl in fit.model.variables:
            if decl.name in self.factored:
                continue
            shape = sizes_of(decl.type, fit.dims)
            size = math.prod(shape)
            blocks[decl.name] = Block(decl.name, start, start + size, shape, Free(size))
            parts.append(np.asarray(fit.variables[decl.name], dtype=np.float64).reshape(-1))
            start += size
        self.x = np.concatenate(parts)
        self.blocks = blocks
        self.implicit = implicit_maps(fit.model)

    def on(self, instance: Instance) -> OnData:
        """The same variables over an instance's data."""
        return OnData(self, instance)


class OnData:
    """Values of a program's parts at a fitted point, on the data of an instance."""

    def __init__(self, point: FittedPoint, instance: Instance) -> None:
        self._point = point
        self._reader = AffineReader(instance, point.blocks)
        self._features = instance.features

    def value(self, part: Part) -> Any:
        """A float, an array, or a matrix that is kept as factors."""
        if isinstance(part, tuple):
            return float(sum(value_at(self._reader, term, self._at(term.argument)) for term in part))
        value = self._at(part)
        return value if hasattr(value, "tocsr") or isinstance(value, LowRank) else _plain(value)

    def error_rate(self, term: Term) -> float | None:
        """The share of wrong labels among the predictions; None for a loss that does not classify."""
        if term.kind != "loss" or term.target is None or not LOSSES[term.atom].classifies:
            return None
        z = self._at(term.argument)
        if LOSSES[term.atom].scores:
            return float(np.mean(np.argmax(z, axis=1) != self._reader.vector(term.target, z.shape[0])))
        y = self._reader.vector(term.target, z.size)
        return float(np.mean(np.where(z.reshape(-1) > 0.0, 1.0, -1.0) != y))

    def _at(self, expr: Expr) -> Any:
        if expr.variables & self._point.factored:
            return value_on_factors(expr, self._reader, self._point.values)
        if expr.is_constant:
            return self._reader.constant(expr)
        stacked = self._reader.stacked(expr)
        bare = expr.variables & self._point.implicit.keys() and not any(e.op == "features" for e in expr.walk())
        return stacked.apply(self._in_coordinates() if bare else self._point.x).reshape(stacked.shape)

    def _in_coordinates(self) -> Any:
        """The variables, those over implicit feature maps by coordinates L'a in the span of the fit's samples, whose norms are theirs,
        in the place of their expansion coefficients a. Their number is at most that of these: zeros fill up."""
        x = self._point.x.copy()
        for name, phi in self._point.implicit.items():
            block = self._point.blocks[name]
            assert self._features is not None
            fitted = self._features.fitted(phi)
            assert isinstance(fitted, FittedKernel)
            factor = GramOperator(fitted.samples, fitted.kernel).factor(LARGEST_FACTOR)
            if factor is None:
                raise Unsupported("a norm in the space of an implicit feature map of so many samples", phi)
            w = np.zeros(block.shape)
            w[: factor.rank] = factor.coordinates(x[block.slice].reshape(block.shape))
            x[block.slice] = w.reshape(-1)
        return x


class LinearScores:
    """The prediction `X @ w`, or with an intercept `X @ w + b`, whose X is data: its maps are known, and need not be read for each row that comes.

    The value has the bits of `OnData.value`. `of` gives None for all other predictions.
    """

    def __init__(self, data: Expr, coefficients: MatrixLike, intercept: MatrixLike) -> None:
        self._name = data.name
        self._k = coefficients.shape[1] if coefficients.ndim == 2 else 0
        self._coefficients, self._intercept = coefficients.reshape(-1), intercept

    @classmethod
    def of(cls, expr: Expr, point: FittedPoint) -> LinearScores | None:
        """The prediction that an expression is at a fitted point."""
        products = [e for e in (expr.args if expr.op == "add" else (expr,)) if e.op == "matmul"]
        others = [e for e in expr.args if e.op == "var"] if expr.op == "add" else []
        if len(products) != 1 or len(others) > 1 or (expr.op == "add" and len(expr.args) != 1 + len(others)):
            return None
        data, variable = products[0].args
        known = (variable, *others)
        if data.op != "data" or variable.op != "var" or any(e.type.block.is_symmetric for e in known):
            return None
        if not {e.name for e in known} <= point.blocks.keys() or len(data.type.array_shape) != 2:
            return None
        values = [point.x[point.blocks[e.name].slice].reshape(point.blocks[e.name].shape) for e in known]
        w, b = values[0], values[1] if others else np.zeros(())
        return cls(data, w, b) if w.ndim in (1, 2) and b.shape in ((), w.shape[1:]) else None

    def on(self, values: Mapping[str, Any]) -> MatrixLike:
        """The value on these data."""
        X = values[self._name]
        if self._k:
            z = LeftMultiply(X, self._k).apply(self._coefficients).reshape(-1, self._k)
        else:
            z = Matrix(X).apply(self._coefficients)
        # no sum is -0.0, as none is with the constant of an affine map
        return _plain(z + self._intercept + 0.0)


def _plain(value: MatrixLike) -> MatrixLike:
    return float(value) if np.ndim(value) == 0 else np.asarray(value)


def _no_value(error: Unsupported, model: Model) -> Diagnostic:
    return Diagnostic(
        "FW5001",
        f"this version cannot evaluate {error.what} yet",
        span=error.expr.span,
        source=model.source,
        rule="What is evaluated is made of expressions that this version knows.",
        hint="name the `let`s and terms that are needed",
    )
