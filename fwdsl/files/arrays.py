"""Arrays in npz files."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import IO

import numpy as np

from .target import write_atomically


def write_arrays(name: str, arrays: Mapping[str, object]) -> None:
    """Write arrays by name into an npz file, whole or not at all. Raises `OSError` where that fails."""

    def write(stream: IO[bytes]) -> None:
        # By hand, as `numpy.savez` takes names as keywords of its own: a variable may be called `file`.
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for key, value in arrays.items():
                with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asarray(value), allow_pickle=False)

    write_atomically(name, write)
