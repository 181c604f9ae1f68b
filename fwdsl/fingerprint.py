"""Fingerprints of programs and data, computed on first need: what a saved state is refused by."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from .instance import Instance

_CHUNK = 1 << 24


def of_array(value: Any) -> str:
    """SHA-256 of a datum's shape, type and numbers; sparse matrices by their three arrays. Works through memory maps in chunks."""
    digest = hashlib.sha256()
    parts = (value.indptr, value.indices, value.data) if hasattr(value, "indptr") else (np.asarray(value),)
    digest.update(repr(np.shape(value)).encode())
    for part in parts:
        digest.update(str(part.dtype).encode())
        flat = part.reshape(-1) if part.flags.c_contiguous else np.ascontiguousarray(part).reshape(-1)
        raw = flat.view(np.uint8)
        for start in range(0, raw.size, _CHUNK):
            digest.update(raw[start : start + _CHUNK].tobytes())
    return digest.hexdigest()


def of_instance(instance: Instance) -> dict[str, str]:
    """The program's fingerprint under "program" and each value's under its name."""
    text = "\n".join(repr(part) for part in (instance.model.terms, instance.model.constraints, instance.model.sense))
    out = {"program": hashlib.sha256(text.encode()).hexdigest()}
    for name, value in sorted(instance.values.items()):
        out[name] = of_array(value)
    return out
