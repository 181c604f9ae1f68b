"""Turns of methods are decided from counted work and gaps alone."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fwdsl.backends.method import Estimate
from fwdsl.plan import Candidate
from fwdsl.solve import relay
from fwdsl.solve.journal import Best, Journal
from fwdsl.solve.relay import Lane, Relay, counted, lanes_of

TOL = 1e-6


def lane(name: str, predicted: float, second: float = 1e-3) -> Lane:
    """A lane whose prediction is so many seconds of work."""
    return Lane(name, predicted / second, second, Journal(0))


def work(on: Lane, passes: float, gap: float, seconds: float = 0.0) -> None:
    """A turn of the lane."""
    on.run = on.run or SimpleNamespace(state=SimpleNamespace(iteration=1))  # type: ignore[assignment]
    on.journal.passes += passes
    on.look(gap, seconds)


def test_alone_a_method_runs_until_it_ends() -> None:
    only = lane("a", 1.0)
    assert Relay(only, list, TOL).until(only) == math.inf


def test_beside_an_unrivalled_one_another_follows_only_where_it_gives_up() -> None:
    a, b = lane("a", 10.0), lane("b", 0.01)
    turns = Relay(a, lambda: [b], TOL, unrivalled=True)
    assert turns.first() is a
    assert turns.until(a) == math.inf
    a.gave_up = True
    assert (turns.next(a, "it is stuck") or (a, ""))[0] is b


def test_looks_that_could_hand_over_to_nobody_are_left_out() -> None:
    """A rival that is expected to take 50 s does not follow one that has worked for less than 50 MARGIN / CAP, but may have a trial before."""
    a, b = lane("a", 10.0), lane("b", 50.0)
    turns = Relay(a, lambda: [b], TOL)
    assert turns.until(a) == pytest.approx(relay.START_UP / relay.SHARE_OF_FAR / a.second)
    work(b, 30.0, 0.5)
    assert turns.until(a) == pytest.approx(relay.GROW * b.work / relay.SHARE_OF_FAR / a.second)
    # one that is expected sooner than the leader may follow at any look
    assert Relay(a, lambda: [lane("c", 1.0)], TOL).until(a) == pytest.approx(max(relay.FIRST / a.second, relay.LEAST))


def test_methods_without_passes_are_counted_by_their_iterations() -> None:
    """A prediction of no passes is no reason to hand over at the first look."""
    plan = SimpleNamespace(
        method="a", chosen=Candidate("a", "", (), Estimate(0.0, 1e-4, 0.0, ""), False), rivals=lambda: ()
    )
    only, others = lanes_of(plan, 1.0, Best())  # type: ignore[arg-type]
    assert not others()
    assert only.second == pytest.approx(1e-4 / counted(0.0, 1))


def test_who_is_on_the_way_keeps_the_lead() -> None:
    a, b = lane("a", 0.1), lane("b", 0.12)
    turns = Relay(a, lambda: [b], TOL)
    for gap in (1e-2, 1e-3, 1e-4):
        work(a, turns.until(a) - a.passes, gap)
        assert turns.next(a, "") == (a, "")


def test_who_is_stuck_beyond_its_prediction_hands_over() -> None:
    a, b = lane("a", 0.1), lane("b", 0.12)
    turns = Relay(a, lambda: [b], TOL)
    lead = a
    for _ in range(8):
        work(a, turns.until(a) - a.passes, 0.5)
        lead, why = turns.next(a, "") or (a, "")
        if lead is b and turns.leader is a:
            # a trial, in which it is as predicted
            passes = turns.until(b)
            work(b, passes, 10.0 ** (-6.0 * passes / b.predicted_passes))
            lead, why = turns.next(b, "") or (a, "")
        if lead is b:
            break
    assert lead is turns.leader is b
    assert a.work < 1.0
    assert "`a` stood at a gap of 5.0e-01" in why


def test_a_prediction_that_was_too_high_shows_on_trial() -> None:
    a, b = lane("a", 10.0), lane("b", 200.0)
    turns = Relay(a, lambda: [b], TOL)
    work(a, 5000.0, 1e-2)
    found = turns.next(a, "")
    assert found is not None and found[0] is b and "a trial of `b`" in found[1]
    assert turns.leader is a
    work(b, turns.until(b), 3e-6)
    b.predicted_passes = b.passes  # its prediction has run out
    found = turns.next(b, "")
    assert found is not None and found[0] is turns.leader is b


def test_a_trial_that_shows_nothing_goes_back_and_is_not_repeated_at_once() -> None:
    a, b = lane("a", 10.0), lane("b", 20.0)
    turns = Relay(a, lambda: [b], TOL)
    work(a, 5000.0, 1e-2)
    assert (turns.next(a, "") or (None,))[0] is b
    work(b, turns.until(b), 1.0)
    assert (turns.next(b, "") or (None,))[0] is a
    assert b.work <= relay.SHARE_OF_FAR * relay.GROW * a.work


def test_who_gives_up_is_out_and_the_last_one_ends_the_run() -> None:
    a, b = lane("a", 1.0), lane("b", 2.0)
    turns = Relay(a, lambda: [b], TOL)
    a.gave_up = True
    assert turns.next(a, "no way on") == (b, "`a` gave up: no way on")
    assert turns.until(b) == math.inf
    b.gave_up = True
    assert turns.next(b, "neither") is None


def test_work_is_counted_and_only_far_slower_methods_are_timed() -> None:
    a = lane("a", 1.0)
    Relay(a, list, TOL)  # it leads
    work(a, 100.0, 0.1, seconds=0.9)
    assert a.second == 1e-3 and a.work == pytest.approx(0.1)
    work(a, 100.0, 0.1, seconds=4.1)
    assert a.second == pytest.approx(5.0 / 200.0)
    assert not a.is_slow(a.passes, 0.0)


def test_a_slow_beginning_is_not_held_against_a_method_for_ever() -> None:
    a = lane("a", 1.0)
    Relay(a, list, TOL)
    work(a, 14.0, 0.1, seconds=2.0)
    assert a.second == pytest.approx(2.0 / 14.0)
    work(a, 20.0, 0.01, seconds=0.1)
    assert a.second == pytest.approx(0.1 / 20.0)
    assert not a.is_slow(a.passes, 0.0)


def test_the_start_of_a_run_is_no_part_of_its_passes() -> None:
    """A system that is written down once says nothing of the steps that follow."""
    a, b = lane("a", 1.0), lane("b", 0.5)
    Relay(a, lambda: [b], TOL)
    b.beginning = 3.0
    assert not b.is_slow(relay.LEAST, 3.1)
    work(b, relay.LEAST, 0.1, seconds=3.1)
    assert b.second == 1e-3
    assert b.is_slow(2.0 * relay.LEAST, 3.0)


def test_the_time_of_predicting_the_others_is_not_the_leaders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "time", SimpleNamespace(perf_counter=iter([1.0, 3.5]).__next__))
    turns = Relay(lane("a", 1.0), lambda: [lane("b", 2.0)], TOL)
    assert [other.name for other in turns.lanes] == ["a", "b"]
    assert turns.predicting == 2.5


def test_a_trial_is_timed_sooner_than_the_leader() -> None:
    a, b = lane("a", 1.0), lane("b", 2.0)
    turns = Relay(a, lambda: [b], TOL)
    late = 0.5 * (relay.TRIAL_AFTER + relay.SLOW_AFTER)
    assert b.is_slow(relay.LEAST, late) and not a.is_slow(relay.LEAST, late)
    a.gave_up = True
    turns.next(a, "no way on")
    assert not b.is_slow(relay.LEAST, late)


def test_programs_without_data_count_iterations() -> None:
    assert counted(0.0, 7) == 14.0
    assert counted(100.0, 7) == 100.0


def test_no_turn_for_who_takes_more_memory_or_has_no_prediction() -> None:
    def candidate(name: str, estimate: Estimate | None) -> Candidate:
        return Candidate(name, name, (), estimate)

    rivals = (
        candidate("large", Estimate(1.0, 1.0, 3e9, "")),
        candidate("small", Estimate(1.0, 1.0, 1e8, "")),
        candidate("unknown", None),
    )
    plan: Any = SimpleNamespace(
        method="own", chosen=candidate("own", Estimate(10.0, 0.1, 1e6, "")), rivals=lambda: rivals
    )
    own, others = lanes_of(plan, 1.0, Best())
    assert own.name == "own" and [a.name for a in others()] == ["small"]
    assert own.second == pytest.approx(0.01)


@pytest.mark.parametrize("seed", range(200))
def test_the_leader_begins_without_others_wherever_nobody_may_have_a_trial(seed: int) -> None:
    """`first` asks for no other lane where a pass of the leader is short, as if it had asked them all."""
    rng = np.random.default_rng(seed)

    def drawn(name: str) -> Lane:
        second = 10.0 ** rng.uniform(-6.0, 1.0)
        return lane(name, second * 10.0 ** rng.uniform(0.0, 5.0), second)

    leader, others = drawn("a"), [drawn("b"), drawn("c")]
    turns, asked = Relay(leader, lambda: asked.append(1) or others, TOL), list[int]()
    found, was_asked = turns.first(), bool(asked)
    assert found is (turns._on_trial() or leader)
    assert was_asked == (relay.SHARE * max(relay.FIRST, relay.LEAST * leader.second) >= relay.START_UP)
    assert turns.at_least(leader) <= turns.until(leader)


def test_a_trial_that_would_cost_what_the_leader_has_left_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = lane("a", 1.0), lane("b", 1.5)
    turns = Relay(a, lambda: [b], TOL)
    work(a, 400.0, 1e-1)
    work(a, 590.0, 1e-5)
    assert turns.next(a, "") == (a, "")
    monkeypatch.setattr(relay, "WORTH", 0.0)
    assert (turns.next(a, "") or (a, ""))[0] is b


def test_gaps_of_a_method_that_ends_at_once_tell_nothing_before_its_prediction_has_long_run_out() -> None:
    sure, other = lane("sure", 1.0), lane("other", 1.0)
    sure.trusted = 2.0
    for on in (sure, other):
        work(on, 0.9 * on.predicted_passes, 0.5)
    assert sure.left(TOL) == pytest.approx(relay.LATE * sure.work)
    assert sure.left(TOL) < other.left(TOL)
    work(sure, 0.5 * sure.predicted_passes, 0.5)
    assert sure.left(TOL) == pytest.approx(relay.LATE * sure.work)
    work(sure, sure.predicted_passes, 0.5)
    assert sure.left(TOL) == pytest.approx(relay.CAP * sure.work)


def test_nobody_far_slower_is_tried_while_a_trusted_prediction_holds() -> None:
    sure, slow = lane("sure", 1.0), lane("slow", 8.0)
    turns = Relay(sure, lambda: [slow], TOL)
    work(sure, 500.0, 0.5)
    assert (turns.next(sure, "") or (sure, ""))[0] is slow
    sure.trusted = 2.0
    assert turns.next(sure, "") == (sure, "")
    # one that may well be faster is tried, and everybody when the prediction has run out
    near = lane("near", 1.2)
    assert (Relay(sure, lambda: [near], TOL).next(sure, "") or (sure, ""))[0] is near
    work(sure, 1600.0, 0.5)
    assert (turns.next(sure, "") or (sure, ""))[0] is slow


def test_a_sure_prediction_takes_over_sooner() -> None:
    """A method whose prediction is trusted follows one that is stuck where another one of the same prediction does not yet."""
    for trusted, follows in ((1.0, False), (2.0, True)):
        a, b = lane("a", 0.5), lane("b", 1.0)
        b.trusted = trusted
        turns = Relay(a, lambda b=b: [b], TOL)  # type: ignore[misc]
        work(a, 600.0, 0.5)
        assert 1.0 * relay.SURE < a.left(TOL) < 1.0 * relay.MARGIN
        turns.next(a, "")
        assert (turns.leader is b) == follows


def test_one_on_trial_may_take_over_from_a_leader_that_has_not_begun() -> None:
    a, b = lane("a", 100.0, 2.0), lane("b", 150.0, 0.01)
    turns = Relay(a, lambda: [b], TOL)
    assert turns.first() is b
    work(b, turns.until(b), 1e-3)
    b.predicted_passes = b.passes
    work(b, 1.2 * b.passes, 2e-6)
    assert turns.next(b, "") == (b, "`a` has not begun, and `b` is expected to be done sooner")
