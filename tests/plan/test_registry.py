"""The table of methods: what it says of each agrees with the method, and a plan loads only what it may choose."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fwdsl.backends.method import Method, State
from fwdsl.backends.registry import AUTOMATIC, METHODS, NAMED, state_class


@pytest.mark.parametrize("name", list(METHODS))
def test_a_line_names_the_method_and_its_states(name: str) -> None:
    method = METHODS[name]
    assert issubclass(method, Method) and method.name == name
    assert bool(method.by_name_only) == (name in NAMED)
    assert method.title and method.source
    for state in {**AUTOMATIC, **NAMED}[name][2:]:
        of, cls = state_class(state)
        assert of == name and issubclass(cls, State)


def test_the_table_is_a_mapping() -> None:
    assert len(METHODS) == len(list(METHODS)) == len(AUTOMATIC) + len(NAMED)
    assert "apg" in METHODS and "fista" not in METHODS
    with pytest.raises(KeyError):
        METHODS["fista"]


def test_a_plan_by_the_planner_loads_no_method_that_is_run_by_name_only() -> None:
    program = """
import sys
import fwdsl as fw
from fwdsl.backends.registry import NAMED
problem = fw.parse("var x: vector[3] in simplex(1)\\nminimize sum_squares(x)")
problem.solve()
named = {f"fwdsl.backends.{line[0]}" for line in NAMED.values()}
print(sorted(named & set(sys.modules)))
problem.plan().render()
print(named <= set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "True"]
