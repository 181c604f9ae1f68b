"""Programs over rows whose losses or penalties have corners that few methods take: norms of residuals, balls, simplices and bounds beside losses of
absolute values, and constraints on residuals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .family import WB, Family, W, gradient, length
from .sources import Array


def _root(X: Any, y: Array) -> float:
    """The largest useful weight of norm1 beside the length of the residuals."""
    return gradient(X, y) * y.size / float(np.linalg.norm(y))


def _row(X: Any, y: Array) -> float:
    """The same beside their largest one."""
    return float(abs(X[[int(np.abs(y).argmax())]]).max())


def _norm2(X: Any, y: Array) -> float:
    """The largest useful weight of norm2 beside a mean of squares."""
    return 2.0 * float(np.linalg.norm(X.T @ y)) / y.size


def _norm_inf(X: Any, y: Array) -> float:
    """The largest useful weight of norm_inf beside a mean of squares."""
    return 2.0 * float(np.abs(X.T @ y).sum()) / y.size


def _size(X: Any, y: Array) -> float:
    """The length of the target."""
    return float(np.linalg.norm(y))


def _correlation(X: Any, y: Array) -> float:
    """The largest correlation of a column with the target."""
    return gradient(X, y) * y.size


def _rate(X: Any, y: Array) -> float:
    """A rate that few weights within -1 and 1 make negative."""
    return 0.2 * float(abs(X).sum(axis=1).max())


CORNERS: Mapping[str, Family] = {
    "sparse absolute": Family(
        WB + "minimize mean(absolute(X @ w + b, y)) + c * norm1(w)\n",
        "vector",
        "tall wide square long abalone small",
        (0.3, 0.03),
        gradient,
    ),
    "square-root lasso": Family(
        W + "minimize norm2(X @ w - y) + c * norm1(w)\n",
        "vector",
        "tall wide square stiff long small",
        (0.5, 0.1),
        _root,
    ),
    "square-root ridge": Family(
        W + "minimize norm2(X @ w - y) + c * norm2(w)\n",
        "vector",
        "tall square stiff",
        (0.1,),
        _root,
    ),
    "Chebyshev": Family(
        W + "minimize norm_inf(X @ w - y) + c * norm1(w)\n",
        "vector",
        "tall wide square small housing_scale",
        (0.1, 0.01),
        _row,
    ),
    "absolute on a simplex": Family(
        "var w: vector[p] in simplex(1)\nminimize c * mean(absolute(X @ w, y))\n",
        "vector",
        "tall wide square stiff long abalone small",
        (1.0,),
    ),
    "quantile within bounds": Family(
        "var w: vector[p] in box(-0.1, 0.1)\nminimize c * mean(quantile(X @ w, y, tau=0.8))\n",
        "vector",
        "tall square long usps small",
        (1.0,),
    ),
    "epsilon-insensitive with groups": Family(
        "data g: index[p] of G\n"
        + W
        + "minimize mean(epsilon_insensitive(X @ w, y, eps=0.3)) + c * group_norm(w, groups=g)\n",
        "vector",
        "tall square small",
        (0.3, 0.03),
        gradient,
    ),
    "absolute with norm2": Family(
        W + "minimize mean(absolute(X @ w, y)) + c * norm2(w)\n",
        "vector",
        "tall square long small",
        (0.1,),
        gradient,
    ),
    "hinge on a Euclidean ball": Family(
        "var w: vector[p] in l2_ball(c), b: real\nminimize mean(hinge(X @ w + b, y))\n",
        "signs",
        "tall square splice a1a small",
        (0.3,),
        length,
    ),
    "hinge with norm_inf": Family(
        WB + "minimize mean(hinge(X @ w + b, y)) + c * norm_inf(w)\n",
        "signs",
        "tall square australian small",
        (0.3,),
        gradient,
    ),
    "least squares with norm2": Family(
        W + "minimize mean(squared(X @ w, y)) + c * norm2(w)\n",
        "vector",
        "tall wide square stiff small",
        (0.3, 0.03),
        _norm2,
    ),
    "least squares with norm_inf": Family(
        W + "minimize mean(squared(X @ w, y)) + c * norm_inf(w)\n",
        "vector",
        "tall wide square stiff small",
        (0.1,),
        _norm_inf,
    ),
    "logistic with norm2": Family(
        WB + "minimize mean(logistic(X @ w + b, y)) + c * norm2(w)\n",
        "signs",
        "tall square a1a small",
        (0.3, 0.03),
        _norm2,
    ),
    "logistic on a Euclidean ball": Family(
        "var w: vector[p] in l2_ball(c), b: real\nminimize mean(logistic(X @ w + b, y))\n",
        "signs",
        "tall square splice text small",
        (0.3,),
        length,
    ),
    "fused least squares": Family(
        W + "minimize mean(squared(X @ w, y)) + c * norm1(w[1:] - w[:-1])\n",
        "vector",
        "tall square stiff usps small",
        (0.3, 0.03),
        gradient,
    ),
    "fused absolute": Family(
        W + "minimize mean(absolute(X @ w, y)) + c * norm1(w[1:] - w[:-1])\n",
        "vector",
        "tall square small",
        (0.1,),
        gradient,
    ),
    "Poisson rates within bounds": Family(
        "var w: vector[p] in box(-1, 1)\nminimize mean(poisson_rate(X @ w + c, y)) + 0.01 * norm1(w)\n",
        "rates",
        "tall square long abalone small",
        (1.0, 0.3),
        _rate,
    ),
    "residuals within a ball": Family(
        W + "minimize norm1(w)\nsubject to norm2(X @ w - y) <= c\n",
        "vector",
        "tall wide square long small",
        (0.8,),
        _size,
    ),
    "Dantzig selector": Family(
        W + "minimize norm1(w)\nsubject to norm_inf(X.T @ (X @ w - y)) <= c\n",
        "vector",
        "tall square stiff small",
        (0.3, 0.05),
        _correlation,
    ),
}
