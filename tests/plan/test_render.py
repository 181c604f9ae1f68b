"""The plan in print: what applies with its cost, what applies where it is named, what does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fwdsl.backends import speed
from fwdsl.backends.method import Estimate
from fwdsl.plan import Candidate, Plan

CHEAP = Estimate(12.0, 0.002, 4096.0, "twelve steps")
DEAR = Estimate(900.0, 3.0, 1e6, "many steps")

WEIGHED = {
    c.name: c
    for c in (
        Candidate("slow", "a slow one", (), DEAR),
        Candidate("baseline_of_old", "an old one", (), CHEAP, "a baseline"),
        Candidate("none", "for matrices", ("x is no matrix", "y is none either", "nor is z")),
        Candidate("quick", "a quick one", (), CHEAP),
        Candidate("other", "for signs", ("y has three values",), by_name_only="a baseline"),
    )
}

PLAN = Plan(
    method="quick",
    method_options={},
    why="the least predicted time",
    among=tuple(WEIGHED),
    facts=(),
    bound=True,
    tol=1e-6,
    told=lambda: ("exact", ("minimise over x",)),
    look=WEIGHED.__getitem__,
)


def sections(plan: Plan) -> Iterator[tuple[str, list[str]]]:
    for part in plan.render().split("\n\n"):
        head, *lines = part.splitlines()
        yield head, lines


def test_with_data_the_cheapest_comes_first_and_baselines_stand_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "slowness", lambda: 1.0)
    found = dict(sections(PLAN))
    assert found["methods that apply"] == [
        "  * quick            a quick one",
        "             about 12 data passes, 2 ms, 4.1 kB beside the data",
        "             twelve steps",
        "    slow             a slow one",
        "             about 900 data passes, 3.0 s, 1.0 MB beside the data",
        "             many steps",
    ]
    assert found["that apply where they are named"] == [
        "    baseline_of_old  an old one (a baseline)",
        "             about 12 data passes, 2 ms, 4.1 kB beside the data",
    ]
    assert found["that do not apply"] == ["    none   x is no matrix (and 2 more)", "    other  y has three values"]


def test_a_baseline_that_is_named_is_among_those_that_may_be_chosen() -> None:
    found = dict(sections(replace(PLAN, method="baseline_of_old")))
    assert "  * baseline_of_old  an old one" in found["methods that apply"]
    assert "that apply where they are named" not in found


def test_without_data_the_order_is_that_of_the_registry() -> None:
    bare = replace(PLAN, bound=False, look={n: replace(c, estimate=None) for n, c in WEIGHED.items()}.__getitem__)
    found = dict(sections(bare))
    assert found["methods that apply"] == ["    slow             a slow one", "  * quick            a quick one"]


@pytest.mark.parametrize("candidate", PLAN.candidates, ids=lambda c: c.name)
def test_the_plain_form_has_everything(candidate: Candidate) -> None:
    form = next(m for m in PLAN.to_json()["methods"] if m["name"] == candidate.name)
    assert form["reasons"] == list(candidate.reasons) and form["applies"] == candidate.applies
    assert form["by_name_only"] == candidate.by_name_only
    assert (form["predicted"] is None) == (candidate.estimate is None)
