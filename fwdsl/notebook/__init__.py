"""fwdsl in notebooks: `%load_ext fwdsl` gives cells `%%fw`, the completion of words in them, and a line of progress while a solve runs.

IPython (extra `notebook`) calls this package, and only then is it imported.
"""

from __future__ import annotations

from typing import Any

#: The extension of each shell that has one; tests and embedded shells have several in a process.
_loaded: dict[int, Any] = {}


def load_ipython_extension(shell: Any) -> None:
    """Add `%%fw`, its completion and the progress of solves to a running IPython: what `%load_ext fwdsl` calls."""
    from .extension import Extension

    unload_ipython_extension(shell)
    _loaded[id(shell)] = Extension(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take away what `load_ipython_extension` has added: what `%unload_ext fwdsl` calls."""
    found = _loaded.pop(id(shell), None)
    if found is not None:
        found.unload()
