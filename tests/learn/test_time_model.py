"""The model of a run's time: counts that it shares with the loop, laws that it finds again, sums over iterations."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from palaestra.games.registry import make_game
from palaestra.learn.config import LearnConfig, RunConfig
from palaestra.learn.presets import configure
from palaestra.learn.replay import Replay
from palaestra.learn.time_model import (
    NO_DRIFT,
    AnchorSpeed,
    Course,
    NetworkSpeed,
    Probe,
    SearchSpeed,
    Speeds,
    Trend,
    estimate,
    fit_trend,
    rounds,
    steps_of,
)
from tests.learn.test_replay import random_examples

NETWORK = NetworkSpeed((1, 64), (0.001, 0.010))


def asked(simulations: int, games: int) -> float:
    """Evaluations a position in the made-up search."""
    return 2.0 * simulations**0.7 * games**-0.1


def probe(simulations: int, games: int, threads: int) -> Probe:
    lengths = (10,) * (games * threads)
    evaluations = asked(simulations, games) * sum(lengths)
    other = 1e-5 * sum(lengths) * simulations + 1e-3 * threads * 10 * evaluations / sum(lengths)
    return Probe(simulations, games, lengths, 10.0, round(1000 * evaluations) // 1000, other)


def search(threads: int = 2) -> SearchSpeed:
    probes = tuple(
        probe(simulations, games, threads) for games, simulations in ((8, 25), (32, 25), (8, 100), (32, 100))
    )
    return SearchSpeed(probes, threads, plies=2.0, learned=1.0)


def speeds(**changes: object) -> Speeds:
    given = {"network": NETWORK, "selfplay": search(), "step_seconds": 0.01, "iteration_seconds": 0.5}
    anchors = {text: AnchorSpeed(0.001, 10.0) for text in ("random", "uct(simulations=200)")}
    return Speeds(**{**given, "first_seconds": 1.0, "match": search(), "anchors": anchors, **changes})  # type: ignore[arg-type]


def config(*sets: str, iterations: int | None = 4, minutes: float | None = None) -> RunConfig:
    return configure("tic_tac_toe-3x3", "thesis-small", sets, iterations=iterations, minutes=minutes, threads=2)


def test_places_that_become_free_are_taken_by_the_next_game() -> None:
    assert rounds([3, 5, 2], games=3, slots=3) == (10, 5)
    assert rounds([3, 5, 2], games=3, slots=2) == (10, 5)  # the third game follows the first: 3 + 2
    assert rounds([4], games=10, slots=3) == (40, 16)


@pytest.mark.parametrize(
    "learn",
    [
        LearnConfig(window=2, epochs=3, batch=16),
        LearnConfig(window=2, epochs=3, batch=16, count_symmetries=True),
        LearnConfig(window=2, window_share=0.8, epochs=1.5, batch=16),
        LearnConfig(window=2, epochs=None, samples_per_position=2.5, batch=16),
    ],
)
def test_steps_of_training_are_those_that_the_replay_counts(learn: LearnConfig) -> None:
    replay, made = Replay(learn.window, learn.window_share), list[float]()
    for iteration, positions in enumerate([40, 5, 61, 90, 33], start=1):
        replay.add(iteration, random_examples(make_game("tic_tac_toe-3x3"), positions))
        made.append(float(positions))
        assert steps_of(learn, made, 8) == replay.steps(learn, 8)


def test_a_power_law_and_both_costs_are_found_again_where_no_probe_was() -> None:
    found = search()
    assert found.evaluations(50, 100) == pytest.approx(asked(50, 100), rel=0.01)
    seconds = found.selfplay_seconds(NETWORK, 50, games=40, slots=128)
    calls = 10 * asked(50, 20)
    assert seconds == pytest.approx(calls * (1e-3 + NETWORK.call(20)) + 20 * 10 * 50 * 1e-5, rel=0.01)


def test_the_network_is_asked_at_most_once_a_simulation() -> None:
    assert search().evaluations(2, 1) <= 3.0


def test_questions_about_more_than_a_batch_are_several_calls() -> None:
    assert NETWORK.call(1) == 0.001
    assert NETWORK.call(128) == pytest.approx(2 * NETWORK.call(64))


def test_games_change_ever_more_slowly_towards_what_was_seen() -> None:
    course = Course(Trend(0.5, 60.0), Trend(2.0, 60.0))
    assert course.after(0) == NO_DRIFT
    lengths = [course.after(games).length for games in (0, 40, 200, 4000)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] == pytest.approx(0.5)


@pytest.mark.parametrize("true", [Trend(0.5, 100.0), Trend(1.3, 30.0), Trend(1.0, 60.0)])
def test_a_trend_is_found_again_from_what_was_seen(true: Trend) -> None:
    games = range(0, 320, 40)
    found = fit_trend(games, [true.after(number) for number in games])
    assert [found.after(number) for number in (50, 300, 1000)] == pytest.approx(
        [true.after(number) for number in (50, 300, 1000)], abs=0.02
    )


def test_a_trend_that_has_not_ended_is_not_drawn_out_much_further() -> None:
    games = range(0, 320, 40)
    found = fit_trend(games, [1 - number / 400 for number in games])
    assert 0.05 <= found.after(10_000) < 0.3, "0.3 was the last that was seen"


def test_behind_a_gate_games_change_more_slowly() -> None:
    shorter = speeds(course=Course(Trend(0.5, 60.0)))
    free, gated = (estimate(config(f"gate.kind={kind}", iterations=8), shorter) for kind in ("off", "threshold"))
    assert gated.positions > free.positions


def test_more_games_an_iteration_bring_the_change_sooner() -> None:
    shorter = speeds(course=Course(Trend(0.5, 60.0)))
    one, other = (
        estimate(config(f"selfplay.games={games}", iterations=end), shorter) for games, end in ((20, 8), (80, 2))
    )
    assert one.games == other.games and other.positions > one.positions, "half of them by the first network"


def test_stages_are_those_that_the_settings_ask_for() -> None:
    usual = estimate(config(), speeds())
    assert usual.iterations == 4 and usual.games == 200 and usual.positions == 2000
    assert all(usual.seconds.values())
    assert usual.total == pytest.approx(1.0 + sum(usual.seconds.values()))
    assert usual.seconds["saving"] == pytest.approx(2.0)
    bare = estimate(config("gate.kind=off", "evaluation.anchors=[]"), speeds())
    assert bare.seconds["gate"] == bare.seconds["evaluation"] == 0.0
    often = estimate(config("evaluation.every=1"), speeds())
    assert often.seconds["evaluation"] == pytest.approx(4 * usual.seconds["evaluation"])
    earlier = estimate(config("evaluation.every=1", "evaluation.history=40"), speeds())
    assert earlier.seconds["evaluation"] > often.seconds["evaluation"]


def test_quick_moves_and_warm_starts_count_as_what_they_are() -> None:
    usual = estimate(config(), speeds()).seconds["selfplay"]
    assert (
        estimate(config("selfplay.quick_fraction=0.5", "selfplay.quick_simulations=2"), speeds()).seconds["selfplay"]
        < usual
    )
    slow = SearchSpeed(
        tuple(Probe(**{**vars(p), "other_seconds": 10 * p.other_seconds}) for p in search().probes), 2, 2.0, 1.0
    )
    warm = ("warm.enhancement=rollout", "warm.length=2")
    first_two = estimate(config(*warm), speeds(warm=slow)).seconds["selfplay"]
    all_four = estimate(config(*warm[:1], "warm.length=10"), speeds(warm=slow)).seconds["selfplay"]
    assert usual < first_two < all_four


def test_minutes_end_a_run_after_the_iteration_in_which_they_pass() -> None:
    every = estimate(config(iterations=1000), speeds())
    minutes = every.total / 60 / 10
    cut = estimate(config(iterations=None, minutes=minutes), speeds())
    assert cut.iterations < 1000
    assert 60 * minutes <= cut.total
    assert math.isclose(cut.total, 60 * minutes, rel_tol=0.2)


def test_a_network_that_grows_costs_what_each_of_its_sizes_costs() -> None:
    sets = ('growth.nets=["b4c48"]', "growth.after=[0.5]", "gate.kind=off", "learn.window=1")
    growing, slow = config(*sets, iterations=8), replace(speeds(), step_seconds=3 * speeds().step_seconds)
    small, large = (estimate(growing, one).seconds["training"] for one in (speeds(), slow))
    grown = estimate(growing, speeds(), grown=[slow]).seconds["training"]
    assert abs(grown - (small + large) / 2) < 0.02 * (large - small), "half of the iterations each"


def test_schedules_of_search_and_given_games_take_the_time_that_they_take() -> None:
    few, many = (estimate(config(f"selfplay.search.simulations={m}"), speeds()) for m in (20, 100))
    growing = config("selfplay.first_simulations=20", "selfplay.search.simulations=100")
    grown = estimate(growing, speeds()).seconds["selfplay"]
    assert few.seconds["selfplay"] < grown < many.seconds["selfplay"]
    off = estimate(config("selfplay.search.simulations=100", "selfplay.search_until=0.5"), speeds())
    assert off.seconds["selfplay"] == pytest.approx(many.seconds["selfplay"] / 2, rel=0.1)
    told = estimate(growing, speeds(), given_steps=300)
    assert told.total - estimate(growing, speeds()).total == pytest.approx(3.0)
