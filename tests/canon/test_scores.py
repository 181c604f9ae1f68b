"""Linear costs of scores that are labels: the identities of the losses, and programs that say one loss in two ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses import LOSSES, VECTOR_LOSSES
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.canon.build import canonicalise
from fwdsl.canon.form import Canonical
from fwdsl.canon.scores import with_costs
from fwdsl.oracle import check_certificate, solve_oracle

N, D, K = 40, 6, 3


def drawn(seed: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(K), rng.integers(0, K, N - K)])
    y = (rng.random(N) < 0.4).astype(float)
    return {
        "X": rng.standard_normal((N, D)),
        "y": y,
        "s": 2.0 * y - 1.0,
        "l": codes,
        "Y": np.eye(K)[codes],
        "soft": rng.random(N),
        "p": rng.dirichlet(np.ones(K), N),
        "v": rng.random(N) + 0.1,
        "c": rng.poisson(1.5, N).astype(float),
    }


HEAD = {
    "X": "X: matrix[n, d]",
    "y": "y: vector[n]",
    "s": "s: signs[n]",
    "l": "l: labels[n, k]",
    "Y": "Y: matrix[n, k]",
    "soft": "soft: vector[n]",
    "p": "p: matrix[n, k]",
    "v": "v: vector[n] in nonnegative",
    "c": "c: vector[n] in nonnegative",
}


def posed(names: str, variables: str, text: str) -> Any:
    values = drawn()
    chosen = names.split()
    head = "data " + ", ".join(HEAD[name] for name in chosen) + f"\nvar {variables}\n"
    return fw.parse(head + text).bind(**{name: values[name] for name in chosen})


PAIRS = {
    "dot": (
        ("X s", "w: vector[d]", "minimize mean(logistic(X @ w, s)) + 0.02 * norm1(w)"),
        ("X y", "w: vector[d]", "minimize mean(logistic(X @ w)) - dot(y, X @ w) / n + 0.02 * norm1(w)"),
    ),
    "an intercept": (
        ("X s", "w: vector[d], b: real", "minimize sum(logistic(X @ w + b + 0.3, s)) + norm1(w)"),
        (
            "X y",
            "w: vector[d], b: real",
            "maximize sum(y * (X @ w + b + 0.3)) - sum(logistic(X @ w + b + 0.3)) - norm1(w)",
        ),
    ),
    "counts": (
        ("X c", "w: vector[d]", "minimize mean(poisson(X @ w, c)) + 0.05 * norm1(w)"),
        ("X c", "w: vector[d]", "minimize mean(exp(X @ w) - c * (X @ w)) + 0.05 * norm1(w)"),
    ),
    "a sum of counts": (
        ("X c", "w: vector[d], b: real", "minimize sum(poisson(X @ w + b, c)) + sum_squares(w)"),
        ("X c", "w: vector[d], b: real", "maximize dot(c, X @ w + b) - sum(exp(X @ w + b)) - sum_squares(w)"),
    ),
    "a mean": (
        ("X s", "w: vector[d]", "minimize mean(logistic(X @ w, s)) + 0.1 * norm_inf(w)"),
        ("X y", "w: vector[d]", "minimize mean(logistic(X @ w)) - mean(y * (X @ w)) + 0.1 * norm_inf(w)"),
    ),
    "weights": (
        ("X s v", "w: vector[d]", "minimize sum(v * logistic(X @ w, s)) + norm1(w)"),
        ("X y v", "w: vector[d]", "minimize sum(v * logistic(X @ w)) - sum((v * y) * (X @ w)) + norm1(w)"),
    ),
    "classes": (
        ("X l", "W: matrix[d, k]", "minimize mean(softmax(X @ W, l)) + 0.05 * norm21(W)"),
        (
            "X Y",
            "W: matrix[d, k]",
            "minimize sum(log_sum_exp(X @ W, axis=1)) / n - sum(Y * (X @ W)) / n + 0.05 * norm21(W)",
        ),
    ),
    "classes by rows": (
        ("X l", "W: matrix[d, k]", "minimize sum(softmax(X @ W, l)) + norm1(W)"),
        (
            "X Y",
            "W: matrix[d, k]",
            "minimize sum(log_sum_exp(X @ W, axis=1)) - sum((Y * (X @ W)) @ ones(k)) + norm1(W)",
        ),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_costs_of_scores_are_labels(name: str) -> None:
    known, other = (posed(*words) for words in PAIRS[name])
    form, _ = canonicalise(other.instance)
    assert isinstance(form, Canonical) and not form.q.any()
    here, there = (problem.solve(tol=1e-8) for problem in (known, other))
    assert here.status == there.status == "optimal" and here.method == there.method
    sign = -1.0 if "maximize" in PAIRS[name][1][2] else 1.0
    assert sign * there.objective == pytest.approx(here.objective, rel=1e-7)
    again = check_certificate(there.instance, there)
    assert again.agrees, again.text
    assert "is in the targets of" in str(other.plan())


@pytest.mark.parametrize(
    ("names", "variables", "text"),
    [
        ("X soft", "w: vector[d]", "minimize mean(logistic(X @ w)) - dot(soft, X @ w) / n + 0.02 * norm1(w)"),
        ("X y", "w: vector[d]", "minimize mean(logistic(X @ w)) - 0.5 * dot(y, X @ w) / n + 0.02 * norm1(w)"),
        ("X y s", "w: vector[d]", "minimize mean(hinge(X @ w, s)) - dot(y, X @ w) / n + sum_squares(w)"),
        (
            "X p",
            "W: matrix[d, k]",
            "minimize sum(log_sum_exp(X @ W, axis=1)) / n - sum(p * (X @ W)) / n + 0.05 * norm1(W)",
        ),
        # a matrix of ones adds up each row twice
        (
            "X Y",
            "W: matrix[d, k]",
            "minimize sum(log_sum_exp(X @ W, axis=1)) - sum((Y * (X @ W)) @ ones(k, 2)) + 5 * sum_squares(W)",
        ),
    ],
)
def test_other_costs_stay_costs(names: str, variables: str, text: str) -> None:
    problem = posed(names, variables, text)
    form, _ = canonicalise(problem.instance)
    assert isinstance(form, Canonical) and form.q.any()
    found = problem.solve(tol=1e-7)
    expected = solve_oracle(problem.instance).value
    assert found.status == "optimal"
    assert found.objective == pytest.approx(expected, rel=1e-5, abs=1e-6)


ASKED = {"signs": lambda rng, b: np.where(rng.random(N) < 0.5, b, 0.0), "real": lambda rng, b: b - rng.random(N)}


@pytest.mark.parametrize(
    "loss", [loss for loss in LOSSES.values() if loss.with_cost is not None], ids=lambda loss: loss.name
)
def test_targets_are_costs(loss: Any) -> None:
    rng = np.random.default_rng(2)
    signs = loss.word.target == "signs"
    b = np.where(rng.random(N) < 0.5, -1.0, 1.0) if signs else rng.poisson(2.0, N).astype(float)
    z, w = 3.0 * rng.standard_normal(N), rng.random(N) + 0.1
    f = LossFunction(loss, b, w, np.array([o.default for o in loss.word.options]))
    c = w * ASKED[loss.word.target](rng, b)
    other = with_costs(f, c)
    assert isinstance(other, LossFunction) and not np.array_equal(other.b, b)
    assert other.value(z) == pytest.approx(f.value(z) + float(c @ z), rel=1e-12)
    # no sign is beyond -1 and 1, and no count below 0
    assert with_costs(f, w * (b + 3.0)) is None


@pytest.mark.parametrize(
    "loss", [loss for loss in VECTOR_LOSSES.values() if loss.with_cost is not None], ids=lambda loss: loss.name
)
def test_labels_of_classes_are_costs(loss: Any) -> None:
    rng = np.random.default_rng(3)
    z, w = 3.0 * rng.standard_normal((N, K)), rng.random(N) + 0.1
    y, wanted = rng.integers(0, K, N), rng.integers(0, K, N)
    f = VectorLossFunction(loss, y, w, K)
    c = (w[:, None] * (np.eye(K)[y] - np.eye(K)[wanted])).reshape(-1)
    other = with_costs(f, c)
    assert isinstance(other, VectorLossFunction) and np.array_equal(other.y, wanted)
    assert other.value(z.reshape(-1)) == pytest.approx(f.value(z.reshape(-1)) + float(c @ z.reshape(-1)), rel=1e-12)
    assert with_costs(f, 0.5 * c) is None


def test_samples_without_a_weight_take_no_cost() -> None:
    f = LossFunction(LOSSES["logistic"], np.ones(2), np.array([1.0, 0.0]), np.zeros(0))
    kept = with_costs(f, np.array([1.0, 0.0]))
    assert isinstance(kept, LossFunction) and np.array_equal(kept.b, [-1.0, 1.0])
    assert with_costs(f, np.array([1.0, 1e-3])) is None
