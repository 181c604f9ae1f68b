"""Arrays in npz files."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np

from ..grammar.diagnostic import Diagnostic
from .target import write_atomically

SUFFIX = ".npz"


def wrong_suffix(name: str, way: str) -> Diagnostic | None:
    """The diagnostic where a file of arrays is named as another; `way` is what writes it: `--out`, or `save` of Python."""
    path = Path(name)
    if path.suffix.lower() == SUFFIX:
        return None
    better = path.with_suffix(SUFFIX) if path.name else f"fit{SUFFIX}"
    rule = f"`{way}` writes arrays by name, in a file that ends in `{SUFFIX}`."
    hint = f"write `{way} {better}`" if way.startswith("-") else f'write `{way}("{better}")`'
    return Diagnostic("FW0028", f"`{name}` does not end in `{SUFFIX}`", rule=rule, hint=hint)


def write_arrays(name: str, arrays: Mapping[str, object]) -> None:
    """Write arrays by name into an npz file, whole or not at all. Raises `OSError` where that fails."""

    def write(stream: IO[bytes]) -> None:
        # By hand, as `numpy.savez` takes names as keywords of its own: a variable may be called `file`.
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for key, value in arrays.items():
                with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asarray(value), allow_pickle=False)

    write_atomically(name, write)
