"""Predicted beside actual, by phase."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.speed import told_seconds
from fwdsl.results.solution import MOST_PHASES, analysis

RNG = np.random.default_rng(1)
TEXT = "data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize mean(squared(X @ w, y)) + 0.01 * norm1(w)"


@pytest.fixture(scope="module")
def solution() -> fw.Solution:
    return fw.parse(TEXT).bind(X=RNG.normal(size=(30, 6)), y=RNG.normal(size=30)).solve(threads=1)


def test_the_total_is_that_of_the_solution(solution: fw.Solution):
    found = solution.analysis()
    predicted = solution.plan.chosen.estimate
    assert found["passes"] == {"predicted": predicted.passes, "actual": solution.passes + solution.verify_passes}
    assert found["seconds"]["predicted"] == told_seconds(predicted) and found["seconds"]["actual"] > 0
    assert sum(p["passes"] for p in found["phases"]) == pytest.approx(solution.history[-1].passes)


def test_phases_are_summed_by_method_and_name(solution: fw.Solution):
    first = solution.history[0]
    reports = [("a", "x", 2.0, 0.5), ("a", "y", 3.0, 0.7), ("a", "x", 7.0, 1.7), ("b", "x", 8.0, 2.0)]
    history = tuple(replace(first, method=m, phase=p, passes=n, elapsed=t) for m, p, n, t in reports)
    rows = [
        tuple(row.values())
        for row in analysis(solution.plan.chosen.estimate, replace(solution, history=history))["phases"]
    ]
    assert [row[:2] for row in rows] == [("a", "x"), ("a", "y"), ("b", "x")]
    np.testing.assert_allclose([row[2:] for row in rows], [(6.0, 1.5), (1.0, 0.2), (1.0, 0.3)])


def test_many_phases_are_taken_together(solution: fw.Solution):
    first = solution.history[0]
    history = tuple(replace(first, phase=f"step {i}", passes=i + 1.0, elapsed=i + 1.0) for i in range(20))
    rows = analysis(solution.plan.chosen.estimate, replace(solution, history=history))["phases"]
    assert len(rows) == MOST_PHASES + 1 and rows[-1]["phase"] == f"{20 - MOST_PHASES} other phases"
    assert sum(row["passes"] for row in rows) == 20.0
