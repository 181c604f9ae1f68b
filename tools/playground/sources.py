"""The page itself: what is in `docs/playground/editor/`, and what is written from fwdsl's records: words, looks and examples."""

from __future__ import annotations

import base64
import json
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "playground" / "editor"
EXAMPLES = ROOT / "examples"

CHOSEN = (
    "lasso",
    "huber_regression",
    "group_lasso",
    "quantile_regression",
    "poisson_regression",
    "nonnegative_least_squares",
    "fused_lasso",
    "portfolio",
    "markowitz",
    "enclosing_ball",
    "one_class_svm",
    "support_vector_regression",
    "multiclass_svm",
    "maximum_entropy",
    "optimal_transport",
    "ratings",
    "robust_pca",
    "max_cut",
)
"""The examples of the playground: small ones, which uncompiled kernels solve in seconds."""

MISTAKES = """\
fw 1

# Two mistakes: a word that is none, and a product whose shapes do not meet.
data X: matrix[n, p], y: vector[n]
param mu: nonnegative = 0.1
var w: vector[n]

minimize mean(sqared(X @ w, y)) + mu * norm1(w)
"""

_SOURCE = re.compile(r'"(data/[^"]+)"')


def write_page(folder: Path) -> None:
    """Copy the page into a folder, and write what it loads beside Python and wheels."""
    from fwdsl.html.style import CSS

    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(PAGE.iterdir()):
        if path.is_file():
            shutil.copy(path, folder)
    (folder / "looks.css").write_text(CSS, encoding="utf-8")
    (folder / "words.json").write_text(json.dumps(words()), encoding="utf-8")
    (folder / "examples.json").write_text(json.dumps(examples()), encoding="utf-8")


def words() -> dict[str, list[str]]:
    """The words of the language by the colour that they have."""
    from fwdsl.highlight import vocabulary as known

    keywords = {*known.STATEMENTS, *known.JOINING, *known.CONSTANTS}
    functions = {*known.FUNCTION_NAMES, *known.SET_NAMES, *known.SOURCE_NAMES}
    return {"function": sorted(functions), "keyword": sorted(keywords), "type": sorted(known.TYPE_NAMES)}


def examples() -> dict[str, object]:
    """The examples with their data, packed in base64."""
    found = []
    files: dict[str, str] = {}
    for name in CHOSEN:
        text = (EXAMPLES / f"{name}.fw").read_text(encoding="utf-8")
        names = _SOURCE.findall(text)
        found.append({"id": name, "title": name.replace("_", " "), "text": text, "files": names})
        files |= {file: base64.b64encode((EXAMPLES / file).read_bytes()).decode() for file in names}
    found.append({"id": "mistakes", "title": "two mistakes, explained", "text": MISTAKES, "files": []})
    return {"examples": found, "files": files}
