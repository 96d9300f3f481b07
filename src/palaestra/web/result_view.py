"""One result of the laboratory on a page: its figure, its claims and their verdicts, its table, and its jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from urllib.parse import quote

from nicegui import ui

from palaestra.base.printable import escape, printable
from palaestra.lab.experiment import SCALES, Published, Table
from palaestra.web import lab_questions, laboratory
from palaestra.web.commands import Command
from palaestra.web.house import House
from palaestra.web.lab_questions import Answer, Jobs, Result
from palaestra.web.laboratory import JobsWatch
from palaestra.web.parts import bar, button, chip, guarded, last_words, shown_command, stop_command, title

LOOK = 2.0  # seconds between two looks while an experiment is under way
MOST_ROWS = 300  # of a table


class ResultView:
    """One result at one scale."""

    def __init__(self, house: House, watch: JobsWatch, id: str, scale: str) -> None:
        self.house, self.watch, self.id, self.scale = house, watch, id, scale
        self.was_running = False
        with ui.element("div").classes("px-stack"):
            with ui.element("section").classes("p-card px-stack").style("gap: 8px"):
                self._head()
            self.body = ui.element("div").classes("px-stack")
        self.timer = ui.timer(LOOK, self._look, active=False)
        ui.timer(0, guarded(self.load), once=True)

    def _head(self) -> None:
        ui.link("← all results", f"/laboratory?scale={self.scale}").classes("px-back")
        with ui.element("div").classes("px-row"):
            self.name = ui.label(self.id).props('role="heading" aria-level="1"').classes("px-name")
            self.state = ui.html("", sanitize=False)
            with ui.element("div").classes("px-end"):
                choice_of_scale(self.scale, self._other_scale)
                self.start = button("Start", "play_arrow", guarded(self._start), main=True)
                self.stop = button("Stop", "stop", guarded(self._stop))
        self.words = ui.label("").classes("p-soft")
        self.wrong = ui.label("").classes("px-wrong")
        self.progress = ui.html("", sanitize=False).style("width: 100%").props('aria-live="polite"')
        self.start.visible = self.stop.visible = False

    # What is shown.

    async def load(self) -> None:
        """Read the result, and show it."""
        place = laboratory.home(self.house, self.scale)
        result: Result = await self.house.readings.ask(
            lab_questions.read_result, self.id, self.scale, place, laboratory.atlas()
        )
        identity = result.identity
        self.name.text = printable(f"{identity.number}: {identity.caption}")
        departs = result.departs[self.scale]
        self.words.text = printable(f"{identity.id}, {identity.work}. Scale {self.scale}: {departs}.")
        self.wrong.text = printable(result.problem)
        self.body.clear()
        with self.body:
            self._show(result)
        await self._look()

    def _show(self, result: Result) -> None:
        with ui.element("section").classes("p-card"):
            title("Figure")
            self._figure(result)
        with ui.element("section").classes("p-card"):
            title("Claims")
            ui.html(claims_html(result.claims), sanitize=False)
            if result.reading:
                ui.label(printable(f"Reading taken: {result.reading}.")).classes("p-soft")
        with ui.element("div").classes("p-columns"):
            if result.found is not None:
                with ui.element("section").classes("p-card px-middle"):
                    title("Table")
                    ui.html(table_html(result.found.table), sanitize=False).classes("p-scroll px-tall")
            if result.published:
                with ui.element("section").classes("p-card px-middle"):
                    title("Published numbers")
                    ui.html(published_html(result.published), sanitize=False).classes("p-scroll px-tall")

    def _figure(self, result: Result) -> None:
        found = result.found
        if found is None:
            words = f"Nothing has been measured at scale {self.scale} yet. Start it here, or type:"
            ui.label(words).classes("p-soft")
            shown_command(f"palaestra reproduce {self.id} --scale {self.scale}")
            return
        source = f"/laboratory/figure/{quote(found.where)}/{quote(self.id)}"
        name = f"figure of {result.identity.number}: {result.identity.caption}"
        image = f'<img class="px-figure" src="{source}" alt="{escape(name)}">'
        ui.html(f'<a href="{source}" target="_blank" title="the figure alone">{image}</a>', sanitize=False)
        where = "of the atlas that comes with Palaestra" if found.where == "atlas" else "of this machine"
        seeds = f"{found.seeds} seed{'s' * (found.seeds > 1)}"
        words = f"Results {where}: scale {found.scale}, {seeds}, {found.minutes:,.1f} minutes of computing."
        ui.label(words).classes("p-soft")
        shown_command(found.command)

    async def _look(self) -> None:
        """How far the jobs are, while they are done."""
        last = await asyncio.to_thread(Command.last, laboratory.folder_of_command(self.house, self.scale))
        under_way = await asyncio.to_thread(laboratory.running, self.house, self.scale)
        ours, busy = under_way == self.id, under_way is not None
        self.start.visible, self.stop.visible = not busy, ours
        self.state.content = chip("running") if ours else ""
        self.timer.active = busy
        failed = last_words(last) if laboratory.id_of(last) == self.id and not busy else ""
        if failed:
            self.wrong.text = printable(failed)
        if ours:
            self.progress.content = jobs_html(await self.watch.look(self.id, self.scale))
        else:
            other = f'<p class="p-soft">{escape(under_way or "")} is under way at this scale.</p>'
            self.progress.content = other if busy else ""
        if self.was_running and not ours:
            self.was_running = False
            await self.load()
        self.was_running = ours

    # What a person does.

    def _other_scale(self, scale: str) -> None:
        if scale in SCALES:
            ui.navigate.to(f"/laboratory/{quote(self.id)}?scale={scale}")

    async def _start(self) -> None:
        self.wrong.text = ""
        await asyncio.to_thread(laboratory.start, self.house, self.id, self.scale)
        await self._look()

    async def _stop(self) -> None:
        self.stop.props("loading")
        try:
            last = Command.last(laboratory.folder_of_command(self.house, self.scale))
            if laboratory.id_of(last) == self.id:
                await stop_command(last)
        finally:
            self.stop.props(remove="loading")
        await self._look()


def choice_of_scale(scale: str, chosen: Callable[[str], None]) -> None:
    """Buttons for the scales; `chosen` gets another one's name."""
    made = ui.toggle(list(SCALES), value=scale, on_change=lambda event: chosen(str(event.value)))
    made.props('no-caps dense unelevated toggle-color=px toggle-text-color=px aria-label="scale"').classes("px-toggle")


def claims_html(claims: tuple[Answer, ...]) -> str:
    """Every claim with its verdict, the figure that decides it and what that is."""
    rows = []
    for one in claims:
        ours = ' <span class="p-soft">(ours)</span>' if one.ours else ""
        figure = f"<b>{escape(one.figure)}</b> {escape(one.what)}" if one.answer is not None else ""
        mark = chip(one.answer) if one.answer is not None else chip("not measured")
        rows.append(f"<li><div>{mark}</div><div>{escape(one.text)}{ours}<small>{figure}</small></div></li>")
    if not rows:
        return '<p class="p-soft">It makes no claim.</p>'
    return f'<div class="px-claims-frame"><ul class="px-claims">{"".join(rows)}</ul></div>'


def table_html(table: Table, marked: Collection[str] = ()) -> str:
    """A table; rows whose first cell is among `marked` stand out."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.headings)
    rows = "".join(
        f"<tr{_mark(row, marked)}>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in table.rows[:MOST_ROWS]
    )
    more = len(table.rows) - MOST_ROWS
    rest = f'<p class="p-soft">and {more:,} more rows in table.md</p>' if more > 0 else ""
    return f'<table class="px-list px-data"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{rest}'


def _mark(row: Sequence[str], marked: Collection[str]) -> str:
    return ' class="px-front"' if row and row[0] in marked else ""


def published_html(published: tuple[Published, ...]) -> str:
    rows = tuple(
        (
            one.arm,
            one.game,
            f"{one.value:g}{'' if one.spread is None else f' ± {one.spread:g}'} {one.unit}".strip(),
            one.source,
        )
        for one in published
    )
    return table_html(Table(("arm", "game", "published", "where it was read"), rows))


def jobs_html(jobs: Jobs) -> str:
    """A bar of all jobs, and those under way."""
    busy = [(name, share) for name, share in jobs.shown if 0.0 < share < 1.0]
    rows = "".join(f"<li><span>{escape(name)}</span>{bar(share)}</li>" for name, share in busy[:8])
    words = f"{jobs.done:,} of {jobs.jobs:,} jobs done"
    return f'<p class="px-jobs-words">{words}</p>{bar(jobs.share)}<ul class="px-jobs">{rows}</ul>'
