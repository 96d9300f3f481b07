"""The engine of GTP, command by command: what is sent, and what it answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from palaestra.base.errors import GameError, PlayerError
from palaestra.protocols.gtp import GtpEngine, serve
from palaestra.protocols.gtp_clock import GtpClock
from palaestra.protocols.lines import LONGEST, TOO_LONG, Lines, split_lines
from palaestra.protocols.thinking import LAG
from tests.protocols.commands import fake


class Talk:
    """An engine, and what it has written since it was last asked."""

    def __init__(self, game: str, player: str = "random", interrupted: Callable[[], bool] = lambda: True) -> None:
        self.written: list[str] = []
        self.engine = GtpEngine(game, player, self.written.append, interrupted)

    def __call__(self, line: str) -> str:
        self.engine.obey(line)
        answer = "".join(self.written)
        self.written.clear()
        return answer

    def all(self, *lines: str) -> list[str]:
        return [self(line) for line in lines]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("protocol_version", "= 2\n\n"),
        ("17 protocol_version", "=17 2\n\n"),
        ("0 name # a comment", "=0 Palaestra\n\n"),
        ("\x07na\x01me\r", "= Palaestra\n\n"),
        ("7\tknown_command\tgenmove", "=7 true\n\n"),
        ("known_command loadsgf", "= false\n\n"),
        ("", ""),
        ("   # only a comment", ""),
        ("nonsense", "? unknown command\n\n"),
        ("12", "?12 syntax error: no command stands in ''\n\n"),
        ("play b", "? syntax error\n\n"),
        ("play green A1", "? syntax error\n\n"),
        ("play b 11", "? syntax error\n\n"),
        ("play b I1", "? illegal move\n\n"),
        ("play b Z99", "? illegal move\n\n"),
        ("play w A1", "? illegal move\n\n"),
        ("genmove w", "? it is black's turn\n\n"),
        ("undo", "? cannot undo\n\n"),
        ("final_score", "? cannot score\n\n"),
        ("komi 6.5", "? tic_tac_toe-3x3 has no komi\n\n"),
        ("komi 0", "=\n\n"),
        ("komi much", "? syntax error\n\n"),
        ("boardsize 2", "? unacceptable size\n\n"),
        ("boardsize three", "? syntax error\n\n"),
        ("3 boardsize 99", "?3 unacceptable size\n\n"),
        ("name" + TOO_LONG, "? syntax error: the line is too long\n\n"),
    ],
)
def test_a_line_has_its_answer(line: str, answer: str) -> None:
    assert Talk("tic_tac_toe-3x3")(line) == answer


def test_every_listed_command_is_known_and_the_required_ones_are_listed() -> None:
    talk = Talk("hex-3x3")
    listed = talk("list_commands").removeprefix("=\n").split()
    assert all(talk(f"known_command {name}") == "= true\n\n" for name in listed)
    required = "protocol_version name version known_command list_commands quit boardsize clear_board komi play genmove"
    assert set(required.split()) <= set(listed)


def test_a_game_is_played_to_its_end_and_counted() -> None:
    talk = Talk("tic_tac_toe-3x3")
    moves = ("play b A1", "play w A3", "play black B1", "play white B3", "play b c1")
    assert talk.all(*moves) == ["=\n\n"] * 5
    assert talk.all("final_score", "genmove w", "genmove b", "play b pass") == [
        "= B+\n\n",
        "= resign\n\n",
        "= pass\n\n",
        "=\n\n",
    ]
    assert talk("showboard") == "=\n    A B C\n  3 O O .\n  2 . . .\n  1 X X X\nthe first player wins at ply 5\n\n"
    assert talk("play w A2") == "? illegal move\n\n"
    assert talk.all(*["undo"] * 4) == ["=\n\n"] * 4  # three answers after the end, and c1
    assert talk.engine.game.position.moves == ("a3", "a1", "b3", "b1")  # as the game itself writes them
    assert talk.all("play b C3", "clear_board", "undo") == ["=\n\n", "=\n\n", "? cannot undo\n\n"]


def test_a_stone_falls_where_its_vertex_says() -> None:
    talk = Talk("connect_four-6x7")
    assert talk.all("play b D1", "play w D1", "play w D2", "play b D4") == [
        "=\n\n", "? illegal move\n\n", "=\n\n", "? illegal move\n\n",
    ]  # fmt: skip
    assert talk("showboard").split("\n")[-4:-2] == ["  1 . . . X . . .", "black to play"]


def test_columns_of_gobang_skip_i_and_those_of_hex_do_not() -> None:
    gobang, hex = Talk("gobang-9x9"), Talk("hex-9x9")
    assert gobang.all("play b J9", "play w I9", "play w A1") == ["=\n\n", "? illegal move\n\n", "=\n\n"]
    assert gobang.engine.game.position.moves == ("i1", "a9")
    assert hex.all("play b J9", "play b I9") == ["? illegal move\n\n", "=\n\n"]
    assert hex.engine.game.position.moves == ("i9",)


def test_a_pass_may_be_left_out_where_it_is_forced() -> None:
    talk = Talk("othello-4x4")
    while "pass" not in talk.engine.game.position.legal_moves and not talk.engine.game.is_over:
        talk(f"genmove {'bw'[talk.engine.game.position.to_play]}")
    position = talk.engine.game.position
    assert position.legal_moves == ["pass"]
    colour = "bw"[1 - position.to_play]
    vertex = position.after("pass").legal_moves[0]
    assert talk(f"play {colour} {vertex}") == "=\n\n"
    assert talk.engine.game.position.moves[-2:] == ("pass", vertex)
    assert talk("undo") == "=\n\n" and talk.engine.game.position.moves == position.moves
    assert talk(f"genmove {colour}").startswith("= ") and talk.engine.game.position.moves[-2] == "pass"
    assert talk("undo") == "=\n\n" and talk.engine.game.position.moves == position.moves


def test_another_board_is_another_game_of_the_family() -> None:
    talk = Talk("gobang-9x9-5")
    assert talk.all("play b A1", "boardsize 7") == ["=\n\n", "=\n\n"]
    assert talk.engine.game.game.id == "gobang-7x7-5" and not talk.engine.game.position.moves
    assert talk.all("boardsize 9 6", "rectangular_boardsize 9 6") == ["=\n\n", "=\n\n"]
    assert talk.engine.game.game.id == "gobang-6x9-5"
    assert talk("boardsize 99") == "? unacceptable size\n\n" and talk.engine.game.game.id == "gobang-6x9-5"


def test_a_move_that_is_asked_for_is_played_and_one_that_is_tried_is_not() -> None:
    talk = Talk("hex-3x3", "uct(simulations=30)")
    tried = talk("reg_genmove b")
    assert talk.engine.game.position.moves == ()
    assert talk("genmove b") == tried
    assert len(talk.engine.game.position.moves) == 1


def test_an_analysis_stops_at_the_next_line_and_changes_nothing() -> None:
    looks = iter([False] * 5)
    talk = Talk("hex-5x5", "uct(simulations=10)", interrupted=lambda: next(looks, True))
    answer = talk("5 lz-analyze b 1 maxmoves 3")
    head, *lines, empty, end = answer.split("\n")
    assert (head, empty, end) == ("=5", "", "")
    assert len(lines) > 1 and talk.engine.game.position.moves == ()
    words = lines[-1].split()
    assert words.count("info") == 3 and words[:3] == ["info", "move", words[words.index("pv") + 1]]
    assert words[3:13:2] == ["visits", "winrate", "prior", "lcb", "order"]
    assert 10 < int(words[4]) and 0 <= int(words[10]) <= int(words[6]) <= 10_000


def test_katago_s_analysis_has_shares_and_the_root() -> None:
    answer = Talk("hex-5x5", "uct(simulations=200)")("kata-analyze interval 0 rootInfo true ownership false")
    line = answer.split("\n")[1]
    assert "rootInfo visits" in line
    rates = [float(after.split()[0]) for after in line.split(" winrate ")[1:]]
    assert all(0.0 <= rate <= 1.0 for rate in rates)


@pytest.mark.parametrize("command", ["lz-genmove_analyze", "kata-genmove_analyze"])
def test_a_move_with_its_analysis_is_played(command: str) -> None:
    talk = Talk("hex-5x5", "uct(simulations=300)")
    lines = talk(f"8 {command} b 0").split("\n")
    assert lines[0] == "=8" and lines[1].startswith("info move ") and lines[-2:] == ["", ""]
    played = lines[-3].removeprefix("play ")
    assert talk.engine.game.position.moves == (played.lower(),)
    assert lines[-4].split()[2] == played


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("lz-analyze w", "? it is black's turn\n\n"),
        ("lz-analyze b interval", "? syntax error\n\n"),
        ("lz-analyze rubbish 5", "? syntax error\n\n"),
        ("kata-analyze ownership true", "? ownership is not known to this engine\n\n"),
        ("kata-analyze avoid b A1 3", "? avoid is not known to this engine: all moves are searched\n\n"),
    ],
)
def test_an_analysis_that_cannot_be_is_refused(line: str, answer: str) -> None:
    assert Talk("hex-3x3", "uct(simulations=5)")(line) == answer


def test_a_player_that_cannot_explain_itself_says_so() -> None:
    talk = Talk("tic_tac_toe-3x3", fake("gtp"))  # a program, which only says its moves
    assert "chooses moves but cannot explain them" in talk("lz-analyze 10")
    assert talk("lz-genmove_analyze b").startswith("? gtp") and talk.engine.game.position.moves == ()
    assert talk("genmove b") == "= A1\n\n"


def test_clocks_bound_a_move_and_the_player_is_itself_again() -> None:
    talk = Talk("hex-7x7", "uct(ms=60000)")
    assert talk.all("time_settings 0 1 10", "genmove b") != []  # with its own limit this would take a minute
    assert talk.engine.player.search.config.ms == 60000  # type: ignore[attr-defined]
    assert talk.all("time_settings 5 x 1", "time_settings -1 0 0", "time_left b 10") == ["? syntax error\n\n"] * 3
    assert talk("time_left w 1 0") == "=\n\n"


def test_the_clock_counts_main_time_then_periods() -> None:
    clock = GtpClock()
    assert clock.budget(0, 30) is None
    clock.settings(60, 10, 5)
    assert clock.budget(0, 100) == pytest.approx((60_000 + 2000) / 30 - LAG)
    clock.spend(0, 61)
    assert clock.left == [(10, 5), (60, 0)]
    assert clock.budget(0, 100) == pytest.approx(2000 - LAG)
    clock.spend(0, 1)
    assert clock.left[0] == (9, 4)
    clock.say(0, 2, 1)
    clock.spend(0, 1)
    assert clock.left[0] == (10, 5)
    clock.settings(60, 10, 0)  # GTP: no limit at all
    assert clock.budget(1, 30) is None


@pytest.mark.parametrize(
    ("game", "player", "error", "words"),
    [
        ("morpion-4d", "random", GameError, "one player"),
        ("hex-3x3", "human", PlayerError, "no terminal"),
        ("hex-3x3", "uct(x=1)", PlayerError, "no argument"),
        ("gobang-26x26-5", "random", GameError, "larger than GTP's board"),
        ("gdl:tic_tac_toe-3x3", "random", GameError, "not points of a board"),
    ],
)
def test_what_gtp_cannot_play_is_refused_at_the_start(
    game: str, player: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        Talk(game, player)


def test_lines_are_read_until_the_other_side_leaves() -> None:
    sent = iter([b"name\r\n1 na", b"me\n" + b"x" * (LONGEST + 5), b"\n\xff\xfe\nquit\nname\n", b""])
    written: list[str] = []
    lines = Lines(lambda size: next(sent))
    serve(GtpEngine("hex-3x3", "random", written.append, lines.waiting), lines)
    answers = ["= Palaestra", "=1 Palaestra", "? syntax error: the line is too long", "? unknown command", "="]
    assert written == [f"{answer}\n\n" for answer in answers]


def test_a_line_without_an_end_is_a_line() -> None:
    sent = iter([b"a\nb", b"c", b""])
    assert list(split_lines(lambda size: next(sent))) == ["a", "bc"]
