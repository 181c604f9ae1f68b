"""Texts with a mark where the cursor is."""

from __future__ import annotations

from pathlib import Path

from fwdsl.lsp.analysis import Analysis

MARK = "‸"

LASSO = """\
fw 1
problem lasso

data X: matrix[n, p], y: vector[n] from csv("train.csv", target="price")
param mu: nonnegative = 0.1
var w: vector[p], b: real

let fit = mean(squared(X @ w + b, y))

minimize fit + mu * norm1(w)
subject to cap: w <= 5
"""


def marked(text: str, folder: Path | None = None) -> tuple[Analysis, int]:
    """The text without its mark, and the offset of the mark."""
    before, _, after = text.partition(MARK)
    return Analysis(before + after, folder=folder), len(before)


def line(text: str, folder: Path | None = None) -> tuple[Analysis, int]:
    """The same of a line that stands behind the declarations of the lasso."""
    return marked(LASSO.replace("minimize fit + mu * norm1(w)\nsubject to cap: w <= 5\n", text), folder)
