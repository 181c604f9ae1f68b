"""The configuration of the site: `python -m tools.site` builds it. Pages under `reference/` are written at build time by `tools/site`."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import fwdsl  # noqa: E402

project = "fwdsl"
author = "the fwdsl authors"
project_copyright = "the fwdsl authors, Apache-2.0"
version = release = fwdsl.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "tools.site.extension"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_static", "**/_static", "**/_extra", "README.md", "**/README.md"]
# A gallery's tables of times, which load scripts from other sites.
exclude_patterns += ["sg_execution_times.rst", "**/sg_execution_times.rst"]
language = "en"
# An apostrophe is a transpose, and two hyphens begin an option.
smartquotes = False

# Addresses of headings are those that the forge gives them, so that links hold in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]

highlight_language = "none"
copybutton_exclude = ".linenos, .gp, .go"

# Docstrings are plain text with code in backticks (`tools/site/docstrings.py` tells Sphinx so).
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "fwdsl"
html_static_path = ["_static", "reference/_static"]
html_extra_path = ["reference/_extra"]
html_css_files = ["fwdsl.css", "site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}

linkcheck_timeout = 20
linkcheck_anchors = False
