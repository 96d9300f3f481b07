"""The engine of UCI, line by line, with a small game whose moves go from square to square."""

from __future__ import annotations

import threading

import pytest

from palaestra.base.errors import GameError, PlayerError
from palaestra.base.user_code import begin_command
from palaestra.live.analysis import analyse
from palaestra.live.position import Position
from palaestra.players.engines_notation import UciMoves
from palaestra.players.registry import make_player
from palaestra.protocols.lines import TOO_LONG, Lines
from palaestra.protocols.thinking import LAG, Limits, limited
from palaestra.protocols.uci import UciEngine, serve
from palaestra.protocols.uci_text import Refusal, centipawns, info, read_go
from tests.protocols.squares import GAME as RACE

SQUARES = "tests.protocols.squares:GAME"


class Talk:
    """An engine, what it has written, and a way to wait for its move."""

    def __init__(self, player: str = "uct(simulations=50)", game: str = SQUARES) -> None:
        begin_command([SQUARES])
        self.lines: list[str] = []
        self.moved = threading.Event()
        self.engine = UciEngine(game, player, self.write)

    def write(self, text: str) -> None:
        self.lines += text.splitlines()
        if text.startswith("bestmove"):
            self.moved.set()

    def __call__(self, *lines: str) -> list[str]:
        self.lines.clear()
        for line in lines:
            self.engine.obey(line)
        return list(self.lines)

    def go(self, line: str) -> list[str]:
        """All that is said up to the move."""
        self.moved.clear()
        self(line)
        assert self.moved.wait(60)
        return list(self.lines)


def test_it_introduces_itself_and_is_ready() -> None:
    said = Talk()("uci", "isready")
    assert said[0].startswith("id name Palaestra ") and said[1].startswith("id author ")
    assert "option name Player type string default uct(simulations=50)" in said
    assert said[-2:] == ["uciok", "readyok"]


def test_it_plays_a_whole_game_against_itself() -> None:
    talk = Talk()
    moves: list[str] = []
    position = Position(RACE)
    while not position.is_over:
        assert talk("ucinewgame", f"position startpos moves {' '.join(moves)}") == []
        best = talk.go("go nodes 500")[-1].removeprefix("bestmove ")
        moves.append(best)
        position = position.after(best)
    assert position.outcome == 1  # whoever begins is ahead all the way
    assert talk(f"position startpos moves {' '.join(moves)}") == []
    assert talk.go("go") == [f"info string the game is over: {position.result}", "bestmove 0000"]


def test_a_thought_says_score_nodes_time_and_line() -> None:
    talk = Talk("uct(simulations=400)")
    words = talk.go("go")[-2].split()
    assert words[:2] == ["info", "depth"] and words[3] == "score"
    assert {"nodes", "nps", "time", "pv"} <= set(words)
    line = words[words.index("pv") + 1 :]
    assert Position(RACE, " ".join(line)).moves == tuple(line)


def test_a_proven_win_is_a_mate() -> None:
    talk = Talk("uct(simulations=2000)")
    talk("position startpos moves a2a3 a5a4 a3a4 b5b4")
    *_, thought, best = talk.go("go nodes 2000")
    assert "score mate 2" in thought and best == "bestmove a4a5"
    talk("position startpos moves a2a3 a5a4 a3a4 b5b4 a4a5")
    assert "score mate -1" in talk.go("go nodes 2000")[-2]


def test_it_hears_what_comes_while_it_thinks_and_stops() -> None:
    talk = Talk("uct(ms=60000, solver=false)")
    assert talk("go infinite", "isready")[-1] == "readyok"
    assert not talk.moved.is_set()
    talk.engine.obey("stop")
    assert talk.moved.wait(60)
    assert talk.lines[-2].startswith("info depth ") and talk.lines[-1].startswith("bestmove ")


def test_an_infinite_search_that_is_done_still_waits_for_stop() -> None:
    talk = Talk("random")
    talk("go infinite")
    assert not talk.moved.wait(0.3)
    talk.engine.obey("stop")
    assert talk.moved.wait(60)


def test_a_new_position_ends_the_search_under_way() -> None:
    talk = Talk("uct(ms=60000, solver=false)")
    said = talk("go infinite", "position startpos moves a2a3")
    assert said[-1].startswith("bestmove ") and talk.engine.position.moves == ("a2a3",)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense", "unknown command 'nonsense'; known: uci, isready"),
        ("position", "position is written"),
        ("position startpos moves a2a9", "move 1, 'a2a9', is not legal; the position stays as it was"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "has no positions in FEN"),
        ("go movetime", "go movetime needs a whole number, not nothing"),
        ("go movetime soon", "go movetime needs a whole number, not 'soon'"),
        ("go fast", "go does not know 'fast'"),
        ("setoption Player value random", "setoption is written"),
        ("setoption name Hash value 3", "there is no option 'hash'; there are Player and Seed"),
        ("setoption name Player value human", "no terminal"),
        ("setoption name Player value gtp:gnugo", "is not started because"),
        ("setoption name Player value my_module:PLAYER", "--trust"),
        ("setoption name Seed value -1", "Seed is a whole number"),
        ("isready" + TOO_LONG, "too long"),
    ],
)
def test_what_it_does_not_know_it_says(line: str, words: str) -> None:
    talk = Talk()
    talk("position startpos moves a2a3")
    (said,) = talk(line)
    assert said.startswith("info string ") and words in said
    assert talk.engine.position.moves == ("a2a3",) and talk.engine.player.text == "uct(simulations=50)"


def test_pondering_is_refused_and_answered() -> None:
    said = Talk().go("go ponder wtime 1000")
    assert "go ponder is refused" in said[0] and said[-1] == "bestmove 0000"


def test_limits_that_a_player_does_not_know_are_told() -> None:
    said = Talk("uct(simulations=20)").go("go depth 3 searchmoves a2a3 b2b3 mate 2")
    assert sum(line.startswith("info string") for line in said) == 3
    assert said[-1].startswith("bestmove ")


def test_options_change_the_player_and_the_seed() -> None:
    talk = Talk()
    assert talk("setoption name Player value alphabeta(depth=4)", "setoption name seed value 7") == []
    assert (talk.engine.player.text, talk.engine.seed) == ("alphabeta(depth=4)", 7)
    assert talk.go("go depth 8")[-1].startswith("bestmove ")
    assert talk.engine.player.depth == 4  # type: ignore[attr-defined]


def test_a_failure_of_the_player_leaves_nobody_without_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = Talk("random")

    def fail(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(talk.engine.player, "thoughts", fail)
    assert talk.go("go") == ["info string random failed: broken", "bestmove 0000"]


def test_empty_lines_say_nothing_and_the_end_ends_everything() -> None:
    talk = Talk("uct(ms=60000, solver=false)")
    sent = iter([b"\n  \n", b"go infinite\n", b""])
    serve(talk.engine, Lines(lambda size: next(sent)))
    assert talk.lines[-1].startswith("bestmove ")


@pytest.mark.parametrize(
    ("words", "white", "limits"),
    [
        ("movetime 500", True, Limits(ms=500)),
        ("wtime 60000 btime 300 winc 100 binc 0", True, Limits(ms=60000 / 30 + 100 - LAG)),
        ("wtime 60000 btime 300 winc 100 binc 0", False, Limits(ms=1.0)),
        ("wtime 9000 movestogo 3", True, Limits(ms=3000 - LAG)),
        ("nodes 7 depth 3", True, Limits(simulations=7, depth=3)),
        ("infinite", True, Limits(endless=True)),
        ("wtime -50", True, Limits(ms=1.0)),
        ("", True, Limits()),
    ],
)
def test_a_clock_becomes_a_limit(words: str, white: bool, limits: Limits) -> None:
    found = read_go(words.split()).limits(white)
    assert found.ms == pytest.approx(limits.ms)
    assert (found.simulations, found.depth, found.endless) == (limits.simulations, limits.depth, limits.endless)


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(Refusal, match="whole number"):
        read_go(["nodes", "99999999999999"])


def test_limits_hold_for_one_question() -> None:
    for text, name in (("uct(simulations=9)", "search"), ("alphabeta(depth=3)", "depth"), ("mcs(ms=5)", "ms")):
        player = make_player(text, RACE)
        before = getattr(player, name) if name != "search" else player.search.config  # type: ignore[attr-defined]
        with limited(player, Limits(ms=1.0, simulations=3, depth=2)) as unknown:
            assert set(unknown) == {"search": {"depth"}, "depth": {"nodes"}, "ms": {"depth", "nodes"}}[name]
        after = getattr(player, name) if name != "search" else player.search.config  # type: ignore[attr-defined]
        assert after == before


def test_values_are_hundredths_of_a_pawn_by_elo_s_curve() -> None:
    assert [centipawns(value) for value in (0.0, 1.0, -1.0, 0.999999999)] == [0, 9999, -9999, 3720]
    assert centipawns(9 / 11) == 400 == -centipawns(-9 / 11)  # ten points to one


def test_a_player_without_visits_tells_no_nodes() -> None:
    found = analyse(RACE, "", "alphabeta(depth=2)")
    assert "nodes" not in info(found, UciMoves(RACE), 0.5) and "time 500" in info(found, UciMoves(RACE), 0.5)


@pytest.mark.parametrize(
    ("game", "player", "error", "words"),
    [
        ("hex-3x3", "random", GameError, "do not go from a square to a square"),
        ("morpion-4d", "random", GameError, "one player"),
        (SQUARES, "human", PlayerError, "no terminal"),
    ],
)
def test_what_uci_cannot_play_is_refused_at_the_start(
    game: str, player: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        Talk(player, game)


def test_after_goodbye_nothing_is_said() -> None:
    talk = Talk("uct(ms=60000, solver=false)")
    sent = iter([b"go infinite\nquit\nisready\n", b""])
    serve(talk.engine, Lines(lambda size: next(sent)))
    assert not {line.split()[0] for line in talk.lines} & {"bestmove", "readyok"}
