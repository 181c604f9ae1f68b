"""The extension of Sphinx that the site is built with: the lexer, the pages that are generated, links to files, docstrings of ours."""

from __future__ import annotations

import re
from fnmatch import filter as matching
from pathlib import PurePosixPath
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from fwdsl.highlight.pygments_lexer import FwLexer

from . import docstrings, generated
from .links import MADE, for_site


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what is ours."""
    app.add_lexer("fw", FwLexer)
    for plain in ("csv", "libsvm"):
        app.add_lexer(plain, TextLexer)
    if "plot_gallery" not in app.config.values:
        # sphinx-gallery's, so that `--no-pictures` may be said of a site without one
        app.add_config_value("plot_gallery", True, "html", bool)
    app.connect("config-inited", write_pages, priority=100)
    app.connect("source-read", lead_to_pages)
    app.connect("autodoc-process-docstring", docstrings.as_rst)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(app: Sphinx, config: Any) -> None:
    """Write the pages under `reference/` before Sphinx looks for pages and static files."""
    generated.write()


def lead_to_pages(app: Sphinx, page: str, source: list[str]) -> None:
    """Make links of pages to files elsewhere in the repository links to the site. Generated pages have theirs right.

    Patterns of contents that match nothing are left out: parts of the site can be built without others.
    """
    if page == app.config.root_doc:
        found = sorted(app.env.found_docs)
        source[0] = re.sub(
            r"^[\w/-]+\*\n", lambda m: m[0] if matching(found, m[0].strip()) else "", source[0], flags=re.M
        )
    if not page.startswith(f"{MADE.name}/"):
        source[0] = for_site(source[0], PurePosixPath("docs", f"{page}.md"), page)
