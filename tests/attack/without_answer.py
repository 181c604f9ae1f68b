"""Programs that are infeasible or unbounded by construction, and as many that are nearly so but not; all in integers where nothing is near.

Infeasible: multipliers y >= 0 with A'y in the polar of the variable's domain and y'h below what the domain allows. Nearly infeasible: the same
with one more column of size delta, along which all rows hold from |x| ~ 1/delta on; or a bounded domain that the rows touch with a margin of delta.
Unbounded: a ray d of all constraints along which the objective falls. Nearly unbounded: the objective rises by delta of its terms along d.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .generator import Program

NEAR = (1e-3, 1e-4, 1e-5)
"""Margins of what is nearly infeasible; none is near what rounding explains."""
SLOPES = (1e-4, 1e-6, 1e-8)


@dataclass(frozen=True)
class Case:
    """A program, and what it is: `infeasible`, `unbounded`, or `neither`."""

    program: Program
    truth: str


def case(rng: np.random.Generator, truth: str, near: bool) -> Case:
    """A random program that is what `truth` says; or nearly, and then has an answer."""
    makers = _INFEASIBLE if truth == "infeasible" else _UNBOUNDED
    if near:
        makers = [*makers, *(_NEARLY_INFEASIBLE if truth == "infeasible" else _NEARLY_UNBOUNDED)]
    made = makers[int(rng.integers(len(makers)))](rng, near)
    kind = f"{'nearly ' if near else ''}{truth}: {made.kind}"
    return Case(Program(kind, made.text, made.data, made.rows), "neither" if near else truth)


def _integers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-4, 5, shape).astype(float)


def _some(rng: np.random.Generator, *choices: str) -> str:
    return choices[int(rng.integers(len(choices)))]


def _near(rng: np.random.Generator, choices: tuple[float, ...] = NEAR) -> float:
    return choices[int(rng.integers(len(choices)))]


# --- infeasible ------------------------------------------------------------------------------------------------------

BOUNDED_BELOW = (
    "sum_squares(x - 1)",
    "norm1(x)",
    "norm2(x + 1)",
    "sum(huber(x, ones(n)))",
    "norm_inf(x) + sum_squares(x)",
)


def _inequalities(rng: np.random.Generator, near: bool) -> Program:
    """A x <= h over free or nonnegative x with A'y = 0 or >= 0, y'h < 0."""
    domain = _some(rng, "", " in nonnegative")
    m, n = int(rng.integers(2, 7)), int(rng.integers(1, 6))
    y = rng.integers(1, 4, m).astype(float)
    y[-1] = 1.0
    A = _integers(rng, m, n)
    A[-1] = (rng.integers(0, 3, n) if domain else 0.0) - y[:-1] @ A[:-1]
    h = _integers(rng, m)
    h[-1] = -float(rng.integers(1, 5)) - y[:-1] @ h[:-1]
    if near:
        A = np.column_stack([A, -_near(rng) * (1.0 + rng.random(m))])
    objective = _objective(rng, A.shape[1], near)
    text = (
        f"data A: matrix[m, n], h: vector[m]\nvar x: vector[n]{domain}\nminimize {objective}\nsubject to A @ x <= h\n"
    )
    return Program(f"A x <= h{domain}", text, {"A": A, "h": h}, (("A", "h"),))


def _equalities(rng: np.random.Generator, near: bool) -> Program:
    """E x == e with E'y = 0 or >= 0 and y'e on the wrong side."""
    domain = _some(rng, "", " in nonnegative")
    m = int(rng.integers(2, 5))
    n = m + int(rng.integers(0, 3))
    y = rng.integers(1, 4, m) * rng.choice([-1.0, 1.0], m)
    y[-1] = 1.0
    E = _integers(rng, m, n)
    E[-1] = (rng.integers(0, 3, n) if domain else 0.0) - y[:-1] @ E[:-1]
    e = _integers(rng, m)
    e[-1] = -float(rng.integers(1, 5)) - y[:-1] @ e[:-1]
    if near:
        delta = _near(rng)
        c = rng.random(m) * np.where(y > 0, -1.0, 1.0)
        E = np.column_stack([E, delta * c])
        e = E[:, :-1] @ rng.integers(0, 4, n) + c
    objective = _objective(rng, E.shape[1], near)
    text = (
        f"data E: matrix[m, n], e: vector[m]\nvar x: vector[n]{domain}\nminimize {objective}\nsubject to E @ x == e\n"
    )
    return Program(f"E x == e{domain}", text, {"E": E, "e": e}, (("E", "e"),))


def _compact(rng: np.random.Generator, near: bool) -> Program:
    """A x <= h over a box, a ball or a simplex, with y'h below the smallest value of y'A x there; or above it by a little."""
    set_ = _some(rng, "box(-1, 2)", "l2_ball(2)", "l1_ball(2)", "linf_ball(1)", "simplex(1)", "solid_simplex(2)")
    relation = "==" if rng.random() < 0.3 and not near else "<="
    m, n = int(rng.integers(1, 5)), int(rng.integers(2, 6))
    A, y = _integers(rng, m, n), rng.integers(1, 4, m).astype(float)
    v = A.T @ y
    if not v.any():
        A[0, 0] += 1.0
        v = A.T @ y
    at = np.zeros(n)  # a point of the set where v'x is smallest
    if set_.startswith(("box", "linf")):
        low, high = (-1.0, 2.0) if set_.startswith("box") else (-1.0, 1.0)
        at = np.where(v > 0, low, high)
    elif set_ == "l2_ball(2)":
        at = -2.0 * v / np.linalg.norm(v)
    elif set_ == "l1_ball(2)":
        at[np.abs(v).argmax()] = -2.0 * np.sign(v[np.abs(v).argmax()])
    elif set_ == "simplex(1)" or v.min() < 0:
        at[v.argmin()] = 1.0 if set_ == "simplex(1)" else 2.0
    sizes = 1.0 + np.abs(A) @ np.abs(at)
    h = A @ at + (_near(rng) if near else -float(rng.uniform(0.02, 1.0))) * sizes
    text = (
        f"data A: matrix[m, n], h: vector[m]\nvar x: vector[n] in {set_}\nminimize {_some(rng, 'sum(x)', *BOUNDED_BELOW)}\n"
        f"subject to A @ x {relation} h\n"
    )
    return Program(f"A x {relation} h in {set_.partition('(')[0]}", text, {"A": A, "h": h}, (("A", "h"),))


def _cone(rng: np.random.Generator, near: bool) -> Program:
    """inner(T, X) <= h over psd X, with a combination of the matrices that is psd and one of the right sides that is negative."""
    m, n = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    T = _integers(rng, m, n, n)
    T = T + T.transpose(0, 2, 1)
    y = rng.integers(1, 3, m).astype(float)
    y[-1] = 1.0
    G = _integers(rng, n, n)
    T[-1] = G @ G.T - np.tensordot(y[:-1], T[:-1], 1)
    h = _integers(rng, m)
    h[-1] = -float(rng.integers(1, 5)) - y[:-1] @ h[:-1]
    if near:  # one more row and column, reached by X = t e e' alone
        T = np.pad(T, ((0, 0), (0, 1), (0, 1)))
        T[:, -1, -1] = -_near(rng) * (1.0 + rng.random(m))
    objective = _some(rng, "trace(X)", "sum_squares(X)", "norm_nuc(X)")
    text = f"data T: tensor[m, n, n], h: vector[m]\nvar X: psd[n]\nminimize {objective}\nsubject to inner(T, X) <= h\n"
    return Program("inner(T, X) <= h in psd", text, {"T": T, "h": h}, (("T", "h"),))


def _balls(rng: np.random.Generator, near: bool) -> Program:
    """Two balls of a map whose centres are further apart than their radii; or nearer by a little."""
    norm = _some(rng, "norm2", "norm1", "norm_inf")
    n = int(rng.integers(2, 5))
    order = {"norm2": 2, "norm1": 1, "norm_inf": np.inf}[norm]
    c = _integers(rng, n)
    c[0] = 3.0
    r = float(np.linalg.norm(c, order)) / 2 * (1.0 + (_near(rng) if near else -float(rng.uniform(0.02, 0.5))))
    text = (
        f"data c: vector[n]\nvar x: vector[n]\nminimize {_some(rng, 'sum(x)', *BOUNDED_BELOW)}\n"
        f"subject to {norm}(x) <= {r!r}, {norm}(x - c) <= {r!r}\n"
    )
    return Program(f"two balls of {norm}", text, {"c": c})


def _scalars(rng: np.random.Generator, near: bool) -> Program:
    """x >= a and x <= b with b < a in one variable among others; or b barely above a."""
    a = float(rng.integers(1, 5))
    b = a * (1.0 + _near(rng)) if near else a - float(rng.uniform(0.02, 3.0))
    text = (
        f"data k: vector[n]\nvar x: vector[n], z: real\nminimize sum_squares(x - k) + {_some(rng, 'z', 'norm1(x)')}\n"
        f"subject to sum(x) - z >= {a!r}, sum(x) - z <= {b!r}, z >= -1\n"
    )
    return Program("two bounds on a sum", text, {"k": _integers(rng, 3)})


def _opposite_rows(rng: np.random.Generator, near: bool) -> Program:
    """Two nearly opposite rows, a'x >= 1 and (delta d - a)'x >= 1."""
    n = int(rng.integers(2, 5))
    a = _integers(rng, n)
    a[0] = 2.0
    A = np.stack([a, _near(rng) * _integers(rng, n) - a])
    A[1, 1] += 1e-5
    if np.abs(np.outer(A[0], A[1]) - np.outer(A[1], A[0])).max() < 1e-9:
        # the rows are opposite but for rounding, and truly contradict each other
        A[1, 1] += 1e-5
    text = f"data A: matrix[2, n]\nvar x: vector[n]\nminimize {_some(rng, *BOUNDED_BELOW)}\nsubject to A @ x >= 1\n"
    return Program("nearly opposite rows", text, {"A": A})


def _small_rows(rng: np.random.Generator, near: bool) -> Program:
    """A = 1e-6 |A|, b = 1."""
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    A = 1e-6 * (0.1 + rng.random((m, n)))
    text = (
        "data A: matrix[m, n], q: vector[n], b: vector[m]\nvar x: vector[n] in nonnegative\nminimize dot(q, x)\n"
        "subject to A @ x >= b\n"
    )
    return Program("1e-6 A x >= 1", text, {"A": A, "q": 1e3 * (0.1 + rng.random(n)), "b": np.ones(m)}, (("A", "b"),))


def _objective(rng: np.random.Generator, n: int, near: bool) -> str:
    """An objective; where the program is to have an answer, one that is bounded below."""
    return _some(rng, *BOUNDED_BELOW, *(() if near else ("sum(x)", "-1 * sum(x)")))


# --- unbounded -------------------------------------------------------------------------------------------------------


def _ray(rng: np.random.Generator, near: bool) -> Program:
    """q'x over A x <= h and E x == e with a ray d; nearly: q = -A'y with A d = -delta."""
    domain = _some(rng, "", " in nonnegative")
    m, n, k = int(rng.integers(1, 5)), int(rng.integers(2, 7)), int(rng.integers(0, 2))
    d = (rng.integers(0, 3, n) if domain else rng.integers(-2, 3, n)).astype(float)
    d[0] = 1.0
    A = _integers(rng, m, n)
    E = _integers(rng, k, n) * (d @ d)
    E = E - np.outer(E @ d, d) / (d @ d)
    x = _integers(rng, n)
    x = np.abs(x) if domain else x
    rest, more = "", ""
    if near:
        A = A * (d @ d) - np.outer(A @ d, d) - _near(rng, SLOPES) * np.outer(np.ones(m), d) / (d @ d)
        q = -A.T @ rng.integers(1, 4, m)
    else:
        A = np.where((A @ d > 0)[:, None], -A, A)
        q = _integers(rng, n)
        q[0] += 1.0 - q @ d if q @ d == 0.0 else 0.0
        q = -q if q @ d > 0 else q
        rest, more = _beside(rng, q, d)
    sense = _some(rng, "minimize dot(q, x)", "maximize -1 * dot(q, x)") if not rest else "minimize dot(q, x)"
    data = {"A": A, "h": A @ x + rng.integers(0, 3, m), "q": q}
    rows: tuple[tuple[str, str], ...] = (("A", "h"),)
    equal = ""
    if k:
        data |= {"E": E, "e": E @ x}
        rows, equal = (*rows, ("E", "e")), ", E @ x == e"
    declared = "data A: matrix[m, n], h: vector[m], q: vector[n]" + (", E: matrix[k, n], e: vector[k]" if k else "")
    if "B" in rest:
        B = _integers(rng, 6, n)
        data |= {"B": B, "s": np.where(B @ d >= 0, 1.0, -1.0)}
        declared += ", B: matrix[b, n], s: signs[b]"
        if np.unique(data["s"]).size < 2:
            data["B"][0] = -data["B"][0]
            data["s"][0] = -data["s"][0]
    text = f"{declared}\nvar x: vector[n]{domain}\n{sense}{rest}\nsubject to A @ x <= h{equal}\n"
    return Program(f"ray{domain}{more}", text, data, rows)


def _beside(rng: np.random.Generator, q: np.ndarray, d: np.ndarray) -> tuple[str, str]:
    """A term that does not stop the fall along d, and its name."""
    slope = -float(q @ d)
    weight = slope / 2 / float(np.abs(d).sum())
    return {
        0: ("", ""),
        1: (f" + {weight!r} * norm1(x)", " with norm1"),
        2: (f" + {weight!r} * norm2(x)", " with norm2"),
        3: (" + mean(hinge(B @ x, s))", " with hinge"),
        4: (" + mean(logistic(B @ x, s))", " with logistic"),
    }[int(rng.integers(5))]


def _ray_of_cone(rng: np.random.Generator, near: bool) -> Program:
    """trace(C X) over psd X with inner(T, X) <= h and a ray v v'."""
    m, n = int(rng.integers(1, 3)), int(rng.integers(2, 4))
    v = rng.integers(-2, 3, n).astype(float)
    v[0] = 1.0
    D = np.outer(v, v)
    T = _integers(rng, m, n, n)
    T = T + T.transpose(0, 2, 1)
    fall = np.tensordot(T, D, 2)
    G = _integers(rng, n, n)
    X = G @ G.T
    if near:  # C psd, zero along v but for delta
        P = np.eye(n) - D / (v @ v)
        C = P @ P.T + _near(rng, SLOPES) * np.eye(n)
    else:
        C = _integers(rng, n, n)
        C = C + C.T
        C = C - (1.0 + abs(v @ C @ v)) * np.eye(n)
    T = np.where((fall > 0)[:, None, None], -T, T)
    text = (
        "data T: tensor[m, n, n], h: vector[m], C: symmetric[n]\nvar X: psd[n]\nminimize trace(C @ X)\n"
        "subject to inner(T, X) <= h\n"
    )
    data = {"T": T, "h": np.tensordot(T, X, 2) + rng.integers(0, 3, m), "C": C}
    return Program("ray in psd", text, data, (("T", "h"),))


def _two_variables(rng: np.random.Generator, near: bool) -> Program:
    """A ray in x beside a bounded z."""
    set_ = _some(rng, "l2_ball(1)", "simplex(1)", "box(-1, 1)", "l1_ball(2)")
    n, m = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    d = rng.integers(0, 3, n).astype(float)
    d[-1] = 1.0
    A = _integers(rng, m, n)
    if near:
        A = A * (d @ d) - np.outer(A @ d, d) - _near(rng, SLOPES) * np.outer(np.ones(m), d) / (d @ d)
        q = -A.T @ rng.integers(1, 4, m)
    else:
        A = np.where((A @ d > 0)[:, None], -A, A)
        q = -d
    data = {"A": A, "C": _integers(rng, m, 3), "h": 20.0 + rng.integers(0, 3, m), "q": q, "p": _integers(rng, 3)}
    text = (
        "data A: matrix[m, n], C: matrix[m, 3], h: vector[m], q: vector[n], p: vector[3]\n"
        f"var x: vector[n], z: vector[3] in {set_}\nminimize dot(q, x) + dot(p, z)\nsubject to A @ x + C @ z <= h\n"
    )
    return Program(f"ray beside {set_.partition('(')[0]}", text, data)


def _norms(rng: np.random.Generator, near: bool) -> Program:
    """A norm against an affine term with a slope a little below it, where the optimum is 0; or above."""
    n = int(rng.integers(2, 5))
    q = _integers(rng, n)
    q[0] = 4.0
    norm, dual = {0: ("norm1", np.inf), 1: ("norm2", 2), 2: ("norm_inf", 1)}[int(rng.integers(3))]
    weight = float(np.linalg.norm(q, dual)) * (1.0 + _near(rng, SLOPES) if near else 0.8)
    text = f"data q: vector[n]\nvar x: vector[n]\nminimize {weight!r} * {norm}(x) - dot(q, x)\n"
    return Program(f"{norm} against a slope", text, {"q": q})


def _far_bounds(rng: np.random.Generator, near: bool) -> Program:
    """Bounds of x are far away: a box, a small ridge, small rows."""
    n = int(rng.integers(1, 5))
    q = 0.1 + rng.random(n)
    far = float(10.0 ** rng.integers(4, 9))
    text = {
        0: f"var x: vector[n] in box(0, {far!r})\nminimize -1 * dot(q, x)\n",
        1: f"var x: vector[n]\nminimize dot(q, x) + {1 / far!r} * sum_squares(x)\n",
        2: f"var x: vector[n] in nonnegative\nmaximize dot(q, x)\nsubject to {1 / far!r} * dot(q, x) <= 1\n",
        3: f"var x: vector[n]\nminimize sum(x)\nsubject to norm2(x) <= {far!r}\n",
    }[int(rng.integers(4))]
    return Program("far bounds", f"data q: vector[n]\n{text}", {"q": q})


def _not_attained(rng: np.random.Generator, near: bool) -> Program:
    """Losses that fall for ever but not below 0."""
    n = int(rng.integers(2, 4))
    A = _integers(rng, 8, n)
    A[:, 0] = 1.0 + np.abs(A[:, 0])
    s = rng.choice([-1.0, 1.0], 8)
    s[:2] = (1.0, -1.0)
    loss = _some(rng, "logistic", "hinge", "smooth_hinge")
    text = f"data A: matrix[m, n], s: signs[m]\nvar x: vector[n]\nminimize mean({loss}(A @ x, s))\n"
    return Program(f"separable {loss}", text, {"A": A * s[:, None], "s": s})


Maker = Callable[[np.random.Generator, bool], Program]
_INFEASIBLE: list[Maker] = [_inequalities, _inequalities, _equalities, _compact, _compact, _cone, _balls, _scalars]
_NEARLY_INFEASIBLE: list[Maker] = [_opposite_rows, _small_rows]
_UNBOUNDED: list[Maker] = [_ray, _ray, _ray, _ray_of_cone, _two_variables, _norms]
_NEARLY_UNBOUNDED: list[Maker] = [_far_bounds, _not_attained]
