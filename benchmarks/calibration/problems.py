"""The problems that costs are fitted to and tested on: programs crossed with data, weights from strong to weak."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from . import others
from .corners import CORNERS
from .drawn import drawn
from .family import HEAD, WB, Family, W, gradient, group, half, length, mean_row
from .sources import SOURCES, classes, signs, target
from .spectra import spectra


@dataclass(frozen=True)
class Case:
    """A program with data that are made when its turn comes. One of three is `held_out`: nothing is fitted to it."""

    family: str
    data: str
    weight: str
    make: Callable[[], tuple[str, Mapping[str, Any]]]
    held_out: bool = False

    @property
    def name(self) -> str:
        """The program, the data and the weight."""
        return f"{self.family}, {self.data}{f', {self.weight}' if self.weight else ''}"


# --- programs over rows -----------------------------------------------------------------------------------------------------

FAMILIES: Mapping[str, Family] = {
    "lasso": Family(
        W + "minimize 1/2 * mean(squared(X @ w, y)) + c * norm1(w)\n",
        "vector",
        "tall wide stiff text abalone housing_scale west_breast small",
        (0.5, 0.1, 0.01),
        gradient,
    ),
    "elastic net": Family(
        W + "minimize 1/2 * mean(squared(X @ w, y)) + c * norm1(w) + c / 10 * sum_squares(w)\n",
        "vector",
        "tall wide sparse usps",
        (0.1, 0.01),
        gradient,
    ),
    "l1-ball least squares": Family(
        "var w: vector[p] in l1_ball(c)\nminimize mean(squared(X @ w, y))\n",
        "vector",
        "tall wide stiff text abalone small",
        (0.1, 0.7),
        length,
    ),
    "group lasso": Family(
        "data g: index[p] of G\n" + W + "minimize 1/2 * mean(squared(X @ w, y)) + c * group_norm(w, groups=g)\n",
        "vector",
        "tall wide usps",
        (0.3, 0.03),
        group,
    ),
    "sparse huber": Family(
        W + "minimize mean(huber(X @ w, y)) + c * norm1(w)\n",
        "vector",
        "tall wide stiff abalone west_breast",
        (0.1, 0.01),
        gradient,
    ),
    "ridge": Family(
        W + "minimize mean(squared(X @ w, y)) + c * sum_squares(w)\n",
        "vector",
        "tall wide stiff text usps abalone small",
        (1e-2, 1e-3, 1e-5),
        mean_row,
    ),
    "nonnegative least squares": Family(
        "var w: vector[p] in nonnegative\nminimize 1/c * mean(squared(X @ w, y))\n",
        "vector",
        "tall stiff abalone text small",
        (1.0,),
    ),
    "box least squares": Family(
        "var w: vector[p] in box(-c, c)\nminimize mean(squared(X @ w, y))\n",
        "vector",
        "tall stiff usps small",
        (0.01,),
        length,
    ),
    "least absolute": Family(
        W + "minimize mean(absolute(X @ w, y)) + c * norm1(w)\n",
        "vector",
        "tall wide abalone housing_scale small",
        (0.1, 0.01),
        gradient,
    ),
    "quantile": Family(
        WB + "minimize mean(quantile(X @ w + b, y, tau=0.8)) + c * sum_squares(w)\n",
        "vector",
        "tall abalone housing_scale small",
        (1e-4,),
        mean_row,
    ),
    "sparse logistic": Family(
        W + "minimize mean(logistic(X @ w, y)) + c * norm1(w)\n",
        "signs",
        "tall wide stiff text a1a splice w8a small",
        (0.3, 0.03),
        half,
    ),
    "l1-ball logistic": Family(
        "var w: vector[p] in l1_ball(c)\nminimize mean(logistic(X @ w, y))\n",
        "signs",
        "tall wide text a1a splice australian",
        (0.3, 2.0),
        length,
    ),
    "l2 logistic": Family(
        WB + "minimize mean(logistic(X @ w + b, y)) + c * sum_squares(w)\n",
        "signs",
        "tall stiff text wide a1a usps small",
        (1e-2, 1e-5),
        mean_row,
    ),
    "squared hinge": Family(
        W + "minimize mean(squared_hinge(X @ w, y)) + c * sum_squares(w)\n",
        "signs",
        "tall stiff text wide w8a small",
        (1e-2, 1e-3, 1e-5),
        mean_row,
    ),
    "hinge": Family(
        WB + "minimize mean(hinge(X @ w + b, y)) + c * sum_squares(w)\n",
        "signs",
        "tall wide a1a splice australian small",
        (1e-2, 1e-4),
        mean_row,
    ),
    "smooth hinge on a ball": Family(
        "var w: vector[p] in l1_ball(c)\nminimize mean(smooth_hinge(X @ w, y)) + 1e-4 * sum_squares(w)\n",
        "signs",
        "tall text a1a",
        (0.3, 2.0),
        length,
    ),
    "sparse hinge": Family(
        W + "minimize mean(hinge(X @ w, y)) + c * norm1(w)\n",
        "signs",
        "tall wide splice small",
        (0.1,),
        gradient,
    ),
    "simplex least squares": Family(
        "var w: vector[p] in simplex(1)\nminimize c * mean(squared(X @ w, y))\n",
        "vector",
        "tall stiff usps abalone small",
        (1.0,),
    ),
    "polytope least squares": Family(
        "data V: matrix[m, p]\nvar w: vector[p] in polytope(V)\nminimize c * mean(squared(X @ w, y))\n",
        "vector",
        "tall abalone small",
        (1.0,),
    ),
    "multitask": Family(
        "var W: matrix[p, k]\nminimize 1/2 * mean(squared(X @ W, Y)) + c * norm21(W)\n",
        "tasks",
        "tall usps dna.scale",
        (0.3, 0.03),
        group,
    ),
    "softmax with l1": Family(
        "var W: matrix[p, k]\nminimize mean(softmax(X @ W, y)) + c * norm1(W)\n",
        "classes",
        "tall usps dna.scale",
        (0.1, 0.01),
        half,
    ),
    "softmax with l2": Family(
        "var W: matrix[p, k]\nminimize mean(softmax(X @ W, y)) + c * sum_squares(W)\n",
        "classes",
        "tall usps dna.scale small",
        (1e-2, 1e-5),
        mean_row,
    ),
    "Crammer-Singer": Family(
        "var W: matrix[p, k]\nminimize mean(multiclass_hinge(X @ W, y)) + c * sum_squares(W)\n",
        "classes",
        "tall usps dna.scale small",
        (1e-2, 1e-4),
        mean_row,
    ),
    "kernel hinge": Family(
        "let Phi = rbf(X, gamma=c)\nvar f: vector[dim(Phi)], b: real\n"
        "minimize 1/2 * sum_squares(f) + sum(hinge(Phi @ f + b, y))\n",
        "signs",
        "small australian splice",
        (1.0,),
        lambda X, y: 1.0 / X.shape[1],
    ),
    "kernel ridge": Family(
        "let Phi = rbf(X, gamma=c)\nvar f: vector[dim(Phi)]\nminimize sum_squares(f) + sum(squared(Phi @ f, y))\n",
        "vector",
        "small housing_scale",
        (1.0,),
        lambda X, y: 1.0 / X.shape[1],
    ),
}


def _rows(family: Family, source: str, weight: float) -> tuple[str, Mapping[str, Any]]:
    X, b = SOURCES[source]()
    data: dict[str, Any] = {"X": X}
    head = HEAD.format(target=family.target)
    if family.target == "vector":
        data["y"] = scaled = target(b)
    elif family.target == "signs":
        data["y"] = scaled = signs(b)
    elif family.target == "rates":
        data["y"] = scaled = np.round(10.0 * np.abs(target(b)))
        head = HEAD.replace("{target}[n]", "vector[n] in nonnegative")
    else:
        labels = classes(b)
        hot = (labels[:, None] == np.unique(labels)).astype(float)
        scaled = hot[:, 0] - hot[:, 0].mean()
        if family.target == "tasks":
            data["Y"] = hot - hot.mean(axis=0)
            head = "data X: matrix[n, p], Y: matrix[n, k]\nparam c: positive\n"
        else:
            data["y"] = labels
            head = f"data X: matrix[n, p], y: labels[n, {hot.shape[1]}]\nparam c: positive\n"
    data["c"] = weight * family.scale(X, scaled)
    body = family.body
    if family.target == "classes":
        body = body.replace("[p, k]", f"[p, {int(data['y'].max()) + 1}]")
    if "g:" in body:
        data["g"] = np.arange(X.shape[1]) // 5
    if "V:" in body:
        data["V"] = np.random.default_rng(1).standard_normal((40, X.shape[1]))
    return head + body, data


# --- all of them ------------------------------------------------------------------------------------------------------


def _others() -> Iterator[Case]:
    tv, trend = "norm1(x[1:] - x[:-1])", "norm1(x[2:] - 2 * x[1:-1] + x[:-2])"
    for n, weight in ((300, 0.3), (300, 3.0), (3000, 1.0)):
        yield Case("total variation", f"{n} points", f"{weight:g}", partial(others.signal, n, tv, weight))
        yield Case("trend filtering", f"{n} points", f"{weight:g}", partial(others.signal, n, trend, 5 * weight))
    for n in (200, 1000, 4000):
        yield Case("isotonic", f"{n} points", "", partial(others.isotonic, n))
    for n, d, k, weight in ((200, 40, 30, 0.1), (300, 100, 80, 0.02), (100, 60, 200, 0.3)):
        yield Case("trace norm", f"{n} x {d} x {k}", f"{weight:g}", partial(others.trace, n, d, k, weight, False))
        yield Case(
            "trace-norm ball", f"{n} x {d} x {k}", f"{weight:g}", partial(others.trace, n, d, k, 2 * weight, True)
        )
    for n, p, observed, weight in ((100, 600, 0.2, 0.3), (300, 200, 0.1, 0.1), (60, 50, 0.5, 0.05)):
        yield Case("completion", f"{n} x {p}", f"{weight:g}", partial(others.completed, n, p, observed, weight))
    for d, weight in ((30, 1.0), (300, 10.0), (300, 0.1)):
        yield Case("portfolio", f"{d} assets", f"{weight:g}", partial(others.portfolio, d, weight))
    for m, n in ((40, 20), (80, 30), (60, 400), (300, 150), (150, 60), (30, 100), (100, 100), (200, 20), (250, 120)):
        yield Case("linear program", f"{m} x {n}", "", partial(others.linear, m, n))
    for n, d in ((200, 8), (300, 12), (600, 20), (100, 30), (400, 15), (150, 20)):
        yield Case("PSD regression", f"{n} x {d}", "", partial(others.psd, n, d))
    for n, d in ((500, 50), (5000, 100), (200, 400)):
        yield Case("mixture", f"{n} x {d}", "", partial(others.mixture, n, d))


DRAWN = 240
"""Programs drawn at random."""


def cases(quick: bool = False) -> list[Case]:
    """All of them, or with `quick` one of five; every third is held out."""
    found = [*_crossed(FAMILIES), *_others(), *_crossed(CORNERS)]
    found += [Case("drawn", f"number {seed}", "", partial(drawn, seed)) for seed in range(DRAWN)]
    found += [Case(family, size, "", make) for family, size, make in spectra()]
    every = [Case(c.family, c.data, c.weight, c.make, i % 3 == 1) for i, c in enumerate(found)]
    return every[::5] if quick else every


def _crossed(families: Mapping[str, Family]) -> Iterator[Case]:
    """Programs with their data and weights."""
    for name, family in families.items():
        for source in family.sources.split():
            for weight in family.weights:
                yield Case(name, source, f"{weight:g}", partial(_rows, family, source, weight))
