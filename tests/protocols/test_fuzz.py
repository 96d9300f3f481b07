"""Whatever is sent, the engines answer: never an exception, and one answer a line."""

from __future__ import annotations

import re

import pytest

from palaestra.base.user_code import begin_command
from palaestra.protocols.gtp import GtpEngine
from palaestra.protocols.gtp_text import parse
from palaestra.protocols.lines import clean, split_lines
from palaestra.protocols.uci import UciEngine
from tests.hostile_texts import hostile_texts

GTP = (
    "boardsize 3", "boardsize 4", "rectangular_boardsize 3 4", "clear_board", "komi 6.5", "play b A1", "play w B2",
    "play black pass", "genmove b", "genmove w", "7 reg_genmove b", "undo", "showboard", "time_settings 60 10 5",
    "time_left w 5 1", "final_score", "lz-analyze b 10", "kata-analyze interval 1 minmoves 2 rootInfo true",
    "kata-genmove_analyze w 1", "lz-genmove_analyze", "known_command play", "version", "list_commands", "1 name # x",
)  # fmt: skip
GTP_PIECES = (
    "play ",
    "genmove ",
    "b",
    "w",
    " A1",
    " B3",
    " C2",
    "12 ",
    "undo",
    "boardsize ",
    "3",
    "#",
    " 0",
    "\t",
    "-1",
)
UCI = (
    "uci", "isready", "ucinewgame", "position startpos moves a2a3 a5a4", "position fen 8/8 w - - 0 1", "go movetime 1",
    "go nodes 3 depth 2", "go infinite", "go wtime 100 btime 100 winc 1 binc 1 movestogo 3", "stop", "go ponder",
    "setoption name Player value random", "setoption name Seed value 4", "go searchmoves a2a3 infinite", "go mate 3",
)  # fmt: skip
UCI_PIECES = (
    "position ",
    "startpos ",
    "moves ",
    "a2a3 ",
    "b2b3 ",
    "go ",
    "nodes ",
    "5 ",
    "infinite ",
    "stop",
    "fen ",
    "-3 ",
)
QUITTING = re.compile(r"^\s*([0-9]{1,10}\s+)?quit\s*$")


def sent(good: tuple[str, ...], pieces: tuple[str, ...], count: int) -> list[str]:
    """Lines as an engine is given them: good ones among the wrong, none that ends it."""
    data = "\n".join(hostile_texts(good, pieces, count)).encode("utf-8", "surrogatepass")
    chunks = iter([data, b"\n".join(line.encode() for line in good * (count // 100)), b""])
    lines = list(split_lines(lambda size: next(chunks)))
    return [line for line in lines if not QUITTING.match(clean(line).partition("#")[0])]


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_every_line_of_gtp_has_one_answer(count: int) -> None:
    written: list[str] = []
    engine = GtpEngine("tic_tac_toe-3x3", "random", written.append, lambda: True)
    obeyed = 0
    for line in sent(GTP, GTP_PIECES, count):
        engine.obey(line)
        answer = "".join(written)
        written.clear()
        if parse(line) is None:
            assert answer == "", line
        else:
            assert answer[0] in "=?" and answer.endswith("\n\n") and answer.count("\n\n") == 1, (line, answer)
            assert answer.replace("\n", "").isprintable()
            obeyed += answer[0] == "="
    assert obeyed > count // 50


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_every_go_of_uci_has_one_move(count: int) -> None:
    begin_command(["tests.protocols.squares:GAME"])
    written: list[str] = []
    engine = UciEngine("tests.protocols.squares:GAME", "random", written.append)
    moves = asked = 0
    for line in sent(UCI, UCI_PIECES, count):
        written.clear()
        engine.obey(line)
        words = clean(line).split()
        started = engine._thread is not None
        if words[:1] == ["go"]:
            engine.obey("stop")
            engine.finish()
        answer = "".join(written)
        assert answer.endswith("\n") or not answer
        assert answer.replace("\n", "").isprintable()
        moves += answer.count("bestmove ")
        asked += words[:1] == ["go"] and (started or "bestmove 0000" in answer)
        silent = words[:1] in ([], ["ucinewgame"], ["stop"], ["position"], ["setoption"])
        assert answer or silent, line
    assert moves == asked > count // 200
