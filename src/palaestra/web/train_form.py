"""The form that starts a run: game, preset, end, and any setting, explained; with the command that it stands for."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import quote

from nicegui import ui
from nicegui.events import ValueChangeEventArguments

from palaestra.base.cores import usable_cores
from palaestra.base.errors import PalaestraError
from palaestra.base.printable import printable
from palaestra.learn.catalogue import Setting, catalogue, shown
from palaestra.learn.presets import NAMES, default_preset, load_preset
from palaestra.web import training
from palaestra.web.house import House
from palaestra.web.parts import guarded
from palaestra.web.parts import title as heading
from palaestra.web.training import OWN_FIELDS

GAME, MINUTES = "connect_four-5x5", 2.0


class TrainForm:
    """What is wrong stands below the fields while one types; what can be started shows its command."""

    def __init__(self, house: House, game: str = "") -> None:
        self._house = house
        self._catalogue = {one.name: one for one in catalogue() if one.name not in OWN_FIELDS}
        self._inputs: dict[str, ui.input] = {}
        self._checking = 0
        with ui.element("div").classes("w-stack") as self._box:
            ui.label("Train a game").classes("w-title").props('role="heading" aria-level="1"')
            with ui.element("div").classes("p-columns"):
                with ui.element("section").classes("p-card w-stack").style("flex: 1 1 420px"):
                    self._what(game)
                with ui.element("section").classes("p-card w-stack").style("flex: 1 1 420px"):
                    self._settings()
            self._end()
        self._changed()

    # Fields.

    def _what(self, game: str) -> None:
        games = self._house.games()
        given = game[:200] or GAME
        self._game = ui.select(
            list(dict.fromkeys([*games, given])), value=given, label="game", with_input=True,
            new_value_mode="add-unique", on_change=self._game_changed,
        ).props("dense outlined options-dense").classes("p-wide")  # fmt: skip
        ui.label("preset").classes("p-soft w-caption")
        options = {name: f"{name}: {load_preset(name).about}" for name in NAMES}
        self._usual = self._usual_preset(given, MINUTES, None)
        self._preset = ui.radio(options, value=self._usual, on_change=self._changed).classes("w-presets")
        self._expect = ui.label("").classes("p-soft w-caption")
        with ui.element("div").classes("w-picks"):
            self._ends = ui.toggle(["minutes", "iterations"], value="minutes", on_change=self._changed)
            self._ends.props("dense no-caps unelevated").classes("w-toggle")
            self._length = ui.number("how many", value=MINUTES, min=0.1, on_change=self._changed).props(
                "dense outlined"
            )
        with ui.element("div").classes("w-picks"):
            self._seed = ui.number("seed", value=0, min=0, step=1, on_change=self._changed).props("dense outlined")
            self._threads = ui.number(
                f"threads (1–{usable_cores()})", min=1, max=1024, step=1, on_change=self._changed
            ).props('dense outlined placeholder="as the preset says"')
            self._name = ui.input("name (made for you if empty)", on_change=self._changed).props("dense outlined")

    def _settings(self) -> None:
        heading("Settings")
        ui.label("The preset sets them all. Search for one to change it.").classes("p-soft")
        names = {name: f"{name}: {one.description}" for name, one in self._catalogue.items()}
        self._add = ui.select(names, label="add a setting", with_input=True, on_change=self._on_add)
        self._add.props("dense outlined options-dense clearable").classes("p-wide")
        self._rows = ui.element("div").classes("p-wide")

    def _end(self) -> None:
        with ui.element("section").classes("p-card w-stack"):
            self._problem = ui.label("").classes("px-wrong").props('role="alert"')
            with ui.element("div").classes("px-row"):
                self._line = ui.label("").classes("w-log").style("flex: 1 1 300px").props('aria-label="the command"')
                ui.button("Copy", icon="content_copy", on_click=lambda: ui.clipboard.write(self._line.text)).props(
                    "flat"
                ).classes("px-quiet")
            self._start = ui.button("Start", icon="school", on_click=guarded(self._on_start)).props("unelevated")
            self._start.classes("px-main").style("align-self: flex-start")
            ui.label("It goes on when this page is closed, and can be stopped and resumed at any time.").classes(
                "p-soft"
            )

    # What one does.

    def _usual_preset(self, game: str, minutes: float | None, iterations: float | None) -> str:
        try:
            return default_preset(self._house.allowed.game(game), minutes, iterations)
        except PalaestraError:
            return NAMES[0]

    def _game_changed(self) -> None:
        self._preset.value = self._usual
        self._changed()

    def _follow(self) -> None:
        """Whoever has chosen no preset has the usual one of the game and the time."""
        wishes, before = self.wishes(), self._usual
        self._usual = self._usual_preset(wishes["game"], wishes["minutes"], wishes["iterations"])
        if self._preset.value == before:
            self._preset.value = self._usual

    def _on_add(self, event: ValueChangeEventArguments[Any]) -> None:
        name = event.value
        if isinstance(name, str) and name in self._catalogue and name not in self._inputs:
            with self._rows:
                self._row(self._catalogue[name])
            self._changed()
        if name is not None:
            self._add.value = None

    def _row(self, setting: Setting) -> None:
        name = setting.name
        preset = self._preset.value if self._preset.value in NAMES else None
        value = setting.value(preset)
        with ui.element("div").classes("w-setting") as row:
            with ui.element("div").classes("w-words"):
                ui.label(name).classes("text-weight-bold")
                ui.label(f"{setting.description}; {setting.accepted}").classes("p-soft w-caption")
            self._inputs[name] = ui.input(
                name, value="" if value is None else shown(value), on_change=self._changed
            ).props(f'dense outlined aria-label="{name}"')

            def remove() -> None:
                del self._inputs[name]
                row.delete()
                self._changed()

            ui.button(icon="close", on_click=remove).props(f'flat round dense aria-label="leave {name} as it was"')

    def wishes(self) -> dict[str, Any]:
        """The form as `training.start` takes it."""
        by_minutes = self._ends.value == "minutes"
        return {
            "game": str(self._game.value or ""),
            "preset": str(self._preset.value or "") or None,
            "minutes": self._length.value if by_minutes else None,
            "iterations": None if by_minutes else self._length.value,
            "seed": self._seed.value,
            "threads": self._threads.value,
            "name": str(self._name.value or "").strip() or None,
            "sets": [f"{name}={one.value}" for name, one in self._inputs.items()],
        }

    def _changed(self) -> None:
        """Look whether the form can be started, a moment after the last change."""
        self._follow()
        if self._preset.value in NAMES:
            self._expect.text = f"Expect: {load_preset(str(self._preset.value)).expect}"
        self._checking += 1
        number = self._checking
        with self._box:
            ui.timer(0.25, lambda: self._check(number), once=True)

    async def _check(self, number: int) -> None:
        if number != self._checking:
            return  # something has changed since
        wishes = self.wishes()
        try:
            made = await asyncio.to_thread(lambda: training.plan(self._house, **wishes))
        except PalaestraError as error:
            self._problem.text = printable(str(error))
            self._start.disable()
            return
        if number == self._checking:
            self._problem.text = ""
            self._line.text = printable(made.line)
            self._start.enable()

    async def _on_start(self) -> None:
        self._start.disable()
        try:
            name = await asyncio.to_thread(lambda: training.start(self._house, **self.wishes()))
        finally:
            self._start.enable()
        ui.navigate.to(f"/watch/{quote(name)}")
