"""The travelling salesman: instances, lengths and tours against slow references."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from palaestra.arena import tour_referee
from palaestra.base.errors import GameError, MoveError, PlayerError
from palaestra.base.streams import keyed_seeds
from palaestra.games.base import Game
from palaestra.games.laws import check
from palaestra.games.registry import FAMILIES, make_game
from palaestra.games.tsp import TspGame, make
from palaestra.players.registry import make_player
from palaestra.players.solo import play_whole

TSP = make((20,))


def start(game: Game, number: int) -> np.ndarray:  # type: ignore[type-arg]
    return game.start(np.array([number], dtype=np.int64))[0]


@pytest.mark.parametrize("id", [*FAMILIES["tsp"].examples, "tsp-4", "tsp-100"])
def test_every_size_obeys_the_laws(id: str) -> None:
    game = make_game(id)
    assert check(game, games=8).violations == [] and game.id == id


def test_instances_are_those_of_the_referee_and_differ() -> None:
    for number in range(50):
        first, *others = tour_referee.instance(20, number)
        state = start(TSP, number)
        assert TSP.visited(state) == [first[0] * 16 + first[1]]
        assert TSP.waiting(state) == sorted(row * 16 + col for row, col in others)
    starts = TSP.initial(40, np.random.default_rng(0))
    assert len({state.tobytes() for state in starts}) == 40


def test_the_outcome_is_what_the_longest_ways_would_be_more_than_the_tour() -> None:
    ends = TSP.rollout(TSP.start(np.arange(20)), keyed_seeds(1, np.arange(20)))
    for state in ends.states:
        cells = [divmod(cell, 16) for cell in TSP.visited(state)]
        length = sum(round(10 * math.dist(a, b)) for a, b in zip(cells, [*cells[1:], cells[0]], strict=True))
        outcome = TSP.outcome(state[None])
        assert TSP.length(state) == length == TSP.lengths(outcome)[0]
        assert outcome[0] == 212 * 20 - length > 0


def test_greedy_goes_to_the_nearest_city() -> None:
    state, greedy = start(TSP, 7), make_player("greedy", TSP)
    for ply in range(19):
        here, *_ = reversed(TSP.visited(state))
        ways = {cell: math.dist(divmod(here, 16), divmod(cell, 16)) for cell in TSP.waiting(state)}
        action = int(greedy.act(state[None], np.array([ply], dtype=np.uint64))[0])
        assert ways[action] == pytest.approx(min(ways.values()), abs=0.05)
        state = TSP.advance(state[None], np.array([action], dtype=np.int32))[0]


def test_two_opt_finds_the_best_of_all_tours_of_few_cities() -> None:
    game = make((7,))
    player = make_player("two_opt(starts=30)", game)
    for number in range(10):
        first, *others = tour_referee.instance(7, number)
        best = min(
            sum(round(10 * math.dist(a, b)) for a, b in zip((first, *order), (*order, first), strict=True))
            for order in permutations(others)
        )
        found = play_whole(player, start(game, number), 0, range(1))
        assert game.lengths(found.outcomes)[0] == best


def test_two_opt_is_never_longer_than_the_nearest_neighbour_and_no_turn_makes_its_tour_shorter() -> None:
    greedy, better = make_player("greedy", TSP), make_player("two_opt", TSP)
    shorter = 0
    for number in range(12):
        one, other = (play_whole(player, start(TSP, number), 0, range(1)) for player in (greedy, better))
        shorter += int(other.outcomes[0] > one.outcomes[0])
        tour = [TSP.visited(start(TSP, number))[0], *other.lines[0].tolist()]
        for i in range(1, 20):
            for j in range(i + 1, 21):
                turned = [*tour[:i], *tour[i:j][::-1], *tour[j:]]
                assert _length(turned) >= _length(tour)
    assert shorter >= 8


def _length(tour: list[int]) -> int:
    cells = [divmod(cell, 16) for cell in tour]
    return sum(round(10 * math.dist(a, b)) for a, b in zip(cells, [*cells[1:], cells[0]], strict=True))


def test_two_opt_leaves_what_was_travelled_and_plays_its_tour() -> None:
    player, state = make_player("two_opt(starts=3)", TSP), start(TSP, 3)
    for ply in range(19):
        slots, streams = np.zeros(1, dtype=np.int64), np.array([ply], dtype=np.uint64)
        state = TSP.advance(state[None], player.act(state[None], streams, slots))[0]
    whole = play_whole(player, start(TSP, 3), 0, range(1))
    assert TSP.outcome(state[None])[0] >= whole.outcomes[0] - 60, "a search from each city may only find better ends"
    with pytest.raises(PlayerError, match="plays the travelling salesman, and not morpion-4d"):
        make_player("two_opt", make_game("morpion-4d"))


def test_a_position_is_its_text_and_wrong_texts_are_told() -> None:
    game: TspGame = make((5,))
    state = game.from_moves("@3")
    text = game.state_to_text(state)
    assert game.state_from_text(text).tobytes() == state.tobytes()
    for wrong in ("", "a1", "a1/b2", "a1-a1/b2,c3,d4", "a1/b2,c3,d4,z9", "a1/b2,c3,d4,e17", "a1/b2,c3,d4,e²"):
        with pytest.raises(MoveError, match="is not a position of tsp-5"):
            game.state_from_text(wrong)
    for cities in (0, 3, 101):
        with pytest.raises(GameError, match="4 to 100 cities"):
            make_game(f"tsp-{cities}")


@pytest.mark.parametrize(
    ("moves", "words"),
    [(["a1"] * 4, "no city at a1"), (["q1"], "is no city"), ([], "4 cities are left out")],
)
def test_the_referee_says_what_is_wrong(moves: list[str], words: str) -> None:
    assert (0, 0) not in tour_referee.instance(5, 0)
    with pytest.raises(tour_referee.Wrong, match=words):
        tour_referee.judge("tsp-5", 0, moves)
    written = [f"{chr(97 + col)}{row + 1}" for row, col in tour_referee.instance(5, 0)[1:]]
    with pytest.raises(tour_referee.Wrong, match="visited twice"):
        tour_referee.judge("tsp-5", 0, [*written[:-1], written[0]])
