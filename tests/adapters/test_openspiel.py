"""Games of OpenSpiel: laws, and move by move beside OpenSpiel itself."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from palaestra.base.errors import GameError, MoveError
from palaestra.base.streams import keyed_seeds
from palaestra.games.base import Game
from palaestra.games.laws import LAWS, check, violations_of
from palaestra.games.registry import make_game, make_stored_game, text_of
from palaestra.games.rows import ONGOING
from palaestra.games.sample import play_games

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

from palaestra.adapters.openspiel import OpenSpielGame  # noqa: E402  # needs what the line above skips for
from palaestra.adapters.openspiel_catalogue import names  # noqa: E402
from palaestra.adapters.openspiel_states import Histories  # noqa: E402

SMALL = {  # games of every kind in small sizes: quick to check
    "tic_tac_toe": "",
    "breakthrough": "(columns=4,rows=5)",
    "go": "(board_size=3)",
    "chess": "(max_plies=8)",
    "clobber": "(columns=3,rows=3)",
    "cliff_walking": "(horizon=20)",
    "dots_and_boxes": "(num_cols=2,num_rows=1,utility_margin=true)",
    "oware": "(max_plies=40)",
    "nim": "",
}
OTHERS = {  # the rest, cut short where games are long
    "amazons": "(board_size=6)", "antichess": "(max_plies=40)", "checkers": "(max_plies=80)",
    "chinese_checkers": "(max_plies=60)", "crazyhouse": "(max_plies=40)", "cursor_go": "(board_size=5,max_plies=100)",
    "gomoku": "(connect=4,size=6)", "havannah": "(board_size=4)", "hex": "(board_size=5)", "hive": "(max_plies=20)",
    "lines_of_action": "(max_plies=40)", "mnk": "(k=4,m=5,n=5)", "quoridor": "(board_size=5)",
    "shogi": "(max_plies=40)", "xiangqi": "(max_plies=40)", "y": "(board_size=5)",
}  # fmt: skip


def made(id: str) -> OpenSpielGame:
    game = make_game(id)
    assert isinstance(game, OpenSpielGame)
    return game


@pytest.mark.parametrize("name", SMALL)
def test_a_game_obeys_the_laws(name: str) -> None:
    report = check(make_game(f"openspiel:{name}{SMALL[name]}"), seed=1, games=2)
    assert [str(violation) for violation in report.violations] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(names()) - set(SMALL)))
def test_every_other_game_obeys_the_laws(name: str) -> None:
    report = check(make_game(f"openspiel:{name}{OTHERS.get(name, '')}"), seed=1, games=2)
    assert [str(violation) for violation in report.violations] == []


@pytest.mark.parametrize(
    "id",
    ["openspiel:breakthrough(columns=5,rows=5)", "openspiel:chess", "openspiel:clobber", "openspiel:cliff_walking"],
)
def test_random_games_are_those_of_open_spiel(id: str) -> None:
    game = made(id)
    rng = np.random.default_rng(5)
    state, mirror = game.initial(1), game.spiel.new_initial_state()
    while game.outcome(state)[0] == ONGOING:
        counts, actions = game.legal(state)
        assert actions[0, : counts[0]].tolist() == mirror.legal_actions()
        assert int(game.to_play(state)[0]) == mirror.current_player() ^ game.first_player
        seen = np.array(mirror.observation_tensor(mirror.current_player()), dtype=np.float32)
        assert np.array_equal(game.observe(state).reshape(-1)[: seen.size], seen)
        action = int(rng.choice(mirror.legal_actions()))
        state = game.advance(state, np.array([action], dtype=np.int32))
        mirror.apply_action(action)
    assert mirror.is_terminal()
    expected = mirror.returns()[game.first_player] - (game.spiel.min_utility() if game.players == 1 else 0)
    assert int(game.outcome(state)[0]) == expected


def test_white_is_the_first_player_of_chess_and_the_fools_mate_is_lost() -> None:
    game = make_game("openspiel:chess")
    end = game.from_moves("f2f3 e7e5 g2g4 d8h4")
    assert game.to_play(game.initial(1))[0] == 0 and game.outcome(end[None])[0] == -1


def test_moves_of_chess_are_written_as_uci_does_and_short_notation_is_read() -> None:
    game = make_game("openspiel:chess")
    state = game.from_moves("e4 e5 Nf3")
    assert np.array_equal(state, game.from_moves("e2e4 e7e5 g1f3"))
    assert game.line_to_texts(game.initial(1)[0], [game.text_to_action(game.initial(1)[0], "Nc3")]) == ["b1c3"]
    promoted = make_game('openspiel:chess(fen="8/4P1k1/8/8/8/8/8/4K3 w - - 0 1")')
    assert promoted.text_to_action(promoted.initial(1)[0], "e7e8q") != promoted.text_to_action(
        promoted.initial(1)[0], "e7e8n"
    )


def test_a_game_that_is_cut_short_is_a_draw_though_open_spiel_would_go_on() -> None:
    game = made("openspiel:chess(max_plies=3)")
    end = game.from_moves("e2e4 e7e5 g1f3")
    assert game.outcome(end[None])[0] == 0 and not game.spiel_state(end).is_terminal()
    assert game.legal(end[None])[0][0] == 0
    with pytest.raises(MoveError, match="the game is over"):
        game.text_to_action(end, "b8c6")


def test_a_margin_counts_boxes() -> None:
    game = make_game("openspiel:dots_and_boxes(utility_margin=true)")
    ends = game.rollout(game.initial(64), keyed_seeds(1, np.arange(64)))
    assert game.tiebreak == "margin" and set(np.abs(ends.outcomes).tolist()) > {2}


def test_states_that_were_forgotten_are_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    game = made("openspiel:breakthrough(columns=4,rows=4)")
    states = game.rollout(game.initial(8), keyed_seeds(3, np.arange(8)), trace=True)
    assert states.moves is not None and states.lengths is not None
    fresh = Histories(game.first, game.num_actions, game.max_plies)
    for row, key in zip(states.states, fresh.keys(states.states), strict=True):
        assert str(fresh.get(key)) == str(game.spiel_state(row))


def test_only_so_many_states_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palaestra.adapters.openspiel_states.KEPT", 4)
    game = made("openspiel:tic_tac_toe")
    histories = Histories(game.first, game.num_actions, game.max_plies)
    for action in range(9):
        histories.get(bytes([action]))
    assert len(histories._young) <= 4 and len(histories._old) <= 4


def test_playouts_inside_open_spiel_end_as_ours_do_on_average() -> None:
    game = made("openspiel:connect_four")
    starts = game.initial(600)
    assert game._plays_alone
    inside = game.playout_outcomes(starts, keyed_seeds(1, np.arange(600)))
    ours = game.rollout(starts, keyed_seeds(2, np.arange(600))).outcomes
    assert abs((inside == 1).mean() - (ours == 1).mean()) < 0.1  # five standard errors
    replies = game.advance(starts, np.full(600, 3, dtype=np.int32))
    assert (game.playout_outcomes(replies, keyed_seeds(3, np.arange(600))) == 1).mean() > 0.5


def test_one_way_of_writing_is_the_id_and_makes_the_game_again() -> None:
    game = make_game("openspiel:breakthrough( rows=6, columns=5 )")
    assert game.id == "openspiel:breakthrough(columns=5,rows=6)" and text_of(game) == game.id
    assert pickle.loads(pickle.dumps(game)) is make_game(game.id)
    assert make_stored_game(game.id, "a file", id=game.id) is make_game(game.id)
    assert make_game("openspiel:go(komi=6,board_size=5)").id == "openspiel:go(board_size=5,komi=6.0)"


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("openspiel:backgammon", "chance decides"),
        ("openspiel:phantom_ttt", "hidden"),
        ("openspiel:goofspiel", "at the same time"),
        ("openspiel:efg_game(filename=x)", "of a file"),
        ("openspiel:chinese_checkers(players=3)", "3 players"),
        ("openspiel:brekthrough", "did you mean breakthrough"),
        ("openspiel:", "nothing stands after the colon"),
        ("openspiel:go(bord_size=9)", "did you mean board_size"),
        ("openspiel:go(9)", "parameters have names"),
        ("openspiel:go(board_size=9", "not closed"),
        ("openspiel:go(board_size=99)", "up to 19"),
        ("openspiel:go(board_size=true)", "whole number"),
        ("openspiel:go(komi=much)", "komi cannot be"),
        ("openspiel:hex(board_size=900)", "810,000 actions"),
        ("openspiel:hex(board_size=100000)", "whole number from"),
        ("openspiel:hex(num_rows=0)", "0 actions"),
        ("openspiel:breakthrough(rows=-3)", "openspiel:breakthrough"),
        ("openspiel:nim(pile_sizes=abc)", "pile_sizes"),
        ("openspiel:havannah(board_size=0)", "over before it begins"),
        ("openspiel:chess(max_plies=0)", "max_plies is 0"),
        ("openspiel:chess(fen=nonsense)", "not a position of chess"),
        ("openspiel:go(fen=x)", "unknown parameter"),
    ],
)
def test_what_cannot_be_made_is_one_line(id: str, words: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(GameError) as caught:
        make_game(id)
    assert words in str(caught.value) and "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")  # OpenSpiel would have written to the standard error


def test_where_open_spiel_is_missing_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyspiel", None)
    with pytest.raises(GameError, match=r"pip install 'palaestra\[openspiel\]'"):
        make_game("openspiel:tic_tac_toe(max_plies=8)")


@pytest.mark.parametrize("text", ["", "x", "4.4", "9", "4.", "4 0"])
def test_a_position_that_cannot_be_reached_is_refused(text: str) -> None:
    game = make_game("openspiel:tic_tac_toe")
    assert game.state_to_text(game.from_moves("x(1,1) o(0,0)")) == "4.0"
    with pytest.raises(MoveError):
        game.state_from_text(text)


def _words(game: Game, state: Any) -> list[str]:
    counts, actions = game.legal(state[None])
    return [game.action_to_text(state, action) for action in actions[0, : counts[0]]]


def test_moves_are_single_words_and_read_in_open_spiels_own_way_as_well() -> None:
    go, amazons = make_game("openspiel:go(board_size=5)"), make_game("openspiel:amazons(board_size=6)")
    first = go.initial(1)[0]
    assert {"a1", "e5", "pass"} <= set(_words(go, first)) and go.text_to_action(first, "B a1") == 0
    begin = amazons.initial(1)[0]
    assert all(len(word.split()) == 1 for word in _words(amazons, begin))
    assert amazons.text_to_action(begin, "x from (5, 1)") == amazons.text_to_action(begin, _words(amazons, begin)[0])
    assert go.text_to_action(first, "#3") == 3


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("tic_tac_toe", 8),
        ("go(board_size=5)", 8),
        ("mnk(m=4,n=5,k=3)", 4),
        ("gomoku(size=4,connect=3,wrap=true)", 8),
        ("gomoku(size=3,connect=3,dims=3)", 4),
        ("othello", 4),
        ("connect_four", 2),
        ("breakthrough(rows=5,columns=4)", 2),
        ("hex(board_size=3)", 1),
    ],
)
def test_symmetries_that_are_known_keep_their_laws(name: str, count: int) -> None:
    game = make_game(f"openspiel:{name}")
    assert len(game.symmetries) == count
    sample = play_games(game, 1, 3)
    for law in ("group", "symmetry"):
        assert violations_of(LAWS[law], sample) == []


def test_the_players_of_openspiel_s_games_do_not_change_places() -> None:
    game = make_game("openspiel:tic_tac_toe")
    with pytest.raises(GameError, match="does not know how its players change places"):
        game.permute(game.initial(1), game.symmetries[1], swap=True)
