"""Losses whose rows lie with several holders: values, conjugates, gradients and inner products of the whole, bit for bit, from those of the parts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.parts import Stacked
from fwdsl.sums import finish, subtrees

N, P, K = 40_007, 24, 3

TEXTS = {
    "logistic": """
        data A: matrix[n, p], y: signs[n]
        var w: vector[p], b: real
        minimize mean(logistic(0.7 * (A @ w) + b, y)) + 0.1 * sum_squares(w)
        subject to norm1(w) <= 3
    """,
    "two ways in": """
        data A: matrix[n, p], y: vector[n]
        var w: vector[p]
        minimize mean(huber(0.3 * (A @ w) + A @ (1.7 * w), y)) + norm1(w)
    """,
    "softmax": """
        data A: matrix[n, p], y: labels[n]
        var W: matrix[p, 3], b: vector[3]
        minimize mean(softmax(A @ W + b, y)) + 0.1 * sum_squares(W)
    """,
}
LAYOUTS: dict[str, Any] = {
    "C": lambda M: M,
    "F": np.asfortranarray,
    "float32": lambda M: M.astype(np.float32),
    "csr": sp.csr_array,
}


def problem(name: str, layout: str) -> Any:
    rng = np.random.default_rng(11)
    M = rng.normal(size=(N, P)) * (rng.random((N, P)) < 0.7)
    targets = {
        "logistic": np.where(rng.random(N) < 0.5, 1.0, -1.0),
        "two ways in": rng.normal(size=N),
        "softmax": rng.integers(0, K, N),
    }
    return fw.parse(TEXTS[name]).bind(A=LAYOUTS[layout](M), y=targets[name]).canonical


def found(
    canonical: Any, x: Any, ys: Any, threads: int, of: PreparedProblem | None = None
) -> tuple[list[Any], list[Any], PreparedProblem]:
    """Values added up over rows, and vectors of rows, by kernels and by references. Of the whole K'y is given, of a part `of` it the sums for
    it."""
    kernels, is_whole = PreparedProblem(canonical, threads), of is None
    if of is not None:
        for mine, theirs in zip(kernels.operators.values(), of.operators.values(), strict=False):
            mine.gram_plan = theirs.gram_plan
    (term,) = canonical.terms
    (z,) = kernels.forward(x)
    value, (slopes,) = kernels.losses_gradient([z])
    curvatures = kernels.curvatures([z])
    (bent,) = kernels.bent(curvatures, [z])
    has_gram = isinstance(kernels.functions[0], FastLoss) and kernels.can_form(canonical.size)

    def adjoint(map_: Any, y: Any) -> Any:
        if not is_whole:
            return map_.partial(y)
        out = np.zeros(canonical.size)
        map_.adjoint(y, out)
        return out

    compiled = kernels.terms[0].map
    added = [
        kernels.gram(np.arange(1, canonical.size), curvatures) if has_gram else 0.0,
        *(value, kernels.functions[0].conjugate(0.5 * slopes), kernels.dots([ys], [z])[0]),  # type: ignore[union-attr]
        *(term.value(z), term.conjugate(0.5 * slopes), term.infimum(), term.dot(ys, slopes)),
        *(adjoint(compiled, slopes), adjoint(compiled, bent), adjoint(term.map, ys), adjoint(sizes_of(term.map), ys)),
    ]
    kernels.close()
    return added, [z, slopes, bent, term.map.apply(x)], kernels


def sizes_of(map_: Stacked) -> Stacked:
    """|K|."""
    sizes = Stacked(tuple((block, m.absolute()) for block, m in map_.parts), map_.offset)
    sizes.leaves = map_.leaves
    return sizes


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", TEXTS)
def test_holders_of_rows_find_what_one_place_finds(name: str, layout: str) -> None:
    canonical = problem(name, layout)
    (term,) = canonical.terms
    rng = np.random.default_rng(12)
    x, y = 0.3 * rng.normal(size=canonical.size), rng.normal(size=term.map.rows) / N
    whole, with_rows, kernels = found(canonical, x, y, 2)
    count = len(term.map.leaves)
    assert count > 4
    for holders in (2, 3, 5):
        ends = [0, *np.sort(rng.choice(np.arange(1, count), holders - 1, replace=False)).tolist(), count]
        nodes: list[Any] = []
        rows: list[Any] = []
        for start, stop in pairwise(ends):
            for level, at in subtrees(start, stop, count):
                a, b = at << level, min(count, (at + 1) << level)
                part = replace(canonical, terms=(term.part(a, b),))
                first, last = term.map.leaves[a][0], term.map.leaves[b - 1][1]
                added, own, _ = found(part, x, y[first:last], 1, kernels)
                nodes.append(((level, at), tuple(added)))
                rows.append(own)
        together = list(finish(nodes))
        for k, map_ in enumerate((term.map, term.map, term.map, sizes_of(term.map)), start=len(together) - 4):
            out = np.zeros(canonical.size)
            map_.finished(together[k], out)
            together[k] = out
        for known, here in zip(whole, together, strict=True):
            np.testing.assert_array_equal(here, known)
        for known, *here in zip(with_rows, *rows, strict=True):
            np.testing.assert_array_equal(np.concatenate(here), known)
