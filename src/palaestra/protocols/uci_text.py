"""The words of UCI: `position` and `go` taken apart, scores and lines put together. Knows no search."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from palaestra.base.text import clip
from palaestra.live.analysis import PositionAnalysis
from palaestra.live.position import Position
from palaestra.players.engines_notation import UciMoves
from palaestra.protocols.thinking import MOVES_LEFT, Limits, share

# (sources: centipawns) a share of points p is 400 · log10(p / (1 - p)) hundredths of a pawn
SCALE = 400.0
MOST_CENTIPAWNS = 9999  # of what is not proven
NUMBERS = ("wtime", "btime", "winc", "binc", "movestogo", "movetime", "nodes", "depth", "mate")
_WHOLE = re.compile(r"-?[0-9]{1,9}")


class Refusal(Exception):
    """A line that cannot be obeyed, in words for `info string`."""


@dataclass(frozen=True)
class Go:
    """What stands after `go`."""

    numbers: dict[str, int]
    infinite: bool = False
    ponder: bool = False
    unknown: tuple[str, ...] = ()  # what asks for something that there is not

    def limits(self, white: bool) -> Limits:
        """How long may be thought, by the clock of the side to move where there is one."""
        given = self.numbers
        ms: float | None = None
        if "movetime" in given:
            ms = float(max(1, given["movetime"]))
        elif (left := given.get("wtime" if white else "btime")) is not None:
            moves = given.get("movestogo", 0) or MOVES_LEFT
            ms = share(float(max(0, left)), float(moves), float(given.get("winc" if white else "binc", 0)))
        nodes, depth = given.get("nodes"), given.get("depth")
        return Limits(ms, nodes and max(1, nodes), depth and max(1, depth), endless=self.infinite)


def read_go(words: Sequence[str]) -> Go:
    numbers: dict[str, int] = {}
    flags: set[str] = set()
    unknown: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in NUMBERS:
            if not rest or not _WHOLE.fullmatch(rest[0]):
                raise Refusal(f"go {word} needs a whole number, not {clip(rest[0]) if rest else 'nothing'}")
            numbers[word] = int(rest.pop(0))
        elif word in ("infinite", "ponder"):
            flags.add(word)
        elif word == "searchmoves":
            unknown.append(word)
            rest = rest[next((i for i, one in enumerate(rest) if one in (*NUMBERS, "infinite", "ponder")), len(rest)) :]
        else:
            raise Refusal(f"go does not know {clip(word)}; it knows {', '.join(NUMBERS)} and infinite")
    if "mate" in numbers:
        unknown.append("mate")
    return Go(numbers, "infinite" in flags, "ponder" in flags, tuple(unknown))


def info(found: PositionAnalysis, moves: UciMoves, seconds: float) -> str:
    """`info depth … score … nodes … time … pv …` of a thought; depth is the length of the line that it expects."""
    line, end = _line(found, moves)
    words = [f"info depth {max(1, len(line))}"]
    if found.value is not None:
        words.append(f"score {_score(found, len(line), end)}")
    ms = round(1000 * seconds)
    if found.analysis.visits is not None:
        nodes = int(found.analysis.visits.sum())
        words.append(f"nodes {nodes} nps {round(nodes / seconds) if seconds > 0.001 else 0}")
    words.append(f"time {ms}")
    words.append(f"pv {' '.join(line)}" if line else "")
    return " ".join(filter(None, words))


def _line(found: PositionAnalysis, moves: UciMoves) -> tuple[list[str], Position]:
    position = found.position
    actions = found.analysis.pv if found.analysis.pv[:1] == [found.analysis.action] else [found.analysis.action]
    texts = []
    for action in actions:
        texts.append(moves.text(position.state, int(action)))
        position = position.after(int(action))
    return texts, position


def _score(found: PositionAnalysis, plies: int, end: Position) -> str:
    """`mate N` where the line is proven to win or lose and ends the game, else hundredths of a pawn."""
    value = found.value
    assert value is not None
    if found.analysis.proven and end.is_over and abs(value) == 1.0:
        return f"mate {math.copysign((plies + 1) // 2, value):.0f}"
    return f"cp {centipawns(value)}"


def centipawns(value: float) -> int:
    """A value in [-1, 1] in hundredths of a pawn (sources: centipawns)."""
    if abs(value) >= 1.0:
        return round(math.copysign(MOST_CENTIPAWNS, value))
    return max(-MOST_CENTIPAWNS, min(MOST_CENTIPAWNS, round(SCALE * math.log10((1.0 + value) / (1.0 - value)))))
