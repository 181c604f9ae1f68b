"""Predictions on new rows: the affine map of the data and the fitted variables, made ready once and applied to rows by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np

from ..bind import Bindings, bind_python
from ..bind.bindings import RawDatum, note_not_pulled, of_python
from ..bind.convert import Known, convert, index
from ..bind.dimensions import dimensions_of
from ..bind.features import Features, KnownMaps, feature_nodes
from ..bind.findings import Findings, InvalidDatum
from ..bind.instance import Instance
from ..bind.observations import AXES, RawEntries, observe
from ..bind.values import Entries, is_sparse
from ..canon.affine import Unsupported
from ..errors import DataError, RunError, misuse
from ..grammar.diagnostic import Diagnostic
from ..model import DataDecl, Expr, Model, Term, once_per_model, sizes_of
from ..readers.categories import Mixed
from ..readers.frames import NotPulled, in_memory, is_lazy
from ..readers.scan import find_nonfinite
from ..words import FEATURE_MAPS, LOSSES, MapWord
from .evaluation import (
    OBJECTIVE,
    Evaluated,
    Fit,
    FittedPoint,
    LinearScores,
    data_of,
    evaluate,
    labelled,
    missing,
    require_name,
    unknown_name,
    value_of,
    with_free_rows,
)


def prediction_of(model: Model, what: str | None) -> Expr:
    """The expression that is predicted: a `let`, of a loss (also `termK`) its argument; without a name the argument of the objective's losses.

    Raises `RunError`: FW0204 where nothing has the name, FW0211 where the objective has no loss, or losses of several arguments, or the
    `let` is none.
    """
    require_name("predict", what)
    lets: dict[str, Expr | tuple[Term, ...]] = dict(model.lets)
    terms = {name: (term,) for name, term in labelled(model).items()}
    parts: dict[str, Expr | tuple[Term, ...]] = {OBJECTIVE: model.terms, **terms, **lets}
    if what is not None and what not in parts:
        raise RunError([unknown_name(what, parts)])
    part = parts[OBJECTIVE if what is None else what]
    if isinstance(part, Expr):
        if part.type.is_features:
            raise _nothing(f"`{what}` is a feature map", lets)
        return part
    arguments = {t.argument for t in part if t.kind == "loss"}
    if len(arguments) == 1:
        return arguments.pop()
    of = "the objective" if what in (None, OBJECTIVE) else f"`{what}`"
    raise _nothing(f"{of} has {'losses of several arguments' if arguments else 'no loss'}", lets)


def _nothing(why: str, lets: Mapping[str, object]) -> RunError:
    names = [n for n, part in lets.items() if isinstance(part, Expr) and not part.type.is_features and part.variables]
    return RunError(
        [
            Diagnostic(
                "FW0211",
                f"what to predict cannot be told: {why}",
                rule="A prediction is the value of a `let`, or what stands beside the target in the objective's loss.",
                hint=f"name one: {', '.join(f'`{n}`' for n in names[:5])}"
                if names
                else "name it in the program: `let score = X @ w + b`",
            )
        ]
    )


class Predictor:
    """Predictions of one expression of a fitted program: `predictor(X=rows)` is its value on new rows, as `evaluate` gives it.

    `inputs` are the data that have a row for each prediction; other data of the expression are those of the fit. `columns` has the names of
    the columns of inputs that had names in the fit, and `classes` the label values of the loss that is predicted for, in the order of its
    scores (of two, the second is the one of positive scores); None where it does not classify.

    `sizes` has the shapes that inputs had in the fit. It keeps the fitted variables, label maps and statistics, not the training data (of a kernel
    the samples, which are part of it), and can be pickled.
    """

    def __init__(self, fit: Fit, what: str | None = None) -> None:
        expr, needed, self.inputs = _asked(fit.model, what)
        decls = {d.name: d for d in fit.model.data}
        self.what = what
        self.columns: Mapping[str, tuple[str, ...]] = {
            n: fit.maps[f"{n}.columns"]
            for n in self.inputs
            if f"{n}.columns" in fit.maps and not decls[n].type.is_entries
        }
        self.classes = _classes(fit, expr)
        self.sizes = {n: sizes_of(decls[n].type, fit.dims) for n in self.inputs}
        values = {n: fit.values[n] for n in needed - set(self.inputs) if n in fit.values}
        self._fit = replace(fit, values=values, features=_known(fit, [expr]), alone=True)
        self._unneeded = set(decls) - needed
        self._prepare()

    def _prepare(self) -> None:
        """Work out what does not depend on the rows."""
        free = with_free_rows(self._fit, set(self.inputs))
        self._model, self._dims, self._features = free.model, dict(free.dims), free.features
        self._expr = _asked(free.model, self.what)[0]
        self._decls = [d for d in free.model.data if d.name in self.inputs]
        self._point = FittedPoint(free)
        self._linear = LinearScores.of(self._expr, self._point)
        fixed = {n for v in free.model.variables for n in dimensions_of(v.type)}
        firsts = [d.type.shape[0] for d in self._decls if not d.type.is_entries]
        self._rows = {dim for dim in firsts if isinstance(dim, str)} - fixed
        #: Matrices of any finite numbers and so many rows as there are, which are taken as they are.
        self._takes_plain = self._linear is not None and all(
            d.type.is_matrix and d.type.domain == "real" and d.type.shape[0] in self._rows for d in self._decls
        )
        self._kept = {**self._fit.values, **self._fit.params}
        ids = {key: self._fit.maps.get(key, ()) for d in self._decls if d.type.is_entries for key in _axes(d)}
        self._ids = {key: Known(values) for key, values in ids.items() if values}

    def __getstate__(self) -> dict[str, Any]:
        """The attributes without those that `_prepare` makes again."""
        made = {"_model", "_dims", "_features", "_expr", "_decls", "_point", "_linear", "_rows", "_kept", "_ids"}
        made.add("_takes_plain")
        return {name: value for name, value in vars(self).items() if name not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._prepare()

    def __repr__(self) -> str:
        of = "the scores" if self.what is None else f"`{self.what}`"
        return f"<Predictor of {of} from {', '.join(f'`{n}`' for n in self.inputs) or 'no data'}>"

    def __call__(self, rows: object = None, /, **data: object) -> Any:
        """The prediction for each row of the data, given by name: an array, or a number where it has no rows. Of one input the rows may stand alone.

        Data may be arrays, sparse matrices and frames, whose columns are matched by name with the fit's; of a lazy frame no
        others are computed. Observed entries are `(rows, columns)`, or any form with values. Of entries in rows or columns that the fit has not
        seen the prediction is nan, with a Python warning. Other data of the program (targets, weights) are not looked at.

        Raises `DataError` where data are missing or do not fit, as `evaluate` does.
        """
        if rows is not None:
            if len(self.inputs) != 1 or data:
                names = ", ".join(f"{n}=..." for n in self.inputs)
                raise misuse(
                    "FW0309", "data without a name, where a name is needed", hint=f"give data by name: `{names}`"
                )
            data = {self.inputs[0]: rows}
        for decl in self._decls:
            if decl.name in data and is_lazy(data[decl.name]):
                data[decl.name] = self._computed(decl, data[decl.name])
            if decl.type.is_entries and decl.name in data:
                data[decl.name] = _with_values(data[decl.name], self._fit.maps.get(decl.name, (0.0,))[0])
                seen = self._seen(decl, data[decl.name])
                if seen is not None:
                    return self._on_seen(decl, data, seen)
        if set(self.inputs) <= data.keys() <= {*self.inputs, *self._unneeded}:
            found = self._quickly(data)
            if found is not None:
                return found
        absent = [n for n in self.inputs if n not in data]
        if absent and data.keys() <= {d.name for d in self._model.data}:  # a name that is none is told first
            raise DataError([missing(name) for name in absent])
        needed = {n: v for n, v in data.items() if n not in self._unneeded}
        value, _ = value_of(
            self._fit, lambda model: prediction_of(model, self.what), bind_python("predict", **needed), Path()
        )
        return value

    def of_checked(self, rows: Any) -> Any:
        """The prediction for each row of the one input, of rows that were looked at: they are finite, at least one, and as wide as in the fit."""
        (name,) = self.inputs
        if self._takes_plain and isinstance(rows, np.ndarray) and rows.dtype == np.float64:
            assert self._linear is not None
            with np.errstate(all="ignore"):
                return self._linear.on({name: rows})
        return self(**{name: rows})

    def _computed(self, decl: DataDecl, value: object) -> Any:
        """A lazy frame in memory, the columns of the fit alone. It is computed here once, as what it gives may be looked at several times."""
        try:
            return in_memory(value, decl.name, self.columns.get(decl.name, ()))
        except NotPulled as error:
            findings = Findings(self._model.source)
            note_not_pulled(decl, error, findings)
            raise DataError(findings.result()) from error

    @property
    def maps(self) -> tuple[MapWord, ...]:
        """The feature maps that the prediction goes through."""
        return tuple(FEATURE_MAPS[node.name] for node in feature_nodes([self._expr]))

    def _quickly(self, data: Mapping[str, object]) -> Any:
        """The value on data that are as they should be; None for all others, and `evaluate` then says what is wrong."""
        dims, values = dict(self._dims), dict(self._kept)
        for name in self._rows:
            dims.pop(name, None)
        for decl in self._decls:
            value = self._read(decl, data[decl.name], dims)
            if value is None:
                return None
            values[decl.name] = value
        if self._linear is not None:
            with np.errstate(all="ignore"):
                return self._linear.on(values)
        features = Features(dims, values, fitted=self._features) if self._features is not None else None
        instance = Instance(self._model, dims, values, features=features)
        try:
            with np.errstate(all="ignore"):
                return self._point.on(instance).value(self._expr)
        except (Unsupported, ValueError, KeyError):
            return None

    def _read(self, decl: DataDecl, given: object, dims: dict[str, int]) -> Any:
        """A datum of new rows in the form of its type, whose sizes go into `dims`; None where something does not fit."""
        findings = Findings(self._model.source)
        try:
            datum = of_python(decl, given, self._fit.maps, findings)
            if datum is None:
                return None
            if decl.type.is_entries:
                return self._read_entries(datum, dims, findings)
            if decl.name in self._fit.maps:
                datum = replace(datum, labels=self._fit.maps[decl.name])
            value = index(datum.raw) if decl.type.is_index else convert(datum)[0]
        except InvalidDatum:
            return None
        shape = decl.type.array_shape
        if findings.failed or not shape or np.ndim(value) != len(shape) or 0 in value.shape:
            return None
        for dim, size in zip(shape, value.shape, strict=True):
            if size != (dim if isinstance(dim, int) else dims.setdefault(dim, size)):
                return None
        classes = decl.type.classes
        if classes is not None and int(value.max()) >= (classes if isinstance(classes, int) else dims[classes]):
            return None
        # a table with categories is looked through before it is made numbers
        if not isinstance(datum.raw, Mixed) and find_nonfinite(value, 1):
            return None
        promised = decl.type.domain == "nonnegative" or decl.type.block.is_symmetric
        return None if promised and not self._keeps(decl, value) else value

    def _keeps(self, decl: DataDecl, value: Any) -> bool:
        """True if data keep a promise that is quick to see."""
        return not decl.type.block.is_symmetric and (value.data if is_sparse(value) else value).min(initial=0.0) >= 0.0

    def _read_entries(self, datum: RawDatum, dims: dict[str, int], findings: Findings) -> Any:
        found = observe(datum)
        rows, columns = self._positions(found)
        shape = tuple(self._dims[d] if isinstance(d, str) else d for d in datum.decl.type.shape)
        whole = all(part.dtype.kind in "iu" for part in (rows, columns))
        if not whole or min(rows.min(), columns.min()) < 0 or rows.max() >= shape[0] or columns.max() >= shape[1]:
            return None
        dims[f"len({datum.decl.name})"] = rows.size
        return Entries(rows, columns, found.triplets.values, (shape[0], shape[1]))

    def _positions(self, found: RawEntries) -> list[Any]:
        """The row and the column of each entry: that of an id in the fit, -1 for one that it has not seen, or the number itself."""
        parts = []
        for k, key in enumerate(_axes(found.datum.decl)):
            part = found.axis(k)
            if key in self._ids:
                named = isinstance(self._fit.maps[key][0], str) and part.dtype.kind not in "US"
                part = self._ids[key].places(part.astype(str) if named else part)
            parts.append(part)
        return parts

    def _seen(self, decl: DataDecl, given: object) -> Any:
        """The entries in rows and columns of the fit, as a mask, and all triplets; None where all are, none is, or the fit has no ids."""
        if not self._ids.keys() & _axes(decl):
            return None
        try:
            datum = of_python(decl, given, self._fit.maps, Findings(self._model.source))
            assert datum is not None  # entries have no columns of categories
            found = observe(datum)
        except InvalidDatum:
            return None
        codes = self._positions(found)
        seen = np.ones(codes[0].size, dtype=bool)
        for key, code in zip(_axes(decl), codes, strict=True):
            seen &= code >= 0 if key in self._ids else True
        return None if seen.all() or not seen.any() else (seen, found.triplets)

    def _on_seen(self, decl: DataDecl, data: dict[str, object], seen: Any) -> Any:
        """The predictions of entries that the fit can tell, and nan for the others."""
        which, triplets = seen
        part = (triplets.rows[which], triplets.columns[which], np.asarray(triplets.values)[which])
        found = self(**{**data, decl.name: part})
        if np.shape(found) != (int(which.sum()),):
            return found
        out = np.full(which.size, np.nan)
        out[which] = found
        left = int(which.size - which.sum())
        words = f"{left:,} of the {which.size:,} entries of `{decl.name}` are in rows or columns that the fit has not seen: nan"
        warn(words, stacklevel=3)
        return out


@once_per_model
def _asked(model: Model, what: str | None) -> tuple[Expr, frozenset[str], tuple[str, ...]]:
    """The expression that is predicted, the data that it is of, and those of them that have a row for each prediction; all of them where none has."""
    expr = prediction_of(model, what)
    needed = data_of([expr])
    rows = expr.type.array_shape[:1]
    counted = tuple(d.name for d in model.data if d.name in needed and _counts(d, rows))
    return expr, frozenset(needed), counted or tuple(d.name for d in model.data if d.name in needed)


def _counts(decl: DataDecl, rows: tuple[Any, ...]) -> bool:
    """True if data have one of these rows each."""
    if decl.type.is_entries:
        return rows == (f"len({decl.name})",)
    return bool(rows) and decl.type.array_shape[:1] == rows


def _axes(decl: DataDecl) -> tuple[str, ...]:
    """The names under which a fit keeps the ids of rows and columns."""
    return tuple(f"{decl.name}.{axis}" for axis in AXES)


def _with_values(given: object, value: Any) -> object:
    """Observed entries with some values: `(rows, columns)` alone say where, and the values that are to be predicted are not known."""
    if isinstance(given, np.ndarray) and given.ndim == 2 and given.shape[1] == 2:
        given = (given[:, 0], given[:, 1])
    if isinstance(given, tuple | list) and len(given) == 2:
        return (*given, np.full(np.size(given[0]), value))
    return given


def labels_of(scores: Any, classes: tuple[Any, ...]) -> list[Any]:
    """The label of each row by its score, above 0 the second one of two, or by the largest of its scores."""
    at = np.asarray(scores)
    codes = (at > 0).astype(int) if at.ndim < 2 else at.argmax(axis=1)
    return [classes[code] for code in np.atleast_1d(codes).tolist()]


def scores_on(
    fit: Fit, what: str | None, new_bindings: Bindings, base: Path
) -> tuple[Evaluated, tuple[Any, ...] | None]:
    """The value of what `prediction_of` finds, under `what` or as `prediction`, on data in files, and the label values of its classes."""
    name = what or "prediction"
    found = evaluate(fit, [], new_bindings, base, lambda model: {name: prediction_of(model, what)})
    return found, _classes(fit, prediction_of(fit.model, what))


def _classes(fit: Fit, expr: Expr) -> tuple[Any, ...] | None:
    """The label values of a classifying loss with this argument."""
    terms: list[Term] = [t for t in fit.model.terms if t.kind == "loss" and t.argument == expr]
    for term in terms:
        if LOSSES[term.atom].classifies and term.target is not None and term.target.op == "data":
            return tuple(fit.maps[term.target.name]) if term.target.name in fit.maps else None
    return None


def _known(fit: Fit, exprs: Iterable[Expr]) -> KnownMaps | None:
    """The statistics of the feature maps in expressions, without the data they were taken of."""
    if fit.features is None:
        return None
    nodes = feature_nodes(exprs)
    return KnownMaps(nodes, fit.features) if nodes else None


def predict(fit: Fit, predictor: Predictor, data: Mapping[str, object]) -> Any:
    """The prediction on new rows; of a fit whose data are at hand on those that are not given."""
    absent = [n for n in predictor.inputs if n not in data]
    if not absent or not all(n in fit.values for n in absent):
        return predictor(**data)
    needed = {n: v for n, v in data.items() if n not in predictor._unneeded}
    value, _ = value_of(
        fit, lambda model: prediction_of(model, predictor.what), bind_python("predict", **needed), Path()
    )
    return value
