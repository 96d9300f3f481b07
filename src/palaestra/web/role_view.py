"""A game in GDL of several roles, or of moves made at once: one role is the person's, players have the others.

Rules and players live in the house's processes; this page has a document of where the game stands (`live.role_play`).
"""

from __future__ import annotations

import asyncio
import random

from nicegui import Client, background_tasks, events, ui

from palaestra.base.errors import GdlError, MoveError, PalaestraError
from palaestra.base.printable import escape, printable
from palaestra.ggp.kif import read_kif, term_text
from palaestra.live.role_play import RoleDocument
from palaestra.live.targets import Target
from palaestra.web import thoughts
from palaestra.web.address import Address
from palaestra.web.board import Board, MoveButtons, Scene
from palaestra.web.frame import say
from palaestra.web.game_names import title
from palaestra.web.house import House
from palaestra.web.moves_list import step_buttons
from palaestra.web.seats import game_choice, player_choice, set_choice

OTHERS = {
    "uct(ms=300)": "uct(ms=300) – tree search, a third of a second",
    "uct(ms=1000)": "uct(ms=1000) – tree search, a second",
    "mcs(ms=300)": "mcs(ms=300) – random games without a tree",
    "random": "random – any legal move",
}
USUAL, WATCH = "uct(ms=300)", "nobody: only watch"
_TURN = '(e) => { const b = e.target.closest("[data-turn]"); if (b) emit(Number(b.dataset.turn)); }'
PACE = 0.6  # seconds between turns that no person takes part in


class RoleView:
    """One tab's game of roles. `open` makes one."""

    def __init__(self, house: House, text: str, document: RoleDocument, address: Address) -> None:
        self.house, self.text, self.document = house, text, document
        self.client: Client = ui.context.client
        self.line = document["turns"]  # also the turns after the one that is looked at
        self.seed = address.seed or random.randrange(1, 10**6)
        self.role: str | None = document["roles"][0]
        if address.role is not None:
            known = [*document["roles"], WATCH]
            if address.role not in known:
                raise GdlError(f"{address.role!r} is no role of this game; they are {', '.join(known)}")
            self.role = None if address.role == WATCH else address.role
        self.others = address.players[1] or USUAL
        house.allowed.player(self.others)
        self.paused = False
        self._asked: asyncio.Task[None] | None = None
        with ui.element("div").classes("pl-table"):
            with ui.element("div").classes("pl-board"):
                self._build_board()
            with ui.element("div").classes("pl-side"):
                self._build_side()
        self.show()
        self.go_on()

    @classmethod
    async def open(cls, house: House, text: str, address: Address) -> RoleView:
        """The game of an address; what is wrong with it is raised."""
        begun: RoleDocument = await house.moves.ask(thoughts.roles, text, [])
        turns = read_turns(address.moves, len(begun["roles"]))
        document = await house.moves.ask(thoughts.roles, text, turns) if turns else begun
        view = cls(house, text, document, address)
        if address.at is not None and address.at < len(turns):
            await view.step(address.at)
        return view

    # How it looks.

    def _build_board(self) -> None:
        with ui.element("div").classes("pl-head"):
            ui.html(f"<h1>{escape(title(self.text))}</h1>", sanitize=False)
            ui.label("All roles move at once; reach the highest goal.").classes("p-soft")
        self._facts = ui.label("").classes("pl-facts").props('role="img" aria-label="state of the game"')
        self.board = Board(self.play)
        with ui.element("div").classes("pl-status").props('role="status" aria-live="polite"'):
            self._spinner = ui.spinner(size="22px")
            self._words = ui.label("")
        self.moves = MoveButtons(self.play)
        with ui.element("div").classes("pl-buttons"):
            self._button("Undo", "undo", self.undo)
            self._pause = self._button("Pause", "pause", self.pause)
            self._on = self._button("Go on", "play_arrow", self.resume)
            self._button("New game", "add", self.new_game).classes("pl-main")
        self._where = step_buttons("turn", lambda: (len(self.turns), len(self.line)), self.step)
        if self.document["note"]:
            ui.label(printable(self.document["note"])).classes("p-soft")

    def _button(self, words: str, icon: str, act: object) -> ui.button:
        return ui.button(words, icon=icon, on_click=act, color=None).props(f'flat no-caps dense aria-label="{words}"')  # type: ignore[arg-type]  # any handler

    def _build_side(self) -> None:
        with ui.element("section").classes("p-card").props('aria-label="game and players"'):
            game_choice(self.house, self.text)
            names = [*self.document["roles"], WATCH]
            role = ui.select(names, value=self.role or WATCH, label="Your role", on_change=self._on_role)
            role.props('dense outlined aria-label="Your role"').classes("p-wide q-mt-sm")
            self._choice = player_choice(OTHERS, self.others, "The other roles", self._on_others)
            self._choice.classes("p-wide q-mt-sm")
        with ui.element("section").classes("p-card").props('aria-label="turns"'):
            self._table = ui.html("", sanitize=False).classes("p-scroll pl-turns")
            self._table.on("click", self._on_turn, js_handler=_TURN)

    def show(self) -> None:
        """Where the game stands now."""
        document = self.document
        self._facts.text = printable(document["board"])
        self._facts.visible = not document["svg"]
        self.board.frame.visible = bool(document["svg"])
        if document["svg"]:
            self.board.show(self._scene(), is_open=self._is_open)
        self.moves.show(self._own() if self._is_open else {})
        head = "".join(f"<th>{escape(role)}</th>" for role in ("turn", *document["roles"]))
        rows = "".join(
            f'<tr class="{self._look_of(number)}"><td><button type="button" data-turn="{number}"'
            f' aria-label="after turn {number}">{number}</button></td>'
            + "".join(f"<td>{escape(move)}</td>" for move in turn)
            + "</tr>"
            for number, turn in reversed(list(enumerate(self.line, start=1)))
        )
        last = len(self.line)
        self._where.text = f"after {len(self.turns)} of {last} turns" if last else "no turn yet"
        self._table.content = f'<table class="pt-table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        self._tell()
        moves = " ".join(move for turn in self.line for move in turn)
        at = len(self.turns) if len(self.turns) < last else None
        address = Address(self.text, (None, self.others), moves, at, self.seed, role=self.role or WATCH)
        with self.client:
            ui.navigate.history.replace(str(address))

    def _look_of(self, number: int) -> str:
        return "pl-now" if number == len(self.turns) else "pl-later" if number > len(self.turns) else ""

    def _scene(self) -> Scene:
        """The board, and where the person's moves stand."""
        document = self.document
        targets = [
            Target(tuple(one["moves"]), one["name"], tuple(one["outline"]))
            for one in document["targets"].get(self.role or "", [])
        ]
        moves = {number: move for move, number in self._own().items()}
        return Scene(f"board of {self.text} after {len(self.turns)} turns", document["svg"], moves, targets)

    def _tell(self) -> None:
        document, waits = self.document, self._asked is not None
        if document["goals"] is not None:
            goals = ", ".join(f"{role} {goal}" for role, goal in document["goals"].items())
            words = f"The game is over; goals: {goals}"
        elif waits:
            words = f"{self.others} is thinking …"
        elif self._is_open:
            words = f"Your move as {self.role}"
        else:
            words = "Stopped"
        self._words.text = printable(words)
        self._spinner.visible = waits
        self._pause.visible = waits and self.role is None
        self._on.visible = not waits and not document["over"] and not self._is_open

    # The game.

    @property
    def turns(self) -> list[list[str]]:
        """Those that led to the position that is shown."""
        return self.document["turns"]

    @property
    def _is_open(self) -> bool:
        return self._asked is None and self.role is not None and len(self._own()) > 1

    def _own(self) -> dict[str, int]:
        """The person's moves, numbered."""
        legal = self.document["legal"].get(self.role or "", [])
        return {move: number for number, move in enumerate(legal)}

    def play(self, number: int) -> None:
        """The person's move of this turn."""
        if self._is_open:
            move = self.document["legal"][self.role or ""][number]
            self.paused = False
            self._start(move)

    def go_on(self) -> None:
        """Turns without a choice of the person are played by the others."""
        if self._asked is None and not self.paused and not self.document["over"] and not self._is_open:
            self._start(None)

    def _start(self, move: str | None) -> None:
        self._asked = background_tasks.create(self._turn(move), name="turn", context=self.client)
        self.moves.show({})
        self._tell()

    async def _turn(self, move: str | None) -> None:
        """One turn of all roles, and those after it in which the person has nothing to choose."""
        try:
            while True:
                joint = await self._joint(move)
                self.document = await self.house.moves.ask(thoughts.roles, self.text, [*self.turns, joint])
                self.line = self.turns
                move = None
                self.show()
                if self.document["over"] or len(self._own()) > 1 or self.paused:
                    break
                if self.role is None:
                    await asyncio.sleep(PACE)
        except PalaestraError as error:
            self.paused = True
            say(error)
        self._asked = None
        self.show()

    async def _joint(self, move: str | None) -> list[str]:
        """A move of every role: the person's, the only one, or the one that a player chooses."""
        legal = self.document["legal"]
        player = self.house.allowed.player(self.others)

        async def choose(role: str) -> str:
            if role == self.role and move is not None:
                return move
            if len(legal[role]) == 1:
                return legal[role][0]
            ask = self.house.moves.ask(thoughts.choose_role, self.text, self.turns, role, player, self.seed)
            return str(await ask)

        return list(await asyncio.gather(*map(choose, legal)))

    # What a person does.

    async def undo(self) -> None:
        """Back to the last turn in which the person had a choice."""
        while self.turns:
            await self.step(len(self.turns) - 1)
            if self.role is None or len(self._own()) > 1:
                break

    async def step(self, at: int) -> None:
        """Look at the position after so many turns; a move made there begins a new line."""
        self._stop()
        at = min(max(at, 0), len(self.line))
        try:
            self.document = await self.house.moves.ask(thoughts.roles, self.text, self.line[:at])
        except PalaestraError as error:
            say(error)
        self.paused = True
        self.show()

    async def _on_turn(self, event: events.GenericEventArguments) -> None:
        if isinstance(event.args, int):
            await self.step(event.args)

    async def new_game(self) -> None:
        self._stop()
        self.document = await self.house.moves.ask(thoughts.roles, self.text, [])
        self.line, self.paused = [], False
        self.show()
        self.go_on()

    def pause(self) -> None:
        self._stop()
        self.paused = True
        self.show()

    def resume(self) -> None:
        self.paused = False
        self.go_on()

    def _on_role(self, event: events.ValueChangeEventArguments[str]) -> None:
        self._stop()
        self.role = None if event.value == WATCH else event.value
        self.paused = False
        self.show()
        self.go_on()

    def _on_others(self, text: str) -> None:
        try:
            self.house.allowed.player(text)
            self.others = text
            self.show()
        except PalaestraError as error:
            say(error)
            set_choice(self._choice, self.others)

    async def key(self, key: str) -> None:
        here = len(self.turns)
        steps = {"ArrowLeft": here - 1, "ArrowRight": here + 1, "Home": 0, "End": len(self.line)}
        if key in steps:
            await self.step(steps[key])
        elif key == "u":
            await self.undo()

    def _stop(self) -> None:
        if self._asked is not None:
            self._asked.cancel()
            self._asked = None

    def close(self) -> None:
        """Nobody looks any more."""
        self._stop()

    def wake(self) -> None:
        """Somebody looks again."""
        self.go_on()


def read_turns(text: str, roles: int) -> list[list[str]]:
    """Turns from a line of moves, one of each role after the other; MoveError if that does not come out even."""
    try:
        moves = [term_text(form.term) for form in read_kif(text)]
    except GdlError as error:
        raise MoveError(f"the moves of the address cannot be read: {error}") from None
    if len(moves) % roles:
        raise MoveError(f"the address has {len(moves)} moves, and a turn has one of each of {roles} roles")
    return [moves[at : at + roles] for at in range(0, len(moves), roles)]
