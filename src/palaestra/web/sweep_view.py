"""Sweeps on the page Laboratory: the list with a form that starts one, and one sweep with its trials."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import astuple
from urllib.parse import quote

from nicegui import background_tasks, ui

from palaestra.base.errors import PalaestraError
from palaestra.base.printable import escape, printable
from palaestra.lab.experiment import Table
from palaestra.lab.sweep_space import spaces_in_words
from palaestra.web import lab_questions, sweeps
from palaestra.web.commands import Command
from palaestra.web.game_names import title as game_title
from palaestra.web.house import House
from palaestra.web.lab_questions import SweepPage
from palaestra.web.parts import bar, button, chip, guarded, last_words, shown_command, stop_command, title
from palaestra.web.result_view import table_html
from palaestra.web.sweeps import Seen
from palaestra.web.watched import Watched, Watchers

GAME, TRIALS, MINUTES, GAMES = "connect_four-5x5", 10, 1.0, 20  # of the form
LOOK = 1.5  # seconds between two looks at a sweep


class SweepList:
    """The sweeps that are there, and a form for another one."""

    def __init__(self, house: House) -> None:
        self.house = house
        with ui.element("section").classes("p-card px-stack").style("gap: 8px"):
            title("Sweeps")
            ui.label("Many runs with different settings: which of them pay, and what they cost.").classes("p-soft")
            self.list = ui.html("", sanitize=False)
            with ui.expansion("New sweep", icon="add").classes("p-wide").props("dense"):
                self._form()
        ui.timer(0, self._fill, once=True)

    async def _fill(self) -> None:
        found = await asyncio.to_thread(sweeps.all_seen, self.house)
        self.list.content = sweeps_html(found)

    def _form(self) -> None:
        games = {text: game_title(text) for text in self.house.games()}
        with ui.element("div").classes("px-form"):
            self.game = ui.select(games, value=GAME, label="Game", with_input=True)
            self.game.props("outlined dense options-dense").classes("px-wide")
            spaces = {name: f"{name}: {about}" for name, about in spaces_in_words().items()}
            self.space = ui.select(spaces, value=next(iter(spaces)), label="What varies")
            self.space.props("outlined dense options-dense").classes("px-wide")
            self.trials = ui.number("Trials", value=TRIALS, min=1, step=1).props("outlined dense")
            self.minutes = ui.number("Minutes of each run", value=MINUTES, min=0.1, step=1).props("outlined dense")
            self.games = ui.number("Games against each opponent", value=GAMES, min=2, step=2).props("outlined dense")
            self.seed = ui.number("Seed", value=0, min=0, step=1).props("outlined dense")
            self.name = ui.input("Name (one is made up if you give none)").props('outlined dense maxlength="80"')
            self.name.classes("px-wide")
            self.start = button("Start the sweep", "play_arrow", guarded(self._start), main=True)

    async def _start(self) -> None:
        house = self.house
        asked = sweeps.checked(
            house,
            str(self.game.value or ""),
            str(self.space.value or ""),
            self.trials.value,
            self.minutes.value,
            self.games.value,
            self.seed.value,
        )
        folder = sweeps.place(house).new(str(self.name.value or ""), f"{asked.game}-{asked.space}")
        self.start.props("loading")
        try:
            await house.readings.ask(lab_questions.check_sweep, *astuple(asked))
            await asyncio.to_thread(sweeps.start, house, asked, folder)
        finally:
            self.start.props(remove="loading")
        ui.navigate.to(f"/laboratory/sweep/{quote(folder.name)}")


def watched_sweep(house: House, name: str) -> Watched[Seen]:
    """A sweep for all who look at it."""

    def seen() -> Seen:
        return sweeps.look(house, name, sweeps.sweep(house, name))

    def mark() -> object:
        try:
            return seen()
        except PalaestraError as error:
            return str(error)

    return Watched(mark, seen, LOOK)


class SweepView:
    """One sweep: how far it is, what it says so far, and its trials."""

    def __init__(self, house: House, watchers: Watchers[Seen], name: str) -> None:
        self.house, self.name = house, name
        self.shown = -1  # trials in what is shown
        with ui.element("div").classes("px-stack"):
            with ui.element("section").classes("p-card px-stack").style("gap: 8px"):
                self._head()
            self.body = ui.element("div").classes("px-stack")
        self.client = ui.context.client
        watchers.tell(name, self._show)

    def _head(self) -> None:
        ui.link("← the laboratory", "/laboratory").classes("px-back")
        with ui.element("div").classes("px-row"):
            ui.label(printable(self.name)).props('role="heading" aria-level="1"').classes("px-name")
            self.state = ui.html("", sanitize=False)
            with ui.element("div").classes("px-end"):
                self.trials = ui.number("Trials in all", min=1, step=1).props("outlined dense").style("width: 120px")
                self.start = button("Go on", "play_arrow", guarded(self._go_on), main=True)
                self.stop = button("Stop", "stop", guarded(self._stop))
        self.words = ui.label("Reading …").classes("p-soft")
        self.wrong = ui.label("").classes("px-wrong")
        self.progress = ui.html("", sanitize=False).style("width: 100%").props('aria-live="polite"')
        self.facts = ui.html("", sanitize=False).classes("px-wide")
        self.start.visible = self.stop.visible = self.trials.visible = False

    # What is shown.

    def _show(self, seen: Seen | PalaestraError) -> None:
        if isinstance(seen, PalaestraError):
            self.words.text = printable(str(seen))
            return
        self.state.content = state_html(seen)
        ours = seen.asked is not None
        self.stop.visible = seen.running and ours
        self.start.visible = self.trials.visible = not seen.running and ours
        if self.trials.value is None:
            self.trials.value = seen.total
        self.wrong.text = "" if seen.running else printable(last_words(seen.command))
        self.progress.content = progress_html(seen)
        if seen.done != self.shown:
            self.shown = seen.done
            background_tasks.create(self._read(), name="read a sweep", context=self.client)

    async def _read(self) -> None:
        try:
            folder = await asyncio.to_thread(sweeps.sweep, self.house, self.name)
            found: SweepPage = await self.house.readings.ask(lab_questions.read_sweep, folder)
        except PalaestraError as error:
            self.words.text = "No trial is finished yet." if not self.shown else printable(str(error))
            return
        self.words.text = f"A sweep of {printable(game_title(found.game))}."
        cells = "".join(f"<div><b>{escape(v)}</b><span>{escape(k)}</span></div>" for k, v in found.facts.items())
        self.facts.content = f'<div class="px-facts px-long">{cells}</div>'
        self.body.clear()
        with self.body:
            ui.html(figures_html(found), sanitize=False)
            with ui.element("section").classes("p-card"):
                title("Trials")
                ui.label(
                    "Those of the Pareto front, which no other trial beats in strength and time, are marked."
                ).classes("p-soft")
                ui.html(table_html(Table(found.trials[0], found.trials[1:]), found.front), sanitize=False).classes(
                    "p-scroll"
                )
            if (asked := sweeps.read_asked(self.house, self.name)) is not None:
                shown_command(" ".join(["palaestra", *asked.words(self.house, folder)]))

    # What a person does.

    async def _go_on(self) -> None:
        self.wrong.text = ""
        await asyncio.to_thread(sweeps.go_on, self.house, self.name, self.trials.value)

    async def _stop(self) -> None:
        self.stop.props("loading")
        try:
            await stop_command(Command.last(sweeps.folder_of_command(self.house, self.name)))
        finally:
            self.stop.props(remove="loading")


def sweeps_html(found: Sequence[Seen]) -> str:
    """The list of sweeps."""
    if not found:
        return '<p class="p-soft">No sweep is here yet.</p>'
    rows = "".join(
        f'<tr><td><a href="/laboratory/sweep/{quote(seen.name, safe="")}">{escape(seen.name)}</a></td>'
        f'<td class="px-number">{seen.done}{"" if seen.total is None else f" of {seen.total}"} trials</td>'
        f"<td>{state_html(seen)}</td></tr>"
        for seen in found
    )
    return f'<table class="px-list"><tbody>{rows}</tbody></table>'


def state_html(seen: Seen) -> str:
    """Whether it goes on; nothing where it is not known how many trials there are to be."""
    return chip(seen.state) if seen.running or seen.total is not None else ""


def progress_html(seen: Seen) -> str:
    """A bar of all trials, and those under way."""
    total = seen.total or 0
    limit = 0.0 if seen.asked is None else seen.asked.minutes
    of_all = f" of {total:,}" if total else ""
    rows = ""
    for row in seen.under_way:
        minutes = row.minutes or 0.0
        words = f"trial {int(row.name)}: iteration {row.iterations or 0}, {minutes:.1f} minutes"
        rows += f"<li><span>{escape(words)}</span>{bar(minutes / limit) if limit else ''}</li>"
    share = bar(seen.done / total) if total else ""
    return f'<p class="px-jobs-words">{seen.done:,}{of_all} trials done</p>{share}<ul class="px-jobs">{rows}</ul>'


def figures_html(found: SweepPage) -> str:
    """The pictures of a sweep; as pictures, so that nothing in them runs."""
    parts = []
    for one in found.figures:
        data = base64.b64encode(one.svg.encode()).decode()
        parts.append(
            f'<figure class="p-card{" px-broad" if one.wide else ""}"><h2 class="p-title">{escape(one.title)}</h2>'
            f'<img class="px-figure" alt="{escape(one.title)}" src="data:image/svg+xml;base64,{data}">'
            f'<figcaption class="p-soft">{escape(one.caption)}</figcaption></figure>'
        )
    return f'<div class="px-figures">{"".join(parts)}</div>'
