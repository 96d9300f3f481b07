"""One search for one player on a page: its best solution, drawn as it is found, and what its restarts scored."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from nicegui import background_tasks, events, ui

from palaestra.base.errors import PalaestraError
from palaestra.base.printable import printable
from palaestra.live.defaults import SOLVE_MINUTES
from palaestra.web import charts, questions, solvings
from palaestra.web.frame import say
from palaestra.web.game_names import title as game_title
from palaestra.web.house import House
from palaestra.web.parts import button, chip, guarded, last_words, shown_command, stop_command, title
from palaestra.web.solvings import Seen
from palaestra.web.stepper import Stepper

FEW_SCORES = 60  # bars of a histogram; of more, scores are taken together


class SolveView:
    """One search."""

    def __init__(self, house: House, name: str) -> None:
        self.house, self.name = house, name
        self.seen: Seen | None = None
        self.client = ui.context.client
        self._shown: Path | None = None  # the solution that is drawn, or being drawn
        self._ticket = 0
        with ui.element("div").classes("px-stack"):
            self._head()
            with ui.element("div").classes("p-columns"):
                with ui.element("section").classes("p-card px-middle"):
                    with ui.element("div").classes("px-row"):
                        title("Best solution")
                        with ui.element("div").classes("px-end"):
                            self.save = button("Save", "download", guarded(self._save))
                            self.save.props('aria-label="save the solution as text"')
                    self.which = ui.select({}, label="Solution", on_change=self._chosen)
                    self.which.props("outlined dense options-dense").classes("px-wide")
                    self.waiting = ui.label("The first restart is under way.").classes("px-empty")
                    self.stepper = Stepper()
                with ui.element("div").classes("px-side px-stack"):
                    with ui.element("section").classes("p-card"):
                        title("Scores of restarts")
                        self.histogram = ui.echart({}, renderer="svg").classes("px-chart")
                    with ui.element("section").classes("p-card"):
                        title("Best score over time")
                        self.curve = ui.echart({}, renderer="svg").classes("px-chart")

    def _head(self) -> None:
        with ui.element("section").classes("p-card px-stack").style("gap: 8px"):
            with ui.element("div").classes("px-row"):
                ui.label(self.name).props('role="heading" aria-level="1"').classes("px-name")
                self.state = ui.html("", sanitize=False)
                with ui.element("div").classes("px-end"):
                    self.stop = button("Stop", "stop", guarded(self._stop))
                    self.minutes = ui.number("Minutes", value=SOLVE_MINUTES, min=0.1, step=1)
                    self.minutes.props("outlined dense").style("width: 92px")
                    self.resume = button("Go on", "play_arrow", guarded(self._resume))
            self.words = ui.label("").classes("p-soft")
            self.standing = ui.label("").classes("px-standing").props('aria-live="polite"')
            self.wrong = ui.label("").classes("px-wrong")
            with ui.expansion("The command").props("dense").classes("p-soft px-wide") as self.command:
                pass

    # What is shown.

    def show(self, seen: Seen | PalaestraError) -> None:
        """What the watcher of the search has seen."""
        if isinstance(seen, PalaestraError):
            self.wrong.text = printable(str(seen))
            return
        first, self.seen = self.seen is None, seen
        self.state.content = chip(seen.state)
        self.stop.visible = seen.running
        self.resume.visible = self.minutes.visible = not seen.running and seen.file is not None
        self.wrong.text = "" if seen.running else printable(last_words(seen.command))
        if first and seen.command is not None:
            with self.command:
                shown_command(seen.command.line)
        if (file := seen.file) is None:
            self.save.visible = self.which.visible = False
            return
        about = file.journal.about
        self.words.text = printable(f"{game_title(str(about.game))}, {about.player}, seed {about.seed}")
        self.standing.text = file.standing[0].upper() + file.standing[1:]
        self._draw_charts(seen)
        self._offer(seen.files)

    def _draw_charts(self, seen: Seen) -> None:
        assert seen.file is not None
        for chart, options in (
            (self.histogram, histogram(dict(seen.file.journal.scores))),
            (self.curve, over_time(seen.file.best_over_time(), seen.file.pieces_over_time())),
        ):
            chart.options.clear()
            chart.options.update(options)
            chart.update()

    def _offer(self, files: tuple[Path, ...]) -> None:
        """The best solutions; the first of a new best is drawn at once."""
        self.waiting.visible = not files
        self.save.visible = bool(files)
        self.which.visible = len(files) > 1
        names = {file.name: _file_words(file) for file in files}
        if not files:
            return
        new = self._shown is None or self._shown.name not in names
        chosen = files[0].name if new else self.which.value
        if names != self.which.options or new:
            self.which.set_options(names, value=chosen)
        if new:
            self._begin(files[0])

    def _chosen(self, event: events.ValueChangeEventArguments[str]) -> None:
        found = [] if self.seen is None else [one for one in self.seen.files if one.name == event.value]
        if found and found[0] != self._shown:
            self._begin(found[0])

    def _begin(self, file: Path) -> None:
        self._shown = file
        self._ticket += 1
        background_tasks.create(self._draw(file, self._ticket), name="draw a solution")

    async def _draw(self, file: Path, ticket: int) -> None:
        assert self.seen is not None and self.seen.file is not None
        try:
            solution = await asyncio.to_thread(self.seen.file.solution, file)
            game = str(self.seen.file.journal.about.game)
            self.house.allowed.game(game)
            steps = await self.house.moves.ask(questions.draw_solution, game, solution)
        except PalaestraError as error:
            with contextlib.suppress(RuntimeError), self.client:
                say(error)
            return
        if ticket == self._ticket and not self.client.is_deleted:  # no other was chosen or found meanwhile
            self.stepper.show(steps)

    # What a person does.

    async def _stop(self) -> None:
        self.stop.props("loading")
        try:
            await stop_command(None if self.seen is None else self.seen.command)
        finally:
            self.stop.props(remove="loading")

    async def _resume(self) -> None:
        await asyncio.to_thread(solvings.go_on, self.house, self.name, self.minutes.value)

    async def _save(self) -> None:
        if self.seen is not None and self.seen.file is not None and self._shown is not None:
            solution = await asyncio.to_thread(self.seen.file.solution, self._shown)
            ui.download.content(str(solution).encode(), f"{self.name}-{self._shown.name}", "text/plain")


def _file_words(file: Path) -> str:
    """ "score 82, restart 17"."""
    score, _, restart = file.stem.partition("-restart-")
    return f"score {score.lstrip('0') or '0'}, restart {restart.lstrip('0') or '0'}"


def histogram(scores: dict[int, int]) -> charts.Options:
    """How often each score was met."""
    low, high = min(scores, default=0), max(scores, default=0)
    width = max(1, -(-(high - low + 1) // FEW_SCORES))
    counts: dict[int, int] = {}
    for score, count in scores.items():
        counts[low + (score - low) // width * width] = counts.get(low + (score - low) // width * width, 0) + count
    places = range(low, high + 1, width)
    names = [str(place) if width == 1 else f"{place}–{place + width - 1}" for place in places]
    series = [{
        "type": "bar", "name": "restarts", "data": [counts.get(place, 0) for place in places],
        "color": charts.COLOURS[0], "barCategoryGap": "12%", "emphasis": {"disabled": True},
    }]  # fmt: skip
    x = {**charts.x_axis("iterations"), "type": "category", "name": "score", "data": names}
    x.pop("min")
    return charts.options(
        series, x, charts.y_axis("restarts", scale=False, minInterval=1), "How often each score was met."
    )


def over_time(best: list[tuple[float, int]], pieces: list[tuple[float, int]]) -> charts.Options:
    """The best score so far as steps, and what each piece of work scored as dots."""
    minutes = best[-1][0] >= 180 if best else False
    unit = 60.0 if minutes else 1.0
    line = charts.curve(
        "best so far", [[t / unit, float(s)] for t, s in best], charts.COLOURS[0], step="end", showSymbol=False
    )
    dots = {
        "type": "scatter", "name": "restarts", "data": [[round(t / unit, 3), s] for t, s in pieces], "symbolSize": 4,
        "color": charts.COLOURS[1], "itemStyle": {"opacity": 0.35}, "silent": True, "tooltip": {"show": False},
    }  # fmt: skip
    x = {**charts.x_axis("minutes"), "name": "minutes of solving" if minutes else "seconds of solving"}
    y = charts.y_axis("score", minInterval=1)
    return charts.options([dots, line], x, y, "The best score so far, and the score of every restart.")
