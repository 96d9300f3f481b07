"""Learned tables as players."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from palaestra.arena.match import play_match
from palaestra.base.errors import PlayerError
from palaestra.games.registry import make_game
from palaestra.learn.tabular import learn_table, read_config
from palaestra.players.qtable import TablePlayer
from palaestra.players.registry import make_player
from palaestra.players.table import VALUES, About, Table, table_bytes

TIC = make_game("tic_tac_toe-3x3")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    learned = learn_table(TIC, read_config(matches=20_000, learner="q"))
    path = tmp_path_factory.mktemp("tables") / "tic.table"
    path.write_bytes(table_bytes(learned.table, learned.about))
    return path


def test_a_learned_table_beats_random_moves_clearly(file: Path) -> None:
    match = play_match(TIC, make_player(f"qtable:{file}", TIC), make_player("random", TIC), 400, opening_plies=0)
    assert match.score > 0.8 and not match.faults


def test_a_move_depends_on_the_state_and_its_stream_alone(file: Path) -> None:
    player = make_player(f"qtable:{file}(playouts=10)", TIC)
    states = np.concatenate([TIC.initial(2), TIC.from_moves("a1 b2")[None], TIC.from_moves("c1 c2 c3")[None]])
    streams = np.arange(4, dtype=np.uint64)
    together = player.act(states, streams)
    alone = [int(player.act(states[i : i + 1], streams[i : i + 1])[0]) for i in range(4)]
    assert together.tolist() == alone


def test_states_without_a_row_are_played_by_the_learners_rule_or_as_told() -> None:
    state = TIC.from_moves("a1 a2 b1 b2")  # c1 wins
    empty = Table(TIC)
    moves = {}
    for name, about, playouts in (
        ("learner's", About("qm", 1, playouts=200), None),
        ("by time", About("qm", 1, ms=3.0), None),
        ("told", About("q", 1), 200),
        ("random", About("q", 1), None),
        ("told random", About("qm", 1, playouts=200), 0),
    ):
        player = TablePlayer(TIC, "qtable", empty, about, playouts)
        moves[name] = set(player.act(np.repeat(state[None], 40, axis=0), np.random.default_rng(1)).tolist())
    winning = {TIC.text_to_action(state, "c1")}
    assert moves["learner's"] == moves["by time"] == moves["told"] == winning
    assert len(moves["random"]) == len(moves["told random"]) == 5


def test_it_explains_its_values_and_says_where_it_has_none(file: Path) -> None:
    player = make_player(f"qtable:{file}", TIC)
    known = player.analyse(TIC.initial(1)[0], np.random.default_rng(0))
    assert known.policy is not None and known.policy[known.action] > 0 and known.policy.sum() == pytest.approx(1)
    assert known.value is None and "Q 0." in known.note
    unknown = TablePlayer(TIC, "qtable", Table(TIC), About("q", 0)).analyse(TIC.initial(1)[0], np.random.default_rng(0))
    assert "not among the 0 rows" in unknown.note


def test_a_table_learned_by_other_rules_is_refused(file: Path) -> None:
    player = make_player(f"qtable:{file}", TIC)
    assert isinstance(player, TablePlayer)
    rows = player.table.rows
    rows.first[1:] = np.minimum(rows.first[1:] + 1, rows.sizes[VALUES])
    with pytest.raises(PlayerError, match="other rules"):
        player.act(TIC.initial(1), np.random.default_rng(0))
