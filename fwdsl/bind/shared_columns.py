"""Warns of columns of a matrix that are targets too, as another source takes them from the same file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from ..check.shapes import format_type
from ..grammar import tree
from ..model import DataDecl
from ..readers.files import STDIN
from ..readers.sources import SourceSpec, infer_format, is_url, without_secrets
from .findings import Findings


@dataclass(frozen=True, slots=True)
class Served:
    """A source and the data that take their values from it."""

    spec: SourceSpec
    data: tuple[DataDecl, ...]

    def is_of(self, other: Served) -> bool:
        """True if both read the same files in the same format."""
        return self.spec.format == other.spec.format and _places(self.spec) == _places(other.spec)


def note_shared_columns(
    served: Sequence[Served], headers: Mapping[str, tuple[str, ...]], given: Set[str], findings: Findings
) -> None:
    """Warn where a matrix has a column that is a vector, signs, labels or an index too, from another source of the same file.

    `headers` are the names of the columns of matrices, `given` the data that the command line gives. Columns that `columns=` lists are meant.
    """
    for of_matrix in served:
        if "columns" in of_matrix.spec.options:
            continue
        for matrix in of_matrix.data:
            header = headers.get(matrix.name, ())
            shared = [
                (decl, column)
                for other in served
                if other is not of_matrix and header and other.is_of(of_matrix)
                for decl in other.data
                if (column := _column(decl, other, header)) in header
            ]
            if shared:
                _note(of_matrix.spec, matrix, shared, given, findings)


def _places(spec: SourceSpec) -> list[str]:
    return [path if is_url(path) else os.path.realpath(path) for path in spec.paths]


def _column(decl: DataDecl, served: Served, header: Sequence[str]) -> str | None:
    """The name of the column that a datum of one value per row takes: that of `target=`, else its own."""
    type_ = decl.type
    if not (type_.is_coded or ((type_.is_vector or type_.is_signs) and len(type_.shape) == 1)):
        return None
    target = served.spec.options.get("target")
    if isinstance(target, str) and (len(served.data) == 1 or decl.name not in header):
        return target
    return decl.name if target is None or len(served.data) > 1 else None


def _note(
    spec: SourceSpec,
    matrix: DataDecl,
    shared: Sequence[tuple[DataDecl, str]],
    given: Set[str],
    findings: Findings,
) -> None:
    columns = [column for _, column in shared]
    together = (matrix, *(decl for decl, _ in shared))
    remedies = []
    if any(decl.name in given for decl in together) and all(decl.name == column for decl, column in shared):
        remedies.append(f"`--data {','.join(d.name for d in together)}={_argument(spec)}`")
    if len(spec.paths) == 1 and spec.path != STDIN:
        declared = ", ".join(f"{d.name}: {format_type(d.type)}" for d in together)
        target = f', target="{columns[0]}"' if len(columns) == 1 else ""
        remedies.append(f'in the program `data {declared} from {spec.format}("{_written(spec, matrix)}"{target})`')
    listed = " and ".join(f"`{column}`" for column in columns)
    names = " and ".join(f"`{decl.name}`" for decl, _ in shared)
    several = len(shared) > 1
    findings.add(
        "FW4037",
        f"`{matrix.name}` has the column{'s' if several else ''} {listed} of {_told(spec)}, "
        f"which {'are' if several else 'is'} {names} as well",
        span=matrix.span,
        label="takes all columns",
        rule="A matrix alone takes all columns of its source. Where one source serves it and a target, it takes all but the target.",
        hint=f"write {', or '.join(remedies)}" if remedies else "read both from one source",
        severity="warning",
    )


def _argument(spec: SourceSpec) -> str:
    """The files as `--data` takes them."""
    path = without_secrets(spec.path) if not spec.listed else f"[{','.join(map(without_secrets, spec.listed))}]"
    return path if infer_format(spec.paths[0]) == spec.format else f"{spec.format}:{path}"


def _told(spec: SourceSpec) -> str:
    return "standard input" if spec.path == STDIN else f"`{without_secrets(spec.path)}`"


def _written(spec: SourceSpec, decl: DataDecl) -> str:
    """The path as the program has it, or as it is given."""
    first = decl.source.args[0] if decl.source is not None and decl.source.args else None
    own = isinstance(first, tree.String) and spec.path.endswith(first.value)
    return without_secrets(first.value if own and isinstance(first, tree.String) else spec.path)
