"""Reads a source: `read(spec, roles)` gives arrays for the declared names, and what is wrong with the file."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from ..grammar.diagnostic import Diagnostic
from ..words import SOURCES
from .cache_folder import DiskFull, no_room
from .files import STDIN, Unreadable
from .findings import FileFindings
from .places import places, reading_at
from .roles import LabelSets, Role
from .several import Reader, files_of, read_all
from .sources import SourceSpec, is_url, without_secrets

if TYPE_CHECKING:
    from .decoded import Decoded
    from .pieces import Piece
    from .roles import Raw

__all__ = ["LabelSets", "Role", "read"]

log = logging.getLogger("fwdsl.readers")


def read(
    spec: SourceSpec,
    roles: Sequence[Role],
    headers: dict[str, tuple[str, ...]] | None = None,
    pulled: list[Mapping[str, object]] | None = None,
    files: dict[str, tuple[tuple[str, int], ...]] | None = None,
) -> tuple[dict[str, Raw], tuple[Diagnostic, ...]]:
    """The arrays that a source serves, by name, and its diagnostics. There are no arrays where one of these is an error.

    A `Raw` is a dense array, a memory map (plain `.npy`), a `csr_array` (libsvm, sparse mtx), an array of label values
    (numbers or words), `LabelSets` or `Triplets` (coo). The numbers of text formats are checked to be finite. Those of npy
    and npz are not, since that would load a memory map (see `scan.find_nonfinite`). The column names of tables go into
    `headers`, what is known of the files at a URL (see `remote.Copy.files`) to `pulled`, and several files with their rows to `files`.
    `spec.format` must be one of `SOURCES`.
    """
    if any(map(is_url, spec.paths)):
        return _read_remote(spec, roles, headers, pulled)
    findings = FileFindings(spec.path)
    decoded: Decoded | None = None
    log.info("%s is read as %s for %s", spec.path, spec.format, ", ".join(role.name for role in roles))
    try:
        spec = _for_all(spec)
        several = files_of(spec.paths, SOURCES[spec.format], findings)
        reader = _reader(spec.format)
        decoded = _decoded(spec, several, roles)
        if decoded is not None:
            kept = decoded.kept()
            if kept is not None:
                log.info("%s is read as it was decoded into %s", spec.path, decoded.folder)
                arrays, known, rows = kept
                if headers is not None:
                    headers.update(known)
                if files is not None:
                    files.update(rows)
                return arrays, ()
            roles = [replace(role, decoded=decoded) for role in roles]
        if SOURCES[spec.format].in_folders:
            from .partitions import with_folders

            reader = with_folders(reader, spec.paths, several, findings)
        pieces: dict[str, Sequence[Piece]] = {}
        if places() is not None:
            from .pieces import pieces_of

            word = SOURCES[spec.format]
            pieces = pieces_of([spec.path] if several is None else several, word, reader, spec.options, roles)
        if several is None and not pieces:
            arrays = reader(spec.path, spec.options, roles, findings)
        else:
            arrays = read_all(several or [spec.path], reader, spec.options, roles, findings, pieces)
        if decoded is not None and not findings.failed:
            arrays = decoded.keep(arrays, findings.headers, not findings.result(), findings.rows)
    except Unreadable:
        arrays = {}
    except DiskFull as error:
        arrays = {}
        code, message, rule, hint = no_room(f"`{spec.path}`", error)
        findings.add(code, message, rule=rule, hint=hint)
    except MemoryError:
        arrays = {}
        rule = "Data that is not memory-mapped must fit into memory."
        findings.add("FW4007", f"`{spec.path}` does not fit into memory", rule=rule)
    finally:
        if decoded is not None:
            decoded.drop()
    if headers is not None:
        headers.update(findings.headers)
    if files is not None:
        files.update(findings.rows)
    return ({} if findings.failed else arrays), findings.result()


def _read_remote(
    spec: SourceSpec,
    roles: Sequence[Role],
    headers: dict[str, tuple[str, ...]] | None,
    pulled: list[Mapping[str, object]] | None,
) -> tuple[dict[str, Raw], tuple[Diagnostic, ...]]:
    """The same for URLs, whose files are read as copies that are then removed. What is wrong with them is told of the URL."""
    from .remote import copied

    own: list[FileFindings] = []
    try:
        with ExitStack() as stack:
            copies = {}
            for url in filter(is_url, spec.paths):
                own.append(FileFindings(without_secrets(url)))
                copies[url] = stack.enter_context(copied(url, SOURCES[spec.format], own[-1]))
            # the copies are this machine's, and go when they are read
            roles = [replace(role, stays=None) for role in roles]
            local = tuple(copies[path].path if path in copies else path for path in spec.paths)
            here = replace(spec, listed=local) if spec.listed else replace(spec, path=local[0])
            with reading_at(None):
                arrays, found = read(here, roles, headers)
            for copy in copies.values():
                if pulled is not None:
                    pulled.extend(copy.files)
                found = tuple(copy.of_url(d) for d in found)
            return arrays, found
    except Unreadable:
        return {}, tuple(d for findings in own for d in findings.result())


def _for_all(spec: SourceSpec) -> SourceSpec:
    """The source with whole paths where workers read too, whose current folder is another."""
    if places() is None or STDIN in spec.paths:
        return spec
    whole = [os.path.abspath(path) for path in spec.paths]
    return replace(spec, listed=tuple(whole)) if spec.listed else replace(spec, path=whole[0])


def _decoded(spec: SourceSpec, several: Sequence[str] | None, roles: Sequence[Role]) -> Decoded | None:
    """The files that matrices are decoded into which outgrow memory; None where all are read into memory."""
    stays = next((role.stays for role in roles if role.stays is not None), None)
    paths = spec.paths if several is None else several
    if stays is None or not all(os.path.exists(path) for path in paths):
        return None
    from .decoded import Decoded

    asked = [(r.name, r.kind, r.shape, r.of, r.columns) for r in roles]
    return Decoded([spec.format, dict(spec.options), asked], paths, stays)


def _reader(name: str) -> Reader:
    """The reader of a format, imported when it is needed."""
    module, function = SOURCES[name].reader
    found: Reader = getattr(import_module(f".{module}", __package__), function)
    return found
