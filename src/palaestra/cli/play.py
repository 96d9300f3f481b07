"""`palaestra play`: a person against a player, in the terminal or through pipes."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from palaestra.base.errors import ConfigError, EngineError, PalaestraError
from palaestra.cli import complete
from palaestra.cli.options import GameId, Moves, Seed
from palaestra.live.defaults import LEVEL, OPPONENT

if TYPE_CHECKING:
    from palaestra.games.base import Game
    from palaestra.live.game_in_play import GameInPlay
    from palaestra.players.base import Player
    from palaestra.players.shipped import LevelName

COMMANDS = {
    "undo": "take back your last move (and the answer to it)",
    "redo": "play again what you took back",
    "swap": "change sides with your opponent",
    "hint": "what the adviser would play, with its policy and value",
    "moves": "the legal moves",
    "resign": "give the game up",
    "help": "the goal of the game, and this list",
    "quit": "leave",
}


def play(
    game: GameId,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            "-a",
            metavar="PLAYER",
            help=f"Your opponent; if not named, the agent that comes with the package, or {OPPONENT}.",
            show_default=False,
            autocompletion=complete.players,
        ),
    ] = None,
    level: Annotated[
        Literal["easy", "medium", "hard"] | None,
        typer.Option(help=f"How strong that agent is; {LEVEL} if not said.", show_default=False),
    ] = None,
    side: Annotated[Literal["first", "second"], typer.Option(help="Which side you play.")] = "first",
    adviser: Annotated[
        str,
        typer.Option(
            metavar="PLAYER",
            help="Who gives hints; a search if not named.",
            show_default=False,
            autocompletion=complete.players,
        ),
    ] = "",
    moves: Moves = "",
    seed: Seed = 0,
) -> None:
    """Play in the terminal. Type moves as the game writes them; help lists what else there is: undo, hint, resign, …"""
    from palaestra.games.registry import make_game
    from palaestra.live.game_in_play import GameInPlay

    rules = make_game(game)
    against = _opponent(rules, against, level)
    players: list[str | None] = [None]
    if rules.players == 2:
        players = [None, against] if side == "first" else [against, None]
    options = ["--adviser", adviser] if adviser else []
    options += ["--seed", str(seed)] if seed else []
    playing = GameInPlay(rules, players, moves=moves, adviser=adviser or None, seed=seed)
    if adviser:
        playing.adviser  # noqa: B018  # a text that makes no player is refused now, not at the first hint
    Session(game, playing, options).run()


def _opponent(game: Game, against: str | None, level: LevelName | None) -> str:
    """Whom the person plays against; ConfigError for a level that nobody has."""
    from palaestra.live.usual import usual_opponent

    usual = usual_opponent(game, level or LEVEL)
    if level is not None and (against is not None or not usual.startswith("agent:")):
        why = f"--against names {against}" if against is not None else f"no agent for {game.id} comes with the package"
        raise ConfigError(f"--level {level} is that of an agent of the package, and {why}; palaestra agents lists them")
    return usual if against is None else against


class Session:
    """A game in play at the terminal: reads lines, shows boards, and knows no rules."""

    def __init__(self, typed: str, playing: GameInPlay, options: list[str]) -> None:
        from palaestra.cli.output import stdout

        self.typed, self.options = typed, options  # as they were given: a user's game has no other name
        self.playing, self.game = playing, playing.game
        self.console = stdout()

    @property
    def opponent(self) -> Player | None:
        """Whom the person plays against; None alone, and against another person."""
        return next((player for player in self.playing.players if player is not None), None)

    @property
    def side(self) -> int:
        """The person's side; the one to move where two people play."""
        people = [side for side, player in enumerate(self.playing.players) if player is None]
        return people[0] if len(people) == 1 else self.playing.position.to_play

    def run(self) -> None:
        """Alternate until the game is over or the person leaves."""
        self._welcome()
        try:
            while not self.playing.is_over:
                if not self.playing.is_persons_turn:
                    self._answer()
                    continue
                self._draw()
                if not self._ask():
                    return
        except KeyboardInterrupt:
            self.console.print("\nInterrupted.", style="dim")
            self._how_to_go_on()
            raise
        self._draw()
        self._result()

    # The person.

    def _ask(self) -> bool:
        """Handle lines until the position or the turn changes; False when the person leaves."""
        shown = self.playing.position
        while self.playing.position is shown and self.playing.is_persons_turn:
            line = self._read()
            if line is None or line.lower() in ("quit", "exit"):
                self.console.print("Goodbye." if line else "\nThe input has ended; goodbye.", style="dim")
                self._how_to_go_on()
                return False
            if line.lower() == "resign":
                self.console.print(
                    "You resign." + (f" {self.opponent.text} wins." if self.opponent else ""), style="bold"
                )
                self._how_to_go_on()
                self.playing.resign(self.side)
                return False
            try:
                self._obey(line)
            except PalaestraError as error:
                self.console.print(str(error), style="red", markup=False)
        return True

    def _obey(self, line: str) -> None:
        word = line.lower()
        if word == "help":
            self._help()
        elif word == "moves":
            self.console.print("legal: " + ", ".join(self.playing.position.legal_moves), markup=False)
        elif word == "hint":
            self._hint()
        elif word == "undo":
            self.playing.undo()
            self.console.print("taken back", style="dim")
        elif word == "redo":
            self.playing.redo()
            self.console.print("played again", style="dim")
        elif word == "swap":
            self.playing.swap_sides()
            self.console.print(self._you(), style="dim", markup=False)
        elif line:
            self.playing.play(line)

    def _read(self) -> str | None:
        """A line, or None at the end of the input."""
        self.console.print("your move> ", end="", style="bold green")
        sys.stdout.flush()
        line = sys.stdin.readline()
        if line and not sys.stdin.isatty():
            self.console.print(line.strip(), markup=False)  # a pipe shows nothing that was typed
        return line.strip() if line else None

    def _hint(self) -> None:
        from palaestra.cli.analyse import print_analysis

        print_analysis(self.playing.hint(), draw=False)

    def _answer(self) -> None:
        from palaestra.cli.output import stderr

        mover = self.playing.mover
        assert mover is not None
        try:
            with stderr().status(f"{mover.text} is thinking"):
                self.playing.answer()
        except EngineError as error:  # a program that fails loses the game
            self.console.print(str(error), style="red", markup=False, soft_wrap=True)
            self.playing.resign()
            return
        move = self.playing.position.moves[-1]
        self.console.print(f"{mover.text} plays {move}", style="bold", markup=False)

    # What is shown.

    def _draw(self) -> None:
        from palaestra.cli.output import board

        states = self.playing.position.states
        self.console.print()
        self.console.print(board(self.game, states[-1], states[-2] if len(states) > 1 else None))

    def _welcome(self) -> None:
        from rich.text import Text

        if self.game.players == 1:
            words = f"{self.game.id}, alone"
        elif self.opponent is None:
            words = f"{self.game.id}, two people"
        else:
            words = f"{self.game.id} against {self.opponent.text}; {self._you()}"
        self.console.print(Text(words, style="bold"))
        legal = self.playing.position.legal_moves
        if legal:
            self.console.print(f"Type a move such as {legal[len(legal) // 2]}, or help.", style="dim", markup=False)

    def _you(self) -> str:
        """ "you play first (X)"."""
        from palaestra.live.words import SIDES

        return f"you play {SIDES[self.side]}{self._mark()}"

    def _mark(self) -> str:
        """ " (X)" where the person's stones have a letter."""
        return f" ({self.game.glyphs[self.side]})" if self.game.glyphs else ""

    def _help(self) -> None:
        from palaestra.live.words import SIDES

        if self.game.goal:
            self.console.print(self.game.goal, markup=False)
        if self.opponent is not None:
            self.console.print(f"You are the {SIDES[self.side]} player{self._mark()}.", markup=False)
        legal = self.playing.position.legal_moves
        self.console.print(
            f"A move is written as here: {', '.join(legal[:8])}{' …' if len(legal) > 8 else ''}", markup=False
        )
        for command, meaning in COMMANDS.items():
            self.console.print(f"  {command:8}{meaning}")

    def _result(self) -> None:
        words, points = self.playing.result or "", self.playing.points
        if self.opponent is not None and points is not None:
            own = points if self.side == 0 else 1.0 - points
            words += {1.0: ": you win!", 0.5: ".", 0.0: f": {self.opponent.text} beats you."}[own]
        self.console.print()
        self.console.print(words[0].upper() + words[1:], style="bold", markup=False)
        self._how_to_go_on()

    def _how_to_go_on(self) -> None:
        from palaestra.cli.output import command_name
        from palaestra.live.words import SIDES

        position = self.playing.position
        if not position.moves:
            return
        self.console.print(f"moves: {position.text}", markup=False, soft_wrap=True)
        if not position.is_over:
            sides = ["--against", self.playing.names()[1 - self.side], "--side", SIDES[self.side]]
            options = [*(sides if self.game.players == 2 else []), *self.options]
            again = shlex.join([command_name(), "play", self.typed, "--moves", position.text, *options])
            self.console.print(f"to go on: {again}", style="dim", markup=False, soft_wrap=True)
