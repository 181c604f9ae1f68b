"""Makes `Entries` of what a user gives for `entries[n, p]`: decides between positions and ids, and agrees on sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..check.shapes import format_type
from ..grammar.diagnostic import Place
from ..light_dataclass import light_dataclass
from ..model import Dim
from ..readers.roles import Triplets
from ..readers.row_blocks import SortedTriplets
from .bindings import DECLARED, RawDatum
from .convert import among, known_signs, numbers, signs, vector
from .dimensions import StatedSizes
from .findings import Findings, InvalidDatum
from .observed_places import StoredPlaces, StoredVector, entries_on_disk
from .values import Entries, is_sparse

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

_FORMS = "give `(rows, columns, values)`, a SciPy sparse matrix whose stored entries are the observations, or `Entries`"

AXES = ("rows", "columns")


@light_dataclass
class RawEntries:
    """Triplets of one datum before sizes are known.

    `sizes` are those that the value itself states (a sparse matrix has a shape). An axis `counts` where its numbers are
    positions, as in Python. Elsewhere they are ids until something gives the dimension a size.
    """

    datum: RawDatum
    triplets: Triplets
    sizes: tuple[int | None, int | None] = (None, None)
    counts: tuple[bool, bool] = (False, False)
    ids: tuple[tuple[Any, ...] | None, tuple[Any, ...] | None] = (None, None)
    #: Entries that stay in files; the triplets then have the ids of rows and columns, each once.
    stored: SortedTriplets | None = None

    def axis(self, k: int) -> Any:
        return (self.triplets.rows, self.triplets.columns)[k]


def observe(datum: RawDatum) -> RawEntries:
    """The triplets given for a datum declared `entries[n, p]`; `InvalidDatum` where the value holds none."""
    raw = datum.raw
    if isinstance(raw, SortedTriplets):
        return RawEntries(datum, Triplets(raw.rows, raw.columns, np.zeros(0), raw.base, 0), stored=raw)
    if isinstance(raw, Triplets):
        found = RawEntries(datum, raw)
    elif isinstance(raw, Entries):
        found = _counted(datum, raw.rows, raw.columns, raw.values, raw.shape)
        _require_ids(found.triplets.rows, raw.row_ids)
        _require_ids(found.triplets.columns, raw.column_ids)
        found = replace(found, ids=(raw.row_ids, raw.column_ids))
    elif is_sparse(raw):
        stored = raw.tocoo()
        if len(stored.shape) != 2:
            raise InvalidDatum("FW4505", f"got a sparse array of shape {stored.shape}", _FORMS)
        found = _counted(datum, *(stored.row, stored.col), stored.data, stored.shape)
    elif datum.origin == DECLARED or (isinstance(raw, np.ndarray) and raw.ndim == 2 and raw.shape[1] == 3):
        table = numbers(raw)
        found = _counted(datum, table[:, 0], table[:, 1], table[:, 2])
    elif isinstance(raw, tuple | list) and len(raw) == 3:
        found = _counted(datum, raw[0], raw[1], raw[2])
    else:
        raise InvalidDatum("FW4505", f"got a {type(raw).__name__}, which is no list of observed entries", _FORMS)
    counts = [np.size(part) for part in (found.triplets.rows, found.triplets.columns, found.triplets.values)]
    if len(set(counts)) > 1:
        told = "{} rows, {} columns and {} values".format(*counts)
        raise InvalidDatum("FW4505", f"got {told}", "give one row, one column and one value for each observation")
    if not counts[0]:
        raise InvalidDatum("FW4505", "got no entry", "give at least one observation")
    return found


def place(
    observed: Sequence[RawEntries], sizes: StatedSizes, labels: Mapping[str, tuple[Any, ...]], findings: Findings
) -> list[tuple[RawEntries, Entries]]:
    """Positions of all observed entries, with unconverted values. A datum with an error is left out, and the error noted.

    A size is known from an integer, `--dim`, other data, or a value that states it; numbers are then positions. Otherwise
    positions tell the size. Where there are only ids, they are numbered in sorted order, over all data of the dimension.
    `labels` has the ids of an earlier fit under `M.rows` and `M.columns`. Entries with other ids cannot be predicted: they
    are left out with a warning (FW4530), or an error where no entry is left.
    """
    known = _Dimensions(observed, sizes)
    out = []
    for o in observed:
        name, dims = o.datum.decl.name, o.datum.decl.type.shape
        before = [labels.get(f"{name}.{axis}") for axis in AXES]
        o = _known_entries(_in_own_ids(o, before), before, findings)
        extents = [o.sizes[k] or known.size(dims[k]) for k in (0, 1)]
        ids = [before[k] or (known.ids(dims[k]) if extents[k] is None else None) for k in (0, 1)]
        placed = positions(replace(o.datum, raw=_in_words(o.triplets, ids)), extents, ids, findings)
        if placed is None:
            continue
        codes, maps = placed
        maps = [maps[k] or o.ids[k] for k in (0, 1)]
        shape = [len(m) if (m := ids[k]) is not None else int(extents[k] or 0) for k in (0, 1)]
        if not all(sizes.claim(o.datum, dims[k], shape[k], AXES[k], findings) for k in (0, 1)):
            continue
        values = o.triplets.values
        if o.stored is not None:
            entries = _in_files(o.stored, codes, (shape[0], shape[1]), maps)
        else:
            entries = Entries(codes[0], codes[1], values, (shape[0], shape[1]), maps[0], maps[1])
        sizes.claim(o.datum, f"len({name})", len(entries), "entries", findings)
        out.append((o, entries))
    return out


def _in_files(
    stored: SortedTriplets, codes: Sequence[Any], shape: tuple[int, int], maps: Sequence[tuple[Any, ...] | None]
) -> Entries:
    """Entries that stay in files, from the positions of the ids of their rows and columns."""
    if any(np.any(np.diff(code) <= 0) for code in codes):
        raise entries_on_disk("their ids are words in other data, which are sorted otherwise")
    counts = np.zeros(shape[0], np.int64)
    counts[codes[0]] = stored.counts
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
    same = np.array_equal(codes[1], np.arange(codes[1].size))
    places = StoredPlaces(indptr, stored.codes, shape, None if same else codes[1].astype(np.uint32))
    nowhere, values = StoredVector(places.size), StoredVector(places.size, stored.values)
    entries = Entries(nowhere, nowhere, values, shape, maps[0], maps[1])
    vars(entries)["by_rows"] = places, None
    return entries


def values_of(o: RawEntries, labels: tuple[Any, ...] | None) -> tuple[Any, tuple[Any, ...]]:
    """The values as floats; for `of signs` as -1 and 1, with the pair that they stand for. `labels` is an earlier fit's pair."""
    type_, raw = o.datum.decl.type, o.triplets.values
    if type_.element is None:
        return vector(raw), ()
    if labels is not None:
        return known_signs(raw, labels, 1), labels
    return signs(raw, 1, o.datum.decl.name, o.datum.place)


def _in_own_ids(o: RawEntries, before: Sequence[tuple[Any, ...] | None]) -> RawEntries:
    """The entries by their own ids, where they have some and an earlier fit does too: its positions need not be theirs."""
    t = o.triplets
    axes = [
        part if own is None or fit is None else np.asarray(own)[part]
        for part, own, fit in zip((t.rows, t.columns), o.ids, before, strict=True)
    ]
    return replace(o, triplets=replace(t, rows=axes[0], columns=axes[1]))


def _known_entries(o: RawEntries, before: Sequence[tuple[Any, ...] | None], findings: Findings) -> RawEntries:
    """The entries whose row and column an earlier fit knows; all entries where there is no earlier fit."""
    if o.stored is not None:
        if any(b is not None for b in before):
            raise entries_on_disk("those of an earlier fit's rows and columns are picked from all")
        return o
    t = _in_words(o.triplets, before)
    unknown = [
        np.zeros(t.rows.size, bool) if b is None else among(ids, b) < 0
        for ids, b in zip((t.rows, t.columns), before, strict=True)
    ]
    left_out = unknown[0] | unknown[1]
    count, total = int(left_out.sum()), int(left_out.size)
    if not 0 < count < total:
        return o
    parts = [
        _plural(len(np.unique(ids[bad])), axis)
        for ids, bad, axis in zip((t.rows, t.columns), unknown, AXES, strict=True)
        if bad.any()
    ]
    decl, kept = o.datum.decl, ~left_out
    findings.add(
        "FW4530",
        f"{count:,} of the {total:,} entries of `{decl.name}` are left out: the fit has not seen their {' and '.join(parts)}",
        span=decl.span,
        rule="A fit says nothing of rows and columns of which it had no entry.",
        hint="what is computed is of the other entries",
        place=o.datum.place,
        severity="warning",
    )
    return replace(o, triplets=Triplets(t.rows[kept], t.columns[kept], np.asarray(t.values)[kept], t.base, 0))


class _Dimensions:
    """The sizes and ids of the dimensions of observed entries, as far as they are known before the entries bind them."""

    def __init__(self, observed: Sequence[RawEntries], sizes: StatedSizes) -> None:
        self._sizes: dict[Dim, int | None] = {}
        self._ids: dict[Dim, tuple[Any, ...]] = {}
        uses: dict[Dim, list[tuple[RawEntries, int]]] = {}
        for o in observed:
            for k in (0, 1):
                uses.setdefault(o.datum.decl.type.shape[k], []).append((o, k))
        for dim, axes in uses.items():
            size = sizes.bound(dim)
            stated = [s for o, k in axes if (s := o.sizes[k]) is not None]
            # A negative position is noted later; the size is at least 1 until then.
            counted = [max(1, int(o.axis(k).max()) + 1) for o, k in axes if o.counts[k]]
            self._sizes[dim] = size or max(stated, default=None) or max(counted, default=None)
            if self._sizes[dim] is None:
                self._ids[dim] = _sorted_ids([o.axis(k) for o, k in axes])

    def size(self, dim: Dim) -> int | None:
        return self._sizes[dim]

    def ids(self, dim: Dim) -> tuple[Any, ...] | None:
        return self._ids.get(dim)


def _sorted_ids(parts: Sequence[Any]) -> tuple[Any, ...]:
    """The distinct ids, sorted; as words where some of them are words."""
    if len({p.dtype.kind in "US" for p in parts}) > 1:
        parts = [p.astype(str) for p in parts]
    return tuple(np.unique(np.concatenate(parts)).tolist())


def _in_words(triplets: Triplets, ids: Sequence[Sequence[Any] | None]) -> Triplets:
    """The triplets with words for ids that are numbers here and words in other data."""
    rows, columns = (
        part.astype(str) if known and isinstance(known[0], str) and part.dtype.kind not in "US" else part
        for part, known in zip((triplets.rows, triplets.columns), ids, strict=True)
    )
    return replace(triplets, rows=rows, columns=columns)


def _require_ids(positions: Any, ids: tuple[Any, ...] | None) -> None:
    """Raise `InvalidDatum` where one of the positions has no id, if there are ids."""
    outside = positions[(positions < 0) | (positions >= len(ids))] if ids is not None else positions[:0]
    if outside.size:
        raise InvalidDatum(
            "FW4505", f"got the position {outside[0]} and {len(ids or ())} ids", "give an id for each position from 0"
        )


def _counted(
    datum: RawDatum, rows: Any, columns: Any, values: Any, shape: tuple[int | None, int | None] = (None, None)
) -> RawEntries:
    axes = [_axis(rows, "rows"), _axis(columns, "columns")]
    counts = axes[0].dtype.kind == "i", axes[1].dtype.kind == "i"
    return RawEntries(datum, Triplets(axes[0], axes[1], _plain(values, "values"), 0, 0), shape, counts)


def _axis(value: MatrixLike, what: str) -> MatrixLike:
    """Positions as int64, or ids as words."""
    array = _plain(value, what)
    if array.dtype.kind == "O" and all(isinstance(v, str) for v in array):
        array = array.astype(str)
    if array.dtype.kind == "U":
        return array
    if array.dtype.kind not in "iuf":
        raise InvalidDatum(
            "FW4504", f"has {what} that are neither positions nor words", "give whole numbers from 0, or ids as words"
        )
    with np.errstate(invalid="ignore"):
        whole = array.astype(np.int64)
    wrong = np.flatnonzero(whole != array)
    if wrong.size:
        at = int(wrong[0])
        raise InvalidDatum(
            "FW4519",
            f"has `{array[at]}` among its {what}, which is no position from 0",
            "give whole numbers from 0",
            at=(at,),
        )
    return whole


def _plain(value: Any, what: str) -> Any:
    """A value as a flat array; a sparse row or column gets its zeros."""
    try:
        array = np.asarray(value.toarray() if is_sparse(value) else value)
    except (ValueError, TypeError, OverflowError):
        raise InvalidDatum("FW4504", f"has {what} that are no array", f"give the {what} as one array") from None
    if array.ndim != 1 and array.shape not in ((array.size, 1), (1, array.size)):
        raise InvalidDatum(
            "FW4505", f"has {what} in an array of shape {array.shape}", f"give the {what} as one array of one axis"
        )
    return array.reshape(-1)


def _plural(number: int, words: str) -> str:
    return f"{number:,} {words if number != 1 else words[:-1]}"


_SHOWN = 3


def positions(
    datum: RawDatum, known: Sequence[int | None], ids: Sequence[Sequence[Any] | None], findings: Findings
) -> tuple[list[Any], list[tuple[Any, ...] | None]] | None:
    """Rows and columns from 0, and the ids of each in order of position (None for indices); None, with the reasons noted.

    `known` has the sizes that are known from elsewhere; `ids` are those of an earlier fit, which has all ids of new data.
    """
    triplets: Triplets = datum.raw
    codes: list[Any] = []
    maps: list[tuple[Any, ...] | None] = []
    for axis, (found, size, names) in enumerate(zip((triplets.rows, triplets.columns), known, ids, strict=True)):
        if names is not None:
            code = among(found, names)
            bad, why = code < 0, "is none of the fit's"
            rule = "New data for an earlier fit keep to its rows and columns."
            hint = "leave out entries of rows and columns that the fit has not seen"
        elif size is not None:
            code, bad, why = _indices(found, triplets.base, size)
            rule = "Where a dimension is an integer or has its size from other data, its ids are indices into it."
            hint = f"number the {_WORDS[axis]}s from {triplets.base}" + _other_base(found, triplets.base, size)
        else:
            distinct, code = np.unique(found, return_inverse=True)
            names, bad, why, hint = tuple(distinct.tolist()), np.zeros(0, bool), "", ""
            rule = ""
        _note(datum, axis, found, bad, (why, rule, hint), findings)
        codes.append(code.astype(np.int64, copy=False))
        maps.append(None if names is None else tuple(names))
    return None if findings.failed else (codes, maps)


_WORDS = ("row", "column")


def _indices(found: Any, base: int, size: int) -> tuple[Any, Any, str]:
    if found.dtype.kind != "i":
        code = np.zeros(found.size, np.int64)
        return code, np.array([not _is_whole(v) for v in found.tolist()]), "is no index"
    code = found - base
    return code, (code < 0) | (code >= size), f"is not from {base} to {size - 1 + base}"


def _is_whole(value: object) -> bool:
    return isinstance(value, float) and value.is_integer()


def _other_base(found: Any, base: int, size: int) -> str:
    """The hint for ids that seem to count from 1 where they are read as counting from 0."""
    from_one = base == 0 and found.dtype.kind == "i" and found.min() >= 1 and found.max() == size
    return ", or give `base=1`" if from_one else ""


def _note(datum: RawDatum, axis: int, found: Any, bad: Any, words: tuple[str, str, str], findings: Findings) -> None:
    why, rule, hint = words
    places = np.flatnonzero(bad)
    decl = datum.decl
    for i in places[:_SHOWN]:
        line = datum.raw.first + int(i) if datum.raw.first else None
        where = f" on line {line}" if line else ""
        left = places.size - _SHOWN if i == places[min(_SHOWN, places.size) - 1] else 0
        more = f"; {left} more {'is' if left == 1 else 'are'} like it" if left > 0 else ""
        value = str(found[i])
        place = None if datum.place is None else Place(datum.place.file, row=line, column=axis + 1, value=value)
        findings.add(
            "FW4519",
            f"the {_WORDS[axis]} `{value}`{where} {why}, as `{decl.name}: {format_type(decl.type)}` needs it{more}",
            span=decl.span,
            rule=rule,
            hint=hint,
            place=place,
        )
