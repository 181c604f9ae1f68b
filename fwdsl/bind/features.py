"""The feature maps of an instance. Statistics and values are computed once, when they are first needed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from ..features import Fitted, fit
from ..features.saved import pack, unpack
from ..model import ConstraintDecl, Expr, Model, SetRef, Term, evaluate_dim, once_per_model
from ..words import FEATURE_MAPS
from .evaluate import Slots, evaluate
from .findings import Findings

_Key = tuple[str, tuple[Expr, ...], tuple[tuple[str, Expr], ...]]


class FittedMaps(Protocol):
    """Fitted feature maps: those of an instance, or saved ones."""

    def fitted(self, expr: Expr) -> Fitted:
        """The map of an expression with op "features", with its statistics."""
        ...

    def columns(self, expr: Expr) -> int:
        """The number of features; for an implicit map, the number of expansion coefficients."""
        ...


class Features:
    """Feature maps over the data and parameters of one instance. Equal expressions share a map.

    With `fitted` the statistics are those of other data, as `fwdsl eval` needs them: only the values are new. The maps of
    `again` have the same data. They are reused, values included, where their parameters are the same too.
    """

    def __init__(
        self, dims: Mapping[str, int], values: Slots, fitted: FittedMaps | None = None, again: Features | None = None
    ) -> None:
        self._dims = dims
        self._slots = values
        self._fitted: dict[_Key, Fitted] = {}
        self._computed: dict[_Key, Any] = {}
        self._origin = fitted
        self._again = again

    def fitted(self, expr: Expr) -> Fitted:
        """The fitted map of an expression with op "features". Raises what `evaluate` raises."""
        if self._origin is not None:
            return self._origin.fitted(expr)
        key = _key(expr)
        if key not in self._fitted and not self._take_over(key):
            options = {n: self._evaluate(e) for n, e in expr.options}
            self._fitted[key] = fit(expr.name, self._evaluate(expr.args[0]), options)
        return self._fitted[key]

    def value(self, expr: Expr) -> Any:
        """The features: a dense array, a `csr_array`, a `RankOneUpdated`, or the `GramOperator` of an implicit map."""
        key = _key(expr)
        found = self.fitted(expr)
        if key not in self._computed:
            self._computed[key] = found.transform(self._evaluate(expr.args[0]))
        return self._computed[key]

    def columns(self, expr: Expr) -> int:
        if self._origin is not None:
            return self._origin.columns(expr)
        word = FEATURE_MAPS[expr.name]
        if _key(expr) in self._fitted or not (word.implicit or word.columns == "features"):
            return self.fitted(expr).columns
        if not word.implicit:
            return int(self._evaluate(dict(expr.options)["features"]))
        return evaluate_dim(expr.type.array_shape[0], self._dims)

    def _take_over(self, key: _Key) -> bool:
        """Reuse the map of the earlier instance; False where it has none with the same parameters."""
        earlier = self._again
        if earlier is None or key not in earlier._fitted or earlier._inputs(key) != self._inputs(key):
            return False
        self._fitted[key] = earlier._fitted[key]
        if key in earlier._computed:
            self._computed[key] = earlier._computed[key]
        return True

    def _inputs(self, key: _Key) -> dict[str, object]:
        """The parameters and dimensions that a map depends on."""
        parts = [e for part in (*key[1], *(e for _, e in key[2])) for e in part.walk()]
        dims = {d for e in parts for d in (*e.type.array_shape, e.name if e.op == "dim" else 0) if isinstance(d, str)}
        return {
            **{d: evaluate_dim(d, self._dims) for d in dims},
            **{e.name: self._slots[e.name] for e in parts if e.op == "param"},
        }

    def _evaluate(self, expr: Expr) -> Any:
        return expr.value if expr.op == "boolean" else evaluate(expr, self._dims, self._slots, self)


class SavedFeatures:
    """The maps of a model, with the statistics from the arrays of `saved`."""

    def __init__(self, model: Model, arrays: Mapping[str, Any]) -> None:
        self._fitted: dict[_Key, Fitted] = {}
        forms = json.loads(str(arrays["forms"]))
        for node, form in zip(feature_maps(model), forms, strict=True):
            self._fitted[_key(node)] = unpack(form, arrays)

    def fitted(self, expr: Expr) -> Fitted:
        return self._fitted[_key(expr)]

    def columns(self, expr: Expr) -> int:
        return self.fitted(expr).columns


class KnownMaps:
    """Some fitted maps by themselves: what they learned of the data, and not the data."""

    def __init__(self, nodes: Iterable[Expr], maps: FittedMaps) -> None:
        self._fitted = {_key(node): maps.fitted(node) for node in nodes}

    def fitted(self, expr: Expr) -> Fitted:
        return self._fitted[_key(expr)]

    def columns(self, expr: Expr) -> int:
        return self.fitted(expr).columns


def saved(model: Model, features: FittedMaps) -> dict[str, Any]:
    """The statistics of all maps of a model as arrays `0.mean`, `0.std`, `1.bins`, ... and `forms`, for `SavedFeatures`."""
    packed = [pack(features.fitted(node), str(k)) for k, node in enumerate(feature_maps(model))]
    forms = json.dumps([form for form, _ in packed])
    return {"forms": np.array(forms), **{name: a for _, arrays in packed for name, a in arrays.items()}}


@once_per_model
def feature_maps(model: Model) -> tuple[Expr, ...]:
    """The feature maps of a model, each once, inner maps before outer ones."""
    return feature_nodes(expressions(model)) if nodes_of(model, "features") else ()


def feature_nodes(exprs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The feature maps of expressions, each once, inner maps before outer ones."""
    found: dict[_Key | tuple[_Key, object], Expr] = {}
    for expr in exprs:
        for node in reversed(list(expr.walk())):
            if node.op == "features":
                found.setdefault((_key(node), node.type), node)
    return tuple(found.values())


@once_per_model
def implicit_maps(model: Model) -> Mapping[str, Expr]:
    """The implicit feature map of each variable that has one: `Phi` for `W` in `Phi @ W`."""
    maps = [(node.args[1], node.args[0]) for node in nodes_of(model, "matmul") if node.args[0].op == "features"]
    return {name: phi for w, phi in maps if FEATURE_MAPS[phi.name].implicit for name in w.variables}


def _key(expr: Expr) -> _Key:
    return expr.name, expr.args, expr.options


@once_per_model
def _nodes(model: Model) -> tuple[Expr, ...]:
    """The parts of all expressions of a model, in the order of `expressions`."""
    return tuple(node for expr in expressions(model) for node in expr.walk())


@once_per_model
def _operations(model: Model) -> frozenset[str]:
    """The operations that these parts are."""
    return frozenset(node.op for node in _nodes(model))


def nodes_of(model: Model, *ops: str) -> list[Expr]:
    """The parts of the expressions of a model that are of one of these operations."""
    if _operations(model).isdisjoint(ops):
        return []
    return [node for node in _nodes(model) if node.op in ops]


def expressions(model: Model) -> Iterator[Expr]:
    """All expressions of a model: named ones, terms, constraints, options, and arguments of sets."""
    for _, value in model.lets:
        if isinstance(value, Expr):
            yield value
        else:
            for term in value:
                yield from _of_term(term)
    for term in model.terms:
        yield from _of_term(term)
    for constraint in model.constraints:
        yield from _of_constraint(constraint)


def _of_term(term: Term) -> Iterator[Expr]:
    yield from (e for e in (term.coefficient, term.argument, term.target, term.weights) if e is not None)
    yield from (e for _, e in term.options)


def _of_constraint(constraint: ConstraintDecl) -> Iterator[Expr]:
    yield constraint.argument
    for term in constraint.terms:
        yield from _of_term(term)
    set_: SetRef | None = constraint.set
    while set_ is not None:
        yield from (e for _, e in set_.args)
        set_ = set_.inner


class Maps:
    """The feature maps of a model while it is bound. Enters "dim(Phi)" into `dims` as soon as the size is known.

    `fitted` are maps of other data, whose statistics are kept. `again` are maps of the same data; those with the same
    parameters are kept.
    """

    def __init__(
        self,
        model: Model,
        dims: dict[str, int],
        data: Mapping[str, Any],
        findings: Findings,
        fitted: FittedMaps | None = None,
        again: Features | None = None,
    ) -> None:
        self.dims = dims
        self._findings = findings
        self._maps = feature_maps(model)
        self._waiting = [m for m in self._maps if _own(m) is not None]
        for m in self._waiting:
            dims.pop(str(_own(m)), None)
        self._data = dict(data)
        self._features = Features(dims, self._data, fitted, again)

    def learn(self, params: Mapping[str, float]) -> None:
        """Enter the sizes that follow from these parameters."""
        self._data.update(params)
        for node in list(self._waiting):
            try:
                columns = self._features.columns(node)
            except KeyError:
                continue  # a parameter that is not known yet, or a missing value that is noted already
            except (ValueError, ArithmeticError) as error:
                self._fails(node, error)
            else:
                self.dims[str(_own(node))] = columns
            self._waiting.remove(node)

    def complete(self, params: Mapping[str, float]) -> Features | None:
        """The feature maps with all parameters known; None where the model has no maps."""
        self.learn(params)
        return self._features if self._maps else None

    def _fails(self, node: Expr, error: Exception) -> None:
        self._findings.add(
            "FW4521",
            f"the feature map `{node.name}` has no value: {error}",
            span=node.span,
            rule="A feature map is computed from numbers that are finite, once data and parameters are known.",
            hint="correct what it is computed from",
        )


def _own(node: Expr) -> str | None:
    """The dimension that is the map's number of columns."""
    columns = node.type.array_shape[1]
    return columns if isinstance(columns, str) and FEATURE_MAPS[node.name].columns in ("features", "own") else None
