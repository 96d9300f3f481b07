"""Many players at one table: each asked once a step, games that depend on nothing but their entry."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import numpy as np
import pytest

from palaestra.arena.match import play_match
from palaestra.arena.openings import Opening
from palaestra.arena.table import Scheduled, Table
from palaestra.base.errors import PlayerError
from palaestra.base.streams import Rng
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.registry import make_game
from palaestra.players.base import Choice, Player
from palaestra.players.registry import make_player
from palaestra.runs.game_record import FIRST, GameRecord
from tests.arena.fakes import Drawing, Faulty, Lowest

TIC = make_game("tic_tac_toe-3x3")
OTHELLO = make_game("othello-4x4")  # players pass


def everyone(players: int, rounds: int = 2) -> list[Scheduled]:
    pairs = list(permutations(range(players), 2)) * rounds
    return [Scheduled(n, a, b, Opening(0, ()), seed=n % 3, key=n) for n, (a, b) in enumerate(pairs)]


def played(table: Table, lockstep: int = 100) -> dict[int, GameRecord]:
    return {game.number: game for ended in table.play(lockstep) for game in ended}


class Valuing(Lowest):
    """Says the same value about everything, and whether it is proven."""

    def __init__(self, text: str, value: float, proven: bool) -> None:
        super().__init__(TIC, text)
        self.value, self.proven = value, proven

    def choose(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Choice:
        count = len(states)
        values = np.full(count, self.value, dtype=np.float32)
        return Choice(self.act(states, rng, slots), values, np.full(count, self.proven))


def test_every_step_asks_each_player_once_for_all_its_games() -> None:
    players = [Drawing(TIC, name) for name in "abc"]
    table = Table(TIC, players, everyone(3))
    steps = list(table.play(100))
    for player in players:
        assert len(player.batches) <= len(steps)
    assert sorted(players[0].batches[0]) == [n for n, game in enumerate(everyone(3)) if game.first == 0]
    assert {game.number for ended in steps for game in ended} == set(range(12))


def test_a_game_at_a_full_table_is_the_game_of_a_match() -> None:
    texts = ("uct(simulations=12)", "random", "rave(simulations=10)")
    match = play_match(OTHELLO, make_player(texts[2], OTHELLO), make_player(texts[0], OTHELLO), 8, seed=4)
    schedule = [
        Scheduled(100 + n, (2, 0)[n % 2], (0, 2)[n % 2], Opening(r.start, r.moves[: r.opening_plies]), 4, n)
        for n, r in enumerate(match.records)
    ]
    others = [Scheduled(n, n % 3, (n + 1) % 3, Opening(0, ()), 9, n) for n in range(9)]
    table = Table(OTHELLO, [make_player(text, OTHELLO) for text in texts], [*others, *schedule])
    games = played(table, lockstep=5)
    assert [games[100 + n].moves for n in range(8)] == [record.moves for record in match.records]
    assert [games[100 + n].outcome for n in range(8)] == [record.outcome for record in match.records]


@pytest.mark.parametrize("lockstep", [1, 3, 100])
@pytest.mark.parametrize("threads", [1, 3])
def test_neither_threads_nor_lockstep_change_a_game(lockstep: int, threads: int) -> None:
    def games(lockstep: int, threads: int) -> dict[int, GameRecord]:
        players: list[Player] = [make_player(text, TIC) for text in ("uct(simulations=9)", "random", "mcs(playouts=3)")]
        with ThreadPoolExecutor(threads) as pool:
            return played(Table(TIC, players, everyone(3), spread=pool.map), lockstep)

    assert games(lockstep, threads) == games(50, 1)


def test_a_player_is_never_asked_by_two_threads_at_once_and_different_players_are() -> None:
    together = threading.Barrier(2, timeout=20)
    busy: set[str] = set()

    class Slow(Lowest):
        met = False

        def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
            assert self.text not in busy
            busy.add(self.text)
            if not self.met:
                together.wait()  # both are asked at the same time, or this never ends well
                self.met = True
            time.sleep(0.001)
            busy.remove(self.text)
            return super().act(states, rng, slots)

    with ThreadPoolExecutor(4) as pool:
        games = played(Table(TIC, [Slow(TIC, "a"), Slow(TIC, "b")], everyone(2), spread=pool.map))
    assert not any(game.fault for game in games.values())


def test_finished_games_are_forgotten_by_their_two_players_only() -> None:
    players = [Drawing(TIC, name) for name in "abc"]
    schedule = everyone(3)
    played(Table(TIC, players, schedule), lockstep=4)
    for place, player in enumerate(players):
        own = [game.number for game in schedule if place in (game.first, game.second)]
        assert sorted(player.forgotten) == own


def test_a_failure_costs_one_game_and_the_others_are_as_without_it() -> None:
    def fail_in_game_two(slots: list[int]) -> None:
        if 2 in slots:
            raise RuntimeError("lost my notes")

    sound = played(Table(TIC, [Lowest(TIC, "a"), Lowest(TIC, "faulty"), Lowest(TIC, "c")], everyone(3)))
    players = [Lowest(TIC, "a"), Faulty(TIC, fail_in_game_two), Lowest(TIC, "c")]
    games = played(Table(TIC, players, everyone(3)))
    assert (games[2].first, games[2].second) == ("faulty", "a")
    assert (games[2].points, games[2].fault) == (0.0, "faulty failed: RuntimeError: lost my notes")
    assert {n: game for n, game in games.items() if n != 2} == {n: game for n, game in sound.items() if n != 2}


def test_a_player_that_says_nonsense_about_values_loses() -> None:
    class Vague(Lowest):
        def choose(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Choice:
            return Choice(self.act(states, rng, slots), proven=np.ones(len(states), dtype=np.bool_))

    games = played(Table(TIC, [Lowest(TIC, "a"), Vague(TIC, "vague")], everyone(2)))
    assert all("said to be proven and not given" in game.fault for game in games.values())


def test_an_error_of_the_set_up_is_raised_or_costs_the_game_as_asked() -> None:
    def refuse(slots: list[int]) -> None:
        raise PlayerError("no moves left to ask for")

    players = [Lowest(TIC, "a"), Faulty(TIC, refuse)]
    with pytest.raises(PlayerError, match="no moves left"):
        played(Table(TIC, players, everyone(2)))
    games = played(Table(TIC, players, everyone(2), forgiving=True))
    assert all(game.fault == "faulty failed: PlayerError: no moves left to ask for" for game in games.values())


def test_values_stand_beside_the_moves_that_followed_them_and_openings_have_none() -> None:
    schedule = [Scheduled(0, 0, 1, Opening(0, (4, 0)), 0, 0)]
    game = played(Table(TIC, [Valuing("a", 0.25, False), Lowest(TIC, "b")], schedule))[0]
    assert game.values[:4] == (None, None, 0.25, None)
    assert len(game.values) == len(game.moves)


@pytest.mark.parametrize(("value", "points"), [(0.5, 1.0), (0.0, 0.5), (-1.0, 0.0)])
@pytest.mark.parametrize("side", [0, 1])
def test_a_proven_result_ends_the_game_with_that_result_if_asked(value: float, points: float, side: int) -> None:
    sure, other = Valuing("sure", value, True), Valuing("other", 0.9, False)
    schedule = [Scheduled(0, side, 1 - side, Opening(0, ()), 0, 0)]
    game = played(Table(TIC, [sure, other], schedule, adjudicate=True))[0]
    assert game.adjudicated and game.outcome is None and not game.fault
    assert len(game.moves) == 1 + side
    assert game.points == (points if side == 0 else 1.0 - points)
    plain = played(Table(TIC, [sure, other], schedule))[0]
    assert not plain.adjudicated and plain.outcome is not None


def test_adjudicated_games_have_the_result_that_was_played_out() -> None:
    def games(adjudicate: bool) -> dict[int, GameRecord]:
        players = [make_player(text, TIC) for text in ("perfect", "uct(simulations=200)")]
        return played(Table(TIC, players, everyone(2, rounds=10), adjudicate=adjudicate))

    short, full = games(True), games(False)
    assert any(game.adjudicated for game in short.values())
    perfect_first = [n for n, game in full.items() if game.first == "perfect"]
    for n in perfect_first:  # what perfect play has proved, perfect play keeps
        assert len(short[n].moves) <= len(full[n].moves)
        assert short[n].points_for(FIRST) <= full[n].points_for(FIRST)
