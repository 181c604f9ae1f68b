"""Ways to spoil a data file: its text, its bytes, its headers."""

from __future__ import annotations

import io
import pickle
import random
import re
import struct
import warnings
import zipfile

import numpy as np

from .mutations import (
    change_line_ends,
    change_lines,
    change_number,
    change_token,
    delete_characters,
    insert_odd,
    lengthen,
    repeat_span,
)

TEXT = {"libsvm", "csv", "mtx", "coo"}


def saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


_BAD_NUMBERS = (
    "nan NaN inf -inf Infinity 1e400 -1e400 1e308 1e-320 0x10 1_000 1,5 1e --1 +-1 - + . 1.2.3 9007199254740993 2147483648 4294967296 "
    "18446744073709551616 99999999999999999999999999 2000000000 -1 0 1e999999999 None NA null true ١ ½ 1d5 1:2 :1 1: : # % \" '"
).split(" ")


def _bad_field(rng: random.Random, text: str) -> str:
    fields = list(re.finditer(r"[^\s,:]+", text))
    if not fields:
        return text
    at = rng.choice(fields)
    return text[: at.start()] + rng.choice((*_BAD_NUMBERS, "")) + text[at.end() :]


def _ragged(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    i = rng.randrange(len(lines))
    parts = re.split(r"([,\s])", lines[i])
    j = rng.randrange(len(parts))
    lines[i] = "".join(parts[:j] if rng.random() < 0.5 else parts[:j] + parts[j:] + parts[j:])
    return "\n".join(lines)


def _swapped_fields(rng: random.Random, text: str) -> str:
    fields = list(re.finditer(r"[^\s,]+", text))
    if len(fields) < 2:
        return text
    a, b = sorted(rng.sample(fields, 2), key=lambda m: m.start())
    return text[: a.start()] + b[0] + text[a.end() : b.start()] + a[0] + text[b.end() :]


def _quotes(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(('"', '""', '"""', "'", '"\n')) + text[at:]


_OF_TEXT = (
    _bad_field,
    _bad_field,
    _bad_field,
    _ragged,
    _swapped_fields,
    _quotes,
    change_line_ends,
    change_lines,
    change_number,
    change_token,
    delete_characters,
    insert_odd,
    lengthen,
    repeat_span,
)


def _encoded(rng: random.Random, text: str) -> bytes:
    choice = rng.random()
    if choice < 0.85:
        return text.encode("utf-8", "surrogatepass")
    if choice < 0.9:
        return b"\xef\xbb\xbf" * rng.choice((1, 1, 2)) + text.encode("utf-8", "surrogatepass")
    return text.encode(rng.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "cp037", "utf-7")), "replace")


def flip_bits(rng: random.Random, content: bytes) -> bytes:
    spoiled = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5, 50))):
        if spoiled:
            spoiled[rng.randrange(len(spoiled))] ^= 1 << rng.randrange(8)
    return bytes(spoiled)


def truncate(rng: random.Random, content: bytes) -> bytes:
    return (
        content[: rng.randrange(len(content) + 1)] if rng.random() < 0.8 else content[rng.randrange(len(content) + 1) :]
    )


def move(rng: random.Random, content: bytes) -> bytes:
    a, b = sorted((rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)))
    match rng.randrange(4):
        case 0:
            return content[:a] + content[b:]
        case 1:
            return content[:b] + content[a:b] + content[b:]
        case 2:
            return content[:a] + bytes(rng.randrange(256) for _ in range(rng.randint(1, 9))) + content[a:]
        case _:
            return content[:a] + b"\0" * (b - a) + content[b:]


def large_word(rng: random.Random, content: bytes) -> bytes:
    """Four or eight bytes that are a huge number: a length, a count, an offset."""
    if len(content) < 8:
        return content
    at = rng.randrange(len(content) - 7)
    word = struct.pack(
        rng.choice("<>") + rng.choice(("Iq", "IQ", "iq"))[1], rng.choice((2**31, 2**40, 2**62, 2**63 - 1))
    )
    size = rng.choice((4, 8))
    return content[:at] + word[:size] + content[at + size :]


OF_BYTES = (flip_bits, flip_bits, flip_bits, truncate, truncate, move, large_word)

_SHAPES = (
    "(1000000000000, 4)",
    "(8, 1000000000000)",
    "(1000000, 1000000)",
    "(8, 4, 0)",
    "(-1, 4)",
    "(8,)",
    "()",
    "(0, 4)",
    "(4, 0)",
    "(32,)",
    "(8, 4.0)",
    "(9223372036854775807, 2)",
    "(4294967296, 4294967296)",
    "(None, 4)",
    "(8, 4",
    "[8, 4]",
    "(True, 32)",
    "10**9, 4",
)
_DTYPES = (
    "'|O'",
    "'<f8,<f8'",
    "[('a', '<f8'), ('b', '<i4')]",
    "'<U8'",
    "'|S8'",
    "'<c16'",
    "'<M8[s]'",
    "'<m8[D]'",
    "'|V8'",
    "'<f2'",
    "'<f16'",
    "'>f8'",
    "'<f9'",
    "'garbage'",
    "None",
    "('<f8', (2,))",
    "'<i8'",
    "'|b1'",
)


def _npy_lies(rng: random.Random, content: bytes) -> bytes:
    """A header that does not fit what follows."""
    size = int.from_bytes(content[8:10], "little")
    header, rest = content[10 : 10 + size].decode("latin-1"), content[10 + size :]
    match rng.randrange(4):
        case 0:
            header = re.sub(r"'shape': \([^)]*\)", lambda _: f"'shape': {rng.choice(_SHAPES)}", header)
        case 1:
            header = re.sub(r"'descr': '[^']*'", lambda _: f"'descr': {rng.choice(_DTYPES)}", header)
        case 2:
            header = header.replace(
                rng.choice(("False", "True", "descr", "fortran_order", "shape", "{", "}", ",")),
                rng.choice(("", "2", "descr", "None", "__import__('os').mkdir('run')")),
                1,
            )
        case _:
            header = header.strip() + " " * rng.choice((0, 1, 100_000))
    raw = header.encode("latin-1", "replace")
    if rng.random() < 0.15:  # objects, pickled
        rest = pickle.dumps([rng.random() for _ in range(9)])
    version = rng.choice((b"\x01\x00", b"\x01\x00", b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"))
    length = struct.pack("<H", len(raw) % 65536) if version[0] == 1 else struct.pack("<I", len(raw))
    if rng.random() < 0.1:
        length = struct.pack("<H" if version[0] == 1 else "<I", 65535)
    return content[:6] + version + length + raw + rest


def _npz_lies(rng: random.Random, content: bytes) -> bytes:
    """Members left out, doubled, renamed, emptied, or with lying headers; indices of sparse ones out of range."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    i = rng.randrange(len(members))
    name, inside = members[i]
    match rng.randrange(7):
        case 0:
            del members[i]
        case 1:
            members.append(members[i])
        case 2:
            members[i] = (
                rng.choice(("y", "X", "indices", "../X", "/X", "", "X.npy.npy", "a/b", "ｘ", "x" * 5000)) + ".npy",
                inside,
            )
        case 3:
            members[i] = (name, b"")
        case 4:
            array = np.load(io.BytesIO(inside))
            changed = array.ravel().copy()
            if changed.size and changed.dtype.kind in "if":
                with np.errstate(all="ignore"):
                    changed[rng.randrange(changed.size)] = rng.choice((-1, 2**31 - 1, 10**6, -(2**31)))
            members[i] = (name, saved(changed.reshape(array.shape) if rng.random() < 0.8 else changed[:-1]))
        case 5:
            members[i] = (name, saved(np.array(rng.choice(([1e12, 4], [-1, 4], [2**62, 2**62], [0, 0], [8])))))
        case _:
            members[i] = (name, _npy_lies(rng, inside))
    stream = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, data in members:
            archive.writestr(each, data)
    return stream.getvalue()


def _mtx_lies(rng: random.Random, text: str) -> str:
    """Another banner, or counts that do not hold."""
    lines = text.split("\n")
    if rng.random() < 0.4:
        lines[0] = "%%MatrixMarket matrix " + " ".join(
            (
                rng.choice(("coordinate", "array", "")),
                rng.choice(("real", "integer", "pattern", "complex", "quaternion")),
                rng.choice(("general", "symmetric", "skew-symmetric", "hermitian", "odd")),
            )
        )
        return "\n".join(lines)
    at = next((i for i, line in enumerate(lines) if line and not line.startswith("%")), 0)
    counts = lines[at].split()
    if counts:
        counts[rng.randrange(len(counts))] = rng.choice(
            ("1000000000000", "0", "-1", "2147483648", "9223372036854775808", "1e3", "4.0", "99", "1", "x", "")
        )
    lines[at] = " ".join(counts)
    return "\n".join(lines)


def spoil(rng: random.Random, kind: str, content: bytes) -> bytes:
    """One to three mutations."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if kind in TEXT and rng.random() < 0.8:
            text = content.decode("utf-8", "surrogateescape").encode("utf-8", "replace").decode()
            text = _mtx_lies(rng, text) if kind == "mtx" and rng.random() < 0.4 else rng.choice(_OF_TEXT)(rng, text)
            content = _encoded(rng, text)
        elif kind == "npy" and rng.random() < 0.6 and content[:6] == b"\x93NUMPY":
            content = _npy_lies(rng, content)
        elif kind == "npz" and rng.random() < 0.6 and zipfile.is_zipfile(io.BytesIO(content)):
            try:
                content = _npz_lies(rng, content)
            except Exception:  # what an earlier mutation broke cannot be taken apart
                content = flip_bits(rng, content)
        elif content:
            content = rng.choice(OF_BYTES)(rng, content)
    return content
