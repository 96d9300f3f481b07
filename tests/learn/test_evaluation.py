"""Strength against anchors."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from palaestra.arena.match import Running
from palaestra.base.errors import PlayerError
from palaestra.games.registry import make_game
from palaestra.learn.config import RunConfig
from palaestra.learn.evaluation import as_configured, elo_above_random, play_anchors
from tests.players.run_folders import random_model

TIC = make_game("tic_tac_toe-3x3")

evaluate = partial(as_configured, play_anchors)


def config(**settings: Any) -> RunConfig:
    threads = settings.pop("threads", 1)
    return RunConfig(game="tic_tac_toe-3x3", iterations=1, threads=threads, evaluation={"games": 20, **settings})


def test_every_anchor_is_played_and_the_results_are_repeatable_on_any_number_of_threads() -> None:
    anchors = ("random", "uct(simulations=10)")
    results = evaluate(TIC, random_model(TIC), config(anchors=anchors, simulations=20), seed=1)
    again = evaluate(TIC, random_model(TIC), config(anchors=anchors, simulations=20, threads=2), seed=1)
    assert [result.anchor for result in results] == list(anchors)
    for one, other in zip(results, again, strict=True):
        assert (one.wins, one.draws, one.losses, one.elo) == (other.wins, other.draws, other.losses, other.elo)
        assert one.wins + one.draws + one.losses == one.games == 20
        assert one.interval[0] <= one.score <= one.interval[1]
        assert 10 <= one.distinct_games <= 20
    other_seed = evaluate(TIC, random_model(TIC), config(anchors=anchors, simulations=20), seed=2)
    assert [r.wins for r in other_seed] != [r.wins for r in results]


def test_a_search_with_more_simulations_scores_more_against_random() -> None:
    few, many = (
        evaluate(TIC, random_model(TIC), config(anchors=("random",), games=60, simulations=n), seed=0)[0]
        for n in (1, 300)
    )
    assert many.score > few.score + 0.15
    assert (few.simulations, many.simulations) == (1, 300)


def test_an_elo_without_an_end_is_none_and_its_other_end_is_known() -> None:
    four = make_game("connect_four-5x5")
    settings = RunConfig(
        game="connect_four-5x5",
        iterations=1,
        threads=1,
        evaluation={"games": 4, "anchors": ("random", "greedy"), "simulations": 400},
    )
    won, other = evaluate(four, random_model(four), settings, seed=0)
    assert won.wins == 4 and won.elo[0] is None and won.elo[2] is None
    assert won.elo[1] is not None and -300 < won.elo[1] < 300
    assert elo_above_random([won]) == won.elo
    assert elo_above_random([other]) is None


def test_the_listener_hears_each_anchor() -> None:
    heard: list[tuple[str, Running]] = []
    settings = config(anchors=("random", "greedy"), games=6, simulations=4)
    evaluate(TIC, random_model(TIC), settings, 0, listen=lambda anchor, running: heard.append((anchor, running)))
    assert {anchor for anchor, _ in heard} == {"random", "greedy"}
    assert heard[-1][1].finished == 6


def test_an_anchor_that_does_not_exist_is_said_so() -> None:
    with pytest.raises(PlayerError, match="unknown player 'stockfish'"):
        evaluate(TIC, random_model(TIC), config(anchors=("stockfish",)), seed=0)
