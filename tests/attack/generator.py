"""Random small programs whose optimum is attained: the corpus's decks with other seeds, and programs with linear constraints, cones and balls.

Every program is made in its natural units, in which its numbers are of size one. `in_units` writes it in other ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests import corpus
from tests.problems import random_problem

from .units import Rescaled, Units, rescale, scaled_values

MODES = ("objective", "variable", "data", "all")
OBJECTIVE_DECADES, UNIT_DECADES, ROW_DECADES = 12.0, 9.0, 4.0


@dataclass(frozen=True)
class Program:
    """A program with its data; `rows` are the pairs of data whose rows may be multiplied by numbers of their own, (matrix, right-hand side)."""

    kind: str
    text: str
    data: Mapping[str, Any]
    rows: tuple[tuple[str, str], ...] = ()
    reference: str = ""
    reference_data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class InUnits:
    """A program in other units: `objective` is what its value is multiplied by, `variables` what each of them is."""

    kind: str
    mode: str
    text: str
    data: Mapping[str, Any]
    objective: float
    variables: Mapping[str, float] = field(default_factory=dict)


def unit(rng: np.random.Generator, decades: float, exact: bool = False) -> float:
    """10^U(-decades, decades); every second time, or always where `exact`, a power of two, so that nothing is rounded."""
    value = 10.0 ** float(rng.uniform(-decades, decades))
    return float(2.0 ** round(np.log2(value))) if exact or rng.random() < 0.5 else float(f"{value:.3g}")


def in_units(program: Program, rng: np.random.Generator, mode: str, exact: bool = False) -> InUnits:
    """The program with a random factor of the objective, or random units of its variables, or of its data and rows, or of all.

    `exact`: all are powers of two, and the numbers of the program are what they were.
    """
    names = re.findall(r"[A-Za-z_]\w*", program.text)
    rescaled: Rescaled = rescale(
        program.text,
        Units(
            objective=unit(rng, OBJECTIVE_DECADES, exact) if mode in ("objective", "all") else 1.0,
            variables={n: unit(rng, UNIT_DECADES, exact) for n in names} if mode in ("variable", "all") else {},
            data={n: unit(rng, UNIT_DECADES, exact) for n in names} if mode in ("data", "all") else {},
            rows={i: unit(rng, UNIT_DECADES, exact) for i in range(9)} if mode in ("data", "all") else {},
        ),
    )
    values = scaled_values(program.data, rescaled)
    if mode in ("data", "all"):
        for matrix, side in program.rows:
            if rng.random() < 0.5:
                r = np.array([unit(rng, ROW_DECADES, exact) for _ in values[side]])
                values[matrix] = values[matrix] * r.reshape(-1, *(1,) * (np.ndim(values[matrix]) - 1))
                values[side] = values[side] * r
    return InUnits(program.kind, mode, rescaled.text, values, rescaled.objective, rescaled.variables)


def random_program(seed: int) -> Program:
    """A program of a random kind."""
    rng = np.random.default_rng([7, seed])
    if seed % 5 == 0:
        problem = random_problem(seed)
        return Program("regression", problem.text, problem.data)
    if seed % 5 in (1, 2):
        dealt = ("vectors", "matrices", "vectors", "matrices", "symmetric", "families", "observed")[seed // 5 % 7]
        programs: Iterator[corpus.CorpusProgram] = getattr(corpus, dealt)(5, seed)
        p = list(programs)[int(rng.integers(5))]
        return Program(dealt, p.text, p.data, (), p.reference, p.reference_data)
    kind = [*KINDS][int(rng.integers(len(KINDS)))]
    return KINDS[kind](rng, kind)


# --- programs with constraints ---------------------------------------------------------------------------------------


def _normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Multiples of 1/64, so that powers of two change nothing."""
    return np.round(rng.standard_normal(shape) * 64) / 64


def _dual_pair(rng: np.random.Generator, m: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, b, x, y with A x <= b, y >= 0, complementary, so that A'y is a cost that x is optimal for."""
    A, x = _normal(rng, m, n), _normal(rng, n)
    active = rng.random(m) < 0.5
    y = np.where(active, 0.1 + rng.random(m), 0.0)
    b = A @ x + np.where(active, 0.0, 0.1 + rng.random(m))
    return A, b, x, y


def _lp(rng: np.random.Generator, kind: str) -> Program:
    n, m = int(rng.integers(1, 8)), int(rng.integers(1, 12))
    A, b, x, y = _dual_pair(rng, m, n)
    if "nonnegative" in kind:
        x = np.where(rng.random(n) < 0.4, 0.0, np.abs(x) + 0.1)
        b = A @ x + np.where(y > 0, 0.0, 0.1 + rng.random(m))
        q = np.where(x > 0, 0.0, rng.random(n)) - A.T @ y
        var, extra = "var x: vector[n] in nonnegative", ""
    elif "box" in kind:
        x = np.clip(x, -1.0, 1.0)
        b = A @ x + np.where(y > 0, 0.0, 0.1 + rng.random(m))
        q, var, extra = _normal(rng, n), "var x: vector[n]", ", -1 <= x <= 1"
    else:
        q, var, extra = -A.T @ y, "var x: vector[n]", ""
    flip = rng.random() < 0.5
    text = (
        f"data A: matrix[m, n], b: vector[m], q: vector[n]\n{var}\n{'maximize -' if flip else 'minimize '}dot(q, x)\n"
        f"subject to A @ x <= b{extra}\n"
    )
    return Program(kind, text, {"A": A, "b": b, "q": q}, (("A", "b"),))


def _equalities(rng: np.random.Generator, kind: str) -> Program:
    n = int(rng.integers(2, 9))
    m = int(rng.integers(1, n))
    E, x = _normal(rng, m, n), np.where(rng.random(n) < 0.4, 0.0, 0.1 + rng.random(n))
    q = np.where(x > 0, 0.0, rng.random(n)) - E.T @ _normal(rng, m)
    objective = {"lp": "dot(q, x)", "qp": "dot(q, x) + 0.5 * sum_squares(x)", "entropy": "dot(q, x) + 0.3 * entropy(x)"}
    text = (
        "data E: matrix[m, n], e: vector[m], q: vector[n]\nvar x: vector[n] in nonnegative\n"
        f"minimize {objective[kind.split()[-1]]}\nsubject to E @ x == e\n"
    )
    return Program(kind, text, {"E": E, "e": E @ x, "q": q}, (("E", "e"),))


def _fit(rng: np.random.Generator, kind: str) -> Program:
    n, m = int(rng.integers(1, 6)), int(rng.integers(4, 20))
    A = _normal(rng, m, n)
    b = A @ _normal(rng, n) + (0.0 if "perfect" in kind else 1.0) * _normal(rng, m)
    fit = {
        "chebyshev": "norm_inf(A @ x - b)",
        "absolute": "norm1(A @ x - b)",
        "euclidean": "norm2(A @ x - b)",
        "squares": "sum_squares(A @ x - b)",
    }[kind.split()[-1]]
    text = f"data A: matrix[m, n], b: vector[m]\nvar x: vector[n]\nminimize {fit}\n"
    if "perfect" not in kind and rng.random() < 0.5:
        text += "subject to -0.5 <= x <= 0.5\n"
    return Program(kind, text, {"A": A, "b": b})


def _basis_pursuit(rng: np.random.Generator, kind: str) -> Program:
    n = int(rng.integers(4, 12))
    m = int(rng.integers(1, n - 1))
    A = _normal(rng, m, n)
    x = np.where(rng.random(n) < 0.3, _normal(rng, n), 0.0)
    x[0] = 1.0
    norm = "norm1" if "pursuit" in kind else "norm2"
    text = f"data A: matrix[m, n], b: vector[m]\nvar x: vector[n]\nminimize {norm}(x)\nsubject to A @ x == b\n"
    return Program(kind, text, {"A": A, "b": A @ x}, (("A", "b"),))


def _game(rng: np.random.Generator, kind: str) -> Program:
    n = int(rng.integers(2, 6))
    A = _normal(rng, n, n)
    A = A - A.T if "fair" in kind else A
    text = "data A: matrix[m, n]\nvar x: vector[n] in simplex(1), t: real\nminimize t\nsubject to A @ x <= t\n"
    return Program(kind, text, {"A": A})


def _transport(rng: np.random.Generator, kind: str) -> Program:
    m, n = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    plan = np.round(rng.random((m, n)) * 64) / 64
    text = (
        "data C: matrix[m, n], a: vector[m], b: vector[n]\nvar X: matrix[m, n] in nonnegative\n"
        "minimize sum(C * X)\nsubject to\n    X @ ones(n) == a\n    X.T @ ones(m) == b\n"
    )
    data = {"C": np.round(rng.random((m, n)) * 64) / 64, "a": plan.sum(axis=1), "b": plan.sum(axis=0)}
    return Program(kind, text, data)


def _least_squares(rng: np.random.Generator, kind: str) -> Program:
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 8))
    A, b, _, _ = _dual_pair(rng, m, n)
    text = (
        "data A: matrix[m, n], b: vector[m], R: matrix[k, n], r: vector[k]\nvar x: vector[n]\n"
        "minimize sum_squares(R @ x - r)\nsubject to A @ x <= b\n"
    )
    return Program(kind, text, {"A": A, "b": b, "R": _normal(rng, n + 2, n), "r": _normal(rng, n + 2)}, (("A", "b"),))


def _ball(rng: np.random.Generator, kind: str) -> Program:
    n = int(rng.integers(2, 6))
    norm = kind.split()[-1]
    text = (
        "data q: vector[n], H: matrix[m, n], h: vector[m], a: vector[n]\nvar x: vector[n]\nminimize dot(q, x)\n"
        f"subject to {norm}(H @ x - h) <= 1, dot(a, x) <= 0\n"
    )
    H = _normal(rng, n + 2, n)
    return Program(kind, text, {"q": _normal(rng, n), "H": H, "h": np.zeros(n + 2), "a": _normal(rng, n)})


def _semidefinite(rng: np.random.Generator, kind: str) -> Program:
    n = int(rng.integers(2, 6))
    G = _normal(rng, n, n)
    S = (G + G.T) / 2
    P = G @ G.T
    text, data = {
        "max-cut": (
            "data L: symmetric[n]\nvar X: psd[n]\nmaximize 0.25 * trace(L @ X)\nsubject to diag(X) == 1\n",
            {"L": S},
        ),
        "correlation": (
            "data C: symmetric[n]\nvar X: psd[n]\nminimize sum_squares(X - C)\nsubject to diag(X) == 1\n",
            {"C": S},
        ),
        "diagonal": (
            "data S: psd[n]\nvar d: vector[n] in box(0, 1)\nmaximize sum(d)\nsubject to S - diag(d) in psd\n",
            {"S": P},
        ),
        "smallest": ("data S: symmetric[n]\nvar t: real\nmaximize t\nsubject to S - t * eye(n) in psd\n", {"S": S}),
        "trace": (
            "data T: tensor[2, n, n], b: vector[2]\nvar X: psd[n]\nminimize trace(X)\nsubject to inner(T, X) == b\n",
            {"T": np.stack([P, S]), "b": np.array([np.trace(P @ P), np.trace(S @ P)])},
        ),
    }[kind.split()[-1]]
    return Program(kind, text, data)


def _hinge(rng: np.random.Generator, kind: str) -> Program:
    n, m = int(rng.integers(2, 5)), int(rng.integers(6, 20))
    A = _normal(rng, m, n)
    s = np.where(A @ _normal(rng, n) + _normal(rng, m) > 0, 1.0, -1.0)
    s[:2] = (1.0, -1.0)
    norm = "norm1" if "norm1" in kind else "norm2"
    text = (
        "data A: matrix[m, n], s: signs[m], c: vector[n]\nvar x: vector[n], b: real\n"
        f"minimize mean(hinge(A @ x + b, s)) + 0.01 * sum_squares(x)\nsubject to {norm}(x) <= 1, dot(c, x) == 0\n"
    )
    return Program(kind, text, {"A": A, "s": s, "c": _normal(rng, n)})


KINDS: dict[str, Callable[[np.random.Generator, str], Program]] = {
    "lp": _lp,
    "lp nonnegative": _lp,
    "lp box": _lp,
    "equalities lp": _equalities,
    "equalities qp": _equalities,
    "equalities entropy": _equalities,
    "fit chebyshev": _fit,
    "fit absolute": _fit,
    "fit euclidean": _fit,
    "perfect fit squares": _fit,
    "perfect fit absolute": _fit,
    "perfect fit chebyshev": _fit,
    "basis pursuit": _basis_pursuit,
    "least norm": _basis_pursuit,
    "game": _game,
    "fair game": _game,
    "transport": _transport,
    "least squares under inequalities": _least_squares,
    "ball norm2": _ball,
    "ball norm1": _ball,
    "ball norm_inf": _ball,
    "semidefinite max-cut": _semidefinite,
    "semidefinite correlation": _semidefinite,
    "semidefinite diagonal": _semidefinite,
    "semidefinite smallest": _semidefinite,
    "semidefinite trace": _semidefinite,
    "hinge on norm1": _hinge,
    "hinge on norm2": _hinge,
}
