"""Demerits: the anchors (sources: demerits), and what they must not depend on."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from palaestra.arena.match import play_match, points_of_a
from palaestra.arena.openings import Opening
from palaestra.base.errors import ConfigError
from palaestra.base.streams import Rng, below, seeds_from
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.registry import make_game
from palaestra.learn.demerits import Demerits, demerit_games, play_demerits
from palaestra.players.base import Player
from palaestra.players.perfect import PerfectPlayer
from palaestra.players.registry import make_player
from palaestra.search.retrograde import NO_MOVE, Retrograde, analysed

GAME = make_game("opposition-3x9-absolute")


class KeepsResults(Player):
    """Any move after which the game is still won, drawn or lost as before; how long it lasts does not matter."""

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        streams = seeds_from(rng, len(states))
        good = [keeping(analysed(self.game), analysed(self.game).graph.number(state)) for state in states]
        return np.array([some[int(below(streams, row, len(some)))] for row, some in enumerate(good)], dtype=np.int32)


@cache
def keeping(oracle: Retrograde, node: int) -> list[int]:
    """The moves of a position that keep its result, from the results of its children."""
    graph = oracle.graph
    side = 1 - 2 * int(graph.movers[node])
    results = {
        int(action): side * int(oracle.winners[child] if child >= 0 else end)
        for action, child, end in zip(graph.actions[node], graph.children[node], graph.ends[node], strict=True)
        if child != NO_MOVE
    }
    return [action for action, result in results.items() if result == max(results.values())]


def repeated(player: Player, times: int) -> list[float]:
    return [play_demerits(player.game, [player], seed).demerits for seed in range(times)]


@pytest.mark.parametrize("id", ["opposition-3x9", "opposition-3x9-absolute", "opposition-4x4"])
def test_perfect_play_has_none_from_any_start_and_on_either_side(id: str) -> None:
    game = make_game(id)
    found = play_demerits(game, [PerfectPlayer(game, "perfect")], seed=3)
    assert found.demerits == 0.0 and found.games == demerit_games(game) == 2 * game.num_starts
    assert found.wins == found.losses == game.num_starts and found.draws == 0


def test_random_play_has_sixteen_and_a_half() -> None:
    """16.5, 16.4 to 16.6 (sources: demerits)."""
    assert np.mean(repeated(make_player("random", GAME), 20)) == pytest.approx(16.5, abs=0.15)


def test_an_agent_that_keeps_results_and_ignores_their_length_has_five_and_a_half() -> None:
    """5.55, 3.5 to 7.6 over 50 matches (sources: demerits)."""
    found = repeated(KeepsResults(GAME, "keeps"), 8)
    assert np.mean(found) == pytest.approx(5.55, abs=1.0)
    assert min(found) > 2.5 and max(found) < 8.6


def test_demerits_are_minus_the_sum_of_hand_tuned_scores() -> None:
    player = KeepsResults(GAME, "keeps")
    book = [Opening(start, ()) for start in range(9)]
    total = 0.0
    for record in play_match(GAME, player, PerfectPlayer(GAME, "perfect"), 18, book=book, seed=2).records:
        total -= (2 * points_of_a(record) - 1) * (1 - len(record.moves) / 180)
    assert play_demerits(GAME, [player], seed=2).demerits == pytest.approx(total, abs=1e-5)
    assert total > 1


def test_the_number_of_threads_changes_nothing() -> None:
    def play(threads: int) -> Demerits:
        return play_demerits(GAME, [KeepsResults(GAME, "keeps") for _ in range(threads)], seed=5)

    one, three = play(1), play(3)
    assert (one.demerits, one.wins, one.draws, one.mean_plies) == (
        three.demerits, three.wins, three.draws, three.mean_plies,
    )  # fmt: skip


def test_games_that_are_not_solved_beforehand_are_refused() -> None:
    game = make_game("connect_four-4x4")
    with pytest.raises(ConfigError, match=r"solved beforehand \(opposition\), not connect_four-4x4; for example"):
        play_demerits(game, [make_player("random", game)])
