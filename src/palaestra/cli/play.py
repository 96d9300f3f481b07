"""`palaestra play`: a person against a player, in the terminal or through pipes."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from palaestra.base.errors import MoveError, PalaestraError
from palaestra.base.text import whole_number
from palaestra.cli import complete
from palaestra.cli.options import GameId, Moves, Seed

if TYPE_CHECKING:
    from palaestra.base.types import Int8s
    from palaestra.games.base import Game
    from palaestra.players.base import Player
    from palaestra.players.exact import InstantJudge

COMMANDS = {
    "undo": "take back your last move (and the answer to it)",
    "hint": "what the adviser would play, with its policy and value",
    "moves": "the legal moves",
    "resign": "give the game up",
    "help": "the goal of the game, and this list",
    "quit": "leave",
}


def play(
    game: GameId,
    against: Annotated[
        str,
        typer.Option("--against", "-a", metavar="PLAYER", help="Your opponent.", autocompletion=complete.players),
    ] = "uct(simulations=1000)",
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
    """Play in the terminal. Type moves as the game writes them, or: undo, hint, moves, resign, help, quit."""
    from palaestra.cli.analyse import default_adviser
    from palaestra.games.registry import make_game
    from palaestra.players.registry import make_player

    rules = make_game(game)
    opponent = make_player(against, rules) if rules.players == 2 else None
    helper = make_player(adviser or default_adviser(rules), rules)
    options = ["--against", against, "--side", side] if opponent is not None else []
    options += ["--adviser", adviser] if adviser else []
    options += ["--seed", str(seed)] if seed else []
    Session(game, rules, opponent, helper, 0 if side == "first" else 1, moves, seed, options).run()


class Session:
    """One game: `states` holds every position so far, so that moves can be taken back."""

    def __init__(
        self,
        typed: str,
        game: Game,
        opponent: Player | None,
        adviser: Player,
        side: int,
        moves: str,
        seed: int,
        options: list[str],
    ) -> None:
        import numpy as np

        from palaestra.cli.output import stdout

        self.typed, self.options = typed, options  # as they were given: a user's game has no other name
        self.game, self.opponent, self.adviser, self.side, self.seed = game, opponent, adviser, side, seed
        self.start = int(np.random.default_rng(seed).integers(game.num_starts))
        if moves.lstrip().startswith("@"):
            self.start = whole_number(moves.split()[0][1:]) or 0  # what is no number is refused below
        elif game.num_starts > 1:
            moves = f"@{self.start} {moves}"
        self.states: list[Int8s] = list(game.replay(moves))
        self.written: list[str] = self._written()
        self.console = stdout()
        self._judge: InstantJudge | None = None  # made when the first hint is asked for

    def run(self) -> None:
        """Alternate until the game is over or the person leaves."""
        self._welcome()
        try:
            while not self._over():
                if self.opponent is not None and int(self.states[-1][0]) != self.side:
                    self._answer(self.opponent)
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
        """Handle lines until the position changes; False when the person leaves."""
        shown = len(self.states)
        while len(self.states) == shown:
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
            self.console.print("legal: " + ", ".join(self._legal()), markup=False)
        elif word == "hint":
            self._hint()
        elif word == "undo":
            self._undo()
        elif line:
            self._play(self.game.text_to_action(self.states[-1], line))

    def _read(self) -> str | None:
        """A line, or None at the end of the input."""
        self.console.print("your move> ", end="", style="bold green")
        sys.stdout.flush()
        line = sys.stdin.readline()
        if line and not sys.stdin.isatty():
            self.console.print(line.strip(), markup=False)  # a pipe shows nothing that was typed
        return line.strip() if line else None

    def _undo(self) -> None:
        """Back to the person's turn before this one."""
        turns = [i for i, state in enumerate(self.states[:-1]) if self.opponent is None or int(state[0]) == self.side]
        if not turns:
            raise MoveError("there is no move of yours to take back")
        del self.states[turns[-1] + 1 :]
        del self.written[turns[-1] :]
        if self.opponent is not None:
            self.opponent.forget()
        self.console.print("taken back", style="dim")

    def _hint(self) -> None:
        import numpy as np

        from palaestra.cli.analyse import print_analysis
        from palaestra.players.exact import InstantJudge

        rng = np.random.default_rng([self.seed, len(self.states)])
        analysis = self.adviser.analyse(self.states[-1], rng)
        if self._judge is None:
            self._judge = InstantJudge(self.game)
        analysis = self._judge.complete(self.states[-1], analysis)
        print_analysis(self.game, self.states[-1], analysis, self.adviser.text, draw=False)

    # Moves.

    def _play(self, action: int) -> None:
        import numpy as np

        state = self.states[-1]
        self.written.append(self.game.action_to_text(state, action))
        self.states.append(self.game.advance(state[None], np.array([action], dtype=np.int32))[0])

    def _answer(self, opponent: Player) -> None:
        import numpy as np

        from palaestra.base.streams import keyed_seeds
        from palaestra.cli.output import stderr

        stream = keyed_seeds(self.seed, len(self.states))
        with stderr().status(f"{opponent.text} is thinking"):
            action = int(opponent.act(self.states[-1][None], stream, np.zeros(1, dtype=np.int64))[0])
        self._play(action)
        self.console.print(f"{opponent.text} plays {self.written[-1]}", style="bold", markup=False)

    # What is shown.

    def _draw(self) -> None:
        from palaestra.cli.output import board

        self.console.print()
        self.console.print(board(self.game, self.states[-1], self.states[-2] if len(self.states) > 1 else None))

    def _welcome(self) -> None:
        from rich.text import Text

        from palaestra.cli.output import SIDES

        if self.opponent is None:
            words = f"{self.game.id}, alone"
        else:
            words = f"{self.game.id} against {self.opponent.text}; you play {SIDES[self.side]}{self._mark()}"
        self.console.print(Text(words, style="bold"))
        legal = self._legal()
        if legal:
            self.console.print(f"Type a move such as {legal[len(legal) // 2]}, or help.", style="dim", markup=False)

    def _mark(self) -> str:
        """ " (X)" where the person's stones have a letter."""
        return f" ({self.game.glyphs[self.side]})" if self.game.glyphs else ""

    def _help(self) -> None:
        from palaestra.cli.output import SIDES

        if self.game.goal:
            self.console.print(self.game.goal, markup=False)
        if self.opponent is not None:
            self.console.print(f"You are the {SIDES[self.side]} player{self._mark()}.", markup=False)
        legal = self._legal()
        self.console.print(
            f"A move is written as here: {', '.join(legal[:8])}{' …' if len(legal) > 8 else ''}", markup=False
        )
        for command, meaning in COMMANDS.items():
            self.console.print(f"  {command:8}{meaning}")

    def _result(self) -> None:
        from palaestra.cli.output import outcome_in_words
        from palaestra.rewards.base import Primitive

        words = outcome_in_words(self.game, self.states[-1])
        if self.opponent is not None:
            value = float(Primitive().value(self.game.outcome(self.states[-1][None]))[0]) * (1 - 2 * self.side)
            words += {1.0: ": you win!", 0.0: ".", -1.0: f": {self.opponent.text} beats you."}[value]
        self.console.print()
        self.console.print(words[0].upper() + words[1:], style="bold", markup=False)
        self._how_to_go_on()

    def _how_to_go_on(self) -> None:
        from palaestra.cli.output import command_name

        if not self.written:
            return
        moves = " ".join(self.written)
        if self.game.num_starts > 1:
            moves = f"@{self.start} {moves}"
        self.console.print(f"moves: {moves}", markup=False, soft_wrap=True)
        if not self._over():
            again = shlex.join([command_name(), "play", self.typed, "--moves", moves, *self.options])
            self.console.print(f"to go on: {again}", style="dim", markup=False, soft_wrap=True)

    def _legal(self) -> list[str]:
        from palaestra.cli.analyse import legal_texts

        return [text for _, text in legal_texts(self.game, self.states[-1])]

    def _over(self) -> bool:
        from palaestra.games.rows import ONGOING

        return int(self.game.outcome(self.states[-1][None])[0]) != ONGOING

    def _written(self) -> list[str]:
        """The moves between the given states, in the game's notation."""
        from palaestra.cli.analyse import action_between

        pairs = zip(self.states, self.states[1:], strict=False)
        return [self.game.action_to_text(before, action_between(self.game, before, after)) for before, after in pairs]
