"""Alpha-beta equals plain minimax at every depth, on compiled and on plain games, and stops and resumes exactly."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import pytest

from palaestra.base.errors import GameError
from palaestra.base.jit import kernel
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.games.kernel_game import KernelGame
from palaestra.games.registry import make_game
from palaestra.search import alphabeta
from palaestra.search import alphabeta_table as tables
from palaestra.search.alphabeta import AlphaBeta, CompiledSearch
from palaestra.search.alphabeta_plain import PlainSearch
from palaestra.search.alphabeta_values import SCALE, UNBOUNDED, Backend, Iteration, Limits, Terms
from tests.games.perfect import perfect_outcome
from tests.search.minimax import minimax, move_values, random_positions
from tests.search.toy_games import Uncompiled, tree_game, uncompiled

GAMES = {
    "tic_tac_toe-3x3": 5,
    "tic_tac_toe-4x4": 3,
    "gobang-5x5": 3,
    "connect_four-4x4": 5,
    "connect_four-6x7": 4,
    "othello-4x4": 5,
    "othello-6x6": 4,
    "hex-3x3": 4,
    "opposition-3x5": 4,
    "morpion-5d": 2,
}  # id -> deepest search compared


def best_moves(found: Iteration) -> list[int]:
    return sorted(found.actions[found.values == found.value].tolist())


def whole(backend: Backend, state: Int8s, depth: int) -> Iteration:
    found = backend.iterate(state, depth, -UNBOUNDED, UNBOUNDED, Limits())
    assert found is not None
    return found


def assert_equals_minimax(game: Game, backend: Backend, terms: Terms, state: Int8s, deepest: int) -> None:
    backend.begin(state)
    for depth in range(1, deepest + 1):
        reference = move_values(game, state, depth, terms)
        value = max(reference.values()) if state[0] == 0 else min(reference.values())
        found = whole(backend, state, depth)
        assert found.value == value
        assert best_moves(found) == [action for action, worth in reference.items() if worth == value]


QUICK = ("tic_tac_toe-3x3", "connect_four-4x4", "othello-6x6", "hex-3x3")


@pytest.mark.parametrize("id", [id if id in QUICK else pytest.param(id, marks=pytest.mark.slow) for id in GAMES])
def test_compiled_search_equals_plain_minimax_at_every_depth(id: str) -> None:
    game = make_game(id)
    search, terms = AlphaBeta(game), Terms.of(game, estimates=True)
    assert isinstance(search.backend, CompiledSearch)
    for state in random_positions(game, 12, seed=1):
        assert_equals_minimax(game, search.backend, terms, state, GAMES[id])


@pytest.mark.parametrize("id", GAMES)
def test_uncompiled_games_get_the_same_values_proofs_and_ties(id: str) -> None:
    game = make_game(id)
    terms = Terms.of(game, estimates=True)
    fast, slow = AlphaBeta(game).backend, PlainSearch(game, terms, entries=10_000)
    for state in random_positions(game, 4, seed=2):
        fast.begin(state)
        slow.begin(state)
        for depth in range(1, min(GAMES[id], 4)):
            one, two = whole(fast, state, depth), whole(slow, state, depth)
            assert (one.value, best_moves(one)) == (two.value, best_moves(two))
            assert one.proven == two.proven


@pytest.mark.slow
def test_one_player_maximises_and_reads_scores_as_outcomes() -> None:
    for seed in range(6):
        game = tree_game(seed)
        state = game.initial(1)[0]
        assert_equals_minimax(game, AlphaBeta(game).backend, Terms.of(game, True), state, game.max_plies)
        result = AlphaBeta(game).search(state)
        assert result.proven and result.outcome == perfect_outcome(game)


@pytest.mark.parametrize("id", ["tic_tac_toe-3x3", "connect_four-4x4", "othello-4x4", "hex-3x3", "opposition-2x3"])
def test_what_is_called_proven_is_the_outcome_of_perfect_play(id: str) -> None:
    game = make_game(id)
    search = AlphaBeta(game)
    proven_early = 0
    for state in random_positions(game, 30, seed=3, last=8):
        left = game.max_plies - int(game.plies(state[None])[0])
        if left > 12:
            continue
        truth = perfect_outcome(game, state)
        for depth in range(1, left + 1):
            result = search.search(state, depth=depth)
            if result.proven:
                assert result.outcome == truth
                proven_early += result.depth < left
        assert result.proven
    assert proven_early or id == "opposition-2x3"


def test_a_search_without_limits_stops_when_the_value_is_proven() -> None:
    game = make_game("tic_tac_toe-4x4")
    result = AlphaBeta(game).search(game.initial(1)[0])
    assert (result.outcome, result.depth, result.actions) == (12, 5, [5, 6, 9, 10])


def test_a_tiny_table_changes_no_value() -> None:
    game = make_game("connect_four-4x4")
    small, large = AlphaBeta(game, entries=2).backend, AlphaBeta(game).backend
    for state in random_positions(game, 6, seed=4):
        small.begin(state)
        large.begin(state)
        for depth in range(1, 8):
            assert best_moves(whole(small, state, depth)) == best_moves(whole(large, state, depth))


def test_stopping_after_every_node_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game("othello-6x6")
    state = random_positions(game, 8, seed=5)[5]
    smooth = AlphaBeta(game).search(state, depth=5)
    monkeypatch.setattr(alphabeta, "SLICE_SECONDS", 0.0)
    jerky = AlphaBeta(game).search(state, depth=5)
    assert (smooth.value, smooth.actions, smooth.nodes) == (jerky.value, jerky.actions, jerky.nodes)


@pytest.mark.parametrize("plain", [False, True])
def test_a_search_keeps_to_its_nodes(plain: bool) -> None:
    game = make_game("connect_four-6x7")
    backend = AlphaBeta(uncompiled(game) if plain else game).backend
    state = game.initial(1)[0]
    backend.begin(state)
    assert backend.iterate(state, 20, -UNBOUNDED, UNBOUNDED, Limits(nodes=500)) is None
    assert backend.nodes == 500


@pytest.mark.parametrize("plain", [False, True])
def test_milliseconds_end_a_search_that_depth_would_not(plain: bool) -> None:
    game = make_game("gobang-15x15-5")
    search = AlphaBeta(uncompiled(game) if plain else game)
    began = time.perf_counter()
    result = search.search(game.initial(1)[0], ms=30.0)
    assert time.perf_counter() - began < 30.0  # seconds: a thousand times the limit, and far from what depth 225 needs
    assert 1 <= result.depth < 30 and not result.proven


def test_a_result_does_not_depend_on_the_searches_before_it() -> None:
    game = make_game("connect_four-6x7")
    positions = random_positions(game, 6, seed=6)
    used = AlphaBeta(game)
    for state in positions:
        fresh, again = AlphaBeta(game).search(state, depth=6), used.search(state, depth=6)
        assert (fresh.value, fresh.actions, fresh.nodes) == (again.value, again.actions, again.nodes)


def test_generations_of_the_table_may_run_out() -> None:
    game = make_game("tic_tac_toe-3x3")
    search = AlphaBeta(game)
    assert isinstance(search.backend, CompiledSearch)
    before = search.search(game.initial(1)[0])
    search.backend._registers[alphabeta.layout.GENERATION] = tables.MAX_GENERATION
    after = search.search(game.initial(1)[0])
    assert search.backend._registers[alphabeta.layout.GENERATION] == 1
    assert (before.value, before.nodes) == (after.value, after.nodes)


@dataclass(frozen=True, eq=False, kw_only=True)
class Boastful(Uncompiled):
    """A game whose static score is far too sure of itself."""

    def score(self, states: Int8s) -> Int32s:
        return np.full(len(states), 2**31 - 1, dtype=np.int32)


def test_a_won_game_outranks_every_estimate() -> None:
    inner = make_game("tic_tac_toe-3x3")
    plain = uncompiled(inner)
    game = Boastful(
        **{name: getattr(plain, name) for name, field in Boastful.__dataclass_fields__.items() if field.init}
    )
    state = inner.from_moves("a1 a2 b1 b2")  # X completes the first row with c1
    result = AlphaBeta(game).search(state, depth=1)
    assert result.actions == [2] and result.proven and result.value >= SCALE
    quiet = AlphaBeta(game).search(inner.from_moves("a1"), depth=1)
    assert quiet.value == SCALE - 1 and not quiet.proven


def test_the_line_leads_to_the_value() -> None:
    game = make_game("othello-4x4")
    search = AlphaBeta(game)
    state = game.initial(1)[0]
    result = search.search(state)
    line = search.line(state, result.actions[0], longest=99)
    for action in line:
        state = game.advance(state[None], np.array([action], dtype=np.int32))[0]
    assert int(game.outcome(state[None])[0]) == result.outcome == -8


def test_images_of_a_position_share_what_is_known_about_them() -> None:
    game = make_game("tic_tac_toe-3x3")
    bare = replace(game, symmetries=game.symmetries[:1])
    state = game.initial(1)[0]
    with_images, without = AlphaBeta(game).search(state), AlphaBeta(bare).search(state)
    assert with_images.value == without.value == 0 and with_images.actions == without.actions
    assert with_images.nodes < without.nodes


def test_the_table_tells_positions_apart_by_both_words_of_the_hash() -> None:
    table = tables.make_table(8)
    key, other = np.uint64(5), np.uint64(6)
    tables.store(table, key, other, 1, -77, 3, 9, tables.LOWER, 1)
    bucket, slot = tables.find(table, key, other, 1)
    meta = int(table[bucket, slot, 3])
    assert np.int64(table[bucket, slot, 2].astype(np.int64)) == -77
    read = (tables.meta_action(meta), tables.meta_depth(meta), tables.meta_bound(meta), tables.meta_proven(meta))
    assert read == (3, 9, tables.LOWER, 1)
    assert tables.find(table, key, key, 1)[1] == tables.NO_ENTRY
    assert tables.find(table, key, other, 2)[1] == tables.NO_ENTRY


def test_a_shallow_result_does_not_push_out_a_deep_one() -> None:
    table = tables.make_table(2)
    for key, depth in ((1, 9), (2, 1), (3, 2)):
        tables.store(table, np.uint64(key), np.uint64(key), 1, 0, 0, depth, tables.EXACT, 0)
    assert tables.find(table, np.uint64(1), np.uint64(1), 1)[1] != tables.NO_ENTRY
    assert tables.find(table, np.uint64(2), np.uint64(2), 1)[1] == tables.NO_ENTRY
    assert tables.find(table, np.uint64(3), np.uint64(3), 1)[1] != tables.NO_ENTRY


def test_the_reference_agrees_with_hand_computed_values() -> None:
    game = make_game("tic_tac_toe-3x3")
    terms = Terms.of(game, estimates=True)
    state = game.from_moves("a1 a2 b1")  # O must stop c1; in two plies X still wins if O does not
    values = move_values(game, state, 2, terms)
    assert values[2] == 0 and all(worth == 5 * SCALE for action, worth in values.items() if action != 2)
    assert minimax(game, state[None], 2, terms)[0] == 0


@kernel
def wordy_score(state: Int8s, p: Int64s) -> str:
    """Not a number."""
    return "good"


def test_rules_that_do_not_compile_are_named_in_one_line() -> None:
    game = make_game("tic_tac_toe-3x3")
    assert isinstance(game, KernelGame)
    broken = replace(game, id="broken", rules=replace(game.rules, score=wordy_score))
    with pytest.raises(GameError, match="broken: its rules do not compile") as caught:
        AlphaBeta(broken)
    assert "\n" not in str(caught.value)
