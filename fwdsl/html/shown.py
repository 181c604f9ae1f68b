"""Objects that notebooks show as HTML, and other front ends as text."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar


class ShownInNotebooks:
    """The mixin of objects that have HTML beside their text.

    Jupyter, VS Code and marimo ask for `_repr_html_` or `_repr_mimebundle_`, which hold the same. `_html_from` names the function that makes the
    HTML of an object, as `module:function`: it is loaded when somebody asks, and may know classes that this one does not.
    """

    _html_from: ClassVar[str]

    def _plain(self) -> str:
        """The object as text."""
        return repr(self)

    def _repr_html_(self) -> str:
        module, _, function = self._html_from.partition(":")
        return str(getattr(import_module(module), function)(self))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": self._plain(), "text/html": self._repr_html_()}
