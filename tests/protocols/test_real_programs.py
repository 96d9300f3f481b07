"""Programs that others wrote, where the system has them: GNU Go, Stockfish, python-chess; and our own with itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from palaestra.arena.match import MatchResult, play_match
from palaestra.base.user_code import trust_commands
from palaestra.games.registry import make_game
from palaestra.players.registry import make_player

PALAESTRA = [sys.executable, "-m", "palaestra"]


def program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/games:/usr/local/games")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def meet(game: str, one: str, other: str, games: int = 2) -> MatchResult:
    trust_commands(one, other)
    rules = make_game(game)
    return play_match(rules, make_player(one, rules), make_player(other, rules), games, opening_plies=2)


@pytest.mark.slow  # three processes are started
def test_our_engine_plays_itself_through_the_protocol() -> None:
    command = " ".join([*PALAESTRA, "gtp", "othello-6x6", "--player", "uct(simulations=20)"])
    result = meet("othello-6x6", f'gtp(command="{command}")', f'gtp(command="{command} --seed 1")', 4)
    assert result.faults == [] and all(record.outcome is not None for record in result.records)


@pytest.mark.slow
def test_gnu_go_plays_whole_games() -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    gnugo = program("gnugo")
    result = meet("openspiel:go(board_size=9)", f"gtp:{gnugo} --mode gtp --level 1 --chinese-rules", "random")
    assert result.wins == 2 and result.faults == []


@pytest.mark.slow
def test_our_engine_is_refereed_with_gnu_go_as_its_opponent() -> None:
    """Both are told each other's moves by hand, as a controller does it, to the end of a game."""
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    gnugo = [program("gnugo"), "--mode", "gtp", "--level", "1", "--chinese-rules"]
    ours = [*PALAESTRA, "gtp", "openspiel:go(board_size=9)", "--player", "uct(simulations=5)"]
    with Spoken(gnugo) as white, Spoken(ours) as black:
        for engine in (white, black):
            assert [engine.say(line)[0] for line in ("boardsize 9", "komi 7.5", "clear_board")] == ["="] * 3
        passes, sides = 0, ((black, white, "b"), (white, black, "w"))
        for turn in range(200):
            mover, other, colour = sides[turn % 2]
            move = mover.say(f"genmove {colour}").removeprefix("= ")
            if move.lower() == "resign" or passes == 2:
                break
            passes = passes + 1 if move.lower() == "pass" else 0
            assert other.say(f"play {colour} {move}")[0] == "=", move
        assert black.say("final_score")[0] == "=" or passes < 2
        assert turn > 20


class Spoken:
    """A program of GTP that is asked by hand."""

    def __init__(self, words: list[str]) -> None:
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Spoken:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate("quit\n", timeout=60)

    def say(self, line: str) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        lines = list(iter(lambda: self.process.stdout.readline().rstrip(), ""))  # type: ignore[union-attr]
        return "\n".join(lines)


@pytest.mark.slow
def test_stockfish_plays_whole_games() -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    stockfish = program("stockfish")
    result = meet("openspiel:chess", f'uci:{stockfish}(nodes=500, options="Threads=1; Hash=1")', "random")
    assert result.wins == 2 and result.faults == []


@pytest.mark.slow
def test_python_chess_drives_our_engine_through_a_game() -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    engines = pytest.importorskip("chess.engine", reason="python-chess is not installed")
    import chess

    with engines.SimpleEngine.popen_uci([*PALAESTRA, "uci", "--player", "random"], timeout=120) as engine:
        board = chess.Board()
        while not board.is_game_over() and board.ply() < 300:
            move = engine.play(board, engines.Limit(time=1.0)).move
            assert move in board.legal_moves
            board.push(move)
        assert board.ply() > 10
        engine.configure({"Player": "uct(simulations=300)"})
        found = engine.analyse(chess.Board("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1"), engines.Limit(nodes=300))
        assert found["score"].relative == engines.Mate(1) and found["pv"]


@pytest.mark.slow
def test_repetition_that_nobody_claims_does_not_leave_chess_without_a_move() -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    shuffled = "g1f3 g8f6 f3g1 f6g8 " * 3
    lines = f"position startpos moves {shuffled}\ngo nodes 3\n"
    done = subprocess.run([*PALAESTRA, "uci", "--player", "random"], input=lines, text=True, capture_output=True)
    assert done.stdout.splitlines()[-1].startswith("bestmove ") and "0000" not in done.stdout


def test_a_game_of_a_tournament_is_written_with_its_fault(tmp_path: Path) -> None:
    from palaestra.live.tournament import tournament
    from tests.protocols.commands import fake

    file = tmp_path / "games.pgn"
    tournament("tic_tac_toe-3x3", [fake("gtp", "resign"), "random"], games=2, opening_plies=0, pgn=str(file))
    assert file.read_text().count("resigned") == 2
