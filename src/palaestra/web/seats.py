"""Which game is played and by whom, chosen from lists with search; games in and out as PGN."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from palaestra.base.errors import PalaestraError, RecordError
from palaestra.games.base import Game
from palaestra.live.game_in_play import PERSON, GameInPlay
from palaestra.runs.pgn_games import read_games
from palaestra.web.address import Address
from palaestra.web.frame import held_weakly, say
from palaestra.web.game_names import canonical, find_game, title
from palaestra.web.house import House
from palaestra.web.opponents import options

if TYPE_CHECKING:
    from palaestra.web.play_view import PlayView

MOST_PGN = 2**20  # bytes of a file with a game


class Seats:
    """The card beside the board."""

    def __init__(self, view: PlayView) -> None:
        self.view = view
        two = view.rules.players == 2
        with ui.element("section").classes("p-card").props('aria-label="game and players"'):
            game_choice(view.house, view.text)
            labels = ["First player", "Second player"] if two else ["Player"]
            self._choices = [self._choice(side, label) for side, label in enumerate(labels)]
            if two:
                with ui.element("div").classes("pl-buttons"):
                    swap = ui.button("Swap sides", icon="swap_vert", on_click=view.swap, color=None)
                    swap.props('flat dense no-caps aria-label="Swap sides"')
            with ui.expansion("Save and load", icon="save").classes("p-wide").props("dense"):
                self._build_files()
        self.show()

    def _choice(self, side: int, label: str) -> ui.select:
        name = self.view.game.names()[side]
        offered = options(self.view.rules, self.view.agents, person=True)
        return player_choice(offered, name, label, lambda text: self._seat(side, text)).classes("p-wide")

    def show(self) -> None:
        """Who sits where now."""
        for choice, name in zip(self._choices, self.view.game.names(), strict=True):
            set_choice(choice, name)

    def _seat(self, side: int, text: str) -> None:
        if text == self.view.game.names()[side]:
            return
        try:
            if text != PERSON:
                self.view.house.allowed.player(text)
        except PalaestraError as error:
            say(error)
            self.show()
            return
        self.view.seat(side, text)

    # Files.

    def _build_files(self) -> None:
        with ui.element("div").classes("pl-buttons"):
            ui.button("Save as PGN", icon="download", on_click=self._save, color=None).props(
                'flat dense no-caps aria-label="Save as PGN"'
            )
            ui.button("Copy link", icon="link", on_click=self._copy, color=None).props(
                'flat dense no-caps aria-label="Copy link"'
            )
        ui.upload(
            label="Drop a PGN file here, or choose one with +",
            auto_upload=True,
            max_file_size=MOST_PGN,
            on_upload=held_weakly(self._load),
            on_rejected=lambda: say(f"a game's file has {MOST_PGN // 1024} KB at most"),
        ).props('accept=".pgn,.txt" aria-label="load PGN"').classes("pl-drop p-wide")

    def _save(self) -> None:
        game, ply = self.view.game, self.view.game.ply
        text = game.go(len(game.line)).pgn()
        game.go(ply)
        name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in self.view.rules.id)
        ui.download.content(text, f"{name}.pgn", "application/x-chess-pgn")

    def _copy(self) -> None:
        ui.run_javascript("navigator.clipboard?.writeText(location.href)")
        say("the address of this position is copied", wrong=False)

    async def _load(self, event: events.UploadEventArguments) -> None:
        try:
            data = await event.file.read()
            text, game = await asyncio.to_thread(self._read, data)
            if text == self.view.text:
                self.view.load(game)
            else:
                ui.navigate.to(str(Address(text, moves=game.position.text, at=game.ply)))
        except PalaestraError as error:
            say(error)
        finally:
            event.sender.reset()  # type: ignore[attr-defined]  # an upload has it

    def _read(self, data: bytes) -> tuple[str, GameInPlay]:
        """The first game of a file, and the text of its rules: those of the page, or others that a browser may name."""
        text = data.decode("utf-8", errors="replace")
        played = next(iter(read_games(text)), None)
        if played is None:
            raise RecordError("there is no game in this file; a PGN file has tags and moves")
        view, named = self.view, played.tags.get("Variant", "")
        if not named or view.rules.is_called(named):
            rules, name = view.rules, view.text
        else:
            name, rules = self._rules(named)
        seats = list(view.game.players) if rules.players == view.rules.players else [None] * rules.players
        return name, GameInPlay.from_pgn(text, seats, game=rules)

    def _rules(self, named: str) -> tuple[str, Game]:
        house = self.view.house
        for own in house.own_games:
            if own not in house.for_roles and (game := find_game(house, own)) is not None and game.is_called(named):
                return own, game
        return canonical(house, named), house.allowed.game(named)


def game_choice(house: House, text: str) -> ui.select:
    """A list of games; choosing one, or typing another size, leads to it."""
    offered = {name: title(name) for name in house.games()}
    offered.setdefault(text, title(text))

    async def choose(event: events.ValueChangeEventArguments[Any]) -> None:
        chosen = event.value
        if not isinstance(chosen, str) or chosen == text:
            return
        try:
            name = await asyncio.to_thread(_named, house, chosen)
            ui.navigate.to(str(Address(name)))
        except PalaestraError as error:
            say(error)
            set_choice(choice, text)

    choice = ui.select(
        offered, label="Game (search, or type another size such as hex-7x7)", value=text, new_value_mode="add-unique",
        key_generator=lambda value: value, on_change=choose,
    )  # fmt: skip
    return choice.props('dense outlined options-dense aria-label="Game"').classes("p-wide")


def _named(house: House, text: str) -> str:
    find_game(house, text)
    return canonical(house, text)


def player_choice(offered: dict[str, str], value: str, label: str, chosen: Any) -> ui.select:
    """A list of players; any other text may be typed. `chosen` is called with the text."""

    def change(event: events.ValueChangeEventArguments[Any]) -> None:
        if isinstance(event.value, str):
            chosen(event.value.strip())

    shown = {**offered}
    shown.setdefault(value, value)
    choice = ui.select(
        shown, label=label, value=value, new_value_mode="add-unique", key_generator=lambda text: text.strip(),
        on_change=change,
    )  # fmt: skip
    return choice.props(f'dense outlined options-dense aria-label="{label}"')


def set_choice(choice: ui.select, value: str) -> None:
    """Show a value that may not be in the list yet."""
    if isinstance(choice.options, dict) and value not in choice.options:
        choice.options[value] = value
        choice.update()
    choice.value = value
