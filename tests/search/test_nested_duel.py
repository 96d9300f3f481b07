"""Nested Monte Carlo for two players."""

from __future__ import annotations

import numpy as np

from palaestra.games.registry import make_game
from palaestra.search.nested_duel import nested_actions, plain_place

TIC = make_game("tic_tac_toe-3x3")


def test_a_batch_is_its_rows_and_equals_the_plain_search() -> None:
    states = np.stack([TIC.from_moves(moves) for moves in ("", "b2", "a1 b2 c3", "a1 b2 c3 a2")])
    streams = np.arange(4, dtype=np.uint64)
    together = nested_actions(TIC, states, streams.copy(), 60)
    alone = [nested_actions(TIC, states[i : i + 1], streams[i : i + 1].copy(), 60)[0] for i in range(4)]
    _, actions = TIC.legal(states)
    plain = [actions[i, plain_place(TIC, states[i], streams.copy(), i, 60)] for i in range(4)]
    assert together.tolist() == alone == plain


def test_it_takes_a_win_and_spends_its_budget() -> None:
    state = TIC.from_moves("a1 a2 b1 b2")
    chosen = nested_actions(TIC, np.repeat(state[None], 20, axis=0), np.arange(20, dtype=np.uint64), 2000)
    assert {TIC.action_to_text(state, int(action)) for action in chosen} == {"c1"}
    few, many = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.uint64)
    nested_actions(TIC, TIC.initial(1), few, 1)
    nested_actions(TIC, TIC.initial(1), many, 1000)
    words = (few[0], many[0])
    assert words[0] == np.uint64((9 * 0x9E3779B97F4A7C15) % 2**64), "one game for each of nine moves"
    assert words[0] != words[1]
