"""Retrograde analysis of opposition (sources: opposition solved); the limit on plies is honoured."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.search.alphabeta_values import SCALE, Terms
from palaestra.search.retrograde import Retrograde
from tests.search.minimax import move_values


def at_ply(state: Int8s, ply: int) -> Int8s:
    moved = state.copy()
    moved[2:4] = np.array([ply], dtype=np.int16).view(np.int8)
    return moved


def some_positions(game: Game, oracle: Retrograde, seed: int, count: int) -> list[Int8s]:
    keys = sorted(oracle.graph.numbers)
    chosen = np.random.default_rng(seed).choice(len(keys), size=count, replace=False)
    return [np.frombuffer(keys[i], dtype=np.int8) for i in chosen]


def test_opposition_3x9_has_the_published_counts() -> None:
    oracle = Retrograde(make_game("opposition-3x9"))
    side = 1 - 2 * oracle.graph.movers
    assert len(oracle.winners) == 1110
    assert ((oracle.winners == side).sum(), (oracle.winners == -side).sum()) == (728, 256)


def test_opposition_3x9_starts_have_the_published_results_and_lengths() -> None:
    game = make_game("opposition-3x9")
    oracle = Retrograde(game)
    table = []
    for state in game.start(np.arange(9)):
        solution = oracle.solve(state)
        plies = len(oracle.line(state, solution))
        assert abs(solution.outcome) == game.max_plies + 1 - plies
        table.append(f"{'W' if solution.outcome > 0 else 'L'}{plies}")
    assert table == ["L30", "W29", "W27", "W27", "L28", "W27", "W27", "W29", "L30"]


@pytest.mark.parametrize(("id", "wins"), [("opposition-3x8", 9), ("opposition-5x9", 20), ("opposition-8x8", 64)])
def test_how_many_starts_the_first_player_wins(id: str, wins: int) -> None:
    game = make_game(id)
    oracle = Retrograde(game)
    assert sum(oracle.solve(state).outcome > 0 for state in game.start(np.arange(game.num_starts))) == wins


@pytest.mark.parametrize("id", ["opposition-3x9", "opposition-4x5"])
def test_near_the_limit_outcome_and_best_moves_equal_plain_minimax(id: str) -> None:
    game = make_game(id)
    oracle, terms = Retrograde(game), Terms.of(game, estimates=False)
    cut_short = 0
    for number, position in enumerate(some_positions(game, oracle, seed=1, count=60)):
        left = number % 5 + 1
        state = at_ply(position, game.max_plies - left)
        values = move_values(game, state, left, terms)
        best = max(values.values()) if state[0] == 0 else min(values.values())
        solution = oracle.solve(state)
        assert solution.outcome * SCALE == best
        assert solution.actions == [action for action, value in values.items() if value == best]
        cut_short += best == 0 and oracle.winners[oracle.graph.number(state)] != 0
    assert cut_short  # some forced wins came too late


def test_every_position_agrees_with_its_children() -> None:
    game = make_game("opposition-3x9")
    oracle = Retrograde(game)
    graph = oracle.graph
    for node in range(len(oracle.winners)):
        side = 1 - 2 * int(graph.movers[node])
        results = []
        for child, end in zip(graph.children[node], graph.ends[node], strict=True):
            if child >= 0:
                results.append((side * int(oracle.winners[child]), int(oracle.distances[child])))
            elif child == -1:
                results.append((side * int(end), 0))
        wins = [distance for result, distance in results if result == 1]
        known = (side * int(oracle.winners[node]), int(oracle.distances[node]))
        if wins:
            assert known == (1, 1 + min(wins))
        elif all(result == -1 for result, _ in results):
            assert known == (-1, 1 + max(distance for _, distance in results))
        else:
            assert known == (0, 0)


def test_a_drawn_line_stops_where_a_position_comes_back() -> None:
    game = make_game("opposition-3x9")
    oracle = Retrograde(game)
    drawn = [s for s in some_positions(game, oracle, 2, 400) if oracle.winners[oracle.graph.number(s)] == 0]
    assert drawn
    for state in drawn:
        solution = oracle.solve(state)
        line = oracle.line(state, solution)
        assert solution.outcome == 0 and 1 < len(line) <= game.max_plies
        seen = {oracle.graph.number(state)}
        for action in line[:-1]:
            state = game.advance(state[None], np.array([action], dtype=np.int32))[0]
            seen.add(oracle.graph.number(state))
        state = game.advance(state[None], np.array([line[-1]], dtype=np.int32))[0]
        assert game.outcome(state[None])[0] == ONGOING and oracle.graph.number(state) in seen


@pytest.mark.parametrize(("w", "h"), [(2, 3), (3, 8), (5, 5), (8, 8)])
def test_both_views_of_opposition_have_the_same_solution(w: int, h: int) -> None:
    own, drawn = (Retrograde(make_game(f"opposition-{w}x{h}{view}")) for view in ("", "-absolute"))
    assert own.graph.numbers.keys() == drawn.graph.numbers.keys()
    for state, node in own.graph.numbers.items():
        other = drawn.graph.numbers[state]
        assert (own.winners[node], own.distances[node]) == (drawn.winners[other], drawn.distances[other])


def test_an_outcome_is_that_of_the_line_played_to_its_end() -> None:
    game = make_game("opposition-3x9-absolute")
    oracle = Retrograde(game)
    for number, position in enumerate(some_positions(game, oracle, seed=4, count=60)):
        state = at_ply(position, game.max_plies - 1 - number)
        solution = oracle.solve(state)
        for action in oracle.line(state, solution):
            state = game.advance(state[None], np.array([action], dtype=np.int32))[0]
        end = int(game.outcome(state[None])[0])
        assert solution.outcome == (0 if end == ONGOING else end)


def test_on_boards_of_three_columns_and_more_only_kings_face_to_face_on_an_odd_height_lose() -> None:
    """Every board up to 8×8; 3×8, 3×9, 5×9 and 8×8 were known (sources: opposition solved)."""
    for w in range(3, 9):
        for h in range(3, 9):
            game = make_game(f"opposition-{w}x{h}")
            oracle = Retrograde(game)
            won = [oracle.solve(state).outcome > 0 for state in game.start(np.arange(w * w))]
            assert won == [h % 2 == 0 or one != two for one in range(w) for two in range(w)]
