"""Finds the size of each dimension from everything that binds it, and compares the axes of arrays with their types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..check.shapes import format_type
from ..grammar.diagnostic import Label, Place
from ..grammar.source import Span
from ..light_dataclass import light_dataclass
from ..model import DataDecl, Dim, Model, Type, once_per_model
from ..model.dims import evaluate_dim, is_derived, names_in, solve_dim
from .bindings import RawDatum
from .findings import Findings
from .values import is_too_long

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike


@light_dataclass
class _Claim:
    """One statement of a dimension's size: `what` it counts ("columns") and the `datum` that has it (None for `--dim`)."""

    size: int
    what: str
    datum: RawDatum | None


def dimensions_of(type_: Type) -> Iterator[str]:
    """The names of the dimensions that data of a type bind."""
    dims: list[Dim] = [*type_.shape, *((type_.classes,) if type_.classes is not None else ())]
    if type_.element is not None:
        dims.extend(dimensions_of(type_.element))
    return (name for d in dims for name in names_in(d) if not is_derived(name))


@once_per_model
def dimension_names(model: Model) -> tuple[str, ...]:
    """All names of dimensions of a model, in the order of the program, without those of feature maps."""
    names = [n for _, type_ in _declared(model) for n in dimensions_of(type_)]
    names += [name for d in model.dims for name in names_in(d) if not is_derived(name)]
    return tuple(dict.fromkeys(names))


def _declared(model: Model) -> list[tuple[Span, Type]]:
    return [(d.span, d.type) for d in model.declared]


class StatedSizes:
    """The sizes stated for each dimension. They are collected first and compared at the end, so that all clashes are found."""

    def __init__(self, fixed: Mapping[str, int], of_fit: bool = False) -> None:
        how = "{} in the fit" if of_fit else "given as {}"
        self._claims: dict[str, list[_Claim]] = {n: [_Claim(s, how, None)] for n, s in fixed.items()}

    def claim(
        self, datum: RawDatum, dim: Dim, size: int, what: str, findings: Findings, place: Place | None = None
    ) -> bool:
        """Note the size that a datum has along a dimension. False where it is not the integer that the program states, or where the vectors
        of that size that a solve holds do not fit into memory.

        `place` is where the file states the size, if that is known.
        """
        if is_too_long(size):
            _too_long(datum, size, what, findings, place)
            return False
        if isinstance(dim, str):
            if not dim.startswith("dim("):
                self._claims.setdefault(dim, []).append(_Claim(size, what, datum))
        elif dim != size:
            decl = datum.decl
            findings.add(
                "FW4507",
                f"`{decl.name}` has {count(size, what)}, where `{format_type(decl.type)}` says {dim}",
                span=decl.span,
                label=f"{dim} {what} declared",
                rule="A dimension that the program gives as a number must be that of the data.",
                hint=_features(datum, what, dim)
                or f"give data with {count(dim, what)}, or declare the dimension by a name",
                place=datum.place,
            )
        return True

    def bound(self, dim: Dim) -> int | None:
        """The size of a dimension as far as it is known."""
        if isinstance(dim, int):
            return dim
        claims = self._claims.get(dim)
        if claims:
            return claims[0].size
        # nothing is known of names before the first claim
        known = self._of_names() if self._claims else {}
        return evaluate_dim(dim, known) if all(name in known for name in names_in(dim)) else None

    def _of_names(self) -> dict[str, int]:
        """The sizes of names: those that are stated, and those that follow from stated sizes of `n + 1` and the like."""
        known = {dim: claims[0].size for dim, claims in self._claims.items() if names_in(dim) == (dim,)}
        waiting = {dim: claims[0].size for dim, claims in self._claims.items() if dim not in known}
        while found := [s for dim, size in waiting.items() if (s := solve_dim(dim, size, known))]:
            known |= dict(found[:1])
        return known

    def resolve(self, model: Model, excused: set[str], findings: Findings) -> dict[str, int]:
        """The size of every dimension. Clashes, and dimensions that nothing binds, are noted.

        `excused` holds the data and parameters whose value is missing or wrong. Dimensions that they would bind are not reported.
        """
        known = self.compare(findings)
        waiting = {n for d in model.given if d.name in excused for n in dimensions_of(d.type)}
        for name in dimension_names(model):
            if name not in known and name not in waiting and not self._missed(name, known):
                _unbound(name, model, findings)
        return {**known, **{dim: claims[0].size for dim, claims in self._claims.items() if is_derived(dim)}}

    def compare(self, findings: Findings) -> dict[str, int]:
        """The sizes of names. Clashes are noted."""
        for name, claims in self._claims.items():
            self._compare(name, claims, findings)
        known = self._of_names()
        for dim, claims in self._claims.items():
            self._meets(dim, claims[0], known, findings)
        return known

    def _missed(self, name: str, known: Mapping[str, int]) -> bool:
        """True if a size is stated that would tell this name's, and no whole number fits: that is noted by itself."""
        return any([n for n in names_in(dim) if n not in known] == [name] for dim in self._claims)

    def _meets(self, dim: str, claim: _Claim, known: Mapping[str, int], findings: Findings) -> None:
        """Note a sum or product of dimensions whose stated size does not follow from those of its names, or gives them none."""
        names = [n for n in names_in(dim) if n not in known]
        if claim.datum is None or names_in(dim) == (dim,):
            return
        decl = claim.datum.decl
        found = f"`{decl.name}: {format_type(decl.type)}` has {count(claim.size, claim.what)}"
        if not names and all(known[n] >= 1 for n in names_in(dim)):
            size = evaluate_dim(dim, known)
            if size == claim.size:
                return
            each = ", ".join(f"`{n}` is {known[n]}" for n in names_in(dim))
            message = f"{found}, where {each} and `{dim}` is {size}"
        elif len(names) > 1:
            return  # a name that nothing binds is reported as such
        else:
            message = f"{found}, and no size of `{(names or names_in(dim))[0]}` makes `{dim}` {claim.size}"
        findings.add(
            "FW4506",
            message,
            span=decl.span,
            label=f"{count(claim.size, claim.what)} from {claim.datum.origin}",
            rule="A dimension has one size, wherever its name occurs.",
            hint="give data that belong together, or declare the dimension by a name of its own",
            place=claim.datum.place,
        )

    def _compare(self, name: str, claims: list[_Claim], findings: Findings) -> None:
        first = claims[0]
        other = next((c for c in claims if c.size != first.size), None)
        if other is None or other.datum is None:
            return
        decl = other.datum.decl
        if first.datum is None:
            message = (
                f"`{name}` is {first.what.format(first.size)}, but `{decl.name}` has {count(other.size, other.what)}"
            )
            labels: tuple[Label, ...] = ()
        elif first.datum is other.datum:
            message = f"`{name}` is both {_side(first)} and {_side(other)} of `{decl.name}`"
            labels = ()
        else:
            ours = first.datum.decl
            message = (
                f"`{name}` is {first.size} in `{ours.name}: {format_type(ours.type)}` ({first.what}), "
                f"but {other.size} in `{decl.name}: {format_type(decl.type)}` ({other.what})"
            )
            labels = tuple(
                Label(c.datum.decl.span, f"{count(c.size, c.what)} from {c.datum.origin}")
                for c in claims
                if c.datum is not None and c.datum is not other.datum
            )
        findings.add(
            "FW4506",
            message,
            span=decl.span,
            label=f"{count(other.size, other.what)} from {other.datum.origin}",
            labels=labels,
            rule="A dimension has one size, wherever its name occurs.",
            hint=_hint(first, other),
            place=other.datum.place,
        )


def count(size: int, what: str) -> str:
    """`1 row`, `5 rows`, `2 classes`."""
    singular = {"rows": "row", "columns": "column", "entries": "entry", "classes": "class", "blocks": "block"}
    return f"{size} {singular.get(what, what) if size == 1 else what}"


def _too_long(datum: RawDatum, size: int, what: str, findings: Findings, place: Place | None) -> None:
    decl = datum.decl
    findings.add(
        "FW4007",
        f"`{decl.name}: {format_type(decl.type)}` has {size:,} {what}, and the vectors of that size that a solve holds do not fit into memory",
        span=decl.span,
        label=f"from {datum.origin}",
        rule="Data that is not memory-mapped must fit into memory, and so must some vectors with one number for each position that it names.",
        hint="positions count from the first: where they are ids, number those that occur",
        place=place or datum.place,
    )


def _side(claim: _Claim) -> str:
    return f"the {claim.size} {claim.what}"


def _hint(first: _Claim, other: _Claim) -> str:
    """The hint for two sizes. A libsvm file tells only which columns occur, not how many there are."""
    short, long = sorted((first, other), key=lambda c: c.size)
    advice = _features(short.datum, short.what, long.size) if short.datum else ""
    return advice or "give data that belong together, or use two names if the sizes are meant to differ"


def _features(datum: RawDatum, what: str, size: int) -> str:
    call = datum.decl.source
    libsvm = datum.place is not None and call is not None and call.func.name == "libsvm"
    if not libsvm or what != "columns":
        return ""
    return f"if the last columns of the file are all zero, write `features={size}` in its `libsvm(...)`"


def _unbound(name: str, model: Model, findings: Findings) -> None:
    user = next((span for span, type_ in _declared(model) if name in dimensions_of(type_)), None)
    findings.add(
        "FW4508",
        f"nothing binds the dimension `{name}`",
        span=user,
        label=f"`{name}` is used here" if user else "",
        rule="A dimension gets its size from data, or is given.",
        hint=_binder(name, model) + f"give `--dim {name}=5`, or `bind({name}=5)` in Python",
    )


def _binder(name: str, model: Model) -> str:
    """The hint to declare the classes of a `labels`, where that would bind the dimension."""
    plain = [d for d in model.data if d.type.is_labels and len(d.type.shape) == 1]
    if len(plain) != 1:
        return "declare data that has it, "
    decl: DataDecl = plain[0]
    return f"declare `{decl.name}: labels[{decl.type.shape[0]}, {name}]` if it is the number of classes, "


def claim_axes(
    datum: RawDatum, value: MatrixLike, classes: tuple[Any, ...], sizes: StatedSizes, findings: Findings
) -> bool:
    """Claim the sizes of an array. False where it has another number of axes than its type, or an axis is empty or too long."""
    decl = datum.decl
    dims = decl.type.array_shape
    if value.ndim != len(dims):
        findings.add(
            "FW4505",
            f"`{decl.name}: {format_type(decl.type)}` got {_axes(value.shape)}",
            span=decl.span,
            label=f"{_plural(len(dims), 'axis', 'axes')} declared",
            rule="Data have as many axes as their type has dimensions; a vector may be given as a single column.",
            hint=_reshape(decl, value.shape, sizes.bound(dims[-1]) if dims else None),
            place=datum.place,
        )
        return False
    if 0 in value.shape:
        findings.add(
            "FW4505",
            f"`{decl.name}: {format_type(decl.type)}` got an empty array of shape {tuple(value.shape)}",
            span=decl.span,
            rule="A dimension is at least 1.",
            hint="give data with at least one row and one column",
            place=datum.place,
        )
        return False
    words = ("entries",) if len(dims) == 1 else ("rows", "columns") if len(dims) == 2 else ()
    if decl.type.is_family:
        words = ("blocks",)
    for axis, (dim, size) in enumerate(zip(dims, value.shape, strict=True)):
        what = words[axis] if axis < len(words) else f"entries along axis {axis}"
        if not sizes.claim(datum, dim, int(size), what, findings):
            return False
    if decl.type.is_labels and len(decl.type.shape) == 2:
        sizes.claim(datum, decl.type.shape[1], len(classes), "classes", findings)
    return True


def _axes(shape: tuple[int, ...]) -> str:
    return "a single number" if not shape else f"an array of shape {tuple(int(s) for s in shape)}"


def _plural(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _reshape(decl: DataDecl, shape: tuple[int, ...], columns: int | None) -> str:
    """The change to make to an array with another number of axes; `columns` is the size of the last one, where it is known."""
    expected = len(decl.type.array_shape)
    if expected == 2 and len(shape) == 1 and columns == shape[0] > 1:
        return f"give one row with `{decl.name}.reshape(1, -1)`"
    if expected == 2 and len(shape) == 1:
        return (
            f"give one column with `{decl.name}.reshape(-1, 1)`, or declare `{decl.name}: vector[{decl.type.shape[0]}]`"
        )
    if expected == 1 and len(shape) == 2 and shape[0] == 1:
        return f"give `{decl.name}.reshape(-1)`"
    if expected == 1 and len(shape) == 2:
        return f"give one of its columns, or declare `{decl.name}` as a matrix"
    return "give an array of the declared form"
