"""What a run's evaluations say about time, and the games that it is given."""

from __future__ import annotations

from palaestra.games.registry import make_game
from palaestra.lab.data import Data
from palaestra.lab.experiments.expert_games import ALONE, EXPERIMENT, GIVEN, perfect_games, rows_over_time
from palaestra.runs.pgn_games import read_games


def test_a_row_has_the_last_score_and_half_is_when_it_was_first_reached() -> None:
    rows = rows_over_time([(1.5, 20.0), (4.0, 55.0), (5.0, 45.0), (12.3, 70.0)], 12.0)
    assert [row["score"] for row in rows] == [None, 20, 20, 55, 45, 45, 45, 45, 45, 45, 45, 70]
    assert {row["half"] for row in rows} == {4.0} and rows[-1]["final"] == 1
    assert {row["half"] for row in rows_over_time([(3.0, 10.0)], 12.0)} == {12.0}


def test_the_claim_counts_minutes_seed_by_seed() -> None:
    rows = [
        {"arm": arm, "seed": seed, "half": half + seed / 10, "score": 50.0, "final": 1}
        for arm, half in ((GIVEN, 2.0), (ALONE, 5.0))
        for seed in range(4)
    ]
    claim, _ = EXPERIMENT.claims
    verdict = claim.check(Data(tuple(rows)))
    assert verdict.answer == "holds" and verdict.estimate.value == 3.0


def test_given_games_are_those_of_the_perfect_player() -> None:
    game = make_game("tic_tac_toe-3x3")
    games = read_games(perfect_games("tic_tac_toe-3x3", 6, 2))
    assert len(games) == 6 and {played.opening_plies for played in games} == {2}
    assert {played.record(game).first for played in games} == {"perfect"}
