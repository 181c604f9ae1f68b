"""The programs that are compared with CVXPY are accepted, and solved with their known values."""

from __future__ import annotations

import json
import math

import pytest

import fwdsl as fw
from benchmarks.programs import __main__ as programs
from benchmarks.programs.written import CASES

VALUES = json.loads(programs.VALUES.read_text(encoding="utf-8"))


def test_every_program_has_a_known_value_and_says_what_it_is():
    assert set(VALUES) == set(CASES) and len(CASES) >= 120
    assert all(math.isfinite(value) for value in VALUES.values())
    assert all(case.title.endswith(".") for case in CASES.values())


@pytest.mark.parametrize("name", CASES)
def test_a_program_is_accepted_and_comes_back_from_its_own_text(name: str):
    problem = fw.parse(CASES[name].make().text)
    assert fw.parse(problem.to_fw()).model == problem.model


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_program_is_solved_with_its_known_value(name: str):
    written = CASES[name].make()
    solution = fw.parse(written.text).bind(**written.data).solve(tol=1e-6)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(VALUES[name], rel=1e-5, abs=1e-9)
