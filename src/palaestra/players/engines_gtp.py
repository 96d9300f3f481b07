"""A program that speaks the Go Text Protocol, as a player. Black is the first player."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from palaestra.base.errors import EngineError
from palaestra.base.text import clip
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.board import BoardGame
from palaestra.players.engines import EnginePlayer
from palaestra.players.engines_notation import Vertices
from palaestra.players.engines_process import EngineProcess

COLOURS = ("black", "white")  # of the first player and the second
MOST_LINES = 10_000  # of one answer
GO = "openspiel:go"
GO_SIZE, GO_KOMI = 19, 7.5  # OpenSpiel's, where an id does not name others
_SIZE = re.compile(r"board_size=([0-9]{1,2})\b")
_KOMI = re.compile(r"komi=(-?[0-9.]{1,8})")


class GtpPlayer(EnginePlayer):
    """Tells the program the moves that it does not know yet, and asks it to generate one."""

    def __init__(self, game: Game, text: str, command: str, wait: float, ms: float | None) -> None:
        self.ms = ms
        self._board: list[tuple[str, str]] = []  # colour and vertex of the moves that the process knows
        super().__init__(game, text, command, wait)

    def _prepare(self) -> None:
        self.vertices = Vertices(self.game)

    def _greet(self, process: EngineProcess) -> None:
        version = self._say(process, "protocol_version")
        if version != "2":
            raise EngineError(f"{self.text} speaks version {clip(version)} of GTP, not 2")
        if (size := size_of(self.game)) is not None:
            self._say(process, f"boardsize {size}")
        if (komi := komi_of(self.game)) is not None:
            self._say(process, f"komi {komi}")
        if self.ms is not None:
            # GTP counts whole seconds: one move in each period of so many.
            self._say(process, f"time_settings 0 {max(1, math.ceil(self.ms / 1000))} 1")
        self._say(process, "clear_board")
        self._board = []

    def _ask(self, process: EngineProcess, states: Sequence[Int8s], actions: Sequence[int]) -> int:
        moves = zip(states, actions, strict=False)
        wanted = [(COLOURS[int(state[0])], self.vertices.vertex(state, action)) for state, action in moves]
        if wanted[: len(self._board)] != self._board:
            self._say(process, "clear_board")
            self._board = []
        for colour, vertex in wanted[len(self._board) :]:
            self._say(process, f"play {colour} {vertex}")
            self._board.append((colour, vertex))
        state = states[-1]
        colour = COLOURS[int(state[0])]
        answer = self._say(process, f"genmove {colour}", (self.ms or 0.0) / 1000).upper()
        if answer == "RESIGN":
            raise EngineError(f"{self.text} resigned")
        legal = self.vertices.legal(state)
        if answer not in legal:
            raise EngineError(f"{self.text} answered {clip(answer)}, which is not a legal move")
        self._board.append((colour, answer))
        return legal[answer]

    def _say(self, process: EngineProcess, command: str, thinking: float = 0.0) -> str:
        """The program's answer to a command; EngineError if it refuses it, or if that is no answer."""
        process.send(command)
        deadline = self._deadline(thinking)
        wanted = f"answer to {clip(command)}"
        first = ""
        while not first:  # empty lines between two answers are harmless
            first = process.read(deadline, wanted).strip()
        if first[0] not in "=?":
            raise EngineError(f"{self.text} answered {clip(first)} to {clip(command)}, which is not GTP")
        lines = [first[1:].strip()]
        while line := process.read(deadline, wanted).strip():
            lines.append(line)
            if len(lines) > MOST_LINES:
                raise EngineError(f"{self.text} does not stop answering to {clip(command)}")
        answer = " ".join(lines).strip()
        if first[0] == "?":
            raise EngineError(f"{self.text} refused {clip(command)}: {clip(answer)}")
        return answer


def size_of(game: Game) -> int | None:
    """The lines of a square board; None where there is none that GTP can name."""
    if isinstance(game, BoardGame):
        return game.rows if game.rows == game.cols else None
    named = _SIZE.search(game.id)
    return int(named[1]) if named else GO_SIZE if is_go(game) else None


def komi_of(game: Game) -> float | None:
    """The points that White gets at go; None at other games."""
    if not is_go(game):
        return None
    named = _KOMI.search(game.id)
    return float(named[1]) if named else GO_KOMI


def is_go(game: Game) -> bool:
    return game.id.partition("(")[0] == GO
