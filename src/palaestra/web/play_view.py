"""A game at the board: a person, a player or two of them, moves back and forth, and everything around it.

The game is a `GameInPlay`; players think in the house's processes. What they think of a position is `thinking`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Iterator

from nicegui import Client, background_tasks, ui

from palaestra.base.errors import MoveError, PalaestraError
from palaestra.base.printable import escape
from palaestra.games.base import Game
from palaestra.games.overlay import has_spots
from palaestra.live.elsewhere import Elsewhere
from palaestra.live.game_in_play import PERSON, GameInPlay
from palaestra.live.usual import usual_adviser, usual_opponent
from palaestra.web import thoughts
from palaestra.web.address import Address
from palaestra.web.board import Board, MoveButtons, scene_of
from palaestra.web.first_visit import first_visit
from palaestra.web.frame import say
from palaestra.web.game_names import title
from palaestra.web.house import House
from palaestra.web.moves_list import MovesList
from palaestra.web.opponents import Agents
from palaestra.web.play_words import status_words
from palaestra.web.seats import Seats
from palaestra.web.thinking import Thinking

PACE = 0.6  # seconds between the moves of two players, so that a person can follow


class PlayView:
    """One tab's game. Made within the page's frame; `close` ends whatever it has asked for."""

    def __init__(
        self, house: House, text: str, game: Game, agents: list[Agents], address: Address, front: bool = False
    ) -> None:
        self.house, self.text, self.rules, self.agents = house, text, game, agents
        self.client: Client = ui.context.client
        self.adviser = usual_adviser(game)
        self.paused = False  # players do not move while a person looks around
        self._left = False  # whether nobody looks
        self._asked: asyncio.Task[None] | None = None
        self._hinting: asyncio.Task[None] | None = None
        self.game = self._begin(address)
        with ui.element("div").classes("pl-table"):
            with ui.element("div").classes("pl-board"):
                self._build_board()
            with ui.element("div").classes("pl-side"):
                if front:
                    first_visit(house)
                self.seats = Seats(self)
                self.thinking = Thinking(self)
        if address.at is not None:
            self.game.go(min(address.at, len(self.game.line)))
            self.paused = self.game.ply < len(self.game.line)
        self.show()
        self.answer()

    # How it looks.

    def _build_board(self) -> None:
        with ui.element("div").classes("pl-head"):
            ui.html(f"<h1>{escape(title(self.text))}</h1>", sanitize=False)
            with ui.element("div").classes("pl-status").props('role="status" aria-live="polite"') as self._status:
                self._spinner = ui.spinner(size="22px")
                self._words = ui.label("")
        self.board = Board(self.play)
        with ui.element("div").classes("pl-buttons"):
            self._buttons = {
                "undo": self._button("Undo", "undo", self.undo, "take the last move back (u)"),
                "redo": self._button("Redo", "redo", self.redo, "play again what was taken back"),
                "hint": self._button("Hint", "lightbulb", self.hint, "what would you play? (h)"),
                "go on": self._button("Go on", "play_arrow", self.go_on, "let the player move"),
                "pause": self._button("Pause", "pause", self.pause, "stop the players"),
                "resign": self._button("Resign", "flag", self.resign, "give the game up"),
                "opening": self._button("Opening", "shuffle", self.new_opening, "a new game after random moves"),
            }
            self._button("New game", "add", self.new_game, "begin again").classes("pl-main")
        if not has_spots(self.rules):
            self._build_moves()
        self.moves = MovesList(self.step)
        self.under = ui.element("div").classes("p-card p-wide")  # for the value over the game
        if has_spots(self.rules):
            self._build_moves()
        ui.label(self.rules.goal).classes("p-soft")

    def _button(self, words: str, icon: str, act: object, tip: str) -> ui.button:
        button = ui.button(words, icon=icon, on_click=act, color=None).props(f'flat no-caps dense aria-label="{words}"')  # type: ignore[arg-type]  # any handler
        return button.tooltip(tip)

    def _build_moves(self) -> None:
        with ui.element("div").classes("p-card pl-all"):
            with ui.expansion("All moves", icon="list").classes("p-wide").props("dense") as self._all:
                self.list = MoveButtons(self.play)

    # The game.

    def _begin(self, address: Address) -> GameInPlay:
        names = self._names(address)
        players = [None if name == PERSON else Elsewhere(self.rules, name) for name in names]
        seed = address.seed if address.seed is not None else random.randrange(1, 10**6)
        return GameInPlay(self.rules, players, moves=address.moves, seed=seed)

    def _names(self, address: Address) -> list[str]:
        """Who plays the sides: what the address says, and the usual ones elsewhere."""
        first, second = address.players
        usual = usual_opponent(self.rules)
        if self.rules.players == 1:
            names = [first or PERSON]
        else:
            names = [
                first or (PERSON if second != PERSON else usual),
                second or (PERSON if first not in (None, PERSON) else usual),
            ]
        for name in names:
            if name != PERSON:
                self.house.allowed.player(name)
        return names

    @property
    def is_open(self) -> bool:
        """Whether a person may move on the board: it is their turn, or players wait while they look around."""
        return self.game.is_persons_turn or (self.paused and not self.game.is_over)

    @property
    def is_thinking(self) -> bool:
        return self._asked is not None and not self._asked.done()

    def play(self, action: int) -> None:
        """A person's move."""
        with self._said():
            if self.is_open:
                self.game.play(action)
                self.go_on()

    def go_on(self) -> None:
        """Show the position, and let players move from it."""
        self.paused = False
        self.show()
        self.answer()

    def answer(self) -> None:
        """Let players move until it is a person's turn."""
        self._stop_asking()
        if not self.paused and not self.game.is_over and self.game.mover is not None:
            self._asked = background_tasks.create(self._answer(), name="answer", context=self.client)
            self._tell()

    async def _answer(self) -> None:
        try:
            while not self.paused and not self.game.is_over and (player := self.game.mover) is not None:
                began, position = time.monotonic(), self.game.position
                text = self.house.allowed.player(player.text)
                action = await self.house.moves.ask(thoughts.choose, self.text, position.text, text, self.game.seed)
                if None not in self.game.players:
                    await asyncio.sleep(max(0.0, PACE - (time.monotonic() - began)))
                self.game.play(action)
                self._asked = None if self.game.is_over or self.game.mover is None else self._asked
                self.show()
        except PalaestraError as error:
            self._asked, self.paused = None, True
            say(error)
            self.show()

    def _stop_asking(self) -> None:
        for task in (self._asked, self._hinting):
            if task is not None:
                task.cancel()
        self._asked = self._hinting = None

    # What a person does.

    def undo(self) -> None:
        self._look(self.game.undo)

    def redo(self) -> None:
        self._look(self.game.redo)

    def step(self, ply: int) -> None:
        """Look at another position of the line."""
        ply = min(max(ply, 0), len(self.game.line))
        if ply != self.game.ply:
            self._look(lambda: self.game.go(ply))

    def _look(self, there: Callable[[], object]) -> None:
        """Go to another position of the line; players wait there."""
        with self._said():
            self._stop_asking()
            there()
            self.paused = self.game.mover is not None
            self.show()

    def pause(self) -> None:
        self._stop_asking()
        self.paused = True
        self.show()

    def resign(self) -> None:
        with self._said():
            people = [side for side, player in enumerate(self.game.players) if player is None]
            self._stop_asking()
            self.game.resign(people[0] if len(people) == 1 else None)
            self.show()

    def swap(self) -> None:
        self.game.swap_sides()
        self.seats.show()
        self.go_on()

    def seat(self, side: int, name: str) -> None:
        """Somebody else plays a side from now on."""
        self._stop_asking()
        self.game.players[side] = None if name == PERSON else Elsewhere(self.rules, name)
        self.go_on()

    def new_game(self, moves: str = "") -> None:
        with self._said():
            self._stop_asking()
            self.game = GameInPlay(self.rules, list(self.game.players), moves=moves, seed=random.randrange(1, 10**6))
            self.go_on()

    async def new_opening(self) -> None:
        with self._said():
            self._stop_asking()
            seed = random.randrange(1, 10**6)
            self.new_game(await self.house.moves.ask(thoughts.opening, self.text, seed))

    def load(self, game: GameInPlay) -> None:
        """Go on with a game from elsewhere, of the same rules."""
        self._stop_asking()
        self.game, self.paused = game, True
        self.show()

    def hint(self) -> None:
        if self.is_open and not (self._hinting and not self._hinting.done()):
            self._hinting = background_tasks.create(self._hint(), name="hint", context=self.client)

    async def _hint(self) -> None:
        with self._said():
            self._tell("Looking for a hint …")
            text = self.game.position.text
            found = await self.house.moves.ask(thoughts.think, self.text, text, self.adviser, self.game.seed)
            if text == self.game.position.text and self.is_open:
                self.board.hint(found.analysis.action)
                self._tell(f"Hint: {found.move}")
                if not self.board.has_targets:
                    self._all.open()

    async def key(self, key: str) -> None:
        """A key of the keyboard that no field has taken."""
        steps = {"ArrowLeft": self.game.ply - 1, "ArrowRight": self.game.ply + 1, "Home": 0, "End": len(self.game.line)}
        if key in steps:
            self.step(steps[key])
        elif key == "u":
            self.undo()
        elif key == "h":
            self.hint()
        elif key == " ":
            self.thinking.toggle()

    # What is shown.

    def show(self) -> None:
        """The position that the game is at now."""
        position = self.game.position
        self.board.show(scene_of(position, position.svg()), is_open=self.is_open)
        self.list.show(position.legal if self.is_open else {})
        if self.is_open and not self.board.has_targets and position.legal:
            self._all.open()
        self.thinking.position_changed()
        self.moves.show(self.game, self.thinking.marks())
        self._tell()
        self.write_address()

    def _tell(self, words: str | None = None) -> None:
        """Whose turn it is, or how it ended."""
        game, waits = self.game, self.is_thinking
        said, mood = status_words(game, waits, self.paused)
        self._words.text = words or said
        self._spinner.visible = waits or words == "Looking for a hint …"
        self._status.classes(replace=f"pl-status {mood}")
        alone = None not in game.players
        shown = {
            "go on": not game.is_over and not waits and game.mover is not None,
            "pause": waits and alone,
            "resign": not alone,
        }
        for name, visible in shown.items():
            self._buttons[name].visible = visible
        document = game.document()
        self._buttons["undo"].set_enabled(document["can_undo"])
        self._buttons["redo"].set_enabled(document["can_redo"])
        self._buttons["hint"].set_enabled(self.is_open)
        self._buttons["resign"].set_enabled(not game.is_over)

    def address(self) -> Address:
        game = self.game
        whole = " ".join([*self._start(), *game.game.line_to_texts(game.position.states[0], game.line)])
        names = [*game.names(), None][:2]
        at = game.ply if game.ply < len(game.line) else None
        return Address(self.text, (names[0], names[1]), whole, at, game.seed, think=self.thinking.address())

    def _start(self) -> list[str]:
        return [f"@{self.game.position.start}"] if self.rules.num_starts > 1 else []

    def write_address(self) -> None:
        with self.client:
            ui.navigate.history.replace(str(self.address()))

    @contextlib.contextmanager
    def _said(self) -> Iterator[None]:
        """What a person can do wrong is said, and nothing happens."""
        try:
            yield
        except PalaestraError as error:
            with self.client:
                say(error, wrong=not isinstance(error, MoveError))

    # The end.

    def close(self) -> None:
        """Nobody looks any more: take back what was asked."""
        self._left = True
        self._stop_asking()
        self.thinking.stop()

    def wake(self) -> None:
        """Somebody looks again."""
        if self._left:
            self._left = False
            self.answer()
            self.thinking.position_changed()
