"""Evaluation where there is one player: scores from the same beginnings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from palaestra.arena.statistics import student_95
from palaestra.games.registry import make_game
from palaestra.learn.scores import play_scores, score_of
from palaestra.runs.game_record import GameRecord
from palaestra.search.config import SearchConfig
from tests.learn.selfplay_games import model


def played(game_id: str, **settings: Any) -> Any:
    game = make_game(game_id)
    given = {"games": 6, "simulations": 8, "threads": 1, "seed": 3, **settings}
    return play_scores(game, model(game_id), SearchConfig(), ("random", "nrpa(level=1, n=20)"), **given)


@pytest.mark.parametrize("game_id", ["morpion-4d", pytest.param("bin_packing-2d-4", marks=pytest.mark.slow)])
def test_all_play_from_the_same_beginnings_and_threads_change_nothing(game_id: str) -> None:
    game, scores = make_game(game_id), played(game_id)
    assert [scored.score.player for scored in scores] == ["agent(simulations=8)", "random", "nrpa(level=1, n=20)"]
    assert len({score.records for score in scores}) == 3
    opening = 0 if game.num_starts > 1 else 2
    for records in zip(*(score.records for score in scores), strict=True):
        assert len({(record.start, record.moves[:opening]) for record in records}) == 1
        for record in records:
            state = game.start(np.array([record.start]))
            for move in record.moves:
                state = game.advance(state, np.array([move], dtype=np.int32))
            assert int(game.outcome(state)[0]) == record.outcome
    assert [score.records for score in played(game_id, threads=3)] == [score.records for score in scores]


def test_games_of_a_player_that_draws_nothing_differ() -> None:
    assert played("morpion-4d")[0].score.distinct_games == 6


def test_the_listener_hears_of_every_player() -> None:
    heard: list[tuple[str, int]] = []
    played("bin_packing-2d-4", listen=lambda player, finished: heard.append((player, finished)))
    assert heard == [("agent(simulations=8)", 6), ("random", 6), ("nrpa(level=1, n=20)", 6)]


def test_the_interval_is_that_of_the_mean() -> None:
    records = [GameRecord(number, 0, (number % 3,), 0, outcome) for number, outcome in enumerate((60, 62, 64, 66))]
    score = score_of("somebody", records)
    margin = student_95(3) * np.std([60, 62, 64, 66], ddof=1) / 2
    assert (score.mean, score.best, score.games, score.distinct_games) == (63.0, 66, 4, 3)
    assert score.low == pytest.approx(63 - margin) and score.high == pytest.approx(63 + margin)
    assert score_of("somebody", records[:1]).low is None
