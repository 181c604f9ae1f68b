"""Sessions: each stage is gone through once, its findings are told once, and what fails can be tried again."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.grammar.diagnostic import Diagnostic
from fwdsl.model.options import Options
from fwdsl.session import Diagnostics, Raising, Session, StageName

TEXT = "data A: matrix[n, p], b: vector[n]\nparam mu: positive = 0.5\nvar x: vector[p]\nminimize sum(squared(A @ x, b)) + mu * norm1(x)\n"
A = np.arange(12.0).reshape(4, 3) % 5.0
GIVEN = {"A": A, "b": A @ [1.0, 0.0, -2.0]}


class Listing(Raising):
    """Notes what it is told, stage by stage."""

    def __init__(self) -> None:
        self.told: list[tuple[str, tuple[str, ...]]] = []

    def found(self, stage: StageName, diagnostics: Diagnostics) -> None:
        self.told.append((stage, tuple(d.code for d in diagnostics)))

    def failed(self, stage: StageName, diagnostics: Diagnostics) -> NoReturn:
        self.told.append((f"{stage} failed", tuple(d.code for d in diagnostics)))
        super().failed(stage, diagnostics)

    def contradicted(self, proof: Diagnostic) -> None:
        self.told.append(("contradicted", (proof.code,)))


def session(text: str = TEXT, **given: object) -> tuple[Session, Listing]:
    sink = Listing()
    return Session(text, "<test>", Path(), sink, given), sink


def test_a_solve_goes_through_all_stages_once() -> None:
    at, sink = session(**GIVEN)
    solution = at.solve()
    assert sink.told == [("compile", ()), ("bind", ()), ("canonicalise", ()), ("plan", ())]
    assert at.solve().objective == solution.objective == fw.parse(TEXT).bind(**GIVEN).solve().objective
    assert len(sink.told) == 4
    assert solution.plan is at.plan() and solution.instance is at.bind()
    assert min(solution.times.compile, solution.times.load, solution.times.plan) > 0.0


def test_other_options_are_planned_alone() -> None:
    at, sink = session(**GIVEN)
    at.plan()
    other = at.solved_with(Options(method="pdhg"))
    assert other.plan().method == "pdhg" and at.plan().method != "pdhg"
    assert other.canonicalise() is at.canonicalise()
    assert [stage for stage, _ in sink.told] == ["compile", "bind", "canonicalise", "plan", "plan"]


def test_another_parameter_keeps_the_data_and_what_was_found_about_them() -> None:
    at, sink = session(**{**GIVEN, "A": A.astype(np.float32)})
    at.options = Options(tol=1e-9)
    values = at.bind().values
    other = at.bound_to({**GIVEN, "mu": 2.0}, same_data=True)
    assert other.bind().values["A"] is values["A"] and other.bind().values["mu"] == 2.0
    assert sink.told[1:] == [("bind", ("FW4802",)), ("bind", ())]
    assert [d.code for d in other.found("bind")] == ["FW4802"]
    assert at.bound_to(GIVEN).bind().values["A"] is not values["A"]


def test_a_stage_that_failed_is_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "b.npy"
    at, sink = session(f'data b: vector[n] from npy("{file}")\nvar x: vector[n]\nminimize sum_squares(x - b)\n')
    with pytest.raises(fw.DataError):
        at.solve()
    np.save(file, np.array([1.0, 2.0]))
    assert at.solve().status == "optimal"
    assert [stage for stage, _ in sink.told] == ["compile", "bind failed", "bind", "canonicalise", "plan"]


def test_a_plan_without_data_is_none_to_solve_by() -> None:
    at, sink = session()
    assert not at.plan(with_data=False).bound
    with pytest.raises(fw.DataError):
        at.plan()
    assert [stage for stage, _ in sink.told] == ["compile", "plan", "bind failed"]


def test_a_contradiction_is_told_and_no_fault() -> None:
    at, sink = session("var x: vector[2]\nminimize sum_squares(x)\nsubject to x >= 1, x <= 0\n")
    assert at.solve().status == "infeasible"
    assert ("contradicted", ("FW5010",)) in sink.told
    assert at.found() == ()
