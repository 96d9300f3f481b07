"""The model of many machines, against cases that can be counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from palaestra.lab.scale_model import Costs, Plan, simulate

FREE = Costs(
    seconds_a_game=0.1,
    share_overhead=0.0,
    dispatch=0.0,
    settle=0.0,
    bytes_a_game=0.0,
    bytes_a_network=0.0,
    samples_a_game=1.0,
    samples_a_second=1e12,
)


def test_workers_that_wait_for_nothing_play_as_fast_as_they_are_many() -> None:
    for workers in (1, 2, 50):
        found = simulate(FREE, Plan(workers, 1000))
        assert found.games_per_second == pytest.approx(10 * workers) and found.busy == pytest.approx(1.0)
        assert found.bound == "workers"


def test_a_slow_learner_is_waited_for_and_overlap_hides_it_up_to_its_own_time() -> None:
    slow = replace(FREE, samples_a_second=100.0)  # 100 games take 1 s to learn, and with 10 workers 1 s to play
    assert simulate(slow, Plan(10, 100)).games_per_second == pytest.approx(50)
    assert simulate(slow, Plan(10, 100, overlap=True)).games_per_second == pytest.approx(100)
    many = simulate(slow, Plan(100, 100, overlap=True))
    assert many.games_per_second == pytest.approx(100) and many.bound == "learner"


def test_every_machine_is_sent_the_network_one_after_the_other_unless_others_pass_it_on() -> None:
    heavy = replace(FREE, bytes_a_network=1e6, bytes_a_second=1e6)  # a second for each
    found = simulate(heavy, Plan(100, 100))
    assert found.bound == "network" and found.games_per_second == pytest.approx(100 / 100.1)
    assert simulate(heavy, Plan(100, 100, relays=10)).games_per_second == pytest.approx(100 / 10.1)


def test_shares_are_handed_out_and_taken_in_one_after_the_other() -> None:
    found = simulate(replace(FREE, dispatch=0.01, settle=0.001), Plan(1000, 1000))
    assert found.bound == "dispatch" and found.games_per_second < 1000 / (1000 * 0.011)
    few = simulate(replace(FREE, share_overhead=1.0), Plan(1, 100, share=10))
    assert few.games_per_second == pytest.approx(100 / (10 + 10 * 1.0)) and few.busy == pytest.approx(0.5)
