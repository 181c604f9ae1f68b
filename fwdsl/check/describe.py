"""Describes the inputs and outputs of a program without its data, for `fwdsl info`."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics.secrets import masked
from ..grammar.tree import Call, String
from ..model import DataDecl, Dim, Model, ParamDecl, Term, Type
from ..model.dims import names_in
from .printer import format_domain, format_typed
from .shapes import format_type


def describe_program(model: Model) -> dict[str, object]:
    """The data, parameters, variables, dimensions, objective and constraints of a checked program, as plain values.

    Keys: `name`, `sense`, `data`, `parameters`, `variables`, `dimensions`, `terms`, `constraints`, `lets`, `options`. Each
    is a list of dictionaries in the order of the program. `needed` marks what a user must supply to run it.
    """
    return {
        "name": model.name or None,
        "sense": model.sense,
        "data": [_datum(d, model) for d in model.data],
        "parameters": [_parameter(p, model) for p in model.params],
        "variables": [{"name": v.name, "type": format_type(v.type)} for v in model.variables],
        "dimensions": [_dimension(name, model) for name in dimensions(model)],
        "terms": [{"name": t.name or None, "text": _scaled(t)} for t in model.terms],
        "constraints": [{"name": c.name, "text": c.text} for c in model.constraints],
        "lets": [name for name, _ in model.lets],
        "options": dict(model.options),
    }


def dimensions(model: Model) -> list[str]:
    """The names of a program's dimensions in the order of its text, with those of feature maps (`dim(Phi)`)."""
    types = [d.type for d in model.declared]
    names = [name for t in types for d in _dims(t) for name in names_in(d)]
    names += [name for d in model.dims for name in names_in(d)]
    return list(dict.fromkeys(n for n in names if not n.startswith("len(")))


def binders(name: str, model: Model) -> list[str]:
    """The data that give a dimension its size, in words (`rows of X`, `classes of y`); empty where `--dim` must give it."""
    parts = [part for d in _sized(model) for part in _parts(d)]
    sized = [words for dim, words in parts if dim == name]
    sized = sized or [f"{words}, which is {dim}" for dim, words in parts if name in names_in(dim)]
    if sized or not name.startswith("dim("):
        return sized or [f"the largest index of {d.name}" for d in model.data if d.type.classes == name]
    return [f"columns of {name[4:-1]}"]


def _sized(model: Model) -> list[DataDecl]:
    """The data and the parameters whose arrays have sizes."""
    return [*model.data, *(p.as_data for p in model.params if not p.type.is_scalar)]


def is_shown(name: str, model: Model) -> bool:
    """True if the shape of a datum shows the size of the dimension. Ids of observed entries and an index may leave positions out."""
    return any(name in names_in(dim) for d in _sized(model) if not d.type.is_entries for dim, _ in _parts(d))


def _scaled(term: Term) -> str:
    """A term of the objective with its coefficient."""
    coefficient = format_typed(term.coefficient)
    if coefficient in ("1", "-1"):
        return coefficient[:-1] + term.text
    return f"({coefficient}) * {term.text}" if term.coefficient.op == "add" else f"{coefficient} * {term.text}"


def _datum(decl: DataDecl, model: Model) -> dict[str, object]:
    literal = decl.literal is not None
    path = decl.source.args[0] if isinstance(decl.source, Call) and decl.source.args else None
    return {
        "name": decl.name,
        "type": format_type(decl.type),
        "promise": decl.type.domain if not decl.type.is_scalar and decl.type.domain != "real" else None,
        "source": None if decl.source is None else masked(model.source.slice(decl.source.span)),
        "path": masked(path.value) if isinstance(path, String) else None,
        "with": [name for name in decl.serves if name != decl.name],
        "literal": literal,
        "needed": decl.source is None and not literal,
    }


def _parameter(decl: ParamDecl, model: Model) -> dict[str, object]:
    default = None if decl.default is None else model.source.slice(decl.default.span)
    return {"name": decl.name, "domain": format_domain(decl), "default": default, "needed": decl.default is None}


def _dimension(name: str, model: Model) -> dict[str, object]:
    bound_by = binders(name, model)
    users = [v.name for v in model.variables if any(name in names_in(d) for d in _dims(v.type))]
    return {"name": name, "bound_by": bound_by, "of_variables": users, "needed": not bound_by}


def _parts(decl: DataDecl) -> Iterator[tuple[Dim, str]]:
    """The dimensions that a datum binds, each with its words."""
    shape = decl.type.shape
    if decl.type.is_symmetric:
        yield shape[0], f"size of {decl.name}"
    elif len(shape) == 1:
        yield shape[0], f"length of {decl.name}"
    elif decl.type.is_labels:
        yield from ((shape[0], f"length of {decl.name}"), (shape[1], f"classes of {decl.name}"))
    else:
        words = ("rows", "columns") if len(shape) == 2 else tuple(f"axis {i}" for i in range(len(shape)))
        yield from ((dim, f"{word} of {decl.name}") for dim, word in zip(shape, words, strict=True))


def _dims(type_: Type) -> Iterator[Dim]:
    yield from type_.shape
    if type_.classes is not None:
        yield type_.classes
    if type_.element is not None:
        yield from _dims(type_.element)
