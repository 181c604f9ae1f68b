"""fwdsl in notebooks: `%load_ext fwdsl` gives cells `%%fw`, the completion of words in them, and a line of progress while a solve runs.

IPython (extra `notebook`) calls this package, and only then is it imported.
"""

from __future__ import annotations

from typing import Any

_loaded: list[Any] = []


def load_ipython_extension(shell: Any) -> None:
    """Add `%%fw`, its completion and the progress of solves to a running IPython: what `%load_ext fwdsl` calls."""
    from .extension import Extension

    unload_ipython_extension(shell)
    _loaded.append(Extension(shell))


def unload_ipython_extension(shell: Any) -> None:
    """Take away what `load_ipython_extension` has added: what `%unload_ext fwdsl` calls."""
    while _loaded:
        _loaded.pop().unload()
