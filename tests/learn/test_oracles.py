"""Error rates: positions whose every move is known, and mistakes counted as the papers do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palaestra.base.errors import RecordError
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.learn.oracles import (
    ILLEGAL,
    ErrorRate,
    PositionSet,
    all_positions,
    choose,
    error_rates,
    late_sample,
    own_oracle,
    read_positions,
    solved_sample,
)
from palaestra.players.registry import make_player
from palaestra.search.config import SearchConfig
from palaestra.search.solver import Solver
from tests.players.run_folders import random_model

TIC = make_game("tic_tac_toe-3x3")
FOUR = make_game("connect_four-6x7")
SHARED = Path(__file__).parents[3] / "shared" / "connect_four_positions.json"


def check_signs(positions: PositionSet, id: str, rows: range) -> None:
    """The sign of every move equals what a solver of its own says of the position after it."""
    game = make_game(id)
    solver = Solver(game)
    for row in rows:
        state, side = positions.states[row], 1 - 2 * int(positions.states[row, 0])
        counts, actions = game.legal(state[None])
        legal = actions[0, : counts[0]].tolist()
        for action in range(game.num_actions):
            if action not in legal:
                assert positions.signs[row, action] == ILLEGAL
                continue
            after = game.advance(state[None], np.array([action], dtype=np.int32))[0]
            end = int(game.outcome(after[None])[0])
            if end == ONGOING:
                solution = solver.solve(after)
                assert solution is not None
                end = solution.outcome
            assert positions.signs[row, action] == side * np.sign(end)


def test_tic_tac_toe_has_4520_positions_to_move_in_and_its_start_is_a_draw_everywhere() -> None:
    found = all_positions(TIC)
    assert found is not None and len(found.states) == 4520  # 5478 reachable, 958 of them over
    assert len(np.unique(found.states, axis=0)) == 4520
    start = np.flatnonzero(TIC.plies(found.states) == 0)
    assert found.signs[start[0]].tolist() == [0] * 9
    check_signs(found, "tic_tac_toe-3x3", range(0, 4520, 97))


def test_hex_agrees_with_the_known_winning_openings() -> None:
    found = all_positions(make_game("hex-3x3"))
    assert found is not None
    start = np.flatnonzero(make_game("hex-3x3").plies(found.states) == 0)[0]
    wins = {(0, 2), (1, 0), (1, 1), (1, 2), (2, 0)}  # (sources: perfect values)
    assert found.signs[start].tolist() == [1 if divmod(cell, 3) in wins else -1 for cell in range(9)]


def test_late_positions_of_a_large_board_are_solved_with_their_margins() -> None:
    game = make_game("othello-6x6")
    sample = late_sample(game, 12)
    assert sample is not None and sample.outcomes is not None and sample.name == "12 late positions of othello-6x6"
    empty = [int((game.cells(state) == 0).sum()) for state in sample.states]  # type: ignore[attr-defined]
    assert 2 < max(empty) <= 20 and len(set(empty)) > 3
    check_signs(sample, "othello-6x6", range(0, 12, 3))
    solver = Solver(game)
    for row in range(0, 12, 3):
        best = solver.solve(sample.states[row])
        assert best is not None
        side = 1 - 2 * int(sample.states[row, 0])
        assert sample.outcomes[row].max() == side * best.outcome
        assert np.flatnonzero(sample.outcomes[row] == side * best.outcome).tolist() == best.actions
    worst = np.where(sample.signs == ILLEGAL, 1000, sample.outcomes).argmin(axis=1).astype(np.int32)
    spread = sample.outcomes.max(axis=1) - sample.outcomes[np.arange(12), worst]
    assert sample.lost(worst) == pytest.approx(spread.mean()) and spread.max() > 0
    assert sample.lost(sample.outcomes.argmax(axis=1).astype(np.int32)) == 0.0
    four = late_sample(make_game("connect_four-5x5"), 8)
    assert four is not None and four.outcomes is None and four.lost(worst) is None
    assert late_sample(make_game("gdl:connect_four-4x4")) is None and late_sample(make_game("morpion-4d")) is None


def test_a_game_with_too_many_positions_is_sampled_with_solved_moves() -> None:
    game = make_game("othello-4x4")
    assert all_positions(game, most=1000) is None
    sample = solved_sample(game, 40, seed=2)
    assert len(sample.states) == 40 == len(np.unique(sample.states, axis=0))
    assert len(np.unique(game.plies(sample.states))) > 5
    check_signs(sample, "othello-4x4", range(0, 40, 3))
    assert np.array_equal(solved_sample(game, 40, seed=2).states, sample.states)
    assert not np.array_equal(solved_sample(game, 40, seed=3).states, sample.states)


def test_positions_too_hard_for_the_nodes_are_left_out() -> None:
    game = make_game("connect_four-5x5")
    easy = solved_sample(game, 12, nodes=2_000)
    assert 0 < len(easy.states) <= 12
    assert game.plies(easy.states).min() > 8  # the early ones need more
    check_signs(easy, "connect_four-5x5", range(min(4, len(easy.states))))


def test_opposition_is_judged_by_retrograde_analysis() -> None:
    game = make_game("opposition-3x9")
    sample = solved_sample(game, 30)
    perfect = make_player("perfect", game)
    assert not sample.mistakes(choose([perfect], sample.states, 0)).any()
    assert sample.mistakes(choose([make_player("random", game)], sample.states, 0)).any()


def test_large_boards_and_solitaire_have_no_oracle_and_small_ones_are_made_once() -> None:
    assert own_oracle(make_game("othello-8x8")) is None and own_oracle(make_game("morpion-4d")) is None
    assert own_oracle(TIC) is own_oracle(TIC)
    assert own_oracle(make_game("gdl:connect_four-4x4")) is None  # not compiled: a sample would take many minutes


def test_a_mistake_is_a_move_with_a_worse_sign_than_another() -> None:
    signs = np.array([[1, 1, 0], [0, -1, ILLEGAL], [-1, -1, -1], [0, 0, 1]], dtype=np.int8)
    positions = PositionSet("x", np.zeros((4, 8), dtype=np.int8), signs)
    assert positions.mistakes(np.array([0, 1, 2, 1], dtype=np.int32)).tolist() == [False, True, False, True]
    assert positions.mistakes(np.array([1, 0, 0, 2], dtype=np.int32)).tolist() == [False] * 4
    assert positions.fallible == 3


def test_more_simulations_make_fewer_mistakes_and_threads_change_nothing() -> None:
    positions = own_oracle(TIC)
    assert positions is not None
    part = PositionSet("part", positions.states[::5], positions.signs[::5])
    model = random_model(TIC)
    rates = error_rates(TIC, model, SearchConfig(), [part], (0, 5, 200))
    assert [rate.simulations for rate in rates] == [0, 5, 200]
    alone, few, many = (rate.rate for rate in rates)
    assert alone > few > many and many < 0.02
    assert error_rates(TIC, model, SearchConfig(), [part], (0, 5, 200), threads=3) == rates
    low, high = rates[1].interval
    assert low < rates[1].rate < high and rates[1] == ErrorRate("part", 5, rates[1].mistakes, 904, part.fallible)


def test_positions_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "positions.json"
    full = "1" * 6  # the first column is full
    sets = {
        "a": [{"moves": "", "scores": [-2, -1, 0, 1, 0, -1, -2]}],
        "b": [{"moves": full, "scores": [None, *[0] * 6]}],
    }
    file.write_text(json.dumps(sets))
    one, two = read_positions(file, FOUR)
    assert (one.name, two.name) == ("a", "b")
    assert one.signs[0].tolist() == [-1, -1, 0, 1, 0, -1, -1] and two.signs[0, 0] == ILLEGAL
    assert np.array_equal(two.states[0], FOUR.from_moves(full))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON"),
        ("[1]", "holds no sets"),
        ("{}", "holds no sets"),
        ('{"a": []}', "the set 'a' is empty"),
        ('{"a": [{"moves": "1"}]}', "position 1 of 'a' is not"),
        ('{"a": [{"moves": "19", "scores": [0,0,0,0,0,0,0]}]}', "position 1 of 'a' cannot be reached"),
        ('{"a": [{"moves": "1", "scores": [0,0]}]}', "has 2 scores"),
        ('{"a": [{"moves": "1", "scores": [null,0,0,0,0,0,0]}]}', "not of its legal moves"),
        ('{"a": [{"moves": "1", "scores": ["x",0,0,0,0,0,0]}]}', "position 1 of 'a' is not"),
        ('{"a": [{"moves": "1212121", "scores": [0,0,0,0,0,0,0]}]}', "is over"),
    ],
)
def test_a_bad_file_of_positions_is_one_line(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "positions.json"
    file.write_text(content)
    with pytest.raises(RecordError) as error:
        read_positions(file, FOUR)
    assert words in str(error.value) and len(str(error.value).splitlines()) == 1


def test_a_missing_file_of_positions_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot read"):
        read_positions(tmp_path / "none.json", FOUR)


@pytest.mark.skipif(not SHARED.is_file(), reason="the public position sets are not beside the project")
def test_the_public_sets_have_a_thousand_positions_each_with_scores_of_their_legal_moves() -> None:
    sets: list[Any] = read_positions(SHARED, FOUR)
    assert [positions.name for positions in sets][:1] == ["beginning-easy"] and len(sets) == 6
    assert {len(positions.states) for positions in sets} == {1000}
