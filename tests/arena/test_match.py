from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from palaestra.arena.match import MatchResult, Running, a_first, play_match, points_of_a
from palaestra.arena.openings import Opening
from palaestra.base.errors import ConfigError, GameError, PlayerError
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.players.registry import make_player
from palaestra.rewards.base import Primitive
from tests.arena.fakes import Drawing, Faulty, Lowest

TIC = make_game("tic_tac_toe-3x3")
GOBANG = make_game("gobang-5x5")


def replayed_points(game: Game, result: MatchResult) -> list[float]:
    """A's points, from the recorded moves alone."""
    points = []
    for record in result.records:
        state = game.start(np.array([record.start]))
        for move in record.moves:
            counts, legal = game.legal(state)
            assert move in legal[0, : counts[0]]
            state = game.advance(state, np.array([move], dtype=np.int32))
        value = float(Primitive().value(game.outcome(state))[0])
        points.append((1 + (value if record.number % 2 == 0 else -value)) / 2)
    return points


def test_every_recorded_game_is_legal_ends_and_counts_as_recorded() -> None:
    result = play_match(GOBANG, Drawing(GOBANG, "a"), Drawing(GOBANG, "b"), games=60, seed=5)
    points = replayed_points(GOBANG, result)
    assert [points_of_a(record) for record in result.records] == points
    assert (result.wins, result.draws, result.losses) == tuple(points.count(value) for value in (1.0, 0.5, 0.0))
    assert result.score == sum(points) / 60
    assert result.distinct_games == 60
    assert result.mean_plies == sum(len(record.moves) for record in result.records) / 60


def test_pairs_share_an_opening_and_swap_sides() -> None:
    result = play_match(GOBANG, Lowest(GOBANG, "a"), Drawing(GOBANG, "b"), games=20, opening_plies=3, seed=1)
    for first, second in zip(result.records[::2], result.records[1::2], strict=True):
        assert first.moves[:3] == second.moves[:3]
        assert a_first(first) and not a_first(second)
    lowest_first = result.records[0]
    # after three plies the second side moves; in an odd-numbered game that is A, who takes the lowest free cell
    free = [cell for cell in range(25) if cell not in result.records[1].moves[:3]]
    assert result.records[1].moves[3] == free[0]
    assert lowest_first.opening_plies == 3


@pytest.mark.parametrize("lockstep", [1, 2, 7, 64])
def test_the_games_do_not_depend_on_how_many_run_at_once(lockstep: int) -> None:
    together = play_match(TIC, Drawing(TIC, "a"), Lowest(TIC, "b"), games=40, seed=3)
    result = play_match(TIC, Drawing(TIC, "a"), Lowest(TIC, "b"), games=40, seed=3, lockstep=lockstep)
    assert result.records == together.records


def test_a_longer_match_begins_with_the_games_of_a_shorter_one() -> None:
    longer, shorter = (
        play_match(TIC, Drawing(TIC, "a"), Drawing(TIC, "b"), games=games, opening_plies=2, seed=3)
        for games in (40, 20)
    )
    assert longer.records[:20] == shorter.records


def test_games_are_moved_in_batches_and_forgotten_once() -> None:
    a, b = Drawing(TIC, "a"), Drawing(TIC, "b")
    play_match(TIC, a, b, games=30, lockstep=10, seed=0)
    assert max(map(len, a.batches)) > 1
    assert max(map(len, a.batches + b.batches)) <= 10
    assert sorted(a.forgotten) == sorted(b.forgotten) == list(range(30))


def test_two_deterministic_players_from_one_start_are_seen_to_repeat_themselves() -> None:
    result = play_match(TIC, Lowest(TIC, "a"), Lowest(TIC, "b"), games=40, opening_plies=0)
    assert result.distinct_games == 1
    assert result.pairs == (0, 0, 20, 0, 0)
    assert result.score == 0.5


def test_the_listener_hears_the_score_up_to_the_end() -> None:
    heard: list[Running] = []
    result = play_match(TIC, Drawing(TIC, "a"), Lowest(TIC, "b"), games=20, lockstep=4, listen=heard.append)
    assert [running.finished for running in heard] == sorted({running.finished for running in heard})
    assert heard[-1] == Running(result.wins, result.draws, result.losses, 20)


def fail_in_game_four(slots: list[int]) -> None:
    if 4 in slots:
        raise RuntimeError("lost my notes")


@pytest.mark.parametrize(
    ("habit", "reason"),
    [
        (lambda slots: [99] * len(slots), "illegal action 99"),
        (lambda slots: [-1] * len(slots), "illegal action -1"),
        (lambda slots: [0.5] * len(slots), "actions were wanted"),
        (lambda slots: [0, 1, 2, 3], "actions were wanted"),
    ],
)
def test_a_player_that_answers_nonsense_loses_with_the_reason(habit: object, reason: str) -> None:
    result = play_match(TIC, Drawing(TIC), Faulty(TIC, habit), games=6)  # type: ignore[arg-type]
    assert (result.wins, result.losses) == (6, 0)
    assert len(result.faults) == 6 and reason in result.faults[0]
    assert all(record.outcome is None for record in result.records)


def test_a_failure_costs_one_game_and_the_others_are_as_without_it() -> None:
    sound = play_match(TIC, Lowest(TIC, "a"), Lowest(TIC, "faulty"), games=10, seed=2)
    result = play_match(TIC, Lowest(TIC, "a"), Faulty(TIC, fail_in_game_four), games=10, seed=2)
    assert result.faults == ["game 4: faulty failed: RuntimeError: lost my notes"]
    assert result.records[4].points == 1.0
    assert [r for r in result.records if r.number != 4] == [r for r in sound.records if r.number != 4]


def test_a_player_that_cannot_play_as_set_up_ends_the_match() -> None:
    def refuse(slots: list[int]) -> None:
        raise PlayerError("no moves left to ask for")

    with pytest.raises(PlayerError, match="no moves left"):
        play_match(TIC, Lowest(TIC, "a"), Faulty(TIC, refuse), games=10)


def test_the_elo_difference_follows_from_the_score() -> None:
    result = play_match(TIC, Drawing(TIC), Faulty(TIC, lambda slots: [99] * len(slots)), games=10)
    elo, low, high = result.elo
    assert elo == high == float("inf")
    assert 0 < low < 400


@pytest.mark.parametrize("games", [0, 1, 7, -2])
def test_an_odd_or_empty_match_is_refused(games: int) -> None:
    with pytest.raises(ConfigError, match="even number"):
        play_match(TIC, Lowest(TIC, "a"), Lowest(TIC, "b"), games=games)


def test_a_one_player_game_is_refused_with_what_to_do_instead() -> None:
    morpion = make_game("morpion-4d")
    with pytest.raises(GameError, match="palaestra analyse morpion-4d"):
        play_match(morpion, Lowest(morpion, "a"), Lowest(morpion, "b"))


@pytest.mark.parametrize(
    ("game_id", "a", "b", "games", "seed", "lockstep", "digest"),
    [
        ("tic_tac_toe-3x3", "uct(simulations=50)", "mcs(playouts=5)", 20, 3, 256, "8d2c06aaa870700e"),
        ("connect_four-4x4", "uct(simulations=20)", "random", 14, 3, 4, "8486818b0e50c620"),
        ("othello-6x6", "rave(simulations=30, k=100)", "uct(simulations=30)", 20, 1, 7, "a0e8f5e2ba1c75d9"),
        ("opposition-3x5", "uct(simulations=20)", "alphabeta(depth=2)", 12, 2, 256, "21c728d63ccdca3d"),
    ],
)
def test_the_games_are_those_of_the_first_version(
    game_id: str, a: str, b: str, games: int, seed: int, lockstep: int, digest: str
) -> None:
    """Recorded before matches were played on the table of tournaments: published results stay repeatable."""
    game = make_game(game_id)
    result = play_match(game, make_player(a, game), make_player(b, game), games, seed=seed, lockstep=lockstep)
    text = json.dumps(
        [
            [r.number, r.start, list(r.moves), r.opening_plies, points_of_a(r), r.outcome, r.fault]
            for r in result.records
        ]
    )
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest


def test_a_book_gives_every_pair_its_opening() -> None:
    book = [Opening(0, (cell,)) for cell in (3, 1, 4)]
    result = play_match(TIC, Lowest(TIC, "a"), Lowest(TIC, "b"), games=6, book=book)
    assert [record.moves[0] for record in result.records] == [3, 3, 1, 1, 4, 4]
    assert result.opening_plies == 1
    with pytest.raises(ConfigError, match="needs 4 openings, one a pair; the book has 3"):
        play_match(TIC, Lowest(TIC, "a"), Lowest(TIC, "b"), games=8, book=book)


def test_proven_games_end_early_if_asked_and_records_keep_values() -> None:
    def match(adjudicate: bool) -> MatchResult:
        return play_match(TIC, make_player("perfect", TIC), Drawing(TIC), games=20, seed=1, adjudicate=adjudicate)

    short, full = match(True), match(False)
    assert all(record.adjudicated and record.outcome is None for record in short.records)
    assert not any(record.adjudicated for record in full.records)
    assert short.mean_plies < full.mean_plies
    assert short.score <= full.score  # what perfect play has proved, it keeps or is given more
    for record in full.records:
        assert len(record.values) == len(record.moves)
        assert all(value is None for value in record.values[: record.opening_plies])
        assert any(value is not None for value in record.values)
