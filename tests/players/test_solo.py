"""Whole games for one player: every kind of player, each game by its number alone."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from palaestra.base.stopping import Stopped
from palaestra.base.streams import keyed_seeds
from palaestra.games.registry import make_game
from palaestra.players.nested import NrpaPlayer
from palaestra.players.registry import make_player
from palaestra.players.solo import games_at_once, is_shared, play_whole
from tests.search.toy_games import after, legal_list, outcome_of

MORPION = make_game("morpion-4d")
TEXTS = ["random", "nmcs(level=1)", "nrpa(level=1, n=20)", "uct(simulations=5)", "greedy"]


@pytest.mark.parametrize("text", TEXTS)
def test_every_line_is_legal_play_to_the_end_and_its_outcome_is_its_score(text: str) -> None:
    state = MORPION.from_moves("m15e")
    games = play_whole(make_player(text, MORPION), state, 3, range(4))
    assert len(games.lines) == len(games.outcomes) == 4
    for outcome, line in zip(games.outcomes, games.lines, strict=True):
        at = state
        for action in line.tolist():
            assert action in legal_list(MORPION, at)
            at = after(MORPION, at, action)
        assert outcome_of(MORPION, at) == outcome


@pytest.mark.parametrize("text", TEXTS)
def test_a_game_depends_on_seed_and_number_alone(text: str) -> None:
    state = MORPION.initial(1)[0]
    player = make_player(text, MORPION)
    together = play_whole(player, state, 7, range(10, 14))
    again = make_player(text, MORPION)
    for place in (2, 0):
        alone = play_whole(again, state, 7, range(10 + place, 11 + place))
        assert alone.lines[0].tolist() == together.lines[place].tolist()
    other = play_whole(player, state, 8, range(10, 14))
    assert [line.tolist() for line in other.lines] != [line.tolist() for line in together.lines]


def test_a_nested_search_is_one_search_and_not_one_for_every_move() -> None:
    player = make_player("nrpa(level=1, n=20)", MORPION)
    assert isinstance(player, NrpaPlayer)
    state = MORPION.initial(1)[0]
    found = player.search(state, keyed_seeds(5, 9))
    games = play_whole(player, state, 5, range(9, 10))
    assert (int(games.outcomes[0]), tuple(games.lines[0].tolist())) == (found.outcome, found.actions)


def test_random_games_are_many_to_a_piece_of_work_and_are_cut_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palaestra.players.solo.RANDOM_ROWS", 7)
    player, state = make_player("random", MORPION), MORPION.initial(1)[0]
    games = play_whole(player, state, 1, range(100, 120))
    ends = MORPION.rollout(MORPION.initial(20), keyed_seeds(1, np.arange(100, 120)))
    assert games.outcomes.tolist() == ends.outcomes.tolist() == [len(line) for line in games.lines]
    assert games_at_once(player) > 1000 and is_shared(player)
    assert games_at_once(make_player("uct(simulations=5)", MORPION)) == 1


@pytest.mark.parametrize("text", TEXTS)
def test_whoever_is_told_to_stop_stops(text: str) -> None:
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(Stopped):
        play_whole(make_player(text, MORPION), MORPION.initial(1)[0], 1, range(4), stopped)
