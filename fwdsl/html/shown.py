"""Objects that notebooks show as HTML, and other front ends as text."""

from __future__ import annotations


class ShownInNotebooks:
    """The mixin of objects that have HTML, `_html()`, beside their text.

    Jupyter, VS Code and marimo ask for `_repr_html_` or `_repr_mimebundle_`, which hold the same.
    """

    def _html(self) -> str:
        """The object as a part of a page."""
        raise NotImplementedError

    def _plain(self) -> str:
        """The object as text."""
        return repr(self)

    def _repr_html_(self) -> str:
        return str(self._html())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": self._plain(), "text/html": self._repr_html_()}
