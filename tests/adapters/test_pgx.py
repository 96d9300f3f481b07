"""Games of PGX: laws, and beside built-in games of the same rules. JAX compiles for seconds, so most of it is slow."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from palaestra.base.errors import GameError
from palaestra.base.streams import keyed_seeds
from palaestra.games.base import pick_rows
from palaestra.games.laws import check
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("pgx:backgammon", "chance decides"),
        ("pgx:minatar-breakout", "chance decides"),
        ("pgx:kuhn_poker", "hidden"),
        ("pgx:gardner", "did you mean gardner_chess"),
        ("pgx:", "known: animal_shogi"),
        ("pgx:go_9x9(komi=6)", "did you mean go_9x9"),
    ],
)
def test_what_cannot_be_made_is_one_line(id: str, words: str) -> None:
    with pytest.raises(GameError) as caught:
        make_game(id)
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("module", ["jax", "pgx"])
def test_where_pgx_is_missing_one_line_says_what_to_install(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    if module == "pgx":
        monkeypatch.setitem(sys.modules, "jax", sys)  # whether it is installed or not
    with pytest.raises(GameError, match=r"pgx:go_19x19: .*pip install 'palaestra\[pgx\]'"):
        make_game("pgx:go_19x19")


def test_every_game_that_pgx_has_is_made_or_refused_with_a_reason() -> None:
    pgx = pytest.importorskip("pgx", reason="PGX is not installed")
    from palaestra.adapters.pgx_names import GAMES, REFUSED

    known = {name for name in pgx.available_envs() if not name.startswith("minatar")}
    assert known <= {*GAMES, *REFUSED} and not set(GAMES) & set(REFUSED)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["tic_tac_toe", "connect_four", "othello", "hex", "animal_shogi", "gardner_chess", "go_9x9"]
)
def test_a_game_obeys_the_laws(name: str) -> None:
    pytest.importorskip("pgx", reason="PGX is not installed")
    report = check(make_game(f"pgx:{name}"), seed=1, games=2)
    assert [str(violation) for violation in report.violations] == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "own"), [("tic_tac_toe", "tic_tac_toe-3x3"), ("connect_four", "connect_four-6x7")])
def test_random_games_are_those_of_the_built_in_game(name: str, own: str) -> None:
    pytest.importorskip("pgx", reason="PGX is not installed")
    theirs, ours = make_game(f"pgx:{name}"), make_game(own)
    states, mirrors = theirs.initial(40), ours.initial(40)
    streams, running = keyed_seeds(1, np.arange(40)), np.arange(40)
    while running.size:
        counts, actions = theirs.legal(states[running])
        assert np.array_equal(counts, ours.legal(mirrors[running])[0])
        chosen = pick_rows(counts, actions, streams, running)
        states[running] = theirs.advance(states[running], chosen)
        mirrors[running] = ours.advance(mirrors[running], chosen)
        over = theirs.outcome(states[running]) != ONGOING
        assert np.array_equal(over, ours.outcome(mirrors[running]) != ONGOING)
        running = running[~over]
    assert np.array_equal(theirs.outcome(states), np.sign(ours.outcome(mirrors)))


@pytest.mark.slow
def test_moves_and_boards_stand_as_the_first_player_sees_them() -> None:
    pytest.importorskip("pgx", reason="PGX is not installed")
    game = make_game("pgx:gardner_chess")
    start = game.initial(1)[0]
    counts, actions = game.legal(start[None])
    texts = {game.action_to_text(start, action) for action in actions[0, : counts[0]]}
    assert texts == {"a2a3", "b2b3", "c2c3", "d2d3", "e2e3", "b1a3", "b1c3"}
    reply = game.from_moves("c2c3")
    counts, actions = game.legal(reply[None])
    texts = {game.action_to_text(reply, action) for action in actions[0, : counts[0]]}
    assert "b4c3" in texts and "c4c3" not in texts
    assert game.render(reply).splitlines()[0].split() == ["5", "♜", "♞", "♝", "♛", "♚"]
    assert pickle.loads(pickle.dumps(game)) is game


@pytest.mark.slow
@pytest.mark.parametrize(("name", "plies"), [("chess", 60), ("shogi", 40)])
def test_a_random_game_is_that_of_open_spiel_move_by_move_in_words_and_on_the_board(name: str, plies: int) -> None:
    pytest.importorskip("pgx", reason="PGX is not installed")
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    games = make_game(f"pgx:{name}"), make_game(f"openspiel:{name}")
    rng = np.random.default_rng(3)
    states = [game.initial(1) for game in games]
    for _ in range(plies):
        texts = []
        for game, state in zip(games, states, strict=True):
            counts, actions = game.legal(state)
            texts.append({game.action_to_text(state[0], action): action for action in actions[0, : counts[0]]})
        assert set(texts[0]) == set(texts[1])
        move = sorted(texts[0])[rng.integers(len(texts[0]))]
        states = [
            game.advance(state, np.array([known[move]], dtype=np.int32))
            for game, state, known in zip(games, states, texts, strict=True)
        ]
    drawn = [game.render(state[0]).splitlines() for game, state in zip(games, states, strict=True)]
    assert drawn[0] == drawn[1][: len(drawn[0])]
