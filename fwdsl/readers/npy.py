"""Reads npy and npz files. A plain npy file is memory-mapped; pickles are never loaded."""

from __future__ import annotations

import io
import math
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format

from ..sums import cut_evenly
from . import places
from .decoded import Pile
from .files import Unreadable, XzError, opened
from .findings import FileFindings
from .growing import Growing
from .mapped import mapped
from .roles import Role
from .row_blocks import DenseRows, SparseRows, Stored, cut_rows, stored_at
from .sources import compression

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from .pieces import Cut
    from .roles import Raw

_SPARSE = {"data", "indices", "indptr", "shape", "format"}
_NUMBERS = ("indices", "data")
_LOOKED_AT = 1 << 17  # columns that are looked at together
AT_ONCE = 1 << 25
"""Bytes of a range of rows whose columns are read one after the other: of wide matrices the disk is to give some thousands of bytes each time."""

_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


def read_npy(path: str, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings) -> dict[str, Raw]:
    """The array for the only role: a read-only memory map of a plain file, an array of a compressed one.

    Raises `Unreadable` where the file is not an array of numbers.
    """
    if len(roles) != 1:
        findings.cannot_serve(
            roles,
            "an npy file holds one array",
            "An npy source serves one name.",
            "give each its own file, or an npz file with an array for each",
        )
        return {}
    role = roles[0]
    if compression(path):
        with opened(path, findings) as stream:
            return findings.with_rows({role.name: _read_array(stream, role, path, None, findings)})
    with opened(path, findings) as stream:
        dtype, shape, offset, fortran = _read_header(stream, role, path, None, findings)
        held = stream.seek(0, io.SEEK_END) - offset
    needed = math.prod(shape) * dtype.itemsize
    if held < needed:
        _cut_short(path, None, shape, dtype, held, findings)
    if needed == 0:
        if shape[0]:
            findings.no_columns(shape[0])
        else:
            findings.no_rows()
        return {}
    if len(shape) == 2 and not fortran and role.stays_on_disk(needed):
        return {role.name: DenseRows([stored_at(path, offset, dtype, math.prod(shape))], shape[1])}
    if len(shape) == 2 and role.may_stay and role.stays_on_disk(needed):
        with opened(path, findings) as stream:
            return {role.name: _by_rows(stream, offset, dtype, shape, role, None, findings)}
    order = "F" if fortran else "C"
    with opened(path, findings):
        array = mapped(path, dtype, offset, shape, order)
    return {role.name: array if dtype.isnative else array.astype(dtype.newbyteorder("="))}


def read_npz(path: str, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings) -> dict[str, Raw]:
    """The array of each role's name, or of `key=`. A matrix written by `scipy.sparse.save_npz` becomes a CSR array.

    Raises `Unreadable` where the archive or an array in it cannot be read.
    """
    key = options.get("key")
    if not check_key(path, options, roles, findings):
        return {}
    result: dict[str, Raw] = {}
    with opened(path, findings) as stream:
        source = io.BytesIO(stream.read()) if compression(path) else stream  # a zip archive is read from its end
        try:
            with zipfile.ZipFile(source) as archive:
                members = {n.removesuffix(".npy") for n in archive.namelist() if n.endswith(".npy")}
                for role in roles:
                    wanted = role.name if key is None else str(key)
                    if wanted in members:
                        result[role.name] = _member(archive, wanted, role, path, findings)
                    elif key is None and len(roles) == 1 and role.is_table and members >= _SPARSE:
                        result[role.name] = _sparse(archive, role, path, findings)
                    else:
                        no_such_key(path, wanted, sorted(members), findings)
        except (ValueError, *_DAMAGED) as error:
            findings.add(
                "FW4043",
                f"`{path}` is not an npz archive, or is damaged: {error}",
                rule="An npz file is a zip archive of npy files, without a password.",
                hint="write it with `np.savez(path, A=A)`",
            )
            raise Unreadable from None
    return findings.with_rows(result)


def pieces_npz(path: str, options: Mapping[str, object], roles: Sequence[Role], most: int) -> list[Cut]:
    """All of the file, for one worker, where the numbers of a matrix do not lie in it as they are; none where they do: ranges of them are read."""
    try:
        with zipfile.ZipFile(path) as archive:
            for role in roles:
                key = str(options.get("key", role.name))
                keys = [key] if f"{key}.npy" in archive.namelist() else _NUMBERS
                if role.is_rows and not all(_lies_plain(archive, key, path) for key in keys):
                    return [(0, ("", None))]
    except (OSError, ValueError, KeyError, *_DAMAGED):  # which is told where it is read
        pass
    return []


def _lies_plain(archive: zipfile.ZipFile, key: str, path: str) -> bool:
    """True if an array lies in an archive as it is, its rows one after the other."""
    member = archive.getinfo(f"{key}.npy")
    with archive.open(member) as stream:
        version = npy_format.read_magic(stream)
        read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
        _, fortran, _ = read(stream)
    return member.compress_type == zipfile.ZIP_STORED and not fortran and not compression(path)


def _is_ranged(role: Role, nbytes: int) -> bool:
    """True if workers are to read ranges of a matrix of so many bytes."""
    return role.is_rows and role.stays is None and nbytes > places.READ_HERE and places.places() is not None


def check_key(path: str, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings) -> bool:
    """True unless `key=` names one array for several names, which is noted."""
    key = options.get("key")
    if key is None or len(roles) == 1:
        return True
    findings.add(
        "FW4030",
        f"`key={key!r}` names one array of `{path}`, for {len(roles)} names",
        rule="`key=` goes with a source that serves one name; without it each name is its own key.",
        hint="leave `key=` out, or give each name its own source",
    )
    return False


def _member(archive: zipfile.ZipFile, key: str, role: Role, path: str, findings: FileFindings) -> Any:
    nbytes = archive.getinfo(f"{key}.npy").file_size
    if (role.may_stay and role.stays_on_disk(nbytes)) or _is_ranged(role, nbytes):
        found = _stored_in(archive, key, role, path, findings)
        if found is not None:
            with archive.open(f"{key}.npy") as stream:
                _, shape, _, fortran = _read_header(stream, role, path, key, findings)  # type: ignore[arg-type]
            if len(shape) == 2 and not fortran:
                return DenseRows([found], shape[1])
            if len(shape) == 2 and role.may_stay:
                with opened(path, findings) as file:
                    return _by_rows(file, found.offset, found.dtype, shape, role, key, findings)
    with archive.open(f"{key}.npy") as stream:
        return _read_array(stream, role, path, key, findings)  # type: ignore[arg-type]  # an IO[bytes]


def _sparse(archive: zipfile.ZipFile, role: Role, path: str, findings: FileFindings) -> csr_array:
    """The matrix that `scipy.sparse.save_npz` wrote."""
    from scipy.sparse import csc_array, csr_array

    part = Role(role.name, "labels", (None,))  # takes any type, since `format` is text
    for key in _NUMBERS:
        with archive.open(f"{key}.npy") as stream:
            _, of, _, _ = _read_header(stream, part, path, key, findings)  # type: ignore[arg-type]  # an IO[bytes]
        if len(of) != 1:
            raise ValueError(f"`{key}` has {len(of)} axes, and the numbers of a sparse matrix lie along one")
    nbytes = sum(archive.getinfo(f"{k}.npy").file_size for k in _NUMBERS)
    if role.may_stay or (_is_ranged(role, nbytes) and all(_lies_plain(archive, k, path) for k in _NUMBERS)):
        found = _sparse_on_disk(archive, role, path, findings)
        if found is not None:
            return found
    # to read an array may take as much again: the largest comes first
    names = ("format", "shape", "indptr", "data", "indices")
    layout, shape, cuts, data, indices = (_member(archive, k, part, path, findings) for k in names)
    form = _form_of(layout, path, findings)
    _require_types({"indices": indices.dtype, "data": data.dtype}, path, findings)
    size, starts = _starts(form, shape, cuts, path, findings)
    # SciPy's constructor reads out of bounds where starts decrease
    matrix = (csr_array if form == "csr" else csc_array)((data, indices, starts), shape=size)
    matrix.check_format(full_check=True)
    return csr_array(matrix)


def _form_of(layout: Any, path: str, findings: FileFindings) -> str:
    """The form of a sparse matrix, `csr` or `csc`. Raises `Unreadable` for another one."""
    name = layout.item() if layout.size == 1 else b""
    name = name.decode("latin-1") if isinstance(name, bytes) else str(name)
    if name in ("csr", "csc"):
        return name
    findings.add(
        "FW4044",
        f"`{path}` holds a sparse matrix of the form `{name}`, where `csr` or `csc` was expected",
        rule="Of sparse matrices in npz files, `csr` and `csc` ones are read.",
        hint="write it with `scipy.sparse.save_npz(path, A.tocsr())`",
    )
    raise Unreadable


def _require_types(types: Mapping[str, np.dtype[Any]], path: str, findings: FileFindings) -> None:
    """Raise `Unreadable`, with the reason noted, where an array of a sparse matrix holds no numbers, or those of columns and rows are not whole."""
    for key, dtype in types.items():
        if dtype.kind not in ("fiub" if key == "data" else "iu"):
            findings.add(
                "FW4044",
                f"{_where(path, key)} holds {'text' if dtype.kind in 'US' else f'numbers of type `{dtype}`'}, "
                f"where {'real' if key == 'data' else 'whole'} numbers were expected",
                rule="A sparse matrix has real entries; its shape, and the numbers of its columns and of where its rows start, are whole.",
                hint="write it with `scipy.sparse.save_npz(path, A.tocsr())`",
                key=key,
            )
            raise Unreadable


def _starts(form: str, shape: Any, cuts: Any, path: str, findings: FileFindings) -> tuple[tuple[int, int], Any]:
    """The shape of a sparse matrix, and where its rows (of `csc` its columns) start and the last one ends.

    Raises `ValueError` where they do not fit together, and `Unreadable` where they are no whole numbers.
    """
    _require_types({"shape": shape.dtype, "indptr": cuts.dtype}, path, findings)
    if shape.shape != (2,) or min(size := shape.tolist()) < 0 or max(size) >= 2**63:
        raise ValueError(f"its shape is {shape.tolist()}")
    along, what = (size[0], "rows") if form == "csr" else (size[1], "columns")
    if cuts.shape != (along + 1,):
        raise ValueError(f"{along:,} {what} have {along + 1:,} starts and ends, and {cuts.size:,} are there")
    # in the type of the file differences may overflow
    ends = cuts.astype(np.int64)
    if ends[0] != 0 or np.any(np.diff(ends) < 0):
        raise ValueError(f"the starts of {what} are to rise from 0")
    return (size[0], size[1]), cuts if cuts.dtype == np.int32 else ends


def _sparse_on_disk(archive: zipfile.ZipFile, role: Role, path: str, findings: FileFindings) -> Any:
    """The same by rows, its columns' numbers and entries in files; None for a matrix by columns, and for one that fits into memory.

    Workers look at its columns where they are to hold the rows; None also where these are in no order, and what is decoded has no file to go into.
    """
    part = Role(role.name, "labels", (None,))
    layout, shape, cuts = (_member(archive, k, part, path, findings) for k in ("format", "shape", "indptr"))
    sizes = sum(archive.getinfo(f"{k}.npy").file_size for k in _NUMBERS)
    if (form := _form_of(layout, path, findings)) != "csr" or (role.stays is not None and sizes <= role.stays):
        return None
    size, starts = _starts(form, shape, cuts, path, findings)
    ends = starts.astype(np.int64, copy=False)
    indices, data = (
        _stored_in(archive, k, role, path, findings) or _spilled(archive, k, role, path, findings) for k in _NUMBERS
    )
    _require_types({"indices": indices.dtype, "data": data.dtype}, path, findings)
    if indices.count != data.count or data.count < ends[-1]:
        raise ValueError(
            f"it has {data.count:,} entries with {indices.count:,} columns' numbers, where rows end at {ends[-1]:,}"
        )
    if data.count > ends[-1]:
        indices, data = (Stored(s.path, s.offset, s.dtype, int(ends[-1]), s.size, s.changed) for s in (indices, data))
    found = SparseRows(ends, [(indices, data)], size[1])
    read_by, ranges = places.places(), list(found.pieces())
    if role.stays is None and read_by is not None:
        count = max(1, min(len(ranges), found.nbytes // places.PIECE_BYTES))
        at = [(ranges[a][0], ranges[b - 1][1]) for a, b in cut_evenly(len(ranges), count)]
        told = read_by(_is_ordered, [(found.between(a, b),) for a, b in at])
    else:
        told = [_is_ordered(found)]
    found.numbers_read = 0
    if None in told:
        raise ValueError("a column lies outside of the matrix")
    return found if all(told) else _in_order(found, role) if role.decoded is not None else None


def _is_ordered(matrix: SparseRows) -> bool | None:
    """True if columns increase in each row; None where one lies outside of the matrix."""
    ends, ordered = matrix.ends, True
    # few enough to stay in cache
    for start, stop in cut_rows(ends, 0, matrix.shape[0], _LOOKED_AT):
        columns = matrix.columns_of(start, stop)
        if columns.size and not 0 <= columns.min() <= columns.max() < matrix.shape[1]:
            return None
        if ordered:
            inside = columns[1:] > columns[:-1]
            firsts = ends[start + 1 : stop]
            inside[firsts[(firsts > ends[start]) & (firsts < ends[stop])] - ends[start] - 1] = True
            ordered = bool(inside.all())
    return ordered


def _in_order(matrix: SparseRows, role: Role) -> Any:
    """The same with columns that increase in each row; what stands twice is added up."""
    from scipy.sparse import csr_array

    assert role.decoded is not None
    pile = Pile(role.decoded, f"{role.name}.ordered")
    for start, stop in matrix.pieces():
        indptr, indices, data = matrix.compressed(start, stop)
        pile.add(csr_array((data, indices, indptr), shape=(stop - start, matrix.shape[1])))
    return pile.finish(as_wide_as=matrix.shape[1])


def _stored_in(archive: zipfile.ZipFile, key: str, role: Role, path: str, findings: FileFindings) -> Stored | None:
    """The numbers of an array that lies in the archive as it is; None of a compressed one."""
    member = archive.getinfo(f"{key}.npy")
    if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1 or compression(path):
        return None
    with open(path, "rb") as file:
        file.seek(member.header_offset)
        head = file.read(30)
        if head[:4] != b"PK\x03\x04":
            raise ValueError("an entry is not where the archive tells")
        file.seek(
            member.header_offset + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        )
        dtype, shape, offset, _ = _read_header(file, Role(role.name, "labels", (None,)), path, key, findings)
        return stored_at(path, offset, dtype, math.prod(shape))


def _spilled(archive: zipfile.ZipFile, key: str, role: Role, path: str, findings: FileFindings) -> Stored:
    """The numbers of a compressed array, decompressed into a file."""
    assert role.decoded is not None
    with archive.open(f"{key}.npy") as stream:
        into = Role(role.name, "labels", (None,), decoded=role.decoded)
        found = _numbers_of(stream, into, path, key, findings, spill=True)[0]  # type: ignore[arg-type]  # an IO[bytes]
    assert isinstance(found, Stored)
    return found


def _by_rows(
    stream: BinaryIO,
    offset: int,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    role: Role,
    key: str | None,
    findings: FileFindings,
) -> Any:
    """The matrix of numbers that lie column by column in a file, written by rows: a range of them at a time, of each column."""
    assert role.decoded is not None
    n, d = shape
    pile, step = Pile(role.decoded, role.name), max(1, AT_ONCE // (dtype.itemsize * d))
    for start in range(0, n, step):
        part = np.empty((d, min(step, n - start)), dtype)
        for column, into in enumerate(part):
            stream.seek(offset + (column * n + start) * dtype.itemsize)
            piece = stream.read(into.nbytes)
            if len(piece) < into.nbytes:
                _cut_short(stream.name, key, shape, dtype, stream.tell() - offset, findings)
            into[:] = np.frombuffer(piece, dtype)
        rows = np.ascontiguousarray(part.T)
        pile.add(rows if dtype.isnative else rows.astype(dtype.newbyteorder("=")))
    return pile.finish()


def _read_array(stream: BinaryIO, role: Role, path: str, key: str | None, findings: FileFindings) -> Any:
    """The array of a stream that cannot be mapped."""
    array, shape, fortran = _numbers_of(stream, role, path, key, findings)
    if isinstance(array, Stored):
        if not fortran:
            return DenseRows([array], shape[1])
        with open(array.path, "rb") as numbers:
            rows = _by_rows(numbers, 0, array.dtype, shape, role, key, findings)
        os.remove(array.path)
        return rows
    array = array.reshape(shape, order="F" if fortran else "C")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _numbers_of(
    stream: BinaryIO, role: Role, path: str, key: str | None, findings: FileFindings, spill: bool = False
) -> tuple[Any, tuple[int, ...], bool]:
    """The numbers of a stream with the array's shape and whether it is by columns; in a file where they are to stay there."""
    dtype, shape, _, fortran = _read_header(stream, role, path, key, findings)
    needed, most = math.prod(shape), max(1, (1 << 20) // dtype.itemsize)
    read = Growing(dtype)  # grows as it is read: the header may claim any size
    if spill or (role.may_stay and len(shape) == 2):
        assert role.decoded is not None
        read = role.decoded.array(f"{role.name}.{key or 'rows'}", dtype)
        if spill:
            read.spill()
    while read.size < needed:
        asked = min(needed - read.size, most) * dtype.itemsize
        piece = stream.read(asked)
        if len(piece) < asked:
            _cut_short(path, key, shape, dtype, read.size * dtype.itemsize + len(piece), findings)
        read.extend(np.frombuffer(piece, dtype))
    stream.read(1)  # checksums are compared at the end of the stream
    return read.finish(), shape, fortran


def _read_header(
    stream: BinaryIO, role: Role, path: str, key: str | None, findings: FileFindings
) -> tuple[np.dtype[Any], tuple[int, ...], int, bool]:
    """The type, the shape, the offset of the numbers, and whether they are in Fortran order. `Unreadable` if not numbers."""
    where = _where(path, key)
    try:
        version = npy_format.read_magic(stream)
        if version == (1, 0):
            shape, fortran, dtype = npy_format.read_array_header_1_0(stream)
        elif version == (2, 0):
            shape, fortran, dtype = npy_format.read_array_header_2_0(stream)
        else:  # 3.0 exists for records whose fields have names outside latin-1
            shape, fortran, dtype = (), False, np.dtype([("", np.float64)])
        # NumPy takes `True` for a size
        sound = all(type(n) is int and n >= 0 for n in shape) and math.prod(shape) * dtype.itemsize < 2**62
    except (OSError, EOFError, zlib.error, XzError):
        raise
    except Exception:  # NumPy reads the header as a Python literal, which fails in many ways for a broken file
        sound = False
    if not sound:
        findings.add(
            "FW4040",
            f"{where} is not an npy file",
            rule="An npy file begins with a header that tells type and shape.",
            hint="write it with `np.save(path, array)`",
            key=key,
        )
        raise Unreadable
    check_array(dtype, role, path, key, findings)
    return dtype, shape, stream.tell() if stream.seekable() else 0, fortran


def check_array(dtype: np.dtype[Any], role: Role, path: str, key: str | None, findings: FileFindings) -> None:
    """Raise `Unreadable`, with the reason noted, unless an array of this type holds real numbers, or text for labels."""
    where = _where(path, key)
    if dtype.hasobject:
        findings.add(
            "FW4041",
            f"{where} holds Python objects, which are never unpickled",
            rule="Unpickling a file runs code that it brings; data are numbers only.",
            hint="convert the array first, as in `np.save(path, np.asarray(list_of_rows, dtype=float))`",
            key=key,
        )
        raise Unreadable
    numbers = dtype.kind in "fiub" and dtype.itemsize <= 8
    text = role.may_be_text and dtype.kind in "US" and dtype.itemsize > 0
    if not (numbers or text):
        kind = {"c": "complex numbers", "U": "text", "S": "text", "M": "dates", "m": "durations", "V": "records"}
        findings.add(
            "FW4044",
            f"{where} holds {kind.get(dtype.kind, f'numbers of type `{dtype}`')}, where real numbers were expected",
            rule="Arrays hold real numbers: floats of at most 64 bits, integers or booleans; labels may be text.",
            hint="convert the array first, as in `np.save(path, array.astype(float))`",
            key=key,
        )
        raise Unreadable


def _cut_short(
    path: str, key: str | None, shape: tuple[int, ...], dtype: np.dtype[Any], held: int, findings: FileFindings
) -> None:
    size = " x ".join(map(str, shape)) or "1"
    needed = math.prod(shape) * dtype.itemsize
    findings.add(
        "FW4042",
        f"{_where(path, key)} is cut short: {size} numbers of type `{dtype}` need {needed} bytes, and {held} are there",
        rule="An npy file holds as many numbers as its header tells.",
        hint="write or copy it again",
        key=key,
    )
    raise Unreadable


def no_such_key(path: str, wanted: str, keys: Sequence[str], findings: FileFindings) -> None:
    """Note that a file has no array of a name."""
    close = get_close_matches(wanted, keys, n=1)
    listed = f"its arrays are {', '.join(f'`{k}`' for k in keys[:12])}" if keys else "it holds no arrays"
    findings.add(
        "FW4045",
        f"`{path}` has no array `{wanted}`",
        rule="A source of several arrays serves each name from the array of that name, or of `key=`.",
        hint=(f"did you mean `{close[0]}`? " if close else "") + listed,
        key=wanted,
    )


def _where(path: str, key: str | None) -> str:
    return f"`{path}`" if key is None else f"`{key}` in `{path}`"
