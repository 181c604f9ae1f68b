"""Random small programs with data: every loss, regulariser, set and layout that this version solves, in all their pairings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

SMOOTH = ("squared", "logistic", "squared_hinge", "smooth_hinge", "huber", "poisson", "squared_epsilon_insensitive")
NONSMOOTH = ("absolute", "quantile", "hinge", "epsilon_insensitive")
LOSSES = (*SMOOTH, *NONSMOOTH)
SIGNED = frozenset({"logistic", "hinge", "squared_hinge", "smooth_hinge"})
OPTIONS = {
    "quantile": "tau=0.3",
    "huber": "delta=0.7",
    "epsilon_insensitive": "eps=0.2",
    "squared_epsilon_insensitive": "eps=0.15",
}
REGULARISERS = ("", "norm1", "norm2", "norm_inf", "sum_squares", "elastic", "affine")
SETS = (
    "",
    "l1_ball(1.5)",
    "l2_ball(1.2)",
    "linf_ball(0.6)",
    "box(-0.4, 0.9)",
    "box(-inf, 0.5)",
    "nonnegative",
    "simplex(1)",
    "solid_simplex(1.3)",
)
LAYOUTS = ("dense", "fortran", "float32", "csr", "csc", "csr64")


@dataclass(frozen=True)
class RandomProblem:
    """A program and what to bind to it."""

    text: str
    data: dict[str, Any]

    def solve(self, **options: Any) -> Any:
        """Through the public interface."""
        import fwdsl as fw

        return fw.parse(self.text).bind(**self.data).solve(**options)


def laid_out(A: np.ndarray, layout: str) -> Any:
    """A in one of LAYOUTS; float32 is exact as the entries are multiples of 1/256."""
    if layout == "dense":
        return A
    if layout == "fortran":
        return np.asfortranarray(A)
    if layout == "float32":
        return A.astype(np.float32)
    if layout == "csc":
        return sp.csc_array(A)
    out = sp.csr_array(A)
    if layout == "csr64":
        out.indptr = out.indptr.astype(np.int64)
        out.indices = out.indices.astype(np.int64)
    return out


def matrix(rng: np.random.Generator, n: int, p: int, density: float = 1.0) -> np.ndarray:
    """Gaussian entries rounded to multiples of 1/256, some of them zero."""
    A = np.round(rng.standard_normal((n, p)) * 256) / 256
    return np.where(rng.random((n, p)) < density, A, 0.0)


def random_problem(
    seed: int,
    loss: str | None = None,
    regulariser: str | None = None,
    set_: str | None = None,
    layout: str | None = None,
    second_set: str | None = None,
    intercept: bool | None = None,
) -> RandomProblem:
    """A problem with an attained optimum; what is not given is drawn."""
    rng = np.random.default_rng(seed)
    loss = loss if loss is not None else str(rng.choice(LOSSES))
    regulariser = regulariser if regulariser is not None else str(rng.choice(REGULARISERS))
    set_ = set_ if set_ is not None else str(rng.choice(SETS))
    layout = layout if layout is not None else str(rng.choice(LAYOUTS))
    intercept = intercept if intercept is not None else bool(rng.random() < 0.25)
    n, p = int(rng.integers(6, 30)), int(rng.integers(1, 7))
    A = matrix(rng, n, p, 1.0 if "csr" not in layout and layout != "csc" else 0.6)
    A[:, A.any(axis=0) == 0] = 1.0
    truth = rng.standard_normal(p)
    score = A @ truth + 0.7 * rng.standard_normal(n)
    if loss in SIGNED:
        y = np.where(score > np.median(score), 1.0, -1.0)
        y[rng.random(n) < 0.15] *= -1
        if np.unique(y).size < 2:
            y[0] = -y[0]
    elif loss == "poisson":
        y = rng.poisson(np.exp(np.clip(0.3 * score, -2, 2))).astype(float) + 1.0
    else:
        y = score
    bounded = "ball" in set_ or "simplex" in set_ or set_ == "box(-0.4, 0.9)"
    # without a bound a signed loss may be separable and an affine term unbounded: a ridge settles both
    if not bounded and (regulariser in ("", "affine") and (loss in SIGNED or regulariser == "affine")):
        regulariser = "elastic"
    weight = round(float(rng.uniform(0.01, 0.3)), 3)
    terms = [_loss_term(rng, loss, intercept)]
    terms += {
        "": [],
        "norm1": [f"{weight} * norm1(x)"],
        "norm2": [f"{weight} * norm2(x)"],
        "norm_inf": [f"{weight} * norm_inf(x)"],
        "sum_squares": [f"{weight} * sum_squares(x)"],
        "elastic": [f"{weight} * norm1(x)", f"{weight / 2} * sum_squares(x)"],
        "affine": [f"{weight} * dot(c, x)"],
    }[regulariser]
    kind = "signs[n]" if loss in SIGNED else "vector[n]"
    lines = [f"data A: matrix[n, p], y: {kind}"]
    data: dict[str, Any] = {"A": laid_out(A, layout), "y": y}
    if regulariser == "affine":
        lines.append("data c: vector[p]")
        data["c"] = rng.standard_normal(p)
    if "w *" in terms[0]:
        lines.append("data w: vector[n] in nonnegative")
        data["w"] = rng.uniform(0.2, 2.0, n)
    lines.append("var x: vector[p]" + (f" in {set_}" if set_ else ""))
    if intercept:
        lines.append("var b: real")
    lines.append("minimize " + " + ".join(terms))
    if second_set:
        lines.append(f"subject to x in {second_set}")
    return RandomProblem("\n".join(lines) + "\n", data)


def _loss_term(rng: np.random.Generator, loss: str, intercept: bool) -> str:
    prediction = "A @ x + b" if intercept else "A @ x"
    options = f", {OPTIONS[loss]}" if loss in OPTIONS else ""
    weighted = "w * " if rng.random() < 0.25 else ""
    reduce = "mean" if rng.random() < 0.7 else "sum"
    return f"{reduce}({weighted}{loss}({prediction}, y{options}))"
