"""One run: how far it is, how strong, its charts, games and settings; and what can be done with it."""

from __future__ import annotations

import asyncio

from nicegui import ui

from palaestra.base.errors import PalaestraError
from palaestra.base.printable import printable
from palaestra.live.run import Run
from palaestra.web import training, watch_parts
from palaestra.web.address import Address
from palaestra.web.chart_cards import ChartCards
from palaestra.web.charts import Over
from palaestra.web.frame import say
from palaestra.web.game_names import title
from palaestra.web.house import House
from palaestra.web.parts import guarded
from palaestra.web.parts import title as heading
from palaestra.web.run_charts import OVERS, run_charts
from palaestra.web.run_games import BestSolution, RunGames
from palaestra.web.run_mistakes import MistakesCard
from palaestra.web.watching import SeenRun


class RunView:
    """Filled by `show`, again and again while the run goes on. `is_known` says whether there is anything to watch."""

    def __init__(self, house: House, name: str) -> None:
        self._house, self._name = house, name
        self._seen: SeenRun | None = None
        self.is_known = self._exists()
        if not self.is_known:
            ui.label(f"There is no run {printable(name[:200])} here.").classes("w-title")
            ui.link("All runs", "/watch").classes("w-link")
            return
        with ui.element("div").classes("w-stack"):
            self._head()
            self._problem = ui.label("").classes("px-wrong p-card").props('role="alert"')
            self._problem.visible = False
            self._now = ui.html("", sanitize=False).classes("p-card w-now").props('aria-label="progress"')
            self._facts = ui.html("", sanitize=False).classes("w-facts").props('aria-label="facts about the run"')
            with ui.element("div").classes("px-row") as self._axis:
                ui.label("over").classes("p-soft")
                self._over = ui.toggle(list(OVERS), value=OVERS[0], on_change=self._draw)
                self._over.props("dense no-caps unelevated").classes("w-toggle")
            self._cards = ChartCards()
            with ui.element("div").classes("w-charts w-top"):
                with ui.element("div").classes("w-stack"):
                    self._games = RunGames(house)
                with ui.element("div").classes("w-stack"):
                    self._solution = BestSolution(house)
                    self._mistakes = MistakesCard(house)
                    self._story()
            self._details()
        for part in (self._now, self._axis):
            part.visible = False

    def _exists(self) -> bool:
        try:
            return training.last_command(self._house, self._name) is not None or bool(
                self._house.allowed.run(self._name)
            )
        except PalaestraError:
            return False

    # Parts.

    def _head(self) -> None:
        with ui.element("div").classes("px-row"):
            ui.label(printable(self._name)).classes("w-title").props('role="heading" aria-level="1"')
            self._state = ui.html("", sanitize=False).props('aria-live="polite"')
            self._game = ui.label("").classes("p-soft")
            with ui.element("div").classes("px-end"):
                self._play = ui.button("Play against it", icon="sports_esports", on_click=self._to_play)
                self._play.props("unelevated").classes("px-main")
                self._stop = self._quiet("Stop", "stop", guarded(self._on_stop))
                self._resume = self._quiet("Go on", "play_arrow", guarded(self._on_resume))
                self._extend = self._quiet("Extend", "more_time", self._ask_extension)
                self._compare = self._quiet("Compare", "stacked_line_chart", self._to_compare)
        for button in (self._play, self._stop, self._resume, self._extend, self._compare):
            button.visible = False
        with ui.dialog() as self._dialog, ui.card().classes("p-card w-stack"):
            ui.label("Extend the run").classes("p-title")
            ui.label("In all, not in addition: what is given replaces the end that the run has now.").classes("p-soft")
            self._minutes = ui.number("minutes in all", min=0.1, step=1).props("dense outlined").classes("p-wide")
            self._iterations = ui.number("iterations in all", min=1, step=1).props("dense outlined").classes("p-wide")
            with ui.element("div").classes("px-row"):
                ui.button("Extend", on_click=guarded(self._on_extend)).classes("px-main").props("unelevated")
                self._quiet("Cancel", "close", self._dialog.close)

    def _quiet(self, words: str, icon: str, done: object) -> ui.button:
        button = ui.button(words, icon=icon, on_click=done)  # type: ignore[arg-type]
        return button.props("flat").classes("px-quiet")

    def _details(self) -> None:
        with ui.element("section").classes("p-card w-stack") as self._settings:
            heading("Settings")
            self._preset = ui.label("").classes("p-soft")
            with ui.element("div").classes("w-picks"):
                self._search = ui.input("search settings", on_change=self._draw_settings).props(
                    "dense outlined clearable"
                )
                self._all = ui.switch("all settings", on_change=self._draw_settings)
            self._table = ui.html("", sanitize=False).classes("p-scroll w-full")
        self._settings.visible = False

    def _story(self) -> None:
        with ui.element("section").classes("p-card").props('data-part="events"') as self._events:
            heading("What happened on the way")
            self._notes = ui.html("", sanitize=False)
        self._events.visible = False
        with ui.element("section").classes("p-card w-stack").props('data-part="command"') as self._command:
            heading("The command")
            self._line = ui.label("").classes("w-log").props('aria-label="the command to copy"')
            with ui.expansion("What it printed").classes("w-expand"):
                self._log = ui.label("").classes("w-log")

    # What is there.

    def show(self, seen: SeenRun | PalaestraError) -> None:
        """A run as it is now."""
        if isinstance(seen, PalaestraError):
            self._problem.text, self._problem.visible = printable(str(seen)), True
            return
        before, self._seen = self._seen, seen
        self._show_state(seen)
        run = seen.run
        if run is None:
            return
        if before is None or before.made_from != seen.made_from or before.run is None:
            manifest = run.stored.manifest
            self._facts.content = watch_parts.facts_html(watch_parts.facts(manifest, run.lines))
            self._game.text = title(printable(run.game))
            self._draw()
            self._draw_settings()
            self._games.show(run)
            self._solution.show(run)
            self._mistakes.show(run, self._chosen)
        words = watch_parts.events_of(run.stored.manifest, run.lines, seen.progress.warnings if seen.progress else ())
        self._events.visible = bool(words)
        self._notes.content = watch_parts.events_html(words)

    def _show_state(self, seen: SeenRun) -> None:
        failed = not seen.is_active and seen.command is not None and seen.command.failed
        self._state.content = watch_parts.state_chip("failed" if failed and seen.row is None else seen.state)
        problem = seen.problem
        self._problem.visible, self._problem.text = bool(problem), printable(problem or "")
        self._now.visible = seen.is_active
        if seen.is_active:
            self._now.content = watch_parts.progress_html(seen)
        playable = seen.run is not None and seen.run.iterations > 0 and _is_for_two(seen.run)
        self._play.visible, self._compare.visible = playable, seen.run is not None
        self._stop.visible = seen.is_active
        self._resume.visible = seen.state == "stopped"
        self._extend.visible = seen.state in ("stopped", "finished")
        command = training.last_command(self._house, self._name)
        self._command.visible = command is not None or seen.row is not None
        self._line.text = printable(command.line if command is not None else f"palaestra resume {self._name}")
        self._log.text = printable(command.log() if command is not None else "It was not started from this page.")

    @property
    def _chosen(self) -> Over:
        return "iterations" if self._over.value == "iterations" else "minutes"

    def _draw(self) -> None:
        run = None if self._seen is None else self._seen.run
        if run is None:
            return
        gate = run.stored.manifest.config.get("gate")
        by_share = isinstance(gate, dict) and gate.get("kind") == "threshold"
        threshold = gate.get("threshold") if isinstance(gate, dict) and by_share else None
        self._axis.visible = bool(run.lines)
        self._cards.show(run_charts(run.lines, self._chosen, threshold if isinstance(threshold, float) else None))
        self._mistakes.draw(self._chosen)

    def _draw_settings(self) -> None:
        run = None if self._seen is None else self._seen.run
        if run is None:
            return
        given = watch_parts.flat(run.stored.manifest.config)
        search = str(self._search.value or "")[:200]
        words, table = watch_parts.settings_table(given, search, not self._all.value and not search)
        self._settings.visible = True
        self._preset.text = words
        self._table.content = table

    # What can be done.

    def _to_play(self) -> None:
        if self._seen is not None and self._seen.run is not None:
            game = self._seen.run.stored.game_text
            ui.navigate.to(str(Address(game=game, players=(None, f"run:{self._name}"))))

    def _to_compare(self) -> None:
        ui.navigate.to(f"/watch?runs={self._name}")

    async def _on_stop(self) -> None:
        self._stop.disable()
        try:
            await asyncio.to_thread(training.stop, self._house, self._name)
        finally:
            self._stop.enable()

    async def _on_resume(self) -> None:
        await asyncio.to_thread(training.resume, self._house, self._name)

    def _ask_extension(self) -> None:
        run = None if self._seen is None else self._seen.run
        if run is not None:
            config = run.stored.manifest.config
            minutes, iterations = config.get("minutes"), config.get("iterations")
            self._minutes.value = 2 * minutes if isinstance(minutes, float) else None
            self._iterations.value = 2 * iterations if isinstance(iterations, int) else None
        self._dialog.open()

    async def _on_extend(self) -> None:
        minutes, iterations = self._minutes.value, self._iterations.value
        if minutes is None and iterations is None:
            say("give minutes or iterations in all, for example 60 minutes")
            return
        await asyncio.to_thread(training.resume, self._house, self._name, minutes=minutes, iterations=iterations)
        self._dialog.close()


def _is_for_two(run: Run) -> bool:
    """Whether the run's agent can be met in a game."""
    return not run.lines or run.lines[-1].results is not None
