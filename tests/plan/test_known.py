"""Facts of the program alone are worked out once, however often other numbers are bound."""

from __future__ import annotations

import pickle
from dataclasses import asdict

import fwdsl as fw
from fwdsl.canon.arrange import arrange
from fwdsl.model import Model, once_per_model

TEXT = "data b: vector[n]\nparam mu: positive\nvar x: vector[n]\nminimize sum_squares(x - b) + mu * norm1(x)\n"


def test_each_model_and_argument_once() -> None:
    asked: list[tuple[str, int]] = []

    @once_per_model
    def names(model: Model, times: int = 1) -> str:
        asked.append((model.name, times))
        return model.variables[0].name * times

    one, other = fw.parse(TEXT).model, fw.parse(TEXT, "other").model
    assert [names(one), names(one), names(one, 2), names(one, 2), names(other)] == ["x", "x", "xx", "xx", "x"]
    assert len(asked) == 3


def test_what_is_known_stays_with_the_process_and_is_no_part_of_a_model() -> None:
    model = fw.parse(TEXT).model
    assert arrange(model) is arrange(model)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert again == model and asdict(arrange(again)) == asdict(arrange(model)) and arrange(again) is not arrange(model)


def test_plans_with_other_numbers_are_told_with_their_own() -> None:
    problem = fw.parse(TEXT).bind(b=[1.0, 2.0])
    plans = [problem.bind(mu=mu).plan() for mu in (0.1, 0.2)]
    assert [plan.structure[-1] for plan in plans] == ["  g  x: 0.1 * norm1", "  g  x: 0.2 * norm1"]
    copied = pickle.loads(pickle.dumps(plans[1]))  # noqa: S301
    assert copied.render() == plans[1].render()
