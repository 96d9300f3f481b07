"""The hash table of action values, and its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from palaestra.base.errors import PlayerError
from palaestra.base.jit import kernel
from palaestra.base.types import Int8s, Int32s
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.players.table import (
    NO_ROW,
    ROWS,
    VALUES,
    About,
    Rows,
    Table,
    find_or_add,
    greedy,
    read_table,
    table_bytes,
)

TIC = make_game("tic_tac_toe-3x3")
ABOUT = About("qm", 12, playouts=30)


@kernel
def add_rows(rows: Rows, states: Int8s, roles: Int8s, counts: Int32s) -> None:
    for i in range(states.shape[0]):
        find_or_add(rows, states[i], roles[i], counts[i])


def random_states(game: Game, games: int, seed: int = 0) -> Int8s:
    """All positions of some random games, none of them over."""
    rng = np.random.default_rng(seed)
    met = [states := game.initial(games, rng)]
    while len(states := states[game.outcome(states) == -(2**31)]):
        met.append(states)
        counts, actions = game.legal(states)
        states = game.advance(states, actions[np.arange(len(states)), rng.integers(counts)])
    return np.concatenate(met)


def filled(game: Game, games: int, ply: bool = True) -> tuple[Table, Int8s]:
    """A table with a row for every position of random games, each value the number of its place, and the positions."""
    states = random_states(game, games)
    counts, _ = game.legal(states)
    table = Table(game, ply)
    table.reserve(len(states), int(counts.sum()))
    add_rows(table.rows, states, game.to_play(states), counts)
    used = int(table.rows.sizes[VALUES])
    table.rows.values[:used] = np.arange(used)
    return table, states


def same(one: Table, other: Table) -> bool:
    arrays = [(table_bytes(table, ABOUT)) for table in (one, other)]
    return arrays[0] == arrays[1]


def test_every_state_has_one_row_for_each_role_and_strangers_have_none() -> None:
    table, states = filled(TIC, 200)
    different = {state.tobytes() for state in states}
    assert len(table) == len(different)
    rows = table.look(states)
    assert {(state.tobytes(), int(row)) for state, row in zip(states, rows, strict=True)} == {
        (state.tobytes(), int(table.look(state[None])[0])) for state in states
    }
    assert len(set(rows.tolist())) == len(different)
    assert (table.look(states, (1 - TIC.to_play(states)).astype(np.int8)) == NO_ROW).all()
    counts, _ = TIC.legal(states)
    assert [len(table.values(int(row))) for row in rows] == counts.tolist()


def test_growing_keeps_every_row_and_value() -> None:
    states = np.unique(random_states(TIC, 300), axis=0)
    counts, _ = TIC.legal(states)
    small = Table(TIC)
    for i in range(len(states)):  # one at a time: the arrays double again and again
        small.reserve(1, int(counts[i]))
        add_rows(small.rows, states[i : i + 1], TIC.to_play(states[i : i + 1]), counts[i : i + 1])
        row = int(small.rows.sizes[ROWS]) - 1
        small.rows.values[small.rows.first[row] : small.rows.first[row + 1]] = i
    rows = small.look(states)
    assert rows.tolist() == list(range(len(states)))
    assert all(small.values(i).tolist() == counts[i] * [i] for i in range(len(states)))
    assert len(small.rows.slots) >= 2 * len(small)


def test_positions_that_differ_in_their_ply_share_a_row_only_if_told_to() -> None:
    state = TIC.initial(1)
    later = state.copy()
    later[0, 2] = 4
    for ply in (True, False):
        table = Table(TIC, ply)
        table.reserve(2, 18)
        add_rows(table.rows, np.concatenate([state, later]), np.zeros(2, dtype=np.int8), np.array([9, 9], np.int32))
        assert len(table) == (2 if ply else 1)


def test_the_largest_value_is_taken_and_equal_ones_evenly() -> None:
    table = Table(TIC)
    table.reserve(1, 9)
    add_rows(table.rows, TIC.initial(1), np.zeros(1, dtype=np.int8), np.array([9], dtype=np.int32))
    table.rows.values[:9] = [0, 3, 1, 3, 2, 3, 0, 0, 0]
    streams = np.arange(3000, dtype=np.uint64)
    chosen = np.bincount([greedy(table.rows, 0, streams, i) for i in range(3000)], minlength=9)
    assert set(np.flatnonzero(chosen)) == {1, 3, 5} and chosen[[1, 3, 5]].min() > 900
    table.rows.values[4] = 4.0
    before = streams.copy()
    assert greedy(table.rows, 0, streams, 7) == 4 and (streams == before).all()


@pytest.mark.parametrize("ply", [True, False])
def test_a_file_gives_the_table_back(tmp_path: Path, ply: bool) -> None:
    table, states = filled(TIC, 50, ply)
    file = tmp_path / "a.table"
    file.write_bytes(table_bytes(table, ABOUT))
    again, about = read_table(file, TIC)
    assert about == ABOUT and again.ply == ply and same(again, table)
    assert again.look(states).tolist() == table.look(states).tolist()
    again.reserve(1000, 9000)  # it can go on growing
    assert again.look(states).tolist() == table.look(states).tolist()


def test_an_empty_table_is_a_table(tmp_path: Path) -> None:
    (file := tmp_path / "a.table").write_bytes(table_bytes(Table(TIC), ABOUT))
    assert len(read_table(file, TIC)[0]) == 0


def test_a_file_that_was_changed_anywhere_is_refused_in_one_line(tmp_path: Path) -> None:
    good = table_bytes(filled(TIC, 3)[0], ABOUT)
    file = tmp_path / "a.table"
    rng = np.random.default_rng(0)
    damaged = [b"", b"no table", good[:-1], good[: len(good) // 2], good + b"x"]
    for place in rng.integers(len(good), size=200):
        damaged.append(good[:place] + bytes([good[place] ^ (1 << rng.integers(8))]) + good[place + 1 :])
    for content in damaged:
        file.write_bytes(content)
        try:
            table, about = read_table(file, TIC)
        except PlayerError as error:
            assert "a.table" in str(error) and "\n" not in str(error)
        else:  # a blank that became another blank: nothing that counts has changed
            assert same(table, filled(TIC, 3)[0]) and about == ABOUT


def test_another_games_file_and_a_missing_one_are_refused(tmp_path: Path) -> None:
    (file := tmp_path / "a.table").write_bytes(table_bytes(Table(TIC), ABOUT))
    with pytest.raises(PlayerError, match=r"is a table of tic_tac_toe-3x3 .*not of hex-3x3"):
        read_table(file, make_game("hex-3x3"))
    with pytest.raises(PlayerError, match="cannot read the table"):
        read_table(tmp_path / "none", TIC)
    with pytest.raises(PlayerError, match="no file can have this name"):
        read_table(Path("nul\0"), TIC)
    with pytest.raises(PlayerError, match="cannot read the table"):
        read_table(tmp_path, TIC)
