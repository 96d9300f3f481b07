"""Palaestra as an engine of the Go Text Protocol, version 2: any game whose moves are points of a board.

Black is the first player. The game in play, its player and its analyses are those of `palaestra.live`; here is only
what the commands say. A pass that is left out is played for the side that has to pass or may pass. Once a game is
over, who has lost it resigns when asked for a move, and anybody else passes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from palaestra import __version__
from palaestra.base.errors import GameError, PalaestraError, PlayerError
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.live.analysis import PositionAnalysis, analyse_live
from palaestra.live.game_in_play import GameInPlay
from palaestra.players.base import EVERY
from palaestra.players.engines_gtp import COLOURS
from palaestra.players.engines_notation import PASS, Vertices
from palaestra.players.human import HumanPlayer
from palaestra.players.registry import make_player
from palaestra.protocols.board_size import resized, with_komi
from palaestra.protocols.gtp_analysis import Wanted, analysis_line, read_wanted
from palaestra.protocols.gtp_clock import GtpClock
from palaestra.protocols.gtp_text import (
    SYNTAX,
    Command,
    Refusal,
    failure,
    parse,
    read_colour,
    read_number,
    read_vertex,
    read_whole,
    success,
    unknown,
)
from palaestra.protocols.lines import Lines
from palaestra.protocols.thinking import Limits, limited

Write = Callable[[str], None]


class GtpEngine:
    """Obeys commands. `write` takes what is answered; `interrupted` says whether a line waits to be read."""

    def __init__(self, game: str, player: str, write: Write, interrupted: Callable[[], bool], seed: int = 0) -> None:
        self.text, self.seed = player, seed
        self.write, self.interrupted = write, interrupted
        self.clock = GtpClock()
        self.game: GameInPlay
        self.over = False  # whether the other side has said goodbye
        self._enter(make_game(game))
        commands = (
            "protocol_version", "name", "version", "known_command", "list_commands", "quit", "boardsize",
            "rectangular_boardsize", "clear_board", "komi", "play", "genmove", "reg_genmove", "undo", "showboard",
            "time_settings", "time_left", "final_score", "lz-analyze", "kata-analyze", "lz-genmove_analyze",
            "kata-genmove_analyze",
        )  # fmt: skip
        self.commands: dict[str, Callable[[Sequence[str]], str | None]] = {
            name: getattr(self, f"_{name.replace('-', '_')}") for name in commands
        }

    def _enter(self, game: Game, keep: bool = False) -> None:
        """Play this game from now on, from its start or with the moves so far; nothing changes if that fails."""
        vertices, player = Vertices(game), make_player(self.text, game)
        if isinstance(player, HumanPlayer):
            raise PlayerError("human has no terminal here: the other program sends moves; for example uct(ms=1000)")
        moves = self.game.position.actions if keep else ()
        self.vertices, self.player = vertices, player
        self._begin(game, moves)

    def _begin(self, game: Game, moves: Sequence[int] = ()) -> None:
        self.player.forget()
        self.game = GameInPlay(
            game, [self.player, self.player], seed=self.seed, moves="@0" if game.num_starts > 1 else ""
        )
        for action in moves:
            self.game.play(action)
        self._plies = [1] * len(moves)  # of each move that was sent; a pass after the end has none

    # One line.

    def obey(self, line: str) -> None:
        """Obey a line and write the answer; an empty line has none."""
        command = parse(line)
        if command is None:
            return
        try:
            answer = self._answer(command)
        except Refusal as refusal:
            self.write(failure(command.id, str(refusal)))
        except PalaestraError as error:
            self.write(failure(command.id, str(error)))
        else:
            if answer is not None:
                self.write(success(command.id, answer))

    def _answer(self, command: Command) -> str | None:
        """The answer's text; None where it was written already."""
        if command.cut:
            raise Refusal(f"{SYNTAX}: the line is too long")
        if command.name not in self.commands:
            raise unknown(command.name)
        self._id = command.id
        return self.commands[command.name](command.arguments)

    # About the engine.

    def _protocol_version(self, arguments: Sequence[str]) -> str:
        _take(arguments, 0)
        return "2"

    def _name(self, arguments: Sequence[str]) -> str:
        _take(arguments, 0)
        return "Palaestra"

    def _version(self, arguments: Sequence[str]) -> str:
        _take(arguments, 0)
        return f"{__version__} {self.game.game.id} {self.player.text}"

    def _known_command(self, arguments: Sequence[str]) -> str:
        (name,) = _take(arguments, 1)
        return "true" if name in self.commands else "false"

    def _list_commands(self, arguments: Sequence[str]) -> str:
        _take(arguments, 0)
        return "\n".join(self.commands)

    def _quit(self, arguments: Sequence[str]) -> str:
        _take(arguments, 0)
        self.over = True
        return ""

    # The board.

    def _boardsize(self, arguments: Sequence[str]) -> str:
        if len(arguments) == 2:  # as KataGo takes it
            return self._rectangular_boardsize(arguments)
        (size,) = _take(arguments, 1)
        return self._rectangular_boardsize((size, size))

    def _rectangular_boardsize(self, arguments: Sequence[str]) -> str:
        cols, rows = (read_whole(word) for word in _take(arguments, 2))
        game = self.game.game
        try:
            if (other := resized(game, rows, cols)) is game:
                self._begin(game)
            else:
                self._enter(other)
        except (GameError, PlayerError):
            raise Refusal("unacceptable size") from None
        return ""

    def _clear_board(self, arguments: Sequence[str]) -> str:
        _take(arguments, 0)
        self._begin(self.game.game)
        self.clock.restart()
        return ""

    def _komi(self, arguments: Sequence[str]) -> str:
        (komi,) = (read_number(word) for word in _take(arguments, 1))
        game = self.game.game
        if (other := with_komi(game, komi)) is None:
            raise Refusal(f"{game.id} has no komi")
        if other is not game:
            self._enter(other, keep=True)
        return ""

    def _play(self, arguments: Sequence[str]) -> str:
        colour, word = _take(arguments, 2)
        side, vertex = read_colour(colour), read_vertex(word)
        if self.game.is_over and vertex == PASS:
            self._plies.append(0)
            return ""
        legal = self._legal(side)
        if vertex not in legal[0]:
            raise Refusal("illegal move")
        self._play_actions(*legal[1], legal[0][vertex])
        return ""

    def _legal(self, side: int) -> tuple[dict[str, int], list[int]]:
        """What a side may play, and the pass of the other side that has to come before it; nothing if it may not."""
        position = self.game.position
        if position.is_over:
            return {}, []
        legal = self.vertices.legal(position.state)
        if position.to_play == side:
            return legal, []
        if PASS not in legal:
            return {}, []
        after = position.after(legal[PASS])
        return ({}, []) if after.is_over or after.to_play != side else (self.vertices.legal(after.state), [legal[PASS]])

    def _play_actions(self, *actions: int) -> None:
        for action in actions:
            self.game.play(action)
        self._plies.append(len(actions))

    def _undo(self, arguments: Sequence[str]) -> str:
        _take(arguments, 0)
        if not self._plies:
            raise Refusal("cannot undo")
        for _ in range(self._plies.pop()):
            self.game.undo()
        return ""

    def _showboard(self, arguments: Sequence[str]) -> str:
        _take(arguments, 0)
        position = self.game.position
        turn = position.result or f"{COLOURS[position.to_play]} to play"
        return f"{self.vertices.drawing(position.state)}\n{turn}"

    def _final_score(self, arguments: Sequence[str]) -> str:
        _take(arguments, 0)
        outcome = self.game.position.outcome
        if outcome is None:
            raise Refusal("cannot score")
        if outcome == 0:
            return "0"
        margin = str(abs(outcome)) if self.game.game.tiebreak == "margin" else ""
        return f"{'B' if outcome > 0 else 'W'}+{margin}"

    # Time.

    def _time_settings(self, arguments: Sequence[str]) -> str:
        main, period, moves = _take(arguments, 3)
        self.clock.settings(_seconds(main), _seconds(period), read_whole(moves))
        return ""

    def _time_left(self, arguments: Sequence[str]) -> str:
        colour, seconds, moves = _take(arguments, 3)
        self.clock.say(read_colour(colour), _seconds(seconds), read_whole(moves))
        return ""

    # Moves of the player.

    def _genmove(self, arguments: Sequence[str]) -> str:
        (colour,) = _take(arguments, 1)
        side = read_colour(colour)
        if (last := self._after_the_end(side)) is not None:
            return last
        began, passed = time.monotonic(), self._turn(side)
        state = self.game.position.state
        try:
            with limited(self.player, self._limits(side)):
                self.game.answer()
        except BaseException:
            for _ in range(passed):
                self.game.undo()
            raise
        self.clock.spend(side, time.monotonic() - began)
        self._plies.append(passed + 1)
        return self.vertices.vertex(state, self.game.position.actions[-1])

    def _reg_genmove(self, arguments: Sequence[str]) -> str:
        answer = self._genmove(arguments)
        self._undo(())
        return answer

    def _after_the_end(self, side: int) -> str | None:
        """What is answered once nobody can move any more; None while the game goes on."""
        if not self.game.is_over:
            return None
        self._plies.append(0)
        lost = self.game.points == float(side)
        return "resign" if lost else "pass"

    def _turn(self, side: int) -> int:
        """Make it this side's turn, by a pass of the other if that can be; how many moves that took."""
        if self.game.position.to_play == side:
            return 0
        if not (found := self._legal(side))[0]:
            raise Refusal(f"it is {COLOURS[1 - side]}'s turn")
        self.game.play(found[1][0])
        return 1

    def _limits(self, side: int) -> Limits:
        position = self.game.position
        return Limits(ms=self.clock.budget(side, (self.game.game.max_plies - len(position.actions)) / 2))

    # Analyses.

    def _lz_analyze(self, arguments: Sequence[str]) -> None:
        self._analyse(arguments, kata=False)

    def _kata_analyze(self, arguments: Sequence[str]) -> None:
        self._analyse(arguments, kata=True)

    def _lz_genmove_analyze(self, arguments: Sequence[str]) -> None:
        self._genmove_analyse(arguments, kata=False)

    def _kata_genmove_analyze(self, arguments: Sequence[str]) -> None:
        self._genmove_analyse(arguments, kata=True)

    def _analyse(self, arguments: Sequence[str], kata: bool) -> None:
        """Lines until the other side sends anything at all; the search goes on until then, or until all is proven."""
        wanted = read_wanted(arguments)
        side = self.game.position.to_play
        if self.game.is_over:
            raise Refusal(f"the game is over: {self.game.result}")
        if wanted.colour not in (None, side):
            raise Refusal(f"it is {COLOURS[side]}'s turn")
        with limited(self.player, Limits(endless=True)):
            self._tell(wanted, kata, until=self.interrupted)
        while not self.interrupted():
            time.sleep(0.01)
        self.write("\n")

    def _genmove_analyse(self, arguments: Sequence[str], kata: bool) -> None:
        """`genmove` with lines while it thinks, and `play VERTEX` at last; nothing that is sent cuts it short."""
        wanted = read_wanted(arguments)
        side = self.game.position.to_play if wanted.colour is None else wanted.colour
        if (last := self._after_the_end(side)) is not None:
            self.write(f"={self._id}\nplay {last}\n\n")
            return
        began, passed = time.monotonic(), self._turn(side)
        try:
            with limited(self.player, self._limits(side)):
                found = self._tell(wanted, kata, until=lambda: False)
        except BaseException:
            for _ in range(passed):
                self.game.undo()
            raise
        self.clock.spend(side, time.monotonic() - began)
        vertex = self.vertices.vertex(self.game.position.state, found.analysis.action)
        self.game.play(found.analysis.action)
        self._plies.append(passed + 1)
        self.write(f"play {vertex}\n\n")

    def _tell(self, wanted: Wanted, kata: bool, until: Callable[[], bool]) -> PositionAnalysis:
        """Write lines while the player thinks; its last thought. The first line of the answer comes with the first."""
        every = EVERY if wanted.interval is None else min(EVERY, max(wanted.interval, 0.001))
        thoughts = analyse_live(self.game.position, player=self.player, seed=self.seed, every=every, exact=False)
        found, told = next(thoughts), -math.inf  # a player that cannot explain itself is refused here
        self.write(f"={self._id}\n")
        while True:
            due = wanted.interval is not None and time.monotonic() - told >= wanted.interval
            if due:
                told = time.monotonic()
                self.write(analysis_line(found, self.vertices, wanted, kata) + "\n")
            if until() or (following := next(thoughts, None)) is None:
                break
            found = following
        if not due:
            self.write(analysis_line(found, self.vertices, wanted, kata) + "\n")
        return found


def serve(engine: GtpEngine, lines: Lines) -> None:
    """Obey lines until the other side leaves."""
    while not engine.over and (line := lines.next()) is not None:
        engine.obey(line)


def _take(arguments: Sequence[str], count: int) -> Sequence[str]:
    if len(arguments) != count:
        raise Refusal(SYNTAX)
    return arguments


def _seconds(word: str) -> float:
    if (seconds := read_number(word)) < 0:
        raise Refusal(SYNTAX)
    return seconds
