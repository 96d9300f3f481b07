"""Palaestra as an engine of UCI: any game whose moves go from a square to a square, chess first of all.

Whatever comes while it thinks is heard at once: the player thinks on a thread of its own. Positions, players and
analyses are those of `palaestra.live`; here is only what the commands say. What it does not know is answered by
`info string`, and the game stays as it was.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from palaestra import __version__
from palaestra.base.errors import PalaestraError, PlayerError
from palaestra.base.printable import printable
from palaestra.base.text import Parts, clip
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.live.analysis import analyse_live
from palaestra.live.game_in_play import GameInPlay
from palaestra.live.position import Position
from palaestra.players.base import EVERY, Player
from palaestra.players.engines_notation import UciMoves
from palaestra.players.human import HumanPlayer
from palaestra.players.registry import make_player
from palaestra.protocols.lines import TOO_LONG, Lines, clean
from palaestra.protocols.thinking import limited
from palaestra.protocols.uci_text import Go, Refusal, info, read_go

CHESS = "openspiel:chess"
NO_MOVE = "0000"
TELL = 0.5  # seconds between two lines about what is thought
AT_QUIT, AT_END = 1.0, 60.0  # seconds for which a thought is waited for: nobody wants its move; lines have ended
PLAYER, SEED = "Player", "Seed"
MOST_SEED = 2**31 - 1
Write = Callable[[str], None]


class UciEngine:
    """Obeys lines; `write` takes whole lines of answers, from whichever thread."""

    def __init__(self, game: str, player: str, write: Write, seed: int = 0) -> None:
        self.seed = seed
        self.over = False  # whether the other side has said goodbye
        self._lock = threading.Lock()
        self._write = write
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self.game = make_game(game)
        self.moves = UciMoves(self.game)
        self.player = self._made(player, self.game)
        self.position = Position.at_start(self.game)
        self.first_is_white = True
        self.commands: dict[str, Callable[[Sequence[str]], None]] = {
            name: getattr(self, f"_{name}")
            for name in ("uci", "isready", "ucinewgame", "position", "go", "stop", "setoption", "quit")
        }

    def _made(self, text: str, game: Game) -> Player:
        player = make_player(text, game)
        if isinstance(player, HumanPlayer):
            raise PlayerError("human has no terminal here: the other program sends moves; for example uct(ms=1000)")
        return player

    def say(self, line: str) -> None:
        if self.over:
            return
        with self._lock:
            self._write(printable(line) + "\n")

    def refuse(self, reason: str) -> None:
        self.say(f"info string {' '.join(reason.split())}")

    # One line.

    def obey(self, line: str) -> None:
        """Obey a line; an empty one says nothing."""
        words = clean(line).split()
        if line.endswith(TOO_LONG):
            self.refuse("that line is too long and was not read")
        elif words and words[0] not in self.commands:
            self.refuse(f"unknown command {clip(words[0])}; known: {', '.join(self.commands)}")
        elif words:
            try:
                self.commands[words[0]](words[1:])
            except (Refusal, PalaestraError) as error:
                self.refuse(str(error))

    def _uci(self, arguments: Sequence[str]) -> None:
        self.say(f"id name Palaestra {__version__} {self.player.text}")
        self.say("id author Palaestra's authors")
        self.say(f"option name {PLAYER} type string default {self.player.text}")
        self.say(f"option name {SEED} type spin default {self.seed} min 0 max {MOST_SEED}")
        self.say("uciok")

    def _isready(self, arguments: Sequence[str]) -> None:
        self.say("readyok")

    def _ucinewgame(self, arguments: Sequence[str]) -> None:
        self.finish()
        self.player.forget()
        self.position = Position.at_start(self.position.game)

    def _setoption(self, arguments: Sequence[str]) -> None:
        """A player is one that needs no consent: code and programs are named on the command line alone."""
        self.finish()
        words = list(arguments)
        if words[:1] != ["name"]:
            raise Refusal("setoption is written: setoption name Player value uct(ms=1000)")
        cut = words.index("value") if "value" in words else len(words)
        name, value = " ".join(words[1:cut]).lower(), " ".join(words[cut + 1 :])
        if name == PLAYER.lower():
            self.player = self._made(value, self.position.game)
        elif name == SEED.lower():
            if not (value.isascii() and value.isdigit() and len(value) < 11 and int(value) <= MOST_SEED):
                raise Refusal(f"{SEED} is a whole number from 0 to {MOST_SEED}, not {clip(value)}")
            self.seed = int(value)
        else:
            raise Refusal(f"there is no option {clip(name)}; there are {PLAYER} and {SEED}")

    def _quit(self, arguments: Sequence[str]) -> None:
        self.over = True

    # Positions.

    def _position(self, arguments: Sequence[str]) -> None:
        """The game is the new one only if all of it can be played."""
        self.finish()
        words = list(arguments)
        cut = words.index("moves") if "moves" in words else len(words)
        where, moves = words[:cut], words[cut + 1 :]
        game, white = self.game, True
        if where[:1] == ["fen"] and len(where) > 1:
            game, white = at_fen(self.game, " ".join(where[1:])), where[2:3] != ["b"]
        elif where != ["startpos"]:
            raise Refusal("position is written: position startpos moves e2e4, or position fen FEN moves e2e4")
        position, white = reopened(Position.at_start(game), white)
        for number, move in enumerate(moves, start=1):
            legal = {} if position.is_over else UciMoves(position.game).legal(position.state)
            if move not in legal:
                raise Refusal(f"move {number}, {clip(move)}, is not legal; the position stays as it was")
            position, white = reopened(position.after(legal[move]), white)
        if position.game is not self.position.game:
            self.player = self._made(self.player.text, position.game)
        self.position, self.moves, self.first_is_white = position, UciMoves(position.game), white

    @property
    def white_moves(self) -> bool:
        return (self.position.to_play == 0) == self.first_is_white

    # Thinking.

    def _go(self, arguments: Sequence[str]) -> None:
        self.finish()
        asked = read_go(arguments)
        for name in asked.unknown:
            self.refuse(f"go {name} is not known to this engine: it thinks about all moves, as long as it may")
        if asked.ponder:
            self.refuse("this engine does not think in the other side's time: go ponder is refused")
            self.say(f"bestmove {NO_MOVE}")
        elif self.position.is_over:
            self.refuse(f"the game is over: {self.position.result}")
            self.say(f"bestmove {NO_MOVE}")
        else:
            self._stopped.clear()
            self._thread = threading.Thread(target=self._think, args=(asked,), daemon=True, name="palaestra-uci")
            self._thread.start()

    def _think(self, asked: Go) -> None:
        """On its own thread: thoughts, and at last the move, whatever happens."""
        best = NO_MOVE
        try:
            with limited(self.player, asked.limits(self.white_moves)) as unknown:
                for name in unknown:
                    self.refuse(f"{self.player.text} knows no limit of {name}, and thinks as its text says")
                for move in self._thoughts():
                    best = move
        except Exception as error:  # a failure of the player must not leave the other side without an answer
            self.refuse(f"{self.player.text} failed: {error}")
        if asked.infinite:
            self._stopped.wait()
        self.say(f"bestmove {best}")

    def _thoughts(self) -> Iterator[str]:
        """The best move so far, again and again; what is thought is told twice a second, and at the end."""
        began, told = time.monotonic(), -math.inf
        thoughts = analyse_live(self.position, player=self.player, seed=self.seed, every=EVERY, exact=False)
        try:
            found = next(thoughts)
        except PlayerError:  # it chooses moves but cannot explain them
            playing = GameInPlay(self.position.game, [self.player, self.player], seed=self.seed)
            playing.position = self.position
            yield self.moves.text(self.position.state, playing.answer().position.actions[-1])
            return
        while True:
            following = None if self._stopped.is_set() else next(thoughts, None)
            now = time.monotonic()
            if following is None or now - told >= TELL:
                self.say(info(found, self.moves, now - began))
                told = now
            yield self.moves.text(self.position.state, found.analysis.action)
            if following is None:
                return
            found = following

    def _stop(self, arguments: Sequence[str]) -> None:
        self._stopped.set()

    def finish(self, seconds: float | None = None) -> None:
        """End what is being thought, and wait for its move."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(seconds)
        self._thread = None


def at_fen(game: Game, fen: str) -> Game:
    """The game from another position on; Refusal or GameError if there is none."""
    if not game.id.startswith(CHESS):
        raise Refusal(f"{game.id} has no positions in FEN; give: position startpos moves …")
    return make_game(str(Parts("openspiel", "chess", keywords={"fen": fen})))


def reopened(position: Position, first_is_white: bool) -> tuple[Position, bool]:
    """The position; where only a draw that a player may claim has ended it, the same board without its history.

    With it, whether the side that moves first from there on is White.
    """
    if not (position.is_over and position.outcome == 0 and position.game.id.startswith(CHESS)):
        return position, first_is_white
    fen = str(position.game.spiel_state(position.state)).split()  # type: ignore[attr-defined]  # a game of OpenSpiel
    if len(fen) != 6:
        return position, first_is_white
    fresh = Position.at_start(at_fen(position.game, " ".join([*fen[:4], "0", fen[5]])))
    return (position, first_is_white) if fresh.is_over else (fresh, fen[1] != "b")


def serve(engine: UciEngine, lines: Lines) -> None:
    """Obey lines until the other side leaves; what is being thought then is ended."""
    while not engine.over and (line := lines.next()) is not None:
        engine.obey(line)
    engine.finish(AT_QUIT if engine.over else AT_END)
